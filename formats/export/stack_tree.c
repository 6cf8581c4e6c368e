#include "formats/export/stack_tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "formats/names/stack_names.h"
#include "formats/text/printable.h"
#include "formats/trace/read/nest.h"

#define NODES_MAX (1u << 21)

/* A track, or the waits of a stream. node: of the track, plus 1 */
struct lane {
	uint32_t node;
	struct gt_nest nest;
};
/* types, kernels, frames: labels by type and by string, plus 1. lanes: work and waits, by track */
struct gt_stack_segment {
	uint32_t *types, *kernels, *frames;
	struct lane *lanes[2];
};

struct placed {
	struct gt_stack_tree *f;
	uint32_t node;
	struct gt_range range; /* that the filter selects */
};                             /* a lane and its node */

static uint32_t no_memory(struct gt_stack_tree *f)
{
	gt_err_set(f->err, -ENOMEM, "out of memory");
	return GT_NONE;
}

/* ---- labels and nodes ---- */

static bool same_label(const void *arg, uint32_t value, const void *key, size_t len)
{
	return !strcmp(gt_stack_tree_label(arg, value), key);
}

static uint32_t get_label(struct gt_stack_tree *f, const char *name)
{
	char *safe = gt_printable(*name ? name : "?", 0);
	uint32_t id = GT_NONE;
	uint64_t hash;

	if (!safe)
		return no_memory(f);
	hash = gt_hash(safe, strlen(safe));
	id = gt_map_get(&f->by_label, hash, same_label, f, safe, strlen(safe));
	if (id == UINT32_MAX) {
		size_t at = f->text.len;

		gt_buf_add(&f->text, safe, strlen(safe) + 1);
		if (f->text.failed ||
			gt_grow(&f->labels, &f->labels_cap, f->nlabels + 1, sizeof(*f->labels)) ||
			gt_map_add(&f->by_label, hash, (uint32_t)f->nlabels)) {
			free(safe);
			return no_memory(f);
		}
		f->labels[f->nlabels] = at;
		id = (uint32_t)f->nlabels++;
	}
	free(safe);
	return id;
}

static uint32_t get_node(struct gt_stack_tree *f, uint32_t parent, uint32_t label)
{
	struct gt_stack_node key = { .parent = parent, .label = label };
	const size_t size = offsetof(struct gt_stack_node, cost);
	uint32_t id;

	if (label == GT_NONE)
		return GT_NONE;
	id = gt_map_find_item(&f->by_place, f->nodes, sizeof(key), &key, size);
	if (id != UINT32_MAX)
		return id;
	if (f->nnodes >= NODES_MAX) {
		gt_err_set(f->err, -E2BIG, "more than %u different stacks", NODES_MAX);
		return GT_NONE;
	}
	id = gt_map_add_item(
		&f->by_place, &f->nodes, &f->nnodes, &f->nodes_cap, sizeof(key), &key, size);
	return id == UINT32_MAX ? no_memory(f) : id;
}

/* ---- frames ---- */

/* "name (id)" if there is a name, else "thread 4711". */
static uint32_t track_label(struct gt_stack_tree *f, const struct gt_segment *seg, uint32_t track)
{
	const struct gt_track *t = &seg->tracks[track];
	char name[256], label[300];

	gt_export_track_name(seg, track, name, sizeof(name));
	if (t->name == GT_NONE || !gt_str(seg, t->name)[0])
		return get_label(f, name);
	snprintf(label, sizeof(label), "%s (%" PRId64 ")", name, t->id);
	return get_label(f, label);
}

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
		 label = track_label(f, seg, track);
	uint32_t node = get_node(f, GT_NONE, get_label(f, is_gpu(seg, track) ? "GPU" : "CPU"));
	char name[300];

	if (f->hosts)
		node = get_node(f, node, get_label(f, seg->host ? seg->host : "?"));
	if (process != GT_NONE && process != track)
		node = get_node(f, node, track_label(f, seg, process));
	if (device != GT_NONE && device != track && device != process)
		node = get_node(f, node, track_label(f, seg, device));
	if (waits && label != GT_NONE) {
		snprintf(name, sizeof(name), "%s waits", gt_stack_tree_label(f, label));
		label = get_label(f, name);
	}
	return get_node(f, node, label);
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
	*label = name ? get_label(f, name) + 1 : 0;
	return name ? *label - 1 : no_memory(f);
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
		return no_memory(f);
	if (!s->kernels[kernel]) {
		brief = gt_kernel_names_get(f->names, gt_str(ev->seg, kernel));
		s->kernels[kernel] = brief ? get_label(f, brief) + 1 : 0;
	}
	return s->kernels[kernel] ? s->kernels[kernel] - 1 : no_memory(f);
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

