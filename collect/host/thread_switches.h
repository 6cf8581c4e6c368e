/* When threads do not run, from the kernel's perf events: without rights for eBPF, and where the
 * kernel permits them (perf_event_paranoid of at most 2).
 *
 * The kernel says that a thread stops to run, and whether it could go on (it is preempted) or
 * waits. It does not say what it waits for, who wakes it, or since when it could run again. So a
 * wait is one row. Of a wait that lasts until gtcollect looks, /proc has the system call, and so
 * its reason; a shorter one is `other wait`. */
#ifndef GT_THREAD_SWITCHES_H
#define GT_THREAD_SWITCHES_H
#include <stdbool.h>
#include <sys/types.h>
#include "collect/ipc/guest_server.h"
#include "collect/ipc/shared_memory.h"
#include "formats/base/err.h"

/* What a recording by these lacks: a text for the user. */
#define GT_SWITCHES_MISSING                                                                        \
	"who wakes a thread, how long it waits for a processor, and reasons of waits below 10 ms (-e sched without eBPF, which needs root)"

struct gt_thread_switches;

/* Does the kernel permit them to this user? */
bool gt_thread_switches_are_allowed(void);
/* new: close it. pid: a child that has yet to execute its program; from then on, its threads and
 * their children's are recorded. NULL: err. */
struct gt_thread_switches *gt_thread_switches_open(
	pid_t pid, struct gt_rings *rings, struct gt_guest_server *server, struct gt_err *err);
/* Rows that begin in this time count; ns. */
void gt_thread_switches_set_window(struct gt_thread_switches *s, int64_t from, int64_t until);
/* Writes the rows of what is some ms old to the session's rings. */
void gt_thread_switches_drain(struct gt_thread_switches *s);
/* No more events: writes the rest. Waits that have not ended end now. */
void gt_thread_switches_stop(struct gt_thread_switches *s);
void gt_thread_switches_close(struct gt_thread_switches *s); /* NULL is fine */
#endif
