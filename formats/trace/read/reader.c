/* Opens a trace: finds its segments and their blocks.
 *
 * A closed segment is found from its end: the footer gives the index, whatever the size of the
 * file. If there is no valid footer (the program that wrote it was killed, or is still writing) or
 * the index is damaged, the block heads are read from the front. They give the lengths of the
 * frames behind them, so nothing is decompressed. If a head is damaged, the search continues at the
 * next frame with a valid checksum, and the bytes between are noted as damage.
 */
#define _GNU_SOURCE /* memmem */
#include "formats/trace/read/reader.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/trace/read/reader_internal.h"
#include "formats/base/progress.h"
#include "formats/base/sorted.h"

/* entries in memory if the temporary file cannot be written: 72 MiB */
#define INDEX_IN_MEMORY_MAX (1u << 20)

/* Is there a skippable frame of gt at `at`, at least `need` bytes long and before `end`? */
static bool get_skip(const struct gt_reader *r, uint64_t at, uint64_t end, uint32_t need,
	struct gt_wire_skip *skip)
{
	return end - at >= sizeof(*skip) && !gt_pread(r->fd, skip, sizeof(*skip), at) &&
		skip->magic == GT_WIRE_SKIP_MAGIC && skip->size >= need &&
		skip->size <= end - at - sizeof(*skip);
}

static bool sane_head(const struct gt_wire_block *h)
{
	return gt_index_is_within_limits(h) &&
		h->crc == gt_crc(h, offsetof(struct gt_wire_block, crc));
}

static bool sane_segment(const struct gt_wire_segment *s)
{
	return !memcmp(s->magic, GT_WIRE_SEGMENT_MAGIC, sizeof(s->magic)) &&
		s->crc == gt_crc(s, offsetof(struct gt_wire_segment, crc));
}

static struct gt_seg *new_segment(struct gt_reader *r, uint64_t at, struct gt_err *err)
{
	struct gt_seg *seg;

