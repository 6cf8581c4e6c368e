/* Names of requests to the NVIDIA kernel driver: escapes, resource manager controls and classes,
 * UVM commands. */
#ifndef GT_IOCTL_NAMES_H
#define GT_IOCTL_NAMES_H
#include <stddef.h>
#include <stdint.h>

/* "/dev/nvidia0" of a file word (GT_DEV_* << 32 | minor). */
void gt_ioctl_file(char *to, size_t size, uint64_t file);
/* "ioctl RM_CONTROL NV2080_CTRL_CMD_GPU_GET_INFO_V2" of the words of a record; numbers in hex where
 * no name is known. */
void gt_ioctl_name(char *to, size_t size, uint64_t file, uint64_t request, uint64_t command);
#endif
