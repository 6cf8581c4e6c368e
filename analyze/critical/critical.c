/* The critical path of each process: calls, GPU work and waits from the start of its first GPU
 * operation to the end of the last one (with --whole also of calls). At each moment of this window
 * exactly one of them is on the path. So the pieces add up to the window, and a shorter run needs
 * shorter pieces. The time of a piece is more than its removal would gain, because another chain
 * becomes critical: --without (critical_whatif.c) computes an upper bound of the gain.
 *
 * Each process has its own path, over all its devices; the longest window comes first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/core/report_status.h"
#include "analyze/critical/critical_graph.h"
#include "analyze/gpu/work_kind.h"
#include "formats/base/buf.h"
#include "formats/base/sorted.h"
#include "formats/names/kernel_names.h"
#include "formats/names/globs.h"
#include "formats/names/name_patterns.h"

struct tally {
	uint64_t ns, pieces;
};
struct critical {
	struct gt_critical chain; /* first member: begins with gt_report_state */
	const char *refused;      /* why there is no path, known from the start */
	struct gt_kernel_names *names;
	/* of the current process */
	struct tally kinds[GT_CRITICAL_KINDS], likely;
	struct tally *types, *lines; /* work and calls by type number; outside CUDA by line */
	uint64_t *sums;              /* by type number */
	struct gt_name_patterns without;
	bool *removed; /* by type number: named by --without */
	struct gt_top_n longest;
	size_t longest_max; /* per process: their sum is at most GT_TOP_N_MAX */
	uint64_t shorter;   /* pieces that are not listed, of all processes */
	const struct gt_critical_process *p;
};

static const char *const words[GT_CRITICAL_KINDS] = { "compute", "communication", "copies",
	"API call", "launch latency", "outside CUDA", "unknown" };

/* The globs of --without; NULL: none. */
static const struct gt_opt_list *without_of(const struct gt_analysis_options *opt)
{
	const struct gt_opt_list *list = gt_report_option(opt, "without");

	return list && list->n ? list : NULL;
}

static int critical_configure(
	struct gt_configured_report *c, const struct gt_analysis_options *opt, struct gt_err *err)
{
	const struct gt_opt_list *globs = without_of(opt);

	return globs ? gt_globs_check(globs, "--without", err) : 0;
}

static int critical_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct critical *s = state;

	if (opt->filter.match || opt->filter.tid)
		s->refused = opt->filter.match
			? GT_MATCH_TEXT(opt, "", " leaves out parts of the path")
			: "--tid leaves out parts of the path";
	return gt_critical_init(&s->chain, r, opt, err);
}

static int critical_block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	struct critical *s = state;

	return s->refused ? 0 : gt_critical_block(&s->chain, cols, err);
}

/* ---- one process ---- */

static inline void count_many(struct tally *t, uint64_t ns, uint64_t n)
{
	t->ns += ns;
	t->pieces += n;
}

static inline void count(struct tally *t, uint64_t ns) { count_many(t, ns, 1); }

static int on_piece(void *arg, const struct gt_critical_piece *piece, struct gt_err *err)
{
	struct critical *s = arg;
	const struct gt_time_ordered *order = &s->chain.order;
	uint32_t segment = s->p->seg->index;
	uint64_t ns = (uint64_t)piece->end - (uint64_t)piece->start;
	struct gt_top_entry one;

	count(&s->kinds[piece->kind], ns);
	if (piece->likely)
		count(&s->likely, ns);
	if (piece->kind == GT_CRITICAL_OUTSIDE)
		count(&s->lines[s->chain.slot[piece->track] - 1], ns);
	else if (piece->kind <= GT_CRITICAL_CALL && piece->type != GT_NONE)
		count(&s->types[piece->type], ns);
	if (!gt_top_n_offer(&s->longest, (int64_t)ns))
		return 0;
	one = (struct gt_top_entry){ .score = (int64_t)ns,
		.start = piece->start,
		.dur = (int64_t)ns,
		.seg = s->p->seg,
		.track = piece->track - order->tracks[segment],
		.a = piece->kind,
		.b = piece->likely,
		.type = piece->type == GT_NONE ? GT_NONE : piece->type - order->types[segment] };
	return gt_top_n_add(&s->longest, &one, err);
}

