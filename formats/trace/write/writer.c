/* The writer: rows collect per track; the end of an epoch, or a full block, packs them. The order
 * in the file is:
 *
 *      names (strings, types, tracks) -> rows -> summaries -> open calls (end of the epoch)
 *
 * Rows of sorted input come in the order of their ends. So a parent comes after its children and is
 * moved before them, which copies each child once per parent. A call that began before its epoch
 * goes to a buffer of its own ("late"): there is at most one per nesting depth and epoch, so all
 * blocks of an epoch stay inside the epoch, except one small one.
 *
 * The writer changes no byte that is written. After a crash, the reader finds the complete blocks
 * by their heads.
 */
#include "formats/trace/write/writer_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <jansson.h>
#include "formats/base/alloc_failure.h"
#include "formats/base/sorted.h"
#include "formats/io/json_build.h"
#include "formats/trace/read/reader.h"
#include "formats/trace/summary.h"

/* entries that fit into a frame */
#define INDEX_ENTRIES_MAX                                                                          \
	((UINT32_MAX - sizeof(struct gt_wire_index) - sizeof(uint32_t)) /                          \
		sizeof(struct gt_wire_entry))
#define INDEX_PIECE 65536u /* bytes of it written at a time */
#define EPOCH_NS 1000000000ll
#define EPOCH_BYTES (8u << 20) /* unpacked */
/* bytes of sorted rows: beyond it, all tracks are packed before the epoch closes. Buffers may be
 * half empty, and the writer needs other memory, too */
#define SORTED_MEMORY_MAX (16u << 20)

/* ---- rows in memory ---- */

static struct gt_row_buffer *buffer_of(struct gt_writer *w, unsigned which, uint32_t track)
{
	struct gt_row_buffers *buffers = &w->buffers[which];
	/* slot 0 is for GT_NONE */
	size_t slot = (size_t)track + 1, old = buffers->n;

	if (track == GT_NONE)
		slot = 0;
	if (slot >= buffers->n) {
		if (gt_grow(&buffers->by_track, &buffers->n, slot + 1, sizeof(*buffers->by_track)))
			return NULL;
		memset(buffers->by_track + old, 0, (buffers->n - old) * sizeof(*buffers->by_track));
		w->latest = NULL;
	}
	if (!buffers->by_track[slot].n) {
		if (gt_grow(&buffers->touched, &buffers->touched_cap, buffers->ntouched + 1,
			    sizeof(*buffers->touched)))
			return NULL;
		buffers->touched[buffers->ntouched++] = (uint32_t)slot;
	}
	return &buffers->by_track[slot];
}

/* The position at which a new call is inserted: in front of its descendants (deeper calls that
 * began later and ended earlier). */
static size_t place_of(const struct gt_row_buffer *s, const struct gt_row *row)
{
	size_t i = s->n;

	while (i && s->rows[i - 1].start >= row->start && s->rows[i - 1].depth > row->depth)
		i--;
	return i;
}

/* Moves a buffer that will fill a block to the spare memory. Not earlier: many half
 * empty buffers would need much memory. */
static void use_spare(struct gt_writer *w, struct gt_row_buffer *s)
{
	struct gt_row_buffer small = *s;

	if (s->n < GT_BLOCK_ROWS / 2 || w->spare.cap <= s->n || w->spare.args_cap < s->nargs)
		return;
	memcpy(w->spare.rows, s->rows, s->n * sizeof(*s->rows));
	if (s->nargs)
		memcpy(w->spare.args, s->args, s->nargs * sizeof(*s->args));
	s->rows = w->spare.rows;
	s->args = w->spare.args;
	s->cap = w->spare.cap;
	s->args_cap = w->spare.args_cap;
	memset(&w->spare, 0, sizeof(w->spare));
	free(small.rows);
	free(small.args);
}

