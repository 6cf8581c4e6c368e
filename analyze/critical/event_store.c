/* A list has chunks of a fixed number of events. A complete chunk is packed (event_store_pack.h),
 * and its digest is made. Packed chunks and digests are stored in slabs one after the other: in
 * memory first, then in temporary files. A walk that needs only digests reads no packed chunk.
 *
 * Events are read from frames: unpacked chunks in memory. If all frames are taken, the clock
 * algorithm picks one that was not used since its hand passed. Neighbouring events are close in
 * time, so few reads reach a file. The incomplete last chunk of a list is in a frame only. Frames
 * with packed chunks come first in the array, and the clock goes round these alone: there may be
 * many thousands of lists. */
#include "analyze/critical/event_store.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "analyze/critical/event_store_pack.h"
#include "formats/base/sorted.h"
#include "formats/base/buf.h"
#include "formats/os/file.h"

#define MEMORY (32u << 20) /* bytes */
#define FRAMES (MEMORY / 2)
#define SLAB (1u << 20) /* bytes */
#define SLABS 32u       /* slabs in memory, at most */
#define SHIFT_MAX 10u   /* a packed chunk fits into the processor's first cache */
#define SHIFT_MIN 4u
#define SHIFT_DIGEST 7u /* the digest of a smaller chunk would be larger than the chunk */
#define DIGEST_SLABS 4u
#define SIZE_BITS 16
_Static_assert(GT_EVENT_PACKED_MAX(1u << SHIFT_MAX) < 1u << SIZE_BITS,
	"the size of a packed chunk fits into SIZE_BITS");

struct gt_chunk_frame {
	uint8_t *bytes;
	uint32_t chunk;
	bool used; /* since the hand passed */
};

struct gt_slab_file { /* an array of bytes for each chunk */
	/* by chunk: its position, and in the lowest SIZE_BITS its size; 0: there is none */
	uint64_t *at;
	size_t at_cap;
	/* the first slabs; index `last` holds the slab that is being filled */
	uint8_t *slabs[SLABS];
	uint32_t last;
	uint64_t end; /* bytes stored */
	uint8_t *one; /* the last bytes that were read from the file */
	int fd;       /* -1: not needed yet */
};

static size_t chunk_bytes(const struct gt_event_store *s)
{
	return sizeof(struct gt_stored_event) << s->shift;
}

/* The columns of a chunk from its i-th event on. */
static inline struct gt_event_columns columns_of(
	const struct gt_event_store *s, const struct gt_chunk_frame *f, uint32_t i)
{
	uint32_t n = 1u << s->shift;
	int64_t *times = (int64_t *)(void *)f->bytes;
	uint32_t *types = (uint32_t *)(void *)(times + 3ul * n);

	return (struct gt_event_columns){ times + i, times + n + i, times + 2ul * n + i, types + i,
		types + n + i };
}

static void put(const struct gt_event_columns *c, const struct gt_stored_event *one)
{
	*c->start = one->start;
	*c->end = one->end;
	*c->launch = one->launch;
	*c->type = one->type;
	*c->by = one->by;
}

static int no_memory(struct gt_event_store *s)
{
	return gt_err_set(&s->err, -ENOMEM, "out of memory (calls and work of the critical path)");
}

/* ---- bytes of chunks in slabs ---- */

/* max: bytes of a chunk, at most. NULL: no memory. */
static struct gt_slab_file *new_slab_file(struct gt_event_store *s, size_t max, uint32_t slabs)
{
	struct gt_slab_file *p = calloc(1, sizeof(*p));

	if (!p || !(p->one = malloc(max))) {
		free(p);
		no_memory(s);
		return NULL;
	}
	p->fd = -1;
	p->last = slabs - 1;
	return p;
}

static void release_slab_file(struct gt_slab_file *p)
{
	if (!p)
		return;
	for (unsigned i = 0; i < SLABS; i++)
		free(p->slabs[i]);
	if (p->fd >= 0)
		close(p->fd);
	free(p->at);
	free(p->one);
	free(p);
}

