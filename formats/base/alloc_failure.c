#include "formats/base/alloc_failure.h"

static bool failed;

bool gt_alloc_failed(void) { return __atomic_load_n(&failed, __ATOMIC_RELAXED); }
void gt_alloc_failure_set(void) { __atomic_store_n(&failed, true, __ATOMIC_RELAXED); }
void gt_alloc_failure_clear(void) { __atomic_store_n(&failed, false, __ATOMIC_RELAXED); }
