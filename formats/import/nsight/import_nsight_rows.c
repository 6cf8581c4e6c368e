/* Rows from Nsight's records. */
#include "formats/import/nsight/import_nsight.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/cuda/cuda_api.h"
#include "formats/import/import_rows.h"

#define BUFFER 32768u /* records of a sorter in memory */
#define PID(global) ((int64_t)((uint64_t)(global) >> 24 & 0xffffff))
#define TID(global) ((int64_t)((uint64_t)(global)&0xffffff))

static int no_memory(struct gt_nsight *n) { return gt_err_set(n->err, -ENOMEM, "out of memory"); }

/* ---- order of records ---- */

static bool call_before(const void *a, const void *b)
{
	const struct gt_nsight_call *x = a, *y = b;

	if (x->global != y->global)
		return x->global < y->global;
	if (x->start != y->start)
		return x->start < y->start;
	return x->end > y->end; /* the outer call first */
}

static bool work_before(const void *a, const void *b)
{
	const struct gt_nsight_work *x = a, *y = b;
	bool work = x->kind != GT_NSIGHT_CALL;

	if (x->global != y->global)
		return x->global < y->global;
	if (x->correlation != y->correlation)
		return x->correlation < y->correlation;
	if (work != (y->kind != GT_NSIGHT_CALL))
		return !work;
	return x->start < y->start;
}

int gt_nsight_init(struct gt_nsight *n, struct gt_writer *w, struct gt_err *err)
{
	int rc;

	memset(n, 0, sizeof(*n));
	n->w = n->gpu_types.w = w;
	n->err = err;
	n->source = gt_writer_string(w, "import nsight");
	rc = gt_sorter_init(&n->calls, sizeof(struct gt_nsight_call), BUFFER, call_before, err);
	return rc ? rc
		  : gt_sorter_init(
			    &n->works, sizeof(struct gt_nsight_work), BUFFER, work_before, err);
}

void gt_nsight_release(struct gt_nsight *n)
{
	gt_sorter_release(&n->calls);
	gt_sorter_release(&n->works);
	gt_gpu_types_release(&n->gpu_types);
	gt_map_release(&n->string_map);
	gt_map_release(&n->place_map);
	gt_map_release(&n->type_map);
	free(n->strings);
	free(n->places);
	free(n->types);
}

bool gt_nsight_is_valid(struct gt_nsight *n, int64_t start, int64_t end)
{
	bool valid = start > -GT_TIME_MAX && end < GT_TIME_MAX && end >= start;

	n->invalid += !valid;
	return valid;
}

/* ---- tracks ---- */

/* at->track is the parent's. */
static uint32_t place(
	struct gt_nsight *n, struct gt_nsight_place *at, enum gt_track_kind kind, int64_t id)
{
	const size_t key = offsetof(struct gt_nsight_place, track);
	struct gt_track t = { .parent = at->track,
		.name = GT_NONE,
		.source = n->source,
		.kind = (uint8_t)kind,
		.id = id,
		.ns_id = id };
	uint32_t i;

	at->kind = kind;
	i = gt_map_find_item(&n->place_map, n->places, sizeof(*at), at, key);
	if (i != GT_NONE)
		return n->places[i].track;
	if (n->nplaces == GT_ROWS_TRACKS) {
		gt_err_set(n->err, -E2BIG, "more than %u threads and streams", GT_ROWS_TRACKS);
		return GT_NONE;
	}
	at->track = gt_writer_track(n->w, &t);
	if (at->track == GT_NONE ||
		gt_map_add_item(&n->place_map, &n->places, &n->nplaces, &n->places_cap, sizeof(*at),
			at, key) == GT_NONE) {
		no_memory(n);
		return GT_NONE;
	}
	return at->track;
}

uint32_t gt_nsight_process(struct gt_nsight *n, int64_t global)
{
	struct gt_nsight_place at;

	memset(&at, 0, sizeof(at));
	at.global = global & ~0xffffffll;
	at.track = GT_NONE;
	return place(n, &at, GT_TRACK_PROCESS, PID(global));
}

uint32_t gt_nsight_thread(struct gt_nsight *n, int64_t global)
{
	struct gt_nsight_place at;

	if (n->last_track && n->last_thread == global)
		return n->last_track - 1;
	memset(&at, 0, sizeof(at));
	at.global = global;
	at.track = gt_nsight_process(n, global);
	if (at.track == GT_NONE)
		return GT_NONE;
	n->last_track = place(n, &at, GT_TRACK_THREAD, TID(global)) + 1;
	n->last_thread = global;
	return n->last_track - 1;
}

