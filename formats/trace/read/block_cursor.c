/* A block's rows in order of time, decoded on demand.
 *
 * A thousand busy threads have a thousand blocks that overlap in time and are open at once.
 * Unpacked into arrays they need 35 bytes per row, and more with arguments, which does not fit into
 * memory. So a cursor holds the block's packed content without zstd (some 5 bytes per row), a
 * position in each column, and a window of a few decoded rows.
 *
 * Before the first row is returned, gt_block_unpack (into memory shared by all cursors) and
 * gt_args_open check the whole content, so that decoding cannot fail later.
 *
 * A block of several runs is merged when it is loaded: its rows are sorted by time and packed again
 * as one run, followed by a column of tracks. So the rest of this file handles one run, and the
 * iterator compares one row per block.
 *
 * Input out of order can make any number of blocks overlap. Contents beyond CONTENT_MAX are freed
 * as soon as a window is filled, and loaded again for the next one. The contents that were loaded
 * first stay: a merge needs each block in turn, so keeping the latest would be worse. The more
 * windows there are, the smaller they are.
 */
#include "formats/trace/read/block_cursor.h"

#include <stdlib.h>
#include <string.h>

#define CONTENT_MAX (16u << 20)
/* bytes of all windows together, unless that is less than WINDOW_MIN for each */
#define WINDOWS_MAX (20u << 20)
#define WINDOW_MIN 1024u
/* of one window, if all contents fit into CONTENT_MAX; if not, larger windows mean less loading */
#define WINDOW_MAX 8192u
/* of one window, if at most FEW_OPEN are open: these fit into the processor's cache, and more rows
 * at a time are faster */
#define WINDOW_FEW (32u << 10)
#define FEW_OPEN 8

/* ---- many runs to one ---- */

struct key {
	int64_t start;
	uint64_t rest;
}; /* rest: depth, track, row */
struct gt_merge {
	struct gt_packer packer;
	struct gt_buf packed;
	uint64_t *args; /* of all rows, one after another */
	size_t args_cap;
	uint64_t *to[GT_ARGS_ROWS];
	struct gt_args_scratch scratch;
	struct key keys[GT_BLOCK_ROWS], other[GT_BLOCK_ROWS];
	uint32_t ends[GT_BLOCK_ROWS];
	struct gt_writer_row sorted[GT_BLOCK_ROWS];
	uint64_t tracks[GT_BLOCK_ROWS];
	uint32_t first_arg[GT_BLOCK_ROWS];
	int32_t ret[GT_BLOCK_ROWS];
};

static inline bool before(const struct key *a, const struct key *b)
{
	return a->start < b->start || (a->start == b->start && a->rest < b->rest);
}

/* Makes the keys of the rows on selected tracks, run after run, and notes the end of
 * each run. Returns the number of runs. */
static uint32_t make_keys(
	struct gt_merge *m, const struct gt_unpacked *u, const struct gt_compiled_filter *filter)
{
	uint32_t n = 0, nruns = 0;

	for (const struct gt_run *run = u->runs; run < u->runs + u->nruns; run++) {
		if (!gt_filter_matches_track(filter, run->track))
			continue;
		for (uint32_t i = run->first; i < run->first + run->n; i++) {
			uint64_t depth = u->depth ? u->depth[i] : 0;

			m->keys[n++] = (struct key){ u->start[i],
				depth << 56 | (uint64_t)run->track << 16 | i };
		}
		m->ends[nruns++] = n;
	}
	return nruns;
}

/* Merges the sorted ranges [a, b) and [b, end). The comparisons cannot be predicted,
 * so no branch depends on them. */
static void merge_two(
	const struct key *a, const struct key *b, const struct key *end, struct key *to)
{
	const struct key *middle = b;

	while (a < middle && b < end) {
		bool second = before(b, a);

		*to++ = *(second ? b : a);
		a += !second;
		b += second;
	}
	memcpy(to, a, (size_t)(middle - a) * sizeof(*a));
	memcpy(to + (middle - a), b, (size_t)(end - b) * sizeof(*b));
}

/* Merges neighbouring runs until one is left. Rows of a run keep their order,
 * whatever their depths. */
static const struct key *merge_keys(struct gt_merge *m, uint32_t nruns)
{
	struct key *from = m->keys, *to = m->other, *swap;

	for (uint32_t left; nruns > 1; nruns = left) {
		uint32_t at = 0;

		left = 0;
		for (uint32_t r = 0; r < nruns; r += 2) {
			uint32_t end = m->ends[r + 1 < nruns ? r + 1 : r];

			merge_two(from + at, from + m->ends[r], from + end, to + at);
			m->ends[left++] = at = end;
		}
		swap = from;
		from = to;
		to = swap;
	}
	return from;
}

