/* Writes a slice as a line of JSON: see chrome_slices.h.
 *
 * Speed: a line consists of prepared text of the type ({"name":..,"cat":..) and of the
 * track ("pid":..,"tid":..), two numbers, and arguments. Finished calls, most rows of
 * any trace, come as columns and in file order, since JSON viewers sort by themselves.
 *
 * Arrows lead from a launching call to its GPU work: a GPU row that names its launch
 * writes both ends, if the call itself was written (chrome_call_slices.h).
 */
#include "formats/export/chrome_slices.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "formats/base/buf.h"
#include "formats/export/chrome_gpu.h"
#include "formats/trace/read/block_plan.h"

#define TEXT_FAST 32768u /* longer prefixes are copied piecewise */

struct text {
	char *s;
	uint32_t len;
};
struct gt_chrome_type {
	struct text head;    /* ,\n{"name":"..","cat":"..","ph":"X","pid": */
	struct text *fields; /* ,"name": */
	/* its rows are GPU work that names the launching call */
	bool gpu;
	/* its rows may launch GPU work, as calls or as spans that partly overlap others */
	bool call;
	uint32_t name;
};
struct gt_chrome_segment {
	struct gt_chrome_type *types;
	struct text *kernels; /* by string id: the short form as JSON */
};
/* One type's argument columns in one run, and the position in them. */
struct gt_chrome_cursor {
	uint64_t run;
	uint32_t next;
	size_t columns;
};

static int no_memory(struct gt_chrome_slices *c)
{
	return gt_err_set(c->err, -ENOMEM, "out of memory");
}

/* ---- text of types ---- */

static struct text copy_text(struct gt_out *o)
{
	/* put_text reads pieces of 16 bytes */
	struct text t = { malloc(o->len + 32), (uint32_t)o->len };

	if (t.s)
		memcpy(t.s, o->data, o->len);
	gt_out_close(o, NULL);
	return t;
}

/* The short name of a kernel, the name of another type. NULL: no memory. */
static const char *shown_name(struct gt_chrome_slices *c, const struct gt_segment *seg, uint32_t id)
{
	const struct gt_type *type = &seg->types[id];
	bool kernel = type->layer == GT_LAYER_GPU && type->category == GT_CAT_KERNEL;

	return kernel ? gt_kernel_names_get(c->names, gt_type_name(seg, id))
		      : gt_type_name(seg, id);
}

static const char *shown_category(const struct gt_type *type)
{
	const char *gpu = gt_chrome_gpu_category(type);

	if (type->layer == GT_LAYER_RUNTIME)
		return "cuda_runtime";
	if (type->layer == GT_LAYER_OVERHEAD)
		return "overhead";
	return gpu ? gpu : gt_category_word(type->category);
}

const struct gt_chrome_type *gt_chrome_type(
	struct gt_chrome_slices *c, const struct gt_segment *seg, uint32_t id)
{
	struct gt_chrome_type *t = &c->segs[seg->index].types[id];
	const struct gt_type *type = &seg->types[id];
	const char *shown;
	struct gt_out o;

	if (t->head.s)
		return t;
	shown = shown_name(c, seg, id);
	if (!shown)
		goto failed;
	t->gpu = gt_chrome_gpu_type(type);
	t->call = type->layer == GT_LAYER_API || type->layer == GT_LAYER_RUNTIME;
	t->name = type->name;
	t->fields = calloc((size_t)type->nfields + 1, sizeof(*t->fields));
	for (unsigned i = 0; t->fields && i < type->nfields; i++) {
		const char *name = type->fields[i].role == GT_R_KERNEL
			? "kernel"
			: gt_str(seg, type->fields[i].name);

		gt_out_memory(&o);
		gt_out_str(&o, ",");
		gt_out_json(&o, name, strlen(name));
		gt_out_str(&o, ":");
		t->fields[i] = copy_text(&o);
		if (!t->fields[i].s)
			goto failed;
	}
	gt_out_memory(&o);
	gt_out_str(&o, ",\n{\"name\":");
	gt_out_json(&o, shown, strlen(shown));
	gt_out_printf(&o, ",\"cat\":\"%s\",\"ph\":\"X\",\"pid\":", shown_category(type));
	t->head = copy_text(&o);
	if (t->fields && t->head.s)
		return t;
failed:
	no_memory(c);
	return NULL;
}

