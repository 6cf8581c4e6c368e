/* Nsight's tables of the host: functions of the C library, NVTX ranges, samples of threads, their
 * scheduling; and counters of GPUs. */
#include "formats/import/nsight/import_nsight_internal.h"

#include <string.h>

/* ---- functions of the C library, system calls ---- */

/* Columns: start, end, globalTid, nameId, returnValue, callchainId, and gtexport's layerId and
 * categoryId. gtexport has the stacks of all calls in one table. */
int gt_nsight_see_system_call(struct gt_nsight *n, sqlite3_value **s)
{
	struct gt_nsight_call c = { .global = sqlite3_value_int64(s[2]) };

	if (!gt_nsight_call_times(n, s, &c.start, &c.end))
		return 0;
	c.name = gt_nsight_string(n, s, 3);
	c.ret = (int32_t)sqlite3_value_int64(s[4]);
	c.layer = gt_nsight_word(n, s, 6, gt_layer_word, GT_LAYER_SYSCALL);
	c.category = gt_nsight_word(n, s, 7, gt_category_word, GT_CAT_OTHER);
	c.stack = gt_nsight_stack(n,
		n->stacks[GT_NSIGHT_OS_STACKS].n ? GT_NSIGHT_OS_STACKS : GT_NSIGHT_CALL_STACKS, s,
		5);
	return c.name == GT_NONE ? n->err->code : gt_nsight_add_call(n, &c);
}

/* ---- NVTX ---- */

enum { NVTX_MARK = 34, NVTX_PUSH_POP = 59, NVTX_START_END = 60 };

/* Columns: start, end, eventType, globalTid, text, textId, color, domainNameId, categoryNameId. A
 * range without an end is left out. */
int gt_nsight_see_range(struct gt_nsight *n, sqlite3_value **s)
{
	int64_t type = gt_nsight_number(s, 2, NVTX_PUSH_POP);
	struct gt_nsight_type_key key = { .layer = GT_LAYER_USER, .category = GT_CAT_USER };
	struct gt_row row = { 0 };
	uint64_t args[3];
	unsigned nargs = 0;
	uint32_t domain, category;
	const char *text;

	if (type != NVTX_MARK && type != NVTX_PUSH_POP && type != NVTX_START_END)
		return 0;
	if (type == NVTX_MARK
			? !gt_nsight_time(n, s, 0, &row.start)
			: !gt_nsight_has(s, 1) || !gt_nsight_times(n, s, &row.start, &row.end))
		return 0;
	row.end = type == NVTX_MARK ? row.start : row.end;
	text = (const char *)sqlite3_value_text(s[4]);
	key.name = text ? gt_nsight_text(n, text, (size_t)sqlite3_value_bytes(s[4]))
			: gt_nsight_string(n, s, 5);
	domain = gt_nsight_string_or_none(n, s, 7);
	category = gt_nsight_string_or_none(n, s, 8);
	key.fields = (domain == GT_NONE ? 0 : GT_NSIGHT_DOMAIN) |
		(category == GT_NONE ? 0 : GT_NSIGHT_CATEGORY) |
		(gt_nsight_has(s, 6) ? GT_NSIGHT_COLOR : 0);
	if (domain != GT_NONE)
		args[nargs++] = domain;
	if (category != GT_NONE)
		args[nargs++] = category;
	args[nargs] = (uint64_t)sqlite3_value_int64(s[6]);
	return key.name == GT_NONE
		? n->err->code
		: gt_nsight_put(n, type == NVTX_MARK ? GT_INSTANT : GT_SPAN,
			  gt_nsight_thread(n, sqlite3_value_int64(s[3])), &row, &key, args);
}

/* ---- samples ---- */

/* Columns: start, globalTid, id. How long a thread ran between two samples is not in the table, so
 * these samples have no period. */
int gt_nsight_see_sample(struct gt_nsight *n, sqlite3_value **s)
{
	uint64_t stack = gt_nsight_stack(n, GT_NSIGHT_SAMPLE_STACKS, s, 2);
	struct gt_nsight_type_key key = { .name = gt_nsight_text(n, "sample", 6),
		.layer = GT_LAYER_SCHED,
		.op = GT_OP_SAMPLE,
		.fields = stack == GT_NONE ? 0 : GT_NSIGHT_STACK };
	struct gt_row row = { 0 };

	if (!gt_nsight_time(n, s, 0, &row.start))
		return 0;
	row.end = row.start;
	return key.name == GT_NONE
		? n->err->code
		: gt_nsight_put(n, GT_INSTANT, gt_nsight_thread(n, sqlite3_value_int64(s[1])), &row,
			  &key, &stack);
}

/* ---- scheduling ---- */

static bool switch_before(const void *a, const void *b)
{
	const struct gt_nsight_switch *x = a, *y = b;

	if (x->global != y->global)
		return x->global < y->global;
	return x->time != y->time ? x->time < y->time : x->in < y->in;
}

#define BUFFER 32768u

/* Columns: start, globalTid, isSchedIn, threadState. */
int gt_nsight_see_switch(struct gt_nsight *n, sqlite3_value **s)
{
	struct gt_nsight_switch *to;
	int64_t time;

	if (!n->switches.size &&
		gt_sorter_init(&n->switches, sizeof(*to), BUFFER, switch_before, n->err))
		return n->err->code;
	if (!gt_nsight_time(n, s, 0, &time))
		return 0;
	to = gt_sorter_add(&n->switches, n->err);
	if (!to)
		return n->err->code;
	*to = (struct gt_nsight_switch){ sqlite3_value_int64(s[1]), time,
		sqlite3_value_int64(s[2]) != 0, (uint32_t)gt_nsight_number(s, 3, GT_NONE) };
	return 0;
}

