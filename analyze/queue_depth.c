/* How many launches wait for the GPU, per stream and device, over time.
 *
 * A launch waits on its stream from the return of its call to the start of its work on the GPU. It counts once, whatever it
 * launches (a graph: on the stream on which its first node starts), and not at all where its work began before the call returned.
 * Copies and sets are launches like kernels: they wait in the same queue. The depth of a device is that of its streams, added.
 *
 * A queue has room for GT_QUEUE_FULL launches or a few more (an H200 holds 1,022 to 1,024 in a channel). A call that finds it full does
 * not return before there is room, so the time in calls that launch on a stream while its queue is full is time in which the
 * program was held up.
 *
 * Figures are over the window of the recording (extent.h). A launch begins to wait long before its row, which is that
 * of the work, comes by. So each launch makes three moments (the call begins, the call returns, the work starts), and a timeline
 * puts them in order; it holds those of the last 130,000 launches, and what was launched still earlier comes late: it is counted,
 * in a note. Of work that starts after --to the launches wait before it, so that range cannot be left to the scan: with one,
 * everything is read, and what is counted is cut. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/full_queue.h"
#include "analyze/launched.h"
#include "analyze/strip.h"
#include "formats/base/buf.h"

#define CLASSES 5			/* of depth: 0, 1-15, 16-255, 256 up to full, full */
#define FED 4096			/* launches whose moments are put in order together */
#define STRIPS_MAX 16384		/* 8 MiB */
#define LANES_MAX 65536u		/* 12 MiB */

enum what { CALL_BEGINS, CALL_RETURNS, WAITS /* likewise, and its work has not begun */, WORK_STARTS };

struct lane {				/* a stream, or a device */
	const struct gt_segment *seg;
	uint32_t track, device;		/* of the segment */
	uint64_t launches, depth, calling;	/* calling: launching calls on it that have not returned */
	uint64_t nfull, nblocked;	/* a device: its streams that are full; and are so while one is calling */
	int64_t since;			/* what it is now it has been since then */
	uint64_t most, ns[CLASSES], blocked;
	int64_t most_at;
	unsigned __int128 sum;		/* depth by time, ns */
	struct gt_strip *strip;
};
struct queues {
	struct gt_launched gpu;		/* first: gt_asked is its head */
	struct lane *lanes;
	size_t n, cap, nstrips;
	uint32_t *lane;			/* by track, numbered over all segments: 1 + index */
	struct gt_moment *fed[3];	/* FED of each: calls that begin, calls that return, work that starts */
	size_t nfed[3];
	const struct gt_segment *seg;	/* of those, and what its pictures show */
	struct gt_window picture;
	struct gt_timeline line;
	uint64_t late, beyond;		/* beyond: work of devices that have no lane any more */
	bool streams_beyond;		/* there are streams that have none: they count in their device's */
};

/* ---- moments in order ---- */

static bool is_device(const struct lane *l) { return l->device == l->track; }

static unsigned class_of(const struct lane *l)
{
	if (is_device(l) ? l->nfull : l->depth >= GT_QUEUE_FULL)
		return 4;
	return !l->depth ? 0 : l->depth < 16 ? 1 : l->depth < 256 ? 2 : 3;
}

/* What the lane has been so far lasted until `at`. */
static void account(struct queues *q, struct lane *l, int64_t at)
{
	const struct gt_extent *w = &q->gpu.windows[l->seg->index];
	int64_t from = w->from > l->since ? w->from : l->since, to = gt_extent_end(w) < at ? gt_extent_end(w) : at;
	uint64_t ns;

	l->since = at > l->since ? at : l->since;
	if (to <= from || !w->opened)
		return;
	ns = (uint64_t)(to - from);
	l->ns[class_of(l)] += ns;
	if (!l->depth)
		return;
	l->sum += (unsigned __int128)l->depth * ns;
	l->blocked += (is_device(l) ? l->nblocked > 0 : l->depth >= GT_QUEUE_FULL && l->calling) ? ns : 0;
	if (l->depth > l->most) {
		l->most = l->depth;
		l->most_at = from;
	}
	if (l->strip)
		gt_strip_weigh(l->strip, &q->picture, from, to, l->depth);
}