/* Adds calls by their sums, if none of them can be one of the longest pieces. */
static bool on_many(void *arg, uint32_t track, const struct gt_event_digest *calls)
{
	struct critical *s = arg;

	if (gt_top_n_would_enter(&s->longest, (int64_t)calls->longest) ||
		gt_top_n_would_enter(&s->longest, (int64_t)calls->longest_gap))
		return false;
	for (uint32_t i = 0; i < calls->ntypes; i++) {
		const struct gt_event_digest_type *of = &calls->types[i];

		if (of->type != GT_NONE)
			count_many(&s->types[of->type], of->ns, of->n);
		count_many(&s->kinds[GT_CRITICAL_CALL], of->ns, of->n);
		gt_top_n_skip(&s->longest, of->n);
	}
	count_many(&s->lines[s->chain.slot[track] - 1], calls->between, calls->gaps);
	count_many(&s->kinds[GT_CRITICAL_OUTSIDE], calls->between, calls->gaps);
	gt_top_n_skip(&s->longest, calls->gaps);
	return true;
}

static int walk(struct critical *s, const struct gt_critical_process *p, struct gt_err *err)
{
	size_t ntypes = s->chain.order.types[s->chain.order.nsegs];
	int rc;

	s->p = p;
	memset(s->kinds, 0, sizeof(s->kinds));
	s->likely = (struct tally){ 0 };
	memset(s->types, 0, ntypes * sizeof(*s->types));
	memset(s->lines, 0, s->chain.nlines * sizeof(*s->lines));
	memset(s->sums, 0, ntypes * sizeof(*s->sums));
	gt_top_n_release(&s->longest);
	gt_top_n_init(&s->longest, s->chain.report.opt->top);
	s->longest.max = s->longest.max < s->longest_max ? s->longest.max : s->longest_max;
	rc = gt_critical_walk(&s->chain, p, on_piece, on_many, s, err);
	return rc ? rc : gt_critical_sum_types(&s->chain, p, s->sums, err);
}

/* Of kernels the short name. Borrowed. */
static const char *name_of(struct critical *s, const struct gt_segment *seg, uint32_t type)
{
	const char *full = type < seg->ntypes ? gt_type_name(seg, type) : "?", *brief = NULL;

	if (type < seg->ntypes && seg->types[type].layer == GT_LAYER_GPU &&
		seg->types[type].category == GT_CAT_KERNEL)
		brief = gt_kernel_names_get(s->names, full);
	return brief ? brief : full;
}

/* ---- tables ---- */

static const struct gt_column kind_columns[] = {
	GT_WHERE_PROCESS,
	{ "kind", "Kind", GT_C_WHOLE },
	{ "on_path_ns", "On the path", GT_C_NS },
	{ "share_percent", "Share %", GT_C_PERCENT },
	{ "pieces", "Pieces", GT_C_COUNT },
	{ "window_ns", NULL, GT_C_NS },
	{ "from_ns", NULL, GT_C_TIME },
	{ "to_ns", NULL, GT_C_TIME },
};
static const struct gt_column name_columns[] = {
	GT_WHERE_PROCESS,
	{ "name", "Name", GT_C_TEXT },
	{ "kind", "Kind", GT_C_TEXT },
	{ "on_path_ns", "On the path", GT_C_NS },
	{ "share_percent", "Share %", GT_C_PERCENT },
	{ "pieces", "Pieces", GT_C_COUNT },
	{ "summed_ns", "Summed", GT_C_NS },
	{ "full_name", NULL, GT_C_TEXT },
};
static const struct gt_column longest_columns[] = {
	GT_WHERE_PROCESS,
	{ "start_ns", "Start", GT_C_TIME },
	{ "duration_ns", "Duration", GT_C_NS },
	{ "kind", "Kind", GT_C_WHOLE },
	{ "name", "Name", GT_C_TEXT },
	GT_WHERE_THREAD,
	{ "device", "Device", GT_C_COUNT },
	{ "stream", "Stream", GT_C_COUNT },
	{ "likely", NULL, GT_C_COUNT },
};
static const struct gt_column without_columns[] = {
	GT_WHERE_PROCESS,
	{ "window_ns", "Window", GT_C_NS },
	{ "without_ns", "Without", GT_C_NS },
	{ "gain_ns", "Gain at most", GT_C_NS },
	{ "gain_percent", "Gain %", GT_C_PERCENT },
	{ "on_path_ns", "On the path", GT_C_NS },
	{ "summed_ns", "Summed", GT_C_NS },
};
#define N(columns) (sizeof(columns) / sizeof(*columns))
enum { BY_KIND, BY_NAME, LONGEST, WITHOUT, NTABLES };

