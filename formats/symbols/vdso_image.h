/* The vDSO: code that the kernel maps into each process without a file. Processes of the same
 * kernel and the same word size have the same one, so that of this process is used for all. */
#ifndef GT_VDSO_IMAGE_H
#define GT_VDSO_IMAGE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GT_VDSO_NAME "[vdso]"
/* Is this how a list of mappings (/proc/PID/maps) or of libraries (dl_iterate_phdr) names it? */
bool gt_is_vdso(const char *path, size_t len);
/* A file in memory with a copy of this process's, for as long as the process runs. *bytes: its
 * size, that of the mapping. NULL: there is none. Thread-safe. */
const char *gt_vdso_path(uint64_t *bytes);
#endif
