/* The programs write to one ring per CPU, because a single one would be contended. A thread may
 * change its CPU between two calls, so a drain collects the records of all rings, keeps those that
 * are too recent for the next drain, and sorts the others by the end of the call. */
#define _GNU_SOURCE
#include "collect/bpf/bpf_way.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "collect/bpf/bpf_object.h"
#include "collect/bpf/call_plan.h"
#include "collect/bpf/mapped_library.h"
#include "collect/bpf/request_words.h"
#include "collect/bpf/wait_reason.h"
#include "collect/ipc/ring_writer.h"
#include "formats/base/buf.h"
#include "formats/base/sorted.h"
#include "formats/cuda/cuda_api.h"
#include "formats/trace/clock.h"

/* Values of the kernel's interface that older headers lack. */
#define UPROBE_MULTI 48u
#define UPROBE_SESSION 57u

#define RING_BYTES (4u << 20) /* of one CPU */
#define LIBRARIES 8u          /* versions of the driver in one process */
/* ns: a record whose call ended before is in its ring, unless its CPU is stopped meanwhile */
#define SETTLED 200000
#define CHILDREN_EVERY 50000000 /* ns */

/* Programs at tracepoints of the kernel. */
static const struct {
	const char *name;
	/* what needs it; always: children of traced processes */
	bool always, requests;
} kernel_programs[] = {
	{ "on_fork", true, false },
	{ "on_exit", true, false },
	{ "on_system_call", false, true },
	{ "on_system_call_end", false, true },
	{ "on_waking", false, false },
	{ "on_switch", false, false },
};
#define KERNEL_PROGRAMS (sizeof(kernel_programs) / sizeof(*kernel_programs))

/* A library whose functions have probes, and of which process; 0: of all. */
struct attached {
	dev_t device;
	ino_t inode;
	pid_t pid;
	int links[2];
	struct bpf_link **perf; /* without multi links: one for each probe */
	size_t nperf;
};

/* The name of a kernel by handle. */
struct kernel_name {
	uint64_t tgid, handle; /* the key */
	char *text;
};

struct gt_bpf_way {
	struct gt_bpf_way_options opt;
	struct bpf_object *object;
	struct bpf_program *session, *entry, *ret;
	bool has_session, has_multi;
	int ncpus, *ring_fds, losses;
	struct ring_buffer *rings;
	struct gt_call_plan plans[GT_API_MAX];
	struct gt_ring_writer writer;
	struct bpf_link *kernel[KERNEL_PROGRAMS];
	struct attached *attached;
	size_t nattached, attached_cap;
	/* records of the current drain: offsets in `bytes` */
	struct record {
		uint64_t end;
		size_t at;
	} * records;
	size_t nrecords, records_cap;
	struct gt_buf bytes, later;
	uint64_t until; /* ns: later records wait */
	struct gt_map names_map;
	struct kernel_name *names;
	size_t nnames, names_cap;
	uint64_t lost_before;
	int64_t children_at; /* ns: when children of traced processes were last looked for */
	struct gt_bpf_way_totals totals;
};

/* ---- open ---- */

static int print_nothing(enum libbpf_print_level level, const char *fmt, va_list args) { return 0; }

static int why_not_loaded(int code, struct gt_err *err)
{
	if (code == -EPERM || code == -EACCES)
		return gt_err_set(err, -EPERM,
			"eBPF needs root, or the capabilities CAP_BPF and CAP_PERFMON (setcap cap_bpf,cap_perfmon,cap_sys_ptrace+ep gtcollect); --via inject needs none");
	return gt_err_set(
		err, code, "the kernel does not load the BPF programs: %s", strerror(-code));
}

/* One ring for each CPU. */
static int make_rings(struct gt_bpf_way *b, struct gt_err *err)
{
	b->ncpus = libbpf_num_possible_cpus();
	b->ring_fds = b->ncpus > 0 ? calloc((size_t)b->ncpus, sizeof(*b->ring_fds)) : NULL;
	if (!b->ring_fds)
		return gt_err_set(err, -ENOMEM, "out of memory (eBPF)");
	for (int i = 0; i < b->ncpus; i++)
		b->ring_fds[i] = -1;
	for (int i = 0; i < b->ncpus; i++) {
		b->ring_fds[i] =
			bpf_map_create(BPF_MAP_TYPE_RINGBUF, "gt_calls", 0, 0, RING_BYTES, NULL);
		if (b->ring_fds[i] < 0)
			return why_not_loaded(-errno, err);
	}
	return 0;
}

