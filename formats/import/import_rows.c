/* Converts lines of other tools' files to rows, with three dictionaries: names (with
 * the operation of calls of that name), schemas (the keys of a line and the kinds of
 * their values; import_rows_args.c), and types, one per (name, schema of the begin, schema of the
 * end). A waiting half has the number of its schema; its type is known when both halves are. */
#include "formats/import/import_rows_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include "formats/import/import_roles.h"

/* open calls written in each epoch; the last epoch has all of them */
#define OPEN_PER_EPOCH 256

int gt_rows_no_memory(struct gt_err *err)
{
	return gt_err_set(err, -ENOMEM, "out of memory (import)");
}

/* ---- strings and names ---- */

uint32_t gt_rows_intern(struct gt_import_rows *r, const char *s, size_t len, size_t most)
{
	uint32_t id;

	if (r->text_bytes > most)
		return GT_NONE;
	id = gt_writer_string_n(r->w, s, len);
	if (id != GT_NONE && id >= r->nstrings) { /* ids are dense: this one is new */
		r->nstrings = id + 1;
		r->text_bytes += (len < GT_STRING_MAX ? len : GT_STRING_MAX) + 64;
	}
	return id;
}

static uint32_t quick_hash(const char *s, size_t len)
{
	uint64_t a = 0, b = 0;

	if (len >= 8) {
		memcpy(&a, s, 8);
		memcpy(&b, s + len - 8, 8);
	} else {
		memcpy(&a, s, len);
	}
	return (uint32_t)((a + b * 31 + len) * 0x9e3779b97f4a7c15ULL >> 40);
}

struct name_key {
	const struct gt_import_rows *r;
	const char *text;
	size_t len;
	uint32_t group;
};

static bool is_name(const struct gt_import_rows *r, const struct gt_import_name *n,
	const char *text, size_t len, uint32_t group)
{
	return n->len == len && n->group == group && !memcmp(r->text.data + n->at, text, len);
}

static bool same_name(const void *arg, uint32_t value, const void *key, size_t len)
{
	const struct name_key *k = key;

	return is_name(arg, &((const struct gt_import_rows *)arg)->names[value], k->text, k->len,
		k->group);
}

static int add_name(struct gt_import_rows *r, const struct name_key *k, size_t whole, uint64_t hash,
	struct gt_err *err)
{
	struct gt_import_name n = {
		.group = k->group, .plain_type = GT_NONE, .at = r->text.len, .len = k->len
	};

	n.type.name = gt_rows_intern(
		r, k->text, whole, k->group == GROUP_OF_KEYS ? ARGS_TEXT : GT_ROWS_TEXT);
	if (n.type.name == GT_NONE)
		return gt_err_set(
			err, -E2BIG, "more than %u MiB of different names", GT_ROWS_TEXT >> 20);
	gt_buf_add(&r->text, k->text, k->len);
	gt_buf_byte(&r->text, 0);
	r->text_bytes += k->len + sizeof(n);
	if (r->text.failed || gt_grow(&r->names, &r->names_cap, r->nnames + 1, sizeof(n)) ||
		gt_map_add(&r->name_map, hash, (uint32_t)r->nnames))
		return gt_rows_no_memory(err);
	if (k->group != GROUP_OF_KEYS)
		r->config.classify((const char *)r->text.data + n.at, k->group, &n.type);
	r->names[r->nnames++] = n;
	return 0;
}

int64_t gt_rows_name(struct gt_import_rows *r, const char *text, size_t whole, unsigned group,
	struct gt_err *err)
{
	/* the writer cuts longer strings */
	size_t len = whole < GT_STRING_MAX ? whole : GT_STRING_MAX;
	uint32_t *cached = &r->name_cache[quick_hash(text, len) % NAME_CACHE], found;
	struct name_key k = { r, text, len, group };
	uint64_t hash;
	int ret;

	if (*cached && is_name(r, &r->names[*cached - 1], text, len, group))
		return *cached - 1;
	hash = gt_hash(text, len) + group;
	found = gt_map_get(&r->name_map, hash, same_name, r, &k, sizeof(k));
	if (found == UINT32_MAX) {
		found = (uint32_t)r->nnames;
		ret = add_name(r, &k, whole, hash, err);
		if (ret)
			return ret;
	}
	*cached = found + 1;
	return found;
}

int64_t gt_rows_regroup(struct gt_import_rows *r, uint32_t name, unsigned group, struct gt_err *err)
{
	char *text;
	int64_t n = r->names[name].group == group ? (int64_t)name : -1;

	if (n >= 0)
		return n;
	text = malloc(r->names[name].len + 1); /* adding a name may move the text of names */
	if (!text)
		return gt_rows_no_memory(err);
	memcpy(text, r->text.data + r->names[name].at, r->names[name].len);
	n = gt_rows_name(r, text, r->names[name].len, group, err);
	free(text);
	return n;
}

