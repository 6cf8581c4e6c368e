/* Threads that wait in a system call come first: their place does not change while it is looked
 * at. If none is suitable, all are tried again after a pause. */
#define _GNU_SOURCE
#include "collect/inject/inject.h"

#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "collect/inject/other_root.h"
#include "collect/ipc/process_status.h"
#include "collect/ipc/ring.h"

#define ROUNDS 50
#define ROUND_NS 20000000l
#define ENTRY "gt_attach" /* the guest's function */

struct work {
	pid_t pid;
	const char *library, *folder; /* their paths here */
	bool has_other_root;          /* the process does not see them */
	struct gt_injection *done;
	struct gt_err *err;
	struct gt_remote_symbols symbols;
	int rc;
};

/* ---- refusals ---- */

static int ptrace_scope(void)
{
	FILE *f = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	int scope = 0;

	if (f && fscanf(f, "%d", &scope) != 1)
		scope = 0;
	if (f)
		fclose(f);
	return scope;
}

/* Why ptrace is not permitted. Returns the code. */
static int refuse_ptrace(pid_t pid, int code, struct gt_err *err)
{
	int64_t tracer = gt_process_status(pid, "TracerPid", 10),
		uid = gt_process_status(pid, "Uid", 10);
	int scope = ptrace_scope();

	if (tracer > 0)
		return gt_err_set(err, code,
			"process %d is traced by process %d already, for example a debugger",
			(int)pid, (int)tracer);
	if (geteuid() && uid >= 0 && uid != geteuid())
		return gt_err_set(err, code,
			"process %d belongs to user %d: run gtcollect as that user or as root",
			(int)pid, (int)uid);
	if (code == -EACCES && !geteuid())
		return gt_err_set(err, code, "/proc/%d: %s", (int)pid, gt_process_refusal());
	if (scope > 2)
		return gt_err_set(err, code,
			"process %d may not be traced: kernel.yama.ptrace_scope is %d, which forbids it to all users until the machine is started again; record the program from its start, or by eBPF (--via ebpf)",
			(int)pid, scope);
	if (scope)
		return gt_err_set(err, code,
			"process %d may not be traced: kernel.yama.ptrace_scope is %d; it needs CAP_SYS_PTRACE, or 0 there",
			(int)pid, scope);
	return gt_err_set(err, code,
		"process %d may not be traced: it needs CAP_SYS_PTRACE, or the process forbids it (prctl PR_SET_DUMPABLE)",
		(int)pid);
}

static bool is_32_bit(pid_t pid)
{
	uint8_t ident[EI_NIDENT] = { 0 };
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (read(fd, ident, sizeof(ident)) != sizeof(ident))
		ident[EI_CLASS] = 0;
	close(fd);
	return ident[EI_CLASS] == ELFCLASS32;
}

/* The kernel permits this in the same cases as ptrace, but for Yama. */
static bool may_read(pid_t pid)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0 || (errno != EACCES && errno != EPERM);
}

/* A thread's state in /proc: S waits, R runs, T is stopped. */
static char state_of(pid_t pid, int tid)
{
	char path[64], text[512] = "";
	const char *p;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, tid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (!fgets(text, sizeof(text), f))
		*text = 0;
	fclose(f);
	p = strrchr(text, ')');
	return p && p[1] ? p[2] : 0;
}

static int check(const struct work *w)
{
	int pid = (int)w->pid;

	if (gt_process_status(w->pid, "Pid", 10) < 0)
		return gt_err_set(w->err, -ESRCH, "there is no process %d", pid);
	if (gt_process_status(w->pid, "TracerPid", 10) > 0)
		return refuse_ptrace(w->pid, -EPERM, w->err);
	if (!may_read(w->pid))
		return refuse_ptrace(w->pid, -EACCES, w->err);
	if (state_of(w->pid, pid) == 'T')
		return gt_err_set(w->err, -EBUSY,
			"process %d is stopped, by SIGSTOP or Ctrl-Z: kill -CONT %d continues it",
			pid, pid);
	if (is_32_bit(w->pid))
		return gt_err_set(w->err, -EINVAL,
			"process %d is a 32-bit program; the library is for 64 bits", pid);
	if (gt_process_status(w->pid, "Seccomp", 10) == 1)
		return gt_err_set(w->err, -EPERM,
			"process %d forbids itself all system calls but read and write (seccomp, strict mode)",
			pid);
	if (gt_process_status(w->pid, "SigIgn", 16) >> (SIGSEGV - 1) & 1)
		return gt_err_set(w->err, -EINVAL,
			"process %d ignores SIGSEGV, which a call in it needs", pid);
	return 0;
}

