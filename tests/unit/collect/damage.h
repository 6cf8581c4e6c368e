/* Damages the memory that gtcollect shares with programs: overwrites words with values that a
 * reader is likely to handle wrongly. For test_recorder_damage.c, and for damage_prog.c, a program
 * that damages its own ring while it is recorded. */
#ifndef DAMAGE_H
#define DAMAGE_H
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include "collect/ipc/ring.h"

static inline uint64_t damage_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed * 0x2545f4914f6cdd1dull;
}

#define DAMAGE_VALUES 16
/* Value i of DAMAGE_VALUES for a word that holds `old`: limits of sizes and times, small changes, a
 * flipped bit, random bits. */
static inline uint64_t damage_value(unsigned i, uint64_t old, uint64_t *seed)
{
	struct timespec t;
	uint64_t now;

	clock_gettime(CLOCK_MONOTONIC, &t);
	now = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	switch (i) {
	case 0: return 0;
	case 1: return 1;
	case 2: return UINT64_MAX;
	case 3: return INT64_MAX;
	case 4: return (uint64_t)1 << 63;
	case 5: return UINT32_MAX;
	case 6: return (uint64_t)INT32_MAX << 32 | INT32_MAX;
	case 7: return (uint64_t)1 << 61;
	case 8: return now + 2000000000; /* 2 s ahead */
	case 9: return now + 3600000000000ull;
	case 10: return old + 8;
	case 11: return old - 8;
	case 12: return old << 8;
	case 13: return old ^ (uint64_t)1 << (damage_random(seed) & 63);
	case 14: return (old & UINT32_MAX) | damage_random(seed) << 32;
	default: return damage_random(seed);
	}
}

/* Overwrites one of the n words at `at`, which another process may read at the same time. */
static inline void damage_word(uint64_t *at, size_t n, uint64_t *seed)
{
	uint64_t *word = at + damage_random(seed) % n,
		 old = __atomic_load_n(word, __ATOMIC_RELAXED);
	unsigned value = (unsigned)(damage_random(seed) % DAMAGE_VALUES);

	__atomic_store_n(word, damage_value(value, old, seed), __ATOMIC_RELAXED);
}
#endif
