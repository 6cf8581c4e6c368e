/* GPU work as rows: kernels, copies, sets and waits have one form, whatever reports them (CUPTI,
 * CUDA events, an imported file).
 *
 * Tracks: a device is a GT_TRACK_DEVICE (id: ordinal) below its process, a context a
 * GT_TRACK_CONTEXT below its device, a stream a GT_TRACK_STREAM (id: stream id, unique within its
 * context) below its context, or below its device if the context is unknown.
 *
 * Rows: a kernel is a GT_GPU row whose type has the kernel's (mangled) name, category kernel, op
 * launch. A copy has category copy, op copy and a name like "memcpy HtoD (pageable -> device)". A
 * set has op set, a name like "memset (device)", and category copy like its call: category memory
 * is for calls that allocate and free. A wait is a GT_SPAN row of category sync: it blocks the host
 * or a stream and is no work. All have layer gpu. Migrations and faults of managed memory are
 * GT_SPAN and GT_INSTANT rows of category memory on the track of the device or process. Overheads
 * of CUPTI and the driver are GT_SPAN rows of layer overhead on the track of the process. Managed
 * memory and overheads are not the program's work and have no op. */
#ifndef GT_GPU_ROWS_H
#define GT_GPU_ROWS_H
#include "formats/base/map.h"
#include "formats/trace/write/writer.h"

/* clang-format off */
#define GT_GPU_MEMORIES(X) \
	X(UNKNOWN, "unknown") \
	X(PAGEABLE, "pageable") \
	X(PINNED, "pinned") \
	X(DEVICE, "device") \
	X(ARRAY, "array") \
	X(MANAGED, "managed") \
	X(DEVICE_STATIC, "device static") \
	X(MANAGED_STATIC, "managed static")
/* clang-format on */
enum gt_gpu_memory { /* CUPTI's numbers (CUpti_ActivityMemoryKind) */
#define X(e, w) GT_GPU_MEM_##e,
	GT_GPU_MEMORIES(X)
#undef X
		GT_GPU_MEMORY_COUNT
};
enum gt_gpu_wait {
	GT_GPU_WAIT_UNKNOWN,
	GT_GPU_WAIT_EVENT,
	GT_GPU_WAIT_STREAM_EVENT,
	GT_GPU_WAIT_STREAM,
	GT_GPU_WAIT_CONTEXT,
	GT_GPU_WAITS
};

/* The call that launched the work. join GT_JOIN_UNKNOWN: it is unknown, and the other members are
 * not used. */
struct gt_gpu_cause {
	enum gt_join join;
	uint32_t track, name; /* of the call; string id */
	int64_t start;        /* ns */
	uint64_t ns;
	uint32_t stack; /* of the call, plus one; 0: it has none */
};
/* Values that are unknown: the row lacks their fields, because 0 is a value. */
enum gt_gpu_unknown {
	GT_GPU_NO_CORRELATION = 1,
	GT_GPU_NO_CONTEXT = 2,
	GT_GPU_NO_BYTES = 4,
	GT_GPU_NO_ASYNC = 8,
	GT_GPU_NO_VALUE = 16,
	GT_GPU_NO_GRID = 32,
	GT_GPU_NO_BLOCK = 64,
	GT_GPU_NO_SHARED = 128,
	GT_GPU_NO_REGISTERS = 256,
	GT_GPU_UNKNOWN = 511,
};
/* Fields of a row beside those of its kind, in the order of their values. key: a number below 1 <<
 * 15 for this list of fields: rows with the same list have one type. */
struct gt_gpu_extra {
	uint32_t key;
	unsigned n;
	const struct gt_gpu_extra_field {
		const char *name;
		uint8_t kind;
	} * fields;
	const uint64_t *values;
};
/* Common to all work. graph, node: 0 if it is not part of a graph. */
struct gt_gpu_work {
	uint32_t track;     /* of the stream */
	int64_t start, end; /* ns */
	uint32_t correlation, context;
	uint32_t graph;
	uint64_t node;
	uint32_t unknown;          /* bits of enum gt_gpu_unknown */
	struct gt_gpu_extra extra; /* none: all 0 */
	/* CUDA events around the call gave start and end, which are bounds; the row has a field
	 * that says so */
	bool by_events;
	struct gt_gpu_cause cause;
	/* of a graph's work: the call that created its node, or was captured as the node; its ns
	 * is not used */
	struct gt_gpu_cause created_by;
};
struct gt_gpu_kernel {
	uint32_t name; /* string id */
	uint32_t grid[3], block[3];
	uint32_t shared_static, shared_dynamic; /* bytes a block */
	uint32_t registers;                     /* a thread */
};
struct gt_gpu_copy {
	enum gt_direction direction;
	enum gt_gpu_memory src, dst;
	bool async;
	uint64_t bytes;
	uint32_t src_device, dst_device;
};
struct gt_gpu_set {
	enum gt_gpu_memory memory;
	uint64_t bytes;
	uint32_t value;
	bool async;
};
#define GT_GPU_NO_EVENT UINT32_MAX
/* event: its handle, or GT_GPU_NO_EVENT */
struct gt_gpu_waiting {
	enum gt_gpu_wait what;
	uint64_t event;
};

