/* Tables of CUDA calls and GPU work. */
#include "formats/import/nsight/import_nsight_internal.h"

#include <string.h>

/* ---- calls ---- */

int gt_nsight_add_call(struct gt_nsight *n, const struct gt_nsight_call *c)
{
	struct gt_nsight_call *call = gt_sorter_add(&n->calls, n->err);
	struct gt_nsight_launch *launch;

	if (!call)
		return n->err->code;
	*call = *c;
	if (!c->correlation || c->end == GT_NSIGHT_NO_END)
		return 0;
	launch = gt_sorter_add(&n->launches, n->err);
	if (!launch)
		return n->err->code;
	*launch = (struct gt_nsight_launch){ c->global & ~0xffffffll, c->correlation, c->start,
		c->end, c->global, c->name, c->stack };
	return 0;
}

/* Columns: start, end, globalTid, nameId, returnValue, correlationId, eventClass, callchainId. */
int gt_nsight_see_call(struct gt_nsight *n, sqlite3_value **s)
{
	int64_t event_class = sqlite3_value_int64(s[6]);
	struct gt_nsight_call c = { .layer = event_class == 1 ? GT_LAYER_API : GT_LAYER_RUNTIME,
		.category = GT_NSIGHT_GUESS };

	/* 67: the stack of a call, which is in a row of its own */
	if (event_class == 67 || !gt_nsight_call_times(n, s, &c.start, &c.end))
		return 0;
	c.global = sqlite3_value_int64(s[2]);
	c.name = gt_nsight_function(n, s, 3);
	c.ret = (int32_t)sqlite3_value_int64(s[4]);
	c.correlation = (uint64_t)sqlite3_value_int64(s[5]);
	c.stack = gt_nsight_stack(n, GT_NSIGHT_CALL_STACKS, s, 7);
	return c.name == GT_NONE ? n->err->code : gt_nsight_add_call(n, &c);
}

/* ---- GPU work ---- */

#define NWORK 7

/* The record of a row that begins with the columns WORK. NULL: the row is not valid, or with err
 * filled in. */
static struct gt_nsight_work *add_work(
	struct gt_nsight *n, sqlite3_value **s, enum gt_nsight_kind kind)
{
	struct gt_nsight_work *r;
	int64_t start, end;

	if (!gt_nsight_times(n, s, &start, &end))
		return NULL;
	r = gt_sorter_add(&n->works, n->err);
	if (!r)
		return NULL;
	memset(r, 0, sizeof(*r));
	r->kind = kind;
	r->start = start;
	r->end = end;
	r->device = gt_nsight_number(s, 2, 0);
	r->context = gt_nsight_number(s, 3, -1);
	r->stream = gt_nsight_number(s, 4, -1);
	r->correlation = (uint64_t)gt_nsight_number(s, 5, 0);
	r->global = gt_nsight_number(s, 6, 0) & ~0xffffffll;
	r->unknown = GT_GPU_NO_ASYNC | (r->correlation ? 0 : GT_GPU_NO_CORRELATION) |
		(r->context < 0 ? GT_GPU_NO_CONTEXT : 0);
	return r;
}

static uint32_t kernel_name(struct gt_nsight *n, sqlite3_value **s)
{
	for (int c = NWORK; c < NWORK + 2; c++)
		if (gt_nsight_has(s, c))
			return gt_nsight_string(n, s, c);
	return gt_nsight_string(n, s, NWORK + 2);
}

int gt_nsight_see_kernel(struct gt_nsight *n, sqlite3_value **s)
{
	const int grid = NWORK + 3, block = grid + 3, shared = block + 3;
	uint32_t name = kernel_name(n, s);
	struct gt_nsight_work *r = name == GT_NONE ? NULL : add_work(n, s, GT_NSIGHT_KERNEL);

	if (!r)
		return n->err->code;
	r->name = name;
	for (int i = 0; i < 3; i++) {
		r->grid[i] = gt_nsight_number32(s, grid + i);
		r->block[i] = gt_nsight_number32(s, block + i);
	}
	r->shared[0] = gt_nsight_number32(s, shared);
	r->shared[1] = gt_nsight_number32(s, shared + 1);
	r->registers = gt_nsight_number32(s, shared + 2);
	r->node = (uint64_t)gt_nsight_number(s, shared + 3, 0);
	r->graph = gt_nsight_number32(s, shared + 4);
	r->unknown |= (r->grid[0] || gt_nsight_has(s, grid) ? 0 : GT_GPU_NO_GRID) |
		(r->block[0] || gt_nsight_has(s, block) ? 0 : GT_GPU_NO_BLOCK) |
		(r->shared[0] || gt_nsight_has(s, shared) ? 0 : GT_GPU_NO_SHARED) |
		(r->registers || gt_nsight_has(s, shared + 2) ? 0 : GT_GPU_NO_REGISTERS);
	return 0;
}

