/* A line is a row of chunks; a chunk has a number, which is its place in the file, and a frame while it is in memory. When all
 * frames are taken, one that was not used lately makes room: a hand goes round, passes by those that were used since it came by
 * last, and takes the first other one. What is looked at is near in time to what was looked at before, so few reads reach the
 * file.
 *
 * Writing is what costs most then. So a chunk is packed (link_pack.h) when it is complete, unless new ends will be written into it, and
 * makes room without being written. What is packed stands in slabs one after the other: in memory at first, then in a file of its own. */
#include "analyze/link_store.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "analyze/link_pack.h"
#include "formats/base/buf.h"
#include "formats/base/file.h"

#define MEMORY (32u << 20)	/* bytes */
#define SLAB (1u << 20)
#define SLABS 32u		/* there is room for in memory */
#define SHIFT_PACKED 10u	/* a chunk that is packed is small enough for the processor's own memory */
#define SHIFT_MAX 11u		/* a system call for a chunk of 64 KiB costs little more than for one of 4 */
#define SHIFT_MIN 4u
#define SHIFT_GIST 7u		/* in smaller ones it would take more than the rows */
#define PACKED_MAX(shift) (sizeof(struct gt_link_gist) + GT_LINK_PACKED_MAX(1u << (shift)))	/* its gist, and its records */
#define SIZE_BITS 16
_Static_assert(PACKED_MAX(SHIFT_PACKED) < 1u << SIZE_BITS, "the size of a packed chunk has its place");

struct gt_link_frame { uint8_t *bytes; uint32_t chunk; bool used, dirty; };

struct gt_link_packed {
	uint64_t *at;			/* by chunk: where it begins, and in the last SIZE_BITS how long it is; 0: it is not packed */
	size_t at_cap;
	uint8_t *slabs[SLABS];		/* the first ones; the last one is where the next chunk goes */
	uint32_t last;			/* of these */
	uint64_t end;			/* of all that was packed */
	uint8_t *one;			/* what is packed, or was read from the file */
	int fd;				/* -1: not needed yet */
};

static size_t chunk_bytes(const struct gt_link_store *s) { return s->record << s->shift; }

/* Of a chunk from its i-th record on. */
static inline struct gt_link_cols cols_of(const struct gt_link_store *s, const struct gt_link_frame *f, uint32_t i)
{
	uint32_t n = 1u << s->shift;
	int64_t *times = (int64_t *)(void *)f->bytes;
	uint32_t *types = (uint32_t *)(void *)(times + 3ul * n);

	return (struct gt_link_cols){ times + i, times + n + i, times + 2ul * n + i, s->packed ? NULL : times + 4ul * n + i, types + i, types + n + i };
}

static void put(const struct gt_link_cols *c, const struct gt_link *one)
{
	*c->start = one->start;
	*c->end = one->end;
	*c->launch = one->launch;
	*c->type = one->type;
	*c->by = one->by;
	if (c->new_end)
		*c->new_end = one->new_end;
}

static int no_memory(struct gt_link_store *s) { return gt_err_set(&s->err, -ENOMEM, "no memory for the chain of calls and work"); }

/* Each line that grows has a chunk in memory, and there is as much room again for what is looked at. */
void gt_link_store_init(struct gt_link_store *s, bool new_ends, uint32_t lines)
{
	*s = (struct gt_link_store){ .fd = -1, .err = GT_ERR_INIT, .shift = new_ends ? SHIFT_MAX : SHIFT_PACKED };
	s->record = new_ends ? sizeof(struct gt_link) : GT_LINK_BYTES;
	s->memory = new_ends ? MEMORY : MEMORY / 2;
	while (s->shift > SHIFT_MIN && chunk_bytes(s) * lines > s->memory / 2)
		s->shift--;
	if (new_ends)
		return;
	if (chunk_bytes(s) * lines * 4 < s->memory)
		s->memory = chunk_bytes(s) * lines * 4 > SLAB ? chunk_bytes(s) * lines * 4 : SLAB;
	s->packed = calloc(1, sizeof(*s->packed));
	if (!s->packed) {
		no_memory(s);
		return;
	}
	s->packed->fd = -1;
	s->packed->last = (uint32_t)((MEMORY - s->memory) / SLAB) - 1;
}

