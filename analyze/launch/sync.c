/* Who waits for a GPU, for what and for how long; and was there anything to wait for?
 *
 * waits.h says which calls wait, what was pending, and how long the GPU worked meanwhile. Waits of
 * one thread that count never overlap, so the time that a thread waited is their union, and the
 * time in which the GPU worked and the one in which it did not add up to it. A wait that was not
 * needed costs its own time, and it keeps the thread from launching what comes next. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/launch/waits.h"
#include "formats/base/buf.h"

#define GROUPS_MAX 65536u /* different ones; a file with more is not worth more memory */

struct sum {
	/* total: whole calls; waited, busy: in the range that was asked for */
	uint64_t count, open, total, waited, busy;
	uint64_t needless, needless_ns, untold;
	uint64_t longest;
	int64_t longest_at;
};
struct group { /* calls of one name that one thread makes to wait for one thing */
	const struct gt_segment *seg;
	uint32_t track, name, stream;
	enum gt_wait_for what;
	struct sum sum;
};
struct sync {
	struct gt_waits waits;
	struct group *groups;
	size_t n, cap;
	struct gt_map map;
	uint32_t last;   /* the group met last */
	uint64_t beyond; /* waits that found no room */
};

static void count(struct sum *s, const struct gt_wait *w)
{
	uint64_t ns = (uint64_t)w->end - (uint64_t)w->start;

	s->count++;
	s->open += w->open;
	s->total = gt_sat_add(s->total, ns);
	s->waited = gt_sat_add(s->waited, w->looked);
	s->busy = gt_sat_add(s->busy, w->busy);
	s->untold += w->need == GT_WAIT_UNTOLD;
	if (w->need == GT_WAIT_NEEDLESS) {
		s->needless++;
		s->needless_ns = gt_sat_add(s->needless_ns, w->looked);
	}
	if (ns > s->longest || s->count == 1) {
		s->longest = ns;
		s->longest_at = w->start;
	}
}

static bool same(const struct group *a, const struct group *b)
{
	return a->seg == b->seg && a->track == b->track && a->name == b->name &&
		a->stream == b->stream && a->what == b->what;
}

static bool same_group(const void *arg, uint32_t value, const void *key, size_t len)
{
	return same(&((const struct sync *)arg)->groups[value], key);
}

/* The group like `want`, GROUPS_MAX when there is no room; negative: err. */
static int64_t find(struct sync *s, const struct group *want, struct gt_err *err)
{
	uint64_t hash = gt_hash_u64(((uint64_t)want->track << 32 | want->stream) ^
		gt_hash_u64((uint64_t)want->name << 8 | want->what));
	uint32_t i;

	if (s->last < s->n && same(&s->groups[s->last], want))
		return s->last;
	i = gt_map_get(&s->map, hash, same_group, s, want, sizeof(*want));
	if (i != UINT32_MAX || s->n == GROUPS_MAX)
		return s->last = i != UINT32_MAX ? i : GROUPS_MAX;
	if (gt_grow(&s->groups, &s->cap, s->n + 1, sizeof(*s->groups)) ||
		gt_map_add(&s->map, hash, (uint32_t)s->n))
		return gt_err_set(err, -ENOMEM, "no memory for the waits");
	s->groups[s->n] = *want;
	return s->last = (uint32_t)s->n++;
}

static int on_wait(void *arg, const struct gt_wait *w, struct gt_err *err)
{
	struct sync *s = arg;
	struct group want = { .seg = w->seg,
		.track = w->track,
		.name = w->seg->types[w->type].name,
		.stream = w->stream,
		.what = w->what };
	int64_t i = find(s, &want, err);

	if (i < 0)
		return (int)i;
	if (i == GROUPS_MAX)
		s->beyond++;
	else
		count(&s->groups[i].sum, w);
	return 0;
}

static int sync_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct sync *s = state;

	return gt_waits_init(&s->waits, r, opt, on_wait, s, err);
}

static int sync_block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	return gt_waits_run(&((struct sync *)state)->waits, cols, err);
}

/* ---- the tables ---- */

#define SUM_COLUMNS                                                                                \
	{ "count", "Waits", GT_C_COUNT }, { "total_ns", "Total", GT_C_NS },                        \
		{ "max_ns", "Longest", GT_C_NS }, { "max_at_ns", "Longest at", GT_C_TIME },        \
		{ "gpu_busy_ns", "GPU worked", GT_C_NS }, { "gpu_idle_ns", "GPU idle", GT_C_NS },  \
		{ "needless", "Needless", GT_C_COUNT },                                            \
		{ "needless_ns", "Needless time", GT_C_NS }, { "untold", "Untold", GT_C_COUNT },   \
	{                                                                                          \
		"open", "Still open", GT_C_COUNT                                                   \
	}
