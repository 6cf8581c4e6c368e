/* Makes moments of the rows: which calls may wait, the streams that they wait for, their copies,
 * and the work of the GPUs. */
#include "analyze/launch/waits_internal.h"

#include <string.h>
#include "analyze/columns/launch_fields.h"
#include "analyze/columns/column_cursor.h"
#include "formats/base/buf.h"
#include "formats/cuda/cuda_api.h"

/* ---- which calls may wait ---- */

enum gt_wait_for gt_wait_of_call(const char *name)
{
	static const struct {
		const char *name;
		enum gt_wait_for what;
	} calls[] = {
		{ "cuStreamSynchronize", GT_WAIT_STREAM },
		{ "cudaStreamSynchronize", GT_WAIT_STREAM },
		{ "cuEventSynchronize", GT_WAIT_EVENT },
		{ "cudaEventSynchronize", GT_WAIT_EVENT },
		{ "cuCtxSynchronize", GT_WAIT_CONTEXT },
		{ "cudaDeviceSynchronize", GT_WAIT_DEVICE },
		{ "cudaThreadSynchronize", GT_WAIT_DEVICE },
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (gt_api_is(name, calls[i].name))
			return calls[i].what;
	return GT_WAIT_OTHER;
}

static struct gt_waits_role role_of_copy(const char *name)
{
	uint64_t direction = gt_api_guess(name).direction;
	bool async = strstr(name, "Async") != NULL,
	     host = direction == GT_DIR_HTOD || direction == GT_DIR_DTOH;
	struct gt_waits_role w = { .how = host && !async ? GT_WAITS_SURE : GT_WAITS_IF_COPIED,
		.what = GT_WAIT_COPY,
		.async = async };

	if (!host && direction != GT_DIR_UNKNOWN)
		w.how = GT_WAITS_NOT;
	return w;
}

static struct gt_waits_role role_of_type(
	const struct gt_waits *w, const struct gt_segment *seg, const struct gt_type *type)
{
	const char *name = type ? gt_str(seg, type->name) : "";
	unsigned layer = w->segs[seg->index].runtime ? GT_LAYER_RUNTIME : GT_LAYER_API;

	if (!type || type->layer != layer)
		return (struct gt_waits_role){ .how = GT_WAITS_NOT };
	/* cuStreamWaitEvent returns at once: the stream waits */
	if (type->op == GT_OP_SYNC && !strstr(name, "WaitEvent"))
		return (struct gt_waits_role){ .how = GT_WAITS_SURE,
			.what = (uint8_t)gt_wait_of_call(name) };
	if (type->op == GT_OP_COPY)
		return role_of_copy(name);
	if (type->op == GT_OP_FREE && !strstr(name, "Async") && type->memkind != GT_MEM_POOL &&
		type->memkind != GT_MEM_PHYSICAL)
		return (struct gt_waits_role){ .how = GT_WAITS_IF_PENDING, .what = GT_WAIT_FREE };
	return (struct gt_waits_role){ .how = GT_WAITS_NOT };
}

bool gt_waits_uses_runtime_calls(const struct gt_segment *seg)
{
	for (uint32_t t = 0; t < seg->ntypes; t++)
		if (seg->types[t].layer == GT_LAYER_API &&
			(seg->types[t].op == GT_OP_SYNC || seg->types[t].op == GT_OP_COPY ||
				seg->types[t].op == GT_OP_FREE))
			return false;
	return true;
}

/* ---- rows ---- */

static int read_types(struct gt_waits *w, const struct gt_cols *cols, struct gt_err *err)
{
	if (w->block_seg == cols->seg && w->block == cols->block)
		return 0;
	if (gt_grow(&w->roles, &w->roles_cap, cols->ntypes, sizeof(*w->roles)) ||
		gt_grow(&w->nth, &w->nth_cap, cols->ntypes, sizeof(*w->nth)))
		return gt_err_set(err, -ENOMEM, "out of memory (types of a block)");
	for (uint32_t c = 0; c < cols->ntypes; c++)
		w->roles[c] = role_of_type(w, cols->seg, gt_cols_type(cols, c));
	w->block = cols->block;
	w->block_seg = cols->seg;
	return 0;
}

/* The direction of the nth copy of a code, if the call has it. */
static uint64_t direction_of(const struct gt_cols *cols, uint32_t code, uint32_t nth)
{
	uint32_t n;
	const uint64_t *values = gt_cols_role(cols, code, GT_R_DIRECTION, &n);

	return nth < n ? values[nth] : GT_DIR_UNKNOWN;
}

static struct gt_moment call_moment(
	struct gt_waits *w, const struct gt_cols *cols, uint32_t i, uint32_t code, uint32_t nth)
{
	const struct gt_waits_role *role = &w->roles[code];
	unsigned how = role->how;

