/* The simulated libcupti.so.13, as far as its files share it. samples/README.md lists what it does and its knobs.
 *
 *   cupti_setup.c   knobs, the tie to the driver, clocks, small calls     cupti_buffers.c  records into buffers, flushes, the worker
 *   cupti_calls.c   driver calls: callbacks, API records                  cupti_work.c     kernels, copies, sets; the truth
 *
 * One mutex guards the buffers and the work under way. It is the innermost of all: it may be taken under the driver's lock, and
 * no callback of the client is ever called under it, so these may call CUDA and CUPTI. */
#ifndef SIM_CUPTI_SIM_H
#define SIM_CUPTI_SIM_H
#include "samples/simgpu/cupti_cbids.h"
#include "samples/simgpu/cupti_records.h"
#include "samples/simgpu/hooks.h"

struct cupti_knobs { unsigned version, drop, bad, late_ms, shuffle, taken, alone_ms, back_ms, strict; bool truth; };
extern struct cupti_knobs cupti_knobs;
extern const struct sim_driver *cupti_driver;		/* of the first attachment on; NULL before */
extern uint32_t *cupti_cbids;				/* by entry, as the driver counts them */
extern uint8_t cupti_kinds[KINDS], cupti_driver_apis[SIM_CBIDS_END], cupti_runtime_apis[SIM_RUNTIME_CBIDS_END];	/* enabled? */
extern bool cupti_zeroed;				/* attribute: the client's buffers come zeroed */
extern __thread bool cupti_on_worker, cupti_in_exit;	/* on its own thread; in the client's callback at the end of a call */

/* Begins each function of the API: 0, or the error it must return. */
int cupti_begin(const char *function);
#define CUPTI_BEGIN() do { int rc_ = cupti_begin(__func__); if (rc_) return rc_; } while (0)
/* In a function that changes what is recorded, or asks for it: with SIM_CUPTI_ALONE_MS, a second thread in one ends the process. */
#define CUPTI_ALONE() __attribute__((cleanup(cupti_alone_end))) const bool alone_ = cupti_alone(__func__)
bool cupti_alone(const char *function);
void cupti_alone_end(const bool *alone);
void cupti_must(bool is, const char *what);		/* with SIM_CUPTI_STRICT it ends the process where that is not so */
bool cupti_has_clock(void);				/* the client has registered one */
int cupti_said(int rc);					/* remembers an error for cuptiGetLastError */
int cupti_attach(void);					/* to the driver, if it is not */
void cupti_detach(void);
void cupti_lock(void);
void cupti_unlock(void);

uint64_t cupti_mono(void);				/* CLOCK_MONOTONIC ns */
uint64_t cupti_now(void);				/* the client's clock; calls the client */
void cupti_calibrate(void);				/* compares it with CLOCK_MONOTONIC; calls the client */
uint64_t cupti_time(uint64_t mono);			/* in the client's clock; calls nobody */
uint32_t cupti_thread(void);

/* Buffers. */
struct cupti_buffer;
struct cupti_slot { struct cupti_buffer *in; union cupti_record *at; };
/* Room for a record of a kind: returns with the lock held. slot.in NULL: there is none, which has been counted. */
struct cupti_slot cupti_reserve(unsigned kind);
size_t cupti_size(unsigned kind);			/* of a record as this version has it; 0: there are none of this kind */
void cupti_put(const union cupti_record *r);		/* a record that is complete */
void cupti_hold(struct cupti_buffer *b);		/* one of its records is not complete; under the lock */
void cupti_let(struct cupti_buffer *b);			/* it is now; under the lock */
int cupti_worker_start(void);
void cupti_wake(void);
void cupti_flush(bool forced, bool close);		/* close: buffers without records go back too */
void cupti_forget_callbacks(void);

/* Work. */
struct cupti_work;
void *cupti_submitted(struct sim_call *call, const struct sim_work *w);
void cupti_done(void *work, uint64_t start, uint64_t end);
void cupti_place(struct cupti_work *first);		/* into buffers, in order */
void cupti_abandon(const struct cupti_buffer *b);	/* its records stay as they are; under the lock */
uint64_t cupti_late(uint64_t now);			/* completes what is due; when the next is, or 0; under the lock */
void cupti_tell_truth(const char *line, size_t n);	/* under the lock */
void cupti_truth_moved(const struct cupti_um *r);
void cupti_truth_sync(const struct cupti_sync *r, uint32_t device);

/* Calls. */
struct cupti_mine {					/* of the call that this thread is in */
	uint32_t correlation;
	uint64_t start, data;
	struct cupti_work *first, **last;
	struct sim_thing *things;
	size_t things_n, things_cap;
	struct sim_moved *moved;
	size_t moved_n, moved_cap;
	struct cupti_sync sync;				/* type 0: it did not wait */
	const void *synced;
};
bool cupti_enter(struct sim_call *call);
void cupti_exit(struct sim_call *call);
void cupti_waits(struct sim_call *call, enum sim_wait what, uint32_t context, uint32_t stream, uint32_t event, uint64_t sync);
void cupti_resource_hook(struct sim_call *call, const struct sim_thing *t);
void cupti_moved(struct sim_call *call, const struct sim_moved *t);
void cupti_runtime(bool begins, unsigned cbid, int rc);
void cupti_forget_subscriber(void);
#endif
