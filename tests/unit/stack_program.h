/* A trace with call stacks: a program of Python with a thread that has none. */
#ifndef STACK_PROGRAM_H
#define STACK_PROGRAM_H
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "formats/trace/read/reader.h"
#include "formats/trace/write/writer.h"

enum { BY_STEP, BY_LOAD, BY_WORKER, STACKS, BY_NONE = STACKS };

struct stack_program {
	int fd;
	struct gt_writer *w;
	struct gt_err err;
	uint32_t thread[2], stream, launch, alloc, free, plain, kernel[2], launch_name;
	uint32_t graph_launch, node;
	uint32_t stack[STACKS + 1]; /* the last one: GT_NONE */
	bool without_stacks;        /* set before stack_program_begin_at() */
};

static inline uint32_t stack_track(
	struct stack_program *p, uint32_t parent, const char *name, unsigned kind, int64_t id)
{
	return gt_writer_track(p->w,
		&(struct gt_track){ .parent = parent,
			.name = name ? gt_writer_string(p->w, name) : GT_NONE,
			.source = gt_writer_string(p->w, "preload"),
			.kind = (uint8_t)kind,
			.id = id,
			.ns_id = id });
}

static inline uint32_t python_frame(struct stack_program *p, const char *text, const char *function,
	const char *file, uint32_t line)
{
	uint32_t id = gt_writer_string(p->w, text);

	gt_writer_frame(p->w, id,
		&(struct gt_frame){ .kind = GT_FRAME_PYTHON,
			.function = gt_writer_string(p->w, function),
			.file = gt_writer_string(p->w, file),
			.module = GT_NONE,
			.line = line });
	return id;
}

static inline uint32_t native_frame(
	struct stack_program *p, const char *text, const char *function, const char *module)
{
	uint32_t id = gt_writer_string(p->w, text);

	gt_writer_frame(p->w, id,
		&(struct gt_frame){ .kind = GT_FRAME_NATIVE,
			.function = gt_writer_string(p->w, function),
			.file = GT_NONE,
			.module = gt_writer_string(p->w, module),
			.offset = 0x100 });
	gt_writer_module(p->w, gt_writer_string(p->w, module), (const uint8_t *)"\1\2\3\4", 4);
	return id;
}

static inline void stack_frames(struct stack_program *p)
{
	uint32_t top = python_frame(p, "main (app/train.py:9)", "main", "/home/u/app/train.py", 9),
		 step = python_frame(
			 p, "step (app/train.py:88)", "step", "/home/u/app/train.py", 88),
		 load = python_frame(p, "load (app/data.py:12)", "load", "/home/u/app/data.py", 12),
		 gemm = native_frame(
			 p, "libtorch.so+0x100", "_ZN2at4gemmIfEEvi", "/opt/libtorch.so"),
		 start = native_frame(p, "libc.so.6+0x200", "start_thread", "/lib/libc.so.6"),
		 work = native_frame(p, "libworker.so+0x300", "worker", "/opt/libworker.so"),
		 mark = gt_writer_string(p->w, "(truncated)");

	gt_writer_frame(p->w, mark,
		&(struct gt_frame){ .kind = GT_FRAME_MARK,
			.function = GT_NONE,
			.file = GT_NONE,
			.module = GT_NONE });
	p->stack[BY_STEP] = gt_writer_stack(p->w, (uint32_t[]){ top, step, gemm }, 3);
	/* recursion: main twice */
	p->stack[BY_LOAD] = gt_writer_stack(p->w, (uint32_t[]){ top, top, load }, 3);
	p->stack[BY_WORKER] = gt_writer_stack(p->w, (uint32_t[]){ mark, start, work }, 3);
	p->stack[BY_NONE] = GT_NONE;
}

static inline uint32_t stack_type(struct stack_program *p, const char *name, struct gt_type type,
	const struct gt_field *fields, unsigned n)
{
	struct gt_field all[GT_FIELDS_MAX];

	memcpy(all, fields, n * sizeof(*all));
	if (!p->without_stacks)
		all[n++] =
			(struct gt_field){ gt_writer_string(p->w, "stack"), GT_F_U64, GT_R_STACK };
	type.name = gt_writer_string(p->w, name);
	type.fields = all;
	type.nfields = (uint8_t)n;
	return gt_writer_type(p->w, &type);
}

