/* Events of a Perfetto trace: see export_perfetto.c.
 *
 * Texts of an event are interned first, and their entries are written before the event's packet.
 * So the packet needs no more than some 20 bytes for each argument, and is written where it stays.
 */
#include "formats/export/perfetto/perfetto.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "formats/base/numbers.h"

#define ARG_ROOM 40u    /* bytes of an argument, at most */
#define EVENT_ROOM 200u /* of an event without arguments and flows */

static uint32_t text_iid(struct gt_perfetto *x, uint32_t space, const char *text)
{
	return gt_perfetto_iid(x, space, text, strlen(text));
}

/* ---- types ---- */

static int make_names(struct gt_perfetto *x, const struct gt_segment *seg,
	const struct gt_type *type, struct gt_perfetto_type *t)
{
	t->names = calloc(type->nfields + 1ul, sizeof(*t->names));
	if (t->gpu)
		t->args = calloc(GT_CHROME_ARGS_MAX, sizeof(*t->args));
	if (!t->names || (t->gpu && !t->args))
		return -ENOMEM;
	for (unsigned i = 0; i < type->nfields; i++)
		t->names[i] = text_iid(x, GT_INTERNED_ARG_NAMES,
			type->fields[i].role == GT_R_KERNEL ? "kernel"
							    : gt_str(seg, type->fields[i].name));
	return 0;
}

const struct gt_perfetto_type *gt_perfetto_type(
	struct gt_perfetto *x, const struct gt_segment *seg, uint32_t id)
{
	struct gt_perfetto_type *t = &x->segs[seg->index].types[id];
	const struct gt_type *type = &seg->types[id];
	char buffer[GT_CHROME_GPU_NAME], *p = t->head;
	const char *name;

	if (t->ready)
		return t;
	name = gt_chrome_name(x->full_names, seg, id, buffer);
	t->gpu = gt_chrome_gpu_type(type);
	t->call = type->layer == GT_LAYER_API || type->layer == GT_LAYER_RUNTIME;
	t->range = type->layer == GT_LAYER_USER;
	t->launches = t->call && gt_chrome_launches_named(&x->launches, seg, type->name);
	t->category = gt_chrome_category_field(seg, type);
	t->correlation = t->call ? gt_type_field(type, GT_R_CORRELATION) : GT_NONE;
	t->stack = gt_type_field(type, GT_R_STACK);
	if (!name || make_names(x, seg, type, t)) {
		gt_err_set(x->err, -ENOMEM, "out of memory");
		return NULL;
	}
	p = gt_proto_u64(p, GT_EVENT_NAME_IID, text_iid(x, GT_INTERNED_NAMES, name));
	if (t->category == GT_NONE)
		p = gt_proto_u64(p, GT_EVENT_CATEGORY_IID,
			text_iid(x, GT_INTERNED_CATEGORIES, gt_chrome_category(seg, type)));
	t->head_len = (uint8_t)(p - t->head);
	t->ready = true;
	return x->err->code ? NULL : t;
}

static void release_segment(struct gt_perfetto_segment *s, const struct gt_segment *seg)
{
	for (uint32_t i = 0; s->types && i < seg->ntypes; i++) {
		free(s->types[i].names);
		free(s->types[i].args);
	}
	free(s->types);
	free(s->strings);
	free(s->kernels);
	free(s->frames);
	free(s->callers);
	free(s->locations);
	free(s->mappings);
	free(s->stacks);
	free(s->uuids);
}

void gt_perfetto_types_release(struct gt_perfetto *x)
{
	for (uint32_t i = 0; x->segs && i < gt_reader_segments(x->r); i++)
		release_segment(&x->segs[i], gt_reader_segment(x->r, i));
	free(x->segs);
}

/* ---- values ---- */

