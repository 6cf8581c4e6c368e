#include "analyze/stacks/stack_kinds.h"

#include <string.h>

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_interpreter(const struct gt_segment *seg, const struct gt_frame *f)
{
	const char *module = f->module == GT_NONE ? "" : base_name(gt_str(seg, f->module));

	return !strncmp(module, "libpython", 9) || !strncmp(module, "python", 6);
}

enum gt_stack_runs gt_stack_runs(const struct gt_segment *seg, uint64_t stack)
{
	const struct gt_stack *s = stack < seg->nstacks ? &seg->stacks[stack] : NULL;

	for (uint32_t i = s ? s->n : 0; i-- > 0;) {
		const struct gt_frame *f = gt_segment_frame(seg, s->frames[i]);

		if (f && f->kind == GT_FRAME_MARK)
			continue;
		if (!f || f->kind == GT_FRAME_UNKNOWN)
			return GT_RUNS_UNKNOWN;
		return f->kind == GT_FRAME_PYTHON || is_interpreter(seg, f) ? GT_RUNS_PYTHON
									    : GT_RUNS_NATIVE;
	}
	return GT_RUNS_UNKNOWN;
}
