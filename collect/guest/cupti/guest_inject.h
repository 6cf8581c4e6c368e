/* Calls reported by CUPTI's callbacks, where the program's calls do not pass through wrappers. */
#ifndef GT_GUEST_INJECT_H
#define GT_GUEST_INJECT_H
/* Starts CUPTI's records and callbacks for the session. The caller is inside guest code. */
void gt_inject_start(void);
#endif
