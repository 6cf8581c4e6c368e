/* How much memory the program held, when, and what it never gave back.
 *
 * Allocations and frees of all threads of a process are put in order of time and played against a table of live addresses.
 * An allocation counts from its end, a free from its start: before an address can be handed out again its free has begun, so
 * this order is right for each address whatever the threads do, and never shows more than was really held. Only calls that
 * succeeded count. formats/live.h says which address is whose; the recorder's counters are made in the same way. A free of an address
 * that is not in the table (allocated before recording began, or lost) is an unknown free; one of NULL frees nothing and is counted
 * apart. An allocation at an address that is in the table tells that a free was missed; the old one ends there.
 *
 * Asked for by its name the report also tells what held memory, when, and at what cost: allocations by function and size
 * (alloc_groups.h), live memory along time, frees that waited for the GPU (alloc_frees.h), devices (live_counters.h).
 */
#include <stdlib.h>
#include "analyze/alloc_frees.h"
#include "analyze/alloc_groups.h"
#include "analyze/live_counters.h"
#include "analyze/live_strip.h"
#include "analyze/pick.h"
#include "analyze/timeline.h"
#include "formats/base/buf.h"
#include "formats/cuda_api.h"
#include "formats/live.h"

#define ALL GT_MEMKIND_COUNT	/* the sum of all kinds */

struct held {
	uint64_t allocs, failed, frees, null_frees, unknown_frees, allocated, freed, live, live_count, peak;
	uint64_t sized, tracked;	/* allocations whose size is known; and whose address too */
	int64_t peak_at;
};
struct what { uint32_t code, name; uint8_t op, kind; };	/* a code of the block at hand that allocates or frees */
/* A call in the line of time, whose moment holds its number; name: a string id. */
struct event { uint64_t addr, bytes, ns; uint32_t place, name, next; uint8_t op, kind; bool sized; };
struct memory {
	struct gt_asked asked;
	struct gt_places where;
	struct gt_live live;
	struct held (*kinds)[ALL + 1];	/* per segment */
	struct held *places;		/* per process */
	struct gt_alloc_groups groups;
	struct gt_alloc_frees frees;
	struct gt_live_counters counters;
	struct gt_live_strip **strips;	/* per process; NULL: no memory was followed */
	struct event *events;		/* those that are in the line of time, and free ones */
	size_t nevents, events_cap;
	uint32_t free_event;		/* 1 + the first of the free ones, or 0 */
	struct gt_timeline *lines;
	struct what *whats;
	size_t nwhats, whats_cap;
	uint64_t block, missed_frees, not_followed;
	const struct gt_segment *block_seg;
};

static int memory_init(void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct memory *m = state;
	int rc = gt_places_init(&m->where, r, err);

	m->asked = (struct gt_asked){ r, opt };
	if (rc)
		return rc;
	m->kinds = calloc(gt_reader_segments(r) + 1ul, sizeof(*m->kinds));
	m->places = calloc(m->where.n + 1, sizeof(*m->places));
	m->lines = calloc(gt_reader_segments(r) + 1ul, sizeof(*m->lines));
	m->strips = calloc(m->where.n + 1, sizeof(*m->strips));
	if (!m->kinds || !m->places || !m->lines || !m->strips)
		return gt_err_set(err, -ENOMEM, "no memory for the memory report");
	rc = gt_alloc_groups_init(&m->groups, m->where.n, err);
	return rc || opt->unasked ? rc : gt_alloc_frees_init(&m->frees, r, opt, &m->where, err);
}

/* The three accounts that one allocation belongs to. */
struct accounts { struct held *of[3]; };
static struct accounts accounts_of(struct memory *m, uint32_t place, unsigned kind)
{
	struct held *kinds = m->kinds[m->where.places[place].seg->index];

	return (struct accounts){ { &kinds[kind], &kinds[ALL], &m->places[place] } };
}
#define EACH_ACCOUNT(h, m, place, kind) \
	for (struct accounts acc_ = accounts_of(m, place, kind), *once_ = &acc_; once_; once_ = NULL) \
		for (struct held **p_ = acc_.of, *h; p_ < acc_.of + 3 && (h = *p_); p_++)

