/* A full buffer is sorted and appended to the file of level 0 as a run. When a level has FAN_IN
 * runs, one merge makes them one run of the next level, and empties their file. So the files hold
 * each record once, and during a merge those of one level twice. The last merge returns them.
 *
 * A merge divides the buffer, which is empty then, among the runs that it reads. */
#define _GNU_SOURCE
#include "formats/io/sorter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "formats/os/file.h"
#include "formats/base/heap.h"
#include "formats/base/merge_sort.h"

#define OUT 512u /* records that are written at a time */

int gt_sorter_init(struct gt_sorter *s, size_t size, uint32_t capacity, gt_sorter_before *before,
	struct gt_err *err)
{
	*s = (struct gt_sorter){ .size = size, .before = before, .capacity = capacity };
	for (unsigned i = 0; i < GT_SORTER_LEVELS; i++)
		s->levels[i].fd = -1;
	s->buffer = malloc((capacity + OUT) * size);
	s->order = malloc(2 * capacity * sizeof(*s->order));
	if (!s->buffer || !s->order)
		return gt_err_set(err, -ENOMEM, "out of memory (sorting)");
	s->out = s->buffer + capacity * size;
	return 0;
}

void gt_sorter_release(struct gt_sorter *s)
{
	for (unsigned i = 0; s->size && i < GT_SORTER_LEVELS; i++)
		if (s->levels[i].fd >= 0)
			close(s->levels[i].fd);
	free(s->buffer);
	free(s->order);
	*s = (struct gt_sorter){ 0 };
}

/* ---- runs ---- */

static int flush(struct gt_sorter *s, unsigned level, uint64_t *at, struct gt_err *err)
{
	size_t bytes = s->nout * s->size;
	int e = gt_pwrite(s->levels[level].fd, s->out, bytes, *at);

	*at += bytes;
	s->nout = 0;
	return e ? gt_err_set(err, e, "cannot write a temporary file: %s", strerror(-e)) : 0;
}

static int write_record(
	struct gt_sorter *s, unsigned level, uint64_t *at, const void *record, struct gt_err *err)
{
	memcpy(s->out + s->nout++ * s->size, record, s->size);
	return s->nout == OUT ? flush(s, level, at, err) : 0;
}

/* Where a new run of this level begins. 0 or negative. */
static int begin_run(struct gt_sorter *s, unsigned level, uint64_t *at, struct gt_err *err)
{
	struct gt_sorter_level *l = &s->levels[level];

	*at = l->nruns ? l->ends[l->nruns - 1] : 0;
	if (l->fd < 0)
		l->fd = gt_temporary(err);
	return l->fd < 0 ? l->fd : 0;
}

static int end_run(struct gt_sorter *s, unsigned level, uint64_t at, struct gt_err *err)
{
	int e = flush(s, level, &at, err);

	if (!e)
		s->levels[level].ends[s->levels[level].nruns++] = at;
	return e;
}

/* ---- the merge ---- */

/* 1, 0 when the run has no more records, or negative. */
static int fill(struct gt_sorter_source *from, struct gt_err *err)
{
	size_t room = (size_t)(from->last - from->buffer);
	int e;

	room = from->end - from->at < room ? from->end - from->at : room;
	from->next = from->buffer;
	from->last = from->buffer + room;
	if (!room)
		return 0;
	e = gt_pread(from->fd, from->buffer, room, from->at);
	from->at += room;
	return e ? gt_err_set(err, e, "cannot read a temporary file: %s", strerror(-e)) : 1;
}

static bool comes_first(const void *arg, const unsigned *a, const unsigned *b)
{
	const struct gt_sorter *s = arg;

	return s->before(s->sources[*a].next, s->sources[*b].next);
}

GT_HEAP(sources, unsigned, comes_first)

static unsigned count_runs(const struct gt_sorter *s, unsigned from, unsigned to)
{
	unsigned n = 0;

	for (unsigned level = from; level <= to; level++)
		n += s->levels[level].nruns;
	return n;
}

static int open_run(struct gt_sorter *s, const struct gt_sorter_level *l, unsigned run, size_t room,
	struct gt_err *err)
{
	struct gt_sorter_source *from = &s->sources[s->nheap];

	*from = (struct gt_sorter_source){ .fd = l->fd, .at = run ? l->ends[run - 1] : 0 };
	from->end = l->ends[run];
	from->buffer = s->buffer + s->nheap * room;
	from->last = from->buffer + room;
	s->heap[s->nheap] = s->nheap;
	s->nheap++;
	return fill(from, err);
}

