/* A filter, and the list of blocks that it selects.
 *
 * The list is made in portions, because the list of a file with millions of blocks would not fit
 * into memory. In the file's order, a portion is the next part of the index. In order of time,
 * where the last block of the file may come first, each pass over the whole index finds the MANY
 * earliest blocks behind those already returned. A file of ordinary size needs one pass, and
 * reading the index costs little compared with reading MANY blocks.
 */
#include "formats/trace/read/block_plan.h"

#include <stdlib.h>
#include <string.h>
#include "formats/base/progress.h"
#include "formats/base/sorted.h"

/* blocks of a portion: 4 MiB, twice that while they are selected */
#define MANY 131072u

/* ---- a filter, compiled for a segment ---- */

static bool has_ids(const struct gt_segment *seg, uint32_t track, const struct gt_filter *f)
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

/* w->hidden stays NULL if the segment has no hidden rows, so that no row is tested. */
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

static int filter_compile(
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
			w->tracks[t] = has_ids(seg, t, filter);
	}
	if (filter->match) {
		if (!(w->types = malloc(seg->ntypes + 1)))
			return -ENOMEM;
		for (uint32_t t = 0; t < seg->ntypes; t++)
			w->types[t] = filter->match(seg, &seg->types[t], filter->match_arg);
	}
	return filter->hide ? find_hidden(w, seg, filter) : 0;
}

static void filter_release(struct gt_compiled_filter *w)
{
	free(w->tracks);
	free(w->types);
	free(w->hidden);
}

