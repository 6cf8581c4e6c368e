#include "analyze/launch/starvation.h"

#include <stdlib.h>
#include "formats/base/buf.h"
#include "formats/base/sorted.h"
#include "formats/names/kernel_names.h"

/* A gap that has ended; more operations may start at the same time. */
struct gap {
	/* unknown: an operation that ended it is joined to no call */
	bool any, unknown;
	/* an operation that ended it is a later graph node: it waits for no launch */
	bool waited;
	int64_t from, to, call_start, call_end;
	uint64_t launches;
	uint32_t type;
};
struct stretch {
	bool any;
	int64_t from, to;
	uint64_t launches, unqueued, idle; /* up to `to` */
	/* after `to`: they belong to the stretch if another unqueued gap follows */
	uint64_t more, more_idle;
	uint32_t type; /* of the operation that ended its first gap */
};
struct gt_starvation_device {
	const struct gt_segment *seg;
	uint32_t track;
	int64_t last; /* latest end of an operation so far */
	uint64_t idle, unqueued, before, within, after, late, launched, unknown, stretches;
	struct gap gap;
	struct stretch now;
};

void gt_starvation_init(struct gt_starvation *s, struct gt_launch_grouping *l)
{
	s->grouping = l;
	gt_top_n_init(&s->longest, l->report.opt->top);
}

static struct gt_starvation_device *lane_of(
	struct gt_starvation *s, const struct gt_grouped_op *op, struct gt_err *err)
{
	const struct gt_time_ordered *order = &s->grouping->order;

	if (!s->lane && !(s->lane = calloc(order->tracks[order->nsegs] + 1ul, sizeof(*s->lane)))) {
		gt_err_set(err, -ENOMEM, "out of memory (list of devices)");
		return NULL;
	}
	if (!s->lane[op->device]) {
		if (gt_grow(&s->lanes, &s->cap, s->nlanes + 1, sizeof(*s->lanes))) {
			gt_err_set(err, -ENOMEM, "out of memory (list of devices)");
			return NULL;
		}
		s->lanes[s->nlanes++] = (struct gt_starvation_device){ .seg = op->seg,
			.track = op->device - order->tracks[op->seg->index],
			.last = op->start };
		s->lane[op->device] = (uint32_t)s->nlanes;
	}
	return &s->lanes[s->lane[op->device] - 1];
}

/* ---- stretches ---- */

static int close_stretch(
	struct gt_starvation *s, struct gt_starvation_device *l, struct gt_err *err)
{
	struct stretch *n = &l->now;
	int rc = 0;

	if (!n->any)
		return 0;
	l->stretches++;
	if (gt_top_n_offer(&s->longest, gt_clamp(n->unqueued)))
		rc = gt_top_n_add(&s->longest,
			&(struct gt_top_entry){ .score = gt_clamp(n->unqueued),
				.start = n->from,
				.dur = n->to - n->from,
				.seg = l->seg,
				.track = l->track,
				.type = n->type,
				.a = n->launches,
				.b = n->idle },
			err);
	n->any = false;
	return rc;
}

static void extend(struct gt_starvation_device *l, const struct gap *g)
{
	struct stretch *n = &l->now;
	uint64_t ns = (uint64_t)(g->to - g->from);

	if (!n->any)
		*n = (struct stretch){ .any = true, .from = g->from, .type = g->type };
	n->launches += n->more + g->launches;
	n->idle += n->more_idle + ns;
	n->unqueued += ns;
	n->more = n->more_idle = 0;
	n->to = g->to;
}

static int64_t within(int64_t at, const struct gap *g)
{
	return at < g->from ? g->from : at > g->to ? g->to : at;
}

static void count_parts(struct gt_starvation_device *l, const struct gap *g)
{
	int64_t called = within(g->call_start, g), returned = within(g->call_end, g);

	l->unqueued += (uint64_t)(g->to - g->from);
	l->before += (uint64_t)(called - g->from);
	l->within += (uint64_t)(returned - called);
	l->after += (uint64_t)(g->to - returned);
}

