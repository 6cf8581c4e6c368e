/* The definition of a code object of Python in a ring: CODE records, one for each piece of its line
 * table. The STRING records of its two names come before. */
#ifndef GT_CODE_PIECE_H
#define GT_CODE_PIECE_H
#include <string.h>
#include "collect/ipc/ring.h"

struct gt_code_piece {
	struct gt_rec_code head; /* the caller fills it, with at = 0 */
	uint8_t lines[24u << 10];
};

/* Copies the piece of the line table at head.at. lines NULL: the table is too long, and is not
 * written. Returns the bytes of the record. */
static inline uint32_t gt_code_piece_fill(struct gt_code_piece *p, const uint8_t *lines)
{
	uint32_t n = p->head.total - p->head.at;

	n = n < sizeof(p->lines) ? n : (uint32_t)sizeof(p->lines);
	if (!lines)
		return sizeof(p->head);
	memcpy(p->lines, lines + p->head.at, n);
	return (uint32_t)sizeof(p->head) + n;
}

/* After a record was written. False: it was the last one. */
static inline bool gt_code_piece_next(struct gt_code_piece *p, const uint8_t *lines)
{
	p->head.at += sizeof(p->lines);
	return lines && p->head.at < p->head.total;
}
#endif
