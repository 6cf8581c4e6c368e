#define _GNU_SOURCE
#include "collect/attach/attached_programs.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "collect/bpf/bpf_way.h"
#include "collect/cli/metadata.h"
#include "collect/cli/options.h"
#include "collect/host/host_recording.h"
#include "collect/inject/inject.h"
#include "collect/ipc/process_status.h"
#include "collect/recorder/recorder.h"
#include "collect/source/source.h"
#include "formats/text/printable.h"
#include "formats/trace/clock.h"

#define TOOL "gtcollect"
/* how long a guest in a running program may take to connect, and to write its last records */
#define GUEST_TIMEOUT (10 * GT_SECOND)
/* how long to wait at the end for GPU work that recorded calls have launched */
#define LAST_WORK_TIMEOUT GT_SECOND
#define LOOK_EVERY (GT_SECOND / 20)

/* Does -e name what only the library records? */
static bool names_gpu_work(const char *events)
{
	return gt_sources_has(events, "gpu") || gt_sources_has(events, "runtime") ||
		gt_sources_has(events, "um");
}

/* Does eBPF have to record nothing but scheduling, for which perf events are enough? */
static bool needs_only_switches(const struct gt_collect_options *o)
{
	return gt_sources_has(o->events, "sched") && !gt_sources_has(o->events, "driver") &&
		!gt_sources_has(o->events, "fault") && !gt_sources_has(o->events, "usdt") &&
		!gt_options_has_probes() && !o->all_processes;
}

/* Beside samples, switches are left out where the kernel has no way to record them: else a
 * container that refuses perf events could record nothing. */
static void leave_out_switches(struct gt_collect_options *o)
{
	static char rest[GT_SOURCES_LIST];
	FILE *to;

	if (!o->with_timers || o->via != GT_VIA_AUTO || !needs_only_switches(o))
		return;
	to = fopen("/dev/null", "we");
	o->lacks_switches = to && !gt_host_allows_switches() &&
		!(gt_bpf_way_is_allowed() && gt_bpf_way_doctor(to));
	if (to)
		fclose(to);
	if (!o->lacks_switches)
		return;
	gt_sources_without(o->events, "sched", rest);
	o->events = rest;
}

/* Samples are taken by perf events, else by the library in a program that gtcollect starts. */
static void choose_samples(struct gt_collect_options *o)
{
	o->with_samples = gt_sources_has(o->events, "samples") && !o->all_processes;
	if (!o->with_samples || gt_options_attach() || o->inject || o->via == GT_VIA_EBPF ||
		gt_host_allows_samples())
		return;
	o->with_samples = false;
	o->with_timers = true;
	leave_out_switches(o);
}

/* Beside samples, waits that eBPF records get their stacks by perf events and looks at the threads.
 * Without samples eBPF alone is recorded, which takes programs of ten thousand threads. */
static void choose_looks(struct gt_collect_options *o)
{
	o->with_looks = o->with_samples && gt_sources_has(o->events, "sched") &&
		(o->via == GT_VIA_EBPF || o->with_ebpf) && gt_host_allows_switches();
}

/* Of programs that already run; without --via. */
static int way_of_running(const struct gt_collect_options *o, bool needs_ebpf, bool needs_library)
{
	if (o->all_processes)
		return GT_VIA_EBPF;
	if (!needs_library && gt_sources_only_perf(o->events) && (!needs_ebpf || o->with_switches))
		return GT_VIA_PERF;
	return !needs_library && (needs_ebpf || gt_bpf_way_is_allowed()) ? GT_VIA_EBPF
									 : GT_VIA_INJECT;
}

