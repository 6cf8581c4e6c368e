/* A process in another mount namespace, such as a container, sees neither gtcollect's library nor
 * the session's socket. It gets the library as a file in memory, and its connection to the session
 * as one end of a pair of sockets that it makes itself. */
#ifndef GT_OTHER_ROOT_H
#define GT_OTHER_ROOT_H
#include "collect/inject/remote_call.h"

/* Does the process see this file at this path? */
bool gt_remote_sees_file(pid_t pid, const char *path);
/* Makes a file in the memory of the process, with the contents of `path`. Returns the process's
 * descriptor, or a negative error. */
int gt_remote_copy_file(struct gt_remote_thread *t, const char *path);
/* Makes a pair of sockets: *here is an end of gtcollect's, the result is the process's descriptor
 * of the other end, or a negative error. */
int gt_remote_connect(struct gt_remote_thread *t, int *here);
void gt_remote_close(struct gt_remote_thread *t, int descriptor);
#endif
