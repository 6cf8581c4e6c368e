/* gtcollect runs a program and records its calls to the CUDA driver into a trace.
 *
 * This file has the order of steps: options, session, file, program, passes of the recorder until
 * the program has ended, the last lines. Each step is a function. finish() undoes all completed
 * steps, so every failure calls it. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "collect/attach/attached_programs.h"
#include "collect/cli/child_process.h"
#include "collect/cli/doctor.h"
#include "collect/cli/exit_summary.h"
#include "collect/cli/final_report.h"
#include "collect/cli/metadata.h"
#include "collect/cli/options.h"
#include "collect/cli/output.h"
#include "collect/cli/python_command.h"
#include "collect/correlate/gpu_correlate.h"
#include "collect/host/host_recording.h"
#include "collect/ipc/guest_server.h"
#include "collect/ipc/shared_memory.h"
#include "collect/live/live_view.h"
#include "collect/recorder/recorder.h"
#include "collect/source/source.h"
#include "formats/base/alloc_failure.h"
#include "formats/cmdline/std_fds.h"
#include "formats/text/printable.h"
#include "formats/trace/clock.h"

#define TOOL "gtcollect"
/* how long to wait for the reader of a full output pipe after a signal has ended the recording */
#define READER_TIMEOUT (5 * GT_SECOND)
#define LINES_NS (30 * GT_SECOND) /* --lines: as its --help says */

static struct {
	char path[4096];
	struct gt_output out;
	struct gt_session selection; /* the gates and settings that the options select */
	struct gt_sources sources;
	char events[GT_SOURCES_LIST]; /* the sources that --inject or eBPF records */
	unsigned gates;               /* how many of them are open */
	struct gt_rings rings;
	struct gt_guest_server server;
	struct gt_writer *w;
	struct gt_recorder *r;
	struct gt_attached_programs attached; /* programs that already run */
	struct gt_live_view *live;            /* --live, --print; NULL: neither */
	bool lacks_lines;                     /* of --print: they could not be written */
	struct gt_child child;
	char **python_command;        /* the arguments to execute, if they are not those of argv */
	struct gt_err failure;        /* why recording stopped early */
	int64_t start, stop;          /* ns; stop: 0 while it records */
	int64_t from;                 /* ns: begin of --delay and --duration, after attaching */
	int64_t stalled;              /* ns: when the output, a pipe, last became full */
	bool simulated;               /* the file says so */
	struct gt_writer_stats stats; /* the last ones, once the writer is closed */
} run = { .rings.fd = -1,
	.out.fd = -1,
	.failure = GT_ERR_INIT,
	.server = { .dir.fd = -1, .listen_fd = -1, .by_pid_fd = -1, .stop = { -1, -1 } } };

/* ---- start ---- */

static int enable_sources(struct gt_err *err)
{
	struct gt_collect_options *o = &gt_options;
	bool may_leave_out = o->falls_back || !strcmp(o->events, gt_sources_default());
	int code = 0;

	if (o->via == GT_VIA_EBPF) {
		code = gt_sources_ebpf(o->events, may_leave_out, run.events, err);
		o->events = run.events;
	}
	if (!code)
		code = gt_sources_enable(&run.selection, &run.sources, o->events, err);
	if (!code && o->via != GT_VIA_EBPF && !o->with_ebpf && !o->with_switches &&
		gt_sources_only_ebpf(o->events))
		return gt_err_set(err, -EINVAL, "%s%s needs --via ebpf", o->kernel ? "" : "-e ",
			o->kernel ? "--kernel" : gt_sources_only_ebpf(o->events)->name);
	if (!code && gt_sources_has(o->events, "samples") && !o->with_samples && !o->with_timers)
		return gt_err_set(err, -EINVAL,
			"-e samples needs a COMMAND or -p: the stacks of all processes of the machine would be copied at each sample");
	if (code || !(o->inject || o->via == GT_VIA_INJECT))
		return code;
	if (o->gpu_timing == GT_TIMING_EVENTS)
		return gt_err_set(err, -EINVAL,
			"--gpu-timing events needs wrappers around the calls, which --%s does not have",
			o->inject ? "inject" : "via inject");
	code = o->inject ? gt_child_check_inject(err) : 0;
	if (code)
		return code;
	gt_sources_inject(&run.selection, o->events, o->with_ebpf, run.events);
	if (!may_leave_out && gt_sources_has(o->events, "ioctl") &&
		!gt_sources_has(run.events, "ioctl") && !o->inject)
		gt_metadata_add_missing("ioctl, which injection does not see, but eBPF does");
	o->events = run.events;
	if (o->inject && !o->quiet)
		gt_message(stderr, TOOL,
			"note: --inject sees no ioctls, and no calls before cuInit has returned");
	return 0;
}