static int add_kinds(struct critical *s, struct gt_table *t, struct gt_err *err)
{
	const struct gt_report_state *a = &s->chain.report;
	const struct gt_critical_process *p = s->p;
	uint64_t ns[GT_CRITICAL_KINDS];
	int64_t shares[GT_CRITICAL_KINDS];

	for (unsigned i = 0; i < GT_CRITICAL_KINDS; i++)
		ns[i] = s->kinds[i].ns;
	if (gt_compute_shares(ns, GT_CRITICAL_KINDS, shares, err))
		return err->code;
	for (unsigned i = 0; i < GT_CRITICAL_KINDS; i++) {
		struct gt_cell cells[N(kind_columns)];

		gt_where_process(cells, p->seg, p->track);
		cells[3] = gt_cell_text(words[i]);
		cells[4] = gt_cell_u(ns[i]);
		cells[5] = p->to > p->from ? gt_cell_i(shares[i]) : gt_cell_none();
		cells[6] = gt_cell_u(s->kinds[i].pieces);
		cells[7] = gt_cell_u((uint64_t)p->to - (uint64_t)p->from);
		cells[8] = gt_cell_time(a, p->seg, p->from);
		cells[9] = gt_cell_time(a, p->seg, p->to);
		gt_table_add(t, cells);
	}
	return 0;
}

struct named {
	const char *full, *name; /* full: of work and calls; name: of waits */
	char space[80];          /* of the time of a thread outside CUDA */
	enum gt_critical_kind kind;
	uint32_t type, key;
	struct tally path;
	uint64_t sum;
	bool summed;
};
struct list {
	struct named *all;
	size_t n, cap;
};

static int add_named(struct list *l, const struct named *one, struct gt_err *err)
{
	if (gt_grow(&l->all, &l->cap, l->n + 1, sizeof(*l->all)))
		return gt_err_set(err, -ENOMEM, "out of memory (names on the path)");
	l->all[l->n++] = *one;
	return 0;
}

static int by_key(const void *pa, const void *pb)
{
	const struct named *a = pa, *b = pb;

	return GT_COMPARE(a->kind, b->kind) ?: GT_COMPARE(a->key, b->key);
}

static const char *full_text(const struct named *one)
{
	return one->full ? one->full : one->kind == GT_CRITICAL_OUTSIDE ? one->space : one->name;
}

static int by_time(const void *pa, const void *pb)
{
	const struct named *a = pa, *b = pb;

	return GT_COMPARE(b->path.ns, a->path.ns) ?:
		strcmp(full_text(a), full_text(b)) ?:
		by_key(a, b);
}

