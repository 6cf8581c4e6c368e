#include "analyze/launch/queue_cells.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/columns/column_cursor.h"
#include "analyze/launch/queue_accounting.h"
#include "formats/base/buf.h"
#include "formats/base/edges.h"

#define PARTS 4096u             /* of a segment */
#define PARTS_OF_ALL (1u << 19) /* 8 MiB */

struct cells {
	struct gt_queues all; /* first */
	const struct gt_queue_request *ask;
	struct gt_edges edges; /* of the request */
	struct gt_queue_cell *to;
	struct gt_queue_reach *reach; /* to be filled, or NULL */
	/* by queue: 1 + index of the request; 0: unknown yet; GT_NONE: not requested */
	uint32_t *requests;
	size_t nrequests, requests_cap;
	uint64_t rows, expected;
	struct gt_err *err;
};

/* ---- reach of launches ---- */

static unsigned part_of(const struct gt_queue_reach *r, int64_t t)
{
	uint64_t i = t <= r->from ? 0 : ((uint64_t)t - (uint64_t)r->from) >> r->shift;

	return i < r->parts ? (unsigned)i : r->parts - 1;
}

static int reach_open(struct gt_queue_reach *r, const struct gt_segment *seg, unsigned parts)
{
	uint64_t ns = seg->max_end > seg->min_start
		? (uint64_t)seg->max_end - (uint64_t)seg->min_start
		: 0;

	r->back = malloc(parts * sizeof(*r->back));
	r->ahead = malloc(parts * sizeof(*r->ahead));
	if (!r->back || !r->ahead)
		return -ENOMEM;
	r->from = seg->min_start;
	r->parts = parts;
	while (ns >> r->shift >= parts)
		r->shift++;
	for (unsigned i = 0; i < parts; i++) {
		r->back[i] = INT64_MAX;
		r->ahead[i] = INT64_MIN;
	}
	return 0;
}

struct gt_queue_reach *gt_queue_reach_new(const struct gt_reader *r)
{
	uint32_t n = gt_reader_segments(r);
	unsigned parts = n <= PARTS_OF_ALL / PARTS ? PARTS
		: n < PARTS_OF_ALL                 ? PARTS_OF_ALL / n
						   : 1;
	struct gt_queue_reach *of = calloc(n + 1ul, sizeof(*of));
	int rc = of ? 0 : -ENOMEM;

	for (uint32_t i = 0; !rc && i < n; i++)
		if (gt_queues_may_exist(gt_reader_segment(r, i)))
			rc = reach_open(&of[i], gt_reader_segment(r, i), parts);
	if (!rc)
		return of;
	gt_queue_reach_free(of, n);
	return NULL;
}

void gt_queue_reach_free(struct gt_queue_reach *of, uint32_t segments)
{
	for (uint32_t i = 0; of && i < segments; i++) {
		free(of[i].back);
		free(of[i].ahead);
	}
	free(of);
}

static void add_reach(struct gt_queue_reach *r, const struct gt_grouped_op *op)
{
	int64_t *back, *ahead;

	r->launches_missing |= !op->launch;
	if (!op->launch || !r->back)
		return;
	r->launches = true;
	r->has_inferred |= op->by_order;
	back = &r->back[part_of(r, op->start)];
	*back = op->launch->work_start < *back ? op->launch->work_start : *back;
	ahead = &r->ahead[part_of(r, op->launch->end)];
	*ahead = op->first && op->start > *ahead ? op->start : *ahead;
}

static void close_reach(struct gt_queue_reach *r)
{
	for (unsigned i = 1; i < r->parts; i++) {
		unsigned k = r->parts - 1 - i;

		r->ahead[i] = r->ahead[i] > r->ahead[i - 1] ? r->ahead[i] : r->ahead[i - 1];
		r->back[k] = r->back[k] < r->back[k + 1] ? r->back[k] : r->back[k + 1];
	}
}

