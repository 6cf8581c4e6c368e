/* The boxes of a lane are found by reading its blocks in the window while no key is pressed.
 * Zoomed in, these are the few blocks that the cells were made from, and they are already open.
 * Zoomed out, they could be all blocks, for a few long rows. So if a lane has more than a few
 * blocks, its cells are checked first: a row with a box starts in a cell, and cells know their
 * longest row. Blocks are read only where that row is long enough, and only blocks whose summary
 * has a row of that length. Rows that started before the window are in blocks around its start.
 *
 * This finds the same boxes, with two exceptions. If rows may overlap and a cell has more than a
 * few blocks, only the blocks that may have its longest row are read. And the number of reads
 * and boxes per lane is limited, for lanes with long rows in very many blocks. */
#include "viewer/lanes/event_boxes.h"

#include <stdlib.h>
#include <string.h>
#include "formats/base/sorted.h"
#include "formats/base/buf.h"
#include "viewer/cells/lane_cells.h"
#include "viewer/util/deadline.h"

#define BLOCKS_MOST GT_EVENT_BOX_BLOCKS /* blocks read per cell */
/* of a lane with many blocks: blocks read, and boxes */
#define LOOKS_MOST 256u
#define BOXES_MOST 16384u

struct lane {
	struct gt_lane_key of;
	uint32_t strip;
	struct gt_event_box *boxes;
	size_t n, cap;
};
struct gt_event_boxes {
	struct gt_archive *archive;
	struct gt_display_name *spell;
	struct gt_cell_window window;
	struct lane *lanes;
	size_t n, cap, done, most;
	const struct gt_lane_cells *strips;
	/* the current lane */
	bool begun, busy; /* busy: it has many blocks, so its cells are checked first */
	/* segment's time: the window, and the range in which rows must start */
	struct gt_range range, starts;
	struct gt_block_schedule visits;
	size_t at; /* the next block of `visits` */
	struct gt_cell_sums *cells;
	size_t cells_cap;
	unsigned cell, looks; /* the next cell to check; number of blocks read */
};

static uint64_t least(const struct gt_event_boxes *b)
{
	return GT_EVENT_BOX_CELLS * gt_window_cell_width(&b->window);
}

struct gt_event_boxes *gt_event_boxes_new(
	struct gt_archive *a, struct gt_display_name *spell, size_t most)
{
	struct gt_event_boxes *b = calloc(1, sizeof(*b));

	if (b) {
		b->archive = a;
		b->spell = spell;
		b->most = most;
	}
	return b;
}

void gt_event_boxes_free(struct gt_event_boxes *b)
{
	for (size_t i = 0; b && i < b->cap; i++)
		free(b->lanes[i].boxes);
	if (b) {
		free(b->lanes);
		free(b->cells);
		gt_block_schedule_release(&b->visits);
	}
	free(b);
}

static bool same(const struct gt_event_boxes *b, const struct gt_cell_window *w,
	const struct gt_event_box_lanes *what, size_t n)
{
	bool is = b->n == n && gt_same_window(&b->window, w);

	for (size_t i = 0; is && i < n; i++)
		is = gt_same_lane(&b->lanes[i].of, &what->lanes[i]);
	return is;
}

int gt_event_boxes_request(struct gt_event_boxes *b, const struct gt_cell_window *w,
	const struct gt_event_box_lanes *what, size_t n, struct gt_err *err)
{
	size_t had = b->cap;

	b->strips = what->strips;
	for (size_t i = 0; i < n && i < b->n; i++)
		b->lanes[i].strip = what->strip_of[i];
	if (same(b, w, what, n))
		return 0;
	if (gt_grow(&b->lanes, &b->cap, n, sizeof(*b->lanes)))
		return gt_err_set(err, -ENOMEM, "out of memory");
	if (b->cap > had)
		memset(b->lanes + had, 0, (b->cap - had) * sizeof(*b->lanes));
	for (size_t i = 0; i < n; i++) {
		b->lanes[i].of = what->lanes[i];
		b->lanes[i].strip = what->strip_of[i];
		b->lanes[i].n = 0;
	}
	b->window = *w;
	b->n = n;
	b->done = 0;
	b->begun = false;
	return 0;
}

