/* Calls of PyTorch's backward pass, with the stack of their forward operator.
 *
 * Autograd runs the backward pass in threads of its own. An operator of the backward pass has the
 * "Sequence number" of its forward operator, and a "Fwd thread id" that is not 0. A call within it
 * gets as its stack the ranges around the forward operator, this operator, and the mark
 * "[backward of aten::addmm]". With torch.profiler(with_stack=True) Python functions are ranges,
 * too ("train.py(12): step"), and become frames of Python. Their line is that of the function's
 * start.
 *
 * If several operators of the forward pass have the same number, as aten::linear and aten::addmm
 * inside it, the one that starts last is the forward operator: a number is used up when
 * autograd's node is made. Numbers are those of a thread. The file does not say which thread has
 * the number in "Fwd thread id". So if two threads of a process have used the same sequence number,
 * it has no forward operator. */
#include "formats/import/import_kineto.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/trace/record.h"

#define FORWARDS_MOST 65536u /* the latest sequence numbers: 2.5 MiB */

struct gt_kineto_forward {
	uint64_t sequence; /* plus 1, times 2; 0: none */
	uint64_t frame;    /* the mark; 0: there are too many frames */
	uint32_t process;
	uint32_t thread; /* index in threads; GT_NONE: several */
};

static struct gt_kineto_forward *forward_at(struct gt_kineto *k, uint64_t sequence)
{
	return &k->forwards[(sequence >> 1) % FORWARDS_MOST];
}

/* "step (app/train.py:12)", as gt names frames of Python, for "app/train.py(12): step". GT_NONE: it
 * has not this form. */
static uint32_t python_text(struct gt_kineto *k, const char *name)
{
	const char *colon = strstr(name, "): "), *open = colon;
	char text[1024];
	int n;

	while (open && open > name && open[-1] >= '0' && open[-1] <= '9')
		open--;
	if (!open || open == colon || open - name < 2 || open[-1] != '(' || !colon[3])
		return GT_NONE;
	n = snprintf(text, sizeof(text), "%s (%.*s:%.*s)", colon + 3, (int)(open - 1 - name), name,
		(int)(colon - open), open);
	return n < (int)sizeof(text) ? gt_writer_string(k->w, text) : GT_NONE;
}

/* Sets frame_text and frame_kind. */
static void describe_range(struct gt_kineto *k, struct gt_kineto_class *c)
{
	bool python = c->cat_name != GT_NONE &&
		!strcmp(gt_writer_text(k->w, c->cat_name), "python_function");
	char *name = python ? strdup(gt_writer_text(k->w, c->name)) : NULL;
	uint32_t text = name ? python_text(k, name) : GT_NONE;

	c->frame_kind = text == GT_NONE ? GT_FRAME_UNKNOWN : GT_FRAME_PYTHON;
	c->frame_text = (text == GT_NONE ? c->name : text) + 1;
	free(name);
}

/* The profiler's own ranges have a new name in each step. */
static bool is_step(const struct gt_kineto *k, const struct gt_kineto_class *c)
{
	return !strncmp(gt_writer_text(k->w, c->name), "ProfilerStep#", 13);
}

/* The frame of the innermost open range, which starts then, with all around it. 0: there are too
 * many frames. */
static uint64_t frame_of(struct gt_kineto *k, struct gt_kineto_nest *ranges, int64_t start)
{
	size_t i = ranges->n;
	uint64_t frame;

	while (i && !ranges->open[i - 1].frame)
		i--;
	frame = i ? ranges->open[i - 1].frame : 0;
	for (; i < ranges->n; i++) {
		struct gt_kineto_class *c = &k->classes[ranges->open[i].cls];

		if (ranges->open[i].end <= start || is_step(k, c))
			continue;
		if (!c->frame_text)
			describe_range(k, c);
		frame = gt_kineto_add_frame(k, frame, c->frame_text - 1, c->frame_kind);
		if (!frame)
			return 0;
		ranges->open[i].frame = frame;
	}
	return frame;
}

static uint64_t mark_of(struct gt_kineto *k, struct gt_kineto_nest *ranges, int64_t start)
{
	const struct gt_kineto_class *c = &k->classes[ranges->open[ranges->n - 1].cls];
	uint64_t frame = gt_writer_has_name_space(k->w) ? frame_of(k, ranges, start) : 0;
	char text[200];

	if (!frame)
		return 0;
	snprintf(text, sizeof(text), "[backward of %.150s]", gt_writer_text(k->w, c->name));
	return gt_kineto_add_frame(k, frame, gt_writer_string(k->w, text), GT_FRAME_MARK);
}

int gt_kineto_note_forward(struct gt_kineto *k, size_t thread, int64_t start, struct gt_err *err)
{
	struct gt_kineto_thread *t = &k->threads[thread];
	uint64_t sequence = t->ranges.n ? t->ranges.open[t->ranges.n - 1].sequence : 0;
	struct gt_kineto_forward *f;
	bool same;

	if (!sequence || sequence & GT_KINETO_BACKWARD)
		return 0;
	if (!k->forwards)
		k->forwards = calloc(FORWARDS_MOST, sizeof(*k->forwards));
	if (!k->forwards)
		return gt_kineto_no_memory(err);
	f = forward_at(k, sequence);
	same = f->sequence == sequence && f->process == t->process;
	*f = (struct gt_kineto_forward){ .sequence = sequence,
		.frame = mark_of(k, &t->ranges, start),
		.process = t->process,
		.thread = same && f->thread != thread ? GT_NONE : (uint32_t)thread };
	return 0;
}

/* The innermost operator of the backward pass decides. */
uint32_t gt_kineto_backward_stack(struct gt_kineto *k, size_t thread, int64_t start)
{
	const struct gt_kineto_thread *t = &k->threads[thread];
	const struct gt_kineto_forward *f = NULL;
	uint64_t sequence = 0;

	for (size_t i = t->ranges.n; i-- > 0 && !(sequence & GT_KINETO_BACKWARD);)
		if (t->ranges.open[i].end > start)
			sequence = t->ranges.open[i].sequence;
	if (!(sequence & GT_KINETO_BACKWARD))
		return 0;
	k->counts.backward++;
	sequence -= GT_KINETO_BACKWARD;
	f = k->forwards ? forward_at(k, sequence) : NULL;
	if (!f || f->sequence != sequence || f->process != t->process || f->thread == GT_NONE ||
		!f->frame) {
		k->counts.no_forward++;
		return 0;
	}
	return gt_kineto_stack(k, f->frame);
}
