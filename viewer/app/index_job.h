/* Makes an indexed copy of a trace: a closed file in gt's format with summaries, from any file that
 * gt can read. A child process does it, so that it can be cancelled at any moment. */
#ifndef GT_INDEX_JOB_H
#define GT_INDEX_JOB_H
#include <stdbool.h>
#include <stdint.h>
#include "formats/cmdline/opt.h"
#include "formats/trace/read/reader.h"
#include "viewer/util/subprocess.h"

/* the result */
struct gt_index_result {
	struct gt_err err;
	/* number of unreadable places of the trace; the copy lacks their rows */
	uint64_t damage;
	uint64_t damage_at; /* byte offset of the first place */
	char damage_text[120];
};
struct gt_index_job { /* zero-initialised: no job */
	struct gt_subprocess worker;
	int from, to;
	const char *id;
	const struct gt_opt_list *exclude;
	/* The trace is in gt's format: it is copied block by block. */
	bool copying;
	uint64_t bytes; /* size of the trace; 0: unknown */
};
/* Begins to copy `from` into the empty file `to`; all arguments are borrowed until the job ends.
 * id: stored in the copy for gt_index_is_copy. exclude: globs of names that the copy does not
 * contain (formats/names/globs.h), or NULL; its metadata name them. 0 or negative. */
int gt_index_job_begin(struct gt_index_job *x, int from, int to, const char *id,
	const struct gt_opt_list *exclude, struct gt_err *err);
/* Waits for its end for at most `ms`. 1: it is running; 0: it has ended, with *result. */
int gt_index_job_step(struct gt_index_job *x, unsigned ms, struct gt_index_result *result);
/* also fine when it has ended or never began */
void gt_index_job_cancel(struct gt_index_job *x);
/* estimated bytes that are processed */
uint64_t gt_index_job_done(const struct gt_index_job *x);
/* Is it a complete copy with this id? */
bool gt_index_is_copy(struct gt_reader *r, const char *id);
#endif
