#include "analyze/sweep.h"

#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"

static void swap(struct gt_sweep *s, size_t a, size_t b)
{
	struct gt_sweep_op one = s->heap[a];

	s->heap[a] = s->heap[b];
	s->heap[b] = one;
}

/* The one that ends first ends. */
static void drop_first(struct gt_sweep *s)
{
	struct gt_sweep_op gone = s->heap[0];

	s->heap[0] = s->heap[--s->n];
	for (size_t i = 0, child; (child = 2 * i + 1) < s->n; i = child) {
		child += child + 1 < s->n && s->heap[child + 1].end < s->heap[child].end;
		if (s->heap[i].end <= s->heap[child].end)
			break;
		swap(s, i, child);
	}
	s->active[gone.kind]--;
	if (!--s->counts[gone.name]) {
		s->distinct--;
		s->ids -= gone.name;
	}
}

static void go(struct gt_sweep *s, int64_t at, gt_sweep_fn *fn, void *arg)
{
	if (at > s->at)
		fn(arg, s, s->at, at);
	s->at = at > s->at ? at : s->at;
}

void gt_sweep_to(struct gt_sweep *s, int64_t at, gt_sweep_fn *fn, void *arg)
{
	while (s->n && s->heap[0].end <= at) {
		go(s, s->heap[0].end, fn, arg);
		drop_first(s);
	}
	go(s, at, fn, arg);
}

int gt_sweep_add(struct gt_sweep *s, int64_t end, uint32_t kind, uint32_t name, struct gt_err *err)
{
	size_t had = s->counts_cap;

	if (end <= s->at)
		return 0;
	if (gt_grow(&s->heap, &s->cap, s->n + 1, sizeof(*s->heap)) || gt_grow(&s->counts, &s->counts_cap, name + 1ul, sizeof(*s->counts)))
		return gt_err_set(err, -ENOMEM, "no memory for what runs at once");
	memset(s->counts + had, 0, (s->counts_cap - had) * sizeof(*s->counts));
	s->heap[s->n] = (struct gt_sweep_op){ end, name, kind };
	for (size_t i = s->n++; i && s->heap[i].end < s->heap[(i - 1) / 2].end; i = (i - 1) / 2)
		swap(s, i, (i - 1) / 2);
	s->active[kind]++;
	if (!s->counts[name]++) {
		s->distinct++;
		s->ids += name;
	}
	return 0;
}

void gt_sweep_out(struct gt_sweep *s, gt_sweep_fn *fn, void *arg)
{
	while (s->n) {
		go(s, s->heap[0].end, fn, arg);
		drop_first(s);
	}
}

void gt_sweep_release(struct gt_sweep *s)
{
	free(s->heap);
	free(s->counts);
	memset(s, 0, sizeof(*s));
}