static inline void stack_types(struct stack_program *p)
{
	struct gt_writer *w = p->w;
	const struct gt_field bytes = { gt_writer_string(w, "bytesize"), GT_F_U64, GT_R_BYTES },
			      addr = { gt_writer_string(w, "dptr"), GT_F_HEX, GT_R_ADDR };
	const struct gt_field joined[] = {
		{ gt_writer_string(w, "correlation"), GT_F_U64, GT_R_CORRELATION },
		{ gt_writer_string(w, "launch_track"), GT_F_U64, GT_R_LAUNCH_TRACK },
		{ gt_writer_string(w, "launch_start"), GT_F_I64, GT_R_LAUNCH_START },
		{ gt_writer_string(w, "launch_ns"), GT_F_U64, GT_R_LAUNCH_NS },
		{ gt_writer_string(w, "launch_name"), GT_F_STR, GT_R_LAUNCH_NAME },
		{ gt_writer_string(w, "launch_join"), GT_F_U64, GT_R_LAUNCH_JOIN },
		{ gt_writer_string(w, "graph"), GT_F_U64, GT_R_GRAPH },
		{ gt_writer_string(w, "node"), GT_F_U64, GT_R_NODE },
	};
	const struct gt_type kernel = {
		.category = GT_CAT_KERNEL, .op = GT_OP_LAUNCH, .layer = GT_LAYER_GPU
	};

	p->launch_name = gt_writer_string(w, "cuLaunchKernel");
	p->launch = stack_type(p, "cuLaunchKernel",
		(struct gt_type){ .category = GT_CAT_LAUNCH, .op = GT_OP_LAUNCH }, joined, 1);
	p->alloc = stack_type(p, "cuMemAlloc_v2",
		(struct gt_type){
			.category = GT_CAT_MEMORY, .op = GT_OP_ALLOC, .memkind = GT_MEM_DEVICE },
		(const struct gt_field[]){ bytes, addr }, 2);
	p->free = stack_type(p, "cuMemFree_v2",
		(struct gt_type){
			.category = GT_CAT_MEMORY, .op = GT_OP_FREE, .memkind = GT_MEM_DEVICE },
		&addr, 1);
	p->kernel[0] = stack_type(p, "_Z3addPf", kernel, joined, 6);
	p->kernel[1] = stack_type(p, "_Z3mulPf", kernel, joined, 6);
	p->graph_launch = stack_type(p, "cuGraphLaunch",
		(struct gt_type){ .category = GT_CAT_GRAPH, .op = GT_OP_GRAPH_LAUNCH }, joined, 1);
	p->node = stack_type(p, "_Z4nodePf", kernel, joined, 8);
	p->plain = gt_writer_type(w,
		&(struct gt_type){
			.name = gt_writer_string(w, "cuCtxGetCurrent"), .category = GT_CAT_QUERY });
}

static inline void stack_program_begin_at(struct stack_program *p, int fd)
{
	struct gt_writer_options o = { .host = "node1",
		.boot_id = "b",
		.meta_json = "{\"command\":[\"python3\",\"train.py\"]}" };
	uint32_t process, device;

	p->err = (struct gt_err)GT_ERR_INIT;
	p->fd = fd;
	p->w = gt_writer_open(dup(fd), &o, &p->err);
	process = stack_track(p, GT_NONE, "python3", GT_TRACK_PROCESS, 100);
	p->thread[0] = stack_track(p, process, "main", GT_TRACK_THREAD, 100);
	p->thread[1] = stack_track(p, process, "worker", GT_TRACK_THREAD, 101);
	device = stack_track(p, process, NULL, GT_TRACK_DEVICE, 0);
	p->stream = stack_track(p, device, NULL, GT_TRACK_STREAM, 7);
	if (!p->without_stacks)
		stack_frames(p);
	stack_types(p);
}

static inline void stack_row(struct stack_program *p, enum gt_kind kind, uint32_t track,
	uint32_t type, int64_t start, int64_t end, int ret, const uint64_t *args)
{
	struct gt_row row = { .start = start,
		.end = end,
		.type = type,
		.ret = ret,
		.nargs = gt_writer_type_get(p->w, type)->nfields };

	gt_writer_row(p->w, kind, track, &row, args, &p->err);
}

