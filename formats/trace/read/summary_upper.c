/* Upper levels of summaries, made when a file is closed, by reading its rows again.
 *
 * The finest upper level divides the whole trace into as many buckets as memory allows; each
 * further level has sixteen times fewer, down to one summary. Calls of one thread never overlap at
 * one depth, so their order does not matter, and gt_scan reads them. Rows that may overlap, and the
 * unions (of the threads of a process, of the streams of a device or context), need order of time,
 * so that time covered twice counts once: gt_iter reads them.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/base/sorted.h"
#include "formats/trace/read/reader_internal.h"
#include "formats/trace/summary.h"

#define BUDGET (24u << 20) /* bytes of tallies */
#define ROWS_PER_BUCKET 512
#define MOST_BUCKETS 65536u
#define CONTENT (GT_BLOCK_BYTES / 2)
#define OVERLAPPING (GT_BIT(GT_SPAN) | GT_BIT(GT_GPU))

enum { OWN, DERIVED, BOTH };
/* The grids of a track; n 0: this one is not needed. */
struct grids {
	struct gt_grid of[BOTH][GT_ASPECTS];
};

struct upper {
	const struct gt_segment *seg;
	struct grids *grids;
	size_t ngrids, grids_cap;
	uint32_t *slot; /* by track: in grids, or GT_NONE */
	uint64_t *rows; /* by track */
	uint8_t *kinds; /* by track: GT_BIT(enum gt_kind) of its rows */
	/* by track: the process or device that it is or belongs to, or GT_NONE */
	uint32_t *above;
	/* by track: its context, unless it is the only one of its device; or GT_NONE */
	uint32_t *context;
	int8_t *bytes_field;         /* by type */
	int8_t *direction_field;     /* by type: of a copy; -1 */
	bool ioctls, copies, states; /* are there such types? */
	struct gt_err *err;
};
_Static_assert(GT_CALL < 8 && GT_SPAN < 8 && GT_GPU < 8, "bits of these kinds fit into a byte");

static struct gt_grid *grid_of(
	const struct upper *u, uint32_t track, unsigned which, unsigned aspect)
{
	struct gt_grid *g =
		u->slot[track] == GT_NONE ? NULL : &u->grids[u->slot[track]].of[which][aspect];

	return g && g->n ? g : NULL;
}

static void count_track(struct upper *u, uint32_t track, unsigned kind, uint32_t rows)
{
	u->rows[track] += rows;
	u->kinds[track] |= (uint8_t)GT_BIT(kind);
}

/* Counts the rows by track: from the heads of blocks of one track, and from the
 * content of the others. */
static int count_rows(struct gt_reader *r, struct upper *u)
{
	const struct gt_seg *seg = &r->segs[u->seg->index];
	struct gt_loader loader = { 0 };
	struct gt_unpacked block = { 0 };
	struct gt_index_walk w = { 0 };
	const struct gt_wire_entry *e;
	struct gt_span content;
	int code = 0, more = 1;

	while (!code && (more = gt_index_next(&seg->index, &w, &e, u->err)) > 0) {
		const struct gt_wire_block *h = &e->head;

		if (h->kind != GT_W_ROWS || !h->rows ||
			!(GT_BIT(h->sub & 31) & (GT_BIT(GT_CALL) | OVERLAPPING)))
			continue;
		if (h->track < seg->pub.ntracks) {
			count_track(u, h->track, h->sub, h->rows);
			continue;
		}
		code = gt_load(seg, e, &loader, &content, u->err);
		if (!code)
			code = gt_block_unpack(
				&block, (enum gt_kind)h->sub, content, h->rows, &seg->pub, u->err);
		for (uint32_t k = 0; !code && k < block.nruns; k++)
			count_track(u, block.runs[k].track, h->sub, block.runs[k].n);
	}
	gt_unpacked_release(&block);
	gt_loader_release(&loader);
	return more < 0 ? more : code;
}

uint32_t gt_summary_above(const struct gt_segment *seg, uint32_t track)
{
	uint32_t t = track;

	while (t != GT_NONE && seg->tracks[t].kind != GT_TRACK_PROCESS &&
		seg->tracks[t].kind != GT_TRACK_DEVICE)
		t = seg->tracks[t].parent;
	return t;
}

bool gt_summary_joins(const struct gt_segment *seg, uint32_t track, uint32_t in)
{
	return gt_summary_above(seg, track) == in ||
		(seg->tracks[in].kind == GT_TRACK_CONTEXT && gt_track_context(seg, track) == in);
}

static int more_rows(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return GT_COMPARE(y, x);
}

/* The number of rows that a track needs to get grids: if there are too many tracks
 * for the memory, those with most rows get them. */
