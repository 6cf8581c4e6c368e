/* A second evaluation of queries, which looks at one row of a random program at a time, and
 * random queries for it. The includer defines _GNU_SOURCE (memfd_create). */
#ifndef NAIVE_QUERIES_H
#define NAIVE_QUERIES_H
#include "formats/base/buf.h"
#include "tests/unit/analyze/query/queries.h"
#include "tests/unit/random_program.h"

struct nq_value {
	bool there;
	const char *text;
	double n;
};
struct nq_row { /* a row and its fields */
	const char *kind, *name, *category, *layer;
	int64_t start, end;
	const struct rp_call *call;
	const struct rp_op *op;
	const struct rp_call *launch;
};
static struct rp nq_program;
static struct nq_row nq_rows[2 * RP_MOST]; /* those of the program */
static int nq_n;

static inline const char *nq_short_name(const char *name)
{
	static const char *const forms[5] = { "add", "mul", "gemm<128>", "ncclDevKernel_AllReduce",
		"relu" };

	for (int i = 0; i < 5; i++)
		if (!strcmp(rp_kernels[i], name))
			return forms[i];
	return name;
}

static inline void nq_collect(void)
{
	static char names[2 * RP_MOST][64];

	nq_n = 0;
	for (int i = 0; i < nq_program.ncalls; i++) {
		const struct rp_call *c = &nq_program.calls[i];

		nq_rows[nq_n++] = (struct nq_row){ c->open ? "open"
				: c->what == RP_IOCTL      ? "ioctl"
							   : "call",
			rp_kinds[c->what].name, gt_category_word(rp_kinds[c->what].category),
			c->what == RP_IOCTL ? "ioctl" : "api", c->start, c->end, c, NULL, NULL };
	}
	for (int i = 0; i < nq_program.nops; i++) {
		const struct rp_op *o = &nq_program.ops[i];
		struct nq_row *n = &nq_rows[nq_n];

		if (o->what == RP_LAUNCH)
			snprintf(names[nq_n], 64, "%s", nq_short_name(rp_kernels[o->kernel]));
		else if (o->what == RP_COPY)
			snprintf(names[nq_n], 64, "memcpy %s (%s -> %s)",
				gt_direction_word(o->direction), gt_gpu_memory_word(o->src),
				gt_gpu_memory_word(o->dst));
		else
			strcpy(names[nq_n], "memset (device)");
		*n = (struct nq_row){ o->what == RP_LAUNCH ? "kernel"
				: o->what == RP_COPY       ? "copy"
							   : "set",
			names[nq_n], o->what == RP_LAUNCH ? "kernel" : "copy", "gpu", o->start,
			o->end, NULL, o, o->call < 0 ? NULL : &nq_program.calls[o->call] };
		nq_n++;
	}
}

static inline int64_t nq_origin(void)
{
	int64_t first = INT64_MAX;

	for (int i = 0; i < nq_n; i++)
		first = nq_rows[i].start < first ? nq_rows[i].start : first;
	return first;
}

static inline struct nq_value nq_text(const char *s)
{
	return (struct nq_value){ s != NULL, s, 0 };
}
static inline struct nq_value nq_number(bool there, double n)
{
	return (struct nq_value){ there, NULL, n };
}

