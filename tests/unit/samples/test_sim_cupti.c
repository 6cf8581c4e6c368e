/* The simulated CUPTI, driven as a tracer drives the real one: both libraries by dlopen, buffers
 * handed out and taken back, a record for each piece of work, joined to its call by number. Every
 * test is a process of its own, because what a library reads from the environment it reads once.
 * Gates instead of clocks, as in test_sim.c: a kernel that spins on a flag. */
#define _GNU_SOURCE
#include "tests/unit/samples/on_cupti.h"

static void kernels_are_recorded_and_joined_to_their_calls(void)
{
	CUmodule m = start();
	CUstream s[2];
	uint32_t id[2];
	uint64_t last[2] = { 0, 0 };

	OK(enable_call(CBID_LAUNCH));
	for (int i = 0; i < 2; i++) {
		OK(cuStreamCreate(&s[i], 1));
		OK(cuptiGetStreamIdEx(NULL, s[i], 0, &id[i]));
	}
	for (unsigned i = 0; i < 20; i++)
		spin(m, s[i % 2], i + 1);
	flush();
	FINE();
	CHECK(id[0] != id[1] && count(KIND_CONCURRENT_KERNEL) == 20 && count(KIND_DRIVER) == 20);
	for (unsigned i = 0; i < 20; i++) {
		const struct cupti_kernel *k = &nth(KIND_CONCURRENT_KERNEL, i)->kernel;
		const struct cupti_api *call = call_of(k->correlation);

		CHECK(call && call->cbid == CBID_LAUNCH && !call->rc && call->start < call->end &&
			call->process == (uint32_t)getpid());
		CHECK(!i ||
			k->correlation > nth(KIND_CONCURRENT_KERNEL, i - 1)->kernel.correlation);
		CHECK(k->grid[0] == (int)i + 1 && k->block[0] == 32 && k->stream == id[i % 2] &&
			!k->device && !k->graph && !k->node);
		CHECK(!strcmp(k->name, BUSY) && call->start <= k->start && k->start < k->end &&
			last[i % 2] <= k->start);
		last[i % 2] = k->end;
	}
}

static void a_buffer_waits_for_its_last_kernel_unless_forced(void)
{
	CUmodule m = start();
	struct gate g;
	CUstream s;

	OK(cuStreamCreate(&s, 1));
	spin(m, s, 1);
	OK(cuStreamSynchronize(s));
	gate_close(&g, m, s);
	CHECK(!cuptiActivityFlushAll(0) && !returned);
	CHECK(!cuptiActivityFlushAll(1) && returned == 1 && count(KIND_CONCURRENT_KERNEL) == 2);
	CHECK(nth(KIND_CONCURRENT_KERNEL, 0)->kernel.start &&
		!nth(KIND_CONCURRENT_KERNEL, 1)->kernel.start);
	gate_open(&g);
	flush(); /* a late record is not written into a returned buffer */
	FINE();
	CHECK_EQ(returned, 1);
	spin(m, s, 1);
	flush();
	CHECK(returned == 2 && count(KIND_CONCURRENT_KERNEL) == 3 &&
		nth(KIND_CONCURRENT_KERNEL, 2)->kernel.end);
}

static void launch_by_runtime(CUmodule m, CUstream s, unsigned grid)
{
	CUDART(CUDA_LAUNCH_KERNEL)
	spin(m, s, grid);
}

/* As measured on an H200: a client that enables the synchronization kind, callbacks for a
 * runtime call, or the driver kind, loses the driver calls within runtime calls. */
