/* Failed calls by process, name and code: number, time and thread of the first one, time of the
 * last one, and number of threads. CUDA_ERROR_NOT_READY is the normal result of polling. */
#include <stdlib.h>
#include "analyze/columns/return_codes.h"
#include "analyze/core/report.h"
#include "formats/base/buf.h"
#include "formats/base/map.h"

#define ERRORS_MAX 65536  /* limit of kinds of failure */
#define PLACES_MAX 262144 /* limit of pairs of failure and thread; 4 MiB */

struct failure {
	const struct gt_segment *seg; /* of the first call */
	uint32_t type, process, track;
	int32_t code;
	uint64_t count;
	int64_t first, last;
	uint32_t threads, latest; /* number of threads; the one counted last */
	bool more;                /* more threads than counted */
};
struct errors {
	struct gt_report_state asked;
	struct failure *list;
	size_t n, cap;
	struct gt_map map; /* by segment, process, type and code */
	uint64_t beyond;   /* failed calls beyond the limit */
	struct place {
		uint32_t failure, track;
	} * places; /* each pair of failure and thread */
	size_t nplaces, places_cap;
	struct gt_map places_map;
};

static bool same_place(const void *arg, uint32_t value, const void *key, size_t len)
{
	const struct place *have = &((const struct errors *)arg)->places[value], *want = key;

	return have->failure == want->failure && have->track == want->track;
}

static int note_thread(struct errors *e, uint32_t failure, uint32_t track, struct gt_err *err)
{
	struct place at = { failure, track };
	struct failure *f = &e->list[failure];
	uint64_t hash = gt_hash_u64((uint64_t)failure << 32 | track);

	if (f->threads && f->latest == track)
		return 0;
	f->latest = track;
	if (gt_map_get(&e->places_map, hash, same_place, e, &at, sizeof(at)) != UINT32_MAX)
		return 0;
	f->more |= e->nplaces == PLACES_MAX;
	if (f->more)
		return 0;
	if (gt_grow(&e->places, &e->places_cap, e->nplaces + 1, sizeof(*e->places)) ||
		gt_map_add(&e->places_map, hash, (uint32_t)e->nplaces))
		return gt_err_set(err, -ENOMEM, "no memory for the errors");
	e->places[e->nplaces++] = at;
	f->threads++;
	return 0;
}

static bool same_failure(const void *arg, uint32_t value, const void *key, size_t len)
{
	const struct failure *have = &((const struct errors *)arg)->list[value], *want = key;

	return have->seg == want->seg && have->process == want->process &&
		have->type == want->type && have->code == want->code;
}

static bool earlier(const struct failure *a, const struct failure *b)
{
	return a->first != b->first ? a->first < b->first : a->track < b->track;
}

/* The index of the failure of this kind. UINT32_MAX: beyond the limit. Negative: err. */
static int64_t find(struct errors *e, const struct failure *f, struct gt_err *err)
{
	uint64_t hash = gt_hash_u64((uint64_t)f->type << 32 ^ (uint32_t)f->code ^
		(uint64_t)f->seg->index << 20 ^ (uint64_t)f->process << 44);
	uint32_t i = gt_map_get(&e->map, hash, same_failure, e, f, sizeof(*f));

	if (i != UINT32_MAX || e->n == ERRORS_MAX)
		return i;
	if (gt_grow(&e->list, &e->cap, e->n + 1, sizeof(*e->list)) ||
		gt_map_add(&e->map, hash, (uint32_t)e->n))
		return gt_err_set(err, -ENOMEM, "no memory for the errors");
	e->list[e->n] = *f;
	e->list[e->n].count = e->list[e->n].threads = 0;
	return (int64_t)e->n++;
}

/* Its index, as from find(). */
static int64_t count(struct errors *e, const struct failure *f, struct gt_err *err)
{
	int64_t i = find(e, f, err);
	struct failure *to = i < 0 || i == UINT32_MAX ? NULL : &e->list[i];

	if (!to) {
		e->beyond += i == UINT32_MAX ? f->count : 0;
		return i;
	}
	to->count += f->count;
	to->last = f->last > to->last ? f->last : to->last;
	to->more |= f->more;
	if (earlier(f, to)) {
		to->first = f->first;
		to->track = f->track;
	}
	return note_thread(e, (uint32_t)i, f->track, err) ? err->code : i;
}

