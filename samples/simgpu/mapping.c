/* Memory beyond plain allocation: pools and stream-ordered memory, virtual memory management,
 * arrays, and pointer attributes.
 *
 * cuMemCreate allocates a part of the arena that has a handle and no usable address.
 * cuMemAddressReserve reserves device addresses and the same amount of this process's address
 * space. cuMemMap maps the part's pages of the arena's memfd there. */
#define _GNU_SOURCE
#include "samples/simgpu/sim.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define RESERVED_BASE (1ull << 45)
#define GRANULARITY (2ull << 20)

struct reservation {
	struct reservation *next;
	uint64_t addr, size;
	char *host;
};
static struct reservation *reservations;
static uint64_t reserved_to = RESERVED_BASE, handles;
static struct {
	struct sim_pool *default_pool, *current;
} pools[SIM_MAX_DEVICES];

/* Pools. */
static struct sim_pool *pool_new(int dev)
{
	struct sim_pool *p = sim_new(SIM_POOL, sizeof(*p));

	if (p) {
		p->dev = dev;
		p->attribute[1] = p->attribute[2] = p->attribute[3] = 1; /* reuse allowed */
	}
	return p;
}

int sim_pools_init(void)
{
	for (int i = 0; i < sim_config.devices; i++)
		if (!(pools[i].default_pool = pools[i].current = pool_new(i)))
			return CUDA_ERROR_OUT_OF_MEMORY;
	return CUDA_SUCCESS;
}

static int device_pool(CUmemoryPool *pool, CUdevice dev, bool current)
{
	if (sim_ready())
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!pool)
		return CUDA_ERROR_INVALID_VALUE;
	if (dev < 0 || dev >= sim_config.devices)
		return CUDA_ERROR_INVALID_DEVICE;
	*pool = current ? pools[dev].current : pools[dev].default_pool;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice dev)
{
	return device_pool(pool, dev, false);
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev)
{
	return device_pool(pool, dev, true);
}

CUresult cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool)
{
	struct sim_pool *old;
	int rc = device_pool(&old, dev, true);

	if (rc || !sim_is(pool, SIM_POOL))
		return rc ? rc : CUDA_ERROR_INVALID_VALUE;
	pools[dev].current = pool;
	return CUDA_SUCCESS;
}

CUresult cuMemPoolCreate(CUmemoryPool *pool, const struct cu_pool_props *props)
{
	if (sim_ready())
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!pool || !props || props->type != 1 || props->location.type != 1 ||
		props->location.id < 0 || props->location.id >= sim_config.devices)
		return CUDA_ERROR_INVALID_VALUE;
	sim_lock();
	*pool = pool_new(props->location.id);
	return sim_leave(*pool ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
	if (!sim_is(pool, SIM_POOL) || pool == pools[pool->dev].default_pool)
		return CUDA_ERROR_INVALID_VALUE;
	sim_lock();
	if (pools[pool->dev].current == pool)
		pools[pool->dev].current = pools[pool->dev].default_pool;
	if (!pool->used) /* otherwise its allocations still refer to it */
		sim_drop(pool);
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep)
{
	(void)keep; /* a pool keeps no free memory here */
	return sim_is(pool, SIM_POOL) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Attributes 1 to 3 are ints, 4 to 8 cuuint64_t: threshold, reserved, its peak, used, its peak. */
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, unsigned attribute, void *value)
{
	if (!sim_is(pool, SIM_POOL) || !value || attribute < 1 || attribute > 8)
		return CUDA_ERROR_INVALID_VALUE;
	sim_lock();
	if (attribute <= 3)
		*(int *)value = pool->attribute[attribute];
	else
		*(uint64_t *)value = attribute == 4 ? pool->attribute[4]
			: attribute & 1             ? pool->used
						    : pool->high;
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, unsigned attribute, void *value)
{
	if (!sim_is(pool, SIM_POOL) || !value || attribute < 1 || attribute > 8 || attribute == 5 ||
		attribute == 7)
		return CUDA_ERROR_INVALID_VALUE;
	sim_lock();
	if (attribute <= 4)
		pool->attribute[attribute] =
			attribute <= 3 ? (uint64_t) * (int *)value : *(uint64_t *)value;
	else
		pool->high = pool->used; /* peaks can only be reset */
	return sim_leave(CUDA_SUCCESS);
}

