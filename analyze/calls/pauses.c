/* Pauses: times without a launch. A pause is the time from the end of one launch call to the
 * start of the next in the same process, over all its threads. Launches are taken in order of
 * their start; if one starts after all earlier ones ended, the time between is a pause. A pause
 * during which rows were lost may have contained launches: it counts, and the number and time of
 * such pauses are shown beside it. */
#include <stdlib.h>
#include "analyze/columns/top_n.h"
#include "analyze/columns/column_cursor.h"
#include "analyze/columns/process_slots.h"
#include "analyze/core/report.h"
#include "analyze/order/time_ordered.h"
#include "formats/base/buf.h"

#define LOSS GT_NONE /* the type of a moment: a loss has none */
#define PICKED 256   /* rows scanned before their launches are copied */

struct place { /* of one process */
	uint64_t launches, pauses, total, doubtful, doubtful_ns;
	int64_t last_end, longest, longest_at, lost_to;
	uint32_t last_type; /* type of the launch that ended last */
	bool lost;
};
struct pauses {
	struct gt_report_state report;
	struct gt_process_slots where;
	struct place *places;
	struct gt_time_ordered order;
	struct gt_top_n longest;
	uint8_t *launches; /* one per code of the current block; 1: launches and losses */
	size_t codes_cap;
	bool any; /* the current block has a type that launches */
};

static bool in_doubt(const struct pauses *g, const struct gt_moment *m, const struct place *p)
{
	/* losses that belong to no process */
	const struct place *all = &g->places[g->where.list[m->place].seg->index];

	return (p->lost && p->lost_to >= p->last_end) || (all->lost && all->lost_to >= p->last_end);
}

static int add_pause(
	struct pauses *g, const struct gt_moment *m, struct place *p, struct gt_err *err)
{
	const struct gt_process_slot *where = &g->where.list[m->place];
	int64_t ns = gt_clamp((uint64_t)m->at - (uint64_t)p->last_end);
	struct gt_top_entry one = { .start = p->last_end,
		.dur = ns,
		.seg = where->seg,
		.track = where->track,
		.score = ns,
		.type = m->what,
		.a = p->last_type };

	p->pauses++;
	p->total = gt_sat_add(p->total, (uint64_t)ns);
	if (ns > p->longest) {
		p->longest = ns;
		p->longest_at = p->last_end;
	}
	if (in_doubt(g, m, p)) {
		p->doubtful++;
		p->doubtful_ns = gt_sat_add(p->doubtful_ns, (uint64_t)ns);
		one.b = 1;
	}
	return gt_top_n_offer(&g->longest, one.score) ? gt_top_n_add(&g->longest, &one, err) : 0;
}

static int pauses_moment(void *arg, const struct gt_moment *m, struct gt_err *err)
{
	struct pauses *g = arg;
	struct place *p = &g->places[m->place];
	int rc = 0;

	if (m->what == LOSS) {
		p->lost_to = !p->lost || m->end > p->lost_to ? m->end : p->lost_to;
		p->lost = true;
		return 0;
	}
	if (p->launches++ && m->at > p->last_end)
		rc = add_pause(g, m, p, err);
	if (p->launches == 1 || m->end > p->last_end) {
		p->last_end = m->end;
		p->last_type = m->what;
	}
	return rc;
}

static int pauses_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct pauses *g = state;
	int rc = gt_process_slots_init(&g->where, r, err);

	g->report = (struct gt_report_state){ r, opt };
	gt_top_n_init(&g->longest, opt->top);
	if (!rc)
		rc = gt_time_ordered_init(&g->order, r, pauses_moment, g, err);
	g->places = calloc(g->where.n + 1, sizeof(*g->places));
	return rc || g->places ? rc : gt_err_set(err, -ENOMEM, "out of memory (pauses)");
}

/* Marks the codes of the block that are launches. */
static int look_at_types(struct pauses *g, const struct gt_cols *cols, struct gt_err *err)
{
	if (gt_grow(&g->launches, &g->codes_cap, cols->ntypes, 1))
		return gt_err_set(err, -ENOMEM, "out of memory (pauses)");
	g->any = false;
	for (uint32_t c = 0; c < cols->ntypes; c++) {
		const struct gt_type *type = gt_cols_type(cols, c);

		g->launches[c] = !type ||
			(type->layer == GT_LAYER_API &&
				(type->op == GT_OP_LAUNCH || type->op == GT_OP_GRAPH_LAUNCH));
		g->any |= g->launches[c];
	}
	return 0;
}

/* Indices of the launches among the rows [from, to). Launches are unpredictable, so this has no
 * branch. */
static uint32_t pick_launches(const struct pauses *g, const struct gt_cols *cols, uint32_t from,
	uint32_t to, uint32_t *rows)
{
	uint32_t n = 0;

	for (uint32_t i = from; i < to; i++) {
		rows[n] = i;
		n += g->launches[cols->code ? cols->code[i] : 0];
	}
	return n;
}

/* The launches of a run as moments; for losses, every row. Returns their number. */
static size_t collect(const struct pauses *g, const struct gt_cols *cols, struct gt_moment *m)
{
	uint32_t place = gt_process_slot_of(&g->where, cols->seg, cols->track), rows[PICKED];
	size_t n = 0;

	for (uint32_t from = 0, to; from < cols->n; from = to) {
		uint32_t picked;

		to = cols->n - from < PICKED ? cols->n : from + PICKED;
		picked = pick_launches(g, cols, from, to, rows);
		for (uint32_t k = 0; k < picked; k++) {
			uint32_t i = rows[k];

			m[n++] = (struct gt_moment){ .at = cols->start[i],
				.end = cols->start[i] + cols->dur[i],
				.place = place,
				.what = cols->types[cols->code ? cols->code[i] : 0] };
		}
	}
	return n;
}

