/* Links of probes on kernels of several versions, which refuse some of the places. This program
 * answers bpf() like such a kernel. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "collect/bpf/links/linked_files.h"
#include "tests/unit/t.h"

#define PLACES 1000u

static struct {
	bool multi, of_process, session; /* what it has */
	bool has_rights;
	bool refused[PLACES]; /* by offset */
	int code;             /* of a refused place */
	unsigned links;       /* calls that would make a link in the file */
	unsigned open;        /* places of the last links, by their sum */
	pid_t pid;            /* of the last link */
	unsigned type;
} kernel;

/* The part of union bpf_attr that headers before Linux 6.6 lack. */
struct link_request {
	uint32_t program, target, type, flags;
	uint64_t path, offsets, counters, cookies;
	uint32_t count, multi_flags, pid, unused;
};

static int make_link(const struct link_request *r)
{
	const uint64_t *offsets = (const uint64_t *)(uintptr_t)r->offsets;
	bool is_session = r->type == GT_UPROBE_SESSION;

	if (is_session ? !kernel.session : r->type != GT_UPROBE_MULTI || !kernel.multi)
		return -EINVAL;
	if (kernel.of_process && (int)r->pid < 0)
		return -EINVAL;
	if (!strcmp((const char *)(uintptr_t)r->path, "/"))
		return -EBADF;
	kernel.links++;
	for (uint32_t i = 0; i < r->count; i++)
		if (kernel.refused[offsets[i]])
			return kernel.code;
	kernel.open = r->count;
	kernel.pid = (pid_t)r->pid;
	kernel.type = r->type;
	return memfd_create("link", MFD_CLOEXEC);
}

