/* Events of a memory snapshot, and which blocks were allocated before the first of them.
 *
 * A trace is a ring: its beginning may be missing. A block was allocated before if the first event
 * of its address is a free, or if no event has its address and it is allocated in the segments. */
#include "formats/base/buf.h"
#include "formats/import/torch/import_torch_memory.h"

#define DEVICES_MAX 1024

/* ---- one event ---- */

static enum gt_torch_action action_of(const char *text, size_t len)
{
	static const struct {
		const char *word;
		enum gt_torch_action action;
	} actions[] = {
		{ "alloc", GT_TORCH_ALLOC },
		{ "free_requested", GT_TORCH_FREE_REQUESTED },
		{ "free", GT_TORCH_FREE_REQUESTED },
		{ "free_completed", GT_TORCH_FREE_COMPLETED },
		{ "segment_alloc", GT_TORCH_SEGMENT_ALLOC },
		{ "segment_map", GT_TORCH_SEGMENT_ALLOC },
		{ "segment_free", GT_TORCH_SEGMENT_FREE },
		{ "segment_unmap", GT_TORCH_SEGMENT_FREE },
		{ "oom", GT_TORCH_OOM },
	};

	for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++)
		if (gt_pickle_is(text, len, actions[i].word))
			return actions[i].action;
	return GT_TORCH_OTHER;
}

static void set_unsigned(int token, const struct gt_pickle_cursor *c, uint64_t *to, bool *has)
{
	*has = token == GT_JSON_INT && !c->negative;
	*to = *has ? c->magnitude : 0;
}

enum event_key { NONE, ACTION, ADDR, BYTES, STREAM, TIME, FRAMES, DEVICE_FREE, CONTEXT, METADATA };

static enum event_key key_of(const char *text, size_t len)
{
	static const char *const words[] = { [ACTION] = "action",
		[ADDR] = "addr",
		[BYTES] = "size",
		[STREAM] = "stream",
		[TIME] = "time_us",
		[FRAMES] = "frames",
		[DEVICE_FREE] = "device_free",
		[CONTEXT] = "compile_context",
		[METADATA] = "user_metadata" };

	for (unsigned i = ACTION; i <= METADATA; i++)
		if (gt_pickle_is(text, len, words[i]))
			return i;
	return NONE;
}

static void set_value(
	struct gt_torch_event *e, enum event_key key, int token, const struct gt_pickle_cursor *c)
{
	switch (key) {
	case ACTION:
		gt_torch_text(token, c, &e->name, &e->name_len);
		e->action = e->name ? action_of(e->name, e->name_len) : GT_TORCH_OTHER;
		break;
	case ADDR: set_unsigned(token, c, &e->addr, &e->has_addr); break;
	case BYTES: set_unsigned(token, c, &e->bytes, &e->has_bytes); break;
	case DEVICE_FREE: set_unsigned(token, c, &e->device_free, &e->has_device_free); break;
	case STREAM: e->has_stream = gt_torch_integer(token, c, &e->stream); break;
	case TIME: e->has_time = gt_torch_time(token, c, &e->time_us); break;
	case FRAMES: e->frames = token == GT_JSON_ARRAY ? c->value : GT_TORCH_NO_VALUE; break;
	case CONTEXT: gt_torch_text(token, c, &e->context, &e->context_len); break;
	case METADATA: gt_torch_text(token, c, &e->metadata, &e->metadata_len); break;
	default: break;
	}
}

static int read_event(struct gt_pickle_cursor *c, struct gt_torch_event *e, struct gt_err *err)
{
	const char *key;
	size_t len;
	int token;

	*e = (struct gt_torch_event){ .frames = GT_TORCH_NO_VALUE };
	while ((token = gt_pickle_pair(c, &key, &len, err)) > 0) {
		set_value(e, key_of(key, len), token, c);
		gt_pickle_skip(c);
	}
	return token;
}

/* Does it have what its action needs? */
static bool is_whole(const struct gt_torch_event *e)
{
	switch (e->action) {
	case GT_TORCH_OTHER: return e->name;
	case GT_TORCH_OOM: return e->has_bytes;
	default: return e->has_addr && e->has_bytes;
	}
}

int gt_torch_next_event(struct gt_torch_import *t, struct gt_pickle_cursor *c,
	struct gt_torch_event *e, struct gt_err *err)
{
	int token, rc;

	while ((token = gt_pickle_element(c, err)) > 0) {
		if (token != GT_JSON_OBJECT) {
			gt_pickle_skip(c);
			t->not_understood++;
			continue;
		}
		rc = read_event(c, e, err);
		if (rc || is_whole(e))
			return rc ? rc : 1;
		t->not_understood++;
	}
	return token;
}

