/* Report "gaps": idle time of GPUs by cause, and the longest gaps. */
#include <stdlib.h>
#include "analyze/idle/sync_targets.h"
#include "analyze/idle/idle.h"
#include "analyze/idle/gap_stacks.h"
#include "analyze/gpu/shared_gpus.h"
#include "formats/base/sorted.h"
#include "formats/names/kernel_names.h"
#include "formats/names/stack_names.h"

struct gaps {
	struct gt_idle *idle;
	struct gt_top_n longest;
	struct gt_sync_targets awaited;
	struct gt_gap_stacks stacks;
	/* string ids: callers of the samples in a gap */
	uint32_t *frames;
	size_t frames_cap;
};
#define SAMPLES 65536u /* of a gap with more, some at equal distances */

static int by_number(const void *pa, const void *pb)
{
	const uint32_t *a = pa, *b = pb;

	return GT_COMPARE(*a, *b);
}

/* The most frequent number, of several the smallest; GT_NONE: n is 0. */
static uint32_t most_frequent(uint32_t *list, size_t n)
{
	uint32_t best = GT_NONE;
	size_t most = 0;

	GT_SORT(list, n, by_number);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && list[end] == list[i]; end++)
			;
		if (end - i > most) {
			most = end - i;
			best = list[i];
		}
	}
	return best;
}

/* The frame (string id) in which the launching thread has most samples in the gap, plus 1; 0: it
 * has none. */
static int find_sampled(
	struct gaps *g, const struct gt_idle_gap *gap, uint64_t *to, struct gt_err *err)
{
	size_t n, have = 0;
	const struct gt_idle_stack *list = gt_idle_gap_samples(g->idle, gap, &n);

	if (n && gt_grow(&g->frames, &g->frames_cap, n < SAMPLES ? n : SAMPLES, sizeof(*g->frames)))
		return gt_err_set(err, -ENOMEM, "out of memory (samples)");
	for (size_t i = 0; i < n && have < SAMPLES; i += n / SAMPLES + 1) {
		uint32_t frame = list[i].stack == GT_NONE
			? GT_NONE
			: gt_stack_caller(gap->seg, list[i].stack);

		if (frame != GT_NONE)
			g->frames[have++] = frame;
	}
	*to = have ? most_frequent(g->frames, have) + 1ull : 0;
	return 0;
}

/* A gap as gt_top_entry: depth is its main cause, ret the share of this cause in hundredths of a
 * percent; type is the next operation; a the operation before it and, in the upper half, the type
 * of the cause (types numbered over all segments); b is the thread and, in the upper half, the
 * stack of the call that ended the gap; c the frame with most samples, plus 1. */
static int on_gap(void *arg, const struct gt_idle_gap *gap, struct gt_err *err)
{
	struct gaps *g = arg;
	int64_t ns = gap->to - gap->from;
	struct gt_top_entry one = { .score = ns,
		.start = gap->from,
		.dur = ns,
		.seg = gap->seg,
		.track = gap->device,
		.type = gap->next.type,
		.depth = (uint8_t)gap->cause,
		.ret = (int32_t)gt_cell_share((uint64_t)gap->slice, (uint64_t)ns).i,
		.a = (uint64_t)gap->type << 32 | gap->before,
		.b = gap->next.thread };

	one.b |= (uint64_t)gt_gap_stacks_of(&g->stacks, &gap->next) << 32;

	if (gap->cause == GT_IDLE_SHORT)
		return 0; /* its cause is not computed */
	if (!gt_top_n_offer(&g->longest, ns))
		return 0;
	return find_sampled(g, gap, &one.c, err) ?: gt_top_n_add(&g->longest, &one, err);
}

static void on_restart(void *arg)
{
	struct gaps *g = arg;

	gt_top_n_release(&g->longest);
	gt_top_n_init(&g->longest, g->idle->report.opt->top);
	gt_sync_targets_reset(&g->awaited);
	gt_gap_stacks_release(&g->stacks);
}

static void on_slice(void *arg, const struct gt_idle_slice *slice)
{
	struct gaps *g = arg;

	gt_sync_targets_slice(&g->awaited, g->idle, slice);
}

static int on_rows(void *arg, const struct gt_cols *cols, struct gt_err *err)
{
	struct gaps *g = arg;

	gt_sync_targets_rows(&g->awaited, g->idle, cols);
	gt_gap_stacks_rows(&g->stacks, g->idle, cols);
	return 0;
}

static int gaps_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct gaps *g = state;

	g->idle = opt->engine;
	gt_idle_listen(g->idle,
		&(struct gt_idle_listener){ .gap = on_gap,
			.slice = on_slice,
			.rows = on_rows,
			.restart = on_restart,
			.arg = g });
	gt_idle_want_shares(g->idle, false);
	gt_top_n_init(&g->longest, opt->top);
	return 0;
}

