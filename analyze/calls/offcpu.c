/* Report "offcpu": time of threads off the processor, by thread and reason, and the longest
 * intervals (formats/trace/write/sched_rows.h). The life of a thread is the time from the start of
 * its first row to the end of the last one, of any kind. With --from and --to, times and lives are
 * cut to the range. */
#include <stdio.h>
#include <string.h>
#include "analyze/calls/thread_names.h"
#include "analyze/columns/column_cursor.h"
#include "analyze/core/report.h"
#include "analyze/stats/group_table.h"
#include "formats/base/buf.h"
#include "formats/base/sorted.h"
#include "formats/names/system_call_names.h"
#include "formats/trace/meta.h"
#include "formats/trace/write/sched_rows.h"

#define GROUPS (1u << 18) /* of each table; the rest is one group */

struct life { /* of a thread */
	uint32_t segment, track;
	bool known;
	int64_t from, to;
	uint64_t off; /* ns, of all reasons */
};
struct reason {
	uint32_t segment, track, state;
	bool known;
	int64_t longest, longest_at;
	uint64_t count, total;
};
struct other { /* the thread that woke this one, or preempted it */
	uint32_t segment, track, state, unused;
	uint64_t pid, tid, count;
};
struct offcpu {
	struct gt_report_state report;
	struct gt_group_table lives, reasons, others;
	struct gt_thread_names names; /* read at the end */
	struct gt_top_n longest;
	const struct gt_segment *architecture_of; /* as uname() names it; NULL: of none yet */
	char architecture[32];
};

static int offcpu_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct offcpu *o = state;

	o->report = (struct gt_report_state){ r, opt };
	gt_group_table_init(&o->lives, sizeof(struct life), 8, GROUPS);
	gt_group_table_init(&o->reasons, sizeof(struct reason), 12, GROUPS);
	gt_group_table_init(&o->others, sizeof(struct other), 32, GROUPS);
	gt_top_n_init(&o->longest, opt->top);
	return 0;
}

/* ---- rows ---- */

static struct life *life_of(struct offcpu *o, uint32_t segment, uint32_t track, struct gt_err *err)
{
	const struct life key = { .segment = segment, .track = track };
	uint32_t i = gt_group_table_find(&o->lives, &key, err);

	return i == GT_GROUP_TABLE_NONE ? NULL : gt_group_table_at(&o->lives, i);
}

static struct reason *reason_of(struct offcpu *o, const struct reason *key, struct gt_err *err)
{
	uint32_t i = gt_group_table_find(&o->reasons, key, err);

	return i == GT_GROUP_TABLE_NONE ? NULL : gt_group_table_at(&o->reasons, i);
}

static int add_other(struct offcpu *o, const struct other *key, uint64_t count, struct gt_err *err)
{
	uint32_t i = gt_group_table_find(&o->others, key, err);

	if (i == GT_GROUP_TABLE_NONE)
		return err->code;
	((struct other *)gt_group_table_at(&o->others, i))->count += count;
	return 0;
}

static void extend_life(struct life *l, int64_t from, int64_t to)
{
	l->from = l->known && l->from < from ? l->from : from;
	l->to = l->known && l->to > to ? l->to : to;
	l->known = true;
}

static void add_interval(struct reason *r, int64_t from, uint64_t ns, uint64_t count)
{
	if (!r->known || gt_clamp(ns) > r->longest ||
		(gt_clamp(ns) == r->longest && from < r->longest_at)) {
		r->longest = gt_clamp(ns);
		r->longest_at = from;
	}
	r->known = true;
	r->count += count;
}

/* The values of a field, or NULL. */
static const uint64_t *field(const struct gt_cols *cols, uint32_t code, unsigned field, uint32_t *n)
{
	*n = 0;
	return gt_cols_args(cols, code, field, n);
}

struct fields { /* of one state in a run */
	const uint64_t *pid, *tid, *syscall;
	uint32_t npid, ntid, nsyscall;
};

static struct fields fields_of(const struct gt_cols *cols, uint32_t code, unsigned state)
{
	struct fields f = { NULL };

