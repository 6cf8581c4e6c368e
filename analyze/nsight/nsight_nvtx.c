/* NVTX ranges and the GPU operations launched in them, as in Nsight Systems.
 *
 * An operation belongs to a range if the call that launched it lies within the range, on the
 * same thread. The projection of a range onto the GPU is the time from the start of its first
 * operation to the end of its last; nested ranges are included. A kernel's own range is the
 * innermost one around its launch: the one that began last.
 *
 * Operations come an unknown time after their launch, so ranges would have to be stored until
 * the end. Long recordings have too many. So ranges are processed in windows, in order of their
 * start. For each window all operations are scanned for those launched in it. Then ranges that
 * ended in the window are finished, and open ones are carried into the next. Most recordings
 * need one window.
 *
 * Within a window ranges are sorted by thread and start. A tree above them has the latest end of
 * each subtree. To find all ranges around a moment, the search goes left from it and skips
 * subtrees that ended before: ranges may overlap in any way. */
#include <stdlib.h>
#include <string.h>
#include "analyze/core/report_status.h"
#include "analyze/columns/launch_fields.h"
#include "analyze/nsight/nsight.h"
#include "formats/base/buf.h"
#include "formats/base/sorted.h"

#define WINDOW (1u << 17) /* ranges in a window, including carried ones */
#define PAIRS (1u << 19)  /* pairs of a range and a kernel in it, per window */
#define GROUPS_MOST (1u << 15)
/* nesting depth: the search for operations and levels visits each enclosing range */
#define DEEPEST 1024u

struct range {
	int64_t start, end;
	int64_t first, last; /* of its operations */
	uint64_t ops;
	uint32_t track, name, id, level, children; /* id: 0, 1, ... in order of start */
	uint8_t depth;
};
struct proj {
	uint32_t name;
	struct gt_durations d;
	uint64_t ranges_ns, ops, levels, children;
};
struct kern_key {
	uint32_t segment, track, range, kernel;
};
struct kern {
	struct kern_key key;
	struct gt_durations d;
	uint64_t instances;
};
/* a kernel's group that has a kernel launched in the range */
struct pair {
	uint32_t range, group;
};

struct nvtx {
	struct gt_report_state report; /* first */
	const struct nvtx_spec *spec;
	struct gt_nsight_names names;
	struct gt_group_table groups;
	size_t hist_bytes;
	const struct gt_segment *seg; /* the current segment */
	struct range *ranges, *spare; /* WINDOW elements each */
	uint32_t n, next_id;
	int64_t *tree; /* ends of `leaves` ranges, and the maxima above them; the root is 1 */
	uint32_t leaves;
	uint32_t *of_track; /* by track: its first range; the last element is the total */
	int64_t from, to;   /* the window: launches that start in it */
	struct gt_group_table pairs;
	bool overrun; /* more than PAIRS: instances are unknown */
	uint64_t work, unjoined, outside, idle, unended;
	/* why there is no answer: too many ranges at one moment; the number as text */
	const char *crowded;
};
struct nvtx_spec {
	const char *name, *title, *hideable_keys; /* of the table */
	bool kernels; /* kernels by range; false: ranges with the time of their work */
	const struct gt_column *columns; /* with kernels the first one is the recording */
	unsigned ncolumns;
	size_t size, key; /* of a group */
	int (*compare)(const void *a, const void *b);
	void (*add_row)(struct nvtx *v, struct gt_table *t, const void *group);
};

/* ---- a window ---- */

static int compare_nesting(const void *pa, const void *pb)
{
	const struct range *a = pa, *b = pb;

	return GT_COMPARE(b->end, a->end) ?:
		GT_COMPARE(a->depth, b->depth) ?:
		GT_COMPARE(a->id, b->id);
}

/* Sorts by track, then start, enclosing ranges first. Ranges come by start, so each only needs
 * its track. */
