/* Symbols of the loaded libraries, read from their ELF tables. Takes no lock, allocates nothing,
 * and leaves dlerror as it is. */
#ifndef GT_GUEST_ELF_H
#define GT_GUEST_ELF_H
#include "collect/guest/core/guest_common.h"

#define GT_DRIVER_LIBRARY "libcuda.so"

struct gt_object { /* a loaded library */
	uintptr_t base, low, high;
	const char *path, *soname; /* soname "": it has none */
	const void *dynamic, *symbols, *versions;
	const char *strings;
	const uint32_t *gnu_hash, *hash;
	bool after_guest; /* it was loaded after the guest library */
};
const struct gt_object *gt_own_object(void); /* the guest library */
void gt_own_object_find(void);
/* the library that contains the address; false: none does */
bool gt_object_at(const void *address, struct gt_object *o);
void *gt_object_symbol(const struct gt_object *o, const char *name);
/* bytes: the symbol's size */
void *gt_object_range(const struct gt_object *o, const char *name, size_t *bytes);
/* its soname or file name has this prefix */
bool gt_object_has_name(const struct gt_object *o, const char *prefix);
/* it depends, directly or not, on such a library */
bool gt_object_needs(const struct gt_object *o, const char *prefix);
/* The first definition in load order after the guest library; *o (may be NULL) is its library. */
void *gt_find_next_definition(const char *name, struct gt_object *o);
/* Functions of libc that the guest library replaces: the next definition, which is libc's, or
 * another preloaded library's. They are looked up when the guest library is loaded. NULL: there is
 * none. Preserves errno. */
enum gt_replaced {
	GT_LIBC_IOCTL,
	GT_LIBC_OPEN,
	GT_LIBC_OPEN64,
	GT_LIBC_OPENAT,
	GT_LIBC_OPENAT64,
	GT_LIBC_CLOSE,
	GT_LIBC_MMAP,
	GT_LIBC_MMAP64,
	GT_LIBC_EXECVE,
	GT_LIBC_EXECV,
	GT_LIBC_EXECVP,
	GT_LIBC_EXECVPE,
	GT_LIBC_FEXECVE,
	GT_LIBC_EXECVEAT,
	GT_LIBC_ABORT,
	GT_LIBC_ASSERT_FAIL,
	GT_LIBC_DLCLOSE,
	GT_LIBC_PTHREAD_CREATE,
	GT_LIBC_SIGACTION,
	GT_LIBC_SIGNAL,
	GT_LIBC_PRCTL,
	GT_LIBC_SIGTIMEDWAIT,
	GT_LIBC_SIGNALFD,
	GT_REPLACED
};
void *gt_replaced_function(enum gt_replaced which);
void gt_replaced_find(void);
/* a function of the C library, wherever that is in load order */
void *gt_find_libc_function(const char *name);
/* in the first library whose soname or file name has this prefix */
void *gt_find_in_library(const char *library, const char *name);
/* Writes the addresses of a library's functions to members of `table`. False: one is missing that
 * must be there. */
struct gt_function_row {
	const char *name;
	size_t at; /* offset of the member */
	bool must;
};
bool gt_find_functions(
	const char *library, const struct gt_function_row *rows, size_t n, void *table);
/* in the driver loaded now */
static inline void *gt_find_driver_function(const char *name)
{
	return gt_find_in_library(GT_DRIVER_LIBRARY, name);
}
/* Loads a CUDA library by dlopen from places that the loader does not search: beside other CUDA
 * libraries that the program has loaded (NVIDIA's wheels for Python, a toolkit), or in a toolkit.
 * NULL: it is in none of them. */
void *gt_load_cuda_library(void *(*load)(const char *, int), const char *name);
/* code of libcuda, or of NVIDIA's libraries that intercept its calls */
bool gt_is_driver_code(const void *address);
bool gt_is_guest_code(const void *address); /* code of the guest library */
#endif
