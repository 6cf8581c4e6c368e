/* Figures as text, formatted as in reports: "33.55 ms", "1.2 MiB". */
#ifndef GT_NUMBER_TEXT_H
#define GT_NUMBER_TEXT_H
#include <stdint.h>
#include "formats/table/table.h"

/* kind: GT_C_NS or GT_C_BYTES; limited to INT64_MAX */
struct gt_scaled gt_number_text(enum gt_cell_kind kind, uint64_t value);
#define GT_NUMBER_TEXT 72
/* in powers of 1000: "48.07 GB/s" */
const char *gt_number_text_rate(char to[GT_NUMBER_TEXT], uint64_t bytes, uint64_t ns);

/* At most five columns, for the figures beside a lane: "12.5%", "<0.1%"; "999", "1.2k", "12M";
 * "33us"; "4.0K". */
#define GT_BRIEF 8
/* 0% and 100% are exact */
void gt_brief_share(char to[GT_BRIEF], uint64_t part, uint64_t whole);
void gt_brief_count(char to[GT_BRIEF], uint64_t n);
void gt_brief_ns(char to[GT_BRIEF], uint64_t ns);
void gt_brief_bytes(char to[GT_BRIEF], uint64_t bytes);
void gt_brief_value(char to[GT_BRIEF], double value); /* any value: "-1.5", "0.25", "12M" */
#endif
