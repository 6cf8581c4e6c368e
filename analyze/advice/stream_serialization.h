/* Work of several streams of a GPU that took turns though nothing tied it.
 *
 * An operation was held up by another stream where it was ready before: the call that launched it
 * had returned GT_PROMPT_NS ago, which it may take to get to the GPU, and its own stream was done;
 * the stream had not been told to wait for an event since its last operation; it is no node of a
 * graph, whose order is the graph's, and no copy of pageable memory, for which the host works; the
 * last operation of another stream that had ended by then ended after all that; and it began within
 * GT_PROMPT_NS of that end. Two copies in one direction share an engine and are no such case. How
 * much of it could have been hidden is the time from when it was ready to that end, and no more
 * than it took.
 *
 * What counts are pairs of streams that never worked at once in the window and held one another up
 * GT_SERIAL_LOOP times at least. Whether the GPU had room for both is not known for kernels; a copy
 * beside a kernel needs none. */
#ifndef GT_SERIAL_H
#define GT_SERIAL_H
#include "analyze/core/evidence.h"
#include "analyze/idle/idle.h"
#include "analyze/gpu/stream_pairs.h"

#define GT_SERIAL_LOOP 10u

struct gt_serial { /* zero-initialised: nothing happened */
	struct gt_serial_device *devices;
	size_t n, cap;
	/* by track number: 1 + place; of a stream among its device's */
	uint32_t *device, *stream;
	uint8_t *watch; /* by type number */
	/* that make a stream wait for an event; rows that say which */
	uint64_t wait_calls, runtime_wait_calls, wait_rows;
	/* a call that may hold a stream up, and nothing tells what for; borrowed; NULL: none */
	const char *holds;
};
struct gt_serial_sum { /* of pairs that count */
	/* how often one was held up; how often it was a copy and a kernel */
	uint64_t pairs, n, copies;
	/* that could have been hidden, of each operation by itself */
	uint64_t ns;
	/* and together: no more than a GPU worked for longer than its busiest stream */
	uint64_t gain;
	const struct gt_segment *seg; /* the pair with the most */
	int64_t a, b;                 /* the ids of its streams */
	struct gt_evidence longest;
};

/* Both return 0 or negative. Operations by their start; runs of calls and spans. */
int gt_serial_op(struct gt_serial *x, const struct gt_idle *s, const struct gt_idle_device *d,
	const struct gt_idle_op *op, struct gt_err *err);
int gt_serial_block(struct gt_serial *x, const struct gt_idle *s, const struct gt_cols *cols,
	struct gt_err *err);
/* after gt_idle_finish */
void gt_serial_add_up(const struct gt_serial *x, const struct gt_idle *s, struct gt_serial_sum *to);
/* did any GPU work on several streams? */
bool gt_serial_several(const struct gt_serial *x);
void gt_serial_again(struct gt_serial *x); /* operations come once more, from the first on */
void gt_serial_release(struct gt_serial *x);
#endif
