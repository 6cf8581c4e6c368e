/* The device files and the driver's requests to them (sim.h describes the protocol).
 *
 * The sequence is modelled on a real start-up: versions and cards, a root client, device and
 * subdevice objects, the unified memory driver. Then for each context an address space, a channel
 * group and its channels; and for memory an object and its mapping. The requests depend only on the
 * program's calls, so two runs send the same ones. Allocations below 2 MiB come from blocks of 2
 * MiB; they send requests only when a new block is needed. */
#define _GNU_SOURCE
#include "samples/simgpu/sim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLOCK (2ull << 20)
#define CHANNELS 8
#define CLIENT 0xc1d00000u
#define NOT_SUPPORTED 0x56 /* NV_ERR_NOT_SUPPORTED: a few requests of a driver are refused */

/* Escapes of the resource manager: magic 'F'. */
struct rm_alloc {
	uint32_t root, parent, object, class;
	uint64_t params, rights;
	uint32_t size, flags, status;
};
struct rm_control {
	uint32_t client, object, command, flags;
	uint64_t params;
	uint32_t size, status;
};
struct rm_free {
	uint32_t root, parent, object, status;
};
struct rm_map {
	uint32_t client, device, memory;
	uint64_t offset, length, address;
	uint32_t status, flags;
	int fd;
};
struct card_info {
	char one[72];
};
struct version {
	uint32_t command, reply;
	char text[64];
};
enum {
	ALLOC = 0x2b,
	CONTROL = 0x2a,
	FREE = 0x29,
	MAP = 0x4e,
	CARD_INFO = 200,
	REGISTER_FD = 201,
	ALLOC_OS_EVENT = 206,
	CHECK_VERSION = 210,
	ATTACH_GPUS = 212,
	SYS_PARAMS = 214
};
_Static_assert(sizeof(struct rm_alloc) == 48 && sizeof(struct rm_control) == 32 &&
		sizeof(struct rm_free) == 16,
	"RM layouts");

/* The unified memory driver: plain numbers. */
struct uvm_init {
	uint64_t flags;
	uint32_t status;
};
struct uvm_mm {
	int fd;
	uint32_t status;
};
struct uvm_gpu {
	char uuid[16];
	uint8_t numa;
	int node, ctl;
	uint32_t client, partition, status;
};
struct uvm_vaspace {
	char uuid[16];
	int ctl;
	uint32_t client, vaspace, status;
};
struct uvm_channel {
	char uuid[16];
	int ctl;
	uint32_t client, channel;
	uint64_t base, length;
	uint32_t status;
};
struct uvm_range {
	uint64_t base, length;
	uint32_t status;
};
struct uvm_map {
	uint64_t base, length, offset;
	char attributes[256][36];
	uint64_t n;
	int ctl;
	uint32_t client, memory, status;
};
enum {
	UVM_INITIALIZE = 0x30000001,
	UVM_REGISTER_VASPACE = 25,
	UVM_REGISTER_CHANNEL = 27,
	UVM_MAP = 33,
	UVM_FREE = 34,
	UVM_REGISTER_GPU = 37,
	UVM_CREATE_RANGE = 73,
	UVM_MM_INITIALIZE = 75
};

static int ctl = -1, uvm = -1, gpu[SIM_MAX_DEVICES];
static uint32_t objects = 0x5c000000;
static uint64_t small_used[SIM_MAX_DEVICES], small_blocks[SIM_MAX_DEVICES];

bool sim_is_device_file(int fd)
{
	bool own = fd >= 0 && (fd == ctl || fd == uvm);

	for (int i = 0; !own && ctl >= 0 && i < sim_config.devices; i++)
		own = fd == gpu[i];
	return own;
}

/* Sends one request. The return value is ignored: the request has reached an interposed ioctl, ours
 * or the kernel, and the status in *arg is set already. */
static void send_request(int fd, unsigned long request, void *arg)
{
	int saved = errno;

	if (fd >= 0)
		(void)ioctl(fd, request, arg);
	errno = saved;
}

static uint32_t rm_alloc(int fd, uint32_t parent, uint32_t class)
{
	struct rm_alloc a = { .root = CLIENT,
		.parent = parent,
		.object = class == 0x41 ? CLIENT : ++objects,
		.class = class };

	send_request(fd, _IOWR('F', ALLOC, struct rm_alloc), &a);
	return a.object;
}

static void rm_control(int fd, uint32_t object, uint32_t command, uint32_t size, uint32_t status)
{
	char params[256] = { 0 };
	struct rm_control c = { CLIENT, object, command, 0, (uint64_t)(uintptr_t)params, size,
		status };

	send_request(fd, _IOWR('F', CONTROL, struct rm_control), &c);
}

static int open_file(const char *name)
{
	char path[32];
	int first = memfd_create(name, MFD_CLOEXEC), fd = -1;

	if (first >= 0) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", first);
		fd = ftruncate(first, 65536) ? -1 : open(path, O_RDWR | O_CLOEXEC);
		close(first);
	}
	return fd;
}

static void open_gpu(int dev)
{
	char name[32];
	uint32_t device, sub;
	struct uvm_gpu r = { .uuid = "simulated-gpu-0", .node = -1, .ctl = ctl, .client = CLIENT };

	snprintf(name, sizeof(name), "sim:nvidia%d", dev);
	gpu[dev] = open_file(name);
	send_request(gpu[dev], _IOWR('F', REGISTER_FD, int), &ctl);
	send_request(gpu[dev], _IOWR('F', ATTACH_GPUS, uint32_t), &(uint32_t){ 0x1800 + dev });
	device = rm_alloc(ctl, CLIENT, 0x80);     /* NV01_DEVICE_0 */
	sub = rm_alloc(ctl, device, 0x2080);      /* NV20_SUBDEVICE_0 */
	rm_control(ctl, sub, 0x20800102, 64, 0);  /* GPU_GET_INFO_V2 */
	rm_control(ctl, sub, 0x20800110, 132, 0); /* GPU_GET_NAME_STRING */
	rm_control(ctl, sub, 0x2080014a, 256, 0); /* GPU_GET_GID_INFO */
	rm_control(ctl, sub, 0x20801315, 64, NOT_SUPPORTED);
	send_request(uvm, UVM_REGISTER_GPU, &r);
}

