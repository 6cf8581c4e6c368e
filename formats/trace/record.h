/* The data model of a trace, used by all parts of gt.
 *
 * A trace is one or more SEGMENTS (each is one recording on one machine; `cat a b` makes two). A
 * segment interns STRINGS, TYPES (the name, category, operation and typed arguments of an event)
 * and TRACKS (its place: process, thread, GPU, stream), and holds ROWS: finished calls, complete
 * spans, instants, counters, losses. All ids are dense, start at 0, and are valid only in their
 * segment. All times are int64 ns on CLOCK_MONOTONIC.
 */
#ifndef GT_RECORD_H
#define GT_RECORD_H
#include <stdbool.h>
#include <stdint.h>

#define GT_NONE UINT32_MAX /* no such id */
/* ns: times lie within 73 years of 0 either way, so that differences never overflow */
#define GT_TIME_MAX (1ll << 61)

/* ---- rows ---- */
enum gt_kind {
	/* a finished call on a thread: nests properly with its siblings on the same track */
	GT_CALL = 1,
	/* a call begun but not finished when its epoch closed: `end` is when the epoch closed */
	GT_OPEN,
	GT_SPAN, /* a complete interval; it may overlap others on its track */
	/* a GPU operation: a span; its fields of the roles GT_R_LAUNCH_* name the call that
	   launched it */
	GT_GPU,
	GT_INSTANT, /* a moment: end == start */
	GT_COUNTER, /* a value from `start` on: args[0] is the value */
	/* a begin without end (ret 0; end == start) or an end without begin (ret 1), from
	   another tool's file */
	GT_UNMATCHED,
	/* events missing between start and end; type is GT_NONE, args[0] the count (UINT64_MAX
	   unknown), args[1] an enum gt_scope; the track is GT_NONE if the scope is not a track */
	GT_LOST,
	GT_KINDS
};
#define GT_BIT(x) (1u << (x))
#define GT_LOST_UNKNOWN UINT64_MAX
enum gt_scope { GT_SCOPE_TRACK, GT_SCOPE_PROCESS, GT_SCOPE_CPU, GT_SCOPE_DEVICE, GT_SCOPE_ALL };

struct gt_row {
	int64_t start, end; /* ns; end >= start */
	uint32_t type;
	int32_t ret;   /* return code of a call, 0 is success */
	uint8_t depth; /* number of calls around it on its track */
	uint8_t nargs; /* must equal the type's field count */
};

/* ---- types ---- */
/* clang-format off */
#define GT_CATEGORIES(X) /* enum, word in files and reports */ \
	X(OTHER, other) X(INIT, init) X(CONTEXT, context) X(MEMORY, memory) X(COPY, copy) \
	X(LAUNCH, launch) X(SYNC, sync) X(STREAM, stream) X(MODULE, module) X(GRAPH, graph) \
	X(QUERY, query) X(INTEROP, interop) X(IOCTL, ioctl) X(FILE, file) X(KERNEL, kernel) \
	X(SCHEDULER, scheduler) X(USER, user) X(LOCK, lock) X(IO, io) X(SLEEP, sleep) \
	X(FAULT, fault) X(WAIT, wait) X(RUNNABLE, runnable) X(GIL, gil)
/* clang-format on */
enum gt_category {
#define X(e, w) GT_CAT_##e,
	GT_CATEGORIES(X)
#undef X
		GT_CATEGORY_COUNT
};

/* The operation of a call, so that no analysis compares names. OFF_CPU: no call, but a state of a
 * thread that does not run (formats/trace/write/sched_rows.h). SAMPLE: what a thread executed at a
 * moment (formats/trace/write/sample_rows.h). */
/* clang-format off */
#define GT_OPS(X) \
	X(NONE, none) X(ALLOC, alloc) X(FREE, free) X(COPY, copy) X(SET, set) X(LAUNCH, launch) \
	X(GRAPH_LAUNCH, graph_launch) X(SYNC, sync) X(IOCTL, ioctl) X(SCHED, sched) X(MAP, map) \
	X(UNMAP, unmap) X(RETAIN, retain) X(IMPORT, import) X(OFF_CPU, off_cpu) X(SAMPLE, sample)
