/* Events of a Perfetto trace become events of Kineto: a TrackEvent has a category, a name and
 * arguments (DebugAnnotation), as an event of Chrome JSON has. PyTorch's profiler writes the same
 * arguments, but no categories: these follow from the arguments and names then. */
#include "formats/import/perfetto/import_perfetto.h"

#include <stdio.h>
#include <stdlib.h>

#define NEST_MAX 8u
#define TEXT_MAX 1024u /* of a list as a text */

struct parts {
	uint64_t type, track, category_iid, name_iid, stack_iid, flow;
	const char *category, *name;
	size_t ncategory, nname;
	bool has_track, has_flow, has_value;
	int64_t value;
	double number;
	unsigned nargs;
	/* from here on not zeroed; stack, legacy, gpu: bytes NULL if they are missing */
	struct gt_proto_field stack, legacy, gpu, args[GT_PFTRACE_ARGS];
};

struct value {
	/* enum gt_json_token; 0: none; GT_JSON_INT: `bits`, not the text */
	int token;
	const char *text;
	size_t len;
	uint64_t bits;
	bool negative;
	const struct gt_proto_field *list; /* its message, of an array */
	char buffer[TEXT_MAX + 32];
};

static double double_of(uint64_t bits)
{
	double d;

	memcpy(&d, &bits, sizeof(d));
	return d;
}

/* ---- arguments ---- */

static void format(struct value *v, int token, int n)
{
	v->token = token;
	v->text = v->buffer;
	v->len = n > 0 ? (size_t)n : 0;
}

/* A value that is no list. */
static void read_scalar(struct gt_pftrace *p, const struct gt_pftrace_sequence *s,
	const struct gt_proto_field *f, struct value *v)
{
	if (f->wire == GT_PROTO_BYTES && (f->number == GT_ARG_STRING || f->number == GT_ARG_JSON)) {
		v->token = GT_JSON_STRING;
		v->text = (const char *)f->bytes;
		v->len = f->value;
	} else if (f->wire == GT_PROTO_FIXED64 && f->number == GT_ARG_DOUBLE) {
		format(v, GT_JSON_REAL,
			snprintf(v->buffer, sizeof(v->buffer), "%.17g", double_of(f->value)));
	} else if (f->wire != GT_PROTO_VARINT) {
		return;
	} else if (f->number == GT_ARG_STRING_IID) {
		v->text = gt_pftrace_text(p, s, GT_INTERNED_STRINGS, f->value, &v->len);
		v->token = v->text ? GT_JSON_STRING : 0;
	} else if (f->number == GT_ARG_INT || f->number == GT_ARG_UINT ||
		f->number == GT_ARG_POINTER || f->number == GT_ARG_BOOL) {
		v->token = GT_JSON_INT;
		v->bits = f->value;
		v->negative = f->number == GT_ARG_INT && (int64_t)f->value < 0;
	}
}

/* Appends a list as JSON; false: it is too long or too deep. */
static bool put_list(struct gt_pftrace *p, const struct gt_pftrace_sequence *s,
	const struct gt_proto_field *message, char *to, size_t *n, unsigned depth)
{
	struct gt_proto_in in = gt_proto_message(message), inner;
	struct gt_proto_field f, g;
	struct value v;
	bool comma = false;

	if (depth > NEST_MAX || *n + 2 >= TEXT_MAX)
		return false;
	to[(*n)++] = '[';
	while (gt_proto_next(&in, &f) > 0) {
		bool nested = false;

		if (f.number != GT_ARG_VALUES || f.wire != GT_PROTO_BYTES)
			continue;
		v.token = 0;
		inner = gt_proto_message(&f);
		while (gt_proto_next(&inner, &g) > 0) {
			nested |= g.number == GT_ARG_VALUES;
			read_scalar(p, s, &g, &v);
		}
		if (v.token == GT_JSON_INT)
			format(&v, GT_JSON_INT,
				(int)((v.negative ? gt_put_i64(v.buffer, (int64_t)v.bits)
						  : gt_put_u64(v.buffer, v.bits)) -
					v.buffer));
		if (*n + v.len * (v.token != 0) + 8 >= TEXT_MAX)
			return false;
		if (comma)
			to[(*n)++] = ',';
		comma = true;
		if (nested || !v.token) {
			if (!put_list(p, s, &f, to, n, depth + 1))
				return false;
			continue;
		}
		if (v.token == GT_JSON_STRING)
			to[(*n)++] = '"';
		memcpy(to + *n, v.text, v.len);
		*n += v.len;
		if (v.token == GT_JSON_STRING)
			to[(*n)++] = '"';
	}
	to[(*n)++] = ']';
	return true;
}

