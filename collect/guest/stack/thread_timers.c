/* The handler of a sample runs in the sampled thread, which may be anywhere: inside malloc, in the
 * loader, in a wrapper of ours, on a small stack. All signals are blocked meanwhile. It takes no
 * lock, allocates nothing, and starts no thread (gt_interrupted).
 *
 * RING. A sample is a record in the thread's own ring. The handler must not write there while the
 * interrupted code writes a record (GT_COMMITTING), gives a stack its number (gt_stack_take), or
 * registers the thread (gt_inside). Then the frames are read at once, and the record is written by
 * the next sample of this thread, or when the thread ends, with the time at which the frames were
 * read. If another sample comes before that, its time is in a record without a stack. The wrappers
 * do nothing for all this.
 *
 * THREADS. The first thread gets its timer when the library is loaded, others in a replaced
 * pthread_create, and the only thread of a forked child in a handler of fork. The kernel deletes no
 * timer of a thread that has ended, so a destructor of thread-specific data does. vfork's children
 * have no timers, and an exec deletes all.
 *
 * SIGNAL. It is a real-time signal near the end of their range that has its default action. If the
 * program sets an action for it later, reads it by a descriptor, or limits its own system calls,
 * all timers are deleted first. Where the program waits for it, those of the timers are ignored. */
#define _GNU_SOURCE
#include "collect/guest/stack/timers_internal.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include "collect/guest/core/guest_elf.h"
#include "collect/guest/stack/python_frames.h"
#include "collect/guest/stack/stack_table.h"
#include "collect/guest/stack/unwind_rules.h"

#define SIGNALS 16u   /* the last ones, among which one is chosen */
#define TIMERS 16384u /* threads at a time */
#define NONE UINT32_MAX

/* Of this process; the kernel clears it in a forked child. */
static struct timers {
	uint32_t next;
	int32_t id[TIMERS];      /* the kernel's number plus 1; 0: free */
	int32_t blocked[TIMERS]; /* the thread's id: it counts as one that blocks the signal */
} * timers;
static uint64_t period; /* ns */
static int32_t process; /* its id; a child of vfork has the same memory, but another id */
int gt_timer_signal;
static uint32_t key;      /* of thread-specific data; set: the thread has a timer */
static const char marker; /* its address is the value of our signals */

/* Of a thread. */
static __thread struct {
	uint32_t place; /* in the table, plus 1; 0: it has no timer */
	bool has_blocked;
	uint64_t next; /* processor time of the next sample, ns */
	/* samples without a record yet: one with frames, others without. ns; 0: none */
	uint64_t framed, framed_at, bare, bare_at;
} own GT_TLS;

static struct {
	int (*set_specific)(pthread_key_t, const void *);
	int (*action)(int, const struct sigaction *, struct sigaction *);
} libc;

/* Failures before the process has connected. */
static struct gt_sampling_failures early;
#define COUNT(what)                                                                                \
	__atomic_fetch_add(                                                                        \
		gt_shared ? &gt_shared->unsampled.what : &early.what, 1, __ATOMIC_RELAXED)

static void count_early(void)
{
	__atomic_fetch_add(&gt_shared->unsampled.refused, early.refused, __ATOMIC_RELAXED);
	__atomic_fetch_add(&gt_shared->unsampled.blocked, early.blocked, __ATOMIC_RELAXED);
	__atomic_fetch_add(&gt_shared->unsampled.taken, early.taken, __ATOMIC_RELAXED);
	__atomic_fetch_add(&gt_shared->unsampled.limited, early.limited, __ATOMIC_RELAXED);
	early = (struct gt_sampling_failures){ 0 };
}

/* ---- records ---- */

static void put(struct gt_tcb *t, uint64_t at, uint64_t ns, uint32_t stack)
{
	const struct gt_ev_sample e = { .period = ns, .stack = stack };

	if (!gt_ring_put_event(t, GT_EV_TIMER_SAMPLE, at, at, &e, sizeof(e)))
		gt_ring_count_drop(t, at, at);
}

static void put_earlier(struct gt_tcb *t)
{
	if (own.framed)
		put(t, own.framed_at, own.framed, gt_stack_number_sample(t, NULL));
	if (own.bare)
		put(t, own.bare_at, own.bare, 0);
	own.framed = own.bare = 0;
}

static void add_bare(uint64_t at, uint64_t ns)
{
	own.bare += ns;
	own.bare_at = at;
}

