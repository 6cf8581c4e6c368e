/* One step of a walk over a native stack: from a function to its caller. */
#ifndef GT_GUEST_UNWIND_STEP_H
#define GT_GUEST_UNWIND_STEP_H
#include "collect/guest/stack/unwind_rules.h"

enum gt_step {
	GT_STEP_BY_RULE,
	/* The code has no call frame information. Its frame pointer led to a plausible place. */
	GT_STEP_BY_FP,
	GT_STEP_END,    /* there is no caller */
	GT_STEP_NONE,   /* the rule does not lead on */
	GT_STEP_DAMAGED /* the stack cannot be read there, or its contents are impossible */
};

/* Reads a word of the stack; address is a multiple of 8. False: it cannot be read. */
typedef bool gt_stack_read(void *arg, uintptr_t address, uint64_t *word);

static inline __attribute__((always_inline)) enum gt_step gt_unwind_step(
	struct gt_unwind_rule rule, struct gt_frame_registers *at, gt_stack_read *read, void *arg)
{
	enum gt_step step = GT_STEP_BY_RULE;
	uintptr_t cfa, ra_at, fp_at = 0;
	uint64_t word;

	switch (gt_rule_kind(rule)) {
	case GT_RULE_SP: cfa = at->sp + gt_rule_cfa(rule); break;
	case GT_RULE_FP: cfa = at->fp + gt_rule_cfa(rule); break;
	case GT_RULE_AT_FP:
		word = at->fp + gt_rule_cfa(rule);
		if (at->fp < at->sp || at->fp % 8 || word < at->sp || !read(arg, word, &word))
			return GT_STEP_DAMAGED;
		cfa = word;
		fp_at = at->fp;
		break;
	case GT_RULE_PLAIN:
		if (at->fp < at->sp)
			return GT_STEP_NONE;
		cfa = at->fp + 16;
		step = GT_STEP_BY_FP;
		break;
	case GT_RULE_END: return GT_STEP_END;
	default: return GT_STEP_NONE;
	}
	if (gt_unlikely(cfa <= at->sp || cfa - at->sp > GT_FRAME_MAX || cfa % 8))
		return step == GT_STEP_BY_FP ? GT_STEP_NONE : GT_STEP_DAMAGED;
	ra_at = cfa - (step == GT_STEP_BY_FP ? 8 : gt_rule_ra(rule));
	if (step == GT_STEP_BY_FP)
		fp_at = at->fp;
	else if (gt_rule_fp(rule))
		fp_at = cfa - gt_rule_fp(rule);
	if (gt_unlikely(!read(arg, ra_at, &word)))
		return step == GT_STEP_BY_FP ? GT_STEP_NONE : GT_STEP_DAMAGED;
#ifdef __aarch64__
	word &= (1ull << GT_CODE_BITS) - 1; /* the bits above may be a signature */
#endif
	at->ra = word;
	if (fp_at) {
		if (gt_unlikely(!read(arg, fp_at, &word)))
			return GT_STEP_DAMAGED;
		at->fp = word;
	}
	at->sp = cfa;
	return at->ra ? step : GT_STEP_END;
}
#endif
