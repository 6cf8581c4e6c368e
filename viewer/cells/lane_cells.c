#include <stdlib.h>
#include <string.h>

#include "analyze/order/time_merge.h"
#include "viewer/util/deadline.h"
#include "viewer/cells/unfinished_calls.h"
#include "viewer/model/unchanged_until.h"
#include "viewer/cells/lane_cells.h"
#include "formats/base/buf.h"
#include "formats/base/sorted.h"

/* rows that are added to their cells between two checks of the clock */
#define AT_A_TIME 4096u
/* busy tracks of the unions that are computed together: GT_TIME_MERGE_MAX is the rows of 24 blocks
 */
#define TOGETHER 16u
#define COMMUNICATION_ROWS 2000000u /* of GPU work; with more, it counts as kernels */

struct strip {
	struct gt_strip_key of;
	int64_t *edges; /* starts of the window's cells and its end; segment's time */
	unsigned taken; /* number of first cells that are reused; their data: */
	struct gt_grid before;
	struct gt_grid grid; /* exact data of the cells after them */
	/* If the sums come from upper summaries: the parts of the first and last cell in buckets
	 * that contain an end of the window. Rows of these parts are read. */
	struct strip_end {
		bool open;        /* not read yet */
		int64_t edges[2]; /* of its only bucket */
		struct gt_grid grid;
	} * ends; /* ENDS; NULL: not needed */
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
enum pass { ALL_CELLS, FIRST_END, LAST_END, PASSES };
#define ENDS 2u
struct gt_lane_cells {
	struct gt_archive *archive;
	struct gt_cell_window window;
	bool entering, has_entering; /* for later requests; of the current one */
	struct strip *strips;
	size_t nstrips, strips_cap;
	/* the previous request: used while its cells are reused, and between two archives */
	struct strip *was;
	size_t nwas;
	struct gt_cell_window was_window;
	bool was_entering;
	struct gt_unchanged_until since; /* differences between two archives */
	/* the current segment and its blocks to read: first single tracks, for which summaries
	 * mostly suffice; then unions. Of each, first strips without sums, then ends. */
	uint32_t segment;
	enum pass pass;
	bool unions, begun, over;
	size_t from, to; /* the strips that are computed now */
	struct gt_block_schedule visits;
	size_t at;                 /* the next block of `visits` */
	struct gt_time_merge line; /* rows that must be added in order of time */
	int64_t portion;           /* ns of these rows that are added at a time */
	uint64_t gone, all;        /* blocks read and all blocks, of all segments */
};

struct gt_lane_cells *gt_lane_cells_new(struct gt_archive *a)
{
	struct gt_lane_cells *s = calloc(1, sizeof(*s));

	if (s) {
		s->archive = a;
		/* summaries do not include them: gt_unfinished_calls_cover adds them */
		s->visits.without = GT_BIT(GT_OPEN);
	}
	return s;
}

static void release_rough(struct strip *strip)
{
	for (unsigned d = 0; d < GT_SUMMARY_DEPTHS; d++) {
		free(strip->rough[d]);
		strip->rough[d] = NULL;
	}
}

static void release_ends(struct strip *strip)
{
	for (unsigned e = 0; strip->ends && e < ENDS; e++)
		gt_grid_release(&strip->ends[e].grid);
	free(strip->ends);
	strip->ends = NULL;
}

static void release_strips(struct strip *strips, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		gt_grid_release(&strips[i].before);
		gt_grid_release(&strips[i].grid);
		release_rough(&strips[i]);
		release_ends(&strips[i]);
		free(strips[i].edges);
		free(strips[i].entering);
		free(strips[i].holes);
	}
	free(strips);
}

static void release_was(struct gt_lane_cells *s)
{
	release_strips(s->was, s->nwas);
	s->was = NULL;
	s->nwas = 0;
	gt_unchanged_until_release(&s->since);
}

/* After a row that was too late for the merge, no cell of these strips is exact. */
static void note_late(struct gt_lane_cells *s)
{
	for (size_t i = 0; s->line.late && i < s->visits.ntargets; i++)
		s->strips[s->visits.targets[i].strip].unsure = true;
}

/* The current request becomes the previous one. Between two archives there is no request, and
 * the previous one stays. */
