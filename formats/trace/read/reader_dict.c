/* Names of a segment: strings, types, tracks, stacks, frames, anchors, metadata. They are read when
 * a trace is opened. All ids are range-checked here, once, so that other code may index without
 * checks. Unknown categories, roles and operations of a later version read as "other" or "none". */
#include <stdlib.h>
#include <string.h>
#include <jansson.h>

#include "formats/io/json_build.h"
#include "formats/trace/read/added_names.h"
#include "formats/trace/read/reader_internal.h"

#define ANCHORS_MAX 65536
#define FRAMES_MAX 4096

static int damaged(struct gt_err *err, const struct gt_seg *seg, const struct gt_wire_entry *e,
	const char *what)
{
	return gt_err_at(err, seg->at + e->at, -EBADMSG, "%s", what);
}

int gt_charge_names(struct gt_reader *r, uint64_t bytes)
{
	return (r->name_memory += bytes) > GT_NAME_MEMORY_MAX ? -E2BIG : 0;
}

/* Ids have no gaps: a block of names begins with its first id, which must be the next one. */
static bool follows(struct gt_span *in, uint32_t have, uint32_t more)
{
	uint32_t first;

	return gt_get_u32(in, &first) && first == have && more <= GT_DICT_MAX - have;
}

static bool get_opt_id(struct gt_span *in, uint32_t limit, uint32_t *id)
{
	uint32_t v;

	if (!gt_get_u32(in, &v) || v > limit)
		return false;
	*id = v ? v - 1 : GT_NONE;
	return true;
}

static int get_strings(struct gt_reader *r, struct gt_seg *seg, struct gt_span in, uint32_t n)
{
	if (!follows(&in, seg->pub.nstrings, n) || n > (size_t)(in.end - in.at))
		return -EBADMSG;
	if (gt_grow(&seg->strings, &seg->strings_cap, seg->pub.nstrings + n, sizeof(*seg->strings)))
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t len;

		if (!gt_get_u32(&in, &len) || len > (size_t)(in.end - in.at))
			return -EBADMSG;
		if (gt_charge_names(r, GT_NAME_MEMORY_STRING(len)))
			return -E2BIG;
		/* ptr is the offset until all strings are read: the text may move */
		seg->strings[seg->pub.nstrings++] =
			(struct gt_string){ (const char *)(uintptr_t)seg->text.len, len };
		gt_buf_add(&seg->text, in.at, len);
		gt_buf_byte(&seg->text, 0);
		in.at += len;
	}
	return seg->text.failed ? -ENOMEM : 0;
}

static int get_type(struct gt_seg *seg, struct gt_span *in, struct gt_type *t)
{
	struct gt_field *fields;

	if (!gt_get_u32(in, &t->name) || t->name >= seg->pub.nstrings || in->end - in->at < 5)
		return -EBADMSG;
	t->category = in->at[0] < GT_CATEGORY_COUNT ? in->at[0] : GT_CAT_OTHER;
	t->op = in->at[1] < GT_OP_COUNT ? in->at[1] : GT_OP_NONE;
	t->memkind = in->at[2] < GT_MEMKIND_COUNT ? in->at[2] : GT_MEM_UNKNOWN;
	t->layer = in->at[3] < GT_LAYER_COUNT ? in->at[3] : GT_LAYER_API;
	t->nfields = in->at[4];
	in->at += 5;
	if (t->nfields > GT_FIELDS_MAX)
		return -EBADMSG;
	t->fields = fields = calloc(t->nfields + 1u, sizeof(*fields));
	if (!fields)
		return -ENOMEM;
	for (unsigned f = 0; f < t->nfields; f++) {
		if (!gt_get_u32(in, &fields[f].name) || fields[f].name >= seg->pub.nstrings ||
			in->end - in->at < 2) {
			free(fields);
			return -EBADMSG;
		}
		fields[f].kind = in->at[0] < GT_FIELD_KINDS ? in->at[0] : GT_F_HEX;
		fields[f].role = in->at[1] < GT_ROLES ? in->at[1] : GT_R_NONE;
		in->at += 2;
	}
	return 0;
}

