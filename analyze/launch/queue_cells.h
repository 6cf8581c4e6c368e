/* The number of launches that wait for the GPU in each cell of a time span, for a viewer. It uses
 * queue_accounting.h.
 *
 * A launch may wait from long before a time span until long after it, so the rows of the span alone
 * are not enough. A first reading of the whole trace computes how far launches reach
 * (gt_queue_reach). With it, later calls read only the rows near the span; the figures are the
 * same. */
#ifndef GT_QUEUE_CELLS_H
#define GT_QUEUE_CELLS_H
#include <stdatomic.h>
#include "formats/trace/read/reader.h"

/* In a cell of time: the smallest and the largest number of waiting launches, for any
 * length of time, and the number at its end. Time before the recording does not count; least is
 * UINT32_MAX if the whole cell is before it. */
struct gt_queue_cell {
	uint32_t least, most, last;
};
struct gt_queue_id {
	uint32_t segment, track;
}; /* a stream, or a device */

/* Reach of the launches of a segment. back[i]: of operations that start in part i or later, the
 * earliest start of the first operation of their call. ahead[i]: of launches whose call returned in
 * part i or earlier, the latest start of their work. Parts are 2^shift ns long, the first begins at
 * `from`. INT64_MIN and INT64_MAX: there is none. */
struct gt_queue_reach {
	int64_t from, *back, *ahead;
	unsigned shift, parts;
	bool launches; /* the segment has launches */
	/* launches may be missing: events, blocks or the end were lost, or operations are joined to
	 * no call or came too late */
	bool launches_missing;
	bool has_inferred; /* some calls are inferred by the order in their stream */
};
/* By segment, empty. NULL: no memory. The caller frees it. */
struct gt_queue_reach *gt_queue_reach_new(const struct gt_reader *r);
void gt_queue_reach_free(struct gt_queue_reach *of, uint32_t segments); /* NULL is fine */

struct gt_queue_request {
	const struct gt_queue_id *of;
	size_t n;
	unsigned cells; /* of each */
	/* starts of the cells and the end of the last one, in a time that is the segment's minus
	 * offset[segment] */
	const int64_t *edges, *offset;
	/* reach of the launches; NULL: unknown, the whole trace is read */
	const struct gt_queue_reach *near;
	/* duplicate rows, which are left out; NULL: none */
	const struct gt_source_dedup *doubles;
	const atomic_bool
		*unwanted;    /* if another thread sets it, -ECANCELED is returned soon; or NULL */
	atomic_uint *percent; /* progress; or NULL */
};
/* to: the cells of of[0], then those of of[1], ...; known: for each whether its cells are valid
 * (not if there are too many streams). reach: from gt_queue_reach_new, filled if the whole trace is
 * read; or NULL. Needs about 30 MiB while it runs. 0 or negative. */
int gt_queue_cells(struct gt_reader *r, const struct gt_queue_request *ask,
	struct gt_queue_cell *to, bool *known, struct gt_queue_reach *reach, struct gt_err *err);
/* May launches of the segment be joined to GPU operations? Judged by its types: only reading the
 * rows can tell for certain. */
bool gt_queues_may_exist(const struct gt_segment *seg);
#endif
