/* Files: all of what is asked for or an error, and files without a name. */
#ifndef GT_FILE_H
#define GT_FILE_H
#include <stddef.h>
#include <stdint.h>
#include "formats/base/err.h"

/* 0, or -EIO when it is not all there */
int gt_pread(int fd, void *to, size_t n, uint64_t at);
int gt_pwrite(int fd, const void *from, size_t n, uint64_t at); /* 0, or a negative errno */
const char *gt_temporary_folder(void);                          /* TMPDIR, or /tmp */
/* A file there that is gone with its last descriptor. A descriptor, or a negative errno. */
int gt_temporary(struct gt_err *err);
#endif
