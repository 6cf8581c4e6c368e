/* Encodes numbers as bytes: varints in lists, and columns (a code byte plus extra
 * bytes) for values of rows. */
#ifndef GT_CODEC_H
#define GT_CODEC_H
#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/base/err.h"

/* The input of a decoder. GT_SLACK bytes behind its end must be readable: decoders
 * load eight bytes at a time and check their position only every few values. */
#define GT_SLACK 1024
struct gt_span {
	const uint8_t *at, *end;
};

static inline uint64_t gt_zigzag(int64_t v) { return (uint64_t)v << 1 ^ (uint64_t)(v >> 63); }
static inline int64_t gt_unzigzag(uint64_t v) { return (int64_t)(v >> 1) ^ -(int64_t)(v & 1); }

void gt_put_varint(struct gt_buf *b, uint64_t v);
/* 0 if the bytes end, or the value exceeds 64 bits. */
int gt_get_varint(struct gt_span *in, uint64_t *v);
static inline int gt_get_u32(struct gt_span *in, uint32_t *v)
{
	uint64_t x = 0;
	int ok = gt_get_varint(in, &x) && x <= UINT32_MAX;

	*v = (uint32_t)x;
	return ok;
}

/* A column of n values: a varint with the length of the extra bytes, n code bytes,
 * the extra bytes. The code of a small value is the value itself. */
void gt_put_column(struct gt_buf *b, const uint64_t *v, size_t n);
/* Decodes n values and moves `in` behind the column. 0 or -EBADMSG. */
int gt_get_column(struct gt_span *in, uint64_t *v, size_t n);
/* Decodes a column a few values at a time. Opening checks the whole column and moves `in` behind
 * it, so that reading cannot fail. The caller must not read more than n values. */
struct gt_coded_column {
	const uint8_t *code, *extra;
};
int gt_column_open(struct gt_coded_column *c, struct gt_span *in, size_t n);
void gt_column_next(struct gt_coded_column *c, uint64_t *v, size_t n);

/* Opens a column without checking its extra bytes, for callers that check while they
 * read: finds the codes and extra bytes and moves `in` behind the column. Reading
 * c->code is safe for n values. The caller must check every GT_UNCHECKED values that
 * c->extra is not past in->at: so many values have 512 extra bytes at most, which is
 * within the slack. At the end, c->extra must equal in->at. */
#define GT_UNCHECKED 64
int gt_column_find(struct gt_coded_column *c, struct gt_span *in, size_t n);
/* The meaning of each code. */
struct gt_decode {
	uint64_t base[256], mask[256];
	uint8_t bytes[256];
};
extern const struct gt_decode gt_decode;
static inline uint64_t gt_column_value(struct gt_coded_column *c)
{
	unsigned code = *c->code++;
	uint64_t word;

	memcpy(&word, c->extra, 8);
	c->extra += gt_decode.bytes[code];
	return gt_decode.base[code] + (le64toh(word) & gt_decode.mask[code]);
}

/* An argument column: constant, dictionary, delta or plain, whichever is shortest.
 * */
void gt_put_values(struct gt_buf *b, const uint64_t *v, size_t n, struct gt_buf *scratch);
int gt_get_values(struct gt_span *in, uint64_t *v, size_t n);
/* Checks an argument column and moves `in` behind it: gt_get_values cannot fail on it then, and
 * gt_values_next decodes it a few values at a time. Its dictionary is appended to dicts, and
 * gt_values_next takes the final dicts->data. dicts NULL: only checks. 0, -EBADMSG or -ENOMEM. */
struct gt_values {
	struct gt_coded_column in; /* a dictionary has no extras */
	/* constant: the value; delta: the previous value; dictionary: its offset in dicts, in
	 * values */
	uint64_t value;
	uint8_t how;
};
int gt_values_open(struct gt_values *s, struct gt_span *in, size_t n, struct gt_buf *dicts);
/* Copies the next n values to to[0][field], to[1][field] and so on. */
void gt_values_next(
	struct gt_values *s, const uint64_t *dicts, uint64_t *const *to, size_t n, unsigned field);
#endif
