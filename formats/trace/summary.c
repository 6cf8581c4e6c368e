#include "formats/trace/summary.h"

#include <stdlib.h>
#include <string.h>

#define ROWS_PER_BUCKET 128

/* The start of a bucket. C does not define a left shift of negative numbers. */
static int64_t begin_of(int64_t number, unsigned shift)
{
	return (int64_t)((uint64_t)number << shift);
}

static uint64_t span_of(int64_t from, int64_t to)
{
	return to > from ? (uint64_t)to - (uint64_t)from : 0;
}

void gt_grid_place(struct gt_grid *g, int64_t first, unsigned shift, size_t n)
{
	memset(g, 0, sizeof(*g));
	g->shift = shift;
	g->first = first;
	g->n = n;
	for (unsigned d = 0; d < GT_SUMMARY_DEPTHS; d++)
		g->covered[d] = INT64_MIN;
}

void gt_grid_place_between(struct gt_grid *g, const int64_t *edges, size_t n)
{
	gt_grid_place(g, 0, 0, n);
	g->edges = gt_edges_of(edges, n);
}

static inline int64_t start_of(const struct gt_grid *g, int64_t i)
{
	return g->edges.n ? g->edges.at[i] : begin_of(g->first + i, g->shift);
}

/* The bucket of a time: negative, or n or more, if it is outside. */
static inline int64_t index_of(const struct gt_grid *g, int64_t t)
{
	return g->edges.n ? gt_edges_find(&g->edges, t) : (t >> g->shift) - g->first;
}

void gt_grid_init(struct gt_grid *g, int64_t from, int64_t to, size_t most)
{
	unsigned shift = 0;

	if (to < from)
		to = from;
	while (shift < 62 && span_of(from >> shift, to >> shift) >= most)
		shift++;
	gt_grid_place(g, from >> shift, shift, (size_t)span_of(from >> shift, to >> shift) + 1);
}

/* ---- long rows ---- */

/* A row that covers many buckets would need as many additions, and a trace of nested calls has many
 * such rows. So only the first completely covered bucket and the one behind the last are noted, as
 * differences: +1 row from here on, -1 row from there on. gt_grid_finish computes the sums. One
 * element per bucket, and one more; NULL: no row is that long. */
struct gt_whole {
	int64_t *more[GT_SUMMARY_DEPTHS][GT_GRID_CATEGORIES];
};
#define LONG_ROW 16 /* buckets */

/* Notes that a row covers the buckets [from, to). false: no memory, and nothing changes. */
static bool cover_whole(
	struct gt_grid *g, unsigned depth, unsigned category, size_t from, size_t to)
{
	int64_t **more;

	if (!g->whole && !(g->whole = calloc(1, sizeof(*g->whole))))
		return false;
	more = &g->whole->more[depth][category];
	if (!*more && !(*more = calloc(g->n + 1, sizeof(**more))))
		return false;
	(*more)[from]++;
	(*more)[to]--;
	return true;
}

static void release_whole(struct gt_grid *g)
{
	for (unsigned d = 0; g->whole && d < GT_SUMMARY_DEPTHS; d++)
		for (unsigned c = 0; c < GT_GRID_CATEGORIES; c++)
			free(g->whole->more[d][c]);
	free(g->whole);
	g->whole = NULL;
}

void gt_grid_finish(struct gt_grid *g)
{
	for (unsigned d = 0; g->whole && d < GT_SUMMARY_DEPTHS; d++)
		for (unsigned c = 0; c < GT_GRID_CATEGORIES; c++) {
			const int64_t *more = g->whole->more[d][c];
			uint64_t rows = 0;

			for (size_t i = 0; more && i < g->n; i++) {
				uint64_t width = span_of(
					start_of(g, (int64_t)i), start_of(g, (int64_t)i + 1));

				rows += (uint64_t)more[i];
				g->tally[d][i].busy += rows * width;
				g->tally[d][i].by_category[c] += rows * width;
			}
		}
	release_whole(g);
}

/* Adds the busy time of [start, end) to the buckets that it overlaps. */
static void spread(struct gt_grid *g, unsigned depth, int64_t start, int64_t end, unsigned category)
{
	int64_t n = (int64_t)g->n, whole = index_of(g, end), i;
	struct gt_tally *t = g->tally[depth];

	if (start < start_of(g, 0))
		start = start_of(g, 0);
	whole = whole < n ? whole : n; /* the first bucket that is not covered whole */
	for (i = start < end ? index_of(g, start) : n; start < end && i < n; i++) {
		int64_t next = start_of(g, i + 1);
		uint64_t part;

		if (start == start_of(g, i) && whole - i > LONG_ROW &&
			cover_whole(g, depth, category, (size_t)i, (size_t)whole)) {
			start = start_of(g, whole);
			i = whole - 1;
			continue;
		}
		part = (uint64_t)((end < next ? end : next) - start);
		t[i].busy += part;
		t[i].by_category[category] += part;
		start = next;
	}
}

