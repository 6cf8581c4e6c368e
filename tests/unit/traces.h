/* Small traces for tests: made with the writer, in an unlinked file or at a path. */
#ifndef TRACES_H
#define TRACES_H
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/trace/read/reader.h"
#include "formats/trace/write/writer.h"

#ifdef __SANITIZE_ADDRESS__
#define MEMORY_IS_TOLD false /* the sanitizer's own is counted, too */
#else
#define MEMORY_IS_TOLD true
#endif
static inline long peak_mib(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss / 1024;
}

struct tiny { /* a writer with a process, threads and some types */
	struct gt_writer *w;
	struct gt_err err;
	uint32_t source, process, thread[4], stream;
	/* types: no fields; stream + kernel; bytes + addr; status; GPU work */
	uint32_t get, launch, alloc, ioctl, kernel;
};

static inline uint32_t tiny_type(
	struct gt_writer *w, const char *name, unsigned category, unsigned op, const char *fields)
{
	struct gt_field f[8];
	struct gt_type t = { .name = gt_writer_string(w, name),
		.category = (uint8_t)category,
		.op = (uint8_t)op,
		.fields = f };
	char copy[100], *save = NULL;

	snprintf(copy, sizeof(copy), "%s", fields);
	for (char *p = strtok_r(copy, " ", &save); p; p = strtok_r(NULL, " ", &save)) {
		f[t.nfields] =
			(struct gt_field){ .name = gt_writer_string(w, p), .kind = GT_F_HEX };
		if (!strcmp(p, "bytes"))
			f[t.nfields].kind = GT_F_U64, f[t.nfields].role = GT_R_BYTES;
		if (!strcmp(p, "addr"))
			f[t.nfields].role = GT_R_ADDR;
		if (!strcmp(p, "kernel"))
			f[t.nfields].kind = GT_F_STR, f[t.nfields].role = GT_R_KERNEL;
		t.nfields++;
	}
	if (op == GT_OP_ALLOC)
		t.memkind = GT_MEM_DEVICE;
	if (category == GT_CAT_IOCTL)
		t.layer = GT_LAYER_IOCTL;
	return gt_writer_type(w, &t);
}

static inline int tiny_open_on(struct tiny *t, int fd, bool sorted, const char *boot)
{
	struct gt_writer_options o = { .rows_sorted = sorted,
		.meta_json = "{\"command\":[\"tiny\"],\"simulated\":true}",
		.host = "host",
		.boot_id = boot };

	memset(t, 0, sizeof(*t));
	t->err.offset = GT_NO_OFFSET;
	if (!(t->w = gt_writer_open(fd, &o, &t->err)))
		return -1;
	t->source = gt_writer_string(t->w, "preload");
	t->process = gt_writer_track(t->w,
		&(struct gt_track){ .parent = GT_NONE,
			.name = gt_writer_string(t->w, "app"),
			.source = t->source,
			.kind = GT_TRACK_PROCESS,
			.id = 100,
			.ns_id = 7,
			.start = 5 });
	for (int i = 0; i < 4; i++)
		t->thread[i] = gt_writer_track(t->w,
			&(struct gt_track){ .parent = t->process,
				.name = GT_NONE,
				.source = t->source,
				.kind = GT_TRACK_THREAD,
				.id = 100 + i,
				.ns_id = 7 + i });
	t->stream = gt_writer_track(t->w,
		&(struct gt_track){ .parent = t->process,
			.name = GT_NONE,
			.source = t->source,
			.kind = GT_TRACK_STREAM,
			.id = 1 });
	t->get = tiny_type(t->w, "cuCtxGetCurrent", GT_CAT_QUERY, GT_OP_NONE, "");
	t->launch = tiny_type(t->w, "cuLaunchKernel", GT_CAT_LAUNCH, GT_OP_LAUNCH, "stream kernel");
	t->alloc = tiny_type(t->w, "cuMemAlloc_v2", GT_CAT_MEMORY, GT_OP_ALLOC, "bytes addr");
	t->ioctl = tiny_type(t->w, "ioctl RM_CONTROL", GT_CAT_IOCTL, GT_OP_IOCTL, "status");
	t->kernel = tiny_type(t->w, "kernel", GT_CAT_KERNEL, GT_OP_NONE, "");
	return 0;
}

static inline int tiny_open(struct tiny *t, int fd, bool sorted)
{
	return tiny_open_on(t, fd, sorted, "boot");
}

static inline int tiny_row(struct tiny *t, enum gt_kind kind, uint32_t track, uint32_t type,
	int64_t start, int64_t end, unsigned depth, int ret, uint64_t a, uint64_t b)
{
	const struct gt_type *ty = gt_writer_type_get(t->w, type);
	struct gt_row row = { start, end, type, ret, (uint8_t)depth, ty ? ty->nfields : 0 };

	return gt_writer_row(t->w, kind, track, &row, (uint64_t[]){ a, b }, &t->err);
}
#define tiny_call(t, track, type, start, end, depth, ret, a, b)                                    \
	tiny_row(t, GT_CALL, track, type, start, end, depth, ret, a, b)

static inline int temp_file(void)
{
	char path[] = "/tmp/gt-test-XXXXXX";
	int fd = mkstemp(path);

	unlink(path);
	return fd;
}
/* The file behind an fd that the writer closed is reached through a dup made before. */
static inline uint8_t *file_bytes(int fd, size_t *n)
{
	struct stat st;
	uint8_t *b;

	fstat(fd, &st);
	*n = (size_t)st.st_size;
	b = malloc(*n + 1);
	if (pread(fd, b, *n, 0) != (ssize_t)*n)
		*n = 0;
	return b;
}
static inline struct gt_reader *read_bytes(const uint8_t *b, size_t n, struct gt_err *err)
{
	int fd = temp_file();

	if (write(fd, b, n) != (ssize_t)n)
		return NULL;
	*err = (struct gt_err)GT_ERR_INIT;
	return gt_reader_open_fd(fd, err);
}

/* Calls fn for all summaries of a level. */
struct summaries {
	struct gt_reader *r;
	unsigned level;
	gt_summary_fn *fn;
	void *arg;
};

static inline int summary_of_level(void *arg, const struct gt_summary *s)
{
	struct summaries *all = arg;

	return s->level == all->level ? all->fn(all->arg, s) : 0;
}

static inline int summaries_of_block(void *arg, const struct gt_block_info *b)
{
	return b->kind
		? 0
		: gt_block_summaries(((struct summaries *)arg)->r, b, summary_of_level, arg, NULL);
}

static inline int each_summary(
	struct gt_reader *r, unsigned level, gt_summary_fn *fn, void *arg, struct gt_err *err)
{
	struct summaries all = { r, level, fn, arg };

	return gt_each_block(r, summaries_of_block, &all, err);
}
#endif
