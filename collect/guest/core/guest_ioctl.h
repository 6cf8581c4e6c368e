/* Wrappers of ioctl, open, close and mmap: calls on the driver's files are recorded. */
#ifndef GT_GUEST_IOCTL_H
#define GT_GUEST_IOCTL_H
/* finds the real functions; called when the guest library is loaded */
void gt_ioctl_find_functions(void);
#endif