static int get_types(struct gt_reader *r, struct gt_seg *seg, struct gt_span in, uint32_t n)
{
	if (!follows(&in, seg->pub.ntypes, n) || n > (size_t)(in.end - in.at))
		return -EBADMSG;
	if (gt_grow(&seg->types, &seg->types_cap, seg->pub.ntypes + n, sizeof(*seg->types)))
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		int code = get_type(seg, &in, &seg->types[seg->pub.ntypes]);

		if (code)
			return code;
		if (gt_charge_names(r, GT_NAME_MEMORY_TYPE(seg->types[seg->pub.ntypes++].nfields)))
			return -E2BIG;
	}
	return 0;
}

static bool get_i64(struct gt_span *in, int64_t *v)
{
	uint64_t z;

	if (!gt_get_varint(in, &z))
		return false;
	*v = gt_unzigzag(z);
	return true;
}

static int get_tracks(struct gt_reader *r, struct gt_seg *seg, struct gt_span in, uint32_t n)
{
	if (!follows(&in, seg->pub.ntracks, n) || n > (size_t)(in.end - in.at))
		return -EBADMSG;
	if (gt_charge_names(r, (uint64_t)n * GT_NAME_MEMORY_TRACK))
		return -E2BIG;
	if (gt_grow(&seg->tracks, &seg->tracks_cap, seg->pub.ntracks + n, sizeof(*seg->tracks)))
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		struct gt_track t = { 0 };

		if (in.at >= in.end)
			return -EBADMSG;
		t.kind = *in.at < GT_TRACK_KIND_COUNT ? *in.at : GT_TRACK_CUSTOM;
		in.at++;
		if (!get_opt_id(&in, seg->pub.ntracks, &t.parent) ||
			!get_opt_id(&in, seg->pub.nstrings, &t.name) ||
			!get_opt_id(&in, seg->pub.nstrings, &t.source) || !get_i64(&in, &t.id) ||
			!get_i64(&in, &t.ns_id) || !get_i64(&in, &t.start))
			return -EBADMSG;
		seg->tracks[seg->pub.ntracks++] = t;
	}
	return 0;
}

static int get_names(struct gt_seg *seg, struct gt_span in, uint32_t n)
{
	uint32_t ignored, track, name;

	if (!gt_get_u32(&in, &ignored))
		return -EBADMSG;
	for (; n; n--) {
		if (!gt_get_u32(&in, &track) || track >= seg->pub.ntracks ||
			!get_opt_id(&in, seg->pub.nstrings, &name))
			return -EBADMSG;
		seg->tracks[track].name = name;
	}
	return 0;
}

static int get_stacks(struct gt_reader *r, struct gt_seg *seg, struct gt_span in, uint32_t n)
{
	if (!follows(&in, seg->pub.nstacks, n) || n > (size_t)(in.end - in.at))
		return -EBADMSG;
	if (gt_grow(&seg->stacks, &seg->stacks_cap, seg->pub.nstacks + n, sizeof(*seg->stacks)))
		return -ENOMEM;
	for (; n; n--) {
		uint32_t depth, *frames;

		if (!gt_get_u32(&in, &depth) || depth > FRAMES_MAX ||
			depth > (size_t)(in.end - in.at))
			return -EBADMSG;
		if (gt_charge_names(r, GT_NAME_MEMORY_STACK(depth)))
			return -E2BIG;
		frames = malloc(depth * sizeof(*frames) + 1);
		if (!frames)
			return -ENOMEM;
		seg->stacks[seg->pub.nstacks++] = (struct gt_stack){ frames, depth };
		for (uint32_t f = 0; f < depth; f++)
			if (!gt_get_u32(&in, &frames[f]) || frames[f] >= seg->pub.nstrings)
				return -EBADMSG;
	}
	return 0;
}

static int get_frame(const struct gt_seg *seg, struct gt_span *in, struct gt_text_frame *f)
{
	if (!gt_get_u32(in, &f->text) || f->text >= seg->pub.nstrings || in->at >= in->end)
		return -EBADMSG;
	f->frame.kind = *in->at <= GT_FRAME_INLINED ? *in->at : GT_FRAME_UNKNOWN;
	in->at++;
	return get_opt_id(in, seg->pub.nstrings, &f->frame.function) &&
			get_opt_id(in, seg->pub.nstrings, &f->frame.file) &&
			gt_get_u32(in, &f->frame.line) &&
			get_opt_id(in, seg->pub.nstrings, &f->frame.module) &&
			gt_get_varint(in, &f->frame.offset)
		? 0
		: -EBADMSG;
}

