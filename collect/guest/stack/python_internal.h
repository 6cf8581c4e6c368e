/* Shared by the files that read the interpreter's frames. */
#ifndef GT_PYTHON_INTERNAL_H
#define GT_PYTHON_INTERNAL_H
#include "collect/guest/stack/python_frames.h"
#include "formats/python/python_offsets.h"
#include "formats/python/python_read.h"

/* with the offsets of one version as constants */
#define INLINE static inline __attribute__((always_inline))

struct gt_interpreter {
	struct gt_python_layout layout;
	bool known;      /* the layout is */
	bool in_program; /* not in a library */
	/* `current` and `of_thread` read variables of the thread, for which the loader may
	 * allocate memory */
	bool may_allocate;
	uint32_t version;
	/* version of a layout in python_offsets.h with the same frames; 0: none */
	uint32_t constants;
	uintptr_t runtime, code_type, text_type, bytes_type, eval_low, eval_high;
	void *(*current)(void); /* the state that holds the lock; from 3.12 on this thread's */
	void *(*of_thread)(void);
	uintptr_t (*thread_id)(void); /* pthread_self, which the guest library must not link */
	uint32_t number;              /* differs from that of each interpreter found before */
};

/* ---- thread states ---- */

INLINE bool gt_python_is_state_of(const struct gt_python_layout *l, struct gt_readable *r,
	uintptr_t state, uintptr_t thread_id)
{
	return !(state & 7) && gt_readable(r, state, l->thread_id + sizeof(uintptr_t)) &&
		GT_READ(uintptr_t, state + l->thread_id) == thread_id;
}

/* Does this thread run the innermost call of the interpreter with this state, which can be read?
 * sp: the thread's stack pointer. The C library keeps a thread's own data above the stack of each
 * thread but the first, whose stack is above all else. */
INLINE bool gt_python_runs_here(const struct gt_python_layout *l, uintptr_t state, uintptr_t sp)
{
	const uintptr_t call = GT_READ(uintptr_t, state + l->thread_call),
			end = (uintptr_t)__builtin_thread_pointer();

	return call >= sp && (call < end || sp >= end);
}

/* 0: the state has no frames */
INLINE uintptr_t gt_python_innermost(
	const struct gt_python_layout *l, struct gt_readable *r, uintptr_t state, bool *damaged)
{
	uintptr_t frame = GT_READ(uintptr_t, state + l->thread_frame);

	if (l->innermost == GT_PYTHON_NO || !frame)
		return frame;
	if ((frame & 7) || !gt_readable(r, frame, l->innermost + sizeof(uintptr_t))) {
		*damaged = true;
		return 0;
	}
	return GT_READ(uintptr_t, frame + l->innermost);
}

/* The state that this thread uses, of those of all interpreters. 0: it has none (*state: NONE), or
 * it cannot be known (UNKNOWN). Other threads may change the lists meanwhile. */
uintptr_t gt_python_search_states(const struct gt_interpreter *in, struct gt_readable *r,
	uintptr_t sp, enum gt_python_state *state);
/* The same, up to 3.11, where it is known without a search in most cases. */
uintptr_t gt_python_older_state(const struct gt_interpreter *in, struct gt_readable *r,
	uintptr_t sp, enum gt_python_state *state);

/* ---- frames ---- */

enum gt_python_frame_kind { GT_FRAME_FUNCTION, GT_FRAME_SKIPPED, GT_FRAME_BROKEN };

/* A frame whose bytes can be read. out: only of a function. */
enum gt_python_frame_kind gt_python_read_frame(const struct gt_interpreter *in,
	struct gt_readable *r, uintptr_t frame, struct gt_python_frame *out);
#endif
