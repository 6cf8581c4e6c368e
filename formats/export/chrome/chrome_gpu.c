#include "formats/export/chrome/chrome_gpu.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include "formats/cuda/gpu_rows.h"
#include "formats/export/exporters.h"

const char *gt_chrome_gpu_category(const struct gt_type *type)
{
	if (type->layer != GT_LAYER_GPU)
		return NULL;
	if (type->op == GT_OP_COPY)
		return "gpu_memcpy";
	if (type->op == GT_OP_SET)
		return "gpu_memset";
	return type->category == GT_CAT_SYNC      ? "cuda_sync"
		: type->category == GT_CAT_KERNEL ? "kernel"
						  : NULL;
}

const char *gt_chrome_gpu_name(
	const struct gt_type *type, const char *name, char buffer[GT_CHROME_GPU_NAME])
{
	static const char *const waits[GT_GPU_WAITS] = { NULL, "Event Sync", "Stream Wait Event",
		"Stream Sync", "Context Sync" };
	const char *wait;
	bool first = true;

	if (type->layer != GT_LAYER_GPU)
		return name;
	if (type->category == GT_CAT_SYNC) {
		wait = waits[gt_gpu_wait_of_row(name)];
		return wait ? wait : name;
	}
	if ((type->op != GT_OP_COPY && type->op != GT_OP_SET) || strlen(name) >= GT_CHROME_GPU_NAME)
		return name;
	for (size_t i = 0;; i++) { /* each word begins with a capital letter */
		buffer[i] = (char)(first ? toupper((unsigned char)name[i]) : name[i]);
		first = name[i] == ' ' || name[i] == '(';
		if (!name[i])
			return buffer;
	}
}

bool gt_chrome_gpu_type(const struct gt_type *type)
{
	return type->layer == GT_LAYER_GPU && gt_type_field(type, GT_R_LAUNCH_JOIN) != GT_NONE;
}

/* ---- the arguments of a row ---- */

struct list {
	struct gt_chrome_arg *to;
	unsigned n;
};

static struct gt_chrome_arg *add(
	struct list *a, const char *name, enum gt_chrome_arg_form form, uint64_t value)
{
	struct gt_chrome_arg *to = &a->to[a->n < GT_CHROME_ARGS_MAX ? a->n++ : a->n - 1];

	to->name = name;
	to->form = form;
	to->value = value;
	return to;
}

static void add_field(struct list *a, const char *name, const struct gt_field *f, uint64_t v)
{
	add(a, name, GT_ARG_FIELD, v)->field = f;
}

/* Adds the ids of the device and the stream that a track belongs to. Of a wait of the host for an
 * event or a context, both are -1. */
static void add_place(struct list *a, const struct gt_segment *seg, uint32_t track, bool waits)
{
	static const struct {
		uint8_t kind;
		const char *name;
	} places[] = { { GT_TRACK_DEVICE, "device" }, { GT_TRACK_STREAM, "stream" } };

	for (unsigned i = 0; i < 2; i++) {
		uint32_t t = track;

		while (t < seg->ntracks && seg->tracks[t].kind != places[i].kind)
			t = seg->tracks[t].parent;
		if (t < seg->ntracks || waits)
			add(a, places[i].name, GT_ARG_SIGNED,
				(uint64_t)(t < seg->ntracks ? seg->tracks[t].id : -1));
	}
}

/* Values that combine several fields. */
struct gathered {
	uint64_t grid[3], block[3], shared, bytes, join;
	uint64_t made_name, made_start;
	unsigned ngrid, nblock, nshared;
	bool sized;
};

static void add_three(struct list *a, const char *name, const uint64_t v[3], unsigned n)
{
	if (n == 3)
		memcpy(add(a, name, GT_ARG_THREE, 0)->three, v, 3 * sizeof(*v));
}

/* Adds the call that created a graph's node: no arrow leads there. */
static void add_creation(
	struct list *a, const struct gt_segment *seg, const struct gathered *g, int64_t base)
{
	if (g->made_name >= seg->nstrings)
		return;
	add(a, "created_by", GT_ARG_TEXT, 0)->text = gt_str(seg, (uint32_t)g->made_name);
	add(a, "created_ts", GT_ARG_TIME, (uint64_t)gt_since((int64_t)g->made_start, base));
}

static void add_gathered(struct list *a, const struct gathered *g, const struct gt_row *row)
{
	add_three(a, "grid", g->grid, g->ngrid);
	add_three(a, "block", g->block, g->nblock);
	if (g->nshared)
		add(a, "shared memory", GT_ARG_NUMBER, g->shared);
	if (!g->sized)
		return;
	add(a, "bytes", GT_ARG_NUMBER, g->bytes);
	if (row->end > row->start)
		add(a, "memory bandwidth (GB/s)", GT_ARG_RATE, g->bytes)->three[0] =
			(uint64_t)gt_since(row->end, row->start);
}

static void add_own(
	struct list *a, const struct gt_segment *seg, const struct gt_field *f, uint64_t v)
{
	if (f->kind != GT_F_STR || v < seg->nstrings) /* it is known */
		add_field(a, gt_str(seg, f->name), f, v);
}

/* Adds the call that launched it, without its track and start: an arrow leads there. */
static void add_launch(struct list *a, const struct gt_segment *seg, const struct gt_field *f,
	uint64_t v, uint64_t join)
{
	if (join == GT_JOIN_UNKNOWN || f->role == GT_R_LAUNCH_TRACK || f->role == GT_R_LAUNCH_START)
		return;
	if (f->role != GT_R_LAUNCH_JOIN) {
		add_own(a, seg, f, v);
		return;
	}
	add(a, "launch_join", GT_ARG_TEXT, 0)->text =
		join == GT_JOIN_CORRELATION ? "exact" : "inferred";
}

