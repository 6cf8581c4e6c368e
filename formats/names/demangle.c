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
 * pieces that a substitution can name, in the order in which the mangling counts them. The text is
 * that of `c++filt --no-verbose`.
 */
#include "formats/names/demangle.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/names/demangle_expressions.h"
#include "formats/names/demangle_pieces.h"
#include "formats/names/demangle_types.h"
#include "formats/names/demangle_words.h"

#define NAME_MAX_IN 32768u
#define NAME_MAX_OUT 65536u
#define BUDGET (2u << 20)
#define SUBS_MAX 4096u
#define ARGS_MAX 64u

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

static struct piece parameters(struct dem *d);
static struct piece template_args(struct dem *d, struct args *out);

/* The type of "operator T" of a template, whose arguments follow it: it is read for its end, then
 * once more with their meaning. */
static struct piece conversion_type(struct dem *d)
{
	const char *from = d->p;
	const uint32_t nsubs = d->nsubs;
	const struct args outer = d->targs;
	struct args own = { NULL, 0 };
	struct piece t;

	d->args_follow = true;
	d->args_unknown = true;
	t = type(d);
	d->args_unknown = false;
	if (peek(d) == 'I') {
		d->args_follow = false;
		template_args(d, &own);
		d->args_follow = true;
		d->targs = own;
	}
	d->p = from;
	d->nsubs = nsubs;
	t = type(d);
	d->args_follow = false;
	d->targs = outer;
	return t;
}

