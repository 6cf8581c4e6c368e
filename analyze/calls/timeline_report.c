/* A timeline for a terminal: one strip per thread that shows when it was busy, and the first
 * calls in order of time, indented by depth. Strips count the union of the selected calls, also
 * if --match or a loss removed the outer call of a nested one. This needs calls in order of
 * their start, so they go through time_merge. A strip takes 0.5 KiB, and the first STRIPS_MAX
 * threads have one; --top limits the list. On a narrow terminal a character shows several cells. */
#include <stdlib.h>
#include "analyze/columns/top_n.h"
#include "analyze/core/report.h"
#include "analyze/core/busy_strip.h"
#include "analyze/order/time_ordered.h"

#define STRIPS_MAX 32768u /* 16 MiB */

struct segment {
	struct gt_busy_strip_window window;
	struct gt_busy_strip **strips; /* one per track; NULL: no calls */
};
struct state {
	struct gt_report_state report;
	struct segment *segments;
	uint32_t nsegments;
	struct gt_time_ordered order;
	uint32_t nstrips;
	uint64_t undrawn;      /* calls of threads without a strip */
	struct gt_top_n calls; /* .a: 1 if still open */
};

/* ---- rows ---- */

static int add_to_strip(void *arg, const struct gt_moment *m, struct gt_err *err)
{
	struct state *s = arg;
	const struct gt_segment *seg = gt_time_ordered_segment(&s->order, s->report.reader, m);
	struct segment *own = &s->segments[seg->index];
	struct gt_busy_strip **strip = &own->strips[m->place - s->order.tracks[seg->index]];

	if (!*strip && s->nstrips == STRIPS_MAX) {
		s->undrawn++;
		return 0;
	}
	s->nstrips += !*strip;
	if (!*strip && !(*strip = calloc(1, sizeof(**strip))))
		return gt_err_set(err, -ENOMEM, "out of memory (timeline of a thread)");
	gt_busy_strip_add(*strip, &own->window, m->at, m->end);
	return 0;
}

static int timeline_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct state *s = state;
	uint32_t n = gt_reader_segments(r);

	s->report = (struct gt_report_state){ r, opt };
	if (gt_time_ordered_init(&s->order, r, add_to_strip, s, err))
		return err->code;
	gt_top_n_init(&s->calls, opt->top);
	s->segments = calloc(n + 1ul, sizeof(*s->segments));
	for (; s->segments && s->nsegments < n; s->nsegments++) {
		const struct gt_segment *seg = gt_reader_segment(r, s->nsegments);
		struct segment *own = &s->segments[s->nsegments];

		s->order.lines[s->nsegments].by_place = true;
		own->window = gt_busy_strip_window(opt, seg);
		own->strips = calloc(seg->ntracks + 1ul, sizeof(*own->strips));
		if (!own->strips)
			break;
	}
	return s->nsegments == n ? 0 : gt_err_set(err, -ENOMEM, "out of memory (timeline)");
}

static int list_calls(struct state *s, const struct gt_cols *cols, struct gt_err *err)
{
	for (uint32_t i = 0; i < cols->n; i++) {
		/* earlier is better */
		int64_t score = ~gt_time_since_origin(&s->report, cols->seg, cols->start[i]);
		struct gt_top_entry one;

		if (!gt_top_n_offer(&s->calls, score)) {
			/* the following rows are later */
			gt_top_n_skip(&s->calls, cols->n - i - 1);
			break;
		}
		one = gt_top_entry_of_row(cols, i, score);
		one.a = cols->kind == GT_OPEN;
		if (gt_top_n_add(&s->calls, &one, err))
			return -ENOMEM;
	}
	return 0;
}

static int timeline_block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	struct state *s = state;

	return gt_time_ordered_run(&s->order, cols, err) ? list_calls(s, cols, err) : err->code;
}

/* ---- tables ---- */

static const struct gt_column columns[] = {
	GT_WHERE_PROCESS,
	GT_WHERE_THREAD,
	{ "strip", "Busy when", GT_C_WHOLE },
	{ "busy_percent", "Busy %", GT_C_PERCENT },
	{ "from_ns", NULL, GT_C_TIME },
	{ "to_ns", NULL, GT_C_TIME },
};
#define NCOLUMNS 9
static const struct gt_column call_columns[] = {
	{ "recording", "Recording", GT_C_COUNT },
	{ "start_ns", "Start", GT_C_TIME },
	{ "duration_ns", "Duration", GT_C_NS },
	{ "pid", "PID", GT_C_COUNT },
	{ "tid", "TID", GT_C_COUNT },
	{ "depth", "Depth", GT_C_COUNT },
	{ "operation", "Operation", GT_C_TEXT },
	{ "result", "Result", GT_C_COUNT },
	{ "open", "Still open", GT_C_COUNT },
	{ "is_open", NULL, GT_C_DATA },
};
#define NCALL 10

#define BESIDE 44u /* columns beside a strip */