static void sort_ranges(struct nvtx *v)
{
	uint32_t ntracks = v->seg->ntracks, k;
	struct range *to = v->spare;

	memset(v->of_track, 0, (ntracks + 2ul) * sizeof(*v->of_track));
	for (uint32_t i = 0; i < v->n; i++)
		v->of_track[v->ranges[i].track + 2]++;
	for (uint32_t t = 2; t < ntracks + 2; t++)
		v->of_track[t] += v->of_track[t - 1];
	for (uint32_t i = 0; i < v->n; i++) /* of_track[t + 1] moves from the start to the
					     * end of track t */
		to[v->of_track[v->ranges[i].track + 1]++] = v->ranges[i];
	for (uint32_t i = 0; i < v->n; i = k) {
		for (k = i + 1;
			k < v->n && to[k].track == to[i].track && to[k].start == to[i].start;)
			k++;
		if (k > i + 1)
			GT_SORT(to + i, k - i, compare_nesting);
	}
	v->spare = v->ranges;
	v->ranges = to;
}

static void build_tree(struct nvtx *v)
{
	for (v->leaves = 2; v->leaves <= v->n;)
		v->leaves *= 2;
	for (uint32_t i = 0; i < v->leaves; i++)
		v->tree[v->leaves + i] = i < v->n ? v->ranges[i].end : INT64_MIN;
	for (uint32_t i = v->leaves - 1; i; i--)
		v->tree[i] =
			v->tree[2 * i] > v->tree[2 * i + 1] ? v->tree[2 * i] : v->tree[2 * i + 1];
}

/* The last range in [lo, hi) that ends at `end` or later. GT_NONE: none. */
static uint32_t last_until(const struct nvtx *v, uint32_t lo, uint32_t hi, int64_t end)
{
	uint32_t i = hi + v->leaves;

	while (i > 1 && !(i & 1 && v->tree[i - 1] >= end))
		i /= 2;
	if (i <= 1)
		return GT_NONE;
	for (i--; i < v->leaves;)
		i = 2 * i + (v->tree[2 * i + 1] >= end);
	return i - v->leaves >= lo ? i - v->leaves : GT_NONE;
}

