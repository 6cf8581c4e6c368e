/* Sample lines: the lines of the program in which most samples of a thread were taken. Reads blocks
 * in steps. */
#ifndef GT_SAMPLE_LINES_H
#define GT_SAMPLE_LINES_H
#include "viewer/model/block_schedule.h"

struct gt_sample_lines;
/* The samples of a strip of the aspect SAMPLES in [from, to), the viewer's time. new: free it.
 * NULL: no memory. */
struct gt_sample_lines *gt_sample_lines_new(struct gt_archive *a, const struct gt_strip_key *of,
	int64_t from, int64_t to, struct gt_err *err);
void gt_sample_lines_free(struct gt_sample_lines *l); /* NULL is fine */
/* Works for at most `us` µs (0: until done). 1: there is more to do, 0: done, negative: error. */
int gt_sample_lines_step(struct gt_sample_lines *l, uint64_t us, struct gt_err *err);
/* After the last step: writes the `most` lines with the most samples, with their shares:
 * "41% step (app/train.py:88), 12% load (app/data.py:12)". Nothing if no sample has a stack. */
void gt_sample_lines_put(const struct gt_sample_lines *l, unsigned most, char *to, size_t room);
#endif
