/* Memory that may still be reserved under the limits of the machine and of gtcollect's cgroups. It
 * is checked before the rings are reserved: a cgroup that exceeds its limit would kill the traced
 * program. */
#ifndef GT_MEMORY_HEADROOM_H
#define GT_MEMORY_HEADROOM_H
#include <stddef.h>
#include <stdint.h>

/* Bytes that may still be reserved; UINT64_MAX: there is no limit. `what` (size bytes) names the
 * tightest limit. */
uint64_t gt_memory_headroom(char *what, size_t size);
#endif