	if (gt_charge_names(r, GT_NAME_MEMORY_SEGMENT)) {
		gt_err_at(err, at, -EBADMSG, "more recordings than a trace may have");
		return NULL;
	}
	if (gt_grow(&r->segs, &r->segs_cap, r->nsegs + 1, sizeof(*r->segs))) {
		gt_err_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	seg = &r->segs[r->nsegs++];
	memset(seg, 0, sizeof(*seg));
	seg->fd = r->fd;
	seg->at = at;
	seg->last_open_epoch = GT_NONE;
	return seg;
}

/* The segment is filled in by place_damage, when all are known. */
static void damage_at(struct gt_reader *r, uint64_t at, const char *text)
{
	struct gt_err why = GT_ERR_INIT;
	struct gt_seg seg = { .at = at };
	struct gt_wire_entry e = { 0 };

	gt_err_set(&why, -EBADMSG, "%s", text);
	gt_note_damage(r, &seg, &e, &why);
}

/* ---- from the end ---- */

static int load_index(struct gt_reader *r, struct gt_seg *seg, uint64_t index_at, uint64_t end)
{
	struct gt_wire_skip skip;
	struct gt_wire_index ix;
	size_t n;

	if (index_at >= end || !get_skip(r, index_at, end, sizeof(ix) + sizeof(uint32_t), &skip) ||
		gt_pread(r->fd, &ix, sizeof(ix), index_at + sizeof(skip)))
		return -EBADMSG;
	n = skip.size - sizeof(ix) - sizeof(uint32_t);
	if (ix.magic != GT_WIRE_INDEX_MAGIC || n / sizeof(struct gt_wire_entry) != ix.count ||
		n % sizeof(struct gt_wire_entry))
		return -EBADMSG;
	seg->index.bytes = index_at - seg->at;
	return gt_index_load(&seg->index, &r->store, r->fd, index_at + sizeof(skip) + sizeof(ix),
		ix.count, gt_crc(&ix, sizeof(ix)));
}

enum index { INDEX_FINE, INDEX_BAD, INDEX_NONE };

static bool get_footer(int fd, uint64_t end, struct gt_wire_footer *foot)
{
	struct {
		struct gt_wire_skip skip;
		struct gt_wire_footer foot;
	} tail;

	if (end < sizeof(tail) || gt_pread(fd, &tail, sizeof(tail), end - sizeof(tail)) ||
		tail.skip.magic != GT_WIRE_SKIP_MAGIC)
		return false;
	*foot = tail.foot;
	return foot->magic == GT_WIRE_FOOTER_MAGIC &&
		foot->crc == gt_crc(foot, offsetof(struct gt_wire_footer, crc));
}

/* Finds the segment whose footer ends at `end`: 1 found, 0 there is none, negative.
 * *index: whether its index can be used. */
static int segment_before(struct gt_reader *r, uint64_t end, enum index *index, struct gt_err *err)
{
	struct {
		struct gt_wire_skip skip;
		struct gt_wire_segment seg;
	} head;
	const uint64_t tail = sizeof(struct gt_wire_skip) + sizeof(struct gt_wire_footer);
	struct gt_wire_footer foot;
	struct gt_seg *seg;

	if (end < tail + sizeof(head) || !get_footer(r->fd, end, &foot))
		return 0;
	if (foot.bytes > end || foot.bytes < tail + sizeof(head) || foot.index_at > foot.bytes)
		return 0;
	if (gt_pread(r->fd, &head, sizeof(head), end - foot.bytes) || !sane_segment(&head.seg) ||
		head.seg.id != foot.id)
		return 0;
	if (!(seg = new_segment(r, end - foot.bytes, err)))
		return -ENOMEM;
	seg->bytes = foot.bytes;
	seg->pub.id = head.seg.id;
	seg->began = head.seg.monotonic;
	seg->pub.closed = true;
	*index = !foot.index_at                                           ? INDEX_NONE
		: load_index(r, seg, seg->at + foot.index_at, end - tail) ? INDEX_BAD
									  : INDEX_FINE;
	return 1;
}

bool gt_reader_is_closed(int fd)
{
	struct gt_wire_footer foot;
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) &&
		get_footer(fd, (uint64_t)st.st_size, &foot);
}

/* ---- from the front ---- */

enum frame { INVALID, SEGMENT, BLOCK, INDEX, FOOTER, UNKNOWN };

/* Reads the frame at `at`. *bytes: its length, with the content of a block. */
static enum frame read_frame(const struct gt_reader *r, uint64_t at, uint64_t end,
	struct gt_wire_block *block, struct gt_wire_segment *seg, uint64_t *bytes)
{
	struct gt_wire_skip skip;
	struct gt_wire_footer foot;
	uint32_t magic;

	if (!get_skip(r, at, end, sizeof(magic), &skip) ||
		gt_pread(r->fd, &magic, sizeof(magic), at + sizeof(skip)))
		return INVALID;
	*bytes = sizeof(skip) + skip.size;
	if (magic == GT_WIRE_BLOCK_MAGIC) {
		if (skip.size != sizeof(*block) ||
			gt_pread(r->fd, block, sizeof(*block), at + sizeof(skip)) ||
			!sane_head(block) || block->zbytes > end - at - *bytes)
			return INVALID;
		*bytes += block->zbytes;
		return BLOCK;
	}
	if (!memcmp(&magic, GT_WIRE_SEGMENT_MAGIC, sizeof(magic)))
		return skip.size >= sizeof(*seg) &&
				!gt_pread(r->fd, seg, sizeof(*seg), at + sizeof(skip)) &&
				sane_segment(seg)
			? SEGMENT
			: INVALID;
	if (magic == GT_WIRE_INDEX_MAGIC)
		return INDEX;
	if (magic == GT_WIRE_FOOTER_MAGIC)
		return skip.size == sizeof(foot) &&
				!gt_pread(r->fd, &foot, sizeof(foot), at + sizeof(skip)) &&
				foot.crc == gt_crc(&foot, offsetof(struct gt_wire_footer, crc))
			? FOOTER
			: INVALID;
	return UNKNOWN; /* of a later version: ignored */
}

