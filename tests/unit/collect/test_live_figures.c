/* The figures of --live, computed from known rows. */
#include "collect/live/live_figures.h"
#include "tests/unit/t.h"

static const struct gt_string strings[] = { { "cuLaunchKernel", 14 }, { "cuStreamSynchronize", 19 },
	{ "kernel", 6 }, { "futex", 5 } };
static const struct gt_type types[] = { { .name = 0, .category = GT_CAT_LAUNCH },
	{ .name = 1, .category = GT_CAT_SYNC }, { .name = 2, .category = GT_CAT_KERNEL },
	{ .name = 3, .category = GT_CAT_LOCK, .op = GT_OP_OFF_CPU } };
static const struct gt_track tracks[] = { { .parent = GT_NONE, .kind = GT_TRACK_THREAD, .id = 7 },
	{ .parent = GT_NONE, .kind = GT_TRACK_DEVICE, .id = 3 },
	{ .parent = 1, .kind = GT_TRACK_STREAM, .id = 13 },
	{ .parent = 1, .kind = GT_TRACK_STREAM, .id = 14 } };
static struct gt_segment segment = { .strings = strings,
	.nstrings = 4,
	.types = types,
	.ntypes = 4,
	.tracks = tracks,
	.ntracks = 4 };

static void add(struct gt_live_figures *f, enum gt_kind kind, uint32_t track, uint32_t type,
	int64_t start_ms, int64_t end_ms)
{
	const struct gt_event ev = { .seg = &segment,
		.kind = kind,
		.track = track,
		.row = { .start = start_ms * 1000000, .end = end_ms * 1000000, .type = type } };

	gt_live_figures_add(f, &ev);
}

/* The trace is complete up to this time. */
static bool print(struct gt_live_figures *f, int64_t complete_ms, char *to, size_t size)
{
	FILE *file = fmemopen(to, size, "w");
	bool is_printed;

	segment.complete_to = complete_ms * 1000000;
	is_printed = gt_live_figures_print(f, &segment, file, false, 1, -4000000000);
	fclose(file);
	return is_printed;
}

/* Operations of two streams overlap: the GPU is busy from 0.1 to 0.4 s of one second. */
static void one_part(void)
{
	struct gt_live_figures f = { .n = 0 };
	char text[400] = "";

	add(&f, GT_CALL, 0, 0, 1, 2);
	add(&f, GT_GPU, 2, 2, 100, 300);
	add(&f, GT_GPU, 3, 2, 200, 400);
	add(&f, GT_CALL, 0, 0, 500, 501);
	add(&f, GT_SPAN, 0, 3, 600, 650);
	add(&f, GT_CALL, 0, 1, 600, 1001);
	print(&f, 1001, text, sizeof(text));
	CHECK_STR(text,
		"gtcollect: 5.0 s: 3 calls/s (cuLaunchKernel 2/s), GPU 3 busy 30.0 %, in synchronizing calls 401.00 ms, off the processor 50.00 ms, 0 lost\n");
	gt_live_figures_release(&f);
}

/* An operation that began in the previous interval counts from the end of that interval. */
static void next_part(void)
{
	struct gt_live_figures f = { .n = 0 };
	struct gt_event lost = { .seg = &segment,
		.kind = GT_LOST,
		.track = GT_NONE,
		.args = (const uint64_t[]){ 12, GT_SCOPE_ALL } };
	char text[400] = "";

	add(&f, GT_CALL, 0, 0, 1, 2);
	add(&f, GT_GPU, 2, 2, 900, 1001);
	print(&f, 1001, text, sizeof(text));
	gt_live_figures_next(&f);
	add(&f, GT_GPU, 2, 2, 901, 1501);
	gt_live_figures_add(&f, &lost);
	add(&f, GT_CALL, 0, 0, 2000, 2001);
	print(&f, 2001, text, sizeof(text));
	CHECK_STR(text,
		"gtcollect: 6.0 s: 1 calls/s (cuLaunchKernel 1/s), GPU 3 busy 50.0 %, in synchronizing calls 0.00 ms, 12 lost\n");
	gt_live_figures_release(&f);
}

/* A row that ends later than the trace is complete does not make the part longer, and the next one
 * shorter. */
static void rows_that_end_later(void)
{
	struct gt_live_figures f = { .n = 0 };
	char text[400] = "";

	add(&f, GT_CALL, 0, 0, 1, 2);
	add(&f, GT_SPAN, 0, 3, 900, 1900);
	print(&f, 1001, text, sizeof(text));
	gt_live_figures_next(&f);
	add(&f, GT_CALL, 0, 0, 1500, 1501);
	print(&f, 2001, text, sizeof(text));
	CHECK_STR(text,
		"gtcollect: 6.0 s: 1 calls/s (cuLaunchKernel 1/s), in synchronizing calls 0.00 ms, off the processor 0.00 ms, 0 lost\n");
	gt_live_figures_release(&f);
}

/* A call that has ended behind the time up to which the trace is complete. */
static void a_part_without_length(void)
{
	struct gt_live_figures f = { .n = 0 };
	char text[400] = "";

	add(&f, GT_CALL, 0, 0, 1, 2);
	CHECK(!print(&f, 1, text, sizeof(text)));
	CHECK_STR(text, "");
	CHECK(!print(&f, 0, text, sizeof(text)));
	CHECK(print(&f, 2001, text, sizeof(text)));
	CHECK(strstr(text, ": 6.0 s: 0 calls/s"));
	gt_live_figures_release(&f);
}

T_MAIN({ "one_part", one_part }, { "next_part", next_part },
	{ "rows_that_end_later", rows_that_end_later },
	{ "a_part_without_length", a_part_without_length })
