/* A search by name: a regular expression (POSIX, extended, case as typed) over what rows are called, as recorded or as shown, and how many
 * rows there are of these names, which is counted a portion at a time. */
#ifndef GT_FINDS_H
#define GT_FINDS_H
#include "viewer/model/archive.h"
#include "viewer/model/display_name.h"

struct gt_finds;
/* new: free it. NULL: why not in err (-EINVAL: the expression). Archive and spelling are borrowed. */
struct gt_finds *gt_finds_new(struct gt_archive *a, struct gt_spell *spell, const char *expression, struct gt_err *err);
void gt_finds_free(struct gt_finds *f);			/* NULL is fine */
const char *gt_finds_expression(const struct gt_finds *f);
bool gt_finds_has(const struct gt_finds *f, uint32_t segment, uint32_t type);	/* is that a name that is looked for? */
bool gt_finds_any(const struct gt_finds *f);		/* are there any such names? */
int gt_finds_step(struct gt_finds *f, uint64_t us, struct gt_err *err);		/* 1: there is more to do, 0, negative */
uint64_t gt_finds_count(const struct gt_finds *f, bool *complete);		/* rows, of calls, spans and work of GPUs */
bool gt_finds_wants(const struct gt_segment *seg, const struct gt_type *type, void *finds);	/* for hunts */
#endif
