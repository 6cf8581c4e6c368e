#include "formats/export/chrome_gpu.h"

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

struct args {
	struct gt_out *out;
	bool any;
	int64_t base;
};

/* Inline, so that the compiler copies a name that is a literal in place. */
static inline __attribute__((always_inline)) void key(struct args *a, const char *name)
{
	if (a->any)
		gt_out_str(a->out, ",\"");
	else
		gt_out_str(a->out, ",\"args\":{\"");
	gt_out_str(a->out, name);
	gt_out_str(a->out, "\":");
	a->any = true;
}

static inline __attribute__((always_inline)) void put_number(
	struct args *a, const char *name, uint64_t v)
{
	key(a, name);
	gt_out_commit(a->out, gt_put_value(gt_out_reserve(a->out, 64), GT_F_U64, v));
}

/* Writes the ids of the device and the stream that a track belongs to. Of a wait of the host for an
 * event or a context, both are -1. */
static void put_place(struct args *a, const struct gt_segment *seg, uint32_t track, bool waits)
{
	static const struct {
		uint8_t kind;
		const char *name;
	} places[] = { { GT_TRACK_DEVICE, "device" }, { GT_TRACK_STREAM, "stream" } };

	for (unsigned i = 0; i < 2; i++) {
		uint32_t t = track;

		while (t < seg->ntracks && seg->tracks[t].kind != places[i].kind)
			t = seg->tracks[t].parent;
		if (t >= seg->ntracks && !waits)
			continue;
		key(a, places[i].name);
		gt_export_i64(a->out, t < seg->ntracks ? seg->tracks[t].id : -1);
	}
}

/* Values that combine several fields. */
struct gathered {
	uint64_t grid[3], block[3], shared, bytes, join;
	uint64_t made_name, made_start;
	unsigned ngrid, nblock, nshared;
	bool sized;
};

static void put_three(struct args *a, const char *name, const uint64_t v[3], unsigned n)
{
	if (n != 3)
		return;
	key(a, name);
	for (unsigned i = 0; i < 3; i++) {
		gt_out_str(a->out, i ? "," : "[");
		gt_out_commit(a->out, gt_put_value(gt_out_reserve(a->out, 64), GT_F_U64, v[i]));
	}
	gt_out_str(a->out, "]");
}

/* Writes the call that created a graph's node: no arrow leads there. */
static void put_creation(struct args *a, const struct gt_segment *seg, const struct gathered *g)
{
	const char *name =
		g->made_name < seg->nstrings ? gt_str(seg, (uint32_t)g->made_name) : NULL;

	if (!name)
		return;
	key(a, "created_by");
	gt_out_json(a->out, name, strlen(name));
	key(a, "created_ts");
	gt_export_us(a->out, gt_since((int64_t)g->made_start, a->base));
}

static void put_gathered(struct args *a, const struct gathered *g, const struct gt_row *row)
{
	put_three(a, "grid", g->grid, g->ngrid);
	put_three(a, "block", g->block, g->nblock);
	if (g->nshared)
		put_number(a, "shared memory", g->shared);
	if (!g->sized)
		return;
	put_number(a, "bytes", g->bytes);
	if (row->end > row->start) { /* bytes per ns = GB per s */
		key(a, "memory bandwidth (GB/s)");
		gt_out_printf(
			a->out, "%.9g", (double)g->bytes / (double)gt_since(row->end, row->start));
	}
}

static void put_own(
	struct args *a, const struct gt_segment *seg, const struct gt_field *f, uint64_t v)
{
	const char *name = gt_str(seg, f->name);

	if (f->kind == GT_F_STR && v >= seg->nstrings)
		return; /* unknown */
	gt_out_str(a->out, a->any ? "," : ",\"args\":{");
	gt_out_json(a->out, name, strlen(name));
	gt_out_str(a->out, ":");
	gt_export_value(a->out, seg, f, v);
	a->any = true;
}

/* Writes the call that launched it, without its track and start: an arrow leads there. */
static void put_launch(struct args *a, const struct gt_segment *seg, const struct gt_field *f,
	uint64_t v, uint64_t join)
{
	if (join == GT_JOIN_UNKNOWN || f->role == GT_R_LAUNCH_TRACK || f->role == GT_R_LAUNCH_START)
		return;
	if (f->role != GT_R_LAUNCH_JOIN) {
		put_own(a, seg, f, v);
		return;
	}
	key(a, "launch_join");
	gt_out_str(a->out, join == GT_JOIN_CORRELATION ? "\"exact\"" : "\"inferred\"");
}

static void add_up(struct gathered *g, const struct gt_field *f, uint64_t v)
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

static void put_field(struct args *a, const struct gt_segment *seg, const struct gt_field *f,
	uint64_t v, uint64_t join)
{
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
	case GT_R_LAUNCH_JOIN: put_launch(a, seg, f, v, join); return;
	}
	if (f->role == GT_R_EVENT && v == GT_GPU_NO_EVENT)
		return;
	if (f->role < GT_ROLES && names[f->role] && f->kind != GT_F_STR) {
		key(a, names[f->role]);
		gt_out_commit(a->out,
			gt_put_value(gt_out_reserve(a->out, 64),
				f->role == GT_R_EVENT ? GT_F_U64 : f->kind, v));
	} else if (f->role == GT_R_NONE && !strcmp(gt_str(seg, f->name), "src_device")) {
		put_number(a, "fromDevice", v);
	} else {
		put_own(a, seg, f, v);
	}
}

void gt_chrome_gpu_args(struct gt_out *out, const struct gt_segment *seg, uint32_t track,
	const struct gt_row *row, const uint64_t *args, int64_t base, uint64_t correlation,
	const char *caller)
{
	const struct gt_type *type = &seg->types[row->type];
	unsigned n = row->nargs < type->nfields ? row->nargs : type->nfields;
	struct gathered g = { .join = GT_JOIN_UNKNOWN, .made_name = GT_NONE };
	struct args a = { out, false, base };

	for (unsigned i = 0; i < n; i++)
		add_up(&g, &type->fields[i], args[i]);
	put_place(&a, seg, track, type->category == GT_CAT_SYNC);
	if (correlation)
		put_number(&a, "correlation", correlation);
	for (unsigned i = 0; i < n; i++)
		put_field(&a, seg, &type->fields[i], args[i], g.join);
	put_gathered(&a, &g, row);
	put_creation(&a, seg, &g);
	if (caller) {
		key(&a, "caller");
		gt_out_str(out, caller);
	}
	if (row->ret) {
		key(&a, "ret");
		gt_export_i64(out, row->ret);
	}
	if (a.any)
		gt_out_str(out, "}");
}