#define NSUM 10
static const struct gt_column columns[] = {
	GT_WHERE_PROCESS,
	GT_WHERE_THREAD,
	{ "call", "Call", GT_C_TEXT },
	{ "waits_for", "Waits for", GT_C_TEXT },
	SUM_COLUMNS,
	{ "wait_ns", NULL, GT_C_NS },
	{ "stream", NULL, GT_C_COUNT },
};
#define NCOLUMNS (sizeof(columns) / sizeof(*columns))
static const struct gt_column thread_columns[] = {
	GT_WHERE_PROCESS,
	GT_WHERE_THREAD,
	SUM_COLUMNS,
	{ "wait_percent", "Time %", GT_C_PERCENT },
	{ "wait_ns", NULL, GT_C_NS },
};
#define NTHREAD (sizeof(thread_columns) / sizeof(*thread_columns))

static void where_cells(struct gt_cell cells[5], const struct group *g)
{
	gt_where_process(cells, g->seg, gt_track_process(g->seg, g->track));
	gt_where_thread(cells + 3, g->seg, g->track);
}

static void sum_cells(const struct sync *s, struct gt_cell cells[NSUM], const struct group *g,
	const struct sum *u)
{
	const struct gt_report_state *a = &s->waits.asked;
	bool told = gt_waits_told(&s->waits, g->seg, g->track);

	cells[0] = gt_cell_u(u->count);
	cells[1] = gt_cell_u(u->total);
	cells[2] = gt_cell_u(u->longest);
	cells[3] = gt_cell_i(gt_time_since_origin(a->opt, a->reader, g->seg, u->longest_at));
	cells[4] = gt_cell_known(told, u->busy);
	cells[5] = gt_cell_known(told, u->waited - u->busy);
	cells[6] = gt_cell_known(told, u->needless);
	cells[7] = gt_cell_known(told, u->needless_ns);
	cells[8] = gt_cell_u(told ? u->untold : u->count);
	cells[9] = gt_cell_u(u->open);
}

static void add_group(const struct sync *s, struct gt_table *t, const struct group *g)
{
	const struct gt_track *stream =
		g->stream < g->seg->ntracks ? &g->seg->tracks[g->stream] : NULL;
	struct gt_cell cells[NCOLUMNS];
	char text[40];

	snprintf(text, sizeof(text), "stream %lld", stream ? (long long)stream->id : 0);
	where_cells(cells, g);
	cells[5] = gt_cell_text(gt_str(g->seg, g->name));
	cells[6] = gt_cell_text(stream ? text : gt_wait_word(g->what));
	sum_cells(s, cells + 7, g, &g->sum);
	cells[7 + NSUM] = gt_cell_u(g->sum.waited);
	cells[8 + NSUM] = stream ? gt_cell_i(stream->id) : gt_cell_none();
	gt_table_add(t, cells + gt_where_skip(s->waits.asked.reader));
}

static void add_sum(struct sum *into, const struct sum *one)
{
	into->count += one->count;
	into->open += one->open;
	into->needless += one->needless;
	into->untold += one->untold;
	into->total = gt_sat_add(into->total, one->total);
	into->waited = gt_sat_add(into->waited, one->waited);
	into->busy = gt_sat_add(into->busy, one->busy);
	into->needless_ns = gt_sat_add(into->needless_ns, one->needless_ns);
	if (one->longest > into->longest || into->count == one->count ||
		(one->longest == into->longest && one->longest_at < into->longest_at)) {
		into->longest = one->longest;
		into->longest_at = one->longest_at;
	}
}

static int by_thread(const void *pa, const void *pb)
{
	const struct group *a = pa, *b = pb;

	return gt_by_place(a->seg, a->track, b->seg, b->track);
}

static int by_total(const void *pa, const void *pb)
{
	const struct group *a = pa, *b = pb;
	int order = by_thread(a, b);

	if (a->sum.total != b->sum.total)
		return a->sum.total < b->sum.total ? 1 : -1;
	if (order)
		return order;
	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	if (a->what != b->what)
		return a->what < b->what ? -1 : 1;
	return (a->stream > b->stream) - (a->stream < b->stream);
}

static void add_thread(const struct sync *s, struct gt_table *t, const struct group *g)
{
	struct gt_cell cells[NTHREAD];

	where_cells(cells, g);
	sum_cells(s, cells + 5, g, &g->sum);
	cells[5 + NSUM] = gt_cell_share(g->sum.waited, gt_span_of(s->waits.asked.opt, g->seg));
	cells[6 + NSUM] = gt_cell_u(g->sum.waited);
	gt_table_add(t, cells + gt_where_skip(s->waits.asked.reader));
}

