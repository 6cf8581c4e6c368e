/* The global interpreter locks (GIL) of CPython in another process: up to 3.11 there is one, from
 * 3.12 on an interpreter may have its own. */
#ifndef GT_REMOTE_GIL_H
#define GT_REMOTE_GIL_H
#include "collect/host/remote_interpreter.h"

#define GT_REMOTE_GILS 16u

/* Of one process; zeroed: none is known yet. */
struct gt_remote_gils {
	uint64_t list[GT_REMOTE_GILS]; /* addresses */
	unsigned n;
	uint64_t searched_at; /* ns */
};
struct gt_remote_gil {
	uint64_t interval; /* ns that a thread waits for it at a time */
	uint64_t holder;   /* address of the state of the thread that holds it; 0: none */
};

/* Is this address of a futex inside a GIL? Then *gil has the current state of that GIL; NULL: it is
 * not read. */
bool gt_remote_gil(struct gt_remote_gils *g, uint32_t tgid, const struct gt_remote_interpreter *in,
	uint64_t address, struct gt_remote_gil *gil);
#endif
