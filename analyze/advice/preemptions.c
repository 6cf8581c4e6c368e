/* Sums of preempted time by process. */
#include "analyze/advice/preemptions.h"

#include "analyze/columns/column_cursor.h"
#include "formats/base/numbers.h"
#include "formats/trace/write/sched_rows.h"

static void add(struct gt_preemptions *p, uint64_t pid, uint64_t ns)
{
	unsigned i = 0;

	p->ns = gt_sat_add(p->ns, ns);
	while (i < p->n && p->list[i].pid != pid)
		i++;
	if (i == GT_PREEMPTIONS_MAX)
		return;
	if (i == p->n)
		p->list[p->n++] = (struct gt_preemption){ .pid = pid };
	p->list[i].ns = gt_sat_add(p->list[i].ns, ns);
}

void gt_preemptions_run(struct gt_preemptions *p, const struct gt_cols *cols)
{
	for (uint32_t c = 0; cols->kind == GT_SPAN && c < cols->ntypes; c++) {
		const struct gt_type *type = gt_cols_type(cols, c);
		struct gt_column_cursor at;
		const uint64_t *pids;
		uint32_t n = 0;

		if (!type ||
			gt_sched_state_of(type, gt_str(cols->seg, type->name)) !=
				GT_SCHED_PREEMPTED)
			continue;
		pids = gt_cols_args(cols, c, GT_SCHED_BY_PID, &n);
		for (gt_column_cursor_start(&at, cols, c, GT_R_NONE, GT_R_NONE);
			pids && gt_column_cursor_next(&at) && at.nth <= n;)
			if (pids[at.nth - 1])
				add(p, pids[at.nth - 1], (uint64_t)cols->dur[at.row]);
	}
}

const struct gt_preemption *gt_preemptions_most(const struct gt_preemptions *p)
{
	const struct gt_preemption *most = NULL;

	for (unsigned i = 0; i < p->n; i++)
		most = !most || p->list[i].ns > most->ns ? &p->list[i] : most;
	return most;
}