/* The gates and settings of this way. *useless: as of gt_sources_filter. 0 or -EINVAL. */
static int select_events(const char **useless, struct gt_err *err)
{
	const struct gt_collect_options *o = &gt_options;
	int code = enable_sources(err);

	if (code)
		return code;
	run.gates = gt_sources_filter(
		&run.selection, &o->filter, &o->exclude, (uint32_t)o->sample, useless);
	if (!run.gates && !run.sources.n && !gt_sources_only_ebpf(o->events) && !o->with_samples &&
		!o->with_timers && (!run.selection.nvtx || o->filter.n))
		return gt_err_set(err, -EINVAL, "--filter and --exclude leave nothing to record");
	return 0;
}

/* Everything that may be wrong with the command line is found here, before anything is created. 0
 * or -EINVAL. */
static int check_use(const char *program, struct gt_err *err)
{
	const struct gt_collect_options *o = &gt_options;
	const struct gt_rings_options rings = gt_options_rings();
	const char *useless;
	int code = gt_options_check(err);

	if (!code)
		code = gt_rings_check(&rings, err);
	if (!code)
		code = gt_output_name(o->output, program, run.path, sizeof(run.path), err);
	if (!code)
		code = select_events(&useless, err);
	if (!code && useless && !o->quiet)
		gt_message(stderr, TOOL, "note: no name that is recorded matches %s", useless);
	if (!code && o->range && (o->with_ebpf || gt_options_has_perf()) && !o->quiet)
		gt_message(stderr, TOOL,
			"note: --range does not limit what the kernel reports, as scheduling and probes");
	if (!code)
		gt_sources_stacks(&run.selection, &o->stacks, &useless);
	if (!code && useless && !o->quiet)
		gt_message(stderr, TOOL, "note: no call that is recorded matches --stacks %s",
			useless);
	return code;
}

static int open_session(struct gt_err *err)
{
	const struct gt_collect_options *o = &gt_options;
	const struct gt_rings_options rings = gt_options_rings();
	int code = gt_rings_open(&run.rings, &rings, err), timing = gt_options_timing();
	struct gt_session *s = run.rings.s;

	if (code)
		return code;
	s->args = (uint32_t)o->args;
	s->range = o->nvtx_range ? GT_RANGE_NVTX : o->range ? GT_RANGE_PROFILER : GT_RANGE_ALWAYS;
	if (o->nvtx_range)
		strcpy(s->range_name, o->nvtx_range);
	s->nvtx = run.selection.nvtx;
	s->inject = run.selection.inject;
	s->sample = run.selection.sample;
	s->ioctls = run.selection.ioctls;
	s->gpu = o->via == GT_VIA_EBPF ? gt_probe_selection_names(&o->usdt, "parcagpu")
				       : run.selection.gpu && timing != GT_TIMING_OFF;
	s->gpu_timing = timing == GT_TIMING_OFF ? GT_TIMING_AUTO : (uint32_t)timing;
	s->gpu_more = run.selection.gpu_more;
	s->partly = o->delay || o->duration || o->range || o->filter.n || o->exclude.n ||
		o->sample > 1 || o->via == GT_VIA_INJECT;
	strcpy(s->cupti, o->cupti_path);
	memcpy(s->gate, run.selection.gate, sizeof(run.selection.gate));
	memcpy(s->stack_of, run.selection.stack_of, sizeof(run.selection.stack_of));
	s->stacks = run.selection.stacks;
	if (o->with_timers)
		s->sample_period = GT_SECOND / gt_sources_sample_rate();
	run.rings.ebpf = o->via == GT_VIA_EBPF;
	run.rings.with_writer = o->with_ebpf || gt_options_has_perf();
	gt_rings_take_ownership(&run.rings);
	return gt_guest_server_open(&run.server, &run.rings, err);
}