/* Sets `launches_missing` and `has_inferred` for whole segments. */
static void find_missing(const struct cells *c, struct gt_reader *r)
{
	size_t ndamage;
	const struct gt_damage *damage = gt_reader_damage(r, &ndamage);
	bool late = c->all.late || gt_time_ordered_late(&c->all.gpu.order) || c->all.beyond;

	for (uint32_t i = 0; i < gt_reader_segments(r); i++) {
		c->reach[i].launches_missing |= late || gt_reader_segment(r, i)->rows[GT_LOST] ||
			!gt_reader_segment(r, i)->closed;
		for (size_t k = 0; k < ndamage; k++)
			c->reach[i].launches_missing |= damage[k].segment == i;
		close_reach(&c->reach[i]);
	}
}

/* The range of rows to read: it has the first operation of each launch that waits in the segment's
 * cells.
 */
static struct gt_range rows_near(const struct gt_queue_request *ask, uint32_t segment)
{
	const struct gt_queue_reach *r = &ask->near[segment];
	int64_t from = ask->edges[0] + ask->offset[segment],
		to = ask->edges[ask->cells] + ask->offset[segment], back, ahead;

	if (!r->back)
		return (struct gt_range){ 0, 0 };
	back = r->back[part_of(r, from)];
	ahead = r->ahead[part_of(r, to - 1)];
	return (struct gt_range){ back < from ? back : from, ahead >= to ? ahead + 1 : to };
}

/* ---- cells ---- */

/* The track number of request i; a GPU that several processes share is one track. */
static uint32_t requested_track(const struct cells *c, size_t i)
{
	const struct gt_queue_id *of = &c->ask->of[i];
	const struct gt_launch_grouping *gpu = &c->all.gpu;
	uint32_t track = gpu->order.tracks[of->segment] + of->track;
	bool device = gt_reader_segment(gpu->report.reader, of->segment)->tracks[of->track].kind ==
		GT_TRACK_DEVICE;

	return device && gpu->device ? gpu->device[track] : track;
}

/* 1 + index of the first request for this track, or GT_NONE. */
static uint32_t find_request(const struct cells *c, uint32_t track)
{
	for (size_t i = 0; i < c->ask->n; i++)
		if (requested_track(c, i) == track)
			return (uint32_t)i + 1;
	return GT_NONE;
}

/* Time before the recording is left out: launches may have waited then. to INT64_MAX: no end. */
static void fill(const struct cells *c, struct gt_queue_cell *cells, const struct gt_segment *seg,
	int64_t from, int64_t to, uint64_t depth)
{
	int64_t start = from > seg->min_start ? from : seg->min_start,
		offset = c->ask->offset[seg->index], a, b;
	uint32_t n = depth < UINT32_MAX ? (uint32_t)depth : UINT32_MAX - 1;

	if (to <= seg->min_start)
		return;
	a = gt_edges_find(&c->edges, gt_subtract_origin(start, offset));
	b = gt_edges_find(&c->edges, gt_subtract_origin(to - 1, offset));
	a = a < 0 ? 0 : a;
	b = b >= (int64_t)c->ask->cells ? (int64_t)c->ask->cells - 1 : b;
	for (; a <= b; a++) {
		struct gt_queue_cell *cell = &cells[a];

		cell->least = n < cell->least ? n : cell->least;
		cell->most = n > cell->most ? n : cell->most;
		cell->last = n;
	}
}

static void on_values(struct gt_queues *all, const struct gt_queue *l, int64_t from, int64_t to)
{
	struct cells *c = (struct cells *)all;
	uint32_t *request = &c->requests[l - all->list];

	if (!*request)
		*request = find_request(c, all->gpu.order.tracks[l->seg->index] + l->track);
	if (*request != GT_NONE)
		fill(c, c->to + (size_t)(*request - 1) * c->ask->cells, l->seg, from, to, l->depth);
}

static int on_work(struct gt_queues *all, const struct gt_grouped_op *op, size_t queue,
	size_t device, struct gt_err *err)
{
	struct cells *c = (struct cells *)all;

	if (gt_grow(&c->requests, &c->requests_cap, all->n, sizeof(*c->requests)))
		return gt_err_set(err, -ENOMEM, "out of memory (streams)");
	for (; c->nrequests < all->n; c->nrequests++)
		c->requests[c->nrequests] = 0;
	if (c->reach)
		add_reach(&c->reach[op->seg->index], op);
	return 0;
}

/* Each queue is empty after its last moment; a queue without work is always empty. Queues beyond
 * the limit are unknown. */
