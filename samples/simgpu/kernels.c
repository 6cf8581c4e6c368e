/* Launches: which are refused, the cost of a kernel, and the effect of the few kernels known by
 * name.
 *
 * Cost: 2 us to begin, then 1 us for each wave of blocks that fills the device, varied by up to 5 %
 * from the seed. `busy` takes the number of cycles in its argument; `waitFlag` runs until the host
 * sets its flag. The known kernels are those that samples/cu.h contains as PTX; the functions here
 * do the same arithmetic in C. */
#include "samples/simgpu/sim.h"

#include <stdlib.h>
#include <string.h>

#define CLOCK_GHZ 1.98

struct known_kernel {
	const char *name;
	/* CUDA_SUCCESS, an error, or NOT_READY: poll again */
	int (*run)(const struct sim_launch *l, const struct known_kernel *k);
	unsigned params_size;
};

static uint64_t arg64(const struct sim_launch *l, unsigned offset)
{
	uint64_t v;

	memcpy(&v, (char *)l->params + offset, 8);
	return v;
}

static uint32_t arg32(const struct sim_launch *l, unsigned offset)
{
	uint32_t v;

	memcpy(&v, (char *)l->params + offset, 4);
	return v;
}

static float argf(const struct sim_launch *l, unsigned offset)
{
	float v;

	memcpy(&v, (char *)l->params + offset, 4);
	return v;
}

/* Elements that a launch covers: the smaller of n and the number of its threads. */
static uint64_t covered_elements(const struct sim_launch *l, int n)
{
	uint64_t threads = (uint64_t)l->grid[0] * l->block[0];

	return n < 0 ? 0 : (uint64_t)n < threads ? (uint64_t)n : threads;
}

/* c[i] = a[i] + b[i] */
static int vector_add(const struct sim_launch *l, const struct known_kernel *k)
{
	uint64_t n = covered_elements(l, arg32(l, 24));
	const float *a = (float *)sim_host(arg64(l, 0), 4 * n),
		    *b = (float *)sim_host(arg64(l, 8), 4 * n);
	float *c = (float *)sim_host(arg64(l, 16), 4 * n);

	(void)k;
	for (uint64_t i = 0; a && b && c && i < n; i++)
		c[i] = a[i] + b[i];
	return !n || (a && b && c) ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS;
}

/* y[i] += a * x[i] */
static int saxpy(const struct sim_launch *l, const struct known_kernel *k)
{
	uint64_t n = covered_elements(l, arg32(l, 24));
	const float a = argf(l, 0), *x = (float *)sim_host(arg64(l, 8), 4 * n);
	float *y = (float *)sim_host(arg64(l, 16), 4 * n);

	(void)k;
	for (uint64_t i = 0; x && y && i < n; i++)
		y[i] += a * x[i];
	return !n || (x && y) ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS;
}

static int scale(const struct sim_launch *l, const struct known_kernel *k) /* x[i] *= a */
{
	uint64_t n = covered_elements(l, arg32(l, 12));
	float *x = (float *)sim_host(arg64(l, 0), 4 * n), a = argf(l, 8);

	(void)k;
	for (uint64_t i = 0; x && i < n; i++)
		x[i] *= a;
	return !n || x ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS;
}

/* x[i] = max(x[i], 0) */
static int relu(const struct sim_launch *l, const struct known_kernel *k)
{
	uint64_t n = covered_elements(l, arg32(l, 8));
	float *x = (float *)sim_host(arg64(l, 0), 4 * n);

	(void)k;
	for (uint64_t i = 0; x && i < n; i++)
		x[i] = x[i] > 0 ? x[i] : 0;
	return !n || x ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS;
}

/* spins; its time is its cost */
static int busy(const struct sim_launch *l, const struct known_kernel *k)
{
	(void)l, (void)k;
	return CUDA_SUCCESS;
}

/* spins until *flag is set */
static int wait_flag(const struct sim_launch *l, const struct known_kernel *k)
{
	const int *flag = (int *)sim_host(arg64(l, 0), 4);

	(void)k;
	return !flag                                      ? CUDA_ERROR_ILLEGAL_ADDRESS
		: __atomic_load_n(flag, __ATOMIC_ACQUIRE) ? CUDA_SUCCESS
							  : CUDA_ERROR_NOT_READY;
}

