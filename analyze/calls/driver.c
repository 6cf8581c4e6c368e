/* Time in the driver: for each API function, the time of the ioctls made within it.
 *
 * The rows of a thread, from all sources, are processed in order of their start, with a stack of
 * open calls. The driver time of a call is the union of all ioctls of the thread up to its end,
 * minus the union up to its start. A function that is called within itself counts for the outer
 * call only, so no time counts twice under one name. A call within another function counts under
 * both names, and once in the total. */
#include <stdlib.h>
#include <string.h>
#include "analyze/calls/driver_functions.h"
#include "analyze/columns/return_codes.h"
#include "analyze/gpu/gpu_time.h"
#include "analyze/columns/column_cursor.h"
#include "analyze/stats/group_table.h"
#include "formats/base/buf.h"
#include "formats/base/sorted.h"

#define FAILURES_MAX 65536u /* kinds of failure */
/* limit of open calls of a thread: each return visits all of them; programs have a few */
#define DEEPEST 1024u
enum { CALL = 1, IOCTL, FUNCTION };

/* entered: calls with an ioctl; longest: in the driver */
struct spent {
	uint64_t calls, entered, ns, driver, ioctls, longest;
};
struct open {
	int64_t start, end;
	uint64_t driver, ioctls;
	uint32_t type;
	uint8_t depth;
};
struct thread {
	const struct gt_segment *seg;
	struct gt_union driver; /* all its ioctls */
	struct open *stack;
	size_t n, cap;
	uint64_t ioctls, pending; /* ioctls that began before pending_at; at pending_at */
	int64_t pending_at;
	struct gt_driver_stack functions; /* its open ioctls, and functions of the kernel */
	bool ranged;                      /* `in` is valid: --from or --to */
	struct gt_range in;
};
struct ioctl_failure_key {
	uint32_t segment, type;
	int32_t code;
};
struct ioctl_failure {
	struct ioctl_failure_key key;
	uint32_t track; /* of the first one */
	uint64_t count, ns;
	int64_t first;
};
struct driver {
	struct gt_report_state report;
	struct gt_time_ordered order;
	/* by track, over all segments: the number of the track that represents its thread */
	uint32_t *of;
	uint32_t *slot;         /* likewise: 1 + its thread or 0 */
	struct thread *threads; /* the `place` of a moment is an index here */
	size_t nthreads, threads_cap;
	struct spent *types; /* by type, over all segments */
	uint64_t *rows;      /* likewise: ioctls */
	struct spent all;    /* outermost calls */
	uint64_t outside;    /* ioctls within no call */
	bool deep;           /* calls are nested deeper than DEEPEST: no answer */
	bool *recorded;      /* by segment: were ioctls recorded? */
	struct gt_driver_functions functions;
	struct gt_group_table failures; /* the rest: beyond FAILURES_MAX */
	uint8_t *kinds;                 /* by code of the current block */
	size_t kinds_cap;
	uint64_t block;
	const struct gt_segment *block_seg;
};

/* ---- one thread ---- */

static int64_t in_range(const struct thread *t, int64_t at)
{
	if (!t->ranged)
		return at;
	return at < t->in.from ? t->in.from : at > t->in.to ? t->in.to : at;
}

static uint64_t driver_before(const struct thread *t, int64_t at)
{
	return gt_union_before(&t->driver, in_range(t, at));
}

static void add_spent(struct spent *s, uint64_t ns, uint64_t driver, uint64_t ioctls)
{
	s->calls++;
	s->entered += ioctls > 0;
	s->ns = gt_sat_add(s->ns, ns);
	s->driver = gt_sat_add(s->driver, driver);
	s->ioctls += ioctls;
	s->longest = driver > s->longest ? driver : s->longest;
}

static bool same_name(const struct driver *d, uint32_t a, uint32_t b, const struct gt_segment *seg)
{
	uint32_t first = d->order.types[seg->index];

	return a == b || seg->types[a - first].name == seg->types[b - first].name;
}

