#include "collect/probes/kernel_functions.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/base/sorted.h"
#include "formats/cmdline/did_you_mean.h"

#define NAME 128 /* bytes; the kernel's longest names are shorter, but for those of Rust */

/* The name in a line; NULL: it is no function. */
static const char *name_of(const char *line, char name[NAME])
{
	char type = 't';

	if (sscanf(line, "%*[0-9a-f] %c %127s", &type, name) != 2 ||
		strspn(line, "0123456789abcdef") < 8)
		if (type = 't', sscanf(line, "%127s", name) != 1)
			return NULL;
	return strchr("tTwW", type) ? name : NULL;
}

/* Pieces that the compiler or the kernel adds to functions: probes there make no sense. */
static bool is_piece(const char *name)
{
	return strstr(name, ".cold") || !strncmp(name, "__pfx_", 6) ||
		!strncmp(name, "__cfi_", 6) || !strncmp(name, "__SCT__", 7) ||
		!strncmp(name, "__bpf_prog_", 11);
}

static bool is_selected(const struct gt_kernel_selection *which, const char *name)
{
	if (fnmatch(which->glob, name, 0) || is_piece(name))
		return false;
	for (const char *const *w = which->without; w && *w; w++)
		if (!fnmatch(*w, name, 0))
			return false;
	return true;
}

static int add(struct gt_kernel_functions *f, const char *name)
{
	char *copy = strdup(name);

	if (!copy || gt_grow(&f->names, &f->cap, f->n + 1, sizeof(*f->names))) {
		free(copy);
		return -ENOMEM;
	}
	f->names[f->n++] = copy;
	return 0;
}

static int by_name(const void *pa, const void *pb)
{
	return strcmp(*(char *const *)pa, *(char *const *)pb);
}

/* Static functions of several files may share a name. */
static void remove_duplicates(struct gt_kernel_functions *f)
{
	size_t n = 0;

	GT_SORT(f->names, f->n, by_name);
	for (size_t i = 0; i < f->n; i++)
		if (n && !strcmp(f->names[n - 1], f->names[i]))
			free(f->names[i]);
		else
			f->names[n++] = f->names[i];
	f->n = n;
}

int gt_kernel_functions_read(struct gt_kernel_functions *f, FILE *list,
	const struct gt_kernel_selection *which, struct gt_err *err)
{
	struct gt_nearest nearest = GT_NEAREST(which->glob);
	char *line = NULL, text[NAME];
	size_t size = 0;
	int rc = 0;

	while (!rc && getline(&line, &size, list) > 0) {
		const char *name = name_of(line, text);

		if (!name)
			continue;
		if (is_selected(which, name)) {
			rc = add(f, name);
			continue;
		}
		gt_nearest_try(&nearest, name);
		if (nearest.best == name) { /* it is borrowed, and the next line overwrites it */
			snprintf(f->nearest, sizeof(f->nearest), "%.63s", name);
			nearest.best = f->nearest;
		}
	}
	free(line);
	if (rc)
		return gt_err_set(err, rc, "out of memory (functions of the kernel)");
	remove_duplicates(f);
	f->matching = f->n;
	while (f->n > which->limit)
		free(f->names[--f->n]);
	return 0;
}

void gt_kernel_functions_release(struct gt_kernel_functions *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->names[i]);
	free(f->names);
	*f = (struct gt_kernel_functions){ NULL };
}
