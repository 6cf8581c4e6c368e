/* Opening a large trace reads only summaries, which also list its lanes. Blocks without summaries
 * (an older trace, or few rows) are all read if the trace is small, so that the first frame is
 * complete. */
#include "viewer/view/scene.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/trace/meta.h"
#include "formats/base/buf.h"

#define SMALL_ROWS 400000u /* read in about 10 ms */
/* limit of rows read one by one; for more, the range of their blocks counts */
#define LOSSES_MOST 16384u

/* ---- blocks ---- */

/* Counts the rows of blocks with one track. */
static void count_rows(struct gt_scene *s, const struct gt_segment *seg)
{
	for (uint32_t t = 0; t < seg->ntracks; t++) {
		struct gt_block_list l = gt_archive_blocks(s->archive, seg->index, t);

		for (size_t i = 0; i < l.n; i++)
			s->rows[seg->index][t] += l.blocks[i].rows;
	}
}

/* Reads all blocks. */
static int read_rows(struct gt_scene *s, const struct gt_segment *seg, struct gt_err *err)
{
	struct gt_block_list l = gt_archive_all_blocks(s->archive, seg->index);

	for (size_t k = 0; k < l.n; k++) {
		const struct gt_open_block *r =
			gt_archive_rows(s->archive, seg->index, &l.blocks[k], err);

		if (!r)
			return -ENOMEM;
		for (uint32_t i = 0; i < r->nruns; i++)
			if (r->runs[i].track < seg->ntracks)
				s->rows[seg->index][r->runs[i].track] += r->runs[i].n;
	}
	return 0;
}

static int count_tracks(struct gt_scene *s, struct gt_err *err)
{
	uint32_t n = gt_reader_segments(s->reader);
	uint64_t all = 0;
	int rc = 0;

	s->rows = calloc(n + 1ul, sizeof(*s->rows));
	s->copies = calloc(n + 1ul, sizeof(*s->copies));
	for (uint32_t i = 0; !rc && i < n; i++) {
		const struct gt_segment *seg = gt_reader_segment(s->reader, i);

		if (!s->rows || !s->copies ||
			!(s->rows[i] = calloc(seg->ntracks + 1ul, sizeof(**s->rows))) ||
			!(s->copies[i] = calloc(seg->ntracks + 1ul, 1)))
			return gt_err_set(err, -ENOMEM, "out of memory (%u tracks)", seg->ntracks);
		all += gt_segment_rows(seg);
		if (all <= SMALL_ROWS && !gt_archive_has_uppers(s->archive, i))
			rc = read_rows(s, seg, err);
		else
			count_rows(s, seg);
	}
	return rc;
}

/* ---- missing data ---- */

static int add_trouble(
	struct gt_scene *s, uint32_t segment, int64_t from, int64_t to, enum gt_trouble_kind kind)
{
	int64_t offset = gt_archive_offset(s->archive, segment);

	if (gt_grow(&s->troubles, &s->troubles_cap, s->ntroubles + 1, sizeof(*s->troubles)))
		return -ENOMEM;
	s->troubles[s->ntroubles++] = (struct gt_trouble){ from - offset, to - offset, kind };
	return 0;
}

static int note_losses(struct gt_scene *s, const struct gt_segment *seg, const struct gt_block *b,
	struct gt_err *err)
{
	const struct gt_open_block *r =
		s->ntroubles < LOSSES_MOST ? gt_archive_rows(s->archive, seg->index, b, err) : NULL;
	int rc = 0;

	if (!r || r->damaged)
		return add_trouble(s, seg->index, b->start, b->end, GT_TROUBLE_LOST);
	for (uint32_t i = 0; !rc && i < r->n; i++)
		rc = add_trouble(
			s, seg->index, r->start[i], r->start[i] + r->dur[i], GT_TROUBLE_LOST);
	return rc;
}

static int find_troubles(struct gt_scene *s, struct gt_err *err)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < gt_reader_segments(s->reader); i++) {
		const struct gt_segment *seg = gt_reader_segment(s->reader, i);
		struct gt_block_list l = gt_archive_all_blocks(s->archive, i);

		s->lost += seg->rows[GT_LOST];
		for (size_t k = 0; !rc && seg->rows[GT_LOST] && k < l.n; k++)
			if (l.blocks[k].kind == GT_LOST)
				rc = note_losses(s, seg, &l.blocks[k], err);
		if (!rc && !seg->closed && seg->complete_to < seg->max_end)
			rc = add_trouble(s, i,
				seg->complete_to > seg->min_start ? seg->complete_to
								  : seg->min_start,
				seg->max_end, GT_TROUBLE_UNREAD);
	}
	return rc;
}

bool gt_scene_damage(const struct gt_scene *s, size_t i, struct gt_trouble *to)
{
	size_t n;
	const struct gt_damage *d = gt_reader_damage(s->reader, &n);
	int64_t offset;

	if (i >= n)
		return false;
	offset = d[i].segment < gt_reader_segments(s->reader)
		? gt_archive_offset(s->archive, d[i].segment)
		: 0;
	*to = (struct gt_trouble){ d[i].min_start - offset, d[i].max_end - offset,
		GT_TROUBLE_DAMAGED };
	return true;
}

