/* The activity of one thread over time. Each level is a sorted list of intervals that do not
 * overlap: a nested interval of the same level is merged into the outer one. The first level that
 * covers a moment defines it. The owner drops intervals that are no longer needed. */
#ifndef GT_HOST_ACTIVITY_H
#define GT_HOST_ACTIVITY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "formats/base/err.h"
#include "formats/trace/record.h"

enum gt_host_level {
	GT_HOST_OVERHEAD, /* delayed by CUPTI */
	GT_HOST_RUNNABLE, /* waits for a processor, also in a call */
	GT_HOST_IOCTL,
	GT_HOST_CALL,    /* of the driver API */
	GT_HOST_RUNTIME, /* in a runtime call, outside calls of the driver */
	GT_HOST_OFF_CPU,
	GT_HOST_LOST,     /* records were lost */
	GT_HOST_TOO_MUCH, /* beyond GT_HOST_MOST intervals */
	GT_HOST_LEVELS,
	GT_HOST_NOTHING = GT_HOST_LEVELS
};
#define GT_HOST_MOST (5u << 19)  /* intervals in memory, of all threads: 40 MiB */
#define GT_HOST_TYPES (1u << 24) /* limit of types */

/* word: the caller's type and the duration; a longer interval is split. The word is packed by hand,
 * because bit-fields are slower and 20 million intervals are written. */
struct gt_host_interval {
	int64_t start;
	uint64_t word;
};
#define GT_HOST_NS_BITS 40
static inline struct gt_host_interval gt_host_interval(int64_t start, int64_t ns, uint32_t type)
{
	return (struct gt_host_interval){ start, (uint64_t)type << GT_HOST_NS_BITS | (uint64_t)ns };
}
static inline int64_t gt_host_ns(const struct gt_host_interval *s)
{
	return (int64_t)(s->word & ((1ull << GT_HOST_NS_BITS) - 1));
}
static inline int64_t gt_host_end(const struct gt_host_interval *s)
{
	return s->start + gt_host_ns(s);
}
static inline uint32_t gt_host_type(const struct gt_host_interval *s)
{
	return (uint32_t)(s->word >> GT_HOST_NS_BITS);
}
/* A sample of the thread, or the start of one of its calls and waits, with the call stack. */
struct gt_idle_stack {
	int64_t at;
	uint32_t stack; /* id in the segment; GT_NONE: none was recorded */
	union {
		uint64_t ns;     /* of a sample: the processor time that it stands for */
		uint32_t holder; /* of a wait for the GIL: the thread that has it; 0: unknown */
	};
};
struct gt_host_stacks {
	struct gt_idle_stack *list; /* sorted by time */
	size_t n, cap;
};
struct gt_host_activity { /* zeroed: empty */
	struct gt_host_list {
		struct gt_host_interval *list;
		size_t n, cap, hint; /* hint: index of the last result of a search */
	} level[GT_HOST_LEVELS];
	/* copies of pageable memory: start of the call, start of the copy; sorted by call */
	struct gt_host_copy {
		int64_t call, from;
	} * copies;
	size_t ncopies, copies_cap;
	struct gt_host_stacks samples, calls, waits;
};
/* from < to; s: NULL for GT_HOST_NOTHING. A negative return value ends the walk. */
typedef int gt_host_fn(void *arg, enum gt_host_level level, const struct gt_host_interval *s,
	int64_t from, int64_t to, struct gt_err *err);

/* Rows of a run: those with levels[code] == level are added with types[code] < GT_HOST_TYPES.
 * They are sorted by start, except that an outer one may follow those nested in it. Otherwise as
 * gt_host_add. */
struct gt_host_run {
	const int64_t *start, *dur;
	const uint16_t *code;
	uint32_t n;
	const uint8_t *levels;
	bool all; /* no code has another level */
	const uint32_t *types;
};
int gt_host_add_run(struct gt_host_activity *l, const struct gt_host_run *run,
	enum gt_host_level level, size_t *nintervals, struct gt_err *err);
/* The intervals of one level may come in any order; it costs least if few begin before those that
 * came earlier. *nintervals counts the intervals of all threads. 0 or -ENOMEM. */
int gt_host_add(struct gt_host_activity *l, enum gt_host_level level, int64_t start, int64_t end,
	uint32_t type, size_t *nintervals, struct gt_err *err);
/* Adds a copy of pageable memory that started at `from`, by the call that started at `call`. 0 or
 * -ENOMEM. */
int gt_host_add_copy(struct gt_host_activity *l, int64_t call, int64_t from, struct gt_err *err);
/* The start of the copy of pageable memory by this call. INT64_MAX: there is none. */
int64_t gt_host_copy_start(const struct gt_host_activity *l, int64_t call);
/* Adds a stack; they come nearly in order of time. *nintervals counts it, too. 1; 0: left out,
 * because there are GT_HOST_MOST intervals; or -ENOMEM. */
int gt_host_add_stack(
	struct gt_host_stacks *l, struct gt_idle_stack one, size_t *nintervals, struct gt_err *err);
/* The index of the first one at `at` or later. */
size_t gt_host_first_stack(const struct gt_host_stacks *l, int64_t at);
/* The stack of the call, or of the wait, that began at `at`; GT_NONE: it has none. */
uint32_t gt_host_stack_of(const struct gt_host_activity *l, bool wait, int64_t at);
/* The thread that had the GIL in the wait for it that began at `at`; 0: unknown. */
uint32_t gt_host_holder_of(const struct gt_host_activity *l, int64_t at);
/* The start of the driver call that the thread is in at `at`; `at` if there is none. */
int64_t gt_host_call_around(struct gt_host_activity *l, int64_t at);
/* Hands out [from, to) in pieces, in order of time. It is fast if the next range is near. */
int gt_host_split_range(struct gt_host_activity *l, int64_t from, int64_t to, gt_host_fn *fn,
	void *arg, struct gt_err *err);
/* drops intervals that end at `before` or earlier */
void gt_host_drop_before(struct gt_host_activity *l, int64_t before, size_t *nintervals);
bool gt_host_is_empty(const struct gt_host_activity *l);
void gt_host_release(struct gt_host_activity *l);
#endif
