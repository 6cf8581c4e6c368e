/* gtcollect runs a program and records its calls to the CUDA driver into a trace.
 *
 * This file has the order of steps: options, file, session, program, passes of the recorder
 * until the program has ended, the last line. Each step is a function. finish() undoes all
 * completed steps, so every failure leaves through it. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "collect/cli/doctor.h"
#include "collect/ipc/guest_server.h"
#include "collect/cli/exit_summary.h"
#include "collect/correlate/gpu_correlate.h"
#include "collect/cli/child_process.h"
#include "collect/recorder/losses.h"
#include "collect/cli/metadata.h"
#include "collect/cli/output.h"
#include "collect/recorder/poll_interval.h"
#include "collect/recorder/recorder.h"
#include "collect/ipc/shared_memory.h"
#include "collect/source/nvml.h"
#include "collect/source/source.h"
#include "formats/base/alloc_failure.h"
#include "formats/text/printable.h"
#include "formats/cmdline/std_fds.h"
#include "formats/trace/clock.h"
#include "formats/names/globs.h"

#define TOOL "gtcollect"
#define UNSET UINT64_MAX
#define READER_TIMEOUT (5 * GT_SECOND) /* of a full pipe, after a signal asked for the end */
#define STATUS_EVERY (GT_SECOND / 2)

/* ---- options ---- */

static struct {
	const char *output, *events, *range, *cupti;
	bool force, lossless, quiet, doctor, probes, inject;
	int verbose, args, wait, gpu_timing;
	struct gt_opt_list filter, exclude;
	uint64_t sample, ring_size, ring_memory;
	int64_t delay, duration, nvml_interval;
} o = { .events = GT_SOURCES_DEFAULT,
	.args = GT_ARGS_KEY,
	.sample = 1,
	.ring_size = UNSET,
	.ring_memory = UNSET,
	.nvml_interval = GT_NVML_INTERVAL,
	.gpu_timing = -1 };

static const char *const args_words[] = { "none", "key", "all", NULL };
static const char *const timing_words[] = { "auto", "cupti", "events", "off", NULL };
enum { TIMING_OFF = GT_TIMING_EVENTS + 1 };
static const char *const wait_words[] = { "primary", "all", NULL };
enum { WAIT_PRIMARY, WAIT_ALL };

