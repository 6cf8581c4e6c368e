/* Report "launches": the cost of launching. Per kernel the time in the calls that launch it, in the
 * queue and on the GPU; kernels that are shorter than their launch; and periods in which a GPU
 * waits for launches (starvation.h).
 *
 * A launch is one call. A kernel launched by itself is a launch under its own name. A graph is one
 * call for all its nodes: its launches are listed under the graph, each call counts once, and a
 * node gets the time of the calls divided by the number of nodes.
 *
 * A launch lasts from the start of its call to the end of the call or of its work on the GPU,
 * whichever is later. Each ns of it is one of three: GPU (from the start of its first operation to
 * the end of the last one), queue (the call has returned, the work has not begun) or call (the
 * rest). So the three shares add up to 100 %, although the durations overlap. Launches overlap each
 * other, so totals over launches are not elapsed time of the program.
 *
 * Without GPU records, the table is made from the calls alone (launches_from_calls.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/core/report_status.h"
#include "analyze/launch/launches_from_calls.h"
#include "analyze/core/durations.h"
#include "analyze/launch/starvation.h"
#include "formats/base/buf.h"
#include "formats/base/sorted.h"
#include "formats/names/kernel_names.h"

#define GROUPS_MAX (1u << 16)

struct group {            /* of launches: of one kernel, or of one graph */
	const char *name; /* borrowed; NULL: a graph */
	uint32_t len;
	const struct gt_segment *seg; /* of a graph */
	uint32_t process;             /* likewise: its track */
	uint64_t graph;               /* likewise: its id */
	uint64_t launches, ops;
	/* ns, whole durations; queued: launches whose work began after their call */
	uint64_t call, queued, queue, gpu;
	/* ns: call_part: neither GPU nor queue; all: call_part, queue and GPU */
	uint64_t call_part, all;
	uint64_t brief, brief_call, brief_gpu; /* launches whose work is shorter than their call */
};
struct launches {
	struct gt_launch_grouping gpu; /* first member: begins with gt_report_state */
	struct gt_call_launches calls;
	struct gt_starvation stretches;
	struct group *list;
	size_t n, cap;
	struct gt_map map;
	/* by type number: 1 + index in list; 0: not seen yet */
	uint32_t *of_type;
};

static bool same_group(const void *arg, uint32_t value, const void *key, size_t len)
{
	const struct group *have = &((const struct launches *)arg)->list[value], *want = key;

	if (!have->name || !want->name)
		return !have->name && !want->name && have->seg == want->seg &&
			have->process == want->process && have->graph == want->graph;
	return have->len == want->len && !memcmp(have->name, want->name, want->len);
}

/* 1 + the group; 0 with err filled in. */
static uint32_t find_group(struct launches *s, const struct group *one, struct gt_err *err)
{
	static const struct group others = { .name = "(all others)",
		.len = sizeof("(all others)") - 1 };
	uint64_t hash = one->name ? gt_hash(one->name, one->len)
				  : gt_hash_u64(one->graph + ((uint64_t)one->process << 40));
	uint32_t i = gt_map_get(&s->map, hash, same_group, s, one, sizeof(*one));

	if (i != UINT32_MAX)
		return i + 1;
	if (s->n >= GROUPS_MAX && one != &others)
		return find_group(s, &others, err);
	if (gt_grow(&s->list, &s->cap, s->n + 1, sizeof(*s->list)) ||
		gt_map_add(&s->map, hash, (uint32_t)s->n))
		return gt_err_set(err, -ENOMEM, "out of memory (kernels)"), 0;
	s->list[s->n++] = *one;
	return (uint32_t)s->n;
}

static uint32_t group_of(struct launches *s, const struct gt_grouped_op *op, struct gt_err *err)
{
	const struct gt_segment *seg = op->seg;
	uint32_t *known = &s->of_type[op->type_number];

	if (op->in_graph)
		return find_group(s,
			&(struct group){ .seg = seg,
				.graph = op->graph,
				.process = gt_track_process(
					seg, op->track - s->gpu.order.tracks[seg->index]) },
			err);
	if (!*known) {
		struct gt_string text = gt_name_text(seg, op->type->name);

		*known = find_group(s, &(struct group){ .name = text.ptr, .len = text.len }, err);
	}
	return *known;
}

static int on_op(void *arg, const struct gt_grouped_op *op, struct gt_err *err)
{
	struct launches *s = arg;

	if (op->launch && !op->launch->mark && (op->in_graph || op->what == GT_GPU_KERNEL)) {
		op->launch->mark = group_of(s, op, err);
		if (!op->launch->mark)
			return err->code;
	}
	return gt_starvation_op(&s->stretches, op, err);
}

