#include "analyze/memory/memory_tracker.h"

#include <stdlib.h>
#include "analyze/columns/column_cursor.h"
#include "formats/base/buf.h"
#include "formats/cuda/cuda_api.h"

#define ALL GT_MEMORY_ALL

int gt_memory_tracker_init(
	struct gt_memory_tracker *m, struct gt_reader *r, bool grouped, struct gt_err *err)
{
	int rc = gt_process_slots_init(&m->where, r, err);

	m->grouped = grouped;
	if (rc)
		return rc;
	m->kinds = calloc(gt_reader_segments(r) + 1ul, sizeof(*m->kinds));
	m->places = calloc(m->where.n + 1, sizeof(*m->places));
	m->lines = calloc(gt_reader_segments(r) + 1ul, sizeof(*m->lines));
	m->ended = calloc(m->where.n + 1, sizeof(*m->ended));
	if (!m->kinds || !m->places || !m->lines || !m->ended)
		return gt_err_set(err, -ENOMEM, "out of memory (memory report)");
	for (size_t i = 0; i < m->where.n; i++)
		m->ended[i] = INT64_MIN;
	return gt_alloc_groups_init(&m->groups, m->where.n, err);
}

/* The three accounts that one allocation belongs to. */
struct accounts {
	struct gt_account *of[3];
};
static struct accounts accounts_of(struct gt_memory_tracker *m, uint32_t place, unsigned kind)
{
	struct gt_account *kinds = m->kinds[m->where.list[place].seg->index];

	return (struct accounts){ { &kinds[kind], &kinds[ALL], &m->places[place] } };
}
#define EACH_ACCOUNT(h, m, place, kind)                                                            \
	for (struct accounts acc_ = accounts_of(m, place, kind), *once_ = &acc_; once_;            \
		once_ = NULL)                                                                      \
		for (struct gt_account **p_ = acc_.of, *h; p_ < acc_.of + 3 && (h = *p_); p_++)

static void subtract_freed(struct gt_memory_tracker *m, const struct gt_live_item *old)
{
	EACH_ACCOUNT(h, m, old->place, old->kind)
	{
		h->live -= old->bytes < h->live ? old->bytes : h->live;
		h->live_count--;
	}
}

static int note_untracked(struct gt_memory_tracker *m, int code, struct gt_err *err)
{
	if (code == -ENOMEM)
		return gt_err_set(err, code, "out of memory (live addresses)");
	m->not_followed += code == -ENOSPC;
	return 0;
}

/* Calls `changed`: live memory of a process, and of a group if there is one, has changed. */
static int changed(struct gt_memory_tracker *m, int64_t at, const struct gt_memory_event *e,
	uint32_t place, uint32_t group, struct gt_err *err)
{
	return m->changed ? m->changed(m->arg, at, e, place, group, err) : 0;
}

static int group_of(struct gt_memory_tracker *m, const struct gt_memory_event *e, uint32_t *group,
	struct gt_err *err)
{
	int64_t i = UINT32_MAX;

	if (e->sized && m->grouped)
		i = gt_alloc_group(&m->groups,
			&(struct gt_alloc_group){ .place = e->place,
				.name = e->name,
				.kind = e->kind,
				.stack = e->stack,
				.bytes = e->bytes },
			err);
	*group = (uint32_t)i;
	return i < 0 ? (int)i : 0;
}

static int apply_alloc(struct gt_memory_tracker *m, int64_t at, const struct gt_memory_event *e,
	struct gt_err *err)
{
	struct gt_live_item item = { .addr = e->addr,
		.bytes = e->bytes,
		.place = e->place,
		.kind = e->kind },
			    old;
	int rc = group_of(m, e, &item.group, err);

	if (rc)
		return rc;
	rc = gt_live_alloc(&m->live, &item, &old);
	if (rc < 0)
		return note_untracked(m, rc, err);
	if (rc == 0) {
		m->missed_frees++;
		subtract_freed(m, &old);
		gt_alloc_group_remove(&m->groups, old.group, false, 0);
		if ((rc = changed(m, at, e, old.place, old.group, err)))
			return rc;
	}
	gt_alloc_group_add(&m->groups, item.group, e->ns);
	EACH_ACCOUNT(h, m, e->place, e->kind)
	{
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
	return changed(m, at, e, e->place, item.group, err);
}

static int report_free(struct gt_memory_tracker *m, int64_t at, const struct gt_memory_event *e,
	const struct gt_live_item *old, struct gt_err *err)
{
	EACH_ACCOUNT(h, m, old->place, old->kind)
	h->freed = gt_sat_add(h->freed, old->bytes);
	subtract_freed(m, old);
	gt_alloc_group_remove(&m->groups, old->group, true, e->ns);
	return changed(m, at, e, old->place, old->group, err);
}

static int apply_free(struct gt_memory_tracker *m, int64_t at, const struct gt_memory_event *e,
	struct gt_err *err)
{
	struct gt_live_item old;
	enum gt_live_freed what = gt_live_free(&m->live, e->place, e->kind, e->addr, &old);
	bool held = what == GT_LIVE_REFERENCED, foreign = what == GT_LIVE_FOREIGN;