/* ---- tracks ---- */

static int64_t process(struct gt_import_rows *r, int64_t pid, uint32_t name, struct gt_err *err)
{
	uint32_t found = gt_map_find_item(
		&r->process_map, r->processes, sizeof(*r->processes), &pid, sizeof(pid));
	struct gt_import_process p = { .pid = pid };
	struct gt_track t = { .parent = GT_NONE,
		.name = name,
		.source = r->source,
		.kind = GT_TRACK_PROCESS,
		.id = pid,
		.ns_id = pid };

	if (found != UINT32_MAX)
		return found;
	if (!pid)
		t.name = gt_writer_string(r->w, r->config.importer);
	p.track = gt_writer_track(r->w, &t);
	found = p.track == GT_NONE ? GT_NONE
				   : gt_map_add_item(&r->process_map, &r->processes, &r->nprocesses,
					     &r->processes_cap, sizeof(p), &p, sizeof(pid));
	return found == GT_NONE ? gt_rows_no_memory(err) : (int64_t)found;
}

int gt_rows_process(
	struct gt_import_rows *r, int64_t pid, const char *name, size_t len, struct gt_err *err)
{
	int64_t n = process(r, pid, gt_rows_intern(r, name, len, GT_ROWS_TEXT), err);

	return n < 0 ? (int)n : 0;
}

/* Adds a track. Its number, or negative. */
static int64_t new_place(struct gt_import_rows *r, const struct gt_rows_place *at, const char *word,
	struct gt_err *err)
{
	int64_t p = at->pid || at->kind == GT_TRACK_THREAD ? process(r, at->pid, GT_NONE, err)
							   : GT_NONE;
	struct gt_import_thread t = { .at = *at, .process = (uint32_t)p, .word = word };
	uint32_t n;

	if (p < 0)
		return p;
	if (r->nthreads >= GT_ROWS_TRACKS)
		return gt_err_set(err, -E2BIG, "more than %u threads", GT_ROWS_TRACKS);
	memset(t.lane, 0xff, sizeof(t.lane)); /* GT_NONE */
	n = gt_map_add_item(&r->thread_map, &r->threads, &r->nthreads, &r->threads_cap, sizeof(t),
		&t, sizeof(t.at));
	return n == GT_NONE ? gt_rows_no_memory(err) : (int64_t)n;
}

static int64_t find_place(struct gt_import_rows *r, const struct gt_rows_place *at,
	const char *word, struct gt_err *err)
{
	uint32_t found =
		gt_map_find_item(&r->thread_map, r->threads, sizeof(*r->threads), at, sizeof(*at));
	int64_t n = found == GT_NONE ? new_place(r, at, word, err) : found;

	if (n >= 0)
		r->last_thread = (uint32_t)n;
	return n;
}

int64_t gt_rows_place(struct gt_import_rows *r, const struct gt_rows_place *at, struct gt_err *err)
{
	return find_place(r, at, NULL, err);
}

int64_t gt_rows_track(
	struct gt_import_rows *r, int64_t pid, int64_t tid, const char *word, struct gt_err *err)
{
	const struct gt_rows_place *last =
		r->last_thread < r->nthreads ? &r->threads[r->last_thread].at : NULL;
	struct gt_rows_place at;

	if (last && last->id == tid && last->pid == pid && last->kind == GT_TRACK_THREAD)
		return r->last_thread;
	memset(&at, 0, sizeof(at));
	at.pid = pid;
	at.id = tid;
	at.kind = GT_TRACK_THREAD;
	return find_place(r, &at, word, err);
}

static uint32_t lane_track(struct gt_import_rows *r, uint32_t thread, unsigned lane);

/* The parent of a track: its context, device or process. GT_NONE: none, or no memory. */
static uint32_t parent_track(struct gt_import_rows *r, uint32_t thread)
{
	struct gt_rows_place up = r->threads[thread].at;
	uint32_t process = r->threads[thread].process;
	int64_t n;

	if (up.kind != GT_TRACK_STREAM && up.kind != GT_TRACK_CONTEXT &&
		(up.kind != GT_TRACK_CUSTOM || !up.on_device))
		return process == GT_NONE ? GT_NONE : r->processes[process].track;
	up.kind = up.kind == GT_TRACK_STREAM && up.in_context ? GT_TRACK_CONTEXT : GT_TRACK_DEVICE;
	up.id = up.kind == GT_TRACK_CONTEXT ? up.context : up.device;
	up.in_context = false;
	up.context = 0;
	if (up.kind == GT_TRACK_DEVICE) {
		up.on_device = false;
		up.device = 0;
	}
	n = r->threads[thread].at.on_device ? find_place(r, &up, NULL, NULL) : -1;
	if (n >= 0)
		return lane_track(r, (uint32_t)n, 0);
	return process == GT_NONE ? GT_NONE : r->processes[process].track;
}