/* The iid of a string of the trace as a value. */
static uint32_t string_iid(struct gt_perfetto *x, const struct gt_segment *seg, uint32_t id)
{
	uint32_t **strings = &x->segs[seg->index].strings;

	if (!*strings)
		*strings = calloc(seg->nstrings + 1ul, sizeof(**strings));
	if (!*strings) {
		gt_err_set(x->err, -ENOMEM, "out of memory");
		return 1;
	}
	if (!(*strings)[id])
		(*strings)[id] = gt_perfetto_iid(
			x, GT_INTERNED_STRINGS, seg->strings[id].ptr, seg->strings[id].len);
	return (*strings)[id];
}

/* The iid of the short name of a kernel. */
static uint32_t kernel_iid(struct gt_perfetto *x, const struct gt_segment *seg, uint32_t id)
{
	uint32_t **kernels = &x->segs[seg->index].kernels;

	if (!*kernels)
		*kernels = calloc(seg->nstrings + 1ul, sizeof(**kernels));
	if (!*kernels) {
		gt_err_set(x->err, -ENOMEM, "out of memory");
		return 1;
	}
	if (!(*kernels)[id])
		(*kernels)[id] = text_iid(
			x, GT_INTERNED_STRINGS, gt_kernel_names_shown(x->names, gt_str(seg, id)));
	return (*kernels)[id];
}

/* An argument that is ready to be written. */
struct arg {
	uint32_t name;
	uint8_t field; /* enum gt_arg_field, or GT_ARG_VALUES: three numbers */
	uint64_t value;
	const uint64_t *three;
};
struct args {
	struct arg list[GT_CHROME_ARGS_MAX + 8];
	unsigned n;
};

static void add(struct args *a, uint32_t name, enum gt_arg_field field, uint64_t value)
{
	if (a->n < sizeof(a->list) / sizeof(*a->list))
		a->list[a->n++] =
			(struct arg){ .name = name, .field = (uint8_t)field, .value = value };
}

static uint64_t bits_of(double d)
{
	uint64_t bits;

	memcpy(&bits, &d, sizeof(bits));
	return bits;
}

static void add_value(struct gt_perfetto *x, struct args *a, const struct gt_segment *seg,
	uint32_t name, const struct gt_field *f, uint64_t v)
{
	static const uint8_t fields[GT_FIELD_KINDS] = { [GT_F_U64] = GT_ARG_UINT,
		[GT_F_I64] = GT_ARG_INT,
		[GT_F_HEX] = GT_ARG_POINTER,
		[GT_F_F64] = GT_ARG_DOUBLE,
		[GT_F_STR] = GT_ARG_STRING_IID,
		[GT_F_BOOL] = GT_ARG_BOOL };

	if (f->role == GT_R_DIRECTION && f->kind != GT_F_STR)
		add(a, name, GT_ARG_STRING_IID,
			text_iid(x, GT_INTERNED_STRINGS, gt_export_direction_word(v)));
	else if (f->kind != GT_F_STR)
		add(a, name, (enum gt_arg_field)fields[f->kind], v);
	else if (v < seg->nstrings)
		add(a, name, GT_ARG_STRING_IID,
			f->role == GT_R_KERNEL ? kernel_iid(x, seg, (uint32_t)v)
					       : string_iid(x, seg, (uint32_t)v));
}

static char *put_arg(char *p, const struct arg *a)
{
	char *mark = gt_proto_open(&p, GT_EVENT_ARG), *value;

	p = gt_proto_u64(p, GT_ARG_NAME_IID, a->name);
	if (a->field == GT_ARG_DOUBLE) {
		p = gt_proto_fixed64(p, GT_ARG_DOUBLE, a->value);
	} else if (a->field != GT_ARG_VALUES) {
		p = gt_proto_u64(p, a->field, a->value);
	} else {
		for (unsigned i = 0; i < 3; i++) {
			value = gt_proto_open(&p, GT_ARG_VALUES);
			p = gt_proto_u64(p, GT_ARG_UINT, a->three[i]);
			p = gt_proto_close(value, p);
		}
	}
	return gt_proto_close(mark, p);
}

/* ---- what a row has beside its type ---- */

