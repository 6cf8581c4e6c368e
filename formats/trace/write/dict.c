#include "formats/trace/write/dict.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/trace/codec.h"
#include "formats/trace/summary.h"
#include "formats/trace/wire.h"
#include "formats/trace/write/writer.h"

enum {
	STRINGS,
	TYPES,
	TRACKS,
	STACKS,
	RENAMES,
	BYTES_FIELDS,
	FRAMES,
	CHANGED,
	MODULES,
	TWINS,
	MODULE_PATHS,
	INLINED,
	INNER
};

/* An eighth of the memory is left for metadata and the segment itself. */
static bool may_hold(const struct gt_dict *d, uint64_t bytes)
{
	return d->memory + bytes <= GT_NAME_MEMORY_MAX - GT_NAME_MEMORY_MAX / 8;
}

static bool same_string(const void *arg, uint32_t value, const void *key, size_t len)
{
	const struct gt_dict *d = arg;

	return d->strings[value].len == len &&
		!memcmp(d->text.data + d->strings[value].at, key, len);
}

/* The length to which a too long string is cut: before a UTF-8 character, with three bytes left for
 * "...". */
static size_t cut_at(const char *s)
{
	size_t len = GT_STRING_MAX - 3;

	while (len > GT_STRING_MAX - 8 && ((unsigned char)s[len] & 0xc0) == 0x80)
		len--;
	return len;
}

/* Appends a string that lookups do not find. GT_NONE: no memory, or a limit is reached. */
static uint32_t append_string(struct gt_dict *d, const char *s, size_t len)
{
	if (d->nstrings >= GT_DICT_MAX || !may_hold(d, GT_NAME_MEMORY_STRING(len)) ||
		gt_grow(&d->strings, &d->cap[STRINGS], d->nstrings + 1, sizeof(*d->strings)) ||
		!gt_buf_reserve(&d->text, len + 1))
		return GT_NONE;
	d->strings[d->nstrings] = (struct gt_dict_string){ d->text.len, (uint32_t)len };
	gt_buf_add(&d->text, s, len);
	gt_buf_byte(&d->text, 0);
	d->memory += GT_NAME_MEMORY_STRING(len);
	return (uint32_t)d->nstrings++;
}

/* Appends a second string with the bytes of this one. */
static uint32_t repeat_string(struct gt_dict *d, uint32_t id)
{
	/* the text may move while it grows */
	if (!gt_buf_reserve(&d->text, d->strings[id].len + 1))
		return GT_NONE;
	return append_string(d, (const char *)d->text.data + d->strings[id].at, d->strings[id].len);
}

uint32_t gt_dict_string(struct gt_dict *d, const char *s, size_t len)
{
	char *cut = NULL;
	uint64_t hash;
	uint32_t id;

	if (len > GT_STRING_MAX) {
		size_t keep = cut_at(s);

		if (!(cut = malloc(keep + 3)))
			return GT_NONE;
		memcpy(cut, s, keep);
		memcpy(cut + keep, "...", 3);
		s = cut;
		len = keep + 3;
	}
	hash = gt_hash(s, len);
	id = gt_map_get(&d->string_map, hash, same_string, d, s, len);
	if (id == GT_NONE) {
		id = append_string(d, s, len);
		/* without its entry in the map the string would come again and again */
		if (id != GT_NONE && gt_map_add(&d->string_map, hash, id))
			id = GT_NONE;
	}
	free(cut);
	return id;
}

static bool same_type(const void *arg, uint32_t value, const void *key, size_t len)
{
	const struct gt_type *a = &((const struct gt_dict *)arg)->types[value], *b = key;

	if (a->name != b->name || a->category != b->category || a->op != b->op ||
		a->memkind != b->memkind || a->layer != b->layer || a->nfields != b->nfields)
		return false;
	for (unsigned f = 0; f < a->nfields; f++)
		if (a->fields[f].name != b->fields[f].name ||
			a->fields[f].kind != b->fields[f].kind ||
			a->fields[f].role != b->fields[f].role)
			return false;
	return true;
}

