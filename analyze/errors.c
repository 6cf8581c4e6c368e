/* Calls that failed, by name and code: how often, and when for the first time. CUDA's codes have their names; an ioctl's
 * code is the driver's own status when positive and an errno when negative. CUDA_ERROR_NOT_READY is what polling returns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/report.h"
#include "formats/base/buf.h"
#include "formats/base/map.h"

#define ERRORS_MAX 65536	/* different ones; a file with more is not worth more memory */

static const struct { int code; const char *name; } cuda_errors[] = {
#define E(code, name) { code, "CUDA_ERROR_" #name },
	E(1, INVALID_VALUE) E(2, OUT_OF_MEMORY) E(3, NOT_INITIALIZED) E(4, DEINITIALIZED) E(5, PROFILER_DISABLED)
	E(6, PROFILER_NOT_INITIALIZED) E(7, PROFILER_ALREADY_STARTED) E(8, PROFILER_ALREADY_STOPPED) E(34, STUB_LIBRARY)
	E(36, CALL_REQUIRES_NEWER_DRIVER) E(46, DEVICE_UNAVAILABLE) E(100, NO_DEVICE) E(101, INVALID_DEVICE)
	E(102, DEVICE_NOT_LICENSED) E(200, INVALID_IMAGE) E(201, INVALID_CONTEXT) E(202, CONTEXT_ALREADY_CURRENT)
	E(205, MAP_FAILED) E(206, UNMAP_FAILED) E(207, ARRAY_IS_MAPPED) E(208, ALREADY_MAPPED) E(209, NO_BINARY_FOR_GPU)
	E(210, ALREADY_ACQUIRED) E(211, NOT_MAPPED) E(212, NOT_MAPPED_AS_ARRAY) E(213, NOT_MAPPED_AS_POINTER)
	E(214, ECC_UNCORRECTABLE) E(215, UNSUPPORTED_LIMIT) E(216, CONTEXT_ALREADY_IN_USE) E(217, PEER_ACCESS_UNSUPPORTED)
	E(218, INVALID_PTX) E(219, INVALID_GRAPHICS_CONTEXT) E(220, NVLINK_UNCORRECTABLE) E(221, JIT_COMPILER_NOT_FOUND)
	E(222, UNSUPPORTED_PTX_VERSION) E(223, JIT_COMPILATION_DISABLED) E(224, UNSUPPORTED_EXEC_AFFINITY)
	E(225, UNSUPPORTED_DEVSIDE_SYNC) E(226, CONTAINED) E(300, INVALID_SOURCE) E(301, FILE_NOT_FOUND)
	E(302, SHARED_OBJECT_SYMBOL_NOT_FOUND) E(303, SHARED_OBJECT_INIT_FAILED) E(304, OPERATING_SYSTEM)
	E(400, INVALID_HANDLE) E(401, ILLEGAL_STATE) E(402, LOSSY_QUERY) E(500, NOT_FOUND) E(600, NOT_READY)
	E(700, ILLEGAL_ADDRESS) E(701, LAUNCH_OUT_OF_RESOURCES) E(702, LAUNCH_TIMEOUT) E(703, LAUNCH_INCOMPATIBLE_TEXTURING)
	E(704, PEER_ACCESS_ALREADY_ENABLED) E(705, PEER_ACCESS_NOT_ENABLED) E(708, PRIMARY_CONTEXT_ACTIVE)
	E(709, CONTEXT_IS_DESTROYED) E(710, ASSERT) E(711, TOO_MANY_PEERS) E(712, HOST_MEMORY_ALREADY_REGISTERED)
	E(713, HOST_MEMORY_NOT_REGISTERED) E(714, HARDWARE_STACK_ERROR) E(715, ILLEGAL_INSTRUCTION)
	E(716, MISALIGNED_ADDRESS) E(717, INVALID_ADDRESS_SPACE) E(718, INVALID_PC) E(719, LAUNCH_FAILED)
	E(720, COOPERATIVE_LAUNCH_TOO_LARGE) E(721, TENSOR_MEMORY_LEAK) E(800, NOT_PERMITTED) E(801, NOT_SUPPORTED)
	E(802, SYSTEM_NOT_READY) E(803, SYSTEM_DRIVER_MISMATCH) E(804, COMPAT_NOT_SUPPORTED_ON_DEVICE)
	E(805, MPS_CONNECTION_FAILED) E(806, MPS_RPC_FAILURE) E(807, MPS_SERVER_NOT_READY) E(808, MPS_MAX_CLIENTS_REACHED)
	E(809, MPS_MAX_CONNECTIONS_REACHED) E(810, MPS_CLIENT_TERMINATED) E(811, CDP_NOT_SUPPORTED)
	E(812, CDP_VERSION_MISMATCH) E(900, STREAM_CAPTURE_UNSUPPORTED) E(901, STREAM_CAPTURE_INVALIDATED)
	E(902, STREAM_CAPTURE_MERGE) E(903, STREAM_CAPTURE_UNMATCHED) E(904, STREAM_CAPTURE_UNJOINED)
	E(905, STREAM_CAPTURE_ISOLATION) E(906, STREAM_CAPTURE_IMPLICIT) E(907, CAPTURED_EVENT)
	E(908, STREAM_CAPTURE_WRONG_THREAD) E(909, TIMEOUT) E(910, GRAPH_EXEC_UPDATE_FAILURE) E(911, EXTERNAL_DEVICE)
	E(912, INVALID_CLUSTER_SIZE) E(913, FUNCTION_NOT_LOADED) E(914, INVALID_RESOURCE_TYPE)
	E(915, INVALID_RESOURCE_CONFIGURATION) E(916, KEY_ROTATION) E(999, UNKNOWN)
#undef E
};

