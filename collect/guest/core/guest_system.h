/* What the guest needs of the operating system and of texts, without malloc, stdio or locks. */
#ifndef GT_GUEST_SYSTEM_H
#define GT_GUEST_SYSTEM_H
#include <sys/syscall.h>
#include <unistd.h>
#include "collect/guest/core/guest_common.h"
#include "collect/ipc/unaligned.h"

/* This thread runs the handler of a sample, which may have interrupted anything: no thread is
 * started, and no lock of libc or of the loader is taken. */
extern __thread bool gt_interrupted GT_TLS;

static inline int32_t gt_own_pid(void) { return (int32_t)syscall(SYS_getpid); }
static inline int32_t gt_own_tid(void) { return (int32_t)syscall(SYS_gettid); }
uint64_t gt_monotonic(void); /* ns of CLOCK_MONOTONIC */
void gt_sleep(long ns);      /* less than a second */

/* Private memory, all zeros; a page uses memory when it is used. NULL: there is none. */
void *gt_map(size_t bytes);
/* The same, which the kernel clears in a forked child. NULL also before Linux 4.14. */
void *gt_map_of_process(size_t bytes);
/* Reads a short text file, cut to size - 1 bytes. Returns the text's length; 0: not readable. */
size_t gt_read_text(const char *path, char *text, size_t size);
const char *gt_environment(const char *name); /* value of an environment variable, or NULL */
/* With GT_DEBUG=1 in the environment: prints one line on stderr. */
void gt_debug(const char *what, const char *detail, int64_t value);

/* Both append to the text that ends at `at`, cut before `end`, and return its new end. */
char *gt_append(char *at, const char *end, const char *text);
char *gt_append_number(char *at, const char *end, uint64_t n);

#endif