static void change(struct lane *l, unsigned what)
{
	l->calling += what == CALL_BEGINS;
	l->calling -= what == CALL_RETURNS || what == WAITS;
	l->depth += what == WAITS;
	l->depth -= what == WORK_STARTS;
}

static int on_moment(void *arg, const struct gt_moment *m, struct gt_err *err)
{
	struct queues *q = arg;
	struct lane *l = &q->lanes[m->place], *device = &q->lanes[q->lane[m->addr] - 1];
	uint64_t full = l->depth >= GT_QUEUE_FULL, blocked = full && l->calling;

	if (!full && (m->what == CALL_BEGINS || m->what == CALL_RETURNS)) {	/* nothing that is accounted for is another now */
		change(device, m->what);
		if (l != device)
			change(l, m->what);
		return 0;
	}
	account(q, device, m->at);
	if (l != device) {
		account(q, l, m->at);
		change(l, m->what);
	}
	change(device, m->what);
	device->nfull += (uint64_t)(l->depth >= GT_QUEUE_FULL) - full;
	device->nblocked += (uint64_t)(l->depth >= GT_QUEUE_FULL && l->calling) - blocked;
	return 0;
}

/* ---- rows ---- */

static struct lane *lane_of(struct queues *q, const struct gt_segment *seg, uint32_t track, uint32_t device, struct gt_err *err)
{
	const uint32_t *tracks = q->gpu.order.tracks;
	struct lane one;

	if (q->lane && q->lane[track])
		return &q->lanes[q->lane[track] - 1];
	one = (struct lane){ .seg = seg, .track = track - tracks[seg->index], .device = device - tracks[seg->index],
			       .since = INT64_MIN };
	if (!q->lane && !(q->lane = calloc(tracks[q->gpu.order.nsegs] + 1ul, sizeof(*q->lane)))) {
		gt_err_set(err, -ENOMEM, "no memory for the streams");
		return NULL;
	}
	if (q->nstrips < STRIPS_MAX && (one.strip = calloc(1, sizeof(*one.strip))))
		q->nstrips++;
	if (gt_grow(&q->lanes, &q->cap, q->n + 1, sizeof(*q->lanes))) {
		free(one.strip);
		gt_err_set(err, -ENOMEM, "no memory for the streams");
		return NULL;
	}
	q->lanes[q->n++] = one;
	q->lane[track] = (uint32_t)q->n;
	return &q->lanes[q->n - 1];
}

/* The lane of its stream, or of its device where there are too many streams. NULL: no memory, or (no error) its device has none, either. */
static struct lane *lane_of_op(struct queues *q, const struct gt_launched_op *op, struct gt_err *err)
{
	bool full = q->n >= LANES_MAX && q->lane;

	if (full && !q->lane[op->device]) {
		q->beyond++;
		return NULL;
	}
	if (!lane_of(q, op->seg, op->device, op->device, err))
		return NULL;
	full = q->n >= LANES_MAX && !q->lane[op->track];
	q->streams_beyond |= full;
	return lane_of(q, op->seg, full ? op->device : op->track, op->device, err);
}

/* Each of the three kinds of moments comes nearly in order, all together do not. */
static int feed(struct queues *q, struct gt_err *err)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < 3; i++) {
		struct gt_moment *to;

		if (!q->nfed[i])
			continue;
		to = gt_timeline_room(&q->line, q->nfed[i], err);
		if (!to)
			return -ENOMEM;
		memcpy(to, q->fed[i], q->nfed[i] * sizeof(*to));
		gt_timeline_took(&q->line, q->nfed[i]);
		q->nfed[i] = 0;
		rc = gt_timeline_advance(&q->line, INT64_MIN, on_moment, q, err);
	}
	return rc;
}

static int flush(struct queues *q, struct gt_err *err)
{
	int rc = feed(q, err);

	rc = rc ? rc : gt_timeline_flush(&q->line, on_moment, q, err);
	q->late += q->line.late;
	gt_timeline_release(&q->line);
	return rc;
}

static void put(struct queues *q, unsigned which, enum what what, uint32_t place, uint32_t device, int64_t at)
{
	q->fed[which][q->nfed[which]++] = (struct gt_moment){ .at = at, .place = place, .what = what, .addr = device };
}

