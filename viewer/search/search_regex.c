#include "viewer/search/search_regex.h"

#include <stdio.h>
#include <string.h>
#include "formats/text/regex_check.h"

int gt_search_regex_init(struct gt_search_regex *e, const char *text, struct gt_err *err)
{
	const char *much =
		strlen(text) >= GT_SEARCH_REGEX_SIZE ? "it is too long" : gt_regex_refusal(text);
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