static void add_cost(struct gt_stack_tree *f, uint32_t node, int64_t cost)
{
	if (__builtin_add_overflow(f->nodes[node].cost, cost, &f->nodes[node].cost))
		f->nodes[node].cost = INT64_MAX;
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
	uint32_t node = get_node(f, parent == GT_NONE ? p->node : parent, (uint32_t)piece->what),
		 kernel = (uint32_t)(piece->what >> 32);
	int64_t ns;

	if (kernel && node != GT_NONE)
		node = get_node(f, node, kernel - 1);
	if (node == GT_NONE)
		return GT_NONE;
	if (f->opt->cost == GT_COST_TIME) {
		ns = (int64_t)(gt_ns_in_range(p->range, piece->start, piece->end) & INT64_MAX);
		add_cost(f, node, ns);
		if (parent != GT_NONE)
			add_cost(f, parent, -ns);
	} else if (!piece->nth) {
		add_cost(f, node, piece->cost);
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
	struct lane *l = &f->segs[ev->seg->index].lanes[waits][ev->track];
	uint32_t name = type_label(f, ev), kernel = kernel_label(f, ev);
	struct gt_nest_row row = { .start = ev->row.start,
		.end = ev->row.end,
		.what = labels_of(name, kernel),
		.depth = ev->row.depth,
		.range = !call,
		.leaf = ev->kind == GT_GPU || waits,
		.cost = f->opt->cost == GT_COST_COUNT ? 1 : bytes_of(ev) };
	struct placed p = { f, l->node, gt_range_of(&f->opt->filter, ev->seg) };

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

static uint32_t frame_label(struct gt_stack_tree *f, const struct gt_segment *seg, uint32_t text)
{
	uint32_t **frames = &f->segs[seg->index].frames, label = GT_NONE;
	struct gt_buf name = { 0 };

	if (!*frames)
		*frames = calloc((size_t)seg->nstrings + 1, sizeof(**frames));
	if (!*frames)
		return no_memory(f);
	if ((*frames)[text])
		return (*frames)[text] - 1;
	gt_frame_name(&name, seg, text, GT_STACK_LINE);
	gt_buf_byte(&name, 0);
	label = name.failed ? no_memory(f) : get_label(f, (const char *)name.data);
	gt_buf_release(&name);
	if (label != GT_NONE)
		(*frames)[text] = label + 1;
	return label;
}

/* The node of the innermost frame of the row's stack. */
static uint32_t stack_node(struct gt_stack_tree *f, const struct gt_event *ev)
{
	const struct gt_segment *seg = ev->seg;
	uint64_t id = gt_event_value(ev, &seg->types[ev->row.type], GT_R_STACK, GT_NONE);
	uint32_t node = get_node(f, GT_NONE, get_label(f, ev->kind == GT_GPU ? "GPU" : "CPU")),
		 process = gt_track_process(seg, ev->track);

	if (f->hosts)
		node = get_node(f, node, get_label(f, seg->host ? seg->host : "?"));
	if (process != GT_NONE)
		node = get_node(f, node, track_label(f, seg, process));
	if (id >= seg->nstacks)
		return get_node(f, node, get_label(f, "(no stack recorded)"));
	for (uint32_t i = 0; i < seg->stacks[id].n && node != GT_NONE; i++)
		node = get_node(f, node, frame_label(f, seg, seg->stacks[id].frames[i]));
	return node;
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
	node = get_node(f, stack_node(f, ev), type_label(f, ev));
	if (node == GT_NONE || f->err->code)
		return f->err->code;
	add_cost(f, node, cost);
	return 0;
}

static int flush(struct gt_stack_tree *f)
{
	for (uint32_t i = 0; i < gt_reader_segments(f->r); i++)
		for (uint32_t t = 0; t < 2 * gt_reader_segment(f->r, i)->ntracks; t++) {
			struct lane *l = &f->segs[i].lanes[t % 2][t / 2];
			struct placed p = { f, l->node - 1,
				gt_range_of(&f->opt->filter, gt_reader_segment(f->r, i)) };

			if (l->node && gt_nest_flush(&l->nest, add_piece, &p))
				return f->err->code ? f->err->code
						    : gt_err_set(f->err, -ENOMEM, "out of memory");
		}
	return 0;
}

/* ---- the tree ---- */

static int init(struct gt_stack_tree *f)
{
	uint32_t n = gt_reader_segments(f->r);

	f->segs = calloc((size_t)n + 1, sizeof(*f->segs));
	f->names = gt_kernel_names_of(f->r, GT_NAME_SHORT);
	if (!f->segs || !f->names)
		return gt_err_set(f->err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < n; i++) {
		const struct gt_segment *seg = gt_reader_segment(f->r, i),
					*first = gt_reader_segment(f->r, 0);

		f->segs[i].types = calloc((size_t)seg->ntypes + 1, sizeof(*f->segs[i].types));
		for (unsigned k = 0; k < 2; k++)
			f->segs[i].lanes[k] =
				calloc((size_t)seg->ntracks + 1, sizeof(*f->segs[i].lanes[k]));
		if (!f->segs[i].types || !f->segs[i].lanes[0] || !f->segs[i].lanes[1])
			return gt_err_set(f->err, -ENOMEM, "out of memory");
		f->hosts |= seg->host && first->host && strcmp(seg->host, first->host);
	}
	return 0;
}

void gt_stack_tree_release(struct gt_stack_tree *f)
{
	for (uint32_t i = 0; f->segs && i < gt_reader_segments(f->r); i++) {
		const struct gt_segment *seg = gt_reader_segment(f->r, i);

		for (unsigned k = 0; k < 2; k++) {
			for (uint32_t j = 0; f->segs[i].lanes[k] && j < seg->ntracks; j++)
				gt_nest_release(&f->segs[i].lanes[k][j].nest);
			free(f->segs[i].lanes[k]);
		}
		free(f->segs[i].types);
		free(f->segs[i].kernels);
		free(f->segs[i].frames);
	}
	free(f->segs);
	free(f->nodes);
	free(f->labels);
	gt_map_release(&f->by_place);
	gt_map_release(&f->by_label);
	gt_buf_release(&f->text);
	gt_kernel_names_free(f->names);
}

int gt_stack_tree_build(struct gt_stack_tree *f, struct gt_reader *r,
	const struct gt_export_options *opt, struct gt_err *err)
{
	const uint32_t kinds = GT_BIT(GT_CALL) | GT_BIT(GT_OPEN) | GT_BIT(GT_GPU) |
		(opt->by_stack ? 0 : GT_BIT(GT_SPAN));
	struct gt_filter filter = opt->filter;
	int rc;

	*f = (struct gt_stack_tree){ .r = r, .err = err, .opt = opt };
	if (opt->by_stack && !gt_has_stacks(r))
		return gt_err_set(err, -ENODATA,
			"--stacks: the trace has no call stacks (gtcollect --stacks)");
	rc = init(f);
	filter.kinds = filter.kinds ? filter.kinds & kinds : kinds;
	if (!rc && filter.kinds)
		rc = gt_export_rows(
			r, opt, &filter, NULL, opt->by_stack ? add_stacked_row : add_row, f, err);
	return rc ? rc : flush(f);
}
