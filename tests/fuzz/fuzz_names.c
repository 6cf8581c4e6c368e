/* Arbitrary text as names of kernels, one per line: a name is demangled or stays unchanged, its
 * short form fits, and no two names have the same form. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "formats/names/demangle.h"
#include "formats/names/kernel_names.h"

#define NAMES 8

static void check_form(enum gt_name_form form, char *const *names, unsigned n)
{
	struct gt_kernel_names *k = gt_kernel_names_new(form);

	for (unsigned i = 0; k && i < n; i++) {
		const char *shown = gt_kernel_names_get(k, names[i]);

		for (unsigned j = 0; shown && j < i; j++) {
			const char *other = gt_kernel_names_get(k, names[j]);

			if (other && strcmp(names[i], names[j]) && !strcmp(shown, other))
				abort();
		}
	}
	gt_kernel_names_free(k);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *names[NAMES], form[GT_SHORT_MAX + 1];
	unsigned n = 0;

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	for (char *at = strtok(text, "\n"); at && n < NAMES; at = strtok(NULL, "\n"))
		names[n++] = at;
	for (unsigned i = 0; i < n; i++) {
		free(gt_demangle(names[i]));
		if (i % 2)
			gt_kernel_function(names[i], form);
		else
			gt_kernel_short(names[i], form);
		if (strnlen(form, sizeof(form)) > GT_SHORT_MAX)
			abort();
	}
	for (unsigned f = GT_NAME_SHORT; f <= GT_NAME_MANGLED; f++)
		check_form(f, names, n);
	free(text);
	return 0;
}
