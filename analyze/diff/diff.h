/* Two traces beside each other: what is slower, faster, new or gone, by name and by the figures of reports. The same reports
 * run over both, each file is closed before the next one is opened, and what is compared are their tables (diff_rules.h says
 * how). */
#ifndef GT_DIFF_H
#define GT_DIFF_H
#include "analyze/diff/diff_rules.h"
#include "analyze/core/run.h"

/* ---- is a change more than chance? ---- */

/* Durations of one name in one trace. */
struct gt_sample {
	uint64_t count;
	double mean, deviation;		/* ns; the deviation is of the sample (n - 1) */
	bool scatters;			/* the deviation is known */
	double drift;			/* ns: the standard error of the mean as the means of slices of the time tell it; 0: not told */
	double slices;			/* how many slices that are, the more unequal they are the fewer */
};
#define GT_DIFF_FLOOR 0.01		/* a change by less than this part is none */
#define GT_CLOCK_STEP 16.0		/* ns: no deviation is taken for less. GPUs tell times in steps of 32 ns, so that two durations
					 * may be the same, or a step apart, for no other reason */
/* How far apart two means may be by chance, ns: 3 standard errors of their difference, and more where there are few durations:
 * Student's t at the certainty that 3 standard errors have where there are many (99.73 %), with Welch's degrees of freedom, as
 * the two may scatter differently. The standard error is that of the deviation or that of the drift, whichever is larger.
 * Negative: it cannot be told, as one of them has less than two durations. */
double gt_diff_noise(const struct gt_sample *a, const struct gt_sample *b);

#define GT_VERDICTS(X) /* enum, key of its count, title of its count, word */ \
	X(SLOWER, "slower", "Slower", "slower") X(FASTER, "faster", "Faster", "faster") X(ADDED, "added", "Added", "added") \
	X(GONE, "gone", "Gone", "gone") X(MORE, "more", "More", "more") X(FEWER, "fewer", "Fewer", "fewer") \
	X(NOISE, "within_noise", "Within noise", "within noise") X(UNKNOWN, "noise_unknown", "Noise unknown", "noise unknown") \
	X(UNRECORDED, "not_recorded", "Not recorded", "not recorded") X(SAME, "same", "Same", "same")
enum gt_verdict {
#define X(e, key, title, word) GT_VERDICT_##e,
	GT_VERDICTS(X)
#undef X
	GT_VERDICT_COUNT
};
/* Of a name that is in both. MORE and FEWER: it takes as long as before, as far as can be told, but happened more or less
 * often. */
enum gt_verdict gt_diff_verdict(const struct gt_sample *a, const struct gt_sample *b);

/* ---- one file ---- */

struct gt_side {
	struct gt_table *tables[GT_RUN_TABLES];
	unsigned n;
	uint32_t layers;		/* GT_BIT(enum gt_layer): recorded in one of its recordings at least */
	bool filtered;			/* names were left out while recording */
	bool nothing_selected;			/* the options leave no row */
};
/* What is to be read of a file, and compared. */
struct gt_diff_request {
	bool wanted[GT_DIFF_RULES_MOST];	/* as in gt_diff_rules */
	unsigned names;			/* enum gt_diff_names: 0 compares no names */
	unsigned top;			/* rows that are shown; 0: all, also those that are the same */
	enum gt_name_form form;		/* how kernels are called */
};
/* Adds the tables of a report (NULL: the default). false: none of them can be compared. */
bool gt_diff_request_report(struct gt_diff_request *asked, const char *report);
static inline bool gt_diff_is_requested(const struct gt_diff_request *asked, const struct gt_diff_rule *rule)
{
	return asked->wanted[rule - gt_diff_rules];
}
static inline void gt_diff_request_table(struct gt_diff_request *asked, const struct gt_diff_rule *rule)
{
	asked->wanted[rule - gt_diff_rules] = true;
}
/* Runs the reports of what is asked, and the header, over a file. opt as for gt_run, but all rows are read whatever opt->top
 * says. */
int gt_side_read(struct gt_side *s, struct gt_reader *r, const struct gt_diff_request *asked, struct gt_analysis_options *opt,
		 unsigned threads, struct gt_err *err);
const struct gt_table *gt_side_table(const struct gt_side *s, const char *name);	/* borrowed; NULL: it was not made */
/* Was what this table tells of looked at? */
bool gt_side_recorded(const struct gt_side *s, const struct gt_diff_rule *rule);
void gt_side_release(struct gt_side *s);

/* ---- two ---- */

/* Rows of one table that are the same in two files; -1: not in that one. */
struct gt_row_pair { int a, b; };
/* By key, rows of the same key in their order; in the order of b, what is gone behind that. a or b NULL: has no rows. *pairs is
 * new. */
int gt_pair_rows(const struct gt_diff_rule *rule, const struct gt_table *a, const struct gt_table *b, struct gt_row_pair **pairs, size_t *n,
		 struct gt_err *err);
/* What people call a row: its label, or its keys, behind its rank where there are several. new; NULL: no memory. */
char *gt_row_name(const struct gt_diff_rule *rule, const struct gt_table *t, unsigned row);
/* A number as such, percents as percents; false: absent, or no number. */
bool gt_figure(const struct gt_diff_rule *rule, const struct gt_table *t, unsigned row, unsigned column, long double *v);
/* The part of a that b is more: (b - a) / |a|; 0 where both are 0, infinite where only a is 0. */
long double gt_change(long double a, long double b);

/* The tables "files", "verdicts", "names" (both only where names were asked for) and "figures", the caller's. Returns how many,
 * or negative. */
#define GT_DIFF_TABLES 4
int gt_diff(const struct gt_side *a, const struct gt_side *b, const struct gt_diff_request *asked, struct gt_table *tables[GT_DIFF_TABLES],
	    struct gt_err *err);

extern const struct gt_analysis gt_diff_names_report;	/* "names": operations with their scatter; not in gt_analyses */
#endif
