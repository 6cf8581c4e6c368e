/* Driver calls in CUPTI: the subscriber's callbacks, API records, waits, and correlation ids.
 *
 * Correlation ids count the driver calls that the driver reports while CUPTI is attached. Calls
 * made from callbacks or by CUPTI's worker are not reported. At the end of a call, its records come
 * first, then callbacks for the resources it created, and EXIT last. So a client that finalizes
 * CUPTI in EXIT loses nothing of this call. A destroyed resource is reported after its destruction;
 * the real CUPTI reports it before.
 *
 * Within a runtime call the rules depend, as with the real CUPTI, on whether the runtime domain is
 * needed: by records of any runtime call, or by the synchronization kind. If it is, the runtime
 * call has the correlation id, driver calls within it have no records, and their work and waits
 * carry the runtime call's id. Otherwise driver calls within it are treated like any others. */
#define _GNU_SOURCE
#include "samples/simgpu/cupti_sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MAX_CBIDS = 1024,
	ENTER = 0,
	EXIT = 1,
	EXTERNAL_KINDS = 6,
	EXTERNAL_DEPTH = 64,
	COUNTERS = 9
};
enum { CBIDS_SINCE_13 = 796 }; /* the first one that CUDA 12 does not have */
uint8_t cupti_kinds[KINDS], cupti_driver_apis[SIM_CBIDS_END],
	cupti_runtime_apis[SIM_RUNTIME_CBIDS_END];
static struct {
	cupti_callback to;
	void *user;
	char name[64];
} subscriber;
static uint8_t callbacks[DOMAINS][MAX_CBIDS];
static uint32_t correlations;
static uint8_t counters[COUNTERS]; /* of unified memory: true if enabled */
static __thread struct cupti_call_state state;
/* correlation 0: no runtime call, or runtime calls are not needed */
static __thread struct {
	uint32_t correlation;
	unsigned cbid;
	uint64_t start;
} runtime;
static __thread struct {
	uint64_t ids[EXTERNAL_DEPTH];
	unsigned n;
} externals[EXTERNAL_KINDS];

static void invoke_callback(unsigned domain, uint32_t cbid, const void *data)
{
	cupti_callback to;
	void *user;

	cupti_lock();
	to = cbid < MAX_CBIDS && callbacks[domain][cbid] ? subscriber.to : NULL;
	user = subscriber.user;
	cupti_unlock();
	if (to)
		to(user, domain, cbid, data);
}

/* The arguments as the toolkit's struct for the function: one field after another, each in its own
 * size. If all are 64 bits wide, these are the words themselves. */
static const void *arguments(const char *symbol, const uint64_t *words, char *space)
{
	static const struct {
		const char *prefix, *sizes;
	} narrow[] = {
		{ "cuLaunchKernelEx", "" },
		{ "cuLaunchKernel", "84444444888" },
		{ "cuLaunchCooperativeKernel", "8444444488" },
		{ "cuMemsetD8", "8188" },
		{ "cuMemsetD16", "8288" },
		{ "cuMemsetD32", "8488" },
		{ "cuDeviceGetAttribute", "844" },
		{ "cuDeviceGetName", "844" },
		{ "cuDeviceCanAccessPeer", "844" },
		{ "cuDeviceGetP2PAttribute", "8444" },
		{ "cuDevicePrimaryCtxSetFlags", "44" },
		{ "cuCtxCreate_v2", "844" },
		{ "cuFuncSetAttribute", "844" },
		{ "cuStreamWaitValue32", "8844" },
		{ "cuStreamWriteValue32", "8844" },
		{ "cuStreamCreate", "844" },
		{ "cuStreamWaitEvent", "884" },
		{ "cuEventCreate", "84" },
	};
	size_t at = 0, size, i = 0;

	while (i < sizeof(narrow) / sizeof(*narrow) &&
		strncmp(symbol, narrow[i].prefix, strlen(narrow[i].prefix)))
		i++;
	if (i == sizeof(narrow) / sizeof(*narrow) || !*narrow[i].sizes)
		return words;
	for (const char *p = narrow[i].sizes; *p; p++, words++, at += size) {
		size = *p - '0';
		at = (at + size - 1) / size * size;
		memcpy(space + at, words, size);
	}
	return space;
}

__thread bool cupti_in_exit;

