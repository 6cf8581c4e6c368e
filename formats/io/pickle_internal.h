/* The arrays of a pickle, which pickle_build.c fills for pickle.c, and pickle_cursor.c walks. */
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

/* Functions that return int: 0 or negative. */
int gt_pickle_no_memory(struct gt_err *err);
/* The last opcode is wrong. */
int gt_pickle_bad(const struct gt_pickle *p, struct gt_err *err, const char *what);
int gt_pickle_begin(struct gt_pickle *p, struct gt_err *err);

/* Push a value on the stack. push_text: the text is in scratch. */
int gt_pickle_push(struct gt_pickle *p, gt_pickle_value v, struct gt_err *err);
int gt_pickle_push_int(struct gt_pickle *p, uint64_t magnitude, bool negative, struct gt_err *err);
int gt_pickle_push_real(struct gt_pickle *p, double d, struct gt_err *err);
int gt_pickle_push_text(struct gt_pickle *p, struct gt_err *err);
int gt_pickle_push_container(struct gt_pickle *p, unsigned kind, struct gt_err *err);
int gt_pickle_push_mark(struct gt_pickle *p, struct gt_err *err);

/* The number of values above the last mark. */
size_t gt_pickle_above_mark(const struct gt_pickle *p);
int gt_pickle_need_values(const struct gt_pickle *p, size_t n, struct gt_err *err);
/* Removes the last mark. *n: the number of values above it, which stay. */
int gt_pickle_pop_mark(struct gt_pickle *p, size_t *n, struct gt_err *err);
/* Makes a container of the top n values; appends them to the container below them. */
int gt_pickle_build(struct gt_pickle *p, unsigned kind, size_t n, struct gt_err *err);
int gt_pickle_extend(struct gt_pickle *p, unsigned kind, size_t n, struct gt_err *err);

/* Stores the top value in the memo; pushes one from there. */
int gt_pickle_put(struct gt_pickle *p, uint64_t number, struct gt_err *err);
int gt_pickle_get(struct gt_pickle *p, uint64_t number, struct gt_err *err);
#endif
