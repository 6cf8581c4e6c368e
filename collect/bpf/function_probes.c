#define _GNU_SOURCE
#include "collect/bpf/function_probes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "collect/bpf/bpf_internal.h"
#include "collect/bpf/mapped_library.h"
#include "formats/cmdline/did_you_mean.h"
#include "formats/trace/record.h"

_Static_assert(GT_FUNCTION_ARGUMENTS == GT_BPF_ARGUMENTS, "arguments of functions");
#define FILES 8u /* of one name in one process */

struct named_function {
	struct gt_function_spec spec;
	bool has_file, has_function; /* in any process */
	char nearest[64];            /* the function with the most similar name; "" */
};
struct attached_file {
	dev_t device;
	ino_t inode;
	pid_t pid; /* 0: of all processes */
	size_t function;
	struct gt_probe_link link;
};
struct gt_function_probes {
	struct gt_bpf_way *way;
	struct named_function *functions;
	size_t n;
	struct attached_file *attached;
	size_t nattached, attached_cap;
};

struct gt_function_probes *gt_function_probes_open(struct gt_bpf_way *b, struct gt_err *err)
{
	const struct gt_opt_list *list = b->opt.probes;
	struct gt_function_probes *f = calloc(1, sizeof(*f));

	if (f)
		f->functions = calloc(list->n + 1, sizeof(*f->functions));
	if (!f || !f->functions) {
		free(f);
		gt_err_set(err, -ENOMEM, "out of memory (probes)");
		return NULL;
	}
	f->way = b;
	for (; f->n < list->n; f->n++)
		if (gt_function_spec_parse(
			    &f->functions[f->n].spec, "--probe", list->items[f->n], true, err)) {
			gt_function_probes_close(f);
			return NULL;
		}
	return f;
}

void gt_function_probes_detach(struct gt_function_probes *f)
{
	for (size_t i = 0; f && i < f->nattached; i++)
		gt_probe_link_close(&f->attached[i].link);
	if (f)
		f->nattached = 0;
}

void gt_function_probes_close(struct gt_function_probes *f)
{
	gt_function_probes_detach(f);
	if (f) {
		free(f->attached);
		free(f->functions);
	}
	free(f);
}

/* ---- one file ---- */

/* Numbers the functions, and notes where they are. */
static int select_places(struct gt_function_probes *f, struct named_function *one,
	const struct gt_library_functions *all, struct gt_probe_places *places, struct gt_err *err)
{
	bool is_pattern = gt_function_spec_is_pattern(&one->spec);

	for (size_t i = 0; i < all->n; i++) {
		uint32_t probe;

		if (all->list[i].slow && is_pattern && !f->way->opt.slow_probes) {
			f->way->totals.slow++;
			continue;
		}
		probe = gt_bpf_probe_add(f->way, one->spec.library, all->list[i].name);
		if (probe == GT_NONE ||
			gt_probe_places_add(places, all->list[i].offset,
				GT_BPF_FUNCTION(probe, one->spec.arguments, false)))
			return gt_err_set(err, -ENOMEM, "out of memory (probes)");
	}
	return 0;
}

static int link_file(struct gt_function_probes *f, size_t function,
	const struct gt_mapped_library *l, pid_t pid, const struct gt_probe_places *places,
	struct gt_err *err)
{
	struct attached_file *a;
	int rc;

	if (gt_grow(&f->attached, &f->attached_cap, f->nattached + 1, sizeof(*a)))
		return gt_err_set(err, -ENOMEM, "out of memory (probes)");
	a = &f->attached[f->nattached];
	*a = (struct attached_file){
		.device = l->device, .inode = l->inode, .pid = pid, .function = function
	};
	rc = gt_probe_link_open(&a->link, &f->way->function_programs, l->path, pid, places);
	if (rc)
		return gt_err_set(err, rc, "%s: cannot set probes: %s", l->name, strerror(-rc));
	f->nattached++;
	f->way->totals.libraries++;
	f->way->totals.functions += places->n;
	return 0;
}

/* The file has no such function: which one has a similar name? */
static void find_nearest(struct named_function *one, const struct gt_mapped_library *l)
{
	struct gt_nearest nearest = GT_NEAREST(one->spec.glob);
	struct gt_library_functions all;
	struct gt_err ignored = GT_ERR_INIT;

	gt_library_functions_read(&all, l, "*", true, &ignored);
	for (size_t i = 0; i < all.n; i++)
		gt_nearest_try(&nearest, all.list[i].name);
	if (nearest.best)
		strncat(one->nearest, nearest.best, sizeof(one->nearest) - 1);
	gt_library_functions_release(&all);
}

static bool has_probes(const struct gt_function_probes *f, size_t function,
	const struct gt_mapped_library *l, pid_t pid)
{
	for (size_t i = 0; i < f->nattached; i++) {
		const struct attached_file *a = &f->attached[i];

		if (a->function == function && a->device == l->device && a->inode == l->inode &&
			(!a->pid || a->pid == pid))
			return true;
	}
	return false;
}

static int attach_file(struct gt_function_probes *f, size_t function,
	const struct gt_mapped_library *l, pid_t pid, struct gt_err *err)
{
	struct named_function *one = &f->functions[function];
	struct gt_probe_places places = { NULL };
	struct gt_library_functions all;
	int rc;

	one->has_file = true;
	if (has_probes(f, function, l, pid))
		return 0;
	rc = gt_library_functions_read(&all, l, one->spec.glob, true, err);
	if (!rc && !all.n && !one->has_function && !*one->nearest)
		find_nearest(one, l);
	one->has_function |= all.n > 0;
	if (!rc)
		rc = select_places(f, one, &all, &places, err);
	if (!rc && places.n)
		rc = link_file(f, function, l, f->way->opt.all_processes ? 0 : pid, &places, err);
	gt_library_functions_release(&all);
	gt_probe_places_release(&places);
	return rc;
}

/* ---- all ---- */

int gt_function_probes_attach(struct gt_function_probes *f, pid_t pid, struct gt_err *err)
{
	struct gt_mapped_library list[FILES];
	int rc = 0;

	for (size_t i = 0; !rc && i < f->n; i++) {
		const struct gt_function_spec *s = &f->functions[i].spec;
		int n = gt_mapped_libraries(pid, s->library, list, FILES, err);

		if (n < 0)
			return n;
		for (int k = 0; !rc && k < n && k < (int)FILES; k++)
			if (gt_function_spec_is_file(s, list[k].name))
				rc = attach_file(f, i, &list[k], pid, err);
	}
	return rc;
}

int gt_function_probes_check(const struct gt_function_probes *f, struct gt_err *err)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct named_function *one = &f->functions[i];
		const struct gt_function_spec *s = &one->spec;

		if (!one->has_file)
			return gt_err_set(err, -ENOENT,
				"--probe '%s:%s': no process that is recorded has the library or program %s mapped",
				s->library, s->glob, s->library);
		if (!one->has_function)
			return gt_err_set(err, -ENOENT,
				"--probe '%s:%s': %s has no such function%s%s", s->library, s->glob,
				s->library, *one->nearest ? "; similar is " : "", one->nearest);
	}
	return 0;
}
