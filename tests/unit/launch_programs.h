/* Programs that launch, as plain arrays of calls and of their GPU work, so that reports about
 * launches can be compared with figures that are counted a second time. The includer defines
 * _GNU_SOURCE (memfd_create). */
#ifndef LAUNCH_PROGRAMS_H
#define LAUNCH_PROGRAMS_H
#include "tests/unit/random_program.h"
#include "tests/unit/reports.h"

#define MOST 40000
struct call {
	int thread;
	int64_t start, end;
	uint32_t id;
};
struct op {
	int device, stream, name, call /* -1: not known */, graph /* 0: none */;
	int64_t start, end;
	bool by_order;
};
static struct prog {
	struct call calls[MOST];
	struct op ops[MOST];
	int ncalls, nops;
} prog;
static struct rp rp __attribute__((unused));

enum { NAMES = 5, COPY_NAME = 3, SET_NAME = 4 };
static const char *const mangled[NAMES] = { "_Z3addPf", "_Z3mulPf", "_Z4reluPf",
	"memcpy HtoD (pinned -> device)", "memset (device)" };
static const char *const plain_names[NAMES] __attribute__((unused)) = { "add", "mul", "relu",
	"memcpy HtoD (pinned -> device)", "memset (device)" };

static inline bool is_kernel(const struct op *o) { return o->name < COPY_NAME; }

static inline void put_op(struct gpus *g, const struct op *o)
{
	const struct call *c = o->call < 0 ? NULL : &prog.calls[o->call];
	struct gt_gpu_work w = gpus_work(g->stream[o->device][o->stream], o->start, o->end);

	w.correlation = c ? c->id : 0;
	w.graph = (uint32_t)o->graph;
	w.node = o->graph ? (uint64_t)(o - prog.ops) + 1 : 0;
	if (c)
		w.cause = (struct gt_gpu_cause){ .join = o->by_order ? GT_JOIN_ORDER
								     : GT_JOIN_CORRELATION,
			.track = g->thread[c->thread],
			.start = c->start,
			.ns = (uint64_t)(c->end - c->start),
			.name = g->launch_name };
	if (o->name == COPY_NAME)
		gpus_copy(g, &w, GT_DIR_HTOD, GT_GPU_MEM_PINNED, GT_GPU_MEM_DEVICE, 100);
	else if (o->name == SET_NAME)
		gpus_set(g, &w, 10);
	else
		gt_gpu_put_kernel(&g->types, &w,
			&(struct gt_gpu_kernel){ .name = gt_writer_string(g->w, mangled[o->name]),
				.grid = { 8, 1, 1 },
				.block = { 64, 1, 1 } },
			&g->err);
}

/* A row is written in the epoch in which it ended; `epochs` of the same length. */
static inline struct gt_reader *make(int epochs)
{
	static struct gpus g;
	int64_t last = 0, from = INT64_MIN;

	gpus_begin(&g, "{\"events\":\"api,gpu\"}");
	for (int i = 0; i < prog.nops; i++)
		last = prog.ops[i].end > last ? prog.ops[i].end : last;
	for (int i = 0; i < prog.ncalls; i++)
		last = prog.calls[i].end > last ? prog.calls[i].end : last;
	for (int e = 1; e <= epochs; e++) {
		int64_t to = e == epochs ? last + 1 : last / epochs * e;

		for (int i = 0; i < prog.ncalls; i++) {
			const struct call *c = &prog.calls[i];

			if (c->end >= from && c->end < to)
				gpus_call(&g, c->thread, g.launch, c->start, c->end);
		}
		for (int i = 0; i < prog.nops; i++)
			if (prog.ops[i].end >= from && prog.ops[i].end < to)
				put_op(&g, &prog.ops[i]);
		gt_writer_epoch(g.w, to, &g.err);
		from = to;
	}
	return gpus_end(&g);
}

static inline void clear_program(void) { prog.ncalls = prog.nops = 0; }

static inline int add_call(int thread, int64_t start, int64_t end)
{
	prog.calls[prog.ncalls] = (struct call){ thread, start, end, (uint32_t)prog.ncalls + 1 };
	return prog.ncalls++;
}

static inline struct op *add_op(
	int device, int stream, int name, int call, int64_t start, int64_t end)
{
	prog.ops[prog.nops] = (struct op){ .device = device,
		.stream = stream,
		.name = name,
		.call = call,
		.start = start,
		.end = end };
	return &prog.ops[prog.nops++];
}

