/* Report "queues": the number of launches that wait for the GPU, per stream and device, over time
 * (queue_accounting.h).
 *
 * A queue has GT_QUEUE_FULL places or a few more (an H200 has 1,022 to 1,024 in a channel). A call
 * that finds it full does not return before a place is free. So the time in calls that launch on a
 * full stream is time in which the program is blocked.
 *
 * Figures are over the window of the recording (gpu_window.h). Launches whose work starts after
 * --to may wait before it. So with a range the whole trace is read, and the figures are cut to the
 * range. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/launch/queue_stalls.h"
#include "analyze/launch/queue_accounting.h"
#include "analyze/core/busy_strip.h"
#include "formats/base/buf.h"
#include "formats/base/sorted.h"

#define CLASSES 5        /* of depth: 0, 1-15, 16-255, 256 up to full, full */
#define STRIPS_MAX 16384 /* 8 MiB */

struct tally { /* figures of a queue */
	const struct gt_segment *seg;
	uint32_t track, device;
	uint64_t launches;
	uint64_t most, ns[CLASSES], blocked;
	int64_t most_at;
	unsigned __int128 sum; /* depth times ns */
	struct gt_busy_strip *strip;
};
struct queues {
	struct gt_queues all;  /* first member: begins with gt_report_state */
	struct tally *tallies; /* in the order of all.list */
	size_t n, cap, nstrips;
	const struct gt_segment *seg; /* of the pictures */
	struct gt_busy_strip_window strip;
};

static unsigned class_of(const struct gt_queue *l)
{
	if (gt_queue_is_device(l) ? l->nfull : l->depth >= GT_QUEUE_FULL)
		return 4;
	return !l->depth ? 0 : l->depth < 16 ? 1 : l->depth < 256 ? 2 : 3;
}

static void on_values(struct gt_queues *all, const struct gt_queue *l, int64_t from, int64_t to)
{
	struct queues *q = (struct queues *)all;
	const struct gt_gpu_window *w = &all->gpu.windows[l->seg->index];
	struct tally *t = &q->tallies[l - all->list];
	uint64_t ns;

	from = w->from > from ? w->from : from;
	to = gt_gpu_window_end(w) < to ? gt_gpu_window_end(w) : to;
	if (to <= from || !w->opened)
		return;
	ns = (uint64_t)(to - from);
	t->ns[class_of(l)] += ns;
	if (!l->depth)
		return;
	t->sum += (unsigned __int128)l->depth * ns;
	t->blocked +=
		(gt_queue_is_device(l) ? l->nblocked > 0 : l->depth >= GT_QUEUE_FULL && l->calling)
		? ns
		: 0;
	if (l->depth > t->most) {
		t->most = l->depth;
		t->most_at = from;
	}
	if (q->seg != l->seg) {
		q->strip = gt_busy_strip_window(all->gpu.report.opt, l->seg);
		q->seg = l->seg;
	}
	if (t->strip)
		gt_busy_strip_add_weighted(t->strip, &q->strip, from, to, l->depth);
}

/* Does the time from the start of the call to its end, or to the start of its work, overlap the
 * range? */
static bool is_within(const struct gt_filter *f, const struct gt_grouped_op *op)
{
	struct gt_range in = gt_range_of(f, op->seg);

	return !f->ranged ||
		((op->start >= in.from || op->launch->end >= in.from) && op->launch->start < in.to);
}

static int on_work(struct gt_queues *all, const struct gt_grouped_op *op, size_t queue,
	size_t device, struct gt_err *err)
{
	struct queues *q = (struct queues *)all;

	if (gt_grow(&q->tallies, &q->cap, all->n, sizeof(*q->tallies)))
		return gt_err_set(err, -ENOMEM, "out of memory (streams)");
	for (; q->n < all->n; q->n++) {
		const struct gt_queue *l = &all->list[q->n];
		struct tally *t = &q->tallies[q->n];

		*t = (struct tally){ .seg = l->seg, .track = l->track, .device = l->device };
		if (q->nstrips < STRIPS_MAX && (t->strip = calloc(1, sizeof(*t->strip))))
			q->nstrips++;
	}
	if (op->launch && op->first && is_within(&all->gpu.report.opt->filter, op)) {
		q->tallies[queue].launches++;
		q->tallies[device].launches += queue != device;
	}
	return 0;
}

static int queues_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct queues *q = state;

	q->all.on_values = on_values;
	q->all.work = on_work;
	return gt_queues_init(&q->all, r, opt, err);
}

static int on_run(void *arg, const struct gt_cols *cols, struct gt_err *err)
{
	return gt_queues_run(&((struct queues *)arg)->all, cols, err);
}

static int queues_block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	struct queues *q = state;

	return q->all.gpu.report.opt->filter.ranged ? 0 : gt_queues_run(&q->all, cols, err);
}

