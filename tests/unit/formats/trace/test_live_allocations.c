#include "formats/trace/read/live_allocations.h"

#include <errno.h>
#include "formats/trace/record.h"
#include "tests/unit/t.h"

static uint64_t rnd(void)
{
	static uint64_t s = 88172645463325252ull;

	s ^= s << 13, s ^= s >> 7, s ^= s << 17;
	return s;
}

/* Against a plain array: 64 addresses in two spaces of two processes. */
static void addresses_come_and_go(void)
{
	struct gt_live l = { 0 };
	static struct gt_live_item there[256];
	struct gt_live_item old;
	uint32_t live = 0;

	for (int step = 0; step < 200000; step++) {
		uint32_t i = (uint32_t)rnd() % 256;
		struct gt_live_item e = { .addr = (i & 63) * 4096,
			.bytes = rnd() + 1,
			.place = i >> 6 & 1,
			.kind = i >> 7 ? GT_MEM_ARRAY : GT_MEM_DEVICE };

		if (rnd() & 1) {
			CHECK(gt_live_alloc(&l, &e, &old) == !there[i].bytes);
			CHECK(!there[i].bytes || old.bytes == there[i].bytes);
			live += !there[i].bytes;
			there[i] = e;
		} else {
			CHECK(gt_live_free(&l, e.place, e.kind, e.addr, &old) ==
				(there[i].bytes != 0));
			CHECK(!there[i].bytes || old.bytes == there[i].bytes);
			live -= there[i].bytes != 0;
			there[i].bytes = 0;
		}
		CHECK(l.used == live);
	}
	gt_live_release(&l);
}

static void addresses_are_bounded(void)
{
	struct gt_live l = { 0 };
	struct gt_live_item old;

	for (uint32_t i = 0; i < GT_LIVE_MAX; i++)
		CHECK_EQ(gt_live_alloc(
				 &l, &(struct gt_live_item){ .addr = i * 512ul, .bytes = 1 }, &old),
			1);
	CHECK_EQ(gt_live_alloc(&l, &(struct gt_live_item){ .addr = 7 }, &old), -ENOSPC);
	CHECK(gt_live_alloc(&l, &(struct gt_live_item){ .addr = 512 }, &old) == 0 &&
		old.bytes == 1);
	CHECK(gt_live_free(&l, 0, 0, 1024, &old) == 1 &&
		gt_live_alloc(&l, &(struct gt_live_item){ .addr = 7 }, &old) == 1);
	gt_live_release(&l);
}

/* A call for another kind of memory may free any memory, but a handle is no address. */
static void kinds_share_addresses(void)
{
	struct gt_live l = { 0 };
	struct gt_live_item old;

	CHECK_EQ(gt_live_alloc(&l,
			 &(struct gt_live_item){ .addr = 64, .bytes = 5, .kind = GT_MEM_MANAGED },
			 &old),
		1);
	CHECK_EQ(gt_live_alloc(&l,
			 &(struct gt_live_item){ .addr = 64, .bytes = 6, .kind = GT_MEM_ARRAY },
			 &old),
		1);
	CHECK_EQ(gt_live_alloc(&l,
			 &(struct gt_live_item){ .addr = 64, .bytes = 7, .kind = GT_MEM_PHYSICAL },
			 &old),
		1);
	CHECK(gt_live_free(&l, 0, GT_MEM_DEVICE, 64, &old) == 1 && old.bytes == 5 &&
		old.kind == GT_MEM_MANAGED);
	CHECK(!gt_live_free(&l, 0, GT_MEM_DEVICE, 64, &old));
	CHECK(gt_live_free(&l, 0, GT_MEM_ARRAY, 64, &old) == 1 && old.bytes == 6);
	CHECK(gt_live_free(&l, 0, GT_MEM_PHYSICAL, 64, &old) == 1 && old.bytes == 7);
	gt_live_release(&l);
}

static struct gt_live_item handle(uint64_t h)
{
	return (struct gt_live_item){ .addr = h, .bytes = 4096, .kind = GT_MEM_PHYSICAL };
}

/* Physical memory exists until its handle is released as often as it was retained, and no
 * mapping of it remains. */
