/* Errors of GPUs, which NVIDIA's driver writes to the kernel's log: "Xid" messages. */
#ifndef GT_XID_H
#define GT_XID_H
#include <stdbool.h>

struct gt_xid {
	unsigned number;
	char device[32]; /* "0000:3b:00" */
	char text[256];  /* what follows the number */
};
/* False: the line is another one. */
bool gt_xid_parse(struct gt_xid *x, const char *line);
#endif
