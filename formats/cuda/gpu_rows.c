/* Rows of one kind have one list of fields. Fields that hardly ever differ between rows of a name
 * are in the list, too: a column that does not change costs nothing in the file. Work of a graph
 * has five more fields, and a type of its own. Work that CUDA events timed has one more, and a type
 * of its own. */
#include "formats/cuda/gpu_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/cuda/cuda_api.h"

/* of a type; three bits of its key */
enum shape { KERNEL, COPY, SET, WAIT, GRAPH, MISSING, MANAGED, OVERHEAD };

/* ---- words ---- */

const char *gt_gpu_memory_word(unsigned memory)
{
#define X(e, w) w,
	static const char *const words[] = { GT_GPU_MEMORIES(X) };
#undef X

	return words[memory < GT_GPU_MEMORY_COUNT ? memory : 0];
}

const char *gt_direction_word(unsigned direction)
{
	static const char *const words[] = { "?", "HtoD", "DtoH", "DtoD", "HtoH", "PtoP" };

	return words[direction < sizeof(words) / sizeof(*words) ? direction : 0];
}

static const char *const waits[GT_GPU_WAITS] = {
	"wait",
	"wait for event",
	"stream waits for event",
	"wait for stream",
	"wait for context",
};

enum gt_gpu_wait gt_gpu_wait_of_row(const char *name)
{
	for (unsigned i = 1; i < GT_GPU_WAITS; i++)
		if (!strcmp(waits[i], name))
			return (enum gt_gpu_wait)i;
	return GT_GPU_WAIT_UNKNOWN;
}

