/* Records into the client's buffers, and these back to the client.
 *
 * A kernel's record gets its place when its launch returns, in the buffer that is open for the launching thread (CUPTI 13; of older
 * ones all threads share it); that thread calls the client for a buffer when there is none or no room. The record is complete when the
 * kernel has run. A buffer goes back when it is full, or at a flush, when all its records are complete and those before it have gone
 * back; a forced flush does not wait for these. It is the worker thread that gives it back, one after another. So one long kernel keeps
 * all that shares its buffer, and all that its thread launches behind it, as with the real one (tests/gpu/cupti_held.c). */
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
	size_t size, used, records, most;	/* most: records it may hold, 0: any number */
	unsigned held;				/* records that are not complete */
	int owner;				/* the thread, or 0 */
	uint64_t due;				/* kept back until then, on cupti_mono */
	bool closed;				/* it takes no more, and has not gone yet */
	bool telling;				/* holds more than CUPTI's own overhead */
};
struct queue { struct cupti_buffer *first, **last; };
pthread_mutex_t *cupti_mutex(void);
static struct queue open_ones = { .last = &open_ones.first }, full = { .last = &full.first }, leaving = { .last = &leaving.first },
		    kept = { .last = &kept.first };	/* open, full: first those that were opened first */
static struct cupti_buffer *spare;			/* asked for by two threads at once */
static cupti_requested requested;
static cupti_completed completed;
static pthread_cond_t work, progress = PTHREAD_COND_INITIALIZER;
static uint64_t queued, delivered, telling;	/* buffers; telling: of those queued */
static size_t dropped, reserved;		/* records */
static bool running;
__thread bool cupti_on_worker;

static void append(struct queue *q, struct cupti_buffer *b)
{
	b->next = NULL;
	*q->last = b;
	q->last = &b->next;
}

static void take(struct queue *q, struct cupti_buffer *b)
{
	struct cupti_buffer **p = &q->first;

	while (*p != b)
		p = &(*p)->next;
	if (!(*p = b->next))
		q->last = p;
}

/* Puts a buffer that is in no list on its way to the client. */
static void leave(struct cupti_buffer *b)
{
	b->closed = false;
	append(&leaving, b);
	queued++;
	telling += b->telling;
	cupti_wake();
}

void cupti_wake(void)
{
	pthread_cond_signal(&work);
}

void cupti_hold(struct cupti_buffer *b)
{
	b->held++;
}

static int owner(void) { return cupti_knobs.version < 130000 ? 0 : (int)syscall(SYS_gettid); }

/* The open buffer of an owner. */
static struct cupti_buffer *current_of(int owner)
{
	struct cupti_buffer *b = open_ones.first;

	while (b && b->owner != owner)
		b = b->next;
	return b;
}

/* The owner's full buffers up to the first that is not complete. */
static void leave_in_order(int owner)
{
	struct cupti_buffer *b, *next;

	for (b = full.first; b; b = next) {
		next = b->next;
		if (b->owner == owner && b->held)
			return;
		if (b->owner == owner) {
			take(&full, b);
			leave(b);
		}
	}
}

void cupti_let(struct cupti_buffer *b)
{
	if (!--b->held && b->closed)
		leave_in_order(b->owner);
}

/* It takes no more. */
static void close_buffer(struct cupti_buffer *b)
{
	take(&open_ones, b);
	b->closed = true;
	append(&full, b);
	leave_in_order(b->owner);
}

size_t cupti_size(unsigned kind)
{
	unsigned version = cupti_knobs.version;

	switch (kind) {
	case KIND_KERNEL: case KIND_CONCURRENT_KERNEL: return version < 130000 ? 208 : sizeof(struct cupti_kernel);
	case KIND_MEMCPY: return version < 26 ? 88 : sizeof(struct cupti_memcpy);
	case KIND_SYNCHRONIZATION: return version < 26 ? 40 : sizeof(struct cupti_sync);
	case KIND_UNIFIED_MEMORY: return version < 26 ? 64 : sizeof(struct cupti_um);
	case KIND_MEMCPY2: return sizeof(struct cupti_peer);
	case KIND_MEMSET: return sizeof(struct cupti_memset);
	case KIND_DRIVER: case KIND_RUNTIME: return sizeof(struct cupti_api);
	case KIND_OVERHEAD: return sizeof(struct cupti_overhead);
	case KIND_EXTERNAL_CORRELATION: return sizeof(struct cupti_external);
	default: return 0;
	}
}

