/* A full buffer is sorted and appended to the file of level 0: to its last run, if no record comes
 * before that run's last one, else as a new run. When a level has FAN_IN runs, one merge makes them
 * one run of the next level, and empties their file. So the files hold each record once, and during
 * a merge those of one level twice. The last merge returns them.
 *
 * A merge divides the buffer, which is empty then, among the runs that it reads. A file has a
 * record as its difference from the one before in its run. */
#define _GNU_SOURCE
#include "formats/io/sorter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "formats/os/file.h"
#include "formats/base/heap.h"
#include "formats/base/merge_sort.h"

#define OUT (64u << 10) /* bytes that are written at a time */
#define IN_LEAST 1024u  /* bytes of a run that are read at a time, at least */
#define WORD 8u

/* Bytes of a run in memory, at least. Records lie between them, so they are whole words. */
static size_t least_chunk(const struct gt_sorter *s) { return (s->most + IN_LEAST) / WORD * WORD; }

int gt_sorter_init(struct gt_sorter *s, size_t size, uint32_t capacity, gt_sorter_before *before,
	struct gt_err *err)
{
	size_t words = size / WORD, room, least;

	*s = (struct gt_sorter){ .size = size, .before = before, .capacity = capacity };
	s->most = (words + 7) / 8 + words * 10;
	for (unsigned i = 0; i < GT_SORTER_LEVELS; i++)
		s->levels[i].fd = -1;
	least = GT_SORTER_FAN_IN * (size + least_chunk(s));
	room = capacity * size > least ? capacity * size : least;
	s->buffer = malloc(room);
	s->out = malloc(OUT + 2 * size);
	s->order = malloc(2 * capacity * sizeof(*s->order));
	if (!s->buffer || !s->out || !s->order)
		return gt_err_set(err, -ENOMEM, "out of memory (sorting)");
	s->written = s->out + OUT;
	s->last = s->written + size;
	return 0;
}

void gt_sorter_release(struct gt_sorter *s)
{
	for (unsigned i = 0; s->size && i < GT_SORTER_LEVELS; i++)
		if (s->levels[i].fd >= 0)
			close(s->levels[i].fd);
	free(s->buffer);
	free(s->out);
	free(s->order);
	*s = (struct gt_sorter){ 0 };
}

/* ---- records in a file: a bit for each word that differs from the record before, then the
 * differences as varints ---- */

static uint64_t word_of(const uint8_t *record, size_t i)
{
	uint64_t v;

	memcpy(&v, record + i * WORD, WORD);
	return v;
}

/* Returns the number of bytes. */
static size_t encode(const struct gt_sorter *s, uint8_t *to, const uint8_t *record)
{
	size_t words = s->size / WORD, bits = (words + 7) / 8;
	uint8_t *at = to + bits;

	memset(to, 0, bits);
	for (size_t i = 0; i < words; i++) {
		uint64_t d = word_of(record, i) - word_of(s->written, i);

		if (!d)
			continue;
		to[i / 8] |= (uint8_t)(1u << i % 8);
		/* the sign becomes the lowest bit */
		for (d = d << 1 ^ (0 - (d >> 63)); d >= 0x80; d >>= 7)
			*at++ = (uint8_t)(d | 0x80);
		*at++ = (uint8_t)d;
	}
	return (size_t)(at - to);
}

/* Makes the record at from->next from the one before. 0, or -EIO: the file is not as it was
 * written. */
static int decode(const struct gt_sorter *s, struct gt_sorter_source *from)
{
	size_t words = s->size / WORD, bits = (words + 7) / 8;
	const uint8_t *map = from->next, *at = map + bits;

	for (size_t i = 0; i < words && at <= from->last; i++) {
		uint64_t d = 0, v;
		unsigned shift = 0;

		if (!(map[i / 8] >> i % 8 & 1))
			continue;
		while (at < from->last && *at >= 0x80 && shift < 63) {
			d |= (uint64_t)(*at++ & 0x7f) << shift;
			shift += 7;
		}
		if (at == from->last)
			return -EIO;
		d |= (uint64_t)*at++ << shift;
		v = word_of(from->record, i) + (d >> 1 ^ (0 - (d & 1)));
		memcpy(from->record + i * WORD, &v, WORD);
	}
	from->next += at - map;
	return from->next > from->last ? -EIO : 0;
}

/* ---- runs ---- */

static int flush(struct gt_sorter *s, unsigned level, uint64_t *at, struct gt_err *err)
{
	int e = gt_pwrite(s->levels[level].fd, s->out, s->nout, *at);

	*at += s->nout;
	s->nout = 0;
	return e ? gt_err_set(err, e, "cannot write a temporary file: %s", strerror(-e)) : 0;
}

static int write_record(struct gt_sorter *s, unsigned level, uint64_t *at, const uint8_t *record,
	struct gt_err *err)
{
	s->nout += encode(s, s->out + s->nout, record);
	memcpy(s->written, record, s->size);
	return s->nout + s->most > OUT ? flush(s, level, at, err) : 0;
}