struct details {
	struct args args;
	struct gt_chrome_arg gpu[GT_CHROME_ARGS_MAX];
	uint64_t correlation;
	uint32_t stack, location; /* iids */
	uint32_t category;        /* iid, of a range with one of its own */
	struct gt_chrome_launch *launch;
	uint64_t flow, nflows;
	bool arrives;
};

/* The call that launched a row of GPU work, or NULL. */
static struct gt_chrome_launch *find_launch(struct gt_perfetto *x, const struct gt_event *ev)
{
	const struct gt_type *type = &ev->seg->types[ev->row.type];
	uint64_t track = gt_event_value(ev, type, GT_R_LAUNCH_TRACK, UINT64_MAX),
		 name = gt_event_value(ev, type, GT_R_LAUNCH_NAME, UINT64_MAX),
		 join = gt_event_value(ev, type, GT_R_LAUNCH_JOIN, GT_JOIN_UNKNOWN);

	if (track >= ev->seg->ntracks || name > UINT32_MAX || join == GT_JOIN_UNKNOWN)
		return NULL;
	return gt_chrome_launches_find(&x->launches, ev->seg, (uint32_t)track,
		(int64_t)gt_event_value(ev, type, GT_R_LAUNCH_START, 0), (uint32_t)name);
}

static uint64_t flow_id(const struct gt_perfetto *x, const struct gt_chrome_launch *l, uint32_t n)
{
	return x->flow_base + ((uint64_t)(l - x->launches.list) << 20) + n;
}

/* A call has a flow for each piece of its GPU work, which has the end of that flow. */
static void find_flows(struct gt_perfetto *x, const struct gt_event *ev,
	const struct gt_perfetto_type *t, struct details *d)
{
	uint64_t own = 0;

	if (t->launches)
		d->launch = gt_chrome_launches_find(&x->launches, ev->seg, ev->track, ev->row.start,
			ev->seg->types[ev->row.type].name);
	else if (t->gpu)
		d->launch = find_launch(x, ev);
	if (d->launch && t->launches) {
		d->launch->lane = 1;
		d->flow = flow_id(x, d->launch, 0);
		d->nflows = d->launch->works < GT_PERFETTO_WORKS_MAX ? d->launch->works
								     : GT_PERFETTO_WORKS_MAX;
	} else if (d->launch && ev->kind == GT_GPU && d->launch->lane &&
		d->launch->arrows < GT_PERFETTO_WORKS_MAX) {
		d->flow = flow_id(x, d->launch, d->launch->arrows++);
		d->nflows = 1;
		d->arrives = true;
	}
	if (d->launch)
		d->correlation = gt_chrome_launches_id(&x->launches, ev->seg, d->launch);
	else if (t->gpu)
		own = gt_event_value(ev, &ev->seg->types[ev->row.type], GT_R_CORRELATION, 0);
	else if (t->correlation != GT_NONE && ev->args && t->correlation < ev->row.nargs)
		own = ev->args[t->correlation];
	if (own)
		d->correlation = gt_chrome_launches_unique(&x->launches, ev->seg, ev->track, own);
}

