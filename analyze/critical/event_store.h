/* Lines of records sorted by their start, kept in little memory: what does not fit goes to a
 * temporary file without a name, made when it is needed. One line is what one thread called or one
 * stream did; a record is read, found by its time, and changed in any order.
 *
 * Errors stick: after one (err in the store) reads give zeros and nothing is written, and who loops
 * looks at gt_link_store_failed. */
#ifndef GT_LINK_STORE_H
#define GT_LINK_STORE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "analyze/critical/event_store_digest.h"
#include "formats/base/err.h"

/* the meaning of all but start is the owner's; a gist (link_gist.h) is of start, end and type */
struct gt_link {
	int64_t start, end;
	uint32_t type, by;
	int64_t launch;
	int64_t new_end; /* only where the store was made with it; 0 otherwise */
};
/* records, each of their fields by itself: those of a chunk stand so in memory */
struct gt_link_cols {
	int64_t *start, *end, *launch, *new_end; /* new_end: NULL where it is not kept */
	uint32_t *type, *by;
};
struct gt_links {         /* one line; zeroed is empty */
	uint32_t *chunks; /* where its records are */
	int64_t *firsts;  /* start of the first one of each chunk */
	size_t chunks_cap, firsts_cap;
	int64_t packed_end; /* of the last record that was packed */
	uint32_t n;
};
struct gt_link_store {
	struct gt_link_frame *frames; /* chunks in memory */
	uint32_t *frame_of;           /* by chunk: 1 + its frame, 0: in the file */
	size_t nframes, frames_cap, frame_of_cap;
	/* complete chunks, in few bytes, and their gists; or NULL */
	struct gt_link_packed *packed, *gists;
	uint32_t nchunks, hand;
	size_t memory;  /* bytes of frames */
	size_t record;  /* bytes that one takes */
	uint32_t shift; /* a chunk has 1 << shift records */
	int fd;         /* -1: not needed yet */
	struct gt_err err;
};

/* lines: about how many there will be at most; with many, chunks are small. */
void gt_link_store_init(struct gt_link_store *s, bool new_ends, uint32_t lines);
static inline bool gt_link_store_failed(const struct gt_link_store *s) { return s->err.code; }
/* one->start is not before that of the last one. */
void gt_links_add(struct gt_link_store *s, struct gt_links *l, const struct gt_link *one);
/* The same of many: n > 0 of them, no more than gt_links_left. `launch` may be the same column as
 * `start`; new_end is not looked at. */
void gt_links_put(
	struct gt_link_store *s, struct gt_links *l, const struct gt_link_cols *rows, uint32_t n);
/* in its chunk, or the next one if it is full */
static inline uint32_t gt_links_left(const struct gt_link_store *s, const struct gt_links *l)
{
	return (1u << s->shift) - (l->n & ((1u << s->shift) - 1));
}
/* i < l->n */
struct gt_link gt_links_get(struct gt_link_store *s, const struct gt_links *l, uint32_t i);
/* The records around i that stand beside one another in memory: those from `first` on. cols.start:
 * NULL after an error. Borrowed until the store is used again. */
struct gt_links_near {
	struct gt_link_cols cols;
	uint32_t first;
};
struct gt_links_near gt_links_around(struct gt_link_store *s, const struct gt_links *l, uint32_t i);
static inline struct gt_link gt_link_at(const struct gt_link_cols *c, uint32_t i)
{
	return (struct gt_link){ c->start[i], c->end[i], c->type[i], c->by[i], c->launch[i],
		c->new_end ? c->new_end[i] : 0 };
}
static inline struct gt_link gt_links_near(const struct gt_links_near *n, uint32_t i)
{
	return gt_link_at(&n->cols, i - n->first);
}
/* Records stand in chunks of as many: the first of that with record i. */
static inline uint32_t gt_links_chunk(const struct gt_link_store *s) { return 1u << s->shift; }
static inline uint32_t gt_links_first(const struct gt_link_store *s, uint32_t i)
{
	return i & ~(gt_links_chunk(s) - 1);
}
/* What the chunk with record i says of itself. False: it is not complete, or does not say. Where
 * the last record of the chunk before was changed since, it does not know. */
bool gt_links_gist(
	struct gt_link_store *s, const struct gt_links *l, uint32_t i, struct gt_link_gist *g);
/* start stays */
void gt_links_set(
	struct gt_link_store *s, struct gt_links *l, uint32_t i, const struct gt_link *one);
/* How many records of the line start at `at` or before. */
uint32_t gt_links_until(struct gt_link_store *s, const struct gt_links *l, int64_t at);
void gt_links_release(struct gt_links *l);
void gt_link_store_release(struct gt_link_store *s);
#endif