static void choose_way(struct gt_collect_options *o)
{
	bool needs_ebpf, is_default = !strcmp(o->events, gt_sources_default()), needs_library;

	choose_samples(o);
	needs_ebpf = gt_sources_only_ebpf(o->events) || gt_options_has_probes();

	/* with probes alone, GPU work is not requested */
	if (gt_options_attach())
		needs_library = !o->all_processes && !(is_default && needs_ebpf) &&
			names_gpu_work(o->events);
	else
		needs_library = gt_sources_of_guest(o->events) || o->with_timers || o->inject;
	o->is_auto = o->via == GT_VIA_AUTO;
	if (!o->is_auto)
		return;
	o->with_switches =
		needs_only_switches(o) && !gt_bpf_way_is_allowed() && gt_host_allows_switches();
	o->with_ebpf = needs_ebpf && needs_library && !o->with_switches;
	if (gt_options_attach()) {
		o->via = way_of_running(o, needs_ebpf, needs_library);
		o->with_ebpf |= o->via == GT_VIA_INJECT && gt_bpf_way_is_allowed() &&
			gt_sources_has(o->events, "ioctl");
	} else {
		o->via = needs_ebpf && !needs_library && !o->with_switches ? GT_VIA_EBPF
									   : GT_VIA_PRELOAD;
	}
}

void gt_attached_choose_way(void)
{
	choose_way(&gt_options);
	choose_looks(&gt_options);
}

bool gt_attached_starts_command(void)
{
	return (gt_options.via == GT_VIA_EBPF || gt_options.with_ebpf || gt_options_has_perf()) &&
		!gt_options_attach();
}

char *gt_attached_command_line(char text[4096])
{
	char path[32];
	size_t n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)gt_options_pid(0));
	f = gt_options_pid(0) ? fopen(path, "re") : NULL;
	n = f ? fread(text, 1, 4095, f) : 0;
	if (f)
		fclose(f);
	for (size_t i = 0; i + 1 < n; i++)
		text[i] = text[i] ? text[i] : ' ';
	text[n] = 0;
	return n ? text : strcpy(text, "all processes");
}

const char *gt_attached_name(char name[64])
{
	char path[32];
	FILE *f;

	if (gt_options.all_processes)
		return "all";
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)gt_options_pid(0));
	f = fopen(path, "re");
	if (!f || !fgets(name, 64, f))
		*name = 0;
	if (f)
		fclose(f);
	name[strcspn(name, "\n")] = 0;
	return *name ? name : "process";
}

static int check_process(pid_t pid, struct gt_err *err)
{
	int64_t process = gt_process_status(pid, "Tgid", 10);
	struct gt_guest any;

	if (!gt_guest_read(pid, &any))
		return gt_err_set(err, -ESRCH, "there is no process %d", (int)pid);
	if (process > 0 && process != pid)
		return gt_err_set(err, -ESRCH, "%d is a thread of process %d: use -p %d", (int)pid,
			(int)process, (int)process);
	return gt_guest_has_exited(&any) ? gt_err_set(err, -ESRCH, "process %d has ended", (int)pid)
					 : 0;
}

int gt_attached_check(struct gt_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && gt_options_pid(i); i++)
		rc = check_process(gt_options_pid(i), err);
	return rc;
}

/* Notes what perf events do not record here. */
static void note_missing(void)
{
	if (gt_options.with_switches)
		gt_metadata_add_missing(GT_SWITCHES_MISSING);
	if (gt_options.with_samples && gt_host_lacks_kernel_samples())
		gt_metadata_add_missing(GT_SAMPLES_MISSING);
	if (gt_options_has_perf() && !gt_options_attach() && !gt_host_reads_memory(0))
		gt_metadata_add_missing(GT_MEMORY_MISSING);
}

int gt_attached_open(
	struct gt_attached_programs *a, const struct gt_session *selection, struct gt_err *err)
{
	const struct gt_bpf_way_options opt = { .rings = a->rings,
		.server = a->server,
		.selection = selection,
		.all_processes = gt_options.all_processes,
		.filter = &gt_options.process_filter,
		/* beside the guest library there may be no probes to wait for */
		.stops = gt_attached_starts_command() &&
			(!gt_options.with_ebpf || gt_options_has_probes() || gt_options.usdt.nusdt),
		/* the guest library records the same */
		.calls = !gt_options.with_ebpf && gt_sources_has(gt_options.events, "api"),
		.requests = gt_options.via != GT_VIA_PRELOAD &&
			gt_sources_has(gt_options.events, "ioctl"),
		.scheduling = gt_sources_has(gt_options.events, "sched"),
		.slow_probes = gt_options.slow_probes,
		.usdt = &gt_options.usdt,
		.probes = &gt_options.probes,
		.kprobes = &gt_options.kprobes,
		.tracepoints = &gt_options.tracepoints,
		.driver = gt_sources_has(gt_options.events, "driver"),
		.fault = gt_sources_has(gt_options.events, "fault") };

