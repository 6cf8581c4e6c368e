/* Expressions in template arguments, decltype and sizes of arrays: for demangle.c only. They have
 * the form that c++filt gives them: operands in parentheses, unless they are plain names. */
#ifndef GT_DEMANGLE_EXPRESSIONS_H
#define GT_DEMANGLE_EXPRESSIONS_H
#include <ctype.h>
#include <stdio.h>
#include "formats/names/demangle_pieces.h"
#include "formats/names/demangle_words.h"

/* bare: it is a name, which needs no parentheses as an operand */
struct expression {
	struct piece text;
	bool bare;
};

static struct piece type(struct dem *d);
static struct piece encoding(struct dem *d, bool with_return);
static struct piece unqualified(struct dem *d);
static struct piece template_param(struct dem *d);
static struct piece with_args(struct dem *d, struct piece p, bool scope);
static struct piece expansion(struct dem *d, struct piece (*pattern)(struct dem *d));
static struct piece literal(struct dem *d);
static uint32_t sequence(struct dem *d, unsigned base);
static struct expression expression(struct dem *d);

static struct piece in_parentheses(struct dem *d, struct piece p)
{
	return join3(d, lit("("), p, lit(")"));
}

static struct piece parenthesize(struct dem *d, struct expression e)
{
	return e.bare ? e.text : in_parentheses(d, e.text);
}

static struct piece operand(struct dem *d) { return parenthesize(d, expression(d)); }

static struct piece expression_text(struct dem *d) { return expression(d).text; }

/* Expressions up to E, separated by commas. */
static struct piece expressions(struct dem *d)
{
	struct piece text = nothing;

	while (!d->failed && !eat(d, "E")) {
		struct piece one = expression(d).text;

		if (one.len)
			text = join3(d, text, lit(text.len ? ", " : ""), one);
	}
	return text;
}

/* _Z encoding E: a function or variable. A function that is called has neither type nor
 * parameters, nor has one in a namespace whose address is taken. */
static struct expression entity_name(struct dem *d, bool address, bool call)
{
	struct args saved = d->targs;
	struct expression e = { encoding(d, true), false };

	expect(d, "E");
	d->targs = saved;
	if (d->entity.is_function && (call || (address && d->entity.form == ENTITY_QUALIFIED)))
		e = (struct expression){ d->entity.name, d->entity.form != ENTITY_OTHER };
	else if (!d->entity.is_function)
		e.bare = d->entity.form != ENTITY_OTHER;
	return e;
}

static struct expression name_with_args(struct dem *d, struct piece p)
{
	if (peek(d) != 'I')
		return (struct expression){ p, true };
	return (struct expression){ with_args(d, p, false), false };
}

/* sr: a member of a type or of a namespace that depends on a template parameter */
static struct expression dependent_name(struct dem *d)
{
	struct piece scope = nothing;

	if (!isdigit((unsigned char)peek(d)))
		scope = type(d);
	else
		while (!d->failed && !eat(d, "E")) {
			if (peek(d) == 'I')
				scope = with_args(d, scope, false);
			else
				scope = join3(d, scope, lit(scope.len ? "::" : ""), unqualified(d));
		}
	eat(d, "on");
	return name_with_args(d, join3(d, scope, lit("::"), unqualified(d)));
}

/* fp: a parameter of the function, in the type of its result */
static struct piece parameter_reference(struct dem *d)
{
	char text[24];

	if (eat(d, "T"))
		return lit("this");
	snprintf(text, sizeof(text), "{parm#%u}", sequence(d, 10) + 1);
	return join(d, lit(text), nothing);
}

/* fl, fr: (... + x), (x + ...); fL, fR: (x + ... + y) */
static struct piece fold(struct dem *d, char kind)
{
	struct piece op = nothing, left;

	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators) && !op.len; i++)
		if (eat(d, operators[i].code))
			op = lit(operators[i].text);
	if (!op.len)
		return fail(d);
	left = operand(d);
	if (kind == 'l')
		return join(d, join3(d, lit("(..."), op, left), lit(")"));
	left = join3(d, lit("("), left, op);
	if (kind == 'r')
		return join(d, left, lit("...)"));
	return join(d, join3(d, left, lit("..."), op), join(d, operand(d), lit(")")));
}

static struct piece cast(struct dem *d)
{
	struct piece t = in_parentheses(d, type(d));

	return join(d, t, eat(d, "_") ? in_parentheses(d, expressions(d)) : operand(d));
}

/* const_cast, dynamic_cast ... */
static struct piece named_cast(struct dem *d, const char *word)
{
	struct piece t = join3(d, lit(word), lit("<"), type(d));

	return join(d, join(d, t, lit(">")), in_parentheses(d, expression(d).text));
}