/* The track of the stream; if it is negative, of the context; if that is negative, of the device;
 * else of the process. */
static uint32_t gpu_track(struct gt_nsight *n, const struct gt_nsight_work *r)
{
	struct gt_nsight_place at;
	uint32_t t;

	memset(&at, 0, sizeof(at));
	at.global = r->global & ~0xffffffll;
	t = at.track = gt_nsight_process(n, r->global);
	if (t == GT_NONE || r->gpu.device < 0)
		return t;
	at.device = r->gpu.device;
	t = at.track = place(n, &at, GT_TRACK_DEVICE, r->gpu.device);
	if (t != GT_NONE && r->gpu.context >= 0) {
		at.context = r->gpu.context;
		t = at.track = place(n, &at, GT_TRACK_CONTEXT, r->gpu.context);
	}
	if (t != GT_NONE && r->gpu.stream >= 0) {
		at.id = r->gpu.stream;
		t = place(n, &at, GT_TRACK_STREAM, r->gpu.stream);
	}
	return t;
}

/* ---- calls and ranges ---- */

/* The type of a call (correlated: it has that field) or range. */
static uint32_t type_of(struct gt_nsight *n, uint32_t name, uint8_t layer, bool correlated)
{
	struct gt_nsight_type t = { .key = (uint64_t)name << 16 | (uint64_t)layer << 1 |
			correlated };
	uint32_t i = gt_map_find_item(&n->type_map, n->types, sizeof(t), &t, sizeof(t.key));
	struct gt_field field;
	struct gt_type type;
	struct gt_api api;

	if (i != GT_NONE)
		return n->types[i].type;
	api = gt_api_guess(gt_writer_string_text(n->w, name));
	field = (struct gt_field){ gt_writer_string(n->w, "correlation"), GT_F_U64,
		GT_R_CORRELATION };
	type = (struct gt_type){
		.name = name, .layer = layer, .nfields = correlated, .fields = &field
	};
	if (layer == GT_LAYER_USER) {
		type.category = GT_CAT_USER;
	} else if (layer != GT_LAYER_SYSCALL) {
		type.category = api.category;
		type.op = api.op;
		type.memkind = api.memkind;
	}
	t.type = gt_writer_type(n->w, &type);
	if (t.type == GT_NONE ||
		gt_map_add_item(&n->type_map, &n->types, &n->ntypes, &n->types_cap, sizeof(t), &t,
			sizeof(t.key)) == GT_NONE) {
		no_memory(n);
		return GT_NONE;
	}
	return t.type;
}

/* Rows come in any order of time, so an epoch is as long as its memory allows. */
static int put_row(struct gt_nsight *n, enum gt_kind kind, uint32_t track, const struct gt_row *row,
	const uint64_t *args)
{
	int rc = gt_writer_row(n->w, kind, track, row, args, n->err);

	n->rows++;
	if (!rc && gt_writer_epoch_is_due(n->w, row->start))
		rc = gt_writer_epoch(n->w, row->start, n->err);
	return rc;
}

int gt_nsight_put_range(struct gt_nsight *n, int64_t thread, uint32_t name, int64_t start,
	int64_t end, bool is_mark)
{
	uint32_t track = gt_nsight_thread(n, thread);
	struct gt_row row = { .start = start, .end = end };

	if (track == GT_NONE)
		return n->err->code;
	row.type = type_of(n, name, GT_LAYER_USER, false);
	if (row.type == GT_NONE)
		return n->err->code;
	return put_row(n, is_mark ? GT_INSTANT : GT_SPAN, track, &row, NULL);
}

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
	uint32_t track = gt_nsight_thread(n, c->global);
	struct gt_row row = {
		.start = c->start, .end = c->end, .ret = c->ret, .nargs = c->correlation != 0
	};
	bool nests;

	row.type = track == GT_NONE ? GT_NONE : type_of(n, c->name, c->layer, c->correlation != 0);
	if (row.type == GT_NONE)
		return n->err->code;
	if (c->end == GT_NSIGHT_NO_END) {
		row.end = c->start;
		row.ret = 0;
		return put_row(n, GT_UNMATCHED, track, &row, &c->correlation);
	}
	if (open->thread != c->global)
		open->n = 0;
	open->thread = c->global;
	while (open->n && open->ends[open->n - 1] <= c->start)
		open->n--;
	nests = !open->n || c->end <= open->ends[open->n - 1];
	if (!nests || open->n == DEEPEST)
		return put_row(n, GT_SPAN, track, &row, &c->correlation);
	row.depth = (uint8_t)(open->n < 255 ? open->n : 255);
	open->ends[open->n++] = c->end;
	return put_row(n, GT_CALL, track, &row, &c->correlation);
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
		.shared_static = r->gpu.shared[0],
		.shared_dynamic = r->gpu.shared[1],
		.registers = r->gpu.registers };

	memcpy(k.grid, r->gpu.grid, sizeof(k.grid));
	memcpy(k.block, r->gpu.block, sizeof(k.block));
	return gt_gpu_put_kernel(&n->gpu_types, w, &k, n->err);
}