/* ---- known tracks ---- */

static unsigned known_depths(
	void *arg, uint32_t segment, uint32_t track, enum gt_aspect aspect, bool derived)
{
	const struct gt_scene *s = arg;

	if (!derived)
		return gt_archive_depths(s->archive, segment, track, aspect);
	if (gt_aspect_is_copies(aspect) &&
		s->copies[segment][track] >> (aspect - GT_ASPECT_HTOD) & 1)
		return 1;
	return gt_archive_upper(s->archive, segment, track, aspect, true, 0) ? 1 : 0;
}

static uint64_t known_weight(void *arg, uint32_t segment, uint32_t thread)
{
	const struct gt_scene *s = arg;

	return s->rows[segment][thread];
}

struct gt_lanes_callbacks gt_scene_lanes_callbacks(struct gt_scene *s)
{
	return (struct gt_lanes_callbacks){
		.depths = known_depths, .weight = known_weight, .arg = s
	};
}

/* A device has the kinds of copies that its streams have. */
void gt_scene_update_lanes_callbacks(struct gt_scene *s)
{
	for (uint32_t i = 0; i < gt_reader_segments(s->reader); i++) {
		const struct gt_segment *seg = gt_reader_segment(s->reader, i);

		for (uint32_t t = 0; seg->rows[GT_GPU] && t < seg->ntracks; t++) {
			uint32_t device = gt_archive_above(s->archive, i, t);

			for (unsigned a = GT_ASPECT_HTOD;
				device < seg->ntracks && a <= GT_ASPECT_COPIES; a++)
				if (gt_archive_depths(s->archive, i, t, (enum gt_aspect)a))
					s->copies[i][device] |=
						(uint8_t)(1u << (a - GT_ASPECT_HTOD));
		}
	}
}

/* ---- for all views ---- */

void gt_scene_set_status(struct gt_scene *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(s->status_text, sizeof(s->status_text), fmt, ap);
	va_end(ap);
	s->message = s->status_text;
}

struct gt_report_job *gt_scene_report_job(struct gt_scene *s)
{
	if (!s->report_job)
		s->report_job = gt_report_job_new(s->archive, s->excluded);
	return s->report_job;
}

const char *gt_scene_title(const struct gt_scene *s)
{
	const char *slash = strrchr(s->name, '/');

	return slash && slash[1] ? slash + 1 : s->name;
}

struct gt_range gt_scene_range(const struct gt_scene *s)
{
	int64_t from = gt_cell_start(&s->window, 0), to = gt_window_end(&s->window);

	if (gt_window_shows_all(&s->window, &s->extent))
		return (struct gt_range){ INT64_MIN, INT64_MAX };
	return (struct gt_range){ from > s->extent.from ? from : s->extent.from,
		to < s->extent.to ? to : s->extent.to };
}

#define MARGIN 2         /* width of the margins, in multiples of the range */
#define MARGIN_LEAST 500 /* ns */

void gt_scene_show_range(struct gt_scene *s, int64_t from, int64_t to)
{
	const struct gt_time_extent *e = &s->extent;
	int64_t margin = to - from < INT64_MAX / (2 * MARGIN) ? (to - from) * MARGIN : to - from, a,
		b;

	margin = margin < MARGIN_LEAST ? MARGIN_LEAST : margin;
	a = from - margin > e->from ? from - margin : e->from;
	b = to + margin < e->to ? to + margin : e->to;
	gt_window_show(&s->window, e, a < e->to ? a : e->to - 1, b > e->from ? b : e->from + 1);
	s->target_time = from;
	s->has_target_time = true;
	s->next_view = "timeline";
}

void gt_scene_show_track(struct gt_scene *s, uint32_t segment, uint32_t track)
{
	s->target_track.segment = segment;
	s->target_track.track = track;
	s->target_track.is_set = true;
}

void gt_scene_show_row(
	struct gt_scene *s, const struct gt_lane_key *lane, int64_t start, int64_t dur)
{
	int64_t from = start - gt_archive_offset(s->archive, lane->strip.segment);

	gt_scene_show_range(s, from, from + dur);
	s->target_row = (struct gt_scene_row){ *lane, start, dur, true };
}

void gt_scene_goto(struct gt_scene *s, int64_t t)
{
	gt_window_goto(&s->window, &s->extent, t, s->window.cells / 2);
	s->target_time = t;
	s->has_target_time = true;
	s->next_view = "timeline";
}

void gt_scene_toggle_clock(struct gt_scene *s)
{
	if (s->times.has_wall)
		s->times.by_wall = !s->times.by_wall;
	else
		s->message = "the trace has no wall-clock time";
}