/* Stream-ordered memory: allocated at once, freed when the stream reaches the operation. */
static bool free_run(struct sim_op *op)
{
	struct sim_range *r = sim_range_at(op->addr);

	if (r)
		sim_range_end(r);
	return true;
}

static int alloc_async(CUdeviceptr *at, size_t size, CUmemoryPool pool, CUstream h)
{
	struct sim_range *r;
	struct sim_stream *s;
	int rc;
	ENTER(ctx);

	if ((rc = sim_stream_get(ctx, h, &s)))
		return sim_leave(rc);
	if (!pool)
		pool = pools[ctx->dev].current;
	if (!at || !size || !sim_is(pool, SIM_POOL))
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	if (s->capture)
		return sim_leave(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	if ((rc = sim_alloc(ctx, size, SIM_ASYNC, &r)))
		return sim_leave(rc);
	r->pool = pool;
	pool->used += r->size;
	if (pool->used > pool->high)
		pool->high = pool->used;
	*at = r->addr;
	return sim_leave(CUDA_SUCCESS);
}

static int free_async(CUdeviceptr at, CUstream h)
{
	struct sim_op op = { .run = free_run, .node_type = 11, .addr = at };
	struct sim_range *r;
	struct sim_stream *s;
	int rc;
	ENTER(ctx);

	if ((rc = sim_stream_get(ctx, h, &s)))
		return sim_leave(rc);
	r = sim_range_at(at);
	if (!r || r->addr != at || r->freed || (r->mem != SIM_ASYNC && r->mem != SIM_DEVICE))
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	if (s->capture)
		return sim_leave(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	r->freed = true;
	return sim_leave(sim_submit(s, &op));
}

BOTH(cuMemAllocAsync, _ptsz, (CUdeviceptr * at, size_t size, CUstream s),
	alloc_async(at, size, NULL, OR_NONE(s)))
BOTH(cuMemAllocFromPoolAsync, _ptsz, (CUdeviceptr * at, size_t size, CUmemoryPool pool, CUstream s),
	pool ? alloc_async(at, size, pool, OR_NONE(s)) : CUDA_ERROR_INVALID_VALUE)
BOTH(cuMemFreeAsync, _ptsz, (CUdeviceptr at, CUstream s), free_async(at, OR_NONE(s)))

/* Virtual memory management. */
static struct reservation *find_reservation(uint64_t at, uint64_t size)
{
	struct reservation *v = reservations;

	while (v && (at < v->addr || at - v->addr >= v->size || size > v->size - (at - v->addr)))
		v = v->next;
	return v;
}

static struct sim_range *find_physical(uint64_t handle)
{
	struct sim_range *r = NULL;

	while ((r = sim_range_next(r)) && (r->mem != SIM_PHYSICAL || r->handle != handle))
		;
	return r;
}

CUresult cuMemAddressReserve(
	CUdeviceptr *at, size_t size, size_t align, CUdeviceptr hint, unsigned long long flags)
{
	struct reservation *v;
	ENTER(ctx);

	(void)hint;
	if (!at || !size || size % GRANULARITY || align & (align - 1) || flags || size > 1ull << 44)
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	if (!(v = malloc(sizeof(*v))))
		return sim_leave(CUDA_ERROR_OUT_OF_MEMORY);
	align = align < GRANULARITY ? GRANULARITY : align;
	v->size = size;
	v->addr = (reserved_to + align - 1) & ~(align - 1);
	v->host = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (v->host == MAP_FAILED) {
		free(v);
		return sim_leave(CUDA_ERROR_OUT_OF_MEMORY);
	}
	reserved_to = v->addr + size;
	v->next = reservations;
	reservations = v;
	*at = v->addr;
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuMemAddressFree(CUdeviceptr at, size_t size)
{
	struct reservation **p = &reservations, *v;
	ENTER(ctx);

	while (*p && (*p)->addr != at)
		p = &(*p)->next;
	if (!*p || (*p)->size != size)
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	v = *p;
	*p = v->next;
	munmap(v->host, v->size);
	free(v);
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
	const struct cu_alloc_prop *prop, unsigned long long flags)
{
	struct sim_range *r;
	int rc;
	ENTER(ctx);

	if (!handle || !prop || flags || !size || size % GRANULARITY || prop->type != 1 ||
		prop->location.type != 1)
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	if (prop->location.id != ctx->dev)
		return sim_leave(CUDA_ERROR_INVALID_DEVICE);
	if (!(rc = sim_alloc(ctx, size, SIM_PHYSICAL, &r))) {
		r->refs = 1;
		*handle = r->handle = 0x5150000 + ++handles;
	}
	return sim_leave(rc);
}

static int physical_put(struct sim_range *r)
{
	if (r && !--r->refs)
		sim_range_end(r);
	return r ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
	ENTER(ctx);

	return sim_leave(physical_put(find_physical(handle)));
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *at)
{
	struct sim_range *r, *p;
	ENTER(ctx);

	r = sim_range_at((uint64_t)at);
	p = r && r->mem == SIM_MAPPED ? find_physical(r->handle) : NULL;
	if (!handle || !p)
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	p->refs++;
	*handle = p->handle;
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuMemMap(CUdeviceptr at, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
	unsigned long long flags)
{
	struct reservation *v;
	struct sim_range *p, *there;
	uint64_t in_arena;
	char *host;
	int fd;
	ENTER(ctx);

	v = find_reservation(at, size);
	p = find_physical(handle);
	there = sim_range_at(at);
	if (!v || !p || flags || !size || at % GRANULARITY || size % GRANULARITY ||
		offset % GRANULARITY || offset > p->size || size > p->size - offset || there)
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	fd = sim_arena(p->dev, p->addr + offset, &in_arena);
	host = v->host + (at - v->addr);
	if (mmap(host, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd,
		    in_arena) == MAP_FAILED)
		return sim_leave(CUDA_ERROR_OUT_OF_MEMORY);
	if (!sim_range_add((struct sim_range){ .addr = at,
		    .size = size,
		    .host = host,
		    .mem = SIM_MAPPED,
		    .dev = p->dev,
		    .handle = handle }))
		return sim_leave(CUDA_ERROR_OUT_OF_MEMORY);
	p->refs++;
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuMemUnmap(CUdeviceptr at, size_t size)
{
	struct sim_range *r;
	uint64_t end = at + size;
	ENTER(ctx);

	sim_wait_ctx(ctx);
	r = sim_range_at(at);
	if (!r || r->addr != at || r->mem != SIM_MAPPED || !size)
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	while (r && r->mem == SIM_MAPPED && at < end) {
		at = r->addr + r->size;
		mmap(r->host, r->size, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
		physical_put(find_physical(r->handle));
		sim_range_end(r);
		r = sim_range_at(at);
	}
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuMemSetAccess(CUdeviceptr at, size_t size, const struct cu_access *access, size_t count)
{
	struct sim_range *r;
	uint64_t end = at + size;
	ENTER(ctx);

	if (!access || !count || !size)
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	for (uint64_t p = at; p < end; p = r->addr + r->size) {
		r = sim_range_at(p);
		if (!r || r->mem != SIM_MAPPED)
			return sim_leave(CUDA_ERROR_INVALID_VALUE);
		for (size_t i = 0; i < count; i++)
			if (access[i].location.type == 1 && access[i].location.id == r->dev)
				r->open = access[i].flags != 0;
	}
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuMemGetAccess(
	unsigned long long *flags, const struct cu_location *location, CUdeviceptr at)
{
	struct sim_range *r;
	ENTER(ctx);

	r = sim_range_at(at);
	if (!flags || !location || !r || r->mem != SIM_MAPPED)
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	*flags = location->type == 1 && location->id == r->dev && r->open ? 3 : 0;
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuMemGetAllocationGranularity(
	size_t *granularity, const struct cu_alloc_prop *prop, int option)
{
	if (sim_ready())
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!granularity || !prop || option < 0 || option > 1)
		return CUDA_ERROR_INVALID_VALUE;
	*granularity = GRANULARITY;
	return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationPropertiesFromHandle(
	struct cu_alloc_prop *prop, CUmemGenericAllocationHandle handle)
{
	struct sim_range *r;
	ENTER(ctx);

	r = find_physical(handle);
	if (!prop || !r)
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	*prop = (struct cu_alloc_prop){ .type = 1, .location = { 1, r->dev } };
	return sim_leave(CUDA_SUCCESS);
}

/* Pointer attributes. */
static size_t attribute_value(
	const struct sim_range *r, unsigned attribute, uint64_t at, uint64_t *value)
{
	bool host = r->mem >= SIM_HOST;

	switch (attribute) {
	case 1: *value = (uint64_t)r->ctx; return 8;
	/* CU_MEMORYTYPE_HOST, _DEVICE */
	case 2: *value = host && r->mem != SIM_MANAGED ? 1 : 2; return 4;
	case 3: *value = at; return 8;
	case 4: *value = host ? (uint64_t)r->host + (at - r->addr) : 0; return 8;
	case 6: *value = 0; return 4;
	case 7: *value = r->id; return 8;
	case 8: *value = r->mem == SIM_MANAGED; return 4;
	case 9: *value = r->dev; return 4;
	case 11: *value = r->addr; return 8;
	case 12: *value = r->size; return 8;
	case 13: *value = r->open; return 4;
	case 17: *value = (uint64_t)r->pool; return 8;
	default: return 0;
	}
}

static int pointer_attribute(void *data, unsigned attribute, uint64_t at, bool strict)
{
	static const struct sim_range nowhere = { .dev = -2, .mem = SIM_DEVICE };
	const struct sim_range *r = sim_range_at(at);
	uint64_t value = 0;
	size_t bytes = attribute_value(r ? r : &nowhere, attribute, at, &value);

	if (!bytes || !data || (!r && strict) || (strict && attribute == 4 && !value))
		return CUDA_ERROR_INVALID_VALUE;
	if (!r && attribute != 9)
		value = 0;
	memcpy(data, &value, bytes);
	return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void *data, unsigned attribute, CUdeviceptr at)
{
	ENTER(ctx);

	return sim_leave(pointer_attribute(data, attribute, at, true));
}

CUresult cuPointerGetAttributes(unsigned n, const unsigned *attributes, void **data, CUdeviceptr at)
{
	int rc = CUDA_SUCCESS;
	ENTER(ctx);

	if (!n || !attributes || !data)
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	for (unsigned i = 0; i < n && !rc; i++)
		rc = pointer_attribute(data[i], attributes[i], at, false);
	return sim_leave(rc);
}

/* Advice about managed memory: only checked, because no bytes move. */
static int check_managed(CUdeviceptr at, size_t size)
{
	struct sim_range *r;
	ENTER(ctx);

	r = sim_range_at(at);
	return sim_leave(!r || r->mem != SIM_MANAGED || at + size > r->addr + r->size
			? CUDA_ERROR_INVALID_VALUE
			: CUDA_SUCCESS);
}

CUresult cuMemAdvise(CUdeviceptr at, size_t size, int advice, CUdevice dev)
{
	return advice < 1 || advice > 6 || dev >= sim_config.devices ? CUDA_ERROR_INVALID_VALUE
								     : check_managed(at, size);
}

CUresult cuMemAdvise_v2(CUdeviceptr at, size_t size, int advice, struct cu_location location)
{
	return advice < 1 || advice > 6 || location.type < 1 ? CUDA_ERROR_INVALID_VALUE
							     : check_managed(at, size);
}

static int prefetch(CUdeviceptr at, size_t size, int dev, CUstream h)
{
	struct sim_op op = { .engine = SIM_H2D, .cost = 1500 + size / 40 };
	struct sim_stream *s;
	int rc = check_managed(at, size);

	if (rc)
		return rc;
	ENTER(ctx);
	rc = sim_stream_get(ctx, h, &s);
	if (!rc)
		sim_migrate(ctx, at, dev);
	return sim_leave(rc ? rc : sim_submit(s, &op));
}

BOTH(cuMemPrefetchAsync, _ptsz, (CUdeviceptr at, size_t size, CUdevice dev, CUstream s),
	dev >= sim_config.devices ? CUDA_ERROR_INVALID_DEVICE : prefetch(at, size, dev, OR_NONE(s)))
BOTH(cuMemPrefetchAsync_v2, _ptsz,
	(CUdeviceptr at, size_t size, struct cu_location where, unsigned flags, CUstream s),
	where.type < 1 || flags ? CUDA_ERROR_INVALID_VALUE
				: prefetch(at, size, where.type == 1 ? where.id : -1, OR_NONE(s)))

/* Arrays: plain rows behind a handle. */
static size_t element_size(int format, unsigned channels)
{
	static const unsigned char bytes[] = {
		[1] = 1, [2] = 2, [3] = 4, [8] = 1, [9] = 2, [0xa] = 4, [0x10] = 2, [0x20] = 4
	};
	bool good = format > 0 && format < (int)sizeof(bytes) &&
		(channels == 1 || channels == 2 || channels == 4);

	return good ? bytes[format] * channels : 0;
}

CUresult cuArray3DCreate_v2(CUarray *out, const struct cu_array3d_desc *desc)
{
	size_t element = desc ? element_size(desc->format, desc->channels) : 0, bytes;
	struct sim_range *r;
	struct sim_array *a;
	int rc;
	ENTER(ctx);

	if (!out || !element || !desc->width || desc->width > 1 << 17 || desc->height > 1 << 17 ||
		desc->depth > 1 << 14)
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	bytes = element * desc->width * (desc->height ? desc->height : 1) *
		(desc->depth ? desc->depth : 1);
	if ((rc = sim_alloc(ctx, bytes, SIM_DEVICE, &r)))
		return sim_leave(rc);
	if (!(a = sim_new(SIM_ARRAY, sizeof(*a)))) {
		sim_range_end(r);
		return sim_leave(CUDA_ERROR_OUT_OF_MEMORY);
	}
	a->desc = *desc;
	a->element = element;
	a->at = r->addr;
	*out = a;
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuArrayCreate_v2(CUarray *out, const struct cu_array_desc *d)
{
	return d ? cuArray3DCreate_v2(out,
			   &(struct cu_array3d_desc){
				   d->width, d->height, 0, d->format, d->channels, 0 })
		 : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuArrayDestroy(CUarray a)
{
	struct sim_range *r;
	ENTER(ctx);

	if (!sim_is(a, SIM_ARRAY))
		return sim_leave(CUDA_ERROR_INVALID_HANDLE);
	sim_wait_ctx(ctx);
	if ((r = sim_range_at(a->at)))
		sim_range_end(r);
	sim_drop(a);
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuArray3DGetDescriptor_v2(struct cu_array3d_desc *desc, CUarray a)
{
	ENTER(ctx);

	if (!desc || !sim_is(a, SIM_ARRAY))
		return sim_leave(desc ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE);
	*desc = a->desc;
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuArrayGetDescriptor_v2(struct cu_array_desc *desc, CUarray a)
{
	struct cu_array3d_desc full;
	int rc = desc ? cuArray3DGetDescriptor_v2(&full, a) : CUDA_ERROR_INVALID_VALUE;

	if (!rc)
		*desc = (struct cu_array_desc){ full.width, full.height, full.format,
			full.channels };
	return rc;
}