/* Counts a row that starts in this bucket, and its bytes, and notes the longest row. */
static inline void count_row(
	struct gt_tally *t, int64_t start, uint64_t dur, unsigned category, uint64_t bytes)
{
	t->count++;
	t->bytes += bytes;
	if (dur >= t->longest) {
		t->longest = dur;
		t->longest_at = start;
		t->longest_category = (uint8_t)category;
	}
}

/* The bucket of a row that lies within one bucket, at a depth that has buckets:
 * nearly all rows do. */
static inline struct gt_tally *bucket_of_row(
	const struct gt_grid *g, unsigned depth, int64_t start, int64_t end)
{
	int64_t number = start >> g->shift;
	uint64_t b = (uint64_t)(number - g->first);

	if (g->edges.n) {
		b = (uint64_t)gt_edges_find(&g->edges, start);
		number = b < g->n && end < g->edges.at[b + 1] ? end >> g->shift : INT64_MIN;
	}
	if (end >> g->shift != number || depth >= GT_SUMMARY_DEPTHS || !g->tally[depth] ||
		b >= g->n)
		return NULL;
	return &g->tally[depth][b];
}

int gt_grid_add(struct gt_grid *g, unsigned depth, int64_t start, int64_t end, unsigned category,
	uint64_t bytes, bool overlapping)
{
	uint64_t b = (uint64_t)index_of(g, start);
	struct gt_tally *t = overlapping ? NULL : bucket_of_row(g, depth, start, end);

	if (t) {
		count_row(t, start, (uint64_t)(end - start), category, bytes);
		t->busy += (uint64_t)(end - start);
		t->by_category[category] += (uint64_t)(end - start);
		return 0;
	}
	bool deeper = depth >= GT_SUMMARY_DEPTHS;

	if (deeper)
		depth = GT_SUMMARY_DEPTHS - 1;
	if (!g->tally[depth] && !(g->tally[depth] = calloc(g->n, sizeof(*t))))
		return -ENOMEM;
	t = g->tally[depth];
	if (b < g->n)
		count_row(&t[b], start, span_of(start, end), category, bytes);
	if (deeper)
		return 0;
	if (!overlapping) {
		spread(g, depth, start, end, category);
	} else if (end > g->covered[depth]) {
		spread(g, depth, start > g->covered[depth] ? start : g->covered[depth], end,
			category);
		g->covered[depth] = end;
	}
	return 0;
}

int gt_grid_add_bucket(struct gt_grid *g, unsigned depth, const struct gt_bucket *b)
{
	uint64_t i = (uint64_t)index_of(g, b->start);
	struct gt_tally *t;

	if (i >= g->n)
		return 0;
	if (!g->tally[depth] && !(g->tally[depth] = calloc(g->n, sizeof(*t))))
		return -ENOMEM;
	t = &g->tally[depth][i];
	t->busy += b->busy;
	t->count += b->count;
	t->bytes += b->bytes;
	t->by_category[b->category] += b->busy / 255 * b->share + b->busy % 255 * b->share / 255;
	if (b->count && b->longest >= t->longest) {
		t->longest = b->longest;
		t->longest_at = b->longest_at;
		t->longest_category = b->category;
	}
	return 0;
}

unsigned gt_tally_category(const struct gt_tally *t)
{
	unsigned best = t->longest_category;

	for (unsigned c = 0; c < GT_GRID_CATEGORIES; c++)
		if (t->by_category[c] > t->by_category[best])
			best = c;
	return best;
}

/* later: of two equally long rows the one in `from` counts as the longest. */
static void add_tally(struct gt_tally *into, const struct gt_tally *from, bool later)
{
	into->busy += from->busy;
	into->count += from->count;
	into->bytes += from->bytes;
	for (unsigned c = 0; c < GT_GRID_CATEGORIES; c++)
		into->by_category[c] += from->by_category[c];
	if (from->count &&
		(from->longest > into->longest || (later && from->longest == into->longest) ||
			into->count == from->count)) {
		into->longest = from->longest;
		into->longest_at = from->longest_at;
		into->longest_category = from->longest_category;
	}
}

