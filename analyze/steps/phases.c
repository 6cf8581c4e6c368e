/* Report "phases": the time of each process that uses a GPU, from the start of the recording to its
 * end, divided by its first CUDA call, first step, first and last steady step, and last GPU
 * operation. A phase that has no time is left out.
 *
 * Start-up is the time from the first CUDA call to the first step (without steps: to the first GPU
 * operation). It is also divided by what the process did, at each moment: initialising, loading
 * modules, linking (compiling), other calls of the driver, and code outside of them, while no
 * thread is in a call. Of calls that run at once, that with the earliest start counts. */
#include <stdlib.h>
#include <string.h>
#include "analyze/gpu/gpu_time.h"
#include "analyze/steps/steady.h"
#include "formats/trace/meta.h"

/* clang-format off */
#define PHASES(X) /* enum, JSON key, text, indent */ \
	X(BEFORE, "before_cuda", "before the first CUDA call", 0) \
	X(START_UP, "start_up", "start-up", 0) \
	X(OUTSIDE, "outside", "outside CUDA (imports, compilation, input)", 1) \
	X(INIT, "init", "cuInit, contexts", 1) \
	X(MODULES, "modules", "loading modules", 1) \
	X(LINKING, "linking", "compiling and linking in the driver", 1) \
	X(CALLS, "calls", "other CUDA calls", 1) \
	X(WARM_UP, "warm_up", "first steps", 0) \
	X(STEADY, "steady", "steady steps", 0) \
	X(LATER, "gpu_work", "other GPU work", 0) \
	X(TAIL, "tail", "after the last GPU operation", 0)
/* clang-format on */
enum {
#define X(e, key, text, indent) PHASE_##e,
	PHASES(X)
#undef X
		PHASE_COUNT
};
static const struct {
	const char *key, *text;
	unsigned indent;
} phases[] = {
#define X(e, key, text, indent) { key, text, indent },
	PHASES(X)
#undef X
};

struct process {
	const struct gt_segment *seg;
	uint32_t track;
	const struct gt_loop *loop; /* NULL: no steps */
	int64_t first_call;         /* INT64_MAX: none */
	int64_t begin;              /* end of start-up */
	int64_t first_op, last_op;  /* start, end */
	uint64_t ops;
	struct gt_union calls; /* of start-up, in order of start */
	uint64_t ns[PHASE_COUNT];
	int64_t at[PHASE_COUNT];
};
struct phases {
	struct gt_report_state report;
	struct gt_steady own;
	const struct gt_steady *steady;
	struct gt_time_ordered order;
	uint32_t *process_of; /* by track, numbered over all segments: 1 + index; 0: none */
	uint8_t *part_of;     /* by type, likewise: PHASE_INIT, ...; 0: not counted */
	struct process *list;
	size_t n;
};

/* ---- processes ---- */

static int list_processes(struct phases *p, struct gt_err *err)
{
	struct gt_reader *r = p->report.reader;
	size_t n = 0;

	for (uint32_t i = 0; i < gt_reader_segments(r); i++)
		for (uint32_t t = 0; t < gt_reader_segment(r, i)->ntracks; t++)
			n += gt_reader_segment(r, i)->tracks[t].kind == GT_TRACK_PROCESS;
	p->list = calloc(n + 1, sizeof(*p->list));
	p->process_of = calloc(p->order.tracks[p->order.nsegs] + 1ul, sizeof(*p->process_of));
	p->part_of = calloc(p->order.types[p->order.nsegs] + 1ul, sizeof(*p->part_of));
	if (!p->list || !p->process_of || !p->part_of)
		return gt_err_set(err, -ENOMEM, "out of memory (phases)");
	for (uint32_t i = 0; i < gt_reader_segments(r); i++) {
		const struct gt_segment *seg = gt_reader_segment(r, i);
		uint32_t *of = p->process_of + p->order.tracks[i];

		for (uint32_t t = 0; t < seg->ntracks; t++)
			if (seg->tracks[t].kind == GT_TRACK_PROCESS) {
				p->list[p->n++] = (struct process){ .seg = seg,
					.track = t,
					.first_call = INT64_MAX,
					.first_op = INT64_MAX,
					.last_op = INT64_MIN };
				of[t] = (uint32_t)p->n;
			}
		for (uint32_t t = 0; t < seg->ntracks; t++) {
			uint32_t process = gt_track_process(seg, t);

			of[t] = process == GT_NONE ? 0 : of[process];
		}
	}
	return 0;
}

