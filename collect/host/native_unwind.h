/* Native stacks of threads of other processes: from registers and a piece of the stack to return
 * addresses, by the call frame information of the mapped files.
 *
 * A frame is right, or stands behind a gap: code without such information (a compiler's at run
 * time) is left by its frame pointer, if that leads to mapped code. That may skip frames. */
#ifndef GT_NATIVE_UNWIND_H
#define GT_NATIVE_UNWIND_H
#include "collect/host/code_maps.h"
#include "formats/symbols/elf_cfi.h"

#define GT_NATIVE_FRAMES 512
#define GT_NATIVE_GAP UINT64_MAX
#define GT_NATIVE_FILES 512 /* that a recording has open */

struct gt_stack_memory { /* of the thread */
	uint64_t low, bytes;
	const uint8_t *data;
};
struct gt_native_stack {
	bool is_part;   /* there are more frames, which are not known */
	bool has_found; /* the frame in the range where it stops */
	uint32_t n;
	/* Innermost first. Each is behind the frame's instruction. GT_NATIVE_GAP: frames may be
	 * missing here. */
	uint64_t addresses[GT_NATIVE_FRAMES];
};

struct gt_native_unwinder;
/* new: free it; NULL: no memory. files: that are open at a time, at least 1; for a further one the
 * least recently used one is closed, and opened again when it is needed. */
struct gt_native_unwinder *gt_native_unwinder_new(size_t files);
void gt_native_unwinder_free(struct gt_native_unwinder *u); /* NULL is fine */
/* A thread at one moment. */
struct gt_native_thread {
	struct gt_code_maps *code; /* the mappings of process tgid */
	uint32_t tgid;
	struct gt_cpu_registers registers; /* the unwinder changes them */
	struct gt_stack_memory memory;
	uint64_t stop_low, stop_high; /* the first frame in between is left out, and all above it */
};
void gt_native_unwind(
	struct gt_native_unwinder *u, struct gt_native_thread *t, struct gt_native_stack *s);
#endif
