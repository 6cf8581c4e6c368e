/* Frames of the Python code that called into C, in the thread that asks.
 *
 * A thread that is inside a function of ours cannot run Python code, with or without the GIL. So
 * its frames do not change while they are read. No function of Python's runs but the two that
 * return the thread's state. Nothing takes a lock or allocates memory.
 *
 * All of this is safe in a thread without Python, before the interpreter starts, while and after it
 * is finalized, and in a forked child. */
#ifndef GT_PYTHON_FRAMES_H
#define GT_PYTHON_FRAMES_H
#include "collect/guest/stack/readable.h"
#include "formats/python/python_text.h"

/* offset: of the instruction that the frame executes, in bytes from the first code unit; -1 as
 * unsigned number: the frame has not started (3.9 and 3.10). It is what gt_python_line takes.
 * check: mixes first line, the addresses of line table, name and file, and the length and the
 * first, middle and last bytes of the line table. It differs if another code object took the
 * address of a freed one. */
struct gt_python_frame {
	uint64_t code;
	uint32_t offset, check;
};

enum gt_python_state {
	GT_PYTHON_NONE,      /* no interpreter in the process, or no Python code in this thread */
	GT_PYTHON_OK,        /* all frames */
	GT_PYTHON_TRUNCATED, /* more than max: the innermost max */
	GT_PYTHON_DAMAGED,   /* a pointer led nowhere: the frames up to there, which are right */
	/* no frames: unknown version, the interpreter is being finalized, or it is not known which
	 * of several interpreters this thread runs */
	GT_PYTHON_UNKNOWN,
};

/* The frames of this thread, innermost first. Returns how many; at most max, which is at least 1.
 * r: of this thread. sp: its stack pointer, where a signal has interrupted it; 0: here. Frames that
 * Python's own tracebacks omit are omitted. */
uint32_t gt_python_frames(struct gt_readable *r, uintptr_t sp, struct gt_python_frame *frames,
	uint32_t max, enum gt_python_state *state);

/* The same in two steps: the innermost frame, and the walk from there. frame 0: `state` is why
 * there is none. */
struct gt_interpreter;
struct gt_python_top {
	const struct gt_interpreter *in;
	uintptr_t frame;
	enum gt_python_state state;
};
void gt_python_top(struct gt_readable *r, uintptr_t sp, struct gt_python_top *top);
uint32_t gt_python_walk(struct gt_readable *r, const struct gt_python_top *top,
	struct gt_python_frame *frames, uint32_t max, enum gt_python_state *state);

/* What a code object says about itself. Pointers lead into the interpreter's memory or to `text`;
 * they are valid as long as a frame of this thread executes the code. Names are UTF-8 without a
 * terminating zero, cut at GT_PYTHON_TEXT bytes. A lone surrogate becomes U+FFFD. */
struct gt_python_code {
	uint32_t first_line, nname, nfile;
	uint32_t nlines;         /* above GT_PYTHON_LINES_MAX: `lines` is NULL */
	const char *name, *file; /* name: qualified from 3.11 on */
	const uint8_t *lines;    /* the line table, for gt_python_line */
	char text[2 * GT_PYTHON_TEXT];
};
/* Costs about a microsecond. False: it is no code object, or it is damaged. */
bool gt_python_code(struct gt_readable *r, uint64_t code, struct gt_python_code *c);

/* Looks for an interpreter among the loaded libraries. It may run again at any time, in any
 * thread: it finds an interpreter that was loaded later, and forgets one that was unloaded. */
void gt_python_find(void);
/* The same where the guest may not see that the program closes a library (gt_is_loaded_late): there
 * the interpreter's library stays loaded from now on. Takes the loader's lock, so not for a thread
 * of the program in a call. */
void gt_python_find_safely(void);
/* Before a library is closed, which may be the interpreter's: forgets it until it is found again.
 * True: there was one, in a library. */
bool gt_python_forget(void);
/* of the interpreter found; 0x030b: 3.11; 0: there is none */
uint32_t gt_python_version(void);
/* Addresses of the function that executes Python code. False: they are not known. */
bool gt_python_eval_range(uintptr_t *low, uintptr_t *high);
#endif
