/* Copies and sets on the GPU, by direction and by the kind of memory at both ends.
 *
 * Bandwidth is bytes per time, and there are two times. For a kind it is the union of its rows on
 * each device, added over devices: the bandwidth while at least one of its copies ran. For a row
 * it is the row's own duration. The mean over rows is lower if several copies shared the link. The
 * two are equal if rows do not overlap and have one size.
 *
 * A copy costs nothing while its device computes: only the time in which no kernel runs on the
 * device is exposed. Each kind has its own union, so two kinds that run at once while nothing
 * computes are both exposed. The report budget has the cost of all copies together.
 *
 * The second table estimates, from the trace alone, what page-locked ("pinned") memory would save.
 * Each pageable copy is compared with the pinned copies of its direction and size, in powers of
 * two, at their mean bandwidth (bytes by the sum of their durations). Below 1 MiB most of the time
 * of a copy does not depend on its size: a smaller copy does not count as faster than the mean of
 * the pinned ones, and no other size is compared. So the saving is a lower bound. Large copies
 * without pinned ones of their size are compared with smaller ones, down to a quarter: these are
 * slower, so the saving is a lower bound again. Without such copies there is no answer. Only GPU
 * time is compared. Pageable copies also block the calling thread: see the report sync.
 */
#include <stdlib.h>
#include <string.h>
#include "analyze/gpu/gpu_time.h"
#include "analyze/columns/column_cursor.h"
#include "analyze/order/concurrency_sweep.h"
#include "formats/base/buf.h"

#define KINDS_MAX (1u << 16)
#define SWEEPS_MAX (1u << 15) /* devices with a sweep; 12 MiB */
#define SIZES 65              /* powers of two, and 0 bytes */
/* Copies of size LARGE or more are compared with pinned ones that are at most SMALLER powers of two
 * smaller, and not below LARGE. */
#define SMALLER 2
#define LARGE 21        /* 1 MiB, see size_of() */
enum { COMPUTE, MOVE }; /* kinds of work in a sweep */

struct size {
	uint64_t count, bytes, ns;
};

struct kind {
	enum gt_gpu_what what;
	uint64_t direction; /* enum gt_direction */
	/* borrowed; NULL: not recorded, or a set (no source) */
	const char *src, *dst;
	uint64_t count, sized, bytes, smallest, largest, total;
	uint64_t timed;            /* rows with a size and a duration */
	long double row_bandwidth; /* sum of bytes / ns of those */
	/* ns in the range: while a kernel ran on the device, and while none ran */
	uint64_t hidden, exposed;
	uint64_t stretch;   /* number of the last counted interval */
	struct size *sizes; /* SIZES elements, for copies between host and device; else NULL */
};
struct copies {
	struct gt_gpu_time time; /* first: begins with struct gt_report_state */
	struct gt_sweep *sweeps; /* by device */
	size_t nsweeps, sweeps_cap;
	bool many;          /* more than SWEEPS_MAX devices: hidden times are unknown */
	uint64_t stretches; /* intervals so far */
	struct kind *list;
	size_t n, cap;
	uint32_t last; /* 1 + index of the previous row's kind, or 0 */
};

/* ---- exposed and hidden time ---- */

static void on_interval(void *arg, const struct gt_sweep *s, int64_t from, int64_t to)
{
	struct copies *c = arg;
	uint64_t ns = (uint64_t)to - (uint64_t)from;

	c->stretches++;
	for (size_t i = 0; s->active[MOVE] && i < s->n; i++) {
		struct kind *k = s->ops[i].kind == MOVE ? &c->list[s->ops[i].name] : NULL;

		if (!k || k->stretch == c->stretches)
			continue;
		k->stretch = c->stretches;
		*(s->active[COMPUTE] ? &k->hidden : &k->exposed) += ns;
	}
}

static void release_sweeps(struct copies *c)
{
	while (c->nsweeps)
		gt_sweep_release(&c->sweeps[--c->nsweeps]);
	free(c->sweeps);
	c->sweeps = NULL;
	c->sweeps_cap = 0;
}

static int add_sweep(struct copies *c, struct gt_gpu_place *device, struct gt_err *err)
{
	if (gt_grow(&c->sweeps, &c->sweeps_cap, c->nsweeps + 1, sizeof(*c->sweeps)))
		return gt_err_set(err, -ENOMEM, "out of memory (list of devices)");
	c->sweeps[c->nsweeps++] = (struct gt_sweep){ .n = 0 };
	device->as_device = (uint32_t)c->nsweeps;
	return 0;
}