static void within_a_runtime_call(void)
{
	uint32_t runtime;
	CUmodule m;
	CUstream s;

	early_call = CBID_LAUNCH;
	m = start();
	cudart_open();
	OK(cuStreamCreate(&s, 1));
	launch_by_runtime(m, s, 1);
	OK(cuptiActivityEnable(KIND_SYNCHRONIZATION));
	launch_by_runtime(m, s, 2);
	spin(m, s, 3);
	OK(cuptiActivityDisable(KIND_SYNCHRONIZATION));
	OK(cuptiActivityEnableRuntimeApi(CUDA_LAUNCH_KERNEL, 1));
	CUDART(CUDA_MEMCPY_ASYNC)
	{
		launch_by_runtime(m, s, 4); /* within another: it counts for nothing */
		spin(m, s, 5);
	}
	launch_by_runtime(m, s, 6);
	spin(m, s, 7);
	OK(cuptiActivityEnableRuntimeApi(CUDA_LAUNCH_KERNEL, 0));
	OK(enable_call(CBID_LAUNCH));
	launch_by_runtime(m, s, 8);
	flush();
	FINE();
	CHECK(count(KIND_CONCURRENT_KERNEL) == 8 && count(KIND_DRIVER) == 3 &&
		count(KIND_RUNTIME) == 1 && count(KIND_SYNCHRONIZATION) == 0);
	for (unsigned i = 0; i < 8; i++)
		CHECK(!call_of(nth(KIND_CONCURRENT_KERNEL, i)->kernel.correlation) ==
			(i == 1 || i == 3 || i == 4 || i == 5 || i == 7));
	CHECK(nth(KIND_CONCURRENT_KERNEL, 3)->kernel.correlation ==
		nth(KIND_CONCURRENT_KERNEL, 4)->kernel.correlation);
	runtime = nth(KIND_CONCURRENT_KERNEL, 5)->kernel.correlation;
	CHECK(nth(KIND_RUNTIME, 0)->api.correlation == runtime &&
		nth(KIND_RUNTIME, 0)->api.cbid == CUDA_LAUNCH_KERNEL);
}

/* Managed memory migrates to the processor that accesses it, and counters report this once they
 * are selected. */
static void managed_memory_has_counters(void)
{
	CUresult (*alloc_managed)(CUdeviceptr *, size_t, unsigned) = NULL;
	struct cupti_um_config c = { 2, 1, 0, 1 };
	CUmodule m = start();
	CUdeviceptr x;
	CUstream s;

	*(void **)&alloc_managed = dlsym(RTLD_DEFAULT, "cuMemAllocManaged");
	CHECK(alloc_managed);
	OK(cuStreamCreate(&s, 1));
	OK(alloc_managed(&x, 4096, 1));
	OK(cuptiActivityEnable(KIND_UNIFIED_MEMORY));
	spin(m, s, 1); /* none is chosen */
	OK(cuStreamSynchronize(s));
	for (c.kind = 1; c.kind <= 3; c.kind++)
		OK(cuptiActivityConfigureUnifiedMemoryCounter(&c, 1));
	c.kind = 9;
	CHECK_EQ(cuptiActivityConfigureUnifiedMemoryCounter(&c, 1), CUPTI_INVALID_PARAMETER);
	spin(m, s, 1);
	spin(m, s, 1); /* it is there */
	OK(cuStreamSynchronize(s));
	OK(cuStreamSynchronize(s));
	flush();
	FINE();
	CHECK_EQ(count(KIND_UNIFIED_MEMORY), 3);
	for (unsigned i = 0; i < 3; i++) {
		static const uint32_t order[] = { 1, 3, 2 };
		const struct cupti_um *r = &nth(KIND_UNIFIED_MEMORY, i)->um;

		CHECK(r->counter == order[i] && r->address == x && r->start &&
			r->process == (uint32_t)getpid());
		CHECK(r->counter == 3 || (r->value == 4096 && r->end > r->start));
	}
	CHECK(nth(KIND_UNIFIED_MEMORY, 0)->um.src == UINT32_MAX &&
		nth(KIND_UNIFIED_MEMORY, 0)->um.dst == 0);
}

static void copies_and_sets_say_what_they_moved(void)
{
	CUdeviceptr x;
	CUstream s;
	void *pinned;
	char plain[4096];
	uint32_t id;

	start();
	OK(enable_call(CBID_HTOD_ASYNC));
	OK(cuStreamCreate(&s, 1));
	OK(cuptiGetStreamIdEx(NULL, s, 0, &id));
	OK(cuMemAlloc_v2(&x, 4096));
	OK(cuMemAllocHost_v2(&pinned, 4096));
	OK(cuMemcpyHtoDAsync_v2(x, pinned, 1000, s));
	OK(cuMemcpyDtoH_v2(plain, x, 2000));
	OK(cuMemsetD8Async(x, 7, 300, s));
	flush();
	FINE();
	CHECK(count(KIND_MEMCPY) == 2 && count(KIND_MEMSET) == 1 && count(KIND_DRIVER) == 1);
	const struct cupti_memcpy *in = &nth(KIND_MEMCPY, 0)->copy,
				  *out = &nth(KIND_MEMCPY, 1)->copy;
	const struct cupti_memset *set = &nth(KIND_MEMSET, 0)->set;
	CHECK(in->copy == 1 && in->src == 2 && in->dst == 3 && in->flags == 1 &&
		in->bytes == 1000 && in->stream == id);
	CHECK(call_of(in->correlation) && call_of(in->correlation)->cbid == CBID_HTOD_ASYNC &&
		in->start < in->end);
	CHECK(out->copy == 2 && out->src == 3 && out->dst == 1 && !out->flags &&
		out->bytes == 2000 && out->stream != id);
	CHECK(set->value == 7 && set->bytes == 300 && set->memory == 3 && set->flags == 1 &&
		set->stream == id && set->start < set->end);
}

