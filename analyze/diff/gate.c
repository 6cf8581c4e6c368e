/* Checks gates. A gate passes only if it was compared with a figure. If the figure was not
 * recorded, or no row has the name, the gate "cannot answer": CI sees another exit status, never
 * a pass. */
#include "analyze/diff/gate.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/core/exit_status.h"
#include "analyze/core/report.h"
#include "formats/base/numbers.h"

struct gate_result {
	const struct gt_gate *gate;
	const struct gt_side *a, *b;
	/* ta NULL: the gate is about a value, or the table is missing */
	const struct gt_table *ta, *tb;
	unsigned matched, compared,
		failed;         /* rows with the name; compared with the limit; beyond it */
	unsigned absent, alone; /* rows without the figure; rows in one file only */
	unsigned unanswered;    /* rows whose state is "cannot answer" */
	int half;               /* 0, or the file that lacks a figure of the other: 'A', 'B' */
	struct gt_row_pair worst;
	long double worst_by;
};

static bool is_beyond(enum gt_gate_op op, long double v, long double limit)
{
	switch (op) {
	case GT_GATE_GT: return v > limit;
	case GT_GATE_GE: return v >= limit;
	case GT_GATE_LT: return v < limit;
	case GT_GATE_LE: return v <= limit;
	case GT_GATE_EQ: return v == limit;
	default: return v != limit;
	}
}

/* Does the pattern match the row's name, or one of its keys? */
static bool row_matches(const struct gt_gate *g, const struct gt_table *t, unsigned row)
{
	const char *const lists[] = { g->rule->label, g->rule->keys, "rank" };
	char *name;
	bool matches;

	if (!*g->name)
		return true;
	name = gt_row_name(g->rule, t, row);
	matches = name && !fnmatch(g->name, name, 0);
	free(name);
	for (size_t i = 0; !matches && i < 3; i++) {
		size_t len;

		for (const char *w = lists[i]; (w = gt_next_word(w, &len)); w += len) {
			char key[48];
			int column;

			snprintf(key, sizeof(key), "%.*s", (int)len, w);
			column = gt_table_column(t, key);
			if (column >= 0) {
				const struct gt_cell *c = gt_table_cell(t, row, (unsigned)column);
				char number[24];

				snprintf(number, sizeof(number), "%lld", (long long)c->i);
				matches |= !c->absent && !fnmatch(g->name, c->s ? c->s : number, 0);
			}
		}
	}
	return matches;
}

/* Was the data recorded? Then no finding is an answer. */
static bool is_recorded(const struct gt_side *s, const struct gt_diff_rule *rule)
{
	return gt_side_is_recorded(s, rule) && !s->nothing_selected;
}

/* Does a missing row mean 0? Yes for tables in which each row is an event or problem. */
static bool value_of(const struct gate_result *j, const struct gt_side *side,
	const struct gt_table *t, int row, long double *v)
{
	int column = t ? gt_table_column(t, j->gate->column) : -1;

	*v = 0;
	if (row < 0)
		return j->gate->rule->findings && t && is_recorded(side, j->gate->rule);
	return column >= 0 && gt_figure(j->gate->rule, t, (unsigned)row, (unsigned)column, v);
}

static long double measure(const struct gt_gate *g, long double a, long double b)
{
	if (!g->change)
		return b;
	if (!g->relative)
		return b - a;
	/* this order of operations is exact: 5 % of 1000 is 50 */
	return a == 0 ? gt_change(a, b) : (b - a) * 100 / fabsl(a);
}

static void compare_row(struct gate_result *j, struct gt_row_pair p, long double v)
{
	enum gt_gate_op op = j->gate->op;
	bool fails = is_beyond(op, v, j->gate->limit),
	     worse = op == GT_GATE_LT || op == GT_GATE_LE ? v < j->worst_by : v > j->worst_by;

	if (op == GT_GATE_EQ || op == GT_GATE_NE)
		worse = fails && !j->failed;
	if (!j->compared || worse) {
		j->worst = p;
		j->worst_by = v;
	}
	j->compared++;
	j->failed += fails;
}

static void check_table(struct gate_result *j, struct gt_row_pair p)
{
	bool in_b = p.b >= 0, has_a, has_b;
	long double a, b;

	if (!row_matches(j->gate, in_b ? j->tb : j->ta, (unsigned)(in_b ? p.b : p.a)))
		return;
	j->matched++;
	has_a = value_of(j, j->a, j->ta, p.a, &a);
	has_b = value_of(j, j->b, j->tb, p.b, &b);
	if (has_b && (has_a || !j->gate->change))
		compare_row(j, p, measure(j->gate, a, b));
	else if (j->gate->rule->state)
		j->unanswered++;
	else if (j->gate->change && (p.a < 0 || p.b < 0))
		j->alone++;
	else if (has_a || has_b)
		j->half = has_a ? 'B' : 'A';
	else
		j->absent++;
}