static bool fits(const struct cupti_buffer *b, size_t size)
{
	return b->size - b->used >= size && (!b->most || b->records < b->most);
}

/* Is this buffer what a careful client hands out: all zeros, as it has said, and one of no more than so many? Beyond LOOKED_FOR nobody
 * counts. Under the lock. */
#define LOOKED_FOR 1024
static void look_at(const uint8_t *data, size_t bytes)
{
	static const uint8_t *known[LOOKED_FOR];
	size_t i = 0;

	cupti_must(data, "there was no buffer");
	cupti_must(cupti_zeroed, "nobody has said that buffers are zeroed");
	if (cupti_knobs.strict >= LOOKED_FOR)
		return;
	cupti_must(!*data && !memcmp(data, data + 1, bytes - 1), "a buffer is not zeroed");
	while (i < LOOKED_FOR && known[i] && known[i] != data)
		i++;
	cupti_must(i < cupti_knobs.strict, "buffers are not used again");
	known[i] = data;
}

/* Asks the client for a buffer, which becomes the open one or a spare. The lock is given up meanwhile. false: none that would do. */
static bool ask(size_t size)
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
		look_at(data, bytes);
	if (!data || (!b && !(b = calloc(1, sizeof(*b)))))
		return false;
	*b = (struct cupti_buffer){ .next = spare, .data = data, .size = bytes, .most = most };
	if (ok)
		spare = b;
	else
		leave(b);	/* useless as it is, it is the client's */
	return ok;
}

struct cupti_slot cupti_reserve(unsigned kind)
{
	size_t size = cupti_size(kind);
	struct cupti_slot s = { NULL, NULL };
	struct cupti_buffer *b;
	int me = owner();

	cupti_lock();
	if (!requested)
		return s;	/* nobody to count it for */
	reserved++;
	if (cupti_knobs.drop && reserved % cupti_knobs.drop == 0) {
		dropped++;
		return s;
	}
	while (!(b = current_of(me)) || !fits(b, size)) {
		if (b)
			close_buffer(b);
		if (!spare && (!requested || !ask(size))) {
			dropped++;
			return s;
		}
		if (!current_of(me) && (b = spare)) {
			spare = spare->next;
			b->owner = me;
			append(&open_ones, b);
		}
	}
	s.in = b;
	s.at = (union cupti_record *)(b->data + b->used);
	b->used += size;
	b->records++;
	b->telling |= kind != KIND_OVERHEAD;
	return s;
}

void cupti_put(const union cupti_record *r)
{
	struct cupti_slot s = cupti_reserve(r->kind);

	if (s.in)
		memcpy(s.at, r, cupti_size(r->kind));
	cupti_unlock();
}

/* The worker. */
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
			pick = n > 1 ? (random >> 8) % (n - 1) : 0;	/* never the last, so that two change places too */
			size = cupti_size(*(uint32_t *)(from + at[pick]));
			to = (uint8_t *)memcpy(to, from + at[pick], size) + size;
			at[pick] = at[n - 1];
		}
	}
	free(from);
	free(at);
}

static void give_back(struct cupti_buffer *b)
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

