/* Real driver functions behind the wrappers; dlsym and cuGetProcAddress, which return wrappers. */
#ifndef GT_GUEST_RESOLVE_H
#define GT_GUEST_RESOLVE_H
#include "collect/guest/core/guest_common.h"
#include "formats/cuda/cuda_api.h"

#define GT_NO_DRIVER 302          /* CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND */
extern void *gt_real[GT_API_MAX]; /* the real function by id; NULL: not resolved yet */
extern void *const gt_wrapper[];  /* generated: the wrappers by id */
/* rises when functions of another driver, at other addresses, were found */
extern uint32_t gt_driver_generation;

/* for a wrapper whose gt_real is NULL; NULL: there is no driver */
void *gt_resolve_function(uint32_t id);
/* finds the real dlsym; called when the guest library is loaded */
void gt_dlsym_find_function(void);
#endif
