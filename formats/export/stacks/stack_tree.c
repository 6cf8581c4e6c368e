#include "formats/export/stacks/stack_tree_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "formats/names/stack_names.h"
#include "formats/text/printable.h"

#define NODES_MAX (1u << 21)

uint32_t gt_stack_tree_no_memory(struct gt_stack_tree *f)
{
	gt_err_set(f->err, -ENOMEM, "out of memory");
	return GT_NONE;
}

/* ---- labels and nodes ---- */

static bool same_label(const void *arg, uint32_t value, const void *key, size_t len)
{
	return !strcmp(gt_stack_tree_label(arg, value), key);
}

uint32_t gt_stack_tree_text(struct gt_stack_tree *f, const char *name)
{
	char *safe = gt_printable(*name ? name : "?", 0);
	uint32_t id = GT_NONE;
	uint64_t hash;

	if (!safe)
		return gt_stack_tree_no_memory(f);
	hash = gt_hash(safe, strlen(safe));
	id = gt_map_get(&f->by_label, hash, same_label, f, safe, strlen(safe));
	if (id == UINT32_MAX) {
		size_t at = f->text.len;

		gt_buf_add(&f->text, safe, strlen(safe) + 1);
		if (f->text.failed ||
			gt_grow(&f->labels, &f->labels_cap, f->nlabels + 1, sizeof(*f->labels)) ||
			gt_map_add(&f->by_label, hash, (uint32_t)f->nlabels)) {
			free(safe);
			return gt_stack_tree_no_memory(f);
		}
		f->labels[f->nlabels] = (struct gt_stack_label){ at, 0, GT_NONE };
		id = (uint32_t)f->nlabels++;
	}
	free(safe);
	return id;
}

uint32_t gt_stack_tree_node(struct gt_stack_tree *f, uint32_t parent, uint32_t label)
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
	return id == UINT32_MAX ? gt_stack_tree_no_memory(f) : id;
}

uint32_t gt_stack_tree_child(struct gt_stack_tree *f, uint32_t parent, const char *name)
{
	return gt_stack_tree_node(f, parent, gt_stack_tree_text(f, name));
}

void gt_stack_tree_add(struct gt_stack_tree *f, uint32_t node, int64_t cost)
{
	if (__builtin_add_overflow(f->nodes[node].cost, cost, &f->nodes[node].cost))
		f->nodes[node].cost = INT64_MAX;
}

/* ---- frames ---- */

/* "name (id)" if there is a name, else "thread 4711". */
uint32_t gt_stack_tree_track(struct gt_stack_tree *f, const struct gt_segment *seg, uint32_t track)
{
	const struct gt_track *t = &seg->tracks[track];
	char name[256], label[300];

	gt_export_track_name(seg, track, name, sizeof(name));
	if (t->name == GT_NONE || !gt_str(seg, t->name)[0])
		return gt_stack_tree_text(f, name);
	snprintf(label, sizeof(label), "%s (%" PRId64 ")", name, t->id);
	return gt_stack_tree_text(f, label);
}

uint32_t gt_stack_tree_process(
	struct gt_stack_tree *f, uint32_t node, const struct gt_segment *seg, uint32_t track)
{
	uint32_t process = gt_track_process(seg, track);

	if (f->hosts && node != GT_NONE)
		node = gt_stack_tree_child(f, node, seg->host ? seg->host : "?");
	if (process != GT_NONE && node != GT_NONE)
		node = gt_stack_tree_node(f, node, gt_stack_tree_track(f, seg, process));
	return node;
}

static uint32_t frame_label(struct gt_stack_tree *f, const struct gt_segment *seg, uint32_t text)
{
	uint32_t **frames = &f->segs[seg->index].frames, label = GT_NONE;
	struct gt_buf name = { 0 };

	if (!*frames)
		*frames = calloc((size_t)seg->nstrings + 1, sizeof(**frames));
	if (!*frames)
		return gt_stack_tree_no_memory(f);
	if ((*frames)[text])
		return (*frames)[text] - 1;
	gt_frame_name(&name, seg, text, GT_STACK_LINE);
	gt_buf_byte(&name, 0);
	label = name.failed ? gt_stack_tree_no_memory(f)
			    : gt_stack_tree_text(f, (const char *)name.data);
	gt_buf_release(&name);
	if (label == GT_NONE)
		return GT_NONE;
	f->labels[label].segment = seg->index;
	f->labels[label].text = text;
	(*frames)[text] = label + 1;
	return label;
}

uint32_t gt_stack_tree_frames(
	struct gt_stack_tree *f, uint32_t node, const struct gt_segment *seg, uint64_t stack)
{
	if (stack >= seg->nstacks && node != GT_NONE)
		return gt_stack_tree_child(f, node, "(no stack recorded)");
	for (uint32_t i = 0; node != GT_NONE && i < seg->stacks[stack].n; i++)
		node = gt_stack_tree_node(
			f, node, frame_label(f, seg, seg->stacks[stack].frames[i]));
	return node;
}

/* ---- the tree ---- */

int gt_stack_tree_init(struct gt_stack_tree *f, struct gt_reader *r, struct gt_err *err)
{
	uint32_t n = gt_reader_segments(r);

	*f = (struct gt_stack_tree){ .r = r, .err = err };
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
	free(f->before);
	free(f->labels);
	free(f->title);
	free(f->note);
	gt_map_release(&f->by_place);
	gt_map_release(&f->by_label);
	gt_buf_release(&f->text);
	gt_kernel_names_free(f->names);
}