/* Three numbers, of a grid. */
static bool read_three(const struct gt_proto_field *message, uint32_t v[3])
{
	struct gt_proto_in in = gt_proto_message(message), inner;
	struct gt_proto_field f, g;
	unsigned n = 0;

	while (gt_proto_next(&in, &f) > 0) {
		if (f.number != GT_ARG_VALUES || f.wire != GT_PROTO_BYTES)
			continue;
		inner = gt_proto_message(&f);
		while (gt_proto_next(&inner, &g) > 0)
			if (g.wire == GT_PROTO_VARINT &&
				(g.number == GT_ARG_UINT || g.number == GT_ARG_INT) && n < 3)
				v[n++] = (uint32_t)g.value;
	}
	return n == 3;
}

/* Reads an argument: its key, and a value unless it is a list. 0 or negative. */
static int read_arg(struct gt_pftrace *p, const struct gt_pftrace_sequence *s,
	const struct gt_proto_field *arg, const char **key, size_t *len, struct value *v)
{
	struct gt_proto_in in = gt_proto_message(arg);
	struct gt_proto_field f;
	int more;

	*key = NULL;
	*len = 0;
	v->token = 0;
	v->list = NULL;
	while ((more = gt_proto_next(&in, &f)) > 0) {
		if (f.number == GT_ARG_NAME_IID && f.wire == GT_PROTO_VARINT) {
			*key = gt_pftrace_text(p, s, GT_INTERNED_ARG_NAMES, f.value, len);
		} else if (f.number == GT_ARG_NAME && f.wire == GT_PROTO_BYTES) {
			*key = (const char *)f.bytes;
			*len = f.value;
		} else if (f.number == GT_ARG_VALUES && f.wire == GT_PROTO_BYTES) {
			v->list = arg;
		} else {
			read_scalar(p, s, &f, v);
		}
	}
	return more < 0 ? gt_pftrace_malformed(p, "an argument") : 0;
}

static bool is(const char *key, size_t len, const char *word)
{
	return len == strlen(word) && !memcmp(key, word, len);
}

static int read_args(struct gt_pftrace *p, const struct gt_pftrace_sequence *s,
	const struct parts *e, struct gt_kineto_event *ev)
{
	struct value v;
	const char *key;
	uint32_t three[3];
	size_t len, n;

	for (unsigned i = 0; i < e->nargs; i++) {
		if (read_arg(p, s, &e->args[i], &key, &len, &v))
			return p->err->code;
		if (!key)
			continue;
		if (v.list && (is(key, len, "grid") || is(key, len, "block"))) {
			if (read_three(v.list, three))
				gt_kineto_event_three(ev, is(key, len, "block"), three);
		} else if (v.list) {
			n = 0;
			if (put_list(p, s, v.list, v.buffer, &n, 0))
				gt_kineto_event_arg(&p->d->k, ev, &p->scratch, key, len,
					GT_JSON_STRING, v.buffer, n);
			else
				p->d->k.counts.args_left_out++;
		} else if (v.token == GT_JSON_INT) {
			gt_kineto_event_number(
				&p->d->k, ev, &p->scratch, key, len, v.bits, v.negative);
		} else if (v.token) {
			gt_kineto_event_arg(
				&p->d->k, ev, &p->scratch, key, len, v.token, v.text, v.len);
		}
	}
	return 0;
}

/* ---- the category ---- */

static bool begins(const char *text, size_t len, const char *word)
{
	return len >= strlen(word) && !memcmp(text, word, strlen(word));
}

