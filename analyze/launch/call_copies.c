#include "analyze/launch/call_copies.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/gpu/gpu_time.h"
#include "analyze/columns/launch_fields.h"
#include "analyze/columns/column_cursor.h"
#include "formats/base/buf.h"

#define CALL_KEY offsetof(struct gt_call_copy, bytes)

static uint32_t find(const struct gt_call_copies *c, const struct gt_call_copy *key)
{
	return c->n ? gt_map_find_item(&c->map, c->list, sizeof(*key), key, CALL_KEY) : UINT32_MAX;
}

/* One call may make several copies, for example of rows. */
static int add(struct gt_call_copies *c, const struct gt_call_copy *one, struct gt_err *err)
{
	uint32_t i = find(c, one);

	if (i != UINT32_MAX) {
		struct gt_call_copy *have = &c->list[i];

		have->bytes = gt_sat_add(have->bytes, one->bytes);
		have->direction =
			have->direction == one->direction ? one->direction : GT_DIR_UNKNOWN;
		have->by_order |= one->by_order;
		return 0;
	}
	c->crowded |= c->n == GT_CALL_COPIES_MOST;
	if (c->n == GT_CALL_COPIES_MOST)
		return 0;
	if (gt_map_add_item(&c->map, &c->list, &c->n, &c->cap, sizeof(*one), one, CALL_KEY) ==
		UINT32_MAX)
		return gt_err_set(err, -ENOMEM, "out of memory (copies)");
	return 0;
}

/* Copies that are graph nodes have no copying call. */
static bool is_copy(const struct gt_segment *seg, const struct gt_type *type, void *arg)
{
	return type && type->layer == GT_LAYER_GPU && type->op == GT_OP_COPY &&
		gt_type_field(type, GT_R_GRAPH) == GT_NONE;
}

static int copies_of_code(
	struct gt_call_copies *c, const struct gt_cols *cols, uint32_t code, struct gt_err *err)
{
	struct gt_launch_fields l;
	struct gt_launch_call call;
	struct gt_column_cursor p;
	uint64_t direction, bytes;
	uint32_t nth = 0;
	int rc = 0;

	gt_launch_fields_read(&l, cols, code, GT_LAUNCH_TRACK | GT_LAUNCH_START);
	for (gt_column_cursor_start(&p, cols, code, GT_R_DIRECTION, GT_R_BYTES);
		!rc && gt_column_cursor_next(&p); nth++) {
		if (!gt_launch_fields_call(&l, cols->seg, nth, &call) || call.track == GT_NONE ||
			!gt_column_cursor_value(&p, 0, &direction) ||
			!gt_column_cursor_value(&p, 1, &bytes))
			continue;
		rc = add(c,
			&(struct gt_call_copy){ call.start, cols->seg->index, call.track, bytes,
				direction <= GT_DIR_PEER ? (uint8_t)direction : GT_DIR_UNKNOWN,
				call.by_order },
			err);
	}
	return rc;
}

static int on_run(void *arg, const struct gt_cols *cols, struct gt_err *err)
{
	int rc = 0;

	for (uint32_t c = 0; !rc && c < cols->ntypes; c++)
		if (is_copy(cols->seg, gt_cols_type(cols, c), NULL))
			rc = copies_of_code(arg, cols, c, err);
	return rc;
}

int gt_call_copies_read(
	struct gt_call_copies *c, const struct gt_report_state *report, struct gt_err *err)
{
	struct gt_filter filter = report->opt->filter;

	filter.kinds = GT_BIT(GT_GPU);
	filter.args = true;
	filter.ranged = false;
	filter.tid = 0;
	filter.match = is_copy;
	return gt_reread_trace(report->reader, &filter, GT_ANY_ORDER, on_run, c, err);
}

const struct gt_call_copy *gt_call_copies_find(
	const struct gt_call_copies *c, uint32_t segment, uint32_t track, int64_t start)
{
	uint32_t i = find(
		c, &(struct gt_call_copy){ .start = start, .segment = segment, .track = track });

	return i == UINT32_MAX ? NULL : &c->list[i];
}

void gt_call_copies_release(struct gt_call_copies *c)
{
	free(c->list);
	gt_map_release(&c->map);
}
