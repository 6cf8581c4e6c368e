/* The annotations of a memory snapshot: ranges of the program (record_function, steps of the
 * profiler), recorded with global_record_annotations. Each is a START and an END with name, device
 * and time_us; they become spans on a track of their own below the device. One without the other is
 * an unmatched row. */
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/import/torch/import_torch_memory.h"

#define OPEN_MOST 4096u /* annotations without an END so far */

struct annotation {
	const char *name, *stage;
	size_t name_len, stage_len;
	int64_t device, time_us;
	bool has_time;
};
struct annotations {
	struct annotation *open;
	size_t n, cap;
};

static int read_one(struct gt_pickle_cursor *c, struct annotation *a, struct gt_err *err)
{
	const char *key;
	size_t len;
	int token;

	while ((token = gt_pickle_pair(c, &key, &len, err)) > 0) {
		if (gt_pickle_is(key, len, "name"))
			gt_torch_text(token, c, &a->name, &a->name_len);
		else if (gt_pickle_is(key, len, "stage"))
			gt_torch_text(token, c, &a->stage, &a->stage_len);
		else if (gt_pickle_is(key, len, "device"))
			gt_torch_integer(token, c, &a->device);
		else if (gt_pickle_is(key, len, "time_us"))
			a->has_time = gt_torch_time(token, c, &a->time_us);
		gt_pickle_skip(c);
	}
	return token;
}

/* Removes the last START before an END of the same name and device. False: there is none. */
static bool pop(struct annotations *all, const struct annotation *end, struct annotation *start)
{
	for (size_t i = all->n; i-- > 0;) {
		*start = all->open[i];
		if (start->device != end->device || start->name_len != end->name_len ||
			memcmp(start->name, end->name, end->name_len) ||
			start->time_us > end->time_us)
			continue;
		memmove(all->open + i, all->open + i + 1, (--all->n - i) * sizeof(*all->open));
		return true;
	}
	return false;
}

static int put_range(struct gt_torch_import *t, enum gt_kind kind, const struct annotation *a,
	int64_t end_us, int32_t ret, struct gt_err *err)
{
	int64_t track = gt_torch_track(t, a->device, 1, "annotations", err), name;
	struct gt_row row = { .start = a->time_us * 1000, .end = end_us * 1000, .ret = ret };

	if (track < 0)
		return (int)track;
	name = gt_rows_name(t->rows, a->name, a->name_len, GT_TORCH_RANGES, err);
	if (name < 0)
		return (int)name;
	gt_rows_no_args(t->rows);
	return gt_rows_row(t->rows, kind, (uint32_t)track, (uint32_t)name, &row, err);
}

static int add(struct gt_torch_import *t, struct annotations *all, const struct annotation *a,
	struct gt_err *err)
{
	bool is_start = gt_pickle_is(a->stage, a->stage_len, "START");
	struct annotation start;

	if (!a->has_time || !a->name_len ||
		(!is_start && !gt_pickle_is(a->stage, a->stage_len, "END")) ||
		(is_start && all->n == OPEN_MOST)) {
		t->not_understood++;
		return 0;
	}
	if (a->time_us < t->first_us)
		t->first_us = a->time_us;
	if (!is_start && pop(all, a, &start))
		return put_range(t, GT_SPAN, &start, a->time_us, 0, err);
	if (!is_start)
		return put_range(t, GT_UNMATCHED, a, a->time_us, 1, err);
	if (gt_grow(&all->open, &all->cap, all->n + 1, sizeof(*all->open)))
		return gt_torch_no_memory(err);
	all->open[all->n++] = *a;
	return 0;
}

int gt_torch_read_annotations(struct gt_torch_import *t, gt_pickle_value list, struct gt_err *err)
{
	struct annotations all = { 0 };
	struct gt_pickle_cursor c;
	int token, e = 0;

	gt_pickle_open(&c, t->pickle, list);
	token = gt_pickle_next(&c, err);
	while (!e && token > 0 && (token = gt_pickle_element(&c, err)) > 0) {
		struct annotation a = { .name = "", .stage = "" };

		if (token == GT_JSON_OBJECT)
			e = read_one(&c, &a, err);
		gt_pickle_skip(&c);
		e = e ? e : add(t, &all, &a, err);
	}
	e = e ? e : token < 0 ? token : 0;
	for (size_t i = 0; !e && i < all.n; i++)
		e = put_range(t, GT_UNMATCHED, &all.open[i], all.open[i].time_us, 0, err);
	free(all.open);
	return e;
}
