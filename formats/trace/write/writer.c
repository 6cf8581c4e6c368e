/* The writer: rows collect per track; an epoch's close, or a full block, packs them, and everything
 * reaches the file in order:
 *
 *      what the rows need (strings, types, tracks, names)  ->  rows  ->  summaries  ->  calls still
 * open (ends the epoch)
 *
 * Rows of sorted input arrive in the order they ended. A parent therefore comes after its children
 * and is moved before them, which costs what the children weigh, once. A call that began before its
 * epoch goes to a store of its own ("late"): there is at most one per nesting depth and epoch, so
 * the blocks of an epoch stay inside the epoch but for one small one.
 *
 * Nothing written is touched again. A crash leaves whole blocks; the reader finds them by their
 * heads.
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
#include "formats/io/json_build.h"
#include "formats/trace/read/reader.h"
#include "formats/trace/summary.h"

/* a frame's */
#define INDEX_MOST                                                                                 \
	((UINT32_MAX - sizeof(struct gt_wire_index) - sizeof(uint32_t)) /                          \
		sizeof(struct gt_wire_entry))
#define INDEX_PIECE 65536u /* bytes of it written at a time */
#define EPOCH_NS 1000000000ll
#define EPOCH_BYTES (8u << 20) /* unpacked */
#define HELD_MOST                                                                                  \
	(16u << 20) /* of sorted rows: where many tracks hold some each, all are packed before the \
		     * epoch closes; stores may be half empty, and rows are not all there is to    \
		     * hold */

/* ---- rows held ---- */

static struct gt_row_buffer *store_of(struct gt_writer *w, unsigned which, uint32_t track)
{
	struct gt_row_buffers *shelf = &w->shelves[which];
	/* GT_NONE + 1 would not fit a size_t of 32 bits; 64 it is */
	size_t slot = (size_t)track + 1, old = shelf->n;

	if (track == GT_NONE)
		slot = 0;
	if (slot >= shelf->n) {
		if (gt_grow(&shelf->by_track, &shelf->n, slot + 1, sizeof(*shelf->by_track)))
			return NULL;
		memset(shelf->by_track + old, 0, (shelf->n - old) * sizeof(*shelf->by_track));
		w->latest = NULL;
	}
	if (!shelf->by_track[slot].n) {
		if (gt_grow(&shelf->touched, &shelf->touched_cap, shelf->ntouched + 1,
			    sizeof(*shelf->touched)))
			return NULL;
		shelf->touched[shelf->ntouched++] = (uint32_t)slot;
	}
	return &shelf->by_track[slot];
}

/* Keeps calls in order: those that ended before, began later and lie deeper are the new one's
 * descendants, and follow it. */
static size_t place_of(const struct gt_row_buffer *s, const struct gt_row *row)
{
	size_t i = s->n;

	while (i && s->rows[i - 1].start >= row->start && s->rows[i - 1].depth > row->depth)
		i--;
	return i;
}

/* A store that is on its way to a full block moves to what the last one left. No earlier: many that
 * are not would hold much. */
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

static int hold(struct gt_writer *w, unsigned which, uint32_t track, const struct gt_row *row,
	const uint64_t *args, struct gt_err *err)
{
	struct gt_row_buffer *s = store_of(w, which, track);
	size_t at;

	if (s && s->n == s->cap)
		use_spare(w, s);
	if (!s || gt_grow(&s->rows, &s->cap, s->n + 1, sizeof(*s->rows)) ||
		(row->nargs && gt_grow(&s->args, &s->args_cap, s->nargs + row->nargs, 8)))
		return gt_blocks_fail(w, err, -ENOMEM, "cannot hold a row");
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
	w->held += sizeof(*s->rows) + row->nargs * 8u;
	return 0;
}

/* ---- what callers call ---- */

const char *gt_writer_text(const struct gt_writer *w, uint32_t string)
{
	return string < w->dict.nstrings
		? (const char *)w->dict.text.data + w->dict.strings[string].at
		: "?";
}