/* Unpacks the arguments and return codes of all rows, by row. */
static int unpack_args(struct gt_merge *m, struct gt_unpacked *u, const struct gt_segment *seg)
{
	struct gt_span in = u->args;
	struct gt_args args;
	size_t total = 0, at = 0;
	int code = gt_args_open(&args, u, seg, &in);

	for (uint32_t c = 0; !code && c < u->ntypes; c++)
		total += (size_t)u->per_code[c] * args.codes[c].nfields;
	if (!code)
		code = gt_grow(&m->args, &m->args_cap, total + 1, sizeof(*m->args));
	for (uint32_t i = 0; !code && i < u->nrows; i += GT_ARGS_ROWS) {
		uint32_t n = u->nrows - i < GT_ARGS_ROWS ? u->nrows - i : GT_ARGS_ROWS;

		for (uint32_t j = 0; j < n; j++) {
			m->first_arg[i + j] = (uint32_t)at;
			m->to[j] = m->args + at;
			at += args.codes[u->code ? u->code[i + j] : 0].nfields;
		}
		gt_args_next(&args, &m->scratch, u->code ? u->code + i : NULL, m->to, n);
	}
	gt_args_release(&args);
	memset(m->ret, 0, u->nrows * sizeof(*m->ret));
	for (uint32_t i = 0; i < u->nret; i++)
		m->ret[u->ret_row[i]] = u->ret[i];
	return code;
}

/* Fills m->sorted with the rows, as the writer has them. */
static void gather(struct gt_merge *m, const struct gt_unpacked *u, const struct gt_segment *seg,
	const struct key *keys, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t row = keys[i].rest & 0xffff, code = u->code ? u->code[row] : 0;

		m->tracks[i] = (uint32_t)(keys[i].rest >> 16) + 1u;
		m->sorted[i] = (struct gt_writer_row){ .start = u->start[row],
			.end = u->start[row] + u->dur[row],
			.type = u->types[code],
			.ret = m->ret[row],
			.args = m->first_arg[row],
			.depth = u->depth ? u->depth[row] : 0,
			.nargs = (uint8_t)gt_block_fields(u, seg, code) };
	}
}

/* Converts the content of a block of several runs to that of a block of one run, in k->merge. It is
 * packed and unpacked with the kind GT_LOST: only losses neither nest nor need a type. */
static int merge_runs(struct gt_cursor_shared *k, struct gt_block_cursor *w,
	struct gt_span *content, struct gt_err *why)
{
	struct gt_merge *m = k->merge ? k->merge : (k->merge = calloc(1, sizeof(*m)));
	const struct gt_segment *seg = &w->seg->pub;
	struct gt_slice slice = { .track = GT_NONE };
	struct gt_wire_block head;
	uint32_t nruns;
	int code = m ? unpack_args(m, &k->u, seg) : -ENOMEM;

	if (code)
		return gt_err_set(why, code, "a block's arguments are damaged");
	nruns = make_keys(m, &k->u, w->filter);
	w->nrows = nruns ? m->ends[nruns - 1] : 0;
	if (!w->nrows)
		return 0;
	gather(m, &k->u, seg, merge_keys(m, nruns), w->nrows);
	slice.rows = m->sorted;
	slice.n = w->nrows;
	slice.args = m->args;
	gt_buf_clear(&m->packed);
	code = gt_block_pack(&m->packer, GT_LOST, seg->types, &slice, 1, &m->packed, &head);
	gt_put_column(&m->packed, m->tracks, w->nrows);
	if (code || !gt_buf_reserve(&m->packed, GT_SLACK) || m->packed.failed)
		return -ENOMEM;
	memset(m->packed.data + m->packed.len, 0, GT_SLACK);
	*content = (struct gt_span){ m->packed.data, m->packed.data + m->packed.len };
	return gt_block_unpack(&k->u, GT_LOST, *content, w->nrows, seg, why);
}

/* ---- contents ---- */

static void free_content(struct gt_cursor_shared *k, struct gt_block_cursor *w)
{
	k->content_bytes -= w->content_bytes;
	w->content_bytes = 0;
	free(w->content);
	w->content = NULL;
	gt_args_release(&w->in);
}

/* Moves to the next row that has a return code. */
static void find_ret(struct gt_block_cursor *w)
{
	uint64_t distance;

	if (!w->nrets) {
		w->ret_row = GT_NONE;
		return;
	}
	w->nrets--;
	gt_column_next(&w->ret_rows, &distance, 1);
	w->ret_row += (uint32_t)distance;
}