/* The short kernel name as JSON. */
static const struct text *get_kernel(
	struct gt_chrome_slices *c, const struct gt_segment *seg, uint32_t string)
{
	struct gt_chrome_segment *s = &c->segs[seg->index];
	const char *name;
	struct gt_out o;

	if (!s->kernels)
		s->kernels = calloc((size_t)seg->nstrings + 1, sizeof(*s->kernels));
	if (!s->kernels)
		return NULL;
	if (!s->kernels[string].s) {
		name = gt_kernel_names_get(c->names, gt_str(seg, string));
		if (!name)
			return NULL;
		gt_out_memory(&o);
		gt_out_json(&o, name, strlen(name));
		s->kernels[string] = copy_text(&o);
	}
	return s->kernels[string].s ? &s->kernels[string] : NULL;
}

/* ---- slices ---- */

static inline char *put_text(char *p, const char *s, uint32_t len)
{
	for (uint32_t i = 0; i < len; i += 16)
		memcpy(p + i, s + i, 16);
	return p + len;
}

static inline bool get_arg(const struct gt_chrome_slice *s, unsigned field, uint64_t *value)
{
	if (s->args)
		return field < s->nargs ? (*value = s->args[field], true) : false;
	if (!s->columns || s->row >= s->columns[field].n)
		return false;
	*value = s->columns[field].values[s->row];
	return true;
}

static void add_text(struct gt_chrome_slices *c, const struct text *t)
{
	if (t->len > TEXT_FAST)
		gt_out_add(c->out, t->s, t->len);
	else
		gt_out_commit(c->out, put_text(gt_out_reserve(c->out, t->len + 16), t->s, t->len));
}

static void put_field(struct gt_chrome_slices *c, const struct gt_chrome_slice *s,
	const struct gt_field *f, uint64_t v)
{
	const struct text *kernel = NULL;

	if (f->kind != GT_F_STR && f->role != GT_R_DIRECTION) {
		gt_out_commit(c->out, gt_put_value(gt_out_reserve(c->out, 64), f->kind, v));
		return;
	}
	if (f->role == GT_R_KERNEL && v < s->seg->nstrings)
		kernel = get_kernel(c, s->seg, (uint32_t)v);
	if (kernel)
		add_text(c, kernel);
	else
		gt_export_value(c->out, s->seg, f, v);
}

/* Writes a key, and opens the object before the first one; `comma_text` begins with a comma. */
static inline void put_key(
	struct gt_chrome_slices *c, bool *any, const char *comma_text, uint32_t len)
{
	char *p;

	if (len > TEXT_FAST) {
		gt_out_str(c->out, *any ? "," : ",\"args\":{");
		gt_out_add(c->out, comma_text + 1, len - 1);
	} else {
		p = gt_out_reserve(c->out, len + 32);
		if (*any) {
			p = put_text(p, comma_text, len);
		} else {
			memcpy(p, ",\"args\":{", 9);
			p = put_text(p + 9, comma_text + 1, len - 1);
		}
		gt_out_commit(c->out, p);
	}
	*any = true;
}

void gt_chrome_put_args(
	struct gt_chrome_slices *c, const struct gt_chrome_slice *s, const struct gt_chrome_type *t)
{
	static const char ret[32] = ",\"ret\":", open[32] = ",\"open\":true";
	const struct gt_type *type = &s->seg->types[s->type];
	bool any = false;
	uint64_t v;

	for (unsigned i = 0; i < type->nfields; i++) {
		if (!get_arg(s, i, &v) ||
			(type->fields[i].kind == GT_F_STR && v >= s->seg->nstrings))
			continue; /* unknown, or no string */
		put_key(c, &any, t->fields[i].s, t->fields[i].len);
		put_field(c, s, &type->fields[i], v);
	}
	if (s->ret) {
		put_key(c, &any, ret, (uint32_t)strlen(ret));
		gt_export_i64(c->out, s->ret);
	}
	if (s->open)
		put_key(c, &any, open, (uint32_t)strlen(open));
	if (any)
		gt_out_str(c->out, "}");
}

static bool get_role(const struct gt_chrome_slice *s, unsigned role, uint64_t *value)
{
	uint32_t field = gt_type_field(&s->seg->types[s->type], role);

	return field != GT_NONE && get_arg(s, field, value);
}

