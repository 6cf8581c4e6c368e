/* The arguments of --match, --filter and --exclude: shell patterns of names (cuMem*), or after an @
 * of categories (@copy, @mem*). A function's name matches with and without its version: cuMemAlloc
 * matches cuMemAlloc_v2. */
#ifndef GT_GLOBS_H
#define GT_GLOBS_H
#include "formats/cmdline/opt.h"
#include "formats/trace/read/reader.h"

/* 0, or -EINVAL if a glob of `option` matches no category: err lists the categories. */
int gt_globs_check(const struct gt_opt_list *globs, const char *option, struct gt_err *err);
/* Does it match a function, or its name without the version? */
bool gt_glob_matches_call(const char *glob, const char *name, unsigned category);
/* gt_filter.match: does any of globs (a const struct gt_opt_list *) match? GPU kernels also match
 * by their short names. */
bool gt_globs_match(const struct gt_segment *seg, const struct gt_type *type, void *globs);
#endif
