/* C++ names as people write them, and short forms of kernel names that fit a column. */
#ifndef GT_DEMANGLE_H
#define GT_DEMANGLE_H
#include <stddef.h>

/* The name in C++ spelling: new, free() it. NULL when it is not a mangled name, or one that is too
 * long or too convoluted to be worth it, or memory is out: then the name as it stands is the best
 * there is. */
char *gt_demangle(const char *name);

/* Function and first template argument of a mangled or C++ name, without namespaces, at most
 * GT_SHORT_MAX bytes. `nargs` says how many template arguments to keep (1 is the usual). Two names
 * may share a short form: see below. */
#define GT_SHORT_MAX 60
void gt_kernel_short(const char *name, unsigned nargs, char out[GT_SHORT_MAX + 1]);

/* Forms that differ for different names, so that nobody adds up or mixes up two kernels that only
 * look alike. SHORT: the first name gets the form above; a later one that would look the same gets
 * more of its template arguments, then its namespaces. FULL: C++ spelling. Where that does not help
 * they end in "#2", "#3" ... MANGLED: as it is. The same name always gets the same form. */
enum gt_name_form { GT_NAME_SHORT, GT_NAME_FULL, GT_NAME_MANGLED };
struct gt_kernel_names;
struct gt_kernel_names *gt_kernel_names_new(enum gt_name_form form);
/* All kernels of a trace have their names, whatever is shown of them: a name means the same kernel
 * wherever it is shown, and in copies of the trace. Where two would look the same, the one whose
 * full name is first by its bytes gets the plainer form. new; NULL: no memory. */
struct gt_reader;
struct gt_kernel_names *gt_kernel_names_of(struct gt_reader *r, enum gt_name_form form);
/* The form of this name (mangled or not), borrowed until gt_kernel_names_free; NULL when memory is
 * out. */
const char *gt_kernel_names_get(struct gt_kernel_names *k, const char *name);
/* The same; where memory is out, the name as it is. */
static inline const char *gt_kernel_names_shown(struct gt_kernel_names *k, const char *name)
{
	const char *form = gt_kernel_names_get(k, name);

	return form ? form : name;
}
/* All so far, in the order they came: 0 .. count - 1. full is as it was handed in. */
size_t gt_kernel_names_count(const struct gt_kernel_names *k);
const char *gt_kernel_names_at(const struct gt_kernel_names *k, size_t i, const char **full);
void gt_kernel_names_free(struct gt_kernel_names *k); /* NULL is fine */
#endif
