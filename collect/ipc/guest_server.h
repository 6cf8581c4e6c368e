/* Server that traced processes connect to: a socket in the session's folder, and a thread that
 * accepts connections, sends the rings' memory to each process, and notes its identity. */
#ifndef GT_GUEST_SERVER_H
#define GT_GUEST_SERVER_H
#include <pthread.h>
#include "collect/ipc/shared_memory.h"
#include "collect/ipc/session_dir.h"

/* Why a process did not get the memory: it did not wait any more, or it is another user's. */
enum gt_unrecorded { GT_RECORDED, GT_UNRECORDED_LATE, GT_UNRECORDED_USER, GT_UNRECORDED_REASONS };
/* Numbers of unrecorded processes, and one of another user. */
struct gt_unrecorded_processes {
	unsigned n[GT_UNRECORDED_REASONS];
	uint32_t uid;
	char comm[16];
};

/* A connected process, as /proc shows it. */
struct gt_guest {
	int32_t host_pid, ns_pid;
	int64_t start; /* ns, CLOCK_MONOTONIC; 0 unknown */
	/* the same in clock ticks: with the pid it identifies the process */
	unsigned long long start_clock;
	bool libcuda, simulated; /* has libcuda mapped; that libcuda is the simulator's */
	uint32_t uid;            /* effective uid when it connected */
	enum gt_unrecorded unrecorded;
	char comm[16];
};
#define GT_GUESTS_MAX 1024 /* processes that have connected and were not seen in a slot yet */
struct gt_guest_server {
	struct gt_session_dir dir; /* no path: not open */
	int listen_fd, by_pid_fd;  /* by_pid_fd: -1 if another process has that name */
	int stop[2];               /* a pipe, while the thread runs */
	int memory_fd;
	pthread_t accept_thread;
	bool running;
	pthread_mutex_t accept_lock; /* held from accept until the process's identity is noted */
	pthread_mutex_t lock;        /* protects the following */
	struct gt_guest guests[GT_GUESTS_MAX];
	unsigned nguests;
	uint64_t connections;                       /* connections so far */
	unsigned unrecorded[GT_UNRECORDED_REASONS]; /* processes removed from the list */
};
/* Beside eBPF, gt_guest_server_start() starts its thread, after rights have been given up: a thread
 * has those of the thread that starts it. */
int gt_guest_server_open(struct gt_guest_server *s, const struct gt_rings *r, struct gt_err *err);
int gt_guest_server_start(struct gt_guest_server *s, struct gt_err *err); /* 0 or negative */
/* Ends the thread. Processes that connect meanwhile wait until it is started again. */
void gt_guest_server_stop(struct gt_guest_server *s);
/* Stops accepting connections and removes the folder. */
void gt_guest_server_close(struct gt_guest_server *s);
/* Takes the process with this process id (of its own namespace) from the list. False: it has not
 * connected. */
bool gt_guest_server_take_guest(struct gt_guest_server *s, int32_t ns_pid, struct gt_guest *guest);
/* Answers a process whose connection gtcollect has made, and closes it. */
void gt_guest_server_answer(struct gt_guest_server *s, int connection);
/* Adds a process that gtcollect observes from outside to the list. */
void gt_guest_server_add(struct gt_guest_server *s, const struct gt_guest *guest);
/* Counts the processes that did not get the memory and were not taken from the list: they run
 * unrecorded. Accepts waiting connections first. */
void gt_guest_server_count_unrecorded(struct gt_guest_server *s, struct gt_unrecorded_processes *m);

/* Fills in a guest from /proc/HOST_PID. False: there is no such process. */
bool gt_guest_read(int32_t host_pid, struct gt_guest *guest);
/* True: the library is the simulated GPU's; its file contains the simulator's marker. */
bool gt_is_simulator_file(const char *path);
/* Calls `each` for each thread of the process in /proc, with its id in the process's own pid
 * namespace. */
typedef void gt_guest_thread_fn(void *arg, int32_t host_tid, int32_t ns_tid);
void gt_guest_each_thread(const struct gt_guest *guest, gt_guest_thread_fn *each, void *arg);
/* The thread's present name. False: it has ended, or /proc does not show it. */
bool gt_guest_thread_name(const struct gt_guest *guest, int32_t host_tid, char name[16]);
/* The process has exited, or its pid belongs to another process now. */
bool gt_guest_has_exited(const struct gt_guest *guest);
#endif
