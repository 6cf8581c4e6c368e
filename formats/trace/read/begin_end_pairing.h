/* Pairs begins and ends to calls, for importers and any source that records the two sides apart.
 *
 * A begin and an end belong together if (scope, key) and the name agree and the end is not earlier.
 * There are two modes:
 *
 *   GT_PAIR_BY_ID   a key is used once at a time. A second begin of an open key makes the first one
 *                   unmatched (ids that wrap around, a lost end). An end that comes before its
 * begin waits for it (files that are not sorted). GT_PAIR_NESTED  begins of one key form a stack,
 * and an end takes the innermost. An end without a begin is unmatched at once.
 *
 * Memory is bounded: GT_PAIR_BEGINS open begins, GT_PAIR_ENDS waiting ends, GT_PAIR_ARGS bytes of
 * arguments, GT_PAIR_LANE_BYTES for lanes: under 80 MiB in all, plus 48 bytes per track. Beyond
 * that the oldest half becomes unmatched; nothing is dropped.
 *
 * Calls on one track should nest. Where they do not (several threads in a file without thread ids),
 * a call that would partly overlap an earlier one is given lane 1, 2 ... of its track, so that each
 * lane nests; GT_PAIR_LANES if none is free. The result is exact for input in order of time, and an
 * estimate where some times go back. Where many times go back, all calls get depth 0 and lane 0.
 */
#ifndef GT_BEGIN_END_PAIRING_H
#define GT_BEGIN_END_PAIRING_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "formats/base/err.h"

#define GT_PAIR_BEGINS (1u << 17)
#define GT_PAIR_ENDS (1u << 17)
#define GT_PAIR_ARGS (16u << 20)
#define GT_PAIR_LANES 8
#define GT_PAIR_LANE_BYTES (8u << 20)

enum gt_pair_mode { GT_PAIR_BY_ID, GT_PAIR_NESTED };

/* One side of a call. The caller defines what `name` and `what` mean; `what` is only
 * passed back. */
struct gt_half {
	int64_t time; /* ns */
	uint64_t key;
	uint32_t scope; /* keys of different scopes are different */
	/* dense, from 0. The track of an end is used only if the end is unmatched */
	uint32_t track;
	uint32_t name, what;
	int32_t ret;
	uint32_t nargs;
	const uint64_t *args; /* copied if the half must wait */
};
/* Both sides are borrowed for the callback. A negative result ends the pairing: the
 * function that called the callback returns it. */
struct gt_pair_sink {
	int (*call)(void *arg, const struct gt_half *begin, const struct gt_half *end,
		unsigned lane, uint8_t depth, struct gt_err *err);
	int (*unmatched)(void *arg, const struct gt_half *half, bool is_end, struct gt_err *err);
	int (*open)(void *arg, const struct gt_half *begin, uint8_t depth, struct gt_err *err);
};

struct gt_pairing;
struct gt_pairing *gt_pair_new(
	enum gt_pair_mode mode, const struct gt_pair_sink *sink, void *arg, struct gt_err *err);
void gt_pair_free(struct gt_pairing *p); /* NULL is fine; drops open halves */

/* 0 or negative */
int gt_pair_begin(struct gt_pairing *p, const struct gt_half *half, struct gt_err *err);
int gt_pair_end(struct gt_pairing *p, const struct gt_half *half, struct gt_err *err);
/* is there an open begin with this key? */
bool gt_pair_is_open(const struct gt_pairing *p, uint64_t key, uint32_t scope);
/* Calls sink->open for the open begins, oldest first, at most `most` of them. */
int gt_pair_each_open(struct gt_pairing *p, size_t most, struct gt_err *err);
/* Call it at the end of the input: the ends that still wait are unmatched. Open
 * begins stay open (gt_pair_each_open). */
int gt_pair_finish(struct gt_pairing *p, struct gt_err *err);
uint64_t gt_pair_count_unmatched(const struct gt_pairing *p); /* unmatched halves so far */
#endif
