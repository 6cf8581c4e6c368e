#define _GNU_SOURCE /* strsep */
/* Arbitrary values of --where, --by, --agg and --order-by, one per line: each is a query, or an
 * error with a position within the invalid text. */
#include <stdlib.h>
#include <string.h>
#include "analyze/query/query.h"

static void check_error(const char *wrong, const struct gt_err *err)
{
	if (!err->code || !*err->text || strchr(err->text, '\n') ||
		(err->offset != GT_NO_OFFSET && err->offset > strlen(wrong)))
		abort();
}

static void check_query(const struct gt_query *q)
{
	struct gt_analysis report = { .order = GT_ANY_ORDER };

	gt_query_configure(q, &report);
	for (unsigned i = 0; i < q->nnodes; i++) {
		const struct gt_query_node *n = &q->nodes[i];

		if ((n->op != GT_Q_TEST && (n->left >= i || n->right >= i)) ||
			n->column + n->length > strlen(q->where) || n->use >= q->nuses)
			abort();
		if (n->op == GT_Q_TEST && n->text && n->test != GT_Q_WORDS)
			gt_query_text_matches(n, "cuLaunchKernel");
	}
	for (unsigned i = 0; i < q->nby + q->naggs; i++)
		if (!q->columns[i].key || !q->columns[i].title)
			abort();
	if (q->order >= q->naggs)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *lines[4] = { NULL }, *rest;
	const char *option = NULL, *wrong = NULL;
	struct gt_err err = GT_ERR_INIT;
	struct gt_query *q;

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	rest = text;
	for (int i = 0; i < 4 && rest && *rest; i++) {
		char *line = strsep(&rest, "\n");

		lines[i] = *line ? line : NULL;
	}
	q = gt_query_new(lines[0], lines[1], lines[2], lines[3], &option, &wrong, &err);
	if (q)
		check_query(q);
	else
		check_error(wrong, &err);
	gt_query_free(q);
	free(text);
	return 0;
}
