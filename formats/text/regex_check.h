/* A check of regular expressions (POSIX extended) that users type, before regcomp gets them. */
#ifndef GT_REGEX_CHECK_H
#define GT_REGEX_CHECK_H
/* NULL: the expression is safe to compile. Else the reason against it, as the end of a message. */
const char *gt_regex_refusal(const char *text);
#endif
