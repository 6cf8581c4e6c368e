#include "collect/guest/stack/native_frames.h"

#include "collect/guest/stack/unwind_step.h"

/* A word of this thread's stack. */
static __attribute__((no_sanitize("address"))) bool read_word(
	void *readable, uintptr_t address, uint64_t *word)
{
	if (!gt_readable(readable, address, 8))
		return false;
	*word = *(const uint64_t *)address;
	return true;
}

/* Can the word be read? *page is the last page that can. */
static inline __attribute__((always_inline)) bool can_read(
	struct gt_readable *r, uintptr_t address, uintptr_t *page)
{
	if (gt_likely(address >> GT_READABLE_SHIFT == *page))
		return true;
	if (!gt_readable_page(r, address))
		return false;
	*page = address >> GT_READABLE_SHIFT;
	return true;
}

struct walk {
	const struct gt_rule_cache *cache;
	uint64_t base; /* gt_rule_epoch */
	struct gt_readable *readable;
	uintptr_t stop_low, stop_bytes;
	struct gt_frame_registers at; /* of the frame that is written next */
	uint64_t *next, *end;         /* in words */
};

/* Walks over frames whose rules are known and of the two usual kinds, as far as it can be done
 * without any other case. The body is short: its 12 cycles for a frame are those that one word of
 * the stack needs to lead to the next one. */
static __attribute__((hot, no_sanitize("address"))) void walk_usual_frames(struct walk *w)
{
	const struct gt_rule_cache *c = w->cache;
	uint64_t base = w->base, *next = w->next, *const end = w->end;
	uintptr_t stop_low = w->stop_low, stop_bytes = w->stop_bytes;
	uintptr_t ra = w->at.ra, fp = w->at.fp, page = UINTPTR_MAX;
	uintptr_t below = w->at.sp - 8; /* the word below the stack pointer */
	struct gt_unwind_rule rule;

	while (next != end && !((ra - 1) >> GT_CODE_BITS) && ra - stop_low >= stop_bytes &&
		gt_likely(gt_rule_lookup(c, base, ra, &rule))) {
		uintptr_t new_below = below + gt_rule_cfa(rule), grows;

		if (gt_unlikely(gt_rule_kind(rule) != GT_RULE_SP)) {
			new_below = fp + gt_rule_cfa(rule) - 8;
			grows = new_below - below - 8;
			if (gt_rule_kind(rule) != GT_RULE_FP ||
				(grows >> 3 | grows << 61) >= GT_FRAME_MAX / 8)
				break;
		}
		if (gt_unlikely(!can_read(w->readable, new_below + 8 - gt_rule_ra(rule), &page)))
			break;
		if (gt_rule_fp(rule)) {
			if (gt_unlikely(!can_read(
				    w->readable, new_below + 8 - gt_rule_fp(rule), &page)))
				break;
			fp = *(const uintptr_t *)(new_below + 8 - gt_rule_fp(rule));
		}
		*next++ = ra;
		below = new_below;
		ra = *(const uintptr_t *)(below + 8 - gt_rule_ra(rule));
#ifdef __aarch64__
		ra &= (1ull << GT_CODE_BITS) - 1;
#endif
	}
	w->at = (struct gt_frame_registers){ ra, below + 8, fp };
	w->next = next;
}

/* A return address to which the frame pointer of code without information led: does known code
 * contain it? */
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

static bool find_rule(const struct walk *w, struct gt_unwind_rule *rule)
{
	if (gt_rule_lookup(w->cache, w->base, w->at.ra, rule))
		return true;
	gt_unwind_request(&w->at);
	return false;
}

/* Handles one frame of any kind. True: the walk goes on. */
static bool walk_frame(struct walk *w, enum gt_native_state *state)
{
	struct gt_unwind_rule rule;

	*state = GT_NATIVE_OK;
	if (!w->at.ra)
		return false;
	*state = GT_NATIVE_STOPPED;
	if (w->at.ra - w->stop_low < w->stop_bytes)
		return false;
	*state = GT_NATIVE_TRUNCATED;
	if (w->next == w->end)
		return false;
	*state = GT_NATIVE_DAMAGED;
	if (w->at.ra >> GT_CODE_BITS)
		return false;
	*state = GT_NATIVE_PENDING;
	*w->next++ = w->at.ra;
	if (!find_rule(w, &rule))
		return false;
	switch (gt_unwind_step(rule, &w->at, read_word, w->readable)) {
	case GT_STEP_BY_RULE: return true;
	case GT_STEP_BY_FP:
		if (!find_rule(w, &rule))
			return false;
		*state = GT_NATIVE_NO_RULE;
		return is_known(rule);
	case GT_STEP_END: *state = GT_NATIVE_OK; return false;
	case GT_STEP_DAMAGED: *state = GT_NATIVE_DAMAGED; return false;
	default:
		*state =
			gt_rule_kind(rule) == GT_RULE_SIGNAL ? GT_NATIVE_SIGNAL : GT_NATIVE_NO_RULE;
		return false;
	}
}

