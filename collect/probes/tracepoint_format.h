/* A tracepoint of the kernel as its format file in tracefs describes it, and the values of a hit.
 */
#ifndef GT_TRACEPOINT_FORMAT_H
#define GT_TRACEPOINT_FORMAT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "formats/cmdline/opt.h"

#define GT_TRACEPOINT_FIELDS 12 /* at most; further ones are not recorded */

enum gt_tracepoint_kind {
	GT_TRACEPOINT_UNSIGNED,
	GT_TRACEPOINT_SIGNED,
	GT_TRACEPOINT_HEX,       /* a pointer or an address */
	GT_TRACEPOINT_TEXT,      /* char[N] */
	GT_TRACEPOINT_TEXT_AT,   /* where a text is: its offset in the record, and length << 16 */
	GT_TRACEPOINT_TEXT_AFTER /* the same, with an offset from the end of the field */
};
struct gt_tracepoint_field {
	char name[32];
	uint16_t offset, size; /* bytes, in the record */
	uint8_t kind;          /* enum gt_tracepoint_kind */
};
struct gt_tracepoint_format {
	uint32_t id; /* the kernel's number */
	unsigned n;
	struct gt_tracepoint_field fields[GT_TRACEPOINT_FIELDS];
};
/* Is each "CATEGORY:NAME"? 0 or -EINVAL. */
int gt_tracepoint_names_check(const struct gt_opt_list *list, struct gt_err *err);
/* Fields that all tracepoints have (common_*) and arrays of numbers are left out. 0 or -EINVAL. */
int gt_tracepoint_format_read(struct gt_tracepoint_format *f, FILE *file, struct gt_err *err);
/* The number in the record of a hit, of which `size` bytes are known; 0 beyond them. */
uint64_t gt_tracepoint_number(const struct gt_tracepoint_field *f, const void *record, size_t size);
/* The text, as far as it is in these bytes and in `to`. */
void gt_tracepoint_text(const struct gt_tracepoint_field *f, const void *record, size_t size,
	char *to, size_t to_size);
#endif