/* Replaces the function of the C library. */
long syscall(long number, ...)
{
	static long (*next)(long, ...);
	long a[6];
	va_list ap;
	int rc;

	va_start(ap, number);
	for (unsigned i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (!next)
		next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	if (number != SYS_bpf)
		return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	rc = !kernel.has_rights                ? -EPERM
		: (int)a[0] == BPF_LINK_CREATE ? make_link((const struct link_request *)a[1])
		: (int)a[0] == BPF_PROG_LOAD   ? memfd_create("program", MFD_CLOEXEC)
					       : -EINVAL;
	if (rc >= 0)
		return rc;
	errno = -rc;
	return -1;
}

static void boot(bool multi, bool of_process, bool session)
{
	memset(&kernel, 0, sizeof(kernel));
	kernel.multi = multi;
	kernel.of_process = of_process;
	kernel.session = session;
	kernel.has_rights = true;
	kernel.code = -GT_ENOTSUPP;
}

static void add_places(struct gt_probe_places *p, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		CHECK_EQ(gt_probe_places_add(p, i, 7000 + i), 0);
}

/* ---- versions ---- */

static bool features_are(bool multi, bool of_process, bool session)
{
	const struct gt_uprobe_features f = gt_uprobe_features();

	return f.multi == multi && f.of_process == of_process && f.session == session;
}

static void versions(void)
{
	boot(false, false, false); /* before 6.6 */
	CHECK(features_are(false, false, false));
	boot(true, false, false); /* 6.6 to 6.9 */
	CHECK(features_are(true, false, false));
	boot(true, true, false); /* 6.10 to 6.12 */
	CHECK(features_are(true, true, false));
	boot(true, true, true);
	CHECK(features_are(true, true, true));
	kernel.has_rights = false;
	CHECK(features_are(false, false, false));
}

/* The link of a probe for a process: its pid, or 0 if the kernel would trace only one thread. */
static void links_of_processes(void)
{
	struct gt_probe_places places = { NULL };
	struct gt_refusals refusals;
	struct gt_probe_link l;

	add_places(&places, 3);
	for (unsigned i = 0; i < 3; i++) {
		struct gt_probe_programs programs = { .is_point = true };

		boot(true, i > 0, i > 1);
		programs.kernel = gt_uprobe_features();
		CHECK_EQ(gt_probe_link_open(&l, &programs, "/a", 42, &places, &refusals), 0);
		CHECK_EQ(kernel.pid, i ? 42 : 0);
		CHECK(l.is_of_all == !i);
		CHECK_EQ(kernel.type, GT_UPROBE_MULTI);
		gt_probe_link_close(&l);
		programs.is_point = false;
		CHECK_EQ(gt_probe_link_open(&l, &programs, "/a", 42, &places, &refusals), 0);
		CHECK_EQ(kernel.type, i == 2 ? GT_UPROBE_SESSION : GT_UPROBE_MULTI);
		CHECK_EQ(kernel.pid, i ? 42 : 0);
		gt_probe_link_close(&l);
	}
	gt_probe_places_release(&places);
}

/* ---- refused places ---- */

/* Links places of which the kernel refuses some. */
static void link_refused(unsigned n, int code)
{
	const struct gt_probe_programs programs = { .is_point = true,
		.kernel = { true, true, true } };
	struct gt_probe_places places = { NULL };
	struct gt_refusals refusals;
	struct gt_probe_link l;
	unsigned k = 0;

	kernel.code = code;
	add_places(&places, n);
	CHECK_EQ(gt_probe_link_open(&l, &programs, "/a", 0, &places, &refusals), 0);
	for (unsigned i = 0; i < n; i++) {
		if (!kernel.refused[i])
			continue;
		if (k < refusals.n) {
			CHECK_EQ(refusals.list[k].offset, i);
			CHECK_EQ(refusals.list[k].cookie, 7000 + i);
			CHECK_EQ(refusals.list[k].why, code);
		}
		k++;
	}
	CHECK_EQ(refusals.n, k);
	CHECK((l.multi[0] >= 0) == (k < n));
	if (k < n)
		CHECK_EQ(kernel.open, n - k);
	gt_probe_link_close(&l);
	gt_refusals_release(&refusals);
	gt_probe_places_release(&places);
}

static void refused_places(void)
{
	boot(true, true, true);
	link_refused(PLACES, -GT_ENOTSUPP); /* none */
	CHECK_EQ(kernel.links, 1);
	for (unsigned i = 0; i < PLACES; i += PLACES - 1) {
		boot(true, true, true);
		kernel.refused[i] = true;
		/* all, two halves at each of 10 steps, the place itself, and the rest */
		link_refused(PLACES, -EINVAL);
		CHECK(kernel.links <= 23);
	}
	for (unsigned n = 1; n < 20; n++) {
		boot(true, true, true);
		for (unsigned i = 0; i < n; i++)
			kernel.refused[i] = true;
		link_refused(n, -EOPNOTSUPP); /* all of them */
	}
	srand(1);
	for (unsigned round = 0; round < 200; round++) {
		boot(true, true, true);
		for (unsigned i = 0; i < 5; i++)
			kernel.refused[(unsigned)rand() % PLACES] = true;
		link_refused(1 + (unsigned)rand() % PLACES, -GT_ENOTSUPP);
	}
}

/* An error that belongs to no place, and too many refused places. */
static void failures(void)
{
	const struct gt_probe_programs programs = { .is_point = true,
		.kernel = { true, true, true } };
	struct gt_probe_places places = { NULL };
	struct gt_refusals refusals;
	struct gt_probe_link l;

	add_places(&places, PLACES);
	boot(true, true, true);
	kernel.refused[3] = true;
	kernel.code = -ESRCH;
	CHECK_EQ(gt_probe_link_open(&l, &programs, "/a", 1, &places, &refusals), -ESRCH);
	CHECK_EQ(kernel.links, 1);
	CHECK(l.multi[0] == -1 && !refusals.n);
	memset(kernel.refused, true, sizeof(kernel.refused));
	kernel.code = -GT_ENOTSUPP;
	CHECK_EQ(gt_probe_link_open(&l, &programs, "/a", 1, &places, &refusals), -E2BIG);
	CHECK(kernel.links < 1100 && l.multi[0] == -1);
	gt_refusals_release(&refusals);
	gt_probe_places_release(&places);
}

/* A second process knows the refused places and does not try them again; it does when the file
 * has changed. */
static void known_places(void)
{
	const struct gt_probe_programs programs = { .is_point = true,
		.kernel = { true, true, true } };
	struct gt_linked_file which = { .kind = GT_LINKED_USDT, .pid = 1, .inode = 5 };
	struct gt_probe_places places = { NULL };
	struct gt_linked_files f = { NULL };
	char path[] = "/tmp/gt_probe_XXXXXX";
	int fd = mkstemp(path);

	add_places(&places, 8);
	boot(true, true, true);
	kernel.refused[3] = kernel.refused[6] = true;
	CHECK_EQ(gt_linked_files_add(&f, which, &programs, fd, &places), 6);
	CHECK_EQ(f.nrefused, 2);
	CHECK_EQ(f.refused[1].cookie, 7006);
	kernel.links = 0;
	which.pid = 2;
	CHECK_EQ(gt_linked_files_add(&f, which, &programs, fd, &places), 6);
	CHECK_EQ(kernel.links, 1);
	CHECK_EQ(f.nrefused, 2);
	kernel.refused[3] = kernel.refused[6] = false;
	do
		CHECK(!fchmod(fd, 0640) && !fchmod(fd, 0600));
	while (gt_linked_files_add(&f, which, &programs, fd, &places) == 6);
	CHECK_EQ(kernel.open, 8);
	gt_linked_files_close(&f);
	CHECK_EQ(f.nrefused, 2);
	gt_linked_files_release(&f);
	gt_probe_places_release(&places);
	close(fd);
	unlink(path);
}

T_MAIN(T(versions), T(links_of_processes), T(refused_places), T(failures), T(known_places))
