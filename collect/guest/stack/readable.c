#include "collect/guest/stack/readable.h"

#include <sys/syscall.h>
#include "collect/guest/core/guest_system.h"

#define NO_SUCH_HOW 99 /* no operation of rt_sigprocmask: it reads the set and changes nothing */

bool gt_readable_try(struct gt_readable *r, uintptr_t address)
{
	uintptr_t page = address >> GT_READABLE_SHIFT;
	int saved = errno;
	bool fine;

	if (!page)
		return false;
	syscall(SYS_rt_sigprocmask, NO_SUCH_HOW, page << GT_READABLE_SHIFT, NULL, 8L);
	fine = errno == EINVAL;
	errno = saved;
	if (fine)
		r->page[page % GT_READABLE_PAGES] = page;
	return fine;
}
