/* The header of every report: the recorded data and its reliability. Counts are of the whole file,
 * whatever the options leave out. Only lost rows are those of the selected range, but for steady
 * steps: with them, they are those of the run. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/calls/header_internal.h"
#include "analyze/calls/lost_rows.h"
#include "analyze/ranks/ranks.h"
#include "formats/base/buf.h"
#include "formats/base/numbers.h"

struct header {
	struct gt_report_state report;
	struct gt_lost_rows *lost; /* per segment */
	uint32_t nsegs;
	struct gt_header_lines lines;
};

static int header_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct header *h = state;

	h->report = (struct gt_report_state){ r, opt };
	h->nsegs = gt_reader_segments(r);
	h->lost = calloc(h->nsegs + 1ul, sizeof(*h->lost));
	return h->lost ? 0 : gt_err_set(err, -ENOMEM, "out of memory (header)");
}

static int header_block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	struct header *h = state;

	return gt_lost_rows_add(&h->lost[cols->seg->index], cols, err);
}

static int header_merge(void *into, void *from, struct gt_err *err)
{
	struct header *a = into, *b = from;

	for (uint32_t i = 0; i < a->nsegs; i++)
		if (gt_lost_rows_merge(
			    &a->lost[i], &b->lost[i], gt_reader_segment(a->report.reader, i), err))
			return err->code;
	return 0;
}

/* ---- figures ---- */

/* The layers of a segment as text: "api ioctl". */
static void put_layers(struct gt_buf *b, const struct gt_segment *seg)
{
	for (unsigned l = 0; l < GT_LAYER_COUNT; l++)
		if (gt_is_recorded_in(seg, l))
			gt_buf_printf(b, "%s%s", b->len ? " " : "", gt_layer_word(l));
	gt_buf_byte(b, 0);
}

/* The sources of its tracks, each once. */
static void put_sources(struct gt_buf *b, const struct gt_segment *seg)
{
	uint32_t seen[16], n = 0;

	for (uint32_t t = 0; t < seg->ntracks; t++) {
		uint32_t k = 0;

		while (k < n && seen[k] != seg->tracks[t].source)
			k++;
		if (k < n || n == 16 || seg->tracks[t].source == GT_NONE)
			continue;
		seen[n++] = seg->tracks[t].source;
		gt_buf_printf(b, "%s%s", b->len ? ", " : "", gt_str(seg, seg->tracks[t].source));
	}
	gt_buf_byte(b, 0);
}

static const struct gt_duplicate_counts *duplicates_of(
	const struct gt_report_state *a, const struct gt_segment *seg)
{
	return gt_source_dedup_counts(a->opt->source_dedup, seg->index);
}

/* A process that two sources recorded has two tracks. */
uint64_t gt_header_tracks(
	const struct gt_report_state *a, const struct gt_segment *seg, unsigned kind)
{
	const struct gt_duplicate_counts *d = duplicates_of(a, seg);
	uint64_t n = 0;

	for (uint32_t t = 0; t < seg->ntracks; t++)
		n += seg->tracks[t].kind == kind;
	return n - (kind == GT_TRACK_THREAD ? d->threads + d->recorder_threads : d->processes);
}

uint64_t gt_header_rows(
	const struct gt_report_state *a, const struct gt_segment *seg, unsigned kind)
{
	uint64_t all = seg->rows[kind], twice = duplicates_of(a, seg)->rows[kind];

	return all > twice ? all - twice : 0;
}

uint64_t gt_header_span(const struct gt_segment *seg)
{
	return seg->max_end > seg->min_start ? (uint64_t)seg->max_end - (uint64_t)seg->min_start
					     : 0;
}

bool gt_header_has_rows(const struct gt_segment *seg)
{
	for (unsigned k = 0; k < GT_KINDS; k++)
		if (seg->rows[k])
			return true;
	return false;
}

/* ---- the table ---- */

