/* The reader's inside, shared by reader.c (finding blocks), reader_dict.c (names), scan.c, iter.c and walk.c (rows). */
#ifndef GT_READER_IN_H
#define GT_READER_IN_H
#include <pthread.h>
#include <zstd.h>

#include "formats/block.h"
#include "formats/reader.h"
#include "formats/wire.h"

struct gt_seg {
	struct gt_segment pub;
	uint64_t at, bytes;		/* in the file */
	uint64_t id;
	int64_t began;			/* monotonic time in its header */
	struct gt_wire_entry *entries;
	size_t nentries, entries_cap;
	uint32_t last_open_epoch;	/* the epoch whose open calls count; GT_NONE: none */
	/* owned memory behind pub */
	struct gt_buf text;
	struct gt_string *strings; size_t strings_cap;
	struct gt_type *types;	   size_t types_cap;
	struct gt_track *tracks;   size_t tracks_cap;
	struct gt_stack *stacks;   size_t stacks_cap;
	struct gt_anchor *anchors; size_t anchors_cap;
	char *meta, *host, *boot;
	void *json;			/* json_t * while metadata are merged */
};
struct gt_reader {
	int fd;
	uint64_t size;
	struct gt_seg *segs;
	size_t nsegs, segs_cap;
	struct gt_damage *damage;
	size_t ndamage, damage_cap;
	uint64_t held;			/* of GT_HOLD_MAX, all segments */
	pthread_mutex_t lock;		/* damage, when several threads scan */
};

/* Working memory for one block. Zero-initialised is valid. */
struct gt_loader {
	ZSTD_DCtx *zstd;
	struct gt_buf packed, bytes;	/* bytes: content plus GT_SLACK */
};
int gt_pread(const struct gt_reader *r, void *to, size_t n, uint64_t at);	/* 0, or -EIO when it is not all there */
/* Reads and decompresses the content behind an entry's head into l->bytes. Everything is checked. 0, -EBADMSG with a place, -ENOMEM. */
int gt_load(const struct gt_reader *r, const struct gt_seg *seg, const struct gt_wire_entry *e, struct gt_loader *l, struct gt_span *content,
	    struct gt_err *err);
void gt_loader_release(struct gt_loader *l);
/* Notes that an entry's rows are missing from now on. Thread-safe; once per block. */
void gt_note_damage(struct gt_reader *r, const struct gt_seg *seg, const struct gt_wire_entry *e, const struct gt_err *why);

int gt_hold(struct gt_reader *r, uint64_t bytes);	/* 0, or -E2BIG when the file is to be held no longer */
int gt_read_dicts(struct gt_reader *r, struct gt_seg *seg, struct gt_err *err);
void gt_free_dicts(struct gt_seg *seg);

/* ---- what a filter means for one segment ---- */
struct gt_wanted {
	const struct gt_filter *filter;
	uint32_t kinds;
	uint8_t *tracks, *types;	/* a byte each, NULL: all wanted */
	uint8_t *hidden;		/* by track: layers that are not wanted; NULL: there are none */
	const struct gt_type *all_types;
};
#define GT_ALL_LAYERS (GT_BIT(GT_LAYER_COUNT) - 1)
_Static_assert(GT_ALL_LAYERS <= UINT8_MAX, "hidden layers of a track are a byte");
int gt_wanted_init(struct gt_wanted *w, const struct gt_segment *seg, const struct gt_filter *filter);
void gt_wanted_release(struct gt_wanted *w);
bool gt_wants_block(const struct gt_wanted *w, const struct gt_seg *seg, const struct gt_wire_entry *e);
static inline bool gt_wants_time(const struct gt_filter *f, int64_t start, int64_t end)
{
	return !f->ranged || (start < f->to && (end > f->from || start >= f->from));
}
static inline bool gt_hides(const struct gt_wanted *w, uint32_t track) { return w->hidden && track != GT_NONE && w->hidden[track]; }
static inline bool gt_wants_row(const struct gt_wanted *w, uint32_t track, uint32_t type, int64_t start, int64_t end)
{
	return gt_wants_time(w->filter, start, end) &&
	       (type == GT_NONE || ((!w->types || w->types[type]) &&
				    (!gt_hides(w, track) || !(w->hidden[track] & GT_BIT(w->all_types[type].layer)))));
}
#endif
