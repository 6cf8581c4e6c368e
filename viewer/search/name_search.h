/* A search by name: a regular expression (POSIX, extended, case as typed) over what rows are called, as recorded or as shown, and how many
 * rows there are of these names, which is counted a portion at a time. */
#ifndef GT_NAME_SEARCH_H
#define GT_NAME_SEARCH_H
#include "viewer/model/archive.h"
#include "viewer/model/display_name.h"

struct gt_name_search;
/* new: free it. NULL: why not in err (-EINVAL: the expression). Archive and spelling are borrowed. */
struct gt_name_search *gt_name_search_new(struct gt_archive *a, struct gt_display_name *spell, const char *expression, struct gt_err *err);
void gt_name_search_free(struct gt_name_search *f);			/* NULL is fine */
const char *gt_name_search_regex(const struct gt_name_search *f);
bool gt_name_search_matches(const struct gt_name_search *f, uint32_t segment, uint32_t type);	/* is that a name that is looked for? */
bool gt_name_search_has_names(const struct gt_name_search *f);		/* are there any such names? */
int gt_name_search_step(struct gt_name_search *f, uint64_t us, struct gt_err *err);		/* 1: there is more to do, 0, negative */
uint64_t gt_name_search_count(const struct gt_name_search *f, bool *complete);		/* rows, of calls, spans and work of GPUs */
bool gt_name_search_matches_type(const struct gt_segment *seg, const struct gt_type *type, void *finds);	/* for hunts */
#endif
