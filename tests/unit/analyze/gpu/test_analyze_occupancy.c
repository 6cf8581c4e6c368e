/* Occupancy: configurations whose figures NVIDIA's occupancy calculator gives, limits from the
 * recording and from the model, and the columns of the report "kernels". */
#define _GNU_SOURCE
#include "analyze/core/run.h"
#include "analyze/gpu/occupancy.h"
#include "tests/unit/gpus.h"
#include "tests/unit/reports.h"

static const char *const kernels[] = { "kernels", NULL };

struct known {
	unsigned capability, threads, registers, shared;
	unsigned blocks, hundredths;
	enum gt_occupancy_limit limit;
};

/* The figures of cudaOccMaxActiveBlocksPerMultiprocessor() of CUDA 13.0. */
static void known_configurations(void)
{
	static const struct known all[] = {
		/* H100: 64 warps, 32 blocks, 64 Ki registers, 228 KiB */
		{ 90, 256, 32, 0, 8, 10000, GT_OCCUPANCY_FULL },
		{ 90, 256, 33, 0, 6, 7500, GT_OCCUPANCY_REGISTERS }, /* 40 allocated */
		{ 90, 384, 168, 200 * 1024, 1, 1875, GT_OCCUPANCY_REGISTERS },
		{ 90, 128, 64, 32 * 1024, 6, 3750, GT_OCCUPANCY_SHARED }, /* 33 KiB each */
		{ 90, 32, 16, 0, 32, 5000, GT_OCCUPANCY_BLOCKS },
		{ 90, 768, 24, 0, 2, 7500, GT_OCCUPANCY_BLOCK_SIZE },
		{ 90, 200, 16, 0, 9, 9844, GT_OCCUPANCY_BLOCK_SIZE }, /* 63 of 64 warps */
		{ 90, 1, 255, 0, 8, 1250, GT_OCCUPANCY_REGISTERS },
		{ 90, 544, 96, 21568 + 82240, 1, 2656, GT_OCCUPANCY_REGISTERS }, /* NCCL */
		/* A100: 164 KiB */
		{ 80, 256, 64, 48 * 1024, 3, 3750, GT_OCCUPANCY_SHARED },
		/* V100: 96 KiB, no reserve */
		{ 70, 256, 32, 48 * 1024, 2, 2500, GT_OCCUPANCY_SHARED },
		{ 70, 256, 32, 12 * 1024, 8, 10000, GT_OCCUPANCY_FULL },
		/* T4: 32 warps, 16 blocks, 64 KiB */
		{ 75, 256, 32, 0, 4, 10000, GT_OCCUPANCY_FULL },
		{ 75, 32, 32, 0, 16, 5000, GT_OCCUPANCY_BLOCKS },
		/* RTX 30, 40: 48 warps, 16 and 24 blocks, 100 KiB */
		{ 86, 64, 32, 0, 16, 6667, GT_OCCUPANCY_BLOCKS },
		{ 89, 64, 32, 0, 24, 10000, GT_OCCUPANCY_FULL },
		{ 86, 1024, 32, 0, 1, 6667, GT_OCCUPANCY_BLOCK_SIZE },
		{ 89, 256, 40, 24 * 1024, 4, 6667, GT_OCCUPANCY_SHARED },
		/* GP100 has two partitions */
		{ 60, 32, 168, 0, 12, 1875, GT_OCCUPANCY_REGISTERS },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		const struct known *k = &all[i];
		struct gt_sm_limits l = { .major = k->capability / 10,
			.minor = k->capability % 10 };
		struct gt_occupancy o = { .blocks = 0 };

		gt_sm_limits_complete(&l);
		CHECK(gt_occupancy_of(&l, k->threads, k->registers, k->shared, &o));
		CHECK_EQ(o.blocks, k->blocks);
		CHECK_EQ(o.hundredths, k->hundredths);
		CHECK_EQ(o.limit, k->limit);
	}
}

/* Configurations that cannot run or are unknown have no figure. */
static void no_figure(void)
{
	struct gt_sm_limits h100 = { .major = 9 }, unknown = { .major = 99 };
	struct gt_occupancy o;

	gt_sm_limits_complete(&h100);
	gt_sm_limits_complete(&unknown);
	CHECK(!gt_occupancy_of(&unknown, 256, 32, 0, &o));
	CHECK(!gt_occupancy_of(&h100, 0, 32, 0, &o));
	CHECK(!gt_occupancy_of(&h100, 1024, 255, 0, &o));
	CHECK(!gt_occupancy_of(&h100, 32, 32, 1 << 20, &o));
	CHECK(!gt_occupancy_of(&h100, UINT64_MAX, UINT64_MAX, UINT64_MAX, &o));
}

