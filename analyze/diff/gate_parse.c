/* Parses gates. Each error names the column and, if only certain words are valid there, lists
 * them with the most similar one first: users write gates for CI once, and may not remember the
 * names. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/diff/gate.h"
#include "formats/base/buf.h"
#include "formats/cmdline/did_you_mean.h"

struct parse {
	const char *text, *at;
	struct gt_err *err;
	bool two;
};

static void skip(struct parse *p) { p->at += strspn(p->at, " \t"); }

/* "--fail-if 'kernels.p98 > 5ms', column 9: there is no ..." */
#define wrong(p, where, fmt, ...)                                                                  \
	gt_err_set((p)->err, -EINVAL, "--fail-if '%.60s', column %d: " fmt, (p)->text,             \
		(int)((where) - (p)->text) + 1, ##__VA_ARGS__)

static size_t word(const char *s)
{
	size_t n = 0;

	while (isalnum((unsigned char)s[n]) || s[n] == '_')
		n++;
	return n;
}

/* Adds the most similar word, and all valid ones that fit. */
static int no_such(struct parse *p, const char *where, const char *what, const char *typed,
	const char *nearest, const struct gt_buf *all)
{
	int rc = nearest
		? wrong(p, where, "there is no %s '%.30s'; did you mean '%s'? There are: ", what,
			  typed, nearest)
		: wrong(p, where, "there is no %s '%.30s'; there are: ", what, typed);
	size_t len = p->err ? strlen(p->err->text) : 0,
	       room = p->err ? sizeof(p->err->text) - 1 - len : 0, n = all->len;

	if (!p->err || all->failed)
		return rc;
	if (n > room) { /* cut at a whole word, with a mark for more */
		for (n = room > 3 ? room - 3 : 0; n && all->data[n] != ' '; n--)
			;
		snprintf(p->err->text + len, room + 1, "%.*s ..", (int)n, (const char *)all->data);
	} else {
		snprintf(p->err->text + len, room + 1, "%.*s", (int)n, (const char *)all->data);
	}
	return rc;
}

/* ---- table and column ---- */

static int parse_table(struct parse *p, struct gt_gate *g)
{
	size_t n = word(p->at);
	char name[48];
	struct gt_nearest near = GT_NEAREST(name);
	struct gt_buf all = { 0 };
	int rc;

	snprintf(name, sizeof(name), "%.*s", (int)n, p->at);
	if (!n)
		return wrong(
			p, p->at, "a gate begins with TABLE.COLUMN, as in 'kernels.p99 > 5ms'");
	g->rule = gt_diff_rule(name);
	if (g->rule && !g->rule->report && !p->two)
		return wrong(p, p->at, "'%s' compares two files: gtanalyze diff A B", name);
	if (g->rule) {
		p->at += n;
		return 0;
	}
	for (const struct gt_diff_rule *r = gt_diff_rules; r->table; r++) {
		gt_nearest_try(&near, r->table);
		gt_buf_printf(&all, "%s%s", all.len ? " " : "", r->table);
	}
	rc = no_such(p, p->at, "table", name, near.best, &all);
	gt_buf_release(&all);
	return rc;
}

/* The length of a key without its unit: "p99" of "p99_ns". */
static size_t plain_length(const char *key, size_t len)
{
	static const char *const units[] = { "_ns", "_bytes", "_percent", "_gb_per_s" };

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		size_t n = strlen(units[i]);

		if (len > n && !memcmp(key + len - n, units[i], n))
			return len - n;
	}
	return len;
}

struct search {
	const char *typed;
	char found[2][48]; /* exact matches, or matches without a unit */
	unsigned n;
	bool exact;
	struct gt_buf all;
	char (*plain)[48]; /* all keys without units, for the most similar one */
	size_t nplain, cap;
};

static void search_list(struct search *s, const char *list)
{
	size_t len, typed = strlen(s->typed);

	for (const char *w = list; (w = gt_next_word(w, &len)); w += len) {
		size_t plain = plain_length(w, len);
		bool exact = len == typed && !memcmp(w, s->typed, len);

		gt_buf_printf(&s->all, "%s%.*s", s->all.len ? " " : "", (int)len, w);
		if (!gt_grow(&s->plain, &s->cap, s->nplain + 1, sizeof(*s->plain)))
			snprintf(s->plain[s->nplain++], sizeof(*s->plain), "%.*s", (int)plain, w);
		if (exact || (!s->exact && plain == typed && !memcmp(w, s->typed, plain))) {
			s->n = exact ? 0 : s->n;
			s->exact |= exact;
			if (s->n < 2)
				snprintf(s->found[s->n++], sizeof(*s->found), "%.*s", (int)len, w);
		}
	}
}

