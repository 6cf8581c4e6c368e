/* A random small program as a trace, and as plain arrays of its contents, so that a test can
 * compute every figure of a report a second time in the simplest way: times are below RP_END ns,
 * so an array with a cell for each ns is small. The includer defines _GNU_SOURCE (memfd_create). */
#ifndef RANDOM_PROGRAM_H
#define RANDOM_PROGRAM_H
#include <stdlib.h>
#include "formats/trace/write/sched_rows.h"
#include "tests/unit/gpus.h"

#define RP_END 16000
#define RP_MOST 2000

enum rp_what {
	RP_LAUNCH,
	RP_COPY,
	RP_SET,
	RP_ALLOC,
	RP_FREE,
	RP_SYNC,
	RP_SYNC_ALL,
	RP_QUERY,
	RP_MODULE,
	RP_IOCTL,
	RP_WHATS
};
struct rp_call {
	enum rp_what what;
	int thread, depth, device, stream, op; /* op: index of the launched operation, or -1 */
	int64_t start, end;
	uint64_t bytes, addr;
	int kernel, ret;
	bool open;
};
struct rp_op {
	enum rp_what what; /* RP_LAUNCH (a kernel), RP_COPY or RP_SET */
	/* kernel: index into rp_kernels; call: index of the launch, or -1: not known */
	int kernel, device, stream, call;
	int64_t start, end;
	uint64_t bytes;
	enum gt_direction direction;
	enum gt_gpu_memory src, dst;
};
/* of the programs that are made next: their threads have rows of scheduling */
static bool rp_scheduled __attribute__((unused));
static bool rp_functions __attribute__((unused));
struct rp_off { /* time off the processor */
	int thread;
	enum gt_sched_state state;
	int64_t start, end;
};
struct rp {
	struct rp_off offs[RP_MOST];
	int noffs;
	struct rp_call calls[RP_MOST];
	struct rp_op ops[RP_MOST];
	int ncalls, nops;
	int64_t stream_end[2][2];
	struct gpus g;
	uint32_t types[RP_WHATS], names[5], function;
	unsigned seed;
	bool waits; /* have rows */
	/* per stream: a call waits if more operations than this are queued; some work begins
	 * late; threads launch on both devices; 0: none of this */
	int room;
};
static const char *const rp_kernels[5] __attribute__((unused)) = { "_Z3addPf", "_Z3mulPf",
	"_Z4gemmILi128EEvPf", "ncclDevKernel_AllReduce", "_Z4reluPf" };
static const struct rp_kind {
	const char *name;
	uint8_t category, op;
} rp_kinds[RP_WHATS] __attribute__((unused)) = {
	{ "cuLaunchKernel", GT_CAT_LAUNCH, GT_OP_LAUNCH },
	{ "cuMemcpyHtoDAsync_v2", GT_CAT_COPY, GT_OP_COPY },
	{ "cuMemsetD8Async", GT_CAT_MEMORY, GT_OP_SET },
	{ "cuMemAlloc_v2", GT_CAT_MEMORY, GT_OP_ALLOC },
	{ "cuMemFree_v2", GT_CAT_MEMORY, GT_OP_FREE },
	{ "cuStreamSynchronize", GT_CAT_SYNC, GT_OP_SYNC },
	{ "cuCtxSynchronize", GT_CAT_SYNC, GT_OP_SYNC },
	{ "cuEventQuery", GT_CAT_QUERY, GT_OP_NONE },
	{ "cuModuleLoadData", GT_CAT_MODULE, GT_OP_NONE },
	{ "ioctl RM_CONTROL", GT_CAT_IOCTL, GT_OP_IOCTL },
};

static inline int rp_below(int n) { return n > 0 ? rand() % n : 0; }

static inline struct rp_call *rp_add_call(
	struct rp *p, enum rp_what what, int thread, int64_t start, int64_t end, int depth)
{
	struct rp_call *c = &p->calls[p->ncalls++];

	*c = (struct rp_call){ .what = what,
		.thread = thread,
		.start = start,
		.end = end,
		.depth = depth,
		.op = -1,
		.device = thread == 1 && p->seed % 3 == 0,
		.stream = rp_below(2) };
	return c;
}

/* It returns when the operation so many places before it on its stream has begun. */
static inline void rp_wait_for_room(const struct rp *p, struct rp_call *c)
{
	int places = 0;

	for (int i = p->nops; i-- && places <= p->room;) {
		places += p->ops[i].device == c->device && p->ops[i].stream == c->stream;
		if (places == p->room + 1 && p->ops[i].start > c->end)
			c->end = p->ops[i].start;
	}
}

