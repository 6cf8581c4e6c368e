/* Launch calls that do not return because the queue of their stream is full.
 *
 * A stream has room for so many launches that have not begun (GT_QUEUE_FULL). A launch finds it
 * full where the one so many places before it on its stream had not begun when its call began, and
 * is held up until that begins, or its call returns. While a stream is full its GPU has work, so on
 * that stream nothing waits for the call: if the GPU is idle, it is between two operations that
 * were launched long ago, or the stream waits for something else. But the thread that is held up
 * may be the one that launches what comes next on another GPU, or on another stream, and that has
 * to wait: these are the cases there are.
 *
 * When a gap is cut, whether a call in it was held up may not be known yet: its own work begins a
 * thousand launches later. So the calls in question are noted; and what was held up while a GPU was
 * idle whose gap is yet to be cut is kept, too. If there is any of that, all is read once more, and
 * then it is known. That happens in few traces. */
#ifndef GT_FULL_QUEUE_H
#define GT_FULL_QUEUE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "formats/base/err.h"
#include "formats/base/map.h"
#include "formats/trace/record.h"

#define GT_QUEUE_FULL 1022u /* an H200 holds 1,022 to 1,024 in a channel */
/* calls, and times, that are kept at most: 20 MiB; those beyond are calls like all others */
#define GT_QUEUE_NOTED (1u << 19)

/* zero-initialised; starts: of its last launches */
struct gt_full_stream {
	int64_t *starts, call;
	uint32_t n, next, cap, thread;
};
struct gt_full_time {
	int64_t from, to;
	uint32_t thread;
};
struct gt_full_queue { /* zero-initialised */
	uint32_t room; /* 0: GT_QUEUE_FULL */
	bool known;    /* all is read the second time */
	/* that a gap has a part of, and whose work has not begun */
	struct gt_full_call {
		int64_t call;
		uint32_t thread;
	} * calls;
	/* in which such a call was held up; when they are known, by thread and time */
	struct gt_full_time *times;
	size_t ncalls, calls_cap, ntimes, times_cap;
	struct gt_map map;
};

/* A part of a gap is in this call. 0 or -ENOMEM. */
int gt_full_note(struct gt_full_queue *q, uint32_t thread, int64_t call, struct gt_err *err);
/* for the one below: there is room for this start, too */
int gt_full_more(struct gt_full_stream *st, int64_t start, struct gt_err *err);

/* An operation of the stream begins; by the call [launched, returned) of `thread`, or GT_NONE: that
 * is not known. 1: the call was held up, *time says when; 0: it was not; or -ENOMEM. */
static inline int gt_full_begins(const struct gt_full_queue *q, struct gt_full_stream *st,
	int64_t start, bool graph, struct gt_full_call by, int64_t returned,
	struct gt_full_time *time, struct gt_err *err)
{
	uint32_t room = q->room ? q->room : GT_QUEUE_FULL;
	int64_t until = INT64_MIN;

	/* one more node of one launch */
	if (graph && st->n && by.thread != GT_NONE && st->thread == by.thread &&
		st->call == by.call)
		return 0;
	st->thread = by.thread;
	st->call = by.call;
	if (st->n == room) { /* the oldest start in a stream's ring goes for this one */
		until = st->starts[st->next];
		st->starts[st->next] = start;
		st->next = st->next + 1 < room ? st->next + 1 : 0;
	} else if (gt_full_more(st, start, err)) {
		return err->code;
	}
	*time = (struct gt_full_time){ by.call, until < returned ? until : returned, by.thread };
	return by.thread != GT_NONE && time->to > time->from;
}
/* It is kept if its call was noted, or if somebody will ask. 0 or -ENOMEM. */
int gt_full_keep(
	struct gt_full_queue *q, const struct gt_full_time *time, bool asked, struct gt_err *err);
/* no more operations: the times are known from now on */
void gt_full_know(struct gt_full_queue *q);
/* The first time in which the thread was held up in [from, to), cut to that; false: there is none.
 */
bool gt_full_next(const struct gt_full_queue *q, uint32_t thread, int64_t from, int64_t to,
	struct gt_full_time *time);
void gt_full_release(struct gt_full_queue *q);
#endif
