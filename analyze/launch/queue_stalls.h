/* Stalls: launch calls that do not return because the queue of their stream is full.
 *
 * A stream has a queue of GT_QUEUE_FULL launches that have not begun. A launch finds the queue full
 * if the launch GT_QUEUE_FULL places before it on its stream had not begun when the call began. The
 * call is stalled until that one begins, or until the call returns. While a stream is full its GPU
 * has work, so on that stream nothing waits for the call. But the stalled thread may be the one
 * that launches the next work of another GPU or stream, which is idle then: these are the cases
 * that count.
 *
 * When the causes of a gap are computed, a stall of a call in it may be unknown: the work of the
 * call begins a thousand launches later. So these calls are noted. Stalls of noted calls, and
 * stalls during a gap that is not complete, are kept. If there are any, the file is read a second
 * time, with all stalls known. Few traces need this. */
#ifndef GT_QUEUE_STALLS_H
#define GT_QUEUE_STALLS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "formats/base/err.h"
#include "formats/base/map.h"
#include "formats/trace/record.h"

#define GT_QUEUE_FULL 1022u /* an H200 holds 1,022 to 1,024 in a channel */
/* limit of noted calls, and of stalls (20 MiB); further ones count as usual calls */
#define GT_QUEUE_NOTED (1u << 19)

/* zeroed: empty; starts: ring of the starts of its last launches */
struct gt_stall_stream {
	int64_t *starts, call;
	uint32_t n, next, cap, thread;
};
struct gt_stall {
	int64_t from, to;
	uint32_t thread;
};
struct gt_queue_stalls { /* zeroed: empty */
	uint32_t room;   /* launches of a queue; 0: GT_QUEUE_FULL */
	bool known;      /* the file is read the second time */
	/* noted calls: they are in a gap, and their work has not begun */
	struct gt_stall_call {
		int64_t call;
		uint32_t thread;
	} * calls;
	/* stalls; when `known`, sorted by thread and time */
	struct gt_stall *times;
	size_t ncalls, calls_cap, ntimes, times_cap;
	struct gt_map map;
};

/* Notes that a gap overlaps this call. 0 or -ENOMEM. */
int gt_stalls_note_call(
	struct gt_queue_stalls *q, uint32_t thread, int64_t call, struct gt_err *err);
/* Appends a start. For gt_full_begins. */
int gt_stalls_add_start(struct gt_stall_stream *st, int64_t start, struct gt_err *err);

/* An operation of the stream begins, launched by call `by` (thread GT_NONE: unknown), which
 * returned at `returned`. 1: the call was stalled during *time; 0: it was not; or -ENOMEM. */
static inline int gt_stalls_on_start(const struct gt_queue_stalls *q, struct gt_stall_stream *st,
	int64_t start, bool graph, struct gt_stall_call by, int64_t returned, struct gt_stall *time,
	struct gt_err *err)
{
	uint32_t room = q->room ? q->room : GT_QUEUE_FULL;
	int64_t until = INT64_MIN;

	/* another node of the same launch */
	if (graph && st->n && by.thread != GT_NONE && st->thread == by.thread &&
		st->call == by.call)
		return 0;
	st->thread = by.thread;
	st->call = by.call;
	if (st->n == room) { /* the ring is full: the oldest start is replaced */
		until = st->starts[st->next];
		st->starts[st->next] = start;
		st->next = st->next + 1 < room ? st->next + 1 : 0;
	} else if (gt_stalls_add_start(st, start, err)) {
		return err->code;
	}
	*time = (struct gt_stall){ by.call, until < returned ? until : returned, by.thread };
	return by.thread != GT_NONE && time->to > time->from;
}
/* Adds a stall if it is `needed` or its call was noted. 0 or -ENOMEM. */
int gt_stalls_add(
	struct gt_queue_stalls *q, const struct gt_stall *time, bool needed, struct gt_err *err);
/* After the last operation: sorts the stalls and sets `known`. */
void gt_stalls_finish(struct gt_queue_stalls *q);
/* The first stall of the thread in [from, to), cut to this range. False: there is none. */
bool gt_stalls_find(const struct gt_queue_stalls *q, uint32_t thread, int64_t from, int64_t to,
	struct gt_stall *time);
void gt_stalls_release(struct gt_queue_stalls *q);
#endif