void gt_event_box_cells(const struct gt_event_box *box, const struct gt_cell_window *w,
	unsigned *from, unsigned *to)
{
	int64_t first = gt_window_column(w, box->start), end = gt_window_column(w, box->end);

	first += first >= 0 && first < (int64_t)w->cells && gt_cell_start(w, first) < box->start;

	first = first < 0 ? 0 : first;
	end = end > (int64_t)w->cells ? (int64_t)w->cells : end;
	*from = (unsigned)(first < end ? first : 0);
	*to = (unsigned)(first < end ? end : 0);
}

static int add(struct gt_event_boxes *b, struct lane *l, const struct gt_open_block *r, uint32_t i)
{
	int64_t start = r->start[i] - gt_archive_offset(b->archive, r->segment);
	struct gt_event_box box = { start, start + r->dur[i], r->segment, r->type[i], NULL,
		r->kind == GT_CALL && r->ret && r->ret[i], r->kind == GT_OPEN };
	unsigned from, to;

	gt_event_box_cells(&box, &b->window, &from, &to);
	if (to - from < GT_EVENT_BOX_CELLS)
		return 0;
	if (gt_grow(&l->boxes, &l->cap, l->n + 1, sizeof(*l->boxes)))
		return -ENOMEM;
	box.name = gt_display_name_of_type(
		b->spell, gt_reader_segment(gt_archive_reader(b->archive), r->segment), r->type[i]);
	l->boxes[l->n++] = box;
	return 0;
}

/* ---- the rows of a block ---- */

/* The first row of a run that starts at `from` or later. */
static uint32_t first_from(
	const struct gt_open_block *r, const struct gt_rows_run *run, int64_t from)
{
	return (uint32_t)GT_LOWER_BOUND(
		i, run->first, (size_t)run->first + run->n, r->start[i] < from);
}

static int add_rows(struct gt_event_boxes *b, struct lane *l, const struct gt_open_block *r,
	const struct gt_rows_run *run)
{
	unsigned depth;
	int code = 0;

	for (uint32_t i = first_from(r, run, b->starts.from);
		!code && i < run->first + run->n && r->start[i] < b->starts.to; i++)
		if ((uint64_t)r->dur[i] >= least(b) && r->start[i] + r->dur[i] > b->range.from &&
			gt_strip_shows(&l->of.strip, r->aspect[i], r->depth[i], &depth) &&
			depth == l->of.depth)
			code = add(b, l, r, i);
	return code;
}

static int look_at(struct gt_event_boxes *b, struct lane *l, const struct gt_planned_block *t,
	struct gt_err *err)
{
	const struct gt_open_block *r =
		gt_archive_rows(b->archive, l->of.strip.segment, t->block, err);
	int code = r ? 0 : -ENOMEM;

	for (uint32_t k = 0; !code && k < r->nruns; k++)
		GT_EACH_TARGET(&b->visits, to, r->runs[k].track)
	if (!code && to->kinds & GT_BIT(r->kind))
		code = add_rows(b, l, r, &r->runs[k]);
	return code;
}

/* ---- lanes with many blocks ---- */

/* 1: it may have rows as long as a box; 0: its summary says that it has none; negative. */
static int may_have(struct gt_event_boxes *b, const struct lane *l,
	const struct gt_planned_block *t, struct gt_err *err)
{
	enum gt_aspect aspect =
		gt_aspect_is_copies(l->of.strip.aspect) ? GT_ASPECT_WORK : l->of.strip.aspect;
	const struct gt_block_summary *list;
	size_t n;
	int code;

	if (t->track == GT_NONE || t->block->rows < GT_SUMMARY_ROWS || t->block->kind == GT_OPEN ||
		l->of.depth + 1 >= GT_SUMMARY_DEPTHS)
		return 1;
	code = gt_archive_block_summaries(
		b->archive, l->of.strip.segment, t->block, &list, &n, err);
	if (code || !n)
		return code ? code : 1;
	for (size_t i = 0; i < n; i++)
		for (uint32_t k = 0;
			list[i].aspect == aspect && list[i].depth == l->of.depth && k < list[i].n;
			k++)
			if (list[i].buckets[k].longest >= least(b))
				return 1;
	return 0;
}

/* Blocks with rows in a stretch of time are next, and of their rows those that start in `starts`.
 */
static int next_view(struct gt_event_boxes *b, const struct lane *l, struct gt_range where,
	struct gt_range starts)
{
	b->starts = starts;
	b->at = 0;
	return gt_block_schedule_find(&b->visits, b->archive, l->of.strip.segment, where);
}

