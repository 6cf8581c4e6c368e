#include "formats/names/system_call_names.h"

#include <stddef.h>
#include <string.h>

#define NUMBERS 1024 /* all are below */

static const char *const of_x86_64[NUMBERS] = {
#include "system_call_names_x86_64.h"
};
static const char *const of_aarch64[NUMBERS] = {
#include "system_call_names_aarch64.h"
};
static const struct {
	const char *name;
	const char *const *calls;
} architectures[] = { { "x86_64", of_x86_64 }, { "aarch64", of_aarch64 } };

const char *gt_system_call_name(const char *architecture, int64_t number)
{
	for (size_t i = 0; i < sizeof(architectures) / sizeof(*architectures); i++)
		if (!strcmp(architectures[i].name, architecture))
			return number >= 0 && number < NUMBERS ? architectures[i].calls[number]
							       : NULL;
	return NULL;
}
