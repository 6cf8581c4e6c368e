#include "viewer/view/counter_lanes.h"

#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "viewer/cells/cells_request.h"
#include "viewer/term/screen.h"

#define STILL_ROWS 2000000u	/* of GPUs, that a printed frame waits for: a second */

static bool any_queues(void *arg, uint32_t segment)
{
	const struct gt_gauge_rows *g = arg;

	return gt_queue_rows_any(g->queues, segment);
}

static int look_at(struct gt_gauge_rows *g, struct gt_err *err)
{
	struct gt_scene *s = g->scene;
	uint64_t rows = 0;

	for (uint32_t i = 0; i < gt_reader_segments(s->reader); i++)
		rows += gt_reader_segment(s->reader, i)->rows[GT_GPU];
	g->beyond = rows > STILL_ROWS;
	return gt_gauges_list(s->archive, &g->counters, &g->ncounters, err);
}

int gt_gauge_rows_init(struct gt_gauge_rows *g, struct gt_scene *s, struct gt_err *err)
{
	*g = (struct gt_gauge_rows){ .scene = s, .gauges = gt_gauges_new(s->archive), .queues = gt_queue_rows_new(s->archive, &s->extent) };
	return g->gauges && g->queues ? look_at(g, err) : gt_err_set(err, -ENOMEM, "no memory for counters");
}

void gt_gauge_rows_let_go(struct gt_gauge_rows *g)
{
	gt_gauges_let_go(g->gauges);
	gt_queue_rows_let_go(g->queues);
	free(g->counters);
	g->counters = NULL;
	g->ncounters = g->n = 0;
	g->window = (struct gt_cell_window){ .cells = 0 };
	g->more = false;
}

int gt_gauge_rows_again(struct gt_gauge_rows *g, struct gt_err *err)
{
	gt_gauges_again(g->gauges, g->scene->archive);
	if (gt_queue_rows_again(g->queues, g->scene->archive, &g->scene->extent))
		return gt_err_set(err, -ENOMEM, "no memory for counters");
	return look_at(g, err);
}

void gt_gauge_rows_release(struct gt_gauge_rows *g)
{
	gt_gauges_free(g->gauges);
	gt_queue_rows_free(g->queues);
	free(g->counters);
	free(g->lines);
	*g = (struct gt_gauge_rows){ .scene = NULL };
}

void gt_gauge_rows_known(const struct gt_gauge_rows *g, struct gt_lanes_known *known)
{
	known->counters = g->counters;
	known->ncounters = g->ncounters;
	known->queues = g->queues ? any_queues : NULL;
	known->queues_arg = (void *)(uintptr_t)g;
}

static bool same_line(const struct gt_lane_line *a, const struct gt_lane_line *b)
{
	return a->segment == b->segment && a->track == b->track && a->type == b->type && a->kind == b->kind;
}

static int ask(struct gt_gauge_rows *g, struct gt_err *err)
{
	struct gt_gauge_of counters[GT_SCREEN_MOST];
	struct gt_queue_of queues[GT_SCREEN_MOST];
	size_t ncounters = 0, nqueues = 0;
	int rc;

	for (size_t i = 0; i < g->n; i++) {
		const struct gt_lane_line *line = &g->lines[i];

		if (line->kind == GT_LANE_COUNTER)
			counters[ncounters++] = (struct gt_gauge_of){ line->segment, line->track, line->type };
		else if (line->kind == GT_LANE_QUEUE)
			queues[nqueues++] = (struct gt_queue_of){ line->segment, line->track };
	}
	g->more = ncounters;
	rc = gt_gauges_want(g->gauges, &g->window, counters, ncounters, err);
	return rc ? rc : gt_queue_rows_want(g->queues, &g->window, queues, nqueues, err);
}

int gt_gauge_rows_want(struct gt_gauge_rows *g, const struct gt_lane_line *lines, size_t n, struct gt_err *err)
{
	const struct gt_cell_window *w = &g->scene->window;
	bool same = gt_same_window(&g->window, w);
	size_t have = g->n;

	if (gt_grow(&g->lines, &g->cap, n + 1, sizeof(*g->lines)))
		return gt_err_set(err, -ENOMEM, "out of memory");
	g->n = 0;
	for (size_t i = 0; i < n; i++) {
		if (!gt_lane_is_gauge(&lines[i]))
			continue;
		same &= g->n < have && same_line(&g->lines[g->n], &lines[i]);
		g->lines[g->n++] = lines[i];
	}
	if (same && g->n == have)
		return 0;
	g->window = *w;
	return ask(g, err);
}

int gt_gauge_rows_step(struct gt_gauge_rows *g, uint64_t us, struct gt_err *err)
{
	int rc = g->more ? gt_gauges_step(g->gauges, us, err) : 0;

	g->more = rc > 0;
	return rc;
}

int gt_gauge_rows_wait(struct gt_gauge_rows *g, uint64_t us, bool *found, struct gt_err *err)
{
	unsigned times = gt_queue_rows_read(g->queues);
	int rc = g->scene->still && g->beyond ? 0 : gt_queue_rows_step(g->queues, us, err);

	*found = times != gt_queue_rows_read(g->queues);
	return rc;
}

void gt_gauge_rows_leave(struct gt_gauge_rows *g)
{
	if (g->queues)
		gt_queue_rows_leave(g->queues);
}

void gt_gauge_rows_rest(struct gt_gauge_rows *g)
{
	if (g->queues)
		gt_queue_rows_rest(g->queues);
}

unsigned gt_gauge_rows_percent(const struct gt_gauge_rows *g) { return gt_queue_rows_percent(g->queues); }

void gt_gauge_rows_cells(const struct gt_gauge_rows *g, const struct gt_lane_line *line, struct gt_gauge_cell *to)
{
	size_t before = 0;

	if (line->kind == GT_LANE_QUEUE) {
		gt_queue_rows_cells(g->queues, &(struct gt_queue_of){ line->segment, line->track }, to);
		return;
	}
	for (size_t i = 0; i < g->n && !same_line(&g->lines[i], line); i++)
		before += g->lines[i].kind == GT_LANE_COUNTER;
	gt_gauges_cells(g->gauges, before, to);
}
