/* Writes NVTX events, the program's annotations, as rows. Ranges are GT_SPAN rows of category user
 * on the track of the thread that began them (depth: number of the thread's pushed ranges around
 * it), marks are GT_INSTANT rows. A row's type has the message as its name, and fields for the
 * given attributes: domain, category, color (ARGB), payload, and for calls of NCCL communicator and
 * message_bytes. A range that is pushed and never popped is a GT_UNMATCHED row. */
#ifndef GT_NVTX_RANGES_H
#define GT_NVTX_RANGES_H
#include "collect/correlate/gpu_correlate.h"
#include "collect/ipc/ring.h"
#include "formats/base/map.h"
#include "formats/trace/write/writer.h"

/* Of one recorder. Zero-initialised but for w is empty. */
struct gt_nvtx {
	struct gt_writer *w;
	struct gt_map map;
	struct gt_nvtx_type *types;
	size_t n, cap;
	size_t open;       /* open ranges of all threads and processes */
	uint64_t nameless; /* annotations lost because there are too many names */
	/* ends of ranges that have not begun */
	uint64_t unmatched;
};
enum gt_nccl_group { GT_NCCL_OTHER, GT_NCCL_GROUP_START, GT_NCCL_GROUP_END };
/* A range that has begun. */
struct gt_nvtx_open {
	uint64_t id; /* 0: pushed */
	uint32_t domain, type, track, depth;
	int64_t start;
	uint64_t args[6];
	/* PyTorch's sequence number; of a function of the backward pass */
	uint64_t sequence;
	uint32_t text; /* of the message */
	bool is_numbered, is_backward;
	uint8_t nccl;  /* 1 + index of the communicator in args, before the bytes; 0: none */
	uint8_t group; /* enum gt_nccl_group */
	bool launched; /* a kernel was launched within it for NCCL */
};
/* Open ranges: pushed ones of one thread, or those with an id of one process, which any thread may
 * end. */
struct gt_nvtx_stack {
	struct gt_nvtx_open *open;
	size_t n, cap;
	/* open ranges of NCCL's calls, of ncclGroupEnd; groups that have not ended */
	uint32_t nccl, group_ends, groups;
	uint32_t numbered;            /* open ranges with a sequence number */
	struct gt_nccl_calls grouped; /* the calls in these groups */
};
/* Names of categories, of one process. */
struct gt_nvtx_names {
	struct gt_nvtx_name {
		uint32_t category, domain, name;
	} * items;
	size_t n, cap;
};

/* An event. Texts are string ids, GT_NONE: none. */
struct gt_nvtx_event {
	enum gt_ring_event event;
	int64_t when;   /* ns */
	uint32_t track; /* of the thread */
	uint64_t id;    /* range id, or the id of the named object */
	uint32_t text, domain;
	uint32_t category, color;
	unsigned payload_type;
	uint64_t payload;
	uint64_t communicator, message_bytes; /* 0: not known */
};
/* Handles all events but names of threads and streams. 0 or negative. */
int gt_nvtx_event(struct gt_nvtx *n, struct gt_nvtx_stack *thread, struct gt_nvtx_stack *process,
	struct gt_nvtx_names *names, const struct gt_nvtx_event *e, struct gt_err *err);
/* The calls of NCCL for which the thread launches a kernel now, as known from its ranges. Their
 * bytes are returned once: for the first kernel. */
struct gt_nccl_calls gt_nvtx_nccl_calls(struct gt_nvtx_stack *thread);
/* The thread or process has ended: writes its open ranges. 0 or negative. */
int gt_nvtx_end(struct gt_nvtx *n, struct gt_nvtx_stack *s, struct gt_err *err);
void gt_nvtx_stack_release(struct gt_nvtx_stack *s);
void gt_nvtx_names_release(struct gt_nvtx_names *names);
void gt_nvtx_release(struct gt_nvtx *n);
#endif
