/* Counts every row of a trace once, for all reports.
 *
 * This loop decides how fast gtanalyze is, so it does as little as possible per row. Two small
 * numbers select the accumulator of a row: its code (index into the types of its block) and
 * whether it is nested. No branch depends on the meaning of a type. The accumulators fit into
 * the first cache level. They are prepared when a block begins, and added to the sums per type
 * when it ends. A block of a thousand quiet tracks prepares them once, not a thousand times.
 * Failures and bytes, which few rows have, are looked up for those rows only.
 *
 * Histograms are large, and users think in names: all types of one name share one histogram. */
#include "analyze/columns/aggregate.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/stats/name_interner.h"
#include "analyze/columns/column_cursor.h"
#include "formats/base/buf.h"

#define HIST_MEMORY (8u << 20)

struct acc { /* one code of the current block; [1]: the nested rows */
	uint64_t total[2];
	uint32_t count[2];
	int64_t longest, shortest;
	struct gt_stat *stat;
	struct gt_hist *hist; /* that of `stat`, or `spill` if there is no memory for one */
	uint32_t bytes_field; /* GT_NONE: the type has no such field */
};
struct seg {
	const struct gt_segment *seg;
	struct gt_stat *stats;           /* one per type */
	struct gt_track_sum *track_sums; /* one per track */
};
struct gt_aggregate {
	struct gt_reader *reader;
	unsigned parts;
	struct gt_filter filter;
	struct seg *segs;
	uint32_t nsegs;
	struct acc *accs; /* one per code of the current block */
	size_t naccs, cap;
	uint64_t block;
	const struct gt_segment *block_seg;
	struct gt_name_interner names; /* names that have a histogram: */
	struct gt_hist **hists;
	size_t nhists, hists_cap;
	size_t hist_bytes;
	/* takes the counts of rows without a histogram of their own; needs no memory */
	struct gt_hist spill;
	struct gt_hist_bucket spilled[GT_HIST_OCTAVE];
};

static int seg_init(struct seg *s, const struct gt_segment *seg, unsigned parts, struct gt_err *err)
{
	s->seg = seg;
	s->stats = calloc(seg->ntypes + 1ul, sizeof(*s->stats));
	s->track_sums = parts & GT_AGGREGATE_TRACKS
		? calloc(seg->ntracks + 1ul, sizeof(*s->track_sums))
		: NULL;
	if (!s->stats || (parts & GT_AGGREGATE_TRACKS && !s->track_sums))
		return gt_err_set(err, -ENOMEM, "out of memory (sums of %u types and %u tracks)",
			seg->ntypes, seg->ntracks);
	return 0;
}

struct gt_aggregate *gt_aggregate_new(
	struct gt_reader *r, unsigned parts, const struct gt_filter *filter, struct gt_err *err)
{
	struct gt_aggregate *f = calloc(1, sizeof(*f));

	if (f)
		f->segs = calloc(gt_reader_segments(r) + 1ul, sizeof(*f->segs));
	if (!f || !f->segs) {
		gt_err_set(err, -ENOMEM, "out of memory (sums)");
		gt_aggregate_free(f);
		return NULL;
	}
	f->reader = r;
	f->parts = parts;
	f->filter = *filter;
	f->nsegs = gt_reader_segments(r);
	for (unsigned o = 0; o < GT_HIST_OCTAVES; o++)
		f->spill.octave[o] = f->spilled;
	for (uint32_t i = 0; i < f->nsegs; i++)
		if (seg_init(&f->segs[i], gt_reader_segment(r, i), parts, err)) {
			gt_aggregate_free(f);
			return NULL;
		}
	return f;
}

/* ---- a block's accumulators ---- */

/* Updates the extremes. Call it before the rows are added to s->count. */
static void extremes(struct gt_stat *s, uint64_t shortest, uint64_t longest)
{
	s->shortest = !s->count || shortest < s->shortest ? shortest : s->shortest;
	s->longest = longest > s->longest ? longest : s->longest;
}

static void commit_block(struct gt_aggregate *f)
{
	for (size_t i = 0; i < f->naccs; i++) {
		struct acc *a = &f->accs[i];
		struct gt_stat *s = a->stat;
		uint64_t count = (uint64_t)a->count[0] + a->count[1];

		if (!s || !count)
			continue;
		if ((uint64_t)a->longest > UINT64_MAX / 2 / count) /* the sum may have wrapped */
			s->total = s->outer_total = UINT64_MAX;
		s->outer += a->count[0];
		s->total = gt_sat_add(s->total, gt_sat_add(a->total[0], a->total[1]));
		s->outer_total = gt_sat_add(s->outer_total, a->total[0]);
		extremes(s, (uint64_t)a->shortest, (uint64_t)a->longest);
		s->count += count;
	}
	f->naccs = 0;
	f->block_seg = NULL;
}