static const struct gt_opt options[] = {
	{ 0, NULL, GT_OPT_TEXT, NULL, NULL, "The trace", NULL },
	{ 'o', "output", GT_OPT_STR, &o.output, "FILE",
		"write here; %h is the host, %p the process id, %t the time, %q{VAR} a variable",
		NULL },
	{ 'f', "force", GT_OPT_FLAG, &o.force, NULL, "write over an existing file", NULL },
	{ 0, NULL, GT_OPT_TEXT, NULL, NULL, "What to record", NULL },
	{ 'e', "events", GT_OPT_STR, &o.events, "LIST",
		"some of" GT_SOURCES(
			GT_SOURCE_WORD) ", with commas between; the default is " GT_SOURCES_DEFAULT,
		NULL },
	{ 0, "filter", GT_OPT_LIST, &o.filter, "GLOB",
		"only names that match, or @CATEGORY; may be given several times", NULL },
	{ 0, "exclude", GT_OPT_LIST, &o.exclude, "GLOB",
		"no names that match, or @CATEGORY; may be given several times", NULL },
	{ 0, "sample", GT_OPT_U64, &o.sample, "N", "one call in N of each name and thread", NULL },
	{ 0, "args", GT_OPT_WORD, &o.args, "WHICH", "arguments, the default is key", args_words },
	{ 0, "gpu-timing", GT_OPT_WORD, &o.gpu_timing, "HOW",
		"source of GPU times for -e gpu: CUPTI, CUDA events, or auto: events where CUPTI is missing; "
		"cupti is the default, auto with -e",
		timing_words },
	{ 0, "cupti", GT_OPT_STR, &o.cupti, "FILE",
		"the libcupti to use for -e gpu, if the program has none loaded", NULL },
	{ 0, "nvml-interval", GT_OPT_NS, &o.nvml_interval, "TIME",
		"so often are the counters of -e nvml read (100ms)", NULL },
	{ 0, NULL, GT_OPT_TEXT, NULL, NULL, "When", NULL },
	{ 0, "delay", GT_OPT_NS, &o.delay, "TIME", "begin to record after so long (2s, 500ms)",
		NULL },
	{ 0, "duration", GT_OPT_NS, &o.duration, "TIME",
		"stop recording after so long; the program runs on", NULL },
	{ 0, "range", GT_OPT_STR, &o.range, "RANGE",
		"record only between cuProfilerStart and cuProfilerStop (cuda-profiler), or inside the NVTX range NAME (nvtx:NAME)",
		NULL },
	{ 0, "wait", GT_OPT_WORD, &o.wait, "FOR",
		"when to end: with COMMAND (the default) or with the last process that came from it",
		wait_words },
	{ 0, NULL, GT_OPT_TEXT, NULL, NULL, "How", NULL },
	{ 0, "ring-memory", GT_OPT_SIZE, &o.ring_memory, "BYTES",
		"shared memory for all threads together (64M)", NULL },
	{ 0, "ring-size", GT_OPT_SIZE, &o.ring_size, "BYTES",
		"most that one thread may hold of it (three quarters)", NULL },
	{ 0, "lossless", GT_OPT_FLAG, &o.lossless, NULL,
		"a thread whose ring is full waits instead of losing calls", NULL },
	{ 0, "inject", GT_OPT_FLAG, &o.inject, NULL,
		"let the CUDA driver load the library instead of LD_PRELOAD; CUPTI then reports the calls, and ioctls are not recorded",
		NULL },
	{ 0, "probes-only", GT_OPT_FLAG, &o.probes, NULL,
		"no trace: only have the library in COMMAND, for bpftrace, perf and others to attach to its USDT probes",
		NULL },
	{ 'q', "quiet", GT_OPT_FLAG, &o.quiet, NULL, "say nothing but errors", NULL },
	{ 'v', "verbose", GT_OPT_COUNT, &o.verbose, NULL, "say more", NULL },
	{ 0, "doctor", GT_OPT_FLAG, &o.doctor, NULL,
		"tell what works on this machine, what does not, and what to do", NULL },
};
static const struct gt_command command = {
	.name = "gtcollect",
	.usage = "[options] [--] COMMAND [ARGS]",
	.about =
		"Runs COMMAND and records its calls to the CUDA driver, and the driver's to\nthe kernel, into one small file.",
	.options = options,
	.noptions = sizeof(options) / sizeof(*options),
	.stop_at_first = true,
	.after = "Exit status: COMMAND's own (128+N when signal N killed it); 2 bad use; 125\n"
		 "gtcollect failed; 126 COMMAND cannot be run; 127 it was not found.",
};

/* ---- the run ---- */

static struct {
	char name[4096];
	struct gt_output out;
	struct gt_session wanted; /* what the options open of its gates */
	struct gt_sources own;
	char events[GT_SOURCES_LIST]; /* the sources that --inject records */
	unsigned gates;               /* how many of them are open */
	struct gt_rings rings;
	struct gt_guest_server door;
	struct gt_writer *w;
	struct gt_recorder *r;
	struct gt_child launch;
	struct gt_err lost;           /* why recording stopped early */
	int64_t start, stopped, told; /* stopped: when recording ended */
	int64_t stalled;              /* when the output, a pipe, last became full */
	bool simulated, shown, terminal;
	struct gt_writer_stats stats; /* the last ones */
} run = { .rings.fd = -1,
	.lost = GT_ERR_INIT,
	.door = { .dir.fd = -1, .listen_fd = -1, .by_pid_fd = -1, .stop = { -1, -1 } } };

/* CUDA events cost the program some us a launch, so they are used only where -e or --gpu-timing
 * asks for GPU work. */
static int timing(void)
{
	if (o.gpu_timing > GT_TIMING_AUTO)
		return o.gpu_timing;
	if (o.inject) /* there are no wrappers to put events around calls */
		return GT_TIMING_CUPTI;
	return o.gpu_timing == GT_TIMING_AUTO || strcmp(o.events, GT_SOURCES_DEFAULT)
		? GT_TIMING_AUTO
		: GT_TIMING_CUPTI;
}

/* The name behind --range nvtx:, or NULL. */
static const char *nvtx_range(void)
{
	return o.range && !strncmp(o.range, "nvtx:", 5) ? o.range + 5 : NULL;
}

