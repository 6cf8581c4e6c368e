/* Iterates over the rows of a run that have one code, with their arguments and return codes. It is
 * for the few types whose arguments a report reads. One iteration reads the code of each row once.
 *
 *	struct gt_column_cursor p;
 *	gt_column_cursor_start(&p, cols, code, GT_R_BYTES, GT_R_ADDR);
 *	while (gt_column_cursor_next(&p))
 *		... p.row, p.ret, gt_column_cursor_value(&p, 0, &bytes)
 */
#ifndef GT_COLUMN_CURSOR_H
#define GT_COLUMN_CURSOR_H
#include "formats/trace/read/reader.h"

struct gt_column_cursor {
	const struct gt_cols *cols;
	uint32_t code;
	uint32_t row; /* index into the columns */
	int32_t ret;
	/* private from here on */
	const uint64_t *values[2];
	const uint32_t *rows; /* NULL: all rows */
	uint32_t nvalues[2], nrows, nth, next, next_ret;
};

void gt_column_cursor_start(struct gt_column_cursor *p, const struct gt_cols *cols, uint32_t code,
	unsigned role0, unsigned role1);
bool gt_column_cursor_next(struct gt_column_cursor *p);
/* The field with the first (0) or second (1) role. false: not recorded. */
static inline bool gt_column_cursor_value(
	const struct gt_column_cursor *p, unsigned which, uint64_t *value)
{
	if (p->nth > p->nvalues[which])
		return false;
	*value = p->values[which][p->nth - 1];
	return true;
}

/* The type of a code. NULL: losses have none. */
static inline const struct gt_type *gt_cols_type(const struct gt_cols *cols, uint32_t code)
{
	return cols->types[code] < cols->seg->ntypes ? &cols->seg->types[cols->types[code]] : NULL;
}
/* The values of the first field with this role, as from gt_cols_args. NULL and 0: no such field. */
const uint64_t *gt_cols_role(const struct gt_cols *cols, uint32_t code, unsigned role, uint32_t *n);
/* return value of row i; binary search */
int32_t gt_cols_ret(const struct gt_cols *cols, uint32_t i);
#endif