static int add_row(struct gt_writer *w, unsigned which, uint32_t track, const struct gt_row *row,
	const uint64_t *args, struct gt_err *err)
{
	struct gt_row_buffer *s = buffer_of(w, which, track);
	size_t at;

	if (s && s->n == s->cap)
		use_spare(w, s);
	if (!s || gt_grow(&s->rows, &s->cap, s->n + 1, sizeof(*s->rows)) ||
		(row->nargs && gt_grow(&s->args, &s->args_cap, s->nargs + row->nargs, 8)))
		return gt_blocks_fail(w, err, -ENOMEM, "cannot store a row");
	at = w->sorted && (which == GT_CALL || which == GT_LATE) ? place_of(s, row) : s->n;
	if (at && s->rows[at - 1].start > row->start)
		s->unsorted = true;
	if (at < s->n)
		memmove(s->rows + at + 1, s->rows + at, (s->n - at) * sizeof(*s->rows));
	s->rows[at] = (struct gt_writer_row){ row->start, row->end, row->type, row->ret,
		(uint32_t)s->nargs, row->depth, row->nargs, { 0, 0 } };
	for (unsigned i = 0; i < row->nargs; i++)
		s->args[s->nargs++] = args[i];
	s->n++;
	w->dirty = true;
	w->row_bytes += sizeof(*s->rows) + row->nargs * 8u;
	return 0;
}

/* ---- the interface ---- */

const char *gt_writer_text(const struct gt_writer *w, uint32_t string)
{
	return string < w->dict.nstrings
		? (const char *)w->dict.text.data + w->dict.strings[string].at
		: "?";
}

bool gt_writer_has_name_space(const struct gt_writer *w)
{
	return w->dict.memory < GT_NAME_MEMORY_MAX / 3 * 2;
}

const struct gt_type *gt_writer_type_get(const struct gt_writer *w, uint32_t type)
{
	return type < w->dict.ntypes ? &w->dict.types[type] : NULL;
}

/* May a row with these times be added? */
static int check_times(const struct gt_writer *w, int64_t start, int64_t end, struct gt_err *err)
{
	int code = gt_blocks_check(w, err);

	if (!code && end < start)
		code = gt_err_set(err, -EINVAL, "a row ends before it starts");
	if (!code && (start <= -GT_TIME_MAX || end >= GT_TIME_MAX))
		code = gt_err_set(err, -ERANGE, "a time lies more than 73 years from 0");
	return code;
}

static int check_row(struct gt_writer *w, enum gt_kind kind, uint32_t track,
	const struct gt_row *row, struct gt_err *err)
{
	int code = check_times(w, row->start, row->end, err);
	unsigned nfields;

	if (code)
		return code;
	if (row->type >= w->dict.ntypes || track >= w->dict.ntracks)
		return gt_err_set(err, -EINVAL, "a row has no type or no track (too many names?)");
	nfields = w->dict.types[row->type].nfields;
	if (kind == GT_OPEN ? row->nargs > nfields : row->nargs != nfields)
		return gt_err_set(
			err, -EINVAL, "a row has %u arguments, its type %u", row->nargs, nfields);
	return 0;
}

static void note_times(struct gt_writer *w, int64_t start, int64_t end)
{
	w->stats.min_start = start < w->stats.min_start ? start : w->stats.min_start;
	w->stats.max_end = end > w->stats.max_end ? end : w->stats.max_end;
	w->newest = end > w->newest ? end : w->newest;
	if (w->epoch_begin == INT64_MIN)
		w->epoch_begin = start;
}

/* The fast path for nearly all rows: calls on the track of the last one, each after
 * the one before, while the buffer has memory. They need none of the other steps of
 * gt_writer_row. The last row of a block takes the slow path, which writes the block.
 * */
void gt_writer_reserve(struct gt_writer *w, uint32_t track, struct gt_writer_space *space)
{
	struct gt_row_buffer *s = w->latest;
	size_t most = s && s->cap < GT_BLOCK_ROWS ? s->cap : GT_BLOCK_ROWS - 1;

	memset(space, 0, sizeof(*space));
	/* a buffer of rows out of order may hold more than a block */
	if (!s || w->failed || track != w->latest_track || !s->n || s->n >= most)
		return;
	space->nrows = most - s->n;
	space->nvalues = s->args_cap - s->nargs;
	space->rows = s->rows + s->n;
	space->values = space->nvalues ? s->args + s->nargs : NULL;
	space->first = (uint32_t)s->nargs;
	space->after = s->rows[s->n - 1].end;
}

