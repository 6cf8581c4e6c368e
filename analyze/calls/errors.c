/* Failed calls by process, name and code: number, time and thread of the first one, time of the
 * last one, and number of threads. CUDA_ERROR_NOT_READY is the normal result of polling. */
#include <stdlib.h>
#include "analyze/columns/return_codes.h"
#include "analyze/stats/group_table.h"
#include "analyze/core/report.h"
#include "formats/base/sorted.h"

#define ERRORS_MAX 65536  /* limit of kinds of failure */
#define PLACES_MAX 262144 /* limit of pairs of failure and thread; 4 MiB */

struct failure_key {
	uint32_t segment, process, type;
	int32_t code;
};
struct failure {
	struct failure_key key;
	uint32_t track; /* of the first call */
	uint64_t count;
	int64_t first, last;
	uint32_t threads, latest; /* number of threads; the one counted last */
	bool more;                /* more threads than counted */
};
struct place {
	uint32_t failure, track;
};
struct errors {
	struct gt_report_state report;
	struct gt_group_table failures; /* the rest: failures beyond ERRORS_MAX */
	struct gt_group_table places;   /* pairs of failure and thread */
};

static int errors_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct errors *e = state;

	e->report = (struct gt_report_state){ r, opt };
	gt_group_table_init(
		&e->failures, sizeof(struct failure), sizeof(struct failure_key), ERRORS_MAX);
	gt_group_table_init(&e->places, sizeof(struct place), sizeof(struct place), PLACES_MAX);
	return 0;
}

static struct failure *failure_at(const struct errors *e, size_t i)
{
	return gt_group_table_at(&e->failures, i);
}

static int note_thread(struct errors *e, uint32_t failure, uint32_t track, struct gt_err *err)
{
	struct failure *f = failure_at(e, failure);
	size_t places = e->places.n;
	uint32_t i;

	if (failure == ERRORS_MAX || (f->threads && f->latest == track))
		return 0;
	f->latest = track;
	i = gt_group_table_find(&e->places, &(struct place){ failure, track }, err);
	if (i == GT_GROUP_TABLE_NONE)
		return err->code;
	f->more |= i == PLACES_MAX;
	f->threads += !f->more && e->places.n > places;
	return 0;
}

static bool earlier(const struct failure *a, const struct failure *b)
{
	return a->first != b->first ? a->first < b->first : a->track < b->track;
}

/* The index of its group. GT_GROUP_TABLE_NONE with err filled in. */
static uint32_t count(struct errors *e, const struct failure *f, struct gt_err *err)
{
	uint32_t i = gt_group_table_find(&e->failures, &f->key, err);
	struct failure *to = i == GT_GROUP_TABLE_NONE ? NULL : failure_at(e, i);

	if (!to)
		return i;
	to->last = !to->count || f->last > to->last ? f->last : to->last;
	to->more |= f->more;
	if (!to->count || earlier(f, to)) {
		to->first = f->first;
		to->track = f->track;
	}
	to->count += f->count;
	return note_thread(e, i, f->track, err) ? GT_GROUP_TABLE_NONE : i;
}

static int errors_block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	uint32_t process = gt_track_process(cols->seg, cols->track);

	for (uint32_t i = 0; i < cols->nret; i++) {
		uint32_t row = cols->ret_row[i],
			 type = cols->types[cols->code ? cols->code[row] : 0];
		struct failure f = { { cols->seg->index, process, type, cols->ret[i] },
			.track = cols->track, .count = 1, .first = cols->start[row],
			.last = cols->start[row] };

		if (type < cols->seg->ntypes && count(state, &f, err) == GT_GROUP_TABLE_NONE)
			return err->code;
	}
	return 0;
}

static int errors_merge(void *into, void *from, struct gt_err *err)
{
	struct errors *a = into, *b = from;
	/* index in a of each failure of b */
	uint32_t *numbers = malloc((b->failures.n + 1) * sizeof(*numbers));
	bool failed = !numbers;

	for (size_t i = 0; !failed && i < b->failures.n; i++) {
		numbers[i] = count(a, failure_at(b, i), err);
		failed = numbers[i] == GT_GROUP_TABLE_NONE;
	}
	for (size_t i = 0; !failed && i < b->places.n && i < PLACES_MAX; i++) {
		const struct place *p = gt_group_table_at(&b->places, i);

		failed = note_thread(a, numbers[p->failure], p->track, err);
	}
	free(numbers);
	return failed ? gt_err_set(err, -ENOMEM, "out of memory (errors)") : 0;
}