static void a_copy_between_devices_is_a_peer_copy(void)
{
	CUcontext a, b;
	CUdeviceptr x, y;
	const struct cupti_peer *p;
	uint32_t ids[2];

	start();
	OK(cuCtxGetCurrent(&a));
	OK(cuDevicePrimaryCtxRetain(&b, 1));
	OK(cuMemAlloc_v2(&x, 100));
	OK(cuCtxSetCurrent(b));
	OK(cuMemAlloc_v2(&y, 100));
	OK(cuMemcpyPeerAsync(y, b, x, a, 100, NULL));
	flush();
	FINE();
	OK(cuptiGetContextId(a, &ids[0]));
	OK(cuptiGetContextId(b, &ids[1]));
	CHECK(count(KIND_MEMCPY2) == 1 && !count(KIND_MEMCPY));
	p = &nth(KIND_MEMCPY2, 0)->peer;
	CHECK(p->copy == 10 && p->bytes == 100 && p->src_device == 0 && p->dst_device == 1 &&
		p->device == 1);
	CHECK(p->src_context == ids[0] && p->dst_context == ids[1] && p->start < p->end);
}

/* The nodes that callbacks report. */
static struct {
	uint64_t node, original;
} cloned[8];
static unsigned created, clones, contexts, synced[2];
static void resources(void *user, unsigned domain, uint32_t cbid, const void *data)
{
	const struct cupti_resource *r = data;
	const struct cupti_graph *g = r->descriptor;

	(void)user;
	if (domain == DOMAIN_SYNCHRONIZE && cbid && cbid <= 2)
		synced[cbid - 1]++;
	if (domain == DOMAIN_RESOURCE && cbid == 1)
		contexts++;
	if (domain == DOMAIN_RESOURCE && cbid == 13)
		created++;
	if (domain == DOMAIN_RESOURCE && cbid == 20 && clones < 8) {
		cuptiGetGraphNodeId(g->node, &cloned[clones].node);
		cuptiGetGraphNodeId(g->original_node, &cloned[clones].original);
		clones++;
	}
}

static void nodes_of_a_graph_share_the_launch_and_have_their_own_ids(void)
{
	const struct cupti_kernel *a, *b;
	CUgraphExec exec;
	CUmodule m;
	CUstream s;
	void *handle;
	uint32_t id, stream;

	load();
	OK(cuptiSubscribe(&handle, resources, NULL));
	OK(cuptiEnableDomain(1, handle, DOMAIN_RESOURCE));
	m = start();
	OK(cuptiActivityEnable(KIND_DRIVER));
	OK(cuStreamCreate(&s, 1));
	OK(cuptiGetStreamIdEx(NULL, s, 0, &stream));
	exec = two_nodes(m, s);
	OK(cuptiGetGraphId(exec, &id));
	OK(cuGraphLaunch(exec, s));
	OK(cuGraphLaunch(exec, s));
	OK(cuGraphExecDestroy(exec)); /* while it runs */
	flush();
	FINE();
	/* two captured, two when instantiated */
	CHECK(contexts == 1 && created == 4 && clones == 2);
	CHECK_EQ(count(KIND_CONCURRENT_KERNEL), 4);
	a = &nth(KIND_CONCURRENT_KERNEL, 0)->kernel;
	b = &nth(KIND_CONCURRENT_KERNEL, 1)->kernel;
	CHECK(a->correlation == b->correlation &&
		call_of(a->correlation)->cbid == CBID_GRAPH_LAUNCH);
	CHECK(a->graph == id && b->graph == id && a->node == cloned[0].node &&
		b->node == cloned[1].node && a->node != b->node);
	CHECK(cloned[0].original && cloned[0].original != cloned[0].node &&
		cloned[0].original != cloned[1].original);
	/* at the same time */
	CHECK(a->start < b->end && b->start < a->end && a->stream == stream && b->stream != stream);
	CHECK(nth(KIND_CONCURRENT_KERNEL, 2)->kernel.correlation > a->correlation &&
		nth(KIND_CONCURRENT_KERNEL, 2)->kernel.node == a->node);
	CHECK(call_of(a->correlation)->start <= a->start &&
		nth(KIND_CONCURRENT_KERNEL, 2)->kernel.start >= b->end);
}

