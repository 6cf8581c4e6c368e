/* A segment's metadata, for people: keys and values as text, what is nested as "gpus.0.model". */
#ifndef GT_META_H
#define GT_META_H
#include "formats/trace/segment.h"

/* Calls fn for each value in the order of the file. A string comes as it stands, an array of
 * strings joined by blanks, everything else as JSON; both borrowed for the call. 0, -ENOMEM, or the
 * first non-zero that fn returned. */
typedef int gt_meta_fn(void *arg, const char *key, const char *value);
int gt_meta_each(const struct gt_segment *seg, gt_meta_fn *fn, void *arg);
#endif
