/* Calls and ranges of threads in order of time, and which encloses which.
 *
 * CUPTI delivers its buffers in any order, and the file keeps that order: thousands of calls of
 * a thread may follow later ones. Older profilers write ranges by their end. To know which call or
 * range encloses which, the importer needs them by start, the enclosing one first. So all pass an
 * external sort, and become rows at the end. Calls nest in calls, and ranges in ranges.
 *
 * A call that begins within another one and ends after it becomes a span, and is counted.
 *
 * A launch names its kernel. If the kernel follows later in the file, when the call is already in a
 * temporary file, the name becomes a record of its own (its `class` is GT_NONE), before its call.
 *
 * An end of an arrow between operators is a record (its `class` is ARROW) after the ranges that
 * start at the same time. */
#include "formats/import/kineto/import_kineto.h"

#include "formats/base/buf.h"

#define BUFFER 32768u                 /* records in memory: 1.5 MiB */
#define DEPTH_MAX 4096u               /* nested calls (or ranges) that are stored */
enum { KERNEL = 1, STACK, SEQUENCE }; /* in args */
#define ARROW (GT_NONE - 1)           /* a class: args has the id and the phase */

struct ordered {
	int64_t start, end;
	uint64_t number : 48, thread : 16; /* of a name: the number of its call */
	uint64_t args[GT_KINETO_ARGS];
	uint32_t cls;
	int32_t ret;
};

static bool before(const void *a, const void *b)
{
	const struct ordered *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start;
	if (x->end != y->end)
		return x->end > y->end;
	if (x->number != y->number)
		return x->number < y->number;
	return x->cls == GT_NONE && y->cls != GT_NONE;
}

_Static_assert(GT_KINETO_TRACKS <= 1 << 16, "a thread's number has 16 bits");

static struct ordered *add(struct gt_kineto *k, struct gt_err *err)
{
	struct gt_sorter *s = &k->ordered;

	if (!s->size && gt_sorter_init(s, sizeof(struct ordered), BUFFER, before, err))
		return NULL;
	return gt_sorter_add(s, err);
}

uint64_t gt_kineto_next_number(const struct gt_kineto *k) { return k->ordered.added; }

int gt_kineto_order(struct gt_kineto *k, size_t thread, const struct gt_kineto_event *ev,
	uint32_t cls, const uint64_t args[GT_KINETO_ARGS], struct gt_err *err)
{
	uint64_t number = gt_kineto_next_number(k);
	struct ordered *o = add(k, err);

	if (!o)
		return err->code;
	*o = (struct ordered){ .start = ev->ts,
		.end = ev->ts + ev->dur,
		.number = number,
		.thread = (uint16_t)thread,
		.cls = cls,
		.ret = ev->ret };
	memcpy(o->args, args, sizeof(o->args));
	return 0;
}

int gt_kineto_name_launch(struct gt_kineto *k, uint64_t number, int64_t start, int64_t end,
	uint32_t kernel, struct gt_err *err)
{
	struct ordered *o = gt_sorter_find(&k->ordered, number);

	if (!o) {
		o = add(k, err);
		if (!o)
			return err->code;
		*o = (struct ordered){ start, end, .number = number, .cls = GT_NONE };
	}
	o->args[KERNEL] = kernel;
	return 0;
}

int gt_kineto_order_arrow(
	struct gt_kineto *k, size_t thread, const struct gt_kineto_event *ev, struct gt_err *err)
{
	uint64_t number = gt_kineto_next_number(k);
	struct ordered *o = add(k, err);

	if (!o)
		return err->code;
	*o = (struct ordered){ .start = ev->ts,
		.end = INT64_MIN,
		.number = number,
		.thread = (uint16_t)thread,
		.args = { ev->id, (uint64_t)ev->phase },
		.cls = ARROW };
	return 0;
}

/* ---- rows ---- */

/* Removes those that ended by `start`. Returns the number of the others: the depth of what begins
 * then. */
static size_t pop_ended(struct gt_kineto_nest *nest, int64_t start)
{
	while (nest->n && nest->open[nest->n - 1].end <= start)
		nest->n--;
	return nest->n;
}