/* site: ENTER or EXIT. */
static void report_call(const struct sim_call *call, unsigned site, int *rc)
{
	const char *symbol = cupti_driver->symbols[call->entry];
	bool launch = !strncmp(symbol, "cuLaunch", 8) && strncmp(symbol, "cuLaunchHost", 12),
	     ex = launch && strstr(symbol, "KernelEx");
	char space[8 * SIM_MAX_CALL_WORDS] __attribute__((aligned(8)));
	struct cupti_call data = { .site = site,
		.function = symbol,
		.params = arguments(symbol, call->words, space),
		.rc = rc,
		.ctx = call->ctx,
		.ctx_id = call->ctx_id,
		.data = &state.data,
		.correlation = state.correlation };

	if (launch)
		data.symbol = cupti_driver->function((const void *)call->words[ex]);
	cupti_in_exit = site;
	invoke_callback(DOMAIN_DRIVER, cupti_cbids[call->entry], &data);
	cupti_in_exit = false;
}

/* Driver calls have records only if some were enabled before the first context, or if the whole
 * kind was enabled at any time; not after the kind was disabled. The kind also enables tracing of
 * the runtime. Measured on an H200, CUPTI 13.0 (tests/gpu/cupti_complete_due.c). */
static bool driver_records_on;

static bool is_recorded(const struct sim_call *call)
{
	return driver_records_on && !runtime.correlation &&
		cupti_driver_apis[cupti_cbids[call->entry]];
}

static bool is_module_load(const struct sim_call *call)
{
	const char *symbol = cupti_driver->symbols[call->entry];

	return cupti_kinds[KIND_OVERHEAD] &&
		(!strncmp(symbol, "cuModuleLoad", 12) || !strncmp(symbol, "cuLibraryLoad", 13));
}

bool cupti_enter(struct sim_call *call)
{
	if (cupti_on_worker)
		return false;
	state.correlation = runtime.correlation
		? runtime.correlation
		: __atomic_add_fetch(&correlations, 1, __ATOMIC_RELAXED);
	state.first = NULL;
	state.last = &state.first;
	state.resources_n = state.um_n = 0;
	state.data = 0;
	state.sync.type = 0;
	state.start = 0;
	call->own = &state;
	if (callbacks[DOMAIN_DRIVER][cupti_cbids[call->entry]])
		report_call(call, ENTER, &call->rc);
	if (is_recorded(call) || is_module_load(call))
		state.start = cupti_now();
	return true;
}

void cupti_waits(struct sim_call *call, enum sim_wait what, uint32_t context, uint32_t stream,
	uint32_t event, uint64_t sync)
{
	struct cupti_call_state *m = call->own;

	m->sync = (struct cupti_sync){ .kind = KIND_SYNCHRONIZATION,
		.type = what,
		.start = cupti_time(cupti_mono()),
		.correlation = m->correlation,
		.context = context,
		.stream = stream,
		.event = event,
		.event_sync = sync };
}

void cupti_resource_hook(struct sim_call *call, const struct sim_resource_event *t)
{
	struct cupti_call_state *m = call->own;
	size_t cap = m->resources_cap ? 2 * m->resources_cap : 16;
	struct sim_resource_event *v = m->resources;

	if (!callbacks[DOMAIN_RESOURCE][t->what])
		return;
	if (m->resources_n == m->resources_cap) {
		if (!(v = realloc(v, cap * sizeof(*v))))
			return;
		m->resources = v;
		m->resources_cap = cap;
	}
	v[m->resources_n++] = *t;
}

void cupti_um_hook(struct sim_call *call, const struct sim_um_event *t)
{
	struct cupti_call_state *m = call->own;
	size_t cap = m->um_cap ? 2 * m->um_cap : 16;
	struct sim_um_event *v = m->um_events;

	if (m->um_n == m->um_cap) {
		if (!(v = realloc(v, cap * sizeof(*v))))
			return;
		m->um_events = v;
		m->um_cap = cap;
	}
	v[m->um_n++] = *t;
}

static void put_um_records(void)
{
	for (size_t i = 0; i < state.um_n; i++) {
		const struct sim_um_event *t = &state.um_events[i];
		struct cupti_um r = { .kind = KIND_UNIFIED_MEMORY,
			.counter = t->kind,
			.value = t->value,
			.start = cupti_time(t->start),
			.end = cupti_time(t->end),
			.address = t->address,
			.src = t->from,
			.dst = t->to,
			.process = getpid(),
			.flags = t->why };

		cupti_truth_um(&r);
		if (cupti_kinds[KIND_UNIFIED_MEMORY] && counters[t->kind])
			cupti_put(&(union cupti_record){ .um = r });
	}
	state.um_n = 0;
}

