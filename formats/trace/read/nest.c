#include "formats/trace/read/nest.h"

#include <errno.h>
#include <stdlib.h>
#include "formats/base/buf.h"
#include "formats/base/heap.h"
#include "formats/trace/record.h"

/* ---- rows that wait ---- */

/* A longer row comes before a shorter one; of the same length a range comes before a call. */
static bool comes_first(const void *arg, const struct gt_nest_row *a, const struct gt_nest_row *b)
{
	if (a->start != b->start)
		return a->start < b->start;
	if (a->end != b->end)
		return a->end > b->end;
	return a->range != b->range ? a->range : a->depth < b->depth;
}

GT_HEAP(waiting, struct gt_nest_row, comes_first)

static int push(struct gt_nest *n, const struct gt_nest_row *row)
{
	if (gt_grow(&n->waiting, &n->waiting_cap, n->nwaiting + 1, sizeof(*n->waiting)))
		return -ENOMEM;
	waiting_up(NULL, n->waiting, n->nwaiting++, *row);
	return 0;
}

static struct gt_nest_row pop(struct gt_nest *n)
{
	struct gt_nest_row first = n->waiting[0], last = n->waiting[--n->nwaiting];

	waiting_down(NULL, n->waiting, n->nwaiting, 0, last);
	return first;
}

/* ---- pieces ---- */

/* Is the row outside `o`? */
static bool is_outside(const struct gt_nest_row *row, const struct gt_nest_open *o)
{
	if (row->range || row->nth || o->range)
		return o->end <= row->start;
	return o->depth >= row->depth || o->end < row->start;
}

/* Finds the innermost open row around this row, and closes the others. A row without
 * duration closes nothing: other rows of the same time may follow. */
static size_t find_parent(struct gt_nest *n, const struct gt_nest_row *row)
{
	size_t at = n->nopen;

	while (at && is_outside(row, &n->open[at - 1]))
		at--;
	if (!n->ranges || row->start < row->end)
		n->nopen = at;
	return at;
}

static int open_piece(struct gt_nest *n, const struct gt_nest_row *piece, uint32_t node)
{
	if (n->nopen == GT_NEST_DEEPEST) {
		n->limited = true;
		return 0;
	}
	if (gt_grow(&n->open, &n->open_cap, n->nopen + 1, sizeof(*n->open)))
		return -ENOMEM;
	n->open[n->nopen++] = (struct gt_nest_open){ piece->end, piece->start, node, piece->depth,
		piece->range || piece->nth };
	return 0;
}

/* Ends the piece with its parent. The rest of the row waits in the heap. */
static int split(struct gt_nest *n, struct gt_nest_row *piece, const struct gt_nest_open *parent)
{
	struct gt_nest_row rest = *piece;

	if (!piece->nth)
		n->cut += piece->range || parent->range;
	rest.start = piece->end = parent->end > piece->start ? parent->end : piece->start;
	if (!n->ranges)
		return 0;
	if (++rest.nth < GT_NEST_PIECES)
		return push(n, &rest);
	n->limited = true;
	return 0;
}

static int place(struct gt_nest *n, struct gt_nest_row piece, gt_nest_fn *fn, void *arg)
{
	size_t at = find_parent(n, &piece);
	struct gt_nest_open *parent = at ? &n->open[at - 1] : NULL;
	int64_t *covered = parent ? &parent->covered : &n->covered;
	bool lasts = piece.start < piece.end;
	uint32_t node;

	if (parent && piece.end > parent->end && split(n, &piece, parent))
		return -ENOMEM;
	if ((parent || n->started) && piece.start < *covered)
		piece.start = *covered < piece.end ? *covered : piece.end;
	if (!n->started || piece.end > *covered)
		*covered = piece.end;
	n->started = true;
	node = fn(arg, parent ? parent->node : GT_NONE, &piece);
	if (node == GT_NONE)
		return -ENOMEM;
	return piece.leaf || (n->ranges && !lasts) ? 0 : open_piece(n, &piece, node);
}

int gt_nest_add(struct gt_nest *n, const struct gt_nest_row *row, gt_nest_fn *fn, void *arg)
{
	struct gt_nest_row one = *row;
	int rc = 0;

	one.began = row->start;
	one.ended = row->end;
	one.nth = 0;
	if (!n->ranges)
		return place(n, one, fn, arg);
	while (!rc && n->nwaiting &&
		(n->waiting[0].start < row->start || n->nwaiting >= GT_NEST_WAITING))
		rc = place(n, pop(n), fn, arg);
	return rc ? rc : push(n, &one);
}

int gt_nest_flush(struct gt_nest *n, gt_nest_fn *fn, void *arg)
{
	int rc = 0;

	while (!rc && n->nwaiting)
		rc = place(n, pop(n), fn, arg);
	return rc;
}

void gt_nest_release(struct gt_nest *n)
{
	free(n->open);
	free(n->waiting);
	*n = (struct gt_nest){ .ranges = n->ranges };
}
