/* Notes of reports on idle time. */
#include <stdio.h>
#include "analyze/core/report_status.h"
#include "analyze/idle/idle.h"
#include "formats/base/numbers.h"

void gt_idle_note_gaps(const struct gt_idle *s, struct gt_table *t)
{
	uint64_t gaps = 0, idle = 0, window = 0;

	for (size_t i = 0; i < s->ndevices; i++) {
		gaps += s->devices[i].gaps;
		idle = gt_sat_add(idle, s->devices[i].idle);
		window = gt_sat_add(window, s->devices[i].window);
	}
	gt_table_note(t, "%llu gap%s, %s of %s%s", (unsigned long long)gaps, gt_plural(gaps, "s"),
		gt_scaled(GT_C_NS, gt_clamp(idle)).text, gt_scaled(GT_C_NS, gt_clamp(window)).text,
		s->ndevices > 1 ? " (of several GPUs: times are added)" : "");
	gt_idle_note_late(s, t);
}

/* ns of the recording before the first and after the last operation, if they are not in the window
 * because of --from or --to. */
static void add_outside(
	const struct gt_idle *s, uint32_t segment, uint64_t *before, uint64_t *after)
{
	const struct gt_segment *seg = gt_reader_segment(s->report.reader, segment);
	const struct gt_gpu_window *window = &s->windows[segment];
	struct gt_gpu_window selected;

	gt_gpu_window_open(&selected, s->report.opt, seg);
	if (!selected.opened && window->from > seg->min_start)
		*before = gt_sat_add(*before, (uint64_t)window->from - (uint64_t)seg->min_start);
	if (!selected.closes && window->to < seg->max_end)
		*after = gt_sat_add(*after, (uint64_t)seg->max_end - (uint64_t)window->to);
}

void gt_idle_note_outside(const struct gt_idle *s, struct gt_table *t)
{
	uint64_t before = 0, after = 0;
	unsigned recordings = 0;
	char first[80] = "", last[80] = "";

	for (uint32_t i = 0; i < gt_reader_segments(s->report.reader); i++)
		if (s->windows[i].opened) {
			add_outside(s, i, &before, &after);
			recordings++;
		}
	if (before)
		snprintf(first, sizeof(first), "%s before the first GPU operation",
			gt_scaled(GT_C_NS, gt_clamp(before)).text);
	if (after)
		snprintf(last, sizeof(last), "%s after the last GPU operation",
			gt_scaled(GT_C_NS, gt_clamp(after)).text);
	if (before || after)
		gt_table_note(t, "not counted: %s%s%s%s; gtanalyze --whole counts it", first,
			before && after ? ", " : "", last,
			recordings > 1 ? " (of several recordings: times are added)" : "");
}

void gt_idle_note_cut(const struct gt_idle *s, struct gt_table *t)
{
	uint64_t cut = 0;

	for (size_t i = 0; i < s->ndevices; i++)
		cut = gt_sat_add(cut, s->devices[i].cause[GT_IDLE_END]);
	if ((cut || (!s->ndevices && !gt_why_unrecorded(s->report.reader, GT_BIT(GT_LAYER_GPU)))) &&
		gt_ends_early(&s->report))
		gt_table_note(t,
			"the operation that ends a gap decides its cause: extend the range to see the cause");
}