/* The first range of a track that starts after `at`. */
static uint32_t first_after(const struct nvtx *v, uint32_t track, int64_t at)
{
	uint32_t lo = v->of_track[track], hi = v->of_track[track + 1];

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (v->ranges[mid].start <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Sets the level of each new range, and counts it as a child of its parent. Ranges before
 * `first_id` are done. */
static void set_levels(struct nvtx *v, uint32_t first_id)
{
	for (uint32_t i = 0; i < v->n; i++) {
		struct range *r = &v->ranges[i];
		uint32_t lo = v->of_track[r->track], up = i;

		if (r->id < first_id)
			continue;
		while (r->level <= DEEPEST && (up = last_until(v, lo, up, r->end)) != GT_NONE)
			v->ranges[up].children += !r->level++;
		if (r->level > DEEPEST) {
			v->crowded = "ranges are nested more than a thousand deep";
			return;
		}
	}
}

/* ---- work ---- */

static void start_pairs(struct nvtx *v)
{
	gt_group_table_init(&v->pairs, sizeof(struct pair), sizeof(struct pair), PAIRS);
}

/* 1: the pair is new. 0: it is known, or there are too many pairs. Negative: err. */
static int add_pair(struct nvtx *v, uint32_t range, uint32_t group, struct gt_err *err)
{
	size_t n = v->pairs.n;
	uint32_t i = gt_group_table_find(&v->pairs, &(struct pair){ range, group }, err);

	v->overrun |= i == PAIRS;
	return i == GT_GROUP_TABLE_NONE ? err->code : i < PAIRS && v->pairs.n > n;
}

static int add_kernel(
	struct nvtx *v, const struct range *r, uint32_t kernel, uint64_t ns, struct gt_err *err)
{
	struct kern_key key = { v->seg->index, r->track, r->name, kernel };
	uint32_t at = gt_group_table_find(&v->groups, &key, err);
	struct kern *k;
	int new;

	if (at == GT_GROUP_TABLE_NONE)
		return err->code;
	k = gt_group_table_at(&v->groups, at);
	gt_durations_add(&k->d, ns, &v->hist_bytes);
	new = add_pair(v, r->id, at, err);
	k->instances += new > 0;
	return new < 0 ? new : 0;
}

/* Adds a GPU operation from `start` to `end`. */
static int add_work(struct nvtx *v, const struct gt_launch_call *call, int64_t start, int64_t end,
	uint32_t kernel, struct gt_err *err)
{
	uint32_t lo = v->n ? v->of_track[call->track] : 0;
	uint32_t at = v->n ? last_until(v, lo, first_after(v, call->track, call->start), call->end)
			   : GT_NONE;

	if (at == GT_NONE) {
		v->outside++;
		return 0;
	}
	if (v->spec->kernels) {
		v->ranges[at].ops++;
		return add_kernel(v, &v->ranges[at], kernel, (uint64_t)(end - start), err);
	}
	for (; at != GT_NONE; at = last_until(v, lo, at, call->end)) {
		struct range *r = &v->ranges[at];

		r->first = !r->ops || start < r->first ? start : r->first;
		r->last = !r->ops || end > r->last ? end : r->last;
		r->ops++;
	}
	return 0;
}

/* counted: an earlier window counted the operations */
struct work {
	struct nvtx *v;
	struct gt_err *err;
	bool counted;
};

static int work_of_code(const struct work *w, const struct gt_cols *cols, uint32_t code)
{
	struct nvtx *v = w->v;
	struct gt_launch_fields l;
	struct gt_column_cursor p;
	uint32_t nth = 0,
		 kernel = gt_nsight_type_name(&v->names, cols->seg, cols->types[code], w->err);
	int rc = kernel == GT_NONE ? w->err->code : 0;

	gt_launch_fields_read(&l, cols, code, GT_LAUNCH_TRACK | GT_LAUNCH_START | GT_LAUNCH_NS);
	for (gt_column_cursor_start(&p, cols, code, GT_R_NONE, GT_R_NONE);
		!rc && gt_column_cursor_next(&p); nth++) {
		int64_t start = cols->start[p.row];
		struct gt_launch_call call;

		v->work += !w->counted;
		if (!gt_launch_fields_call(&l, cols->seg, nth, &call) || call.track == GT_NONE)
			v->unjoined += !w->counted;
		else if (call.start >= v->from && (call.start < v->to || v->to == INT64_MAX))
			rc = add_work(v, &call, start, start + cols->dur[p.row], kernel, w->err);
	}
	return rc;
}

static int on_work(void *arg, unsigned worker, const struct gt_cols *cols)
{
	const struct work *w = arg;
	int rc = 0;

	for (uint32_t c = 0; !rc && c < cols->ntypes; c++) {
		const struct gt_type *type = gt_cols_type(cols, c);

		if (type && (!w->v->spec->kernels || gt_gpu_what(type) == GT_GPU_KERNEL))
			rc = work_of_code(w, cols, c);
	}
	return rc;
}

/* All threads and names: --match and --tid select ranges, not operations. */
static int find_work(struct nvtx *v, bool counted, struct gt_err *err)
{
	struct gt_filter filter = v->report.opt->filter;
	struct work w = { v, err, counted };

	filter.kinds = GT_BIT(GT_GPU);
	filter.segment = 1 + v->seg->index;
	filter.args = true;
	filter.tid = 0;
	filter.match = NULL;
	return gt_scan(v->report.reader, &filter, GT_ANY_ORDER, 1, on_work, &w, err);
}

/* ---- window after window ---- */

static int close_range(struct nvtx *v, const struct range *r, struct gt_err *err)
{
	uint32_t at;
	struct proj *p;

	if (!r->ops)
		v->idle++;
	if (v->spec->kernels || !r->ops)
		return 0;
	at = gt_group_table_find(&v->groups, &r->name, err);
	if (at == GT_GROUP_TABLE_NONE)
		return err->code;
	p = gt_group_table_at(&v->groups, at);
	gt_durations_add(&p->d, (uint64_t)(r->last - r->first), &v->hist_bytes);
	p->ranges_ns = gt_sat_add(p->ranges_ns, (uint64_t)(r->end - r->start));
	p->ops += r->ops;
	p->levels += r->level;
	p->children += r->children;
	return 0;
}

static int by_id(const void *a, const void *b)
{
	uint32_t x = ((const struct range *)a)->id, y = ((const struct range *)b)->id;

	return GT_COMPARE(x, y);
}

/* Drops the pairs of finished ranges; most are. */
static int carry_pairs(struct nvtx *v, struct gt_err *err)
{
	struct gt_group_table old = v->pairs;
	int rc = 0;

	start_pairs(v);
	for (size_t i = 0; v->n && rc >= 0 && i < old.n && i < PAIRS; i++) {
		const struct pair *p = gt_group_table_at(&old, i);
		struct range key = { .id = p->range };

		if (bsearch(&key, v->ranges, v->n, sizeof(key), by_id))
			rc = add_pair(v, p->range, p->group, err);
	}
	gt_group_table_release(&old);
	return rc < 0 ? rc : 0;
}

/* Finishes ranges in which no later launch can lie, and carries the others, sorted by start. */
static int close_window(struct nvtx *v, struct gt_err *err)
{
	uint32_t kept = 0;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < v->n; i++)
		if (v->ranges[i].end >= v->to && v->to != INT64_MAX)
			v->ranges[kept++] = v->ranges[i];
		else
			rc = close_range(v, &v->ranges[i], err);
	v->n = kept;
	GT_SORT(v->ranges, kept, by_id);
	if (!rc && v->pairs.n)
		rc = carry_pairs(v, err);
	v->from = v->to;
	return rc;
}

/* Processes the window when it is full or there are no more ranges. */
static int process_window(struct nvtx *v, uint32_t first_id, bool first, struct gt_err *err)
{
	int rc;

	if (v->n) {
		sort_ranges(v);
		build_tree(v);
		if (!v->spec->kernels)
			set_levels(v, first_id);
	}
	rc = v->crowded ? 0 : find_work(v, !first, err);
	return rc ? rc : close_window(v, err);
}

static bool match(const struct gt_segment *seg, const struct gt_type *type, void *arg)
{
	const struct gt_filter *options = arg;

	return gt_nsight_is_range(type) &&
		(!options->match || options->match(seg, type, options->match_arg));
}

/* A trace without ranges needs no scan of operations. */
static int allocate(struct nvtx *v, struct gt_err *err)
{
	v->ranges = calloc(WINDOW, sizeof(*v->ranges));
	v->spare = calloc(WINDOW, sizeof(*v->spare));
	v->tree = calloc(4ul * WINDOW, sizeof(*v->tree));
	return v->ranges && v->spare && v->tree
		? 0
		: gt_err_set(err, -ENOMEM, "out of memory (ranges)");
}

static int add_range(struct nvtx *v, const struct gt_event *ev, struct gt_err *err)
{
	uint32_t name = gt_nsight_type_name(&v->names, ev->seg, ev->row.type, err);

	if (name == GT_NONE || (!v->ranges && allocate(v, err)))
		return err->code;
	v->ranges[v->n++] = (struct range){ .start = ev->row.start,
		.end = ev->row.end,
		.track = ev->track,
		.name = name,
		.id = v->next_id++,
		.depth = ev->row.depth };
	return 0;
}

static int process_ranges(struct nvtx *v, struct gt_iter *it, struct gt_err *err)
{
	uint32_t first_id = v->next_id;
	struct gt_event ev;
	bool first = true;
	int rc = 0, more;

	v->n = 0;
	v->from = INT64_MIN;
	while (!rc && (more = gt_iter_next(it, &ev, err)) > 0) {
		if (ev.kind == GT_UNMATCHED) {
			v->unended++;
			continue;
		}
		if (v->n == WINDOW) {
			v->to = ev.row.start;
			rc = process_window(v, first_id, first, err);
			first_id = v->next_id;
			first = false;
			if (v->n > WINDOW / 2)
				v->crowded = "more than 65,536 ranges overlap at one time";
		}
		if (v->crowded)
			return rc;
		rc = rc ? rc : add_range(v, &ev, err);
	}
	v->to = INT64_MAX;
	return rc ? rc : more < 0 ? more : process_window(v, first_id, first, err);
}

static int process_segment(struct nvtx *v, const struct gt_segment *seg, struct gt_err *err)
{
	struct gt_filter options = v->report.opt->filter, filter = options;
	struct gt_iter *it;
	int rc;

	filter.kinds = GT_BIT(GT_CALL) | GT_BIT(GT_SPAN) | GT_BIT(GT_UNMATCHED);
	filter.segment = 1 + seg->index;
	filter.match = match;
	filter.match_arg = &options;
	v->seg = seg;
	free(v->of_track);
	v->of_track = calloc(seg->ntracks + 2ul, sizeof(*v->of_track));
	if (!v->of_track)
		return gt_err_set(err, -ENOMEM, "out of memory (tracks)");
	it = gt_iter_open(v->report.reader, &filter, err);
	rc = it ? process_ranges(v, it, err) : err->code;
	gt_iter_close(it);
	return rc;
}

static int process_segments(struct nvtx *v, struct gt_err *err)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && !v->crowded && i < gt_reader_segments(v->report.reader); i++)
		rc = process_segment(v, gt_reader_segment(v->report.reader, i), err);
	return rc;
}

