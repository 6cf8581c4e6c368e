/* All metadata that the recorder wrote, by recording, as text. */
#include "analyze/core/report.h"
#include "formats/trace/meta.h"

static const struct gt_column meta_columns[] = {
	{ "recording", "Recording", GT_C_COUNT }, { "key", "Key", GT_C_TEXT },
	{ "value", "Value", GT_C_WHOLE }, { "data", NULL, GT_C_DATA }, /* the value with its type */
};
struct meta {
	struct gt_table *t;
	const struct gt_segment *seg;
};

static int add_meta(void *arg, const char *key, const char *value, const char *json)
{
	struct meta *m = arg;

	if (*value) /* an option that was not given has no value */
		gt_table_add(m->t,
			(struct gt_cell[]){ gt_cell_u(m->seg->index), gt_cell_text(key),
				gt_cell_text(value), gt_cell_text(json) });
	return 0;
}

static int metadata_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	const struct gt_report_state *a = state;
	struct meta m = { .seg = NULL };
	int rc = 0;

	tables[0] = m.t = gt_report_table(a, "metadata", "Metadata", meta_columns, 4, NULL, err);
	if (m.t)
		gt_table_wrap_last_column(m.t, 120);
	for (uint32_t i = 0; m.t && !rc && i < gt_reader_segments(a->reader); i++) {
		m.seg = gt_reader_segment(a->reader, i);
		rc = gt_meta_each_typed(m.seg, add_meta, &m);
	}
	return m.t && !rc ? 1 : gt_err_set(err, -ENOMEM, "out of memory (metadata)");
}

const struct gt_analysis gt_metadata_report = {
	.name = "metadata",
	.per_recording = true,
	.help = "metadata of the recorder: machine, environment, options, totals",
	.splits = GT_BY_BLOCK,
	.state_size = sizeof(struct gt_report_state),
	.init = gt_report_state_init,
	.finish = metadata_finish,
};
