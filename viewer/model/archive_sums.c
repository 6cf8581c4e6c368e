/* Summaries. The upper ones are read when the archive is opened. The format limits them to about a
 * hundred thousand buckets per segment. With many segments, the finest level (15/16 of the buckets)
 * is left out above a limit; blocks are read instead. */
#include <stdlib.h>
#include <string.h>

#include "viewer/model/archive_internal.h"
#include "formats/base/sorted.h"

#define FINEST_MOST (1u << 19) /* buckets of finest levels in memory: 32 MiB */
#define TRACKS_MOST 4096u      /* limit of tracks that are checked for calls */

/* ---- upper levels ---- */

static uint64_t key_of(
	uint32_t segment, uint32_t track, enum gt_aspect aspect, bool derived, unsigned depth)
{
	return (uint64_t)segment << 32 | (uint64_t)track << 8 | (unsigned)derived << 7 |
		(unsigned)aspect << 3 | depth;
}

static bool same_key(const void *arg, uint32_t i, const void *key, size_t len)
{
	const struct gt_sums *s = arg;

	return s->uppers[i].key == *(const uint64_t *)key;
}

static struct gt_upper *find_upper(const struct gt_sums *s, uint64_t key)
{
	uint32_t i = gt_map_get(&s->map, gt_hash_u64(key), same_key, s, &key, sizeof(key));

	return i == UINT32_MAX ? NULL : &s->uppers[i];
}

static struct gt_upper *upper_of(struct gt_sums *s, uint64_t key)
{
	struct gt_upper *u = find_upper(s, key);

	if (u)
		return u;
	if (gt_grow(&s->uppers, &s->cap, s->n + 1, sizeof(*s->uppers)) ||
		gt_map_add(&s->map, gt_hash_u64(key), (uint32_t)s->n))
		return NULL;
	u = &s->uppers[s->n++];
	*u = (struct gt_upper){ .key = key };
	return u;
}

/* Buckets of a level come in several summaries, in order. */
static int add_buckets(struct gt_level *l, const struct gt_summary *s)
{
	size_t cap = l->n;

	if (gt_grow(&l->buckets, &cap, l->n + (size_t)s->n, sizeof(*l->buckets)))
		return -ENOMEM;
	memcpy(l->buckets + l->n, s->buckets, s->n * sizeof(*l->buckets));
	l->n += s->n;
	return 0;
}

static int add_upper(void *arg, const struct gt_summary *s)
{
	struct gt_archive *a = arg;
	struct gt_upper *u;

	if (!s->level || s->level > GT_LEVELS)
		return 0;
	if (!s->derived)
		gt_archive_note_depth(a, s->segment, s->track, s->aspect, s->depth);
	if (!(u = upper_of(
		      &a->sums, key_of(s->segment, s->track, s->aspect, s->derived, s->depth))))
		return -ENOMEM;
	if (s->level == 1 && a->sums.nfinest > FINEST_MOST)
		return 0;
	a->sums.nfinest += s->level == 1 ? s->n : 0;
	u->nlevels = s->level > u->nlevels ? s->level : u->nlevels;
	u->levels[s->level - 1].shift = (unsigned)__builtin_ctzll(s->buckets[0].width);
	return add_buckets(&u->levels[s->level - 1], s);
}

struct reading {
	struct gt_archive *archive;
	struct gt_err *err;
};

static int read_upper(void *arg, const struct gt_block_info *f)
{
	struct reading *r = arg;

	return f->upper ? gt_block_summaries(r->archive->reader, f, add_upper, r->archive, r->err)
			: 0;
}

int gt_archive_read_uppers(struct gt_archive *a, struct gt_err *err)
{
	return gt_each_block(a->reader, read_upper, &(struct reading){ a, err }, err);
}

/* Only threads have calls, except in files of other tools. */
static bool may_call(const struct gt_archive *a, const struct gt_segment *seg, uint32_t track)
{
	unsigned kind = seg->tracks[track].kind;

	return (kind != GT_TRACK_PROCESS && kind != GT_TRACK_DEVICE && kind != GT_TRACK_CONTEXT &&
		       kind != GT_TRACK_STREAM) ||
		gt_archive_depths(a, seg->index, track, GT_ASPECT_CALLS);
}

uint32_t gt_archive_only_caller(const struct gt_archive *a, uint32_t segment, uint32_t process)
{
	const struct gt_segment *seg = gt_reader_segment(a->reader, segment);
	uint32_t only = GT_NONE;

	for (uint32_t t = 0; seg->ntracks <= TRACKS_MOST && t < seg->ntracks; t++) {
		if (gt_archive_above(a, segment, t) != process || !may_call(a, seg, t))
			continue;
		if (only != GT_NONE)
			return GT_NONE;
		only = t;
	}
	return only;
}

