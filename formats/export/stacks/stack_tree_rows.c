#include "formats/export/stacks/stack_tree_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "formats/names/stack_names.h"

struct placed {
	struct gt_stack_tree *f;
	const struct gt_segment *seg;
	uint32_t node;
	struct gt_range range; /* that the filter selects */
};                             /* a lane and its node */

static bool is_thread(const struct gt_segment *seg, uint32_t track)
{
	return seg->tracks[track].kind == GT_TRACK_THREAD;
}

static bool is_gpu(const struct gt_segment *seg, uint32_t track)
{
	uint8_t kind = seg->tracks[track].kind;

	return kind == GT_TRACK_DEVICE || kind == GT_TRACK_CONTEXT || kind == GT_TRACK_STREAM;
}

/* The node of a track, below its root. */
static uint32_t track_node(
	struct gt_stack_tree *f, const struct gt_segment *seg, uint32_t track, bool waits)
{
	uint32_t process = gt_track_process(seg, track), device = gt_track_device(seg, track),
		 label = gt_stack_tree_track(f, seg, track);
	uint32_t node = gt_stack_tree_child(f, GT_NONE, is_gpu(seg, track) ? "GPU" : "CPU");
	char name[300];

	if (f->hosts)
		node = gt_stack_tree_node(
			f, node, gt_stack_tree_text(f, seg->host ? seg->host : "?"));
	if (process != GT_NONE && process != track)
		node = gt_stack_tree_node(f, node, gt_stack_tree_track(f, seg, process));
	if (device != GT_NONE && device != track && device != process)
		node = gt_stack_tree_node(f, node, gt_stack_tree_track(f, seg, device));
	if (waits && label != GT_NONE) {
		snprintf(name, sizeof(name), "%s waits", gt_stack_tree_label(f, label));
		label = gt_stack_tree_text(f, name);
	}
	return gt_stack_tree_node(f, node, label);
}

/* Kernels have their short names. */
static uint32_t type_label(struct gt_stack_tree *f, const struct gt_event *ev)
{
	uint32_t *label = &f->segs[ev->seg->index].types[ev->row.type];
	const char *name = gt_type_name(ev->seg, ev->row.type);

	if (*label)
		return *label - 1;
	if (ev->seg->types[ev->row.type].category == GT_CAT_KERNEL)
		name = gt_kernel_names_get(f->names, name);
	*label = name ? gt_stack_tree_text(f, name) + 1 : 0;
	return name ? *label - 1 : gt_stack_tree_no_memory(f);
}

/* The string id of a row's kernel name, or GT_NONE: only launches of a known kernel have one. */
static uint32_t kernel_of(const struct gt_event *ev)
{
	const struct gt_type *t = &ev->seg->types[ev->row.type];

	for (unsigned i = 0; ev->args && i < t->nfields && i < ev->row.nargs; i++)
		if (t->fields[i].role == GT_R_KERNEL && t->fields[i].kind == GT_F_STR &&
			ev->args[i] < ev->seg->nstrings)
			return (uint32_t)ev->args[i];
	return GT_NONE;
}

/* The kernel's short name, or GT_NONE: there is none, or no memory, with f->err set. */
static uint32_t kernel_label(struct gt_stack_tree *f, const struct gt_event *ev)
{
	uint32_t kernel = kernel_of(ev);
	struct gt_stack_segment *s = &f->segs[ev->seg->index];
	const char *brief;

	if (kernel == GT_NONE)
		return GT_NONE;
	if (!s->kernels)
		s->kernels = calloc((size_t)ev->seg->nstrings + 1, sizeof(*s->kernels));
	if (!s->kernels)
		return gt_stack_tree_no_memory(f);
	if (!s->kernels[kernel]) {
		brief = gt_kernel_names_get(f->names, gt_str(ev->seg, kernel));
		s->kernels[kernel] = brief ? gt_stack_tree_text(f, brief) + 1 : 0;
	}
	return s->kernels[kernel] ? s->kernels[kernel] - 1 : gt_stack_tree_no_memory(f);
}

