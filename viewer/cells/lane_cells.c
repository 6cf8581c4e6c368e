/* Requests and steps of lane cells (lane_cells.h). Parts: upper summaries (lane_cells_uppers.c),
 * reuse of exact cells (lane_cells_reuse.c), rows and summaries of blocks (lane_cells_blocks.c). */
#include <stdlib.h>
#include <string.h>

#include "viewer/util/deadline.h"
#include "viewer/cells/unfinished_calls.h"
#include "viewer/cells/lane_cells_internal.h"
#include "formats/base/buf.h"

/* busy tracks of the unions that are computed together: GT_TIME_MERGE_MAX is the rows of 24 blocks
 */
#define TOGETHER 16u

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

static void release_rough(struct gt_lane_strip *strip)
{
	for (unsigned d = 0; d < GT_SUMMARY_DEPTHS; d++) {
		free(strip->rough[d]);
		strip->rough[d] = NULL;
	}
}

static void release_ends(struct gt_lane_strip *strip)
{
	for (unsigned e = 0; strip->ends && e < GT_LANE_ENDS; e++)
		gt_grid_release(&strip->ends[e].grid);
	free(strip->ends);
	strip->ends = NULL;
}

static void release_strips(struct gt_lane_strip *strips, size_t n)
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
	s->pass = GT_ALL_CELLS;
	s->unions = s->begun = s->over = false;
	s->gone = s->all = 0;
}

/* True if the strip belongs to the current segment and needs rows in the current pass. */
static bool is_due(const struct gt_lane_cells *s, const struct gt_lane_strip *strip)
{
	return strip->of.segment == s->segment && strip->of.derived == s->unions &&
		(s->pass == GT_ALL_CELLS
				? !strip->complete
				: gt_lane_cells_end(s, strip) && gt_lane_cells_end(s, strip)->open);
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

const char *gt_cell_category_word(unsigned category)
{
	return category == GT_CELL_COMMUNICATION ? "communication"
						 : gt_category_word((uint8_t)category);
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

/* ---- requests and steps ---- */

/* All blocks of the segment up to this time are read. */
static void note_until(struct gt_lane_cells *s, int64_t until)
{
	for (size_t i = 0; i < s->visits.ntargets; i++) {
		struct gt_lane_strip *strip = &s->strips[s->visits.targets[i].strip];

		if (gt_lane_cells_end(s, strip)) {
			gt_lane_cells_end(s, strip)->open = until != INT64_MAX;
			gt_grid_finish(&gt_lane_cells_end(s, strip)->grid);
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
	struct gt_lane_strip *strip = &s->strips[i];
	struct gt_range range = gt_lane_cells_due_range(s, strip);
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
	if (++s->pass < GT_LANE_PASSES)
		return;
	s->pass = GT_ALL_CELLS;
	s->over = s->unions;
	s->unions = true;
}

static int end_segment(struct gt_lane_cells *s, struct gt_err *err)
{
	int code = gt_time_merge_flush(&s->line, gt_lane_cells_add_row, s, err);

	note_late(s);
	gt_time_merge_release(&s->line);
	note_until(s, INT64_MAX);
	/* strips that no track has rows for */
	for (size_t i = s->from; i < s->to; i++)
		if (is_due(s, &s->strips[i])) {
			s->strips[i].complete = true;
			if (gt_lane_cells_end(s, &s->strips[i]))
				gt_lane_cells_end(s, &s->strips[i])->open = false;
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
		code = gt_lane_cells_drain(
			s, last ? INT64_MAX : s->visits.todo[s->at].block->start, deadline, err);
		if (code)
			break;
		code = last ? end_segment(s, err)
			    : gt_lane_cells_read_block(s, &s->visits.todo[s->at], err);
		s->at += !last;
		s->gone += !last;
	}
	if (code >= 0 && s->begun) {
		/* pending rows are visible to reached() */
		code = gt_time_merge_advance(&s->line, INT64_MIN, gt_lane_cells_add_row, s, err);
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
	struct gt_lane_strip *strip = &s->strips[s->nstrips];
	const struct gt_cell_window *w = &s->window;
	int64_t offset = gt_archive_offset(s->archive, of->segment);
	int code;

	*strip = (struct gt_lane_strip){ .of = *of,
		.until = INT64_MIN,
		.edges = malloc((w->cells + 1ul) * sizeof(*strip->edges)) };
	if (!strip->edges)
		return -ENOMEM;
	for (unsigned i = 0; i <= w->cells; i++)
		strip->edges[i] = gt_cell_start(w, i) + offset;
	gt_lane_cells_place_grid(s, strip, 0, w->cells, &strip->grid);
	code = gt_lane_cells_from_uppers(s, strip);
	return code || strip->complete ? code : gt_lane_cells_reuse(s, strip);
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
	const struct gt_lane_strip *strip = &s->strips[i];

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
static void add_end(const struct gt_lane_strip *strip, const struct gt_lane_strip_end *end,
	unsigned depth, uint64_t width, struct gt_cell_sums *to)
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
	const struct gt_lane_strip *strip = &s->strips[i];
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
		for (unsigned e = 0; strip->ends && e < GT_LANE_ENDS; e++)
			if (c == (e ? last : 0) && strip->ends[e].grid.n)
				add_end(strip, &strip->ends[e], depth, width, &to[c]);
		if (strip->holes && strip->holes[c])
			to[c].sureness = GT_CELL_DAMAGED;
	}
	gt_unfinished_calls_cover(s->archive, &s->window, &strip->of, depth, to);
}
