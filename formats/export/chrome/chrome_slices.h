/* Slices of a Chrome trace: a row, from an event or from columns, becomes a line on
 * a lane of its track (chrome_tracks.h), with its arguments and its arrows. */
#ifndef GT_CHROME_SLICES_H
#define GT_CHROME_SLICES_H
#include "formats/export/chrome/chrome_launches.h"
#include "formats/export/chrome/chrome_rows.h"
#include "formats/export/chrome/chrome_stacks.h"
#include "formats/export/chrome/chrome_tracks.h"
#include "formats/names/kernel_names.h"
#include "formats/export/exporters.h"

struct gt_chrome_column {
	const uint64_t *values;
	uint32_t n;
};
/* One row; its values come from an event or from columns. */
struct gt_chrome_slice {
	const struct gt_segment *seg;
	uint32_t type, track; /* track: set when it is written */
	int64_t start, dur;
	int32_t ret;
	bool open;
	/* of an event; NULL: the values are in row `row` of the columns */
	const uint64_t *args;
	unsigned nargs;
	const struct gt_chrome_column *columns; /* one per field; NULL: there are none */
	uint32_t row;
	const struct gt_event *event; /* the event of args */
};

/* The state of the export. Borrowed: r, opt, out, err. Code that writes other events
 * may use all members except segs. */
struct gt_chrome_slices {
	struct gt_reader *r;
	const struct gt_export_options *opt;
	struct gt_out *out;
	struct gt_err *err;
	struct gt_chrome_segment *segs;
	int64_t *bases; /* by segment: ns, its time 0 */
	struct gt_chrome_tracks tracks;
	struct gt_kernel_names *names, *full_names;
	struct gt_chrome_cursor *cursors; /* by code, and the columns of these */
	struct gt_chrome_column *columns;
	size_t ncolumns, cursors_cap, columns_cap;
	uint64_t run, async_id, arrows;
	struct gt_chrome_launches launches;
	struct gt_chrome_stacks *stacks;
	/* of the slice that is being written: the call that launched GPU work, or NULL; the id of
	 * its thread if it is on a lane beside that, else 0 */
	struct gt_chrome_launch *launch;
	int64_t thread;
};
/* Release it either way. 0 or negative, as all here. */
int gt_chrome_slices_init(struct gt_chrome_slices *c, const struct gt_export_options *opt,
	struct gt_reader *r, struct gt_out *out, struct gt_err *err);
void gt_chrome_slices_release(struct gt_chrome_slices *c);

/* Writes the calls that the filter selects, in file order. The filter must ask for arguments. */
int gt_chrome_put_calls(struct gt_chrome_slices *c, const struct gt_filter *filter);
/* Writes a call of that depth; these come in order of time. */
int gt_chrome_put_call(
	struct gt_chrome_slices *c, uint32_t track, unsigned depth, struct gt_chrome_slice *s);
/* Writes a slice on lane l of its track, or, if l is NULL, as a pair of async
 * events. arrives: a call launched it, and an arrow leads to it. */
int gt_chrome_put(struct gt_chrome_slices *c, uint32_t track, struct gt_chrome_slice *s,
	const struct gt_chrome_lane *l, bool arrives);

/* For events that are no slices: writes the beginning of an event, up to and including its time.
 * phase: JSON, with further keys; where: of a lane. */
void gt_chrome_begin_event(struct gt_chrome_slices *c, const struct gt_segment *seg,
	const char *name, const char *category, const char *phase, const char *where, int64_t time);
/* The prepared text of a type, borrowed; NULL: no memory, with err
 * set. */
const struct gt_chrome_type *gt_chrome_type(
	struct gt_chrome_slices *c, const struct gt_segment *seg, uint32_t id);
/* Writes the number of the innermost frame of its stack, if it has one. */
void gt_chrome_put_stack(struct gt_chrome_slices *c, const struct gt_chrome_slice *s,
	const struct gt_chrome_type *t);
/* Writes ,"args":{...} or nothing. */
void gt_chrome_put_args(struct gt_chrome_slices *c, const struct gt_chrome_slice *s,
	const struct gt_chrome_type *t);
#endif
