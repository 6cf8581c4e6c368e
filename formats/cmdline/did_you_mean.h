/* Suggestions for misspelt words: finds the valid word that is nearest to the typed one.
 *
 *	struct gt_nearest n = GT_NEAREST("tpo");
 *	gt_nearest_try(&n, "top");	... and all others
 *	if (n.best) ...
 */
#ifndef GT_DID_YOU_MEAN_H
#define GT_DID_YOU_MEAN_H

struct gt_nearest {
	const char *word;
	/* The nearest word so far, borrowed, or NULL. Of two equally near words the shorter one
	 * wins, then the first. */
	const char *best;
	unsigned typos; /* of `word` with respect to `best` */
};
#define GT_NEAREST(typed)                                                                          \
	{                                                                                          \
		.word = (typed)                                                                    \
	}
/* A word is near if it begins with the typed one (3 letters or more), or differs from it by 1 typo
 * (up to 5 letters) or by up to 2 typos (6 letters or more). Words of 28 letters or more are near
 * to no other. */
void gt_nearest_try(struct gt_nearest *n, const char *name);
/* The nearest word of a list that ends with NULL, or NULL. */
const char *gt_nearest_of(const char *word, const char *const *names);
#endif
