/* Report "memory": allocated, freed, peak and live memory (memory_tracker.h).
 *
 * If the user named the report, it also has allocations by function and size (alloc_sites.h), live
 * memory over time, frees that waited for the GPU (alloc_frees.h), and devices (live_counters.h).
 */
#include <stdlib.h>
#include "analyze/memory/alloc_frees.h"
#include "analyze/core/report_status.h"
#include "analyze/memory/memory_by_stack.h"
#include "analyze/memory/step_churn.h"
#include "analyze/memory/memory_tracker.h"
#include "analyze/memory/live_counters.h"
#include "analyze/memory/memory_strip.h"
#include "analyze/stacks/by_stack.h"

#define ALL GT_MEMORY_ALL

struct memory {
	struct gt_report_state report;
	struct gt_memory_tracker tracker;
	struct gt_alloc_frees frees;
	struct gt_live_counters counters;
	struct gt_live_strip **strips; /* by process slot; NULL: no tracked memory */
	/* set at the end: why live memory is unknown; NULL: it is known */
	const char *partial;
};

/* Live memory of a process has changed. */
static int draw(void *arg, int64_t at, const struct gt_memory_event *e, uint32_t place,
	uint32_t group, struct gt_err *err)
{
	struct memory *m = arg;
	struct gt_live_strip **strip = &m->strips[place];

	if (!*strip &&
		!(*strip = gt_live_strip_new(m->report.opt, m->tracker.where.list[place].seg)))
		return gt_err_set(err, -ENOMEM, "out of memory (live memory over time)");
	gt_live_strip_set(*strip, at, m->tracker.places[place].live);
	return 0;
}

static int count_free(void *arg, const struct gt_memory_event *e, struct gt_err *err)
{
	return gt_alloc_frees_count(&((struct memory *)arg)->frees, e->place, e->name, e->ns, err);
}

static int memory_configure(
	struct gt_configured_report *c, const struct gt_analysis_options *opt, struct gt_err *err)
{
	const char *by = gt_report_option(opt, "by");
	int rc = by ? gt_by_stack_read(by, err) : 0;

	return rc < 0 ? rc : 0;
}

static int memory_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct memory *m = state;
	int rc = gt_memory_tracker_init(&m->tracker, r, !opt->in_default_report, err);

	m->report = (struct gt_report_state){ r, opt };
	m->tracker.by_stack = gt_report_option(opt, "by");
	if (rc || opt->in_default_report)
		return rc;
	m->tracker.changed = draw;
	m->tracker.freeing = count_free;
	m->tracker.arg = m;
	m->strips = calloc(m->tracker.where.n + 1, sizeof(*m->strips));
	if (!m->strips)
		return gt_err_set(err, -ENOMEM, "out of memory (memory report)");
	return gt_alloc_frees_init(&m->frees, r, opt, &m->tracker.where, err);
}

static int memory_block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	struct memory *m = state;
	int rc = 0;

	if (!m->report.opt->in_default_report && cols->kind == GT_COUNTER)
		rc = gt_live_counters_run(&m->counters, cols, err);
	if (!m->report.opt->in_default_report && GT_BIT(cols->kind) & GT_WAITS_KINDS)
		rc = gt_waits_run(&m->frees.waits, cols, err);
	if (!rc && (cols->kind == GT_CALL || cols->kind == GT_INSTANT))
		rc = gt_memory_tracker_run(&m->tracker, cols, err);
	return rc;
}

/* ---- the tables ---- */

