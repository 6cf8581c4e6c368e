/* Report "sync": calls that wait for a GPU, for what and how long, and whether the wait was
 * necessary.
 *
 * waits.h defines which calls wait, which work was pending, and how long the GPU worked during the
 * wait. Waits of one thread do not overlap. So the waiting time of a thread is their sum, and it is
 * the sum of the times with a busy and with an idle GPU. An unnecessary wait costs its own time,
 * and delays the next launch of the thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/launch/waits.h"
#include "formats/base/buf.h"
#include "formats/base/sorted.h"

#define GROUPS_MAX 65536u

struct sum {
	/* total: whole calls; waited, busy: in the selected range */
	uint64_t count, open, total, waited, busy;
	uint64_t needless, needless_ns, unknown;
	uint64_t longest;
	int64_t longest_at;
};
struct group { /* waits of one thread with one call name and one target */
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
	uint32_t last;   /* index of the last group that was used */
	uint64_t beyond; /* waits of further groups */
};

static void count(struct sum *s, const struct gt_wait *w)
{
	uint64_t ns = (uint64_t)w->end - (uint64_t)w->start;

	s->count++;
	s->open += w->open;
	s->total = gt_sat_add(s->total, ns);
	s->waited = gt_sat_add(s->waited, w->looked);
	s->busy = gt_sat_add(s->busy, w->busy);
	s->unknown += w->need == GT_WAIT_UNKNOWN;
	if (w->need == GT_WAIT_NEEDLESS) {
		s->needless++;
		s->needless_ns = gt_sat_add(s->needless_ns, w->looked);
	}
	if (ns > s->longest || s->count == 1) {
		s->longest = ns;
		s->longest_at = w->start;
	}
}

/* The index of the group, GROUPS_MAX if there are too many; negative: err. */
static int64_t find(struct sync *s, const struct group *want, struct gt_err *err)
{
	const size_t key = offsetof(struct group, sum);
	uint32_t i;

	if (s->last < s->n && !memcmp(&s->groups[s->last], want, key))
		return s->last;
	i = gt_map_find_item(&s->map, s->groups, sizeof(*want), want, key);
	if (i == UINT32_MAX && s->n == GROUPS_MAX)
		return s->last = GROUPS_MAX;
	if (i == UINT32_MAX)
		i = gt_map_add_item(&s->map, &s->groups, &s->n, &s->cap, sizeof(*want), want, key);
	if (i == UINT32_MAX)
		return gt_err_set(err, -ENOMEM, "out of memory (waits)");
	return s->last = i;
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
		{ "gpu_busy_ns", "GPU busy", GT_C_NS }, { "gpu_idle_ns", "GPU idle", GT_C_NS },    \
		{ "needless", "Unnecessary", GT_C_COUNT },                                         \
		{ "needless_ns", "Unneeded time", GT_C_NS }, { "untold", "Unknown", GT_C_COUNT },  \
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
	const struct gt_report_state *a = &s->waits.report;
	bool has_gpu = gt_waits_has_gpu(&s->waits, g->seg, g->track);

	cells[0] = gt_cell_u(u->count);
	cells[1] = gt_cell_u(u->total);
	cells[2] = gt_cell_u(u->longest);
	cells[3] = gt_cell_time(a, g->seg, u->longest_at);
	cells[4] = gt_cell_known(has_gpu, u->busy);
	cells[5] = gt_cell_known(has_gpu, u->waited - u->busy);
	cells[6] = gt_cell_known(has_gpu, u->needless);
	cells[7] = gt_cell_known(has_gpu, u->needless_ns);
	cells[8] = gt_cell_u(has_gpu ? u->unknown : u->count);
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
	gt_table_add(t, cells);
}

static void add_sum(struct sum *into, const struct sum *one)
{
	into->count += one->count;
	into->open += one->open;
	into->needless += one->needless;
	into->unknown += one->unknown;
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

	return GT_COMPARE(b->sum.total, a->sum.total) ?:
		by_thread(a, b) ?:
		GT_COMPARE(a->name, b->name) ?:
		GT_COMPARE(a->what, b->what) ?:
		GT_COMPARE(a->stream, b->stream);
}

static void add_thread(const struct sync *s, struct gt_table *t, const struct group *g)
{
	struct gt_cell cells[NTHREAD];

	where_cells(cells, g);
	sum_cells(s, cells + 5, g, &g->sum);
	cells[5 + NSUM] = gt_cell_share(g->sum.waited, gt_span_of(s->waits.report.opt, g->seg));
	cells[6 + NSUM] = gt_cell_u(g->sum.waited);
	gt_table_add(t, cells);
}

