/* Functions of libc that the library replaces because threads have timers (thread_timers.c): those
 * by which a program could take the timers' signal for itself, and pthread_create. Without timers
 * they call libc's. */
#define _GNU_SOURCE
#include "collect/guest/stack/timers_internal.h"

#include <pthread.h>
#include <sys/mman.h>
#include <linux/prctl.h>
#include <time.h>
#include "collect/guest/core/guest_elf.h"
#include "collect/guest/stack/unwind_rules.h"

#ifdef GT_HOSTED
#define NAME(f) gt_hosted_##f
#else
#define NAME(f) f
#endif

GT_EXPORT int NAME(sigaction)(int number, const struct sigaction *new, struct sigaction *old);

GT_EXPORT int NAME(sigaction)(int number, const struct sigaction *new, struct sigaction *old)
{
	int (*real)(int, const struct sigaction *, struct sigaction *) =
		gt_replaced_function(GT_LIBC_SIGACTION);
	int ret;

	if (!real) {
		errno = ENOSYS;
		return -1;
	}
	if (gt_unlikely(number == gt_timer_signal && number && new))
		gt_timers_give_way(false);
	ret = real(number, new, old);
	if (gt_unlikely(!ret && old && number == gt_timer_signal && number))
		*old = (struct sigaction){ .sa_handler = SIG_DFL };
	return ret;
}

GT_EXPORT __sighandler_t NAME(signal)(int number, __sighandler_t handler);

GT_EXPORT __sighandler_t NAME(signal)(int number, __sighandler_t handler)
{
	__sighandler_t (*real)(int, __sighandler_t) = gt_replaced_function(GT_LIBC_SIGNAL);

	if (!real) {
		errno = ENOSYS;
		return SIG_ERR;
	}
	if (gt_unlikely(number == gt_timer_signal && number))
		gt_timers_give_way(false);
	return real(number, handler);
}

GT_EXPORT int NAME(prctl)(
	int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d);

/* A program that forbids system calls to itself may be killed for those of the handler, and for its
 * return. Before it can do so, a program without privileges sets PR_SET_NO_NEW_PRIVS. */
GT_EXPORT int NAME(prctl)(
	int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
	int (*real)(int, unsigned long, unsigned long, unsigned long, unsigned long) =
		gt_replaced_function(GT_LIBC_PRCTL);

	if (!real) {
		errno = ENOSYS;
		return -1;
	}
	if (gt_unlikely(option == PR_SET_SECCOMP || option == PR_SET_NO_NEW_PRIVS))
		gt_timers_give_way(true);
	return real(option, a, b, c, d);
}

static bool has_signal(const sigset_t *set)
{
	uint64_t bits = 0;
	int number = gt_timer_signal;

	if (number && set)
		memcpy(&bits, set, sizeof(bits));
	return number && bits >> (number - 1) & 1;
}

GT_EXPORT int NAME(sigtimedwait)(
	const sigset_t *set, siginfo_t *info, const struct timespec *timeout);

/* A thread that blocks all signals and waits for any must not get those of its timer. */
GT_EXPORT int NAME(sigtimedwait)(
	const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	int (*real)(const sigset_t *, siginfo_t *, const struct timespec *) =
		gt_replaced_function(GT_LIBC_SIGTIMEDWAIT);
	uint64_t until;
	struct timespec left;
	siginfo_t got;
	int number;

	if (!real) {
		errno = ENOSYS;
		return -1;
	}
	if (gt_likely(!has_signal(set)))
		return real(set, info, timeout);
	until = timeout ? gt_monotonic() + (uint64_t)timeout->tv_sec * 1000000000 +
			(uint64_t)timeout->tv_nsec
			: 0;
	number = real(set, &got, timeout);
	while (number > 0 && gt_is_timer_signal(&got)) {
		uint64_t now = gt_monotonic();

		left.tv_sec = until > now ? (time_t)((until - now) / 1000000000) : 0;
		left.tv_nsec = until > now ? (long)((until - now) % 1000000000) : 0;
		number = real(set, &got, timeout ? &left : NULL);
	}
	if (number > 0 && info)
		*info = got;
	return number;
}

GT_EXPORT int NAME(sigwaitinfo)(const sigset_t *set, siginfo_t *info);

GT_EXPORT int NAME(sigwaitinfo)(const sigset_t *set, siginfo_t *info)
{
	return NAME(sigtimedwait)(set, info, NULL);
}

GT_EXPORT int NAME(sigwait)(const sigset_t *set, int *number);

GT_EXPORT int NAME(sigwait)(const sigset_t *set, int *number)
{
	int saved = errno, got, error;

	do
		got = NAME(sigtimedwait)(set, NULL, NULL);
	while (got < 0 && errno == EINTR);
	error = got < 0 ? errno : 0;
	errno = saved;
	if (!error)
		*number = got;
	return error;
}

GT_EXPORT int NAME(signalfd)(int fd, const sigset_t *set, int flags);

/* A reader of the descriptor would get signals of the timers. */
GT_EXPORT int NAME(signalfd)(int fd, const sigset_t *set, int flags)
{
	int (*real)(int, const sigset_t *, int) = gt_replaced_function(GT_LIBC_SIGNALFD);

	if (!real) {
		errno = ENOSYS;
		return -1;
	}
	if (gt_unlikely(has_signal(set)))
		gt_timers_give_way(false);
	return real(fd, set, flags);
}

/* What a new thread runs; in memory of its own. */
struct thread_start {
	void *(*run)(void *);
	void *arg;
};

/* It leaves its frame before the program's function begins. */
static void *begin_thread(void *memory)
{
	const struct thread_start s = *(struct thread_start *)memory;

	syscall(SYS_munmap, memory, sizeof(s));
	if (gt_timer_signal)
		gt_start_timer();
	return s.run(s.arg);
}

GT_EXPORT int NAME(pthread_create)(
	pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg);

GT_EXPORT int NAME(pthread_create)(
	pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
		gt_replaced_function(GT_LIBC_PTHREAD_CREATE);
	struct thread_start *s = gt_timer_signal ? gt_map(sizeof(*s)) : NULL;
	int ret;

	if (!real)
		return ENOSYS;
	if (gt_likely(!s))
		return real(thread, attr, run, arg);
	gt_unwind_start_helper();
	*s = (struct thread_start){ run, arg };
	ret = real(thread, attr, begin_thread, s);
	if (ret)
		syscall(SYS_munmap, s, sizeof(*s));
	return ret;
}
