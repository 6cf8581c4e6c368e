/* The simulated GPU: a libcuda.so.1 on which programs run without a GPU.
 *
 * It is a small driver that behaves like the real one. Device memory has addresses that the CPU
 * cannot access. An arena of host memory holds the bytes, so copies move real data. Streams are
 * queues; a worker thread runs them on a simulated clock. Modules are parsed for the names of their
 * kernels. A call that the real driver refuses returns the same error here. The simulator computes
 * the few kernels of samples/cu.h, which it recognizes by name (kernels.c). Any other kernel only
 * takes time. The simulator never opens a real device.
 *
 *   device.c   errors, devices                 context.c  contexts
 *   memory.c   addresses, allocations
 *   mapping.c  pools, virtual memory, arrays   queue.c    the clock, streams, events
 *   copy.c     copies and sets                 module.c   modules, functions
 *   kernels.c  launches and their effects      graph.c, graph_exec.c       graphs
 *   files.c    device files and their ioctls   proc_address.c, entries.c   cuGetProcAddress
 *   calls.c    the exported stubs              observe.c, hooks.h          hooks of CUPTI
 *
 * One mutex, sim_lock(), guards all state. Getters that programs call often read only thread-local
 * data.
 *
 * DEVICE FILES, for tools that intercept them. The real driver opens /dev/nvidiactl,
 * /dev/nvidia-uvm and /dev/nvidia0 and sends them ioctls. The simulator creates a memfd for each,
 * named sim:nvidiactl, sim:nvidia-uvm, sim:nvidia0 (sim:nvidia1, ...). It opens the memfd again
 * through libc's open() as /proc/self/fd/N, O_RDWR|O_CLOEXEC, and uses this second descriptor. So
 * an interposed open(), ioctl(), mmap() or close() sees the same calls as with the real driver. It
 * recognizes the files by
 *     readlink("/proc/self/fd/FD") = "/memfd:sim:nvidiactl (deleted)"
 * They are regular files; real ones are character devices. Requests have the real numbers and
 * struct layouts. The member `status` of the struct is the driver's result (0 is NV_OK), and it is
 * set before the call. If this library's `ioctl` is the next definition (the program is linked with
 * the library, or preloads it), it returns 0. Otherwise the request goes to the kernel, which
 * returns -1 with ENOTTY; the simulator treats that as 0. The status is the same in both cases. */
#ifndef SIM_H
#define SIM_H
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_MAX_DEVICES 16
#define SIM_DRIVER_VERSION 13000
#define SIM_NAME "NVIDIA H200 (Simulated)"
#define SIM_SMS 132
/* operations a stream queues; a launch beyond them waits, as in the real driver */
#define SIM_MAX_PENDING 1024
/* part of a kernel's cost: from the queue to its first thread */
#define SIM_LAUNCH_NS 2000
#define SIM_NEVER UINT64_MAX

