/* Stacks of calls from threads without Python, in a process that runs Python.
 *
 * PyTorch's autograd engine launches the backward pass from threads of its own, whose stacks have
 * no Python frames. If the program's ranges have PyTorch's sequence numbers
 * (torch.autograd.profiler.emit_nvtx: "aten::linear, seq = 5, op_id = 7" in the forward pass,
 * "autograd::engine::evaluate_function: AddmmBackward0, seq = 5" in the backward pass), such a call
 * gets the Python frames of the last call of the forward operator with the same number, the mark
 * "[backward of aten::linear]", and then its own frames. Otherwise the mark "[native only]" is its
 * outermost frame.
 *
 * A number is one of the thread that runs the forward pass. If two threads have used the same one,
 * it has no forward operator. */
#ifndef GT_FORWARD_STACKS_H
#define GT_FORWARD_STACKS_H
#include "collect/recorder/call_stacks.h"
#include "collect/recorder/nvtx_ranges.h"

#define GT_FORWARD_MOST 65536u /* sequence numbers of a process: the latest */

struct gt_forward_stacks { /* of one process; zero-initialised: empty */
	struct gt_forward {
		uint64_t sequence; /* plus 1; 0: none */
		int64_t at;        /* ns: of the call */
		uint32_t track;    /* of its thread; GT_NONE: of several threads */
		uint32_t stack;    /* of the file */
		uint32_t text;     /* string: the range */
	} * list;                  /* by the number modulo GT_FORWARD_MOST */
};
void gt_forward_stacks_release(struct gt_forward_stacks *f);
/* A call of a thread within its ranges. */
struct gt_forward_call {
	const struct gt_nvtx_stack *ranges;
	int64_t at;     /* ns: its start */
	uint32_t track; /* of the thread */
	uint32_t stack; /* of the file */
};
/* The call's stack has Python frames. */
void gt_forward_stacks_add(struct gt_forward_stacks *f, const struct gt_forward_call *call);
/* The stack for a call whose own stack has no Python frames. */
uint32_t gt_forward_stacks_get(
	const struct gt_forward_stacks *f, struct gt_writer *w, const struct gt_forward_call *call);
#endif