	a->list = calloc(gt_options.pids.n + 1, sizeof(*a->list));
	if (!a->list)
		return gt_err_set(err, -ENOMEM, "out of memory (processes)");
	/* injection needs it, and all rights */
	if (gt_options.via == GT_VIA_INJECT && a->rings->with_writer &&
		gt_guest_server_start(a->server, err))
		return err->code;
	if (gt_options.via != GT_VIA_EBPF && !gt_options.with_ebpf) {
		note_missing();
		return 0;
	}
	a->bpf = gt_bpf_way_open(&opt, err);
	a->has_probes = a->bpf;
	if (!a->bpf) {
		if (err->code == -EPERM && needs_only_switches(&gt_options) &&
			!gt_bpf_way_is_allowed()) {
			*err = (struct gt_err)GT_ERR_INIT;
			gt_err_set(err, -EPERM,
				"-e sched needs root, or CAP_BPF and CAP_PERFMON (setcap cap_bpf,cap_perfmon+ep gtcollect), or sysctl kernel.perf_event_paranoid=2");
		}
		return err->code;
	}
	note_missing();
	for (unsigned i = 0; gt_bpf_way_missing(a->bpf, i); i++)
		gt_metadata_add_missing(gt_bpf_way_missing(a->bpf, i));
	return 0;
}

/* ---- by probes ---- */

/* Is it known at the end only which probes no process has? */
static bool has_later_processes(void)
{
	return gt_attached_starts_command() ||
		gt_process_filter_selects(&gt_options.process_filter);
}

static int set_all_probes(struct gt_attached_programs *a, struct gt_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && gt_options_pid(i); i++) {
		rc = gt_bpf_way_attach(a->bpf, gt_options_pid(i), err);
		if (!rc && !gt_options.with_ebpf) /* else the list has them already */
			a->n += gt_guest_read(gt_options_pid(i), &a->list[a->n]);
	}
	if (!rc && gt_options.all_processes)
		rc = gt_bpf_way_attach_all(a->bpf, err);
	if (!rc && !has_later_processes())
		rc = gt_bpf_way_check(a->bpf, err);
	return rc || has_later_processes() || gt_options.all_processes
		? rc
		: gt_bpf_way_check_usdt(a->bpf, err);
}

/* Prints which of the named functions have no probes. */
static void report_left_out(const struct gt_attached_programs *a)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_bpf_way_totals t;

	if (gt_bpf_way_check(a->bpf, &err) && !gt_options.quiet)
		gt_message(stderr, TOOL, "note: %s", err.text);

	gt_bpf_way_totals(a->bpf, &t);
	if (t.slow && !gt_options.quiet)
		gt_message(stderr, TOOL,
			"note: %u function%s left out, because their probes cost some 10 us a call (--slow-probes)",
			t.slow, t.slow == 1 ? " is" : "s are");
}

