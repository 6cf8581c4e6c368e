/* What people type behind a slash: a regular expression (POSIX, extended, case as typed), as far as it
 * is gone through in no time. */
#ifndef GT_SEARCH_REGEX_H
#define GT_SEARCH_REGEX_H
#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include "formats/base/err.h"
#include "formats/text/utf8.h"

#define GT_SEARCH_REGEX_SIZE 200	/* bytes of one, with the NUL */
struct gt_search_regex { regex_t re; char text[GT_SEARCH_REGEX_SIZE]; };
/* To be released if 0; -EINVAL: why not in err. */
int gt_search_regex_init(struct gt_search_regex *e, const char *text, struct gt_err *err);
static inline void gt_search_regex_release(struct gt_search_regex *e) { regfree(&e->re); }
/* How much of one is told where there is little room, in bytes. */
static inline int gt_search_regex_brief(const char *text) { return (int)(gt_utf8_most(text, 40) - text); }
static inline bool gt_search_regex_matches(const struct gt_search_regex *e, const char *text) { return !regexec(&e->re, text, 0, NULL, 0); }
#endif
