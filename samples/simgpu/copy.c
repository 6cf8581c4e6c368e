/* Copies and sets. Each form becomes one operation on rows of bytes; they differ in the engine, the
 * cost, and whether the caller waits. As with the real driver: calls without Async wait unless both
 * ends are on the device. An Async call returns at once only if the host side is pinned, or if its
 * source is small and has been staged; otherwise it waits too. */
#include "samples/simgpu/sim.h"

#include <stdlib.h>
#include <string.h>

/* bytes of pageable source that the call stages, so that it need not wait */
#define MAX_STAGED 65536

struct endpoint {
	char *at;
	bool device, pinned;
	uint8_t memory;
};
enum side { HOST = 1, DEVICE = 2, ARRAY = 3, EITHER = 4 }; /* CUmemorytype */

/* Resolves addr. An address outside all devices belongs to the program. It is read here, so that a
 * bad one crashes its caller. */
static int resolve_endpoint(uint64_t addr, size_t size, unsigned side, struct endpoint *p)
{
	const struct sim_range *r = sim_range_at(addr);

	if (side == EITHER)
		side = r ? DEVICE : HOST;
	if (side == HOST) {
		*p = (struct endpoint){ (char *)addr, false, sim_pinned(addr, size), 0 };
		p->memory = p->pinned ? SIM_AT_PINNED : SIM_AT_PAGEABLE;
		if (!p->pinned && size)
			(void)(((volatile char *)addr)[0] + ((volatile char *)addr)[size - 1]);
		return CUDA_SUCCESS;
	}
	*p = (struct endpoint){ sim_host(addr, size),
		r && (r->mem < SIM_HOST || r->mem == SIM_MANAGED), r && r->mem >= SIM_HOST,
		!r                              ? 0
			: r->mem == SIM_MANAGED ? SIM_AT_MANAGED
			: r->mem < SIM_HOST     ? SIM_AT_DEVICE
						: SIM_AT_PINNED };
	return p->at ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static bool copy_run(struct sim_op *op)
{
	for (size_t z = 0; z < op->copy.depth; z++)
		for (size_t y = 0; y < op->copy.height; y++)
			memmove(op->copy.dst.at + z * op->copy.dst.slice + y * op->copy.dst.pitch,
				op->copy.src.at + z * op->copy.src.slice + y * op->copy.src.pitch,
				op->copy.width);
	return true;
}

/* Engine, cost and function of a copy. The costs are those of PCIe 5 for pinned memory, a bounce
 * buffer for pageable, HBM on the device. */
static void set_cost(struct sim_op *op, const struct endpoint *dst, const struct endpoint *src)
{
	uint64_t bytes = op->copy.width * op->copy.height * op->copy.depth;
	bool pageable = (!dst->device && !dst->pinned) || (!src->device && !src->pinned);

	op->engine = dst->device && src->device ? SIM_D2D : dst->device ? SIM_H2D : SIM_D2H;
	op->cost = op->engine == SIM_D2D ? 1200 + bytes / 2000
		: pageable               ? 4500 + bytes / 8
					 : 1500 + bytes / 50;
	op->run = copy_run;
	op->node_type = 1;
	op->copy.src_memory = src->memory;
	op->copy.dst_memory = dst->memory;
}

/* One end of a copy in three dimensions: the address of its first byte, and its pitches. */
static int rect_of(unsigned type, const void *host, CUdeviceptr dev, const struct sim_array *array,
	size_t x, size_t y, size_t z, size_t pitch, size_t rows, const struct cu_3d *c,
	struct sim_rect *rect, struct endpoint *p)
{
	uint64_t addr = type == HOST ? (uint64_t)host : dev, span;
	int rc;

	if (type == ARRAY) {
		if (!sim_is(array, SIM_ARRAY))
			return CUDA_ERROR_INVALID_HANDLE;
		addr = array->at;
		pitch = array->element * array->desc.width;
		rows = array->desc.height ? array->desc.height : 1;
	}
	if (type < HOST || type > EITHER || (c->height > 1 && pitch && pitch < c->width))
		return CUDA_ERROR_INVALID_VALUE;
	pitch = pitch ? pitch : c->width + x;
	rect->pitch = pitch;
	rect->slice = pitch * (rows ? rows : c->height);
	addr += x + y * pitch + z * rect->slice;
	span = (c->depth - 1) * rect->slice + (c->height - 1) * pitch + c->width;
	rc = resolve_endpoint(addr, span, type == ARRAY ? DEVICE : type, p);
	if (type == ARRAY)
		p->memory = SIM_AT_ARRAY;
	rect->at = p->at;
	return rc;
}

int sim_copy_op(const struct cu_3d *c, struct sim_op *op, bool *pageable)
{
	struct endpoint dst, src;
	int rc;

	rc = rect_of(c->src_type, c->src_host, c->src_dev, c->src_array, c->src_x, c->src_y,
		c->src_z, c->src_pitch, c->src_height, c, &op->copy.src, &src);
	if (rc ||
		(rc = rect_of(c->dst_type, c->dst_host, c->dst_dev, c->dst_array, c->dst_x,
			 c->dst_y, c->dst_z, c->dst_pitch, c->dst_height, c, &op->copy.dst, &dst)))
		return rc;
	op->copy.width = c->width;
	op->copy.height = c->height;
	op->copy.depth = c->depth;
	set_cost(op, &dst, &src);
	*pageable = (!dst.device && !dst.pinned) || (!src.device && !src.pinned);
	return CUDA_SUCCESS;
}

static int copy_3d(const struct cu_3d *c, CUstream h, bool async)
{
	struct sim_op op = { .async = async };
	struct sim_stream *s;
	struct sim_ctx *ctx;
	bool pageable;
	int rc = sim_enter(&ctx);

	if (rc)
		return rc;
	if ((rc = sim_stream_get(ctx, h, &s)))
		return sim_leave(rc);
	if (!c || !c->width || !c->height || !c->depth)
		return sim_leave(c ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
	if ((rc = sim_copy_op(c, &op, &pageable)) || (rc = sim_submit(s, &op)) || s->capture)
		return sim_leave(rc);
	return sim_leave((async && !pageable) || op.engine == SIM_D2D ? CUDA_SUCCESS : sim_wait(s));
}

static int copy_2d(const struct cu_2d *c, CUstream h, bool async)
{
	if (!c)
		return CUDA_ERROR_INVALID_VALUE;
	return copy_3d(&(struct cu_3d){ .src_x = c->src_x,
			       .src_y = c->src_y,
			       .src_type = c->src_type,
			       .src_host = c->src_host,
			       .src_dev = c->src_dev,
			       .src_array = c->src_array,
			       .src_pitch = c->src_pitch,
			       .dst_x = c->dst_x,
			       .dst_y = c->dst_y,
			       .dst_type = c->dst_type,
			       .dst_host = c->dst_host,
			       .dst_dev = c->dst_dev,
			       .dst_array = c->dst_array,
			       .dst_pitch = c->dst_pitch,
			       .width = c->width,
			       .height = c->height,
			       .depth = 1 },
		h, async);
}

/* Stages a small pageable source: true if the caller need not wait. */
static bool stage_source(struct sim_op *op, size_t size)
{
	op->staged = size <= MAX_STAGED ? malloc(size) : NULL;
	if (op->staged)
		op->copy.src.at = memcpy(op->staged, op->copy.src.at, size);
	return op->staged;
}

static int copy_between(uint64_t to, enum side to_side, CUcontext to_ctx, uint64_t from,
	enum side from_side, CUcontext from_ctx, size_t size, CUstream h, bool async)
{
	struct sim_op op = { .async = async,
		.copy = {
			.width = size, .height = 1, .depth = 1, .from = from_ctx, .to = to_ctx } };
	struct endpoint dst, src;
	struct sim_stream *s;
	struct sim_ctx *ctx;
	bool wait;
	int rc = sim_enter(&ctx);

	if (rc)
		return rc;
	if ((rc = sim_stream_get(ctx, h, &s)) || !size)
		return sim_leave(rc);
	if ((rc = resolve_endpoint(to, size, to_side, &dst)) ||
		(rc = resolve_endpoint(from, size, from_side, &src)))
		return sim_leave(rc);
	op.copy.dst.at = dst.at;
	op.copy.src.at = src.at;
	set_cost(&op, &dst, &src);
	wait = !async ? op.engine != SIM_D2D : !dst.device && !dst.pinned;
	if (async && !src.device && !src.pinned && !s->capture)
		wait |= !stage_source(&op, size);
	if (!async && s->capture)
		return sim_leave(sim_no_capture(ctx, s));
	rc = sim_submit(s, &op);
	return sim_leave(rc || !wait || s->capture ? rc : sim_wait(s));
}

static int copy_1d(uint64_t to, enum side to_side, uint64_t from, enum side from_side, size_t size,
	CUstream h, bool async)
{
	return copy_between(to, to_side, NULL, from, from_side, NULL, size, h, async);
}

static int copy_peer(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t n,
	CUstream h, bool async)
{
	if (!sim_is(to, SIM_CTX) || !sim_is(from, SIM_CTX))
		return CUDA_ERROR_INVALID_CONTEXT;
	return copy_between(dst, DEVICE, to, src, DEVICE, from, n, h, async);
}

#define COPY(name, suffix, to, to_t, to_side, from, from_t, from_side)                             \
	BOTH(name, suffix, (to_t to, from_t from, size_t n),                                       \
		copy_1d((uint64_t)to, to_side, (uint64_t)from, from_side, n, none, false))
#define COPY_ASYNC(name, to, to_t, to_side, from, from_t, from_side)                               \
	BOTH(name, _ptsz, (to_t to, from_t from, size_t n, CUstream s),                            \
		copy_1d((uint64_t)to, to_side, (uint64_t)from, from_side, n, OR_NONE(s), true))
COPY(cuMemcpy, _ptds, dst, CUdeviceptr, EITHER, src, CUdeviceptr, EITHER)
COPY(cuMemcpyHtoD_v2, _ptds, dst, CUdeviceptr, DEVICE, src, const void *, HOST)
COPY(cuMemcpyDtoH_v2, _ptds, dst, void *, HOST, src, CUdeviceptr, DEVICE)
COPY(cuMemcpyDtoD_v2, _ptds, dst, CUdeviceptr, DEVICE, src, CUdeviceptr, DEVICE)
COPY_ASYNC(cuMemcpyAsync, dst, CUdeviceptr, EITHER, src, CUdeviceptr, EITHER)
COPY_ASYNC(cuMemcpyHtoDAsync_v2, dst, CUdeviceptr, DEVICE, src, const void *, HOST)
COPY_ASYNC(cuMemcpyDtoHAsync_v2, dst, void *, HOST, src, CUdeviceptr, DEVICE)
COPY_ASYNC(cuMemcpyDtoDAsync_v2, dst, CUdeviceptr, DEVICE, src, CUdeviceptr, DEVICE)
BOTH(cuMemcpyPeer, _ptds,
	(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t n),
	copy_peer(dst, to, src, from, n, none, false))
BOTH(cuMemcpyPeerAsync, _ptsz,
	(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t n, CUstream s),
	copy_peer(dst, to, src, from, n, OR_NONE(s), true))
BOTH(cuMemcpy2D_v2, _ptds, (const struct cu_2d *c), copy_2d(c, none, false))
BOTH(cuMemcpy2DUnaligned_v2, _ptds, (const struct cu_2d *c), copy_2d(c, none, false))
BOTH(cuMemcpy2DAsync_v2, _ptsz, (const struct cu_2d *c, CUstream s), copy_2d(c, OR_NONE(s), true))
BOTH(cuMemcpy3D_v2, _ptds, (const struct cu_3d *c), copy_3d(c, none, false))
BOTH(cuMemcpy3DAsync_v2, _ptsz, (const struct cu_3d *c, CUstream s), copy_3d(c, OR_NONE(s), true))

/* Sets. */
static bool set_run(struct sim_op *op)
{
	for (size_t y = 0; y < op->set.height; y++) {
		char *row = op->set.at + y * op->set.pitch;

		if (op->set.element == 1)
			memset(row, op->set.value, op->set.width);
		else
			for (size_t x = 0; x < op->set.width; x++)
				memcpy(row + x * op->set.element, &op->set.value, op->set.element);
	}
	return true;
}

static uint8_t memory_at(CUdeviceptr at)
{
	struct endpoint p;

	return resolve_endpoint(at, 1, DEVICE, &p) ? 0 : p.memory;
}

int sim_set_op(CUdeviceptr at, size_t pitch, unsigned value, unsigned element, size_t w, size_t h,
	struct sim_op *op)
{
	size_t row = w * element;

	if ((element != 1 && element != 2 && element != 4) || at % element ||
		(h > 1 && pitch < row))
		return CUDA_ERROR_INVALID_VALUE;
	op->set.at = sim_host(at, (h - 1) * pitch + row);
	op->set.pitch = pitch;
	op->set.width = w;
	op->set.height = h;
	op->set.value = value;
	op->set.element = element;
	op->set.memory = memory_at(at);
	op->cost = 1200 + row * h / 2000;
	op->engine = SIM_D2D;
	op->run = set_run;
	op->node_type = 2;
	return op->set.at ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static int set(CUdeviceptr at, size_t pitch, unsigned value, unsigned element, size_t w, size_t h,
	CUstream handle, bool async)
{
	struct sim_op op = { .async = async };
	struct sim_stream *s;
	struct sim_ctx *ctx;
	int rc = sim_enter(&ctx);

	if (rc)
		return rc;
	if ((rc = sim_stream_get(ctx, handle, &s)) || !w || !h)
		return sim_leave(rc);
	if ((rc = sim_set_op(at, pitch, value, element, w, h, &op)))
		return sim_leave(rc);
	if (!async && s->capture)
		return sim_leave(sim_no_capture(ctx, s));
	rc = sim_submit(s, &op);
	/* the host need not wait for device memory */
	return sim_leave(rc || async || !sim_pinned(at, 1) ? rc : sim_wait(s));
}

#define SET(bits, type)                                                                            \
	BOTH(cuMemsetD##bits##_v2, _ptds, (CUdeviceptr at, type v, size_t n),                      \
		set(at, 0, v, bits / 8, n, 1, none, false))                                        \
	BOTH(cuMemsetD##bits##Async, _ptsz, (CUdeviceptr at, type v, size_t n, CUstream s),        \
		set(at, 0, v, bits / 8, n, 1, OR_NONE(s), true))                                   \
	BOTH(cuMemsetD2D##bits##_v2, _ptds,                                                        \
		(CUdeviceptr at, size_t pitch, type v, size_t w, size_t h),                        \
		set(at, pitch, v, bits / 8, w, h, none, false))                                    \
	BOTH(cuMemsetD2D##bits##Async, _ptsz,                                                      \
		(CUdeviceptr at, size_t pitch, type v, size_t w, size_t h, CUstream s),            \
		set(at, pitch, v, bits / 8, w, h, OR_NONE(s), true))
SET(8, unsigned char)
SET(16, unsigned short)
SET(32, unsigned)
