/* A filter, and the list of blocks that it leaves.
 *
 * The list is not made as a whole: of a file of millions of blocks it would not fit. In the file's
 * order it is made by reading on. In order of time, where a block that was filed last may come
 * first, the next MANY blocks are those that a pass over the whole index finds to be the earliest
 * behind those already given. A file of ordinary size takes one pass; reading an index anew costs
 * little beside reading MANY blocks.
 */
#include "formats/trace/read/block_plan.h"

#include <stdlib.h>
#include <string.h>

/* blocks listed at a time; 4 MiB, twice that while they are chosen */
#define MANY 131072u

/* ---- what a filter means for a segment ---- */

static bool id_wanted(const struct gt_segment *seg, uint32_t track, const struct gt_filter *f)
{
	bool pid = !f->pid, tid = !f->tid;

	for (uint32_t t = track; t != GT_NONE; t = seg->tracks[t].parent) {
		pid |= seg->tracks[t].kind == GT_TRACK_PROCESS &&
			(seg->tracks[t].id == f->pid || seg->tracks[t].ns_id == f->pid);
		tid |= seg->tracks[t].kind == GT_TRACK_THREAD &&
			(seg->tracks[t].id == f->tid || seg->tracks[t].ns_id == f->tid);
	}
	return pid && tid;
}

/* A segment of which nothing is hidden is none the slower for it. */
static int find_hidden(
	struct gt_compiled_filter *w, const struct gt_segment *seg, const struct gt_filter *filter)
{
	uint32_t any = 0;

	w->all_types = seg->types;
	if (!(w->hidden = malloc(seg->ntracks + 1ul)))
		return -ENOMEM;
	for (uint32_t t = 0; t < seg->ntracks; t++)
		any |= w->hidden[t] = filter->hide(seg, t, filter->hide_arg) & GT_ALL_LAYERS;
	if (!any) {
		free(w->hidden);
		w->hidden = NULL;
	}
	return 0;
}

static int wanted_init(
	struct gt_compiled_filter *w, const struct gt_segment *seg, const struct gt_filter *filter)
{
	memset(w, 0, sizeof(*w));
	w->filter = filter;
	w->range = gt_range_of(filter, seg);
	w->kinds = filter->kinds ? filter->kinds : ~0u;
	if (filter->pid || filter->tid) {
		if (!(w->tracks = malloc(seg->ntracks + 1)))
			return -ENOMEM;
		for (uint32_t t = 0; t < seg->ntracks; t++)
			w->tracks[t] = id_wanted(seg, t, filter);
	}
	if (filter->match) {
		if (!(w->types = malloc(seg->ntypes + 1)))
			return -ENOMEM;
		for (uint32_t t = 0; t < seg->ntypes; t++)
			w->types[t] = filter->match(seg, &seg->types[t], filter->match_arg);
	}
	return filter->hide ? find_hidden(w, seg, filter) : 0;
}

static void wanted_release(struct gt_compiled_filter *w)
{
	free(w->tracks);
	free(w->types);
	free(w->hidden);
}

static bool wants_block(
	const struct gt_compiled_filter *w, const struct gt_seg *seg, const struct gt_wire_entry *e)
{
	const struct gt_wire_block *h = &e->head;

	if (h->kind != GT_W_ROWS || !h->sub || h->sub >= GT_KINDS || !(w->kinds & GT_BIT(h->sub)) ||
		!h->rows)
		return false;
	if (h->sub == GT_OPEN && h->epoch != seg->last_open_epoch)
		return false;
	if (h->track != GT_NONE &&
		(h->track >= seg->pub.ntracks || !gt_filter_matches_track(w, h->track)))
		return false;
	if (gt_filter_hides(w, h->track) && w->hidden[h->track] == GT_ALL_LAYERS &&
		h->sub != GT_LOST)
		return false;
	return gt_filter_matches_time(w, h->min_start, h->max_end);
}