	if (what == GT_LIVE_FREED)
		return report_free(m, at, e, &old, err);
	EACH_ACCOUNT(h, m, e->place, e->kind)
	{
		h->unknown_frees += what == GT_LIVE_UNKNOWN;
		h->references += held;
		h->imported += foreign;
		h->frees -= held || foreign; /* count_row counted it */
	}
	return 0;
}

static int apply(struct gt_memory_tracker *m, int64_t when, const struct gt_memory_event *e,
	struct gt_err *err)
{
	struct gt_live_item old;
	uint64_t at = e->addr;
	int rc = 0;

	switch (e->op) {
	case GT_OP_ALLOC: return apply_alloc(m, when, e, err);
	case GT_OP_FREE: return apply_free(m, when, e, err);
	case GT_OP_RETAIN:
	case GT_OP_IMPORT:
		return note_untracked(
			m, gt_live_retain(&m->live, e->place, e->addr, e->op == GT_OP_IMPORT), err);
	case GT_OP_MAP:
		return note_untracked(m, gt_live_map(&m->live, e->place, e->addr, e->bytes), err);
	case GT_OP_UNMAP:
		while (!rc &&
			gt_live_unmap(&m->live, e->place, &at, gt_sat_add(e->addr, e->bytes), &old))
			rc = report_free(m, when, e, &old, err);
	}
	return rc;
}

static int on_moment(void *arg, const struct gt_moment *mo, struct gt_err *err)
{
	struct gt_memory_tracker *m = arg;
	struct gt_memory_event e = m->events[mo->what];

	m->events[mo->what].next = m->free_event;
	m->free_event = mo->what + 1;
	return apply(m, mo->at, &e, err);
}

/* ---- rows ---- */

static int read_types(struct gt_memory_tracker *m, const struct gt_cols *cols, struct gt_err *err)
{
	if (gt_grow(&m->whats, &m->whats_cap, cols->ntypes, sizeof(*m->whats)))
		return gt_err_set(err, -ENOMEM, "out of memory (memory report)");
	m->nwhats = 0;
	for (uint32_t c = 0; c < cols->ntypes; c++) {
		const struct gt_type *type = gt_cols_type(cols, c);

		if (type && type->layer != GT_LAYER_GPU && gt_api_is_memory(type->op))
			m->whats[m->nwhats++] = (struct gt_memory_op){ c, type->name, type->op,
				type->memkind < GT_MEMKIND_COUNT ? type->memkind : GT_MEM_UNKNOWN };
	}
	m->block = cols->block;
	m->block_seg = cols->seg;
	return 0;
}

/* The index of a free entry; UINT32_MAX: no memory. */
static uint32_t new_event(struct gt_memory_tracker *m, const struct gt_memory_event *e)
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

/* Counts a row, and makes a moment of it if it can be tracked: 1; 0: it cannot; or negative. */
static int count_row(struct gt_memory_tracker *m, const struct gt_column_cursor *p,
	const struct gt_memory_op *w, uint32_t place, uint32_t stack, struct gt_moment *to,
	struct gt_err *err)
{
	bool alloc = w->op == GT_OP_ALLOC, a_free = w->op == GT_OP_FREE;
	struct gt_memory_event e = { .place = place,
		.name = w->name,
		.op = w->op,
		.kind = w->kind,
		.track = p->cols->track,
		.stack = stack,
		.ns = (uint64_t)p->cols->dur[p->row] };
	bool known = gt_column_cursor_value(p, 1, &e.addr),
	     null = known && !e.addr && a_free && !p->ret;
	int64_t start = p->cols->start[p->row], end = start + p->cols->dur[p->row];
	uint32_t event;