static void give_back(struct memory *m, const struct gt_live_item *old)
{
	EACH_ACCOUNT(h, m, old->place, old->kind) {
		h->live -= old->bytes < h->live ? old->bytes : h->live;
		h->live_count--;
	}
}

static int not_followed(struct memory *m, int code, struct gt_err *err)
{
	if (code == -ENOMEM)
		return gt_err_set(err, code, "no memory for the addresses that are allocated");
	m->not_followed += code == -ENOSPC;
	return 0;
}

/* Live memory of a process is another from now on. */
static int draw(struct memory *m, uint32_t place, int64_t at, struct gt_err *err)
{
	struct gt_live_strip **strip = &m->strips[place];

	if (m->asked.opt->unasked)
		return 0;
	if (!*strip && !(*strip = gt_live_strip_new(m->asked.opt, m->where.places[place].seg)))
		return gt_err_set(err, -ENOMEM, "no memory for the memory along time");
	gt_live_strip_set(*strip, at, m->places[place].live);
	return 0;
}

static int group_of(struct memory *m, const struct event *e, uint32_t *group, struct gt_err *err)
{
	int64_t i = UINT32_MAX;

	if (e->sized && !m->asked.opt->unasked)
		i = gt_alloc_group(&m->groups, &(struct gt_alloc_group){ .place = e->place, .name = e->name, .kind = e->kind,
				   .bytes = e->bytes }, err);
	*group = (uint32_t)i;
	return i < 0 ? (int)i : 0;
}

static int play_alloc(struct memory *m, int64_t at, const struct event *e, struct gt_err *err)
{
	struct gt_live_item item = { .addr = e->addr, .bytes = e->bytes, .place = e->place, .kind = e->kind }, old;
	int rc = group_of(m, e, &item.group, err);

	if (rc)
		return rc;
	rc = gt_live_alloc(&m->live, &item, &old);
	if (rc < 0)
		return not_followed(m, rc, err);
	if (rc == 0) {
		m->missed_frees++;
		give_back(m, &old);
		gt_alloc_group_went(&m->groups, old.group, false, 0);
	}
	gt_alloc_group_came(&m->groups, item.group, e->ns);
	EACH_ACCOUNT(h, m, e->place, e->kind) {
		h->tracked++;
		h->live_count++;
		h->live = gt_sat_add(h->live, e->bytes);
		if (h->live > h->peak) {
			h->peak = h->live;
			h->peak_at = at;
			if (h == &m->places[e->place])
				gt_alloc_groups_peak(&m->groups, e->place);
		}
	}
	return draw(m, e->place, at, err);
}

static int freed(struct memory *m, int64_t at, uint64_t ns, const struct gt_live_item *old, struct gt_err *err)
{
	EACH_ACCOUNT(h, m, old->place, old->kind)
		h->freed = gt_sat_add(h->freed, old->bytes);
	give_back(m, old);
	gt_alloc_group_went(&m->groups, old->group, true, ns);
	return draw(m, old->place, at, err);
}

static int play_free(struct memory *m, int64_t at, const struct event *e, struct gt_err *err)
{
	struct gt_live_item old;
	int rc = gt_live_free(&m->live, e->place, e->kind, e->addr, &old);

	if (rc == 1)
		return freed(m, at, e->ns, &old, err);
	if (rc == 0)
		EACH_ACCOUNT(h, m, e->place, e->kind)
			h->unknown_frees++;
	return 0;
}

static int play(struct memory *m, int64_t when, const struct event *e, struct gt_err *err)
{
	struct gt_live_item old;
	uint64_t at = e->addr;
	int rc = 0;

	switch (e->op) {
	case GT_OP_ALLOC:
		return play_alloc(m, when, e, err);
	case GT_OP_FREE:
		return play_free(m, when, e, err);
	case GT_OP_RETAIN:
		gt_live_retain(&m->live, e->place, e->addr);
		return 0;
	case GT_OP_MAP:
		return not_followed(m, gt_live_map(&m->live, e->place, e->addr, e->bytes), err);
	case GT_OP_UNMAP:
		while (!rc && gt_live_unmap(&m->live, e->place, &at, gt_sat_add(e->addr, e->bytes), &old))
			rc = freed(m, when, e->ns, &old, err);
	}
	return rc;
}

