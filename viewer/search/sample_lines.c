#include "viewer/search/sample_lines.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include "analyze/columns/column_cursor.h"
#include "analyze/stats/group_table.h"
#include "formats/base/buf.h"
#include "formats/names/stack_names.h"
#include "viewer/util/deadline.h"
#include "viewer/util/number_text.h"

#define LINES_MOST 4096u /* further ones count together */

struct line {
	uint32_t frame; /* string id, or GT_NONE: no stack, or without a function */
	uint64_t n;
};
struct gt_sample_lines {
	struct gt_archive *archive;
	struct gt_strip_key of;
	struct gt_range range; /* segment's time */
	struct gt_block_schedule visits;
	size_t at;
	struct gt_group_table lines;
	uint64_t n;
	struct gt_err *err; /* of the current step */
};

struct gt_sample_lines *gt_sample_lines_new(struct gt_archive *a, const struct gt_strip_key *of,
	int64_t from, int64_t to, struct gt_err *err)
{
	int64_t offset = gt_archive_offset(a, of->segment);
	struct gt_sample_lines *l = calloc(1, sizeof(*l));

	if (l) {
		l->archive = a;
		l->of = *of;
		l->range = (struct gt_range){ from + offset, to + offset };
		gt_group_table_init(
			&l->lines, sizeof(struct line), offsetof(struct line, n), LINES_MOST);
		if (!gt_block_schedule_add(&l->visits, a, of, 0) &&
			!gt_block_schedule_find(&l->visits, a, of->segment, l->range))
			return l;
		gt_sample_lines_free(l);
	}
	gt_err_set(err, -ENOMEM, "out of memory (samples)");
	return NULL;
}

void gt_sample_lines_free(struct gt_sample_lines *l)
{
	if (!l)
		return;
	gt_block_schedule_release(&l->visits);
	gt_group_table_release(&l->lines);
	free(l);
}

static int add_sample(struct gt_sample_lines *l, const struct gt_segment *seg, uint64_t stack)
{
	const struct line key = { .frame = gt_stack_caller(seg, stack) };
	uint32_t i = gt_group_table_find(&l->lines, &key, l->err);

	if (i == GT_GROUP_TABLE_NONE)
		return l->err->code;
	((struct line *)gt_group_table_at(&l->lines, i))->n++;
	l->n++;
	return 0;
}

static int add_run(void *arg, unsigned worker, const struct gt_cols *c)
{
	struct gt_sample_lines *l = arg;
	int rc = 0;

	for (uint32_t code = 0; !rc && c->track == l->of.track && code < c->ntypes; code++) {
		const struct gt_type *type = gt_cols_type(c, code);
		struct gt_column_cursor p;

		if (!type || type->op != GT_OP_SAMPLE)
			continue;
		gt_column_cursor_start(&p, c, code, GT_R_STACK, GT_R_NONE);
		while (!rc && gt_column_cursor_next(&p)) {
			uint64_t stack = GT_NONE;

			gt_column_cursor_value(&p, 0, &stack);
			if (c->start[p.row] >= l->range.from && c->start[p.row] < l->range.to)
				rc = add_sample(l, c->seg, stack);
		}
	}
	return rc;
}

int gt_sample_lines_step(struct gt_sample_lines *l, uint64_t us, struct gt_err *err)
{
	uint64_t deadline = gt_deadline(us);
	int rc = 0;

	l->err = err;
	while (!rc && l->at < l->visits.ntodo && !gt_deadline_is_over(deadline))
		rc = gt_archive_scan(l->archive, l->of.segment, l->visits.todo[l->at++].block, true,
			add_run, l, err);
	return rc ? rc : l->at < l->visits.ntodo;
}

/* The line with most samples after `last` in the order of numbers; NULL: none. */
static const struct line *next_line(const struct gt_sample_lines *l, const struct line *last)
{
	const struct line *best = NULL;

	for (size_t i = 0; i < l->lines.n; i++) {
		const struct line *one = gt_group_table_at(&l->lines, i);

		if (one->frame != GT_NONE &&
			(!last || one->n < last->n || (one->n == last->n && one > last)) &&
			(!best || one->n > best->n))
			best = one;
	}
	return best;
}

void gt_sample_lines_put(const struct gt_sample_lines *l, unsigned most, char *to, size_t room)
{
	const struct gt_segment *seg =
		gt_reader_segment(gt_archive_reader(l->archive), l->of.segment);
	const struct line *one = NULL;
	size_t n = 0;

	*to = 0;
	for (unsigned i = 0; i < most && n < room && (one = next_line(l, one)); i++) {
		struct gt_buf name = { 0 };
		char share[GT_BRIEF];

		gt_stack_row_name(&name, seg, one->frame, GT_STACK_LINE);
		gt_buf_byte(&name, 0);
		gt_brief_share(share, one->n, l->n);
		if (!name.failed)
			n += (size_t)snprintf(to + n, room - n, "%s%s %s", i ? ", " : "", share,
				(const char *)name.data);
		gt_buf_release(&name);
	}
}
