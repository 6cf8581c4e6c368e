/* Thrift's compact protocol, as much of it as Parquet's page headers and footers need. A struct is
 * its fields in ascending order of their ids, then gt_thrift_end(). */
#ifndef GT_THRIFT_OUT_H
#define GT_THRIFT_OUT_H
#include <string.h>
#include "formats/trace/codec.h"
#include "formats/base/buf.h"

enum gt_thrift_type {
	GT_THRIFT_TRUE = 1,
	GT_THRIFT_FALSE = 2,
	GT_THRIFT_I32 = 5,
	GT_THRIFT_I64 = 6,
	GT_THRIFT_BINARY = 8,
	GT_THRIFT_LIST = 9,
	GT_THRIFT_STRUCT = 12
};
/* last: id of the last field of the struct that is being written; structs may be nested. */
struct gt_thrift {
	struct gt_buf *to;
	int last[8];
	unsigned depth;
};

static inline void gt_thrift_field(struct gt_thrift *t, int id, enum gt_thrift_type type)
{
	int *last = &t->last[t->depth];

	gt_buf_byte(t->to, (uint8_t)((id - *last) << 4 | type)); /* ids are close to each other */
	*last = id;
}

static inline void gt_thrift_i32(struct gt_thrift *t, int id, int32_t v)
{
	gt_thrift_field(t, id, GT_THRIFT_I32);
	gt_put_varint(t->to, gt_zigzag(v));
}

static inline void gt_thrift_i64(struct gt_thrift *t, int id, int64_t v)
{
	gt_thrift_field(t, id, GT_THRIFT_I64);
	gt_put_varint(t->to, gt_zigzag(v));
}

static inline void gt_thrift_bytes(struct gt_buf *b, const void *p, size_t n)
{
	gt_put_varint(b, n);
	gt_buf_add(b, p, n);
}

static inline void gt_thrift_binary(struct gt_thrift *t, int id, const void *p, size_t n)
{
	gt_thrift_field(t, id, GT_THRIFT_BINARY);
	gt_thrift_bytes(t->to, p, n);
}

/* Its n elements follow. */
static inline void gt_thrift_list(
	struct gt_thrift *t, int id, enum gt_thrift_type elements, size_t n)
{
	gt_thrift_field(t, id, GT_THRIFT_LIST);
	gt_buf_byte(t->to, (uint8_t)((n < 15 ? n : 15) << 4 | elements));
	if (n >= 15)
		gt_put_varint(t->to, n);
}

/* A struct that is an element of a list; of a field: after gt_thrift_field(). */
static inline void gt_thrift_begin(struct gt_thrift *t) { t->last[++t->depth] = 0; }

static inline void gt_thrift_begin_field(struct gt_thrift *t, int id)
{
	gt_thrift_field(t, id, GT_THRIFT_STRUCT);
	gt_thrift_begin(t);
}

static inline void gt_thrift_end(struct gt_thrift *t)
{
	gt_buf_byte(t->to, 0);
	if (t->depth)
		t->depth--;
}
#endif