/* Work of a call on a stream, in order, with the GPU slightly late; no two operations begin at
 * the same time there. */
static inline void launch(int thread, int64_t *at, int64_t tail[2][2], int64_t scale)
{
	int device = rp_below(3) == 0, stream = rp_below(2),
	    nodes = rp_below(12) ? 1 : 2 + rp_below(5);
	int call = add_call(thread, *at, *at + (rp_below(6) ? rp_below(40) * scale : 0));
	int64_t start = prog.calls[call].start + rp_below(60) * scale;
	int name = rp_below(3) ? prog.nops % 3 : rp_below(NAMES);

	*at = prog.calls[call].end;
	for (int i = 0; i < nodes && prog.nops < MOST; i++) {
		int64_t *end = &tail[device][stream];
		struct op *o;

		start = start <= *end ? *end + 1 + (rp_below(2) ? rp_below(20) * scale : 0) : start;
		o = add_op(device, stream, name, call, start,
			start + (rp_below(8) ? rp_below(60) * scale : 0));
		*end = o->end;
		start++;
		o->graph = nodes > 1 ? 1 + device : 0;
		o->by_order = !o->graph && !rp_below(9);
		if (nodes > 1)
			name = rp_below(NAMES);
		else if (!rp_below(25))
			o->call = -1;
		if (rp_below(3) == 0)
			stream = nodes > 1 ? 1 - stream : stream;
	}
}

static inline void random_program(unsigned seed)
{
	int64_t at[2] = { 1000, 1000 }, tail[2][2] = { { 0 } },
		scale = seed % 3 == 0 ? 1
		: seed % 3 == 1       ? 100
				      : 9000;
	int launches = 20 + rp_below(150);

	clear_program();
	for (int i = 0; i < launches; i++) {
		int thread = at[1] < at[0];

		at[thread] += rp_below(5) ? rp_below(40) * scale : rp_below(1000) * scale;
		launch(thread, &at[thread], tail, scale);
	}
}

/* Takes the random program of random_program.h. */
static inline void taken_over(unsigned seed)
{
	struct gt_reader *r = rp_make(&rp, seed);

	clear_program();
	for (int i = 0; i < rp.nops; i++) {
		const struct rp_op *o = &rp.ops[i];
		int name = o->what == RP_COPY ? COPY_NAME
			: o->what == RP_SET   ? SET_NAME
					      : o->kernel % 3,
		    call = -1;

		if (o->call >= 0)
			call = add_call(rp.calls[o->call].thread, rp.calls[o->call].start,
				rp.calls[o->call].end);
		add_op(o->device, o->stream, name, call, o->start, o->end);
	}
	gt_reader_close(r);
}

