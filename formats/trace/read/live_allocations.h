/* Live allocations: a table of addresses and handles that finds the allocation of a
 * free. The recorder's counters and the memory report share it, so that they cannot
 * differ. Zero-initialised is empty and valid.
 *
 * Device, pool, managed and host memory share one address space: a call for one kind
 * may free another kind. Handles of arrays and of physical memory have spaces of their
 * own. Physical memory lives while its handle has references (a retain adds one) or
 * while it is mapped. A retained or imported handle that is not in the table is memory
 * of another process, or from before the recording: its references are counted so that
 * its releases can be matched, but its memory is not counted. */
#ifndef GT_LIVE_ALLOCATIONS_H
#define GT_LIVE_ALLOCATIONS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GT_LIVE_MAX (3u << 16) /* allocations alive at once: 196608, in 8 MiB */
#define GT_LIVE_NO_DEVICE 255

struct gt_live_item {
	uint64_t addr, bytes;
	uint32_t place;      /* process slot: each process has its own address space */
	uint16_t refs, maps; /* of physical memory: references to its handle; mappings */
	/* kind: enum gt_memkind; unknown for a handle: memory that was not allocated here */
	uint8_t space, kind;
	uint8_t device; /* this and group are the caller's */
	bool used;
	uint32_t group;
};
struct gt_live {
	struct gt_live_item *slots;
	uint32_t mask, used;
};

/* Uses place, kind, addr, bytes, device and group of item. 1: added; 0: added, and
 * *old is the earlier allocation at that address, whose free is missing in the trace;
 * -ENOSPC: too many; -ENOMEM. */
int gt_live_alloc(struct gt_live *l, const struct gt_live_item *item, struct gt_live_item *old);
enum gt_live_freed {
	GT_LIVE_UNKNOWN,    /* no allocation at this address is known */
	GT_LIVE_FREED,      /* *old is free */
	GT_LIVE_MAPPED,     /* the handle has no references, but its memory is mapped */
	GT_LIVE_REFERENCED, /* the handle has one reference less, and still some */
	/* the handle has no references, and its memory was not allocated here */
	GT_LIVE_FOREIGN,
};
enum gt_live_freed gt_live_free(struct gt_live *l, uint32_t place, unsigned kind /* of the call */,
	uint64_t addr, struct gt_live_item *old);
/* Adds a reference to a handle. An unknown handle gets one reference if it is
 * imported, else two: the retain and an earlier one. 0, -ENOSPC or -ENOMEM. */
int gt_live_retain(struct gt_live *l, uint32_t place, uint64_t handle, bool imported);
/* Maps a handle's memory. Ignores an unknown handle (of another process). 0, -ENOSPC or -ENOMEM. */
int gt_live_map(struct gt_live *l, uint32_t place, uint64_t addr, uint64_t handle);
/* Unmaps the mappings that begin at *addr, up to `end`, one after the other. 1: *old
 * is free, call again; 0: done. */
int gt_live_unmap(
	struct gt_live *l, uint32_t place, uint64_t *addr, uint64_t end, struct gt_live_item *old);
void gt_live_release(struct gt_live *l);
#endif