uint32_t gt_dict_type(struct gt_dict *d, const struct gt_type *type)
{
	uint64_t hash = gt_hash_u64(type->name ^ (uint64_t)type->nfields << 32);
	struct gt_field *fields;
	uint32_t id;

	for (unsigned f = 0; f < type->nfields; f++)
		hash = gt_hash_u64(hash ^ type->fields[f].name);
	id = gt_map_get(&d->type_map, hash, same_type, d, type, 0);
	if (id != GT_NONE || type->nfields > GT_FIELDS_MAX || d->ntypes >= GT_DICT_MAX ||
		!may_hold(d, GT_NAME_MEMORY_TYPE(type->nfields)))
		return id;
	fields = malloc(type->nfields * sizeof(*fields) + 1);
	if (!fields || gt_grow(&d->types, &d->cap[TYPES], d->ntypes + 1, sizeof(*d->types)) ||
		gt_grow(&d->bytes_field, &d->cap[BYTES_FIELDS], d->ntypes + 1, 1) ||
		gt_map_add(&d->type_map, hash, (uint32_t)d->ntypes)) {
		free(fields);
		return GT_NONE;
	}
	if (type->nfields)
		memcpy(fields, type->fields, type->nfields * sizeof(*fields));
	d->types[d->ntypes] = *type;
	d->types[d->ntypes].fields = fields;
	d->bytes_field[d->ntypes] = (int8_t)gt_bytes_field(type);
	d->memory += GT_NAME_MEMORY_TYPE(type->nfields);
	return (uint32_t)d->ntypes++;
}

uint32_t gt_dict_track(struct gt_dict *d, const struct gt_track *track)
{
	if (d->ntracks >= GT_DICT_MAX || !may_hold(d, GT_NAME_MEMORY_TRACK) ||
		gt_grow(&d->tracks, &d->cap[TRACKS], d->ntracks + 1, sizeof(*d->tracks)))
		return GT_NONE;
	d->tracks[d->ntracks] = *track;
	d->memory += GT_NAME_MEMORY_TRACK;
	return (uint32_t)d->ntracks++;
}

static bool same_stack(const void *arg, uint32_t value, const void *key, size_t len)
{
	const struct gt_dict_stack *s = &((const struct gt_dict *)arg)->stacks[value];

	return s->n * sizeof(*s->frames) == len && (!len || !memcmp(s->frames, key, len));
}

uint32_t gt_dict_stack(struct gt_dict *d, const uint32_t *frames, size_t n)
{
	uint64_t hash = gt_hash(frames, n * sizeof(*frames));
	uint32_t id = gt_map_get(&d->stack_map, hash, same_stack, d, frames, n * sizeof(*frames));

	return id == GT_NONE ? gt_dict_next_stack(d, frames, n) : id;
}

uint32_t gt_dict_next_stack(struct gt_dict *d, const uint32_t *frames, size_t n)
{
	uint64_t hash = gt_hash(frames, n * sizeof(*frames));
	uint32_t *copy;

	if (n > 4096 || d->nstacks >= GT_DICT_MAX || !may_hold(d, GT_NAME_MEMORY_STACK(n)))
		return GT_NONE;
	copy = malloc(n * sizeof(*copy) + 1);
	if (!copy || gt_grow(&d->stacks, &d->cap[STACKS], d->nstacks + 1, sizeof(*d->stacks)) ||
		gt_map_add(&d->stack_map, hash, (uint32_t)d->nstacks)) {
		free(copy);
		return GT_NONE;
	}
	if (n)
		memcpy(copy, frames, n * sizeof(*copy));
	d->stacks[d->nstacks] = (struct gt_dict_stack){ copy, (uint32_t)n };
	d->memory += GT_NAME_MEMORY_STACK(n);
	return (uint32_t)d->nstacks++;
}

