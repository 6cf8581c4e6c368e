/* The cache of open blocks. A frame after panning by a few cells needs the same blocks as the frame
 * before. Rows are in plain arrays, because a frame of sixty lanes reads a few hundred thousand
 * rows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viewer/model/archive_internal.h"

struct opening {
	struct gt_archive *archive;
	struct gt_block_slot *to;
	struct gt_rows_run *runs;
	int64_t *start, *dur;
	uint64_t *bytes;
	int32_t *ret;
	uint32_t *type;
	uint8_t *depth, *aspect;
	uint32_t most; /* capacity in rows and runs */
	bool any_bytes, any_ret;
};

/* One piece of memory for all columns of a block. */
static int make_room(struct opening *o, uint32_t rows)
{
	const size_t each = sizeof(*o->start) + sizeof(*o->dur) + sizeof(*o->bytes) +
		sizeof(*o->ret) + sizeof(*o->type) + sizeof(*o->runs) + sizeof(*o->depth) +
		sizeof(*o->aspect);
	struct gt_buf *room = &o->to->memory;
	size_t before = room->cap;

	gt_buf_clear(room);
	if (!gt_buf_reserve(room, rows * each + 64))
		return -ENOMEM;
	o->archive->opened_bytes += room->cap - before;
	o->most = rows;
	o->start = (int64_t *)(void *)room->data;
	o->dur = o->start + rows;
	o->bytes = (uint64_t *)(o->dur + rows);
	o->ret = (int32_t *)(void *)(o->bytes + rows);
	o->type = (uint32_t *)(o->ret + rows);
	o->runs = (struct gt_rows_run *)(void *)(o->type + rows);
	o->depth = (uint8_t *)(void *)(o->runs + rows);
	o->aspect = o->depth + rows;
	return 0;
}

/* The values of a field, for rows whose type has it. */
static const uint64_t *values(const struct gt_cols *c, uint32_t code, int field, uint32_t *n)
{
	return field < 0 ? NULL : gt_cols_args(c, code, (uint32_t)field, n);
}

static enum gt_aspect aspect_of_type(const struct gt_cols *c, const struct gt_type *type)
{
	enum gt_aspect aspect = gt_aspect_of(c->kind, type);

	return aspect == GT_ASPECT_CALLS && type->layer == GT_LAYER_IOCTL ? GT_ASPECT_IOCTLS
		: aspect == GT_ASPECT_WORK && type->op == GT_OP_COPY      ? GT_ASPECT_COPIES
									  : aspect;
}

/* The field for gt_open_block.bytes. */
static int number_of(enum gt_kind kind, const struct gt_type *type)
{
	if (kind == GT_COUNTER)
		return type->nfields ? 0 : -1;
	return type->op == GT_OP_SAMPLE ? (int)gt_type_field(type, GT_R_VALUE)
					: gt_bytes_field(type);
}

/* Copies the rows of one code: type, aspect (by direction for copies) and bytes. */
static void copy_code(struct opening *o, const struct gt_cols *c, uint32_t code, uint32_t at)
{
	const struct gt_type *type = &c->seg->types[c->types[code]];
	enum gt_aspect aspect = aspect_of_type(c, type);
	uint32_t nbytes = 0, ndirections = 0, n = c->n, k = 0;
	const uint64_t *bytes = values(c, code, number_of(c->kind, type), &nbytes);
	const uint64_t *directions = aspect == GT_ASPECT_COPIES
		? values(c, code, gt_direction_field(type), &ndirections)
		: NULL;
	const uint32_t *rows = gt_cols_rows(c, code, &n);

	o->any_bytes |= bytes && nbytes;
	for (uint32_t j = 0; j < n; j++) {
		uint32_t i = rows ? rows[j] : j;

		if (!rows && c->code && c->code[i] != code)
			continue;
		o->type[at + i] = c->types[code];
		o->aspect[at + i] = directions && k < ndirections
			? gt_aspect_of_direction(directions[k])
			: aspect;
		o->bytes[at + i] = bytes && k < nbytes ? bytes[k] : 0;
		k++;
	}
}

static void copy_types(struct opening *o, const struct gt_cols *c, uint32_t at)
{
	for (uint32_t i = 0; i < c->n; i++)
		o->type[at + i] = GT_NONE;
	memset(o->aspect + at, 0, c->n);
	memset(o->bytes + at, 0, c->n * sizeof(*o->bytes));
	for (uint32_t code = 0; code < c->ntypes; code++)
		if (c->types[code] != GT_NONE)
			copy_code(o, c, code, at);
}