static void find_known(struct cells *c, bool *known)
{
	const struct gt_queues *all = &c->all;
	size_t cells = c->ask->cells;

	for (size_t i = 0; i < c->ask->n; i++) {
		uint32_t track = requested_track(c, i),
			 number = all->number ? all->number[track] : 0,
			 first = find_request(c, track) - 1;

		known[i] = number || !(all->streams_beyond || all->beyond);
		if (first < i)
			memcpy(c->to + i * cells, c->to + first * cells, cells * sizeof(*c->to));
		else
			fill(c, c->to + i * cells,
				gt_reader_segment(all->gpu.report.reader, c->ask->of[i].segment),
				number ? all->list[number - 1].since : INT64_MIN, INT64_MAX, 0);
	}
}

/* ---- reading ---- */

static int on_run(void *arg, unsigned worker, const struct gt_cols *cols)
{
	struct cells *c = arg;

	if (c->ask->unwanted && atomic_load_explicit(c->ask->unwanted, memory_order_relaxed))
		return gt_err_set(c->err, -ECANCELED, "given up");
	c->rows += cols->n;
	if (c->ask->percent && c->expected)
		atomic_store_explicit(c->ask->percent,
			(unsigned)(c->rows < c->expected ? c->rows * 100 / c->expected : 99),
			memory_order_relaxed);
	return gt_queues_run(&c->all, cols, c->err);
}

struct count {
	struct gt_reader *reader;
	const struct gt_filter *filter;
	uint64_t rows;
};

static int count_rows(void *arg, const struct gt_block_info *f)
{
	struct count *n = arg;
	struct gt_range range = gt_range_of(n->filter, gt_reader_segment(n->reader, f->segment));

	if (f->kind == GT_GPU && f->start < range.to && f->end >= range.from)
		n->rows += f->rows;
	return 0;
}

static int read_rows(
	struct cells *c, struct gt_reader *r, struct gt_range *ranges, struct gt_err *err)
{
	struct gt_filter filter = {
		.kinds = GT_BIT(GT_GPU), .args = true, .ranged = c->ask->near, .ranges = ranges
	};
	struct count count = { r, &filter, 0 };
	int rc;

	for (uint32_t i = 0; c->ask->near && i < gt_reader_segments(r); i++)
		ranges[i] = rows_near(c->ask, i);
	if (c->ask->doubles)
		gt_source_dedup_hide(c->ask->doubles, &filter);
	rc = gt_each_block(r, count_rows, &count, err);
	c->expected = count.rows;
	rc = rc ? rc : gt_scan(r, &filter, GT_BY_TIME, 2, on_run, c, err);
	return rc ? rc : gt_queues_finish(&c->all, err);
}

int gt_queue_cells(struct gt_reader *r, const struct gt_queue_request *ask,
	struct gt_queue_cell *to, bool *known, struct gt_queue_reach *reach, struct gt_err *err)
{
	static const struct gt_analysis_options plain = { .top = 0 };
	struct cells c = { .all = { .on_values = on_values, .work = on_work },
		.ask = ask,
		.edges = gt_edges_of(ask->edges, ask->cells),
		.to = to,
		.err = err };
	struct gt_range *ranges = calloc(gt_reader_segments(r) + 1ul, sizeof(*ranges));
	int rc = ranges ? gt_queues_init(&c.all, r, &plain, err)
			: gt_err_set(err, -ENOMEM, "out of memory (launches)");

	c.reach = ask->near ? NULL : reach;
	for (size_t i = 0; i < ask->n * ask->cells; i++)
		to[i] = (struct gt_queue_cell){ UINT32_MAX, 0, 0 };
	rc = rc ? rc : read_rows(&c, r, ranges, err);
	if (!rc)
		find_known(&c, known);
	if (!rc && c.reach)
		find_missing(&c, r);
	if (ranges)
		gt_queues_release(&c.all);
	free(c.requests);
	free(ranges);
	return rc;
}

bool gt_queues_may_exist(const struct gt_segment *seg)
{
	for (uint32_t i = 0; seg->rows[GT_GPU] && i < seg->ntypes; i++)
		if (seg->types[i].layer == GT_LAYER_GPU &&
			gt_type_field(&seg->types[i], GT_R_LAUNCH_JOIN) != GT_NONE)
			return true;
	return false;
}
