#include "analyze/gpu/kernel_occupancy.h"

#include <string.h>
#include "analyze/columns/column_cursor.h"

/* ---- columns ---- */

/* The values of up to n fields with this role. Returns the number of rows that have all of them. */
static uint32_t read_fields(const struct gt_cols *cols, uint32_t code, unsigned role,
	const uint64_t **values, unsigned n)
{
	const struct gt_type *type = &cols->seg->types[cols->types[code]];
	uint32_t rows = UINT32_MAX, have;
	unsigned found = 0;

	for (uint32_t f = 0; f < type->nfields && found < n; f++) {
		if (type->fields[f].role != role)
			continue;
		values[found++] = gt_cols_args(cols, code, f, &have);
		rows = have < rows ? have : rows;
	}
	return found ? rows : 0;
}

static int read_limits(struct gt_occupancy_input *x, const struct gt_segment *seg, uint32_t track,
	struct gt_err *err)
{
	uint32_t device = gt_track_device(seg, track);

	if (x->seg == seg && x->device == device)
		return 0;
	x->seg = seg;
	x->device = device;
	return gt_sm_limits_read(&x->reader, seg, device, &x->limits)
		? gt_err_set(err, -ENOMEM, "out of memory (limits of GPUs)")
		: 0;
}

int gt_occupancy_input_read(
	struct gt_occupancy_input *x, const struct gt_cols *cols, uint32_t code, struct gt_err *err)
{
	uint32_t blocks, shared, registers;

	memset(x->grid, 0, sizeof(x->grid));
	memset(x->block, 0, sizeof(x->block));
	memset(x->shared, 0, sizeof(x->shared));
	x->n = 0;
	if (read_limits(x, cols->seg, cols->track, err))
		return err->code;
	if (!x->limits.major || !gt_cols_type(cols, code))
		return 0;
	blocks = read_fields(cols, code, GT_R_BLOCK, x->block, 3);
	shared = read_fields(cols, code, GT_R_SHARED, x->shared, 2);
	registers = read_fields(cols, code, GT_R_REGISTERS, &x->registers, 1);
	x->n = blocks < shared ? blocks : shared;
	x->n = registers < x->n ? registers : x->n;
	if (x->limits.sms && read_fields(cols, code, GT_R_GRID, x->grid, 3) < x->n)
		memset(x->grid, 0, sizeof(x->grid));
	return 0;
}

void gt_occupancy_input_release(struct gt_occupancy_input *x)
{
	gt_sm_limits_reader_release(&x->reader);
}

/* ---- sums ---- */

/* Saturates: a product of sizes in a damaged file may be too large. */
static uint64_t product(const uint64_t *const values[3], uint32_t nth)
{
	uint64_t all = 1;

	for (unsigned i = 0; i < 3; i++)
		if (values[i] && __builtin_mul_overflow(all, values[i][nth], &all))
			return UINT64_MAX;
	return all;
}

static void add_waves(struct gt_kernel_occupancy *o, const struct gt_occupancy_input *x,
	uint32_t nth, uint64_t ns)
{
	uint64_t blocks = product(x->grid, nth);

	if (!x->grid[0] || blocks > UINT32_MAX)
		return;
	o->waves +=
		(unsigned __int128)ns * (blocks * 100 / ((uint64_t)o->last.blocks * x->limits.sms));
	o->waves_ns = gt_sat_add(o->waves_ns, ns);
}

void gt_kernel_occupancy_add(struct gt_kernel_occupancy *o, const struct gt_occupancy_input *x,
	uint32_t nth, uint64_t ns)
{
	uint64_t threads, registers, shared = 0;

	if (nth >= x->n)
		return;
	threads = product(x->block, nth);
	registers = x->registers[nth];
	for (unsigned i = 0; i < 2; i++)
		shared = x->shared[i] ? gt_sat_add(shared, x->shared[i][nth]) : shared;
	if (o->seg != x->seg || o->device != x->device || o->threads != threads ||
		o->registers != registers || o->shared != shared) {
		o->known = gt_occupancy_of(&x->limits, threads, registers, shared, &o->last);
		o->seg = x->seg;
		o->device = x->device;
		o->threads = threads;
		o->registers = registers;
		o->shared = shared;
	}
	if (!o->known)
		return;
	o->sum += (unsigned __int128)ns * o->last.hundredths;
	o->ns = gt_sat_add(o->ns, ns);
	o->by_limit[o->last.limit] = gt_sat_add(o->by_limit[o->last.limit], ns);
	add_waves(o, x, nth, ns);
}

/* ---- cells ---- */

void gt_kernel_occupancy_cells(const struct gt_kernel_occupancy *o, struct gt_cell cells[2])
{
	unsigned most = GT_OCCUPANCY_FULL;

	cells[0] = cells[1] = gt_cell_none();
	if (!o->ns)
		return;
	for (unsigned i = 0; i < GT_OCCUPANCY_LIMITS; i++)
		most = o->by_limit[i] > o->by_limit[most] ? i : most;
	cells[0] = gt_cell_u((uint64_t)((o->sum + o->ns / 2) / o->ns));
	if (most != GT_OCCUPANCY_FULL)
		cells[1] = gt_cell_text(gt_occupancy_word((enum gt_occupancy_limit)most));
}

struct gt_cell gt_kernel_waves(const struct gt_kernel_occupancy *o)
{
	return o->waves_ns ? (struct gt_cell){ .d = (double)o->waves / (double)o->waves_ns / 100 }
			   : gt_cell_none();
}