	m->ended[place] = end > m->ended[place] ? end : m->ended[place];
	e.sized = gt_column_cursor_value(p, 0, &e.bytes);
	EACH_ACCOUNT(h, m, place, w->kind)
	{
		h->allocs += alloc;
		h->frees += a_free && !null;
		h->null_frees += null;
		h->failed += (alloc || a_free) && p->ret != 0;
		h->sized += alloc && e.sized && !p->ret;
		h->allocated = gt_sat_add(h->allocated, alloc && !p->ret ? e.bytes : 0);
	}
	if (a_free && !null && m->freeing && m->freeing(m->arg, &e, err))
		return err->code;
	if (!known || !e.addr || p->ret)
		return 0;
	if ((event = new_event(m, &e)) == UINT32_MAX)
		return gt_err_set(err, -ENOMEM, "out of memory (sorting calls)");
	*to = (struct gt_moment){ .at = a_free || w->op == GT_OP_UNMAP ? start : end,
		.what = event };
	return 1;
}

static int count_rows(struct gt_memory_tracker *m, const struct gt_cols *cols,
	const struct gt_memory_op *w, struct gt_moment *to, size_t *n, struct gt_err *err)
{
	uint32_t place = gt_process_slot_of(&m->where, cols->seg, cols->track);
	struct gt_column_cursor p;
	const uint64_t *stacks = NULL;
	uint32_t nstacks = 0, nth = 0;
	int one = 0;

	gt_column_cursor_start(
		&p, cols, w->code, w->op == GT_OP_MAP ? GT_R_SRC : GT_R_BYTES, GT_R_ADDR);
	if (m->by_stack)
		stacks = gt_cols_role(cols, w->code, GT_R_STACK, &nstacks);
	for (; one >= 0 && gt_column_cursor_next(&p); *n += one > 0, nth++)
		one = count_row(m, &p, w, place,
			nth < nstacks && stacks[nth] < cols->seg->nstacks
				? (uint32_t)stacks[nth] + 1
				: 0,
			&to[*n], err);
	return one < 0 ? one : 0;
}

int gt_memory_tracker_run(
	struct gt_memory_tracker *m, const struct gt_cols *cols, struct gt_err *err)
{
	struct gt_time_merge *line = &m->lines[cols->seg->index];
	struct gt_moment *to;
	size_t n = 0;
	int rc = 0;

	if (m->block_seg && m->block_seg != cols->seg) /* that segment is complete */
		rc = gt_time_merge_flush(&m->lines[m->block_seg->index], on_moment, m, err);
	if (!rc && (m->block_seg != cols->seg || m->block != cols->block)) {
		rc = gt_time_merge_advance(line, cols->floor, on_moment, m, err);
		if (!rc)
			rc = read_types(m, cols, err);
	}
	if (rc || !m->nwhats)
		return rc;
	to = gt_time_merge_reserve(line, cols->n, err);
	if (!to)
		return -ENOMEM;
	for (size_t i = 0; !rc && i < m->nwhats; i++)
		rc = count_rows(m, cols, &m->whats[i], to, &n, err);
	gt_time_merge_commit(line, n);
	return rc;
}

int gt_memory_tracker_finish(struct gt_memory_tracker *m, struct gt_err *err)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < m->where.nsegs; i++) {
		rc = gt_time_merge_flush(&m->lines[i], on_moment, m, err);
		m->late += m->lines[i].late;
	}
	return rc;
}

void gt_memory_tracker_release(struct gt_memory_tracker *m)
{
	for (uint32_t i = 0; m->lines && i < m->where.nsegs; i++)
		gt_time_merge_release(&m->lines[i]);
	free(m->events);
	gt_alloc_groups_release(&m->groups);
	free(m->lines);
	free(m->kinds);
	free(m->places);
	free(m->ended);
	free(m->whats);
	gt_live_release(&m->live);
	gt_process_slots_release(&m->where);
}

/* ---- what is known ---- */

const char *gt_memory_why_partial(const struct gt_report_state *a)
{
	const struct gt_filter *f = &a->opt->filter;

	if (f->tid)
		return "--tid leaves out frees of other threads";
	for (uint32_t i = 0; f->match && i < gt_reader_segments(a->reader); i++) {
		const struct gt_segment *seg = gt_reader_segment(a->reader, i);

		for (uint32_t t = 0; t < seg->ntypes; t++)
			if ((seg->types[t].op == GT_OP_ALLOC || seg->types[t].op == GT_OP_FREE) &&
				!f->match(seg, &seg->types[t], f->match_arg))
				return GT_MATCH_TEXT(
					a->opt, "", " leaves out calls that allocate or free");
	}
	return NULL;
}

const char *gt_memory_why_unknown(
	const struct gt_memory_tracker *m, struct gt_reader *r, const char *partial)
{
	uint64_t allocs = 0, tracked = 0;

	for (uint32_t i = 0; i < m->where.nsegs; i++) {
		allocs += m->kinds[i][ALL].allocs;
		tracked += m->kinds[i][ALL].sized && m->kinds[i][ALL].tracked;
	}
	if (!allocs || tracked)
		return allocs ? partial : NULL;
	return gt_is_imported(r) ? "sizes and addresses were not recorded"
				 : "sizes and addresses were not recorded (gtcollect --args key)";
}
