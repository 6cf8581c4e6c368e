/* Utilisation and clocks of each GPU over time: its busy time in each of 30 intervals of the
 * window, and the time in which its clocks were throttled. It needs the window, so it reads the GPU
 * operations and two counters in a second reading.
 *
 * A sample of a counter is valid until the next sample of that GPU. The clocks are throttled if one
 * of the reasons GT_THROTTLE_REASONS of NVML is set (idle, and clocks set by the user, are not
 * among them). The cost is the busy time during throttling, times the missing part of the highest
 * SM clock of all samples. NVML numbers the GPUs of the machine, a process its own ones. If there
 * is one of each, they are the same. Else CUDA_VISIBLE_DEVICES maps the numbers, if it was recorded
 * as a list of numbers; without it the numbers are the same. */
#ifndef GT_UTILISATION_H
#define GT_UTILISATION_H
#include "analyze/core/evidence.h"
#include "analyze/idle/idle.h"

#define GT_CHUNKS 30u /* intervals */
/* power cap, hardware slowdown, thermal (software, hardware), power brake */
#define GT_THROTTLE_REASONS 0xecu

struct gt_utilisation_gpu {           /* one for each device of gt_idle, in the same order */
	int64_t edges[GT_CHUNKS + 1]; /* ns: starts of the intervals, and the end */
	uint64_t busy[GT_CHUNKS];     /* ns: unions */
	struct gt_union all;
	unsigned chunk;  /* in which the union ends */
	uint32_t clock;  /* 1 + index of its clock; 0: none, or unknown */
	uint64_t before; /* ns of busy time before the last sample of the clock */
};
struct gt_gpu_sample_clock { /* of a GPU of the machine */
	const struct gt_segment *seg;
	uint32_t track;
	/* samples of the reasons; free: without throttling */
	uint64_t samples, free;
	uint64_t best; /* MHz */
	/* busy ns: while the reasons are known; while throttled */
	uint64_t watched, throttled_ns;
	uint64_t reasons;           /* all bits seen while throttled */
	unsigned __int128 weighed;  /* ns throttled, times MHz */
	bool clockless;             /* a part of it has no known frequency */
	struct gt_evidence longest; /* time span of throttling */
	/* the rest is private */
	bool knows_reasons, knows_mhz;
	uint64_t now, mhz;
	int64_t since; /* start of throttling */
};
struct gt_utilisation {
	const struct gt_idle *idle;
	struct gt_time_ordered order;
	uint32_t *gpu, *clock; /* by track number: 1 + index */
	struct gt_utilisation_gpu *gpus;
	struct gt_gpu_sample_clock *clocks; /* of tracks of NVML */
	size_t nclocks, clocks_cap;
};

/* After gt_idle_finish; s is borrowed. All return 0 or negative. */
int gt_utilisation_init(struct gt_utilisation *w, const struct gt_idle *s, struct gt_err *err);
bool gt_utilisation_needs(const struct gt_segment *seg, const struct gt_type *type);
/* GT_GPU and GT_COUNTER, GT_BY_TIME, with arguments. */
int gt_utilisation_run(struct gt_utilisation *w, const struct gt_cols *cols, struct gt_err *err);
int gt_utilisation_finish(struct gt_utilisation *w, struct gt_err *err);
void gt_utilisation_release(struct gt_utilisation *w);
#endif
