/* What may be compared and gated: of each table, which columns tell its rows apart, which are figures, and whether more of them
 * is worse. Nothing of that is guessed from names or kinds: a table without a row in diff_rules.c is in no comparison and no
 * gate, and a test holds every column of those that have one to be in exactly one list. */
#ifndef GT_DIFF_RULES_H
#define GT_DIFF_RULES_H
#include <stdbool.h>
#include "analyze/core/analysis.h"

enum gt_diff_role {
	GT_DIFF_NONE,		/* not a figure to compare: a time of day, a process id, a drawing; or no column of the table */
	GT_DIFF_KEY, GT_DIFF_LABEL,
	GT_DIFF_LESS,		/* a figure that had better be less: a time, a failure */
	GT_DIFF_MORE,		/* a figure that had better be more: bandwidth, busy share */
	GT_DIFF_EITHER,		/* a figure of which neither is better: calls, bytes moved */
	GT_DIFF_TAIL,		/* a quantile, the less the better: it says something where `count` is 100 at least */
	GT_DIFF_GATE,		/* a figure for gates only: the comparison has it in another form, or would drown in it */
};
/* What of the comparison by name a report stands for. */
enum gt_diff_names { GT_NAMES_KERNELS = 1, GT_NAMES_COPIES = 2, GT_NAMES_CALLS = 4 /* and all others */, GT_NAMES_IOCTLS = 8 };

struct gt_diff_rule {
	const char *table;	/* its name; NULL ends the list */
	const char *report;	/* that makes it; NULL: the comparison itself does */
	unsigned layer;		/* enum gt_layer; not recorded, there is nothing to compare. GT_LAYER_COUNT: of no single one */
	unsigned names;		/* enum gt_diff_names, or 0 */
	bool in_default;	/* compared unless reports are named */
	bool findings;		/* a row is something that happened: no row means 0 */
	const char *state;	/* a column of words: where it says "clean" somebody looked and found nothing, and what is absent is 0; what is
				 * absent where it says anything else cannot be answered. NULL: none such */
	const char *label;	/* what people call a row, where that is not all of its keys */
	const char *keys;	/* columns that tell rows apart, as they stand in every list here: with blanks between. Rows whose keys
				 * are the same are compared in their order. NULL: the table has one row */
	const char *loose;	/* instead of keys where no row has the same in both files: the program goes by another name. NULL: no such */
	const char *less, *more, *either, *tail, *gates, *none;
};
#define GT_DIFF_RULES_MOST 96
extern const struct gt_diff_rule gt_diff_rules[];	/* in the order in which figures are shown */

const struct gt_diff_rule *gt_diff_rule(const char *table);			/* NULL: there is none */
const struct gt_analysis *gt_diff_report(const struct gt_diff_rule *rule);	/* NULL: see `report` above */
enum gt_diff_role gt_diff_role(const struct gt_diff_rule *rule, const char *column);
static inline bool gt_diff_is_figure(enum gt_diff_role role) { return role >= GT_DIFF_LESS; }

/* Walks the words of a list: for (const char *w = list; (w = gt_next_word(w, &len)); w += len). */
const char *gt_next_word(const char *list, size_t *len);
bool gt_list_has(const char *list, const char *word);	/* list may be NULL */
#endif
