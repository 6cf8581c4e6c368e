/* The calls of a trace that launched GPU work or wait for it, for a Chrome trace: the correlation
 * id of each, and the lane of its slice.
 *
 * In Kineto's traces a call and its GPU work have one correlation id in `args`. In a recording only
 * the GPU work has CUPTI's id; it names its call by track, start and name. So a pass over the GPU
 * work comes before the export. It sorts the calls by these three, and the export finds them there:
 * the call when its slice is written, and its work later, which needs the lane for the arrow.
 *
 * CUPTI numbers the calls of each process. A trace of several processes must not have one id twice,
 * so the id has CUPTI's number in its lower 32 bits, and the number of the process above them. A
 * call whose number is unknown has a number of the export in the upper bits, and 0 in the lower.
 *
 * Memory: 32 bytes a call. More than GT_CHROME_LAUNCHES_IN_MEMORY are in a temporary file. */
#ifndef GT_CHROME_LAUNCHES_H
#define GT_CHROME_LAUNCHES_H
#include "formats/export/exporters.h"

#define GT_CHROME_LAUNCHES_IN_MEMORY (1u << 20)

struct gt_chrome_launch {
	int64_t start;
	uint32_t track, name; /* name: a string of the segment */
	uint32_t correlation; /* CUPTI's, or if is_numbered, a number of the export; 0: none */
	uint32_t lane : 9;    /* 1 + the lane of its slice; 0: it has no slice */
	uint32_t is_numbered : 1;
	uint32_t works;  /* pieces of GPU work that name it */
	uint32_t arrows; /* that lead from it so far */
};
struct gt_chrome_launches {
	struct gt_chrome_launch *list; /* by segment, track, start, name */
	size_t n, bytes;
	struct gt_chrome_launches_of { /* by segment */
		size_t *first;     /* by track: its first one in the list; one more at the end */
		size_t *last;      /* by track: the one that was found last */
		uint8_t *named;    /* bit by name: a call of this name is in the list */
		uint32_t *process; /* by track: number of its process in the trace */
	} * segs;
	uint32_t nsegs;
};
/* Reads the GPU work that opt selects. 0 or negative; release it in both cases. */
int gt_chrome_launches_init(struct gt_chrome_launches *l, const struct gt_export_options *opt,
	struct gt_reader *r, struct gt_err *err);
void gt_chrome_launches_release(struct gt_chrome_launches *l);
/* May a call of this name be in the list? */
static inline bool gt_chrome_launches_named(
	const struct gt_chrome_launches *l, const struct gt_segment *seg, uint32_t name)
{
	return l->n && name < seg->nstrings &&
		l->segs[seg->index].named[name >> 3] >> (name & 7) & 1;
}
/* The call, or NULL: no GPU work names it. */
struct gt_chrome_launch *gt_chrome_launches_find(struct gt_chrome_launches *l,
	const struct gt_segment *seg, uint32_t track, int64_t start, uint32_t name);
/* The correlation id of the call and its work in the Chrome trace; 0: there is none. */
uint64_t gt_chrome_launches_id(const struct gt_chrome_launches *l, const struct gt_segment *seg,
	const struct gt_chrome_launch *launch);
/* The same for another row of this track that has CUPTI's number. */
uint64_t gt_chrome_launches_unique(const struct gt_chrome_launches *l, const struct gt_segment *seg,
	uint32_t track, uint64_t correlation);
#endif
