/* speedscope's own format, for www.speedscope.app and its editor plug-ins.
 *
 * Each thread and each stream is an "evented" profile: its rows as they nest (stack_tree.h), so
 * that "Time Order" shows them at their times and "Left Heavy" adds them up. A launch whose kernel
 * is known has a further frame with the kernel's name. With --stacks or another --cost than time
 * each root of the tree of stacks is a "sampled" profile, which has weights and no times.
 *
 *   {"$schema": "...", "shared": {"frames": [{"name": "f (a.py:2)", "file": "/x/a.py", "line":
 * 2}]}, "profiles": [{"type": "evented", "name": "python3 (4711), worker (4712)", "unit":
 * "nanoseconds", "startValue": 0, "endValue": 9, "events": [{"type": "O", "frame": 0, "at": 3},
 * ...]}]}
 *
 * A profile's events must stand together, but rows of all tracks come in order of time: a sort in
 * bounded memory brings the frames of each track together. Times count from the start of the trace,
 * in whole ns.
 */
#include "formats/export/stacks/stack_tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "formats/base/buf.h"
#include "formats/io/sorter.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"
#define FRAMES_BUFFERED (1u << 18)

/* A frame of a track. number: orders frames of the same time, outer ones first */
struct timed_frame {
	uint64_t number;
	int64_t start, end;
	uint32_t track, label; /* track: its node */
};
struct timeline {
	struct gt_stack_tree tree;
	struct gt_sorter frames;
	uint64_t nframes;
	const struct gt_export_options *opt;
	int64_t *bases;
	struct gt_err *err;
	struct gt_out *out;
	struct timed_frame open[2 * GT_NEST_DEEPEST + 8];
	unsigned nopen;
	const char *separator; /* before the next event */
	uint64_t nprofile;     /* frames of the current profile */
	/* number of the profile with the most frames, which is shown first, and of all */
	uint64_t most, longest, nprofiles;
};

static void put_text(struct gt_out *out, const char *s) { gt_out_json(out, s, strlen(s)); }

static void put_frames(struct gt_out *out, const struct gt_stack_tree *t)
{
	for (size_t i = 0; i < t->nlabels; i++) {
		const struct gt_stack_label *label = &t->labels[i];
		const struct gt_segment *seg =
			label->text == GT_NONE ? NULL : gt_reader_segment(t->r, label->segment);
		const struct gt_frame *frame = seg ? gt_segment_frame(seg, label->text) : NULL;

		gt_out_str(out, i ? ",\n{\"name\":" : "\n{\"name\":");
		put_text(out, gt_stack_tree_label(t, (uint32_t)i));
		if (frame && frame->file != GT_NONE) {
			gt_out_str(out, ",\"file\":");
			put_text(out, gt_str(seg, frame->file));
			if (frame->line)
				gt_out_printf(out, ",\"line\":%" PRIu32, frame->line);
		}
		gt_out_str(out, "}");
	}
}

static void put_head(struct gt_out *out, const struct gt_stack_tree *t)
{
	gt_out_str(out, "{\"$schema\":\"" SCHEMA "\",\"exporter\":\"gtexport\",\"name\":");
	put_text(out, t->title ? t->title : "gt trace");
	gt_out_str(out, ",\"shared\":{\"frames\":[");
	put_frames(out, t);
	gt_out_str(out, "\n]},\"profiles\":[");
}

/* ---- evented profiles ---- */

static bool comes_before(const void *a, const void *b)
{
	const struct timed_frame *x = a, *y = b;

	if (x->track != y->track)
		return x->track < y->track;
	if (x->start != y->start)
		return x->start < y->start;
	return x->end != y->end ? x->end > y->end : x->number < y->number;
}

static int add_frame(struct timeline *l, uint32_t track, uint32_t label, int64_t start, int64_t end)
{
	struct timed_frame *f = gt_sorter_add(&l->frames, l->err);

	if (!f)
		return l->err->code;
	*f = (struct timed_frame){ l->nframes++, start, end, track, label };
	return 0;
}

