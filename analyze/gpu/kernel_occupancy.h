/* The occupancy (occupancy.h) of all kernels of one name: the mean over their time, and the limit
 * that applies for the longest time. */
#ifndef GT_KERNEL_OCCUPANCY_H
#define GT_KERNEL_OCCUPANCY_H
#include "analyze/core/report.h"
#include "analyze/gpu/occupancy.h"

/* The device of the current run, and the columns of its kernels. */
struct gt_occupancy_input { /* zero-initialised: empty */
	struct gt_sm_limits_reader reader;
	const struct gt_segment *seg;
	uint32_t device;
	struct gt_sm_limits limits;
	/* of the current code; NULL: not recorded */
	const uint64_t *grid[3], *block[3], *shared[2], *registers;
	uint32_t n; /* rows that have them */
};
/* Reads the columns of a code of a run. 0 or negative. */
int gt_occupancy_input_read(struct gt_occupancy_input *x, const struct gt_cols *cols, uint32_t code,
	struct gt_err *err);
void gt_occupancy_input_release(struct gt_occupancy_input *x);

struct gt_kernel_occupancy {          /* zero-initialised: empty */
	uint64_t ns;                  /* of kernels whose occupancy is known */
	unsigned __int128 sum, waves; /* ns times hundredths of a percent, and times waves / 100 */
	uint64_t waves_ns;            /* of kernels whose waves are known */
	uint64_t by_limit[GT_OCCUPANCY_LIMITS]; /* ns */
	/* the last configuration */
	const struct gt_segment *seg;
	uint64_t threads, registers, shared;
	uint32_t device;
	bool known;
	struct gt_occupancy last;
};
/* Adds row nth of the code, which took ns. */
void gt_kernel_occupancy_add(struct gt_kernel_occupancy *o, const struct gt_occupancy_input *x,
	uint32_t nth, uint64_t ns);
/* Occupancy in percent, what limits it, waves. */
#define GT_OCCUPANCY_COLUMNS                                                                       \
	{ "occupancy_percent", "Occupancy %", GT_C_PERCENT },                                      \
	{                                                                                          \
		"limited_by", "Limited by", GT_C_TEXT                                              \
	}
void gt_kernel_occupancy_cells(const struct gt_kernel_occupancy *o, struct gt_cell cells[2]);
/* How often the grid fills all SMs of the GPU, the mean over time. */
struct gt_cell gt_kernel_waves(const struct gt_kernel_occupancy *o);
#endif