/* Writes the last slab, which is full, to the file; the next slab uses its memory. */
static int write_slab(struct gt_event_store *s, struct gt_slab_file *p, uint64_t slab)
{
	int rc = p->fd < 0 ? p->fd = gt_temporary(&s->err) : 0;

	rc = rc < 0 ? rc : gt_pwrite(p->fd, p->slabs[p->last], SLAB, slab * SLAB);
	if (rc >= 0)
		return 0;
	return gt_err_set(&s->err, rc, "cannot write a temporary file in %s (TMPDIR): %s",
		gt_temporary_folder(), strerror(-rc));
}

/* Memory for the next chunk, of n bytes at most. NULL: an error. */
static uint8_t *reserve_bytes(struct gt_event_store *s, struct gt_slab_file *p, size_t n)
{
	uint64_t slab = p->end / SLAB;

	/* no slab is filled to its last byte, so `end` is in the current slab */
	if (p->end % SLAB + n >= SLAB) {
		if (slab >= p->last && write_slab(s, p, slab))
			return NULL;
		p->end = ++slab * SLAB;
	}
	slab = slab < p->last ? slab : p->last;
	if (!p->slabs[slab] && !(p->slabs[slab] = malloc(SLAB))) {
		no_memory(s);
		return NULL;
	}
	return p->slabs[slab] + p->end % SLAB;
}

/* The first n reserved bytes belong to the chunk. */
static void commit_bytes(struct gt_slab_file *p, uint32_t chunk, size_t n)
{
	p->at[chunk] = p->end << SIZE_BITS | n;
	p->end += n;
}

/* The bytes of a chunk, borrowed until the next call. NULL: there are none, or an error. */
static const uint8_t *bytes_of(struct gt_event_store *s, struct gt_slab_file *p, uint32_t chunk)
{
	size_t size = p->at[chunk] & ((1u << SIZE_BITS) - 1);
	uint64_t from = p->at[chunk] >> SIZE_BITS, slab = from / SLAB, last = (p->end - 1) / SLAB;

	if (!p->at[chunk])
		return NULL;
	if (slab < p->last || slab == last)
		return p->slabs[slab < p->last ? slab : p->last] + from % SLAB;
	if (!gt_pread(p->fd, p->one, size, from))
		return p->one;
	gt_err_set(&s->err, -EIO, "cannot read a temporary file in %s (TMPDIR)",
		gt_temporary_folder());
	return NULL;
}

static int add_place(struct gt_slab_file *p, uint32_t chunk)
{
	if (p && gt_grow(&p->at, &p->at_cap, chunk + 1ul, sizeof(*p->at)))
		return -ENOMEM;
	if (p)
		p->at[chunk] = 0;
	return 0;
}

/* ---- packing ---- */

static void add_digest(struct gt_event_store *s, uint32_t chunk, const struct gt_event_digest *g)
{
	uint8_t *to = reserve_bytes(s, s->digests, gt_event_digest_bytes(g));

	if (!to)
		return;
	memcpy(to, g, gt_event_digest_bytes(g));
	commit_bytes(s->digests, chunk, gt_event_digest_bytes(g));
}

/* Packs the last chunk of the list, which is complete. */
static void pack(struct gt_event_store *s, struct gt_event_list *l, uint32_t chunk,
	const struct gt_event_columns *rows)
{
	uint32_t n = 1u << s->shift;
	uint8_t *to = reserve_bytes(s, s->packed, GT_EVENT_PACKED_MAX(n));
	struct gt_digest_builder builder;
	struct gt_event_digest g;

	if (!to)
		return;
	if (s->digests)
		gt_digest_begin(&builder, l->chunks[0] == chunk ? INT64_MAX : l->packed_end);
	commit_bytes(s->packed, chunk, gt_event_pack(rows, n, to, s->digests ? &builder : NULL));
	if (!s->digests)
		return;
	gt_digest_end(&builder, rows, n, &g);
	add_digest(s, chunk, &g);
	l->packed_end = g.end;
}