static void gather(struct gathered *g, const struct gt_field *f, uint64_t v)
{
	if (f->role == GT_R_GRID && g->ngrid < 3)
		g->grid[g->ngrid++] = v;
	if (f->role == GT_R_BLOCK && g->nblock < 3)
		g->block[g->nblock++] = v;
	if (f->role == GT_R_SHARED && ++g->nshared)
		g->shared += v;
	if (f->role == GT_R_BYTES) {
		g->bytes = v;
		g->sized = true;
	}
	if (f->role == GT_R_LAUNCH_JOIN)
		g->join = v;
	if (f->role == GT_R_CREATED_BY_NAME)
		g->made_name = v;
	if (f->role == GT_R_CREATED_BY_START)
		g->made_start = v;
}

static const char *const names[GT_ROLES] = {
	[GT_R_CONTEXT] = "context",
	[GT_R_REGISTERS] = "registers per thread",
	[GT_R_GRAPH] = "graph id",
	[GT_R_NODE] = "graph node id",
	[GT_R_DEVICE] = "toDevice",
	[GT_R_EVENT] = "wait_on_cuda_event_id",
};

static void add_one(struct list *a, const struct gt_segment *seg, const struct gt_field *f,
	uint64_t v, uint64_t join)
{
	static const struct gt_field number = { .kind = GT_F_U64 };

	switch (f->role) {
	case GT_R_GRID:
	case GT_R_BLOCK:
	case GT_R_SHARED:
	case GT_R_BYTES:
	case GT_R_CREATED_BY_TRACK:
	case GT_R_CREATED_BY_START:
	case GT_R_CORRELATION:
	case GT_R_STACK:
	case GT_R_CREATED_BY_NAME: return;
	case GT_R_LAUNCH_TRACK:
	case GT_R_LAUNCH_START:
	case GT_R_LAUNCH_NS:
	case GT_R_LAUNCH_NAME:
	case GT_R_LAUNCH_JOIN: add_launch(a, seg, f, v, join); return;
	}
	if (f->role == GT_R_EVENT && v == GT_GPU_NO_EVENT)
		return;
	if (f->role < GT_ROLES && names[f->role] && f->kind != GT_F_STR)
		add_field(a, names[f->role], f->role == GT_R_EVENT ? &number : f, v);
	else if (f->role == GT_R_NONE && !strcmp(gt_str(seg, f->name), "src_device"))
		add(a, "fromDevice", GT_ARG_NUMBER, v);
	else
		add_own(a, seg, f, v);
}

unsigned gt_chrome_gpu_args(const struct gt_segment *seg, uint32_t track, const struct gt_row *row,
	const uint64_t *args, int64_t base, uint64_t correlation,
	struct gt_chrome_arg to[GT_CHROME_ARGS_MAX])
{
	const struct gt_type *type = &seg->types[row->type];
	unsigned n = row->nargs < type->nfields ? row->nargs : type->nfields;
	struct gathered g = { .join = GT_JOIN_UNKNOWN, .made_name = GT_NONE };
	struct list a = { to, 0 };

	for (unsigned i = 0; i < n; i++)
		gather(&g, &type->fields[i], args[i]);
	add_place(&a, seg, track, type->category == GT_CAT_SYNC);
	if (correlation)
		add(&a, "correlation", GT_ARG_NUMBER, correlation);
	for (unsigned i = 0; i < n; i++)
		add_one(&a, seg, &type->fields[i], args[i], g.join);
	add_gathered(&a, &g, row);
	add_creation(&a, seg, &g, base);
	if (row->ret)
		add(&a, "ret", GT_ARG_SIGNED, (uint64_t)(int64_t)row->ret);
	return a.n;
}

/* ---- as JSON ---- */

static void put_three(struct gt_out *out, const uint64_t v[3])
{
	for (unsigned i = 0; i < 3; i++) {
		gt_out_str(out, i ? "," : "[");
		gt_out_commit(out, gt_put_value(gt_out_reserve(out, 64), GT_F_U64, v[i]));
	}
	gt_out_str(out, "]");
}

static void put_arg(struct gt_out *out, const struct gt_segment *seg, const struct gt_chrome_arg *a)
{
	switch (a->form) {
	case GT_ARG_FIELD: gt_export_value(out, seg, a->field, a->value); break;
	case GT_ARG_NUMBER:
		gt_out_commit(out, gt_put_value(gt_out_reserve(out, 64), GT_F_U64, a->value));
		break;
	case GT_ARG_SIGNED: gt_export_i64(out, (int64_t)a->value); break;
	case GT_ARG_THREE: put_three(out, a->three); break;
	case GT_ARG_RATE: /* bytes per ns = GB per s */
		gt_out_printf(out, "%.9g", (double)a->value / (double)a->three[0]);
		break;
	case GT_ARG_TIME: gt_export_us(out, (int64_t)a->value); break;
	case GT_ARG_TEXT: gt_out_json(out, a->text, strlen(a->text)); break;
	}
}

void gt_chrome_gpu_put_args(struct gt_out *out, const struct gt_segment *seg,
	const struct gt_chrome_arg *args, unsigned n, const char *caller)
{
	for (unsigned i = 0; i < n; i++) {
		gt_out_str(out, i ? "," : ",\"args\":{");
		gt_out_json(out, args[i].name, strlen(args[i].name));
		gt_out_str(out, ":");
		put_arg(out, seg, &args[i]);
	}
	if (caller) {
		gt_out_str(out, n ? ",\"caller\":" : ",\"args\":{\"caller\":");
		gt_out_str(out, caller);
	}
	if (n || caller)
		gt_out_str(out, "}");
}
