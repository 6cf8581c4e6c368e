#define _GNU_SOURCE
#include "collect/bpf/kernel/kernel_probes.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "collect/bpf/bpf_state.h"
#include "collect/bpf/records/bpf_records.h"
#include "collect/bpf/kernel/kernel_features.h"
#include "collect/bpf/kernel/kernel_tracepoints.h"
#include "collect/bpf/kernel/tracefs.h"
#include "collect/probes/function_spec.h"
#include "collect/probes/kernel_functions.h"
#include "formats/trace/record.h"

#define DOMAIN "kernel"
#define LIMIT_MULTI 4096u /* functions of one glob */
#define LIMIT_EACH 256u   /* likewise, where each has perf events of its own */
#define LIMIT_DRIVER 512u

/* ---- refused requests ---- */

void gt_bpf_missing(struct gt_bpf_way *b, const char *fmt, ...)
{
	va_list ap;

	if (b->nmissing == GT_BPF_MISSING)
		return;
	va_start(ap, fmt);
	vsnprintf(b->missing[b->nmissing++], sizeof(b->missing[0]), fmt, ap);
	va_end(ap);
}

const char *gt_bpf_way_missing(const struct gt_bpf_way *b, unsigned i)
{
	return i < b->nmissing ? b->missing[i] : NULL;
}

/* ---- selection ---- */

struct kernel_function {
	char *name;
	uint64_t cookie;
};
struct gt_kernel_probes {
	struct gt_bpf_way *way;
	char why_not[200]; /* no kprobes; "" */
	bool use_multi;
	struct kernel_function *functions;
	size_t nfunctions, functions_cap;
	int *links;
	size_t nlinks, links_cap;
	struct gt_kernel_tracepoints *tracepoints;
};

/* Functions of NVIDIA's driver, and of other drivers whose names begin alike; the small functions
 * that larger ones call all the time would cost more than they tell. */
static const char *const driver_globs[] = { "nv*sched*", "nv*ctx*", "uvm*", NULL };
static const char *const fault_globs[] = { "uvm*fault*", NULL };
static const char *const not_of_driver[] = { "nvme*", "nvmf*", "nvmet*", "nvdimm*", "nvram*",
	"*lock*", "*spin*", "*mutex*", "*tree*", "*mask*", "*tracker*", "*_get*", "*_put*",
	"*_is_*", "*_has_*", "*malloc*", "*_free*", "*ref*", NULL };

static FILE *open_list(void)
{
	struct gt_err ignored = GT_ERR_INIT;
	int tracefs = gt_tracefs_open(&ignored), fd = -1;
	FILE *f;

	if (tracefs >= 0) {
		fd = openat(tracefs, "available_filter_functions", O_RDONLY | O_CLOEXEC);
		close(tracefs);
	}
	f = fd >= 0 ? fdopen(fd, "r") : fopen("/proc/kallsyms", "re");
	if (!f && fd >= 0)
		close(fd);
	return f;
}

static int read_functions(struct gt_kernel_functions *to, const char *glob,
	const char *const *without, size_t limit, struct gt_err *err)
{
	const struct gt_kernel_selection which = { glob, without, limit };
	FILE *list = open_list();
	int rc = list ? gt_kernel_functions_read(to, list, &which, err)
		      : gt_err_set(err, -errno, "cannot read /proc/kallsyms: %s", strerror(errno));

	if (list)
		fclose(list);
	return rc;
}

/* One link for many functions needs CONFIG_FPROBE, of Linux 5.18. */
static bool has_multi(void)
{
	struct gt_kernel_functions f = { NULL };
	const struct gt_kernel_selection which = { "register_fprobe_ips", NULL, 1 };
	struct gt_err ignored = GT_ERR_INIT;
	FILE *list = fopen("/proc/kallsyms", "re");
	bool has = list && !gt_kernel_functions_read(&f, list, &which, &ignored) && f.n;

	if (list)
		fclose(list);
	gt_kernel_functions_release(&f);
	return has;
}

static int add_function(
	struct gt_kernel_probes *k, char *name, unsigned arguments, struct gt_err *err)
{
	uint32_t probe = gt_bpf_probe_add(k->way, DOMAIN, name);

