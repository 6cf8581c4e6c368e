#include "formats/import/parquet/thrift_in.h"

#define DEPTH_MAX 16u /* of structs and lists in each other; Parquet has fewer than 10 */

uint64_t gt_thrift_varint(struct gt_thrift_in *in)
{
	uint64_t v = 0;

	for (unsigned shift = 0; in->at < in->end && shift < 70; shift += 7) {
		uint8_t b = *in->at++;

		v |= shift < 64 ? (uint64_t)(b & 0x7f) << shift : 0;
		if (b < 0x80)
			return in->bad ? 0 : v;
	}
	in->bad = true;
	return 0;
}

static int64_t zigzag(struct gt_thrift_in *in)
{
	uint64_t v = gt_thrift_varint(in);

	return (int64_t)(v >> 1 ^ -(v & 1));
}

static uint8_t byte(struct gt_thrift_in *in)
{
	if (in->at < in->end && !in->bad)
		return *in->at++;
	in->bad = true;
	return 0;
}

bool gt_thrift_next(struct gt_thrift_in *in, struct gt_thrift_field *f)
{
	uint8_t head = byte(in);
	int64_t id;

	if (in->bad || !head)
		return false;
	f->type = head & 15;
	id = head >> 4 ? f->id + (head >> 4) : zigzag(in);
	in->bad |= id <= 0 || id > INT16_MAX;
	f->id = in->bad ? 0 : (int)id;
	return !in->bad;
}

int64_t gt_thrift_int(struct gt_thrift_in *in, const struct gt_thrift_field *f)
{
	if (f->type == GT_THRIFT_IN_I8)
		return (int8_t)byte(in);
	in->bad |= f->type < GT_THRIFT_IN_I16 || f->type > GT_THRIFT_IN_I64;
	return zigzag(in);
}

static size_t binary(struct gt_thrift_in *in, const uint8_t **bytes)
{
	uint64_t n = gt_thrift_varint(in);

	in->bad |= n > (uint64_t)(in->end - in->at);
	*bytes = in->at;
	if (in->bad)
		return 0;
	in->at += n;
	return n;
}

size_t gt_thrift_binary_of(
	struct gt_thrift_in *in, const struct gt_thrift_field *f, const uint8_t **bytes)
{
	in->bad |= f->type != GT_THRIFT_IN_BINARY;
	return binary(in, bytes);
}

/* Each element has a byte at least, so a list is not longer than the bytes. */
static uint32_t list(struct gt_thrift_in *in, uint8_t *type)
{
	uint8_t head = byte(in);
	uint64_t n = head >> 4 == 15 ? gt_thrift_varint(in) : head >> 4;

	*type = head & 15;
	in->bad |= n > (uint64_t)(in->end - in->at) || n > UINT32_MAX;
	return in->bad ? 0 : (uint32_t)n;
}

uint32_t gt_thrift_list_of(struct gt_thrift_in *in, const struct gt_thrift_field *f, uint8_t type)
{
	uint8_t elements = 0;
	uint32_t n = 0;

	if (f->type == GT_THRIFT_IN_LIST)
		n = list(in, &elements);
	in->bad |= f->type != GT_THRIFT_IN_LIST || (n && elements != type);
	return in->bad ? 0 : n;
}

bool gt_thrift_is_struct(struct gt_thrift_in *in, const struct gt_thrift_field *f)
{
	in->bad |= f->type != GT_THRIFT_IN_STRUCT;
	return !in->bad;
}

static void skip(struct gt_thrift_in *in, uint8_t type, bool element, unsigned depth)
{
	struct gt_thrift_field f = { 0 };
	const uint8_t *bytes;
	uint32_t n;

	switch (type) {
	case GT_THRIFT_IN_TRUE:
	case GT_THRIFT_IN_FALSE:
		/* the type of a field is its value */
		if (element)
			byte(in);
		break;
	case GT_THRIFT_IN_I8: byte(in); break;
	case GT_THRIFT_IN_I16:
	case GT_THRIFT_IN_I32:
	case GT_THRIFT_IN_I64: gt_thrift_varint(in); break;
	case GT_THRIFT_IN_DOUBLE:
		for (int i = 0; i < 8; i++)
			byte(in);
		break;
	case GT_THRIFT_IN_BINARY: binary(in, &bytes); break;
	case GT_THRIFT_IN_LIST:
	case GT_THRIFT_IN_SET:
		n = list(in, &type);
		in->bad |= depth == DEPTH_MAX;
		for (uint32_t i = 0; i < n && !in->bad; i++)
			skip(in, type, true, depth + 1);
		break;
	case GT_THRIFT_IN_STRUCT:
		in->bad |= depth == DEPTH_MAX;
		while (!in->bad && gt_thrift_next(in, &f))
			skip(in, f.type, false, depth + 1);
		break;
	default: in->bad = true;
	}
}

void gt_thrift_skip(struct gt_thrift_in *in, uint8_t type) { skip(in, type, false, 0); }
