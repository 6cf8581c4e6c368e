/* Calls that failed, by process, name and code: how often, and when and on which thread for the first time. CUDA_ERROR_NOT_READY is what polling returns. */
#include <stdlib.h>
#include "analyze/codes.h"
#include "analyze/report.h"
#include "formats/base/buf.h"
#include "formats/base/map.h"

#define ERRORS_MAX 65536	/* different ones; a file with more is not worth more memory */

struct failure {
	const struct gt_segment *seg;	/* of the first */
	uint32_t type, process, track;
	int32_t code;
	uint64_t count;
	int64_t first;
};
struct errors {
	struct gt_asked asked;
	struct failure *list;
	size_t n, cap;
	struct gt_map map;		/* by segment, process, type and code */
	uint64_t beyond;		/* failed calls that found no room */
};

static bool same_failure(const void *arg, uint32_t value, const void *key, size_t len)
{
	const struct failure *have = &((const struct errors *)arg)->list[value], *want = key;

	return have->seg == want->seg && have->process == want->process && have->type == want->type && have->code == want->code;
}

static bool earlier(const struct failure *a, const struct failure *b)
{
	return a->first != b->first ? a->first < b->first : a->track < b->track;
}

static int count(struct errors *e, const struct failure *f, struct gt_err *err)
{
	uint64_t hash = gt_hash_u64((uint64_t)f->type << 32 ^ (uint32_t)f->code ^ (uint64_t)f->seg->index << 20 ^ (uint64_t)f->process << 44);
	uint32_t i = gt_map_get(&e->map, hash, same_failure, e, f, sizeof(*f));

	if (i == UINT32_MAX) {
		if (e->n == ERRORS_MAX) {
			e->beyond += f->count;
			return 0;
		}
		if (gt_grow(&e->list, &e->cap, e->n + 1, sizeof(*e->list)) || gt_map_add(&e->map, hash, (uint32_t)e->n))
			return gt_err_set(err, -ENOMEM, "no memory for the errors");
		e->list[e->n++] = *f;
		return 0;
	}
	e->list[i].count += f->count;
	if (earlier(f, &e->list[i])) {
		e->list[i].first = f->first;
		e->list[i].track = f->track;
	}
	return 0;
}

static int errors_block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	uint32_t process = gt_track_process(cols->seg, cols->track);
	int rc = 0;

	for (uint32_t i = 0; !rc && i < cols->nret; i++) {
		uint32_t row = cols->ret_row[i], type = cols->types[cols->code ? cols->code[row] : 0];

		if (type < cols->seg->ntypes)
			rc = count(state, &(struct failure){ cols->seg, type, process, cols->track, cols->ret[i], 1, cols->start[row] }, err);
	}
	return rc;
}

static int errors_merge(void *into, void *from, struct gt_err *err)
{
	struct errors *a = into, *b = from;
	int rc = 0;

	a->beyond += b->beyond;
	for (size_t i = 0; !rc && i < b->n; i++)
		rc = count(a, &b->list[i], err);
	return rc;
}

static const struct gt_column columns[] = {
	{ "recording", "Recording", GT_C_COUNT }, { "operation", "Operation", GT_C_TEXT }, { "code", "Code", GT_C_COUNT },
	{ "error", "Error", GT_C_TEXT }, { "count", "Times", GT_C_COUNT }, { "pid", "PID", GT_C_COUNT },
	{ "process", "Process", GT_C_TEXT }, GT_WHERE_THREAD, { "first_ns", "First", GT_C_TIME },
};
#define NCOLUMNS 10

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
	const char *words = gt_code_words(f->seg->types[f->type].layer, f->code, buf, sizeof(buf));
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
	cells[9] = gt_cell_i(gt_since(e->asked.opt, e->asked.reader, f->seg, f->first));
	gt_table_add(t, cells + gt_where_skip(e->asked.reader));
}

static int errors_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct errors *e = state;
	size_t shown = gt_shown(e->n, e->asked.opt->top);
	unsigned skip = gt_where_skip(e->asked.reader);

	tables[0] = gt_table_new("errors", "Failed calls", columns + skip, NCOLUMNS - skip);
	if (!tables[0])
		return gt_err_set(err, -ENOMEM, "no memory for a table");
	gt_table_gives_way(tables[0], "process thread first_ns tid pid error");
	if (e->n)
		qsort(e->list, e->n, sizeof(*e->list), by_count);
	for (size_t i = 0; i < shown; i++)
		add(e, tables[0], &e->list[i]);
	gt_table_note_cut(tables[0], e->n, shown);
	if (e->beyond)
		gt_table_note(tables[0], "%llu failed calls are beyond the first %d kinds of failure and not listed",
			      (unsigned long long)e->beyond, ERRORS_MAX);
	return 1;
}

static void errors_release(void *state)
{
	struct errors *e = state;

	free(e->list);
	gt_map_release(&e->map);
}

const struct gt_analysis gt_errors_report = {
	.name       = "errors",
	.help       = "failed calls by name, code and process, with the first of each",
	.wants      = GT_BIT(GT_CALL) | GT_BIT(GT_SPAN) | GT_BIT(GT_INSTANT),
	.needs      = GT_LAYERS_OF_CALLS | GT_BIT(GT_LAYER_IOCTL),
	.splits     = GT_BY_BLOCK,
	.state_size = sizeof(struct errors),
	.init       = gt_asked_init,
	.block      = errors_block,
	.merge      = errors_merge,
	.finish     = errors_finish,
	.release    = errors_release,
};
