/* What regcomp takes is not all harmless: of repetitions within repetitions it makes so many copies that memory or its stack end, and what a
 * back reference (which POSIX does not have here, but GNU has) stands for is tried for longer than anybody lives. Keys would wait for both. */
#include "viewer/expression.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COPIES_MOST 10000u	/* of repetitions within each other; each one is taken to be within those before */

/* Of "3}", "3,}" or "3,5}". */
static unsigned long copies_of(const char *bounds)
{
	char *end;
	unsigned long n = strtoul(bounds, &end, 10), most = *end == ',' ? strtoul(end + 1, &end, 10) : n;

	most = most > n ? most : n;
	return !most ? 1 : most < COPIES_MOST ? most : COPIES_MOST + 1;
}

/* Why not, or NULL. */
static const char *is_too_much(const char *text)
{
	uint64_t copies = 1;

	if (strlen(text) >= GT_EXPRESSION)
		return "it is too long";
	for (const char *c = text; *c; c++) {
		if (*c == '\\' && c[1] >= '1' && c[1] <= '9')
			return "back references are not known here";
		if (*c == '\\' && c[1]) {
			c++;
			continue;
		}
		if (*c == '{')
			copies *= copies_of(c + 1);
		if (copies > COPIES_MOST)
			return "it repeats too much";
	}
	return NULL;
}

int gt_expression_init(struct gt_expression *e, const char *text, struct gt_err *err)
{
	const char *much = is_too_much(text);
	char why[120];
	int rc = much ? 0 : regcomp(&e->re, text, REG_EXTENDED | REG_NOSUB);

	if (much)
		return gt_err_set(err, -EINVAL, "not a regular expression: %s", much);
	snprintf(e->text, sizeof(e->text), "%s", text);
	if (!rc)
		return 0;
	regerror(rc, &e->re, why, sizeof(why));
	return gt_err_set(err, -EINVAL, "not a regular expression: %s", why);
}