/* The histogram of a name, created if needed. NULL: no memory. */
static struct gt_hist *name_hist(struct gt_aggregate *f, struct gt_string name, uint32_t tag)
{
	uint32_t i = gt_name_interner_get(&f->names, name, tag);
	struct gt_hist *new;

	if (i != GT_NONE)
		return f->hists[i];
	if (f->hist_bytes >= HIST_MEMORY ||
		gt_grow(&f->hists, &f->hists_cap, f->nhists + 1, sizeof(*f->hists)) ||
		!(new = calloc(1, sizeof(*new))))
		return NULL;
	if (gt_name_interner_find(&f->names, name, tag, NULL) == GT_NONE) {
		free(new);
		return NULL;
	}
	f->hists[f->nhists++] = new;
	f->hist_bytes += sizeof(*new);
	return new;
}

static struct gt_hist *type_hist(
	struct gt_aggregate *f, const struct gt_segment *seg, uint32_t type)
{
	return name_hist(
		f, gt_name_text(seg, seg->types[type].name), gt_name_tag(&seg->types[type]));
}

static struct gt_hist *hist_of(
	struct gt_aggregate *f, const struct gt_segment *seg, uint32_t type, struct gt_stat *s)
{
	if (!s->hist)
		s->hist = type_hist(f, seg, type);
	s->coarse |= !s->hist;
	return s->hist ? s->hist : &f->spill;
}

static int prepare(struct gt_aggregate *f, const struct gt_cols *cols, struct gt_err *err)
{
	struct seg *seg = &f->segs[cols->seg->index];

	if (gt_grow(&f->accs, &f->cap, cols->ntypes, sizeof(*f->accs)))
		return gt_err_set(err, -ENOMEM, "out of memory (types of a block)");
	memset(f->accs, 0, cols->ntypes * sizeof(*f->accs));
	for (uint32_t i = 0; i < cols->ntypes; i++) {
		struct acc *a = &f->accs[i];

		a->hist = &f->spill;
		a->shortest = INT64_MAX;
		a->bytes_field = GT_NONE;
		if (cols->types[i] >= seg->seg->ntypes)
			continue; /* losses have no type */
		a->stat = &seg->stats[cols->types[i]];
		a->hist = hist_of(f, cols->seg, cols->types[i], a->stat);
		a->bytes_field = gt_type_field(&seg->seg->types[cols->types[i]], GT_R_BYTES);
	}
	f->naccs = cols->ntypes;
	f->block = cols->block;
	f->block_seg = cols->seg;
	return 0;
}

/* ---- the rows ---- */

/* Counts one duration whose octave has no memory yet. */
static __attribute__((noinline)) void count_in_new_octave(
	struct gt_aggregate *f, struct acc *a, unsigned bucket, int64_t dur)
{
	if (f->hist_bytes < HIST_MEMORY && gt_hist_grow(a->hist, bucket / GT_HIST_OCTAVE)) {
		f->hist_bytes += GT_HIST_OCTAVE_BYTES;
		gt_hist_count_in(
			&a->hist->octave[bucket / GT_HIST_OCTAVE][bucket % GT_HIST_OCTAVE], dur);
	} else {
		a->stat->coarse = true;
	}
}

static inline __attribute__((always_inline)) void count_rows(
	struct gt_aggregate *f, const struct gt_cols *cols, bool coded, bool nested)
{
	struct acc *accs = f->accs;
	const int64_t *durs = cols->dur;
	const uint16_t *codes = cols->code;
	const uint8_t *depths = cols->depth;

	for (size_t i = 0, n = cols->n; i < n; i++) {
		struct acc *a = coded ? &accs[codes[i]] : accs;
		unsigned inner = nested && depths[i];
		int64_t dur = durs[i];
		unsigned bucket = gt_hist_bucket(dur);
		struct gt_hist_bucket *octave = a->hist->octave[bucket / GT_HIST_OCTAVE];

		a->count[inner]++;
		a->total[inner] += (uint64_t)dur;
		if (dur > a->longest)
			a->longest = dur;
		if (dur < a->shortest)
			a->shortest = dur;
		if (__builtin_expect(octave != NULL, 1))
			gt_hist_count_in(&octave[bucket % GT_HIST_OCTAVE], dur);
		else
			count_in_new_octave(f, a, bucket, dur);
	}
}

static void count_timed(struct gt_aggregate *f, const struct gt_cols *cols)
{
	if (cols->code && cols->depth)
		count_rows(f, cols, true, true);
	else if (cols->code)
		count_rows(f, cols, true, false);
	else
		count_rows(f, cols, false, cols->depth != NULL);
	for (uint32_t i = 0; i < cols->nret; i++) {
		struct gt_stat *s = f->accs[cols->code ? cols->code[cols->ret_row[i]] : 0].stat;

		if (s)
			s->failed++;
	}
}

