#include "formats/cmdline/did_you_mean.h"

#include <string.h>

#define LONGEST 28u

/* The Damerau-Levenshtein distance: how many letters must be replaced, deleted, inserted or swapped
 * with the next one. */
static unsigned typos(const char *a, const char *b)
{
	unsigned rows[3][LONGEST + 4] = { 0 }, n = (unsigned)strlen(b);

	for (unsigned j = 0; j <= n; j++)
		rows[0][j] = j;
	for (unsigned i = 1; a[i - 1]; i++) {
		unsigned *row = rows[i % 3], *up = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];

		row[0] = i;
		for (unsigned j = 1; j <= n; j++) {
			row[j] = up[j - 1] + (a[i - 1] != b[j - 1]);
			row[j] = up[j] + 1 < row[j] ? up[j] + 1 : row[j];
			row[j] = row[j - 1] + 1 < row[j] ? row[j - 1] + 1 : row[j];
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
				before[j - 2] + 1 < row[j])
				row[j] = before[j - 2] + 1;
		}
	}
	return rows[strlen(a) % 3][n];
}

void gt_nearest_try(struct gt_nearest *n, const char *name)
{
	size_t len = strlen(n->word);
	unsigned most = len < 6 ? 1 : 2, away;

	if (len < 3 || len >= LONGEST || strlen(name) >= LONGEST)
		return;
	away = strncmp(name, n->word, len) ? typos(n->word, name) : 0;
	if (away <= most &&
		(!n->best || away < n->typos ||
			(away == n->typos && strlen(name) < strlen(n->best)))) {
		n->best = name;
		n->typos = away;
	}
}

const char *gt_nearest_of(const char *word, const char *const *names)
{
	struct gt_nearest n = GT_NEAREST(word);

	for (; *names; names++)
		gt_nearest_try(&n, *names);
	return n.best;
}
