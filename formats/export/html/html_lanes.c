#include "formats/export/html/html_lanes.h"

#include <stdlib.h>
#include "formats/trace/codec.h"

#define LEVELS_MAX 120u /* deeper events are all on the last level */

struct gt_html_level {
	int64_t end;          /* of its last event */
	int64_t *slice_start; /* measuring, by resolution: of the open slice; INT64_MIN: none */
	/* with a resolution: a slice that later events may join */
	struct pending {
		int64_t start, end, longest;
		uint32_t type, count; /* count 0: none. type: of the longest event */
		uint32_t call_name;
		int32_t ret;
		bool open;
		uint64_t *args; /* of the only event */
		uint32_t nargs;
	} pending;
};

static int no_memory(struct gt_html_lanes *h)
{
	return gt_err_set(h->err, -ENOMEM, "out of memory");
}

void gt_html_zigzag(struct gt_buf *b, int64_t v) { gt_put_varint(b, gt_zigzag(v)); }

/* ---- numbers of strings, tracks, stacks and types ---- */

static uint32_t *numbers_of(uint32_t **number, uint32_t segment, uint32_t limit)
{
	if (!number[segment])
		number[segment] = calloc(limit + 1ul, sizeof(**number));
	return number[segment];
}

uint32_t gt_html_id(struct gt_html_lanes *h, struct gt_html_ids *ids, uint32_t segment,
	uint32_t limit, uint64_t id)
{
	uint32_t *number;

	if (id >= limit)
		return 0;
	number = numbers_of(ids->number, segment, limit);
	if (number && number[id])
		return number[id];
	if (!number || gt_grow(&ids->list, &ids->cap, ids->n + 1, sizeof(*ids->list))) {
		no_memory(h);
		return 0;
	}
	ids->list[ids->n++] = (struct gt_html_id){ segment, (uint32_t)id, false };
	return number[id] = (uint32_t)ids->n;
}

/* The index of a type in h->types, or GT_NONE with err set. */
static uint32_t type_index(struct gt_html_lanes *h, const struct gt_segment *seg, uint32_t type)
{
	uint32_t *number = numbers_of(h->type_number, seg->index, seg->ntypes);
	uint32_t *slot = type == GT_NONE ? &h->lost_type : number ? &number[type] : NULL;

	if (slot && *slot)
		return *slot - 1;
	if (!slot || gt_grow(&h->types, &h->types_cap, h->ntypes + 1, sizeof(*h->types))) {
		no_memory(h);
		return GT_NONE;
	}
	h->types[h->ntypes++] = (struct gt_html_type){ seg->index, type };
	*slot = (uint32_t)h->ntypes;
	return *slot - 1;
}

/* ---- lanes ---- */

static enum gt_html_aspect aspect_of_span(const struct gt_segment *seg, const struct gt_event *ev)
{
	const struct gt_type *type = &seg->types[ev->row.type];

	if (type->op == GT_OP_OFF_CPU)
		return GT_HTML_STATES;
	if (type->layer == GT_LAYER_USER)
		return GT_HTML_RANGES;
	if (type->layer == GT_LAYER_OVERHEAD)
		return GT_HTML_OVERHEAD;
	if (type->category == GT_CAT_SYNC)
		return GT_HTML_WAITS;
	return type->layer == GT_LAYER_GPU ? GT_HTML_OTHERS : GT_HTML_CALLS;
}

static enum gt_html_aspect aspect_of(const struct gt_event *ev)
{
	switch (ev->kind) {
	case GT_CALL:
	case GT_OPEN: return GT_HTML_CALLS;
	case GT_GPU: return GT_HTML_WORK;
	case GT_COUNTER: return GT_HTML_COUNTER;
	case GT_LOST: return GT_HTML_LOSSES;
	case GT_SPAN: return aspect_of_span(ev->seg, ev);
	case GT_INSTANT:
		if (ev->seg->types[ev->row.type].op == GT_OP_SAMPLE)
			return GT_HTML_SAMPLES;
		/* fallthrough */
	default: return GT_HTML_MARKS;
	}
}

/* The index of the lane, made if missing; GT_NONE: no memory. */
static uint32_t lane_of(struct gt_html_lanes *h, const struct gt_html_lane_key *key)
{
	uint32_t at = gt_map_find_item(&h->by_lane, h->lanes, sizeof(*h->lanes), key, sizeof(*key));
	struct gt_html_lane lane = { .key = *key, .last_start = h->bases[key->segment] };

	if (at == GT_NONE)
		at = gt_map_add_item(&h->by_lane, &h->lanes, &h->nlanes, &h->lanes_cap,
			sizeof(lane), &lane, sizeof(*key));
	if (at == GT_NONE)
		no_memory(h);
	return at;
}