static bool is_same_frame(const struct gt_frame *a, const struct gt_frame *b)
{
	return a->kind == b->kind && a->function == b->function && a->file == b->file &&
		a->module == b->module && a->line == b->line && a->offset == b->offset;
}

int gt_dict_frame(struct gt_dict *d, uint32_t text, const struct gt_frame *frame)
{
	struct gt_dict_frame new = { .text = text };
	uint32_t i = gt_map_find_item(&d->frame_map, d->frames, sizeof(new), &text, sizeof(text));

	if (i != GT_NONE && is_same_frame(&d->frames[i].frame, frame))
		return 0;
	if (d->wrote_frames == d->nchanged)
		d->wrote_frames = d->nchanged = 0;
	if (gt_grow(&d->changed_frames, &d->cap[CHANGED], d->nchanged + 1,
		    sizeof(*d->changed_frames)))
		return -ENOMEM;
	if (i == GT_NONE) {
		if (!may_hold(d, GT_NAME_MEMORY_FRAME))
			return -ENOMEM;
		i = gt_map_add_item(&d->frame_map, &d->frames, &d->nframes, &d->cap[FRAMES],
			sizeof(new), &new, sizeof(text));
		if (i == GT_NONE)
			return -ENOMEM;
		d->memory += GT_NAME_MEMORY_FRAME;
	}
	d->frames[i].frame = *frame;
	if (!d->frames[i].changed)
		d->changed_frames[d->nchanged++] = i;
	d->frames[i].changed = true;
	return 0;
}

/* What makes a frame another one than those of the same text. A function's name may become known
 * later, its place stays. */
static struct gt_dict_place place_of(uint32_t text, const struct gt_frame *f)
{
	struct gt_dict_place p = { .offset = f->offset,
		.text = text,
		.function = GT_NONE,
		.file = GT_NONE,
		.module = f->module,
		.kind = f->kind };

	if (f->kind != GT_FRAME_NATIVE) {
		p.function = f->function;
		p.file = f->file;
		p.line = f->line;
	}
	return p;
}

static bool is_same_place(
	const struct gt_dict *d, uint32_t frame, const struct gt_dict_place *place)
{
	const struct gt_dict_frame *f = &d->frames[frame];
	const struct gt_dict_place known = place_of(f->text, &f->frame);

	return !memcmp(&known, place, sizeof(known));
}

uint32_t gt_dict_place(struct gt_dict *d, uint32_t text, const struct gt_frame *frame)
{
	struct gt_dict_twin twin = { .key = place_of(text, frame) };
	uint32_t i =
		gt_map_find_item(&d->frame_map, d->frames, sizeof(*d->frames), &text, sizeof(text));

	if (i == GT_NONE)
		return gt_dict_frame(d, text, frame) ? GT_NONE : text;
	if (is_same_place(d, i, &twin.key))
		return text;
	i = gt_map_find_item(&d->twin_map, d->twins, sizeof(twin), &twin.key, sizeof(twin.key));
	if (i != GT_NONE)
		return d->twins[i].id;
	twin.id = repeat_string(d, text);
	if (twin.id == GT_NONE || gt_dict_frame(d, twin.id, frame) ||
		gt_map_add_item(&d->twin_map, &d->twins, &d->ntwins, &d->cap[TWINS], sizeof(twin),
			&twin, sizeof(twin.key)) == GT_NONE)
		return GT_NONE;
	return twin.id;
}