static const struct known_kernel known[] = {
	{ "_Z9vectorAddPKfS0_Pfi", vector_add, 28 },
	{ "_Z5saxpyfPKfPfi", saxpy, 28 },
	{ "_Z5scaleIfEvPT_S0_i", scale, 16 },
	{ "_Z4reluIfEvPT_i", relu, 12 },
	{ "_Z4busyy", busy, 8 },
	{ "_Z8waitFlagPVi", wait_flag, 8 },
};

static const struct known_kernel *find_known(const struct sim_launch *l)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (l->params && l->func->params_size == known[i].params_size &&
			!strcmp(known[i].name, l->func->name))
			return &known[i];
	return NULL;
}

bool sim_kernel_run(struct sim_op *op)
{
	const struct known_kernel *k = find_known(&op->launch);
	int rc = k ? k->run(&op->launch, k) : CUDA_SUCCESS;

	if (k && k->run == wait_flag)
		/* the time of the check: the time when the flag was set is unknown */
		op->end = sim_now();
	if (rc && rc != CUDA_ERROR_NOT_READY)
		op->stream->ctx->error = rc; /* every later call in this context fails */
	return rc != CUDA_ERROR_NOT_READY;
}

static int blocks_per_sm(unsigned block, size_t shared)
{
	unsigned warps = (block + 31) / 32, by_threads = warps ? 64 / warps : 0;
	unsigned by_shared = shared ? 233472 / (shared + 1024) : 32;
	unsigned least = by_threads < by_shared ? by_threads : by_shared;

	return least < 32 ? least : 32;
}

static uint64_t volume(const unsigned v[3]) { return (uint64_t)v[0] * v[1] * v[2]; }

static uint64_t cost_of(const struct sim_launch *l)
{
	const struct known_kernel *k = find_known(l);
	int resident = blocks_per_sm(volume(l->block), l->shared);
	uint64_t waves = volume(l->grid) / (SIM_SMS * (uint64_t)(resident ? resident : 1)) + 1,
		 ns = 1000 * waves;

	if (k && k->run == busy)
		return SIM_LAUNCH_NS + arg64(l, 0) / CLOCK_GHZ;
	return SIM_LAUNCH_NS + ns - ns / 20 + sim_random() % (ns / 10);
}

/* Copies the arguments to *out as the device sees them. NULL if there are none. */
static int pack_arguments(const struct sim_function *f, void **params, void **extra, void **out)
{
	const char *buffer = NULL;
	size_t size = 0;

	*out = NULL;
	if (params && extra)
		return CUDA_ERROR_INVALID_VALUE;
	for (; extra && *extra; extra += 2) {
		if (*extra == (void *)1) /* CU_LAUNCH_PARAM_BUFFER_POINTER */
			buffer = extra[1];
		else if (*extra == (void *)2) /* CU_LAUNCH_PARAM_BUFFER_SIZE */
			size = *(size_t *)extra[1];
		else
			return CUDA_ERROR_INVALID_VALUE;
	}
	if (!f->params_n)
		return CUDA_SUCCESS;
	if ((!params && !buffer) || (buffer && size < f->params_size))
		return CUDA_ERROR_INVALID_VALUE;
	if (!(*out = calloc(1, f->params_size)))
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (buffer)
		memcpy(*out, buffer, f->params_size);
	for (unsigned i = 0; !buffer && i < f->params_n; i++)
		memcpy((char *)*out + f->params[i].offset, params[i], f->params[i].size);
	return CUDA_SUCCESS;
}

int sim_launch_op(CUfunction f, const unsigned grid[3], const unsigned block[3], unsigned shared,
	void **params, void **extra, struct sim_op *op)
{
	int rc;

	if (!sim_is(f, SIM_FUNCTION))
		return CUDA_ERROR_INVALID_HANDLE;
	if (!volume(grid) || !volume(block) || volume(block) > 1024 || block[2] > 64 ||
		grid[0] > 0x7fffffff || grid[1] > 65535 || grid[2] > 65535 ||
		shared > (unsigned)f->max_dynamic)
		return CUDA_ERROR_INVALID_VALUE;
	op->launch = (struct sim_launch){ .func = f,
		.grid = { grid[0], grid[1], grid[2] },
		.block = { block[0], block[1], block[2] },
		.shared = shared };
	if ((rc = pack_arguments(f, params, extra, &op->launch.params)))
		return rc;
	op->staged = op->launch.params;
	op->cost = cost_of(&op->launch);
	op->engine = SIM_COMPUTE;
	op->run = sim_kernel_run;
	op->node_type = 0;
	return CUDA_SUCCESS;
}

