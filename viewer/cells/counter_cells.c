#include <stdlib.h>
#include <string.h>

#include "formats/base/sorted.h"
#include "viewer/util/deadline.h"
#include "viewer/cells/counter_cells.h"
#include "viewer/model/unchanged_until.h"

/* limit of blocks read before the window to find the value at its start */
#define LEAD_MOST 64u

struct cell {
	bool any;
	double low, high, last;
	int64_t first_at, last_at;
};
struct gauge {
	struct gt_counter_key of;
	int64_t offset; /* of the segment's time */
	struct cell *cells;
	/* number of first cells, with the value before them, that are reused */
	unsigned taken;
	bool lead; /* a sample before the window is known, with this value and time */
	double lead_value;
	int64_t lead_at;
};
struct job {
	const struct gt_block *block;
	uint32_t segment;
	bool lead;
};
struct gt_counter_cells {
	struct gt_archive *archive;
	struct gt_cell_window window;
	struct gauge *gauges, **sorted;
	size_t n, gauges_cap, sorted_cap;
	struct job *jobs;
	size_t njobs, jobs_cap, done;
	/* the previous request with all cells known: used while they are reused, and between two
	 * archives */
	struct gauge *was;
	size_t nwas;
	struct gt_cell_window was_window;
	struct gt_unchanged_until since; /* differences between two archives */
};

struct gt_counter_cells *gt_counter_cells_new(struct gt_archive *a)
{
	struct gt_counter_cells *g = calloc(1, sizeof(*g));

	if (g)
		g->archive = a;
	return g;
}

static void release_was(struct gt_counter_cells *g)
{
	for (size_t i = 0; i < g->nwas; i++)
		free(g->was[i].cells);
	free(g->was);
	g->was = NULL;
	g->nwas = 0;
	gt_unchanged_until_release(&g->since);
}

/* The current request becomes the previous one. Between two archives there is no request, and
 * the previous one stays. */
static void put_aside(struct gt_counter_cells *g)
{
	if (g->n) {
		release_was(g);
		g->was = g->gauges;
		g->nwas = g->n;
		g->was_window = g->window;
		g->gauges = NULL;
		g->gauges_cap = 0;
		if (g->done < g->njobs)
			release_was(g);
	}
	g->n = g->njobs = g->done = 0;
}

void gt_counter_cells_free(struct gt_counter_cells *g)
{
	if (!g)
		return;
	put_aside(g);
	release_was(g);
	free(g->gauges);
	free(g->sorted);
	free(g->jobs);
	free(g);
}

/* ---- list of counters ---- */

struct listing {
	struct gt_archive *archive;
	struct gt_counter_key *list;
	size_t n, cap;
};

static int compare(const void *pa, const void *pb)
{
	const struct gt_counter_key *a = pa, *b = pb;

	return GT_COMPARE(a->segment, b->segment) ?:
		GT_COMPARE(a->track, b->track) ?:
		GT_COMPARE(a->type, b->type);
}

static int list_one(struct listing *l, struct gt_counter_key one)
{
	for (size_t i = l->n; i-- > 0;)
		if (!compare(&l->list[i], &one))
			return 0;
	if (l->n == GT_COUNTERS_MAX)
		return 0;
	if (gt_grow(&l->list, &l->cap, l->n + 1, sizeof(*l->list)))
		return -ENOMEM;
	l->list[l->n++] = one;
	return 0;
}

static int list_block(
	struct listing *l, uint32_t segment, const struct gt_block *b, struct gt_err *err)
{
	const struct gt_open_block *r = gt_archive_rows(l->archive, segment, b, err);
	int code = r ? 0 : -ENOMEM;

	for (uint32_t k = 0; r && k < r->nruns; k++)
		for (uint32_t i = r->runs[k].first;
			!code && r->runs[k].track != GT_NONE && i < r->runs[k].first + r->runs[k].n;
			i++)
			if (r->type[i] != GT_NONE)
				code = list_one(l,
					(struct gt_counter_key){
						segment, r->runs[k].track, r->type[i] });
	return code;
}

