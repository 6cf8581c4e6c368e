#include "analyze/host_line.h"

#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"

/* The first stretch that ends behind `at`. */
static size_t first_behind(const struct gt_host_list *l, int64_t at)
{
	size_t low = 0, high = l->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (l->list[mid].end > at)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

/* What was dropped is one stretch: who asks for a part of it learns that it is not known. */
static void too_much(struct gt_host_list *l, int64_t end)
{
	struct gt_host_stretch *last = l->n ? &l->list[l->n - 1] : NULL;

	if (last && end > last->end)
		last->end = end;
}

int gt_host_add(struct gt_host_line *l, enum gt_host_level level, int64_t start, int64_t end, uint32_t type, size_t *kept, struct gt_err *err)
{
	struct gt_host_list *to = &l->level[level];

	if (*kept >= GT_HOST_MOST && level != GT_HOST_TOO_MUCH) {
		if (l->level[GT_HOST_TOO_MUCH].n) {
			too_much(&l->level[GT_HOST_TOO_MUCH], end);
			return 0;
		}
		return gt_host_add(l, GT_HOST_TOO_MUCH, start, end, type, kept, err);
	}
	while (to->n && to->list[to->n - 1].start >= start && to->list[to->n - 1].end <= end)	/* lies within this one */
		to->n--, --*kept;
	if (to->n && to->list[to->n - 1].end > start)
		start = to->list[to->n - 1].end;
	if (start >= end)
		return 0;
	if (gt_grow(&to->list, &to->cap, to->n + 1, sizeof(*to->list)))
		return gt_err_set(err, -ENOMEM, "no memory for what threads did");
	to->list[to->n++] = (struct gt_host_stretch){ start, end, GT_HOST_NEVER, type };
	++*kept;
	return 0;
}

void gt_host_pageable(struct gt_host_line *l, int64_t start, int64_t from)
{
	static const enum gt_host_level calls[] = { GT_HOST_CALL, GT_HOST_RUNTIME };

	for (int i = 0; i < 2; i++) {
		struct gt_host_list *in = &l->level[calls[i]];
		size_t k = first_behind(in, start);

		if (k < in->n && in->list[k].start == start) {
			in->list[k].copies_from = from;
			return;
		}
	}
}

int gt_host_cut(const struct gt_host_line *l, int64_t from, int64_t to, gt_host_fn *fn, void *arg, struct gt_err *err)
{
	size_t next[GT_HOST_LEVELS];
	int rc = 0;

	for (int i = 0; i < GT_HOST_LEVELS; i++)
		next[i] = first_behind(&l->level[i], from);
	while (!rc && from < to) {
		const struct gt_host_stretch *s = NULL;
		int64_t until = to;
		int i;

		for (i = 0; i < GT_HOST_LEVELS && !s; i++) {
			const struct gt_host_list *in = &l->level[i];

			while (next[i] < in->n && in->list[next[i]].end <= from)
				next[i]++;
			if (next[i] == in->n)
				continue;
			if (in->list[next[i]].start <= from)
				s = &in->list[next[i]];
			else if (in->list[next[i]].start < until)
				until = in->list[next[i]].start;
		}
		if (s && s->end < until)
			until = s->end;
		rc = fn(arg, s ? (enum gt_host_level)(i - 1) : GT_HOST_NOTHING, s, from, until, err);
		from = until;
	}
	return rc;
}

void gt_host_forget(struct gt_host_line *l, int64_t before, size_t *kept)
{
	for (int i = 0; i < GT_HOST_LEVELS; i++) {
		struct gt_host_list *in = &l->level[i];
		size_t gone = first_behind(in, before);

		if (gone)
			memmove(in->list, in->list + gone, (in->n - gone) * sizeof(*in->list));
		in->n -= gone;
		*kept -= gone;
	}
}

void gt_host_release(struct gt_host_line *l)
{
	for (int i = 0; i < GT_HOST_LEVELS; i++)
		free(l->level[i].list);
	memset(l, 0, sizeof(*l));
}
