#include "analyze/columns/top_n.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/columns/column_cursor.h"
#include "formats/base/buf.h"
#include "formats/base/heap.h"
#include "formats/base/sorted.h"

/* < 0: a is better. Only rows that are equal in all fields compare equal: the order must not
 * depend on which row came first. */
static int compare(const void *pa, const void *pb)
{
	const struct gt_top_entry *a = pa, *b = pb;

	return GT_COMPARE(b->score, a->score) ?:
		GT_COMPARE(a->seg->index, b->seg->index) ?:
		GT_COMPARE(a->start, b->start) ?:
		GT_COMPARE(a->track, b->track) ?:
		GT_COMPARE(a->depth, b->depth) ?:
		GT_COMPARE(a->type, b->type) ?:
		GT_COMPARE(a->dur, b->dur) ?:
		GT_COMPARE(a->ret, b->ret) ?:
		GT_COMPARE(a->a, b->a) ?:
		GT_COMPARE(a->b, b->b) ?:
		GT_COMPARE(a->c, b->c);
}

static bool is_worse(const void *arg, const struct gt_top_entry *a, const struct gt_top_entry *b)
{
	return compare(a, b) > 0;
}

GT_HEAP(worst, struct gt_top_entry, is_worse)

int gt_top_n_add(struct gt_top_n *k, const struct gt_top_entry *one, struct gt_err *err)
{
	if (k->n == k->max) {
		if (compare(one, &k->list[0]) < 0)
			worst_down(NULL, k->list, k->n, 0, *one);
		return 0;
	}
	if (gt_grow(&k->list, &k->cap, k->n + 1, sizeof(*k->list)))
		return gt_err_set(err, -ENOMEM, "out of memory (%zu rows)", k->n);
	worst_up(NULL, k->list, k->n++, *one);
	return 0;
}

int gt_top_n_merge(struct gt_top_n *into, const struct gt_top_n *from, struct gt_err *err)
{
	into->offered += from->offered;
	for (size_t i = 0; i < from->n; i++)
		if (gt_top_n_add(into, &from->list[i], err))
			return -ENOMEM;
	return 0;
}

void gt_top_n_sort(struct gt_top_n *k) { GT_SORT(k->list, k->n, compare); }

void gt_top_n_release(struct gt_top_n *k)
{
	free(k->list);
	memset(k, 0, sizeof(*k));
}

struct gt_top_entry gt_top_entry_of_row(const struct gt_cols *cols, uint32_t i, int64_t score)
{
	return (struct gt_top_entry){
		.score = score,
		.start = cols->start[i],
		.dur = cols->dur[i],
		.seg = cols->seg,
		.track = cols->track,
		.type = cols->types[cols->code ? cols->code[i] : 0],
		.ret = gt_cols_ret(cols, i),
		.depth = cols->depth ? cols->depth[i] : 0,
	};
}