/* From ENUM_CUDA_MEMCPY_OPER. Those of managed memory count as copies, too. */
static uint8_t direction_of(int64_t kind)
{
	static const uint8_t directions[] = { [1] = GT_DIR_HTOD,
		[2] = GT_DIR_DTOH,
		[3] = GT_DIR_HTOD,
		[4] = GT_DIR_DTOH,
		[5] = GT_DIR_DTOD,
		[6] = GT_DIR_DTOD,
		[7] = GT_DIR_DTOD,
		[8] = GT_DIR_DTOD,
		[9] = GT_DIR_HTOH,
		[10] = GT_DIR_PEER,
		[11] = GT_DIR_HTOD,
		[12] = GT_DIR_DTOH,
		[13] = GT_DIR_DTOD };

	return kind >= 0 && kind < (int64_t)sizeof(directions) ? directions[kind] : GT_DIR_UNKNOWN;
}

/* From ENUM_CUDA_MEM_KIND. */
static uint8_t memory_of(sqlite3_value **s, int c)
{
	int64_t kind = gt_nsight_number(s, c, -1);

	return kind >= 0 && kind < 7 ? (uint8_t)(kind + 1) : GT_GPU_MEM_UNKNOWN;
}

int gt_nsight_see_copy(struct gt_nsight *n, sqlite3_value **s)
{
	struct gt_nsight_work *r = add_work(n, s, GT_NSIGHT_COPY);

	if (!r)
		return n->err->code;
	r->bytes = (uint64_t)gt_nsight_number(s, NWORK, 0);
	r->direction = direction_of(gt_nsight_number(s, NWORK + 1, 0));
	r->source = memory_of(s, NWORK + 2);
	r->destination = memory_of(s, NWORK + 3);
	r->grid[0] = gt_nsight_number32(s, NWORK + 4);
	r->grid[1] = gt_nsight_number32(s, NWORK + 5);
	r->node = (uint64_t)gt_nsight_number(s, NWORK + 6, 0);
	r->unknown |= !gt_nsight_has(s, NWORK) ? GT_GPU_NO_BYTES : 0;
	return 0;
}

int gt_nsight_see_set(struct gt_nsight *n, sqlite3_value **s)
{
	struct gt_nsight_work *r = add_work(n, s, GT_NSIGHT_SET);

	if (!r)
		return n->err->code;
	r->value = gt_nsight_number32(s, NWORK);
	r->bytes = (uint64_t)gt_nsight_number(s, NWORK + 1, 0);
	r->node = (uint64_t)gt_nsight_number(s, NWORK + 2, 0);
	r->destination = memory_of(s, NWORK + 3);
	r->unknown |= (!gt_nsight_has(s, NWORK) ? GT_GPU_NO_VALUE : 0) |
		(!gt_nsight_has(s, NWORK + 1) ? GT_GPU_NO_BYTES : 0);
	return 0;
}

int gt_nsight_see_sync(struct gt_nsight *n, sqlite3_value **s)
{
	static const uint8_t waits[] = { GT_GPU_WAIT_UNKNOWN, GT_GPU_WAIT_EVENT,
		GT_GPU_WAIT_STREAM_EVENT, GT_GPU_WAIT_STREAM, GT_GPU_WAIT_CONTEXT };
	int64_t type = gt_nsight_number(s, NWORK, 0);
	struct gt_nsight_work *r = add_work(n, s, GT_NSIGHT_SYNC);

	if (!r)
		return n->err->code;
	r->wait = type > 0 && type < (int64_t)sizeof(waits) ? waits[type] : GT_GPU_WAIT_UNKNOWN;
	r->value = (uint64_t)gt_nsight_number(s, NWORK + 1, GT_GPU_NO_EVENT);
	return 0;
}

int gt_nsight_see_graph(struct gt_nsight *n, sqlite3_value **s)
{
	struct gt_nsight_work *r = add_work(n, s, GT_NSIGHT_GRAPH);

	if (!r)
		return n->err->code;
	r->graph = gt_nsight_number32(s, NWORK);
	return 0;
}