static uint8_t push_open(struct gt_kineto_nest *nest, const struct ordered *o, uint8_t op)
{
	size_t depth = nest->n, size = sizeof(*nest->open);

	if (depth < DEPTH_MAX && !gt_grow(&nest->open, &nest->cap, depth + 1, size)) {
		memset(&nest->open[nest->n], 0, size);
		nest->open[nest->n].start = o->start;
		nest->open[nest->n].end = o->end;
		nest->open[nest->n].cls = o->cls;
		nest->open[nest->n].sequence = o->args[SEQUENCE];
		nest->open[nest->n++].op = op;
	}
	return depth < UINT8_MAX ? (uint8_t)depth : UINT8_MAX;
}

/* Sets depth and type of a call's row. Returns the row's kind. */
static enum gt_kind nest_call(struct gt_kineto *k, const struct ordered *o, struct gt_row *row)
{
	struct gt_kineto_nest *calls = &k->threads[o->thread].calls;
	const struct gt_kineto_class *cls = &k->classes[o->cls];
	size_t depth = pop_ended(calls, o->start);

	if (depth && calls->open[depth - 1].end < o->end) {
		k->counts.not_nested++;
		return GT_SPAN;
	}
	if (depth && calls->open[depth - 1].op == cls->op)
		row->type = cls->inner;
	row->depth = push_open(calls, o, cls->op);
	return GT_CALL;
}

static int put_range(struct gt_kineto *k, const struct ordered *o, struct gt_err *err)
{
	const struct gt_kineto_class *cls = &k->classes[o->cls];
	struct gt_kineto_thread *t = &k->threads[o->thread];
	struct gt_row row = {
		.start = o->start, .end = o->end, .type = cls->type, .nargs = cls->nfields
	};
	int e = 0;

	row.ret = o->ret;
	pop_ended(&t->ranges, o->start);
	row.depth = push_open(&t->ranges, o, GT_OP_NONE);
	if (o->args[SEQUENCE] && k->has_backward)
		e = gt_kineto_note_forward(k, o->thread, o->start, err);
	return e ? e : gt_kineto_put_host(k, GT_SPAN, t->track, &row, cls, o->args, err);
}

static int put_call(struct gt_kineto *k, const struct ordered *o, struct gt_err *err)
{
	const struct gt_kineto_class *cls = &k->classes[o->cls];
	struct gt_kineto_thread *t = &k->threads[o->thread];
	struct gt_row row = { .start = o->start,
		.end = o->end,
		.type = cls->type,
		.ret = o->ret,
		.nargs = cls->nfields };
	enum gt_kind kind = nest_call(k, o, &row);

	return gt_kineto_put_host(k, kind, t->track, &row, cls, o->args, err);
}

/* Writes a call, with the stack of its forward operator if it is of the backward pass, and the GPU
 * work that waits for this. */
static int put_stacked_call(struct gt_kineto *k, struct ordered *o, struct gt_err *err)
{
	uint32_t stack = 0;
	int64_t cls = o->cls;
	int e;

	if (k->has_backward && !(k->classes[o->cls].extra & GT_KINETO_STACKED))
		stack = gt_kineto_backward_stack(k, o->thread, o->start);
	if (stack) {
		cls = gt_kineto_stacked_class(k, o->cls, err);
		if (cls < 0)
			return (int)cls;
		o->cls = (uint32_t)cls;
		o->args[STACK] = stack - 1;
	}
	e = put_call(k, o, err);
	return e ? e : gt_kineto_put_stacked(k, o->number, o->start, o->end, stack, err);
}

int gt_kineto_order_finish(struct gt_kineto *k, struct gt_err *err)
{
	struct ordered o, name = { .cls = 0 };
	int more = k->ordered.size != 0, e = 0;

	while (!e && more && (more = gt_sorter_next(&k->ordered, &o, err)) > 0) {
		if (o.cls == GT_NONE) {
			name = o;
			continue;
		}
		if (name.cls == GT_NONE && o.number == name.number)
			o.args[KERNEL] = name.args[KERNEL];
		if (o.cls == ARROW)
			e = gt_kineto_note_arrow(
				k, o.thread, o.args[0], (char)o.args[1], o.start, err);
		else
			e = k->classes[o.cls].call ? put_stacked_call(k, &o, err)
						   : put_range(k, &o, err);
	}
	return e ? e : more;
}
