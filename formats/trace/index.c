/* Entries in memory, or in a file: never both, so nothing can disagree.
 *
 * All indices of a reader together hold HELD_MAX entries in memory; what comes then is in a file. A
 * closed segment's index is in the trace already: it is checked once, a page at a time, and stays
 * there. That of a segment without one (its writer was killed, say) is collected from the blocks'
 * heads, as is that of a segment being written, and goes to a file without a name whenever a page
 * is full. Where there can be no such file (a full disk) it stays in memory up to the limit of who
 * asks.
 *
 * What is read again may have been changed in between by somebody; so everything that memory
 * depends on is looked at again.
 */
#include "formats/trace/index.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "formats/base/buf.h"
#include "formats/os/file.h"
#include "formats/trace/record.h"

#define HELD_MAX 131072u /* 9 MiB; a recording of 100 busy threads for 10 minutes */
#define PAGE (sizeof(((struct gt_index_walk *)0)->page) / sizeof(struct gt_wire_entry))

bool gt_index_sane(const struct gt_wire_block *h)
{
	return h->magic == GT_WIRE_BLOCK_MAGIC && h->size == sizeof(*h) &&
		h->bytes <= GT_BLOCK_BYTES && h->zbytes <= ZSTD_COMPRESSBOUND(GT_BLOCK_BYTES) &&
		h->zbytes > 0 && h->runs <= h->rows &&
		(h->kind != GT_W_ROWS || (h->rows <= GT_BLOCK_ROWS && h->max_end >= h->min_start));
}

static bool inside(const struct gt_index *ix, const struct gt_wire_entry *e)
{
	return gt_index_sane(&e->head) && e->at <= ix->bytes &&
		e->head.zbytes + GT_WIRE_HEAD <= ix->bytes - e->at;
}

static void let_go(struct gt_index *ix)
{
	free(ix->held);
	ix->held = NULL;
	ix->held_cap = 0;
}

int gt_index_load(struct gt_index *ix, struct gt_index_store *store, int fd, uint64_t at,
	uint32_t n, uint32_t crc)
{
	bool hold = store->held + n <= HELD_MAX &&
		!gt_grow(&ix->held, &ix->held_cap, n, sizeof(*ix->held));
	struct gt_wire_entry page[PAGE], *to = page;
	uint32_t said;
	int code = 0;

	ix->fd = fd;
	ix->at = at;
	for (uint32_t i = 0, more; !code && i < n; i += more) {
		more = n - i < PAGE ? n - i : (uint32_t)PAGE;
		if (hold)
			to = ix->held + i;
		if (gt_pread(fd, to, more * sizeof(*to), at + i * sizeof(*to))) {
			code = -EBADMSG;
			break;
		}
		crc = gt_crc_more(crc, to, more * sizeof(*to));
		for (uint32_t k = 0; !code && k < more; k++)
			if (!inside(ix, &to[k]) ||
				to[k].head.crc !=
					gt_crc(&to[k].head, offsetof(struct gt_wire_block, crc)))
				code = -EBADMSG;
	}
	if (code || gt_pread(fd, &said, sizeof(said), at + n * sizeof(*to)) || said != crc) {
		let_go(ix);
		return -EBADMSG;
	}
	ix->n = n;
	ix->nheld = hold ? n : 0;
	store->held += ix->nheld;
	return 0;
}

/* Moves what is held to the file. */
static int spill(struct gt_index *ix, struct gt_index_store *store)
{
	size_t bytes = ix->nheld * sizeof(*ix->held);
	int code = 0;

	if (store->fd < 0)
		code = store->fd = gt_temporary(NULL);

	if (code >= 0)
		code = gt_pwrite(store->fd, ix->held, bytes, store->end);
	if (code < 0) {
		store->full = true;
		return code;
	}
	if (ix->n == ix->nheld) {
		ix->fd = store->fd;
		ix->at = store->end;
	}
	store->end += bytes;
	store->held -= ix->nheld;
	ix->nheld = 0;
	return 0;
}

int gt_index_add(struct gt_index *ix, struct gt_index_store *store, const struct gt_wire_entry *e,
	struct gt_err *err)
{
	if (store->held >= HELD_MAX && ix->nheld >= PAGE && !store->full)
		spill(ix, store);
	if (store->full && store->held >= store->most)
		return gt_err_set(err, -ENOSPC,
			"more blocks than fit into memory, and no room for their index in %s (TMPDIR)",
			gt_temporary_folder());
	if (gt_grow(&ix->held, &ix->held_cap, ix->nheld + 1, sizeof(*ix->held)))
		return gt_err_set(err, -ENOMEM, "out of memory");
	ix->held[ix->nheld++] = *e;
	ix->n++;
	store->held++;
	return 0;
}

void gt_index_end(struct gt_index *ix, struct gt_index_store *store)
{
	if (!ix->nheld || store->full || (ix->nheld == ix->n && store->held < HELD_MAX) ||
		spill(ix, store))
		return;
	let_go(ix);
}

void gt_index_release(struct gt_index *ix) { free(ix->held); }

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
	uint32_t filed = ix->n - ix->nheld;

	if (i < filed)
		return read_page(ix, e, i, 1, err);
	*e = ix->held[i - filed];
	return 0;
}

int gt_index_next(const struct gt_index *ix, struct gt_index_walk *w,
	const struct gt_wire_entry **e, struct gt_err *err)
{
	uint32_t filed = ix->n - ix->nheld, i = w->next;
	int code;

	if (i >= ix->n)
		return 0;
	w->next++;
	if (i >= filed) {
		*e = &ix->held[i - filed];
		return 1;
	}
	if (i - w->first >= w->n) {
		w->first = i;
		w->n = filed - i < PAGE ? filed - i : (uint32_t)PAGE;
		if ((code = read_page(ix, w->page, i, w->n, err))) {
			w->n = 0;
			return code;
		}
	}
	*e = &w->page[i - w->first];
	return 1;
}
