/* Names of return codes. */
#ifndef GT_RETURN_CODES_H
#define GT_RETURN_CODES_H
#include <stddef.h>
#include <stdint.h>

/* The name of a code other than 0 that a call of this layer (enum gt_layer) returned. Calls
 * return codes of CUDA. An ioctl returns the driver's own status if positive, and an errno if
 * negative. NULL: no name. buf holds the text of codes that no table lists. */
const char *gt_return_code_text(unsigned layer, int32_t code, char *buf, size_t size);
#endif
