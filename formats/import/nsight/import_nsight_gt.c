/* The tables of gtexport that Nsight does not have. */
#include "formats/import/nsight/import_nsight_internal.h"

#include <string.h>

/* Columns: start, end, globalTid, stateId, wakerPid, wakerTid, byPid, byTid, syscall, holderTid,
 * stackId. */
int gt_nsight_see_gt_sched(struct gt_nsight *n, sqlite3_value **s)
{
	const struct gt_type off = { .op = GT_OP_OFF_CPU };
	uint32_t name = gt_nsight_string(n, s, 3), track, stack;
	struct gt_sched_row row = { .syscall = gt_nsight_number(s, 8, GT_SCHED_NO_SYSCALL) };

	if (!gt_nsight_times(n, s, &row.start, &row.end))
		return 0;
	if (name == GT_NONE)
		return n->err->code;
	row.state = (enum gt_sched_state)gt_sched_state_of(&off, gt_writer_string_text(n->w, name));
	/* NULL reads as 0 */
	row.pid = gt_nsight_number32(s, 4) | gt_nsight_number32(s, 6);
	row.tid = gt_nsight_number32(s, 5) | gt_nsight_number32(s, 7);
	row.holder = gt_nsight_number32(s, 9);
	stack = gt_nsight_stack(n, GT_NSIGHT_CALL_STACKS, s, 10);
	row.stack = stack == GT_NONE ? 0 : stack + 1;
	track = gt_nsight_thread(n, sqlite3_value_int64(s[2]));
	return track == GT_NONE ? n->err->code : gt_nsight_put_sched(n, track, &row);
}

/* Columns: start, globalTid, period, stackId. */
int gt_nsight_see_gt_sample(struct gt_nsight *n, sqlite3_value **s)
{
	uint32_t stack = gt_nsight_stack(n, GT_NSIGHT_CALL_STACKS, s, 3), track;
	uint64_t period = (uint64_t)sqlite3_value_int64(s[2]);
	int64_t at;

	if (!gt_nsight_time(n, s, 0, &at))
		return 0;
	if (!n->sample_types.w && gt_sample_types_init(&n->sample_types, n->w, n->err))
		return n->err->code;
	track = gt_nsight_thread(n, sqlite3_value_int64(s[1]));
	return track == GT_NONE
		? n->err->code
		: gt_nsight_row_is_done(
			  n, at, gt_sample_put(&n->sample_types, track, at, period, stack, n->err));
}

/* The track with an id of GT_TRACKS; if there is none, one of the process, or of the device. */
static uint32_t track_of(struct gt_nsight *n, sqlite3_value **s, int track, int global, int device)
{
	uint32_t t = gt_nsight_track(n, s, track);

	if (t != GT_NONE)
		return t;
	return device >= 0 && gt_nsight_has(s, device)
		? gt_nsight_gpu(
			  n, sqlite3_value_int64(s[global]), sqlite3_value_int64(s[device]), -1, -1)
		: gt_nsight_thread(n, sqlite3_value_int64(s[global]));
}

static bool has_word(struct gt_nsight *n, sqlite3_value **s, int c, const char *word)
{
	uint32_t string = gt_nsight_string_or_none(n, s, c);

	return string != GT_NONE && !strcmp(gt_writer_string_text(n->w, string), word);
}

/* Columns: start, trackId, globalPid, deviceId, nameId, value, categoryId, layerId, memoryId,
 * valueKindId. */