static int on_row(void *arg, const struct gt_gpu_row *row, struct gt_err *err)
{
	struct copies *c = arg;
	bool moves = row->what == GT_GPU_COPY || row->what == GT_GPU_SET,
	     new = !row->device->as_device;
	struct gt_sweep *s;

	if (new && c->nsweeps == SWEEPS_MAX) {
		release_sweeps(c);
		c->many = true;
	}
	if (c->many)
		return 0;
	if (new &&add_sweep(c, row->device, err))
		return err->code;
	s = &c->sweeps[row->device->as_device - 1];
	if (!s->n)
		s->at = row->start;
	gt_sweep_advance(s, row->start > s->at ? row->start : s->at, on_interval, c);
	return gt_sweep_add(
		s, row->end, moves ? MOVE : COMPUTE, moves ? (uint32_t)row->m->addr - 1 : 0, err);
}

static int copies_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct copies *c = state;
	int rc;

	c->time.whole = true;
	rc = gt_gpu_time_init(&c->time, r, opt, err);
	c->time.each = on_row;
	c->time.each_arg = c;
	return rc;
}

/* ---- kinds ---- */

static bool same_text(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

static bool same_kind(const struct kind *a, const struct kind *b)
{
	return a->what == b->what && a->direction == b->direction && same_text(a->src, b->src) &&
		same_text(a->dst, b->dst);
}

/* The host memory of a copy between host and device. NULL: another copy, or not recorded. */
static const char *host_end(const struct kind *k)
{
	if (k->what != GT_GPU_COPY)
		return NULL;
	return k->direction == GT_DIR_HTOD ? k->src : k->direction == GT_DIR_DTOH ? k->dst : NULL;
}

static bool host_is(const struct kind *k, const char *memory)
{
	return host_end(k) && !strcmp(host_end(k), memory);
}

static unsigned size_of(uint64_t bytes)
{
	return bytes ? 64u - (unsigned)__builtin_clzll(bytes) : 0;
}

/* 1 + the index of a kind; 0 with err filled in. There are few kinds. */
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
		return gt_err_set(err, -ENOMEM, "out of memory (copies)"), 0;
	c->list[c->n] = *want;
	c->list[c->n].smallest = UINT64_MAX;
	if ((host_is(want, "pageable") || host_is(want, "pinned")) &&
		!(c->list[c->n].sizes = calloc(SIZES, sizeof(struct size))))
		return gt_err_set(err, -ENOMEM, "out of memory (copies)"), 0;
	c->n++;
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
	if (k->sizes) {
		struct size *z = &k->sizes[size_of(bytes)];

		z->count++;
		z->bytes = gt_sat_add(z->bytes, bytes);
		z->ns = gt_sat_add(z->ns, dur);
	}
	if (dur) {
		k->timed++;
		k->row_bandwidth += (long double)bytes / (long double)dur;
	}
}

static const char *text_at(
	const struct gt_segment *seg, const uint64_t *values, uint32_t n, uint32_t i)
{
	return i < n && values[i] < seg->nstrings ? seg->strings[values[i]].ptr : NULL;
}

static int copies_of_code(struct copies *c, const struct gt_cols *cols, uint32_t code,
	struct gt_moment *m, struct gt_err *err)
{
	uint32_t nsrc, ndst, ndirection, nth = 0;
	const uint64_t *src = gt_cols_role(cols, code, GT_R_SRC_MEMORY, &nsrc),
		       *dst = gt_cols_role(cols, code, GT_R_DST_MEMORY, &ndst);
	const uint64_t *direction = gt_cols_role(cols, code, GT_R_DIRECTION, &ndirection);
	struct kind want = { .what = gt_gpu_what(gt_cols_type(cols, code)) };
	struct gt_column_cursor p;