/* The position of the next frame behind `at` with a valid checksum, or end. */
static uint64_t resync(const struct gt_reader *r, uint64_t at, uint64_t end)
{
	static const uint32_t magic = GT_WIRE_SKIP_MAGIC;
	uint8_t window[65536];
	struct gt_wire_block b;
	struct gt_wire_segment s;
	uint64_t bytes;

	for (at++; at + sizeof(magic) <= end;) {
		size_t n = end - at < sizeof(window) ? (size_t)(end - at) : sizeof(window);
		uint8_t *p = window, *hit;

		if (gt_pread(r->fd, window, n, at))
			return end;
		while ((hit = memmem(p, n - (size_t)(p - window), &magic, sizeof(magic)))) {
			enum frame t =
				read_frame(r, at + (uint64_t)(hit - window), end, &b, &s, &bytes);

			if (t == BLOCK || t == SEGMENT || t == FOOTER)
				return at + (uint64_t)(hit - window);
			p = hit + 1;
		}
		at += n < sizeof(window) ? n : n - sizeof(magic) + 1;
	}
	return end;
}

static void end_index(struct gt_reader *r, struct gt_seg *seg)
{
	if (!seg)
		return;
	seg->index.bytes = seg->bytes;
	gt_index_end(&seg->index, &r->store);
}

/* Reads the heads in [at, end). Adds blocks to `into`, if given: its index was bad
 * and it begins at `at`, or it is the last segment and was read up to `at`. Adds new
 * segments behind it, unless `alone`. */
static int walk_frames(struct gt_reader *r, uint64_t at, uint64_t end, struct gt_seg *into,
	bool alone, struct gt_err *err)
{
	struct gt_wire_block block;
	struct gt_wire_segment head;
	struct gt_seg *seg = into;                          /* the last segment */
	bool inside = into && (alone || !into->pub.closed); /* seg has no footer so far */
	uint64_t bytes = 0, next;
	int code;

	for (; at < end; at = next) {
		enum frame t = read_frame(r, at, end, &block, &head, &bytes);

		next = at + bytes;
		if (t == BLOCK && !inside)
			damage_at(r, at, "a block of a recording whose beginning is missing");
		else if (t == BLOCK &&
			(code = gt_index_add(&seg->index, &r->store,
				 &(struct gt_wire_entry){ at - seg->at, block }, err)))
			return code;
		if (t == FOOTER && inside) {
			seg->pub.closed = true;
			inside = false;
		}
		if (t == SEGMENT && !alone) {
			end_index(r, seg);
			if (!(seg = new_segment(r, at, err)))
				return -ENOMEM;
			seg->pub.id = head.id;
			seg->began = head.monotonic;
			inside = true;
		}
		if (t == INVALID) {
			next = resync(r, at, end);
			if (!inside && next == end && r->grows)
				break; /* the first bytes of the next segment */
			if (!inside)
				damage_at(r, at, "bytes that belong to no recording");
			else if (next < end)
				damage_at(
					r, at, "a block's head is damaged; its content is missing");
			else if (!alone)
				seg->pub.unread_bytes = end - at;
		}
		if (seg)
			seg->bytes = next - seg->at;
	}
	end_index(r, seg);
	return 0;
}

/* Only the heads are read: without the advice, the kernel's read-ahead would read
 * the whole file. */
static int read_heads(struct gt_reader *r, uint64_t at, uint64_t end, struct gt_seg *into,
	bool alone, struct gt_err *err)
{
	int code;

	posix_fadvise(r->fd, 0, 0, POSIX_FADV_RANDOM);
	code = walk_frames(r, at, end, into, alone, err);
	posix_fadvise(r->fd, 0, 0, POSIX_FADV_NORMAL);
	return code;
}

