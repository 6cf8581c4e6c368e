/* Puts numbers of rows in order, when what is compared are the rows: equal ones stay as they were.
 */
#ifndef GT_ORDER_H
#define GT_ORDER_H
#include <stdbool.h>
#include <stdint.h>

/* spare: room for n more. before: does row a come before row b? */
void gt_order(uint32_t *rows, uint32_t *spare, uint32_t n,
	bool (*before)(const void *arg, uint32_t a, uint32_t b), const void *arg);
#endif