void gt_writer_commit(struct gt_writer *w, size_t nrows, size_t nvalues, int64_t end)
{
	if (!nrows)
		return;
	w->latest->n += nrows;
	w->latest->nargs += nvalues;
	w->row_bytes += nrows * sizeof(struct gt_writer_row) + nvalues * 8;
	w->stats.rows[GT_CALL] += nrows;
	if (end > w->newest)
		w->newest = w->stats.max_end = end;
}

static inline bool add_row_fast(
	struct gt_writer *w, uint32_t track, const struct gt_row *row, const uint64_t *args)
{
	struct gt_writer_space space;

	gt_writer_reserve(w, track, &space);
	if (!space.nrows || space.nvalues < row->nargs || row->type >= w->dict.ntypes ||
		row->nargs != w->dict.types[row->type].nfields || row->start < space.after ||
		row->end < row->start || row->end >= GT_TIME_MAX)
		return false;
	*space.rows = (struct gt_writer_row){ row->start, row->end, row->type, row->ret,
		space.first, row->depth, row->nargs, { 0, 0 } };
	for (unsigned i = 0; i < row->nargs; i++)
		space.values[i] = args[i];
	gt_writer_commit(w, 1, row->nargs, row->end);
	return true;
}

/* Writes all rows in memory as blocks, except open calls, which end an epoch. */
static int put_all_rows(struct gt_writer *w, struct gt_err *err)
{
	int code = gt_blocks_dict(w, err);

	if (!code)
		code = gt_blocks_kind(w, &w->buffers[GT_LATE], GT_CALL, err);
	for (unsigned k = GT_CALL; !code && k < GT_KINDS; k++)
		if (k != GT_OPEN)
			code = gt_blocks_kind(w, &w->buffers[k], (enum gt_kind)k, err);
	return code;
}

int gt_writer_row(struct gt_writer *w, enum gt_kind kind, uint32_t track, const struct gt_row *row,
	const uint64_t *args, struct gt_err *err)
{
	unsigned which = kind;
	struct gt_row_buffer *s;
	int code;

	if (kind == GT_CALL && add_row_fast(w, track, row, args))
		return 0;
	if (kind < GT_CALL || kind >= GT_LOST || kind == GT_OPEN)
		return gt_err_set(err, -EINVAL, "a row of this kind cannot be written");
	if ((code = check_row(w, kind, track, row, err)))
		return code;
	note_times(w, row->start, row->end);
	if (w->sorted && kind == GT_CALL && w->epoch && row->start < w->epoch_begin)
		which = GT_LATE;
	if ((code = add_row(w, which, track, row, args, err)))
		return code;
	w->stats.rows[kind]++;
	s = &w->buffers[which].by_track[(size_t)track + 1];
	w->latest = which == GT_CALL && w->sorted ? s : NULL;
	w->latest_track = track;
	if (w->sorted && w->row_bytes >= SORTED_MEMORY_MAX)
		return put_all_rows(w, err);
	if (!w->sorted || s->n < GT_BLOCK_ROWS || s->unsorted)
		return 0;
	if ((code = gt_blocks_dict(w, err)) || (code = gt_blocks_busy(w, kind, track, s, err)))
		return code;
	/* its next row adds it again */
	for (size_t i = w->buffers[which].ntouched; i-- > 0;)
		if (w->buffers[which].touched[i] == track + 1) {
			w->buffers[which].touched[i] =
				w->buffers[which].touched[--w->buffers[which].ntouched];
			break;
		}
	return 0;
}

int gt_writer_open_call(struct gt_writer *w, uint32_t track, const struct gt_row *row,
	const uint64_t *args, struct gt_err *err)
{
	struct gt_row open = *row;
	int code;

	open.end = open.start;
	open.ret = 0;
	if ((code = check_row(w, GT_OPEN, track, &open, err)))
		return code;
	note_times(w, open.start, open.end);
	w->stats.rows[GT_OPEN]++;
	return add_row(w, GT_OPEN, track, &open, args, err);
}

