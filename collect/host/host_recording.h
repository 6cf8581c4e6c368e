/* What the host's threads do, from the kernel's perf events: without rights for eBPF, and where the
 * kernel permits them (perf_event_paranoid of at most 2).
 *
 * Switches: the kernel says that a thread stops running, and whether it could go on (it is
 * preempted) or waits. It does not say what it waits for, who wakes it, or since when it could run
 * again. So a wait is one row. Of a wait that lasts until gtcollect looks, /proc has the system
 * call, and so its reason; a shorter one is `other wait`.
 *
 * Samples: what threads execute, once in a period of processor time each. */
#ifndef GT_HOST_RECORDING_H
#define GT_HOST_RECORDING_H
#include <stdbool.h>
#include <sys/types.h>
#include "collect/ipc/guest_server.h"
#include "collect/ipc/ring_writer.h"
#include "collect/ipc/shared_memory.h"
#include "formats/base/err.h"

/* What a recording of switches by these lacks: a text for the user. */
#define GT_SWITCHES_MISSING                                                                        \
	"who wakes a thread, how long it waits for a processor, and reasons of waits below 1 ms (-e sched without eBPF, which needs root)"
/* The same where there are neither perf events nor eBPF. */
#define GT_ALL_SWITCHES_MISSING                                                                    \
	"when threads do not run, and why (-e sched): the kernel refuses perf events and eBPF (sysctl kernel.perf_event_paranoid=2, or a seccomp profile of the container that permits perf_event_open)"
/* What samples lack where the kernel permits them outside the kernel only. */
#define GT_SAMPLES_MISSING                                                                         \
	"samples of time in the kernel (sysctl kernel.perf_event_paranoid=1 permits them)"

/* What samples lack where the kernel refuses perf events, so that timers of the program's threads
 * take them. */
#define GT_TIMERS_MISSING                                                                          \
	"samples of threads that block signals, and of programs that cannot load the library: the kernel refuses perf events, so timers of the threads take the samples (gtcollect --doctor)"

/* What samples and waits lack where the memory of programs cannot be read. */
#define GT_MEMORY_MISSING                                                                          \
	"frames of Python, reasons and stacks of waits: the kernel refuses to read other processes (kernel.yama.ptrace_scope above 1, or a seccomp profile without process_vm_readv)"

/* The same of programs that already run, which take more rights. */
#define GT_RUNNING_MEMORY_MISSING                                                                  \
	"frames of Python, reasons and stacks of waits: the kernel refuses to read the processes of -p (as root, or with sysctl kernel.yama.ptrace_scope=0, it does not)"

struct gt_host_options {
	bool switches;
	bool only_stacks; /* with switches: eBPF writes the rows, which get stacks by this */
	unsigned rate;    /* samples for each second of processor time of a thread; 0: none */
	/* eBPF's writer of the same rings, borrowed; NULL: there is none, and this takes one */
	struct gt_ring_writer *writer;
};
/* Of samples of threads that execute Python code. */
struct gt_host_totals {
	uint64_t samples;              /* of all threads */
	uint64_t python;               /* with frames of Python */
	uint64_t cut;                  /* of these: innermost frames changed while they were read */
	uint64_t unread;               /* without: they could not be read within some ms */
	uint64_t delay, delay_longest; /* ns from the samples to the end of reading: sum, largest */
};
struct gt_host_recording;

/* Does the kernel permit switches, or samples, to this user? */
bool gt_host_allows_switches(void);
bool gt_host_allows_samples(void);
/* Are samples permitted, but only outside the kernel? */
bool gt_host_lacks_kernel_samples(void);
/* Does it permit reading the memory of a process, for frames of Python and for waits? 0: of
 * children. */
bool gt_host_reads_memory(pid_t pid);
/* new: close it. It records nothing yet. NULL: err. */
struct gt_host_recording *gt_host_open(const struct gt_host_options *opt, struct gt_rings *rings,
	struct gt_guest_server *server, struct gt_err *err);
/* pid: a child that has yet to execute its program; from then on, its threads and their children's
 * are recorded. 0 or negative. */
int gt_host_start(struct gt_host_recording *h, pid_t pid, struct gt_err *err);
/* The same of a process that already runs, from now on. -ESRCH: it has ended. */
int gt_host_attach(struct gt_host_recording *h, pid_t pid, struct gt_err *err);
void gt_host_totals(const struct gt_host_recording *h, struct gt_host_totals *t);
/* Rows that begin in this time count; ns. */
void gt_host_set_window(struct gt_host_recording *h, int64_t from, int64_t until);
/* Writes the rows of events that are some ms old to the session's rings. Returns the time until
 * which all is written, ns. */
uint64_t gt_host_drain(struct gt_host_recording *h);
/* No more events: writes the rest. Waits that have not ended end now. */
void gt_host_stop(struct gt_host_recording *h);
void gt_host_close(struct gt_host_recording *h); /* NULL is fine */
#endif
