/* Blocks become sums of cells: by their own summaries where no border of a cell is inside a bucket,
 * else row by row. */
#include <stdlib.h>

#include "viewer/cells/lane_cells_internal.h"
#include "viewer/util/deadline.h"

/* rows that are added to their cells between two checks of the clock */
#define AT_A_TIME 4096u
#define COMMUNICATION_ROWS 2000000u /* of GPU work; with more, it counts as kernels */

/* True if only rows tell communication from computation. */
bool gt_lane_cells_needs_rows(const struct gt_lane_cells *s, uint32_t segment)
{
	return gt_archive_has_communication(s->archive, segment) &&
		gt_reader_segment(gt_archive_reader(s->archive), segment)->rows[GT_GPU] <=
		COMMUNICATION_ROWS;
}

int gt_lane_cells_add_row(void *arg, const struct gt_moment *m, struct gt_err *err)
{
	struct gt_lane_cells *s = arg;

	return gt_grid_add(gt_lane_cells_grid(s, &s->strips[m->place]), m->what >> 8, m->at, m->end,
		       m->what & 255, m->addr, true)
		? gt_err_set(err, -ENOMEM, "out of memory")
		: 0;
}

/* Counts a row that starts before the window and ends in it or later. */
static int count_entering(struct gt_lane_strip *strip, unsigned depth, int64_t dur, uint64_t bytes)
{
	struct gt_cell_sums *to;

	if (!strip->entering &&
		!(strip->entering = calloc(GT_SUMMARY_DEPTHS, sizeof(*strip->entering))))
		return -ENOMEM;
	to = &strip->entering[depth < GT_SUMMARY_DEPTHS ? depth : GT_SUMMARY_DEPTHS - 1];
	to->count++;
	to->bytes += bytes;
	to->longest = (uint64_t)dur > to->longest ? (uint64_t)dur : to->longest;
	return 0;
}

/* Adds the rows of a run that a strip shows. Calls of a thread are added to their cells at once,
 * the others in order of time. */
static int add_run(struct gt_lane_cells *s, const struct gt_open_block *r,
	const struct gt_rows_run *run, uint32_t at, struct gt_err *err)
{
	struct gt_lane_strip *strip = &s->strips[at];
	const struct gt_segment *seg = gt_reader_segment(gt_archive_reader(s->archive), s->segment);
	struct gt_range range = gt_lane_cells_due_range(s, strip);
	bool calls = strip->of.aspect == GT_ASPECT_CALLS && !strip->of.derived;
	struct gt_moment *to = calls ? NULL : gt_time_merge_reserve(&s->line, run->n, err);
	size_t n = 0;
	unsigned depth;

	if (!calls && !to)
		return -ENOMEM;
	for (uint32_t i = run->first; i < run->first + run->n && r->start[i] < range.to; i++) {
		int64_t start = r->start[i], end = start + r->dur[i];
		uint64_t bytes = r->bytes ? r->bytes[i] : 0;
		unsigned category;

		if ((end <= range.from && start < range.from) ||
			!gt_strip_shows(&strip->of, r->aspect[i], r->depth[i], &depth))
			continue;
		if (s->has_entering && s->pass != GT_LAST_END && !strip->taken &&
			start < strip->edges[0] && end > strip->edges[0] &&
			count_entering(strip, depth, end - start, bytes))
			return gt_err_set(err, -ENOMEM, "out of memory");
		category = strip->of.aspect == GT_ASPECT_WORK &&
				gt_archive_is_communication(s->archive, s->segment, r->type[i])
			? GT_CELL_COMMUNICATION
			: seg->types[r->type[i]].category;
		if (!calls)
			to[n++] = (struct gt_moment){ .at = start,
				.end = end,
				.addr = bytes,
				.place = at,
				.what = depth << 8 | category };
		else if (gt_grid_add(gt_lane_cells_grid(s, strip), depth, start, end, category,
				 bytes, false))
			return gt_err_set(err, -ENOMEM, "out of memory");
	}
	if (!calls)
		gt_time_merge_commit(&s->line, n);
	return 0;
}

/* Marks the cells of a block that cannot be read as damaged. */
static int note_hole(struct gt_lane_cells *s, const struct gt_planned_block *t)
{
	for (size_t i = 0; i < s->visits.ntargets; i++) {
		struct gt_lane_strip *strip = &s->strips[s->visits.targets[i].strip];
		struct gt_edges edges = gt_edges_of(strip->edges, s->window.cells);
		int64_t from = gt_edges_find(&edges, t->block->start),
			to = gt_edges_find(&edges, t->block->end);

		if ((t->track != GT_NONE && t->track != s->visits.targets[i].track) ||
			!(s->visits.targets[i].kinds & GT_BIT(t->block->kind)))
			continue;
		if (!strip->holes && !(strip->holes = calloc(s->window.cells, 1)))
			return -ENOMEM;
		for (int64_t c = from < 0 ? 0 : from; c <= to && c < s->window.cells; c++)
			strip->holes[c] = 1;
	}
	return 0;
}