/* While names are read, the pointers of strings are offsets. */
static const char *text_of(const void *arg, uint32_t id)
{
	const struct gt_seg *seg = arg;

	return (const char *)seg->text.data + (uintptr_t)seg->strings[id].ptr;
}

static int get_frames(struct gt_reader *r, struct gt_seg *seg, struct gt_span in, uint32_t n)
{
	for (; n; n--) {
		struct gt_text_frame f = { 0 };
		size_t have = seg->pub.nframes;
		uint32_t i;

		if (get_frame(seg, &in, &f))
			return -EBADMSG;
		if (gt_frame_files_add_frame(&seg->frame_files, &f.frame, text_of, seg))
			return -ENOMEM;
		i = gt_map_find_item(
			&seg->pub.frame_map, seg->frames, sizeof(f), &f.text, sizeof(f.text));
		if (i != GT_NONE) {
			seg->frames[i] = f;
			continue;
		}
		if (gt_charge_names(r, GT_NAME_MEMORY_FRAME))
			return -E2BIG;
		if (gt_map_add_item(&seg->pub.frame_map, &seg->frames, &have, &seg->frames_cap,
			    sizeof(f), &f, sizeof(f.text)) == GT_NONE)
			return -ENOMEM;
		seg->pub.nframes = (uint32_t)have;
	}
	return 0;
}

static int get_modules(struct gt_reader *r, struct gt_seg *seg, struct gt_span in, uint32_t n)
{
	for (; n; n--) {
		struct gt_module m = { 0 };

		if (!gt_get_u32(&in, &m.path) || m.path >= seg->pub.nstrings ||
			!gt_get_u32(&in, &m.nid) || m.nid > sizeof(m.id) ||
			m.nid > (size_t)(in.end - in.at))
			return -EBADMSG;
		memcpy(m.id, in.at, m.nid);
		in.at += m.nid;
		if (gt_charge_names(r, GT_NAME_MEMORY_MODULE))
			return -E2BIG;
		if (gt_grow(&seg->modules, &seg->modules_cap, seg->pub.nmodules + 1, sizeof(m)))
			return -ENOMEM;
		seg->modules[seg->pub.nmodules++] = m;
	}
	return 0;
}

static int get_inlined(struct gt_reader *r, struct gt_seg *seg, struct gt_span in, uint32_t n)
{
	for (; n; n--) {
		uint32_t text, count, frames[GT_INLINED_MAX];
		int rc;

		if (!gt_get_u32(&in, &text) || text >= seg->pub.nstrings ||
			!gt_get_u32(&in, &count) || !count || count > GT_INLINED_MAX)
			return -EBADMSG;
		for (uint32_t i = 0; i < count; i++)
			if (!gt_get_u32(&in, &frames[i]) || frames[i] >= seg->pub.nstrings)
				return -EBADMSG;
		if (gt_charge_names(r, GT_NAME_MEMORY_STACK(count)))
			return -E2BIG;
		rc = gt_inlined_table_add(&seg->inlined, text, frames, count);
		if (rc)
			return rc;
	}
	return 0;
}

static int get_anchors(struct gt_seg *seg, struct gt_span in, uint32_t n)
{
	for (; n; n--) {
		struct gt_anchor a;

		if (!get_i64(&in, &a.monotonic) || !get_i64(&in, &a.realtime) ||
			!gt_get_varint(&in, &a.ticks) || !gt_get_u32(&in, &a.error))
			return -EBADMSG;
		if (seg->pub.nanchors >= ANCHORS_MAX)
			continue;
		if (gt_grow(&seg->anchors, &seg->anchors_cap, seg->pub.nanchors + 1,
			    sizeof(*seg->anchors)))
			return -ENOMEM;
		seg->anchors[seg->pub.nanchors++] = a;
	}
	return 0;
}