/* ---- frames ---- */

static struct gt_chunk_frame *new_frame(struct gt_event_store *s)
{
	uint8_t *bytes = malloc(chunk_bytes(s));

	if (!bytes || gt_grow(&s->frames, &s->frames_cap, s->nframes + 1, sizeof(*s->frames))) {
		free(bytes);
		no_memory(s);
		return NULL;
	}
	s->frames[s->nframes] = (struct gt_chunk_frame){ .bytes = bytes };
	return &s->frames[s->nframes++];
}

static size_t index_of(const struct gt_event_store *s, const struct gt_chunk_frame *f)
{
	return (size_t)(f - s->frames);
}

static struct gt_chunk_frame *swap_frames(
	struct gt_event_store *s, struct gt_chunk_frame *f, struct gt_chunk_frame *with)
{
	struct gt_chunk_frame moved = *f;

	*f = *with;
	*with = moved;
	s->frame_of[f->chunk] = (uint32_t)index_of(s, f) + 1;
	s->frame_of[with->chunk] = (uint32_t)index_of(s, with) + 1;
	return with;
}

/* The frame has a packed chunk, and may be evicted. Returns where it is now. */
static struct gt_chunk_frame *add_evictable(struct gt_event_store *s, struct gt_chunk_frame *f)
{
	return index_of(s, f) < s->nevictable ? f : swap_frames(s, f, &s->frames[s->nevictable++]);
}

/* The frame has an incomplete chunk. Returns where it is now. */
static struct gt_chunk_frame *remove_evictable(struct gt_event_store *s, struct gt_chunk_frame *f)
{
	if (index_of(s, f) >= s->nevictable)
		return f;
	f = swap_frames(s, f, &s->frames[--s->nevictable]);
	s->hand = s->hand < s->nevictable ? s->hand : 0;
	return f;
}

/* Takes a frame from its chunk. There is an evictable one. */
static struct gt_chunk_frame *evict_frame(struct gt_event_store *s)
{
	struct gt_chunk_frame *f;

	for (; s->frames[s->hand].used; s->hand = (s->hand + 1) % s->nevictable)
		s->frames[s->hand].used = false;
	f = &s->frames[s->hand];
	s->frame_of[f->chunk] = 0;
	return f;
}

/* A frame for this chunk, with undefined content. NULL: an error. */
static struct gt_chunk_frame *take_frame(struct gt_event_store *s, uint32_t chunk)
{
	bool full = (s->nframes + 1) * chunk_bytes(s) > s->memory;
	struct gt_chunk_frame *f =
		s->nevictable && (full || !s->frames[s->hand].used) ? evict_frame(s) : new_frame(s);

	if (!f)
		return NULL;
	f->chunk = chunk;
	s->frame_of[chunk] = (uint32_t)index_of(s, f) + 1;
	return f;
}

/* Unpacks a chunk into a frame. NULL: an error. */
static struct gt_chunk_frame *fetch(struct gt_event_store *s, uint32_t chunk)
{
	struct gt_chunk_frame *f = take_frame(s, chunk);
	const uint8_t *packed = f ? bytes_of(s, s->packed, chunk) : NULL;
	struct gt_event_columns rows;

	if (!packed)
		return NULL;
	rows = columns_of(s, f, 0);
	gt_event_unpack(packed, 1u << s->shift, &rows);
	return add_evictable(s, f);
}

/* NULL: an error. */
static inline struct gt_chunk_frame *frame_of(struct gt_event_store *s, uint32_t chunk)
{
	struct gt_chunk_frame *f;

	if (s->err.code)
		return NULL;
	f = s->frame_of[chunk] ? &s->frames[s->frame_of[chunk] - 1] : fetch(s, chunk);
	if (f)
		f->used = true;
	return f;
}

/* ---- lists ---- */