static int64_t bytes_of(const struct gt_event *ev)
{
	const struct gt_type *t = &ev->seg->types[ev->row.type];
	uint64_t sum = 0;

	for (unsigned i = 0; ev->args && i < t->nfields && i < ev->row.nargs; i++)
		if (t->fields[i].role == GT_R_BYTES)
			sum += ev->args[i];
	return (int64_t)(sum & INT64_MAX);
}

/* A row's labels as one number: that of its type, and that of its kernel plus 1. */
static uint64_t labels_of(uint32_t type, uint32_t kernel)
{
	return (uint64_t)(kernel + 1) << 32 | type;
}

/* Adds a piece. Its time within the range no longer counts for its parent; count and bytes belong
 * to the first piece of a row. */
static uint32_t add_piece(void *arg, uint32_t parent, const struct gt_nest_row *piece)
{
	const struct placed *p = arg;
	struct gt_stack_tree *f = p->f;
	uint32_t kernel = (uint32_t)(piece->what >> 32), node;
	int64_t ns;

	if (f->piece)
		return f->piece(f->piece_arg, p->seg, p->node, piece) ? GT_NONE : p->node;
	node = gt_stack_tree_node(f, parent == GT_NONE ? p->node : parent, (uint32_t)piece->what);
	if (kernel && node != GT_NONE)
		node = gt_stack_tree_node(f, node, kernel - 1);
	if (node == GT_NONE)
		return GT_NONE;
	if (f->opt->cost == GT_COST_TIME) {
		ns = (int64_t)(gt_ns_in_range(p->range, piece->start, piece->end) & INT64_MAX);
		gt_stack_tree_add(f, node, ns);
		if (parent != GT_NONE)
			gt_stack_tree_add(f, parent, -ns);
	} else if (!piece->nth) {
		gt_stack_tree_add(f, node, piece->cost);
	}
	return node;
}

/* Profiler overhead belongs to a process, and may concern several threads at once. */
static bool is_flat(const struct gt_segment *seg, uint32_t track, const struct gt_type *type)
{
	return type->layer == GT_LAYER_OVERHEAD && !is_thread(seg, track);
}

static int add_row(void *arg, const struct gt_event *ev)
{
	struct gt_stack_tree *f = arg;
	const struct gt_type *type = &ev->seg->types[ev->row.type];
	bool call = ev->kind == GT_CALL || ev->kind == GT_OPEN;
	bool waits = ev->kind == GT_SPAN && type->layer == GT_LAYER_GPU &&
		ev->seg->tracks[ev->track].kind == GT_TRACK_STREAM;
	struct gt_stack_lane *l = &f->segs[ev->seg->index].lanes[waits][ev->track];
	uint32_t name = type_label(f, ev), kernel = kernel_label(f, ev);
	struct gt_nest_row row = { .start = ev->row.start,
		.end = ev->row.end,
		.what = labels_of(name, kernel),
		.depth = ev->row.depth,
		.range = !call,
		.leaf = ev->kind == GT_GPU || waits,
		.cost = f->opt->cost == GT_COST_COUNT ? 1 : bytes_of(ev) };
	struct placed p = { f, ev->seg, l->node, gt_range_of(&f->opt->filter, ev->seg) };

	if (!l->node) {
		p.node = track_node(f, ev->seg, ev->track, waits);
		l->node = p.node + 1;
		l->nest.ranges = true;
	}
	p.node = l->node - 1;
	if (p.node == GT_NONE || f->err->code)
		return f->err->code;
	if (is_flat(ev->seg, ev->track, type))
		return add_piece(&p, GT_NONE, &row) == GT_NONE ? f->err->code : 0;
	if (gt_nest_add(&l->nest, &row, add_piece, &p))
		return f->err->code ? f->err->code : gt_err_set(f->err, -ENOMEM, "out of memory");
	return 0;
}

