/* How often the recorder makes its rounds. */
#ifndef GT_PACE_H
#define GT_PACE_H
#include <stdint.h>

/* ns between passes: shorter ones would only make the clock's pieces short */
#define GT_POLL_MIN 500000LL
#define GT_POLL_MAX 10000000LL

/* ns from the start of the last pass to that of the next. The last pass took `taken` bytes,
 * `since` ns after the one before; `room` is the free bytes of the rings (gt_rings_free_bytes). */
int64_t gt_poll_interval(uint64_t room, int64_t taken, int64_t since);
#endif