static int check_options(struct gt_err *err)
{
	if (o.range && strcmp(o.range, "cuda-profiler") && !nvtx_range())
		return gt_err_set(err, -EINVAL, "--range: there are cuda-profiler and nvtx:NAME");
	if (nvtx_range() && (!*nvtx_range() || strlen(nvtx_range()) >= GT_RING_NAME))
		return gt_err_set(err, -EINVAL,
			"--range nvtx:NAME: the name must have 1 to %d bytes", GT_RING_NAME - 1);
	if (o.delay < 0 || o.duration < 0)
		return gt_err_set(err, -EINVAL, "--delay and --duration cannot be negative");
	if (o.nvml_interval < GT_NVML_INTERVAL_MIN || o.nvml_interval > GT_NVML_INTERVAL_MAX)
		return gt_err_set(err, -EINVAL, "--nvml-interval must lie between 1ms and 3600s");
	if (!o.sample || o.sample > UINT32_MAX)
		return gt_err_set(err, -EINVAL, "--sample must lie between 1 and %u", UINT32_MAX);
	if (!o.ring_memory || !o.ring_size)
		return gt_err_set(err, -EINVAL, "--ring-memory and --ring-size cannot be 0");
	if (o.cupti && (!realpath(o.cupti, run.wanted.cupti) || access(o.cupti, R_OK)))
		return gt_err_set(err, -EINVAL, "--cupti '%.100s': %s", o.cupti, strerror(errno));
	if (gt_globs_check(&o.filter, "--filter", err))
		return -EINVAL;
	return gt_globs_check(&o.exclude, "--exclude", err);
}

static struct gt_rings_options rings_options(void)
{
	return (struct gt_rings_options){ .memory = o.ring_memory == UNSET ? 0 : o.ring_memory,
		.lossless = o.lossless,
		.per_thread = o.ring_size == UNSET ? 0 : o.ring_size,
		.ticks = gt_clock_trusts_ticks() };
}

/* Whatever may be wrong with the command line is found here, before anything is made. 0 or -EINVAL.
 */
static int check_use(const char *program, struct gt_err *err)
{
	struct gt_rings_options rings = rings_options();
	const char *useless;
	int code = check_options(err);

	if (!code)
		code = gt_rings_check(&rings, err);
	if (!code)
		code = gt_output_name(o.output, program, run.name, sizeof(run.name), err);
	if (!code)
		code = gt_sources_enable(&run.wanted, &run.own, o.events, err);
	if (code)
		return code;
	if (o.inject && o.gpu_timing == GT_TIMING_EVENTS)
		return gt_err_set(err, -EINVAL,
			"--gpu-timing events needs the library in the program's way, "
			"where --inject does not put it");
	if (o.inject && (code = gt_child_check_inject(err)))
		return code;
	if (o.inject) {
		gt_sources_inject(&run.wanted, o.events, run.events);
		o.events = run.events;
	}
	if (o.inject && !o.quiet)
		gt_message(stderr, TOOL,
			"note: --inject sees no ioctls, and no calls before cuInit has returned");
	run.gates =
		gt_sources_filter(&run.wanted, &o.filter, &o.exclude, (uint32_t)o.sample, &useless);
	if (!run.gates && !run.own.n && (!run.wanted.nvtx || o.filter.n))
		return gt_err_set(err, -EINVAL, "--filter and --exclude leave nothing to record");
	if (useless && !o.quiet)
		gt_message(stderr, TOOL, "note: no name that is recorded matches %s", useless);
	return 0;
}

static int open_session(struct gt_err *err)
{
	struct gt_rings_options opt = rings_options();
	int code = gt_rings_open(&run.rings, &opt, err);

	if (code)
		return code;
	run.rings.s->args = (uint32_t)o.args;
	run.rings.s->range = nvtx_range() ? GT_RANGE_NVTX
		: o.range                 ? GT_RANGE_PROFILER
					  : GT_RANGE_ALWAYS;
	if (nvtx_range())
		strcpy(run.rings.s->range_name, nvtx_range());
	run.rings.s->nvtx = run.wanted.nvtx;
	run.rings.s->inject = run.wanted.inject;
	run.rings.s->sample = run.wanted.sample;
	run.rings.s->ioctls = run.wanted.ioctls;
	run.rings.s->gpu = run.wanted.gpu && timing() != TIMING_OFF;
	run.rings.s->gpu_timing = timing() == TIMING_OFF ? GT_TIMING_AUTO : (uint32_t)timing();
	run.rings.s->gpu_more = run.wanted.gpu_more;
	run.rings.s->partly =
		o.delay || o.duration || o.range || o.filter.n || o.exclude.n || o.sample > 1;
	memcpy(run.rings.s->cupti, run.wanted.cupti, sizeof(run.wanted.cupti));
	memcpy(run.rings.s->gate, run.wanted.gate, sizeof(run.wanted.gate));
	gt_rings_take_ownership(&run.rings);
	return gt_guest_server_open(&run.door, &run.rings, err);
}