/* GPU work, with Kineto's names. */
static void add_gpu_args(struct gt_perfetto *x, const struct gt_event *ev,
	const struct gt_perfetto_type *t, struct details *d)
{
	unsigned n = gt_chrome_gpu_args(
		ev->seg, ev->track, &ev->row, ev->args, 0, d->correlation, d->gpu);

	for (unsigned i = 0; i < n; i++) {
		struct gt_chrome_arg *a = &d->gpu[i];
		struct gt_perfetto_arg_name *known = &t->args[i];

		if (known->name != a->name) {
			known->name = a->name;
			known->iid = text_iid(x, GT_INTERNED_ARG_NAMES, a->name);
		}
		switch (a->form) {
		case GT_ARG_FIELD:
			add_value(x, &d->args, ev->seg, known->iid, a->field, a->value);
			break;
		case GT_ARG_NUMBER: add(&d->args, known->iid, GT_ARG_UINT, a->value); break;
		case GT_ARG_SIGNED: add(&d->args, known->iid, GT_ARG_INT, a->value); break;
		case GT_ARG_TIME:
			add(&d->args, known->iid, GT_ARG_INT,
				a->value - (uint64_t)x->bases[ev->seg->index] +
					(uint64_t)x->offsets[ev->seg->index]);
			break;
		case GT_ARG_RATE:
			add(&d->args, known->iid, GT_ARG_DOUBLE,
				bits_of((double)a->value / (double)a->three[0]));
			break;
		case GT_ARG_TEXT:
			add(&d->args, known->iid, GT_ARG_STRING_IID,
				text_iid(x, GT_INTERNED_STRINGS, a->text));
			break;
		case GT_ARG_THREE:
			add(&d->args, known->iid, GT_ARG_VALUES, 0);
			d->args.list[d->args.n - 1].three = a->three;
		}
	}
}

static void add_row_args(struct gt_perfetto *x, const struct gt_event *ev,
	const struct gt_perfetto_type *t, struct details *d)
{
	const struct gt_type *type = &ev->seg->types[ev->row.type];

	if (d->correlation)
		add(&d->args, gt_perfetto_key(x, GT_PERFETTO_CORRELATION), GT_ARG_UINT,
			d->correlation);
	for (unsigned i = 0; ev->args && i < ev->row.nargs; i++)
		if (i != t->category && i != t->correlation && i != t->stack)
			add_value(x, &d->args, ev->seg, t->names[i], &type->fields[i], ev->args[i]);
	if (type->layer == GT_LAYER_RUNTIME)
		add(&d->args, gt_perfetto_key(x, GT_PERFETTO_LAYER), GT_ARG_STRING_IID,
			gt_perfetto_key(x, GT_PERFETTO_RUNTIME));
	if (ev->row.ret && ev->kind != GT_UNMATCHED)
		add(&d->args, gt_perfetto_key(x, GT_PERFETTO_RET), GT_ARG_INT,
			(uint64_t)(int64_t)ev->row.ret);
}

/* Of an allocation by a program's allocator, as Kineto has it. Freed bytes are negative. */
static void add_allocation(struct gt_perfetto *x, const struct gt_event *ev, struct details *d)
{
	const struct gt_type *type = &ev->seg->types[ev->row.type];
	uint64_t bytes = gt_event_value(ev, type, GT_R_BYTES, 0),
		 addr = gt_event_value(ev, type, GT_R_ADDR, 0);

	add(&d->args, text_iid(x, GT_INTERNED_ARG_NAMES, "Bytes"), GT_ARG_INT,
		type->op == GT_OP_FREE ? 0 - bytes : bytes);
	add(&d->args, text_iid(x, GT_INTERNED_ARG_NAMES, "Device Id"), GT_ARG_INT,
		gt_event_value(ev, type, GT_R_DEVICE, 0));
	add(&d->args, text_iid(x, GT_INTERNED_ARG_NAMES, "Device Type"), GT_ARG_INT,
		type->memkind != GT_MEM_HOST);
	if (addr)
		add(&d->args, text_iid(x, GT_INTERNED_ARG_NAMES, "Addr"), GT_ARG_POINTER, addr);
}

static void add_unmatched(struct gt_perfetto *x, const struct gt_event *ev, struct details *d)
{
	add(&d->args, text_iid(x, GT_INTERNED_ARG_NAMES, "unmatched"), GT_ARG_STRING_IID,
		text_iid(x, GT_INTERNED_STRINGS,
			ev->row.ret ? GT_UNMATCHED_END : GT_UNMATCHED_BEGIN));
}