static int memory_moment(void *arg, const struct gt_moment *mo, struct gt_err *err)
{
	struct memory *m = arg;
	struct event e = m->events[mo->what];

	m->events[mo->what].next = m->free_event;
	m->free_event = mo->what + 1;
	return play(m, mo->at, &e, err);
}

/* ---- the rows of interest ---- */

static int look_at_types(struct memory *m, const struct gt_cols *cols, struct gt_err *err)
{
	if (gt_grow(&m->whats, &m->whats_cap, cols->ntypes, sizeof(*m->whats)))
		return gt_err_set(err, -ENOMEM, "no memory for the memory report");
	m->nwhats = 0;
	for (uint32_t c = 0; c < cols->ntypes; c++) {
		const struct gt_type *type = gt_cols_type(cols, c);

		if (type && type->layer != GT_LAYER_GPU && gt_api_is_memory(type->op))
			m->whats[m->nwhats++] = (struct what){
				c, type->name, type->op, type->memkind < GT_MEMKIND_COUNT ? type->memkind : GT_MEM_UNKNOWN };
	}
	m->block = cols->block;
	m->block_seg = cols->seg;
	return 0;
}

/* The number of a free event; UINT32_MAX: no memory. */
static uint32_t new_event(struct memory *m, const struct event *e)
{
	uint32_t i = m->free_event ? m->free_event - 1 : (uint32_t)m->nevents;

	if (m->free_event)
		m->free_event = m->events[i].next;
	else if (gt_grow(&m->events, &m->events_cap, m->nevents + 1, sizeof(*m->events)))
		return UINT32_MAX;
	else
		m->nevents++;
	m->events[i] = *e;
	return i;
}

/* Counts one row, and makes a moment of it if it can be followed: 1; 0: it cannot; or negative. */
static int count_row(struct memory *m, const struct gt_pick *p, const struct what *w, uint32_t place, struct gt_moment *to,
		     struct gt_err *err)
{
	bool alloc = w->op == GT_OP_ALLOC, a_free = w->op == GT_OP_FREE;
	struct event e = { .place = place, .name = w->name, .op = w->op, .kind = w->kind, .ns = (uint64_t)p->cols->dur[p->row] };
	bool known = gt_pick_value(p, 1, &e.addr), null = known && !e.addr && a_free && !p->ret;
	int64_t start = p->cols->start[p->row], end = start + p->cols->dur[p->row];
	uint32_t event;

	e.sized = gt_pick_value(p, 0, &e.bytes);
	EACH_ACCOUNT(h, m, place, w->kind) {
		h->allocs += alloc;
		h->frees += a_free && !null;
		h->null_frees += null;
		h->failed += (alloc || a_free) && p->ret != 0;
		h->sized += alloc && e.sized && !p->ret;
		h->allocated = gt_sat_add(h->allocated, alloc && !p->ret ? e.bytes : 0);
	}
	if (a_free && !null && !m->asked.opt->unasked && gt_alloc_frees_count(&m->frees, place, w->name, e.ns, err))
		return err->code;
	if (!known || !e.addr || p->ret)
		return 0;
	if ((event = new_event(m, &e)) == UINT32_MAX)
		return gt_err_set(err, -ENOMEM, "no memory to put calls in order");
	*to = (struct gt_moment){ .at = alloc || w->op == GT_OP_MAP || w->op == GT_OP_RETAIN ? end : start, .what = event };
	return 1;
}

static int count_rows(struct memory *m, const struct gt_cols *cols, const struct what *w, struct gt_moment *to, size_t *n,
		      struct gt_err *err)
{
	uint32_t place = gt_places_slot(&m->where, cols->seg, cols->track);
	struct gt_pick p;
	int one = 0;

	gt_pick_start(&p, cols, w->code, w->op == GT_OP_MAP ? GT_R_SRC : GT_R_BYTES, GT_R_ADDR);
	for (; one >= 0 && gt_pick_next(&p); *n += one > 0)
		one = count_row(m, &p, w, place, &to[*n], err);
	return one < 0 ? one : 0;
}

