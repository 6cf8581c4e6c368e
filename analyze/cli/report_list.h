/* What --list prints: the reports there are. */
#ifndef GT_LISTING_H
#define GT_LISTING_H
#include "formats/table/table.h"

int gt_list_reports(enum gt_table_format format, struct gt_out *out, struct gt_err *err);	/* 0 or negative */
#endif