/* Counts a call that is not nested and made no ioctl, as most calls. false: it is another one. */
static inline bool count_plain(struct driver *d, const struct thread *t, const struct open *o)
{
	struct spent *s = &d->types[o->type];
	uint64_t ns;

	if (t->n > 1 || t->ioctls != o->ioctls || (t->driver.any && t->driver.end > o->start))
		return false;
	ns = (uint64_t)in_range(t, o->end) - (uint64_t)in_range(t, o->start);
	s->calls++;
	s->ns = gt_sat_add(s->ns, ns);
	d->all.calls++;
	d->all.ns = gt_sat_add(d->all.ns, ns);
	return true;
}

/* Counts call i, the top of the stack, which has returned. */
static void count_call(struct driver *d, struct thread *t, size_t i)
{
	const struct open *o = &t->stack[i];
	uint64_t ns = (uint64_t)in_range(t, o->end) - (uint64_t)in_range(t, o->start);
	uint64_t driver = driver_before(t, o->end), ioctls = t->ioctls - o->ioctls;
	bool outer = true, outermost = true;

	/* larger only if rows came too late */
	driver -= o->driver < driver ? o->driver : driver;
	for (size_t k = 0; k < i; k++)
		/* otherwise they are neighbours, and one has length 0 */
		if (t->stack[k].start < o->start || t->stack[k].depth < o->depth) {
			outer &= !same_name(d, t->stack[k].type, o->type, t->seg);
			outermost = false;
		}
	if (outermost)
		add_spent(&d->all, ns, driver, ioctls);
	if (outer)
		add_spent(&d->types[o->type], ns, driver, ioctls);
	else
		d->types[o->type].calls++;
}

/* Moves time to `at`: assigns earlier ioctls to the calls that were open then, and removes what
 * ended by then. A row of length 0 stays until time moves on. */
static inline void advance_to(struct driver *d, struct thread *t, int64_t at)
{
	if (t->pending && t->pending_at < at) {
		t->ioctls += t->pending;
		d->outside += t->n ? 0 : t->pending;
		t->pending = 0;
	}
	while (t->n && t->stack[t->n - 1].end <= at && t->stack[t->n - 1].start < at) {
		if (!count_plain(d, t, &t->stack[t->n - 1]))
			count_call(d, t, t->n - 1);
		t->n--;
	}
}

/* The `addr` of a moment has the kind and depth of its row. */
static inline unsigned kind_of(const struct gt_moment *m) { return m->addr & 0xff; }
static inline uint8_t depth_of(const struct gt_moment *m) { return (uint8_t)(m->addr >> 8); }

static bool goes_below(const struct gt_moment *m, unsigned depth, const struct open *o)
{
	return m->end != o->end ? m->end > o->end : depth < o->depth;
}

/* Calls that begin at the same time come in any order: the one that ends last goes below. */
static inline int open_call(
	struct driver *d, struct thread *t, const struct gt_moment *m, struct gt_err *err)
{
	uint8_t depth = depth_of(m);
	size_t i;

	d->deep |= t->n == DEEPEST;
	if (d->deep)
		return 0;
	if (t->n == t->cap && gt_grow(&t->stack, &t->cap, t->n + 1, sizeof(*t->stack)))
		return gt_err_set(err, -ENOMEM, "out of memory (open calls)");
	for (i = t->n++;
		i && t->stack[i - 1].start == m->at && goes_below(m, depth, &t->stack[i - 1]); i--)
		t->stack[i] = t->stack[i - 1];
	t->stack[i] =
		(struct open){ m->at, m->end, driver_before(t, m->at), t->ioctls, m->what, depth };
	return 0;
}

/* The index of a track's thread. GT_NONE: no memory. */
static uint32_t thread_of(
	struct driver *d, const struct gt_segment *seg, uint32_t track, struct gt_err *err)
{
	uint32_t *slot = &d->slot[d->of[gt_time_ordered_track(&d->order, seg, track)]];