bool gt_writer_has_name_space(const struct gt_writer *w)
{
	return w->dict.held < GT_NAME_MEMORY_MAX / 3 * 2;
}

const struct gt_type *gt_writer_type_get(const struct gt_writer *w, uint32_t type)
{
	return type < w->dict.ntypes ? &w->dict.types[type] : NULL;
}

static int check_row(struct gt_writer *w, enum gt_kind kind, uint32_t track,
	const struct gt_row *row, struct gt_err *err)
{
	if (w->failed)
		return gt_err_set(
			err, w->failed, "an earlier write failed: %s", strerror(-w->failed));
	if (row->type >= w->dict.ntypes || track >= w->dict.ntracks)
		return gt_err_set(err, -EINVAL, "a row has no type or no track (too many names?)");
	if (row->end < row->start)
		return gt_err_set(err, -EINVAL, "a row ends before it starts");
	if (row->start <= -GT_TIME_MAX || row->end >= GT_TIME_MAX)
		return gt_err_set(err, -ERANGE, "a time lies more than 73 years from 0");
	if (kind == GT_OPEN ? row->nargs > w->dict.types[row->type].nfields
			    : row->nargs != w->dict.types[row->type].nfields)
		return gt_err_set(err, -EINVAL, "a row has %u arguments, its type %u", row->nargs,
			w->dict.types[row->type].nfields);
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

/* The rows that nearly all are: calls on the track that had the last one, each after the one
 * before, with room where they go. What the long way does besides cannot matter to them. The last
 * row of a block goes the long way, and the block with it. */
void gt_writer_reserve(struct gt_writer *w, uint32_t track, struct gt_writer_space *room)
{
	struct gt_row_buffer *s = w->latest;
	size_t most = s && s->cap < GT_BLOCK_ROWS ? s->cap : GT_BLOCK_ROWS - 1;

	memset(room, 0, sizeof(*room));
	/* rows out of order may be more than a block's */
	if (!s || w->failed || track != w->latest_track || !s->n || s->n >= most)
		return;
	room->nrows = most - s->n;
	room->nvalues = s->args_cap - s->nargs;
	room->rows = s->rows + s->n;
	room->values = room->nvalues ? s->args + s->nargs : NULL;
	room->first = (uint32_t)s->nargs;
	room->after = s->rows[s->n - 1].end;
}

void gt_writer_commit(struct gt_writer *w, size_t nrows, size_t nvalues, int64_t end)
{
	if (!nrows)
		return;
	w->latest->n += nrows;
	w->latest->nargs += nvalues;
	w->held += nrows * sizeof(struct gt_writer_row) + nvalues * 8;
	w->stats.rows[GT_CALL] += nrows;
	if (end > w->newest)
		w->newest = w->stats.max_end = end;
}

static inline bool hold_next(
	struct gt_writer *w, uint32_t track, const struct gt_row *row, const uint64_t *args)
{
	struct gt_writer_space room;

	gt_writer_reserve(w, track, &room);
	if (!room.nrows || room.nvalues < row->nargs || row->type >= w->dict.ntypes ||
		row->nargs != w->dict.types[row->type].nfields || row->start < room.after ||
		row->end < row->start || row->end >= GT_TIME_MAX)
		return false;
	*room.rows = (struct gt_writer_row){ row->start, row->end, row->type, row->ret, room.first,
		row->depth, row->nargs, { 0, 0 } };
	for (unsigned i = 0; i < row->nargs; i++)
		room.values[i] = args[i];
	gt_writer_commit(w, 1, row->nargs, row->end);
	return true;
}

/* Everything held goes out as blocks, but for open calls, which end an epoch. */
static int put_held(struct gt_writer *w, struct gt_err *err)
{
	int code = gt_blocks_dict(w, err);

	if (!code)
		code = gt_blocks_shelf(w, &w->shelves[GT_LATE], GT_CALL, err);
	for (unsigned k = GT_CALL; !code && k < GT_KINDS; k++)
		if (k != GT_OPEN)
			code = gt_blocks_shelf(w, &w->shelves[k], (enum gt_kind)k, err);
	return code;
}

int gt_writer_row(struct gt_writer *w, enum gt_kind kind, uint32_t track, const struct gt_row *row,
	const uint64_t *args, struct gt_err *err)
{
	unsigned which = kind;
	struct gt_row_buffer *s;
	int code;

	if (kind == GT_CALL && hold_next(w, track, row, args))
		return 0;
	if (kind < GT_CALL || kind >= GT_LOST || kind == GT_OPEN)
		return gt_err_set(err, -EINVAL, "a row of this kind cannot be written");
	if ((code = check_row(w, kind, track, row, err)))
		return code;
	note_times(w, row->start, row->end);
	if (w->sorted && kind == GT_CALL && w->epoch && row->start < w->epoch_begin)
		which = GT_LATE;
	if ((code = hold(w, which, track, row, args, err)))
		return code;
	w->stats.rows[kind]++;
	s = &w->shelves[which].by_track[(size_t)track + 1];
	w->latest = which == GT_CALL && w->sorted ? s : NULL;
	w->latest_track = track;
	if (w->sorted && w->held >= HELD_MOST)
		return put_held(w, err);
	if (!w->sorted || s->n < GT_BLOCK_ROWS || s->unsorted)
		return 0;
	if ((code = gt_blocks_dict(w, err)) || (code = gt_blocks_busy(w, kind, track, s, err)))
		return code;
	/* touched again with its next row */
	for (size_t i = w->shelves[which].ntouched; i-- > 0;)
		if (w->shelves[which].touched[i] == track + 1) {
			w->shelves[which].touched[i] =
				w->shelves[which].touched[--w->shelves[which].ntouched];
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
	return hold(w, GT_OPEN, track, &open, args, err);
}

int gt_writer_lost(struct gt_writer *w, enum gt_scope scope, uint32_t track, int64_t from,
	int64_t to, uint64_t count, struct gt_err *err)
{
	struct gt_row row = {
		.start = from, .end = to < from ? from : to, .type = GT_NONE, .nargs = 2
	};
	int code;

	if (w->failed)
		return gt_err_set(
			err, w->failed, "an earlier write failed: %s", strerror(-w->failed));
	if (row.start <= -GT_TIME_MAX || row.end >= GT_TIME_MAX)
		return gt_err_set(err, -ERANGE, "a time lies more than 73 years from 0");
	if (track != GT_NONE && track >= w->dict.ntracks)
		return gt_err_set(err, -EINVAL, "a loss is on a track that does not exist");
	if ((code = hold(w, GT_LOST, track, &row, (uint64_t[]){ count, scope }, err)))
		return code;
	note_times(w, row.start, row.end);
	w->stats.rows[GT_LOST]++;
	w->stats.lost += count == GT_LOST_UNKNOWN ? 0 : count;
	return 0;
}

int gt_writer_anchor(struct gt_writer *w, const struct gt_anchor *anchor, struct gt_err *err)
{
	if (gt_grow(&w->anchors, &w->anchors_cap, w->nanchors + 1, sizeof(*w->anchors)))
		return gt_blocks_fail(w, err, -ENOMEM, "cannot hold a clock anchor");
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

int gt_writer_track_name(struct gt_writer *w, uint32_t track, uint32_t name, struct gt_err *err)
{
	if (track >= w->dict.ntracks || (name != GT_NONE && name >= w->dict.nstrings))
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
uint32_t gt_writer_stack(struct gt_writer *w, const uint32_t *frames, size_t n)
{
	return gt_dict_stack(&w->dict, frames, n);
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
		(t->name != GT_NONE && t->name >= w->dict.nstrings) ||
		(t->source != GT_NONE && t->source >= w->dict.nstrings))
		return GT_NONE;
	return gt_dict_track(&w->dict, t);
}

const struct gt_writer_stats *gt_writer_stats(const struct gt_writer *w) { return &w->stats; }
void gt_writer_set_level(struct gt_writer *w, int level) { w->level = level; }

/* ---- epochs ---- */

bool gt_writer_due(const struct gt_writer *w, int64_t now)
{
	if (w->held >= GT_WRITER_MEMORY || w->stats.unpacked - w->unpacked_before >= EPOCH_BYTES)
		return true;
	if (!w->sorted || w->epoch_begin == INT64_MIN)
		return w->held >= EPOCH_BYTES * 2;
	if (now < w->newest)
		now = w->newest;
	return now - w->epoch_begin >= EPOCH_NS;
}

/* Calls still open end the epoch: a block even when there are none, for it says that the epoch is
 * whole. */
static int put_open(struct gt_writer *w, int64_t now, struct gt_err *err)
{
	struct gt_row_buffers *shelf = &w->shelves[GT_OPEN];
	struct gt_wire_block head = { .kind = GT_W_ROWS,
		.sub = GT_OPEN,
		.track = GT_NONE,
		.min_start = now,
		.max_end = now };

	for (size_t i = 0; i < shelf->ntouched; i++) {
		struct gt_row_buffer *s = &shelf->by_track[shelf->touched[i]];

		qsort(s->rows, s->n, sizeof(*s->rows), gt_compare_rows);
		for (size_t r = 0; r < s->n; r++)
			s->rows[r].end = s->rows[r].start > now ? s->rows[r].start : now;
	}
	if (shelf->ntouched)
		return gt_blocks_shelf(w, shelf, GT_OPEN, err);
	gt_buf_clear(&w->content);
	return gt_blocks_put(w, &head, &w->content, err);
}

int gt_writer_epoch(struct gt_writer *w, int64_t now, struct gt_err *err)
{
	int code = put_anchors(w, err);

	if (!code)
		code = put_held(w, err);
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
	w->level = opt->level ? opt->level : 3;
	w->begin = lseek(fd, 0, SEEK_CUR);
	w->epoch_begin = w->newest = INT64_MIN;
	w->stats.min_start = w->summary_from = INT64_MAX;
	w->stats.max_end = w->summary_to = INT64_MIN;
	/* whatever happens, the recording goes on */
	w->index_store = (struct gt_index_store){ .fd = -1, .most = UINT32_MAX };
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

/* Upper levels need the rows once more. Where these cannot be had (the file is a pipe; more blocks
 * overlap than can be put in order) there are none, and the recording is whole without: only what
 * cannot be written fails it. */
static int put_upper_levels(struct gt_writer *w, struct gt_err *err)
{
	char path[40];
	struct stat st;
	struct gt_reader *r;
	int fd;

	if (w->begin < 0 || fstat(w->fd, &st) || !S_ISREG(st.st_mode) ||
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

/* The entries, and the checksum of all since the index began. */
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
		crc = gt_crc_more(crc, w->content.data, w->content.len);
		code = put_piece(w, err);
		gt_buf_clear(&w->content);
	}
	if (code || more < 0)
		return code ? code : more;
	crc = gt_crc_more(crc, w->content.data, w->content.len);
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

/* All of it, or the file ends where it would begin. An index for which a frame is too small is left
 * out. */
static int put_tail(struct gt_writer *w, struct gt_err *err)
{
	struct gt_wire_footer foot = { .magic = GT_WIRE_FOOTER_MAGIC,
		.version = GT_WIRE_VERSION,
		.size = sizeof(foot),
		.id = w->id,
		.index_at = w->nblocks > INDEX_MOST ? 0 : w->stats.bytes };
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
		for (size_t i = 0; i < w->shelves[k].n; i++) {
			free(w->shelves[k].by_track[i].rows);
			free(w->shelves[k].by_track[i].args);
		}
		free(w->shelves[k].by_track);
		free(w->shelves[k].touched);
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
	int code = 0, closed;

	if (!w)
		return 0;
	if (w->failed)
		code = gt_err_set(
			err, w->failed, "an earlier write failed: %s", strerror(-w->failed));
	/* an epoch that was just closed keeps its open calls as the last word */
	else if (w->dirty || !w->epoch)
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
