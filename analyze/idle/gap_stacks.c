#include "analyze/idle/gap_stacks.h"

#include <stdlib.h>
#include "analyze/columns/column_cursor.h"
#include "formats/base/map.h"

#define SLOTS (1u << 16) /* 1 MiB */

static struct gt_gap_launch *place_of(const struct gt_gap_stacks *g, uint32_t thread, int64_t start)
{
	return &g->calls[gt_hash_u64((uint64_t)start * 31 + thread) & (SLOTS - 1)];
}

static void add_calls(
	struct gt_gap_stacks *g, const struct gt_idle *s, const struct gt_cols *cols, uint32_t code)
{
	uint32_t thread = gt_time_ordered_track(&s->order, cols->seg, cols->track);
	struct gt_column_cursor p;
	uint64_t stack;

	for (gt_column_cursor_start(&p, cols, code, GT_R_STACK, GT_R_NONE);
		gt_column_cursor_next(&p);)
		if (gt_column_cursor_value(&p, 0, &stack) && stack < cols->seg->nstacks)
			*place_of(g, thread, cols->start[p.row]) =
				(struct gt_gap_launch){ cols->start[p.row], thread,
					(uint32_t)stack + 1 };
}

void gt_gap_stacks_rows(
	struct gt_gap_stacks *g, const struct gt_idle *s, const struct gt_cols *cols)
{
	if (cols->kind != GT_CALL || !cols->seg->nstacks)
		return;
	for (uint32_t c = 0; c < cols->ntypes; c++) {
		const struct gt_type *type = gt_cols_type(cols, c);

		if (!type || type->op != GT_OP_GRAPH_LAUNCH)
			continue;
		if (!g->calls)
			g->calls = calloc(SLOTS, sizeof(*g->calls));
		g->no_memory |= !g->calls;
		if (g->calls)
			add_calls(g, s, cols, c);
	}
}

uint32_t gt_gap_stacks_of(const struct gt_gap_stacks *g, const struct gt_idle_op *op)
{
	const struct gt_gap_launch *c;

	if (!op->joined || !op->graph)
		return op->stack - 1; /* 0: GT_NONE */
	c = g->calls ? place_of(g, op->thread, op->launched) : NULL;
	return c && c->stack && c->thread == op->thread && c->start == op->launched ? c->stack - 1
										    : GT_NONE;
}

void gt_gap_stacks_release(struct gt_gap_stacks *g)
{
	free(g->calls);
	*g = (struct gt_gap_stacks){ .calls = NULL };
}
