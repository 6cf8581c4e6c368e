/* The steps of a program: how they are found (steps_find.c, steps_marks.c), the figures of each
 * step (steps_fill.c), their statistics (steps_statistics.c), and the report (steps.c). A lane is a
 * GPU as one process sees it; each lane has its own steps. */
#ifndef GT_STEPS_H
#define GT_STEPS_H
#include "analyze/gpu/gpu_time.h"
#include "analyze/columns/launch_fields.h"
#include "analyze/stats/name_interner.h"
#include "analyze/steps/period.h"
#include "analyze/core/report.h"

#define GT_STEPS_LANES 64u          /* lanes, at most */
#define GT_STEPS_MAX (1u << 18)     /* steps of all lanes (26 MiB) */
#define GT_STEPS_SLOWEST 3u         /* steps that are compared by name */
#define GT_STEPS_SYMBOLS (1u << 17) /* different names */
#define GT_STEPS_WARM_LEAST 8u      /* fewer steps have no warm-up */
/* names with a time of their own in picked steps; further names are added up */
#define GT_STEPS_NAMES 2048u

struct gt_step {
	/* its start: on the host the call that launched its first operation; on the GPU the start
	 * of this operation */
	int64_t host, at;
	/* ns: union of the GPU operations from `at` to the next step */
	uint64_t busy;
	/* signature: hash of the sequence of each stream, in any order of streams */
	uint64_t bytes, signature;
	/* operations launched in the step, whenever they ran */
	uint32_t ops, kernels, copies, sets, calls, runtime_calls;
	uint32_t picked;   /* 1 + its row in gt_steps.times; 0: none */
	uint32_t sequence; /* rank of its sequence by frequency; 0: the most frequent one */
};
struct gt_steps_lane {
	const struct gt_segment *seg;
	/* number of its device's track; its process' track in the segment, or GT_NONE */
	uint32_t number, process;
	uint64_t ops;        /* operations that began in the selected range */
	int64_t first, last; /* starts of the first and the last of them */
	int64_t last_end;    /* the latest end of one of them */
	/* number of the stream whose sequence was used; GT_NONE: marks, or no steps */
	uint32_t stream;
	struct gt_period period;
	/* the name of the first range that marks a step, borrowed; NULL: by sequence */
	const char *mark;
	const char *why;       /* no steps were found: the reason */
	struct gt_step *steps; /* n steps, and one more entry for the end of the last */
	size_t n, cap;
	/* launches are unknown or unordered: an operation belongs to the step in which it began */
	bool by_gpu;
	uint32_t next; /* the next lane of the same process, or GT_NONE */
	/* the first steps, which are slower than the others or have other sequences */
	size_t warm;
	uint32_t sequences; /* number of different ones */
	/* operations in steps whose sequence occurs more than once */
	uint64_t alike_ops;
	uint64_t median; /* ns: of the steps after the warm-up */
	double limit;    /* ns: a longer step is slow; 0: unknown */
	/* steps after the warm-up, the slowest first */
	size_t slowest[GT_STEPS_SLOWEST], nslowest;
	/* gt_steps.times has step i * n / sampled for each i < sampled, and the slowest steps */
	size_t sampled;
};
struct gt_steps_stream { /* rows on one track */
	uint32_t number;
	uint64_t ops;
	int64_t first, last; /* starts */
	int64_t last_end;
	uint32_t *list; /* the first of their symbols */
	size_t n, cap;
};
struct gt_steps {
	struct gt_report_state report;
	bool gpu_only; /* figures of calls, and times by name, are not needed: they stay 0 */
	struct gt_time_ordered order; /* of the current scan */
	uint32_t *device_of;          /* by track number */
	uint32_t *slot;               /* likewise: 1 + index in streams */
	struct gt_steps_stream *streams;
	size_t nstreams, streams_cap, listed;
	/* symbols, by text and layer; names of calls follow those of GPU operations */
	struct gt_name_interner names;
	/* GPU operations have more than GT_STEPS_SYMBOLS names: sequences cannot be compared */
	bool crowded;
	size_t nsigns; /* names of GPU operations, which come first */
	struct gt_steps_lane *lanes;
	uint32_t nlanes, lanes_left_out;
	size_t nsteps;
	bool steps_left_out;
	uint64_t late;
	uint64_t *times; /* ns by picked step and name: GT_STEPS_NAMES + 1 a row */
	uint32_t npicked;
};

/* The values of a GPU row that the scans need. */
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
/* begins a run */
int gt_steps_walk_run(struct gt_steps_walk *w, const struct gt_cols *cols, struct gt_err *err);
int gt_steps_walk_row(struct gt_steps *s, struct gt_steps_walk *w, const struct gt_cols *cols,
	uint32_t i, struct gt_steps_row *row,
	struct gt_err *err); /* call it for each row in order */

/* Did it begin before the selected range? Then it is in no sequence. */
static inline bool gt_steps_begins_early(
	const struct gt_steps *s, const struct gt_segment *seg, int64_t start)
{
	return start < gt_range_of(&s->report.opt->filter, seg).from;
}
/* 1 + the number of the name of a type. 0 with err filled in. */
static inline uint32_t gt_steps_name(
	struct gt_steps *s, const struct gt_segment *seg, uint32_t type, struct gt_err *err)
{
	return 1 +
		gt_name_interner_type(&s->names, gt_time_ordered_type(&s->order, seg, type), seg,
			type, seg->types[type].layer, err);
}
/* Adds a step to a lane; NULL: no memory, or (without error) too many. */
struct gt_step *gt_steps_add(struct gt_steps *s, struct gt_steps_lane *lane, struct gt_err *err);
/* Sets the steps of lanes whose process marks its steps. */
int gt_steps_marks(struct gt_steps *s, struct gt_err *err);
/* after the last row: finds lanes and their steps */
int gt_steps_find(struct gt_steps *s, struct gt_err *err);
int gt_steps_fill(struct gt_steps *s, struct gt_err *err); /* the figures of each step */
/* Finds the steps of all lanes, their figures, sequences and warm-up, and the slowest ones. */
int gt_steps_find_all(struct gt_steps *s, struct gt_err *err);
struct gt_steps_drift {
	bool known, noise;
	double per_step; /* ns per step */
};
/* steps: those after the warm-up. */
int gt_steps_find_drift(
	const struct gt_step *steps, size_t n, struct gt_steps_drift *d, struct gt_err *err);
/* The smallest of n > 0 sorted values such that a share of at least q is not larger. */
uint64_t gt_steps_quantile(const uint64_t *sorted, size_t n, double q);
/* The lower median of n > 0 values, which it sorts. */
uint64_t gt_steps_median(uint64_t *values, size_t n);
/* Reads the trace to find the steps, without a report. *s is zeroed, but for gpu_only. Release it
 * in any case. 0 or negative. */
int gt_steps_read(struct gt_steps *s, struct gt_reader *r, const struct gt_analysis_options *opt,
	struct gt_err *err);
void gt_steps_release(struct gt_steps *s);
static inline uint64_t gt_step_ns(const struct gt_step *s)
{
	return (uint64_t)s[1].at - (uint64_t)s->at;
}
#endif