static void count_moments(struct gt_aggregate *f, const struct gt_cols *cols)
{
	for (uint32_t i = 0; i < cols->n; i++) {
		struct gt_stat *s = f->accs[cols->code ? cols->code[i] : 0].stat;

		if (!s)
			continue;
		if (cols->kind == GT_OPEN)
			s->open++;
		else
			s->instants++;
	}
}

/* The part of a call's time that is outside of the range. */
static uint64_t outside_range(struct gt_range in, int64_t start, int64_t dur)
{
	uint64_t over = 0;

	if (start < in.from)
		over += (uint64_t)in.from - (uint64_t)start;
	if (start + dur > in.to)
		over += (uint64_t)(start + dur) - (uint64_t)in.to;
	return over < (uint64_t)dur ? over : (uint64_t)dur;
}

/* Do calls at depth 0 overlap? Calls that gtcollect recorded never do. They can after a clock
 * went back, and in imported files. */
static bool has_overlap(const struct gt_cols *cols)
{
	int64_t end = INT64_MIN;
	bool any = false;

	for (uint32_t i = 1; !cols->depth && i < cols->n; i++)
		any |= cols->start[i] < cols->start[i - 1] + cols->dur[i - 1];
	for (uint32_t i = 0; cols->depth && i < cols->n; i++)
		if (!cols->depth[i]) {
			any |= cols->start[i] < end;
			end = cols->start[i] + cols->dur[i];
		}
	return any;
}

/* The union of the calls of a run at depth 0. */
static uint64_t union_of(struct gt_range in, const struct gt_cols *cols)
{
	int64_t covered = in.from, last = in.to;
	uint64_t ns = 0;

	for (uint32_t i = 0; i < cols->n; i++) {
		int64_t from = cols->start[i] > covered ? cols->start[i] : covered,
			to = cols->start[i] + cols->dur[i];

		to = to < last ? to : last;
		if (to <= from || (cols->depth && cols->depth[i]))
			continue;
		ns += (uint64_t)to - (uint64_t)from;
		covered = to;
	}
	return ns;
}

static void count_track(struct gt_aggregate *f, const struct gt_cols *cols)
{
	struct gt_track_sum *sum = &f->segs[cols->seg->index].track_sums[cols->track];
	struct gt_range in = gt_range_of(&f->filter, cols->seg);
	uint64_t busy = 0;
	unsigned deepest = 0;

	if (cols->track >= cols->seg->ntracks)
		return;
	for (uint32_t i = 0; i < cols->n; i++) {
		unsigned depth = cols->depth ? cols->depth[i] : 0;

		busy += depth ? 0 : (uint64_t)cols->dur[i];
		deepest = depth > deepest ? depth : deepest;
	}
	for (uint32_t i = 0; f->filter.ranged && i < cols->n; i++)
		if (!cols->depth || !cols->depth[i])
			busy -= outside_range(in, cols->start[i], cols->dur[i]);
	if (has_overlap(cols)) {
		sum->overlaps = true;
		busy = union_of(in, cols);
	}
	sum->busy = gt_sat_add(sum->busy, busy);
	if (deepest >= sum->max_depth && cols->n)
		sum->max_depth = deepest + 1;
	*(cols->kind == GT_OPEN ? &sum->open : &sum->calls) += cols->n;
}

/* ---- bytes ---- */

static uint64_t sum_of(const uint64_t *values, uint32_t n)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum = gt_sat_add(sum, values[i]);
	return sum;
}

/* A failed call moved no bytes. Few runs have failures, so this loop rarely runs. */
static void subtract_failed(struct acc *a, const struct gt_cols *cols, uint32_t code)
{
	struct gt_column_cursor p;
	uint64_t bytes;

	for (gt_column_cursor_start(&p, cols, code, GT_R_BYTES, GT_R_NONE);
		gt_column_cursor_next(&p);)
		if (p.ret && gt_column_cursor_value(&p, 0, &bytes)) {
			a->stat->bytes -= a->stat->bytes == UINT64_MAX ? 0 : bytes;
			a->stat->sized--;
		}
}

static void sum_bytes(struct gt_aggregate *f, const struct gt_cols *cols)
{
	for (uint32_t c = 0; c < cols->ntypes; c++) {
		struct acc *a = &f->accs[c];
		const uint64_t *values;
		uint32_t n;

		if (a->bytes_field == GT_NONE ||
			!(values = gt_cols_args(cols, c, a->bytes_field, &n)))
			continue;
		a->stat->bytes = gt_sat_add(a->stat->bytes, sum_of(values, n));
		a->stat->sized += n;
		if (cols->nret)
			subtract_failed(a, cols, c);
	}
}

