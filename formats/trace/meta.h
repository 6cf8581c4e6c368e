/* A segment's metadata as text: keys and values; the key of a nested value is "gpus.0.model". */
#ifndef GT_META_H
#define GT_META_H
#include "formats/trace/segment.h"

/* Calls fn for each value in the order of the file. A string is passed unchanged, an
 * array of strings joined by blanks, any other value as JSON. Key and value are
 * borrowed for the call. 0, -ENOMEM, or the first non-zero result of fn. */
typedef int gt_meta_fn(void *arg, const char *key, const char *value);
int gt_meta_each(const struct gt_segment *seg, gt_meta_fn *fn, void *arg);
/* The same; json: the value as JSON, in ASCII. */
typedef int gt_meta_typed_fn(void *arg, const char *key, const char *value, const char *json);
int gt_meta_each_typed(const struct gt_segment *seg, gt_meta_typed_fn *fn, void *arg);
#endif