/* clang-format on */
enum gt_op {
#define X(e, w) GT_OP_##e,
	GT_OPS(X)
#undef X
		GT_OP_COUNT
};

/* The kind of memory of an ALLOC or FREE. */
/* clang-format off */
#define GT_MEMKINDS(X) \
	X(UNKNOWN, unknown) X(DEVICE, device) X(POOL, pool) X(MANAGED, managed) X(HOST, host) \
	X(ARRAY, array) X(PHYSICAL, physical)
/* clang-format on */
enum gt_memkind {
#define X(e, w) GT_MEM_##e,
	GT_MEMKINDS(X)
#undef X
		GT_MEMKIND_COUNT
};

/* The layer that a type belongs to, for "time per layer". */
enum gt_layer {
	GT_LAYER_API,
	GT_LAYER_IOCTL,
	GT_LAYER_SCHED,
	GT_LAYER_GPU,
	GT_LAYER_USER,
	GT_LAYER_RUNTIME /* the CUDA runtime, around the API */,
	GT_LAYER_OVERHEAD /* recording, and the driver's compiling and loading */,
	GT_LAYER_SYSCALL /* the host's kernel, but for calls on the driver's files */,
	GT_LAYER_COUNT
};

enum gt_field_kind {
	GT_F_U64,
	GT_F_I64,
	GT_F_HEX, /* HEX: a handle or address */
	GT_F_F64, /* the bits of a double */
	GT_F_STR, /* a string id, or GT_NONE */
	GT_F_BOOL,
	GT_FIELD_KINDS
};
/* The meaning of a field, so that no analysis looks fields up by name. */
enum gt_role {
	GT_R_NONE,
	GT_R_BYTES,
	GT_R_ADDR /* allocated or freed */,
	GT_R_STREAM,
	GT_R_FUNC,
	GT_R_KERNEL /* STR: kernel name, mangled */,
	GT_R_GRID,
	GT_R_BLOCK,
	GT_R_SHARED,
	GT_R_EVENT,
	GT_R_GRAPH,
	GT_R_DEVICE,
	GT_R_CONTEXT,
	GT_R_SRC,
	GT_R_DST,
	GT_R_STATUS,
	GT_R_VALUE,
	GT_R_CORRELATION,
	GT_R_DIRECTION /* U64: enum gt_direction */,
	/* The launching call, copied into the row of the GPU operation so that no lookup is
	 * needed: the call's track (U64: track id), start (I64: ns), duration (U64: ns) and
	 * name (STR), and how the two were joined (U64: enum gt_join). */
	GT_R_LAUNCH_TRACK,
	GT_R_LAUNCH_START,
	GT_R_LAUNCH_NS,
	GT_R_LAUNCH_NAME,
	GT_R_LAUNCH_JOIN,
	GT_R_STACK /* U64: stack id of the caller, GT_NONE unknown */,
	GT_R_REGISTERS /* per thread */,
	GT_R_NODE /* graph node */,
	GT_R_SRC_MEMORY,
	GT_R_DST_MEMORY /* STR: pageable, device ... */,
	GT_R_ASYNC,
	GT_R_UNCERTAIN /* BOOL, of a counter: some changes may be missing */,
	/* For graph nodes: the call that created the node, as the launch above. */
	GT_R_CREATED_BY_TRACK,
	GT_R_CREATED_BY_START,
	GT_R_CREATED_BY_NAME,
	GT_ROLES
};
enum gt_join {
	GT_JOIN_UNKNOWN,
	GT_JOIN_CORRELATION /* both have the same correlation id */,
	GT_JOIN_ORDER /* inferred from the order in a stream: likely, not certain */
};
enum gt_direction {
	GT_DIR_UNKNOWN,
	GT_DIR_HTOD,
	GT_DIR_DTOH,
	GT_DIR_DTOD,
	GT_DIR_HTOH,
	GT_DIR_PEER
};

