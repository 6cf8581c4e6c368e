/* The work of each device and of each of its streams. The busy time of a device is the union of the
 * work of its streams: less than their sum if they ran at the same time. Shares are of the window
 * (gpu_window.h). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "analyze/gpu/gpu_name.h"
#include "analyze/gpu/gpu_time.h"
#include "analyze/gpu/shared_gpus.h"
#include "formats/base/sorted.h"

static int streams_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	return gt_gpu_time_init(state, r, opt, err);
}

static int streams_block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	return gt_gpu_time_run(state, cols, err) ? 0 : err->code;
}

static const struct gt_column columns[] = {
	GT_WHERE_STREAM,
	{ "name", "Name", GT_C_TEXT },
	{ "kernels", "Kernels", GT_C_COUNT },
	{ "copies", "Copies", GT_C_COUNT },
	{ "sets", "Sets", GT_C_COUNT },
	{ "busy_ns", "Busy", GT_C_NS },
	{ "busy_percent", "Busy %", GT_C_PERCENT },
	{ "first_ns", "First start", GT_C_TIME },
	{ "last_ns", "Last end", GT_C_TIME },
};
#define NCOLUMNS (sizeof(columns) / sizeof(*columns))

static int by_device(const void *pa, const void *pb)
{
	const struct gt_gpu_place *a = pa, *b = pb;

	return gt_by_stream(a->seg, a->device, a->track, b->seg, b->device, b->track);
}

struct namer { /* zero-initialised: empty */
	struct gt_gpu_namer gpus;
	const struct gt_segment *seg; /* the segment of `lone` */
	bool *lone;                   /* see gt_lone_contexts */
	char text[200];
};

static void release(struct namer *n)
{
	gt_gpu_namer_release(&n->gpus);
	free(n->lone);
}

/* NULL: no name. Each context numbers its streams separately, so if there are several contexts the
 * name says which one. */
static const char *name_of(struct namer *n, const struct gt_segment *seg, uint32_t track)
{
	const struct gt_track *t = &seg->tracks[track];
	const char *name = t->name != GT_NONE ? gt_str(seg, t->name) : NULL;
	uint32_t context = gt_track_context(seg, track);

	if (t->kind == GT_TRACK_DEVICE)
		return gt_gpu_name(&n->gpus, seg, t);
	if (n->seg != seg) {
		free(n->lone);
		n->lone = gt_lone_contexts(seg);
		n->seg = seg;
	}
	if (!name || context == GT_NONE || !n->lone || n->lone[context])
		return name;
	snprintf(n->text, sizeof(n->text), "%.150s of context %" PRId64, name,
		seg->tracks[context].id);
	return n->text;
}

static void add(const struct gt_gpu_time *g, struct gt_table *t, const struct gt_gpu_place *p,
	struct namer *namer)
{
	const char *name = name_of(namer, p->seg, p->track);
	const struct gt_report_state *a = &g->report;
	struct gt_cell cells[NCOLUMNS];

	gt_where_stream(cells, p->seg, p->track);
	cells[5] = name ? gt_cell_text(name) : gt_cell_none();
	cells[6] = gt_cell_u(p->kernels);
	cells[7] = gt_cell_u(p->copies);
	cells[8] = gt_cell_u(p->sets);
	cells[9] = gt_cell_u(p->busy.ns);
	cells[10] = gt_cell_share(p->busy.ns, gt_gpu_time_window(g, p->seg));
	cells[11] = gt_cell_time(a, p->seg, p->first);
	cells[12] = gt_cell_time(a, p->seg, p->last);
	gt_table_add(t, cells);
}

static int streams_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct gt_gpu_time *g = state;
	struct namer namer = { .seg = NULL };
	int rc = gt_gpu_time_finish(g, err);
	size_t shown = gt_rows_shown(g->nplaces, g->report.opt->top);

	tables[0] = gt_report_table(&g->report, "streams", "GPUs and their streams", columns,
		NCOLUMNS, "sets process copies last_ns first_ns name kernels", err);
	if (rc || !tables[0])
		return err->code;
	GT_SORT(g->places, g->nplaces, by_device);
	for (size_t i = 0; i < shown; i++)
		add(g, tables[0], &g->places[i], &namer);
	release(&namer);
	gt_table_note_cut(tables[0], g->nplaces, shown);
	gt_gpu_time_note_window(g, tables[0]);
	gt_shared_gpus_note(tables[0], &g->report);
	gt_gpu_time_notes(g, tables[0], NULL);
	return 1;
}

static void streams_release(void *state) { gt_gpu_time_release(state); }

const struct gt_analysis gt_streams_report = {
	.name = "streams",
	.help = "work and busy time of each GPU and of each of its streams",
	.wants = GT_BIT(GT_GPU),
	.needs = GT_BIT(GT_LAYER_GPU),
	.order = GT_BY_TIME,
	.state_size = sizeof(struct gt_gpu_time),
	.init = streams_init,
	.block = streams_block,
	.finish = streams_finish,
	.release = streams_release,
};
