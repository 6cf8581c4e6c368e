/* Writes tar archives of regular files, in the ustar format of POSIX (pax(1), "ustar Interchange
 * Format"): for each file a header of 512 bytes, then its bytes, filled up with zeros to a multiple
 * of 512; at the end 1024 zeros. A size of 8 GiB or more does not fit into the header's 11 octal
 * digits; it is there as a big-endian number whose first byte is 0x80, as GNU tar, bsdtar and
 * Perfetto read it. */
#ifndef GT_TAR_WRITE_H
#define GT_TAR_WRITE_H
#include "formats/io/stream_out.h"

#define GT_TAR_BLOCK 512u
#define GT_TAR_NAME_MAX 99u /* bytes of a name */

/* Writes the header of a file. The caller then adds `size` bytes, and calls gt_tar_pad. time:
 * seconds since 1970. */
void gt_tar_header(struct gt_out *out, const char *name, uint64_t size, int64_t time);
void gt_tar_pad(struct gt_out *out, uint64_t size);
void gt_tar_end(struct gt_out *out);
#endif