enum gt_gpu_managed_kind { /* CUPTI's numbers (CUpti_ActivityUnifiedMemoryCounterKind) */
	GT_GPU_MIGRATION_HTOD = 1,
	GT_GPU_MIGRATION_DTOH,
	GT_GPU_CPU_FAULT,
	GT_GPU_FAULT,
	GT_GPU_THRASHING,
	GT_GPU_THROTTLING,
	GT_GPU_REMOTE_MAP,
	GT_GPU_MIGRATION_DTOD,
	GT_GPU_MANAGED_KINDS
};
#define GT_GPU_HOST UINT32_MAX /* in place of a device */
struct gt_gpu_managed {
	enum gt_gpu_managed_kind kind;
	/* value: bytes; of a GPU fault: number of faults; of a CPU fault: address of the
	 * instruction */
	uint64_t value, address;
	uint32_t from, to; /* devices, or GT_GPU_HOST */
	/* CUPTI's number: cause of a migration or remote map, kind of access of a fault */
	uint32_t why;
};
struct gt_gpu_overhead {
	uint32_t kind /* CUpti_ActivityOverheadKind */, thread /* 0: none */;
};

/* The types already made. Zero-initialised but for w is empty. */
struct gt_gpu_types {
	struct gt_writer *w;
	struct gt_map map;
	struct gt_gpu_type {
		uint64_t key;
		uint32_t type;
	} * types;
	size_t n, cap;
};
void gt_gpu_types_release(struct gt_gpu_types *t);

/* Does a type for a kernel of this name and with these fields exist? If not, gt_gpu_put_kernel
 * makes one. */
bool gt_gpu_knows_kernel(
	const struct gt_gpu_types *t, const struct gt_gpu_work *work, uint32_t name);

/* Each writes one row. 0 or negative. */
int gt_gpu_put_kernel(struct gt_gpu_types *t, const struct gt_gpu_work *work,
	const struct gt_gpu_kernel *k, struct gt_err *err);
int gt_gpu_put_copy(struct gt_gpu_types *t, const struct gt_gpu_work *work,
	const struct gt_gpu_copy *c, struct gt_err *err);
int gt_gpu_put_set(struct gt_gpu_types *t, const struct gt_gpu_work *work,
	const struct gt_gpu_set *s, struct gt_err *err);
/* A graph launch as a whole, whose nodes have no rows: category graph, op graph_launch. */
int gt_gpu_put_graph(struct gt_gpu_types *t, const struct gt_gpu_work *work, struct gt_err *err);
/* A launching call without a GPU record: an instant of layer gpu on its thread's track. function,
 * kernel: strings; kernel may be GT_NONE. */
int gt_gpu_put_missing(struct gt_gpu_types *t, uint32_t track, int64_t start, uint32_t function,
	uint32_t kernel, struct gt_err *err);
int gt_gpu_put_wait(struct gt_gpu_types *t, const struct gt_gpu_work *work,
	const struct gt_gpu_waiting *s, struct gt_err *err);

/* By the name of a row's type; GT_GPU_WAIT_UNKNOWN: it is no wait, or for something unknown. */
enum gt_gpu_wait gt_gpu_wait_of_row(const char *name);
/* By the name of a driver function; GT_GPU_WAIT_UNKNOWN: it does not wait. */
enum gt_gpu_wait gt_gpu_wait_of_call(const char *name);
/* Of work only track, start and end are used. */
int gt_gpu_put_managed(struct gt_gpu_types *t, const struct gt_gpu_work *work,
	const struct gt_gpu_managed *m, struct gt_err *err);
/* Its first field is the thread. */
int gt_gpu_put_overhead(struct gt_gpu_types *t, const struct gt_gpu_work *work,
	const struct gt_gpu_overhead *o, struct gt_err *err);
/* Does recording cause it? Otherwise the program has it without gtcollect, too. */
bool gt_gpu_overhead_is_ours(uint32_t kind);

const char *gt_gpu_memory_word(unsigned memory);   /* "unknown" for other numbers */
const char *gt_direction_word(unsigned direction); /* "HtoD", ...; "?" for other numbers */
#endif
