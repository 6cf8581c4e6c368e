#include "analyze/launch/launch_grouping.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/columns/launch_fields.h"
#include "analyze/columns/column_cursor.h"
#include "formats/base/buf.h"

#define ENTRIES (4 * GT_RECENT_LAUNCHES)
#define AHEAD 4 /* rows */

/* The launch of a row that is not sorted yet; gt_moment.addr is its number. */
struct gt_unsorted_launch {
	int64_t start, end;
	uint64_t correlation, graph;
	uint32_t track; /* GT_NONE: the launch is unknown */
	uint32_t hash;  /* of the launch */
	uint8_t what;   /* enum gt_gpu_what, of the row */
	bool in_graph, by_order;
};
struct gt_recent_launch {
	struct gt_launch launch;
	uint64_t correlation;
	uint32_t hash;
	uint32_t older, newer; /* list by the time of the last operation */
};
/* A slot of a hash table that is at most a quarter full. It has the hash, so that most lookups do
 * not read other launches. */
struct gt_launch_hash_entry {
	uint32_t hash, launch;
}; /* launch: 1 + index; 0: free */

/* ---- rows, not sorted yet ---- */

static uint32_t hash_of(const struct gt_unsorted_launch *s)
{
	return (uint32_t)gt_hash_u64((uint64_t)s->start ^ s->correlation << 40) + s->track;
}

/* Rows of one type in a run: their columns, and the number of rows seen so far. */
struct gt_launch_columns {
	struct gt_launch_fields launch;
	const uint64_t *graph;
	uint32_t ngraph, rows_seen;
	uint8_t what;
	bool in_graph;
};

static struct gt_launch_columns columns_of(const struct gt_cols *cols, uint32_t code)
{
	const struct gt_type *type = gt_cols_type(cols, code);
	struct gt_launch_columns f = { .what = (uint8_t)gt_gpu_what(type) };

	gt_launch_fields_read(&f.launch, cols, code,
		GT_LAUNCH_TRACK | GT_LAUNCH_START | GT_LAUNCH_NS | GT_LAUNCH_CORRELATION);
	f.graph = gt_cols_role(cols, code, GT_R_GRAPH, &f.ngraph);
	f.in_graph = type &&
		(type->op == GT_OP_GRAPH_LAUNCH || gt_type_field(type, GT_R_GRAPH) != GT_NONE);
	return f;
}

static void fill_slot(struct gt_launch_grouping *l, const struct gt_cols *cols,
	const struct gt_launch_columns *from, struct gt_unsorted_launch *s)
{
	struct gt_launch_call call;

	*s = (struct gt_unsorted_launch){
		.graph = from->rows_seen < from->ngraph ? from->graph[from->rows_seen] : 0,
		.track = GT_NONE,
		.what = from->what,
		.in_graph = from->in_graph
	};
	if (!gt_launch_fields_call(&from->launch, cols->seg, from->rows_seen, &call))
		return;
	s->start = call.start;
	s->end = call.end;
	s->correlation = call.correlation;
	s->track = gt_time_ordered_track(&l->order, cols->seg, call.track);
	s->by_order = call.by_order;
	s->hash = hash_of(s);
}

static int fill_slots(struct gt_launch_grouping *l, const struct gt_cols *cols,
	struct gt_unsorted_launch *slots, struct gt_err *err)
{
	if (gt_grow(&l->columns, &l->columns_cap, cols->ntypes + 1ul, sizeof(*l->columns)))
		return gt_err_set(err, -ENOMEM, "out of memory (launches)");
	for (uint32_t i = 0; i < cols->ntypes; i++)
		l->columns[i].rows_seen = 0;
	for (uint32_t i = 0; i < cols->n; i++) {
		uint32_t code = cols->code ? cols->code[i] : 0;
		struct gt_launch_columns *from = &l->columns[code];

		if (!from->rows_seen) /* most types of a block do not occur in each of its runs */
			*from = columns_of(cols, code);
		fill_slot(l, cols, from, &slots[i]);
		from->rows_seen++;
	}
	return 0;
}

int gt_launch_grouping_run(
	struct gt_launch_grouping *l, const struct gt_cols *cols, struct gt_err *err)
{
	struct gt_unsorted_launch *slots;
	struct gt_moment *m;
	uint64_t first;

	if (!l->device && !(l->device = gt_gpu_devices(&l->order, l->report.reader)))
		return gt_err_set(err, -ENOMEM, "out of memory (tracks)");
	m = gt_time_ordered_run(&l->order, cols, err);
	slots = m ? gt_time_merge_reserve_records(
			    &l->order.lines[cols->seg->index], cols->n, sizeof(*slots), &first, err)
		  : NULL;
	if (!slots)
		return err->code;
	for (uint32_t i = 0; i < cols->n; i++)
		m[i].addr = first + i;
	return fill_slots(l, cols, slots, err);
}

