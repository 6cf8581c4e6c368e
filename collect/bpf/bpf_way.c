/* Loads the BPF programs, drains their rings, and counts lost records. */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "collect/bpf/bpf_state.h"
#include "collect/bpf/records/bpf_records.h"
#include "collect/bpf/processes/new_code.h"
#include "collect/bpf/bpf_object.h"
#include "collect/bpf/kernel/kernel_features.h"
#include "collect/bpf/kernel/tracefs.h"
#include "formats/cuda/cuda_api.h"
#include "formats/trace/clock.h"

/* of one CPU, a power of two: this part of the session's memory, which is 4 MiB by default */
#define RING_PART 16
#define RING_MIN (64u << 10)
#define RING_MAX (64u << 20)
/* ns: a record whose call ended before is in its ring, unless its CPU is stopped meanwhile */
#define SETTLED 200000
/* ns: how often links of files that no process maps are looked for, of which each takes 1 us */
#define PRUNE_EVERY 1000000000ull

/* Programs at tracepoints of the kernel. */
static const struct {
	const char *name;
	/* what needs it; ALWAYS: children of traced processes */
	enum { ALWAYS, USER, LOADER, REQUESTS, SCHEDULING, NAME, CGROUP, NEW_CGROUP } need;
} kernel_programs[GT_BPF_KERNEL_PROGRAMS] = {
	{ "on_fork", ALWAYS },
	/* before on_exit, which forgets the thread */
	{ "on_exit_in_call", ALWAYS },
	{ "on_exit", ALWAYS },
	{ "on_exec", ALWAYS },
	{ "on_exec_as_user", USER },
	{ "on_rename", NAME },
	{ "on_cgroup_change", CGROUP },
	{ "on_new_cgroup", NEW_CGROUP },
	{ "on_child", LOADER },
	{ "on_new_code", ALWAYS },
	{ "on_system_call", REQUESTS },
	{ "on_system_call_end", REQUESTS },
	{ "on_softirq_entry", SCHEDULING },
	{ "on_softirq_exit", SCHEDULING },
	{ "on_irq_handler_entry", SCHEDULING },
	{ "on_irq_handler_exit", SCHEDULING },
	{ "on_hrtimer_expire_entry", SCHEDULING },
	{ "on_hrtimer_expire_exit", SCHEDULING },
	{ "on_waking", SCHEDULING },
	{ "on_switch", SCHEDULING },
};
#define KERNEL_PROGRAMS GT_BPF_KERNEL_PROGRAMS

/* ---- open ---- */

static int print_nothing(enum libbpf_print_level level, const char *fmt, va_list args) { return 0; }

int gt_bpf_why_not(int code, struct gt_err *err)
{
	bool refused = code == -EPERM || code == -EACCES;
	char text[160];

	if (refused && !gt_bpf_way_is_allowed())
		return gt_err_set(err, -EPERM,
			"eBPF needs root, or CAP_BPF and CAP_PERFMON (setcap %s+ep gtcollect); CUDA calls need none: --via preload, or inject for -p",
			gt_needed_capabilities());
	if (code == -EPERM && !gt_has_memlock(text, sizeof(text)))
		return gt_err_set(err, -EPERM, "eBPF needs locked memory: %s", text);
	if (refused)
		return gt_err_set(err, -EPERM,
			"the kernel refuses bpf() in spite of the rights: by a filter of system calls (seccomp, in a container) or by lockdown; --via inject needs no bpf()");
	if (code == -ENOSYS)
		return gt_err_set(err, code,
			"this kernel has no bpf() (CONFIG_BPF_SYSCALL); --via inject needs none");
	return gt_err_set(err, code,
		"the kernel does not load the BPF programs, which need Linux 5.8 or newer: %s",
		strerror(-code));
}

static uint32_t ring_bytes(const struct gt_rings *r)
{
	uint64_t part = r->bytes / RING_PART;
	uint32_t bytes = RING_MIN;

	while (bytes < RING_MAX && 2ull * bytes <= part + part / 16)
		bytes *= 2;
	return bytes;
}