static void add_stack(struct gt_perfetto *x, const struct gt_event *ev,
	const struct gt_perfetto_type *t, struct details *d)
{
	uint32_t caller;

	if (t->stack == GT_NONE || !ev->args || t->stack >= ev->row.nargs)
		return;
	d->stack = gt_perfetto_stack(x, ev->seg, ev->args[t->stack]);
	caller = gt_perfetto_caller(x, ev->seg, ev->args[t->stack]);
	d->location = gt_perfetto_location(x, ev->seg, ev->args[t->stack]);
	if (caller)
		add(&d->args, gt_perfetto_key(x, GT_PERFETTO_CALLER), GT_ARG_STRING_IID, caller);
}

/* The category that Kineto gave a range. */
static void find_category(struct gt_perfetto *x, const struct gt_event *ev,
	const struct gt_perfetto_type *t, struct details *d)
{
	uint64_t v = ev->args && t->category < ev->row.nargs ? ev->args[t->category] : GT_NONE;

	if (t->category != GT_NONE)
		d->category = text_iid(x, GT_INTERNED_CATEGORIES,
			v < ev->seg->nstrings ? gt_str(ev->seg, (uint32_t)v) : "user_annotation");
}

static void describe(struct gt_perfetto *x, const struct gt_event *ev,
	const struct gt_perfetto_type *t, struct details *d)
{
	d->args.n = 0;
	d->correlation = d->flow = d->nflows = 0;
	d->stack = d->location = d->category = 0;
	d->launch = NULL;
	d->arrives = false;
	find_flows(x, ev, t, d);
	find_category(x, ev, t, d);
	if (t->gpu && ev->args)
		add_gpu_args(x, ev, t, d);
	else if (gt_chrome_is_allocation(ev))
		add_allocation(x, ev, d);
	else if (ev->kind == GT_UNMATCHED)
		add_unmatched(x, ev, d);
	else
		add_row_args(x, ev, t, d);
	add_stack(x, ev, t, d);
}

static char *put_details(char *p, const struct details *d)
{
	if (d->category)
		p = gt_proto_u64(p, GT_EVENT_CATEGORY_IID, d->category);
	for (unsigned i = 0; i < d->args.n; i++)
		p = put_arg(p, &d->args.list[i]);
	for (uint64_t i = 0; i < d->nflows; i++)
		p = gt_proto_fixed64(
			p, d->arrives ? GT_EVENT_FLOW_END : GT_EVENT_FLOW, d->flow + i);
	if (d->correlation)
		p = gt_proto_u64(p, GT_EVENT_CORRELATION, d->correlation);
	if (d->location)
		p = gt_proto_u64(p, GT_EVENT_LOCATION_IID, d->location);
	if (d->stack)
		p = gt_proto_u64(p, GT_EVENT_STACK_IID, d->stack);
	return p;
}

static size_t room_of(const struct details *d)
{
	return EVENT_ROOM + d->args.n * ARG_ROOM + d->nflows * 10;
}

/* ---- events ---- */

static void put_end(struct gt_perfetto *x, const struct gt_segment *seg, const char *where,
	uint32_t where_len, int64_t time)
{
	struct gt_perfetto_event e;

	gt_perfetto_open(x, &e, seg, time, false, EVENT_ROOM);
	e.p = gt_proto_u64(e.p, GT_EVENT_TYPE, GT_EVENT_END);
	memcpy(e.p, where, 16); /* a lane's place has more bytes */
	e.p += where_len;
	gt_perfetto_close(x, &e);
}

static struct gt_perfetto_lane *lane_of(struct gt_perfetto *x, const struct gt_chrome_lane *l)
{
	size_t old = x->lanes_cap;

	if (l->number >= x->nlanes) {
		if (gt_grow(&x->lanes, &x->lanes_cap, l->number + 1ul, sizeof(*x->lanes))) {
			gt_err_set(x->err, -ENOMEM, "out of memory");
			return NULL;
		}
		if (x->lanes_cap > old)
			memset(x->lanes + old, 0, (x->lanes_cap - old) * sizeof(*x->lanes));
		x->nlanes = l->number + 1ul;
	}
	return &x->lanes[l->number];
}

