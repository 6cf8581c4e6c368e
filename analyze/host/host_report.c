/* Report "host": the idle time of GPUs by what the launching threads did, by line of the program. A
 * file of a profiler of the processor has no GPU work, but samples: then it is their time by line.
 */
#include <stdlib.h>
#include "analyze/gpu/shared_gpus.h"
#include "analyze/host/host_steps.h"
#include "analyze/idle/host_lines.h"
#include "analyze/stacks/by_stack.h"
#include "formats/base/sorted.h"

struct host {
	struct gt_idle *idle;
	unsigned by;
	struct gt_host_steps steps; /* --by step */
};

static int host_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	const unsigned *by = gt_report_option(opt, "host");
	struct host *h = state;

	h->idle = opt->engine;
	h->by = by ? *by : (unsigned)GT_STACK_LINE;
	gt_idle_want_shares(h->idle, true);
	h->idle->shares.by_thread = h->by == GT_HOST_BY_THREAD;
	return h->by == GT_HOST_BY_STEP ? gt_host_steps_init(&h->steps, h->idle, err) : 0;
}

static int host_configure(
	struct gt_configured_report *c, const struct gt_analysis_options *opt, struct gt_err *err)
{
	const char *text = gt_report_option(opt, "by");
	int by = !text                    ? 0
		: !strcmp(text, "thread") ? (int)GT_HOST_BY_THREAD
		: !strcmp(text, "step")   ? (int)GT_HOST_BY_STEP
					  : gt_by_stack_read(text, &(struct gt_err)GT_ERR_INIT);

	if (by < 0)
		return gt_err_set(err, -EINVAL,
			"--by: '%s' is none of line, function, module, stack, thread, step", text);
	c->settings = malloc(sizeof(unsigned));
	if (!c->settings)
		return gt_err_set(err, -ENOMEM, "out of memory (options)");
	*(unsigned *)c->settings = (unsigned)by;
	return 0;
}

/* ---- lines ---- */

#define COLUMNS(title)                                                                             \
	{                                                                                          \
		{ "caller", title, GT_C_TEXT }, { "idle_ns", "GPU idle", GT_C_NS },                \
			{ "share_percent", "Share %", GT_C_PERCENT },                              \
			{ "error_percent", "Error %", GT_C_PERCENT },                              \
			{ "samples", "Samples", GT_C_COUNT },                                      \
			{ "inclusive_ns", "Inclusive", GT_C_NS },                                  \
			{ "inclusive_percent", "Inclusive %", GT_C_PERCENT },                      \
			{ "host_ns", "Host time", GT_C_NS }, { "error_ns", NULL, GT_C_NS },        \
		{                                                                                  \
			"host_samples", NULL, GT_C_COUNT                                           \
		}                                                                                  \
	}
#define NCOLUMNS 10
static const struct gt_column columns[][NCOLUMNS] = { COLUMNS("Line"), COLUMNS("Function"),
	COLUMNS("Module"), COLUMNS("Stack, innermost frame first"), COLUMNS("Thread") };
static const char *const titles[] = { "Idle time of GPUs by line of the host",
	"Idle time of GPUs by function of the host", "Idle time of GPUs by module of the host",
	"Idle time of GPUs by call stack of the host", "Idle time of GPUs by thread of the host" };

static uint64_t sum_of(const struct gt_caller_sums *sums)
{
	uint64_t all = 0;

	for (size_t i = 0; i < sums->n; i++)
		all = gt_sat_add(all, sums->list[i].self[GT_HOST_IDLE].total);
	return all;
}

/* Both columns say the same of equal times, though shares are rounded so that they add up. */
static struct gt_cell inclusive_share(
	uint64_t inclusive, uint64_t self, int64_t share, uint64_t all)
{
	struct gt_cell cell = gt_cell_share(inclusive, all);

	return all && (inclusive == self || cell.i < share) ? gt_cell_i(share) : cell;
}

static int add_lines(
	const struct host *h, struct gt_table *t, struct gt_caller_sums *sums, struct gt_err *err)
{
	size_t shown = gt_rows_shown(sums->n, h->idle->report.opt->top);
	uint64_t all = sum_of(sums);
	int64_t *shares;

	gt_caller_sums_sort(sums, GT_HOST_IDLE);
	shares = GT_NEW_SHARES(sums->list, sums->n, self[GT_HOST_IDLE].total, err);
	for (size_t i = 0; shares && i < shown; i++) {
		const struct gt_caller_sum *one = &sums->list[i];
		const struct gt_stack_figures *self = &one->self[GT_HOST_IDLE],
					      *inclusive = &one->inclusive[GT_HOST_IDLE];

		gt_table_add(t,
			(struct gt_cell[NCOLUMNS]){ gt_cell_text(gt_caller_name(sums, one)),
				gt_cell_u(self->total), gt_cell_i(shares[i]),
				self->count ? gt_cell_share(gt_outside_error(&h->idle->shares.sum,
								    self->count),
						      all)
					    : gt_cell_none(),
				gt_cell_u(self->count), gt_cell_u(inclusive->total),
				inclusive_share(inclusive->total, self->total, shares[i], all),
				gt_cell_u(one->inclusive[GT_HOST_TIME].total),
				gt_cell_known(self->count,
					gt_outside_error(&h->idle->shares.sum, self->count)),
				gt_cell_u(one->inclusive[GT_HOST_TIME].count) });
	}
	gt_table_note_cut(t, sums->n, shown);
	free(shares);
	return shares ? 0 : err->code;
}