/* Does sched_switch tell the state of the thread that leaves? Since Linux 5.18. */
static bool has_switch_state(void)
{
	unsigned major = 0, minor = 0;
	struct utsname u;

	return !uname(&u) && sscanf(u.release, "%u.%u", &major, &minor) == 2 &&
		(major > 5 || (major == 5 && minor >= 18));
}

/* The constants of the programs. */
static void set_rodata(struct gt_bpf_way *b)
{
	struct bpf_map *m = bpf_object__find_map_by_name(b->object, ".rodata");
	size_t size = 0;
	void *p = m ? (void *)bpf_map__initial_value(m, &size) : NULL;

	if (p && size >= sizeof(struct gt_bpf_settings))
		*(struct gt_bpf_settings *)p = (struct gt_bpf_settings){
			.all_processes = b->opt.all_processes,
			.requests = b->opt.requests,
			.has_switch_state = has_switch_state(),
		};
}

/* Scheduling needs all of them. */
static bool is_needed(const struct gt_bpf_way *b, unsigned program)
{
	return b->opt.scheduling || kernel_programs[program].always ||
		(b->opt.requests && kernel_programs[program].requests);
}

static int load(struct gt_bpf_way *b, bool session, struct gt_err *err)
{
	struct bpf_map *rings;
	int rc;

	b->object = bpf_object__open_mem(gt_bpf_object, gt_bpf_object_bytes, NULL);
	if (!b->object)
		return gt_err_set(err, -errno, "cannot read the BPF programs: %s", strerror(errno));
	b->session = bpf_object__find_program_by_name(b->object, "on_session");
	b->entry = bpf_object__find_program_by_name(b->object, "on_entry");
	b->ret = bpf_object__find_program_by_name(b->object, "on_return");
	bpf_program__set_autoload(b->session, b->opt.calls && session);
	bpf_program__set_autoload(b->entry, b->opt.calls && !session);
	bpf_program__set_autoload(b->ret, b->opt.calls && !session);
	for (unsigned i = 0; i < KERNEL_PROGRAMS; i++)
		bpf_program__set_autoload(
			bpf_object__find_program_by_name(b->object, kernel_programs[i].name),
			is_needed(b, i));
	bpf_program__set_expected_attach_type(b->session, (enum bpf_attach_type)UPROBE_SESSION);
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
	return why_not_loaded(rc, err);
}

static int on_record(void *arg, void *data, size_t size);

static int set_up_maps(struct gt_bpf_way *b, struct gt_err *err)
{
	int plans = bpf_object__find_map_fd_by_name(b->object, "plans"),
	    rings = bpf_object__find_map_fd_by_name(b->object, "rings");

	b->losses = bpf_object__find_map_fd_by_name(b->object, "losses");
	for (uint32_t id = 0; id < gt_api_count; id++) {
		gt_call_plan_make(&b->plans[id], &gt_api[id], (int)b->opt.rings->s->args);
		if (bpf_map_update_elem(plans, &id, &b->plans[id].bpf, BPF_ANY))
			return why_not_loaded(-errno, err);
	}
	for (int i = 0; i < b->ncpus; i++) {
		uint32_t cpu = (uint32_t)i;

		if (bpf_map_update_elem(rings, &cpu, &b->ring_fds[i], BPF_ANY))
			return why_not_loaded(-errno, err);
		if (!b->rings)
			b->rings = ring_buffer__new(b->ring_fds[i], on_record, b, NULL);
		else if (ring_buffer__add(b->rings, b->ring_fds[i], on_record, b))
			return gt_err_set(err, -ENOMEM, "out of memory (eBPF)");
		if (!b->rings)
			return gt_err_set(
				err, -errno, "a ring of BPF programs: %s", strerror(errno));
	}
	return 0;
}

