/* Connects to gtcollect and takes slots in its memory: one for the process, one for each thread.
 *
 * GT_SESSION in the environment names the socket (ring.h). If no gtcollect listens there,
 * gt_recording points to a zero for the rest of the process, and each wrapper costs one test.
 *
 * All of this happens at a first traced call, with gt_inside set and errno preserved. A fork or a
 * vfork may happen between any two lines, so the state is valid only for the process id that is
 * stored with it. */
#define _GNU_SOURCE
#include "collect/guest/core/guest_session.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include "collect/guest/core/guest_elf.h"
#include "collect/guest/core/guest_fast_path.h"
#include "collect/guest/core/guest_hooks.h"
#include "collect/guest/core/guest_objects.h"

#define CONNECT_S 10   /* seconds to wait for the connection and its answer */
#define SLOT_WAIT_S 10 /* seconds that a new thread waits for a slot under --lossless */

static struct gt_tcb unregistered;
static const uint32_t one = 1, zero;
__thread struct gt_tcb *gt_self GT_TLS = &unregistered;
__thread struct gt_tcb *gt_producer_self GT_TLS;
__thread bool gt_inside GT_TLS;
__thread bool gt_interrupted GT_TLS;
/* after a failed registration: calls that pass before the next attempt */
static __thread uint32_t calls_to_skip GT_TLS, skip_after_failure GT_TLS;

struct gt_session *gt_shared;
const uint32_t *gt_recording = &one;
struct gt_process_state *gt_process_state;
/* futex: the process id of the thread that attaches */
static uint32_t attaching;
bool gt_passive;
bool gt_attached;
uint32_t gt_session_users;
/* of gt_session_attach: FOLDER: or fd:N; of gt_session_remember: GT_SESSION */
static const char *attached_session;

#ifdef GT_HOSTED
const char *gt_hosted_session = ""; /* FOLDER: */
#endif

/* ---- small functions ---- */

uint64_t gt_slow_clock(void) { return gt_shared ? gt_monotonic() : 1; }

uint64_t gt_session_now(void)
{
	return gt_shared && gt_shared->ticks ? gt_ticks() : gt_slow_clock();
}

bool gt_owner_has_died(void)
{
	return __atomic_load_n(&gt_shared->owner, __ATOMIC_ACQUIRE) & FUTEX_OWNER_DIED;
}

void gt_stop_recording(void)
{
	gt_passive = true;
	__atomic_store_n(&gt_recording, &zero, __ATOMIC_RELEASE);
	if (gt_self->ring) /* other threads notice it at the end of their chunks */
		__atomic_store_n(&gt_self->ring->open[0].pass, 1, __ATOMIC_RELAXED);
}

void gt_count_untraced(void)
{
	if (!gt_shared)
		return;
	__atomic_fetch_add(&gt_shared->untraced, 1, __ATOMIC_RELAXED);
	if (gt_process_state && gt_process_state->pid && gt_process_state->proc != GT_RING_NIL)
		__atomic_fetch_add(
			&gt_procs()[gt_process_state->proc].untraced, 1, __ATOMIC_RELAXED);
}

void gt_note_started_thread(enum gt_thread_starter by)
{
	struct gt_ring_proc *p;
	uint32_t i;

	if (!gt_shared || !gt_process_state || !gt_process_state->pid ||
		gt_process_state->proc == GT_RING_NIL)
		return;
	p = &gt_procs()[gt_process_state->proc];
	i = __atomic_fetch_add(&p->nstarted, 1, __ATOMIC_RELAXED);
	if (i < GT_RING_STARTED_THREADS)
		__atomic_store_n(&p->started[i], (uint64_t)by << 32 | (uint32_t)gt_own_tid(),
			__ATOMIC_RELEASE);
}

/* ---- the socket ---- */

/* Address of gtcollect's socket, and the process id that must own it; 0: any. */
struct address {
	struct sockaddr_un name;
	size_t bytes;
	int32_t pid;
};