static int by_rows(struct gt_lane_cells *s, const struct gt_planned_block *t, struct gt_err *err)
{
	const struct gt_open_block *r = gt_archive_rows(s->archive, s->segment, t->block, err);
	int code = r ? 0 : -ENOMEM;

	if (r && r->damaged)
		return note_hole(s, t);
	for (uint32_t k = 0; !code && k < r->nruns; k++)
		GT_EACH_TARGET(&s->visits, to, r->runs[k].track)
	if (!code && to->kinds & GT_BIT(r->kind))
		code = add_run(s, r, &r->runs[k], to->strip, err);
	return code;
}

/* True if the block has rows that start before the window, and they are counted one by one. */
static bool needs_entering(const struct gt_lane_cells *s, const struct gt_block *b)
{
	struct gt_range range = gt_lane_cells_range(s, s->segment);

	return s->has_entering && b->start < range.from && b->end >= range.from;
}

/* True if no border of a cell is inside a bucket. */
static bool is_within_cells(const struct gt_lane_cells *s, const struct gt_lane_strip *strip,
	const struct gt_block_summary *sum)
{
	struct gt_edges edges = gt_edges_of(strip->edges, s->window.cells);
	bool within = true;

	for (uint32_t b = 0; within && b < sum->n; b++) {
		int64_t start = sum->buckets[b].start;

		within = gt_edges_find(&edges, start) ==
			gt_edges_find(&edges, start + (int64_t)sum->buckets[b].width - 1);
	}
	return within;
}

/* 1: done; 0: there is no such summary, or a border of a cell is inside a bucket; negative. */
static int by_summary(struct gt_lane_cells *s, const struct gt_planned_block *t, struct gt_err *err)
{
	const struct gt_block_summary *list;
	bool within = true;
	size_t n;
	int code;

	if (s->pass != GT_ALL_CELLS || needs_entering(s, t->block) ||
		(t->block->kind == GT_GPU && gt_lane_cells_needs_rows(s, s->segment)))
		return 0;
	code = gt_archive_block_summaries(s->archive, s->segment, t->block, &list, &n, err);
	for (size_t i = 0; within && i < n; i++)
		GT_EACH_TARGET(&s->visits, to, list[i].track)
	if (s->strips[to->strip].of.aspect == list[i].aspect)
		within = within && is_within_cells(s, &s->strips[to->strip], &list[i]);
	if (code || !n || !within)
		return code;
	for (size_t i = 0; !code && i < n; i++)
		GT_EACH_TARGET(&s->visits, to, list[i].track)
	for (uint32_t b = 0;
		!code && s->strips[to->strip].of.aspect == list[i].aspect && b < list[i].n; b++)
		code = gt_grid_add_bucket(
			&s->strips[to->strip].grid, list[i].depth, &list[i].buckets[b]);
	return code ? gt_err_set(err, code, "out of memory") : 1;
}

int gt_lane_cells_read_block(
	struct gt_lane_cells *s, const struct gt_planned_block *t, struct gt_err *err)
{
	int code = t->summed ? by_summary(s, t, err) : 0;

	return code < 0 ? code : code > 0 ? 0 : by_rows(s, t, err);
}

/* Adds the pending rows before `floor` to their cells, a few thousand at a time: with thirty
 * busy tracks half a million rows may be pending, and the picture must not wait for all. 1:
 * there are more; 0: done; negative: error. */
int gt_lane_cells_drain(
	struct gt_lane_cells *s, int64_t floor, uint64_t deadline, struct gt_err *err)
{
	/* merge the rows of the last block with the others */
	int code = gt_time_merge_advance(&s->line, INT64_MIN, gt_lane_cells_add_row, s, err);

	while (!code && s->line.nheap && s->line.heap[0].at < floor) {
		size_t before = s->line.nmoments;
		int64_t to;

		if (gt_deadline_is_over(deadline))
			return 1;
		if (__builtin_add_overflow(s->line.heap[0].at, s->portion, &to) || to > floor)
			to = floor;
		code = gt_time_merge_advance(&s->line, to, gt_lane_cells_add_row, s, err);
		before -= s->line.nmoments;
		if (before > 2 * AT_A_TIME && s->portion > 1)
			s->portion /= 2;
		else if (before < AT_A_TIME && s->portion < INT64_MAX / 2)
			s->portion *= 2;
	}
	return code;
}
