#include "analyze/calls/lost_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/columns/column_cursor.h"
#include "formats/base/buf.h"
#include "formats/base/numbers.h"

#define UNMATCHED_NAMED 4 /* names that a note on unmatched begins and ends gives */

/* ---- counting ---- */

static void add_stream(struct gt_lost_rows *l, uint32_t track, uint64_t count, int64_t from)
{
	uint32_t i = 0,
		 stored = l->nstreams < GT_LOST_STREAMS_MOST ? l->nstreams : GT_LOST_STREAMS_MOST;

	while (i < stored && l->streams[i].track != track)
		i++;
	if (i == stored) {
		if (l->nstreams++ >= GT_LOST_STREAMS_MOST)
			return;
		l->streams[i] = (struct gt_lost_stream){ track, 0, from };
	}
	l->streams[i].count = gt_sat_add(l->streams[i].count, count);
	l->streams[i].from = from < l->streams[i].from ? from : l->streams[i].from;
}

static struct gt_unmatched_count *unmatched_of(
	struct gt_lost_rows *l, const struct gt_segment *seg, struct gt_err *err)
{
	if (!l->unmatched && !(l->unmatched = calloc(seg->ntypes + 1ul, sizeof(*l->unmatched))))
		gt_err_set(err, -ENOMEM, "out of memory (header)");
	return l->unmatched;
}

static int count_unmatched(struct gt_lost_rows *l, const struct gt_cols *cols, struct gt_err *err)
{
	struct gt_unmatched_count *unmatched = unmatched_of(l, cols->seg, err);

	for (uint32_t i = 0; unmatched && i < cols->n; i++) {
		uint32_t type = cols->types[cols->code ? cols->code[i] : 0];

		if (type < cols->seg->ntypes)
			(*(gt_cols_ret(cols, i) ? &unmatched[type].ends
						: &unmatched[type].begins))++;
	}
	return unmatched ? 0 : err->code;
}

static void count_lost(
	struct gt_lost_rows *l, const struct gt_cols *cols, uint32_t row, uint64_t count)
{
	if (count == GT_LOST_UNKNOWN) {
		l->unknown++;
		return;
	}
	l->count = gt_sat_add(l->count, count);
	if (cols->track < cols->seg->ntracks &&
		cols->seg->tracks[cols->track].kind == GT_TRACK_STREAM)
		add_stream(l, cols->track, count, cols->start[row]);
}

int gt_lost_rows_add(struct gt_lost_rows *l, const struct gt_cols *cols, struct gt_err *err)
{
	if (cols->kind == GT_UNMATCHED)
		return count_unmatched(l, cols, err);
	l->rows += cols->n;
	for (uint32_t c = 0; c < cols->ntypes; c++) {
		uint32_t n = 0;
		const uint64_t *counts = gt_cols_args(cols, c, 0, &n);

		for (uint32_t i = 0; counts && i < n; i++)
			count_lost(l, cols, i, counts[i]);
	}
	return 0;
}

int gt_lost_rows_merge(struct gt_lost_rows *into, const struct gt_lost_rows *from,
	const struct gt_segment *seg, struct gt_err *err)
{
	struct gt_unmatched_count *unmatched =
		from->unmatched ? unmatched_of(into, seg, err) : NULL;

	if (from->unmatched && !unmatched)
		return err->code;
	for (uint32_t t = 0; unmatched && t < seg->ntypes; t++) {
		unmatched[t].begins += from->unmatched[t].begins;
		unmatched[t].ends += from->unmatched[t].ends;
	}
	into->rows += from->rows;
	into->unknown += from->unknown;
	into->count = gt_sat_add(into->count, from->count);
	for (uint32_t k = 0; k < from->nstreams && k < GT_LOST_STREAMS_MOST; k++)
		add_stream(into, from->streams[k].track, from->streams[k].count,
			from->streams[k].from);
	return 0;
}

/* ---- notes ---- */

