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

/* Keeps the line if it is among the longest. */
static void add_line(struct gt_waiting_lines *l, const char *name, uint64_t ns, const char *did)
{
	unsigned at = l->n;

	while (at && l->list[at - 1].ns < ns)
		at--;
	if (at == GT_WAITING_LINES)
		return;
	l->n += l->n < GT_WAITING_LINES;
	memmove(&l->list[at + 1], &l->list[at], (l->n - at - 1) * sizeof(*l->list));
	snprintf(l->list[at].name, sizeof(l->list[at].name), "%s", name);
	l->list[at].ns = ns;
	l->list[at].did = did;
}

/* A name in parentheses stands for time without a stack. */
static int find_lines(struct gt_waiting_lines *l, const struct gt_idle *s, uint32_t doings,
	const char *did, struct gt_err *err)
{
	struct gt_caller_sums sums = { .list = NULL };
	int rc = gt_host_lines_collect(
		&sums, s, GT_STACK_LINE, &(struct gt_host_selection){ .doings = doings }, err);

	if (!rc)
		gt_caller_sums_sort(&sums, GT_HOST_IDLE);
	for (size_t i = 0; !rc && i < sums.n; i++) {
		const char *name = gt_caller_name(&sums, &sums.list[i]);
		uint64_t ns = sums.list[i].self[GT_HOST_IDLE].total;

		if (*name != '(' && ns)
			add_line(l, name, ns, did);
	}
	gt_caller_sums_release(&sums);
	return rc;
}

int gt_host_waiting_find(struct gt_host_waiting *w, const struct gt_idle *s, struct gt_err *err)
{
	int rc = 0;

	if (!s->shares.wanted)
		return 0;
	rc = find_lines(&w->running, s, RUNS, NULL, err);
	for (unsigned d = 0; !rc && d < GT_HOST_DOING_COUNT; d++)
		if (WAITS & GT_BIT(d))
			rc = find_lines(&w->waits, s, GT_BIT(d), gt_host_doing_words(d), err);
	return rc;
}

void gt_waiting_lines_put(
	const struct gt_waiting_lines *l, uint64_t all, const char *before, char *text, size_t size)
{
	for (unsigned i = 0; i < l->n && l->list[i].ns >= all / LEAST; i++) {
		size_t n = strlen(text);

		snprintf(text + n, size - n, "%s%.0f %% %s%sin %s", i ? ", " : before,
			100.0 * (double)l->list[i].ns / (double)all,
			l->list[i].did ? l->list[i].did : "", l->list[i].did ? " " : "",
			l->list[i].name);
	}
}