enum {
	CUDA_SUCCESS = 0,
	CUDA_ERROR_INVALID_VALUE = 1,
	CUDA_ERROR_OUT_OF_MEMORY = 2,
	CUDA_ERROR_NOT_INITIALIZED = 3,
	CUDA_ERROR_NO_DEVICE = 100,
	CUDA_ERROR_INVALID_DEVICE = 101,
	CUDA_ERROR_INVALID_IMAGE = 200,
	CUDA_ERROR_INVALID_CONTEXT = 201,
	CUDA_ERROR_UNSUPPORTED_LIMIT = 215,
	CUDA_ERROR_PEER_ACCESS_UNSUPPORTED = 217,
	CUDA_ERROR_INVALID_PTX = 218,
	CUDA_ERROR_FILE_NOT_FOUND = 301,
	CUDA_ERROR_OPERATING_SYSTEM = 304,
	CUDA_ERROR_INVALID_HANDLE = 400,
	CUDA_ERROR_ILLEGAL_STATE = 401,
	CUDA_ERROR_NOT_FOUND = 500,
	CUDA_ERROR_NOT_READY = 600,
	CUDA_ERROR_ILLEGAL_ADDRESS = 700,
	CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
	CUDA_ERROR_PEER_ACCESS_NOT_ENABLED = 705,
	CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE = 708,
	CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712,
	CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED = 713,
	CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
	CUDA_ERROR_NOT_SUPPORTED = 801,
	CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
	CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901,
	CUDA_ERROR_STREAM_CAPTURE_UNMATCHED = 903,
	CUDA_ERROR_STREAM_CAPTURE_UNJOINED = 904,
	CUDA_ERROR_STREAM_CAPTURE_ISOLATION = 905,
	CUDA_ERROR_STREAM_CAPTURE_IMPLICIT = 906,
	CUDA_ERROR_CAPTURED_EVENT = 907,
};
typedef int CUresult, CUdevice;
typedef uint64_t CUdeviceptr, CUmemGenericAllocationHandle;
typedef struct sim_ctx *CUcontext;
typedef struct sim_stream *CUstream;
typedef struct sim_event *CUevent;
typedef struct sim_module *CUmodule, *CUlibrary;
/* one struct: a kernel is its own function */
typedef struct sim_function *CUfunction, *CUkernel;
typedef struct sim_graph *CUgraph, *CUgraphExec;
typedef struct sim_node *CUgraphNode;
typedef struct sim_pool *CUmemoryPool;
typedef struct sim_array *CUarray;
typedef void (*CUhostFn)(void *);
typedef void (*CUstreamCallback)(CUstream, CUresult, void *);
typedef struct {
	char bytes[16];
} CUuuid;

#define CU_STREAM_LEGACY ((CUstream)1)
#define CU_STREAM_PER_THREAD ((CUstream)2)

/* Layouts of cuda.h (CUDA 13.0); the assertions below check their sizes and offsets. */
struct cu_2d {
	size_t src_x, src_y;
	unsigned src_type; /* 1 host, 2 device, 3 array, 4 unified */
	const void *src_host;
	CUdeviceptr src_dev;
	CUarray src_array;
	size_t src_pitch, dst_x, dst_y;
	unsigned dst_type;
	void *dst_host;
	CUdeviceptr dst_dev;
	CUarray dst_array;
	size_t dst_pitch, width, height;
};
struct cu_3d {
	size_t src_x, src_y, src_z, src_lod;
	unsigned src_type;
	const void *src_host;
	CUdeviceptr src_dev;
	CUarray src_array;
	void *reserved0;
	size_t src_pitch, src_height, dst_x, dst_y, dst_z, dst_lod;
	unsigned dst_type;
	void *dst_host;
	CUdeviceptr dst_dev;
	CUarray dst_array;
	void *reserved1;
	size_t dst_pitch, dst_height, width, height, depth;
};
struct cu_launch {
	unsigned grid[3], block[3], shared;
	CUstream stream;
	void *attrs;
	unsigned attrs_n;
};
struct cu_kernel_node {
	CUfunction func;
	unsigned grid[3], block[3], shared;
	void **params, **extra;
	CUkernel kern;
	CUcontext ctx;
};
struct cu_memset_node {
	CUdeviceptr dst;
	size_t pitch;
	unsigned value, element;
	size_t width, height;
};
struct cu_host_node {
	CUhostFn fn;
	void *arg;
};
struct cu_location {
	int type, id;
};
struct cu_alloc_prop {
	int type, handle_types;
	struct cu_location location;
	void *win32;
	unsigned char flags[8];
};
struct cu_access {
	struct cu_location location;
	int flags;
};
struct cu_pool_props {
	int type, handle_types;
	struct cu_location location;
	void *win32;
	size_t max;
	unsigned short usage;
	unsigned char reserved[54];
};
struct cu_array_desc {
	size_t width, height;
	int format;
	unsigned channels;
};
struct cu_array3d_desc {
	size_t width, height, depth;
	int format;
	unsigned channels, flags;
};
_Static_assert(sizeof(struct cu_2d) == 128 && offsetof(struct cu_2d, dst_x) == 56, "CUDA_MEMCPY2D");
_Static_assert(sizeof(struct cu_3d) == 200 && offsetof(struct cu_3d, dst_x) == 88, "CUDA_MEMCPY3D");
_Static_assert(sizeof(struct cu_launch) == 56 && offsetof(struct cu_launch, stream) == 32,
	"CUlaunchConfig");