static int memory_run(struct memory *m, const struct gt_cols *cols, struct gt_err *err)
{
	struct gt_timeline *line = &m->lines[cols->seg->index];
	struct gt_moment *to;
	size_t n = 0;
	int rc = 0;

	if (m->block_seg && m->block_seg != cols->seg)	/* that one is over */
		rc = gt_timeline_flush(&m->lines[m->block_seg->index], memory_moment, m, err);
	if (!rc && (m->block_seg != cols->seg || m->block != cols->block)) {
		rc = gt_timeline_advance(line, cols->floor, memory_moment, m, err);
		if (!rc)
			rc = look_at_types(m, cols, err);
	}
	if (rc || !m->nwhats)
		return rc;
	to = gt_timeline_room(line, cols->n, err);
	if (!to)
		return -ENOMEM;
	for (size_t i = 0; !rc && i < m->nwhats; i++)
		rc = count_rows(m, cols, &m->whats[i], to, &n, err);
	gt_timeline_took(line, n);
	return rc;
}

static int memory_block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	struct memory *m = state;
	int rc = 0;

	if (!m->asked.opt->unasked && cols->kind == GT_COUNTER)
		rc = gt_live_counters_run(&m->counters, cols, err);
	if (!m->asked.opt->unasked && GT_BIT(cols->kind) & GT_WAITS_KINDS)
		rc = gt_waits_run(&m->frees.waits, cols, err);
	if (!rc && (cols->kind == GT_CALL || cols->kind == GT_INSTANT))
		rc = memory_run(m, cols, err);
	return rc;
}

/* ---- the tables ---- */

static const struct gt_column kind_columns[] = {
	{ "kind", "Kind", GT_C_TEXT }, { "allocations", "Allocations", GT_C_COUNT }, { "failed", "Failed", GT_C_COUNT },
	{ "frees", "Frees", GT_C_COUNT }, { "unknown_frees", "Unknown frees", GT_C_COUNT },
	{ "allocated_bytes", "Allocated", GT_C_BYTES }, { "freed_bytes", "Freed", GT_C_BYTES },
	{ "peak_bytes", "Peak live", GT_C_BYTES }, { "live_bytes", "Live at end", GT_C_BYTES },
	{ "live_count", "Live blocks", GT_C_COUNT }, { "null_frees", NULL, GT_C_COUNT },
};
static const struct gt_column process_columns[] = {
	GT_WHERE_PROCESS, { "allocated_bytes", "Allocated", GT_C_BYTES }, { "freed_bytes", "Freed", GT_C_BYTES },
	{ "peak_bytes", "Peak live", GT_C_BYTES }, { "peak_at_ns", "at", GT_C_TIME }, { "live_bytes", "Live at end", GT_C_BYTES },
	{ "live_count", "Live blocks", GT_C_COUNT },
};

static void add_held(struct held *into, const struct held *h)
{
	into->allocs += h->allocs;
	into->failed += h->failed;
	into->frees += h->frees;
	into->null_frees += h->null_frees;
	into->unknown_frees += h->unknown_frees;
	into->allocated = gt_sat_add(into->allocated, h->allocated);
	into->freed = gt_sat_add(into->freed, h->freed);
	into->live = gt_sat_add(into->live, h->live);
	into->peak = gt_sat_add(into->peak, h->peak);
	into->live_count += h->live_count;
	into->sized += h->sized;
	into->tracked += h->tracked;
}

static void add_kind(struct gt_table *t, const char *word, const struct held *h)
{
	bool sized = h->sized || h->allocs == 0, tracked = (h->tracked && h->sized) || h->allocs == 0;

	if (!h->allocs && !h->frees && !h->null_frees)
		return;
	gt_table_add(t, (struct gt_cell[]){
		gt_cell_text(word), gt_cell_u(h->allocs), gt_cell_u(h->failed), gt_cell_u(h->frees), gt_cell_u(h->unknown_frees),
		gt_cell_known(sized, h->allocated), gt_cell_known(tracked, h->freed), gt_cell_known(tracked, h->peak),
		gt_cell_known(tracked, h->live), gt_cell_known(tracked, h->live_count), gt_cell_known(tracked, h->null_frees) });
}