int gt_nsight_see_gt_counter(struct gt_nsight *n, sqlite3_value **s)
{
	struct gt_nsight_type_key key = { .name = gt_nsight_string(n, s, 4),
		.category = gt_nsight_word(n, s, 6, gt_category_word, GT_CAT_OTHER),
		.layer = gt_nsight_word(n, s, 7, gt_layer_word, GT_LAYER_GPU),
		.memkind = gt_nsight_word(n, s, 8, gt_memkind_word, GT_MEM_UNKNOWN),
		.fields = has_word(n, s, 9, "unsigned") ? GT_NSIGHT_U64
			: has_word(n, s, 9, "integer")  ? GT_NSIGHT_I64
							: GT_NSIGHT_F64 };
	double d = sqlite3_value_double(s[5]);
	uint64_t value = (uint64_t)sqlite3_value_int64(s[5]);
	struct gt_row row = { 0 };

	if (!gt_nsight_time(n, s, 0, &row.start) || !gt_nsight_has(s, 5))
		return 0;
	if (key.name == GT_NONE)
		return n->err->code;
	row.end = row.start;
	if (key.fields == GT_NSIGHT_F64)
		memcpy(&value, &d, sizeof(value));
	else if (key.fields == GT_NSIGHT_U64 && d >= 0x1p63 && d < 0x1p64)
		value = (uint64_t)d;
	return gt_nsight_put(n, GT_COUNTER, track_of(n, s, 1, 2, 3), &row, &key, &value);
}

/* Columns: start, end, scopeId, trackId, count. */
int gt_nsight_see_gt_loss(struct gt_nsight *n, sqlite3_value **s)
{
	static const char *const words[] = { "track", "process", "cpu", "device" };
	uint32_t scope = 0, track = gt_nsight_track(n, s, 3);
	int64_t start, end;

	if (!gt_nsight_times(n, s, &start, &end))
		return 0;
	while (scope < GT_SCOPE_ALL && !has_word(n, s, 2, words[scope]))
		scope++;
	if (track == GT_NONE && scope <= GT_SCOPE_PROCESS)
		scope = GT_SCOPE_ALL;
	return gt_nsight_row_is_done(n, start,
		gt_writer_loss(n->w, (enum gt_scope)scope, track, start, end,
			(uint64_t)gt_nsight_number(s, 4, -1), n->err));
}

/* Columns: start, end, kindId, trackId, globalTid, nameId, categoryId, layerId, operationId,
 * returnValue, bytes, stackId. Calls among these events become spans: whether they nest is not
 * known. */
int gt_nsight_see_gt_event(struct gt_nsight *n, sqlite3_value **s)
{
	uint8_t kind = gt_nsight_word(n, s, 2, gt_kind_word, GT_SPAN);
	uint64_t stack = gt_nsight_stack(n, GT_NSIGHT_CALL_STACKS, s, 11), args[2], nargs = 0;
	bool has_bytes = gt_nsight_has(s, 10);
	struct gt_nsight_type_key key = { .name = gt_nsight_string(n, s, 5),
		.category = gt_nsight_word(n, s, 6, gt_category_word, GT_CAT_OTHER),
		.layer = gt_nsight_word(n, s, 7, gt_layer_word, GT_LAYER_USER),
		.op = gt_nsight_word(n, s, 8, gt_op_word, GT_OP_NONE),
		.fields = (has_bytes ? GT_NSIGHT_BYTES : 0) |
			(stack == GT_NONE ? 0 : GT_NSIGHT_STACK) };
	struct gt_row row = { .ret = (int32_t)sqlite3_value_int64(s[9]) };

	if (!gt_nsight_call_times(n, s, &row.start, &row.end))
		return 0;
	if (key.name == GT_NONE)
		return n->err->code;
	if (kind != GT_INSTANT && kind != GT_UNMATCHED && kind != GT_GPU)
		kind = row.end == GT_NSIGHT_NO_END ? GT_UNMATCHED : GT_SPAN;
	if (kind == GT_INSTANT || row.end == GT_NSIGHT_NO_END)
		row.end = row.start;
	if (has_bytes)
		args[nargs++] = (uint64_t)sqlite3_value_int64(s[10]);
	args[nargs] = stack;
	return gt_nsight_put(n, (enum gt_kind)kind, track_of(n, s, 3, 4, -1), &row, &key, args);
}