static uint64_t since(int64_t from, int64_t to) { return to > from ? (uint64_t)(to - from) : 0; }
static void add(uint64_t *to, uint64_t ns) { *to = gt_sat_add(*to, ns); }

static int on_done(void *arg, const struct gt_launch *l, struct gt_err *err)
{
	struct launches *s = arg;
	struct group *g = l->mark ? &s->list[l->mark - 1] : NULL;
	uint64_t call = since(l->start, l->end), gpu = since(l->work_start, l->work_end),
		 queue = since(l->end, l->work_start);
	/* clocks differ: work that seems to begin before its call begins with the call */
	uint64_t all = since(l->start, l->work_end > l->end ? l->work_end : l->end);
	uint64_t gpu_part = since(l->work_start > l->start ? l->work_start : l->start, l->work_end);

	if (!g) /* a copy or set */
		return 0;
	g->launches++;
	g->ops += l->ops;
	add(&g->call, call);
	add(&g->gpu, gpu);
	add(&g->queue, queue);
	g->queued += l->work_start >= l->end;
	add(&g->all, all);
	add(&g->call_part, all - gpu_part - queue);
	if (gpu >= call)
		return 0;
	g->brief++;
	add(&g->brief_call, call);
	add(&g->brief_gpu, gpu);
	return 0;
}

static int launches_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct launches *s = state;
	int rc = gt_launch_grouping_init(&s->gpu, r, opt, on_op, on_done, err);

	gt_starvation_init(&s->stretches, &s->gpu);
	rc = rc ? rc : gt_call_launches_init(&s->calls, r, opt, err);
	if (rc)
		return rc;
	s->of_type = calloc(s->gpu.order.types[s->gpu.order.nsegs] + 1ul, sizeof(*s->of_type));
	return s->of_type ? 0 : gt_err_set(err, -ENOMEM, "out of memory (kernels)");
}

static int launches_block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	struct launches *s = state;

	if (cols->kind == GT_GPU)
		return gt_launch_grouping_run(&s->gpu, cols, err);
	/* calls are counted only if there are no GPU operations */
	return s->gpu.device ? 0 : gt_call_launches_run(&s->calls, cols, err);
}

/* ---- tables ---- */

static const struct gt_column columns[] = {
	{ "launched", "Launched", GT_C_TEXT },
	{ "launches", "Launches", GT_C_COUNT },
	{ "call_ns", "In calls", GT_C_NS },
	{ "call_mean_ns", "Call mean", GT_C_NS },
	{ "call_per_node_ns", "Call a node", GT_C_NS },
	{ "queue_mean_ns", "Queue mean", GT_C_NS },
	{ "gpu_mean_ns", "GPU mean", GT_C_NS },
	{ "call_percent", "Call %", GT_C_PERCENT },
	{ "queue_percent", "Queue %", GT_C_PERCENT },
	{ "gpu_percent", "GPU %", GT_C_PERCENT },
	{ "short", "Short", GT_C_COUNT },
	{ "queue_ns", NULL, GT_C_NS },
	{ "queued", NULL, GT_C_COUNT },
	{ "gpu_ns", NULL, GT_C_NS },
	{ "all_ns", NULL, GT_C_NS },
	{ "ops", NULL, GT_C_COUNT },
	{ "graph", NULL, GT_C_COUNT },
	{ "pid", NULL, GT_C_COUNT },
	{ "name", NULL, GT_C_TEXT },
};
#define NCOLUMNS (sizeof(columns) / sizeof(*columns))
static const struct gt_column short_columns[] = {
	{ "launched", "Launched", GT_C_TEXT },
	{ "short", "Short", GT_C_COUNT },
	{ "launches", "Of launches", GT_C_COUNT },
	{ "call_mean_ns", "Call mean", GT_C_NS },
	{ "gpu_mean_ns", "GPU mean", GT_C_NS },
	{ "excess_ns", "Beyond GPU", GT_C_NS },
	{ "excess_percent", "Share %", GT_C_PERCENT },
	{ "name", NULL, GT_C_TEXT },
};
#define NSHORT (sizeof(short_columns) / sizeof(*short_columns))

static struct gt_cell pid_of(const struct group *g)
{
	return g->name || g->process == GT_NONE ? gt_cell_none()
						: gt_cell_i(g->seg->tracks[g->process].id);
}

