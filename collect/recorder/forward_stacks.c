#include "collect/recorder/forward_stacks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_MOST 4096u
#define RANGES_MOST 64u /* nested ranges that are looked at, the innermost ones */

void gt_forward_stacks_release(struct gt_forward_stacks *f)
{
	free(f->list);
	f->list = NULL;
}

static size_t first_range(const struct gt_nvtx_stack *ranges)
{
	return ranges->n > RANGES_MOST ? ranges->n - RANGES_MOST : 0;
}

void gt_forward_stacks_add(struct gt_forward_stacks *f, const struct gt_forward_call *call)
{
	const struct gt_nvtx_stack *ranges = call->ranges;

	if (!ranges->numbered)
		return;
	if (!f->list)
		f->list = calloc(GT_FORWARD_MOST, sizeof(*f->list));
	for (size_t i = first_range(ranges); f->list && i < ranges->n; i++) {
		const struct gt_nvtx_open *o = &ranges->open[i];
		struct gt_forward *to = &f->list[o->sequence % GT_FORWARD_MOST];
		bool same = to->sequence == o->sequence + 1;

		if (o->is_numbered && !o->is_backward)
			*to = (struct gt_forward){ .sequence = o->sequence + 1,
				.at = call->at,
				.track = same && to->track != call->track ? GT_NONE : call->track,
				.stack = call->stack,
				.text = o->text };
	}
}

/* The forward operator of the innermost range of the backward pass; NULL: it is not known. */
static const struct gt_forward *find_forward(
	const struct gt_forward_stacks *f, const struct gt_forward_call *call)
{
	const struct gt_nvtx_stack *ranges = call->ranges;

	for (size_t i = ranges->n; f->list && ranges->numbered && i-- > first_range(ranges);) {
		const struct gt_nvtx_open *o = &ranges->open[i];
		const struct gt_forward *one = &f->list[o->sequence % GT_FORWARD_MOST];

		if (!o->is_numbered || !o->is_backward)
			continue;
		return one->sequence == o->sequence + 1 && one->track != GT_NONE &&
				one->at <= call->at
			? one
			: NULL;
	}
	return NULL;
}

static uint32_t mark(struct gt_writer *w, const char *text)
{
	uint32_t id = gt_writer_string(w, text);

	gt_writer_frame(w, id,
		&(struct gt_frame){ .kind = GT_FRAME_MARK,
			.function = GT_NONE,
			.file = GT_NONE,
			.module = GT_NONE });
	return id;
}

/* The frames of the forward stack down to its innermost Python frame, and the mark. */
static size_t put_forward(struct gt_writer *w, const struct gt_forward *of, uint32_t *frames)
{
	const char *name = gt_writer_string_text(w, of->text);
	const uint32_t *forward;
	size_t n = gt_writer_stack_frames(w, of->stack, &forward);
	char text[200];

	while (n && !gt_writer_is_python(w, forward[n - 1]))
		n--;
	n = n < FRAMES_MOST / 2 ? n : FRAMES_MOST / 2;
	memcpy(frames, forward, n * sizeof(*frames));
	snprintf(text, sizeof(text), "[backward of %.*s]",
		(int)(strcspn(name, ",") < 150 ? strcspn(name, ",") : 150), name);
	frames[n] = mark(w, text);
	return n + 1;
}

uint32_t gt_forward_stacks_get(
	const struct gt_forward_stacks *f, struct gt_writer *w, const struct gt_forward_call *call)
{
	const struct gt_forward *of = find_forward(f, call);
	uint32_t frames[FRAMES_MOST], stack = call->stack, id;
	const uint32_t *own;
	size_t n, nown;

	if (!gt_writer_has_name_space(w))
		return stack;
	if (of) {
		n = put_forward(w, of, frames);
	} else {
		frames[0] = mark(w, GT_MARK_NATIVE_ONLY);
		n = 1;
	}
	nown = gt_writer_stack_frames(w, stack, &own);
	if (n + nown > FRAMES_MOST)
		return stack;
	memcpy(frames + n, own, nown * sizeof(*frames));
	id = gt_writer_stack(w, frames, n + nown);
	return id == GT_NONE ? stack : id;
}
