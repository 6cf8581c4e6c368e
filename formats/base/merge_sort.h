/* Sorts row numbers by their rows. The sort is stable. */
#ifndef GT_MERGE_SORT_H
#define GT_MERGE_SORT_H
#include <stdbool.h>
#include <stdint.h>

/* spare: memory for n more numbers. before: whether row a comes before row b. */
void gt_merge_sort(uint32_t *rows, uint32_t *spare, uint32_t n,
	bool (*before)(const void *arg, uint32_t a, uint32_t b), const void *arg);
#endif