static void waits_are_recorded_with_what_was_waited_for(void)
{
	static const unsigned types[] = { 3, 1, 2, 4 };
	CUmodule m = start();
	CUevent e;
	CUstream s;
	void *handle;
	uint32_t id;

	OK(cuptiSubscribe(&handle, resources, NULL));
	OK(cuptiEnableDomain(1, handle, DOMAIN_SYNCHRONIZE));
	OK(cuptiActivityEnable(KIND_SYNCHRONIZATION));
	OK(cuStreamCreate(&s, 1));
	OK(cuptiGetStreamIdEx(NULL, s, 0, &id));
	OK(cuEventCreate(&e, 0));
	spin(m, s, 1);
	OK(cuEventRecord(e, s));
	OK(cuStreamSynchronize(s));
	OK(cuEventSynchronize(e));
	OK(cuStreamWaitEvent(s, e, 0));
	flush();
	OK(cuEventDestroy_v2(e));
	FINE();
	CHECK(count(KIND_SYNCHRONIZATION) == 4 && synced[0] == 1 && synced[1] == 1);
	for (unsigned i = 0; i < 4; i++) {
		const struct cupti_sync *y = &nth(KIND_SYNCHRONIZATION, i)->sync;

		CHECK(y->type == types[i] && y->start <= y->end && y->correlation &&
			y->context == 1 && !y->rc);
		CHECK(y->stream == (y->type == 3 || y->type == 2 ? id : UINT32_MAX));
		CHECK((y->event == UINT32_MAX) == (y->type == 3 || y->type == 4));
	}
	CHECK(nth(KIND_CONCURRENT_KERNEL, 0)->kernel.end <= nth(KIND_SYNCHRONIZATION, 0)->sync.end);
}

static void full_buffers_come_back_by_themselves(void)
{
	CUmodule m;

	buffer_size = 5 * sizeof(struct cupti_kernel) + 100;
	m = start();
	for (int i = 0; i < 23; i++)
		spin(m, NULL, 1);
	OK(cuCtxSynchronize());
	for (int i = 0; i < 50000 && __atomic_load_n(&returned, __ATOMIC_RELAXED) < 4; i++)
		usleep(1000);
	pthread_mutex_lock(&lock);
	CHECK(returned == 4 && count(KIND_CONCURRENT_KERNEL) == 20 && asked == 5);
	pthread_mutex_unlock(&lock);
	flush();
	FINE();
	CHECK(returned == 5 && count(KIND_CONCURRENT_KERNEL) == 23);
}

static void the_client_says_how_many_records_a_buffer_holds(void)
{
	CUmodule m;

	buffer_records = 3;
	m = start();
	for (int i = 0; i < 7; i++)
		spin(m, NULL, 1);
	flush();
	CHECK(returned == 3 && count(KIND_CONCURRENT_KERNEL) == 7);
}

static void without_a_buffer_records_are_dropped_and_counted(void)
{
	CUmodule m = start();
	size_t n = 99;

	refuse = true;
	spin(m, NULL, 1);
	spin(m, NULL, 1);
	flush();
	OK(cuptiActivityGetNumDroppedRecords(NULL, 0, &n));
	CHECK(n == 2 && !seen_n);
	OK(cuptiActivityGetNumDroppedRecords(NULL, 0, &n));
	CHECK_EQ(n, 0);
	refuse = false;
	buffer_size = 100; /* too small for a kernel: the client has it back */
	spin(m, NULL, 1);
	flush();
	OK(cuptiActivityGetNumDroppedRecords(NULL, 0, &n));
	CHECK(n == 1 && returned == 1 && !seen_n);
}

static unsigned clock_calls;
static uint64_t shifted(void)
{
	__atomic_add_fetch(&clock_calls, 1, __ATOMIC_RELAXED);
	return monotonic() + 7000000000000000ull;
}

