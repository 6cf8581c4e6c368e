/* The simulated clock, streams and events.
 *
 * A stream is a queue of operations. An operation can start when everything it depends on is done:
 * the previous operation of its stream, the event it waits for, and the work of other streams where
 * the legacy default stream requires it. Its times are computed, not measured. It starts when the
 * last of those ended, when it was queued, or when its copy engine became free, whichever is
 * latest; it ends after its cost. One worker thread sleeps until the next computed end, applies the
 * operation's effect, and continues. So the host sees effects (memory, events, the return of a
 * wait) later by a thread's wake-up time, while event times are exact. Operations of unknown length
 * (a host function, a kernel that spins) are polled until they end. Simulated time is
 * CLOCK_MONOTONIC since cuInit, times the speed factor. */
#define _GNU_SOURCE
#include "samples/simgpu/sim.h"
#include "samples/simgpu/observe.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define POLL_NS 300000 /* real ns between two checks of an operation of unknown length */

/* wake the worker; the threads that wait for it; the callback thread */
static pthread_cond_t work, progress, host_work;
static struct sim_stream *streams;
/* finished ones for reuse, linked by `next`, so that the time of a launch does not depend on the
 * heap */
static struct sim_op *spare;
static struct sim_op *host_queue; /* host functions that are due, linked by `after` */
static struct sim_event *all_events;
static uint32_t event_ids;
static uint64_t origin, seq, stream_ids, engine_free[SIM_MAX_DEVICES][SIM_ENGINES];
static uint64_t worker_until; /* simulated time until which the worker sleeps; 0 while it runs */
/* this thread's default stream */
static __thread struct {
	uint64_t ctx;
	struct sim_stream *stream;
} thread_default;

static uint64_t real_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

uint64_t sim_now(void) { return (real_now() - origin) * sim_config.speed; }

uint64_t sim_real(uint64_t simulated) { return origin + (uint64_t)(simulated / sim_config.speed); }

uint64_t sim_stream_number(struct sim_ctx *ctx) { return ++ctx->streams; }

struct sim_stream *sim_streams(void) { return streams; }

static void event_put(struct sim_event *e)
{
	if (!e || --e->refs)
		return;
	*e->link = e->next;
	if (e->next)
		e->next->link = e->link;
	e->obj.kind = SIM_EVENT;
	sim_drop(e);
}

static void stream_free(struct sim_stream *s)
{
	struct sim_stream **p = &streams;

	while (*p != s)
		p = &(*p)->next;
	*p = s->next;
	s->obj.kind = SIM_STREAM;
	sim_drop(s);
}

/* True if op, the head of its stream, can start. *after is then the latest end of its
 * dependencies. */
static bool can_start(const struct sim_op *op, uint64_t *after)
{
	const struct sim_stream *s = op->stream, *legacy = s->ctx->legacy, *t;

	*after = op->queued > s->last_end ? op->queued : s->last_end;
	if (op->event && op->gen && op->node_type < 0) {
		if (op->event->done < op->gen)
			return false;
		if (op->event->time > *after)
			*after = op->event->time;
	}
	if (s->flags & 1)
		return true;
	for (t = s == legacy ? streams : legacy; t; t = s == legacy ? t->next : NULL) {
		if (t == s || t->ctx != s->ctx || t->flags & 1)
			continue;
		if (t->head && t->head->seq < op->seq)
			return false;
		if (t->last_end > *after)
			*after = t->last_end;
	}
	return true;
}

static void start_op(struct sim_op *op, uint64_t after)
{
	uint64_t *engine = &engine_free[op->stream->ctx->dev][op->engine];
	bool exclusive = op->engine == SIM_H2D || op->engine == SIM_D2H;

	op->start = exclusive && *engine > after ? *engine : after;
	op->end = op->start + op->cost;
	op->started = true;
	if (exclusive)
		*engine = op->end;
}

