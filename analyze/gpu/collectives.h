/* Collectives: communication kernels (work_kind.h) on several GPUs that wait for one another, such
 * as the kernels of one all-reduce. A GPU arrives at a collective when its kernel starts. It waits
 * there for the last arrival, at most until its own kernel ends. The late GPU is the one that
 * arrives last.
 *
 * A sequence is the kernels of one stream and one communicator. The communicator of a kernel is
 * known in files of PyTorch's profiler (its process group), and in recordings if NCCL's ranges were
 * recorded and tell its id. The kernels of a stream without a known communicator are a sequence,
 * too. Sequences of different GPUs that belong together form a group, which stands for a
 * communicator. Sequences with equal communicators and the same order of kernel names form a group,
 * and their kernels are matched by order.
 *
 * In files of tools that watch NCCL (formats/import/nccl), kernels have the number of the
 * collective among those of its name in its communicator. Then kernels of one communicator, name
 * and number belong together, also if some of them are missing on one GPU.
 *
 * Other sequences are compared by time. A sequence joins a group if their communicators are equal
 * or one is unknown, if at least 3 of 4 of its kernels overlap in time with a collective of the
 * same kernel name, and if at least half of these end together with it (within 10 us, or within a
 * quarter of the time from the last arrival to the end). Of several such groups it joins the one
 * where most end together. Within a group, a kernel and a collective belong together if, among
 * those of their name, each has its longest overlap with the other. So a missing kernel, or a range
 * that cuts one off, does not shift the others. Sequences with a known communicator are matched
 * before those without. GPUs are GPUs as one process sees them.
 *
 * Times of different clocks (gt_same_clock) are not compared: kernels of such recordings are only
 * matched by order. All kernels of a collective end together, so the arrivals follow from their
 * durations.
 *
 * Memory: 40 bytes for each kernel and about 80 for each collective, for at most GT_COLLECTIVE_OPS
 * kernels of at most GT_COLLECTIVE_SEQUENCES sequences. */
#ifndef GT_COLLECTIVES_H
#define GT_COLLECTIVES_H
#include "analyze/core/evidence.h"
#include "analyze/core/report.h"
#include "analyze/order/time_ordered.h"
#include "analyze/stats/name_interner.h"

#define GT_COLLECTIVE_OPS (1u << 20)
#define GT_COLLECTIVE_SEQUENCES 1024u

struct gt_collective_figures {
	uint64_t count, matched;  /* kernels; those that belong to a collective of several GPUs */
	uint64_t messages, bytes; /* kernels with known messages; the sum of these */
	uint64_t total, wait;     /* ns, cut to --from and --to */
	uint64_t last;            /* collectives at which it arrived last */
	uint64_t late;            /* ns: sum of its times behind the first arrival at these */
	uint64_t caused;          /* ns that the others waited for it */
	struct gt_evidence longest_wait;
	struct gt_evidence longest_caused; /* the longest wait of another GPU for it */
};
struct gt_collective_name {      /* kernels of one name in one sequence */
	uint32_t sequence, name; /* the key: index in sequences, number in names */
	struct gt_collective_figures f;
};
struct gt_collective_gpu {
	uint32_t number; /* the key: its track, numbered over all segments */
	const struct gt_segment *seg;
	uint32_t track;
	struct gt_collective_figures f;
};
enum gt_communicator_kind {      /* what communicator_id is */
	GT_COMMUNICATOR_UNKNOWN, /* 0 */
	GT_COMMUNICATOR_NAME,    /* a string of the segment: process group, or exported id */
	GT_COMMUNICATOR_NCCL     /* NCCL's id */
};
struct gt_collective_sequence {
	/* Private: the key. number: of the track, over all segments; communicator_kind: enum
	 * gt_communicator_kind */
	uint64_t communicator_id;
	uint32_t number, communicator_kind;
	const struct gt_segment *seg;
	uint32_t track, device; /* in the segment; a stream without a device is both */
	/* set by gt_collectives_finish */
	uint32_t group;           /* 1-based */
	const char *communicator; /* NULL: unknown */
	/* the rest is private */
	char id_text[20];
	bool is_numbered; /* kernels have numbers, of a known communicator */
	struct gt_collective_op {
		int64_t start, end;
		int64_t ahead;   /* ns: its clock is ahead of that of its group */
		uint64_t number; /* of the collective, plus 1; 0: not known */
		uint64_t bytes;  /* of its messages; 0: not known */
		uint32_t name, collective;
	} * ops;
	size_t n, cap;
};
struct gt_collectives { /* zeroed: empty */
	/* gt_collectives_finish sorts them by segment and start */
	struct gt_collective_sequence *sequences;
	size_t nsequences, sequences_cap;
	/* set by gt_collectives_finish */
	struct gt_collective_name *sums;
	struct gt_collective_gpu *gpus; /* those with communication */
	size_t nsums, sums_cap, ngpus, gpus_cap;
	uint64_t matched; /* collectives of several GPUs */
	uint64_t beyond;  /* kernels beyond the limits, in no figure */
	struct gt_name_interner names;
	/* the rest is private */
	const struct gt_time_ordered *order; /* for its numbers of tracks and types */
	/* By type number. The fields' indices are GT_FIELDS_MAX if there is none. NULL: no run
	 * yet */
	struct gt_collective_type {
		bool known, is_communication;
		uint8_t communicator, bytes, number;
		enum gt_communicator_kind kind; /* of the communicator */
	} * types;
	uint64_t nops;
	struct gt_collective_group *groups;
	size_t ngroups, groups_cap;
	struct gt_map sequences_map, sums_map, gpus_map;
};

/* Adds the communication kernels of a run of GPU rows. order: the same for all runs. 0 or
 * negative. */
int gt_collectives_run(struct gt_collectives *c, const struct gt_time_ordered *order,
	const struct gt_cols *cols, struct gt_err *err);
/* After the last kernel: matches them and sums up. 0 or negative. */
int gt_collectives_finish(
	struct gt_collectives *c, const struct gt_report_state *a, struct gt_err *err);
/* The GPU for which the others waited longest. NULL: no GPU waited. */
const struct gt_collective_gpu *gt_collectives_latest(const struct gt_collectives *c);
void gt_collectives_release(struct gt_collectives *c); /* empties it */
#endif
