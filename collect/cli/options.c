#include "collect/cli/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "collect/probes/function_spec.h"
#include "collect/probes/tracepoint_format.h"
#include "collect/source/source.h"
#include "formats/names/globs.h"
#include "formats/trace/clock.h"

#define UNSET UINT64_MAX

struct gt_collect_options gt_options = {
	.args = GT_ARGS_KEY,
	.sample = 1,
	.ring_size = UNSET,
	.ring_memory = UNSET,
	.gpu_timing = -1,
	.wait = -1,
};
#define o gt_options

static const char *const args_words[] = { "none", "key", "all", NULL };
static const char *const timing_words[] = { "auto", "cupti", "events", "off", NULL };
static const char *const via_words[] = { "auto", "preload", "ebpf", "inject", NULL };
static const char *const wait_words[] = { "primary", "all", NULL };

#define KERNEL_SOURCES "ioctl,sched,driver,fault,xid"
static char events_help[160]; /* composed from the table of sources */

/* The options of the sources follow these. */
static const struct gt_opt what_to_record[] = {
	{ 0, NULL, GT_OPT_TEXT, NULL, NULL, "The trace", NULL },
	{ 'o', "output", GT_OPT_STR, &o.output, "FILE",
		"write here; %h is the host, %p the process id, %t the time, %q{VAR} a variable",
		NULL },
	{ 'f', "force", GT_OPT_FLAG, &o.force, NULL, "overwrite an existing file", NULL },
	{ 0, NULL, GT_OPT_TEXT, NULL, NULL, "Programs that already run", NULL },
	{ 'p', "pid", GT_OPT_LIST, &o.pids, "PID",
		"record process PID instead of a COMMAND, until it ends or Ctrl-C; may be given several times",
		NULL },
	{ 'a', "all", GT_OPT_FLAG, &o.all_processes, NULL,
		"record all processes that use a CUDA driver, also those that start later", NULL },
	{ 0, "comm", GT_OPT_LIST, &o.comm, "GLOB",
		"with -a: only processes whose name matches; may be given several times", NULL },
	{ 0, "cgroup", GT_OPT_STR, &o.cgroup, "FOLDER",
		"with -a: only processes in this cgroup (v2) or below", NULL },
	{ 0, "via", GT_OPT_WORD, &o.via, "WAY",
		"auto (the default): preload for a COMMAND, and ebpf besides for what only it records, as -e sched; for -p inject: calls and GPU times by CUPTI, of a process of the same user, and ebpf besides with CAP_BPF and CAP_PERFMON; for -p without -e gpu, and for -a, ebpf",
		via_words },
	{ 0, "probe", GT_OPT_LIST, &o.probes, "LIB:GLOB",
		"by ebpf: also calls of these functions of a library or program that the process maps, with the first N arguments for LIB:GLOB(N); may be given several times",
		NULL },
	{ 0, "kprobe", GT_OPT_LIST, &o.kprobes, "GLOB",
		"by ebpf: also calls of these functions of the kernel, with the first N arguments for GLOB(N); may be given several times",
		NULL },
	{ 0, "tracepoint", GT_OPT_LIST, &o.tracepoints, "CATEGORY:NAME",
		"by ebpf: also hits of this tracepoint of the kernel; may be given several times",
		NULL },
	{ 0, "slow-probes", GT_OPT_FLAG, &o.slow_probes, NULL,
		"with ebpf: also functions whose first instruction makes a probe cost some 10 us a call",
		NULL },
	{ 0, NULL, GT_OPT_TEXT, NULL, NULL, "What to record", NULL },
	{ 'e', "events", GT_OPT_STR, &o.events, "LIST", events_help, NULL },
	{ 0, "kernel", GT_OPT_FLAG, &o.kernel, NULL,
		"by ebpf: also " KERNEL_SOURCES " (-e), what happens below the CUDA driver", NULL },
	{ 0, "pair", GT_OPT_LIST, &o.pairs, "PAIR",
		"start=NAME,end=NAME,key=argN: one range from the probe NAME to the next probe NAME whose argument N is equal; may be given several times",
		NULL },
	{ 0, "filter", GT_OPT_LIST, &o.filter, "GLOB",
		"only names that match, or @CATEGORY; may be given several times", NULL },
	{ 0, "exclude", GT_OPT_LIST, &o.exclude, "GLOB",
		"no names that match, or @CATEGORY; may be given several times", NULL },
	{ 0, "sample", GT_OPT_U64, &o.sample, "N", "one call in N of each name and thread", NULL },
	{ 0, "stacks", GT_OPT_LIST, &o.stacks, "CALLS",
		"calls that are recorded with the stack of their caller: launch (the default: launches, copies, allocations, frees, waits), all, none, a GLOB, or @CATEGORY; may be given several times",
		NULL },
	{ 0, "lines", GT_OPT_FLAG, &o.lines, NULL,
		"at the end, read source lines and inlined functions of native code in stacks, for at most 30 s",
		NULL },
	{ 0, "args", GT_OPT_WORD, &o.args, "WHICH", "arguments, the default is key", args_words },
	{ 0, "gpu-timing", GT_OPT_WORD, &o.gpu_timing, "HOW",
		"source of GPU times for -e gpu: CUPTI, CUDA events, or auto: events where CUPTI "
		"is missing; "
		"cupti is the default, auto with -e",
		timing_words },
	{ 0, "cupti", GT_OPT_STR, &o.cupti, "FILE",
		"the libcupti to use for -e gpu if the program has not loaded one", NULL },
};
static const struct gt_opt when_and_how[] = {
	{ 0, NULL, GT_OPT_TEXT, NULL, NULL, "When", NULL },
	{ 0, "delay", GT_OPT_NS, &o.delay, "TIME", "start recording after TIME (2s, 500ms)", NULL },
	{ 0, "duration", GT_OPT_NS, &o.duration, "TIME",
		"stop recording after TIME; the program continues", NULL },
	{ 0, "range", GT_OPT_STR, &o.range, "RANGE",
		"record only between cuProfilerStart and cuProfilerStop (cuda-profiler), or "
		"inside the NVTX range NAME (nvtx:NAME)",
		NULL },
	{ 0, "wait", GT_OPT_WORD, &o.wait, "FOR",
		"stop when COMMAND exits (the default), or when the last process that it "
		"started exits",
		wait_words },
	{ 0, NULL, GT_OPT_TEXT, NULL, NULL, "How", NULL },
	{ 0, "ring-memory", GT_OPT_SIZE, &o.ring_memory, "BYTES",
		"shared memory for all threads together (64M)", NULL },
	{ 0, "ring-size", GT_OPT_SIZE, &o.ring_size, "BYTES",
		"limit for one thread (three quarters of it)", NULL },
	{ 0, "lossless", GT_OPT_FLAG, &o.lossless, NULL,
		"a thread whose ring is full waits instead of losing calls", NULL },
	{ 0, "inject", GT_OPT_FLAG, &o.inject, NULL,
		"let the CUDA driver load the library instead of LD_PRELOAD; CUPTI then reports "
		"the calls, and ioctls are not recorded",
		NULL },
	{ 0, "probes-only", GT_OPT_FLAG, &o.probes_only, NULL,
		"write no trace: only load the library into COMMAND, for bpftrace, perf and "
		"others to attach to its USDT probes",
		NULL },
	{ 0, "live", GT_OPT_FLAG, &o.live, NULL,
		"while recording, print once a second what is called most, how busy GPUs are, waits and losses, to standard error",
		NULL },
	{ 0, "print", GT_OPT_FLAG, &o.print, NULL,
		"while recording, print each record as a line to standard output, as strace does",
		NULL },
	{ 0, "print-json", GT_OPT_FLAG, &o.print_json, NULL,
		"as --print, but JSON lines, as gtexport --jsonl writes them", NULL },
	{ 0, "report", GT_OPT_FLAG, &o.report, NULL,
		"at the end, print gtanalyze's default report of the trace", NULL },
	{ 'q', "quiet", GT_OPT_FLAG, &o.quiet, NULL, "print errors only", NULL },
	{ 'v', "verbose", GT_OPT_COUNT, &o.verbose, NULL, "print more", NULL },
	{ 0, "doctor", GT_OPT_FLAG, &o.doctor, NULL,
		"check what works on this machine, and say what to do about the rest", NULL },
};
#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define SOURCE_OPTIONS_MAX 16
static struct gt_opt all[COUNT(what_to_record) + SOURCE_OPTIONS_MAX + COUNT(when_and_how)];