enum gt_gpu_wait gt_gpu_wait_of_call(const char *name)
{
	static const struct {
		const char *name;
		enum gt_gpu_wait wait;
	} calls[] = {
		{ "cuStreamSynchronize", GT_GPU_WAIT_STREAM },
		{ "cuCtxSynchronize", GT_GPU_WAIT_CONTEXT },
		{ "cuEventSynchronize", GT_GPU_WAIT_EVENT },
		{ "cuStreamWaitEvent", GT_GPU_WAIT_STREAM_EVENT },
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (gt_api_is(name, calls[i].name))
			return calls[i].wait;
	return GT_GPU_WAIT_UNKNOWN;
}

/* ---- fields ---- */

struct row {
	uint64_t v[32];
	struct gt_field f[32];
	unsigned n;
	struct gt_writer *w;
	uint64_t key;     /* of its type */
	uint32_t type;    /* GT_NONE: not made yet; f is filled in, too */
	uint32_t unknown; /* enum gt_gpu_unknown */
};

static void add(
	struct row *r, const char *name, enum gt_field_kind kind, enum gt_role role, uint64_t value)
{
	if (r->type == GT_NONE)
		r->f[r->n] = (struct gt_field){ gt_writer_string(r->w, name), (uint8_t)kind,
			(uint8_t)role };
	r->v[r->n++] = value;
}

/* The same for a value that may be unknown. */
static void add_if(struct row *r, enum gt_gpu_unknown bit, const char *name,
	enum gt_field_kind kind, enum gt_role role, uint64_t value)
{
	if (!(r->unknown & bit))
		add(r, name, kind, role, value);
}

/* The work of a graph has the stack of the call that created its node. Plus one; 0: none. */
static uint32_t stack_of(const struct gt_gpu_work *w)
{
	return w->created_by.stack ? w->created_by.stack : w->cause.stack;
}

static void add_work(struct row *r, const struct gt_gpu_work *w)
{
	const struct gt_gpu_cause *c = &w->cause;
	bool known = c->join != GT_JOIN_UNKNOWN;

	r->unknown = w->unknown;
	add_if(r, GT_GPU_NO_CORRELATION, "correlation", GT_F_U64, GT_R_CORRELATION, w->correlation);
	add_if(r, GT_GPU_NO_CONTEXT, "context", GT_F_U64, GT_R_CONTEXT, w->context);
	add(r, "launch_track", GT_F_U64, GT_R_LAUNCH_TRACK, known ? c->track : GT_NONE);
	add(r, "launch_start", GT_F_I64, GT_R_LAUNCH_START,
		known ? (uint64_t)c->start : (uint64_t)w->start);
	add(r, "launch_ns", GT_F_U64, GT_R_LAUNCH_NS, known ? c->ns : 0);
	add(r, "launch_name", GT_F_STR, GT_R_LAUNCH_NAME, known ? c->name : GT_NONE);
	add(r, "launch_join", GT_F_U64, GT_R_LAUNCH_JOIN, c->join);
	if (stack_of(w))
		add(r, "stack", GT_F_U64, GT_R_STACK, stack_of(w) - 1);
	if (w->by_events)
		add(r, "timing", GT_F_STR, GT_R_NONE, gt_writer_string(r->w, "cuda events"));
	if (!w->graph && !w->node)
		return;
	add(r, "graph", GT_F_U64, GT_R_GRAPH, w->graph);
	add(r, "node", GT_F_U64, GT_R_NODE, w->node);
	known = w->created_by.join != GT_JOIN_UNKNOWN;
	add(r, "made_track", GT_F_U64, GT_R_CREATED_BY_TRACK,
		known ? w->created_by.track : GT_NONE);
	add(r, "made_start", GT_F_I64, GT_R_CREATED_BY_START,
		known ? (uint64_t)w->created_by.start : (uint64_t)w->start);
	add(r, "made_name", GT_F_STR, GT_R_CREATED_BY_NAME, known ? w->created_by.name : GT_NONE);
}

static void add_three(struct row *r, enum gt_gpu_unknown bit, const char *const names[3],
	enum gt_role role, const uint32_t v[3])
{
	for (int i = 0; i < 3; i++)
		add_if(r, bit, names[i], GT_F_U64, role, v[i]);
}

static void add_kernel(struct row *r, const struct gt_gpu_kernel *k)
{
	add_three(r, GT_GPU_NO_GRID, (const char *const[]){ "grid_x", "grid_y", "grid_z" },
		GT_R_GRID, k->grid);
	add_three(r, GT_GPU_NO_BLOCK, (const char *const[]){ "block_x", "block_y", "block_z" },
		GT_R_BLOCK, k->block);
	add_if(r, GT_GPU_NO_SHARED, "shared_static", GT_F_U64, GT_R_SHARED, k->shared_static);
	add_if(r, GT_GPU_NO_SHARED, "shared_dynamic", GT_F_U64, GT_R_SHARED, k->shared_dynamic);
	add_if(r, GT_GPU_NO_REGISTERS, "registers", GT_F_U64, GT_R_REGISTERS, k->registers);
}

static void add_copy(struct row *r, const struct gt_gpu_copy *c)
{
	add_if(r, GT_GPU_NO_BYTES, "bytes", GT_F_U64, GT_R_BYTES, c->bytes);
	add(r, "direction", GT_F_U64, GT_R_DIRECTION, c->direction);
	add(r, "src_memory", GT_F_STR, GT_R_SRC_MEMORY,
		gt_writer_string(r->w, gt_gpu_memory_word(c->src)));
	add(r, "dst_memory", GT_F_STR, GT_R_DST_MEMORY,
		gt_writer_string(r->w, gt_gpu_memory_word(c->dst)));
	add_if(r, GT_GPU_NO_ASYNC, "async", GT_F_BOOL, GT_R_ASYNC, c->async);
	if (c->direction != GT_DIR_PEER)
		return;
	add(r, "src_device", GT_F_U64, GT_R_NONE, c->src_device);
	add(r, "dst_device", GT_F_U64, GT_R_DEVICE, c->dst_device);
}

static void add_set(struct row *r, const struct gt_gpu_set *s)
{
	add_if(r, GT_GPU_NO_BYTES, "bytes", GT_F_U64, GT_R_BYTES, s->bytes);
	add_if(r, GT_GPU_NO_VALUE, "value", GT_F_HEX, GT_R_VALUE, s->value);
	add(r, "dst_memory", GT_F_STR, GT_R_DST_MEMORY,
		gt_writer_string(r->w, gt_gpu_memory_word(s->memory)));
	add_if(r, GT_GPU_NO_ASYNC, "async", GT_F_BOOL, GT_R_ASYNC, s->async);
}

/* ---- types ---- */

_Static_assert(GT_GPU_UNKNOWN < 1 << 9 && OVERHEAD < 8, "a key holds both, and 32 bits of `what`");
static uint64_t key_of(enum shape shape, const struct gt_gpu_work *w, uint64_t what)
{
	return (uint64_t)w->extra.key << 49 | (uint64_t)w->unknown << 40 |
		(uint64_t)(stack_of(w) != 0) << 39 | what << 5 | (uint64_t)shape << 2 |
		(uint64_t)w->by_events << 1 | (w->graph || w->node);
}

static uint32_t find_type(const struct gt_gpu_types *t, uint64_t key)
{
	uint32_t i = gt_map_find_item(&t->map, t->types, sizeof(*t->types), &key, sizeof(key));

	return i == GT_NONE ? GT_NONE : t->types[i].type;
}

static void begin_row(struct row *r, const struct gt_gpu_types *t, uint64_t key)
{
	r->n = 0;
	r->w = t->w;
	r->key = key;
	r->type = find_type(t, key);
}

static uint32_t make_type(
	struct gt_gpu_types *t, const struct row *r, struct gt_type *type, const char *name)
{
	struct gt_gpu_type new = { .key = r->key };