int gt_aggregate_add_block(struct gt_aggregate *f, const struct gt_cols *cols, struct gt_err *err)
{
	uint32_t bit = GT_BIT(cols->kind);
	bool timed = bit & (GT_BIT(GT_CALL) | GT_BIT(GT_SPAN) | GT_BIT(GT_GPU));
	bool moment = bit & (GT_BIT(GT_OPEN) | GT_BIT(GT_INSTANT));
	int rc;

	if ((!timed && !moment) || !cols->n || !cols->ntypes)
		return 0;
	if (f->parts & GT_AGGREGATE_TRACKS && bit & (GT_BIT(GT_CALL) | GT_BIT(GT_OPEN)))
		count_track(f, cols);
	if (!(f->parts & (GT_AGGREGATE_TYPES | GT_AGGREGATE_BYTES)))
		return 0;
	if (f->block_seg != cols->seg || f->block != cols->block || f->naccs != cols->ntypes) {
		commit_block(f);
		rc = prepare(f, cols, err);
		if (rc)
			return rc;
	}
	if (timed)
		count_timed(f, cols);
	else
		count_moments(f, cols);
	if (f->parts & GT_AGGREGATE_BYTES && cols->kind != GT_OPEN)
		sum_bytes(f, cols);
	return 0;
}

/* ---- whole folds ---- */

void gt_stat_add(struct gt_stat *into, const struct gt_stat *from)
{
	if (from->count)
		extremes(into, from->shortest, from->longest);
	into->count += from->count;
	into->outer += from->outer;
	into->failed += from->failed;
	into->open += from->open;
	into->instants += from->instants;
	into->sized += from->sized;
	into->total = gt_sat_add(into->total, from->total);
	into->outer_total = gt_sat_add(into->outer_total, from->outer_total);
	into->bytes = gt_sat_add(into->bytes, from->bytes);
	into->coarse |= from->coarse;
}

/* Merges the histogram of each name once, not once for each of its types. */
static int merge_hists(struct gt_aggregate *into, const struct gt_aggregate *from)
{
	for (size_t i = 0; i < from->nhists; i++) {
		const struct gt_name_id *name = &from->names.list[i];
		struct gt_hist *to;

		/* one aggregate may now hold as much as all workers together */
		into->hist_bytes = 0;
		to = name_hist(into, (struct gt_string){ name->text, name->len }, name->tag);
		if (!to || gt_hist_merge(to, from->hists[i]))
			return -ENOMEM;
	}
	return 0;
}

static void merge_track(struct gt_track_sum *into, const struct gt_track_sum *from)
{
	into->calls += from->calls;
	into->open += from->open;
	into->busy = gt_sat_add(into->busy, from->busy);
	into->overlaps |= from->overlaps;
	if (from->max_depth > into->max_depth)
		into->max_depth = from->max_depth;
}

int gt_aggregate_merge(struct gt_aggregate *into, struct gt_aggregate *from, struct gt_err *err)
{
	commit_block(into);
	commit_block(from);
	if (merge_hists(into, from))
		return gt_err_set(err, -ENOMEM, "out of memory (histograms)");
	for (uint32_t i = 0; i < into->nsegs; i++) {
		struct seg *a = &into->segs[i], *b = &from->segs[i];

		for (uint32_t t = 0; t < a->seg->ntypes; t++) {
			gt_stat_add(&a->stats[t], &b->stats[t]);
			if (b->stats[t].hist && !a->stats[t].hist)
				a->stats[t].hist = type_hist(into, a->seg, t);
		}
		for (uint32_t t = 0; a->track_sums && t < a->seg->ntracks; t++)
			merge_track(&a->track_sums[t], &b->track_sums[t]);
	}
	return 0;
}

void gt_aggregate_finish(struct gt_aggregate *f) { commit_block(f); }

void gt_aggregate_free(struct gt_aggregate *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; f->segs && i < f->nsegs; i++) {
		free(f->segs[i].stats);
		free(f->segs[i].track_sums);
	}
	while (f->nhists) {
		gt_hist_release(f->hists[--f->nhists]);
		free(f->hists[f->nhists]);
	}
	free(f->hists);
	gt_name_interner_release(&f->names);
	free(f->segs);
	free(f->accs);
	free(f);
}

struct gt_reader *gt_aggregate_reader(const struct gt_aggregate *f) { return f->reader; }

const struct gt_stat *gt_aggregate_stat(
	const struct gt_aggregate *f, uint32_t segment, uint32_t type)
{
	return &f->segs[segment].stats[type];
}

const struct gt_track_sum *gt_aggregate_track(
	const struct gt_aggregate *f, uint32_t segment, uint32_t track)
{
	return &f->segs[segment].track_sums[track];
}