/* What the last lines should say about probes. */
static void report_probes(const struct gt_attached_programs *a)
{
	struct gt_bpf_way_totals t;
	struct gt_err err = GT_ERR_INIT;

	gt_bpf_way_totals(a->bpf, &t);
	if (t.unmatched)
		gt_message(stderr, TOOL,
			"note: no file of the processes has a probe that matches usdt:%s:%s (readelf -n FILE lists them)",
			t.unmatched->provider, t.unmatched->name);
	else if (gt_bpf_way_check_usdt(a->bpf, &err))
		gt_message(stderr, TOOL, "note: %s", err.text);
	if (t.unreadable)
		gt_message(stderr, TOOL,
			"note: %u mapped file%s may have USDT probes but cannot be read (%s): root may",
			t.unreadable, t.unreadable == 1 ? "" : "s", t.first_unreadable);
	if (t.left_out)
		gt_message(stderr, TOOL,
			"note: %u place%s of USDT probes %s left out: 65536 at most can be recorded",
			t.left_out, t.left_out == 1 ? "" : "s", t.left_out == 1 ? "is" : "are");
	if (t.refused)
		gt_message(stderr, TOOL, "note: %u place%s left out: %s", t.refused,
			t.refused == 1 ? " is" : "s are", t.first_refused);
	if (t.failed)
		gt_message(stderr, TOOL, "note: %u time%s probes could not be set: %s", t.failed,
			t.failed == 1 ? "" : "s", t.first_failure);
	if (t.unread)
		gt_message(stderr, TOOL,
			"note: %u argument%s of USDT probes cannot be read and %s left out: %s",
			t.unread, t.unread == 1 ? "" : "s", t.unread == 1 ? "is" : "are",
			t.first_unread);
	if (t.unpaired)
		gt_message(stderr, TOOL,
			"note: %llu hit%s of --pair without a start or an end remain%s marks",
			(unsigned long long)t.unpaired, t.unpaired == 1 ? "" : "s",
			t.unpaired == 1 ? "s" : "");
}

/* ---- by perf events ---- */

static int open_host(struct gt_attached_programs *a, struct gt_err *err)
{
	const struct gt_host_options opt = { .switches = gt_options.with_switches ||
			gt_options.with_looks,
		.only_stacks = gt_options.with_looks,
		.rate = gt_options.with_samples ? gt_sources_sample_rate() : 0,
		.writer = a->bpf ? gt_bpf_way_writer(a->bpf) : NULL };

	a->host = gt_host_open(&opt, a->rings, a->server, err);
	return a->host ? 0 : err->code;
}

/* If they are for stacks of waits only, the recording goes on without these. */
static int refuse_host(struct gt_attached_programs *a, int rc, struct gt_err *err)
{
	char text[300];

	if (!rc || gt_options.with_samples || gt_options.with_switches || rc == -ESRCH)
		return rc;
	snprintf(text, sizeof(text), "stacks of waits: %.250s", err->text);
	gt_metadata_add_missing(text);
	gt_host_close(a->host);
	a->host = NULL;
	*err = (struct gt_err)GT_ERR_INIT;
	return 0;
}

/* A child that has yet to execute its program. */
static int start_host(struct gt_attached_programs *a, pid_t pid, struct gt_err *err)
{
	int rc = open_host(a, err);

	if (!rc) {
		gt_host_set_window(a->host, a->window_from, a->window_until);
		rc = gt_host_start(a->host, pid, err);
	}
	return refuse_host(a, rc, err);
}

static int attach_by_perf(struct gt_attached_programs *a, struct gt_err *err)
{
	int rc = open_host(a, err);

	for (size_t i = 0; !rc && gt_options_pid(i); i++) {
		rc = gt_host_attach(a->host, gt_options_pid(i), err);
		if (!rc && !gt_host_reads_memory(gt_options_pid(i)))
			gt_metadata_add_missing(GT_RUNNING_MEMORY_MISSING);
		if (!rc && gt_options.via == GT_VIA_PERF)
			a->n += gt_guest_read(gt_options_pid(i), &a->list[a->n]);
	}
	return refuse_host(a, rc, err);
}

int gt_attached_before_exec(void *attached, pid_t pid, struct gt_err *err)
{
	struct gt_attached_programs *a = attached;
	int rc;

	if (a->bpf) {
		rc = gt_bpf_way_start(a->bpf, pid, err);
		if (rc)
			return rc;
		gt_bpf_way_drop_rights(a->bpf); /* before any other thread begins */
	}
	if (gt_options_has_perf()) {
		rc = start_host(a, pid, err);
		if (rc)
			return rc;
	}
	return gt_options.via != GT_VIA_EBPF ? gt_guest_server_start(a->server, err) : 0;
}