#if defined(__aarch64__) && !defined(GT_HOSTED)
static void skip_guest(struct walk *w, uint64_t *words)
{
	enum gt_native_state state;

	for (unsigned i = 0; i < GT_OWN_FRAMES_MAX && gt_is_guest_code((void *)w->at.ra) &&
		walk_frame(w, &state);
		i++)
		w->next = words;
}
#endif

uint32_t gt_native_frames(struct gt_readable *readable, const uintptr_t start[3],
	uintptr_t stop_low, uintptr_t stop_high, uint64_t *words, uint32_t max,
	enum gt_native_state *state)
{
	const struct gt_rule_cache *c = __atomic_load_n(&gt_rule_cache, __ATOMIC_ACQUIRE);
	struct walk w = { c, c ? gt_rule_epoch(c) : 0, readable, stop_low, stop_high - stop_low,
		{ start[0], start[1], start[2] }, words, words + max };

	*state = GT_NATIVE_PENDING;
	if (!c || w.at.sp % 8)
		return 0;
#if defined(__aarch64__) && !defined(GT_HOSTED)
	skip_guest(&w, words);
#endif
	do
		walk_usual_frames(&w);
	while (walk_frame(&w, state));
	return (uint32_t)(w.next - words);
}

/* ---- what a walk depends on ---- */

struct log {
	struct gt_readable *readable;
	struct gt_native_place *places;
	uint32_t n, max;
	bool failed;
};

static void append(struct log *l, struct gt_native_place p)
{
	l->failed |= l->n == l->max;
	if (!l->failed)
		l->places[l->n++] = p;
}

static bool read_and_log(void *log, uintptr_t address, uint64_t *word)
{
	struct log *l = log;

	l->failed |= !read_word(l->readable, address, word);
	if (l->failed)
		return false;
	append(l, (struct gt_native_place){ address, *word });
	return !l->failed;
}

static bool is_by_fp(struct gt_unwind_rule rule)
{
	return gt_rule_kind(rule) == GT_RULE_FP || gt_rule_kind(rule) == GT_RULE_AT_FP ||
		gt_rule_kind(rule) == GT_RULE_PLAIN;
}

/* Is the last word that this step reads the caller's frame pointer? */
static bool reads_fp(struct gt_unwind_rule rule)
{
	return gt_rule_fp(rule) || gt_rule_kind(rule) == GT_RULE_AT_FP ||
		gt_rule_kind(rule) == GT_RULE_PLAIN;
}

/* A saved frame pointer counts only if a rule needs it: functions may use the register for
 * anything. */
bool gt_native_remember(struct gt_readable *r, const uintptr_t start[3], uintptr_t stop_low,
	uintptr_t stop_high, struct gt_native_place *places, uint32_t max, uint32_t *n,
	bool *needs_fp)
{
	const struct gt_rule_cache *c = __atomic_load_n(&gt_rule_cache, __ATOMIC_ACQUIRE);
	struct log l = { r, places, 0, max, false };
	struct gt_frame_registers at = { start[0], start[1], start[2] };
	struct gt_native_place fp = { 0 }; /* where at.fp was read; address 0: it is start[2] */
	enum gt_step step = GT_STEP_BY_RULE;
	struct gt_unwind_rule rule;
	bool fp_counts = false; /* it has been written */

	*needs_fp = false;
	while (step <= GT_STEP_BY_FP && at.ra - stop_low >= stop_high - stop_low) {
		uint32_t before = l.n;

		if (at.ra >> GT_CODE_BITS || !c ||
			!gt_rule_lookup(c, gt_rule_epoch(c), at.ra, &rule))
			return false;
		if (step == GT_STEP_BY_FP && !is_known(rule))
			break;
		if (is_by_fp(rule) && !fp_counts) {
			fp_counts = true;
			if (fp.address)
				append(&l, fp);
			else
				*needs_fp = true;
			before = l.n;
		}
		step = gt_unwind_step(rule, &at, read_and_log, &l);
		if (l.failed || step == GT_STEP_DAMAGED)
			return false;
		if (l.n > before && reads_fp(rule)) {
			fp = places[--l.n];
			fp_counts = false;
		}
	}
	*n = l.n;
	return true;
}
