/* Report "collectives": when each GPU arrives at collectives (collectives.h), how long it waits
 * there for the others, and how long they wait for it. */
#include "analyze/gpu/collectives.h"
#include "formats/base/sorted.h"

struct report {
	struct gt_report_state report; /* first */
	struct gt_time_ordered order;  /* for its numbers of tracks and types */
	struct gt_collectives collectives;
};

static int collectives_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct report *x = state;

	x->report = (struct gt_report_state){ r, opt };
	return gt_time_ordered_init(&x->order, r, NULL, NULL, err);
}

static int collectives_block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	struct report *x = state;

	return gt_collectives_run(&x->collectives, &x->order, cols, err);
}

/* ---- tables ---- */

#define FIGURES                                                                                    \
	{ "count", "Kernels", GT_C_COUNT }, { "matched", "Matched", GT_C_COUNT },                  \
		{ "total_ns", "Total", GT_C_NS }, { "wait_ns", "Waits", GT_C_NS },                 \
		{ "wait_percent", "Waits %", GT_C_PERCENT },                                       \
		{ "longest_wait_ns", "Longest", GT_C_NS },                                         \
		{ "longest_wait_at_ns", "at", GT_C_TIME }, { "last", "Last", GT_C_COUNT },         \
		{ "late_mean_ns", "Late by", GT_C_NS },                                            \
	{                                                                                          \
		"caused_ns", "Others wait", GT_C_NS                                                \
	}
#define NFIGURES 10
static const struct gt_column gpu_columns[] = { GT_WHERE_DEVICE, FIGURES };
static const struct gt_column name_columns[] = {
	GT_WHERE_STREAM,
	{ "group", "Group", GT_C_COUNT },
	{ "name", "Collective", GT_C_TEXT },
	FIGURES,
	{ "message_bytes", "Bytes", GT_C_BYTES },
	{ "message_mean_bytes", "Message", GT_C_BYTES },
	{ "communicator", NULL, GT_C_TEXT },
};
#define NGPU (sizeof(gpu_columns) / sizeof(*gpu_columns))
#define NNAME (sizeof(name_columns) / sizeof(*name_columns))
_Static_assert(NGPU == 4 + NFIGURES && NNAME == 10 + NFIGURES, "the cells of put_figures()");

static void put_figures(struct gt_cell cells[NFIGURES], const struct report *x,
	const struct gt_collective_figures *f)
{
	const struct gt_evidence *e = &f->longest_wait;
	bool matched = f->matched > 0;

	cells[0] = gt_cell_u(f->count);
	cells[1] = gt_cell_u(f->matched);
	cells[2] = gt_cell_u(f->total);
	cells[3] = gt_cell_known(matched, f->wait);
	cells[4] = matched ? gt_cell_share(f->wait, f->total) : gt_cell_none();
	cells[5] = gt_cell_known(e->seg != NULL, (uint64_t)(e->to - e->from));
	cells[6] = e->seg ? gt_cell_time(&x->report, e->seg, e->from) : gt_cell_none();
	cells[7] = gt_cell_known(matched, f->last);
	cells[8] = gt_cell_known(f->last > 0, f->last ? f->late / f->last : 0);
	cells[9] = gt_cell_known(matched, f->caused);
}

static int by_caused(const struct gt_collective_figures *a, const struct gt_collective_figures *b)
{
	return GT_COMPARE(b->caused, a->caused) ?: GT_COMPARE(b->total, a->total);
}

static int by_gpu(const void *pa, const void *pb)
{
	const struct gt_collective_gpu *a = pa, *b = pb;

	return by_caused(&a->f, &b->f) ?: GT_COMPARE(a->number, b->number);
}

static int by_name(const void *pa, const void *pb)
{
	const struct gt_collective_name *a = pa, *b = pb;

	return by_caused(&a->f, &b->f) ?:
		GT_COMPARE(a->sequence, b->sequence) ?:
		GT_COMPARE(a->name, b->name);
}

static void add_gpus(struct report *x, struct gt_table *t)
{
	struct gt_collectives *c = &x->collectives;
	size_t shown = gt_rows_shown(c->ngpus, x->report.opt->top);
	struct gt_cell cells[NGPU];

	GT_SORT(c->gpus, c->ngpus, by_gpu);
	for (size_t i = 0; i < shown; i++) {
		gt_where_device(cells, c->gpus[i].seg, c->gpus[i].track);
		put_figures(cells + 4, x, &c->gpus[i].f);
		gt_table_add(t, cells);
	}
	gt_table_note_cut(t, c->ngpus, shown);
}

