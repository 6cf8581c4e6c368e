/* A function that the user names: LIB:GLOB of --probe, GLOB of --kprobe, either with (N), the
 * number of arguments to record. */
#ifndef GT_FUNCTION_SPEC_H
#define GT_FUNCTION_SPEC_H
#include <stdbool.h>
#include "formats/cmdline/opt.h"

#define GT_FUNCTION_ARGUMENTS 6 /* at most: those in registers */
struct gt_function_spec {
	char library[64]; /* "": the kernel */
	char glob[128];
	unsigned arguments;
};
/* option: "--probe" or "--kprobe". 0 or -EINVAL. */
int gt_function_spec_parse(struct gt_function_spec *s, const char *option, const char *text,
	bool has_library, struct gt_err *err);
/* All of an option. 0 or -EINVAL. */
int gt_function_specs_check(
	const struct gt_opt_list *list, const char *option, bool has_library, struct gt_err *err);
/* Is `file` (a path) the library or program? libcudart is libcudart.so.12, and libc is not
 * libcuda.so.1. */
bool gt_function_spec_is_file(const struct gt_function_spec *s, const char *file);
/* Has the glob a wildcard? */
bool gt_function_spec_is_pattern(const struct gt_function_spec *s);
#endif