/* What the way needs before a file is opened. 0 or negative. */
static int open_way(struct gt_err *err)
{
	int code = open_session(err);

	return code ? code : gt_sources_open(&run.sources, err);
}

static int open_attached(struct gt_err *err)
{
	run.attached.rings = &run.rings;
	run.attached.server = &run.server;
	return gt_attached_open(&run.attached, &run.selection, err);
}

static void apply_delay_and_duration(int64_t now)
{
	const struct gt_collect_options *o = &gt_options;
	int64_t since = now - run.from;

	gt_rings_set_recording(
		&run.rings, since >= o->delay && (!o->duration || since - o->delay < o->duration));
}

/* The output is a full pipe. Its reader may continue, or never. Signals are still forwarded to the
 * program meanwhile, and processes that wait for probes get them. The second signal that ends the
 * recording gives up; the first one does if the program has ended. */
static int wait_for_reader(void *arg, int fd, struct gt_err *err)
{
	const struct gt_child *child = arg;
	unsigned with = child->ends[0], without = child->ends[1];
	struct pollfd p[] = { { .fd = fd, .events = POLLOUT },
		{ .fd = child->signals, .events = POLLIN },
		{ .fd = gt_attached_fd(&run.attached), .events = POLLIN } };

	run.stalled = gt_clock_monotonic();
	while (poll(p, 3, 100) < 0 || !p[0].revents) {
		gt_child_handle_signals(&run.child);
		gt_attached_take_events(&run.attached);
		if (child->ends[0] - with >= 2 || child->ends[1] != without ||
			(without && gt_clock_monotonic() - run.stalled > READER_TIMEOUT))
			return gt_err_set(err, -ECANCELED,
				"no process read it for %.1f s until a signal came",
				(double)(gt_clock_monotonic() - run.stalled) / GT_SECOND);
		if (child->pid > 0 && !child->ended)
			apply_delay_and_duration(gt_clock_monotonic());
	}
	return 0;
}

/* The failure of a pass that the writer of gtcollect's own rings has made, in the midst of its
 * records; the next pass stops the recording. */
static struct gt_err early_failure = GT_ERR_INIT;

static void pass_early(void)
{
	if (!run.failure.code && !early_failure.code)
		gt_recorder_pass(run.r, &early_failure);
}

/* From here on, what an existing file held is lost. */
static int open_trace(char *const *argv, struct gt_err *err)
{
	struct gt_writer_options opt = {
		.level = 3, .rows_sorted = true, .wait = wait_for_reader, .wait_arg = &run.child
	};
	int fd = run.out.fd, code = gt_output_empty(&run.out, err);
	char *json;

	if (code)
		return code;
	gt_sources_missing(&run.sources, gt_metadata_add_missing);
	if (gt_options.with_timers)
		gt_metadata_add_missing(GT_TIMERS_MISSING);
	if (gt_options.lacks_switches)
		gt_metadata_add_missing(GT_ALL_SWITCHES_MISSING);
	if (gt_options.via == GT_VIA_EBPF && run.selection.stacks)
		gt_metadata_add_missing("stacks of calls, which eBPF does not take");
	json = gt_metadata_begin(argv, run.rings.s, run.selection.gpu);
	opt.meta_json = json;
	run.out.fd = -1; /* the writer closes it, also when it fails */
	run.w = gt_writer_open(fd, &opt, err);
	free(json);
	if (run.w)
		run.r = gt_recorder_open(&run.rings, &run.server, run.w, err);
	if (run.r && gt_options.lines)
		gt_recorder_read_lines(run.r, LINES_NS);
	run.rings.drain = pass_early;
	return run.r ? 0 : err->code ? err->code : -ENOMEM;
}

/* ---- recording ---- */

/* The file cannot be written any more. The program must not notice: recording stops, the guests do
 * not write to the rings any more, and processes get no more probes, for which they would wait. */