static int attach_kernel(struct gt_bpf_way *b, struct gt_err *err)
{
	for (unsigned i = 0; i < KERNEL_PROGRAMS; i++) {
		if (!is_needed(b, i))
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
	FILE *f = fopen("/proc/self/status", "re");
	unsigned long long mine = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "CapEff: %llx", &mine) == 1)
			break;
	if (f)
		fclose(f);
	return mine & admin || (mine & perfmon_and_bpf) == perfmon_and_bpf;
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
	b->writer.rings = opt->rings;
	b->writer.server = opt->server;
	libbpf_set_print(print_nothing);
	rc = make_rings(b, err);
	if (!rc) {
		b->has_session = b->has_multi = !load(b, true, err);
		rc = b->has_session ? 0 : load(b, false, err);
	}
	if (!rc)
		rc = set_up_maps(b, err);
	if (!rc)
		rc = attach_kernel(b, err);
	if (!rc)
		return b;
	gt_bpf_way_close(b);
	return NULL;
}

/* ---- attach ---- */

/* The part of union bpf_attr that makes a multi link: headers before Linux 6.6 lack it. */
struct multi_link {
	uint32_t program, target, type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t count, multi_flags, pid, unused;
};

struct probes {
	uint64_t *offsets, *cookies;
	uint32_t n;
};

static int link_multi(const struct gt_mapped_library *l, const struct probes *p, pid_t pid,
	const struct bpf_program *program)
{
	struct multi_link a = { .program = (uint32_t)bpf_program__fd(program),
		.type = UPROBE_SESSION,
		.path = (uintptr_t)l->path,
		.offsets = (uintptr_t)p->offsets,
		.cookies = (uintptr_t)p->cookies,
		.count = p->n,
		.pid = (uint32_t)pid };

	return (int)syscall(SYS_bpf, BPF_LINK_CREATE, &a, sizeof(a));
}

/* Without multi links: a perf event for each probe. */
static int link_each(struct gt_bpf_way *b, struct attached *a, const struct gt_mapped_library *l,
	const struct probes *p)
{
	a->perf = calloc(2ul * p->n, sizeof(struct bpf_link *));
	if (!a->perf)
		return -ENOMEM;
	for (uint32_t i = 0; i < 2 * p->n; i++) {
		const struct bpf_uprobe_opts opt = {
			.sz = sizeof(opt), .retprobe = i % 2, .bpf_cookie = p->cookies[i / 2]
		};
		struct bpf_link *link = bpf_program__attach_uprobe_opts(i % 2 ? b->ret : b->entry,
			a->pid ? a->pid : -1, l->path, p->offsets[i / 2], &opt);

		if (!link)
			return -errno;
		a->perf[a->nperf++] = link;
	}
	return 0;
}

static int select_functions(struct gt_bpf_way *b, const struct gt_library_functions *f,
	struct probes *p, struct gt_err *err)
{
	p->offsets = calloc(f->n + 1, sizeof(*p->offsets));
	p->cookies = calloc(f->n + 1, sizeof(*p->cookies));
	if (!p->offsets || !p->cookies)
		return gt_err_set(err, -ENOMEM, "out of memory (probes)");
	for (size_t i = 0; i < f->n; i++) {
		uint32_t id = gt_api_find(f->list[i].name);
		bool twice = false;

		if (id == GT_NONE || b->opt.selection->gate[id] == GT_GATE_OFF)
			continue;
		if (f->list[i].slow && !b->opt.slow_probes) {
			b->totals.slow++;
			continue;
		}
		for (uint32_t k = 0; k < p->n; k++) /* two names of one function */
			twice |= p->offsets[k] == f->list[i].offset;
		if (twice)
			continue;
		p->offsets[p->n] = f->list[i].offset;
		p->cookies[p->n++] = id;
	}
	return 0;
}

static void detach(struct attached *a)
{
	for (int i = 0; i < 2; i++)
		if (a->links[i] >= 0)
			close(a->links[i]);
	for (size_t i = 0; i < a->nperf; i++)
		bpf_link__destroy(a->perf[i]);
	free(a->perf);
	*a = (struct attached){ .links = { -1, -1 } };
}