/* One ring for each CPU. */
static int make_rings(struct gt_bpf_way *b, struct gt_err *err)
{
	b->ncpus = libbpf_num_possible_cpus();
	if (b->ncpus <= 0)
		return gt_err_set(err, b->ncpus,
			"eBPF needs /sys/devices/system/cpu/possible, which cannot be read: %s",
			strerror(-b->ncpus));
	b->ring_fds = b->ncpus > 0 ? calloc((size_t)b->ncpus, sizeof(*b->ring_fds)) : NULL;
	if (!b->ring_fds)
		return gt_err_set(err, -ENOMEM, "out of memory (eBPF)");
	for (int i = 0; i < b->ncpus; i++)
		b->ring_fds[i] = -1;
	for (int i = 0; i < b->ncpus; i++) {
		b->ring_fds[i] = bpf_map_create(
			BPF_MAP_TYPE_RINGBUF, "gt_calls", 0, 0, ring_bytes(b->opt.rings), NULL);
		if (b->ring_fds[i] < 0)
			return gt_bpf_why_not(-errno, err);
	}
	return 0;
}

static bool has_registers(const struct gt_bpf_way *b)
{
	return b->has_task_storage && gt_is_linux(5, 15);
}

/* The constants of the programs. */
static void set_rodata(struct gt_bpf_way *b)
{
	struct bpf_map *m = bpf_object__find_map_by_name(b->object, ".rodata");
	size_t size = 0;
	void *p = m ? (void *)bpf_map__initial_value(m, &size) : NULL;

	if (p && size >= sizeof(struct gt_bpf_settings))
		*(struct gt_bpf_settings *)p = (struct gt_bpf_settings){
			.all_processes = b->opt.all_processes && !b->filters,
			.requests = b->opt.requests,
			.scheduling = b->opt.scheduling,
			.system_calls = b->opt.scheduling && !has_registers(b),
			.has_switch_state = gt_is_linux(5, 18),
			.has_task_storage = b->has_task_storage,
			.has_registers = has_registers(b),
			.has_cookies = b->has_cookies,
			.filters = b->filters,
			.filter = b->filters ? *b->opt.filter : (struct gt_process_filter){ 0 },
			.only_user = b->only_user,
			.user = geteuid(),
			.recorder = (uint32_t)getpid(),
			.stop = b->opt.stops,
			.pid_namespace = gt_other_pid_namespace(),
			.watches_loaders = gt_loader_is_enough(b),
			.any_file = b->opt.probes->n || b->opt.usdt->nusdt,
			.nlibraries = 2,
			.libraries = { "libcuda.so", "memfd:libcuda.so" },
		};
}

static bool is_needed(const struct gt_bpf_way *b, unsigned program)
{
	switch (kernel_programs[program].need) {
	case LOADER: return gt_loader_is_enough(b);
	case REQUESTS: /* or the system calls in which threads wait, if registers do not tell them
			*/
		return b->opt.requests || (b->opt.scheduling && !has_registers(b));
	case SCHEDULING: return b->opt.scheduling;
	case USER: return b->only_user;
	case NAME: return b->filters && b->opt.filter->first;
	case CGROUP: return b->filters && b->opt.filter->cgroup;
	case NEW_CGROUP: return b->filters && b->opt.filter->parent;
	default: return true;
	}
}

/* A program at functions, which is loaded if it is needed. */
static struct bpf_program *program(const struct gt_bpf_way *b, const char *name, bool is_needed)
{
	struct bpf_program *p = bpf_object__find_program_by_name(b->object, name);

	bpf_program__set_autoload(p, is_needed);
	return p;
}

static void select_point_programs(struct gt_bpf_way *b, struct gt_uprobe_features kernel)
{
	struct bpf_program *p = program(b, "on_usdt", b->opt.usdt->nusdt);

	bpf_program__set_expected_attach_type(p, (enum bpf_attach_type)GT_UPROBE_MULTI);
	b->usdt_programs = (struct gt_probe_programs){ .is_point = true,
		.kernel = kernel,
		.entry = p,
		.wrappers = &b->wrappers,
		.groups = &b->groups };
	p = program(b, "on_loader", gt_loader_is_enough(b));
	bpf_program__set_expected_attach_type(p, (enum bpf_attach_type)GT_UPROBE_MULTI);
	b->loader_programs = (struct gt_probe_programs){ .is_point = true,
		.kernel = kernel,
		.entry = p,
		.wrappers = &b->wrappers,
		.groups = &b->groups };
}

