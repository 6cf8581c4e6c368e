#define _GNU_SOURCE
#include "collect/bpf/kernel/kernel_features.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "collect/bpf/bpf_state.h"
#include "collect/bpf/kernel/tracefs.h"
#include "collect/ipc/process_status.h"

#define PROBED "bpf_fentry_test1" /* the kernel has this function for such trials */

static bool answer(bool is_there, char *text, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
static bool answer(bool is_there, char *text, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, size, fmt, ap);
	va_end(ap);
	return is_there;
}

/* ---- what the kernel has ---- */

/* The first line of a file. False: there is no such file. */
static bool read_line(const char *path, char *line, int size)
{
	FILE *f = fopen(path, "re");
	bool any = f && fgets(line, size, f);

	if (f)
		fclose(f);
	if (any)
		line[strcspn(line, "\n")] = 0;
	return any;
}

bool gt_is_linux(unsigned major, unsigned minor)
{
	unsigned x = 0, y = 0;
	struct utsname u;

	return !uname(&u) && sscanf(u.release, "%u.%u", &x, &y) == 2 &&
		(x > major || (x == major && y >= minor));
}

static bool is_confidential(void)
{
	char line[128] = "";

	return read_line("/sys/kernel/security/lockdown", line, sizeof(line)) &&
		strstr(line, "[confidentiality]");
}

static bool has_sys(void) { return !access("/sys/kernel", F_OK); }

bool gt_has_btf(char *text, size_t size)
{
	if (!has_sys())
		return answer(false, text, size,
			"/sys/kernel/btf/vmlinux cannot be read: /sys is not mounted (mount -t sysfs sysfs /sys; in a container -v /sys:/sys:ro); --via inject needs none");
	if (!access("/sys/kernel/btf/vmlinux", R_OK))
		return answer(true, text, size, "the kernel describes its structs");
	return errno == ENOENT
		? answer(false, text, size,
			  "the kernel does not describe its structs: it needs CONFIG_DEBUG_INFO_BTF; --via inject needs none")
		: answer(false, text, size,
			  "/sys/kernel/btf/vmlinux cannot be read: %s; --via inject needs none",
			  strerror(errno));
}

/* Some distributions have it in older kernels. */
static bool has_multi(void) { return gt_is_linux(6, 6) || gt_uprobe_features().multi; }

static bool check_uprobes(char *text, size_t size)
{
	if (gt_perf_type("uprobe") < 0)
		return answer(false, text, size, "the kernel needs CONFIG_UPROBE_EVENTS");
	if (has_multi())
		return answer(
			true, text, size, "functions of programs and libraries can have probes");
	if (!gt_perf_uprobes_are_allowed())
		return answer(false, text, size, "%s", gt_refusal_text(-EACCES));
	return answer(true, text, size, "functions of programs and libraries can have probes%s",
		gt_uprobes_need_admin() ? " (before Linux 6.6: with CAP_SYS_ADMIN)" : "");
}

bool gt_has_cookies(void)
{
	if (!gt_bpf_way_is_allowed())
		return gt_is_linux(5, 15);
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_get_attach_cookie, NULL);
}

static bool check_cookies(char *text, size_t size)
{
	bool has = gt_has_cookies();

	return answer(has, text, size, "%s",
		has ? "programs learn at which probe they run"
		    : "Linux 5.15 has them; without, each probe has a small program of its own");
}

static bool check_multi(char *text, size_t size)
{
	bool has = has_multi() && gt_perf_type("uprobe") >= 0;

	return answer(has, text, size, "%s",
		has ? "Linux 6.6 or newer" : "Linux 6.6 has them; without, each probe costs more");
}

static bool check_sessions(char *text, size_t size)
{
	struct btf *btf = gt_has_btf(text, size) ? btf__load_vmlinux_btf() : NULL;
	bool has = btf && !libbpf_get_error(btf) &&
		btf__find_by_name_kind(btf, "bpf_session_is_return", BTF_KIND_FUNC) > 0 &&
		gt_is_linux(6, 13);

	if (btf && !libbpf_get_error(btf))
		btf__free(btf);
	return answer(has, text, size, "%s",
		has ? "one link for all functions of a library"
		    : "Linux 6.13 has them; without, each function has a perf event at its entry and its return");
}