static int link_library(struct gt_bpf_way *b, const struct gt_mapped_library *l, pid_t pid,
	const struct probes *p, struct gt_err *err)
{
	struct attached *a;
	int rc = 0;

	if (gt_grow(&b->attached, &b->attached_cap, b->nattached + 1, sizeof(*b->attached)))
		return gt_err_set(err, -ENOMEM, "out of memory (probes)");
	a = &b->attached[b->nattached];
	*a = (struct attached){
		.device = l->device, .inode = l->inode, .pid = pid, .links = { -1, -1 }
	};
	if (b->has_session)
		a->links[0] = link_multi(l, p, pid, b->session);
	if (b->has_session && a->links[0] < 0)
		rc = -errno;
	if (!b->has_session)
		rc = link_each(b, a, l, p);
	if (rc) {
		detach(a);
		return gt_err_set(err, rc, "%s: cannot set probes: %s", l->name, strerror(-rc));
	}
	b->nattached++;
	b->totals.libraries++;
	b->totals.functions += p->n;
	return 0;
}

static int attach_library(
	struct gt_bpf_way *b, const struct gt_mapped_library *l, pid_t pid, struct gt_err *err)
{
	struct gt_library_functions f;
	struct probes p = { NULL };
	int rc;

	for (size_t i = 0; i < b->nattached; i++)
		if (b->attached[i].device == l->device && b->attached[i].inode == l->inode &&
			(!b->attached[i].pid || b->attached[i].pid == pid))
			return 0;
	rc = gt_library_functions_read(&f, l, "cu*", err);
	if (!rc)
		rc = select_functions(b, &f, &p, err);
	if (!rc && p.n)
		rc = link_library(b, l, b->opt.all_processes ? 0 : pid, &p, err);
	else if (!rc)
		rc = gt_err_set(err, -ENOENT,
			b->totals.slow ? "%s: all probes would be slow: --slow-probes sets them"
				       : "%s has no function to record",
			l->name);
	gt_library_functions_release(&f);
	free(p.offsets);
	free(p.cookies);
	return rc;
}

int gt_bpf_way_attach(struct gt_bpf_way *b, pid_t pid, struct gt_err *err)
{
	struct gt_mapped_library list[LIBRARIES];
	int n = gt_mapped_libraries(pid, "libcuda.so", list, LIBRARIES, err), rc = 0;
	int traced = bpf_object__find_map_fd_by_name(b->object, "traced");
	uint32_t key = (uint32_t)pid;
	uint8_t one = 1;

	if (n < 0)
		return n;
	if (!n && b->opt.calls)
		return gt_err_set(err, -ENOENT,
			"process %d has no CUDA driver mapped (libcuda.so.1)", (int)pid);
	if (bpf_map_update_elem(traced, &key, &one, BPF_ANY))
		return why_not_loaded(-errno, err);
	for (int i = 0; b->opt.calls && !rc && i < n && i < (int)LIBRARIES; i++)
		rc = attach_library(b, &list[i], pid, err);
	return rc;
}

int gt_bpf_way_attach_all(struct gt_bpf_way *b, struct gt_err *err)
{
	DIR *all = opendir("/proc");
	struct dirent *e;
	int rc = 0;

	while (all && rc != -EPERM && (e = readdir(all))) {
		struct gt_err one = GT_ERR_INIT;
		pid_t pid = atoi(e->d_name);

		if (pid > 0 && pid != getpid())
			rc = gt_bpf_way_attach(b, pid, &one);
		if (rc == -EPERM)
			*err = one;
	}
	if (all)
		closedir(all);
	if (rc != -EPERM && !b->nattached)
		return gt_err_set(
			err, -ENOENT, "no process has a CUDA driver mapped (libcuda.so.1)");
	return rc == -EPERM ? rc : 0;
}

/* A child of a traced process is in the map `traced`. Probes are set as soon as it has a driver. */
static void attach_children(struct gt_bpf_way *b)
{
	int traced = bpf_object__find_map_fd_by_name(b->object, "traced");
	int64_t now = gt_clock_monotonic();
	uint32_t key, *from = NULL;

	if (b->opt.all_processes || !b->opt.calls || now - b->children_at < CHILDREN_EVERY)
		return;
	b->children_at = now;
	for (; !bpf_map_get_next_key(traced, from, &key); from = &key) {
		struct gt_err err = GT_ERR_INIT;
		bool has_probes = false;

		for (size_t i = 0; i < b->nattached; i++)
			has_probes |= b->attached[i].pid == (pid_t)key;
		if (!has_probes)
			gt_bpf_way_attach(b, (pid_t)key, &err);
	}
}

