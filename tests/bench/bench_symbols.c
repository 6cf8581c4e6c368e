/* Time to open a trace with 20,000 native frames of 50 libraries, with --symbols
 * (symbols_20k_frames_s) and without it (symbols_20k_frames_open_s): elapsed, the best of three
 * runs, with files in the page cache. Each library has 400 functions, each with a function that is
 * inlined into it, and DWARF. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "formats/symbols/elf_symbols.h"
#include "formats/symbols/trace_symbols.h"
#include "formats/trace/read/reader.h"
#include "formats/trace/write/writer.h"

#define LIBRARIES 50u
#define FUNCTIONS 400u
#define ID "0123456789abcdef0123456789abcdef000000"

static void fail(const char *what)
{
	fprintf(stderr, "bench_symbols: %s\n", what);
	exit(1);
}

static void build_libraries(void)
{
	const char *cc = getenv("CC");
	FILE *f = fopen("many.c", "w");
	char line[300];

	if (!f)
		fail("cannot write many.c");
	for (unsigned i = 0; i < FUNCTIONS; i++)
		fprintf(f,
			"static inline __attribute__((always_inline)) int in%u(int x)\n{\n\treturn x * %u;\n}\n"
			"__attribute__((noinline)) int function%u(int x)\n{\n\treturn in%u(x) + 1;\n}\n",
			i, i + 3, i, i);
	fclose(f);
	snprintf(line, sizeof(line), "${CC:-cc} -O2 -g -fPIC -c many.c && mkdir libraries");
	if (system(line))
		fail(cc ? cc : "cc");
	for (unsigned i = 0; i < LIBRARIES; i++) {
		snprintf(line, sizeof(line),
			"${CC:-cc} -shared many.o -Wl,--build-id=0x" ID
			"%02x -o libraries/lib%02x.so",
			i, i);
		if (system(line))
			fail(line);
	}
}

static uint32_t add_module(struct gt_writer *w, unsigned i)
{
	uint8_t id[20];
	char text[64];

	for (unsigned k = 0; k < 19; k++) {
		unsigned byte = 0;

		sscanf(&ID[2 * k], "%2x", &byte);
		id[k] = (uint8_t)byte;
	}
	id[19] = (uint8_t)i;
	snprintf(text, sizeof(text), "/nowhere/lib%02x.so", i);
	return gt_writer_module(w, gt_writer_string(w, text), id, sizeof(id));
}

/* One stack for each function of the library. */
static void add_frames(struct gt_writer *w, unsigned i)
{
	struct gt_frame f = { .kind = GT_FRAME_NATIVE, .function = GT_NONE, .file = GT_NONE };
	struct gt_elf_symbols symbols;
	char path[64], text[64];
	const char *paths[] = { path };

	snprintf(path, sizeof(path), "libraries/lib%02x.so", i);
	f.module = add_module(w, i);
	if (gt_elf_symbols_open(&symbols, paths, 1))
		fail(path);
	for (size_t k = 0; k < symbols.n; k++) {
		if (strncmp(symbols.items[k].name, "function", 8))
			continue;
		f.offset = symbols.items[k].at + 2;
		snprintf(text, sizeof(text), "lib%02x.so+0x%lx", i, (unsigned long)f.offset);
		gt_writer_stack(
			w, (uint32_t[]){ gt_writer_place(w, gt_writer_string(w, text), &f) }, 1);
	}
	gt_elf_symbols_close(&symbols);
}

static void write_trace(void)
{
	int fd = open("frames.zst", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct gt_writer *w = gt_writer_open(fd, &(struct gt_writer_options){ .level = 3 }, NULL);

	if (!w)
		fail("cannot write frames.zst");
	for (unsigned i = 0; i < LIBRARIES; i++)
		add_frames(w, i);
	if (gt_writer_close(w, NULL))
		fail("cannot write frames.zst");
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Seconds to open the trace; *lines: frames that have one. */
static double open_once(bool with_symbols, unsigned *lines)
{
	static const char *const folders[] = { "libraries" };
	double from = now(), seconds;
	const struct gt_segment *seg;
	struct gt_reader *r;

	if (gt_trace_symbols_start(folders, with_symbols, NULL) ||
		!(r = gt_reader_open("frames.zst", NULL)))
		fail("cannot read frames.zst");
	seconds = now() - from;
	seg = gt_reader_segment(r, 0);
	*lines = 0;
	for (uint32_t i = 0; i < seg->nframes; i++)
		*lines += seg->frames[i].frame.kind == GT_FRAME_NATIVE && seg->frames[i].frame.line;
	gt_reader_close(r);
	gt_trace_symbols_finish();
	return seconds;
}

static double best_of_three(bool with_symbols, unsigned *lines)
{
	double best = 1e9;

	for (int i = 0; i < 3; i++) {
		double s = open_once(with_symbols, lines);

		best = s < best ? s : best;
	}
	return best;
}

int main(void)
{
	unsigned lines = 0, none = 0;
	double with, without;

	build_libraries();
	write_trace();
	without = best_of_three(false, &none);
	with = best_of_three(true, &lines);
	if (none || lines != LIBRARIES * FUNCTIONS) {
		fprintf(stderr, "bench_symbols: %u of %u frames have a line\n", lines,
			LIBRARIES * FUNCTIONS);
		return 1;
	}
	printf("symbols_20k_frames_s %.3f s\n", with);
	printf("symbols_20k_frames_open_s %.4f s\n", without);
	return 0;
}
