/* What an injection needs to know of a process: addresses of functions of its C library, and the
 * code in which a thread must not be interrupted. */
#ifndef GT_REMOTE_SYMBOLS_H
#define GT_REMOTE_SYMBOLS_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "formats/base/err.h"

#define GT_REMOTE_RANGES_MAX 32

struct gt_remote_range {
	uint64_t from, to;
};
struct gt_remote_symbols {
	/* addresses; 0: it is not there */
	uint64_t dlopen, dlsym, dlerror, errno_location, memfd_create, socketpair, close;
	/* code of the loader and of allocators */
	struct gt_remote_range unsafe[GT_REMOTE_RANGES_MAX];
	unsigned nunsafe;
	struct gt_remote_range loader_data; /* with the loader's lock */
	bool has_library;                   /* the guest library is mapped already */
	bool has_driver;                    /* libcuda is mapped */
	bool is_forbidden;                  /* gtcollect may not read its libraries */
	/* musl's loader and C library are one file, whose dlopen cannot load a library made for
	 * glibc */
	bool is_musl;
};
/* 0; -ESRCH: there is no such process; -EACCES: it may not be read. */
int gt_remote_symbols_read(pid_t pid, struct gt_remote_symbols *s, struct gt_err *err);
bool gt_remote_is_unsafe(const struct gt_remote_symbols *s, uint64_t address);
#endif
