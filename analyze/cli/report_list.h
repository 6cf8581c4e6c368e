/* Prints the list of reports: --list. */
#ifndef GT_REPORT_LIST_H
#define GT_REPORT_LIST_H
#include "formats/table/table.h"

/* 0 or negative */
int gt_list_reports(enum gt_table_format format, struct gt_out *out, struct gt_err *err);
#endif
