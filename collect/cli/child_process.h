/* Starts the program, forwards the signals that are sent to gtcollect, and exits as the program
 * exits. */
#ifndef GT_CHILD_PROCESS_H
#define GT_CHILD_PROCESS_H
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>
#include "formats/base/err.h"

/* our own failure; 126: found but cannot run; 127: not found; 128+n: killed by signal n */
#define GT_EXIT_OWN 125

struct gt_child {
	pid_t pid;
	int signals; /* signalfd: readable when gt_child_handle_signals has something to do */
	bool ended;
	/* orphans of the tree become our children, so that all can be waited for */
	bool adopts;
	bool alone;       /* no child is left; with adopts: no process of the tree is left */
	unsigned ends[2]; /* HUP, INT, QUIT, TERM seen: [0] as the program ran, [1] without */
	int status;       /* exit status to pass on, once ended */
	int signal;       /* that killed it, or 0 */
};
/* Before any thread is made: from here on signals wait to be looked at. whole: the end of all
 * descendants matters. Children that we were started with (by an exec) may live for ever; then
 * there is no adoption, and alone speaks of the program only. 0 or negative. */
int gt_child_init(struct gt_child *l, bool whole, struct gt_err *err);
/* Could this program be started? To be asked before anything is made or replaced for it. 0; or
 * negative with l->status set. */
int gt_child_check(struct gt_child *l, const char *program, struct gt_err *err);
struct gt_child_settings {
	const char *library; /* for LD_PRELOAD, or, with inject, for the CUDA driver */
	const char *session; /* the folder of the session's socket; NULL: there is none */
	const char *cupti;   /* the library for it to use; NULL: none in particular */
	bool inject;
	bool nvtx; /* the program's annotations are to go to the library, too */
};
/* 0; or negative with l->status the exit status to use. */
int gt_child_start(struct gt_child *l, char *const *argv, const struct gt_child_settings *s,
	struct gt_err *err);
/* Is the variable free by which a CUDA driver loads a library, one in all? 0 or -EINVAL. */
int gt_child_check_inject(struct gt_err *err);
/* Makes this process the program. Returns the exit status, if at all. */
int gt_child_exec_instead(char *const *argv, const struct gt_child_settings *s, struct gt_err *err);
/* Forwards the signals that were sent to gtcollect, and notices the program's end. */
void gt_child_handle_signals(struct gt_child *l);
/* Signals have their effect on us again, as before gt_child_init. */
void gt_child_restore_signals(void);
#endif
