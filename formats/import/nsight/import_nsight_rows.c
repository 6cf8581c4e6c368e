/* Rows from records, and their types. */
#include "formats/import/nsight/import_nsight_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "formats/cuda/cuda_api.h"

#define BUFFER 32768u /* records of a sorter in memory */

/* ---- order of records ---- */

/* The outer call first: the runtime's, then the driver's, then the system call. */
static bool call_before(const void *a, const void *b)
{
	const struct gt_nsight_call *x = a, *y = b;

	if (x->global != y->global)
		return x->global < y->global;
	if (x->start != y->start)
		return x->start < y->start;
	if (x->end != y->end)
		return x->end == GT_NSIGHT_NO_END ||
			(y->end != GT_NSIGHT_NO_END && x->end > y->end);
	return x->layer == GT_LAYER_RUNTIME && y->layer != GT_LAYER_RUNTIME;
}

/* Of several calls with one number (the runtime's, and the driver's in it), the last one launched
 * the work. */
static bool launch_before(const void *a, const void *b)
{
	const struct gt_nsight_launch *x = a, *y = b;

	if (x->global != y->global)
		return x->global < y->global;
	return x->correlation != y->correlation ? x->correlation < y->correlation
						: x->start < y->start;
}

static bool work_before(const void *a, const void *b)
{
	const struct gt_nsight_work *x = a, *y = b;

	if (x->global != y->global)
		return x->global < y->global;
	return x->correlation != y->correlation ? x->correlation < y->correlation
						: x->start < y->start;
}

int gt_nsight_init(struct gt_nsight *n)
{
	int rc;

	n->gpu_types.w = n->w;
	n->source = gt_writer_string(n->w, "import nsight");
	gt_out_memory(&n->meta);
	gt_out_memory(&n->gpus);
	rc = gt_sorter_init(&n->calls, sizeof(struct gt_nsight_call), BUFFER, call_before, n->err);
	if (!rc)
		rc = gt_sorter_init(&n->launches, sizeof(struct gt_nsight_launch), BUFFER,
			launch_before, n->err);
	return rc ? rc
		  : gt_sorter_init(
			    &n->works, sizeof(struct gt_nsight_work), BUFFER, work_before, n->err);
}

void gt_nsight_release(struct gt_nsight *n)
{
	struct gt_sorter *const sorters[] = { &n->calls, &n->launches, &n->works, &n->switches,
		&n->frames };
	struct gt_map *const maps[] = { &n->string_map, &n->place_map, &n->track_map, &n->type_map,
		&n->metric_map };

	for (size_t i = 0; i < sizeof(sorters) / sizeof(*sorters); i++)
		gt_sorter_release(sorters[i]);
	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
		gt_map_release(maps[i]);
	for (size_t i = 0; i < GT_NSIGHT_STACK_TABLES; i++)
		free(n->stacks[i].stacks);
	gt_gpu_types_release(&n->gpu_types);
	json_decref(n->recorded);
	gt_out_close(&n->meta, NULL);
	gt_out_close(&n->gpus, NULL);
	free(n->strings);
	free(n->places);
	free(n->tracks);
	free(n->types);
	free(n->metrics);
}

/* ---- types ---- */

static unsigned add_fields(
	struct gt_nsight *n, const struct gt_nsight_type_key *key, struct gt_field *to)
{
	static const struct {
		const char *name;
		uint8_t kind, role;
	} fields[GT_NSIGHT_FIELDS] = { { "correlation", GT_F_U64, GT_R_CORRELATION },
		{ "value", GT_F_U64, GT_R_VALUE }, { "value", GT_F_I64, GT_R_VALUE },
		{ "value", GT_F_F64, GT_R_VALUE }, { "bytes", GT_F_U64, GT_R_BYTES },
		{ "domain", GT_F_STR, GT_R_NONE }, { "category", GT_F_STR, GT_R_NONE },
		{ "color", GT_F_HEX, GT_R_NONE }, { "stack", GT_F_U64, GT_R_STACK } };
	unsigned count = 0;

	for (unsigned i = 0; i < GT_NSIGHT_FIELDS; i++)
		if (key->fields >> i & 1)
			to[count++] = (struct gt_field){ gt_writer_string(n->w, fields[i].name),
				fields[i].kind, fields[i].role };
	return count;
}

static uint32_t new_type(struct gt_nsight *n, const struct gt_nsight_type_key *key)
{
	struct gt_field fields[GT_NSIGHT_FIELDS];
	struct gt_type type = { .name = key->name,
		.category = key->category,
		.op = key->op,
		.memkind = key->memkind,
		.layer = key->layer,
		.fields = fields };
	struct gt_nsight_type t = { .key = *key };

	if (key->category == GT_NSIGHT_GUESS) {
		struct gt_api api = gt_api_guess(gt_writer_string_text(n->w, key->name));

		type.category = api.category;
		type.op = api.op;
		type.memkind = api.memkind;
	}
	type.nfields = (uint8_t)add_fields(n, key, fields);
	t.type = gt_writer_type(n->w, &type);
	if (t.type == GT_NONE ||
		gt_map_add_item(&n->type_map, &n->types, &n->ntypes, &n->types_cap, sizeof(t), &t,
			sizeof(t.key)) == GT_NONE) {
		gt_nsight_no_memory(n);
		return GT_NONE;
	}
	return t.type;
}