static void times_are_the_clients(void)
{
	uint64_t before, after, now;
	CUmodule m;

	clock_wanted = shifted;
	m = start();
	OK(cuptiActivityEnable(KIND_DRIVER));
	before = shifted();
	spin(m, NULL, 1);
	OK(cuCtxSynchronize());
	after = shifted();
	OK(cuptiGetTimestamp(&now));
	OK(cuptiActivityFlushAll(0));
	CHECK(now >= after && clock_calls > 4);
	CHECK(nth(KIND_CONCURRENT_KERNEL, 0)->kernel.start > before &&
		nth(KIND_CONCURRENT_KERNEL, 0)->kernel.end < after);
	for (size_t i = 0; i < count(KIND_DRIVER); i++)
		CHECK(nth(KIND_DRIVER, i)->api.start < nth(KIND_DRIVER, i)->api.end &&
			nth(KIND_DRIVER, i)->api.end < after + 1000000000);
}

static void without_a_clock_times_are_of_the_day(void)
{
	struct timespec before, after;
	uint64_t start_ns;
	CUmodule m;

	clock_wanted = NULL;
	m = start();
	clock_gettime(CLOCK_REALTIME, &before);
	spin(m, NULL, 1);
	OK(cuCtxSynchronize());
	clock_gettime(CLOCK_REALTIME, &after);
	OK(cuptiActivityFlushAll(0));
	start_ns = nth(KIND_CONCURRENT_KERNEL, 0)->kernel.start;
	CHECK(start_ns / 1000000000 >= (uint64_t)before.tv_sec &&
		start_ns / 1000000000 <= (uint64_t)after.tv_sec);
}

/* Callbacks of launches: ENTER and EXIT have the same number, which is also the kernel's. */
static uint32_t at_enter, at_exit;
static struct {
	unsigned enters, exits, others;
	bool params, finalize;
} told;
static void launches(void *user, unsigned domain, uint32_t cbid, const void *data)
{
	const struct cupti_call *c = data;
	const struct {
		CUfunction f;
		unsigned grid[3], block[3], shared;
		CUstream s;
		void **params, **extra;
	} *p = c->params;
	CUcontext ctx;

	if (domain != DOMAIN_DRIVER || cbid != CBID_LAUNCH || user != &told) {
		told.others++;
		return;
	}
	if (!c->site) {
		told.enters++;
		at_enter = c->correlation;
		*c->data = 42;
		told.params = !strcmp(c->function, "cuLaunchKernel") && !strcmp(c->symbol, BUSY) &&
			c->ctx && c->ctx_id == 1 && p->grid[0] == 9 && p->block[0] == 32 &&
			!p->shared && p->params && !p->extra;
		cuCtxGetCurrent(&ctx); /* not reported, not counted */
	} else {
		told.exits++;
		at_exit = c->correlation;
		told.params &= *c->data == 42 && !*(int *)c->rc && p->grid[0] == 9;
		if (told.finalize && cuptiFinalize())
			snprintf(why_not, sizeof(why_not), "cuptiFinalize fails");
	}
}

static void callbacks_have_the_number_of_the_record(void)
{
	CUmodule m = start();
	void *handle, *second;
	uint32_t first;
	CUcontext ctx;

	OK(cuptiSubscribe(&handle, launches, &told));
	CHECK_EQ(cuptiSubscribe(&second, launches, NULL), 39);
	OK(cuptiEnableCallback(1, handle, DOMAIN_DRIVER, CBID_LAUNCH));
	spin(m, NULL, 9);
	OK(cuCtxGetCurrent(&ctx));
	flush();
	CHECK(told.enters == 1 && told.exits == 1 && !told.others && told.params && at_enter &&
		at_enter == at_exit);
	CHECK(nth(KIND_CONCURRENT_KERNEL, 0)->kernel.correlation == at_enter);
	first = at_enter;
	spin(m, NULL, 9);
	/* cuCtxGetCurrent, cuCtxSynchronize, cuModuleGetFunction came between */
	CHECK(at_enter == first + 4);
	OK(cuptiEnableCallback(0, handle, DOMAIN_DRIVER, CBID_LAUNCH));
	spin(m, NULL, 9);
	OK(cuptiUnsubscribe(handle));
	CHECK(told.enters == 2 && !cuptiSubscribe(&second, launches, NULL));
}

