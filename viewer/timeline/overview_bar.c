#include "viewer/timeline/overview_bar.h"

#include <stdlib.h>
#include "formats/base/buf.h"

#define STRIPS_MOST 16u    /* limit of strips in the mean */
#define FINER 2u           /* log2 of its cells per column */
#define ROWS_MOST 5000000u /* with more rows it stays as rough as the summaries */

int gt_overview_bar_init(struct gt_overview_bar *m, struct gt_archive *a)
{
	*m = (struct gt_overview_bar){ .archive = a, .strips = gt_lane_cells_new(a) };
	return m->strips ? 0 : -ENOMEM;
}

void gt_overview_bar_release(struct gt_overview_bar *m)
{
	gt_lane_cells_free(m->strips);
	free(m->cells);
	*m = (struct gt_overview_bar){ .strips = NULL };
}

void gt_overview_bar_detach(struct gt_overview_bar *m)
{
	gt_lane_cells_detach(m->strips);
	m->n = 0;
	free(m->cells);
	m->cells = NULL;
	m->cap = 0;
	m->archive = NULL;
	m->more = false;
}

void gt_overview_bar_reopen(struct gt_overview_bar *m, struct gt_archive *a)
{
	m->archive = a;
	gt_lane_cells_reopen(m->strips, a);
}

static uint64_t all_rows(struct gt_reader *r)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < gt_reader_segments(r); i++)
		n += gt_segment_rows(gt_reader_segment(r, i));
	return n;
}

/* True if the sums of the tracks below it are known or cheap to compute. */
static bool has_unions(const struct gt_overview_bar *m, const struct gt_segment *seg)
{
	return gt_archive_has_uppers(m->archive, seg->index) ||
		all_rows(gt_archive_reader(m->archive)) <= ROWS_MOST;
}

static size_t choose(const struct gt_overview_bar *m, const struct gt_lanes *lanes,
	struct gt_strip_key of[STRIPS_MOST])
{
	static const struct {
		uint8_t kind, part, aspect;
	} choices[] = {
		{ GT_TRACK_DEVICE, GT_TRACK_STREAM, GT_ASPECT_WORK },
		{ GT_TRACK_PROCESS, GT_TRACK_THREAD, GT_ASPECT_CALLS },
	};
	struct gt_reader *r = lanes->reader;
	size_t n = 0;

	for (unsigned c = 0; c < 2 && !n; c++)
		for (uint32_t i = 0; i < gt_reader_segments(r); i++) {
			const struct gt_segment *seg = gt_reader_segment(r, i);
			bool unions = has_unions(m, seg);

			for (uint32_t k = 0; n < STRIPS_MOST && k < seg->ntracks; k++)
				if (seg->tracks[k].kind ==
						(unions ? choices[c].kind : choices[c].part) &&
					(c || seg->rows[GT_GPU]))
					of[n++] = (struct gt_strip_key){ i, k,
						(enum gt_aspect)choices[c].aspect, unions };
		}
	for (size_t i = 0; !n && i < lanes->n; i++)
		if (lanes->lines[i].aspect && lanes->lines[i].aspect != GT_ASPECT_INSTANTS)
			of[n++] = gt_lane_of_line(&lanes->lines[i]).strip;
	return n;
}

int gt_overview_bar_request(struct gt_overview_bar *m, const struct gt_time_extent *e,
	const struct gt_lanes *lanes, unsigned columns, struct gt_err *err)
{
	struct gt_cell_window w = { .cells = columns };
	struct gt_strip_key of[STRIPS_MOST];
	unsigned finer;
	bool few;
	size_t n;
	int rc;

	if (!columns || (m->n && m->columns == columns))
		return 0;
	m->columns = columns;
	gt_window_fit_aligned(&w, e);
	n = choose(m, lanes, of);
	few = all_rows(lanes->reader) <= ROWS_MOST;
	/* sums of single blocks are about as wide as a column */
	finer = few || (n && of[0].derived) ? FINER : 0;
	w.shift -= w.shift < finer ? w.shift : finer;
	w = gt_aligned_window(e->from >> w.shift, w.shift, columns << finer);
	rc = gt_lane_cells_request(m->strips, &w, of, n, err);
	m->window = w;
	m->n = n;
	m->more = rc > 0 && (few || !finer);
	return rc < 0 ? rc : 0;
}

int gt_overview_bar_step(struct gt_overview_bar *m, uint64_t us, struct gt_err *err)
{
	int rc;

	if (!m->more || !m->n)
		return 0;
	rc = gt_lane_cells_step(m->strips, us, err);
	m->more = rc > 0;
	return rc;
}

/* Each cell is the mean of its strips and has the category of the longest row. */
int gt_overview_bar_refresh(struct gt_overview_bar *m)
{
	size_t n = m->window.cells;
	struct gt_cell_sums *one, *to;

	if (!m->n)
		return 0;
	if (gt_grow(&m->cells, &m->cap, n * 2, sizeof(*m->cells)))
		return -ENOMEM;
	to = m->cells;
	one = m->cells + n;
	gt_lane_cells_get(m->strips, 0, 0, to);
	for (size_t k = 1; k < m->n; k++) {
		gt_lane_cells_get(m->strips, k, 0, one);
		for (size_t i = 0; i < n; i++) {
			if (one[i].longest > to[i].longest || !to[i].busy)
				to[i].category = one[i].category;
			if (one[i].sureness > to[i].sureness)
				to[i].sureness = one[i].sureness;
			to[i].busy += one[i].busy;
		}
	}
	for (size_t i = 0; i < n; i++)
		to[i].busy = to[i].busy ? (to[i].busy + m->n - 1) / m->n : 0;
	return 0;
}
