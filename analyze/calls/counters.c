/* Sampled counters. A value is valid from its sample to the next one of the same counter on the
 * same track, or to the end of the selected range. The mean is weighted by that time, so samples
 * that lie close together do not count more. Bit masks have no mean; their smallest value is the
 * bits that were always set, the largest the bits that were ever set. The value before the first
 * sample is unknown and not counted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/order/time_ordered.h"
#include "analyze/columns/column_cursor.h"
#include "analyze/stats/group_table.h"
#include "analyze/core/report.h"
#include "formats/base/sorted.h"

#define COUNTERS_MAX GT_TOP_N_MAX /* as many as a table has rows; 32 MiB */

struct number {
	__int128 whole;
	double real;
}; /* one of the two, by the kind of the field */
struct counter {
	uint32_t segment, track, type; /* the key */
	uint8_t kind;                  /* enum gt_field_kind */
	const struct gt_segment *seg;
	uint64_t samples;
	int64_t first, since; /* time of its first and last sample */
	int64_t doubt;        /* time of its first uncertain sample */
	bool doubtful;
	struct number min, max, last;
	__int128 sum; /* value times ns, up to `since`: less than 2^126 */
	long double real_sum;
};
struct counters {
	struct gt_report_state report;
	struct gt_time_ordered order;
	struct gt_group_table counters;
	uint64_t beyond; /* samples of counters beyond the limit */
};

static struct number number_of(uint8_t kind, uint64_t bits)
{
	struct number v = { 0 };

	if (kind == GT_F_F64)
		memcpy(&v.real, &bits, sizeof(v.real));
	else
		v.whole = kind == GT_F_I64 ? (__int128)(int64_t)bits : (__int128)bits;
	return v;
}

static double as_double(uint8_t kind, struct number v)
{
	return kind == GT_F_F64 ? v.real : (double)v.whole;
}

static bool less(struct number a, struct number b)
{
	return a.whole != b.whole ? a.whole < b.whole : a.real < b.real;
}

/* Adds the last value, which is valid until then. */
static void extend_last_value(struct counter *c, int64_t until)
{
	if (until <= c->since)
		return;
	c->sum += c->last.whole * (until - c->since);
	c->real_sum += (long double)c->last.real * (long double)(until - c->since);
	c->since = until;
}

static struct counter *counter_at(const struct counters *c, size_t i)
{
	return gt_group_table_at(&c->counters, i);
}

/* NULL: too many counters, or err is filled in. */
static struct counter *find(struct counters *c, const struct gt_segment *seg, uint32_t track,
	uint32_t type, struct gt_err *err)
{
	const uint32_t key[3] = { seg->index, track, type };
	uint32_t i = gt_group_table_find(&c->counters, key, err);

	c->beyond += i == COUNTERS_MAX;
	if (i == GT_GROUP_TABLE_NONE || i == COUNTERS_MAX)
		return NULL;
	counter_at(c, i)->seg = seg;
	return counter_at(c, i);
}

enum { A_VALUE = 1, UNCERTAIN = 2 }; /* stored in addr; 0: a row without a value */

static int on_sample(void *arg, const struct gt_moment *m, struct gt_err *err)
{
	struct counters *c = arg;
	const struct gt_segment *seg = gt_time_ordered_segment(&c->order, c->report.reader, m);
	struct counter *one;
	struct number v;

	if (!m->addr)
		return 0;
	one = find(c, seg, m->place - c->order.tracks[seg->index],
		m->what - c->order.types[seg->index], err);
	if (!one)
		return err->code;
	one->kind = seg->types[one->type].fields[0].kind;
	if (m->addr & UNCERTAIN && !one->doubtful) {
		one->doubtful = true;
		one->doubt = m->at;
	}
	v = number_of(one->kind, m->bytes);
	if (!one->samples++) {
		one->first = one->since = m->at;
		one->min = one->max = v;
	}
	extend_last_value(one, m->at);
	one->last = v;
	if (one->kind == GT_F_HEX) {
		one->min.whole &= v.whole;
		one->max.whole |= v.whole;
		return 0;
	}
	if (less(v, one->min))
		one->min = v;
	if (less(one->max, v))
		one->max = v;
	return 0;
}

static int counters_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct counters *c = state;

	c->report = (struct gt_report_state){ r, opt };
	gt_group_table_init(
		&c->counters, sizeof(struct counter), 3 * sizeof(uint32_t), COUNTERS_MAX);
	return gt_time_ordered_init(&c->order, r, on_sample, c, err);
}

static int counters_block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	struct counters *c = state;
	struct gt_moment *m = gt_time_ordered_run(&c->order, cols, err);
	struct gt_column_cursor p;

	if (!m)
		return err->code;
	for (uint32_t code = 0; code < cols->ntypes; code++) {
		const struct gt_type *type = gt_cols_type(cols, code);
		uint32_t n = 0, nth = 0, ndoubts = 0;
		const uint64_t *doubts = gt_cols_role(cols, code, GT_R_UNCERTAIN, &ndoubts);
		const uint64_t *values =
			type && type->nfields ? gt_cols_args(cols, code, 0, &n) : NULL;

		for (gt_column_cursor_start(&p, cols, code, GT_R_NONE, GT_R_NONE);
			values && gt_column_cursor_next(&p) && nth < n; nth++) {
			m[p.row].bytes = values[nth];
			m[p.row].addr = A_VALUE | (nth < ndoubts && doubts[nth] ? UNCERTAIN : 0);
		}
	}
	return 0;
}