	if (!*slot) {
		if (gt_grow(&d->threads, &d->threads_cap, d->nthreads + 1, sizeof(*d->threads))) {
			gt_err_set(err, -ENOMEM, "out of memory (threads)");
			return GT_NONE;
		}
		d->threads[d->nthreads] = (struct thread){ .seg = seg,
			.pending_at = INT64_MIN,
			.ranged = d->report.opt->filter.ranged,
			.in = gt_range_of(&d->report.opt->filter, seg) };
		*slot = (uint32_t)++d->nthreads;
	}
	return *slot - 1;
}

/* An ioctl, or a function of the kernel. */
static int add_in_kernel(
	struct driver *d, struct thread *t, const struct gt_moment *m, struct gt_err *err)
{
	const struct gt_driver_row row = { .start = m->at,
		.end = m->end,
		.ns = (uint64_t)in_range(t, m->end) - (uint64_t)in_range(t, m->at),
		.type = m->what,
		.is_function = kind_of(m) == FUNCTION };

	return gt_driver_functions_add(&d->functions, &t->functions, &row, err);
}

static __attribute__((noinline)) int any_row(
	struct driver *d, struct thread *t, const struct gt_moment *m, struct gt_err *err)
{
	if (d->deep)
		return 0;
	advance_to(d, t, m->at);
	if (kind_of(m) == CALL)
		return open_call(d, t, m, err);
	if (add_in_kernel(d, t, m, err))
		return err->code;
	if (kind_of(m) == FUNCTION)
		return 0;
	gt_union_add(&t->driver, in_range(t, m->at), in_range(t, m->end));
	t->pending_at = m->at;
	t->pending++;
	return 0;
}

/* Fast path: a plain call replaces an ended plain call on the stack. Most rows take it. */
static int on_row(void *arg, const struct gt_moment *m, struct gt_err *err)
{
	struct driver *d = arg;
	struct thread *t = &d->threads[m->place];
	struct open *o = t->stack;

	if (kind_of(m) != CALL || t->n != 1 || t->pending || o->end > m->at || o->start >= m->at ||
		!count_plain(d, t, o))
		return any_row(d, t, m, err);
	o->start = m->at;
	o->end = m->end;
	o->driver = t->driver.ns; /* no ioctl began since: all have ended */
	o->type = m->what;
	o->depth = depth_of(m);
	return 0;
}

static int flush(struct driver *d, struct gt_err *err)
{
	int rc = gt_time_ordered_flush(&d->order, err);

	for (size_t i = 0; !rc && i < d->nthreads; i++)
		advance_to(d, &d->threads[i], INT64_MAX);
	for (size_t i = 0; i < d->nthreads; i++)
		gt_driver_functions_end(&d->functions, &d->threads[i].functions);
	return rc;
}

/* ---- rows ---- */

static int driver_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct driver *d = state;
	uint32_t n = gt_reader_segments(r);
	int rc = gt_time_ordered_init(&d->order, r, on_row, d, err);

	d->report = (struct gt_report_state){ r, opt };
	gt_driver_functions_init(&d->functions);
	gt_group_table_init(&d->failures, sizeof(struct ioctl_failure),
		sizeof(struct ioctl_failure_key), FAILURES_MAX);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < n; i++)
		d->order.lines[i].by_place = true;
	d->of = calloc(d->order.tracks[n] + 1ul, sizeof(*d->of));
	d->slot = calloc(d->order.tracks[n] + 1ul, sizeof(*d->slot));
	d->types = calloc(d->order.types[n] + 1ul, sizeof(*d->types));
	d->rows = calloc(d->order.types[n] + 1ul, sizeof(*d->rows));
	d->recorded = calloc(n + 1ul, sizeof(*d->recorded));
	if (!d->of || !d->slot || !d->types || !d->rows || !d->recorded)
		return gt_err_set(err, -ENOMEM, "out of memory (time in the driver)");
	for (uint32_t i = 0; i < n; i++) {
		uint32_t first = d->order.tracks[i], count = d->order.tracks[i + 1] - first;

		for (uint32_t t = 0; t < count; t++)
			d->of[first + t] = t;
		gt_source_dedup_map_threads(opt->source_dedup, i, d->of + first);
		for (uint32_t t = 0; t < count; t++)
			d->of[first + t] += first;
		d->recorded[i] = gt_is_recorded_in(gt_reader_segment(r, i), GT_LAYER_IOCTL);
	}
	return 0;
}

