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

/* What a file does not say is not 0: ROCm has no context and no registers, and once had no grid and no bytes. */
static void unknown_figures_are_left_out(void)
{
	static const char bare[] = "G 2/0 stream 0 k 5000+1000 d0 r0 correlation=1 launch_track=4294967295 launch_start=5000 launch_ns=0 "
				   "launch_name='?' launch_join=0";
	char expected[500];

#define ROCM(cat, name, more) X(cat, name, "2", "0", "5", "1", "\"device\":2,\"stream\":0,\"correlation\":1" more)
	snprintf(expected, sizeof(expected), "%s\n", bare);
	CHECK(lists(HEAD ROCM("kernel", "k", "") "]}", expected));
	snprintf(expected, sizeof(expected), "%s grid_x=1 grid_y=2 grid_z=3 block_x=4 block_y=5 block_z=6\n", bare);
	CHECK(lists(HEAD ROCM("kernel", "k", ",\"grid\":[1,2,3],\"block\":[4,5,6]") "]}", expected));
	CHECK(lists(HEAD ROCM("kernel", "k", ",\"grid\":[1,2,\"x\"],\"block\":[4,5,6,7]") "]}", (snprintf(expected, sizeof(expected), "%s\n", bare), expected)));
	snprintf(expected, sizeof(expected), "%s shared_static=0 shared_dynamic=0 registers=0\n", bare);
	CHECK(lists(HEAD ROCM("kernel", "k", ",\"registers per thread\":0,\"shared memory\":0") "]}", expected));
	CHECK(strstr(list_text(HEAD ROCM("gpu_memcpy", "Memcpy HtoD (Host -> Device)", "") "]}"),
		     "launch_join=0 direction=1 src_memory='unknown' dst_memory='device'\n"));
	CHECK(strstr(list_text(HEAD ROCM("gpu_memset", "Memset (Device)", ",\"value\":\"0x7\"") "]}"), "launch_join=0 value=0x7 dst_memory='device'\n"));
	CHECK(strstr(list_text(HEAD ROCM("cuda_sync", "Stream Wait Event", "") "]}"), "launch_join=0 event=0xffffffff\n"));
	/* one name, with and without: two types */
	CHECK(strstr(list_text(HEAD ROCM("kernel", "k", "") "," ROCM("kernel", "k", ",\"registers per thread\":8") "]}"), "launch_join=0 registers=8\n") &&
	      strstr((const char *)listing.data, "launch_join=0\n"));
}

T_MAIN(T(the_beginning), T(hip_calls_come_back), T(unknown_figures_are_left_out), T(the_end))
