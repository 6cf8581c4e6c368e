/* What is allocated at an address: a hash table that forgets what is freed. Zero-initialised is empty and valid. */
#ifndef GT_ADDRS_H
#define GT_ADDRS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GT_ADDRS_MAX (3u << 16)		/* allocations alive at once: 196608, in 6 MiB */

struct gt_addr {
	uint64_t addr, bytes;
	uint32_t place;			/* process slot: each has addresses of its own */
	uint8_t space;			/* handles of arrays and of physical memory are no addresses: see allocs.c */
	uint8_t kind;			/* enum gt_memkind */
	bool used;
};
struct gt_addrs { struct gt_addr *slots; uint32_t mask, used; };

/* 1: entered; 0: entered, and *old is what was there before; -ENOSPC: too many; -ENOMEM. */
int gt_addrs_put(struct gt_addrs *a, const struct gt_addr *entry, struct gt_addr *old);
/* Takes it out: true and *old, or false. */
bool gt_addrs_take(struct gt_addrs *a, uint32_t place, uint8_t space, uint64_t addr, struct gt_addr *old);
void gt_addrs_release(struct gt_addrs *a);
#endif