#define GT_FIELDS_MAX 64
struct gt_field {
	uint32_t name; /* string id */
	uint8_t kind;  /* enum gt_field_kind */
	uint8_t role;  /* enum gt_role */
};
struct gt_type {
	uint32_t name;    /* string id; types with different arguments may have the same name */
	uint8_t category; /* enum gt_category */
	uint8_t op;       /* enum gt_op */
	uint8_t memkind;  /* enum gt_memkind */
	uint8_t layer;    /* enum gt_layer */
	uint8_t nfields;
	const struct gt_field *fields;
};

/* ---- tracks ---- */
/* clang-format off */
#define GT_TRACK_KINDS(X) \
	X(MACHINE, machine) X(PROCESS, process) X(THREAD, thread) X(DEVICE, device) \
	X(CONTEXT, context) X(STREAM, stream) X(CPU, cpu) X(CUSTOM, custom)
/* clang-format on */
enum gt_track_kind {
#define X(e, w) GT_TRACK_##e,
	GT_TRACK_KINDS(X)
#undef X
		GT_TRACK_KIND_COUNT
};
struct gt_track {
	/* a smaller track id, or GT_NONE; a thread's parent is its process */
	uint32_t parent;
	uint32_t name; /* string id: thread name, process command; GT_NONE when unknown */
	/* string id: "preload", "cupti", "ebpf", "import NAME"; a call recorded by two
	 * sources counts once */
	uint32_t source;
	uint8_t kind; /* enum gt_track_kind */
	/* pid, tid, device ordinal, stream id ... in the recorder's namespace */
	int64_t id;
	/* pid or tid in its own namespace; equal to id outside containers */
	int64_t ns_id;
	/* ns: start of a process (machine, pid and start identify it); 0 unknown */
	int64_t start;
};

/* ---- stacks: string ids, outermost first; more may be known of the frame that has a text ---- */
enum gt_frame_kind {
	GT_FRAME_UNKNOWN,
	GT_FRAME_PYTHON,
	GT_FRAME_NATIVE,
	GT_FRAME_KERNEL, /* of the operating system */
	GT_FRAME_MARK,   /* no function: says why the stack has no frames beyond it */
	GT_FRAME_INLINED /* native, put by the compiler into the function of the frame before */
};
/* The mark of a stack of a thread without Python in a program of Python: its outermost frame. */
#define GT_MARK_NATIVE_ONLY "[native only]"
/* The mark in the place of frames of Python that were not read. */
#define GT_MARK_UNREADABLE "[unreadable Python frame]"
struct gt_frame {
	/* string ids or GT_NONE: unknown. function: qualified name, or symbol (mangled); file:
	 * path of the source; module: path of the ELF file */
	uint32_t function, file, module;
	uint32_t line;   /* 0: unknown */
	uint64_t offset; /* virtual address in the ELF file; 0: unknown */
	uint8_t kind;    /* enum gt_frame_kind */
};
#define GT_INLINED_MAX 64u /* functions inlined at one address */
#define GT_BUILD_ID_MAX 64
struct gt_module {     /* an ELF file of which stacks have frames */
	uint32_t path; /* string id */
	uint32_t nid;  /* bytes of its build id: 0 to GT_BUILD_ID_MAX */
	uint8_t id[GT_BUILD_ID_MAX];
};

/* ---- clock anchors: one moment read on three clocks ---- */
struct gt_anchor {
	int64_t monotonic; /* ns */
	int64_t realtime;  /* ns since 1970 */
	uint64_t ticks;    /* the tick counter; equal to monotonic where none is used */
	uint32_t error;    /* ns: the largest time between two of the reads */
};

/* The index of the first field with this role, or GT_NONE. */
uint32_t gt_type_field(const struct gt_type *type, unsigned role);

const char *gt_category_word(unsigned category); /* "?" for an unknown one; likewise below */
const char *gt_memkind_word(unsigned memkind);
const char *gt_track_kind_word(unsigned kind);
const char *gt_op_word(unsigned op);
const char *gt_layer_word(unsigned layer);
const char *gt_kind_word(unsigned kind); /* of a row */
const char *gt_frame_kind_word(unsigned kind);
/* The number that has this word, or -1. */
int gt_word_find(const char *(*word)(unsigned), const char *text);
#endif