/* Packs a complete chunk that is in a frame. */
static void pack_frame(struct gt_event_store *s, struct gt_event_list *l, uint32_t chunk)
{
	struct gt_chunk_frame *f = frame_of(s, chunk);
	struct gt_event_columns rows;

	if (!f)
		return;
	rows = columns_of(s, f, 0);
	pack(s, l, chunk, &rows);
	/* the next new chunk takes this frame, which is in the processor's cache */
	f = add_evictable(s, f);
	f->used = false;
	s->hand = (uint32_t)index_of(s, f);
}

/* Adds a chunk that has no frame. */
static int add_chunk(struct gt_event_store *s, struct gt_event_list *l, int64_t first)
{
	size_t n = l->n >> s->shift;

	if (s->err.code)
		return s->err.code;
	if (gt_grow(&l->chunks, &l->chunks_cap, n + 1, sizeof(*l->chunks)) ||
		gt_grow(&l->firsts, &l->firsts_cap, n + 1, sizeof(*l->firsts)) ||
		gt_grow(&s->frame_of, &s->frame_of_cap, s->nchunks + 1ul, sizeof(*s->frame_of)) ||
		add_place(s->packed, s->nchunks) || add_place(s->digests, s->nchunks))
		return no_memory(s);
	if (n && !s->packed->at[l->chunks[n - 1]])
		pack_frame(s, l, l->chunks[n - 1]);
	s->frame_of[s->nchunks] = 0;
	l->chunks[n] = s->nchunks++;
	l->firsts[n] = first;
	return s->err.code;
}

static uint32_t in_chunk(const struct gt_event_store *s, uint32_t i)
{
	return i & ((1u << s->shift) - 1);
}

/* The places behind the last event. start: NULL after an error. */
static struct gt_event_columns free_places(
	struct gt_event_store *s, struct gt_event_list *l, int64_t start)
{
	struct gt_chunk_frame *f = NULL;

	if (in_chunk(s, l->n))
		f = frame_of(s, l->chunks[l->n >> s->shift]);
	else if (!add_chunk(s, l, start))
		f = take_frame(s, l->chunks[l->n >> s->shift]);
	if (!f)
		return (struct gt_event_columns){ 0 };
	f = remove_evictable(s, f);
	f->used = true;
	return columns_of(s, f, in_chunk(s, l->n));
}

static void check_count(struct gt_event_store *s, const struct gt_event_list *l, uint32_t n)
{
	if (n > UINT32_MAX - l->n)
		gt_err_set(
			&s->err, -EOVERFLOW, "too many calls of one thread, or work of one stream");
}

void gt_event_list_add(
	struct gt_event_store *s, struct gt_event_list *l, const struct gt_stored_event *one)
{
	struct gt_event_columns to;

	check_count(s, l, 1);
	to = free_places(s, l, one->start);
	if (!to.start)
		return;
	put(&to, one);
	l->n++;
}

void gt_event_list_append(struct gt_event_store *s, struct gt_event_list *l,
	const struct gt_event_columns *rows, uint32_t n)
{
	struct gt_event_columns to;

	check_count(s, l, n);
	if (n == 1u << s->shift) { /* a complete chunk is packed without a frame */
		if (!add_chunk(s, l, rows->start[0])) {
			pack(s, l, s->nchunks - 1, rows);
			l->n += n;
		}
		return;
	}
	to = free_places(s, l, rows->start[0]);
	if (!to.start)
		return;
	memcpy(to.start, rows->start, n * sizeof(*to.start));
	memcpy(to.end, rows->end, n * sizeof(*to.end));
	memcpy(to.launch, rows->launch, n * sizeof(*to.launch));
	memcpy(to.type, rows->type, n * sizeof(*to.type));
	memcpy(to.by, rows->by, n * sizeof(*to.by));
	l->n += n;
}

struct gt_event_span gt_event_list_span(
	struct gt_event_store *s, const struct gt_event_list *l, uint32_t i)
{
	struct gt_chunk_frame *f = frame_of(s, l->chunks[i >> s->shift]);
	struct gt_event_span span = { .first = i - in_chunk(s, i) };

	if (f)
		span.cols = columns_of(s, f, 0);
	return span;
}

