/* Prints the rows of a trace that have a stack, in order of their start: stacks_prog FILE [WHAT].
 * One line each: the thread, the name, the frames, innermost first. WHAT: `gpu`, the work of GPUs
 * instead of calls; `host`, samples and waits of threads; `period`: one number instead, the
 * ns that all samples stand for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/trace/read/reader.h"

/* With PLACES in the environment, native frames are module and offset instead of the function. */
static void print_stack(const struct gt_segment *seg, uint64_t id)
{
	const struct gt_stack *s = &seg->stacks[id];

	for (uint32_t i = s->n; i-- > 0;) {
		const struct gt_frame *f = gt_segment_frame(seg, s->frames[i]);
		bool native = f && f->kind == GT_FRAME_NATIVE && f->function != GT_NONE &&
			!getenv("PLACES");

		printf(" | %s", seg->strings[native ? f->function : s->frames[i]].ptr);
	}
}

static void print_row(const struct gt_event *ev)
{
	const struct gt_type *t = &ev->seg->types[ev->row.type];
	uint32_t at = gt_type_field(t, GT_R_STACK);

	if (at == GT_NONE || ev->args[at] >= ev->seg->nstacks)
		return;
	printf("%lld %s", (long long)ev->seg->tracks[ev->track].id, ev->seg->strings[t->name].ptr);
	print_stack(ev->seg, ev->args[at]);
	putchar('\n');
}

static uint64_t period_of(const struct gt_event *ev)
{
	uint32_t at = gt_type_field(&ev->seg->types[ev->row.type], GT_R_VALUE);

	return ev->seg->types[ev->row.type].op == GT_OP_SAMPLE && at != GT_NONE ? ev->args[at] : 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[2] : "";
	const bool is_sum = !strcmp(what, "period");
	uint64_t sum = 0;
	struct gt_filter f = { .kinds = !strcmp(what, "gpu") ? GT_BIT(GT_GPU)
			: !strcmp(what, "host") || is_sum    ? GT_BIT(GT_INSTANT) | GT_BIT(GT_SPAN)
							     : GT_BIT(GT_CALL) | GT_BIT(GT_OPEN) };
	struct gt_reader *r = argc > 1 ? gt_reader_open(argv[1], NULL) : NULL;
	struct gt_iter *it = r ? gt_iter_open(r, &f, NULL) : NULL;
	struct gt_event ev;
	int got = 0;

	while (it && (got = gt_iter_next(it, &ev, NULL)) == 1)
		if (is_sum)
			sum += period_of(&ev);
		else
			print_row(&ev);
	if (is_sum)
		printf("%llu\n", (unsigned long long)sum);
	gt_iter_close(it);
	gt_reader_close(r);
	return !it || got < 0;
}
