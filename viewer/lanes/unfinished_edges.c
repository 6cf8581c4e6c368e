#include "viewer/lanes/unfinished_edges.h"

#include <stdlib.h>
#include "formats/base/buf.h"
#include "viewer/cells/lane_cells.h"
#include "viewer/util/deadline.h"
#include "viewer/cells/unfinished_calls.h"
#include "viewer/lanes/window.h"

void gt_unfinished_edges_release(struct gt_unfinished_edges *h)
{
	gt_measure_free(h->measure);
	free(h->heads);
	*h = (struct gt_unfinished_edges){ .n = 0 };
}

/* False: the lane has no such edge: no call is unfinished, or it starts outside of the window or
 * at the edge of a cell. */
static bool find(const struct gt_archive *a, const struct gt_cell_window *w,
	const struct gt_lane_key *lane, struct gt_unfinished_edge *to)
{
	int64_t column;

	*to = (struct gt_unfinished_edge){ .lane = *lane };
	if (!lane->strip.aspect ||
		!gt_unfinished_calls_first_start(a, &lane->strip, lane->depth, &to->from))
		return false;
	column = gt_window_column(w, to->from);
	return column >= 0 && column < (int64_t)w->cells && to->from > gt_cell_start(w, column);
}

int gt_unfinished_edges_request(struct gt_unfinished_edges *h, struct gt_archive *a,
	const struct gt_cell_window *w, const struct gt_lane_key *lanes, size_t n,
	struct gt_err *err)
{
	bool same = h->archive == a && gt_same_window(&h->window, w);
	struct gt_unfinished_edge head;
	size_t found = 0;

	for (size_t i = 0; i < n; i++)
		if (find(a, w, &lanes[i], &head)) {
			same = same && found < h->n &&
				gt_same_lane(&h->heads[found].lane, &lanes[i]);
			found++;
		}
	if (same && found == h->n)
		return 0;
	gt_measure_free(h->measure);
	h->measure = NULL;
	h->n = h->done = 0;
	h->archive = a;
	h->window = *w;
	if (gt_grow(&h->heads, &h->cap, found + 1, sizeof(*h->heads)))
		return gt_err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < n && h->n < found; i++)
		h->n += find(a, w, &lanes[i], &h->heads[h->n]);
	return 0;
}

int gt_unfinished_edges_step(struct gt_unfinished_edges *h, uint64_t us, struct gt_err *err)
{
	uint64_t deadline = gt_deadline(us);
	int rc = 0;

	while (!rc && h->done < h->n && !gt_deadline_is_over(deadline)) {
		struct gt_unfinished_edge *head = &h->heads[h->done];
		int64_t begin = gt_cell_start(&h->window, gt_window_column(&h->window, head->from));

		if (!h->measure &&
			!(h->measure = gt_measure_new(
				  h->archive, &head->lane.strip, begin, head->from, err)))
			return err->code;
		rc = gt_measure_step(h->measure, gt_left_us(deadline), err);
		if (rc)
			break;
		head->before = gt_measure_of(h->measure, head->lane.depth);
		gt_measure_free(h->measure);
		h->measure = NULL;
		h->done++;
	}
	return rc < 0 ? rc : h->done < h->n;
}

void gt_unfinished_edges_fill(const struct gt_unfinished_edges *h, const struct gt_lane_key *lane,
	struct gt_cell_sums *cells)
{
	for (size_t i = 0; i < h->done; i++)
		if (gt_same_lane(&h->heads[i].lane, lane) && !h->heads[i].before.rough &&
			!h->heads[i].before.holes)
			gt_unfinished_calls_finish(h->archive, &h->window, &lane->strip,
				lane->depth, h->heads[i].before.busy, cells);
}
