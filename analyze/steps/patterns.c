/* Report "patterns": repeated launches by stream: runs of one kernel, and sequences of three to
 * eight launches that repeat (sequences.h). A program that spends its time in launches gets faster
 * with fewer of them: a repeated sequence can be captured into a CUDA graph, a run of small kernels
 * can be merged into one. Work of graphs is counted separately; it ends runs and sequences.
 *
 * The operations of a stream are taken in order of start. A run is a longest sequence of operations
 * of the same kernel; copies and sets end it. Sequences consist of kernels, copies and sets, each
 * by its name. */
#include <stdlib.h>
#include <string.h>
#include "analyze/launch/launch_grouping.h"
#include "analyze/stats/name_interner.h"
#include "analyze/steps/sequences.h"
#include "formats/base/buf.h"
#include "formats/base/sorted.h"
#include "formats/names/kernel_names.h"

#define NAMES_MAX (1u << 17)
#define LANES_MAX (1u << 16) /* 24 MiB */

struct name {             /* of operations; kernels have figures about runs */
	const char *text; /* borrowed */
	uint32_t len;
	bool kernel;
	uint64_t launches, in_runs, runs, longest, longest_ns;
	int64_t longest_at;
	const struct gt_segment *longest_seg;
	uint32_t longest_track; /* of the segment */
};
struct lane { /* a stream */
	const struct gt_segment *seg;
	uint32_t track, device; /* of the segment */
	uint64_t kernels, copies, sets, in_graphs, graphs, in_runs;
	uint32_t run_name;
	uint64_t run, run_ns; /* of the current run: launches, time in their calls */
	int64_t run_at;
	struct gt_sequence_tail tail;
};
struct patterns {
	struct gt_launch_grouping gpu; /* first member: begins with gt_report_state */
	struct gt_name_interner ids;
	struct name *names; /* by number */
	struct lane *lanes;
	size_t nnames, names_cap, nlanes, lanes_cap;
	uint64_t beyond; /* operations on streams beyond LANES_MAX */
	struct gt_sequences sequences;
	uint32_t *lane; /* by track number: 1 + index */
};

/* ---- names and streams ---- */

/* 1 + the name of a type; 0 with err filled in. */
static uint32_t name_of(struct patterns *p, const struct gt_grouped_op *op, struct gt_err *err)
{
	bool kernel = op->what == GT_GPU_KERNEL;
	uint32_t type = op->type_number - p->gpu.order.types[op->seg->index];
	uint32_t i = gt_name_interner_type(&p->ids, op->type_number, op->seg, type, kernel, err);

	if (i == GT_NONE)
		return 0;
	if (i == p->nnames) {
		if (gt_grow(&p->names, &p->names_cap, p->nnames + 1, sizeof(*p->names)))
			return gt_err_set(err, -ENOMEM, "out of memory (kernels)"), 0;
		p->names[p->nnames++] = (struct name){
			.text = p->ids.list[i].text, .len = p->ids.list[i].len, .kernel = kernel
		};
	}
	return 1 + i;
}

static struct lane *lane_of(struct patterns *p, const struct gt_grouped_op *op, struct gt_err *err)
{
	uint32_t *known = &p->lane[op->track], first = p->gpu.order.tracks[op->seg->index];

	if (!*known) {
		if (gt_grow(&p->lanes, &p->lanes_cap, p->nlanes + 1, sizeof(*p->lanes))) {
			gt_err_set(err, -ENOMEM, "out of memory (streams)");
			return NULL;
		}
		p->lanes[p->nlanes++] = (struct lane){
			.seg = op->seg, .track = op->track - first, .device = op->device - first
		};
		*known = (uint32_t)p->nlanes;
	}
	return &p->lanes[*known - 1];
}

static bool is_beyond(const struct patterns *p, const struct gt_grouped_op *op)
{
	return !p->lane[op->track] && p->nlanes == LANES_MAX;
}

/* ---- runs ---- */

static void end_run(struct patterns *p, struct lane *l)
{
	struct name *name = &p->names[l->run_name];

	if (l->run >= 2) {
		name->runs++;
		name->in_runs += l->run;
		l->in_runs += l->run;
	}
	if (l->run > name->longest) {
		name->longest = l->run;
		name->longest_ns = l->run_ns;
		name->longest_at = l->run_at;
		name->longest_seg = l->seg;
		name->longest_track = l->track;
	}
	l->run = 0;
}