/* The types of the process' recording; types of one name (an interned string) are added up. */
static int list_types(struct critical *s, struct list *l, struct gt_err *err)
{
	const struct gt_segment *seg = s->p->seg;
	uint32_t first = s->chain.order.types[seg->index];
	size_t n = 0;

	for (uint32_t t = 0; t < seg->ntypes; t++) {
		struct named one = { .full = gt_type_name(seg, t),
			.key = seg->types[t].name,
			.path = s->types[first + t],
			.sum = s->sums[first + t],
			.summed = true };

		one.kind = seg->types[t].layer == GT_LAYER_GPU
			? (enum gt_critical_kind)gt_work_kind(seg, &seg->types[t])
			: GT_CRITICAL_CALL;
		one.type = t;
		if (one.sum && add_named(l, &one, err))
			return err->code;
	}
	GT_SORT(l->all, l->n, by_key);
	for (size_t i = 0; i < l->n; i++) {
		if (n && !by_key(&l->all[n - 1], &l->all[i])) {
			l->all[n - 1].path.ns += l->all[i].path.ns;
			l->all[n - 1].path.pieces += l->all[i].path.pieces;
			l->all[n - 1].sum = gt_sat_add(l->all[n - 1].sum, l->all[i].sum);
		} else {
			l->all[n++] = l->all[i];
		}
	}
	l->n = n;
	return 0;
}

static int list_others(struct critical *s, struct list *l, struct gt_err *err)
{
	for (size_t i = 0; i < s->p->nlines; i++) {
		const struct gt_critical_line *line = &s->chain.lines[s->p->lines[i]];
		const struct gt_track *t =
			&s->p->seg->tracks[line->track - s->chain.order.tracks[s->p->seg->index]];
		struct named one = { .kind = GT_CRITICAL_OUTSIDE,
			.key = line->track,
			.path = s->lines[s->p->lines[i]] };

		snprintf(one.space, sizeof(one.space), "thread %lld%s%.40s", (long long)t->id,
			t->name == GT_NONE ? "" : " ",
			t->name == GT_NONE ? "" : gt_str(s->p->seg, t->name));
		if (one.path.pieces && add_named(l, &one, err))
			return err->code;
	}
	if (add_named(l,
		    &(struct named){ .kind = GT_CRITICAL_QUEUE,
			    .name = "(launched, not started)",
			    .path = s->kinds[GT_CRITICAL_QUEUE] },
		    err))
		return err->code;
	return add_named(l,
		&(struct named){ .kind = GT_CRITICAL_UNKNOWN,
			.name = "(no known launch, or events lost)",
			.path = s->kinds[GT_CRITICAL_UNKNOWN] },
		err);
}

/* All names with time on the path, by time. */
static int collect_names(struct critical *s, struct list *l, struct gt_err *err)
{
	int rc = list_types(s, l, err);
	size_t n = 0;

	if (!rc)
		rc = list_others(s, l, err);
	for (size_t i = 0; i < l->n; i++)
		if (l->all[i].path.ns)
			l->all[n++] = l->all[i];
	l->n = n;
	GT_SORT(l->all, n, by_time);
	return rc;
}

static int add_names(struct critical *s, struct gt_table *t, size_t *left_out, struct gt_err *err)
{
	const struct gt_report_state *a = &s->chain.report;
	struct list l = { 0 };
	int rc = collect_names(s, &l, err);
	int64_t *shares = rc ? NULL : GT_NEW_SHARES(l.all, l.n, path.ns, err);

	rc = shares ? 0 : err->code;
	for (size_t i = 0; !rc && i < gt_rows_shown(l.n, a->opt->top); i++) {
		const struct named *one = &l.all[i];
		struct gt_cell cells[N(name_columns)];

		gt_where_process(cells, s->p->seg, s->p->track);
		cells[3] =
			gt_cell_text(one->full ? name_of(s, s->p->seg, one->type) : full_text(one));
		cells[4] = gt_cell_text(words[one->kind]);
		cells[5] = gt_cell_u(one->path.ns);
		cells[6] = gt_cell_i(shares[i]);
		cells[7] = gt_cell_u(one->path.pieces);
		cells[8] = gt_cell_known(one->summed, one->sum);
		cells[9] = one->full ? gt_cell_text(one->full) : gt_cell_none();
		gt_table_add(t, cells);
	}
	*left_out += l.n - gt_rows_shown(l.n, a->opt->top);
	free(l.all);
	free(shares);
	return rc;
}

static int in_order(const void *pa, const void *pb)
{
	const struct gt_top_entry *a = pa, *b = pb;

	return GT_COMPARE(a->start, b->start);
}

