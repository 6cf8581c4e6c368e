/* Calls in order of time, and which call encloses which.
 *
 * CUPTI delivers its buffers in any order, and the file keeps that order: thousands of calls of
 * a thread may follow later ones. To know which call encloses which, the importer needs them by
 * start, the enclosing one first. So all calls pass an external sort, and become rows at the end.
 *
 * A call that begins within another one and ends after it is a span, and is counted.
 *
 * A launch names its kernel. If the kernel follows later in the file, when the call is already in a
 * temporary file, the name becomes a record of its own (its `what` is GT_NONE), before its call. */
#include "formats/import_kineto.h"

#include "formats/base/buf.h"

#define BUFFER 32768u		/* records in memory: 1.5 MiB */
#define DEPTH_MAX 4096u		/* calls within one another that are looked at */

struct ordered_call {
	int64_t start, end;
	uint64_t number;	/* of its record; of a name: of its call's */
	uint64_t correlation;
	uint32_t thread, what, kernel;
	int32_t ret;
};

static bool before(const void *a, const void *b)
{
	const struct ordered_call *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start;
	if (x->end != y->end)
		return x->end > y->end;
	if (x->number != y->number)
		return x->number < y->number;
	return x->what == GT_NONE && y->what != GT_NONE;
}

static int add(struct gt_kineto *k, const struct ordered_call *c, struct gt_err *err)
{
	void *to;

	if (!k->calls_by_time.size &&
	    gt_sorter_init(&k->calls_by_time, sizeof(*c), BUFFER, before, err))
		return err->code;
	to = gt_sorter_add(&k->calls_by_time, err);
	if (to)
		memcpy(to, c, sizeof(*c));
	return to ? 0 : err->code;
}

uint64_t gt_kineto_next_call(const struct gt_kineto *k) { return k->calls_by_time.added; }

int gt_kineto_order_call(struct gt_kineto *k, size_t thread, const struct gt_kineto_event *ev,
			 uint32_t what, uint32_t kernel, struct gt_err *err)
{
	struct ordered_call c = {
		.start = ev->ts, .end = ev->ts + ev->dur, .number = gt_kineto_next_call(k),
		.correlation = ev->correlation, .thread = (uint32_t)thread, .what = what,
		.kernel = kernel, .ret = ev->ret,
	};

	return add(k, &c, err);
}

int gt_kineto_name_launch(struct gt_kineto *k, uint64_t number, int64_t start, int64_t end,
			  uint32_t kernel, struct gt_err *err)
{
	struct ordered_call name = { start, end, number, .what = GT_NONE, .kernel = kernel };
	struct ordered_call *c = gt_sorter_find(&k->calls_by_time, number);

	if (!c)
		return add(k, &name, err);
	c->kernel = kernel;
	return 0;
}

/* How many calls enclose this one; negative: it ends after one of them. *outer: what that does. */
static int enter(struct gt_kineto_thread *t, const struct ordered_call *c, uint8_t op,
		 uint8_t *outer)
{
	size_t depth;

	while (t->ncalls && t->calls[t->ncalls - 1].end <= c->start)
		t->ncalls--;
	depth = t->ncalls;
	*outer = depth ? t->calls[depth - 1].op : GT_OP_NONE;
	if (depth && t->calls[depth - 1].end < c->end)
		return -1;
	if (depth < DEPTH_MAX && !gt_grow(&t->calls, &t->calls_cap, depth + 1, sizeof(*t->calls))) {
		t->calls[t->ncalls].end = c->end;
		t->calls[t->ncalls++].op = op;
	}
	return depth < UINT8_MAX ? (int)depth : UINT8_MAX;
}

static int put(struct gt_kineto *k, const struct ordered_call *c, uint32_t kernel,
	       struct gt_err *err)
{
	const struct gt_kineto_what *what = &k->whats[c->what];
	struct gt_kineto_thread *t = &k->threads[c->thread];
	struct gt_row row = { .start = c->start, .end = c->end, .type = what->type, .ret = c->ret,
			      .nargs = what->nfields };
	uint64_t args[] = { c->correlation, kernel };
	uint8_t outer;
	int depth = enter(t, c, what->op, &outer);

	if (depth < 0) {
		k->counts.not_nested++;
		return gt_kineto_put(k, GT_SPAN, t->track, &row, args + what->first_arg, err);
	}
	row.depth = (uint8_t)depth;
	if (depth && outer == what->op)
		row.type = what->inner;
	return gt_kineto_put(k, GT_CALL, t->track, &row, args + what->first_arg, err);
}

int gt_kineto_order_finish(struct gt_kineto *k, struct gt_err *err)
{
	uint64_t named = UINT64_MAX;
	uint32_t name = GT_NONE;
	struct ordered_call c;
	int more = k->calls_by_time.size != 0, e = 0;

	while (!e && more && (more = gt_sorter_next(&k->calls_by_time, &c, err)) > 0) {
		if (c.what == GT_NONE) {
			named = c.number;
			name = c.kernel;
			continue;
		}
		e = put(k, &c, c.number == named ? name : c.kernel, err);
	}
	return e ? e : more;
}
