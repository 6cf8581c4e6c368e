/* Each pair of streams of a GPU: how long both worked at once, and how often work changed from one
 * to the other. Operations come in order of their start. The part of an operation after the end of
 * its own stream's earlier work is new, and the other stream is known up to its end. So each moment
 * in which both work is counted once, by the operation that comes later. */
#ifndef GT_STREAM_PAIRS_H
#define GT_STREAM_PAIRS_H
#include "analyze/gpu/gpu_time.h"

#define GT_STREAM_PAIRS_MOST 32u /* streams of a GPU that are paired; later ones are not */

struct gt_stream_pair {
	uint64_t both;  /* ns in which both worked */
	uint64_t turns; /* changes from one stream to the other */
	bool second;    /* the last operation began on the second one */
};
struct gt_stream_pairs { /* zero-initialised: empty */
	struct gt_paired_stream {
		uint32_t track;
		struct gt_union busy;
	} * streams;
	struct gt_stream_pair *pairs; /* of streams i < k: at gt_stream_pair_at(i, k) */
	size_t n, streams_cap, pairs_cap;
};

static inline size_t gt_stream_pair_at(size_t a, size_t b)
{
	return a < b ? b * (b - 1) / 2 + a : a * (a - 1) / 2 + b;
}
/* Adds a stream. Returns 1 + its index; 0 with err filled in. */
uint32_t gt_stream_pairs_add(struct gt_stream_pairs *p, uint32_t track, struct gt_err *err);
/* Adds an operation of stream i. */
void gt_stream_pairs_work(struct gt_stream_pairs *p, size_t i, int64_t start, int64_t end);
void gt_stream_pairs_release(struct gt_stream_pairs *p);
#endif
