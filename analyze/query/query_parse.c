/* Reads the expression of --where.
 *
 *	any   = all { "||" all }
 *	all   = not { "&&" not }
 *	not   = "!" not | "(" any ")" | test
 *	field = FIELD | "arg." TEXT IN QUOTES
 *	test  = field [ "==" | "!=" | "<" | "<=" | ">" | ">=" | "~" | "!~" literal ]
 *
 * The field decides the form of its literal: 1.5ms for a duration, 4KiB for a size, one of a few
 * words for a kind, a text in quotes or without. After "~" or "!~": /a regular expression/, else a
 * shell pattern. Each error names its place. Nesting, nodes and the repetitions of a regular
 * expression are limited, so no input is expensive.
 */
#define _GNU_SOURCE /* asprintf */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "analyze/query/query.h"
#include "formats/cmdline/did_you_mean.h"
#include "formats/text/regex_check.h"

struct parse {
	struct gt_query *q;
	const char *text;
	unsigned at, depth;
	struct gt_err *err;
};
enum operator{ NO_OPERATOR, IS, IS_NOT, LESS, LESS_OR_SAME, MORE, MORE_OR_SAME, LIKE, NOT_LIKE };

static int parse_any(struct parse *p);

static void skip_blanks(struct parse *p)
{
	while (isspace((unsigned char)p->text[p->at]))
		p->at++;
}

static bool take(struct parse *p, const char *sign)
{
	skip_blanks(p);
	if (strncmp(p->text + p->at, sign, strlen(sign)) != 0)
		return false;
	p->at += (unsigned)strlen(sign);
	return true;
}

static int add_node(struct parse *p, const struct gt_query_node *node)
{
	if (p->q->nnodes == GT_QUERY_NODES)
		return gt_err_at(p->err, p->at, -EINVAL, "more than %u conditions", GT_QUERY_NODES);
	p->q->nodes[p->q->nnodes] = *node;
	return (int)p->q->nnodes++;
}

/* ---- literals ---- */

/* The length of the text up to a blank or an operator. */
static unsigned word_length(const char *s)
{
	unsigned n = 0;

	while (s[n] && !isspace((unsigned char)s[n]) && !strchr("()&|!<>=~\"',", s[n]))
		n++;
	return n;
}

/* Reads a text: in quotes, or up to the closing slash; `close` within it needs a backslash; or
 * an unquoted word. The caller frees it. NULL with err filled in. */
static char *read_text(struct parse *p, char close)
{
	const char *s = p->text + p->at;
	size_t n = 0, len = close ? 1 : word_length(s);
	char *text = malloc(strlen(s) + 1);

	if (!text)
		return gt_err_set(p->err, -ENOMEM, "out of memory (query)"), NULL;
	if (!close)
		memcpy(text, s, n = len);
	for (; close && s[len] && s[len] != close; len++) {
		if (s[len] == '\\' && (s[len + 1] == close || (close != '/' && s[len + 1] == '\\')))
			len++;
		text[n++] = s[len];
	}
	text[n] = '\0';
	if (close && !s[len]) {
		free(text);
		return gt_err_at(p->err, p->at, -EINVAL, "the closing %c is missing", close), NULL;
	}
	p->at += (unsigned)len + !!close;
	return text;
}

struct unit {
	const char *name;
	long double by;
};
static const struct unit times[] = { { "ns", 1 }, { "us", 1e3L }, { "ms", 1e6L }, { "s", 1e9L },
	{ "min", 60e9L }, { NULL, 0 } };
static const struct unit sizes[] = {
	{ "B", 1 },
	{ "KiB", 0x1p10L },
	{ "MiB", 0x1p20L },
	{ "GiB", 0x1p30L },
	{ "TiB", 0x1p40L },
	{ "K", 0x1p10L },
	{ "M", 0x1p20L },
	{ "G", 0x1p30L },
	{ "kB", 1e3L },
	{ "KB", 1e3L },
	{ "MB", 1e6L },
	{ "GB", 1e9L },
	{ "TB", 1e12L },
	{ NULL, 0 },
};