/* A gt_stack_piece_fn. The frames' times say how they nest. */
static int add_piece(
	void *arg, const struct gt_segment *seg, uint32_t track, const struct gt_nest_row *piece)
{
	struct timeline *l = arg;
	const struct gt_range range = gt_range_of(&l->opt->filter, seg);
	const uint32_t kernel = (uint32_t)(piece->what >> 32);
	int64_t start = piece->start < range.from ? range.from : piece->start,
		end = piece->end > range.to ? range.to : piece->end;

	if (end < start)
		return 0; /* outside the range */
	start = gt_since(start, l->bases[seg->index]);
	end = gt_since(end, l->bases[seg->index]);
	if (add_frame(l, track, (uint32_t)piece->what, start, end) ||
		(kernel && add_frame(l, track, kernel - 1, start, end)))
		return l->err->code;
	return 0;
}

static void put_event(struct timeline *l, const char *type, uint32_t frame, int64_t at)
{
	gt_out_str(l->out, l->separator);
	gt_out_str(l->out, type);
	gt_export_u64(l->out, frame);
	gt_out_str(l->out, ",\"at\":");
	gt_export_i64(l->out, at);
	gt_out_str(l->out, "}");
	l->separator = ",\n";
}

static void close_frames(struct timeline *l, int64_t time)
{
	while (l->nopen && l->open[l->nopen - 1].end <= time) {
		const struct timed_frame *f = &l->open[--l->nopen];

		put_event(l, "{\"type\":\"C\",\"frame\":", f->label, f->end);
	}
}

/* Rows of the profiler's own work may overlap: then the later one ends with the one around it. */
static void put_frame(struct timeline *l, struct timed_frame f)
{
	close_frames(l, f.start);
	if (l->nopen && f.end > l->open[l->nopen - 1].end)
		f.end = l->open[l->nopen - 1].end;
	if (l->nopen == sizeof(l->open) / sizeof(*l->open))
		return; /* deeper than pieces nest */
	l->open[l->nopen++] = f;
	put_event(l, "{\"type\":\"O\",\"frame\":", f.label, f.start);
	l->nprofile++;
}

/* The names of the track and of what it belongs to, without the root. */
static void put_track_name(struct gt_out *out, const struct gt_stack_tree *t, uint32_t track)
{
	struct gt_buf name = { 0 };
	uint32_t path[8];
	unsigned n = 0;

	for (; track != GT_NONE && n < 8; track = t->nodes[track].parent)
		path[n++] = t->nodes[track].label;
	for (unsigned i = n > 1 ? n - 1 : n; i-- > 0;) {
		gt_buf_str(&name, gt_stack_tree_label(t, path[i]));
		gt_buf_str(&name, i ? ", " : "");
	}
	gt_out_json(out, (const char *)name.data, name.len);
	gt_buf_release(&name);
}

static void begin_profile(struct timeline *l, uint32_t track, bool first)
{
	gt_out_str(l->out, first ? "\n{" : ",\n{");
	gt_out_str(l->out, "\"type\":\"evented\",\"name\":");
	put_track_name(l->out, &l->tree, track);
	gt_out_str(l->out, ",\"unit\":\"nanoseconds\",\"startValue\":0,\"events\":[");
	l->separator = "\n";
}

static void end_profile(struct timeline *l, int64_t last)
{
	close_frames(l, INT64_MAX);
	gt_out_str(l->out, "],\"endValue\":");
	gt_export_i64(l->out, last);
	gt_out_str(l->out, "}");
	if (l->nprofile > l->most) {
		l->most = l->nprofile;
		l->longest = l->nprofiles;
	}
	l->nprofile = 0;
	l->nprofiles++;
}

static int put_timeline(struct timeline *l)
{
	uint32_t track = GT_NONE;
	struct timed_frame f;
	int64_t last = 0;
	int rc = 0;

	put_head(l->out, &l->tree);
	while (!l->out->failed && (rc = gt_sorter_next(&l->frames, &f, l->err)) > 0) {
		if (f.track != track) {
			if (track != GT_NONE)
				end_profile(l, last);
			begin_profile(l, f.track, track == GT_NONE);
			track = f.track;
			last = 0;
		}
		put_frame(l, f);
		last = f.end > last ? f.end : last;
	}
	if (track != GT_NONE)
		end_profile(l, last);
	gt_out_printf(l->out, "],\"activeProfileIndex\":%" PRIu64 "}\n", l->longest);
	return l->out->failed ? 0 : rc;
}

static int export_timeline(struct gt_reader *r, const struct gt_export_options *opt,
	struct gt_out *out, struct gt_err *err)
{
	struct timeline l = { .opt = opt, .bases = gt_export_bases(r), .err = err, .out = out };
	int rc = gt_sorter_init(
		&l.frames, sizeof(struct timed_frame), FRAMES_BUFFERED, comes_before, err);