	for (gt_column_cursor_start(&p, cols, code, GT_R_BYTES, GT_R_NONE);
		gt_column_cursor_next(&p); nth++) {
		uint64_t bytes = 0;
		bool sized = gt_column_cursor_value(&p, 0, &bytes);
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
	{ "operation", "Operation", GT_C_TEXT },
	{ "direction", "Direction", GT_C_TEXT },
	{ "source", "From", GT_C_TEXT },
	{ "destination", "To", GT_C_TEXT },
	{ "count", "Count", GT_C_COUNT },
	{ "bytes", "Bytes", GT_C_BYTES },
	{ "total_ns", "Total", GT_C_NS },
	{ "busy_ns", "Busy", GT_C_NS },
	{ "exposed_ns", "Exposed", GT_C_NS },
	{ "hidden_percent", "Hidden %", GT_C_PERCENT },
	{ "bandwidth_gb_per_s", "GB/s", GT_C_REAL },
	{ "row_bandwidth_gb_per_s", "GB/s each", GT_C_REAL },
	{ "min_bytes", "Smallest", GT_C_BYTES },
	{ "mean_bytes", "Mean size", GT_C_BYTES },
	{ "max_bytes", "Largest", GT_C_BYTES },
	{ "hidden_ns", NULL, GT_C_NS },
};
#define NCOLUMNS (sizeof(columns) / sizeof(*columns))

static struct gt_cell real(bool known, long double v)
{
	return known ? (struct gt_cell){ .d = (double)v } : gt_cell_none();
}

/* busy: NULL: unknown. */
static void add_kind(struct gt_table *t, const struct kind *k, const uint64_t *busy, bool kernels)
{
	bool copy = k->what == GT_GPU_COPY, sized = k->sized > 0;

	gt_table_add(t,
		(struct gt_cell[NCOLUMNS]){ gt_cell_text(copy ? "copy" : "set"),
			copy ? gt_cell_text(gt_direction_text(k->direction)) : gt_cell_none(),
			k->src ? gt_cell_text(k->src) : gt_cell_none(),
			k->dst ? gt_cell_text(k->dst) : gt_cell_none(), gt_cell_u(k->count),
			gt_cell_u(k->bytes), gt_cell_u(k->total),
			gt_cell_known(busy, busy ? *busy : 0), gt_cell_known(kernels, k->exposed),
			kernels ? gt_cell_share(k->hidden, k->hidden + k->exposed) : gt_cell_none(),
			real(k->sized == k->count && busy && *busy,
				busy && *busy ? (long double)k->bytes / (long double)*busy : 0),
			real(k->timed, k->timed ? k->row_bandwidth / (long double)k->timed : 0),
			gt_cell_known(sized, k->smallest),
			gt_cell_known(sized, sized ? k->bytes / k->sized : 0),
			gt_cell_known(sized, k->largest), gt_cell_known(kernels, k->hidden) });
}

/* ---- savings of pinned memory ---- */

static const struct gt_column pinning_columns[] = {
	{ "direction", "Direction", GT_C_TEXT },
	{ "from_bytes", "Sizes from", GT_C_BYTES },
	{ "count", "Count", GT_C_COUNT },
	{ "bytes", "Bytes", GT_C_BYTES },
	{ "total_ns", "Time", GT_C_NS },
	{ "bandwidth_gb_per_s", "GB/s", GT_C_REAL },
	{ "pinned_count", "Pinned copies", GT_C_COUNT },
	{ "pinned_from_bytes", "Pinned sizes from", GT_C_BYTES },
	{ "pinned_bandwidth_gb_per_s", "Pinned GB/s", GT_C_REAL },
	{ "pinned_ns", "Would take", GT_C_NS },
	{ "win_ns", "Win", GT_C_NS },
};
#define NPINNING (sizeof(pinning_columns) / sizeof(*pinning_columns))
struct pinning {
	struct size pageable[SIZES], pinned[SIZES];
};

static void gather(const struct copies *c, uint64_t direction, struct pinning *p)
{
	memset(p, 0, sizeof(*p));
	for (size_t i = 0; i < c->n; i++) {
		struct size *to = host_is(&c->list[i], "pageable") ? p->pageable : p->pinned;

		for (unsigned z = 0;
			c->list[i].sizes && c->list[i].direction == direction && z < SIZES; z++) {
			to[z].count += c->list[i].sizes[z].count;
			to[z].bytes = gt_sat_add(to[z].bytes, c->list[i].sizes[z].bytes);
			to[z].ns = gt_sat_add(to[z].ns, c->list[i].sizes[z].ns);
		}
	}
}

static struct gt_cell rate(const struct size *z)
{
	return real(z->ns, z->ns ? (long double)z->bytes / (long double)z->ns : 0);
}

static uint64_t smallest_of(unsigned size) { return size ? 1ull << (size - 1) : 0; }

/* The size of the pinned copies that pageable ones of this size are compared with; 0: none. */
static unsigned comparable(const struct pinning *p, unsigned size)
{
	unsigned least = size >= LARGE + SMALLER ? size - SMALLER : size > LARGE ? LARGE : size;

	for (unsigned of = size; of >= least; of--)
		if (p->pinned[of].bytes && p->pinned[of].ns)
			return of;
	return 0;
}

/* The time that the copies z would take at the bandwidth of the pinned copies `like`. */
static uint64_t pinned_time(const struct size *z, const struct size *like, bool large)
{
	uint64_t by_bytes = (uint64_t)(((unsigned __int128)z->bytes * like->ns + like->bytes / 2) /
		like->bytes);
	uint64_t by_count = (uint64_t)(((unsigned __int128)z->count * like->ns + like->count / 2) /
		like->count);

	return large || by_bytes > by_count ? by_bytes : by_count;
}

/* false: there are no pinned copies to compare with. */
static bool add_size(struct gt_table *t, uint64_t direction, const struct pinning *p, unsigned size)
{
	unsigned of = comparable(p, size);
	const struct size *z = &p->pageable[size], *like = of ? &p->pinned[of] : NULL;
	uint64_t ns = like ? pinned_time(z, like, size >= LARGE) : 0;

	gt_table_add(t,
		(struct gt_cell[NPINNING]){ gt_cell_text(gt_direction_text(direction)),
			gt_cell_u(smallest_of(size)), gt_cell_u(z->count), gt_cell_u(z->bytes),
			gt_cell_u(z->ns), rate(z), gt_cell_known(like, like ? like->count : 0),
			gt_cell_known(like, smallest_of(of)), like ? rate(like) : gt_cell_none(),
			gt_cell_known(like, ns),
			gt_cell_known(like, z->ns > ns ? z->ns - ns : 0) });
	return like != NULL;
}

static void fill_pinning(const struct copies *c, struct gt_table *t)
{
	static const uint64_t directions[] = { GT_DIR_HTOD, GT_DIR_DTOH };
	struct pinning p;

	for (unsigned d = 0; d < 2; d++) {
		uint64_t without = 0;

		gather(c, directions[d], &p);
		for (unsigned z = 1; z < SIZES; z++)
			if (p.pageable[z].count && !add_size(t, directions[d], &p, z))
				without += p.pageable[z].count;
		gt_note_plural(t, without,
			"cannot estimate the gain for %llu {copy|copies} %s: no pinned copy of similar size was recorded "
			"(similar: the same size class; from 1 MiB on, also down to a quarter of the size)",
			(unsigned long long)without, gt_direction_text(directions[d]));
	}
}

static void fill_kinds(struct copies *c, struct gt_table *t, const uint64_t *busy)
{
	/* otherwise hidden times are unknown */
	bool kernels = !c->time.report.opt->filter.match && !c->many;
	uint64_t unsized = 0;

	for (size_t i = 0; i < c->n; i++) {
		add_kind(t, &c->list[i], c->time.crowded ? NULL : &busy[i], kernels);
		unsized += c->list[i].count - c->list[i].sized;
	}
	gt_table_sort(t, "busy_ns", c->time.report.opt->top);
	if (c->many)
		gt_table_note(
			t, "hidden times are unknown: there are more than %u GPUs", SWEEPS_MAX);
	else if (!kernels && c->n)
		gt_table_note(t, "hidden times are unknown: %s",
			GT_MATCH_TEXT(c->time.report.opt, "", " leaves out GPU operations"));
	gt_note_plural(t, unsized,
		"%llu {row has|rows have} no size and {is|are} in no figure of bytes",
		(unsigned long long)unsized);
	gt_gpu_time_notes(&c->time, t, "transfers");
}

static int copies_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct copies *c = state;
	uint64_t *busy = calloc(c->n + 1, sizeof(*busy));
	int rc = gt_gpu_time_finish(&c->time, err);