uint32_t gt_dict_module(struct gt_dict *d, const struct gt_module *m)
{
	struct gt_dict_module new = { .key = *m, .id = m->path };
	uint32_t i = gt_map_find_item(&d->module_map, d->modules, sizeof(new), m, sizeof(*m));

	if (i != GT_NONE)
		return d->modules[i].id;
	if (!may_hold(d, GT_NAME_MEMORY_MODULE))
		return GT_NONE;
	if (gt_map_find_item(&d->module_path_map, d->module_paths, sizeof(m->path), &m->path,
		    sizeof(m->path)) != GT_NONE)
		new.id = repeat_string(d, m->path);
	else if (gt_map_add_item(&d->module_path_map, &d->module_paths, &d->nmodule_paths,
			 &d->cap[MODULE_PATHS], sizeof(m->path), &m->path,
			 sizeof(m->path)) == GT_NONE)
		return GT_NONE;
	if (new.id == GT_NONE ||
		gt_map_add_item(&d->module_map, &d->modules, &d->nmodules, &d->cap[MODULES],
			sizeof(new), &new, sizeof(new.key)) == GT_NONE)
		return GT_NONE;
	d->memory += GT_NAME_MEMORY_MODULE;
	return new.id;
}

int gt_dict_inlined(struct gt_dict *d, uint32_t text, const uint32_t *frames, uint32_t n)
{
	struct gt_dict_inlined new = { text, n, d->ninner };

	if (gt_map_find_item(&d->inlined_map, d->inlined, sizeof(new), &text, sizeof(text)) !=
		GT_NONE)
		return 0;
	if (!may_hold(d, GT_NAME_MEMORY_STACK(n)) ||
		gt_grow(&d->inner, &d->cap[INNER], d->ninner + n, sizeof(*d->inner)) ||
		gt_map_add_item(&d->inlined_map, &d->inlined, &d->ninlined, &d->cap[INLINED],
			sizeof(new), &new, sizeof(text)) == GT_NONE)
		return -ENOMEM;
	memcpy(d->inner + d->ninner, frames, n * sizeof(*frames));
	d->ninner += n;
	d->memory += GT_NAME_MEMORY_STACK(n);
	return 0;
}

int gt_dict_rename(struct gt_dict *d, uint32_t track, uint32_t name)
{
	if (gt_grow(&d->renames, &d->cap[RENAMES], d->nrenames + 1, sizeof(*d->renames)))
		return -ENOMEM;
	d->renames[d->nrenames++] = (struct gt_dict_rename){ track, name };
	d->tracks[track].name = name;
	return 0;
}

/* ---- bytes ---- */

static uint64_t or_none(uint32_t id) { return id == GT_NONE ? 0 : (uint64_t)id + 1; }

static void put_string(struct gt_buf *out, struct gt_dict *d, size_t i)
{
	gt_put_varint(out, d->strings[i].len);
	gt_buf_add(out, d->text.data + d->strings[i].at, d->strings[i].len);
}

static void put_type(struct gt_buf *out, struct gt_dict *d, size_t i)
{
	const struct gt_type *t = &d->types[i];
	const uint8_t words[] = { t->category, t->op, t->memkind, t->layer, t->nfields };

	gt_put_varint(out, t->name);
	gt_buf_add(out, words, sizeof(words));
	for (unsigned f = 0; f < t->nfields; f++) {
		gt_put_varint(out, t->fields[f].name);
		gt_buf_byte(out, t->fields[f].kind);
		gt_buf_byte(out, t->fields[f].role);
	}
}

static void put_track(struct gt_buf *out, struct gt_dict *d, size_t i)
{
	const struct gt_track *t = &d->tracks[i];

	gt_buf_byte(out, t->kind);
	gt_put_varint(out, or_none(t->parent));
	gt_put_varint(out, or_none(t->name));
	gt_put_varint(out, or_none(t->source));
	gt_put_varint(out, gt_zigzag(t->id));
	gt_put_varint(out, gt_zigzag(t->ns_id));
	gt_put_varint(out, gt_zigzag(t->start));
}

static void put_stack(struct gt_buf *out, struct gt_dict *d, size_t i)
{
	gt_put_varint(out, d->stacks[i].n);
	for (uint32_t f = 0; f < d->stacks[i].n; f++)
		gt_put_varint(out, d->stacks[i].frames[f]);
}

