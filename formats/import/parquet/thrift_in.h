/* Reads Thrift's compact protocol, as much of it as Parquet has: no maps. It believes no length: a
 * value lies within the bytes, or `bad` is set, and then every call returns nothing.
 *
 *	struct gt_thrift_field f = { 0 };
 *	while (gt_thrift_next(&in, &f))
 *		if (f.id == 3) ... gt_thrift_int(&in, &f) ...
 *		else gt_thrift_skip(&in, f.type);
 *
 * https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md */
#ifndef GT_THRIFT_IN_H
#define GT_THRIFT_IN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gt_thrift_in_type {
	GT_THRIFT_IN_TRUE = 1,
	GT_THRIFT_IN_FALSE = 2,
	GT_THRIFT_IN_I8 = 3,
	GT_THRIFT_IN_I16 = 4,
	GT_THRIFT_IN_I32 = 5,
	GT_THRIFT_IN_I64 = 6,
	GT_THRIFT_IN_DOUBLE = 7,
	GT_THRIFT_IN_BINARY = 8,
	GT_THRIFT_IN_LIST = 9,
	GT_THRIFT_IN_SET = 10,
	GT_THRIFT_IN_STRUCT = 12
};
struct gt_thrift_in {
	const uint8_t *at, *end;
	bool bad;
};
/* type: enum gt_thrift_in_type */
struct gt_thrift_field {
	int id;
	uint8_t type;
};

uint64_t gt_thrift_varint(struct gt_thrift_in *in);
/* Reads the head of the next field of a struct. False: the struct ended, or in->bad. */
bool gt_thrift_next(struct gt_thrift_in *in, struct gt_thrift_field *f);
/* The value of a field that must be an integer. */
int64_t gt_thrift_int(struct gt_thrift_in *in, const struct gt_thrift_field *f);
/* The bytes of a field that must be binary, borrowed. Returns their number. */
size_t gt_thrift_binary_of(
	struct gt_thrift_in *in, const struct gt_thrift_field *f, const uint8_t **bytes);
/* The number of elements of a field that must be a list of `type`; its elements follow. */
uint32_t gt_thrift_list_of(struct gt_thrift_in *in, const struct gt_thrift_field *f, uint8_t type);
/* Checks that the field is a struct, whose fields follow. */
bool gt_thrift_is_struct(struct gt_thrift_in *in, const struct gt_thrift_field *f);
void gt_thrift_skip(struct gt_thrift_in *in, uint8_t type);
#endif