static int check_gate(struct gate_result *j, struct gt_err *err)
{
	struct gt_row_pair *pairs;
	size_t n;
	int rc = gt_pair_rows(j->gate->rule, j->ta, j->tb, &pairs, &n, err);

	for (size_t i = 0; !rc && i < n; i++)
		check_table(j, pairs[i]);
	free(pairs);
	return rc;
}

static enum gt_exit outcome(const struct gate_result *j)
{
	const struct gt_diff_rule *rule = j->gate->rule;
	bool nothing_found = rule->findings && !j->matched && is_recorded(j->b, rule) &&
		(!j->gate->change || is_recorded(j->a, rule));

	return j->failed                                                       ? GT_EXIT_FOUND
		: !j->half && !j->unanswered && (j->compared || nothing_found) ? GT_EXIT_CLEAN
									       : GT_EXIT_UNKNOWN;
}

/* ---- the table ---- */

static void why_unknown(const struct gate_result *j, char *to, size_t size)
{
	const struct gt_diff_rule *rule = j->gate->rule;
	bool a_missing = j->gate->change && !gt_side_is_recorded(j->a, rule),
	     b_missing = !gt_side_is_recorded(j->b, rule);
	const char *which = !j->a        ? ""
		: a_missing && b_missing ? " in A and B"
		: a_missing              ? " in A"
		: b_missing              ? " in B"
					 : "";

	if (a_missing || b_missing)
		snprintf(to, size, "%s was not recorded%s",
			rule->layer == GT_LAYER_GPU ? "GPU work" : gt_layer_word(rule->layer),
			which);
	else if (j->unanswered)
		snprintf(to, size, "%u row%s cannot answer: gtanalyze %s says why", j->unanswered,
			gt_plural(j->unanswered, "s"), rule->table);
	else if (j->half)
		snprintf(to, size, "not recorded in %c", j->half);
	else if (j->b->nothing_selected || (j->gate->change && j->a->nothing_selected))
		snprintf(to, size, "nothing matched the options");
	else if (!rule->report && !j->tb)
		snprintf(to, size,
			"this gate needs the comparison by name: select the report kernels, copies, top or ioctls, or no report");
	else if (!j->matched && *j->gate->name)
		snprintf(to, size, "no row matches %.60s", j->gate->name);
	else if (!j->matched)
		snprintf(to, size, "there is no row");
	else if (j->alone)
		snprintf(to, size, "%u row%s in one file only, none in both", j->alone,
			gt_plural(j->alone, "s"));
	else
		snprintf(to, size, "not recorded");
}

static void why(const struct gate_result *j, char *to, size_t size)
{
	int n = 0;

	*to = '\0';
	if (outcome(j) == GT_EXIT_UNKNOWN) {
		why_unknown(j, to, size);
		return;
	}
	if (j->compared > 1)
		n = j->failed ? snprintf(to, size, "%u of %u rows", j->failed, j->compared)
			      : snprintf(to, size, "%u rows", j->compared);
	if (j->absent)
		n += snprintf(to + n, size - (size_t)n, "%s%u without this figure", n ? "; " : "",
			j->absent);
	if (j->alone)
		snprintf(
			to + n, size - (size_t)n, "%s%u in one file only", n ? "; " : "", j->alone);
}

#define GATE_COLUMNS                                                                               \
	{ "state", "State", GT_C_WHOLE }, { "gate", "Fails if", GT_C_WHOLE },                      \
	{                                                                                          \
		"row", "Of", GT_C_TEXT                                                             \
	}
#define WHY_COLUMNS                                                                                \
	{ "why", "", GT_C_WHOLE }, { "rows", NULL, GT_C_COUNT }, { "failed", NULL, GT_C_COUNT },   \
		{ "without", NULL, GT_C_COUNT },                                                   \
	{                                                                                          \
		"in_one_only", NULL, GT_C_COUNT                                                    \
	}
static const struct gt_column columns_of_two[] = { GATE_COLUMNS, { "a", "A", GT_C_FIGURE },
	{ "b", "B", GT_C_FIGURE }, { "change_percent", "Change %", GT_C_PERCENT }, WHY_COLUMNS };
