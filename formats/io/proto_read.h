/* Reads protocol buffers from memory, field by field. It believes no length: a field lies within
 * its message, or the message is malformed.
 *
 *	while ((more = gt_proto_next(&in, &f)) > 0)
 *		if (f.number == 11 && f.wire == GT_PROTO_BYTES) ... gt_proto_message(&f) ...
 *	if (more < 0) ... malformed */
#ifndef GT_PROTO_READ_H
#define GT_PROTO_READ_H
#include "formats/io/proto_write.h"

struct gt_proto_in {
	const uint8_t *at, *end;
};
/* No two members that are stored apart and read together are neighbours: the compiler reads
 * neighbours with one instruction, which waits until both stores are complete. */
struct gt_proto_field {
	uint32_t number;
	uint64_t value;       /* of GT_PROTO_BYTES: their number */
	uint8_t wire;         /* enum gt_proto_wire */
	const uint8_t *bytes; /* borrowed from the message */
};
/* Copies a field that was just read. An assignment would copy two members at a time, too. */
static inline void gt_proto_copy(struct gt_proto_field *to, const struct gt_proto_field *f)
{
	to->number = f->number;
	to->wire = f->wire;
	to->value = f->value;
	to->bytes = f->bytes;
}

static inline int gt_proto_read_long(struct gt_proto_in *in, uint64_t *to)
{
	uint64_t v = 0, word, ends;

	if (in->end - in->at >= 8) {
		memcpy(&word, in->at, 8);
		word = le64toh(word);
		ends = ~word & 0x8080808080808080u; /* the last byte has no high bit */
		if (ends) {
			unsigned bits = (unsigned)__builtin_ctzll(ends) + 1;

			word &= UINT64_MAX >> (64 - bits);
			word = (word & 0x007f007f007f007fu) | (word & 0x7f007f007f007f00u) >> 1;
			word = (word & 0x00003fff00003fffu) | (word & 0x3fff00003fff0000u) >> 2;
			*to = (word & 0x000000000fffffffu) | (word & 0x0fffffff00000000u) >> 4;
			in->at += bits / 8;
			return 0;
		}
	}
	for (unsigned shift = 0; in->at < in->end && shift < 70; shift += 7) {
		uint8_t b = *in->at++;

		v |= shift < 64 ? (uint64_t)(b & 0x7f) << shift : 0;
		if (b < 0x80) {
			*to = v;
			return 0;
		}
	}
	return -1;
}
/* 0; -1: it ends too early, or has more than 10 bytes. */
static inline int gt_proto_read_varint(struct gt_proto_in *in, uint64_t *to)
{
	if (__builtin_expect(in->at == in->end || *in->at >= 0x80, 0))
		return gt_proto_read_long(in, to);
	*to = *in->at++;
	return 0;
}
/* 1, 0 at the end, -1: malformed (in->at is near the place). */
static inline int gt_proto_next(struct gt_proto_in *in, struct gt_proto_field *f)
{
	uint64_t tag, size;

	if (in->at == in->end)
		return 0;
	if (gt_proto_read_varint(in, &tag) || tag >> 3 == 0 || tag >> 3 > UINT32_MAX)
		return -1;
	f->number = (uint32_t)(tag >> 3);
	f->wire = tag & 7;
	f->bytes = NULL;
	if (f->wire == GT_PROTO_VARINT)
		return gt_proto_read_varint(in, &f->value) ? -1 : 1;
	if (f->wire == GT_PROTO_BYTES) {
		if (gt_proto_read_varint(in, &f->value) || f->value > (uint64_t)(in->end - in->at))
			return -1;
		f->bytes = in->at;
		in->at += f->value;
		return 1;
	}
	size = f->wire == GT_PROTO_FIXED64 ? 8 : 4;
	if ((f->wire != GT_PROTO_FIXED64 && f->wire != GT_PROTO_FIXED32) ||
		size > (uint64_t)(in->end - in->at))
		return -1;
	f->bytes = in->at;
	in->at += size;
	f->value = 0;
	memcpy(&f->value, f->bytes, size);
	f->value = le64toh(f->value);
	return 1;
}
/* The message in a field; a field that was not read (zeroed) has an empty one. */
static inline struct gt_proto_in gt_proto_message(const struct gt_proto_field *f)
{
	return (struct gt_proto_in){ f->bytes, f->bytes ? f->bytes + f->value : NULL };
}
#endif
