#define _GNU_SOURCE
#include "collect/bpf/processes/process_descriptor.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DESCRIPTORS_MAX 65536 /* that are tried */
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

/* How many descriptors the process may have now. */
static int count_descriptors(pid_t pid)
{
	char path[32], line[128];
	int n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "FDSize: %d", &n) == 1)
			break;
	if (f)
		fclose(f);
	return n < DESCRIPTORS_MAX ? n : DESCRIPTORS_MAX;
}

int gt_process_descriptor(pid_t pid, ino_t inode)
{
	int process = (int)syscall(SYS_pidfd_open, pid, 0), n = count_descriptors(pid), found = -1;
	struct stat st;

	for (int i = 0; process >= 0 && found < 0 && i < n; i++) {
		found = (int)syscall(SYS_pidfd_getfd, process, i, 0);
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