/* Starts all operations that can start. Returns the started operation that ends first. */
static struct sim_op *next_to_end(void)
{
	struct sim_op *first = NULL, *next;
	uint64_t after, next_after = 0;

	/* in the order of queueing, so that engines serve operations first come, first served */
	do {
		next = NULL;
		for (struct sim_stream *s = streams; s; s = s->next)
			if (s->head && !s->head->started && (!next || s->head->seq < next->seq) &&
				can_start(s->head, &after))
				next = s->head, next_after = after;
		if (next)
			start_op(next, next_after);
	} while (next);
	for (struct sim_stream *s = streams; s; s = s->next)
		if (s->head && s->head->started && (!first || s->head->end < first->end))
			first = s->head;
	return first;
}

static void finish_op(struct sim_op *op)
{
	struct sim_stream *s = op->stream;

	if (op->event && op->node_type >= 0) {
		op->event->done = op->gen;
		op->event->time = op->end;
	}
	if (op->exec)
		sim_graph_observe_done(op);
	sim_observe_done(op);
	sim_write_truth(op);
	event_put(op->event);
	s->last_end = op->end;
	s->head = op->next;
	if (!s->head)
		s->tail = &s->head;
	s->done++;
	sim_exec_put(op->exec);
	free(op->staged);
	op->next = spare;
	spare = op;
	if (s->destroyed && !s->head)
		stream_free(s);
	pthread_cond_broadcast(&progress);
}

static void sleep_until(uint64_t when)
{
	uint64_t real = origin + (double)when / sim_config.speed + 1;
	struct timespec t = { real / 1000000000, real % 1000000000 };

	worker_until = when;
	if (when == SIM_NEVER)
		pthread_cond_wait(&work, sim_mutex());
	else
		pthread_cond_timedwait(&work, sim_mutex(), &t);
	worker_until = 0;
}

static void *worker(void *arg)
{
	struct sim_op *op;

	sim_lock();
	for (;;) {
		op = next_to_end();
		if (!op)
			sleep_until(SIM_NEVER);
		else if (op->end > sim_now())
			sleep_until(op->end);
		else if (!op->run || op->run(op))
			finish_op(op);
		else
			op->end = sim_now() + (uint64_t)(POLL_NS * sim_config.speed) + 1;
	}
	return arg;
}

/* Host functions run one at a time on a separate thread, concurrently with the device. */
static void *callbacks(void *arg)
{
	struct sim_op *op;

	sim_lock();
	for (;;) {
		while (!(op = host_queue))
			pthread_cond_wait(&host_work, sim_mutex());
		host_queue = op->after;
		op->after = NULL;
		sim_unlock();
		if (op->host.callback)
			op->host.callback(op->host.handle, CUDA_SUCCESS, op->host.arg);
		else
			op->host.fn(op->host.arg);
		sim_lock();
		op->phase = 2;
		op->end = sim_now();
		pthread_cond_signal(&work);
	}
	return arg;
}

bool sim_host_run(struct sim_op *op)
{
	struct sim_op **p = &host_queue;

	if (op->phase == 2)
		return true;
	if (op->phase)
		return false;
	op->phase = 1;
	while (*p)
		p = &(*p)->after;
	*p = op;
	pthread_cond_signal(&host_work);
	return false;
}

int sim_queue_start(void)
{
	void *(*const body[])(void *) = { worker, callbacks };
	pthread_condattr_t monotonic;
	sigset_t all, old;
	pthread_t thread;
	int failed = 0;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&work, &monotonic);
	pthread_cond_init(&progress, &monotonic);
	pthread_cond_init(&host_work, &monotonic);
	pthread_condattr_destroy(&monotonic);
	origin = real_now() - 1;
	sigfillset(&all); /* the program's threads handle its signals */
	pthread_sigmask(SIG_SETMASK, &all, &old);
	for (int i = 0; i < 2 && !failed; i++)
		if (!(failed = pthread_create(&thread, NULL, body[i], NULL)))
			pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return failed ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_SUCCESS;
}