static struct gt_cell track_id(
	const struct gt_segment *seg, uint32_t track, enum gt_track_kind kind)
{
	track = gt_track_above(seg, track, kind);
	return track == GT_NONE ? gt_cell_none() : gt_cell_i(seg->tracks[track].id);
}

static void add_longest(struct critical *s, struct gt_table *t)
{
	const struct gt_report_state *a = &s->chain.report;

	s->shorter += s->longest.offered - s->longest.n;
	GT_SORT(s->longest.list, s->longest.n, in_order);
	for (size_t i = 0; i < s->longest.n; i++) {
		const struct gt_top_entry *one = &s->longest.list[i];
		bool thread = one->track < one->seg->ntracks &&
			one->seg->tracks[one->track].kind == GT_TRACK_THREAD;
		struct gt_cell cells[N(longest_columns)];
		struct gt_buf b = { 0 };

		gt_buf_printf(&b, "%s%s", one->a >= GT_CRITICAL_QUEUE ? "before " : "",
			name_of(s, one->seg, one->type));
		gt_buf_byte(&b, 0);
		gt_where_process(cells, s->p->seg, s->p->track);
		cells[3] = gt_cell_time(a, one->seg, one->start);
		cells[4] = gt_cell_i(one->dur);
		cells[5] = gt_cell_text(words[one->a]);
		cells[6] = gt_cell_text(b.failed ? "?" : (const char *)b.data);
		gt_where_thread(cells + 7, one->seg, one->track);
		if (!thread)
			cells[8] = gt_cell_none();
		cells[9] =
			thread ? gt_cell_none() : track_id(one->seg, one->track, GT_TRACK_DEVICE);
		cells[10] =
			thread ? gt_cell_none() : track_id(one->seg, one->track, GT_TRACK_STREAM);
		cells[11] = gt_cell_u(one->b);
		gt_table_add(t, cells);
		gt_buf_release(&b);
	}
}

static int add_without(struct critical *s, struct gt_table *t, struct gt_err *err)
{
	uint64_t window = (uint64_t)s->p->to - (uint64_t)s->p->from, rest, path = 0, sum = 0;
	struct gt_cell cells[N(without_columns)];
	int rc = gt_critical_time_without(&s->chain, s->p, s->removed, &rest, err);

	for (size_t i = 0; i < s->chain.order.types[s->chain.order.nsegs]; i++)
		if (s->removed[i]) {
			path += s->types[i].ns;
			sum = gt_sat_add(sum, s->sums[i]);
		}
	gt_where_process(cells, s->p->seg, s->p->track);
	cells[3] = gt_cell_u(window);
	cells[4] = gt_cell_u(rest);
	cells[5] = gt_cell_u(window - rest);
	cells[6] = gt_cell_share(window - rest, window);
	cells[7] = gt_cell_u(path);
	cells[8] = gt_cell_u(sum);
	gt_table_add(t, cells);
	return rc;
}

/* ---- notes ---- */

static void note_path(const struct critical *s, struct gt_table *t)
{
	const struct gt_report_state *a = &s->chain.report;
	const struct gt_critical_process *p = s->p;
	uint64_t pieces = 0;

	for (unsigned i = 0; i < GT_CRITICAL_KINDS; i++)
		pieces += s->kinds[i].pieces;
	gt_table_note(t,
		"process %lld: the breakdown covers %s, from %.9f s to %.9f s (first to last %s)",
		p->track == GT_NONE ? -1ll : (long long)p->seg->tracks[p->track].id,
		gt_scaled(GT_C_NS, gt_clamp((uint64_t)p->to - (uint64_t)p->from)).text,
		(double)gt_time_since_origin(a, p->seg, p->from) / 1e9,
		(double)gt_time_since_origin(a, p->seg, p->to) / 1e9,
		a->opt->whole ? "call or GPU operation" : "GPU operation");
	if (s->likely.pieces)
		gt_table_note(t,
			"%llu of %llu pieces (%s) are linked in part by inferred dependencies",
			(unsigned long long)s->likely.pieces, (unsigned long long)pieces,
			gt_scaled(GT_C_NS, gt_clamp(s->likely.ns)).text);
	if (p->unjoined)
		gt_table_note(t,
			"%llu of %llu operations are joined to no call: some of their dependencies are unknown",
			(unsigned long long)p->unjoined, (unsigned long long)p->ops);
}