int gt_torch_begin_events(struct gt_torch_import *t, struct gt_torch_device *d, struct gt_err *err)
{
	int token;

	gt_pickle_open(&d->cursor, t->pickle, d->events);
	token = gt_pickle_next(&d->cursor, err);
	return token < 0 ? token : 0;
}

/* ---- devices and addresses ---- */

int64_t gt_torch_device(struct gt_torch_import *t, int64_t number, struct gt_err *err)
{
	for (size_t i = 0; i < t->ndevices; i++)
		if (t->devices[i].number == number)
			return (int64_t)i;
	if (t->ndevices == DEVICES_MAX)
		return gt_err_set(err, -E2BIG, "more than %u devices", DEVICES_MAX);
	if (gt_grow(&t->devices, &t->devices_cap, t->ndevices + 1, sizeof(*t->devices)))
		return gt_torch_no_memory(err);
	t->devices[t->ndevices] =
		(struct gt_torch_device){ .number = number, .events = GT_TORCH_NO_VALUE };
	return (int64_t)t->ndevices++;
}

int64_t gt_torch_address(
	struct gt_torch_import *t, uint64_t device, uint64_t addr, struct gt_err *err)
{
	struct gt_torch_address a = { .addr = addr, .device = device, .frames = GT_TORCH_NO_VALUE };
	const size_t key = offsetof(struct gt_torch_address, bytes);
	uint32_t i = gt_map_find_item(&t->address_map, t->addresses, sizeof(a), &a, key);

	if (i == UINT32_MAX)
		i = gt_map_add_item(&t->address_map, &t->addresses, &t->naddresses,
			&t->addresses_cap, sizeof(a), &a, key);
	return i == UINT32_MAX ? gt_torch_no_memory(err) : (int64_t)i;
}

/* ---- the survey ---- */

bool gt_torch_is_free(const struct gt_torch_device *d, const struct gt_torch_event *e)
{
	return e->action == (d->has_requests ? GT_TORCH_FREE_REQUESTED : GT_TORCH_FREE_COMPLETED);
}

static int survey_event(struct gt_torch_import *t, struct gt_torch_device *d,
	const struct gt_torch_event *e, struct gt_err *err)
{
	bool frees = gt_torch_is_free(d, e);
	struct gt_torch_address *a;
	int64_t i;

	if (e->has_time && e->time_us < t->first_us)
		t->first_us = e->time_us;
	if (e->action == GT_TORCH_SEGMENT_ALLOC)
		d->reserved -= e->bytes;
	else if (e->action == GT_TORCH_SEGMENT_FREE)
		d->reserved += e->bytes;
	if (e->action != GT_TORCH_ALLOC && !frees)
		return 0;
	i = gt_torch_address(t, (uint64_t)(d - t->devices), e->addr, err);
	if (i < 0)
		return (int)i;
	a = &t->addresses[i];
	if (frees && !a->in_trace) {
		a->before = true;
		a->bytes = e->bytes;
		a->stream = e->stream;
	}
	a->in_trace = true;
	a->live = !frees;
	return 0;
}

static int find_requests(struct gt_torch_import *t, struct gt_torch_device *d, struct gt_err *err)
{
	struct gt_torch_event e;
	int more = gt_torch_begin_events(t, d, err);

	while (!more && !d->has_requests) {
		more = gt_torch_next_event(t, &d->cursor, &e, err);
		if (more <= 0)
			return more;
		d->has_requests = e.action == GT_TORCH_FREE_REQUESTED;
		more = 0;
	}
	return more;
}

static int survey_device(struct gt_torch_import *t, struct gt_torch_device *d, struct gt_err *err)
{
	struct gt_torch_event e;
	int rc = 0, more = 1;

	if (d->events == GT_TORCH_NO_VALUE)
		return 0;
	rc = find_requests(t, d, err);
	if (!rc)
		rc = gt_torch_begin_events(t, d, err);
	while (!rc && (more = gt_torch_next_event(t, &d->cursor, &e, err)) > 0)
		rc = survey_event(t, d, &e, err);
	return more < 0 ? more : rc;
}

int gt_torch_survey(struct gt_torch_import *t, struct gt_err *err)
{
	uint64_t others = t->not_understood;
	int e = 0;

	for (size_t i = 0; !e && i < t->ndevices; i++)
		e = survey_device(t, &t->devices[i], err);
	for (size_t i = 0; !e && i < t->naddresses; i++) {
		struct gt_torch_address *a = &t->addresses[i];

		a->before |= a->in_segments && !a->in_trace;
		t->before += a->before;
		t->before_bytes += a->before ? a->in_trace ? a->bytes : a->block_bytes : 0;
		t->after += a->in_segments && a->in_trace && !a->live;
		t->freed_after += t->has_segments && a->live && !a->in_segments;
	}
	t->not_understood = others; /* the rows count events again */
	return e;
}
