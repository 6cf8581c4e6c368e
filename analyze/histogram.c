/* How long an operation takes, call by call: one row per power of two. `gtanalyze histogram --match 'GLOB'` asks for some. */
#include "analyze/names.h"
#include "analyze/report.h"

static const struct gt_column columns[] = {
	{ "operation", "Operation", GT_C_TEXT }, { "layer", "Layer", GT_C_TEXT }, { "from_ns", "From", GT_C_NS },
	{ "to_ns", "Below", GT_C_NS }, { "count", "Calls", GT_C_COUNT }, { "share_percent", "Share %", GT_C_PERCENT },
};
#define POWERS 64

static int add_name(struct gt_table *t, const struct gt_names *names, const struct gt_name *name, struct gt_err *err)
{
	struct gt_hist hist = { 0 };
	uint64_t counts[POWERS] = { 0 };	/* [n]: durations of n bits */
	int64_t shares[POWERS];
	int rc = gt_names_hist(names, name, &hist, err);

	for (unsigned b = 0; !rc && b < GT_HIST_BUCKETS; b++) {
		uint64_t low = gt_hist_low(b), *octave = hist.octave[b / GT_HIST_OCTAVE];

		counts[low ? 64 - (unsigned)__builtin_clzll(low) : 0] += octave ? octave[b % GT_HIST_OCTAVE] : 0;
	}
	gt_hist_release(&hist);
	if (!rc)
		rc = gt_shares(counts, POWERS, shares, err);
	for (unsigned n = 0; !rc && n < POWERS; n++)
		if (counts[n])
			gt_table_add(t, (struct gt_cell[]){
				gt_cell_text(name->text), gt_cell_text(gt_layer_word(name->layer)), gt_cell_u(n ? 1ull << (n - 1) : 0),
				gt_cell_u(1ull << n), gt_cell_u(counts[n]), gt_cell_i(shares[n]) });
	return rc;
}

static int histogram_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	const struct gt_asked *a = state;
	struct gt_names names = { 0 };
	int rc = gt_names_collect(&names, a->opt->fold, NULL, err);
	size_t shown = gt_shown(names.n, a->opt->top);

	tables[0] = gt_table_new("histogram", "Durations by operation", columns, 6);
	if (!rc && !tables[0])
		rc = gt_err_set(err, -ENOMEM, "no memory for a table");
	if (!rc)
		gt_table_gives_way(tables[0], "layer share_percent to_ns");
	for (size_t i = 0; !rc && i < shown; i++) {
		rc = add_name(tables[0], &names, &names.list[i], err);
		if (names.list[i].sum.coarse)
			gt_table_note(tables[0], "too many operations: some calls of %s are missing", names.list[i].text);
	}
	if (!rc && names.n > shown)
		gt_table_note(tables[0], "%zu operation%s below --top %zu left out", names.n - shown,
			      names.n - shown == 1 ? "" : "s", shown);
	gt_names_release(&names);
	return rc ? rc : 1;
}

const struct gt_analysis gt_histogram_report = {
	.name       = "histogram",
	.help       = "durations of each operation by powers of two",
	.wants      = GT_BIT(GT_CALL) | GT_BIT(GT_SPAN) | GT_BIT(GT_GPU),
	.folds      = GT_FOLD_TYPES,
	.splits     = GT_BY_BLOCK | GT_BY_TRACK,
	.state_size = sizeof(struct gt_asked),
	.init       = gt_asked_init,
	.finish     = histogram_finish,
};