/* The type with this key. GT_NONE with err filled in. */
static uint32_t type_of(struct gt_nsight *n, const struct gt_nsight_type_key *key)
{
	struct gt_nsight_type *recent =
		&n->recent[(key->name * 4 + key->fields) % GT_NSIGHT_RECENT];
	uint32_t i, type;

	if (recent->type && !memcmp(&recent->key, key, sizeof(*key)))
		return recent->type - 1;
	i = gt_map_find_item(
		&n->type_map, n->types, sizeof(struct gt_nsight_type), key, sizeof(*key));
	type = i == GT_NONE ? new_type(n, key) : n->types[i].type;
	*recent = (struct gt_nsight_type){ *key, type + 1 }; /* GT_NONE: 0 */
	return type;
}

/* ---- rows ---- */

/* Rows come in any order of time, so an epoch is as long as its memory allows. */
int gt_nsight_row_is_done(struct gt_nsight *n, int64_t start, int rc)
{
	n->rows++;
	if (!rc && gt_writer_epoch_is_due(n->w, start))
		rc = gt_writer_epoch(n->w, start, n->err);
	return rc;
}

int gt_nsight_put(struct gt_nsight *n, enum gt_kind kind, uint32_t track, struct gt_row *row,
	const struct gt_nsight_type_key *key, const uint64_t *args)
{
	row->type = track == GT_NONE ? GT_NONE : type_of(n, key);
	if (row->type == GT_NONE)
		return n->err->code;
	row->nargs = (uint8_t)__builtin_popcount(key->fields);
	return gt_nsight_row_is_done(n, row->start,
		kind == GT_OPEN ? gt_writer_open_call(n->w, track, row, args, n->err)
				: gt_writer_row(n->w, kind, track, row, args, n->err));
}

/* ---- calls ---- */

#define DEEPEST 256u
struct open_calls { /* of a thread: the ends of the calls that are open */
	int64_t thread;
	unsigned n;
	int64_t ends[DEEPEST];
};

/* A call nests within those that are open. One that ends after a call in which it began cannot be a
 * call of a trace: it becomes a span, with its times. */
static int put_call(struct gt_nsight *n, const struct gt_nsight_call *c, struct open_calls *open)
{
	struct gt_nsight_type_key key = { .name = c->name,
		.layer = c->layer,
		.category = c->category,
		.op = c->layer == GT_LAYER_IOCTL && c->category == GT_CAT_IOCTL ? GT_OP_IOCTL
										: GT_OP_NONE,
		.fields = (c->correlation ? GT_NSIGHT_CORRELATION : 0) |
			(c->stack == GT_NONE ? 0 : GT_NSIGHT_STACK) };
	struct gt_row row = { .start = c->start, .end = c->end, .ret = c->ret };
	uint64_t args[2] = { c->correlation, c->stack };
	int64_t end = c->end == GT_NSIGHT_NO_END ? INT64_MAX : c->end;
	enum gt_kind kind = c->end == GT_NSIGHT_NO_END ? GT_OPEN : GT_CALL;

	if (open->thread != c->global)
		open->n = 0;
	open->thread = c->global;
	while (open->n && open->ends[open->n - 1] <= c->start)
		open->n--;
	if (open->n == DEEPEST || (open->n && end > open->ends[open->n - 1])) {
		kind = kind == GT_OPEN ? GT_UNMATCHED : GT_SPAN;
	} else {
		row.depth = (uint8_t)(open->n < 255 ? open->n : 255);
		open->ends[open->n++] = end;
	}
	if (c->end == GT_NSIGHT_NO_END) {
		row.end = c->start;
		row.ret = 0;
	}
	return gt_nsight_put(n, kind, gt_nsight_thread(n, c->global), &row, &key,
		c->correlation ? args : args + 1);
}

static int put_calls(struct gt_nsight *n)
{
	struct open_calls open = { .n = 0 };
	struct gt_nsight_call c;
	int rc;

	while ((rc = gt_sorter_next(&n->calls, &c, n->err)) > 0) {
		rc = put_call(n, &c, &open);
		if (rc)
			break;
	}
	return rc;
}

/* ---- GPU work ---- */

static int put_kernel(struct gt_nsight *n, const struct gt_nsight_work *r, struct gt_gpu_work *w)
{
	struct gt_gpu_kernel k = { .name = r->name,
		.shared_static = r->shared[0],
		.shared_dynamic = r->shared[1],
		.registers = r->registers };

	memcpy(k.grid, r->grid, sizeof(k.grid));
	memcpy(k.block, r->block, sizeof(k.block));
	return gt_gpu_put_kernel(&n->gpu_types, w, &k, n->err);
}