static void physical_memory_lives_while_it_is_held(void)
{
	struct gt_live l = { 0 };
	struct gt_live_item a = handle(1), b = handle(2), old;
	uint64_t at = 0x10000;

	CHECK(gt_live_alloc(&l, &a, &old) == 1 && gt_live_alloc(&l, &b, &old) == 1);
	CHECK(!gt_live_map(&l, 0, 0x10000, 1) && !gt_live_map(&l, 0, 0x11000, 2) &&
		!gt_live_map(&l, 0, 0x20000, 2));
	CHECK_EQ(gt_live_free(&l, 0, GT_MEM_PHYSICAL, 1, &old), GT_LIVE_MAPPED);
	/* once more: there is no such handle */
	CHECK_EQ(gt_live_free(&l, 0, GT_MEM_PHYSICAL, 1, &old), 0);
	CHECK(!gt_live_retain(&l, 0, 2, false));
	CHECK(gt_live_unmap(&l, 0, &at, 0x12000, &old) == 1 && old.addr == 1);
	/* the other one is held, and mapped elsewhere */
	CHECK(gt_live_unmap(&l, 0, &at, 0x12000, &old) == 0 && at == 0x12000);
	CHECK_EQ(gt_live_free(&l, 0, GT_MEM_PHYSICAL, 2, &old), GT_LIVE_REFERENCED);
	at = 0x20000;
	CHECK_EQ(gt_live_unmap(&l, 0, &at, 0x21000, &old), 0);
	CHECK(gt_live_free(&l, 0, GT_MEM_PHYSICAL, 2, &old) == 1 && l.used == 0);
	gt_live_release(&l);
}

/* A handle of another process is not ours, nor is a mapping of it. An address that is mapped
 * again must have been unmapped. */
static void mappings_of_others_and_missed_unmaps(void)
{
	struct gt_live l = { 0 };
	struct gt_live_item a = handle(1), b = handle(2), old;
	uint64_t at = 0x10000;

	CHECK(!gt_live_map(&l, 0, 0x10000, 77) && !l.used);
	CHECK(!gt_live_unmap(&l, 0, &at, UINT64_MAX, &old) &&
		!gt_live_free(&l, 0, GT_MEM_PHYSICAL, 77, &old));
	CHECK(gt_live_alloc(&l, &a, &old) == 1 && gt_live_alloc(&l, &b, &old) == 1);
	CHECK(!gt_live_map(&l, 0, 0x10000, 1) && !gt_live_map(&l, 0, 0x10000, 2));
	CHECK_EQ(gt_live_free(&l, 0, GT_MEM_PHYSICAL, 1, &old), 1);
	CHECK_EQ(gt_live_free(&l, 0, GT_MEM_PHYSICAL, 2, &old), GT_LIVE_MAPPED);
	CHECK(gt_live_unmap(&l, 0, &at, 0x11000, &old) == 1 && old.addr == 2 && !l.used);
	gt_live_release(&l);
}

/* A handle that another process allocated is released as often as it was retained, and this
 * frees no memory. */
static void handles_of_others_are_held(void)
{
	struct gt_live l = { 0 };
	struct gt_live_item a = handle(9), old;

	/* imported, and held once more */
	CHECK(!gt_live_retain(&l, 0, 7, true) && !gt_live_retain(&l, 0, 7, false));
	/* from before the recording, retained at least once */
	CHECK(!gt_live_retain(&l, 0, 8, false));
	CHECK(!gt_live_map(&l, 0, 0x10000, 7));
	for (uint64_t h = 7; h <= 8; h++) {
		CHECK_EQ(gt_live_free(&l, 0, GT_MEM_PHYSICAL, h, &old), GT_LIVE_REFERENCED);
		CHECK_EQ(gt_live_free(&l, 0, GT_MEM_PHYSICAL, h, &old), GT_LIVE_FOREIGN);
		CHECK_EQ(gt_live_free(&l, 0, GT_MEM_PHYSICAL, h, &old), GT_LIVE_UNKNOWN);
	}
	CHECK(!l.used && !gt_live_retain(&l, 1, 9, true) && !gt_live_retain(&l, 0, 9, true));
	/* its releases were not seen: nothing of ours was there */
	CHECK_EQ(gt_live_alloc(&l, &a, &old), 1);
	CHECK(gt_live_free(&l, 0, GT_MEM_PHYSICAL, 9, &old) == GT_LIVE_FREED && old.bytes == 4096 &&
		l.used == 1);
	gt_live_release(&l);
}

T_MAIN(T(addresses_come_and_go), T(addresses_are_bounded), T(kinds_share_addresses),
	T(physical_memory_lives_while_it_is_held), T(mappings_of_others_and_missed_unmaps),
	T(handles_of_others_are_held))