	if (state == GT_SCHED_RUNNABLE)
		return f;
	f.pid = field(cols, code, GT_SCHED_BY_PID, &f.npid);
	f.tid = field(cols, code, GT_SCHED_BY_TID, &f.ntid);
	if (gt_sched_is_blocked(state))
		f.syscall = field(cols, code, GT_SCHED_SYSCALL, &f.nsyscall);
	return f;
}

static int add_row(struct offcpu *o, const struct gt_column_cursor *p, struct reason *r,
	const struct fields *f, struct gt_err *err)
{
	const struct gt_cols *cols = p->cols;
	struct gt_range range = gt_range_of(&o->report.opt->filter, cols->seg);
	int64_t start = cols->start[p->row], end = start + cols->dur[p->row],
		from = start > range.from ? start : range.from;
	uint64_t ns = gt_ns_in_range(range, start, end);
	uint32_t i = p->nth - 1;
	struct other by = { .segment = cols->seg->index, .track = cols->track, .state = r->state };
	struct gt_top_entry one = gt_top_entry_of_row(cols, p->row, gt_clamp(ns));

	add_interval(r, from, ns, 1);
	r->total = gt_sat_add(r->total, ns);
	by.pid = i < f->npid ? f->pid[i] : 0;
	by.tid = i < f->ntid ? f->tid[i] : 0;
	if (r->state != GT_SCHED_RUNNABLE && add_other(o, &by, 1, err))
		return err->code;
	one.start = from;
	one.dur = gt_clamp(ns);
	one.depth = (uint8_t)r->state;
	one.a = by.pid << 32 | (by.tid & UINT32_MAX);
	one.b = i < f->nsyscall ? f->syscall[i] : (uint64_t)GT_SCHED_NO_SYSCALL;
	return gt_top_n_offer(&o->longest, one.score) ? gt_top_n_add(&o->longest, &one, err) : 0;
}

/* Adds the rows of one code. The run may have none. */
static int add_state(struct offcpu *o, const struct gt_cols *cols, uint32_t code, unsigned state,
	uint64_t *off, struct gt_err *err)
{
	struct reason *r,
		sum = { .segment = cols->seg->index, .track = cols->track, .state = state };
	struct fields f = fields_of(cols, code, state);
	struct gt_column_cursor p;
	int rc = 0;

	for (gt_column_cursor_start(&p, cols, code, GT_R_NONE, GT_R_NONE);
		!rc && gt_column_cursor_next(&p);)
		rc = add_row(o, &p, &sum, &f, err);
	if (rc || !sum.known)
		return rc;
	r = reason_of(o, &sum, err);
	if (!r)
		return err->code;
	add_interval(r, sum.longest_at, (uint64_t)sum.longest, sum.count);
	r->total = gt_sat_add(r->total, sum.total);
	*off = gt_sat_add(*off, sum.total);
	return 0;
}

static int offcpu_block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	struct offcpu *o = state;
	struct gt_range range = gt_range_of(&o->report.opt->filter, cols->seg);
	int64_t from = INT64_MAX, to = INT64_MIN;
	struct life *l;
	uint64_t off = 0;
	int rc = 0;

	if (cols->track >= cols->seg->ntracks ||
		cols->seg->tracks[cols->track].kind != GT_TRACK_THREAD)
		return 0;
	for (uint32_t c = 0; !rc && cols->kind == GT_SPAN && c < cols->ntypes; c++) {
		const struct gt_type *type = gt_cols_type(cols, c);
		unsigned s = type ? gt_sched_state_of(type, gt_str(cols->seg, type->name))
				  : GT_SCHED_STATE_COUNT;

		if (s < GT_SCHED_STATE_COUNT)
			rc = add_state(o, cols, c, s, &off, err);
	}
	for (uint32_t i = 0; i < cols->n; i++) {
		int64_t end = cols->start[i] + cols->dur[i];

		from = cols->start[i] < from ? cols->start[i] : from;
		to = end > to ? end : to;
	}
	if (rc || !cols->n)
		return rc;
	l = life_of(o, cols->seg->index, cols->track, err);
	if (!l)
		return err->code;
	extend_life(l, from > range.from ? from : range.from, to < range.to ? to : range.to);
	l->off = gt_sat_add(l->off, off);
	return 0;
}

