/* Shortens names for narrow columns: cuts them in the middle, so that different names stay
 * different.
 */
#ifndef GT_NAME_ELLIPSIS_H
#define GT_NAME_ELLIPSIS_H
#include <stddef.h>

#define GT_CLIP_MIN 8u

/* Replaces those of n texts (malloc'd) that are wider than `width` columns (GT_CLIP_MIN or more) by
 * shorter ones, with ".." for the removed part. Equal texts stay equal, and different ones
 * different. A text without a unique short form in `width` columns does not change. 0 or -ENOMEM;
 * each text is valid in both cases. */
int gt_clip(char **texts, size_t n, size_t width);
#endif
