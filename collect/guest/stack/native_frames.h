/* Frames of native code: the return addresses of the functions that are active in this thread. */
#ifndef GT_GUEST_NATIVE_FRAMES_H
#define GT_GUEST_NATIVE_FRAMES_H
#include "collect/guest/core/guest_elf.h"
#include "collect/guest/stack/readable.h"

/* Why a walk ended. */
enum gt_native_state {
	GT_NATIVE_OK,        /* at the thread's or the process's first function */
	GT_NATIVE_STOPPED,   /* at the caller's stop range: an interpreter */
	GT_NATIVE_TRUNCATED, /* there are more than max frames */
	GT_NATIVE_PENDING,   /* the last frame has no rule yet; it has been requested */
	GT_NATIVE_NO_RULE,   /* the last frame is in code without usable call frame information */
	GT_NATIVE_SIGNAL,    /* the last frame is a signal handler's return to interrupted code */
	GT_NATIVE_DAMAGED    /* the stack cannot be read above the last frame, or is impossible */
};

/* Walks up from start: a return address, and the stack pointer and the frame pointer after that
 * return. Writes the return addresses innermost first, start[0] included, and returns their number.
 * A return address in [stop_low, stop_high) ends the walk and is not written. gt_unwind_open has
 * been called. Preserves errno. Makes no system call if all rules and pages are known. */
uint32_t gt_native_frames(struct gt_readable *r, const uintptr_t start[3], uintptr_t stop_low,
	uintptr_t stop_high, uint64_t *words, uint32_t max, enum gt_native_state *state);

/* The words of the stack that this walk depends on, and their addresses. *needs_fp: it depends on
 * start[2], too. False: they are more than max, or a walk could find more the next time. */
struct gt_native_place {
	uintptr_t address;
	uint64_t word;
};
bool gt_native_remember(struct gt_readable *r, const uintptr_t start[3], uintptr_t stop_low,
	uintptr_t stop_high, struct gt_native_place *places, uint32_t max, uint32_t *n,
	bool *needs_fp);

#define GT_OWN_FRAMES_MAX 32

/* Finds the start of a walk: the program's function that called the guest library. x86-64: the
 * guest is compiled with frame pointers, whose chain leads there. aarch64: the frame record does
 * not say where the caller's frame begins, so the walk starts at the caller of the function that
 * uses this, and gt_native_frames leaves out frames of the guest. False: there is none. */
static inline __attribute__((always_inline)) bool gt_native_start(uintptr_t start[3])
{
	const uintptr_t *fp = __builtin_frame_address(0);
#ifdef __x86_64__
	const struct gt_object *own = gt_own_object();

	for (unsigned i = 0; i < GT_OWN_FRAMES_MAX; i++) {
		if (fp[1] - own->low >= own->high - own->low) {
			start[0] = fp[1];
			start[1] = (uintptr_t)(fp + 2);
			start[2] = fp[0];
			return true;
		}
		if (fp[0] <= (uintptr_t)fp)
			return false;
		fp = (const uintptr_t *)fp[0];
	}
	return false;
#else
	start[0] = (uintptr_t)__builtin_return_address(0);
	start[1] = (uintptr_t)__builtin_dwarf_cfa();
	start[2] = fp[0];
	return true;
#endif
}
#endif
