#include "collect/ipc/process_status.h"

#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int64_t gt_process_status(pid_t pid, const char *name, int base)
{
	char path[32], line[256];
	int64_t value = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)(pid ? pid : getpid()));
	f = fopen(path, "re");
	while (f && value < 0 && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)) && line[strlen(name)] == ':')
			value = (int64_t)strtoull(line + strlen(name) + 1, NULL, base);
	if (f)
		fclose(f);
	return value;
}

const char *gt_process_refusal(void)
{
	if (gt_process_status(0, "CapEff", 16) >> CAP_SYS_PTRACE & 1)
		return "the kernel does not permit it to root here (another user namespace, or a security module)";
	return geteuid() ? "only its user, root or CAP_SYS_PTRACE may read it"
			 : "root needs CAP_SYS_PTRACE to read it (docker run --cap-add SYS_PTRACE)";
}
