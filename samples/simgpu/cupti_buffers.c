/* Activity records in the client's buffers, and the delivery of the buffers.
 *
 * When a launch returns, its kernel's record gets a slot in the open buffer of the launching
 * thread (CUPTI 13; in older versions all threads share one). That thread requests a buffer from
 * the client if there is none, or none with space. The record is complete when the kernel has
 * run. A buffer is delivered when it is full, or at a flush, provided that all its records are
 * complete and the thread's earlier buffers have been delivered. A forced flush does not wait
 * for either. The worker thread delivers buffers one at a time. So one long kernel delays all
 * records of its buffer, and all that its thread launches later, as with the real CUPTI
 * (tests/gpu/cupti_held.c). */
#define _GNU_SOURCE
#include "samples/simgpu/cupti_sim.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct cupti_buffer {
	struct cupti_buffer *next;
	uint8_t *data;
	size_t size, used, records, max_records; /* max_records: 0 is no limit */
	unsigned pending;                        /* number of incomplete records */
	int owner;                               /* the thread, or 0 */
	uint64_t due;  /* if delayed: not delivered before this time of cupti_mono */
	bool closed;   /* full: takes no more records, not queued for delivery yet */
	bool has_work; /* contains records other than CUPTI's own overhead */
};
struct queue {
	struct cupti_buffer *first, **last;
};
pthread_mutex_t *cupti_mutex(void);
/* open and full buffers are in the order of opening */
static struct queue open_buffers = { .last = &open_buffers.first }, full = { .last = &full.first },
		    ready = { .last = &ready.first }, delayed = { .last = &delayed.first };
static struct cupti_buffer *spare; /* requested by two threads at once */
static cupti_requested requested;
static cupti_completed completed;
static pthread_cond_t work, progress = PTHREAD_COND_INITIALIZER;
/* numbers of buffers; queued_work: those of them with has_work */
static uint64_t queued, delivered, queued_work;
static size_t dropped, reserved; /* numbers of records */
static bool running;
__thread bool cupti_on_worker;

static void append(struct queue *q, struct cupti_buffer *b)
{
	b->next = NULL;
	*q->last = b;
	q->last = &b->next;
}

static void remove_from(struct queue *q, struct cupti_buffer *b)
{
	struct cupti_buffer **p = &q->first;

	while (*p != b)
		p = &(*p)->next;
	if (!(*p = b->next))
		q->last = p;
}

/* Queues a buffer for delivery. It must be in no list. */
static void queue_delivery(struct cupti_buffer *b)
{
	b->closed = false;
	append(&ready, b);
	queued++;
	queued_work += b->has_work;
	cupti_wake();
}

void cupti_wake(void) { pthread_cond_signal(&work); }

void cupti_record_pending(struct cupti_buffer *b) { b->pending++; }

static int current_owner(void)
{
	return cupti_knobs.version < 130000 ? 0 : (int)syscall(SYS_gettid);
}

/* The open buffer of an owner, or NULL. */
static struct cupti_buffer *open_buffer_of(int owner)
{
	struct cupti_buffer *b = open_buffers.first;

	while (b && b->owner != owner)
		b = b->next;
	return b;
}

/* Queues the owner's full buffers, up to the first that has an incomplete record. */
static void queue_complete_buffers(int owner)
{
	struct cupti_buffer *b, *next;

	for (b = full.first; b; b = next) {
		next = b->next;
		if (b->owner == owner && b->pending)
			return;
		if (b->owner == owner) {
			remove_from(&full, b);
			queue_delivery(b);
		}
	}
}

void cupti_record_complete(struct cupti_buffer *b)
{
	if (!--b->pending && b->closed)
		queue_complete_buffers(b->owner);
}

/* Closes an open buffer: it takes no more records. */
static void close_buffer(struct cupti_buffer *b)
{
	remove_from(&open_buffers, b);
	b->closed = true;
	append(&full, b);
	queue_complete_buffers(b->owner);
}