static void put_aside(struct gt_lane_cells *s)
{
	note_late(s);
	if (s->strips && s->nstrips) {
		release_was(s);
		s->was = s->strips;
		s->nwas = s->nstrips;
		s->was_window = s->window;
		s->was_entering = s->has_entering;
		s->strips = NULL;
		s->strips_cap = 0;
	}
	s->nstrips = 0;
	gt_time_merge_release(&s->line);
	gt_block_schedule_clear(&s->visits);
	s->at = s->from = s->to = 0;
	s->segment = 0;
	s->pass = ALL_CELLS;
	s->unions = s->begun = s->over = false;
	s->gone = s->all = 0;
}

/* The end of the strip that the current pass reads, or NULL. */
static struct strip_end *end_of(const struct gt_lane_cells *s, const struct strip *strip)
{
	return s->pass != ALL_CELLS && strip->ends ? &strip->ends[s->pass - FIRST_END] : NULL;
}

static struct gt_grid *grid_of(const struct gt_lane_cells *s, struct strip *strip)
{
	return s->pass == ALL_CELLS ? &strip->grid : &end_of(s, strip)->grid;
}

/* True if the strip belongs to the current segment and needs rows in the current pass. */
static bool is_due(const struct gt_lane_cells *s, const struct strip *strip)
{
	return strip->of.segment == s->segment && strip->of.derived == s->unions &&
		(s->pass == ALL_CELLS ? !strip->complete
				      : end_of(s, strip) && end_of(s, strip)->open);
}

void gt_lane_cells_free(struct gt_lane_cells *s)
{
	if (!s)
		return;
	put_aside(s);
	release_was(s);
	free(s->strips);
	gt_block_schedule_release(&s->visits);
	free(s);
}

/* The window in the time of a segment. */
static struct gt_range range_in(const struct gt_lane_cells *s, uint32_t segment)
{
	int64_t offset = gt_archive_offset(s->archive, segment);

	return (struct gt_range){ s->window.from + offset, s->window.to + offset };
}

const char *gt_cell_category_word(unsigned category)
{
	return category == GT_CELL_COMMUNICATION ? "communication"
						 : gt_category_word((uint8_t)category);
}

/* True if only rows tell communication from computation. */
static bool needs_rows(const struct gt_lane_cells *s, uint32_t segment)
{
	return gt_archive_has_communication(s->archive, segment) &&
		gt_reader_segment(gt_archive_reader(s->archive), segment)->rows[GT_GPU] <=
		COMMUNICATION_ROWS;
}

/* ---- upper summaries ---- */

/* The first bucket that ends after `from`. */
static uint32_t first_bucket(const struct gt_level *l, int64_t from)
{
	return (uint32_t)GT_LOWER_BOUND(
		i, 0, l->n, l->buckets[i].start + (int64_t)l->buckets[i].width <= from);
}

static const struct gt_level *finest_level(const struct gt_upper *u)
{
	unsigned i = 0;

	while (u && i < u->nlevels && !u->levels[i].n)
		i++;
	return u && i < u->nlevels ? &u->levels[i] : NULL;
}

/* The coarsest level whose buckets each lie within a cell; else, with *fits false, the finest one.
 * NULL: there are no levels. */
static const struct gt_level *choose_level(const struct gt_upper *u, unsigned shift, bool *fits)
{
	const struct gt_level *best = finest_level(u);

	for (unsigned i = 0; u && i < u->nlevels; i++)
		if (u->levels[i].n && u->levels[i].shift <= shift)
			best = &u->levels[i];
	*fits = best && best->shift <= shift;
	return best;
}

static int sum_level(
	struct strip *strip, unsigned depth, const struct gt_level *l, const struct gt_range *range)
{
	int code = 0;

	for (uint32_t i = first_bucket(l, range->from);
		!code && i < l->n && l->buckets[i].start < range->to; i++)
		code = gt_grid_add_bucket(&strip->grid, depth, &l->buckets[i]);
	return code;
}

static int64_t round_down(int64_t t, unsigned shift)
{
	return (int64_t)((uint64_t)t & ~((1ull << shift) - 1));
}

static int64_t round_up(int64_t t, unsigned shift)
{
	return round_down((int64_t)((uint64_t)t + (1ull << shift) - 1), shift);
}

/* Adds the wide buckets within the range, and the finest ones where these do not fit. The range
 * begins and ends at finest buckets. */
