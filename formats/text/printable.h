/* Text from outside (names in traces, file names, arguments, thread names, error texts that quote
 * input) for a terminal: characters that a terminal obeys, that turn or hide what follows, and
 * bytes that are no UTF-8 become '?'. All four programs print by these functions, so a name can
 * neither send an escape sequence nor forge a line. */
#ifndef GT_PRINTABLE_H
#define GT_PRINTABLE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The character at s, which is not at its end: returns its bytes. *shown: a terminal may get it as
 * it is; else '?'. */
size_t gt_printable_char(const char *s, bool *shown);
/* Copies what fits of *s, which moves on, made printable: never more bytes than there were. Returns
 * the end of the copy. room: of `to`, 4 bytes at least. */
char *gt_printable_put(char *to, size_t room, const char **s);
/* The text, printable, behind `indent` spaces: new. NULL: no memory. */
char *gt_printable(const char *s, unsigned indent);
/* The whole text to a stream. */
void gt_printable_write(FILE *to, const char *s);

/* Prints one line "TOOL: text\n", the text made printable as a whole: the messages of all programs.
 */
void gt_message(FILE *to, const char *tool, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
#endif
