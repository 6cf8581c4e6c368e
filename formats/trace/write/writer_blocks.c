/* Writes rows as blocks: packs, summarizes, compresses and writes each block. A
 * block that exceeds the size limit is written as two. */
#include "formats/trace/write/writer_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "formats/base/sorted.h"
#include "formats/trace/summary.h"

#define QUIET_ROWS 1024                /* an empty buffer keeps memory for so many rows at most */
#define SPARE_ARGS (8 * GT_BLOCK_ROWS) /* a buffer with more values is freed */
/* a track with so many rows in an epoch gets blocks of its own */
#define OWN_BLOCK_ROWS 2048

int gt_blocks_fail(struct gt_writer *w, struct gt_err *err, int code, const char *what)
{
	w->failed = code;
	return gt_err_set(err, code, "%s: %s", what, strerror(-code));
}

int gt_blocks_check(const struct gt_writer *w, struct gt_err *err)
{
	return w->failed
		? gt_err_set(err, w->failed, "an earlier write failed: %s", strerror(-w->failed))
		: 0;
}

/* ---- bytes to the file ---- */

void gt_blocks_cut(struct gt_writer *w)
{
	if (w->begin >= 0 && ftruncate(w->fd, w->begin + (off_t)w->stats.bytes))
		return; /* readers ignore an incomplete block */
}

int gt_blocks_bytes(struct gt_writer *w, struct iovec *v, int n, struct gt_err *err)
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

			if (code == -EAGAIN && w->wait &&
				!(code = w->wait(w->wait_arg, w->fd, err)))
				continue;
			gt_blocks_cut(w);
			return gt_blocks_fail(w, err, code, "cannot write");
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
	to = gt_buf_reserve(&w->frame, bound);
	if (!to || content->failed)
		return gt_blocks_fail(w, err, -ENOMEM, "cannot pack a block");
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, w->level);
	got = ZSTD_compress2(w->zstd, to, bound, content->data, content->len);
	if (ZSTD_isError(got))
		return gt_blocks_fail(w, err, -ENOMEM, ZSTD_getErrorName(got));
	w->frame.len = got;
	return 0;
}

/* Writes the head in a skippable frame and the content in a zstd frame, and adds the
 * block to the index. */
int gt_blocks_put(struct gt_writer *w, struct gt_wire_block *head, const struct gt_buf *content,
	struct gt_err *err)
{
	struct gt_wire_skip skip = { GT_WIRE_SKIP_MAGIC, sizeof(*head) };
	struct gt_wire_entry entry = { .at = w->stats.bytes };
	int code;

	if ((code = gt_blocks_check(w, err)) || (code = pack_frame(w, content, err)))
		return code;
	head->magic = GT_WIRE_BLOCK_MAGIC;
	head->size = sizeof(*head);
	head->epoch = w->epoch;
	head->zbytes = (uint32_t)w->frame.len;
	head->bytes = (uint32_t)content->len;
	head->number = w->nblocks++;
	head->crc = gt_crc(head, offsetof(struct gt_wire_block, crc));
	entry.head = *head;
	code = gt_blocks_bytes(w,
		(struct iovec[]){ { &skip, sizeof(skip) }, { head, sizeof(*head) },
			{ w->frame.data, w->frame.len } },
		3, err);
	if (code)
		return code;
	w->stats.unpacked += content->len;
	w->stats.index_bytes +=
		sizeof(skip) + sizeof(*head) + (head->kind == GT_W_SUMMARY ? head->zbytes : 0);
	return gt_index_add(&w->index, &w->index_store, &entry, NULL)
		? gt_blocks_fail(w, err, -ENOMEM, "cannot keep the index")
		: 0;
}

int gt_blocks_dict(struct gt_writer *w, struct gt_err *err)
{
	uint32_t count = 0;

	for (;;) {
		struct gt_wire_block head = { .track = GT_NONE };
		unsigned kind;
		int code;

		gt_buf_clear(&w->content);
		kind = gt_dict_flush(
			&w->dict, GT_BLOCK_BYTES - GT_STRING_MAX - 16, &w->content, &count);
		if (!kind)
			return 0;
		head.kind = (uint8_t)kind;
		head.rows = count;
		if ((code = gt_blocks_put(w, &head, &w->content, err)))
			return code;
	}
}

/* ---- rows to blocks ---- */

static void note_summary(struct gt_writer *w, const struct gt_wire_block *head)
{
	w->summary_from = head->min_start < w->summary_from ? head->min_start : w->summary_from;
	w->summary_to = head->max_end > w->summary_to ? head->max_end : w->summary_to;
}

int gt_blocks_summaries(struct gt_writer *w, struct gt_buf *content, uint32_t count, uint8_t sub,
	struct gt_err *err)
{
	struct gt_wire_block head = { .kind = GT_W_SUMMARY,
		.sub = sub,
		.rows = count,
		.track = GT_NONE,
		.min_start = w->summary_from,
		.max_end = w->summary_to };
	int code = count ? gt_blocks_put(w, &head, content, err) : 0;

	gt_buf_clear(content);
	return code;
}