static struct piece operator_name(struct dem *d)
{
	if (eat(d, "cv")) {
		struct piece t = conversion_type(d);

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

static struct piece unqualified(struct dem *d)
{
	struct piece p;

	d->no_return = false;
	eat(d, "L"); /* internal linkage */
	if (isdigit((unsigned char)peek(d)))
		p = source_name(d);
	else if (eat(d, "Ul")) {
		bool outer = d->in_lambda;
		struct piece list;

		d->in_lambda = true;
		list = parameters(d);
		d->in_lambda = outer;
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

/* The function or lambda whose template parameters T_ means now. */
static const void *parameters_of(const struct dem *d)
{
	return d->in_lambda ? (const void *)&nothing : d->targs.list;
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
			if (standard[i].full && (peek(d) == 'C' || peek(d) == 'D'))
				return lit(standard[i].full);
			return lit(standard[i].text);
		}
	i = sequence(d, 36);
	if (d->failed || i >= d->nsubs)
		return fail(d);
	d->parametric |= d->subs[i].from != NULL;
	if (d->subs[i].from && (d->in_pack || d->subs[i].of != parameters_of(d)))
		return read_again(d, &d->subs[i]);
	/* charged: repeating is what makes names explode */
	return join(d, d->subs[i].text, nothing).s ? d->subs[i].text : fail(d);
}

static struct piece template_param(struct dem *d)
{
	const struct arg *a;
	char text[20];
	uint32_t i;

	d->p++;
	d->parametric = true;
	i = sequence(d, 10);
	if (d->in_lambda && !d->failed) { /* a parameter of type auto */
		snprintf(text, sizeof(text), "auto:%u", i + 1);
		return join(d, lit(text), nothing);
	}
	if (d->args_unknown && !d->failed)
		return lit("auto");
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

	if (eat(d, "_Z"))
		return entity_name(d, false, false).text;
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

static struct arg argument(struct dem *d)
{
	struct arg a = { .text = nothing };

	if (eat(d, "L"))
		a.text = literal(d);
	else if (peek(d) == 'J' || peek(d) == 'I') { /* a pack: its members, or nothing */
		a.text = template_args(d, &a.members);
		if (!d->failed)
			a.text = (struct piece){ a.text.s + 1, a.text.len - 2, a.text.len - 2,
				false };
		a.pack = true;
	} else if (eat(d, "X")) {
		a.text = expression(d).text;
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

/* c++filt writes no space between brackets if an empty pack is the last argument. */
static bool list_ends_in_bracket(struct piece text, const struct arg *list, uint32_t n)
{
	return n && list[n - 1].text.len && text.len && text.s[text.len - 1] == '>';
}

/* I ... E (or J ... E) as "<...>". The list lives in the arena. */
static struct piece template_args(struct dem *d, struct args *out)
{
	struct piece text = lit("<");
	struct arg list[ARGS_MAX];
	bool follow = d->args_follow;
	uint32_t n = 0;

	d->p++;
	if (!enter(d))
		return leave(d, nothing);
	d->args_follow = false;
	while (!d->failed && !eat(d, "E")) {
		if (n >= ARGS_MAX)
			return leave(d, fail(d));
		list[n] = argument(d);
		if (list[n].text.len)
			text = join3(d, text, lit(text.len > 1 ? ", " : ""), list[n].text);
		n++;
	}
	text = join(d, text, lit(list_ends_in_bracket(text, list, n) ? " >" : ">"));
	d->args_follow = follow;
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
static struct piece local(struct dem *d, bool scope, bool *templated, char quals[32])
{
	struct args saved = d->targs;
	struct piece outer = encoding(d, false), inner;

	expect(d, "E");
	if (eat(d, "s"))
		inner = lit("string literal");
	else {
		struct piece argument_of =
			eat(d, "d") ? counted(d, "{default arg", nothing) : nothing;

		inner = name(d, scope, templated, quals);
		if (argument_of.len)
			inner = join3(d, argument_of, lit("::"), inner);
	}
	if (eat(d, "__")) {
		number(d);
		expect(d, "_");
	} else if (peek(d) == '_' && isdigit((unsigned char)peek2(d)))
		d->p += 2;
	if (!scope || !*templated)
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
		return leave(d, local(d, scope, templated, quals));
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

/* ---- functions and variables ---- */

/* What the compiler makes for a class, variable or function. */
static struct piece special_name(struct dem *d)
{
	const struct special *s = NULL;
	bool templated;
	char quals[32];
	struct piece p;

	for (size_t i = 0; i < sizeof(specials) / sizeof(*specials) && !s; i++)
		if (eat(d, specials[i].code))
			s = &specials[i];
	if (!s)
		return fail(d);
	for (const char *c = s->offsets; *c; c++) { /* how far `this` moves */
		if (*c == '?' && !eat(d, "h") && !eat(d, "v"))
			d->failed = true;
		if (*c == '?' ? d->p[-1] == 'v' : *c == 'v') {
			eat(d, "n");
			number(d);
			expect(d, "_");
		}
		eat(d, "n");
		number(d);
		expect(d, "_");
	}
	if (s->of == SPECIAL_TABLE) {
		struct piece in = type(d);

		number(d);
		expect(d, "_");
		p = join3(d, type(d), lit("-in-"), in);
	} else if (s->of == SPECIAL_TYPE)
		p = type(d);
	else if (s->of == SPECIAL_FUNCTION)
		p = encoding(d, true);
	else
		p = name(d, false, &templated, quals);
	return join(d, lit(s->text), p);
}

/* The kind of name that began at `from`. */
static enum entity_form form_of(const char *from, bool templated, const char *quals)
{
	if (templated || quals[0])
		return ENTITY_OTHER;
	if (*from == 'N' || (from[0] == 'S' && from[1] == 't'))
		return ENTITY_QUALIFIED;
	return isdigit((unsigned char)*from) || *from == 'L' ? ENTITY_PLAIN : ENTITY_OTHER;
}

/* A function with its parameters, or a variable. Only templates mangle their return type. */
static struct piece encoding(struct dem *d, bool with_return)
{
	const char *from = d->p;
	bool templated = false, no_return;
	struct piece p, ret = nothing;
	struct entity e = { .is_function = true };
	char quals[32] = "";

	if (!enter(d))
		return leave(d, nothing);
	if (peek(d) == 'T' || peek(d) == 'G') {
		p = special_name(d);
		d->entity = (struct entity){ .name = p };
		return leave(d, p);
	}
	p = name(d, true, &templated, quals);
	no_return = d->no_return;
	if (!d->failed)
		e.form = form_of(from, templated, quals);
	e.name = p;
	if (d->failed || d->p >= d->end || strchr("E.@", peek(d))) {
		e.is_function = false;
		d->entity = e;
		return leave(d, p);
	}
	if (templated && !no_return) {
		ret = type(d);
		if (!ret.infix)
			ret = join(d, ret, lit(" "));
	}
	p = join(d, p, parameters(d));
	if (quals[0])
		p = join(d, p, lit(quals));
	d->entity = e;
	if (!with_return)
		return leave(d, p);
	return leave(d, ret.infix ? fill(d, ret, p) : join(d, ret, p));
}

/* Copies of functions that compilers make: ".isra.0" becomes " [clone .isra.0]". */
static struct piece clones(struct dem *d, struct piece p)
{
	while (!d->failed && d->p < d->end) {
		struct piece suffix = { d->p, 0, 0, false };

		if (*d->p != '.')
			return fail(d);
		d->p++;
		while (d->p < d->end && *d->p != '.')
			d->p++;
		while (d->end - d->p > 1 && *d->p == '.' && isdigit((unsigned char)d->p[1]))
			for (d->p += 2; d->p < d->end && isdigit((unsigned char)*d->p);)
				d->p++;
		suffix.len = (uint32_t)(d->p - suffix.s);
		p = join3(d, p, lit(" [clone "), join(d, suffix, lit("]")));
	}
	return p;
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
