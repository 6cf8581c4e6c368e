/* What --match, --filter and --exclude take: shell patterns for names, and behind an @ for
 * categories: cuMem*, @copy, @mem*. */
#ifndef GT_GLOBS_H
#define GT_GLOBS_H
#include "formats/cmdline/opt.h"
#include "formats/trace/read/reader.h"

/* 0, or -EINVAL when one of option's globs is for categories and no category is called so: err
 * lists them. */
int gt_globs_check(const struct gt_opt_list *globs, const char *option, struct gt_err *err);
bool gt_glob_matches(const char *glob, const char *name, unsigned category);
/* gt_filter.match: does any of globs (a const struct gt_opt_list *) match? Kernels on the GPU match
 * by their short names, too. */
bool gt_globs_match(const struct gt_segment *seg, const struct gt_type *type, void *globs);
#endif
