/* Demangles C++ names: the part of the Itanium mangling that functions use.
 *
 * The demangler of libstdc++ is not usable for names from a file. It fails for names longer than
 * 1024 characters, such as those of CUTLASS kernels, and 200 characters can keep it busy without
 * end: a substitution (S_, S0_ ...) can repeat all text before it, and so double the name each
 * time. Here each piece of text is charged to a budget: a name that needs more than BUDGET bytes,
 * or nests deeper than NEST_MAX, is not demangled.
 *
 * A piece is immutable text in one arena, with a hole: the place to insert "*" or "&". That is the
 * end of most types, but the middle of functions and arrays ("void (*)(int)"). subs[] has the
 * pieces that a substitution can name, in the order in which the mangling counts them. Expressions
 * (X...E) are not supported: kernels hardly ever have them.
 */
#include "formats/names/demangle.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/names/demangle_pieces.h"
#include "formats/names/demangle_words.h"

#define NAME_MAX_IN 32768u
#define NAME_MAX_OUT 65536u
#define BUDGET (2u << 20)
#define SUBS_MAX 4096u
#define ARGS_MAX 64u

static struct piece type(struct dem *d);
static struct piece encoding(struct dem *d, bool with_return);
static struct piece name(struct dem *d, bool scope, bool *templated, char quals[32]);

static struct piece remember(struct dem *d, struct piece p)
{
	if (d->nsubs >= SUBS_MAX)
		return fail(d);
	if (!d->failed)
		d->subs[d->nsubs++] = (struct sub){ .text = p };
	return p;
}

static uint32_t number(struct dem *d)
{
	uint32_t v = 0;

	if (!isdigit((unsigned char)peek(d)))
		d->failed = true;
	while (isdigit((unsigned char)peek(d)) && v < 1000000)
		v = v * 10 + (uint32_t)(*d->p++ - '0');
	return v;
}

/* "_" is 0, "0_" is 1, ...: the counting of T_, S_ (base 36) and of lambdas. */
static uint32_t sequence(struct dem *d, unsigned base)
{
	uint32_t v = 0;

	if (eat(d, "_"))
		return 0;
	for (; !d->failed && !eat(d, "_"); d->p++) {
		char c = peek(d);
		unsigned digit = 99;

		if (isdigit((unsigned char)c))
			digit = (unsigned)(c - '0');
		else if (c >= 'A' && c <= 'Z')
			digit = (unsigned)(c - 'A') + 10;

		if (digit >= base || v > 1000000)
			return d->failed = true, 0;
		v = v * base + digit;
	}
	return v + 1;
}

/* ---- names ---- */

static struct piece source_name(struct dem *d)
{
	uint32_t n = number(d);
	struct piece p = { d->p, n, n, false };

	if (d->failed || n > (size_t)(d->end - d->p) || !n)
		return fail(d);
	d->p += n;
	if (n >= 10 && !memcmp(p.s, "_GLOBAL_", 8) && strchr("._$", p.s[8]) && p.s[9] == 'N')
		return lit("(anonymous namespace)");
	return p;
}

static struct piece operator_name(struct dem *d)
{
	if (eat(d, "cv")) {
		struct piece t = type(d);

		d->no_return = true;
		return join(d, lit("operator "), t);
	}
	if (eat(d, "li"))
		return join(d, lit("operator\"\" "), source_name(d));
	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++)
		if (eat(d, operators[i].code))
			return join(d, lit("operator"), lit(operators[i].text));
	return fail(d);
}

static struct piece counted(struct dem *d, const char *open, struct piece inner)
{
	char text[16];
	struct piece p = join3(d, lit(open), inner, lit("#"));

	snprintf(text, sizeof(text), "%u}", sequence(d, 10) + 1);
	return join(d, p, lit(text));
}

static struct piece parameters(struct dem *d);

static struct piece unqualified(struct dem *d)
{
	struct piece p;

	d->no_return = false;
	eat(d, "L"); /* internal linkage */
	if (isdigit((unsigned char)peek(d)))
		p = source_name(d);
	else if (eat(d, "Ul")) {
		struct piece list = parameters(d);

		expect(d, "E");
		p = counted(d, "{lambda", list);
	} else if (eat(d, "Ut"))
		p = counted(d, "{unnamed type", nothing);
	else
		p = operator_name(d);
	while (!d->failed && eat(d, "B"))
		p = join3(d, p, lit("[abi:"), join(d, source_name(d), lit("]")));
	return p;
}

/* The type of a substitution, read once more where T_ means something else. Substitutions do not
 * count twice. */
