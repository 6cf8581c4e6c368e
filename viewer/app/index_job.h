/* Making an indexed copy of a trace: any file that gt reads, put into one of ours that is closed
 * and has summaries. It is done by a process of its own, so that it can be cancelled at any moment,
 * whatever it is at, and its memory is its own. */
#ifndef GT_INDEX_JOB_H
#define GT_INDEX_JOB_H
#include <stdbool.h>
#include <stdint.h>
#include "formats/trace/read/reader.h"
#include "viewer/util/subprocess.h"

/* What came of it. */
struct gt_index_result {
	struct gt_err err;
	/* places of the trace that could not be read, whose rows the copy does not have */
	uint64_t damage;
	uint64_t damage_at; /* the first of them */
	char damage_text[120];
};
struct gt_index_job { /* zero-initialised: there is none */
	struct gt_subprocess worker;
	int from, to;
	/* the trace is in our format: it is not read from its beginning to its end */
	bool copying;
	uint64_t bytes; /* of the trace; 0: nobody knows */
};
/* Begins to put what is in `from` into `to`, an empty file; both are borrowed until it is over. id:
 * to be found in the copy by gt_index_is_copy. 0 or negative. */
int gt_index_job_begin(
	struct gt_index_job *x, int from, int to, const char *id, struct gt_err *err);
/* Waits for its end, for some ms at most. 1: it goes on; 0: it is over, and *result says whether it
 * was done. */
int gt_index_job_step(struct gt_index_job *x, unsigned ms, struct gt_index_result *result);
/* fine when it is over, or never began */
void gt_index_job_cancel(struct gt_index_job *x);
/* bytes of the trace, about */
uint64_t gt_index_job_done(const struct gt_index_job *x);
/* Is that a copy, and all of it, which was made with this id? */
bool gt_index_is_copy(struct gt_reader *r, const char *id);
#endif
