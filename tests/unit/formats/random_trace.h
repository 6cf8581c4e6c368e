/* A random trace with every kind of row that other formats carry: nested calls of several layers,
 * GPU work with and without launches, ranges that nest or overlap, marks, counters and losses, with
 * equal times, durations of 0, names that are hostile to text formats, and rows that arrive in any
 * order and in several epochs. The same seed gives the same trace. The includer defines
 * _GNU_SOURCE. */
#ifndef RANDOM_TRACE_H
#define RANDOM_TRACE_H
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "formats/cuda/gpu_rows.h"
#include "formats/trace/read/reader.h"
#include "formats/trace/write/writer.h"

#define RT_ROWS 600
#define RT_END 20000 /* ns; times are multiples of RT_STEP, so that many are equal */
#define RT_STEP 10

struct rt_row {
	enum gt_kind kind;
	uint32_t track;
	struct gt_row row;
	uint64_t arg;
	struct gt_gpu_work work; /* of GPU work */
	int call;                /* that launched it: index, or -1 */
};
struct rt {
	struct gt_writer *w;
	struct gt_gpu_types gpu_types;
	struct gt_err err;
	unsigned seed;
	uint32_t process[2], thread[4], device[2], stream[4];
	uint32_t launch, calls[12], ranges[16], counters[2], kernels[4];
	struct rt_row rows[RT_ROWS];
	int n;
};

static const char *const rt_names[] = { "forward", "back\"slash\\", "</script><b>&amp;", "=cmd()",
	"\033[31mred\033[0m", "tab\there\nand a line", "r\xc3\xa4nge \xe2\x86\x92 \xf0\x9f\x98\x80",
	"invalid \xff\xc3 bytes", "-1", "a;b;c", "{\"ph\":\"X\"}", "'; DROP TABLE x; --", "%s%n",
	"\x7f\x01", " ", "step" };

static inline unsigned rt_random(struct rt *t, unsigned below)
{
	t->seed = t->seed * 1103515245 + 12345;
	return below ? (t->seed >> 8) % below : 0;
}

static inline int64_t rt_time(struct rt *t, int64_t from, int64_t to)
{
	return from + (int64_t)rt_random(t, (unsigned)((to - from) / RT_STEP + 1)) * RT_STEP;
}

static inline uint32_t rt_track(
	struct rt *t, uint32_t parent, const char *name, enum gt_track_kind kind, int64_t id)
{
	return gt_writer_track(t->w,
		&(struct gt_track){ .parent = parent,
			.name = name ? gt_writer_string(t->w, name) : GT_NONE,
			.source = gt_writer_string(t->w, "preload"),
			.kind = (uint8_t)kind,
			.id = id,
			.ns_id = id });
}

static inline void rt_tracks(struct rt *t)
{
	for (int p = 0; p < 2; p++) {
		t->process[p] = rt_track(
			t, GT_NONE, p ? "app \"two\"\n" : "app", GT_TRACK_PROCESS, 100 + 100 * p);
		for (int i = 0; i < 2; i++)
			t->thread[2 * p + i] =
				rt_track(t, t->process[p], i ? "worker </script>" : "main",
					GT_TRACK_THREAD, 100 + 100 * p + i);
	}
	for (int d = 0; d < 2; d++) {
		t->device[d] = rt_track(t, t->process[0], NULL, GT_TRACK_DEVICE, d);
		for (int i = 0; i < 2; i++)
			t->stream[2 * d + i] =
				rt_track(t, t->device[d], NULL, GT_TRACK_STREAM, 7 + 2 * d + i);
	}
}

static inline uint32_t rt_type(struct rt *t, const char *name, enum gt_category category,
	enum gt_op op, enum gt_layer layer, const struct gt_field *field)
{
	return gt_writer_type(t->w,
		&(struct gt_type){ .name = gt_writer_string(t->w, name),
			.category = (uint8_t)category,
			.op = (uint8_t)op,
			.layer = (uint8_t)layer,
			.nfields = field != NULL,
			.fields = field });
}