static void note_doubts(const struct memory *m, struct gt_table *t, uint64_t late)
{
	uint64_t nulls = 0;

	for (uint32_t i = 0; i < m->where.nsegs; i++)
		nulls += m->kinds[i][ALL].null_frees;
	gt_note_unrecorded(t, m->asked.reader, GT_LAYER_API);
	if (nulls)
		gt_table_note(t, "%llu free%s of NULL, which frees nothing, %s not among the frees", (unsigned long long)nulls,
			      nulls == 1 ? "" : "s", nulls == 1 ? "is" : "are");
	if (m->missed_frees)
		gt_table_note(t, "%llu frees were missed: their addresses were handed out again", (unsigned long long)m->missed_frees);
	if (m->not_followed)
		gt_table_note(t, "%llu allocations were beyond the %u that can be followed: freed, peak and live are too small",
			      (unsigned long long)m->not_followed, GT_LIVE_MAX);
	if (late)
		gt_table_note(t, "%llu calls came too late to be put in order: the peak is approximate", (unsigned long long)late);
}

static void fill_kinds(struct memory *m, struct gt_table *t)
{
	for (unsigned k = 0; k <= ALL; k++) {
		struct held sum = { 0 };

		for (uint32_t i = 0; i < m->where.nsegs; i++)
			add_held(&sum, &m->kinds[i][k]);
		add_kind(t, k == ALL ? "all" : gt_memkind_word(k), &sum);
	}
}

static void fill_processes(struct memory *m, struct gt_table *t)
{
	for (size_t i = 0; i < m->where.n; i++) {
		const struct held *h = &m->places[i];
		const struct gt_segment *seg = m->where.places[i].seg;
		bool tracked = h->tracked && h->sized;
		struct gt_cell cells[9];

		if (!h->allocs)
			continue;
		gt_where_process(cells, seg, m->where.places[i].track);
		cells[3] = gt_cell_known(h->sized, h->allocated);
		cells[4] = gt_cell_known(tracked, h->freed);
		cells[5] = gt_cell_known(tracked, h->peak);
		cells[6] = tracked ? gt_cell_i(gt_since(m->asked.opt, m->asked.reader, seg, h->peak_at)) : gt_cell_none();
		cells[7] = gt_cell_known(tracked, h->live);
		cells[8] = gt_cell_known(tracked, h->live_count);
		gt_table_add(t, cells + gt_where_skip(m->asked.reader));
	}
	gt_table_sort(t, 5 - gt_where_skip(m->asked.reader), true, m->asked.opt->top);
}

static const struct gt_column strip_columns[] = {
	GT_WHERE_PROCESS, { "strip", "Live memory", GT_C_WHOLE }, { "peak_bytes", "@ is", GT_C_BYTES }, { "from_ns", NULL, GT_C_TIME },
	{ "to_ns", NULL, GT_C_TIME },
};

/* Live memory of each process along its recording. */
static struct gt_table *strips(struct memory *m)
{
	unsigned skip = gt_where_skip(m->asked.reader);
	struct gt_table *t = gt_table_new("memory_over_time", "Memory over time", strip_columns + skip, 7 - skip);

	for (size_t i = 0; t && i < m->where.n; i++) {
		const struct gt_segment *seg = m->where.places[i].seg;
		char text[GT_STRIP_CELLS + 1];
		struct gt_cell cells[7];

		if (!m->strips[i])
			continue;
		gt_where_process(cells, seg, m->where.places[i].track);
		cells[3] = gt_cell_text(gt_live_strip_text(m->strips[i], gt_live_strip_cells(m->asked.opt->width), text));
		cells[4] = gt_cell_u(m->strips[i]->peak);
		cells[5] = gt_cell_i(gt_since(m->asked.opt, m->asked.reader, seg, m->strips[i]->window.from));
		cells[6] = gt_cell_i(gt_since(m->asked.opt, m->asked.reader, seg, gt_live_strip_end(m->strips[i])));
		gt_table_add(t, cells + skip);
	}
	if (t) {
		gt_table_sort(t, 4 - skip, true, m->asked.opt->top);
		gt_table_gives_way(t, "process peak_bytes pid");
	}
	if (t && gt_table_rows(t))
		gt_table_note(t, "from the first to the last row: the most that was alive in each cell; \".\" below a fifth of @");
	return t;
}

