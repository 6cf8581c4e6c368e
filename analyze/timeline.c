#include "analyze/timeline.h"

#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"

struct gt_timeline_run {
	uint64_t seq;
	uint32_t next, n;
	struct gt_moment m[];
};

static bool before(const struct gt_timeline_run *a, const struct gt_timeline_run *b)
{
	int64_t x = a->m[a->next].at, y = b->m[b->next].at;

	return x != y ? x < y : a->seq < b->seq;
}

static void sift_down(struct gt_timeline *t, size_t i)
{
	struct gt_timeline_run *run = t->heap[i];

	for (size_t child; (child = 2 * i + 1) < t->nheap; i = child) {
		if (child + 1 < t->nheap && before(t->heap[child + 1], t->heap[child]))
			child++;
		if (!before(t->heap[child], run))
			break;
		t->heap[i] = t->heap[child];
	}
	t->heap[i] = run;
}

static void sift_up(struct gt_timeline *t, size_t i)
{
	struct gt_timeline_run *run = t->heap[i];

	for (; i && before(run, t->heap[(i - 1) / 2]); i = (i - 1) / 2)
		t->heap[i] = t->heap[(i - 1) / 2];
	t->heap[i] = run;
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
		struct gt_moment one = m[i];
		size_t k = i;

		for (; k && m[k - 1].at > one.at && steps < 4 * n; k--, steps++)
			m[k] = m[k - 1];
		m[k] = one;
	}
	if (steps >= 4 * n)
		qsort(m, n, sizeof(*m), by_at);
}

struct gt_moment *gt_timeline_room(struct gt_timeline *t, size_t n, struct gt_err *err)
{
	if (!gt_grow(&t->batch, &t->batch_cap, t->nbatch + n, sizeof(*t->batch)))
		return t->batch + t->nbatch;
	gt_err_set(err, -ENOMEM, "no memory to put %zu rows in order", n);
	return NULL;
}

/* The block at hand is complete: it joins the heap. */
static int seal(struct gt_timeline *t, struct gt_err *err)
{
	struct gt_timeline_run *run;

	if (!t->nbatch)
		return 0;
	run = malloc(sizeof(*run) + t->nbatch * sizeof(*run->m));
	if (!run || gt_grow(&t->heap, &t->cap, t->nheap + 1, sizeof(struct gt_timeline_run *))) {
		free(run);
		return gt_err_set(err, -ENOMEM, "no memory to put %zu rows in order", t->nbatch);
	}
	run->seq = t->seq++;
	run->next = 0;
	run->n = (uint32_t)t->nbatch;
	memcpy(run->m, t->batch, t->nbatch * sizeof(*run->m));
	sort(run->m, t->nbatch);
	t->nbatch = 0;
	t->heap[t->nheap++] = run;
	sift_up(t, t->nheap - 1);
	return 0;
}

static void drop_first(struct gt_timeline *t)
{
	free(t->heap[0]);
	t->heap[0] = t->heap[--t->nheap];
	if (t->nheap)
		sift_down(t, 0);
}

/* Hands out the first run as far as no other run has something earlier. */
static int hand_out(struct gt_timeline *t, int64_t floor, gt_timeline_fn *fn, void *arg, struct gt_err *err)
{
	struct gt_timeline_run *run = t->heap[0];
	int64_t limit = floor;
	uint32_t first = run->next;
	int rc = 0;

	for (size_t child = 1; child <= 2 && child < t->nheap; child++)
		if (t->heap[child]->m[t->heap[child]->next].at < limit)
			limit = t->heap[child]->m[t->heap[child]->next].at;
	do {
		const struct gt_moment *m = &run->m[run->next++];

		t->late += t->handed++ && m->at < t->last;
		t->last = t->handed == 1 || m->at > t->last ? m->at : t->last;
		rc = fn(arg, m, err);
	} while (!rc && run->next < run->n && run->m[run->next].at < limit);
	t->held -= run->next - first;
	if (run->next == run->n)
		drop_first(t);
	else
		sift_down(t, 0);
	return rc;
}

int gt_timeline_advance(struct gt_timeline *t, int64_t floor, gt_timeline_fn *fn, void *arg, struct gt_err *err)
{
	int rc = seal(t, err);

	while (!rc && t->nheap && (t->heap[0]->m[t->heap[0]->next].at < floor || t->held > GT_TIMELINE_MAX))
		rc = hand_out(t, floor, fn, arg, err);
	return rc;
}

int gt_timeline_flush(struct gt_timeline *t, gt_timeline_fn *fn, void *arg, struct gt_err *err)
{
	int rc = seal(t, err);

	while (!rc && t->nheap)
		rc = hand_out(t, INT64_MAX, fn, arg, err);
	return rc;
}

void gt_timeline_release(struct gt_timeline *t)
{
	for (size_t i = 0; i < t->nheap; i++)
		free(t->heap[i]);
	free(t->heap);
	free(t->batch);
	memset(t, 0, sizeof(*t));
}
