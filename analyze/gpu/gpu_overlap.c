/* Work that GPUs did at the same time: how much communication and copying other work hid, and which
 * streams never worked side by side.
 *
 * The time of a GPU is cut at each begin and end of an operation (concurrency_sweep.h). Each
 * interval counts for the set of kinds of work (work_kind.h) that run in it. All figures are sums
 * over such sets, so each is an exact union, or an intersection of unions. One more member of the
 * set says that two kernels run at once.
 */
#include <stdlib.h>
#include <string.h>
#include "analyze/gpu/gpu_time.h"
#include "analyze/gpu/shared_gpus.h"
#include "analyze/gpu/stream_pairs.h"
#include "analyze/order/concurrency_sweep.h"
#include "analyze/gpu/work_kind.h"
#include "formats/base/buf.h"
#include "formats/base/sorted.h"

enum { SECOND_KERNEL = GT_WORK_KINDS, MEMBERS, SETS = 1 << MEMBERS };
#define DEVICES_MAX 16384u

struct device {
	const struct gt_segment *seg;
	uint32_t track;
	uint64_t rows[GT_WORK_KINDS];
	struct gt_sweep sweep;
	uint64_t time[SETS]; /* ns by set of running kinds, a bit each */
	struct gt_stream_pairs pairs;
	uint64_t unpaired; /* rows of streams beyond GT_STREAM_PAIRS_MOST */
};
struct overlap {
	struct gt_gpu_time time; /* first: begins with struct gt_report_state */
	/* by type, numbered over all segments: 1 + kind; 0: no row yet */
	uint8_t *kind;
	struct device *devices;
	size_t n, cap;
	uint64_t beyond; /* rows of devices beyond DEVICES_MAX */
};

/* ---- rows ---- */

static void on_interval(void *arg, const struct gt_sweep *s, int64_t from, int64_t to)
{
	struct device *d = arg;
	unsigned set = 0;

	for (unsigned k = 0; k < GT_WORK_KINDS; k++)
		set |= (unsigned)(s->active[k] > 0) << k;
	if (s->active[GT_WORK_COMPUTE] + s->active[GT_WORK_COMMUNICATION] > 1)
		set |= 1u << SECOND_KERNEL;
	d->time[set] = gt_sat_add(d->time[set], (uint64_t)to - (uint64_t)from);
}

static int add_device(
	struct overlap *o, struct gt_gpu_place *device, int64_t start, struct gt_err *err)
{
	if (gt_grow(&o->devices, &o->cap, o->n + 1, sizeof(*o->devices)))
		return gt_err_set(err, -ENOMEM, "out of memory (list of GPUs)");
	o->devices[o->n++] =
		(struct device){ .seg = device->seg, .track = device->track, .sweep.at = start };
	device->as_device = (uint32_t)o->n;
	return 0;
}

static enum gt_work_kind kind_of(struct overlap *o, const struct gt_gpu_row *row)
{
	const struct gt_segment *seg = row->stream->seg;
	uint8_t *kind = &o->kind[row->m->what];

	if (!*kind)
		*kind = (uint8_t)(1 +
			gt_work_kind(
				seg, &seg->types[row->m->what - o->time.order.types[seg->index]]));
	return (enum gt_work_kind)(*kind - 1);
}

static int on_row(void *arg, const struct gt_gpu_row *row, struct gt_err *err)
{
	struct overlap *o = arg;
	struct gt_gpu_place *device = row->device, *stream = row->stream;
	enum gt_work_kind kind = kind_of(o, row);
	struct device *d;

	if (!device->as_device && o->n == DEVICES_MAX) {
		o->beyond++;
		return 0;
	}
	if (!device->as_device && add_device(o, device, row->start, err))
		return err->code;
	d = &o->devices[device->as_device - 1];
	if (row->start > d->sweep.at)
		gt_sweep_advance(&d->sweep, row->start, on_interval, d);
	if (gt_sweep_add(&d->sweep, row->end, (uint32_t)kind, 0, err))
		return err->code;
	d->rows[kind]++;
	if (!stream->as_stream && d->pairs.n < GT_STREAM_PAIRS_MOST &&
		!(stream->as_stream = gt_stream_pairs_add(&d->pairs, stream->track, err)))
		return err->code;
	if (stream->as_stream)
		gt_stream_pairs_work(&d->pairs, stream->as_stream - 1, row->start, row->end);
	d->unpaired += !stream->as_stream;
	return 0;
}

