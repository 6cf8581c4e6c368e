/* The lines of the program that GPUs wait for most (host_shares.h), for the evidence of rules. */
#ifndef GT_WAITING_LINES_H
#define GT_WAITING_LINES_H
#include "analyze/idle/idle.h"

#define GT_WAITING_LINES 3u
struct gt_waiting_lines {
	struct gt_waiting_line {
		char name[100]; /* longer names are cut */
		uint64_t ns;
		const char *did;  /* of a wait: its words; NULL: the line ran */
	} list[GT_WAITING_LINES]; /* the longest first */
	unsigned n;
};
struct gt_host_waiting {
	struct gt_waiting_lines running, waits; /* by samples; by stacks of waits */
};

/* After the last row. Empty if the trace has no samples. 0 or negative. */
int gt_host_waiting_find(struct gt_host_waiting *w, const struct gt_idle *s, struct gt_err *err);
/* Appends "BEFORE41 % in load (data.py:12), 20 % asleep in ..." to a text of `size` bytes: lines
 * with at least a twentieth of `all` ns. */
void gt_waiting_lines_put(const struct gt_waiting_lines *l, uint64_t all, const char *before,
	char *text, size_t size);
#endif