const char *gt_scene_time(const struct gt_scene *s, const char *text, int64_t *t)
{
	if (gt_time_parse(&s->times, text, t))
		return "invalid time (examples: 1.5s, 250ms, 10us, 80ns, 1:05.5)";
	return *t < s->extent.from || *t >= s->extent.to ? "this time is outside the trace" : NULL;
}

/* ---- open and release ---- */

static int read_value(void *arg, const char *key, const char *value)
{
	struct gt_scene *s = arg;

	if (!s->excluded && !strcmp(key, "indexed.exclude") && *value)
		s->excluded = strdup(value);
	if (!s->command && !strcmp(key, "command"))
		s->command = strdup(value);
	return 0;
}

/* Recordings with different clocks are shifted by whole cells of the widest zoom; with one clock,
 * cells may be wider. */
static unsigned widest(const struct gt_scene *s)
{
	for (uint32_t i = 0; i < gt_reader_segments(s->reader); i++)
		if (gt_archive_offset(s->archive, i))
			return gt_archive_widest_cell(s->archive);
	return 60;
}

static void describe_extent(struct gt_scene *s)
{
	struct gt_time_extent *e = &s->extent;

	gt_archive_extent(s->archive, &e->from, &e->to);
	e->to++; /* includes an instant at the very end */
	e->widest = widest(s);
	e->finest = gt_archive_finest_bucket(s->archive);
	e->rows = 0;
	e->grows = false;
	for (uint32_t i = 0; i < gt_reader_segments(s->reader); i++) {
		e->rows += gt_segment_rows(gt_reader_segment(s->reader, i));
		e->grows |= s->growing && !gt_reader_segment(s->reader, i)->closed;
	}
}

/* Reads what the scene needs, at the first opening and after growth. */
static int read_trace(struct gt_scene *s, struct gt_reader *r, struct gt_err *err)
{
	const struct gt_segment *first = gt_reader_segments(r) ? gt_reader_segment(r, 0) : NULL;
	bool by_wall = s->times.by_wall;
	int rc;

	s->reader = r;
	s->archive = gt_archive_open(r, err);
	if (!s->archive)
		return err->code;
	gt_archive_add_depths(s->archive, &s->depths);
	gt_depths_release(&s->depths);
	describe_extent(s);
	s->marks.archive = s->archive;
	s->times = gt_time_shown_of(
		first, s->extent.from, first ? gt_archive_offset(s->archive, 0) : 0);
	s->times.by_wall = by_wall && s->times.has_wall;
	rc = count_tracks(s, err);
	if (!rc)
		rc = gt_archive_find_instants(s->archive, err);
	if (!rc)
		rc = find_troubles(s, err);
	if (!rc)
		gt_scene_update_lanes_callbacks(s);
	if (first)
		gt_meta_each(first, read_value, s);
	return rc ? gt_err_set(err, rc, "out of memory") : 0;
}

int gt_scene_open(struct gt_scene *s, struct gt_reader *r, const char *name, struct gt_err *err)
{
	int rc;

	*s = (struct gt_scene){ .name = name, .window.cells = 1 };
	rc = read_trace(s, r, err);
	gt_window_fit(&s->window, &s->extent);
	return rc;
}

void gt_scene_detach(struct gt_scene *s)
{
	for (uint32_t i = 0; s->rows && s->copies && i < gt_reader_segments(s->reader); i++) {
		free(s->rows[i]);
		free(s->copies[i]);
	}
	free(s->rows);
	free(s->copies);
	free(s->troubles);
	free(s->command);
	free(s->excluded);
	gt_report_job_free(s->report_job);
	gt_marks_release(&s->marks);
	if (s->archive)
		gt_archive_take_depths(s->archive, &s->depths);
	gt_archive_close(s->archive);
	s->rows = NULL;
	s->copies = NULL;
	s->troubles = NULL;
	s->ntroubles = s->troubles_cap = 0;
	s->lost = 0;
	s->command = s->excluded = NULL;
	s->report_job = NULL;
	s->archive = NULL;
	s->reader = NULL;
}

int gt_scene_reopen(struct gt_scene *s, struct gt_reader *r, struct gt_err *err)
{
	bool all = gt_window_shows_all(&s->window, &s->extent),
	     end = gt_window_end(&s->window) >= s->extent.to;
	int rc = read_trace(s, r, err);

	if (all)
		gt_window_fit(&s->window, &s->extent);
	else if (end)
		gt_window_goto(&s->window, &s->extent, s->extent.to - 1, s->window.cells - 1);
	return rc;
}

void gt_scene_set_growing(struct gt_scene *s, bool growing)
{
	bool all = gt_window_shows_all(&s->window, &s->extent);

	s->growing = growing;
	describe_extent(s);
	if (all)
		gt_window_fit(&s->window, &s->extent);
}

void gt_scene_release(struct gt_scene *s)
{
	gt_scene_detach(s);
	gt_depths_release(&s->depths);
	gt_bookmarks_release(&s->bookmarks);
	*s = (struct gt_scene){ .reader = NULL };
}