/* The GPU work of the call. */
static inline void rp_add_op(struct rp *p, struct rp_call *c)
{
	struct rp_op *o = &p->ops[p->nops];
	int64_t *tail = &p->stream_end[c->device][c->stream];

	*o = (struct rp_op){ .what = c->what,
		.device = c->device,
		.stream = c->stream,
		.call = (int)(c - p->calls),
		.kernel = -1 };
	o->start = c->start + rp_below(60);
	if (o->start < *tail && rp_below(10))
		o->start = *tail + rp_below(3);
	if (p->room && !rp_below(8)) /* it waits for something else */
		o->start += rp_below(400);
	if (o->start > RP_END - 500) /* no time is left */
		o->start = o->end = *tail = RP_END - 500;
	else
		o->end = o->start + (rp_below(8) ? rp_below(p->seed % 2 ? 40 : 300) : 0);
	*tail = o->end > *tail ? o->end : *tail;
	if (o->what == RP_LAUNCH)
		o->kernel = c->kernel = rp_below(5);
	o->bytes = c->bytes = o->what == RP_LAUNCH ? 0 : 1 + (uint64_t)rp_below(100000);
	o->direction = rp_below(2) ? GT_DIR_HTOD : GT_DIR_DTOH;
	o->src = o->direction == GT_DIR_DTOH ? GT_GPU_MEM_DEVICE
		: rp_below(2)                ? GT_GPU_MEM_PAGEABLE
					     : GT_GPU_MEM_PINNED;
	o->dst = o->direction == GT_DIR_HTOD ? GT_GPU_MEM_DEVICE
		: rp_below(2)                ? GT_GPU_MEM_PAGEABLE
					     : GT_GPU_MEM_PINNED;
	if (!rp_below(20))
		o->call = -1;
	else
		c->op = p->nops;
	p->nops++;
	if (p->room)
		rp_wait_for_room(p, c);
}

static inline int64_t rp_wait_end(const struct rp *p, const struct rp_call *c)
{
	int64_t end = c->end;

	for (int s = 0; s < 2; s++)
		if ((c->what == RP_SYNC_ALL || s == c->stream) && p->stream_end[c->device][s] > end)
			end = p->stream_end[c->device][s];
	return end;
}

static inline void rp_step(struct rp *p, int thread, int64_t *at)
{
	static const uint8_t often[] = { RP_LAUNCH, RP_LAUNCH, RP_LAUNCH, RP_LAUNCH, RP_COPY,
		RP_SET, RP_ALLOC, RP_FREE, RP_SYNC, RP_SYNC_ALL, RP_QUERY, RP_QUERY, RP_MODULE };
	enum rp_what what = (enum rp_what)often[rp_below(sizeof(often))];
	struct rp_call *c;

	*at += rp_below(4) ? rp_below(30) : rp_below(200);
	c = rp_add_call(p, what, thread, *at, *at + (rp_below(6) ? rp_below(50) : 0), 0);
	if (what == RP_SYNC || what == RP_SYNC_ALL)
		c->end = rp_wait_end(p, c);
	if (what <= RP_SET && p->room) /* a thread for two devices */
		c->device = rp_below(2);
	if (what <= RP_SET)
		rp_add_op(p, c);
	if (what == RP_ALLOC || what == RP_FREE)
		c->addr = 0x1000u + (unsigned)rp_below(12) * 0x100u,
		c->bytes = what == RP_ALLOC ? 1 + (uint64_t)rp_below(5000) : 0;
	if (!rp_below(15))
		c->ret = 1 + rp_below(3);
	*at = c->end;
	if (c->end > c->start + 4 && !rp_below(3)) {
		int64_t from = c->start + rp_below((int)(c->end - c->start)),
			to = from + rp_below((int)(c->end - from) + 1);

		rp_add_call(p, RP_IOCTL, thread, from, to, 1)->device = c->device;
	}
}

static inline void rp_put_call(struct rp *p, const struct rp_call *c)
{
	struct gt_row row = { c->start, c->end, p->types[c->what], c->ret, (uint8_t)c->depth, 4 };
	uint64_t args[4] = { c->what == RP_LAUNCH ? (c->kernel < 0 ? GT_NONE : p->names[c->kernel])
						  : c->bytes,
		c->addr, 0x100u + (unsigned)c->device * 2 + (unsigned)c->stream, GT_DIR_HTOD };

	if (c->open)
		gt_writer_open_call(p->g.w, p->g.thread[c->thread], &row, args, &p->g.err);
	else
		gt_writer_row(p->g.w, GT_CALL, p->g.thread[c->thread], &row, args, &p->g.err);
}

