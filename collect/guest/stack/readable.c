#define _GNU_SOURCE
#include "collect/guest/stack/readable.h"

#include <linux/futex.h>
#include "collect/guest/core/guest_system.h"

/* The system call compares the page's first word, wakes nobody and moves nobody. It is one that
 * programs permit themselves in a sandbox. */
bool gt_readable_try(struct gt_readable *r, uintptr_t address)
{
	uintptr_t page = address >> GT_READABLE_SHIFT;
	uint32_t other = 0;
	int saved = errno;
	bool fine;

	if (!page)
		return false;
	fine = syscall(SYS_futex, page << GT_READABLE_SHIFT, FUTEX_CMP_REQUEUE_PRIVATE, 0L, 0L,
		       &other, 0L) >= 0 ||
		errno == EAGAIN;
	errno = saved;
	if (fine)
		r->page[page % GT_READABLE_PAGES] = page;
	return fine;
}
