/* State of the traced process and of its threads, and their registration with gtcollect.
 *
 * gt_register_thread maps gtcollect's shared memory at the first traced call of the process and
 * takes a slot there for the process and for each thread. All functions preserve errno and may be
 * called in a forked child. */
#ifndef GT_GUEST_SESSION_H
#define GT_GUEST_SESSION_H
#include "collect/guest/core/guest_system.h"
#include "collect/ipc/ring.h"
#include "formats/arch/arch.h"

/* ---- a thread ---- */
/* for how many handles a thread remembers that it has written their names to its ring */
#define GT_SENT_NAMES 512
/* for how many texts a thread remembers that it has written them to its ring */
#define GT_SENT_TEXTS 64
/* for how many texts registered by NVTX a thread remembers that it has written them */
#define GT_SENT_REGISTERED 4096

/* Control block of a thread. */
struct gt_tcb {
	/* what every call needs, in one cache line (arch_x86_64.h knows these offsets) */
	struct gt_ring_thread *ring; /* NULL: not registered */
	uint8_t *base;               /* the record of position p is written at base + p */
	uint64_t position, limit;    /* limit: the position at which the current chunk ends */
	uint32_t depth;              /* calls in progress, and GT_COMMITTING */
	uint8_t ticks, args;         /* copied from the session */
	uint8_t fast_path;           /* 1: calls may take the fast path */
	uint8_t stacks;              /* 1: some calls carry their stack */
	uint32_t chunk;              /* index of the current chunk; GT_RING_NIL: none */
	uint64_t number;             /* of that chunk in the chain */
	/* low ends of the stack frames of open calls; the first one is in that cache line, too */
	uintptr_t frames[GT_RING_OPEN_MAX];
	/* Real functions of the fast path by id; NULL: the call takes the typed wrapper. The table
	 * is in the control block and not in the process: most ids share the page of the cache line
	 * above, and pages are expensive where the program fills the TLB. */
	void *fast[GT_API_MAX];
	/* the rest */
	uint8_t uncertain_entries; /* see gt_ring_pop_abandoned */
	int32_t tid;               /* 0: never used */
	/* device of the last allocation written to the ring, plus 2; 0: none yet */
	uint32_t device;
	uint32_t generation; /* of the slot */
	uint32_t names_epoch;
	uint64_t sent_names[GT_SENT_NAMES];
	uint64_t sent_texts[GT_SENT_TEXTS];
	uint64_t sent_registered[GT_SENT_REGISTERED / 64]; /* one bit each, by number */
	uint32_t calls_seen[GT_IDS];                       /* calls by id, for --sample */
	struct gt_stack_state *stack_state; /* of stack_table.c; NULL: no stack was taken yet */
} __attribute__((aligned(4096)));
_Static_assert(offsetof(struct gt_tcb, frames) == 56, "what every call needs is in one cache line");
/* never NULL: an empty control block until registered */
extern __thread struct gt_tcb *gt_self GT_TLS;
/* the second ring of a thread that writes records for others; NULL */
extern __thread struct gt_tcb *gt_producer_self GT_TLS;
/* this thread runs guest code: its driver calls are not traced */
extern __thread bool gt_inside GT_TLS;
/* Sets gt_inside up to the end of the block, and restores errno there. */
struct gt_guest_code {
	bool was_inside;
	int saved_errno;
};
static inline struct gt_guest_code gt_guest_code_begin(void)
{
	struct gt_guest_code c = { gt_inside, errno };

	gt_inside = true;
	return c;
}
static inline void gt_guest_code_end(const struct gt_guest_code *c)
{
	gt_inside = c->was_inside;
	errno = c->saved_errno;
}
#define GT_GUEST_CODE                                                                              \
	__attribute__((cleanup(gt_guest_code_end), unused))                                        \
	const struct gt_guest_code guest_code = gt_guest_code_begin()

/* ---- the process ---- */
/* NULL until attached; then mapped until the process ends */
extern struct gt_session *gt_shared;
/* points to 1 while calls are recorded, and until that is known */
extern const uint32_t *gt_recording;
/* there is no recorder, or it has ended: nothing is recorded any more */
extern bool gt_passive;

