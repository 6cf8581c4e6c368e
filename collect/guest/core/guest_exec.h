/* Wrappers of exec and abort. */
#ifndef GT_GUEST_EXEC_H
#define GT_GUEST_EXEC_H
/* finds the real functions; called when the guest library is loaded */
void gt_exec_find_functions(void);
#endif
