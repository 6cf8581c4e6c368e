/* A trace with fewer rows, for gtexport --max-size: on each track, rows that are shorter than a
 * limit and follow each other within that time become one slice, "merged events", with their number
 * (`events`) and the time in which at least one of them was open (`busy_ns`). Longer rows, losses
 * and calls that did not return stay as they are, and so does a short row without neighbours. Of a
 * counter, values that follow each other more closely than the limit are left out.
 *
 * Every exporter of rows can write such a trace, since it is an ordinary one. Its metadata say what
 * was merged: {"level_of_detail":{"shorter_than_ns":..,"merged_events":..,"slices":..}}. */
#ifndef GT_LEVEL_OF_DETAIL_H
#define GT_LEVEL_OF_DETAIL_H
#include "formats/export/exporters.h"

#define GT_MERGED_EVENTS "merged events" /* the name of these slices */

struct gt_detail {
	int64_t shorter_than; /* ns */
	/* rows that are not in the copy as themselves, and the slices that stand for them */
	uint64_t merged, slices;
};

/* Exports into out at most `most` bytes, before compression. If the selected rows need more, it
 * exports a trace with fewer of them, and fills in *detail (else zeros). Needs disk space for that
 * trace and for the output in TMPDIR. -E2BIG: rows that are never merged need more. 0 or negative.
 */
int gt_export_within(const struct gt_exporter *x, struct gt_reader *r,
	const struct gt_export_options *opt, uint64_t most, struct gt_out *out,
	struct gt_detail *detail, struct gt_err *err);
/* The same for an exporter that writes files itself (export_to): at most opt->max_size bytes in all
 * of them. */
int gt_export_files_within(const struct gt_exporter *x, struct gt_reader *r,
	const struct gt_export_options *opt, const char *path, bool replace,
	struct gt_detail *detail, struct gt_err *err);

/* ---- used by gt_export_copy ---- */

struct gt_merged { /* a slice that stands for several rows */
	enum gt_kind kind;
	uint32_t track;
	int64_t start, end;
	uint8_t depth, layer;
	uint64_t events, busy_ns;
};
struct gt_merge_output {
	gt_export_fn *row; /* a row that stays */
	int (*merged)(void *arg, const struct gt_merged *m);
	void *arg;
};
struct gt_row_merger;
/* new: of one segment; detail gets the counts, borrowed. NULL: no memory. */
struct gt_row_merger *gt_merge_new(
	const struct gt_segment *seg, struct gt_detail *detail, const struct gt_merge_output *out);
int gt_merge_row(void *merge, const struct gt_event *ev); /* a gt_export_fn; rows come by start */
int gt_merge_finish(struct gt_row_merger *m);             /* puts out the rest */
void gt_merge_free(struct gt_row_merger *m);              /* NULL is fine */
#endif
