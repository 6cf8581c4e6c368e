/* Writes a slice as a line of JSON: see chrome_slices.h.
 *
 * Speed: a line consists of prepared text of the type ({"name":..,"cat":..) and of the
 * track ("pid":..,"tid":..), two numbers, and arguments. Finished calls, most rows of
 * any trace, come as columns and in file order, since JSON viewers sort by themselves.
 *
 * Arrows lead from a launching call to its GPU work: a GPU row that names its launch
 * writes both ends, if the call itself was written (chrome_launches.h).
 */
#include "formats/export/chrome/chrome_slices.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "formats/base/buf.h"
#include "formats/export/chrome/chrome_gpu.h"
#include "formats/export/chrome/chrome_types.h"
#include "formats/trace/read/block_plan.h"

#define TEXT_FAST 32768u /* longer prefixes are copied piecewise */

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

/* ---- slices ---- */

static const char correlation_key[48] = ",\"correlation\":";

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

static void add_text(struct gt_chrome_slices *c, const struct gt_chrome_text *t)
{
	if (t->len > TEXT_FAST)
		gt_out_add(c->out, t->s, t->len);
	else
		gt_out_commit(c->out, put_text(gt_out_reserve(c->out, t->len + 16), t->s, t->len));
}

static void put_field(struct gt_chrome_slices *c, const struct gt_chrome_slice *s,
	const struct gt_field *f, uint64_t v)
{
	const struct gt_chrome_text *kernel = NULL;

	if (f->kind != GT_F_STR && f->role != GT_R_DIRECTION) {
		gt_out_commit(c->out, gt_put_value(gt_out_reserve(c->out, 64), f->kind, v));
		return;
	}
	if (f->role == GT_R_KERNEL && v < s->seg->nstrings)
		kernel = gt_chrome_kernel(c, s->seg, (uint32_t)v);
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

static void put_number(struct gt_chrome_slices *c, bool *any, const char comma_text[48], uint64_t v)
{
	put_key(c, any, comma_text, (uint32_t)strlen(comma_text));
	gt_out_commit(c->out, gt_put_u64(gt_out_reserve(c->out, 32), v));
}

/* The correlation id of a call; 0: it has none. */
static uint64_t correlation_of(
	struct gt_chrome_slices *c, const struct gt_chrome_slice *s, const struct gt_chrome_type *t)
{
	uint64_t own = 0;

	if (c->launch)
		return gt_chrome_launches_id(&c->launches, s->seg, c->launch);
	if (t->correlation == GT_NONE || !get_arg(s, t->correlation, &own))
		return 0;
	return gt_chrome_launches_unique(&c->launches, s->seg, s->track, own);
}

/* The frame of its stack that it counts for, as JSON, or NULL. */
static const char *caller_of(
	struct gt_chrome_slices *c, const struct gt_chrome_slice *s, const struct gt_chrome_type *t)
{
	uint64_t stack;

	return t->stack != GT_NONE && get_arg(s, t->stack, &stack)
		? gt_chrome_stacks_caller(c->stacks, s->seg, stack)
		: NULL;
}

void gt_chrome_put_stack(
	struct gt_chrome_slices *c, const struct gt_chrome_slice *s, const struct gt_chrome_type *t)
{
	uint64_t stack;
	uint32_t frame = t->stack != GT_NONE && get_arg(s, t->stack, &stack)
		? gt_chrome_stacks_frame(c->stacks, s->seg, stack)
		: 0;

	if (!frame)
		return;
	gt_out_str(c->out, ",\"sf\":");
	gt_export_u64(c->out, frame);
}

void gt_chrome_put_args(
	struct gt_chrome_slices *c, const struct gt_chrome_slice *s, const struct gt_chrome_type *t)
{
	static const char ret[48] = ",\"ret\":", open[48] = ",\"open\":true",
			  runtime[48] = ",\"layer\":\"runtime\"",
			  thread[48] = ",\"thread\":", in[48] = ",\"caller\":";
	const struct gt_type *type = &s->seg->types[s->type];
	uint64_t correlation = correlation_of(c, s, t), v;
	const char *caller = caller_of(c, s, t);
	bool any = false;

	if (correlation)
		put_number(c, &any, correlation_key, correlation);
	for (unsigned i = 0; i < type->nfields; i++) {
		if (i == t->category || i == t->correlation || i == t->stack ||
			!get_arg(s, i, &v) ||
			(type->fields[i].kind == GT_F_STR && v >= s->seg->nstrings))
			continue; /* unknown, or no string, or written elsewhere */
		put_key(c, &any, t->fields[i].s, t->fields[i].len);
		put_field(c, s, &type->fields[i], v);
	}
	if (caller) {
		put_key(c, &any, in, (uint32_t)strlen(in));
		gt_out_str(c->out, caller);
	}
	if (type->layer == GT_LAYER_RUNTIME)
		put_key(c, &any, runtime, (uint32_t)strlen(runtime));
	if (c->thread)
		put_number(c, &any, thread, (uint64_t)c->thread);
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

/* Writes one end of an arrow. id: JSON. */
static void put_arrow(struct gt_chrome_slices *c, const struct gt_segment *seg,
	const struct gt_chrome_text *id, const struct gt_chrome_lane *l, int64_t time, bool arrives)
{
	gt_out_str(c->out, ",\n{\"name\":\"ac2g\",\"cat\":\"ac2g\",\"ph\":");
	if (arrives)
		gt_out_str(c->out, "\"f\",\"bp\":\"e\",\"id\":");
	else
		gt_out_str(c->out, "\"s\",\"id\":");
	gt_out_add(c->out, id->s, id->len);
	gt_out_str(c->out, ",\"pid\":");
	gt_out_add(c->out, l->where, l->where_len);
	gt_export_us(c->out, gt_since(time, c->bases[seg->index]));
	gt_out_str(c->out, "}");
}

/* The call that launched a row of GPU work, or NULL. */
static struct gt_chrome_launch *find_launch(
	struct gt_chrome_slices *c, const struct gt_chrome_slice *s, uint64_t *ns)
{
	uint64_t track, at, join, name;

	if (!get_role(s, GT_R_LAUNCH_TRACK, &track) || !get_role(s, GT_R_LAUNCH_START, &at) ||
		!get_role(s, GT_R_LAUNCH_NS, ns) || !get_role(s, GT_R_LAUNCH_NAME, &name) ||
		!get_role(s, GT_R_LAUNCH_JOIN, &join) || join == GT_JOIN_UNKNOWN ||
		track >= s->seg->ntracks)
		return NULL;
	return gt_chrome_launches_find(
		&c->launches, s->seg, (uint32_t)track, (int64_t)at, (uint32_t)name);
}

/* An arrow leads from the launching call to what the GPU did: the row of the GPU work writes both
 * ends, so that each start has its finish. The id of the first arrow of a call is the correlation
 * id, as in Kineto's traces. Further work of the call (a graph launch) has arrows with their own
 * ids, because viewers draw one arrow an id. */
static void put_flow(struct gt_chrome_slices *c, const struct gt_chrome_slice *s,
	struct gt_chrome_launch *from, uint64_t ns, const struct gt_chrome_lane *l)
{
	uint64_t correlation = gt_chrome_launches_id(&c->launches, s->seg, from);
	const struct gt_chrome_lane *lane;
	char buffer[64 + GT_DIGITS_SPILL], *end = buffer;
	struct gt_chrome_text id = { buffer, 0 };

	if (!from->lane)
		return;
	lane = &c->tracks.tracks[s->seg->index][from->track].lanes[from->lane - 1];
	if (correlation && !from->arrows) {
		end = gt_put_u64(end, correlation);
	} else {
		*end++ = '"';
		end = gt_put_u64(end, correlation);
		*end++ = '.';
		end = gt_put_u64(end, ++c->arrows);
		*end++ = '"';
	}
	id.len = (uint32_t)(end - buffer);
	from->arrows++;
	/* within the slices, not where those before them may end */
	put_arrow(c, s->seg, &id, lane, from->start + (ns > 1), false);
	put_arrow(c, s->seg, &id, l, s->start + (s->dur > 1), true);
}

static void put_gpu_args(
	struct gt_chrome_slices *c, const struct gt_chrome_slice *s, const struct gt_chrome_type *t)
{
	const struct gt_event *ev = s->event;
	uint64_t id = c->launch ? gt_chrome_launches_id(&c->launches, s->seg, c->launch) : 0, own;
	struct gt_chrome_arg args[GT_CHROME_ARGS_MAX];
	unsigned n;

	if (!id && get_role(s, GT_R_CORRELATION, &own))
		id = gt_chrome_launches_unique(&c->launches, s->seg, ev->track, own);
	n = gt_chrome_gpu_args(
		s->seg, ev->track, &ev->row, ev->args, c->bases[s->seg->index], id, args);
	gt_chrome_gpu_put_args(c->out, s->seg, args, n, caller_of(c, s, t));
}

/* Writes the category that Kineto gave a range. */
static void put_category(
	struct gt_chrome_slices *c, const struct gt_chrome_slice *s, const struct gt_chrome_type *t)
{
	uint64_t v;

	if (get_arg(s, t->category, &v) && v < s->seg->nstrings)
		gt_export_value(c->out, s->seg, &s->seg->types[s->type].fields[t->category], v);
	else
		gt_out_str(c->out, "\"user_annotation\"");
	gt_out_str(c->out, GT_CHROME_PHASE);
}

/* Writes what follows the category. */
static inline void put_rest(struct gt_chrome_slices *c, const struct gt_chrome_slice *s,
	const struct gt_chrome_type *t, const struct gt_chrome_lane *l)
{
	char *p;

	p = gt_out_reserve(c->out, 192);
	p = put_text(p, l->where, l->where_len);
	p = gt_put_us(p, gt_since(s->start, c->bases[s->seg->index]));
	memcpy(p, ",\"dur\":", 7);
	p = gt_put_us(p + 7, s->dur < 0 ? 0 : s->dur);
	gt_out_commit(c->out, p);
	if (s->event && t->gpu)
		put_gpu_args(c, s, t);
	else if (s->ret || s->open || s->args || s->columns || c->launch || c->thread)
		gt_chrome_put_args(c, s, t);
	if (t->stack != GT_NONE)
		gt_chrome_put_stack(c, s, t);
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
	char buffer[GT_CHROME_GPU_NAME];
	const char *name = gt_chrome_name(c->full_names, s->seg, s->type, buffer);
	uint64_t id = ++c->async_id;
	char phase[48];

	for (unsigned end = 0; end < 2; end++) {
		snprintf(
			phase, sizeof(phase), "\"%c\",\"id\":\"%" PRIu64 "\"", end ? 'e' : 'b', id);
		gt_chrome_begin_event(c, s->seg, name ? name : "?",
			gt_chrome_category(s->seg, &s->seg->types[s->type]), phase, l->where,
			s->start + (end ? s->dur : 0));
		if (!end && s->event && t->gpu)
			put_gpu_args(c, s, t);
		else if (!end)
			gt_chrome_put_args(c, s, t);
		if (!end && t->stack != GT_NONE)
			gt_chrome_put_stack(c, s, t);
		gt_out_str(c->out, "}");
	}
}

/* Writes a slice that the short path of put_placed does not write. */
static __attribute__((noinline)) int put_special(struct gt_chrome_slices *c,
	struct gt_chrome_slice *s, const struct gt_chrome_type *type,
	const struct gt_chrome_lane *l, bool arrives)
{
	const struct gt_chrome_lane *lanes = c->tracks.tracks[s->seg->index][s->track].lanes;
	struct gt_chrome_launch *launch = NULL;
	uint64_t ns = 0;

	if (type->launches)
		launch = gt_chrome_launches_find(
			&c->launches, s->seg, s->track, s->start, type->name);
	else if (type->gpu)
		launch = find_launch(c, s, &ns);
	c->launch = launch;
	c->thread = 0;
	if (l != lanes && (type->call || type->range || s->seg->types[s->type].op == GT_OP_OFF_CPU))
		c->thread = s->seg->tracks[s->track].id;
	if (l) {
		add_text(c, &type->head);
		if (type->category != GT_NONE)
			put_category(c, s, type);
		put_rest(c, s, type, l);
	} else {
		put_async(c, s, type, lanes);
	}
	c->launch = NULL;
	c->thread = 0;
	if (!l)
		return 0;
	if (launch && arrives)
		put_flow(c, s, launch, ns, l);
	else if (launch && type->launches && !launch->lane)
		launch->lane = (unsigned)(l - lanes) + 1;
	return 0;
}

/* Writes a slice on lane l, or, if l is NULL, as a pair of async events. */
static inline int put_placed(struct gt_chrome_slices *c, uint32_t track, struct gt_chrome_slice *s,
	const struct gt_chrome_lane *l, bool arrives)
{
	const struct gt_chrome_type *type = gt_chrome_type(c, s->seg, s->type);

	if (!type || c->err->code)
		return c->err->code;
	s->track = track;
	if (type->special || !l || l->beside)
		return put_special(c, s, type, l, arrives);
	add_text(c, &type->head);
	put_rest(c, s, type, l);
	return 0;
}

/* epoch: of its run; 0: calls come in order of time. The loop of calls_run needs it inline. */
static inline int put_call(struct gt_chrome_slices *c, uint32_t track, unsigned depth,
	uint32_t epoch, struct gt_chrome_slice *s)
{
	const struct gt_chrome_lane *l = gt_chrome_call(
		&c->tracks, s->seg, track, s->start, s->start + s->dur, depth, epoch);

	return put_placed(c, track, s, l, false);
}

int gt_chrome_put_call(
	struct gt_chrome_slices *c, uint32_t track, unsigned depth, struct gt_chrome_slice *s)
{
	return put_call(c, track, depth, 0, s);
}

int gt_chrome_put(struct gt_chrome_slices *c, uint32_t track, struct gt_chrome_slice *s,
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
		.full_names = gt_kernel_names_of(r, GT_NAME_FULL),
		.segs = calloc((size_t)n + 1, sizeof(*c->segs)),
		.stacks = gt_chrome_stacks_new(r) };
	if (!c->bases || !c->names || !c->full_names || !c->segs || !c->stacks)
		return no_memory(c);
	if (gt_chrome_launches_init(&c->launches, opt, r, err))
		return err->code;
	for (uint32_t i = 0; i < n; i++) {
		const struct gt_segment *seg = gt_reader_segment(r, i);

		c->segs[i].types = calloc((size_t)seg->ntypes + 1, sizeof(*c->segs[i].types));
		if (!c->segs[i].types)
			return no_memory(c);
	}
	return gt_chrome_tracks_init(&c->tracks, r, out, err);
}

void gt_chrome_slices_release(struct gt_chrome_slices *c)
{
	for (uint32_t i = 0; c->segs && i < gt_reader_segments(c->r); i++)
		gt_chrome_segment_release(&c->segs[i], gt_reader_segment(c->r, i));
	free(c->segs);
	free(c->bases);
	gt_chrome_launches_release(&c->launches);
	gt_chrome_stacks_free(c->stacks);
	free(c->cursors);
	free(c->columns);
	if (c->tracks.r)
		gt_chrome_tracks_release(&c->tracks);
	gt_kernel_names_free(c->names);
	gt_kernel_names_free(c->full_names);
}
