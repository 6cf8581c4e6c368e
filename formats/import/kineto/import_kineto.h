/* Shared by the files of the Kineto importer; import_kineto.c describes them. */
#ifndef GT_IMPORT_KINETO_H
#define GT_IMPORT_KINETO_H
#include "formats/base/map.h"
#include "formats/io/sorter.h"
#include "formats/io/stream_out.h"
#include "formats/cuda/gpu_rows.h"
#include "formats/io/json_scan.h"
#include "formats/trace/write/sample_rows.h"
#include "formats/trace/write/writer.h"

/* bytes of different names in memory; names of kernels and calls may use a third more */
#define GT_KINETO_TEXT (24u << 20)
#define GT_KINETO_TRACKS (1u << 15) /* threads, streams and named places, each */
#define GT_KINETO_VALUES 16         /* series of one counter */
#define GT_KINETO_RECENT_CLASSES 256u

/* Arguments that are copied under their own names: shapes of an operator's inputs,
 * and size, type and group of a collective operation. text: a string; else a number. */
/* clang-format off */
#define GT_KINETO_EXTRA(X) /* key, text */ \
	X("Input Dims", true) \
	X("Input type", true) \
	X("Collective name", true) \
	X("In msg nelems", false) \
	X("Out msg nelems", false) \
	X("Group size", false) \
	X("dtype", true) \
	X("Process Group Name", true) \
	X("Process Group Description", true) \
	X("Process Group Ranks", true) \
	X("communicator", true) /* these two: from NCCL, in files of gtexport */ \
	X("message_bytes", false)
/* clang-format on */
#define GT_KINETO_NEXTRA 12
#define GT_KINETO_STACKED (1u << 31) /* in a class: its rows have a stack */
/* maximum size of one extra text in bytes; a longer one is dropped and counted */
#define GT_KINETO_EXTRA_TEXT 1024

enum gt_kineto_cat {
	/* cpu_op, user_annotation, python_function: ranges that the program names */
	GT_KINETO_RANGE,
	GT_KINETO_KERNEL,
	GT_KINETO_COPY,
	GT_KINETO_SET,
	GT_KINETO_WAIT,
	GT_KINETO_RUNTIME,
	GT_KINETO_DRIVER,
	GT_KINETO_GPU_RANGE, /* the time of a range's work on the GPU */
	GT_KINETO_OVERHEAD,
	/* a range of CUPTI's range profiler: its arguments are metrics, which become counters */
	GT_KINETO_METRICS,
	GT_KINETO_SESSION,      /* the time that the profiler was on */
	GT_KINETO_FLOW,         /* from a call to its GPU work */
	GT_KINETO_FORWARD_FLOW, /* from an operator to that of its backward pass */
	GT_KINETO_OTHER_FLOW,   /* not read */
	GT_KINETO_OTHER,        /* any other word, or none: the name decides */
	/* categories that are no words of the file: */
	/* a runtime call around driver calls that are events, too, in a file of gtexport */
	GT_KINETO_OUTER,
	GT_KINETO_COUNTER,
	GT_KINETO_ALLOC,
	GT_KINETO_FREE /* of a PyTorch allocator */
};

/* A process or thread. Kineto has words for things that are neither ("Spans", "Traces"). */
struct gt_kineto_id {
	uint32_t word; /* string id, GT_NONE: number is valid */
	int64_t number;
};

enum gt_kineto_has {
	GT_KINETO_TS = 1,
	GT_KINETO_DUR = 2,
	GT_KINETO_BAD_TIME = 4,
	GT_KINETO_TID = 8,
	GT_KINETO_ID = 16,
	GT_KINETO_CORRELATION = 32,
	GT_KINETO_DEVICE = 64,
	GT_KINETO_STREAM = 128,
	GT_KINETO_CBID = 256,
	GT_KINETO_PEERS = 512,
	GT_KINETO_ARROW = 1024,    /* in a file of gtexport: an arrow leads to its call */
	GT_KINETO_INFERRED = 2048, /* and gt had inferred the call from the order only */
	GT_KINETO_EVENT = 4096,
	GT_KINETO_CHANGE = 8192,
	GT_KINETO_OF_RUNTIME = 16384, /* in a file of gtexport: of the layer of runtime calls */
	GT_KINETO_THREAD = 32768,     /* and of another thread than tid says */
	GT_KINETO_UNMATCHED = 65536,  /* a begin without an end; ret is 1: an end without a begin */
	GT_KINETO_LOCAL_ID = 1 << 17, /* the id is one of the process */
	GT_KINETO_BIND = 1 << 18, /* an arrow has the id `bind`; it begins or ends at the event */
	GT_KINETO_BIND_OUT = 1 << 19,
	GT_KINETO_BIND_IN = 1 << 20,
	GT_KINETO_LOSS = 1 << 21, /* in a file of gtexport: events are missing for `dur` */
};

