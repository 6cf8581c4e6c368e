/* Usually few operations run at once. They are kept sorted by end, latest first, and a scan
 * finds whether a name runs. When more run, they become a heap, and a hash map counts names,
 * until nothing runs. */
#include "analyze/order/concurrency_sweep.h"

#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/base/heap.h"

#define FEW 12u

/* ---- names of many operations: memory for the running ones only ---- */

/* Different names have different hashes: the map needs no keys. */
static uint32_t hash_of(uint32_t name) { return name * 0x9e3779b1u; }

static int count_name(struct gt_sweep *s, uint32_t name)
{
	uint32_t hash = hash_of(name), n = gt_map_first(&s->names, hash);

	if (n != UINT32_MAX) {
		gt_map_set(&s->names, hash, n, n + 1);
		return 0;
	}
	s->distinct++;
	s->ids += name;
	return gt_map_add(&s->names, hash, 1);
}

static void uncount_name(struct gt_sweep *s, uint32_t name)
{
	uint32_t hash = hash_of(name), n = gt_map_first(&s->names, hash);

	if (n > 1) {
		gt_map_set(&s->names, hash, n, n - 1);
		return;
	}
	gt_map_remove(&s->names, hash, n);
	s->distinct--;
	s->ids -= name;
}

/* ---- few ---- */

static bool is_running(const struct gt_sweep *s, uint32_t name)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->ops[i].name == name)
			return true;
	return false;
}

static void few_remove_first(struct gt_sweep *s)
{
	uint32_t name = s->ops[--s->n].name;

	s->active[s->ops[s->n].kind]--;
	if (!is_running(s, name)) {
		s->distinct--;
		s->ids -= name;
	}
}

static void few_add(struct gt_sweep *s, struct gt_sweep_op op)
{
	size_t i;

	if (!is_running(s, op.name)) {
		s->distinct++;
		s->ids += op.name;
	}
	for (i = s->n++; i && s->ops[i - 1].end < op.end; i--)
		s->ops[i] = s->ops[i - 1];
	s->ops[i] = op;
	s->active[op.kind]++;
}

/* ---- many ---- */

static bool ends_first(const void *arg, const struct gt_sweep_op *a, const struct gt_sweep_op *b)
{
	return a->end < b->end;
}

GT_HEAP(ops, struct gt_sweep_op, ends_first)

static void heap_remove_first(struct gt_sweep *s)
{
	struct gt_sweep_op gone = s->ops[0];

	s->n--;
	ops_down(NULL, s->ops, s->n, 0, s->ops[s->n]);
	s->active[gone.kind]--;
	uncount_name(s, gone.name);
	s->many = s->n;
}

static int heap_add(struct gt_sweep *s, struct gt_sweep_op op, struct gt_err *err)
{
	ops_up(NULL, s->ops, s->n++, op);
	s->active[op.kind]++;
	return count_name(s, op.name)
		? gt_err_set(err, -ENOMEM, "out of memory (running operations)")
		: 0;
}

/* Inserts the running operations one by one. */
static int switch_to_heap(struct gt_sweep *s, struct gt_err *err)
{
	struct gt_sweep_op few[FEW];
	int rc = 0;

	memcpy(few, s->ops, sizeof(few));
	memset(s->active, 0, sizeof(s->active));
	s->n = s->distinct = s->ids = 0;
	s->many = true;
	for (unsigned i = 0; !rc && i < FEW; i++)
		rc = heap_add(s, few[i], err);
	return rc;
}

/* ---- operations ---- */

static int64_t first_end(const struct gt_sweep *s) { return s->ops[s->many ? 0 : s->n - 1].end; }

/* Removes the operation that ends first. */
static void remove_first(struct gt_sweep *s)
{
	if (s->many)
		heap_remove_first(s);
	else
		few_remove_first(s);
}

static void advance(struct gt_sweep *s, int64_t at, gt_sweep_fn *fn, void *arg)
{
	if (at > s->at)
		fn(arg, s, s->at, at);
	s->at = at > s->at ? at : s->at;
}

void gt_sweep_advance(struct gt_sweep *s, int64_t at, gt_sweep_fn *fn, void *arg)
{
	while (s->n && first_end(s) <= at) {
		advance(s, first_end(s), fn, arg);
		remove_first(s);
	}
	advance(s, at, fn, arg);
}

int gt_sweep_add(struct gt_sweep *s, int64_t end, uint32_t kind, uint32_t name, struct gt_err *err)
{
	struct gt_sweep_op op = { end, name, kind };

	if (end <= s->at)
		return 0;
	if (s->n == s->cap && gt_grow(&s->ops, &s->cap, s->n + FEW, sizeof(*s->ops)))
		return gt_err_set(err, -ENOMEM, "out of memory (running operations)");
	if (!s->many && s->n == FEW && switch_to_heap(s, err))
		return err->code;
	if (s->many)
		return heap_add(s, op, err);
	few_add(s, op);
	return 0;
}

void gt_sweep_finish(struct gt_sweep *s, gt_sweep_fn *fn, void *arg)
{
	while (s->n) {
		advance(s, first_end(s), fn, arg);
		remove_first(s);
	}
}

void gt_sweep_release(struct gt_sweep *s)
{
	free(s->ops);
	gt_map_release(&s->names);
	memset(s, 0, sizeof(*s));
}
