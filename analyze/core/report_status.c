/* Explains tables without rows.
 *
 * An empty table means either that nothing happened (an answer), or that nothing was recorded
 * (no answer). A user who named the report must be able to tell them apart, in text and by exit
 * status. Reports do not decide this themselves. Their descriptor names the data that they need,
 * and after finish() their tables are checked here:
 * - the data that the report needs was not recorded, or all of it may be lost: cannot answer;
 * - the options leave out rows that the report needs to be correct (gaps between kernels of one
 * name are not GPU gaps): cannot answer, and it got no rows;
 * - the options leave no row at all (no such process, a misspelt name), or --tid selects a
 * thread for data that no thread has: cannot answer;
 * - the options leave rows, but none for this report: "none that matches", an answer; or
 * "nothing matched" if the selected time range is idle;
 * - no option leaves rows out: "none", an answer.
 * The first table of a report decides. If neither it nor the others have rows, the others are
 * not explained. If the first one answers, another table that cannot is only a part of the
 * report. */
#include "analyze/core/report_status.h"

/* For a file of another tool, gtcollect's options do not help. */
static const struct {
	unsigned layer;
	const char *imported, *missing;
} layers[] = {
#define MISSING(layer, what, option)                                                               \
	{                                                                                          \
		layer, what " not recorded", what " not recorded (gtcollect -e " option ")"        \
	}
	MISSING(GT_LAYER_API, "calls were", "api"),
	MISSING(GT_LAYER_GPU, "what GPUs did was", "gpu"),
	MISSING(GT_LAYER_IOCTL, "ioctls were", "ioctl"),
	MISSING(GT_LAYER_USER, "the program's ranges were", "nvtx"),
	MISSING(GT_LAYER_SCHED, "switches of threads were", "sched"),
#undef MISSING
	{ GT_LAYER_SYSCALL, "system calls were not recorded",
		"system calls are not recorded: gt reads those of strace" },
};

bool gt_has_lost_work(struct gt_reader *r)
{
	uint64_t lost = 0, work = 0;

	for (uint32_t i = 0; i < gt_reader_segments(r); i++) {
		lost += gt_reader_segment(r, i)->rows[GT_LOST];
		work += gt_reader_segment(r, i)->rows[GT_GPU];
	}
	return lost && !work;
}

const char *gt_why_unrecorded(struct gt_reader *r, unsigned wanted)
{
	for (unsigned l = 0; l < GT_LAYER_COUNT; l++)
		if (wanted & GT_BIT(l) && gt_is_recorded(r, l)) {
			if (wanted == GT_BIT(GT_LAYER_GPU) && gt_has_lost_work(r))
				return "events were lost, and no GPU record is left";
			return gt_has_name_filter(r)
				? "none was recorded, and a filter left out names while recording"
				: NULL;
		}
	for (unsigned i = 0; i < sizeof(layers) / sizeof(*layers) && ~wanted; i++)
		if (wanted & GT_BIT(layers[i].layer))
			return gt_is_imported(r) ? layers[i].imported : layers[i].missing;
	return "nothing was recorded";
}

void gt_note_unrecorded(struct gt_table *t, struct gt_reader *r, unsigned wanted)
{
	const char *why = gt_table_rows(t) ? NULL : gt_why_unrecorded(r, wanted);

	if (why)
		gt_table_set_unanswered(t, "%s", why);
}

const char *gt_why_tid_excludes_work(const struct gt_report_state *a)
{
	if (!a->opt->filter.tid || !gt_is_recorded(a->reader, GT_LAYER_GPU))
		return NULL;
	return "--tid leaves out all GPU operations: they belong to no thread";
}

static bool is_time_alone(const struct gt_filter *f)
{
	return f->ranged && !f->pid && !f->tid && !f->segment && !f->match;
}

const char *gt_why_no_work(const struct gt_report_state *a)
{
	const char *why = gt_why_unrecorded(a->reader, GT_BIT(GT_LAYER_GPU));

	if (!why)
		why = gt_why_tid_excludes_work(a);
	if (!why && a->opt->restrictions)
		why = is_time_alone(&a->opt->filter)
			? "no GPU operation is in the selected time range"
			: "no GPU operation matches the options";
	return why ? why : "no GPU operation was recorded";
}

bool gt_begins_late(const struct gt_report_state *a)
{
	bool late = false;

	for (uint32_t i = 0; i < gt_reader_segments(a->reader); i++) {
		const struct gt_segment *seg = gt_reader_segment(a->reader, i);

		late |= gt_range_of(&a->opt->filter, seg).from > seg->min_start;
	}
	return late;
}

bool gt_ends_early(const struct gt_report_state *a)
{
	bool early = false;

	for (uint32_t i = 0; i < gt_reader_segments(a->reader); i++) {
		const struct gt_segment *seg = gt_reader_segment(a->reader, i);

		early |= gt_range_of(&a->opt->filter, seg).to <= seg->max_end;
	}
	return early;
}

bool gt_is_blocked_by_match(const struct gt_analysis *a, const struct gt_analysis_options *opt)
{
	return a->needs_unfiltered && opt->filter.match;
}

/* The reason why the report cannot answer, or NULL. */
static const char *why_not(
	const struct gt_analysis *of, const struct gt_report_state *a, bool empty)
{
	const char *why = empty && of->needs ? gt_why_unrecorded(a->reader, of->needs) : NULL;

	if (!why && gt_is_blocked_by_match(of, a->opt))
		why = GT_MATCH_TEXT(a->opt, "",
			" leaves out GPU operations, and this report needs all of them");
	if (!why && gt_is_selection_empty(a))
		why = "nothing matched";
	if (!why && empty && !(of->wants & ~(GT_BIT(GT_GPU) | GT_BIT(GT_LOST))))
		why = gt_why_tid_excludes_work(a);
	return why;
}

void gt_explain_empty_tables(const struct gt_analysis *of, const struct gt_report_state *a,
	struct gt_table *const *tables, unsigned n)
{
	bool empty = true;
	const char *why;

	for (unsigned i = 0; i < n; i++)
		empty &= !gt_table_rows(tables[i]);
	if (!n || !of->wants)
		return;
	why = gt_table_answer(tables[0]) == GT_ANSWERED ? why_not(of, a, empty) : NULL;
	if (why)
		gt_table_set_unanswered(tables[0], "%s", why);
	for (unsigned i = 0; i < n; i++) {
		if (i && empty)
			gt_table_share_answer(tables[i], tables[0]);
		else if (!gt_table_rows(tables[i]) && a->opt->restrictions &&
			gt_table_answer(tables[i]) == GT_ANSWERED)
			gt_table_add_line(tables[i],
				a->opt->nothing_selected ? "  nothing matched"
							 : "  none that matches");
		if (gt_table_answer(tables[0]) == GT_ANSWERED)
			gt_table_set_part(tables[i]);
	}
}
