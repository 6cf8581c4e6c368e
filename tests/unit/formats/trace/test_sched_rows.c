/* Rows of the scheduling of threads: the types that a writer gets, and that a reader knows. */
#define _GNU_SOURCE
#include "tests/unit/gpus.h"
#include "formats/trace/write/sched_rows.h"
#include "tests/unit/t.h"

static const char *field(const struct gt_segment *seg, const struct gt_type *type, unsigned i)
{
	return i < type->nfields ? gt_str(seg, type->fields[i].name) : "-";
}

static void types_are_known_again(void)
{
	struct gt_sched_types types;
	struct gpus g;
	struct gt_reader *r;
	const struct gt_segment *seg;
	unsigned seen = 0;

	gpus_begin(&g, NULL);
	CHECK_EQ(gt_sched_types_init(&types, g.w, &g.err), 0);
	for (unsigned i = 0; i < GT_SCHED_STATE_COUNT; i++)
		CHECK_EQ(gt_sched_put(&types, g.thread[0],
				 &(struct gt_sched_row){ .state = (enum gt_sched_state)i,
					 .start = 10 * i,
					 .end = 10 * i + 5,
					 .pid = 7,
					 .tid = 8,
					 .syscall = GT_SCHED_NO_SYSCALL },
				 &g.err),
			0);
	r = gpus_end(&g);
	CHECK(r != NULL);
	seg = gt_reader_segment(r, 0);
	CHECK_EQ(seg->rows[GT_SPAN], GT_SCHED_STATE_COUNT);
	for (uint32_t t = 0; t < seg->ntypes; t++) {
		const struct gt_type *type = &seg->types[t];
		unsigned state = gt_sched_state_of(type, gt_str(seg, type->name));

		if (state == GT_SCHED_STATE_COUNT)
			continue;
		seen |= 1u << state;
		CHECK(type->layer == GT_LAYER_SCHED && type->op == GT_OP_OFF_CPU);
		CHECK_STR(field(seg, type, GT_SCHED_BY_PID),
			gt_sched_is_blocked(state)            ? "waker_pid"
				: state == GT_SCHED_PREEMPTED ? "by_pid"
							      : "-");
		CHECK_STR(field(seg, type, GT_SCHED_SYSCALL),
			gt_sched_is_blocked(state) ? "syscall" : "-");
		CHECK_STR(field(seg, type, GT_SCHED_HOLDER),
			state == GT_SCHED_GIL ? "holder_tid" : "-");
	}
	CHECK_EQ(seen, (1u << GT_SCHED_STATE_COUNT) - 1);
	gt_reader_close(r);
}

static void calls_of_the_scheduler_are_no_states(void)
{
	const struct gt_type call = { .layer = GT_LAYER_SCHED, .op = GT_OP_SCHED },
			     state = { .layer = GT_LAYER_SCHED, .op = GT_OP_OFF_CPU };

	CHECK_EQ(gt_sched_state_of(&call, "futex"), GT_SCHED_STATE_COUNT);
	CHECK_EQ(gt_sched_state_of(&state, "futex"), GT_SCHED_FUTEX);
	CHECK_EQ(gt_sched_state_of(&state, "a reason of a later version"), GT_SCHED_OTHER);
	CHECK(gt_sched_is_blocked(GT_SCHED_FUTEX) && !gt_sched_is_blocked(GT_SCHED_RUNNABLE) &&
		!gt_sched_is_blocked(GT_SCHED_PREEMPTED));
	CHECK_STR(gt_sched_name(GT_SCHED_STATE_COUNT), "?");
}

T_MAIN(T(types_are_known_again), T(calls_of_the_scheduler_are_no_states))