static int add_failure(struct driver *d, const struct ioctl_failure *f, struct gt_err *err)
{
	uint32_t i = gt_group_table_find(&d->failures, &f->key, err);
	struct ioctl_failure *to;

	if (i == GT_GROUP_TABLE_NONE)
		return err->code;
	to = gt_group_table_at(&d->failures, i);
	if (!to->count || f->first < to->first || (f->first == to->first && f->track < to->track)) {
		to->first = f->first;
		to->track = f->track;
	}
	to->count++;
	to->ns = gt_sat_add(to->ns, f->ns);
	return 0;
}

static int count_failures(struct driver *d, const struct gt_cols *cols, struct gt_err *err)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < cols->nret; i++) {
		uint32_t row = cols->ret_row[i], code = cols->code ? cols->code[row] : 0;

		if (d->kinds[code] == IOCTL)
			rc = add_failure(d,
				&(struct ioctl_failure){
					{ cols->seg->index, cols->types[code], cols->ret[i] },
					.track = cols->track, .ns = (uint64_t)cols->dur[row],
					.first = cols->start[row] },
				err);
	}
	return rc;
}

static int look_at_types(struct driver *d, const struct gt_cols *cols, struct gt_err *err)
{
	if (d->block_seg == cols->seg && d->block == cols->block)
		return 0;
	if (gt_grow(&d->kinds, &d->kinds_cap, cols->ntypes, sizeof(*d->kinds)))
		return gt_err_set(err, -ENOMEM, "out of memory (types of a block)");
	for (uint32_t c = 0; c < cols->ntypes; c++) {
		const struct gt_type *type = gt_cols_type(cols, c);

		d->kinds[c] = !type                     ? 0
			: type->layer == GT_LAYER_API   ? CALL
			: type->layer == GT_LAYER_IOCTL ? IOCTL
			: gt_is_kernel_function(type)   ? FUNCTION
							: 0;
	}
	d->block = cols->block;
	d->block_seg = cols->seg;
	return 0;
}

static int driver_block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	struct driver *d = state;
	struct gt_time_merge *line = &d->order.lines[cols->seg->index];
	uint32_t first = d->order.types[cols->seg->index], place;
	struct gt_moment *to;
	size_t n = 0;

	if (!d->recorded[cols->seg->index] || cols->track >= cols->seg->ntracks)
		return 0;
	if (gt_time_ordered_block(&d->order, cols, err) || look_at_types(d, cols, err) ||
		(place = thread_of(d, cols->seg, cols->track, err)) == GT_NONE ||
		!(to = gt_time_merge_reserve(line, cols->n, err)))
		return err->code;
	for (uint32_t i = 0; i < cols->n; i++) {
		uint32_t code = cols->code ? cols->code[i] : 0;
		unsigned kind = d->kinds[code];

		to[n] = (struct gt_moment){ .at = cols->start[i],
			.end = cols->start[i] + cols->dur[i],
			.place = place,
			.addr = kind | (cols->depth ? cols->depth[i] : 0u) << 8,
			.what = first + cols->types[code] };
		n += kind == IOCTL || kind == FUNCTION || (kind == CALL && cols->kind != GT_SPAN);
		if (kind == IOCTL)
			d->rows[first + cols->types[code]]++;
	}
	gt_time_merge_commit(line, n);
	return count_failures(d, cols, err);
}

/* ---- the tables ---- */