size_t cupti_size(unsigned kind)
{
	unsigned version = cupti_knobs.version;

	switch (kind) {
	case KIND_KERNEL:
	case KIND_CONCURRENT_KERNEL: return version < 130000 ? 208 : sizeof(struct cupti_kernel);
	case KIND_MEMCPY: return version < 26 ? 88 : sizeof(struct cupti_memcpy);
	case KIND_SYNCHRONIZATION: return version < 26 ? 40 : sizeof(struct cupti_sync);
	case KIND_UNIFIED_MEMORY: return version < 26 ? 64 : sizeof(struct cupti_um);
	case KIND_MEMCPY2: return sizeof(struct cupti_peer);
	case KIND_MEMSET: return sizeof(struct cupti_memset);
	case KIND_DRIVER:
	case KIND_RUNTIME: return sizeof(struct cupti_api);
	case KIND_OVERHEAD: return sizeof(struct cupti_overhead);
	case KIND_EXTERNAL_CORRELATION: return sizeof(struct cupti_external);
	default: return 0;
	}
}

static bool has_space(const struct cupti_buffer *b, size_t size)
{
	return b->size - b->used >= size && (!b->max_records || b->records < b->max_records);
}

/* Checks a buffer for SIM_CUPTI_STRICT: it must be zeroed, as the client has declared, and the
 * client must use at most `strict` different buffers. From MAX_CHECKED on, neither is checked.
 * Under the lock. */
#define MAX_CHECKED 1024
static void check_buffer(const uint8_t *data, size_t bytes)
{
	static const uint8_t *known[MAX_CHECKED];
	size_t i = 0;

	cupti_require(data, "the client returned no buffer");
	cupti_require(cupti_zeroed, "the client has not set the attribute for zeroed buffers");
	if (cupti_knobs.strict >= MAX_CHECKED)
		return;
	cupti_require(!*data && !memcmp(data, data + 1, bytes - 1), "a buffer is not zeroed");
	while (i < MAX_CHECKED && known[i] && known[i] != data)
		i++;
	cupti_require(i < cupti_knobs.strict, "the client does not reuse its buffers");
	known[i] = data;
}

/* Requests a buffer from the client. It becomes a spare one. Releases the lock during the request.
 * Returns false if the client gave no usable buffer. */
static bool request_buffer(size_t size)
{
	cupti_requested to = requested;
	struct cupti_buffer *b = NULL;
	uint8_t *data = NULL;
	size_t bytes = 0, most = 0;
	bool ok;

	cupti_unlock();
	to(&data, &bytes, &most);
	ok = data && bytes >= size && (b = calloc(1, sizeof(*b)));
	if (ok && !cupti_zeroed)
		memset(data, 0, bytes);
	cupti_lock();
	if (cupti_knobs.strict)
		check_buffer(data, bytes);
	if (!data || (!b && !(b = calloc(1, sizeof(*b)))))
		return false;
	*b = (struct cupti_buffer){
		.next = spare, .data = data, .size = bytes, .max_records = most
	};
	if (ok)
		spare = b;
	else
		queue_delivery(b); /* too small to use: return it to the client */
	return ok;
}

struct cupti_slot cupti_reserve(unsigned kind)
{
	size_t size = cupti_size(kind);
	struct cupti_slot s = { NULL, NULL };
	struct cupti_buffer *b;
	int me = current_owner();

	cupti_lock();
	if (!requested)
		return s; /* no client to count the loss for */
	reserved++;
	if (cupti_knobs.drop && reserved % cupti_knobs.drop == 0) {
		dropped++;
		return s;
	}
	while (!(b = open_buffer_of(me)) || !has_space(b, size)) {
		if (b)
			close_buffer(b);
		if (!spare && (!requested || !request_buffer(size))) {
			dropped++;
			return s;
		}
		if (!open_buffer_of(me) && (b = spare)) {
			spare = spare->next;
			b->owner = me;
			append(&open_buffers, b);
		}
	}
	s.in = b;
	s.at = (union cupti_record *)(b->data + b->used);
	b->used += size;
	b->records++;
	b->has_work |= kind != KIND_OVERHEAD;
	return s;
}