	if (how == GT_WAITS_IF_COPIED && !role->async) {
		uint64_t direction = direction_of(cols, code, nth);

		how = direction == GT_DIR_HTOD || direction == GT_DIR_DTOH ? GT_WAITS_SURE
			: direction == GT_DIR_UNKNOWN                      ? GT_WAITS_IF_COPIED
									   : GT_WAITS_NOT;
	}
	return (struct gt_moment){
		.at = cols->start[i],
		.end = cols->start[i] + cols->dur[i],
		.place = gt_time_ordered_track(&w->order, cols->seg, cols->track),
		.what = GT_WAITS_CALL |
			gt_time_ordered_type(&w->order, cols->seg, cols->types[code]),
		.addr = (cols->depth ? cols->depth[i] : 0) |
			(cols->kind == GT_OPEN ? GT_WAITS_OPEN : 0) |
			(role->async ? GT_WAITS_ASYNC : 0) | how << GT_WAITS_HOW_SHIFT |
			(uint64_t)role->what << GT_WAITS_WHAT_SHIFT,
	};
}

static int calls_of_run(struct gt_waits *w, const struct gt_cols *cols, struct gt_time_merge *line,
	struct gt_err *err)
{
	struct gt_moment *to;
	bool any = false;
	size_t n = 0;

	for (uint32_t c = 0; c < cols->ntypes; c++)
		any |= w->roles[c].how != GT_WAITS_NOT;
	if (!any)
		return 0;
	if (!(to = gt_time_merge_reserve(line, cols->n, err)))
		return err->code;
	memset(w->nth, 0, cols->ntypes * sizeof(*w->nth));
	for (uint32_t i = 0; i < cols->n; i++) {
		uint32_t code = cols->code ? cols->code[i] : 0;

		if (w->roles[code].how == GT_WAITS_NOT)
			continue;
		to[n] = call_moment(w, cols, i, code, w->nth[code]++);
		n += (to[n].addr >> GT_WAITS_HOW_SHIFT & 15) != GT_WAITS_NOT;
	}
	gt_time_merge_commit(line, n);
	return 0;
}

static uint64_t value_at(const uint64_t *values, uint32_t n, uint32_t i, uint64_t otherwise)
{
	return i < n ? values[i] : otherwise;
}

/* Adds the rows of waits: they have the thread and start of the call, and lie on the stream's
 * track. */
static int targets_of_code(struct gt_waits *w, const struct gt_cols *cols, uint32_t code,
	struct gt_time_merge *line, struct gt_err *err)
{
	uint32_t number = gt_time_ordered_track(&w->order, cols->seg, cols->track);
	struct gt_moment *to = gt_time_merge_reserve(line, cols->n, err);
	struct gt_launch_fields l;
	struct gt_launch_call call;
	struct gt_column_cursor p;
	size_t n = 0;

	if (!to)
		return err->code;
	gt_launch_fields_read(&l, cols, code, GT_LAUNCH_TRACK | GT_LAUNCH_START);
	for (gt_column_cursor_start(&p, cols, code, GT_R_NONE, GT_R_NONE);
		gt_column_cursor_next(&p);)
		if (gt_launch_fields_call(&l, cols->seg, p.nth - 1, &call) &&
			call.track != GT_NONE && call.start == cols->start[p.row])
			to[n++] = (struct gt_moment){ .at = call.start,
				.end = call.start + cols->dur[p.row],
				.addr = number,
				.place = gt_time_ordered_track(&w->order, cols->seg, call.track),
				.what = GT_WAITS_TARGET };
	gt_time_merge_commit(line, n);
	return 0;
}

static int targets_of_run(struct gt_waits *w, const struct gt_cols *cols,
	struct gt_time_merge *line, struct gt_err *err)
{
	bool known = cols->track < cols->seg->ntracks &&
		cols->seg->tracks[cols->track].kind == GT_TRACK_STREAM;
	int rc = 0;