static void note_rows(const struct critical *s, struct gt_table *t)
{
	gt_note_unordered(t, s->chain.late, "the path");
	if (s->chain.crossing)
		gt_table_note(t,
			"%llu calls end after the call in which they began: their time after it counts as outside CUDA",
			(unsigned long long)s->chain.crossing);
}

static void note_without(const struct critical *s, struct gt_table *t)
{
	const char *glob;
	size_t at = 0;

	while ((glob = gt_name_globs_useless(&s->without.match, s->chain.report.reader, &at)))
		gt_table_note(t, "--without %s matches nothing", glob);
	gt_table_note(t,
		"an upper bound: events that match take no time and do not wait; all others begin as soon as their known "
		"dependencies have ended, and take as long as in the recording");
}

static void note_no_answer(const struct critical *s, struct gt_table *t)
{
	const struct gt_report_state *a = &s->chain.report;
	const char *why = s->refused;

	if (!why && s->chain.too_many)
		why = "there are too many threads and streams";
	if (!why)
		why = gt_why_no_work(a);
	gt_table_set_unanswered(t, "%s", why);
}

/* ---- all ---- */

static int longer(const void *pa, const void *pb)
{
	const struct gt_critical_process *a = *(const struct gt_critical_process *const *)pa,
					 *b = *(const struct gt_critical_process *const *)pb;
	uint64_t x = (uint64_t)a->to - (uint64_t)a->from, y = (uint64_t)b->to - (uint64_t)b->from;

	return GT_COMPARE(y, x) ?: GT_COMPARE(a, b);
}

static int add_process(struct critical *s, const struct gt_critical_process *p,
	struct gt_table **tables, size_t *left_out, struct gt_err *err)
{
	int rc = walk(s, p, err);

	if (!rc)
		rc = add_kinds(s, tables[BY_KIND], err);
	if (!rc)
		rc = add_names(s, tables[BY_NAME], left_out, err);
	if (rc)
		return rc;
	note_path(s, tables[BY_KIND]);
	add_longest(s, tables[LONGEST]);
	return tables[WITHOUT] ? add_without(s, tables[WITHOUT], err) : 0;
}

static int prepare(struct critical *s, struct gt_err *err)
{
	const struct gt_critical *c = &s->chain;
	size_t n = c->order.types[c->order.nsegs];

	s->names = gt_kernel_names_of(c->report.reader, c->report.opt->names);
	s->types = calloc(n + 1, sizeof(*s->types));
	s->sums = calloc(n + 1, sizeof(*s->sums));
	s->removed = calloc(n + 1, sizeof(*s->removed));
	s->lines = calloc(c->nlines + 1, sizeof(*s->lines));
	if (!s->names || !s->types || !s->sums || !s->removed || !s->lines)
		return gt_err_set(err, -ENOMEM, "out of memory (critical path)");
	if (without_of(c->report.opt) &&
		gt_name_patterns_init(
			&s->without, without_of(c->report.opt), NULL, c->report.reader, err))
		return err->code;
	for (uint32_t i = 0; i < c->order.nsegs && without_of(c->report.opt); i++) {
		const struct gt_segment *seg = gt_reader_segment(c->report.reader, i);

		for (uint32_t t = 0; t < seg->ntypes; t++)
			s->removed[c->order.types[i] + t] =
				gt_name_patterns_match(seg, &seg->types[t], &s->without);
	}
	return 0;
}