bool gt_has_kprobes(char *text, size_t size)
{
	const struct gt_perf_probe p = { .type = gt_perf_type("kprobe"), .name = PROBED };
	int fd;

	if (p.type < 0)
		return answer(false, text, size,
			"kprobes are refused: this kernel was built without them (CONFIG_KPROBES)");
	fd = gt_perf_probe_open(&p);
	if (fd < 0)
		return answer(false, text, size, "kprobes are refused: %s%s",
			is_confidential()       ? "the kernel is locked down (confidentiality): "
				: fd == -EACCES ? "CAP_PERFMON is missing: "
						: "",
			strerror(-fd));
	close(fd);
	return answer(true, text, size, "functions of the kernel can have probes");
}

static bool check_fentry(char *text, size_t size)
{
	/* r0 = 0; exit */
	const struct bpf_insn code[] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT } };
	struct bpf_prog_load_opts opt = { .sz = sizeof(opt),
		.expected_attach_type = BPF_TRACE_FENTRY };
	int id = gt_has_btf(text, size) ? libbpf_find_vmlinux_btf_id(PROBED, BPF_TRACE_FENTRY)
					: -ESRCH,
	    program = -1, link = -1, why = -id;

	if (id > 0) {
		opt.attach_btf_id = (uint32_t)id;
		program = bpf_prog_load(BPF_PROG_TYPE_TRACING, "gt_try", "GPL", code, 2, &opt);
		why = errno;
	}
	if (program >= 0) {
		link = bpf_raw_tracepoint_open(NULL, program);
		why = errno;
		close(program);
	}
	if (link >= 0)
		close(link);
	return link >= 0
		? answer(true, text, size, "the kernel has them; gtcollect needs none")
		: answer(false, text, size, "refused (%s); gtcollect needs none", strerror(why));
}

static bool check_lockdown(char *text, size_t size)
{
	char line[128] = "";
	bool reads = read_line("/sys/kernel/security/lockdown", line, sizeof(line));

	return is_confidential()
		? answer(true, text, size,
			  "%s: eBPF may not read the kernel's memory; boot with lockdown=integrity or none",
			  line)
		: answer(false, text, size, "%s%s", reads ? line : "the kernel has no lockdown",
			  reads ? ": it does not restrict eBPF" : "");
}

static bool check_tracefs(char *text, size_t size)
{
	struct gt_err err = GT_ERR_INIT;
	int fd = gt_tracefs_open(&err);

	if (fd < 0)
		return answer(false, text, size, "--tracepoint needs it; %s", err.text);
	close(fd);
	return answer(true, text, size, "%s",
		!access("/sys/kernel/tracing/events", R_OK)
			? "/sys/kernel/tracing"
			: "it is not mounted, and gtcollect mounts it for itself");
}

/* ---- what the user may do ---- */

uint64_t gt_own_capabilities(void)
{
	int64_t mine = gt_process_status(0, "CapEff", 16);

	return mine < 0 ? 0 : (uint64_t)mine;
}

const char *gt_needed_capabilities(void)
{
	return gt_is_linux(6, 6) ? "cap_bpf,cap_perfmon,cap_sys_ptrace"
				 : "cap_bpf,cap_perfmon,cap_sys_ptrace,cap_sys_admin";
}

static bool check_capabilities(char *text, size_t size)
{
	static const struct {
		const char *name;
		unsigned bit;
	} needed[] = { { "CAP_BPF", CAP_BPF }, { "CAP_PERFMON", CAP_PERFMON },
		{ "CAP_SYS_PTRACE", CAP_SYS_PTRACE } };
	uint64_t mine = gt_own_capabilities();
	char missing[64] = "";

	for (unsigned i = 0; i < sizeof(needed) / sizeof(*needed); i++)
		if (!(mine >> needed[i].bit & 1))
			snprintf(missing + strlen(missing), sizeof(missing) - strlen(missing),
				"%s%s", *missing ? ", " : "", needed[i].name);
	return *missing
		? answer(false, text, size, "%s missing: setcap %s+ep gtcollect", missing,
			  gt_needed_capabilities())
		: answer(true, text, size,
			  "CAP_BPF, CAP_PERFMON, and CAP_SYS_PTRACE for programs of other users");
}

