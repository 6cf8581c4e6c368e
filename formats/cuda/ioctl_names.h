/* Names of requests to the NVIDIA kernel driver: escapes, resource manager controls and classes,
 * UVM commands. */
#ifndef GT_IOCTL_NAMES_H
#define GT_IOCTL_NAMES_H
#include <stddef.h>
#include <stdint.h>
#include "formats/cuda/driver_files.h"

/* Writes the path of a file word (GT_DEV_* << 32 | minor): "/dev/nvidia0". */
void gt_ioctl_file(char *to, size_t size, uint64_t file);
/* The file word of the path of a driver's file, or of a memory file of the simulated driver
 * ("/memfd:sim:nvidia0"). 0: it is another file. */
uint64_t gt_ioctl_file_of_path(const char *path, size_t len);
/* Writes the name of a request: "ioctl RM_CONTROL NV2080_CTRL_CMD_GPU_GET_INFO_V2". Numbers
 * without a name are written in hex. command: GT_IOCTL_ANY: it is unknown and not written. */
#define GT_IOCTL_ANY UINT64_MAX
void gt_ioctl_name(char *to, size_t size, uint64_t file, uint64_t request, uint64_t command);
#endif
