/* Names of the host's system calls. The tables are made from the kernel's headers when gt is built.
 */
#ifndef GT_SYSTEM_CALLS_H
#define GT_SYSTEM_CALLS_H
#include <stdint.h>

/* The name of a system call by its number. architecture: as uname() names it, "x86_64" or
 * "aarch64"; that of the recording, not of this machine. NULL: this build does not know it; one for
 * aarch64 knows those of x86_64 only if the headers for it are installed. Borrowed for ever. */
const char *gt_system_call_name(const char *architecture, int64_t number);
#endif
