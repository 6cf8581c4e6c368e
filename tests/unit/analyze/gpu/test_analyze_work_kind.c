/* Which GPU rows are compute, which communication, which copies. */
#define _GNU_SOURCE
#include "analyze/gpu/work_kind.h"
#include "tests/unit/t.h"

static enum gt_work_kind kind_of(const char *name, unsigned category, unsigned op)
{
	struct gt_string string = { name, (uint32_t)strlen(name) };
	struct gt_segment seg = { .strings = &string, .nstrings = 1 };
	struct gt_type type = {
		.layer = GT_LAYER_GPU, .category = (uint8_t)category, .op = (uint8_t)op
	};

	return gt_work_kind(&seg, &type);
}

static enum gt_work_kind kernel(const char *name)
{
	return kind_of(name, GT_CAT_KERNEL, GT_OP_LAUNCH);
}

static void kernels_by_their_function(void)
{
	CHECK(kernel("_Z3addPf") == GT_WORK_COMPUTE && kernel("gemm_nccl") == GT_WORK_COMPUTE &&
		kernel("") == GT_WORK_COMPUTE);
	CHECK(kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)") ==
		GT_WORK_COMMUNICATION);
	CHECK_EQ(
		kernel("_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE"),
		GT_WORK_COMMUNICATION);
	CHECK_EQ(kernel("ncclKernel_Broadcast_RING_LL_Sum_int8_t"), GT_WORK_COMMUNICATION);
	CHECK(kernel("void vllm::cross_device_reduce_1stage<float, 2>(vllm::RankData*)") ==
		GT_WORK_COMMUNICATION);
	CHECK(kernel("void pack<ncclComm>(ncclComm*)") == GT_WORK_COMPUTE);
}

static void copies_and_sets_are_one(void)
{
	CHECK_EQ(
		kind_of("memcpy HtoD (pageable -> device)", GT_CAT_COPY, GT_OP_COPY), GT_WORK_COPY);
	CHECK_EQ(kind_of("memset (device)", GT_CAT_MEMORY, GT_OP_SET), GT_WORK_COPY);
	CHECK_EQ(kind_of("nccl graph", GT_CAT_GRAPH, GT_OP_GRAPH_LAUNCH), GT_WORK_COMPUTE);
	CHECK(gt_work_kind(NULL, NULL) == GT_WORK_COMPUTE &&
		!strcmp(gt_work_kind_word(GT_WORK_COPY), "copies"));
}

T_MAIN(T(kernels_by_their_function), T(copies_and_sets_are_one))
