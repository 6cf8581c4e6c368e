/* The files that operands name: a folder stands for the traces in it. */
#ifndef GT_TRACE_FOLDERS_H
#define GT_TRACE_FOLDERS_H
#include <stddef.h>
#include "formats/base/err.h"

struct gt_files {
	char **list;		/* owned, each of them, too */
	size_t n, cap;
	size_t left_out;	/* files of folders that are no traces */
};

/* In the order of the operands; the traces of a folder in the order of their names, numbers by value. Folders in it are not looked into.
 * 0 or negative, with the folder in *bad when it is of one. Release it in any case. to: zero-initialised. */
int gt_files_expand(struct gt_files *to, char **operands, int n, const char **bad, struct gt_err *err);
void gt_files_release(struct gt_files *f);
#endif
