/* Requests (ioctl) to the files of NVIDIA's kernel driver: where a request's struct has its command
 * and the driver's status. The guest reads the struct in place, the eBPF way from a copy. */
#ifndef GT_REQUESTS_H
#define GT_REQUESTS_H
#include <stdbool.h>
#include <string.h>
#include "collect/ipc/ring.h"

/* Offsets of the command and of the status in a request's struct, from NVIDIA's published kernel
 * modules: NVOS54 is control, NVOS21 and NVOS64 are alloc (they differ in size), NVOS00 is free,
 * ... Size 0 matches any size. */
#define GT_NOWHERE 0xffff
static const struct gt_request_layout {
	uint32_t nr;
	uint16_t size, command, status;
	bool uvm;
} gt_request_layouts[] = {
	{ 0x2a, 32, 8, 28, false }, /* control: the command */
	{ 0x2b, 32, 12, 28, false },
	{ 0x2b, 48, 12, 40, false }, /* alloc: the class */
	{ 0x27, 0, 12, 40, false },  /* alloc memory: the class */
	{ 0x29, 16, GT_NOWHERE, 12, false },
	{ 0x34, 28, GT_NOWHERE, 24, false },
	{ 0x4e, 0, GT_NOWHERE, 40, false },
	{ 0x4f, 0, GT_NOWHERE, 24, false },
	/* UVM: (un)register GPU spaces 25, channels 27, GPUs 37; peers 29; ranges and their
	 * groups; ... */
	{ 0x30000001, 0, GT_NOWHERE, 8, true },
	{ 23, 0, GT_NOWHERE, 8, true },
	{ 24, 0, GT_NOWHERE, 8, true },
	{ 25, 0, GT_NOWHERE, 28, true },
	{ 26, 0, GT_NOWHERE, 16, true },
	{ 27, 0, GT_NOWHERE, 48, true },
	{ 28, 0, GT_NOWHERE, 24, true },
	{ 29, 0, GT_NOWHERE, 32, true },
	{ 30, 0, GT_NOWHERE, 32, true },
	{ 31, 0, GT_NOWHERE, 24, true },
	{ 34, 0, GT_NOWHERE, 16, true },
	{ 37, 0, GT_NOWHERE, 36, true },
	{ 38, 0, GT_NOWHERE, 16, true },
	{ 39, 0, GT_NOWHERE, 4, true },
	{ 72, 0, GT_NOWHERE, 16, true },
	{ 73, 0, GT_NOWHERE, 16, true },
	{ 75, 0, GT_NOWHERE, 4, true },
};

/* { u32 nr, u32 size, u64 pointer }: for structs too large for a request number */
#define GT_NV_XFER 211
#define GT_REQUEST_BYTES 64 /* of a struct: all that is read */

struct gt_request {
	uint32_t nr, size;
	bool uvm;
	uint64_t pointer; /* address of the struct, if it is not the argument itself; else 0 */
};

/* arg: the first 16 bytes of the argument, or NULL. */
static inline struct gt_request gt_request_of(uint64_t file, uint64_t number, const void *arg)
{
	struct gt_request r = { (uint32_t)number, 0, (file >> 32 & 0xff) == GT_DEV_UVM, 0 };

	if (r.uvm)
		return r;
	r.nr = number & 0xff;
	r.size = number >> 16 & 0x3fff;
	if (r.nr == GT_NV_XFER && r.size >= 16 && arg) {
		memcpy(&r.nr, arg, 4);
		memcpy(&r.size, (const uint8_t *)arg + 4, 4);
		memcpy(&r.pointer, (const uint8_t *)arg + 8, 8);
	}
	return r;
}

/* Sets command and status, if the layout of the struct is known. body: the struct, or NULL. */
static inline void gt_request_decode(
	const struct gt_request *r, const uint8_t *body, struct gt_ioctl_args *a)
{
	uint32_t v;

	for (size_t i = 0; body && i < sizeof(gt_request_layouts) / sizeof(*gt_request_layouts);
		i++) {
		const struct gt_request_layout *l = &gt_request_layouts[i];

		if (l->nr != r->nr || l->uvm != r->uvm || (l->size && l->size != r->size) ||
			(!r->uvm && r->size < l->status + 4u))
			continue;
		if (l->command != GT_NOWHERE) {
			memcpy(&v, body + l->command, 4);
			a->command = v;
		}
		memcpy(&v, body + l->status, 4);
		a->status = v;
		return;
	}
}

/* True for requests of the RM ('F'), of modesetting ('m'), and of UVM, which does not use the
 * usual encoding. */
static inline bool gt_request_may_be_ours(unsigned long number)
{
	unsigned type = number >> 8 & 0xff;

	return type == 'F' || type == 'm' || number < 256 || (number & ~3UL) == 0x30000000;
}

#endif