void cupti_put(const union cupti_record *r)
{
	struct cupti_slot s = cupti_reserve(r->kind);

	if (s.in)
		memcpy(s.at, r, cupti_size(r->kind));
	cupti_unlock();
}

static void shuffle(struct cupti_buffer *b)
{
	uint8_t *from = malloc(b->used), *to = b->data;
	size_t *at = malloc((b->records + 1) * sizeof(*at)), n = 0, size, pick;
	uint32_t random = 12345;

	if (from && at) {
		memcpy(from, b->data, b->used);
		for (size_t i = 0; i < b->used; i += cupti_size(*(uint32_t *)(from + i)))
			at[n++] = i;
		for (; n; n--) {
			random = random * 1664525 + 1013904223;
			/* never the last one, so that two records also change places */
			pick = n > 1 ? (random >> 8) % (n - 1) : 0;
			size = cupti_size(*(uint32_t *)(from + at[pick]));
			to = (uint8_t *)memcpy(to, from + at[pick], size) + size;
			at[pick] = at[n - 1];
		}
	}
	free(from);
	free(at);
}

static void deliver(struct cupti_buffer *b)
{
	cupti_completed to = completed;

	cupti_unlock();
	if (cupti_knobs.shuffle)
		shuffle(b);
	if (to)
		to(NULL, 0, b->data, b->size, b->used);
	free(b);
	cupti_lock();
	delivered++;
	pthread_cond_broadcast(&progress);
}

/* Queues the delayed buffer for delivery if its time has come. Otherwise returns that time; 0 if
 * there is nothing to wait for. */
static uint64_t release_delayed(uint64_t now)
{
	struct cupti_buffer *b = delayed.first;

	if (!b || b->due > now)
		return b ? b->due : 0;
	remove_from(&delayed, b);
	queue_delivery(b);
	return 0;
}

static void *worker(void *arg)
{
	struct cupti_buffer *b;
	struct timespec t;
	uint64_t due, back;

	cupti_on_worker = true;
	cupti_lock();
	for (;;) {
		due = cupti_complete_due(cupti_mono());
		back = release_delayed(cupti_mono());
		due = back && (!due || back < due) ? back : due;
		if ((b = ready.first)) {
			remove_from(&ready, b);
			deliver(b);
		} else if (due) {
			t = (struct timespec){ due / 1000000000, due % 1000000000 };
			pthread_cond_timedwait(&work, cupti_mutex(), &t);
		} else {
			pthread_cond_wait(&work, cupti_mutex());
		}
	}
	return arg;
}

int cupti_worker_start(void)
{
	pthread_condattr_t monotonic;
	sigset_t all, old;
	pthread_t thread;

	if (running)
		return 0;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&work, &monotonic);
	pthread_condattr_destroy(&monotonic);
	sigfillset(&all);
	sigdelset(&all, SIGTRAP); /* a blocked SIGTRAP would be fatal */
	pthread_sigmask(SIG_SETMASK, &all, &old);
	running = !pthread_create(&thread, NULL, worker, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (running)
		pthread_detach(thread);
	return running ? 0 : -1;
}

/* SIM_CUPTI_BACK_MS: at the first forced flush, delays the first open buffer that has records of
 * work. Until then, no flush delivers anything. */
static bool has_delayed;
static void delay_buffer(void)
{
	struct cupti_buffer *b = open_buffers.first;

	while (b && !b->has_work)
		b = b->next;
	if (has_delayed || !cupti_knobs.back_ms || !b)
		return;
	has_delayed = true;
	remove_from(&open_buffers, b);
	if (b->pending)
		cupti_abandon(b);
	b->pending = 0;
	b->due = cupti_mono() + cupti_knobs.back_ms * 1000000ull;
	append(&delayed, b);
	cupti_wake();
}

static void abandon_pending(struct queue *q)
{
	for (struct cupti_buffer *b = q->first; b; b = b->next) {
		if (b->pending)
			cupti_abandon(b);
		b->pending = 0;
	}
}

