/* What diff and gates can use: for each table, the columns that identify a row, the columns that
 * are figures, and whether a larger figure is worse. Nothing is guessed from names or kinds of
 * columns. A table without a row in diff_rules.c cannot be compared or gated. A test checks that
 * each column of the others is in exactly one list. */
#ifndef GT_DIFF_RULES_H
#define GT_DIFF_RULES_H
#include <stdbool.h>
#include "analyze/core/analysis.h"

enum gt_diff_role {
	/* not compared: a time of day, a process id, a drawing; or not a column of the table */
	GT_DIFF_NONE,
	GT_DIFF_KEY,
	GT_DIFF_LABEL,
	GT_DIFF_LESS,   /* smaller is better: a time, a number of failures */
	GT_DIFF_MORE,   /* larger is better: bandwidth, busy share */
	GT_DIFF_EITHER, /* neither is better: calls, bytes moved */
	GT_DIFF_TAIL,   /* a quantile, smaller is better: valid if `count` is at least 100 */
	/* for gates only: the comparison shows it in another form, or would become too long */
	GT_DIFF_GATE,
};
/* The part of the comparison by name that a report selects. */
enum gt_diff_names {
	GT_NAMES_KERNELS = 1,
	GT_NAMES_COPIES = 2,
	GT_NAMES_CALLS = 4 /* and all others */,
	GT_NAMES_IOCTLS = 8
};

struct gt_diff_rule {
	const char *table;  /* its name; NULL ends the list */
	const char *report; /* that makes the table; NULL: the comparison does */
	/* enum gt_layer: if it was not recorded, there is nothing to compare. GT_LAYER_COUNT: no
	 * single layer */
	unsigned layer;
	unsigned names;  /* enum gt_diff_names, or 0 */
	bool in_default; /* compared if no report is named */
	bool findings;   /* each row is an event or problem: no row means 0 */
	/* a column with the state of the row. "clean": the data was recorded and nothing was found,
	 * so absent figures are 0. Other values: absent figures are unknown. NULL: no such column
	 */
	const char *state;
	const char *label; /* columns that name a row in text, if not all of its keys */
	/* columns that identify a row, separated by blanks, as in all lists here. Rows with equal
	 * keys are compared in their order. NULL: the table has one row */
	const char *keys;
	/* a key that may differ between the files: it is ignored if no row has equal keys in both.
	 * NULL: "process", the program's name */
	const char *varies;
	const char *less, *more, *either, *tail, *gates, *none;
};
#define GT_DIFF_RULES_MOST 96
extern const struct gt_diff_rule gt_diff_rules[]; /* in the order in which figures are shown */

const struct gt_diff_rule *gt_diff_rule(const char *table); /* NULL: no such table */
/* NULL: see `report` above */
const struct gt_analysis *gt_diff_report(const struct gt_diff_rule *rule);
enum gt_diff_role gt_diff_role(const struct gt_diff_rule *rule, const char *column);
static inline bool gt_diff_is_figure(enum gt_diff_role role) { return role >= GT_DIFF_LESS; }

/* Iterates over the words of a list: for (const char *w = list; (w = gt_next_word(w, &len)); w
 * += len). */
const char *gt_next_word(const char *list, size_t *len);
bool gt_list_has(const char *list, const char *word); /* list may be NULL */
#endif