static const struct gt_column kind_columns[] = {
	{ "kind", "Kind", GT_C_TEXT },
	{ "allocations", "Allocations", GT_C_COUNT },
	{ "failed", "Failed", GT_C_COUNT },
	{ "frees", "Frees", GT_C_COUNT },
	{ "unknown_frees", "Unknown frees", GT_C_COUNT },
	{ "allocated_bytes", "Allocated", GT_C_BYTES },
	{ "freed_bytes", "Freed", GT_C_BYTES },
	{ "peak_bytes", "Peak live", GT_C_BYTES },
	{ "live_bytes", "Live at end", GT_C_BYTES },
	{ "live_count", "Live blocks", GT_C_COUNT },
	{ "null_frees", NULL, GT_C_COUNT },
	{ "reference_frees", NULL, GT_C_COUNT },
	{ "imported_frees", NULL, GT_C_COUNT },
};
#define NKINDS (sizeof(kind_columns) / sizeof(*kind_columns))
static const struct gt_column process_columns[] = {
	GT_WHERE_PROCESS,
	{ "allocated_bytes", "Allocated", GT_C_BYTES },
	{ "freed_bytes", "Freed", GT_C_BYTES },
	{ "peak_bytes", "Peak live", GT_C_BYTES },
	{ "peak_at_ns", "Peak at", GT_C_TIME },
	{ "live_bytes", "Live at end", GT_C_BYTES },
	{ "live_count", "Live blocks", GT_C_COUNT },
};

static void add_account(struct gt_account *into, const struct gt_account *h)
{
	into->allocs += h->allocs;
	into->failed += h->failed;
	into->frees += h->frees;
	into->null_frees += h->null_frees;
	into->unknown_frees += h->unknown_frees;
	into->references += h->references;
	into->imported += h->imported;
	into->allocated = gt_sat_add(into->allocated, h->allocated);
	into->freed = gt_sat_add(into->freed, h->freed);
	into->live = gt_sat_add(into->live, h->live);
	into->peak = gt_sat_add(into->peak, h->peak);
	into->live_count += h->live_count;
	into->sized += h->sized;
	into->tracked += h->tracked;
}

static void add_kind(
	const struct memory *m, struct gt_table *t, const char *word, const struct gt_account *h)
{
	bool sized = h->sized || h->allocs == 0,
	     tracked = !m->partial && ((h->tracked && h->sized) || h->allocs == 0);

	if (!h->allocs && !h->frees && !h->null_frees && !h->references && !h->imported)
		return;
	gt_table_add(t,
		(struct gt_cell[]){ gt_cell_text(word), gt_cell_u(h->allocs),
			gt_cell_faults(h->failed), gt_cell_u(h->frees),
			tracked ? gt_cell_faults(h->unknown_frees) : gt_cell_none(),
			gt_cell_known(sized, h->allocated), gt_cell_known(tracked, h->freed),
			gt_cell_known(tracked, h->peak), gt_cell_known(tracked, h->live),
			gt_cell_known(tracked, h->live_count),
			gt_cell_known(tracked, h->null_frees),
			gt_cell_known(tracked, h->references),
			gt_cell_known(tracked, h->imported) });
}

static void note_unknown(const struct memory *m, struct gt_table *t)
{
	struct gt_account all = { 0 };

	for (uint32_t i = 0; i < m->tracker.where.nsegs; i++)
		add_account(&all, &m->tracker.kinds[i][ALL]);
	gt_note_plural(t, all.null_frees, "%llu {free|frees} of NULL: not counted as frees",
		(unsigned long long)all.null_frees);
	gt_note_plural(t, all.references,
		"%llu {release|releases} of physical memory that had another handle "
		"(cuMemRetainAllocationHandle): not counted as frees",
		(unsigned long long)all.references);
	gt_note_plural(t, all.imported,
		"%llu {release|releases} of memory that was imported, or allocated before the "
		"recording: not counted as frees",
		(unsigned long long)all.imported);
	if (m->partial && gt_table_rows(t))
		gt_table_note(t, "cannot answer which memory was live: %s", m->partial);
	if (!m->partial && gt_table_rows(t) && gt_begins_late(&m->report))
		gt_table_note(t, "memory allocated before the selected range is not counted");
	if (!m->partial)
		gt_note_plural(t, m->tracker.missed_frees,
			"%llu {free was missed: its address was|frees were missed: their addresses were} "
			"allocated again",
			(unsigned long long)m->tracker.missed_frees);
	gt_note_plural(t, m->tracker.not_followed,
		"%llu {allocation was|allocations were} beyond the %u that can be tracked: freed, peak and live are too small",
		(unsigned long long)m->tracker.not_followed, GT_LIVE_MAX);
	gt_note_unordered(t, m->tracker.late, "the peak");
}