static const struct gt_column total_columns[] = {
	{ "calls", "Calls", GT_C_COUNT },
	{ "total_ns", "Their time", GT_C_NS },
	{ "driver_ns", "In the driver", GT_C_NS },
	{ "driver_percent", "Share %", GT_C_PERCENT },
	{ "ioctls", "ioctls", GT_C_COUNT },
	{ "outside_ioctls", "In no call", GT_C_COUNT },
	{ "outside_ns", "Time of those", GT_C_NS },
};
static const struct gt_column call_columns[] = {
	{ "call", "Call", GT_C_TEXT },
	{ "category", "Category", GT_C_TEXT },
	{ "count", "Calls", GT_C_COUNT },
	{ "total_ns", "Total", GT_C_NS },
	{ "driver_ns", "In the driver", GT_C_NS },
	{ "driver_percent", "Share %", GT_C_PERCENT },
	{ "rest_ns", "Rest", GT_C_NS },
	{ "ioctls", "ioctls", GT_C_COUNT },
	{ "entered", "Calls with any", GT_C_COUNT },
	{ "max_driver_ns", "Most in one call", GT_C_NS },
};
#define NCALL (sizeof(call_columns) / sizeof(*call_columns))
static const struct gt_column failure_columns[] = {
	{ "recording", "Recording", GT_C_COUNT },
	{ "operation", "Operation", GT_C_TEXT },
	{ "code", "Code", GT_C_COUNT },
	{ "status", "Status", GT_C_TEXT },
	{ "count", "Times", GT_C_COUNT },
	{ "of", "Of all", GT_C_COUNT },
	{ "total_ns", "Total", GT_C_NS },
	{ "first_ns", "First", GT_C_TIME },
};
#define NFAILURE (sizeof(failure_columns) / sizeof(*failure_columns))

static uint64_t all_driver(const struct driver *d)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < d->nthreads; i++)
		ns = gt_sat_add(ns, d->threads[i].driver.ns);
	return ns;
}

static void add_total(const struct driver *d, struct gt_table *t)
{
	const struct spent *a = &d->all;
	uint64_t ns = all_driver(d);

	gt_table_add(t,
		(struct gt_cell[]){ gt_cell_u(a->calls), gt_cell_u(a->ns), gt_cell_u(a->driver),
			gt_cell_share(a->driver, a->ns), gt_cell_u(a->ioctls),
			gt_cell_u(d->outside), gt_cell_u(ns > a->driver ? ns - a->driver : 0) });
}

/* A function, or one of its types: several types share a name. */
struct function {
	const char *name;
	uint8_t category;
	struct spent sum;
};

static int by_name(const void *pa, const void *pb)
{
	const struct function *a = pa, *b = pb;

	return strcmp(a->name, b->name) ?: GT_COMPARE(a->category, b->category);
}

static int by_driver(const void *pa, const void *pb)
{
	const struct function *a = pa, *b = pb;

	return GT_COMPARE(b->sum.driver, a->sum.driver) ?:
		GT_COMPARE(b->sum.ns, a->sum.ns) ?:
		by_name(pa, pb);
}

static void add_sums(struct spent *into, const struct spent *s)
{
	into->calls += s->calls;
	into->entered += s->entered;
	into->ioctls += s->ioctls;
	into->ns = gt_sat_add(into->ns, s->ns);
	into->driver = gt_sat_add(into->driver, s->driver);
	into->longest = s->longest > into->longest ? s->longest : into->longest;
}

/* The called functions, sorted by time in the driver. The caller frees the list. */
static struct function *functions(const struct driver *d, size_t *n)
{
	struct function *list = calloc(d->order.types[d->order.nsegs] + 1ul, sizeof(*list));
	size_t all = 0;