static inline struct gt_ring_proc *gt_procs(void)
{
	return (void *)((uint8_t *)gt_shared + gt_shared->procs_at);
}
static inline struct gt_ring_thread *gt_threads(void)
{
	return (void *)((uint8_t *)gt_shared + gt_shared->threads_at);
}

struct gt_interned_name {
	uint64_t handle;
	/* offset in texts << 32 | length; GT_NAME_QUERY: a kernel whose name the driver knows */
	uint64_t text;
};
#define GT_NAME_QUERY 1
#define GT_NAMES 8192
#define GT_TEXTS (1u << 20) /* bytes */
/* State of one process; the kernel clears it in a forked child. */
struct gt_process_state {
	int32_t pid;         /* 0: not attached (yet, or in a forked child) */
	uint32_t proc;       /* slot; GT_RING_NIL: none was free */
	uint32_t has_thread; /* 1: a thread of the process has a ring */
	uint32_t tcbs_used;  /* control blocks ever used */
	/* where the search for a control block of an ended thread goes on */
	uint32_t next_tcb;
	uint32_t names_epoch; /* rises when a handle gets another name */
	uint32_t texts_used;  /* bytes */
	struct gt_interned_name names[GT_NAMES];
	char texts[GT_TEXTS];
	struct gt_tcb tcb[];
};
extern struct gt_process_state *gt_process_state;

/* This thread's control block with a ring; attaches the process first. NULL: the thread is not
 * traced. */
struct gt_tcb *gt_register_thread(void);
/* The ring to which this thread writes records for other threads: its own ring, else a second one
 * (GT_RING_PRODUCER in ring.h) that it takes at the first call. NULL: no ring is free. */
struct gt_tcb *gt_producer_ring(void);
/* Copies the session's name from the environment, which a signal handler must not read. */
void gt_session_remember(void);
/* gtcollect has loaded the library into the running program (guest_attach.c) */
extern bool gt_attached;
/* The program was bound to its functions before the library was loaded, so the library replaces
 * none of them. */
static inline bool gt_is_loaded_late(void)
{
	return gt_attached || (gt_shared && gt_shared->inject);
}
/* Connects to this session, once or again. Called on a thread of the guest. False: it failed. */
bool gt_session_attach(const char *session);
void gt_session_report_attached(void); /* everything is recorded from now on */
/* Threads of an attached program that run code of the guest now. */
extern uint32_t gt_session_users;
static inline void gt_session_enter(void)
{
	if (gt_attached)
		__atomic_fetch_add(&gt_session_users, 1, __ATOMIC_SEQ_CST);
}
static inline void gt_session_leave(void)
{
	if (gt_attached)
		__atomic_fetch_sub(&gt_session_users, 1, __ATOMIC_SEQ_CST);
}
/* Forgets the session, as soon as no thread is between the two functions above. */
void gt_session_detach(void);
/* The session is over: gtcollect has died, or it ends the recording of a running program. */
bool gt_session_is_over(void);
void gt_stop_recording(void); /* nothing is recorded any more in this process */
bool gt_owner_has_died(void); /* gtcollect has died */
/* The calling thread was started by the guest or by CUPTI: it is not the program's. Once a thread,
 * while the process is attached. */
void gt_note_started_thread(enum gt_thread_starter by);
void gt_count_untraced(void); /* counts a call that passes untraced */
/* starts or stops recording; ignored if the session uses another mode */
void gt_set_range_active(enum gt_range_mode mode, bool on);

/* ---- clocks ---- */
uint64_t gt_slow_clock(void); /* ns of CLOCK_MONOTONIC while there is a session, else 1 */
/* Now, in the session's unit: ticks or ns. */
uint64_t gt_session_now(void);
static inline uint64_t gt_now(const struct gt_tcb *t)
{
	return gt_likely(t->ticks) ? gt_ticks() : gt_slow_clock();
}
#endif
