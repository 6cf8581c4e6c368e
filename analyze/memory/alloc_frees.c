#include "analyze/memory/alloc_frees.h"

#include <stdlib.h>
#include "formats/base/buf.h"

/* A linear search: few functions free memory. NULL with err filled in. */
static struct gt_alloc_free *find(
	struct gt_alloc_frees *f, uint32_t place, uint32_t name, struct gt_err *err)
{
	if (f->last < f->n && f->list[f->last].place == place && f->list[f->last].name == name)
		return &f->list[f->last];
	for (f->last = 0; f->last < f->n; f->last++)
		if (f->list[f->last].place == place && f->list[f->last].name == name)
			return &f->list[f->last];
	if (gt_grow(&f->list, &f->cap, f->n + 1, sizeof(*f->list)))
		return gt_err_set(err, -ENOMEM, "out of memory (frees)"), NULL;
	f->list[f->n++] = (struct gt_alloc_free){ .place = place, .name = name };
	return &f->list[f->last];
}

static int on_wait(void *arg, const struct gt_wait *w, struct gt_err *err)
{
	struct gt_alloc_frees *f = arg;
	struct gt_alloc_free *one;

	if (w->what != GT_WAIT_FREE)
		return 0;
	one = find(f, gt_process_slot_of(f->where, w->seg, w->track), w->seg->types[w->type].name,
		err);
	if (!one)
		return err->code;
	one->waited++;
	one->wait_ns = gt_sat_add(one->wait_ns, (uint64_t)w->end - (uint64_t)w->start);
	one->busy = gt_sat_add(one->busy, w->busy);
	return 0;
}

int gt_alloc_frees_init(struct gt_alloc_frees *f, struct gt_reader *r,
	const struct gt_analysis_options *opt, const struct gt_process_slots *where,
	struct gt_err *err)
{
	f->where = where;
	return gt_waits_init(&f->waits, r, opt, on_wait, f, err);
}

int gt_alloc_frees_count(
	struct gt_alloc_frees *f, uint32_t place, uint32_t name, uint64_t ns, struct gt_err *err)
{
	struct gt_alloc_free *one = find(f, place, name, err);

	if (!one)
		return err->code;
	one->count++;
	one->ns = gt_sat_add(one->ns, ns);
	one->longest = ns > one->longest ? ns : one->longest;
	return 0;
}

static const struct gt_column columns[] = {
	GT_WHERE_PROCESS,
	{ "call", "Call", GT_C_TEXT },
	{ "count", "Calls", GT_C_COUNT },
	{ "total_ns", "Total", GT_C_NS },
	{ "max_ns", "Longest", GT_C_NS },
	{ "waited", "Waits", GT_C_COUNT },
	{ "wait_ns", "Waited for", GT_C_NS },
	{ "gpu_busy_ns", "GPU worked", GT_C_NS },
};
#define NCOLUMNS (sizeof(columns) / sizeof(*columns))

struct gt_table *gt_alloc_frees_table(struct gt_alloc_frees *f, struct gt_err *err)
{
	const struct gt_report_state *a = &f->waits.report;
	struct gt_table *t =
		gt_report_table(a, "memory_frees", "Frees, and whether they waited for the GPU",
			columns, NCOLUMNS, "process max_ns gpu_busy_ns wait_ns pid", err);
	bool some_unknown = false;

	if (!t || gt_waits_finish(&f->waits, err)) {
		gt_table_free(t);
		return NULL;
	}
	for (size_t i = 0; i < f->n; i++) {
		const struct gt_alloc_free *one = &f->list[i];
		const struct gt_process_slot *p = &f->where->list[one->place];
		bool has_gpu = p->track != GT_NONE && gt_waits_has_gpu(&f->waits, p->seg, p->track);
		struct gt_cell cells[NCOLUMNS];

		gt_where_process(cells, p->seg, p->track);
		cells[3] = gt_cell_text(gt_str(p->seg, one->name));
		cells[4] = gt_cell_u(one->count);
		/* instants of a file of another tool have no duration */
		cells[5] = gt_cell_known(one->ns, one->ns);
		cells[6] = gt_cell_known(one->ns, one->longest);
		cells[7] = gt_cell_known(has_gpu, one->waited);
		cells[8] = gt_cell_known(has_gpu, one->wait_ns);
		cells[9] = gt_cell_known(has_gpu, one->busy);
		gt_table_add(t, cells);
		some_unknown |= !has_gpu;
	}
	gt_table_sort(t, "total_ns", a->opt->top);
	if (some_unknown)
		gt_table_note(t,
			"cannot answer whether frees waited if GPU operations were not recorded or are left out");
	gt_note_plural(t, f->waits.frees_unknown,
		"%llu {free|frees} may have waited for one of several devices: not counted as waits",
		(unsigned long long)f->waits.frees_unknown);
	return t;
}

void gt_alloc_frees_release(struct gt_alloc_frees *f)
{
	gt_waits_release(&f->waits);
	free(f->list);
}
