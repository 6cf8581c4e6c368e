#define _GNU_SOURCE
#include "collect/cli/metadata.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include "collect/cli/options.h"
#include "collect/correlate/gpu_correlate.h"
#include "formats/io/json_build.h"
#include "formats/text/printable.h"
#include "formats/trace/clock.h"

#define TEXT_BUDGET (64u << 10) /* bytes of the command line, and of the environment */

extern char **environ;

/* ---- pieces ---- */

static void put(json_t *o, const char *key, const char *s)
{
	if (s && *s)
		json_object_set_new(o, key, gt_json_text(s, strlen(s)));
}

static void put_command(json_t *o, char *const *argv)
{
	json_t *a = json_array();
	size_t left = TEXT_BUDGET, n, cut = 0;

	for (; *argv; argv++) {
		n = strlen(*argv);
		if (n + 3 > left) {
			cut++;
			continue;
		}
		left -= n + 3;
		json_array_append_new(a, gt_json_text(*argv, n));
	}
	json_object_set_new(o, "command", a);
	if (cut)
		json_object_set_new(o, "command_arguments_cut", json_integer((int64_t)cut));
}

/* Only variables that describe how a job was set up; an environment may hold secrets. */
static bool is_allowed(const char *variable, size_t len)
{
	static const char *const names[] = {
		"CUDA_*",
		"NCCL_*",
		"CUBLAS_WORKSPACE_CONFIG",
		"RANK",
		"LOCAL_RANK",
		"WORLD_SIZE",
		"LOCAL_WORLD_SIZE",
		"GROUP_RANK",
		"NODE_RANK",
		"MASTER_ADDR",
		"MASTER_PORT",
		"OMP_NUM_THREADS",
		"SLURM_PROCID",
		"SLURM_LOCALID",
		"SLURM_NODEID",
		"SLURM_NTASKS",
		"SLURM_JOB_ID",
		"SLURM_JOB_NODELIST",
		"OMPI_COMM_WORLD_RANK",
		"OMPI_COMM_WORLD_LOCAL_RANK",
		"OMPI_COMM_WORLD_SIZE",
		"PMI_RANK",
		"PMI_SIZE",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t n = strlen(names[i]);

		if (names[i][n - 1] == '*' ? len >= n - 1 && !strncmp(variable, names[i], n - 1)
					   : len == n && !strncmp(variable, names[i], n))
			return true;
	}
	return false;
}

static json_t *environment(void)
{
	json_t *o = json_object();
	size_t left = TEXT_BUDGET;

	for (char **e = environ; e && *e; e++) {
		size_t n = strcspn(*e, "="), all = strlen(*e);
		char key[128];

		if (!(*e)[n] || n >= sizeof(key) || !is_allowed(*e, n) || all > left)
			continue;
		left -= all;
		snprintf(key, sizeof(key), "%.*s", (int)n, *e);
		json_object_set_new(o, key, gt_json_text(*e + n + 1, all - n - 1));
	}
	return o;
}

static json_t *globs(const struct gt_opt_list *l)
{
	json_t *a = json_array();

	for (size_t i = 0; i < l->n && i < 100; i++)
		json_array_append_new(a, gt_json_text(l->items[i], strnlen(l->items[i], 200)));
	return a;
}

/* ---- the machine ---- */

bool gt_driver_version(char *to, size_t size)
{
	char line[256] = "", *p;
	FILE *f = fopen("/proc/driver/nvidia/version", "re");

	if (!f)
		return false;
	if (!fgets(line, sizeof(line), f))
		line[0] = 0;
	fclose(f);
	/* the first word of digits and dots */
	for (p = strtok(line, " \t\n"); p; p = strtok(NULL, " \t\n"))
		if (strspn(p, "0123456789.") == strlen(p) && strchr(p, '.')) {
			snprintf(to, size, "%s", p);
			return true;
		}
	return false;
}

static void put_cuda(json_t *o, int version)
{
	char s[32];

	snprintf(s, sizeof(s), "%d.%d", version / 1000, version % 1000 / 10);
	if (version > 0)
		put(o, "cuda_version", s);
}

/* Reads one GPU: lines "Key: \t value". */
static json_t *read_gpu(const char *bus)
{
	static const struct {
		const char *line, *key;
	} properties[] = {
		{ "Model", "model" },
		{ "GPU UUID", "uuid" },
		{ "Bus Location", "bus" },
		{ "Video BIOS", "vbios" },
		{ "Device Minor", "minor" },
	};
	char path[512], line[256], *value;
	json_t *o = json_object();
	FILE *f;

	snprintf(path, sizeof(path), "/proc/driver/nvidia/gpus/%s/information", bus);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		value = strchr(line, ':');
		if (!value)
			continue;
		*value++ = 0;
		line[strcspn(line, "\t")] = 0;
		value += strspn(value, " \t");
		for (size_t i = 0; i < sizeof(properties) / sizeof(*properties); i++)
			if (!strcmp(line, properties[i].line))
				put(o, properties[i].key, value);
	}
	if (f)
		fclose(f);
	return o;
}

