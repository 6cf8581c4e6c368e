/* A small gtcollect for tests of the guest: it creates the session's memory and socket, runs a
 * program under LD_PRELOAD and reads its rings. Not thread-safe; trusts its memory; for tests
 * only. */
#ifndef GUEST_HOST_H
#define GUEST_HOST_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "collect/ipc/ring.h"

struct seen { /* a record, or a call still open (end 0) */
	int32_t pid, tid, ret;
	uint64_t start, end;
	unsigned kind, id, depth, nargs;
	uint64_t args[GT_FIELDS_MAX];
	char text[200];
};
struct host_cursor {
	uint32_t generation, chunk;
	uint64_t number, position;
};
struct host {
	char dir[100], library[4096];
	int memory, listener, stop[2];
	struct gt_session *s;
	pthread_t usher;
	unsigned knocks;
	unsigned late_us; /* a connecting process waits this long */
	struct host_cursor *cursors;
	struct seen *seen;
	size_t nseen, cap;
	bool discard; /* count only */
	uint64_t counted;
};

static struct gt_ring_proc *host_procs(struct host *h)
{
	return (void *)((uint8_t *)h->s + h->s->procs_at);
}
static struct gt_ring_thread *host_threads(struct host *h)
{
	return (void *)((uint8_t *)h->s + h->s->threads_at);
}
static struct gt_ring_chunk *host_chunk(struct host *h, uint32_t i)
{
	return (void *)((uint8_t *)h->s + h->s->chunks_at + (uint64_t)i * h->s->chunk_bytes);
}

static void host_give(struct host *h, uint32_t i)
{
	uint64_t head = __atomic_load_n(&h->s->free_head, __ATOMIC_ACQUIRE), tagged;

	do {
		host_chunk(h, i)->next = (uint32_t)head;
		tagged = ((head >> 32) + 1) << 32 | i;
	} while (!__atomic_compare_exchange_n(
		&h->s->free_head, &head, tagged, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE));
	__atomic_fetch_add(&h->s->free_count, 1, __ATOMIC_RELAXED);
	if (__atomic_load_n(&h->s->waiters, __ATOMIC_SEQ_CST)) {
		__atomic_fetch_add(&h->s->space, 1, __ATOMIC_SEQ_CST);
		syscall(SYS_futex, &h->s->space, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
	}
}

static void *host_usher(void *arg)
{
	struct host *h = arg;
	struct pollfd p[2] = { { h->listener, POLLIN, 0 }, { h->stop[0], POLLIN, 0 } };

	while (poll(p, 2, -1) >= 0 && !p[1].revents) {
		union {
			char room[CMSG_SPACE(sizeof(int))];
			struct cmsghdr align;
		} u = { { 0 } };
		struct iovec v = { "m", 1 };
		struct msghdr m = { .msg_iov = &v,
			.msg_iovlen = 1,
			.msg_control = u.room,
			.msg_controllen = sizeof(u.room) };
		struct cmsghdr *c = CMSG_FIRSTHDR(&m);
		int s = accept4(h->listener, NULL, NULL, SOCK_CLOEXEC);

		usleep(h->late_us);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &h->memory, sizeof(int));
		/* before the answer, because a short program ends early */
		__atomic_fetch_add(&h->knocks, 1, __ATOMIC_RELAXED);
		sendmsg(s, &m, MSG_NOSIGNAL);
		close(s);
	}
	return NULL;
}

static void host_memory(struct host *h, uint32_t nthreads, uint32_t nchunks, uint32_t chunk_bytes)
{
	struct gt_session s = { .magic = GT_RING_MAGIC,
		.version = GT_RING_VERSION,
		.bytes_of_this = sizeof(s),
		.ticks = 1 };

	s.nprocs = 64;
	s.nthreads = nthreads;
	s.nchunks = nchunks;
	s.chunk_bytes = chunk_bytes;
	s.procs_at = (sizeof(s) + 63) & ~63ULL;
	s.threads_at = (s.procs_at + s.nprocs * sizeof(struct gt_ring_proc) + 63) & ~63ULL;
	s.bits_at = s.threads_at + s.nthreads * sizeof(struct gt_ring_thread);
	s.bits_bytes = (s.nthreads / 8 + s.nprocs / 8 + 8 + 7) & ~7ULL;
	s.chunks_at = (s.bits_at + GT_BITS * s.bits_bytes + 4095) & ~4095ULL;
	s.bytes = s.chunks_at + (uint64_t)nchunks * chunk_bytes;
	s.ring_max = UINT64_MAX / 2;
	s.ioctls = 1;
	s.recording = 1;
	memset(s.gate, GT_GATE_ON, sizeof(s.gate));
	h->memory = memfd_create("rings", MFD_CLOEXEC);
	if (h->memory < 0 || ftruncate(h->memory, (off_t)s.bytes))
		abort();
	h->s = mmap(NULL, s.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, h->memory, 0);
	*h->s = s;
	h->s->free_head = GT_RING_NIL;
	for (uint32_t i = nchunks; i-- > 0;)
		host_give(h, i);
	h->cursors = calloc(nthreads, sizeof(*h->cursors));
}

/* library: path of libgtpreload.so, for host_spawn; or NULL */
static void host_open(struct host *h, const char *library, uint32_t nthreads, uint32_t nchunks,
	uint32_t chunk_bytes)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	memset(h, 0, sizeof(*h));
	host_memory(h, nthreads, nchunks, chunk_bytes);
	strcpy(h->dir, "/tmp/gt-test-XXXXXX");
	if (!mkdtemp(h->dir) || pipe(h->stop))
		abort();
	if (library && !realpath(library, h->library))
		abort();
	snprintf(a.sun_path, sizeof(a.sun_path), "%s/sock", h->dir);
	h->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(h->listener, (struct sockaddr *)&a, sizeof(a)) || listen(h->listener, 64))
		abort();
	pthread_create(&h->usher, NULL, host_usher, h);
}

