/* Texts as values of CSV and TSV files. Control characters and invalid UTF-8 become '?'. A text
 * that a spreadsheet would take for a formula gets a ' before it. */
#ifndef GT_SEPARATED_VALUES_H
#define GT_SEPARATED_VALUES_H
#include "formats/io/stream_out.h"

void gt_out_csv(struct gt_out *out, const char *s); /* RFC 4180: in quotes where they are needed */
void gt_out_tsv(struct gt_out *out, const char *s); /* tab, newline, CR and \ as \t, \n, \r, \\ */
#endif