static int pauses_block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	struct pauses *g = state;
	struct gt_time_merge *line = &g->order.lines[cols->seg->index];
	bool new = g->order.seg != cols->seg || g->order.block != cols->block;
	struct gt_moment *to;

	if (gt_time_ordered_block(&g->order, cols, err) || (new &&look_at_types(g, cols, err)))
		return err->code;
	if (!g->any)
		return 0;
	to = gt_time_merge_reserve(line, cols->n, err);
	if (!to)
		return err->code;
	gt_time_merge_commit(line, collect(g, cols, to));
	return 0;
}

static const struct gt_column columns[] = {
	GT_WHERE_PROCESS,
	{ "launches", "Launches", GT_C_COUNT },
	{ "pauses", "Pauses", GT_C_COUNT },
	{ "total_ns", "Total", GT_C_NS },
	{ "mean_ns", "Mean", GT_C_NS },
	{ "max_ns", "Largest", GT_C_NS },
	{ "max_at_ns", "Largest at", GT_C_TIME },
	{ "doubtful", "With losses", GT_C_COUNT },
	{ "doubtful_ns", "Their time", GT_C_NS },
};
#define NCOLUMNS 11
static const struct gt_column largest_columns[] = {
	GT_WHERE_PROCESS,
	{ "start_ns", "Start", GT_C_TIME },
	{ "duration_ns", "Pause", GT_C_NS },
	{ "after", "After", GT_C_TEXT },
	{ "before", "Before", GT_C_TEXT },
	{ "doubtful", "With losses", GT_C_COUNT },
};
#define NLARGEST 8

static void add_process(const struct pauses *g, struct gt_table *t,
	const struct gt_process_slot *where, const struct place *p)
{
	struct gt_cell cells[NCOLUMNS];

	gt_where_process(cells, where->seg, where->track);
	cells[3] = gt_cell_u(p->launches);
	cells[4] = gt_cell_u(p->pauses);
	cells[5] = gt_cell_u(p->total);
	cells[6] = gt_cell_known(p->pauses, p->pauses ? p->total / p->pauses : 0);
	cells[7] = gt_cell_known(p->pauses, (uint64_t)p->longest);
	cells[8] = p->pauses ? gt_cell_time(&g->report, where->seg, p->longest_at) : gt_cell_none();
	cells[9] = gt_cell_u(p->doubtful);
	cells[10] = gt_cell_u(p->doubtful_ns);
	gt_table_add(t, cells);
}

static const char *type_name(const struct gt_segment *seg, uint64_t type)
{
	return type < seg->ntypes ? gt_type_name(seg, (uint32_t)type) : "?";
}

static void add_largest(const struct pauses *g, struct gt_table *t, const struct gt_top_entry *one)
{
	struct gt_cell cells[NLARGEST];

	gt_where_process(cells, one->seg, one->track);
	cells[3] = gt_cell_time(&g->report, one->seg, one->start);
	cells[4] = gt_cell_i(one->dur);
	cells[5] = gt_cell_text(type_name(one->seg, one->a));
	cells[6] = gt_cell_text(type_name(one->seg, one->type));
	cells[7] = gt_cell_u(one->b);
	gt_table_add(t, cells);
}

static int pauses_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct pauses *g = state;
	int rc = gt_time_ordered_flush(&g->order, err);

	if (rc)
		return rc;
	tables[0] = gt_report_table(&g->report, "pauses", "Pauses between launches", columns,
		NCOLUMNS, "doubtful_ns doubtful process max_at_ns launches mean_ns", err);
	if (!tables[0])
		return err->code;
	for (size_t i = 0; i < g->where.n; i++)
		if (g->places[i].launches)
			add_process(g, tables[0], &g->where.list[i], &g->places[i]);
	gt_table_sort(tables[0], "total_ns", g->report.opt->top);
	gt_note_unordered(tables[0], gt_time_ordered_late(&g->order), "pauses");
	if (g->report.opt->one_page)
		return 1;
	tables[1] = gt_report_table(&g->report, "largest_pauses", "Largest pauses", largest_columns,
		NLARGEST, "doubtful process before after", err);
	if (!tables[1])
		return err->code;
	gt_top_n_sort(&g->longest);
	for (size_t i = 0; i < g->longest.n; i++)
		add_largest(g, tables[1], &g->longest.list[i]);
	gt_note_top_n(tables[1], &g->longest);
	return 2;
}

static void pauses_release(void *state)
{
	struct pauses *g = state;

	gt_time_ordered_release(&g->order);
	free(g->places);
	free(g->launches);
	gt_top_n_release(&g->longest);
	gt_process_slots_release(&g->where);
}

const struct gt_analysis gt_pauses_report = {
	.name = "pauses",
	.help = "time between launch calls of a process: count, total, mean, largest and when",
	.wants = GT_BIT(GT_CALL) | GT_BIT(GT_LOST),
	.needs = GT_LAYERS_OF_CALLS,
	.order = GT_BY_TIME,
	.in_default = GT_DEFAULT_CALLS,
	.state_size = sizeof(struct pauses),
	.init = pauses_init,
	.block = pauses_block,
	.finish = pauses_finish,
	.release = pauses_release,
};