static void classify_types(struct phases *p)
{
	for (uint32_t i = 0; i < gt_reader_segments(p->report.reader); i++) {
		const struct gt_segment *seg = gt_reader_segment(p->report.reader, i);

		for (uint32_t t = 0; t < seg->ntypes; t++) {
			const struct gt_type *type = &seg->types[t];
			const char *name = gt_type_name(seg, t);

			if (type->layer != GT_LAYER_API)
				continue;
			p->part_of[p->order.types[i] + t] = !strncmp(name, "cuLink", 6)
				? PHASE_LINKING
				: type->category == GT_CAT_INIT || type->category == GT_CAT_CONTEXT
				? PHASE_INIT
				: type->category == GT_CAT_MODULE ? PHASE_MODULES
								  : PHASE_CALLS;
		}
	}
}

/* ---- calls of start-up ---- */

static int on_call(void *arg, const struct gt_moment *m, struct gt_err *err)
{
	struct phases *p = arg;
	struct process *one = &p->list[p->process_of[m->place] - 1];
	uint64_t before = one->calls.ns;
	int64_t end = m->end < one->begin ? m->end : one->begin;

	if (m->at < one->first_call)
		one->first_call = m->at;
	if (end <= m->at)
		return 0;
	gt_union_add(&one->calls, m->at, end);
	one->ns[p->part_of[m->what]] += one->calls.ns - before;
	return 0;
}

static int call_run(void *arg, const struct gt_cols *cols, struct gt_err *err)
{
	struct phases *p = arg;
	uint32_t track = gt_time_ordered_track(&p->order, cols->seg, cols->track);

	if (track == GT_NONE || !p->process_of[track])
		return 0;
	return gt_time_ordered_run(&p->order, cols, err) ? 0 : err->code;
}

static bool is_driver_call(const struct gt_segment *seg, const struct gt_type *type, void *arg)
{
	return type->layer == GT_LAYER_API;
}

/* Reads the calls of each recording up to the latest end of a start-up. */
static int read_start_up(struct phases *p, struct gt_err *err)
{
	const struct gt_analysis_options *opt = p->report.opt;
	uint32_t n = gt_reader_segments(p->report.reader);
	struct gt_range *ranges = calloc(n + 1ul, sizeof(*ranges));
	struct gt_filter filter = p->steady->filter;
	int rc;

	if (!ranges)
		return gt_err_set(err, -ENOMEM, "out of memory (phases)");
	for (uint32_t i = 0; i < n; i++) {
		ranges[i].from = gt_range_of(&filter, gt_reader_segment(p->report.reader, i)).from;
		ranges[i].to = ranges[i].from;
	}
	for (size_t i = 0; i < p->n; i++) {
		struct gt_range *r = &ranges[p->list[i].seg->index];

		if (p->list[i].ops && p->list[i].begin > r->to)
			r->to = p->list[i].begin;
	}
	filter.ranged = true;
	filter.ranges = ranges;
	filter.kinds = GT_BIT(GT_CALL);
	filter.match = is_driver_call;
	filter.args = false;
	filter.tid = 0;
	filter.hide = opt->filter.hide;
	filter.hide_arg = opt->filter.hide_arg;
	rc = gt_reread_trace(p->report.reader, &filter, GT_BY_TIME, call_run, p, err);
	if (!rc)
		rc = gt_time_ordered_flush(&p->order, err);
	free(ranges);
	return rc;
}