static void host_close(struct host *h)
{
	char path[160];

	if (write(h->stop[1], "x", 1) == 1)
		pthread_join(h->usher, NULL);
	close(h->listener), close(h->stop[0]), close(h->stop[1]), close(h->memory);
	snprintf(path, sizeof(path), "%s/sock", h->dir);
	unlink(path);
	rmdir(h->dir);
	munmap(h->s, h->s->bytes);
	free(h->cursors);
	free(h->seen);
}

/* Runs argv under the library; its standard output goes to /dev/null unless GT_DEBUG is set. */
__attribute__((unused)) static pid_t host_spawn(struct host *h, char *const argv[])
{
	char session[sizeof(h->dir) + sizeof(h->library)];
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* the child ends with a failed test */
	snprintf(session, sizeof(session), "%s:%s", h->dir, h->library);
	setenv(GT_RING_SESSION, session, 1);
	setenv("LD_PRELOAD", h->library, 1);
	execv(argv[0], argv);
	_exit(127);
}

static struct seen *host_add(struct host *h)
{
	if (h->nseen == h->cap) {
		h->cap = h->cap ? h->cap * 2 : 256;
		h->seen = realloc(h->seen, h->cap * sizeof(*h->seen));
	}
	memset(&h->seen[h->nseen], 0, sizeof(*h->seen));
	return &h->seen[h->nseen++];
}

static uint64_t host_record(struct host *h, const struct gt_ring_thread *t, const struct gt_rec *r)
{
	unsigned kind = r->kind_depth >> 5;
	bool counted = kind == GT_REC_CALL || kind == GT_REC_EVENT;
	uint64_t words = counted ? r->nargs : (r->end + 7) / 8;
	struct seen *s;

	h->counted += kind == GT_REC_CALL;
	if (h->discard)
		return sizeof(*r) + 8 * words;
	s = host_add(h);
	s->pid = host_procs(h)[t->proc].pid;
	s->tid = t->tid;
	s->kind = kind;
	s->start = r->start;
	s->end = r->end;
	s->id = r->id;
	s->ret = r->ret;
	s->depth = r->kind_depth & 31;
	s->nargs = r->nargs;
	if (counted)
		memcpy(s->args, r->args, 8 * words);
	else
		snprintf(s->text, sizeof(s->text), "%.*s", (int)r->end, (const char *)r->args);
	return sizeof(*r) + 8 * words;
}

static void host_drain_thread(struct host *h, struct gt_ring_thread *t, struct host_cursor *c)
{
	uint64_t payload = h->s->chunk_bytes - sizeof(struct gt_ring_chunk);
	uint64_t to = __atomic_load_n(&t->word, __ATOMIC_ACQUIRE) >> 8;

	if (c->generation != t->generation)
		*c = (struct host_cursor){ t->generation, t->first, 0, 0 };
	while (c->position < to) {
		uint64_t at = c->position % payload;
		struct gt_ring_chunk *k;

		if (c->number < c->position / payload) {
			uint32_t left = c->chunk;

			c->chunk = __atomic_load_n(&host_chunk(h, left)->next, __ATOMIC_ACQUIRE);
			c->number++;
			host_give(h, left);
		}
		k = host_chunk(h, c->chunk);
		if (at + sizeof(struct gt_rec) <= payload && *(uint64_t *)(k->payload + at))
			c->position += host_record(h, t, (struct gt_rec *)(k->payload + at));
		else
			c->position += payload - at;
	}
	__atomic_store_n(&t->consumed, c->position, __ATOMIC_RELEASE);
}

/* Reads all new records. */
static void host_drain(struct host *h)
{
	for (uint32_t i = 0; i < h->s->nthreads; i++)
		if (__atomic_load_n(&host_threads(h)[i].state, __ATOMIC_ACQUIRE) >= GT_SLOT_LIVE)
			host_drain_thread(h, &host_threads(h)[i], &h->cursors[i]);
}

/* Adds the calls that are open now, as seen with end 0. */
__attribute__((unused)) static void host_open_calls(struct host *h)
{
	for (uint32_t i = 0; i < h->s->nthreads; i++) {
		struct gt_ring_thread *t = &host_threads(h)[i];

		for (unsigned d = 0; t->state >= GT_SLOT_LIVE && d < (t->word & 255); d++) {
			struct seen *s;

			if (!t->open[d].start)
				/* not begun, although a handler's call within it has begun */
				continue;
			s = host_add(h);
			s->pid = host_procs(h)[t->proc].pid;
			s->tid = t->tid;
			s->start = t->open[d].start;
			s->id = t->open[d].id;
			s->depth = d;
			s->nargs = t->open[d].nargs;
			memcpy(s->args, t->open[d].args, sizeof(t->open[d].args));
		}
	}
}

/* The number of calls of this function so far; the first of them in *which (may be NULL). */
__attribute__((unused)) static unsigned host_count(
	const struct host *h, const char *name, const struct seen **which)
{
	uint32_t id = gt_api_find(name);
	unsigned n = 0;

	for (size_t i = 0; i < h->nseen; i++)
		if (h->seen[i].kind == GT_REC_CALL && h->seen[i].id == id && h->seen[i].end &&
			!n++ && which)
			*which = &h->seen[i];
	return n;
}
#endif
