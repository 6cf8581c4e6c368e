/* Traces that are made to harm reports: every row is well-formed, but there is too much of one
 * thing (streams, names, contexts, live addresses, depths), too little (one row, none), or the
 * times are such as no clock gives. A shape is a function and a row in a table. `n` is its size:
 * a test uses a small n, a measurement of memory uses a million. The includer defines
 * _GNU_SOURCE. */
#ifndef HOSTILE_SHAPES_H
#define HOSTILE_SHAPES_H
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tests/unit/gpus.h"

#define HS_META "{\"events\":\"api,ioctl,scheduler,gpu,user\"}"
#define HS_STEP 1000 /* ns from one launch to the next */

struct hs {
	struct gpus g;
	uint32_t n;
	int64_t at;
};

static inline uint32_t hs_string(struct hs *h, const char *what, uint32_t i)
{
	char text[64];

	snprintf(text, sizeof(text), "%s_%u", what, i);
	return gt_writer_string(h->g.w, text);
}

static inline void hs_due(struct hs *h, int64_t now)
{
	if (gt_writer_epoch_is_due(h->g.w, now))
		gt_writer_epoch(h->g.w, now, &h->g.err);
}

static inline void hs_row(struct hs *h, enum gt_kind kind, uint32_t track, int64_t start,
	int64_t end, uint32_t type, uint8_t depth, uint8_t nargs, const uint64_t *args)
{
	struct gt_row row = {
		.start = start, .end = end, .type = type, .depth = depth, .nargs = nargs
	};

	gt_writer_row(h->g.w, kind, track, &row, args, &h->g.err);
	hs_due(h, end);
}

/* A type of up to two whole-number fields, for n roles that are not GT_R_NONE. */
static inline uint32_t hs_type(
	struct hs *h, const char *name, struct gt_type type, enum gt_role a, enum gt_role b)
{
	struct gt_field f[2] = { { gt_writer_string(h->g.w, "a"),
					 a == GT_R_KERNEL ? GT_F_STR : GT_F_U64, (uint8_t)a },
		{ gt_writer_string(h->g.w, "b"), GT_F_U64, (uint8_t)b } };

	type.name = gt_writer_string(h->g.w, name);
	type.fields = f;
	type.nfields = (uint8_t)(!!a + !!b);
	return gt_writer_type(h->g.w, &type);
}

/* A kernel of 300 ns on this stream, launched by a call of 200 ns on this thread. */
static inline void hs_kernel(struct hs *h, uint32_t thread, uint32_t stream, uint32_t name,
	uint32_t grid, uint32_t graph)
{
	struct gt_gpu_work w = gpus_work(stream, h->at + 400, h->at + 700);

	hs_row(h, GT_CALL, thread, h->at, h->at + 200, h->g.launch, 0, 0, NULL);
	w.cause = (struct gt_gpu_cause){ GT_JOIN_CORRELATION, thread, h->g.launch_name, h->at, 200,
		0 };
	w.graph = graph;
	w.node = graph;
	w.correlation = (uint32_t)(h->at / HS_STEP);
	gt_gpu_put_kernel(&h->g.types, &w,
		&(struct gt_gpu_kernel){
			.name = name, .grid = { grid, 1, 1 }, .block = { 64, 1, 1 } },
		&h->g.err);
	h->at += HS_STEP;
	hs_due(h, h->at);
}

static inline void hs_plain(struct hs *h)
{
	hs_kernel(h, h->g.thread[0], h->g.stream[0][0], h->g.kernel[0], 8, 0);
}

/* ---- little ---- */

static inline void hs_nothing(struct hs *h) { (void)h; }
static inline void hs_one_kernel(struct hs *h)
{
	gpus_plain(&h->g, 0, h->g.stream[0][0], 100, 200);
}
static inline void hs_one_call(struct hs *h)
{
	hs_row(h, GT_CALL, h->g.thread[0], 100, 200, h->g.launch, 0, 0, NULL);
}
static inline void hs_one_moment(struct hs *h)
{
	hs_row(h, GT_INSTANT, h->g.thread[0], 100, 100, h->g.launch, 0, 0, NULL);
}
static inline void hs_one_half(struct hs *h)
{
	hs_row(h, GT_UNMATCHED, h->g.thread[0], 100, 100, h->g.launch, 0, 0, NULL);
}
static inline void hs_one_sample(struct hs *h) { gpus_sample(&h->g, h->g.device[0], 100, 5); }
static inline void hs_one_loss(struct hs *h)
{
	gt_writer_loss(h->g.w, GT_SCOPE_ALL, GT_NONE, 100, 200, GT_LOST_UNKNOWN, &h->g.err);
}
static inline void hs_one_empty(struct hs *h) { gpus_plain(&h->g, 0, h->g.stream[0][0], 100, 100); }

