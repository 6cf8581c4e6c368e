#include "analyze/core/run.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/core/report_status.h"

struct worker {
	struct gt_aggregate *aggregate;
	void **states; /* one per selected analysis; NULL: this worker has none */
	bool any;      /* a row was seen that is not a loss */
	struct gt_err err;
	char pad[64]; /* keeps two workers out of one cache line */
};
struct run {
	struct gt_reader *reader;
	const struct gt_analysis *const *chosen;
	unsigned n, nworkers;
	struct gt_analysis_options *opt;
	struct worker *workers;
	const struct gt_analysis *engine; /* chosen[0], if a report names one; else NULL */
	struct gt_table **tables;
	bool any; /* as in a worker, of all ordered reports */
};
/* a report that sees blocks in order; any: as above */
struct ordered_report {
	unsigned analysis;
	bool any;
	struct gt_err err;
};
struct pass { /* one scan of the file */
	struct run *run;
	enum gt_order order;
	bool first; /* also serves the analyses that need no order */
	struct ordered_report *ordered;
	unsigned nordered;
};

const struct gt_analysis *gt_analysis_find(const char *name)
{
	for (unsigned i = 0; gt_analyses[i]; i++)
		if (!strcmp(gt_analyses[i]->name, name))
			return gt_analyses[i];
	return NULL;
}

/* ---- states ---- */

static bool splits(const struct gt_analysis *a)
{
	return a->order == GT_ANY_ORDER && a->splits & GT_BY_BLOCK;
}

static int new_states(struct run *run, unsigned w, struct gt_err *err)
{
	struct worker *worker = &run->workers[w];

	worker->err = (struct gt_err)GT_ERR_INIT;
	worker->states = calloc(run->n + 1ul, sizeof(*worker->states));
	if (!worker->states)
		return gt_err_set(err, -ENOMEM, "out of memory (%u reports)", run->n);
	for (unsigned i = 0; i < run->n; i++) {
		const struct gt_analysis *a = run->chosen[i];
		int rc;

		if (w && !(a->block && splits(a)))
			continue;
		worker->states[i] = calloc(1, a->state_size + 1);
		if (!worker->states[i])
			return gt_err_set(err, -ENOMEM, "out of memory (report '%s')", a->name);
		if (i == 0 && run->engine) /* the engine is first: it sees each block before
					    * the reports */
			run->opt->engine = worker->states[i];
		rc = a->init ? a->init(worker->states[i], run->reader, run->opt, err) : 0;
		if (rc)
			return rc;
	}
	return 0;
}

static void free_states(struct run *run)
{
	for (unsigned w = 0; run->workers && w < run->nworkers; w++) {
		struct worker *worker = &run->workers[w];

		for (unsigned i = 0; worker->states && i < run->n; i++) {
			if (worker->states[i] && run->chosen[i]->release)
				run->chosen[i]->release(worker->states[i]);
			free(worker->states[i]);
		}
		free(worker->states);
		gt_aggregate_free(worker->aggregate);
	}
	free(run->workers);
}

static int new_workers(struct run *run, struct gt_err *err)
{
	unsigned parts = 0;
	int rc = 0;

	for (unsigned i = 0; i < run->n; i++)
		parts |= run->chosen[i]->aggregates;
	run->workers = calloc(run->nworkers, sizeof(*run->workers));
	if (!run->workers)
		return gt_err_set(err, -ENOMEM, "out of memory (%u threads)", run->nworkers);
	for (unsigned w = 0; parts && w < run->nworkers; w++) {
		run->workers[w].aggregate =
			gt_aggregate_new(run->reader, parts, &run->opt->filter, err);
		if (!run->workers[w].aggregate)
			return -ENOMEM;
	}
	run->opt->aggregate = run->workers[0].aggregate;
	for (unsigned w = 0; !rc && w < run->nworkers; w++)
		rc = new_states(run, w, err);
	return rc;
}

/* ---- one scan ---- */

/* Does a report see the blocks of a scan on all threads, unordered, or (`in_order`) one after
 * the other? Reports that need no order take part in the first scan. */
static bool takes_part(const struct pass *pass, const struct gt_analysis *a, bool in_order)
{
	if (!a->block || gt_is_blocked_by_match(a, pass->run->opt) || in_order == splits(a))
		return false;
	return a->order == GT_ANY_ORDER ? pass->first : a->order == pass->order;
}