static int overlap_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct overlap *o = state;
	int rc = gt_gpu_time_init(&o->time, r, opt, err);

	o->time.each = on_row;
	o->time.each_arg = o;
	o->time.rows_only = true;
	return rc;
}

static int overlap_block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	struct overlap *o = state;

	/* at the first row: many traces have many types, and no GPU work */
	if (!o->kind && !(o->kind = calloc(o->time.order.types[o->time.order.nsegs] + 1ul, 1)))
		return gt_err_set(err, -ENOMEM, "out of memory (list of GPUs)");
	return gt_gpu_time_run(&o->time, cols, err) ? 0 : err->code;
}

/* ---- figures ---- */

/* ns in which all of `all` ran and none of `none`. */
static uint64_t during(const struct device *d, unsigned all, unsigned none)
{
	uint64_t ns = 0;

	for (unsigned set = 0; set < SETS; set++)
		if ((set & all) == all && !(set & none))
			ns = gt_sat_add(ns, d->time[set]);
	return ns;
}

#define KERNELS (1u << GT_WORK_COMPUTE | 1u << GT_WORK_COMMUNICATION)

static const struct gt_column columns[] = {
	GT_WHERE_DEVICE,
	{ "kind", "Work", GT_C_TEXT },
	{ "count", "Count", GT_C_COUNT },
	{ "ran_ns", "Ran", GT_C_NS },
	{ "alone_ns", "Alone", GT_C_NS },
	{ "with_compute_ns", "With compute", GT_C_NS },
	{ "with_communication_ns", "With comm.", GT_C_NS },
	{ "with_copies_ns", "With copies", GT_C_NS },
	{ "exposed_ns", "Exposed", GT_C_NS },
	{ "hidden_percent", "Hidden %", GT_C_PERCENT },
};
#define NCOLUMNS (sizeof(columns) / sizeof(*columns))
static const struct gt_column kernel_columns[] = {
	GT_WHERE_DEVICE,
	{ "busy_ns", "Busy", GT_C_NS },
	{ "kernels_ns", "A kernel ran", GT_C_NS },
	{ "several_ns", "Two or more", GT_C_NS },
	{ "several_percent", "Two or more %", GT_C_PERCENT },
};
#define NKERNEL (sizeof(kernel_columns) / sizeof(*kernel_columns))
static const struct gt_column pair_columns[] = {
	GT_WHERE_STREAM,
	{ "other", "Other stream", GT_C_COUNT },
	{ "busy_ns", "Busy", GT_C_NS },
	{ "other_busy_ns", "Other busy", GT_C_NS },
	{ "both_ns", "Both at once", GT_C_NS },
	{ "both_percent", "Of the lesser %", GT_C_PERCENT },
	{ "turns", "Turns", GT_C_COUNT },
	{ "how", "How", GT_C_TEXT },
};
#define NPAIR (sizeof(pair_columns) / sizeof(*pair_columns))

/* The first four cells of a GPU; of all GPUs if it has no segment. */
static void where(struct gt_cell cells[4], const struct device *d)
{
	cells[0] = cells[1] = cells[2] = gt_cell_none();
	cells[3] = gt_cell_missing("all");
	if (d->seg)
		gt_where_device(cells, d->seg, d->track);
}

static void add_kind(struct gt_table *t, const struct device *d, enum gt_work_kind kind)
{
	unsigned me = 1u << kind, others = ~me & ((1u << GT_WORK_KINDS) - 1);
	uint64_t ran = during(d, me, 0), exposed = during(d, me, me - 1);
	struct gt_cell cells[NCOLUMNS];

	where(cells, d);
	cells[4] = gt_cell_text(gt_work_kind_word(kind));
	cells[5] = gt_cell_u(d->rows[kind]);
	cells[6] = gt_cell_u(ran);
	cells[7] = gt_cell_u(during(d, me, others));
	for (unsigned k = 0; k < GT_WORK_KINDS; k++)
		cells[8 + k] = gt_cell_known(k != kind, during(d, me | 1u << k, 0));
	cells[11] = gt_cell_known(kind != GT_WORK_COMPUTE, exposed);
	cells[12] = kind == GT_WORK_COMPUTE ? gt_cell_none() : gt_cell_share(ran - exposed, ran);
	gt_table_add(t, cells);
}

