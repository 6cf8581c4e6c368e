/* Events: records in a ring that are not calls (ring.h). Each event is one of the structs below;
 * the guest writes the struct's bytes into the record, and the recorder copies them out again. All
 * structs consist of whole 8-byte words. The recorder sees words that a guest did not write as 0.
 *
 * Times of GPU events are ns of CLOCK_MONOTONIC, as CUPTI gave them, except that a start of 0 is
 * stored as 1. Other times are ticks. A text is its gt_ring_hash; the same process has written the
 * text itself as a STRING record. */
#ifndef GT_RING_EVENTS_H
#define GT_RING_EVENTS_H
#include <assert.h>
#include <stdint.h>
#include "collect/ipc/probe_fields.h"

enum gt_ring_event {
	/* start, end: ticks, between which the state changed */
	GT_EV_GPU_STATE,
	GT_EV_KERNEL,
	GT_EV_COPY,
	GT_EV_SET,
	GT_EV_CUPTI_CALL, /* CUPTI's record of a driver call */
	GT_EV_RUNTIME,    /* CUPTI's record of a call of the CUDA runtime */
	GT_EV_MANAGED,
	GT_EV_OVERHEAD,
	/* A driver call that CUPTI's callbacks reported: the call recorded last on this ring.
	 * start, end: ticks, of that call */
	GT_EV_INJECTED_CALL,
	GT_EV_GPU_LOST,
	/* The call of this thread whose record comes next created a node of a graph. start: of that
	 * call, ticks */
	GT_EV_NODE,
	/* The call made a graph, or an instance, from another graph. start: of that call, ticks */
	GT_EV_GRAPH,
	/* The device of this thread's allocations, from its next call on. start, end: ticks */
	GT_EV_DEVICE,
	/* Work that CUDA events timed (guest_event_timing.c). A graph launch is timed as a whole.
	 */
	GT_EV_TIMED_KERNEL,
	GT_EV_TIMED_COPY,
	GT_EV_TIMED_SET,
	GT_EV_TIMED_GRAPH,
	GT_EV_UNTIMED,
	/* NVTX annotations. start, end: the same, ticks */
	GT_EV_PUSH,
	GT_EV_RANGE_START,
	GT_EV_MARK,
	GT_EV_POP,
	GT_EV_RANGE_END,
	GT_EV_NAME_CATEGORY,
	GT_EV_NAME_THREAD,
	GT_EV_NAME_STREAM,
	/* The thread does not run. start, end: ns; only in rings that gtcollect itself writes */
	GT_EV_SCHED,
	/* A probe was hit. start, end: ns; as SCHED */
	GT_EV_PROBE,
	/* The thread runs. start, end: the same, ns; as SCHED */
	GT_EV_SAMPLE,
	/* The same, by the thread's own timer. start, end: the same, ticks */
	GT_EV_TIMER_SAMPLE,
	GT_EVENTS
};

/* ---- states and losses ---- */
enum gt_gpu_state {
	GT_GPU_ON,
	GT_GPU_MISSING,    /* the library was not found */
	GT_GPU_REFUSED,    /* a function failed */
	GT_GPU_OFF,        /* the process ends, by exit or exec, and CUPTI delivered all records */
	GT_GPU_YIELDED,    /* another client uses CUPTI; text: its library */
	GT_GPU_RESUMED,    /* the guest uses CUPTI again */
	GT_GPU_SUBSCRIBER, /* another client has subscribed */
	GT_GPU_NO_CALLS,   /* CUPTI refused callbacks: no calls are recorded */
	GT_GPU_FINALIZED,  /* another client ended CUPTI: the guest does not resume */
	GT_GPU_PARTIAL,    /* a function failed that enum gt_gpu_more needs; the rest works */
	GT_GPU_FORKED,     /* a child of a process with CUPTI: CUPTI does not work in it */
	GT_GPU_CONTINUED,  /* exec failed: the program continues */
	GT_GPU_EVENTS,     /* CUDA events are used; text: why not CUPTI */
	GT_GPU_EVENTS_ERROR, /* detail: maximum error of the CUDA events' times, ns */
	GT_GPU_PROBED /* another library reports kernels, by USDT probes; text: their provider */
};
struct gt_ev_state {
	uint64_t state;  /* enum gt_gpu_state */
	uint64_t text;   /* path of the library, or the function that failed */
	uint64_t detail; /* CUPTI's version, or an error code */
};

