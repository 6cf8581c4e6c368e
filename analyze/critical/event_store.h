/* Lists of events in order of their start, in bounded memory. The rows of one thread or of one
 * stream are one list. Events are appended in order of their start, and read in any order.
 *
 * Errors are sticky: after an error (member err) reads return zeros and appends do nothing. A loop
 * over events checks gt_event_store_failed.
 *
 * A plain mapped temporary file of 32 bytes per event was measured, and is slower: writing the
 * pages of 20 million events takes 0.3 to 1.3 s of processor time, more than the whole report. */
#ifndef GT_EVENT_STORE_H
#define GT_EVENT_STORE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "analyze/critical/event_store_digest.h"
#include "formats/base/err.h"

/* The store needs start, end and type for digests; the owner defines the other members. */
struct gt_stored_event {
	int64_t start, end;
	uint32_t type, by;
	int64_t launch;
};
/* events by column, as in a chunk in memory */
struct gt_event_columns {
	int64_t *start, *end, *launch;
	uint32_t *type, *by;
};
struct gt_event_list {    /* zeroed: empty */
	uint32_t *chunks; /* numbers of its chunks */
	int64_t *firsts;  /* start of the first event of each chunk */
	size_t chunks_cap, firsts_cap;
	int64_t packed_end; /* end of the last event that was packed */
	uint32_t n;
};
struct gt_event_store {
	/* chunks in memory, unpacked; the first `nevictable` ones are also packed */
	struct gt_chunk_frame *frames;
	uint32_t *frame_of; /* by chunk: 1 + its frame, 0: none */
	size_t nframes, frames_cap, frame_of_cap;
	/* complete chunks, packed, and their digests; digests: NULL if chunks are small */
	struct gt_slab_file *packed, *digests;
	uint32_t nchunks, hand, nevictable;
	size_t memory;  /* bytes for frames */
	uint32_t shift; /* a chunk has 1 << shift events */
	struct gt_err err;
};

/* lists: the expected number of lists. If it is large, chunks are small. */
void gt_event_store_init(struct gt_event_store *s, uint32_t lists);
static inline bool gt_event_store_failed(const struct gt_event_store *s) { return s->err.code; }
/* one->start is not before the start of the last event. */
void gt_event_list_add(
	struct gt_event_store *s, struct gt_event_list *l, const struct gt_stored_event *one);
/* Appends n events; 0 < n <= gt_event_list_chunk_left. Columns `launch` and `start` may be the same
 * array. */
void gt_event_list_append(struct gt_event_store *s, struct gt_event_list *l,
	const struct gt_event_columns *rows, uint32_t n);
/* Free places in the last chunk, or in the next one if the last one is full. */
static inline uint32_t gt_event_list_chunk_left(
	const struct gt_event_store *s, const struct gt_event_list *l)
{
	return (1u << s->shift) - (l->n & ((1u << s->shift) - 1));
}
/* i < l->n */
struct gt_stored_event gt_event_list_get(
	struct gt_event_store *s, const struct gt_event_list *l, uint32_t i);
/* The events of the chunk with event i, from number `first` on. cols.start: NULL after an error.
 * Borrowed until the next use of the store. */
struct gt_event_span {
	struct gt_event_columns cols;
	uint32_t first;
};
struct gt_event_span gt_event_list_span(
	struct gt_event_store *s, const struct gt_event_list *l, uint32_t i);
static inline struct gt_stored_event gt_event_span_get(const struct gt_event_span *n, uint32_t i)
{
	const struct gt_event_columns *c = &n->cols;

	i -= n->first;
	return (struct gt_stored_event){ c->start[i], c->end[i], c->type[i], c->by[i],
		c->launch[i] };
}
/* events per chunk */
static inline uint32_t gt_event_store_chunk(const struct gt_event_store *s)
{
	return 1u << s->shift;
}
/* the first event of the chunk with event i */
static inline uint32_t gt_event_store_chunk_start(const struct gt_event_store *s, uint32_t i)
{
	return i & ~(gt_event_store_chunk(s) - 1);
}
/* The digest of the chunk with event i. False: the chunk is incomplete or has no digest. */
bool gt_event_list_digest(struct gt_event_store *s, const struct gt_event_list *l, uint32_t i,
	struct gt_event_digest *g);
/* Replaces the last event; its start stays. */
void gt_event_list_set_last(
	struct gt_event_store *s, struct gt_event_list *l, const struct gt_stored_event *one);
/* The number of events that start at `at` or earlier. */
uint32_t gt_event_list_count_until(
	struct gt_event_store *s, const struct gt_event_list *l, int64_t at);
void gt_event_list_release(struct gt_event_list *l);
void gt_event_store_release(struct gt_event_store *s);
#endif