static void add_to_run(
	struct patterns *p, struct lane *l, uint32_t name, int64_t at, uint64_t call_ns)
{
	if (l->run && l->run_name != name)
		end_run(p, l);
	if (!p->names[name].kernel)
		return;
	if (!l->run) {
		l->run_name = name;
		l->run_at = at;
		l->run_ns = 0;
	}
	l->run++;
	l->run_ns = gt_sat_add(l->run_ns, call_ns);
	p->names[name].launches++;
}

/* ---- rows ---- */

static int on_op(void *arg, const struct gt_grouped_op *op, struct gt_err *err)
{
	struct patterns *p = arg;
	struct lane *l;
	uint32_t name;
	uint64_t call_ns = op->first ? (uint64_t)(op->launch->end - op->launch->start) : 0;

	if (op->what == GT_GPU_OTHER && !op->in_graph)
		return 0;
	if (is_beyond(p, op)) {
		p->beyond++;
		return 0;
	}
	if (!(l = lane_of(p, op, err)))
		return -ENOMEM;
	if (op->in_graph) {
		l->in_graphs++;
		l->graphs += op->first;
		if (l->run)
			end_run(p, l);
		gt_sequences_break(&l->tail);
		return 0;
	}
	if (!(name = name_of(p, op, err)))
		return err->code;
	++*(op->what == GT_GPU_KERNEL             ? &l->kernels
			: op->what == GT_GPU_COPY ? &l->copies
						  : &l->sets);
	/* too many names: it is unknown whether this one equals the one before */
	if (name > NAMES_MAX) {
		if (l->run)
			end_run(p, l);
		gt_sequences_break(&l->tail);
		return 0;
	}
	add_to_run(p, l, name - 1, op->start, call_ns);
	return gt_sequences_add(&p->sequences, &l->tail, (uint32_t)(l - p->lanes),
		&(struct gt_sequence_launch){ name - 1, op->start, call_ns }, err);
}

static int patterns_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct patterns *p = state;
	int rc = gt_launch_grouping_init(&p->gpu, r, opt, on_op, NULL, err);
	const struct gt_time_ordered *order = &p->gpu.order;

	if (rc)
		return rc;
	p->lane = calloc(order->tracks[order->nsegs] + 1ul, sizeof(*p->lane));
	if (!p->lane)
		return gt_err_set(err, -ENOMEM, "out of memory (streams)");
	return gt_name_interner_init(&p->ids, order->types[order->nsegs], NAMES_MAX, err);
}

static int patterns_block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	return gt_launch_grouping_run(&((struct patterns *)state)->gpu, cols, err);
}

/* ---- tables ---- */

static const struct gt_column stream_columns[] = {
	GT_WHERE_STREAM,
	{ "kernels", "Kernels", GT_C_COUNT },
	{ "in_runs", "In runs", GT_C_COUNT },
	{ "in_runs_percent", "Share %", GT_C_PERCENT },
	{ "copies", "Copies", GT_C_COUNT },
	{ "sets", "Sets", GT_C_COUNT },
	{ "in_graphs", "Of graphs", GT_C_COUNT },
	{ "graph_launches", "Graph launches", GT_C_COUNT },
};
#define NSTREAM (sizeof(stream_columns) / sizeof(*stream_columns))
static const struct gt_column run_columns[] = {
	{ "kernel", "Kernel", GT_C_TEXT },
	{ "launches", "Launches", GT_C_COUNT },
	{ "in_runs", "In runs", GT_C_COUNT },
	{ "in_runs_percent", "Share %", GT_C_PERCENT },
	{ "runs", "Runs", GT_C_COUNT },
	{ "longest", "Longest", GT_C_COUNT },
	{ "longest_call_ns", "Its call time", GT_C_NS },
	{ "longest_at_ns", "Longest at", GT_C_TIME },
	{ "longest_stream", "Stream", GT_C_COUNT },
	{ "name", NULL, GT_C_TEXT },
};
#define NRUN (sizeof(run_columns) / sizeof(*run_columns))
static const struct gt_column sequence_columns[] = {
	GT_WHERE_STREAM,
	{ "times", "Times", GT_C_COUNT },
	{ "length", "Length", GT_C_COUNT },
	{ "launches", "Launches", GT_C_COUNT },
	{ "share_percent", "Share %", GT_C_PERCENT },
	{ "call_ns", "In calls", GT_C_NS },
	{ "sequence", "Sequence", GT_C_WHOLE },
	{ "first_ns", NULL, GT_C_TIME },
	{ "kernels", NULL, GT_C_TEXT },
	{ "kernel_list", NULL, GT_C_DATA },
};
#define NSEQUENCE (sizeof(sequence_columns) / sizeof(*sequence_columns))