void sim_files_open(void)
{
	struct version v = { .command = '2', .reply = 1, .text = "580.00.00" };
	struct card_info cards[32];

	if (!sim_config.ioctls)
		return;
	ctl = open_file("sim:nvidiactl");
	send_request(ctl, _IOWR('F', CHECK_VERSION, struct version), &v);
	send_request(ctl, _IOWR('F', SYS_PARAMS, uint64_t), &(uint64_t){ BLOCK });
	memset(cards, 0, sizeof(cards));
	send_request(ctl, _IOC(_IOC_READ | _IOC_WRITE, 'F', CARD_INFO, sizeof(cards)), cards);
	rm_alloc(ctl, 0, 0x41);                 /* NV01_ROOT_CLIENT */
	rm_control(ctl, CLIENT, 0x101, 32, 0);  /* SYSTEM_GET_BUILD_VERSION */
	rm_control(ctl, CLIENT, 0x201, 128, 0); /* GPU_GET_ATTACHED_IDS */
	rm_control(ctl, CLIENT, 0x205, 48, 0);  /* GPU_GET_ID_INFO_V2 */
	rm_control(ctl, CLIENT, 0x215, 128, 0); /* GPU_ATTACH_IDS */
	uvm = open_file("sim:nvidia-uvm");
	send_request(uvm, UVM_INITIALIZE, &(struct uvm_init){ 0 });
	send_request(uvm, UVM_MM_INITIALIZE, &(struct uvm_mm){ uvm, 0 });
	for (int i = 0; i < sim_config.devices; i++)
		open_gpu(i);
}

static void open_channel(int dev, uint32_t group, int i)
{
	/* HOPPER_COMPUTE_A, HOPPER_DMA_COPY_A */
	static const uint32_t engine[] = { 0xcbc0, 0xc8b5 };
	uint32_t channel = rm_alloc(ctl, group, 0xc86f); /* HOPPER_CHANNEL_GPFIFO_A */
	struct uvm_channel r = { .uuid = "simulated-gpu-0",
		.ctl = ctl,
		.client = CLIENT,
		.channel = channel,
		.base = BLOCK * (i + 1),
		.length = BLOCK };

	(void)dev;
	rm_alloc(ctl, channel, engine[i & 1]);
	send_request(uvm, UVM_REGISTER_CHANNEL, &r);
}

/* A context: its address space, its channels, and the doorbell page, which launches write without
 * an ioctl. */
void sim_files_device(int dev)
{
	uint32_t vaspace, group;
	struct uvm_vaspace r = { .uuid = "simulated-gpu-0", .ctl = ctl, .client = CLIENT };
	struct rm_map map = { .client = CLIENT, .length = 65536, .fd = gpu[dev] };
	void *doorbell;

	if (ctl < 0)
		return;
	vaspace = rm_alloc(ctl, CLIENT, 0x90f1); /* FERMI_VASPACE_A */
	r.vaspace = vaspace;
	send_request(uvm, UVM_REGISTER_VASPACE, &r);
	group = rm_alloc(ctl, CLIENT, 0xa06c); /* KEPLER_CHANNEL_GROUP_A */
	for (int i = 0; i < CHANNELS; i++)
		open_channel(dev, group, i);
	rm_control(ctl, group, 0xa06c0101, 8, 0);   /* GPFIFO_SCHEDULE */
	map.memory = rm_alloc(ctl, CLIENT, 0xc661); /* HOPPER_USERMODE_A */
	send_request(ctl, _IOWR('F', MAP, struct rm_map), &map);
	doorbell = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, gpu[dev], 0);
	if (doorbell != MAP_FAILED)
		munmap(doorbell, 65536); /* no device reads it */
}

static void map_memory(uint64_t base, uint64_t length)
{
	static struct uvm_map m; /* under the lock */

	m = (struct uvm_map){
		.base = base, .length = length, .n = 1, .ctl = ctl, .client = CLIENT
	};
	m.memory = rm_alloc(ctl, CLIENT, 0x40); /* NV01_MEMORY_LOCAL_USER */
	send_request(uvm, UVM_CREATE_RANGE, &(struct uvm_range){ base, length, 0 });
	send_request(uvm, UVM_MAP, &m);
}

void sim_files_alloc(int dev, uint64_t addr, uint64_t size)
{
	if (ctl < 0)
		return;
	if (size >= BLOCK) {
		map_memory(addr, size);
		return;
	}
	small_used[dev] += size;
	while (small_used[dev] > small_blocks[dev] * BLOCK)
		map_memory(addr & ~(BLOCK - 1), BLOCK), small_blocks[dev]++;
}

void sim_files_free(int dev, uint64_t addr, uint64_t size)
{
	struct rm_free f = { CLIENT, CLIENT, (uint32_t)(addr >> 9), 0 };

	if (ctl < 0)
		return;
	if (size < BLOCK) {
		small_used[dev] -= size; /* its block stays allocated */
		return;
	}
	send_request(uvm, UVM_FREE, &(struct uvm_range){ addr, size, 0 });
	send_request(ctl, _IOWR('F', FREE, struct rm_free), &f);
}