int gt_writer_loss(struct gt_writer *w, enum gt_scope scope, uint32_t track, int64_t from,
	int64_t to, uint64_t count, struct gt_err *err)
{
	struct gt_row row = {
		.start = from, .end = to < from ? from : to, .type = GT_NONE, .nargs = 2
	};
	int code;

	if ((code = check_times(w, row.start, row.end, err)))
		return code;
	if (track != GT_NONE && track >= w->dict.ntracks)
		return gt_err_set(err, -EINVAL, "a loss is on a track that does not exist");
	if ((code = add_row(w, GT_LOST, track, &row, (uint64_t[]){ count, scope }, err)))
		return code;
	note_times(w, row.start, row.end);
	w->stats.rows[GT_LOST]++;
	w->stats.lost += count == GT_LOST_UNKNOWN ? 0 : count;
	return 0;
}

int gt_writer_anchor(struct gt_writer *w, const struct gt_anchor *anchor, struct gt_err *err)
{
	if (gt_grow(&w->anchors, &w->anchors_cap, w->nanchors + 1, sizeof(*w->anchors)))
		return gt_blocks_fail(w, err, -ENOMEM, "cannot store a clock anchor");
	w->anchors[w->nanchors++] = *anchor;
	return 0;
}

static int put_anchors(struct gt_writer *w, struct gt_err *err)
{
	struct gt_wire_block head = {
		.kind = GT_W_ANCHORS, .track = GT_NONE, .rows = (uint32_t)w->nanchors
	};

	if (!w->nanchors)
		return 0;
	gt_buf_clear(&w->content);
	for (size_t i = 0; i < w->nanchors; i++) {
		gt_put_varint(&w->content, gt_zigzag(w->anchors[i].monotonic));
		gt_put_varint(&w->content, gt_zigzag(w->anchors[i].realtime));
		gt_put_varint(&w->content, w->anchors[i].ticks);
		gt_put_varint(&w->content, w->anchors[i].error);
	}
	w->nanchors = 0;
	return gt_blocks_put(w, &head, &w->content, err);
}

int gt_writer_meta(struct gt_writer *w, const char *json, struct gt_err *err)
{
	struct gt_wire_block head = { .kind = GT_W_META, .track = GT_NONE, .rows = 1 };

	if (strlen(json) > GT_BLOCK_BYTES)
		return gt_err_set(err, -E2BIG, "metadata of %zu bytes are too long", strlen(json));
	gt_buf_clear(&w->content);
	gt_buf_str(&w->content, json);
	return gt_blocks_put(w, &head, &w->content, err);
}

static bool is_string_or_none(const struct gt_writer *w, uint32_t string)
{
	return string == GT_NONE || string < w->dict.nstrings;
}

int gt_writer_track_name(struct gt_writer *w, uint32_t track, uint32_t name, struct gt_err *err)
{
	if (track >= w->dict.ntracks || !is_string_or_none(w, name))
		return gt_err_set(err, -EINVAL, "a track or its name does not exist");
	if (w->dict.tracks[track].name == name)
		return 0;
	return gt_dict_rename(&w->dict, track, name)
		? gt_blocks_fail(w, err, -ENOMEM, "cannot name a track")
		: 0;
}

uint32_t gt_writer_string_n(struct gt_writer *w, const char *s, size_t len)
{
	return gt_dict_string(&w->dict, s, len);
}
uint32_t gt_writer_string(struct gt_writer *w, const char *s)
{
	return gt_dict_string(&w->dict, s, strlen(s));
}
const char *gt_writer_string_text(const struct gt_writer *w, uint32_t string)
{
	return string < w->dict.nstrings
		? (const char *)w->dict.text.data + w->dict.strings[string].at
		: "";
}

uint32_t gt_writer_stack(struct gt_writer *w, const uint32_t *frames, size_t n)
{
	return gt_dict_stack(&w->dict, frames, n);
}