static void add_thread(
	const struct state *s, struct gt_table *t, const struct gt_segment *seg, uint32_t track)
{
	const struct segment *own = &s->segments[seg->index];
	const struct gt_busy_strip *strip = own->strips[track];
	char text[GT_BUSY_STRIP_CELLS + 1];
	struct gt_cell cells[NCOLUMNS];
	int64_t to = (int64_t)((uint64_t)own->window.from + own->window.width);

	gt_busy_strip_text(strip, &own->window, gt_busy_strip_cells(s->report.opt, BESIDE), text);
	gt_where_process(cells, seg, gt_track_process(seg, track));
	gt_where_thread(cells + 3, seg, track);
	cells[5] = gt_cell_text(text);
	cells[6] = gt_cell_share(gt_busy_strip_total(strip), own->window.width);
	cells[7] = gt_cell_time(&s->report, seg, own->window.from);
	cells[8] = gt_cell_time(&s->report, seg, to);
	gt_table_add(t, cells);
}

static void add_threads(const struct state *s, struct gt_table *t)
{
	size_t n = 0, top = s->report.opt->top ? s->report.opt->top : SIZE_MAX;

	for (uint32_t i = 0; i < s->nsegments; i++) {
		const struct gt_segment *seg = gt_reader_segment(s->report.reader, i);
		size_t before = n;

		for (uint32_t track = 0; track < seg->ntracks; track++) {
			if (!s->segments[i].strips[track])
				continue;
			if (n == before && n < top)
				gt_busy_strip_note(t, &s->report, seg, &s->segments[i].window,
					gt_busy_strip_cells(s->report.opt, BESIDE));
			if (n++ < top)
				add_thread(s, t, seg, track);
		}
	}
	gt_table_note_cut(t, n, gt_rows_shown(n, s->report.opt->top));
	gt_note_plural(t, s->undrawn,
		"more than %u threads: further threads have no strip; they made %llu {call|calls}",
		STRIPS_MAX, (unsigned long long)s->undrawn);
	gt_note_unordered(t, gt_time_ordered_late(&s->order), "busy times");
}

static void add_call(struct gt_table *t, const struct gt_top_entry *one)
{
	struct gt_cell process[3], thread[2], cells[NCALL];

	gt_where_process(process, one->seg, gt_track_process(one->seg, one->track));
	gt_where_thread(thread, one->seg, one->track);
	cells[0] = process[0];
	cells[1] = gt_cell_i(~one->score);
	cells[2] = gt_cell_i(one->dur);
	cells[3] = process[1];
	cells[4] = thread[0];
	cells[5] = gt_cell_u(one->depth);
	cells[6] = gt_cell_text(gt_type_name(one->seg, one->type));
	cells[6].indent = 2u * one->depth;
	cells[7] = one->a ? gt_cell_none() : gt_cell_i(one->ret);
	cells[8] = gt_cell_u(one->a);
	cells[9] = gt_cell_bool(one->a);
	gt_table_add(t, cells);
}

static void add_calls(struct state *s, struct gt_table *t)
{
	const struct gt_top_n *k = &s->calls;

	gt_top_n_sort(&s->calls);
	for (size_t i = 0; i < k->n; i++)
		add_call(t, &k->list[i]);
	gt_note_top_n(t, k);
}

static int timeline_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct state *s = state;
	int rc = gt_time_ordered_flush(&s->order, err);

	if (rc)
		return rc;
	tables[0] = gt_report_table(
		&s->report, "timeline", "Timeline", columns, NCOLUMNS, "process thread", err);
	tables[1] = gt_report_table(&s->report, "calls", "Calls in order of time", call_columns,
		NCALL, "open depth result pid tid", err);
	if (!tables[0] || !tables[1])
		return err->code;
	add_threads(s, tables[0]);
	add_calls(s, tables[1]);
	return 2;
}

static void timeline_release(void *state)
{
	struct state *s = state;

	for (uint32_t i = 0; i < s->nsegments; i++) {
		for (uint32_t t = 0; t < gt_reader_segment(s->report.reader, i)->ntracks; t++)
			free(s->segments[i].strips[t]);
		free(s->segments[i].strips);
	}
	free(s->segments);
	gt_time_ordered_release(&s->order);
	gt_top_n_release(&s->calls);
}

const struct gt_analysis gt_timeline_report = {
	.name = "timeline",
	.per_recording = true,
	.help = "when each thread was busy, as a line of text, and the first calls in order of time",
	.wants = GT_BIT(GT_CALL) | GT_BIT(GT_OPEN),
	.needs = GT_LAYERS_OF_CALLS | GT_BIT(GT_LAYER_IOCTL) | GT_BIT(GT_LAYER_USER) |
		GT_BIT(GT_LAYER_SYSCALL),
	.order = GT_BY_TIME,
	.state_size = sizeof(struct state),
	.init = timeline_init,
	.block = timeline_block,
	.finish = timeline_finish,
	.release = timeline_release,
};
