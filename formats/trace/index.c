/* Each entry is either in memory or in a file, never in both.
 *
 * All indices of a reader together have at most IN_MEMORY_MAX entries in memory; further entries
 * are in a file. The index of a closed segment is in the trace: it is checked once, a page at a
 * time, and is read from there. The index of a segment without one (its writer was killed, or is
 * still writing) is collected from the blocks' heads, and goes to an unnamed temporary file
 * whenever a page is full. If that file cannot be written (a full disk), entries stay in memory up
 * to gt_index_store.limit.
 *
 * Another program may change the file between two reads, so all sizes are checked at each read.
 */
#include "formats/trace/index.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "formats/base/buf.h"
#include "formats/os/file.h"
#include "formats/trace/record.h"

#define IN_MEMORY_MAX 131072u /* 9 MiB; a recording of 100 busy threads for 10 minutes */
#define PAGE (sizeof(((struct gt_index_walk *)0)->page) / sizeof(struct gt_wire_entry))

bool gt_index_is_within_limits(const struct gt_wire_block *h)
{
	return h->magic == GT_WIRE_BLOCK_MAGIC && h->size == sizeof(*h) &&
		h->bytes <= GT_BLOCK_BYTES && h->zbytes <= ZSTD_COMPRESSBOUND(GT_BLOCK_BYTES) &&
		h->zbytes > 0 && h->runs <= h->rows &&
		(h->kind != GT_W_ROWS || (h->rows <= GT_BLOCK_ROWS && h->max_end >= h->min_start));
}

static bool inside(const struct gt_index *ix, const struct gt_wire_entry *e)
{
	return gt_index_is_within_limits(&e->head) && e->at <= ix->bytes &&
		e->head.zbytes + GT_WIRE_HEAD <= ix->bytes - e->at;
}

static void free_tail(struct gt_index *ix)
{
	free(ix->tail);
	ix->tail = NULL;
	ix->tail_cap = 0;
}

int gt_index_load(struct gt_index *ix, struct gt_index_store *store, int fd, uint64_t at,
	uint32_t n, uint32_t crc)
{
	bool keep = store->in_memory + n <= IN_MEMORY_MAX &&
		!gt_grow(&ix->tail, &ix->tail_cap, n, sizeof(*ix->tail));
	struct gt_wire_entry page[PAGE], *to = page;
	uint32_t stored;
	int code = 0;

	ix->fd = fd;
	ix->at = at;
	for (uint32_t i = 0, more; !code && i < n; i += more) {
		more = n - i < PAGE ? n - i : (uint32_t)PAGE;
		if (keep)
			to = ix->tail + i;
		if (gt_pread(fd, to, more * sizeof(*to), at + i * sizeof(*to))) {
			code = -EBADMSG;
			break;
		}
		crc = gt_crc_continue(crc, to, more * sizeof(*to));
		for (uint32_t k = 0; !code && k < more; k++)
			if (!inside(ix, &to[k]) ||
				to[k].head.crc !=
					gt_crc(&to[k].head, offsetof(struct gt_wire_block, crc)))
				code = -EBADMSG;
	}
	if (code || gt_pread(fd, &stored, sizeof(stored), at + n * sizeof(*to)) || stored != crc) {
		free_tail(ix);
		return -EBADMSG;
	}
	ix->n = n;
	ix->ntail = keep ? n : 0;
	store->in_memory += ix->ntail;
	return 0;
}

/* Moves the entries in memory to the temporary file. */
static int move_to_file(struct gt_index *ix, struct gt_index_store *store)
{
	size_t bytes = ix->ntail * sizeof(*ix->tail);
	int code = 0;

	if (store->fd < 0)
		code = store->fd = gt_temporary(NULL);

	if (code >= 0)
		code = gt_pwrite(store->fd, ix->tail, bytes, store->end);
	if (code < 0) {
		store->full = true;
		return code;
	}
	if (ix->n == ix->ntail) {
		ix->fd = store->fd;
		ix->at = store->end;
	}
	store->end += bytes;
	store->in_memory -= ix->ntail;
	ix->ntail = 0;
	return 0;
}

int gt_index_add(struct gt_index *ix, struct gt_index_store *store, const struct gt_wire_entry *e,
	struct gt_err *err)
{
	if (store->in_memory >= IN_MEMORY_MAX && ix->ntail >= PAGE && !store->full)
		move_to_file(ix, store);
	if (store->full && store->in_memory >= store->limit)
		return gt_err_set(err, -ENOSPC,
			"the index does not fit into memory, and cannot be stored in %s (TMPDIR)",
			gt_temporary_folder());
	if (gt_grow(&ix->tail, &ix->tail_cap, ix->ntail + 1, sizeof(*ix->tail)))
		return gt_err_set(err, -ENOMEM, "out of memory");
	ix->tail[ix->ntail++] = *e;
	ix->n++;
	store->in_memory++;
	return 0;
}

void gt_index_end(struct gt_index *ix, struct gt_index_store *store)
{
	if (!ix->ntail || store->full || (ix->ntail == ix->n && store->in_memory < IN_MEMORY_MAX) ||
		move_to_file(ix, store))
		return;
	free_tail(ix);
}

void gt_index_release(struct gt_index *ix) { free(ix->tail); }

static int read_page(const struct gt_index *ix, struct gt_wire_entry *to, uint32_t i, uint32_t n,
	struct gt_err *err)
{
	uint64_t at = ix->at + (uint64_t)i * sizeof(*to);
	bool fine = !gt_pread(ix->fd, to, n * sizeof(*to), at);

	for (uint32_t k = 0; fine && k < n; k++)
		fine = inside(ix, &to[k]);
	return fine ? 0 : gt_err_at(err, at, -EBADMSG, "the index changed while it was read");
}

int gt_index_get(const struct gt_index *ix, uint32_t i, struct gt_wire_entry *e, struct gt_err *err)
{
	uint32_t in_file = ix->n - ix->ntail;

	if (i < in_file)
		return read_page(ix, e, i, 1, err);
	*e = ix->tail[i - in_file];
	return 0;
}

int gt_index_next(const struct gt_index *ix, struct gt_index_walk *w,
	const struct gt_wire_entry **e, struct gt_err *err)
{
	uint32_t in_file = ix->n - ix->ntail, i = w->next;
	int code;

	if (i >= ix->n)
		return 0;
	w->next++;
	if (i >= in_file) {
		*e = &ix->tail[i - in_file];
		return 1;
	}
	if (i - w->first >= w->n) {
		w->first = i;
		w->n = in_file - i < PAGE ? in_file - i : (uint32_t)PAGE;
		if ((code = read_page(ix, w->page, i, w->n, err))) {
			w->n = 0;
			return code;
		}
	}
	*e = &w->page[i - w->first];
	return 1;
}