static int put_copy(struct gt_nsight *n, const struct gt_nsight_work *r, struct gt_gpu_work *w)
{
	struct gt_gpu_copy c = { .direction = (enum gt_direction)r->gpu.direction,
		.src = (enum gt_gpu_memory)r->gpu.source,
		.dst = (enum gt_gpu_memory)r->gpu.destination,
		.bytes = r->gpu.bytes,
		.src_device = r->gpu.grid[0],
		.dst_device = r->gpu.grid[1] };

	return gt_gpu_put_copy(&n->gpu_types, w, &c, n->err);
}

static int put_set(struct gt_nsight *n, const struct gt_nsight_work *r, struct gt_gpu_work *w)
{
	struct gt_gpu_set s = { .memory = (enum gt_gpu_memory)r->gpu.destination,
		.bytes = r->gpu.bytes,
		.value = (uint32_t)r->gpu.value };

	return gt_gpu_put_set(&n->gpu_types, w, &s, n->err);
}

static int put_work(
	struct gt_nsight *n, const struct gt_nsight_work *r, const struct gt_gpu_cause *cause)
{
	struct gt_gpu_work w = { .track = gpu_track(n, r),
		.start = r->start,
		.end = r->end,
		.correlation = (uint32_t)r->correlation,
		.context = (uint32_t)r->gpu.context,
		.graph = r->gpu.graph,
		.node = r->gpu.node,
		.unknown = r->gpu.unknown | (r->correlation >> 32 ? GT_GPU_NO_CORRELATION : 0),
		.cause = *cause };
	struct gt_gpu_waiting wait = { (enum gt_gpu_wait)r->gpu.wait, r->gpu.value };
	int rc;

	if (w.track == GT_NONE)
		return n->err->code;
	n->rows++;
	switch (r->kind) {
	case GT_NSIGHT_KERNEL: rc = put_kernel(n, r, &w); break;
	case GT_NSIGHT_COPY: rc = put_copy(n, r, &w); break;
	case GT_NSIGHT_SET: rc = put_set(n, r, &w); break;
	case GT_NSIGHT_GRAPH: rc = gt_gpu_put_graph(&n->gpu_types, &w, n->err); break;
	default: rc = gt_gpu_put_wait(&n->gpu_types, &w, &wait, n->err); break;
	}
	if (!rc && gt_writer_epoch_is_due(n->w, r->start))
		rc = gt_writer_epoch(n->w, r->start, n->err);
	return rc;
}

/* Of several calls with one number (the runtime's, and the driver's in it), the last one launched
 * the work. */
static int set_cause(
	struct gt_nsight *n, const struct gt_nsight_work *call, struct gt_gpu_cause *cause)
{
	*cause = (struct gt_gpu_cause){ .join = GT_JOIN_CORRELATION,
		.track = gt_nsight_thread(n, call->call.thread),
		.name = call->name,
		.start = call->start,
		.ns = (uint64_t)(call->end - call->start) };
	return cause->track == GT_NONE ? n->err->code : 0;
}

static int put_works(struct gt_nsight *n)
{
	struct gt_gpu_cause cause = { .join = GT_JOIN_UNKNOWN };
	const struct gt_gpu_cause none = cause;
	struct gt_nsight_work r;
	int64_t global = 0;
	uint64_t correlation = 0;
	int rc;

	while ((rc = gt_sorter_next(&n->works, &r, n->err)) > 0) {
		if (r.global != global || r.correlation != correlation)
			cause = none;
		global = r.global;
		correlation = r.correlation;
		if (r.kind == GT_NSIGHT_CALL)
			rc = set_cause(n, &r, &cause);
		else
			rc = put_work(n, &r, r.correlation ? &cause : &none);
		if (rc)
			break;
	}
	return rc;
}

int gt_nsight_finish(struct gt_nsight *n)
{
	char meta[80];
	int rc = put_calls(n);

	if (!rc)
		rc = put_works(n);
	snprintf(meta, sizeof(meta), "{\"events_without_time\":%" PRIu64 "}", n->invalid);
	return rc || !n->invalid ? rc : gt_writer_meta(n->w, meta, n->err);
}