/* The programs at functions of libraries: one for sessions, else one each for entry and return. A
 * kernel without multi links does not look at the types. */
static void select_programs(struct gt_bpf_way *b, struct gt_probe_programs *p,
	const char *const names[3], bool are_needed, struct gt_uprobe_features kernel)
{
	struct bpf_program *both = program(b, names[0], are_needed && kernel.session),
			   *entry = program(b, names[1], are_needed && !kernel.session),
			   *ret = program(b, names[2], are_needed && !kernel.session);

	bpf_program__set_expected_attach_type(both, (enum bpf_attach_type)GT_UPROBE_SESSION);
	bpf_program__set_expected_attach_type(entry, (enum bpf_attach_type)GT_UPROBE_MULTI);
	bpf_program__set_expected_attach_type(ret, (enum bpf_attach_type)GT_UPROBE_MULTI);
	*p = (struct gt_probe_programs){ .kernel = kernel,
		.session = both,
		.entry = entry,
		.ret = ret,
		.wrappers = &b->wrappers,
		.groups = &b->groups };
}

static void select_kernel_programs(struct gt_bpf_way *b)
{
	bool functions = gt_kernel_probes_have_functions(b->kernel_probes);
	enum bpf_attach_type type = functions && gt_kernel_probes_use_multi(b->kernel_probes)
		? BPF_TRACE_KPROBE_MULTI
		: 0;

	bpf_program__set_expected_attach_type(program(b, "on_kernel_entry", functions), type);
	bpf_program__set_expected_attach_type(program(b, "on_kernel_return", functions), type);
	program(b, "on_tracepoint", gt_kernel_probes_have_tracepoints(b->kernel_probes));
	program(b, "on_each_process", b->filters);
}

/* What a kernel may have: programs of sessions ask with the context as parameter (bpf_object.h);
 * storage of threads (Linux 5.12). */
struct features {
	struct gt_uprobe_features uprobes;
	bool session_has_context, task_storage;
};

static struct bpf_object *open_object(const struct features *f)
{
	if (!f->uprobes.session)
		return bpf_object__open_mem(
			gt_bpf_object_no_session, gt_bpf_object_no_session_bytes, NULL);
	if (f->session_has_context)
		return bpf_object__open_mem(
			gt_bpf_object_of_context, gt_bpf_object_of_context_bytes, NULL);
	return bpf_object__open_mem(gt_bpf_object, gt_bpf_object_bytes, NULL);
}

static int load(struct gt_bpf_way *b, const struct features *f, struct gt_err *err)
{
	static const char *const calls[] = { "on_session", "on_entry", "on_return" };
	static const char *const functions[] = { "on_function", "on_function_entry",
		"on_function_return" };
	struct bpf_program *p;
	struct bpf_map *rings;
	int rc;

	b->has_task_storage = f->task_storage;
	b->object = open_object(f);
	if (!b->object)
		return gt_err_set(err, -errno, "cannot read the BPF programs: %s", strerror(errno));
	select_programs(b, &b->programs, calls, b->opt.calls, f->uprobes);
	select_programs(b, &b->function_programs, functions, b->opt.probes->n, f->uprobes);
	select_point_programs(b, f->uprobes);
	select_kernel_programs(b);
	/* iterators over mappings are as old as storage of threads */
	p = program(b, "on_own_mapping", f->task_storage);
	b->linked.own_mappings = f->task_storage ? p : NULL;
	b->linked.file_use = program(b, "on_file_use", f->task_storage);
	program(b, "on_each_waiting_thread", b->opt.scheduling && has_registers(b));
	for (unsigned i = 0; i < KERNEL_PROGRAMS; i++)
		bpf_program__set_autoload(
			bpf_object__find_program_by_name(b->object, kernel_programs[i].name),
			is_needed(b, i));
	bpf_map__set_autocreate(
		bpf_object__find_map_by_name(b->object, "threads"), f->task_storage);
	rings = bpf_object__find_map_by_name(b->object, "rings");
	bpf_map__set_max_entries(rings, (uint32_t)b->ncpus);
	set_rodata(b);
	rc = bpf_map__set_inner_map_fd(rings, b->ring_fds[0]);
	if (!rc)
		rc = bpf_object__load(b->object);
	if (!rc)
		return 0;
	bpf_object__close(b->object);
	b->object = NULL;
	/* the verifier says EACCES of an access that it does not understand */
	return gt_bpf_why_not(rc == -EACCES ? -EINVAL : rc, err);
}