static int parse_column(struct parse *p, struct gt_gate *g)
{
	const struct gt_diff_rule *r = g->rule;
	const char *const lists[] = { r->gates, r->less, r->more, r->either, r->tail };
	size_t n = word(p->at);
	char typed[48];
	struct search s = { .typed = typed };
	struct gt_nearest near = GT_NEAREST(typed);
	int rc = 0;

	snprintf(typed, sizeof(typed), "%.*s", (int)n, p->at);
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		search_list(&s, lists[i]);
	for (size_t i = 0; i < s.nplain; i++)
		gt_nearest_try(&near, s.plain[i]);
	if (s.n == 1)
		snprintf(g->column, sizeof(g->column), "%s", s.found[0]);
	else if (s.n)
		rc = wrong(p, p->at, "'%s' may be %s or %s", typed, s.found[0], s.found[1]);
	else if (n && (gt_diff_role(r, typed) != GT_DIFF_NONE || gt_list_has(r->none, typed)))
		rc = wrong(p, p->at, "'%.30s' is no figure of %s; figures are: %.*s", typed,
			r->table, (int)s.all.len, (const char *)s.all.data);
	else
		rc = no_such(p, p->at, "figure", typed, near.best, &s.all);
	p->at += n;
	gt_buf_release(&s.all);
	free(s.plain);
	return rc;
}

/* ---- the rest ---- */

static int parse_name(struct parse *p, struct gt_gate *g)
{
	const char *open = p->at, *close;

	if (*p->at != '[')
		return 0;
	/* a pattern may contain brackets; an operator and a limit may not */
	close = strrchr(open, ']');
	if (!close)
		return wrong(p, open, "this [ has no ]");
	if (close == open + 1)
		return wrong(p, close, "a pattern is missing between [ and ]: [*] is any name");
	if ((size_t)(close - open) > sizeof(g->name))
		return wrong(p, open, "the pattern is too long");
	snprintf(g->name, sizeof(g->name), "%.*s", (int)(close - open - 1), open + 1);
	p->at = close + 1;
	return 0;
}

static int parse_op(struct parse *p, struct gt_gate *g)
{
	static const struct {
		const char *text;
		enum gt_gate_op op;
	} ops[] = {
		/* longer operators first */
		{ ">=", GT_GATE_GE },
		{ "<=", GT_GATE_LE },
		{ "==", GT_GATE_EQ },
		{ "!=", GT_GATE_NE },
		{ ">", GT_GATE_GT },
		{ "<", GT_GATE_LT },
	};

	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		if (!strncmp(p->at, ops[i].text, strlen(ops[i].text))) {
			g->op = ops[i].op;
			p->at += strlen(ops[i].text);
			return 0;
		}
	return wrong(p, p->at, "one of > >= < <= == != belongs here");
}

static enum gt_gate_unit unit_of(const char *column)
{
	size_t len = strlen(column), n = len - plain_length(column, len);

	if (!strcmp(column, "bytes"))
		return GT_UNIT_BYTES;
	return n == 3    ? GT_UNIT_NS
		: n == 6 ? GT_UNIT_BYTES
		: n == 8 ? GT_UNIT_PERCENT
			 : GT_UNIT_COUNT;
}

static const struct unit {
	const char *text;
	enum gt_gate_unit unit;
	long double scale;
} units[] = {
	{ "ns", GT_UNIT_NS, 1 },
	{ "us", GT_UNIT_NS, 1e3L },
	{ "ms", GT_UNIT_NS, 1e6L },
	{ "s", GT_UNIT_NS, 1e9L },
	{ "B", GT_UNIT_BYTES, 1 },
	{ "KiB", GT_UNIT_BYTES, 0x1p10L },
	{ "MiB", GT_UNIT_BYTES, 0x1p20L },
	{ "GiB", GT_UNIT_BYTES, 0x1p30L },
	{ "TiB", GT_UNIT_BYTES, 0x1p40L },
	{ "kB", GT_UNIT_BYTES, 1e3L },
	{ "KB", GT_UNIT_BYTES, 1e3L },
	{ "MB", GT_UNIT_BYTES, 1e6L },
	{ "GB", GT_UNIT_BYTES, 1e9L },
	{ "TB", GT_UNIT_BYTES, 1e12L },
	{ "%", GT_UNIT_PERCENT, 1 },
	{ "pp", GT_UNIT_PERCENT, 1 },
};