struct failure {
	const struct gt_segment *seg;	/* of the first */
	uint32_t type, track;
	int32_t code;
	uint64_t count;
	int64_t first;
};
struct errors {
	struct gt_asked asked;
	struct failure *list;
	size_t n, cap;
	struct gt_map map;		/* by segment, type and code */
	uint64_t beyond;		/* failed calls that found no room */
};

static bool same_failure(const void *arg, uint32_t value, const void *key, size_t len)
{
	const struct failure *have = &((const struct errors *)arg)->list[value], *want = key;

	return have->seg == want->seg && have->type == want->type && have->code == want->code;
}

static bool earlier(const struct failure *a, const struct failure *b)
{
	return a->first != b->first ? a->first < b->first : a->track < b->track;
}

static int count(struct errors *e, const struct failure *f, struct gt_err *err)
{
	uint64_t hash = gt_hash_u64((uint64_t)f->type << 32 ^ (uint32_t)f->code ^ (uint64_t)f->seg->index << 20);
	uint32_t i = gt_map_get(&e->map, hash, same_failure, e, f, sizeof(*f));

	if (i == UINT32_MAX) {
		if (e->n == ERRORS_MAX) {
			e->beyond += f->count;
			return 0;
		}
		if (gt_grow(&e->list, &e->cap, e->n + 1, sizeof(*e->list)) || gt_map_add(&e->map, hash, (uint32_t)e->n))
			return gt_err_set(err, -ENOMEM, "no memory for the errors");
		e->list[e->n++] = *f;
		return 0;
	}
	e->list[i].count += f->count;
	if (earlier(f, &e->list[i])) {
		e->list[i].first = f->first;
		e->list[i].track = f->track;
	}
	return 0;
}

static int errors_block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < cols->nret; i++) {
		uint32_t row = cols->ret_row[i], type = cols->types[cols->code ? cols->code[row] : 0];

		if (type < cols->seg->ntypes)
			rc = count(state, &(struct failure){ cols->seg, type, cols->track, cols->ret[i], 1, cols->start[row] }, err);
	}
	return rc;
}

static int errors_merge(void *into, void *from, struct gt_err *err)
{
	struct errors *a = into, *b = from;
	int rc = 0;

	a->beyond += b->beyond;
	for (size_t i = 0; !rc && i < b->n; i++)
		rc = count(a, &b->list[i], err);
	return rc;
}