/* With as much as this kernel has. */
static int load_for_kernel(struct gt_bpf_way *b, struct gt_err *err)
{
	static const struct {
		bool session, session_has_context, task_storage;
	} tries[] = { { true, false, true }, { true, true, true }, { false, false, true },
		{ false, false, false } };
	struct features f = { .uprobes = gt_uprobe_features() };
	const bool has_session = f.uprobes.session;
	struct gt_err why = GT_ERR_INIT;
	int rc = -EINVAL;

	for (size_t i = 0; rc && rc != -EPERM && i < sizeof(tries) / sizeof(*tries); i++) {
		if (tries[i].session && !has_session)
			continue;
		why = (struct gt_err)GT_ERR_INIT;
		f.uprobes.session = tries[i].session;
		f.session_has_context = tries[i].session_has_context;
		f.task_storage = tries[i].task_storage;
		rc = load(b, &f, &why);
	}
	if (rc)
		*err = why;
	return rc;
}

static int set_up_maps(struct gt_bpf_way *b, struct gt_err *err)
{
	int plans = bpf_object__find_map_fd_by_name(b->object, "plans"),
	    rings = bpf_object__find_map_fd_by_name(b->object, "rings");

	b->losses = bpf_object__find_map_fd_by_name(b->object, "losses");
	b->wrappers.cookies =
		b->has_cookies ? -1 : bpf_object__find_map_fd_by_name(b->object, "cookies");
	gt_probe_groups_open(&b->groups,
		b->programs.kernel.multi ? -1 : gt_tracefs_open(&(struct gt_err)GT_ERR_INIT),
		bpf_object__find_map_fd_by_name(b->object, "group_cookies"));
	for (uint32_t id = 0; id < gt_api_count; id++) {
		gt_call_plan_make(&b->plans[id], &gt_api[id], (int)b->opt.rings->s->args);
		if (bpf_map_update_elem(plans, &id, &b->plans[id].bpf, BPF_ANY))
			return gt_bpf_why_not(-errno, err);
	}
	for (int i = 0; i < b->ncpus; i++) {
		uint32_t cpu = (uint32_t)i;

		if (bpf_map_update_elem(rings, &cpu, &b->ring_fds[i], BPF_ANY))
			return gt_bpf_why_not(-errno, err);
		if (!b->rings)
			b->rings = ring_buffer__new(b->ring_fds[i], gt_bpf_take_record, b, NULL);
		else if (ring_buffer__add(b->rings, b->ring_fds[i], gt_bpf_take_record, b))
			return gt_err_set(err, -ENOMEM, "out of memory (eBPF)");
		if (!b->rings)
			return gt_err_set(
				err, -errno, "a ring of BPF programs: %s", strerror(errno));
	}
	return gt_bpf_events_open(b, err);
}

/* Runs a program for each thread of the machine. 0 or negative. */
static int run_for_each_thread(struct gt_bpf_way *b, const char *name)
{
	struct bpf_program *p = bpf_object__find_program_by_name(b->object, name);
	struct bpf_link *link = bpf_program__attach_iter(p, NULL);
	int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -1, rc = fd < 0 ? -errno : 0;
	char nothing[64];

	while (fd >= 0 && read(fd, nothing, sizeof(nothing)) > 0)
		;
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	return rc;
}