static int launch(CUfunction f, const unsigned grid[3], const unsigned block[3], unsigned shared,
	CUstream h, void **params, void **extra, bool cooperative)
{
	struct sim_op op = { 0 };
	struct sim_stream *s;
	int rc;
	ENTER(ctx);

	if ((rc = sim_stream_get(ctx, h, &s)) ||
		(rc = sim_launch_op(f, grid, block, shared, params, extra, &op)))
		return sim_leave(rc);
	if (cooperative &&
		volume(grid) > (uint64_t)SIM_SMS * blocks_per_sm(volume(block), shared)) {
		free(op.staged);
		return sim_leave(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
	}
	op.launch.cooperative = cooperative;
	return sim_leave(sim_submit(s, &op));
}

static int launch_ex(
	const struct cu_launch *c, CUstream h, CUfunction f, void **params, void **extra)
{
	return launch(f, c->grid, c->block, c->shared, h, params, extra, false);
}

#define DIMS unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz
#define GRID                                                                                       \
	(unsigned[]){ gx, gy, gz }, (unsigned[]) { bx, by, bz }
BOTH(cuLaunchKernel, _ptsz,
	(CUfunction f, DIMS, unsigned shared, CUstream s, void **params, void **extra),
	launch(f, GRID, shared, OR_NONE(s), params, extra, false))
BOTH(cuLaunchCooperativeKernel, _ptsz,
	(CUfunction f, DIMS, unsigned shared, CUstream s, void **params),
	launch(f, GRID, shared, OR_NONE(s), params, NULL, true))
BOTH(cuLaunchKernelEx, _ptsz,
	(const struct cu_launch *c, CUfunction f, void **params, void **extra),
	c ? launch_ex(c, OR_NONE(c->stream), f, params, extra) : CUDA_ERROR_INVALID_VALUE)

/* Occupancy, from threads and shared memory alone. */
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
	int *blocks, CUfunction f, int block, size_t shared, unsigned flags)
{
	if (!sim_is(f, SIM_FUNCTION))
		return CUDA_ERROR_INVALID_HANDLE;
	if (!blocks || block <= 0 || flags > 1)
		return CUDA_ERROR_INVALID_VALUE;
	*blocks = block > 1024 ? 0 : blocks_per_sm(block, shared);
	return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(
	int *blocks, CUfunction f, int block, size_t shared)
{
	return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, f, block, shared, 0);
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction f,
	size_t (*shared_of)(int), size_t shared, int limit, unsigned flags)
{
	int best = 0, blocks;

	if (!sim_is(f, SIM_FUNCTION))
		return CUDA_ERROR_INVALID_HANDLE;
	if (!grid || !block || flags > 1)
		return CUDA_ERROR_INVALID_VALUE;
	for (int size = limit > 0 && limit < 1024 ? limit & ~31 : 1024; size > 0; size -= 32) {
		blocks = blocks_per_sm(size, shared_of ? shared_of(size) : shared);
		if (blocks * size > best) {
			best = blocks * size;
			*block = size;
			*grid = blocks * SIM_SMS;
		}
	}
	return best ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuOccupancyMaxPotentialBlockSize(
	int *grid, int *block, CUfunction f, size_t (*shared_of)(int), size_t shared, int limit)
{
	return cuOccupancyMaxPotentialBlockSizeWithFlags(
		grid, block, f, shared_of, shared, limit, 0);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, CUfunction f, int blocks, int block)
{
	if (!sim_is(f, SIM_FUNCTION))
		return CUDA_ERROR_INVALID_HANDLE;
	if (!bytes || blocks <= 0 || block <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	*bytes = 233472 / blocks > 1024 ? 233472 / blocks - 1024 : 0;
	return CUDA_SUCCESS;
}
