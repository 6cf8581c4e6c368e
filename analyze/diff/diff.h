/* Compares two traces: slower, faster, added or gone operations, by name and by the figures of
 * reports. The same reports run over both files, one file after the other, and their tables are
 * compared (diff_rules.h says how). */
#ifndef GT_DIFF_H
#define GT_DIFF_H
#include "analyze/diff/diff_rules.h"
#include "analyze/core/run.h"

/* ---- is a change more than chance? ---- */

/* Durations of one name in one trace. */
struct gt_sample {
	uint64_t count;
	double mean, deviation; /* ns; the deviation is of the sample (n - 1) */
	bool scatters;          /* the deviation is known */
	/* ns: the standard error of the mean, computed from the means of time slices; 0: unknown */
	double drift;
	double slices; /* effective number of slices: lower if they are unequal */
};
#define GT_DIFF_FLOOR 0.01 /* smaller relative changes are ignored */
/* ns: smallest deviation that is used. GPU clocks have steps of 32 ns, so equal durations may
 * differ by a step */
#define GT_CLOCK_STEP 16.0
/* ns: how far two means may differ by chance: 3 standard errors of their difference. With few
 * durations it is more: Student's t at the same confidence (99.73 %), with Welch's degrees of
 * freedom, because the two deviations may differ. The standard error is the larger of the one
 * from the deviation and the one from the drift. Negative: unknown, because one of them has
 * fewer than two durations. */
double gt_diff_noise(const struct gt_sample *a, const struct gt_sample *b);

/* clang-format off */
#define GT_VERDICTS(X) /* enum, key of its count, title of its count, word */ \
	X(SLOWER, "slower", "Slower", "slower") \
	X(FASTER, "faster", "Faster", "faster") \
	X(ADDED, "added", "Added", "added") \
	X(GONE, "gone", "Gone", "gone") \
	X(MORE, "more", "More", "more") \
	X(FEWER, "fewer", "Fewer", "fewer") \
	X(NOISE, "within_noise", "Within noise", "within noise") \
	X(UNKNOWN, "noise_unknown", "Noise unknown", "noise unknown") \
	X(UNRECORDED, "not_recorded", "Not recorded", "not recorded") \
	X(SAME, "same", "Same", "same")
/* clang-format on */
enum gt_verdict {
#define X(e, key, title, word) GT_VERDICT_##e,
	GT_VERDICTS(X)
#undef X
		GT_VERDICT_COUNT
};
/* The verdict for a name that is in both files. MORE and FEWER: the mean did not change
 * measurably, but the count did. */
enum gt_verdict gt_diff_verdict(const struct gt_sample *a, const struct gt_sample *b);

/* ---- one file ---- */

struct gt_side {
	struct gt_table *tables[GT_RUN_TABLES];
	unsigned n;
	/* GT_BIT(enum gt_layer): recorded in one of its recordings at least */
	uint32_t layers;
	bool filtered;         /* a filter left out names while recording */
	bool nothing_selected; /* the options leave no row */
	bool steady;           /* the figures are of steady steps (steady.h) */
};
/* What to read of each file, and to compare. */
struct gt_diff_request {
	bool is_requested[GT_DIFF_RULES_MOST]; /* by index in gt_diff_rules */
	unsigned names;                        /* enum gt_diff_names; 0: names are not compared */
	bool lines;                            /* compare by line of the program */
	unsigned top;                          /* rows to show; 0: all, also unchanged ones */
	enum gt_name_form form;                /* kernel name style */
};
/* Adds the tables of a report (NULL: the default ones). false: none of them can be compared. */
bool gt_diff_request_report(struct gt_diff_request *request, const char *report);
static inline bool gt_diff_is_requested(
	const struct gt_diff_request *request, const struct gt_diff_rule *rule)
{
	return request->is_requested[rule - gt_diff_rules];
}
static inline void gt_diff_request_table(
	struct gt_diff_request *request, const struct gt_diff_rule *rule)
{
	request->is_requested[rule - gt_diff_rules] = true;
}
/* Runs the requested reports and the header over a file. opt as for gt_run, but all rows are
 * read whatever opt->top says. */
int gt_side_read(struct gt_side *s, struct gt_reader *r, const struct gt_diff_request *request,
	struct gt_analysis_options *opt, unsigned threads, struct gt_err *err);
/* borrowed; NULL: no such table */
const struct gt_table *gt_side_table(const struct gt_side *s, const char *name);
/* Was the data of this table recorded? */
bool gt_side_is_recorded(const struct gt_side *s, const struct gt_diff_rule *rule);
void gt_side_release(struct gt_side *s);

/* ---- two ---- */

/* A row of each file with the same key; -1: the file has none. */
struct gt_row_pair {
	int a, b;
};
/* Pairs rows by key; rows with equal keys are paired in their order. Sorted as in b, rows that
 * are only in a come last. a or b NULL: has no rows. The caller frees *pairs. */
int gt_pair_rows(const struct gt_diff_rule *rule, const struct gt_table *a,
	const struct gt_table *b, struct gt_row_pair **pairs, size_t *n, struct gt_err *err);
/* The name of a row: its label, or its keys, with its rank in front if there are several. The
 * caller frees it. NULL: no memory. */
char *gt_row_name(const struct gt_diff_rule *rule, const struct gt_table *t, unsigned row);
/* The value of a cell as a number; percentages in percent. false: absent, or not a number. */
bool gt_figure(const struct gt_diff_rule *rule, const struct gt_table *t, unsigned row,
	unsigned column, long double *v);
/* The relative change (b - a) / |a|. 0 if both are 0, infinite if only a is 0. */
long double gt_change(long double a, long double b);

/* Makes the tables "files", "step_medians" (only if the figures are of steady steps), "verdicts",
 * "names" (these two only if names are compared), "figures", and "lines" (only if a file has call
 * stacks or samples); the caller owns them. Returns their number, or negative. */
#define GT_DIFF_TABLES 6
int gt_diff(const struct gt_side *a, const struct gt_side *b, const struct gt_diff_request *request,
	struct gt_table *tables[GT_DIFF_TABLES], struct gt_err *err);

/* "names": operations with count, mean and deviation; not in gt_analyses */
extern const struct gt_analysis gt_diff_names_report;
extern const struct gt_analysis gt_diff_kernel_lines_report; /* likewise: "kernel_lines" */
/* In red or green where it is an improvement or not. */
struct gt_cell gt_diff_verdict_cell(enum gt_verdict verdict);
#endif
