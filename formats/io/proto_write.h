/* Writes protocol buffers into memory: each function writes a field at p and returns its end. The
 * caller provides the space. The bytes that a field needs, apart from those of its text, are at
 * most GT_PROTO_FIELD_MAX.
 *
 * A message within a message is written behind one byte for its length; a longer length moves it:
 *
 *	char *mark = gt_proto_open(&p, 11);
 *	p = gt_proto_u64(p, 1, 42);
 *	p = gt_proto_close(mark, p);
 */
#ifndef GT_PROTO_WRITE_H
#define GT_PROTO_WRITE_H
#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define GT_PROTO_FIELD_MAX 20u

enum gt_proto_wire { GT_PROTO_VARINT, GT_PROTO_FIXED64, GT_PROTO_BYTES, GT_PROTO_FIXED32 = 5 };

static inline char *gt_proto_varint(char *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (char)(v | 0x80);
		v >>= 7;
	}
	*p++ = (char)v;
	return p;
}
static inline char *gt_proto_tag(char *p, uint32_t field, enum gt_proto_wire wire)
{
	return gt_proto_varint(p, (uint64_t)field << 3 | wire);
}
/* uint32, uint64, bool, enum, and int32 and int64 as their bits */
static inline char *gt_proto_u64(char *p, uint32_t field, uint64_t v)
{
	return gt_proto_varint(gt_proto_tag(p, field, GT_PROTO_VARINT), v);
}
/* fixed64, and a double as its bits */
static inline char *gt_proto_fixed64(char *p, uint32_t field, uint64_t v)
{
	p = gt_proto_tag(p, field, GT_PROTO_FIXED64);
	v = htole64(v);
	memcpy(p, &v, sizeof(v));
	return p + sizeof(v);
}
static inline char *gt_proto_bytes(char *p, uint32_t field, const char *s, size_t len)
{
	p = gt_proto_varint(gt_proto_tag(p, field, GT_PROTO_BYTES), len);
	memcpy(p, s, len);
	return p + len;
}
static inline char *gt_proto_open(char **p, uint32_t field)
{
	*p = gt_proto_tag(*p, field, GT_PROTO_BYTES);
	return (*p)++;
}
static inline char *gt_proto_close(char *mark, char *p)
{
	size_t len = (size_t)(p - mark - 1), more = 0;

	for (size_t rest = len >> 7; rest; rest >>= 7)
		more++;
	if (__builtin_expect(more > 0, 0))
		memmove(mark + 1 + more, mark + 1, len);
	gt_proto_varint(mark, len);
	return p + more;
}
#endif
