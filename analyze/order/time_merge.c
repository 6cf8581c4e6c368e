#include "analyze/order/time_merge.h"

#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/base/heap.h"
#include "formats/base/sorted.h"

#define NEAR 16         /* moments ahead */
#define FEW 16          /* up to this many runs are compared one by one */
#define MANY UINT32_MAX /* several places */
#define SPARE 4         /* runs kept for later blocks, which reuse their memory */

struct gt_time_merge_run { /* the sorted moments of a block */
	struct gt_moment *m;
	const struct gt_moment *next, *end; /* moments not yet handed out; valid after seal() */
	uint8_t *records;
	size_t n, cap, nrecords, records_cap;
	uint32_t place; /* by_place: the place of all its moments, or MANY */
	struct gt_time_merge_run *spare;
};

static inline bool before(
	const void *arg, const struct gt_time_merge_place *a, const struct gt_time_merge_place *b)
{
	return a->at != b->at ? a->at < b->at : a->seq < b->seq;
}

GT_HEAP(places, struct gt_time_merge_place, before)

static int by_at(const void *a, const void *b)
{
	const struct gt_moment *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* Sorts moments. Those of one busy track are sorted except for nested calls; those of many quiet
 * tracks are not. */
static void sort(struct gt_moment *m, size_t n)
{
	size_t steps = 0;

	for (size_t i = 1; i < n; i++) {
		struct gt_moment one;
		size_t k = i;

		if (__builtin_expect(m[i - 1].at <= m[i].at, 1))
			continue;
		one = m[i];
		for (; k && m[k - 1].at > one.at && steps < 4 * n; k--, steps++)
			m[k] = m[k - 1];
		m[k] = one;
	}
	if (steps >= 4 * n)
		GT_SORT(m, n, by_at);
}

/* ---- runs ---- */

static void free_run(struct gt_time_merge_run *run)
{
	if (!run)
		return;
	free(run->m);
	free(run->records);
	free(run);
}

static struct gt_time_merge_run *batch_of(struct gt_time_merge *t)
{
	if (!t->batch && t->spare) {
		t->batch = t->spare;
		t->spare = t->spare->spare;
		t->nspare--;
	} else if (!t->batch) {
		t->batch = calloc(1, sizeof(*t->batch));
	}
	return t->batch;
}

static void recycle_run(struct gt_time_merge *t, struct gt_time_merge_run *run)
{
	if (t->nspare == SPARE) {
		free_run(run);
		return;
	}
	run->n = run->nrecords = 0;
	run->spare = t->spare;
	t->spare = run;
	t->nspare++;
}

struct gt_moment *gt_time_merge_reserve(struct gt_time_merge *t, size_t n, struct gt_err *err)
{
	struct gt_time_merge_run *run = batch_of(t);

	if (run && !gt_grow(&run->m, &run->cap, run->n + n, sizeof(*run->m)))
		return run->m + run->n;
	gt_err_set(err, -ENOMEM, "out of memory (sorting %zu rows)", n);
	return NULL;
}

void gt_time_merge_commit(struct gt_time_merge *t, size_t n)
{
	struct gt_time_merge_run *run = t->batch;

	if (t->by_place && n)
		run->place =
			!run->n || run->place == run->m[run->n].place ? run->m[run->n].place : MANY;
	run->n += n;
	t->nmoments += n;
}

void *gt_time_merge_reserve_records(
	struct gt_time_merge *t, size_t n, size_t size, uint64_t *first, struct gt_err *err)
{
	struct gt_time_merge_run *run = batch_of(t);

	t->record_size = size;
	if (!run || gt_grow(&run->records, &run->records_cap, (run->nrecords + n) * size, 1)) {
		gt_err_set(err, -ENOMEM, "out of memory (sorting %zu rows)", n);
		return NULL;
	}
	*first = run->nrecords;
	run->nrecords += n;
	return run->records + *first * size;
}

/* Shrinks a run that is much larger than its moments need, if more than a few runs wait. */
static int shrink(const struct gt_time_merge *t, struct gt_time_merge_run *run)
{
	struct gt_moment *m;

	if (t->nheap < 2 * SPARE || run->n > run->cap / 4 || run->cap < 256)
		return 0;
	m = realloc(run->m, run->n * sizeof(*m));
	if (!m)
		return -ENOMEM;
	run->m = m;
	run->cap = run->n;
	return 0;
}

/* The current block is complete: sorts it and adds it to the heap. */
static int seal(struct gt_time_merge *t, struct gt_err *err)
{
	struct gt_time_merge_run *run = t->batch;

	if (!run || !run->n)
		return 0;
	if (shrink(t, run) || gt_grow(&t->heap, &t->cap, t->nheap + 1, sizeof(*t->heap)))
		return gt_err_set(err, -ENOMEM, "out of memory (sorting %zu rows)", run->n);
	t->batch = NULL;
	sort(run->m, run->n);
	run->next = run->m;
	run->end = run->m + run->n;
	places_up(NULL, t->heap, t->nheap++,
		(struct gt_time_merge_place){ run->m[0].at, t->seq++, run });
	return 0;
}

static void drop_first(struct gt_time_merge *t)
{
	recycle_run(t, t->heap[0].run);
	t->nheap--;
	places_down(NULL, t->heap, t->nheap, 0, t->heap[t->nheap]);
}

static bool same_place(const struct gt_time_merge_run *a, const struct gt_time_merge_run *b)
{
	return a->place == MANY || b->place == MANY || a->place == b->place;
}

/* The time up to which the first run can be handed out: the floor, or an earlier moment of
 * another run. */
static inline int64_t limit_of(const struct gt_time_merge *t, int64_t floor)
{
	bool by_place = t->by_place && t->nheap <= FEW && t->heap[0].at < floor;
	int64_t limit = floor;

	/* in heap order, the second moment of all is one of the next two */
	for (size_t i = 1; i < (by_place || t->nheap < 3 ? t->nheap : 3); i++)
		if (t->heap[i].at < limit &&
			(!by_place || same_place(t->heap[0].run, t->heap[i].run)))
			limit = t->heap[i].at;
	return limit;
}

/* Hands out the first run up to that time. */
static inline int hand_out(
	struct gt_time_merge *t, int64_t floor, gt_time_merge_fn *fn, void *arg, struct gt_err *err)
{
	struct gt_time_merge_run *run = t->heap[0].run;
	const struct gt_moment *m = run->next, *end = run->end;
	int64_t limit = limit_of(t, floor);
	int rc;

	t->records = run->records;
	t->nrecords = run->nrecords;
	do {
		t->late += m->at < t->before;
		__builtin_prefetch(m + NEAR);
		__builtin_prefetch(run->records + (size_t)(m - run->m + NEAR) * t->record_size);
		t->nmoments--;
		rc = fn(arg, m++, err);
	} while (!rc && m < end && m->at < limit);
	t->last = m[-1].at > t->last ? m[-1].at : t->last;
	run->next = m;
	if (m == end) {
		drop_first(t);
	} else {
		t->heap[0].at = m->at;
		places_down(NULL, t->heap, t->nheap, 0, t->heap[0]);
	}
	return rc;
}

/* Runs alternate after one or two moments, so all of this is one loop. */
static int hand_out_all(struct gt_time_merge *t, int64_t floor, size_t most, gt_time_merge_fn *fn,
	void *arg, struct gt_err *err)
{
	int rc = seal(t, err);

	if (!t->begun)
		t->last = t->before = INT64_MIN;
	t->begun = true;
	while (!rc && t->nheap && (t->heap[0].at < floor || t->nmoments > most))
		rc = hand_out(t, floor, fn, arg, err);
	t->before = t->last;
	return rc;
}

int gt_time_merge_advance(
	struct gt_time_merge *t, int64_t floor, gt_time_merge_fn *fn, void *arg, struct gt_err *err)
{
	return hand_out_all(t, floor, GT_TIME_MERGE_MAX, fn, arg, err);
}

int gt_time_merge_flush(
	struct gt_time_merge *t, gt_time_merge_fn *fn, void *arg, struct gt_err *err)
{
	return hand_out_all(t, INT64_MAX, 0, fn, arg, err);
}

void gt_time_merge_release(struct gt_time_merge *t)
{
	for (size_t i = 0; i < t->nheap; i++)
		free_run(t->heap[i].run);
	for (struct gt_time_merge_run *run = t->spare, *next; run; run = next) {
		next = run->spare;
		free_run(run);
	}
	free_run(t->batch);
	free(t->heap);
	memset(t, 0, sizeof(*t));
}
