/* What return codes are called. */
#ifndef GT_RETURN_CODES_H
#define GT_RETURN_CODES_H
#include <stddef.h>
#include <stdint.h>

/* The name of a code that is not 0, as a call of this layer (enum gt_layer) returns it: CUDA's; of an ioctl, whose code is the driver's
 * own status when positive and an errno when negative, the driver's or the system's. NULL: it has none. buf holds what is not in a
 * table. */
const char *gt_return_code_text(unsigned layer, int32_t code, char *buf, size_t size);
#endif
