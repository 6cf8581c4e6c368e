/* The simulated libcupti.so.13: declarations that its files share. samples/README.md lists its
 * features and knobs.
 *
 *   cupti_setup.c   knobs, the connection to the driver, clocks, small queries
 *   cupti_calls.c   driver calls: callbacks, API records
 *   cupti_buffers.c records in buffers, flushes, the worker
 *   cupti_work.c    kernels, copies, sets; the truth
 *
 * One mutex guards the buffers and the running work. It is the innermost lock: it may be taken
 * under the driver's lock, and no callback of the client is called under it, so a callback may call
 * CUDA and CUPTI. */
#ifndef SIM_CUPTI_SIM_H
#define SIM_CUPTI_SIM_H
#include "samples/simgpu/cupti_cbids.h"
#include "samples/simgpu/cupti_records.h"
#include "samples/simgpu/hooks.h"

struct cupti_knobs {
	unsigned version, drop, bad, late_ms, shuffle, taken, alone_ms, back_ms, strict;
	bool truth;
};
extern struct cupti_knobs cupti_knobs;
extern const struct sim_driver *cupti_driver; /* NULL before the first attachment */
extern uint32_t *cupti_cbids;                 /* by the driver's number of the entry point */
/* true if enabled */
extern uint8_t cupti_kinds[KINDS], cupti_driver_apis[SIM_CBIDS_END],
	cupti_runtime_apis[SIM_RUNTIME_CBIDS_END];
extern bool cupti_zeroed; /* attribute: the client's buffers are zeroed */
/* this is CUPTI's worker thread; the client's callback at the end of a call is running */
extern __thread bool cupti_on_worker, cupti_in_exit;

/* Begins each function of the API: 0, or the error it must return. */
int cupti_begin(const char *function);
#define CUPTI_BEGIN()                                                                              \
	do {                                                                                       \
		int rc_ = cupti_begin(__func__);                                                   \
		if (rc_)                                                                           \
			return rc_;                                                                \
	} while (0)
/* In functions that change what is recorded, or request records. With SIM_CUPTI_ALONE_MS, a second
 * thread in such a function aborts the process. */
#define CUPTI_EXCLUSIVE()                                                                          \
	__attribute__((cleanup(cupti_leave_exclusive))) const bool entered_ =                      \
		cupti_enter_exclusive(__func__)
bool cupti_enter_exclusive(const char *function);
void cupti_leave_exclusive(const bool *entered);
/* with SIM_CUPTI_STRICT, aborts the process if `is` is false */
void cupti_require(bool is, const char *what);
bool cupti_has_clock(void);  /* true if the client has registered one */
int cupti_set_error(int rc); /* stores an error for cuptiGetLastError and returns it */
int cupti_attach(void);      /* to the driver, unless it is attached */
void cupti_detach(void);
void cupti_lock(void);
void cupti_unlock(void);

uint64_t cupti_mono(void);  /* CLOCK_MONOTONIC ns */
uint64_t cupti_now(void);   /* the client's clock; calls the client */
void cupti_calibrate(void); /* compares it with CLOCK_MONOTONIC; calls the client */
/* converts to the client's clock; does not call the client */
uint64_t cupti_time(uint64_t mono);
uint32_t cupti_thread(void);

/* Buffers. */
struct cupti_buffer;
struct cupti_slot {
	struct cupti_buffer *in;
	union cupti_record *at;
};
/* Reserves space for a record of a kind. Returns with the lock held. If slot.in is NULL there is no
 * space, and the loss has been counted. */
struct cupti_slot cupti_reserve(unsigned kind);
/* size of a record in this CUPTI version; 0: no such kind */
size_t cupti_size(unsigned kind);
void cupti_put(const union cupti_record *r); /* stores a complete record */
/* one of its records is incomplete; under the lock */
void cupti_record_pending(struct cupti_buffer *b);
/* that record is now complete; under the lock */
void cupti_record_complete(struct cupti_buffer *b);
int cupti_worker_start(void);
void cupti_wake(void);
void cupti_flush(bool forced, bool close); /* close: empty buffers are delivered too */
void cupti_clear_callbacks(void);

/* Work. */
struct cupti_work;
void *cupti_submitted(struct sim_call *call, const struct sim_work *w);
void cupti_done(void *work, uint64_t start, uint64_t end);
void cupti_place_records(struct cupti_work *first); /* stores records in buffers, in order */
/* its incomplete records stay as they are; under the lock */
void cupti_abandon(const struct cupti_buffer *b);
/* completes records that are due; returns the time of the next, or 0; under the lock */
uint64_t cupti_complete_due(uint64_t now);
void cupti_write_truth(const char *line, size_t n); /* under the lock */
void cupti_truth_um(const struct cupti_um *r);
void cupti_truth_sync(const struct cupti_sync *r, uint32_t device);

/* Calls. */
struct cupti_call_state { /* state of this thread's current call */
	uint32_t correlation;
	uint64_t start, data;
	struct cupti_work *first, **last;
	struct sim_resource_event *resources;
	size_t resources_n, resources_cap;
	struct sim_um_event *um_events;
	size_t um_n, um_cap;
	struct cupti_sync sync; /* type 0: the call did not wait */
	const void *synced;
};
bool cupti_enter(struct sim_call *call);
void cupti_exit(struct sim_call *call);
void cupti_waits(struct sim_call *call, enum sim_wait what, uint32_t context, uint32_t stream,
	uint32_t event, uint64_t sync);
void cupti_resource_hook(struct sim_call *call, const struct sim_resource_event *t);
void cupti_um_hook(struct sim_call *call, const struct sim_um_event *t);
void cupti_runtime(bool begins, unsigned cbid, int rc);
void cupti_clear_subscriber(void);
#endif