static int summarize(struct gt_writer *w, const struct gt_slice *slices, size_t n,
	const struct gt_wire_block *head, struct gt_err *err)
{
	if (w->no_summaries ||
		(head->sub != GT_CALL && head->sub != GT_SPAN && head->sub != GT_GPU))
		return 0;
	for (size_t i = 0; i < n; i++) {
		int count;

		if (w->summaries.len > GT_BLOCK_BYTES / 2) {
			if (gt_blocks_summaries(
				    w, &w->summaries, w->nsummaries, GT_W_OF_BLOCKS, err))
				return w->failed;
			w->nsummaries = 0;
		}
		count = gt_summary_of_slice(w->dict.types, w->dict.bytes_field, head->sub,
			&slices[i], head->max_end, w->nblocks, &w->summaries);
		if (count < 0)
			return gt_blocks_fail(w, err, count, "cannot summarize");
		w->nsummaries += (uint32_t)count;
	}
	note_summary(w, head);
	return 0;
}

static int put_rows(struct gt_writer *w, enum gt_kind kind, struct gt_slice *slices, size_t n,
	struct gt_err *err);

/* Writes the rows of a too large block as two blocks. */
static int put_halves(struct gt_writer *w, enum gt_kind kind, struct gt_slice *slices, size_t n,
	size_t rows, struct gt_err *err)
{
	size_t half = rows / 2, i = 0;
	struct gt_slice *second;
	int code;

	while (half >= slices[i].n)
		half -= slices[i++].n;
	second = malloc((n - i) * sizeof(*second));
	if (!second)
		return gt_blocks_fail(w, err, -ENOMEM, "cannot split a block");
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

static int put_rows(struct gt_writer *w, enum gt_kind kind, struct gt_slice *slices, size_t n,
	struct gt_err *err)
{
	struct gt_wire_block head = { .kind = GT_W_ROWS, .sub = (uint8_t)kind };
	int code;

	gt_buf_clear(&w->content);
	if (gt_block_pack(&w->packer, kind, w->dict.types, slices, n, &w->content, &head))
		return gt_blocks_fail(w, err, -ENOMEM, "cannot pack a block");
	if (w->content.len > GT_BLOCK_BYTES && head.rows > 1)
		return put_halves(w, kind, slices, n, head.rows, err);
	if (w->sorted && w->epoch && head.min_start < w->epoch_begin)
		head.lateness = (uint64_t)(w->epoch_begin - head.min_start);
	if ((code = summarize(w, slices, n, &head, err)))
		return code;
	return gt_blocks_put(w, &head, &w->content, err);
}

static void empty(struct gt_writer *w, struct gt_row_buffer *s)
{
	w->row_bytes -= s->n * sizeof(*s->rows) + s->nargs * 8;
	s->n = s->nargs = 0;
	s->unsorted = false;
	if (s->cap <= QUIET_ROWS && s->args_cap <= 4 * QUIET_ROWS)
		return;
	if (s->cap > w->spare.cap && s->cap <= 2 * GT_BLOCK_ROWS && s->args_cap <= SPARE_ARGS) {
		struct gt_row_buffer old = w->spare;

		w->spare = *s;
		*s = old;
	}
	free(s->rows);
	free(s->args);
	memset(s, 0, sizeof(*s));
}

int gt_compare_rows(const void *a, const void *b)
{
	const struct gt_writer_row *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	return x->end > y->end ? -1 : x->end < y->end;
}

/* Writes the rows of one track as one or more blocks. */
int gt_blocks_busy(struct gt_writer *w, enum gt_kind kind, uint32_t track, struct gt_row_buffer *s,
	struct gt_err *err)
{
	for (size_t at = 0; at < s->n; at += GT_BLOCK_ROWS) {
		struct gt_slice slice = { track, s->rows + at,
			s->n - at < GT_BLOCK_ROWS ? s->n - at : GT_BLOCK_ROWS, s->args };
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

	return GT_COMPARE(x, y);
}

/* Writes all rows of a kind: busy tracks in blocks of their own, the others together. */
int gt_blocks_kind(
	struct gt_writer *w, struct gt_row_buffers *buffers, enum gt_kind kind, struct gt_err *err)
{
	size_t n = 0, rows = 0, first = 0;
	int code = 0;

	GT_SORT(buffers->touched, buffers->ntouched, by_id);
	for (size_t i = 0; !code && i < buffers->ntouched; i++) {
		struct gt_row_buffer *s = &buffers->by_track[buffers->touched[i]];

		if (s->unsorted)
			GT_SORT(s->rows, s->n, gt_compare_rows);
		if (s->n >= OWN_BLOCK_ROWS &&
			(code = gt_blocks_busy(w, kind, buffers->touched[i] - 1, s, err)))
			return code;
	}
	for (size_t i = 0; !code && i <= buffers->ntouched; i++) {
		struct gt_row_buffer *s =
			i < buffers->ntouched ? &buffers->by_track[buffers->touched[i]] : NULL;

		if (n && (!s || rows + s->n > GT_BLOCK_ROWS)) {
			code = put_rows(w, kind, w->slices, n, err);
			for (; first < i; first++)
				empty(w, &buffers->by_track[buffers->touched[first]]);
			n = rows = 0;
		}
		if (!s || !s->n)
			continue;
		if (gt_grow(&w->slices, &w->slices_cap, n + 1, sizeof(*w->slices)))
			return gt_blocks_fail(w, err, -ENOMEM, "cannot pack a block");
		w->slices[n++] =
			(struct gt_slice){ buffers->touched[i] - 1, s->rows, s->n, s->args };
		rows += s->n;
	}
	buffers->ntouched = 0;
	return code;
}
