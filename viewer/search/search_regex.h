/* What people type behind a slash: a regular expression (POSIX, extended, case as typed), as far as it
 * is gone through in no time. */
#ifndef GT_EXPRESSION_H
#define GT_EXPRESSION_H
#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include "formats/base/err.h"
#include "formats/text/utf8.h"

#define GT_EXPRESSION 200	/* bytes of one, with the NUL */
struct gt_expression { regex_t re; char text[GT_EXPRESSION]; };
/* To be released if 0; -EINVAL: why not in err. */
int gt_expression_init(struct gt_expression *e, const char *text, struct gt_err *err);
static inline void gt_expression_release(struct gt_expression *e) { regfree(&e->re); }
/* How much of one is told where there is little room, in bytes. */
static inline int gt_expression_brief(const char *text) { return (int)(gt_utf8_most(text, 40) - text); }
static inline bool gt_expression_is_in(const struct gt_expression *e, const char *text) { return !regexec(&e->re, text, 0, NULL, 0); }
#endif