static bool is_enough(const struct gt_event_boxes *b, const struct lane *l)
{
	return b->busy && (b->looks >= LOOKS_MOST || l->n >= BOXES_MOST);
}

/* The next cell in which a row begins that is long enough. 1: there was one; 0; negative. */
static int turn_to_cell(struct gt_event_boxes *b, const struct lane *l)
{
	int64_t offset = gt_archive_offset(b->archive, l->of.strip.segment);
	const struct gt_cell_sums *c;
	struct gt_range cell;
	int code;

	while (b->cell < b->window.cells &&
		(!b->cells[b->cell].count || b->cells[b->cell].longest < least(b)))
		b->cell++;
	if (b->cell == b->window.cells || is_enough(b, l))
		return 0;
	c = &b->cells[b->cell];
	cell = (struct gt_range){ gt_cell_start(&b->window, b->cell) + offset,
		gt_cell_start(&b->window, b->cell + 1ll) + offset };
	b->cell++;
	code = next_view(b, l, cell, cell);
	if (!code && b->visits.ntodo > BLOCKS_MOST)
		code = next_view(b, l, (struct gt_range){ c->longest_at, c->longest_at + 1 }, cell);
	return code ? code : 1;
}

/* ---- the lanes in turn ---- */

static int by_start(const void *pa, const void *pb)
{
	const struct gt_event_box *a = pa, *b = pb;

	return GT_COMPARE(a->start, b->start) ?:
		GT_COMPARE(b->end, a->end) ?:
		GT_COMPARE(a->type, b->type);
}

static int begin(struct gt_event_boxes *b, struct lane *l)
{
	int64_t offset = gt_archive_offset(b->archive, l->of.strip.segment);
	int code;

	b->range = (struct gt_range){ gt_cell_start(&b->window, 0) + offset,
		gt_window_end(&b->window) + offset };
	b->begun = true;
	b->busy = false;
	b->cell = b->window.cells;
	b->looks = 0;
	gt_block_schedule_clear(&b->visits);
	code = gt_block_schedule_add(&b->visits, b->archive, &l->of.strip, 0);
	if (!code)
		code = next_view(b, l, b->range, (struct gt_range){ INT64_MIN, b->range.to });
	if (code || b->visits.ntodo <= b->most)
		return code;
	if (gt_grow(&b->cells, &b->cells_cap, b->window.cells, sizeof(*b->cells)))
		return -ENOMEM;
	b->busy = true;
	b->cell = 0;
	gt_lane_cells_get(b->strips, l->strip, l->of.depth, b->cells);
	return next_view(b, l, (struct gt_range){ b->range.from, b->range.from + 1 },
		(struct gt_range){ INT64_MIN, b->range.from });
}

static int go_through(struct gt_event_boxes *b, struct lane *l, const struct gt_planned_block *t,
	struct gt_err *err)
{
	int code = b->busy ? may_have(b, l, t, err) : 1;

	b->looks += code > 0;
	return code > 0 ? look_at(b, l, t, err) : code;
}

/* Handles a block; after the last one, finishes the lane. */
static int step_lane(struct gt_event_boxes *b, struct lane *l, struct gt_err *err)
{
	int code = 0;

	if (l->of.strip.aspect && !b->begun)
		return begin(b, l);
	if (l->of.strip.aspect && b->at < b->visits.ntodo && !is_enough(b, l))
		return go_through(b, l, &b->visits.todo[b->at++], err);
	if (l->of.strip.aspect)
		code = turn_to_cell(b, l);
	if (code)
		return code < 0 ? code : 0;
	if (l->n > 1)
		qsort(l->boxes, l->n, sizeof(*l->boxes), by_start);
	b->begun = false;
	b->done++;
	return 0;
}

int gt_event_boxes_step(struct gt_event_boxes *b, uint64_t us, struct gt_err *err)
{
	uint64_t deadline = gt_deadline(us);
	int code = 0;

	while (!code && b->done < b->n && !gt_deadline_is_over(deadline))
		code = step_lane(b, &b->lanes[b->done], err);
	return code ? gt_err_set(err, code, "out of memory") : b->done < b->n;
}

const struct gt_event_box *gt_event_boxes_get(
	const struct gt_event_boxes *b, size_t lane, size_t *n)
{
	*n = lane < b->done ? b->lanes[lane].n : 0;
	return *n ? b->lanes[lane].boxes : NULL;
}
