/* glibc's regcomp copies the repeated part of an expression. Nested repetitions multiply the
 * copies, until memory or the stack is exhausted: "((a{255}){255}){255}", and "a++++", where each
 * further + doubles them. To match a back reference, a GNU extension, may take hours. */
#include "formats/text/regex_check.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* each repetition is counted as if it were nested in all those before it */
#define COPIES_MAX 1000u

/* Copies that the bounds after a brace ask for: "3}", "3,}" or "3,5}". */
static unsigned long copies_of(const char *bounds)
{
	char *end;
	unsigned long n = strtoul(bounds, &end, 10),
		      most = *end == ',' ? strtoul(end + 1, &end, 10) : n;

	most = most > n ? most : n;
	return !most ? 1 : most < COPIES_MAX ? most : COPIES_MAX + 1;
}

/* Does the + at c follow a group or another repetition? */
static bool doubles(const char *c, const char *text) { return c > text && strchr(")+*?}", c[-1]); }

const char *gt_regex_refusal(const char *text)
{
	unsigned long copies = 1;

	for (const char *c = text; *c; c++) {
		if (*c == '\\' && c[1] >= '1' && c[1] <= '9')
			return "back references are not known here";
		if (*c == '\\' && c[1]) {
			c++;
			continue;
		}
		if (*c == '{')
			copies *= copies_of(c + 1);
		else if (*c == '+' && doubles(c, text))
			copies *= 2;
		if (copies > COPIES_MAX)
			return "it repeats too much";
	}
	return NULL;
}
