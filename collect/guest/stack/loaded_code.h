/* The loaded libraries as a list of ranges of code, for the helper thread of unwind_rules.c, and
 * numbers of those that were looked up. */
#ifndef GT_GUEST_LOADED_CODE_H
#define GT_GUEST_LOADED_CODE_H
#include "collect/guest/core/guest_common.h"
#include "collect/guest/stack/eh_frame.h"

#define GT_CODE_OBJECTS 4096 /* numbers 1 to 4095 */
#define GT_CODE_ID_MAX 20
#define GT_CODE_PATH_MAX 1024

/* A library that has a number. The number is never used for another one in this process, also if
 * the library is closed. */
struct gt_code_object {
	uintptr_t low, high; /* addresses of all its segments */
	uintptr_t base;      /* address in memory minus address in the file */
	uint64_t generation; /* libraries that had been closed before it got its number */
	uint8_t nbuild_id, build_id[GT_CODE_ID_MAX]; /* bytes; 0: it has none */
	char path[GT_CODE_PATH_MAX];                 /* cut if longer */
};
/* NULL: no object has this number. Any thread. */
const struct gt_code_object *gt_code_object(uint32_t number);
/* Number of libraries closed so far. False: not known (a forked child). Any thread. */
bool gt_closed_libraries(uint64_t *n);

/* Reserves memory. False: there is none. */
bool gt_code_open(void);
/* Calls work(arg) while no library can be unloaded, with an up-to-date list. False: the list cannot
 * be made. *closed: have libraries been closed since the last call? It is set before work is
 * called. Only the helper thread calls this, and work calls what follows. */
bool gt_with_loaded_code(void (*work)(void *arg), void *arg, bool *closed);
/* The same where this thread is the only one that may load or close libraries; also in a signal
 * handler, where no lock is taken. False also while it does so. */
bool gt_with_loaded_code_alone(void (*work)(void *arg), void *arg, bool *closed);
/* Call frame information of the library with code at this address, and its number (0: all numbers
 * are used). False: no library has code there. image->size 0: the library has no information. */
bool gt_code_at(uintptr_t address, struct gt_eh_image *image, uint32_t *number);
#endif
