#include "collect/ipc/process_maps.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "collect/ipc/process_status.h"

static bool read_line(char *line, struct gt_mapping *m)
{
	int at = 0;

	line[strcspn(line, "\n")] = 0;
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %lu %n", &m->from, &m->to,
		    m->flags, &m->offset, &m->major, &m->minor, &m->inode, &at) < 7 ||
		!at)
		return false;
	m->name = line + at;
	return true;
}

int gt_mappings_each(pid_t pid, gt_mapping_fn *fn, void *arg, struct gt_err *err)
{
	char path[32], line[PATH_MAX + 128];
	struct gt_mapping m;
	FILE *f;
	int rc = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return errno == ENOENT || errno == ESRCH
			? gt_err_set(err, -ESRCH, "there is no process %d", (int)pid)
			: errno == EACCES || errno == EPERM
			? gt_err_set(err, -errno, "%s: %s", path, gt_process_refusal())
			: gt_err_set(err, -errno, "%s: %s", path, strerror(errno));
	while (!rc && fgets(line, sizeof(line), f))
		rc = read_line(line, &m) ? fn(arg, &m, err) : 0;
	fclose(f);
	return rc;
}
