/* Functions that a program compiles while it runs, by the files in which runtimes name them:
 * /tmp/perf-PID.map, with lines "START SIZE NAME" whose numbers are hexadecimal, and jit-PID.dump,
 * which the program has mapped (jitdump-specification.txt of the kernel's perf). */
#ifndef GT_COMPILED_FUNCTIONS_H
#define GT_COMPILED_FUNCTIONS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "collect/ipc/guest_server.h"
#include "formats/base/map.h"

struct gt_compiled_functions { /* of one process; zeroed: none are known */
	struct gt_compiled_file {
		int fd;     /* plus 1; 0: it is not open */
		int64_t at; /* bytes of it that were read */
	} map, dump;
	bool map_skips;    /* what follows in the map, up to a line's end, is not read */
	int64_t search_at; /* ns: not before then is a dump searched again */
	struct gt_compiled_function {
		uint64_t low, high; /* addresses */
		char *name;
		size_t number; /* of two at one address, the later one is there */
	} * items;
	size_t n, cap, count;
	size_t nsorted; /* so many are by address and do not overlap */
	/* Those of [nsorted, nmapped) by `low`, the latest one of each. */
	struct gt_map by_start;
	size_t nmapped;
};

/* The name of the function at this address, of this process; NULL: none is known there. Reads the
 * files, and what was added to them since the last call. Borrowed until the next call. */
const char *gt_compiled_function(
	struct gt_compiled_functions *c, const struct gt_guest *guest, uint64_t address);
void gt_compiled_functions_release(struct gt_compiled_functions *c);
#endif