/* " (3 functions of 1 library, 2 places of USDT probes)"; of the library's own recording: "". */
static const char *probe_counts(const struct gt_bpf_way_totals *t, char text[128])
{
	char places[64] = "";

	*text = 0;
	if (gt_options.usdt.nusdt)
		snprintf(places, sizeof(places), ", %u place%s of USDT probes", t->usdt,
			t->usdt == 1 ? "" : "s");
	if (t->functions || *places || gt_options_has_probes() ||
		(gt_options.via == GT_VIA_EBPF && gt_sources_has(gt_options.events, "api")))
		snprintf(text, 128, " (%u function%s of %u librar%s%s)", t->functions,
			t->functions == 1 ? "" : "s", t->libraries, t->libraries == 1 ? "y" : "ies",
			places);
	return text;
}

static int attach_by_ebpf(struct gt_attached_programs *a, struct gt_err *err)
{
	struct gt_bpf_way_totals t;
	char counts[128];
	int rc = set_all_probes(a, err);

	if (rc)
		return rc;
	gt_bpf_way_drop_rights(a->bpf); /* before the thread of perf events begins */
	/* after eBPF, whose rows have then begun when gtcollect looks at threads that wait */
	if (gt_options_has_perf())
		rc = attach_by_perf(a, err);
	if (rc)
		return rc;
	if (gt_options.with_ebpf) { /* the thread that injection needed has all rights */
		gt_guest_server_stop(a->server);
		rc = gt_guest_server_start(a->server, err);
	}
	if (rc)
		return rc;
	if (*a->not_recorded)
		gt_metadata_add_missing(a->not_recorded);
	gt_bpf_way_totals(a->bpf, &t);
	if (!gt_options.quiet)
		gt_message(stderr, TOOL, "recording %s%s%s; Ctrl-C ends it", gt_options.events,
			gt_options.via == GT_VIA_INJECT ? " by CUPTI and eBPF" : "",
			probe_counts(&t, counts));
	if (!has_later_processes())
		report_left_out(a);
	return 0;
}

/* ---- by the guest library ---- */

static bool has_guests(const struct gt_attached_programs *a)
{
	return gt_options.via == GT_VIA_INJECT && a->n;
}

static uint32_t count_connected(const struct gt_attached_programs *a)
{
	return __atomic_load_n(&a->rings->s->attached, __ATOMIC_ACQUIRE);
}

/* Processes that have not exited. */
static size_t count_alive(const struct gt_attached_programs *a)
{
	size_t n = 0;

	for (size_t i = 0; i < a->n; i++)
		n += !gt_guest_has_exited(&a->list[i]);
	return n;
}

static int inject_one(struct gt_attached_programs *a, pid_t pid, struct gt_err *err)
{
	struct gt_injection done = { 0 };
	int rc;

	if (!gt_guest_read(pid, &a->list[a->n]))
		return gt_err_set(err, -ESRCH, "there is no process %d", (int)pid);
	rc = gt_inject(pid, a->server->dir.library, a->server->dir.path, &done, err);
	a->is_refused = rc;
	if (rc)
		return rc;
	if (done.connection >= 0)
		gt_guest_server_answer(a->server, done.connection);
	a->n++;
	if (gt_options.verbose)
		gt_message(stderr, TOOL, "process %d: thread %d was stopped for %.1f ms", (int)pid,
			(int)done.tid, (double)done.stopped / 1e6);
	return 0;
}

/* The guest connects on a thread of its own, after the stop. */
static int wait_for_guests(const struct gt_attached_programs *a, struct gt_err *err)
{
	int64_t until = gt_clock_monotonic() + GUEST_TIMEOUT;

	while (count_connected(a) < a->n) {
		if (!count_alive(a))
			return gt_err_set(
				err, -ESRCH, "process %d has ended", (int)gt_options_pid(0));
		if (gt_clock_monotonic() > until)
			return gt_err_set(err, -ETIMEDOUT,
				"process %d has loaded the library but cannot connect to %.90s: it may have another root folder or user",
				(int)gt_options_pid(0), a->server->dir.path);
		usleep(1000);
	}
	return 0;
}