/* ---- segments ---- */

static void count_block(struct gt_seg *seg, const struct gt_wire_block *h)
{
	struct gt_segment *pub = &seg->pub;

	if (h->kind != GT_W_ROWS || !h->sub || h->sub >= GT_KINDS)
		return;
	if (h->sub == GT_OPEN) {
		if (h->epoch != seg->last_open_epoch)
			pub->rows[GT_OPEN] = 0;
		seg->last_open_epoch = h->epoch;
		pub->complete_to = h->max_end;
	}
	pub->rows[h->sub] += h->rows;
	if (h->rows) {
		pub->min_start = h->min_start < pub->min_start ? h->min_start : pub->min_start;
		pub->max_end = h->max_end > pub->max_end ? h->max_end : pub->max_end;
	}
}

/* Counts the rows of the blocks that were not counted yet. */
static int finish_segment(struct gt_seg *seg, uint32_t index, struct gt_err *err)
{
	struct gt_index_walk w = { .next = seg->counted };
	const struct gt_wire_entry *e;
	struct gt_segment *pub = &seg->pub;
	int more;

	pub->index = index;
	if (!seg->counted)
		pub->complete_to = seg->began;
	if (!seg->any_rows) {
		pub->min_start = INT64_MAX;
		pub->max_end = INT64_MIN;
	}
	while ((more = gt_index_next(&seg->index, &w, &e, err)) > 0)
		count_block(seg, &e->head);
	seg->counted = w.next;
	seg->any_rows = pub->min_start <= pub->max_end;
	if (!seg->any_rows)
		pub->min_start = pub->max_end = seg->began;
	return more;
}

static int by_offset(const void *a, const void *b)
{
	uint64_t x = ((const struct gt_seg *)a)->at, y = ((const struct gt_seg *)b)->at;

	return GT_COMPARE(x, y);
}

/* Sets the segment of each damage: the last one that begins before it, or the first one. */
static void place_damage(struct gt_reader *r)
{
	for (size_t i = 0; i < r->ndamage; i++) {
		size_t after = GT_LOWER_BOUND(k, 1, r->nsegs, r->segs[k].at <= r->damage[i].offset);

		r->damage[i].segment = (uint32_t)after - 1;
	}
}

/* Finishes the segments from `first` on. */
static int finish_segments(struct gt_reader *r, size_t first, struct gt_err *err)
{
	int code = 0;

	for (size_t i = first; !code && i < r->nsegs; i++)
		code = finish_segment(&r->segs[i], (uint32_t)i, err);
	place_damage(r);
	return code;
}

static int find_segments(struct gt_reader *r, struct gt_err *err)
{
	uint64_t end = r->size;
	enum index index = INDEX_BAD;
	int code = 0;

	while (end && !r->from && !r->grows && (code = segment_before(r, end, &index, err)) > 0) {
		struct gt_seg *seg = &r->segs[r->nsegs - 1];

		if (index == INDEX_BAD)
			damage_at(r, seg->at,
				"the index is damaged; it was rebuilt from the blocks' heads");
		if (index != INDEX_FINE && (code = read_heads(r, seg->at, end, seg, true, err)))
			return code;
		end = seg->at;
	}
	if (end && (code < 0 || (code = read_heads(r, r->from, end, NULL, false, err))))
		return code;
	if (r->nsegs > 1)
		GT_SORT(r->segs, r->nsegs, by_offset);
	return finish_segments(r, 0, err);
}

