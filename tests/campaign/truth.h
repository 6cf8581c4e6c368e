/* The truth file of tests/campaign.sh: the traced program maps it and counts its
 * own driver calls there, without gt.
 * The counts survive a SIGKILL, because the page cache holds them. */
#ifndef TRUTH_H
#define TRUTH_H
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define TRUTH_THREADS 256
#define TRUTH_SAMPLES 1000 /* of the counts, one each 5 ms until the kill */

enum truth_kind {
	TRUTH_MAIN,
	TRUTH_COPY,
	TRUTH_LAUNCH,
	TRUTH_GRAPH,
	TRUTH_SPIN,
	TRUTH_WAIT,
	TRUTH_KINDS,
	TRUTH_CHURN,
	TRUTH_CORRUPT
};
enum truth_victim {
	VICTIM_NONE,
	VICTIM_PROGRAM,
	VICTIM_CHILD,
	VICTIM_RECORDER,
	VICTIM_RECORDER_FIRST,
	VICTIM_PROGRAM_FIRST,
	VICTIM_KINDS
};
/* clang-format off */
#define TRUTH_VICTIMS { "none", "program", "child", "recorder", \
			"recorder+program", "program+recorder" }
/* clang-format on */

struct truth_thread {
	int32_t pid, tid;
	uint32_t kind;              /* enum truth_kind */
	uint32_t leader;            /* 1: the first thread of its process */
	uint32_t done;              /* 1: it made all its calls */
	int32_t landed;             /* the driver writes here during the call; 0 before it */
	uint64_t started, returned; /* calls of the driver */
	uint64_t first_ns;          /* CLOCK_MONOTONIC just before the first */
	uint64_t base;              /* TRUTH_COPY: the device address that call 0 copies from */
	uint64_t blocked;           /* number of the call that slept at the kill; 0: none */
	uint64_t at_kill;           /* `returned` just before the kill */
};

struct truth_sample {
	uint64_t ns; /* CLOCK_MONOTONIC, read after the counts */
	uint64_t returned[TRUTH_THREADS];
};

struct truth {
	uint32_t nthreads;  /* slots taken */
	int32_t main_pid;   /* 0: a program that does not count */
	uint32_t main_done; /* 1: the program printed its result and returns from main */
	/* the killer writes the rest */
	uint32_t victim; /* enum truth_victim */
	int32_t program; /* the process that gtcollect started, when the kill came */
	int32_t victim_pid;
	uint32_t hit;                         /* 1: the victim existed when the signal was sent */
	uint32_t victim_done;                 /* 1: it was at its end already */
	int32_t recorder_signal;              /* gtcollect died by it; 0: it ended by itself */
	int32_t recorder_status, main_status; /* as a shell has them; -1: not known */
	uint32_t programs_hung;               /* 1: programs had to be killed in the end */
	uint32_t recorder_hung; /* 1: gtcollect went on after its programs had ended */
	uint32_t nsamples;
	uint64_t kill_ns;
	struct truth_thread thread[TRUTH_THREADS];
	struct truth_sample sample[TRUTH_SAMPLES];
};

static inline uint64_t truth_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline struct truth *truth_open(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct truth *t = MAP_FAILED;

	if (fd >= 0 && !ftruncate(fd, sizeof(*t)))
		t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (t == MAP_FAILED) {
		perror(path);
		exit(3);
	}
	close(fd);
	return t;
}

static inline uint32_t truth_threads(const struct truth *t)
{
	uint32_t n = __atomic_load_n(&t->nthreads, __ATOMIC_ACQUIRE);

	return n < TRUTH_THREADS ? n : TRUTH_THREADS;
}
#endif