/* "FOLDER/sock" of GT_SESSION=FOLDER:LIBRARY. If LIBRARY is not this library, another gtcollect
 * is meant: returns false. */
static bool session_address(struct address *to, const char *session)
{
	const char *colon = strchr(session, ':');
	size_t n = colon ? (size_t)(colon - session) : 0;

	*to = (struct address){ .name.sun_family = AF_UNIX, .bytes = sizeof(to->name) };
	if (!colon || n + sizeof("/sock") > sizeof(to->name.sun_path))
		return false;
	if (colon[1] && strcmp(gt_own_object()->path, colon + 1))
		return false;
	memcpy(to->name.sun_path, session, n);
	memcpy(to->name.sun_path + n, "/sock", sizeof("/sock"));
	return true;
}

static void ancestor_address(struct address *to, int32_t pid)
{
	const char *end = to->name.sun_path + sizeof(to->name.sun_path);
	char *at = to->name.sun_path + 1;

	*to = (struct address){ .name.sun_family = AF_UNIX, .pid = pid };
	at = gt_append_number(gt_append(at, end, GT_RING_ANCESTOR), end, (uint32_t)pid);
	to->bytes = (size_t)(at - (char *)&to->name);
}

/* 0: the parent is not visible. */
static int32_t parent_of(int32_t pid)
{
	char path[32], stat[256], *at = path;
	const char *p, *end = path + sizeof(path);
	int32_t parent = 0;

	at = gt_append_number(gt_append(at, end, "/proc/"), end, (uint32_t)pid);
	gt_append(at, end, "/stat");
	gt_read_text(path, stat, sizeof(stat));
	p = strrchr(stat, ')'); /* ") S PARENT"; any character may be before it */
	for (p = p && strlen(p) > 4 ? p + 4 : ""; *p >= '0' && *p <= '9'; p++)
		parent = parent * 10 + (*p - '0');
	return parent;
}

/* Is the peer the expected gtcollect, and does it run as root or as this user? The owner of the
 * shared memory can make this process do anything through its contents. */
static bool is_trusted(int s, int32_t pid)
{
	struct ucred who = { .uid = (uid_t)-1 };
	socklen_t size = sizeof(who);

	if (syscall(SYS_getsockopt, s, SOL_SOCKET, SO_PEERCRED, &who, &size) ||
		(pid && who.pid != pid))
		return false;
	if (!who.uid || who.uid == (uid_t)syscall(SYS_geteuid))
		return true;
	gt_debug("this is a session of another user:", "", who.uid);
	return false;
}

static int receive_fd(int from)
{
	char byte;
	struct iovec v = { &byte, 1 };
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct msghdr m = { .msg_iov = &v,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes) };
	struct cmsghdr *c;
	uint64_t until = gt_monotonic() + CONNECT_S * 1000000000ull;
	int fd = -1;
	long n;

	do
		n = syscall(SYS_recvmsg, from, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR && gt_monotonic() < until);
	c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
		c->cmsg_len >= CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(c), sizeof(int));
	return fd;
}

/* Connects to gtcollect, which identifies this process by the socket's credentials and sends the
 * memory's descriptor. Returns the descriptor or -1. If gtcollect has died it returns at once. If
 * gtcollect does not answer it waits CONNECT_S seconds, as nothing of this process is recorded
 * without the memory. */
