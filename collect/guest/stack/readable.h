/* Reads of memory that the program may have damaged: frames of an interpreter, words of a stack.
 *
 * A pointer is followed only if its page was read once without a fault. A thread remembers such
 * pages in a table; a page that is not there is tried by a system call that reads
 * one word of it and reports a fault as an error. So no read can fault, unless the program
 * unmaps a page and a damaged pointer leads to that page afterwards. */
#ifndef GT_GUEST_READABLE_H
#define GT_GUEST_READABLE_H
#include "collect/guest/core/guest_common.h"

#define GT_READABLE_PAGES 1024
#define GT_READABLE_SHIFT 12

/* Of one thread; all zeros at first. */
struct gt_readable {
	uintptr_t page[GT_READABLE_PAGES]; /* address >> GT_READABLE_SHIFT; 0: none */
};

/* Can the page of this address be read now? Costs a system call each time; the page is not
 * remembered. For memory that the program may unmap rightly, as the mapping beside a stack. */
bool gt_readable_now(uintptr_t address);

/* Tries the page of this address, and remembers it if it can be read. */
bool gt_readable_try(struct gt_readable *r, uintptr_t address);

static inline bool gt_readable_page(struct gt_readable *r, uintptr_t address)
{
	uintptr_t page = address >> GT_READABLE_SHIFT;

	return gt_likely(r->page[page % GT_READABLE_PAGES] == page && page) ||
		gt_readable_try(r, address);
}

/* Can these bytes be read? bytes: 1 to the size of a page. */
static inline bool gt_readable(struct gt_readable *r, uintptr_t address, size_t bytes)
{
	uintptr_t last = address + bytes - 1;

	return gt_readable_page(r, address) &&
		(gt_likely(!((address ^ last) >> GT_READABLE_SHIFT)) ||
			(last > address && gt_readable_page(r, last)));
}
#endif
