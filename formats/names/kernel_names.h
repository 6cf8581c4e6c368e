/* Names of kernels as reports and views show them; short forms fit into a column. */
#ifndef GT_KERNEL_NAMES_H
#define GT_KERNEL_NAMES_H
#include <stddef.h>

/* The short form of a mangled or C++ name (kernel_short.h), at most GT_SHORT_MAX bytes. Two names
 * may have the same short form: see below. */
#define GT_SHORT_MAX 60
void gt_kernel_short(const char *name, char out[GT_SHORT_MAX + 1]);
/* The name of its function alone. */
void gt_kernel_function(const char *name, char out[GT_SHORT_MAX + 1]);

/* Forms of names that differ for different names, so that two kernels are never confused. SHORT:
 * the first name gets the form above; a later one with the same form gets more of its template
 * arguments, then its namespaces. FULL: the demangled name. If two forms are still equal, the later
 * ones end in "#2", "#3" ... MANGLED: the recorded name. The same name always gets the same form.
 */
enum gt_name_form { GT_NAME_SHORT, GT_NAME_FULL, GT_NAME_MANGLED };
struct gt_kernel_names;
struct gt_kernel_names *gt_kernel_names_new(enum gt_name_form form);
/* The same, with the names of all kernels of a trace, in the order of their demangled names: so a
 * form means the same kernel in all reports, whatever part of the trace they show, in copies of the
 * trace, and in files of other tools, which have demangled names.
 * new; NULL: no memory. */
struct gt_reader;
struct gt_kernel_names *gt_kernel_names_of(struct gt_reader *r, enum gt_name_form form);
/* The form of this name (mangled or not), borrowed until gt_kernel_names_free. NULL: no memory. */
const char *gt_kernel_names_get(struct gt_kernel_names *k, const char *name);
/* The same; without memory, the name itself. */
static inline const char *gt_kernel_names_shown(struct gt_kernel_names *k, const char *name)
{
	const char *form = gt_kernel_names_get(k, name);

	return form ? form : name;
}
/* The names so far, in the order in which they were added: 0 .. count - 1. full: the name itself.
 */
size_t gt_kernel_names_count(const struct gt_kernel_names *k);
const char *gt_kernel_names_at(const struct gt_kernel_names *k, size_t i, const char **full);
void gt_kernel_names_free(struct gt_kernel_names *k); /* NULL is fine */
#endif