static const struct gt_column columns[] = {
	{ "recording", "Recording", GT_C_COUNT },
	{ "operation", "Operation", GT_C_TEXT },
	{ "code", "Code", GT_C_COUNT },
	{ "error", "Error", GT_C_TEXT },
	{ "count", "Times", GT_C_COUNT },
	{ "pid", "PID", GT_C_COUNT },
	{ "process", "Process", GT_C_TEXT },
	GT_WHERE_THREAD,
	{ "first_ns", "First", GT_C_TIME },
	{ "last_ns", "Last", GT_C_TIME },
	{ "threads", "Threads", GT_C_COUNT },
};
#define NCOLUMNS 12

static int by_count(const void *pa, const void *pb)
{
	const struct failure *a = pa, *b = pb;

	return GT_COMPARE(b->count, a->count) ?:
		GT_COMPARE(a->key.segment, b->key.segment) ?:
		GT_COMPARE(a->key.type, b->key.type) ?:
		GT_COMPARE(a->key.process, b->key.process) ?:
		GT_COMPARE(a->key.code, b->key.code);
}

static void add(const struct errors *e, struct gt_table *t, const struct failure *f)
{
	const struct gt_segment *seg = gt_reader_segment(e->report.reader, f->key.segment);
	char buf[80];
	const char *words =
		gt_return_code_text(seg->types[f->key.type].layer, f->key.code, buf, sizeof(buf));
	struct gt_cell process[3], cells[NCOLUMNS];

	gt_where_process(process, seg, f->key.process);
	cells[0] = process[0];
	cells[1] = gt_cell_text(gt_type_name(seg, f->key.type));
	cells[2] = gt_cell_i(f->key.code);
	cells[3] = words ? gt_cell_text(words) : gt_cell_none();
	cells[4] = gt_cell_u(f->count);
	cells[5] = process[1];
	cells[6] = process[2];
	gt_where_thread(cells + 7, seg, f->track);
	cells[9] = gt_cell_time(&e->report, seg, f->first);
	cells[10] = gt_cell_time(&e->report, seg, f->last);
	cells[11] = gt_cell_known(!f->more, f->threads);
	gt_table_add(t, cells);
}

static int errors_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct errors *e = state;
	uint64_t beyond = e->failures.n > ERRORS_MAX ? failure_at(e, ERRORS_MAX)->count : 0;
	size_t n = beyond ? ERRORS_MAX : e->failures.n,
	       shown = gt_rows_shown(n, e->report.opt->top);

	tables[0] = gt_report_table(&e->report, "errors", "Failed calls", columns, NCOLUMNS,
		"process thread last_ns threads first_ns tid pid error", err);
	if (!tables[0])
		return err->code;
	e->failures.n = n;
	gt_group_table_sort(&e->failures, by_count);
	for (size_t i = 0; i < shown; i++)
		add(e, tables[0], failure_at(e, i));
	gt_table_note_cut(tables[0], n, shown);
	gt_note_plural(tables[0], beyond,
		"%llu failed {call is|calls are} of further kinds than the first %d, and not listed",
		(unsigned long long)beyond, ERRORS_MAX);
	return 1;
}

static void errors_release(void *state)
{
	struct errors *e = state;

	gt_group_table_release(&e->failures);
	gt_group_table_release(&e->places);
}

const struct gt_analysis gt_errors_report = {
	.name = "errors",
	.help = "failed calls by name, code and process, with the first of each",
	.wants = GT_BIT(GT_CALL) | GT_BIT(GT_SPAN) | GT_BIT(GT_INSTANT),
	.needs = GT_LAYERS_OF_CALLS | GT_BIT(GT_LAYER_IOCTL) | GT_BIT(GT_LAYER_SYSCALL),
	.splits = GT_BY_BLOCK,
	.state_size = sizeof(struct errors),
	.init = errors_init,
	.block = errors_block,
	.merge = errors_merge,
	.finish = errors_finish,
	.release = errors_release,
};
