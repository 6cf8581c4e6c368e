#include "analyze/memory/live_counters.h"

#include <stdlib.h>
#include "analyze/columns/column_cursor.h"
#include "formats/base/buf.h"
#include "formats/base/sorted.h"

#define COUNTERS_MAX 65536u

/* A counter of live memory has a kind of memory. */
static bool counts_memory(const struct gt_type *type)
{
	return type && type->category == GT_CAT_MEMORY && type->memkind != GT_MEM_UNKNOWN &&
		type->nfields && type->fields[0].role == GT_R_VALUE &&
		type->fields[0].kind == GT_F_U64;
}

/* A linear search: each process has a few. NULL: no memory, or too many. */
static struct gt_live_counter *find(
	struct gt_live_counters *c, const struct gt_segment *seg, uint32_t track, uint32_t type)
{
	for (size_t k = 0; k < c->n; k++, c->hint = c->hint + 1 < c->n ? c->hint + 1 : 0)
		if (c->list[c->hint].seg == seg && c->list[c->hint].track == track &&
			c->list[c->hint].type == type)
			return &c->list[c->hint];
	if (c->n == COUNTERS_MAX || gt_grow(&c->list, &c->cap, c->n + 1, sizeof(*c->list)))
		return NULL;
	c->list[c->n] = (struct gt_live_counter){
		.seg = seg, .track = track, .type = type, .peak_at = INT64_MAX, .last_at = INT64_MIN
	};
	return &c->list[c->hint = (uint32_t)c->n++];
}

static void sample(struct gt_live_counter *one, int64_t at, uint64_t value, bool uncertain)
{
	if (value > one->peak || (value == one->peak && at < one->peak_at)) {
		one->peak = value;
		one->peak_at = at;
	}
	if (at >= one->last_at) {
		one->changed = one->last_at != INT64_MIN;
		one->before = one->last;
		one->last_at = at;
		one->last = value;
	}
	one->uncertain |= uncertain;
}

int gt_live_counters_run(struct gt_live_counters *c, const struct gt_cols *cols, struct gt_err *err)
{
	for (uint32_t code = 0; code < cols->ntypes; code++) {
		struct gt_live_counter *one = NULL;
		struct gt_column_cursor p;
		uint64_t value, uncertain;

		if (!counts_memory(gt_cols_type(cols, code)))
			continue;
		for (gt_column_cursor_start(&p, cols, code, GT_R_VALUE, GT_R_UNCERTAIN);
			gt_column_cursor_next(&p);) {
			if (!gt_column_cursor_value(&p, 0, &value))
				continue;
			if (!one && !(one = find(c, cols->seg, cols->track, cols->types[code])))
				return gt_err_set(err, -ENOMEM, "out of memory (memory counters)");
			if (!gt_column_cursor_value(&p, 1, &uncertain))
				uncertain = 0;
			sample(one, cols->start[p.row], value, uncertain != 0);
		}
	}
	return 0;
}

static const struct gt_column columns[] = {
	GT_WHERE_DEVICE,
	{ "kind", "Kind", GT_C_TEXT },
	{ "peak_bytes", "Peak live", GT_C_BYTES },
	{ "peak_at_ns", "Peak at", GT_C_TIME },
	{ "live_bytes", "Live at end", GT_C_BYTES },
};
#define NCOLUMNS (sizeof(columns) / sizeof(*columns))

static int by_place(const void *pa, const void *pb)
{
	const struct gt_live_counter *a = pa, *b = pb;

	return gt_by_place(a->seg, a->track, b->seg, b->track) ?: GT_COMPARE(a->type, b->type);
}

/* Live bytes at the end. When a process exits, its counters become 0, after its last call: the
 * value before is the result then. With --match its calls may be left out, so that the meaning of a
 * last 0 is unknown. */
static struct gt_cell live_at_end(
	const struct gt_live_counter *one, const struct gt_report_state *a, int64_t ended)
{
	bool zeroed = !one->last && one->last_at > ended;

	if (!zeroed)
		return gt_cell_u(one->last);
	return gt_cell_known(one->changed && !a->opt->filter.match, one->before);
}

struct gt_table *gt_live_counters_table(struct gt_live_counters *c, const struct gt_report_state *a,
	const struct gt_process_slots *where, const int64_t *ended, struct gt_err *err)
{
	struct gt_table *t =
		gt_report_table(a, "memory_devices", "Memory by device, by its counters", columns,
			NCOLUMNS, "process peak_at_ns live_bytes pid device", err);
	size_t shown = gt_rows_shown(c->n, a->opt->top);
	bool uncertain = false;

	if (!t)
		return NULL;
	GT_SORT(c->list, c->n, by_place);
	for (size_t i = 0; i < shown; i++) {
		const struct gt_live_counter *one = &c->list[i];
		const struct gt_type *type = &one->seg->types[one->type];
		struct gt_cell cells[NCOLUMNS];

		gt_where_device(cells, one->seg, one->track);
		cells[4] = gt_cell_text(gt_memkind_word(type->memkind));
		cells[5] = gt_cell_u(one->peak);
		cells[6] = gt_cell_time(a, one->seg, one->peak_at);
		cells[7] =
			live_at_end(one, a, ended[gt_process_slot_of(where, one->seg, one->track)]);
		gt_table_add(t, cells);
		uncertain |= one->uncertain;
	}
	gt_table_note_cut(t, c->n, shown);
	if (uncertain)
		gt_table_note(t,
			"some allocations or frees were not seen: gtanalyze counters shows from when on");
	if (!c->n && !a->opt->restrictions)
		gt_table_set_unanswered(t, "counters were not recorded");
	return t;
}

void gt_live_counters_release(struct gt_live_counters *c) { free(c->list); }