/* The first level that is free at `start`. NULL: no memory. */
static struct gt_html_level *level_at(
	struct gt_html_lanes *h, struct gt_html_lane *lane, int64_t start, uint32_t *number)
{
	struct gt_html_level *l;

	for (uint32_t i = 0; i < lane->nlevels; i++)
		if (lane->levels[i].end <= start || i + 1 == LEVELS_MAX)
			return *number = i, &lane->levels[i];
	if (gt_grow(&lane->levels, &lane->levels_cap, lane->nlevels + 1, sizeof(*l)))
		return NULL;
	l = &lane->levels[lane->nlevels];
	*l = (struct gt_html_level){ .end = INT64_MIN };
	if (h->measuring && !(l->slice_start = malloc(GT_HTML_RESOLUTIONS * sizeof(int64_t))))
		return NULL;
	for (unsigned k = 0; h->measuring && k < GT_HTML_RESOLUTIONS; k++)
		l->slice_start[k] = INT64_MIN;
	*number = lane->nlevels++;
	return l;
}

static struct gt_html_lane_type *lane_type(struct gt_html_lanes *h, uint32_t lane, uint32_t type)
{
	struct gt_html_lane *of = &h->lanes[lane];
	struct gt_html_lane_type new = { .lane = lane, .type = type, .local = of->ntypes };
	const struct gt_html_type *t = &h->types[type];
	uint32_t at = gt_map_find_item(&h->by_lane_type, h->lane_types, sizeof(new), &new, 8);

	if (at != GT_NONE)
		return &h->lane_types[at];
	new.ncolumns = t->type == GT_NONE
		? 2
		: gt_reader_segment(h->r, t->segment)->types[t->type].nfields + 1u;
	new.columns = calloc(new.ncolumns, sizeof(*new.columns));
	if (new.columns)
		at = gt_map_add_item(&h->by_lane_type, &h->lane_types, &h->nlane_types,
			&h->lane_types_cap, sizeof(new), &new, 8);
	if (at == GT_NONE || gt_grow(&of->types, &of->types_cap, of->ntypes + 1, sizeof(at))) {
		if (at == GT_NONE)
			free(new.columns);
		return NULL;
	}
	of->types[of->ntypes++] = at;
	return &h->lane_types[at];
}

/* ---- values ---- */

static void put_value(struct gt_html_column *c, uint32_t row, uint64_t v)
{
	if (!row)
		c->first = v;
	c->varies |= v != c->first;
	gt_html_zigzag(&c->bytes, (int64_t)(v - c->previous));
	c->previous = v;
}

/* A value as the page has it: numbers of strings, tracks and stacks are those of the page, and 0 is
 * none; times count from the page's time 0. */
static uint64_t page_value(
	struct gt_html_lanes *h, const struct gt_segment *seg, const struct gt_field *f, uint64_t v)
{
	uint32_t number;

	switch (f->role) {
	case GT_R_LAUNCH_TRACK:
	case GT_R_CREATED_BY_TRACK: return gt_html_id(h, &h->tracks, seg->index, seg->ntracks, v);
	case GT_R_LAUNCH_START:
	case GT_R_CREATED_BY_START: return v - (uint64_t)h->bases[seg->index];
	case GT_R_STACK: return gt_html_id(h, &h->stacks, seg->index, seg->nstacks, v);
	}
	if (f->kind != GT_F_STR)
		return v;
	number = gt_html_id(h, &h->strings, seg->index, seg->nstrings, v);
	if (number && f->role == GT_R_KERNEL)
		h->strings.list[number - 1].kernel = true;
	return number;
}

/* ---- the call that launched GPU work ---- */

static int add_call(struct gt_html_lane *lane, int64_t start, uint32_t name)
{
	size_t i;

	if (gt_grow(&lane->calls, &lane->calls_cap, lane->calls_n + 1, sizeof(*lane->calls)))
		return -ENOMEM;
	/* with a resolution, slices are written after others that began later */
	for (i = lane->calls_n++; i && lane->calls[i - 1].start > start; i--)
		lane->calls[i] = lane->calls[i - 1];
	lane->calls[i] = (struct gt_html_call){ start, lane->n, name };
	return 0;
}

static uint64_t find_call(const struct gt_html_lane *lane, int64_t start, uint32_t name)
{
	size_t low = 0, high = lane->calls_n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (lane->calls[mid].start < start)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < lane->calls_n && lane->calls[low].start == start; low++)
		if (lane->calls[low].name == name)
			return lane->calls[low].index + 1ull;
	return 0;
}