static const struct gt_column columns[] = {
	{ "file", "File", GT_C_TEXT },
	{ "recording", "Recording", GT_C_COUNT },
	{ "host", "Host", GT_C_TEXT },
	{ "command", "Command", GT_C_TEXT },
	{ "start_utc", "Started", GT_C_TEXT },
	{ "gpu", "GPU", GT_C_TEXT },
	{ "driver", "Driver", GT_C_TEXT },
	{ "cuda", "CUDA", GT_C_TEXT },
	{ "events", "Events", GT_C_TEXT },
	{ "args", "Arguments", GT_C_TEXT },
	{ "simulated", "Simulated GPU", GT_C_TEXT },
	{ "layers", "Layers recorded", GT_C_TEXT },
	{ "sources", "Recorded by", GT_C_TEXT },
	{ "span_ns", "First to last row", GT_C_NS },
	{ "recorded_ns", "Recorded for", GT_C_NS },
	{ "processes", "Processes", GT_C_COUNT },
	{ "threads", "Threads", GT_C_COUNT },
	{ "calls", "Finished calls", GT_C_COUNT },
	{ "open", "Still open", GT_C_COUNT },
	{ "spans", "Spans", GT_C_COUNT },
	{ "gpu_operations", "GPU operations", GT_C_COUNT },
	{ "instants", "Instants", GT_C_COUNT },
	{ "counters", "Counter values", GT_C_COUNT },
	{ "unmatched", "Unmatched begins and ends", GT_C_COUNT },
	{ "lost", "Lost events", GT_C_COUNT },
	{ "lost_unknown", "Losses of unknown size", GT_C_COUNT },
	{ "closed", "State", GT_C_TEXT },
	{ "complete_to_ns", "Complete up to", GT_C_TIME },
	{ "unread_bytes", "Unread at the end", GT_C_BYTES },
	{ "damaged_blocks", "Damaged blocks", GT_C_COUNT },
	{ "damaged_rows", "Rows in them", GT_C_COUNT },
	{ "quantile_error_percent", NULL, GT_C_PERCENT },
	/* the same as texts above, with their types */
	{ "is_simulated", NULL, GT_C_DATA },
	{ "is_closed", NULL, GT_C_DATA },
	{ "event_list", NULL, GT_C_DATA },
	{ "layer_list", NULL, GT_C_DATA },
	{ "source_list", NULL, GT_C_DATA },
};
#define NCOLUMNS (sizeof(columns) / sizeof(*columns))

static const char *file_of(const struct header *h, const struct gt_segment *seg)
{
	return h->report.opt->ranks ? h->report.opt->ranks[seg->index].file : h->report.opt->file;
}

static struct gt_cell text_or_none(const char *s)
{
	return s && *s ? gt_cell_text(s) : gt_cell_none();
}

/* Lists of texts, for programs. */
struct lists {
	struct gt_out events, layers, sources;
};

static void make_lists(struct lists *l, const char *events, const char *layers, const char *sources)
{
	gt_out_memory(&l->events);
	gt_out_memory(&l->layers);
	gt_out_memory(&l->sources);
	gt_put_list(&l->events, events ? events : "", ",");
	gt_put_list(&l->layers, layers ? layers : "", " ");
	gt_put_list(&l->sources, sources ? sources : "", ", ");
}

static int free_lists(struct lists *l)
{
	int events = gt_out_close(&l->events, NULL), layers = gt_out_close(&l->layers, NULL),
	    sources = gt_out_close(&l->sources, NULL);

	return events ? events : layers ? layers : sources;
}

static int add_row(const struct header *h, struct gt_table *t, const struct gt_segment *seg,
	const struct gt_header_metadata *m, const char *layers, const char *sources)
{
	const struct gt_report_state *a = &h->report;
	const struct gt_lost_rows *l = &h->lost[seg->index];
	struct gt_header_damage damage = gt_header_damage_of(a->reader, seg->index);
	int64_t complete = gt_complete_since_origin(a, seg);
	int64_t recorded = gt_header_recorded_ns(m);
	char *const *v = m->values;
	struct lists lists;

	make_lists(&lists, v[GT_HEADER_EVENTS], layers, sources);
	gt_table_add(t,
		(struct gt_cell[]){ gt_cell_text(file_of(h, seg)), gt_cell_u(seg->index),
			text_or_none(seg->host), text_or_none(v[GT_HEADER_COMMAND]),
			text_or_none(v[GT_HEADER_START]), text_or_none(m->gpus),
			text_or_none(v[GT_HEADER_DRIVER]), text_or_none(v[GT_HEADER_CUDA]),
			text_or_none(v[GT_HEADER_EVENTS]), text_or_none(v[GT_HEADER_ARGS]),
			text_or_none(seg->simulated         ? "yes"
					: v[GT_HEADER_TOOL] ? "no"
							    : NULL),
			text_or_none(layers), text_or_none(sources), gt_cell_u(gt_header_span(seg)),
			gt_cell_known(recorded >= 0, (uint64_t)recorded),
			gt_cell_u(gt_header_tracks(a, seg, GT_TRACK_PROCESS)),
			gt_cell_u(gt_header_tracks(a, seg, GT_TRACK_THREAD)),
			gt_cell_u(gt_header_rows(a, seg, GT_CALL)),
			gt_cell_u(gt_header_rows(a, seg, GT_OPEN)),
			gt_cell_u(gt_header_rows(a, seg, GT_SPAN)),
			gt_cell_u(gt_header_rows(a, seg, GT_GPU)),
			gt_cell_u(gt_header_rows(a, seg, GT_INSTANT)),
			gt_cell_u(gt_header_rows(a, seg, GT_COUNTER)),
			gt_cell_u(seg->rows[GT_UNMATCHED]), gt_cell_u(l->count),
			gt_cell_u(l->unknown), gt_cell_text(seg->closed ? "closed" : "not closed"),
			gt_cell_i(complete), gt_cell_u(seg->closed ? 0 : seg->unread_bytes),
			gt_cell_u(damage.places), gt_cell_u(damage.rows), gt_cell_i(100),
			seg->simulated || v[GT_HEADER_TOOL] ? gt_cell_bool(seg->simulated)
							    : gt_cell_none(),
			gt_cell_bool(seg->closed),
			v[GT_HEADER_EVENTS] ? gt_cell_text(lists.events.data) : gt_cell_none(),
			gt_cell_text(lists.layers.data), gt_cell_text(lists.sources.data) });
	return free_lists(&lists) ? -ENOMEM : 0;
}

