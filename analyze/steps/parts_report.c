/* Report "parts": the parts of each loop (loop_parts.h), and how each of them uses its GPU. The
 * default report has it only for loops with several parts, because its other figures are means of
 * all parts. An operation counts in the part in which it begins; busy time is divided where a part
 * ends. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/core/report.h"
#include "analyze/idle/idle.h"
#include "analyze/steps/steady.h"

struct part_figures {
	uint64_t ops, in_graphs, ns, busy;
};
/* The selected steps of a loop, by part. */
struct loop_figures {
	const struct gt_loop *loop;
	struct gt_loop_parts parts; /* only their steps in the steady range */
	struct part_figures list[GT_LOOP_PARTS_MOST];
	unsigned current; /* the part in which the last operation begins */
	int64_t busy_to;  /* the latest end of an operation */
};
struct parts_report {
	struct gt_report_state report;
	struct gt_steady own; /* found here if the run is not narrowed to steady steps */
	const struct gt_steady *steady;
	struct gt_idle *idle;
	struct loop_figures *loops; /* those that are shown */
	size_t n;
	uint32_t *loop_of; /* by track number of a stream: 2 + index; 1: none; 0: unknown */
};

static const struct gt_column columns[] = {
	GT_WHERE_DEVICE, { "part", "Part", GT_C_COUNT }, { "first", "First", GT_C_COUNT },
	{ "steps", "Steps", GT_C_COUNT }, { "from_ns", "From", GT_C_TIME },
	{ "duration_ns", "Duration", GT_C_NS }, { "p50_ns", "Median", GT_C_NS },
	{ "per_operation_ns", "Time/op", GT_C_NS }, { "busy_percent", "Busy %", GT_C_PERCENT },
	{ "operations_per_step", "Ops/step", GT_C_REAL },
	{ "at_once", "Overlap", GT_C_REAL }, /* mean number of operations while the GPU is busy */
	{ "graph_percent", "Graphs %", GT_C_PERCENT }, /* of the operations, in CUDA graphs */
};
#define PLACE 4 /* columns of the device */
#define NCOLUMNS (sizeof(columns) / sizeof(*columns))

/* ---- operations ---- */

static int64_t end_of(const struct loop_figures *l, unsigned part)
{
	return l->loop->at[l->parts.list[part].first + l->parts.list[part].steps];
}

/* Adds time in which the GPU works, from that of part `p` on. */
static void add_busy(struct loop_figures *l, unsigned p, int64_t from, int64_t to)
{
	from = from > l->busy_to ? from : l->busy_to;
	l->busy_to = to > l->busy_to ? to : l->busy_to;
	for (; p < l->parts.n && from < to; p++) {
		int64_t end = end_of(l, p) < to ? end_of(l, p) : to;

		if (end <= from)
			continue;
		l->list[p].busy += (uint64_t)(end - from);
		from = end;
	}
}

static struct loop_figures *loop_of(
	struct parts_report *s, const struct gt_segment *seg, uint32_t stream)
{
	uint32_t first = s->idle->order.tracks[seg->index], *known = &s->loop_of[stream],
		 device = gt_track_device(seg, stream - first);

	if (!*known) {
		*known = 1;
		for (size_t i = 0; i < s->n; i++)
			if (s->loops[i].loop->seg == seg && s->loops[i].loop->device == device)
				*known = 2 + (uint32_t)i;
	}
	return *known == 1 ? NULL : &s->loops[*known - 2];
}

static int on_op(
	void *arg, const struct gt_idle_device *d, const struct gt_idle_op *op, struct gt_err *err)
{
	struct parts_report *s = arg;
	struct loop_figures *l = loop_of(s, d->seg, op->stream);
	struct part_figures *f;

	if (!l)
		return 0;
	while (l->current < l->parts.n && op->start >= end_of(l, l->current))
		l->current++;
	if (l->current == l->parts.n)
		return 0;
	if (op->start < l->loop->at[l->parts.list[0].first]) {
		add_busy(l, 0, l->loop->at[l->parts.list[0].first], op->end);
		return 0;
	}
	f = &l->list[l->current];
	f->ops++;
	f->in_graphs += op->graph;
	f->ns = gt_sat_add(f->ns, (uint64_t)(op->end - op->start));
	add_busy(l, l->current, op->start, op->end);
	return 0;
}

static void on_restart(void *arg)
{
	struct parts_report *s = arg;

	for (size_t i = 0; i < s->n; i++) {
		memset(s->loops[i].list, 0, sizeof(s->loops[i].list));
		s->loops[i].current = 0;
		s->loops[i].busy_to = INT64_MIN;
	}
}

/* ---- start and end ---- */

/* The parts of the steps [from, from + n) of a loop. */
static struct gt_loop_parts parts_within(const struct gt_loop *l, size_t from, size_t n)
{
	struct gt_loop_parts some = { .n = 0 };

	for (unsigned i = 0; i < l->parts.n; i++) {
		struct gt_loop_part p = l->parts.list[i];
		size_t to = p.first + p.steps < from + n ? p.first + p.steps : from + n;

		p.first = p.first > from ? p.first : from;
		if (p.first >= to)
			continue;
		p.ops = to - p.first == p.steps ? p.ops : 0;
		p.steps = to - p.first;
		some.list[some.n++] = p;
	}
	return some;
}

