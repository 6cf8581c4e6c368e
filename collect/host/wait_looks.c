#define _GNU_SOURCE
#include "collect/host/wait_looks.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "collect/host/remote_interpreter.h"
#include "collect/host/wait_reason.h"
#include "formats/base/buf.h"
#include "formats/base/map.h"
#include "formats/trace/clock.h"

#define MS 1000000u
#define FIRST_LOOK (MS / 2) /* ns of a wait before it is looked at */
#define SECOND_LOOK (10 * MS)
#define SAME_WAIT 50000u    /* ns that a thread runs after a timeout, before it waits again */
#define TIMEOUT_LATE MS     /* ns that a thread may run after its timeout */
#define CHAIN_LEAST 200000u /* ns of a wait; the next one that soon is looked at sooner */
#define QUIET (20 * MS)     /* without switches, the next look is later */
/* Looks take at most a twentieth of a processor. Stacks of short waits are read only while more
 * than half of BUDGET_MOST (ns) is left. */
#define BUDGET_SHARE 20
#define BUDGET_MOST (10 * (int64_t)MS)
#define DEBT_MOST ((int64_t)MS) /* the search for an interpreter takes longer, once */
#define STACK_BYTES 65536u      /* so much of a stack is read, at most */
#define FILES_MAX 256u          /* open files of /proc */

struct waiting {
	uint32_t tid; /* the key */
	uint32_t tgid;
	uint64_t changed; /* ns: of the last switch */
	uint64_t since;   /* ns: it waits; 0: it runs, or could run */
	uint64_t chain;   /* ns: waits with little running between began then */
	/* the last wait was one for the GIL: when it began; how long such a wait lasts */
	uint64_t gil_since, gil_interval, gil_futex;
	bool gil_timed_out;     /* that wait ended by its timeout at `changed` */
	bool gil_goes_on;       /* the wait seems to be the next one for the GIL */
	uint64_t stack_pointer; /* in the last wait for the GIL whose stack was read */
	int syscall_fd;         /* of its file `syscall`, or -1 */
	uint32_t holder;
	int32_t system_call;
};
struct due {
	uint32_t tid;
	uint64_t since; /* of the wait */
};
struct queue { /* by time */
	struct due *list;
	size_t first, n, cap;
};
enum { FIRST, SECOND, QUEUES };
/* The numbers of a line of `syscall`: the call, its arguments, stack pointer, program counter. */
enum { CALL, ARGUMENT, STACK_POINTER = 7, COUNTER, NUMBERS };
#define NO_CALL UINT64_MAX

struct gt_wait_looks {
	struct gt_map map;
	struct waiting *threads;
	size_t nthreads, threads_cap;
	struct queue queues[QUEUES];
	unsigned files;
	uint64_t last_switch, budget_at;
	int64_t budget; /* ns */
	uint8_t memory[STACK_BYTES];
	pthread_mutex_t lock;
	struct list {
		struct gt_thread_look **looks;
		size_t n, cap;
	} done, taken;
};

static uint64_t now(void) { return (uint64_t)gt_clock_monotonic(); }