static struct piece call(struct dem *d)
{
	struct piece callee =
		eat(d, "L_Z") ? parenthesize(d, entity_name(d, false, true)) : operand(d);

	return join(d, callee, in_parentheses(d, expressions(d)));
}

/* sizeof...(pack): the number of its members */
static struct piece pack_size(struct dem *d)
{
	bool outer = d->in_pack;
	uint32_t at = d->pack_at, n = d->pack_n;
	char text[12];

	d->in_pack = true;
	d->pack_at = 0;
	d->pack_n = NO_PACK;
	expression(d);
	snprintf(text, sizeof(text), "%u", d->pack_n == NO_PACK ? 0 : d->pack_n);
	d->in_pack = outer;
	d->pack_at = at;
	d->pack_n = n;
	return join(d, lit(text), nothing);
}

/* a.b, a->b */
static struct piece member(struct dem *d, const char *op)
{
	struct piece left = operand(d), right;

	if ((peek(d) == 's' && peek2(d) == 'r') || (peek(d) == 'g' && peek2(d) == 's'))
		right = operand(d);
	else {
		eat(d, "on");
		right = parenthesize(d, name_with_args(d, unqualified(d)));
	}
	return join3(d, left, lit(op), right);
}

static struct piece unary(struct dem *d, const char *code, const char *op)
{
	if (!strcmp(code, "ad") && eat(d, "L_Z"))
		return join(d, lit(op), parenthesize(d, entity_name(d, true, false)));
	if ((!strcmp(code, "pp") || !strcmp(code, "mm")) && !eat(d, "_"))
		return join(d, operand(d), lit(op));
	return join(d, lit(op), operand(d));
}

static struct piece binary(struct dem *d, const char *code, const char *op)
{
	struct piece left = operand(d);

	if (!strcmp(code, "ix"))
		return join(d, join3(d, left, lit("["), expression(d).text), lit("]"));
	left = join3(d, left, lit(op), operand(d));
	return strcmp(op, ">") ? left : in_parentheses(d, left);
}

static struct piece conditional(struct dem *d)
{
	struct piece p = join(d, operand(d), lit("?"));

	p = join(d, p, operand(d));
	return join3(d, p, lit(" : "), operand(d));
}

static struct piece operation(struct dem *d)
{
	if (peek(d) == 'f' && peek2(d) && strchr("lrLR", peek2(d))) {
		d->p += 2;
		return fold(d, d->p[-1]);
	}
	for (size_t i = 0; i < sizeof(casts) / sizeof(*casts); i++)
		if (eat(d, casts[i].code))
			return named_cast(d, casts[i].text);
	if (eat(d, "cv"))
		return cast(d);
	if (eat(d, "cl"))
		return call(d);
	if (eat(d, "st"))
		return join(d, lit("sizeof "), in_parentheses(d, type(d)));
	if (eat(d, "nx"))
		return join(d, lit("noexcept"), in_parentheses(d, expression(d).text));
	if (eat(d, "sZ"))
		return pack_size(d);
	if (eat(d, "gs"))
		return join(d, lit("::"), expression(d).text);
	if (eat(d, "dt"))
		return member(d, ".");
	if (eat(d, "pt"))
		return member(d, "->");
	if (eat(d, "sz"))
		return join(d, lit("sizeof "), operand(d));
	if (eat(d, "qu"))
		return conditional(d);
	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++)
		if (operators[i].operands && eat(d, operators[i].code))
			return (operators[i].operands == 1 ? unary : binary)(d, operators[i].code,
				operators[i].text + (*operators[i].text == ' '));
	return fail(d);
}

static struct expression expression(struct dem *d)
{
	struct expression e = { nothing, false };
	bool no_return = d->no_return;

	if (!enter(d))
		e.text = nothing;
	else if (eat(d, "L_Z"))
		e = entity_name(d, false, false);
	else if (eat(d, "L"))
		e.text = literal(d);
	else if (peek(d) == 'T')
		e.text = template_param(d);
	else if (eat(d, "sr"))
		e = dependent_name(d);
	else if (eat(d, "sp"))
		e.text = expansion(d, expression_text);
	else if (eat(d, "fp"))
		e = (struct expression){ parameter_reference(d), true };
	else if (isdigit((unsigned char)peek(d)) || eat(d, "on"))
		e = name_with_args(d, unqualified(d));
	else if (eat(d, "il"))
		e = (struct expression){ join3(d, lit("{"), expressions(d), lit("}")), true };
	else if (eat(d, "tl")) {
		struct piece t = join(d, type(d), lit("{"));

		e = (struct expression){ join3(d, t, expressions(d), lit("}")), true };
	} else
		e.text = operation(d);
	d->no_return = no_return;
	e.text = leave(d, e.text);
	return e;
}
#endif