void gt_grid_coarsen(struct gt_grid *g, unsigned times)
{
	int64_t first = g->first >> times;
	size_t n = (size_t)(((g->first + (int64_t)g->n - 1) >> times) - first) + 1;

	gt_grid_finish(g);
	for (unsigned d = 0; d < GT_SUMMARY_DEPTHS; d++) {
		struct gt_tally *t = g->tally[d];

		for (size_t i = 0; t && i < g->n; i++) {
			size_t to = (size_t)(((g->first + (int64_t)i) >> times) - first);
			struct gt_tally moved = t[i];

			if (i != to) {
				memset(&t[i], 0, sizeof(t[i]));
				add_tally(&t[to], &moved, false);
			}
		}
	}
	g->first = first;
	g->shift += times;
	g->n = n;
}

int gt_grid_add_grid(struct gt_grid *g, const struct gt_grid *from)
{
	for (unsigned d = 0; d < GT_SUMMARY_DEPTHS; d++) {
		if (!from->tally[d])
			continue;
		if (!g->tally[d] && !(g->tally[d] = calloc(g->n, sizeof(*g->tally[d]))))
			return -ENOMEM;
		for (size_t i = 0; i < from->n; i++) {
			uint64_t to = (uint64_t)index_of(g, start_of(from, (int64_t)i));

			if (to < g->n)
				add_tally(&g->tally[d][to], &from->tally[d][i], true);
		}
	}
	return 0;
}

void gt_grid_release(struct gt_grid *g)
{
	for (unsigned d = 0; d < GT_SUMMARY_DEPTHS; d++)
		free(g->tally[d]);
	release_whole(g);
	memset(g, 0, sizeof(*g));
}

/* ---- bytes ---- */

/* One byte holds the depth, the aspect and the derived flag. */
#define ASPECT_SHIFT 3
#define DERIVED 0x80u
_Static_assert(GT_SUMMARY_DEPTHS <= 1 << ASPECT_SHIFT && GT_ASPECTS << ASPECT_SHIFT <= DERIVED,
	"they fit");

enum { GAP, BUSY, COUNT, BYTES, LONGEST, LONGEST_AT, CATEGORY, SHARE, COLUMNS };

static void tally_columns(const struct gt_tally *t, int64_t bucket_start, uint64_t width,
	uint64_t gap, size_t i, uint64_t v[COLUMNS][GT_SUMMARY_BUCKETS])
{
	unsigned best = gt_tally_category(t);

	v[GAP][i] = gap;
	v[BUSY][i] = t->busy < width ? t->busy : width; /* calls of imported files may overlap */
	v[COUNT][i] = t->count;
	v[BYTES][i] = t->bytes;
	v[LONGEST][i] = t->longest;
	v[LONGEST_AT][i] = t->count ? (uint64_t)(t->longest_at - bucket_start) : 0;
	v[CATEGORY][i] = best;
	v[SHARE][i] =
		t->busy ? (uint64_t)((double)t->by_category[best] * 255.0 / (double)t->busy) : 255;
}

/* Writes one summary of the non-empty buckets in [from, to). Returns 0 if all are empty. */
static unsigned put_piece(const struct gt_grid *g, unsigned depth, size_t from, size_t to,
	const struct gt_summary_key *about, struct gt_buf *out)
{
	uint64_t v[COLUMNS][GT_SUMMARY_BUCKETS];
	size_t n = 0, last = from;

	for (size_t i = from; i < to; i++) {
		const struct gt_tally *t = &g->tally[depth][i];

		if (!t->busy && !t->count)
			continue;
		tally_columns(t, begin_of(g->first + (int64_t)i, g->shift), 1ull << g->shift,
			i - last, n++, v);
		last = i;
	}
	if (!n)
		return 0;
	gt_put_varint(out, about->track);
	gt_buf_byte(out,
		(uint8_t)(depth | (unsigned)about->aspect << ASPECT_SHIFT |
			(about->derived ? DERIVED : 0)));
	gt_buf_byte(out, (uint8_t)about->level);
	gt_buf_byte(out, (uint8_t)g->shift);
	if (!about->level)
		gt_put_varint(out, about->block);
	gt_put_varint(out, gt_zigzag(g->first + (int64_t)from));
	gt_put_varint(out, n);
	for (unsigned c = 0; c < COLUMNS; c++)
		gt_put_column(out, v[c], n);
	return 1;
}

