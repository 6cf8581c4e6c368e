#include "collect/guest/stack/recent_stacks.h"

#include "collect/guest/stack/python_internal.h"
#include "collect/guest/stack/unwind_rules.h"

#define CREDIT 1024u       /* at most */
#define KEPT_OF_MISSES 16u /* one of so many is kept without credit */

static uint32_t number_of(const struct gt_python_top *top) { return top->in ? top->in->number : 0; }

static inline __attribute__((always_inline, no_sanitize("address"))) bool is_same_native(
	const struct gt_recent_stack *e)
{
	const struct gt_native_place *p = e->native, *end = p + e->nnative;

	/* in this order: the words before lead to the next one */
	for (; p < end; p++)
		if (*(const uint64_t *)p->address != p->word)
			return false;
	return true;
}

static inline __attribute__((always_inline)) bool is_current(const struct gt_recent_stacks *s,
	const struct gt_recent_stack *e, const uintptr_t start[3], const struct gt_python_top *top)
{
	if (e->start[1] != start[1] || e->start[0] != start[0] || !e->number ||
		(e->needs_fp && e->start[2] != start[2]) || e->epoch != gt_unwind_epoch() ||
		e->interpreter != number_of(top) || !is_same_native(e))
		return false;
	if (!top->frame)
		return !e->npython && e->python_state == top->state;
	return e->npython && gt_python_is_unchanged(&s->python, top, e->python, e->npython);
}

/* The stack at this place is the one that follows the last one. */
static void follow(struct gt_recent_stacks *s, uint32_t i)
{
	uint16_t *next = s->stack[s->last].next;

	if (next[0] != i) {
		next[1] = next[0];
		next[0] = (uint16_t)i;
	}
	s->last = (uint16_t)i;
}

uint32_t gt_recent_find(
	struct gt_recent_stacks *s, const uintptr_t start[3], const struct gt_python_top *top)
{
	uint32_t i = s->stack[s->last].next[0];

	if (gt_unlikely(!is_current(s, &s->stack[i], start, top))) {
		i = s->stack[s->last].next[1];
		if (!is_current(s, &s->stack[i], start, top))
			return 0;
		follow(s, i);
	}
	s->last = (uint16_t)i;
	s->credit += s->credit < CREDIT;
	return s->stack[i].number;
}

/* A program that never repeats its stacks should not pay for keeping them. */
static bool is_worth_it(struct gt_recent_stacks *s)
{
	if (!s->misses++)
		s->credit = CREDIT;
	if (!s->credit)
		return s->misses % KEPT_OF_MISSES == 0;
	s->credit--;
	return true;
}

static bool fill(const struct gt_recent_walk *w, struct gt_readable *r, struct gt_python_memory *m,
	struct gt_recent_stack *e)
{
	uint32_t nnative, npython = 0;

	e->number = 0;
	if (!gt_native_remember(r, w->start, w->stop_low, w->stop_high, e->native, GT_RECENT_FRAMES,
		    &nnative, &e->needs_fp))
		return false;
	if (w->top->frame &&
		!gt_python_remember(
			m, r, w->top, w->frames, w->nframes, e->python, GT_RECENT_FRAMES, &npython))
		return false;
	e->nnative = (uint8_t)nnative;
	e->npython = (uint8_t)npython;
	e->python_state = (uint8_t)w->top->state;
	e->interpreter = number_of(w->top);
	e->epoch = w->epoch;
	memcpy(e->start, w->start, sizeof(e->start));
	e->number = w->number;
	return true;
}

void gt_recent_keep(
	struct gt_recent_stacks *s, struct gt_readable *r, const struct gt_recent_walk *w)
{
	uint16_t *place = &s->by_number[w->number % GT_RECENT_NUMBERS];
	struct gt_recent_stack *e = &s->stack[*place];

	if (e->number == w->number && is_current(s, e, w->start, w->top)) {
		follow(s, *place);
		return;
	}
	if (!is_worth_it(s))
		return;
	if (e->number != w->number) {
		*place = (uint16_t)(s->oldest++ % GT_RECENT_STACKS);
		e = &s->stack[*place];
	}
	if (fill(w, r, &s->python, e))
		follow(s, *place);
}
