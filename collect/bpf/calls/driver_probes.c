/* Probes in the libraries that processes have mapped: one link for all functions of a library, or a
 * perf event for each probe where the kernel has no sessions. */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "collect/bpf/bpf_state.h"
#include "collect/bpf/calls/driver_probes.h"
#include "collect/bpf/processes/new_code.h"
#include "collect/bpf/links/mapped_library.h"
#include "collect/ipc/process_status.h"
#include "formats/cuda/cuda_api.h"

#define LIBRARIES 8u /* versions of the driver in one process */

static int select_functions(struct gt_bpf_way *b, const struct gt_library_functions *f,
	struct gt_probe_places *p, struct gt_err *err)
{
	for (size_t i = 0; i < f->n; i++) {
		uint32_t id = gt_api_find(f->list[i].name);

		if (id == GT_NONE || b->opt.selection->gate[id] == GT_GATE_OFF)
			continue;
		if (f->list[i].slow && !b->opt.slow_probes) {
			b->totals.slow++;
			continue;
		}
		if (gt_probe_places_add(p, f->list[i].offset, id))
			return gt_err_set(err, -ENOMEM, "out of memory (probes)");
	}
	return 0;
}

int gt_bpf_link_functions(struct gt_bpf_way *b, const struct gt_linked_file *which, int fd,
	const char *name, const struct gt_probe_places *p, struct gt_err *err)
{
	int rc = gt_linked_files_add(&b->linked, *which,
		which->kind == GT_LINKED_DRIVER ? &b->programs : &b->function_programs, fd, p);

	if (rc < 0)
		return gt_err_set(err, rc, "%s: cannot set probes: %s", name, gt_refusal_text(rc));
	b->totals.libraries += rc > 0;
	b->totals.functions += (unsigned)rc;
	return 0;
}

static int link_library(struct gt_bpf_way *b, const struct gt_linked_file *which, int fd,
	const char *name, struct gt_err *err)
{
	struct gt_library_functions f;
	struct gt_probe_places p = { NULL };
	int rc = gt_library_functions_read(&f, fd, name, "cu*", false, err);

	if (!rc)
		rc = select_functions(b, &f, &p, err);
	if (!rc && p.n)
		rc = gt_bpf_link_functions(b, which, fd, name, &p, err);
	else if (!rc)
		rc = gt_err_set(err, -ENOENT,
			b->totals.slow ? "%s: all probes would be slow: --slow-probes sets them"
				       : "%s has no function to record",
			name);
	gt_library_functions_release(&f);
	gt_probe_places_release(&p);
	return rc;
}

static int attach_library(
	struct gt_bpf_way *b, const struct gt_mapped_library *l, pid_t pid, struct gt_err *err)
{
	struct gt_linked_file which = { .kind = GT_LINKED_DRIVER,
		.pid = b->opt.all_processes ? 0 : pid };
	int fd = gt_mapped_library_open(l, err), rc = fd;

	if (fd < 0)
		return rc;
	rc = gt_linked_files_identify(&b->linked, &which, fd)
		? 0
		: link_library(b, &which, fd, l->name, err);
	close(fd);
	return rc;
}

/* A zombie has no memory. */
static bool has_ended(pid_t pid)
{
	struct gt_guest process;

	return !gt_guest_read(pid, &process) || gt_guest_has_exited(&process);
}

/* Remembers the first error. */
static void keep_first(int code, struct gt_err *one, int *rc, struct gt_err *err)
{
	if (code && !*rc) {
		*rc = code;
		*err = *one;
	}
	*one = (struct gt_err)GT_ERR_INIT;
}

static bool is_driver(const void *arg, const char *name)
{
	(void)arg;
	return gt_mapped_file_has_prefix(name, "libcuda.so");
}

/* With a filter: do the BPF programs record it now? */
static bool is_selected(const struct gt_bpf_way *b, pid_t pid)
{
	int traced = bpf_object__find_map_fd_by_name(b->object, "traced");
	uint32_t key = (uint32_t)pid;
	uint8_t value = 0;

	return !b->filters || (!bpf_map_lookup_elem(traced, &key, &value) && value & GT_BPF_TRACED);
}

