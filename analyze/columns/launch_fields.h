/* The call that launched a row of the GPU, as the row itself has it (formats/cuda/gpu_rows.h), for who takes columns.
 *
 *	struct gt_launch_fields l;
 *	struct gt_launch_call call;
 *	gt_launch_fields_read(&l, cols, code, GT_LAUNCH_START | GT_LAUNCH_NS);
 *	... of the nth row of this code: if (gt_launch_fields_call(&l, cols->seg, nth, &call)) ... call.start, call.end
 *
 * A column costs its unpacking, so only those that are asked for are read; how row and call were joined always is. What a file says is not
 * believed before it was looked at: a row whose launch has no time that could be, or lacks a column, is joined to none. */
#ifndef GT_LAUNCH_FIELDS_H
#define GT_LAUNCH_FIELDS_H
#include "formats/trace/read/reader.h"

enum gt_launch_column { GT_LAUNCH_TRACK = 1, GT_LAUNCH_START = 2, GT_LAUNCH_NS = 4, GT_LAUNCH_NAME = 8, GT_LAUNCH_CORRELATION = 16,
			GT_LAUNCH_JOIN = 32 };

/* Of one code of a run; borrowed for the callback, as its columns are. */
struct gt_launch_fields {
	const uint64_t *track, *start, *ns, *name, *correlation, *join;	/* NULL: not asked for, or there is none */
	uint32_t n;			/* rows that have all that was asked for */
};
struct gt_launch_call {
	int64_t start, end;		/* ns; end: the start where GT_LAUNCH_NS was not asked for. 0 without GT_LAUNCH_START */
	uint32_t track;			/* of its thread in the segment; GT_NONE: not asked for, or not known */
	uint32_t name;			/* a string id, likewise; whether there is such a string nobody looked */
	uint64_t correlation;		/* 0: not asked for, or none */
	bool by_order;			/* it was told by its place in the stream: likely, not certain */
};
/* columns: enum gt_launch_column | ... */
void gt_launch_fields_read(struct gt_launch_fields *l, const struct gt_cols *cols, uint32_t code, unsigned columns);

/* When a call that began then and took so long, as a row says, was over. false: there is no such time. */
static inline bool gt_launch_end(int64_t start, uint64_t ns, int64_t *end)
{
	if (start < -GT_TIME_MAX || start > GT_TIME_MAX || ns > (uint64_t)GT_TIME_MAX)
		return false;
	*end = start + (int64_t)ns;
	return true;
}

/* Row `nth` of the code. false: its call is not known, and *call is not to be looked at. */
static inline bool gt_launch_fields_call(const struct gt_launch_fields *l, const struct gt_segment *seg, uint32_t nth, struct gt_launch_call *call)
{
	if (nth >= l->n || l->join[nth] == GT_JOIN_UNKNOWN)
		return false;
	call->start = l->start ? (int64_t)l->start[nth] : 0;
	call->track = l->track && l->track[nth] < seg->ntracks ? (uint32_t)l->track[nth] : GT_NONE;
	call->name = l->name && l->name[nth] < GT_NONE ? (uint32_t)l->name[nth] : GT_NONE;
	call->correlation = l->correlation ? l->correlation[nth] : 0;
	call->by_order = l->join[nth] == GT_JOIN_ORDER;
	return gt_launch_end(call->start, l->ns ? l->ns[nth] : 0, &call->end);
}
#endif