/* ---- without GPUs ---- */

static const struct gt_column time_columns[] = {
	{ "caller", "Where", GT_C_TEXT },
	{ "host_ns", "Self", GT_C_NS },
	{ "share_percent", "Share %", GT_C_PERCENT },
	{ "samples", "Samples", GT_C_COUNT },
	{ "inclusive_ns", "Inclusive", GT_C_NS },
	{ "inclusive_percent", "Inclusive %", GT_C_PERCENT },
};
#define NTIME 6
static const char *const time_titles[] = { "Processor time by line of the host",
	"Processor time by function of the host", "Processor time by module of the host",
	"Processor time by call stack of the host", "Processor time by thread of the host" };

/* Samples without any GPU work: of a profiler of the processor. */
static bool has_only_samples(const struct host *h)
{
	return !gt_is_recorded(h->idle->report.reader, GT_LAYER_GPU) &&
		h->idle->shares.processor.n && h->by != GT_HOST_BY_STEP;
}

/* The processor time of the host by line, from all samples. */
static int time_table(
	const struct host *h, struct gt_table **t, struct gt_caller_sums *sums, struct gt_err *err)
{
	size_t shown = gt_rows_shown(sums->n, h->idle->report.opt->top);
	uint64_t all = 0;
	int64_t *shares;

	*t = gt_report_table(&h->idle->report, "host_time", time_titles[h->by], time_columns, NTIME,
		"samples inclusive_percent", err);
	gt_caller_sums_sort(sums, GT_HOST_TIME);
	shares = *t ? GT_NEW_SHARES(sums->list, sums->n, self[GT_HOST_TIME].total, err) : NULL;
	if (!shares)
		return err->code;
	for (size_t i = 0; i < sums->n; i++)
		all = gt_sat_add(all, sums->list[i].self[GT_HOST_TIME].total);
	for (size_t i = 0; i < shown; i++) {
		const struct gt_caller_sum *one = &sums->list[i];
		uint64_t self = one->self[GT_HOST_TIME].total,
			 inclusive = one->inclusive[GT_HOST_TIME].total;

		gt_table_add(*t,
			(struct gt_cell[NTIME]){ gt_cell_text(gt_caller_name(sums, one)),
				gt_cell_u(self), gt_cell_i(shares[i]),
				gt_cell_u(one->self[GT_HOST_TIME].count), gt_cell_u(inclusive),
				inclusive_share(inclusive, self, shares[i], all) });
	}
	gt_table_note_cut(*t, sums->n, shown);
	gt_table_note(*t, "by samples of running threads; no GPU work was recorded");
	free(shares);
	return 0;
}

static int finish_time(const struct host *h, struct gt_table **tables, struct gt_err *err)
{
	struct gt_caller_sums sums = { .list = NULL };
	int rc = gt_host_lines_collect(
		&sums, h->idle, h->by, &(struct gt_host_selection){ .doings = 0 }, err);

	rc = rc ? rc : time_table(h, &tables[0], &sums, err);
	gt_caller_sums_release(&sums);
	return rc ? rc : 1;
}

static void add_notes(const struct host *h, struct gt_table *t)
{
	const struct gt_host_shares *shares = &h->idle->shares;

	gt_idle_note_gaps(h->idle, t);
	gt_host_note_samples(h->idle, t);
	gt_note_plural(t, shares->left_out,
		"%llu {sample is|samples are} left out: too many at a time, or not in order of time",
		(unsigned long long)shares->left_out);
	gt_shared_gpus_note(t, &h->idle->report);
}

/* ---- activity of the threads ---- */

static const struct gt_column doing_columns[] = {
	{ "doing", "What it did", GT_C_TEXT },
	{ "caller", "Where", GT_C_TEXT },
	{ "idle_ns", "GPU idle", GT_C_NS },
	{ "share_percent", "Share %", GT_C_PERCENT },
	{ "samples", "Samples", GT_C_COUNT },
	{ "key", NULL, GT_C_TEXT },
};
#define NDOING 6

struct doing_row {
	unsigned doing;
	const struct gt_caller_sums *sums;
	const struct gt_caller_sum *sum;
	uint64_t ns;
};