size_t gt_writer_stack_frames(const struct gt_writer *w, uint32_t stack, const uint32_t **frames)
{
	if (stack >= w->dict.nstacks)
		return 0;
	*frames = w->dict.stacks[stack].frames;
	return w->dict.stacks[stack].n;
}

bool gt_writer_is_python(const struct gt_writer *w, uint32_t text)
{
	const struct gt_dict *d = &w->dict;
	uint32_t i =
		gt_map_find_item(&d->frame_map, d->frames, sizeof(*d->frames), &text, sizeof(text));

	return i != GT_NONE && d->frames[i].frame.kind == GT_FRAME_PYTHON;
}

static bool has_strings_of(const struct gt_writer *w, uint32_t text, const struct gt_frame *f)
{
	return text < w->dict.nstrings && is_string_or_none(w, f->function) &&
		is_string_or_none(w, f->file) && is_string_or_none(w, f->module);
}

int gt_writer_frame(struct gt_writer *w, uint32_t text, const struct gt_frame *f)
{
	return has_strings_of(w, text, f) ? gt_dict_frame(&w->dict, text, f) : -EINVAL;
}

uint32_t gt_writer_place(struct gt_writer *w, uint32_t text, const struct gt_frame *f)
{
	return has_strings_of(w, text, f) ? gt_dict_place(&w->dict, text, f) : GT_NONE;
}

int gt_writer_inlined(struct gt_writer *w, uint32_t text, const uint32_t *frames, uint32_t n)
{
	bool valid = text < w->dict.nstrings && n && n <= GT_INLINED_MAX;

	for (uint32_t i = 0; valid && i < n; i++)
		valid = frames[i] < w->dict.nstrings;
	return valid ? gt_dict_inlined(&w->dict, text, frames, n) : -EINVAL;
}

uint32_t gt_writer_module(struct gt_writer *w, uint32_t path, const uint8_t *id, size_t n)
{
	struct gt_module m = { .path = path, .nid = (uint32_t)n };

	if (path >= w->dict.nstrings || n > GT_BUILD_ID_MAX)
		return GT_NONE;
	if (n)
		memcpy(m.id, id, n);
	return gt_dict_module(&w->dict, &m);
}

uint32_t gt_writer_next_stack(struct gt_writer *w, const uint32_t *frames, size_t n)
{
	return gt_dict_next_stack(&w->dict, frames, n);
}

const struct gt_frame *gt_writer_frame_at(const struct gt_writer *w, size_t i, uint32_t *text)
{
	if (i >= w->dict.nframes)
		return NULL;
	*text = w->dict.frames[i].text;
	return &w->dict.frames[i].frame;
}

const struct gt_module *gt_writer_module_of(const struct gt_writer *w, uint32_t module)
{
	for (size_t i = 0; i < w->dict.nmodules; i++)
		if (w->dict.modules[i].id == module)
			return &w->dict.modules[i].key;
	return NULL;
}

uint32_t gt_writer_type(struct gt_writer *w, const struct gt_type *type)
{
	bool fine = type->name < w->dict.nstrings && type->category < GT_CATEGORY_COUNT;

	for (unsigned f = 0; fine && f < type->nfields; f++)
		fine = type->fields[f].name < w->dict.nstrings &&
			type->fields[f].kind < GT_FIELD_KINDS;
	return fine ? gt_dict_type(&w->dict, type) : GT_NONE;
}

uint32_t gt_writer_track(struct gt_writer *w, const struct gt_track *t)
{
	if ((t->parent != GT_NONE && t->parent >= w->dict.ntracks) ||
		!is_string_or_none(w, t->name) || !is_string_or_none(w, t->source))
		return GT_NONE;
	return gt_dict_track(&w->dict, t);
}

const struct gt_writer_stats *gt_writer_stats(const struct gt_writer *w) { return &w->stats; }
void gt_writer_set_level(struct gt_writer *w, int level) { w->level = level; }

/* ---- epochs ---- */