/* The fields of GPU work. */
struct gt_kineto_work {
	unsigned unknown; /* enum gt_gpu_unknown: missing ones */
	uint64_t correlation, graph, node, bytes, value, event;
	int64_t device, stream;
	uint32_t context, registers, shared, grid[3], block[3];
	uint32_t from_device, to_device;
};

/* One event of the file. A member without its bit in `has` is missing in the file, and 0. */
struct gt_kineto_event {
	unsigned has;            /* enum gt_kineto_has */
	char phase;              /* 'X', 'i' ...; 0 none */
	uint8_t cat;             /* enum gt_kineto_cat */
	uint32_t name, cat_name; /* string ids, or GT_NONE */
	struct gt_kineto_id pid, tid;
	int64_t ts, dur; /* ns */
	/* of a flow or operation: a number, or a hash of its text; hash of the scope of an id */
	uint64_t id, scope, bind;
	struct gt_kineto_work gpu;
	uint32_t label; /* "name" or "labels" of metadata; of a counter its id */
	int32_t ret;
	unsigned nextra, extra; /* extra: bit n for the n-th of GT_KINETO_EXTRA */
	uint32_t extra_at;      /* index in gt_kineto.arg_sets */
	int64_t change;         /* bytes allocated, or freed when negative */
	int64_t thread;
	uint32_t stack; /* plus 1; 0: none */
	/* of an operator: PyTorch's sequence number plus 1, 0 none; not 0: it is of the backward
	 * pass, and this is PyTorch's number of the thread of the forward pass */
	uint64_t sequence, forward_thread;
	uint64_t period;  /* ns, of a sample in a file of gtexport; 0: none */
	uint64_t lost;    /* events of a loss; 0: unknown */
	unsigned nvalues; /* of a counter */
	/* the members from here on are not zeroed */
	struct {
		uint32_t name;
		double value;
	} values[GT_KINETO_VALUES];
	uint64_t extra_values[GT_KINETO_NEXTRA]; /* nextra, in the order of their bits */
};

/* The begins and ends of slices; import_kineto_slices.c describes them. A lane is a stack of open
 * slices, outermost first; zeroed but for `last`, INT64_MIN, before its first use. */
struct gt_kineto_lane {
	struct gt_kineto_event *open;
	size_t nopen, cap;
	int64_t last; /* ns: the latest begin or end */
	bool sorted;
};
struct gt_kineto_slices {
	/* for a slice, which has its duration; a begin without an end; an end without a begin
	 * (NULL: nothing is known of it). They return 0 or negative. */
	int (*put)(void *arg, struct gt_kineto_event *ev, struct gt_err *err);
	int (*put_begin)(void *arg, struct gt_kineto_event *ev, struct gt_err *err);
	int (*put_end)(void *arg, struct gt_kineto_event *ev, struct gt_err *err);
	void *arg;
	size_t nopen;
	struct gt_sorter sorter;
	struct gt_out spool; /* events of sorted lanes */
	int spool_fd;
	uint64_t spooled, order;
	struct gt_kineto_event beginning;
};

/* A table of recent items, found by a key: a ring, in which the newest item replaces the oldest,
 * and a hash chain for each of as many buckets, newest first. Items are numbered from 1. */
struct gt_kineto_link {
	uint64_t key, before;
}; /* first in each item */
struct gt_kineto_ring {
	char *items;
	uint64_t *heads;
	size_t size;
	unsigned bits;
	uint64_t n;
};

/* The open calls or ranges of a thread. */
struct gt_kineto_nest {
	struct {
		int64_t start, end;
		uint8_t op;
		/* of ranges: */
		uint32_t cls;
		uint64_t sequence; /* as in args of gt_kineto_order */
		uint64_t frame;    /* of gt_kineto_add_frame; 0: not added */
		uint64_t forward;  /* frame of the operator that an arrow comes from; 0: none */
	} * open;
	size_t n, cap;
};
struct gt_kineto_thread {
	int64_t pid, tid;
	uint32_t process, track; /* tracks */
	struct gt_kineto_nest calls, ranges;
	struct gt_kineto_lane lane; /* of begins and ends */
};
/* The type of events with this name, category and set of extra arguments. inner:
 * their type within a call of the same operation, which counts instead. */