static struct sim_op *new_op(void)
{
	struct sim_op *op = spare;

	if (!op)
		return malloc(sizeof(*op));
	spare = op->next;
	return op;
}

int sim_submit(struct sim_stream *s, struct sim_op *op)
{
	struct sim_op *queued = NULL;
	int rc = s->capture ? sim_capture(s, op) : sim_no_capture(s->ctx, s);

	if (!rc && !s->capture && !(queued = new_op()))
		rc = CUDA_ERROR_OUT_OF_MEMORY;
	if (!queued) {
		if (rc)
			free(op->staged);
		return rc;
	}
	while (s->submitted - s->done >= SIM_MAX_PENDING)
		pthread_cond_wait(&progress, sim_mutex());
	*queued = *op;
	queued->next = NULL;
	queued->stream = s;
	queued->seq = ++seq;
	queued->queued = sim_now();
	if (queued->event)
		queued->event->refs++;
	if (sim_watched && op->run == sim_kernel_run)
		sim_migrate_all(s->ctx, true);
	if (sim_watched)
		queued->exec ? sim_graph_observe(queued) : sim_observe_submitted(queued);
	*s->tail = queued;
	s->tail = &queued->next;
	s->submitted++;
	if (worker_until > queued->queued + queued->cost)
		pthread_cond_signal(&work);
	return CUDA_SUCCESS;
}

int sim_wait(struct sim_stream *s)
{
	struct sim_ctx *ctx = s->ctx;
	uint64_t until = s->submitted, id = s->id;

	while (s->id == id && s->done < until)
		pthread_cond_wait(&progress, sim_mutex());
	return ctx->error;
}

int sim_wait_ctx(struct sim_ctx *ctx)
{
	struct sim_stream *s;

	do { /* restart after each wait: the list may have changed */
		for (s = streams; s && (s->ctx != ctx || !s->head); s = s->next)
			;
		if (s)
			sim_wait(s);
	} while (s);
	return ctx->error;
}

int sim_no_capture(struct sim_ctx *ctx, struct sim_stream *s)
{
	bool everywhere = !s || s == ctx->legacy;

	int rc = s && !s->capture && everywhere ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
						: CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;

	for (struct sim_stream *t = streams; t; t = t->next)
		if (t->capture &&
			(t == s || (everywhere && t->ctx == ctx && (!s || !(t->flags & 1))))) {
			sim_capture_invalidate(t);
			sim_report_misuse("a call", "invalidates a capture");
			return rc;
		}
	return CUDA_SUCCESS;
}

/* Streams. */
static struct sim_stream *stream_new(struct sim_ctx *ctx, unsigned flags, int priority)
{
	struct sim_stream *s = sim_new(SIM_STREAM, sizeof(*s));

	if (!s)
		return NULL;
	s->ctx = ctx;
	s->flags = flags;
	s->priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
	s->id = ++stream_ids;
	s->number = sim_stream_number(ctx);
	s->tail = &s->head;
	s->next = streams;
	streams = s;
	return s;
}