/* ---- launches ---- */

static uint32_t next_entry(uint32_t at) { return (at + 1) % ENTRIES; }

/* Backward-shift deletion: entries after the freed slot move back, so that probing never meets a
 * hole. */
static void remove_entry(struct gt_launch_grouping *l, uint32_t number)
{
	const uint32_t hash = l->recent[number].hash;
	uint32_t free = hash % ENTRIES;

	/* a new launch may already have its index */
	while (l->entries[free].launch != number + 1 || l->entries[free].hash != hash)
		free = next_entry(free);
	for (uint32_t at = next_entry(free); l->entries[at].launch; at = next_entry(at))
		if ((at - l->entries[at].hash) % ENTRIES >= (at - free) % ENTRIES) {
			l->entries[free] = l->entries[at];
			free = at;
		}
	l->entries[free].launch = 0;
}

static void unlink_age(struct gt_launch_grouping *l, const struct gt_recent_launch *k)
{
	*(k->older == GT_NONE ? &l->oldest : &l->recent[k->older].newer) = k->newer;
	*(k->newer == GT_NONE ? &l->newest : &l->recent[k->newer].older) = k->older;
}

static void link_newest(struct gt_launch_grouping *l, struct gt_recent_launch *k)
{
	uint32_t i = (uint32_t)(k - l->recent);

	k->older = l->newest;
	k->newer = GT_NONE;
	*(l->newest == GT_NONE ? &l->oldest : &l->recent[l->newest].newer) = i;
	l->newest = i;
}

/* Adds a launch to this slot. If the table is full, it replaces the launch without a new operation
 * for the longest time. NULL with err filled in. */
static struct gt_recent_launch *add_launch(struct gt_launch_grouping *l, uint32_t hash,
	struct gt_launch_hash_entry *entry, struct gt_err *err)
{
	bool full = l->nknown == GT_RECENT_LAUNCHES;
	uint32_t number = full ? l->oldest : l->nknown;
	struct gt_recent_launch *k = &l->recent[number];

	*entry = (struct gt_launch_hash_entry){ hash, number + 1 };
	if (!full) {
		l->nknown++;
		return k;
	}
	if (l->done && l->done(l, &k->launch, err))
		return NULL;
	remove_entry(l, l->oldest);
	unlink_age(l, k);
	/* the next launch to be replaced; mostly they are neighbours in memory */
	__builtin_prefetch(&l->entries[l->recent[l->oldest].hash % ENTRIES]);
	__builtin_prefetch(&l->recent[(l->oldest + 2 * AHEAD) % GT_RECENT_LAUNCHES]);
	return k;
}

static bool same_call(const struct gt_recent_launch *k, const struct gt_unsorted_launch *s)
{
	const struct gt_launch *l = &k->launch;

	return l->start == s->start && l->end == s->end && l->track == s->track &&
		k->correlation == s->correlation;
}

/* The launch of a row, added at its first row. NULL with err filled in. */
static struct gt_launch *launch_of(
	struct gt_launch_grouping *l, const struct gt_unsorted_launch *s, struct gt_err *err)
{
	uint32_t hash = s->hash, at = hash % ENTRIES;
	struct gt_recent_launch *k;

	while (l->entries[at].launch &&
		!(l->entries[at].hash == hash &&
			same_call(&l->recent[l->entries[at].launch - 1], s)))
		at = next_entry(at);
	if (l->entries[at].launch) {
		k = &l->recent[l->entries[at].launch - 1];
		unlink_age(l, k);
	} else {
		k = add_launch(l, hash, &l->entries[at], err);
		if (!k)
			return NULL;
		*k = (struct gt_recent_launch){ .launch = { .track = s->track,
							.start = s->start,
							.end = s->end,
							.work_start = INT64_MAX,
							.work_end = INT64_MIN },
			.correlation = s->correlation,
			.hash = hash };
	}
	link_newest(l, k);
	return &k->launch;
}

/* ---- rows in order of time ---- */

/* Prefetches the slot of the launch of a row that follows soon. */
static void prefetch(
	const struct gt_launch_grouping *l, const struct gt_time_merge *line, uint64_t number)
{
	const struct gt_unsorted_launch *slot =
		number < line->nrecords ? gt_time_merge_record(line, number) : NULL;

	if (slot)
		__builtin_prefetch(&l->entries[slot->hash % ENTRIES]);
}