static struct gt_cell stream_id(const struct gt_segment *seg, uint32_t track)
{
	return seg->tracks[track].kind == GT_TRACK_DEVICE ? gt_cell_none()
							  : gt_cell_i(seg->tracks[track].id);
}

static void add_stream(struct gt_table *t, const struct lane *l)
{
	struct gt_cell cells[NSTREAM];

	gt_where_device(cells, l->seg, l->track);
	cells[4] = stream_id(l->seg, l->track);
	cells[5] = gt_cell_u(l->kernels);
	cells[6] = gt_cell_u(l->in_runs);
	cells[7] = gt_cell_share(l->in_runs, l->kernels);
	cells[8] = gt_cell_u(l->copies);
	cells[9] = gt_cell_u(l->sets);
	cells[10] = gt_cell_u(l->in_graphs);
	cells[11] = gt_cell_u(l->graphs);
	gt_table_add(t, cells);
}

static int by_stream(const void *pa, const void *pb)
{
	const struct lane *a = *(const struct lane *const *)pa,
			  *b = *(const struct lane *const *)pb;

	return gt_by_stream(a->seg, a->device, a->track, b->seg, b->device, b->track);
}

static int streams_table(const struct patterns *p, struct gt_table *t, struct gt_err *err)
{
	/* sequences refer to streams by their index before sorting */
	const struct lane **list = calloc(p->nlanes + 1, sizeof(*list));
	size_t shown = gt_rows_shown(p->nlanes, p->gpu.report.opt->top);

	if (!list)
		return gt_err_set(err, -ENOMEM, "out of memory (streams)");
	for (size_t i = 0; i < p->nlanes; i++)
		list[i] = &p->lanes[i];
	GT_SORT(list, p->nlanes, by_stream);
	for (size_t i = 0; i < shown; i++)
		add_stream(t, list[i]);
	gt_table_note_cut(t, p->nlanes, shown);
	free(list);
	return 0;
}

static int by_runs(const void *pa, const void *pb)
{
	const struct name *a = *(const struct name *const *)pa,
			  *b = *(const struct name *const *)pb;

	return GT_COMPARE(b->in_runs, a->in_runs)
		?: gt_compare_texts(a->text, a->len, b->text, b->len);
}

static void add_run_row(const struct patterns *p, struct gt_table *t, struct gt_kernel_names *names,
	const struct name *n)
{
	const struct gt_report_state *a = &p->gpu.report;

	gt_table_add(t,
		(struct gt_cell[NRUN]){ gt_cell_text(gt_kernel_names_shown(names, n->text)),
			gt_cell_u(n->launches), gt_cell_u(n->in_runs),
			gt_cell_share(n->in_runs, n->launches), gt_cell_u(n->runs),
			gt_cell_u(n->longest), gt_cell_u(n->longest_ns),
			gt_cell_time(a, n->longest_seg, n->longest_at),
			stream_id(n->longest_seg, n->longest_track), gt_cell_text(n->text) });
}

/* Names with runs, the most launches in runs first. */
static int runs_table(const struct patterns *p, struct gt_table *t, struct gt_kernel_names *names,
	struct gt_err *err)
{
	const struct name **list = calloc(p->nnames + 1, sizeof(*list));
	size_t n = 0, shown;

	if (!list)
		return gt_err_set(err, -ENOMEM, "out of memory (kernels)");
	for (size_t i = 0; i < p->nnames; i++)
		if (p->names[i].runs)
			list[n++] = &p->names[i];
	GT_SORT(list, n, by_runs);
	shown = gt_rows_shown(n, p->gpu.report.opt->top);
	for (size_t i = 0; i < shown; i++)
		add_run_row(p, t, names, list[i]);
	gt_table_note_cut(t, n, shown);
	free(list);
	return 0;
}

