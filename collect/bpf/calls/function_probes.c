#define _GNU_SOURCE
#include "collect/bpf/calls/function_probes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "collect/bpf/bpf_state.h"
#include "collect/bpf/records/bpf_records.h"
#include "collect/bpf/calls/driver_probes.h"
#include "collect/bpf/links/mapped_library.h"
#include "collect/ipc/process_maps.h"
#include "formats/cmdline/did_you_mean.h"
#include "formats/trace/record.h"

_Static_assert(GT_FUNCTION_ARGUMENTS == GT_BPF_ARGUMENTS, "arguments of functions");
/* That are recorded. To set probes in 60,000 functions takes 2 s and 12 MiB of gtcollect, and each
 * page of the library that has some is copied for each process. */
#define FUNCTIONS_MAX 65536u

struct named_function {
	struct gt_function_spec spec;
	bool has_file, has_function; /* in any process */
	size_t nfunctions;           /* of one file, at most */
	char nearest[64];            /* the function with the most similar name; "" */
};
struct gt_function_probes {
	struct gt_bpf_way *way;
	struct named_function *functions;
	size_t n;
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

void gt_function_probes_close(struct gt_function_probes *f)
{
	if (f)
		free(f->functions);
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

/* The file has no such function: which one has a similar name? */
static void find_nearest(struct named_function *one, int fd, const char *name)
{
	struct gt_nearest nearest = GT_NEAREST(one->spec.glob);
	struct gt_library_functions all;
	struct gt_err ignored = GT_ERR_INIT;

	gt_library_functions_read(&all, fd, name, "*", true, &ignored);
	for (size_t i = 0; i < all.n; i++)
		gt_nearest_try(&nearest, all.list[i].name);
	if (nearest.best)
		strncat(one->nearest, nearest.best, sizeof(one->nearest) - 1);
	gt_library_functions_release(&all);
}

/* Together with those of the other options. A file has the same ones in each process. */
static bool are_too_many(struct gt_function_probes *f, struct named_function *one, size_t n)
{
	size_t sum = 0;

	if (n > one->nfunctions)
		one->nfunctions = n;
	for (size_t i = 0; i < f->n; i++)
		sum += f->functions[i].nfunctions;
	return sum > FUNCTIONS_MAX;
}

static int link_file(struct gt_function_probes *f, struct named_function *one,
	const struct gt_linked_file *which, int fd, const char *name, struct gt_err *err)
{
	struct gt_probe_places places = { NULL };
	struct gt_library_functions all;
	int rc = gt_library_functions_read(&all, fd, name, one->spec.glob, true, err);

	if (!rc && !all.n && !one->has_function && !*one->nearest)
		find_nearest(one, fd, name);
	one->has_function |= all.n > 0;
	if (!rc && are_too_many(f, one, all.n))
		rc = gt_err_set(err, -E2BIG,
			"--probe '%s:%s': %zu functions of %s match, and %u can be recorded in all: a longer GLOB matches fewer",
			one->spec.library, one->spec.glob, all.n, name, FUNCTIONS_MAX);
	if (!rc)
		rc = select_places(f, one, &all, &places, err);
	if (!rc && places.n)
		rc = gt_bpf_link_functions(f->way, which, fd, name, &places, err);
	gt_library_functions_release(&all);
	gt_probe_places_release(&places);
	return rc;
}

static int attach_file(struct gt_function_probes *f, size_t function,
	const struct gt_mapped_library *l, pid_t pid, struct gt_err *err)
{
	struct gt_linked_file which = { .kind = GT_LINKED_FUNCTION + (unsigned)function,
		.pid = gt_bpf_process_of_probes(f->way, pid) };
	struct named_function *one = &f->functions[function];
	int fd = gt_mapped_library_open(l, err), rc = fd;

	one->has_file = true;
	if (fd < 0)
		return rc;
	rc = gt_linked_files_identify(&f->way->linked, &which, fd)
		? 0
		: link_file(f, one, &which, fd, l->name, err);
	close(fd);
	return rc;
}

/* ---- all ---- */

struct search {
	struct gt_function_probes *f;
	pid_t pid;
};

/* A mapping of code: which of the options name its file? */
static int look_at(void *arg, const struct gt_mapping *m, struct gt_err *err)
{
	const struct search *s = arg;
	struct gt_mapped_library l;
	bool is_set = false;
	int rc = 0;

	for (size_t i = 0; !rc && i < s->f->n && m->inode && m->flags[2] == 'x'; i++) {
		if (!gt_function_spec_is_file(&s->f->functions[i].spec, m->name))
			continue;
		if (!is_set)
			gt_mapped_library_set(&l, s->pid, m);
		is_set = true;
		rc = attach_file(s->f, i, &l, s->pid, err);
	}
	return rc;
}

int gt_function_probes_attach(struct gt_function_probes *f, pid_t pid, struct gt_err *err)
{
	struct search s = { f, pid };

	return gt_mappings_each(pid, look_at, &s, err);
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
