/* Records of the rings of CPUs become records of the rings of the session. */
#ifndef GT_BPF_RECORDS_H
#define GT_BPF_RECORDS_H
#include "collect/bpf/bpf_state.h"

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
/* bpf_waits.c: sets the state of a wait, its stack and the fields of the state. */
void gt_bpf_wait_reason(struct gt_bpf_way *b, const struct gt_bpf_sched *s,
	const struct gt_wait_look *look, struct gt_ev_sched *e);
/* The process executes another program, or has ended. */
void gt_bpf_waits_forget(struct gt_bpf_way *b, uint32_t tgid);
void gt_bpf_waits_release(struct gt_bpf_way *b);
/* bpf_records.c: takes a record of a ring of the programs; a callback of libbpf. */
int gt_bpf_take_record(void *arg, void *data, size_t size);
/* Takes the records that the last drain kept. */
void gt_bpf_take_later(struct gt_bpf_way *b);
/* Writes the records that were taken, by time. */
void gt_bpf_write_records(struct gt_bpf_way *b);
/* Threads that wait at the end: their rows end now. */
void gt_bpf_write_waiting(struct gt_bpf_way *b);
#endif