/* The writer's track for a lane of a thread. GT_NONE: no memory. */
static uint32_t lane_track(struct gt_import_rows *r, uint32_t thread, unsigned lane)
{
	const struct gt_import_thread *th = &r->threads[thread];
	struct gt_track t = { .name = GT_NONE,
		.source = r->source,
		.kind = (uint8_t)th->at.kind,
		.id = th->at.id,
		.ns_id = th->at.id };
	char name[64];

	if (th->lane[lane] != GT_NONE)
		return th->lane[lane];
	if (th->at.kind == GT_TRACK_PROCESS && th->process != GT_NONE)
		return r->processes[th->process].track;
	if (lane)
		snprintf(name, sizeof(name), "%s%soverlap %u", th->word ? th->word : "",
			th->word ? ", " : "", lane);
	else
		snprintf(name, sizeof(name), "%s", th->word ? th->word : "");
	if (name[0])
		t.name = gt_writer_string(r->w, name);
	t.parent = parent_track(r, thread); /* may move the threads */
	return r->threads[thread].lane[lane] = gt_writer_track(r->w, &t);
}

uint32_t gt_rows_track_id(struct gt_import_rows *r, uint32_t track)
{
	return lane_track(r, track, 0);
}

/* ---- types ---- */

static uint32_t make_type(struct gt_import_rows *r, const struct gt_import_name *name,
	const struct gt_import_schema *begin, const struct gt_import_schema *end)
{
	struct gt_type type = name->type;
	struct gt_field fields[GT_FIELDS_MAX];
	struct gt_api_field known[GT_FIELDS_MAX];
	unsigned n = begin->n + end->n, nknown = 0;
	uint32_t api = gt_api_find((const char *)r->text.data + name->at);

	if (api != GT_NONE)
		nknown = gt_api_fields(&gt_api[api], known);
	type.nfields = (uint8_t)(n < GT_FIELDS_MAX ? n : GT_FIELDS_MAX);
	type.fields = fields;
	for (unsigned i = 0; i < type.nfields; i++) {
		struct gt_import_arg arg = i < begin->n ? begin->args[i] : end->args[i - begin->n];
		const struct gt_import_name *key = &r->names[arg.name];

		fields[i].name = key->type.name;
		fields[i].kind = (uint8_t)arg.kind;
		fields[i].role = r->config.role
			? r->config.role(
				  name->group, (const char *)r->text.data + key->at, arg.kind)
			: GT_R_NONE;
		if (fields[i].role == GT_R_NONE)
			fields[i].role = gt_import_role((const char *)r->text.data + key->at,
				fields[i].kind, known, nknown);
	}
	r->text_bytes += n * sizeof(*fields) + sizeof(type);
	return gt_writer_type(r->w, &type);
}

/* The type of calls of this name with these schemas of begin and end. GT_NONE: no memory. */
static uint32_t type_of(struct gt_import_rows *r, uint32_t name, uint32_t begin, uint32_t end)
{
	struct gt_import_shape shape = { name, begin, end, GT_NONE };
	const size_t key = offsetof(struct gt_import_shape, type);
	uint32_t found;

	if (!begin && !end) {
		if (r->names[name].plain_type == GT_NONE)
			r->names[name].plain_type =
				make_type(r, &r->names[name], &r->schemas[0], &r->schemas[0]);
		return r->names[name].plain_type;
	}
	/* most names have one shape */
	found = r->names[name].shape;
	if (found < r->nshapes && !memcmp(&r->shapes[found], &shape, key))
		return r->shapes[found].type;
	found = gt_map_find_item(&r->shape_map, r->shapes, sizeof(shape), &shape, key);
	if (found != GT_NONE) {
		r->names[name].shape = found;
		return r->shapes[found].type;
	}
	shape.type = make_type(r, &r->names[name], &r->schemas[begin], &r->schemas[end]);
	found = shape.type == GT_NONE ? GT_NONE
				      : gt_map_add_item(&r->shape_map, &r->shapes, &r->nshapes,
						&r->shapes_cap, sizeof(shape), &shape, key);
	return found == GT_NONE ? GT_NONE : shape.type;
}