uint32_t gt_grid_put(struct gt_grid *g, const struct gt_summary_key *about, size_t limit,
	size_t *at, struct gt_buf *out)
{
	size_t pieces = (g->n + GT_SUMMARY_BUCKETS - 1) / GT_SUMMARY_BUCKETS;
	uint32_t count = 0;

	gt_grid_finish(g);
	for (; *at < pieces * GT_SUMMARY_DEPTHS && out->len < limit; ++*at) {
		unsigned depth = (unsigned)(*at / pieces);
		size_t i = *at % pieces * GT_SUMMARY_BUCKETS;

		if (g->tally[depth])
			count += put_piece(g, depth, i,
				g->n - i < GT_SUMMARY_BUCKETS ? g->n : i + GT_SUMMARY_BUCKETS,
				about, out);
	}
	if (*at == pieces * GT_SUMMARY_DEPTHS)
		*at = GT_GRID_DONE;
	return count;
}

int gt_bytes_field(const struct gt_type *type) { return (int)gt_type_field(type, GT_R_BYTES); }
int gt_direction_field(const struct gt_type *type)
{
	return type->op == GT_OP_COPY ? (int)gt_type_field(type, GT_R_DIRECTION) : -1;
}

enum gt_aspect gt_aspect_of_direction(uint64_t direction)
{
	return direction == GT_DIR_HTOD    ? GT_ASPECT_HTOD
		: direction == GT_DIR_DTOH ? GT_ASPECT_DTOH
					   : GT_ASPECT_COPIES;
}

static uint64_t bytes_of(
	const struct gt_slice *slice, const struct gt_writer_row *r, const int8_t *bytes_field)
{
	int field = r->nargs ? bytes_field[r->type] : -1;

	return field >= 0 && field < r->nargs ? slice->args[r->args + (uint32_t)field] : 0;
}

/* Adds consecutive rows of one type and depth in one bucket, from row i on. They are
 * added up in registers first: dependent sums in memory would cost more than the rest.
 * Returns the number of rows; 0 if the first row does not lie within one bucket. */
static inline size_t add_run(struct gt_grid *g, const struct gt_type *types,
	const int8_t *bytes_field, const struct gt_slice *slice, size_t i)
{
	const struct gt_writer_row *r = &slice->rows[i], *stop = slice->rows + slice->n;
	struct gt_tally *t = bucket_of_row(g, r->depth, r->start, r->end);
	uint64_t busy = 0, bytes = 0, longest = t ? t->longest : 0;
	const struct gt_writer_row *started = r, *best = NULL;
	int64_t until = begin_of((r->start >> g->shift) + 1, g->shift);
	uint32_t type = r->type;
	uint8_t depth = r->depth;

	if (!t)
		return 0;
	for (; r < stop && r->type == type && r->depth == depth && r->end < until; r++) {
		uint64_t dur = (uint64_t)(r->end - r->start);

		busy += dur;
		bytes += bytes_of(slice, r, bytes_field);
		if (dur >= longest) {
			longest = dur;
			best = r;
		}
	}
	t->busy += busy;
	t->bytes += bytes;
	t->count += (uint64_t)(r - started);
	t->by_category[types[type].category] += busy;
	if (best) {
		t->longest = longest;
		t->longest_at = best->start;
		t->longest_category = types[type].category;
	}
	return (size_t)(r - started);
}

enum gt_aspect gt_aspect_of(enum gt_kind kind, const struct gt_type *type)
{
	if (kind == GT_CALL || kind == GT_OPEN)
		return GT_ASPECT_CALLS;
	if (kind == GT_GPU)
		return GT_ASPECT_WORK;
	if (kind == GT_INSTANT)
		return type->op == GT_OP_SAMPLE ? GT_ASPECT_SAMPLES : GT_ASPECT_INSTANTS;
	return kind != GT_SPAN                 ? (enum gt_aspect)0
		: type->layer == GT_LAYER_USER ? GT_ASPECT_RANGES
		: type->op == GT_OP_OFF_CPU    ? GT_ASPECT_STATES
					       : GT_ASPECT_OTHERS;
}

/* The grids of one slice, by aspect. All cover the same time. */
struct slice_grids {
	const struct gt_type *types;
	const int8_t *bytes_field;
	enum gt_kind kind;
	struct gt_grid of[GT_ASPECTS];
};

static int add_row(struct slice_grids *s, const struct gt_slice *slice,
	const struct gt_writer_row *r, enum gt_aspect aspect)
{
	return gt_grid_add(&s->of[aspect], gt_aspect_depth(aspect, r->depth), r->start, r->end,
		s->types[r->type].category, bytes_of(slice, r, s->bytes_field),
		aspect != GT_ASPECT_CALLS);
}

