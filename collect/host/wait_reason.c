#include "collect/host/wait_reason.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* System calls by what a thread waits for in them. Not every architecture has all of them. */
static const struct {
	int number;
	enum gt_sched_state state;
} reasons[] = {
	{ SYS_futex, GT_SCHED_FUTEX },
#ifdef SYS_futex_waitv
	{ SYS_futex_waitv, GT_SCHED_FUTEX },
#endif
	{ SYS_read, GT_SCHED_IO },
	{ SYS_write, GT_SCHED_IO },
	{ SYS_readv, GT_SCHED_IO },
	{ SYS_writev, GT_SCHED_IO },
	{ SYS_pread64, GT_SCHED_IO },
	{ SYS_pwrite64, GT_SCHED_IO },
	{ SYS_recvfrom, GT_SCHED_IO },
	{ SYS_recvmsg, GT_SCHED_IO },
	{ SYS_recvmmsg, GT_SCHED_IO },
	{ SYS_sendto, GT_SCHED_IO },
	{ SYS_sendmsg, GT_SCHED_IO },
	{ SYS_accept, GT_SCHED_IO },
	{ SYS_accept4, GT_SCHED_IO },
	{ SYS_connect, GT_SCHED_IO },
	{ SYS_fsync, GT_SCHED_IO },
	{ SYS_fdatasync, GT_SCHED_IO },
	{ SYS_io_getevents, GT_SCHED_IO },
	{ SYS_io_uring_enter, GT_SCHED_IO },
#ifdef SYS_poll
	{ SYS_poll, GT_SCHED_POLL },
	{ SYS_select, GT_SCHED_POLL },
	{ SYS_epoll_wait, GT_SCHED_POLL },
#endif
	{ SYS_ppoll, GT_SCHED_POLL },
	{ SYS_pselect6, GT_SCHED_POLL },
	{ SYS_epoll_pwait, GT_SCHED_POLL },
	{ SYS_nanosleep, GT_SCHED_SLEEP },
	{ SYS_clock_nanosleep, GT_SCHED_SLEEP },
	{ SYS_wait4, GT_SCHED_CHILD },
	{ SYS_waitid, GT_SCHED_CHILD },
};

enum gt_sched_state gt_wait_reason(int64_t number)
{
	for (unsigned i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
		if (reasons[i].number == number)
			return reasons[i].state;
	return GT_SCHED_OTHER;
}

bool gt_wait_reads(int64_t number)
{
	static const int calls[] = { SYS_read, SYS_readv, SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg };

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (calls[i] == number)
			return true;
	return false;
}

bool gt_wait_polls(int64_t number)
{
#ifdef SYS_poll
	if (number == SYS_poll)
		return true;
#endif
	return number == SYS_ppoll;
}

enum gt_sched_state gt_wait_of_file(uint32_t tgid, uint32_t tid, uint64_t fd)
{
	char path[64], to[16] = "";

	snprintf(path, sizeof(path), "/proc/%u/task/%u/fd/%d", tgid, tid, (int)fd);
	if (readlink(path, to, sizeof(to) - 1) < 0)
		return GT_SCHED_IO;
	return !strncmp(to, "pipe:", 5)      ? GT_SCHED_PIPE
		: !strncmp(to, "socket:", 7) ? GT_SCHED_SOCKET
					     : GT_SCHED_IO;
}
