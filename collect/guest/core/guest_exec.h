/* Wrappers of exec and abort. */
#ifndef GT_GUEST_EXEC_H
#define GT_GUEST_EXEC_H
void gt_exec_find_functions(void);		/* finds the real functions; called when the guest library is loaded */
#endif