void gt_perfetto_end_until(
	struct gt_perfetto *x, const struct gt_segment *seg, struct gt_chrome_lane *l, int64_t time)
{
	struct gt_perfetto_lane *open = lane_of(x, l);

	while (open && open->n && open->ends[open->n - 1] <= time) {
		int64_t end = open->ends[--open->n];

		if (end != INT64_MAX) /* a call that did not return has no end */
			put_end(x, seg, l->where, l->where_len, end);
	}
}

bool gt_perfetto_nests(
	struct gt_perfetto *x, const struct gt_event *ev, struct gt_chrome_lane *l, int64_t end)
{
	struct gt_perfetto_lane *open;

	gt_perfetto_end_until(x, ev->seg, l, ev->row.start);
	open = lane_of(x, l);
	return open && (!open->n || open->ends[open->n - 1] >= end);
}

static int put_begin(struct gt_perfetto *x, const struct gt_event *ev,
	const struct gt_perfetto_type *t, const char *where, uint32_t where_len,
	const struct details *d)
{
	struct gt_perfetto_event e;

	gt_perfetto_flush_interned(x);
	gt_perfetto_open(x, &e, ev->seg, ev->row.start, true, room_of(d));
	e.p = gt_proto_u64(e.p, GT_EVENT_TYPE, GT_EVENT_BEGIN);
	memcpy(e.p, where, 16);
	e.p += where_len;
	memcpy(e.p, t->head, sizeof(t->head));
	e.p = put_details(e.p + t->head_len, d);
	gt_perfetto_close(x, &e);
	return x->err->code;
}

int gt_perfetto_put_slice(
	struct gt_perfetto *x, const struct gt_event *ev, struct gt_chrome_lane *l)
{
	const struct gt_perfetto_type *t = gt_perfetto_type(x, ev->seg, ev->row.type);
	struct gt_perfetto_lane *open;
	struct details d;
	char where[32];
	uint32_t len;

	if (!t || x->err->code)
		return x->err->code;
	describe(x, ev, t, &d);
	if (!l) { /* there are too many lanes */
		len = (uint32_t)(gt_proto_u64(where, GT_EVENT_TRACK,
					 gt_perfetto_lone_track(x, ev->seg, ev->track)) -
			where);
		put_begin(x, ev, t, where, len, &d);
		put_end(x, ev->seg, where, len, ev->row.end);
		return x->err->code;
	}
	if (l->beside && (t->call || t->range || ev->seg->types[ev->row.type].op == GT_OP_OFF_CPU))
		add(&d.args, gt_perfetto_key(x, GT_PERFETTO_THREAD), GT_ARG_INT,
			(uint64_t)ev->seg->tracks[ev->track].id);
	gt_perfetto_end_until(x, ev->seg, l, ev->row.start);
	open = lane_of(x, l);
	if (!open || gt_grow(&open->ends, &open->cap, open->n + 1, sizeof(*open->ends)))
		return gt_err_set(x->err, -ENOMEM, "out of memory");
	open->ends[open->n++] = ev->kind == GT_OPEN ? INT64_MAX : ev->row.end;
	return put_begin(x, ev, t, l->where, l->where_len, &d);
}

int gt_perfetto_put_instant(struct gt_perfetto *x, const struct gt_event *ev)
{
	const struct gt_perfetto_type *t = gt_perfetto_type(x, ev->seg, ev->row.type);
	struct gt_chrome_track *track = gt_chrome_track(&x->tracks, ev->seg, ev->track);
	struct gt_perfetto_event e;
	struct details d;
	uint32_t name;

	if (!t || !track || x->err->code)
		return x->err->code;
	describe(x, ev, t, &d);
	/* the name, without the category of the type's slices */
	name = text_iid(x, GT_INTERNED_NAMES, gt_type_name(ev->seg, ev->row.type));
	if (!d.category)
		d.category = text_iid(x, GT_INTERNED_CATEGORIES, gt_chrome_instant_category(ev));
	gt_perfetto_flush_interned(x);
	gt_perfetto_open(x, &e, ev->seg, ev->row.start, true, room_of(&d));
	e.p = gt_proto_u64(e.p, GT_EVENT_TYPE, GT_EVENT_INSTANT);
	memcpy(e.p, track->lanes->where, 16);
	e.p += track->lanes->where_len;
	e.p = gt_proto_u64(e.p, GT_EVENT_NAME_IID, name);
	e.p = put_details(e.p, &d);
	gt_perfetto_close(x, &e);
	return x->err->code;
}