static const struct unit *find_unit(const struct unit *units, const char *s, size_t len)
{
	for (; units->name; units++)
		if (strlen(units->name) == len && !memcmp(units->name, s, len))
			return units;
	return NULL;
}

/* Values that are almost whole become whole: 0.3s is 300,000,000 ns, although 0.3 is not exact
 * in binary. */
static long double whole(long double v)
{
	long double near = roundl(v);

	return fabsl(v - near) < 1e-6L ? near : v;
}

static bool is_time(enum gt_query_class class)
{
	return class == GT_Q_TIME || class == GT_Q_MOMENT;
}

static int wrong_unit(struct parse *p, enum gt_query_class class, const char *unit)
{
	unsigned column = (unsigned)(unit - p->text), len = word_length(unit);

	if (is_time(class) && !len)
		return gt_err_at(p->err, column, -EINVAL, "a time needs a unit: ns us ms s min");
	if (is_time(class))
		return gt_err_at(p->err, column, -EINVAL,
			"'%.*s' is not a unit of time: ns us ms s min", (int)(len < 20 ? len : 20),
			unit);
	if (class == GT_Q_BYTES)
		return gt_err_at(p->err, column, -EINVAL,
			"'%.*s' is not a unit of size: B KiB MiB GiB TiB kB MB GB TB",
			(int)(len < 20 ? len : 20), unit);
	return gt_err_at(p->err, column, -EINVAL, "this number takes no unit, but '%.*s' follows",
		(int)(len < 20 ? len : 20), unit);
}

/* Reads a number with its unit. Returns 0 or negative. */
static int read_number(struct parse *p, enum gt_query_class class, long double *number)
{
	const char *s = p->text + p->at;
	char *end;
	size_t len;
	const struct unit *unit = NULL;

	*number = strtold(s, &end);
	if (end == s || !isfinite(*number) || isspace((unsigned char)*s))
		return gt_err_at(p->err, p->at, -EINVAL, "expected a number%s",
			is_time(class)                ? ", such as 1.5ms"
				: class == GT_Q_BYTES ? ", such as 4KiB"
						      : "");
	len = word_length(end);
	if (len && (is_time(class) || class == GT_Q_ANY))
		unit = find_unit(times, end, len);
	if (len && !unit && (class == GT_Q_BYTES || class == GT_Q_ANY))
		unit = find_unit(sizes, end, len);
	if (len ? !unit : is_time(class) && *number != 0)
		return wrong_unit(p, class, end);
	*number = whole(*number * (unit ? unit->by : 1));
	p->at = (unsigned)(end - p->text + (long)len);
	return 0;
}

/* ---- tests ---- */

static void whole_range(struct gt_query_node *n)
{
	long double low = ceill(n->low), high = floorl(n->high);

	low += n->low_open && low == n->low ? 1 : 0;
	high -= n->high_open && high == n->high ? 1 : 0;
	n->ilow = low <= -0x1p63L ? INT64_MIN : low >= 0x1p63L ? INT64_MAX : (int64_t)low;
	n->ihigh = high >= 0x1p63L ? INT64_MAX : high <= -0x1p63L ? INT64_MIN : (int64_t)high;
	n->ulow = low <= 0 ? 0 : low >= 0x1p64L ? UINT64_MAX : (uint64_t)low;
	n->uhigh = high <= 0 ? 0 : high >= 0x1p64L ? UINT64_MAX : (uint64_t)high;
	if (low > high || low >= 0x1p63L || high < -0x1p63L)
		n->ilow = INT64_MAX, n->ihigh = INT64_MIN;
	if (low > high || low >= 0x1p64L || high < 0)
		n->ulow = UINT64_MAX, n->uhigh = 0;
}