bool gt_has_memlock(char *text, size_t size)
{
	struct rlimit limit = { 0 };

	if (gt_is_linux(5, 11))
		return answer(true, text, size,
			"no limit: BPF maps count as memory of the cgroup (Linux 5.11 and newer)");
	getrlimit(RLIMIT_MEMLOCK, &limit);
	if (limit.rlim_cur == RLIM_INFINITY)
		return answer(true, text, size, "no limit");
	return answer(gt_own_capabilities() >> CAP_SYS_RESOURCE & 1, text, size,
		"the limit is %llu KiB, and BPF maps need more before Linux 5.11: ulimit -l unlimited, or the capability CAP_SYS_RESOURCE",
		(unsigned long long)limit.rlim_cur >> 10);
}

bool gt_uprobes_need_admin(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct mine[2], rest[2];
	bool allowed;

	if (syscall(SYS_capget, &header, mine))
		return false;
	memcpy(rest, mine, sizeof(rest));
	rest[0].effective &= ~(1u << CAP_SYS_ADMIN);
	syscall(SYS_capset, &header, rest);
	allowed = gt_perf_uprobes_are_allowed();
	syscall(SYS_capset, &header, mine);
	return !allowed;
}

/* Tries an event of all processes, as those of --tracepoint are. */
static bool check_paranoid(char *text, size_t size)
{
	struct perf_event_attr a = {
		.size = sizeof(a), .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY
	};
	char line[16] = "";
	int fd;

	if (!read_line("/proc/sys/kernel/perf_event_paranoid", line, sizeof(line)))
		return answer(false, text, size, "the kernel has no perf events");
	fd = (int)syscall(SYS_perf_event_open, &a, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return answer(fd >= 0, text, size, "%.8s: perf events of all processes %s", line,
		fd >= 0                                            ? "are permitted to gtcollect"
			: gt_own_capabilities() >> CAP_PERFMON & 1 ? "need CAP_SYS_ADMIN"
								   : "need CAP_PERFMON");
}

/* The kernel's fixed numbers of its first namespaces. */
#define FIRST_USER 0xeffffffdul
#define FIRST_PID 0xeffffffcul

/* The number of a namespace of gtcollect; 0: the one that the kernel started with, or unknown. */
static uint32_t other_namespace(const char *path, unsigned long first)
{
	struct stat st;

	return stat(path, &st) || st.st_ino == first ? 0 : (uint32_t)st.st_ino;
}

uint32_t gt_other_pid_namespace(void) { return other_namespace("/proc/self/ns/pid", FIRST_PID); }

static bool check_container(char *text, size_t size)
{
	if (other_namespace("/proc/self/ns/user", FIRST_USER))
		return answer(true, text, size,
			"a user namespace of its own: the kernel permits no eBPF in it; run gtcollect outside");
	if (gt_other_pid_namespace())
		return answer(true, text, size,
			"a pid namespace of its own: -p and -a see the processes in it only");
	if (!access("/.dockerenv", F_OK) || !access("/run/.containerenv", F_OK))
		return answer(true, text, size,
			"with the host's process ids and users; its capabilities are those of --cap-add");
	return answer(false, text, size, "all processes of the machine can be recorded");
}

bool gt_kernel_feature_is_there(const struct gt_kernel_feature *f, char *text, size_t size)
{
	return f->reads_sys && !has_sys() ? answer(false, text, size, "unknown without /sys")
					  : f->check(text, size);
}

const struct gt_kernel_feature gt_kernel_features[] = {
	{ "BTF", gt_has_btf, false },
	{ "uprobes", check_uprobes, true },
	{ "BPF cookies", check_cookies, false },
	{ "uprobe.multi", check_multi, true },
	{ "uprobe sessions", check_sessions, true },
	{ "kprobes", gt_has_kprobes, true },
	{ "fentry", check_fentry, true },
	{ "lockdown", check_lockdown, true },
	{ "tracefs", check_tracefs, false },
	{ "capabilities", check_capabilities, false },
	{ "memlock", gt_has_memlock, false },
	{ "perf_event_paranoid", check_paranoid, false },
	{ "container", check_container, false },
	{ NULL, NULL, false },
};