static int by_time(const void *pa, const void *pb)
{
	const struct doing_row *a = pa, *b = pb;

	return GT_COMPARE(b->ns, a->ns) ?:
		GT_COMPARE(a->doing, b->doing) ?:
		strcmp(gt_caller_name(a->sums, a->sum), gt_caller_name(b->sums, b->sum));
}

static int add_doing_rows(const struct host *h, struct gt_table *t, struct doing_row *rows,
	size_t n, struct gt_err *err)
{
	size_t shown = gt_rows_shown(n, h->idle->report.opt->top);
	int64_t *shares;

	GT_SORT(rows, n, by_time);
	shares = GT_NEW_SHARES(rows, n, ns, err);
	for (size_t i = 0; shares && i < shown; i++) {
		const struct gt_stack_figures *f = &rows[i].sum->self[GT_HOST_IDLE];
		const char *name = gt_caller_name(rows[i].sums, rows[i].sum);

		gt_table_add(t,
			(struct gt_cell[NDOING]){ gt_cell_text(gt_host_doing_words(rows[i].doing)),
				gt_cell_text(name), gt_cell_u(f->total), gt_cell_i(shares[i]),
				gt_cell_u(f->count),
				gt_cell_text(gt_host_doing_key(rows[i].doing)) });
	}
	gt_table_note_cut(t, n, shown);
	free(shares);
	return shares ? 0 : err->code;
}

static int add_doings(const struct host *h, struct gt_table *t, struct gt_err *err)
{
	struct gt_caller_sums sums[GT_HOST_DOING_COUNT] = { { .list = NULL } };
	struct doing_row *rows = NULL;
	size_t n = 0, cap = 0;
	int rc = 0;

	for (unsigned k = 0; !rc && k < GT_HOST_DOING_COUNT; k++) {
		rc = gt_host_lines_collect(&sums[k], h->idle, h->by,
			&(struct gt_host_selection){ .doings = GT_BIT(k) }, err);
		if (!rc && gt_grow(&rows, &cap, n + sums[k].n + 1, sizeof(*rows)))
			rc = gt_err_set(err, -ENOMEM, "out of memory (stacks)");
		for (size_t i = 0; !rc && i < sums[k].n; i++)
			if (sums[k].list[i].self[GT_HOST_IDLE].total)
				rows[n++] = (struct doing_row){ k, &sums[k], &sums[k].list[i],
					sums[k].list[i].self[GT_HOST_IDLE].total };
	}
	if (!rc)
		rc = add_doing_rows(h, t, rows, n, err);
	for (unsigned k = 0; k < GT_HOST_DOING_COUNT; k++)
		gt_caller_sums_release(&sums[k]);
	free(rows);
	return rc;
}

/* ---- all ---- */

static int host_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct host *h = state;
	struct gt_caller_sums sums = { .list = NULL };
	const char *cannot = gt_host_why_unanswered(h->idle);
	int rc;

	if (h->by == GT_HOST_BY_STEP)
		return gt_host_steps_finish(&h->steps, &tables[0], cannot, err);
	if (cannot && has_only_samples(h))
		return finish_time(h, tables, err);
	tables[0] = gt_report_table(&h->idle->report, "host", titles[h->by], columns[h->by],
		NCOLUMNS, "host_ns samples inclusive_ns error_percent inclusive_percent", err);
	tables[1] = gt_report_table(&h->idle->report, "host_doing",
		"What the launching threads did while GPUs were idle", doing_columns, NDOING,
		"samples share_percent", err);
	if (!tables[0] || !tables[1])
		return err->code;
	if (cannot) {
		gt_table_set_unanswered(tables[0], "%s", cannot);
		return 2;
	}
	rc = gt_host_lines_collect(
		&sums, h->idle, h->by, &(struct gt_host_selection){ .doings = 0 }, err);
	if (!rc)
		rc = add_lines(h, tables[0], &sums, err);
	if (!rc)
		add_notes(h, tables[0]);
	gt_caller_sums_release(&sums);
	if (!rc)
		rc = add_doings(h, tables[1], err);
	return rc ? rc : 2;
}

static void host_release(void *state) { gt_host_steps_release(&((struct host *)state)->steps); }

const struct gt_analysis gt_host_report = {
	.name = "host",
	.help = "lines of the host by the idle time of GPUs that they caused",
	.wants = GT_IDLE_WANTS,
	.engine = &gt_idle_engine,
	.order = GT_BY_TIME,
	.in_default = GT_DEFAULT_SAMPLES,
	.options = (const struct gt_option_row *const[]){ &gt_by_option, NULL },
	.configure = host_configure,
	.free_settings = free,
	.state_size = sizeof(struct host),
	.init = host_init,
	.finish = host_finish,
	.release = host_release,
};