/* The category that Kineto gives an event with this name and these arguments. NULL: unknown. */
static const char *category_by_args(
	struct gt_pftrace *p, const struct gt_pftrace_sequence *s, const struct parts *e)
{
	bool kernel = false, stream = false, correlation = false, op = false, wait = false;
	uint64_t missing = p->missing_iids;
	struct value v;
	const char *key;
	size_t len;

	for (unsigned i = 0; i < e->nargs; i++) {
		if (read_arg(p, s, &e->args[i], &key, &len, &v) || !key)
			continue;
		kernel |= is(key, len, "grid") || is(key, len, "registers per thread");
		stream |= is(key, len, "stream");
		correlation |= is(key, len, "correlation") || is(key, len, "cbid");
		wait |= is(key, len, "cuda_sync_kind");
		op |= is(key, len, "Sequence number") || is(key, len, "Input Dims") ||
			is(key, len, "Record function id");
	}
	p->missing_iids = missing; /* read_args() counts them */
	if (kernel)
		return "kernel";
	if (wait)
		return "cuda_sync";
	if (stream && begins(e->name, e->nname, "Memcpy"))
		return "gpu_memcpy";
	if (stream && begins(e->name, e->nname, "Memset"))
		return "gpu_memset";
	if (correlation && (begins(e->name, e->nname, "cuda") || begins(e->name, e->nname, "hip")))
		return "cuda_runtime";
	if (correlation && begins(e->name, e->nname, "cu"))
		return "cuda_driver";
	return op ? "cpu_op" : NULL;
}

/* ---- events ---- */

static void read_number(const struct gt_proto_field *f, struct parts *e)
{
	switch (f->number) {
	case GT_EVENT_TYPE: e->type = f->value; break;
	case GT_EVENT_TRACK:
		e->track = f->value;
		e->has_track = true;
		break;
	case GT_EVENT_NAME_IID: e->name_iid = f->value; break;
	case GT_EVENT_STACK_IID: e->stack_iid = f->value; break;
	case GT_EVENT_VALUE:
		e->value = (int64_t)f->value;
		e->number = (double)e->value;
		e->has_value = true;
		break;
	case GT_EVENT_OLD_FLOW:
	case GT_EVENT_OLD_FLOW_END:
		e->flow = e->has_flow ? e->flow : f->value;
		e->has_flow = true;
		break;
	case GT_EVENT_CATEGORY_IID:
		e->category_iid = e->category_iid ? e->category_iid : f->value;
		break;
	}
}

static void read_fixed(const struct gt_proto_field *f, struct parts *e)
{
	if (f->number == GT_EVENT_FLOW || f->number == GT_EVENT_FLOW_END) {
		e->flow = e->has_flow ? e->flow : f->value;
		e->has_flow = true;
	} else if (f->number == GT_EVENT_DOUBLE) {
		e->number = double_of(f->value);
		e->has_value = true;
	}
}

static void read_bytes(struct gt_pftrace *p, const struct gt_proto_field *f, struct parts *e)
{
	switch (f->number) {
	case GT_EVENT_ARG:
		if (e->nargs < GT_PFTRACE_ARGS)
			gt_proto_copy(&e->args[e->nargs++], f);
		else
			p->d->k.counts.args_left_out++;
		break;
	case GT_EVENT_CATEGORY:
		e->category = e->category ? e->category : (const char *)f->bytes;
		e->ncategory = e->ncategory ? e->ncategory : f->value;
		break;
	case GT_EVENT_NAME:
		e->name = (const char *)f->bytes;
		e->nname = f->value;
		break;
	case GT_EVENT_STACK: gt_proto_copy(&e->stack, f); break;
	case GT_EVENT_LEGACY: gt_proto_copy(&e->legacy, f); break;
	case GT_EVENT_GPU: gt_proto_copy(&e->gpu, f); break;
	}
}