static int copy_run(void *arg, unsigned worker, const struct gt_cols *c)
{
	struct opening *o = arg;
	struct gt_open_block *r = &o->to->rows;
	uint32_t at = r->n;

	if (c->n > o->most - at)
		return 0;
	o->runs[r->nruns++] = (struct gt_rows_run){ c->track, at, c->n };
	memcpy(o->start + at, c->start, c->n * sizeof(*o->start));
	memcpy(o->dur + at, c->dur, c->n * sizeof(*o->dur));
	if (c->depth)
		memcpy(o->depth + at, c->depth, c->n);
	else
		memset(o->depth + at, 0, c->n);
	memset(o->ret + at, 0, c->n * sizeof(*o->ret));
	for (uint32_t i = 0; i < c->nret; i++)
		o->ret[at + c->ret_row[i]] = c->ret[i];
	o->any_ret |= c->nret > 0;
	copy_types(o, c, at);
	r->kind = c->kind;
	r->n += c->n;
	return 0;
}

/* The aspect of a row on its own track: copies have a direction only on the line of their device,
 * and are work on their stream. */
static enum gt_aspect own_aspect(unsigned aspect)
{
	return gt_aspect_is_copies(aspect) ? GT_ASPECT_WORK : (enum gt_aspect)aspect;
}

/* Notes the depths of the rows: lanes may not know them yet. */
static void note_depths(struct gt_archive *a, const struct gt_open_block *r)
{
	for (uint32_t k = 0; k < r->nruns; k++)
		for (uint32_t i = r->runs[k].first;
			r->runs[k].track != GT_NONE && i < r->runs[k].first + r->runs[k].n; i++) {
			enum gt_aspect aspect = own_aspect(r->aspect[i]);

			if (aspect == GT_ASPECT_IOCTLS)
				gt_archive_note_depth(a, r->segment, r->runs[k].track,
					GT_ASPECT_CALLS,
					gt_aspect_depth(GT_ASPECT_CALLS, r->depth[i]));
			if (aspect)
				gt_archive_note_depth(a, r->segment, r->runs[k].track, aspect,
					gt_aspect_depth(aspect, r->depth[i]));
			/* a copy is work, and one of its direction */
			if (r->aspect[i] != aspect)
				gt_archive_note_depth(a, r->segment, r->runs[k].track,
					(enum gt_aspect)r->aspect[i], 0);
		}
}

static int open_block(struct gt_archive *a, struct gt_block_slot *to, uint32_t segment,
	const struct gt_block *block, struct gt_err *err)
{
	struct opening o = { .archive = a, .to = to };
	size_t before, after;
	const struct gt_damage *damage;
	int code = make_room(&o, block->rows);

	to->rows = (struct gt_open_block){ .segment = segment, .entry = block->entry };
	gt_reader_damage(a->reader, &before);
	if (!code)
		code = gt_archive_scan(a, segment, block, true, copy_run, &o, err);
	damage = gt_reader_damage(a->reader, &after);
	to->rows.runs = o.runs;
	to->rows.start = o.start;
	to->rows.dur = o.dur;
	to->rows.type = o.type;
	to->rows.depth = o.depth;
	to->rows.aspect = o.aspect;
	to->rows.bytes = o.any_bytes ? o.bytes : NULL;
	to->rows.ret = o.any_ret ? o.ret : NULL;
	to->rows.damaged = !to->rows.n;
	if (after > before)
		snprintf(to->rows.why, sizeof(to->rows.why), "%s", damage[after - 1].text);
	else if (to->rows.damaged)
		snprintf(to->rows.why, sizeof(to->rows.why), "block %u is damaged", block->number);
	return code;
}

/* Returns the slot to use next: a free one if memory is left, else the least recently used one. */
static struct gt_block_slot *slot_for(struct gt_archive *a)
{
	struct gt_block_slot *oldest = NULL;

	for (unsigned i = 0; i < GT_ROWS_SLOTS; i++) {
		struct gt_block_slot *o = &a->opened[i];

		if (!o->is_open && (a->opened_bytes < GT_ROWS_BYTES || !oldest))
			return o;
		if (o->is_open && (!oldest || o->used < oldest->used))
			oldest = o;
	}
	return oldest;
}

static struct gt_block_slot *find_opened(
	const struct gt_archive *a, uint32_t segment, uint32_t entry)
{
	for (unsigned i = 0; i < GT_ROWS_SLOTS; i++)
		if (a->opened[i].is_open && a->opened[i].rows.entry == entry &&
			a->opened[i].rows.segment == segment)
			return (struct gt_block_slot *)&a->opened[i];
	return NULL;
}

const struct gt_open_block *gt_archive_rows(
	struct gt_archive *a, uint32_t segment, const struct gt_block *block, struct gt_err *err)
{
	struct gt_block_slot *o = find_opened(a, segment, block->entry);

	if (!o) {
		o = slot_for(a);
		o->is_open = false;
		if (open_block(a, o, segment, block, err)) {
			gt_err_set(err, -ENOMEM, "out of memory");
			return NULL;
		}
		note_depths(a, &o->rows);
		o->is_open = true;
	}
	o->used = ++a->now;
	return &o->rows;
}

void gt_archive_release_rows(struct gt_archive *a)
{
	for (unsigned i = 0; i < GT_ROWS_SLOTS; i++)
		gt_buf_release(&a->opened[i].memory);
}