static inline struct nq_value nq_field(const struct nq_row *r, const char *name)
{
	const struct rp_call *c = r->call;
	const struct rp_op *o = r->op;
	bool sized = c ? c->what != RP_LAUNCH : o->what != RP_LAUNCH;
	double bytes = c ? (double)c->bytes : (double)o->bytes;

	if (!strcmp(name, "kind"))
		return nq_text(r->kind);
	if (!strcmp(name, "name"))
		return nq_text(r->name);
	if (!strcmp(name, "category"))
		return nq_text(r->category);
	if (!strcmp(name, "layer"))
		return nq_text(r->layer);
	if (!strcmp(name, "dur"))
		return nq_number(true, (double)(r->end - r->start));
	if (!strcmp(name, "start"))
		return nq_number(true, (double)(r->start - nq_origin()));
	if (!strcmp(name, "tid"))
		return nq_number(c, c ? 100 + c->thread : 0);
	if (!strcmp(name, "pid"))
		return nq_number(true, 100);
	if (!strcmp(name, "depth"))
		return nq_number(c, c ? c->depth : 0);
	if (!strcmp(name, "ret"))
		return nq_number(c && !c->open, c ? c->ret : 0);
	if (!strcmp(name, "failed"))
		return nq_number(c && !c->open, c ? c->ret != 0 : 0);
	if (!strcmp(name, "device"))
		return nq_number(o, o ? o->device : 0);
	if (!strcmp(name, "stream"))
		return nq_number(o, o ? 7 + o->stream : 0);
	if (!strcmp(name, "bytes"))
		return nq_number(sized && !(c && c->open && !bytes), bytes);
	if (!strcmp(name, "launch"))
		return nq_text(r->launch ? rp_kinds[r->launch->what].name : NULL);
	if (!strcmp(name, "launch_tid"))
		return nq_number(r->launch, r->launch ? 100 + r->launch->thread : 0);
	if (!strcmp(name, "launch_dur"))
		return nq_number(
			r->launch, r->launch ? (double)(r->launch->end - r->launch->start) : 0);
	if (!strcmp(name, "queue"))
		return nq_number(r->launch && r->start >= r->launch->end,
			r->launch ? (double)(r->start - r->launch->end) : 0);
	if (!strcmp(name, "direction"))
		return nq_text(c                     ? "HtoD"
				: o->what == RP_COPY ? gt_direction_word(o->direction)
						     : NULL);
	if (!strcmp(name, "src"))
		return nq_text(o && o->what == RP_COPY ? gt_gpu_memory_word(o->src) : NULL);
	abort();
}

/* ---- conditions ---- */

/* op: '&' '|' '!' or 't' */
struct nq_expr {
	int op;
	struct nq_expr *a, *b;
	const char *field, *sign;
	double n;
	const char *text;
};
static struct nq_expr nq_pool[64];
static int nq_npool;

/* Is the expression true for that row? A comparison is false if the row does not have the field. */
static inline bool nq_holds(const struct nq_expr *e, const struct nq_row *r)
{
	struct nq_value v;

	if (e->op == '&')
		return nq_holds(e->a, r) && nq_holds(e->b, r);
	if (e->op == '|')
		return nq_holds(e->a, r) || nq_holds(e->b, r);
	if (e->op == '!')
		return !nq_holds(e->a, r);
	v = nq_field(r, e->field);
	if (!v.there)
		return false;
	if (!*e->sign)
		return v.text ? *v.text : v.n != 0;
	if (!strcmp(e->sign, "~"))
		return strstr(v.text, e->text);
	if (!strcmp(e->sign, "!~"))
		return !strstr(v.text, e->text);
	if (v.text)
		return !strcmp(v.text, e->text) == !strcmp(e->sign, "==");
	return !strcmp(e->sign, "==")    ? v.n == e->n
		: !strcmp(e->sign, "!=") ? v.n != e->n
		: !strcmp(e->sign, "<")  ? v.n < e->n
		: !strcmp(e->sign, "<=") ? v.n <= e->n
		: !strcmp(e->sign, ">")  ? v.n > e->n
					 : v.n >= e->n;
}

static inline const char *nq_pick(const char *const *list, int n) { return list[rp_below(n)]; }
#define NQ_PICK(...)                                                                               \
	nq_pick((const char *const[]){ __VA_ARGS__ },                                              \
		(int)(sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *)))

static inline struct nq_expr *nq_random(int depth)
{
	struct nq_expr *e = &nq_pool[nq_npool++];
	int what = depth > 3 ? 9 : rp_below(10);

	*e = (struct nq_expr){ .op = what < 3 ? '&' : what < 5 ? '|' : what < 6 ? '!' : 't' };
	if (e->op != 't') {
		e->a = nq_random(depth + 1);
		e->b = e->op == '!' ? NULL : nq_random(depth + 1);
		return e;
	}
	if (rp_below(2)) {
		e->field =
			NQ_PICK("kind", "name", "category", "layer", "launch", "direction", "src");
		e->sign = NQ_PICK("==", "!=", "~", "!~", "");
		e->text = !strcmp(e->field, "kind")
			? NQ_PICK("kernel", "call", "copy", "open", "ioctl", "set")
			: !strcmp(e->field, "category")
			? NQ_PICK("launch", "copy", "kernel", "sync", "ioctl")
			: !strcmp(e->field, "layer")     ? NQ_PICK("api", "gpu", "ioctl")
			: !strcmp(e->field, "direction") ? NQ_PICK("HtoD", "DtoH")
			: !strcmp(e->field, "src")       ? NQ_PICK("pageable", "device", "pinned")
						   : NQ_PICK("cuLaunchKernel", "Mem", "add", "e",
							     "cuEventQuery", "memset (device)");
		return e;
	}
	e->field = NQ_PICK("dur", "dur", "start", "tid", "depth", "ret", "failed", "device",
		"stream", "bytes", "launch_tid", "launch_dur", "queue");
	e->sign = !strcmp(e->field, "failed") ? NQ_PICK("==", "!=", "")
					      : NQ_PICK("==", "!=", "<", "<=", ">", ">=", "");
	e->n = rp_below(3) ? rp_below(40) : rp_below(8000);
	if (strstr("tid launch_tid", e->field))
		e->n = 99 + rp_below(3);
	if (strstr("stream", e->field))
		e->n = 6 + rp_below(3);
	if (strstr("failed device depth ret", e->field))
		e->n = rp_below(2);
	return e;
}

