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

enum gt_python_frame_kind { GT_FRAME_FUNCTION, GT_FRAME_SKIPPED, GT_FRAME_BROKEN };

/* A frame whose bytes can be read. out: only of a function. */
enum gt_python_frame_kind gt_python_read_frame(const struct gt_interpreter *in,
	struct gt_readable *r, uintptr_t frame, struct gt_python_frame *out);
#endif