static void set_range(struct gt_query_node *n, enum operator operator, long double number)
{
	n->test = GT_Q_RANGE;
	n->has_number = true;
	n->low = operator== LESS || operator== LESS_OR_SAME ? -INFINITY : number;
	n->high = operator== MORE || operator== MORE_OR_SAME ? INFINITY : number;
	n->low_open = operator== MORE;
	n->high_open = operator== LESS;
	n->negated = operator== IS_NOT;
	whole_range(n);
}

static int no_such_word(struct parse *p, unsigned column, enum gt_query_id id, const char *word)
{
	const char *const *words = gt_query_words(id), *meant = gt_nearest_of(word, words);
	char list[160] = "";

	if (meant)
		return gt_err_at(p->err, column, -EINVAL,
			"there is no %s '%.40s'; did you mean '%s'?", gt_query_field(id)->name,
			word, meant);
	for (size_t n = 0; *words; words++)
		n += (size_t)snprintf(list + n, sizeof(list) - n, " %s", *words);
	return gt_err_at(
		p->err, column, -EINVAL, "invalid value '%.20s'; choose one of%s", word, list);
}

/* The words that match, as bits. */
static int set_words(
	struct parse *p, struct gt_query_node *n, enum operator operator, unsigned column)
{
	enum gt_query_id id = p->q->uses[n->use].id;
	const char *const *words = gt_query_words(id);
	bool like = operator== LIKE || operator== NOT_LIKE;

	for (unsigned i = 0; words[i]; i++)
		if (like ? gt_query_text_matches(n, words[i]) : !strcasecmp(words[i], n->text))
			n->words |= GT_BIT(i);
	if (!n->words && !like)
		return no_such_word(p, column, id, n->text);
	if (n->negated)
		n->words = ~n->words;
	n->negated = false;
	n->test = GT_Q_WORDS;
	return 0;
}

static int compile(struct parse *p, struct gt_query_node *n, unsigned column)
{
	const char *refusal =
		strlen(n->text) > 500 ? "it has more than 500 letters" : gt_regex_refusal(n->text);
	char why[100];
	int rc;

	if (refusal)
		return gt_err_at(p->err, column, -EINVAL,
			"this regular expression is not supported: %s", refusal);
	n->regex = calloc(1, sizeof(*n->regex));
	if (!n->regex)
		return gt_err_set(p->err, -ENOMEM, "out of memory (query)");
	rc = regcomp(n->regex, n->text, REG_EXTENDED | REG_NOSUB);
	if (!rc)
		return 0;
	regerror(rc, n->regex, why, sizeof(why));
	free(n->regex);
	n->regex = NULL;
	return gt_err_at(p->err, column, -EINVAL, "invalid regular expression: %s", why);
}

static int set_text(struct parse *p, struct gt_query_node *n, enum operator operator)
{
	bool like = operator== LIKE || operator== NOT_LIKE;
	unsigned column = p->at;
	char c = p->text[p->at], close = c == '"' || c == '\'' || (c == '/' && like) ? c : 0;
	enum gt_query_class class = gt_query_field(p->q->uses[n->use].id)->class;

	if (c == '/' && !like)
		return gt_err_at(p->err, column, -EINVAL,
			"a regular expression goes with ~ or !~; quote a text that begins with /");
	n->text = read_text(p, close);
	if (!n->text)
		return p->err->code;
	if (!close && !*n->text)
		return gt_err_at(p->err, column, -EINVAL,
			"expected a %s: '~' takes /a regular expression/ or a pattern*",
			class == GT_Q_WORD ? "word" : "text");
	n->negated = operator== IS_NOT || operator== NOT_LIKE;
	n->test = like ? close == '/' ? GT_Q_REGEX : GT_Q_GLOB : GT_Q_IS;
	if (close == '/' && compile(p, n, column))
		return p->err->code;
	return class == GT_Q_WORD ? set_words(p, n, operator, column) : 0;
}