/* Writes one end of an arrow. */
static void put_arrow(struct gt_chrome_slices *c, const struct gt_segment *seg,
	const struct gt_chrome_lane *l, int64_t time, bool arrives)
{
	static const char *const heads[] = {
		",\n{\"name\":\"launch\",\"cat\":\"flow\",\"ph\":\"s\",\"id\":\"",
		",\n{\"name\":\"launch\",\"cat\":\"flow\",\"ph\":\"f\",\"bp\":\"e\",\"id\":\""
	};
	char *p;

	gt_out_str(c->out, heads[arrives]);
	p = gt_put_u64(gt_out_reserve(c->out, 64), seg->index);
	*p++ = ':';
	gt_out_commit(c->out, gt_put_u64(p, c->launches));
	gt_out_str(c->out, "\",\"pid\":");
	gt_out_add(c->out, l->where, l->where_len);
	gt_export_us(c->out, gt_since(time, c->bases[seg->index]));
	gt_out_str(c->out, "}");
}

/* The lane of the call that launched a row, and a time within it. NULL: it has no slice, so there
 * is no arrow. */
static const struct gt_chrome_lane *find_launch(
	struct gt_chrome_slices *c, const struct gt_chrome_slice *s, int64_t *time)
{
	struct gt_chrome_call call = { .segment = s->seg->index };
	uint64_t track, at, ns, join, name;
	uint32_t lane;

	if (!get_role(s, GT_R_LAUNCH_TRACK, &track) || !get_role(s, GT_R_LAUNCH_START, &at) ||
		!get_role(s, GT_R_LAUNCH_NS, &ns) || !get_role(s, GT_R_LAUNCH_NAME, &name) ||
		!get_role(s, GT_R_LAUNCH_JOIN, &join) || join == GT_JOIN_UNKNOWN ||
		track >= s->seg->ntracks)
		return NULL;
	call.start = (int64_t)at;
	call.track = (uint32_t)track;
	call.name = (uint32_t)name;
	lane = gt_chrome_call_slices_lane(&c->flows, s->seg, &call);
	*time = call.start + (ns > 1); /* within the call, not where the one before it may end */
	return lane == GT_NONE ? NULL : &c->tracks.tracks[s->seg->index][track].lanes[lane];
}

/* An arrow leads from the launching call to what the GPU did: the row of the GPU work writes both
 * ends, so that each start has its finish. Work of one graph launch has one arrow each. */
static void put_flow(
	struct gt_chrome_slices *c, const struct gt_chrome_slice *s, const struct gt_chrome_lane *l)
{
	int64_t start;
	const struct gt_chrome_lane *from = find_launch(c, s, &start);

	if (!from)
		return;
	c->launches++;
	put_arrow(c, s->seg, from, start, false);
	put_arrow(c, s->seg, l, s->start + (s->dur > 1), true); /* as above */
}

static inline void put_slice(struct gt_chrome_slices *c, const struct gt_chrome_slice *s,
	const struct gt_chrome_type *t, const struct gt_chrome_lane *l)
{
	char *p;

	add_text(c, &t->head);
	p = gt_out_reserve(c->out, 192);
	p = put_text(p, l->where, l->where_len);
	p = gt_put_us(p, gt_since(s->start, c->bases[s->seg->index]));
	memcpy(p, ",\"dur\":", 7);
	p = gt_put_us(p + 7, s->dur < 0 ? 0 : s->dur);
	gt_out_commit(c->out, p);
	if (s->event && t->gpu)
		gt_chrome_gpu_args(c->out, s->seg, s->event->track, &s->event->row, s->event->args,
			c->bases[s->seg->index]);
	else if (s->ret || s->open || s->args || s->columns)
		gt_chrome_put_args(c, s, t);
	*gt_out_reserve(c->out, 1) = '}';
	c->out->len++;
	c->tracks.has_event = true;
}

void gt_chrome_begin_event(struct gt_chrome_slices *c, const struct gt_segment *seg,
	const char *name, const char *category, const char *phase, const char *where, int64_t time)
{
	gt_chrome_separate(&c->tracks);
	gt_out_str(c->out, "{\"name\":");
	gt_out_json(c->out, name, strlen(name));
	gt_out_printf(c->out, ",\"cat\":\"%s\",\"ph\":%s,\"pid\":%s", category, phase, where);
	gt_export_us(c->out, gt_since(time, c->bases[seg->index]));
}