	*n = 0;
	for (uint32_t i = 0; list && i < d->order.nsegs; i++) {
		const struct gt_segment *seg = gt_reader_segment(d->report.reader, i);

		for (uint32_t t = 0; t < seg->ntypes; t++) {
			const struct spent *s = &d->types[d->order.types[i] + t];

			if (s->calls)
				list[all++] = (struct function){ gt_type_name(seg, t),
					seg->types[t].category, *s };
		}
	}
	GT_SORT(list, all, by_name);
	for (size_t i = 0; i < all; i++) {
		if (*n && !by_name(&list[*n - 1], &list[i]))
			add_sums(&list[*n - 1].sum, &list[i].sum);
		else
			list[(*n)++] = list[i];
	}
	GT_SORT(list, *n, by_driver);
	return list;
}

static int fill_calls(const struct driver *d, struct gt_table *t, struct gt_err *err)
{
	size_t n, shown;
	struct function *list = functions(d, &n);

	if (!list)
		return gt_err_set(err, -ENOMEM, "out of memory (calls)");
	shown = gt_rows_shown(n, d->report.opt->top);
	for (size_t i = 0; i < shown; i++) {
		const struct spent *s = &list[i].sum;

		gt_table_add(t,
			(struct gt_cell[NCALL]){ gt_cell_text(list[i].name),
				gt_cell_text(gt_category_word(list[i].category)),
				gt_cell_u(s->calls), gt_cell_u(s->ns), gt_cell_u(s->driver),
				gt_cell_share(s->driver, s->ns),
				gt_cell_u(s->ns > s->driver ? s->ns - s->driver : 0),
				gt_cell_u(s->ioctls), gt_cell_u(s->entered),
				gt_cell_u(s->longest) });
	}
	gt_table_note_cut(t, n, shown);
	free(list);
	return 0;
}

static int by_count(const void *pa, const void *pb)
{
	const struct ioctl_failure *a = pa, *b = pb;

	return GT_COMPARE(b->count, a->count) ?:
		GT_COMPARE(a->first, b->first) ?:
		GT_COMPARE(a->key.segment, b->key.segment) ?:
		GT_COMPARE(a->key.type, b->key.type) ?:
		GT_COMPARE(a->key.code, b->key.code);
}

static void fill_failures(struct driver *d, struct gt_table *t)
{
	uint64_t beyond = 0;
	size_t shown;

	if (d->failures.n > FAILURES_MAX) {
		beyond = ((struct ioctl_failure *)gt_group_table_at(&d->failures, FAILURES_MAX))
				 ->count;
		d->failures.n = FAILURES_MAX;
	}
	gt_group_table_sort(&d->failures, by_count);
	shown = gt_rows_shown(d->failures.n, d->report.opt->top);
	for (size_t i = 0; i < shown; i++) {
		const struct ioctl_failure *f = gt_group_table_at(&d->failures, i);
		const struct gt_segment *seg = gt_reader_segment(d->report.reader, f->key.segment);
		char buf[80];
		const char *words =
			gt_return_code_text(GT_LAYER_IOCTL, f->key.code, buf, sizeof(buf));

		gt_table_add(t,
			(struct gt_cell[NFAILURE]){ gt_cell_u(seg->index),
				gt_cell_text(gt_type_name(seg, f->key.type)),
				gt_cell_i(f->key.code), gt_cell_text(words), gt_cell_u(f->count),
				gt_cell_u(d->rows[d->order.types[seg->index] + f->key.type]),
				gt_cell_u(f->ns), gt_cell_time(&d->report, seg, f->first) });
	}
	gt_table_note_cut(t, d->failures.n, shown);
	gt_note_plural(t, beyond,
		"%llu failed {ioctl is|ioctls are} beyond the first %u kinds and in no row",
		(unsigned long long)beyond, FAILURES_MAX);
}

