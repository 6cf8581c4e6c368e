/* The segments of a memory snapshot: the blocks that were allocated when it was made, and how much
 * memory the allocator had reserved. */
#include "formats/import/torch/import_torch_memory.h"

/* A block of a segment, or an entry of its history. Numbers are negative if they are missing. */
struct block {
	int64_t addr, size, requested;
	gt_pickle_value frames;
	bool allocated;
};
static const struct block no_block = { -1, -1, -1, GT_TORCH_NO_VALUE, false };

static int read_block(
	struct gt_pickle_cursor *c, struct block *b, gt_pickle_value *history, struct gt_err *err)
{
	const char *key, *state = "";
	size_t len, state_len = 0;
	int token;

	*b = no_block;
	*history = GT_TORCH_NO_VALUE;
	while ((token = gt_pickle_pair(c, &key, &len, err)) > 0) {
		if (gt_pickle_is(key, len, "address") || gt_pickle_is(key, len, "addr"))
			gt_torch_integer(token, c, &b->addr);
		else if (gt_pickle_is(key, len, "size"))
			gt_torch_integer(token, c, &b->size);
		else if (gt_pickle_is(key, len, "requested_size") ||
			gt_pickle_is(key, len, "real_size"))
			gt_torch_integer(token, c, &b->requested);
		else if (gt_pickle_is(key, len, "state"))
			gt_torch_text(token, c, &state, &state_len);
		else if (gt_pickle_is(key, len, "frames") && token == GT_JSON_ARRAY)
			b->frames = c->value;
		else if (gt_pickle_is(key, len, "history") && token == GT_JSON_ARRAY)
			*history = c->value;
		gt_pickle_skip(c);
	}
	b->allocated = gt_pickle_is(state, state_len, "active_allocated");
	return token;
}

/* The first entry of a block's history is its latest allocation. */
static int read_history(
	struct gt_torch_import *t, gt_pickle_value history, struct block *b, struct gt_err *err)
{
	struct gt_pickle_cursor c;
	gt_pickle_value none;
	struct block first;
	int token, e;

	gt_pickle_open(&c, t->pickle, history);
	token = gt_pickle_next(&c, err);
	token = token < 0 ? token : gt_pickle_next(&c, err);
	if (token != GT_JSON_OBJECT)
		return token < 0 ? token : 0;
	e = read_block(&c, &first, &none, err);
	b->requested = b->requested < 0 ? first.requested : b->requested;
	b->frames = b->frames == GT_TORCH_NO_VALUE ? first.frames : b->frames;
	return e;
}

struct segment {
	int64_t device, addr, size, stream;
	gt_pickle_value blocks;
};

static int add_block(struct gt_torch_import *t, const struct segment *s, uint64_t device,
	const struct block *b, int64_t addr, struct gt_err *err)
{
	int64_t i = gt_torch_address(t, device, (uint64_t)addr, err);
	struct gt_torch_address *a;

	if (i < 0)
		return (int)i;
	a = &t->addresses[i];
	a->in_segments = true;
	a->block_bytes = (uint64_t)(b->requested < 0 ? b->size : b->requested);
	a->stream = s->stream;
	a->frames = b->frames;
	return 0;
}

static int read_blocks(
	struct gt_torch_import *t, const struct segment *s, uint64_t device, struct gt_err *err)
{
	int64_t at = s->addr;
	struct gt_pickle_cursor c;
	int token, e = 0;

	gt_pickle_open(&c, t->pickle, s->blocks);
	token = gt_pickle_next(&c, err);
	while (!e && token > 0 && (token = gt_pickle_element(&c, err)) > 0) {
		gt_pickle_value history;
		struct block b;

		if (token != GT_JSON_OBJECT) {
			t->not_understood++;
			gt_pickle_skip(&c);
			continue;
		}
		e = read_block(&c, &b, &history, err);
		if (!e && history != GT_TORCH_NO_VALUE)
			e = read_history(t, history, &b, err);
		at = b.addr < 0 ? at : b.addr;
		if (!e && b.allocated && at >= 0 && (b.size >= 0 || b.requested >= 0))
			e = add_block(t, s, device, &b, at, err);
		else
			t->not_understood += b.allocated;
		at = at < 0 || b.size < 0 || b.size > INT64_MAX - at ? -1 : at + b.size;
	}
	return e ? e : token < 0 ? token : 0;
}

static int read_segment(struct gt_torch_import *t, struct gt_pickle_cursor *c, struct gt_err *err)
{
	struct segment s = { 0, -1, 0, 0, GT_TORCH_NO_VALUE };
	const char *key;
	size_t len;
	int64_t device;
	int token;

	while ((token = gt_pickle_pair(c, &key, &len, err)) > 0) {
		if (gt_pickle_is(key, len, "device"))
			gt_torch_integer(token, c, &s.device);
		else if (gt_pickle_is(key, len, "address"))
			gt_torch_integer(token, c, &s.addr);
		else if (gt_pickle_is(key, len, "total_size"))
			gt_torch_integer(token, c, &s.size);
		else if (gt_pickle_is(key, len, "stream"))
			gt_torch_integer(token, c, &s.stream);
		else if (gt_pickle_is(key, len, "blocks") && token == GT_JSON_ARRAY)
			s.blocks = c->value;
		gt_pickle_skip(c);
	}
	device = token < 0 ? token : gt_torch_device(t, s.device, err);
	if (device < 0)
		return (int)device;
	t->devices[device].reserved += (uint64_t)s.size;
	return s.blocks == GT_TORCH_NO_VALUE ? 0 : read_blocks(t, &s, (uint64_t)device, err);
}

int gt_torch_read_segments(struct gt_torch_import *t, gt_pickle_value list, struct gt_err *err)
{
	struct gt_pickle_cursor c;
	int token, e = 0;

	t->has_segments = true;
	gt_pickle_open(&c, t->pickle, list);
	token = gt_pickle_next(&c, err);
	while (!e && token > 0 && (token = gt_pickle_element(&c, err)) > 0) {
		if (token == GT_JSON_OBJECT)
			e = read_segment(t, &c, err);
		else
			t->not_understood++;
		gt_pickle_skip(&c);
	}
	return e ? e : token < 0 ? token : 0;
}
