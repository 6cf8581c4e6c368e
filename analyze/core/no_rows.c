/* The notes of a report whose options leave no row. A wrong name, id or time is the usual cause,
 * so the notes list what the file has. */
#include "analyze/core/report.h"
#include "formats/base/buf.h"

#define LISTED 8u /* tracks and names that a note gives as examples */

/* "415 python3, 420 python3 and 7 more" */
static void note_tracks(
	struct gt_table *t, const struct gt_report_state *a, unsigned kind, const char *word)
{
	struct gt_buf b = { 0 };
	size_t n = 0;

	for (uint32_t i = 0; i < gt_reader_segments(a->reader); i++) {
		const struct gt_segment *seg = gt_reader_segment(a->reader, i);

		for (uint32_t k = 0; k < seg->ntracks; k++) {
			const struct gt_track *track = &seg->tracks[k];

			if (track->kind != kind || n++ >= LISTED)
				continue;
			gt_buf_printf(&b, "%s%lld", b.len ? ", " : "", (long long)track->id);
			if (track->name != GT_NONE)
				gt_buf_printf(&b, " %s", gt_str(seg, track->name));
		}
	}
	if (n > LISTED)
		gt_buf_printf(&b, " and %zu more", n - LISTED);
	gt_buf_byte(&b, 0);
	gt_table_note(t, "%s of the file: %s", word, b.failed ? "?" : n ? (char *)b.data : "none");
	gt_buf_release(&b);
}

static void note_names(struct gt_table *t, const struct gt_report_state *a)
{
	struct gt_buf b = { 0 };
	uint32_t n = 0;

	for (uint32_t i = 0; i < gt_reader_segments(a->reader); i++) {
		const struct gt_segment *seg = gt_reader_segment(a->reader, i);

		for (uint32_t k = 0; k < seg->ntypes && n < LISTED; k++, n++)
			gt_buf_printf(&b, "%s%s", n ? ", " : "", gt_type_name(seg, k));
	}
	gt_buf_byte(&b, 0);
	gt_table_note(t, "patterns match the full name (*Launch*); the file has names such as %s",
		b.failed    ? "?"
			: n ? (char *)b.data
			    : "none");
	gt_buf_release(&b);
}

void gt_note_no_rows(struct gt_table *t, const struct gt_report_state *a)
{
	const struct gt_filter *f = &a->opt->filter;
	int64_t to = 0;

	gt_table_note(t, "nothing matched");
	for (uint32_t i = 0; i < gt_reader_segments(a->reader); i++) {
		const struct gt_segment *seg = gt_reader_segment(a->reader, i);
		int64_t end = gt_time_since_origin(a, seg, seg->max_end);

		to = end > to ? end : to;
	}
	if (f->ranged)
		gt_table_note(t, "the file goes from 0 s to %.9f s", (double)to / 1e9);
	if (f->pid)
		note_tracks(t, a, GT_TRACK_PROCESS, "processes");
	if (f->tid)
		note_tracks(t, a, GT_TRACK_THREAD, "threads");
	if (f->match)
		note_names(t, a);
}