/* ---- figures ---- */

static void note_limits(const struct nvtx *v, struct gt_table *t)
{
	const char *work = v->spec->kernels ? "kernels" : "pieces of GPU work";

	if (v->crowded)
		gt_table_set_unanswered(t, "%s", v->crowded);
	gt_note_joins(t, v->work, work, v->unjoined, "in no range", 0);
	gt_note_plural(t, v->outside, "%llu of %llu %s {was|were} launched in no range",
		(unsigned long long)v->outside, (unsigned long long)v->work, work);
	if (v->idle && v->spec->kernels)
		gt_note_plural(t, v->idle,
			"%llu {range launched no kernel itself|ranges launched no kernel themselves}: kernels of ranges inside "
			"{it|them} are in the rows of those",
			(unsigned long long)v->idle);
	else if (v->idle)
		gt_note_plural(t, v->idle, "%llu {range|ranges} launched no GPU work",
			(unsigned long long)v->idle);
	gt_note_plural(t, v->unended,
		"%llu {range has|ranges have} no end, or no beginning, and {is|are} not counted",
		(unsigned long long)v->unended);
	if (v->overrun)
		gt_table_note(t, "too many pairs of range and kernel: NVTX Inst is unknown");
	/* both are needed; one reason is enough */
	if (gt_is_recorded(v->report.reader, GT_LAYER_USER))
		gt_note_unrecorded(t, v->report.reader, GT_BIT(GT_LAYER_GPU));
}

