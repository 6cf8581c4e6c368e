/* The writer: rows collect per track; an epoch's close, or a full block, packs them, and everything reaches the file in order:
 *
 *      what the rows need (strings, types, tracks, names)  ->  rows  ->  summaries  ->  calls still open (ends the epoch)
 *
 * Rows of sorted input arrive in the order they ended. A parent therefore comes after its children and is moved before them,
 * which costs what the children weigh, once. A call that began before its epoch goes to a store of its own ("late"): there is at
 * most one per nesting depth and epoch, so the blocks of an epoch stay inside the epoch but for one small one.
 *
 * Nothing written is touched again. A crash leaves whole blocks; the reader finds them by their heads.
 */
#include "formats/writer.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <jansson.h>
#include <zstd.h>

#include "formats/block.h"
#include "formats/dict.h"
#include "formats/summary.h"
#include "formats/wire.h"

#define LATE GT_KINDS			/* the store of calls that began before their epoch */
#define STORES (GT_KINDS + 1)
#define EPOCH_NS 1000000000ll
#define EPOCH_BYTES (8u << 20)		/* unpacked */
#define OWN_BLOCK_ROWS 2048		/* a track with as many rows in an epoch gets blocks to itself */

struct store {		/* rows of one kind on one track, not yet packed */
	struct gt_held *rows;
	uint64_t *args;
	size_t n, cap, nargs, args_cap;
	bool unsorted;
};
struct shelf {		/* the stores of one kind, by track + 1; touched lists those that are not empty */
	struct store *by_track;
	uint32_t *touched;
	size_t n, ntouched, touched_cap;
};

struct gt_writer {
	int fd, failed;
	bool sorted;
	bool dirty;			/* something was handed in since the last epoch closed */
	int level;
	uint64_t id;
	off_t begin;			/* offset of the segment in the file, -1: not seekable */
	struct gt_dict dict;
	struct shelf shelves[STORES];
	struct store *latest;		/* that got the last call, for hold_next; NULL after stores moved */
	uint32_t latest_track;
	struct gt_slice *slices;
	size_t slices_cap;
	struct gt_packer packer;
	struct gt_buf content, summaries, frame, index;
	uint32_t nsummaries;
	int64_t summary_from, summary_to;
	struct gt_anchor *anchors;
	size_t nanchors, anchors_cap;
	ZSTD_CCtx *zstd;
	uint32_t epoch, nblocks;
	int64_t epoch_begin, newest;
	uint64_t held, unpacked_before;	/* bytes of rows held; unpacked bytes when the epoch began */
	struct gt_writer_stats stats;
};

static int fail(struct gt_writer *w, struct gt_err *err, int code, const char *what)
{
	w->failed = code;
	return gt_err_set(err, code, "%s: %s", what, strerror(-code));
}

/* ---- bytes to the file ---- */

/* What stands in the file stays whole blocks: a half-written one is cut off again. */
static void cut_back(struct gt_writer *w)
{
	if (w->begin >= 0 && ftruncate(w->fd, w->begin + (off_t)w->stats.bytes))
		return;		/* a reader copes with half a block, too */
}

static int put_bytes(struct gt_writer *w, struct iovec *v, int n, struct gt_err *err)
{
	uint64_t total = 0;

	for (int i = 0; i < n; i++)
		total += v[i].iov_len;
	while (n) {
		ssize_t got = writev(w->fd, v, n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			int code = got ? -errno : -EIO;

			cut_back(w);
			return fail(w, err, code, "cannot write");
		}
		for (; n && (size_t)got >= v->iov_len; n--)
			got -= (ssize_t)v++->iov_len;
		if (n) {
			v->iov_base = (char *)v->iov_base + got;
			v->iov_len -= (size_t)got;
		}
	}
	w->stats.bytes += total;
	return 0;
}