_Static_assert(sizeof(struct cu_kernel_node) == 72 && offsetof(struct cu_kernel_node, params) == 40,
	"CUDA_KERNEL_NODE_PARAMS");
_Static_assert(sizeof(struct cu_memset_node) == 40 && sizeof(struct cu_host_node) == 16,
	"CUDA_MEMSET_, CUDA_HOST_NODE_PARAMS");
_Static_assert(sizeof(struct cu_alloc_prop) == 32 && offsetof(struct cu_alloc_prop, location) == 8,
	"CUmemAllocationProp");
_Static_assert(sizeof(struct cu_access) == 12 && sizeof(struct cu_pool_props) == 88,
	"CUmemAccessDesc, CUmemPoolProps");
_Static_assert(sizeof(struct cu_array_desc) == 24 && sizeof(struct cu_array3d_desc) == 40,
	"CUDA_ARRAY_, CUDA_ARRAY3D_DESCRIPTOR");

/* A handle is a pointer to one of these. The memory of a freed object is kept for the next object
 * of its kind, so that a stale handle can be recognized safely. */
enum sim_kind {
	SIM_FREE,
	SIM_CTX,
	SIM_STREAM,
	SIM_EVENT,
	SIM_MODULE,
	SIM_FUNCTION,
	SIM_GRAPH,
	SIM_EXEC,
	SIM_NODE,
	SIM_POOL,
	SIM_ARRAY,
	SIM_KINDS
};
struct sim_obj {
	uint32_t kind;
	struct sim_obj *next;
};
void *sim_new(enum sim_kind kind, size_t size); /* zeroed; NULL if there is no memory */
void sim_drop(void *obj);
bool sim_is(const void *obj, enum sim_kind kind); /* false for NULL and for dropped objects */

struct sim_ctx {
	struct sim_obj obj;
	int dev, refs, error; /* error: sticky, as after an illegal address */
	unsigned flags, api;
	bool primary;
	uint64_t id;
	size_t limit[16];
	uint64_t streams; /* number of streams created so far */
	struct sim_stream *legacy;
	struct sim_module *modules;
};

struct sim_config {
	int devices, ioctls;
	uint64_t memory, seed;
	double speed;
};
extern struct sim_config sim_config;
extern uint64_t sim_contexts; /* number of contexts created so far; the id of the last one */
extern __thread struct sim_ctx *sim_current __attribute__((tls_model("initial-exec")));

void sim_lock(void);
void sim_unlock(void);
pthread_mutex_t *sim_mutex(void); /* the same lock, for waits on conditions */
/* Begins most entry points: takes the lock. Returns CUDA_SUCCESS and the current context in *ctx.
 * Otherwise releases the lock and returns the error of the call (not initialised, forked, no
 * context, sticky error). */
int sim_enter(struct sim_ctx **ctx);
/* Declares ctx and begins an entry point; returns its error. */
#define ENTER(ctx)                                                                                 \
	struct sim_ctx *ctx;                                                                       \
	do {                                                                                       \
		int rc_ = sim_enter(&ctx);                                                         \
		if (rc_)                                                                           \
			return rc_;                                                                \
	} while (0)
static inline int sim_leave(int rc)
{
	sim_unlock();
	return rc;
}
/* The error of a call that writes to `out` and names a device; CUDA_SUCCESS: none. */
int sim_device_error(const void *out, int dev);
#define DEVICE_OR_RETURN(out, dev)                                                                 \
	do {                                                                                       \
		int rc_ = sim_device_error(out, dev);                                              \
		if (rc_)                                                                           \
			return rc_;                                                                \
	} while (0)