static const struct gt_column proj_columns[] = {
	{ "range", "Range", GT_C_TEXT },
	{ "total_proj_ns", "Total Proj Time", GT_C_NS },
	{ "total_range_ns", "Total Range Time", GT_C_NS },
	{ "range_instances", "Range Instances", GT_C_COUNT },
	GT_NSIGHT_SPREAD("proj_", "Proj "),
	{ "total_gpu_ops", "Total GPU Ops", GT_C_COUNT },
	{ "avg_gpu_ops", "Avg GPU Ops", GT_C_REAL },
	{ "avg_range_lvl", "Avg Range Lvl", GT_C_REAL },
	{ "avg_num_child", "Avg Num Child", GT_C_REAL },
	{ "style", NULL, GT_C_TEXT },
};
#define NPROJ (sizeof(proj_columns) / sizeof(*proj_columns))

static struct gt_cell average(uint64_t sum, uint64_t n)
{
	return n ? (struct gt_cell){ .d = (double)sum / (double)n } : gt_cell_none();
}

static void add_proj(struct nvtx *v, struct gt_table *t, const void *group)
{
	const struct proj *p = group;
	struct gt_cell cells[NPROJ];

	cells[0] = gt_cell_text(gt_group_table_is_rest(&v->groups, p)
			? "(all others)"
			: gt_nsight_text(&v->names, p->name));
	cells[1] = gt_cell_u(p->d.total);
	cells[2] = gt_cell_u(p->ranges_ns);
	cells[3] = gt_cell_u(p->d.count);
	gt_nsight_spread_cells(&p->d, cells + 4);
	cells[9] = gt_cell_u(p->ops);
	cells[10] = average(p->ops, p->d.count);
	cells[11] = average(p->levels, p->d.count);
	cells[12] = average(p->children, p->d.count);
	cells[13] = gt_cell_none(); /* the style of a range is not recorded */
	gt_table_add(t, cells);
}

