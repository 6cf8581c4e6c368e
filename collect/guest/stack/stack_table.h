/* Numbers of call stacks.
 *
 * The wrapper of a launch, copy, allocation, free or wait takes the stack of its caller before the
 * call. A thread remembers the stacks that it has taken by a hash of their frames; a new one gets
 * the thread's next number, and its definition goes into the thread's ring in front of the call's
 * record: GT_REC_STACK, after the GT_REC_CODE and GT_REC_OBJECT records that it refers to (ring.h).
 * So each ring is complete in whatever order the rings are read.
 *
 * A stack that was taken before costs no lock and no memory, and no system call if its rules to
 * unwind (unwind_rules.h) are known. */
#ifndef GT_GUEST_STACK_TABLE_H
#define GT_GUEST_STACK_TABLE_H
#include "collect/guest/core/guest_hooks.h"
#include "collect/guest/stack/readable.h"

#define GT_STACK_FRAMES 512 /* of Python; and as many native ones */

/* ---- for the handler of a sample (thread_timers.c), with gt_interrupted set ---- */

/* Does gt_stack_take run in this thread, which the handler has interrupted? sp: its stack pointer
 * there. While it runs, stacks get no numbers. */
bool gt_stack_is_running(struct gt_tcb *t, uintptr_t sp);
/* Reads the frames of this thread where the handler has interrupted it: at[0] is the address behind
 * the first byte of the instruction, at[1] the stack pointer, at[2] the frame pointer. They stay
 * until the next call. is_whole: waits for rules, as the number will be asked for later only.
 * False: there is no memory for them. */
bool gt_stack_read_sample(struct gt_tcb *t, const uintptr_t at[3], bool is_whole);
/* The number of the stack of these frames, whose definition is in the thread's ring by now; 0: the
 * ring is full. at: as before, while the handler has not returned; else NULL. */
uint32_t gt_stack_number_sample(struct gt_tcb *t, const uintptr_t at[3]);

#endif