static int connect_to(const struct address *at)
{
	struct timeval wait = { .tv_sec = CONNECT_S };
	int s, fd = -1;

	s = (int)syscall(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (s < 0)
		return -1;
	syscall(SYS_setsockopt, s, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	syscall(SYS_setsockopt, s, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	if (syscall(SYS_connect, s, &at->name, at->bytes))
		gt_debug("no session at", at->name.sun_path + !at->name.sun_path[0], errno);
	else if (is_trusted(s, at->pid))
		fd = receive_fd(s);
	syscall(SYS_close, s);
	return fd;
}

/* gtcollect has made the connection, for once: a fork has none. */
static int receive_from_connection(const char *number)
{
	int s = 0, fd;

	attached_session = NULL;
	while (*number >= '0' && *number <= '9')
		s = s * 10 + (*number++ - '0');
	fd = receive_fd(s);
	syscall(SYS_close, s);
	return fd;
}

static int connect_to_recorder(void)
{
	static const char connected[] = GT_RING_CONNECTED;
	const char *session = gt_environment(GT_RING_SESSION);
	struct address at;
	int32_t pid;
	int fd = -1;

#ifdef GT_HOSTED
	session = gt_hosted_session;
#endif
	if (attached_session)
		session = attached_session;
	if (attached_session && !strncmp(session, connected, sizeof(connected) - 1))
		return receive_from_connection(session + sizeof(connected) - 1);
	if (session && *session)
		return session_address(&at, session) ? connect_to(&at) : -1;
	pid = (int32_t)syscall(SYS_getppid);
	for (int i = 0; i < 64 && fd < 0 && pid > 0; i++, pid = parent_of(pid)) {
		ancestor_address(&at, pid);
		fd = connect_to(&at);
	}
	return fd;
}

/* ---- the process ---- */

static bool is_compatible(const struct gt_session *s, uint64_t bytes)
{
	return s->magic == GT_RING_MAGIC && s->version == GT_RING_VERSION &&
		s->bytes_of_this == sizeof(*s) && s->bytes == bytes &&
		s->procs_at + (uint64_t)s->nprocs * sizeof(struct gt_ring_proc) <= bytes &&
		s->threads_at + (uint64_t)s->nthreads * sizeof(struct gt_ring_thread) <= bytes &&
		s->bits_at + GT_BITS * s->bits_bytes <= bytes &&
		(s->nprocs > s->nthreads ? s->nprocs : s->nthreads) / 8 + 8 <= s->bits_bytes &&
		s->chunks_at + (uint64_t)s->nchunks * s->chunk_bytes <= bytes &&
		s->chunk_bytes >= 1024 && s->nthreads;
}

static bool map_session(int fd)
{
	long bytes = syscall(SYS_lseek, fd, 0L, SEEK_END), mapped;
	struct gt_session *s;

	if (bytes < (long)sizeof(*s))
		return false;
	mapped = syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0L);
	if (mapped == -1)
		return false;
	s = (struct gt_session *)mapped;
	if (!is_compatible(s, (uint64_t)bytes)) {
		gt_debug("this session is of another build:", "version", s->version);
		syscall(SYS_munmap, s, (size_t)bytes);
		return false;
	}
	gt_shared = s;
	return true;
}

/* The number of threads that a process may trace at a time. This reserves address space only: a
 * control block uses memory when it is used. */
static uint32_t tcbs_max(void) { return gt_shared->nthreads < 16384 ? gt_shared->nthreads : 16384; }

static bool map_own(void)
{
	gt_process_state = gt_map_of_process(
		sizeof(struct gt_process_state) + tcbs_max() * sizeof(struct gt_tcb));
	return gt_process_state;
}

static bool claim_slot(uint32_t *state)
{
	uint32_t expected = GT_SLOT_FREE;

	return __atomic_compare_exchange_n(
		state, &expected, GT_SLOT_TAKEN, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static uint64_t *bits_of(enum gt_ring_bits which, uint32_t i)
{
	return (uint64_t *)((uint8_t *)gt_shared + gt_shared->bits_at +
		       which * gt_shared->bits_bytes) +
		i / 64;
}

/* Sets the bit that makes the recorder look at slot i, which is LIVE now. */
static void announce_slot(enum gt_ring_bits which, uint32_t i)
{
	__atomic_fetch_or(bits_of(which, i), 1ull << i % 64, __ATOMIC_RELEASE);
}

static bool is_in_use(enum gt_ring_bits which, uint32_t i)
{
	return __atomic_load_n(bits_of(which, i), __ATOMIC_ACQUIRE) >> i % 64 & 1;
}

static uint32_t take_proc(int32_t pid)
{
	uint32_t from = __atomic_fetch_add(&gt_shared->proc_hint, 1, __ATOMIC_RELAXED), i;
	struct gt_ring_proc *p;

	for (uint32_t k = 0; k < gt_shared->nprocs; k++) {
		i = (from + k) % gt_shared->nprocs;
		p = &gt_procs()[i];
		if (is_in_use(GT_BITS_USED_PROCS, i) || !claim_slot(&p->state))
			continue;
		p->pid = pid;
		p->ppid = (int32_t)syscall(SYS_getppid);
		p->generation++;
		p->host_pid = 0;
		p->untraced = 0;
		p->nstarted = 0;
		memset(p->started, 0, sizeof(p->started));
		p->start_ticks = gt_session_now();
		gt_read_text("/proc/self/comm", p->comm, sizeof(p->comm));
		p->comm[strcspn(p->comm, "\n")] = 0;
		__atomic_store_n(&p->state, GT_SLOT_LIVE, __ATOMIC_RELEASE);
		announce_slot(GT_BITS_NEW_PROCS, i);
		return i;
	}
	return GT_RING_NIL;
}

static bool attach(int32_t pid)
{
	int fd = connect_to_recorder();
	/* a forked child without a connection still has the memory */
	bool ok = fd >= 0 || gt_shared;

	gt_objects_verify();
	if (ok && !gt_shared)
		ok = map_session(fd);
	if (fd >= 0)
		syscall(SYS_close, fd);
	if (!ok || gt_owner_has_died() || (!gt_process_state && !map_own())) {
		gt_stop_recording();
		return false;
	}
	gt_nvtx_process_attached();
	gt_process_state->proc = take_proc(pid);
	__atomic_store_n(&gt_process_state->pid, pid, __ATOMIC_RELEASE);
	if (!gt_passive && (gt_recording == &one))
		__atomic_store_n(&gt_recording, gt_shared->range ? &zero : &gt_shared->recording,
			__ATOMIC_RELEASE);
	gt_debug("attached, process slot", "", gt_process_state->proc);
	return true;
}

static bool is_attached(int32_t pid)
{
	return gt_process_state && __atomic_load_n(&gt_process_state->pid, __ATOMIC_ACQUIRE) == pid;
}

/* One thread attaches, the other threads wait for it. A child forked during the attach does not
 * wait, as it lacks the attaching thread. A child of vfork shares its parent's memory
 * and is not traced: it will call exec. */
static bool attach_once(int32_t pid)
{
	struct timespec wait = { .tv_nsec = 50000000 };
	uint32_t by;

	for (int tries = 0; tries < (CONNECT_S + 2) * 20; tries++) {
		if (gt_passive)
			return false;
		if (is_attached(pid))
			return true;
		if (gt_process_state && __atomic_load_n(&gt_process_state->pid, __ATOMIC_ACQUIRE))
			return false;
		by = __atomic_load_n(&attaching, __ATOMIC_ACQUIRE);
		if (by == (uint32_t)pid) {
			syscall(SYS_futex, &attaching, FUTEX_WAIT, by, &wait, NULL, 0);
			continue;
		}
		if (!__atomic_compare_exchange_n(&attaching, &by, (uint32_t)pid, false,
			    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			continue;
		if (!is_attached(pid))
			attach(pid);
		__atomic_store_n(&attaching, 0, __ATOMIC_RELEASE);
		syscall(SYS_futex, &attaching, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
	}
	return false;
}

void gt_set_range_active(enum gt_range_mode mode, bool on)
{
	if (gt_shared && gt_shared->range == mode && !gt_passive)
		__atomic_store_n(
			&gt_recording, on ? &gt_shared->recording : &zero, __ATOMIC_RELEASE);
}

/* ---- the thread ---- */

/* Marks the slot as done, as its thread has ended. The recorder cannot always see that: the
 * kernel may have given the thread id to a new thread. */
static void release_slot(struct gt_tcb *t)
{
	uint32_t live = GT_SLOT_LIVE;

	if (t->ring && __atomic_load_n(&t->ring->generation, __ATOMIC_ACQUIRE) == t->generation)
		__atomic_compare_exchange_n(&t->ring->state, &live, GT_SLOT_DONE, false,
			__ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* Keeps the memory for stacks, which the block's next owner uses. */
static void clear_tcb(struct gt_tcb *t)
{
	struct gt_stack_state *s = t->stack_state;

	gt_stack_forget(s);
	memset(t, 0, sizeof(*t));
	t->stack_state = s;
}

/* Returns the control block of an ended thread if one is among the next 8 blocks, else an unused
 * one. */
static struct gt_tcb *take_tcb(int32_t tid)
{
	uint32_t used = __atomic_load_n(&gt_process_state->tcbs_used, __ATOMIC_ACQUIRE), n;

	used = used < tcbs_max() ? used : tcbs_max();
	for (uint32_t k = 0; k < 8 && k < used; k++) {
		struct gt_tcb *t =
			&gt_process_state->tcb[__atomic_fetch_add(&gt_process_state->next_tcb, 1,
						       __ATOMIC_RELAXED) %
				used];
		int32_t old = __atomic_load_n(&t->tid, __ATOMIC_ACQUIRE);

		if (old <= 0 ||
			(old != tid &&
				(!syscall(SYS_tgkill, gt_process_state->pid, old, 0) ||
					errno != ESRCH)))
			continue;
		if (!__atomic_compare_exchange_n(
			    &t->tid, &old, -1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			continue;
		release_slot(t);
		clear_tcb(t);
		t->tid = -1;
		return t;
	}
	n = __atomic_fetch_add(&gt_process_state->tcbs_used, 1, __ATOMIC_ACQ_REL);
	if (n < tcbs_max())
		return &gt_process_state->tcb[n];
	__atomic_fetch_sub(&gt_process_state->tcbs_used, 1, __ATOMIC_ACQ_REL);
	return NULL;
}

/* The thread's block of an earlier session, which no other thread may get while this one lives. */
static struct gt_tcb *take_own_tcb(int32_t tid, enum gt_ring_role role)
{
	struct gt_tcb *t = role == GT_RING_PRODUCER ? gt_producer_self : gt_self;

	return t && !t->ring && t->tid == tid ? t : take_tcb(tid);
}

void gt_fast_path_disable(uint32_t id)
{
	uint32_t n = gt_process_state
		? __atomic_load_n(&gt_process_state->tcbs_used, __ATOMIC_ACQUIRE)
		: 0;

	for (uint32_t i = 0; i < n && i < tcbs_max(); i++)
		__atomic_store_n(&gt_process_state->tcb[i].fast[id], NULL, __ATOMIC_RELEASE);
}

static struct gt_ring_thread *take_slot(int32_t tid, enum gt_ring_role role)
{
	uint32_t from = __atomic_fetch_add(&gt_shared->thread_hint, 1, __ATOMIC_RELAXED);

	for (uint32_t k = 0; k < gt_shared->nthreads; k++) {
		uint32_t i = (from + k) % gt_shared->nthreads;
		struct gt_ring_thread *r = &gt_threads()[i];

		if (is_in_use(GT_BITS_USED_THREADS, i) ||
			__atomic_load_n(&r->state, __ATOMIC_RELAXED) != GT_SLOT_FREE ||
			!claim_slot(&r->state))
			continue;
		r->proc = gt_process_state->proc;
		r->tid = tid;
		r->role = role;
		r->first = r->taken = GT_RING_NIL;
		memset(r->name, 0, sizeof(r->name));
		/* prctl is the guest's own, which needs libc behind it (signal_functions.c) */
		syscall(SYS_prctl, PR_GET_NAME, r->name);
		for (uint32_t d = 0; d < GT_RING_OPEN_MAX; d++)
			r->open[d].start = 0;
		r->given_up = 0;
		r->word = r->dropped = r->dropped_from = r->dropped_to = r->deep = r->abandoned =
			r->in_handler = r->sampled_out = r->consumed = 0;
		__atomic_store_n(&r->generation, r->generation + 1, __ATOMIC_RELEASE);
		return r;
	}
	return NULL;
}

/* The recorder changes `recording` first and every slot's `pass` afterwards. So either this
 * thread sees the new `recording`, or the recorder sees this slot. */
static void set_initial_pass(struct gt_ring_thread *slot)
{
	uint32_t pass;

	do {
		pass = !__atomic_load_n(&gt_shared->recording, __ATOMIC_SEQ_CST);
		__atomic_store_n(&slot->open[0].pass, pass, __ATOMIC_SEQ_CST);
	} while (pass == __atomic_load_n(&gt_shared->recording, __ATOMIC_SEQ_CST));
}

/* Returns the process's slot. If none was free at the attach, one thread at a time tries again. */
static uint32_t own_proc_slot(void)
{
	uint32_t pid = (uint32_t)gt_process_state->pid,
		 by = __atomic_load_n(&attaching, __ATOMIC_ACQUIRE);

	if (gt_process_state->proc != GT_RING_NIL || by == pid ||
		!__atomic_compare_exchange_n(
			&attaching, &by, pid, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return gt_process_state->proc;
	if (gt_process_state->proc == GT_RING_NIL)
		gt_process_state->proc = take_proc((int32_t)pid);
	__atomic_store_n(&attaching, 0, __ATOMIC_RELEASE);
	return gt_process_state->proc;
}

/* *full: there is no free slot. NULL without *full: there is no free chunk. */
static struct gt_tcb *new_thread(enum gt_ring_role role, bool *full)
{
	int32_t tid = gt_own_tid();
	struct gt_ring_thread *slot = own_proc_slot() == GT_RING_NIL ? NULL : take_slot(tid, role);
	struct gt_tcb *t = slot ? take_own_tcb(tid, role) : NULL;

	*full = !t;
	if (!t) {
		if (slot)
			__atomic_store_n(&slot->state, GT_SLOT_FREE, __ATOMIC_RELEASE);
		return NULL;
	}
	t->chunk = GT_RING_NIL;
	t->ticks = (uint8_t)gt_shared->ticks;
	t->args = (uint8_t)gt_shared->args;
	t->stacks = (uint8_t)gt_shared->stacks;
	t->fast_path = t->ticks && t->args < GT_ARGS_ALL && gt_shared->range == GT_RANGE_ALWAYS;
	t->generation = slot->generation;
	t->ring = slot;
	if (!gt_ring_take_chunk(t)) {
		t->ring = NULL;
		__atomic_store_n(&slot->state, GT_SLOT_FREE, __ATOMIC_RELEASE);
		/* the id of no thread: take_tcb reuses the block */
		__atomic_store_n(&t->tid, 0x7fffffff, __ATOMIC_RELEASE);
		return NULL;
	}
	set_initial_pass(slot);
	__atomic_store_n(&t->tid, tid, __ATOMIC_RELEASE);
	__atomic_store_n(&slot->state, GT_SLOT_LIVE, __ATOMIC_RELEASE);
	announce_slot(GT_BITS_NEW_THREADS, (uint32_t)(slot - gt_threads()));
	return t;
}

/* --lossless: tries again whenever the recorder has freed something, and holds no slot or chunk
 * while it waits. A chunk is freed eventually, as there are more chunks than slots. A slot is
 * freed when a thread ends, but that thread may wait for this one: so the wait for a slot has a
 * limit. */
static struct gt_tcb *wait_for_ring(enum gt_ring_role role)
{
	/* only the first wait; after a failed one a thread does not wait for a slot */
	uint64_t until = skip_after_failure ? 0 : gt_monotonic() + SLOT_WAIT_S * 1000000000ull;
	struct timespec wait = { .tv_nsec = 50000000 };
	struct gt_tcb *t = NULL;
	bool full = false;

	__atomic_fetch_add(&gt_shared->waiters, 1, __ATOMIC_SEQ_CST);
	while (!t && !gt_owner_has_died() && !(full && gt_monotonic() > until)) {
		uint32_t space = __atomic_load_n(&gt_shared->space, __ATOMIC_SEQ_CST);

		t = new_thread(role, &full);
		if (!t)
			syscall(SYS_futex, &gt_shared->space, FUTEX_WAIT, space, &wait, NULL, 0);
	}
	__atomic_fetch_sub(&gt_shared->waiters, 1, __ATOMIC_SEQ_CST);
	return t;
}

static struct gt_tcb *register_with_role(enum gt_ring_role role)
{
	int saved = errno;
	struct gt_tcb *t = NULL;
	bool first = false, full;

	if (gt_passive || gt_inside)
		return NULL;
	if (calls_to_skip) {
		calls_to_skip--;
		gt_count_untraced();
		return NULL;
	}
	gt_inside = true;
	if (attach_once(gt_own_pid()) && !gt_owner_has_died()) {
		t = new_thread(role, &full);
		if (!t && gt_shared->lossless)
			t = wait_for_ring(role);
	}
	if (t) {
		first = !__atomic_exchange_n(&gt_process_state->has_thread, 1, __ATOMIC_ACQ_REL);
		*(role == GT_RING_PRODUCER ? &gt_producer_self : &gt_self) = t;
	} else if (!gt_passive) {
		/* no slot or chunk is free: try again, but not at every call */
		gt_count_untraced();
		skip_after_failure = skip_after_failure
			? skip_after_failure < 65536 ? skip_after_failure * 2 : skip_after_failure
			: 64;
		calls_to_skip = skip_after_failure;
	}
	if (first) {
		gt_gpu_report_fork();
		gt_stack_start();
	}
	gt_inside = false;
	errno = saved;
	return t;
}

/* ---- sessions of a running program ---- */

bool gt_session_attach(const char *session)
{
	attached_session = session;
	gt_attached = true;
	gt_shared = NULL; /* a forked child has its parent's */
	gt_passive = false;
	__atomic_store_n(&gt_recording, &one, __ATOMIC_RELEASE);
	return gt_producer_ring();
}

void gt_session_remember(void)
{
	static char copy[GT_RING_PATH + 256];
	const char *session = gt_environment(GT_RING_SESSION);
	size_t n = session ? strlen(session) : sizeof(copy);

	if (n >= sizeof(copy))
		return;
	memcpy(copy, session, n + 1);
	attached_session = copy;
}

void gt_session_report_attached(void)
{
	__atomic_fetch_add(&gt_shared->attached, 1, __ATOMIC_ACQ_REL);
}

bool gt_session_is_over(void)
{
	return gt_owner_has_died() ||
		__atomic_load_n(&gt_shared->detach, __ATOMIC_ACQUIRE) == GT_DETACH_NOW;
}

/* Threads keep pointers to their control blocks, so these stay where they are, without a ring. */
void gt_session_detach(void)
{
	struct gt_session *s = gt_shared;
	uint32_t n = gt_process_state->tcbs_used;
	int32_t tid;

	gt_stop_recording();
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	while (__atomic_load_n(&gt_session_users, __ATOMIC_SEQ_CST))
		gt_sleep(100000);
	gt_stack_end();
	for (uint32_t i = 0; i < n && i < tcbs_max(); i++) {
		struct gt_tcb *t = &gt_process_state->tcb[i];

		tid = t->tid;
		gt_stack_free(t->stack_state);
		memset(t, 0, sizeof(*t));
		t->tid = tid;
	}
	gt_process_state->has_thread = 0;
	__atomic_store_n(&gt_process_state->pid, 0, __ATOMIC_RELEASE);
	gt_shared = NULL;
	__atomic_fetch_sub(&s->attached, 1, __ATOMIC_ACQ_REL);
	syscall(SYS_munmap, s, s->bytes);
}

struct gt_tcb *gt_register_thread(void) { return register_with_role(GT_RING_CALLER); }

struct gt_tcb *gt_producer_ring(void)
{
	bool was = gt_inside;
	struct gt_tcb *t = gt_self->ring ? gt_self : gt_producer_self;

	gt_inside = false;
	if (!t || !t->ring)
		t = register_with_role(GT_RING_PRODUCER);
	gt_inside = was;
	return t;
}
