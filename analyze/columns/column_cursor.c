#include "analyze/columns/column_cursor.h"
#include "formats/base/sorted.h"

#include <string.h>

const uint64_t *gt_cols_role(const struct gt_cols *cols, uint32_t code, unsigned role, uint32_t *n)
{
	uint32_t field = gt_type_field(gt_cols_type(cols, code), role);

	*n = 0;
	return field == GT_NONE ? NULL : gt_cols_args(cols, code, field, n);
}

int32_t gt_cols_ret(const struct gt_cols *cols, uint32_t i)
{
	size_t low = GT_LOWER_BOUND(k, 0, cols->nret, cols->ret_row[k] < i);

	return low < cols->nret && cols->ret_row[low] == i ? cols->ret[low] : 0;
}

void gt_column_cursor_start(struct gt_column_cursor *p, const struct gt_cols *cols, uint32_t code,
	unsigned role0, unsigned role1)
{
	const struct gt_type *type = gt_cols_type(cols, code);
	const unsigned roles[2] = { role0, role1 };

	memset(p, 0, sizeof(*p));
	p->cols = cols;
	p->code = code;
	p->rows = gt_cols_rows(cols, code, &p->nrows);
	for (unsigned i = 0; type && i < 2; i++) {
		uint32_t field = roles[i] ? gt_type_field(type, roles[i]) : GT_NONE, n = 0;

		p->values[i] = field == GT_NONE ? NULL : gt_cols_args(cols, code, field, &n);
		p->nvalues[i] = p->values[i] ? n : 0;
	}
}

/* The next row with this code, or n. It compares four codes at a time: most rows have another
 * code. */
static uint32_t find_code(const uint16_t *codes, uint32_t i, uint32_t n, uint16_t code)
{
	const uint64_t each = 0x0001000100010001ULL;
	uint64_t four;

	for (; i + 4 <= n; i += 4) {
		memcpy(&four, codes + i, sizeof(four));
		four ^= code * each;
		if ((four - each) & ~four & each << 15)
			break;
	}
	while (i < n && codes[i] != code)
		i++;
	return i;
}

bool gt_column_cursor_next(struct gt_column_cursor *p)
{
	const struct gt_cols *c = p->cols;

	if (p->rows) {
		if (p->nth == p->nrows)
			return false;
		p->row = p->rows[p->nth];
	} else {
		if (c->code)
			p->next = find_code(c->code, p->next, c->n, (uint16_t)p->code);
		if (p->next == c->n || (!c->code && p->code))
			return false;
		p->row = p->next++;
	}
	p->nth++;
	while (p->next_ret < c->nret && c->ret_row[p->next_ret] < p->row)
		p->next_ret++;
	p->ret = p->next_ret < c->nret && c->ret_row[p->next_ret] == p->row ? c->ret[p->next_ret]
									    : 0;
	return true;
}