/* ---- rows ---- */

static int write_row(struct gt_import_rows *r, enum gt_kind kind, uint32_t track,
	const struct gt_row *row, const uint64_t *args, struct gt_err *err)
{
	int e;

	if (track == GT_NONE || row->type == GT_NONE)
		return gt_rows_no_memory(err);
	if (kind == GT_OPEN)
		return gt_writer_open_call(r->w, track, row, args, err);
	e = gt_writer_row(r->w, kind, track, row, args, err);
	if (e || ++r->rows % 256 || !gt_writer_epoch_is_due(r->w, r->now))
		return e;
	e = gt_pair_each_open(r->pair, OPEN_PER_EPOCH, err);
	return e ? e : gt_writer_epoch(r->w, r->now, err);
}

static int on_call(void *arg, const struct gt_half *b, const struct gt_half *e, unsigned lane,
	uint8_t depth, struct gt_err *err)
{
	struct gt_import_rows *r = arg;
	struct gt_row row = { .start = b->time, .end = e->time, .ret = e->ret, .depth = depth };
	const uint64_t *args = b->nargs ? b->args : e->args;
	uint64_t both[2 * GT_FIELDS_MAX];
	unsigned n = b->nargs + e->nargs;

	if (b->nargs && e->nargs) {
		memcpy(both, b->args, b->nargs * sizeof(*both));
		memcpy(both + b->nargs, e->args, e->nargs * sizeof(*both));
		args = both;
	}
	row.type = type_of(r, b->name, b->what, e->what);
	row.nargs = (uint8_t)(n < GT_FIELDS_MAX ? n : GT_FIELDS_MAX);
	if (lane == GT_PAIR_LANES)
		return write_row(r, GT_SPAN, lane_track(r, b->track, 0), &row, args, err);
	return write_row(r, GT_CALL, lane_track(r, b->track, lane), &row, args, err);
}

static int on_unmatched(void *arg, const struct gt_half *h, bool is_end, struct gt_err *err)
{
	struct gt_import_rows *r = arg;
	struct gt_row row = {
		.start = h->time, .end = h->time, .ret = is_end, .nargs = (uint8_t)h->nargs
	};

	row.type = type_of(r, h->name, is_end ? 0 : h->what, is_end ? h->what : 0);
	return write_row(r, GT_UNMATCHED, lane_track(r, h->track, 0), &row, h->args, err);
}

static int on_open(void *arg, const struct gt_half *h, uint8_t depth, struct gt_err *err)
{
	struct gt_import_rows *r = arg;
	struct gt_row row = {
		.start = h->time, .end = h->time, .depth = depth, .nargs = (uint8_t)h->nargs
	};

	row.type = type_of(r, h->name, h->what, 0);
	return write_row(r, GT_OPEN, lane_track(r, h->track, 0), &row, h->args, err);
}

void gt_rows_note_line(struct gt_import_rows *r, int64_t time)
{
	r->backwards += time < r->now;
	r->now = time > r->now ? time : r->now;
}

static int make_half(struct gt_import_rows *r, struct gt_half *h, struct gt_err *err)
{
	int64_t what = gt_rows_schema(r, err);

	h->scope = r->config.mode == GT_PAIR_NESTED ? h->track : r->threads[h->track].process;
	h->what = (uint32_t)what;
	h->nargs = r->n;
	h->args = r->values;
	if (!r->config.notes_lines)
		gt_rows_note_line(r, h->time);
	return what < 0 ? (int)what : 0;
}

int gt_rows_begin(struct gt_import_rows *r, uint32_t track, uint32_t name, int64_t time,
	uint64_t key, struct gt_err *err)
{
	struct gt_half h = { .time = time, .key = key, .track = track, .name = name };
	int e = make_half(r, &h, err);

	return e ? e : gt_pair_begin(r->pair, &h, err);
}

int gt_rows_end(struct gt_import_rows *r, uint32_t track, uint32_t name, int64_t time, uint64_t key,
	int32_t ret, struct gt_err *err)
{
	struct gt_half h = { .time = time, .key = key, .track = track, .name = name, .ret = ret };
	int e = make_half(r, &h, err);

	return e ? e : gt_pair_end(r->pair, &h, err);
}

bool gt_rows_is_open(const struct gt_import_rows *r, uint32_t track, uint32_t name)
{
	return gt_pair_is_open(r->pair, name, track);
}

int gt_rows_complete(struct gt_import_rows *r, enum gt_kind kind, uint32_t track, uint32_t name,
	int64_t start, int64_t end, struct gt_err *err)
{
	gt_rows_note_line(r, end);
	return gt_rows_row(
		r, kind, track, name, &(struct gt_row){ .start = start, .end = end }, err);
}

