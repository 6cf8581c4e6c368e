#include "collect/bpf/records/request_words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include "collect/ipc/requests.h"

#define NVIDIA_MAJOR 195u

/* The major number of a driver in /proc/devices, which may change at each boot. 0: it has none. */
static unsigned major_of(const char *driver)
{
	FILE *f = fopen("/proc/devices", "re");
	char line[128], name[64];
	unsigned major = 0, number;

	while (f && !major && fgets(line, sizeof(line), f))
		if (sscanf(line, "%u %63s", &number, name) == 2 && !strcmp(name, driver))
			major = number;
	if (f)
		fclose(f);
	return major;
}

static uint64_t file(enum gt_driver_file dev, uint32_t number)
{
	return (uint64_t)dev << 32 | number;
}

static uint64_t device_file(uint32_t device)
{
	static unsigned uvm, caps;
	static bool known;
	unsigned major = device >> 20, minor = device & 0xfffff;

	if (!known) {
		uvm = major_of("nvidia-uvm");
		caps = major_of("nvidia-caps");
		known = true;
	}
	if (major == NVIDIA_MAJOR)
		return file(minor == 255       ? GT_DEV_CTL
				: minor == 254 ? GT_DEV_MODESET
					       : GT_DEV_GPU,
			minor);
	if (uvm && major == uvm)
		return file(minor ? GT_DEV_UVM_TOOLS : GT_DEV_UVM, minor);
	return caps && major == caps ? file(GT_DEV_CAPS, minor) : 0;
}

/* "memfd:sim:nvidia0" */
static uint64_t simulated_file(const char *name)
{
	const char *kind = name + strlen("memfd:sim:nvidia");

	if (strncmp(name, "memfd:sim:nvidia", strlen("memfd:sim:nvidia")))
		return 0;
	if (!strncmp(kind, "ctl", 3))
		return file(GT_DEV_CTL, 255);
	return !strncmp(kind, "-uvm", 4) ? file(GT_DEV_UVM, 0)
					 : file(GT_DEV_GPU, (uint32_t)strtoul(kind, NULL, 10));
}

static void decode_ioctl(const struct gt_bpf_request *r, struct gt_ioctl_args *a)
{
	struct gt_request q =
		gt_request_of(a->file, a->request, r->argument_bytes ? r->argument : NULL);
	uint64_t pointer;

	memcpy(&pointer, r->argument + 8, sizeof(pointer));
	if (q.pointer && (!r->body_bytes || q.pointer != pointer))
		return;
	if (q.pointer || r->argument_bytes == GT_BPF_REQUEST_BYTES)
		gt_request_decode(&q, (const uint8_t *)(q.pointer ? r->body : r->argument), a);
}

bool gt_request_words(const struct gt_bpf_request *r, struct gt_request_words *to)
{
	uint64_t f = r->is_memory_file ? simulated_file(r->name) : device_file(r->device);
	long long ret = r->ret;

	if (!f)
		return false;
	/* the simulated driver answers requests that the kernel refuses */
	if (r->is_memory_file && ret == -ENOTTY)
		ret = 0;
	*to = (struct gt_request_words){ .ret = ret < 0 ? (int32_t)ret : 0, .n = 2 };
	if (r->system_call == SYS_ioctl) {
		if (!gt_request_may_be_ours(r->request))
			return false;
		to->id = GT_ID_IOCTL;
		to->n = 4;
		to->ret = (int32_t)ret;
		to->ioctl = (struct gt_ioctl_args){
			.file = f, .request = r->request, .status = UINT64_MAX
		};
		if (ret >= 0 && !r->is_memory_file)
			decode_ioctl(r, &to->ioctl);
		return true;
	}
	to->id = r->system_call == SYS_close ? GT_ID_CLOSE
		: r->system_call == SYS_mmap ? GT_ID_MMAP
					     : GT_ID_OPEN;
	to->file = (struct gt_file_args){ f, r->value };
	return true;
}
