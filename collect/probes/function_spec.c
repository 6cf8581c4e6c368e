#include "collect/probes/function_spec.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The number in (N) at the end of the text, which is cut off there. -1: it is none. */
static int take_arguments(char *text)
{
	size_t n = strlen(text);
	unsigned value = 0;

	if (!strpbrk(text, "()"))
		return 0;
	if (n < 4 || text[n - 1] != ')' || text[n - 3] != '(' ||
		sscanf(text + n - 2, "%u", &value) != 1 || value > GT_FUNCTION_ARGUMENTS)
		return -1;
	text[n - 3] = 0;
	return (int)value;
}

int gt_function_spec_parse(struct gt_function_spec *s, const char *option, const char *text,
	bool has_library, struct gt_err *err)
{
	const char *colon = has_library ? strrchr(text, ':') : NULL;
	const char *glob = colon ? colon + 1 : text;
	size_t library = colon ? (size_t)(colon - text) : 0;
	int arguments;

	*s = (struct gt_function_spec){ .arguments = 0 };
	if ((has_library && !library) || !*glob || library >= sizeof(s->library) ||
		strlen(glob) >= sizeof(s->glob))
		return gt_err_set(err, -EINVAL, "%s '%.100s': it must be %s", option, text,
			has_library ? "LIB:GLOB, as libcudart:cudaLaunch*" : "GLOB, as vfs_re*");
	memcpy(s->library, text, library);
	strcpy(s->glob, glob);
	arguments = take_arguments(s->glob);
	if (arguments < 0)
		return gt_err_set(err, -EINVAL,
			"%s '%.100s': the number of arguments in parentheses must lie between 0 and %d",
			option, text, GT_FUNCTION_ARGUMENTS);
	s->arguments = (unsigned)arguments;
	return 0;
}

int gt_function_specs_check(
	const struct gt_opt_list *list, const char *option, bool has_library, struct gt_err *err)
{
	struct gt_function_spec ignored;
	int rc = 0;

	for (size_t i = 0; !rc && i < list->n; i++)
		rc = gt_function_spec_parse(&ignored, option, list->items[i], has_library, err);
	return rc;
}

bool gt_function_spec_is_file(const struct gt_function_spec *s, const char *file)
{
	const char *base = strrchr(file, '/');
	size_t n = strlen(s->library);

	base = base ? base + 1 : file;
	return !strncmp(base, s->library, n) && (!base[n] || strchr(".- ", base[n]));
}

bool gt_function_spec_is_pattern(const struct gt_function_spec *s)
{
	return strpbrk(s->glob, "*?[");
}