static void report_resources(void)
{
	struct cupti_resource data;
	struct cupti_graph graph;

	for (size_t i = 0; i < state.resources_n; i++) {
		const struct sim_resource_event *t = &state.resources[i];

		graph = (struct cupti_graph){ .graph = t->graph,
			.original_graph = t->original_graph,
			.node = t->node,
			.original_node = t->original_node,
			.node_type = t->node_type,
			.exec = t->exec };
		data = (struct cupti_resource){
			.ctx = t->ctx, .handle = t->stream, .descriptor = t->graph ? &graph : NULL
		};
		invoke_callback(DOMAIN_RESOURCE, t->what, &data);
	}
	if (state.resources_n > 1024) {
		free(state.resources);
		state.resources = NULL;
		state.resources_cap = 0;
	}
	state.resources_n = 0;
}

static void put_api(
	unsigned kind, uint32_t cbid, uint32_t correlation, uint64_t start, uint64_t end, int rc)
{
	for (unsigned k = 1; k < EXTERNAL_KINDS && cupti_kinds[KIND_EXTERNAL_CORRELATION]; k++)
		if (externals[k].n)
			cupti_put(&(union cupti_record){
				.external = { .kind = KIND_EXTERNAL_CORRELATION,
					.external = k,
					.id = externals[k].ids[externals[k].n - 1],
					.correlation = correlation } });
	cupti_put(&(union cupti_record){ .api = { .kind = kind,
						 .cbid = cbid,
						 .start = start,
						 .end = end,
						 .process = getpid(),
						 .thread = cupti_thread(),
						 .correlation = correlation,
						 .rc = rc } });
}

static bool runtime_is_on(void)
{
	return cupti_kinds[KIND_SYNCHRONIZATION] || cupti_kinds[KIND_DRIVER] ||
		memchr(cupti_runtime_apis, 1, sizeof(cupti_runtime_apis));
}

void cupti_runtime(bool begins, unsigned cbid, int rc)
{
	if (begins && runtime_is_on() && !cupti_on_worker) {
		runtime.correlation = __atomic_add_fetch(&correlations, 1, __ATOMIC_RELAXED);
		runtime.cbid = cbid < SIM_RUNTIME_CBIDS_END ? cbid : 0;
		runtime.start = cupti_now();
	} else if (!begins && runtime.correlation) {
		if (cupti_runtime_apis[runtime.cbid])
			put_api(KIND_RUNTIME, runtime.cbid, runtime.correlation, runtime.start,
				cupti_now(), rc);
		runtime.correlation = 0;
	}
}

static void put_sync(const struct sim_call *call)
{
	uint32_t id, device = 0;

	state.sync.end = cupti_time(cupti_mono());
	state.sync.rc = call->rc;
	cupti_driver->context(call->ctx, &id, &device);
	cupti_truth_sync(&state.sync, device);
	if (cupti_kinds[KIND_SYNCHRONIZATION])
		cupti_put(&(union cupti_record){ .sync = state.sync });
}

void cupti_exit(struct sim_call *call)
{
	uint64_t end = state.start ? cupti_now() : 0;

	if (state.first) {
		cupti_calibrate();
		cupti_place_records(state.first);
	}
	if (state.sync.type)
		put_sync(call);
	put_um_records();
	if (state.start && is_recorded(call))
		put_api(KIND_DRIVER, cupti_cbids[call->entry], state.correlation, state.start, end,
			call->rc);
	if (state.start && is_module_load(call))
		cupti_put(&(union cupti_record){ .overhead = { .kind = KIND_OVERHEAD,
							 .overhead = OVERHEAD_COMPILER,
							 .object = 2,
							 .object_id = { getpid(), cupti_thread() },
							 .start = state.start,
							 .end = end,
							 .correlation = state.correlation } });
	report_resources();
	if (state.sync.type == SIM_WAIT_STREAM || state.sync.type == SIM_WAIT_CONTEXT)
		invoke_callback(DOMAIN_SYNCHRONIZE, state.sync.type == SIM_WAIT_STREAM ? 1 : 2,
			&(struct cupti_synced){ call->ctx,
				state.sync.type == SIM_WAIT_STREAM ? (void *)call->words[0]
								   : NULL });
	if (callbacks[DOMAIN_DRIVER][cupti_cbids[call->entry]])
		report_call(call, EXIT, &call->rc);
}

#define API(name, params)                                                                          \
	int name params;                                                                           \
	int name params

static int enable_kind(unsigned kind, bool on)
{
	int rc;

	if (!cupti_size(kind))
		return cupti_set_error(CUPTI_INVALID_KIND);
	if ((rc = on ? cupti_attach() : CUPTI_OK))
		return rc;
	cupti_require(!on || cupti_has_clock(), "a kind is enabled before a clock is registered");
	cupti_kinds[kind] = on;
	if (kind == KIND_DRIVER) {
		memset(cupti_driver_apis, on, sizeof(cupti_driver_apis));
		driver_records_on = on;
	}
	if (kind == KIND_RUNTIME)
		memset(cupti_runtime_apis, on, sizeof(cupti_runtime_apis));
	return CUPTI_OK;
}