struct gt_kineto_class {
	/* extra: of GT_KINETO_EXTRA, or with GT_KINETO_STACKED */
	uint32_t name, cat, cat_name, extra;
	uint32_t type, inner;
	uint8_t op, first_arg, nfields;
	bool call;
	/* as a frame of a stack: enum gt_frame_kind, and string id plus 1; 0: not known yet */
	uint8_t frame_kind;
	uint32_t frame_text;
};
/* a name that comes before its track */
struct gt_kineto_name {
	int64_t pid, tid;
	uint32_t thread, name;
};
/* a process, device, context or stream, or a track named by a word */
struct gt_kineto_place {
	int64_t id;
	uint32_t parent, kind;
	uint32_t track;
};

struct gt_kineto {
	struct gt_writer *w;
	const char *format; /* "kineto", or that of another importer of such events */
	struct gt_gpu_types gpu;
	struct gt_sample_types samples; /* w NULL: none yet */
	/* string ids */
	uint32_t source, nameless, no_name, process_name, thread_name, window_end_name, memory_name;
	size_t name_bytes; /* of GT_KINETO_TEXT */
	uint32_t nstrings;
	struct gt_kineto_recent {
		uint32_t len, id;
	} recent[1024]; /* recent strings */
	struct gt_kineto_thread *threads;
	size_t nthreads, threads_cap, last_thread;
	struct gt_kineto_class *classes;
	size_t nclasses, classes_cap;
	uint32_t recent_classes[GT_KINETO_RECENT_CLASSES];
	struct gt_kineto_name *names;
	size_t nnames, names_cap;
	struct gt_kineto_place *places;
	size_t nplaces, places_cap;
	struct gt_map thread_map, class_map, name_map, place_map;
	/* track of the process with the first call or range, or GT_NONE */
	uint32_t first_process;
	struct gt_sorter ordered;
	/* GPU work that waits for the stack of its call: there are operators with sequence numbers,
	 * or arrows between operators (has_sequences). The record that was read last is in
	 * next_work */
	struct gt_sorter stacked_works;
	struct gt_kineto_stacked_work *next_work;
	bool has_sequences, has_backward;
	struct gt_kineto_forward *forwards; /* of import_kineto_forward.c */
	struct gt_kineto_ring calls, works, flows;
	struct gt_kineto_slices slices;
	/* of GPUs, by the process number that the file has for them */
	struct gt_kineto_owner {
		int64_t pid;
		uint32_t process;
	} owners[64];
	unsigned nowners;
	/* number of the newest of works that only an arrow can join, 0 none */
	uint64_t newest_unjoined;
	/* unknown categories */
	struct gt_kineto_other {
		uint32_t cat_name;
		bool accelerator;
		uint64_t n;
	} others[32];
	unsigned nothers;
	/* the different sets of extra arguments */
	struct gt_kineto_arg_set {
		uint64_t mask, values[GT_KINETO_NEXTRA];
	} * arg_sets;
	size_t narg_sets, arg_sets_cap;
	struct gt_map arg_set_map;
	/* innermost frames of stacks, by the id of the stack; and the frames of stackFrames */
	struct gt_kineto_stacks {
		uint64_t *leaves;
		struct gt_kineto_frame *frames;
		size_t nleaves, leaves_cap, nframes, frames_cap;
		struct gt_map leaf_map, frame_map;
	} stacks;
	struct gt_out args;                /* arguments that came before the phase, as JSON */
	int64_t now;                       /* the latest time so far */
	int64_t session_start, session_ns; /* -1: unknown */
	int64_t window_end;                /* INT64_MIN: unknown */
	struct gt_kineto_counts {
		uint64_t events, kernels, copies, sets, waits, exact, inferred, unjoined,
			gpu_ranges;
		uint64_t no_time, negative, not_nested, names_left_out, not_understood;
		uint64_t args_left_out, stacks_left_out;
		uint64_t backward, no_forward; /* calls of the backward pass */
		/* lost: damaged events that may have been calls or GPU work */
		uint64_t damaged, lost;
		uint64_t phases[128]; /* by phase: events of phases that are not imported */
	} counts;
};

