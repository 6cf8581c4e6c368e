/* What is allocated, and what a free gives back: a table of live addresses, and of handles, that
 * the recorder's counters and the memory report share, so that they cannot differ. Zero-initialised
 * is empty and valid.
 *
 * Device, pool, managed and host memory share one space of addresses: any of them may be freed by a
 * call that names another. Handles of arrays and of physical memory have spaces of their own.
 * Physical memory lives as long as its handle is held (it may be retained, and then wants to be
 * released more often) or it is mapped somewhere. A handle that is retained or imported and is not
 * in the table stands for memory of another process, or from before the recording: its holds are
 * counted so that its releases are understood, but it is nobody's memory here. */
#ifndef GT_LIVE_ALLOCATIONS_H
#define GT_LIVE_ALLOCATIONS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GT_LIVE_MAX (3u << 16) /* allocations alive at once: 196608, in 8 MiB */
#define GT_LIVE_NO_DEVICE 255

struct gt_live_item {
	uint64_t addr, bytes;
	uint32_t place;      /* process slot: each has addresses of its own */
	uint16_t refs, maps; /* of physical memory: holds on its handle; mappings */
	/* enum gt_memkind; unknown in the space of handles: memory that was not allocated here */
	uint8_t space, kind;
	uint8_t device; /* this and group are the caller's */
	bool used;
	uint32_t group;
};
struct gt_live {
	struct gt_live_item *slots;
	uint32_t mask, used;
};

/* place, kind, addr, bytes, device and group of it count. 1: entered; 0: entered, and *old is what
 * was there before, whose free was missed; -ENOSPC: too many; -ENOMEM. */
int gt_live_alloc(struct gt_live *l, const struct gt_live_item *item, struct gt_live_item *old);
enum gt_live_freed {
	GT_LIVE_UNKNOWN,    /* nothing is known there */
	GT_LIVE_FREED,      /* *old is gone */
	GT_LIVE_MAPPED,     /* a handle is held no more, but its memory is mapped */
	GT_LIVE_REFERENCED, /* a handle is held once less, and still held */
	/* a handle is held no more, and its memory was not allocated here */
	GT_LIVE_FOREIGN,
};
enum gt_live_freed gt_live_free(struct gt_live *l, uint32_t place, unsigned kind /* of the call */,
	uint64_t addr, struct gt_live_item *old);
/* A handle is held once more. imported: it came from elsewhere; else somebody had held it before.
 * 0, -ENOSPC or -ENOMEM. */
int gt_live_retain(struct gt_live *l, uint32_t place, uint64_t handle, bool imported);
/* 0, -ENOSPC or -ENOMEM. Memory of a handle that is not known here, another process', is not
 * followed. */
int gt_live_map(struct gt_live *l, uint32_t place, uint64_t addr, uint64_t handle);
/* The mappings that begin at *addr, up to `end`, one after the other: 1: *old is gone, ask again;
 * 0: that was all. */
int gt_live_unmap(
	struct gt_live *l, uint32_t place, uint64_t *addr, uint64_t end, struct gt_live_item *old);
void gt_live_release(struct gt_live *l);
#endif