void gt_bpf_way_drop_rights(void)
{
	static const unsigned kept[] = { CAP_SYS_PTRACE, CAP_PERFMON, CAP_BPF };
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[2], mask[2] = { { 0 } };

	if (syscall(SYS_capget, &header, sets) ||
		!(sets[CAP_BPF / 32].effective >> CAP_BPF % 32 & 1))
		return; /* an older kernel, which has only CAP_SYS_ADMIN for that */
	for (unsigned i = 0; i < sizeof(kept) / sizeof(*kept); i++)
		mask[kept[i] / 32].effective |= 1u << kept[i] % 32;
	for (unsigned i = 0; i < 2; i++) {
		sets[i].effective &= mask[i].effective;
		sets[i].permitted &= mask[i].effective;
		sets[i].inheritable = 0;
	}
	syscall(SYS_capset, &header, sets);
}

/* ---- names of kernels ---- */

static struct kernel_name *name_of(struct gt_bpf_way *b, uint32_t tgid, uint64_t handle)
{
	struct kernel_name key = { .tgid = tgid, .handle = handle };
	uint32_t i = gt_map_find_item(
		&b->names_map, b->names, sizeof(key), &key, offsetof(struct kernel_name, text));

	return i == UINT32_MAX ? NULL : &b->names[i];
}

static void set_name(struct gt_bpf_way *b, uint32_t tgid, uint64_t handle, const char *text,
	struct gt_written_thread *t)
{
	struct kernel_name new = { .tgid = tgid, .handle = handle },
			   *old = name_of(b, tgid, handle);
	char *copy = strdup(text);

	if (!copy || !handle) {
		free(copy);
		return;
	}
	if (old) {
		free(old->text);
		old->text = copy;
	} else {
		new.text = copy;
		if (gt_map_add_item(&b->names_map, &b->names, &b->nnames, &b->names_cap,
			    sizeof(new), &new, offsetof(struct kernel_name, text)) == UINT32_MAX)
			free(copy);
	}
	gt_ring_writer_text(&b->writer, t, GT_REC_NAME, handle, text);
}

/* What the guest's hooks do: they learn the names of kernels. */
static void note_names(struct gt_bpf_way *b, const struct gt_bpf_call *c,
	const struct gt_call_plan *plan, struct gt_written_thread *t)
{
	const char *function = gt_api[c->id].name, *text = NULL;
	const uint8_t *handle = gt_call_memory(plan, c, 0, 8);
	const struct kernel_name *from;

	if (c->ret || !handle)
		return;
	if (!strcmp(function, "cuModuleGetFunction") || !strcmp(function, "cuLibraryGetKernel"))
		text = gt_call_text(plan, c, 2);
	else if (!strcmp(function, "cuKernelGetFunction")) {
		from = name_of(b, c->head.tgid, c->words[1]);
		text = from ? from->text : NULL;
	}
	if (text)
		set_name(b, c->head.tgid, gt_value_u64(handle), text, t);
}

/* ---- records ---- */

static int on_record(void *arg, void *data, size_t size)
{
	struct gt_bpf_way *b = arg;
	const struct gt_bpf_head *c = data;
	bool late = c->end > b->until;
	struct gt_buf *to = late ? &b->later : &b->bytes;
	size_t at = to->len;

	gt_buf_add(to, data, (size + 7) & ~(size_t)7);
	if (to->failed || late)
		return 0;
	if (gt_grow(&b->records, &b->records_cap, b->nrecords + 1, sizeof(*b->records)))
		return 0;
	b->records[b->nrecords++] = (struct record){ c->end, at };
	return 0;
}

static int by_end(const void *pa, const void *pb)
{
	const struct record *x = pa, *y = pb;

	return GT_COMPARE(x->end, y->end) ?: GT_COMPARE(x->at, y->at);
}