/* May this thread's ring be written, and may the thread get one? at: see gt_stack_read_sample. A
 * wrapper expects a handler between any two of its instructions, but not that the thread gets a
 * ring. */
static bool may_write(struct gt_tcb *t, const uintptr_t at[3])
{
	return !gt_inside && !(t->depth & GT_COMMITTING) && !gt_stack_is_running(t, at[1]) &&
		(t->ring || !gt_is_guest_code((void *)at[0]));
}

/* Was the thread interrupted behind the system call rt_sigprocmask? If the signal is late, that
 * call has unblocked it. */
static bool has_unblocked(const mcontext_t *m)
{
#ifdef __x86_64__
	static const uint8_t call[] = { 0x0f, 0x05 };
	const uintptr_t at = (uintptr_t)m->gregs[REG_RIP] - sizeof(call);
	/* the first and the last of its arguments: how, and the bytes of a set */
	const bool is_mask = (uint64_t)m->gregs[REG_RDI] <= SIG_SETMASK && m->gregs[REG_R10] == 8;
#else
	static const uint8_t call[] = { 0x01, 0x00, 0x00, 0xd4 };
	const uintptr_t at = m->pc - sizeof(call);
	const bool is_mask = m->regs[8] == SYS_rt_sigprocmask;
#endif
	return is_mask && gt_readable_now(at) && !memcmp((const void *)at, call, sizeof(call));
}

static void take(struct gt_tcb *t, bool can_write, uint64_t ns, const uintptr_t at[3])
{
	uint64_t now = gt_now(t);

	if (can_write)
		put_earlier(t);
	if (own.framed || !gt_stack_read_sample(t, at, !can_write)) {
		add_bare(now, ns);
	} else if (can_write) {
		put(t, now, ns, gt_stack_number_sample(t, at));
	} else {
		own.framed = ns;
		own.framed_at = now;
	}
}

/* ns: the processor time since the last sample; of this, `blocked` passed while the signal was. */
static void take_sample(uint64_t ns, uint64_t blocked, const uintptr_t at[3])
{
	struct gt_tcb *t = gt_self;
	bool can_write = may_write(t, at);

	if (blocked && !own.has_blocked) {
		COUNT(blocked);
		own.has_blocked = true;
		timers->blocked[own.place - 1] = gt_own_tid();
	}

	if (!t->ring && can_write)
		t = gt_register_thread();
	if (!t || !t->ring || !gt_shared->sample_period ||
		!__atomic_load_n(&gt_shared->recording, __ATOMIC_RELAXED))
		return;
	if (blocked)
		add_bare(gt_now(t), blocked);
	take(t, can_write, ns - blocked, at);
}

/* ---- the signal ---- */

bool gt_is_timer_signal(const siginfo_t *info)
{
	return info->si_code == SI_TIMER && info->si_value.sival_ptr == (const void *)&marker;
}

/* Another process or thread has sent it. By default it ends the process. */
static void act_by_default(int number)
{
	const struct sigaction none = { .sa_handler = SIG_DFL };

	libc.action(number, &none, NULL);
	syscall(SYS_tgkill, gt_own_pid(), gt_own_tid(), number);
}

static void handle(int number, siginfo_t *info, void *context)
{
	const mcontext_t *m = &((ucontext_t *)context)->uc_mcontext;
#ifdef __x86_64__
	const uintptr_t at[3] = { (uintptr_t)m->gregs[REG_RIP] + 1, (uintptr_t)m->gregs[REG_RSP],
		(uintptr_t)m->gregs[REG_RBP] };
#else
	const uintptr_t at[3] = { m->pc + 1, m->sp, m->regs[29] };
#endif
	const uint64_t ns = (1 + (uint64_t)(uint32_t)info->si_overrun) * period,
		       reach = period > GT_SAMPLE_REACH ? period : GT_SAMPLE_REACH;
	int saved = errno;

	if (!gt_is_timer_signal(info)) {
		act_by_default(number);
	} else if (gt_timer_signal && own.place) {
		gt_interrupted = true;
		own.next += ns;
		take_sample(ns, ns > reach && has_unblocked(m) ? ns - reach : 0, at);
		gt_interrupted = false;
	}
	errno = saved;
}

