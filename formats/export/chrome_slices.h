/* Slices of a Chrome trace: what is to be said of a row, from wherever it comes, becomes a line
 * where its track has room for it (chrome_tracks.h), with its arguments and the arrows that lead to
 * or from it. */
#ifndef GT_CHROME_SLICES_H
#define GT_CHROME_SLICES_H
#include "formats/export/chrome_flows.h"
#include "formats/export/chrome_tracks.h"
#include "formats/names/demangle.h"
#include "formats/export/exporters.h"

struct gt_chrome_column {
	const uint64_t *values;
	uint32_t n;
};
/* What is to be written of one row; values are fetched one by one, from a row or from columns. */
struct gt_chrome_slice {
	const struct gt_segment *seg;
	uint32_t type;
	int64_t start, dur;
	int32_t ret;
	bool open;
	/* of a row; NULL: take them from the columns, row `row` of each */
	const uint64_t *args;
	unsigned nargs;
	const struct gt_chrome_column *columns; /* a field each; NULL: there are none */
	uint32_t row;
	const struct gt_event *event; /* the row, where args are its */
};

/* What is known of all of them. Borrowed: r, opt, out, err; who writes other events may use all but
 * segs. */
struct gt_chrome_slices {
	struct gt_reader *r;
	const struct gt_export_options *opt;
	struct gt_out *out;
	struct gt_err *err;
	struct gt_chrome_segment *segs;
	int64_t *bases; /* by segment: ns, where times count from */
	struct gt_chrome_tracks tracks;
	struct gt_kernel_names *names;
	struct gt_chrome_cursor *cursors; /* by code, and the columns of these */
	struct gt_chrome_column *columns;
	size_t ncolumns, cursors_cap, columns_cap;
	uint64_t run, async_id, launches;
	struct gt_chrome_flows flows;
};
/* Release it either way. 0 or negative, as all here. */
int gt_chrome_slices_init(struct gt_chrome_slices *c, const struct gt_export_options *opt,
	struct gt_reader *r, struct gt_out *out, struct gt_err *err);
void gt_chrome_slices_release(struct gt_chrome_slices *c);

/* The calls that the filter lets through, as they are filed. It must want arguments. */
int gt_chrome_put_calls(struct gt_chrome_slices *c, const struct gt_filter *filter);
/* A call of that depth; these come in order of time. */
int gt_chrome_put_call(struct gt_chrome_slices *c, uint32_t track, unsigned depth,
	const struct gt_chrome_slice *s);
/* A slice on lane l of its track, or, where that is NULL, as a pair of async events. arrives: it is
 * work that a call launched. */
int gt_chrome_put(struct gt_chrome_slices *c, uint32_t track, const struct gt_chrome_slice *s,
	const struct gt_chrome_lane *l, bool arrives);

/* For events that are no slices. What a type says: borrowed; NULL: no memory, which err says. */
const struct gt_chrome_type *gt_chrome_type(
	struct gt_chrome_slices *c, const struct gt_segment *seg, uint32_t id);
/* ,"args":{...} or nothing */
void gt_chrome_put_args(struct gt_chrome_slices *c, const struct gt_chrome_slice *s,
	const struct gt_chrome_type *t);
#endif
