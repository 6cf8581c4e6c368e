/* How many launches wait for the GPU in each cell of a stretch of time, for who draws it: by the
 * accounting of the queues report.
 *
 * A launch may wait from long before a stretch of time until long behind it, so the rows of that
 * time alone do not tell. Who has read everything once knows how far one must look
 * (gt_queue_reach), and reads what is near next time: figures are the same. */
#ifndef GT_QUEUE_CELLS_H
#define GT_QUEUE_CELLS_H
#include <stdatomic.h>
#include "formats/trace/read/reader.h"

/* In [start, start + 2^shift): the least and the most that waited in it, for however short a time,
 * and how many did at its end. Of its time before the recording began nothing counts; where that is
 * all of it least is UINT32_MAX. */
struct gt_queue_cell {
	uint32_t least, most, last;
};
struct gt_queue_of {
	uint32_t segment, track;
}; /* a stream, or a device */

/* Of a segment. back[i]: of work that starts in part i or behind it, the start of the first that
 * its call launched. ahead[i]: of launches whose call returned in part i or before it, the latest
 * start of their work. Parts are 2^shift ns, from `from` on, INT64_MIN and INT64_MAX where there is
 * none. */
struct gt_queue_reach {
	int64_t from, *back, *ahead;
	unsigned shift, parts;
	bool launches; /* there are any */
	/* there may be more: events, blocks or the end were lost, work is joined to no call or came
	 * too late */
	bool some;
	bool likely; /* calls of some were told by the order in their stream */
};
/* By segment; parts that know of nothing. NULL: no memory. new: free it */
struct gt_queue_reach *gt_queue_reach_new(const struct gt_reader *r);
void gt_queue_reach_free(struct gt_queue_reach *of, uint32_t segments); /* NULL is fine */

struct gt_queue_ask {
	const struct gt_queue_of *of;
	size_t n;
	unsigned shift, cells; /* of each; shift below 63 */
	/* by segment: the first cell is [first << shift, ...) of its clock */
	const int64_t *first;
	/* what is known of the trace; NULL: nothing, and everything is to be read */
	const struct gt_queue_reach *near;
	/* rows that are left out (source_dedup.h); NULL: none */
	const struct gt_source_dedup *doubles;
	const atomic_bool *unwanted; /* set from elsewhere: -ECANCELED soon; or NULL */
	atomic_uint *percent;        /* how far it is; or NULL */
};
/* to: the cells of of[0], then those of of[1] ...; known: of each whether they say anything (of too
 * many streams some are not told apart). reach: by segment, as of gt_queue_reach_new, filled when
 * everything is read; or NULL. Takes some 30 MiB while it runs. 0 or negative. */
int gt_queue_cells(struct gt_reader *r, const struct gt_queue_ask *ask, struct gt_queue_cell *to,
	bool *known, struct gt_queue_reach *reach, struct gt_err *err);
/* Might launches of the segment be joined to work of its GPUs? By its types alone: whether any is,
 * is known when all was read. */
bool gt_queue_any(const struct gt_segment *seg);
#endif
