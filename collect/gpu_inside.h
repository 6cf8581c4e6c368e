/* What the files of the joining share. Nobody else includes this. */
#ifndef GT_GPU_INSIDE_H
#define GT_GPU_INSIDE_H
#include "collect/gpu_join.h"

struct gt_gpu_waits_of {		/* of a process: see gpu_waits.c */
	struct gt_gpu_stream *handles;
	size_t n, cap, hint;
	struct gt_gpu_instance *instances;
	uint64_t made;
	struct gt_gpu_held *held;
	size_t nheld, held_cap;
};

/* What is known of the process's work, for those waits whose stream says nothing. */
struct gt_gpu_around { uint32_t track /* of the process */, context /* the only one, or 0 */; bool on /* it has told of work, or may */; };

/* The stream that a call means by its handle, as a number: one of its own for each stream that was called so. 0: none is known. */
uint64_t gt_gpu_stream_of(struct gt_gpu_waits_of *s, const struct gt_gpu_call *c);
void gt_gpu_stream_ended(struct gt_gpu_waits_of *s, const struct gt_gpu_call *c);
/* What was launched into it has run on this track. 0 or negative. */
int gt_gpu_stream_ran(struct gt_gpu_waits_of *s, struct gt_writer *w, uint64_t stream, uint32_t track, uint32_t context,
		      struct gt_err *err);
uint32_t gt_gpu_stream_track(const struct gt_gpu_waits_of *s, uint64_t stream);		/* or GT_NONE */
int gt_gpu_stream_named(struct gt_gpu_waits_of *s, struct gt_writer *w, uint64_t handle, uint32_t name, struct gt_err *err);

/* A call that waited. 0 or -ENOMEM. */
int gt_gpu_wait_in(struct gt_gpu_waits_of *s, const struct gt_gpu_call *c);
/* Writes those that can be written by now. */
int gt_gpu_waits_settle(struct gt_gpu_waits_of *s, struct gt_gpu_types *types, const struct gt_gpu_around *a, int64_t now, bool last,
			struct gt_gpu_totals *totals, struct gt_err *err);
void gt_gpu_waits_release(struct gt_gpu_waits_of *s);
#endif
