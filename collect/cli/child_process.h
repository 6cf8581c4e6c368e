/* Starts the program, forwards signals to it, and gets its exit status. */
#ifndef GT_CHILD_PROCESS_H
#define GT_CHILD_PROCESS_H
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>
#include "formats/base/err.h"

/* exit status of gtcollect's own failure; 126: COMMAND cannot be run; 127: not found; 128+n:
 * killed by signal n */
#define GT_EXIT_OWN 125

struct gt_child {
	pid_t pid;
	int signals; /* signalfd: readable when gt_child_handle_signals has something to do */
	bool ended;
	/* orphans of the program's tree become our children, so that gtcollect can wait for all */
	bool adopts;
	bool is_childless; /* no child is left; with `adopts`: no process of the tree is left */
	unsigned ends[2];  /* number of HUP, INT, QUIT, TERM: [0] while the program ran, [1] before
			      or after */
	int status;        /* once ended: gtcollect's exit status */
	int signal;        /* the signal that killed it, or 0 */
};
/* Call it before any thread is created: it blocks signals, which gt_child_handle_signals then
 * reads. whole: wait for all descendants. If gtcollect has children from before its exec, which
 * may live for ever, it adopts no orphans, and `alone` is about the program only. 0 or negative. */
int gt_child_init(struct gt_child *l, bool whole, struct gt_err *err);
/* Finds the file of a program as execvp does. 0, or an errno: the last file found cannot be run. */
int gt_child_find(const char *program, char path[PATH_MAX]);
/* Can this program be started? Call it before files are created or overwritten. 0; or negative
 * with l->status set. */
int gt_child_check(struct gt_child *l, const char *program, struct gt_err *err);
struct gt_child_settings {
	/* loaded by LD_PRELOAD, or, with inject, by the CUDA driver; NULL: none */
	const char *library;
	const char *session; /* the folder of the session's socket; NULL: no session */
	const char *cupti; /* the libcupti to use; NULL: the program's, or the one found by name */
	bool inject;
	uint64_t sample_period; /* of GT_RING_SAMPLES, ns; 0: not set */
	bool nvtx;              /* the library also receives the program's NVTX annotations */
	/* if not NULL: called when the process exists and waits for the return to execute the
	 * program. A negative value ends it. */
	int (*before_exec)(void *arg, pid_t pid, struct gt_err *err);
	void *before_exec_arg;
};
/* 0; or negative with l->status set to the exit status. */
int gt_child_start(struct gt_child *l, char *const *argv, const struct gt_child_settings *s,
	struct gt_err *err);
/* --inject needs CUDA_INJECTION64_PATH, which names one library: is it unset? 0 or -EINVAL. */
int gt_child_check_inject(struct gt_err *err);
/* Replaces gtcollect by the program. Returns an exit status if that fails. */
int gt_child_exec_instead(char *const *argv, const struct gt_child_settings *s, struct gt_err *err);
/* Forwards pending signals to the program, and checks whether it has ended. */
void gt_child_handle_signals(struct gt_child *l);
/* In a forked child, before it executes a program: signals are as gtcollect inherited them. */
void gt_child_inherit_signals(void);
/* Unblocks the signals, as before gt_child_init. */
void gt_child_restore_signals(void);
#endif