static inline void rt_types(struct rt *t)
{
	const struct gt_field correlation = { gt_writer_string(t->w, "correlation"), GT_F_U64,
		GT_R_CORRELATION },
			      value = { gt_writer_string(t->w, "value"), GT_F_F64, GT_R_VALUE };
	static const char *const kernels[] = { "gemm", "add \"quoted\"", "relu<float>(int)",
		"k\xff" };

	t->launch = rt_type(
		t, "cuLaunchKernel", GT_CAT_LAUNCH, GT_OP_LAUNCH, GT_LAYER_API, &correlation);
	for (int i = 0; i < 12; i++) {
		char name[40];

		snprintf(name, sizeof(name), i < 6 ? "cuFunction%d" : "cudaFunction%d", i);
		t->calls[i] = rt_type(t, name, GT_CAT_OTHER, GT_OP_NONE,
			i < 6 ? GT_LAYER_API : GT_LAYER_RUNTIME, NULL);
	}
	for (int i = 0; i < 16; i++)
		t->ranges[i] =
			rt_type(t, rt_names[i], GT_CAT_USER, GT_OP_NONE, GT_LAYER_USER, NULL);
	for (int i = 0; i < 2; i++)
		t->counters[i] = rt_type(t, i ? "power" : "live \"bytes\"", GT_CAT_OTHER,
			GT_OP_NONE, GT_LAYER_USER, &value);
	for (int i = 0; i < 4; i++)
		t->kernels[i] = gt_writer_string(t->w, kernels[i]);
}

static inline struct rt_row *rt_add(
	struct rt *t, enum gt_kind kind, uint32_t track, uint32_t type, int64_t start, int64_t end)
{
	struct rt_row *r = &t->rows[t->n < RT_ROWS ? t->n++ : RT_ROWS - 1];

	*r = (struct rt_row){
		.kind = kind, .track = track, .row = { start, end, type, 0, 0, 0 }, .call = -1
	};
	return r;
}

/* Calls between two times, and calls within them. */
static inline void rt_calls(struct rt *t, int thread, int64_t from, int64_t to, unsigned depth)
{
	while (from < to && t->n < RT_ROWS / 2) {
		int64_t start = rt_time(t, from, to),
			end = rt_random(t, 5) ? rt_time(t, start, to) : start;
		/* a launch is known by its thread and start: no two are the same */
		bool launch = !rt_random(t, 3) && thread < 2 && (start > from || !depth),
		     runtime = !launch && !rt_random(t, 3);
		struct rt_row *r = rt_add(t, runtime ? GT_SPAN : GT_CALL, t->thread[thread],
			launch ? t->launch : t->calls[rt_random(t, 6) + 6 * runtime], start, end);

		r->row.depth = (uint8_t)depth;
		r->row.ret = runtime || rt_random(t, 6) ? 0 : (int32_t)rt_random(t, 700);
		r->row.nargs = launch;
		r->arg = launch ? (uint64_t)t->n : 0;
		if (depth < 5 && rt_random(t, 2))
			rt_calls(t, thread, start, end, depth + !runtime);
		from = end + RT_STEP;
	}
}

/* Work of the calls that launch, and some of unknown calls. */
static inline void rt_gpu(struct rt *t)
{
	int ncalls = t->n;

	for (int i = 0; i < ncalls; i++) {
		struct rt_row *r, *c = &t->rows[i];
		int64_t start;

		if (c->row.type != t->launch)
			continue;
		start = rt_time(t, c->row.start, c->row.start + 3000);
		r = rt_add(t, GT_GPU, t->stream[rt_random(t, 4)], 0, start,
			start + (int64_t)rt_random(t, 30) * RT_STEP);
		r->call = rt_random(t, 8) ? i : -1;
	}
}