/* One of -p, or its child. */
static int trace(struct gt_bpf_way *b, pid_t pid, bool has_probes, struct gt_err *err)
{
	int traced = bpf_object__find_map_fd_by_name(b->object, "traced");
	uint8_t value = has_probes ? GT_BPF_TRACED | GT_BPF_HAS_PROBES : GT_BPF_TRACED, old;
	uint32_t key = (uint32_t)pid;
	bool is_new = bpf_map_lookup_elem(traced, &key, &old);

	if (bpf_map_update_elem(traced, &key, &value, BPF_ANY))
		return errno == E2BIG
			? gt_err_set(err, -E2BIG,
				  "process %d: eBPF records no more processes at the same time",
				  (int)pid)
			: gt_bpf_why_not(-errno, err);
	if (is_new)
		gt_bpf_begin_waits(b);
	return 0;
}

static int attach_selected(struct gt_bpf_way *b, pid_t pid, struct gt_err *err)
{
	struct gt_err one = GT_ERR_INIT;
	int rc = 0;

	keep_first(gt_usdt_attach(b, pid, &one), &one, &rc, err);
	if (b->functions)
		keep_first(gt_function_probes_attach(b->functions, pid, &one), &one, &rc, err);
	return rc;
}

/* Does the process belong to another user, while gtcollect lacks CAP_SYS_PTRACE? Newer kernels let
 * CAP_PERFMON read /proc/PID/maps. */
static bool is_forbidden(const struct gt_bpf_way *b, pid_t pid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return b->only_user && !stat(path, &st) && st.st_uid != geteuid();
}

int gt_bpf_way_attach(struct gt_bpf_way *b, pid_t pid, struct gt_err *err)
{
	struct gt_mapped_library list[LIBRARIES];
	struct gt_err one = GT_ERR_INIT;
	bool has_probes, selected;
	int rc, n;

	if (is_forbidden(b, pid))
		return b->opt.all_processes
			? 0
			: gt_err_set(err, -EACCES, "/proc/%d: %s", (int)pid, gt_process_refusal());
	rc = gt_loader_watch(b, pid);
	n = gt_mapped_libraries(pid, is_driver, NULL, list, LIBRARIES, err);
	has_probes = (n > 0 && b->opt.calls) || b->functions || b->opt.usdt->nusdt;
	if (n < 0)
		return n;
	if (!b->opt.all_processes && trace(b, pid, has_probes, err))
		return err->code;
	if (!n && has_ended(pid))
		return gt_err_set(err, -ESRCH, "process %d has ended", (int)pid);
	if (rc)
		return gt_bpf_why_not(rc, err);
	selected = is_selected(b, pid);
	if (selected ? gt_linked_files_remove_ended(&b->linked)
		     : gt_linked_files_remove(&b->linked, pid))
		gt_usdt_forget_seen(&b->usdt);
	/* one that cannot have its probes does not prevent those of others */
	if (selected)
		keep_first(attach_selected(b, pid, &one), &one, &rc, err);
	if (!n && b->opt.calls && !b->functions && !b->kernel_probes)
		keep_first(gt_err_set(&one, -ENOENT,
				   "process %d has no CUDA driver mapped (libcuda.so.1)", (int)pid),
			&one, &rc, err);
	for (int i = 0; b->opt.calls && i < n && i < (int)LIBRARIES; i++)
		keep_first(attach_library(b, &list[i], pid, &one), &one, &rc, err);
	return rc;
}

int gt_bpf_way_check(const struct gt_bpf_way *b, struct gt_err *err)
{
	return b->functions ? gt_function_probes_check(b->functions, err) : 0;
}

int gt_bpf_way_check_usdt(const struct gt_bpf_way *b, struct gt_err *err)
{
	return gt_usdt_check(b, err);
}

int gt_bpf_way_attach_all(struct gt_bpf_way *b, struct gt_err *err)
{
	DIR *all = opendir("/proc");
	struct dirent *e;
	int rc = 0;

	gt_bpf_begin_waits(b);
	while (all && rc != -EPERM && (e = readdir(all))) {
		struct gt_err one = GT_ERR_INIT;
		pid_t pid = atoi(e->d_name);

		rc = 0;
		if (pid > 0 && pid != getpid())
			rc = gt_bpf_way_attach(b, pid, &one);
		if (rc == -EPERM && !is_selected(b, pid))
			rc = 0;
		if (rc == -EPERM)
			*err = one;
	}
	if (all)
		closedir(all);
	return rc == -EPERM ? rc : 0;
}

void gt_bpf_detach_all(struct gt_bpf_way *b)
{
	gt_linked_files_close(&b->linked);
	bpf_link__destroy(b->new_code);
	b->new_code = NULL;
}
