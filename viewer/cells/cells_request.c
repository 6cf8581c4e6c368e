#include "viewer/cells/cells_request.h"

#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"

void gt_cells_request_release(struct gt_cells_request *a)
{
	free(a->of);
	*a = (struct gt_cells_request){ .n = 0 };
}

bool gt_same_window(const struct gt_cell_window *a, const struct gt_cell_window *b)
{
	return a->first == b->first && a->shift == b->shift && a->cells == b->cells;
}

int gt_cells_request_update(struct gt_lane_cells *s, struct gt_cells_request *a,
	const struct gt_cell_window *w, const struct gt_strip_key *of, size_t n, struct gt_err *err)
{
	bool same = a->n == n && gt_same_window(&a->window, w);
	int rc;

	for (size_t i = 0; same && i < n; i++)
		same = gt_same_strip(&a->of[i], &of[i]);
	if (same)
		return 0;
	if (gt_grow(&a->of, &a->cap, n + 1, sizeof(*of)))
		return gt_err_set(err, -ENOMEM, "out of memory");
	memcpy(a->of, of, n * sizeof(*of));
	a->n = n;
	a->window = *w;
	rc = gt_lane_cells_request(s, w, of, n, err);
	return rc ? rc : 1;
}
