/* A line is a row of chunks; a chunk has a number, which is its place in the file, and a frame
 * while it is in memory. When all frames are taken, one that was not used lately makes room: a hand
 * goes round, passes by those that were used since it came by last, and takes the first other one.
 * What is looked at is near in time to what was looked at before, so few reads reach the file.
 *
 * Writing is what costs most then. So a chunk is packed (link_pack.h) when it is complete, unless
 * new ends will be written into it, and makes room without being written. What is packed stands in
 * slabs one after the other: in memory at first, then in a file of its own. So do gists: they are
 * few bytes, and who looks at nothing else needs no file. */
#include "analyze/critical/event_store.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "analyze/critical/event_store_pack.h"
#include "formats/base/buf.h"
#include "formats/os/file.h"

#define MEMORY (32u << 20) /* bytes */
#define SLAB (1u << 20)
#define SLABS 32u /* there is room for in memory */
/* a chunk that is packed is small enough for the processor's own memory */
#define SHIFT_PACKED 10u
/* a system call for a chunk of 64 KiB costs little more than for one of 4 */
#define SHIFT_MAX 11u
#define SHIFT_MIN 4u
#define SHIFT_GIST 7u /* in smaller ones it would take more than the rows */
#define GIST_SLABS 4u /* of those */
#define SIZE_BITS 16
_Static_assert(GT_LINK_PACKED_MAX(1u << SHIFT_PACKED) < 1u << SIZE_BITS,
	"the size of a packed chunk has its place");

struct gt_link_frame {
	uint8_t *bytes;
	uint32_t chunk;
	bool used, dirty;
};

struct gt_link_packed { /* a number of bytes for each chunk */
	/* by chunk: where it begins, and in the last SIZE_BITS how long it is; 0: it is not there
	 */
	uint64_t *at;
	size_t at_cap;
	/* the first ones; the last one is where the next chunk goes */
	uint8_t *slabs[SLABS];
	uint32_t last; /* of these */
	uint64_t end;  /* of all that was packed */
	uint8_t *one;  /* what was read from the file */
	int fd;        /* -1: not needed yet */
};

static size_t chunk_bytes(const struct gt_link_store *s) { return s->record << s->shift; }