/* ---- import_kineto.c ---- */
/* A file, and what is around its events. */
struct gt_kineto_document {
	struct gt_kineto k;
	struct gt_json j;
	struct gt_out others; /* {"key":value,... */
	struct gt_out gpus;   /* {"model":"..."},... */
	unsigned ngpus, left_out;
	int64_t base; /* ns since 1970 at time 0 */
	int64_t cuda; /* version, 13000 for 13.0 */
	bool based, truncated;
	bool at_name;    /* the last token of deviceProperties is the key "name" */
	bool open_array; /* the file is an array of events, whose end may be missing */
};
/* new: release it. NULL with err set. */
struct gt_kineto_document *gt_kineto_document_new(
	struct gt_writer *w, const char *format, struct gt_err *err);
/* Adds another key of the document, of other formats: its value is JSON. What is no JSON is left
 * out and counted. 0 or -ENOMEM. */
int gt_kineto_document_key(struct gt_kineto_document *d, const char *key, const char *json,
	size_t len, struct gt_err *err);
int gt_kineto_document_finish(struct gt_kineto_document *d, struct gt_err *err);
void gt_kineto_document_free(struct gt_kineto_document *d); /* NULL is fine */

/* ---- import_kineto_event.c ---- */
/* Reads the event whose opening bracket the scanner has just returned. 0 or negative. */
int gt_kineto_event(
	struct gt_kineto *k, struct gt_json *j, struct gt_kineto_event *ev, struct gt_err *err);

/* For readers of other formats: an event without fields; its category, by the word or unknown; its
 * name, then that of an argument and its value, a token of JSON (GT_JSON_INT, REAL or STRING).
 * Category and phase come before arguments. scratch: zeroed before its first use. */
void gt_kineto_event_init(struct gt_kineto_event *ev);
void gt_kineto_event_category(
	struct gt_kineto *k, struct gt_kineto_event *ev, const char *word, size_t len);
uint32_t gt_kineto_intern(
	struct gt_kineto *k, const struct gt_kineto_event *ev, const char *s, size_t len);
void gt_kineto_event_arg(struct gt_kineto *k, struct gt_kineto_event *ev, struct gt_json *scratch,
	const char *key, size_t key_len, int token, const char *text, size_t len);
/* An argument with an integer: its bits; negative: they are those of an int64_t below 0. */
void gt_kineto_event_number(struct gt_kineto *k, struct gt_kineto_event *ev,
	struct gt_json *scratch, const char *key, size_t key_len, uint64_t value, bool negative);
/* Three numbers: of a kernel's grid or block. */
void gt_kineto_event_three(struct gt_kineto_event *ev, bool block, const uint32_t v[3]);

extern const struct gt_kineto_extra_key {
	const char *word;
	uint8_t len;
	bool text;
} gt_kineto_extra_keys[GT_KINETO_NEXTRA];

/* ---- import_kineto_tracks.c ---- */
int gt_kineto_strings(struct gt_kineto *k, struct gt_err *err); /* interns the fixed strings */
/* Handles metadata of a process or thread. */
int gt_kineto_set_name(struct gt_kineto *k, const struct gt_kineto_event *ev, struct gt_err *err);
/* The track id of a process, added if it is new, or negative. */
int64_t gt_kineto_process_of(struct gt_kineto *k, int64_t pid, struct gt_err *err);
/* index in threads, or negative: there is none yet */
int64_t gt_kineto_find_thread(const struct gt_kineto *k, int64_t pid, int64_t tid);
/* The track id of a stream (stream < 0: of its device), or negative. context 0: unknown. */
int64_t gt_kineto_stream_of(struct gt_kineto *k, uint32_t process, int64_t device, uint32_t context,
	int64_t stream, struct gt_err *err);
/* The track id of an event other than GPU work, or negative: a thread, or a track named by a word.
 * whole: a process without a thread is enough. *thread is the thread's index, or SIZE_MAX. */
int64_t gt_kineto_track_of(struct gt_kineto *k, const struct gt_kineto_event *ev, bool whole,
	size_t *thread, struct gt_err *err);
int gt_kineto_no_memory(struct gt_err *err);

/* ---- import_kineto_rows.c ---- */
/* args: GT_KINETO_ARGS values, see there. */
int gt_kineto_put_host(struct gt_kineto *k, enum gt_kind kind, uint32_t track,
	const struct gt_row *row, const struct gt_kineto_class *cls, const uint64_t *args,
	struct gt_err *err);