/* Opens all columns of w->content at their beginning; u was unpacked from the same bytes. */
static int open_columns(struct gt_block_cursor *w, struct gt_unpacked *u, size_t bytes, bool merged)
{
	struct gt_span in = { w->content + u->gaps_at, w->content + bytes };
	size_t n = w->nrows;
	int code;

	w->start = w->end = u->base;
	w->depth = 255;
	w->signed_gaps = u->signed_gaps;
	w->nested = u->kind == GT_CALL || u->kind == GT_OPEN;
	w->code = u->codes_at ? w->content + u->codes_at : NULL;
	w->code_high = u->codes_at && u->wide_codes ? w->code + n : NULL;
	w->depths = u->depths_at ? w->content + u->depths_at : NULL;
	if (gt_column_open(&w->gaps, &in, n) || gt_column_open(&w->durs, &in, n) ||
		!gt_get_u32(&in, &w->nrets) || w->nrets > n ||
		(w->nrets &&
			(gt_column_open(&w->ret_rows, &in, w->nrets) ||
				gt_column_open(&w->rets, &in, w->nrets))))
		return -EBADMSG;
	w->ret_row = 0;
	find_ret(w);
	code = gt_args_open(&w->in, u, &w->seg->pub, &in);
	return code || !merged ? code : gt_column_open(&w->track_ids, &in, n);
}

static int make_window(struct gt_cursor_shared *k, struct gt_block_cursor *w, bool merged)
{
	size_t row = sizeof(*w->rows) + w->in.most * sizeof(*w->values) +
		(merged ? sizeof(*w->tracks) : 0);
	size_t bytes = WINDOWS_MAX / (k->most_open + 1),
	       most = k->most_open <= FEW_OPEN ? WINDOW_FEW : WINDOW_MAX;

	if (bytes < WINDOW_MIN)
		bytes = WINDOW_MIN;
	if (bytes > most && k->most_open < CONTENT_MAX / GT_BLOCK_BYTES)
		bytes = most;
	w->size = bytes / row < 4              ? 4
		: bytes / row > GT_CURSOR_ROWS ? GT_CURSOR_ROWS
					       : (uint32_t)(bytes / row);
	w->size = w->size > w->nrows ? w->nrows : w->size;
	w->most_fields = w->in.most;
	w->rows = malloc(w->size * row);
	if (!w->rows)
		return -ENOMEM;
	w->values = (uint64_t *)(void *)(w->rows + w->size);
	w->row_tracks =
		merged ? (uint32_t *)(void *)(w->values + (size_t)w->size * w->in.most) : NULL;
	return 0;
}

static void decode(struct gt_cursor_shared *k, struct gt_block_cursor *w, uint32_t most);

/* Loads and checks the whole content, and moves to the end of the last window. */
static int load(struct gt_cursor_shared *k, struct gt_block_cursor *w, struct gt_err *why)
{
	uint32_t target = w->done;
	struct gt_span content;
	bool merged = false;
	int code;

	w->done = 0;
	w->nrows = w->e.head.rows;
	code = gt_load(w->seg, &w->e, &k->loader, &content, why);
	if (!code)
		code = gt_block_unpack(
			&k->u, (enum gt_kind)w->e.head.sub, content, w->nrows, &w->seg->pub, why);
	if (!code && k->u.nruns > 1) {
		merged = true;
		code = merge_runs(k, w, &content, why);
	} else if (!code && !gt_filter_matches_track(w->filter, k->u.runs[0].track)) {
		w->nrows = 0;
	}
	if (code || !w->nrows)
		return code;
	w->content_bytes = (size_t)(content.end - content.at);
	w->track = k->u.runs[0].track;
	if (!(w->content = malloc(w->content_bytes + GT_SLACK)))
		return -ENOMEM;
	memcpy(w->content, content.at, w->content_bytes + GT_SLACK);
	code = open_columns(w, &k->u, w->content_bytes, merged);
	w->content_bytes += w->in.bytes;
	k->content_bytes += w->content_bytes;
	if (code)
		return gt_err_set(why, code, "a block's arguments are damaged");
	if (!w->rows)
		return make_window(k, w, merged);
	if (w->nrows < target || w->in.most > w->most_fields || merged != (w->row_tracks != NULL))
		return gt_err_set(why, -EBADMSG, "a block changed while it was read");
	while (w->done < target)
		decode(k, w, target - w->done);
	return 0;
}

/* ---- windows ---- */

static void decode_times(struct gt_cursor_shared *k, struct gt_block_cursor *w, uint32_t n)
{
	const uint8_t *depths = w->depths;
	struct gt_row *rows = w->rows;
	int64_t start = w->start, end = w->end;
	bool nested = w->nested, signed_gaps = w->signed_gaps;
	unsigned last = w->depth;

	gt_column_next(&w->gaps, k->gaps, n);
	gt_column_next(&w->durs, k->durs, n);
	for (uint32_t i = 0; i < n; i++) {
		unsigned depth = depths ? depths[i] : 0;
		int64_t from = nested && depth > last ? start : end;

		start = from + (signed_gaps ? gt_unzigzag(k->gaps[i]) : (int64_t)k->gaps[i]);
		end = start + (int64_t)k->durs[i];
		last = depth;
		rows[i] = (struct gt_row){ .start = start, .end = end, .depth = (uint8_t)depth };
	}
	w->start = start;
	w->end = end;
	w->depth = last;
	if (depths)
		w->depths += n;
}

