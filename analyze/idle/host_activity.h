/* What a thread did, along its time: the calls it was in, and what was going on within and around
 * them, on levels of which the first that covers a moment says what the moment was. Each level is a
 * list of stretches that do not overlap, in order: what lies within another one of its level is
 * part of that. Kept are those that somebody may still ask for; the owner says from when on that
 * is. */
#ifndef GT_HOST_LINE_H
#define GT_HOST_LINE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "formats/base/err.h"

enum gt_host_level {
	GT_HOST_OVERHEAD, /* CUPTI held it up */
	GT_HOST_IOCTL,
	GT_HOST_CALL,    /* of the driver API */
	GT_HOST_RUNTIME, /* a call of the CUDA runtime, outside all of the driver's */
	GT_HOST_OFF_CPU,
	GT_HOST_LOST,     /* something of it was not recorded */
	GT_HOST_TOO_MUCH, /* not kept: GT_HOST_MOST */
	GT_HOST_LEVELS,
	GT_HOST_NOTHING = GT_HOST_LEVELS
};
#define GT_HOST_MOST (5u << 19)  /* stretches kept at a time, of all lines: 40 MiB */
#define GT_HOST_TYPES (1u << 24) /* types that there may be */

/* The type is the caller's number; what lasts for longer is several. Both are one word and no
 * bit-fields: 20 million of these are written. */
struct gt_host_stretch {
	int64_t start;
	uint64_t word;
};
#define GT_HOST_NS_BITS 40
static inline struct gt_host_stretch gt_host_stretch(int64_t start, int64_t ns, uint32_t type)
{
	return (struct gt_host_stretch){ start, (uint64_t)type << GT_HOST_NS_BITS | (uint64_t)ns };
}
static inline int64_t gt_host_ns(const struct gt_host_stretch *s)
{
	return (int64_t)(s->word & ((1ull << GT_HOST_NS_BITS) - 1));
}
static inline int64_t gt_host_end(const struct gt_host_stretch *s)
{
	return s->start + gt_host_ns(s);
}
static inline uint32_t gt_host_type(const struct gt_host_stretch *s)
{
	return (uint32_t)(s->word >> GT_HOST_NS_BITS);
}
struct gt_host_line { /* zero-initialised: nothing is known of it */
	struct gt_host_list {
		struct gt_host_stretch *list;
		size_t n, cap, near;
	} level[GT_HOST_LEVELS];
	/* of pageable memory: when the call began, and when the copy did */
	struct gt_host_copy {
		int64_t call, from;
	} * copies;
	size_t ncopies, copies_cap;
};
/* from < to; s: NULL for GT_HOST_NOTHING. Negative returns end the walk. */
typedef int gt_host_fn(void *arg, enum gt_host_level level, const struct gt_host_stretch *s,
	int64_t from, int64_t to, struct gt_err *err);

/* All rows of a run whose code's level is `level`, which levels[code] says; types[code] is what
 * they are, below GT_HOST_TYPES. Otherwise as below. */
struct gt_host_run {
	const int64_t *start, *dur;
	const uint16_t *code;
	uint32_t n;
	const uint8_t *levels;
	bool all; /* no code has another level */
	const uint32_t *types;
};
int gt_host_add_run(struct gt_host_line *l, const struct gt_host_run *run, enum gt_host_level level,
	size_t *kept, struct gt_err *err);
/* Those of one level come by their start, but one may come behind what lies within it. *kept counts
 * what all lines hold. 0 or -ENOMEM. */
int gt_host_add(struct gt_host_line *l, enum gt_host_level level, int64_t start, int64_t end,
	uint32_t type, size_t *kept, struct gt_err *err);
/* The call that began at this time copies pageable memory; the copy began at `from`. 0 or -ENOMEM.
 */
int gt_host_copies(struct gt_host_line *l, int64_t call, int64_t from, struct gt_err *err);
/* When did the copy begin that this call makes? INT64_MAX: it makes none. */
int64_t gt_host_copy_of(const struct gt_host_line *l, int64_t call);
/* Hands out [from, to) in pieces, in order. It remembers where that was, and is quick where the
 * next one is near. */
int gt_host_cut(struct gt_host_line *l, int64_t from, int64_t to, gt_host_fn *fn, void *arg,
	struct gt_err *err);
/* what ended by then */
void gt_host_forget(struct gt_host_line *l, int64_t before, size_t *kept);
bool gt_host_empty(const struct gt_host_line *l); /* is nothing of it kept? */
void gt_host_release(struct gt_host_line *l);
#endif