static void select_loops(struct parts_report *s)
{
	bool page = s->report.opt->one_page;

	for (size_t i = 0; s->steady->ranges && i < s->steady->loops.n; i++) {
		const struct gt_loop *l = &s->steady->loops.list[i];
		size_t first, n = l->steady ? gt_steady_steps(s->steady, l, &first) : 0;
		struct loop_figures *to = &s->loops[s->n];

		if (!n || (page && l != s->steady->main))
			continue;
		*to = (struct loop_figures){ l, parts_within(l, first, n), .busy_to = INT64_MIN };
		s->n += to->parts.n >= (s->report.opt->in_default_report ? 2 : 1);
	}
}

static int parts_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct parts_report *s = state;
	size_t tracks;

	s->report = (struct gt_report_state){ r, opt };
	s->idle = opt->engine;
	s->steady = opt->steady;
	if (!s->steady && !opt->in_default_report) {
		if (gt_steady_find(&s->own, r, opt, err))
			return err->code;
		s->steady = &s->own;
	}
	if (!s->steady)
		return 0;
	tracks = s->idle->order.tracks[s->idle->order.nsegs];
	s->loops = calloc(s->steady->loops.n + 1ul, sizeof(*s->loops));
	s->loop_of = calloc(tracks + 1ul, sizeof(*s->loop_of));
	if (!s->loops || !s->loop_of)
		return gt_err_set(err, -ENOMEM, "out of memory (parts of loops)");
	select_loops(s);
	if (s->n)
		gt_idle_listen(s->idle,
			&(struct gt_idle_listener){ .op = on_op, .restart = on_restart, .arg = s });
	return 0;
}

/* To two decimals. */
static struct gt_cell cell_ratio(uint64_t a, uint64_t b)
{
	return b ? (struct gt_cell){ .d = round(100.0 * (double)a / (double)b) / 100 }
		 : gt_cell_none();
}

static void add_part(
	const struct parts_report *s, struct gt_table *t, const struct loop_figures *l, unsigned i)
{
	const struct gt_loop_part *p = &l->parts.list[i];
	const struct part_figures *f = &l->list[i];
	int64_t from = l->loop->at[p->first];
	uint64_t ns = (uint64_t)(end_of(l, i) - from);
	/* those that the steps launch, if all of them are shown; else those that begin in them */
	uint64_t ops = p->ops ? p->ops : f->ops;
	struct gt_cell cells[NCOLUMNS];

	gt_where_device(cells, l->loop->seg, l->loop->device);
	cells[4] = gt_cell_u(i + 1);
	cells[5] = gt_cell_u(p->first + 1);
	cells[6] = gt_cell_u(p->steps);
	cells[7] = gt_cell_time(&s->report, l->loop->seg, from);
	cells[8] = gt_cell_u(ns);
	cells[9] = gt_cell_u(p->median);
	cells[10] = gt_cell_known(ops, ops ? ns / ops : 0);
	cells[11] = gt_cell_share(f->busy, ns);
	cells[12] = cell_ratio(ops, p->steps);
	cells[13] = cell_ratio(f->ns, f->busy);
	cells[14] = gt_cell_share(f->in_graphs, f->ops);
	gt_table_add(t, s->report.opt->one_page ? cells + PLACE : cells);
}

/* A page shows one loop, which a note names if there are several. */
static struct gt_table *parts_table(const struct parts_report *s, struct gt_err *err)
{
	bool page = s->report.opt->one_page;
	const struct gt_loop *l = s->steady->main;
	struct gt_table *t = gt_report_table(&s->report, "parts",
		page ? "The steps change" : "Parts of loops", page ? columns + PLACE : columns,
		page ? NCOLUMNS - PLACE : NCOLUMNS,
		"process pid device from_ns first graph_percent at_once operations_per_step "
		"per_operation_ns duration_ns busy_percent",
		err);

	if (t && page && s->steady->loops.n > 1)
		gt_table_note(t, "of %s", gt_gpu_label_of(&s->report, l->seg, l->device).text);
	if (t && page)
		gt_table_set_brief(t);
	return t;
}

static int parts_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct parts_report *s = state;

	if (s->report.opt->in_default_report && !s->n)
		return 0;
	tables[0] = parts_table(s, err);
	if (!tables[0])
		return err->code;
	for (size_t i = 0; i < s->n; i++)
		for (unsigned k = 0; k < s->loops[i].parts.n; k++)
			add_part(s, tables[0], &s->loops[i], k);
	if (!s->steady->ranges)
		gt_table_set_unanswered(tables[0], "there are no steady steps: %s", s->steady->why);
	return 1;
}

static void parts_release(void *state)
{
	struct parts_report *s = state;

	gt_steady_release(&s->own);
	free(s->loops);
	free(s->loop_of);
}

const struct gt_analysis gt_parts_report = {
	.name = "parts",
	.help = "parts of a loop whose steps differ, and how each uses the GPU",
	.wants = GT_IDLE_WANTS,
	.needs = GT_BIT(GT_LAYER_GPU),
	.engine = &gt_idle_engine,
	.order = GT_BY_TIME,
	.in_default = GT_DEFAULT_GPU,
	.state_size = sizeof(struct parts_report),
	.init = parts_init,
	.finish = parts_finish,
	.release = parts_release,
};