	for (size_t i = 0; i < k->nfunctions; i++)
		if ((uint32_t)k->functions[i].cookie == probe)
			return 0;
	if (probe == GT_NONE ||
		gt_grow(&k->functions, &k->functions_cap, k->nfunctions + 1, sizeof(*k->functions)))
		return gt_err_set(err, -ENOMEM, "out of memory (functions of the kernel)");
	/* the name of the probe lives as long as the way */
	k->functions[k->nfunctions++] = (struct kernel_function){ k->way->probes[probe].name,
		GT_BPF_FUNCTION(probe, arguments, true) };
	return 0;
}

/* Returns how many functions match, or negative. nearest: of a glob that matches none, or "". */
static int64_t add_glob(struct gt_kernel_probes *k, const char *glob, const char *const *without,
	unsigned arguments, char nearest[64], struct gt_err *err)
{
	size_t limit = k->use_multi ? LIMIT_MULTI : LIMIT_EACH;
	struct gt_kernel_functions f = { NULL };
	int64_t matching;
	int rc;

	if (without && limit > LIMIT_DRIVER)
		limit = LIMIT_DRIVER;
	rc = read_functions(&f, glob, without, limit, err);
	for (size_t i = 0; !rc && i < f.n; i++)
		rc = add_function(k, f.names[i], arguments, err);
	if (!rc && f.matching > f.n)
		gt_bpf_missing(k->way, "%zu of %zu functions %s (%zu at most have probes)",
			f.matching - f.n, f.matching, glob, f.n);
	strcpy(nearest, f.nearest);
	matching = (int64_t)f.matching;
	gt_kernel_functions_release(&f);
	return rc ? rc : matching;
}

/* Those of --kprobe. */
static int add_named(struct gt_kernel_probes *k, struct gt_err *err)
{
	const struct gt_opt_list *list = k->way->opt.kprobes;
	struct gt_function_spec s;
	char nearest[64];

	for (size_t i = 0; i < list->n; i++) {
		int64_t n;

		if (gt_function_spec_parse(&s, "--kprobe", list->items[i], false, err))
			return err->code;
		if (*k->why_not) {
			gt_bpf_missing(k->way, "--kprobe %s (%s)", s.glob, k->why_not);
			continue;
		}
		n = add_glob(k, s.glob, NULL, s.arguments, nearest, err);
		if (n < 0)
			return (int)n;
		if (!n)
			return gt_err_set(err, -ENOENT,
				"--kprobe '%s': the kernel has no such function that can have a probe%s%s",
				s.glob, *nearest ? "; similar is " : "", nearest);
	}
	return 0;
}

/* Those of a source. */
static int add_source(
	struct gt_kernel_probes *k, const char *what, const char *const *globs, struct gt_err *err)
{
	char nearest[64];
	int64_t all = 0, n;

	if (*k->why_not) {
		gt_bpf_missing(k->way, "%s (%s)", what, k->why_not);
		return 0;
	}
	for (; *globs; globs++) {
		n = add_glob(k, *globs, not_of_driver, 0, nearest, err);
		if (n < 0)
			return (int)n;
		all += n;
	}
	if (!all)
		gt_bpf_missing(
			k->way, "%s (the kernel has none: NVIDIA's driver is not loaded)", what);
	return 0;
}

struct gt_kernel_probes *gt_kernel_probes_open(struct gt_bpf_way *b, struct gt_err *err)
{
	struct gt_kernel_probes *k = calloc(1, sizeof(*k));
	int rc = k ? 0 : gt_err_set(err, -ENOMEM, "out of memory (functions of the kernel)");

	if (!k)
		return NULL;
	k->way = b;
	if (b->opt.kprobes->n || b->opt.driver || b->opt.fault) {
		k->use_multi = has_multi();
		if (!k->use_multi && gt_has_kprobes(k->why_not, sizeof(k->why_not)))
			k->why_not[0] = 0;
	}
	rc = add_named(k, err);
	if (!rc && b->opt.driver)
		rc = add_source(k, "driver functions", driver_globs, err);
	if (!rc && b->opt.fault)
		rc = add_source(k, "page faults of managed memory", fault_globs, err);
	if (!rc) {
		k->tracepoints = gt_kernel_tracepoints_open(b, err);
		rc = k->tracepoints ? 0 : err->code;
	}
	if (!rc)
		return k;
	gt_kernel_probes_close(k);
	return NULL;
}

bool gt_kernel_probes_have_functions(const struct gt_kernel_probes *k)
{
	return k && k->nfunctions;
}

bool gt_kernel_probes_have_tracepoints(const struct gt_kernel_probes *k)
{
	return k && gt_kernel_tracepoints_count(k->tracepoints);
}