/* The label of a group, in `text` or borrowed from names. */
static const char *label(const struct group *g, struct gt_kernel_names *names, char text[96])
{
	int n;

	if (g->name)
		return gt_kernel_names_shown(names, g->name);
	n = g->graph ? snprintf(text, 96, "graph %llu", (unsigned long long)g->graph)
		     : snprintf(text, 96, "graph");
	if (g->process != GT_NONE)
		n += snprintf(text + n, 96 - (size_t)n, " (pid %lld)",
			(long long)g->seg->tracks[g->process].id);
	snprintf(text + n, 96 - (size_t)n, g->ops % g->launches ? ", %.1f nodes" : ", %.0f nodes",
		(double)g->ops / (double)g->launches);
	return text;
}

static int add_group(
	struct gt_table *t, const struct group *g, const char *text, struct gt_err *err)
{
	uint64_t parts[3] = { g->call_part, g->queue, g->all - g->call_part - g->queue };
	int64_t shares[3];

	if (g->all == UINT64_MAX) /* the sum is saturated: the parts do not add up to it */
		memset(parts, 0, sizeof(parts));
	if (gt_compute_shares(parts, 3, shares, err))
		return -ENOMEM;
	gt_table_add(t,
		(struct gt_cell[NCOLUMNS]){ gt_cell_text(text), gt_cell_u(g->launches),
			gt_cell_u(g->call), gt_cell_mean(g->call, g->launches),
			g->name ? gt_cell_none() : gt_cell_mean(g->call, g->ops),
			gt_cell_mean(g->queue, g->queued), gt_cell_mean(g->gpu, g->launches),
			gt_cell_i(shares[0]), gt_cell_i(shares[1]), gt_cell_i(shares[2]),
			gt_cell_u(g->brief), gt_cell_u(g->queue), gt_cell_u(g->queued),
			gt_cell_u(g->gpu), gt_cell_u(g->all), gt_cell_u(g->ops),
			g->name || !g->graph ? gt_cell_none() : gt_cell_u(g->graph), pid_of(g),
			g->name ? gt_cell_text(g->name) : gt_cell_none() });
	return 0;
}

static int by_name(const struct group *a, const struct group *b)
{
	if (a->name && b->name)
		return gt_compare_texts(a->name, a->len, b->name, b->len);
	return GT_COMPARE(!a->name, !b->name) ?:
		GT_COMPARE(a->graph, b->graph) ?:
		gt_by_place(a->seg, a->process, b->seg, b->process);
}

static int by_call(const void *pa, const void *pb)
{
	const struct group *a = pa, *b = pb;

	return GT_COMPARE(b->call, a->call) ?: by_name(a, b);
}

static uint64_t excess(const struct group *g) { return g->brief_call - g->brief_gpu; }

static int by_excess(const void *pa, const void *pb)
{
	const struct group *a = pa, *b = pb;

	return GT_COMPARE(excess(b), excess(a)) ?: by_name(a, b);
}

static void note_all(const struct launches *s, struct gt_table *t)
{
	struct group all = { .launches = 0 };
	uint64_t graphs = 0;

	for (size_t i = 0; i < s->n; i++) {
		all.launches += s->list[i].launches;
		all.brief += s->list[i].brief;
		add(&all.call, s->list[i].call);
		graphs += s->list[i].name ? 0 : s->list[i].launches;
	}
	if (!s->n)
		return;
	gt_note_plural(t, all.launches,
		"total: %llu {launch|launches}, %llu of them of graphs: %s in calls; %llu short: less time on the GPU than "
		"in the call",
		(unsigned long long)all.launches, (unsigned long long)graphs,
		gt_scaled(GT_C_NS, gt_clamp(all.call)).text, (unsigned long long)all.brief);
	gt_table_note(t,
		"call, queue and GPU %% are shares of the time from the start of the call to the end of call and work");
	if (graphs)
		gt_table_note(t,
			"a graph is one launch; call a node: the time of its calls divided by the number of nodes");
}

/* If one of several recordings has GPU operations, the calls of the others are not counted. */
static void note_no_gpu(const struct launches *s, struct gt_table *t)
{
	for (uint32_t i = 0; s->n && i < gt_reader_segments(s->gpu.report.reader); i++)
		if (s->gpu.windows[i].last == INT64_MIN)
			gt_table_note(t, "%sno GPU operations: its launches are not in this table",
				gt_recording_prefix(
					&s->gpu.report, gt_reader_segment(s->gpu.report.reader, i))
					.text);
}

static int launches_table(
	struct launches *s, struct gt_table *t, struct gt_kernel_names *names, struct gt_err *err)
{
	size_t shown = gt_rows_shown(s->n, s->gpu.report.opt->top);
	char text[96];
	int rc = 0;

