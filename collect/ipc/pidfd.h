/* Descriptors of processes, and copies of the descriptors that these have open. */
#ifndef GT_PIDFD_H
#define GT_PIDFD_H
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438 /* Linux 5.6 */
#endif

/* new: close it. -1, and errno. */
static inline int gt_pidfd_open(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

/* new: close it. The process's descriptor as one of gtcollect's. -1, and errno. */
static inline int gt_pidfd_copy(int process, int descriptor)
{
	return (int)syscall(SYS_pidfd_getfd, process, descriptor, 0);
}
#endif
