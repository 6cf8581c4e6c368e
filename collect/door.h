/* Where traced processes come in: a directory of this session's own with a link to the library and a socket, and the usher, a
 * thread that hands the rings' memory to each process that knocks and notes who it is. */
#ifndef GT_DOOR_H
#define GT_DOOR_H
#include <pthread.h>
#include "collect/session.h"

/* A process that knocked, as /proc shows it to us. */
struct gt_guest {
	int32_t host_pid, ns_pid;
	int64_t start;			/* ns, CLOCK_MONOTONIC; 0 unknown */
	unsigned long long start_clock;	/* the same as /proc says it: with the pid, who it is */
	bool libcuda, simulated;	/* has libcuda mapped; and it is the simulator's */
	bool left;			/* it had waited too long and gone on when the memory was handed to it */
	char comm[16];
};
#define GT_GUESTS_MAX 1024	/* that knocked and have not been seen in a slot yet */
#define GT_DOOR_DIR 100
struct gt_door {
	char dir[GT_DOOR_DIR];		/* empty: not open */
	char preload[128];		/* what LD_PRELOAD must name */
	int dir_fd, listen_fd, stop[2];
	int memory_fd;
	pthread_t usher;
	bool running;
	pthread_mutex_t handing;	/* held from when somebody's knock is heard until it is noted who that is */
	pthread_mutex_t lock;		/* of the following */
	struct gt_guest guests[GT_GUESTS_MAX];
	unsigned nguests;
	uint64_t knocked;		/* all so far */
	unsigned shut_out;		/* that left and are not in the list any more */
};
/* The library to preload: $GT_GUEST, or beside the running program, or in ../lib/gt. 0 or -ENOENT. */
int gt_door_library(char *path, size_t size, struct gt_err *err);
/* Where sessions have their directories, found by making one. False where none can be made. */
bool gt_door_place(char place[GT_DOOR_DIR]);
int gt_door_open(struct gt_door *h, const struct gt_rings *r, struct gt_err *err);
/* Lets nobody in any more. The link stays as long as a running process names it, or its children could not start cleanly. */
void gt_door_close(struct gt_door *h);
/* Who knocked with this process id of its own namespace; taken from the list. False when nobody did. */
bool gt_door_guest(struct gt_door *h, int32_t ns_pid, struct gt_guest *guest);
/* How many left without the memory and were not taken from the list since: they run, and nothing of them is recorded. Whoever waits at the
 * door by then is let in before. */
unsigned gt_door_shut_out(struct gt_door *h);

/* Fills in a guest from /proc/HOST_PID. False when there is no such process. */
bool gt_guest_look(int32_t host_pid, struct gt_guest *guest);
/* Is this library of the simulated GPU? The simulator's marker is looked for in its bytes. */
bool gt_simulator_file(const char *path);
/* Is the process gone (or another one by now)? */
bool gt_guest_gone(const struct gt_guest *guest);
#endif