static void models(void)
{
	static const struct {
		const char *name;
		unsigned capability;
	} all[] = { { "NVIDIA H200", 90 }, { "NVIDIA H100 80GB HBM3", 90 },
		{ "NVIDIA A100-SXM4-80GB", 80 }, { "Tesla V100-SXM2-16GB", 70 }, { "Tesla T4", 75 },
		{ "NVIDIA A10G", 86 }, { "NVIDIA A10", 86 }, { "NVIDIA GeForce RTX 3090 Ti", 86 },
		{ "NVIDIA GeForce RTX 4090", 89 }, { "NVIDIA RTX 6000 Ada Generation", 89 },
		{ "NVIDIA RTX A6000", 86 }, { "NVIDIA L40S", 89 }, { "NVIDIA GB200", 100 },
		{ "NVIDIA GeForce RTX 5090", 120 }, { "Quadro RTX 8000", 75 },
		{ "Quadro RTX 6000", 75 }, { "Quadro RTX 5000", 75 }, { "Quadro RTX 4000", 75 },
		{ "Quadro RTX 3000", 75 }, { "AMD Instinct MI300X", 0 }, { "GPU 0", 0 } };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		CHECK_EQ(gt_compute_capability_of_model(all[i].name), all[i].capability);
}

/* 256 threads and 32 registers; 48 + 1000 bytes of shared memory; 16 blocks. */
static json_t *one_kernel(const char *meta, unsigned nth)
{
	struct gpus g;

	gpus_begin(&g, meta);
	gpus_plain(&g, 0, g.stream[nth][0], 1000, 2000);
	return report(gpus_end(&g), kernels, &plain);
}

static void limits_in_the_recording(void)
{
	static const struct {
		const char *meta;
		unsigned device;
		double percent;
	} all[] = {
		/* of gtcollect */
		{ "{\"gpu_limits.100.1\":{\"compute_capability\":\"9.0\",\"threads\":2048,"
		  "\"blocks\":32,\"registers\":32768,\"shared_bytes\":233472,\"multiprocessors\":2}}",
			1, 50 },
		/* of another device, or process: the model says H200 */
		{ "{\"gpu_limits.100.1\":{\"compute_capability\":\"9.0\",\"registers\":32768}}", 0,
			100 },
		{ "{\"gpu_limits.101.0\":{\"compute_capability\":\"9.0\",\"registers\":32768}}", 0,
			100 },
		/* of PyTorch's profiler, for all processes */
		{ "{\"kineto\":{\"deviceProperties\":[{\"id\":0,\"computeMajor\":9,\"computeMinor\":0,"
		  "\"regsPerMultiprocessor\":16384,\"numSms\":2}]}}",
			0, 25 },
		/* the rest is from the table: no such capability */
		{ "{\"gpu_limits.100.0\":{\"compute_capability\":\"77.7\"}}", 0, -1 },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		json_t *j = one_kernel(all[i].meta, all[i].device);
		const json_t *r = row(j, "kernels", 0);

		if (all[i].percent < 0)
			CHECK(absent(r, "occupancy_percent") && absent(r, "limited_by") &&
				noted(j, "kernels", "occupancy is unknown"));
		else
			CHECK(num(r, "occupancy_percent") == all[i].percent);
		if (all[i].percent > 0 && all[i].percent < 100)
			CHECK(is(r, "limited_by", "registers"));
		json_decref(j);
	}
	/* 16 blocks; 2 SMs hold 4 blocks each */
	{
		json_t *j = one_kernel(all[0].meta, 1);

		CHECK(num(row(j, "kernels", 0), "waves") == 2);
		json_decref(j);
	}
}

/* Kernels with one name: the mean weighted by time, and the limit of the greatest part of it. */
static void mean_over_time(void)
{
	struct gpus g;
	struct gt_gpu_work w;
	struct gt_gpu_kernel kernel = { .grid = { 1, 1, 1 }, .block = { 128, 1, 1 } };
	const json_t *r;
	json_t *j;

	gpus_begin(&g, "{\"gpus\":[{\"model\":\"NVIDIA H200\"}]}");
	kernel.name = g.kernel[0];
	kernel.registers = 64; /* 50 % */
	w = gpus_work(g.stream[0][0], 1000, 1300);
	gt_gpu_put_kernel(&g.types, &w, &kernel, &g.err);
	kernel.registers = 16; /* 25 %: 8 warps of shared memory, 4 blocks of 57 KiB */
	kernel.shared_static = 28 * 1024;
	kernel.shared_dynamic = 28 * 1024;
	w = gpus_work(g.stream[0][0], 2000, 2700);
	gt_gpu_put_kernel(&g.types, &w, &kernel, &g.err);
	j = report(gpus_end(&g), kernels, &plain);
	r = row(j, "kernels", 0);
	CHECK(num(r, "count") == 2 && num(r, "occupancy_percent") == 32.5 &&
		is(r, "limited_by", "shared memory") && absent(r, "waves"));
	json_decref(j);
}

T_MAIN(T(known_configurations), T(no_figure), T(models), T(limits_in_the_recording),
	T(mean_over_time))
