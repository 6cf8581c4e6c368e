/* Writes a flatbuffer from its beginning to its end: a table first, then what its fields refer to.
 * Everything is little endian, and numbers stand at multiples of their size. */
#ifndef GT_FLATBUFFER_OUT_H
#define GT_FLATBUFFER_OUT_H
#include <string.h>
#include "formats/base/buf.h"

#define GT_FLATBUFFER_FIELDS 8u

static inline void gt_flatbuffer_align(struct gt_buf *b, size_t to, size_t behind)
{
	while ((b->len + behind) % to && !b->failed)
		gt_buf_byte(b, 0);
}

static inline void gt_flatbuffer_number(struct gt_buf *b, uint64_t v, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		gt_buf_byte(b, (uint8_t)(v >> 8 * i));
}

static inline void gt_flatbuffer_set(struct gt_buf *b, size_t at, uint64_t v, unsigned size)
{
	for (unsigned i = 0; i < size && !b->failed; i++)
		b->data[at + i] = (uint8_t)(v >> 8 * i);
}

/* Makes the reference at `at` lead to the end of the buffer, which it aligns. `behind`: bytes
 * before the part that is aligned. */
static inline void gt_flatbuffer_refer(struct gt_buf *b, size_t at, size_t to, size_t behind)
{
	gt_flatbuffer_align(b, to, behind);
	gt_flatbuffer_set(b, at, b->len - at, 4);
}

/* Writes a table with fields of these sizes in bytes (0: it lacks the field), and refers to it from
 * `from`. Sets where each field is. The fields are zero. */
static inline void gt_flatbuffer_table(
	struct gt_buf *b, size_t from, const uint8_t *sizes, unsigned n, size_t *fields)
{
	size_t vtable, table;

	gt_flatbuffer_align(b, 2, 0);
	vtable = b->len;
	for (unsigned i = 0; i < 2 + n; i++)
		gt_flatbuffer_number(b, 0, 2);
	gt_flatbuffer_refer(b, from, 8, 0);
	table = b->len;
	gt_flatbuffer_number(b, table - vtable, 4);
	for (unsigned size = 8; size; size /= 2)
		for (unsigned i = 0; i < n; i++) {
			if (sizes[i] != size)
				continue;
			gt_flatbuffer_align(b, size, 0);
			fields[i] = b->len;
			gt_flatbuffer_set(b, vtable + 4 + 2 * i, b->len - table, 2);
			gt_flatbuffer_number(b, 0, size);
		}
	gt_flatbuffer_set(b, vtable, 4 + 2 * n, 2);
	gt_flatbuffer_set(b, vtable + 2, b->len - table, 2);
}

/* Writes the length of a vector, whose elements follow; each is aligned to `to`. Returns where the
 * elements begin. */
static inline size_t gt_flatbuffer_vector(struct gt_buf *b, size_t from, size_t n, size_t to)
{
	gt_flatbuffer_refer(b, from, to < 4 ? 4 : to, 4);
	gt_flatbuffer_number(b, n, 4);
	return b->len;
}

/* A vector of n references that are set later. */
static inline size_t gt_flatbuffer_references(struct gt_buf *b, size_t from, size_t n)
{
	size_t at = gt_flatbuffer_vector(b, from, n, 4);

	for (size_t i = 0; i < n; i++)
		gt_flatbuffer_number(b, 0, 4);
	return at;
}

static inline void gt_flatbuffer_string(struct gt_buf *b, size_t from, const char *s)
{
	gt_flatbuffer_vector(b, from, strlen(s), 1);
	gt_buf_add(b, s, strlen(s) + 1);
}
#endif
