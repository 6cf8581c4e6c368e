/* Have the Python frames of a thread changed since it took a stack?
 *
 * A walk (python_frames.h) is a function of the words that it reads. So if the same words are in
 * the same places, its result is the same. To compare them takes a third of the time of a walk.
 * What a walk reads of a code object is remembered once for all stacks of the thread. */
#ifndef GT_RECENT_PYTHON_H
#define GT_RECENT_PYTHON_H
#include "collect/guest/stack/python_frames.h"

/* A frame, and the words that a walk reads in it. */
struct gt_python_place {
	uintptr_t frame;
	uint64_t instruction;
	uint32_t check; /* of the code object, see struct gt_python_frame */
	uint16_t code;  /* place in the table; GT_PLACE_SKIPPED: the frame is no function */
	uint16_t owner;
};
#define GT_PLACE_SKIPPED UINT16_MAX

/* What a walk reads of a code object and its line table. */
struct gt_python_seen {
	uintptr_t code; /* 0: none */
	uintptr_t lines, middle, last;
	uint64_t nlines, at_first, at_middle, at_last;
	uintptr_t name, file;
	uint32_t first_line, check;
};
#define GT_PYTHON_SEEN 1024u
/* Of one thread; all zeros at first. */
struct gt_python_memory {
	struct gt_python_seen seen[GT_PYTHON_SEEN];
};

/* Writes the frames from the innermost one on; frames, nframes: what the walk found just now.
 * *n: how many. False: they are more than max, or of a kind that is not compared. */
bool gt_python_remember(struct gt_python_memory *m, struct gt_readable *r,
	const struct gt_python_top *top, const struct gt_python_frame *frames, uint32_t nframes,
	struct gt_python_place *places, uint32_t max, uint32_t *n);
/* Would a walk find the same frames now? top->in is the interpreter of gt_python_remember. */
bool gt_python_is_unchanged(const struct gt_python_memory *m, const struct gt_python_top *top,
	const struct gt_python_place *places, uint32_t n);
#endif
