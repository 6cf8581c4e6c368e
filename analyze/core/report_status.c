/* An empty table may mean that nothing happened, or that nobody looked. The first is an answer, the second is none, and whoever
 * asked by a report's name has to be able to tell them apart, in the text as well as by the exit status. So no report decides that by
 * itself. It declares what it lives on, in its descriptor, and when all reports are finished their tables come by here:
 *
 * - what it needs was not recorded, or may all be lost: cannot answer;
 * - the options leave out what it must see to be right (gaps between kernels of one name are no gaps): cannot answer, and it was
 *   given no rows in the first place;
 * - the options leave no row at all (a process that there is not, a misspelt name), or --tid asks for the thread of what no thread
 *   did: cannot answer;
 * - the options leave rows, and none of those that it is about: "none that matches", an answer, or, where the time they choose was idle
 *   altogether, "nothing matched";
 * - nothing was left out: "none", an answer.
 *
 * The first table of a report decides. If it has no rows and neither have the others, they have nothing to add; if it answers, another
 * one that cannot is a part of the report and not the whole. */
#include "analyze/core/report_status.h"

/* Of a file that another tool wrote, gtcollect's options are no remedy. */
static const struct { unsigned layer; const char *imported, *missing; } layers[] = {
#define MISSING(layer, what, option) { layer, what " not recorded", what " not recorded (gtcollect -e " option ")" }
	MISSING(GT_LAYER_API, "calls were", "api"), MISSING(GT_LAYER_GPU, "what GPUs did was", "gpu"),
	MISSING(GT_LAYER_IOCTL, "ioctls were", "ioctl"), MISSING(GT_LAYER_USER, "the program's ranges were", "nvtx"),
#undef MISSING
};

bool gt_work_lost(struct gt_reader *r)
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
			if (wanted == GT_BIT(GT_LAYER_GPU) && gt_work_lost(r))
				return "events were lost, and there is no record of what GPUs did";
			return gt_has_name_filter(r) ? "none was recorded, and names were left out while recording" : NULL;
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
		gt_table_cannot(t, "%s", why);
}

const char *gt_why_tid(const struct gt_report_state *a)
{
	if (!a->opt->filter.tid || !gt_is_recorded(a->reader, GT_LAYER_GPU))
		return NULL;
	return "--tid leaves out what GPUs did, as no thread did that";
}

static bool is_time_alone(const struct gt_filter *f) { return f->ranged && !f->pid && !f->tid && !f->segment && !f->match; }

const char *gt_why_no_work(const struct gt_report_state *a)
{
	const char *why = gt_why_unrecorded(a->reader, GT_BIT(GT_LAYER_GPU));

	if (!why)
		why = gt_why_tid(a);
	if (!why && a->opt->restrictions)
		why = is_time_alone(&a->opt->filter) ? "no GPU operation is in the time that is chosen" :
						       "no GPU operation is in what the options choose";
	return why ? why : "no GPU did anything";
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

/* Why the report cannot answer, or NULL. */
static const char *why_not(const struct gt_analysis *of, const struct gt_report_state *a, bool empty)
{
	const char *why = empty && of->needs ? gt_why_unrecorded(a->reader, of->needs) : NULL;

	if (!why && gt_is_blocked_by_match(of, a->opt))
		why = "--match leaves work of the GPUs out, and without that the figures would be wrong";
	if (!why && gt_is_selection_empty(a))
		why = "nothing matched";
	if (!why && empty && !(of->wants & ~(GT_BIT(GT_GPU) | GT_BIT(GT_LOST))))
		why = gt_why_tid(a);
	return why;
}

void gt_explain_empty_tables(const struct gt_analysis *of, const struct gt_report_state *a, struct gt_table *const *tables, unsigned n)
{
	bool empty = true;
	const char *why;

	for (unsigned i = 0; i < n; i++)
		empty &= !gt_table_rows(tables[i]);
	if (!n || !of->wants)
		return;
	why = gt_table_answer(tables[0]) == GT_ANSWERED ? why_not(of, a, empty) : NULL;
	if (why)
		gt_table_cannot(tables[0], "%s", why);
	for (unsigned i = 0; i < n; i++) {
		if (i && empty)
			gt_table_follows(tables[i], tables[0]);
		else if (!gt_table_rows(tables[i]) && a->opt->restrictions && gt_table_answer(tables[i]) == GT_ANSWERED)
			gt_table_say(tables[i], a->opt->nothing_selected ? "  nothing matched" : "  none that matches");
		if (gt_table_answer(tables[0]) == GT_ANSWERED)
			gt_table_is_part(tables[i]);
	}
}
