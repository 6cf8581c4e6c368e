/* The calls of a thread that nest, so that viewers draw them on one lane. */
#ifndef GT_CHROME_NESTING_H
#define GT_CHROME_NESTING_H
#include "formats/export/chrome/chrome_tracks.h"

/* Accepts and stores a call with its depth and the epoch of its block, or returns false: it would
 * partly overlap an accepted one, or there is no memory for its depth. Times in ns. */
bool gt_chrome_nests(struct gt_chrome_tracks *c, struct gt_chrome_track *t, int64_t start,
	int64_t end, unsigned depth, uint32_t epoch);
#endif