static const char *looks_like(const uint8_t *b, size_t n)
{
	static const struct {
		const char *magic;
		size_t n;
		const char *what;
	} known[] = {
		{ "\x28\xb5\x2f\xfd", 4, "zstd data of another program" },
		{ "\x1f\x8b", 2, "gzip data" },
		{ "\x7f"
		  "ELF",
			4, "a program" },
		{ "SQLite format 3", 15, "an SQLite file" },
		{ "{", 1, "JSON" },
		{ "[", 1, "JSON" },
		{ "PK", 2, "a zip file" },
		{ "<", 1, "HTML or XML" },
	};
	static const uint8_t skip[4] = { GT_WIRE_SKIP_MAGIC & 0xff, GT_WIRE_SKIP_MAGIC >> 8 & 0xff,
		GT_WIRE_SKIP_MAGIC >> 16 & 0xff, GT_WIRE_SKIP_MAGIC >> 24 };

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (n >= known[i].n && !memcmp(b, known[i].magic, known[i].n))
			return known[i].what;
	if (n >= 262 && !memcmp(b + 257, "ustar", 5))
		return "a tar archive: extract it, and name its files";
	return n >= 4 && !memcmp(b, skip, 4) ? "the beginning of one, cut off or damaged"
					     : "something else";
}

static int check_file(struct gt_reader *r, uint64_t most, struct gt_err *err)
{
	struct stat st;
	uint8_t head[262];

	if (fstat(r->fd, &st))
		return gt_err_set(err, -errno, "%s", strerror(errno));
	if (S_ISDIR(st.st_mode))
		return gt_err_set(err, -EISDIR, "is a folder: name one of the traces in it");
	if (!S_ISREG(st.st_mode))
		return gt_err_set(err, -ESPIPE, "is not a regular file");
	r->size = (uint64_t)st.st_size;
	if (!r->size)
		return gt_err_set(err, -EILSEQ, "the file is empty");
	if (r->grows && r->size > most)
		r->size = most;
	if (find_segments(r, err))
		return err && err->code ? err->code : -EBADMSG;
	if (r->nsegs)
		return 0;
	memset(head, 0, sizeof(head));
	gt_pread(r->fd, head, r->size < sizeof(head) ? (size_t)r->size : sizeof(head), 0);
	return gt_err_at(err, 0, -EILSEQ, "not a gt trace: it looks like %s",
		looks_like(head, r->size < sizeof(head) ? (size_t)r->size : sizeof(head)));
}

static struct gt_reader *open_reader(
	int fd, struct gt_reader how, uint64_t most, struct gt_err *err)
{
	struct gt_err local = GT_ERR_INIT;
	struct gt_reader *r = calloc(1, sizeof(*r));

	if (!err)
		err = &local;
	if (!r) {
		gt_err_set(err, -ENOMEM, "out of memory");
		close(fd);
		return NULL;
	}
	*r = how;
	r->fd = fd;
	r->store = (struct gt_index_store){ .fd = -1, .limit = INDEX_IN_MEMORY_MAX };
	pthread_mutex_init(&r->lock, NULL);
	if (check_file(r, most, err))
		goto out;
	for (size_t i = 0; i < r->nsegs; i++)
		if (gt_read_dicts(r, &r->segs[i], 0, err))
			goto out;
	return r;
out:
	gt_reader_close(r);
	return NULL;
}

struct gt_reader *gt_reader_open_from(int fd, uint64_t from, struct gt_err *err)
{
	return open_reader(fd, (struct gt_reader){ .from = from }, UINT64_MAX, err);
}

struct gt_reader *gt_reader_open_fd(int fd, struct gt_err *err)
{
	return gt_reader_open_from(fd, 0, err);
}

struct gt_reader *gt_reader_open_growing(int fd, uint64_t most, struct gt_err *err)
{
	return open_reader(fd, (struct gt_reader){ .grows = true }, most, err);
}

struct gt_reader *gt_reader_open(const char *path, struct gt_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		gt_err_set(err, -errno, "%s", strerror(errno));
		return NULL;
	}
	return gt_reader_open_fd(fd, err);
}