/* The groups of a thread as one: the list is used up. */
static void fill_threads(struct sync *s, struct gt_table *t)
{
	size_t n = 0, shown;

	if (s->n)
		qsort(s->groups, s->n, sizeof(*s->groups), by_thread);
	for (size_t i = 0; i < s->n; i++) {
		if (n && !by_thread(&s->groups[n - 1], &s->groups[i]))
			add_sum(&s->groups[n - 1].sum, &s->groups[i].sum);
		else
			s->groups[n++] = s->groups[i];
	}
	if (n)
		qsort(s->groups, n, sizeof(*s->groups), by_total);
	shown = gt_rows_shown(n, s->waits.asked.opt->top);
	for (size_t i = 0; i < shown; i++)
		add_thread(s, t, &s->groups[i]);
	gt_table_note_cut(t, n, shown);
}

/* Waits for a stream of which it was not recorded which one that is. */
static void note_aimless(const struct sync *s, struct gt_table *t)
{
	bool kineto = false;
	uint64_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct group *g = &s->groups[i];

		if (g->what != GT_WAIT_STREAM || g->stream != GT_NONE || !g->sum.untold)
			continue;
		n += g->sum.untold;
		kineto |= !strcmp(gt_str(g->seg, g->seg->tracks[g->track].source), "import kineto");
	}
	if (n)
		gt_note_plural(t, n,
			"of %llu untold {wait|waits} for a stream it was not recorded which stream that is%s",
			(unsigned long long)n,
			kineto ? " (PyTorch's profiler does so with enable_cuda_sync_events)" : "");
}

static void note_untold(const struct sync *s, struct gt_table *t)
{
	const struct gt_filter *f = &s->waits.asked.opt->filter;
	uint64_t unknown = 0;
	bool lost = false;

	for (size_t i = 0; i < s->n; i++) {
		unknown += gt_waits_told(&s->waits, s->groups[i].seg, s->groups[i].track)
			? 0
			: s->groups[i].sum.count;
		lost |= s->groups[i].seg->rows[GT_LOST] > 0;
	}
	if (unknown)
		gt_table_note(t,
			"cannot answer for %llu of the waits what the GPU did meanwhile, nor for frees whether they waited: %s",
			(unsigned long long)unknown,
			f->match         ? "--match leaves work of the GPU out"
				: f->tid ? "--tid leaves work of the GPU out"
					 : "no work of the GPU was recorded for their process");
	if (lost)
		gt_table_note(t, "events were lost: no wait is called needless");
	if (s->waits.frees_untold)
		gt_note_plural(t, s->waits.frees_untold,
			"%llu {free is left out: it|frees are left out: they} may have waited for one of several "
			"devices",
			(unsigned long long)s->waits.frees_untold);
	if (s->beyond)
		gt_note_plural(t, s->beyond,
			"%llu {wait is|waits are} beyond the first %u kinds and in no row",
			(unsigned long long)s->beyond, GROUPS_MAX);
	gt_note_unordered(t, gt_time_ordered_late(&s->waits.order), "times of the GPU");
}

static int sync_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct sync *s = state;
	unsigned skip = gt_where_skip(s->waits.asked.reader);
	int rc = gt_waits_finish(&s->waits, err);
	size_t shown = gt_rows_shown(s->n, s->waits.asked.opt->top);

	if (rc)
		return rc;
	tables[0] = gt_table_new(
		"sync", "Waits for the GPU, by call", columns + skip, (unsigned)NCOLUMNS - skip);
	tables[1] = gt_table_new("sync_threads", "Waits for the GPU, by thread",
		thread_columns + skip, (unsigned)NTHREAD - skip);
	if (!tables[0] || !tables[1])
		return gt_err_set(err, -ENOMEM, "no memory for the waits");
	if (s->n)
		qsort(s->groups, s->n, sizeof(*s->groups), by_total);
	for (size_t i = 0; i < shown; i++)
		add_group(s, tables[0], &s->groups[i]);
	gt_table_note_cut(tables[0], s->n, shown);
	note_aimless(s, tables[0]);
	note_untold(s, tables[0]);
	fill_threads(s, tables[1]);
	gt_table_gives_way(tables[0],
		"open untold max_at_ns process thread needless_ns gpu_busy_ns max_ns pid tid gpu_idle_ns waits_for");
	gt_table_gives_way(tables[1],
		"open untold max_at_ns process thread needless_ns max_ns wait_percent gpu_busy_ns gpu_idle_ns pid");
	return 2;
}

static void sync_release(void *state)
{
	struct sync *s = state;

	gt_waits_release(&s->waits);
	free(s->groups);
	gt_map_release(&s->map);
}

const struct gt_analysis gt_sync_report = {
	.name = "sync",
	.help = "who waits for the GPU: on which call, for what, how long, and whether it was needed",
	.wants = GT_WAITS_KINDS,
	.needs = GT_LAYERS_OF_CALLS,
	.wants_args = true,
	.order = GT_BY_TIME,
	.state_size = sizeof(struct sync),
	.init = sync_init,
	.block = sync_block,
	.finish = sync_finish,
	.release = sync_release,
};
