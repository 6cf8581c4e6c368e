/* Regular expressions that users type (POSIX extended) are checked before regcomp has them. */
#ifndef GT_REGEX_CHECK_H
#define GT_REGEX_CHECK_H
/* Why the expression is not compiled, as the end of a message; NULL: it may be. */
const char *gt_regex_refusal(const char *text);
#endif
