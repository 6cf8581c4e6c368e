#define _GNU_SOURCE
#include "collect/bpf/links/perf_probe.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of the kernel's interface: /sys/bus/event_source/devices/uprobe/format */
#define AT_RETURN 1u
#define COUNTER_SHIFT 32

int gt_perf_type(const char *kind)
{
	char path[64];
	int type = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", kind);
	f = fopen(path, "re");
	if (f && fscanf(f, "%d", &type) != 1)
		type = -1;
	if (f)
		fclose(f);
	return type;
}

int gt_perf_probe_open(const struct gt_perf_probe *p)
{
	struct perf_event_attr a = { .size = sizeof(a),
		.type = (uint32_t)p->type,
		.config = p->counter << COUNTER_SHIFT | (p->at_return ? AT_RETURN : 0),
		.config1 = (uintptr_t)p->name,
		.config2 = p->offset };

	int fd;

	if (p->type < 0)
		return -ENODEV;
	fd = (int)syscall(SYS_perf_event_open, &a, p->pid ? p->pid : -1, p->pid ? -1 : 0, -1,
		PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* The kernel checks the rights before the path, which is that of a folder. */
bool gt_perf_uprobes_are_allowed(void)
{
	const struct gt_perf_probe p = { .type = gt_perf_type("uprobe"), .name = "/" };
	int fd = gt_perf_probe_open(&p);

	if (fd >= 0)
		close(fd);
	return fd != -EACCES && fd != -EPERM;
}

/* The event has the program as long as it is open. */
static int set_wrapped(
	struct gt_cookie_wrappers *w, const struct bpf_program *program, int event, uint64_t cookie)
{
	int wrapper = gt_cookie_wrapper_load(w, program, cookie), rc = 0;

	if (wrapper < 0)
		return wrapper;
	if (ioctl(event, PERF_EVENT_IOC_SET_BPF, wrapper))
		rc = -errno;
	close(wrapper);
	return rc ? rc : event;
}

int gt_perf_link(
	struct gt_cookie_wrappers *w, const struct bpf_program *program, int event, uint64_t cookie)
{
	LIBBPF_OPTS(bpf_link_create_opts, opt, .perf_event.bpf_cookie = cookie);
	int link;

	if (event < 0)
		return event;
	if (w->cookies >= 0)
		link = set_wrapped(w, program, event, cookie);
	else
		link = bpf_link_create(bpf_program__fd(program), event, BPF_PERF_EVENT, &opt);
	if (link != event)
		close(event); /* a link holds the event */
	return link;
}