const struct gt_upper *gt_archive_upper(const struct gt_archive *a, uint32_t segment,
	uint32_t track, enum gt_aspect aspect, bool derived, unsigned depth)
{
	const struct gt_upper *u =
		find_upper(&a->sums, key_of(segment, track, aspect, derived, depth));
	uint32_t only;

	if (u || !derived || depth || aspect != GT_ASPECT_CALLS)
		return u;
	only = gt_archive_only_caller(a, segment, track);
	return only == GT_NONE ? NULL
			       : find_upper(&a->sums, key_of(segment, only, aspect, false, 0));
}

unsigned gt_archive_finest_bucket(const struct gt_archive *a)
{
	unsigned finest = 0;

	for (size_t i = 0; i < a->sums.n; i++) {
		const struct gt_upper *u = &a->sums.uppers[i];
		unsigned l = 0;

		while (l < u->nlevels && !u->levels[l].n)
			l++;
		if (l < u->nlevels && u->levels[l].shift > finest)
			finest = u->levels[l].shift;
	}
	return finest;
}

/* ---- level 0 ---- */

static int add_of_block(void *arg, const struct gt_summary *s)
{
	struct gt_epoch *e = arg;

	if (s->level || s->derived)
		return 0;
	if (gt_grow(&e->all, &e->cap, e->n + 1, sizeof(*e->all)) ||
		gt_grow(&e->buckets, &e->buckets_cap, e->nbuckets + s->n, sizeof(*e->buckets)))
		return -ENOMEM;
	/* read_epoch() sets its buckets when the array no longer moves */
	e->all[e->n++] = (struct gt_block_summary){ .number = s->block,
		.track = s->track,
		.n = s->n,
		.aspect = s->aspect,
		.depth = s->depth };
	memcpy(e->buckets + e->nbuckets, s->buckets, s->n * sizeof(*e->buckets));
	e->nbuckets += s->n;
	return 0;
}

static int by_block(const void *pa, const void *pb)
{
	const struct gt_block_summary *a = pa, *b = pb;

	return GT_COMPARE(a->number, b->number) ?:
		GT_COMPARE(a->track, b->track) ?:
		GT_COMPARE(a->aspect << 3 | a->depth, b->aspect << 3 | b->depth);
}

static int read_epoch(struct gt_archive *a, struct gt_epoch *e, struct gt_err *err)
{
	const struct gt_archive_seg *s = &a->segs[e->segment];
	const struct gt_bucket *at;
	int code = 0;

	e->n = e->nbuckets = 0;
	for (size_t i = 0; !code && i < s->nsums; i++)
		if (s->sums[i].epoch == e->epoch)
			code = gt_block_summaries(a->reader,
				&(struct gt_block_info){ .segment = e->segment,
					.entry = s->sums[i].entry,
					.number = s->sums[i].number },
				add_of_block, e, err);
	at = e->buckets;
	for (size_t i = 0; i < e->n; i++) {
		e->all[i].buckets = at;
		at += e->all[i].n;
	}
	if (e->n)
		qsort(e->all, e->n, sizeof(*e->all), by_block);
	e->is_loaded = !code;
	return code;
}

int gt_archive_block_summaries(struct gt_archive *a, uint32_t segment, const struct gt_block *block,
	const struct gt_block_summary **list, size_t *n, struct gt_err *err)
{
	struct gt_epoch *e = &a->epochs[0];
	size_t first;
	int code = 0;

	for (unsigned i = 0; i < GT_EPOCHS_KEPT; i++) {
		struct gt_epoch *other = &a->epochs[i];

		if (other->is_loaded && other->segment == segment && other->epoch == block->epoch) {
			e = other;
			break;
		}
		if (!other->is_loaded || (e->is_loaded && other->used < e->used))
			e = other;
	}
	if (!e->is_loaded || e->segment != segment || e->epoch != block->epoch) {
		e->segment = segment;
		e->epoch = block->epoch;
		code = read_epoch(a, e, err);
	}
	e->used = ++a->now;
	first = GT_LOWER_BOUND(i, 0, e->n, e->all[i].number < block->number);
	*list = e->all + first;
	for (*n = 0; first + *n < e->n && (*list)[*n].number == block->number;)
		++*n;
	return code;
}

void gt_archive_release_sums(struct gt_archive *a)
{
	for (size_t i = 0; i < a->sums.n; i++)
		for (unsigned l = 0; l < GT_LEVELS; l++)
			free(a->sums.uppers[i].levels[l].buckets);
	free(a->sums.uppers);
	gt_map_release(&a->sums.map);
	for (unsigned i = 0; i < GT_EPOCHS_KEPT; i++) {
		free(a->epochs[i].all);
		free(a->epochs[i].buckets);
	}
}
