/* Figures of a whole run, with the labels that eBPF tracers print at the end of theirs. Calls
 * still open at the end count as made. Bytes are those of calls that succeeded. */
#include <string.h>
#include "analyze/core/report.h"
#include "formats/trace/write/sched_rows.h"

struct sums {
	/* runtime: of `calls`, those of the CUDA runtime */
	uint64_t calls, runtime, launches, ioctls, ioctl_ns, files, sched;
	/* sized: rows that bytes sums up */
	uint64_t allocs, alloc_bytes, alloc_sized, alloc_failed;
	uint64_t copies, copy_bytes, copy_sized, copy_failed;
};

static void add(
	struct sums *u, const char *name, const struct gt_type *type, const struct gt_stat *s)
{
	uint64_t made = s->count + s->open;

	if (type->layer == GT_LAYER_API)
		u->calls += made;
	if (type->layer == GT_LAYER_API && !strncmp(name, "cuda", 4))
		u->runtime += made;
	if (type->layer == GT_LAYER_IOCTL && type->category == GT_CAT_FILE)
		u->files += made;
	if (type->layer == GT_LAYER_IOCTL && type->category != GT_CAT_FILE) {
		u->ioctls += made;
		u->ioctl_ns = gt_sat_add(u->ioctl_ns, s->total);
	}
	/* a thread that is runnable has left the processor before */
	if (type->layer == GT_LAYER_SCHED && type->op != GT_OP_SAMPLE &&
		gt_sched_state_of(type, name) != GT_SCHED_RUNNABLE)
		u->sched += made + s->instants;
	if (type->layer == GT_LAYER_GPU)
		return; /* a GPU operation, not a launch call */
	if (type->op == GT_OP_LAUNCH)
		u->launches += made;
	if (type->op == GT_OP_ALLOC) {
		u->allocs += made + s->instants;
		u->alloc_failed += s->failed + s->open;
		u->alloc_sized += s->sized;
		u->alloc_bytes = gt_sat_add(u->alloc_bytes, s->bytes);
	}
	if (type->op == GT_OP_COPY) {
		u->copies += made + s->instants;
		u->copy_failed += s->failed + s->open;
		u->copy_sized += s->sized;
		u->copy_bytes = gt_sat_add(u->copy_bytes, s->bytes);
	}
}

static void note_unsized(struct gt_table *t, const char *what, uint64_t succeeded, uint64_t sized)
{
	if (sized && succeeded > sized)
		gt_note_plural(t, succeeded - sized,
			"%llu %s{ has|s have} no size and {is|are} not in the sum of bytes",
			(unsigned long long)(succeeded - sized), what);
}

static const struct gt_column user_columns[] = {
	{ "api_calls", "Total CUDA API calls", GT_C_COUNT },
	{ "kernel_launches", "Kernel launches", GT_C_COUNT },
	{ "allocations", "Memory allocations", GT_C_COUNT },
	{ "allocated_bytes", "Total memory allocated", GT_C_BYTES },
	{ "transfers", "Memory transfers", GT_C_COUNT },
	{ "transferred_bytes", "Total data transferred", GT_C_BYTES },
};
static const struct gt_column kernel_columns[] = {
	{ "ioctl_calls", "IOCTL calls", GT_C_COUNT },
	{ "ioctl_time_ns", "Total IOCTL time", GT_C_NS },
	{ "scheduler_calls", "Scheduler calls", GT_C_COUNT },
};

/* A figure is absent if its layer was not recorded, or if --match and similar options leave out
 * all its rows. */
static struct gt_cell figure(
	const struct gt_report_state *a, unsigned layer, unsigned op, bool known, uint64_t v)
{
	const char *gone = known ? gt_why_filtered_out(a, layer, op) : NULL;

	return gone ? gt_cell_missing(gone) : gt_cell_known(known, v);
}