void gt_bpf_begin_waits(struct gt_bpf_way *b)
{
	if (b->opt.scheduling && has_registers(b) && !b->ended)
		run_for_each_thread(b, "on_each_waiting_thread");
}

/* The processes that match now; those that match later follow from the programs of attach_kernel.
 */
static int select_processes(struct gt_bpf_way *b, struct gt_err *err)
{
	int rc = b->filters ? run_for_each_thread(b, "on_each_process") : 0;

	return rc ? gt_err_set(err, rc, "cannot select processes: %s", strerror(-rc)) : 0;
}

static int attach_kernel(struct gt_bpf_way *b, struct gt_err *err)
{
	for (unsigned i = 0; i < KERNEL_PROGRAMS; i++) {
		if (!is_needed(b, i) ||
			(gt_loader_is_enough(b) && !strcmp(kernel_programs[i].name, "on_new_code")))
			continue;
		b->kernel[i] = bpf_program__attach(
			bpf_object__find_program_by_name(b->object, kernel_programs[i].name));
		if (!b->kernel[i])
			return gt_err_set(err, -errno,
				"cannot attach to the kernel's tracepoints of scheduling: %s",
				strerror(errno));
	}
	return 0;
}

bool gt_bpf_way_is_allowed(void)
{
	const uint64_t admin = 1ull << 21, perfmon_and_bpf = 3ull << 38;
	uint64_t mine = gt_own_capabilities();

	return mine & admin || (mine & perfmon_and_bpf) == perfmon_and_bpf;
}

/* If the user lacks the rights, the error names these, and not BTF. */
static int check_btf(struct gt_err *err)
{
	char text[300];

	if (!gt_bpf_way_is_allowed() || gt_has_btf(text, sizeof(text)))
		return 0;
	return gt_err_set(err, -ENOENT, "eBPF needs BTF: %s", text);
}

struct gt_bpf_way *gt_bpf_way_open(const struct gt_bpf_way_options *opt, struct gt_err *err)
{
	struct gt_bpf_way *b = calloc(1, sizeof(*b));
	int rc;

	if (!b) {
		gt_err_set(err, -ENOMEM, "out of memory (eBPF)");
		return NULL;
	}
	b->opt = *opt;
	b->groups.tracefs = b->groups.list = -1;
	b->only_user = !(gt_own_capabilities() >> CAP_SYS_PTRACE & 1);
	b->filters = opt->filter &&
		(gt_process_filter_selects(opt->filter) || (opt->all_processes && b->only_user));
	b->writer.rings = opt->rings;
	b->writer.server = opt->server;
	libbpf_set_print(print_nothing);
	b->has_cookies = gt_has_cookies();
	b->window_until = UINT64_MAX;
	rc = check_btf(err);
	if (!rc)
		rc = make_rings(b, err);
	if (!rc && (opt->kprobes->n || opt->tracepoints->n || opt->driver || opt->fault)) {
		b->kernel_probes = gt_kernel_probes_open(b, err);
		rc = b->kernel_probes ? 0 : err->code;
	}
	if (!rc)
		rc = gt_bpf_losses_open(b, err);
	if (!rc)
		rc = load_for_kernel(b, err);
	if (!rc)
		rc = set_up_maps(b, err);
	if (!rc)
		rc = attach_kernel(b, err);
	if (!rc)
		rc = select_processes(b, err);
	if (!rc && b->kernel_probes)
		rc = gt_kernel_probes_attach(b->kernel_probes, err);
	if (!rc && opt->probes->n) {
		b->functions = gt_function_probes_open(b, err);
		rc = b->functions ? 0 : err->code;
	}
	if (!rc)
		return b;
	gt_bpf_way_close(b);
	return NULL;
}

/* Keeps the rights that later processes need: their files may be readable by root only, and a
 * stopped process of another user must be continued. */
