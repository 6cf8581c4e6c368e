/* What people type behind a slash: a regular expression (POSIX, extended, case as typed), as far as it
 * is gone through in no time. */
#ifndef GT_EXPRESSION_H
#define GT_EXPRESSION_H
#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include "formats/base/err.h"

#define GT_EXPRESSION 200	/* bytes of one, with the NUL */
/* To be freed with regfree if 0; -EINVAL: why not in err. */
int gt_expression_compile(regex_t *re, const char *text, struct gt_err *err);
static inline bool gt_expression_is_in(const regex_t *re, const char *text) { return !regexec(re, text, 0, NULL, 0); }
#endif