static size_t append(size_t n, const struct gt_opt *options, size_t more)
{
	if (more && n + more <= COUNT(all))
		memcpy(all + n, options, more * sizeof(*options));
	return n + more <= COUNT(all) ? n + more : n;
}

/* --kernel: besides what -e names. Of what is recorded without -e, eBPF alone sees only the calls.
 */
static int add_kernel_sources(struct gt_err *err)
{
	static char list[1024];
	bool only_ebpf = o.all_processes || o.via == GT_VIA_EBPF;
	const char *named = only_ebpf && o.events == gt_sources_default() ? "api" : o.events;
	int n = snprintf(list, sizeof(list), "%s," KERNEL_SOURCES, named);

	if (n >= (int)sizeof(list))
		return gt_err_set(err, -EINVAL, "-e %.40s...: the list is too long", named);
	o.events = list;
	return 0;
}

int gt_options_parse(int argc, char **argv, int *operands, struct gt_err *err)
{
	struct gt_command command = {
		.name = "gtcollect",
		.usage = "[options] [--] COMMAND [ARGS]\n       gtcollect [options] -p PID... | -a",
		.about = "Runs COMMAND and records its calls to the CUDA driver, and the driver's "
			 "to\nthe kernel, into one small file.",
		.options = all,
		.stop_at_first = true,
		.after = "Exit status: COMMAND's own (128+N when signal N killed it); 2 bad use; "
			 "125\n"
			 "gtcollect failed; 126 COMMAND cannot be run; 127 it was not found.",
	};
	int code;

	o.events = gt_sources_default();
	snprintf(events_help, sizeof(events_help), "comma-separated list of %s; the default is %s",
		gt_sources_names(), o.events);
	command.noptions = append(0, what_to_record, COUNT(what_to_record));
	for (const struct gt_source *const *s = gt_source_table; *s; s++)
		command.noptions = append(command.noptions, (*s)->options, (*s)->noptions);
	command.noptions = append(command.noptions, when_and_how, COUNT(when_and_how));
	code = gt_opt_parse(&command, argc, argv, operands, err);
	if (!code && o.kernel)
		code = add_kernel_sources(err);
	o.named_events = o.events;
	return code;
}