void gt_bpf_way_drop_rights(const struct gt_bpf_way *b)
{
	static const unsigned kept[] = { CAP_SYS_PTRACE, CAP_PERFMON, CAP_BPF,
		CAP_CHECKPOINT_RESTORE, CAP_DAC_READ_SEARCH };
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[2], mask[2] = { { 0 } };

	if (syscall(SYS_capget, &header, sets) ||
		!(sets[CAP_BPF / 32].effective >> CAP_BPF % 32 & 1))
		return; /* an older kernel, which has only CAP_SYS_ADMIN for that */
	if (!b->programs.kernel.multi && gt_uprobes_need_admin())
		mask[0].effective |= 1u << CAP_SYS_ADMIN;
	if (b->opt.stops)
		mask[0].effective |= 1u << CAP_KILL;
	for (unsigned i = 0; i < sizeof(kept) / sizeof(*kept); i++)
		mask[kept[i] / 32].effective |= 1u << kept[i] % 32;
	for (unsigned i = 0; i < 2; i++) {
		sets[i].effective &= mask[i].effective;
		sets[i].permitted &= mask[i].effective;
		sets[i].inheritable = 0;
	}
	syscall(SYS_capset, &header, sets);
}

static void drain_until(struct gt_bpf_way *b, uint64_t until)
{
	b->until = until;
	b->nrecords = b->bytes.len = 0;
	gt_bpf_take_later(b);
	ring_buffer__consume(b->rings);
	gt_bpf_write_records(b);
	gt_bpf_losses_take(b);
	b->until = 0; /* records of process_events.c wait for the next drain */
	b->opt.rings->written_until = until > INT64_MAX ? INT64_MAX : (int64_t)until;
}

struct gt_ring_writer *gt_bpf_way_writer(struct gt_bpf_way *b) { return &b->writer; }

void gt_bpf_way_drain(struct gt_bpf_way *b, uint64_t until)
{
	/* events that end before are in their ring, too */
	const uint64_t settled = (uint64_t)gt_clock_monotonic() - SETTLED;

	until = until < settled ? until : settled;
	gt_bpf_way_take_events(b);
	drain_until(b, until);
	if (until - b->pruned_at >= PRUNE_EVERY) {
		b->pruned_at = until;
		if (gt_linked_files_remove_unmapped(&b->linked))
			gt_usdt_forget_unlinked(b);
	}
}

static void name_of_place(
	const struct gt_bpf_way *b, const struct gt_refused_place *place, char *text, size_t size)
{
	uint32_t number = (uint32_t)place->cookie;
	struct gt_bpf_usdt_site site;

	if (place->kind == GT_LINKED_DRIVER) {
		snprintf(text, size, "%s", gt_api[number].name);
		return;
	}
	if (place->kind == GT_LINKED_USDT) {
		if (bpf_map_lookup_elem(bpf_object__find_map_fd_by_name(b->object, "usdt_sites"),
			    &number, &site))
			return;
		number = site.probe;
	}
	snprintf(text, size, "%.60s:%.60s", b->probes[number].domain, b->probes[number].name);
}

/* Names, as many as the text can hold; the reason is that of the last one. */
static void totals_of_refused(const struct gt_bpf_way *b, struct gt_bpf_way_totals *t)
{
	const struct gt_linked_files *f = &b->linked;
	const size_t limit = sizeof(t->first_refused) - 50; /* for the reason */
	char name[128] = "";
	size_t i, at = 0;

	for (i = 0; i < f->nrefused; i++) {
		name_of_place(b, &f->refused[i], name, sizeof(name));
		if (at + strlen(name) + 2 > limit)
			break;
		at += (size_t)sprintf(t->first_refused + at, "%s%s", at ? ", " : "", name);
	}
	if (i)
		snprintf(t->first_refused + at, sizeof(t->first_refused) - at, "%s: %.40s",
			i < f->nrefused ? ", ..." : "", gt_refusal_text(f->refused[i - 1].why));
	t->refused = (unsigned)f->nrefused;
}

