/* Argument words of a call's record, and names of kernels. `params` are the call's parameters as
 * 64-bit values, in order. */
#ifndef GT_GUEST_ARGS_H
#define GT_GUEST_ARGS_H
#include "collect/guest/core/guest_ring.h"
#include "collect/ipc/arg_values.h"

/* generated: the fields of all functions, one after the other */
extern const struct gt_arg gt_args[];
/* generated: index of the first field of function id; gt_api_count + 1 entries */
extern const uint16_t gt_args_first[];

/* Takes the call's entry among the open calls and fills in the arguments that are known before the
 * call. Returns their number. */
uint32_t gt_call_open_args(const struct gt_call *c, const uint64_t *params);
/* Writes the call's record with its arguments. */
void gt_call_record_args(const struct gt_call *c, int32_t ret, const uint64_t *params);
/* value of one field */
uint64_t gt_arg_value(
	struct gt_tcb *t, const struct gt_arg *a, const uint64_t *params, int32_t ret);

/* Writes a kernel's name to the thread's ring unless this thread did so before. */
void gt_put_kernel_name(struct gt_tcb *t, uint64_t handle);
/* a kernel's name: offset in gt_process_state->texts << 32 | length; 0: unknown */
uint64_t gt_kernel_name(uint64_t handle);

/* Address of a function in the driver that is loaded now. The lookup is repeated only after another
 * driver was loaded. Zero-initialized: not looked up yet. */
struct gt_driver_function {
	void *function;
	uint32_t drivers;
};
void *gt_driver_function_address(struct gt_driver_function *a, const char *name);
#endif
