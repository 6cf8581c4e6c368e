/* Size of a trace and speed of reading it: bytes per call on real calls, then the tools on 20
 * million similar ones (the real calls repeated, each time with gaps and durations changed by a few
 * ns, so that repetition does not help). Rates are per second of processor time, the median of five
 * runs. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "formats/trace/read/reader.h"
#include "formats/trace/wire.h"
#include "formats/trace/write/writer.h"

#define CALLS 20000000
#define RUNS 5

extern char **environ;
static char tool[4096];

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static const char *built(const char *name)
{
	const char *b = getenv("B");

	snprintf(tool, sizeof(tool), "%s/%s", b ? b : "build", name);
	return tool;
}

static void die(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(1);
}

struct cost {
	double cpu, wall;
	long rss_kib;
};

static struct cost run(const char *name, char *const argv[])
{
	posix_spawn_file_actions_t fa;
	struct rusage u;
	struct cost c;
	int status;
	pid_t pid;
	double began = now();

	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 1, "/dev/null", O_WRONLY, 0);
	if (posix_spawn(&pid, built(name), &fa, NULL, argv, environ) ||
		wait4(pid, &status, 0, &u) != pid || status)
		die(tool);
	posix_spawn_file_actions_destroy(&fa);
	c.wall = now() - began;
	c.cpu = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
		(double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
	c.rss_kib = u.ru_maxrss;
	return c;
}

static int by_cpu(const void *a, const void *b)
{
	double x = ((const struct cost *)a)->cpu, y = ((const struct cost *)b)->cpu;

	return x < y ? -1 : x > y;
}

static struct cost median(const char *name, char *const argv[])
{
	struct cost c[RUNS];

	for (int i = 0; i < RUNS; i++)
		c[i] = run(name, argv);
	qsort(c, RUNS, sizeof(*c), by_cpu);
	return c[RUNS / 2];
}

static off_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : st.st_size;
}

/* ---- the real calls, and many like them ---- */

struct call {
	int64_t gap, dur;
	uint32_t type;
};
static struct call *real;
static size_t nreal;

static void load(const char *path, struct gt_writer *w)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_reader *r = gt_reader_open(path, &err);
	struct gt_filter f = { .kinds = GT_BIT(GT_CALL) };
	struct gt_iter *it = r ? gt_iter_open(r, &f, &err) : NULL;
	struct gt_event ev;
	int64_t last = 0;

	if (!it)
		die(err.text);
	real = malloc(gt_reader_segment(r, 0)->rows[GT_CALL] * sizeof(*real));
	while (gt_iter_next(it, &ev, &err) > 0) {
		struct gt_type t = ev.seg->types[ev.row.type];

		t.name = gt_writer_string(w, gt_type_name(ev.seg, ev.row.type));
		t.nfields = 0;
		real[nreal++] = (struct call){ nreal ? ev.row.start - last : 0,
			ev.row.end - ev.row.start, gt_writer_type(w, &t) };
		last = ev.row.end;
	}
	gt_iter_close(it);
	gt_reader_close(r);
}

static void make_many(const char *path, const char *from)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_writer_options o = { .rows_sorted = true };
	struct gt_writer *w =
		gt_writer_open(open(path, O_RDWR | O_CREAT | O_TRUNC, 0600), &o, &err);
	struct gt_track t = {
		.parent = GT_NONE, .name = GT_NONE, .kind = GT_TRACK_PROCESS, .id = 1, .ns_id = 1
	};
	int64_t at = 1000000000;
	uint64_t seed = 88172645463325252ull;

	if (!w)
		die(err.text);
	load(from, w);
	t.source = gt_writer_string(w, "preload");
	t.parent = gt_writer_track(w, &t);
	t.kind = GT_TRACK_THREAD;
	t.id = t.ns_id = gt_writer_track(w, &t);
	for (size_t i = 0; i < CALLS; i++) {
		const struct call *c = &real[i % nreal];
		struct gt_row row = { .type = c->type };

		seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
		row.start = at + c->gap + (int64_t)(c->gap > 8 ? seed & 7 : 0);
		row.end = row.start + c->dur + (int64_t)(seed >> 8 & 3);
		at = row.end;
		if (gt_writer_row(w, GT_CALL, (uint32_t)t.id, &row, NULL, &err) ||
			(gt_writer_epoch_is_due(w, at) && gt_writer_epoch(w, at, &err)))
			die(err.text);
	}
	if (gt_writer_close(w, &err))
		die(err.text);
}

static bool is_gpu_block(const struct gt_wire_block *b)
{
	return b->kind == GT_W_ROWS && b->sub == GT_GPU;
}

/* Everything except the data: heads, index, footer, summaries. *gpu: blocks of GPU work, with their
 * heads and index entries. */