static int block_unordered(void *arg, unsigned w, const struct gt_cols *cols)
{
	const struct pass *pass = arg;
	struct run *run = pass->run;
	struct worker *worker = &run->workers[w];
	int rc = worker->aggregate ? gt_aggregate_add_block(worker->aggregate, cols, &worker->err)
				   : 0;

	worker->any |= cols->kind != GT_LOST;
	for (unsigned i = 0; !rc && i < run->n; i++) {
		const struct gt_analysis *a = run->chosen[i];

		if (a->wants & GT_BIT(cols->kind) && takes_part(pass, a, false))
			rc = a->block(worker->states[i], cols, &worker->err);
	}
	return rc;
}

static int block_ordered(void *arg, unsigned i, const struct gt_cols *cols)
{
	const struct pass *pass = arg;
	struct ordered_report *one = &pass->ordered[i];
	const struct gt_analysis *a = pass->run->chosen[one->analysis];

	one->any |= cols->kind != GT_LOST;
	return a->wants & GT_BIT(cols->kind)
		? a->block(pass->run->workers[0].states[one->analysis], cols, &one->err)
		: 0;
}

/* Finds the reports that take part in a scan, and the rows and columns it must read. Returns
 * whether any report takes unordered blocks. */
static bool select_reports(struct pass *pass, struct gt_filter *filter)
{
	const struct run *run = pass->run;
	bool each = pass->first && run->workers[0].aggregate;

	*filter = run->opt->filter;
	filter->kinds = 0;
	pass->nordered = 0;
	for (unsigned i = 0; i < run->n; i++) {
		const struct gt_analysis *a = run->chosen[i];
		bool as_they_come = takes_part(pass, a, false), ordered = takes_part(pass, a, true);

		if (ordered)
			pass->ordered[pass->nordered++] =
				(struct ordered_report){ .analysis = i, .err = GT_ERR_INIT };
		each |= as_they_come;
		if (!as_they_come && !ordered && !(pass->first && a->aggregates))
			continue;
		filter->kinds |= a->wants;
		filter->args |= a->wants_args;
	}
	return each;
}

static int scan(struct pass *pass, struct gt_err *err)
{
	struct run *run = pass->run;
	struct gt_filter filter;
	bool each = select_reports(pass, &filter);
	int rc;

	if (!filter.kinds)
		return 0;
	rc = gt_scan_consumers(run->reader, &filter, pass->order, run->nworkers,
		each ? block_unordered : NULL, block_ordered, pass->nordered, pass, err);
	for (unsigned w = 0; rc && w < run->nworkers; w++)
		if (run->workers[w].err.code && !err->code)
			*err = run->workers[w].err;
	for (unsigned i = 0; i < pass->nordered; i++) {
		run->any |= pass->ordered[i].any;
		if (rc && pass->ordered[i].err.code && !err->code)
			*err = pass->ordered[i].err;
	}
	return rc;
}

/* ---- all scans ---- */

/* One scan for each order that a report needs; if none needs any, one unordered scan. */
static int scan_all(struct run *run, struct gt_err *err)
{
	struct pass pass = {
		.run = run, .first = true, .ordered = calloc(run->n + 1ul, sizeof(*pass.ordered))
	};
	bool needed[GT_BY_TIME + 1] = { false };
	int rc = pass.ordered ? 0 : gt_err_set(err, -ENOMEM, "out of memory (%u reports)", run->n);

	for (unsigned i = 0; i < run->n; i++)
		if (run->chosen[i]->block)
			needed[run->chosen[i]->order] = true;
	for (unsigned order = GT_BY_TIME; !rc && order > GT_ANY_ORDER; order--)
		if (needed[order]) {
			pass.order = (enum gt_order)order;
			rc = scan(&pass, err);
			pass.first = false;
		}
	if (!rc && pass.first)
		rc = scan(&pass, err);
	free(pass.ordered);
	return rc;
}

static int merge_workers(struct run *run, struct gt_err *err)
{
	struct worker *into = &run->workers[0];
	int rc = 0;

	for (unsigned w = 1; !rc && w < run->nworkers; w++) {
		struct worker *from = &run->workers[w];

		if (into->aggregate)
			rc = gt_aggregate_merge(into->aggregate, from->aggregate, err);
		for (unsigned i = 0; !rc && i < run->n; i++)
			if (from->states[i] && run->chosen[i]->merge)
				rc = run->chosen[i]->merge(into->states[i], from->states[i], err);
	}
	if (into->aggregate)
		gt_aggregate_finish(into->aggregate);
	return rc;
}