/* A launch of `ns`, and its kernel from `at` on. */
static inline void stack_launch(struct stack_program *p, int by, int kernel, int64_t start,
	int64_t ns, int64_t at, int64_t kernel_ns)
{
	uint32_t thread = p->thread[by == BY_WORKER];
	uint64_t correlation = (uint64_t)start;

	stack_row(p, GT_CALL, thread, p->launch, start, start + ns, 0,
		(uint64_t[]){ correlation, p->stack[by] });
	stack_row(p, GT_GPU, p->stream, p->kernel[kernel], at, at + kernel_ns, 0,
		(uint64_t[]){ correlation, thread, (uint64_t)start, (uint64_t)ns, p->launch_name,
			GT_JOIN_CORRELATION, p->stack[by] });
}

/* A launch of a graph with one node, which a call with the stack `created` created. */
static inline void stack_graph(struct stack_program *p, int by, int created, int64_t start,
	int64_t ns, int64_t at, int64_t kernel_ns)
{
	uint64_t correlation = (uint64_t)start;

	stack_row(p, GT_CALL, p->thread[0], p->graph_launch, start, start + ns, 0,
		(uint64_t[]){ correlation, p->stack[by] });
	stack_row(p, GT_GPU, p->stream, p->node, at, at + kernel_ns, 0,
		(uint64_t[]){ correlation, p->thread[0], (uint64_t)start, (uint64_t)ns,
			p->launch_name, GT_JOIN_CORRELATION, 3, 4, p->stack[created] });
}

static inline void stack_alloc(
	struct stack_program *p, int by, int64_t start, uint64_t bytes, uint64_t addr, int ret)
{
	stack_row(p, GT_CALL, p->thread[by == BY_WORKER], p->alloc, start, start + 50, ret,
		(uint64_t[]){ bytes, addr, p->stack[by] });
}

static inline void stack_free(struct stack_program *p, int by, int64_t start, uint64_t addr)
{
	stack_row(p, GT_CALL, p->thread[by == BY_WORKER], p->free, start, start + 50, 0,
		(uint64_t[]){ addr, p->stack[by] });
}

/*                calls         kernels
 *      step      3 x 10 ns     3 x 100 ns
 *      load      2 x 20 ns     2 x 1000 ns
 *      worker    1 x 30 ns     1 x 50 ns
 *      none      1 x 5 ns      1 x 7 ns    and one call of 4 ns whose function has no stacks
 * and allocations: the peak has 4000 bytes of step, 5500 of load, 64 without stack */
static inline void stack_program_rows(struct stack_program *p)
{
	for (int i = 0; i < 3; i++)
		stack_launch(p, BY_STEP, i == 2, 1000 + 1000 * i, 10, 1100 + 1000 * i, 100);
	for (int i = 0; i < 2; i++)
		stack_launch(p, BY_LOAD, 1, 10000 + 5000 * i, 20, 11000 + 5000 * i, 1000);
	stack_launch(p, BY_WORKER, 0, 30000, 30, 31000, 50);
	stack_launch(p, BY_NONE, 0, 40000, 5, 41000, 7);
	stack_row(p, GT_CALL, p->thread[0], p->plain, 50000, 50004, 0, NULL);
}

static inline void stack_program_memory(struct stack_program *p)
{
	stack_alloc(p, BY_LOAD, 60000, 9000, 0x1000, 0);
	stack_free(p, BY_LOAD, 61000, 0x1000);
	stack_alloc(p, BY_STEP, 62000, 3000, 0x10000, 0);
	stack_alloc(p, BY_STEP, 62100, 1000, 0x20000, 0);
	stack_alloc(p, BY_LOAD, 63000, 1500, 0x30000, 0);
	stack_alloc(p, BY_NONE, 63100, 64, 0x40000, 0);
	stack_alloc(p, BY_WORKER, 63200, 5000, 0, 2); /* fails */
	stack_alloc(p, BY_LOAD, 63300, 4000, 0x50000, 0);
	stack_free(p, BY_LOAD, 64000, 0x50000);
}

static inline struct gt_reader *stack_program_end(struct stack_program *p)
{
	return gt_writer_close(p->w, &p->err) ? NULL : gt_reader_open_fd(p->fd, &p->err);
}

static inline struct gt_reader *stack_program(void)
{
	struct stack_program p = { .fd = -1 };

	stack_program_begin_at(&p, memfd_create("trace", 0));
	stack_program_rows(&p);
	return stack_program_end(&p);
}
#endif
