/* Where traced processes come in: a socket in the session's folder, and the usher, a
 * thread that hands the rings' memory to each process that knocks and notes who it is. */
#ifndef GT_GUEST_SERVER_H
#define GT_GUEST_SERVER_H
#include <pthread.h>
#include "collect/ipc/shared_memory.h"
#include "collect/ipc/session_dir.h"

/* Why a process did not get the memory: it had waited too long and gone on; or it is another
 * user's. */
enum gt_unrecorded { GT_RECORDED, GT_UNRECORDED_LATE, GT_UNRECORDED_USER, GT_UNRECORDED_REASONS };
/* How many run without being recorded, and one of those of other users. */
struct gt_unrecorded_processes { unsigned n[GT_UNRECORDED_REASONS]; uint32_t uid; char comm[16]; };

/* A process that knocked, as /proc shows it to us. */
struct gt_guest {
	int32_t host_pid, ns_pid;
	int64_t start;			/* ns, CLOCK_MONOTONIC; 0 unknown */
	unsigned long long start_clock;	/* the same as /proc says it: with the pid, who it is */
	bool libcuda, simulated;	/* has libcuda mapped; and it is the simulator's */
	uint32_t uid;			/* effective, when it knocked */
	enum gt_unrecorded unrecorded;
	char comm[16];
};
#define GT_GUESTS_MAX 1024	/* that knocked and have not been seen in a slot yet */
struct gt_guest_server {
	struct gt_session_dir dir;	/* no path: not open */
	int listen_fd, by_pid_fd, stop[2];	/* by_pid_fd: -1 where another has that name */
	int memory_fd;
	pthread_t accept_thread;
	bool running;
	pthread_mutex_t accept_lock;	/* held from when somebody's knock is heard until it is noted who that is */
	pthread_mutex_t lock;		/* of the following */
	struct gt_guest guests[GT_GUESTS_MAX];
	unsigned nguests;
	uint64_t connections;		/* all so far */
	unsigned unrecorded[GT_UNRECORDED_REASONS];	/* that are not in the list any more */
};
int gt_guest_server_open(struct gt_guest_server *h, const struct gt_rings *r, struct gt_err *err);
/* Accepts no more connections, and removes the folder. */
void gt_guest_server_close(struct gt_guest_server *h);
/* Who knocked with this process id of its own namespace; taken from the list. False when nobody did. */
bool gt_guest_server_take_guest(struct gt_guest_server *h, int32_t ns_pid, struct gt_guest *guest);
/* Processes that did not get the memory and were not taken from the list since: they run, and nothing
 * of them is recorded. Connections that wait are accepted first. */
void gt_guest_server_unrecorded(struct gt_guest_server *h, struct gt_unrecorded_processes *m);

/* Fills in a guest from /proc/HOST_PID. False when there is no such process. */
bool gt_guest_read(int32_t host_pid, struct gt_guest *guest);
/* Is this library of the simulated GPU? The simulator's marker is looked for in its bytes. */
bool gt_is_simulator_file(const char *path);
/* The threads of the process as /proc has them, with their ids in the process's own pid namespace. */
typedef void gt_guest_thread_fn(void *arg, int32_t host_tid, int32_t ns_tid);
void gt_guest_each_thread(const struct gt_guest *guest, gt_guest_thread_fn *each, void *arg);
/* The thread's name now. False: it ended, or /proc does not show it. */
bool gt_guest_thread_name(const struct gt_guest *guest, int32_t host_tid, char name[16]);
/* Has the process exited (or is it another one by now)? */
bool gt_guest_has_exited(const struct gt_guest *guest);
#endif
