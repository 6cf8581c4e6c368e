/* The call that launched a GPU operation, read from the columns of the operation's rows
 * (formats/cuda/gpu_rows.h).
 *
 *	struct gt_launch_fields l;
 *	struct gt_launch_call call;
 *	gt_launch_fields_read(&l, cols, code, GT_LAUNCH_START | GT_LAUNCH_NS);
 *	for each row of the code, nth = 0, 1, ...:
 *		if (gt_launch_fields_call(&l, cols->seg, nth, &call))
 *			... call.start, call.end
 *
 * Each column costs its unpacking, so only the requested ones are read, and always the kind of
 *join. Values of a file are checked: a row without a valid launch time, or without a requested
 *column, has no call. */
#ifndef GT_LAUNCH_FIELDS_H
#define GT_LAUNCH_FIELDS_H
#include "formats/trace/read/reader.h"

enum gt_launch_column {
	GT_LAUNCH_TRACK = 1,
	GT_LAUNCH_START = 2,
	GT_LAUNCH_NS = 4,
	GT_LAUNCH_NAME = 8,
	GT_LAUNCH_CORRELATION = 16,
	GT_LAUNCH_JOIN = 32
};

/* Columns of one code of a run; borrowed until the callback returns, like the run's columns. */
struct gt_launch_fields {
	/* NULL: not requested, or not in the file */
	const uint64_t *track, *start, *ns, *name, *correlation, *join;
	uint32_t n; /* rows that have all requested columns */
};
struct gt_launch_call {
	/* ns; end = start unless GT_LAUNCH_NS is requested. 0 without GT_LAUNCH_START */
	int64_t start, end;
	uint32_t track; /* track of its thread in the segment; GT_NONE: not requested, or unknown */
	/* string id, which may be out of range; GT_NONE: not requested, or unknown */
	uint32_t name;
	uint64_t correlation; /* 0: not requested, or none */
	bool by_order;        /* matched by its order in the stream: likely, not certain */
};
/* columns: enum gt_launch_column | ... */
void gt_launch_fields_read(
	struct gt_launch_fields *l, const struct gt_cols *cols, uint32_t code, unsigned columns);

/* The end of a call from its start and duration in a row. false: the values are not a valid
 * time. */
static inline bool gt_launch_end(int64_t start, uint64_t ns, int64_t *end)
{
	if (start < -GT_TIME_MAX || start > GT_TIME_MAX || ns > (uint64_t)GT_TIME_MAX)
		return false;
	*end = start + (int64_t)ns;
	return true;
}

/* Row `nth` of the code. false: its call is unknown, and *call is undefined. */
static inline bool gt_launch_fields_call(const struct gt_launch_fields *l,
	const struct gt_segment *seg, uint32_t nth, struct gt_launch_call *call)
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
