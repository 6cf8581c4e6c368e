/* Blocks are gone through by start, or from the last one back. The best row so far is the answer
 * when no block that is left can have a better one: going on, when none starts before it; going
 * back, when none reaches to where it starts. */
#include <stdlib.h>

#include "formats/base/sorted.h"
#include "viewer/util/deadline.h"
#include "viewer/search/event_search.h"

/* the viewer's time; reach: and of all before it */
struct place {
	const struct gt_block *block;
	int64_t start, reach;
	uint32_t segment;
};
struct gt_event_search {
	struct gt_archive *archive;
	struct gt_search_spec what;
	struct gt_event_ref call;
	struct place *places; /* by start */
	size_t n, cap, done;
	/* the current block */
	const struct place *at;
	uint32_t row;  /* the first row of the current run */
	bool *matches; /* by code of the block: does its type match? */
	size_t matches_cap;
	bool classified, any; /* matches is known; any: one matches */
	/* the best so far */
	const struct place *best;
	uint32_t best_row;
	int64_t best_start; /* the viewer's time */
};

/* ---- which blocks ---- */

static uint32_t kinds_for(const struct gt_search_spec *spec)
{
	enum gt_search_kind what = spec->what;

	return what == GT_SEARCH_ERROR    ? GT_BIT(GT_CALL)
		: what == GT_SEARCH_STACK ? GT_BIT(gt_stack_search_kind(spec->stack))
		: what == GT_SEARCH_LAUNCHED
		? GT_BIT(GT_GPU)
		: GT_BIT(GT_CALL) | GT_BIT(GT_OPEN) | GT_BIT(GT_SPAN) | GT_BIT(GT_GPU);
}

static int add_place(struct gt_event_search *h, uint32_t segment, const struct gt_block *b)
{
	int64_t offset = gt_archive_offset(h->archive, segment);

	if (!(kinds_for(&h->what) & GT_BIT(b->kind)) || b->start - offset >= h->what.to ||
		b->end - offset < h->what.from)
		return 0;
	if (gt_grow(&h->places, &h->cap, h->n + 1, sizeof(*h->places)))
		return -ENOMEM;
	h->places[h->n++] = (struct place){ b, b->start - offset, b->end - offset, segment };
	return 0;
}

static int add_strip(struct gt_event_search *h, const struct gt_strip_key *strip)
{
	struct gt_block_schedule v = { 0 };
	int code = gt_block_schedule_add(&v, h->archive, strip, 0);

	if (!code)
		code = gt_block_schedule_find(
			&v, h->archive, strip->segment, (struct gt_range){ INT64_MIN, INT64_MAX });
	for (size_t i = 0; !code && i < v.ntodo; i++)
		code = add_place(h, strip->segment, v.todo[i].block);
	gt_block_schedule_release(&v);
	return code;
}

static int by_start(const void *pa, const void *pb)
{
	const struct place *a = pa, *b = pb;

	return GT_COMPARE(a->start, b->start) ?:
		GT_COMPARE(a->segment, b->segment) ?:
		GT_COMPARE(a->block->entry, b->block->entry);
}

static int find_places(struct gt_event_search *h)
{
	uint32_t nsegs = gt_reader_segments(gt_archive_reader(h->archive));
	int code = h->what.strip ? add_strip(h, h->what.strip) : 0;

	for (uint32_t s = 0; !code && !h->what.strip && s < nsegs; s++) {
		struct gt_block_list l = gt_archive_all_blocks(h->archive, s);

		if (h->what.call && h->what.call->lane.strip.segment != s)
			continue;
		if (h->what.stack && gt_stack_search_segment(h->what.stack) != s)
			continue;
		for (size_t i = 0; !code && i < l.n; i++)
			code = add_place(h, s, &l.blocks[i]);
	}
	if (h->n)
		qsort(h->places, h->n, sizeof(*h->places), by_start);
	for (size_t i = 1; i < h->n; i++)
		if (h->places[i - 1].reach > h->places[i].reach)
			h->places[i].reach = h->places[i - 1].reach;
	return code;
}

/* ---- open and free ---- */

struct gt_event_search *gt_event_search_new(
	struct gt_archive *a, const struct gt_search_spec *what, struct gt_err *err)
{
	struct gt_event_search *h = calloc(1, sizeof(*h));

	if (h) {
		h->archive = a;
		h->what = *what;
		h->what.backward &= what->what != GT_SEARCH_LAUNCHED;
		if (what->call)
			h->call = *what->call;
		if (!find_places(h))
			return h;
		gt_event_search_free(h);
	}
	gt_err_set(err, -ENOMEM, "out of memory");
	return NULL;
}

void gt_event_search_free(struct gt_event_search *h)
{
	if (!h)
		return;
	free(h->matches);
	free(h->places);
	free(h);
}

/* ---- looking ---- */

/* Row i of the current run matches. Of two rows with the same start the first in the file comes
 * first. */