static int sum_levels(struct strip *strip, unsigned depth, const struct gt_upper *u,
	const struct gt_level *l, struct gt_range range)
{
	const struct gt_level *finest = finest_level(u);
	struct gt_range wide = { round_up(range.from, l->shift), round_down(range.to, l->shift) };
	int code;

	if (l == finest || wide.from >= wide.to)
		return sum_level(strip, depth, finest, &range);
	code = sum_level(strip, depth, l, &wide);
	if (!code && range.from < wide.from)
		code = sum_level(strip, depth, finest, &(struct gt_range){ range.from, wide.from });
	if (!code && range.to > wide.to)
		code = sum_level(strip, depth, finest, &(struct gt_range){ wide.to, range.to });
	return code;
}

static int set_end(struct strip *strip, unsigned which, int64_t from, int64_t to)
{
	struct strip_end *end;

	if (!strip->ends && !(strip->ends = calloc(ENDS, sizeof(*strip->ends))))
		return -ENOMEM;
	end = &strip->ends[which];
	end->open = true;
	end->edges[0] = from;
	end->edges[1] = to;
	gt_grid_place_between(&end->grid, end->edges, 1);
	return 0;
}

/* Reduces the range to whole buckets of 2^shift ns. Rows give the rest. A bucket that contains an
 * end of the window counts as whole if there are no rows beyond that end. */
static int cut_ends(const struct gt_segment *seg, struct strip *strip, unsigned shift,
	bool entering, struct gt_range *range)
{
	bool first = range->from <= seg->min_start, last = range->to > seg->max_end;
	int64_t from = first ? round_down(range->from, shift) : round_up(range->from, shift),
		to = last ? round_up(range->to, shift) : round_down(range->to, shift);
	int code = 0;

	if (from > to) /* both ends are in one bucket */
		from = to = range->to;
	if (!first && (from != range->from || entering))
		code = set_end(strip, 0, range->from, from < range->to ? from : range->to);
	if (!code && !last && to != range->to)
		code = set_end(strip, 1, to > range->from ? to : range->from, range->to);
	*range = (struct gt_range){ from, to };
	return code;
}

/* Spreads a bucket over the cells that it covers. The cell of a single row is unknown, except
 * for the longest row. */
static void spread_bucket(
	struct gt_cell_sums *cells, const struct gt_bucket *b, const struct gt_edges *edges)
{
	int64_t end = b->start + (int64_t)b->width, first = gt_edges_find(edges, b->start),
		longest = gt_edges_find(edges, b->longest_at);

	for (int64_t i = first < 0 ? 0 : first; i < (int64_t)edges->n && edges->at[i] < end; i++) {
		int64_t from = edges->at[i] > b->start ? edges->at[i] : b->start,
			to = edges->at[i + 1] < end ? edges->at[i + 1] : end;
		double share = (double)(to - from) / (double)b->width;
		uint64_t width = (uint64_t)(edges->at[i + 1] - edges->at[i]);

		cells[i].busy += (uint64_t)((double)b->busy * share);
		cells[i].count += (uint64_t)((double)b->count * share);
		cells[i].bytes += (uint64_t)((double)b->bytes * share);
		cells[i].longest = i == longest ? b->longest : cells[i].longest;
		cells[i].category = b->category;
		if (cells[i].busy > width)
			cells[i].busy = width;
	}
}

static int spread_level(const struct gt_lane_cells *s, struct strip *strip, unsigned depth,
	const struct gt_level *l, const struct gt_range *range)
{
	struct gt_cell_sums *cells = strip->rough[depth] = calloc(s->window.cells, sizeof(*cells));
	struct gt_edges edges = gt_edges_of(strip->edges, s->window.cells);

	if (!cells)
		return -ENOMEM;
	for (unsigned i = 0; i < s->window.cells; i++)
		cells[i].sureness = GT_CELL_ROUGH;
	for (uint32_t i = first_bucket(l, range->from); i < l->n && l->buckets[i].start < range->to;
		i++)
		spread_bucket(cells, &l->buckets[i], &edges);
	return 0;
}

static const struct gt_upper *upper_of(
	const struct gt_lane_cells *s, const struct strip *strip, unsigned depth)
{
	return gt_archive_upper(s->archive, strip->of.segment, strip->of.track, strip->of.aspect,
		strip->of.derived, depth);
}