/* Does its row name its stream? Not if another wait of its thread began at the same time. */
static inline bool rp_aimed(const struct rp *p, const struct rp_call *c)
{
	bool aimed = p->waits && c->what == RP_SYNC && !c->open;

	for (int i = 0; i < p->ncalls; i++)
		aimed &= &p->calls[i] == c || p->calls[i].thread != c->thread ||
			p->calls[i].start != c->start || p->calls[i].depth;
	return aimed;
}

static inline void rp_put_wait(struct rp *p, const struct rp_call *c)
{
	struct gt_gpu_work w =
		gpus_work(rp_aimed(p, c) ? p->g.stream[c->device][c->stream] : p->g.process,
			c->start, c->end);

	w.cause = (struct gt_gpu_cause){ .join = GT_JOIN_CORRELATION,
		.track = p->g.thread[c->thread],
		.start = c->start,
		.name = gt_writer_string(p->g.w, rp_kinds[c->what].name),
		.ns = (uint64_t)(c->end - c->start) };
	gpus_wait(&p->g, &w, c->what == RP_SYNC ? GT_GPU_WAIT_STREAM : GT_GPU_WAIT_CONTEXT,
		GT_GPU_NO_EVENT);
}

static inline void rp_put_op(struct rp *p, const struct rp_op *o)
{
	const struct rp_call *c = o->call < 0 ? NULL : &p->calls[o->call];
	struct gt_gpu_work w = gpus_work(p->g.stream[o->device][o->stream], o->start, o->end);

	w.correlation = (uint32_t)(o - p->ops) + 1;
	if (c)
		w.cause = (struct gt_gpu_cause){ .join = GT_JOIN_CORRELATION,
			.track = p->g.thread[c->thread],
			.start = c->start,
			.name = gt_writer_string(p->g.w, rp_kinds[c->what].name),
			.ns = (uint64_t)(c->end - c->start) };
	if (o->what == RP_LAUNCH)
		gt_gpu_put_kernel(&p->g.types, &w,
			&(struct gt_gpu_kernel){ .name = p->names[o->kernel],
				.grid = { 8, 1, 1 },
				.block = { 64, 1, 1 } },
			&p->g.err);
	else if (o->what == RP_COPY)
		gpus_copy(&p->g, &w, o->direction, o->src, o->dst, o->bytes);
	else
		gpus_set(&p->g, &w, o->bytes);
}

static inline void rp_types(struct rp *p)
{
	struct gt_writer *w = p->g.w;

	for (int i = 0; i < RP_WHATS; i++) {
		struct gt_field f[4] = { { gt_writer_string(w, i == RP_LAUNCH ? "kernel" : "bytes"),
						 i == RP_LAUNCH ? GT_F_STR : GT_F_U64,
						 i == RP_LAUNCH ? GT_R_KERNEL : GT_R_BYTES },
			{ gt_writer_string(w, "addr"), GT_F_HEX, GT_R_ADDR },
			{ gt_writer_string(w, "stream"), GT_F_HEX, GT_R_STREAM },
			{ gt_writer_string(w, "direction"), GT_F_U64, GT_R_DIRECTION } };
		struct gt_type type = { .name = gt_writer_string(w, rp_kinds[i].name),
			.category = rp_kinds[i].category,
			.op = rp_kinds[i].op,
			.memkind = i == RP_ALLOC || i == RP_FREE ? GT_MEM_DEVICE : GT_MEM_UNKNOWN,
			.layer = i == RP_IOCTL ? GT_LAYER_IOCTL : GT_LAYER_API,
			.nfields = 4,
			.fields = f };

		p->types[i] = gt_writer_type(w, &type);
	}
	if (rp_functions)
		p->function = gt_writer_type(w,
			&(struct gt_type){ .name = gt_writer_string(w, "nv_function"),
				.category = GT_CAT_KERNEL,
				.layer = GT_LAYER_USER });
	for (int i = 0; i < 5; i++)
		p->names[i] = gt_writer_string(w, rp_kernels[i]);
}