static int read_parts(struct gt_pftrace *p, const struct gt_proto_field *event, struct parts *e)
{
	struct gt_proto_in in = gt_proto_message(event);
	struct gt_proto_field f;
	int more;

	gt_clear(e, offsetof(struct parts, stack));
	e->stack.bytes = e->legacy.bytes = e->gpu.bytes = NULL;
	while ((more = gt_proto_next(&in, &f)) > 0) {
		if (f.wire == GT_PROTO_VARINT)
			read_number(&f, e);
		else if (f.wire == GT_PROTO_BYTES)
			read_bytes(p, &f, e);
		else if (f.wire == GT_PROTO_FIXED64)
			read_fixed(&f, e);
	}
	return more < 0 ? gt_pftrace_malformed(p, "an event") : 0;
}

/* Old writers have the phase of Chrome JSON in a message of its own, and perhaps a duration. */
static int read_legacy(struct gt_pftrace *p, struct parts *e, int64_t *dur)
{
	struct gt_proto_in in = gt_proto_message(&e->legacy);
	struct gt_proto_field f;
	int more;

	while ((more = gt_proto_next(&in, &f)) > 0) {
		if (f.wire != GT_PROTO_VARINT)
			continue;
		if (f.number == 1)
			e->name_iid = f.value;
		if (f.number == 2 && !e->type)
			e->type = f.value == 'B' ? GT_EVENT_BEGIN
				: f.value == 'E' ? GT_EVENT_END
				: f.value == 'X' ? 'X'
				: f.value == 'i' || f.value == 'I' || f.value == 'n' ||
					f.value == 'R'
				? GT_EVENT_INSTANT
				: 0;
		if (f.number == 3 && (int64_t)f.value < GT_TIME_MAX / 1000)
			*dur = (int64_t)f.value < 0 ? -1 : (int64_t)f.value * 1000;
	}
	return more < 0 ? gt_pftrace_malformed(p, "an event") : 0;
}

/* Events without a correlation id: a launch may list the render stages that it submitted (of those
 * of a graph, only the first is found). wprof's calls and GPU work have the same flow. */
static void correlate(struct gt_pftrace *p, const struct gt_pftrace_sequence *s,
	const struct parts *e, struct gt_kineto_event *ev)
{
	struct gt_proto_in in = gt_proto_message(&e->gpu);
	const char *category = e->category;
	size_t len = e->ncategory;
	struct gt_proto_field f;

	while (!(ev->has & GT_KINETO_CORRELATION) && gt_proto_next(&in, &f) > 0)
		if (f.number == 1 && f.wire == GT_PROTO_VARINT)
			gt_pftrace_set_correlation(ev, f.value | GT_PFTRACE_RENDER_ID);
	if (e->gpu.bytes || !e->has_flow || ev->cat < GT_KINETO_KERNEL ||
		ev->cat > GT_KINETO_DRIVER)
		return;
	if (!category && e->category_iid)
		category = gt_pftrace_text(p, s, GT_INTERNED_CATEGORIES, e->category_iid, &len);
	if (category && begins(category, len, "CUDA_"))
		gt_pftrace_set_correlation(ev, e->flow);
}

/* The category: of the event, or by its arguments. */
static void set_category(struct gt_pftrace *p, const struct gt_pftrace_sequence *s, struct parts *e,
	struct gt_kineto_event *ev)
{
	const char *category = e->category;
	size_t len = e->ncategory;

	if (!category && e->category_iid && gt_pftrace_category(p, s, e->category_iid, ev))
		return;
	if (!category && !e->name && e->name_iid) {
		e->name = gt_pftrace_text(p, s, GT_INTERNED_NAMES, e->name_iid, &e->nname);
		e->name_iid = 0; /* it is looked up once */
	}
	if (!category && e->name) {
		category = category_by_args(p, s, e);
		len = category ? strlen(category) : 0;
	}
	if (category)
		gt_kineto_event_category(&p->d->k, ev, category, len);
	else
		ev->cat = ev->phase == 'i' ? GT_KINETO_RANGE : GT_KINETO_OTHER;
}

