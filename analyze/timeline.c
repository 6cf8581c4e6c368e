#include "analyze/timeline.h"

#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"

#define NEAR 16			/* moments ahead */
#define FEW 16			/* runs that are looked at one by one */
#define MANY UINT32_MAX		/* places */
#define SPARE 4			/* runs kept for blocks to come, so that their memory is not new each time */

struct gt_timeline_run {	/* the moments of a block */
	struct gt_moment *m;
	uint8_t *records;
	size_t n, next, cap, nrecords, records_cap;
	uint32_t place;			/* by_place: of all of them, or MANY */
	struct gt_timeline_run *spare;
};

static bool before(const struct gt_timeline_place *a, const struct gt_timeline_place *b)
{
	return a->at != b->at ? a->at < b->at : a->seq < b->seq;
}

static void sift_down(struct gt_timeline *t, size_t i)
{
	struct gt_timeline_place one = t->heap[i];

	for (size_t child; (child = 2 * i + 1) < t->nheap; i = child) {
		if (child + 1 < t->nheap && before(&t->heap[child + 1], &t->heap[child]))
			child++;
		if (!before(&t->heap[child], &one))
			break;
		t->heap[i] = t->heap[child];
	}
	t->heap[i] = one;
}

static void sift_up(struct gt_timeline *t, size_t i)
{
	struct gt_timeline_place one = t->heap[i];

	for (; i && before(&one, &t->heap[(i - 1) / 2]); i = (i - 1) / 2)
		t->heap[i] = t->heap[(i - 1) / 2];
	t->heap[i] = one;
}

static int by_at(const void *a, const void *b)
{
	const struct gt_moment *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* Moments of one busy track come sorted but for calls nested in one another; those of many quiet tracks do not. */
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
		qsort(m, n, sizeof(*m), by_at);
}

/* ---- runs ---- */

static void free_run(struct gt_timeline_run *run)
{
	if (!run)
		return;
	free(run->m);
	free(run->records);
	free(run);
}

static struct gt_timeline_run *batch_of(struct gt_timeline *t)
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

static void done_with(struct gt_timeline *t, struct gt_timeline_run *run)
{
	if (t->nspare == SPARE) {
		free_run(run);
		return;
	}
	run->n = run->next = run->nrecords = 0;
	run->spare = t->spare;
	t->spare = run;
	t->nspare++;
}

struct gt_moment *gt_timeline_room(struct gt_timeline *t, size_t n, struct gt_err *err)
{
	struct gt_timeline_run *run = batch_of(t);

	if (run && !gt_grow(&run->m, &run->cap, run->n + n, sizeof(*run->m)))
		return run->m + run->n;
	gt_err_set(err, -ENOMEM, "no memory to put %zu rows in order", n);
	return NULL;
}

void gt_timeline_took(struct gt_timeline *t, size_t n)
{
	struct gt_timeline_run *run = t->batch;

	if (t->by_place && n)
		run->place = !run->n || run->place == run->m[run->n].place ? run->m[run->n].place : MANY;
	run->n += n;
	t->held += n;
}

void *gt_timeline_records(struct gt_timeline *t, size_t n, size_t size, uint64_t *first, struct gt_err *err)
{
	struct gt_timeline_run *run = batch_of(t);

	t->record_size = size;
	if (!run || gt_grow(&run->records, &run->records_cap, (run->nrecords + n) * size, 1)) {
		gt_err_set(err, -ENOMEM, "no memory to put %zu rows in order", n);
		return NULL;
	}
	*first = run->nrecords;
	run->nrecords += n;
	return run->records + *first * size;
}

/* Of a block with many rows few may be moments: then it waits in no more memory than those need, where more than a few blocks wait. */
static int shrink(const struct gt_timeline *t, struct gt_timeline_run *run)
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

