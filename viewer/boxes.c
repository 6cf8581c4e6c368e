/* A lane's boxes are found by going through its blocks in the window, a lane at a time, while nobody presses a key. Zoomed in that are the
 * few blocks that the cells were made from, which are open already; zoomed out it might be all of them, for a few rows that are long. So
 * a lane of more than a few blocks has no boxes. */
#include "viewer/boxes.h"

#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "viewer/deadline.h"

#define BLOCKS_MOST 8u		/* of a lane that are gone through */

struct lane {
	struct gt_lane_of of;
	struct gt_box *boxes;
	size_t n, cap;
};
struct gt_boxes {
	struct gt_archive *archive;
	struct gt_spell *spell;
	struct gt_window window;
	struct lane *lanes;
	size_t n, cap, done;
};

struct gt_boxes *gt_boxes_new(struct gt_archive *a, struct gt_spell *spell)
{
	struct gt_boxes *b = calloc(1, sizeof(*b));

	if (b) {
		b->archive = a;
		b->spell = spell;
	}
	return b;
}

void gt_boxes_free(struct gt_boxes *b)
{
	for (size_t i = 0; b && i < b->cap; i++)
		free(b->lanes[i].boxes);
	if (b)
		free(b->lanes);
	free(b);
}

static bool same(const struct gt_boxes *b, const struct gt_window *w, const struct gt_lane_of *lanes, size_t n)
{
	bool is = b->n == n && b->window.first == w->first && b->window.shift == w->shift && b->window.cells == w->cells;

	for (size_t i = 0; is && i < n; i++) {
		const struct gt_lane_of *have = &b->lanes[i].of;

		is = have->depth == lanes[i].depth && have->strip.segment == lanes[i].strip.segment && have->strip.track == lanes[i].strip.track &&
		     have->strip.aspect == lanes[i].strip.aspect && have->strip.derived == lanes[i].strip.derived;
	}
	return is;
}

int gt_boxes_want(struct gt_boxes *b, const struct gt_window *w, const struct gt_lane_of *lanes, size_t n, struct gt_err *err)
{
	size_t had = b->cap;

	if (same(b, w, lanes, n))
		return 0;
	if (gt_grow(&b->lanes, &b->cap, n, sizeof(*b->lanes)))
		return gt_err_set(err, -ENOMEM, "out of memory");
	if (b->cap > had)
		memset(b->lanes + had, 0, (b->cap - had) * sizeof(*b->lanes));
	for (size_t i = 0; i < n; i++) {
		b->lanes[i].of = lanes[i];
		b->lanes[i].n = 0;
	}
	b->window = *w;
	b->n = n;
	b->done = 0;
	return 0;
}

void gt_box_cells(const struct gt_box *box, const struct gt_window *w, unsigned *from, unsigned *to)
{
	int64_t first = ((box->start + (int64_t)((1ull << w->shift) - 1)) >> w->shift) - w->first, end = (box->end >> w->shift) - w->first;

	first = first < 0 ? 0 : first;
	end = end > (int64_t)w->cells ? (int64_t)w->cells : end;
	*from = (unsigned)(first < end ? first : 0);
	*to = (unsigned)(first < end ? end : 0);
}

static int add(struct gt_boxes *b, struct lane *l, const struct gt_rows *r, uint32_t i)
{
	int64_t start = r->start[i] - gt_archive_offset(b->archive, r->segment);
	struct gt_box box = { start, start + r->dur[i], r->segment, r->type[i], NULL, r->kind == GT_CALL && r->ret && r->ret[i],
			      r->kind == GT_OPEN };
	unsigned from, to;

	gt_box_cells(&box, &b->window, &from, &to);
	if (to - from < GT_BOX_CELLS)
		return 0;
	if (gt_grow(&l->boxes, &l->cap, l->n + 1, sizeof(*l->boxes)))
		return -ENOMEM;
	box.name = gt_spell_type(b->spell, gt_reader_segment(gt_archive_reader(b->archive), r->segment), r->type[i]);
	l->boxes[l->n++] = box;
	return 0;
}

static int add_rows(struct gt_boxes *b, struct lane *l, const struct gt_rows *r, const struct gt_rows_run *run, struct gt_range range)
{
	uint64_t least = (uint64_t)GT_BOX_CELLS << b->window.shift;
	unsigned depth;
	int code = 0;

	for (uint32_t i = run->first; !code && i < run->first + run->n && r->start[i] < range.to; i++)
		if ((uint64_t)r->dur[i] >= least && r->start[i] + r->dur[i] > range.from &&
		    gt_strip_shows(&l->of.strip, r->aspect[i], r->depth[i], &depth) && depth == l->of.depth)
			code = add(b, l, r, i);
	return code;
}

static int by_start(const void *pa, const void *pb)
{
	const struct gt_box *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end != b->end ? (a->end > b->end ? -1 : 1) : (a->type > b->type) - (a->type < b->type);
}

static int look_at(struct gt_boxes *b, struct lane *l, struct gt_visits *v, struct gt_range range, struct gt_err *err)
{
	int code = 0;

	for (size_t i = 0; !code && i < v->ntodo; i++) {
		const struct gt_rows *r = gt_archive_rows(b->archive, l->of.strip.segment, v->todo[i].block, err);

		if (!r)
			code = -ENOMEM;
		for (uint32_t k = 0; !code && k < r->nruns; k++)
			GT_EACH_TARGET(v, to, r->runs[k].track)
				if (!code && to->kinds & GT_BIT(r->kind))
					code = add_rows(b, l, r, &r->runs[k], range);
	}
	if (l->n > 1)
		qsort(l->boxes, l->n, sizeof(*l->boxes), by_start);
	return code;
}

static int find(struct gt_boxes *b, struct lane *l, struct gt_err *err)
{
	struct gt_visits v = { .ntargets = 0 };
	struct gt_range range;
	int64_t offset;
	int code;

	if (!l->of.strip.aspect)
		return 0;
	offset = gt_archive_offset(b->archive, l->of.strip.segment);
	range = (struct gt_range){ gt_cell_start(&b->window, 0) + offset, gt_window_end(&b->window) + offset };
	code = gt_visits_add(&v, b->archive, &l->of.strip, 0);
	if (!code)
		code = gt_visits_find(&v, b->archive, l->of.strip.segment, range);
	if (!code && v.ntodo <= BLOCKS_MOST)
		code = look_at(b, l, &v, range, err);
	gt_visits_release(&v);
	return code ? gt_err_set(err, code, "out of memory") : 0;
}

int gt_boxes_step(struct gt_boxes *b, uint64_t us, struct gt_err *err)
{
	uint64_t deadline = gt_deadline(us);
	int code = 0;

	while (!code && b->done < b->n && !gt_is_over(deadline))
		code = find(b, &b->lanes[b->done++], err);
	return code ? code : b->done < b->n;
}

const struct gt_box *gt_boxes_of(const struct gt_boxes *b, size_t lane, size_t *n)
{
	*n = lane < b->done ? b->lanes[lane].n : 0;
	return *n ? b->lanes[lane].boxes : NULL;
}
