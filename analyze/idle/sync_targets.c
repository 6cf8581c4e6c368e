/* A slice of a gap has the thread and the call; the row of a wait has both and the stream. A hash
 * table by thread and start of the call joins them. Each bucket holds its last BUCKET rows: a slice
 * needs a recent call. If the row of a call was overwritten, its stream is unknown. */
#include "analyze/idle/sync_targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/core/durations.h"
#include "analyze/columns/column_cursor.h"
#include "analyze/launch/waits.h"
#include "formats/base/buf.h"
#include "formats/base/map.h"
#include "formats/base/sorted.h"
#include "formats/cuda/gpu_rows.h"

#define SLOTS (1u << 17) /* 2 MiB */
#define BUCKET 8u        /* slots, the newest row first */
#define SUMS 4096u       /* pairs of call and stream; further ones are added up per call */

/* ---- rows ---- */

static struct gt_sync_call *bucket_of(
	const struct gt_sync_targets *a, uint32_t thread, int64_t start)
{
	return &a->calls[gt_hash_u64((uint64_t)start * 31 + thread) & (SLOTS - BUCKET)];
}

static void add_call(struct gt_sync_targets *a, struct gt_sync_call call)
{
	struct gt_sync_call *bucket = bucket_of(a, call.thread, call.start);

	memmove(bucket + 1, bucket, (BUCKET - 1) * sizeof(*bucket));
	*bucket = call;
}

static void add_calls(struct gt_sync_targets *a, const struct gt_idle *s,
	const struct gt_cols *cols, uint32_t code)
{
	uint32_t n = 0, nstarts = 0,
		 stream = gt_time_ordered_track(&s->order, cols->seg, cols->track);
	const uint64_t *tracks = gt_cols_role(cols, code, GT_R_LAUNCH_TRACK, &n);
	const uint64_t *starts = gt_cols_role(cols, code, GT_R_LAUNCH_START, &nstarts);

	for (uint32_t i = 0; i < n && i < nstarts; i++) {
		uint32_t thread = tracks[i] < GT_NONE
			? gt_time_ordered_track(&s->order, cols->seg, (uint32_t)tracks[i])
			: GT_NONE;

		if (thread != GT_NONE)
			add_call(
				a, (struct gt_sync_call){ thread, stream + 1, (int64_t)starts[i] });
	}
}

void gt_sync_targets_rows(
	struct gt_sync_targets *a, const struct gt_idle *s, const struct gt_cols *cols)
{
	if (cols->kind != GT_SPAN || cols->track >= cols->seg->ntracks ||
		cols->seg->tracks[cols->track].kind != GT_TRACK_STREAM)
		return;
	if (!a->calls)
		a->calls = calloc(SLOTS, sizeof(*a->calls));
	a->no_memory |= !a->calls;
	for (uint32_t c = 0; a->calls && c < cols->ntypes; c++)
		if (gt_cols_type(cols, c) &&
			gt_gpu_wait_of_row(gt_type_name(cols->seg, cols->types[c])) ==
				GT_GPU_WAIT_STREAM)
			add_calls(a, s, cols, c);
}

/* ---- slices ---- */

static uint32_t stream_of(const struct gt_sync_targets *a, uint32_t thread, int64_t start)
{
	const struct gt_sync_call *c =
		a->calls && thread != GT_NONE ? bucket_of(a, thread, start) : NULL;

	for (unsigned i = 0; c && i < BUCKET; i++)
		if (c[i].stream && c[i].thread == thread && c[i].start == start)
			return c[i].stream - 1;
	return GT_NONE;
}

/* NULL: no memory. */
static struct gt_sync_target_sum *sum_of(
	struct gt_sync_targets *a, const char *call, uint32_t stream)
{
	struct gt_sync_target_sum *last = a->last < a->n ? &a->list[a->last] : NULL;

	if (last && last->stream == stream && (last->call == call || !strcmp(last->call, call)))
		return last;
	for (a->last = 0; a->last < a->n; a->last++)
		if (a->list[a->last].stream == stream && !strcmp(a->list[a->last].call, call))
			return &a->list[a->last];
	if (a->n >= SUMS && stream != GT_NONE)
		return sum_of(a, call, GT_NONE);
	if (gt_grow(&a->list, &a->cap, a->n + 1, sizeof(*a->list)))
		return NULL;
	a->list[a->n++] =
		(struct gt_sync_target_sum){ .call = call, .stream = stream, .device = GT_NONE };
	return &a->list[a->last];
}