static int cannot_write(struct gt_link_store *s, int rc)
{
	return gt_err_set(&s->err, rc, "cannot write a temporary file in %s (TMPDIR): %s", gt_temporary_folder(), strerror(-rc));
}

/* ---- packed chunks ---- */

/* The last slab is full: it goes to the file, and what comes next takes its memory. */
static int slab_out(struct gt_link_store *s, uint64_t slab)
{
	struct gt_link_packed *p = s->packed;
	int rc = p->fd < 0 ? p->fd = gt_temporary(&s->err) : 0;

	rc = rc < 0 ? rc : gt_pwrite(p->fd, p->slabs[p->last], SLAB, slab * SLAB);
	return rc < 0 ? cannot_write(s, rc) : 0;
}

/* Where n bytes go. NULL: an error. */
static uint8_t *packed_room(struct gt_link_store *s, size_t n)
{
	struct gt_link_packed *p = s->packed;
	uint64_t slab = p->end / SLAB;

	if (p->end % SLAB + n >= SLAB) {	/* none is ever quite full, so `end` lies in the slab at hand */
		if (slab >= p->last && slab_out(s, slab))
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

static bool have_gists(const struct gt_link_store *s) { return s->packed && s->shift >= SHIFT_GIST; }

/* The chunk of the line that was completed last; returns how many bytes of p->one it takes. */
static size_t pack_one(struct gt_link_store *s, struct gt_links *l, const struct gt_link_frame *f)
{
	struct gt_link_cols rows = cols_of(s, f, 0);
	uint8_t *to = s->packed->one;
	struct gt_link_gist g;

	if (have_gists(s)) {
		gt_link_gist(&rows, 1u << s->shift, l->chunks[0] == f->chunk ? INT64_MAX : l->packed_end, &g);
		l->packed_end = g.end;
		memcpy(to, &g, gt_link_gist_bytes(&g));
		to += gt_link_gist_bytes(&g);
	}
	to += gt_link_pack(&rows, 1u << s->shift, to);
	return (size_t)(to - s->packed->one);
}

static void pack(struct gt_link_store *s, struct gt_links *l, struct gt_link_frame *f)
{
	struct gt_link_packed *p = s->packed;
	uint8_t *to;
	size_t n;

	if (!p->one && !(p->one = malloc(PACKED_MAX(s->shift)))) {
		no_memory(s);
		return;
	}
	n = pack_one(s, l, f);
	to = packed_room(s, n);
	if (!to)
		return;
	memcpy(to, p->one, n);
	p->at[f->chunk] = p->end << SIZE_BITS | n;
	p->end += n;
	f->dirty = f->used = false;
	s->hand = (uint32_t)(f - s->frames);	/* the next chunk takes it, which the processor still has at hand */
}

/* What was packed, or of that the first bytes. Borrowed until the next one is asked for; NULL: an error. */
static const uint8_t *packed_at(struct gt_link_store *s, uint64_t at, size_t most)
{
	struct gt_link_packed *p = s->packed;
	size_t size = at & ((1u << SIZE_BITS) - 1);
	uint64_t from = at >> SIZE_BITS, slab = from / SLAB, last = (p->end - 1) / SLAB;

	if (slab < p->last || slab == last)
		return p->slabs[slab < p->last ? slab : p->last] + from % SLAB;
	if (!gt_pread(p->fd, p->one, size < most ? size : most, from))
		return p->one;
	gt_err_set(&s->err, -EIO, "cannot read a temporary file in %s (TMPDIR)", gt_temporary_folder());
	return NULL;
}

static void gist_at(const uint8_t *packed, struct gt_link_gist *g)
{
	memcpy(g, packed, offsetof(struct gt_link_gist, types));
	memcpy(g->types, packed + offsetof(struct gt_link_gist, types), gt_link_gist_bytes(g) - offsetof(struct gt_link_gist, types));
}

static void unpack(struct gt_link_store *s, uint64_t at, const struct gt_link_frame *f)
{
	const uint8_t *packed = packed_at(s, at, SIZE_MAX);
	struct gt_link_cols rows = cols_of(s, f, 0);
	struct gt_link_gist g;

	if (!packed)
		return;
	if (have_gists(s)) {
		gist_at(packed, &g);
		packed += gt_link_gist_bytes(&g);
	}
	gt_link_unpack(packed, 1u << s->shift, &rows);
}

static void release_packed(struct gt_link_packed *p)
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

/* ---- frames ---- */

static int write_out(struct gt_link_store *s, struct gt_link_frame *f)
{
	int rc = 0;

	if (f->dirty && s->fd < 0)
		rc = s->fd = gt_temporary(&s->err);
	if (f->dirty && s->fd >= 0)
		rc = gt_pwrite(s->fd, f->bytes, chunk_bytes(s), (uint64_t)f->chunk * chunk_bytes(s));
	if (rc < 0)
		return cannot_write(s, rc);
	f->dirty = false;
	return 0;
}

static struct gt_link_frame *new_frame(struct gt_link_store *s)
{
	uint8_t *bytes = calloc(1, chunk_bytes(s));

	if (!bytes || gt_grow(&s->frames, &s->frames_cap, s->nframes + 1, sizeof(*s->frames))) {
		free(bytes);
		no_memory(s);
		return NULL;
	}
	s->frames[s->nframes] = (struct gt_link_frame){ .bytes = bytes };
	return &s->frames[s->nframes++];
}

/* A frame for this chunk, with whatever was in it. */
static struct gt_link_frame *free_frame(struct gt_link_store *s, uint32_t chunk)
{
	struct gt_link_frame *f = NULL;

	if ((s->nframes + 1) * chunk_bytes(s) <= s->memory && (!s->nframes || s->frames[s->hand].used)) {
		f = new_frame(s);
	} else {
		for (; s->frames[s->hand].used; s->hand = (s->hand + 1) % (uint32_t)s->nframes)
			s->frames[s->hand].used = false;
		f = &s->frames[s->hand];
		if (write_out(s, f))
			return NULL;
		s->frame_of[f->chunk] = 0;
		s->hand = (s->hand + 1) % (uint32_t)s->nframes;
	}
	if (!f)
		return NULL;
	f->chunk = chunk;
	f->dirty = false;
	s->frame_of[chunk] = (uint32_t)(f - s->frames) + 1;
	return f;
}

/* NULL after an error. */
static struct gt_link_frame *frame_of(struct gt_link_store *s, uint32_t chunk)
{
	struct gt_link_frame *f;

	if (s->err.code)
		return NULL;
	if (s->frame_of[chunk]) {
		f = &s->frames[s->frame_of[chunk] - 1];
	} else {
		uint64_t packed = s->packed ? s->packed->at[chunk] : 0;

		f = free_frame(s, chunk);
		if (f && packed)
			unpack(s, packed, f);
		else if (f && gt_pread(s->fd, f->bytes, chunk_bytes(s), (uint64_t)chunk * chunk_bytes(s)))
			gt_err_set(&s->err, -EIO, "cannot read a temporary file in %s (TMPDIR)", gt_temporary_folder());
		if (s->err.code)
			return NULL;
	}
	f->used = true;
	return f;
}

static int add_chunk(struct gt_link_store *s, struct gt_links *l, int64_t first)
{
	size_t n = l->n >> s->shift;
	struct gt_link_frame *f;

	if (s->err.code)
		return s->err.code;
	if (gt_grow(&l->chunks, &l->chunks_cap, n + 1, sizeof(*l->chunks)) ||
	    gt_grow(&l->firsts, &l->firsts_cap, n + 1, sizeof(*l->firsts)) ||
	    gt_grow(&s->frame_of, &s->frame_of_cap, s->nchunks + 1ul, sizeof(*s->frame_of)) ||
	    (s->packed && gt_grow(&s->packed->at, &s->packed->at_cap, s->nchunks + 1ul, sizeof(*s->packed->at))))
		return no_memory(s);
	s->frame_of[s->nchunks] = 0;
	if (s->packed)
		s->packed->at[s->nchunks] = 0;
	if (s->packed && n && (f = frame_of(s, l->chunks[n - 1])))	/* that one is complete */
		pack(s, l, f);
	f = free_frame(s, s->nchunks);
	if (!f)
		return s->err.code;
	f->used = true;
	l->chunks[n] = s->nchunks++;
	l->firsts[n] = first;
	return 0;
}

static uint32_t in_chunk(const struct gt_link_store *s, uint32_t i) { return i & ((1u << s->shift) - 1); }

struct gt_link_cols gt_links_room(struct gt_link_store *s, struct gt_links *l, int64_t start, uint32_t *n)
{
	uint32_t left = (1u << s->shift) - in_chunk(s, l->n);
	struct gt_link_frame *f;

	if (l->n == UINT32_MAX)
		gt_err_set(&s->err, -EOVERFLOW, "too many calls of one thread, or work of one stream");
	if (!in_chunk(s, l->n) && add_chunk(s, l, start))
		return (struct gt_link_cols){ 0 };
	f = frame_of(s, l->chunks[l->n >> s->shift]);
	if (!f)
		return (struct gt_link_cols){ 0 };
	f->dirty = true;
	*n = left < UINT32_MAX - l->n ? left : UINT32_MAX - l->n;
	return cols_of(s, f, in_chunk(s, l->n));
}

void gt_links_took(struct gt_links *l, uint32_t n) { l->n += n; }

void gt_links_add(struct gt_link_store *s, struct gt_links *l, const struct gt_link *one)
{
	uint32_t n;
	struct gt_link_cols to = gt_links_room(s, l, one->start, &n);

	if (!to.start)
		return;
	put(&to, one);
	gt_links_took(l, 1);
}

struct gt_link gt_links_get(struct gt_link_store *s, const struct gt_links *l, uint32_t i)
{
	struct gt_link_frame *f = frame_of(s, l->chunks[i >> s->shift]);
	struct gt_link_cols c;

	if (!f)
		return (struct gt_link){ 0 };
	c = cols_of(s, f, in_chunk(s, i));
	return gt_link_at(&c, 0);
}

struct gt_links_near gt_links_around(struct gt_link_store *s, const struct gt_links *l, uint32_t i)
{
	struct gt_link_frame *f = frame_of(s, l->chunks[i >> s->shift]);
	struct gt_links_near near = { .first = i - in_chunk(s, i) };

	if (f)
		near.cols = cols_of(s, f, 0);
	return near;
}

bool gt_links_gist(struct gt_link_store *s, const struct gt_links *l, uint32_t i, struct gt_link_gist *g)
{
	uint64_t at = have_gists(s) && !s->err.code ? s->packed->at[l->chunks[i >> s->shift]] : 0;
	const uint8_t *packed = at ? packed_at(s, at, sizeof(*g)) : NULL;

	if (!packed)
		return false;
	gist_at(packed, g);
	return g->ntypes;
}

void gt_links_set(struct gt_link_store *s, const struct gt_links *l, uint32_t i, const struct gt_link *one)
{
	struct gt_link_frame *f = frame_of(s, l->chunks[i >> s->shift]);
	struct gt_link_cols to;

	if (!f)
		return;
	to = cols_of(s, f, in_chunk(s, i));
	put(&to, one);
	f->dirty = true;
	if (s->packed)
		s->packed->at[f->chunk] = 0;
}

uint32_t gt_links_until(struct gt_link_store *s, const struct gt_links *l, int64_t at)
{
	size_t low = 0, high = (l->n >> s->shift) + (in_chunk(s, l->n) != 0);
	uint32_t from, to;

	while (low < high) {		/* chunks that begin at `at` or before */
		size_t mid = low + (high - low) / 2;

		if (l->firsts[mid] <= at)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return 0;
	from = (uint32_t)(low - 1) << s->shift;
	to = l->n - from < 1u << s->shift ? l->n : from + (1u << s->shift);
	while (from < to) {
		uint32_t mid = from + (to - from) / 2;

		if (gt_links_get(s, l, mid).start <= at)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

void gt_links_release(struct gt_links *l)
{
	free(l->chunks);
	free(l->firsts);
	*l = (struct gt_links){ 0 };
}

void gt_link_store_release(struct gt_link_store *s)
{
	for (size_t i = 0; i < s->nframes; i++)
		free(s->frames[i].bytes);
	free(s->frames);
	free(s->frame_of);
	release_packed(s->packed);
	if (s->record && s->fd >= 0)
		close(s->fd);
	*s = (struct gt_link_store){ .fd = -1 };
}