/* All operations that end the gap are known. */
static int end_gap(struct gt_starvation *s, struct gt_starvation_device *l, struct gt_err *err)
{
	struct gap g = l->gap;
	uint64_t ns = (uint64_t)(g.to - g.from);
	bool prompt = g.waited || (!g.unknown && g.to - g.call_end <= GT_PROMPT_NS);

	if (!g.any)
		return 0;
	l->gap.any = false;
	l->idle += ns;
	if (!g.unknown && !g.waited && prompt && g.call_end > g.from && ns <= GT_LATE_NS) {
		count_parts(l, &g);
		extend(l, &g);
		return 0;
	}
	*(g.unknown                                                  ? &l->unknown
			: !g.waited && prompt && g.call_end > g.from ? &l->late
								     : &l->launched) += ns;
	if (g.unknown || !prompt || ns > GT_LATE_NS)
		return close_stretch(s, l, err);
	l->now.more += g.launches;
	l->now.more_idle += ns;
	return 0;
}

/* Is it a graph node after the first? */
static bool is_behind(const struct gt_grouped_op *op)
{
	return op->launch && op->launch->work_start < op->start;
}

/* Adds an operation that starts at the end of the gap. */
static void add_to_gap(struct gap *g, const struct gt_grouped_op *op)
{
	g->unknown |= !op->launch;
	g->waited |= is_behind(op);
	g->launches += op->first;
	if (!op->launch || is_behind(op))
		return;
	if (op->launch->end < g->call_end ||
		(op->launch->end == g->call_end && op->launch->start < g->call_start)) {
		g->call_start = op->launch->start;
		g->call_end = op->launch->end;
	}
}

int gt_starvation_op(struct gt_starvation *s, const struct gt_grouped_op *op, struct gt_err *err)
{
	struct gt_starvation_device *l = lane_of(s, op, err);
	int rc = 0;

	if (!l)
		return -ENOMEM;
	if (l->gap.any && op->start > l->gap.to)
		rc = end_gap(s, l, err);
	if (op->start > l->last)
		l->gap = (struct gap){ .any = true,
			.from = l->last,
			.to = op->start,
			.call_start = INT64_MAX,
			.call_end = INT64_MAX,
			.type = op->type_number };
	if (l->gap.any)
		add_to_gap(&l->gap, op);
	else if (!op->launch || (!is_behind(op) && op->start - op->launch->end > GT_PROMPT_NS))
		rc = rc ? rc : close_stretch(s, l, err);
	else
		l->now.more += op->first;
	l->last = op->end > l->last ? op->end : l->last;
	return rc;
}

/* ---- tables ---- */

static const struct gt_column device_columns[] = {
	GT_WHERE_DEVICE,
	{ "window_ns", "Window", GT_C_NS },
	{ "idle_ns", "Idle between", GT_C_NS },
	{ "unqueued_ns", "Empty queue", GT_C_NS },
	{ "unqueued_percent", "Share %", GT_C_PERCENT },
	{ "before_call_ns", "Before call", GT_C_NS },
	{ "in_call_ns", "In call", GT_C_NS },
	{ "after_call_ns", "To start", GT_C_NS },
	{ "stretches", "Periods", GT_C_COUNT },
	{ "late_ns", "Over 1 ms", GT_C_NS },
	{ "launched_ns", "Launched", GT_C_NS },
	{ "unknown_ns", "Unknown", GT_C_NS },
};
#define NDEVICE (sizeof(device_columns) / sizeof(*device_columns))
static const struct gt_column stretch_columns[] = {
	GT_WHERE_DEVICE,
	{ "start_ns", "Start", GT_C_TIME },
	{ "duration_ns", "Duration", GT_C_NS },
	{ "launches", "Launches", GT_C_COUNT },
	{ "unqueued_ns", "Empty queue", GT_C_NS },
	{ "busy_percent", "Busy %", GT_C_PERCENT },
	{ "first", "First launched", GT_C_TEXT },
	{ "idle_ns", NULL, GT_C_NS },
};
#define NSTRETCH (sizeof(stretch_columns) / sizeof(*stretch_columns))

static void add_device(
	const struct gt_starvation *s, struct gt_table *t, const struct gt_starvation_device *l)
{
	uint64_t window = gt_launch_grouping_window_ns(s->grouping, l->seg);
	struct gt_cell cells[NDEVICE];

	gt_where_device(cells, l->seg, l->track);
	cells[4] = gt_cell_u(window);
	cells[5] = gt_cell_u(l->idle);
	cells[6] = gt_cell_u(l->unqueued);
	cells[7] = gt_cell_share(l->unqueued, window);
	cells[8] = gt_cell_u(l->before);
	cells[9] = gt_cell_u(l->within);
	cells[10] = gt_cell_u(l->after);
	cells[11] = gt_cell_u(l->stretches);
	cells[12] = gt_cell_u(l->late);
	cells[13] = gt_cell_u(l->launched);
	cells[14] = gt_cell_u(l->unknown);
	gt_table_add(t, cells);
}