static void add_kernels(struct gt_table *t, const struct device *d)
{
	uint64_t busy = 0, several = during(d, 1u << SECOND_KERNEL, 0);
	uint64_t kernels = gt_sat_add(during(d, 1u << GT_WORK_COMPUTE, 0),
		during(d, 1u << GT_WORK_COMMUNICATION, 1u << GT_WORK_COMPUTE));
	struct gt_cell cells[NKERNEL];

	for (unsigned set = 1; set < SETS; set++) /* set 0 is idle time */
		busy = gt_sat_add(busy, d->time[set]);
	where(cells, d);
	cells[4] = gt_cell_u(busy);
	cells[5] = gt_cell_u(kernels);
	cells[6] = gt_cell_u(several);
	cells[7] = gt_cell_share(several, kernels);
	gt_table_add(t, cells);
}

/* The sum of all GPUs; each has its own unions. */
static struct device in_all(const struct overlap *o)
{
	struct device all = { 0 };

	for (size_t i = 0; i < o->n; i++) {
		for (unsigned k = 0; k < GT_WORK_KINDS; k++)
			all.rows[k] += o->devices[i].rows[k];
		for (unsigned set = 0; set < SETS; set++)
			all.time[set] = gt_sat_add(all.time[set], o->devices[i].time[set]);
	}
	return all;
}

/* Two streams. lesser: busy ns of the stream with less work. */
struct two {
	const struct device *d;
	size_t a, b;
	uint64_t lesser;
};

static const struct gt_stream_pair *pair_of(const struct two *t)
{
	return &t->d->pairs.pairs[gt_stream_pair_at(t->a, t->b)];
}

static uint64_t time_apart(const struct two *t) { return t->lesser - pair_of(t)->both; }

/* Pairs with the most work that could run side by side but did not come first. */
static int by_gain(const void *pa, const void *pb)
{
	const struct two *a = pa, *b = pb;
	uint64_t x = time_apart(a), y = time_apart(b);

	return GT_COMPARE(y, x) ?:
		GT_COMPARE(a->d, b->d) ?:
		GT_COMPARE(a->b, b->b) ?:
		GT_COMPARE(a->a, b->a);
}

static void add_pair(struct gt_table *t, const struct two *two)
{
	const struct device *d = two->d;
	const struct gt_paired_stream *a = &d->pairs.streams[two->a],
				      *b = &d->pairs.streams[two->b];
	const struct gt_stream_pair *p = pair_of(two);
	struct gt_cell cells[NPAIR];

	where(cells, d);
	cells[4] = gt_cell_i(d->seg->tracks[a->track].id);
	cells[5] = gt_cell_i(d->seg->tracks[b->track].id);
	cells[6] = gt_cell_u(a->busy.ns);
	cells[7] = gt_cell_u(b->busy.ns);
	cells[8] = gt_cell_u(p->both);
	cells[9] = gt_cell_share(p->both, two->lesser);
	cells[10] = gt_cell_u(p->turns);
	cells[11] = gt_cell_text(p->both ? "side by side"
			: p->turns > 1   ? "in turns, never at once"
					 : "one after the other");
	gt_table_add(t, cells);
}

