/* The files that the operands name. A folder stands for the traces in it, unless it is one trace.
 */
#ifndef GT_TRACE_FOLDERS_H
#define GT_TRACE_FOLDERS_H
#include <stddef.h>
#include "formats/base/err.h"

struct gt_files {
	char **list; /* owned, each element too */
	size_t n, cap;
	size_t left_out; /* files in folders that are not traces */
};

/* Files come in the order of the operands; the traces of a folder in order of their names,
 * numbers by value. Subfolders are not read. Returns 0 or negative; *bad is then the folder, if
 * it is about one. Release in both cases. to: zero-initialised. */
int gt_files_expand(
	struct gt_files *to, char **operands, int n, const char **bad, struct gt_err *err);
void gt_files_release(struct gt_files *f);
#endif