static int default_stream(struct sim_ctx *ctx, bool per_thread, struct sim_stream **s)
{
	if (!per_thread) {
		if (!ctx->legacy)
			ctx->legacy = stream_new(ctx, 0, 0);
		*s = ctx->legacy;
	} else {
		if (thread_default.ctx != ctx->id || !thread_default.stream) {
			for (*s = streams; *s && ((*s)->ctx != ctx || (*s)->tid != gettid());
				*s = (*s)->next)
				;
			thread_default.stream = *s ? *s : stream_new(ctx, 0, 0);
			thread_default.ctx = ctx->id;
			if (thread_default.stream)
				thread_default.stream->tid = gettid();
		}
		*s = thread_default.stream;
	}
	return *s ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

int sim_stream_get(struct sim_ctx *ctx, CUstream h, struct sim_stream **s)
{
	if (!h || h == CU_STREAM_LEGACY || h == CU_STREAM_PER_THREAD)
		return default_stream(ctx, h == CU_STREAM_PER_THREAD, s);
	*s = h;
	return !sim_is(h, SIM_STREAM) || h->tid || h == ctx->legacy ? CUDA_ERROR_INVALID_HANDLE
								    : CUDA_SUCCESS;
}

void sim_streams_free(struct sim_ctx *ctx)
{
	struct sim_stream *s = streams, *next;

	for (; s; s = next) {
		next = s->next;
		if (s->ctx == ctx)
			stream_free(s);
	}
	ctx->legacy = NULL;
}

/* Takes the lock and finds the stream. Returns 0, or an error with the lock released. */
static int enter_stream(CUstream h, struct sim_ctx **ctx, struct sim_stream **s)
{
	int rc = sim_enter(ctx);

	if (!rc && (rc = sim_stream_get(*ctx, h, s)))
		sim_unlock();
	return rc;
}

CUresult cuStreamCreateWithPriority(CUstream *out, unsigned flags, int priority)
{
	struct sim_ctx *ctx;
	int rc = sim_injected_error("cuStreamCreate");

	if (rc || (rc = sim_enter(&ctx)))
		return rc;
	if (!out || flags > 1)
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	*out = stream_new(ctx, flags, priority);
	SIM_OBSERVE(SIM_STREAM_CREATED, .ctx = ctx, .stream = *out);
	return sim_leave(*out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

CUresult cuStreamCreate(CUstream *out, unsigned flags)
{
	return cuStreamCreateWithPriority(out, flags, 0);
}

CUresult cuStreamDestroy_v2(CUstream h)
{
	struct sim_stream *s;
	struct sim_ctx *ctx;
	int rc = enter_stream(h, &ctx, &s);

	if (rc)
		return rc;
	if (s != h)
		/* default streams cannot be destroyed */
		return sim_leave(CUDA_ERROR_INVALID_HANDLE);
	if (s->capture)
		sim_capture_invalidate(s);
	SIM_OBSERVE(SIM_STREAM_ENDS, .ctx = ctx, .stream = s);
	s->obj.kind = SIM_FREE;
	s->destroyed = true;
	if (!s->head)
		stream_free(s);
	return sim_leave(CUDA_SUCCESS);
}

static int stream_query(CUstream h)
{
	struct sim_stream *s;
	struct sim_ctx *ctx;
	int rc = enter_stream(h, &ctx, &s);

	if (!rc)
		sim_leave(rc = (rc = sim_no_capture(ctx, s)) ? rc
				: s->done < s->submitted     ? CUDA_ERROR_NOT_READY
							     : CUDA_SUCCESS);
	return rc;
}

static int stream_synchronize(CUstream h)
{
	struct sim_stream *s;
	struct sim_ctx *ctx;
	int rc = enter_stream(h, &ctx, &s);

	if (rc)
		return rc;
	if ((rc = sim_no_capture(ctx, s)))
		return sim_leave(rc);
	sim_observe_wait(SIM_WAIT_STREAM, ctx, s, NULL);
	rc = sim_wait(s);
	sim_migrate_all(ctx, false);
	return sim_leave(rc);
}

static int stream_get(CUstream h, struct sim_ctx **ctx, unsigned *flags, int *priority,
	unsigned long long *id, int *dev)
{
	struct sim_stream *s;
	struct sim_ctx *current;
	int rc = enter_stream(h, &current, &s);

	if (rc)
		return rc;
	if (ctx)
		*ctx = s->ctx;
	if (flags)
		*flags = s->flags;
	if (priority)
		*priority = s->priority;
	if (id)
		*id = s->id;
	if (dev)
		*dev = s->ctx->dev;
	return sim_leave(
		ctx || flags || priority || id || dev ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

static int stream_get_ctx2(CUstream h, struct sim_ctx **ctx, void **green)
{
	if (green)
		*green = NULL;
	return stream_get(h, ctx, NULL, NULL, NULL, NULL);
}

static int stream_attribute(CUstream h, unsigned attribute, const void *value)
{
	return attribute > 16 || !value ? CUDA_ERROR_INVALID_VALUE
					: stream_get(h, NULL, &(unsigned){ 0 }, NULL, NULL, NULL);
}

static int host_func(CUstream h, struct sim_op *op, bool given)
{
	struct sim_stream *s;
	struct sim_ctx *ctx;
	int rc = enter_stream(h, &ctx, &s);

	if (rc)
		return rc;
	op->run = sim_host_run;
	op->node_type = 3;
	op->host.handle = h == CU_STREAM_LEGACY ? NULL : h;
	return sim_leave(!given ? CUDA_ERROR_INVALID_VALUE : sim_submit(s, op));
}

BOTH(cuStreamQuery, _ptsz, (CUstream s), stream_query(OR_NONE(s)))
BOTH(cuStreamSynchronize, _ptsz, (CUstream s), stream_synchronize(OR_NONE(s)))
BOTH(cuStreamGetCtx, _ptsz, (CUstream s, CUcontext *c),
	stream_get(OR_NONE(s), c, NULL, NULL, NULL, NULL))
BOTH(cuStreamGetCtx_v2, _ptsz, (CUstream s, CUcontext *c, void **green),
	stream_get_ctx2(OR_NONE(s), c, green))
BOTH(cuStreamGetFlags, _ptsz, (CUstream s, unsigned *flags),
	stream_get(OR_NONE(s), NULL, flags, NULL, NULL, NULL))
BOTH(cuStreamGetPriority, _ptsz, (CUstream s, int *priority),
	stream_get(OR_NONE(s), NULL, NULL, priority, NULL, NULL))
BOTH(cuStreamGetId, _ptsz, (CUstream s, unsigned long long *id),
	stream_get(OR_NONE(s), NULL, NULL, NULL, id, NULL))
BOTH(cuStreamGetDevice, _ptsz, (CUstream s, CUdevice *dev),
	stream_get(OR_NONE(s), NULL, NULL, NULL, NULL, dev))
BOTH(cuStreamSetAttribute, _ptsz, (CUstream s, unsigned attribute, const void *value),
	stream_attribute(OR_NONE(s), attribute, value))
BOTH(cuLaunchHostFunc, _ptsz, (CUstream s, CUhostFn fn, void *arg),
	host_func(OR_NONE(s), &(struct sim_op){ .host = { .fn = fn, .arg = arg } }, fn))
BOTH(cuStreamAddCallback, _ptsz, (CUstream s, CUstreamCallback fn, void *arg, unsigned flags),
	host_func(OR_NONE(s), &(struct sim_op){ .host = { .callback = fn, .arg = arg } },
		fn && !flags))

/* Events. */
CUresult cuEventCreate(CUevent *out, unsigned flags)
{
	struct sim_ctx *ctx;
	struct sim_event *e;
	int rc = sim_injected_error("cuEventCreate");

	if (rc || (rc = sim_enter(&ctx)))
		return rc;
	if (!out || flags > 7)
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	if (!(e = sim_new(SIM_EVENT, sizeof(*e))))
		return sim_leave(CUDA_ERROR_OUT_OF_MEMORY);
	e->ctx = ctx;
	e->ctx_id = ctx->id;
	e->flags = flags;
	e->id = ++event_ids;
	e->refs = 1;
	e->next = all_events;
	e->link = &all_events;
	if (all_events)
		all_events->link = &e->next;
	all_events = e;
	*out = e;
	return sim_leave(CUDA_SUCCESS);
}

/* True for an event whose context exists. */
static bool is_event_valid(const struct sim_event *e, const char *function)
{
	if (!sim_is(e, SIM_EVENT))
		return false;
	if (sim_is(e->ctx, SIM_CTX) && e->ctx->id == e->ctx_id)
		return true;
	sim_report_misuse(function, "the context of the event has been destroyed");
	return false;
}

/* Takes the lock and checks the event. Returns 0, or an error with the lock released. */
static int enter_event(CUevent e, const char *function)
{
	struct sim_ctx *ctx;
	int rc = sim_injected_error(function);

	if (!rc)
		rc = sim_enter(&ctx);
	return rc || is_event_valid(e, function) ? rc : sim_leave(CUDA_ERROR_INVALID_HANDLE);
}

CUresult cuEventDestroy_v2(CUevent e)
{
	int rc = enter_event(e, "cuEventDestroy");

	if (rc)
		return rc;
	e->obj.kind = SIM_FREE;
	event_put(e);
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuEventQuery(CUevent e)
{
	int rc = enter_event(e, "cuEventQuery");

	if (rc || ((rc = sim_capture_unsafe("cuEventQuery")) && sim_leave(rc)))
		return rc;
	return sim_leave(e->capture             ? CUDA_ERROR_CAPTURED_EVENT
			: e->done < e->recorded ? CUDA_ERROR_NOT_READY
						: CUDA_SUCCESS);
}

CUresult cuEventSynchronize(CUevent e)
{
	uint64_t until;
	int rc = enter_event(e, "cuEventSynchronize");

	if (rc || ((rc = sim_capture_unsafe("cuEventSynchronize")) && sim_leave(rc)))
		return rc;
	sim_observe_wait(SIM_WAIT_EVENT, e->ctx, NULL, e);
	until = e->recorded;
	while (e->done < until && !e->capture)
		pthread_cond_wait(&progress, sim_mutex());
	return sim_leave(e->capture ? CUDA_ERROR_CAPTURED_EVENT : sim_current->error);
}

CUresult cuEventElapsedTime(float *ms, CUevent a, CUevent b)
{
	int rc = enter_event(a, "cuEventElapsedTime");

	if (rc || ((rc = sim_capture_unsafe("cuEventElapsedTime")) && sim_leave(rc)))
		return rc;
	if (!ms)
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	/* 2: without timing */
	if (!is_event_valid(b, "cuEventElapsedTime") || !a->recorded || !b->recorded ||
		(a->flags | b->flags) & 2)
		return sim_leave(CUDA_ERROR_INVALID_HANDLE);
	if (a->capture || b->capture)
		return sim_leave(CUDA_ERROR_CAPTURED_EVENT);
	if (a->done < a->recorded || b->done < b->recorded)
		return sim_leave(CUDA_ERROR_NOT_READY);
	*ms = ((double)b->time - (double)a->time) / 1e6;
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuEventElapsedTime_v2(float *ms, CUevent a, CUevent b)
{
	return cuEventElapsedTime(ms, a, b);
}

static int event_record(CUevent e, CUstream h, unsigned flags)
{
	struct sim_stream *s;
	struct sim_ctx *ctx;
	struct sim_op op = { .event = e };
	int rc = sim_injected_error("cuEventRecord");

	if (rc || (rc = enter_stream(h, &ctx, &s)))
		return rc;
	if (!is_event_valid(e, "cuEventRecord") || flags > 1 || e->ctx != s->ctx)
		return sim_leave(flags > 1 ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE);
	if (s->capture)
		return sim_leave(sim_capture_record(s, e));
	e->capture = NULL;
	op.gen = e->recorded + 1;
	if (!(rc = sim_submit(s, &op)))
		e->recorded++;
	return sim_leave(rc);
}

static int stream_wait_event(CUstream h, CUevent e, unsigned flags)
{
	struct sim_stream *s;
	struct sim_ctx *ctx;
	/* waits for the event, does not record it */
	struct sim_op op = { .event = e, .node_type = -1 };
	int rc = enter_stream(h, &ctx, &s);

	if (rc)
		return rc;
	if (!sim_is(e, SIM_EVENT) || flags > 1)
		return sim_leave(flags > 1 ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE);
	if (s->capture || e->capture)
		return sim_leave(sim_capture_wait(s, e));
	op.gen = e->recorded;
	sim_observe_wait(SIM_WAIT_STREAM_EVENT, ctx, s, e);
	/* never recorded: there is nothing to wait for */
	return sim_leave(op.gen ? sim_submit(s, &op) : CUDA_SUCCESS);
}

BOTH(cuEventRecord, _ptsz, (CUevent e, CUstream s), event_record(e, OR_NONE(s), 0))
BOTH(cuEventRecordWithFlags, _ptsz, (CUevent e, CUstream s, unsigned flags),
	event_record(e, OR_NONE(s), flags))
BOTH(cuStreamWaitEvent, _ptsz, (CUstream s, CUevent e, unsigned flags),
	stream_wait_event(OR_NONE(s), e, flags))

/* Words in memory as signals: a stream writes them or waits for them. */
static bool word_write(struct sim_op *op)
{
	if (op->word.bytes == 8)
		__atomic_store_n((uint64_t *)op->word.at, op->word.value, __ATOMIC_RELEASE);
	else
		__atomic_store_n((uint32_t *)op->word.at, op->word.value, __ATOMIC_RELEASE);
	return true;
}

static bool word_wait(struct sim_op *op)
{
	uint64_t have = op->word.bytes == 8
		? __atomic_load_n((uint64_t *)op->word.at, __ATOMIC_ACQUIRE)
		: __atomic_load_n((uint32_t *)op->word.at, __ATOMIC_ACQUIRE);
	uint64_t want = op->word.value;

	op->end = sim_now(); /* if it ends, then now: the time of the write is unknown */
	switch (op->word.flags & 3) {
	case 0:
		return op->word.bytes == 8 ? (int64_t)(have - want) >= 0
					   : (int32_t)(have - want) >= 0;
	case 1: return have == want;
	case 2: return have & want;
	default: return (op->word.bytes == 8 ? ~(have | want) : (uint32_t) ~(have | want)) != 0;
	}
}

static int stream_word(
	CUstream h, CUdeviceptr at, uint64_t value, unsigned flags, unsigned bytes, sim_run run)
{
	struct sim_stream *s;
	struct sim_ctx *ctx;
	struct sim_op op = { .run = run, .node_type = 13, .word = { NULL, value, flags, bytes } };
	int rc = enter_stream(h, &ctx, &s);

	if (rc)
		return rc;
	op.word.at = sim_host(at, bytes);
	return sim_leave(!op.word.at || at % bytes ? CUDA_ERROR_INVALID_VALUE : sim_submit(s, &op));
}

BOTH(cuStreamWriteValue32_v2, _ptsz, (CUstream s, CUdeviceptr at, uint32_t v, unsigned f),
	stream_word(OR_NONE(s), at, v, f, 4, word_write))
BOTH(cuStreamWriteValue64_v2, _ptsz, (CUstream s, CUdeviceptr at, uint64_t v, unsigned f),
	stream_word(OR_NONE(s), at, v, f, 8, word_write))
BOTH(cuStreamWaitValue32_v2, _ptsz, (CUstream s, CUdeviceptr at, uint32_t v, unsigned f),
	stream_word(OR_NONE(s), at, v, f, 4, word_wait))
BOTH(cuStreamWaitValue64_v2, _ptsz, (CUstream s, CUdeviceptr at, uint64_t v, unsigned f),
	stream_word(OR_NONE(s), at, v, f, 8, word_wait))

/* Old names. */
CUresult cuStreamDestroy(CUstream s) __attribute__((SIM_ALIAS(cuStreamDestroy_v2)));
CUresult cuEventDestroy(CUevent e) __attribute__((SIM_ALIAS(cuEventDestroy_v2)));
