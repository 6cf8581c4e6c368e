/* Functions of the simulated driver for tests: a log of the work that ran, a log of calls that a
 * program must not make, and injected errors. Environment variables control them; they are read
 * once. PATH may contain %p, which stands for the process id. A line is written at its event, so a
 * killed program leaves a complete log. */
#define _GNU_SOURCE
#include "samples/simgpu/sim.h"
#include "samples/simgpu/hooks.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
	char function[64];
	unsigned long from, calls;
	int code;
} failures[16];
static unsigned failures_n;
static char truth[4096], misuse[4096];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void set_path(char *to, const char *path)
{
	const char *p = path ? strstr(path, "%p") : NULL;

	if (p)
		snprintf(to, 4096, "%.*s%d%s", (int)(p - path), path, getpid(), p + 2);
	else
		snprintf(to, 4096, "%s", path ? path : "");
}

/* FUNCTION[@N]:CODE,...; N: from its Nth call on. */
static void read_failures(const char *s)
{
	for (; s && *s && failures_n < 16; s = strchr(s, ',') ? strchr(s, ',') + 1 : NULL) {
		int at = 0;

		failures[failures_n].from = 1;
		if (sscanf(s, "%63[A-Za-z0-9_]%n", failures[failures_n].function, &at) != 1)
			continue;
		if (s[at] == '@')
			failures[failures_n].from = strtoul(s + at + 1, NULL, 10);
		s += strcspn(s, ":,");
		failures[failures_n++].code = *s == ':' ? atoi(s + 1) : 999;
	}
}

static void read_environment(void)
{
	read_failures(getenv("SIMGPU_FAIL"));
	set_path(truth, getenv("SIMGPU_TRUTH"));
	set_path(misuse, getenv("SIMGPU_MISUSE"));
}

static void append_line(const char *path, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void append_line(const char *path, const char *fmt, ...)
{
	char line[1024];
	va_list ap;
	int fd, n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0 || n <= 0 || n >= (int)sizeof(line) || write(fd, line, n) != n)
		fprintf(stderr, "simgpu: cannot write to %s\n", path);
	if (fd >= 0)
		close(fd);
}

int sim_injected_error(const char *function)
{
	pthread_once(&once, read_environment);
	for (unsigned i = 0; i < failures_n; i++)
		if (!strcmp(failures[i].function, function) &&
			__atomic_add_fetch(&failures[i].calls, 1, __ATOMIC_RELAXED) >=
				failures[i].from)
			return failures[i].code;
	return 0;
}

void sim_report_misuse(const char *function, const char *how)
{
	pthread_once(&once, read_environment);
	if (*misuse)
		append_line(misuse, "%s: %s\n", function, how);
}

void sim_write_truth(const struct sim_op *op)
{
	const char *kind = op->run == sim_kernel_run ? "kernel"
		: op->exec                           ? "graph"
		: op->run && op->node_type == 1      ? "copy"
		: op->run && op->node_type == 2      ? "set"
						     : NULL;

	pthread_once(&once, read_environment);
	if (*truth && kind)
		append_line(truth, "%s %.500s %llu %llu\n", kind,
			op->run == sim_kernel_run ? op->launch.func->name : "-",
			(unsigned long long)sim_real(op->start),
			(unsigned long long)sim_real(op->end));
}