/* Notes the other ioctls, so that figures can be compared with other reports. */
static void note_files(const struct driver *d, struct gt_table *t)
{
	uint64_t all = 0, files = 0;

	for (uint32_t i = 0; i < d->order.nsegs; i++) {
		const struct gt_segment *seg = gt_reader_segment(d->report.reader, i);

		for (uint32_t k = 0; k < seg->ntypes; k++) {
			uint64_t n = d->rows[d->order.types[i] + k];

			all += n;
			files += seg->types[k].category == GT_CAT_FILE ? n : 0;
		}
	}
	gt_table_note(t,
		"of outermost calls, with the ioctls within them; and the ioctls that are in no call");
	gt_note_plural(t, files,
		"of these %llu ioctls %llu {opens, maps or closes|open, map or close} the driver's files; summary leaves "
		"{it|those} out",
		(unsigned long long)all, (unsigned long long)files);
}

static void note_limits(const struct driver *d, struct gt_table *t)
{
	uint32_t without = 0;

	for (uint32_t i = 0; i < d->order.nsegs; i++)
		without += !d->recorded[i];
	if (without < d->order.nsegs)
		gt_note_plural(t, without,
			"%u {recording has|recordings have} no ioctls and {is|are} in no figure",
			without);
	gt_note_unordered(t, gt_time_ordered_late(&d->order), "times in the driver");
}

/* The name of a type by its number over all segments. */
static const char *name_of(void *arg, uint32_t type)
{
	const struct driver *d = arg;
	uint32_t i = 0;

	while (i + 1 < d->order.nsegs && type >= d->order.types[i + 1])
		i++;
	return gt_type_name(gt_reader_segment(d->report.reader, i), type - d->order.types[i]);
}

static int driver_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct driver *d = state;
	const char *cannot = gt_why_filtered_out(&d->report, GT_LAYER_IOCTL, GT_OP_NONE);
	bool any = false;
	int rc = flush(d, err);

	if (d->deep)
		cannot = "calls are nested more than a thousand deep";
	tables[0] = gt_report_table(&d->report, "driver", "Time in the driver", total_columns, 7,
		"outside_ns calls outside_ioctls total_ns ioctls", err);
	tables[1] = gt_report_table(&d->report, "driver_calls", "Time in the driver by call",
		call_columns, NCALL,
		"category max_driver_ns entered rest_ns ioctls count driver_percent", err);
	tables[2] = gt_report_table(&d->report, "driver_failures", "Failed ioctls by status",
		failure_columns, NFAILURE, "code first_ns total_ns of", err);
	if (rc || !tables[0] || !tables[1] || !tables[2])
		return err->code;
	for (uint32_t i = 0; i < d->order.nsegs; i++)
		any |= d->recorded[i];
	if (cannot)
		gt_table_set_unanswered(tables[0], "%s", cannot);
	else if (any)
		add_total(d, tables[0]);
	if (any && !cannot)
		note_files(d, tables[0]);
	if (any && !cannot)
		rc = fill_calls(d, tables[1], err);
	fill_failures(d, tables[2]);
	note_limits(d, tables[0]);
	tables[3] = rc || cannot
		? NULL
		: gt_driver_functions_table(&d->functions, &d->report, name_of, d, err);
	return rc ? rc : err->code ? err->code : tables[3] ? 4 : 3;
}

static void driver_release(void *state)
{
	struct driver *d = state;

	for (size_t i = 0; i < d->nthreads; i++)
		free(d->threads[i].stack);
	gt_driver_functions_release(&d->functions);
	gt_time_ordered_release(&d->order);
	free(d->of);
	free(d->slot);
	free(d->threads);
	free(d->types);
	free(d->rows);
	free(d->recorded);
	gt_group_table_release(&d->failures);
	free(d->kinds);
}

const struct gt_analysis gt_driver_report = {
	.name = "driver",
	.help = "time of each call in ioctls of the driver, failed ioctls by status, functions of the kernel",
	.wants = GT_BIT(GT_CALL) | GT_BIT(GT_OPEN) | GT_BIT(GT_SPAN),
	.needs = GT_BIT(GT_LAYER_IOCTL),
	.order = GT_BY_TIME,
	.state_size = sizeof(struct driver),
	.init = driver_init,
	.block = driver_block,
	.finish = driver_finish,
	.release = driver_release,
};