/* Whoever reads segment after segment pays for one each time, not for all. */
static bool wants_segment(const struct gt_block_plan *a, size_t i)
{
	return !a->filter.segment || a->filter.segment == i + 1;
}

/* ---- segments that share a clock ---- */

struct named {
	const char *boot, *host;
	uint32_t seg;
};

static int by_boot(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int boot = strcmp(x->boot, y->boot), host = boot ? 0 : strcmp(x->host, y->host);

	return boot ? boot : host ? host : x->seg < y->seg ? -1 : x->seg > y->seg;
}

/* The group is the first segment of its kind; who knows no boot is alone. */
static int find_groups(struct gt_block_plan *a)
{
	size_t n = a->reader->nsegs;
	struct named *all;

	if (a->filter.segment)
		return 0; /* it is the only one, in group 0 */
	if (!(all = malloc((n + 1) * sizeof(*all))))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		all[i] = (struct named){ a->reader->segs[i].boot, a->reader->segs[i].host,
			(uint32_t)i };
	if (a->order == GT_BY_CLOCK && n > 1)
		qsort(all, n, sizeof(*all), by_boot);
	for (size_t i = 0; i < n; i++) {
		bool same = a->order == GT_BY_CLOCK && i && all[i].boot[0] &&
			!strcmp(all[i].boot, all[i - 1].boot) &&
			!strcmp(all[i].host, all[i - 1].host);

		a->groups[all[i].seg] = same ? a->groups[all[i - 1].seg] : all[i].seg;
	}
	free(all);
	return 0;
}

/* ---- the list ---- */

static int compare(const void *a, const void *b)
{
	const struct gt_plan_entry *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->seg != y->seg)
		return x->seg < y->seg ? -1 : 1;
	return x->entry < y->entry ? -1 : x->entry > y->entry;
}

int gt_block_plan_open(struct gt_block_plan *a, struct gt_reader *r, const struct gt_filter *filter,
	enum gt_plan_order order)
{
	int code = 0;

	memset(a, 0, sizeof(*a));
	a->reader = r;
	a->filter = *filter;
	a->order = order;
	a->wanted = calloc(r->nsegs, sizeof(*a->wanted));
	a->groups = calloc(r->nsegs, sizeof(*a->groups));
	if (!a->wanted || !a->groups)
		return -ENOMEM;
	for (size_t i = 0; !code && i < r->nsegs; i++)
		code = wants_segment(a, i) ? wanted_init(&a->wanted[i], &r->segs[i].pub, &a->filter)
					   : 0;
	return code ? code : find_groups(a);
}

static void go_to(struct gt_block_plan *a, uint32_t seg)
{
	a->seg = seg;
	/* the page need not be cleared, a hundred thousand times */
	a->walk.next = a->walk.n = 0;
}

/* The next wanted block in the file's order, from a->seg and a->walk on. 1, 0, negative. */
static int read_on(struct gt_block_plan *a, struct gt_plan_entry *visit, struct gt_err *err)
{
	for (; a->seg < a->reader->nsegs; go_to(a, a->seg + 1)) {
		const struct gt_seg *seg = &a->reader->segs[a->seg];
		const struct gt_wire_entry *e;
		int more;

		if (!wants_segment(a, a->seg))
			continue;
		while ((more = gt_index_next(&seg->index, &a->walk, &e, err)) > 0) {
			if (!wants_block(&a->wanted[a->seg], seg, e))
				continue;
			*visit = (struct gt_plan_entry){ e->head.min_start, e->head.max_end,
				a->groups[a->seg], a->seg, a->walk.next - 1 };
			return 1;
		}
		if (more < 0)
			return more;
	}
	return 0;
}

static int add(struct gt_block_plan *a, const struct gt_plan_entry *visit)
{
	if (gt_grow(&a->found, &a->cap, a->n + 1, sizeof(*a->found)))
		return -ENOMEM;
	a->found[a->n++] = *visit;
	return 0;
}

