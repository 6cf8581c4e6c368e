/* Types: for demangle.c only. */
#ifndef GT_DEMANGLE_TYPES_H
#define GT_DEMANGLE_TYPES_H
#include <ctype.h>
#include <stdio.h>
#include "formats/names/demangle_expressions.h"
#include "formats/names/demangle_pieces.h"
#include "formats/names/demangle_words.h"

static struct piece name(struct dem *d, bool scope, bool *templated, char quals[32]);
static struct piece substitution(struct dem *d, bool *fresh);
static struct piece source_name(struct dem *d);
static struct piece remember(struct dem *d, struct piece p);
static uint32_t number(struct dem *d);
static const void *parameters_of(const struct dem *d);

/* The end of parameters: E, which the & of a member function may precede, or what follows a name.
 */
static bool is_end(const char *p, const char *end)
{
	return p >= end || strchr("E.@", *p) || (strchr("RO", *p) && end - p > 1 && p[1] == 'E');
}

/* (a, b, c); a lone void is nothing. */
static struct piece parameters(struct dem *d)
{
	struct piece text = lit("(");

	if (!enter(d))
		return leave(d, nothing);
	if (peek(d) == 'v' && is_end(d->p + 1, d->end))
		d->p++;
	else
		while (!d->failed && !is_end(d->p, d->end)) {
			struct piece t = type(d);

			if (t.len)
				text = join3(d, text, lit(text.len > 1 ? ", " : ""), t);
		}
	return leave(d, join(d, text, lit(")")));
}

/* quals: " const" and " volatile" of a member function */
static struct piece function_type(struct dem *d, struct piece quals)
{
	struct piece ret, params, p;

	eat(d, "Y");
	ret = type(d);
	params = join(d, parameters(d), quals);
	if (eat(d, "R"))
		params = join(d, params, lit(" &"));
	else if (eat(d, "O"))
		params = join(d, params, lit(" &&"));
	expect(d, "E");
	if (ret.infix) /* a pointer to a function, or to an array */
		return insert(d, ret, params);
	ret = join(d, ret, lit(" "));
	p = join(d, ret, params);
	p.hole = ret.len;
	p.infix = true;
	return p;
}

static struct piece array_type(struct dem *d)
{
	struct piece size = { d->p, 0, 0, false }, element, p;

	if (isdigit((unsigned char)peek(d))) {
		number(d);
		size.len = (uint32_t)(d->p - size.s);
	} else if (peek(d) != '_')
		size = expression(d).text;
	expect(d, "_");
	size = join3(d, lit("["), size, lit("]"));
	element = type(d);
	if (element.infix) { /* of arrays or of pointers to functions */
		bool pointers = element.len > element.hole && element.s[element.hole] == ')';

		p = insert(d, element, join(d, lit(pointers ? " " : ""), size));
		p.hole += pointers && !d->failed;
		return p;
	}
	element = join(d, element, lit(" "));
	p = join(d, element, size);
	p.hole = element.len;
	p.infix = true;
	return p;
}

static struct piece member_pointer(struct dem *d)
{
	struct piece class = type(d), member = type(d), text = join3(d, class, lit("::*"), lit(""));

	return member.infix ? fill(d, member, text) : join3(d, member, lit(" "), text);
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
		if (peek(d) != 'I' || d->args_follow)
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

static bool ends_in(struct piece p, const char *word)
{
	size_t n = strlen(word);

	return !p.infix && p.len >= n && !memcmp(p.s + p.len - n, word, n);
}

static struct piece qualified_type(struct dem *d)
{
	bool restricts = eat(d, "r"), vol = eat(d, "V"), con = eat(d, "K");
	struct piece quals = join(d, lit(con ? " const" : ""), lit(vol ? " volatile" : "")), t;

	/* a function type without its qualifiers cannot be named by a substitution */
	if (eat(d, "F"))
		return function_type(d, quals);
	t = type(d);
	/* an array of const things */
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
	if (con && !ends_in(t, " const"))
		t = fill(d, t, lit(" const"));
	if (vol)
		t = fill(d, t, lit(" volatile"));
	return restricts ? fill(d, t, lit(" __restrict__")) : t;
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
	return fill(d, t, lit(ref));
}

/* Dp, sp: the pattern once for each member of the pack in it. Substitutions count once. */
static struct piece expansion(struct dem *d, struct piece (*pattern)(struct dem *d))
{
	const char *from = d->p;
	bool outer = d->in_pack;
	uint32_t at = d->pack_at, n = d->pack_n, nsubs = 0;
	struct piece text = nothing;

	d->in_pack = true;
	d->pack_n = NO_PACK;
	for (uint32_t i = 0; !i || (d->pack_n != NO_PACK && i < d->pack_n && !d->failed); i++) {
		struct piece t;

		d->p = from;
		d->pack_at = i;
		t = pattern(d);
		if (!i)
			nsubs = d->nsubs;
		d->nsubs = nsubs;
		if (d->pack_n)
			text = join3(d, text, lit(i ? ", " : ""), t);
	}
	if (d->pack_n == NO_PACK)
		text = join(d, text, lit("..."));
	d->in_pack = outer;
	d->pack_at = at;
	d->pack_n = n;
	return text;
}

/* Dt, DT: decltype; Do: a function type with noexcept; Dv: a vector */
static struct piece extended_type(struct dem *d)
{
	struct piece t;

	if (eat(d, "Dp"))
		return expansion(d, type);
	if (eat(d, "Dt") || eat(d, "DT")) {
		t = join3(d, lit("decltype ("), expression(d).text, lit(")"));
		expect(d, "E");
		return t;
	}
	if (eat(d, "Do")) {
		struct piece f;

		t = type(d);
		f = join(d, t, lit(" noexcept"));
		f.hole = t.hole;
		f.infix = t.infix;
		return f;
	}
	if (eat(d, "Dv")) {
		struct piece size = { d->p, 0, 0, false };

		number(d);
		size.len = (uint32_t)(d->p - size.s);
		expect(d, "_");
		t = type(d);
		return join3(d, t, join(d, lit(" __vector("), size), lit(")"));
	}
	return fail(d);
}

static struct piece compound(struct dem *d, bool *again)
{
	char c = peek(d);

	if (c == 'r' || c == 'V' || c == 'K')
		return qualified_type(d);
	if (eat(d, "P"))
		return fill(d, type(d), lit("*"));
	if (eat(d, "R"))
		return reference(d, "&");
	if (eat(d, "O"))
		return reference(d, "&&");
	if (eat(d, "F"))
		return function_type(d, nothing);
	if (eat(d, "A"))
		return array_type(d);
	if (eat(d, "M"))
		return member_pointer(d);
	if (c == 'D')
		return extended_type(d);
	if (eat(d, "C"))
		return join(d, type(d), lit(" _Complex"));
	if (eat(d, "U")) { /* an attribute, such as an address space */
		struct piece word = join(d, lit(" "), source_name(d));

		return fill(d, type(d), word);
	}
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
		d->subs[d->nsubs - 1].of = parameters_of(d);
	}
	d->parametric |= around;
	return leave(d, p);
}
#endif