static int check_symbols(const struct work *w)
{
	const struct gt_remote_symbols *s = &w->symbols;

	if (!s->has_driver)
		return gt_err_set(w->err, -ENXIO,
			"process %d has no CUDA driver mapped (libcuda.so.1)", (int)w->pid);
	if (s->is_musl)
		return gt_err_set(w->err, -ENOENT,
			"process %d runs with musl; the library needs glibc", (int)w->pid);
	if (s->is_forbidden)
		return gt_err_set(
			w->err, -EACCES, "/proc/%d/root: %s", (int)w->pid, gt_process_refusal());
	if (!s->dlopen || !s->dlsym)
		return gt_err_set(w->err, -ENOENT,
			"process %d has no dlopen: it is linked statically, or its C library is not glibc",
			(int)w->pid);
	return 0;
}

/* ---- one thread ---- */

static int report_failure(const struct work *w, const char *what, int rc)
{
	if (rc == -ESRCH)
		return gt_err_set(w->err, rc, "process %d has ended", (int)w->pid);
	return gt_err_set(w->err, rc, "%s in process %d %s", what, (int)w->pid,
		rc == -EFAULT ? "crashed; the process goes on as before"
			      : "waits for another thread too long: try again");
}

/* The loader's message. */
static int report_dlopen(const struct work *w, struct gt_remote_thread *t)
{
	char text[120] = "";
	uint64_t at = 0;

	if (t->symbols->dlerror &&
		!gt_remote_call(t, t->symbols->dlerror, GT_REMOTE_ARGUMENTS(0), &at))
		gt_remote_read_text(t, at, text, sizeof(text));
	return gt_err_set(w->err, -ENOENT, "process %d cannot load the library: %s", (int)w->pid,
		*text ? text : "dlopen failed");
}

static int report_guest(const struct work *w, int code)
{
	if (code == EBUSY)
		return gt_err_set(w->err, -EBUSY,
			"process %d is recorded already by another gtcollect", (int)w->pid);
	if (code == EEXIST)
		return gt_err_set(w->err, -EBUSY,
			"process %d was started with gt's library: only gtcollect COMMAND can record it",
			(int)w->pid);
	return gt_err_set(w->err, -code, "process %d: %s", (int)w->pid, strerror(code));
}

static int open_library(
	const struct work *w, struct gt_remote_thread *t, const char *path, uint64_t *handle)
{
	uint64_t name = gt_remote_put_text(t, path);
	int rc = name
		? gt_remote_call(t, w->symbols.dlopen, GT_REMOTE_ARGUMENTS(name, RTLD_NOW), handle)
		: -EFAULT;

	if (rc)
		return report_failure(w, "dlopen", rc);
	return *handle ? 0 : report_dlopen(w, t);
}

/* If an earlier session has loaded it, the loader knows it by its name. */
static int open_library_in_memory(
	const struct work *w, struct gt_remote_thread *t, uint64_t *handle)
{
	char path[32];
	int fd, rc;

	if (w->symbols.has_library)
		return open_library(w, t, "libgtpreload.so", handle);
	fd = gt_remote_copy_file(t, w->library);
	if (fd < 0)
		return gt_err_set(w->err, fd,
			"process %d has another root folder, and cannot get the library there: %s",
			(int)w->pid, strerror(-fd));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rc = open_library(w, t, path, handle);
	gt_remote_close(t, fd);
	return rc;
}