/* Where a new run of this level begins. 0 or negative. */
static int begin_run(struct gt_sorter *s, unsigned level, uint64_t *at, struct gt_err *err)
{
	struct gt_sorter_level *l = &s->levels[level];

	*at = l->nruns ? l->ends[l->nruns - 1] : 0;
	memset(s->written, 0, s->size);
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

static int cannot_read(int e, struct gt_err *err)
{
	return gt_err_set(err, e, "cannot read a temporary file: %s", strerror(-e));
}

/* Reads on behind the bytes that are not decoded. */
static int fill(struct gt_sorter_source *from, size_t room, struct gt_err *err)
{
	size_t rest = (size_t)(from->last - from->next);
	int e;

	memmove(from->buffer, from->next, rest);
	room -= rest;
	room = from->end - from->at < room ? from->end - from->at : room;
	from->next = from->buffer;
	from->last = from->buffer + rest + room;
	e = gt_pread(from->fd, from->buffer + rest, room, from->at);
	from->at += room;
	return e ? cannot_read(e, err) : 0;
}

/* Makes the next record. 1, 0 when the run has no more records, or negative. */
static int next_record(struct gt_sorter *s, struct gt_sorter_source *from, struct gt_err *err)
{
	int e = 0;

	if ((size_t)(from->last - from->next) < s->most && from->at < from->end)
		e = fill(from, s->chunk, err);
	if (e || from->next == from->last)
		return e;
	e = decode(s, from);
	return e ? cannot_read(e, err) : 1;
}

static bool comes_first(const void *arg, const unsigned *a, const unsigned *b)
{
	const struct gt_sorter *s = arg;

	return s->before(s->sources[*a].record, s->sources[*b].record);
}

GT_HEAP(sources, unsigned, comes_first)

static unsigned count_runs(const struct gt_sorter *s, unsigned from, unsigned to)
{
	unsigned n = 0;

	for (unsigned level = from; level <= to; level++)
		n += s->levels[level].nruns;
	return n;
}

static int open_run(
	struct gt_sorter *s, const struct gt_sorter_level *l, unsigned run, struct gt_err *err)
{
	struct gt_sorter_source *from = &s->sources[s->nheap];

	*from = (struct gt_sorter_source){ .fd = l->fd, .at = run ? l->ends[run - 1] : 0 };
	from->end = l->ends[run];
	from->record = s->buffer + s->nheap * (s->size + s->chunk);
	from->next = from->last = from->buffer = from->record + s->size;
	memset(from->record, 0, s->size);
	s->heap[s->nheap] = s->nheap;
	s->nheap++;
	return next_record(s, from, err);
}

/* Begins to merge the runs of these levels. Together they are FAN_IN at most, and none is empty. */
static int begin_merge(struct gt_sorter *s, unsigned from, unsigned to, struct gt_err *err)
{
	size_t each = s->capacity * s->size / count_runs(s, from, to);
	int e = 1;

	s->chunk =
		each > s->size + least_chunk(s) ? (each - s->size) / WORD * WORD : least_chunk(s);
	s->nheap = 0;
	for (unsigned level = from; level <= to; level++)
		for (unsigned run = 0; e > 0 && run < s->levels[level].nruns; run++)
			e = open_run(s, &s->levels[level], run, err);
	for (unsigned i = s->nheap / 2; e > 0 && i-- > 0;)
		sources_down(s, s->heap, s->nheap, i, s->heap[i]);
	return e > 0 ? 0 : e;
}

/* The first record of all runs was taken. 0 or negative. */
static int advance(struct gt_sorter *s, struct gt_err *err)
{
	int e = next_record(s, &s->sources[s->heap[0]], err);

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
		e = write_record(s, level + 1, &at, s->sources[s->heap[0]].record, err);
		e = e ? e : advance(s, err);
	}
	e = e ? e : end_run(s, level + 1, at, err);
	l->nruns = 0;
	if (!e && ftruncate(l->fd, 0))
		e = gt_err_set(err, -errno, "cannot shorten a temporary file: %s", strerror(errno));
	return e;
}

/* ---- records ---- */

static uint8_t *record_at(const struct gt_sorter *s, uint32_t i) { return s->buffer + i * s->size; }

static bool before(const void *arg, uint32_t a, uint32_t b)
{
	const struct gt_sorter *s = arg;

	return s->before(record_at(s, a), record_at(s, b));
}

static void sort_buffer(struct gt_sorter *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		s->order[i] = i;
	gt_merge_sort(s->order, s->order + s->capacity, s->n, before, s);
}

/* The buffer becomes a run, or the end of the last one, and is empty. */
static int spill(struct gt_sorter *s, struct gt_err *err)
{
	struct gt_sorter_level *l = &s->levels[0];
	uint64_t at = 0;
	int e = begin_run(s, 0, &at, err);

	sort_buffer(s);
	if (!e && l->nruns && !s->before(record_at(s, s->order[0]), s->last)) {
		l->nruns--;
		memcpy(s->written, s->last, s->size);
	}
	for (uint32_t i = 0; !e && i < s->n; i++)
		e = write_record(s, 0, &at, record_at(s, s->order[i]), err);
	e = e ? e : end_run(s, 0, at, err);
	memcpy(s->last, record_at(s, s->order[s->n - 1]), s->size);
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
	return record_at(s, s->n++);
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
	memcpy(record, s->sources[s->heap[0]].record, s->size);
	e = advance(s, err);
	return e ? e : 1;
}
