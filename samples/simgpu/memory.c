/* Device addresses and the host memory behind them.
 *
 * Each device has an arena: a memfd as large as its memory, mapped once; only touched pages use
 * memory. A device address is the arena's base address plus an offset. No process maps anything at
 * the base, so a CPU access to a device address crashes, as with a real device. Virtual memory
 * management maps parts of the same memfd into a mirror of the reserved addresses, so that adjacent
 * mappings are adjacent bytes. Pinned and managed memory is plain host memory whose address is
 * valid on both sides. All ranges are in one array sorted by address. */
#define _GNU_SOURCE
#include "samples/simgpu/sim.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ARENA_BASE 0x302000000ull
#define ARENA_STEP (1ull << 40)
#define SMALL 512          /* alignment of cuMemAlloc */
#define LARGE (2ull << 20) /* granularity of physical memory */

struct ranges {
	struct sim_range **v;
	size_t n, room;
};
static struct ranges ranges;
static struct {
	int fd;
	char *host;
	uint64_t used;
} arena[SIM_MAX_DEVICES];
static uint64_t ids;

static uint64_t base_of(int dev) { return ARENA_BASE + dev * ARENA_STEP; }

int sim_memory_init(void)
{
	for (int i = 0; i < sim_config.devices; i++) {
		arena[i].fd = memfd_create("simgpu memory", MFD_CLOEXEC);
		if (arena[i].fd < 0 || ftruncate(arena[i].fd, sim_config.memory))
			return CUDA_ERROR_OPERATING_SYSTEM;
		arena[i].host = mmap(NULL, sim_config.memory, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_NORESERVE, arena[i].fd, 0);
		if (arena[i].host == MAP_FAILED)
			return CUDA_ERROR_OUT_OF_MEMORY;
	}
	return sim_pools_init();
}

int sim_arena(int dev, uint64_t addr, uint64_t *offset)
{
	*offset = addr - base_of(dev);
	return arena[dev].fd;
}