static int merge_lives(struct offcpu *o, const struct offcpu *from, struct gt_err *err)
{
	for (size_t i = 0; i < from->lives.n; i++) {
		const struct life *one = gt_group_table_at(&from->lives, i);
		struct life *l = life_of(o, one->segment, one->track, err);

		if (!l)
			return err->code;
		extend_life(l, one->from, one->to);
		l->off = gt_sat_add(l->off, one->off);
	}
	return 0;
}

static int offcpu_merge(void *into, void *with, struct gt_err *err)
{
	const struct offcpu *from = with;
	struct offcpu *o = into;
	int rc = merge_lives(o, from, err);

	for (size_t i = 0; !rc && i < from->reasons.n; i++) {
		const struct reason *one = gt_group_table_at(&from->reasons, i);
		struct reason *r = reason_of(o, one, err);

		if (!r)
			return err->code;
		add_interval(r, one->longest_at, (uint64_t)one->longest, one->count);
		r->total = gt_sat_add(r->total, one->total);
	}
	for (size_t i = 0; !rc && i < from->others.n; i++) {
		const struct other *one = gt_group_table_at(&from->others, i);

		rc = add_other(o, one, one->count, err);
	}
	return rc ? rc : gt_top_n_merge(&o->longest, &from->longest, err);
}

/* ---- who woke it ---- */

static int by_count(const void *pa, const void *pb)
{
	const struct other *a = pa, *b = pb;

	return GT_COMPARE(a->segment, b->segment) ?: GT_COMPARE(a->track, b->track)
			?: GT_COMPARE(a->state, b->state) ?: GT_COMPARE(b->count, a->count)
		?: GT_COMPARE(a->pid, b->pid) ?: GT_COMPARE(a->tid, b->tid);
}