/* Writes a slice without a lane as a pair of async events, which may overlap anything. */
static void put_async(struct gt_chrome_slices *c, const struct gt_chrome_slice *s,
	const struct gt_chrome_type *t, const struct gt_chrome_lane *l)
{
	const char *name = shown_name(c, s->seg, s->type);
	uint64_t id = ++c->async_id;
	char phase[48];

	for (unsigned end = 0; end < 2; end++) {
		snprintf(
			phase, sizeof(phase), "\"%c\",\"id\":\"%" PRIu64 "\"", end ? 'e' : 'b', id);
		gt_chrome_begin_event(c, s->seg, name ? name : "?",
			shown_category(&s->seg->types[s->type]), phase, l->where,
			s->start + (end ? s->dur : 0));
		if (!end && s->event && t->gpu)
			gt_chrome_gpu_args(c->out, s->seg, s->event->track, &s->event->row,
				s->event->args, c->bases[s->seg->index]);
		else if (!end)
			gt_chrome_put_args(c, s, t);
		gt_out_str(c->out, "}");
	}
}

static inline int note_call(struct gt_chrome_slices *c, uint32_t track,
	const struct gt_chrome_slice *s, const struct gt_chrome_type *type,
	const struct gt_chrome_lane *l)
{
	const struct gt_chrome_call call = { s->start, s->seg->index, track, type->name };
	uint32_t lane = (uint32_t)(l - c->tracks.tracks[s->seg->index][track].lanes);

	return gt_chrome_call_slices_note(&c->flows, s->seg, &call, lane) ? no_memory(c) : 0;
}

/* Writes a slice on lane l, or, if l is NULL, as a pair of async events. */
static inline int put_placed(struct gt_chrome_slices *c, uint32_t track,
	const struct gt_chrome_slice *s, const struct gt_chrome_lane *l, bool arrives)
{
	const struct gt_chrome_type *type = gt_chrome_type(c, s->seg, s->type);

	if (!type || c->err->code)
		return c->err->code;
	if (!l) {
		put_async(c, s, type, c->tracks.tracks[s->seg->index][track].lanes);
		return 0;
	}
	put_slice(c, s, type, l);
	if (!c->flows.cells)
		return 0;
	if (arrives)
		put_flow(c, s, l);
	else if (type->call)
		return note_call(c, track, s, type, l);
	return 0;
}

/* epoch: of its run; 0: calls come in order of time. The loop of calls_run needs it inline. */
static inline int put_call(struct gt_chrome_slices *c, uint32_t track, unsigned depth,
	uint32_t epoch, const struct gt_chrome_slice *s)
{
	const struct gt_chrome_lane *l = gt_chrome_call(
		&c->tracks, s->seg, track, s->start, s->start + s->dur, depth, epoch);

	return put_placed(c, track, s, l, false);
}

int gt_chrome_put_call(
	struct gt_chrome_slices *c, uint32_t track, unsigned depth, const struct gt_chrome_slice *s)
{
	return put_call(c, track, depth, 0, s);
}

int gt_chrome_put(struct gt_chrome_slices *c, uint32_t track, const struct gt_chrome_slice *s,
	const struct gt_chrome_lane *l, bool arrives)
{
	return put_placed(c, track, s, l, arrives);
}

/* ---- calls, from columns ---- */

/* The argument columns of one code of this run, looked up at its first row. */
static struct gt_chrome_cursor *get_cursor(
	struct gt_chrome_slices *c, const struct gt_cols *cols, uint32_t code)
{
	struct gt_chrome_cursor *k = &c->cursors[code];
	unsigned nfields = cols->seg->types[cols->types[code]].nfields;

	if (k->run == c->run)
		return k;
	if (gt_grow(&c->columns, &c->columns_cap, c->ncolumns + nfields + 1, sizeof(*c->columns)))
		return NULL;
	*k = (struct gt_chrome_cursor){ .run = c->run, .columns = c->ncolumns };
	for (unsigned i = 0; i < nfields; i++) {
		struct gt_chrome_column *col = &c->columns[c->ncolumns++];

		col->n = 0;
		col->values = gt_cols_args(cols, code, i, &col->n);
		if (!col->values)
			col->n = 0;
	}
	return k;
}