int gt_rows_row(struct gt_import_rows *r, enum gt_kind kind, uint32_t track, uint32_t name,
	const struct gt_row *like, struct gt_err *err)
{
	struct gt_row row = *like;
	int64_t what = gt_rows_schema(r, err);

	if (what < 0)
		return (int)what;
	if (row.start > r->now)
		r->now = row.start;
	row.type = type_of(r, name, (uint32_t)what, 0);
	row.nargs = (uint8_t)r->n;
	return write_row(r, kind, lane_track(r, track, 0), &row, r->values, err);
}

static const uint64_t *find_arg(const struct gt_import_rows *r, const char *key, unsigned kind)
{
	for (unsigned i = 0; i < r->n; i++)
		if (r->args[i].kind == kind &&
			!strcmp((const char *)r->text.data + r->names[r->args[i].name].at, key))
			return &r->values[i];
	return NULL;
}

int gt_rows_loss(struct gt_import_rows *r, uint32_t track, bool everywhere, uint32_t name,
	int64_t from, struct gt_err *err)
{
	const uint64_t *until = find_arg(r, "until", GT_F_F64),
		       *count = find_arg(r, "count", GT_F_U64);
	uint32_t at = everywhere ? GT_NONE : lane_track(r, track, 0);
	double seconds;
	int e;

	if (!until || strcmp((const char *)r->text.data + r->names[name].at, "LOST"))
		return 0;
	memcpy(&seconds, until, sizeof(seconds));
	if (!(seconds * 1e9 >= (double)from && seconds * 1e9 <= (double)GT_ROWS_TIME_MAX))
		return 0;
	gt_rows_note_line(r, from);
	e = gt_writer_loss(r->w, everywhere ? GT_SCOPE_ALL : GT_SCOPE_TRACK, at, from,
		llround(seconds * 1e9), count ? *count : GT_LOST_UNKNOWN, err);
	return e ? e : 1;
}

/* ---- life ---- */

struct gt_import_rows *gt_rows_new(
	const struct gt_rows_config *config, struct gt_writer *w, struct gt_err *err)
{
	static const struct gt_pair_sink sink = { on_call, on_unmatched, on_open };
	struct gt_import_rows *r = calloc(1, sizeof(*r));
	char source[64];

	if (!r) {
		gt_rows_no_memory(err);
		return NULL;
	}
	r->config = *config;
	r->w = w;
	r->now = INT64_MIN;
	r->pair = gt_pair_new(config->mode, &sink, r, err);
	if (!r->pair || gt_grow(&r->schemas, &r->schemas_cap, 1, sizeof(*r->schemas))) {
		gt_rows_no_memory(err);
		gt_rows_free(r);
		return NULL;
	}
	r->schemas[r->nschemas++] = (struct gt_import_schema){ 0 };
	snprintf(source, sizeof(source), "import %s", config->importer);
	r->source = gt_writer_string(r->w, source);
	return r;
}

static void release(struct gt_import_rows *r)
{
	struct gt_map *maps[] = { &r->name_map, &r->schema_map, &r->shape_map, &r->process_map,
		&r->thread_map, &r->stack_map };

	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
		gt_map_release(maps[i]);
	for (size_t i = 0; i < r->nschemas; i++)
		free(r->schemas[i].args);
	gt_pair_free(r->pair);
	gt_buf_release(&r->text);
	free(r->names);
	free(r->schemas);
	free(r->shapes);
	free(r->processes);
	free(r->threads);
	free(r->stacks);
	free(r);
}

void gt_rows_free(struct gt_import_rows *r)
{
	if (r)
		release(r);
}

int gt_rows_finish(struct gt_import_rows *r, bool truncated, struct gt_err *err)
{
	char json[300];
	int e = gt_pair_finish(r->pair, err);

	if (!e)
		e = gt_pair_each_open(r->pair, SIZE_MAX, err);
	if (!e && r->now != INT64_MIN)
		e = gt_writer_epoch(r->w, r->now, err);
	if (e)
		return e;
	snprintf(json, sizeof(json),
		"{\"imported_from\":\"%s\",\"unmatched\":%" PRIu64 ",\"truncated\":%s,"
		"\"lines_back_in_time\":%" PRIu64 ",\"arguments_left_out\":%" PRIu64 "}",
		r->config.importer, gt_pair_count_unmatched(r->pair), truncated ? "true" : "false",
		r->backwards, r->args_left_out);
	return gt_writer_meta(r->w, json, err);
}