static inline void hs_one_open(struct hs *h)
{
	struct gt_row row = { .start = 100, .type = h->g.launch };

	gt_writer_open_call(h->g.w, h->g.thread[0], &row, NULL, &h->g.err);
	gt_writer_epoch(h->g.w, 300, &h->g.err);
}

static inline void hs_one_range(struct hs *h)
{
	struct gt_type user = { .category = GT_CAT_USER, .layer = GT_LAYER_USER };

	hs_row(h, GT_SPAN, h->g.thread[0], 100, 200, hs_type(h, "step", user, GT_R_NONE, GT_R_NONE),
		0, 0, NULL);
}

/* ---- no GPU, losses ---- */

static inline void hs_calls_only(struct hs *h)
{
	for (uint32_t i = 0; i < h->n; i++, h->at += HS_STEP)
		hs_row(h, GT_CALL, h->g.thread[i & 1], h->at, h->at + 500, h->g.launch, 0, 0, NULL);
}

static inline void hs_losses(struct hs *h)
{
	for (uint32_t i = 0; i < h->n; i++) {
		hs_plain(h);
		gt_writer_loss(h->g.w, i & 1 ? GT_SCOPE_ALL : GT_SCOPE_TRACK,
			i & 1 ? GT_NONE : h->g.thread[0], h->at - 200, h->at + 100,
			i % 3 ? 7 : GT_LOST_UNKNOWN, &h->g.err);
	}
}

/* ---- times ---- */

static inline void hs_clock_jumps(struct hs *h)
{
	static const int64_t jumps[] = { 3600000000000ll, -7200000000000ll, 500, -700,
		100000000000ll };

	for (uint32_t i = 0; i < h->n; i++) {
		hs_plain(h);
		if (i % 64 == 63) {
			gt_writer_epoch(h->g.w, h->at, &h->g.err);
			h->at += jumps[i / 64 % 5];
		}
	}
}

static inline void hs_same_moment(struct hs *h)
{
	for (uint32_t i = 0; i < h->n; i++, h->at = 5000)
		hs_kernel(h, h->g.thread[0], h->g.stream[0][i & 1], h->g.kernel[i & 1], 8, 0);
}

static inline void hs_all_of_no_length(struct hs *h)
{
	for (uint32_t i = 0; i < h->n; i++) {
		gpus_plain(&h->g, 0, h->g.stream[0][0], 0, 0);
		hs_row(h, GT_CALL, h->g.thread[0], 0, 0, h->g.launch, 0, 0, NULL);
	}
}

/* Rows as early, as late and as long as possible, and with as many bytes as possible. */
static inline void hs_extremes(struct hs *h)
{
	static const int64_t at[] = { 1 - GT_TIME_MAX, 0, GT_TIME_MAX - 2, GT_TIME_MAX - 1 };
	uint32_t alloc = hs_type(h, "cuMemAlloc_v2",
		(struct gt_type){
			.category = GT_CAT_MEMORY, .op = GT_OP_ALLOC, .memkind = GT_MEM_DEVICE },
		GT_R_BYTES, GT_R_ADDR);

	for (uint32_t i = 0; i < 4; i++)
		for (uint32_t k = i; k < 4; k++) {
			struct gt_gpu_work w = gpus_work(h->g.stream[0][k & 1], at[i], at[k]);

			w.cause = (struct gt_gpu_cause){ GT_JOIN_CORRELATION, h->g.thread[0],
				h->g.launch_name, at[i], UINT64_MAX, 0 };
			gpus_kernel(&h->g, 0, &w);
			gpus_copy(&h->g, &w, GT_DIR_HTOD, GT_GPU_MEM_PAGEABLE, GT_GPU_MEM_DEVICE,
				UINT64_MAX);
			hs_row(h, GT_CALL, h->g.thread[0], at[i], at[k], alloc, 0, 2,
				(uint64_t[]){ UINT64_MAX, i });
			hs_row(h, GT_CALL, h->g.thread[1], at[i], at[k], h->g.launch, 0, 0, NULL);
		}
}

/* ---- too many of one thing ---- */

static inline void hs_streams(struct hs *h)
{
	for (uint32_t i = 0; i < h->n; i++)
		hs_kernel(h, h->g.thread[0],
			gpus_track(&h->g, h->g.device[0], NULL, GT_TRACK_STREAM, 100 + i),
			h->g.kernel[i & 1], 8, 0);
}