static void fill_kinds(struct memory *m, struct gt_table *t)
{
	for (unsigned k = 0; k <= ALL; k++) {
		struct gt_account sum = { 0 };

		for (uint32_t i = 0; i < m->tracker.where.nsegs; i++)
			add_account(&sum, &m->tracker.kinds[i][k]);
		add_kind(m, t, k == ALL ? "all" : gt_memkind_word(k), &sum);
	}
}

static void fill_processes(struct memory *m, struct gt_table *t)
{
	for (size_t i = 0; i < m->tracker.where.n; i++) {
		const struct gt_account *h = &m->tracker.places[i];
		const struct gt_segment *seg = m->tracker.where.list[i].seg;
		bool tracked = h->tracked && h->sized && !m->partial;
		struct gt_cell cells[9];

		if (!h->allocs)
			continue;
		gt_where_process(cells, seg, m->tracker.where.list[i].track);
		cells[3] = gt_cell_known(h->sized, h->allocated);
		cells[4] = gt_cell_known(tracked, h->freed);
		cells[5] = gt_cell_known(tracked, h->peak);
		cells[6] = tracked ? gt_cell_time(&m->report, seg, h->peak_at) : gt_cell_none();
		cells[7] = gt_cell_known(tracked, h->live);
		cells[8] = gt_cell_known(tracked, h->live_count);
		gt_table_add(t, cells);
	}
	gt_table_sort(t, "peak_bytes", m->report.opt->top);
}

static const struct gt_column strip_columns[] = {
	GT_WHERE_PROCESS,
	{ "strip", "Live memory", GT_C_WHOLE },
	{ "peak_bytes", "@ is", GT_C_BYTES },
	{ "from_ns", NULL, GT_C_TIME },
	{ "to_ns", NULL, GT_C_TIME },
};

/* Live memory of each process over time. */
static struct gt_table *strips(struct memory *m, struct gt_err *err)
{
	struct gt_table *t = gt_report_table(&m->report, "memory_over_time", "Memory over time",
		strip_columns, 7, "process peak_bytes pid", err);

	for (size_t i = 0; t && i < m->tracker.where.n; i++) {
		const struct gt_segment *seg = m->tracker.where.list[i].seg;
		char text[GT_BUSY_STRIP_CELLS + 1];
		struct gt_cell cells[7];

		if (!m->strips[i])
			continue;
		gt_where_process(cells, seg, m->tracker.where.list[i].track);
		cells[3] = gt_cell_text(gt_live_strip_text(
			m->strips[i], gt_live_strip_cells(m->report.opt->width), text));
		cells[4] = gt_cell_u(m->strips[i]->peak);
		cells[5] = gt_cell_time(&m->report, seg, m->strips[i]->window.from);
		cells[6] = gt_cell_time(&m->report, seg, gt_live_strip_end(m->strips[i]));
		gt_table_add(t, cells);
	}
	if (t)
		gt_table_sort(t, "peak_bytes", m->report.opt->top);
	if (t && gt_table_rows(t))
		gt_table_note(t,
			"the chart covers the time from the first to the last row; each character shows the maximum of its interval: "
			"\".\" below 20 %% of the peak, \"@\" 90 %% or more");
	return t;
}

/* Clears the figures of live memory, which are incomplete. */
static void clear_live(struct memory *m)
{
	for (size_t i = 0; i < m->tracker.where.n; i++) {
		free(m->strips[i]);
		m->strips[i] = NULL;
	}
	m->tracker.groups.n = 0;
}