/* All depths have levels that fit: their sums, without the ends. */
static int sum_uppers(const struct gt_lane_cells *s, struct strip *strip)
{
	const struct gt_segment *seg =
		gt_reader_segment(gt_archive_reader(s->archive), strip->of.segment);
	struct gt_range range = range_in(s, strip->of.segment);
	unsigned finest = 0;
	bool fits;
	int code;

	for (unsigned d = 0; d < GT_SUMMARY_DEPTHS; d++) {
		const struct gt_level *l = finest_level(upper_of(s, strip, d));

		finest = l && l->shift > finest ? l->shift : finest;
	}
	code = cut_ends(seg, strip, finest, s->has_entering, &range);
	for (unsigned d = 0; !code && d < GT_SUMMARY_DEPTHS; d++) {
		const struct gt_upper *u = upper_of(s, strip, d);
		const struct gt_level *l = choose_level(u, s->window.shift, &fits);

		code = l && range.from < range.to ? sum_levels(strip, d, u, l, range) : 0;
	}
	strip->complete = true;
	return code;
}

static int from_uppers(const struct gt_lane_cells *s, struct strip *strip)
{
	struct gt_range range = range_in(s, strip->of.segment);
	bool any = false, all = true, fits;
	int code = 0;

	for (unsigned d = 0; d < GT_SUMMARY_DEPTHS; d++)
		if (choose_level(upper_of(s, strip, d), s->window.shift, &fits)) {
			any = true;
			all &= fits;
		}
	if (any && all && !(strip->of.aspect == GT_ASPECT_WORK && needs_rows(s, strip->of.segment)))
		return sum_uppers(s, strip);
	for (unsigned d = 0; !code && d < GT_SUMMARY_DEPTHS; d++) {
		const struct gt_level *l =
			choose_level(upper_of(s, strip, d), s->window.shift, &fits);

		code = l ? spread_level(s, strip, d, l, &range) : 0;
	}
	return code;
}

/* ---- reuse of exact cells ---- */

/* Before which time nothing has come for a strip since it was wanted last; segment's time. */
static int64_t floor_of(const struct gt_lane_cells *s, const struct gt_strip_key *of)
{
	const struct gt_segment *seg =
		gt_reader_segment(gt_archive_reader(s->archive), of->segment);
	uint32_t kinds = gt_strip_kinds(of) & ~s->visits.without;
	int64_t floor = INT64_MAX, one;

	if (!s->since.n)
		return INT64_MAX;
	if (!of->derived)
		return gt_unchanged_until_time(&s->since, of->segment, of->track, kinds);
	for (uint32_t t = 0; t < seg->ntracks; t++)
		if (gt_archive_joins(s->archive, of->segment, t, of->track)) {
			one = gt_unchanged_until_time(&s->since, of->segment, t, kinds);
			floor = one < floor ? one : floor;
		}
	return floor;
}

/* The range in which all cells were exact; segment's time. It includes all time before the first
 * row. */
static struct gt_range certain(const struct gt_lane_cells *s, const struct strip *was)
{
	uint32_t segment = was->of.segment;
	int64_t low = s->since.n
		? gt_unchanged_until_start(&s->since, segment)
		: gt_reader_segment(gt_archive_reader(s->archive), segment)->min_start;
	int64_t from = was->edges[0], end = was->edges[s->was_window.cells];
	int64_t taken = was->edges[was->taken], to = was->until > taken ? was->until : taken;

	return (struct gt_range){ low >= from ? INT64_MIN : from,
		was->complete || to > end ? end : to };
}

/* Number of the strip's first cells that are unchanged. */
static unsigned count_taken(
	const struct gt_lane_cells *s, const struct strip *strip, const struct strip *was)
{
	struct gt_range known = certain(s, was);
	int64_t floor = floor_of(s, &strip->of), to = floor < known.to ? floor : known.to, n;
	struct gt_edges edges = gt_edges_of(strip->edges, s->window.cells);

	if (s->has_entering && !(s->was_entering && gt_same_window(&s->window, &s->was_window)))
		return 0; /* the rows at its start are not known */
	if (was->ends || strip->edges[0] < known.from || to <= strip->edges[0] ||
		!gt_window_consists_of(&s->window, &s->was_window))
		return 0;
	n = gt_edges_find(&edges, to);
	return n < s->window.cells ? (unsigned)n : s->window.cells;
}

