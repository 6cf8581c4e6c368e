#include "analyze/columns/launch_fields.h"

#include "analyze/columns/column_cursor.h"

void gt_launch_fields_read(
	struct gt_launch_fields *l, const struct gt_cols *cols, uint32_t code, unsigned columns)
{
	static const unsigned roles[] = { GT_R_LAUNCH_TRACK, GT_R_LAUNCH_START, GT_R_LAUNCH_NS,
		GT_R_LAUNCH_NAME, GT_R_CORRELATION, GT_R_LAUNCH_JOIN };
	const uint64_t **const to[] = { &l->track, &l->start, &l->ns, &l->name, &l->correlation,
		&l->join };
	const struct gt_type *type = gt_cols_type(cols, code);

	*l = (struct gt_launch_fields){ .n = UINT32_MAX };
	columns |= GT_LAUNCH_JOIN;
	for (unsigned i = 0; i < sizeof(roles) / sizeof(*roles); i++) {
		uint32_t n = 0;

		if (!(columns & 1u << i))
			continue;
		*to[i] = type ? gt_cols_role(cols, code, roles[i], &n) : NULL;
		l->n = n < l->n ? n : l->n;
	}
}