bool gt_writer_epoch_is_due(const struct gt_writer *w, int64_t now)
{
	int64_t from;

	if (w->row_bytes >= GT_WRITER_MEMORY ||
		w->stats.unpacked - w->unpacked_before >= EPOCH_BYTES)
		return true;
	if (!w->sorted || w->epoch_begin == INT64_MIN)
		return w->row_bytes >= EPOCH_BYTES * 2;
	/* a row that ends in the far future makes one epoch due, not one for each row after it */
	from = w->newest_before > w->epoch_begin ? w->newest_before : w->epoch_begin;
	return now - w->epoch_begin >= EPOCH_NS ||
		(w->newest > from && w->newest - from >= EPOCH_NS);
}

/* Writes the open calls, which end the epoch: a block even if there are none,
 * because it marks the epoch as complete. */
static int put_open(struct gt_writer *w, int64_t now, struct gt_err *err)
{
	struct gt_row_buffers *buffers = &w->buffers[GT_OPEN];
	struct gt_wire_block head = { .kind = GT_W_ROWS,
		.sub = GT_OPEN,
		.track = GT_NONE,
		.min_start = now,
		.max_end = now };

	for (size_t i = 0; i < buffers->ntouched; i++) {
		struct gt_row_buffer *s = &buffers->by_track[buffers->touched[i]];

		GT_SORT(s->rows, s->n, gt_compare_rows);
		for (size_t r = 0; r < s->n; r++)
			s->rows[r].end = s->rows[r].start > now ? s->rows[r].start : now;
	}
	if (buffers->ntouched)
		return gt_blocks_kind(w, buffers, GT_OPEN, err);
	gt_buf_clear(&w->content);
	return gt_blocks_put(w, &head, &w->content, err);
}

int gt_writer_epoch(struct gt_writer *w, int64_t now, struct gt_err *err)
{
	int code = put_anchors(w, err);

	if (!code)
		code = put_all_rows(w, err);
	if (!code)
		code = gt_blocks_summaries(w, &w->summaries, w->nsummaries, GT_W_OF_BLOCKS, err);
	if (!code)
		code = put_open(w, now, err);
	w->dirty = false;
	w->nsummaries = 0;
	w->summary_from = INT64_MAX;
	w->summary_to = INT64_MIN;
	w->epoch++;
	w->epoch_begin = now;
	w->newest_before = w->newest;
	w->unpacked_before = w->stats.unpacked;
	return code;
}

/* ---- life ---- */

static int put_header(struct gt_writer *w, const struct gt_writer_options *opt, struct gt_err *err)
{
	struct gt_wire_skip skip = { GT_WIRE_SKIP_MAGIC, sizeof(struct gt_wire_segment) };
	struct gt_wire_segment seg = {
		.version = GT_WIRE_VERSION, .size = sizeof(seg), .id = w->id
	};
	char host[HOST_NAME_MAX + 1] = "", boot[64] = "", *json;
	struct timespec mono, real;
	json_t *j;
	FILE *f;
	int code;

	memcpy(seg.magic, GT_WIRE_SEGMENT_MAGIC, sizeof(seg.magic));
	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_REALTIME, &real);
	seg.monotonic = mono.tv_sec * 1000000000ll + mono.tv_nsec;
	seg.realtime = real.tv_sec * 1000000000ll + real.tv_nsec;
	seg.crc = gt_crc(&seg, offsetof(struct gt_wire_segment, crc));
	gethostname(host, sizeof(host) - 1);
	if ((f = fopen("/proc/sys/kernel/random/boot_id", "re"))) {
		if (!fscanf(f, "%63s", boot))
			boot[0] = 0;
		fclose(f);
	}
	code = gt_blocks_bytes(
		w, (struct iovec[]){ { &skip, sizeof(skip) }, { &seg, sizeof(seg) } }, 2, err);
	if (code)
		return code;
	j = json_pack("{s:s?, s:s?}", "host", opt->host ? opt->host : host, "boot_id",
		opt->boot_id ? opt->boot_id : boot);
	json = j ? gt_json_dump(j, 0) : NULL;
	json_decref(j);
	code = json ? gt_writer_meta(w, json, err)
		: gt_alloc_failed()
		? gt_blocks_fail(w, err, -ENOMEM, "out of memory")
		: gt_blocks_fail(w, err, -EINVAL, "the host's name is not text");
	free(json);
	return code || !opt->meta_json ? code : gt_writer_meta(w, opt->meta_json, err);
}

