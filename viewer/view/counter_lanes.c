#include "viewer/view/counter_lanes.h"

#include <stdlib.h>
#include "viewer/term/screen.h"

#define STILL_ROWS 2000000u /* rows of GPU work that a printed frame waits for: about a second */

static bool any_queues(void *arg, uint32_t segment)
{
	const struct gt_counter_lanes *g = arg;

	return gt_queue_lanes_has_queue(g->queues, segment);
}

static int read_trace(struct gt_counter_lanes *g, struct gt_err *err)
{
	struct gt_scene *s = g->scene;
	uint64_t rows = 0;

	for (uint32_t i = 0; i < gt_reader_segments(s->reader); i++)
		rows += gt_reader_segment(s->reader, i)->rows[GT_GPU];
	g->is_too_large = rows > STILL_ROWS;
	return gt_list_counters(s->archive, &g->counters, &g->ncounters, err);
}

int gt_counter_lanes_init(struct gt_counter_lanes *g, struct gt_scene *s, struct gt_err *err)
{
	*g = (struct gt_counter_lanes){ .scene = s,
		.gauges = gt_counter_cells_new(s->archive),
		.queues = gt_queue_lanes_new(s->archive, &s->extent) };
	return g->gauges && g->queues ? read_trace(g, err)
				      : gt_err_set(err, -ENOMEM, "out of memory (counters)");
}

void gt_counter_lanes_detach(struct gt_counter_lanes *g)
{
	gt_counter_cells_detach(g->gauges);
	gt_queue_lanes_detach(g->queues);
	free(g->counters);
	g->counters = NULL;
	g->ncounters = 0;
}

int gt_counter_lanes_reopen(struct gt_counter_lanes *g, struct gt_err *err)
{
	gt_counter_cells_reopen(g->gauges, g->scene->archive);
	if (gt_queue_lanes_reopen(g->queues, g->scene->archive, &g->scene->extent))
		return gt_err_set(err, -ENOMEM, "out of memory (counters)");
	return read_trace(g, err);
}

void gt_counter_lanes_release(struct gt_counter_lanes *g)
{
	gt_counter_cells_free(g->gauges);
	gt_queue_lanes_free(g->queues);
	free(g->counters);
	*g = (struct gt_counter_lanes){ .scene = NULL };
}

void gt_counter_lanes_describe(const struct gt_counter_lanes *g, struct gt_lanes_callbacks *known)
{
	known->counters = g->counters;
	known->ncounters = g->ncounters;
	known->queues = g->queues ? any_queues : NULL;
	known->queues_arg = (void *)(uintptr_t)g;
}

static struct gt_counter_key key_of(const struct gt_lane_line *line)
{
	return (struct gt_counter_key){ line->segment, line->track, line->type };
}

int gt_counter_lanes_request(
	struct gt_counter_lanes *g, const struct gt_lane_line *lines, size_t n, struct gt_err *err)
{
	const struct gt_cell_window *w = &g->scene->window;
	struct gt_counter_key counters[GT_SCREEN_MOST];
	struct gt_queue_id queues[GT_SCREEN_MOST];
	size_t ncounters = 0, nqueues = 0;
	int rc;

	for (size_t i = 0; i < n; i++)
		if (lines[i].kind == GT_LANE_COUNTER)
			counters[ncounters++] = key_of(&lines[i]);
		else if (lines[i].kind == GT_LANE_QUEUE)
			queues[nqueues++] =
				(struct gt_queue_id){ lines[i].segment, lines[i].track };
	rc = gt_counter_cells_request(g->gauges, w, counters, ncounters, err);
	return rc ? rc : gt_queue_lanes_request(g->queues, w, queues, nqueues, err);
}

int gt_counter_lanes_wait(struct gt_counter_lanes *g, uint64_t us, bool *found, struct gt_err *err)
{
	unsigned times = gt_queue_lanes_read_count(g->queues);
	int rc = g->scene->is_static && g->is_too_large ? 0
							: gt_queue_lanes_step(g->queues, us, err);

	*found = times != gt_queue_lanes_read_count(g->queues);
	return rc;
}

void gt_counter_lanes_get(const struct gt_counter_lanes *g, const struct gt_lane_line *line,
	struct gt_counter_cell *to)
{
	const struct gt_counter_key counter = key_of(line);

	if (line->kind == GT_LANE_QUEUE)
		gt_queue_lanes_get(
			g->queues, &(struct gt_queue_id){ line->segment, line->track }, to);
	else
		gt_counter_cells_get(g->gauges, &counter, to);
}