/* all: every name was recorded, so 0 is certain. */
static struct gt_table *userspace(
	const struct gt_report_state *a, const struct sums *u, bool api, bool all)
{
	struct gt_table *t = gt_table_new(
		"userspace", "=== TRACE SUMMARY ===\n\nUSERSPACE (libcuda.so):", user_columns, 6);
	bool allocs = u->allocs || (api && all), copies = u->copies || (api && all);
	bool alloc_known = u->alloc_sized || (allocs && u->allocs == u->alloc_failed);
	bool copy_known = u->copy_sized || (copies && u->copies == u->copy_failed);

	if (!t)
		return NULL;
	gt_table_as_list(t);
	gt_table_add(t,
		(struct gt_cell[]){ figure(a, GT_LAYER_API, GT_OP_NONE, api, u->calls),
			figure(a, GT_LAYER_COUNT, GT_OP_LAUNCH, u->launches || (api && all),
				u->launches),
			figure(a, GT_LAYER_COUNT, GT_OP_ALLOC, allocs, u->allocs),
			figure(a, GT_LAYER_COUNT, GT_OP_ALLOC, alloc_known, u->alloc_bytes),
			figure(a, GT_LAYER_COUNT, GT_OP_COPY, copies, u->copies),
			figure(a, GT_LAYER_COUNT, GT_OP_COPY, copy_known, u->copy_bytes) });
	gt_note_plural(t, u->runtime,
		"%llu of the calls {is|are} the CUDA runtime's (libcudart.so), which {is|are} recorded in place of "
		"the driver's",
		(unsigned long long)u->runtime);
	note_unsized(t, "allocation", u->allocs - u->alloc_failed, u->alloc_sized);
	note_unsized(t, "transfer", u->copies - u->copy_failed, u->copy_sized);
	return t;
}

static int summary_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	const struct gt_report_state *a = state;
	struct sums u = { 0 };
	bool ioctl = gt_is_recorded(a->reader, GT_LAYER_IOCTL);

	if (a->opt->one_page && gt_is_without_cuda(a->reader))
		return 0;
	for (uint32_t i = 0; i < gt_reader_segments(a->reader); i++) {
		const struct gt_segment *seg = gt_reader_segment(a->reader, i);

		for (uint32_t t = 0; t < seg->ntypes; t++)
			add(&u, gt_type_name(seg, t), &seg->types[t],
				gt_aggregate_stat(a->opt->aggregate, i, t));
	}
	tables[0] = userspace(
		a, &u, gt_is_recorded(a->reader, GT_LAYER_API), !gt_has_name_filter(a->reader));
	tables[1] = gt_table_new("kernel_space", "KERNEL SPACE (nvidia.ko):", kernel_columns, 3);
	if (!tables[0] || !tables[1])
		return gt_err_set(err, -ENOMEM, "out of memory (summary)");
	gt_table_as_list(tables[1]);
	gt_table_add(tables[1],
		(struct gt_cell[]){ figure(a, GT_LAYER_IOCTL, GT_OP_IOCTL, ioctl, u.ioctls),
			figure(a, GT_LAYER_IOCTL, GT_OP_IOCTL, ioctl, u.ioctl_ns),
			figure(a, GT_LAYER_SCHED, GT_OP_NONE,
				gt_is_recorded(a->reader, GT_LAYER_SCHED), u.sched) });
	if (!a->opt->in_default_report)
		gt_note_plural(tables[1], u.files,
			"without %llu {call that opens, maps or closes|calls that open, map or close} the driver's "
			"files",
			(unsigned long long)u.files);
	return 2;
}

const struct gt_analysis gt_summary_report = {
	.name = "summary",
	.help = "calls, launches, bytes allocated and moved, ioctls, scheduler",
	.wants = GT_BIT(GT_CALL) | GT_BIT(GT_OPEN) | GT_BIT(GT_INSTANT) | GT_BIT(GT_SPAN),
	.wants_args = true,
	.aggregates = GT_AGGREGATE_TYPES | GT_AGGREGATE_BYTES,
	.splits = GT_BY_BLOCK,
	.in_default = GT_DEFAULT_CALLS,
	.state_size = sizeof(struct gt_report_state),
	.init = gt_report_state_init,
	.finish = summary_finish,
};