/* All streams busy at once, and each again and again. */
static inline void hs_streams_at_once(struct hs *h)
{
	uint32_t first = 0, n = h->n / 4;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t track =
			gpus_track(&h->g, h->g.device[i & 1], NULL, GT_TRACK_STREAM, 100 + i);

		first = i ? first : track;
	}
	for (uint32_t k = 0; k < 4; k++)
		for (uint32_t i = 0; i < n; i++, h->at++)
			gpus_plain(&h->g, (int)(i & 1), first + i, h->at, h->at + n - 1);
}

static inline void hs_devices(struct hs *h)
{
	for (uint32_t i = 0; i < h->n / 2; i++) {
		uint32_t device = gpus_track(&h->g, h->g.process, NULL, GT_TRACK_DEVICE, 10 + i);

		hs_kernel(h, h->g.thread[0], gpus_track(&h->g, device, NULL, GT_TRACK_STREAM, 7),
			h->g.kernel[i & 1], 8, 0);
	}
}

static inline void hs_threads(struct hs *h)
{
	for (uint32_t i = 0; i < h->n; i++)
		hs_kernel(h, gpus_track(&h->g, h->g.process, NULL, GT_TRACK_THREAD, 1000 + i),
			h->g.stream[0][0], h->g.kernel[i & 1], 8, 0);
}

static inline void hs_processes(struct hs *h)
{
	for (uint32_t i = 0; i < h->n / 4; i++) {
		uint32_t process = gpus_track(&h->g, GT_NONE, NULL, GT_TRACK_PROCESS, 1000 + i);
		uint32_t device = gpus_track(&h->g, process, NULL, GT_TRACK_DEVICE, 0);

		hs_kernel(h, gpus_track(&h->g, process, NULL, GT_TRACK_THREAD, 1000 + i),
			gpus_track(&h->g, device, NULL, GT_TRACK_STREAM, 7), h->g.kernel[i & 1], 8,
			0);
	}
}

static inline void hs_kernels(struct hs *h)
{
	for (uint32_t i = 0; i < h->n; i++)
		hs_kernel(h, h->g.thread[0], h->g.stream[0][0], hs_string(h, "kernel", i), 8, 0);
}

/* n kernels whose names and GPUs occur in every combination. */
static inline void hs_kernels_by_device(struct hs *h)
{
	uint32_t side = 1, stream = 0;

	while (side * side < h->n)
		side++;
	for (uint32_t i = 0; i < h->n; i++) {
		if (i % side == 0)
			stream = gpus_track(&h->g,
				gpus_track(
					&h->g, h->g.process, NULL, GT_TRACK_DEVICE, 10 + i / side),
				NULL, GT_TRACK_STREAM, 7);
		hs_kernel(h, h->g.thread[0], stream, hs_string(h, "kernel", i % side), 8, 0);
	}
}

static inline void hs_grids(struct hs *h)
{
	for (uint32_t i = 0; i < h->n; i++)
		hs_kernel(h, h->g.thread[0], h->g.stream[0][0], h->g.kernel[0], 1 + i, 0);
}

static inline void hs_graphs(struct hs *h)
{
	for (uint32_t i = 0; i < h->n; i++)
		hs_kernel(h, h->g.thread[0], h->g.stream[0][0], h->g.kernel[0], 8, 1 + i);
}

/* Calls, ioctls, ranges or counters of n names. */
static inline void hs_named(
	struct hs *h, enum gt_kind kind, struct gt_type type, const char *what, enum gt_role role)
{
	for (uint32_t i = 0; i < h->n; i++, h->at += HS_STEP) {
		char name[64];

		snprintf(name, sizeof(name), "%s_%u", what, i);
		hs_row(h, kind, h->g.thread[i & 1], h->at, h->at + (kind == GT_COUNTER ? 0 : 500),
			hs_type(h, name, type, role, GT_R_NONE), 0, role != GT_R_NONE,
			(uint64_t[]){ i });
	}
	hs_plain(h);
}

static inline void hs_functions(struct hs *h)
{
	hs_named(h, GT_CALL, (struct gt_type){ .category = GT_CAT_QUERY }, "cuCall", GT_R_NONE);
}

static inline void hs_ioctls(struct hs *h)
{
	hs_named(h, GT_CALL,
		(struct gt_type){
			.category = GT_CAT_IOCTL, .op = GT_OP_IOCTL, .layer = GT_LAYER_IOCTL },
		"NV_ESC", GT_R_STATUS);
}