static int by_proj(const void *pa, const void *pb)
{
	const struct proj *a = pa, *b = pb;

	return GT_COMPARE(b->d.total, a->d.total) ?: GT_COMPARE(a->name, b->name);
}

static const struct gt_column kern_columns[] = {
	{ "recording", "Recording", GT_C_COUNT },
	{ "nvtx_range", "NVTX Range", GT_C_TEXT },
	{ "pid", "PID", GT_C_COUNT },
	{ "tid", "TID", GT_C_COUNT },
	{ "nvtx_inst", "NVTX Inst", GT_C_COUNT },
	{ "kern_inst", "Kern Inst", GT_C_COUNT },
	{ "total_ns", "Total Time", GT_C_NS },
	GT_NSIGHT_SPREAD("", ""),
	{ "short_kernel_name", "Kernel Name", GT_C_TEXT },
	{ "kernel_name", NULL, GT_C_TEXT },
	{ "style", NULL, GT_C_TEXT },
};
#define NKERN (sizeof(kern_columns) / sizeof(*kern_columns))

static void add_kern(struct nvtx *v, struct gt_table *t, const void *group)
{
	const struct kern *k = group;
	bool rest = gt_group_table_is_rest(&v->groups, k);
	const struct gt_segment *seg =
		rest ? NULL : gt_reader_segment(v->report.reader, k->key.segment);
	uint32_t process = rest ? GT_NONE : gt_track_process(seg, k->key.track);
	struct gt_cell cells[NKERN];

	cells[0] = rest ? gt_cell_none() : gt_cell_u(k->key.segment);
	cells[1] = gt_cell_text(rest ? "(all others)" : gt_nsight_text(&v->names, k->key.range));
	cells[2] = process == GT_NONE ? gt_cell_none() : gt_cell_i(seg->tracks[process].id);
	cells[3] = rest ? gt_cell_none() : gt_cell_i(seg->tracks[k->key.track].id);
	cells[4] = rest || v->overrun ? gt_cell_none() : gt_cell_u(k->instances);
	cells[5] = gt_cell_u(k->d.count);
	cells[6] = gt_cell_u(k->d.total);
	gt_nsight_spread_cells(&k->d, cells + 7);
	cells[12] = gt_cell_text(
		rest ? "(all others)" : gt_nsight_short_name(&v->names, k->key.kernel));
	cells[13] =
		gt_cell_text(rest ? "(all others)" : gt_nsight_full_name(&v->names, k->key.kernel));
	cells[14] = gt_cell_none();
	gt_table_add(t, cells);
}

static int by_total(const void *pa, const void *pb)
{
	const struct kern *a = pa, *b = pb;

	return GT_COMPARE(b->d.total, a->d.total) ?: memcmp(&a->key, &b->key, sizeof(a->key));
}