/* A field that may be a number or a text. The literal decides; a number is tested as both. */
static int set_any(struct parse *p, struct gt_query_node *n, enum operator operator)
{
	unsigned at = p->at;
	long double number = 0;
	struct gt_err ignored = GT_ERR_INIT, *err = p->err;
	bool is_number, text_too = operator== IS || operator== IS_NOT;

	p->err = &ignored;
	is_number = operator<LIKE && !read_number(p, GT_Q_ANY, &number);
	p->err = err;
	if (!is_number && !text_too && operator<LIKE)
		return p->at = at, read_number(p, GT_Q_ANY, &number);
	if (is_number)
		set_range(n, operator, number);
	if (is_number && !text_too)
		return 0;
	p->at = at;
	return set_text(p, n, operator);
}

static int set_yes(struct parse *p, struct gt_query_node *n, enum operator operator)
{
	unsigned len = word_length(p->text + p->at);
	static const char *const words[] = { "0", "1", "no", "yes", "false", "true" };

	for (unsigned i = 0; i < 6; i++)
		if (strlen(words[i]) == len && !memcmp(words[i], p->text + p->at, len)) {
			p->at += len;
			set_range(n, operator, i & 1);
			return 0;
		}
	return gt_err_at(p->err, p->at, -EINVAL, "expected yes or no");
}

static int set_literal(struct parse *p, struct gt_query_node *n, enum operator operator)
{
	enum gt_query_class class = gt_query_field(p->q->uses[n->use].id)->class;
	long double number;
	int rc;

	skip_blanks(p);
	if (class == GT_Q_TEXT || class == GT_Q_WORD)
		return set_text(p, n, operator);
	if (class == GT_Q_ANY)
		return set_any(p, n, operator);
	if (class == GT_Q_YES)
		return set_yes(p, n, operator);
	rc = read_number(p, class, &number);
	if (!rc)
		set_range(n, operator, number);
	return rc;
}

/* Does this field support that operator? */
static int check_operator(
	struct parse *p, const struct gt_query_node *n, enum operator operator, unsigned column)
{
	const struct gt_query_field *f = gt_query_field(p->q->uses[n->use].id);
	bool text = f->class == GT_Q_TEXT || f->class == GT_Q_WORD;

	if (text && operator>= LESS && operator<= MORE_OR_SAME)
		return gt_err_at(p->err, column, -EINVAL, "%s is a %s: it takes == != ~ !~",
			f->name, f->class == GT_Q_TEXT ? "text" : "word");
	if (!text && operator>= LIKE && f->class != GT_Q_ANY)
		return gt_err_at(p->err, column, -EINVAL,
			"%s is a number: it takes == != < <= > >=", f->name);
	if (f->class == GT_Q_YES && operator!= IS && operator!= IS_NOT)
		return gt_err_at(p->err, column, -EINVAL,
			"%s is yes or no: it is used alone, or with == !=", f->name);
	return 0;
}

static enum operator read_operator(struct parse *p)
{
	static const struct {
		const char *sign;
		enum operator operator;
	} operators[] = {
		{ "==", IS },
		{ "!=", IS_NOT },
		{ "<=", LESS_OR_SAME },
		{ "<", LESS },
		{ ">=", MORE_OR_SAME },
		{ ">", MORE },
		{ "!~", NOT_LIKE },
		{ "~", LIKE },
	};

	for (unsigned i = 0; i < sizeof(operators) / sizeof(*operators); i++)
		if (take(p, operators[i].sign))
			return operators[i].operator;
	return NO_OPERATOR;
}

void gt_query_release_node(struct gt_query_node *n)
{
	free(n->text);
	if (n->regex)
		regfree(n->regex);
	free(n->regex);
}

/* arg."NAME": the name of an argument may contain blanks and operators. Returns the index of its
 * use, or negative. */
static int read_quoted_arg(struct parse *p)
{
	unsigned column = p->at;
	char *name, *field = NULL;
	int rc;

	p->at += 4;
	name = read_text(p, p->text[p->at]);
	if (!name)
		return p->err->code;
	if (asprintf(&field, "arg.%s", name) < 0)
		field = NULL;
	rc = field ? gt_query_use(p->q, field, (unsigned)strlen(field), column, p->err)
		   : gt_err_set(p->err, -ENOMEM, "out of memory (query)");
	free(field);
	free(name);
	return rc;
}

