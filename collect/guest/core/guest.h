/* Inside the traced program.
 *
 * libgtpreload.so stands between a program and its CUDA driver. The program reaches a driver function by one of three ways:
 * its own linkage, dlsym, or cuGetProcAddress; on each it is handed a wrapper (generated from formats/cuda/cuda_api.def), which
 * notes the time, calls the real function, notes the time again, and leaves a record in memory that gtcollect reads (ring.h).
 *
 *   guest_objects.c  which libraries are loaded
 *   guest_find.c     what they export: the loader's own tables, read without the loader
 *   guest_resolve.c  dlsym and cuGetProcAddress: wrappers for functions
 *   guest_session.c  finding gtcollect, taking a place in its memory: once per process, once per thread
 *   guest_plain.c    the short way of most calls
 *   guest_ring.c     the slow ways in and out of a call: a full chunk, losses, nesting; texts
 *   guest_args.c     argument words; names of kernels
 *   guest_files.c    ioctl, open, close, mmap of the driver's files
 *   guest_gpu.c      what the GPU did, from CUPTI; guest_records.c makes events of its records
 *   guest_clock.c    the clock that CUPTI gets
 *   guest_events.c   how long it took, from CUDA events where there is no CUPTI; guest_events_read.c reads them
 *   guest_others.c   other users of CUPTI in the process
 *   guest_callbacks.c  being CUPTI's subscriber, while that is needed
 *   guest_inject.c   a program that we were not preloaded into, but that its driver loaded us into
 *   guest_probes.c   USDT: what tracers of the system attach to
 *   guest_exec.c     exec and abort: what CUPTI still has comes back before
 *   guest_graph.c    which call makes which node of a graph
 *   guest_nvtx.c     annotations of the program, by NVTX injection; guest_nvtx_payload.c those with payloads
 *   gen_wrappers.c   makes the wrappers, at build time
 *
 * We are guests. So: no malloc, no lock, no stdio, no exit; nothing of libc newer than 2.17; errno as found; before a first
 * driver call we only look for functions of libc, and without gtcollect nothing more is done. What goes wrong on our side means
 * "not traced, and counted", never an error of the program.
 *
 * FORK. All that belongs to one process lies in one mapping that the kernel empties in a forked child (MADV_WIPEONFORK). The
 * child's first call finds no ring, takes the slow way, and becomes a process of its own; the parent's rings are never touched.
 * Another thread of the parent may have held any lock at the fork. Nobody unlocks it in the child, so nothing that runs there
 * takes a lock of libc or of the loader (guest_objects.c). The start of CUPTI does: guest_gpu.c tests these locks in a thread
 * of its own before.
 */
#ifndef GT_GUEST_H
#define GT_GUEST_H
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "collect/ipc/ring.h"
#include "formats/arch/arch.h"

#define GT_EXPORT __attribute__((visibility("default")))
#define gt_likely(x) __builtin_expect(!!(x), 1)
#define gt_unlikely(x) __builtin_expect(!!(x), 0)
#define GT_TLS __attribute__((tls_model("initial-exec")))

/* ---- a thread ---- */
#define GT_NAMED 512		/* handles whose name this thread has told already */
#define GT_TOLD 64		/* likewise texts */
#define GT_REGISTERED 4096	/* texts that the program has registered, of which a thread knows which it has told */
struct gt_tcb {
	/* what every call needs, in one cache line (arch_x86_64.h knows these places) */
	struct gt_ring_thread *ring;	/* NULL: not registered */
	uint8_t *base;			/* the record of position p is written at base + p */
	uint64_t position, limit;	/* limit: the position at which the chunk in use ends */
	uint32_t depth;			/* calls in progress; and GT_COMMITTING */
	uint8_t ticks, args;		/* from the session */
	uint8_t plain;			/* calls may go guest_plain.c's way */
	uint32_t chunk;			/* in use; GT_RING_NIL: none */
	uint64_t number;		/* of that chunk in the chain */
	uintptr_t frames[GT_RING_OPEN_MAX];	/* low ends of the stack frames of open calls; the first is in that line, too */
	void *fast[GT_API_MAX];		/* what to call, of functions that are recorded without more ado; NULL: take the typed way.
					 * Here, not in a table of the process: most ids share the page of the line above, and pages
					 * are dear where a program has no room left for them among its cached translations */
	/* the rest */
	uint8_t doubts;			/* gt_pop_abandoned's */
	int32_t tid;			/* 0: never used */
	uint32_t device;		/* told of, and two: what it allocates on; 0: not yet */
	uint32_t generation;		/* of the slot */
	uint32_t names_epoch;
	uint64_t named[GT_NAMED];
	uint64_t told[GT_TOLD];
	uint64_t registered[GT_REGISTERED / 64];	/* a bit each, by number */
	uint32_t seen[GT_IDS];		/* calls by id, for --sample */
} __attribute__((aligned(4096)));
_Static_assert(offsetof(struct gt_tcb, frames) == 56, "what every call needs, in one cache line");
extern __thread struct gt_tcb *gt_self GT_TLS;	/* never NULL: a blank one until registered */
extern __thread struct gt_tcb *gt_telling GT_TLS;	/* NULL, or of a thread that tells what others did; its calls go elsewhere */
extern __thread bool gt_inside GT_TLS;		/* our own doings: not to be traced */

