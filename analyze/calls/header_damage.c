#include "analyze/calls/header_internal.h"

struct gt_header_damage gt_header_damage_of(struct gt_reader *r, uint32_t segment)
{
	struct gt_header_damage sum = { 0, 0 };
	size_t n;
	const struct gt_damage *d = gt_reader_damage(r, &n);

	for (size_t i = 0; i < n; i++)
		if (d[i].segment == segment) {
			sum.places++;
			sum.rows += d[i].rows;
		}
	return sum;
}

static const struct gt_column columns[] = {
	{ "recording", "Recording", GT_C_COUNT },
	{ "offset_bytes", "At byte", GT_C_COUNT },
	{ "rows", "Rows", GT_C_COUNT },
	{ "from_ns", "From", GT_C_TIME },
	{ "to_ns", "To", GT_C_TIME },
	{ "what", "What", GT_C_WHOLE },
};

struct gt_table *gt_header_damage_table(const struct gt_report_state *a)
{
	size_t n;
	const struct gt_damage *d = gt_reader_damage(a->reader, &n);
	size_t shown = gt_rows_shown(n, a->opt->top);
	struct gt_table *t =
		n ? gt_report_table(a, "damage", "Damage", columns, 6, NULL, NULL) : NULL;

	for (size_t i = 0; t && i < shown; i++) {
		const struct gt_segment *seg = gt_reader_segment(
			a->reader, d[i].segment < gt_reader_segments(a->reader) ? d[i].segment : 0);
		bool timed = d[i].rows && seg;

		gt_table_add(t,
			(struct gt_cell[]){ gt_cell_u(d[i].segment), gt_cell_u(d[i].offset),
				gt_cell_u(d[i].rows),
				timed ? gt_cell_time(a, seg, d[i].min_start) : gt_cell_none(),
				timed ? gt_cell_time(a, seg, d[i].max_end) : gt_cell_none(),
				gt_cell_text(d[i].text) });
	}
	if (t)
		gt_table_note_cut(t, n, shown);
	return t;
}