static void stop_recording(struct gt_err *why)
{
	run.failure = *why;
	gt_rings_give_up_ownership(&run.rings);
	gt_sources_stop(&run.sources);
	gt_attached_stop_probes(&run.attached);
	if (!run.stop)
		run.stop = gt_clock_monotonic();
}

/* Written to the file as soon as it is known: gtcollect may be killed before the end. */
static int write_simulated(struct gt_err *err)
{
	if (run.simulated ||
		!(gt_recorder_totals(run.r)->simulated || gt_sources_are_simulated(&run.sources)))
		return 0;
	run.simulated = true;
	return gt_writer_meta(run.w, "{\"simulated\":true}", err);
}

/* last: with their metadata. */
static int drain_sources(bool last, struct gt_err *err)
{
	int64_t n = gt_sources_drain(&run.sources, run.w, last, err);

	if (n > 0)
		gt_recorder_mark_active(run.r);
	return n < 0 ? (int)n : 0;
}

static const struct gt_recording *recording(const char *program)
{
	static struct gt_recording r;

	r = (struct gt_recording){ .path = run.path,
		.program = program,
		.child = &run.child,
		.totals = gt_recorder_totals(run.r),
		.stats = run.w ? gt_writer_stats(run.w) : &run.stats,
		.sources = &run.sources,
		.failure = &run.failure,
		.start = run.start,
		.from = run.from,
		.stop = run.stop,
		.stalled = run.stalled,
		.simulated = run.simulated,
		.has_gates = run.gates,
		.had_no_ring = run.rings.s->untraced };
	return &r;
}

static void sleep_or_signal(int64_t ns)
{
	struct pollfd p[2 + GT_SOURCES_OWN] = { { .fd = run.child.signals, .events = POLLIN },
		{ .fd = gt_attached_fd(&run.attached), .events = POLLIN } };
	struct timespec t = { ns / GT_SECOND, ns % GT_SECOND };

	ppoll(p, 2 + (run.failure.code ? 0 : gt_sources_poll(&run.sources, p + 2)), &t, NULL);
	gt_child_handle_signals(&run.child);
}

/* One pass, unless recording has stopped. Returns how many bytes it took. */
static int64_t make_pass(int64_t now)
{
	struct gt_err err = GT_ERR_INIT;
	int64_t taken;

	if (run.failure.code) {
		gt_attached_take_events(&run.attached);
		return 0;
	}
	if (!run.stop)
		apply_delay_and_duration(now);
	taken = write_simulated(&err);
	if (!taken)
		taken = drain_sources(false, &err);
	if (!taken) {
		gt_attached_drain(&run.attached);
		err = early_failure;
		taken = err.code ? err.code : gt_recorder_pass(run.r, &err);
	}
	if (taken < 0 || write_simulated(&err)) {
		stop_recording(&err);
		return 0;
	}
	return taken;
}

/* Of programs that already ran: have they ended, or does the user want to end the recording? */
static bool attached_ended(int64_t now)
{
	const struct gt_collect_options *o = &gt_options;

	return run.child.ends[1] || run.failure.code || gt_live_view_is_closed(run.live) ||
		(o->duration && now - run.from >= o->delay + o->duration) ||
		gt_attached_have_ended(&run.attached, now);
}

/* Has everything ended that --wait asks to wait for? *checked: when processes that are not children
 * of gtcollect were last looked for; that is slow. */
static bool is_over(int64_t now, int64_t *checked)
{
	if (gt_options_attach())
		return attached_ended(now);
	if (!run.child.ended)
		return false;
	if (gt_options.wait != GT_WAIT_ALL || run.child.ends[1] || run.failure.code)
		return true;
	if (!run.child.is_childless || now - *checked < GT_SECOND / 20)
		return false;
	*checked = now;
	return !gt_recorder_count_alive(run.r);
}

static void record_until_the_end(const char *program)
{
	int64_t checked = 0, begun = run.start, since, taken, now, pause;

	for (;;) {
		since = gt_clock_monotonic() - begun;
		begun += since;
		taken = make_pass(begun);
		now = gt_clock_monotonic();
		if (is_over(now, &checked))
			break;
		gt_status_line_show(recording(program), now);
		pause = run.failure.code
			? GT_SECOND
			: gt_poll_interval(gt_rings_free_bytes(&run.rings), taken, since) -
				(now - begun);
		sleep_or_signal(pause > 0 ? pause : 0);
	}
	gt_rings_set_recording(&run.rings, false);
	if (!run.stop)
		run.stop = gt_clock_monotonic();
}

