#define _GNU_SOURCE
#include "collect/bpf/processes/process_descriptor.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>
#include "collect/ipc/pidfd.h"
#include "collect/ipc/process_status.h"

#define DESCRIPTORS_MAX 65536 /* that are tried */

/* How many descriptors the process may have now. */
static int count_descriptors(pid_t pid)
{
	int64_t n = gt_process_status(pid, "FDSize", 10);

	return n < DESCRIPTORS_MAX ? (int)n : DESCRIPTORS_MAX;
}

int gt_process_descriptor(pid_t pid, ino_t inode)
{
	int process = gt_pidfd_open(pid), n = count_descriptors(pid), found = -1;
	struct stat st;

	for (int i = 0; process >= 0 && found < 0 && i < n; i++) {
		found = gt_pidfd_copy(process, i);
		if (found < 0 && errno != EBADF)
			break;
		if (found >= 0 &&
			(fstat(found, &st) || !S_ISREG(st.st_mode) || st.st_ino != inode)) {
			close(found);
			found = -1;
		}
	}
	if (process >= 0)
		close(process);
	return found;
}