static void put_rename(struct gt_buf *out, struct gt_dict *d, size_t i)
{
	gt_put_varint(out, d->renames[i].track);
	gt_put_varint(out, or_none(d->renames[i].name));
}

static void put_frame(struct gt_buf *out, struct gt_dict *d, size_t i)
{
	struct gt_dict_frame *f = &d->frames[d->changed_frames[i]];

	f->changed = false;
	gt_put_varint(out, f->text);
	gt_buf_byte(out, f->frame.kind);
	gt_put_varint(out, or_none(f->frame.function));
	gt_put_varint(out, or_none(f->frame.file));
	gt_put_varint(out, f->frame.line);
	gt_put_varint(out, or_none(f->frame.module));
	gt_put_varint(out, f->frame.offset);
}

static void put_module(struct gt_buf *out, struct gt_dict *d, size_t i)
{
	gt_put_varint(out, d->modules[i].id);
	gt_put_varint(out, d->modules[i].key.nid);
	gt_buf_add(out, d->modules[i].key.id, d->modules[i].key.nid);
}

static void put_inlined(struct gt_buf *out, struct gt_dict *d, size_t i)
{
	const struct gt_dict_inlined *in = &d->inlined[i];

	gt_put_varint(out, in->text);
	gt_put_varint(out, in->n);
	for (uint32_t k = 0; k < in->n; k++)
		gt_put_varint(out, d->inner[in->first + k]);
}

unsigned gt_dict_flush(struct gt_dict *d, size_t limit, struct gt_buf *out, uint32_t *count)
{
	const struct {
		unsigned kind;
		size_t *wrote, n;
		void (*put)(struct gt_buf *, struct gt_dict *, size_t);
	} all[] = {
		{ GT_W_STRINGS, &d->wrote_strings, d->nstrings, put_string },
		{ GT_W_TYPES, &d->wrote_types, d->ntypes, put_type },
		{ GT_W_TRACKS, &d->wrote_tracks, d->ntracks, put_track },
		{ GT_W_STACKS, &d->wrote_stacks, d->nstacks, put_stack },
		{ GT_W_NAMES, &d->wrote_renames, d->nrenames, put_rename },
		{ GT_W_FRAMES, &d->wrote_frames, d->nchanged, put_frame },
		{ GT_W_MODULES, &d->wrote_modules, d->nmodules, put_module },
		{ GT_W_INLINED, &d->wrote_inlined, d->ninlined, put_inlined },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		size_t first = *all[i].wrote, begin = out->len;

		if (first == all[i].n)
			continue;
		if (all[i].kind < GT_W_ROWS) /* the others have no ids */
			gt_put_varint(out, first);
		while (*all[i].wrote < all[i].n && out->len - begin < limit)
			all[i].put(out, d, (*all[i].wrote)++);
		*count = (uint32_t)(*all[i].wrote - first);
		return all[i].kind;
	}
	return 0;
}

void gt_dict_release(struct gt_dict *d)
{
	for (size_t i = 0; i < d->ntypes; i++)
		free((void *)d->types[i].fields);
	for (size_t i = 0; i < d->nstacks; i++)
		free(d->stacks[i].frames);
	gt_buf_release(&d->text);
	free(d->strings);
	free(d->types);
	free(d->bytes_field);
	free(d->tracks);
	free(d->stacks);
	free(d->renames);
	free(d->frames);
	free(d->changed_frames);
	free(d->twins);
	free(d->modules);
	free(d->module_paths);
	free(d->inlined);
	free(d->inner);
	gt_map_release(&d->string_map);
	gt_map_release(&d->type_map);
	gt_map_release(&d->stack_map);
	gt_map_release(&d->frame_map);
	gt_map_release(&d->inlined_map);
	gt_map_release(&d->twin_map);
	gt_map_release(&d->module_map);
	gt_map_release(&d->module_path_map);
	memset(d, 0, sizeof(*d));
}
