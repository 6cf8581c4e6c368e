/* What the BPF programs copy of each function's calls, and the argument words of a record that are
 * made from the copies, in the order in which the guest writes them (gt_api_fields). */
#ifndef GT_CALL_PLAN_H
#define GT_CALL_PLAN_H
#include "collect/bpf/bpf_events.h"
#include "collect/ipc/arg_values.h"
#include "collect/ipc/ring.h"

struct gt_call_plan {
	struct gt_bpf_plan bpf;
	struct gt_arg fields[GT_FIELDS_MAX]; /* those that are recorded */
	unsigned nfields;
};
/* mode: enum gt_args_mode. A field whose memory does not fit into the plan is 0 in records. */
void gt_call_plan_make(struct gt_call_plan *plan, const struct gt_api *api, int mode);
size_t gt_call_size(const struct gt_bpf_call *call); /* of the record, in bytes */
/* The word of a parameter that the plan needs. */
uint64_t gt_call_word(const struct gt_bpf_call *call, unsigned param);
/* The memory that was copied from parameter `param`, of at least `bytes` bytes. NULL: none. */
const uint8_t *gt_call_memory(const struct gt_call_plan *plan, const struct gt_bpf_call *call,
	unsigned param, unsigned bytes);
/* The same for a text; it ends with a zero. */
const char *gt_call_text(
	const struct gt_call_plan *plan, const struct gt_bpf_call *call, unsigned param);
bool gt_call_needs_no_memory(const struct gt_arg *field);
/* The value of a field; of a text 0. */
uint64_t gt_call_value(const struct gt_call_plan *plan, const struct gt_bpf_call *call,
	const struct gt_arg *field);
#endif