/* ---- below call stacks ---- */

/* The node of the innermost frame of the row's stack. */
static uint32_t stack_node(struct gt_stack_tree *f, const struct gt_event *ev)
{
	uint64_t id = gt_event_value(ev, &ev->seg->types[ev->row.type], GT_R_STACK, GT_NONE);
	uint32_t root = gt_stack_tree_child(f, GT_NONE, ev->kind == GT_GPU ? "GPU" : "CPU");

	return gt_stack_tree_frames(
		f, gt_stack_tree_process(f, root, ev->seg, ev->track), ev->seg, id);
}

static int add_stacked_row(void *arg, const struct gt_event *ev)
{
	struct gt_stack_tree *f = arg;
	struct gt_range range = gt_range_of(&f->opt->filter, ev->seg);
	uint32_t node;
	int64_t cost = f->opt->cost == GT_COST_COUNT ? 1
		: f->opt->cost == GT_COST_BYTES
		? bytes_of(ev)
		: (int64_t)(gt_ns_in_range(range, ev->row.start, ev->row.end) & INT64_MAX);

	if (ev->kind != GT_GPU && ev->row.depth)
		return 0;
	node = gt_stack_tree_node(f, stack_node(f, ev), type_label(f, ev));
	if (node == GT_NONE || f->err->code)
		return f->err->code;
	gt_stack_tree_add(f, node, cost);
	return 0;
}

static int flush(struct gt_stack_tree *f)
{
	for (uint32_t i = 0; i < gt_reader_segments(f->r); i++)
		for (uint32_t t = 0; t < 2 * gt_reader_segment(f->r, i)->ntracks; t++) {
			struct gt_stack_lane *l = &f->segs[i].lanes[t % 2][t / 2];
			const struct gt_segment *seg = gt_reader_segment(f->r, i);
			struct placed p = { f, seg, l->node - 1,
				gt_range_of(&f->opt->filter, seg) };

			if (l->node && gt_nest_flush(&l->nest, add_piece, &p))
				return f->err->code ? f->err->code
						    : gt_err_set(f->err, -ENOMEM, "out of memory");
		}
	return 0;
}

static int read_rows(struct gt_stack_tree *f, bool by_stack, struct gt_err *err)
{
	const uint32_t kinds = GT_BIT(GT_CALL) | GT_BIT(GT_OPEN) | GT_BIT(GT_GPU) |
		(by_stack ? 0 : GT_BIT(GT_SPAN));
	struct gt_filter filter = f->opt->filter;
	int rc = 0;

	filter.kinds = filter.kinds ? filter.kinds & kinds : kinds;
	if (filter.kinds)
		rc = gt_export_rows(
			f->r, f->opt, &filter, NULL, by_stack ? add_stacked_row : add_row, f, err);
	return rc ? rc : flush(f);
}

int gt_stack_tree_build(struct gt_stack_tree *f, struct gt_reader *r,
	const struct gt_export_options *opt, struct gt_err *err)
{
	int rc;

	*f = (struct gt_stack_tree){ .err = NULL };
	if (opt->by_stack && !gt_has_stacks(r))
		return gt_err_set(err, -ENODATA,
			"--stacks: the trace has no call stacks (gtcollect --stacks)");
	rc = gt_stack_tree_init(f, r, err);
	f->opt = opt;
	f->cost = opt->cost;
	return rc ? rc : read_rows(f, opt->by_stack, err);
}

int gt_stack_tree_pieces(struct gt_stack_tree *f, struct gt_reader *r,
	const struct gt_export_options *opt, gt_stack_piece_fn *fn, void *arg, struct gt_err *err)
{
	int rc = gt_stack_tree_init(f, r, err);

	f->opt = opt;
	f->piece = fn;
	f->piece_arg = arg;
	return rc ? rc : read_rows(f, false, err);
}