static int take_holes(const struct gt_lane_cells *s, struct strip *strip, const struct strip *was)
{
	struct gt_edges edges = gt_edges_of(strip->edges, s->window.cells);

	if (was->holes && !strip->holes && !(strip->holes = calloc(s->window.cells, 1)))
		return -ENOMEM;
	for (unsigned i = 0; was->holes && i < s->was_window.cells; i++) {
		int64_t c = gt_edges_find(&edges, was->edges[i]);

		if (was->holes[i] && c >= 0 && c < strip->taken)
			strip->holes[c] = 1;
	}
	return 0;
}

/* An empty grid of n cells from cell `first` on. Cells of an aligned window are found faster. */
static void place_grid(const struct gt_lane_cells *s, const struct strip *strip, unsigned first,
	unsigned n, struct gt_grid *g)
{
	const struct gt_cell_window *w = &s->window;
	int64_t start = strip->edges[first];

	if (gt_window_is_aligned(w) && round_down(start, w->shift) == start)
		gt_grid_place(g, start >> w->shift, w->shift, n);
	else
		gt_grid_place_between(g, strip->edges + first, n);
}

/* Reuses the exact cells of the same strip. */
static int take_over(struct gt_lane_cells *s, struct strip *strip)
{
	const struct strip *was = s->was, *end = was + s->nwas;
	int code;

	while (was < end && !gt_same_strip(&was->of, &strip->of))
		was++;
	strip->taken = was < end ? count_taken(s, strip, was) : 0;
	if (!strip->taken)
		return 0;
	place_grid(s, strip, 0, strip->taken, &strip->before);
	code = gt_grid_add_grid(&strip->before, &was->before);
	if (!code)
		code = gt_grid_add_grid(&strip->before, &was->grid);
	if (!code)
		code = take_holes(s, strip, was);
	gt_grid_release(&strip->grid);
	place_grid(s, strip, strip->taken, s->window.cells - strip->taken, &strip->grid);
	strip->unsure = was->unsure;
	if (s->has_entering && was->entering) {
		strip->entering = malloc(GT_SUMMARY_DEPTHS * sizeof(*strip->entering));
		if (!strip->entering)
			return -ENOMEM;
		memcpy(strip->entering, was->entering,
			GT_SUMMARY_DEPTHS * sizeof(*strip->entering));
	}
	strip->complete = strip->taken == s->window.cells;
	return code;
}

void gt_lane_cells_detach(struct gt_lane_cells *s)
{
	if (!s || !s->archive)
		return;
	put_aside(s);
	for (size_t i = 0; i < s->nwas; i++)
		release_rough(&s->was[i]);
	if (s->nwas && !s->since.n)
		gt_unchanged_until_save(&s->since, s->archive);
	if (!s->since.n)
		release_was(s);
	s->archive = NULL;
	s->window = (struct gt_cell_window){ .cells = 0 };
	s->over = true;
}

void gt_lane_cells_reopen(struct gt_lane_cells *s, struct gt_archive *a) { s->archive = a; }

/* ---- the rows of a block ---- */

static int add_moment(void *arg, const struct gt_moment *m, struct gt_err *err)
{
	struct gt_lane_cells *s = arg;

	return gt_grid_add(grid_of(s, &s->strips[m->place]), m->what >> 8, m->at, m->end,
		       m->what & 255, m->addr, true)
		? gt_err_set(err, -ENOMEM, "out of memory")
		: 0;
}

/* The range to read; segment's time. */
static struct gt_range due_range(const struct gt_lane_cells *s, const struct strip *strip)
{
	const struct strip_end *end = end_of(s, strip);

	return end ? (struct gt_range){ end->edges[0], end->edges[1] }
		   : (struct gt_range){ strip->edges[strip->taken], strip->edges[s->window.cells] };
}