/* Operations whose records CUPTI had not delivered when the program was killed. */
static void note_streams(const struct gt_lost_rows *l, const struct gt_report_state *a,
	const struct gt_segment *seg, struct gt_table *t)
{
	for (uint32_t i = 0; i < l->nstreams && i < GT_LOST_STREAMS_MOST; i++) {
		const struct gt_lost_stream *s = &l->streams[i];
		uint32_t device = gt_track_device(seg, s->track);

		gt_note_recording(a, seg, t,
			"LOST on %.40s%s%.40s: GPU records of %" PRIu64 " launch%s since %.6f s",
			gt_str(seg, seg->tracks[s->track].name), device == GT_NONE ? "" : " of ",
			device == GT_NONE ? "" : gt_str(seg, seg->tracks[device].name), s->count,
			gt_plural(s->count, "es"), (double)(s->from - seg->min_start) / 1e9);
	}
	if (l->nstreams > GT_LOST_STREAMS_MOST)
		gt_note_recording(a, seg, t, "LOST on %u more stream%s",
			l->nstreams - GT_LOST_STREAMS_MOST,
			gt_plural(l->nstreams - GT_LOST_STREAMS_MOST, "s"));
}

/* "4 begins without an end: ncclCommFinalize (2), ncclCommInitRankConfig (2)". Rows that the
 * options leave out have no name here. */
static void note_unmatched(const struct gt_lost_rows *l, const struct gt_report_state *a,
	const struct gt_segment *seg, struct gt_table *t)
{
	uint64_t all = seg->rows[GT_UNMATCHED], begins = 0;
	struct gt_buf names = { 0 };
	uint32_t n = 0;

	for (uint32_t i = 0; l->unmatched && i < seg->ntypes; i++) {
		uint64_t of_it = l->unmatched[i].begins + l->unmatched[i].ends;

		begins += l->unmatched[i].begins;
		if (of_it && n++ < UNMATCHED_NAMED)
			gt_buf_printf(&names, "%s%.60s (%" PRIu64 ")", n > 1 ? ", " : ": ",
				gt_type_name(seg, i), of_it);
	}
	if (n > UNMATCHED_NAMED)
		gt_buf_printf(&names, " and %" PRIu32 " more name%s", n - UNMATCHED_NAMED,
			gt_plural(n - UNMATCHED_NAMED, "s"));
	gt_buf_byte(&names, 0);
	if (begins && begins == all)
		gt_note_recording(a, seg, t,
			"UNMATCHED: %" PRIu64
			" event%s a begin but no end; only the report open lists %s%s",
			all, all == 1 ? " has" : "s have", all == 1 ? "it" : "them",
			names.failed ? "" : (char *)names.data);
	else
		gt_note_recording(a, seg, t,
			"UNMATCHED: %" PRIu64
			" event%s only a begin or only an end (the report open lists the begins)%s",
			all, all == 1 ? " has" : "s have", names.failed ? "" : (char *)names.data);
	gt_buf_release(&names);
}

static const char *lost_words(const struct gt_lost_rows *l, char to[80])
{
	if (!l->count && l->unknown)
		return "an unknown number of events";
	snprintf(to, 80, "%" PRIu64 " event%s%s", l->count, gt_plural(l->count, "s"),
		l->unknown ? " and an unknown number more" : "");
	return to;
}

void gt_lost_rows_note(const struct gt_lost_rows *l, const struct gt_report_state *a,
	const struct gt_segment *seg, struct gt_table *t)
{
	char words[80];

	if (l->rows)
		gt_note_recording(a, seg, t,
			"LOST: %s; counts and sums lack the lost rows, and gaps may contain lost operations",
			lost_words(l, words));
	note_streams(l, a, seg, t);
	if (seg->rows[GT_UNMATCHED])
		note_unmatched(l, a, seg, t);
}

void gt_lost_rows_release(struct gt_lost_rows *l)
{
	free(l->unmatched);
	*l = (struct gt_lost_rows){ .rows = 0 };
}