/* An empty table is no answer where calls had no arguments, or where there are none. */
static void note_unknown(const struct memory *m, struct gt_table *t)
{
	uint64_t allocs = 0, tracked = 0;

	for (uint32_t i = 0; i < m->where.nsegs; i++) {
		allocs += m->kinds[i][ALL].allocs;
		tracked += m->kinds[i][ALL].sized && m->kinds[i][ALL].tracked;
	}
	if (allocs && !tracked)
		gt_table_cannot(t, "sizes and addresses were not recorded (gtcollect --args key)");
	else
		gt_note_unrecorded(t, m->asked.reader, GT_LAYER_API);
}

/* What is told only when the report is asked for by its name. */
static int more(struct memory *m, struct gt_table **tables, struct gt_err *err)
{
	int n = gt_alloc_groups_tables(&m->groups, &m->asked, &m->where, tables + 1, err);

	if (n < 0)
		return n;
	tables[0] = strips(m);
	for (int i = 0; i <= n && tables[i]; i++)
		note_unknown(m, tables[i]);
	tables[++n] = gt_alloc_frees_table(&m->frees, err);
	if (!tables[n])
		return err->code;
	tables[++n] = gt_live_counters_table(&m->counters, &m->asked);
	return tables[0] && tables[n] ? n + 1 : gt_err_set(err, -ENOMEM, "no memory for a table");
}

static int memory_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct memory *m = state;
	unsigned skip = gt_where_skip(m->asked.reader);
	uint64_t late = 0;
	int rc;

	for (uint32_t i = 0; i < m->where.nsegs; i++) {
		rc = gt_timeline_flush(&m->lines[i], memory_moment, m, err);
		if (rc)
			return rc;
		late += m->lines[i].late;
	}
	tables[0] = gt_table_new("memory", "Memory by kind", kind_columns, 11);
	tables[1] = gt_table_new("memory_processes", "Memory by process", process_columns + skip, 9 - skip);
	if (!tables[0] || !tables[1])
		return gt_err_set(err, -ENOMEM, "no memory for a table");
	gt_table_gives_way(tables[0], "unknown_frees live_count failed frees freed_bytes allocations allocated_bytes");
	gt_table_gives_way(tables[1], "live_count peak_at_ns freed_bytes allocated_bytes process");
	fill_kinds(m, tables[0]);
	fill_processes(m, tables[1]);
	note_doubts(m, tables[0], late);
	if (m->asked.opt->unasked) {
		gt_table_note(tables[1], "what made the peak, what is never freed, and more: gtanalyze memory");
		return 2;
	}
	rc = more(m, tables + 2, err);
	return rc < 0 ? rc : rc + 2;
}

static void memory_release(void *state)
{
	struct memory *m = state;

	for (uint32_t i = 0; m->lines && i < m->where.nsegs; i++)
		gt_timeline_release(&m->lines[i]);
	for (size_t i = 0; m->strips && i < m->where.n; i++)
		free(m->strips[i]);
	free(m->strips);
	free(m->events);
	gt_alloc_groups_release(&m->groups);
	gt_alloc_frees_release(&m->frees);
	gt_live_counters_release(&m->counters);
	free(m->lines);
	free(m->kinds);
	free(m->places);
	free(m->whats);
	gt_live_release(&m->live);
	gt_places_release(&m->where);
}

const struct gt_analysis gt_memory_report = {
	.name       = "memory",
	.help       = "allocated, freed, peak and live memory; who held it, who frees and allocates again, at what cost",
	.wants      = GT_BIT(GT_INSTANT) | GT_BIT(GT_COUNTER) | GT_WAITS_KINDS,
	.wants_args = true,
	.order      = GT_BY_TIME,
	.screen     = GT_SCREEN_CALLS,
	.state_size = sizeof(struct memory),
	.init       = memory_init,
	.block      = memory_block,
	.finish     = memory_finish,
	.release    = memory_release,
};