static int get_meta(struct gt_reader *r, struct gt_seg *seg, struct gt_span in)
{
	uint64_t bytes = (uint64_t)(in.end - in.at), commas = 0, openings = 0;
	bool no_memory;
	json_t *part;
	int code;

	for (const uint8_t *p = in.at; p < in.end; p++) {
		commas += *p == ',' || *p == ':';
		openings += *p == '[' || *p == '{';
	}
	if (gt_charge_names(r, GT_NAME_MEMORY_META(bytes, commas, openings)))
		return -E2BIG;
	part = gt_json_load((const char *)in.at, bytes, JSON_REJECT_DUPLICATES, &no_memory);
	if (!json_is_object(part)) {
		json_decref(part);
		return no_memory ? -ENOMEM : -EBADMSG;
	}
	if (!seg->json)
		seg->json = json_object();
	code = json_object_update(seg->json, part) ? -ENOMEM : 0;
	json_decref(part);
	return code;
}

static int get_dict(struct gt_reader *r, struct gt_seg *seg, const struct gt_wire_entry *e,
	struct gt_loader *l, struct gt_err *err)
{
	struct gt_span in;
	uint32_t n = e->head.rows;
	int code = gt_load(seg, e, l, &in, err);

	if (code)
		return code;
	switch (e->head.kind) {
	case GT_W_META: code = get_meta(r, seg, in); break;
	case GT_W_STRINGS: code = get_strings(r, seg, in, n); break;
	case GT_W_TYPES: code = get_types(r, seg, in, n); break;
	case GT_W_TRACKS: code = get_tracks(r, seg, in, n); break;
	case GT_W_NAMES: code = get_names(seg, in, n); break;
	case GT_W_STACKS: code = get_stacks(r, seg, in, n); break;
	case GT_W_ANCHORS: code = get_anchors(seg, in, n); break;
	case GT_W_FRAMES: code = get_frames(r, seg, in, n); break;
	case GT_W_MODULES: code = get_modules(r, seg, in, n); break;
	case GT_W_INLINED: code = get_inlined(r, seg, in, n); break;
	}
	if (code == -ENOMEM)
		return gt_err_set(err, code, "out of memory");
	if (code == -E2BIG)
		return damaged(err, seg, e, "more names and metadata than a trace may have");
	return code ? damaged(err, seg, e, "a block of names or metadata is damaged or incomplete")
		    : 0;
}

static char *copy_text(json_t *json, const char *key)
{
	const char *s = json_string_value(json_object_get(json, key));

	return strdup(s ? s : "");
}

/* Converts strings back to offsets, since new text may move the old, and parses the
 * metadata again, to merge new ones. */
static int reopen_dicts(struct gt_seg *seg, struct gt_err *err)
{
	bool no_memory;

	gt_seg_drop_names(seg);
	for (uint32_t i = 0; i < seg->pub.nstrings; i++)
		seg->strings[i].ptr = (const char *)(uintptr_t)(seg->strings[i].ptr -
			(const char *)seg->text.data);
	seg->json = gt_json_load(seg->meta, strlen(seg->meta), 0, &no_memory);
	free(seg->meta);
	free(seg->host);
	free(seg->boot);
	seg->meta = seg->host = seg->boot = NULL;
	return seg->json ? 0 : gt_err_set(err, -ENOMEM, "out of memory");
}

static int finish_dicts(struct gt_reader *r, struct gt_seg *seg, struct gt_err *err)
{
	json_t *json = seg->json ? seg->json : json_object();

	seg->json = NULL;
	for (uint32_t i = 0; i < seg->pub.nstrings; i++)
		seg->strings[i].ptr = (const char *)seg->text.data + (uintptr_t)seg->strings[i].ptr;
	seg->meta = gt_json_dump(json, 0);
	seg->host = copy_text(json, "host");
	seg->boot = copy_text(json, "boot_id");
	seg->pub.simulated = json_is_true(json_object_get(json, "simulated"));
	json_decref(json);
	if (!seg->meta || !seg->host || !seg->boot)
		return gt_err_set(err, -ENOMEM, "out of memory");
	seg->pub.meta_json = seg->meta;
	seg->pub.host = seg->host;
	seg->pub.boot_id = seg->boot;
	seg->pub.strings = seg->strings;
	seg->pub.types = seg->types;
	seg->pub.tracks = seg->tracks;
	free(seg->lone_contexts); /* tracks may have come */
	seg->lone_contexts = gt_lone_contexts(&seg->pub);
	if (!seg->lone_contexts)
		return gt_err_set(err, -ENOMEM, "out of memory");
	seg->pub.lone_contexts = seg->lone_contexts;
	seg->pub.stacks = seg->stacks;
	seg->pub.frames = seg->frames;
	seg->pub.frame_files = seg->frame_files;
	seg->pub.modules = seg->modules;
	seg->pub.anchors = seg->anchors;
	gt_seg_add_names(r, seg);
	return 0;
}