/* --delay and --duration */
static void mind_the_time(int64_t now)
{
	int64_t since = now - run.start;

	gt_rings_set_recording(
		&run.rings, since >= o.delay && (!o.duration || since - o.delay < o.duration));
}

/* The output is a pipe and full. Its reader may go on, or never do: signals reach the program
 * meanwhile, and the second one that asks for the end, or the first one without the program, gives
 * up. */
static int wait_for_reader(void *arg, int fd, struct gt_err *err)
{
	const struct gt_child *l = arg;
	unsigned with = l->ends[0], without = l->ends[1];
	struct pollfd p[] = { { .fd = fd, .events = POLLOUT },
		{ .fd = l->signals, .events = POLLIN } };

	run.stalled = gt_clock_monotonic();
	while (poll(p, 2, 100) < 0 || !p[0].revents) {
		gt_child_handle_signals(&run.launch);
		if (l->ends[0] - with >= 2 || l->ends[1] != without ||
			(without && gt_clock_monotonic() - run.stalled > READER_TIMEOUT))
			return gt_err_set(err, -ECANCELED,
				"no process read it for %.1f s until a signal came",
				(double)(gt_clock_monotonic() - run.stalled) / GT_SECOND);
		if (l->pid > 0 && !l->ended)
			mind_the_time(gt_clock_monotonic());
	}
	return 0;
}

static int open_trace(char *const *argv, struct gt_err *err)
{
	struct gt_metadata_settings s = { .argv = argv,
		.events = o.events,
		.args = args_words[o.args],
		.range = o.range,
		.filter = &o.filter,
		.exclude = &o.exclude,
		.sample = o.sample,
		.ring_bytes = run.rings.s->bytes,
		.delay = o.delay,
		.duration = o.duration,
		.gpu_timing = run.wanted.gpu ? timing_words[timing()] : NULL,
		.gpu_untimed = run.wanted.gpu && timing() == TIMING_OFF,
		.lossless = o.lossless,
		.ticks = run.rings.s->ticks };
	char *json = gt_metadata_begin(&s);
	struct gt_writer_options opt = { .level = 3,
		.rows_sorted = true,
		.meta_json = json,
		.wait = wait_for_reader,
		.wait_arg = &run.launch };
	int fd = run.out.fd;

	run.out.fd = -1; /* the writer's from here on, whatever comes */
	run.w = gt_writer_open(fd, &opt, err);
	free(json);
	if (run.w)
		run.r = gt_recorder_open(&run.rings, &run.door, run.w, err);
	return run.r ? 0 : err->code ? err->code : -ENOMEM;
}

/* The file cannot be written any more. The program must not notice: recording stops, rings are left
 * to themselves. */
static void stop_recording(struct gt_err *why)
{
	gt_rings_give_up_ownership(&run.rings);
	gt_sources_stop(&run.own);
	run.lost = *why;
	if (!run.stopped)
		run.stopped = gt_clock_monotonic();
}

/* Said in the file as soon as it is known, should we not live to write the end. */
static int say_simulated(struct gt_err *err)
{
	if (run.simulated ||
		!(gt_recorder_totals(run.r)->simulated || gt_sources_simulated(&run.own)))
		return 0;
	run.simulated = true;
	return gt_writer_meta(run.w, "{\"simulated\":true}", err);
}

static int put_meta(char *json, struct gt_err *err)
{
	int code = json ? gt_writer_meta(run.w, json, err) : 0;

	free(json);
	return code;
}

/* What gtcollect's own sources have. last: with their metadata. */
static int drain_sources(bool last, struct gt_err *err)
{
	int64_t n = gt_sources_drain(&run.own, run.w, last, err);

	if (n > 0)
		gt_recorder_mark_active(run.r);
	return n < 0 ? (int)n : 0;
}

static char *human(char *to, size_t size, uint64_t bytes)
{
	if (bytes < 10000)
		snprintf(to, size, "%" PRIu64 " bytes", bytes);
	else if (bytes < 1 << 20)
		snprintf(to, size, "%.1f KiB", (double)bytes / 1024);
	else
		snprintf(to, size, "%.1f MiB", (double)bytes / (1 << 20));
	return to;
}

