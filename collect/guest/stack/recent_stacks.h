/* Stacks that a thread has taken recently, and how to see that one of them is the current one.
 *
 * The result of a walk is a function of where it starts, of the rules to unwind, and of the words
 * that it reads. Of each recent stack the thread keeps these words and their addresses. If the
 * same words are there when the next stack begins at the same place, it is the same stack. To
 * compare them takes less than half of the time of a walk, and needs no hash.
 *
 * Loops take the same stacks in the same order. So the two that have followed the last one most
 * recently are tried. */
#ifndef GT_RECENT_STACKS_H
#define GT_RECENT_STACKS_H
#include "collect/guest/stack/native_frames.h"
#include "collect/guest/stack/recent_python.h"

#define GT_RECENT_STACKS 256u
#define GT_RECENT_NUMBERS 1024u
#define GT_RECENT_FRAMES 64u /* of each kind; deeper stacks are not kept */

struct gt_recent_stack {
	uint32_t number;  /* of the stack; 0: none */
	uint16_t next[2]; /* the ones that followed it, the last one first */
	uint8_t nnative, npython;
	bool needs_fp; /* the walk depends on the frame pointer at the start */
	uint8_t python_state;
	uint32_t interpreter; /* its number; 0: none */
	uint64_t epoch;
	uintptr_t start[3];
	struct gt_native_place native[GT_RECENT_FRAMES];
	struct gt_python_place python[GT_RECENT_FRAMES];
};
/* Of one thread; all zeros at first. */
struct gt_recent_stacks {
	uint16_t last;   /* the one that was found or kept last */
	uint16_t credit; /* stacks that may be kept; each found stack adds to it */
	uint32_t oldest, misses;
	uint16_t by_number[GT_RECENT_NUMBERS]; /* place of the stack with such a number */
	struct gt_recent_stack stack[GT_RECENT_STACKS];
	struct gt_python_memory python;
};

/* The number of the stack that begins here now; 0: it is not among those that are tried. */
uint32_t gt_recent_find(
	struct gt_recent_stacks *s, const uintptr_t start[3], const struct gt_python_top *top);
/* A stack that was walked just now. */
struct gt_recent_walk {
	uint32_t number;
	uint64_t epoch; /* before the walk */
	const uintptr_t *start;
	uintptr_t stop_low, stop_high; /* where the native walk ends */
	const struct gt_python_top *top;
	const struct gt_python_frame *frames; /* of Python */
	uint32_t nframes;
};
/* Keeps it unless it is kept already, or leaves it out. */
void gt_recent_keep(
	struct gt_recent_stacks *s, struct gt_readable *r, const struct gt_recent_walk *w);
#endif