bool gt_kernel_probes_use_multi(const struct gt_kernel_probes *k) { return k->use_multi; }

/* ---- links ---- */

/* link: or negative: an error. */
static int keep_link(struct gt_kernel_probes *k, int link)
{
	if (link < 0)
		return link;
	if (gt_grow(&k->links, &k->links_cap, k->nlinks + 1, sizeof(*k->links))) {
		close(link);
		return -ENOMEM;
	}
	k->links[k->nlinks++] = link;
	return 0;
}

static const struct bpf_program *program(const struct gt_kernel_probes *k, bool at_return)
{
	return bpf_object__find_program_by_name(
		k->way->object, at_return ? "on_kernel_return" : "on_kernel_entry");
}

/* Functions [from, to) by one link each for entries and returns. */
static int link_together(struct gt_kernel_probes *k, size_t from, size_t to)
{
	const char **names = calloc(to - from, sizeof(char *));
	__u64 *cookies = calloc(to - from, sizeof(*cookies));
	LIBBPF_OPTS(bpf_link_create_opts, opt, .kprobe_multi.syms = names,
		.kprobe_multi.cookies = cookies, .kprobe_multi.cnt = (uint32_t)(to - from));
	size_t before = k->nlinks;
	int rc = names && cookies ? 0 : -ENOMEM;

	for (size_t i = from; !rc && i < to; i++) {
		names[i - from] = k->functions[i].name;
		cookies[i - from] = k->functions[i].cookie;
	}
	for (int at_return = 0; !rc && at_return < 2; at_return++) {
		opt.kprobe_multi.flags = at_return ? BPF_F_KPROBE_MULTI_RETURN : 0;
		rc = keep_link(k,
			bpf_link_create(bpf_program__fd(program(k, at_return)), 0,
				BPF_TRACE_KPROBE_MULTI, &opt));
	}
	while (rc && k->nlinks > before)
		close(k->links[--k->nlinks]);
	free(names);
	free(cookies);
	return rc;
}

static int link_each(struct gt_kernel_probes *k, size_t i)
{
	size_t before = k->nlinks;
	int rc = 0;

	for (int at_return = 0; !rc && at_return < 2; at_return++) {
		const struct gt_perf_probe probe = { .type = gt_perf_type("kprobe"),
			.name = k->functions[i].name,
			.at_return = at_return };

		rc = keep_link(k,
			gt_perf_link(&k->way->wrappers, program(k, at_return),
				gt_perf_probe_open(&probe), k->functions[i].cookie));
	}
	while (rc && k->nlinks > before)
		close(k->links[--k->nlinks]);
	return rc;
}

/* The kernel refuses a link with one function that can have no probe: then each half is tried.
 * Returns how many functions have probes. */
static size_t link_range(struct gt_kernel_probes *k, size_t from, size_t to)
{
	size_t half = from + (to - from) / 2;

	if (from == to)
		return 0;
	if (!k->use_multi)
		return !link_each(k, from) + link_range(k, from + 1, to);
	if (!link_together(k, from, to))
		return to - from;
	return to - from == 1 ? 0 : link_range(k, from, half) + link_range(k, half, to);
}

int gt_kernel_probes_attach(struct gt_kernel_probes *k, struct gt_err *err)
{
	size_t n = link_range(k, 0, k->nfunctions);

	k->way->totals.functions += (unsigned)n;
	if (n < k->nfunctions)
		gt_bpf_missing(k->way,
			"%zu of %zu functions of the kernel (it refuses probes there)",
			k->nfunctions - n, k->nfunctions);
	return gt_kernel_tracepoints_attach(k->tracepoints, err);
}

void gt_kernel_probes_write(struct gt_kernel_probes *k, const struct gt_bpf_tracepoint *hit)
{
	gt_kernel_tracepoints_write(k->tracepoints, hit);
}

void gt_kernel_probes_detach(struct gt_kernel_probes *k)
{
	for (size_t i = 0; k && i < k->nlinks; i++)
		close(k->links[i]);
	if (!k)
		return;
	k->nlinks = 0;
	gt_kernel_tracepoints_detach(k->tracepoints);
}

void gt_kernel_probes_close(struct gt_kernel_probes *k)
{
	gt_kernel_probes_detach(k);
	if (!k)
		return;
	gt_kernel_tracepoints_close(k->tracepoints);
	free(k->functions);
	free(k->links);
	free(k);
}