static struct piece read_again(struct dem *d, const struct sub *s)
{
	const char *p = d->p;
	uint32_t nsubs = d->nsubs;
	bool no_return = d->no_return;
	struct piece t;

	d->p = s->from;
	t = type(d);
	d->p = p;
	d->nsubs = nsubs;
	d->no_return = no_return;
	return t;
}

/* S_, S0_, St ...: *fresh says that it is one of the standard names, which count as new when
 * something is added. */
static struct piece substitution(struct dem *d, bool *fresh)
{
	uint32_t i;

	d->p++;
	*fresh = false;
	for (i = 0; i < sizeof(standard) / sizeof(*standard); i++)
		if (peek(d) == standard[i].code) {
			d->p++;
			*fresh = true;
			return lit(standard[i].text);
		}
	i = sequence(d, 36);
	if (d->failed || i >= d->nsubs)
		return fail(d);
	d->parametric |= d->subs[i].from != NULL;
	if (d->subs[i].from && d->subs[i].of != d->targs.list)
		return read_again(d, &d->subs[i]);
	/* charged: repeating is what makes names explode */
	return join(d, d->subs[i].text, nothing).s ? d->subs[i].text : fail(d);
}

static struct piece template_param(struct dem *d)
{
	const struct arg *a;
	uint32_t i;

	d->p++;
	d->parametric = true;
	i = sequence(d, 10);
	if (d->failed || i >= d->targs.n)
		return fail(d);
	a = &d->targs.list[i];
	if (a->pack && d->in_pack) {
		d->pack_n = a->members.n;
		if (d->pack_at >= a->members.n)
			return nothing;
		a = &a->members.list[d->pack_at];
	}
	join(d, a->text, nothing); /* charged, like a substitution */
	return a->text;
}

static struct piece literal(struct dem *d)
{
	static const struct {
		char code;
		const char *suffix;
	} plain[] = {
		{ 'i', "" },
		{ 'j', "u" },
		{ 'l', "l" },
		{ 'm', "ul" },
		{ 'x', "ll" },
		{ 'y', "ull" },
	};
	const char *suffix = NULL;
	struct piece t, value;
	bool negative;
	char code;

	if (eat(d, "_Z")) {
		t = encoding(d, true);
		expect(d, "E");
		return t;
	}
	code = peek(d);
	t = type(d);
	if (code == 'D' && eat(d, "E"))
		return t;
	negative = eat(d, "n");
	value = (struct piece){ d->p, 0, 0, false };
	while (isalnum((unsigned char)peek(d)) && peek(d) != 'E')
		d->p++;
	value.len = value.hole = (uint32_t)(d->p - value.s);
	expect(d, "E");
	if (code == 'b' && value.len == 1 && (*value.s == '0' || *value.s == '1'))
		return lit(*value.s == '1' ? "true" : "false");
	for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++)
		if (plain[i].code == code)
			suffix = plain[i].suffix;
	if (negative)
		value = join(d, lit("-"), value);
	return suffix ? join(d, value, lit(suffix))
		      : join(d, join3(d, lit("("), t, lit(")")), value);
}

static struct piece template_args(struct dem *d, struct args *out);

static struct arg argument(struct dem *d)
{
	struct arg a = { .text = nothing };

	if (eat(d, "L"))
		a.text = literal(d);
	else if (peek(d) == 'J') { /* a pack: its members, or nothing */
		a.text = template_args(d, &a.members);
		if (!d->failed)
			a.text = (struct piece){ a.text.s + 1, a.text.len - 2, a.text.len - 2,
				false };
		a.pack = true;
	} else if (eat(d, "X")) { /* the one expression that is no more than a name */
		a.text = peek(d) == 'T' ? template_param(d) : fail(d);
		expect(d, "E");
	} else
		a.text = type(d);
	return a;
}

static int keep_args(struct dem *d, const struct arg *list, uint32_t n, struct args *out)
{
	d->used = (d->used + 15) & ~(size_t)15;
	if (d->used > d->cap)
		d->used = d->cap;
	out->list = (struct arg *)(void *)room(d, n * sizeof(*list));
	if (!out->list)
		return -1;
	if (n)
		memcpy(out->list, list, n * sizeof(*list));
	out->n = n;
	return 0;
}

/* I ... E (or J ... E) as "<...>". The list lives in the arena. */
static struct piece template_args(struct dem *d, struct args *out)
{
	struct piece text = lit("<");
	struct arg list[ARGS_MAX];
	uint32_t n = 0;

