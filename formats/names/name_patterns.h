/* The patterns of --match and --without (formats/names/globs.h). A pattern matches kernels by their
 * recorded names and by their short forms, which several kernels may share. But a name exactly as
 * reports print it, short or demangled, matches only the kernel that is printed so: a user who
 * copies it from a table gets that kernel. */
#ifndef GT_NAME_PATTERNS_H
#define GT_NAME_PATTERNS_H
#include "formats/names/globs.h"

struct gt_name_patterns {
	const struct gt_opt_list *globs; /* borrowed */
	/* by glob: the recorded name of the kernel that is printed as the glob, or NULL */
	char **named;
};
/* 0 or -ENOMEM. Release it in both cases. globs and the reader must live longer. */
int gt_name_patterns_init(struct gt_name_patterns *m, const struct gt_opt_list *globs,
	struct gt_reader *r, struct gt_err *err);
/* gt_filter.match with a struct gt_name_patterns: does any of the globs match? */
bool gt_name_patterns_match(const struct gt_segment *seg, const struct gt_type *type, void *m);
/* Does this one of the globs match? */
bool gt_name_pattern_matches(const struct gt_name_patterns *m, size_t glob,
	const struct gt_segment *seg, const struct gt_type *type);
void gt_name_patterns_release(struct gt_name_patterns *m);
#endif