/* Begins to merge the runs of these levels. Together they are FAN_IN at most, and none is empty. */
static int begin_merge(struct gt_sorter *s, unsigned from, unsigned to, struct gt_err *err)
{
	size_t room = s->capacity / count_runs(s, from, to) * s->size;
	int e = 1;

	s->nheap = 0;
	for (unsigned level = from; level <= to; level++)
		for (unsigned run = 0; e > 0 && run < s->levels[level].nruns; run++)
			e = open_run(s, &s->levels[level], run, room, err);
	for (unsigned i = s->nheap / 2; e > 0 && i-- > 0;)
		sources_down(s, s->heap, s->nheap, i, s->heap[i]);
	return e > 0 ? 0 : e;
}

/* The first record of all runs was taken. 0 or negative. */
static int advance(struct gt_sorter *s, struct gt_err *err)
{
	struct gt_sorter_source *top = &s->sources[s->heap[0]];
	int e = 1;

	top->next += s->size;
	if (top->next == top->last)
		e = fill(top, err);
	s->nheap -= !e;
	sources_down(s, s->heap, s->nheap, 0, s->heap[e ? 0 : s->nheap]);
	return e < 0 ? e : 0;
}

/* All runs of a level become one of the next. */
static int merge_level(struct gt_sorter *s, unsigned level, struct gt_err *err)
{
	struct gt_sorter_level *l = &s->levels[level];
	uint64_t at = 0;
	int e = begin_merge(s, level, level, err);

	e = e ? e : begin_run(s, level + 1, &at, err);
	while (!e && s->nheap) {
		e = write_record(s, level + 1, &at, s->sources[s->heap[0]].next, err);
		e = e ? e : advance(s, err);
	}
	e = e ? e : end_run(s, level + 1, at, err);
	l->nruns = 0;
	if (!e && ftruncate(l->fd, 0))
		e = gt_err_set(err, -errno, "cannot shorten a temporary file: %s", strerror(errno));
	return e;
}

/* ---- records ---- */

static bool before(const void *arg, uint32_t a, uint32_t b)
{
	const struct gt_sorter *s = arg;

	return s->before(s->buffer + a * s->size, s->buffer + b * s->size);
}

static void sort_buffer(struct gt_sorter *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		s->order[i] = i;
	gt_merge_sort(s->order, s->order + s->capacity, s->n, before, s);
}

/* The buffer becomes a run, and is empty. */
static int spill(struct gt_sorter *s, struct gt_err *err)
{
	uint64_t at = 0;
	int e = begin_run(s, 0, &at, err);

	sort_buffer(s);
	for (uint32_t i = 0; !e && i < s->n; i++)
		e = write_record(s, 0, &at, s->buffer + s->order[i] * s->size, err);
	e = e ? e : end_run(s, 0, at, err);
	s->n = 0;
	for (unsigned i = 0; !e && s->levels[i].nruns == GT_SORTER_FAN_IN; i++)
		e = merge_level(s, i, err);
	return e;
}

void *gt_sorter_add(struct gt_sorter *s, struct gt_err *err)
{
	if (s->n == s->capacity && spill(s, err))
		return NULL;
	s->added++;
	return s->buffer + s->n++ * s->size;
}

void *gt_sorter_find(const struct gt_sorter *s, uint64_t number)
{
	uint64_t in_files = s->added - s->n;

	if (number < in_files || number >= s->added)
		return NULL;
	return s->buffer + (number - in_files) * s->size;
}

/* The buffer's records become a run, too, and the runs become so few that one merge reads all. */
static int begin_reading(struct gt_sorter *s, struct gt_err *err)
{
	const unsigned top = GT_SORTER_LEVELS - 1;
	int e = 0;

	s->reading = true;
	if (!count_runs(s, 0, top)) {
		sort_buffer(s);
		return 0;
	}
	if (s->n)
		e = spill(s, err);
	for (unsigned level = 0; !e && count_runs(s, 0, top) > GT_SORTER_FAN_IN; level++)
		if (s->levels[level].nruns)
			e = merge_level(s, level, err);
	return e ? e : begin_merge(s, 0, top, err);
}

int gt_sorter_next(struct gt_sorter *s, void *record, struct gt_err *err)
{
	int e = s->reading ? 0 : begin_reading(s, err);

	if (e)
		return e;
	if (s->next < s->n) {
		memcpy(record, s->buffer + s->order[s->next++] * s->size, s->size);
		return 1;
	}
	if (!s->nheap)
		return 0;
	memcpy(record, s->sources[s->heap[0]].next, s->size);
	e = advance(s, err);
	return e ? e : 1;
}