static int add_pairs(const struct overlap *o, struct gt_table *t, struct gt_err *err)
{
	struct two *list;
	size_t n = 0, shown;
	uint64_t unpaired = 0;

	for (size_t i = 0; i < o->n; i++)
		n += o->devices[i].pairs.n * (o->devices[i].pairs.n - 1) / 2;
	list = malloc((n + 1) * sizeof(*list));
	if (!list)
		return gt_err_set(err, -ENOMEM, "out of memory (pairs of streams)");
	n = 0;
	for (size_t i = 0; i < o->n; i++) {
		const struct device *d = &o->devices[i];

		unpaired += d->unpaired;
		for (size_t b = 1; b < d->pairs.n; b++)
			for (size_t a = 0; a < b; a++) {
				uint64_t x = d->pairs.streams[a].busy.ns,
					 y = d->pairs.streams[b].busy.ns;

				list[n++] = (struct two){ d, a, b, x < y ? x : y };
			}
	}
	GT_SORT(list, n, by_gain);
	shown = gt_rows_shown(n, o->time.report.opt->top);
	for (size_t i = 0; i < shown; i++)
		add_pair(t, &list[i]);
	free(list);
	gt_table_note_cut(t, n, shown);
	if (!n && o->n)
		gt_table_note(t,
			"no GPU used more than one stream: no operations could run side by side");
	gt_note_plural(t, unpaired,
		"%llu {row is|rows are} on streams beyond the first %u of {its|their} GPU, which are in no pair",
		(unsigned long long)unpaired, GT_STREAM_PAIRS_MOST);
	return 0;
}

static void add_devices(const struct overlap *o, struct gt_table *kinds, struct gt_table *kernels)
{
	size_t shown = gt_rows_shown(o->n, o->time.report.opt->top);
	struct device all = in_all(o);

	for (size_t i = 0; i <= shown; i++) {
		const struct device *d = i < shown ? &o->devices[i] : &all;

		if (d == &all && o->n < 2)
			break;
		for (unsigned k = 0; k < GT_WORK_KINDS; k++)
			add_kind(kinds, d, (enum gt_work_kind)k);
		add_kernels(kernels, d);
	}
	gt_table_note_cut(kernels, o->n, shown);
}

static int by_track(const void *pa, const void *pb)
{
	const struct device *a = pa, *b = pb;

	return gt_by_place(a->seg, a->track, b->seg, b->track);
}

static void add_notes(const struct overlap *o, struct gt_table *t)
{
	gt_note_plural(t, o->beyond,
		"more than %u GPUs: %llu {row|rows} of further GPUs {is|are} in no figure",
		DEVICES_MAX, (unsigned long long)o->beyond);
	gt_note_unordered(t, gt_time_ordered_late(&o->time.order), "times");
}

static int overlap_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct overlap *o = state;
	int rc = gt_gpu_time_finish(&o->time, err);

	tables[0] = gt_report_table(&o->time.report, "overlap",
		"Compute, communication and copies at the same time", columns, NCOLUMNS,
		"process count alone_ns with_copies_ns with_communication_ns with_compute_ns exposed_ns pid",
		err);
	tables[1] = gt_report_table(&o->time.report, "overlap_kernels", "Kernels at the same time",
		kernel_columns, NKERNEL, "process busy_ns several_percent pid", err);
	tables[2] = gt_report_table(&o->time.report, "overlap_streams",
		"Pairs of streams, longest time apart first", pair_columns, NPAIR,
		"process turns other_busy_ns busy_ns both_percent pid device", err);
	if (rc || !tables[0] || !tables[1] || !tables[2])
		return err->code;
	for (size_t i = 0; i < o->n; i++)
		gt_sweep_finish(&o->devices[i].sweep, on_interval, &o->devices[i]);
	GT_SORT(o->devices, o->n, by_track);
	add_devices(o, tables[0], tables[1]);
	rc = add_pairs(o, tables[2], err);
	add_notes(o, tables[0]);
	gt_shared_gpus_note(tables[0], &o->time.report);
	return rc ? rc : 3;
}

static void overlap_release(void *state)
{
	struct overlap *o = state;

	for (size_t i = 0; i < o->n; i++) {
		gt_sweep_release(&o->devices[i].sweep);
		gt_stream_pairs_release(&o->devices[i].pairs);
	}
	free(o->devices);
	free(o->kind);
	gt_gpu_time_release(&o->time);
}

const struct gt_analysis gt_overlap_report = {
	.name = "overlap",
	.help = "work that GPUs did at the same time: hidden communication and copies, streams side by side",
	.wants = GT_BIT(GT_GPU),
	.needs = GT_BIT(GT_LAYER_GPU),
	.needs_unfiltered = true,
	.order = GT_BY_TIME,
	.state_size = sizeof(struct overlap),
	.init = overlap_init,
	.block = overlap_block,
	.finish = overlap_finish,
	.release = overlap_release,
};
