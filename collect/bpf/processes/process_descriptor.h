/* The descriptor of another process by which it has a file open. */
#ifndef GT_PROCESS_DESCRIPTOR_H
#define GT_PROCESS_DESCRIPTOR_H
#include <sys/types.h>

/* new: close it. A copy of the descriptor of the process that is this file; -1: it has none, or the
 * user may not. For a file without a path this needs CAP_SYS_PTRACE only, while the folders
 * /proc/PID/fd and map_files need more for the process of another user. */
int gt_process_descriptor(pid_t pid, ino_t inode);
#endif