/* Not a function of the real CUPTI: for programs that wait until a tool has enabled a kind. */
API(cuptiSimulatedKind, (unsigned kind))
{
	return kind < KINDS && __atomic_load_n(&cupti_kinds[kind], __ATOMIC_ACQUIRE);
}

API(cuptiActivityEnable, (unsigned kind))
{
	CUPTI_BEGIN();
	CUPTI_EXCLUSIVE();
	return enable_kind(kind, true);
}

API(cuptiActivityEnableAndDump, (unsigned kind))
{
	CUPTI_BEGIN();
	CUPTI_EXCLUSIVE();
	return enable_kind(kind, true);
}

API(cuptiActivityDisable, (unsigned kind))
{
	CUPTI_BEGIN();
	CUPTI_EXCLUSIVE();
	return enable_kind(kind, false);
}

API(cuptiActivityEnableContext, (void *ctx, unsigned kind))
{
	CUPTI_BEGIN();
	CUPTI_EXCLUSIVE();
	/* enables it for all contexts */
	return ctx ? enable_kind(kind, true) : cupti_set_error(CUPTI_INVALID_CONTEXT);
}

API(cuptiActivityDisableContext, (void *ctx, unsigned kind))
{
	CUPTI_BEGIN();
	CUPTI_EXCLUSIVE();
	return ctx ? enable_kind(kind, false) : cupti_set_error(CUPTI_INVALID_CONTEXT);
}

API(cuptiActivityEnableDriverApi, (uint32_t cbid, uint8_t on))
{
	int rc;

	CUPTI_BEGIN();
	CUPTI_EXCLUSIVE();
	if (cupti_knobs.version < 24)
		return cupti_set_error(CUPTI_NOT_SUPPORTED);
	if (!cbid || cbid >= SIM_CBIDS_END ||
		(cupti_knobs.version < 130000 && cbid >= CBIDS_SINCE_13))
		return cupti_set_error(CUPTI_INVALID_PARAMETER);
	if ((rc = cupti_attach()))
		return rc;
	cupti_driver_apis[cbid] = on != 0;
	if (on && !*cupti_driver->contexts)
		driver_records_on = true;
	return CUPTI_OK;
}

API(cuptiActivityEnableRuntimeApi, (uint32_t cbid, uint8_t on))
{
	int rc;

	CUPTI_BEGIN();
	CUPTI_EXCLUSIVE();
	if (cupti_knobs.version < 24)
		return cupti_set_error(CUPTI_NOT_SUPPORTED);
	if (!cbid || cbid >= SIM_RUNTIME_CBIDS_END)
		return cupti_set_error(CUPTI_INVALID_PARAMETER);
	if ((rc = cupti_attach()))
		return rc;
	cupti_runtime_apis[cbid] = on != 0;
	return CUPTI_OK;
}

API(cuptiActivityConfigureUnifiedMemoryCounter, (void *config, uint32_t n))
{
	const struct cupti_um_config *c = config;

	CUPTI_BEGIN();
	for (uint32_t i = 0; i < n; i++)
		if (!c || !c[i].kind || c[i].kind >= COUNTERS ||
			(cupti_knobs.version < 24 && c[i].kind == COUNTERS - 1))
			return cupti_set_error(CUPTI_INVALID_PARAMETER);
	for (uint32_t i = 0; i < n; i++)
		counters[c[i].kind] = c[i].enable != 0;
	return CUPTI_OK;
}

API(cuptiActivityPushExternalCorrelationId, (unsigned kind, uint64_t id))
{
	CUPTI_BEGIN();
	if (!kind || kind >= EXTERNAL_KINDS)
		return cupti_set_error(CUPTI_INVALID_PARAMETER);
	if (externals[kind].n == EXTERNAL_DEPTH)
		return cupti_set_error(CUPTI_OUT_OF_MEMORY);
	externals[kind].ids[externals[kind].n++] = id;
	return CUPTI_OK;
}

API(cuptiActivityPopExternalCorrelationId, (unsigned kind, uint64_t *last))
{
	CUPTI_BEGIN();
	if (!kind || kind >= EXTERNAL_KINDS)
		return cupti_set_error(CUPTI_INVALID_PARAMETER);
	if (!externals[kind].n)
		return cupti_set_error(CUPTI_QUEUE_EMPTY);
	externals[kind].n--;
	if (last)
		*last = externals[kind].ids[externals[kind].n];
	return CUPTI_OK;
}