	if (!rc && !l.bases)
		rc = gt_err_set(err, -ENOMEM, "out of memory");
	rc = rc ? rc : gt_stack_tree_pieces(&l.tree, r, opt, add_piece, &l, err);
	rc = rc ? rc : put_timeline(&l);
	free(l.bases);
	gt_sorter_release(&l.frames);
	gt_stack_tree_release(&l.tree);
	return rc;
}

/* ---- sampled profiles ---- */

static const char *const units[] = {
	[GT_COST_TIME] = "nanoseconds", [GT_COST_COUNT] = "none", [GT_COST_BYTES] = "bytes"
};

static void put_stack(struct gt_out *out, const struct gt_stack_tree *t, uint32_t node)
{
	struct gt_buf path = { 0 };
	const uint32_t *labels;
	size_t n;

	for (; t->nodes[node].parent != GT_NONE; node = t->nodes[node].parent)
		gt_buf_add(&path, &t->nodes[node].label, sizeof(t->nodes[node].label));
	labels = (const uint32_t *)(const void *)path.data;
	n = path.failed ? 0 : path.len / sizeof(*labels);
	if (path.failed)
		gt_out_fail(out, -ENOMEM);
	for (size_t i = n; i-- > 0;) {
		gt_export_u64(out, labels[i]);
		gt_out_str(out, i ? "," : "");
	}
	gt_buf_release(&path);
}

/* Calls put for each stack of a root that has a cost. */
static int64_t put_stacks(struct gt_out *out, const struct gt_stack_tree *t, const uint32_t *roots,
	uint32_t root, bool weights)
{
	const char *separator = "\n";
	int64_t sum = 0;

	for (uint32_t i = 0; i < t->nnodes; i++) {
		if (roots[i] != root || t->nodes[i].cost <= 0)
			continue;
		gt_out_str(out, separator);
		separator = ",\n";
		if (__builtin_add_overflow(sum, t->nodes[i].cost, &sum))
			sum = INT64_MAX;
		if (weights) {
			gt_export_i64(out, t->nodes[i].cost);
		} else {
			gt_out_str(out, "[");
			put_stack(out, t, i);
			gt_out_str(out, "]");
		}
	}
	return sum;
}

static int put_tree(struct gt_out *out, const struct gt_stack_tree *t, struct gt_err *err)
{
	uint32_t *roots = calloc(t->nnodes + 1, sizeof(*roots));
	bool first = true;

	if (!roots)
		return gt_err_set(err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < t->nnodes; i++)
		roots[i] = t->nodes[i].parent == GT_NONE ? i : roots[t->nodes[i].parent];
	put_head(out, t);
	for (uint32_t i = 0; i < t->nnodes; i++) {
		if (t->nodes[i].parent != GT_NONE)
			continue;
		gt_out_str(out, first ? "\n{" : ",\n{");
		gt_out_str(out, "\"type\":\"sampled\",\"name\":");
		put_text(out, gt_stack_tree_label(t, t->nodes[i].label));
		gt_out_printf(out, ",\"unit\":\"%s\",\"samples\":[", units[t->cost]);
		put_stacks(out, t, roots, i, false);
		gt_out_str(out, "\n],\"weights\":[");
		gt_out_printf(out, "\n],\"startValue\":0,\"endValue\":%" PRId64 "}",
			put_stacks(out, t, roots, i, true));
		first = false;
	}
	gt_out_str(out, "]}\n");
	free(roots);
	return 0;
}

static int speedscope_export(struct gt_reader *r, const struct gt_export_options *opt,
	struct gt_out *out, struct gt_err *err)
{
	struct gt_stack_tree tree;
	int rc;

	if (opt->tree)
		return put_tree(out, opt->tree, err);
	if (!opt->by_stack && opt->cost == GT_COST_TIME)
		return export_timeline(r, opt, out, err);
	rc = gt_stack_tree_build(&tree, r, opt, err);
	rc = rc ? rc : put_tree(out, &tree, err);
	gt_stack_tree_release(&tree);
	return rc;
}

const struct gt_exporter gt_export_speedscope = {
	.name = "speedscope",
	.suffix = "speedscope.json",
	.help = "speedscope's format: threads and streams by time, or stacks by cost",
	.takes = GT_TAKES_STACKS | GT_TAKES_COST,
	.export = speedscope_export,
};