int gt_perfetto_put_counter(struct gt_perfetto *x, const struct gt_event *ev)
{
	const struct gt_type *type = &ev->seg->types[ev->row.type];
	uint64_t uuid = gt_perfetto_counter(x, ev),
		 value = ev->args && ev->row.nargs ? ev->args[0] : 0;
	unsigned kind = type->nfields ? type->fields[0].kind : GT_F_U64;
	struct gt_perfetto_event e;

	if (!uuid || x->err->code)
		return x->err->code;
	gt_perfetto_open(x, &e, ev->seg, ev->row.start, false, EVENT_ROOM);
	e.p = gt_proto_u64(e.p, GT_EVENT_TYPE, GT_EVENT_COUNTER);
	e.p = gt_proto_u64(e.p, GT_EVENT_TRACK, uuid);
	if (kind == GT_F_F64)
		e.p = gt_proto_fixed64(e.p, GT_EVENT_DOUBLE, value);
	else if (kind != GT_F_I64 && value > INT64_MAX)
		e.p = gt_proto_fixed64(e.p, GT_EVENT_DOUBLE, bits_of((double)value));
	else
		e.p = gt_proto_u64(e.p, GT_EVENT_VALUE, value);
	gt_perfetto_close(x, &e);
	return 0;
}

int gt_perfetto_put_lost(struct gt_perfetto *x, const struct gt_event *ev)
{
	struct gt_chrome_track *track =
		ev->track == GT_NONE ? NULL : gt_chrome_track(&x->tracks, ev->seg, ev->track);
	uint64_t count = ev->args[0], root = track ? 0 : gt_perfetto_root(x);
	char name[64] = "LOST events (number unknown)";
	struct gt_perfetto_event e;
	struct args args = { .n = 0 };
	uint32_t iid, category = text_iid(x, GT_INTERNED_CATEGORIES, "lost");

	if (count != GT_LOST_UNKNOWN)
		snprintf(name, sizeof(name), "LOST %" PRIu64 " event%s", count,
			gt_plural(count, "s"));
	iid = text_iid(x, GT_INTERNED_NAMES, name);
	add(&args, text_iid(x, GT_INTERNED_ARG_NAMES, "lost_ns"), GT_ARG_UINT,
		(uint64_t)gt_since(ev->row.end, ev->row.start));
	if (count != GT_LOST_UNKNOWN)
		add(&args, text_iid(x, GT_INTERNED_ARG_NAMES, "count"), GT_ARG_UINT, count);
	gt_perfetto_flush_interned(x);
	gt_perfetto_open(x, &e, ev->seg, ev->row.start, true, EVENT_ROOM + 2 * ARG_ROOM);
	e.p = gt_proto_u64(e.p, GT_EVENT_TYPE, GT_EVENT_INSTANT);
	if (root) {
		e.p = gt_proto_u64(e.p, GT_EVENT_TRACK, root);
	} else {
		memcpy(e.p, track->lanes->where, 16);
		e.p += track->lanes->where_len;
	}
	e.p = gt_proto_u64(e.p, GT_EVENT_NAME_IID, iid);
	e.p = gt_proto_u64(e.p, GT_EVENT_CATEGORY_IID, category);
	for (unsigned i = 0; i < args.n; i++)
		e.p = put_arg(e.p, &args.list[i]);
	gt_perfetto_close(x, &e);
	return x->err->code;
}