int gt_kineto_row(struct gt_kineto *k, struct gt_kineto_event *ev, struct gt_err *err);
/* The rows of an event with a duration, of one at a time, of a begin or end without the other. */
int gt_kineto_complete(struct gt_kineto *k, struct gt_kineto_event *ev, struct gt_err *err);
int gt_kineto_instant(struct gt_kineto *k, const struct gt_kineto_event *ev, struct gt_err *err);
int gt_kineto_unmatched(
	struct gt_kineto *k, struct gt_kineto_event *ev, bool end, struct gt_err *err);
/* The class for the same calls with a stack, or the same class if there are too many. Or negative.
 */
int64_t gt_kineto_stacked_class(struct gt_kineto *k, uint32_t cls, struct gt_err *err);
/* Call it after each row, with the row's end: closes the epoch when it is due. */
int gt_kineto_close_due_epoch(struct gt_kineto *k, int64_t end, struct gt_err *err);

/* ---- import_kineto_order.c ---- */
/* of a call: correlation id and kernel; of a range: category and extra_at; then the stack, and of
 * an operator its sequence number (gt_kineto_sequence) */
#define GT_KINETO_ARGS 4
uint64_t gt_kineto_next_number(const struct gt_kineto *k); /* of the next call or range */
int gt_kineto_order(struct gt_kineto *k, size_t thread, const struct gt_kineto_event *ev,
	uint32_t cls, const uint64_t args[GT_KINETO_ARGS], struct gt_err *err);
/* Sets the kernel of a launch, once per call at most; start and end are those of the call. */
int gt_kineto_name_launch(struct gt_kineto *k, uint64_t number, int64_t start, int64_t end,
	uint32_t kernel, struct gt_err *err);
/* An arrow from an operator of the forward pass to one of the backward pass. */
int gt_kineto_order_arrow(
	struct gt_kineto *k, size_t thread, const struct gt_kineto_event *ev, struct gt_err *err);
int gt_kineto_order_finish(struct gt_kineto *k, struct gt_err *err); /* writes the rows */

/* ---- import_kineto_ring.c ---- */
/* bits: of the number of items, and of buckets. 0 or -ENOMEM; release it in both cases. */
int gt_kineto_ring_init(struct gt_kineto_ring *r, size_t size, unsigned bits);
void gt_kineto_ring_release(struct gt_kineto_ring *r);
/* The item with this number, or NULL: a newer one has replaced it, or there is none yet. */
void *gt_kineto_ring_at(const struct gt_kineto_ring *r, uint64_t number);
/* A zeroed item with this key. Borrowed until a newer one replaces it. */
void *gt_kineto_ring_add(struct gt_kineto_ring *r, uint64_t key);
/* The newest item with this key, or NULL. */
void *gt_kineto_ring_find(const struct gt_kineto_ring *r, uint64_t key);
/* items of a bucket that are searched; only a malicious file has more */
#define GT_KINETO_CHAIN_MAX 4096u
/* The number of the newest item in the key's bucket; link.before leads to the next one. */
uint64_t *gt_kineto_ring_head(const struct gt_kineto_ring *r, uint64_t key);

/* ---- import_kineto_phases.c ---- */
/* An event of a phase in GT_KINETO_HALVES. */
#define GT_KINETO_HALVES "BEbneSTpF"
int gt_kineto_phase(struct gt_kineto *k, struct gt_kineto_event *ev, struct gt_err *err);
int gt_kineto_phases_finish(struct gt_kineto *k, struct gt_err *err);

/* ---- import_kineto_slices.c ---- */
/* lane NULL: there may be any number of such lanes, which are sorted by their keys. All return 0 or
 * negative. A slice begins: memory for its event, for gt_kineto_slice_begin(), which adds it. NULL:
 * err is set. */
struct gt_kineto_event *gt_kineto_slice_open(struct gt_kineto_slices *s,
	struct gt_kineto_lane *lane, uint64_t key, int64_t time, struct gt_err *err);
int gt_kineto_slice_begin(struct gt_kineto_slices *s, struct gt_kineto_lane *lane, uint64_t key,
	const struct gt_kineto_event *ev, struct gt_err *err);
/* The innermost slice ends; ev: what else is known of the end, or NULL. */
int gt_kineto_slice_end(struct gt_kineto_slices *s, struct gt_kineto_lane *lane, uint64_t key,
	int64_t time, const struct gt_kineto_event *ev, struct gt_err *err);