static int check_range(struct gt_err *err)
{
	if (!o.range || !strcmp(o.range, "cuda-profiler"))
		return 0;
	if (strncmp(o.range, "nvtx:", 5))
		return gt_err_set(err, -EINVAL, "--range must be cuda-profiler or nvtx:NAME");
	o.nvtx_range = o.range + 5;
	if (!*o.nvtx_range || strlen(o.nvtx_range) >= GT_RING_NAME)
		return gt_err_set(err, -EINVAL,
			"--range nvtx:NAME: the name must have 1 to %d bytes", GT_RING_NAME - 1);
	return 0;
}

static bool is_process_id(const char *text)
{
	long long value = strtoll(text, NULL, 10);

	return !text[strspn(text, "0123456789")] && value > 0 && value <= INT_MAX;
}

static int check_way(struct gt_err *err)
{
	for (size_t i = 0; i < o.pids.n; i++)
		if (!is_process_id(o.pids.items[i]))
			return gt_err_set(
				err, -EINVAL, "-p '%.100s' is not a process id", o.pids.items[i]);
	for (size_t i = 1; i < o.pids.n; i++)
		for (size_t k = 0; k < i; k++)
			if (gt_options_pid(i) == gt_options_pid(k))
				return gt_err_set(
					err, -EINVAL, "-p %s is given twice", o.pids.items[i]);
	if (o.pids.n && o.all_processes)
		return gt_err_set(
			err, -EINVAL, "-a records all processes: -p cannot be used with it");
	if (gt_options_attach() && o.via == GT_VIA_PRELOAD)
		return gt_err_set(err, -EINVAL,
			"--via preload cannot record programs that already run: use --via inject or ebpf");
	if (!gt_options_attach() && o.via == GT_VIA_INJECT)
		return gt_err_set(err, -EINVAL,
			"--via inject records programs that already run: give -p PID");
	if ((o.comm.n || o.cgroup) && !o.all_processes)
		return gt_err_set(
			err, -EINVAL, "--%s selects processes of -a", o.comm.n ? "comm" : "cgroup");
	if (gt_process_filter_init(&o.process_filter, &o.comm, o.cgroup, err))
		return -EINVAL;
	if (o.all_processes && o.via == GT_VIA_INJECT)
		return gt_err_set(err, -EINVAL, "--via inject records processes of -p, not -a");
	if ((gt_options_attach() || o.via == GT_VIA_EBPF) &&
		(o.inject || o.probes_only || o.range || o.lossless))
		return gt_err_set(err, -EINVAL,
			"%s cannot be used with --inject, --probes-only, --range or --lossless",
			gt_options_attach() ? "-p and -a" : "--via ebpf");
	return 0;
}

