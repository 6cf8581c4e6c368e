/* Flame graph of the host's time: below each thread the stacks in which samples found it running,
 * and those in which it waited, with the reason of the wait at the end. A sample stands for its
 * period, so running time is statistical; waits are exact. */
#include "analyze/flame/stack_flame.h"

#include <stdio.h>
#include "analyze/columns/column_cursor.h"
#include "formats/trace/write/sched_rows.h"

#define RUNNING 0u /* as `last`; else 1 + enum gt_sched_state */

struct flame_host {
	struct gt_flame_sums sums;
	uint64_t samples;
	uint64_t unweighted; /* samples of another event than processor time */
};

static const char *last_frame(uint32_t last, char to[64])
{
	if (last == RUNNING)
		return NULL;
	snprintf(to, 64, "[%s]", gt_sched_name(last - 1));
	return to;
}

static int init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct flame_host *h = state;

	gt_flame_sums_init(&h->sums, r, opt);
	h->sums.last_frame = last_frame;
	return 0;
}

/* Rows of one type: samples, or a state off the processor (GT_SCHED_STATE_COUNT: samples). */
static int add_rows(struct flame_host *h, const struct gt_cols *cols, uint32_t code, unsigned state,
	struct gt_err *err)
{
	struct gt_range range = gt_range_of(&h->sums.report.opt->filter, cols->seg);
	struct gt_flame_sum key = { .segment = cols->seg->index, .track = cols->track };
	struct gt_column_cursor p;
	int rc = 0;

	gt_column_cursor_start(&p, cols, code, GT_R_STACK, GT_R_VALUE);
	while (!rc && gt_column_cursor_next(&p)) {
		int64_t start = cols->start[p.row];
		uint64_t v, ns = 0;

		key.stack = gt_column_cursor_value(&p, 0, &v) && v < cols->seg->nstacks
			? (uint32_t)v
			: GT_NONE;
		key.last = state == GT_SCHED_STATE_COUNT ? RUNNING : 1 + state;
		if (state != GT_SCHED_STATE_COUNT)
			ns = gt_ns_in_range(range, start, start + cols->dur[p.row]);
		else if (gt_column_cursor_value(&p, 1, &ns))
			h->samples++;
		else
			h->unweighted++;
		rc = gt_flame_sums_add(&h->sums, &key, ns, err);
	}
	return rc;
}

static int block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	int rc = 0;

	for (uint32_t c = 0; !rc && c < cols->ntypes; c++) {
		const struct gt_type *type = gt_cols_type(cols, c);
		const char *name = type ? gt_str(cols->seg, type->name) : NULL;

		if (type && (type->op == GT_OP_SAMPLE || type->op == GT_OP_OFF_CPU))
			rc = add_rows(state, cols, c, gt_sched_state_of(type, name), err);
	}
	return rc;
}

static int finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct flame_host *h = state;
	struct gt_reader *r = h->sums.report.reader;

	if (!gt_has_samples(r) && !gt_has_thread_states(r)) {
		tables[0] = gt_flame_unanswered(&h->sums,
			gt_is_imported(r) ? "the file has no samples of threads"
					  : "no samples were recorded (gtcollect -e samples,sched)",
			err);
		return tables[0] ? 1 : err->code;
	}
	if (!h->samples && h->unweighted && !gt_has_thread_states(r)) {
		tables[0] = gt_flame_unanswered(&h->sums,
			"the samples count other events than processor time (query --by name has their number)",
			err);
		return tables[0] ? 1 : err->code;
	}
	tables[0] = gt_flame_sums_table(
		&h->sums, "Time of the host's threads by stack, in ns", "host", err);
	if (!tables[0])
		return err->code;
	gt_table_note(tables[0], "running: by %llu samples, statistical; %s",
		(unsigned long long)h->samples,
		gt_has_thread_states(r) ? "waits [in brackets]: exact"
					: "waits were not recorded (gtcollect -e sched)");
	return 1;
}

static void release(void *state) { gt_flame_sums_release(state); }

const struct gt_analysis gt_flame_host = {
	.name = "flame-host",
	.help = "time of the host's threads by stack",
	.wants = GT_BIT(GT_INSTANT) | GT_BIT(GT_SPAN),
	.wants_args = true,
	.state_size = sizeof(struct flame_host),
	.init = init,
	.block = block,
	.finish = finish,
	.release = release,
};