	GT_SORT(s->list, s->n, by_call);
	for (size_t i = 0; !rc && i < shown; i++)
		rc = add_group(t, &s->list[i], label(&s->list[i], names, text), err);
	gt_table_note_cut(t, s->n, shown);
	note_all(s, t);
	if (s->n > GROUPS_MAX)
		gt_table_note(t,
			"more than %u different kernels and graphs: further ones are counted together as (all others)",
			GROUPS_MAX);
	gt_launch_grouping_notes(&s->gpu, t, "in no row");
	note_no_gpu(s, t);
	if (s->n)
		gt_table_note(t,
			"queues over time: gtanalyze queues; repeated sequences: gtanalyze patterns");
	return rc;
}

static int short_table(
	struct launches *s, struct gt_table *t, struct gt_kernel_names *names, struct gt_err *err)
{
	uint64_t *parts = calloc(s->n + 1, sizeof(*parts));
	int64_t *shares = calloc(s->n + 1, sizeof(*shares));
	size_t n = 0, shown;
	char text[96];
	int rc = -ENOMEM;

	GT_SORT(s->list, s->n, by_excess);
	while (n < s->n && excess(&s->list[n]))
		n++;
	for (size_t i = 0; parts && i < n; i++)
		parts[i] = excess(&s->list[i]);
	if (parts && shares)
		rc = gt_compute_shares(parts, n, shares, err);
	shown = gt_rows_shown(n, s->gpu.report.opt->top);
	for (size_t i = 0; !rc && i < shown; i++) {
		const struct group *g = &s->list[i];

		gt_table_add(t,
			(struct gt_cell[NSHORT]){ gt_cell_text(label(g, names, text)),
				gt_cell_u(g->brief), gt_cell_u(g->launches),
				gt_cell_mean(g->brief_call, g->brief),
				gt_cell_mean(g->brief_gpu, g->brief), gt_cell_u(excess(g)),
				gt_cell_i(shares[i]),
				g->name ? gt_cell_text(g->name) : gt_cell_none() });
	}
	gt_table_note_cut(t, n, shown);
	free(parts);
	free(shares);
	return rc ? gt_err_set(err, rc, "out of memory (shares)") : 0;
}

static int launches_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct launches *s = state;
	struct gt_kernel_names *names;
	int rc = gt_launch_grouping_finish(&s->gpu, err), more;

	/* not if the options leave out GPU operations */
	if (!rc && gt_default_use_of(s->gpu.report.reader) == GT_DEFAULT_CALLS)
		return (tables[0] = gt_call_launches_table(&s->calls, err)) ? 1 : err->code;
	if (rc)
		return rc;
	names = gt_kernel_names_of(s->gpu.report.reader, s->gpu.report.opt->names);
	tables[0] = gt_report_table(&s->gpu.report, "launch_times",
		"Launches: call, queue and GPU time, by time in the launching calls", columns,
		NCOLUMNS,
		"call_per_node_ns call_percent gpu_percent queue_percent queue_mean_ns short call_mean_ns",
		err);
	tables[1] = gt_report_table(&s->gpu.report, "short_launches",
		"Kernels shorter than their launch", short_columns, NSHORT,
		"share_percent launches gpu_mean_ns call_mean_ns", err);
	if (!names || !tables[0] || !tables[1])
		rc = gt_err_set(err, -ENOMEM, "out of memory (kernels)");
	if (!rc && !s->gpu.ops && gt_why_tid_excludes_work(&s->gpu.report))
		gt_table_set_unanswered(tables[0], "%s", gt_why_tid_excludes_work(&s->gpu.report));
	rc = rc ? rc : launches_table(s, tables[0], names, err);
	rc = rc ? rc : short_table(s, tables[1], names, err);
	gt_kernel_names_free(names);
	more = rc ? rc : gt_starvation_tables(&s->stretches, tables + 2, err);
	return more < 0 ? more : 2 + more;
}

static void launches_release(void *state)
{
	struct launches *s = state;

	gt_launch_grouping_release(&s->gpu);
	gt_call_launches_release(&s->calls);
	gt_starvation_release(&s->stretches);
	free(s->list);
	free(s->of_type);
	gt_map_release(&s->map);
}

const struct gt_analysis gt_launches_report = {
	.name = "launches",
	.help = "cost of launches: call, queue and GPU time by kernel, short kernels, periods in which the GPU waits for launches",
	.wants = GT_BIT(GT_CALL) | GT_BIT(GT_GPU),
	.needs = GT_LAYERS_OF_CALLS | GT_BIT(GT_LAYER_GPU),
	.wants_args = true,
	.order = GT_BY_TIME,
	.state_size = sizeof(struct launches),
	.init = launches_init,
	.block = launches_block,
	.finish = launches_finish,
	.release = launches_release,
};