static const struct gt_column columns[] = {
	GT_WHERE_DEVICE,
	{ "track", "Track", GT_C_TEXT },
	{ "counter", "Counter", GT_C_TEXT },
	{ "samples", "Samples", GT_C_COUNT },
	{ "min", "Min", GT_C_REAL },
	{ "mean", "Mean", GT_C_REAL },
	{ "max", "Max", GT_C_REAL },
	{ "last", "Last", GT_C_REAL },
	{ "first_ns", "First at", GT_C_TIME },
	{ "uncertain_ns", NULL, GT_C_TIME },
};
#define NCOLUMNS (sizeof(columns) / sizeof(*columns))

static double mean(struct counter *c, const struct gt_analysis_options *opt)
{
	int64_t to = gt_range_of(&opt->filter, c->seg).to,
		end = to < c->seg->max_end ? to : c->seg->max_end;
	long double ns;

	extend_last_value(c, end);
	ns = (long double)c->since - (long double)c->first;
	if (ns <= 0)
		return as_double(c->kind, c->last);
	return (double)((c->kind == GT_F_F64 ? c->real_sum : (long double)c->sum) / ns);
}

static void add(const struct gt_report_state *a, struct gt_table *t, struct counter *c)
{
	const struct gt_track *track = &c->seg->tracks[c->track];
	struct gt_cell cells[NCOLUMNS];
	char name[320];

	if (track->name != GT_NONE)
		snprintf(name, sizeof(name), "%s", gt_str(c->seg, track->name));
	else
		snprintf(name, sizeof(name), "%s %lld", gt_track_kind_word(track->kind),
			(long long)track->id);
	gt_where_device(cells, c->seg, c->track);
	cells[4] = gt_cell_text(name);
	cells[5] = gt_cell_text(gt_type_name(c->seg, c->type));
	cells[6] = gt_cell_u(c->samples);
	cells[7] = (struct gt_cell){ .d = as_double(c->kind, c->min) };
	cells[8] = c->kind == GT_F_HEX ? gt_cell_none() : (struct gt_cell){ .d = mean(c, a->opt) };
	cells[9] = (struct gt_cell){ .d = as_double(c->kind, c->max) };
	cells[10] = (struct gt_cell){ .d = as_double(c->kind, c->last) };
	cells[11] = gt_cell_time(a, c->seg, c->first);
	cells[12] = c->doubtful ? gt_cell_time(a, c->seg, c->doubt) : gt_cell_none();
	gt_table_add(t, cells);
}

static int by_place(const void *pa, const void *pb)
{
	const struct counter *a = pa, *b = pb;

	return gt_by_place(a->seg, a->track, b->seg, b->track) ?: GT_COMPARE(a->type, b->type);
}

static void note_doubts(const struct counters *c, struct gt_table *t)
{
	size_t n = 0;
	int64_t first = INT64_MAX;

	for (size_t i = 0; i < c->counters.n; i++) {
		const struct counter *one = counter_at(c, i);
		int64_t at = gt_time_since_origin(&c->report, one->seg, one->doubt);

		n += one->doubtful;
		first = one->doubtful && at < first ? at : first;
	}
	gt_note_plural(t, n,
		"%zu of the counters {is|are} uncertain from %.6f s on: some calls that change {it|them} were not "
		"recorded",
		n, (double)first / 1e9);
}

static int counters_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct counters *c = state;
	int rc = gt_time_ordered_flush(&c->order, err);
	uint64_t rows = 0;
	size_t shown;

	tables[0] = gt_report_table(&c->report, "counters", "Counters", columns, NCOLUMNS,
		"process first_ns samples last min mean pid", err);
	if (rc || !tables[0])
		return err->code;
	if (c->counters.n > COUNTERS_MAX) /* without the rest */
		c->counters.n = COUNTERS_MAX;
	shown = gt_rows_shown(c->counters.n, c->report.opt->top);
	gt_group_table_sort(&c->counters, by_place);
	for (size_t i = 0; i < shown; i++)
		add(&c->report, tables[0], counter_at(c, i));
	gt_table_note_cut(tables[0], c->counters.n, shown);
	gt_note_plural(tables[0], c->beyond,
		"more than %u counters: %llu {sample|samples} of further counters {is|are} left out",
		COUNTERS_MAX, (unsigned long long)c->beyond);
	note_doubts(c, tables[0]);
	gt_note_unordered(tables[0], gt_time_ordered_late(&c->order), "means");
	for (uint32_t i = 0; i < gt_reader_segments(c->report.reader); i++)
		rows += gt_reader_segment(c->report.reader, i)->rows[GT_COUNTER];
	if (rows && !c->counters.n && c->report.opt->filter.tid)
		gt_table_set_unanswered(
			tables[0], "--tid leaves out counters: they belong to no thread");
	if (!rows)
		gt_table_set_unanswered(tables[0], "counters were not recorded");
	return 1;
}

static void counters_release(void *state)
{
	struct counters *c = state;

	gt_time_ordered_release(&c->order);
	gt_group_table_release(&c->counters);
}

const struct gt_analysis gt_counters_report = {
	.name = "counters",
	.help = "counters: number of samples, minimum, mean over time, maximum and last value",
	.wants = GT_BIT(GT_COUNTER),
	.wants_args = true,
	.order = GT_BY_TIME,
	.state_size = sizeof(struct counters),
	.init = counters_init,
	.block = counters_block,
	.finish = counters_finish,
	.release = counters_release,
};