/* ---- the process ---- */
extern struct gt_session *gt_shared;	/* NULL until attached; stays mapped for good */
extern const uint32_t *gt_live;		/* what says whether to record now: 1 until it is known */
extern void *gt_real[GT_API_MAX];	/* what a wrapper calls, by id; NULL: not resolved yet */
extern void *const gt_wrapper[];	/* generated: the wrappers, by id */
extern bool gt_passive;			/* nobody records, or not any more */
extern void *const gt_typed[];		/* generated: the typed wrappers, which the short way falls back on */

static inline struct gt_ring_proc *gt_procs(void) { return (void *)((uint8_t *)gt_shared + gt_shared->procs_at); }
static inline struct gt_ring_thread *gt_threads(void) { return (void *)((uint8_t *)gt_shared + gt_shared->threads_at); }

/* ---- a call ---- */
/* Set in depth while a record is written: a signal handler that calls the driver just then finds the position taken but not yet
 * advanced, and is counted as lost. */
#define GT_COMMITTING 0x100u
static inline void gt_commit(struct gt_tcb *t)
{
	__atomic_store_n(&t->depth, t->depth | GT_COMMITTING, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}
/* Takes the place of a call among the open ones, before anything is written there: a signal handler that calls the driver from
 * now on takes the next one. Until the place has its start, which comes last, nobody believes what it holds (gt_close cleared
 * the start of who had it before). frame: the low end of the call's stack frame. */
static inline struct gt_ring_open *gt_claim(struct gt_tcb *t, uint32_t depth, uintptr_t frame)
{
	__atomic_store_n(&t->depth, depth + 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t->frames[depth] = frame;
	return &t->ring->open[depth];
}
/* Publishes how many calls are open, and nothing else: the position may be a handler's by now. Little-endian, as both our
 * processors are. */
static inline void gt_tell_depth(struct gt_ring_thread *ring, uint32_t depth)
{
	__atomic_store_n((uint8_t *)&ring->word, (uint8_t)depth, __ATOMIC_RELEASE);
}
/* Publishes the position, and ends the commit. In this order: as long as the word is stale no handler may write. */
static inline void gt_publish(struct gt_tcb *t, uint32_t depth)
{
	__atomic_store_n(&t->ring->word, t->position << 8 | (depth & 255), __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&t->depth, depth, __ATOMIC_RELAXED);
}
/* The same at the end of the call at this depth. */
static inline void gt_close(struct gt_tcb *t, uint32_t depth)
{
	__atomic_store_n(&t->ring->word, t->position << 8 | depth, __ATOMIC_RELEASE);
	__atomic_store_n(&t->ring->open[depth].start, 0, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&t->depth, depth, __ATOMIC_RELAXED);
}

struct gt_call {
	struct gt_tcb *t;
	uint64_t start, end;
	uint32_t depth;
	uint16_t id;
};

uint64_t gt_monotonic(void);		/* ns of CLOCK_MONOTONIC */
uint64_t gt_slow_clock(void);		/* the same while there is a session */
static inline uint64_t gt_now(const struct gt_tcb *t) { return gt_likely(t->ticks) ? gt_ticks() : gt_slow_clock(); }

bool gt_enter_slowly(struct gt_call *c, uintptr_t frame);
/* Is this call to be recorded? Then gt_start, the call, gt_stop and one of the gt_record must follow. */
static inline __attribute__((always_inline)) bool gt_enter(struct gt_call *c, uint32_t id)
{
	struct gt_tcb *t = gt_self;

	if (gt_unlikely(!__atomic_load_n(gt_live, __ATOMIC_RELAXED)))
		return false;
	c->t = t;
	c->id = (uint16_t)id;
	c->depth = 0;
	if (gt_likely(t->ring && !t->depth && gt_shared->gate[id] == GT_GATE_ON))
		return true;
	return gt_enter_slowly(c, (uintptr_t)__builtin_frame_address(0));
}

static inline struct gt_ring_open *gt_claim_for(const struct gt_call *c) { return gt_claim(c->t, c->depth, (uintptr_t)c); }

_Static_assert(offsetof(struct gt_ring_open, nargs) == offsetof(struct gt_ring_open, id) + 2, "gt_start's head");
/* Publishes the call as begun. nargs words of open->args have been filled in (gt_claim_for came before). */
static inline void gt_start(struct gt_call *c, uint32_t nargs)
{
	struct gt_tcb *t = c->t;
	struct gt_ring_open *o = gt_claim_for(c);
	uint32_t head = c->id | nargs << 16;

	memcpy(&o->id, &head, sizeof(head));
	c->start = gt_now(t);
	__atomic_store_n(&o->start, c->start, __ATOMIC_RELEASE);
	gt_tell_depth(t->ring, c->depth + 1);
}

static inline void gt_stop(struct gt_call *c)
{
	c->end = gt_now(c->t);
	gt_commit(c->t);
}

void gt_record_words(const struct gt_call *c, int32_t ret, const uint64_t *words, uint32_t n);
/* The record of a call without argument words. */
static inline void gt_record(const struct gt_call *c, int32_t ret)
{
	struct gt_tcb *t = c->t;
	uint64_t at = t->position, *rec = (uint64_t *)(t->base + at);

	if (gt_unlikely(at + sizeof(struct gt_rec) > t->limit)) {
		gt_record_words(c, ret, NULL, 0);
		return;
	}
	rec[0] = c->start;
	rec[1] = c->end;
	rec[2] = c->id | (uint64_t)c->depth << 24 | (uint64_t)(uint32_t)ret << 32;
	t->position = at + sizeof(struct gt_rec);
	gt_close(t, c->depth);
}
_Static_assert(!GT_REC_CALL && offsetof(struct gt_rec, kind_depth) == 19 && offsetof(struct gt_rec, ret) == 20, "gt_record");

void gt_pop_abandoned(struct gt_tcb *t, uintptr_t frame);	/* forgets calls left by longjmp; frame: that of a new wrapper */
/* guest_plain.c. What all plain functions share; not to be called but by their stubs. */
int32_t gt_plain(uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t id);
/* May this call go the short way? t->fast[id] was there, so t has a ring. */
static inline __attribute__((always_inline)) bool gt_short_way(const struct gt_tcb *t)
{
	return gt_likely(!t->depth && !__atomic_load_n(&t->ring->open[0].pass, __ATOMIC_RELAXED));
}
extern uint32_t gt_capturing;	/* captures of streams into graphs that are on, where what GPUs do is recorded */
/* The typed wrapper of a function, let in, offers it to the short way. */
static inline void gt_offer(struct gt_tcb *t, uint32_t id, void *real)
{
	if (gt_unlikely(!t->fast[id]) && t->plain && gt_shared->gate[id] == GT_GATE_ON && !__atomic_load_n(&gt_capturing, __ATOMIC_RELAXED))
		t->fast[id] = real;
}
/* No thread may take the short way to a function any more until it is offered again: the driver was loaded anew, elsewhere. */
void gt_withdraw(uint32_t id);
/* For functions whose key arguments are values they were handed. */
struct gt_keyed {
	uint16_t id;
	uint8_t n, func;	/* words; which of them is the handle of a kernel, GT_NO_FUNC: none */
	uint64_t start;
	const uint64_t *words;
};
#define GT_NO_FUNC 255
void gt_begin(struct gt_tcb *t, struct gt_keyed *k);
int32_t gt_end(struct gt_tcb *t, const struct gt_keyed *k, int32_t ret);	/* returns ret */
/* The record of a call that the short way has no room for. Returns ret. */
int32_t gt_record_slowly(int32_t ret, uint64_t start, uint64_t end, uint32_t id, const uint64_t *words, uint32_t n);

/* guest_args.c: words are the call's parameters, as passed. */
void gt_tell_name(struct gt_tcb *t, uint64_t handle);	/* of a kernel, unless this thread has */
uint32_t gt_open_args(const struct gt_call *c, const uint64_t *words);	/* claims, fills open->args, returns how many */
void gt_record_args(const struct gt_call *c, int32_t ret, const uint64_t *words);
uint64_t gt_name_now(uint64_t handle);	/* of a kernel: where in gt_own->texts << 32 | length; 0: not known */
/* What some functions need done when they have returned, recorded or not. */
typedef void gt_after(int32_t ret, const uint64_t *words, const void *caller);
void gt_tell_captured(const struct gt_call *c, uint64_t stream);	/* while there are: was this call captured? */
/* A function of the driver as it is loaded now; looking for it takes longer than what it is wanted for. Zero-initialised knows none. */
struct gt_driver_function { void *function; uint32_t drivers; };
void *gt_ask_driver(struct gt_driver_function *a, const char *name);
gt_after gt_after_node, gt_after_graph, gt_after_begin_capture, gt_after_end_capture;
gt_after gt_after_get_proc, gt_after_get_function, gt_after_get_kernel, gt_after_kernel_function, gt_after_kernels,
	 gt_after_profiler_start, gt_after_profiler_stop, gt_after_init, gt_after_context_ends,
	 gt_after_device_ends;
extern gt_after *const gt_afters[];		/* generated: by id; NULL: nothing */
/* And what some need before they are called. */
typedef void gt_before(const uint64_t *words);
gt_before gt_before_begin_capture, gt_before_context_ends, gt_before_device_ends;
struct gt_arg { uint8_t param, how, role, key; uint16_t at; };
uint64_t gt_arg_value(struct gt_tcb *t, const struct gt_arg *a, const uint64_t *words, int32_t ret);	/* of one field */
extern const struct gt_arg gt_args[];		/* generated: the fields of all functions, one after the other */
extern const uint16_t gt_args_first[];		/* generated: where those of function id begin; gt_api_count + 1 entries */

/* ---- guest_ring.c ---- */
/* Room for so many bytes at t->position, or NULL: count the loss. */
uint8_t *gt_room(struct gt_tcb *t, uint32_t bytes);
void gt_lost(struct gt_tcb *t, uint64_t from, uint64_t to);	/* counts a call for which there is no chunk */
void gt_abandoned(struct gt_tcb *t);	/* counts one left by longjmp or an exception */
void gt_in_handler(struct gt_tcb *t);	/* counts one of a signal handler that came while a record was written */
/* A record that is no call. False when there was no room. */
bool gt_text(struct gt_tcb *t, enum gt_rec_kind kind, uint64_t start, const char *text, uint32_t len);
bool gt_put_event(struct gt_tcb *t, enum gt_ring_event id, uint64_t start, uint64_t end, const uint64_t *words, uint32_t n);
uint32_t gt_text_len(const char *text);		/* as much of it as a record may hold */
uint64_t gt_tell_string(struct gt_tcb *t, const char *text);	/* its hash, told by this thread before */
/* A call seen only when it is over. */
void gt_record_late(uint32_t id, uint64_t start, uint64_t end, int32_t ret, const uint64_t *words, uint32_t n);
bool gt_take_chunk(struct gt_tcb *t);	/* the next one, without waiting */
void gt_missing(const char *name);	/* the program found a driver function that the table lacks */

/* ---- guest_session.c ---- */
struct gt_interned_name {
	uint64_t handle;
	uint64_t text;		/* where in texts << 32 | length; GT_NAME_ASK: a kernel, ask the driver */
};
#define GT_NAME_ASK 1
#define GT_NAMES 8192
#define GT_TEXTS (1u << 20)
/* What is this process's alone. */
struct gt_own {
	int32_t pid;			/* 0: not attached (yet, or in a forked child) */
	uint32_t proc;			/* slot; GT_RING_NIL: none was free */
	uint32_t known;			/* 1: a thread of it has a ring */
	uint32_t tcbs, hand;		/* how many were ever used; where to look for one whose thread has ended */
	uint32_t names_epoch;		/* rises when a handle is given another name */
	uint32_t texts_used;
	struct gt_interned_name names[GT_NAMES];
	char texts[GT_TEXTS];
	struct gt_tcb tcb[];
};
extern struct gt_own *gt_own;
/* This thread's control block with a ring, or NULL: not traced. Attaches the process first. */
struct gt_tcb *gt_register(void);
struct gt_tcb *gt_register_teller(void);	/* for a thread that makes no calls of its own: ring.h, GT_RING_TELLER */
void gt_stop_for_good(void);
const char *gt_environment(const char *name);	/* its value, or NULL */
bool gt_owner_died(void);
void gt_untraced(void);		/* counts a call */
void gt_range(enum gt_range_mode mode, bool on);	/* begins or ends; nothing when another kind of range was asked for */

/* ---- guest_clock.c ---- */
uint64_t gt_clock_for_cupti(void);	/* ns of CLOCK_MONOTONIC, cheaper */
void gt_clock_keep(void);		/* to be called a few times a second, by one thread */

/* ---- guest_gpu.c ---- */
bool gt_gpu_yield(const char *whom);	/* takes our records out of CUPTI and disables what we enabled; false: there was nothing */
void gt_gpu_begin(void);		/* has CUPTI tell what the GPU does, for the session */
void gt_gpu_no_calls(int code);	/* CUPTI's error: its callbacks cannot be had, so no calls are recorded */
void gt_gpu_watch(void);		/* has CUPTI for the probes while somebody is attached to one, and no longer */
void gt_gpu_forked(void);		/* this process has begun to be traced: does CUPTI, started before a fork, lie dead in it? */
void gt_gpu_leaves(void);		/* the program is about to be replaced: takes our records out of CUPTI */
void gt_gpu_stays(void);		/* it was not */
void gt_gpu_dies(void);		/* the program aborts: has our records taken out of CUPTI, but waits no longer than a second */
void gt_gpu_resume_soon(void);		/* the other one seems to be through */
void gt_gpu_note(enum gt_gpu_state state, const char *text);	/* tells it, where we are in use of CUPTI or were */
bool gt_gpu_used(void);		/* by this process */
void gt_gpu_again(void);	/* enables what is ours once more, where it is to be enabled */
struct gt_tcb *gt_teller(void);	/* the ring for what this thread tells; NULL: there is no room */
/* For CUPTI, whosever buffer it is. */
void gt_gpu_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);
/* ---- guest_events.c ---- */
extern uint8_t gt_bracketing;		/* calls that make a GPU work are to be put between two events */
struct gt_bracket;
/* Before such a call. NULL: it is to pass without. */
struct gt_bracket *gt_events_open(uint32_t id, const uint64_t *words);
/* When it has been recorded. */
void gt_events_shut(struct gt_bracket *b, const struct gt_call *c, int32_t ret, const uint64_t *words);
bool gt_events_start(const char *why);	/* why not CUPTI; false: the driver lacks what it takes */
void gt_events_capture_has_begun(void);	/* or has failed to; gt_before_begin_capture came before */
bool gt_events_forked(void);		/* were they used in the process that this one was forked from? */
void gt_events_leave(void);		/* the program is about to be replaced: reads what is over */
void gt_events_stay(void);		/* it was not */
/* The real functions behind our exports, found when our library is loaded. */
void gt_exec_find(void), gt_files_find(void), gt_dlsym_find(void);
/* guest_nvtx.c */
void gt_nvtx_begins(void);	/* the process has attached, which a forked child does anew */
/* guest_others.c */
/* CUPTI for this thread alone: two seconds is what we wait for it. False: another one is still in it, or flushing. *locked is for the end,
 * whatever it returned. */
bool gt_cupti_lock(bool *locked);
void gt_cupti_unlock(bool locked);
/* Does it while nobody else uses CUPTI; when that failed, CUPTI is given back to who used it last. Returns who uses it now. */
const char *gt_others_if_absent(bool (*then)(void));
void gt_others_give(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);	/* a buffer that is not ours */
void *gt_others_wrapper(const char *name);	/* of this function of CUPTI's; NULL: it has none */

/* ---- guest_probes.c ---- */
bool gt_probes_want_calls(void), gt_probes_want_work(void);	/* is somebody attached to probes of calls, or of what the GPU did? */
/* A launch has returned; cbid: negative, of the driver API; else of the runtime's. */
void gt_probes_call(uint32_t correlation, int32_t cbid, const char *name);
/* Fires for what is in a buffer of CUPTI's; next: cuptiActivityGetNextRecord. */
void gt_probes_work(int (*next)(uint8_t *, size_t, uint8_t **), uint8_t *buffer, size_t valid);

/* ---- guest_callbacks.c: of one thread at a time, but that anybody may have us step back ---- */
struct gt_cupti_call;
typedef void gt_called_back(uint32_t cbid, const struct gt_cupti_call *c);
/* Subscribes while somebody is attached to the probe of calls. True: records of calls must do from now on. */
bool gt_callbacks_follow_probes(void);
void gt_callbacks_leave_probes(void);		/* CUPTI is not in use any more, whoever is attached */
const char *gt_launch_name(uint32_t cbid);	/* of the driver's function, if it launches kernels; NULL */
const char *gt_runtime_launch_name(uint32_t cbid);	/* of the runtime's */
uint64_t gt_callbacks_refused(void);		/* ns; since when it cannot, and records must do; 0: it can, or nobody is attached */
void gt_callbacks_step_back(void);		/* another one wants to subscribe */
/* All calls of the driver API for which `wanted`, from now on. 0 or CUPTI's error. */
int gt_callbacks_of_calls(gt_called_back *to, bool (*wanted)(uint32_t cbid));
bool gt_callbacks_finalize(void);		/* ends CUPTI for this process, unless somebody else uses it */

/* ---- guest_find.c ---- */
struct gt_object {		/* a loaded library */
	uintptr_t base, low, high;
	const char *path, *soname;	/* soname "" when it has none */
	const void *dynamic, *symbols, *versions;
	const char *strings;
	const uint32_t *gnu_hash, *hash;
	bool behind;		/* loaded after our own library */
};
const struct gt_object *gt_own_object(void);	/* our library */
void gt_own_object_find(void);
bool gt_object_at(const void *address, struct gt_object *o);	/* the one that holds the address */
void *gt_object_symbol(const struct gt_object *o, const char *name);
bool gt_object_named(const struct gt_object *o, const char *prefix);	/* by soname or file name */
bool gt_object_needs(const struct gt_object *o, const char *prefix);	/* needs, at whatever remove, a library so named */
/* The first definition in load order behind our own library; *o (may be NULL) is where. */
void *gt_find_next(const char *name, struct gt_object *o);
void gt_find_all(const char *const *names, void **found, unsigned n);	/* the same of n names */
void *gt_find_libc(const char *name);	/* of the C library, also where we came last and not first */
void *gt_find_in(const char *library, const char *name);	/* in the first loaded library whose soname or file name so begins */
static inline void *gt_find_driver(const char *name) { return gt_find_in("libcuda.so", name); }	/* as it is loaded now */
/* A library of CUDA's by dlopen, where the loader does not look: near others of CUDA's that the program has loaded (NVIDIA's wheels
 * for Python, a toolkit), or in a toolkit. NULL: it is not there. */
void *gt_load_elsewhere(void *(*load)(const char *, int), const char *name);
bool gt_from_driver(const void *address);	/* code of libcuda, or of libraries that watch it */
bool gt_is_ours(const void *address);

/* ---- guest_objects.c ---- */
struct dl_phdr_info;
typedef int gt_object_look(struct dl_phdr_info *info, size_t size, void *arg);
/* Calls look for each loaded library until it returns non-zero, which is returned. In a forked child: without a lock, and
 * the paths of the libraries are as the loader has them. */
int gt_each_object(gt_object_look *look, void *arg);
/* In a forked child: are the loader's lock and that of atexit free? A thread takes them; after a second it counts as stuck. True in
 * other processes. */
bool gt_locks_are_free(void);
bool gt_start_thread(void *(*run)(void *), void *arg);	/* with all signals blocked; false: there is none */
void gt_objects_verify(void);	/* in a forked child: makes the system calls that the first list needs */

/* ---- guest_resolve.c ---- */
void *gt_resolve(uint32_t id);		/* for a wrapper whose gt_real is NULL; NULL when there is no driver */
extern uint32_t gt_drivers;		/* rises when functions of another driver have come, elsewhere in memory */
#define GT_NO_DRIVER 302		/* CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND */

/* GT_DEBUG=1: a line on stderr. */
void gt_debug(const char *what, const char *detail, int64_t value);
#endif