static int nvtx_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct nvtx *v = state;
	const struct nvtx_spec *spec = v->spec;
	size_t shown;
	int rc = process_segments(v, err);

	if (rc)
		return rc;
	tables[0] = gt_report_table(&v->report, spec->name, spec->title, spec->columns,
		spec->ncolumns, spec->hideable_keys, err);
	if (!tables[0])
		return err->code;
	gt_group_table_sort(&v->groups, spec->compare);
	shown = v->crowded ? 0 : gt_rows_shown(v->groups.n, v->report.opt->top);
	for (size_t i = 0; i < shown; i++)
		spec->add_row(v, tables[0], gt_group_table_at(&v->groups, i));
	gt_nsight_show_names(&v->names, tables[0], "short_kernel_name", "kernel_name");
	if (!v->crowded)
		gt_table_note_cut(tables[0], v->groups.n, shown);
	note_limits(v, tables[0]);
	return 1;
}

/* ---- the reports ---- */

static int nvtx_init(struct nvtx *v, struct gt_reader *r, const struct gt_analysis_options *opt,
	const struct nvtx_spec *spec, struct gt_err *err)
{
	v->report = (struct gt_report_state){ r, opt };
	v->spec = spec;
	gt_group_table_init(&v->groups, spec->size, spec->key, GROUPS_MOST);
	start_pairs(v);
	return gt_nsight_names_init(&v->names, r, opt->names, err);
}

static int proj_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	static const struct nvtx_spec spec = { .name = "nvtx_gpu_proj_sum",
		.title = "NVTX ranges projected onto the GPU",
		.hideable_keys =
			"avg_num_child avg_range_lvl proj_stddev_ns proj_min_ns proj_med_ns total_gpu_ops "
			"proj_max_ns avg_gpu_ops total_range_ns proj_avg_ns range_instances",
		.columns = proj_columns,
		.ncolumns = NPROJ,
		.size = sizeof(struct proj),
		.key = sizeof(uint32_t),
		.compare = by_proj,
		.add_row = add_proj };

	return nvtx_init(state, r, opt, &spec, err);
}

static int kern_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	static const struct nvtx_spec spec = { .name = "nvtx_kern_sum",
		.title = "Kernels by the innermost NVTX range that launched them",
		.hideable_keys =
			"stddev_ns min_ns med_ns tid max_ns avg_ns pid nvtx_inst kern_inst",
		.kernels = true,
		.columns = kern_columns,
		.ncolumns = NKERN,
		.size = sizeof(struct kern),
		.key = sizeof(struct kern_key),
		.compare = by_total,
		.add_row = add_kern };

	return nvtx_init(state, r, opt, &spec, err);
}

static void nvtx_release(void *state)
{
	struct nvtx *v = state;

	for (size_t i = 0; i < v->groups.n; i++) {
		void *group = gt_group_table_at(&v->groups, i);

		gt_durations_release(
			v->spec->kernels ? &((struct kern *)group)->d : &((struct proj *)group)->d);
	}
	gt_group_table_release(&v->groups);
	gt_nsight_names_release(&v->names);
	free(v->ranges);
	free(v->spare);
	free(v->tree);
	free(v->of_track);
	gt_group_table_release(&v->pairs);
}

const struct gt_analysis gt_nvtx_gpu_proj_sum_report = {
	.name = "nvtx_gpu_proj_sum",
	.help = "the program's ranges by name, with the GPU time of the work launched in them",
	.family = gt_nsight_family,
	.wants = GT_BIT(GT_CALL) | GT_BIT(GT_SPAN) | GT_BIT(GT_GPU),
	.needs = GT_BIT(GT_LAYER_USER),
	.state_size = sizeof(struct nvtx),
	.init = proj_init,
	.finish = nvtx_finish,
	.release = nvtx_release,
};

const struct gt_analysis gt_nvtx_kern_sum_report = {
	.name = "nvtx_kern_sum",
	.help = "kernels by the range that launched them",
	.family = gt_nsight_family,
	.wants = GT_BIT(GT_CALL) | GT_BIT(GT_SPAN) | GT_BIT(GT_GPU),
	.needs = GT_BIT(GT_LAYER_USER),
	.state_size = sizeof(struct nvtx),
	.init = kern_init,
	.finish = nvtx_finish,
	.release = nvtx_release,
};