/* Calls the guest's function with the session. */
static int attach(const struct work *w, struct gt_remote_thread *t, uint64_t entry)
{
	int there = w->has_other_root ? gt_remote_connect(t, &w->done->connection) : -1;
	uint64_t text, result = 0;
	char session[PATH_MAX];
	int rc;

	if (w->has_other_root && there < 0)
		return gt_err_set(w->err, there, "process %d cannot connect to gtcollect: %s",
			(int)w->pid, strerror(-there));
	if (w->has_other_root)
		snprintf(session, sizeof(session), GT_RING_CONNECTED "%d", there);
	else
		snprintf(session, sizeof(session), "%s:", w->folder);
	text = gt_remote_put_text(t, session);
	rc = text ? gt_remote_call(
			    t, entry, GT_REMOTE_ARGUMENTS(text, !w->symbols.has_library), &result)
		  : -EFAULT;
	if (there >= 0 && (rc || (int32_t)result))
		gt_remote_close(t, there);
	if (rc)
		return report_failure(w, ENTRY, rc);
	return (int32_t)result ? report_guest(w, (int32_t)result) : 0;
}

/* Calls dlopen(library), dlsym(handle, ENTRY) and that function in the stopped thread. */
static int load(const struct work *w, struct gt_remote_thread *t)
{
	uint64_t name = gt_remote_put_text(t, ENTRY), handle = 0, entry = 0;
	int rc = w->has_other_root ? open_library_in_memory(w, t, &handle)
				   : open_library(w, t, w->library, &handle);

	if (rc)
		return rc;
	rc = name ? gt_remote_call(t, w->symbols.dlsym, GT_REMOTE_ARGUMENTS(handle, name), &entry)
		  : -EFAULT;
	if (rc)
		return report_failure(w, "dlsym", rc);
	if (!entry)
		return gt_err_set(w->err, -ENOENT,
			"process %d has loaded a library of another version of gt", (int)w->pid);
	return attach(w, t, entry);
}

/* -EAGAIN: this thread is not suitable now. */
static int try_thread(const struct work *w, pid_t tid)
{
	struct gt_remote_thread t;
	int rc = gt_remote_stop(&t, w->pid, tid, &w->symbols);

	if (rc == -EPERM)
		return refuse_ptrace(w->pid, rc, w->err);
	if (rc)
		return -EAGAIN;
	rc = load(w, &t);
	w->done->stopped = gt_remote_continue(&t);
	w->done->tid = tid;
	return rc;
}

/* ---- all threads ---- */

static int try_threads(const struct work *w, char state)
{
	char path[32];
	struct dirent *e;
	DIR *tasks;
	int rc = -EAGAIN, tid;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)w->pid);
	tasks = opendir(path);
	if (!tasks)
		return gt_err_set(w->err, -ESRCH, "process %d has ended", (int)w->pid);
	while (rc == -EAGAIN && (e = readdir(tasks))) {
		tid = atoi(e->d_name);
		if (tid > 0 && state_of(w->pid, tid) == state)
			rc = try_thread(w, tid);
	}
	closedir(tasks);
	return rc;
}

/* On a thread of its own: when it ends, the kernel detaches from whatever it still traces. */
static void *run(void *arg)
{
	const struct timespec pause = { .tv_nsec = ROUND_NS };
	struct work *w = arg;

	w->rc = -EAGAIN;
	for (int i = 0; w->rc == -EAGAIN && i < ROUNDS; i++) {
		if (i)
			nanosleep(&pause, NULL);
		w->rc = try_threads(w, 'S');
		if (w->rc == -EAGAIN)
			w->rc = try_threads(w, 'R');
	}
	if (w->rc == -EAGAIN)
		w->rc = gt_err_set(w->err, -EBUSY,
			"process %d: no thread was at a place where it can load a library (%d attempts): try again",
			(int)w->pid, ROUNDS);
	return NULL;
}

int gt_inject(pid_t pid, const char *library, const char *folder, struct gt_injection *done,
	struct gt_err *err)
{
	struct work w = { .pid = pid,
		.library = library,
		.folder = folder,
		.has_other_root =
			!gt_remote_sees_file(pid, library) || !gt_remote_sees_file(pid, folder),
		.done = done,
		.err = err };
	pthread_t thread;
	int rc;

	done->connection = -1;
	rc = check(&w);
	if (rc)
		return rc;
	rc = gt_remote_symbols_read(pid, &w.symbols, err);
	if (!rc)
		rc = check_symbols(&w);
	if (rc)
		return rc;
	rc = pthread_create(&thread, NULL, run, &w);
	if (rc)
		return gt_err_set(err, -rc, "cannot start a thread: %s", strerror(rc));
	pthread_join(thread, NULL);
	if (w.rc && done->connection >= 0) {
		close(done->connection);
		done->connection = -1;
	}
	return w.rc;
}