	d->p++;
	if (!enter(d))
		return leave(d, nothing);
	while (!d->failed && !eat(d, "E")) {
		if (n >= ARGS_MAX)
			return leave(d, fail(d));
		list[n] = argument(d);
		if (list[n].text.len)
			text = join3(d, text, lit(text.len > 1 ? ", " : ""), list[n].text);
		n++;
	}
	text = join(d, text, lit(text.len && text.s[text.len - 1] == '>' ? " >" : ">"));
	if (keep_args(d, list, n, out))
		return leave(d, fail(d));
	return leave(d, text);
}

static struct piece with_args(struct dem *d, struct piece p, bool scope)
{
	struct args a = { NULL, 0 };
	bool no_return = d->no_return;
	struct piece text = template_args(d, &a);

	d->no_return = no_return;
	if (scope)
		d->targs = a;
	return join3(d, p, lit(p.len && p.s[p.len - 1] == '<' ? " " : ""), text);
}

/* The last word of a qualified name, without its template arguments: what constructors are called.
 */
static struct piece last_word(struct piece p)
{
	uint32_t depth = 0, end = p.len, i, begin;

	for (i = p.len; i--;) {
		if (p.s[i] == ']')
			while (i && p.s[i] != '[') /* [abi:...] */
				end = --i;
		else if (p.s[i] == '>')
			depth++;
		else if (p.s[i] == '<' && depth && !--depth)
			end = i;
		else if (!depth && p.s[i] == ':')
			break;
	}
	begin = i + 1; /* wraps to 0 when the loop ran out */
	return (struct piece){ p.s + begin, end - begin, end - begin, false };
}

/* One more component of a nested name: plain, constructor, destructor. */
static struct piece component(struct dem *d, struct piece sofar)
{
	char c = peek(d), c2 = peek2(d);

	if (c == 'C' && c2 >= '1' && c2 <= '5') {
		d->p += 2;
		d->no_return = true;
		return last_word(sofar);
	}
	if (c == 'D' && c2 >= '0' && c2 <= '5') {
		d->p += 2;
		d->no_return = true;
		return join(d, lit("~"), last_word(sofar));
	}
	return unqualified(d);
}

static void nested_quals(struct dem *d, char quals[32])
{
	bool restricts = eat(d, "r"), vol = eat(d, "V"), con = eat(d, "K");

	snprintf(quals, 32, "%s%s%s", con ? " const" : "", vol ? " volatile" : "",
		restricts ? " __restrict__" : "");
	if (eat(d, "R"))
		strncat(quals, " &", 31 - strlen(quals));
	else if (eat(d, "O"))
		strncat(quals, " &&", 31 - strlen(quals));
}

static struct piece nested(struct dem *d, bool scope, bool *templated, char quals[32])
{
	struct piece p = nothing;

	nested_quals(d, quals);
	while (!d->failed && !eat(d, "E")) {
		bool fresh = true, is_sub = false;
		char c = peek(d);

		if (p.len && eat(d, "M")) /* a lambda in a member's initialiser */
			continue;
		*templated = c == 'I';
		if (c == 'S' && !p.len) {
			p = substitution(d, &fresh);
			is_sub = true;
		} else if (c == 'T' && !p.len)
			p = template_param(d);
		else if (c == 'I' && p.len)
			p = with_args(d, p, scope);
		else
			p = p.len ? join3(d, p, lit("::"), component(d, p)) : component(d, p);
		if (!is_sub && peek(d) != 'E')
			remember(d, p);
	}
	return p;
}

/* Z encoding E entity: something inside a function. */
static struct piece local(struct dem *d, bool *templated, char quals[32])
{
	struct args saved = d->targs;
	struct piece outer = encoding(d, false), inner;

	expect(d, "E");
	if (eat(d, "s"))
		inner = lit("string literal");
	else {
		if (eat(d, "d"))
			sequence(d, 10);
		inner = name(d, false, templated, quals);
	}
	if (eat(d, "__")) {
		number(d);
		expect(d, "_");
	} else if (peek(d) == '_' && isdigit((unsigned char)peek2(d)))
		d->p += 2;
	if (!*templated)
		d->targs = saved;
	return join3(d, outer, lit("::"), inner);
}

static struct piece name(struct dem *d, bool scope, bool *templated, char quals[32])
{
	struct piece p;
	bool fresh = true, is_sub = false;