static inline void rp_add_off(struct rp *p, int thread, enum gt_sched_state state, int64_t *at)
{
	int64_t to = *at + rp_below(60);

	p->offs[p->noffs++] = (struct rp_off){ thread, state, *at, to };
	*at = to;
}

static inline void rp_schedule(struct rp *p, int thread)
{
	for (int64_t at = rp_below(200); at < RP_END - 200; at += rp_below(80)) {
		enum gt_sched_state state = (enum gt_sched_state)rp_below(GT_SCHED_STATE_COUNT - 1);

		if (state == GT_SCHED_RUNNABLE)
			rp_add_off(p, thread, GT_SCHED_PREEMPTED, &at);
		else {
			rp_add_off(p, thread, state, &at);
			rp_add_off(p, thread, GT_SCHED_RUNNABLE, &at);
		}
	}
}

static inline void rp_put_offs(struct rp *p, struct gt_sched_types *types, int64_t from, int64_t to)
{
	for (const struct rp_off *o = p->offs; o < p->offs + p->noffs; o++)
		if (o->end >= from && o->end < to)
			gt_sched_put(types, p->g.thread[o->thread],
				&(struct gt_sched_row){ .state = o->state,
					.start = o->start,
					.end = o->end,
					.pid = 7,
					.tid = 8 },
				&p->g.err);
}

static inline void rp_put_function(struct rp *p, const struct rp_call *c)
{
	gt_writer_row(p->g.w, GT_SPAN, p->g.thread[c->thread],
		&(struct gt_row){ .start = c->start, .end = c->end, .type = p->function }, NULL,
		&p->g.err);
}

/* A row is written in the epoch in which it ended. */
static inline void rp_write(struct rp *p)
{
	int64_t epoch = 1500 + rp_below(3000), to;
	struct gt_sched_types types;

	if (p->noffs)
		gt_sched_types_init(&types, p->g.w, &p->g.err);
	for (int64_t from = INT64_MIN; from < RP_END; from = to) {
		to = from < 0 ? epoch : from + epoch < RP_END ? from + epoch : RP_END;
		for (int i = 0; i < p->ncalls; i++)
			if (p->calls[i].open ? to == RP_END
					     : p->calls[i].end >= from && p->calls[i].end < to) {
				if (rp_functions && p->calls[i].what == RP_IOCTL)
					rp_put_function(p, &p->calls[i]);
				rp_put_call(p, &p->calls[i]);
			}
		for (int i = 0; p->waits && i < p->ncalls; i++)
			if ((p->calls[i].what == RP_SYNC || p->calls[i].what == RP_SYNC_ALL) &&
				!p->calls[i].open && p->calls[i].end >= from &&
				p->calls[i].end < to)
				rp_put_wait(p, &p->calls[i]);
		for (int i = 0; i < p->nops; i++)
			if (p->ops[i].end >= from && p->ops[i].end < to)
				rp_put_op(p, &p->ops[i]);
		if (p->noffs)
			rp_put_offs(p, &types, from, to);
		gt_writer_epoch(p->g.w, to, &p->g.err);
	}
}

/* The program of this seed; the caller closes the reader. p is large: keep it off the stack. A
 * call without an end ends at RP_END, like the recording. */
static inline struct gt_reader *rp_make_queued(struct rp *p, unsigned seed, bool waits, int room)
{
	int64_t at[2] = { 100, 100 };

	memset(p, 0, sizeof(*p));
	srand(seed);
	p->seed = seed;
	p->waits = waits;
	p->room = room;
	gpus_begin_with(&p->g, "{\"events\":\"api,ioctl,gpu\"}", waits && seed % 3 ? 1 : 2);
	rp_types(p);
	while (p->ncalls < 300 && at[0] < RP_END / 2 && at[1] < RP_END / 2) {
		int thread = seed % 4 ? at[1] < at[0] : 0;

		rp_step(p, thread, &at[thread]);
	}
	if (seed % 5 == 0)
		rp_add_call(p, RP_SYNC_ALL, 0, at[0] + 5, RP_END, 0)->open = true;
	for (int thread = 0; thread < 2 && rp_scheduled; thread++)
		rp_schedule(p, thread);
	rp_write(p);
	return gpus_end(&p->g);
}

static inline struct gt_reader *rp_make_with(struct rp *p, unsigned seed, bool waits)
{
	return rp_make_queued(p, seed, waits, 0);
}
static inline struct gt_reader *rp_make(struct rp *p, unsigned seed)
{
	return rp_make_with(p, seed, false);
}
#endif