static int pack_frame(struct gt_writer *w, const struct gt_buf *content, struct gt_err *err)
{
	size_t bound = ZSTD_compressBound(content->len), got;
	uint8_t *to;

	gt_buf_clear(&w->frame);
	to = gt_buf_room(&w->frame, bound);
	if (!to || content->failed)
		return fail(w, err, -ENOMEM, "cannot pack a block");
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, w->level);
	got = ZSTD_compress2(w->zstd, to, bound, content->data, content->len);
	if (ZSTD_isError(got))
		return fail(w, err, -ENOMEM, ZSTD_getErrorName(got));
	w->frame.len = got;
	return 0;
}

/* Writes one block: head in a skippable frame, content in a zstd frame, and notes it for the index. */
static int put_block(struct gt_writer *w, struct gt_wire_block *head, const struct gt_buf *content, struct gt_err *err)
{
	struct gt_wire_skip skip = { GT_WIRE_SKIP_MAGIC, sizeof(*head) };
	struct gt_wire_entry entry = { .at = w->stats.bytes };
	int code;

	if (w->failed)
		return gt_err_set(err, w->failed, "an earlier write failed: %s", strerror(-w->failed));
	if ((code = pack_frame(w, content, err)))
		return code;
	head->magic = GT_WIRE_BLOCK_MAGIC;
	head->size = sizeof(*head);
	head->epoch = w->epoch;
	head->zbytes = (uint32_t)w->frame.len;
	head->bytes = (uint32_t)content->len;
	head->number = w->nblocks++;
	head->crc = gt_crc(head, offsetof(struct gt_wire_block, crc));
	entry.head = *head;
	gt_buf_add(&w->index, &entry, sizeof(entry));
	code = put_bytes(w, (struct iovec[]){ { &skip, sizeof(skip) }, { head, sizeof(*head) }, { w->frame.data, w->frame.len } }, 3, err);
	if (code)
		return code;
	w->stats.unpacked += content->len;
	w->stats.index_bytes += sizeof(skip) + sizeof(*head) + (head->kind == GT_W_SUMMARY ? head->zbytes : 0);
	return w->index.failed ? fail(w, err, -ENOMEM, "cannot keep the index") : 0;
}

static int put_dict(struct gt_writer *w, struct gt_err *err)
{
	uint32_t count = 0;

	for (;;) {
		struct gt_wire_block head = { .track = GT_NONE };
		unsigned kind;
		int code;

		gt_buf_clear(&w->content);
		kind = gt_dict_flush(&w->dict, GT_BLOCK_BYTES - GT_STRING_MAX - 16, &w->content, &count);
		if (!kind)
			return 0;
		head.kind = (uint8_t)kind;
		head.rows = count;
		if ((code = put_block(w, &head, &w->content, err)))
			return code;
	}
}

/* ---- rows to blocks ---- */

static void note_summary(struct gt_writer *w, const struct gt_wire_block *head)
{
	w->summary_from = head->min_start < w->summary_from ? head->min_start : w->summary_from;
	w->summary_to = head->max_end > w->summary_to ? head->max_end : w->summary_to;
}

static int put_summaries(struct gt_writer *w, struct gt_buf *content, uint32_t count, uint8_t sub, struct gt_err *err)
{
	struct gt_wire_block head = { .kind = GT_W_SUMMARY, .sub = sub, .rows = count, .track = GT_NONE, .min_start = w->summary_from,
				      .max_end = w->summary_to };
	int code = count ? put_block(w, &head, content, err) : 0;

	gt_buf_clear(content);
	return code;
}

static int summarize(struct gt_writer *w, const struct gt_slice *slices, size_t n, const struct gt_wire_block *head, struct gt_err *err)
{
	if (head->sub != GT_CALL && head->sub != GT_SPAN && head->sub != GT_GPU)
		return 0;
	for (size_t i = 0; i < n; i++) {
		int count;

		if (w->summaries.len > GT_BLOCK_BYTES / 2) {
			if (put_summaries(w, &w->summaries, w->nsummaries, 0, err))
				return w->failed;
			w->nsummaries = 0;
		}
		count = gt_summary_of_slice(w->dict.types, w->dict.bytes_field, &slices[i], head->max_end, head->sub != GT_CALL, &w->summaries);
		if (count < 0)
			return fail(w, err, count, "cannot summarize");
		w->nsummaries += (uint32_t)count;
	}
	note_summary(w, head);
	return 0;
}