static inline void hs_ranges(struct hs *h)
{
	hs_named(h, GT_SPAN, (struct gt_type){ .category = GT_CAT_USER, .layer = GT_LAYER_USER },
		"range", GT_R_NONE);
}

static inline void hs_counters(struct hs *h)
{
	hs_named(
		h, GT_COUNTER, (struct gt_type){ .category = GT_CAT_OTHER }, "counter", GT_R_VALUE);
}

/* Calls of one name with n values of an argument. */
static inline void hs_valued(
	struct hs *h, const char *name, struct gt_type type, enum gt_role a, enum gt_role b)
{
	uint32_t id = hs_type(h, name, type, a, b);

	for (uint32_t i = 0; i < h->n; i++, h->at += HS_STEP)
		hs_row(h, GT_CALL, h->g.thread[0], h->at, h->at + 500, id, 0, (uint8_t)(!!a + !!b),
			(uint64_t[]){ 1 + i, 0x1000ull + i });
	hs_plain(h);
}

static inline void hs_contexts(struct hs *h)
{
	hs_valued(h, "cuCtxSetCurrent", (struct gt_type){ .category = GT_CAT_CONTEXT },
		GT_R_CONTEXT, GT_R_NONE);
}

/* Of n sizes, at n addresses, and never freed. */
static inline void hs_allocations(struct hs *h)
{
	hs_valued(h, "cuMemAlloc_v2",
		(struct gt_type){
			.category = GT_CAT_MEMORY, .op = GT_OP_ALLOC, .memkind = GT_MEM_DEVICE },
		GT_R_BYTES, GT_R_ADDR);
}

static inline void hs_handles(struct hs *h)
{
	hs_valued(h, "cuStreamSynchronize",
		(struct gt_type){ .category = GT_CAT_SYNC, .op = GT_OP_SYNC }, GT_R_STREAM,
		GT_R_EVENT);
}

/* Launches of n kernels that have a name and nothing else. */
static inline void hs_launched_names(struct hs *h)
{
	uint32_t id = hs_type(h, "cuLaunchKernelEx",
		(struct gt_type){ .category = GT_CAT_LAUNCH, .op = GT_OP_LAUNCH }, GT_R_KERNEL,
		GT_R_STREAM);

	for (uint32_t i = 0; i < h->n; i++, h->at += HS_STEP)
		hs_row(h, GT_CALL, h->g.thread[0], h->at, h->at + 500, id, 0, 2,
			(uint64_t[]){ hs_string(h, "launched", i), i });
}

static inline void hs_failures(struct hs *h)
{
	for (uint32_t i = 0; i < h->n; i++, h->at += HS_STEP) {
		struct gt_row row = { .start = h->at,
			.end = h->at + 500,
			.type = h->g.launch,
			.ret = (int32_t)i + 1 };

		gt_writer_row(h->g.w, GT_CALL, h->g.thread[0], &row, NULL, &h->g.err);
		hs_due(h, h->at);
	}
}

/* n ranges, each within the one before it. */
static inline void hs_nested_ranges(struct hs *h)
{
	struct gt_type user = { .category = GT_CAT_USER, .layer = GT_LAYER_USER };
	uint32_t type = hs_type(h, "level", user, GT_R_NONE, GT_R_NONE);
	int64_t middle = (int64_t)h->n * HS_STEP;

	for (int64_t i = 0; i < h->n; i++)
		hs_row(h, GT_SPAN, h->g.thread[0], i * 10, 2 * middle - i * 10, type,
			(uint8_t)(i < 255 ? i : 255), 0, NULL);
	h->at = middle;
	hs_plain(h);
}

static inline void hs_nested_calls(struct hs *h)
{
	int64_t middle = (int64_t)h->n * HS_STEP;

	for (int64_t i = 0; i < h->n; i++)
		hs_row(h, GT_CALL, h->g.thread[0], i * 10, 2 * middle - i * 10, h->g.launch,
			(uint8_t)(i < 255 ? i : 255), 0, NULL);
	h->at = middle;
	hs_plain(h);
}

/* Waits, each of a stream for another event. */
static inline void hs_waits(struct hs *h)
{
	for (uint32_t i = 0; i < h->n; i++) {
		struct gt_gpu_work w = gpus_work(h->g.stream[0][1], h->at, h->at + 300);

		gpus_wait(&h->g, &w, i & 1 ? GT_GPU_WAIT_STREAM_EVENT : GT_GPU_WAIT_EVENT, i);
		hs_plain(h);
	}
}