/* ---- the end ---- */

static int write_last_metadata(struct gt_err *err)
{
	char *json = gt_metadata_end(gt_recorder_totals(run.r), &run.stats, run.child.status,
		run.start, run.stop, run.simulated);
	int code = json ? gt_writer_meta(run.w, json, err) : 0;

	free(json);
	return code;
}

static bool has_all_records(void)
{
	const struct gt_gpu_totals *gpu = gt_recorder_totals(run.r)->gpu;

	return !gpu || !gpu->pending;
}

static void pass_while_detaching(int64_t now) { make_pass(now); }

/* --live and --print. After the program has started. */
static int start_live_view(struct gt_err *err)
{
	const struct gt_live_view_options opt = { .path = run.path,
		.rows = gt_options.print || gt_options.print_json,
		.json = gt_options.print_json,
		.figures = gt_options.live,
		.start = run.start };

	if (!opt.rows && !opt.figures)
		return 0;
	run.live = gt_live_view_start(&opt, err);
	return run.live ? 0 : err->code;
}

/* The trace is complete. If the reader of the lines has ended, a signal ends gtcollect. */
static void finish_live_view(void)
{
	struct gt_err err = GT_ERR_INIT;

	if (run.live)
		gt_child_restore_signals();
	if (gt_live_view_finish(run.live, &err)) {
		gt_err_print(TOOL, NULL, &err);
		run.lacks_lines = true;
	}
	run.live = NULL;
}

/* Drains all that is left, writes the final metadata, closes the file. */
static void close_trace(void)
{
	const struct gt_attached_recorder recorder = { pass_while_detaching, has_all_records };
	struct gt_err err = GT_ERR_INIT;
	int code = run.failure.code;

	gt_sources_stop(&run.sources);
	gt_attached_detach(&run.attached, &recorder);
	if (!code) {
		err = early_failure;
		code = err.code;
	}
	if (!code)
		code = drain_sources(true, &err);
	if (!code)
		code = gt_recorder_finish(run.r, &err);
	run.stats = *gt_writer_stats(run.w);
	gt_rings_give_up_ownership(&run.rings);
	if (!code)
		code = write_simulated(&err);
	if (!code)
		code = write_last_metadata(&err);
	if (run.failure.code)
		gt_writer_abandon(run.w);
	else if (gt_writer_close(run.w, &err) || code || gt_output_check(&run.out, &err))
		stop_recording(&err);
	run.w = NULL;
	finish_live_view();
}

/* The reverse of open_way and open_attached. */
static void close_way(void)
{
	gt_attached_close(&run.attached);
	gt_sources_close(&run.sources);
	gt_guest_server_close(&run.server);
	gt_rings_close(&run.rings);
}

static int finish(int status, bool keep)
{
	if (gt_alloc_failed()) {
		gt_message(stderr, TOOL,
			"out of memory: the trace and the messages about it may be incomplete");
		status = status ? status : GT_EXIT_OWN;
	}
	finish_live_view();
	gt_recorder_close(run.r);
	gt_writer_abandon(run.w);
	close_way();
	if (run.out.fd >= 0)
		close(run.out.fd);
	if (!keep && run.out.created)
		unlink(run.path);
	gt_options_release();
	free(run.python_command);
	return status;
}

static int64_t add_time(int64_t t, int64_t ns)
{
	return ns < GT_TIME_MAX - t ? t + ns : GT_TIME_MAX;
}

/* The time of --delay and --duration, for records of probes. */
static void set_window(void)
{
	int64_t from = add_time(run.from, gt_options.delay);

	gt_attached_set_window(&run.attached, gt_options.delay ? from : 0,
		gt_options.duration ? add_time(from, gt_options.duration) : GT_TIME_MAX);
}

/* After the program has started, so that it inherits nothing that a source opens. False, after a
 * message: the trace lacks a source. */