/* Reads the whole trace: launches of later work may wait in the range. */
static int read_all(struct queues *q, struct gt_err *err)
{
	struct gt_filter filter = q->all.gpu.report.opt->filter;

	filter.ranged = false;
	filter.kinds = GT_BIT(GT_GPU);
	filter.args = true;
	return gt_reread_trace(q->all.gpu.report.reader, &filter, GT_BY_TIME, on_run, q, err);
}

/* ---- tables ---- */

static const struct gt_column columns[] = {
	GT_WHERE_STREAM,
	{ "launches", "Launches", GT_C_COUNT },
	{ "most", "Most", GT_C_COUNT },
	{ "mean", "Mean", GT_C_REAL },
	{ "empty_percent", "0 %", GT_C_PERCENT },
	{ "few_percent", "1-15 %", GT_C_PERCENT },
	{ "some_percent", "16-255 %", GT_C_PERCENT },
	{ "many_percent", "256+ %", GT_C_PERCENT },
	{ "full_percent", "Full %", GT_C_PERCENT },
	{ "blocked_ns", "Blocked", GT_C_NS },
	{ "most_at_ns", NULL, GT_C_TIME },
	{ "waiting_ns", NULL, GT_C_NS },
	{ "window_ns", NULL, GT_C_NS },
	{ "empty_ns", NULL, GT_C_NS },
	{ "few_ns", NULL, GT_C_NS },
	{ "some_ns", NULL, GT_C_NS },
	{ "many_ns", NULL, GT_C_NS },
	{ "full_ns", NULL, GT_C_NS },
};
#define NCOLUMNS (sizeof(columns) / sizeof(*columns))
static const struct gt_column picture_columns[] = {
	GT_WHERE_STREAM,
	{ "depth", "Waiting when", GT_C_WHOLE },
	{ "most", "Most", GT_C_COUNT },
	{ "from_ns", NULL, GT_C_TIME },
	{ "to_ns", NULL, GT_C_TIME },
};
#define NPICTURE (sizeof(picture_columns) / sizeof(*picture_columns))
#define BESIDE 44u

static int by_device(const void *pa, const void *pb)
{
	const struct tally *a = pa, *b = pb;

	return gt_by_stream(a->seg, a->device, a->track, b->seg, b->device, b->track);
}

static int add_lane(
	const struct queues *q, struct gt_table *t, const struct tally *l, struct gt_err *err)
{
	uint64_t window = gt_launch_grouping_window_ns(&q->all.gpu, l->seg);
	const struct gt_report_state *a = &q->all.gpu.report;
	struct gt_cell cells[NCOLUMNS];
	uint64_t ns[CLASSES];
	int64_t shares[CLASSES];

	memcpy(ns, l->ns, sizeof(ns));
	/* it was empty also before its first launch and after its last one */
	ns[0] = window;
	for (unsigned i = 1; i < CLASSES; i++)
		ns[0] -= ns[i];
	if (gt_compute_shares(ns, CLASSES, shares, err))
		return -ENOMEM;
	gt_where_stream(cells, l->seg, l->track);
	cells[5] = gt_cell_u(l->launches);
	cells[6] = gt_cell_u(l->most);
	cells[7] = window
		? (struct gt_cell){ .d = round((double)l->sum / (double)window * 1e4) / 1e4 }
		: gt_cell_none();
	for (unsigned i = 0; i < CLASSES; i++) {
		cells[8 + i] = window ? gt_cell_i(shares[i]) : gt_cell_none();
		cells[17 + i] = gt_cell_u(ns[i]);
	}
	cells[13] = gt_cell_u(l->blocked);
	cells[14] = l->most ? gt_cell_time(a, l->seg, l->most_at) : gt_cell_none();
	cells[15] = gt_cell_u(l->sum > UINT64_MAX ? UINT64_MAX : (uint64_t)l->sum);
	cells[16] = gt_cell_u(window);
	gt_table_add(t, cells);
	return 0;
}

/* The scale is logarithmic: a depth of one and a depth of a thousand are both visible. */
static char letter(uint64_t mean, bool touched)
{
	static const struct {
		uint64_t from;
		char c;
	} levels[] = { { GT_QUEUE_FULL, '@' }, { 512, '%' }, { 256, '#' }, { 128, '*' },
		{ 64, '+' }, { 16, '=' }, { 4, '-' }, { 1, ':' } };

	for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++)
		if (mean >= levels[i].from)
			return levels[i].c;
	return touched ? '.' : ' ';
}