int sim_ready(void);       /* CUDA_SUCCESS once cuInit has run in this process */
uint64_t sim_random(void); /* the next number of the seeded sequence */
int sim_queue_start(void); /* starts the worker of this process; CUDA_SUCCESS or an error */
int sim_memory_init(void); /* creates the arenas; CUDA_SUCCESS or an error */

#define SIM_STR_(x) #x
#define SIM_STR(x) SIM_STR_(x)
#define SIM_ALIAS(of) alias(SIM_STR(of)) /* the name `of` may have been renamed (calls.c) */

/* Memory. Each range of addresses that a device can use has one entry. */
enum sim_mem {
	SIM_DEVICE,
	SIM_ASYNC,
	SIM_PHYSICAL,
	SIM_MAPPED,
	SIM_HOST,
	SIM_REGISTERED,
	SIM_MANAGED
};
struct sim_range {
	uint64_t addr, size;
	char *host; /* its bytes; of SIM_PHYSICAL: where they would be mapped */
	enum sim_mem mem;
	int dev;
	unsigned flags, refs; /* refs of SIM_PHYSICAL: its handle and its mappings */
	bool open;            /* access is allowed: for mapped memory only after cuMemSetAccess */
	bool on_device;       /* of SIM_MANAGED: see migrate.c */
	bool freed;           /* by cuMemFreeAsync, whose operation has not run yet */
	/* handle: of SIM_PHYSICAL, and of the memory that SIM_MAPPED maps */
	uint64_t handle, id;
	struct sim_ctx *ctx; /* freed with this context; NULL: not bound to a context */
	struct sim_pool *pool;
};
struct sim_pool {
	struct sim_obj obj;
	int dev;
	uint64_t used, high;
	uint64_t attribute[8];
};
struct sim_array {
	struct sim_obj obj;
	struct cu_array3d_desc desc;
	size_t element;
	CUdeviceptr at;
};
/* the bytes behind addr; NULL if a part is not device memory */
char *sim_host(uint64_t addr, uint64_t size);
bool sim_pinned(uint64_t addr, uint64_t size); /* host memory that the device can access */
/* on the context's device */
int sim_alloc(struct sim_ctx *ctx, uint64_t size, enum sim_mem mem, struct sim_range **out);
/* the range that contains addr, or NULL; borrowed, under the lock */
struct sim_range *sim_range_at(uint64_t addr);
/* the one after r, or the first if r is NULL; NULL at the end */
struct sim_range *sim_range_next(const struct sim_range *r);
struct sim_range *sim_range_add(struct sim_range r); /* NULL if there is no memory */
void sim_range_end(struct sim_range *r);
/* the memfd of the memory; addr's offset in it */
int sim_arena(int dev, uint64_t addr, uint64_t *offset);
int sim_pools_init(void);
void sim_release_ctx(struct sim_ctx *ctx); /* frees what a destroyed context still owns */

/* managed memory: a kernel uses it, or the host does */
void sim_migrate_all(const struct sim_ctx *ctx, bool device);
/* prefetch; dev < 0: to the host */
void sim_migrate(const struct sim_ctx *ctx, CUdeviceptr at, int dev);