/* Puts the begins of a lane that have no end; then the sorted slices of all lanes. */
int gt_kineto_lane_finish(
	struct gt_kineto_slices *s, struct gt_kineto_lane *lane, struct gt_err *err);
int gt_kineto_slices_finish(struct gt_kineto_slices *s, struct gt_err *err);
void gt_kineto_slices_release(struct gt_kineto_slices *s); /* a zeroed one is fine */

/* ---- import_kineto_names.c ---- */
/* What the names of copies, sets, waits and overhead say. */
enum gt_direction gt_kineto_direction(const char *name);
/* A set has only a destination. */
void gt_kineto_memories(const char *name, enum gt_gpu_memory *src, enum gt_gpu_memory *dst);
enum gt_gpu_wait gt_kineto_wait_kind(const char *name);
uint32_t gt_kineto_overhead_kind(const char *name); /* see gt_gpu_put_overhead; 0: unknown */

/* ---- import_kineto_gpu.c ---- */
int gt_kineto_gpu_row(struct gt_kineto *k, const struct gt_kineto_event *ev, struct gt_err *err);
/* Adds a call: writes the work that waits for it, and stores it for later work.
 * *kernel: the name of the first kernel that waited, or GT_NONE. */
int gt_kineto_add_call(struct gt_kineto *k, size_t thread, const struct gt_kineto_event *ev,
	uint32_t *kernel, struct gt_err *err);
/* Writes the work whose call has this number and time, with the stack of the call (plus 1; 0:
 * none), and work of earlier calls that is left. For each call, in order of time. */
int gt_kineto_put_stacked(struct gt_kineto *k, uint64_t number, int64_t start, int64_t end,
	uint32_t stack, struct gt_err *err);
/* An arrow begins ('s') or ends ('f') at this event. */
int gt_kineto_flow(
	struct gt_kineto *k, const struct gt_kineto_event *ev, char phase, struct gt_err *err);
/* Writes the work that still waits as work of an unknown call. */
int gt_kineto_gpu_finish(struct gt_kineto *k, struct gt_err *err);
void gt_kineto_gpu_release(struct gt_kineto *k);

/* ---- import_kineto_forward.c ---- */
/* The sequence number of an operator as one value, 0: none. */
#define GT_KINETO_BACKWARD 1u
static inline uint64_t gt_kineto_sequence(const struct gt_kineto_event *ev)
{
	return ev->sequence << 1 | (ev->sequence && ev->forward_thread ? GT_KINETO_BACKWARD : 0);
}
/* Call it for each operator with a sequence number, in order of time: the innermost open range of
 * the thread, which starts then. */
int gt_kineto_note_forward(struct gt_kineto *k, size_t thread, int64_t start, struct gt_err *err);
/* Call it for each end of an arrow, in order of time: an operator of the thread starts then.
 * phase: 's' or 'f'. */
int gt_kineto_note_arrow(struct gt_kineto *k, size_t thread, uint64_t id, char phase, int64_t start,
	struct gt_err *err);
/* The stack of a call of this thread that starts at this time: that of the forward operator, if the
 * thread is in an operator of the backward pass. Plus 1; 0: it has none. */
uint32_t gt_kineto_backward_stack(struct gt_kineto *k, size_t thread, int64_t start);

/* ---- import_kineto_stacks.c ---- */
/* Adds a frame within the frame `parent`, 0: the outermost one. text: a string id. Returns its id;
 * 0: there are too many. */
uint64_t gt_kineto_add_frame(
	struct gt_kineto *k, uint64_t parent, uint32_t text, enum gt_frame_kind kind);
/* The stack whose innermost frame has this id, plus 1; 0: none, there are too many. */
uint32_t gt_kineto_stack(struct gt_kineto *k, uint64_t frame);
/* The id of a frame: of the token, which is a number, string or key. */
uint64_t gt_kineto_frame_id(const struct gt_json *j, int token);
/* Reads the value of stackFrames, whose first token is `token`. */
int gt_kineto_frames(struct gt_kineto *k, struct gt_json *j, int token, struct gt_err *err);
int gt_kineto_stacks_finish(struct gt_kineto *k, struct gt_err *err); /* defines the stacks */
void gt_kineto_stacks_release(struct gt_kineto_stacks *s);
#endif