static bool is_names(unsigned kind)
{
	return kind < GT_W_ROWS || (kind >= GT_W_FRAMES && kind <= GT_W_INLINED);
}

int gt_read_dicts(struct gt_reader *r, struct gt_seg *seg, uint32_t from, struct gt_err *err)
{
	struct gt_index_walk w = { .next = from };
	const struct gt_wire_entry *e;
	struct gt_loader l = { 0 };
	int code = seg->meta ? reopen_dicts(seg, err) : 0, more = 1;

	while (!code && (more = gt_index_next(&seg->index, &w, &e, err)) > 0)
		if (is_names(e->head.kind))
			code = get_dict(r, seg, e, &l, err);
	code = more < 0 ? more : code;
	gt_loader_release(&l);
	return code ? code : finish_dicts(r, seg, err);
}

void gt_free_dicts(struct gt_seg *seg)
{
	gt_seg_drop_names(seg);
	for (uint32_t i = 0; i < seg->pub.ntypes; i++)
		free((void *)seg->types[i].fields);
	for (uint32_t i = 0; i < seg->pub.nstacks; i++)
		free((void *)seg->stacks[i].frames);
	if (seg->json)
		json_decref(seg->json);
	gt_buf_release(&seg->text);
	free(seg->strings);
	free(seg->types);
	free(seg->tracks);
	free(seg->lone_contexts);
	free(seg->stacks);
	gt_map_release(&seg->pub.frame_map);
	free(seg->frames);
	gt_frame_files_free(seg->frame_files);
	gt_inlined_table_release(&seg->inlined);
	free(seg->modules);
	free(seg->anchors);
	free(seg->meta);
	free(seg->host);
	free(seg->boot);
}

/* ---- accessors of a segment ---- */

const char *gt_str(const struct gt_segment *seg, uint32_t id)
{
	return id < seg->nstrings ? seg->strings[id].ptr : "?";
}

const struct gt_frame *gt_segment_frame(const struct gt_segment *seg, uint32_t text)
{
	uint32_t i = gt_map_find_item(
		&seg->frame_map, seg->frames, sizeof(*seg->frames), &text, sizeof(text));

	return i == GT_NONE ? NULL : &seg->frames[i].frame;
}

const char *gt_type_name(const struct gt_segment *seg, uint32_t type)
{
	return type < seg->ntypes ? gt_str(seg, seg->types[type].name) : "?";
}

uint32_t gt_track_above(const struct gt_segment *seg, uint32_t track, enum gt_track_kind kind)
{
	while (track < seg->ntracks && seg->tracks[track].kind != kind)
		track = seg->tracks[track].parent;
	return track < seg->ntracks ? track : GT_NONE;
}

static bool is_on_device(const struct gt_segment *seg, const struct gt_track *t)
{
	return (t->kind == GT_TRACK_CONTEXT || t->kind == GT_TRACK_STREAM) &&
		t->parent < seg->ntracks && seg->tracks[t->parent].kind == GT_TRACK_DEVICE;
}

bool *gt_lone_contexts(const struct gt_segment *seg)
{
	/* contexts and streams right below each track */
	uint32_t *below = calloc(seg->ntracks + 1ul, sizeof(*below));
	bool *lone = calloc(seg->ntracks + 1ul, sizeof(*lone));

	for (uint32_t t = 0; below && t < seg->ntracks; t++)
		if (is_on_device(seg, &seg->tracks[t]))
			below[seg->tracks[t].parent]++;
	for (uint32_t t = 0; below && lone && t < seg->ntracks; t++)
		lone[t] = seg->tracks[t].kind == GT_TRACK_CONTEXT &&
			is_on_device(seg, &seg->tracks[t]) && below[seg->tracks[t].parent] == 1;
	if (!below) {
		free(lone);
		lone = NULL;
	}
	free(below);
	return lone;
}

bool gt_same_clock(const struct gt_segment *a, const struct gt_segment *b)
{
	return a == b ||
		(a->boot_id && b->boot_id && a->boot_id[0] && !strcmp(a->boot_id, b->boot_id));
}