static int list_track(struct listing *l, uint32_t segment, uint32_t track, struct gt_err *err)
{
	struct gt_block_list blocks = gt_archive_blocks(l->archive, segment, track);
	const struct gt_block *first = NULL, *last = NULL;
	int code = 0;

	for (size_t i = 0; i < blocks.n; i++)
		if (blocks.blocks[i].kind == GT_COUNTER) {
			first = first ? first : &blocks.blocks[i];
			last = &blocks.blocks[i];
		}
	if (first)
		code = list_block(l, segment, first, err);
	return !code && last != first ? list_block(l, segment, last, err) : code;
}

int gt_list_counters(
	struct gt_archive *a, struct gt_counter_key **list, size_t *n, struct gt_err *err)
{
	struct gt_reader *r = gt_archive_reader(a);
	struct listing l = { .archive = a };
	int code = 0;

	for (uint32_t s = 0; !code && s < gt_reader_segments(r); s++) {
		const struct gt_segment *seg = gt_reader_segment(r, s);

		if (!seg->rows[GT_COUNTER])
			continue;
		code = list_track(&l, s, GT_NONE, err);
		for (uint32_t t = 0; !code && t < seg->ntracks; t++)
			code = list_track(&l, s, t, err);
	}
	if (l.n)
		qsort(l.list, l.n, sizeof(*l.list), compare);
	*list = l.list;
	*n = l.n;
	return code ? gt_err_set(err, code, "out of memory") : 0;
}

/* ---- blocks to read ---- */

static int add_job(
	struct gt_counter_cells *g, const struct gt_block *b, uint32_t segment, bool lead)
{
	if (gt_grow(&g->jobs, &g->jobs_cap, g->njobs + 1, sizeof(*g->jobs)))
		return -ENOMEM;
	g->jobs[g->njobs++] = (struct job){ b, segment, lead };
	return 0;
}

/* The first cell of the window for which a track must be read; track GT_NONE: any track. */
static unsigned first_cell(const struct gt_counter_cells *g, uint32_t segment, uint32_t track)
{
	unsigned first = g->window.cells;

	for (size_t i = 0; i < g->n; i++)
		if (g->gauges[i].of.segment == segment &&
			(track == GT_NONE || g->gauges[i].of.track == track))
			first = g->gauges[i].taken < first ? g->gauges[i].taken : first;
	return first;
}

/* Adds the blocks in the window, then those before it, the latest first. The latter are read only
 * until the value of each counter before the window is known. */
static int add_list(struct gt_counter_cells *g, uint32_t segment, uint32_t track)
{
	struct gt_block_list l = gt_archive_blocks(g->archive, segment, track);
	int64_t offset = gt_archive_offset(g->archive, segment);
	unsigned first = first_cell(g, segment, track);
	int64_t from = gt_cell_start(&g->window, first) + offset,
		to = gt_cell_start(&g->window, g->window.cells) + offset;
	size_t at = gt_blocks_from(l, from), lead = first ? 0 : at;
	int code = 0;

	for (; !code && at < l.n && l.blocks[at].start < to; at++)
		if (l.blocks[at].kind == GT_COUNTER && l.blocks[at].end >= from)
			code = add_job(g, &l.blocks[at], segment, false);
	for (unsigned n = 0; !code && lead-- > 0 && n < LEAD_MOST;)
		if (l.blocks[lead].kind == GT_COUNTER) {
			code = add_job(g, &l.blocks[lead], segment, true);
			n++;
		}
	return code;
}

/* Adds each list of blocks once. */
static int find_jobs(struct gt_counter_cells *g)
{
	int code = 0;

	for (size_t i = 0; !code && i < g->n; i++) {
		const struct gt_counter_key *of = &g->sorted[i]->of,
					    *before = i ? &g->sorted[i - 1]->of : NULL;

		if (!before || before->segment != of->segment)
			code = add_list(g, of->segment, GT_NONE);
		if (!code &&
			(!before || before->segment != of->segment || before->track != of->track))
			code = add_list(g, of->segment, of->track);
	}
	return code;
}

/* ---- samples ---- */