static int make_event(struct gt_pftrace *p, const struct gt_pftrace_sequence *s, struct parts *e,
	size_t track, struct gt_kineto_event *ev)
{
	struct gt_kineto *k = &p->d->k;

	if (ev->phase == 'C')
		ev->cat = GT_KINETO_OTHER; /* its name is that of the track */
	else
		set_category(p, s, e, ev);
	if (e->name)
		ev->name = gt_kineto_intern(k, ev, e->name, e->nname);
	else if (e->name_iid && ev->phase != 'C')
		ev->name = gt_pftrace_name(p, s, e->name_iid, ev);
	if (read_args(p, s, e, ev))
		return p->err->code;
	if (e->stack_iid)
		ev->stack = gt_pftrace_stack(p, s, e->stack_iid);
	else if (e->stack.bytes)
		ev->stack = gt_pftrace_inline_stack(p, &e->stack);
	gt_pftrace_place(p, track, ev);
	if (e->has_flow) {
		ev->id = e->flow;
		ev->has |= GT_KINETO_ID;
	}
	if (!(ev->has & GT_KINETO_CORRELATION))
		correlate(p, s, e, ev);
	return 0;
}

/* A flow begins at a call: it may lead to GPU work that has no correlation id. */
static int put_flow(struct gt_pftrace *p, const struct gt_kineto_event *ev)
{
	if (!(ev->has & GT_KINETO_ID) || (ev->cat >= GT_KINETO_KERNEL && ev->cat <= GT_KINETO_WAIT))
		return 0;
	return gt_kineto_flow(&p->d->k, ev, 's', p->err);
}

static int put_counter(
	struct gt_pftrace *p, const struct parts *e, size_t track, struct gt_kineto_event *ev)
{
	struct gt_pftrace_track *t = &p->tracks[track];
	double value = e->number;

	if (!e->has_value)
		return 0;
	if (t->delta) {
		t->counter = (int64_t)((uint64_t)t->counter + (uint64_t)e->value);
		value = (double)t->counter;
	}
	ev->name = t->name;
	ev->nvalues = 1;
	ev->values[0].name = t->name; /* its own name is enough */
	ev->values[0].value = value * (double)t->multiplier;
	/* the process or GPU that it belongs to */
	ev->tid.word = GT_NONE;
	ev->has &= ~(unsigned)GT_KINETO_TID;
	if (t->device >= 0 && t->stream < 0) {
		ev->gpu.device = t->device;
		ev->has |= GT_KINETO_DEVICE;
	}
	return gt_kineto_row(&p->d->k, ev, p->err);
}

int gt_pftrace_event(struct gt_pftrace *p, const struct gt_pftrace_sequence *s, int64_t time,
	const struct gt_proto_field *event)
{
	struct gt_kineto_event other, *ev = &other;
	int64_t track, dur = 0;
	struct parts e;

	if (read_parts(p, event, &e) || (e.legacy.bytes && read_legacy(p, &e, &dur)))
		return p->err->code;
	track = gt_pftrace_track_of(p, e.has_track ? e.track : s->track);
	if (track < 0)
		return (int)track;
	if (e.type == GT_EVENT_END)
		return gt_pftrace_end(p, (size_t)track, time);
	if (e.type == GT_EVENT_BEGIN && !(ev = gt_pftrace_open(p, (size_t)track, time)))
		return p->err->code;
	gt_kineto_event_init(ev);
	ev->phase = e.type == GT_EVENT_INSTANT ? 'i' : e.type == GT_EVENT_COUNTER ? 'C' : 'X';
	ev->ts = time;
	ev->dur = dur;
	ev->has = GT_KINETO_TS;
	if (make_event(p, s, &e, (size_t)track, ev) || put_flow(p, ev))
		return p->err->code;
	switch (e.type) {
	case GT_EVENT_BEGIN: return gt_pftrace_begin(p, (size_t)track, ev);
	case GT_EVENT_COUNTER: return put_counter(p, &e, (size_t)track, ev);
	case 'X': ev->has |= GT_KINETO_DUR; return gt_pftrace_put(p, ev);
	case GT_EVENT_INSTANT: return gt_kineto_row(&p->d->k, ev, p->err);
	}
	p->d->k.counts.not_understood++;
	return 0;
}