/* ns of processor time of this thread */
static int64_t time_spent(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* ---- switches ---- */

static struct waiting *thread_of(struct gt_wait_looks *l, uint32_t tid)
{
	uint32_t i = gt_map_find_item(&l->map, l->threads, sizeof(*l->threads), &tid, sizeof(tid));

	return i == UINT32_MAX ? NULL : &l->threads[i];
}

static void add_due(struct gt_wait_looks *l, unsigned queue, uint32_t tid, uint64_t since)
{
	struct queue *q = &l->queues[queue];

	if (q->first && q->first >= q->n / 2) {
		q->n -= q->first;
		memmove(q->list, q->list + q->first, q->n * sizeof(*q->list));
		q->first = 0;
	}
	if (!gt_grow(&q->list, &q->cap, q->n + 1, sizeof(*q->list)))
		q->list[q->n++] = (struct due){ tid, since };
}

static void free_look(struct gt_thread_look *look)
{
	free(look->memory);
	free(look->python);
	free(look);
}

/* Takes what the look points to. */
static void add_look(struct gt_wait_looks *l, const struct gt_thread_look *look)
{
	struct gt_thread_look *new = malloc(sizeof(*new));

	if (!new) {
		free(look->memory);
		free(look->python);
		return;
	}
	*new = *look;
	pthread_mutex_lock(&l->lock);
	if (gt_grow(&l->done.looks, &l->done.cap, l->done.n + 1, sizeof(new)))
		free_look(new);
	else
		l->done.looks[l->done.n++] = new;
	pthread_mutex_unlock(&l->lock);
}

/* Only with space for the frames that there are. new; NULL: no memory */
static struct gt_remote_stack *copy_stack(const struct gt_remote_stack *from)
{
	const size_t n = offsetof(struct gt_remote_stack, frames) + from->n * sizeof(*from->frames);
	void *to = malloc(n);

	return to ? memcpy(to, from, n) : NULL;
}

/* The wait ends before a look, as it seems. */
static void expect_gil(struct gt_wait_looks *l, const struct waiting *t)
{
	const struct gt_thread_look look = { .tgid = t->tgid,
		.tid = t->tid,
		.from = t->since + 1,
		.until = t->since + 1,
		.stack_until = t->since + 1,
		.state = GT_SCHED_GIL,
		.system_call = t->system_call,
		.holder = t->holder,
		.is_expected = true,
		.repeats = true };

	add_look(l, &look);
}

static void begin_wait(struct gt_wait_looks *l, struct waiting *t, uint64_t at)
{
	const bool is_soon = at - t->changed < SAME_WAIT;

	t->since = at;
	t->chain = is_soon && t->chain ? t->chain : at;
	t->gil_goes_on = t->gil_timed_out && is_soon;
	if (t->gil_goes_on)
		expect_gil(l, t);
	add_due(l, FIRST, t->tid, at);
}

/* CPython waits for the GIL with a timeout, again and again. */
static void end_wait(struct waiting *t, uint64_t at)
{
	const uint64_t ns = at - t->since, interval = t->gil_interval;

	if (ns < CHAIN_LEAST)
		t->chain = 0;
	t->gil_timed_out = t->gil_since == t->since && ns >= interval - interval / 16 &&
		ns < interval + TIMEOUT_LATE;
	t->since = 0;
}

void gt_wait_looks_switch(struct gt_wait_looks *l, const struct gt_perf_record *e)
{
	const struct waiting new = { .tid = e->tid, .syscall_fd = -1 };
	struct waiting *t = thread_of(l, e->tid);

	l->last_switch = e->time > l->last_switch ? e->time : l->last_switch;
	if (!t) {
		uint32_t i = gt_map_add_item(&l->map, &l->threads, &l->nthreads, &l->threads_cap,
			sizeof(new), &new, sizeof(new.tid));

		if (i == UINT32_MAX)
			return;
		t = &l->threads[i];
	}
	if (e->time < t->changed) /* rings of processors are read one after the other */
		return;
	t->tgid = e->tgid;
	if (t->since)
		end_wait(t, e->time);
	if ((e->misc & PERF_RECORD_MISC_SWITCH_OUT) &&
		!(e->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT))
		begin_wait(l, t, e->time);
	else if (e->misc & PERF_RECORD_MISC_SWITCH_OUT)
		t->gil_timed_out = false;
	t->changed = e->time;
}

static void close_file(struct gt_wait_looks *l, struct waiting *t)
{
	if (t->syscall_fd < 0)
		return;
	close(t->syscall_fd);
	t->syscall_fd = -1;
	l->files--;
}

void gt_wait_looks_forget(struct gt_wait_looks *l, uint32_t tid)
{
	struct waiting *t = thread_of(l, tid);

	if (!t)
		return;
	close_file(l, t);
	gt_map_remove_item(&l->map, l->threads, &l->nthreads, sizeof(*t),
		(uint32_t)(t - l->threads), sizeof(tid));
}

/* ---- looks ---- */

/* Opens it once: that takes longer than reading it. Returns the number of bytes. */
static ssize_t read_file(struct gt_wait_looks *l, struct waiting *t, char *to, size_t size)
{
	char path[64];
	int fd = t->syscall_fd;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/syscall", t->tgid, t->tid);
	if (fd < 0)
		fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : pread(fd, to, size - 1, 0);
	if (t->syscall_fd < 0 && fd >= 0 && l->files < FILES_MAX) {
		t->syscall_fd = fd;
		l->files++;
	} else if (t->syscall_fd < 0 && fd >= 0) {
		close(fd);
	}
	to[n > 0 ? n : 0] = 0;
	return n;
}

/* Reads in which system call a thread waits; NO_CALL and no arguments: in none. False: it runs, or
 * may not be read. */
static bool read_call(struct gt_wait_looks *l, struct waiting *t, uint64_t numbers[NUMBERS])
{
	char line[256], *at = line, *end;

	memset(numbers, 0, NUMBERS * sizeof(*numbers));
	if (read_file(l, t, line, sizeof(line)) <= 0)
		return false;
	for (unsigned i = 0; i < NUMBERS; i++, at = end) {
		numbers[i] = (uint64_t)strtoull(at, &end, 0);
		if (end == at)
			return false; /* "running" */
		if (!i && numbers[CALL] == NO_CALL)
			i = STACK_POINTER - 1;
	}
	return true;
}

/* Outside of system calls a thread waits for memory, or is stopped. */
static enum gt_sched_state state_outside(const struct waiting *t)
{
	char path[64], line[256] = "", *at;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/stat", t->tgid, t->tid);
	f = fopen(path, "re");
	at = f && fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	if (f)
		fclose(f);
	return at && !strncmp(at, ") D", 3) ? GT_SCHED_FAULT : GT_SCHED_OTHER;
}

static enum gt_sched_state state_of(const struct waiting *t, const uint64_t numbers[NUMBERS])
{
	enum gt_sched_state state = gt_wait_reason((int64_t)numbers[CALL]), one;
	uint64_t entry = 0;

	if (numbers[CALL] == NO_CALL)
		return state_outside(t);
	if (gt_wait_reads((int64_t)numbers[CALL]))
		return gt_wait_of_file(t->tgid, t->tid, numbers[ARGUMENT]);
	/* one file, for input: struct pollfd has an int, and the events as a short */
	if (!gt_wait_polls((int64_t)numbers[CALL]) || numbers[ARGUMENT + 1] != 1 ||
		gt_read_process(t->tgid, numbers[ARGUMENT], &entry, sizeof(entry)) ||
		!(entry >> 32 & 1))
		return state;
	one = gt_wait_of_file(t->tgid, t->tid, entry & INT32_MAX);
	return one == GT_SCHED_IO ? state : one;
}

/* Is it a wait for the GIL? Then *look has its holder. */
static bool find_gil(struct gt_wait_looks *l, struct waiting *t, struct gt_remote_python *python,
	const uint64_t numbers[NUMBERS], struct gt_thread_look *look)
{
	const uint64_t futex = numbers[ARGUMENT];

	if (look->state != GT_SCHED_FUTEX)
		return false;
	if (t->gil_goes_on && t->gil_futex == futex && l->budget < BUDGET_MOST / 2)
		look->holder = t->holder;
	else if (!gt_remote_python_gil(python, t->tgid, futex, &look->holder, &t->gil_interval))
		return false;
	t->gil_futex = futex;
	look->state = GT_SCHED_GIL;
	look->holder = look->holder == t->tid ? 0 : look->holder;
	t->gil_since = t->since;
	t->holder = look->holder;
	t->system_call = look->system_call;
	return true;
}

static void copy_memory(struct gt_wait_looks *l, struct gt_thread_look *look)
{
	look->memory_bytes =
		gt_read_process_part(look->tgid, look->stack_pointer, l->memory, sizeof(l->memory));
	look->memory = malloc(look->memory_bytes + 1);
	if (look->memory)
		memcpy(look->memory, l->memory, look->memory_bytes);
	else
		look->memory_bytes = 0;
}

/* False: it should be looked at later. */
static bool look_at(struct gt_wait_looks *l, struct waiting *t, struct gt_remote_python *python,
	bool with_stack)
{
	struct gt_thread_look head = { .tgid = t->tgid, .tid = t->tid, .from = now() };
	uint64_t numbers[NUMBERS];
	struct gt_remote_stack stack;
	bool is_gil;

	if (!read_call(l, t, numbers))
		return false;
	head.until = now();
	head.system_call = (int32_t)numbers[CALL];
	head.stack_pointer = numbers[STACK_POINTER];
	head.pc = numbers[COUNTER];
	head.state = state_of(t, numbers);
	is_gil = find_gil(l, t, python, numbers, &head);
	head.repeats = is_gil && t->gil_goes_on && t->stack_pointer == numbers[STACK_POINTER];
	if (head.repeats) {
		head.stack_until = head.until;
		with_stack = false;
	} else if (with_stack) {
		gt_remote_python_stack(python, t->tgid, t->tid, &stack);
		head.python = copy_stack(&stack);
		copy_memory(l, &head);
		head.stack_until = now();
		t->stack_pointer = is_gil ? numbers[STACK_POINTER] : 0;
	}
	add_look(l, &head);
	return head.stack_until;
}

static void refill(struct gt_wait_looks *l, uint64_t at)
{
	uint64_t passed = l->budget_at ? at - l->budget_at : BUDGET_SHARE * (uint64_t)BUDGET_MOST;

	l->budget += (int64_t)(passed / BUDGET_SHARE);
	l->budget = l->budget < BUDGET_MOST ? l->budget : BUDGET_MOST;
	l->budget_at = at;
}

/* Looks at the thread that is due. False: none is, or the time for looks is used up. */
static bool look_at_next(struct gt_wait_looks *l, unsigned queue, struct gt_remote_python *python,
	pthread_mutex_t *lock)
{
	struct queue *q = &l->queues[queue];
	const struct due *next = q->first < q->n ? &q->list[q->first] : NULL;
	const uint64_t at = now(), wait = queue == FIRST ? FIRST_LOOK : SECOND_LOOK;
	struct waiting *t = next ? thread_of(l, next->tid) : NULL;
	bool with_stack = queue == SECOND || l->budget > BUDGET_MOST / 2, is_done;

	if (!next)
		return false;
	if (t && t->since == next->since) {
		const uint64_t from = queue == FIRST ? t->chain : t->since;
		const int64_t before = time_spent();

		if (l->budget <= 0 || at - from < wait)
			return false;
		pthread_mutex_lock(lock);
		is_done = look_at(l, t, python, with_stack);
		pthread_mutex_unlock(lock);
		l->budget -= time_spent() - before;
		l->budget = l->budget > -DEBT_MOST ? l->budget : -DEBT_MOST;
		if (!is_done && queue == FIRST)
			add_due(l, SECOND, t->tid, t->since);
	}
	l->queues[queue].first++;
	return true;
}

int gt_wait_looks_run(
	struct gt_wait_looks *l, struct gt_remote_python *python, pthread_mutex_t *lock)
{
	const uint64_t at = now();

	refill(l, at);
	for (unsigned i = 0; i < QUEUES; i++)
		while (look_at_next(l, i, python, lock))
			;
	return at - l->last_switch < QUIET ? 1 : 10;
}

/* ---- interface ---- */

static void clear(struct list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free_look(list->looks[i]);
	list->n = 0;
}

struct gt_thread_look *const *gt_wait_looks_take(struct gt_wait_looks *l, size_t *n)
{
	struct list done;

	clear(&l->taken);
	pthread_mutex_lock(&l->lock);
	done = l->done;
	l->done = l->taken;
	l->taken = done;
	pthread_mutex_unlock(&l->lock);
	*n = done.n;
	return done.looks;
}

struct gt_wait_looks *gt_wait_looks_new(void)
{
	struct gt_wait_looks *l = calloc(1, sizeof(*l));

	if (l)
		pthread_mutex_init(&l->lock, NULL);
	return l;
}

void gt_wait_looks_free(struct gt_wait_looks *l)
{
	if (!l)
		return;
	while (l->nthreads)
		gt_wait_looks_forget(l, l->threads[l->nthreads - 1].tid);
	clear(&l->done);
	clear(&l->taken);
	free(l->done.looks);
	free(l->taken.looks);
	for (unsigned i = 0; i < QUEUES; i++)
		free(l->queues[i].list);
	gt_map_release(&l->map);
	free(l->threads);
	free(l);
}