static int put_rows(struct gt_writer *w, enum gt_kind kind, struct gt_slice *slices, size_t n, struct gt_err *err);

/* A block came out too large: the rows go out as two. */
static int put_halves(struct gt_writer *w, enum gt_kind kind, struct gt_slice *slices, size_t n, size_t rows, struct gt_err *err)
{
	size_t half = rows / 2, i = 0;
	struct gt_slice *second;
	int code;

	while (half >= slices[i].n)
		half -= slices[i++].n;
	second = malloc((n - i) * sizeof(*second));
	if (!second)
		return fail(w, err, -ENOMEM, "cannot split a block");
	memcpy(second, slices + i, (n - i) * sizeof(*second));
	second[0].rows += half;
	second[0].n -= half;
	slices[i].n = half;
	code = put_rows(w, kind, slices, half ? i + 1 : i, err);
	if (!code)
		code = put_rows(w, kind, second, n - i, err);
	free(second);
	return code;
}

static int put_rows(struct gt_writer *w, enum gt_kind kind, struct gt_slice *slices, size_t n, struct gt_err *err)
{
	struct gt_wire_block head = { .kind = GT_W_ROWS, .sub = (uint8_t)kind };
	int code;

	gt_buf_clear(&w->content);
	if (gt_block_pack(&w->packer, kind, w->dict.types, slices, n, &w->content, &head))
		return fail(w, err, -ENOMEM, "cannot pack a block");
	if (w->content.len > GT_BLOCK_BYTES && head.rows > 1)
		return put_halves(w, kind, slices, n, head.rows, err);
	if (w->sorted && w->epoch && head.min_start < w->epoch_begin)
		head.lateness = (uint64_t)(w->epoch_begin - head.min_start);
	if ((code = summarize(w, slices, n, &head, err)))
		return code;
	return put_block(w, &head, &w->content, err);
}

static void empty(struct gt_writer *w, struct store *s)
{
	w->held -= s->n * sizeof(*s->rows) + s->nargs * 8;
	s->n = s->nargs = 0;
	s->unsorted = false;
	if (s->cap > 1024 || s->args_cap > 4096) {	/* a quiet track keeps little */
		free(s->rows);
		free(s->args);
		memset(s, 0, sizeof(*s));
	}
}

static int by_start(const void *a, const void *b)
{
	const struct gt_held *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	return x->end > y->end ? -1 : x->end < y->end;
}

/* One block, or several, for a track that fills them alone. */
static int put_busy(struct gt_writer *w, enum gt_kind kind, uint32_t track, struct store *s, struct gt_err *err)
{
	for (size_t at = 0; at < s->n; at += GT_BLOCK_ROWS) {
		struct gt_slice slice = { track, s->rows + at, s->n - at < GT_BLOCK_ROWS ? s->n - at : GT_BLOCK_ROWS, s->args };
		int code = put_rows(w, kind, &slice, 1, err);

		if (code)
			return code;
	}
	empty(w, s);
	return 0;
}