/* Returns the index of the field's use, or negative. */
static int read_field(struct parse *p)
{
	const char *s = p->text + p->at;
	unsigned len = word_length(s);
	int rc;

	if (!len)
		return gt_err_at(p->err, p->at, -EINVAL,
			*s ? "expected a field" : "the expression is incomplete");
	if (len == 4 && !strncmp(s, "arg.", 4) && (s[4] == '"' || s[4] == '\''))
		return read_quoted_arg(p);
	rc = gt_query_use(p->q, s, len, p->at, p->err);
	p->at += rc < 0 ? 0 : len;
	return rc;
}

static int parse_test(struct parse *p)
{
	struct gt_query_node n = { .op = GT_Q_TEST, .test = GT_Q_THERE, .column = p->at };
	unsigned column;
	enum operator operator;
	int rc;

	rc = read_field(p);
	if (rc < 0)
		return rc;
	n.use = (uint8_t)rc;
	skip_blanks(p);
	column = p->at;
	operator= read_operator(p);
	rc = operator? check_operator(p, &n, operator, column) : 0;
	if (!rc && operator)
		rc = set_literal(p, &n, operator);
	n.length = p->at - n.column;
	if (!rc)
		rc = add_node(p, &n);
	if (rc < 0)
		gt_query_release_node(&n);
	return rc;
}

static int parse_not(struct parse *p)
{
	int rc;

	if (++p->depth > GT_QUERY_DEPTH)
		return gt_err_at(
			p->err, p->at, -EINVAL, "nested more than %u deep", GT_QUERY_DEPTH);
	if (take(p, "!")) {
		rc = parse_not(p);
		if (rc >= 0)
			rc = add_node(
				p, &(struct gt_query_node){ .op = GT_Q_NOT, .left = (uint8_t)rc });
	} else if (take(p, "(")) {
		unsigned open = p->at - 1;

		rc = parse_any(p);
		if (rc >= 0 && !take(p, ")"))
			rc = p->text[p->at]
				? gt_err_at(p->err, p->at, -EINVAL, "expected && or || or )")
				: gt_err_at(p->err, open, -EINVAL, "this ( has no closing )");
	} else {
		rc = parse_test(p);
	}
	p->depth--;
	return rc;
}

static int parse_all(struct parse *p)
{
	int rc = parse_not(p);

	while (rc >= 0 && take(p, "&&")) {
		int right = parse_not(p);

		rc = right < 0 ? right
			       : add_node(p,
					 &(struct gt_query_node){ .op = GT_Q_AND,
						 .left = (uint8_t)rc,
						 .right = (uint8_t)right });
	}
	return rc;
}

static int parse_any(struct parse *p)
{
	int rc = parse_all(p);

	while (rc >= 0 && take(p, "||")) {
		int right = parse_all(p);

		rc = right < 0 ? right
			       : add_node(p,
					 &(struct gt_query_node){ .op = GT_Q_OR,
						 .left = (uint8_t)rc,
						 .right = (uint8_t)right });
	}
	return rc;
}

/* Text after a complete expression is an error. Frequent mistakes get their own message. */
static int trailing(struct parse *p)
{
	char c = p->text[p->at];
	const char *meant = c == '=' ? "==" : c == '&' ? "&&" : c == '|' ? "||" : NULL;

	if (meant)
		return gt_err_at(p->err, p->at, -EINVAL, "did you mean '%s'?", meant);
	if (c == ')')
		return gt_err_at(p->err, p->at, -EINVAL, "this ) has no opening (");
	return gt_err_at(p->err, p->at, -EINVAL, "expected && or ||");
}

int gt_query_where(struct gt_query *q, const char *where, struct gt_err *err)
{
	struct parse p = { .q = q, .text = where, .err = err };
	int rc = parse_any(&p);

	if (rc < 0)
		return rc;
	q->root = (unsigned)rc;
	skip_blanks(&p);
	return p.text[p.at] ? trailing(&p) : 0;
}