static int stop_at_first(void *arg, unsigned w, const struct gt_cols *cols) { return 1; }

/* Do the options leave no row at all? Other kinds are scanned too: the reports may need kinds
 * that the file does not have. */
static int check_any_row(struct run *run, struct gt_err *err)
{
	struct gt_filter filter = run->opt->filter;
	bool any = !run->opt->restrictions || run->any;
	int rc = 0;

	for (unsigned w = 0; w < run->nworkers; w++)
		any |= run->workers[w].any;
	filter.kinds = ~GT_BIT(GT_LOST) & (GT_BIT(GT_KINDS) - 1);
	filter.args = false;
	if (!any)
		rc = gt_scan(run->reader, &filter, GT_ANY_ORDER, 1, stop_at_first, NULL, err);
	run->opt->nothing_selected = !any && !rc;
	return rc < 0 ? rc : 0;
}

/* Moves the last n tables in front of `before` others. */
static void move_up(struct gt_table **tables, unsigned n, unsigned before)
{
	for (unsigned i = 0; i < n; i++) {
		struct gt_table *last = tables[before + n - 1];

		memmove(tables + 1, tables, (before + n - 1) * sizeof(struct gt_table *));
		tables[0] = last;
	}
}

/* Where the first table of report i, which is at `at`, belongs (gt_analysis.first_table_before). */
static unsigned place_of_first(
	const struct run *run, const unsigned *count, unsigned i, unsigned at)
{
	const char *before = run->chosen[i]->first_table_before;

	for (unsigned k = 0, place = 0; before && run->opt->in_default_report && k < i;
		place += count[k++])
		if (!strcmp(run->chosen[k]->name, before))
			return place;
	return at;
}

/* On the first page, a table without rows says that they were not recorded. Of a file that has
 * nothing of CUDA most tables would say only that, so text leaves such a report out. Returns the
 * number of tables that stay. */
static int omit_without_rows(
	const struct run *run, const struct gt_analysis *a, struct gt_table **tables, int n)
{
	bool empty = a != gt_analyses[0] && run->opt->one_page && gt_is_without_cuda(run->reader);

	for (int i = 0; i < n; i++)
		empty &= !gt_table_rows(tables[i]);
	for (int i = 0; empty && i < n; i++) {
		gt_table_free(tables[i]);
		tables[i] = NULL;
	}
	return empty ? 0 : n;
}

/* Tables are in the order of the reports, also those of reports that finish last. */
static int finish(struct run *run, struct gt_err *err)
{
	unsigned made = 0, first, *count = calloc(run->n + 1ul, sizeof(*count));
	int n = count ? 0 : gt_err_set(err, -ENOMEM, "out of memory (%u reports)", run->n);

	for (unsigned pass = 0; n >= 0 && pass < 2; pass++)
		for (unsigned i = 0, at = 0; n >= 0 && i < run->n; at += count[i++]) {
			if (run->chosen[i]->runs_last != (pass == 1))
				continue;
			if (GT_RUN_TABLES - made < GT_REPORT_TABLES) {
				n = gt_err_set(err, -EOVERFLOW,
					"more than %u tables at a time: ask for fewer reports",
					made);
				break;
			}
			n = run->chosen[i]->finish(run->workers[0].states[i], run->tables + made,
				GT_RUN_TABLES - made, err);
			if (n < 0)
				break;
			gt_explain_empty_tables(run->chosen[i],
				&(struct gt_report_state){ run->reader, run->opt },
				run->tables + made, (unsigned)n);
			n = omit_without_rows(run, run->chosen[i], run->tables + made, n);
			for (int k = 0; k < n; k++)
				gt_table_set_report(
					run->tables[made + (unsigned)k], run->chosen[i]->name);
			move_up(run->tables + at, (unsigned)n, made - at);
			first = place_of_first(run, count, i, at);
			move_up(run->tables + first, n > 0, at - first);
			count[i] = (unsigned)n;
			made += (unsigned)n;
		}
	free(count);
	if (n >= 0 && made == 1 && run->opt->one_page && gt_is_without_cuda(run->reader))
		gt_table_note(run->tables[0],
			"the file has nothing for this page: gtanalyze --list names all reports (counters, timeline ...)");
	return n < 0 ? n : (int)made;
}