/* ---- causes ---- */

static const struct gt_column columns[] = {
	{ "cause", "Cause", GT_C_TEXT },
	{ "what", "What", GT_C_TEXT },
	{ "gaps", "Gaps", GT_C_COUNT },
	{ "total_ns", "Time", GT_C_NS },
	{ "share_percent", "Share %", GT_C_PERCENT },
	{ "mean_ns", "Mean", GT_C_NS },
	{ "max_ns", "Longest", GT_C_NS },
	{ "key", NULL, GT_C_TEXT },
};

/* The name of a type, of kernels the short one; NULL: there is none. */
static const char *name_of(const struct gt_idle *s, struct gt_kernel_names *names, uint32_t number)
{
	const struct gt_segment *seg = number == GT_NONE
		? NULL
		: gt_segment_of_number(s->order.types, s->report.reader, number);
	const struct gt_type *type = seg ? &seg->types[number - s->order.types[seg->index]] : NULL;
	const char *text = type ? gt_str(seg, type->name) : NULL;

	return type && type->category == GT_CAT_KERNEL ? gt_kernel_names_shown(names, text) : text;
}

static struct gt_cell name_cell(const char *name)
{
	return name ? gt_cell_text(name) : gt_cell_none();
}

/* Adds up types with one name, which differ in arguments or are of several recordings. */
static void join_names(struct gt_idle *s, struct gt_kernel_names *names)
{
	for (size_t i = 0; i < s->nsums; i++)
		for (size_t k = 0; k < i && s->sums[i].type != GT_NONE; k++) {
			struct gt_idle_sum *a = &s->sums[k], *b = &s->sums[i];

			if (a->cause != b->cause || a->type == GT_NONE ||
				strcmp(name_of(s, names, a->type), name_of(s, names, b->type)))
				continue;
			a->ns = gt_sat_add(a->ns, b->ns);
			a->gaps += b->gaps;
			a->longest = b->longest > a->longest ? b->longest : a->longest;
			*b = s->sums[--s->nsums];
			i--;
			break;
		}
}

static int causes_table(
	struct gt_idle *s, struct gt_table *t, struct gt_kernel_names *names, struct gt_err *err)
{
	size_t shown = 0;
	int64_t *shares;

	join_names(s, names);
	GT_SORT(s->sums, s->nsums, gt_idle_by_time);
	shares = GT_NEW_SHARES(s->sums, s->nsums, ns, err);
	shown = gt_rows_shown(s->nsums, s->report.opt->top);
	for (size_t i = 0; shares && i < shown; i++) {
		const struct gt_idle_sum *one = &s->sums[i];

		gt_table_add(t,
			(struct gt_cell[]){ gt_cell_text(gt_idle_words(one->cause)),
				name_cell(name_of(s, names, one->type)), gt_cell_u(one->gaps),
				gt_cell_u(one->ns), gt_cell_i(shares[i]),
				gt_cell_u(one->ns / one->gaps), gt_cell_i(one->longest),
				gt_cell_text(gt_idle_key(one->cause)) });
	}
	gt_table_note_cut(t, s->nsums, shown);
	free(shares);
	return shares ? 0 : err->code;
}

/* ---- longest gaps ---- */

#define LONGEST                                                                                    \
	GT_WHERE_DEVICE, { "start_ns", "Start", GT_C_TIME }, { "duration_ns", "Gap", GT_C_NS },    \
		{ "cause", "Cause", GT_C_TEXT }, { "cause_percent", "Of gap %", GT_C_PERCENT },    \
		{ "what", "What", GT_C_TEXT }, { "tid", "TID", GT_C_COUNT },                       \
		{ "after", "After", GT_C_TEXT },                                                   \
	{                                                                                          \
		"before", "Before", GT_C_TEXT                                                      \
	}
#define KEY                                                                                        \
	{                                                                                          \
		"key", NULL, GT_C_TEXT                                                             \
	}
#define NLONGEST 13 /* without the lines of the program */
/* by the number of those lines */
static const struct gt_column longest_columns[][NLONGEST + 2] = { { LONGEST, KEY },
	{ LONGEST, { "caller", "Launched in", GT_C_TEXT }, KEY },
	{ LONGEST, { "caller", "Launched in", GT_C_TEXT }, { "sampled", "Samples in", GT_C_TEXT },
		KEY } };

