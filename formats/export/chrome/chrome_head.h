/* What Kineto writes around its events: properties of the GPUs, rank, version of CUDA. */
#ifndef GT_CHROME_HEAD_H
#define GT_CHROME_HEAD_H
#include <jansson.h>

/* Adds the keys to head. meta: of a recording, NULL: unknown; of a file of Kineto it has the file's
 * own keys. */
void gt_chrome_add_head(json_t *head, json_t *meta);
#endif
