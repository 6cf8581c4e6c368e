/* What the GPU copied and set, by direction and by the kinds of memory at both ends.
 *
 * Bandwidth is bytes by time, and there are two times. The one of a kind as a whole is the union of its rows on each device, added
 * over devices: what the kind reached while at least one of its copies ran. The one of a row is its own duration; the mean over
 * rows is what single copies saw, lower where several shared the way. They are equal where rows do not overlap and have one size.
 */
#include <stdlib.h>
#include <string.h>
#include "analyze/gpu_time.h"
#include "analyze/pick.h"
#include "formats/base/buf.h"

#define KINDS_MAX (1u << 16)

struct kind {
	enum gt_gpu_what what;
	uint64_t direction;		/* enum gt_direction */
	const char *src, *dst;		/* borrowed; NULL: not recorded, or a set, which has no source */
	uint64_t count, sized, bytes, smallest, largest, total;
	uint64_t timed;			/* rows with a size and a duration */
	long double row_bandwidth;	/* their sum, bytes by ns */
};
struct copies {
	struct gt_gpu_time time;	/* first: gt_asked is its head */
	struct kind *list;
	size_t n, cap;
	uint32_t last;			/* 1 + index of the kind met last, or 0 */
};

static int copies_init(void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct copies *c = state;

	c->time.whole = true;
	return gt_gpu_time_init(&c->time, r, opt, err);
}

static bool same_text(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

static bool same_kind(const struct kind *a, const struct kind *b)
{
	return a->what == b->what && a->direction == b->direction && same_text(a->src, b->src) && same_text(a->dst, b->dst);
}

/* 1 + index of a kind, of which there are few; 0 with err filled in. */
static uint32_t find_kind(struct copies *c, const struct kind *want, struct gt_err *err)
{
	if (c->last && same_kind(&c->list[c->last - 1], want))
		return c->last;
	for (size_t i = 0; i < c->n; i++)
		if (same_kind(&c->list[i], want))
			return c->last = (uint32_t)i + 1;
	if (c->n == KINDS_MAX)
		return gt_err_set(err, -EOVERFLOW, "more than %u kinds of copies", KINDS_MAX), 0;
	if (gt_grow(&c->list, &c->cap, c->n + 1, sizeof(*c->list)))
		return gt_err_set(err, -ENOMEM, "no memory for the copies"), 0;
	c->list[c->n] = *want;
	c->list[c->n++].smallest = UINT64_MAX;
	return c->last = (uint32_t)c->n;
}

static void add_row(struct kind *k, uint64_t dur, bool sized, uint64_t bytes)
{
	k->count++;
	k->total = gt_sat_add(k->total, dur);
	if (!sized)
		return;
	k->sized++;
	k->bytes = gt_sat_add(k->bytes, bytes);
	k->smallest = bytes < k->smallest ? bytes : k->smallest;
	k->largest = bytes > k->largest ? bytes : k->largest;
	if (dur) {
		k->timed++;
		k->row_bandwidth += (long double)bytes / (long double)dur;
	}
}

static const char *text_at(const struct gt_segment *seg, const uint64_t *values, uint32_t n, uint32_t i)
{
	return i < n && values[i] < seg->nstrings ? seg->strings[values[i]].ptr : NULL;
}

static int copies_of_code(struct copies *c, const struct gt_cols *cols, uint32_t code, struct gt_moment *m, struct gt_err *err)
{
	uint32_t nsrc, ndst, ndirection, nth = 0;
	const uint64_t *src = gt_cols_role(cols, code, GT_R_SRC_MEMORY, &nsrc), *dst = gt_cols_role(cols, code, GT_R_DST_MEMORY, &ndst);
	const uint64_t *direction = gt_cols_role(cols, code, GT_R_DIRECTION, &ndirection);
	struct kind want = { .what = gt_gpu_what(gt_cols_type(cols, code)) };
	struct gt_pick p;

	for (gt_pick_start(&p, cols, code, GT_R_BYTES, GT_R_NONE); gt_pick_next(&p); nth++) {
		uint64_t bytes = 0;
		bool sized = gt_pick_value(&p, 0, &bytes);
		uint32_t at;

		want.direction = nth < ndirection ? direction[nth] : GT_DIR_UNKNOWN;
		want.src = text_at(cols->seg, src, nsrc, nth);
		want.dst = text_at(cols->seg, dst, ndst, nth);
		if (!(at = find_kind(c, &want, err)))
			return err->code;
		m[p.row].addr = at;
		add_row(&c->list[at - 1], (uint64_t)cols->dur[p.row], sized, bytes);
	}
	return 0;
}

static int copies_block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	struct copies *c = state;
	struct gt_moment *m = gt_gpu_time_run(&c->time, cols, err);
	int rc = m ? 0 : err->code;

	for (uint32_t k = 0; !rc && k < cols->ntypes; k++) {
		enum gt_gpu_what what = gt_gpu_what(gt_cols_type(cols, k));

		if (what == GT_GPU_COPY || what == GT_GPU_SET)
			rc = copies_of_code(c, cols, k, m, err);
	}
	return rc;
}