static bool selects_block(
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

/* Only the selected segment is prepared: a caller that reads segment after segment does not pay for
 * all of them each time. */
static bool selects_segment(const struct gt_block_plan *a, size_t i)
{
	return !a->filter.segment || a->filter.segment == i + 1;
}

/* ---- segments that share a clock ---- */

struct boot {
	const char *boot, *host;
	uint32_t seg;
};

static int by_boot(const void *a, const void *b)
{
	const struct boot *x = a, *y = b;
	int boot = strcmp(x->boot, y->boot), host = boot ? 0 : strcmp(x->host, y->host);

	return boot ?: host ?: GT_COMPARE(x->seg, y->seg);
}

/* A group is named by its first segment. A segment without a boot id is a group of its own. */
static int find_groups(struct gt_block_plan *a)
{
	size_t n = a->reader->nsegs;
	struct boot *all;

	if (a->filter.segment)
		return 0; /* one segment: group 0 */
	if (!(all = malloc((n + 1) * sizeof(*all))))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		all[i] = (struct boot){ a->reader->segs[i].boot, a->reader->segs[i].host,
			(uint32_t)i };
	if (a->order == GT_BY_CLOCK && n > 1)
		GT_SORT(all, n, by_boot);
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

	return GT_COMPARE(x->group, y->group) ?:
		GT_COMPARE(x->start, y->start) ?:
		GT_COMPARE(x->seg, y->seg) ?:
		GT_COMPARE(x->entry, y->entry);
}

int gt_block_plan_open(struct gt_block_plan *a, struct gt_reader *r, const struct gt_filter *filter,
	enum gt_plan_order order)
{
	int code = 0;

	memset(a, 0, sizeof(*a));
	a->reader = r;
	a->filter = *filter;
	a->order = order;
	a->filters = calloc(r->nsegs, sizeof(*a->filters));
	a->groups = calloc(r->nsegs, sizeof(*a->groups));
	if (!a->filters || !a->groups)
		return -ENOMEM;
	for (size_t i = 0; !code && i < r->nsegs; i++)
		code = selects_segment(a, i)
			? filter_compile(&a->filters[i], &r->segs[i].pub, &a->filter)
			: 0;
	return code ? code : find_groups(a);
}

static void start_segment(struct gt_block_plan *a, uint32_t seg)
{
	a->seg = seg;
	/* the page stays as it is: clearing it for each of 100,000 segments would take time */
	a->walk.next = a->walk.n = 0;
}

/* Finds the next selected block in the file's order, from a->seg and a->walk on. 1, 0, negative. */
static int find_in_file(struct gt_block_plan *a, struct gt_plan_entry *entry, struct gt_err *err)
{
	for (; a->seg < a->reader->nsegs; start_segment(a, a->seg + 1)) {
		const struct gt_seg *seg = &a->reader->segs[a->seg];
		const struct gt_wire_entry *e;
		int more;

		if (!selects_segment(a, a->seg))
			continue;
		while ((more = gt_index_next(&seg->index, &a->walk, &e, err)) > 0) {
			if (!selects_block(&a->filters[a->seg], seg, e))
				continue;
			*entry = (struct gt_plan_entry){ e->head.min_start, e->head.max_end,
				a->groups[a->seg], a->seg, a->walk.next - 1 };
			return 1;
		}
		if (more < 0)
			return more;
	}
	return 0;
}

static int add(struct gt_block_plan *a, const struct gt_plan_entry *entry)
{
	if (gt_grow(&a->found, &a->cap, a->n + 1, sizeof(*a->found)))
		return -ENOMEM;
	a->found[a->n++] = *entry;
	return 0;
}

/* Sorts the blocks and drops those beyond MANY, which another pass finds again. */
static void keep_earliest(struct gt_block_plan *a)
{
	if (a->n > 1)
		GT_SORT(a->found, a->n, compare);
	if (a->n > MANY) {
		a->n = MANY;
		a->all = false;
	}
}

static int find_earliest(struct gt_block_plan *a, struct gt_err *err)
{
	struct gt_plan_entry entry;
	/* found[MANY - 1] is the latest block of this portion so far */
	bool full = false;
	int more;

	a->all = true;
	start_segment(a, 0);
	while ((more = find_in_file(a, &entry, err)) > 0) {
		if (a->started && compare(&entry, &a->last) <= 0)
			continue;
		if (full && compare(&entry, &a->found[MANY - 1]) > 0)
			continue;
		if (add(a, &entry))
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
	struct gt_plan_entry entry;
	int more = 1;

	if (a->n) {
		a->last = a->found[a->n - 1];
		a->started = true;
	}
	a->n = a->next = 0;
	if (a->order != GT_AS_FILED)
		return find_earliest(a, err);
	while (a->n < MANY && (more = find_in_file(a, &entry, err)) > 0)
		if (add(a, &entry))
			return gt_err_set(err, -ENOMEM, "out of memory");
	a->all = !more;
	return more < 0 ? more : 0;
}

/* The next block of filter.entries. */
static int next_listed(struct gt_block_plan *a, struct gt_plan_entry *entry, struct gt_err *err)
{
	uint32_t s = a->filter.segment - 1;
	const struct gt_seg *seg = &a->reader->segs[s];
	struct gt_wire_entry e;

	while (a->next < a->filter.nentries) {
		uint32_t i = a->filter.entries[a->next++];
		int code = gt_index_get(&seg->index, i, &e, err);

		if (code)
			return code;
		if (!selects_block(&a->filters[s], seg, &e))
			continue;
		*entry = (struct gt_plan_entry){ e.head.min_start, e.head.max_end, a->groups[s], s,
			i };
		return 1;
	}
	return 0;
}

int gt_block_plan_next(struct gt_block_plan *a, struct gt_plan_entry *entry, struct gt_err *err)
{
	int code;

	if (a->filter.entries)
		return next_listed(a, entry, err);

	if (a->next == a->n && !a->all && (code = find_next(a, err)))
		return code;
	if (a->next == a->n)
		return 0;
	*entry = a->found[a->next++];
	return 1;
}

int gt_block_plan_entry(const struct gt_block_plan *a, const struct gt_plan_entry *entry,
	struct gt_wire_entry *e, struct gt_err *err)
{
	const struct gt_seg *seg = &a->reader->segs[entry->seg];
	int code = gt_index_get(&seg->index, entry->entry, e, err);

	if (!code &&
		(!selects_block(&a->filters[entry->seg], seg, e) ||
			e->head.min_start != entry->start || e->head.max_end != entry->end))
		code = gt_err_set(err, -EBADMSG, "the index changed while it was read");
	return code;
}

void gt_block_plan_rewind(struct gt_block_plan *a)
{
	a->next = 0;
	if (!a->started)
		return;
	a->n = 0;
	a->started = a->all = false;
	start_segment(a, 0);
}

void gt_block_plan_release(struct gt_block_plan *a)
{
	for (size_t i = 0; a->filters && i < a->reader->nsegs; i++)
		if (selects_segment(a, i))
			filter_release(&a->filters[i]);
	free(a->filters);
	free(a->groups);
	free(a->found);
}

void gt_block_plan_begin_progress(struct gt_block_plan *p)
{
	struct gt_plan_entry at = { .entry = 0 };
	struct gt_wire_entry e;
	uint64_t bytes = 0;

	if (!gt_progress_is_wanted())
		return;
	while (gt_block_plan_next(p, &at, NULL) > 0)
		if (!gt_block_plan_entry(p, &at, &e, NULL))
			bytes += e.head.zbytes;
	gt_block_plan_rewind(p);
	if (bytes)
		gt_progress_begin("reading", bytes);
}