/* Refuses options that have no effect with this way or these events. */
static int check_effects(struct gt_err *err)
{
	const bool attach = gt_options_attach(), has_library = gt_options_has_library(),
		   has_gpu = has_library &&
		(o.inject || o.via == GT_VIA_INJECT || gt_sources_has(o.events, "gpu") ||
			gt_sources_has(o.events, "runtime") || gt_sources_has(o.events, "um")),
		   has_calls = o.via == GT_VIA_EBPF && gt_sources_has(o.events, "api");
	const struct {
		bool is_given, has_effect;
		const char *option, *needs;
	} rows[] = {
		{ o.wait >= 0, !attach, "--wait", "a COMMAND" },
		{ o.slow_probes, has_calls || o.probes.n, "--slow-probes",
			"--probe, or --via ebpf with -e api" },
		{ o.gpu_timing >= 0 && o.gpu_timing != GT_TIMING_OFF, has_gpu, "--gpu-timing",
			has_library ? "-e gpu" : "--via preload or inject" },
		{ o.cupti, has_gpu, "--cupti", has_library ? "-e gpu" : "--via preload or inject" },
		{ o.sample > 1, has_library, "--sample", "--via preload or inject" },
		{ o.ring_size != UNSET, has_library, "--ring-size", "--via preload or inject" },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		if (rows[i].is_given && !rows[i].has_effect)
			return gt_err_set(
				err, -EINVAL, "%s needs %s", rows[i].option, rows[i].needs);
	return 0;
}

/* Probes are set by eBPF. */
static int check_probes(struct gt_err *err)
{
	if (gt_options_has_probes() && o.via != GT_VIA_EBPF && !o.with_ebpf)
		return gt_err_set(err, -EINVAL, "%s needs --via ebpf",
			o.probes.n            ? "--probe"
				: o.kprobes.n ? "--kprobe"
					      : "--tracepoint");
	if (gt_function_specs_check(&o.probes, "--probe", true, err) ||
		gt_function_specs_check(&o.kprobes, "--kprobe", false, err))
		return -EINVAL;
	return gt_tracepoint_names_check(&o.tracepoints, err);
}

/* Does -e select probes of these names? */
static int check_pair(const struct gt_probe_pair *p, struct gt_err *err)
{
	const char *missing = !gt_probe_selection_may_have(&o.usdt, p->start) ? p->start
		: !gt_probe_selection_may_have(&o.usdt, p->end)               ? p->end
									      : NULL;

	return missing
		? gt_err_set(err, -EINVAL,
			  "--pair: -e selects no probe '%.80s': add usdt:PROVIDER:PROBE", missing)
		: 0;
}

/* Which probes -e and --pair name. */
static int select_usdt(struct gt_err *err)
{
	int code = gt_probe_selection_events(&o.usdt, o.events, err);

	for (size_t i = 0; !code && i < o.pairs.n; i++)
		code = gt_probe_selection_pair(&o.usdt, o.pairs.items[i], err);
	if (!code && o.usdt.npairs && !o.usdt.nusdt)
		return gt_err_set(err, -EINVAL, "--pair needs probes: -e usdt:PROVIDER:PROBE");
	for (size_t i = 0; !code && !o.tracepoints.n && i < o.usdt.npairs; i++)
		code = check_pair(&o.usdt.pairs[i], err);
	return code;
}

int gt_options_check(struct gt_err *err)
{
	struct stat st;
	int code = check_range(err);

	if (code)
		return code;
	code = check_way(err);
	if (!code)
		code = check_probes(err);
	if (!code)
		code = select_usdt(err);
	if (code)
		return code;
	if (o.delay < 0 || o.duration < 0)
		return gt_err_set(err, -EINVAL, "--delay and --duration cannot be negative");
	for (const struct gt_source *const *s = gt_source_table; !code && *s; s++)
		code = (*s)->check_options
			? (*s)->check_options(gt_sources_has(o.events, (*s)->name), err)
			: 0;
	if (code)
		return code;
	if (!o.sample || o.sample > UINT32_MAX)
		return gt_err_set(err, -EINVAL, "--sample must lie between 1 and %u", UINT32_MAX);
	if (!o.ring_memory || !o.ring_size)
		return gt_err_set(err, -EINVAL, "--ring-memory and --ring-size cannot be 0");
	code = check_effects(err);
	if (code)
		return code;
	if (o.cupti && (!realpath(o.cupti, o.cupti_path) || access(o.cupti, R_OK)))
		return gt_err_set(err, -EINVAL, "--cupti '%.100s': %s", o.cupti, strerror(errno));
	if (o.cupti && (stat(o.cupti, &st) || !S_ISREG(st.st_mode)))
		return gt_err_set(err, -EINVAL, "--cupti '%.100s' is not a file", o.cupti);
	if (gt_globs_check(&o.stacks, "--stacks", err))
		return -EINVAL;
	if (gt_globs_check(&o.filter, "--filter", err))
		return -EINVAL;
	return gt_globs_check(&o.exclude, "--exclude", err);
}

bool gt_options_concern_recording(void)
{
	return o.output || o.force || o.filter.n || o.exclude.n || o.pairs.n || o.range ||
		strcmp(o.named_events, gt_sources_default()) || o.sample != 1 ||
		o.args != GT_ARGS_KEY || o.gpu_timing >= 0 || o.wait >= 0 || o.delay ||
		o.duration || o.lossless || o.ring_memory != UNSET || o.ring_size != UNSET ||
		o.live || o.print || o.print_json || o.report;
}
/* CUDA events cost the program some us a launch, so they are used only where -e or --gpu-timing
 * requests GPU work. */
int gt_options_timing(void)
{
	if (o.gpu_timing > GT_TIMING_AUTO)
		return o.gpu_timing;
	if (o.inject ||
		o.via == GT_VIA_INJECT) /* there are no wrappers to put events around calls */
		return GT_TIMING_CUPTI;
	return o.gpu_timing == GT_TIMING_AUTO || strcmp(o.events, gt_sources_default())
		? GT_TIMING_AUTO
		: GT_TIMING_CUPTI;
}

const char *gt_options_timing_word(void) { return timing_words[gt_options_timing()]; }

const char *gt_options_args_word(void) { return args_words[o.args]; }

struct gt_rings_options gt_options_rings(void)
{
	bool own = o.via == GT_VIA_EBPF || o.with_ebpf || gt_options_has_perf();

	return (struct gt_rings_options){ .memory = o.ring_memory == UNSET ? 0 : o.ring_memory,
		.lossless = o.lossless,
		.per_thread = o.ring_size == UNSET ? 0 : o.ring_size,
		.ticks = !own && gt_clock_trusts_ticks(),
		.own = own };
}

bool gt_options_has_perf(void) { return o.with_switches || o.with_looks || o.with_samples; }

bool gt_options_has_library(void) { return o.via != GT_VIA_EBPF && o.via != GT_VIA_PERF; }

bool gt_options_has_probes(void) { return o.probes.n || o.kprobes.n || o.tracepoints.n; }

bool gt_options_attach(void) { return o.pids.n || o.all_processes; }

pid_t gt_options_pid(size_t n) { return n < o.pids.n ? (pid_t)atoi(o.pids.items[n]) : 0; }

void gt_options_release(void)
{
	gt_opt_list_release(&o.pids);
	gt_opt_list_release(&o.comm);
	gt_opt_list_release(&o.probes);
	gt_opt_list_release(&o.kprobes);
	gt_opt_list_release(&o.tracepoints);
	gt_opt_list_release(&o.filter);
	gt_opt_list_release(&o.stacks);
	gt_opt_list_release(&o.exclude);
	gt_opt_list_release(&o.pairs);
	gt_probe_selection_release(&o.usdt);
}
