/* Descriptors that are closed at the same time. The kernel waits for all processors when a probe is
 * removed, some 60 ms for each link: many threads close them, so that their waits are the same. */
#ifndef GT_DESCRIPTOR_LIST_H
#define GT_DESCRIPTOR_LIST_H
#include <stddef.h>

struct gt_descriptor_list {
	int *list;
	size_t n, cap;
};
/* Without memory the descriptor is closed at once. */
void gt_descriptor_list_add(struct gt_descriptor_list *l, int fd);
/* Closes all, and releases the list. */
void gt_descriptor_list_close(struct gt_descriptor_list *l);
#endif
