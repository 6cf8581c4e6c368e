/* Reads and writes that are complete or fail, and temporary files without a name. */
#ifndef GT_FILE_H
#define GT_FILE_H
#include <stddef.h>
#include <stdint.h>
#include "formats/base/err.h"

/* 0, or -EIO if the file has fewer bytes or reading fails */
int gt_pread(int fd, void *to, size_t n, uint64_t at);
int gt_pwrite(int fd, const void *from, size_t n, uint64_t at); /* 0, or a negative errno */
const char *gt_temporary_folder(void);                          /* TMPDIR, or /tmp */
/* Creates a file in gt_temporary_folder() that ceases to exist with its last descriptor. Returns a
 * descriptor, or a negative errno with err filled in. */
int gt_temporary(struct gt_err *err);
/* Raises the limit of open files to what the process may set. */
void gt_permit_many_files(void);
#endif
