#include "analyze/advice/waiting_lines.h"

#include <stdio.h>
#include <string.h>
#include "analyze/idle/host_lines.h"

#define LEAST 20 /* a line with less than this part is not named */
#define RUNS (GT_BIT(GT_DOES_PYTHON) | GT_BIT(GT_DOES_NATIVE))
#define WAITS                                                                                      \
	(GT_BIT(GT_DOES_GIL) | GT_BIT(GT_DOES_LOCK) | GT_BIT(GT_DOES_IO) | GT_BIT(GT_DOES_PIPE) |  \
		GT_BIT(GT_DOES_SOCKET) | GT_BIT(GT_DOES_ASLEEP) | GT_BIT(GT_DOES_FAULT) |          \
		GT_BIT(GT_DOES_OFF_CPU))

/* A name in parentheses stands for time without a stack. */
static int find_lines(
	struct gt_waiting_lines *l, const struct gt_idle *s, uint32_t doings, struct gt_err *err)
{
	struct gt_caller_sums sums = { .list = NULL };
	int rc = gt_host_lines_collect(
		&sums, s, GT_STACK_LINE, &(struct gt_host_selection){ .doings = doings }, err);

	if (!rc)
		gt_caller_sums_sort(&sums, GT_HOST_IDLE);
	for (size_t i = 0; !rc && i < sums.n && l->n < GT_WAITING_LINES; i++) {
		const struct gt_caller_sum *one = &sums.list[i];
		const char *name = gt_caller_name(&sums, one);
		struct gt_waiting_line *to = &l->list[l->n];

		if (*name == '(' || !one->self[GT_HOST_IDLE].total)
			continue;
		snprintf(to->name, sizeof(to->name), "%s", name);
		to->ns = one->self[GT_HOST_IDLE].total;
		l->n++;
	}
	gt_caller_sums_release(&sums);
	return rc;
}

int gt_host_waiting_find(struct gt_host_waiting *w, const struct gt_idle *s, struct gt_err *err)
{
	int rc = 0;

	if (!s->shares.wanted)
		return 0;
	rc = find_lines(&w->running, s, RUNS, err);
	return rc ? rc : find_lines(&w->waits, s, WAITS, err);
}

void gt_waiting_lines_put(
	const struct gt_waiting_lines *l, uint64_t all, const char *before, char *text, size_t size)
{
	for (unsigned i = 0; i < l->n && l->list[i].ns >= all / LEAST; i++) {
		size_t n = strlen(text);

		snprintf(text + n, size - n, "%s%.0f %% in %s", i ? ", " : before,
			100.0 * (double)l->list[i].ns / (double)all, l->list[i].name);
	}
}