static void finalize_in_a_callback_loses_nothing_and_leaves_the_driver_alone(void)
{
	CUmodule m = start();
	void *handle;

	OK(cuptiSubscribe(&handle, launches, &told));
	OK(cuptiEnableCallback(1, handle, DOMAIN_DRIVER, CBID_LAUNCH));
	for (int i = 0; i < 5; i++) {
		spin(m, NULL, 9);
		OK(cuCtxSynchronize());
	}
	told.finalize = true;
	spin(m, NULL, 9);
	CHECK(told.exits == 6 && returned == 1 && count(KIND_CONCURRENT_KERNEL) == 6);
	for (int i = 0; i < 5; i++)
		spin(m, NULL, 9);
	OK(cuCtxSynchronize());
	FINE();
	CHECK(told.exits == 6 && asked == 1 && cuptiActivityFlushAll(1) == CUPTI_INVALID_OPERATION);
	OK(cuptiActivityRegisterCallbacks(request, completed)); /* and again */
	OK(cuptiActivityEnable(KIND_CONCURRENT_KERNEL));
	spin(m, NULL, 9);
	flush();
	CHECK_EQ(count(KIND_CONCURRENT_KERNEL), 7);
}

static void external_ids_precede_the_call(void)
{
	CUmodule m = start();
	uint64_t last = 0;

	OK(enable_call(CBID_LAUNCH));
	OK(cuptiActivityEnable(KIND_EXTERNAL_CORRELATION));
	CHECK_EQ(cuptiActivityPopExternalCorrelationId(3, &last), CUPTI_QUEUE_EMPTY);
	OK(cuptiActivityPushExternalCorrelationId(3, 1234));
	spin(m, NULL, 1);
	OK(cuptiActivityPopExternalCorrelationId(3, &last));
	spin(m, NULL, 1);
	flush();
	CHECK(last == 1234 && count(KIND_EXTERNAL_CORRELATION) == 1 && count(KIND_DRIVER) == 2);
	for (size_t i = 0; i + 1 < seen_n; i++)
		if (seen[i].kind == KIND_EXTERNAL_CORRELATION)
			CHECK(seen[i].external.id == 1234 && seen[i].external.external == 3 &&
				seen[i + 1].kind == KIND_DRIVER &&
				seen[i].external.correlation == seen[i + 1].api.correlation);
}

static void overhead_is_reported_once_a_flush(void)
{
	CUmodule m;

	load();
	OK(cuptiActivityRegisterCallbacks(request, completed));
	OK(cuptiActivityEnable(KIND_OVERHEAD));
	m = start();
	CHECK_EQ(count(KIND_OVERHEAD), 0);
	spin(m, NULL, 1);
	flush();
	CHECK(count(KIND_OVERHEAD) == 1 &&
		nth(KIND_OVERHEAD, 0)->overhead.overhead == OVERHEAD_COMPILER);
	for (int i = 0; i < 5; i++)
		flush();
	CHECK(count(KIND_OVERHEAD) == 2 &&
		nth(KIND_OVERHEAD, 1)->overhead.overhead == OVERHEAD_FLUSH);
	CHECK(nth(KIND_OVERHEAD, 1)->overhead.start <= nth(KIND_OVERHEAD, 1)->overhead.end);
}

/* Many threads launch and copy, one flushes, callbacks call CUDA: there is no deadlock and no
 * loss. */
static CUmodule shared_module;
static CUcontext shared_context;
static bool stop;
static void *launch_many(void *arg)
{
	CUstream s;

	OK(cuCtxSetCurrent(shared_context));
	OK(cuStreamCreate(&s, 1));
	for (int i = 0; i < 300; i++)
		spin(shared_module, s, 9);
	OK(cuStreamSynchronize(s));
	return arg;
}

static void *flush_often(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		OK(cuptiActivityFlushAll(0));
	return arg;
}

static unsigned called;
static void call_cuda(void *user, unsigned domain, uint32_t cbid, const void *data)
{
	CUcontext ctx;

	__atomic_add_fetch(&called, 1, __ATOMIC_RELAXED);
	OK(cuCtxGetCurrent(&ctx));
	OK(cuCtxSynchronize());
}