static int add_launch(struct queues *q, const struct gt_launched_op *op, uint32_t place, struct gt_err *err)
{
	const struct gt_launch *call = op->launch;
	bool waits = op->start > call->end;

	if (q->nfed[0] == FED) {
		int rc = feed(q, err);

		if (rc)
			return rc;
	}
	put(q, 0, CALL_BEGINS, place, op->device, call->start);
	put(q, 1, waits ? WAITS : CALL_RETURNS, place, op->device, call->end);
	if (waits)
		put(q, 2, WORK_STARTS, place, op->device, op->start);
	return 0;
}

/* From the start of its call to the end of it, or to the start of its work: does any of that lie in the range? */
static bool is_within(const struct gt_filter *f, const struct gt_launched_op *op)
{
	struct gt_range in = gt_range_of(f, op->seg);

	return !f->ranged || ((op->start >= in.from || op->launch->end >= in.from) && op->launch->start < in.to);
}

static int on_op(void *arg, const struct gt_launched_op *op, struct gt_err *err)
{
	struct queues *q = arg;
	struct lane *device = NULL, *l = NULL;
	int rc = 0;

	if (q->seg != op->seg) {
		rc = q->seg ? flush(q, err) : 0;
		q->picture = gt_strip_window(q->gpu.asked.opt, op->seg);
		q->seg = op->seg;
	}
	if (rc || !(l = lane_of_op(q, op, err)))
		return rc ? rc : err->code;
	device = &q->lanes[q->lane[op->device] - 1];
	if (!op->launch || !op->first)
		return 0;
	if (is_within(&q->gpu.asked.opt->filter, op)) {
		l->launches++;
		device->launches += l != device;
	}
	return add_launch(q, op, (uint32_t)(l - q->lanes), err);
}

static int queues_init(void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct queues *q = state;
	int rc = gt_launched_init(&q->gpu, r, opt, on_op, NULL, err);

	for (int i = 0; !rc && i < 3; i++) {
		q->fed[i] = malloc(FED * sizeof(**q->fed));
		rc = q->fed[i] ? 0 : gt_err_set(err, -ENOMEM, "no memory for launches");
	}
	return rc;
}

static int queues_block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	struct queues *q = state;

	return q->gpu.asked.opt->filter.ranged ? 0 : gt_launched_run(&q->gpu, cols, err);
}

struct scan { struct queues *q; struct gt_err *err; };

static int on_run(void *arg, unsigned worker, const struct gt_cols *cols)
{
	struct scan *s = arg;

	return gt_launched_run(&s->q->gpu, cols, s->err);
}

/* Also what lies behind the range: its launches may wait within it. */
static int read_all(struct queues *q, struct gt_err *err)
{
	struct gt_filter filter = q->gpu.asked.opt->filter;

	filter.ranged = false;
	filter.kinds = GT_BIT(GT_GPU);
	filter.args = true;
	return gt_scan(q->gpu.asked.reader, &filter, GT_BY_TIME, 1, on_run, &(struct scan){ q, err }, err);
}

/* ---- tables ---- */

static const struct gt_column columns[] = {
	GT_WHERE_STREAM, { "launches", "Launches", GT_C_COUNT },
	{ "most", "Most", GT_C_COUNT }, { "mean", "Mean", GT_C_REAL }, { "empty_percent", "0 %", GT_C_PERCENT },
	{ "few_percent", "1-15 %", GT_C_PERCENT }, { "some_percent", "16-255 %", GT_C_PERCENT },
	{ "many_percent", "256+ %", GT_C_PERCENT }, { "full_percent", "Full %", GT_C_PERCENT }, { "blocked_ns", "Held up", GT_C_NS },
	{ "most_at_ns", NULL, GT_C_TIME }, { "waiting_ns", NULL, GT_C_NS }, { "window_ns", NULL, GT_C_NS },
	{ "empty_ns", NULL, GT_C_NS }, { "few_ns", NULL, GT_C_NS },
	{ "some_ns", NULL, GT_C_NS }, { "many_ns", NULL, GT_C_NS }, { "full_ns", NULL, GT_C_NS },
};
#define NCOLUMNS (sizeof(columns) / sizeof(*columns))
static const struct gt_column picture_columns[] = {
	GT_WHERE_STREAM, { "depth", "Waiting when", GT_C_WHOLE },
	{ "most", "Most", GT_C_COUNT }, { "from_ns", NULL, GT_C_TIME }, { "to_ns", NULL, GT_C_TIME },
};
#define NPICTURE (sizeof(picture_columns) / sizeof(*picture_columns))
#define BESIDE 44u

