/* Each check is a function that tests one thing and reports a finding. The table `checks` lists
 * them, the sources add theirs. A failed check says what to do. A missing GPU or driver (on a
 * login node) is a note, because recording still works. The last lines say whether gtcollect can
 * record and whether a CUDA program can run. */
#define _GNU_SOURCE
#include "collect/cli/doctor.h"

#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "collect/bpf/bpf_way.h"
#include "collect/bpf/kernel/kernel_features.h"
#include "collect/host/host_recording.h"
#include "collect/cli/child_process.h"
#include "collect/cli/metadata.h"
#include "collect/ipc/cupti_paths.h"
#include "collect/ipc/guest_server.h"
#include "collect/ipc/memory_headroom.h"
#include "collect/source/source.h"
#include "formats/arch/arch.h"
#include "formats/base/numbers.h"
#include "formats/os/program_folder.h"
#include "formats/text/printable.h"
#include "formats/trace/clock.h"

#define LIBCUDA "libcuda.so.1"

enum verdict { FINE, NOTE, BAD };
struct finding {
	enum verdict verdict;
	char text[512];
};

static void report(struct finding *f, enum verdict v, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void report(struct finding *f, enum verdict v, const char *fmt, ...)
{
	va_list ap;

	f->verdict = v;
	va_start(ap, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
}

/* ---- tries in a child process, which a library may crash or block ---- */

#define TIMEOUT 30 /* s: a driver may hang */

/* Tries something, writes the result as text to the file, and returns whether it succeeded. */
typedef bool attempt(const char *library, FILE *to);

static bool load(const char *library, FILE *to)
{
	void *h = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	struct link_map *map = NULL;
	char real[PATH_MAX];

	if (h && !dlinfo(h, RTLD_DI_LINKMAP, &map) && map)
		fputs(realpath(map->l_name, real) ? real : map->l_name, to);
	else
		fputs(dlerror(), to);
	return h;
}

/* The first calls of every CUDA program. */
static bool start_cuda(const char *library, FILE *to)
{
	void *h = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	int (*init)(unsigned) = h ? dlsym(h, "cuInit") : NULL;
	int (*count)(int *) = h ? dlsym(h, "cuDeviceGetCount") : NULL;
	int (*name)(char *, int, int) = h ? dlsym(h, "cuDeviceGetName") : NULL;
	int (*error)(int, const char **) = h ? dlsym(h, "cuGetErrorName") : NULL;
	int code, n = 0;
	const char *word = NULL;
	char first[100] = "";

	if (!init || !count || !name || !error) {
		fputs("it lacks functions of the CUDA driver", to);
		return false;
	}
	code = init(0);
	if (!code)
		code = count(&n);
	if (!code && n > 0)
		code = name(first, sizeof(first), 0);
	if (code)
		fprintf(to, "cuInit fails with %d (%s)", code,
			!error(code, &word) && word ? word : "no name");
	else
		fprintf(to, "%d device%s%s%.99s", n, gt_plural(n, "s"), n ? ", " : "", first);
	return !code && n;
}

static bool check_source(const char *name, FILE *to)
{
	return gt_source_find(name, strlen(name))->doctor(to);
}

static bool try_in_child(attempt *what, const char *library, char *result, size_t size)
{
	int p[2], status = 1;
	ssize_t n, got = 0;
	pid_t pid;

	result[0] = 0;
	if (pipe2(p, O_CLOEXEC))
		return false;
	pid = fork();
	if (!pid) {
		FILE *to = fdopen(p[1], "w");
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		alarm(TIMEOUT);
		status = !to || !what(library, to);
		_exit(to && fflush(to) ? 2 : status);
	}
	close(p[1]);
	while (pid > 0 && (size_t)got < size - 1 &&
		(n = read(p[0], result + got, size - 1 - (size_t)got)) > 0)
		got += n;
	result[got] = 0;
	close(p[0]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return false;
	if (WIFSIGNALED(status))
		snprintf(result, size,
			WTERMSIG(status) == SIGALRM ? "it does not return"
						    : "it is killed by signal %d",
			WTERMSIG(status));
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* ---- the checks ---- */

static void check_library(struct finding *f)
{
	struct gt_err err = GT_ERR_INIT;
	char path[4200], result[300];

	if (gt_session_library(path, sizeof(path), &err))
		report(f, BAD, "%s: reinstall, or set GT_GUEST to the library's path", err.text);
	else if (!try_in_child(load, path, result, sizeof(result)))
		report(f, BAD, "%.150s does not load: %.280s", path, result);
	else
		report(f, FINE, "%.300s loads; C library %s (2.17 or newer is needed)", path,
			gnu_get_libc_version());
}

static void check_session(struct finding *f)
{
	struct gt_err err = GT_ERR_INIT;
	char base[GT_SESSION_PATH];

	if (gt_session_base(base, &err))
		report(f, BAD, "%s: set TMPDIR to a folder of yours", err.text);
	else
		report(f, FINE, "session directories go to %s", base);
}

static void check_memory(struct finding *f)
{
	struct gt_rings_options opt = { 0 };
	struct gt_err err = GT_ERR_INIT;
	struct gt_rings rings;
	char what[300];
	uint64_t room = gt_memory_headroom(what, sizeof(what));

	if (gt_rings_open(&rings, &opt, &err)) {
		report(f, BAD, "%s", err.text);
		return;
	}
	gt_rings_close(&rings);
	if (room == UINT64_MAX)
		report(f, FINE, "64 MiB of shared memory for the rings can be reserved");
	else
		report(f, FINE,
			"64 MiB of shared memory for the rings can be reserved; %llu MiB are "
			"left under %s",
			(unsigned long long)(room >> 20), what);
}

static void check_clock(struct finding *f)
{
	struct gt_anchor a = gt_clock_anchor(gt_clock_trusts_ticks());

	if (!gt_clock_trusts_ticks())
		report(f, NOTE,
			"the kernel's clock source is not " GT_ARCH_CLOCKSOURCE
			": calls are timed with clock_gettime, some 20 ns slower per call");
	else
		report(f, a.error <= GT_CLOCK_ERROR_MAX ? FINE : NOTE,
			"clock source " GT_ARCH_CLOCKSOURCE ", read to within %u ns", a.error);
}

static void check_driver(struct finding *f)
{
	char version[64];

	if (gt_driver_version(version, sizeof(version)))
		report(f, FINE, "NVIDIA kernel driver %s", version);
	else
		report(f, NOTE,
			"no NVIDIA kernel driver is loaded: real programs need one; the samples "
			"run on the simulated driver");
}

static void check_devices(struct finding *f)
{
	DIR *d = opendir("/dev");
	struct dirent *e;
	char path[300], closed[400] = "";
	unsigned open_ones = 0;

	while (d && (e = readdir(d))) {
		if (strncmp(e->d_name, "nvidia", 6) || !strcmp(e->d_name, "nvidia-caps") ||
			!strcmp(e->d_name, "nvidia-caps-imex-channels"))
			continue;
		snprintf(path, sizeof(path), "/dev/%s", e->d_name);
		if (!access(path, R_OK | W_OK))
			open_ones++;
		else if (!closed[0])
			snprintf(closed, sizeof(closed), "%s: %s", path, strerror(errno));
	}
	if (d)
		closedir(d);
	if (closed[0])
		report(f, NOTE, "%s: a program of yours cannot use it; ask for access to it",
			closed);
	else if (open_ones)
		report(f, FINE, "%u device file%s /dev/nvidia* can be opened", open_ones,
			gt_plural(open_ones, "s"));
	else
		report(f, NOTE,
			"there are no device files /dev/nvidia*; for a container: start the "
			"container with access to the GPU (--gpus all)");
}

/* The driver that CUDA programs find; set by check_libcuda. */
static enum { CUDA_ABSENT, CUDA_DEAD, CUDA_SIMULATED, CUDA_THERE } cuda;

static void check_libcuda(struct finding *f)
{
	char path[300], result[200];

	if (!try_in_child(load, LIBCUDA, path, sizeof(path))) {
		report(f, NOTE,
			LIBCUDA
			" is not found (%s): set LD_LIBRARY_PATH if it is somewhere unusual",
			path);
		return;
	}
	cuda = !try_in_child(start_cuda, LIBCUDA, result, sizeof(result)) ? CUDA_DEAD
		: strstr(result, "(Simulated)")                           ? CUDA_SIMULATED
									  : CUDA_THERE;
	report(f, cuda == CUDA_DEAD ? NOTE : FINE, LIBCUDA " is %s; %s", path,
		result[0] ? result : "no details");
}

static const char *environment(const char *name) { return getenv(name); }

/* Writes the path of the loaded library to `path`. */
static void *open_cupti(const char *name, char *path, size_t size)
{
	void *l = dlopen(name, RTLD_NOW);
	int more = 1;

	snprintf(path, size, "%s", name);
	for (unsigned i = 0; !l && (more = gt_cupti_candidate(i, environment, name, path, size));
		i++)
		l = more > 0 ? dlopen(path, RTLD_NOW) : NULL;
	return l;
}

/* Loads the libcupti that gtcollect's library uses in a program that has not loaded one. */
static bool load_cupti(const char *library, FILE *to)
{
	static const char *const names[] = GT_CUPTI_NAMES;
	int (*version)(uint32_t *);
	char path[PATH_MAX];
	uint32_t v = 0;

	(void)library;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		void *l = open_cupti(names[i], path, sizeof(path));

		if (!l)
			continue;
		version = (int (*)(uint32_t *))dlsym(l, "cuptiGetVersion");
		if (version && !version(&v))
			fprintf(to, "%s, API version %u", path, v);
		return version != NULL;
	}
	return false;
}

static void check_cupti(struct finding *f)
{
	char result[300];

	if (try_in_child(load_cupti, NULL, result, sizeof(result)))
		report(f, FINE, "-e gpu finds %s", result);
	else
		report(f, NOTE,
			"-e gpu finds no libcupti by name or in a CUDA toolkit: programs with "
			"their own (PyTorch) are recorded nevertheless; "
			"for others "
			"use --cupti FILE, or the times of CUDA events (--gpu-timing)");
}

/* Does the driver have the functions that guest_event_timing.c calls? */
static bool load_events(const char *library, FILE *to)
{
	static const char *const names[] = { "cuEventCreate", "cuEventRecord", "cuEventQuery",
		"cuEventElapsedTime", "cuStreamIsCapturing", "cuThreadExchangeStreamCaptureMode",
		"cuStreamGetCtx", "cuDevicePrimaryCtxGetState" };
	void *l = dlopen(library, RTLD_NOW);

	for (size_t i = 0; l && i < sizeof(names) / sizeof(*names); i++)
		if (!dlsym(l, names[i])) {
			fputs(names[i], to);
			return false;
		}
	return l;
}

static void check_events(struct finding *f)
{
	char result[300];

	if (try_in_child(load_events, LIBCUDA, result, sizeof(result)))
		report(f, FINE,
			"-e gpu --gpu-timing events works with this driver, and auto where there "
			"is no CUPTI");
	else
		report(f, NOTE, "-e gpu without CUPTI needs a driver with CUDA events: %s%s",
			*result ? result : "there is no " LIBCUDA, *result ? " is missing" : "");
}

static void check_lockdown(struct finding *f)
{
	char line[128] = "";
	FILE *file = fopen("/sys/kernel/security/lockdown", "re");

	if (file && !fgets(line, sizeof(line), file))
		line[0] = 0;
	if (file)
		fclose(file);
	line[strcspn(line, "\n")] = 0;
	report(f, FINE, "recording needs neither root nor kernel settings%s%.100s",
		line[0] ? "; lockdown: " : "", line);
}

static bool load_bpf(const char *unused, FILE *to) { return gt_bpf_way_doctor(to); }

static void check_ebpf(struct finding *f)
{
	char text[400];

	if (try_in_child(load_bpf, NULL, text, sizeof(text)))
		report(f, FINE, "-p and -a can record programs that already run: %s", text);
	else
		report(f, NOTE, "-p and -a by eBPF do not work here: %.300s", text);
}

static void check_switches(struct finding *f)
{
	if (gt_host_allows_switches())
		report(f, FINE, "-e sched -- COMMAND records when threads run, also without eBPF");
	else
		report(f, NOTE,
			"-e sched needs eBPF here: the kernel refuses perf events (sysctl kernel.perf_event_paranoid=2 permits them; a container's seccomp profile may refuse perf_event_open)");
}

static void check_samples(struct finding *f)
{
	if (gt_host_allows_samples() && gt_host_reads_memory(0))
		report(f, FINE,
			"-e samples -- COMMAND records what threads execute, by perf events");
	else if (gt_host_allows_samples())
		report(f, NOTE,
			"-e samples has no frames of Python, and waits of -e sched have no reasons without eBPF: the kernel refuses to read other processes (kernel.yama.ptrace_scope above 1, or a seccomp profile without process_vm_readv)");
	else
		report(f, FINE,
			"-e samples -- COMMAND records what threads execute, by timers of the threads, because the kernel refuses perf events (sysctl kernel.perf_event_paranoid=2 permits them; a container's seccomp profile may refuse perf_event_open)");
}

static void check_source_in_child(const struct gt_source *source, struct finding *f)
{
	char text[300];

	if (try_in_child(check_source, source->name, text, sizeof(text)))
		report(f, FINE, "-e %s can record %s", source->name, text);
	else
		report(f, NOTE, "%.200s (it needs %s); everything else can be recorded", text,
			source->needs ? source->needs : "nothing");
}

static const struct {
	const char *name;
	void (*run)(struct finding *f);
} checks[] = {
	{ "library", check_library },
	{ "session", check_session },
	{ "memory", check_memory },
	{ "clock", check_clock },
	{ "rights", check_lockdown },
	{ "driver", check_driver },
	{ "devices", check_devices },
	{ "libcuda", check_libcuda },
	{ "cupti", check_cupti },
	{ "events", check_events },
	{ "ebpf", check_ebpf },
	{ "switches", check_switches },
	{ "samples", check_samples },
};

/* A build has a simulated driver beside gtcollect; an installation has none. */
static void print_simulator_hint(FILE *to)
{
	char self[PATH_MAX], sim[PATH_MAX + 32];

	gt_program_folder(self, sizeof(self));
	snprintf(sim, sizeof(sim), "%s/sim/" LIBCUDA, self);
	if (!access(sim, R_OK))
		fprintf(to,
			"The sample programs run on a simulated one: set LD_LIBRARY_PATH to "
			"%s/sim and record one of %s/samples.\n",
			self, self);
	else
		fputs("gt's sources have a simulated one, for the sample programs: make demo.\n",
			to);
}

/* Can gtcollect record here, and can CUDA programs run? */
static void print_conclusion(FILE *to, bool bad)
{
	static const char *const programs[] = {
		[CUDA_ABSENT] = "A CUDA driver is missing: CUDA programs find no " LIBCUDA
				" and do not run here.",
		[CUDA_DEAD] = "What does not work is the CUDA driver: CUDA programs find " LIBCUDA
			      ", but cannot start it.",
		[CUDA_SIMULATED] =
			"CUDA programs find the simulated driver here, which runs the sample "
			"programs and their like.",
		[CUDA_THERE] = "CUDA programs find a driver and devices.",
	};

	if (bad)
		fputs("Recording does not work here yet: see the lines that say FAIL.\n", to);
	else
		fputs("Recording works here: the library was loaded, a session and its memory "
		      "were made, the clock was read.\n",
			to);
	fprintf(to, "%s\n", programs[cuda]);
	if (cuda == CUDA_ABSENT || cuda == CUDA_DEAD)
		print_simulator_hint(to);
}

/* True: the finding is a failure. */
static bool print_finding(FILE *to, const char *name, const struct finding *f)
{
	static const char *const words[] = { "ok", "note", "FAIL" };

	fprintf(to, "%-5s %-8s ", words[f->verdict], name);
	gt_printable_write(to, f->text);
	fputc('\n', to);
	return f->verdict == BAD;
}

/* What the way by eBPF uses, a line each. */
static void print_kernel_features(FILE *to)
{
	char text[300];

	if (gt_kernel_features->name)
		fputs("\neBPF (-p, -a, --via ebpf, --kernel):\n", to);
	for (const struct gt_kernel_feature *f = gt_kernel_features; f->name; f++) {
		bool is_there = gt_kernel_feature_is_there(f, text, sizeof(text));

		fprintf(to, "%-5s %-19s ", is_there ? "yes" : "no", f->name);
		gt_printable_write(to, text);
		fputc('\n', to);
	}
	if (gt_kernel_features->name)
		fputc('\n', to);
}

int gt_doctor(FILE *to)
{
	bool bad = false;

	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++) {
		struct finding f = { FINE, "" };

		checks[i].run(&f);
		bad |= print_finding(to, checks[i].name, &f);
	}
	for (const struct gt_source *const *s = gt_source_table; *s; s++) {
		struct finding f = { FINE, "" };

		if (!(*s)->doctor)
			continue;
		check_source_in_child(*s, &f);
		bad |= print_finding(to, (*s)->name, &f);
	}
	print_kernel_features(to);
	print_conclusion(to, bad);
	return bad;
}

/* ---- why nothing was seen ---- */

/* Does the ELF file name a dynamic linker? */
static bool has_interpreter(int fd, const ElfW(Ehdr) * e)
{
	for (unsigned i = 0; i < e->e_phnum; i++) {
		ElfW(Phdr) p;

		if (pread(fd, &p, sizeof(p), (off_t)(e->e_phoff + i * (uint64_t)e->e_phentsize)) !=
			sizeof(p))
			return true; /* cannot tell */
		if (p.p_type == PT_INTERP)
			return true;
	}
	return false;
}

static const char *check_elf(int fd)
{
	ElfW(Ehdr) e;

	if (pread(fd, &e, sizeof(e), 0) != sizeof(e) || memcmp(e.e_ident, ELFMAG, SELFMAG))
		return NULL;
	if (e.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
		return "it is a program for another word size, into which the library cannot be "
		       "loaded";
	return has_interpreter(fd, &e)
		? NULL
		: "it is linked statically, so no library can be preloaded into it";
}

bool gt_doctor_libcuda(void)
{
	char result[300];

	return try_in_child(load, LIBCUDA, result, sizeof(result));
}

const char *gt_doctor_command(const char *command)
{
	char path[PATH_MAX];
	const char *why = NULL;
	struct stat st;
	int fd;

	if (gt_child_find(command, path) || (fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)
		return NULL;
	if (!fstat(fd, &st) && st.st_mode & (S_ISUID | S_ISGID) && geteuid())
		why = "it is set-user-ID or set-group-ID, and the system ignores LD_PRELOAD for "
		      "such programs";
	else if (fgetxattr(fd, "security.capability", NULL, 0) > 0 && geteuid())
		why = "its file has capabilities, and the system ignores LD_PRELOAD for such "
		      "programs";
	else
		why = check_elf(fd);
	close(fd);
	return why;
}
