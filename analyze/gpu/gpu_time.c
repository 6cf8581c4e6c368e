#include "analyze/gpu/gpu_time.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/gpu/shared_gpus.h"
#include "formats/base/buf.h"
#include "formats/base/sorted.h"

#define MARKED_MAX (1u << 19) /* pairs of mark and device; 24 MiB */

enum gt_gpu_what gt_gpu_what(const struct gt_type *type)
{
	if (!type)
		return GT_GPU_OTHER;
	if (type->op == GT_OP_COPY)
		return GT_GPU_COPY;
	if (type->op == GT_OP_SET)
		return GT_GPU_SET;
	return type->category == GT_CAT_KERNEL ? GT_GPU_KERNEL : GT_GPU_OTHER;
}

static void count(struct gt_gpu_place *p, enum gt_gpu_what what, const struct gt_moment *m,
	int64_t start, int64_t end)
{
	p->first = m->at < p->first ? m->at : p->first;
	p->last = m->end > p->last ? m->end : p->last;
	p->kernels += what == GT_GPU_KERNEL;
	p->copies += what == GT_GPU_COPY;
	p->sets += what == GT_GPU_SET;
	p->others += what == GT_GPU_OTHER;
	gt_union_add(&p->busy, start, end);
}

static int add_marked(
	struct gt_gpu_time *t, uint64_t key, int64_t start, int64_t end, struct gt_err *err)
{
	const struct gt_marked new = { .key = key };
	uint32_t i = gt_map_find_item(&t->map, t->marked, sizeof(new), &key, sizeof(key));

	if (i == UINT32_MAX && t->nmarked == MARKED_MAX) {
		t->crowded = true;
		return 0;
	}
	if (i == UINT32_MAX)
		i = gt_map_add_item(&t->map, &t->marked, &t->nmarked, &t->marked_cap, sizeof(new),
			&new, sizeof(key));
	if (i == UINT32_MAX)
		return gt_err_set(err, -ENOMEM, "out of memory (list of GPU work)");
	gt_union_add(&t->marked[i].busy, start, end);
	return 0;
}

/* Adds the place of a track, by its number. */
static int add_place(struct gt_gpu_time *t, const struct gt_segment *seg, uint32_t number)
{
	uint32_t first = t->order.tracks[seg->index];

	if (gt_grow(&t->places, &t->places_cap, t->nplaces + 1, sizeof(*t->places)))
		return -ENOMEM;
	t->places[t->nplaces++] = (struct gt_gpu_place){ .seg = seg,
		.track = number - first,
		.device = t->device[number] - first,
		.first = INT64_MAX,
		.last = INT64_MIN };
	t->slot[number] = (uint32_t)t->nplaces;
	return 0;
}

static int on_row(void *arg, const struct gt_moment *m, struct gt_err *err)
{
	struct gt_gpu_time *t = arg;
	const struct gt_segment *seg = gt_time_ordered_segment(&t->order, t->report.reader, m);
	const struct gt_type *type =
		m->what == GT_NONE ? NULL : &seg->types[m->what - t->order.types[seg->index]];
	struct gt_range in = gt_range_of(&t->report.opt->filter, seg);
	int64_t start = m->at < in.from ? in.from : m->at, end = m->end > in.to ? in.to : m->end;
	uint32_t device = t->device[m->place];
	struct gt_gpu_row row = { m, gt_gpu_what(type), .start = start, .end = end };
	int rc = 0;

	if ((!t->slot[m->place] && add_place(t, seg, m->place)) ||
		(!t->slot[device] && add_place(t, seg, device)))
		return gt_err_set(err, -ENOMEM, "out of memory (streams)");
	row.stream = &t->places[t->slot[m->place] - 1];
	row.device = &t->places[t->slot[device] - 1];
	if (t->rows_only)
		return t->each(t->each_arg, &row, err);
	gt_gpu_window_add(&t->windows[seg->index], m->at, m->end);
	count(row.stream, row.what, m, start, end);
	if (row.device != row.stream)
		count(row.device, row.what, m, start, end);
	if (m->addr && t->whole)
		rc = add_marked(t, (m->addr - 1) << 32 | device, m->at, m->end, err);
	else if (m->addr)
		rc = add_marked(t, (m->addr - 1) << 32 | device, start, end, err);
	return rc || !t->each ? rc : t->each(t->each_arg, &row, err);
}

int gt_gpu_time_init(struct gt_gpu_time *t, struct gt_reader *r,
	const struct gt_analysis_options *opt, struct gt_err *err)
{
	t->report = (struct gt_report_state){ r, opt };
	return gt_time_ordered_init(&t->order, r, on_row, t, err);
}

