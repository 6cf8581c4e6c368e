/* What --match and --without name. A pattern finds all that it matches (formats/names/globs.h):
 * kernels by their recorded names and by their short forms, which several may share. But a name as
 * reports print it, in the short form or in C++ spelling, means the kernel that goes by it and no
 * other: whoever copies it from a table gets what stands there. */
#ifndef GT_MATCHED_H
#define GT_MATCHED_H
#include "formats/names/globs.h"

struct gt_matched {
	const struct gt_opt_list *globs; /* borrowed */
	/* by glob: the recorded name of the kernel that is printed so, or NULL */
	char **named;
};
/* 0 or -ENOMEM. To be released in both cases; globs and the reader live longer. */
int gt_matched_init(struct gt_matched *m, const struct gt_opt_list *globs, struct gt_reader *r,
	struct gt_err *err);
/* gt_filter.match, of a struct gt_matched: does any of the globs match? And one of them. */
bool gt_matched(const struct gt_segment *seg, const struct gt_type *type, void *m);
bool gt_matched_by(const struct gt_matched *m, size_t glob, const struct gt_segment *seg,
	const struct gt_type *type);
void gt_matched_release(struct gt_matched *m);
#endif