static int flush_pending(struct gt_html_lanes *h, uint32_t lane, uint32_t level);

/* 1 + the index of the call in its lane; 0: unknown. A call that is still pending is written. */
static uint64_t launch_of(struct gt_html_lanes *h, const struct gt_segment *seg,
	const struct gt_type *type, const uint64_t *args, uint32_t nargs)
{
	uint32_t track = gt_type_field(type, GT_R_LAUNCH_TRACK),
		 start = gt_type_field(type, GT_R_LAUNCH_START),
		 name = gt_type_field(type, GT_R_LAUNCH_NAME), at;
	struct gt_html_lane_key key = { seg->index, 0, GT_HTML_CALLS, GT_NONE };

	if (!args || track >= nargs || start >= nargs || name >= nargs ||
		args[track] >= seg->ntracks)
		return 0;
	key.track = (uint32_t)args[track];
	at = gt_map_find_item(&h->by_lane, h->lanes, sizeof(*h->lanes), &key, sizeof(key));
	if (at == GT_NONE)
		return 0;
	for (uint32_t i = 0; h->resolution && i < h->lanes[at].nlevels; i++) {
		const struct pending *p = &h->lanes[at].levels[i].pending;

		if (p->count == 1 && p->start == (int64_t)args[start] && flush_pending(h, at, i))
			return 0;
	}
	return find_call(&h->lanes[at], (int64_t)args[start], (uint32_t)args[name]);
}

/* ---- columns ---- */

static bool is_launch_field(uint8_t role)
{
	return role == GT_R_LAUNCH_TRACK || role == GT_R_LAUNCH_START || role == GT_R_LAUNCH_NS ||
		role == GT_R_LAUNCH_NAME;
}

/* The fields, and in the last column 1 + the index of the launching call in its lane. That call has
 * what the other fields say of it, except its track: these are 0 then. */
static void put_args(struct gt_html_lanes *h, struct gt_html_lane_type *t,
	const struct gt_segment *seg, const struct gt_type *type, const uint64_t *args,
	uint32_t nargs, uint64_t launch)
{
	for (uint32_t i = 0; i + 1 < t->ncolumns; i++) {
		const struct gt_field *f = &type->fields[i];
		bool known = launch && is_launch_field(f->role) && f->role != GT_R_LAUNCH_TRACK;

		put_value(&t->columns[i], t->n,
			known || !args || i >= nargs ? 0 : page_value(h, seg, f, args[i]));
	}
	put_value(&t->columns[t->ncolumns - 1], t->n, launch);
}

static void put_extra(struct gt_html_lane *l, enum gt_html_extra kind, uint64_t value)
{
	gt_put_varint(&l->extra, l->since_extra);
	gt_put_varint(&l->extra, kind);
	gt_put_varint(&l->extra, value);
	l->since_extra = 0;
}

/* Appends one slice to the columns of its lane. */
static int write_slice(
	struct gt_html_lanes *h, uint32_t lane, uint32_t level, const struct pending *p)
{
	const struct gt_html_type *type = &h->types[p->type];
	const struct gt_segment *seg = gt_reader_segment(h->r, type->segment);
	uint64_t launch = 0;
	struct gt_html_lane_type *t;
	struct gt_html_lane *l;

	if (p->count == 1 && h->lanes[lane].key.aspect == GT_HTML_WORK)
		launch = launch_of(h, seg, &seg->types[type->type], p->args, p->nargs);
	t = lane_type(h, lane, p->type);
	l = &h->lanes[lane];
	if (!t ||
		(l->key.aspect == GT_HTML_CALLS && p->count == 1 &&
			add_call(l, p->start, p->call_name)))
		return no_memory(h);
	gt_html_zigzag(&l->start, p->start - l->last_start);
	l->last_start = p->start;
	gt_put_varint(&l->dur, (uint64_t)(p->end - p->start));
	gt_put_varint(&l->type, t->local);
	gt_put_varint(&l->level, level);
	if (p->count > 1)
		put_extra(l, GT_HTML_COUNT, p->count);
	if (p->ret)
		put_extra(
			l, GT_HTML_RET, (uint64_t)(int64_t)p->ret << 1 ^ (uint64_t)(p->ret >> 31));
	if (p->open)
		put_extra(l, GT_HTML_OPEN, 1);
	if (type->type == GT_NONE)
		for (uint32_t i = 0; i < 2; i++)
			put_value(&t->columns[i], t->n, p->args ? p->args[i] : 0);
	else
		put_args(h, t, seg, &seg->types[type->type], p->args, p->args ? p->nargs : 0,
			launch);
	t->n++;
	l->n++;
	l->since_extra++;
	return h->err->code;
}