/* Counts a row that starts before the window and ends in it or later. */
static int count_entering(struct strip *strip, unsigned depth, int64_t dur, uint64_t bytes)
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
	struct strip *strip = &s->strips[at];
	const struct gt_segment *seg = gt_reader_segment(gt_archive_reader(s->archive), s->segment);
	struct gt_range range = due_range(s, strip);
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
		if (s->has_entering && s->pass != LAST_END && !strip->taken &&
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
		else if (gt_grid_add(grid_of(s, strip), depth, start, end, category, bytes, false))
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
		struct strip *strip = &s->strips[s->visits.targets[i].strip];
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
	struct gt_range range = range_in(s, s->segment);

	return s->has_entering && b->start < range.from && b->end >= range.from;
}

/* True if no border of a cell is inside a bucket. */
static bool is_within_cells(const struct gt_lane_cells *s, const struct strip *strip,
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

	if (s->pass != ALL_CELLS || needs_entering(s, t->block) ||
		(t->block->kind == GT_GPU && needs_rows(s, s->segment)))
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

static int go_through(struct gt_lane_cells *s, const struct gt_planned_block *t, struct gt_err *err)
{
	int code = t->summed ? by_summary(s, t, err) : 0;

	return code < 0 ? code : code > 0 ? 0 : by_rows(s, t, err);
}

/* Adds the pending rows before `floor` to their cells, a few thousand at a time: with thirty
 * busy tracks half a million rows may be pending, and the picture must not wait for all. 1:
 * there are more; 0: done; negative: error. */
static int drain(struct gt_lane_cells *s, int64_t floor, uint64_t deadline, struct gt_err *err)
{
	/* merge the rows of the last block with the others */
	int code = gt_time_merge_advance(&s->line, INT64_MIN, add_moment, s, err);

	while (!code && s->line.nheap && s->line.heap[0].at < floor) {
		size_t before = s->line.nmoments;
		int64_t to;

		if (gt_deadline_is_over(deadline))
			return 1;
		if (__builtin_add_overflow(s->line.heap[0].at, s->portion, &to) || to > floor)
			to = floor;
		code = gt_time_merge_advance(&s->line, to, add_moment, s, err);
		before -= s->line.nmoments;
		if (before > 2 * AT_A_TIME && s->portion > 1)
			s->portion /= 2;
		else if (before < AT_A_TIME && s->portion < INT64_MAX / 2)
			s->portion *= 2;
	}
	return code;
}

/* ---- requests and steps ---- */

/* All blocks of the segment up to this time are read. */
static void note_until(struct gt_lane_cells *s, int64_t until)
{
	for (size_t i = 0; i < s->visits.ntargets; i++) {
		struct strip *strip = &s->strips[s->visits.targets[i].strip];

		if (end_of(s, strip)) {
			end_of(s, strip)->open = until != INT64_MAX;
			gt_grid_finish(&end_of(s, strip)->grid);
			continue;
		}
		strip->until = until;
		strip->complete = until == INT64_MAX;
		gt_grid_finish(&strip->grid);
	}
}

/* The start of the next block or of the first pending row. */
static int64_t reached(const struct gt_lane_cells *s)
{
	int64_t until =
		s->at < s->visits.ntodo ? s->visits.todo[s->at].block->start : INT64_MAX - 1;

	return s->line.nheap && s->line.heap[0].at < until ? s->line.heap[0].at : until;
}

/* The number of tracks of a union that may each have a block of pending rows. */
static size_t busy_tracks(const struct gt_lane_cells *s, const struct gt_strip_key *of)
{
	uint32_t ntracks = gt_reader_segment(gt_archive_reader(s->archive), of->segment)->ntracks;
	size_t n = 0;

	for (uint32_t t = 0; t < ntracks; t++)
		n += gt_archive_blocks(s->archive, of->segment, t).n &&
			gt_archive_joins(s->archive, of->segment, t, of->track);
	return n;
}

/* Adds a strip to those whose blocks are read next, and its range to theirs. */
static int schedule(struct gt_lane_cells *s, size_t i, struct gt_range *all)
{
	struct strip *strip = &s->strips[i];
	struct gt_range range = due_range(s, strip);
	int code = gt_block_schedule_add(&s->visits, s->archive, &strip->of, (uint32_t)i);

	for (size_t k = s->visits.ntargets; k-- > 0 && s->visits.targets[k].strip == i;)
		s->visits.targets[k].from = range.from;
	all->from = range.from < all->from ? range.from : all->from;
	all->to = range.to > all->to ? range.to : all->to;
	return code;
}

/* Starts the next strips of a segment and finds their blocks. The number of unions at a time is
 * limited to that of a timeline. */
static int begin_segment(struct gt_lane_cells *s)
{
	struct gt_range range = { INT64_MAX, INT64_MIN };
	size_t busy = 0;
	int code = 0;

	gt_block_schedule_clear(&s->visits);
	for (s->to = s->from; !code && s->to < s->nstrips; s->to++) {
		if (!is_due(s, &s->strips[s->to]))
			continue;
		busy += s->unions ? busy_tracks(s, &s->strips[s->to].of) : 0;
		if (busy > TOGETHER && s->visits.ntargets)
			break;
		code = schedule(s, s->to, &range);
	}
	if (!code)
		code = gt_block_schedule_find(&s->visits, s->archive, s->segment, range);
	s->begun = true;
	s->at = 0;
	s->all += s->visits.ntodo;
	return code;
}

/* The next segment, of unions after single tracks, for each pass. */
static void next_segment(struct gt_lane_cells *s)
{
	s->from = 0;
	if (++s->segment < gt_reader_segments(gt_archive_reader(s->archive)))
		return;
	s->segment = 0;
	if (++s->pass < PASSES)
		return;
	s->pass = ALL_CELLS;
	s->over = s->unions;
	s->unions = true;
}

static int end_segment(struct gt_lane_cells *s, struct gt_err *err)
{
	int code = gt_time_merge_flush(&s->line, add_moment, s, err);

	note_late(s);
	gt_time_merge_release(&s->line);
	note_until(s, INT64_MAX);
	/* strips that no track has rows for */
	for (size_t i = s->from; i < s->to; i++)
		if (is_due(s, &s->strips[i])) {
			s->strips[i].complete = true;
			if (end_of(s, &s->strips[i]))
				end_of(s, &s->strips[i])->open = false;
		}
	s->begun = false;
	s->from = s->to;
	if (s->from >= s->nstrips)
		next_segment(s);
	return code;
}

int gt_lane_cells_step(struct gt_lane_cells *s, uint64_t us, struct gt_err *err)
{
	uint64_t deadline = gt_deadline(us);
	int code = 0;

	while (!code && !s->over && !gt_deadline_is_over(deadline)) {
		bool last;

		if (!s->begun && (code = begin_segment(s)))
			break;
		last = s->at == s->visits.ntodo;
		code = drain(
			s, last ? INT64_MAX : s->visits.todo[s->at].block->start, deadline, err);
		if (code)
			break;
		code = last ? end_segment(s, err) : go_through(s, &s->visits.todo[s->at], err);
		s->at += !last;
		s->gone += !last;
	}
	if (code >= 0 && s->begun) {
		/* pending rows are visible to reached() */
		code = gt_time_merge_advance(&s->line, INT64_MIN, add_moment, s, err);
		note_until(s, reached(s));
	}
	return code < 0 ? gt_err_set(err, code, "out of memory") : !s->over;
}

static bool is_requested(const struct gt_lane_cells *s, const struct gt_cell_window *w,
	const struct gt_strip_key *of, size_t n)
{
	bool same =
		s->nstrips == n && gt_same_window(&s->window, w) && s->entering == s->has_entering;

	for (size_t i = 0; same && i < n; i++)
		same = gt_same_strip(&s->strips[i].of, &of[i]);
	return same;
}

static int add_strip(struct gt_lane_cells *s, const struct gt_strip_key *of)
{
	struct strip *strip = &s->strips[s->nstrips];
	const struct gt_cell_window *w = &s->window;
	int64_t offset = gt_archive_offset(s->archive, of->segment);
	int code;

	*strip = (struct strip){ .of = *of,
		.until = INT64_MIN,
		.edges = malloc((w->cells + 1ul) * sizeof(*strip->edges)) };
	if (!strip->edges)
		return -ENOMEM;
	for (unsigned i = 0; i <= w->cells; i++)
		strip->edges[i] = gt_cell_start(w, i) + offset;
	place_grid(s, strip, 0, w->cells, &strip->grid);
	code = from_uppers(s, strip);
	return code || strip->complete ? code : take_over(s, strip);
}

int gt_lane_cells_request(struct gt_lane_cells *s, const struct gt_cell_window *w,
	const struct gt_strip_key *of, size_t n, struct gt_err *err)
{
	int code = 0;

	if (is_requested(s, w, of, n))
		return 0;
	put_aside(s);
	if (s->since.n)
		gt_unchanged_until_compare(&s->since, s->archive);
	s->window = *w;
	s->has_entering = s->entering;
	s->portion = (int64_t)(gt_window_cell_width(w) / 16 + 1);
	s->over = !gt_reader_segments(gt_archive_reader(s->archive));
	if (gt_grow(&s->strips, &s->strips_cap, n, sizeof(*s->strips)))
		return gt_err_set(err, -ENOMEM, "out of memory");
	for (; !code && s->nstrips < n; s->nstrips++)
		code = add_strip(s, &of[s->nstrips]);
	release_was(s);
	return code ? gt_err_set(err, code, "out of memory") : 1;
}

void gt_lane_cells_count_entering(struct gt_lane_cells *s, bool on) { s->entering = on; }

struct gt_cell_sums gt_lane_cells_entering(const struct gt_lane_cells *s, size_t i, unsigned depth)
{
	const struct strip *strip = &s->strips[i];

	if (!s->has_entering || !strip->complete || (strip->ends && strip->ends[0].open))
		return (struct gt_cell_sums){ .sureness = GT_CELL_UNKNOWN };
	return strip->entering ? strip->entering[depth] : (struct gt_cell_sums){ 0 };
}

const struct gt_cell_window *gt_lane_cells_window(const struct gt_lane_cells *s)
{
	return &s->window;
}

unsigned gt_lane_cells_percent(const struct gt_lane_cells *s)
{
	return s->over ? 100 : s->all ? (unsigned)(s->gone * 99 / s->all) : 0;
}

static struct gt_cell_sums cell_of(const struct gt_tally *t, uint64_t width)
{
	return (struct gt_cell_sums){ GT_CELL_EXACT, t->busy < width ? t->busy : width, t->count,
		t->bytes, t->longest, t->count ? t->longest_at : 0, (uint8_t)gt_tally_category(t),
		0 };
}

/* Adds the part of a cell in an end of the window. */
static void add_end(const struct strip *strip, const struct strip_end *end, unsigned depth,
	uint64_t width, struct gt_cell_sums *to)
{
	const struct gt_tally *t = end->grid.tally[depth];
	struct gt_cell_sums part = t ? cell_of(t, width) : (struct gt_cell_sums){ 0 };

	if (part.busy > to->busy)
		to->category = part.category;
	to->busy = to->busy + part.busy < width ? to->busy + part.busy : width;
	to->bytes += part.bytes;
	if (part.count && (!to->count || part.longest > to->longest)) {
		to->longest = part.longest;
		to->longest_at = part.longest_at;
	}
	to->count += part.count;
	if (end->open)
		to->sureness = GT_CELL_ROUGH;
}

void gt_lane_cells_get(
	const struct gt_lane_cells *s, size_t i, unsigned depth, struct gt_cell_sums *to)
{
	const struct strip *strip = &s->strips[i];
	unsigned last = s->window.cells - 1;

	for (unsigned c = 0; c < s->window.cells; c++) {
		uint64_t width = (uint64_t)(strip->edges[c + 1] - strip->edges[c]);
		bool taken = c < strip->taken;
		const struct gt_tally *all =
			taken ? strip->before.tally[depth] : strip->grid.tally[depth];

		if (taken || strip->complete || strip->edges[c + 1] <= strip->until)
			to[c] = all ? cell_of(&all[taken ? c : c - strip->taken], width)
				    : (struct gt_cell_sums){ 0 };
		else
			to[c] = strip->rough[depth]
				? strip->rough[depth][c]
				: (struct gt_cell_sums){ .sureness = GT_CELL_UNKNOWN };
		if (strip->unsure && to[c].busy)
			to[c].sureness = GT_CELL_ROUGH;
		for (unsigned e = 0; strip->ends && e < ENDS; e++)
			if (c == (e ? last : 0) && strip->ends[e].grid.n)
				add_end(strip, &strip->ends[e], depth, width, &to[c]);
		if (strip->holes && strip->holes[c])
			to[c].sureness = GT_CELL_DAMAGED;
	}
	gt_unfinished_calls_cover(s->archive, &s->window, &strip->of, depth, to);
}