static void add_strip(const struct queues *q, struct gt_table *t, const struct tally *l)
{
	const struct gt_report_state *a = &q->all.gpu.report;
	struct gt_busy_strip_window w = gt_busy_strip_window(a->opt, l->seg);
	unsigned n = gt_busy_strip_cells(a->opt, BESIDE);
	char text[GT_BUSY_STRIP_CELLS + 1] = "";
	struct gt_cell cells[NPICTURE];

	for (unsigned i = 0; i < n; i++) {
		bool touched;
		uint64_t mean = gt_busy_strip_mean(l->strip, &w, n, i, &touched);

		text[i] = letter(mean, touched);
	}
	gt_where_stream(cells, l->seg, l->track);
	cells[5] = gt_cell_text(text);
	cells[6] = gt_cell_u(l->most);
	cells[7] = gt_cell_time(a, l->seg, w.from);
	cells[8] = gt_cell_time(a, l->seg, (int64_t)((uint64_t)w.from + w.width));
	gt_table_add(t, cells);
}

static int fill(struct queues *q, struct gt_table **tables, struct gt_err *err)
{
	size_t shown = gt_rows_shown(q->n, q->all.gpu.report.opt->top);
	unsigned n = gt_busy_strip_cells(q->all.gpu.report.opt, BESIDE);
	int rc = 0;

	GT_SORT(q->tallies, q->n, by_device);
	for (size_t i = 0; !rc && i < shown; i++) {
		const struct tally *l = &q->tallies[i];
		struct gt_busy_strip_window w = gt_busy_strip_window(q->all.gpu.report.opt, l->seg);

		if (!i || l->seg != q->tallies[i - 1].seg)
			gt_busy_strip_note(tables[1], &q->all.gpu.report, l->seg, &w, n);
		rc = add_lane(q, tables[0], l, err);
		if (l->strip)
			add_strip(q, tables[1], l);
	}
	gt_table_note_cut(tables[0], q->n, shown);
	if (q->n > q->nstrips)
		gt_table_note(
			tables[1], "only the first %d streams and GPUs are drawn", STRIPS_MAX);
	else
		gt_table_note_cut(tables[1], q->n, shown);
	return rc;
}

static void add_notes(const struct queues *q, struct gt_table **tables)
{
	if (q->n) {
		gt_table_note(tables[0],
			"a launch waits from the return of its call to the start of its work; %% is a share of the time from the "
			"first to the last GPU operation");
		gt_table_note(tables[0],
			"full: %d or more wait on a stream (an H200 has 1,022 to 1,024 places in a channel); blocked: "
			"time in calls that launch on a full stream",
			GT_QUEUE_FULL);
		gt_table_note(tables[1],
			"mean in each cell: . below 1, : 1, - 4, = 16, + 64, * 128, # 256, %% 512, @ full");
	}
	gt_launch_grouping_notes(&q->all.gpu, tables[0], "in no queue here");
	if (q->all.streams_beyond)
		gt_table_note(tables[0],
			"more than %u streams and GPUs: further streams have no row, but count in that of their GPU, for which "
			"it is unknown whether they were full",
			GT_QUEUES_MOST);
	gt_note_plural(tables[0], q->all.beyond,
		"%llu {operation|operations} on further GPUs {is|are} in no row",
		(unsigned long long)q->all.beyond);
	gt_note_unordered(tables[0], q->all.late, "depths");
	gt_launch_grouping_note_unrecorded(&q->all.gpu, tables[0]);
	gt_launch_grouping_note_unrecorded(&q->all.gpu, tables[1]);
}

static int queues_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct queues *q = state;
	const char *why = GT_MATCH_TEXT(
		q->all.gpu.report.opt, "queues need all operations (", " leaves some out)");
	int rc = q->all.gpu.report.opt->filter.ranged ? read_all(q, err) : 0;

	rc = rc ? rc : gt_queues_finish(&q->all, err);
	tables[0] = gt_report_table(&q->all.gpu.report, "queues", "Launches waiting for the GPU",
		columns, NCOLUMNS,
		"process many_percent some_percent few_percent launches empty_percent mean pid device",
		err);
	tables[1] =
		gt_report_table(&q->all.gpu.report, "queue_pictures", "Launches waiting, over time",
			picture_columns, NPICTURE, "process most pid device", err);
	if (rc || !tables[0] || !tables[1])
		return err->code;
	if (gt_launch_grouping_is_blocked(&q->all.gpu, tables[0], why) |
		gt_launch_grouping_is_blocked(&q->all.gpu, tables[1], why))
		return 2;
	rc = fill(q, tables, err);
	add_notes(q, tables);
	return rc ? rc : 2;
}

static void queues_release(void *state)
{
	struct queues *q = state;

	for (size_t i = 0; i < q->n; i++)
		free(q->tallies[i].strip);
	free(q->tallies);
	gt_queues_release(&q->all);
}

const struct gt_analysis gt_queues_report = {
	.name = "queues",
	.help = "number of launches that wait for the GPU, per stream, over time, and the time with a full queue",
	.wants = GT_BIT(GT_GPU),
	.needs = GT_BIT(GT_LAYER_GPU),
	.wants_args = true,
	.order = GT_BY_TIME,
	.state_size = sizeof(struct queues),
	.init = queues_init,
	.block = queues_block,
	.finish = queues_finish,
	.release = queues_release,
};