/* The first range at or above addr. */
static size_t find_position(uint64_t addr)
{
	size_t lo = 0, hi = ranges.n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (ranges.v[mid]->addr + ranges.v[mid]->size <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct sim_range *sim_range_at(uint64_t addr)
{
	size_t i = find_position(addr);

	return i < ranges.n && ranges.v[i]->addr <= addr ? ranges.v[i] : NULL;
}

struct sim_range *sim_range_next(const struct sim_range *r)
{
	size_t i = r ? find_position(r->addr) + 1 : 0;

	return i < ranges.n ? ranges.v[i] : NULL;
}

struct sim_range *sim_range_add(struct sim_range with)
{
	size_t at = find_position(with.addr), room = ranges.room ? 2 * ranges.room : 64;
	struct sim_range *r, **v;

	if (ranges.n == ranges.room) {
		v = realloc(ranges.v, room * sizeof(*v));
		if (!v)
			return NULL;
		ranges.v = v;
		ranges.room = room;
	}
	r = malloc(sizeof(*r));
	if (!r)
		return NULL;
	*r = with;
	r->id = ++ids;
	memmove(&ranges.v[at + 1], &ranges.v[at], (ranges.n++ - at) * sizeof(*ranges.v));
	ranges.v[at] = r;
	return r;
}

static void remove_range(struct sim_range *r)
{
	size_t at = find_position(r->addr);

	memmove(&ranges.v[at], &ranges.v[at + 1], (--ranges.n - at) * sizeof(*ranges.v));
	free(r);
}

char *sim_host(uint64_t addr, uint64_t size)
{
	struct sim_range *first = sim_range_at(addr), *r = first;
	uint64_t end = addr + size;

	while (r && r->open && r->addr + r->size < end && r->mem == SIM_MAPPED)
		r = sim_range_at(r->addr + r->size); /* adjacent mappings count as one range */
	if (end < addr || !r || !r->open || r->addr + r->size < end)
		return NULL;
	return first->host + (addr - first->addr);
}

bool sim_pinned(uint64_t addr, uint64_t size)
{
	const struct sim_range *r = sim_range_at(addr);

	return r && r->mem >= SIM_HOST && addr + size <= r->addr + r->size;
}

/* First fit: the offset of the lowest gap of the arena that is large enough; SIM_NEVER if there is
 * none. */
static uint64_t find_gap(int dev, uint64_t size, uint64_t align)
{
	uint64_t at = base_of(dev), end = at + sim_config.memory;

	for (size_t i = find_position(at);
		i < ranges.n && ranges.v[i]->addr < end && ranges.v[i]->addr - at < size; i++)
		at = (ranges.v[i]->addr + ranges.v[i]->size + align - 1) & ~(align - 1);
	return at <= end && end - at >= size ? at : SIM_NEVER;
}

int sim_alloc(struct sim_ctx *ctx, uint64_t size, enum sim_mem mem, struct sim_range **out)
{
	uint64_t align = mem == SIM_PHYSICAL || size >= LARGE ? LARGE : SMALL, at;
	int dev = ctx->dev;

	if (size > sim_config.memory)
		return CUDA_ERROR_OUT_OF_MEMORY;
	size = (size + SMALL - 1) & ~(SMALL - 1ull);
	at = find_gap(dev, size, align);
	if (at == SIM_NEVER)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*out = sim_range_add((struct sim_range){ .addr = at,
		.size = size,
		.host = arena[dev].host + (at - base_of(dev)),
		.mem = mem,
		.dev = dev,
		.open = mem != SIM_PHYSICAL,
		.ctx = mem == SIM_PHYSICAL ? NULL : ctx });
	if (!*out)
		return CUDA_ERROR_OUT_OF_MEMORY;
	arena[dev].used += size;
	if (mem != SIM_ASYNC)
		sim_files_alloc(dev, at, size);
	return CUDA_SUCCESS;
}

void sim_range_end(struct sim_range *r)
{
	if (r->mem <= SIM_PHYSICAL) {
		if (r->size >= LARGE)
			madvise(r->host, r->size & ~4095ull, MADV_REMOVE);
		if (r->mem != SIM_ASYNC)
			sim_files_free(r->dev, r->addr, r->size);
		if (r->pool)
			r->pool->used -= r->size;
		arena[r->dev].used -= r->size;
	} else if (r->mem == SIM_HOST || r->mem == SIM_MANAGED) {
		munmap(r->host, r->size);
	}
	remove_range(r);
}

void sim_release_ctx(struct sim_ctx *ctx)
{
	for (size_t i = ranges.n; i-- > 0;)
		if (ranges.v[i]->ctx == ctx)
			sim_range_end(ranges.v[i]);
}

/* Plain device memory. */
CUresult cuMemAlloc_v2(CUdeviceptr *at, size_t size)
{
	struct sim_range *r;
	struct sim_ctx *ctx;
	int rc = sim_enter(&ctx);

	if (rc)
		return rc;
	if (!at || !size)
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	if (!(rc = sim_alloc(ctx, size, SIM_DEVICE, &r)))
		*at = r->addr;
	return sim_leave(rc);
}

CUresult cuMemAllocPitch_v2(
	CUdeviceptr *at, size_t *pitch, size_t width, size_t height, unsigned element)
{
	size_t row = (width + SMALL - 1) & ~(SMALL - 1ull), bytes;

	if (!pitch || !width || !height || (element != 4 && element != 8 && element != 16))
		return CUDA_ERROR_INVALID_VALUE;
	if (row < width || __builtin_mul_overflow(row, height, &bytes))
		return CUDA_ERROR_OUT_OF_MEMORY;
	*pitch = row;
	return cuMemAlloc_v2(at, bytes);
}

CUresult cuMemFree_v2(CUdeviceptr at)
{
	struct sim_range *r;
	struct sim_ctx *ctx;
	int rc = sim_enter(&ctx);

	if (rc)
		return rc;
	if (!at)
		return sim_leave(CUDA_SUCCESS);
	sim_wait_ctx(ctx); /* the real driver waits too */
	r = sim_range_at(at);
	if (!r || r->addr != at || r->freed ||
		(r->mem != SIM_DEVICE && r->mem != SIM_ASYNC && r->mem != SIM_MANAGED))
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	sim_range_end(r);
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuMemGetInfo_v2(size_t *unused, size_t *total)
{
	struct sim_ctx *ctx;
	int rc = sim_enter(&ctx);

	if (rc)
		return rc;
	if (!unused || !total)
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	*total = sim_config.memory;
	*unused = sim_config.memory - arena[ctx->dev].used;
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr at)
{
	struct sim_range *r;
	struct sim_ctx *ctx;
	int rc = sim_enter(&ctx);

	if (rc)
		return rc;
	r = sim_range_at(at);
	if (!r || r->mem == SIM_PHYSICAL)
		return sim_leave(CUDA_ERROR_NOT_FOUND);
	if (base)
		*base = r->addr;
	if (size)
		*size = r->size;
	return sim_leave(CUDA_SUCCESS);
}

/* Host memory that the device can access. */
static int host_alloc(enum sim_mem mem, void **at, size_t size, unsigned flags)
{
	struct sim_ctx *ctx;
	int rc = sim_enter(&ctx);
	char *p;

	if (rc)
		return rc;
	if (!at || !size || flags > 7)
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	size = (size + 4095) & ~4095ull;
	p = size ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
		 : MAP_FAILED;
	if (p == MAP_FAILED)
		return sim_leave(CUDA_ERROR_OUT_OF_MEMORY);
	if (!sim_range_add((struct sim_range){ .addr = (uint64_t)p,
		    .size = size,
		    .host = p,
		    .mem = mem,
		    .dev = ctx->dev,
		    .flags = flags,
		    .open = true,
		    .ctx = ctx })) {
		munmap(p, size);
		return sim_leave(CUDA_ERROR_OUT_OF_MEMORY);
	}
	*at = p;
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuMemHostAlloc(void **at, size_t size, unsigned flags)
{
	return host_alloc(SIM_HOST, at, size, flags);
}

CUresult cuMemAllocHost_v2(void **at, size_t size) { return host_alloc(SIM_HOST, at, size, 0); }

CUresult cuMemAllocManaged(CUdeviceptr *at, size_t size, unsigned flags)
{
	if (flags != 1 && flags != 2)
		return CUDA_ERROR_INVALID_VALUE;
	return host_alloc(SIM_MANAGED, (void **)at, size, flags);
}

/* Frees a range of host memory that begins at p, after waiting for the work that uses it. */
static int free_host_range(void *p, enum sim_mem mem, int missing)
{
	struct sim_range *r;
	struct sim_ctx *ctx;
	int rc = sim_enter(&ctx);

	if (rc)
		return rc;
	sim_wait_ctx(ctx);
	r = sim_range_at((uint64_t)p);
	if (!r || r->host != p || r->mem != mem)
		return sim_leave(missing);
	sim_range_end(r);
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuMemFreeHost(void *p) { return free_host_range(p, SIM_HOST, CUDA_ERROR_INVALID_VALUE); }

CUresult cuMemHostUnregister(void *p)
{
	return free_host_range(p, SIM_REGISTERED, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

CUresult cuMemHostRegister_v2(void *p, size_t size, unsigned flags)
{
	uint64_t at = (uint64_t)p;
	struct sim_ctx *ctx;
	size_t next;
	int rc = sim_enter(&ctx);

	if (rc)
		return rc;
	if (!p || !size || at + size < at || flags > 15)
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	next = find_position(at);
	if (next < ranges.n && ranges.v[next]->addr < at + size)
		return sim_leave(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
	if (!sim_range_add((struct sim_range){ .addr = at,
		    .size = size,
		    .host = p,
		    .mem = SIM_REGISTERED,
		    .dev = ctx->dev,
		    .flags = flags,
		    .open = true,
		    .ctx = ctx }))
		return sim_leave(CUDA_ERROR_OUT_OF_MEMORY);
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *at, void *p, unsigned flags)
{
	struct sim_ctx *ctx;
	int rc = sim_enter(&ctx);

	if (rc)
		return rc;
	if (!at || flags || !sim_pinned((uint64_t)p, 1))
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	*at = (CUdeviceptr)p;
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuMemHostGetFlags(unsigned *flags, void *p)
{
	struct sim_range *r;
	struct sim_ctx *ctx;
	int rc = sim_enter(&ctx);

	if (rc)
		return rc;
	r = sim_range_at((uint64_t)p);
	if (!flags || !r || (r->mem != SIM_HOST && r->mem != SIM_REGISTERED))
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	*flags = r->flags | 2; /* mapped, like all host memory with unified addresses */
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuMemHostRegister(void *p, size_t size, unsigned flags)
	__attribute__((SIM_ALIAS(cuMemHostRegister_v2)));