/* Copies that all have a size of their own. */
static inline void hs_sizes(struct hs *h)
{
	for (uint32_t i = 0; i < h->n; i++, h->at += HS_STEP) {
		struct gt_gpu_work w = gpus_work(h->g.stream[0][0], h->at, h->at + 1 + i % 999);

		gpus_copy(&h->g, &w, GT_DIR_HTOD, GT_GPU_MEM_PAGEABLE, GT_GPU_MEM_DEVICE, 1 + i);
		hs_due(h, h->at);
	}
}

/* No operation starts before all are launched. */
static inline void hs_queued(struct hs *h)
{
	int64_t begun = (int64_t)h->n * HS_STEP;

	for (uint32_t i = 0; i < h->n; i++, h->at += HS_STEP)
		hs_row(h, GT_CALL, h->g.thread[0], h->at, h->at + 200, h->g.launch, 0, 0, NULL);
	for (uint32_t i = 0; i < h->n; i++) {
		struct gt_gpu_work w =
			gpus_work(h->g.stream[0][0], begun + i * 10, begun + i * 10 + 5);

		w.cause = (struct gt_gpu_cause){ GT_JOIN_CORRELATION, h->g.thread[0],
			h->g.launch_name, (int64_t)i * HS_STEP, 200, 0 };
		gpus_kernel(&h->g, 0, &w);
		hs_due(h, w.end);
	}
}

/* A stack of its own for each sample and each wait, some that do not exist, and periods of any
 * length; few of the samples are in gaps of their thread. */
static inline void hs_samples(struct hs *h)
{
	const struct gt_type sample = { .op = GT_OP_SAMPLE, .layer = GT_LAYER_SCHED },
			     wait = { .op = GT_OP_OFF_CPU, .layer = GT_LAYER_SCHED };
	uint32_t types[] = { hs_type(h, "sample", sample, GT_R_VALUE, GT_R_STACK),
		hs_type(h, "sample", sample, GT_R_STACK, GT_R_NONE),
		hs_type(h, "sample", sample, GT_R_VALUE, GT_R_NONE),
		hs_type(h, "futex", wait, GT_R_STACK, GT_R_VALUE) };

	for (uint32_t i = 0; i < h->n; i++) {
		uint32_t frames[2] = { hs_string(h, "main", i % 3), hs_string(h, "line", i) };
		uint64_t stack = i % 5 ? gt_writer_stack(h->g.w, frames, 2) : UINT64_MAX - i,
			 period = i % 7 ? 5000 : UINT64_MAX;

		hs_row(h, GT_INSTANT, h->g.thread[i & 1], h->at - 250, h->at - 250, types[i % 3], 0,
			i % 3 ? 1 : 2, i % 3 == 1 ? &stack : (uint64_t[]){ period, stack });
		hs_row(h, GT_SPAN, h->g.thread[0], h->at - 200, h->at - 100, types[3], 0, 2,
			(uint64_t[]){ stack, period });
		hs_plain(h);
	}
}

static const struct hs_shape {
	const char *name;
	void (*rows)(struct hs *h);
} hs_shapes[] __attribute__((unused)) = {
#define S(f) { #f, hs_##f },
	S(nothing) S(one_kernel) S(one_call) S(one_moment) S(one_half) S(one_sample) S(one_loss)
		S(one_empty) S(one_open) S(one_range) S(calls_only) S(losses) S(clock_jumps) S(
			same_moment) S(all_of_no_length) S(extremes) S(streams) S(streams_at_once)
			S(devices) S(threads) S(processes) S(kernels) S(kernels_by_device) S(grids)
				S(graphs) S(functions) S(ioctls) S(ranges) S(counters) S(contexts)
					S(allocations) S(handles) S(launched_names) S(failures)
						S(nested_ranges) S(nested_calls) S(waits) S(sizes)
							S(queued) S(samples)
#undef S
};
#define HS_SHAPES (sizeof(hs_shapes) / sizeof(*hs_shapes))

/* The trace of the shape, also in h->g.fd; the caller closes the reader. NULL: the trace cannot
 * be written, and h->g.err has the reason. */
static inline struct gt_reader *hs_make(struct hs *h, const struct hs_shape *shape, uint32_t n)
{
	memset(h, 0, sizeof(*h));
	gpus_begin(&h->g, HS_META);
	h->n = n;
	h->at = HS_STEP;
	shape->rows(h);
	return gpus_end(&h->g);
}
#endif