	*templated = false;
	quals[0] = '\0';
	if (!enter(d))
		return leave(d, nothing);
	if (eat(d, "N"))
		return leave(d, nested(d, scope, templated, quals));
	if (eat(d, "Z"))
		return leave(d, local(d, templated, quals));
	if (eat(d, "St"))
		p = join(d, lit("std::"), unqualified(d));
	else if (peek(d) == 'S') {
		p = substitution(d, &fresh);
		is_sub = true;
	} else
		p = unqualified(d);
	if (peek(d) == 'I') {
		if (!is_sub)
			remember(d, p);
		p = with_args(d, p, scope);
		*templated = true;
	}
	return leave(d, p);
}

/* ---- types ---- */

/* (a, b, c); a lone void is nothing. Stops at E, end, or what follows a name. */
static struct piece parameters(struct dem *d)
{
	struct piece text = lit("(");

	if (!enter(d))
		return leave(d, nothing);
	if (peek(d) == 'v' && (d->end - d->p == 1 || strchr("E.@", peek2(d))))
		d->p++;
	else
		while (!d->failed && d->p < d->end && !strchr("E.@", peek(d))) {
			struct piece t = type(d);

			if (t.len)
				text = join3(d, text, lit(text.len > 1 ? ", " : ""), t);
		}
	return leave(d, join(d, text, lit(")")));
}

static struct piece function_type(struct dem *d)
{
	struct piece ret, params, p;

	eat(d, "Y");
	ret = join(d, type(d), lit(" "));
	params = parameters(d);
	if (peek(d) == 'R' || peek(d) == 'O')
		d->p++;
	expect(d, "E");
	p = join(d, ret, params);
	p.hole = ret.len;
	p.infix = true;
	return p;
}

static struct piece array_type(struct dem *d)
{
	struct piece size = { d->p, 0, 0, false }, element, p;

	if (peek(d) != '_')
		number(d);
	size.len = (uint32_t)(d->p - size.s);
	expect(d, "_");
	element = join(d, type(d), lit(" "));
	p = join(d, element, join3(d, lit("["), size, lit("]")));
	p.hole = element.len;
	p.infix = true;
	return p;
}

static struct piece member_pointer(struct dem *d)
{
	struct piece class = type(d), member = type(d), text = join3(d, class, lit("::*"), lit(""));
	char *s = room(d, text.len + 1u);

	if (!s)
		return nothing;
	memcpy(s, text.s, text.len);
	s[text.len] = '\0';
	return member.infix ? fill(d, member, s) : join3(d, member, lit(" "), text);
}

/* A type that is a name: class, template parameter, substitution. *again: it is in subs[]
 * already. */
static struct piece named_type(struct dem *d, bool *again)
{
	bool templated, fresh;
	char quals[32];
	struct piece p;

	if (peek(d) == 'T') {
		p = template_param(d);
		if (peek(d) != 'I')
			return p;
		remember(d, p);
		return with_args(d, p, false);
	}
	if (peek(d) == 'S' && peek2(d) != 't') {
		p = substitution(d, &fresh);
		if (peek(d) == 'I')
			return with_args(d, p, false);
		*again = true;
		return p;
	}
	return name(d, false, &templated, quals);
}

static struct piece qualified_type(struct dem *d)
{
	bool restricts = eat(d, "r"), vol = eat(d, "V"), con = eat(d, "K");
	struct piece t = type(d);

	/* an array of const things; functions have none */
	if (t.infix && t.len > t.hole && t.s[t.hole] != ')') {
		struct piece head = { t.s, t.hole - 1, 0, false },
			     tail = { t.s + t.hole, t.len - t.hole, 0, false };

		if (t.s[t.hole] != '[')
			return fail(d);
		t = join3(d, head, lit(con ? " const " : " volatile "), tail);
		t.hole = t.len - tail.len;
		t.infix = true;
		return t;
	}
	if (con)
		t = fill(d, t, " const");
	if (vol)
		t = fill(d, t, " volatile");
	return restricts ? fill(d, t, " __restrict__") : t;
}

/* & and && collapse, as they do in C++. */
static struct piece reference(struct dem *d, const char *ref)
{
	struct piece t = type(d);

	if (t.hole && t.s[t.hole - 1] == '&') {
		if (ref[1] || (t.hole > 1 && t.s[t.hole - 2] != '&'))
			return t;
		if (t.infix)
			return fail(d);
		return (struct piece){ t.s, t.len - 1, t.len - 1, false };
	}
	return fill(d, t, ref);
}

/* Dp: the pattern once for each member of the pack in it. Substitutions count once. */
static struct piece expansion(struct dem *d)
{
	const char *pattern = d->p;
	bool outer = d->in_pack;
	uint32_t at = d->pack_at, n = d->pack_n, nsubs = 0;
	struct piece text = nothing;