static int find_least_rows(const struct upper *u, uint64_t *least)
{
	uint32_t n = u->seg->ntracks, fit = BUDGET / (64 * 2 * sizeof(struct gt_tally));
	uint64_t *sorted;

	*least = GT_SUMMARY_ROWS;
	if (n <= fit)
		return 0;
	if (!(sorted = malloc(n * sizeof(*sorted))))
		return -ENOMEM;
	memcpy(sorted, u->rows, n * sizeof(*sorted));
	GT_SORT(sorted, n, more_rows);
	if (sorted[fit] >= *least)
		*least = sorted[fit] + 1;
	free(sorted);
	return 0;
}

/* Requests a grid for a track: n 1 marks it. Grids get a size when their number is known. */
static int request_grid(
	struct upper *u, uint32_t track, unsigned which, enum gt_aspect aspect, uint32_t *count)
{
	if (u->slot[track] == GT_NONE) {
		if (gt_grow(&u->grids, &u->grids_cap, u->ngrids + 1, sizeof(*u->grids)))
			return -ENOMEM;
		memset(&u->grids[u->ngrids], 0, sizeof(*u->grids));
		u->slot[track] = (uint32_t)u->ngrids++;
	}
	*count += !u->grids[u->slot[track]].of[which][aspect].n;
	u->grids[u->slot[track]].of[which][aspect].n = 1;
	return 0;
}

static int request_own_grids(struct upper *u, uint32_t track, uint32_t *count)
{
	uint8_t kinds = u->kinds[track];
	int code = 0;

	if (kinds & GT_BIT(GT_CALL))
		code = request_grid(u, track, OWN, GT_ASPECT_CALLS, count);
	if (!code && kinds & GT_BIT(GT_CALL) && u->ioctls)
		code = request_grid(u, track, OWN, GT_ASPECT_IOCTLS, count);
	if (!code && kinds & GT_BIT(GT_SPAN))
		code = request_grid(u, track, OWN, GT_ASPECT_OTHERS, count);
	if (!code && kinds & GT_BIT(GT_SPAN))
		code = request_grid(u, track, OWN, GT_ASPECT_RANGES, count);
	if (!code && kinds & GT_BIT(GT_SPAN) && u->states)
		code = request_grid(u, track, OWN, GT_ASPECT_STATES, count);
	if (!code && kinds & GT_BIT(GT_GPU))
		code = request_grid(u, track, OWN, GT_ASPECT_WORK, count);
	return code;
}

/* Requests the unions of a track that has a child with rows; a union of calls needs
 * two children. */
static int request_unions(
	struct upper *u, uint32_t track, uint8_t kinds, uint32_t *children, uint32_t *count)
{
	int code = 0;

	if (kinds & GT_BIT(GT_CALL) && ++children[track] == 2)
		code = request_grid(u, track, DERIVED, GT_ASPECT_CALLS, count);
	if (!(kinds & GT_BIT(GT_GPU)))
		return code;
	if (!code)
		code = request_grid(u, track, DERIVED, GT_ASPECT_WORK, count);
	for (unsigned a = GT_ASPECT_HTOD; !code && u->copies && a <= GT_ASPECT_COPIES; a++)
		code = request_grid(u, track, DERIVED, a, count);
	return code;
}

static void size_grids(struct upper *u, uint64_t most)
{
	for (size_t i = 0; i < u->ngrids; i++)
		for (unsigned k = 0; k < BOTH * GT_ASPECTS; k++) {
			struct gt_grid *g = &u->grids[i].of[k / GT_ASPECTS][k % GT_ASPECTS];

			if (g->n)
				gt_grid_init(g, u->seg->min_start, u->seg->max_end, most);
		}
}

static void find_above(struct upper *u)
{
	for (uint32_t t = 0; t < u->seg->ntracks; t++) {
		uint32_t context = gt_track_context(u->seg, t);

		u->above[t] = gt_summary_above(u->seg, t);
		u->context[t] =
			context != GT_NONE && u->seg->lone_contexts[context] ? GT_NONE : context;
	}
}

/* Selects the tracks that get grids, and the number of buckets. */
static int select_tracks(struct upper *u)
{
	uint32_t n = u->seg->ntracks, count = 0, *children = calloc(n + 1ul, sizeof(*children));
	uint64_t total = 0, least = 0, most;
	int code = children ? find_least_rows(u, &least) : -ENOMEM;

	find_above(u);
	for (uint32_t t = 0; !code && t < n; t++) {
		if (u->rows[t] < least)
			continue;
		total += u->rows[t];
		code = request_own_grids(u, t, &count);
		if (!code && u->above[t] != GT_NONE)
			code = request_unions(u, u->above[t], u->kinds[t], children, &count);
		if (!code && u->context[t] != GT_NONE && u->kinds[t] & GT_BIT(GT_GPU))
			code = request_grid(u, u->context[t], DERIVED, GT_ASPECT_WORK, &count);
	}
	free(children);
	if (code)
		return code;
	most = total / ROWS_PER_BUCKET;
	while (count && most > 64 && most * count * 2 * sizeof(struct gt_tally) > BUDGET)
		most /= 2;
	size_grids(u, most < 64 ? 64 : most > MOST_BUCKETS ? MOST_BUCKETS : most);
	return 0;
}