enum gt_gpu_lost {
	GT_GPU_LOST_DROPPED, /* CUPTI dropped them */
	GT_GPU_LOST_FOREIGN  /* they arrived while another profiler used CUPTI: with its clock */
};
/* Why a call has no time though CUDA events are used: no event was free, a capture was starting,
 * the call's context was destroyed, the driver returned an error. */
#define GT_UNTIMED_REASONS(X) X(POOL, pool) X(CAPTURE, capture) X(CONTEXT, context) X(ERROR, error)
enum gt_untimed {
	GT_UNTIMED_POOL,
	GT_UNTIMED_CAPTURE,
	GT_UNTIMED_CONTEXT,
	GT_UNTIMED_ERROR,
	GT_UNTIMED_COUNT
};
/* GPU_LOST, UNTIMED */
struct gt_ev_loss {
	uint64_t count;  /* CUPTI's records; calls */
	uint64_t reason; /* enum gt_gpu_lost; enum gt_untimed */
};

/* ---- work of a GPU ---- */
/* Begins the three structs that follow. */
struct gt_ev_work {
	uint32_t correlation, device;
	uint32_t context, stream;
	uint32_t graph; /* CUPTI's number of the graph's instance; 0: none */
	union {
		uint32_t registers; /* KERNEL: of a thread */
		struct {
			/* CUPTI's copy kind, and memory kinds */
			uint8_t kind, source, destination, async;
		} copy; /* COPY */
		struct {
			uint16_t memory, async;
		} set; /* SET */
	};
	uint64_t node; /* CUPTI's number of the graph's node; 0: none */
};
struct gt_ev_kernel {
	struct gt_ev_work work;
	uint32_t grid[3], block[3];
	uint32_t shared_static, shared_dynamic; /* bytes */
	uint64_t name;                          /* text */
};
struct gt_ev_copy {
	struct gt_ev_work work;
	uint64_t bytes;
	uint32_t source, destination; /* devices */
};
struct gt_ev_set {
	struct gt_ev_work work;
	uint64_t bytes, value;
};
/* TIMED_*: work names its call by thread and start. TIMED_GRAPH: `work` as far as graph. */
struct gt_ev_timed {
	int32_t tid;
	uint32_t id;         /* of the API table */
	uint64_t call_start; /* ticks */
	union {
		struct gt_ev_work work;
		struct gt_ev_kernel kernel; /* the longest */
		struct gt_ev_copy copy;
		struct gt_ev_set set;
	};
};

/* ---- calls ---- */
/* CUPTI_CALL, RUNTIME, INJECTED_CALL */
struct gt_ev_call {
	uint32_t correlation, cbid; /* cbid: CUPTI's number of the function */
	int32_t tid;
	int32_t ret; /* RUNTIME; else 0 */
};

/* ---- CUPTI's records of other things ---- */
struct gt_ev_managed {
	uint32_t counter, flags; /* CUPTI's counter kind */
	uint64_t value, address;
	uint32_t source, destination; /* devices */
};
struct gt_ev_overhead {
	uint32_t kind, object; /* CUPTI's overhead kind and object kind */
	uint32_t process, thread;
};

/* ---- graphs and devices ---- */
struct gt_ev_node {
	uint64_t node; /* CUPTI's number */
};
struct gt_ev_graph {
	uint32_t new, old; /* CUPTI's numbers */
	uint64_t handle;   /* the program's, of the new one */
};
/* What limits how many warps fit on a multiprocessor (SM): enum gt_device_limit */
enum gt_device_limit {
	GT_DEVICE_CAPABILITY_MAJOR,
	GT_DEVICE_CAPABILITY_MINOR,
	GT_DEVICE_MULTIPROCESSORS,
	GT_DEVICE_THREADS, /* of an SM, as the rest */
	GT_DEVICE_BLOCKS,
	GT_DEVICE_REGISTERS,
	GT_DEVICE_SHARED,          /* bytes */
	GT_DEVICE_SHARED_RESERVED, /* bytes of each block */
	GT_DEVICE_LIMITS
};
struct gt_ev_device {
	uint64_t device; /* UINT64_MAX: unknown */
	/* the rest is written only if the driver knows the UUID */
	uint8_t uuid[16];
	uint32_t limits[GT_DEVICE_LIMITS]; /* 0: unknown */
};