/* ---- phases ---- */

struct recorded {
	int64_t start, duration; /* negative: unknown */
};

static int find_recorded(void *arg, const char *key, const char *value)
{
	struct recorded *r = arg;

	if (!strcmp(key, "start_monotonic_ns"))
		r->start = strtoll(value, NULL, 10);
	if (!strcmp(key, "duration_ns"))
		r->duration = strtoll(value, NULL, 10);
	return 0;
}

static void add_phase(struct process *one, unsigned phase, int64_t *at, int64_t to)
{
	to = to > *at ? to : *at;
	one->at[phase] = *at;
	one->ns[phase] = (uint64_t)to - (uint64_t)*at;
	*at = to;
}

/* The time before the first call needs the recorder's own times. */
static void divide(const struct phases *p, struct process *one)
{
	struct recorded r = { -1, -1 };
	int64_t at = one->first_call < one->begin ? one->first_call : one->begin,
		end = one->seg->max_end, stop;
	size_t n = 0, from = 0;

	gt_meta_each(one->seg, find_recorded, &r);
	if (r.start > 0 && r.start <= at) {
		int64_t start = r.start;

		add_phase(one, PHASE_BEFORE, &start, at);
		if (!__builtin_add_overflow(r.start, r.duration, &stop) && stop > end)
			end = stop;
	}
	add_phase(one, PHASE_START_UP, &at, one->begin);
	one->ns[PHASE_OUTSIDE] = one->ns[PHASE_START_UP] - one->calls.ns;
	if (p->steady->ranges && one->loop && one->loop->steady)
		n = gt_steady_steps(p->steady, one->loop, &from);
	if (n) {
		add_phase(one, PHASE_WARM_UP, &at, one->loop->at[from]);
		add_phase(one, PHASE_STEADY, &at, one->loop->at[from + n]);
	}
	add_phase(one, PHASE_LATER, &at, one->last_op);
	add_phase(one, PHASE_TAIL, &at, end);
}

/* hundredths of a percent: on a page, shorter phases, and shorter parts of them, are left out */
#define LEAST_SHARE 100
#define LEAST_SHARE_OF_PART 500

static const struct gt_column columns[] = {
	GT_WHERE_PROCESS,
	{ "phase", "Phase", GT_C_TEXT },
	{ "from_ns", "From", GT_C_TIME },
	{ "duration_ns", "Duration", GT_C_NS },
	{ "share_percent", "Share %", GT_C_PERCENT },
	{ "key", NULL, GT_C_TEXT },
};
#define NCOLUMNS (sizeof(columns) / sizeof(*columns))

static void add_rows(const struct phases *p, struct gt_table *t, const struct process *one)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < PHASE_COUNT; i++)
		all = gt_sat_add(all, phases[i].indent ? 0 : one->ns[i]);
	for (unsigned i = 0; i < PHASE_COUNT; i++) {
		struct gt_cell cells[NCOLUMNS];
		bool part = phases[i].indent;

		if (!one->ns[i] ||
			(p->report.opt->one_page &&
				gt_cell_share(one->ns[i], all).i <
					(part ? LEAST_SHARE_OF_PART : LEAST_SHARE)))
			continue;
		gt_where_process(cells, one->seg, one->track);
		cells[3] = gt_cell_text(phases[i].text);
		cells[3].indent = 2 * phases[i].indent;
		cells[4] = part ? gt_cell_none() : gt_cell_time(&p->report, one->seg, one->at[i]);
		cells[5] = gt_cell_u(one->ns[i]);
		cells[6] = gt_cell_share(one->ns[i], all);
		cells[7] = gt_cell_text(phases[i].key);
		gt_table_add(t, p->report.opt->one_page ? cells + 3 : cells);
	}
}