/* ", 12 counter values" of each source of gtcollect's own. Returns how many rows that are. */
static uint64_t own_rows(char *to, size_t size)
{
	struct gt_source_totals t;
	uint64_t rows = 0;
	size_t n = 0;

	to[0] = 0;
	for (unsigned i = 0; i < run.own.n && n < size; i++) {
		gt_sources_totals(&run.own.active[i], &t);
		rows += t.rows;
		n += (size_t)snprintf(to + n, size - n, "%" PRIu64 " %s%s, ", t.rows,
			run.own.active[i].source->unit, t.rows == 1 ? "" : "s");
	}
	return rows;
}

static uint64_t events(void) { return run.stats.rows[GT_CALL] + gt_recorder_totals(run.r)->open; }

static const char *plural(uint64_t n, const char *ending) { return n == 1 ? "" : ending; }

static struct gt_losses losses(void)
{
	return (struct gt_losses){ .totals = gt_recorder_totals(run.r),
		.sources = &run.own,
		.verbose = o.verbose,
		.cupti_only = timing() == GT_TIMING_CUPTI };
}

static void clear_status(void)
{
	if (run.shown)
		fputs("\r\033[K", stderr);
	run.shown = false;
}

static bool can_clear_a_line(void)
{
	const char *term = getenv("TERM");

	return term && *term && strcmp(term, "dumb");
}

/* Would a line on standard error be written at once? A terminal that was stopped (Ctrl-S) takes
 * none, nor does a pipe without a reader. */
static bool takes_text(void)
{
	struct pollfd p = { .fd = 2, .events = POLLOUT };

	return poll(&p, 1, 0) == 1;
}

/* A line longer than the terminal is wide would wrap, and not be cleared. */
static int columns(void)
{
	struct winsize w;

	return ioctl(2, TIOCGWINSZ, &w) || w.ws_col < 2 ? 79 : w.ws_col - 1;
}

static void show_status(int64_t now)
{
	uint32_t processes = gt_recorder_totals(run.r)->processes;
	struct gt_losses lost;
	char size[32], line[160];

	if (!run.terminal || now - run.told < STATUS_EVERY || tcgetpgrp(2) != getpgrp() ||
		!takes_text())
		return;
	run.told = now;
	run.stats = *gt_writer_stats(run.w);
	lost = losses();
	snprintf(line, sizeof(line),
		"gtcollect: %.0f s, %" PRIu64 " event%s, %s, %" PRIu64 " lost, %u process%s",
		(double)(now - run.start) / GT_SECOND, events(), plural(events(), "s"),
		human(size, sizeof(size), run.stats.bytes), gt_losses_count(&lost), processes,
		plural(processes, "es"));
	fprintf(stderr, "\r\033[K%.*s", columns(), line);
	run.shown = true;
}

static void sleep_or_signal(int64_t ns)
{
	struct pollfd p[1 + GT_SOURCES_OWN] = { { .fd = run.launch.signals, .events = POLLIN } };
	struct timespec t = { ns / GT_SECOND, ns % GT_SECOND };

	ppoll(p, 1 + (run.lost.code ? 0 : gt_sources_poll(&run.own, p + 1)), &t, NULL);
	gt_child_handle_signals(&run.launch);
}

/* One round: a pass, unless recording has stopped. Returns how many bytes it took. */
static int64_t round_of_recorder(int64_t now)
{
	struct gt_err err = GT_ERR_INIT;
	int64_t taken;

	if (run.lost.code)
		return 0;
	mind_the_time(now);
	taken = say_simulated(&err);
	if (!taken)
		taken = drain_sources(false, &err);
	if (!taken)
		taken = gt_recorder_pass(run.r, &err);
	if (taken < 0 || say_simulated(&err)) {
		stop_recording(&err);
		return 0;
	}
	return taken;
}

static bool through(int64_t now, int64_t *asked)
{
	if (!run.launch.ended)
		return false;
	if (o.wait == WAIT_PRIMARY || run.launch.ends[1] || run.lost.code)
		return true;
	if (!run.launch.alone || now - *asked < GT_SECOND / 20)
		return false;
	*asked = now;
	return !gt_recorder_count_alive(run.r);
}

