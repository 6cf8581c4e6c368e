/* The files of the NVIDIA kernel driver, as words of 64 bits. */
#ifndef GT_DRIVER_FILES_H
#define GT_DRIVER_FILES_H

/* the upper half of a file's word; the lower half is the minor number */
enum gt_driver_file {
	GT_DEV_CTL = 1,
	GT_DEV_GPU,
	GT_DEV_UVM,
	GT_DEV_UVM_TOOLS,
	GT_DEV_CAPS,
	GT_DEV_MODESET
};
#endif