struct gt_stored_event gt_event_list_get(
	struct gt_event_store *s, const struct gt_event_list *l, uint32_t i)
{
	struct gt_event_span span = gt_event_list_span(s, l, i);

	return span.cols.start ? gt_event_span_get(&span, i) : (struct gt_stored_event){ 0 };
}

static bool find_digest(struct gt_event_store *s, uint32_t chunk, struct gt_event_digest *g)
{
	const uint8_t *digest = s->digests && !s->err.code ? bytes_of(s, s->digests, chunk) : NULL;

	if (!digest)
		return false;
	memcpy(g, digest, offsetof(struct gt_event_digest, types));
	memcpy(g->types, digest + offsetof(struct gt_event_digest, types),
		gt_event_digest_bytes(g) - offsetof(struct gt_event_digest, types));
	return true;
}

bool gt_event_list_digest(struct gt_event_store *s, const struct gt_event_list *l, uint32_t i,
	struct gt_event_digest *g)
{
	return find_digest(s, l->chunks[i >> s->shift], g) && g->ntypes;
}

void gt_event_list_set_last(
	struct gt_event_store *s, struct gt_event_list *l, const struct gt_stored_event *one)
{
	struct gt_chunk_frame *f = frame_of(s, l->chunks[(l->n - 1) >> s->shift]);
	struct gt_event_columns to;
	struct gt_event_digest g;

	if (!f)
		return;
	if (find_digest(s, f->chunk, &g))
		l->packed_end = g.before;
	to = columns_of(s, f, in_chunk(s, l->n - 1));
	put(&to, one);
	/* a complete chunk is packed again before the next chunk is added */
	s->packed->at[f->chunk] = 0;
	if (s->digests)
		s->digests->at[f->chunk] = 0;
}

uint32_t gt_event_list_count_until(
	struct gt_event_store *s, const struct gt_event_list *l, int64_t at)
{
	size_t chunks = (l->n >> s->shift) + (in_chunk(s, l->n) != 0),
	       n = GT_LOWER_BOUND(
		       i, 0, chunks, l->firsts[i] <= at); /* that begin at `at` or earlier */
	uint32_t from, to;

	if (!n)
		return 0;
	from = (uint32_t)(n - 1) << s->shift;
	to = l->n - from < 1u << s->shift ? l->n : from + (1u << s->shift);
	return (uint32_t)GT_LOWER_BOUND(
		i, from, to, gt_event_list_get(s, l, (uint32_t)i).start <= at);
}

void gt_event_list_release(struct gt_event_list *l)
{
	free(l->chunks);
	free(l->firsts);
	*l = (struct gt_event_list){ 0 };
}

/* ---- the store ---- */

/* At most half of the memory holds one incomplete chunk per list; the other half holds chunks that
 * were read back. */
void gt_event_store_init(struct gt_event_store *s, uint32_t lists)
{
	*s = (struct gt_event_store){ .err = GT_ERR_INIT, .shift = SHIFT_MAX, .memory = FRAMES };
	while (s->shift > SHIFT_MIN && chunk_bytes(s) * lists > s->memory / 2)
		s->shift--;
	if (chunk_bytes(s) * lists * 4 < s->memory)
		s->memory = chunk_bytes(s) * lists * 4 > SLAB ? chunk_bytes(s) * lists * 4 : SLAB;
	s->digests = s->shift >= SHIFT_DIGEST
		? new_slab_file(s, sizeof(struct gt_event_digest), DIGEST_SLABS)
		: NULL;
	s->packed = new_slab_file(s, GT_EVENT_PACKED_MAX(1u << s->shift),
		(uint32_t)((MEMORY - s->memory) / SLAB) - DIGEST_SLABS);
}

void gt_event_store_release(struct gt_event_store *s)
{
	for (size_t i = 0; i < s->nframes; i++)
		free(s->frames[i].bytes);
	free(s->frames);
	free(s->frame_of);
	release_slab_file(s->packed);
	release_slab_file(s->digests);
	*s = (struct gt_event_store){ 0 };
}