static double value_of(const struct gt_segment *seg, uint32_t type, uint64_t bits)
{
	const struct gt_type *t = &seg->types[type];
	double v;

	if (!t->nfields || t->fields[0].kind != GT_F_F64)
		return t->nfields && t->fields[0].kind == GT_F_I64 ? (double)(int64_t)bits
								   : (double)bits;
	memcpy(&v, &bits, sizeof(v));
	return v;
}

static void add_sample(const struct gt_counter_cells *g, struct gauge *to, int64_t at, double value)
{
	int64_t i = gt_window_column(&g->window, at - to->offset);
	struct cell *c;

	if (i < 0 && (!to->lead || at >= to->lead_at)) {
		to->lead = true;
		to->lead_at = at;
		to->lead_value = value;
	}
	if (i < (int64_t)to->taken || i >= g->window.cells)
		return;
	c = &to->cells[i];
	c->first_at = c->any && c->first_at < at ? c->first_at : at;
	c->low = c->any && c->low < value ? c->low : value;
	c->high = c->any && c->high > value ? c->high : value;
	if (!c->any || at >= c->last_at) {
		c->last = value;
		c->last_at = at;
	}
	c->any = true;
}

static int by_place(const void *pa, const void *pb)
{
	const struct gauge *const *a = pa, *const *b = pb;

	return compare(&(*a)->of, &(*b)->of);
}

static struct gauge *find_gauge(const struct gt_counter_cells *g, const struct gt_counter_key *of)
{
	struct gauge key = { .of = *of }, *pkey = &key,
		     **found = bsearch(&pkey, g->sorted, g->n, sizeof(*g->sorted), by_place);

	return found ? *found : NULL;
}

static void add_rows(struct gt_counter_cells *g, const struct gt_open_block *r)
{
	const struct gt_segment *seg = gt_reader_segment(gt_archive_reader(g->archive), r->segment);

	for (uint32_t k = 0; r->bytes && k < r->nruns; k++)
		for (uint32_t i = r->runs[k].first; i < r->runs[k].first + r->runs[k].n; i++) {
			struct gt_counter_key of = { r->segment, r->runs[k].track, r->type[i] };
			struct gauge *to = find_gauge(g, &of);

			if (to)
				add_sample(g, to, r->start[i], value_of(seg, of.type, r->bytes[i]));
		}
}

static bool wants_lead(const struct gt_counter_cells *g, uint32_t segment)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->gauges[i].of.segment == segment && !g->gauges[i].lead && !g->gauges[i].taken)
			return true;
	return false;
}

int gt_counter_cells_step(struct gt_counter_cells *g, uint64_t us, struct gt_err *err)
{
	uint64_t deadline = gt_deadline(us);

	for (; g->done < g->njobs && !gt_deadline_is_over(deadline); g->done++) {
		const struct job *j = &g->jobs[g->done];
		const struct gt_open_block *r;

		if (j->lead && !wants_lead(g, j->segment))
			continue;
		if (!(r = gt_archive_rows(g->archive, j->segment, j->block, err)))
			return -ENOMEM;
		add_rows(g, r);
	}
	return g->done < g->njobs;
}

/* ---- reuse of known cells ---- */

static void fold(struct cell *to, const struct cell *from)
{
	if (!from->any)
		return;
	to->low = to->any && to->low < from->low ? to->low : from->low;
	to->high = to->any && to->high > from->high ? to->high : from->high;
	to->first_at = to->any && to->first_at < from->first_at ? to->first_at : from->first_at;
	if (!to->any || from->last_at >= to->last_at) {
		to->last = from->last;
		to->last_at = from->last_at;
	}
	to->any = true;
}

/* Number of its first cells that are unchanged. Before the first row of all there is no value. */
static unsigned count_taken(
	const struct gt_counter_cells *g, const struct gauge *one, const struct gauge *was)
{
	const struct gt_counter_key *of = &one->of;
	bool grown = g->since.n;
	int64_t low = grown
		? gt_unchanged_until_start(&g->since, of->segment)
		: gt_reader_segment(gt_archive_reader(g->archive), of->segment)->min_start;
	int64_t floor = grown
		? gt_unchanged_until_time(&g->since, of->segment, of->track, GT_BIT(GT_COUNTER))
		: INT64_MAX;
	int64_t from = g->window.from + one->offset, was_from = g->was_window.from + was->offset,
		to = g->was_window.to + was->offset, n;

	to = floor < to ? floor : to;
	if ((from < was_from && low < was_from) || to <= from ||
		!gt_window_consists_of(&g->window, &g->was_window))
		return 0;
	n = gt_window_column(&g->window, to - one->offset);
	return n < g->window.cells ? (unsigned)n : g->window.cells;
}

