/* "is 'memory' meant?": of the words there are, the one that somebody who mistyped has probably
 *meant.
 *
 *	struct gt_nearest n = GT_NEAREST("tpo");
 *	gt_nearest_try(&n, "top");	... and all others
 *	if (n.best) ...
 */
#ifndef GT_NEAREST_H
#define GT_NEAREST_H

struct gt_nearest {
	const char *word;
	const char *best; /* borrowed from what was tried; NULL: nothing is near. Of two that are as
			   * near, the shorter one, or the first */
	unsigned typos;   /* that it is away */
};
#define GT_NEAREST(typed)                                                                          \
	{                                                                                          \
		.word = (typed)                                                                    \
	}
/* A word is near when it begins like the typed one (3 letters at least), or is 1 typo away (up to 5
 * letters) or 2 (more). Words of 28 letters and more are not near to anything. */
void gt_nearest_try(struct gt_nearest *n, const char *name);
/* of a list that NULL ends; NULL: none is near */
const char *gt_nearest_of(const char *word, const char *const *names);
#endif