static json_t *gpus(void)
{
	json_t *a = json_array();
	DIR *d = opendir("/proc/driver/nvidia/gpus");
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			json_array_append_new(a, read_gpu(e->d_name));
	if (d)
		closedir(d);
	return a;
}

static void put_machine(json_t *o)
{
	struct utsname u;
	char driver[64];

	if (!uname(&u)) {
		put(o, "kernel", u.release);
		put(o, "architecture", u.machine);
	}
	if (gt_driver_version(driver, sizeof(driver)))
		put(o, "driver_version", driver);
	json_object_set_new(o, "gpus", gpus());
	json_object_set_new(o, "cpus", json_integer(sysconf(_SC_NPROCESSORS_ONLN)));
}

/* ---- the whole ---- */

static void put_start(json_t *o)
{
	struct timespec t;
	struct tm utc;
	char s[40];

	clock_gettime(CLOCK_REALTIME, &t);
	gmtime_r(&t.tv_sec, &utc);
	strftime(s, sizeof(s), "%Y-%m-%dT%H:%M:%SZ", &utc);
	put(o, "start_utc", s);
}

static char not_recorded[2048]; /* "TEXT; TEXT" */

void gt_metadata_add_missing(const char *text)
{
	size_t n = strlen(not_recorded);

	if (strstr(not_recorded, text))
		return;
	if (!gt_options.quiet)
		gt_message(stderr, "gtcollect", "note: not recorded: %s", text);
	snprintf(not_recorded + n, sizeof(not_recorded) - n, "%s%s", n ? "; " : "", text);
}

char *gt_metadata_begin(char *const *argv, const struct gt_session *s, bool gpu)
{
	const struct gt_collect_options *opt = &gt_options;
	json_t *o = json_object();
	char cwd[4096];

	put(o, "tool", "gtcollect " GT_VERSION);
	put_start(o);
	put_machine(o);
	put_command(o, argv);
	put(o, "cwd", getcwd(cwd, sizeof(cwd)));
	json_object_set_new(o, "environment", environment());
	put(o, "events", opt->events);
	put(o, "missing", not_recorded);
	if (opt->with_samples || opt->with_timers)
		put(o, "samples_by", opt->with_timers ? "timers of threads" : "perf events");
	put(o, "args", gt_options_args_word());
	put(o, "range", opt->range);
	if (gpu)
		put(o, "gpu_timing", gt_options_timing_word());
	if (gpu && gt_options_timing() == GT_TIMING_OFF)
		put(o, "gpu_source", "nothing, because of --gpu-timing off");
	json_object_set_new(o, "filter", globs(&opt->filter));
	json_object_set_new(o, "stacks", globs(&opt->stacks));
	json_object_set_new(o, "exclude", globs(&opt->exclude));
	json_object_set_new(o, "sample", json_integer((int64_t)opt->sample));
	json_object_set_new(o, "delay_ns", json_integer(opt->delay));
	if (opt->duration)
		json_object_set_new(o, "duration_limit_ns", json_integer(opt->duration));
	if (opt->via == GT_VIA_INJECT)
		put(o, "attached",
			"kernels of graphs that they instantiated before have no node or call that created them");
	json_object_set_new(o, "ring_memory_bytes", json_integer((int64_t)s->bytes));
	json_object_set_new(o, "lossless", json_boolean(opt->lossless));
	put(o, "clock", s->ticks ? "tick counter" : "CLOCK_MONOTONIC");
	json_object_set_new(o, "clock_error_max_ns", json_integer(GT_CLOCK_ERROR_MAX));
	return gt_json_finish(o);
}