static void take_over(struct gt_counter_cells *g, struct gauge *one)
{
	const struct gauge *was = g->was, *end = was + g->nwas;

	while (was < end && compare(&was->of, &one->of))
		was++;
	one->taken = was < end ? count_taken(g, one, was) : 0;
	if (!one->taken)
		return;
	one->lead = was->lead;
	one->lead_at = was->lead_at;
	one->lead_value = was->lead_value;
	for (unsigned i = 0; i < g->was_window.cells; i++) {
		const struct cell *cell = &was->cells[i];
		int64_t c = gt_window_column(&g->window, gt_cell_start(&g->was_window, i));

		if (c >= 0 && c < one->taken) {
			fold(&one->cells[c], cell);
		} else if (c < 0 && cell->any && (!one->lead || cell->last_at >= one->lead_at)) {
			one->lead = true;
			one->lead_at = cell->last_at;
			one->lead_value = cell->last;
		}
	}
}

void gt_counter_cells_detach(struct gt_counter_cells *g)
{
	if (!g || !g->archive)
		return;
	put_aside(g);
	if (g->nwas && !g->since.n)
		gt_unchanged_until_save(&g->since, g->archive);
	if (!g->since.n)
		release_was(g);
	g->archive = NULL;
	g->window = (struct gt_cell_window){ .cells = 0 };
}

void gt_counter_cells_reopen(struct gt_counter_cells *g, struct gt_archive *a) { g->archive = a; }

int gt_counter_cells_request(struct gt_counter_cells *g, const struct gt_cell_window *w,
	const struct gt_counter_key *of, size_t n, struct gt_err *err)
{
	bool same = g->n == n && gt_same_window(&g->window, w);
	int code = 0;

	for (size_t i = 0; same && i < n; i++)
		same = !compare(&g->gauges[i].of, &of[i]);
	if (same)
		return 0;
	put_aside(g);
	if (g->since.n)
		gt_unchanged_until_compare(&g->since, g->archive);
	if (gt_grow(&g->gauges, &g->gauges_cap, n, sizeof(*g->gauges)) ||
		gt_grow(&g->sorted, &g->sorted_cap, n, sizeof(*g->sorted)))
		return gt_err_set(err, -ENOMEM, "out of memory");
	g->window = *w;
	for (; !code && g->n < n; g->n++) {
		struct gauge *one = &g->gauges[g->n];

		*one = (struct gauge){ .of = of[g->n] };
		one->offset = gt_archive_offset(g->archive, of[g->n].segment);
		one->cells = calloc(w->cells, sizeof(*one->cells));
		g->sorted[g->n] = one;
		code = one->cells ? 0 : -ENOMEM;
		if (!code)
			take_over(g, one);
	}
	release_was(g);
	if (g->n)
		qsort(g->sorted, g->n, sizeof(*g->sorted), by_place);
	if (!code)
		code = find_jobs(g);
	return code ? gt_err_set(err, code, "out of memory") : 0;
}

void gt_counter_cells_get(const struct gt_counter_cells *g, const struct gt_counter_key *key,
	struct gt_counter_cell *to)
{
	const struct gauge *of = find_gauge(g, key);
	bool known = of->lead;
	double value = of->lead_value; /* before the cell */

	for (unsigned c = 0; c < g->window.cells; c++) {
		const struct cell *cell = &of->cells[c];

		to[c] = (struct gt_counter_cell){
			.known = known || cell->any, .low = value, .high = value, .last = value
		};
		if (!cell->any)
			continue;
		/* a sample at the start of the cell replaces the value before it */
		known &= cell->first_at > gt_cell_start(&g->window, c) + of->offset;
		to[c].low = known && value < cell->low ? value : cell->low;
		to[c].high = known && value > cell->high ? value : cell->high;
		to[c].last = value = cell->last;
		known = true;
	}
}
