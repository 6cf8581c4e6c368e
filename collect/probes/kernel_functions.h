/* Functions of the kernel by their names: from /proc/kallsyms, or, where tracefs can be read, from
 * its list of functions that can have probes. */
#ifndef GT_KERNEL_FUNCTIONS_H
#define GT_KERNEL_FUNCTIONS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include "formats/base/err.h"

struct gt_kernel_functions {
	char **names; /* each once, sorted */
	size_t n, cap;
	size_t matching;  /* also those beyond the limit */
	char nearest[64]; /* if no name matches: the most similar one; "" */
};
/* Which names are taken: those that `glob` matches, and no glob of `without` (ends with NULL). */
struct gt_kernel_selection {
	const char *glob;
	const char *const *without; /* NULL: none */
	size_t limit;
};
/* Adds the functions of a list, of which a line is "name [module]", or "address type name [module]"
 * as in kallsyms. Release *f in any case. 0 or -ENOMEM. */
int gt_kernel_functions_read(struct gt_kernel_functions *f, FILE *list,
	const struct gt_kernel_selection *which, struct gt_err *err);
void gt_kernel_functions_release(struct gt_kernel_functions *f);
#endif