int gt_reader_file(const struct gt_reader *r, uint64_t *from, struct gt_err *err)
{
	int fd = r->fd < 0 ? -1 : fcntl(r->fd, F_DUPFD_CLOEXEC, 0);

	*from = r->from;
	return fd < 0 ? gt_err_set(err, r->fd < 0 ? -ENOTSUP : -errno,
				"several files read as one cannot be opened again")
		      : fd;
}

struct gt_reader *gt_reader_reopen(const struct gt_reader *r, struct gt_err *err)
{
	uint64_t from;
	int fd = gt_reader_file(r, &from, err);

	return fd < 0 ? NULL : gt_reader_open_from(fd, from, err);
}

void gt_reader_close(struct gt_reader *r)
{
	if (!r)
		return;
	for (size_t i = 0; r->fd >= 0 && i < r->nsegs; i++) {
		gt_free_dicts(&r->segs[i]);
		gt_index_release(&r->segs[i].index);
	}
	free(r->segs);
	free(r->damage);
	pthread_mutex_destroy(&r->lock);
	if (r->fd >= 0)
		close(r->fd);
	if (r->store.fd >= 0)
		close(r->store.fd);
	free(r);
}

int gt_reader_add_damage(struct gt_reader *r, const struct gt_reader *from)
{
	for (size_t i = 0; i < from->ndamage; i++) {
		size_t k = 0;

		while (k < r->ndamage && r->damage[k].offset != from->damage[i].offset)
			k++;
		if (k < r->ndamage)
			continue;
		if (gt_grow(&r->damage, &r->damage_cap, r->ndamage + 1, sizeof(*r->damage)))
			return -ENOMEM;
		r->damage[r->ndamage++] = from->damage[i];
	}
	return 0;
}

/* ---- a file that is still being written ---- */

/* Continues the last segment behind its last complete block: an incomplete block may
 * be complete now. */
static int read_on(struct gt_reader *r, uint64_t end, struct gt_err *err)
{
	size_t last = r->nsegs - 1;
	struct gt_seg *seg = &r->segs[last];
	uint32_t known = seg->index.n;
	uint64_t at = seg->at + seg->bytes - seg->pub.unread_bytes;
	int code;

	seg->pub.unread_bytes = 0;
	code = read_heads(r, at, end, seg, false, err);
	r->size = end;
	if (!code)
		code = finish_segments(r, last, err);
	for (size_t i = last; !code && i < r->nsegs; i++)
		code = gt_read_dicts(r, &r->segs[i], i == last ? known : 0, err);
	return code;
}

int gt_reader_grow(struct gt_reader *r, uint64_t most, struct gt_err *err)
{
	struct stat st;
	uint64_t size;
	int code;

	if (fstat(r->fd, &st))
		return gt_err_set(err, -errno, "%s", strerror(errno));
	size = (uint64_t)st.st_size;
	if (size < r->size)
		return gt_err_set(err, -ESTALE, "the file is shorter than it was");
	if (size == r->size)
		return 0;
	code = read_on(r, size - r->size > most ? r->size + most : size, err);
	return code ? gt_err_set(err, code, "cannot read the new part of the file") : 1;
}

uint64_t gt_reader_bytes(const struct gt_reader *r) { return r->size; }

/* ---- joined readers ---- */

static int join_one(struct gt_reader *r, const struct gt_reader *from)
{
	size_t first = r->nsegs;

	if (gt_grow(&r->segs, &r->segs_cap, r->nsegs + from->nsegs, sizeof(*r->segs)) ||
		gt_grow(&r->damage, &r->damage_cap, r->ndamage + from->ndamage, sizeof(*r->damage)))
		return -ENOMEM;
	for (size_t i = 0; i < from->nsegs; i++) {
		r->segs[r->nsegs] = from->segs[i];
		r->segs[r->nsegs].pub.index = (uint32_t)r->nsegs;
		r->nsegs++;
	}
	for (size_t i = 0; i < from->ndamage; i++) {
		r->damage[r->ndamage] = from->damage[i];
		r->damage[r->ndamage++].segment += (uint32_t)first;
	}
	return 0;
}