static int flush_pending(struct gt_html_lanes *h, uint32_t lane, uint32_t level)
{
	struct pending p = h->lanes[lane].levels[level].pending;
	int rc;

	if (!p.count)
		return 0;
	h->lanes[lane].levels[level].pending.count = 0;
	h->lanes[lane].levels[level].pending.args = NULL;
	h->merged += p.count > 1 ? p.count : 0;
	rc = write_slice(h, lane, level, &p);
	free(p.args);
	return rc;
}

/* ---- level of detail ---- */

static void measure(struct gt_html_lanes *h, struct gt_html_level *l, int64_t start, int64_t end)
{
	for (unsigned k = 0; k < GT_HTML_RESOLUTIONS; k++) {
		int64_t resolution = gt_html_resolution(k);
		bool is_short = end - start < resolution;

		if (is_short && l->slice_start[k] != INT64_MIN &&
			start - l->slice_start[k] < resolution)
			continue;
		h->counts[k]++;
		l->slice_start[k] = is_short ? start : INT64_MIN;
	}
}

/* Joins the event with the pending slice, or writes that and makes the event the pending one. */
static int join(struct gt_html_lanes *h, uint32_t lane, uint32_t level, const struct pending *e)
{
	struct pending *p = &h->lanes[lane].levels[level].pending;
	int rc;

	if (p->count && e->end - e->start < h->resolution && p->longest < h->resolution &&
		e->start - p->start < h->resolution && p->count < UINT32_MAX) {
		if (e->end - e->start > p->longest) {
			p->longest = e->end - e->start;
			p->type = e->type;
		}
		free(p->args);
		p->args = NULL;
		p->end = e->end > p->end ? e->end : p->end;
		p->count++;
		p->ret = p->ret ? p->ret : e->ret;
		return 0;
	}
	rc = flush_pending(h, lane, level);
	p = &h->lanes[lane].levels[level].pending;
	*p = *e;
	p->longest = e->end - e->start;
	p->args = NULL;
	if (rc || !e->args)
		return rc;
	p->args = malloc((e->nargs + 1ul) * sizeof(*p->args));
	if (!p->args)
		return no_memory(h);
	memcpy(p->args, e->args, e->nargs * sizeof(*p->args));
	return 0;
}

/* ---- events ---- */

static double real_of(uint64_t bits)
{
	double d;

	memcpy(&d, &bits, sizeof(d));
	return d;
}

static int put_counter(struct gt_html_lanes *h, uint32_t lane, const struct gt_event *ev)
{
	struct gt_html_lane *l = &h->lanes[lane];
	const struct gt_type *type = &ev->seg->types[ev->row.type];
	uint64_t value = ev->args && ev->row.nargs ? ev->args[0] : 0;

	l->real = type->nfields && type->fields[0].kind == GT_F_F64;
	/* with a resolution, the largest value of each interval is missing at most R ns */
	if (h->resolution && l->n && ev->row.start - l->last_start < h->resolution &&
		(l->real ? real_of(value) <= real_of((uint64_t)l->last_value)
			 : (int64_t)value <= l->last_value)) {
		h->merged++;
		return 0;
	}
	gt_html_zigzag(&l->start, ev->row.start - l->last_start);
	l->last_start = ev->row.start;
	if (l->real)
		gt_buf_add(&l->value, &value, sizeof(value));
	else
		gt_html_zigzag(&l->value, (int64_t)(value - (uint64_t)l->last_value));
	l->last_value = (int64_t)value;
	l->n++;
	return 0;
}

/* Points are few: the estimate assumes that all of them stay. */
static int count_point(struct gt_html_lanes *h)
{
	for (unsigned k = 0; k < GT_HTML_RESOLUTIONS; k++)
		h->counts[k]++;
	return 0;
}

static struct pending event_slice(const struct gt_event *ev, uint32_t type)
{
	struct pending e = { .start = ev->row.start,
		.end = ev->row.end,
		.type = type,
		.count = 1,
		.ret = ev->kind == GT_UNMATCHED ? 0 : ev->row.ret,
		.open = ev->kind == GT_OPEN,
		.args = (uint64_t *)ev->args,
		.nargs = ev->kind == GT_LOST ? 2 : ev->row.nargs };

	if (e.open && ev->seg->max_end > e.end)
		e.end = ev->seg->max_end;
	if (ev->kind != GT_LOST)
		e.call_name = ev->seg->types[ev->row.type].name;
	return e;
}

