/* Cost of a call whose entry and return have probes: a 1 ns function of the simulated driver, which
 * this program calls in a loop while nothing is attached to it, empty BPF programs are (_empty),
 * gtcollect is, and bpftrace is that only counts the probes (_bpftrace), in turn. Prints the
 * additional processor time of a call, medians of the rounds. gtcollect and the empty programs have
 * probes in all of the driver's functions, bpftrace in one. With the loop's ioctls recorded, too
 * (the default), the kernel also takes its slow path at each system call, of which a return probe
 * makes one.
 * Needs root; prints nothing without. */
#define _GNU_SOURCE
#include <bpf/libbpf.h>
#include <dlfcn.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "collect/bpf/bpf_way.h"
#include "collect/bpf/links/mapped_library.h"
#include "collect/bpf/links/probe_link.h"
#include "formats/base/sorted.h"

#define ROUNDS 7
#define CALLS 200000

enum way { NOTHING, EMPTY, GT, GT_REQUESTS, BPFTRACE, WAYS };
static const char *const names[WAYS] = { "plain_call_ns", "probed_call_ns_empty", "probed_call_ns",
	"probed_call_with_requests_ns", "probed_call_ns_bpftrace" };
static char build[PATH_MAX];
static int (*function)(void **), (*announced)(int *);

static void die(const char *what)
{
	fprintf(stderr, "bench_probed_call: %s\n", what);
	exit(1);
}

/* ---- another program that attaches ---- */

struct tracer {
	pid_t pid;
	FILE *says; /* its standard output and error */
};

static void start(struct tracer *t, char *const *argv)
{
	int p[2];

	if (pipe(p) || (t->pid = fork()) < 0)
		die("cannot start a process");
	if (!t->pid) {
		dup2(p[1], 1);
		dup2(p[1], 2);
		close(p[0]);
		execvp(argv[0], argv);
		_exit(127);
	}
	close(p[1]);
	t->says = fdopen(p[0], "r");
}

static bool waits_for(struct tracer *t, const char *text)
{
	char line[4096];

	while (fgets(line, sizeof(line), t->says))
		if (strstr(line, text))
			return true;
	return false;
}

/* bpftrace may miss a signal. */
static bool stop(struct tracer *t, const char *text)
{
	bool said = false;
	int status = 1;

	for (;;) {
		struct pollfd p = { .fd = fileno(t->says), .events = POLLIN };

		kill(t->pid, SIGINT);
		if (poll(&p, 1, 2000) == 1)
			break;
	}
	said = waits_for(t, text);
	while (waits_for(t, "\n"))
		;
	fclose(t->says);
	waitpid(t->pid, &status, 0);
	return said && !status;
}

/* ---- empty programs ---- */

struct empty {
	struct bpf_object *object;
	struct gt_probe_link link;
};

static int no_print(enum libbpf_print_level level, const char *format, va_list args) { return 0; }

static void load(struct empty *e, struct gt_probe_programs *programs)
{
	const struct gt_uprobe_features kernel = gt_uprobe_features();
	char path[PATH_MAX + 32];
	struct bpf_program *p[3];

	snprintf(path, sizeof(path), "%s/gen/empty_probes.o", build);
	e->object = bpf_object__open_file(path, NULL);
	if (!e->object)
		die("no build/gen/empty_probes.o");
	p[0] = bpf_object__find_program_by_name(e->object, "on_session");
	p[1] = bpf_object__find_program_by_name(e->object, "on_entry");
	p[2] = bpf_object__find_program_by_name(e->object, "on_return");
	bpf_program__set_autoload(p[0], kernel.session);
	bpf_program__set_autoload(p[1], !kernel.session);
	bpf_program__set_autoload(p[2], !kernel.session);
	bpf_program__set_expected_attach_type(p[0], (enum bpf_attach_type)GT_UPROBE_SESSION);
	bpf_program__set_expected_attach_type(p[1], (enum bpf_attach_type)GT_UPROBE_MULTI);
	bpf_program__set_expected_attach_type(p[2], (enum bpf_attach_type)GT_UPROBE_MULTI);
	*programs = (struct gt_probe_programs){
		.kernel = kernel, .session = p[0], .entry = p[1], .ret = p[2]
	};
	if (bpf_object__load(e->object))
		die("cannot load the empty programs");
}

static bool is_driver(const void *arg, const char *name)
{
	(void)arg;
	return gt_mapped_file_has_prefix(name, "libcuda.so");
}