static int on_row(void *arg, const struct gt_moment *m, struct gt_err *err)
{
	struct gt_launch_grouping *l = arg;
	const struct gt_segment *seg = gt_time_ordered_segment(&l->order, l->report.reader, m);
	const struct gt_time_merge *line = &l->order.lines[seg->index];
	const struct gt_unsorted_launch *slot = gt_time_merge_record(line, m->addr);
	struct gt_grouped_op op = { .seg = seg,
		.type_number = m->what,
		.track = m->place,
		.device = l->device[m->place],
		.type = m->what == GT_NONE ? NULL
					   : &seg->types[m->what - l->order.types[seg->index]],
		.start = m->at,
		.end = m->end,
		.what = slot->what,
		.in_graph = slot->in_graph,
		.graph = slot->graph };

	prefetch(l, line, m->addr + AHEAD);
	gt_gpu_window_add(&l->windows[seg->index], m->at, m->end);
	l->ops++;
	if (slot->track == GT_NONE) {
		l->unjoined++;
		return l->fn(l, &op, err);
	}
	op.launch = launch_of(l, slot, err);
	if (!op.launch)
		return err->code;
	op.by_order = slot->by_order;
	op.first = !op.launch->ops++;
	l->by_order += slot->by_order;
	op.launch->work_start = m->at < op.launch->work_start ? m->at : op.launch->work_start;
	op.launch->work_end = m->end > op.launch->work_end ? m->end : op.launch->work_end;
	return l->fn(l, &op, err);
}

int gt_launch_grouping_init(struct gt_launch_grouping *l, struct gt_reader *r,
	const struct gt_analysis_options *opt, gt_grouped_op_fn *fn, gt_launch_done_fn *done,
	struct gt_err *err)
{
	int rc = gt_time_ordered_init(&l->order, r, on_row, l, err);

	l->report = (struct gt_report_state){ r, opt };
	l->fn = fn;
	l->done = done;
	l->oldest = l->newest = GT_NONE;
	l->recent = malloc(GT_RECENT_LAUNCHES * sizeof(*l->recent));
	l->entries = calloc(ENTRIES, sizeof(*l->entries));
	l->windows = malloc((gt_reader_segments(r) + 1ul) * sizeof(*l->windows));
	if (rc || !l->recent || !l->entries || !l->windows)
		return rc ? rc : gt_err_set(err, -ENOMEM, "out of memory (launches)");
	for (uint32_t i = 0; i < gt_reader_segments(r); i++)
		gt_gpu_window_open(&l->windows[i], opt, gt_reader_segment(r, i));
	return 0;
}

int gt_launch_grouping_finish(struct gt_launch_grouping *l, struct gt_err *err)
{
	int rc = gt_time_ordered_flush(&l->order, err);

	for (uint32_t i = l->oldest; !rc && l->done && i != GT_NONE; i = l->recent[i].newer)
		rc = l->done(l, &l->recent[i].launch, err);
	return rc;
}

uint64_t gt_launch_grouping_window_ns(
	const struct gt_launch_grouping *l, const struct gt_segment *seg)
{
	return gt_gpu_window_ns(&l->windows[seg->index]);
}

/* ---- notes ---- */

static bool has_losses(struct gt_reader *r)
{
	uint64_t losses = 0;

	for (uint32_t i = 0; i < gt_reader_segments(r); i++)
		losses += gt_reader_segment(r, i)->rows[GT_LOST];
	return losses > 0;
}

void gt_launch_grouping_notes(
	const struct gt_launch_grouping *l, struct gt_table *t, const char *figures)
{
	gt_note_joins(t, l->ops, "kernels, copies and sets", l->unjoined, figures, l->by_order);
	gt_note_unordered(t, gt_time_ordered_late(&l->order), "idle times");
	if (has_losses(l->report.reader))
		gt_table_note(t,
			"events were lost while recording (see the header): operations and launches may be missing");
}

void gt_launch_grouping_note_unrecorded(const struct gt_launch_grouping *l, struct gt_table *t)
{
	if (!gt_table_rows(t) && !gt_is_recorded(l->report.reader, GT_LAYER_GPU))
		gt_table_note(t, "reports of calls: gtanalyze launches");
}

bool gt_launch_grouping_is_blocked(
	const struct gt_launch_grouping *l, struct gt_table *t, const char *why)
{
	if (!l->report.opt->filter.match)
		return false;
	gt_table_set_unanswered(t, "%s", why);
	return true;
}

void gt_launch_grouping_release(struct gt_launch_grouping *l)
{
	gt_time_ordered_release(&l->order);
	free(l->device);
	free(l->columns);
	free(l->recent);
	free(l->entries);
	free(l->windows);
}