/* What was kept back goes on its way when it is time. Returns when that will be, or 0. */
static uint64_t let_go(uint64_t now)
{
	struct cupti_buffer *b = kept.first;

	if (!b || b->due > now)
		return b ? b->due : 0;
	take(&kept, b);
	leave(b);
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
		due = cupti_late(cupti_mono());
		back = let_go(cupti_mono());
		due = back && (!due || back < due) ? back : due;
		if ((b = leaving.first)) {
			take(&leaving, b);
			give_back(b);
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
	sigdelset(&all, SIGTRAP);	/* it would be fatal, not late */
	pthread_sigmask(SIG_SETMASK, &all, &old);
	running = !pthread_create(&thread, NULL, worker, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (running)
		pthread_detach(thread);
	return running ? 0 : -1;
}

/* The first buffer with something in it that is to be forced out comes back later all the same. Until then no flush brings anything. */
static bool has_kept_back;
static void keep_back(void)
{
	struct cupti_buffer *b = open_ones.first;

	while (b && !b->telling)
		b = b->next;
	if (has_kept_back || !cupti_knobs.back_ms || !b)
		return;
	has_kept_back = true;
	take(&open_ones, b);
	if (b->held)
		cupti_abandon(b);
	b->held = 0;
	b->due = cupti_mono() + cupti_knobs.back_ms * 1000000ull;
	append(&kept, b);
	cupti_wake();
}

static void force(struct queue *q)
{
	for (struct cupti_buffer *b = q->first; b; b = b->next) {
		if (b->held)
			cupti_abandon(b);
		b->held = 0;
	}
}

/* Flushes. all: what nothing is in, too. */
void cupti_flush(bool forced, bool all)
{
	struct cupti_buffer *b, *next;
	uint64_t until;
	bool nothing;

	cupti_lock();
	nothing = !forced && cupti_knobs.back_ms && !has_kept_back;
	if (forced && !all)
		keep_back();
	if (forced) {
		force(&full);
		force(&open_ones);
	}
	for (b = nothing ? NULL : open_ones.first; b; b = next) {
		next = b->next;
		if ((all || b->used) && !b->held)
			close_buffer(b);
	}
	for (; forced && (b = full.first); leave_in_order(b->owner))
		;
	while (all && (b = spare)) {
		spare = b->next;
		leave(b);
	}
	until = queued;
	while (!cupti_on_worker && delivered < until)
		pthread_cond_wait(&progress, cupti_mutex());
	cupti_unlock();
}

void cupti_forget_callbacks(void)
{
	cupti_lock();
	requested = NULL;
	completed = NULL;
	cupti_unlock();
}

#define API(name, params) int name params; int name params

API(cuptiActivityRegisterCallbacks, (cupti_requested request, cupti_completed complete))
{
	CUPTI_BEGIN();
	CUPTI_ALONE();
	if (!request || !complete)
		return cupti_said(CUPTI_INVALID_PARAMETER);
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
	CUPTI_ALONE();
	if (!(flag & 1) && cupti_knobs.alone_ms)
		usleep(cupti_knobs.alone_ms * 1000);
	cupti_lock();
	registered = requested != NULL;
	before = telling;
	cupti_unlock();
	if (!registered)
		return cupti_said(CUPTI_INVALID_OPERATION);
	start = cupti_kinds[KIND_OVERHEAD] ? cupti_now() : 0;
	cupti_flush(flag & 1, false);
	if (start && telling > before)	/* else each flush would be the reason for the next */
		cupti_put(&(union cupti_record){ .overhead = {
			.kind = KIND_OVERHEAD, .overhead = OVERHEAD_FLUSH, .object = 1, .object_id = { getpid() }, .start = start,
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
	(void)ms;	/* brings back what is full and complete, which happens at once here */
	return CUPTI_OK;
}

API(cuptiActivityGetNumDroppedRecords, (void *ctx, uint32_t stream, size_t *n))
{
	CUPTI_BEGIN();
	(void)ctx, (void)stream;
	if (!n)
		return cupti_said(CUPTI_INVALID_PARAMETER);
	cupti_lock();
	*n = dropped;
	dropped = 0;
	cupti_unlock();
	return CUPTI_OK;
}

API(cuptiActivityGetNextRecord, (uint8_t *buffer, size_t used, uint8_t **record))
{
	uint8_t *at;

	CUPTI_BEGIN();
	if (!buffer || !record)
		return cupti_said(CUPTI_INVALID_PARAMETER);
	at = *record ? *record + cupti_size(*(uint32_t *)*record) : buffer;
	if (at >= buffer + used)
		return CUPTI_LIMIT_REACHED;
	if (!cupti_size(*(uint32_t *)at))
		return CUPTI_INVALID_KIND;
	*record = at;
	return CUPTI_OK;
}
