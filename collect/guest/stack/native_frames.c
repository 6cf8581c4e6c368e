#include "collect/guest/stack/native_frames.h"

#include "collect/guest/stack/unwind_step.h"

/* Words of this thread's stack. */
static bool read_word(void *readable, uintptr_t address, uint64_t *word)
{
	if (!gt_readable(readable, address, 8))
		return false;
	*word = *(const uint64_t *)address;
	return true;
}

/* A step of any kind. */
static __attribute__((noinline)) enum gt_step make_step(
	struct gt_unwind_rule rule, struct gt_frame_registers *at, struct gt_readable *readable)
{
	return gt_unwind_step(rule, at, read_word, readable);
}

/* Can the word be read? *page is the last page that can. */
static inline __attribute__((always_inline)) bool can_read(
	struct gt_readable *r, uintptr_t address, uintptr_t *page)
{
	if (gt_likely(address >> GT_READABLE_SHIFT == *page))
		return true;
	*page = address >> GT_READABLE_SHIFT;
	return gt_readable_page(r, address);
}

/* The end of a frame, which is 8 bytes below its CFA (there x86-64 has the return address), of the
 * two kinds that nearly all functions have. end: that of the frame before. 0: another kind, or the
 * frame pointer is impossible. */
static inline __attribute__((always_inline)) uintptr_t usual_end(
	struct gt_unwind_rule rule, uintptr_t end, uintptr_t fp)
{
	uintptr_t new, grows;

	if (gt_likely(gt_rule_kind(rule) == GT_RULE_SP))
		return end + gt_rule_cfa(rule); /* that is positive */
	if (gt_unlikely(gt_rule_kind(rule) != GT_RULE_FP))
		return 0;
	new = fp + gt_rule_cfa(rule) - 8;
	grows = new - end - 8;
	return gt_likely((grows >> 3 | grows << 61) < GT_FRAME_MAX / 8) ? new : 0;
}

/* The frame pointer of code without information led to this address. Is it a return address of
 * known code? */
static bool is_known(struct gt_unwind_rule rule)
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

static enum gt_native_state state_of(enum gt_step step, struct gt_unwind_rule rule)
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
	uintptr_t ra = start[0], frame_end = start[1] - 8, fp = start[2], new_end,
		  page = UINTPTR_MAX;
	uint64_t base, *at = words, *end = words + max;
	enum gt_step step = GT_STEP_BY_RULE;
	struct gt_unwind_rule rule;
#ifdef __aarch64__
	uint32_t left_out = 0;
#endif

	*state = GT_NATIVE_PENDING;
	if (!c || frame_end % 8)
		return 0;
	base = gt_rule_epoch(c);
	for (;;) {
		struct gt_frame_registers next;

		if (gt_unlikely(ra - stop_low < stop_high - stop_low))
			return *state = GT_NATIVE_STOPPED, at - words;
		if (gt_unlikely(at == end))
			return *state = ra ? GT_NATIVE_TRUNCATED : GT_NATIVE_OK, at - words;
		if (gt_unlikely(ra >> GT_CODE_BITS))
			return *state = GT_NATIVE_DAMAGED, at - words;
		*at = ra;
		if (gt_unlikely(!gt_rule_lookup(c, base, ra, &rule))) {
			if (!ra)
				return *state = GT_NATIVE_OK, at - words;
			gt_unwind_request(ra, frame_end + 8, fp);
			return at - words + (step == GT_STEP_BY_RULE);
		}
		if (gt_unlikely(step == GT_STEP_BY_FP) && !is_known(rule))
			return *state = GT_NATIVE_NO_RULE, at - words;
		at++;
#ifdef __aarch64__
		if (at == words + 1 && left_out++ < GT_OWN_FRAMES_MAX &&
			gt_is_guest_code((void *)ra))
			at = words;
#endif
		new_end = usual_end(rule, frame_end, fp);
		if (gt_likely(new_end &&
			    can_read(readable, new_end + 8 - gt_rule_ra(rule), &page) &&
			    can_read(readable, new_end + 8 - gt_rule_fp(rule), &page))) {
			ra = *(const uintptr_t *)(new_end + 8 - gt_rule_ra(rule));
			if (gt_rule_fp(rule))
				fp = *(const uintptr_t *)(new_end + 8 - gt_rule_fp(rule));
#ifdef __aarch64__
			ra &= (1ull << GT_CODE_BITS) - 1;
#endif
			frame_end = new_end;
			step = GT_STEP_BY_RULE;
			continue;
		}
		next = (struct gt_frame_registers){ ra, frame_end + 8, fp };
		step = make_step(rule, &next, readable);
		if (step > GT_STEP_BY_FP)
			return *state = state_of(step, rule), at - words;
		ra = next.ra, frame_end = next.sp - 8, fp = next.fp;
	}
}
