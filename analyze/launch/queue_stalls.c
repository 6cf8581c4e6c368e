#include "analyze/launch/queue_stalls.h"

#include <stdlib.h>
#include <string.h>
#include "formats/base/sorted.h"
#include "formats/base/buf.h"

/* without the padding behind it */
#define CALL_KEY (offsetof(struct gt_stall_call, thread) + sizeof(uint32_t))

static bool is_noted(const struct gt_queue_stalls *q, const struct gt_stall_call *c)
{
	return q->ncalls &&
		gt_map_find_item(&q->map, q->calls, sizeof(*c), c, CALL_KEY) != UINT32_MAX;
}

int gt_stalls_note_call(
	struct gt_queue_stalls *q, uint32_t thread, int64_t call, struct gt_err *err)
{
	struct gt_stall_call c = { call, thread };

	if (q->known || q->ncalls == GT_QUEUE_NOTED || is_noted(q, &c))
		return 0;
	if (gt_map_add_item(&q->map, &q->calls, &q->ncalls, &q->calls_cap, sizeof(c), &c,
		    CALL_KEY) == UINT32_MAX)
		return gt_err_set(err, -ENOMEM, "out of memory (calls)");
	return 0;
}

int gt_stalls_add_start(struct gt_stall_stream *st, int64_t start, struct gt_err *err)
{
	size_t cap = st->cap;

	if (gt_grow(&st->starts, &cap, st->n + 1ul, sizeof(*st->starts)))
		return gt_err_set(err, -ENOMEM, "out of memory (streams)");
	st->cap = (uint32_t)cap;
	st->starts[st->n++] = start;
	return 0;
}

int gt_stalls_add(
	struct gt_queue_stalls *q, const struct gt_stall *time, bool needed, struct gt_err *err)
{
	if (q->ntimes == GT_QUEUE_NOTED ||
		!(needed || is_noted(q, &(struct gt_stall_call){ time->from, time->thread })))
		return 0;
	if (gt_grow(&q->times, &q->times_cap, q->ntimes + 1, sizeof(*q->times)))
		return gt_err_set(err, -ENOMEM, "out of memory (calls)");
	q->times[q->ntimes++] = *time;
	return 0;
}

static int by_time(const void *pa, const void *pb)
{
	const struct gt_stall *a = pa, *b = pb;

	return GT_COMPARE(a->thread, b->thread) ?: GT_COMPARE(a->from, b->from);
}

/* Calls of one thread do not overlap, but a call that launches a graph on several streams may be
 * stalled by each of them: these stalls are merged. */
void gt_stalls_finish(struct gt_queue_stalls *q)
{
	size_t n = 0;

	GT_SORT(q->times, q->ntimes, by_time);
	for (size_t i = 0; i < q->ntimes; i++) {
		struct gt_stall *last = n ? &q->times[n - 1] : NULL;

		if (last && last->thread == q->times[i].thread && last->to > q->times[i].from)
			last->to = q->times[i].to > last->to ? q->times[i].to : last->to;
		else
			q->times[n++] = q->times[i];
	}
	q->ntimes = n;
	q->known = true;
}

bool gt_stalls_find(const struct gt_queue_stalls *q, uint32_t thread, int64_t from, int64_t to,
	struct gt_stall *time)
{
	/* the first that ends after `from` */
	size_t low = GT_LOWER_BOUND(i, 0, q->ntimes,
		q->times[i].thread < thread ||
			(q->times[i].thread == thread && q->times[i].to <= from));

	if (low == q->ntimes || q->times[low].thread != thread || q->times[low].from >= to)
		return false;
	*time = q->times[low];
	time->from = time->from > from ? time->from : from;
	time->to = time->to < to ? time->to : to;
	return true;
}

void gt_stalls_release(struct gt_queue_stalls *q)
{
	free(q->calls);
	free(q->times);
	gt_map_release(&q->map);
}
