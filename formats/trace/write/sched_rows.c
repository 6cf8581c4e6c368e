/* Types and rows of the scheduling of threads. */
#include "formats/trace/write/sched_rows.h"

#include <errno.h>
#include <string.h>

#define X(e, name, category) name,
static const char *const names[] = { GT_SCHED_STATE_NAMES(X) };
#undef X
#define X(e, name, category) GT_CAT_##category,
static const uint8_t categories[] = { GT_SCHED_STATE_NAMES(X) };
#undef X
static const struct fields {
	unsigned n;
	const char *names[4];
} blocked = { 3, { "waker_pid", "waker_tid", "syscall" } },
  gil = { 4, { "waker_pid", "waker_tid", "syscall", "holder_tid" } },
  preempted = { 2, { "by_pid", "by_tid" } }, none;

static const struct fields *fields_of(unsigned state)
{
	return state == GT_SCHED_GIL          ? &gil
		: gt_sched_is_blocked(state)  ? &blocked
		: state == GT_SCHED_PREEMPTED ? &preempted
					      : &none;
}

const char *gt_sched_name(unsigned state)
{
	return state < GT_SCHED_STATE_COUNT ? names[state] : "?";
}

uint8_t gt_sched_category(unsigned state)
{
	return state < GT_SCHED_STATE_COUNT ? categories[state] : GT_CAT_SCHEDULER;
}

static uint32_t make_type(struct gt_writer *w, unsigned state, bool has_stack)
{
	const struct fields *in = fields_of(state);
	struct gt_field fields[5];
	struct gt_type type = { .name = gt_writer_string(w, names[state]),
		.category = categories[state],
		.op = GT_OP_OFF_CPU,
		.layer = GT_LAYER_SCHED,
		.nfields = (uint8_t)(in->n + has_stack),
		.fields = fields };

	for (unsigned i = 0; i < in->n && i < 4; i++)
		fields[i] = (struct gt_field){ gt_writer_string(w, in->names[i]),
			i == GT_SCHED_SYSCALL ? GT_F_I64 : GT_F_U64, GT_R_NONE };
	if (has_stack)
		fields[in->n] =
			(struct gt_field){ gt_writer_string(w, "stack"), GT_F_U64, GT_R_STACK };
	return gt_writer_type(w, &type);
}

int gt_sched_types_init(struct gt_sched_types *t, struct gt_writer *w, struct gt_err *err)
{
	t->w = w;
	for (unsigned i = 0; i < GT_SCHED_STATE_COUNT; i++)
		t->stacked[i] = GT_NONE;
	for (unsigned i = 0; i < GT_SCHED_STATE_COUNT; i++)
		if ((t->types[i] = make_type(w, i, false)) == GT_NONE)
			return gt_err_set(err, -ENOMEM, "out of memory (scheduler's types)");
	return 0;
}

/* Types with a stack are made when there is one. */
static bool has_stack(struct gt_sched_types *t, const struct gt_sched_row *row)
{
	if (!row->stack)
		return false;
	if (t->stacked[row->state] == GT_NONE)
		t->stacked[row->state] = make_type(t->w, row->state, true);
	return t->stacked[row->state] != GT_NONE;
}

int gt_sched_put(struct gt_sched_types *t, uint32_t track, const struct gt_sched_row *row,
	struct gt_err *err)
{
	const unsigned n = fields_of(row->state)->n;
	const bool stacked = has_stack(t, row);
	uint64_t args[] = { row->pid, row->tid, (uint64_t)row->syscall, row->holder, 0 };
	const struct gt_row to = { .start = row->start,
		.end = row->end,
		.type = stacked ? t->stacked[row->state] : t->types[row->state],
		.nargs = (uint8_t)(n + stacked) };

	args[n] = row->stack - 1;
	return gt_writer_row(t->w, GT_SPAN, track, &to, args, err);
}

unsigned gt_sched_state_of(const struct gt_type *type, const char *name)
{
	if (type->op != GT_OP_OFF_CPU)
		return GT_SCHED_STATE_COUNT;
	for (unsigned i = 0; i < GT_SCHED_STATE_COUNT; i++)
		if (!strcmp(names[i], name))
			return i;
	return GT_SCHED_OTHER;
}
