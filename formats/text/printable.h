/* Untrusted text (names in traces, file names, arguments, thread names, error texts that quote
 * input) made safe for a terminal: control characters, characters that change the writing direction
 * or hide text, and bytes that are not UTF-8 become '?'. All four programs print with these
 * functions, so a name can neither send an escape sequence nor forge a line. */
#ifndef GT_PRINTABLE_H
#define GT_PRINTABLE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Returns the length in bytes of the character at s, where the string has not ended. *shown: it may
 * be printed as it is; else print '?'. */
size_t gt_printable_char(const char *s, bool *shown);
/* Copies as much of *s as fits, made printable, and advances *s. The copy is never longer than the
 * original. Returns the end of the copy. size: of `to`, at least 4 bytes. */
char *gt_printable_put(char *to, size_t size, const char **s);
/* new: the printable text after `indent` spaces. NULL: no memory. */
char *gt_printable(const char *s, unsigned indent);
/* Prints the text, made printable. */
void gt_printable_write(FILE *to, const char *s);

/* Prints a message of a program: one line "TOOL: text\n", made printable as a whole. */
void gt_message(FILE *to, const char *tool, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
#endif
