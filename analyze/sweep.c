#include "analyze/sweep.h"

#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"

/* ---- names that run: a hash table, so that a device takes memory for what it runs at a time, not for all names that there are ---- */

static uint32_t home(const struct gt_sweep *s, uint32_t name) { return (name * 0x9e3779b1u >> 7) & (s->room - 1); }

/* Where the name is, or would be. */
static uint32_t place_of(const struct gt_sweep *s, uint32_t name)
{
	uint32_t at = home(s, name);

	while (s->names[at].n && s->names[at].name != name)
		at = (at + 1) & (s->room - 1);
	return at;
}

static int make_room(struct gt_sweep *s, struct gt_err *err)
{
	struct gt_sweep old = *s;

	if (s->distinct < s->room / 2)
		return 0;
	s->room = s->room ? s->room * 2 : 4;
	s->names = calloc(s->room, sizeof(*s->names));
	if (!s->names) {
		*s = old;
		return gt_err_set(err, -ENOMEM, "no memory for what runs at once");
	}
	for (uint32_t i = 0; i < old.room; i++)
		if (old.names[i].n)
			s->names[place_of(s, old.names[i].name)] = old.names[i];
	free(old.names);
	return 0;
}

/* It runs no more: those behind that would now be looked for in vain move up. */
static void forget_name(struct gt_sweep *s, uint32_t at)
{
	for (uint32_t next = at; ; ) {
		next = (next + 1) & (s->room - 1);
		if (!s->names[next].n)
			break;
		if (((next - home(s, s->names[next].name)) & (s->room - 1)) < ((next - at) & (s->room - 1)))
			continue;
		s->names[at] = s->names[next];
		at = next;
	}
	s->names[at].n = 0;
}

/* ---- what runs ---- */

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
	uint32_t at = place_of(s, gone.name);

	s->heap[0] = s->heap[--s->n];
	for (size_t i = 0, child; (child = 2 * i + 1) < s->n; i = child) {
		child += child + 1 < s->n && s->heap[child + 1].end < s->heap[child].end;
		if (s->heap[i].end <= s->heap[child].end)
			break;
		swap(s, i, child);
	}
	s->active[gone.kind]--;
	if (!--s->names[at].n) {
		forget_name(s, at);
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
	uint32_t at;

	if (end <= s->at)
		return 0;
	if (gt_grow(&s->heap, &s->cap, s->n + 1, sizeof(*s->heap)))
		return gt_err_set(err, -ENOMEM, "no memory for what runs at once");
	if (make_room(s, err))
		return err->code;
	s->heap[s->n] = (struct gt_sweep_op){ end, name, kind };
	for (size_t i = s->n++; i && s->heap[i].end < s->heap[(i - 1) / 2].end; i = (i - 1) / 2)
		swap(s, i, (i - 1) / 2);
	s->active[kind]++;
	at = place_of(s, name);
	s->names[at].name = name;
	if (!s->names[at].n++) {
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
	free(s->names);
	memset(s, 0, sizeof(*s));
}
