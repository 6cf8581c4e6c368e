/* Shared by guest_cupti_activity.c (session, thread, start and end), guest_cupti_buffers.c (buffers
 * of records) and guest_cupti_kinds.c (which kinds of records are enabled). */
#ifndef GT_GUEST_CUPTI_ACTIVITY_INTERNAL_H
#define GT_GUEST_CUPTI_ACTIVITY_INTERNAL_H
#include "collect/guest/cupti/cupti_layout.h"
#include "collect/guest/cupti/guest_cupti_activity.h"
#include "collect/guest/cupti/guest_cupti_records.h"

#define SLAB 512u /* buffers mapped at a time */
#define SLABS 64u
#define BUFFERS (SLAB * SLABS)

extern struct gt_cupti gt_cupti; /* CUPTI's functions */

/* State of one process: a forked child finds it empty, and CUPTI does not work there. */
struct gt_cupti_session {
	uint32_t
		use; /* enum gt_cupti_use; futex of the fetching thread, which ends at GT_USE_OFF */
	uint64_t resume_at;   /* ns; 0: no resumption is scheduled */
	uint64_t buffers_out; /* buffers that CUPTI has */
	uint64_t free;        /* stack of buffers, numbered by index + 1 */
	uint8_t *slabs[SLABS];
	uint32_t abort_flush; /* 1: abort waits for a last flush */
	/* 1: another user had CUPTI first, so call records cannot be selected */
	uint32_t late_start;
	uint32_t foreign_clock;      /* 1: CUPTI uses another user's clock */
	uint32_t watching;           /* 1: there is no session, only the probes */
	uint32_t records_max;        /* maximum number of records in a buffer; 0: as many as fit */
	uint32_t records_seen;       /* since the last round */
	uint32_t buffers_used;       /* number of buffers ever requested */
	uint32_t below[BUFFERS + 1]; /* links of that stack, by number */
	struct gt_gpu_names names;
};
/* NULL: this process and those that it was forked from have none */
extern struct gt_cupti_session *gt_cupti_session;
struct gt_cupti_session *gt_cupti_own_session(void); /* NULL: this process has none */

/* Is GPU work recorded? Otherwise CUPTI serves the probes only. */
static inline bool gt_cupti_needs_gpu(void) { return gt_shared && gt_shared->gpu; }
static inline bool gt_cupti_is_recording(void) { return gt_cupti_needs_gpu() && !gt_passive; }

/* Records a state of CUPTI. detail: an error code, a version or a number of buffers. */
void gt_cupti_put_state(enum gt_gpu_state state, const char *text, int64_t detail);

/* ---- guest_cupti_buffers.c ---- */

/* Maps the first buffers of a new session. False: no memory. */
bool gt_cupti_buffers_init(void);
/* Before each round of the thread: maps buffers before the threads of the program need them, and
 * sets how many records a buffer may hold. */
void gt_cupti_buffers_prepare(void);
/* CUPTI's callback for empty buffers. */
void gt_cupti_buffer_requested(uint8_t **buffer, size_t *size, size_t *records_max);

/* ---- guest_cupti_kinds.c ---- */

/* A call that failed, and its error. */
struct gt_cupti_refusal {
	const char *what;
	int code;
};
/* Stores the refusal if code is not 0. Returns whether it is not. */
bool gt_cupti_refused(struct gt_cupti_refusal *r, const char *what, int code);
/* False: CUPTI refused a kind that is required. */
bool gt_cupti_enable_kinds(struct gt_cupti_refusal *r);
void gt_cupti_disable_kinds(void);
#endif
