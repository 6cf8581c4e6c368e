/* Functions that programs compile while they run, from /tmp/perf-PID.map: lines "START SIZE NAME",
 * the numbers hexadecimal. Many runtimes write it. */
#ifndef GT_JIT_MAPS_H
#define GT_JIT_MAPS_H
#include <stdbool.h>
#include "formats/base/map.h"

struct gt_jit_function {
	uint64_t low, high;
	char *name;
	bool is_defined; /* set by the caller; false at first */
};
struct gt_jit_maps { /* zeroed: empty */
	struct gt_map map;
	struct gt_jit_process {
		uint32_t tgid;                 /* the key */
		uint32_t skips;                /* misses for which the file is not read again */
		int64_t bytes;                 /* read of its file */
		struct gt_jit_function *items; /* by address once they have been looked at */
		size_t n, cap;
		bool is_sorted;
	} * processes;
	size_t n, cap;
};

/* Reads the file, or the lines added to it since the last call. NULL: no function is known there.
 * Borrowed until the next change. */
struct gt_jit_function *gt_jit_maps_find(struct gt_jit_maps *m, uint32_t tgid, uint64_t address);
/* The process executes another program, or ends. */
void gt_jit_maps_forget(struct gt_jit_maps *m, uint32_t tgid);
void gt_jit_maps_release(struct gt_jit_maps *m);
#endif
