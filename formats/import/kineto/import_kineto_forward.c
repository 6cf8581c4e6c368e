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
 * it has no forward operator.
 *
 * The profiler's arrows (flow events of the category fwdbwd) lead from the start of the forward
 * operator to that of an operator of the backward pass with this number. The profiler knows the
 * threads: an arrow decides where numbers do not, or where the operators have none. An arrow to
 * "AddmmBackward0" is also one to "autograd::engine::evaluate_function: AddmmBackward0" around it.
 */
#include "formats/import/kineto/import_kineto.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/trace/record.h"

#define FORWARDS_MOST 65536u /* the latest sequence numbers, and as many arrows: 4 MiB */

struct gt_kineto_forward {
	uint64_t key; /* sequence number plus 1, times 2; or an arrow's id, times 2, plus 1; 0: none
		       */
	uint64_t frame; /* the mark; 0: there are too many frames */
	uint32_t process;
	uint32_t thread; /* index in threads; GT_NONE: several */
};

static struct gt_kineto_forward *forward_at(const struct gt_kineto *k, uint64_t key)
{
	return &k->forwards[(key >> 1) % FORWARDS_MOST * 2 + (key & 1)];
}

/* The frame of a forward operator of the process; 0: none. */
static uint64_t find_forward(const struct gt_kineto *k, uint64_t key, uint32_t process)
{
	const struct gt_kineto_forward *f = k->forwards ? forward_at(k, key) : NULL;

	return f && f->key == key && f->process == process && f->thread != GT_NONE ? f->frame : 0;
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

/* Stores the innermost range of the thread, which starts then. */
static int store_forward(
	struct gt_kineto *k, uint64_t key, size_t thread, int64_t start, struct gt_err *err)
{
	struct gt_kineto_thread *t = &k->threads[thread];
	struct gt_kineto_forward *f;
	bool same;

	if (!k->forwards)
		k->forwards = calloc(FORWARDS_MOST * 2, sizeof(*k->forwards));
	if (!k->forwards)
		return gt_kineto_no_memory(err);
	f = forward_at(k, key);
	same = f->key == key && f->process == t->process;
	*f = (struct gt_kineto_forward){ .key = key,
		.frame = mark_of(k, &t->ranges, start),
		.process = t->process,
		.thread = same && f->thread != thread ? GT_NONE : (uint32_t)thread };
	return 0;
}

int gt_kineto_note_forward(struct gt_kineto *k, size_t thread, int64_t start, struct gt_err *err)
{
	struct gt_kineto_nest *ranges = &k->threads[thread].ranges;
	uint64_t sequence = ranges->n ? ranges->open[ranges->n - 1].sequence : 0;

	return !sequence || sequence & GT_KINETO_BACKWARD
		? 0
		: store_forward(k, sequence, thread, start, err);
}

/* True if the outer range is autograd's own, around the operator of the inner one. */
static bool evaluates(const struct gt_kineto *k, uint32_t outer, uint32_t inner)
{
	const char *around = gt_writer_text(k->w, k->classes[outer].name),
		   *name = gt_writer_text(k->w, k->classes[inner].name);
	size_t n = strlen(name), all = strlen(around);

	return all > n + 2 && !strncmp(around + all - n - 2, ": ", 2) &&
		!strcmp(around + all - n, name);
}

int gt_kineto_note_arrow(struct gt_kineto *k, size_t thread, uint64_t id, char phase, int64_t start,
	struct gt_err *err)
{
	struct gt_kineto_nest *ranges = &k->threads[thread].ranges;
	uint64_t key = id << 1 | 1;
	size_t n = ranges->n;

	if (!n || ranges->open[n - 1].start != start)
		return 0;
	if (phase == 's')
		return store_forward(k, key, thread, start, err);
	ranges->open[n - 1].forward = find_forward(k, key, k->threads[thread].process);
	if (n > 1 && evaluates(k, ranges->open[n - 2].cls, ranges->open[n - 1].cls))
		ranges->open[n - 2].forward = ranges->open[n - 1].forward;
	return 0;
}

/* The forward operator of the open range i: by its number, else by the arrow to a range with the
 * same number around it. */
static uint64_t forward_of(const struct gt_kineto *k, const struct gt_kineto_thread *t, size_t i)
{
	uint64_t sequence = t->ranges.open[i].sequence, frame = 0;

	if (sequence & GT_KINETO_BACKWARD)
		frame = find_forward(k, sequence - GT_KINETO_BACKWARD, t->process);
	for (size_t n = i + 1; !frame && n-- > 0 && t->ranges.open[n].sequence == sequence;)
		frame = t->ranges.open[n].forward;
	return frame;
}

/* The innermost operator of the backward pass decides. */
uint32_t gt_kineto_backward_stack(struct gt_kineto *k, size_t thread, int64_t start)
{
	const struct gt_kineto_thread *t = &k->threads[thread];
	size_t i = t->ranges.n;
	uint64_t frame;

	while (i &&
		(t->ranges.open[i - 1].end <= start ||
			!(t->ranges.open[i - 1].sequence & GT_KINETO_BACKWARD ||
				t->ranges.open[i - 1].forward)))
		i--;
	if (!i)
		return 0;
	k->counts.backward++;
	frame = forward_of(k, t, i - 1);
	if (!frame) {
		k->counts.no_forward++;
		return 0;
	}
	return gt_kineto_stack(k, frame);
}
