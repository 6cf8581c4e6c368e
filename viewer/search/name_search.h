/* Name search: matches a regular expression (POSIX extended, case-sensitive) with the names of
 * rows, as recorded and as shown. It also counts the matching rows, in steps. */
#ifndef GT_NAME_SEARCH_H
#define GT_NAME_SEARCH_H
#include "viewer/model/archive.h"
#include "viewer/model/display_name.h"

struct gt_name_search;
/* new: free it. NULL: err has the reason (-EINVAL: the expression). Archive and names are
 * borrowed. */
struct gt_name_search *gt_name_search_new(struct gt_archive *a, struct gt_display_name *spell,
	const char *expression, struct gt_err *err);
void gt_name_search_free(struct gt_name_search *f); /* NULL is fine */
const char *gt_name_search_regex(const struct gt_name_search *f);
/* does this type's name match? */
bool gt_name_search_matches(const struct gt_name_search *f, uint32_t segment, uint32_t type);
bool gt_name_search_has_names(const struct gt_name_search *f); /* does any name match? */
/* 1: there is more to do, 0, negative */
int gt_name_search_step(struct gt_name_search *f, uint64_t us, struct gt_err *err);
/* counts rows of calls, spans and GPU work */
uint64_t gt_name_search_count(const struct gt_name_search *f, bool *complete);
/* for event searches */
bool gt_name_search_matches_type(
	const struct gt_segment *seg, const struct gt_type *type, void *search);
#endif
