/* Calls that wait for a GPU, and the activity of the GPU during the wait.
 *
 * Three kinds of calls wait: synchronizing calls (cuStreamSynchronize), copies to or from the host
 * that return when the copy is done, and frees of memory that pending work may use. For copies
 * and frees, the trace shows whether the call waited. A copy whose name and direction do not tell
 * (for example an asynchronous copy of pageable memory) waited if the GPU's copy began in the call
 * and ended before the call returned. A free waited if work was pending when it began and all of
 * that work had ended when it returned.
 *
 * Work is pending at a moment if it had begun, or its launching call had begun, before the moment,
 * and it ended after it. The stream of a wait is known if the recorder wrote a row of the wait
 * (formats/cuda/gpu_rows.h); for all other waits any stream of the process counts. A call nested in
 * a call that waits is part of that call. */
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
	GT_WAIT_NEEDED,   /* its target was pending when it began */
	GT_WAIT_NEEDLESS, /* nothing was pending */
	/* other work was pending, or records may be missing */
	GT_WAIT_UNKNOWN,
};

struct gt_wait {
	const struct gt_segment *seg;
	uint32_t track, type; /* of the call */
	uint32_t stream;      /* its track; GT_NONE: unknown, or more than one */
	int64_t start,
		end; /* ns, of the whole call. An open call ends at the end of the recording */
	bool open;
	enum gt_wait_for what;
	enum gt_wait_need need;
	uint64_t looked; /* ns in the selected range */
	/* ns of these in which the stream's device, or any device of the process, was busy */
	uint64_t busy;
};
/* Called for each wait when it has ended; for one thread in order of time. Borrowed. */
typedef int gt_waits_fn(void *arg, const struct gt_wait *w, struct gt_err *err);

struct gt_waits {
	struct gt_report_state report;
	struct gt_time_ordered order;
	gt_waits_fn *fn;
	void *arg;
	/* frees with work pending on one of several devices: they may have waited */
	uint64_t frees_unknown;
	/* the rest is private */
	struct gt_waits_segment {
		bool has_gpu, runtime;
	} * segs;
	/* by track number: 1 + index of its place, or 0; the number of its device */
	uint32_t *slot, *device;
	/* likewise: the number of devices of a process, at most 2 */
	uint8_t *devices;
	struct gt_waits_place *places;
	struct gt_waits_thread *threads;
	uint32_t *thread;                 /* likewise: 1 + index of its thread, or 0 */
	struct gt_waits_open *open_waits; /* waits that have not ended, and free entries */
	/* indices in opens: heap by end; waits for which further work may be pending */
	uint32_t *heap, *unsettled;
	size_t nplaces, places_cap, nthreads, threads_cap, nopens, opens_cap, nheap, heap_cap,
		nunsettled, unsettled_cap;
	uint32_t free; /* 1 + index of the first free entry, or 0 */
	/* by code of the current block */
	struct gt_waits_role {
		uint8_t how, what;
		bool async;
	} * roles;
	uint32_t *nth; /* likewise: rows of the run with this code so far */
	size_t roles_cap, nth_cap;
	uint64_t block;
	const struct gt_segment *block_seg, *seg;
};
/* with their arguments, GT_BY_TIME */
#define GT_WAITS_KINDS (GT_BIT(GT_CALL) | GT_BIT(GT_OPEN) | GT_BIT(GT_SPAN) | GT_BIT(GT_GPU))

int gt_waits_init(struct gt_waits *w, struct gt_reader *r, const struct gt_analysis_options *opt,
	gt_waits_fn *fn, void *arg, struct gt_err *err);
int gt_waits_run(struct gt_waits *w, const struct gt_cols *cols, struct gt_err *err);
int gt_waits_finish(struct gt_waits *w, struct gt_err *err); /* after the last run */
/* After that: were operations of the GPUs of the track's process recorded? If not, `need` and
 * `busy` of its waits are invalid. */
bool gt_waits_has_gpu(const struct gt_waits *w, const struct gt_segment *seg, uint32_t track);
void gt_waits_release(struct gt_waits *w);
const char *gt_wait_word(enum gt_wait_for what);
enum gt_wait_for gt_wait_of_call(const char *name); /* name: of a synchronizing call */
#endif