void gt_sync_targets_slice(
	struct gt_sync_targets *a, const struct gt_idle *s, const struct gt_idle_slice *slice)
{
	const struct gt_segment *seg = slice->seg;
	const char *call;
	struct gt_sync_target_sum *to;

	if (slice->cause != GT_IDLE_SYNC)
		return;
	call = gt_str(seg, seg->types[slice->type - s->order.types[seg->index]].name);
	to = sum_of(a, call, stream_of(a, slice->thread, slice->call));
	if (!to) {
		a->no_memory = true;
		return;
	}
	if (to->device != slice->device || to->gap != slice->gap) {
		to->device = slice->device;
		to->gap = slice->gap;
		to->now = 0;
		to->gaps++;
	}
	to->ns = gt_sat_add(to->ns, (uint64_t)(slice->to - slice->from));
	to->now += slice->to - slice->from;
	to->longest = to->now > to->longest ? to->now : to->longest;
}

void gt_sync_targets_reset(struct gt_sync_targets *a) { a->n = a->last = 0; }

/* ---- the table ---- */

static const struct gt_column columns[] = {
	{ "recording", "Recording", GT_C_COUNT },
	{ "call", "Call", GT_C_TEXT },
	{ "waits_for", "Waits for", GT_C_TEXT },
	{ "pid", "PID", GT_C_COUNT },
	{ "gaps", "Gaps", GT_C_COUNT },
	{ "total_ns", "Time", GT_C_NS },
	{ "share_percent", "Share %", GT_C_PERCENT },
	{ "mean_ns", "Mean", GT_C_NS },
	{ "max_ns", "Longest", GT_C_NS },
};
#define NCOLUMNS 9

static int by_time(const void *pa, const void *pb)
{
	const struct gt_sync_target_sum *a = pa, *b = pb;

	return GT_COMPARE(b->ns, a->ns) ?:
		strcmp(a->call, b->call) ?:
		GT_COMPARE(a->stream, b->stream);
}

static void add(const struct gt_idle *s, struct gt_table *t, const struct gt_sync_target_sum *one,
	int64_t share)
{
	const struct gt_segment *seg = one->stream == GT_NONE
		? NULL
		: gt_segment_of_number(s->order.tracks, s->report.reader, one->stream);
	uint32_t track = seg ? one->stream - s->order.tracks[seg->index] : 0;
	struct gt_cell process[3] = { gt_cell_none(), gt_cell_none(), gt_cell_none() };
	char text[40];

	snprintf(text, sizeof(text), "%s", gt_wait_word(gt_wait_of_call(one->call)));
	if (seg) {
		snprintf(text, sizeof(text), "stream %lld", (long long)seg->tracks[track].id);
		gt_where_process(process, seg, gt_track_process(seg, track));
	}
	gt_table_add(t,
		(struct gt_cell[]){ process[0], gt_cell_text(one->call), gt_cell_text(text),
			process[1], gt_cell_u(one->gaps), gt_cell_u(one->ns), gt_cell_i(share),
			gt_cell_mean(one->ns, one->gaps), gt_cell_i(one->longest) });
}

struct gt_table *gt_sync_targets_table(
	struct gt_sync_targets *a, const struct gt_idle *s, struct gt_err *err)
{
	struct gt_table *t = gt_report_table(&s->report, "gaps_waits",
		"Idle while synchronising, by wait target", columns, NCOLUMNS,
		"mean_ns max_ns pid gaps share_percent", err);
	size_t shown = gt_rows_shown(a->n, s->report.opt->top);
	int64_t *shares = NULL;

	GT_SORT(a->list, a->n, by_time);
	if (t && !a->no_memory)
		shares = GT_NEW_SHARES(a->list, a->n, ns, err);
	if (!shares) {
		gt_err_set(err, -ENOMEM, "out of memory (wait targets)");
		gt_table_free(t);
		return NULL;
	}
	for (size_t i = 0; i < shown; i++)
		add(s, t, &a->list[i], shares[i]);
	free(shares);
	gt_table_note_cut(t, a->n, shown);
	return t;
}

void gt_sync_targets_release(struct gt_sync_targets *a)
{
	free(a->calls);
	free(a->list);
}