static bool start_sources(void)
{
	struct gt_err err = GT_ERR_INIT;
	int64_t from = add_time(run.from, gt_options.delay),
		until = gt_options.duration ? add_time(from, gt_options.duration) : 0;

	if (!gt_sources_start(&run.sources, from, until, &err))
		return true;
	gt_err_print(TOOL, NULL, &err);
	return false;
}

/* The last lines. */
static void print_end(const char *program)
{
	struct gt_err err = GT_ERR_INIT;

	gt_exit_summary_print(recording(program));
	if (gt_options.report && !run.failure.code && gt_exit_has_events(recording(program)) &&
		gt_final_report_print(run.path, &err))
		gt_err_print(TOOL, NULL, &err);
}

static int run_program(char **argv)
{
	const struct gt_session *s = run.rings.s;
	struct gt_child_settings settings = { .library = run.server.dir.library,
		.session = run.server.dir.path,
		.inject = gt_options.inject,
		.sample_period = s->sample_period,
		.nvtx = s->nvtx || s->range == GT_RANGE_NVTX };
	struct gt_err err = GT_ERR_INIT;
	bool has_all_sources;
	int status;

	run.start = run.from = gt_clock_monotonic();
	apply_delay_and_duration(run.start);
	set_window();
	if (gt_options.via == GT_VIA_EBPF)
		settings = (struct gt_child_settings){ .library = NULL };
	if (gt_attached_starts_command()) {
		settings.before_exec = gt_attached_before_exec;
		settings.before_exec_arg = &run.attached;
	}
	if (gt_child_start(&run.child, argv, &settings, &err)) {
		gt_err_print(TOOL, NULL, &err);
		return finish(run.child.status, false);
	}
	has_all_sources = start_sources();
	if (start_live_view(&err))
		gt_err_print(TOOL, NULL, &err);
	record_until_the_end(argv[0]);
	close_trace();
	print_end(argv[0]);
	status = run.child.status;
	if ((run.failure.code || run.lacks_lines || !has_all_sources) && !status)
		status = GT_EXIT_OWN;
	return finish(status, true);
}

/* Of a file whose name gtcollect has chosen. */
static void advise_name(struct gt_err *err)
{
	if (!gt_options.output && err->code != -ENOMEM)
		gt_err_append(err, "; use -o FILE to write elsewhere");
}

/* Prints the error and undoes all completed steps. */
static int fail(int status, const char *file, const struct gt_err *err)
{
	gt_err_print(TOOL, file, err);
	return finish(status, false);
}

/* They read the trace, which to do with a pipe would wait for ever. */
static int check_is_readable(struct gt_err *err)
{
	const char *reads = gt_options.report ? "--report"
		: gt_options.print            ? "--print"
		: gt_options.print_json       ? "--print-json"
		: gt_options.live             ? "--live"
					      : NULL;

	return reads && !run.out.ino
		? gt_err_set(err, -EINVAL,
			  "is not a regular file, and %s reads the trace: use gtcollect without %s",
			  reads, reads)
		: 0;
}

/* ---- programs that already run ---- */

/* Injection is refused: eBPF records all but GPU times and annotations. 0 or negative. */
static int record_by_ebpf_instead(struct gt_err *err)
{
	const char *useless;
	int code;

	gt_attached_fall_back(&run.attached, err);
	close_way();
	memset(&run.selection, 0, sizeof(run.selection));
	*err = (struct gt_err)GT_ERR_INIT;
	code = select_events(&useless, err);
	if (!code)
		code = open_way(err);
	if (!code)
		code = open_attached(err);
	if (code)
		return code;
	apply_delay_and_duration(run.from);
	return gt_attached_attach(&run.attached, err);
}

/* Before the trace is opened: a process that refuses leaves an old file as it is. 0 or negative. */
static int attach(struct gt_err *err)
{
	int code;

	run.from = gt_clock_monotonic();
	apply_delay_and_duration(run.from);
	code = gt_attached_attach(&run.attached, err);
	return code && gt_attached_can_fall_back(&run.attached, err) ? record_by_ebpf_instead(err)
								     : code;
}

