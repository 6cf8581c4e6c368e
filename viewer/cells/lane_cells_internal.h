/* The state of lane cells, for the files lane_cells*.c: the requested strips, those of the previous
 * request, and the blocks that are read. */
#ifndef GT_LANE_CELLS_INTERNAL_H
#define GT_LANE_CELLS_INTERNAL_H
#include "analyze/order/time_merge.h"
#include "viewer/cells/lane_cells.h"
#include "viewer/model/unchanged_until.h"

struct gt_lane_strip {
	struct gt_strip_key of;
	int64_t *edges; /* starts of the window's cells and its end; segment's time */
	unsigned taken; /* number of first cells that are reused; their data: */
	struct gt_grid before;
	struct gt_grid grid; /* exact data of the cells after them */
	/* If the sums come from upper summaries: the parts of the first and last cell in buckets
	 * that contain an end of the window. Rows of these parts are read. */
	struct gt_lane_strip_end {
		bool open;        /* not read yet */
		int64_t edges[2]; /* of its only bucket */
		struct gt_grid grid;
	} * ends; /* GT_LANE_ENDS; NULL: not needed */
	/* the window's cells; NULL: nothing is known */
	struct gt_cell_sums *rough[GT_SUMMARY_DEPTHS];
	/* rows that overlap the start of the window, by depth; NULL: not requested, or none so far
	 */
	struct gt_cell_sums *entering;
	/* all cells are exact; else the reused ones and those before `until` are */
	bool complete;
	/* a row was too late for the merge, which happens with very many busy tracks */
	bool unsure;
	int64_t until;  /* segment's time */
	uint8_t *holes; /* by cell; NULL: there are none */
};
enum gt_lane_cells_pass { GT_ALL_CELLS, GT_FIRST_END, GT_LAST_END, GT_LANE_PASSES };
#define GT_LANE_ENDS 2u
struct gt_lane_cells {
	struct gt_archive *archive;
	struct gt_cell_window window;
	bool entering, has_entering; /* for later requests; of the current one */
	struct gt_lane_strip *strips;
	size_t nstrips, strips_cap;
	/* the previous request: used while its cells are reused, and between two archives */
	struct gt_lane_strip *was;
	size_t nwas;
	struct gt_cell_window was_window;
	bool was_entering;
	struct gt_unchanged_until since; /* differences between two archives */
	/* the current segment and its blocks to read: first single tracks, for which summaries
	 * mostly suffice; then unions. Of each, first strips without sums, then ends. */
	uint32_t segment;
	enum gt_lane_cells_pass pass;
	bool unions, begun, over;
	size_t from, to; /* the strips that are computed now */
	struct gt_block_schedule visits;
	size_t at;                 /* the next block of `visits` */
	struct gt_time_merge line; /* rows that must be added in order of time */
	int64_t portion;           /* ns of these rows that are added at a time */
	uint64_t gone, all;        /* blocks read and all blocks, of all segments */
};

static inline int64_t gt_round_down(int64_t t, unsigned shift)
{
	return (int64_t)((uint64_t)t & ~((1ull << shift) - 1));
}

/* The window in the time of a segment. */
static inline struct gt_range gt_lane_cells_range(const struct gt_lane_cells *s, uint32_t segment)
{
	int64_t offset = gt_archive_offset(s->archive, segment);

	return (struct gt_range){ s->window.from + offset, s->window.to + offset };
}

/* The end of the strip that the current pass reads, or NULL. */
static inline struct gt_lane_strip_end *gt_lane_cells_end(
	const struct gt_lane_cells *s, const struct gt_lane_strip *strip)
{
	return s->pass != GT_ALL_CELLS && strip->ends ? &strip->ends[s->pass - GT_FIRST_END] : NULL;
}

static inline struct gt_grid *gt_lane_cells_grid(
	const struct gt_lane_cells *s, struct gt_lane_strip *strip)
{
	return s->pass == GT_ALL_CELLS ? &strip->grid : &gt_lane_cells_end(s, strip)->grid;
}

/* The range to read; segment's time. */
static inline struct gt_range gt_lane_cells_due_range(
	const struct gt_lane_cells *s, const struct gt_lane_strip *strip)
{
	const struct gt_lane_strip_end *end = gt_lane_cells_end(s, strip);

	return end ? (struct gt_range){ end->edges[0], end->edges[1] }
		   : (struct gt_range){ strip->edges[strip->taken], strip->edges[s->window.cells] };
}

/* An empty grid of n cells from cell `first` on. Cells of an aligned window are found faster. */
void gt_lane_cells_place_grid(const struct gt_lane_cells *s, const struct gt_lane_strip *strip,
	unsigned first, unsigned n, struct gt_grid *g);
/* True if only rows tell communication from computation. */
bool gt_lane_cells_needs_rows(const struct gt_lane_cells *s, uint32_t segment);
/* The cells as upper summaries give them: exact, except ends that must be read, or rough. 0 or
 * -ENOMEM. */
int gt_lane_cells_from_uppers(const struct gt_lane_cells *s, struct gt_lane_strip *strip);
/* Reuses the exact cells of the same strip of the previous request. 0 or -ENOMEM. */
int gt_lane_cells_reuse(struct gt_lane_cells *s, struct gt_lane_strip *strip);
/* Adds the rows of a block, or its sums, to the strips of the current pass. 0 or negative. */
int gt_lane_cells_read_block(
	struct gt_lane_cells *s, const struct gt_planned_block *t, struct gt_err *err);
/* Adds the pending rows before `floor` to their cells. 1: there are more; 0: done; negative. */
int gt_lane_cells_drain(
	struct gt_lane_cells *s, int64_t floor, uint64_t deadline, struct gt_err *err);
/* a callback of the merge */
int gt_lane_cells_add_row(void *arg, const struct gt_moment *m, struct gt_err *err);
#endif