static void watch(void)
{
	int64_t asked = 0, begun = run.start, since, taken, now, pause;

	for (;;) {
		since = gt_clock_monotonic() - begun;
		begun += since;
		taken = round_of_recorder(begun);
		now = gt_clock_monotonic();
		if (through(now, &asked))
			break;
		show_status(now);
		pause = run.lost.code
			? GT_SECOND
			: gt_poll_interval(gt_rings_free_bytes(&run.rings), taken, since) -
				(now - begun);
		sleep_or_signal(pause > 0 ? pause : 0);
	}
	gt_rings_set_recording(&run.rings, false);
	if (!run.stopped)
		run.stopped = gt_clock_monotonic();
}

/* ---- the end ---- */

/* Drains all that is left, writes the final metadata, closes the file. */
static void close_trace(void)
{
	struct gt_err err = GT_ERR_INIT;
	int code = run.lost.code;

	gt_sources_stop(&run.own);
	if (!code)
		code = drain_sources(true, &err);
	if (!code)
		code = gt_recorder_finish(run.r, &err);
	run.stats = *gt_writer_stats(run.w);
	gt_rings_give_up_ownership(&run.rings);
	if (!code)
		code = say_simulated(&err);
	if (!code)
		code = put_meta(gt_metadata_end(gt_recorder_totals(run.r), &run.stats,
					run.launch.status, run.stopped - run.start, run.simulated),
			&err);
	if (run.lost.code)
		gt_writer_abandon(run.w);
	else if (gt_writer_close(run.w, &err) || code || gt_output_check(&run.out, &err))
		stop_recording(&err);
	run.w = NULL;
}

static void say_nothing_seen(const char *program)
{
	const struct gt_recorder_totals *t = gt_recorder_totals(run.r);
	const struct gt_unrecorded_processes *m = &t->unrecorded;
	const char *why = gt_doctor_command(program);
	char text[120];

	if (!why && o.range)
		why = nvtx_range() ? "the program never was inside that NVTX range (see --range)"
				   : "the program did not call cuProfilerStart (see --range)";
	else if (!why && m->n[GT_UNRECORDED_LATE])
		why = "gtcollect did not respond when the program called the driver";
	else if (!why && m->n[GT_UNRECORDED_USER]) {
		snprintf(text, sizeof(text),
			"%s ran as user %u; gtcollect records programs of its own user, %u, only",
			m->comm, m->uid, (unsigned)geteuid());
		why = text;
	} else if (!why && run.rings.s->untraced)
		why = "the rings were too small for its threads; try a larger --ring-memory";
	else if (!why && t->processes)
		why = "its calls to the driver were outside the selection (see -e, --filter, --delay)";
	else if (!why && o.inject && gt_doctor_libcuda())
		why = "it never called cuInit, or what called it had CUDA_INJECTION64_PATH taken out of its environment";
	else if (!why && !gt_doctor_libcuda())
		why = "there is no libcuda.so.1 where programs look for it; gtcollect --doctor tells more";
	else if (!why)
		why = "it never loaded libcuda.so.1 or never called it, or what called it had LD_PRELOAD taken out of its environment; "
		      "gtcollect --doctor tells more";
	gt_message(stderr, TOOL, "no CUDA call was seen: %s", why);
}

/* A file's name as one word to paste into a shell. '?' replaces a character that a line cannot
 * hold, and matches it. `to` holds five times the name. */
static void for_the_shell(const char *name, char *to)
{
	static const char plain[] =
		"%+,-./0123456789:=@ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
	bool shown;

	to += sprintf(to, "%s", *name == '-' ? "./" : "");
	if (*name && !name[strspn(name, plain)]) {
		strcpy(to, name);
		return;
	}
	*to++ = '\'';
	for (size_t n; *name; name += n) {
		n = gt_printable_char(name, &shown);
		to += sprintf(to, *name == '\'' ? "'\\''" : shown ? "%.*s" : "'?'", (int)n, name);
	}
	strcpy(to, "'");
}

static void say_stopped(void)
{
	char size[32];

	gt_err_print(TOOL, run.name, &run.lost);
	if (run.lost.code == -ECANCELED)
		gt_message(stderr, TOOL,
			"%s were written; everything after %.2f s is missing, "
			"and perhaps a part of the second before",
			human(size, sizeof(size), run.stats.bytes),
			(double)(run.stalled - run.start) / GT_SECOND);
	else if (run.lost.code != -ENOENT)
		gt_message(stderr, TOOL,
			"recording stopped after %.2f s; the program ran on; what the file holds can be read",
			(double)(run.stopped - run.start) / GT_SECOND);
}