/* The line of the program of a frame. */
static struct gt_cell line_cell(const struct gt_segment *seg, uint32_t frame, struct gt_buf *name)
{
	gt_buf_clear(name);
	if (frame == GT_NONE)
		return gt_cell_none();
	gt_stack_row_name(name, seg, frame, GT_STACK_LINE);
	gt_buf_byte(name, 0);
	return name->failed ? gt_cell_none() : gt_cell_text((const char *)name->data);
}

/* lines: the number of the last columns; text: buffers for their text. */
static void add_longest(const struct gt_idle *s, struct gt_table *t, const struct gt_top_entry *one,
	struct gt_kernel_names *names, unsigned lines, struct gt_buf text[2])
{
	uint32_t first = s->order.tracks[one->seg->index], thread = (uint32_t)one->b;
	struct gt_cell cells[NLONGEST + 2];

	gt_where_device(cells, one->seg, one->track - first);
	cells[4] = gt_cell_time(&s->report, one->seg, one->start);
	cells[5] = gt_cell_i(one->dur);
	cells[6] = gt_cell_text(gt_idle_words(one->depth));
	cells[7] = gt_cell_i(one->ret);
	cells[8] = name_cell(name_of(s, names, (uint32_t)(one->a >> 32)));
	cells[9] =
		thread == GT_NONE ? gt_cell_none() : gt_cell_i(one->seg->tracks[thread - first].id);
	cells[10] = name_cell(name_of(s, names, (uint32_t)one->a));
	cells[11] = name_cell(name_of(s, names, one->type));
	cells[12] = line_cell(one->seg, gt_stack_caller(one->seg, one->b >> 32), &text[0]);
	cells[13] = line_cell(one->seg, one->c ? (uint32_t)(one->c - 1) : GT_NONE, &text[1]);
	cells[12 + lines] = gt_cell_text(gt_idle_key(one->depth));
	gt_table_add(t, cells);
}

static int gaps_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct gaps *g = state;
	struct gt_kernel_names *names =
		gt_kernel_names_of(g->idle->report.reader, g->idle->report.opt->names);
	const char *cannot = gt_idle_why_unanswered(g->idle);
	unsigned lines = gt_has_samples(g->idle->report.reader) ? 2
		: gt_has_stacks(g->idle->report.reader)         ? 1
								: 0;
	struct gt_buf text[2] = { { 0 } };
	int rc = 0;

	tables[0] = gt_table_new("gaps", "Why the GPUs were idle", columns, 8);
	if (!names || !tables[0])
		rc = gt_err_set(err, -ENOMEM, "out of memory (table)");
	if (!rc && cannot) {
		gt_table_set_unanswered(tables[0], "%s", cannot);
		gt_table_note(tables[0], "reports of calls: gtanalyze pauses");
		gt_idle_note_cut(g->idle, tables[0]);
	} else if (!rc) {
		rc = causes_table(g->idle, tables[0], names, err);
		gt_idle_note_gaps(g->idle, tables[0]);
		gt_idle_note_outside(g->idle, tables[0]);
		gt_idle_note_cut(g->idle, tables[0]);
		gt_shared_gpus_note(tables[0], &g->idle->report);
		gt_table_set_hideable(tables[0], "mean_ns max_ns gaps share_percent");
		tables[1] = gt_report_table(&g->idle->report, "longest_gaps", "The longest gaps",
			longest_columns[lines], NLONGEST + lines,
			"process tid cause_percent pid before after what device", err);
		rc = rc ? rc : tables[1] ? 0 : err->code;
	}
	gt_top_n_sort(&g->longest);
	for (size_t i = 0; !rc && tables[1] && i < g->longest.n; i++)
		add_longest(g->idle, tables[1], &g->longest.list[i], names, lines, text);
	if (!rc && tables[1]) {
		gt_note_top_n(tables[1], &g->longest);
		tables[2] = gt_sync_targets_table(&g->awaited, g->idle, err);
		rc = tables[2] ? 0 : err->code;
	}
	gt_kernel_names_free(names);
	gt_buf_release(&text[0]);
	gt_buf_release(&text[1]);
	return rc ? rc : tables[1] ? 3 : 1;
}

static void gaps_release(void *state)
{
	struct gaps *g = state;

	gt_top_n_release(&g->longest);
	gt_sync_targets_release(&g->awaited);
	gt_gap_stacks_release(&g->stacks);
	free(g->frames);
}

const struct gt_analysis gt_gaps_report = {
	.name = "gaps",
	.help = "why GPUs were idle: all idle time by cause, and the longest gaps",
	.wants = GT_IDLE_WANTS,
	.engine = &gt_idle_engine,
	.order = GT_BY_TIME,
	.state_size = sizeof(struct gaps),
	.init = gaps_init,
	.finish = gaps_finish,
	.release = gaps_release,
};