static int add_processes(struct critical *s, struct gt_table **tables, struct gt_err *err)
{
	const struct gt_critical_process **list = calloc(s->chain.where.n + 1, sizeof(*list));
	size_t n = 0, left_out = 0;
	int rc = list ? 0 : gt_err_set(err, -ENOMEM, "out of memory (critical path)");

	for (size_t i = 0; list && i < s->chain.where.n && !s->chain.too_many; i++)
		if (s->chain.processes[i].ops)
			list[n++] = &s->chain.processes[i];
	GT_SORT(list, n, longer);
	s->longest_max = n < GT_TOP_N_MAX ? GT_TOP_N_MAX / (n + !n) : 1;
	for (size_t i = 0; !rc && i < n; i++)
		rc = add_process(s, list[i], tables, &left_out, err);
	if (!rc && !n)
		note_no_answer(s, tables[BY_KIND]);
	if (n == 1)
		gt_table_note_cut(tables[BY_NAME], left_out + gt_table_rows(tables[BY_NAME]),
			gt_table_rows(tables[BY_NAME]));
	else
		gt_table_note_more(tables[BY_NAME], left_out, 0);
	if (s->shorter)
		gt_table_note(tables[LONGEST], "%llu shorter piece%s left out%s",
			(unsigned long long)s->shorter, gt_plural(s->shorter, "s"),
			s->chain.report.opt->top ? ": --top 0 shows more" : "");
	free(list);
	return rc;
}

/* Without a path, only the first table is printed, with a note. */
static int only_first(struct gt_table **tables, unsigned n)
{
	for (unsigned i = 1; i < n; i++) {
		gt_table_free(tables[i]);
		tables[i] = NULL;
	}
	return 1;
}

static int critical_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct critical *s = state;
	const struct gt_report_state *a = &s->chain.report;
	unsigned n = without_of(a->opt) ? NTABLES : WITHOUT;
	int rc = gt_critical_finish(&s->chain, err);

	tables[BY_KIND] = gt_report_table(a, "critical", "Critical path by kind", kind_columns,
		N(kind_columns), "process pieces pid", err);
	tables[BY_NAME] = gt_report_table(a, "critical_names", "Critical path by name",
		name_columns, N(name_columns), "process pieces summed_ns kind pid", err);
	tables[LONGEST] = gt_report_table(a, "critical_longest",
		"Longest pieces of the critical path, in order of time", longest_columns,
		N(longest_columns), "process thread tid stream kind pid device", err);
	if (n == NTABLES)
		tables[WITHOUT] = gt_report_table(a, "critical_without",
			"Without the events that --without names", without_columns,
			N(without_columns), "process summed_ns on_path_ns gain_percent pid", err);
	for (unsigned i = 0; !rc && i < n; i++)
		rc = tables[i] ? 0 : err->code;
	if (!rc)
		rc = prepare(s, err);
	if (!rc)
		rc = add_processes(s, tables, err);
	if (rc)
		return rc;
	note_rows(s, tables[BY_KIND]);
	if (!gt_table_rows(tables[BY_KIND]))
		return only_first(tables, n);
	if (n == NTABLES)
		note_without(s, tables[WITHOUT]);
	return (int)n;
}

static void critical_release(void *state)
{
	struct critical *s = state;

	gt_critical_release(&s->chain);
	gt_kernel_names_free(s->names);
	gt_top_n_release(&s->longest);
	free(s->types);
	free(s->lines);
	free(s->sums);
	free(s->removed);
	gt_name_patterns_release(&s->without);
}

static const struct gt_option_row without_option = {
	.opt = { .name = "without",
		.kind = GT_OPT_LIST,
		.arg = "GLOB",
		.help = "estimate how much time the run would save at most if matching operations took no time; repeatable" },
	.heading = "Option of the report critical",
	.report = "critical",
};

const struct gt_analysis gt_critical_report = {
	.name = "critical",
	.per_recording = true,
	.help = "the critical path of calls, GPU work and waits, and (--without) the largest possible gain of remedies",
	.wants = GT_CRITICAL_WANTS,
	.wants_args = true,
	.order = GT_BY_TIME,
	.options = (const struct gt_option_row *const[]){ &without_option, NULL },
	.configure = critical_configure,
	.state_size = sizeof(struct critical),
	.init = critical_init,
	.block = critical_block,
	.finish = critical_finish,
	.release = critical_release,
};