static int put_copy(struct gt_nsight *n, const struct gt_nsight_work *r, struct gt_gpu_work *w)
{
	struct gt_gpu_copy c = { .direction = (enum gt_direction)r->direction,
		.src = (enum gt_gpu_memory)r->source,
		.dst = (enum gt_gpu_memory)r->destination,
		.bytes = r->bytes,
		.src_device = r->grid[0],
		.dst_device = r->grid[1] };

	return gt_gpu_put_copy(&n->gpu_types, w, &c, n->err);
}

static int put_set(struct gt_nsight *n, const struct gt_nsight_work *r, struct gt_gpu_work *w)
{
	struct gt_gpu_set s = { .memory = (enum gt_gpu_memory)r->destination,
		.bytes = r->bytes,
		.value = (uint32_t)r->value };

	return gt_gpu_put_set(&n->gpu_types, w, &s, n->err);
}

static int put_work(
	struct gt_nsight *n, const struct gt_nsight_work *r, const struct gt_gpu_cause *cause)
{
	struct gt_gpu_work w = { .track = gt_nsight_gpu(
					 n, r->global, r->device, r->context, r->stream),
		.start = r->start,
		.end = r->end,
		.correlation = (uint32_t)r->correlation,
		.context = (uint32_t)r->context,
		.graph = r->graph,
		.node = r->node,
		.unknown = r->unknown | (r->correlation >> 32 ? GT_GPU_NO_CORRELATION : 0),
		.cause = *cause };
	struct gt_gpu_waiting wait = { (enum gt_gpu_wait)r->wait, r->value };
	int rc;

	if (w.track == GT_NONE)
		return n->err->code;
	switch (r->kind) {
	case GT_NSIGHT_KERNEL: rc = put_kernel(n, r, &w); break;
	case GT_NSIGHT_COPY: rc = put_copy(n, r, &w); break;
	case GT_NSIGHT_SET: rc = put_set(n, r, &w); break;
	case GT_NSIGHT_GRAPH: rc = gt_gpu_put_graph(&n->gpu_types, &w, n->err); break;
	default: rc = gt_gpu_put_wait(&n->gpu_types, &w, &wait, n->err); break;
	}
	return gt_nsight_row_is_done(n, r->start, rc);
}

/* The launches in order, of which those before the current work are behind. */
struct launch_cursor {
	struct gt_nsight_launch next;
	int more;
	/* of the work that was looked up last */
	int64_t global;
	uint64_t correlation;
	struct gt_gpu_cause cause;
};

static bool is_before(const struct gt_nsight_launch *l, const struct gt_nsight_work *r)
{
	return l->global != r->global ? l->global < r->global : l->correlation < r->correlation;
}

static int find_cause(struct gt_nsight *n, const struct gt_nsight_work *r, struct launch_cursor *l)
{
	if (l->cause.join != GT_JOIN_UNKNOWN && l->global == r->global &&
		l->correlation == r->correlation)
		return 0;
	l->cause = (struct gt_gpu_cause){ .join = GT_JOIN_UNKNOWN };
	while (l->more > 0 && is_before(&l->next, r))
		l->more = gt_sorter_next(&n->launches, &l->next, n->err);
	while (l->more > 0 && l->next.global == r->global &&
		l->next.correlation == r->correlation) {
		l->global = r->global;
		l->correlation = r->correlation;
		l->cause = (struct gt_gpu_cause){ .join = GT_JOIN_CORRELATION,
			.track = gt_nsight_thread(n, l->next.thread),
			.name = l->next.name,
			.start = l->next.start,
			.ns = (uint64_t)(l->next.end - l->next.start),
			.stack = l->next.stack + 1 /* GT_NONE: 0 */ };
		if (l->cause.track == GT_NONE)
			return n->err->code;
		l->more = gt_sorter_next(&n->launches, &l->next, n->err);
	}
	return l->more < 0 ? l->more : 0;
}

static int put_works(struct gt_nsight *n)
{
	struct launch_cursor l = { .cause = { .join = GT_JOIN_UNKNOWN } };
	struct gt_nsight_work r;
	int rc;

	l.more = gt_sorter_next(&n->launches, &l.next, n->err);
	if (l.more < 0)
		return l.more;
	while ((rc = gt_sorter_next(&n->works, &r, n->err)) > 0) {
		rc = find_cause(n, &r, &l);
		rc = rc ? rc : put_work(n, &r, &l.cause);
		if (rc)
			break;
	}
	return rc;
}

int gt_nsight_finish(struct gt_nsight *n)
{
	int rc = put_calls(n);

	if (!rc)
		rc = put_works(n);
	if (n->invalid)
		gt_out_printf(&n->meta, ",\"events_without_time\":%" PRIu64, n->invalid);
	if (n->stacks_left_out)
		gt_out_printf(&n->meta, ",\"stacks_left_out\":%" PRIu64, n->stacks_left_out);
	return rc;
}