	d->in_pack = true;
	d->pack_n = 1;
	for (uint32_t i = 0; !i || (i < d->pack_n && !d->failed); i++) {
		struct piece t;

		d->p = pattern;
		d->pack_at = i;
		t = type(d);
		if (!i)
			nsubs = d->nsubs;
		d->nsubs = nsubs;
		if (d->pack_n)
			text = join3(d, text, lit(i ? ", " : ""), t);
	}
	d->in_pack = outer;
	d->pack_at = at;
	d->pack_n = n;
	return text;
}

static struct piece compound(struct dem *d, bool *again)
{
	char c = peek(d);

	if (c == 'r' || c == 'V' || c == 'K')
		return qualified_type(d);
	if (eat(d, "P"))
		return fill(d, type(d), "*");
	if (eat(d, "R"))
		return reference(d, "&");
	if (eat(d, "O"))
		return reference(d, "&&");
	if (eat(d, "F"))
		return function_type(d);
	if (eat(d, "A"))
		return array_type(d);
	if (eat(d, "M"))
		return member_pointer(d);
	if (eat(d, "Dp"))
		return expansion(d);
	if (c == 'u') {
		d->p++;
		return source_name(d);
	}
	return named_type(d, again);
}

static struct piece type(struct dem *d)
{
	const char *from = d->p;
	char c = peek(d);
	bool again = false, around = d->parametric;
	struct piece p;

	if (!enter(d))
		return leave(d, nothing);
	if (c >= 'a' && c <= 'z' && builtins[c - 'a']) {
		d->p++;
		return leave(d, lit(builtins[c - 'a']));
	}
	for (size_t i = 0; c == 'D' && i < sizeof(d_types) / sizeof(*d_types); i++) {
		char code[6] = { 0 };

		memcpy(code, d_types[i].code, sizeof(d_types[i].code));
		if (eat(d, code))
			return leave(d, lit(d_types[i].text));
	}
	d->parametric = false;
	p = compound(d, &again);
	if (!again)
		remember(d, p);
	if (!again && d->parametric && !d->failed) {
		d->subs[d->nsubs - 1].from = from;
		d->subs[d->nsubs - 1].of = d->targs.list;
	}
	d->parametric |= around;
	return leave(d, p);
}

/* A function with its parameters, or a variable. Only templates mangle their return type. */
static struct piece encoding(struct dem *d, bool with_return)
{
	bool templated = false;
	struct piece p, ret = nothing;
	char quals[32] = "";

	if (!enter(d) || peek(d) == 'T' || peek(d) == 'G')
		return leave(d, fail(d)); /* vtables, guards: no kernels */
	p = name(d, true, &templated, quals);
	if (d->failed || d->p >= d->end || strchr("E.@", peek(d)))
		return leave(d, p);
	if (templated && !d->no_return) {
		ret = type(d);
		if (!ret.infix)
			ret = join(d, ret, lit(" "));
	}
	p = join(d, p, parameters(d));
	if (quals[0]) {
		char *copy = room(d, sizeof(quals));

		if (copy)
			p = join(d, p, lit(memcpy(copy, quals, sizeof(quals))));
	}
	if (!with_return)
		return leave(d, p);
	return leave(d, ret.infix ? fail(d) : join(d, ret, p));
}

/* gcc's copies of functions: ".isra.0" becomes " [clone .isra.0]". */
static struct piece clones(struct dem *d, struct piece p)
{
	struct piece suffix = { d->p, (uint32_t)(d->end - d->p), 0, false };

	if (d->failed || d->p == d->end)
		return p;
	if (*d->p != '.')
		return fail(d);
	return join3(d, p, lit(" [clone "), join(d, suffix, lit("]")));
}

char *gt_demangle(const char *mangled)
{
	size_t len = strnlen(mangled, NAME_MAX_IN + 1);
	struct dem d = { .p = mangled + 2, .end = mangled + len };
	struct piece p = nothing;
	char *out = NULL;

	if (len > NAME_MAX_IN || strncmp(mangled, "_Z", 2))
		return NULL;
	d.cap = len < BUDGET / 512 ? 16384 + len * 512 : BUDGET;
	d.arena = malloc(d.cap);
	d.subs = malloc(SUBS_MAX * sizeof(*d.subs));
	if (d.arena && d.subs)
		p = clones(&d, encoding(&d, true));
	if (d.arena && d.subs && !d.failed && p.len && p.len <= NAME_MAX_OUT)
		out = strndup(p.s, p.len);
	free(d.arena);
	free(d.subs);
	return out;
}
