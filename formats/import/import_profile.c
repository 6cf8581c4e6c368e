#include "formats/import/import_profile.h"

#include <string.h>

static void classify(const char *name, unsigned group, struct gt_type *type)
{
	type->layer = group == GT_PROFILE_SAMPLE ? GT_LAYER_SCHED : GT_LAYER_USER;
	type->category = group == GT_PROFILE_SAMPLE ? GT_CAT_OTHER : GT_CAT_USER;
	type->op = group == GT_PROFILE_SAMPLE ? GT_OP_SAMPLE : GT_OP_NONE;
}

/* Those of sample_rows.h. Other arguments (a file, a count) have no role. */
static uint8_t role(unsigned group, const char *key, unsigned kind)
{
	if (group == GT_PROFILE_SAMPLE && !strcmp(key, "period"))
		return GT_R_VALUE;
	return group != GT_PROFILE_FUNCTION && !strcmp(key, "stack") ? GT_R_STACK : GT_R_NONE;
}

struct gt_import_rows *gt_profile_rows(
	const char *importer, struct gt_writer *w, struct gt_err *err)
{
	const struct gt_rows_config config = { .importer = importer,
		.mode = GT_PAIR_NESTED,
		.classify = classify,
		.role = role,
		.notes_lines = true };

	return gt_rows_new(&config, w, err);
}

int gt_profile_sample(struct gt_import_rows *r, uint32_t track, int64_t at, const char *event,
	uint64_t weight, uint32_t stack, struct gt_err *err)
{
	const char *name = event ? event : "sample";
	int64_t n = gt_rows_name(r, name, strlen(name), GT_PROFILE_SAMPLE, err);

	if (n < 0)
		return (int)n;
	gt_rows_no_args(r);
	if (weight != GT_PROFILE_NO_WEIGHT)
		gt_rows_number(r, event ? "count" : "period", weight);
	if (stack != GT_NONE)
		gt_rows_number(r, "stack", stack);
	return gt_rows_row(
		r, GT_INSTANT, track, (uint32_t)n, &(struct gt_row){ .start = at, .end = at }, err);
}

int gt_profile_function(struct gt_import_rows *r, uint32_t track, uint32_t name, int64_t start,
	int64_t end, size_t depth, struct gt_err *err)
{
	const bool ended = end != INT64_MIN;
	const struct gt_row row = { .start = start,
		.end = ended ? end : start,
		.depth = (uint8_t)(depth < UINT8_MAX ? depth : UINT8_MAX) };

	return gt_rows_row(r, ended ? GT_SPAN : GT_UNMATCHED, track, name, &row, err);
}

int gt_profile_track_name(struct gt_import_rows *r, struct gt_writer *w, uint32_t track,
	const char *name, size_t len, struct gt_err *err)
{
	const uint32_t id = gt_rows_track_id(r, track);
	const uint32_t text = id == GT_NONE ? GT_NONE : gt_writer_string_n(w, name, len);

	return text == GT_NONE ? gt_err_set(err, -ENOMEM, "out of memory (names of threads)")
			       : gt_writer_track_name(w, id, text, err);
}