int gt_html_lanes_put(void *arg, const struct gt_event *ev)
{
	struct gt_html_lanes *h = arg;
	struct gt_html_lane_key key = { ev->seg->index, ev->track, aspect_of(ev), GT_NONE };
	struct gt_html_level *l;
	struct pending e;
	uint32_t lane, level, type;
	int64_t base = h->bases[ev->seg->index];

	if (key.aspect == GT_HTML_COUNTER)
		key.counter = ev->row.type;
	lane = lane_of(h, &key);
	if (lane == GT_NONE ||
		(ev->track != GT_NONE &&
			!gt_html_id(h, &h->tracks, key.segment, ev->seg->ntracks, ev->track)))
		return h->err->code ? h->err->code : no_memory(h);
	h->total++;
	type = type_index(h, ev->seg, ev->kind == GT_LOST ? GT_NONE : ev->row.type);
	if (type == GT_NONE)
		return h->err->code;
	e = event_slice(ev, type);
	h->from = e.start - base < h->from ? e.start - base : h->from;
	h->to = e.end - base > h->to ? e.end - base : h->to;
	if (key.aspect == GT_HTML_COUNTER)
		return h->measuring ? count_point(h) : put_counter(h, lane, ev);
	l = level_at(h, &h->lanes[lane], e.start, &level);
	if (!l)
		return no_memory(h);
	if (l->end < e.end)
		l->end = e.end;
	if (h->measuring) {
		measure(h, l, e.start, e.end);
		return 0;
	}
	return h->resolution ? join(h, lane, level, &e) : write_slice(h, lane, level, &e);
}

int gt_html_lanes_finish(struct gt_html_lanes *h)
{
	int rc = 0;

	for (uint32_t i = 0; i < h->nlanes; i++)
		for (uint32_t k = 0; !rc && k < h->lanes[i].nlevels; k++)
			rc = flush_pending(h, i, k);
	return rc;
}

/* ---- life cycle ---- */

int gt_html_lanes_init(struct gt_html_lanes *h, struct gt_reader *r, struct gt_err *err)
{
	uint32_t n = gt_reader_segments(r);

	*h = (struct gt_html_lanes){
		.r = r, .err = err, .bases = gt_export_bases(r), .from = INT64_MAX, .to = INT64_MIN
	};
	h->strings.number = calloc(n + 1ul, sizeof(uint32_t *));
	h->tracks.number = calloc(n + 1ul, sizeof(uint32_t *));
	h->stacks.number = calloc(n + 1ul, sizeof(uint32_t *));
	h->frames.number = calloc(n + 1ul, sizeof(uint32_t *));
	h->type_number = calloc(n + 1ul, sizeof(uint32_t *));
	return h->bases && h->strings.number && h->tracks.number && h->stacks.number &&
			h->frames.number && h->type_number
		? 0
		: no_memory(h);
}

static void release_numbers(uint32_t **number, uint32_t n)
{
	for (uint32_t i = 0; number && i < n; i++)
		free(number[i]);
	free(number);
}

static void release_lane(struct gt_html_lane *l)
{
	for (uint32_t i = 0; i < l->nlevels; i++) {
		free(l->levels[i].slice_start);
		free(l->levels[i].pending.args);
	}
	free(l->levels);
	free(l->types);
	free(l->calls);
	gt_buf_release(&l->start);
	gt_buf_release(&l->dur);
	gt_buf_release(&l->type);
	gt_buf_release(&l->level);
	gt_buf_release(&l->extra);
	gt_buf_release(&l->value);
}

void gt_html_lanes_release(struct gt_html_lanes *h)
{
	uint32_t n = gt_reader_segments(h->r);

	for (size_t i = 0; i < h->nlanes; i++)
		release_lane(&h->lanes[i]);
	for (size_t i = 0; i < h->nlane_types; i++) {
		for (uint32_t k = 0; k < h->lane_types[i].ncolumns; k++)
			gt_buf_release(&h->lane_types[i].columns[k].bytes);
		free(h->lane_types[i].columns);
	}
	free(h->lanes);
	free(h->lane_types);
	gt_map_release(&h->by_lane);
	gt_map_release(&h->by_lane_type);
	free(h->types);
	free(h->strings.list);
	free(h->tracks.list);
	free(h->stacks.list);
	free(h->frames.list);
	release_numbers(h->strings.number, n);
	release_numbers(h->tracks.number, n);
	release_numbers(h->stacks.number, n);
	release_numbers(h->frames.number, n);
	release_numbers(h->type_number, n);
	free(h->bases);
}
