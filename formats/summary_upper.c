/* Upper levels of summaries, made when a file is closed, by reading its rows once more.
 *
 * The finest upper level divides the whole trace into as many buckets as memory allows; each further level has sixteen times
 * fewer, down to one summary. Calls of one thread never overlap at one depth, so their order does not matter and the columns
 * path serves; what may overlap, and the unions (a process of its threads, a device of its streams), take the path in order
 * of time, for there a moment covered twice is busy once.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/reader_in.h"
#include "formats/summary.h"

#define BUDGET (24u << 20)		/* bytes of tallies */
#define ROWS_PER_BUCKET 512
#define MOST_BUCKETS 65536u
#define CONTENT (GT_BLOCK_BYTES / 2)
#define OVERLAPPING (GT_BIT(GT_SPAN) | GT_BIT(GT_GPU))

struct upper {
	const struct gt_segment *seg;
	struct gt_grid *own, *unions;	/* by track; n 0: not wanted */
	uint64_t *rows;			/* by track */
	uint32_t *above;		/* by track: the process or device whose union it belongs to, or GT_NONE */
	int8_t *bytes_field;		/* by type */
	struct gt_err *err;
};

/* Blocks of one track say in their heads how many rows they have; only the others are opened for it. */
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

		if (h->kind != GT_W_ROWS || !h->rows || !(GT_BIT(h->sub & 31) & (GT_BIT(GT_CALL) | OVERLAPPING)))
			continue;
		if (h->track < seg->pub.ntracks) {
			u->rows[h->track] += h->rows;
			continue;
		}
		code = gt_load(r, seg, e, &loader, &content, u->err);
		if (!code)
			code = gt_block_unpack(&block, (enum gt_kind)h->sub, content, h->rows, &seg->pub, u->err);
		for (uint32_t k = 0; !code && k < block.nruns; k++)
			u->rows[block.runs[k].track] += block.runs[k].n;
	}
	gt_unpacked_release(&block);
	gt_loader_release(&loader);
	return more < 0 ? more : code;
}

static uint32_t above(const struct gt_segment *seg, uint32_t track)
{
	uint32_t t = seg->tracks[track].parent;

	while (t != GT_NONE && seg->tracks[t].kind != GT_TRACK_PROCESS && seg->tracks[t].kind != GT_TRACK_DEVICE)
		t = seg->tracks[t].parent;
	return t;
}

static int more_rows(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x > y ? -1 : x < y;
}

/* Which tracks get a grid, and of how many buckets. When there are more tracks than memory, those with most rows. */
static int choose(struct upper *u)
{
	uint32_t n = u->seg->ntracks, *kids = calloc(n + 1, sizeof(*kids)), grids = 0;
	uint64_t *sorted = malloc((n + 1) * sizeof(*sorted)), total = 0, least = 64, most;
	uint32_t fit = BUDGET / (64 * 2 * sizeof(struct gt_tally));

	if (!kids || !sorted) {
		free(kids);
		free(sorted);
		return -ENOMEM;
	}
	memcpy(sorted, u->rows, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), more_rows);
	if (n > fit && sorted[fit] >= least)
		least = sorted[fit] + 1;
	for (uint32_t t = 0; t < n; t++) {
		u->above[t] = above(u->seg, t);
		if (u->rows[t] < least)
			continue;
		total += u->rows[t];
		grids++;
		if (u->above[t] != GT_NONE && ++kids[u->above[t]] == 2)
			grids++;
	}
	most = total / ROWS_PER_BUCKET;
	while (grids && most > 64 && most * grids * 2 * sizeof(struct gt_tally) > BUDGET)
		most /= 2;
	most = most < 64 ? 64 : most > MOST_BUCKETS ? MOST_BUCKETS : most;
	for (uint32_t t = 0; t < n; t++) {
		if (u->rows[t] >= least)
			gt_grid_init(&u->own[t], u->seg->min_start, u->seg->max_end, most);
		if (kids[t] >= 2)
			gt_grid_init(&u->unions[t], u->seg->min_start, u->seg->max_end, most);
	}
	free(kids);
	free(sorted);
	return 0;
}

static uint64_t row_bytes(const struct upper *u, const struct gt_cols *c, uint32_t code, uint32_t *seen)
{
	int field = u->bytes_field[c->types[code]];
	uint32_t n;
	const uint64_t *v = field < 0 ? NULL : gt_cols_args(c, code, (uint32_t)field, &n);

	return v && *seen < n ? v[(*seen)++] : 0;
}