/* Words for a code; buf holds those that are not in a table. */
static const char *meaning(const struct gt_type *type, int32_t code, char *buf, size_t size)
{
	if (type->layer == GT_LAYER_API)
		for (size_t i = 0; i < sizeof(cuda_errors) / sizeof(*cuda_errors); i++)
			if (cuda_errors[i].code == code)
				return cuda_errors[i].name;
	if (type->layer != GT_LAYER_IOCTL)
		return NULL;
	if (code > 0)
		snprintf(buf, size, "driver status 0x%x", (unsigned)code);
	else
		snprintf(buf, size, "%s", code == INT32_MIN ? "?" : strerror(-code));
	return buf;
}

static const struct gt_column columns[] = {
	{ "recording", "Recording", GT_C_COUNT }, { "operation", "Operation", GT_C_TEXT }, { "code", "Code", GT_C_COUNT },
	{ "error", "Error", GT_C_TEXT }, { "count", "Times", GT_C_COUNT }, { "pid", "PID", GT_C_COUNT },
	{ "process", "Process", GT_C_TEXT }, GT_WHERE_THREAD, { "first_ns", "First", GT_C_TIME },
};
#define NCOLUMNS 10

static int by_count(const void *pa, const void *pb)
{
	const struct failure *a = pa, *b = pb;

	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	if (a->seg->index != b->seg->index)
		return a->seg->index < b->seg->index ? -1 : 1;
	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	return (a->code > b->code) - (a->code < b->code);
}

static void add(const struct errors *e, struct gt_table *t, const struct failure *f)
{
	char buf[80];
	const char *words = meaning(&f->seg->types[f->type], f->code, buf, sizeof(buf));
	struct gt_cell process[3], cells[NCOLUMNS];

	gt_where_process(process, f->seg, gt_track_process(f->seg, f->track));
	cells[0] = process[0];
	cells[1] = gt_cell_text(gt_type_name(f->seg, f->type));
	cells[2] = gt_cell_i(f->code);
	cells[3] = words ? gt_cell_text(words) : gt_cell_none();
	cells[4] = gt_cell_u(f->count);
	cells[5] = process[1];
	cells[6] = process[2];
	gt_where_thread(cells + 7, f->seg, f->track);
	cells[9] = gt_cell_i(gt_since(e->asked.opt, e->asked.reader, f->seg, f->first));
	gt_table_add(t, cells + gt_where_skip(e->asked.reader));
}

static int errors_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct errors *e = state;
	size_t shown = gt_shown(e->n, e->asked.opt->top);
	unsigned skip = gt_where_skip(e->asked.reader);

	tables[0] = gt_table_new("errors", "Failed calls", columns + skip, NCOLUMNS - skip);
	if (!tables[0])
		return gt_err_set(err, -ENOMEM, "no memory for a table");
	gt_table_gives_way(tables[0], "process thread pid first_ns tid error");
	if (e->n)
		qsort(e->list, e->n, sizeof(*e->list), by_count);
	for (size_t i = 0; i < shown; i++)
		add(e, tables[0], &e->list[i]);
	gt_note_cut(tables[0], e->n, shown);
	if (e->beyond)
		gt_table_note(tables[0], "%llu failed calls are beyond the first %d kinds of failure and not listed",
			      (unsigned long long)e->beyond, ERRORS_MAX);
	return 1;
}

static void errors_release(void *state)
{
	struct errors *e = state;

	free(e->list);
	gt_map_release(&e->map);
}

const struct gt_analysis gt_errors_report = {
	.name       = "errors",
	.help       = "failed calls by name and code, with the first time of each",
	.wants      = GT_BIT(GT_CALL) | GT_BIT(GT_SPAN) | GT_BIT(GT_INSTANT),
	.splits     = GT_BY_BLOCK | GT_BY_TRACK,
	.state_size = sizeof(struct errors),
	.init       = gt_asked_init,
	.block      = errors_block,
	.merge      = errors_merge,
	.finish     = errors_finish,
	.release    = errors_release,
};