static void attach_empty(struct empty *e)
{
	struct gt_mapped_library library;
	struct gt_library_functions f;
	struct gt_probe_places places = { NULL };
	struct gt_probe_programs programs;
	struct gt_refusals refusals;
	struct gt_err err = GT_ERR_INIT;
	char path[32];
	int fd;

	load(e, &programs);
	if (gt_mapped_libraries(getpid(), is_driver, NULL, &library, 1, &err) != 1)
		die("no driver is mapped");
	fd = gt_mapped_library_open(&library, &err);
	if (fd < 0 || gt_library_functions_read(&f, fd, library.name, "cu*", false, &err))
		die(err.text);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (size_t i = 0; i < f.n; i++)
		if (!f.list[i].slow)
			gt_probe_places_add(&places, f.list[i].offset, i);
	if (gt_probe_link_open(&e->link, &programs, path, getpid(), &places, &refusals))
		die("cannot attach the empty programs");
	gt_refusals_release(&refusals);
	close(fd);
	gt_probe_places_release(&places);
	gt_library_functions_release(&f);
}

/* ---- rounds ---- */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double calls(void)
{
	double from = now();
	void *context;

	for (long i = 0; i < CALLS; i++)
		function(&context);
	return (now() - from) / CALLS;
}

static double under_gtcollect(const char *events)
{
	char program[PATH_MAX + 32], pid[32];
	char *argv[] = { program, "-f", "-e", (char *)events, "-o", "call.zst", "-p", pid, NULL };
	struct tracer t;
	double took;

	snprintf(program, sizeof(program), "%s/gtcollect", build);
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	start(&t, argv);
	if (!waits_for(&t, "recording"))
		die("gtcollect does not record");
	took = calls();
	if (!stop(&t, "no losses"))
		die("gtcollect has lost calls");
	return took;
}

/* bpftrace says nothing once its probes are set. So it prints when one is hit. */
static double under_bpftrace(void)
{
	char text[4 * PATH_MAX], line[256] = "";
	char *argv[] = { "bpftrace", "-e", text, NULL };
	struct tracer t;
	double took;
	int version;

	snprintf(text, sizeof(text),
		"uprobe:%s/sim/libcuda.so.1:cuCtxGetCurrent,uretprobe:%s/sim/libcuda.so.1:cuCtxGetCurrent { @[probe] = count(); } "
		"uprobe:%s/sim/libcuda.so.1:cuDriverGetVersion { printf(\"attached\\n\"); }",
		build, build, build);
	start(&t, argv);
	for (bool attached = false; !attached;) {
		struct pollfd p = { .fd = fileno(t.says), .events = POLLIN };

		announced(&version);
		if (poll(&p, 1, 50) != 1)
			continue;
		if (!fgets(line, sizeof(line), t.says))
			die("bpftrace has ended");
		attached = strstr(line, "attached");
	}
	took = calls();
	stop(&t, "cuCtxGetCurrent");
	return took;
}

static double measure(enum way way)
{
	struct empty e = { .link = GT_PROBE_NO_LINK };
	double took;

	if (way == GT)
		return under_gtcollect("api");
	if (way == GT_REQUESTS)
		return under_gtcollect("api,ioctl");
	if (way == BPFTRACE)
		return under_bpftrace();
	if (way == NOTHING)
		return calls();
	attach_empty(&e);
	took = calls();
	gt_probe_link_close(&e.link);
	bpf_object__close(e.object);
	return took;
}

static int by_value(const void *a, const void *b)
{
	return GT_COMPARE(*(const double *)a, *(const double *)b);
}

int main(void)
{
	bool has_bpftrace = !system("bpftrace --version >/dev/null 2>&1");
	static double took[WAYS][ROUNDS];
	char path[PATH_MAX + 32];
	ssize_t n = readlink("/proc/self/exe", build, sizeof(build) - 1);
	void *library;

	if (!gt_bpf_way_is_allowed())
		return 0;
	build[n > 0 ? n : 0] = 0;
	for (int i = 0; i < 2 && strrchr(build, '/'); i++)
		*strrchr(build, '/') = 0;
	snprintf(path, sizeof(path), "%s/sim/libcuda.so.1", build);
	library = dlopen(path, RTLD_NOW);
	function = library ? (int (*)(void **))dlsym(library, "cuCtxGetCurrent") : NULL;
	announced = library ? (int (*)(int *))dlsym(library, "cuDriverGetVersion") : NULL;
	if (!function || !announced)
		die("no simulated driver");
	libbpf_set_print(no_print);
	for (int i = 0; i < ROUNDS; i++)
		for (int way = 0; way < WAYS; way++)
			if (way != BPFTRACE || has_bpftrace)
				took[way][i] = measure((enum way)way);
	for (int way = 0; way < WAYS; way++) {
		qsort(took[way], ROUNDS, sizeof(double), by_value);
		if (way != BPFTRACE || has_bpftrace)
			printf("%s %.1f ns\n", names[way],
				took[way][ROUNDS / 2] - (way ? took[NOTHING][ROUNDS / 2] : 0));
	}
	return 0;
}
