/* Waits, which are made from the calls that wait: the stream of each. */
#define _GNU_SOURCE
#include "collect/correlate/gpu_correlate.h"
#include "tests/unit/collect/correlate/joins.h"

static void on_stream(struct join *j, const char *name, enum gt_gpu_call_kind does, uint64_t handle,
	int64_t start, unsigned t)
{
	struct gt_gpu_call c = { .id = (uint16_t)gt_api_find(name),
		.kind = (uint8_t)does,
		.track = j->thread[t],
		.tid = (int32_t)t + 1,
		.start = start,
		.end = start + 100,
		.name = gt_writer_string(j->w, name),
		.kernel = GT_NONE,
		.has_stream = true,
		.stream = handle,
		.wait = (uint8_t)gt_gpu_wait_of_call(name),
		.event = GT_GPU_NO_EVENT,
		.per_thread = gt_api_per_thread(name) };

	gt_gpu_call(j->g, &j->p, j->process, &c);
}

static void gpu_is_on(struct join *j)
{
	struct gt_gpu_event on = { .id = GT_EV_GPU_STATE,
		.start = SECOND,
		.end = SECOND,
		.n = 3,
		.body.state = { GT_GPU_ON, 1, 130001 } };

	gt_gpu_event(j->g, &j->p, j->process, &on);
}

/* Work that was launched at `start` ran on stream `stream` of context `context`. */
static void worked(struct join *j, int64_t start, unsigned t, uint32_t correlation,
	uint32_t context, uint32_t stream)
{
	struct gt_gpu_event e = { .id = GT_EV_KERNEL,
		.start = start + 1000,
		.end = start + 2000,
		.n = 9,
		.body.kernel = { .work = { .correlation = correlation,
					 .device = context - 1,
					 .context = context,
					 .stream = stream,
					 .registers = 40 },
			.grid = { 1, 1, 1 },
			.block = { 32, 1, 1 },
			.name = 1 } };

	record(j, t, start + 10, start + 90, correlation, LAUNCH_CBID);
	gt_gpu_event(j->g, &j->p, j->process, &e);
}

static void ran(struct join *j, uint64_t handle, int64_t start, unsigned t, uint32_t correlation,
	uint32_t context, uint32_t stream)
{
	on_stream(j, "cuLaunchKernel", GT_GPU_CALL_WORKS, handle, start, t);
	worked(j, start, t, correlation, context, stream);
}

/* The streams of the waits in order of time; 0: on the process. */
static size_t waited(struct gt_reader *r, long long *on, size_t most)
{
	struct gt_filter f = { .kinds = GT_BIT(GT_SPAN) };
	struct gt_iter *it = gt_iter_open(r, &f, NULL);
	struct gt_event ev;
	size_t n = 0;

	while (n < most && gt_iter_next(it, &ev, NULL) == 1) {
		const struct gt_track *t = &ev.seg->tracks[ev.track];

		if (role(&ev, GT_R_LAUNCH_JOIN) != GT_JOIN_CORRELATION ||
			(int64_t)role(&ev, GT_R_LAUNCH_START) != ev.row.start)
			on[n++] = -1;
		else
			on[n++] = t->kind == GT_TRACK_STREAM  ? (long long)t->id
				: t->kind == GT_TRACK_PROCESS ? 0
							      : -2;
	}
	gt_iter_close(it);
	return n;
}

/* After the first stream is destroyed, its handle can belong to another stream, and GPU records
 * arrive long after the calls. */
static void a_wait_is_on_the_stream_that_was_meant(void)
{
	struct gt_gpu_totals t;
	struct gt_reader *r;
	long long on[8];
	struct join j;

	begin(&j);
	gpu_is_on(&j);
	on_stream(&j, "cuLaunchKernel", GT_GPU_CALL_WORKS, 0x100, SECOND, 0);
	on_stream(&j, "cuStreamSynchronize", GT_GPU_CALL_WAITS, 0x100, SECOND + 1000, 0);
	on_stream(&j, "cuStreamDestroy_v2", GT_GPU_CALL_ENDS_STREAM, 0x100, SECOND + 2000, 0);
	ran(&j, 0x100, SECOND + 3000, 0, 2, 1, 9);
	settle(&j, SECOND + 4000, false); /* the second stream's work comes first */
	on_stream(&j, "cuStreamSynchronize", GT_GPU_CALL_WAITS, 0x100, SECOND + 5000, 0);
	settle(&j, SECOND + 6000, false);
	record(&j, 0, SECOND + 10, SECOND + 90, 1, LAUNCH_CBID);
	kernel(&j, SECOND + 500, SECOND + 600, 1, 1, 1);
	/* nothing ever ran there */
	on_stream(&j, "cuStreamSynchronize", GT_GPU_CALL_WAITS, 0x200, SECOND + 7000, 0);
	r = finish(&j, SECOND + 30000, &t);
	CHECK(r && t.waits == 3 && !t.waits_nowhere && waited(r, on, 8) == 3);
	CHECK(on[0] == 7 && on[1] == 9 && on[2] == 0);
	gt_reader_close(r);
}

/* The recorder reads the calls of two threads one thread after the other: it may read the end of
 * a stream after the calls on the next stream with the same handle. */