static int record_running_programs(void)
{
	struct gt_err err = GT_ERR_INIT;
	char text[4096], *command[] = { gt_attached_command_line(text), NULL };

	run.child.ended = true; /* signals end the recording */
	run.start = gt_clock_monotonic();
	if (gt_attached_check(&err) || open_attached(&err))
		return fail(GT_EXIT_OWN, NULL, &err);
	if (gt_output_open(&run.out, run.path, gt_options.force, &err) || check_is_readable(&err)) {
		advise_name(&err);
		return fail(GT_EXIT_OWN, run.path, &err);
	}
	if (attach(&err))
		return fail(GT_EXIT_OWN, NULL, &err);
	if (open_trace(command, &err)) {
		advise_name(&err);
		return fail(GT_EXIT_OWN, run.path, &err);
	}
	run.from = gt_clock_monotonic();
	set_window();
	if (gt_sources_start(&run.sources, run.from, 0, &err) || start_live_view(&err))
		return fail(GT_EXIT_OWN, NULL, &err);
	record_until_the_end(command[0]);
	close_trace();
	print_end(command[0]);
	return finish(run.failure.code || run.lacks_lines ? GT_EXIT_OWN : 0, true);
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
static int exec_with_probes_only(char *const *argv, struct gt_err *err)
{
	const struct gt_collect_options *o = &gt_options;
	char library[PATH_MAX], real[PATH_MAX];
	struct gt_child_settings settings = { .library = real, .inject = true };
	int code = gt_options_concern_recording()
		? gt_err_set(err, -EINVAL,
			  "--probes-only records nothing: of the options for recordings, only --cupti can be used with it")
		: gt_options_check(err);

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
	if (gt_child_check(&run.child, argv[0], err))
		return run.child.status;
	settings.cupti = *o->cupti_path ? o->cupti_path : NULL;
	return gt_child_exec_instead(argv, &settings, err);
}

int main(int argc, char **argv)
{
	struct gt_err err = GT_ERR_INIT;
	int operands, code;
	char **command, name[64];

	gt_std_fds_occupy();
	code = gt_options_parse(argc, argv, &operands, &err);
	if (code > 0)
		return 0;
	if (!code && gt_options.doctor)
		return doctor();
	if (!code && gt_options_attach() && operands)
		code = gt_err_set(
			&err, -EINVAL, "-p and -a record programs that already run, not a COMMAND");
	if (!code && operands < 1 && !gt_options_attach())
		code = gt_err_set(&err, -EINVAL,
			"no command given (gtcollect [options] [--] COMMAND [ARGS])");
	if (code)
		return fail(code == -EINVAL ? 2 : GT_EXIT_OWN, NULL, &err);
	gt_attached_choose_way();
	if (gt_options_attach()) {
		code = check_use(gt_attached_name(name), &err);
		if (code)
			return fail(code == -EINVAL ? 2 : GT_EXIT_OWN, NULL, &err);
		return gt_child_init(&run.child, false, &err) || open_way(&err)
			? fail(GT_EXIT_OWN, NULL, &err)
			: record_running_programs();
	}
	command = gt_python_command(argv + 1);
	if (!command)
		return finish(GT_EXIT_OWN, false);
	run.python_command = command == argv + 1 ? NULL : command;
	if (gt_options.probes_only) {
		code = exec_with_probes_only(command, &err);
		return fail(code, NULL, &err);
	}
	code = check_use(argv[1], &err);
	if (code)
		return fail(code == -EINVAL ? 2 : GT_EXIT_OWN, NULL, &err);
	/* before -f overwrites a trace because of a mistyped command */
	if (gt_child_check(&run.child, command[0], &err))
		return fail(run.child.status, NULL, &err);
	if (gt_child_init(&run.child, gt_options.wait == GT_WAIT_ALL, &err) || open_way(&err) ||
		(gt_attached_starts_command() && open_attached(&err)))
		return fail(GT_EXIT_OWN, NULL, &err);
	if (gt_output_open(&run.out, run.path, gt_options.force, &err) || check_is_readable(&err) ||
		open_trace(command, &err)) {
		advise_name(&err);
		return fail(GT_EXIT_OWN, run.path, &err);
	}
	return run_program(command);
}
