#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/calls/header_internal.h"
#include "analyze/ranks/ranks.h"
#include "formats/base/buf.h"
#include "formats/base/numbers.h"

/* A foreign file does not say what its tool lost; nor is a part of a recording, or a damaged
 * one, known to be complete. */
static bool is_lossless(const struct gt_report_state *a, const struct gt_segment *seg,
	const struct gt_header_metadata *m)
{
	const struct gt_analysis_options *opt = a->opt;
	bool chosen = opt->filter.ranged && !opt->only_steady;

	return m->values[GT_HEADER_TOOL] && seg->closed && !m->notes.part &&
		!m->notes.gpu_missing && !seg->rows[GT_LOST] && !chosen &&
		!gt_header_damage_of(a->reader, seg->index).places;
}

/* The third line: the machine, and how the program was traced. */
static void put_machine(struct gt_buf *b, const struct gt_report_state *a,
	const struct gt_segment *seg, const struct gt_header_metadata *m, const char *layers,
	const char *sources)
{
	char *const *v = m->values;

#define ITEM(sep, word, value)                                                                     \
	do {                                                                                       \
		if ((value) && *(value))                                                           \
			gt_buf_printf(b, "%s%s%s", b->len ? sep : "", word, (value));              \
	} while (0)
	ITEM("", "", seg->simulated ? "SIMULATED GPU" : m->gpus);
	ITEM(", ", "driver ", v[GT_HEADER_DRIVER]);
	ITEM(", ", "CUDA ", v[GT_HEADER_CUDA]);
	ITEM("; ", "host ", seg->host);
	ITEM("; ", "", a->opt->ranks ? NULL : v[GT_HEADER_START]);
	ITEM("; ", "",
		*sources              ? sources
			: seg->closed ? "nothing was recorded"
				      : "nothing can be read yet");
	ITEM(": ", "", layers);
	ITEM(", ", "args ", v[GT_HEADER_ARGS]);
	ITEM("; ", "", is_lossless(a, seg, m) ? "no losses" : "");
#undef ITEM
	gt_buf_byte(b, 0);
}

/* "train.zst: python3 train.py", then "234971 calls and ioctls in 1 process, 2 threads, over 4.655
 * s of 6.806 s". A rank has one line. */
static void put_size(struct gt_table *t, const struct gt_report_state *a,
	const struct gt_segment *seg, const struct gt_header_metadata *m)
{
	uint64_t processes = gt_header_tracks(a, seg, GT_TRACK_PROCESS),
		 threads = gt_header_tracks(a, seg, GT_TRACK_THREAD);
	uint64_t calls = gt_header_rows(a, seg, GT_CALL);
	int64_t span = gt_clamp(gt_header_span(seg)), all = gt_header_recorded_ns(m);
	bool ioctls = calls && gt_is_recorded_in(seg, GT_LAYER_IOCTL);
	const char *file = a->opt->ranks ? a->opt->ranks[seg->index].called : a->opt->file;
	char of[48] = "", open[48] = "", began[64] = "";

	if (a->opt->ranks && m->values[GT_HEADER_START])
		snprintf(began, sizeof(began), "; %.60s", m->values[GT_HEADER_START]);
	if (all > 0 && (double)all > (double)span * 1.01)
		snprintf(of, sizeof(of), " of %s", gt_scaled(GT_C_NS, all).text);
	if (gt_header_rows(a, seg, GT_OPEN))
		snprintf(open, sizeof(open), " and %" PRIu64 " still open",
			gt_header_rows(a, seg, GT_OPEN));
	gt_table_set_tone(t, GT_TONE_HEADING);
	if (gt_header_has_rows(seg) && !a->opt->ranks && m->values[GT_HEADER_COMMAND]) {
		gt_table_add_line(t, "%s: %s", file, m->values[GT_HEADER_COMMAND]);
		gt_table_set_tone(t, GT_TONE_NONE);
		file = NULL;
	}
	if (gt_header_has_rows(seg))
		gt_table_add_line(t,
			"%s%s%" PRIu64 " call%s%s%s in %" PRIu64 " process%s, %" PRIu64
			" thread%s, over %s%s%s",
			file ? file : "", file ? ": " : "  ", calls, gt_plural(calls, "s"),
			ioctls ? " and ioctls" : "", open, processes, gt_plural(processes, "es"),
			threads, gt_plural(threads, "s"), gt_scaled(GT_C_NS, span).text, of, began);
	else if (all > 0)
		gt_table_add_line(
			t, "%s: an EMPTY recording of %s", file, gt_scaled(GT_C_NS, all).text);
	else
		gt_table_add_line(t, "%s: an EMPTY recording", file);
}

static bool is_same(const char *last, const char *now) { return last && !strcmp(last, now); }

void gt_header_lines_add(struct gt_header_lines *last, struct gt_table *t,
	const struct gt_report_state *a, const struct gt_segment *seg,
	const struct gt_header_metadata *m, const char *layers, const char *sources)
{
	struct gt_header_lines now = {
		.command = strdup(m->values[GT_HEADER_COMMAND] ? m->values[GT_HEADER_COMMAND] : "")
	};
	struct gt_buf b = { 0 };
	bool ranks = a->opt->ranks;

	put_machine(&b, a, seg, m, layers, sources);
	now.machine = strdup(b.failed ? "" : (char *)b.data);
	gt_buf_release(&b);
	put_size(t, a, seg, m);
	gt_table_set_tone(t, GT_TONE_NONE);
	if (ranks && now.command && *now.command && !is_same(last->command, now.command))
		gt_table_add_line(t, "  %s", now.command);
	if (now.machine && !(ranks && is_same(last->machine, now.machine)))
		gt_table_add_line(t, "  %s", now.machine);
	gt_header_lines_release(last);
	*last = now;
}

void gt_header_lines_release(struct gt_header_lines *last)
{
	free(last->command);
	free(last->machine);
}