/* Adds up the groups of each thread, in place. */
static void fill_threads(struct sync *s, struct gt_table *t)
{
	size_t n = 0, shown;

	GT_SORT(s->groups, s->n, by_thread);
	for (size_t i = 0; i < s->n; i++) {
		if (n && !by_thread(&s->groups[n - 1], &s->groups[i]))
			add_sum(&s->groups[n - 1].sum, &s->groups[i].sum);
		else
			s->groups[n++] = s->groups[i];
	}
	GT_SORT(s->groups, n, by_total);
	shown = gt_rows_shown(n, s->waits.report.opt->top);
	for (size_t i = 0; i < shown; i++)
		add_thread(s, t, &s->groups[i]);
	gt_table_note_cut(t, n, shown);
}

static bool is_of_kineto(const char *source)
{
	return !strcmp(source, "import kineto") || !strcmp(source, "import perfetto");
}

/* Notes waits for a stream that was not recorded. */
static void note_no_target(const struct sync *s, struct gt_table *t)
{
	bool kineto = false;
	uint64_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct group *g = &s->groups[i];

		if (g->what != GT_WAIT_STREAM || g->stream != GT_NONE || !g->sum.unknown)
			continue;
		n += g->sum.unknown;
		kineto |= is_of_kineto(gt_str(g->seg, g->seg->tracks[g->track].source));
	}
	gt_note_plural(t, n,
		"for %llu unknown {wait|waits} for a stream it was not recorded which stream%s",
		(unsigned long long)n,
		kineto ? " (PyTorch's profiler records it with enable_cuda_sync_events)" : "");
}

static void note_unrecorded(const struct sync *s, struct gt_table *t)
{
	const struct gt_filter *f = &s->waits.report.opt->filter;
	uint64_t unknown = 0;
	bool lost = false;

	for (size_t i = 0; i < s->n; i++) {
		unknown += gt_waits_has_gpu(&s->waits, s->groups[i].seg, s->groups[i].track)
			? 0
			: s->groups[i].sum.count;
		lost |= s->groups[i].seg->rows[GT_LOST] > 0;
	}
	if (unknown)
		gt_table_note(t,
			"cannot answer for %llu of the waits how long the GPU was busy, nor for frees whether they waited: %s",
			(unsigned long long)unknown,
			f->match ? GT_MATCH_TEXT(
					   s->waits.report.opt, "", " leaves out GPU operations")
				: f->tid ? "--tid leaves out GPU operations"
					 : "no GPU operation was recorded for their process");
	if (lost)
		gt_table_note(t, "events were lost: no wait counts as unnecessary");
	gt_note_plural(t, s->waits.frees_unknown,
		"%llu {free is left out: it|frees are left out: they} may have waited for one of several devices",
		(unsigned long long)s->waits.frees_unknown);
	gt_note_plural(t, s->beyond,
		"%llu {wait|waits} of groups beyond the first %u {is|are} in no row",
		(unsigned long long)s->beyond, GROUPS_MAX);
	gt_note_unordered(t, gt_time_ordered_late(&s->waits.order), "times of the GPU");
}

static int sync_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct sync *s = state;
	int rc = gt_waits_finish(&s->waits, err);
	size_t shown = gt_rows_shown(s->n, s->waits.report.opt->top);

	if (rc)
		return rc;
	tables[0] = gt_report_table(&s->waits.report, "sync", "Waits for the GPU, by call", columns,
		NCOLUMNS,
		"open untold max_at_ns process thread needless_ns gpu_busy_ns max_ns pid tid gpu_idle_ns waits_for",
		err);
	tables[1] = gt_report_table(&s->waits.report, "sync_threads",
		"Waits for the GPU, by thread", thread_columns, NTHREAD,
		"open untold max_at_ns process thread needless_ns max_ns wait_percent gpu_busy_ns gpu_idle_ns pid",
		err);
	if (!tables[0] || !tables[1])
		return err->code;
	GT_SORT(s->groups, s->n, by_total);
	for (size_t i = 0; i < shown; i++)
		add_group(s, tables[0], &s->groups[i]);
	gt_table_note_cut(tables[0], s->n, shown);
	note_no_target(s, tables[0]);
	note_unrecorded(s, tables[0]);
	fill_threads(s, tables[1]);
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
	.help = "waits for the GPU: by call and target, how long, and whether they were necessary",
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