/* The last line: file, size, events, processes, losses, duration, how the program ended, and the
 * next command if there is something to analyze. */
static void say_file(bool empty)
{
	const struct gt_recorder_totals *t = gt_recorder_totals(run.r);
	static char name[5 * sizeof(run.name)];
	char size[32], lost[48] = "no losses", ending[320], values[160], work[48] = "";
	struct stat st;
	bool file = !stat(run.name, &st) && S_ISREG(st.st_mode);
	unsigned missing =
		t->unrecorded.n[GT_UNRECORDED_LATE] + t->unrecorded.n[GT_UNRECORDED_USER];
	struct gt_losses all = losses();
	uint64_t nlost = gt_losses_count(&all);

	if (t->broken)
		strcpy(lost, "an unknown number LOST");
	else if (nlost)
		snprintf(lost, sizeof(lost), "%" PRIu64 " LOST", nlost);
	else if (missing)
		snprintf(
			lost, sizeof(lost), "%u process%s MISSING", missing, plural(missing, "es"));
	else if (t->gpu && t->processes &&
		(!t->gpu->processes || t->gpu->refused || t->gpu->yields || t->gpu->without_record))
		strcpy(lost, "no calls lost");
	own_rows(values, sizeof(values));
	if (t->gpu && t->processes)
		snprintf(work, sizeof(work), "%" PRIu64 " GPU operation%s, ",
			run.stats.rows[GT_GPU], plural(run.stats.rows[GT_GPU], "s"));
	gt_exit_describe(ending, sizeof(ending), &run.launch, t->open, file ? run.name : NULL);
	for_the_shell(run.name, name);
	gt_message(stderr, TOOL,
		"%s%s: %s, %" PRIu64 " event%s, %s%s%u process%s, %s, %.2f s%s%s%s%s",
		run.simulated ? "simulated GPU: " : "", name,
		human(size, sizeof(size), file ? (uint64_t)st.st_size : run.stats.bytes), events(),
		plural(events(), "s"), work, values, t->processes, plural(t->processes, "es"), lost,
		(double)(run.stopped - run.start) / GT_SECOND, *ending ? "; " : "", ending,
		empty ? "" : "; next: gtanalyze ", empty ? "" : name);
}

static void say_end(const char *program)
{
	const struct gt_recorder_totals *t = gt_recorder_totals(run.r);
	bool empty = !run.stats.rows[GT_CALL] && !t->open;
	struct gt_losses all = losses();
	char text[160];

	if (!takes_text())
		gt_child_restore_signals(); /* so that they end us, should that last */
	clear_status();
	if (run.lost.code)
		say_stopped();
	if (run.lost.code || o.quiet)
		return;
	gt_losses_print(&all, TOOL, stderr);
	say_file(empty && !own_rows(text, sizeof(text)));
	if (empty && (run.gates || !run.own.n))
		say_nothing_seen(program);
	if (o.verbose)
		gt_sources_report(&run.own, TOOL, stderr);
	if (o.verbose)
		gt_message(stderr, TOOL,
			"%u thread%s, %" PRIu64
			" call%s left out by --sample, clock error at most %u ns",
			t->threads, plural(t->threads, "s"), t->sampled_out,
			plural(t->sampled_out, "s"), t->clock_error);
}

static int finish(int status, bool keep)
{
	if (gt_alloc_failed()) {
		gt_message(stderr, TOOL,
			"out of memory: the trace and the messages about it may be incomplete");
		status = status ? status : GT_EXIT_OWN;
	}
	gt_recorder_close(run.r);
	gt_writer_abandon(run.w);
	gt_sources_close(&run.own);
	gt_guest_server_close(&run.door);
	gt_rings_close(&run.rings);
	if (run.out.fd >= 0)
		close(run.out.fd);
	if (!keep && run.out.created)
		unlink(run.name);
	gt_opt_list_release(&o.filter);
	gt_opt_list_release(&o.exclude);
	return status;
}

static int64_t later(int64_t t, int64_t by) { return by < GT_TIME_MAX - t ? t + by : GT_TIME_MAX; }

/* After the program has started, so that it inherits nothing that a source opens. False, after a
 * message: the trace lacks a source. */
static bool start_sources(void)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_source_times times = { .interval = o.nvml_interval,
		.from = later(run.start, o.delay) };

	times.until = o.duration ? later(times.from, o.duration) : 0;
	if (!gt_sources_start(&run.own, &times, &err))
		return true;
	gt_err_print(TOOL, NULL, &err);
	return false;
}