/* Operations and streams. */
enum sim_engine { SIM_NO_ENGINE, SIM_COMPUTE, SIM_H2D, SIM_D2H, SIM_D2D, SIM_ENGINES };
struct sim_op;
/* runs at the operation's end; false: not finished, poll again. Lock held. */
typedef bool (*sim_run)(struct sim_op *op);
struct sim_rect {
	char *at;
	size_t pitch, slice;
};
struct sim_launch {
	struct sim_function *func;
	unsigned grid[3], block[3], shared;
	void *params;
	bool cooperative;
};
/* CUpti_ActivityMemoryKind */
enum { SIM_AT_PAGEABLE = 1, SIM_AT_PINNED, SIM_AT_DEVICE, SIM_AT_ARRAY, SIM_AT_MANAGED };
struct sim_op {
	/* next: in its stream; after: in the queue of host functions */
	struct sim_op *next, *after;
	struct sim_stream *stream;
	int node_type; /* CUgraphNodeType when captured */
	sim_run run;
	enum sim_engine engine;
	bool started;
	int phase;                              /* of a host function: 0, 1 running, 2 returned */
	uint64_t seq, queued, cost, start, end; /* simulated ns */
	struct sim_event *event;                /* recorded or waited for */
	uint64_t gen;                           /* which of its recordings */
	void *staged;                           /* freed with the operation */
	struct sim_graph *exec;
	/* the observer's pointer for it (hooks.h), or NULL; the members up to `async` are for the
	 * observer: */
	void *observed;
	/* inner_stream: id of the inner stream of a graph launch; 0: the launch's own stream */
	uint32_t graph_id, inner_stream;
	uint64_t node_id;
	bool async;
	union {
		struct {
			struct sim_rect dst, src;
			size_t width, height, depth;
			uint8_t src_memory, dst_memory;
			struct sim_ctx *from, *to; /* of a copy between contexts */
		} copy;
		struct {
			char *at;
			size_t pitch, width, height;
			unsigned value, element;
			uint8_t memory;
		} set;
		struct {
			CUhostFn fn;
			CUstreamCallback callback;
			void *arg;
			CUstream handle;
		} host;
		struct {
			char *at;
			uint64_t value;
			unsigned flags, bytes;
		} word;
		struct sim_launch launch;
		uint64_t addr;
	};
};
#define SIM_MAX_CAPTURE_DEPS 16
/* captured nodes that the next one depends on */
struct sim_capture_deps {
	struct sim_node *v[SIM_MAX_CAPTURE_DEPS];
	unsigned n;
};
struct sim_stream {
	struct sim_obj obj;
	struct sim_stream *next; /* list of all streams */
	struct sim_ctx *ctx;
	struct sim_op *head, **tail;
	uint64_t id;     /* unique among all streams ever created */
	uint64_t number; /* within its context: CUPTI's id of it */
	uint64_t submitted, done, last_end;
	unsigned flags;
	int priority, tid; /* tid: the thread whose default stream it is */
	bool destroyed;    /* destroyed by the program; freed when its work is done */
	struct sim_graph *capture;
	struct sim_capture_deps capture_deps;
	bool origin;        /* the capture began in this stream: */
	int mode, capturer; /* its mode, and the thread that began it */
};
struct sim_event {
	struct sim_obj obj;
	/* list of all events, so that LeakSanitizer reports none */
	struct sim_event *next, **link;
	struct sim_ctx *ctx;
	/* an event dies with its context, whose memory another context may reuse */
	uint64_t ctx_id;
	unsigned flags;
	uint32_t id;
	int refs;
	uint64_t recorded, done, time; /* generations; simulated ns of the last one done */
	struct sim_graph *capture;     /* set if the last record was in a capturing stream */
	struct sim_capture_deps capture_deps;
};
/* resolves 0, 1, 2 and checks other handles */
int sim_stream_get(struct sim_ctx *ctx, CUstream h, struct sim_stream **s);
/* copies *op; always takes over op->staged */
int sim_submit(struct sim_stream *s, struct sim_op *op);
/* until all operations submitted so far are done; returns the sticky error */
int sim_wait(struct sim_stream *s);
int sim_wait_ctx(struct sim_ctx *ctx);
/* the error if s (NULL: any stream), or a stream that it waits for, captures */
int sim_no_capture(struct sim_ctx *ctx, struct sim_stream *s);
void sim_streams_free(struct sim_ctx *ctx);
struct sim_stream *sim_streams(void);            /* the first of all; ->next */
uint64_t sim_now(void);                          /* simulated ns */
uint64_t sim_real(uint64_t simulated);           /* as CLOCK_MONOTONIC ns */
uint64_t sim_stream_number(struct sim_ctx *ctx); /* the next one */
bool sim_host_run(struct sim_op *op); /* a sim_run: hands op->host to the callback thread */