static int parse_unit(struct parse *p, struct gt_gate *g)
{
	static const char *const takes[] = { "a number without a unit", "ns, us, ms or s",
		"B, KiB, MiB, GiB, TiB, kB, MB, GB or TB", "%" };
	enum gt_gate_unit want = unit_of(g->column);
	const char *at = p->at;
	size_t n = *at == '%' ? 1 : strcspn(at, " \t");
	const struct unit *u = NULL;

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (n && strlen(units[i].text) == n && !memcmp(units[i].text, at, n))
			u = &units[i];
	p->at += n;
	if (n && !u)
		return wrong(p, at, "'%.20s' is no unit; %s takes %s%s", at, g->column, takes[want],
			g->change ? ", or % of A" : "");
	g->relative = u && *u->text == '%' && g->change;
	if (g->relative)
		return 0;
	if (u && *u->text == '%' && want != GT_UNIT_PERCENT)
		return wrong(p, at, "%% without a sign: a change is +5%% or -5%%; %s takes %s",
			g->column, takes[want]);
	if (u && !strcmp(u->text, "pp") && !g->change)
		return wrong(p, at, "pp is for a change: +2pp or -2pp; a value is in %%");
	if (u ? u->unit != want : want != GT_UNIT_COUNT && g->limit != 0)
		return wrong(p, at, "%s takes %s%s", g->column,
			want == GT_UNIT_PERCENT && g->change ? "pp" : takes[want],
			g->change ? ", or % of A" : "");
	g->limit *= u ? u->scale : 1;
	if (fabsl(g->limit - roundl(g->limit)) < 1e-6L) /* makes 0.1 ms exactly 100000 ns */
		g->limit = roundl(g->limit);
	return 0;
}

static int parse_limit(struct parse *p, struct gt_gate *g)
{
	const char *at = p->at;
	size_t digits;
	char number[40];

	g->change = *at == '+' || *at == '-';
	p->at += g->change;
	digits = strspn(p->at, "0123456789.");
	snprintf(number, sizeof(number), "%.*s", (int)digits, p->at);
	if (!digits || digits >= sizeof(number) || strchr(number, '.') != strrchr(number, '.') ||
		!number[strspn(number, ".")])
		return wrong(p, p->at,
			"a limit belongs here: a value like 5ms, 10MiB, 50%%, 3, or a change like +5%%");
	if (g->change && !p->two)
		return wrong(
			p, at, "a change needs two files: gtanalyze diff A B; a value has no sign");
	if (g->change && !g->rule->report)
		return wrong(p, at, "%s compares both files already: its limit has no sign",
			g->rule->table);
	g->limit = strtold(number, NULL) * (*at == '-' ? -1 : 1);
	p->at += digits;
	skip(p);
	return parse_unit(p, g);
}

int gt_gate_parse(struct gt_gate *g, const char *text, bool two, struct gt_err *err)
{
	struct parse p = { text, text, err, two };
	int rc;

	*g = (struct gt_gate){ .text = text };
	skip(&p);
	rc = parse_table(&p, g);
	if (!rc && *p.at != '.')
		rc = wrong(&p, p.at, "expected . and a column of %s, for example kernels.p99",
			g->rule->table);
	p.at += !rc;
	if (!rc)
		rc = parse_column(&p, g);
	if (!rc)
		rc = parse_name(&p, g);
	skip(&p);
	if (!rc)
		rc = parse_op(&p, g);
	skip(&p);
	if (!rc)
		rc = parse_limit(&p, g);
	skip(&p);
	return !rc && *p.at ? wrong(&p, p.at, "the gate ends before '%.20s'", p.at) : rc;
}

int gt_gates_parse(
	struct gt_gates *gates, const struct gt_opt_list *texts, bool two, struct gt_err *err)
{
	int rc = 0;

	gates->list = calloc(texts->n + 1, sizeof(*gates->list));
	if (!gates->list)
		return gt_err_set(err, -ENOMEM, "out of memory (%zu gates)", texts->n);
	for (; !rc && gates->n < texts->n; gates->n++)
		rc = gt_gate_parse(&gates->list[gates->n], texts->items[gates->n], two, err);
	return rc;
}

void gt_gates_request(const struct gt_gates *gates, struct gt_diff_request *request)
{
	for (size_t i = 0; i < gates->n; i++)
		gt_diff_request_table(request, gates->list[i].rule);
}

void gt_gates_release(struct gt_gates *gates)
{
	free(gates->list);
	*gates = (struct gt_gates){ 0 };
}