/* The block at hand is complete: it joins the heap. */
static int seal(struct gt_timeline *t, struct gt_err *err)
{
	struct gt_timeline_run *run = t->batch;

	if (!run || !run->n)
		return 0;
	if (shrink(t, run) || gt_grow(&t->heap, &t->cap, t->nheap + 1, sizeof(*t->heap)))
		return gt_err_set(err, -ENOMEM, "no memory to put %zu rows in order", run->n);
	t->batch = NULL;
	sort(run->m, run->n);
	t->heap[t->nheap++] = (struct gt_timeline_place){ run->m[0].at, t->seq++, run };
	sift_up(t, t->nheap - 1);
	return 0;
}

static void drop_first(struct gt_timeline *t)
{
	done_with(t, t->heap[0].run);
	t->heap[0] = t->heap[--t->nheap];
	if (t->nheap)
		sift_down(t, 0);
}

static bool same_place(const struct gt_timeline_run *a, const struct gt_timeline_run *b)
{
	return a->place == MANY || b->place == MANY || a->place == b->place;
}

/* Up to when the first run is handed out: at most the floor, or what another one has must come first. */
static int64_t limit_of(const struct gt_timeline *t, int64_t floor)
{
	bool by_place = t->by_place && t->nheap <= FEW && t->heap[0].at < floor;
	size_t n = by_place || t->nheap < 3 ? t->nheap : 3;	/* else it is one of the heap's top's two children */
	int64_t limit = floor;

	for (size_t i = 1; i < n; i++)
		if (t->heap[i].at < limit && (!by_place || same_place(t->heap[0].run, t->heap[i].run)))
			limit = t->heap[i].at;
	return limit;
}

/* Hands out the first run as far as no other run has something earlier. */
static int hand_out(struct gt_timeline *t, int64_t floor, gt_timeline_fn *fn, void *arg, struct gt_err *err)
{
	struct gt_timeline_run *run = t->heap[0].run;
	const struct gt_moment *m = run->m + run->next, *end = run->m + run->n, *from = m;
	int64_t limit = limit_of(t, floor), before = t->before.any ? t->before.at : INT64_MIN;
	uint64_t late = 0;
	int rc = 0;

	t->records = run->records;
	t->nrecords = run->nrecords;
	do {
		late += m->at < before;
		__builtin_prefetch(m + NEAR);
		if (t->record_size)
			__builtin_prefetch(run->records + (size_t)(m - run->m + NEAR) * t->record_size);
		rc = fn(arg, m++, err);
	} while (!rc && m < end && m->at < limit);
	t->late += late;
	if (!t->last.any || m[-1].at > t->last.at)
		t->last = (struct gt_timeline_last){ m[-1].at, true };
	t->held -= (size_t)(m - from);
	run->next += (size_t)(m - from);
	if (m == end) {
		drop_first(t);
	} else {
		t->heap[0].at = m->at;
		sift_down(t, 0);
	}
	return rc;
}

int gt_timeline_advance(struct gt_timeline *t, int64_t floor, gt_timeline_fn *fn, void *arg, struct gt_err *err)
{
	int rc = seal(t, err);

	while (!rc && t->nheap && (t->heap[0].at < floor || t->held > GT_TIMELINE_MAX))
		rc = hand_out(t, floor, fn, arg, err);
	t->before = t->last;
	return rc;
}

int gt_timeline_flush(struct gt_timeline *t, gt_timeline_fn *fn, void *arg, struct gt_err *err)
{
	int rc = seal(t, err);

	while (!rc && t->nheap)
		rc = hand_out(t, INT64_MAX, fn, arg, err);
	t->before = t->last;
	return rc;
}

void gt_timeline_release(struct gt_timeline *t)
{
	for (size_t i = 0; i < t->nheap; i++)
		free_run(t->heap[i].run);
	for (struct gt_timeline_run *run = t->spare, *next; run; run = next) {
		next = run->spare;
		free_run(run);
	}
	free_run(t->batch);
	free(t->heap);
	memset(t, 0, sizeof(*t));
}