static uint64_t row_bytes(
	const struct upper *u, const struct gt_cols *c, uint32_t code, uint32_t *seen)
{
	int field = u->bytes_field[c->types[code]];
	uint32_t n;
	const uint64_t *v = field < 0 ? NULL : gt_cols_args(c, code, (uint32_t)field, &n);

	return v && *seen < n ? v[(*seen)++] : 0;
}

static int add_call(struct upper *u, const struct gt_cols *c, uint32_t i, struct gt_grid *calls,
	struct gt_grid *ioctls, uint64_t bytes)
{
	const struct gt_type *type = &u->seg->types[c->types[c->code ? c->code[i] : 0]];
	int64_t start = c->start[i], end = start + c->dur[i];
	int code = gt_grid_add(calls, gt_aspect_depth(GT_ASPECT_CALLS, c->depth ? c->depth[i] : 0),
		start, end, type->category, bytes, false);

	if (!code && ioctls && type->layer == GT_LAYER_IOCTL)
		code = gt_grid_add(ioctls, 0, start, end, type->category, bytes, false);
	return code;
}

static int add_calls(void *arg, unsigned worker, const struct gt_cols *c)
{
	struct upper *u = arg;
	struct gt_grid *calls = grid_of(u, c->track, OWN, GT_ASPECT_CALLS),
		       *ioctls = grid_of(u, c->track, OWN, GT_ASPECT_IOCTLS);
	uint32_t *seen;
	int code = 0;

	if (!calls)
		return 0;
	seen = calloc(c->ntypes, sizeof(*seen));
	if (!seen)
		return -ENOMEM;
	for (uint32_t i = 0; !code && i < c->n; i++) {
		uint32_t k = c->code ? c->code[i] : 0;

		code = add_call(u, c, i, calls, ioctls, row_bytes(u, c, k, &seen[k]));
	}
	free(seen);
	return code;
}

/* Adds a row to its track's own aspect, to the unions of its process or device and
 * of its context, and to that of the device's copies. */
static int add_ordered(struct upper *u, const struct gt_event *ev)
{
	const struct gt_type *type = &u->seg->types[ev->row.type];
	int bytes_field = u->bytes_field[ev->row.type],
	    direction = u->direction_field[ev->row.type];
	uint64_t bytes = bytes_field < 0 ? 0 : ev->args[bytes_field];
	enum gt_aspect aspect = gt_aspect_of(ev->kind, type);
	uint32_t up = u->above[ev->track], context = u->context[ev->track];
	struct gt_grid *to[4] = { NULL };
	unsigned depth = gt_aspect_depth(aspect, ev->row.depth);
	int code = 0;

	if (ev->kind != GT_CALL)
		to[0] = grid_of(u, ev->track, OWN, aspect);
	if (up != GT_NONE && !depth && (aspect == GT_ASPECT_CALLS || aspect == GT_ASPECT_WORK))
		to[1] = grid_of(u, up, DERIVED, aspect);
	if (up != GT_NONE && ev->kind == GT_GPU && type->op == GT_OP_COPY)
		to[2] = grid_of(u, up, DERIVED,
			gt_aspect_of_direction(
				direction < 0 ? GT_DIR_UNKNOWN : ev->args[direction]));
	if (context != GT_NONE && aspect == GT_ASPECT_WORK)
		to[3] = grid_of(u, context, DERIVED, aspect);
	for (unsigned i = 0; !code && i < 4; i++)
		if (to[i])
			code = gt_grid_add(to[i], depth, ev->row.start, ev->row.end, type->category,
				bytes, true);
	return code;
}

/* Is there a union of calls, which needs calls in order, too? */
static bool has_unions_of_calls(const struct upper *u)
{
	for (size_t i = 0; i < u->ngrids; i++)
		if (u->grids[i].of[DERIVED][GT_ASPECT_CALLS].n)
			return true;
	return false;
}

static int add_in_order(struct gt_reader *r, struct upper *u)
{
	bool calls = has_unions_of_calls(u);
	struct gt_filter filter = { .kinds = (calls ? GT_BIT(GT_CALL) : 0) | OVERLAPPING,
		.segment = u->seg->index + 1 };
	struct gt_iter *it;
	struct gt_event ev;
	int code;

	if (!calls && !(u->seg->rows[GT_SPAN] + u->seg->rows[GT_GPU]))
		return 0;
	if (!(it = gt_iter_open(r, &filter, u->err)))
		return u->err->code;
	while ((code = gt_iter_next(it, &ev, u->err)) > 0)
		if ((code = add_ordered(u, &ev)))
			break;
	gt_iter_close(it);
	return code;
}