/* The other thread that occurs most for a reason; NULL: none. After sorting by_count. */
static const struct other *most_of(const struct offcpu *o, const struct reason *r)
{
	struct other key = {
		.segment = r->segment, .track = r->track, .state = r->state, .count = UINT64_MAX
	};
	size_t low = 0, high = o->others.n;
	const struct other *one;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (by_count(gt_group_table_at(&o->others, mid), &key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	one = low < o->others.n ? gt_group_table_at(&o->others, low) : NULL;
	return one && one->segment == r->segment && one->track == r->track && one->state == r->state
		? one
		: NULL;
}

/* ---- tables ---- */

static const struct gt_column columns[] = {
	GT_WHERE_PROCESS,
	GT_WHERE_THREAD,
	{ "reason", "Reason", GT_C_TEXT },
	{ "count", "Count", GT_C_COUNT },
	{ "total_ns", "Total", GT_C_NS },
	{ "share_percent", "Of life %", GT_C_PERCENT },
	{ "mean_ns", "Mean", GT_C_NS },
	{ "max_ns", "Longest", GT_C_NS },
	{ "max_at_ns", "Longest at", GT_C_TIME },
	{ "by", "Mostly by", GT_C_TEXT },
	{ "by_count", "Times", GT_C_COUNT },
	{ "by_pid", NULL, GT_C_COUNT },
	{ "by_tid", NULL, GT_C_COUNT },
	{ "life_ns", NULL, GT_C_NS },
};
#define NCOLUMNS 17

static uint64_t life_ns(const struct life *l)
{
	return l && l->to > l->from ? (uint64_t)l->to - (uint64_t)l->from : 0;
}

static void where(struct gt_cell cells[5], const struct gt_segment *seg, uint32_t track)
{
	gt_where_process(cells, seg, gt_track_process(seg, track));
	gt_where_thread(cells + 3, seg, track);
}

/* 0: unknown, because the options leave out rows, or there are more threads than GROUPS. */
static uint64_t life_of_row(struct offcpu *o, const struct reason *r)
{
	struct gt_err ignored = { 0 };
	const struct life *l = life_of(o, r->segment, r->track, &ignored);

	return o->report.opt->filter.match || !l || l->segment != r->segment ? 0 : life_ns(l);
}

static void add_reason(struct offcpu *o, struct gt_table *t, const struct reason *r)
{
	const struct gt_segment *seg = gt_reader_segment(o->report.reader, r->segment);
	const struct other *by = most_of(o, r);
	uint64_t life = life_of_row(o, r);
	char name[GT_THREAD_NAME] = "";
	struct gt_cell cells[NCOLUMNS];

	if (by && by->tid)
		gt_thread_names_text(&o->names, seg, by->pid, by->tid, name);
	where(cells, seg, r->track);
	cells[5] = gt_cell_text(gt_sched_name(r->state));
	cells[6] = gt_cell_u(r->count);
	cells[7] = gt_cell_u(r->total);
	cells[8] = gt_cell_share(r->total < life ? r->total : life, life);
	cells[9] = gt_cell_u(r->count ? r->total / r->count : 0);
	cells[10] = gt_cell_i(r->longest);
	cells[11] = gt_cell_time(&o->report, seg, r->longest_at);
	cells[12] = *name ? gt_cell_text(name) : gt_cell_none();
	cells[13] = gt_cell_known(*name, by ? by->count : 0);
	cells[14] = gt_cell_known(*name, by ? by->pid : 0);
	cells[15] = gt_cell_known(*name, by ? by->tid : 0);
	cells[16] = gt_cell_known(life, life);
	gt_table_add(t, cells);
}

static int by_total(const void *pa, const void *pb)
{
	const struct reason *a = pa, *b = pb;

	return GT_COMPARE(b->total, a->total) ?: GT_COMPARE(a->segment, b->segment)
			?: GT_COMPARE(a->track, b->track) ?: GT_COMPARE(a->state, b->state);
}

static void note_lives(const struct offcpu *o, struct gt_table *t)
{
	size_t doubtful = 0;

	for (size_t i = 0; i < o->lives.n; i++) {
		const struct life *l = gt_group_table_at(&o->lives, i);

		doubtful += l->off > life_ns(l);
	}
	gt_note_plural(t, doubtful,
		"intervals of %zu {thread|threads} overlap: {its|their} times are uncertain",
		doubtful);
}

static void note_recorder_threads(const struct offcpu *o, struct gt_table *t)
{
	size_t n = 0;

	for (uint32_t i = 0; i < gt_reader_segments(o->report.reader); i++)
		n += gt_source_dedup_counts(o->report.opt->source_dedup, i)->recorder_threads;
	gt_note_plural(t, n, "%zu {thread|threads} of gt and CUPTI {is|are} left out", n);
}

static void add_reasons(struct offcpu *o, struct gt_table *t)
{
	size_t shown = gt_rows_shown(o->reasons.n, o->report.opt->top), n = 0;

	gt_group_table_sort(&o->others, by_count);
	gt_group_table_sort(&o->reasons, by_total);
	for (size_t i = 0; i < o->reasons.n && n < shown; i++) {
		const struct reason *r = gt_group_table_at(&o->reasons, i);

		if (gt_group_table_is_rest(&o->reasons, r))
			continue;
		add_reason(o, t, r);
		n++;
	}
	note_lives(o, t);
	note_recorder_threads(o, t);
	if (o->reasons.n > GROUPS)
		gt_table_note(
			t, "more threads and reasons than %u: the others are left out", GROUPS);
	gt_table_note_cut(t, o->reasons.n, shown);
}

static const struct gt_column longest_columns[] = {
	GT_WHERE_PROCESS,
	GT_WHERE_THREAD,
	{ "start_ns", "Start", GT_C_TIME },
	{ "duration_ns", "Duration", GT_C_NS },
	{ "reason", "Reason", GT_C_TEXT },
	{ "by", "By", GT_C_TEXT },
	{ "syscall", "System call", GT_C_TEXT }, /* the number, if it has no name here */
	{ "by_pid", NULL, GT_C_COUNT },
	{ "by_tid", NULL, GT_C_COUNT },
	{ "syscall_number", NULL, GT_C_COUNT },
};
#define NLONGEST 13

static int note_architecture(void *arg, const char *key, const char *value)
{
	struct offcpu *o = arg;

	if (!strcmp(key, "architecture"))
		snprintf(o->architecture, sizeof(o->architecture), "%s", value);
	return 0;
}

/* Calls have the numbers of the processor of the recording. text: its name, or else the number. */
static void name_system_call(
	struct offcpu *o, const struct gt_segment *seg, int64_t number, char *text, size_t size)
{
	const char *name;

	if (o->architecture_of != seg) {
		o->architecture[0] = 0;
		gt_meta_each(seg, note_architecture, o);
		o->architecture_of = seg;
	}
	name = gt_system_call_name(o->architecture, number);
	if (name)
		snprintf(text, size, "%s", name);
	else
		snprintf(text, size, "%lld", (long long)number);
}

static void add_longest(struct offcpu *o, struct gt_table *t, const struct gt_top_entry *one)
{
	uint64_t pid = one->a >> 32, tid = one->a & UINT32_MAX;
	char name[GT_THREAD_NAME] = "";
	struct gt_cell cells[NLONGEST];
	char call[64];

	if (tid)
		gt_thread_names_text(&o->names, one->seg, pid, tid, name);
	name_system_call(o, one->seg, (int64_t)one->b, call, sizeof(call));
	where(cells, one->seg, one->track);
	cells[5] = gt_cell_time(&o->report, one->seg, one->start);
	cells[6] = gt_cell_i(one->dur);
	cells[7] = gt_cell_text(gt_sched_name(one->depth));
	cells[8] = tid ? gt_cell_text(name) : gt_cell_none();
	cells[9] = (int64_t)one->b >= 0 ? gt_cell_text(call) : gt_cell_none();
	cells[10] = gt_cell_known(tid, pid);
	cells[11] = gt_cell_known(tid, tid);
	cells[12] = gt_cell_known((int64_t)one->b >= 0, one->b);
	gt_table_add(t, cells);
}

static int offcpu_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct offcpu *o = state;

	tables[0] = gt_report_table(&o->report, "offcpu", "Time off the processor", columns,
		NCOLUMNS, "by_count process thread max_at_ns mean_ns pid by share_percent", err);
	if (!tables[0])
		return err->code;
	if (!gt_has_thread_states(o->report.reader) &&
		gt_is_recorded(o->report.reader, GT_LAYER_SCHED)) {
		gt_table_set_unanswered(tables[0],
			"calls of the driver's scheduler were recorded, but not when threads leave the processor");
		return 1;
	}
	gt_thread_names_read(&o->names, o->report.reader);
	add_reasons(o, tables[0]);
	tables[1] = gt_report_table(&o->report, "offcpu_longest",
		"The longest intervals off the processor", longest_columns, NLONGEST,
		"process syscall thread pid by", err);
	if (!tables[1])
		return err->code;
	gt_top_n_sort(&o->longest);
	for (size_t i = 0; i < o->longest.n; i++)
		add_longest(o, tables[1], &o->longest.list[i]);
	gt_note_top_n(tables[1], &o->longest);
	return 2;
}

static void offcpu_release(void *state)
{
	struct offcpu *o = state;

	gt_group_table_release(&o->lives);
	gt_group_table_release(&o->reasons);
	gt_group_table_release(&o->others);
	gt_thread_names_release(&o->names);
	gt_top_n_release(&o->longest);
}

const struct gt_analysis gt_offcpu_report = {
	.name = "offcpu",
	.help = "time of threads off the processor: why, how long, and who woke them",
	.wants = GT_BIT(GT_CALL) | GT_BIT(GT_OPEN) | GT_BIT(GT_SPAN) | GT_BIT(GT_INSTANT),
	.needs = GT_BIT(GT_LAYER_SCHED),
	.wants_args = true,
	.order = GT_ANY_ORDER,
	.splits = GT_BY_BLOCK,
	.state_size = sizeof(struct offcpu),
	.init = offcpu_init,
	.block = offcpu_block,
	.merge = offcpu_merge,
	.finish = offcpu_finish,
	.release = offcpu_release,
};
