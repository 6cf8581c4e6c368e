/* Contexts.
 *
 * A thread's current context is one thread-local pointer, so the getters cost a load and a store,
 * as in the real driver. Pushed contexts are in a list beside it. */
#include "samples/simgpu/sim.h"
#include "samples/simgpu/observe.h"

#include <stdatomic.h>
#include <stdlib.h>

uint64_t sim_contexts;
__thread struct sim_ctx *sim_current;

struct pushed {
	struct pushed *below;
	struct sim_ctx *ctx;
};
static __thread struct pushed *pushed; /* contexts under the current one */
static struct sim_ctx *primary_ctx[SIM_MAX_DEVICES];
static struct {
	unsigned flags;
	_Atomic int active;
} primary[SIM_MAX_DEVICES];

static struct sim_ctx *ctx_new(int dev, unsigned flags, unsigned api)
{
	struct sim_ctx *c = sim_new(SIM_CTX, sizeof(*c));

	if (!c)
		return NULL;
	c->dev = dev;
	c->flags = flags;
	c->api = api;
	c->id = ++sim_contexts;
	c->limit[0] = 1024;    /* stack of a GPU thread */
	c->limit[1] = 1 << 20; /* printf buffer */
	c->limit[2] = 8 << 20; /* device-side malloc heap */
	sim_files_device(dev);
	SIM_OBSERVE(SIM_CONTEXT_CREATED, .ctx = c);
	return c;
}

static void ctx_free(struct sim_ctx *c)
{
	SIM_OBSERVE(SIM_CONTEXT_ENDS, .ctx = c);
	sim_wait_ctx(c);
	while (c->modules)
		sim_module_free(c->modules);
	sim_streams_free(c);
	sim_release_ctx(c);
	sim_drop(c);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice dev)
{
	DEVICE_OR_RETURN(ctx, dev);
	sim_lock();
	if (!primary_ctx[dev]) {
		primary_ctx[dev] = ctx_new(dev, primary[dev].flags, 3020);
		if (!primary_ctx[dev])
			return sim_leave(CUDA_ERROR_OUT_OF_MEMORY);
		primary_ctx[dev]->primary = true;
		primary[dev].active = 1;
	}
	primary_ctx[dev]->refs++;
	*ctx = primary_ctx[dev];
	return sim_leave(CUDA_SUCCESS);
}

static void primary_free(int dev)
{
	ctx_free(primary_ctx[dev]);
	primary_ctx[dev] = NULL;
	primary[dev].active = 0;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
	DEVICE_OR_RETURN(primary, dev);
	sim_lock();
	if (!primary_ctx[dev])
		return sim_leave(CUDA_ERROR_INVALID_CONTEXT);
	if (!--primary_ctx[dev]->refs)
		primary_free(dev);
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev)
{
	DEVICE_OR_RETURN(primary, dev);
	sim_lock();
	if (primary_ctx[dev])
		primary_free(dev);
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned flags)
{
	DEVICE_OR_RETURN(primary, dev);
	primary[dev].flags = flags;
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned *flags, int *active)
{
	DEVICE_OR_RETURN(flags && active ? flags : NULL, dev);
	*flags = primary[dev].flags;
	*active = atomic_load_explicit(&primary[dev].active, memory_order_relaxed);
	return CUDA_SUCCESS;
}

static int push(struct sim_ctx *c)
{
	struct pushed *p = malloc(sizeof(*p));

	if (!p)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*p = (struct pushed){ pushed, sim_current };
	pushed = p;
	sim_current = c;
	return CUDA_SUCCESS;
}

static void pop(void)
{
	struct pushed *p = pushed;

	sim_current = p ? p->ctx : NULL;
	pushed = p ? p->below : NULL;
	free(p);
}

CUresult cuCtxCreate_v2(CUcontext *ctx, unsigned flags, CUdevice dev)
{
	struct sim_ctx *c;
	int rc;

	DEVICE_OR_RETURN(ctx, dev);
	sim_lock();
	c = ctx_new(dev, flags, 3020);
	rc = c ? push(c) : CUDA_ERROR_OUT_OF_MEMORY;
	*ctx = c;
	return sim_leave(rc);
}

CUresult cuCtxCreate_v3(
	CUcontext *ctx, void *affinity, int affinities, unsigned flags, CUdevice dev)
{
	return affinity || affinities ? CUDA_ERROR_NOT_SUPPORTED : cuCtxCreate_v2(ctx, flags, dev);
}

CUresult cuCtxCreate_v4(CUcontext *ctx, const void *params, unsigned flags, CUdevice dev)
{
	return params ? CUDA_ERROR_NOT_SUPPORTED : cuCtxCreate_v2(ctx, flags, dev);
}

