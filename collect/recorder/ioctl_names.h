/* Names of requests to the NVIDIA kernel driver: escapes, resource manager controls and classes,
 * UVM commands. */
#ifndef GT_IOCTL_NAMES_H
#define GT_IOCTL_NAMES_H
#include <stddef.h>
#include <stdint.h>

/* Writes the path of a file word (GT_DEV_* << 32 | minor): "/dev/nvidia0". */
void gt_ioctl_file(char *to, size_t size, uint64_t file);
/* Writes the name of a request: "ioctl RM_CONTROL NV2080_CTRL_CMD_GPU_GET_INFO_V2". Numbers
 * without a name are written in hex. */
void gt_ioctl_name(char *to, size_t size, uint64_t file, uint64_t request, uint64_t command);
#endif