static int add_slice(struct slice_grids *s, const struct gt_slice *slice)
{
	bool calls = s->kind == GT_CALL;
	int code = 0;
	size_t run;

	for (size_t i = 0; !code && i < slice->n; i += run) {
		const struct gt_writer_row *r = &slice->rows[i];
		const struct gt_type *type = &s->types[r->type];
		bool ioctl = calls && type->layer == GT_LAYER_IOCTL;

		run = calls && !ioctl
			? add_run(&s->of[GT_ASPECT_CALLS], s->types, s->bytes_field, slice, i)
			: 0;
		if (run)
			continue;
		code = add_row(s, slice, r, gt_aspect_of(s->kind, type));
		if (!code && ioctl)
			code = add_row(s, slice, r, GT_ASPECT_IOCTLS);
		run = 1;
	}
	return code;
}

int gt_summary_of_slice(const struct gt_type *types, const int8_t *bytes_field, enum gt_kind kind,
	const struct gt_slice *slice, int64_t max_end, uint32_t block, struct gt_buf *out)
{
	size_t most = slice->n / ROWS_PER_BUCKET;
	struct slice_grids s = { .types = types, .bytes_field = bytes_field, .kind = kind };
	int code, n = 0;

	if (slice->n < GT_SUMMARY_ROWS)
		return 0;
	gt_grid_init(&s.of[0], slice->rows[0].start, max_end,
		most < 8                            ? 8
			: most > GT_SUMMARY_BUCKETS ? GT_SUMMARY_BUCKETS
						    : most);
	for (unsigned a = 1; a < GT_ASPECTS; a++)
		s.of[a] = s.of[0];
	code = add_slice(&s, slice);
	for (unsigned a = 1; a < GT_ASPECTS; a++) {
		size_t at = 0;

		if (!code)
			n += (int)gt_grid_put(&s.of[a],
				&(struct gt_summary_key){
					.track = slice->track, .block = block, .aspect = a },
				SIZE_MAX, &at, out);
		gt_grid_release(&s.of[a]);
	}
	return out->failed ? -ENOMEM : code ? code : n;
}

int gt_summary_get(
	struct gt_span *in, const struct gt_segment *seg, struct gt_summary *s, struct gt_bucket *b)
{
	uint64_t v[COLUMNS][GT_SUMMARY_BUCKETS], zigzag, number;
	uint32_t n;
	unsigned shift;
	int64_t first;

	if (in->at == in->end)
		return 0;
	if (!gt_get_u32(in, &s->track) || s->track >= seg->ntracks || in->end - in->at < 3)
		return -EBADMSG;
	s->depth = *in->at & (GT_SUMMARY_DEPTHS - 1);
	s->aspect = (*in->at & ~DERIVED) >> ASPECT_SHIFT;
	s->derived = *in->at++ >= DERIVED;
	s->level = *in->at++;
	shift = *in->at++;
	s->block = 0;
	if (!s->aspect || s->aspect >= GT_ASPECTS || (!s->level && !gt_get_u32(in, &s->block)))
		return -EBADMSG;
	if (shift > 62 || !gt_get_varint(in, &zigzag) || !gt_get_u32(in, &n) || !n ||
		n > GT_SUMMARY_BUCKETS)
		return -EBADMSG;
	first = gt_unzigzag(zigzag);
	if (first > INT64_MAX >> shift || first < INT64_MIN >> shift)
		return -EBADMSG;
	for (unsigned c = 0; c < COLUMNS; c++)
		if (gt_get_column(in, v[c], n))
			return -EBADMSG;
	number = 0;
	for (uint32_t i = 0; i < n; i++) {
		number += v[GAP][i];
		if (v[GAP][i] > GT_SUMMARY_BUCKETS || number > GT_SUMMARY_BUCKETS ||
			first + (int64_t)number >= INT64_MAX >> shift ||
			v[CATEGORY][i] >= GT_CATEGORY_COUNT || v[BUSY][i] > 1ull << shift)
			return -EBADMSG;
		b[i] = (struct gt_bucket){ .start = begin_of(first + (int64_t)number, shift),
			.width = 1ull << shift,
			.busy = v[BUSY][i],
			.count = v[COUNT][i],
			.bytes = v[BYTES][i],
			.longest = v[LONGEST][i],
			.category = (uint8_t)v[CATEGORY][i],
			.share = (uint8_t)v[SHARE][i] };
		b[i].longest_at = (int64_t)((uint64_t)b[i].start + v[LONGEST_AT][i]);
	}
	s->segment = seg->index;
	s->from = b[0].start;
	s->to = b[n - 1].start + (int64_t)b[n - 1].width;
	s->buckets = b;
	s->n = n;
	return 1;
}