static inline int by_start(const void *a, const void *b)
{
	const struct op *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Of each call: when its work began and ended, how many pieces, and the piece that began first. */
static struct {
	int64_t start, end;
	int n;
	const struct op *first;
} work[MOST];

static inline void find_work(void)
{
	for (int c = 0; c < prog.ncalls; c++)
		work[c].start = INT64_MAX, work[c].end = INT64_MIN, work[c].n = 0,
		work[c].first = NULL;
	for (int i = 0; i < prog.nops; i++) {
		const struct op *o = &prog.ops[i];
		int c = o->call;

		if (c < 0)
			continue;
		if (o->start < work[c].start)
			work[c].start = o->start, work[c].first = o;
		work[c].end = o->end > work[c].end ? o->end : work[c].end;
		work[c].n++;
	}
}

/* How many launches wait on a stream at this time, and whether a call that launches on it has not
 * returned; behind find_work. */
static inline void depth_at(int64_t t, int device, int stream, uint64_t *depth, bool *calling)
{
	*depth = 0, *calling = false;
	for (int c = 0; c < prog.ncalls; c++) {
		const struct op *o = work[c].first;

		if (!o || o->device != device || o->stream != stream)
			continue;
		*depth += prog.calls[c].end <= t && t < o->start;
		*calling |= prog.calls[c].start <= t && t < prog.calls[c].end;
	}
}

/* From the first to the last piece of work. */
static inline void find_window(int64_t *from, int64_t *to)
{
	*from = INT64_MAX, *to = INT64_MIN;
	for (int i = 0; i < prog.nops; i++) {
		*from = prog.ops[i].start < *from ? prog.ops[i].start : *from;
		*to = prog.ops[i].end > *to ? prog.ops[i].end : *to;
	}
}

static inline void known_program(void)
{
	int graph;

	clear_program();
	/* add: queues 50, short by 80 */
	add_op(0, 0, 0, add_call(0, 1000, 1100), 1150, 1170);
	/* add: begins within its call */
	add_op(0, 0, 0, add_call(0, 1200, 1300), 1250, 1450);
	/* a graph of three: idle for 880, 550 before the call */
	graph = add_call(0, 2000, 2300);
	add_op(0, 0, 1, graph, 2330, 2400)->graph = 9;
	add_op(0, 1, 2, graph, 2360, 2450)->graph = 9;
	add_op(0, 0, 1, graph, 2500, 2530)->graph = 9;
	/* the launching call is unknown */
	add_op(0, 0, 1, -1, 3000, 3010);
	/* launched long ago */
	add_op(0, 0, 2, add_call(0, 2600, 2700), 20000, 20010)->by_order = true;
	add_op(0, 0, COPY_NAME, add_call(1, 1500000, 1500010), 1500020, 1500100); /* late */
}

/* A launch of more nodes than launches are remembered, with others in between. */
static inline void long_graph_program(void)
{
	int graph;

	clear_program();
	graph = add_call(0, 1000, 1100);
	for (int i = 0; i < 17000; i++) {
		add_op(0, 0, 1, graph, 2000 + i * 100, 2010 + i * 100)->graph = 4;
		add_op(0, 1, 0, add_call(0, 2020 + i * 100, 2025 + i * 100), 2030 + i * 100,
			2040 + i * 100);
	}
}

static inline bool only_add(const struct gt_segment *seg, const struct gt_type *type, void *arg)
{
	return !strcmp(gt_str(seg, type->name), "_Z3addPf");
}

#define SAME(a, b)                                                                                 \
	if ((double)(a) != (double)(b))                                                            \
	return printf("# %s:%d: %s: %.2f, not %.2f\n", __func__, __LINE__, #a, (double)(a),        \
		       (double)(b)),                                                               \
	       false

/* ---- reports over the current program ---- */

/* names: NULL-terminated. Written in so many epochs; origin: the start of times. The caller
 * frees the result. */
static inline json_t *reported(
	const char *const *names, int epochs, const struct gt_analysis_options *o, int64_t *origin)
{
	struct gt_reader *r = make(epochs);

	find_work();
	*origin = gt_reader_segment(r, 0)->min_start;
	return report(r, names, o);
}

/* Does a report agree with the figures that were counted here? */
typedef bool agrees_fn(const json_t *j, int64_t origin);

static inline bool agrees(const char *name, unsigned seed, int epochs, agrees_fn *as_counted)
{
	int64_t origin;
	json_t *j = reported((const char *[]){ name, NULL }, epochs, &plain, &origin);
	bool good = j && as_counted(j, origin);

	if (!good)
		printf("# seed %u\n", seed);
	json_decref(j);
	return good;
}

static inline bool agrees_on_random_ones(const char *name, agrees_fn *as_counted)
{
	bool good = true;

	for (unsigned seed = 1; good && seed <= 60; seed++) {
		srand(seed);
		random_program(seed);
		good = agrees(name, seed, 1 + (int)seed % 7, as_counted);
	}
	return good;
}

/* For work that begins at the same time no order is correct, so no check may depend on the
 * order. */
static inline bool agrees_on_those_of_others(const char *name, agrees_fn *as_counted)
{
	bool good = true;

	for (unsigned seed = 1; good && seed <= 40; seed++) {
		taken_over(seed);
		good = agrees(name, seed, 3, as_counted);
	}
	return good;
}

/* The known program, with one kernel that matches --match. The caller frees the result. */
static inline json_t *reported_of_some(const char *name)
{
	struct gt_analysis_options o = plain;
	int64_t origin;

	known_program();
	o.filter.match = only_add;
	o.restrictions = "--match add";
	return reported((const char *[]){ name, NULL }, 1, &o, &origin);
}

/* tables: NULL-terminated. */
static inline bool cannot_answer(const json_t *j, const char *const *tables)
{
	bool none = j;

	for (; *tables; tables++)
		none = none && rows(j, *tables) == 0 && noted(j, *tables, "cannot answer: ");
	return none;
}

/* Over a trace without GPU rows. The caller frees the result. */
static inline json_t *reported_of_calls_alone(const char *name)
{
	struct trace t;

	known(&t, true);
	return report(end(&t), (const char *[]){ name, NULL }, &plain);
}
#endif
