/* What is counted when the window is known already: how busy each GPU was in each thirtieth of it,
 * and for how long its clocks were held down meanwhile. It is read in a scan of its own, from the
 * GPU's work and the samples of two counters.
 *
 * A sample says how the clocks are from then on, up to the next sample of that GPU. They are held
 * down where one of the bits GT_HELD_DOWN is set (of NVML's reasons; that there is nothing to do,
 * or that the program chose the clock, is none), and what that costs is the time that the GPU
 * worked meanwhile, times what the SM clock lacked of the highest in any sample. NVML counts the
 * GPUs of the machine, a process its own ones. With one of each they are the same; with several,
 * CUDA_VISIBLE_DEVICES says which number is which where it was recorded as a list of numbers, and
 * without it they have the same numbers. */
#ifndef GT_WINDOWED_H
#define GT_WINDOWED_H
#include "analyze/core/evidence.h"
#include "analyze/idle/idle.h"

#define GT_CHUNKS 30u
/* power cap, hardware slowdown, thermal (software, hardware), power brake */
#define GT_HELD_DOWN 0xecu

struct gt_windowed_gpu {              /* one for each of the idle's devices, in their order */
	int64_t edges[GT_CHUNKS + 1]; /* ns: where chunks begin, and the end */
	uint64_t busy[GT_CHUNKS];     /* ns: unions */
	struct gt_union all;
	unsigned chunk;  /* that the union ends in */
	uint32_t clock;  /* 1 + its place; 0: none, or it is not known which */
	uint64_t before; /* ns it had worked at the last sample of that */
};
struct gt_gpu_sample_clock { /* of a GPU of the machine */
	const struct gt_segment *seg;
	uint32_t track;
	/* of the reasons; free: in which nothing holds the clock down */
	uint64_t samples, free;
	uint64_t best; /* MHz */
	/* ns that GPUs worked: while the reasons are known; while held down */
	uint64_t watched, held;
	uint64_t reasons;           /* bits there were while held down */
	unsigned __int128 weighed;  /* ns held down, times MHz */
	bool clockless;             /* some of it at a clock that is not known */
	struct gt_evidence longest; /* stretch in which it was held down */
	/* the rest is private */
	bool knows_reasons, knows_mhz;
	uint64_t now, mhz;
	int64_t since; /* it is held down */
};
struct gt_windowed {
	const struct gt_idle *idle;
	struct gt_time_ordered order;
	uint32_t *gpu, *clock; /* by the number of a track: 1 + place */
	struct gt_windowed_gpu *gpus;
	struct gt_gpu_sample_clock *clocks; /* of those tracks that NVML may have written */
	size_t nclocks, clocks_cap;
};

/* After gt_idle_finish; s is borrowed. All return 0 or negative. */
int gt_windowed_init(struct gt_windowed *w, const struct gt_idle *s, struct gt_err *err);
bool gt_windowed_wants(const struct gt_segment *seg, const struct gt_type *type);
/* GT_GPU and GT_COUNTER, GT_BY_TIME, with arguments. */
int gt_windowed_run(struct gt_windowed *w, const struct gt_cols *cols, struct gt_err *err);
int gt_windowed_finish(struct gt_windowed *w, struct gt_err *err);
void gt_windowed_release(struct gt_windowed *w);
#endif
