/* Describes native frames by the functions and lines at their addresses: of a segment that is read,
 * and of a file that is being written. */
#ifndef GT_FRAME_PLACES_H
#define GT_FRAME_PLACES_H
#include "formats/symbols/code_places.h"
#include "formats/trace/record.h"

/* Where descriptions go. String ids are GT_NONE where there is no memory. */
struct gt_frame_sink {
	void *to;
	uint32_t (*string)(void *to, const char *s); /* the same string has the same id */
	/* describes the frame with this text (string id) */
	int (*frame)(void *to, uint32_t text, const struct gt_frame *f);
	/* a frame of an inlined function: the id for stacks; the same frame has the same id */
	uint32_t (*inlined_frame)(void *to, uint32_t text, const struct gt_frame *f);
	/* these follow the frame in all stacks, the outermost first */
	int (*inlined)(void *to, uint32_t text, const uint32_t *frames, uint32_t n);
};

/* Frames of one library. */
struct gt_native_frame {
	uint32_t module, text; /* string ids; text: of the frame */
	uint64_t offset;       /* in the module */
	struct gt_frame known;
};
/* Is it a native frame of which a function or a line could be found? */
static inline bool gt_frame_has_unknowns(const struct gt_frame *f)
{
	return f->kind == GT_FRAME_NATIVE && f->module != GT_NONE && f->offset &&
		(f->function == GT_NONE || f->file == GT_NONE);
}
void gt_native_frames_sort(struct gt_native_frame *list, size_t n); /* by module, then by offset */
/* The number of frames at the beginning of the list that have the module of the first one. */
size_t gt_native_frames_of_module(const struct gt_native_frame *list, size_t n);
/* Reads the places of n frames of a library, sorted, that were not read yet. 0 or -ENOMEM. */
int gt_native_frames_read(struct gt_code_places *p, struct gt_debug_files *where,
	const struct gt_library_files *files, const struct gt_native_frame *list, size_t n,
	int64_t lines_ns, enum gt_lines_state *state);
/* Describes them. A name that a frame has already stays. */
void gt_native_frames_describe(const struct gt_frame_sink *to, const struct gt_code_places *p,
	const struct gt_native_frame *list, size_t n);
#endif