	if (name)
		type->name = gt_writer_string(t->w, name);
	type->layer = type->layer ? type->layer : GT_LAYER_GPU;
	type->nfields = (uint8_t)r->n;
	type->fields = r->f;
	new.type = gt_writer_type(t->w, type);
	if (new.type == GT_NONE ||
		gt_map_add_item(&t->map, &t->types, &t->n, &t->cap, sizeof(new), &new,
			sizeof(new.key)) == UINT32_MAX)
		return GT_NONE;
	return new.type;
}

/* Writes the row. type, name: of its type, if that is not made yet; name may be in `type`. */
static int put_row(struct gt_gpu_types *t, struct row *r, enum gt_kind kind,
	const struct gt_gpu_work *w, struct gt_type type, const char *name, struct gt_err *err)
{
	struct gt_row row = { .start = w->start, .end = w->end, .nargs = (uint8_t)r->n };

	row.type = r->type == GT_NONE ? make_type(t, r, &type, name) : r->type;
	return row.type == GT_NONE ? gt_err_set(err, -ENOMEM, "out of memory")
				   : gt_writer_row(t->w, kind, w->track, &row, r->v, err);
}

/* ---- rows ---- */

bool gt_gpu_knows_kernel(
	const struct gt_gpu_types *t, const struct gt_gpu_work *work, uint32_t name)
{
	return find_type(t, key_of(KERNEL, work, name)) != GT_NONE;
}

int gt_gpu_put_kernel(struct gt_gpu_types *t, const struct gt_gpu_work *work,
	const struct gt_gpu_kernel *k, struct gt_err *err)
{
	const struct gt_gpu_extra *extra = &work->extra;
	struct gt_type type = { .name = k->name, .category = GT_CAT_KERNEL, .op = GT_OP_LAUNCH };
	struct row r;

	begin_row(&r, t, key_of(KERNEL, work, k->name));
	add_work(&r, work);
	add_kernel(&r, k);
	for (unsigned i = 0; i < extra->n && r.n < sizeof(r.v) / sizeof(*r.v); i++)
		add(&r, extra->fields[i].name, (enum gt_field_kind)extra->fields[i].kind, GT_R_NONE,
			extra->values[i]);
	return put_row(t, &r, GT_GPU, work, type, NULL, err);
}

int gt_gpu_put_copy(struct gt_gpu_types *t, const struct gt_gpu_work *work,
	const struct gt_gpu_copy *c, struct gt_err *err)
{
	struct gt_type type = { .category = GT_CAT_COPY, .op = GT_OP_COPY };
	char name[80];
	struct row r;

	begin_row(&r, t,
		key_of(COPY, work, (uint64_t)c->direction << 16 | (uint64_t)c->src << 8 | c->dst));
	add_work(&r, work);
	add_copy(&r, c);
	if (r.type == GT_NONE)
		snprintf(name, sizeof(name), "memcpy %s (%s -> %s)",
			gt_direction_word(c->direction), gt_gpu_memory_word(c->src),
			gt_gpu_memory_word(c->dst));
	return put_row(t, &r, GT_GPU, work, type, name, err);
}

int gt_gpu_put_set(struct gt_gpu_types *t, const struct gt_gpu_work *work,
	const struct gt_gpu_set *s, struct gt_err *err)
{
	struct gt_type type = { .category = GT_CAT_COPY, .op = GT_OP_SET };
	char name[40];
	struct row r;

	begin_row(&r, t, key_of(SET, work, s->memory));
	add_work(&r, work);
	add_set(&r, s);
	if (r.type == GT_NONE)
		snprintf(name, sizeof(name), "memset (%s)", gt_gpu_memory_word(s->memory));
	return put_row(t, &r, GT_GPU, work, type, name, err);
}

int gt_gpu_put_graph(struct gt_gpu_types *t, const struct gt_gpu_work *work, struct gt_err *err)
{
	struct gt_type type = { .category = GT_CAT_GRAPH, .op = GT_OP_GRAPH_LAUNCH };
	struct row r;

	begin_row(&r, t, key_of(GRAPH, work, 0));
	add_work(&r, work);
	return put_row(t, &r, GT_GPU, work, type, "graph", err);
}

int gt_gpu_put_wait(struct gt_gpu_types *t, const struct gt_gpu_work *work,
	const struct gt_gpu_waiting *s, struct gt_err *err)
{
	struct gt_type type = { .category = GT_CAT_SYNC, .op = GT_OP_SYNC };
	struct row r;

	begin_row(&r, t, key_of(WAIT, work, s->what));
	add_work(&r, work);
	add(&r, "event", GT_F_HEX, GT_R_EVENT, s->event);
	return put_row(
		t, &r, GT_SPAN, work, type, waits[s->what < GT_GPU_WAITS ? s->what : 0], err);
}

int gt_gpu_put_missing(struct gt_gpu_types *t, uint32_t track, int64_t start, uint32_t function,
	uint32_t kernel, struct gt_err *err)
{
	const struct gt_gpu_work at = { .track = track, .start = start, .end = start };
	struct gt_type type = { .category = GT_CAT_LAUNCH };
	char name[120];
	struct row r;

	begin_row(&r, t, key_of(MISSING, &at, function));
	add(&r, "kernel", GT_F_STR, GT_R_KERNEL, kernel);
	if (r.type == GT_NONE)
		snprintf(name, sizeof(name), "no GPU record: %s", gt_writer_text(t->w, function));
	return put_row(t, &r, GT_INSTANT, &at, type, name, err);
}

/* ---- managed memory ---- */

static const char *word(const char *const *words, size_t n, uint32_t which)
{
	return words[which < n ? which : 0];
}
#define WORD(words, which) word(words, sizeof(words) / sizeof(*(words)), which)

/* The cause, in words. NULL: CUPTI has none for this kind. */
static const char *managed_why(const struct gt_gpu_managed *m)
{
	static const char *const migrations[] = { "unknown", "user", "coherence", "prefetch",
		"eviction", "access counters" };
	static const char *const accesses[] = { "unknown", "read", "write", "atomic", "prefetch" };
	static const char *const maps[] = { "unknown", "coherence", "thrashing", "policy",
		"out of memory", "eviction" };

	switch (m->kind) {
	case GT_GPU_MIGRATION_HTOD:
	case GT_GPU_MIGRATION_DTOH:
	case GT_GPU_MIGRATION_DTOD: return WORD(migrations, m->why);
	case GT_GPU_FAULT:
	case GT_GPU_CPU_FAULT: return WORD(accesses, m->why);
	case GT_GPU_REMOTE_MAP: return WORD(maps, m->why);
	default: return NULL;
	}
}

static uint64_t device_or_host(uint32_t device)
{
	return device == GT_GPU_HOST ? UINT64_MAX : device;
}

static void add_managed(struct row *r, const struct gt_gpu_managed *m)
{
	bool moves = m->kind == GT_GPU_MIGRATION_HTOD || m->kind == GT_GPU_MIGRATION_DTOH ||
		m->kind == GT_GPU_MIGRATION_DTOD;
	const char *why = managed_why(m);

	if (m->kind == GT_GPU_CPU_FAULT)
		add(r, "instruction", GT_F_HEX, GT_R_NONE, m->value);
	else if (m->kind == GT_GPU_FAULT)
		add(r, "faults", GT_F_U64, GT_R_NONE, m->value);
	else if (m->kind != GT_GPU_THROTTLING)
		add(r, "bytes", GT_F_U64, GT_R_BYTES, m->value);
	add(r, "address", GT_F_HEX, GT_R_NONE, m->address);
	if (why)
		add(r, moves || m->kind == GT_GPU_REMOTE_MAP ? "cause" : "access", GT_F_STR,
			GT_R_NONE, gt_writer_string(r->w, why));
	if (!moves && m->kind != GT_GPU_REMOTE_MAP)
		return;
	add(r, "src_device", GT_F_I64, GT_R_NONE, device_or_host(m->from)); /* -1: the host */
	add(r, "dst_device", GT_F_I64, GT_R_NONE, device_or_host(m->to));
}

int gt_gpu_put_managed(struct gt_gpu_types *t, const struct gt_gpu_work *work,
	const struct gt_gpu_managed *m, struct gt_err *err)
{
	static const char *const names[GT_GPU_MANAGED_KINDS] = {
		"managed memory",
		"migration HtoD",
		"migration DtoH",
		"CPU page fault",
		"GPU page fault",
		"thrashing",
		"throttling",
		"remote map",
		"migration DtoD",
	};
	bool instant = m->kind == GT_GPU_CPU_FAULT || m->kind == GT_GPU_THRASHING ||
		m->kind == GT_GPU_REMOTE_MAP;
	struct gt_gpu_work w = *work;
	struct row r;

	if (instant)
		w.end = w.start;
	begin_row(&r, t, key_of(MANAGED, work, m->kind));
	add_managed(&r, m);
	return put_row(t, &r, instant ? GT_INSTANT : GT_SPAN, &w,
		(struct gt_type){ .category = GT_CAT_MEMORY }, WORD(names, m->kind), err);
}

/* ---- overhead ---- */

static const struct overhead {
	const char *name;
	bool ours; /* caused by recording */
} overheads[] = {
	{ "overhead", true },
	{ "CUPTI buffer flush", true },
	{ "CUPTI instrumentation", true },
	{ "CUPTI resource", true },
	{ "module loading by the runtime", false },
	{ "lazy function loading", false },
	{ "command buffer full", false },
	{ "CUPTI buffer request", true },
	{ "CUPTI unified memory start", true },
	{ "compiler", false },
};
#define COMPILER 9 /* number 1 in CUPTI; the others are CUPTI's numbers >> 16 */

static const struct overhead *overhead_of(uint32_t kind)
{
	uint32_t i = kind == 1 ? COMPILER : kind >> 16;

	return &overheads[i < COMPILER || kind == 1 ? i : 0];
}

bool gt_gpu_overhead_is_ours(uint32_t kind) { return overhead_of(kind)->ours; }

int gt_gpu_put_overhead(struct gt_gpu_types *t, const struct gt_gpu_work *work,
	const struct gt_gpu_overhead *o, struct gt_err *err)
{
	const struct overhead *kind = overhead_of(o->kind);
	struct row r;

	begin_row(&r, t, key_of(OVERHEAD, work, (uint64_t)(kind - overheads)));
	add(&r, "thread", GT_F_U64, GT_R_NONE, o->thread);
	return put_row(t, &r, GT_SPAN, work,
		(struct gt_type){ .category = GT_CAT_OTHER, .layer = GT_LAYER_OVERHEAD },
		kind->name, err);
}

void gt_gpu_types_release(struct gt_gpu_types *t)
{
	gt_map_release(&t->map);
	free(t->types);
}