/* Of a chunk from its i-th record on. */
static inline struct gt_link_cols cols_of(
	const struct gt_link_store *s, const struct gt_link_frame *f, uint32_t i)
{
	uint32_t n = 1u << s->shift;
	int64_t *times = (int64_t *)(void *)f->bytes;
	uint32_t *types = (uint32_t *)(void *)(times + 3ul * n);

	return (struct gt_link_cols){ times + i, times + n + i, times + 2ul * n + i,
		s->packed ? NULL : times + 4ul * n + i, types + i, types + n + i };
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

static int no_memory(struct gt_link_store *s)
{
	return gt_err_set(&s->err, -ENOMEM, "no memory for the chain of calls and work");
}

/* Of so many bytes for a chunk, at most. NULL: no memory. */
static struct gt_link_packed *new_packed(struct gt_link_store *s, size_t one, uint32_t slabs)
{
	struct gt_link_packed *p = calloc(1, sizeof(*p));

	if (!p || !(p->one = malloc(one))) {
		free(p);
		no_memory(s);
		return NULL;
	}
	p->fd = -1;
	p->last = slabs - 1;
	return p;
}

/* Each line that grows has a chunk in memory, and there is as much room again for what is looked
 * at. */
void gt_link_store_init(struct gt_link_store *s, bool new_ends, uint32_t lines)
{
	*s = (struct gt_link_store){
		.fd = -1, .err = GT_ERR_INIT, .shift = new_ends ? SHIFT_MAX : SHIFT_PACKED
	};
	s->record = new_ends ? sizeof(struct gt_link) : GT_LINK_BYTES;
	s->memory = new_ends ? MEMORY : MEMORY / 2;
	while (s->shift > SHIFT_MIN && chunk_bytes(s) * lines > s->memory / 2)
		s->shift--;
	if (new_ends)
		return;
	if (chunk_bytes(s) * lines * 4 < s->memory)
		s->memory = chunk_bytes(s) * lines * 4 > SLAB ? chunk_bytes(s) * lines * 4 : SLAB;
	s->gists = s->shift >= SHIFT_GIST ? new_packed(s, sizeof(struct gt_link_gist), GIST_SLABS)
					  : NULL;
	s->packed = new_packed(s, GT_LINK_PACKED_MAX(1u << s->shift),
		(uint32_t)((MEMORY - s->memory) / SLAB) - GIST_SLABS);
}

static int cannot_write(struct gt_link_store *s, int rc)
{
	return gt_err_set(&s->err, rc, "cannot write a temporary file in %s (TMPDIR): %s",
		gt_temporary_folder(), strerror(-rc));
}

/* ---- packed chunks ---- */

/* The last slab is full: it goes to the file, and what comes next takes its memory. */
static int slab_out(struct gt_link_store *s, struct gt_link_packed *p, uint64_t slab)
{
	int rc = p->fd < 0 ? p->fd = gt_temporary(&s->err) : 0;

	rc = rc < 0 ? rc : gt_pwrite(p->fd, p->slabs[p->last], SLAB, slab * SLAB);
	return rc < 0 ? cannot_write(s, rc) : 0;
}

/* Where n bytes go, at most. NULL: an error. */
static uint8_t *packed_room(struct gt_link_store *s, struct gt_link_packed *p, size_t n)
{
	uint64_t slab = p->end / SLAB;

	/* none is ever quite full, so `end` lies in the slab at hand */
	if (p->end % SLAB + n >= SLAB) {
		if (slab >= p->last && slab_out(s, p, slab))
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

/* Of the bytes for which there was room the first n are the chunk's. */
static void took(struct gt_link_packed *p, uint32_t chunk, size_t n)
{
	p->at[chunk] = p->end << SIZE_BITS | n;
	p->end += n;
}

/* What is there of the chunk. Borrowed until the next one is asked for; NULL: nothing, or an error.
 */
static const uint8_t *packed_of(struct gt_link_store *s, struct gt_link_packed *p, uint32_t chunk)
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

static void add_gist(struct gt_link_store *s, uint32_t chunk, const struct gt_link_gist *g)
{
	uint8_t *to = packed_room(s, s->gists, gt_link_gist_bytes(g));

	if (!to)
		return;
	memcpy(to, g, gt_link_gist_bytes(g));
	took(s->gists, chunk, gt_link_gist_bytes(g));
}

/* The chunk of the line that was completed last. */
static void pack(struct gt_link_store *s, struct gt_links *l, uint32_t chunk,
	const struct gt_link_cols *rows)
{
	uint32_t n = 1u << s->shift;
	uint8_t *to = packed_room(s, s->packed, GT_LINK_PACKED_MAX(n));
	struct gt_link_adding adding;
	struct gt_link_gist g;

	if (!to)
		return;
	if (s->gists)
		gt_link_gist_begin(&adding, l->chunks[0] == chunk ? INT64_MAX : l->packed_end);
	took(s->packed, chunk, gt_link_pack(rows, n, to, s->gists ? &adding : NULL));
	if (!s->gists)
		return;
	gt_link_gist_end(&adding, rows, n, &g);
	add_gist(s, chunk, &g);
	l->packed_end = g.end;
}

static void unpack(struct gt_link_store *s, uint32_t chunk, const struct gt_link_frame *f)
{
	const uint8_t *packed = packed_of(s, s->packed, chunk);
	struct gt_link_cols rows = cols_of(s, f, 0);

	if (packed)
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
		rc = gt_pwrite(
			s->fd, f->bytes, chunk_bytes(s), (uint64_t)f->chunk * chunk_bytes(s));
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

	if ((s->nframes + 1) * chunk_bytes(s) <= s->memory &&
		(!s->nframes || s->frames[s->hand].used)) {
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

/* A frame for a chunk that has none, with what is in it. NULL after an error. */
static struct gt_link_frame *fetch(struct gt_link_store *s, uint32_t chunk)
{
	struct gt_link_frame *f = free_frame(s, chunk);

	if (f && s->packed && s->packed->at[chunk])
		unpack(s, chunk, f);
	else if (f && gt_pread(s->fd, f->bytes, chunk_bytes(s), (uint64_t)chunk * chunk_bytes(s)))
		gt_err_set(&s->err, -EIO, "cannot read a temporary file in %s (TMPDIR)",
			gt_temporary_folder());
	return s->err.code ? NULL : f;
}

/* NULL after an error. */
static inline struct gt_link_frame *frame_of(struct gt_link_store *s, uint32_t chunk)
{
	struct gt_link_frame *f;

	if (s->err.code)
		return NULL;
	f = s->frame_of[chunk] ? &s->frames[s->frame_of[chunk] - 1] : fetch(s, chunk);
	if (f)
		f->used = true;
	return f;
}

/* The chunk that was added last is complete. */
static void pack_frame(struct gt_link_store *s, struct gt_links *l, uint32_t chunk)
{
	struct gt_link_frame *f = frame_of(s, chunk);
	struct gt_link_cols rows;

	if (!f)
		return;
	rows = cols_of(s, f, 0);
	pack(s, l, chunk, &rows);
	f->dirty = f->used = false;
	/* the next chunk takes it, which the processor still has at hand */
	s->hand = (uint32_t)(f - s->frames);
}

static int grow_packed(struct gt_link_store *s, struct gt_link_packed *p)
{
	if (!p)
		return 0;
	if (gt_grow(&p->at, &p->at_cap, s->nchunks + 1ul, sizeof(*p->at)))
		return -ENOMEM;
	p->at[s->nchunks] = 0;
	return 0;
}

/* Without a frame so far. */
static int add_chunk(struct gt_link_store *s, struct gt_links *l, int64_t first)
{
	size_t n = l->n >> s->shift;

	if (s->err.code)
		return s->err.code;
	if (gt_grow(&l->chunks, &l->chunks_cap, n + 1, sizeof(*l->chunks)) ||
		gt_grow(&l->firsts, &l->firsts_cap, n + 1, sizeof(*l->firsts)) ||
		gt_grow(&s->frame_of, &s->frame_of_cap, s->nchunks + 1ul, sizeof(*s->frame_of)) ||
		grow_packed(s, s->packed) || grow_packed(s, s->gists))
		return no_memory(s);
	if (s->packed && n && !s->packed->at[l->chunks[n - 1]])
		pack_frame(s, l, l->chunks[n - 1]);
	s->frame_of[s->nchunks] = 0;
	l->chunks[n] = s->nchunks++;
	l->firsts[n] = first;
	return s->err.code;
}

static uint32_t in_chunk(const struct gt_link_store *s, uint32_t i)
{
	return i & ((1u << s->shift) - 1);
}

/* Room behind the last record. start: NULL after an error. */
static struct gt_link_cols room(struct gt_link_store *s, struct gt_links *l, int64_t start)
{
	struct gt_link_frame *f = NULL;

	if (l->n == UINT32_MAX)
		gt_err_set(
			&s->err, -EOVERFLOW, "too many calls of one thread, or work of one stream");
	if (in_chunk(s, l->n))
		f = frame_of(s, l->chunks[l->n >> s->shift]);
	else if (!add_chunk(s, l, start))
		f = free_frame(s, l->chunks[l->n >> s->shift]);
	if (!f)
		return (struct gt_link_cols){ 0 };
	f->used = f->dirty = true;
	return cols_of(s, f, in_chunk(s, l->n));
}

void gt_links_add(struct gt_link_store *s, struct gt_links *l, const struct gt_link *one)
{
	struct gt_link_cols to = room(s, l, one->start);

	if (!to.start)
		return;
	put(&to, one);
	l->n++;
}

void gt_links_put(
	struct gt_link_store *s, struct gt_links *l, const struct gt_link_cols *rows, uint32_t n)
{
	bool whole = s->packed && n == 1u << s->shift;
	struct gt_link_cols to;

	if (n > UINT32_MAX - l->n)
		gt_err_set(
			&s->err, -EOVERFLOW, "too many calls of one thread, or work of one stream");
	if (whole && !add_chunk(s, l, rows->start[0])) { /* it need not be copied */
		pack(s, l, s->nchunks - 1, rows);
		l->n += n;
	}
	to = whole ? (struct gt_link_cols){ 0 } : room(s, l, rows->start[0]);
	if (!to.start)
		return;
	memcpy(to.start, rows->start, n * sizeof(*to.start));
	memcpy(to.end, rows->end, n * sizeof(*to.end));
	memcpy(to.launch, rows->launch, n * sizeof(*to.launch));
	memcpy(to.type, rows->type, n * sizeof(*to.type));
	memcpy(to.by, rows->by, n * sizeof(*to.by));
	if (to.new_end)
		memset(to.new_end, 0, n * sizeof(*to.new_end));
	l->n += n;
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

static bool has_gist(struct gt_link_store *s, uint32_t chunk, struct gt_link_gist *g)
{
	const uint8_t *gist = s->gists && !s->err.code ? packed_of(s, s->gists, chunk) : NULL;

	if (!gist)
		return false;
	memcpy(g, gist, offsetof(struct gt_link_gist, types));
	memcpy(g->types, gist + offsetof(struct gt_link_gist, types),
		gt_link_gist_bytes(g) - offsetof(struct gt_link_gist, types));
	return true;
}

bool gt_links_gist(
	struct gt_link_store *s, const struct gt_links *l, uint32_t i, struct gt_link_gist *g)
{
	return has_gist(s, l->chunks[i >> s->shift], g) && g->ntypes;
}

void gt_links_set(
	struct gt_link_store *s, struct gt_links *l, uint32_t i, const struct gt_link *one)
{
	struct gt_link_frame *f = frame_of(s, l->chunks[i >> s->shift]);
	struct gt_link_cols to;
	struct gt_link_gist g;

	if (!f)
		return;
	/* the last chunk will be packed once more */
	if (i == l->n - 1 && has_gist(s, f->chunk, &g))
		l->packed_end = g.before;
	to = cols_of(s, f, in_chunk(s, i));
	put(&to, one);
	f->dirty = true;
	if (s->packed)
		s->packed->at[f->chunk] = 0;
	if (s->gists)
		s->gists->at[f->chunk] = 0;
}

uint32_t gt_links_until(struct gt_link_store *s, const struct gt_links *l, int64_t at)
{
	size_t low = 0, high = (l->n >> s->shift) + (in_chunk(s, l->n) != 0);
	uint32_t from, to;

	while (low < high) { /* chunks that begin at `at` or before */
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
	release_packed(s->gists);
	if (s->record && s->fd >= 0)
		close(s->fd);
	*s = (struct gt_link_store){ .fd = -1 };
}