static int add_names(struct report *x, struct gt_table *t, struct gt_err *err)
{
	struct gt_collectives *c = &x->collectives;
	size_t shown = gt_rows_shown(c->nsums, x->report.opt->top);
	struct gt_kernel_names *names = gt_kernel_names_of(x->report.reader, x->report.opt->names);
	struct gt_cell cells[NNAME];

	if (!names)
		return gt_err_set(err, -ENOMEM, "out of memory (names)");
	GT_SORT(c->sums, c->nsums, by_name);
	for (size_t i = 0; i < shown; i++) {
		const struct gt_collective_sequence *s = &c->sequences[c->sums[i].sequence];
		const struct gt_collective_figures *f = &c->sums[i].f;

		gt_where_stream(cells, s->seg, s->track);
		cells[5] = gt_cell_u(s->group);
		cells[6] = gt_cell_text(
			gt_kernel_names_shown(names, c->names.list[c->sums[i].name].text));
		put_figures(cells + 7, x, f);
		cells[7 + NFIGURES] = gt_cell_known(f->messages > 0, f->bytes);
		cells[8 + NFIGURES] =
			gt_cell_known(f->messages > 0, f->messages ? f->bytes / f->messages : 0);
		cells[9 + NFIGURES] =
			s->communicator ? gt_cell_text(s->communicator) : gt_cell_none();
		gt_table_add(t, cells);
	}
	gt_kernel_names_free(names);
	gt_table_note_cut(t, c->nsums, shown);
	return 0;
}

static const char *no_match(const struct report *x)
{
	if (x->collectives.ngpus > 1)
		return "no collective of two GPUs was found: their clocks differ, or they communicate at different times";
	return x->report.opt->filter.pid
		? "only one GPU communicates in the process that --pid selects: leave out --pid"
		: "only one GPU communicates in the recording: give the files of all ranks";
}

static void add_notes(const struct report *x, struct gt_table *t)
{
	const struct gt_collectives *c = &x->collectives;
	uint64_t kernels = 0, matched = 0;

	for (size_t i = 0; i < c->ngpus; i++) {
		kernels += c->gpus[i].f.count;
		matched += c->gpus[i].f.matched;
	}
	if (!kernels && gt_is_recorded(x->report.reader, GT_LAYER_GPU))
		gt_table_note(t, "no communication kernel ran");
	else if (kernels && !matched)
		gt_table_set_unanswered(t, "%s", no_match(x));
	else if (kernels)
		gt_table_note(t,
			"%llu collectives; a GPU waits from the start of its kernel to the start of the last GPU's",
			(unsigned long long)c->matched);
	if (matched)
		gt_note_plural(t, kernels - matched,
			"%llu {kernel has|kernels have} no counterpart on another GPU: no wait is known",
			(unsigned long long)(kernels - matched));
	gt_note_plural(t, c->beyond,
		"%llu {kernel is|kernels are} beyond the first %u or of sequences beyond the first %u, and in no figure",
		(unsigned long long)c->beyond, GT_COLLECTIVE_OPS, GT_COLLECTIVE_SEQUENCES);
}

static int collectives_finish(
	void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct report *x = state;
	int rc;

	tables[0] = gt_report_table(&x->report, "collectives",
		"GPUs at collectives, those that the others wait for first", gpu_columns, NGPU,
		"process longest_wait_at_ns longest_wait_ns count late_mean_ns wait_percent total_ns matched pid",
		err);
	tables[1] = gt_report_table(&x->report, "collectives_names",
		"Collectives by name, stream and communicator", name_columns, NNAME,
		"process longest_wait_at_ns longest_wait_ns message_bytes count late_mean_ns wait_percent total_ns stream pid message_mean_bytes matched group last",
		err);
	if (!tables[0] || !tables[1])
		return err->code;
	rc = gt_collectives_finish(&x->collectives, &x->report, err);
	if (!rc) {
		add_gpus(x, tables[0]);
		rc = add_names(x, tables[1], err);
		add_notes(x, tables[0]);
		gt_table_share_answer(tables[1], tables[0]);
	}
	return rc ? rc : 2;
}

static void collectives_release(void *state)
{
	struct report *x = state;

	gt_collectives_release(&x->collectives);
	gt_time_ordered_release(&x->order);
}

const struct gt_analysis gt_collectives_report = {
	.name = "collectives",
	.help = "communication of several GPUs: which GPU arrives late, and how long the others wait for it",
	.wants = GT_BIT(GT_GPU),
	.needs = GT_BIT(GT_LAYER_GPU),
	.needs_unfiltered = true,
	.wants_args = true,
	.order = GT_BY_TIME,
	.in_default = GT_DEFAULT_COLLECTIVES,
	.state_size = sizeof(struct report),
	.init = collectives_init,
	.block = collectives_block,
	.finish = collectives_finish,
	.release = collectives_release,
};