/* ---- sequences ---- */

/* The length to which text shortens kernel names in a sequence. */
static size_t name_length(const struct gt_analysis_options *opt)
{
	if (!opt->width && opt->names != GT_NAME_SHORT)
		return SIZE_MAX; /* the output is read by a program */
	return !opt->width || opt->width >= 160 ? 40 : opt->width >= 110 ? 30 : 20;
}

/* Kernel names longer than `most` are shortened in the middle. */
static void put_names(const struct patterns *p, const struct gt_sequence *s,
	struct gt_kernel_names *names, struct gt_buf *b, size_t most)
{
	for (uint32_t i = GT_SEQUENCE_LONGEST - s->n; i < GT_SEQUENCE_LONGEST; i++) {
		const struct name *n = &p->names[s->names[i]];
		const char *text = n->kernel ? gt_kernel_names_shown(names, n->text) : n->text;
		size_t len = strlen(text);

		gt_buf_str(b, i > GT_SEQUENCE_LONGEST - s->n ? "; " : "");
		if (!n->kernel || len <= most)
			gt_buf_str(b, text);
		else
			gt_buf_printf(b, "%.*s..%s", (int)(most - 2) / 3, text,
				text + len - (most - 2 - (most - 2) / 3));
	}
	gt_buf_byte(b, 0);
}

static void put_name_list(const struct patterns *p, const struct gt_sequence *s,
	struct gt_kernel_names *names, struct gt_out *to)
{
	for (uint32_t i = GT_SEQUENCE_LONGEST - s->n; i < GT_SEQUENCE_LONGEST; i++) {
		const struct name *n = &p->names[s->names[i]];
		const char *text = n->kernel ? gt_kernel_names_shown(names, n->text) : n->text;

		gt_add_to_list(to, text, strlen(text));
	}
	gt_end_list(to);
}

static int add_row(const struct patterns *p, struct gt_table *t, const struct gt_sequence *s,
	struct gt_kernel_names *names)
{
	const struct gt_report_state *a = &p->gpu.report;
	const struct lane *l = &p->lanes[s->stream];
	struct gt_buf some = { 0 }, all = { 0 };
	struct gt_cell cells[NSEQUENCE];
	struct gt_out list;
	bool failed;

	gt_out_memory(&list);
	put_name_list(p, s, names, &list);
	put_names(p, s, names, &some, name_length(a->opt));
	put_names(p, s, names, &all, SIZE_MAX);
	failed = some.failed || all.failed || list.failed;
	gt_where_device(cells, l->seg, l->track);
	cells[4] = stream_id(l->seg, l->track);
	cells[5] = gt_cell_u(s->count);
	cells[6] = gt_cell_u(s->n);
	cells[7] = gt_cell_u(s->count * s->n);
	cells[8] = gt_cell_share(s->count * s->n, l->tail.n);
	cells[9] = gt_cell_u(s->call_ns);
	cells[10] = gt_cell_text(failed ? "?" : (const char *)some.data);
	cells[11] = gt_cell_time(a, l->seg, s->first_at);
	cells[12] = gt_cell_text(failed ? "?" : (const char *)all.data);
	cells[13] = gt_cell_text(failed ? "[]" : list.data);
	if (!failed)
		gt_table_add(t, cells);
	gt_buf_release(&some);
	gt_buf_release(&all);
	gt_out_close(&list, NULL);
	return failed ? -ENOMEM : 0;
}

static int sequences_table(
	struct patterns *p, struct gt_table *t, struct gt_kernel_names *names, struct gt_err *err)
{
	size_t shown;
	int rc = gt_sequences_select(&p->sequences, err);

	shown = gt_rows_shown(p->sequences.n, p->gpu.report.opt->top);
	for (size_t i = 0; !rc && i < shown; i++)
		if (add_row(p, t, &p->sequences.list[i], names))
			rc = gt_err_set(err, -ENOMEM, "out of memory (sequences)");
	gt_table_note_cut(t, p->sequences.n, shown);
	return rc;
}

