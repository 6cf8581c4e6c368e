/* Calls that wait for a GPU, and what it did meanwhile.
 *
 * A call waits where it is made for that (cuStreamSynchronize), where it copies to or from the host
 * and returns when that is done, or where it frees memory that work might still use. The second and
 * the third are told by what happened: of a copy whose name or direction leaves it open (an
 * asynchronous one of pageable memory, say) by the GPU's record, if that began in the call and
 * ended before it returned; of a free, if work was pending when it began and all of it was over
 * when it returned.
 *
 * Work is pending at a moment when it had begun by then, or the call that launched it had begun
 * before, and it ended later. Its stream is known where the recorder wrote a row of the wait
 * (formats/cuda/gpu_rows.h); for all other waits any stream of the process counts. A call within a
 * call that waits is part of that one. */
#ifndef GT_WAITS_H
#define GT_WAITS_H
#include "analyze/gpu/gpu_time.h"

enum gt_wait_for {
	GT_WAIT_STREAM,
	GT_WAIT_EVENT,
	GT_WAIT_CONTEXT,
	GT_WAIT_DEVICE,
	GT_WAIT_OTHER,
	GT_WAIT_COPY,
	GT_WAIT_FREE,
	GT_WAIT_FORS
};
enum gt_wait_need {
	GT_WAIT_NEEDED,   /* what it waited for was pending when it began */
	GT_WAIT_NEEDLESS, /* nothing was */
	/* something was, but maybe not what it waited for; or records may be missing */
	GT_WAIT_UNTOLD,
};

struct gt_wait {
	const struct gt_segment *seg;
	uint32_t track, type; /* of the call */
	uint32_t stream;      /* its track, or GT_NONE: unknown, or it waits for more than one */
	int64_t start, end;   /* ns; whole. An open call ends where the recording does */
	bool open;
	enum gt_wait_for what;
	enum gt_wait_need need;
	uint64_t looked; /* ns of it in the range that was asked for */
	/* ns of those in which the stream's device, or else any device of the process, worked */
	uint64_t busy;
};
/* Gets each wait when it is over; of one thread in order of time. Borrowed. */
typedef int gt_waits_fn(void *arg, const struct gt_wait *w, struct gt_err *err);

struct gt_waits {
	struct gt_report_state asked;
	struct gt_time_ordered order;
	gt_waits_fn *fn;
	void *arg;
	/* frees with work pending on one of several devices: they may have waited */
	uint64_t frees_untold;
	/* the rest is private */
	struct gt_waits_segment {
		bool told, runtime;
	} * segs;
	/* by track, numbered over all segments: 1 + its place or 0; the number of its device */
	uint32_t *slot, *device;
	/* likewise: of a process, how many devices it has, up to 2 */
	uint8_t *devices;
	struct gt_waits_place *places;
	struct gt_waits_thread *threads;
	uint32_t *thread;            /* likewise: 1 + its thread or 0 */
	struct gt_waits_open *opens; /* waits that are not over, and free ones */
	/* of opens: by when they are over; those that more work may turn out to be pending for */
	uint32_t *heap, *unsettled;
	size_t nplaces, places_cap, nthreads, threads_cap, nopens, opens_cap, nheap, heap_cap,
		nunsettled, unsettled_cap;
	uint32_t free; /* 1 + the first of the free ones, or 0 */
	/* by code of the block at hand */
	struct gt_waits_watch {
		uint8_t how, what;
		bool async;
	} * watches;
	uint32_t *nth; /* likewise: rows of the run with this code so far */
	size_t watches_cap, nth_cap;
	uint64_t block;
	const struct gt_segment *block_seg, *seg;
};
/* with their arguments, GT_BY_TIME */
#define GT_WAITS_KINDS (GT_BIT(GT_CALL) | GT_BIT(GT_OPEN) | GT_BIT(GT_SPAN) | GT_BIT(GT_GPU))

int gt_waits_init(struct gt_waits *w, struct gt_reader *r, const struct gt_analysis_options *opt,
	gt_waits_fn *fn, void *arg, struct gt_err *err);
int gt_waits_run(struct gt_waits *w, const struct gt_cols *cols, struct gt_err *err);
int gt_waits_finish(struct gt_waits *w, struct gt_err *err); /* no more runs */
/* After that: is it known what the GPUs of this track's process did? If not, a wait's need and busy
 * mean nothing. */
bool gt_waits_told(const struct gt_waits *w, const struct gt_segment *seg, uint32_t track);
void gt_waits_release(struct gt_waits *w);
const char *gt_wait_word(enum gt_wait_for what);
enum gt_wait_for gt_wait_of_call(const char *name); /* of a function that synchronises */
#endif
