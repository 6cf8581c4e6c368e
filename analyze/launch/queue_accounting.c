#include "analyze/launch/queue_accounting.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/launch/queue_stalls.h"
#include "formats/base/buf.h"

#define FED 4096 /* launches whose moments are sorted together */

enum what {
	CALL_BEGINS,
	CALL_RETURNS,
	WAITS /* likewise, and its work has not begun */,
	WORK_STARTS
};

/* ---- moments in order ---- */

/* Reports that the values of the queue were valid until `at`. */
static void account(struct gt_queues *q, struct gt_queue *l, int64_t at)
{
	int64_t since = l->since;

	if (at <= since)
		return;
	q->on_values(q, l, since, at);
	l->since = at;
}

static void change(struct gt_queue *l, unsigned what)
{
	l->calling += what == CALL_BEGINS;
	l->calling -= what == CALL_RETURNS || what == WAITS;
	l->depth += what == WAITS;
	l->depth -= what == WORK_STARTS;
}

static int on_moment(void *arg, const struct gt_moment *m, struct gt_err *err)
{
	struct gt_queues *q = arg;
	struct gt_queue *l = &q->list[m->place], *device = &q->list[q->number[m->addr] - 1];
	uint64_t full = l->depth >= GT_QUEUE_FULL, blocked = full && l->calling;

	/* the values do not change */
	if (!full && (m->what == CALL_BEGINS || m->what == CALL_RETURNS)) {
		change(device, m->what);
		if (l != device)
			change(l, m->what);
		return 0;
	}
	account(q, device, m->at);
	if (l != device) {
		account(q, l, m->at);
		change(l, m->what);
	}
	change(device, m->what);
	device->nfull += (uint64_t)(l->depth >= GT_QUEUE_FULL) - full;
	device->nblocked += (uint64_t)(l->depth >= GT_QUEUE_FULL && l->calling) - blocked;
	return 0;
}

/* ---- rows ---- */

/* The index of a queue, or SIZE_MAX: no memory. */
static size_t queue_of(struct gt_queues *q, const struct gt_segment *seg, uint32_t track,
	uint32_t device, struct gt_err *err)
{
	const uint32_t *tracks = q->gpu.order.tracks;

	if (q->number && q->number[track])
		return q->number[track] - 1;
	if ((!q->number &&
		    !(q->number = calloc(tracks[q->gpu.order.nsegs] + 1ul, sizeof(*q->number)))) ||
		gt_grow(&q->list, &q->cap, q->n + 1, sizeof(*q->list))) {
		gt_err_set(err, -ENOMEM, "out of memory (streams)");
		return SIZE_MAX;
	}
	q->list[q->n++] = (struct gt_queue){ .seg = seg,
		.track = track - tracks[seg->index],
		.device = device - tracks[seg->index],
		.since = INT64_MIN };
	q->number[track] = (uint32_t)q->n;
	return q->n - 1;
}

/* The index of the queue of its stream, or of its device if there are too many streams. SIZE_MAX:
 * no memory, or (without error) too many devices. */
static size_t queue_of_op(struct gt_queues *q, const struct gt_grouped_op *op, struct gt_err *err)
{
	bool full = q->n >= GT_QUEUES_MOST && q->number;

	if (full && !q->number[op->device]) {
		q->beyond++;
		return SIZE_MAX;
	}
	if (queue_of(q, op->seg, op->device, op->device, err) == SIZE_MAX)
		return SIZE_MAX;
	full = q->n >= GT_QUEUES_MOST && !q->number[op->track];
	q->streams_beyond |= full;
	return queue_of(q, op->seg, full ? op->device : op->track, op->device, err);
}

/* Each of the three kinds of moments is nearly sorted, all together are not. */
static int feed(struct gt_queues *q, struct gt_err *err)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < 3; i++) {
		struct gt_moment *to;

		if (!q->nfed[i])
			continue;
		to = gt_time_merge_reserve(&q->line, q->nfed[i], err);
		if (!to)
			return -ENOMEM;
		memcpy(to, q->fed[i], q->nfed[i] * sizeof(*to));
		gt_time_merge_commit(&q->line, q->nfed[i]);
		q->nfed[i] = 0;
		rc = gt_time_merge_advance(&q->line, INT64_MIN, on_moment, q, err);
	}
	return rc;
}

static int flush(struct gt_queues *q, struct gt_err *err)
{
	int rc = feed(q, err);

	rc = rc ? rc : gt_time_merge_flush(&q->line, on_moment, q, err);
	q->late += q->line.late;
	gt_time_merge_release(&q->line);
	return rc;
}

static void put(struct gt_queues *q, unsigned which, enum what what, size_t place, uint32_t device,
	int64_t at)
{
	q->fed[which][q->nfed[which]++] = (struct gt_moment){
		.at = at, .place = (uint32_t)place, .what = what, .addr = device
	};
}

static int add_launch(
	struct gt_queues *q, const struct gt_grouped_op *op, size_t place, struct gt_err *err)
{
	const struct gt_launch *call = op->launch;
	bool waits = op->start > call->end;

	if (q->nfed[0] == FED) {
		int rc = feed(q, err);

		if (rc)
			return rc;
	}
	put(q, 0, CALL_BEGINS, place, op->device, call->start);
	put(q, 1, waits ? WAITS : CALL_RETURNS, place, op->device, call->end);
	if (waits)
		put(q, 2, WORK_STARTS, place, op->device, op->start);
	return 0;
}

static int on_op(void *arg, const struct gt_grouped_op *op, struct gt_err *err)
{
	struct gt_queues *q = arg;
	size_t at;
	int rc = 0;

	if (q->seg != op->seg) {
		rc = q->seg ? flush(q, err) : 0;
		q->seg = op->seg;
	}
	if (rc || (at = queue_of_op(q, op, err)) == SIZE_MAX)
		return rc ? rc : err->code;
	rc = q->work(q, op, at, q->number[op->device] - 1, err);
	return rc || !op->launch || !op->first ? rc : add_launch(q, op, at, err);
}

int gt_queues_init(struct gt_queues *q, struct gt_reader *r, const struct gt_analysis_options *opt,
	struct gt_err *err)
{
	int rc = gt_launch_grouping_init(&q->gpu, r, opt, on_op, NULL, err);

	for (int i = 0; !rc && i < 3; i++) {
		q->fed[i] = malloc(FED * sizeof(**q->fed));
		rc = q->fed[i] ? 0 : gt_err_set(err, -ENOMEM, "out of memory (launches)");
	}
	return rc;
}

int gt_queues_run(struct gt_queues *q, const struct gt_cols *cols, struct gt_err *err)
{
	return gt_launch_grouping_run(&q->gpu, cols, err);
}

int gt_queues_finish(struct gt_queues *q, struct gt_err *err)
{
	int rc = gt_launch_grouping_finish(&q->gpu, err);

	return rc ? rc : flush(q, err);
}

void gt_queues_release(struct gt_queues *q)
{
	for (int i = 0; i < 3; i++)
		free(q->fed[i]);
	free(q->list);
	free(q->number);
	gt_time_merge_release(&q->line);
	gt_launch_grouping_release(&q->gpu);
}