static struct gt_written_thread *thread_of(struct gt_bpf_way *b, const struct gt_bpf_head *h)
{
	return gt_ring_writer_thread(
		&b->writer, (int32_t)h->tgid, (int32_t)h->tid, h->comm, (int64_t)h->start);
}

static void write_call(struct gt_bpf_way *b, const struct gt_bpf_call *c)
{
	const struct gt_call_plan *plan = &b->plans[c->id];
	struct gt_written_thread *t = thread_of(b, &c->head);
	uint64_t words[GT_FIELDS_MAX];
	struct gt_rec head = { .start = c->head.start,
		.end = c->head.end,
		.id = c->id,
		.nargs = (uint8_t)plan->nfields,
		.kind_depth = c->depth,
		.ret = c->ret };

	if (!t)
		return;
	note_names(b, c, plan, t);
	for (unsigned i = 0; i < plan->nfields; i++) {
		const struct gt_arg *a = &plan->fields[i];
		const char *text = a->how == GT_FROM_STR ? gt_call_text(plan, c, a->param) : NULL;

		words[i] = gt_call_value(plan, c, a);
		if (text && gt_inputs_were_read(c->ret)) {
			words[i] = gt_ring_hash(text, (uint32_t)strlen(text));
			gt_ring_writer_text(&b->writer, t, GT_REC_STRING, words[i], text);
		}
	}
	b->totals.calls += gt_ring_writer_call(&b->writer, t, &head, words);
}

static void write_request(struct gt_bpf_way *b, const struct gt_bpf_request *r)
{
	struct gt_request_words words;
	struct gt_written_thread *t;
	struct gt_rec head = { .start = r->head.start, .end = r->head.end };

	if (!gt_request_words(r, &words))
		return;
	t = thread_of(b, &r->head);
	head.id = (uint16_t)words.id;
	head.nargs = (uint8_t)words.n;
	head.kind_depth = r->depth;
	head.ret = words.ret;
	if (t)
		b->totals.requests += gt_ring_writer_call(&b->writer, t, &head, words.words);
}

/* A wait has two rows: until the thread is woken, and until it runs. */
static void write_scheduling(struct gt_bpf_way *b, const struct gt_bpf_sched *s)
{
	struct gt_written_thread *t = thread_of(b, &s->head);
	uint64_t woken =
		s->preempted || !s->woken || s->woken > s->head.end ? s->head.end : s->woken;
	struct gt_ev_sched e = { .state = gt_wait_reason(s),
		.system_call = s->system_call,
		.pid = s->by_tgid,
		.tid = s->by_tid };

	/* a timer ends a sleep, in whatever thread runs at that time */
	if (e.state == GT_SCHED_SLEEP)
		e.pid = e.tid = 0;
	if (!t)
		return;
	b->totals.waits++;
	gt_ring_writer_event(&b->writer, t, GT_EV_SCHED, s->head.start, woken, &e, sizeof(e));
	if (woken == s->head.end)
		return;
	e = (struct gt_ev_sched){ .state = GT_SCHED_RUNNABLE,
		.system_call = GT_BPF_NO_SYSTEM_CALL };
	gt_ring_writer_event(&b->writer, t, GT_EV_SCHED, woken, s->head.end, &e, sizeof(e));
}

static void write_records(struct gt_bpf_way *b)
{
	GT_SORT(b->records, b->nrecords, by_end);
	for (size_t i = 0; i < b->nrecords; i++) {
		const struct gt_bpf_head *h = (const void *)(b->bytes.data + b->records[i].at);

		if (h->kind == GT_BPF_SCHED)
			write_scheduling(b, (const struct gt_bpf_sched *)h);
		else if (h->kind == GT_BPF_REQUEST)
			write_request(b, (const struct gt_bpf_request *)h);
		else
			write_call(b, (const struct gt_bpf_call *)h);
	}
}

/* Calls without a place in the rings of the programs: the session's count, which the recorder
 * writes as a loss of all threads. */
