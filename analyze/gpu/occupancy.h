/* Theoretical occupancy: the share of the warp slots of a multiprocessor (SM) that a kernel can
 * fill, from its block size, registers and shared memory and the limits of the GPU. The rules are
 * those of NVIDIA's occupancy calculator (a header of the CUDA toolkit):
 *
 *   - A block has whole warps of 32 threads.
 *   - Registers of a warp are allocated in units of 256. Each of the 4 partitions of an SM (2 for
 *     compute capability 6.0) has its share of the registers, and holds whole warps.
 *   - Shared memory of a block is allocated in units of 128 bytes, 256 before compute
 * capability 8.0. From 8.0 on the driver adds 1 KiB to each block.
 *
 * The number of resident blocks is the smallest that these resources, the warp slots and the block
 * slots allow. The SM is assumed to use all memory for shared memory that it can. Limits come from
 * the recording (metadata gpu_limits.PID.DEVICE, or deviceProperties of PyTorch's profiler). Those
 * that are missing come from a table by compute capability, which the GPU's model implies if it was
 * not recorded. */
#ifndef GT_OCCUPANCY_H
#define GT_OCCUPANCY_H
#include "analyze/gpu/gpu_name.h"

struct gt_sm_limits {          /* of one SM; sms: their number on the GPU. 0: unknown */
	uint32_t major, minor; /* compute capability */
	uint32_t sms, threads, blocks, registers, shared, shared_reserved;
};
enum gt_occupancy_limit {
	GT_OCCUPANCY_FULL, /* nothing limits: all warp slots can be filled */
	GT_OCCUPANCY_REGISTERS,
	GT_OCCUPANCY_SHARED,
	GT_OCCUPANCY_BLOCK_SIZE, /* one more block has too many warps */
	GT_OCCUPANCY_BLOCKS,     /* block slots */
	GT_OCCUPANCY_LIMITS
};
const char *gt_occupancy_word(enum gt_occupancy_limit limit); /* NULL for GT_OCCUPANCY_FULL */

struct gt_occupancy {
	uint32_t blocks;     /* of an SM, at most */
	uint32_t hundredths; /* of a percent of the warp slots */
	enum gt_occupancy_limit limit;
};
/* threads: of a block; registers: of a thread; shared: bytes of a block. false: unknown, because
 * a limit is, or because no such block fits on an SM. */
bool gt_occupancy_of(const struct gt_sm_limits *limits, uint64_t threads, uint64_t registers,
	uint64_t shared, struct gt_occupancy *to);
/* Fills in the limits that are 0, from its compute capability. */
void gt_sm_limits_complete(struct gt_sm_limits *limits);
/* "9.0" of "NVIDIA H200", as 90. 0: unknown. */
unsigned gt_compute_capability_of_model(const char *model);

struct gt_sm_limits_reader { /* zero-initialised: empty */
	struct gt_gpu_namer names;
	const struct gt_segment *seg; /* the segment of `list` */
	struct gt_recorded_limits {
		long long pid, device; /* pid -1: of all processes */
		struct gt_sm_limits limits;
	} * list;
	size_t n, cap;
	bool failed;
};
/* The limits of a device, by its track; all 0: unknown. 0 or -ENOMEM. */
int gt_sm_limits_read(struct gt_sm_limits_reader *x, const struct gt_segment *seg, uint32_t device,
	struct gt_sm_limits *to);
void gt_sm_limits_reader_release(struct gt_sm_limits_reader *x);
#endif