static void nothing_stops_when_all_happens_at_once(void)
{
	pthread_t t[8], flusher;
	void *handle;
	size_t n;

	buffer_size = 4096;
	shared_module = start();
	OK(cuptiSubscribe(&handle, call_cuda, NULL));
	OK(cuptiEnableCallback(1, handle, DOMAIN_DRIVER, CBID_LAUNCH));
	OK(enable_call(CBID_LAUNCH));
	OK(cuCtxGetCurrent(&shared_context));
	busy_callbacks = true;
	pthread_create(&flusher, NULL, flush_often, NULL);
	for (int i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, launch_many, NULL);
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(flusher, NULL);
	flush();
	FINE();
	OK(cuptiActivityGetNumDroppedRecords(NULL, 0, &n));
	CHECK(!n && count(KIND_CONCURRENT_KERNEL) == 2400 && count(KIND_DRIVER) == 2400 &&
		called == 4800);
	/* a buffer that two threads asked for at once stays until then */
	CHECK(!cuptiFinalize() && returned == asked);
	for (size_t i = 0; i < 2400; i++) {
		const struct cupti_kernel *k = &nth(KIND_CONCURRENT_KERNEL, i)->kernel;

		CHECK(k->correlation < 20000 && call_of(k->correlation) &&
			call_of(k->correlation)->start <= k->start);
	}
}

static void a_forked_child_has_none(void)
{
	CUmodule m = start();
	int status;
	uint32_t v;
	pid_t pid;

	spin(m, NULL, 1);
	if (!(pid = fork()))
		_exit(cuptiGetVersion(&v) != CUPTI_NOT_INITIALIZED ||
			cuptiActivityFlushAll(1) != CUPTI_NOT_INITIALIZED ||
			cuptiActivityEnable(KIND_CONCURRENT_KERNEL) != CUPTI_NOT_INITIALIZED ||
			cuptiFinalize() != CUPTI_NOT_INITIALIZED || cuCtxSynchronize() != 3);
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	flush();
	CHECK_EQ(count(KIND_CONCURRENT_KERNEL), 1);
}

static void attributes_and_words(void)
{
	size_t size = 8, value = 0, small = 4;
	uint8_t zeroed = 1;
	const char *text = "";
	uint32_t v;

	load();
	CHECK(!cuptiActivityGetAttribute(0, &size, &value) && value == 3200000 && size == 8);
	CHECK(cuptiActivityGetAttribute(2, &small, &value) == 10 &&
		cuptiActivityGetAttribute(99, &size, &value) == 1);
	size = 1;
	CHECK(!cuptiActivitySetAttribute(5, &size, &zeroed) &&
		(zeroed = 0, !cuptiActivityGetAttribute(5, &size, &zeroed)) && zeroed == 1);
	CHECK(!cuptiGetVersion(&v) && v == 130001 && cuptiGetVersion(NULL) == 1);
	CHECK(!cuptiGetResultString(39, &text) &&
		!strcmp(text, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"));
	CHECK(cuptiActivityFlushAll(0) == CUPTI_INVALID_OPERATION &&
		cuptiActivityEnable(999) == CUPTI_INVALID_KIND);
	CHECK(cuptiActivityRegisterCallbacks(NULL, completed) == 1 && !cuptiSetThreadIdType(1) &&
		cuptiSetThreadIdType(2) == 1);
	CHECK(!cuptiActivityFlushPeriod(100));
}

static const struct one all[] = {
	ONE(kernels_are_recorded_and_joined_to_their_calls),
	ONE(a_buffer_waits_for_its_last_kernel_unless_forced),
	ONE(within_a_runtime_call),
	ONE(managed_memory_has_counters),
	ONE(copies_and_sets_say_what_they_moved),
	ONE(a_copy_between_devices_is_a_peer_copy, "SIMGPU_DEVICES=2"),
	ONE(nodes_of_a_graph_share_the_launch_and_have_their_own_ids),
	ONE(waits_are_recorded_with_what_was_waited_for),
	ONE(full_buffers_come_back_by_themselves),
	ONE(the_client_says_how_many_records_a_buffer_holds),
	ONE(without_a_buffer_records_are_dropped_and_counted),
	ONE(times_are_the_clients),
	ONE(without_a_clock_times_are_of_the_day),
	ONE(callbacks_have_the_number_of_the_record),
	ONE(finalize_in_a_callback_loses_nothing_and_leaves_the_driver_alone),
	ONE(external_ids_precede_the_call),
	ONE(overhead_is_reported_once_a_flush),
	ONE(nothing_stops_when_all_happens_at_once),
	ONE(a_forked_child_has_none),
	ONE(attributes_and_words),
};

int main(int argc, char **argv)
{
	return run_all(all, sizeof(all) / sizeof(*all), __FILE__, argc, argv);
}
