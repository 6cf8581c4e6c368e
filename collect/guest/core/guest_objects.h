/* List of the loaded libraries, also in a forked child, where the loader's lock may stay locked for
 * ever. */
#ifndef GT_GUEST_OBJECTS_H
#define GT_GUEST_OBJECTS_H
#include "collect/guest/core/guest_common.h"

struct dl_phdr_info;
typedef int gt_object_visit(struct dl_phdr_info *info, size_t size, void *arg);
/* Calls look for each loaded library in load order until it returns non-zero, and returns that
 * value. In a forked child it takes no lock, and paths are spelled as in the loader's list. */
int gt_for_each_object(gt_object_visit *look, void *arg);
/* Is no library being loaded or closed? Meaningful if only this thread could do so. */
bool gt_loader_is_idle(void);
bool gt_is_forked(void); /* this process is a forked child */
/* In a forked child: are the locks of the loader and of atexit free? A thread takes them; if that
 * needs more than one second they count as locked. True in other processes. */
bool gt_locks_are_free(void);
/* with all signals blocked; false: it could not be started */
bool gt_start_thread(void *(*run)(void *), void *arg);
/* in a forked child: makes the system calls that the first listing needs */
void gt_objects_verify(void);
#endif