static void count_losses(struct gt_bpf_way *b)
{
	struct gt_bpf_loss *all = calloc((size_t)b->ncpus, sizeof(*all));
	uint32_t zero = 0;
	uint64_t lost = 0;

	if (all && !bpf_map_lookup_elem(b->losses, &zero, all))
		for (int i = 0; i < b->ncpus; i++)
			lost += all[i].count;
	free(all);
	if (lost <= b->lost_before)
		return;
	__atomic_fetch_add(&b->opt.rings->s->untraced, lost - b->lost_before, __ATOMIC_RELAXED);
	b->totals.lost = b->lost_before = lost;
}

static size_t size_of(const struct gt_bpf_head *h)
{
	if (h->kind == GT_BPF_SCHED)
		return sizeof(struct gt_bpf_sched);
	if (h->kind == GT_BPF_REQUEST)
		return sizeof(struct gt_bpf_request);
	return ((const struct gt_bpf_call *)h)->fetched ? sizeof(struct gt_bpf_call_with_pieces)
							: sizeof(struct gt_bpf_call);
}

/* Records that the last drain kept come first. */
static void take_later(struct gt_bpf_way *b)
{
	struct gt_buf kept = b->later;

	b->later = (struct gt_buf){ NULL };
	for (size_t at = 0; at < kept.len;) {
		size_t size = size_of((const void *)(kept.data + at));

		on_record(b, kept.data + at, size);
		at += (size + 7) & ~(size_t)7;
	}
	gt_buf_release(&kept);
}

static int64_t drain_until(struct gt_bpf_way *b, uint64_t until)
{
	b->until = until;
	b->nrecords = b->bytes.len = 0;
	take_later(b);
	ring_buffer__consume(b->rings);
	write_records(b);
	count_losses(b);
	return (int64_t)b->nrecords;
}

int64_t gt_bpf_way_drain(struct gt_bpf_way *b)
{
	attach_children(b);
	return drain_until(b, (uint64_t)gt_clock_monotonic() - SETTLED);
}

void gt_bpf_way_totals(const struct gt_bpf_way *b, struct gt_bpf_way_totals *t) { *t = b->totals; }

/* Threads that wait at the end: their rows end now. */
static void write_waiting(struct gt_bpf_way *b)
{
	int waits = bpf_object__find_map_fd_by_name(b->object, "waits");
	uint32_t key, *from = NULL;
	struct gt_bpf_sched s;

	for (; b->opt.scheduling && !bpf_map_get_next_key(waits, from, &key); from = &key)
		if (!bpf_map_lookup_elem(waits, &key, &s)) {
			s.head.end = (uint64_t)gt_clock_monotonic();
			write_scheduling(b, &s);
		}
}

void gt_bpf_way_stop(struct gt_bpf_way *b)
{
	for (unsigned i = 0; i < KERNEL_PROGRAMS; i++) {
		bpf_link__destroy(b->kernel[i]);
		b->kernel[i] = NULL;
	}
	for (size_t i = 0; i < b->nattached; i++)
		detach(&b->attached[i]);
	b->nattached = 0;
	drain_until(b, UINT64_MAX);
	write_waiting(b);
}

void gt_bpf_way_close(struct gt_bpf_way *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->nattached; i++)
		detach(&b->attached[i]);
	for (unsigned i = 0; i < KERNEL_PROGRAMS; i++)
		bpf_link__destroy(b->kernel[i]);
	ring_buffer__free(b->rings);
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
	free(b->names);
	free(b->records);
	free(b->attached);
	free(b->ring_fds);
	free(b);
}

bool gt_bpf_way_doctor(FILE *to)
{
	struct gt_session *session = calloc(1, sizeof(*session));
	struct gt_rings rings = { .s = session };
	const struct gt_bpf_way_options all = {
		.rings = &rings, .calls = true, .requests = true, .scheduling = true
	};
	struct gt_err err = GT_ERR_INIT;
	struct gt_bpf_way *b = session ? gt_bpf_way_open(&all, &err) : NULL;
	bool works = b;

	if (b)
		fprintf(to, "calls, requests to the driver and scheduling; %s",
			b->has_session
				? "one link for all functions of a library"
				: "a perf event for each function (Linux 6.13 needs only one link)");
	else
		fputs(err.text, to);
	gt_bpf_way_close(b);
	free(session);
	return works;
}