	tables[0] = gt_report_table(&c->time.report, "copies", "Copies and sets on the GPU",
		columns, NCOLUMNS,
		"operation row_bandwidth_gb_per_s mean_bytes min_bytes max_bytes exposed_ns total_ns count bytes source "
		"destination hidden_percent",
		err);
	tables[1] = gt_report_table(&c->time.report, "pinning",
		"Pageable copies, and the time of pinned ones", pinning_columns, NPINNING,
		"pinned_from_bytes pinned_count bytes bandwidth_gb_per_s pinned_bandwidth_gb_per_s count pinned_ns total_ns",
		err);
	if (rc || !busy || !tables[0] || !tables[1]) {
		free(busy);
		return rc ? rc : gt_err_set(err, -ENOMEM, "out of memory (copies)");
	}
	for (size_t i = 0; i < c->nsweeps; i++)
		gt_sweep_finish(&c->sweeps[i], on_interval, c);
	gt_gpu_time_add_marks(&c->time, busy, c->n);
	fill_kinds(c, tables[0], busy);
	fill_pinning(c, tables[1]);
	free(busy);
	return 2;
}

static void copies_release(void *state)
{
	struct copies *c = state;

	for (size_t i = 0; i < c->n; i++)
		free(c->list[i].sizes);
	release_sweeps(c);
	free(c->list);
	gt_gpu_time_release(&c->time);
}

const struct gt_analysis gt_copies_report = {
	.name = "copies",
	.help = "copies and sets on the GPU by direction and memory: bandwidth, time hidden by kernels, gain from pinned memory",
	.wants = GT_BIT(GT_GPU),
	.needs = GT_BIT(GT_LAYER_GPU),
	.wants_args = true,
	.order = GT_BY_TIME,
	.state_size = sizeof(struct copies),
	.init = copies_init,
	.block = copies_block,
	.finish = copies_finish,
	.release = copies_release,
};
