/* State shared by guest_event_timing.c, which runs on the program's threads, and
 * guest_event_results.c, which runs on the guest's thread. */
#ifndef GT_GUEST_EVENTS_INTERNAL_H
#define GT_GUEST_EVENTS_INTERNAL_H
#include "collect/guest/core/guest_ring.h"
#include "collect/guest/events/guest_event_timing.h"

#define PAIRS 8192u
#define CONTEXTS 64u
#define STREAMS 4096u /* streams with a number of their own */

/* CUresult */
enum { NOT_READY = 600, INVALID_CONTEXT = 201, INVALID_HANDLE = 400, CAPTURED_EVENT = 907 };
/* codes of the guest: no event was recorded, as a capture is or may be in progress */
enum { CAPTURING = -1, BEGINNING = -2 };
enum { RELAXED = 2, NON_BLOCKING = 1 }; /* CUstreamCaptureMode, CUstream_flags */
enum { LEGACY = 1, PER_THREAD = 2 };    /* handles of the default streams */
enum { OFF, ON, LAST };                 /* gt_events->on */
/* At the end of the program, attempts for a first reference, and the pause between two. */
enum { END_TRIES = 20, END_PAUSE_NS = 2000000 };
enum { FREE, TAKEN, LIVE, DEAD }; /* states of a context */

/* The driver's own functions, so that the guest's calls are not recorded as the program's. */
struct gt_event_functions {
	int32_t (*current)(uint64_t *), (*set)(uint64_t), (*push)(uint64_t), (*pop)(uint64_t *),
		(*device)(int32_t *);
	int32_t (*create)(uint64_t *, uint32_t), (*destroy)(uint64_t),
		(*record)(uint64_t, uint64_t), (*query)(uint64_t);
	int32_t (*elapsed)(float *, uint64_t, uint64_t), (*stream)(uint64_t *, uint32_t),
		(*capturing)(uint64_t, int32_t *);
	int32_t (*stream_context)(uint64_t, uint64_t *), (*mode)(int32_t *),
		(*primary)(int32_t, uint32_t *, int32_t *);
};
extern struct gt_event_functions gt_cu;

struct gt_event_pair {
	uint64_t begin, end; /* events */
	uint32_t next;       /* index + 1 in its list */
	uint16_t context, id;
	int32_t tid;
	uint32_t grid[3], block[3], ngrid, nblock, shared;
	uint64_t start; /* of the call, in ticks */
	uint64_t stream, name, bytes, value, peers[2];
};
struct gt_event_reference {
	uint64_t event;
	int64_t host;   /* ns: host time when the GPU reached it */
	uint64_t error; /* ns: of that time */
};
struct gt_event_context {
	uint32_t state;
	uint32_t create_failed; /* the driver created no event: no retry before the next round */
	uint32_t needs_pairs;   /* it found no pair, free or without events */
	uint64_t handle;
	uint64_t free;   /* stack of pairs */
	uint32_t in_use; /* pairs in use */
	/* used by the guest's thread only */
	uint32_t id, streams;
	int32_t device;
	uint64_t stream, spare;              /* for references: a stream, and an unused event */
	struct gt_event_reference reference; /* event 0: none yet */
	uint64_t next_refresh;               /* ns: no refresh before */
	uint32_t tries;                      /* attempts for the first reference */
};
struct gt_event_stream {
	uint32_t context, number;
	uint64_t stream;
	int32_t tid;
	bool used;
};
/* Where a call has its stream; param GT_NO_FUNC: nowhere. */
struct gt_event_call {
	bool work, per_thread, in_struct;
	uint8_t param;
	uint16_t at;
};

/* State of one process; a forked child finds it empty. */
struct gt_events {
	uint32_t on;
	uint32_t wakeups, sleeping; /* futex; 1: the guest's thread sleeps */
	uint64_t without_events;    /* stack of pairs without events */
	uint32_t submitted;         /* stack of pairs for the guest's thread */
	/* events being recorded on legacy streams; captures being begun */
	uint32_t recording, beginning;
	uint32_t adding, reading; /* locks */
	uint64_t untimed[GT_UNTIMED_COUNT], reported[GT_UNTIMED_COUNT];
	/* under the lock `reading` */
	uint32_t first, last, waiting; /* list of pairs in the order of their calls; index + 1 */
	uint32_t contexts, work_ids;   /* numbers given so far */
	uint64_t error;                /* ns; the largest error reported */
	bool ending;                   /* the program ends: any reference is better than none */
	struct gt_event_context context[CONTEXTS];
	struct gt_event_stream streams_known[STREAMS];
	struct gt_event_call calls[GT_API_MAX];
	struct gt_event_pair pair[PAIRS];
};
extern struct gt_events *gt_events; /* NULL: CUDA events are not used */

static inline uint32_t gt_event_pair_index(const struct gt_event_pair *b)
{
	return (uint32_t)(b - gt_events->pair) + 1;
}
static inline struct gt_event_pair *gt_event_pair_at(uint32_t i)
{
	return i ? &gt_events->pair[i - 1] : NULL;
}
static inline struct gt_event_context *gt_event_pair_context(const struct gt_event_pair *b)
{
	return &gt_events->context[b->context];
}

/* ---- guest_event_timing.c ---- */
void gt_event_pair_push(uint64_t *stack, struct gt_event_pair *b);
struct gt_event_pair *gt_event_pair_pop(uint64_t *stack);
void gt_event_pair_release(struct gt_event_pair *b); /* puts it back on a stack */
void gt_events_count_untimed(enum gt_untimed why);   /* counts a call */
/* the live context with this handle; NULL: none */
struct gt_event_context *gt_events_find_context(uint64_t handle);
void gt_events_wake(void); /* wakes the guest's thread */

/* ---- guest_event_results.c ---- */
bool gt_events_lock(int tries); /* locks out all other readers; a try takes 50 us */
void gt_events_unlock(void);
/* Reads the finished events of at most `budget` pairs, in one context or (0) in all. The caller
 * holds the lock, and a context that may be replaced is on top of its stack. Returns the number
 * of pairs read. */
uint32_t gt_events_read_finished(uint32_t budget, uint64_t only);
/* True: pairs wait for the first reference of their context. The caller holds the lock. */
bool gt_events_lack_reference(void);
bool gt_events_start_thread(void);
/* the program ends: reads the finished events for the last time */
void gt_events_stop(void);
void gt_events_report_state(enum gt_gpu_state state, const char *text, uint64_t detail);
#endif