static void a_handle_goes_from_thread_to_thread(void)
{
	struct gt_gpu_totals t;
	struct gt_reader *r;
	long long on[8];
	struct join j;

	begin(&j);
	gpu_is_on(&j);
	ran(&j, 0x100, SECOND, 1, 1, 1, 7); /* the first, and its end */
	on_stream(&j, "cuStreamSynchronize", GT_GPU_CALL_WAITS, 0x100, SECOND + 1000, 1);
	on_stream(&j, "cuStreamDestroy_v2", GT_GPU_CALL_ENDS_STREAM, 0x100, SECOND + 2000, 1);
	ran(&j, 0x100, SECOND + 5000, 1, 3, 1, 11); /* the third */
	on_stream(&j, "cuStreamSynchronize", GT_GPU_CALL_WAITS, 0x100, SECOND + 6000, 1);
	/* the second stream; comes last */
	on_stream(&j, "cuLaunchKernel", GT_GPU_CALL_WORKS, 0x100, SECOND + 2500, 0);
	on_stream(&j, "cuStreamSynchronize", GT_GPU_CALL_WAITS, 0x100, SECOND + 3000, 0);
	on_stream(&j, "cuStreamDestroy_v2", GT_GPU_CALL_ENDS_STREAM, 0x100, SECOND + 4000, 0);
	settle(&j, SECOND + 8000, false);
	worked(&j, SECOND + 2500, 0, 2, 1, 9);
	r = finish(&j, SECOND + 30000, &t);
	CHECK(r && t.waits == 3 && waited(r, on, 8) == 3);
	CHECK(on[0] == 7 && on[1] == 9 && on[2] == 11);
	gt_reader_close(r);
}

/* There is one default stream for each context, or one for each thread. */
static void the_default_stream_is_many(void)
{
	struct gt_gpu_totals t;
	struct gt_reader *r;
	long long on[8];
	struct join j;

	begin(&j);
	gpu_is_on(&j);
	ran(&j, 2, SECOND, 0, 1, 1, 20);
	ran(&j, 2, SECOND, 1, 2, 1, 21);
	ran(&j, 0, SECOND + 1000, 0, 3, 1, 7);
	on_stream(&j, "cuStreamSynchronize_ptsz", GT_GPU_CALL_WAITS, 0, SECOND + 5000, 0);
	on_stream(&j, "cuStreamSynchronize", GT_GPU_CALL_WAITS, 2, SECOND + 6000, 1);
	on_stream(&j, "cuStreamSynchronize", GT_GPU_CALL_WAITS, 0, SECOND + 7000, 1);
	settle(&j, SECOND + 8000, false);
	settle(&j, 3 * SECOND, false); /* one context: there is but one */
	on_stream(&j, "cuStreamSynchronize", GT_GPU_CALL_WAITS, 0, 4 * SECOND, 0);
	settle(&j, 4 * SECOND + 1000, false);
	/* of another context, whose record comes late */
	ran(&j, 0, 4 * SECOND - 1000, 0, 4, 2, 13);
	r = finish(&j, 5 * SECOND, &t);
	CHECK(r && t.waits == 4 && waited(r, on, 8) == 4);
	CHECK(on[0] == 20 && on[1] == 21 && on[2] == 7 && on[3] == 0);
	gt_reader_close(r);
}

/* On a machine with high load CUPTI's buffers may come seconds late. Waits are kept as long as
 * no buffer comes. A wait whose stream has no records is written when records of later work have
 * come, or at the end. */
static void gpu_records_come_late(void)
{
	struct gt_gpu_totals t;
	struct gt_reader *r;
	long long on[8];
	struct join j;

	begin(&j);
	gpu_is_on(&j);
	on_stream(&j, "cuLaunchKernel", GT_GPU_CALL_WORKS, 0x100, SECOND, 0);
	on_stream(&j, "cuStreamSynchronize", GT_GPU_CALL_WAITS, 0x100, SECOND + 1000, 0);
	on_stream(&j, "cuStreamSynchronize", GT_GPU_CALL_WAITS, 0x200, SECOND + 2000, 0);
	for (int i = 0; i < 8; i++)
		settle(&j, (i + 1) * SECOND + 4000, false);
	record(&j, 0, SECOND + 10, SECOND + 90, 1, LAUNCH_CBID);
	kernel(&j, SECOND + 500, SECOND + 600, 1, 1, 1);
	settle(&j, 9 * SECOND, false);
	/* of no known call: this is decided when the record has waited long enough */
	kernel(&j, 9 * SECOND, 9 * SECOND + 600, 2, 1, 1);
	settle(&j, 9 * SECOND + 1000, false);
	settle(&j, 12 * SECOND, false);
	ran(&j, 0x200, 13 * SECOND, 0, 3, 1, 9); /* too late for the wait on that stream */
	r = finish(&j, 14 * SECOND, &t);
	CHECK(r && t.waits == 2 && waited(r, on, 8) == 2);
	CHECK(on[0] == 7 && on[1] == 0);
	gt_reader_close(r);
}

/* If CUPTI was never loaded, -e gpu has no records, and an unlimited number of waits takes no
 * memory. */
static void waits_without_a_gpu(void)
{
	struct gt_gpu_totals t;
	struct join j;
	size_t before;

	begin(&j);
	before = in_use();
	for (int i = 0; i < 300000; i++) {
		on_stream(
			&j, "cuStreamSynchronize", GT_GPU_CALL_WAITS, 0x100, SECOND + i * 1000, 0);
		if (i % 1000 == 0)
			settle(&j, SECOND + i * 1000, false);
	}
	CHECK(in_use() - before < 20u << 20);
	gt_reader_close(finish(&j, 500 * SECOND, &t));
	CHECK(!t.waits);
}

T_MAIN(T(a_wait_is_on_the_stream_that_was_meant), T(a_handle_goes_from_thread_to_thread),
	T(the_default_stream_is_many), T(gpu_records_come_late), T(waits_without_a_gpu))