struct gt_reader *gt_reader_join(struct gt_reader *const *readers, size_t n, struct gt_err *err)
{
	struct gt_reader *r = calloc(1, sizeof(*r));
	int code = r ? 0 : -ENOMEM;

	if (r) {
		r->fd = -1;
		r->store.fd = -1;
		pthread_mutex_init(&r->lock, NULL);
	}
	for (size_t i = 0; !code && i < n; i++)
		code = join_one(r, readers[i]);
	if (!code)
		return r;
	gt_err_set(err, code, "out of memory");
	gt_reader_close(r);
	return NULL;
}

uint32_t gt_reader_segments(const struct gt_reader *r) { return (uint32_t)r->nsegs; }
const struct gt_segment *gt_reader_segment(const struct gt_reader *r, uint32_t i)
{
	return &r->segs[i].pub;
}

const struct gt_damage *gt_reader_damage(const struct gt_reader *r, size_t *n)
{
	*n = r->ndamage;
	return r->damage;
}

void gt_note_damage(struct gt_reader *r, const struct gt_seg *seg, const struct gt_wire_entry *e,
	const struct gt_err *why)
{
	struct gt_damage d = { .offset = seg->at + e->at,
		.segment = seg->pub.index,
		.min_start = e->head.min_start,
		.max_end = e->head.max_end };

	d.rows = e->head.kind == GT_W_ROWS ? e->head.rows : 0;
	memcpy(d.text, why->text, sizeof(d.text) - 1);
	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; i < r->ndamage; i++)
		if (r->damage[i].offset == d.offset && r->damage[i].rows == d.rows &&
			r->damage[i].segment == d.segment)
			goto out;
	if (r->ndamage < 10000 && !gt_grow(&r->damage, &r->damage_cap, r->ndamage + 1, sizeof(d)))
		r->damage[r->ndamage++] = d;
out:
	pthread_mutex_unlock(&r->lock);
}

/* ---- loading a block's content ---- */

int gt_load(const struct gt_seg *seg, const struct gt_wire_entry *e, struct gt_loader *l,
	struct gt_span *content, struct gt_err *err)
{
	uint64_t at = seg->at + e->at;
	uint8_t *packed, *bytes;
	size_t got;

	gt_buf_clear(&l->packed);
	gt_buf_clear(&l->bytes);
	packed = gt_buf_reserve(&l->packed, e->head.zbytes);
	bytes = gt_buf_reserve(&l->bytes, e->head.bytes + GT_SLACK);
	if (!packed || !bytes || (!l->zstd && !(l->zstd = ZSTD_createDCtx())))
		return gt_err_set(err, -ENOMEM, "out of memory");
	if (gt_pread(seg->fd, packed, e->head.zbytes, at + GT_WIRE_HEAD))
		return gt_err_at(err, at, -EBADMSG, "a block cannot be read");
	gt_progress_add(e->head.zbytes);
	/* the frame header's checksum flag */
	if (e->head.zbytes < 5 || !(packed[4] & 4))
		return gt_err_at(err, at, -EBADMSG, "a block has no checksum");
	got = ZSTD_decompressDCtx(l->zstd, bytes, e->head.bytes, packed, e->head.zbytes);
	if (ZSTD_isError(got))
		return gt_err_at(
			err, at, -EBADMSG, "a block is damaged (%s)", ZSTD_getErrorName(got));
	if (got != e->head.bytes)
		return gt_err_at(err, at, -EBADMSG, "a block is shorter than its head says");
	memset(bytes + got, 0, GT_SLACK);
	*content = (struct gt_span){ bytes, bytes + got };
	return 0;
}

void gt_loader_release(struct gt_loader *l)
{
	ZSTD_freeDCtx(l->zstd);
	gt_buf_release(&l->packed);
	gt_buf_release(&l->bytes);
	memset(l, 0, sizeof(*l));
}
