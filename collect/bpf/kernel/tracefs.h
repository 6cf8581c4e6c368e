/* The kernel's tracefs: descriptions of tracepoints, and the list of functions that can have
 * probes. */
#ifndef GT_TRACEFS_H
#define GT_TRACEFS_H
#include "formats/base/err.h"

/* A descriptor of its root folder: close it. Where tracefs is not mounted, the descriptor is of a
 * mount that no path leads to, and that ends with it. Negative: it cannot be read here. */
int gt_tracefs_open(struct gt_err *err);
#endif
