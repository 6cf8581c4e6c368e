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

#endif
