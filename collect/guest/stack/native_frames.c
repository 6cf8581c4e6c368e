#include "collect/guest/stack/native_frames.h"

#include "collect/guest/stack/unwind_step.h"

/* Words of this thread's stack; remembers the last page. */
struct reader {
	struct gt_readable *readable;
	uintptr_t page;
};

static inline __attribute__((always_inline)) bool read_word(
	void *arg, uintptr_t address, uint64_t *word)
{
	struct reader *r = arg;

	if (gt_unlikely(address >> GT_READABLE_SHIFT != r->page)) {
		if (!gt_readable(r->readable, address, 8))
			return false;
		r->page = address >> GT_READABLE_SHIFT;
	}
	*word = *(const uint64_t *)address;
	return true;
}

/* The frame pointer of code without information led to this address. Is it a return address of
 * known code? */
static bool is_known(uint64_t rule)
{
	switch (gt_rule_kind(rule)) {
	case GT_RULE_SP:
#ifdef __aarch64__
		return false; /* the stack pointer is not known */
#endif
	case GT_RULE_FP:
	case GT_RULE_AT_FP:
	case GT_RULE_END: return true;
	default: return false;
	}
}

static enum gt_native_state state_of(enum gt_step step, uint64_t rule)
{
	switch (step) {
	case GT_STEP_END: return GT_NATIVE_OK;
	case GT_STEP_DAMAGED: return GT_NATIVE_DAMAGED;
	default: return gt_rule_kind(rule) == GT_RULE_SIGNAL ? GT_NATIVE_SIGNAL : GT_NATIVE_NO_RULE;
	}
}

__attribute__((hot)) uint32_t gt_native_frames(struct gt_readable *readable,
	const uintptr_t start[3], uintptr_t stop_low, uintptr_t stop_high, uint64_t *words,
	uint32_t max, enum gt_native_state *state)
{
	const struct gt_rule_cache *c = __atomic_load_n(&gt_rule_cache, __ATOMIC_ACQUIRE);
	uint64_t base = c ? gt_rule_epoch(c) : 0, rule = 0;
	struct gt_frame_registers at = { start[0], start[1], start[2] };
	struct reader r = { readable, UINTPTR_MAX };
	enum gt_step step = GT_STEP_BY_RULE;
	uint32_t n = 0;
#ifdef __aarch64__
	uint32_t left_out = 0;
#endif

	for (;;) {
		if (at.ra - stop_low < stop_high - stop_low)
			return *state = GT_NATIVE_STOPPED, n;
		if (gt_unlikely(at.ra >> GT_CODE_BITS))
			return *state = GT_NATIVE_DAMAGED, n;
		if (gt_unlikely(!c || !gt_rule_lookup(c, base, at.ra, &rule))) {
			gt_unwind_request(at.ra, at.sp, at.fp);
			*state = GT_NATIVE_PENDING;
			if (step == GT_STEP_BY_RULE && n < max)
				words[n++] = at.ra;
			return n;
		}
		if (gt_unlikely(step == GT_STEP_BY_FP && !is_known(rule)))
			return *state = GT_NATIVE_NO_RULE, n;
		if (gt_unlikely(n == max))
			return *state = GT_NATIVE_TRUNCATED, n;
		words[n++] = at.ra;
#ifdef __aarch64__
		if (n == 1 && gt_is_guest_code((void *)at.ra) && left_out++ < GT_OWN_FRAMES_MAX)
			n = 0;
#endif
		step = gt_unwind_step(rule, &at, read_word, &r);
		if (gt_unlikely(step > GT_STEP_BY_FP))
			return *state = state_of(step, rule), n;
	}
}