static int by_device(const void *pa, const void *pb)
{
	const struct lane *a = pa, *b = pb;

	return gt_by_stream(a->seg, a->device, a->track, b->seg, b->device, b->track);
}

static int add_lane(const struct queues *q, struct gt_table *t, const struct lane *l, struct gt_err *err)
{
	uint64_t window = gt_launched_window_ns(&q->gpu, l->seg);
	const struct gt_asked *a = &q->gpu.asked;
	struct gt_cell cells[NCOLUMNS];
	uint64_t ns[CLASSES];
	int64_t shares[CLASSES];

	memcpy(ns, l->ns, sizeof(ns));
	ns[0] = window;		/* before its first launch and behind its last one it was empty, too */
	for (unsigned i = 1; i < CLASSES; i++)
		ns[0] -= ns[i];
	if (gt_shares(ns, CLASSES, shares, err))
		return -ENOMEM;
	gt_where_stream(cells, l->seg, l->track);
	cells[5] = gt_cell_u(l->launches);
	cells[6] = gt_cell_u(l->most);
	cells[7] = window ? (struct gt_cell){ .d = round((double)l->sum / (double)window * 1e4) / 1e4 } : gt_cell_none();
	for (unsigned i = 0; i < CLASSES; i++) {
		cells[8 + i] = window ? gt_cell_i(shares[i]) : gt_cell_none();
		cells[17 + i] = gt_cell_u(ns[i]);
	}
	cells[13] = gt_cell_u(l->blocked);
	cells[14] = l->most ? gt_cell_i(gt_since(a->opt, a->reader, l->seg, l->most_at)) : gt_cell_none();
	cells[15] = gt_cell_u(l->sum > UINT64_MAX ? UINT64_MAX : (uint64_t)l->sum);
	cells[16] = gt_cell_u(window);
	gt_table_add(t, cells + gt_where_skip(a->reader));
	return 0;
}

/* On a scale of powers, for a queue of one and a queue of a thousand are both worth seeing. */
static char letter(uint64_t mean, bool touched)
{
	static const struct { uint64_t from; char c; } levels[] = {
		{ GT_QUEUE_FULL, '@' }, { 512, '%' }, { 256, '#' }, { 128, '*' }, { 64, '+' }, { 16, '=' }, { 4, '-' }, { 1, ':' } };

	for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++)
		if (mean >= levels[i].from)
			return levels[i].c;
	return touched ? '.' : ' ';
}

static void add_picture(const struct queues *q, struct gt_table *t, const struct lane *l)
{
	const struct gt_asked *a = &q->gpu.asked;
	struct gt_window w = gt_strip_window(a->opt, l->seg);
	unsigned n = gt_strip_cells(a->opt, BESIDE);
	char text[GT_STRIP_CELLS + 1] = "";
	struct gt_cell cells[NPICTURE];

	for (unsigned i = 0; i < n; i++) {
		bool touched;
		uint64_t mean = gt_strip_mean(l->strip, &w, n, i, &touched);

		text[i] = letter(mean, touched);
	}
	gt_where_stream(cells, l->seg, l->track);
	cells[5] = gt_cell_text(text);
	cells[6] = gt_cell_u(l->most);
	cells[7] = gt_cell_i(gt_since(a->opt, a->reader, l->seg, w.from));
	cells[8] = gt_cell_i(gt_since(a->opt, a->reader, l->seg, (int64_t)((uint64_t)w.from + w.width)));
	gt_table_add(t, cells + gt_where_skip(a->reader));
}