static void put_gpu(json_t *o, const struct gt_recorder_totals *t)
{
	const struct gt_gpu_totals *g = t->gpu;
	const struct {
		const char *key;
		uint64_t value;
	} counts[] = {
		{ "gpu_kernels", g->kernels },
		{ "gpu_copies", g->copies },
		{ "gpu_sets", g->sets },
		{ "gpu_waits", g->waits },
		{ "gpu_runtime_calls", g->runtime },
		{ "managed_memory_events", g->managed },
		{ "managed_memory_migrated_bytes", g->migrated },
		{ "cupti_overheads", g->overheads },
		{ "cupti_overhead_ns", g->overhead_ns },
		{ "waits_without_stream", g->waits_nowhere },
		{ "gpu_processes", g->processes },
		{ "gpu_processes_refused", g->refused },
		{ "gpu_joined_exact", g->exact },
		{ "gpu_joined_inferred", g->inferred },
		{ "gpu_unjoined", g->unjoined },
		{ "gpu_joined_wrong", g->wrong },
		{ "gpu_launches_without_record", g->without_record },
		{ "gpu_launches_captured", g->captured },
		{ "gpu_work_outside", g->outside },
		{ "gpu_yields", g->yields },
		{ "gpu_resumed", g->resumed },
		{ "gpu_forked_children", g->forked },
		{ "inject_processes_refused", g->no_calls },
		{ "gpu_records_dropped", g->dropped },
		{ "gpu_records_foreign", g->foreign },
		{ "gpu_records_impossible", g->impossible },
		{ "gpu_records_lost", t->gpu_lost },
	};

	static const char *const reasons[] = {
#define X(e, word) "gpu_untimed_" #word,
		GT_UNTIMED_REASONS(X)
#undef X
	};
	uint64_t untimed = 0;

	put(o, "gpu_source", *g->state ? g->state : "no process reported a GPU");
	if (*g->without)
		put(o, "gpu_without", g->without);
	if (*g->other)
		put(o, "gpu_other_profiler", g->other);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		json_object_set_new(o, counts[i].key, json_integer((int64_t)counts[i].value));
	if (!g->by_events)
		return;
	for (size_t i = 0; i < GT_UNTIMED_COUNT; i++) {
		json_object_set_new(o, reasons[i], json_integer((int64_t)g->untimed[i]));
		untimed += g->untimed[i];
	}
	json_object_set_new(o, "gpu_untimed", json_integer((int64_t)untimed));
	json_object_set_new(o, "gpu_graphs", json_integer((int64_t)g->graphs));
	json_object_set_new(o, "gpu_processes_by_events", json_integer(g->by_events));
	json_object_set_new(o, "gpu_event_clock_error_ns", json_integer((int64_t)g->clock_error));
}

/* {"PID/TID": NAME}: reports name by it threads that have no rows. */
static json_t *names_of(const struct gt_other_threads *others)
{
	json_t *o = json_object();
	char key[32];

	for (size_t i = 0; i < others->n; i++) {
		const struct gt_other_thread *t = &others->list[i];

		snprintf(key, sizeof(key), "%d/%d", t->pid, t->tid);
		if (t->name[0])
			put(o, key, t->name);
	}
	return o;
}

char *gt_metadata_end(const struct gt_recorder_totals *t, const struct gt_writer_stats *w,
	int status, int64_t start, int64_t stop, bool simulated)
{
	json_t *o = json_object(), *missing = json_object();
	const struct {
		const char *key;
		uint64_t value;
	} counts[] = {
		{ "calls", w->rows[GT_CALL] },
		{ "open_calls", t->open },
		{ "processes", t->processes },
		{ "threads", t->threads },
		{ "processes_shut_out", t->unrecorded.n[GT_UNRECORDED_LATE] },
		{ "processes_of_other_users", t->unrecorded.n[GT_UNRECORDED_USER] },
		{ "processes_without_entry", t->process_losses.unrecorded },
		{ "processes_without_probes", t->process_losses.unprobed },
		{ "processes_without_event", t->process_losses.events },
		{ "dropped_calls", t->dropped },
		{ "untraced_calls", t->untraced },
		{ "threadless_records", t->own_untraced },
		{ "dropped_records", t->own_dropped },
		{ "cpu_lost_records", t->cpu_lost },
		{ "unseen_waits", t->unseen_waits }, /* of these */
		{ "too_deep_calls", t->deep },
		{ "abandoned_calls", t->abandoned },
		{ "handler_calls", t->in_handler },
		{ "sampled_out_calls", t->sampled_out },
		{ "unsampled_threads", t->unsampled.refused },
		{ "threads_that_block_samples", t->unsampled.blocked },
		{ "processes_that_end_samples", t->unsampled.taken },
		{ "processes_that_limit_system_calls", t->unsampled.limited },
		{ "processes_without_unwinder", t->unhelped },
		{ "nameless_calls", t->nameless },
		{ "broken_rings", t->broken },
		{ "clock_error_ns", t->clock_error },
	};

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		json_object_set_new(o, counts[i].key, json_integer((int64_t)counts[i].value));
	if (t->gpu)
		put_gpu(o, t);
	for (size_t i = 0; i < t->nunknown_functions; i++)
		json_object_set_new(missing, t->unknown_functions[i].name,
			json_integer((int64_t)t->unknown_functions[i].count));
	json_object_set_new(o, "untraced_functions", missing);
	if (t->others->n)
		json_object_set_new(o, "other_threads", names_of(t->others));
	json_object_set_new(o, "exit_status", json_integer(status));
	json_object_set_new(o, "start_monotonic_ns", json_integer(start));
	json_object_set_new(o, "duration_ns", json_integer(stop - start));
	json_object_set_new(o, "simulated", json_boolean(simulated));
	put_cuda(o, t->driver_version);
	return gt_json_finish(o);
}