/* The default report shows only the process with the most GPU operations. */
static bool is_shown(const struct phases *p, size_t i)
{
	if (!p->list[i].ops)
		return false;
	if (!p->report.opt->in_default_report)
		return true;
	for (size_t k = 0; k < i; k++)
		if (p->list[k].ops >= p->list[i].ops)
			return false;
	for (size_t k = i + 1; k < p->n; k++)
		if (p->list[k].ops > p->list[i].ops)
			return false;
	return true;
}

/* Adds the operations of one of its GPUs to a process. */
static void add_gpu(struct phases *p, const struct gt_loop *l)
{
	uint32_t of = l->process == GT_NONE
		? 0
		: p->process_of[gt_time_ordered_track(&p->order, l->seg, l->process)];
	struct process *one = of ? &p->list[of - 1] : NULL;

	if (!one)
		return;
	one->ops += l->ops;
	one->first_op = l->first_op < one->first_op ? l->first_op : one->first_op;
	one->last_op = l->last_op > one->last_op ? l->last_op : one->last_op;
}

static int find_steady(struct phases *p, struct gt_err *err)
{
	int rc = 0;

	p->steady = p->report.opt->steady;
	if (!p->steady) {
		rc = gt_steady_find(&p->own, p->report.reader, p->report.opt, err);
		p->steady = &p->own;
	}
	for (size_t i = 0; !rc && i < p->steady->loops.n; i++)
		add_gpu(p, &p->steady->loops.list[i]);
	for (size_t i = 0; !rc && i < p->n; i++) {
		struct process *one = &p->list[i];

		one->loop = gt_loop_of_process(&p->steady->loops, one->seg, one->track);
		one->begin = one->loop && one->loop->steady ? one->loop->at[0] : one->first_op;
	}
	return rc;
}

/* ---- the report ---- */

static int phases_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct phases *p = state;
	int rc;

	p->report = (struct gt_report_state){ r, opt };
	rc = gt_time_ordered_init(&p->order, r, on_call, p, err);
	if (!rc)
		rc = list_processes(p, err);
	if (!rc)
		classify_types(p);
	return rc;
}

static int phases_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct phases *p = state;
	size_t left_out = 0;
	int rc = find_steady(p, err);

	bool cut = !rc && p->steady->filter.ranged, page = p->report.opt->one_page;

	if (!rc && !cut)
		rc = read_start_up(p, err);
	if (rc || (cut && p->report.opt->in_default_report))
		return rc;
	/* the page shows one process, and does not name it in each row */
	tables[0] = page ? gt_table_new("phases", "Start-up and tail (the longest parts)",
				   columns + 3, NCOLUMNS - 3)
			 : gt_report_table(&p->report, "phases", "Phases of the run", columns,
				   NCOLUMNS, "process share_percent from_ns pid", err);
	if (!tables[0])
		return gt_err_set(err, -ENOMEM, "out of memory (phases)");
	if (cut) {
		gt_table_set_unanswered(
			tables[0], "phases are those of the whole run: leave out --from and --to");
		return 1;
	}
	for (size_t i = 0; i < p->n; i++) {
		left_out += p->list[i].ops && !is_shown(p, i);
		if (!is_shown(p, i))
			continue;
		divide(p, &p->list[i]);
		add_rows(p, tables[0], &p->list[i]);
	}
	if (left_out)
		gt_table_note(tables[0],
			"of the process with the most GPU operations; gtanalyze phases shows %zu more",
			left_out);
	return 1;
}

static void phases_release(void *state)
{
	struct phases *p = state;

	gt_steady_release(&p->own);
	gt_time_ordered_release(&p->order);
	free(p->process_of);
	free(p->part_of);
	free(p->list);
}

const struct gt_analysis gt_phases_report = {
	.name = "phases",
	.help = "start-up, steady steps and tail of each process, and what start-up did",
	.needs = GT_BIT(GT_LAYER_GPU),
	.needs_unfiltered = true,
	.in_default = GT_DEFAULT_GPU,
	.state_size = sizeof(struct phases),
	.init = phases_init,
	.finish = phases_finish,
	.release = phases_release,
};
