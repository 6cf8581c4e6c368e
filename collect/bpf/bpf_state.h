/* What the folders of collect/bpf share. bpf_way.c loads the programs and drains their rings;
 * links/ sets probes in files, calls/ those of the driver's functions and of --probe, usdt/ those
 * of USDT, kernel/ those of the kernel; processes/ follows what starts, ends and maps code;
 * records/ makes records of the session's rings. */
#ifndef GT_BPF_STATE_H
#define GT_BPF_STATE_H
#include "collect/bpf/bpf_way.h"
#include "collect/bpf/calls/call_plan.h"
#include "collect/bpf/calls/function_probes.h"
#include "collect/bpf/kernel/kernel_probes.h"
#include "collect/bpf/usdt/parcagpu.h"
#include "collect/bpf/links/linked_files.h"
#include "collect/bpf/links/probe_link.h"
#include "collect/bpf/records/probe_pairs.h"
#include "collect/bpf/processes/stop_guard.h"
#include "collect/bpf/usdt/usdt.h"
#include "collect/ipc/ring_writer.h"
#include "formats/base/buf.h"

struct bpf_link;
struct bpf_object;
struct bpf_program;
struct ring_buffer;

#define GT_BPF_MISSING 16u
#define GT_BPF_KERNEL_PROGRAMS 20u /* at tracepoints */

/* The name of a kernel by handle. */
struct gt_bpf_kernel_name {
	uint64_t tgid, handle; /* the key */
	char *text;
};

/* A probe that records can name by its number. */
struct gt_bpf_known_probe {
	char *domain, *name; /* provider or library; the probe */
	enum gt_parcagpu parcagpu;
	uint16_t starts, ends; /* number of the pair that it starts or ends, plus one; 0: none */
	unsigned arguments;    /* of a USDT probe, also those that cannot be read */
	bool is_usdt;
	char *fields; /* names of its values: "a,b,c"; NULL: arg0, arg1, ... */
};

struct gt_bpf_way {
	struct gt_bpf_way_options opt;
	struct bpf_object *object;
	struct gt_probe_programs programs;          /* at functions of the driver */
	struct gt_probe_programs function_programs; /* at functions of --probe */
	struct gt_probe_programs usdt_programs, loader_programs;
	struct gt_cookie_wrappers wrappers;
	struct gt_probe_groups groups;
	struct gt_function_probes *functions; /* NULL: none */
	struct gt_usdt usdt;
	struct gt_kernel_probes *kernel_probes;
	char missing[GT_BPF_MISSING][256]; /* what this kernel refuses */
	unsigned nmissing;
	bool has_task_storage, has_cookies; /* as in gt_bpf_settings */
	bool only_user;                     /* gtcollect may not see processes of other users */
	bool filters; /* of all processes, those that opt.filter selects are recorded */
	int ncpus, *ring_fds, losses;
	struct ring_buffer *rings, *events; /* events: process_events.c */
	bool ended;                         /* no more probes are set */
	struct gt_stop_guard guard;
	pid_t stuck; /* gt_bpf_way_stuck() */
	struct gt_call_plan plans[GT_API_MAX];
	struct gt_ring_writer writer;
	struct bpf_link *kernel[GT_BPF_KERNEL_PROGRAMS], *new_code; /* new_code: loader_probes.c */
	struct gt_linked_files linked;
	unsigned nfailed; /* as in the totals */
	struct gt_err failure;
	struct gt_map probes_map; /* by names */
	struct gt_bpf_known_probe *probes;
	size_t nprobes, probes_cap;
	struct gt_probe_pairs pairs;
	uint64_t realtime_ahead,
		realtime_at;             /* ns: CLOCK_REALTIME minus CLOCK_MONOTONIC, and when */
	struct gt_remote_python *python; /* bpf_waits.c: interpreters; NULL: none was looked for */
	uint32_t callbacks[GT_API_MAX];  /* CUPTI's numbers of functions, as far as needed; 0:
					    unknown */
	/* records of the current drain: offsets in `bytes` */
	struct gt_bpf_record {
		uint64_t end;
		size_t at;
	} * records;
	size_t nrecords, records_cap;
	struct gt_buf bytes, later;
	uint64_t until;     /* ns: later records wait */
	uint64_t pruned_at; /* ns */
	struct gt_map names_map;
	struct gt_bpf_kernel_name *names;
	size_t nnames, names_cap;
	struct gt_bpf_loss *seen, *now;     /* by CPU; `seen` is written */
	uint64_t window_from, window_until; /* ns: other records are left out */
	struct gt_bpf_way_totals totals;
};

/* Sets the error of a call of bpf(). Returns its code. */
int gt_bpf_why_not(int code, struct gt_err *err);
/* kernel_probes.c: notes what this kernel refuses (gt_bpf_way_missing). */
void gt_bpf_missing(struct gt_bpf_way *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Of probes of --probe and of USDT: the process for which they are set; 0: all processes. With a
 * filter they are only in processes that match it. Those of the driver are in all, because setting
 * them takes longer than a program that begins to match takes to its first call. */
static inline pid_t gt_bpf_process_of_probes(const struct gt_bpf_way *b, pid_t pid)
{
	return b->opt.all_processes && !b->filters ? 0 : pid;
}
/* Threads of recorded processes that wait, and have not waited since they are recorded, wait from
 * now on. Before Linux 5.15 it does nothing: their system calls are unknown. */
void gt_bpf_begin_waits(struct gt_bpf_way *b);
void gt_bpf_detach_all(struct gt_bpf_way *b);
#endif
