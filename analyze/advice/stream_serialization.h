/* Streams of a GPU that run one after the other although nothing orders them.
 *
 * An operation was delayed by another stream if all of this holds: it was ready before it began,
 * that is, its launching call had returned at least GT_PROMPT_NS before (the time it may take to
 * reach the GPU), its own stream was idle, and the stream had no event to wait for since its last
 * operation; it is no graph node and no copy of pageable memory; the last operation of another
 * stream that had ended by then ended after it was ready; and it began within GT_PROMPT_NS of that
 * end. Two copies in one direction share an engine and do not count. The time that could be saved
 * is the time from ready to that end, but at most the duration of the operation.
 *
 * A pair of streams counts if they never worked at once in the window, and delayed one another at
 * least GT_SERIALIZATION_LOOP times. Whether the GPU had capacity for two kernels is unknown; a
 * copy and a kernel always run at once. */
#ifndef GT_STREAM_SERIALIZATION_H
#define GT_STREAM_SERIALIZATION_H
#include "analyze/core/evidence.h"
#include "analyze/idle/idle.h"
#include "analyze/gpu/stream_pairs.h"

#define GT_SERIALIZATION_LOOP 10u

struct gt_serialization { /* zeroed: empty */
	struct gt_serialization_device *devices;
	size_t n, cap;
	/* by track number: 1 + index; of streams: index in the device */
	uint32_t *device, *stream;
	uint8_t *roles; /* by type number */
	/* calls that make a stream wait for an event; rows with the stream of such a wait */
	uint64_t wait_calls, runtime_wait_calls, wait_rows;
	/* a call that may block a stream for a reason that is not in the trace; borrowed; NULL:
	 * none
	 */
	const char *blocking_call;
};
struct gt_serialization_sum { /* of pairs that count */
	/* n: delays; copies: those of a copy and a kernel */
	uint64_t pairs, n, copies;
	/* sum of the time that could be saved */
	uint64_t ns;
	/* the same, at most the busy time of a GPU minus that of its busiest stream */
	uint64_t gain;
	const struct gt_segment *seg; /* the pair with the most */
	int64_t a, b;                 /* the ids of its streams */
	struct gt_evidence longest;
};

/* gt_serial_op: operations in order of start; gt_serial_block: runs of calls and spans. Both return
 * 0 or negative. */
int gt_serialization_op(struct gt_serialization *x, const struct gt_idle *s,
	const struct gt_idle_device *d, const struct gt_idle_op *op, struct gt_err *err);
int gt_serialization_block(struct gt_serialization *x, const struct gt_idle *s,
	const struct gt_cols *cols, struct gt_err *err);
/* after gt_idle_finish */
void gt_serialization_sum_up(
	const struct gt_serialization *x, const struct gt_idle *s, struct gt_serialization_sum *to);
/* did a GPU work on several streams? */
bool gt_serialization_has_several(const struct gt_serialization *x);
void gt_serialization_reset(struct gt_serialization *x); /* operations are read a second time */
void gt_serialization_release(struct gt_serialization *x);
#endif
