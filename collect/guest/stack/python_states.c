/* The state that this thread uses, where Python does not return it.
 *
 * Up to 3.11, PyGILState_GetThisThreadState returns only a thread's state of the first interpreter.
 * A thread that runs code in a sub-interpreter uses a state of that one, which another thread may
 * have made: then it has the id of that other thread. What tells is the structure of the innermost
 * call of the interpreter, which is on the stack of the thread that runs it. 3.9 has no such
 * structure: while a sub-interpreter has frames, it is not known whose they are. */
#include "collect/guest/stack/python_internal.h"

#define MAX_STATES 4096 /* thread states and interpreters that one search visits */

struct search {
	const struct gt_python_layout *l;
	struct gt_readable *r;
	uintptr_t sp, id, found, call;
	uint32_t visits;
	bool is_main;   /* the current interpreter is the first one */
	bool elsewhere; /* a state with this thread's id is not used on this stack */
	bool ambiguous;
};

/* Does any thread run the interpreter with this state? */
static bool has_call(const struct gt_python_layout *l, uintptr_t state)
{
	const uintptr_t call = GT_READ(uintptr_t, state + l->thread_call);

	return call && call - state >= GT_PYTHON_STATE_MAX;
}

/* 3.10 and 3.11: the innermost of those that this thread uses. */
static void consider_call(struct search *s, uintptr_t state)
{
	const struct gt_python_layout *l = s->l;
	const uintptr_t call = GT_READ(uintptr_t, state + l->thread_call);
	bool damaged = false;

	if (!gt_python_runs_here(l, state, s->sp)) {
		s->elsewhere |= has_call(l, state) && gt_python_is_state_of(l, s->r, state, s->id);
	} else if ((!s->found || call < s->call) && gt_python_innermost(l, s->r, state, &damaged)) {
		s->found = state;
		s->call = call;
	}
}

/* Of those with this thread's id, the one that has frames. If several have: the one whose call of
 * the interpreter is innermost on the stack, where 3.12 keeps a structure of each call. */
static void consider_id(struct search *s, uintptr_t state)
{
	const struct gt_python_layout *l = s->l;
	const uintptr_t call = GT_READ(uintptr_t, state + l->thread_frame);
	const bool is_own = gt_python_is_state_of(l, s->r, state, s->id);
	bool damaged = false;

	/* 3.9: whose frames they are is not known */
	s->ambiguous |= l->searches_states && !s->is_main && call;
	if (!is_own || !gt_python_innermost(l, s->r, state, &damaged))
		return;
	s->ambiguous |= s->found && l->innermost == GT_PYTHON_NO;
	if (!s->found || call < s->call) {
		s->found = state;
		s->call = call;
	}
}

static void visit_states(struct search *s, uintptr_t interpreter)
{
	const struct gt_python_layout *l = s->l;
	uintptr_t state = GT_READ(uintptr_t, interpreter + l->interpreter_threads);

	for (; state && !(state & 7) && s->visits++ < MAX_STATES &&
		gt_readable(s->r, state, l->thread_id + sizeof(uintptr_t));
		state = GT_READ(uintptr_t, state + l->thread_next))
		if (l->thread_call == GT_PYTHON_NO)
			consider_id(s, state);
		else
			consider_call(s, state);
}

uintptr_t gt_python_search_states(const struct gt_interpreter *in, struct gt_readable *r,
	uintptr_t sp, enum gt_python_state *state)
{
	const struct gt_python_layout *l = &in->layout;
	struct search s = { .l = l, .r = r, .sp = sp, .id = in->thread_id() };
	uintptr_t i = GT_READ(uintptr_t, in->runtime + l->interpreters), next;

	for (; i && !(i & 7) && s.visits++ < MAX_STATES &&
		gt_readable(r, i, l->interpreter_threads + sizeof(uintptr_t));
		i = next) {
		next = GT_READ(uintptr_t, i + l->interpreter_next);
		s.is_main = !next;
		visit_states(&s, i);
	}
	*state = s.ambiguous || (!s.found && s.elsewhere) ? GT_PYTHON_UNKNOWN : GT_PYTHON_NONE;
	return s.ambiguous ? 0 : s.found;
}

static bool has_several_interpreters(const struct gt_interpreter *in)
{
	return GT_READ(int64_t, in->runtime + in->layout.next_interpreter_id) > 1;
}

/* Python's state of this thread, in a process with one interpreter. */
static bool is_used_here(
	const struct gt_interpreter *in, struct gt_readable *r, uintptr_t state, uintptr_t sp)
{
	const struct gt_python_layout *l = &in->layout;

	return gt_python_is_state_of(l, r, state, in->thread_id()) &&
		(l->thread_call == GT_PYTHON_NO || !has_call(l, state) ||
			gt_python_runs_here(l, state, sp));
}

uintptr_t gt_python_older_state(const struct gt_interpreter *in, struct gt_readable *r,
	uintptr_t sp, enum gt_python_state *state)
{
	const struct gt_python_layout *l = &in->layout;
	const uintptr_t current = (uintptr_t)in->current();
	uintptr_t found;

	/* the thread holds the lock, most often */
	if (gt_likely(l->thread_call != GT_PYTHON_NO) && current && !(current & 7) &&
		gt_readable(r, current, l->thread_id + sizeof(uintptr_t)) &&
		gt_python_runs_here(l, current, sp))
		return current;
	if (gt_unlikely(has_several_interpreters(in)))
		return gt_python_search_states(in, r, sp, state);
	*state = GT_PYTHON_NONE;
	if (l->thread_call == GT_PYTHON_NO && current &&
		gt_python_is_state_of(l, r, current, in->thread_id()))
		return current;
	found = (uintptr_t)in->of_thread();
	if (!found || is_used_here(in, r, found, sp))
		return found;
	*state = GT_PYTHON_UNKNOWN;
	return 0;
}