static inline void nq_put(struct gt_buf *b, const struct nq_expr *e)
{
	const char *unit = e->field && strstr("dur start queue launch_dur", e->field) ? "ns" : "";

	if (e->op == '!' || e->op == '&' || e->op == '|') {
		gt_buf_str(b, e->op == '!' ? "!(" : "(");
		nq_put(b, e->a);
		if (e->b) {
			gt_buf_str(b, e->op == '&' ? " && " : "||");
			nq_put(b, e->b);
		}
		gt_buf_str(b, ")");
	} else if (!*e->sign)
		gt_buf_str(b, e->field);
	else if (!e->text)
		gt_buf_printf(b, "%s %s %.0f%s", e->field, e->sign, e->n, unit);
	else if (*e->sign == '~' || e->sign[1] == '~')
		gt_buf_printf(b, e->text[0] == 'e' ? "%s%s/%s/" : "%s%s'*%s*'", e->field, e->sign,
			e->text);
	else
		gt_buf_printf(b, "%s%s\"%s\"", e->field, e->sign, e->text);
}

/* ---- answers ---- */

/* Do the cells of the report's row equal those of this row? */
static inline bool nq_same_group(const json_t *have, const struct nq_row *r, const char *const *by)
{
	for (; *by; by++) {
		const json_t *cell = json_object_get(have, *by);
		struct nq_value v = nq_field(r, *by);

		if (json_is_null(cell) == v.there ||
			(v.there && v.text && strcmp(json_string_value(cell), v.text) != 0) ||
			(v.there && !v.text && json_number_value(cell) != v.n))
			return false;
	}
	return true;
}

static inline const char *const *nq_by(unsigned seed)
{
	static const char *const lists[][4] = {
		{ "name" },
		{ "kind" },
		{ "kind", "tid" },
		{ "device", "stream" },
		{ "failed", "name" },
		{ "launch" },
		{ "direction", "src" },
		{ "depth" },
		{ "layer", "category", "launch_tid" },
	};

	return lists[seed % (sizeof(lists) / sizeof(*lists))];
}

/* A random query on a random program: where is its text, expr its meaning, fields the text of
 * by. */
struct nq_question {
	const struct nq_expr *expr;
	const char *const *by;
	struct gt_buf where, fields;
};

/* The program as a trace; the caller closes the reader. nq_end releases the question. */
static inline struct gt_reader *nq_begin(
	struct nq_question *q, unsigned seed, const char *const *by)
{
	struct gt_reader *r = rp_make(&nq_program, seed);

	nq_collect();
	nq_npool = 0;
	*q = (struct nq_question){ .expr = nq_random(0), .by = by };
	nq_put(&q->where, q->expr);
	gt_buf_byte(&q->where, 0);
	for (; *by; by++)
		gt_buf_printf(&q->fields, "%s%s", by == q->by ? "" : ",", *by);
	gt_buf_byte(&q->fields, 0);
	return r;
}

static inline json_t *nq_ask(struct gt_reader *r, const struct nq_question *q, const char *agg,
	const struct gt_analysis_options *o)
{
	return ask(r, (const char *)q->where.data, (const char *)q->fields.data, agg, o);
}

/* Does the row belong to the group of this row of the report? */
static inline bool nq_counts(
	const struct nq_question *q, const json_t *have, const struct nq_row *r)
{
	return nq_holds(q->expr, r) && nq_same_group(have, r, q->by);
}

static inline void nq_end(struct nq_question *q)
{
	gt_buf_release(&q->where);
	gt_buf_release(&q->fields);
}
#endif