static void add_notes(const struct patterns *p, struct gt_table **tables)
{
	const struct gt_launch_grouping *l = &p->gpu;
	uint64_t unjoined = l->unjoined;

	for (int i = 0; i < 3; i++)
		gt_launch_grouping_note_unrecorded(l, tables[i]);
	if (!p->nlanes)
		return;
	gt_table_note(tables[0],
		"kernels, copies and sets without those of graphs; work of graphs is counted as graphs, and is in no run "
		"and no sequence");
	gt_table_note(
		tables[2], "a run: two or more consecutive launches of one kernel on a stream");
	gt_table_note(tables[1],
		"repetitions do not overlap; of sequences with three launches in a row in common only the best is "
		"shown");
	gt_note_joins(tables[1], l->ops, "kernels, copies and sets", unjoined,
		"an unknown call counts as 0 ns", 0);
	gt_note_unordered(tables[0], gt_time_ordered_late(&l->order), "runs and sequences");
	gt_note_plural(tables[0], p->beyond,
		"more than %u streams: %llu {operation|operations} on further ones {is|are} left "
		"out",
		LANES_MAX, (unsigned long long)p->beyond);
	if (gt_name_interner_has_rest(&p->ids))
		gt_table_note(tables[1],
			"more than %u different operations: further ones are in no run and no sequence",
			NAMES_MAX);
	gt_note_plural(tables[1], p->sequences.forgotten,
		"too many different sequences: %llu that had occurred once {was|were} dropped; if {it|one of them} occurs again, "
		"its count is too low by 1",
		(unsigned long long)p->sequences.forgotten);
	if (p->sequences.missed)
		gt_table_note(
			tables[1], "too many different sequences: the last ones were not counted");
}

static int patterns_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct patterns *p = state;
	const char *why = GT_MATCH_TEXT(
		p->gpu.report.opt, "sequences need all operations (", " leaves some out)");
	unsigned cannot = 0;
	struct gt_kernel_names *names;
	int rc = gt_launch_grouping_finish(&p->gpu, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < p->nlanes; i++)
		if (p->lanes[i].run)
			end_run(p, &p->lanes[i]);
	tables[0] = gt_report_table(&p->gpu.report, "launching_streams", "Launches by stream",
		stream_columns, NSTREAM,
		"process sets copies graph_launches in_runs_percent in_runs pid device", err);
	tables[1] = gt_report_table(&p->gpu.report, "sequences",
		"Repeated sequences, by the number of launches they cover", sequence_columns,
		NSEQUENCE, "process share_percent stream launches pid device", err);
	tables[2] = gt_report_table(&p->gpu.report, "runs",
		"Runs of the same kernel, by the number of launches in runs", run_columns, NRUN,
		"longest_stream longest_at_ns in_runs_percent longest_call_ns launches runs", err);
	if (!tables[0] || !tables[1] || !tables[2])
		return err->code;
	for (int i = 0; i < 3; i++)
		cannot |= gt_launch_grouping_is_blocked(&p->gpu, tables[i], why);
	if (cannot)
		return 3;
	names = gt_kernel_names_of(p->gpu.report.reader, p->gpu.report.opt->names);
	rc = names ? streams_table(p, tables[0], err)
		   : gt_err_set(err, -ENOMEM, "out of memory (names)");
	rc = rc ? rc : runs_table(p, tables[2], names, err);
	rc = rc ? rc : sequences_table(p, tables[1], names, err);
	gt_kernel_names_free(names);
	add_notes(p, tables);
	return rc ? rc : 3;
}

static void patterns_release(void *state)
{
	struct patterns *p = state;

	free(p->names);
	free(p->lanes);
	free(p->lane);
	gt_name_interner_release(&p->ids);
	gt_sequences_release(&p->sequences);
	gt_launch_grouping_release(&p->gpu);
}

const struct gt_analysis gt_patterns_report = {
	.name = "patterns",
	.help = "repeated launches: runs of one kernel, repeated sequences, and launches of graphs",
	.wants = GT_BIT(GT_GPU),
	.needs = GT_BIT(GT_LAYER_GPU),
	.wants_args = true,
	.order = GT_BY_TIME,
	.state_size = sizeof(struct patterns),
	.init = patterns_init,
	.block = patterns_block,
	.finish = patterns_finish,
	.release = patterns_release,
};