static int add_calls(void *arg, unsigned worker, const struct gt_cols *c)
{
	struct upper *u = arg;
	struct gt_grid *g = &u->own[c->track];
	uint32_t *seen;
	int code = 0;

	if (!g->n)
		return 0;
	seen = calloc(c->ntypes, sizeof(*seen));
	if (!seen)
		return -ENOMEM;
	for (uint32_t i = 0; !code && i < c->n; i++) {
		uint32_t k = c->code ? c->code[i] : 0;

		code = gt_grid_add(g, c->depth ? c->depth[i] : 0, c->start[i], c->start[i] + c->dur[i], u->seg->types[c->types[k]].category,
				   row_bytes(u, c, k, &seen[k]), false);
	}
	free(seen);
	return code;
}

static int add_in_order(struct gt_reader *r, struct upper *u)
{
	struct gt_filter filter = { .kinds = GT_BIT(GT_CALL) | OVERLAPPING, .segment = u->seg->index + 1 };
	struct gt_iter *it;
	struct gt_event ev;
	bool needed = u->seg->rows[GT_SPAN] + u->seg->rows[GT_GPU] > 0;
	int code;

	for (uint32_t t = 0; t < u->seg->ntracks; t++)
		needed |= u->unions[t].n > 0;
	if (!needed)
		return 0;
	if (!(it = gt_iter_open(r, &filter, u->err)))
		return u->err->code;
	while ((code = gt_iter_next(it, &ev, u->err)) > 0) {
		uint32_t up = u->above[ev.track];
		unsigned category = u->seg->types[ev.row.type].category;
		int field = u->bytes_field[ev.row.type];
		uint64_t bytes = field < 0 ? 0 : ev.args[field];

		if (ev.kind != GT_CALL && u->own[ev.track].n)
			code = gt_grid_add(&u->own[ev.track], ev.row.depth, ev.row.start, ev.row.end, category, bytes, true);
		if (code >= 0 && up != GT_NONE && u->unions[up].n && !ev.row.depth)
			code = gt_grid_add(&u->unions[up], 0, ev.row.start, ev.row.end, category, bytes, true);
		if (code < 0)
			break;
	}
	gt_iter_close(it);
	return code;
}

/* All levels of one grid, finest first. The grid is used up. */
static int put_levels(struct gt_grid *g, uint32_t track, bool derived, struct gt_buf *content, uint32_t *count,
		      int (*put)(void *, struct gt_buf *, uint32_t), void *arg)
{
	for (unsigned level = 1;; level++) {
		for (size_t at = 0; at != GT_GRID_DONE;) {
			int code;

			*count += gt_grid_put(g, track, level, derived, CONTENT, &at, content);
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

	for (uint32_t t = 0; !code && t < u->seg->ntracks; t++) {
		if (u->own[t].n)
			code = put_levels(&u->own[t], t, false, &content, &count, put, arg);
		if (!code && u->unions[t].n)
			code = put_levels(&u->unions[t], t, true, &content, &count, put, arg);
	}
	if (!code && count)
		code = put(arg, &content, count);
	gt_buf_release(&content);
	return code;
}

static void upper_release(struct upper *u)
{
	for (uint32_t t = 0; t < u->seg->ntracks; t++) {
		if (u->own)
			gt_grid_release(&u->own[t]);
		if (u->unions)
			gt_grid_release(&u->unions[t]);
	}
	free(u->own);
	free(u->unions);
	free(u->rows);
	free(u->above);
	free(u->bytes_field);
}

int gt_summary_upper(struct gt_reader *r, uint32_t segment, int (*put)(void *arg, struct gt_buf *content, uint32_t count), void *arg,
		     struct gt_err *err)
{
	const struct gt_segment *seg = gt_reader_segment(r, segment);
	struct gt_filter calls = { .kinds = GT_BIT(GT_CALL), .args = true, .segment = segment + 1 };
	struct gt_err local = GT_ERR_INIT;
	struct upper u = { .seg = seg, .err = err ? err : &local };
	size_t n = seg->ntracks + 1u;
	int code;

	u.own = calloc(n, sizeof(*u.own));
	u.unions = calloc(n, sizeof(*u.unions));
	u.rows = calloc(n, sizeof(*u.rows));
	u.above = calloc(n, sizeof(*u.above));
	u.bytes_field = calloc(seg->ntypes + 1u, 1);
	code = u.own && u.unions && u.rows && u.above && u.bytes_field ? 0 : -ENOMEM;
	for (uint32_t t = 0; !code && t < seg->ntypes; t++)
		u.bytes_field[t] = (int8_t)gt_bytes_field(&seg->types[t]);
	if (!code)
		code = count_rows(r, &u);
	if (!code)
		code = choose(&u);
	if (!code)
		code = gt_scan(r, &calls, GT_ANY_ORDER, 1, add_calls, &u, err);
	if (!code)
		code = add_in_order(r, &u);
	if (!code)
		code = put_all(&u, put, arg);
	upper_release(&u);
	return code < 0 ? gt_err_set(err, code, "cannot make the upper summaries") : 0;
}