static int errors_block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	uint32_t process = gt_track_process(cols->seg, cols->track);
	int64_t rc = 0;

	for (uint32_t i = 0; rc >= 0 && i < cols->nret; i++) {
		uint32_t row = cols->ret_row[i],
			 type = cols->types[cols->code ? cols->code[row] : 0];

		if (type < cols->seg->ntypes)
			rc = count(state,
				&(struct failure){ .seg = cols->seg,
					.type = type,
					.process = process,
					.track = cols->track,
					.code = cols->ret[i],
					.count = 1,
					.first = cols->start[row],
					.last = cols->start[row] },
				err);
	}
	return rc < 0 ? (int)rc : 0;
}

static int errors_merge(void *into, void *from, struct gt_err *err)
{
	struct errors *a = into, *b = from;
	/* index in a of each failure of b */
	uint32_t *numbers = malloc((b->n + 1) * sizeof(*numbers));
	int64_t rc = numbers ? 0 : gt_err_set(err, -ENOMEM, "no memory for the errors");

	a->beyond += b->beyond;
	for (size_t i = 0; rc >= 0 && i < b->n; i++) {
		rc = count(a, &b->list[i], err);
		numbers[i] = rc < 0 ? UINT32_MAX : (uint32_t)rc;
	}
	for (size_t i = 0; rc >= 0 && i < b->nplaces; i++)
		if (numbers[b->places[i].failure] != UINT32_MAX)
			rc = note_thread(a, numbers[b->places[i].failure], b->places[i].track, err);
	free(numbers);
	return rc < 0 ? (int)rc : 0;
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

	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	if (a->seg->index != b->seg->index)
		return a->seg->index < b->seg->index ? -1 : 1;
	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return (a->code > b->code) - (a->code < b->code);
}

static void add(const struct errors *e, struct gt_table *t, const struct failure *f)
{
	char buf[80];
	const char *words =
		gt_return_code_text(f->seg->types[f->type].layer, f->code, buf, sizeof(buf));
	struct gt_cell process[3], cells[NCOLUMNS];

	gt_where_process(process, f->seg, f->process);
	cells[0] = process[0];
	cells[1] = gt_cell_text(gt_type_name(f->seg, f->type));
	cells[2] = gt_cell_i(f->code);
	cells[3] = words ? gt_cell_text(words) : gt_cell_none();
	cells[4] = gt_cell_u(f->count);
	cells[5] = process[1];
	cells[6] = process[2];
	gt_where_thread(cells + 7, f->seg, f->track);
	cells[9] = gt_cell_i(gt_time_since_origin(e->asked.opt, e->asked.reader, f->seg, f->first));
	cells[10] = gt_cell_i(gt_time_since_origin(e->asked.opt, e->asked.reader, f->seg, f->last));
	cells[11] = gt_cell_known(!f->more, f->threads);
	gt_table_add(t, cells + gt_where_skip(e->asked.reader));
}

static int errors_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct errors *e = state;
	size_t shown = gt_rows_shown(e->n, e->asked.opt->top);
	unsigned skip = gt_where_skip(e->asked.reader);

	tables[0] = gt_table_new("errors", "Failed calls", columns + skip, NCOLUMNS - skip);
	if (!tables[0])
		return gt_err_set(err, -ENOMEM, "no memory for a table");
	gt_table_gives_way(tables[0], "process thread last_ns threads first_ns tid pid error");
	if (e->n)
		qsort(e->list, e->n, sizeof(*e->list), by_count);
	for (size_t i = 0; i < shown; i++)
		add(e, tables[0], &e->list[i]);
	gt_table_note_cut(tables[0], e->n, shown);
	if (e->beyond)
		gt_note_plural(tables[0], e->beyond,
			"%llu failed {call is|calls are} of further kinds than the first %d, and not listed",
			(unsigned long long)e->beyond, ERRORS_MAX);
	return 1;
}

static void errors_release(void *state)
{
	struct errors *e = state;

	free(e->list);
	free(e->places);
	gt_map_release(&e->map);
	gt_map_release(&e->places_map);
}

const struct gt_analysis gt_errors_report = {
	.name = "errors",
	.help = "failed calls by name, code and process, with the first of each",
	.wants = GT_BIT(GT_CALL) | GT_BIT(GT_SPAN) | GT_BIT(GT_INSTANT),
	.needs = GT_LAYERS_OF_CALLS | GT_BIT(GT_LAYER_IOCTL),
	.splits = GT_BY_BLOCK,
	.state_size = sizeof(struct errors),
	.init = gt_report_state_init,
	.block = errors_block,
	.merge = errors_merge,
	.finish = errors_finish,
	.release = errors_release,
};