static uint64_t overhead_of(const char *path, uint64_t *gpu)
{
	FILE *f = fopen(path, "rb");
	struct gt_wire_skip skip;
	struct gt_wire_block head;
	uint64_t bytes = 0;

	while (f && fread(&skip, sizeof(skip), 1, f) == 1) {
		memset(&head, 0, sizeof(head));
		if (skip.magic != GT_WIRE_SKIP_MAGIC)
			die("not a frame of gt");
		bytes += sizeof(skip) + skip.size;
		if (skip.size != sizeof(head) || fread(&head, sizeof(head), 1, f) != 1 ||
			head.magic != GT_WIRE_BLOCK_MAGIC) {
			fseek(f,
				(long)skip.size -
					(skip.size == sizeof(head) ? (long)sizeof(head) : 0),
				SEEK_CUR);
			continue;
		}
		bytes += head.kind == GT_W_SUMMARY ? head.zbytes : 0;
		*gpu += is_gpu_block(&head)
			? GT_WIRE_HEAD + head.zbytes + sizeof(struct gt_wire_entry)
			: 0;
		fseek(f, (long)head.zbytes, SEEK_CUR);
	}
	if (f)
		fclose(f);
	return bytes;
}

static void measure_size(char *recorded)
{
	char *to_lines[] = { "gtexport", "--jsonl", "-f", "-o", "lines.jsonl", recorded, NULL };
	char *to_native[] = { "gtexport", "--native", "-f", "-o", "again.zst", "lines.jsonl",
		NULL };
	uint64_t gpu = 0;

	run("gtexport", to_lines);
	run("gtexport", to_native);
	printf("bytes_per_call %.3f B\n", (double)size_of("again.zst") / (double)nreal);
	printf("index_bytes_per_call %.4f B\n",
		(double)overhead_of("again.zst", &gpu) / (double)nreal);
}

/* A recording of PyTorch with --args key, unchanged since it was recorded. Bytes per call of all
 * blocks except those of GPU work, and bytes per GPU operation of those. */
static void measure_recorded(const char *name, const char *figure)
{
	char path[4096];
	struct gt_err err = GT_ERR_INIT;
	const uint64_t *rows;
	uint64_t gpu = 0;
	struct gt_reader *r;

	snprintf(path, sizeof(path), "%s/samples/recorded/%s", getenv("SRC") ? getenv("SRC") : ".",
		name);
	if (!(r = gt_reader_open(path, &err)))
		die(err.text);
	overhead_of(path, &gpu);
	rows = gt_reader_segment(r, 0)->rows;
	printf("%s_bytes_per_call %.3f B\n", figure,
		(double)(size_of(path) - gpu) / (double)rows[GT_CALL]);
	printf("%s_bytes_per_gpu_work %.3f B\n", figure, (double)gpu / (double)rows[GT_GPU]);
	gt_reader_close(r);
}

int main(void)
{
	char recorded[4096], trace[] = "many.zst", chrome[] = "chrome.json";
	char *analyze[] = { "gtanalyze", trace, NULL },
	     *null[] = { "gtexport", "--chrome", "-f", "-o", "/dev/null", trace, NULL },
	     *perfetto[] = { "gtexport", "--perfetto", "-f", "-o", "/dev/null", trace, NULL };
	char *file[] = { "gtexport", "--chrome", "-f", "-o", chrome, trace, NULL };
	struct cost c;

	snprintf(recorded, sizeof(recorded), "%s/samples/recorded/h200-mlp-calls.zst",
		getenv("SRC") ? getenv("SRC") : ".");
	make_many(trace, recorded);
	measure_size(recorded);
	printf("many_bytes_per_call %.3f B\nmany_index_bytes_per_call %.4f B\n",
		(double)size_of(trace) / CALLS,
		(double)overhead_of(trace, &(uint64_t){ 0 }) / CALLS);
	measure_recorded("h200-train.zst", "recorded_train");
	measure_recorded("h200-inference.zst", "recorded_inference");
	c = median("gtanalyze", analyze);
	printf("analyze_calls_per_s_core %.0f calls/s\nanalyze_wall_ms %.0f ms\nanalyze_rss_mib %.1f MiB\n",
		CALLS / c.cpu, c.wall * 1e3, (double)c.rss_kib / 1024);
	c = median("gtexport", null);
	printf("chrome_calls_per_s_core %.0f calls/s\nchrome_rss_mib %.1f MiB\n", CALLS / c.cpu,
		(double)c.rss_kib / 1024);
	c = median("gtexport", perfetto);
	printf("perfetto_slices_per_s_core %.0f slices/s\nperfetto_rss_mib %.1f MiB\n",
		CALLS / c.cpu, (double)c.rss_kib / 1024);
	c = run("gtexport", file);
	printf("chrome_file_calls_per_s %.0f calls/s\nchrome_file_mb_per_s %.0f MB/s\n",
		CALLS / c.wall, (double)size_of(chrome) / c.wall / 1e6);
	free(real);
	return 0;
}