static void decode_types(struct gt_cursor_shared *k, struct gt_block_cursor *w, uint32_t n)
{
	const struct gt_args_code *codes = w->in.codes;
	struct gt_row *rows = w->rows;

	for (uint32_t i = 0; i < n; i++)
		k->codes[i] = w->code ? w->code[i] : 0;
	for (uint32_t i = 0; w->code_high && i < n; i++)
		k->codes[i] |= (uint16_t)(w->code_high[i] << 8);
	for (uint32_t i = 0; i < n; i++) {
		rows[i].type = codes[k->codes[i]].type;
		rows[i].nargs = codes[k->codes[i]].nfields;
	}
}

static void decode_rets(struct gt_block_cursor *w, uint32_t n)
{
	uint64_t value;

	for (; w->ret_row < w->done + n; find_ret(w)) {
		gt_column_next(&w->rets, &value, 1);
		w->rows[w->ret_row - w->done].ret = (int32_t)gt_unzigzag(value);
	}
}

/* Decodes arguments and tracks, and drops the rows that the filter leaves out. */
static uint32_t decode_rest(struct gt_cursor_shared *k, struct gt_block_cursor *w, uint32_t n)
{
	uint64_t *to = w->values;
	uint32_t kept = 0;

	if (w->row_tracks)
		gt_column_next(&w->track_ids, k->tracks, n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t track = w->row_tracks ? (uint32_t)k->tracks[i] - 1 : w->track;

		k->args[i] = k->unwanted;
		if (!gt_filter_matches_row(
			    w->filter, track, w->rows[i].type, w->rows[i].start, w->rows[i].end))
			continue;
		k->args[i] = to;
		to += w->rows[i].nargs;
		w->rows[kept] = w->rows[i];
		if (w->row_tracks)
			w->row_tracks[kept] = track;
		kept++;
	}
	if (w->in.most)
		gt_args_next(&w->in, &k->args_scratch, w->code ? k->codes : NULL, k->args, n);
	return kept;
}

/* Decodes the next rows, at most `most` and as many as fit into the window. */
static void decode(struct gt_cursor_shared *k, struct gt_block_cursor *w, uint32_t most)
{
	uint32_t left = w->nrows - w->done, n = most < w->size ? most : w->size, kept;
	bool cut;

	n = n < left ? n : left;
	decode_times(k, w, n);
	decode_types(k, w, n);
	decode_rets(w, n);
	cut = w->filter->types || w->filter->hidden || w->filter->filter->ranged;
	kept = cut || w->in.most || w->row_tracks ? decode_rest(k, w, n) : n;
	if (w->code)
		w->code += n;
	if (w->code_high)
		w->code_high += n;
	w->done += n;
	w->row = w->rows;
	w->end_row = w->rows + kept;
	w->args = w->values;
	w->tracks = w->row_tracks;
}

int gt_block_cursor_fill(struct gt_cursor_shared *k, struct gt_block_cursor *w)
{
	struct gt_err why = GT_ERR_INIT;
	int code = w->content || w->done == w->nrows ? 0 : load(k, w, &why);

	w->row = w->end_row = w->rows;
	while (!code && w->row == w->end_row && w->done < w->nrows)
		decode(k, w, GT_CURSOR_ROWS);
	if (code || w->done == w->nrows || k->content_bytes > CONTENT_MAX)
		free_content(k, w);
	if (code == -EBADMSG) {
		gt_note_damage(k->reader, w->seg, &w->e, &why);
		code = 0;
	}
	return code ? code : w->row < w->end_row;
}

struct gt_block_cursor *gt_block_cursor_open(const struct gt_seg *seg,
	const struct gt_wire_entry *e, const struct gt_compiled_filter *filter)
{
	struct gt_block_cursor *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->seg = seg;
	w->e = *e;
	w->filter = filter;
	w->kind = (enum gt_kind)e->head.sub;
	w->nrows = e->head.rows;
	return w;
}

void gt_block_cursor_close(struct gt_cursor_shared *k, struct gt_block_cursor *w)
{
	free_content(k, w);
	free(w->rows);
	free(w);
}

void gt_cursor_shared_release(struct gt_cursor_shared *k)
{
	gt_loader_release(&k->loader);
	gt_unpacked_release(&k->u);
	if (!k->merge)
		return;
	gt_packer_release(&k->merge->packer);
	gt_buf_release(&k->merge->packed);
	free(k->merge->args);
	free(k->merge);
}
