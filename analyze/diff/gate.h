/* Gates: limits for figures of reports, for CI. A gate fails if its condition is true:
 *
 *	kernels.p99 > 5ms		the value, of any kernel (of two files: in B)
 *	kernels.p99[*gemm*] > +5%	the change from A to B: a limit with a sign
 *	TABLE.COLUMN[NAME] OP LIMIT
 *
 * TABLE.COLUMN as in JSON, the column with or without its unit; NAME a shell pattern for the name
 *or a key of a row; OP one of > >= < <= == !=. A limit without a sign is a value in the unit of the
 * figure: 5ms, 10MiB, 50%, 3. One with a sign is a change: in % of the value of A (+5%), in points
 * for percentages (-2pp), or in the unit of the figure (+10MiB). */
#ifndef GT_GATE_H
#define GT_GATE_H
#include "analyze/diff/diff.h"
#include "formats/cmdline/opt.h"

enum gt_gate_op { GT_GATE_GT, GT_GATE_GE, GT_GATE_LT, GT_GATE_LE, GT_GATE_EQ, GT_GATE_NE };
enum gt_gate_unit {
	GT_UNIT_COUNT /* and whatever has none */,
	GT_UNIT_NS,
	GT_UNIT_BYTES,
	GT_UNIT_PERCENT
};
struct gt_gate {
	const char *text; /* borrowed */
	const struct gt_diff_rule *rule;
	char column[48]; /* its key */
	char name[160];  /* "": any row */
	enum gt_gate_op op;
	bool change, relative; /* the limit has a sign; it is in % of the value of A */
	long double limit;     /* in the unit of the figure, or percents */
};
/* two: two files are compared. On error, err has the column of the text (from 1) and the expected
 * words. */
int gt_gate_parse(struct gt_gate *g, const char *text, bool two, struct gt_err *err);

struct gt_gates {
	struct gt_gate *list;
	size_t n;
};
/* Release also after an error. */
int gt_gates_parse(
	struct gt_gates *gates, const struct gt_opt_list *texts, bool two, struct gt_err *err);
/* adds the tables that they need */
void gt_gates_request(const struct gt_gates *gates, struct gt_diff_request *request);
void gt_gates_release(struct gt_gates *gates);

/* made: tables of the comparison that gates may name ("verdicts"), or NULL. a NULL: there is one
 * file, b. *table: the table "gates", owned by the caller. Returns GT_EXIT_CLEAN, _FOUND or
 * _UNKNOWN (exit_status.h), or negative. */
int gt_gates_check(const struct gt_gates *gates, const struct gt_side *a, const struct gt_side *b,
	struct gt_table *const *made, unsigned nmade, struct gt_table **table, struct gt_err *err);
#endif