CUresult cuCtxDestroy_v2(CUcontext ctx)
{
	if (sim_ready())
		return CUDA_ERROR_NOT_INITIALIZED;
	sim_lock();
	if (!sim_is(ctx, SIM_CTX) || ctx->primary)
		return sim_leave(CUDA_ERROR_INVALID_CONTEXT);
	ctx_free(ctx);
	if (sim_current == ctx)
		pop();
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuCtxGetCurrent(CUcontext *ctx)
{
	struct sim_ctx *c = sim_current;

	if (!ctx)
		return CUDA_ERROR_INVALID_VALUE;
	*ctx = c;
	return __builtin_expect(c != NULL, 1) ? CUDA_SUCCESS : sim_ready();
}

CUresult cuCtxSetCurrent(CUcontext ctx)
{
	int rc = sim_ready();

	if (rc)
		return rc;
	if (!ctx) {
		pop();
		return CUDA_SUCCESS;
	}
	if (!sim_is(ctx, SIM_CTX))
		return CUDA_ERROR_INVALID_CONTEXT;
	sim_current = ctx;
	return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext ctx)
{
	return sim_ready()             ? CUDA_ERROR_NOT_INITIALIZED
		: sim_is(ctx, SIM_CTX) ? push(ctx)
				       : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuCtxPopCurrent_v2(CUcontext *ctx)
{
	if (sim_ready())
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!sim_current)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (ctx)
		*ctx = sim_current;
	pop();
	return CUDA_SUCCESS;
}

/* Checks the current context without the lock: for calls that read constant values. */
static int current_error(const void *out)
{
	return !sim_current ? sim_ready() ? CUDA_ERROR_NOT_INITIALIZED : CUDA_ERROR_INVALID_CONTEXT
		: out       ? CUDA_SUCCESS
			    : CUDA_ERROR_INVALID_VALUE;
}
#define CURRENT_OR_RETURN(out)                                                                     \
	do {                                                                                       \
		int rc_ = current_error(out);                                                      \
		if (rc_)                                                                           \
			return rc_;                                                                \
	} while (0)

CUresult cuCtxGetDevice(CUdevice *dev)
{
	CURRENT_OR_RETURN(dev);
	*dev = sim_current->dev;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice_v2(CUdevice *dev, CUcontext ctx)
{
	const struct sim_ctx *c = ctx ? ctx : sim_current;

	if (!dev)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_is(c, SIM_CTX))
		return sim_ready() ? CUDA_ERROR_NOT_INITIALIZED : CUDA_ERROR_INVALID_CONTEXT;
	*dev = c->dev;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetFlags(unsigned *flags)
{
	CURRENT_OR_RETURN(flags);
	*flags = sim_current->flags;
	return CUDA_SUCCESS;
}

CUresult cuCtxSetFlags(unsigned flags)
{
	CURRENT_OR_RETURN(sim_current);
	sim_current->flags = flags;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext ctx, unsigned long long *id)
{
	const struct sim_ctx *c = ctx ? ctx : sim_current;

	if (!id)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_is(c, SIM_CTX))
		return sim_ready() ? CUDA_ERROR_NOT_INITIALIZED : CUDA_ERROR_INVALID_CONTEXT;
	*id = c->id;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetApiVersion(CUcontext ctx, unsigned *version)
{
	const struct sim_ctx *c = ctx ? ctx : sim_current;

	if (!version)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_is(c, SIM_CTX))
		return sim_ready() ? CUDA_ERROR_NOT_INITIALIZED : CUDA_ERROR_INVALID_CONTEXT;
	*version = c->api;
	return CUDA_SUCCESS;
}

static int wait_context(struct sim_ctx *c)
{
	int rc = sim_no_capture(c, NULL);

	if (rc)
		return rc;
	sim_observe_wait(SIM_WAIT_CONTEXT, c, NULL, NULL);
	rc = sim_wait_ctx(c);
	sim_migrate_all(c, false);
	return rc;
}

CUresult cuCtxSynchronize(void)
{
	struct sim_ctx *c;
	int rc = sim_enter(&c);

	return rc ? rc : sim_leave(wait_context(c));
}

CUresult cuCtxSynchronize_v2(CUcontext ctx)
{
	struct sim_ctx *c;
	int rc;

	if (!ctx)
		return cuCtxSynchronize();
	if ((rc = sim_ready()))
		return rc;
	sim_lock();
	c = ctx;
	if (!sim_is(c, SIM_CTX))
		return sim_leave(CUDA_ERROR_INVALID_CONTEXT);
	return sim_leave(wait_context(c));
}

CUresult cuCtxGetLimit(size_t *value, int limit)
{
	CURRENT_OR_RETURN(value);
	if (limit < 0 || limit >= 10)
		return CUDA_ERROR_INVALID_VALUE;
	*value = sim_current->limit[limit];
	return CUDA_SUCCESS;
}

CUresult cuCtxSetLimit(int limit, size_t value)
{
	CURRENT_OR_RETURN(sim_current);
	if (limit < 0 || limit >= 10)
		return CUDA_ERROR_INVALID_VALUE;
	sim_current->limit[limit] = value;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetCacheConfig(int *config)
{
	CURRENT_OR_RETURN(config);
	*config = 0;
	return CUDA_SUCCESS;
}

CUresult cuCtxSetCacheConfig(int config)
{
	CURRENT_OR_RETURN(sim_current);
	/* only a preference; this hardware has one cache */
	return config < 0 || config > 3 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
	CURRENT_OR_RETURN(sim_current);
	if (least)
		*least = 0;
	if (greatest)
		*greatest = -5;
	return CUDA_SUCCESS;
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
	CURRENT_OR_RETURN(sim_current);
	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	return sim_is(peer, SIM_CTX) ? CUDA_ERROR_PEER_ACCESS_UNSUPPORTED
				     : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuCtxDisablePeerAccess(CUcontext peer)
{
	CURRENT_OR_RETURN(sim_current);
	return sim_is(peer, SIM_CTX) ? CUDA_ERROR_PEER_ACCESS_NOT_ENABLED
				     : CUDA_ERROR_INVALID_CONTEXT;
}

/* Names whose meaning changed in a later driver. */
#define SAME(name, params) CUresult name params __attribute__((SIM_ALIAS(name##_v2)));
SAME(cuCtxDestroy, (CUcontext ctx))
SAME(cuCtxPushCurrent, (CUcontext ctx))
SAME(cuCtxPopCurrent, (CUcontext * ctx))
SAME(cuDevicePrimaryCtxRelease, (CUdevice dev))
SAME(cuDevicePrimaryCtxReset, (CUdevice dev))
SAME(cuDevicePrimaryCtxSetFlags, (CUdevice dev, unsigned flags))
