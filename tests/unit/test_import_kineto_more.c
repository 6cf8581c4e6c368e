/* Files of PyTorch's profiler that differ from the usual ones: of other makers' GPUs, with values that are no JSON, with more arguments. */
#define _GNU_SOURCE
#include "tests/unit/kineto_text.h"

/* ---- AMD ---- */

static const struct gt_type *type_named(struct gt_reader *r, const char *name)
{
	const struct gt_segment *seg = gt_reader_segment(r, 0);

	for (uint32_t i = 0; i < seg->ntypes; i++)
		if (!strcmp(gt_type_name(seg, i), name))
			return &seg->types[i];
	abort();
}

/* What gtexport --chrome writes of a call has the category of what the call does. */
static void hip_calls_come_back(void)
{
	static const char text[] = HEAD X("launch", "hipLaunchKernel", "10", "11", "1", "1", "\"correlation\":1") ","
		X("memory", "hipFree", "10", "11", "3", "1", "\"correlation\":2") ","
		X("memory", "hipsterism", "10", "11", "5", "1", "") "]}";
	struct gt_reader *r = open_bytes(text, strlen(text));
	const struct gt_type *t = type_named(r, "hipFree");

	CHECK(t->layer == GT_LAYER_API && t->category == GT_CAT_MEMORY && t->op == GT_OP_FREE && t->memkind == GT_MEM_DEVICE);
	CHECK(type_named(r, "hipLaunchKernel")->op == GT_OP_LAUNCH && type_named(r, "hipsterism")->layer == GT_LAYER_USER);
	CHECK(strstr(list(r), "C 10/11 hipLaunchKernel 1000+1000 d0 r0"));
}

T_MAIN(T(the_beginning), T(hip_calls_come_back), T(the_end))