/* Writes all levels of one grid, finest first. The grid is coarsened in place. */
static int put_levels(struct gt_grid *g, struct gt_summary_key about, struct gt_buf *content,
	uint32_t *count, int (*put)(void *, struct gt_buf *, uint32_t), void *arg)
{
	for (about.level = 1;; about.level++) {
		for (size_t at = 0; at != GT_GRID_DONE;) {
			int code;

			*count += gt_grid_put(g, &about, CONTENT, &at, content);
			if (content->len < CONTENT)
				continue;
			if ((code = put(arg, content, *count)))
				return code;
			*count = 0;
		}
		if (g->n <= GT_SUMMARY_BUCKETS)
			return 0;
		gt_grid_coarsen(g, 4);
	}
}

static int put_all(struct upper *u, int (*put)(void *, struct gt_buf *, uint32_t), void *arg)
{
	struct gt_buf content = { 0 };
	uint32_t count = 0;
	int code = 0;

	for (uint32_t t = 0; !code && t < u->seg->ntracks; t++)
		for (unsigned k = 0; !code && u->slot[t] != GT_NONE && k < BOTH * GT_ASPECTS; k++) {
			struct gt_summary_key about = { .track = t,
				.aspect = k % GT_ASPECTS,
				.derived = k / GT_ASPECTS == DERIVED };
			struct gt_grid *g = grid_of(u, t, about.derived, about.aspect);

			if (g)
				code = put_levels(g, about, &content, &count, put, arg);
		}
	if (!code && count)
		code = put(arg, &content, count);
	gt_buf_release(&content);
	return code;
}

static void upper_release(struct upper *u)
{
	for (size_t i = 0; i < u->ngrids; i++)
		for (unsigned k = 0; k < BOTH * GT_ASPECTS; k++)
			gt_grid_release(&u->grids[i].of[k / GT_ASPECTS][k % GT_ASPECTS]);
	free(u->grids);
	free(u->slot);
	free(u->rows);
	free(u->kinds);
	free(u->above);
	free(u->context);
	free(u->bytes_field);
	free(u->direction_field);
}

/* Finds the fields of bytes and direction of each type, and whether there are ioctls, copies
 * and states of threads. */
static void scan_types(struct upper *u)
{
	for (uint32_t t = 0; t < u->seg->ntypes; t++) {
		const struct gt_type *type = &u->seg->types[t];

		u->bytes_field[t] = (int8_t)gt_bytes_field(type);
		u->direction_field[t] = (int8_t)gt_direction_field(type);
		u->ioctls |= type->layer == GT_LAYER_IOCTL;
		u->copies |= type->layer == GT_LAYER_GPU && type->op == GT_OP_COPY;
		u->states |= type->op == GT_OP_OFF_CPU;
	}
}

static int upper_init(struct upper *u)
{
	size_t n = u->seg->ntracks + 1u;

	u->slot = malloc(n * sizeof(*u->slot));
	u->rows = calloc(n, sizeof(*u->rows));
	u->kinds = calloc(n, sizeof(*u->kinds));
	u->above = calloc(n, sizeof(*u->above));
	u->context = calloc(n, sizeof(*u->context));
	u->bytes_field = calloc(u->seg->ntypes + 1u, 1);
	u->direction_field = calloc(u->seg->ntypes + 1u, 1);
	if (!u->slot || !u->rows || !u->kinds || !u->above || !u->context || !u->bytes_field ||
		!u->direction_field)
		return -ENOMEM;
	memset(u->slot, 0xff, n * sizeof(*u->slot)); /* GT_NONE */
	scan_types(u);
	return 0;
}

int gt_summary_upper(struct gt_reader *r, uint32_t segment,
	int (*put)(void *arg, struct gt_buf *content, uint32_t count), void *arg,
	struct gt_err *err)
{
	struct gt_filter calls = { .kinds = GT_BIT(GT_CALL), .args = true, .segment = segment + 1 };
	struct gt_err local = GT_ERR_INIT;
	struct upper u = { .seg = gt_reader_segment(r, segment), .err = err ? err : &local };
	int code = upper_init(&u);

	if (!code)
		code = count_rows(r, &u);
	if (!code)
		code = select_tracks(&u);
	if (!code)
		code = gt_scan(r, &calls, GT_ANY_ORDER, 1, add_calls, &u, err);
	if (!code)
		code = add_in_order(r, &u);
	if (!code)
		code = put_all(&u, put, arg);
	upper_release(&u);
	return code < 0 ? gt_err_set(err, code, "cannot make the upper summaries") : 0;
}