static int attach_by_injection(struct gt_attached_programs *a, struct gt_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && gt_options_pid(i); i++)
		rc = inject_one(a, gt_options_pid(i), err);
	return rc ? rc : wait_for_guests(a, err);
}

static void request_detach(const struct gt_attached_programs *a, enum gt_detach to)
{
	__atomic_store_n(&a->rings->s->detach, to, __ATOMIC_RELEASE);
	syscall(SYS_futex, &a->rings->s->detach, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Makes passes for 20 ms, and until the guests have disconnected, or all records have arrived.
 * False: that has taken too long. */
static bool pass_until(const struct gt_attached_programs *a, const struct gt_attached_recorder *r,
	bool disconnected, int64_t limit)
{
	int64_t begun = gt_clock_monotonic(), now = begun;

	for (; now - begun < GT_SECOND / 50 ||
		!((disconnected ? !count_connected(a) : r->has_all_records()) || !count_alive(a));
		now = gt_clock_monotonic()) {
		if (now - begun > limit)
			return false;
		r->pass(now);
		usleep(1000);
	}
	return true;
}

/* Guests in programs that continue write their last records and end the use of CUPTI. */
static void detach_guests(
	const struct gt_attached_programs *a, const struct gt_attached_recorder *r)
{
	request_detach(a, GT_DETACH_SOON);
	pass_until(a, r, false, LAST_WORK_TIMEOUT);
	request_detach(a, GT_DETACH_NOW);
	if (!pass_until(a, r, true, GUEST_TIMEOUT) && !gt_options.quiet)
		gt_message(stderr, TOOL,
			"a program has not ended its recording within %d s: its last records may be missing",
			(int)(GUEST_TIMEOUT / GT_SECOND));
}

/* ---- both ---- */

bool gt_attached_can_fall_back(const struct gt_attached_programs *a, const struct gt_err *refusal)
{
	const struct gt_collect_options *o = &gt_options;
	char list[GT_SOURCES_LIST];
	struct gt_err ignored = GT_ERR_INIT;

	/* else eBPF does not get further */
	return a->is_refused && o->is_auto && !o->falls_back && gt_bpf_way_is_allowed() &&
		refusal->code != -ESRCH && refusal->code != -EACCES && refusal->code != -ENXIO &&
		!gt_sources_ebpf(o->named_events, true, list, &ignored) && *list;
}

void gt_attached_fall_back(struct gt_attached_programs *a, const struct gt_err *refusal)
{
	struct gt_collect_options *o = &gt_options;
	char recorded[GT_SOURCES_LIST], missing[GT_SOURCES_LIST];
	struct gt_err ignored = GT_ERR_INIT;

	gt_sources_ebpf(o->named_events, true, recorded, &ignored);
	gt_sources_without(o->named_events, recorded, missing);
	snprintf(a->not_recorded, sizeof(a->not_recorded),
		"%.100s, for which a library has to be loaded: %s", missing, refusal->text);
	a->is_refused = false;
	gt_attached_close(a);
	o->via = GT_VIA_EBPF;
	o->with_ebpf = false;
	o->falls_back = true;
	o->events = o->named_events;
	choose_looks(o);
}

int gt_attached_attach(struct gt_attached_programs *a, struct gt_err *err)
{
	int rc = gt_options.via == GT_VIA_INJECT ? attach_by_injection(a, err) : 0;

	if (!rc && a->bpf)
		return attach_by_ebpf(a, err);
	if (!rc && gt_options_has_perf())
		rc = attach_by_perf(a, err);
	if (!rc && !gt_options.quiet)
		gt_message(stderr, TOOL, "recording %zu process%s by %s%s%s; Ctrl-C ends it", a->n,
			a->n == 1 ? "" : "es", has_guests(a) ? "CUPTI" : "",
			has_guests(a) && a->host ? " and " : "", a->host ? "perf events" : "");
	return rc;
}

bool gt_attached_have_ended(struct gt_attached_programs *a, int64_t now)
{
	if (gt_options.all_processes || now - a->checked < LOOK_EVERY)
		return false;
	a->checked = now;
	return !count_alive(a);
}

void gt_attached_set_window(struct gt_attached_programs *a, int64_t from, int64_t until)
{
	if (a->bpf)
		gt_bpf_way_set_window(a->bpf, from, until);
	if (a->host)
		gt_host_set_window(a->host, from, until);
	a->window_from = from;
	a->window_until = until;
}

int gt_attached_fd(const struct gt_attached_programs *a)
{
	return a->bpf ? gt_bpf_way_fd(a->bpf) : -1;
}

static void report_stuck(struct gt_attached_programs *a)
{
	pid_t stuck = gt_bpf_way_stuck(a->bpf);

	if (stuck && stuck != a->stuck)
		gt_message(stderr, TOOL,
			"process %d is stopped and has another user, and gtcollect lacks CAP_KILL to continue it: kill -CONT %d as root does",
			(int)stuck, (int)stuck);
	a->stuck = stuck;
}

void gt_attached_take_events(struct gt_attached_programs *a)
{
	if (!a->bpf)
		return;
	gt_bpf_way_take_events(a->bpf);
	report_stuck(a);
}

static void report_samples(const struct gt_attached_programs *a)
{
	struct gt_host_totals t;

	gt_host_totals(a->host, &t);
	if (t.python)
		gt_message(stderr, TOOL,
			"frames of Python were read %.0f us after their samples (longest: %.1f ms): of %llu samples of Python code, %llu without the innermost frames; of %llu more they were not read within 4 ms",
			(double)t.delay / 1e3 / (double)t.python, (double)t.delay_longest / 1e6,
			(unsigned long long)t.python, (unsigned long long)t.cut,
			(unsigned long long)t.unread);
}

/* First what gives eBPF's rows of waits their stacks. */
void gt_attached_stop_probes(struct gt_attached_programs *a)
{
	if (a->host) {
		gt_host_stop(a->host);
		if (gt_options.verbose && !a->is_reported)
			report_samples(a);
		a->is_reported = true;
	}
	if (a->bpf)
		gt_bpf_way_stop(a->bpf);
	a->has_probes = false;
}

void gt_attached_drain(struct gt_attached_programs *a)
{
	/* eBPF's rows of waits have the stacks of looks, which must be there before */
	const uint64_t until = a->host ? gt_host_drain(a->host) : UINT64_MAX;

	if (!a->bpf || !a->has_probes)
		return;
	gt_bpf_way_drain(a->bpf, until);
	report_stuck(a);
}

/* Probes first: ending the guests takes some time, which is not part of the recording. */
void gt_attached_detach(struct gt_attached_programs *a, const struct gt_attached_recorder *r)
{
	gt_attached_stop_probes(a);
	if (has_guests(a))
		detach_guests(a, r);
	if (a->bpf && has_later_processes())
		report_left_out(a);
	if (a->bpf && !gt_options.quiet)
		report_probes(a);
}

/* Of a recording that has not begun: their records are not needed. */
static void end_guests(const struct gt_attached_programs *a)
{
	int64_t until = gt_clock_monotonic() + LAST_WORK_TIMEOUT;

	request_detach(a, GT_DETACH_NOW);
	while (count_connected(a) && count_alive(a) && gt_clock_monotonic() < until)
		usleep(1000);
}

void gt_attached_close(struct gt_attached_programs *a)
{
	if (has_guests(a))
		end_guests(a);
	gt_host_close(a->host); /* it may use the writer of eBPF */
	gt_bpf_way_close(a->bpf);
	free(a->list);
	a->bpf = NULL;
	a->host = NULL;
	a->list = NULL;
	a->n = 0;
}