static bool set_up_zstd(struct gt_writer *w)
{
	w->zstd = ZSTD_createCCtx();
	return w->zstd && !ZSTD_isError(ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_checksumFlag, 1)) &&
		!ZSTD_isError(ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_contentSizeFlag, 1));
}

struct gt_writer *gt_writer_open(int fd, const struct gt_writer_options *opt, struct gt_err *err)
{
	struct gt_writer *w = calloc(1, sizeof(*w));

	if (!w || !set_up_zstd(w)) {
		gt_err_set(err, -ENOMEM, "out of memory");
		free(w);
		close(fd);
		return NULL;
	}
	w->fd = fd;
	w->wait = opt->wait;
	w->wait_arg = opt->wait_arg;
	w->sorted = opt->rows_sorted;
	w->no_summaries = opt->no_summaries;
	w->level = opt->level ? opt->level : 3;
	w->begin = lseek(fd, 0, SEEK_CUR);
	w->epoch_begin = w->newest = w->newest_before = INT64_MIN;
	w->stats.min_start = w->summary_from = INT64_MAX;
	w->stats.max_end = w->summary_to = INT64_MIN;
	/* no limit: the recording must continue */
	w->index_store = (struct gt_index_store){ .fd = -1, .limit = UINT32_MAX };
	if (getrandom(&w->id, sizeof(w->id), GRND_NONBLOCK) != sizeof(w->id))
		w->id = (uint64_t)time(NULL) << 20 ^ (uint64_t)getpid();
	if (put_header(w, opt, err)) {
		gt_writer_abandon(w);
		return NULL;
	}
	return w;
}

static int put_upper(void *arg, struct gt_buf *content, uint32_t count)
{
	return gt_blocks_summaries(arg, content, count, GT_W_UPPER, NULL);
}

/* Upper levels need the rows again. If these cannot be read (the file is a pipe; too
 * many blocks overlap), there are no upper levels, and the trace is complete without
 * them. Only a failed write is an error. */
static int put_upper_levels(struct gt_writer *w, struct gt_err *err)
{
	char path[40];
	struct stat st;
	struct gt_reader *r;
	int fd;

	if (w->no_summaries || w->begin < 0 || fstat(w->fd, &st) || !S_ISREG(st.st_mode) ||
		w->stats.min_start > w->stats.max_end)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", w->fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	r = fd < 0 ? NULL : gt_reader_open_from(fd, (uint64_t)w->begin, NULL);
	if (!r)
		return 0;
	w->summary_from = w->stats.min_start;
	w->summary_to = w->stats.max_end;
	gt_summary_upper(r, gt_reader_segments(r) - 1, put_upper, w, NULL);
	gt_reader_close(r);
	return w->failed ? gt_err_set(err, w->failed, "cannot write the upper summaries: %s",
				   strerror(-w->failed))
			 : 0;
}

static int put_piece(struct gt_writer *w, struct gt_err *err)
{
	if (w->content.failed)
		return gt_blocks_fail(w, err, -ENOMEM, "cannot write the index");
	return gt_blocks_bytes(w, &(struct iovec){ w->content.data, w->content.len }, 1, err);
}

/* Writes the entries, and the checksum of the whole index. */
static int put_entries(struct gt_writer *w, uint32_t crc, struct gt_err *err)
{
	struct gt_index_walk walk = { 0 };
	const struct gt_wire_entry *e;
	int more, code = 0;

	gt_buf_clear(&w->content);
	while (!code && (more = gt_index_next(&w->index, &walk, &e, err)) > 0) {
		gt_buf_add(&w->content, e, sizeof(*e));
		if (w->content.len < INDEX_PIECE && !w->content.failed)
			continue;
		crc = gt_crc_continue(crc, w->content.data, w->content.len);
		code = put_piece(w, err);
		gt_buf_clear(&w->content);
	}
	if (code || more < 0)
		return code ? code : more;
	crc = gt_crc_continue(crc, w->content.data, w->content.len);
	gt_buf_add(&w->content, &crc, sizeof(crc));
	return put_piece(w, err);
}

