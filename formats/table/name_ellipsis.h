/* Names for columns too narrow for them: cut in the middle, and never so that two that differ look
 * equal. */
#ifndef GT_CLIP_H
#define GT_CLIP_H
#include <stddef.h>

#define GT_CLIP_MIN 8u

/* Of n texts (malloc'd; texts[0], texts[stride], ...) those wider than `width` columns (GT_CLIP_MIN
 * or more) are replaced by shorter ones, with ".." for what is gone. Equal texts stay equal and
 * different ones different; one of which that cannot be said in `width` stays as it is. 0 or
 * -ENOMEM; each text is valid either way. */
int gt_clip(char **texts, size_t stride, size_t n, size_t width);
#endif