static const struct gt_column columns[] = {
	{ "operation", "Operation", GT_C_TEXT }, { "direction", "Direction", GT_C_TEXT }, { "source", "From", GT_C_TEXT },
	{ "destination", "To", GT_C_TEXT }, { "count", "Count", GT_C_COUNT }, { "bytes", "Bytes", GT_C_BYTES },
	{ "total_ns", "Total", GT_C_NS }, { "busy_ns", "Busy", GT_C_NS }, { "bandwidth_gb_per_s", "GB/s", GT_C_REAL },
	{ "row_bandwidth_gb_per_s", "GB/s each", GT_C_REAL }, { "min_bytes", "Smallest", GT_C_BYTES },
	{ "mean_bytes", "Mean size", GT_C_BYTES }, { "max_bytes", "Largest", GT_C_BYTES },
};
#define NCOLUMNS (sizeof(columns) / sizeof(*columns))

static struct gt_cell real(bool known, long double v)
{
	return known ? (struct gt_cell){ .d = (double)v } : gt_cell_none();
}

static void add_kind(struct gt_table *t, const struct kind *k, uint64_t busy)
{
	bool copy = k->what == GT_GPU_COPY, sized = k->sized > 0;

	gt_table_add(t, (struct gt_cell[NCOLUMNS]){
		gt_cell_text(copy ? "copy" : "set"), copy ? gt_cell_text(gt_direction_text(k->direction)) : gt_cell_none(),
		k->src ? gt_cell_text(k->src) : gt_cell_none(), k->dst ? gt_cell_text(k->dst) : gt_cell_none(), gt_cell_u(k->count),
		gt_cell_known(sized, k->bytes), gt_cell_u(k->total), gt_cell_u(busy),
		real(k->sized == k->count && busy, busy ? (long double)k->bytes / (long double)busy : 0),
		real(k->timed, k->timed ? k->row_bandwidth / (long double)k->timed : 0), gt_cell_known(sized, k->smallest),
		gt_cell_known(sized, sized ? k->bytes / k->sized : 0), gt_cell_known(sized, k->largest) });
}

static int copies_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct copies *c = state;
	uint64_t *busy = calloc(c->n + 1, sizeof(*busy)), unsized = 0;
	int rc = gt_gpu_time_finish(&c->time, err);

	tables[0] = gt_table_new("copies", "Copies and sets on the GPU", columns, NCOLUMNS);
	if (rc || !busy || !tables[0]) {
		free(busy);
		return rc ? rc : gt_err_set(err, -ENOMEM, "no memory for the copies");
	}
	gt_gpu_time_marked(&c->time, busy, c->n);
	for (size_t i = 0; i < c->n; i++) {
		add_kind(tables[0], &c->list[i], busy[i]);
		unsized += c->list[i].count - c->list[i].sized;
	}
	free(busy);
	gt_table_gives_way(tables[0], "mean_bytes min_bytes total_ns max_bytes row_bandwidth_gb_per_s "
			   "operation busy_ns count bytes source");
	gt_table_sort(tables[0], 7, true, c->time.asked.opt->top);
	if (unsized)
		gt_table_note(tables[0], "%llu rows have no size and are in no figure of bytes", (unsigned long long)unsized);
	gt_gpu_time_notes(&c->time, tables[0], "transfers");
	return 1;
}

static void copies_release(void *state)
{
	struct copies *c = state;

	free(c->list);
	gt_gpu_time_release(&c->time);
}

const struct gt_analysis gt_copies_report = {
	.name       = "copies",
	.help       = "copies and sets on the GPU by direction and memory: bytes, time, bandwidth",
	.wants      = GT_BIT(GT_GPU),
	.wants_args = true,
	.order      = GT_BY_TIME,
	.state_size = sizeof(struct copies),
	.init       = copies_init,
	.block      = copies_block,
	.finish     = copies_finish,
	.release    = copies_release,
};