/* Chooses the signal. False: all have actions. */
static bool install_handler(void)
{
	struct sigaction act = { .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK }, old;
	const int last = SIGRTMAX;
	uint32_t from = (uint32_t)gt_monotonic() / 1000;

	act.sa_sigaction = handle;
	/* all of them: sigfillset leaves out the one that cancels a thread */
	memset(&act.sa_mask, 0xff, sizeof(act.sa_mask));
	for (uint32_t i = 0; i < SIGNALS; i++) {
		int number = last - (int)((from + i) % SIGNALS);

		if (libc.action(number, NULL, &old) || old.sa_handler != SIG_DFL)
			continue;
		if (libc.action(number, &act, NULL))
			continue;
		gt_timer_signal = number;
		return true;
	}
	return false;
}

/* The program may have set an action without libc. */
static bool has_handler(int number)
{
	struct sigaction now;

	return !libc.action(number, NULL, &now) && now.sa_sigaction == handle;
}

/* ---- timers ---- */

/* A moment of the first period, so that a thread that ends before has a sample with the right
 * probability. */
static uint64_t first_expiry(void)
{
	uint64_t x = (gt_monotonic() ^ (uint64_t)gt_own_tid() << 32) * 0x9e3779b97f4a7c15ull;

	return (x >> 32) % period + 1;
}

