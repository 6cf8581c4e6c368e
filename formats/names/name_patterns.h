/* The patterns of --match, --exclude and --without (formats/names/globs.h). A pattern matches
 * kernels by their recorded names and by their short forms, which several kernels may share. But a
 * name exactly as reports print it, short or demangled, matches only the kernel that is printed so:
 * a user who copies it from a table gets that kernel. */
#ifndef GT_NAME_PATTERNS_H
#define GT_NAME_PATTERNS_H
#include "formats/names/globs.h"

struct gt_name_patterns {
	struct gt_name_globs {
		const struct gt_opt_list *globs; /* borrowed */
		/* by glob: the recorded name of the kernel that is printed as the glob, or NULL */
		char **named;
	} match, exclude;
};
/* exclude: names to leave out although they match; NULL: none. 0 or -ENOMEM. Release it in both
 * cases. The lists and the reader must live longer. */
int gt_name_patterns_init(struct gt_name_patterns *m, const struct gt_opt_list *match,
	const struct gt_opt_list *exclude, struct gt_reader *r, struct gt_err *err);
/* Makes *m the name patterns of a filter, unless both lists are empty. */
void gt_name_patterns_set(struct gt_name_patterns *m, struct gt_filter *f);
/* gt_filter.match with a struct gt_name_patterns: does any glob of `match` match, or is that list
 * empty, and none of `exclude`? */
bool gt_name_patterns_match(const struct gt_segment *seg, const struct gt_type *type, void *m);
/* The next glob, from number *at on, that matches no name of the trace, or NULL. *at: 0 at first.
 */
const char *gt_name_globs_useless(const struct gt_name_globs *g, struct gt_reader *r, size_t *at);
void gt_name_patterns_release(struct gt_name_patterns *m);
#endif