static inline void rt_others(struct rt *t)
{
	for (int i = 0; i < 60; i++) {
		uint32_t thread = t->thread[rt_random(t, 4)], type = t->ranges[rt_random(t, 16)];
		int64_t start = rt_time(t, 0, RT_END),
			end = rt_random(t, 4) ? rt_time(t, start, RT_END) : start;

		if (i % 3)
			rt_add(t, GT_SPAN, thread, type, start, end);
		else
			rt_add(t, GT_INSTANT, thread, type, start, start);
	}
	for (int i = 0; i < 20; i++) {
		double value = i % 2 ? (double)rt_random(t, 1000000) : rt_random(t, 1000) / 8.0;
		struct rt_row *r =
			rt_add(t, GT_COUNTER, i % 4 == 3 ? t->device[i / 4 % 2] : t->process[i % 2],
				t->counters[i / 2 % 2], 0, 0);

		r->row.start = r->row.end = rt_time(t, 0, RT_END);
		r->row.nargs = 1;
		memcpy(&r->arg, &value, sizeof(value));
	}
}

static inline void rt_put_gpu(struct rt *t, const struct rt_row *r)
{
	const struct rt_row *c = r->call < 0 ? NULL : &t->rows[r->call];
	struct gt_gpu_work work = { .track = r->track,
		.start = r->row.start,
		.end = r->row.end,
		.correlation = c ? (uint32_t)c->arg : 0,
		.unknown = GT_GPU_NO_CONTEXT | (c ? 0 : GT_GPU_NO_CORRELATION) };

	if (c)
		work.cause = (struct gt_gpu_cause){ .join = GT_JOIN_CORRELATION,
			.track = c->track,
			.name = gt_writer_type_get(t->w, t->launch)->name,
			.start = c->row.start,
			.ns = (uint64_t)(c->row.end - c->row.start) };
	if ((r->row.start / RT_STEP) % 4)
		gt_gpu_put_kernel(&t->gpu_types, &work,
			&(struct gt_gpu_kernel){ .name = t->kernels[r->row.start / RT_STEP % 4],
				.grid = { 8, 2, 1 },
				.block = { 256, 1, 1 },
				.registers = 32 },
			&t->err);
	else
		gt_gpu_put_copy(&t->gpu_types, &work,
			&(struct gt_gpu_copy){ .direction = GT_DIR_HTOD,
				.src = GT_GPU_MEM_PINNED,
				.dst = GT_GPU_MEM_DEVICE,
				.async = true,
				.bytes = 4096 },
			&t->err);
}

/* Writes the rows in random order, in three epochs. */
static inline void rt_put_rows(struct rt *t)
{
	int order[RT_ROWS];

	for (int i = 0; i < t->n; i++) {
		int k = (int)rt_random(t, (unsigned)i + 1);

		order[i] = order[k];
		order[k] = i;
	}
	for (int i = 0; i < t->n; i++) {
		const struct rt_row *r = &t->rows[order[i]];

		if (r->kind == GT_GPU)
			rt_put_gpu(t, r);
		else
			gt_writer_row(t->w, r->kind, r->track, &r->row, &r->arg, &t->err);
		if (i % (t->n / 3 + 1) == t->n / 3)
			gt_writer_epoch(t->w, RT_END + i, &t->err);
	}
	gt_writer_loss(t->w, GT_SCOPE_ALL, GT_NONE, 100, 200, 3, &t->err);
}

/* new: close it. NULL: failed. */
static inline struct gt_reader *random_trace(unsigned seed)
{
	static struct rt t;
	struct gt_writer_options o = { .host = "host", .boot_id = "boot" };
	int fd = memfd_create("trace", 0);

	memset(&t, 0, sizeof(t));
	t.err.offset = GT_NO_OFFSET;
	t.seed = seed;
	t.w = t.gpu_types.w = gt_writer_open(dup(fd), &o, &t.err);
	rt_tracks(&t);
	rt_types(&t);
	for (int i = 0; i < 4; i++)
		rt_calls(&t, i, 0, RT_END, 0);
	rt_gpu(&t);
	rt_others(&t);
	rt_put_rows(&t);
	gt_gpu_types_release(&t.gpu_types);
	if (gt_writer_close(t.w, &t.err))
		return NULL;
	return gt_reader_open_fd(fd, &t.err);
}
#endif