static int fill(struct queues *q, struct gt_table **tables, struct gt_err *err)
{
	size_t shown = gt_shown(q->n, q->gpu.asked.opt->top);
	unsigned n = gt_strip_cells(q->gpu.asked.opt, BESIDE);
	int rc = 0;

	if (q->n)
		qsort(q->lanes, q->n, sizeof(*q->lanes), by_device);
	for (size_t i = 0; !rc && i < shown; i++) {
		const struct lane *l = &q->lanes[i];
		struct gt_window w = gt_strip_window(q->gpu.asked.opt, l->seg);

		if (!i || l->seg != q->lanes[i - 1].seg)
			gt_strip_note(tables[1], &q->gpu.asked, l->seg, &w, n);
		rc = add_lane(q, tables[0], l, err);
		if (l->strip)
			add_picture(q, tables[1], l);
	}
	gt_table_note_cut(tables[0], q->n, shown);
	if (q->n > q->nstrips)
		gt_table_note(tables[1], "no more than %d streams and GPUs are drawn, those that came first", STRIPS_MAX);
	else
		gt_table_note_cut(tables[1], q->n, shown);
	return rc;
}

static void add_notes(const struct queues *q, struct gt_table **tables)
{
	if (q->n) {
		gt_table_note(tables[0], "launches that wait for the GPU: from the return of the call to the start of the work; %% is "
					 "of the time from the first to the last GPU operation");
		gt_table_note(tables[0], "full: %d or more wait on a stream (an H200 has room for 1,022 to 1,024 in a channel); held "
					 "up: time in calls that launch on a full stream", GT_QUEUE_FULL);
		gt_table_note(tables[1], "mean in each cell: . below 1, : 1, - 4, = 16, + 64, * 128, # 256, %% 512, @ full");
	}
	gt_launched_notes(&q->gpu, tables[0], "in no queue here");
	if (q->streams_beyond)
		gt_table_note(tables[0], "more than %u streams and GPUs: streams that came later have no row, but are in that of their GPU, "
					 "which cannot tell whether they were full", LANES_MAX);
	if (q->beyond)
		gt_note_many(tables[0], q->beyond, "%llu {piece|pieces} of work on GPUs that came later still {is|are} in no row",
			     (unsigned long long)q->beyond);
	gt_note_late(tables[0], q->late, "depths");
	gt_launched_unrecorded(&q->gpu, tables[0]);
	gt_launched_unrecorded(&q->gpu, tables[1]);
}

static int queues_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	static const char why[] = "a queue is known only where all work is looked at (--match leaves some out)";
	struct queues *q = state;
	unsigned skip = gt_where_skip(q->gpu.asked.reader);
	int rc = q->gpu.asked.opt->filter.ranged ? read_all(q, err) : 0;

	rc = rc ? rc : gt_launched_finish(&q->gpu, err);
	rc = rc ? rc : flush(q, err);
	tables[0] = gt_table_new("queues", "Launches waiting for the GPU", columns + skip, (unsigned)NCOLUMNS - skip);
	tables[1] = gt_table_new("queue_pictures", "Launches waiting, over time", picture_columns + skip, (unsigned)NPICTURE - skip);
	if (rc || !tables[0] || !tables[1])
		return rc ? rc : gt_err_set(err, -ENOMEM, "no memory for a table");
	gt_table_gives_way(tables[0], "process many_percent some_percent few_percent launches empty_percent mean pid device");
	gt_table_gives_way(tables[1], "process most pid device");
	if (gt_launched_cannot(&q->gpu, tables[0], why) | gt_launched_cannot(&q->gpu, tables[1], why))
		return 2;
	rc = fill(q, tables, err);
	add_notes(q, tables);
	return rc ? rc : 2;
}

static void queues_release(void *state)
{
	struct queues *q = state;

	for (size_t i = 0; i < q->n; i++)
		free(q->lanes[i].strip);
	for (int i = 0; i < 3; i++)
		free(q->fed[i]);
	free(q->lanes);
	free(q->lane);
	gt_timeline_release(&q->line);
	gt_launched_release(&q->gpu);
}

const struct gt_analysis gt_queues_report = {
	.name       = "queues",
	.help       = "how many launches wait for the GPU, per stream, over time, and how long the queue was full",
	.wants      = GT_BIT(GT_GPU),
	.needs      = GT_BIT(GT_LAYER_GPU),
	.wants_args = true,
	.order      = GT_BY_TIME,
	.state_size = sizeof(struct queues),
	.init       = queues_init,
	.block      = queues_block,
	.finish     = queues_finish,
	.release    = queues_release,
};