/* Flushes. all: empty buffers are delivered too. */
void cupti_flush(bool forced, bool all)
{
	struct cupti_buffer *b, *next;
	uint64_t until;
	bool nothing;

	cupti_lock();
	nothing = !forced && cupti_knobs.back_ms && !has_delayed;
	if (forced && !all)
		delay_buffer();
	if (forced) {
		abandon_pending(&full);
		abandon_pending(&open_buffers);
	}
	for (b = nothing ? NULL : open_buffers.first; b; b = next) {
		next = b->next;
		if ((all || b->used) && !b->pending)
			close_buffer(b);
	}
	for (; forced && (b = full.first); queue_complete_buffers(b->owner))
		;
	while (all && (b = spare)) {
		spare = b->next;
		queue_delivery(b);
	}
	until = queued;
	while (!cupti_on_worker && delivered < until)
		pthread_cond_wait(&progress, cupti_mutex());
	cupti_unlock();
}

void cupti_clear_callbacks(void)
{
	cupti_lock();
	requested = NULL;
	completed = NULL;
	cupti_unlock();
}

#define API(name, params)                                                                          \
	int name params;                                                                           \
	int name params

API(cuptiActivityRegisterCallbacks, (cupti_requested request, cupti_completed complete))
{
	CUPTI_BEGIN();
	CUPTI_EXCLUSIVE();
	if (!request || !complete)
		return cupti_set_error(CUPTI_INVALID_PARAMETER);
	cupti_lock();
	requested = request;
	completed = complete;
	cupti_unlock();
	return CUPTI_OK;
}

API(cuptiActivityFlushAll, (uint32_t flag))
{
	uint64_t start, before;
	bool registered;

	CUPTI_BEGIN();
	CUPTI_EXCLUSIVE();
	if (!(flag & 1) && cupti_knobs.alone_ms)
		usleep(cupti_knobs.alone_ms * 1000);
	cupti_lock();
	registered = requested != NULL;
	before = queued_work;
	cupti_unlock();
	if (!registered)
		return cupti_set_error(CUPTI_INVALID_OPERATION);
	start = cupti_kinds[KIND_OVERHEAD] ? cupti_now() : 0;
	cupti_flush(flag & 1, false);
	/* otherwise each flush would cause a record for the next flush */
	if (start && queued_work > before)
		cupti_put(&(union cupti_record){ .overhead = { .kind = KIND_OVERHEAD,
							 .overhead = OVERHEAD_FLUSH,
							 .object = 1,
							 .object_id = { getpid() },
							 .start = start,
							 .end = cupti_now() } });
	return CUPTI_OK;
}

API(cuptiActivityFlush, (void *ctx, uint32_t stream, uint32_t flag))
{
	(void)ctx, (void)stream;
	return cuptiActivityFlushAll(flag);
}

API(cuptiActivityFlushPeriod, (uint32_t ms))
{
	CUPTI_BEGIN();
	/* would deliver full and complete buffers; here they are delivered at once */
	(void)ms;
	return CUPTI_OK;
}

API(cuptiActivityGetNumDroppedRecords, (void *ctx, uint32_t stream, size_t *n))
{
	CUPTI_BEGIN();
	(void)ctx, (void)stream;
	if (!n)
		return cupti_set_error(CUPTI_INVALID_PARAMETER);
	cupti_lock();
	*n = dropped;
	dropped = 0;
	cupti_unlock();
	return CUPTI_OK;
}

API(cuptiActivityGetNextRecord, (uint8_t * buffer, size_t used, uint8_t **record))
{
	uint8_t *at;

	CUPTI_BEGIN();
	if (!buffer || !record)
		return cupti_set_error(CUPTI_INVALID_PARAMETER);
	at = *record ? *record + cupti_size(*(uint32_t *)*record) : buffer;
	if (at >= buffer + used)
		return CUPTI_LIMIT_REACHED;
	if (!cupti_size(*(uint32_t *)at))
		return CUPTI_INVALID_KIND;
	*record = at;
	return CUPTI_OK;
}
