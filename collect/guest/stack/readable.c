#define _GNU_SOURCE
#include "collect/guest/stack/readable.h"

#include <linux/futex.h>
#include "collect/guest/core/guest_system.h"

/* Two pages of one stack may have the same place, so a page may be at one of the next. */
#define PLACES 8

/* The system call compares the page's first word, and wakes and moves no thread. Programs permit it
 * to themselves in a sandbox. */
static bool try_page(uintptr_t page)
{
	uint32_t other = 0;
	int saved = errno;
	bool fine = syscall(SYS_futex, page << GT_READABLE_SHIFT, FUTEX_CMP_REQUEUE_PRIVATE, 0L, 0L,
			    &other, 0L) >= 0 ||
		errno == EAGAIN;

	errno = saved;
	return fine;
}

bool gt_readable_now(uintptr_t address)
{
	uintptr_t page = address >> GT_READABLE_SHIFT;

	return page && try_page(page);
}

bool gt_readable_try(struct gt_readable *r, uintptr_t address)
{
	uintptr_t page = address >> GT_READABLE_SHIFT, *place = &r->page[page % GT_READABLE_PAGES];

	if (!page)
		return false;
	for (unsigned i = 0; i < PLACES; i++) {
		uintptr_t *p = &r->page[(page + i) % GT_READABLE_PAGES];

		if (*p == page)
			return true;
		if (!*p && *place)
			place = p;
	}
	if (!try_page(page))
		return false;
	*place = page;
	return true;
}