void gt_bpf_way_totals(const struct gt_bpf_way *b, struct gt_bpf_way_totals *t)
{
	*t = b->totals;
	totals_of_refused(b, t);
	t->unpaired = b->pairs.unpaired;
	t->unread = b->usdt.nunread;
	t->first_unread = b->usdt.unread;
	t->unreadable = b->usdt.nunreadable;
	t->first_unreadable = b->usdt.unreadable;
	t->left_out = b->usdt.nleft_out;
	t->failed = b->nfailed;
	t->first_failure = b->failure.text;
	t->unmatched = gt_usdt_first_unmatched(b);
}

void gt_bpf_way_set_window(struct gt_bpf_way *b, int64_t from, int64_t until)
{
	b->window_from = (uint64_t)from;
	b->window_until = (uint64_t)until;
}

/* The programs record no more calls. If that fails, they do until their probes are removed. */
static void end_calls(struct gt_bpf_way *b)
{
	uint32_t zero = 0, one = 1;

	bpf_map_update_elem(
		bpf_object__find_map_fd_by_name(b->object, ".bss.ended"), &zero, &one, BPF_ANY);
}

void gt_bpf_way_stop(struct gt_bpf_way *b)
{
	if (b->ended)
		return;
	end_calls(b);
	for (unsigned i = 0; i < KERNEL_PROGRAMS; i++) {
		bpf_link__destroy(b->kernel[i]);
		b->kernel[i] = NULL;
	}
	b->ended = true;
	gt_bpf_way_take_events(b);
	gt_bpf_detach_all(b);
	if (b->opt.calls)
		run_for_each_thread(b, "on_each_thread");
	gt_kernel_probes_detach(b->kernel_probes);
	drain_until(b, UINT64_MAX);
	gt_probe_pairs_flush(b);
	gt_bpf_write_waiting(b);
}

void gt_bpf_way_close(struct gt_bpf_way *b)
{
	if (!b)
		return;
	gt_bpf_detach_all(b);
	gt_function_probes_close(b->functions);
	gt_kernel_probes_close(b->kernel_probes);
	for (unsigned i = 0; i < KERNEL_PROGRAMS; i++)
		bpf_link__destroy(b->kernel[i]);
	b->ended = true;
	gt_bpf_way_take_events(b);
	gt_stop_guard_end(&b->guard);
	ring_buffer__free(b->events);
	ring_buffer__free(b->rings);
	gt_cookie_wrappers_close(&b->wrappers);
	gt_probe_groups_close(&b->groups);
	bpf_object__close(b->object);
	for (int i = 0; b->ring_fds && i < b->ncpus; i++)
		if (b->ring_fds[i] >= 0)
			close(b->ring_fds[i]);
	for (size_t i = 0; i < b->nnames; i++)
		free(b->names[i].text);
	gt_ring_writer_release(&b->writer);
	gt_map_release(&b->names_map);
	gt_buf_release(&b->bytes);
	gt_buf_release(&b->later);
	gt_bpf_waits_release(b);
	gt_probe_pairs_release(&b->pairs);
	gt_bpf_probes_release(b);
	gt_bpf_losses_close(b);
	gt_usdt_release(&b->usdt);
	gt_linked_files_release(&b->linked);
	free(b->names);
	free(b->records);
	free(b->ring_fds);
	free(b);
}

bool gt_bpf_way_doctor(FILE *to)
{
	struct gt_session *session = calloc(1, sizeof(*session));
	struct gt_rings rings = { .s = session };
	const struct gt_opt_list none = { NULL };
	const struct gt_probe_selection no_usdt = { NULL };
	const struct gt_bpf_way_options all = { .rings = &rings,
		.calls = true,
		.requests = true,
		.scheduling = true,
		.probes = &none,
		.kprobes = &none,
		.tracepoints = &none,
		.usdt = &no_usdt };
	struct gt_err err = GT_ERR_INIT;
	struct gt_bpf_way *b = session ? gt_bpf_way_open(&all, &err) : NULL;
	bool works = b;

	if (b)
		fprintf(to, "calls, requests to the driver and scheduling; %s",
			b->programs.kernel.session
				? "one link for all functions of a library"
				: "two links, or before Linux 6.6 a perf event for each function");
	else
		fputs(err.text, to);
	gt_bpf_way_close(b);
	free(session);
	return works;
}
