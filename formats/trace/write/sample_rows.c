#include "formats/trace/write/sample_rows.h"

#include <errno.h>

static uint32_t make_type(struct gt_writer *w, uint8_t nfields)
{
	struct gt_field fields[] = { { gt_writer_string(w, "period"), GT_F_U64, GT_R_VALUE },
		{ gt_writer_string(w, "stack"), GT_F_U64, GT_R_STACK } };
	struct gt_type type = { .name = gt_writer_string(w, "sample"),
		.category = GT_CAT_OTHER,
		.op = GT_OP_SAMPLE,
		.layer = GT_LAYER_SCHED,
		.nfields = nfields,
		.fields = fields };

	return gt_writer_type(w, &type);
}

int gt_sample_types_init(struct gt_sample_types *t, struct gt_writer *w, struct gt_err *err)
{
	*t = (struct gt_sample_types){ w, make_type(w, 1), make_type(w, 2) };
	if (t->plain == GT_NONE || t->stacked == GT_NONE) {
		t->w = NULL;
		return gt_err_set(err, -ENOMEM, "out of memory (types of samples)");
	}
	return 0;
}

int gt_sample_put(const struct gt_sample_types *t, uint32_t track, int64_t at, uint64_t period,
	uint32_t stack, struct gt_err *err)
{
	const uint64_t args[] = { period, stack };
	const bool has_stack = stack != GT_NONE;
	const struct gt_row row = { .start = at,
		.end = at,
		.type = has_stack ? t->stacked : t->plain,
		.nargs = has_stack ? 2 : 1 };

	return gt_writer_row(t->w, GT_INSTANT, track, &row, args, err);
}