static void note_metadata(const struct header *h, struct gt_table *t, const struct gt_segment *seg,
	const struct gt_header_metadata *m)
{
	if (!gt_header_has_rows(seg) && seg->closed && m->values[GT_HEADER_TOOL])
		gt_note_recording(&h->report, seg, t,
			"no CUDA call was recorded: the program never loaded or called libcuda.so.1, or a program in between "
			"removed LD_PRELOAD from its environment, or the options left out all calls; "
			"run gtcollect --doctor");
	if (m->notes.newer)
		gt_note_recording(&h->report, seg, t,
			"%u driver function%s newer than the recorder: calls were not recorded; the metadata report names them",
			m->notes.newer, gt_plural(m->notes.newer, "s"));
}

static int add_segment(
	struct header *h, struct gt_table *t, const struct gt_segment *seg, bool in_text)
{
	struct gt_buf layers = { 0 }, sources = { 0 };
	struct gt_header_metadata m;
	int rc = gt_header_metadata_read(&m, &h->report, seg, t);

	put_layers(&layers, seg);
	put_sources(&sources, seg);
	if (layers.failed || sources.failed)
		rc = -ENOMEM;
	if (!rc)
		rc = add_row(h, t, seg, &m, (char *)layers.data, (char *)sources.data);
	note_metadata(h, t, seg, &m);
	if (!rc && in_text)
		gt_header_lines_add(&h->lines, t, &h->report, seg, &m, (char *)layers.data,
			(char *)sources.data);
	gt_buf_release(&layers);
	gt_buf_release(&sources);
	gt_header_metadata_release(&m);
	return rc;
}

/* ---- notes ---- */

/* "12 calls recorded by ebpf as well are counted once, from preload" */
static void note_doubles(const struct header *h, struct gt_table *t, const struct gt_segment *seg)
{
	const struct gt_duplicate_counts *d = duplicates_of(&h->report, seg);

	for (uint32_t i = 0; i < d->n; i++) {
		const struct gt_source_pair *two = &d->list[i];
		uint64_t n = two->calls + two->others;

		gt_note_recording(&h->report, seg, t,
			"%" PRIu64 " %s%s recorded by %s as well %s counted once, from %s", n,
			two->others ? "event" : "call", gt_plural(n, "s"),
			two->from == GT_NONE ? "another source" : gt_str(seg, two->from),
			n == 1 ? "is" : "are",
			two->by == GT_NONE ? "the better one" : gt_str(seg, two->by));
	}
}

/* The limits of a file that its recorder did not close. */
static void note_unclosed(const struct header *h, struct gt_table *t, const struct gt_segment *seg)
{
	char complete[64] = "nothing can be read yet";

	if (gt_header_has_rows(seg))
		snprintf(complete, sizeof(complete), "complete to %.6f s%s",
			(double)gt_complete_since_origin(&h->report, seg) / 1e9,
			seg->max_end > seg->complete_to ? ", later events are incomplete" : "");
	gt_note_recording(&h->report, seg, t,
		"NOT CLOSED: %s, %" PRIu64
		" byte%s unread; the file was not closed: the recorder died, or it is still being "
		"written",
		complete, seg->unread_bytes, gt_plural(seg->unread_bytes, "s"));
}

