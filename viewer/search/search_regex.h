/* The expression of a name search: a regular expression (POSIX extended, case-sensitive).
 * Expressions that take too long to match are refused. */
#ifndef GT_SEARCH_REGEX_H
#define GT_SEARCH_REGEX_H
#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include "formats/base/err.h"
#include "formats/text/utf8.h"

#define GT_SEARCH_REGEX_SIZE 200 /* bytes of an expression with its NUL */
struct gt_search_regex {
	regex_t re;
	char text[GT_SEARCH_REGEX_SIZE];
};
/* 0: release it later; -EINVAL: err has the reason. */
int gt_search_regex_init(struct gt_search_regex *e, const char *text, struct gt_err *err);
static inline void gt_search_regex_release(struct gt_search_regex *e) { regfree(&e->re); }
/* Number of bytes to show where space is limited. */
static inline int gt_search_regex_brief(const char *text)
{
	return (int)(gt_utf8_most(text, 40) - text);
}
static inline bool gt_search_regex_matches(const struct gt_search_regex *e, const char *text)
{
	return !regexec(&e->re, text, 0, NULL, 0);
}
#endif