static const struct gt_column columns_of_one[] = { GATE_COLUMNS, { "value", "Value", GT_C_FIGURE },
	WHY_COLUMNS };

static struct gt_cell figure(const struct gate_result *j, const struct gt_table *t, int row)
{
	int column = t && row >= 0 ? gt_table_column(t, j->gate->column) : -1;
	struct gt_cell c = column >= 0 && j->compared
		? *gt_table_cell(t, (unsigned)row, (unsigned)column)
		: gt_cell_none();
	unsigned n;

	c.kind = column >= 0 ? gt_table_columns(t, &n)[column].kind : GT_C_COUNT;
	return c;
}

static int put_gate(struct gt_table *t, const struct gate_result *j)
{
	static const char *const states[] = { [GT_EXIT_CLEAN] = "passed",
		[GT_EXIT_FOUND] = "failed",
		[GT_EXIT_UNKNOWN] = "cannot answer" };
	static const enum gt_tone tones[] = { [GT_EXIT_CLEAN] = GT_TONE_GOOD,
		[GT_EXIT_FOUND] = GT_TONE_BAD,
		[GT_EXIT_UNKNOWN] = GT_TONE_NOTE };
	bool in_b = j->worst.b >= 0;
	char *row = j->compared ? gt_row_name(j->gate->rule, in_b ? j->tb : j->ta,
					  (unsigned)(in_b ? j->worst.b : j->worst.a))
				: strdup("");
	struct gt_cell cells[16], a = figure(j, j->ta, j->worst.a),
				  b = figure(j, j->tb, j->worst.b);
	long double va = 0, vb = 0, change;
	char text[160];
	unsigned n = 0;

	if (!row)
		return -ENOMEM;
	why(j, text, sizeof(text));
	cells[n++] = gt_cell_toned(gt_cell_text(states[outcome(j)]), tones[outcome(j)]);
	cells[n++] = gt_cell_text(j->gate->text);
	cells[n++] = *row ? gt_cell_text(row) : gt_cell_none();
	if (j->a) {
		bool both = j->compared && value_of(j, j->a, j->ta, j->worst.a, &va) &&
			value_of(j, j->b, j->tb, j->worst.b, &vb);

		change = gt_change(va, vb);
		cells[n++] = a;
		cells[n++] = b;
		cells[n++] = both && isfinite(change) && fabsl(change) < 1e12L
			? (struct gt_cell){ .change = true, .i = llroundl(change * 10000) }
			: gt_cell_none();
	} else {
		cells[n++] = b;
	}
	cells[n++] = gt_cell_text(text);
	cells[n++] = gt_cell_u(j->compared);
	cells[n++] = gt_cell_u(j->failed);
	cells[n++] = gt_cell_u(j->absent);
	cells[n++] = gt_cell_u(j->alone);
	gt_table_add(t, cells);
	free(row);
	return 0;
}

static const struct gt_table *find_table(struct gt_table *const *made, unsigned n, const char *name)
{
	for (unsigned i = 0; i < n; i++)
		if (!strcmp(gt_table_name(made[i]), name))
			return made[i];
	return NULL;
}

int gt_gates_check(const struct gt_gates *gates, const struct gt_side *a, const struct gt_side *b,
	struct gt_table *const *made, unsigned nmade, struct gt_table **table, struct gt_err *err)
{
	enum gt_exit status = GT_EXIT_CLEAN;
	int rc = 0;

	*table = a ? gt_table_new("gates", "Gates", columns_of_two,
			     sizeof(columns_of_two) / sizeof(*columns_of_two))
		   : gt_table_new("gates", "Gates", columns_of_one,
			     sizeof(columns_of_one) / sizeof(*columns_of_one));
	for (size_t i = 0; !rc && *table && i < gates->n; i++) {
		const struct gt_gate *g = &gates->list[i];
		struct gate_result j = { .gate = g, .a = a, .b = b };

		j.ta = a && g->change ? gt_side_table(a, g->rule->table) : NULL;
		j.tb = g->rule->report ? gt_side_table(b, g->rule->table)
				       : find_table(made, nmade, g->rule->table);
		rc = check_gate(&j, err);
		if (!rc && put_gate(*table, &j))
			rc = gt_err_set(err, -ENOMEM, "out of memory (gates)");
		status = gt_exit_worse(status, outcome(&j));
	}
	if (!*table)
		return gt_err_set(err, -ENOMEM, "out of memory (gates)");
	return rc ? rc : (int)status;
}