	for (uint32_t c = 0; known && !rc && c < cols->ntypes; c++) {
		const struct gt_type *type = gt_cols_type(cols, c);

		if (type && type->layer == GT_LAYER_GPU && type->op == GT_OP_SYNC)
			rc = targets_of_code(w, cols, c, line, err);
	}
	return rc;
}

static bool is_pageable(const struct gt_segment *seg, uint64_t memory)
{
	return memory < seg->nstrings && !strcmp(seg->strings[memory].ptr, "pageable");
}

/* Adds copies between host and device, for the calls that may wait for them. */
static int copied_of_code(struct gt_waits *w, const struct gt_cols *cols, uint32_t code,
	struct gt_time_merge *line, struct gt_err *err)
{
	uint32_t nsrc, ndst, ndirection;
	const uint64_t *src = gt_cols_role(cols, code, GT_R_SRC_MEMORY, &nsrc),
		       *dst = gt_cols_role(cols, code, GT_R_DST_MEMORY, &ndst);
	const uint64_t *direction = gt_cols_role(cols, code, GT_R_DIRECTION, &ndirection);
	struct gt_moment *to = gt_time_merge_reserve(line, cols->n, err);
	struct gt_launch_fields l;
	struct gt_launch_call call;
	struct gt_column_cursor p;
	size_t n = 0;

	if (!to)
		return err->code;
	gt_launch_fields_read(&l, cols, code, GT_LAUNCH_TRACK | GT_LAUNCH_START);
	for (gt_column_cursor_start(&p, cols, code, GT_R_NONE, GT_R_NONE);
		gt_column_cursor_next(&p);) {
		uint32_t i = p.nth - 1;
		uint64_t way = value_at(direction, ndirection, i, GT_DIR_UNKNOWN);
		bool pages = is_pageable(cols->seg, value_at(src, nsrc, i, GT_NONE)) ||
			is_pageable(cols->seg, value_at(dst, ndst, i, GT_NONE));

		if ((way == GT_DIR_HTOD || way == GT_DIR_DTOH) &&
			gt_launch_fields_call(&l, cols->seg, i, &call) && call.track != GT_NONE)
			to[n++] = (struct gt_moment){ .at = cols->start[p.row],
				.end = cols->start[p.row] + cols->dur[p.row],
				.addr = (uint64_t)call.start,
				.place = gt_time_ordered_track(&w->order, cols->seg, call.track),
				.what = GT_WAITS_COPIED | (pages ? GT_WAITS_PAGEABLE : 0) };
	}
	gt_time_merge_commit(line, n);
	return 0;
}

/* Sets the start of the launching call in the moment of each row. */
static void launches_of_code(const struct gt_cols *cols, uint32_t code, struct gt_moment *m)
{
	struct gt_launch_fields l;
	struct gt_launch_call call;
	struct gt_column_cursor p;

	gt_launch_fields_read(&l, cols, code, GT_LAUNCH_START);
	for (gt_column_cursor_start(&p, cols, code, GT_R_NONE, GT_R_NONE);
		gt_column_cursor_next(&p);)
		if (gt_launch_fields_call(&l, cols->seg, p.nth - 1, &call))
			m[p.row].addr = (uint64_t)call.start;
}

static int work_of_run(struct gt_waits *w, const struct gt_cols *cols, struct gt_time_merge *line,
	struct gt_err *err)
{
	uint32_t place = gt_time_ordered_track(&w->order, cols->seg, cols->track);
	struct gt_moment *m = place == GT_NONE ? NULL : gt_time_merge_reserve(line, cols->n, err);
	int rc = 0;

	if (!m)
		return place == GT_NONE ? 0 : err->code;
	for (uint32_t i = 0; i < cols->n; i++)
		m[i] = (struct gt_moment){ .at = cols->start[i],
			.end = cols->start[i] + cols->dur[i],
			.addr = GT_WAITS_UNJOINED,
			.place = place,
			.what = GT_WAITS_WORK };
	for (uint32_t c = 0; c < cols->ntypes; c++)
		launches_of_code(cols, c, m);
	gt_time_merge_commit(line, cols->n);
	for (uint32_t c = 0; !rc && c < cols->ntypes; c++)
		if (gt_gpu_what(gt_cols_type(cols, c)) == GT_GPU_COPY)
			rc = copied_of_code(w, cols, c, line, err);
	return rc;
}

int gt_waits_run(struct gt_waits *w, const struct gt_cols *cols, struct gt_err *err)
{
	struct gt_time_merge *line = &w->order.lines[cols->seg->index];
	int rc = gt_time_ordered_block(&w->order, cols, err);

	if (!rc)
		rc = read_types(w, cols, err);
	if (rc)
		return rc;
	if (cols->kind == GT_GPU)
		return work_of_run(w, cols, line, err);
	rc = cols->kind == GT_SPAN ? targets_of_run(w, cols, line, err) : 0;
	return rc ? rc : calls_of_run(w, cols, line, err);
}
