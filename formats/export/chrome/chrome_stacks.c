#include "formats/export/chrome/chrome_stacks.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/base/map.h"
#include "formats/names/stack_names.h"

#define FRAMES_MAX (1u << 20)

struct node {
	uint32_t segment, text; /* string id */
	uint32_t parent;        /* plus 1; 0: an outermost frame */
};
struct stack {
	uint32_t node;   /* plus 1; 0: none */
	uint32_t caller; /* string id, or GT_NONE */
};
struct gt_chrome_stacks {
	struct gt_reader *r;
	struct node *nodes;
	size_t n, cap;
	struct gt_map map;
	struct stack **stacks; /* by segment and stack id */
	char ***names;         /* by segment and string id: JSON */
};

/* The node of a frame below its parent, plus 1; 0: none. */
static uint32_t add_node(struct gt_chrome_stacks *s, const struct node *n)
{
	uint32_t i = gt_map_find_item(&s->map, s->nodes, sizeof(*n), n, sizeof(*n));

	if (i == UINT32_MAX && s->n < FRAMES_MAX)
		i = gt_map_add_item(&s->map, &s->nodes, &s->n, &s->cap, sizeof(*n), n, sizeof(*n));
	return i + 1;
}

static struct stack add_stack(
	struct gt_chrome_stacks *s, const struct gt_segment *seg, uint32_t stack)
{
	const struct gt_stack *from = &seg->stacks[stack];
	struct stack to = { 0, gt_stack_caller(seg, stack) };

	for (uint32_t i = 0; i < from->n; i++) {
		to.node = add_node(s, &(struct node){ seg->index, from->frames[i], to.node });
		if (!to.node)
			break;
	}
	return to;
}

struct gt_chrome_stacks *gt_chrome_stacks_new(struct gt_reader *r)
{
	struct gt_chrome_stacks *s = calloc(1, sizeof(*s));
	uint32_t n = gt_reader_segments(r);

	if (!s)
		return NULL;
	s->r = r;
	s->stacks = calloc(n + 1ul, sizeof(*s->stacks));
	s->names = calloc(n + 1ul, sizeof(*s->names));
	for (uint32_t i = 0; s->stacks && s->names && i < n; i++) {
		const struct gt_segment *seg = gt_reader_segment(r, i);

		if (!seg->nstacks)
			continue;
		s->stacks[i] = calloc(seg->nstacks, sizeof(**s->stacks));
		s->names[i] = calloc(seg->nstrings, sizeof(**s->names));
		if (!s->stacks[i] || !s->names[i]) {
			gt_chrome_stacks_free(s);
			return NULL;
		}
		for (uint32_t k = 0; k < seg->nstacks; k++)
			s->stacks[i][k] = add_stack(s, seg, k);
	}
	if (s->stacks && s->names)
		return s;
	gt_chrome_stacks_free(s);
	return NULL;
}

uint32_t gt_chrome_stacks_frame(
	const struct gt_chrome_stacks *s, const struct gt_segment *seg, uint64_t stack)
{
	return stack < seg->nstacks ? s->stacks[seg->index][stack].node : 0;
}

/* The name of a frame as JSON; NULL: there is no memory. */
static char *make_name(const struct gt_segment *seg, uint32_t text)
{
	struct gt_buf plain = { 0 };
	struct gt_out json;
	char *name = NULL;

	gt_frame_name(&plain, seg, text, GT_STACK_LINE);
	if (!plain.failed) {
		gt_out_memory(&json);
		gt_out_json(&json, (const char *)plain.data, plain.len);
		if (!json.failed)
			name = strndup(json.data, json.len);
		gt_out_close(&json, NULL);
	}
	gt_buf_release(&plain);
	return name;
}

/* The same, made once. */
static const char *name_of(struct gt_chrome_stacks *s, const struct gt_segment *seg, uint32_t text)
{
	char **name = &s->names[seg->index][text];

	if (!*name)
		*name = make_name(seg, text);
	return *name;
}

const char *gt_chrome_stacks_caller(
	struct gt_chrome_stacks *s, const struct gt_segment *seg, uint64_t stack)
{
	uint32_t caller = stack < seg->nstacks ? s->stacks[seg->index][stack].caller : GT_NONE;

	return caller == GT_NONE ? NULL : name_of(s, seg, caller);
}

static const char *category_of(const struct gt_segment *seg, uint32_t text)
{
	const struct gt_frame *f = gt_segment_frame(seg, text);

	return f && f->kind ? gt_frame_kind_word(f->kind) : "frame";
}

void gt_chrome_stacks_put(struct gt_chrome_stacks *s, struct gt_out *out)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct node *n = &s->nodes[i];
		const struct gt_segment *seg = gt_reader_segment(s->r, n->segment);
		const char *name = name_of(s, seg, n->text);

		gt_out_printf(out, "%s\"%zu\":{\"category\":\"%s\",\"name\":",
			i ? ",\n" : ",\n\"stackFrames\":{", i + 1, category_of(seg, n->text));
		gt_out_str(out, name ? name : "\"?\"");
		if (n->parent)
			gt_out_printf(out, ",\"parent\":%u", n->parent);
		gt_out_str(out, "}");
	}
	gt_out_str(out, s->n ? "}" : "");
}

void gt_chrome_stacks_free(struct gt_chrome_stacks *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < gt_reader_segments(s->r); i++) {
		const struct gt_segment *seg = gt_reader_segment(s->r, i);

		for (uint32_t k = 0; s->names && s->names[i] && k < seg->nstrings; k++)
			free(s->names[i][k]);
		if (s->names)
			free(s->names[i]);
		if (s->stacks)
			free(s->stacks[i]);
	}
	free(s->stacks);
	free(s->names);
	free(s->nodes);
	gt_map_release(&s->map);
	free(s);
}