static uint64_t processor_time(void)
{
	struct timespec t = { 0, 0 };

	syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){ (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
}

static uint32_t take_place(int32_t id)
{
	for (uint32_t i = 0; i < TIMERS; i++) {
		uint32_t place = __atomic_fetch_add(&timers->next, 1, __ATOMIC_RELAXED) % TIMERS;
		int32_t none = 0;

		if (__atomic_compare_exchange_n(&timers->id[place], &none, id + 1, false,
			    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return place;
	}
	return NONE;
}

static void delete_timer(uint32_t place)
{
	int32_t id = __atomic_exchange_n(&timers->id[place], 0, __ATOMIC_ACQ_REL);

	if (id)
		syscall(SYS_timer_delete, id - 1);
}

void gt_start_timer(void)
{
	const int number = gt_timer_signal;
	struct sigevent how = { .sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = number,
		.sigev_value.sival_ptr = (void *)&marker };
	uint64_t first = first_expiry();
	const struct itimerspec every = { timespec_of(period), timespec_of(first) };
	uint32_t place = NONE;
	int32_t id;

	if (!number || !has_handler(number))
		return;
	own.next = processor_time() + first;
	how._sigev_un._tid = gt_own_tid();
	if (!syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &how, &id)) {
		place = take_place(id);
		if (place == NONE)
			syscall(SYS_timer_delete, id);
	}
	if (place == NONE) {
		COUNT(refused);
		return;
	}
	own.place = place + 1;
	libc.set_specific(key, &own);
	if (gt_timer_signal)
		syscall(SYS_timer_settime, id, 0, &every, NULL);
	else /* step_back has not seen it */
		delete_timer(place);
}

static bool is_pending(int number)
{
	uint64_t pending = 0;

	return !syscall(SYS_rt_sigpending, &pending, sizeof(pending)) &&
		pending >> (number - 1) & 1;
}

/* The time of samples that came too late for this thread. */
static void add_missed(void)
{
	uint64_t now = processor_time();
	struct gt_tcb *t = gt_self;

	if (now < own.next)
		return;
	if (!t->ring && !gt_inside)
		t = gt_register_thread();
	if (t && t->ring && gt_shared->sample_period &&
		__atomic_load_n(&gt_shared->recording, __ATOMIC_RELAXED))
		add_bare(gt_now(t), ((now - own.next) / period + 1) * period);
}

/* The thread ends. */
static void end_thread(void *unused)
{
	struct gt_tcb *t;
	uint32_t place = own.place;
	int number = gt_timer_signal;

	(void)unused;
	own.place = 0; /* the handler does nothing from now on */
	if (!place || !number)
		return;
	delete_timer(place - 1);
	if (is_pending(number) && !own.has_blocked)
		COUNT(blocked);
	timers->blocked[place - 1] = 0;
	add_missed();
	t = gt_self;
	if (t->ring && !gt_inside && !(t->depth & GT_COMMITTING))
		put_earlier(t);
}

/* Does the signal wait for this thread? That is so if it blocks the signal. */
static bool blocks_signal(const char *tid, int number)
{
	static char path[64], status[4096]; /* of one thread, which ends the process */
	char *end = path + sizeof(path), *at = gt_append(path, end, "/proc/self/task/");
	uint64_t set = 0;

	gt_append(gt_append(at, end, tid), end, "/status");
	gt_read_text(path, status, sizeof(status));
	at = strstr(status, "SigPnd:\t");
	for (at = at ? at + 8 : status + strlen(status); *at && *at != '\n'; at++)
		set = set << 4 | (uint64_t)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
	return set >> (number - 1) & 1;
}

static uint64_t number_of(const char *text)
{
	uint64_t n = 0;

	for (; text && *text >= '0' && *text <= '9'; text++)
		n = n * 10 + (uint64_t)(*text - '0');
	return n;
}

static bool is_counted(int32_t tid)
{
	for (uint32_t i = 0; i < TIMERS; i++)
		if (timers->blocked[i] == tid)
			return true;
	return false;
}

/* Other threads that still run when the process ends, and do not count yet. */
static void count_blocked_threads(int number)
{
	static char names[4096];
	const struct linux_dirent64 {
		uint64_t inode, offset;
		uint16_t bytes;
		uint8_t type;
		char name[];
	} * e;
	int fd = (int)syscall(
		SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int32_t tid;
	long n;

	while (fd >= 0 && (n = syscall(SYS_getdents64, fd, names, sizeof(names))) > 0)
		for (long i = 0; i < n; i += e->bytes) {
			e = (const void *)(names + i);
			tid = (int32_t)number_of(e->name);
			if (tid && tid != gt_own_tid() && !is_counted(tid) &&
				blocks_signal(e->name, number))
				COUNT(blocked);
		}
	if (fd >= 0)
		syscall(SYS_close, fd);
}

/* True: the samples end now. */
static bool step_back(void)
{
	struct sigaction act = { .sa_handler = SIG_IGN };
	int number;

	if (gt_own_pid() != process)
		return false;
	number = __atomic_exchange_n(&gt_timer_signal, 0, __ATOMIC_SEQ_CST);
	for (uint32_t i = 0; number && i < TIMERS; i++)
		delete_timer(i);
	if (!number)
		return false;
	libc.action(number, &act, NULL);
	act.sa_handler = SIG_DFL;
	libc.action(number, &act, NULL);
	return true;
}

void gt_timers_give_way(bool limits_itself)
{
	if (!step_back())
		return;
	if (limits_itself)
		COUNT(limited);
	else
		COUNT(taken);
}

/* ---- start ---- */

static void in_forked_child(void)
{
	memset(&own, 0, sizeof(own));
	process = gt_own_pid();
	if (gt_timer_signal)
		gt_start_timer();
}

static bool register_fork(void)
{
	int (*with_library)(void (*)(void), void (*)(void), void (*)(void), void *) =
		gt_find_libc_function("__register_atfork");
	int (*plain)(void (*)(void), void (*)(void), void (*)(void)) =
		gt_find_libc_function("pthread_atfork");

	if (with_library)
		return !with_library(NULL, NULL, in_forked_child, NULL);
	return plain && !plain(NULL, NULL, in_forked_child);
}

void gt_timers_start(void)
{
	int (*create_key)(pthread_key_t *, void (*)(void *)) =
		gt_find_libc_function("pthread_key_create");

	period = number_of(gt_environment(GT_RING_SAMPLES));
	if (!period || !create_key || gt_timer_signal || !gt_environment(GT_RING_SESSION))
		return;
	libc.set_specific = gt_find_libc_function("pthread_setspecific");
	libc.action = gt_replaced_function(GT_LIBC_SIGACTION);
	timers = gt_map_of_process(sizeof(*timers));
	if (!libc.set_specific || !libc.action || !timers || create_key(&key, end_thread) ||
		!register_fork())
		return;
	process = gt_own_pid();
	if (!install_handler()) {
		COUNT(taken);
		return;
	}
	gt_session_remember();
	gt_unwind_open();
	gt_python_find();
	gt_start_timer();
}

/* exit, in this thread. Other threads may run on. */
static __attribute__((destructor)) void end_process(void)
{
	int number = gt_timer_signal;

	end_thread(NULL);
	if (number)
		count_blocked_threads(number);
	else if (early.limited)
		return;
	if (!early.refused && !early.blocked && !early.taken)
		return;
	if (!gt_shared)
		gt_register_thread();
	if (gt_shared)
		count_early();
}