/* The tables that are made only if the user named the report. */
static int add_details(struct memory *m, struct gt_table **tables, struct gt_err *err)
{
	const char *why = gt_memory_why_unknown(&m->tracker, m->report.reader, m->partial);
	int n = gt_churn_per_step(&m->tracker.groups, &m->report, &m->tracker.where, err);

	if (!n)
		n = gt_alloc_groups_tables(
			&m->tracker.groups, &m->report, &m->tracker.where, tables + 1, err);
	if (n < 0)
		return n;
	tables[0] = strips(m, err);
	if (tables[0] && why)
		gt_table_set_unanswered(tables[0], "%s", why);
	for (int i = 1; i <= n && tables[0] && why; i++)
		gt_table_share_answer(tables[i], tables[0]);
	tables[++n] = gt_alloc_frees_table(&m->frees, err);
	if (!tables[n])
		return err->code;
	tables[++n] = gt_live_counters_table(
		&m->counters, &m->report, &m->tracker.where, m->tracker.ended, err);
	return tables[0] && tables[n] ? n + 1 : err->code;
}

/* With --by, the only table. */
static int by_stack_finish(
	struct memory *m, const char *by, struct gt_table **tables, struct gt_err *err)
{
	int key = gt_by_stack_read(by, err);
	const char *why;

	if (key < 0)
		return key;
	m->partial = gt_memory_why_partial(&m->report);
	why = gt_memory_why_unknown(&m->tracker, m->report.reader, m->partial);
	if (m->partial)
		clear_live(m);
	tables[0] = gt_memory_by_stack_table(
		&m->tracker.groups, &m->report, &m->tracker.where, (unsigned)key, err);
	if (tables[0] && why)
		gt_table_set_unanswered(tables[0], "%s", why);
	return tables[0] ? 1 : err->code;
}

static int memory_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct memory *m = state;
	const char *by = gt_report_option(m->report.opt, "by");
	int rc = gt_memory_tracker_finish(&m->tracker, err);

	if (rc || by)
		return rc ? rc : by_stack_finish(m, by, tables, err);
	tables[0] = gt_report_table(&m->report, "memory", "Memory by kind", kind_columns, NKINDS,
		"live_count unknown_frees frees freed_bytes failed allocations allocated_bytes",
		err);
	if (!tables[0])
		return err->code;
	m->partial = gt_memory_why_partial(&m->report);
	if (m->partial)
		clear_live(m);
	fill_kinds(m, tables[0]);
	note_unknown(m, tables[0]);
	if (m->report.opt->one_page)
		return 1;
	tables[1] = gt_report_table(&m->report, "memory_processes", "Memory by process",
		process_columns, 9, "process live_count peak_at_ns freed_bytes allocated_bytes pid",
		err);
	if (!tables[1])
		return err->code;
	fill_processes(m, tables[1]);
	if (m->report.opt->in_default_report) {
		gt_table_note(tables[1],
			"memory at the peak, memory never freed, and more: gtanalyze memory");
		return 2;
	}
	rc = add_details(m, tables + 2, err);
	return rc < 0 ? rc : rc + 2;
}

static void memory_release(void *state)
{
	struct memory *m = state;

	for (size_t i = 0; m->strips && i < m->tracker.where.n; i++)
		free(m->strips[i]);
	free(m->strips);
	gt_alloc_frees_release(&m->frees);
	gt_live_counters_release(&m->counters);
	gt_memory_tracker_release(&m->tracker);
}

const struct gt_analysis gt_memory_report = {
	.name = "memory",
	.help = "allocated, freed, peak and live memory; by function and size; repeated allocations and their cost",
	.wants = GT_BIT(GT_INSTANT) | GT_BIT(GT_COUNTER) | GT_WAITS_KINDS,
	.needs = GT_LAYERS_OF_CALLS,
	.wants_args = true,
	.order = GT_BY_TIME,
	.in_default = GT_DEFAULT_CALLS,
	.options = (const struct gt_option_row *const[]){ &gt_by_option, NULL },
	.configure = memory_configure,
	.state_size = sizeof(struct memory),
	.init = memory_init,
	.block = memory_block,
	.finish = memory_finish,
	.release = memory_release,
};