static int run_all(struct run *run, struct gt_err *err)
{
	int rc = new_workers(run, err);

	if (!rc)
		rc = scan_all(run, err);
	if (!rc)
		rc = merge_workers(run, err);
	if (!rc)
		rc = check_any_row(run, err);
	if (!rc)
		rc = finish(run, err);
	free_states(run);
	return rc;
}

/* ---- the default report ---- */

enum gt_default_use gt_default_use_of(const struct gt_reader *r)
{
	for (uint32_t i = 0; i < gt_reader_segments(r); i++)
		if (gt_reader_segment(r, i)->rows[GT_GPU])
			return gt_has_only_collectives(r) ? GT_DEFAULT_COLLECTIVES : GT_DEFAULT_GPU;
	return GT_DEFAULT_CALLS;
}

/* The analyses of `chosen` that belong to the default report of this trace. */
static unsigned select_default(struct gt_reader *r, const struct gt_analysis *const *chosen,
	unsigned n, const struct gt_analysis **to)
{
	enum gt_default_use screen = gt_default_use_of(r);
	bool samples = gt_has_samples(r) && gt_is_without_cuda(r);
	unsigned kept = 0;

	for (unsigned i = 0; i < n; i++) {
		enum gt_default_use use = chosen[i]->in_default;

		if (use == GT_DEFAULT_ALWAYS || use == screen ||
			(samples && use == GT_DEFAULT_SAMPLES))
			to[kept++] = chosen[i];
	}
	return kept;
}

/* Each worker has its own sums for each type and track: memory limits the number of workers. */
static unsigned workers(struct gt_reader *r, unsigned threads)
{
	const uint64_t most = 32u << 20;
	uint64_t each = 1;

	for (uint32_t i = 0; i < gt_reader_segments(r); i++) {
		const struct gt_segment *seg = gt_reader_segment(r, i);

		each += seg->ntypes * sizeof(struct gt_stat) +
			seg->ntracks * sizeof(struct gt_track_sum);
	}
	threads = threads < most / each ? threads : (unsigned)(most / each);
	return threads ? threads : 1;
}

/* All analyses to run: the engine, if any report names it, then the selected ones. NULL: no
 * memory. */
static const struct gt_analysis **list_analyses(struct gt_reader *r,
	const struct gt_analysis *const *chosen, unsigned *n, const struct gt_analysis_options *opt,
	const struct gt_analysis **engine)
{
	const struct gt_analysis **all = malloc((*n + 1ul) * sizeof(*all));

	*engine = NULL;

	if (!all)
		return NULL;
	if (opt->in_default_report)
		*n = select_default(r, chosen, *n, all + 1);
	else
		memcpy(all + 1, chosen, *n * sizeof(*all));
	for (unsigned i = 1; i <= *n; i++)
		if (all[i]->engine)
			*engine = all[i]->engine;
	if (*engine)
		all[0] = *engine;
	else
		memmove(all, all + 1, *n * sizeof(*all));
	*n += *engine != NULL;
	return all;
}

/* Duplicates of source_dedup.h are hidden from every scan, so no analysis counts a call twice. */
int gt_run(struct gt_reader *r, const struct gt_analysis *const *chosen, unsigned n,
	struct gt_analysis_options *opt, unsigned threads, struct gt_table *tables[GT_RUN_TABLES],
	struct gt_err *err)
{
	const struct gt_analysis *engine, **all = list_analyses(r, chosen, &n, opt, &engine);
	struct run run = { .reader = r,
		.chosen = all,
		.n = n,
		.engine = engine,
		.nworkers = workers(r, threads),
		.opt = opt,
		.tables = tables };
	struct gt_source_dedup *doubles = all ? gt_source_dedup_new(r, err) : NULL;
	int rc;

	memset(tables, 0, GT_RUN_TABLES * sizeof(*tables));
	if (!doubles) {
		free(all);
		return err->code ? err->code
				 : gt_err_set(err, -ENOMEM, "out of memory (%u reports)", n);
	}
	opt->source_dedup = doubles;
	gt_source_dedup_hide(doubles, &opt->filter);
	rc = run_all(&run, err);
	gt_source_dedup_free(doubles);
	opt->source_dedup = NULL;
	opt->engine = NULL;
	opt->filter.hide = NULL;
	free(all);
	return rc;
}