/* From ENUM_SAMPLING_THREAD_STATE; GT_SCHED_STATE_COUNT: it says nothing. A thread that could run
 * when it ended to run was preempted. */
static unsigned state_of(uint32_t state)
{
	return state == 1 || state == 6 ? GT_SCHED_PREEMPTED /* running, unscheduled */
		: state == 3            ? GT_SCHED_IO        /* uninterruptible */
		: state == 2 || state == 4 || state == 7
		? GT_SCHED_OTHER /* interruptible, stopped, waiting */
		: GT_SCHED_STATE_COUNT;
}

/* The types exist only if there are rows: reports see by them whether scheduling was recorded. */
int gt_nsight_put_sched(struct gt_nsight *n, uint32_t track, const struct gt_sched_row *row)
{
	int rc = n->sched_types.w ? 0 : gt_sched_types_init(&n->sched_types, n->w, n->err);

	return rc ? rc
		  : gt_nsight_row_is_done(
			    n, row->start, gt_sched_put(&n->sched_types, track, row, n->err));
}

/* The thread did not run from one switch to the next. */
static int put_switches(
	struct gt_nsight *n, const struct gt_nsight_switch *out, const struct gt_nsight_switch *in)
{
	unsigned state = state_of(out->state);
	struct gt_nsight_type_key key = {
		.layer = GT_LAYER_SCHED, .op = GT_OP_OFF_CPU, .category = GT_CAT_SCHEDULER
	};
	struct gt_row row = { .start = out->time, .end = in->time };
	uint32_t track = gt_nsight_thread(n, out->global);
	struct gt_sched_row sched = { .state = (enum gt_sched_state)state,
		.start = out->time,
		.end = in->time,
		.syscall = GT_SCHED_NO_SYSCALL };

	if (track == GT_NONE)
		return n->err->code;
	if (state < GT_SCHED_STATE_COUNT)
		return gt_nsight_put_sched(n, track, &sched);
	key.name = gt_nsight_text(n, "off CPU", 7);
	return key.name == GT_NONE ? n->err->code
				   : gt_nsight_put(n, GT_SPAN, track, &row, &key, NULL);
}

int gt_nsight_end_switches(struct gt_nsight *n)
{
	struct gt_nsight_switch now, out = { 0 };
	bool is_out = false;
	int rc = 0;

	while (n->switches.size && (rc = gt_sorter_next(&n->switches, &now, n->err)) > 0) {
		rc = 0;
		if (is_out && now.in && now.global == out.global)
			rc = put_switches(n, &out, &now);
		if (rc)
			return rc;
		is_out = !now.in;
		out = now;
	}
	gt_sorter_release(&n->switches);
	return rc;
}

/* ---- counters ---- */

/* Columns: typeId, metricId, metricName, typeName. */
int gt_nsight_see_metric_name(struct gt_nsight *n, sqlite3_value **s)
{
	const size_t key = offsetof(struct gt_nsight_metric, name);
	const char *name = (const char *)sqlite3_value_text(s[2]), *group;
	struct gt_nsight_metric m = { .source = sqlite3_value_int64(s[0]),
		.id = sqlite3_value_int64(s[1]),
		.group = GT_NONE };

	if (!name || gt_map_find_item(&n->metric_map, n->metrics, sizeof(m), &m, key) != GT_NONE)
		return 0;
	m.name = gt_nsight_text(n, name, (size_t)sqlite3_value_bytes(s[2]));
	group = (const char *)sqlite3_value_text(s[3]);
	if (group && m.name != GT_NONE)
		m.group = gt_nsight_text(n, group, (size_t)sqlite3_value_bytes(s[3]));
	if (n->err->code)
		return n->err->code;
	return gt_map_add_item(&n->metric_map, &n->metrics, &n->nmetrics, &n->metrics_cap,
		       sizeof(m), &m, key) == GT_NONE
		? gt_nsight_no_memory(n)
		: 0;
}

/* Columns: timestamp, typeId, metricId, value. Which GPU a type is of is not documented: each type
 * has a track. */
int gt_nsight_see_metric(struct gt_nsight *n, sqlite3_value **s)
{
	const struct gt_nsight_metric want = { .source = sqlite3_value_int64(s[1]),
		.id = sqlite3_value_int64(s[2]) };
	uint32_t i = gt_map_find_item(&n->metric_map, n->metrics, sizeof(want), &want,
		offsetof(struct gt_nsight_metric, name));
	bool real = sqlite3_value_type(s[3]) == SQLITE_FLOAT;
	struct gt_nsight_type_key key = { .name = i == GT_NONE ? gt_nsight_text(n, "?", 1)
							       : n->metrics[i].name,
		.layer = GT_LAYER_GPU,
		.fields = real ? GT_NSIGHT_F64 : GT_NSIGHT_I64 };
	uint64_t value = (uint64_t)sqlite3_value_int64(s[3]);
	double d = sqlite3_value_double(s[3]);
	struct gt_row row = { 0 };

	if (!gt_nsight_time(n, s, 0, &row.start) || !gt_nsight_has(s, 3))
		return 0;
	row.end = row.start;
	if (real)
		memcpy(&value, &d, sizeof(value));
	return key.name == GT_NONE ? n->err->code
				   : gt_nsight_put(n, GT_COUNTER,
					     gt_nsight_custom(n, want.source,
						     i == GT_NONE ? GT_NONE : n->metrics[i].group),
					     &row, &key, &value);
}
