/* Frames of Python in threads of other processes, which go on meanwhile: their memory is read by
 * process_vm_readv.
 *
 * A thread may call and return while its frames are read. So they are read twice, the innermost
 * ones three times. Frames that did not move between the readings are right, and so is the next one
 * within. If the innermost ones moved, all is read again, up to five times; then they are left out,
 * and the stack says so. One reading takes some microseconds: functions that take less than that
 * are seen less often than they run.
 *
 * Not thread-safe. */
#ifndef GT_REMOTE_PYTHON_H
#define GT_REMOTE_PYTHON_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A code object. Valid until gt_remote_python_release after its process has ended. */
struct gt_remote_code {
	uint64_t number;  /* no other one of any process has it */
	uint32_t version; /* of the interpreter; 0x030b: 3.11 */
	uint32_t first_line, nname, nfile;
	uint32_t nlines; /* above GT_PYTHON_LINES_MAX: `lines` is NULL */
	uint32_t bytes,
		first_traceable; /* of its instructions; frames before that are incomplete */
	char *name, *file;       /* UTF-8, without a terminating zero */
	uint8_t *lines;          /* for gt_python_line */
};
#define GT_REMOTE_FRAMES 400
struct gt_remote_stack {
	uint32_t n;
	/* innermost frames changed meanwhile, and are not there; or (n is 0) it is not known which
	 * of several interpreters the thread runs */
	bool inner_cut;
	bool outer_cut; /* there are more frames than these, or unreadable ones */
	/* addresses of the function that executes Python code; 0: not known */
	uint64_t eval_low, eval_high;
	/* Innermost first. offset: of the instruction, for gt_python_line. */
	struct gt_remote_frame {
		const struct gt_remote_code *code;
		uint32_t offset;
	} frames[GT_REMOTE_FRAMES];
};

struct gt_remote_python;
struct gt_remote_python *gt_remote_python_new(void); /* new: free it; NULL: no memory */
void gt_remote_python_free(struct gt_remote_python *p);
/* Has the process an interpreter? Searches for it, which takes some ms, once. */
bool gt_remote_python_search(struct gt_remote_python *p, uint32_t tgid);
/* Has any process one, as far as they were searched? */
bool gt_remote_python_has_any(const struct gt_remote_python *p);
/* The stack of a thread; n is 0 if it executes no Python code. */
void gt_remote_python_stack(
	struct gt_remote_python *p, uint32_t tgid, uint32_t tid, struct gt_remote_stack *s);
/* Does a thread that waits at this futex wait for the interpreter's lock? holder: the id of the
 * thread that holds the lock now, 0: unknown; interval: ns that a thread waits for it at a time;
 * both NULL: they are not read. */
bool gt_remote_python_gil(struct gt_remote_python *p, uint32_t tgid, uint64_t futex,
	uint32_t *holder, uint64_t *interval);
/* The process executes another program, or has ended. at: ns; its code objects are kept for the
 * stacks that were read before. */
void gt_remote_python_forget(struct gt_remote_python *p, uint32_t tgid, uint64_t at);
/* Frees the code objects of processes that ended by this time: no stack has them any more. */
void gt_remote_python_release(struct gt_remote_python *p, uint64_t until);
#endif
