/* Pieces of text in one arena, and the position in the mangled name: for demangle.c only, which
 * explains pieces. */
#ifndef GT_DEMANGLE_PIECES_H
#define GT_DEMANGLE_PIECES_H
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define NEST_MAX 200

/* infix: a function or array type */
struct piece {
	const char *s;
	uint32_t len, hole;
	bool infix;
};
struct args {
	struct arg *list;
	uint32_t n;
};
struct arg {
	struct piece text;
	struct args members;
	bool pack;
};
/* What S_ repeats. from: where its type is in the name, if it contains T_, whose meaning depends on
 * the function (`of`: its arguments); else NULL. */
struct sub {
	struct piece text;
	const char *from;
	const void *of;
};

/* How a name that was read is composed. OTHER: of a template, local, with qualifiers ... */
enum entity_form { ENTITY_OTHER, ENTITY_PLAIN, ENTITY_QUALIFIED };
struct entity {
	struct piece name; /* without parameters */
	enum entity_form form;
	bool is_function;
};

#define NO_PACK UINT32_MAX

struct dem {
	const char *p, *end;
	char *arena;
	size_t used, cap;
	struct sub *subs;
	uint32_t nsubs, nest;
	/* what T_ means now: the template arguments of the function being read */
	struct args targs;
	/* reading the type of a conversion: template arguments behind T_ are those of its function,
	 * and are not known yet */
	bool args_follow, args_unknown;
	/* reading the parameters of a lambda, where T_ means auto */
	bool in_lambda;
	struct entity entity; /* the function or variable that was read last */
	/* reading the pattern of an expansion: a pack stands for its member pack_at of pack_n,
	 * which is NO_PACK until a pack is read */
	bool in_pack;
	uint32_t pack_at, pack_n;
	/* the last component read was a constructor, destructor or conversion */
	bool no_return;
	bool parametric; /* T_ was read; the code that needs it clears it first */
	bool failed;
};

static const struct piece nothing = { "", 0, 0, false };

static struct piece fail(struct dem *d)
{
	d->failed = true;
	return nothing;
}

static char *room(struct dem *d, size_t n)
{
	char *at = d->arena + d->used;

	if (d->failed || n > d->cap - d->used) {
		d->failed = true;
		return NULL;
	}
	d->used += n;
	return at;
}

static struct piece lit(const char *s)
{
	uint32_t n = (uint32_t)strlen(s);

	return (struct piece){ s, n, n, false };
}

static struct piece join3(struct dem *d, struct piece a, struct piece b, struct piece c)
{
	uint32_t n = a.len + b.len + c.len;
	char *s = room(d, n);

	if (!s)
		return nothing;
	memcpy(s, a.s, a.len);
	memcpy(s + a.len, b.s, b.len);
	memcpy(s + a.len + b.len, c.s, c.len);
	return (struct piece){ s, n, n, false };
}

static struct piece join(struct dem *d, struct piece a, struct piece b)
{
	return join3(d, a, b, nothing);
}

/* Inserts text into the hole of a type. The hole is behind it then. */
static struct piece fill(struct dem *d, struct piece t, struct piece text)
{
	struct piece head = { t.s, t.hole, t.hole, false },
		     tail = { t.s + t.hole, t.len - t.hole, 0, false }, r;

	if (!t.infix) {
		r = join(d, t, text);
		return r;
	}
	/* has a declarator already: "(*" here ")(int)" */
	if (tail.s[0] == ')' && t.hole && head.s[t.hole - 1] != '(') {
		r = join3(d, head, text, tail);
		r.hole = head.len + text.len;
	} else {
		head = join3(d, head, lit("("), text);
		r = join3(d, head, lit(tail.len && tail.s[0] == '[' ? ") " : ")"), tail);
		r.hole = head.len;
	}
	r.infix = true;
	return r;
}

/* Inserts the end of a type behind its hole: the parameters of a function that returns t, or the
 * size of an array of t. */
static struct piece insert(struct dem *d, struct piece t, struct piece end)
{
	struct piece head = { t.s, t.hole, 0, false },
		     tail = { t.s + t.hole, t.len - t.hole, 0, false },
		     p = join3(d, head, end, tail);

	p.hole = head.len;
	p.infix = true;
	return p;
}

static char peek(const struct dem *d) { return d->p < d->end ? *d->p : '\0'; }
static char peek2(const struct dem *d) { return d->end - d->p > 1 ? d->p[1] : '\0'; }

static bool eat(struct dem *d, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(d->end - d->p) < n || memcmp(d->p, word, n))
		return false;
	d->p += n;
	return true;
}

static void expect(struct dem *d, const char *word)
{
	if (!eat(d, word))
		d->failed = true;
}

static bool enter(struct dem *d)
{
	if (++d->nest > NEST_MAX)
		d->failed = true;
	return !d->failed;
}

static struct piece leave(struct dem *d, struct piece p)
{
	d->nest--;
	return d->failed ? nothing : p;
}
#endif