static bool any_gpu(const struct header *h)
{
	for (uint32_t i = 0; i < h->nsegs; i++)
		if (gt_reader_segment(h->report.reader, i)->rows[GT_GPU])
			return true;
	return false;
}

static void note_doubts(const struct header *h, struct gt_table *t, const struct gt_segment *seg)
{
	size_t n;

	gt_reader_damage(h->report.reader, &n);
	note_doubles(h, t, seg);
	if (seg->simulated)
		gt_note_recording(&h->report, seg, t,
			"the GPU was simulated: its times do not match a real GPU");
	gt_lost_rows_note(&h->lost[seg->index], &h->report, seg, t);
	if (!seg->closed)
		note_unclosed(h, t, seg);
	if (!seg->rows[GT_GPU] && gt_header_has_rows(seg) && any_gpu(h))
		gt_note_recording(&h->report, seg, t,
			"it has no GPU operations: GPU reports cover the others");
	if (!seg->index && n)
		gt_table_note(t,
			"%s damaged in %zu place%s: rows are missing from every report; the header report lists the places",
			h->report.opt->ranks ? "files are" : "the file is", n, gt_plural(n, "s"));
	if (!seg->index && h->report.opt->restrictions)
		gt_table_note(t, "restricted by %s%s", h->report.opt->restrictions,
			h->report.opt->filter.ranged
				? "; calls that overlap the range count in full"
				: "");
	if (!seg->index && h->report.opt->nothing_selected)
		gt_note_no_rows(t, &h->report);
}

/* ---- the report ---- */

/* The run is narrowed to steady steps: losses of the whole run make its figures doubtful, too. */
static int count_all_losses(struct header *h, struct gt_err *err)
{
	const struct gt_analysis_options *opt = h->report.opt;
	struct gt_filter filter = opt->whole_run;

	for (uint32_t i = 0; i < h->nsegs; i++)
		gt_lost_rows_release(&h->lost[i]);
	filter.kinds = GT_BIT(GT_LOST) | GT_BIT(GT_UNMATCHED);
	filter.args = true;
	filter.hide = opt->filter.hide;
	filter.hide_arg = opt->filter.hide_arg;
	return gt_reread_trace(h->report.reader, &filter, GT_ANY_ORDER, header_block, h, err);
}

static int header_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct header *h = state;
	const struct gt_analysis_options *opt = h->report.opt;
	uint32_t shown = (uint32_t)gt_rows_shown(h->nsegs, opt->top);
	int rc = opt->only_steady ? count_all_losses(h, err) : 0;

	if (rc)
		return rc;
	tables[0] = gt_table_new("header", NULL, columns, NCOLUMNS);
	if (!tables[0])
		return gt_err_set(err, -ENOMEM, "out of memory (header)");
	if (opt->ranks)
		gt_table_add_line(tables[0],
			"%s, read as the ranks of one run (--per-rank: each separately)",
			opt->file);
	gt_table_set_warning(tables[0]);
	for (uint32_t i = 0; !rc && i < h->nsegs; i++) {
		note_doubts(h, tables[0], gt_reader_segment(h->report.reader, i));
		rc = add_segment(h, tables[0], gt_reader_segment(h->report.reader, i),
			!opt->ranks || i < shown);
	}
	if (rc)
		return gt_err_set(err, -ENOMEM, "out of memory (header)");
	if (opt->ranks && shown < h->nsegs)
		gt_table_add_line(tables[0], "and %u more", h->nsegs - shown);
	tables[1] = gt_header_damage_table(&h->report);
	return tables[1] ? 2 : 1;
}

static void header_release(void *state)
{
	struct header *h = state;

	for (uint32_t i = 0; h->lost && i < h->nsegs; i++)
		gt_lost_rows_release(&h->lost[i]);
	free(h->lost);
	gt_header_lines_release(&h->lines);
}

const struct gt_analysis gt_header_report = {
	.name = "header",
	.help = "data, sources, losses and damage of each recording",
	.runs_last = true,
	.wants = GT_BIT(GT_LOST) | GT_BIT(GT_UNMATCHED),
	.wants_args = true,
	.splits = GT_BY_BLOCK,
	.in_default = GT_DEFAULT_ALWAYS,
	.state_size = sizeof(struct header),
	.init = header_init,
	.block = header_block,
	.merge = header_merge,
	.finish = header_finish,
	.release = header_release,
};