static int start_run(struct gt_chrome_slices *c, const struct gt_cols *cols)
{
	size_t old = c->cursors_cap;

	c->run++;
	c->ncolumns = 0;
	if (gt_grow(&c->cursors, &c->cursors_cap, cols->ntypes, sizeof(*c->cursors)))
		return no_memory(c);
	for (; old < c->cursors_cap; old++)
		c->cursors[old].run = 0;
	return 0;
}

static int calls_run(void *arg, unsigned worker, const struct gt_cols *cols)
{
	struct gt_chrome_slices *c = arg;
	uint32_t nret = 0;

	if (start_run(c, cols))
		return c->err->code;
	gt_export_count_rows(c->opt, cols->n);
	for (uint32_t i = 0; i < cols->n; i++) {
		uint32_t code = cols->code ? cols->code[i] : 0;
		struct gt_chrome_slice s = { .seg = cols->seg,
			.type = cols->types[code],
			.start = cols->start[i],
			.dur = cols->dur[i] };
		int rc;

		if (s.type == GT_NONE)
			continue;
		if (nret < cols->nret && cols->ret_row[nret] == i)
			s.ret = cols->ret[nret++];
		if (cols->seg->types[s.type].nfields) {
			struct gt_chrome_cursor *k = get_cursor(c, cols, code);

			if (!k)
				return no_memory(c);
			s.columns = &c->columns[k->columns];
			s.row = k->next++;
		}
		rc = put_call(c, cols->track, cols->depth ? cols->depth[i] : 0, cols->epoch, &s);
		if (rc)
			return rc;
	}
	return c->out->failed;
}

int gt_chrome_put_calls(struct gt_chrome_slices *c, const struct gt_filter *filter)
{
	return gt_scan(c->r, filter, GT_PER_TRACK, 1, calls_run, c, c->err);
}

/* ---- the export ---- */

int gt_chrome_slices_init(struct gt_chrome_slices *c, const struct gt_export_options *opt,
	struct gt_reader *r, struct gt_out *out, struct gt_err *err)
{
	uint32_t n = gt_reader_segments(r);

	*c = (struct gt_chrome_slices){ .r = r,
		.opt = opt,
		.out = out,
		.err = err,
		.bases = gt_export_bases(r),
		.names = gt_kernel_names_of(r, GT_NAME_SHORT),
		.segs = calloc((size_t)n + 1, sizeof(*c->segs)) };
	if (gt_chrome_call_slices_init(&c->flows, r) || !c->bases || !c->names || !c->segs)
		return no_memory(c);
	for (uint32_t i = 0; i < n; i++) {
		const struct gt_segment *seg = gt_reader_segment(r, i);

		c->segs[i].types = calloc((size_t)seg->ntypes + 1, sizeof(*c->segs[i].types));
		if (!c->segs[i].types)
			return no_memory(c);
	}
	return gt_chrome_tracks_init(&c->tracks, r, out, err);
}

static void release_type(struct gt_chrome_type *t, unsigned nfields)
{
	for (unsigned i = 0; t->fields && i < nfields; i++)
		free(t->fields[i].s);
	free(t->fields);
	free(t->head.s);
}

static void release_segment(struct gt_chrome_segment *s, const struct gt_segment *seg)
{
	for (uint32_t i = 0; s->types && i < seg->ntypes; i++)
		release_type(&s->types[i], seg->types[i].nfields);
	for (uint32_t i = 0; s->kernels && i < seg->nstrings; i++)
		free(s->kernels[i].s);
	free(s->types);
	free(s->kernels);
}

void gt_chrome_slices_release(struct gt_chrome_slices *c)
{
	for (uint32_t i = 0; c->segs && i < gt_reader_segments(c->r); i++)
		release_segment(&c->segs[i], gt_reader_segment(c->r, i));
	free(c->segs);
	free(c->bases);
	gt_chrome_call_slices_release(&c->flows);
	free(c->cursors);
	free(c->columns);
	if (c->tracks.r)
		gt_chrome_tracks_release(&c->tracks);
	gt_kernel_names_free(c->names);
}