static void note(struct gt_event_search *h, const struct gt_cols *c, uint32_t i)
{
	int64_t start = c->start[i] - gt_archive_offset(h->archive, c->seg->index);

	if (start < h->what.from || start >= h->what.to)
		return;
	if (h->best && (h->what.backward ? start < h->best_start : start >= h->best_start))
		return;
	h->best = h->at;
	h->best_row = h->row + i;
	h->best_start = start;
}

/* Once per block: its runs have the same types. */
static int classify_types(struct gt_event_search *h, const struct gt_cols *c)
{
	if (h->classified)
		return 0;
	h->any = false;
	h->classified = true;
	if (gt_grow(&h->matches, &h->matches_cap, c->ntypes + 1ul, sizeof(*h->matches)))
		return -ENOMEM;
	for (uint32_t code = 0; code < c->ntypes; code++)
		h->any |= h->matches[code] = c->types[code] != GT_NONE &&
			h->what.wants(c->seg, &c->seg->types[c->types[code]], h->what.arg);
	return 0;
}

static void note_launched(struct gt_event_search *h, const struct gt_cols *c, uint32_t code)
{
	const struct gt_type *type = &c->seg->types[c->types[code]];
	const uint64_t *track = NULL, *start = NULL, *join = NULL;
	uint32_t n = 0, k = 0;

	for (uint32_t f = 0; f < type->nfields; f++) {
		if (type->fields[f].role == GT_R_LAUNCH_TRACK)
			track = gt_cols_args(c, code, f, &n);
		else if (type->fields[f].role == GT_R_LAUNCH_START)
			start = gt_cols_args(c, code, f, &n);
		else if (type->fields[f].role == GT_R_LAUNCH_JOIN)
			join = gt_cols_args(c, code, f, &n);
	}
	for (uint32_t i = 0; track && start && join && i < c->n && k < n; i++) {
		if (c->code && c->code[i] != code)
			continue;
		if (join[k] && track[k] == h->call.lane.strip.track &&
			(int64_t)start[k] == h->call.start)
			note(h, c, i);
		k++;
	}
}

static bool is_of_strip(const struct gt_event_search *h, const struct gt_cols *c)
{
	const struct gt_strip_key *of = h->what.strip;

	return !of ||
		(of->derived ? gt_archive_joins(h->archive, of->segment, c->track, of->track)
			     : c->track == of->track);
}

static int note_of_stack(void *arg, const struct gt_cols *c, uint32_t row)
{
	note(arg, c, row);
	return 0;
}

static int look(void *arg, unsigned worker, const struct gt_cols *c)
{
	struct gt_event_search *h = arg;

	if (is_of_strip(h, c)) {
		for (uint32_t i = 0; h->what.what == GT_SEARCH_ERROR && i < c->nret; i++)
			note(h, c, c->ret_row[i]);
		for (uint32_t code = 0; h->what.what == GT_SEARCH_LAUNCHED && code < c->ntypes;
			code++)
			if (c->types[code] != GT_NONE)
				note_launched(h, c, code);
		if (h->what.what == GT_SEARCH_TYPE && classify_types(h, c))
			return -ENOMEM;
		if (h->what.what == GT_SEARCH_STACK)
			gt_stack_search_each(h->what.stack, c, note_of_stack, h);
		for (uint32_t i = 0; h->any && i < c->n; i++)
			if (h->matches[c->code ? c->code[i] : 0])
				note(h, c, i);
	}
	h->row += c->n;
	return 0;
}

/* Can no block that is left have a better one? */
static bool is_over(const struct gt_event_search *h)
{
	if (h->done == h->n || !h->best)
		return h->done == h->n;
	return h->what.backward ? h->places[h->n - 1 - h->done].reach < h->best_start
				: h->places[h->done].start >= h->best_start;
}

int gt_event_search_step(struct gt_event_search *h, uint64_t us, struct gt_err *err)
{
	uint64_t deadline = gt_deadline(us);
	int code = 0;

	while (!code && !is_over(h) && !gt_deadline_is_over(deadline)) {
		h->at = &h->places[h->what.backward ? h->n - 1 - h->done : h->done];
		h->row = 0;
		h->classified = false;
		code = gt_archive_scan(h->archive, h->at->segment, h->at->block,
			h->what.what == GT_SEARCH_LAUNCHED || h->what.what == GT_SEARCH_STACK, look,
			h, err);
		h->done++;
	}
	return code ? code : !is_over(h);
}

bool gt_event_search_result(const struct gt_event_search *h, struct gt_event_ref *found)
{
	const struct gt_open_block *r = h->best
		? gt_archive_rows(h->archive, h->best->segment, h->best->block, NULL)
		: NULL;

	for (uint32_t k = 0; r && k < r->nruns; k++)
		if (h->best_row - r->runs[k].first < r->runs[k].n) {
			*found = gt_event_ref_of_row(
				r, h->best->block, r->runs[k].track, h->best_row);
			return true;
		}
	return false;
}

unsigned gt_event_search_percent(const struct gt_event_search *h)
{
	return is_over(h) || !h->n ? 100 : (unsigned)(h->done * 99 / h->n);
}