/* Copies and sets as operations: shared by the calls of copy.c and the nodes of graph.c. */
int sim_copy_op(const struct cu_3d *c, struct sim_op *op, bool *pageable);
int sim_set_op(CUdeviceptr at, size_t pitch, unsigned value, unsigned element, size_t w, size_t h,
	struct sim_op *op);

/* For tests (watch.c). */
/* SIMGPU_FAIL: the error that the function must return, or 0 */
int sim_injected_error(const char *function);
/* SIMGPU_MISUSE: reports a call that is not allowed */
void sim_report_misuse(const char *function, const char *how);
/* SIMGPU_TRUTH: writes a line about work that has ended */
void sim_write_truth(const struct sim_op *op);

/* Modules and launches. */
struct sim_param {
	uint32_t offset, size;
};
struct sim_function {
	struct sim_obj obj;
	struct sim_function *next;
	struct sim_module *module;
	char *name;
	struct sim_param *params;
	unsigned params_n, params_size;
	int max_dynamic, carveout;
};
struct sim_global {
	struct sim_global *next;
	char *name;
	CUdeviceptr at;
	size_t size;
};
struct sim_module {
	struct sim_obj obj;
	struct sim_module *next;
	struct sim_ctx *ctx; /* NULL for a library */
	struct sim_function *functions;
	struct sim_global *globals;
	unsigned functions_n;
	bool any_name; /* the image is not PTX text: every name is taken as a kernel of it */
};
int sim_launch_op(CUfunction f, const unsigned grid[3], const unsigned block[3], unsigned shared,
	void **params, void **extra, struct sim_op *op);
bool sim_kernel_run(struct sim_op *op);
void sim_module_free(struct sim_module *m);

/* Graphs. */
int sim_capture(struct sim_stream *s, const struct sim_op *op);
int sim_capture_wait(struct sim_stream *s, struct sim_event *e);
int sim_capture_record(struct sim_stream *s, struct sim_event *e);
/* for an operation that a capture forbids */
void sim_capture_invalidate(struct sim_stream *s);
/* for calls that a capture forbids to threads: invalidates the capture and returns the error, or
 * 0 */
int sim_capture_unsafe(const char *function);
void sim_exec_put(struct sim_graph *exec);     /* NULL is allowed */
void sim_graph_observe(struct sim_op *launch); /* reports the nodes of a launch to the observer */
void sim_graph_observe_done(struct sim_op *launch);

/* Device files. */
void sim_files_open(void);
void sim_files_device(int dev); /* creates a context's objects on the device, channels included */
void sim_files_alloc(int dev, uint64_t addr, uint64_t size);
void sim_files_free(int dev, uint64_t addr, uint64_t size);
bool sim_is_device_file(int fd); /* is it one of the device files? */

/* The table of entry points (entries.c). */
struct sim_entry {
	const char *name;
	int version;
	bool per_thread;
	void (*at)(void);
};
extern const struct sim_entry sim_entries[];
extern const size_t sim_entries_n;

/* Entry points that take a stream exist twice, for the two meanings of stream 0. */
#define ENTRY(name, zero, params, ...)                                                             \
	CUresult name params;                                                                      \
	CUresult name params                                                                       \
	{                                                                                          \
		const CUstream none = zero;                                                        \
		(void)none;                                                                        \
		return __VA_ARGS__;                                                                \
	}
#define BOTH(name, suffix, params, ...)                                                            \
	ENTRY(name, CU_STREAM_LEGACY, params, __VA_ARGS__)                                         \
	ENTRY(name##suffix, CU_STREAM_PER_THREAD, params, __VA_ARGS__)
#define OR_NONE(stream) ((stream) ? (stream) : none)
#endif