static void add_stretch(const struct gt_starvation *s, struct gt_table *t,
	struct gt_kernel_names *names, const struct gt_top_entry *k)
{
	const struct gt_report_state *a = &s->grouping->report;
	uint32_t type =
		k->type == GT_NONE ? GT_NONE : k->type - s->grouping->order.types[k->seg->index];
	const char *name = gt_type_name(k->seg, type);
	struct gt_cell cells[NSTRETCH];

	if (type != GT_NONE && k->seg->types[type].category == GT_CAT_KERNEL)
		name = gt_kernel_names_shown(names, name);
	gt_where_device(cells, k->seg, k->track);
	cells[4] = gt_cell_time(a, k->seg, k->start);
	cells[5] = gt_cell_i(k->dur);
	cells[6] = gt_cell_u(k->a);
	cells[7] = gt_cell_i(k->score);
	cells[8] = gt_cell_share((uint64_t)k->dur - k->b, (uint64_t)k->dur);
	cells[9] = gt_cell_text(name);
	cells[10] = gt_cell_u(k->b);
	gt_table_add(t, cells);
}

static int by_track(const void *pa, const void *pb)
{
	const struct gt_starvation_device *a = pa, *b = pb;

	return gt_by_place(a->seg, a->track, b->seg, b->track);
}

static void fill(struct gt_starvation *s, struct gt_table **tables, struct gt_kernel_names *names)
{
	size_t shown = gt_rows_shown(s->nlanes, s->grouping->report.opt->top);

	GT_SORT(s->lanes, s->nlanes, by_track);
	for (size_t i = 0; i < shown; i++)
		add_device(s, tables[0], &s->lanes[i]);
	gt_table_note_cut(tables[0], s->nlanes, shown);
	if (s->nlanes) {
		gt_table_note(tables[0],
			"empty queue: idle until the call that launched the next operation returned, which then started at most "
			"10 us later (gtanalyze advice shows the launch-bound and the host-bound part)");
		gt_table_note(tables[0],
			"gaps over 1 ms are a column of their own: the program did other work; launched: the next operation was "
			"launched, but did not start");
	}
	gt_top_n_sort(&s->longest);
	for (size_t i = 0; i < s->longest.n; i++)
		add_stretch(s, tables[1], names, &s->longest.list[i]);
	gt_note_top_n(tables[1], &s->longest);
}

int gt_starvation_tables(struct gt_starvation *s, struct gt_table **tables, struct gt_err *err)
{
	const struct gt_report_state *a = &s->grouping->report;
	const char *why =
		GT_MATCH_TEXT(a->opt, "idle time needs all operations (", " leaves some out)");
	struct gt_kernel_names *names = gt_kernel_names_of(a->reader, a->opt->names);
	int rc = 0;

	for (size_t i = 0; !rc && i < s->nlanes; i++)
		rc = end_gap(s, &s->lanes[i], err) || close_stretch(s, &s->lanes[i], err) ? -ENOMEM
											  : 0;
	tables[0] = gt_report_table(a, "unqueued", "Idle GPUs with an empty queue", device_columns,
		NDEVICE,
		"unknown_ns process launched_ns late_ns after_call_ns stretches window_ns in_call_ns "
		"before_call_ns idle_ns pid device",
		err);
	tables[1] = gt_report_table(a, "stretches",
		"Periods with an empty queue, by the time the GPU waited for launches",
		stretch_columns, NSTRETCH, "process first busy_percent launches pid device", err);
	if (rc || !names || !tables[0] || !tables[1]) {
		gt_kernel_names_free(names);
		return rc ? rc : gt_err_set(err, -ENOMEM, "out of memory (table)");
	}
	if (!gt_launch_grouping_is_blocked(s->grouping, tables[0], why))
		fill(s, tables, names);
	else
		gt_launch_grouping_is_blocked(s->grouping, tables[1], why);
	gt_kernel_names_free(names);
	return 2;
}

void gt_starvation_release(struct gt_starvation *s)
{
	free(s->lanes);
	free(s->lane);
	gt_top_n_release(&s->longest);
}