/* ---- annotations ---- */
struct gt_ev_annotation {
	uint64_t range; /* id; 0: none */
	uint64_t text;
	uint64_t domain; /* text; 0: the default domain */
	uint32_t category, color;
	uint64_t payload_type, payload; /* NVTX's payload type */
	/* of a call of NCCL; 0: not known. Written only if one is known */
	uint64_t communicator, message_bytes;
};
/* POP, RANGE_END */
struct gt_ev_annotation_end {
	uint64_t range; /* id; 0: none */
	uint64_t domain;
};
/* NAME_* */
struct gt_ev_name {
	uint64_t object; /* a category, a thread id, or a stream handle */
	uint64_t text, domain;
};

/* ---- scheduling ---- */
struct gt_ev_sched {
	uint32_t state, system_call; /* enum gt_sched_state; UINT32_MAX: none, or unknown */
	uint32_t pid, tid;           /* the waker, or the thread that preempts */
	uint64_t stack;              /* number of the thread's stack (ring.h); 0: none */
	uint64_t holder;             /* of the state gil: thread that holds it; 0: unknown */
};

/* ---- samples ---- */
struct gt_ev_sample {
	uint64_t period; /* ns of processor time that the sample stands for */
	uint64_t stack;  /* as above */
};

/* ---- probes ---- */
struct gt_ev_probe {
	uint64_t name, domain; /* texts */
	uint64_t field_names;  /* text: "a,b,c", of the values by their numbers; 0: arg0, ... */
	uint8_t n;             /* values; no more are written */
	uint8_t depth, is_range, unused;
	uint8_t fields[GT_PROBE_VALUES];  /* GT_PROBE_FIELD(kind, which) */
	uint64_t values[GT_PROBE_VALUES]; /* a text: its hash */
};

/* Of events about the GPU, many of which wait for others. */
union gt_gpu_event_body {
	uint64_t words[11];
	struct gt_ev_state state;
	struct gt_ev_loss loss;
	struct gt_ev_work work; /* of kernel, copy and set */
	struct gt_ev_kernel kernel;
	struct gt_ev_copy copy;
	struct gt_ev_set set;
	struct gt_ev_timed timed;
	struct gt_ev_call call;
	struct gt_ev_managed managed;
	struct gt_ev_overhead overhead;
	struct gt_ev_node node;
	struct gt_ev_graph graph;
	struct gt_ev_device device;
};
union gt_event_body {
	uint64_t words[17];
	union gt_gpu_event_body gpu;
	struct gt_ev_annotation annotation;
	struct gt_ev_annotation_end annotation_end;
	struct gt_ev_name name;
	struct gt_ev_sched sched;
	struct gt_ev_probe probe;
	struct gt_ev_sample sample;
};
#define GT_EV_SIZE(type, words)                                                                    \
	_Static_assert(sizeof(struct gt_ev_##type) == 8 * (words), "layout of gt_ev_" #type)
GT_EV_SIZE(state, 3);
GT_EV_SIZE(loss, 2);
GT_EV_SIZE(work, 4);
GT_EV_SIZE(kernel, 9);
GT_EV_SIZE(copy, 6);
GT_EV_SIZE(set, 6);
GT_EV_SIZE(timed, 11);
GT_EV_SIZE(call, 2);
GT_EV_SIZE(managed, 4);
GT_EV_SIZE(overhead, 2);
GT_EV_SIZE(node, 1);
GT_EV_SIZE(graph, 2);
GT_EV_SIZE(device, 7);
GT_EV_SIZE(annotation, 8);
GT_EV_SIZE(annotation_end, 2);
GT_EV_SIZE(name, 3);
GT_EV_SIZE(sched, 4);
GT_EV_SIZE(sample, 2);
GT_EV_SIZE(probe, 5 + GT_PROBE_VALUES);
#undef GT_EV_SIZE
_Static_assert(sizeof(union gt_event_body) == 8 * 17, "the longest event has 17 words");
_Static_assert(sizeof(union gt_gpu_event_body) == 8 * 11, "the longest of the GPU has eleven");
#endif