/* The subscriber: there is at most one. */
static bool is_subscriber(const void *handle) { return handle == &subscriber && subscriber.to; }

static int subscribe(void **handle, cupti_callback to, void *user)
{
	int rc;

	if (!handle || !to)
		return cupti_set_error(CUPTI_INVALID_PARAMETER);
	if (cupti_knobs.taken)
		return cupti_set_error(CUPTI_MULTIPLE_SUBSCRIBERS);
	if ((rc = cupti_attach()))
		return rc;
	cupti_lock();
	if (subscriber.to) {
		rc = CUPTI_MULTIPLE_SUBSCRIBERS;
	} else {
		memset(callbacks, 0, sizeof(callbacks));
		subscriber.to = to;
		subscriber.user = user;
		*handle = &subscriber;
	}
	cupti_unlock();
	return cupti_set_error(rc);
}

API(cuptiSubscribe, (void **handle, cupti_callback to, void *user))
{
	CUPTI_BEGIN();
	return subscribe(handle, to, user);
}

/* CUpti_SubscriberParams */
struct params {
	size_t size;
	const char *name;
	char *other;
	size_t other_size;
};
API(cuptiSubscribe_v2, (void **handle, cupti_callback to, void *user, struct params *params))
{
	int rc;

	CUPTI_BEGIN();
	rc = subscribe(handle, to, user);
	if (rc == CUPTI_MULTIPLE_SUBSCRIBERS && params && params->size >= sizeof(*params) &&
		params->other)
		snprintf(params->other, params->other_size, "%s",
			subscriber.to ? subscriber.name : "another");
	if (!rc)
		snprintf(subscriber.name, sizeof(subscriber.name), "%s",
			params && params->name ? params->name : "");
	return rc;
}

void cupti_clear_subscriber(void)
{
	cupti_lock();
	memset(callbacks, 0, sizeof(callbacks));
	subscriber.to = NULL;
	cupti_unlock();
}

API(cuptiUnsubscribe, (void *handle))
{
	CUPTI_BEGIN();
	if (!is_subscriber(handle))
		return cupti_set_error(CUPTI_INVALID_PARAMETER);
	cupti_clear_subscriber();
	return CUPTI_OK;
}

API(cuptiEnableCallback, (uint32_t on, void *handle, unsigned domain, uint32_t cbid))
{
	CUPTI_BEGIN();
	if (!is_subscriber(handle) || !domain || domain >= DOMAINS || !cbid || cbid >= MAX_CBIDS)
		return cupti_set_error(CUPTI_INVALID_PARAMETER);
	cupti_lock();
	callbacks[domain][cbid] = on != 0;
	cupti_unlock();
	return CUPTI_OK;
}

API(cuptiGetCallbackState, (uint32_t * on, void *handle, unsigned domain, uint32_t cbid))
{
	CUPTI_BEGIN();
	if (!on || !is_subscriber(handle) || !domain || domain >= DOMAINS || cbid >= MAX_CBIDS)
		return cupti_set_error(CUPTI_INVALID_PARAMETER);
	*on = callbacks[domain][cbid];
	return CUPTI_OK;
}

API(cuptiEnableDomain, (uint32_t on, void *handle, unsigned domain))
{
	CUPTI_BEGIN();
	if (!is_subscriber(handle) || !domain || domain >= DOMAINS)
		return cupti_set_error(CUPTI_INVALID_PARAMETER);
	cupti_lock();
	memset(callbacks[domain], on != 0, sizeof(callbacks[domain]));
	cupti_unlock();
	return CUPTI_OK;
}

API(cuptiEnableAllDomains, (uint32_t on, void *handle))
{
	CUPTI_BEGIN();
	if (!is_subscriber(handle))
		return cupti_set_error(CUPTI_INVALID_PARAMETER);
	cupti_lock();
	memset(callbacks, on != 0, sizeof(callbacks));
	cupti_unlock();
	return CUPTI_OK;
}

API(cuptiGetCallbackName, (unsigned domain, uint32_t cbid, const char **name))
{
	CUPTI_BEGIN();
	if (!name || domain != DOMAIN_DRIVER)
		return cupti_set_error(CUPTI_INVALID_PARAMETER);
	if (cupti_attach())
		return CUPTI_NOT_INITIALIZED;
	for (size_t i = 0; i < cupti_driver->symbols_n; i++)
		if (cbid && cupti_cbids[i] == cbid) {
			*name = cupti_driver->symbols[i];
			return CUPTI_OK;
		}
	return cupti_set_error(CUPTI_INVALID_PARAMETER);
}
