/* gtcollect's command line: the values of its options, and whether they can be used together. */
#ifndef GT_COLLECT_OPTIONS_H
#define GT_COLLECT_OPTIONS_H
#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>
#include "collect/ipc/process_filter.h"
#include "collect/probes/probe_selection.h"
#include "collect/ipc/shared_memory.h"
#include "formats/cmdline/opt.h"

enum gt_wait_for { GT_WAIT_PRIMARY, GT_WAIT_ALL };
enum { GT_TIMING_OFF = GT_TIMING_EVENTS + 1 }; /* behind enum gt_gpu_timing */

/* GT_VIA_PERF: perf events of programs that already run, and nothing else; --via has no such word
 */
enum gt_via { GT_VIA_AUTO, GT_VIA_PRELOAD, GT_VIA_EBPF, GT_VIA_INJECT, GT_VIA_PERF };

struct gt_collect_options {
	const char *output, *range, *cupti;
	const char *named_events; /* -e, with what --kernel adds */
	const char *events;       /* what the way records of them */
	const char *nvtx_range;   /* NAME of --range nvtx:NAME, or NULL */
	bool kernel, force, lossless, quiet, doctor, probes_only, inject, report, lines;
	bool live, print, print_json;
	int verbose;
	int args;       /* enum gt_args_mode */
	int wait;       /* enum gt_wait_for; -1: not given */
	int gpu_timing; /* enum gt_gpu_timing or GT_TIMING_OFF; -1: not given */
	struct gt_opt_list filter, exclude, stacks, pids, comm, probes, kprobes, tracepoints, pairs;
	struct gt_probe_selection usdt; /* of -e and --pair */
	int via;      /* enum gt_via; not GT_VIA_AUTO once programs that already run are recorded */
	bool is_auto; /* the user leaves the way to gtcollect */
	bool falls_back; /* injection is refused: eBPF alone, with a part of named_events */
	struct gt_process_filter process_filter; /* of -a */
	const char *cgroup;
	bool with_ebpf;      /* preload for calls, and eBPF for what only it sees */
	bool with_switches;  /* scheduling by perf events, besides all others */
	bool with_looks;     /* stacks of waits by perf events, besides eBPF */
	bool with_samples;   /* samples by perf events, besides all others */
	bool lacks_switches; /* -e sched is left out */
	bool with_timers;    /* samples by timers of the program's threads, besides all others */
	bool all_processes, slow_probes;         /* of --via ebpf */
	uint64_t sample, ring_size, ring_memory; /* bytes; UINT64_MAX: the default */
	int64_t delay, duration;                 /* ns; duration 0: no limit */
	char cupti_path[PATH_MAX];               /* of --cupti, absolute; "" */
};
extern struct gt_collect_options gt_options;

/* As gt_opt_parse. Sources' own options are among them. */
int gt_options_parse(int argc, char **argv, int *operands, struct gt_err *err);
/* Checks the values that no parser checks. 0 or -EINVAL. */
int gt_options_check(struct gt_err *err);
/* Is an option given that concerns recordings, or their file, other than --cupti? */
bool gt_options_concern_recording(void);
/* The source of GPU times: an enum gt_gpu_timing or GT_TIMING_OFF. */
int gt_options_timing(void);
const char *gt_options_timing_word(void);
const char *gt_options_args_word(void);
struct gt_rings_options gt_options_rings(void);
/* Does the library in the program record something? */
bool gt_options_has_library(void);
/* Are programs recorded that already run? */
bool gt_options_attach(void);
/* Do perf events record something? */
bool gt_options_has_perf(void);
/* Does the user name probes besides those of -e? */
bool gt_options_has_probes(void);
/* The processes of -p. The n-th one; 0: there are no more. */
pid_t gt_options_pid(size_t n);
void gt_options_release(void);
#endif
