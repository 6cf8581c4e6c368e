/* The arrays of a pickle, which pickle.c fills and pickle_cursor.c walks. */
#ifndef GT_PICKLE_INTERNAL_H
#define GT_PICKLE_INTERNAL_H
#include "formats/base/buf.h"
#include "formats/base/map.h"
#include "formats/io/pickle.h"

#define WINDOW 65536u /* bytes of the input in memory */

enum { /* opcodes that are no printable characters */
	OP_PROTO = 0x80,
	OP_NEWOBJ,
	OP_EXT1,
	OP_EXT2,
	OP_EXT4,
	OP_TUPLE1,
	OP_TUPLE2,
	OP_TUPLE3,
	OP_TRUE,
	OP_FALSE,
	OP_LONG1,
	OP_LONG4,
	OP_SHORT_BINUNICODE,
	OP_BINUNICODE8,
	OP_BINBYTES8,
	OP_EMPTY_SET,
	OP_ADDITEMS,
	OP_FROZENSET,
	OP_NEWOBJ_EX,
	OP_STACK_GLOBAL,
	OP_MEMOIZE,
	OP_FRAME,
	OP_BYTEARRAY8,
	OP_NEXT_BUFFER,
	OP_READONLY_BUFFER,
};

/* Kinds of values, in their highest 3 bits. The other bits are: of SMALL the integer, of CONSTANT
 * an enum gt_json_token, of all others an index. */
enum { SMALL, POSITIVE, NEGATIVE, REAL, TEXT, LIST, DICT, CONSTANT };
#define VALUE(kind, index) ((gt_pickle_value)(kind) << 29 | (gt_pickle_value)(index))
#define KIND(value) ((value) >> 29)
#define INDEX(value) ((value) & (GT_PICKLE_NUMBERS - 1))
#define UNSET UINT32_MAX /* no value */

struct gt_pickle {
	/* cells: chunks; containers: the first and the last chunk of each list or dict */
	uint32_t *cells;
	struct gt_pickle_container {
		uint32_t first, last;
	} * containers;
	uint64_t *wide; /* integers and reals */
	struct gt_pickle_text {
		size_t at, len;
	} * texts;
	struct gt_buf text; /* of all texts */
	size_t ncells, cells_cap, ncontainers, containers_cap, nwide, wide_cap, ntexts, texts_cap;
	gt_pickle_value root;
	uint64_t steps; /* how many more tokens all cursors together may read */
	/* while it is read */
	struct gt_in *in;
	uint8_t window[WINDOW];
	size_t at, end;          /* the unread part of the window */
	uint64_t before, opcode; /* bytes before the window; the offset of the opcode */
	uint64_t memory;         /* of all arrays */
	struct gt_map text_map;
	struct gt_buf scratch;
	/* memo: UNSET where there is none; marks: the number of values below each */
	gt_pickle_value *memo, *stack;
	uint32_t *marks;
	size_t nmemo, memo_cap, nstack, stack_cap, nmarks, marks_cap;
};
#endif