/* Sorts what was found; what is more than MANY is left for another pass. */
static void keep_earliest(struct gt_block_plan *a)
{
	if (a->n > 1)
		qsort(a->found, a->n, sizeof(*a->found), compare);
	if (a->n > MANY) {
		a->n = MANY;
		a->all = false;
	}
}

static int find_earliest(struct gt_block_plan *a, struct gt_err *err)
{
	struct gt_plan_entry visit;
	/* found[MANY - 1] is the latest that can still be among them */
	bool full = false;
	int more;

	a->all = true;
	go_to(a, 0);
	while ((more = read_on(a, &visit, err)) > 0) {
		if (a->begun && compare(&visit, &a->last) <= 0)
			continue;
		if (full && compare(&visit, &a->found[MANY - 1]) > 0)
			continue;
		if (add(a, &visit))
			return gt_err_set(err, -ENOMEM, "out of memory");
		if (a->n == 2 * MANY) {
			keep_earliest(a);
			full = true;
		}
	}
	keep_earliest(a);
	return more;
}

static int find_next(struct gt_block_plan *a, struct gt_err *err)
{
	struct gt_plan_entry visit;
	int more = 1;

	if (a->n) {
		a->last = a->found[a->n - 1];
		a->begun = true;
	}
	a->n = a->next = 0;
	if (a->order != GT_AS_FILED)
		return find_earliest(a, err);
	while (a->n < MANY && (more = read_on(a, &visit, err)) > 0)
		if (add(a, &visit))
			return gt_err_set(err, -ENOMEM, "out of memory");
	a->all = !more;
	return more < 0 ? more : 0;
}

/* Of blocks that were asked for one by one. */
static int next_asked(struct gt_block_plan *a, struct gt_plan_entry *visit, struct gt_err *err)
{
	uint32_t s = a->filter.segment - 1;
	const struct gt_seg *seg = &a->reader->segs[s];
	struct gt_wire_entry e;

	while (a->next < a->filter.nentries) {
		uint32_t entry = a->filter.entries[a->next++];
		int code = gt_index_get(&seg->index, entry, &e, err);

		if (code)
			return code;
		if (!wants_block(&a->wanted[s], seg, &e))
			continue;
		*visit = (struct gt_plan_entry){ e.head.min_start, e.head.max_end, a->groups[s], s,
			entry };
		return 1;
	}
	return 0;
}

int gt_block_plan_next(struct gt_block_plan *a, struct gt_plan_entry *visit, struct gt_err *err)
{
	int code;

	if (a->filter.entries)
		return next_asked(a, visit, err);

	if (a->next == a->n && !a->all && (code = find_next(a, err)))
		return code;
	if (a->next == a->n)
		return 0;
	*visit = a->found[a->next++];
	return 1;
}

int gt_block_plan_entry(const struct gt_block_plan *a, const struct gt_plan_entry *visit,
	struct gt_wire_entry *e, struct gt_err *err)
{
	const struct gt_seg *seg = &a->reader->segs[visit->seg];
	int code = gt_index_get(&seg->index, visit->entry, e, err);

	if (!code &&
		(!wants_block(&a->wanted[visit->seg], seg, e) ||
			e->head.min_start != visit->start || e->head.max_end != visit->end))
		code = gt_err_set(err, -EBADMSG, "the index changed while it was read");
	return code;
}

void gt_block_plan_rewind(struct gt_block_plan *a)
{
	a->next = 0;
	if (!a->begun)
		return;
	a->n = 0;
	a->begun = a->all = false;
	go_to(a, 0);
}

void gt_block_plan_release(struct gt_block_plan *a)
{
	for (size_t i = 0; a->wanted && i < a->reader->nsegs; i++)
		if (wants_segment(a, i))
			wanted_release(&a->wanted[i]);
	free(a->wanted);
	free(a->groups);
	free(a->found);
}
