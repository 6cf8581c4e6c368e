/* The steps of a program, for the report of that name: finding them (steps_find.c, steps_marks.c),
 * what each of them did (steps_fill.c), and what it all says (steps.c). A lane is a GPU as one
 * process sees it; each has steps of its own. */
#ifndef GT_STEPS_H
#define GT_STEPS_H
#include "analyze/gpu/gpu_time.h"
#include "analyze/columns/launch_fields.h"
#include "analyze/stats/name_interner.h"
#include "analyze/steps/period.h"
#include "analyze/core/report.h"

#define GT_STEPS_LANES 64u          /* GPUs that are looked at */
#define GT_STEPS_MAX (1u << 18)     /* steps of all of them, in 26 MiB */
#define GT_STEPS_SLOWEST 3u         /* steps that are looked into */
#define GT_STEPS_SYMBOLS (1u << 17) /* names that are told apart at all */
/* names whose time is told apart, in picked steps; those beyond are one */
#define GT_STEPS_NAMES 2048u

struct gt_step {
	/* where it begins: the call that launched its first operation, and the start of that on the
	 * GPU */
	int64_t host, at;
	/* ns: union of the GPU's work from `at` to the next step's */
	uint64_t busy;
	/* the signature tells sequences apart: of each stream in order, of streams in any */
	uint64_t bytes, signature;
	/* of the GPU: launched in the step, whenever they ran */
	uint32_t ops, kernels, copies, sets, calls, runtime_calls;
	uint32_t picked;   /* 1 + its row in gt_steps.times; 0: none */
	uint32_t sequence; /* 0 the usual one, and so on by how frequent they are */
};
struct gt_steps_lane {
	const struct gt_segment *seg;
	/* of its device's track, over all segments; of its process' track in the segment, or
	 * GT_NONE */
	uint32_t number, process;
	uint64_t ops;        /* that began in the time that was looked at */
	int64_t first, last; /* when the first and the last of them began */
	/* whose sequence it was, numbered over all segments; GT_NONE: marks, or nothing was found
	 */
	uint32_t stream;
	struct gt_period period;
	/* the name of the first range that marks a step, borrowed; NULL: by sequence */
	const char *mark;
	const char *why;       /* nothing was found */
	struct gt_step *steps; /* n of them, and one more that is only an end */
	size_t n, cap;
	/* launches are not known, or not in order: what began on the GPU in the step's time is in
	 * it */
	bool by_gpu;
	uint32_t next; /* the next lane of the same process; GT_NONE */
	/* the first steps, that are slower than the others or do something else */
	size_t warm;
	uint32_t sequences; /* how many different ones there are */
	/* operations in steps whose sequence another step has, too */
	uint64_t alike_ops;
	uint64_t median; /* ns: of the steps behind the warm-up */
	double limit;    /* ns: what is longer is slow; 0 not known */
	/* steps behind the warm-up, the slowest first */
	size_t slowest[GT_STEPS_SLOWEST], nslowest;
	/* step i * n / sampled is in gt_steps.times, for each i below this, and so are the slowest
	 */
	size_t sampled;
};
struct gt_steps_stream { /* rows on one track */
	uint32_t number;
	uint64_t ops;
	int64_t first, last; /* starts */
	uint32_t *list;      /* the first of their symbols */
	size_t n, cap;
};
struct gt_steps {
	struct gt_report_state asked;
	struct gt_time_ordered order; /* of the scan at hand */
	uint32_t *device_of;          /* by track, numbered over all segments */
	uint32_t *slot;               /* likewise: 1 + its place in streams */
	struct gt_steps_stream *streams;
	size_t nstreams, streams_cap, listed;
	/* symbols, by text and layer; what calls are named follows behind those of the GPU */
	struct gt_name_interner names;
	/* the GPU's operations have more than GT_STEPS_SYMBOLS names: no sequence can be told */
	bool crowded;
	size_t nsigns; /* names of the GPU's operations, which come first */
	struct gt_steps_lane *lanes;
	uint32_t nlanes, lanes_left_out;
	size_t nsteps;
	bool steps_left_out;
	uint64_t late;
	uint64_t *times; /* ns by picked step and name: GT_STEPS_NAMES + 1 a row */
	uint32_t npicked;
};

/* A GPU row of a run: what the scans over them need, taken out of its columns in one walk. */
struct gt_steps_code {
	uint32_t stamp, nth, name;
	enum gt_gpu_what what;
	struct gt_launch_fields launch;
	const uint64_t *bytes;
	uint32_t nbytes;
};
struct gt_steps_walk {
	struct gt_steps_code *codes;
	size_t cap;
	uint32_t stamp;
};
struct gt_steps_row {
	uint32_t name;
	enum gt_gpu_what what;
	bool joined;
	int64_t launch;
	uint64_t bytes;
};
/* a run begins */
int gt_steps_walk_run(struct gt_steps_walk *w, const struct gt_cols *cols, struct gt_err *err);
int gt_steps_walk_row(struct gt_steps *s, struct gt_steps_walk *w, const struct gt_cols *cols,
	uint32_t i, struct gt_steps_row *row, struct gt_err *err); /* rows in order */

/* Did it begin before the time that was looked at? Then it is in no step's sequence. */
static inline bool gt_steps_early(
	const struct gt_steps *s, const struct gt_segment *seg, int64_t start)
{
	return start < gt_range_of(&s->asked.opt->filter, seg).from;
}
/* 1 + the number of a type's name. 0 with err filled in. */
static inline uint32_t gt_steps_name(
	struct gt_steps *s, const struct gt_segment *seg, uint32_t type, struct gt_err *err)
{
	return 1 +
		gt_name_interner_type(&s->names, gt_time_ordered_type(&s->order, seg, type), seg,
			type, seg->types[type].layer, err);
}
/* A scan of its own, as the options have it. kinds: GT_BIT(enum gt_kind). fn gets runs by time. */
typedef int gt_steps_fn(void *arg, const struct gt_cols *cols, struct gt_err *err);
int gt_steps_scan(struct gt_steps *s, const struct gt_filter *filter, gt_steps_fn *fn, void *arg,
	struct gt_err *err);

/* Room for one more boundary of a lane's steps; NULL: no memory, or (no error) there are too many.
 */
struct gt_step *gt_steps_add(struct gt_steps *s, struct gt_steps_lane *lane, struct gt_err *err);
/* Lanes whose process marks its steps have them; the others stay as they were. */
int gt_steps_marks(struct gt_steps *s, struct gt_err *err);
/* after all rows were collected: lanes and their steps */
int gt_steps_find(struct gt_steps *s, struct gt_err *err);
int gt_steps_fill(struct gt_steps *s, struct gt_err *err); /* what each step did */
/* The loop of a process, for who counts per step: that of the GPU that it gave most to do. Its
 * steps' calls begin from `from` on and before `to`. */
struct gt_loop {
	const struct gt_segment *seg;
	uint32_t process;
	int64_t from, to;
	uint64_t steps, ops;
};
/* Reads the trace for it, as the options have it. *loops is new, also if there are none, which is
 * no error. 0 or negative. */
int gt_loops(struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_loop **loops,
	size_t *n, struct gt_err *err);
static inline uint64_t gt_step_ns(const struct gt_step *s)
{
	return (uint64_t)s[1].at - (uint64_t)s->at;
}
#endif