uint32_t *gt_gpu_process_devices(const struct gt_time_ordered *order, struct gt_reader *r)
{
	uint32_t *all = calloc(order->tracks[order->nsegs] + 1ul, sizeof(*all));

	for (uint32_t i = 0; all && i < order->nsegs; i++) {
		const struct gt_segment *seg = gt_reader_segment(r, i);
		uint32_t *device = all + order->tracks[i], first = order->tracks[i];

		for (uint32_t k = 0; k < seg->ntracks; k++) {
			/* parents come before their children, so their device is known */
			uint32_t up = seg->tracks[k].parent;

			device[k] = first + k;
			if (up < k && seg->tracks[k].kind != GT_TRACK_DEVICE &&
				seg->tracks[device[up] - first].kind == GT_TRACK_DEVICE)
				device[k] = device[up];
		}
	}
	return all;
}

uint32_t *gt_gpu_devices(const struct gt_time_ordered *order, struct gt_reader *r)
{
	uint32_t *all = gt_gpu_process_devices(order, r);

	if (all && gt_shared_gpus_join(all, order, r)) {
		free(all);
		return NULL;
	}
	return all;
}

/* At the first row: many traces have many tracks and no GPU work. */
static int find_devices(struct gt_gpu_time *t, struct gt_err *err)
{
	t->slot = calloc(t->order.tracks[t->order.nsegs] + 1ul, sizeof(*t->slot));
	t->device = gt_gpu_devices(&t->order, t->report.reader);
	t->windows = calloc(t->order.nsegs + 1ul, sizeof(*t->windows));
	if (!t->slot || !t->device || !t->windows)
		return gt_err_set(err, -ENOMEM, "out of memory (tracks)");
	for (uint32_t i = 0; i < t->order.nsegs; i++)
		gt_gpu_window_open(
			&t->windows[i], t->report.opt, gt_reader_segment(t->report.reader, i));
	return 0;
}

struct gt_moment *gt_gpu_time_run(
	struct gt_gpu_time *t, const struct gt_cols *cols, struct gt_err *err)
{
	if (!t->device && find_devices(t, err))
		return NULL;
	return gt_time_ordered_run(&t->order, cols, err);
}

static int by_track(const void *pa, const void *pb)
{
	const struct gt_gpu_place *a = pa, *b = pb;

	return gt_by_place(a->seg, a->track, b->seg, b->track);
}

int gt_gpu_time_finish(struct gt_gpu_time *t, struct gt_err *err)
{
	int rc = gt_time_ordered_flush(&t->order, err);

	GT_SORT(t->places, t->nplaces, by_track);
	return rc;
}

uint64_t gt_gpu_time_busy(const struct gt_gpu_time *t)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < t->nplaces; i++)
		if (t->places[i].device == t->places[i].track)
			ns = gt_sat_add(ns, t->places[i].busy.ns);
	return ns;
}

uint64_t gt_gpu_time_window(const struct gt_gpu_time *t, const struct gt_segment *seg)
{
	return t->report.opt->filter.match ? 0 : gt_gpu_window_ns(&t->windows[seg->index]);
}

void gt_gpu_time_add_marks(const struct gt_gpu_time *t, uint64_t *busy, size_t n)
{
	for (size_t i = 0; i < t->nmarked; i++)
		if (t->marked[i].key >> 32 < n)
			busy[t->marked[i].key >> 32] =
				gt_sat_add(busy[t->marked[i].key >> 32], t->marked[i].busy.ns);
}

void gt_gpu_time_notes(const struct gt_gpu_time *t, struct gt_table *table, const char *calls)
{
	gt_note_unordered(table, gt_time_ordered_late(&t->order), "busy times");
	if (t->crowded)
		gt_table_note(table,
			"more than %u pairs of name and GPU: busy times by name are unknown",
			MARKED_MAX);
	if (calls && !gt_table_rows(table) && !gt_is_recorded(t->report.reader, GT_LAYER_GPU))
		gt_table_note(table, "reports of calls: gtanalyze %s", calls);
}

void gt_gpu_time_note_match(const struct gt_gpu_time *t, struct gt_table *table)
{
	if (t->nplaces && t->report.opt->filter.match)
		gt_table_note(table, "busy %% is unknown: %s",
			GT_MATCH_TEXT(t->report.opt, "", " leaves out GPU operations"));
}

void gt_gpu_time_note_window(const struct gt_gpu_time *t, struct gt_table *table)
{
	const struct gt_analysis_options *o = t->report.opt;
	bool from = o->filter.ranged && o->filter.from != INT64_MIN,
	     to = o->filter.ranged && o->filter.to != INT64_MAX;

	gt_gpu_time_note_match(t, table);
	if (t->nplaces && !o->filter.match)
		gt_table_note(table, "busy %% is of the time from %s to %s",
			from               ? "--from"
				: o->whole ? "the first row"
					   : "the first GPU operation",
			to                 ? "--to"
				: o->whole ? "the last row"
					   : "the last GPU operation");
}

void gt_gpu_time_release(struct gt_gpu_time *t)
{
	gt_time_ordered_release(&t->order);
	free(t->places);
	free(t->slot);
	free(t->device);
	free(t->windows);
	free(t->marked);
	gt_map_release(&t->map);
}