static int put_index(struct gt_writer *w, struct gt_err *err)
{
	struct gt_wire_index ix = { GT_WIRE_INDEX_MAGIC, w->nblocks };
	struct gt_wire_skip skip = { GT_WIRE_SKIP_MAGIC,
		(uint32_t)(sizeof(ix) + w->nblocks * sizeof(struct gt_wire_entry) +
			sizeof(uint32_t)) };
	int code = gt_blocks_bytes(
		w, (struct iovec[]){ { &skip, sizeof(skip) }, { &ix, sizeof(ix) } }, 2, err);

	return code ? code : put_entries(w, gt_crc(&ix, sizeof(ix)), err);
}

/* Writes index and footer completely, or truncates the file before them. An index
 * that does not fit into a frame is left out. */
static int put_tail(struct gt_writer *w, struct gt_err *err)
{
	struct gt_wire_footer foot = { .magic = GT_WIRE_FOOTER_MAGIC,
		.version = GT_WIRE_VERSION,
		.size = sizeof(foot),
		.id = w->id,
		.index_at = w->nblocks > INDEX_ENTRIES_MAX ? 0 : w->stats.bytes };
	struct gt_wire_skip skip = { GT_WIRE_SKIP_MAGIC, sizeof(foot) };
	uint64_t before = w->stats.bytes;
	int code;

	w->index.bytes = before;
	code = foot.index_at ? put_index(w, err) : 0;
	foot.bytes = w->stats.bytes + sizeof(skip) + sizeof(foot);
	foot.crc = gt_crc(&foot, offsetof(struct gt_wire_footer, crc));
	if (!code)
		code = gt_blocks_bytes(w,
			(struct iovec[]){ { &skip, sizeof(skip) }, { &foot, sizeof(foot) } }, 2,
			err);
	if (code) {
		w->stats.bytes = before;
		gt_blocks_cut(w);
		return code;
	}
	w->stats.index_bytes += foot.bytes - before;
	return 0;
}

static int release(struct gt_writer *w)
{
	int code = close(w->fd) ? -errno : 0;

	for (unsigned k = 0; k < GT_STORES; k++) {
		for (size_t i = 0; i < w->buffers[k].n; i++) {
			free(w->buffers[k].by_track[i].rows);
			free(w->buffers[k].by_track[i].args);
		}
		free(w->buffers[k].by_track);
		free(w->buffers[k].touched);
	}
	gt_dict_release(&w->dict);
	gt_packer_release(&w->packer);
	gt_buf_release(&w->content);
	gt_buf_release(&w->summaries);
	gt_buf_release(&w->frame);
	gt_index_release(&w->index);
	if (w->index_store.fd >= 0)
		close(w->index_store.fd);
	ZSTD_freeCCtx(w->zstd);
	free(w->spare.rows);
	free(w->spare.args);
	free(w->slices);
	free(w->anchors);
	free(w);
	return code;
}

int gt_writer_close(struct gt_writer *w, struct gt_err *err)
{
	int code, closed;

	if (!w)
		return 0;
	code = gt_blocks_check(w, err);
	/* if the last epoch was just closed, its open calls are those of the trace */
	if (!code && (w->dirty || !w->epoch))
		code = gt_writer_epoch(w,
			w->newest > w->epoch_begin            ? w->newest
				: w->epoch_begin == INT64_MIN ? 0
							      : w->epoch_begin,
			err);
	if (!code)
		code = gt_blocks_dict(w, err);
	if (!code)
		code = put_anchors(w, err);
	if (!code)
		code = put_upper_levels(w, err);
	if (!code)
		code = put_tail(w, err);
	closed = release(w);
	return code      ? code
		: closed ? gt_err_set(err, closed, "cannot write: %s", strerror(-closed))
			 : 0;
}

void gt_writer_abandon(struct gt_writer *w)
{
	if (w)
		release(w);
}
