/* Private to this folder. bpf_way.c loads the programs and drains their rings, bpf_probes.c sets
 * probes in libraries, bpf_records.c makes records of the session's rings, of hits of probes
 * probe_records.c. */
#ifndef GT_BPF_INTERNAL_H
#define GT_BPF_INTERNAL_H
#include "collect/bpf/bpf_way.h"
#include "collect/bpf/call_plan.h"
#include "collect/bpf/function_probes.h"
#include "collect/bpf/kernel_probes.h"
#include "collect/bpf/parcagpu.h"
#include "collect/bpf/linked_files.h"
#include "collect/bpf/probe_link.h"
#include "collect/bpf/probe_pairs.h"
#include "collect/bpf/stop_guard.h"
#include "collect/bpf/usdt.h"
#include "collect/ipc/ring_writer.h"
#include "formats/base/buf.h"

struct bpf_link;
struct bpf_object;
struct bpf_program;
struct ring_buffer;

#define GT_BPF_MISSING 16u
#define GT_BPF_KERNEL_PROGRAMS 11u /* at tracepoints */

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
	char *fields;          /* names of its values: "a,b,c"; NULL: arg0, arg1, ... */
};

struct gt_bpf_way {
	struct gt_bpf_way_options opt;
	struct bpf_object *object;
	struct gt_probe_programs programs;          /* at functions of the driver */
	struct gt_probe_programs function_programs; /* at functions of --probe */
	struct gt_probe_programs usdt_programs, loader_programs;
	struct gt_function_probes *functions; /* NULL: none */
	struct gt_usdt usdt;
	struct gt_kernel_probes *kernel_probes;
	char missing[GT_BPF_MISSING][256]; /* what this kernel refuses */
	unsigned nmissing;
	bool has_task_storage;
	bool filters; /* of all processes, those that opt.filter selects */
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
		realtime_at;            /* ns: CLOCK_REALTIME minus CLOCK_MONOTONIC, and when */
	uint32_t callbacks[GT_API_MAX]; /* CUPTI's numbers of functions, as far as needed; 0:
					   unknown */
	/* records of the current drain: offsets in `bytes` */
	struct gt_bpf_record {
		uint64_t end;
		size_t at;
	} * records;
	size_t nrecords, records_cap;
	struct gt_buf bytes, later;
	uint64_t until; /* ns: later records wait */
	struct gt_map names_map;
	struct gt_bpf_kernel_name *names;
	size_t nnames, names_cap;
	uint64_t no_memory;                 /* records that found no memory here; not yet written */
	struct gt_bpf_loss *seen, *now;     /* by CPU; `seen` is written */
	uint64_t window_from, window_until; /* ns: other records are left out */
	struct gt_bpf_way_totals totals;
};

/* Sets the error of a call of bpf(). Returns its code. */
int gt_bpf_why_not(int code, struct gt_err *err);
/* kernel_probes.c: notes what this kernel refuses (gt_bpf_way_missing). */
void gt_bpf_missing(struct gt_bpf_way *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* loader_probes.c: the loader's call is enough to learn what the processes map later. */
bool gt_loader_is_enough(const struct gt_bpf_way *b);
/* Sets the probe in the loader of the process. 0 or negative. */
int gt_loader_watch(struct gt_bpf_way *b, pid_t pid);
/* bpf_probes.c: sets the probes in a library, and counts them. 0 or negative. */
struct gt_library_functions;
int gt_bpf_link_functions(struct gt_bpf_way *b, struct gt_linked_file which,
	const struct gt_library_functions *f, const char *name, const struct gt_probe_places *p,
	struct gt_err *err);
/* The process is recorded no longer. */
void gt_bpf_detach(struct gt_bpf_way *b, pid_t pid);
void gt_bpf_detach_all(struct gt_bpf_way *b);
/* process_events.c: the ring of events. 0 or negative. */
int gt_bpf_events_open(struct gt_bpf_way *b, struct gt_err *err);
/* cpu_losses.c: losses become those of the session. open: 0 or negative. */
int gt_bpf_losses_open(struct gt_bpf_way *b, struct gt_err *err);
void gt_bpf_losses_take(struct gt_bpf_way *b);
void gt_bpf_losses_close(struct gt_bpf_way *b);
/* probe_records.c: makes a probe known. Returns its number; GT_NONE: no memory. The same names have
 * the same number. */
uint32_t gt_bpf_probe_add(struct gt_bpf_way *b, const char *domain, const char *name);
/* Names its values: "a,b,c". 0 or -ENOMEM. */
int gt_bpf_probe_name_fields(struct gt_bpf_way *b, uint32_t probe, const char *names);
/* The end of a range that a pair of hits makes. */
struct gt_bpf_range_end {
	const struct gt_bpf_probe *hit;
	uint32_t name; /* of the range: number of a probe */
	unsigned key;  /* number of the argument that is equal */
};
/* end: NULL: it is no range of a pair. */
void gt_bpf_write_hit(
	struct gt_bpf_way *b, const struct gt_bpf_probe *p, const struct gt_bpf_range_end *end);
/* The text that value i points to; NULL: it is a number. */
const char *gt_bpf_probe_text(const struct gt_bpf_probe *p, unsigned i);
/* Takes a hit of a record: it may be one of a pair. */
void gt_bpf_write_probe(struct gt_bpf_way *b, const struct gt_bpf_probe *p);
size_t gt_bpf_probe_size(const struct gt_bpf_probe *p); /* of the record, in bytes */
void gt_bpf_probes_release(struct gt_bpf_way *b);
/* bpf_records.c: takes a record of a ring of the programs; a callback of libbpf. */
int gt_bpf_take_record(void *arg, void *data, size_t size);
/* Takes the records that the last drain kept. */
void gt_bpf_take_later(struct gt_bpf_way *b);
/* Writes the records that were taken, by time. */
void gt_bpf_write_records(struct gt_bpf_way *b);
/* Threads that wait at the end: their rows end now. */
void gt_bpf_write_waiting(struct gt_bpf_way *b);
#endif
