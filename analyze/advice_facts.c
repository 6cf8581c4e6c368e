#include "analyze/advice_facts.h"

#include <string.h>
#include "analyze/pick.h"
#include "formats/gpu.h"

static void keep_longest(struct gt_example *have, const struct gt_example *one)
{
	if (!have->seg || one->to - one->from > have->to - have->from)
		*have = *one;
}

/* ---- idle time ---- */

/* More than half of the operations have begun. Who looks at a part of the recording has left warming up out. */
static bool is_late(const struct gt_idle *s, const struct gt_segment *seg)
{
	const struct gt_filter *f = &s->asked.opt->filter;

	return f->ranged || f->pid || s->begun > seg->rows[GT_GPU] / 2;
}

static void add_cause(struct gt_cause_facts *c, const struct gt_idle_slice *slice, bool late)
{
	struct gt_example one = { slice->seg, slice->from, slice->to, slice->thread, slice->type, slice->device };
	uint64_t ns = (uint64_t)(slice->to - slice->from);

	c->ns = gt_sat_add(c->ns, ns);
	c->slices++;
	keep_longest(&c->longest, &one);
	if (!late)
		return;
	c->late_ns = gt_sat_add(c->late_ns, ns);
	c->late_slices++;
	keep_longest(&c->latest_longest, &one);
}

static void on_slice(void *arg, const struct gt_idle_slice *slice)
{
	struct gt_advice_facts *f = arg;
	const struct gt_type *type = slice->type == GT_NONE ? NULL : &slice->seg->types[slice->type - f->idle.order.types[slice->seg->index]];

	bool late = is_late(&f->idle, slice->seg);

	add_cause(&f->causes[slice->cause], slice, late);
	if (slice->cause == GT_IDLE_CALL && type && (type->op == GT_OP_LAUNCH || type->op == GT_OP_GRAPH_LAUNCH))
		add_cause(&f->launching, slice, late);
}

/* ---- copies and sets ---- */

static void add_copy(struct gt_copy_facts *c, const struct gt_cols *cols, uint32_t row, uint64_t bytes, const struct gt_example *one)
{
	c->n++;
	c->ns = gt_sat_add(c->ns, (uint64_t)cols->dur[row]);
	c->bytes = gt_sat_add(c->bytes, bytes);
	keep_longest(&c->longest, one);
}

static void add_copies(struct gt_advice_facts *f, const struct gt_cols *cols, uint32_t code, const struct gt_type *type)
{
	bool pageable = strstr(gt_str(cols->seg, type->name), gt_gpu_memory_word(GT_GPU_MEM_PAGEABLE));
	uint32_t known = 0;
	const uint64_t *async = gt_cols_role(cols, code, GT_R_ASYNC, &known);
	struct gt_pick p;

	for (gt_pick_start(&p, cols, code, GT_R_BYTES, GT_R_NONE); gt_pick_next(&p); ) {
		struct gt_example one = { cols->seg, cols->start[p.row], cols->start[p.row] + cols->dur[p.row], GT_NONE, GT_NONE, GT_NONE };
		uint64_t bytes = 0;
		bool has_bytes = gt_pick_value(&p, 0, &bytes), waits = p.nth <= known && async && !async[p.nth - 1];

		if (type->op == GT_OP_SET) {
			if (waits)
				add_copy(&f->sets_blocking, cols, p.row, bytes, &one);
			continue;
		}
		add_copy(&f->copies, cols, p.row, bytes, &one);
		if (has_bytes && bytes < GT_SMALL_COPY)
			add_copy(&f->small, cols, p.row, bytes, &one);
		if (waits)
			add_copy(&f->blocking, cols, p.row, bytes, &one);
		if (pageable)
			add_copy(&f->pageable, cols, p.row, bytes, &one);
		if (pageable && p.nth <= known && async && async[p.nth - 1])
			add_copy(&f->pageable_async, cols, p.row, bytes, &one);
	}
}

/* ---- rows ---- */

int gt_advice_facts_init(struct gt_advice_facts *f, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	f->idle.on_slice = on_slice;
	f->idle.arg = f;
	return gt_idle_init(&f->idle, r, opt, err);
}

int gt_advice_facts_block(struct gt_advice_facts *f, const struct gt_cols *cols, struct gt_err *err)
{
	bool call = cols->kind == GT_CALL;

	for (uint32_t c = 0; c < cols->ntypes && (call || cols->kind == GT_GPU); c++) {
		const struct gt_type *type = gt_cols_type(cols, c);
		struct gt_pick p;

		if (!type)
			continue;
		if (!call && (type->op == GT_OP_COPY || type->op == GT_OP_SET))
			add_copies(f, cols, c, type);
		else if (call && type->layer == GT_LAYER_API && type->op == GT_OP_SYNC)
			for (gt_pick_start(&p, cols, c, GT_R_NONE, GT_R_NONE); gt_pick_next(&p); )
				f->syncs++;
	}
	return gt_idle_block(&f->idle, cols, err);
}

void gt_advice_facts_release(struct gt_advice_facts *f) { gt_idle_release(&f->idle); }