static int by_id(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Everything a shelf holds: busy tracks alone, quiet ones together. */
static int put_shelf(struct gt_writer *w, struct shelf *shelf, enum gt_kind kind, struct gt_err *err)
{
	size_t n = 0, rows = 0, first = 0;
	int code = 0;

	if (shelf->ntouched)
		qsort(shelf->touched, shelf->ntouched, sizeof(*shelf->touched), by_id);
	for (size_t i = 0; !code && i < shelf->ntouched; i++) {
		struct store *s = &shelf->by_track[shelf->touched[i]];

		if (s->unsorted)
			qsort(s->rows, s->n, sizeof(*s->rows), by_start);
		if (s->n >= OWN_BLOCK_ROWS && (code = put_busy(w, kind, shelf->touched[i] - 1, s, err)))
			return code;
	}
	for (size_t i = 0; !code && i <= shelf->ntouched; i++) {
		struct store *s = i < shelf->ntouched ? &shelf->by_track[shelf->touched[i]] : NULL;

		if (n && (!s || rows + s->n > GT_BLOCK_ROWS)) {
			code = put_rows(w, kind, w->slices, n, err);
			for (; first < i; first++)
				empty(w, &shelf->by_track[shelf->touched[first]]);
			n = rows = 0;
		}
		if (!s || !s->n)
			continue;
		if (gt_grow(&w->slices, &w->slices_cap, n + 1, sizeof(*w->slices)))
			return fail(w, err, -ENOMEM, "cannot pack a block");
		w->slices[n++] = (struct gt_slice){ shelf->touched[i] - 1, s->rows, s->n, s->args };
		rows += s->n;
	}
	shelf->ntouched = 0;
	return code;
}

static struct store *store_of(struct gt_writer *w, unsigned which, uint32_t track)
{
	struct shelf *shelf = &w->shelves[which];
	size_t slot = (size_t)track + 1, old = shelf->n;	/* GT_NONE + 1 would not fit a size_t of 32 bits; 64 it is */

	if (track == GT_NONE)
		slot = 0;
	if (slot >= shelf->n) {
		if (gt_grow(&shelf->by_track, &shelf->n, slot + 1, sizeof(*shelf->by_track)))
			return NULL;
		memset(shelf->by_track + old, 0, (shelf->n - old) * sizeof(*shelf->by_track));
		w->latest = NULL;
	}
	if (!shelf->by_track[slot].n) {
		if (gt_grow(&shelf->touched, &shelf->touched_cap, shelf->ntouched + 1, sizeof(*shelf->touched)))
			return NULL;
		shelf->touched[shelf->ntouched++] = (uint32_t)slot;
	}
	return &shelf->by_track[slot];
}

/* Keeps calls in order: those that ended before, began later and lie deeper are the new one's descendants, and follow it. */
static size_t place_of(const struct store *s, const struct gt_row *row)
{
	size_t i = s->n;

	while (i && s->rows[i - 1].start >= row->start && s->rows[i - 1].depth > row->depth)
		i--;
	return i;
}

static int hold(struct gt_writer *w, unsigned which, uint32_t track, const struct gt_row *row, const uint64_t *args, struct gt_err *err)
{
	struct store *s = store_of(w, which, track);
	size_t at;

	if (!s || gt_grow(&s->rows, &s->cap, s->n + 1, sizeof(*s->rows)) ||
	    (row->nargs && gt_grow(&s->args, &s->args_cap, s->nargs + row->nargs, 8)))
		return fail(w, err, -ENOMEM, "cannot hold a row");
	at = w->sorted && (which == GT_CALL || which == LATE) ? place_of(s, row) : s->n;
	if (at && s->rows[at - 1].start > row->start)
		s->unsorted = true;
	if (at < s->n)
		memmove(s->rows + at + 1, s->rows + at, (s->n - at) * sizeof(*s->rows));
	s->rows[at] = (struct gt_held){ row->start, row->end, row->type, row->ret, (uint32_t)s->nargs, row->depth, row->nargs, { 0, 0 } };
	for (unsigned i = 0; i < row->nargs; i++)
		s->args[s->nargs++] = args[i];
	s->n++;
	w->dirty = true;
	w->held += sizeof(*s->rows) + row->nargs * 8u;
	return 0;
}

/* ---- what callers call ---- */

const struct gt_type *gt_writer_type_get(const struct gt_writer *w, uint32_t type)
{
	return type < w->dict.ntypes ? &w->dict.types[type] : NULL;
}

static int check_row(struct gt_writer *w, enum gt_kind kind, uint32_t track, const struct gt_row *row, struct gt_err *err)
{
	if (w->failed)
		return gt_err_set(err, w->failed, "an earlier write failed: %s", strerror(-w->failed));
	if (row->type >= w->dict.ntypes || track >= w->dict.ntracks)
		return gt_err_set(err, -EINVAL, "a row has no type or no track (too many names?)");
	if (row->end < row->start)
		return gt_err_set(err, -EINVAL, "a row ends before it starts");
	if (row->start <= -GT_TIME_MAX || row->end >= GT_TIME_MAX)
		return gt_err_set(err, -ERANGE, "a time lies more than 73 years from 0");
	if (kind == GT_OPEN ? row->nargs > w->dict.types[row->type].nfields : row->nargs != w->dict.types[row->type].nfields)
		return gt_err_set(err, -EINVAL, "a row has %u arguments, its type %u", row->nargs, w->dict.types[row->type].nfields);
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

/* The row that nearly all are: a call on the track that had the last one, after it, with room where it goes. Does what the
 * long way does, less what then cannot matter. */
static inline bool hold_next(struct gt_writer *w, uint32_t track, const struct gt_row *row, const uint64_t *args)
{
	struct store *s = w->latest;
	struct gt_held *last;

	if (!s || w->failed || track != w->latest_track || s->n + 1 >= GT_BLOCK_ROWS || s->n == s->cap || !s->n || row->type >= w->dict.ntypes ||
	    row->nargs != w->dict.types[row->type].nfields || s->args_cap - s->nargs < row->nargs)
		return false;
	last = &s->rows[s->n - 1];
	if (row->start < last->end || row->end < row->start || row->end >= GT_TIME_MAX)
		return false;
	last[1] = (struct gt_held){ row->start, row->end, row->type, row->ret, (uint32_t)s->nargs, row->depth, row->nargs, { 0, 0 } };
	for (unsigned i = 0; i < row->nargs; i++)
		s->args[s->nargs++] = args[i];
	s->n++;
	w->held += sizeof(*s->rows) + row->nargs * 8u;
	w->stats.rows[GT_CALL]++;
	if (row->end > w->newest)
		w->newest = w->stats.max_end = row->end;
	return true;
}

int gt_writer_row(struct gt_writer *w, enum gt_kind kind, uint32_t track, const struct gt_row *row, const uint64_t *args, struct gt_err *err)
{
	unsigned which = kind;
	struct store *s;
	int code;

	if (kind == GT_CALL && hold_next(w, track, row, args))
		return 0;
	if (kind < GT_CALL || kind >= GT_LOST || kind == GT_OPEN)
		return gt_err_set(err, -EINVAL, "a row of this kind cannot be written");
	if ((code = check_row(w, kind, track, row, err)))
		return code;
	note_times(w, row->start, row->end);
	if (w->sorted && kind == GT_CALL && w->epoch && row->start < w->epoch_begin)
		which = LATE;
	if ((code = hold(w, which, track, row, args, err)))
		return code;
	w->stats.rows[kind]++;
	s = &w->shelves[which].by_track[(size_t)track + 1];
	w->latest = which == GT_CALL && w->sorted ? s : NULL;
	w->latest_track = track;
	if (!w->sorted || s->n < GT_BLOCK_ROWS || s->unsorted)
		return 0;
	if ((code = put_dict(w, err)) || (code = put_busy(w, kind, track, s, err)))
		return code;
	for (size_t i = w->shelves[which].ntouched; i-- > 0;)	/* touched again with its next row */
		if (w->shelves[which].touched[i] == track + 1) {
			w->shelves[which].touched[i] = w->shelves[which].touched[--w->shelves[which].ntouched];
			break;
		}
	return 0;
}

int gt_writer_open_call(struct gt_writer *w, uint32_t track, const struct gt_row *row, const uint64_t *args, struct gt_err *err)
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

int gt_writer_lost(struct gt_writer *w, enum gt_scope scope, uint32_t track, int64_t from, int64_t to, uint64_t count, struct gt_err *err)
{
	struct gt_row row = { .start = from, .end = to < from ? from : to, .type = GT_NONE, .nargs = 2 };
	int code;

	if (w->failed)
		return gt_err_set(err, w->failed, "an earlier write failed: %s", strerror(-w->failed));
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
		return fail(w, err, -ENOMEM, "cannot hold a clock anchor");
	w->anchors[w->nanchors++] = *anchor;
	return 0;
}

static int put_anchors(struct gt_writer *w, struct gt_err *err)
{
	struct gt_wire_block head = { .kind = GT_W_ANCHORS, .track = GT_NONE, .rows = (uint32_t)w->nanchors };

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
	return put_block(w, &head, &w->content, err);
}

int gt_writer_meta(struct gt_writer *w, const char *json, struct gt_err *err)
{
	struct gt_wire_block head = { .kind = GT_W_META, .track = GT_NONE, .rows = 1 };

	if (strlen(json) > GT_BLOCK_BYTES)
		return gt_err_set(err, -E2BIG, "metadata of %zu bytes are too long", strlen(json));
	gt_buf_clear(&w->content);
	gt_buf_str(&w->content, json);
	return put_block(w, &head, &w->content, err);
}

int gt_writer_track_name(struct gt_writer *w, uint32_t track, uint32_t name, struct gt_err *err)
{
	if (track >= w->dict.ntracks || (name != GT_NONE && name >= w->dict.nstrings))
		return gt_err_set(err, -EINVAL, "a track or its name does not exist");
	if (w->dict.tracks[track].name == name)
		return 0;
	return gt_dict_rename(&w->dict, track, name) ? fail(w, err, -ENOMEM, "cannot name a track") : 0;
}

uint32_t gt_writer_string_n(struct gt_writer *w, const char *s, size_t len) { return gt_dict_string(&w->dict, s, len); }
uint32_t gt_writer_string(struct gt_writer *w, const char *s) { return gt_dict_string(&w->dict, s, strlen(s)); }
uint32_t gt_writer_stack(struct gt_writer *w, const uint32_t *frames, size_t n) { return gt_dict_stack(&w->dict, frames, n); }

uint32_t gt_writer_type(struct gt_writer *w, const struct gt_type *type)
{
	bool fine = type->name < w->dict.nstrings && type->category < GT_CATEGORY_COUNT;

	for (unsigned f = 0; fine && f < type->nfields; f++)
		fine = type->fields[f].name < w->dict.nstrings && type->fields[f].kind < GT_FIELD_KINDS;
	return fine ? gt_dict_type(&w->dict, type) : GT_NONE;
}

uint32_t gt_writer_track(struct gt_writer *w, const struct gt_track *t)
{
	if ((t->parent != GT_NONE && t->parent >= w->dict.ntracks) || (t->name != GT_NONE && t->name >= w->dict.nstrings) ||
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

/* Calls still open end the epoch: a block even when there are none, for it says that the epoch is whole. */
static int put_open(struct gt_writer *w, int64_t now, struct gt_err *err)
{
	struct shelf *shelf = &w->shelves[GT_OPEN];
	struct gt_wire_block head = { .kind = GT_W_ROWS, .sub = GT_OPEN, .track = GT_NONE, .min_start = now, .max_end = now };

	for (size_t i = 0; i < shelf->ntouched; i++) {
		struct store *s = &shelf->by_track[shelf->touched[i]];

		qsort(s->rows, s->n, sizeof(*s->rows), by_start);
		for (size_t r = 0; r < s->n; r++)
			s->rows[r].end = s->rows[r].start > now ? s->rows[r].start : now;
	}
	if (shelf->ntouched)
		return put_shelf(w, shelf, GT_OPEN, err);
	gt_buf_clear(&w->content);
	return put_block(w, &head, &w->content, err);
}

int gt_writer_epoch(struct gt_writer *w, int64_t now, struct gt_err *err)
{
	int code = put_dict(w, err);

	if (!code)
		code = put_anchors(w, err);
	if (!code)
		code = put_shelf(w, &w->shelves[LATE], GT_CALL, err);
	for (unsigned k = GT_CALL; !code && k < GT_KINDS; k++)
		if (k != GT_OPEN)
			code = put_shelf(w, &w->shelves[k], (enum gt_kind)k, err);
	if (!code)
		code = put_summaries(w, &w->summaries, w->nsummaries, 0, err);
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
	struct gt_wire_segment seg = { .version = GT_WIRE_VERSION, .size = sizeof(seg), .id = w->id };
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
	code = put_bytes(w, (struct iovec[]){ { &skip, sizeof(skip) }, { &seg, sizeof(seg) } }, 2, err);
	if (code)
		return code;
	j = json_pack("{s:s?, s:s?}", "host", opt->host ? opt->host : host, "boot_id", opt->boot_id ? opt->boot_id : boot);
	json = j ? json_dumps(j, JSON_COMPACT) : NULL;
	json_decref(j);
	code = json ? gt_writer_meta(w, json, err) : fail(w, err, -EINVAL, "the host's name is not text");
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
	w->sorted = opt->rows_sorted;
	w->level = opt->level ? opt->level : 3;
	w->begin = lseek(fd, 0, SEEK_CUR);
	w->epoch_begin = w->newest = INT64_MIN;
	w->stats.min_start = w->summary_from = INT64_MAX;
	w->stats.max_end = w->summary_to = INT64_MIN;
	gt_buf_add(&w->index, &(struct gt_wire_index){ 0 }, sizeof(struct gt_wire_index));
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
	return put_summaries(arg, content, count, 1, NULL);
}

/* Upper levels need the rows once more. Where the file cannot be read back (a pipe) there are none. */
static int put_upper_levels(struct gt_writer *w, struct gt_err *err)
{
	char path[40];
	struct stat st;
	struct gt_reader *r;
	int fd, code = 0;

	if (w->begin < 0 || fstat(w->fd, &st) || !S_ISREG(st.st_mode) || w->stats.min_start > w->stats.max_end)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", w->fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	r = fd < 0 ? NULL : gt_reader_open_fd(fd, NULL);
	if (!r)
		return 0;
	w->summary_from = w->stats.min_start;
	w->summary_to = w->stats.max_end;
	code = gt_summary_upper(r, gt_reader_segments(r) - 1, put_upper, w, err);
	gt_reader_close(r);
	return code;
}

static int put_tail(struct gt_writer *w, struct gt_err *err)
{
	struct gt_wire_index ix = { GT_WIRE_INDEX_MAGIC, w->nblocks };	/* its room is at the front of w->index */
	struct gt_wire_footer foot = { .magic = GT_WIRE_FOOTER_MAGIC, .version = GT_WIRE_VERSION, .size = sizeof(foot), .id = w->id,
				       .index_at = w->stats.bytes };
	uint32_t crc = 0;
	struct gt_wire_skip skip = { GT_WIRE_SKIP_MAGIC, (uint32_t)(w->index.len + sizeof(crc)) };
	struct gt_wire_skip foot_skip = { GT_WIRE_SKIP_MAGIC, sizeof(foot) };

	foot.bytes = foot.index_at + sizeof(skip) + skip.size + sizeof(foot_skip) + sizeof(foot);
	foot.crc = gt_crc(&foot, offsetof(struct gt_wire_footer, crc));
	memcpy(w->index.data, &ix, sizeof(ix));
	crc = gt_crc(w->index.data, w->index.len);
	w->stats.index_bytes += foot.bytes - foot.index_at;
	return put_bytes(w, (struct iovec[]){ { &skip, sizeof(skip) }, { w->index.data, w->index.len }, { &crc, sizeof(crc) },
					      { &foot_skip, sizeof(foot_skip) }, { &foot, sizeof(foot) } }, 5, err);
}

static int release(struct gt_writer *w)
{
	int code = close(w->fd) ? -errno : 0;

	for (unsigned k = 0; k < STORES; k++) {
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
	gt_buf_release(&w->index);
	ZSTD_freeCCtx(w->zstd);
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
		code = gt_err_set(err, w->failed, "an earlier write failed: %s", strerror(-w->failed));
	else if (w->dirty || !w->epoch)		/* an epoch that was just closed keeps its open calls as the last word */
		code = gt_writer_epoch(w, w->newest > w->epoch_begin ? w->newest : w->epoch_begin == INT64_MIN ? 0 : w->epoch_begin, err);
	if (!code)
		code = put_dict(w, err);
	if (!code)
		code = put_anchors(w, err);
	if (!code)
		code = put_upper_levels(w, err);
	if (!code)
		code = put_tail(w, err);
	closed = release(w);
	return code ? code : closed ? gt_err_set(err, closed, "cannot write: %s", strerror(-closed)) : 0;
}

void gt_writer_abandon(struct gt_writer *w)
{
	if (w)
		release(w);
}
