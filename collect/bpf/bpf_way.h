/* Records programs from outside, by BPF programs: calls of the CUDA driver and of named functions,
 * requests, scheduling, USDT probes and events of the kernel. Nothing is loaded into the recorded
 * program. The records go into the rings
 * of the session (ring_writer.h), so the recorder treats them as those of the guest. */
#ifndef GT_BPF_WAY_H
#define GT_BPF_WAY_H
#include <stdio.h>
#include "collect/ipc/process_filter.h"
#include "collect/ipc/guest_server.h"
#include "collect/probes/probe_selection.h"
#include "collect/ipc/shared_memory.h"
#include "formats/cmdline/opt.h"

struct gt_bpf_way;
struct gt_bpf_way_options {
	struct gt_rings *rings;
	struct gt_guest_server *server;
	const struct gt_session *selection; /* which functions, and which arguments */
	bool all_processes;
	const struct gt_process_filter *filter; /* with all_processes: only those that match */
	/* processes wait while probes are set in a library that they have mapped, so that no call
	 * is missed */
	bool stops;
	bool calls, requests, scheduling; /* what to record */
	bool slow_probes;                 /* also functions whose probes cost some 10 us */
	const struct gt_opt_list *probes; /* LIB:GLOB, functions to record as well */
	const struct gt_probe_selection *usdt;
	/* of the kernel: GLOB, functions to record as well; CATEGORY:NAME, tracepoints */
	const struct gt_opt_list *kprobes, *tracepoints;
	bool driver, fault; /* functions of NVIDIA's driver; page faults */
};
struct gt_bpf_way_totals {
	unsigned functions, libraries; /* that have probes */
	uint64_t unpaired;             /* hits of probes of --pair that remain marks */
	unsigned unread;               /* arguments of USDT probes that cannot be read */
	const char *first_unread;      /* "%xmm0 of PROVIDER:PROBE" */
	unsigned unreadable;           /* mapped files that the user may not read */
	const char *first_unreadable;
	unsigned left_out;       /* places of USDT probes: there are too many */
	unsigned refused;        /* places that the kernel refuses */
	char first_refused[200]; /* "NAME, NAME: REASON" */
	unsigned failed;         /* times that new code of a process could not have its probes */
	const char *first_failure;
	/* the first pattern of USDT probes that no file has; NULL: there is none */
	const struct gt_usdt_pattern *unmatched;
	unsigned usdt; /* places that fire USDT probes, and are recorded */
	unsigned slow; /* functions left out because their probes are slow */
};
/* May the user load BPF programs, and was gtcollect built with them? */
bool gt_bpf_way_is_allowed(void);
/* new: close it. Loads the programs. NULL: -EPERM the user may not, -ENOSYS this gtcollect was
 * built without them. */
struct gt_bpf_way *gt_bpf_way_open(const struct gt_bpf_way_options *opt, struct gt_err *err);
/* A child of gtcollect that has not executed its program: it is recorded from then on. 0 or
 * negative. */
int gt_bpf_way_start(struct gt_bpf_way *b, pid_t pid, struct gt_err *err);
/* Sets probes in the driver that the process has mapped, and later in those that it maps. 0;
 * -ENOENT: it has none; or negative. */
int gt_bpf_way_attach(struct gt_bpf_way *b, pid_t pid, struct gt_err *err);
/* The same for all processes that have a driver mapped. Their probes also work in processes that
 * map the same file later. 0, also if there are none; or negative. */
int gt_bpf_way_attach_all(struct gt_bpf_way *b, struct gt_err *err);
/* Its writer of the session's rings, borrowed. */
struct gt_ring_writer *gt_bpf_way_writer(struct gt_bpf_way *b);
/* The i-th text about a request that this kernel refuses; NULL: there are no more. */
const char *gt_bpf_way_missing(const struct gt_bpf_way *b, unsigned i);
/* After the first processes: 0; -ENOENT: a probe that the user named is in none of them. */
int gt_bpf_way_check(const struct gt_bpf_way *b, struct gt_err *err);
/* The same of probes that --pair names, and of arguments that -e and --pair name. */
int gt_bpf_way_check_usdt(const struct gt_bpf_way *b, struct gt_err *err);
/* The calling thread gives up all capabilities but those that a recording needs until its end. */
void gt_bpf_way_drop_rights(const struct gt_bpf_way *b);
/* A process that waits and that gtcollect is not permitted to continue, the last one; 0: none. */
pid_t gt_bpf_way_stuck(const struct gt_bpf_way *b);
/* Records that begin before or after this time are left out; ns. */
void gt_bpf_way_set_window(struct gt_bpf_way *b, int64_t from, int64_t until);
/* It is readable when gt_bpf_way_take_events has something to do. */
int gt_bpf_way_fd(const struct gt_bpf_way *b);
/* Sets probes in processes that have new code, and continues those that wait for it. After
 * gt_bpf_way_stop it only continues them. gt_bpf_way_drain does it, too. */
void gt_bpf_way_take_events(struct gt_bpf_way *b);
/* Writes the records of what has ended before `until`, ns, or, if that is sooner, just before now,
 * to the rings. */
void gt_bpf_way_drain(struct gt_bpf_way *b, uint64_t until);
void gt_bpf_way_totals(const struct gt_bpf_way *b, struct gt_bpf_way_totals *t);
/* Removes the probes, and drains the rest. A second time it does nothing. */
void gt_bpf_way_stop(struct gt_bpf_way *b);
void gt_bpf_way_close(struct gt_bpf_way *b); /* NULL is fine */
/* For --doctor: true with what can be recorded here, or false with the reason. */
bool gt_bpf_way_doctor(FILE *to);
#endif