static int run_program(char **argv)
{
	struct gt_child_settings settings = {
		.library = run.door.dir.library, .session = run.door.dir.path, .inject = o.inject
	};
	struct gt_err err = GT_ERR_INIT;
	bool counted;
	int status;

	run.start = gt_clock_monotonic();
	run.told = run.start + GT_SECOND / 2;
	mind_the_time(run.start);
	settings.nvtx = run.rings.s->nvtx || run.rings.s->range == GT_RANGE_NVTX;
	if (gt_child_start(&run.launch, argv, &settings, &err)) {
		gt_err_print(TOOL, NULL, &err);
		return finish(run.launch.status, false);
	}
	counted = start_sources();
	run.terminal = !o.quiet && isatty(2) && can_clear_a_line();
	watch();
	close_trace();
	say_end(argv[0]);
	status = run.launch.status;
	return finish((run.lost.code || !counted) && !status ? GT_EXIT_OWN : status, true);
}

static int doctor(void)
{
	int status = gt_doctor(stdout);

	if (gt_alloc_failed()) {
		gt_message(stderr, TOOL, "out of memory: the output may be incomplete");
		status = GT_EXIT_OWN;
	}
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	gt_message(stderr, TOOL, "cannot write standard output: %s", strerror(errno));
	return GT_EXIT_OWN;
}

/* Without a trace and without other processes: the program replaces gtcollect. */
static int probes_only(char *const *argv, struct gt_err *err)
{
	char library[PATH_MAX], real[PATH_MAX];
	struct gt_child_settings settings = { .library = real, .inject = true };
	int code = o.output || o.filter.n || o.exclude.n || o.range
		? gt_err_set(err, -EINVAL,
			  "--probes-only records nothing: -o, --filter, --exclude and --range mean nothing with it")
		: check_options(err);

	if (!code)
		code = gt_child_check_inject(err);
	if (code)
		return 2;
	if (gt_session_library(library, sizeof(library), err))
		return GT_EXIT_OWN;
	if (!realpath(library, real)) {
		gt_err_set(err, -errno, "%.100s: %s", library, strerror(errno));
		return GT_EXIT_OWN;
	}
	if (gt_child_check(&run.launch, argv[0], err))
		return run.launch.status;
	settings.cupti = *run.wanted.cupti ? run.wanted.cupti : NULL;
	return gt_child_exec_instead(argv, &settings, err);
}

/* Adds what to do about it. */
static void advise(struct gt_err *err, const char *what)
{
	size_t n = strlen(err->text);

	snprintf(err->text + n, sizeof(err->text) - n, "%s", what);
}

int main(int argc, char **argv)
{
	struct gt_err err = GT_ERR_INIT;
	int operands, code;

	gt_streams_guard();
	code = gt_opt_parse(&command, argc, argv, &operands, &err);
	run.out.fd = -1;
	if (code > 0)
		return 0;
	if (!code && o.doctor)
		return doctor();
	if (!code && operands < 1)
		code = gt_err_set(&err, -EINVAL,
			"no command given (gtcollect [options] [--] COMMAND [ARGS])");
	if (!code && o.probes) {
		code = probes_only(argv + 1, &err);
		gt_err_print(TOOL, NULL, &err);
		return finish(code, false);
	}
	if (!code)
		code = check_use(argv[1], &err);
	if (code) {
		gt_err_print(TOOL, NULL, &err);
		return finish(code == -EINVAL ? 2 : GT_EXIT_OWN, false);
	}
	/* a mistyped command costs no trace that -f would replace */
	if (gt_child_check(&run.launch, argv[1], &err)) {
		gt_err_print(TOOL, NULL, &err);
		return finish(run.launch.status, false);
	}
	if (gt_child_init(&run.launch, o.wait == WAIT_ALL, &err) || open_session(&err) ||
		gt_sources_open(&run.own, &err)) {
		gt_err_print(TOOL, NULL, &err);
		return finish(GT_EXIT_OWN, false);
	}
	if (gt_output_open(&run.out, run.name, o.force, &err) || open_trace(argv + 1, &err)) {
		if (!o.output && err.code != -ENOMEM)
			advise(&err, "; use -o FILE to write elsewhere");
		gt_err_print(TOOL, run.name, &err);
		return finish(GT_EXIT_OWN, false);
	}
	return run_program(argv + 1);
}
