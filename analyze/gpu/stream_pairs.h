/* Streams of one GPU, and each two of them: how long both worked at once, and how often work went
 * from one to the other. Work comes by its start. Of two streams, the part of a row that lies
 * behind its own stream's end is new, and of the other stream all is known up to its end: each
 * moment in which both work is met once, by whichever comes to it last. */
#ifndef GT_STREAM_PAIRS_H
#define GT_STREAM_PAIRS_H
#include "analyze/gpu/gpu_time.h"

#define GT_STREAM_PAIRS_MOST 32u /* streams of a GPU whose pairs are looked at */

struct gt_stream_pair {
	uint64_t both;  /* ns in which both worked */
	uint64_t turns; /* how often work went from one to the other */
	bool second;    /* did the second of them begin something last? */
};
struct gt_stream_pairs { /* zero-initialised: no stream */
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
/* One more stream: 1 + its place; 0 with err filled in. */
uint32_t gt_stream_pairs_add(struct gt_stream_pairs *p, uint32_t track, struct gt_err *err);
/* Stream i works from start to end. */
void gt_stream_pairs_work(struct gt_stream_pairs *p, size_t i, int64_t start, int64_t end);
void gt_stream_pairs_release(struct gt_stream_pairs *p);
#endif
