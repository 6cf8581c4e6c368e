/* Shared by waits.c (waits and the work during them) and waits_input.c (rows to moments). */
#ifndef GT_WAITS_INTERNAL_H
#define GT_WAITS_INTERNAL_H
#include "analyze/launch/waits.h"

/* Does a call wait? If a copy of it ended in it, or if work was pending, or for certain. */
enum gt_waits_how { GT_WAITS_NOT, GT_WAITS_SURE, GT_WAITS_IF_COPIED, GT_WAITS_IF_PENDING };
/* gt_moment.what: the mark in the upper bits, a type or flags below. The place is a track number.
 */
enum gt_waits_mark {
	GT_WAITS_CALL = 0,
	GT_WAITS_WORK = 1u << 29,
	GT_WAITS_COPIED = 2u << 29,
	GT_WAITS_TARGET = 3u << 29,
	GT_WAITS_MARKS = 7u << 29
};
/* gt_moment.addr of a call: its depth, flags, enum gt_waits_how and enum gt_wait_for */
#define GT_WAITS_DEPTH 0xffu
#define GT_WAITS_OPEN 0x100u
#define GT_WAITS_ASYNC 0x200u
#define GT_WAITS_HOW_SHIFT 12
#define GT_WAITS_WHAT_SHIFT 16
#define GT_WAITS_PAGEABLE 1u
#define GT_WAITS_UNJOINED INT64_MAX /* instead of the start of the launching call */

/* If driver calls were not recorded, runtime calls are used. */
bool gt_waits_uses_runtime_calls(const struct gt_segment *seg);
#endif
