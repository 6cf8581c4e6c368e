/* Reads the opcodes of pickles, as Python's Lib/pickletools.py describes them. pickle_build.c fills
 * the arrays. */
#include "formats/io/pickle.h"

#include <stdlib.h>
#include "formats/io/pickle_internal.h"
#include "formats/io/stream_in.h"

/* ---- bytes ---- */

/* At least n bytes at p->at, n <= WINDOW. 0 or negative. */
static int need(struct gt_pickle *p, size_t n, struct gt_err *err)
{
	size_t left = p->end - p->at;
	ssize_t got;

	if (left >= n)
		return 0;
	memmove(p->window, p->window + p->at, left);
	p->before += p->at;
	p->at = 0;
	p->end = left;
	while (p->end < n) {
		got = gt_in_read(p->in, p->window + p->end, WINDOW - p->end, err);
		if (got < 0)
			return (int)got;
		if (!got)
			return gt_err_at(err, p->before + p->end, -ENODATA,
				"the pickle is incomplete: its end is missing");
		p->end += (size_t)got;
	}
	return 0;
}

/* An unsigned number of n bytes, at most 8. */
static int read_number(struct gt_pickle *p, unsigned n, uint64_t *v, struct gt_err *err)
{
	int e = need(p, n, err);

	*v = 0;
	for (unsigned i = 0; !e && i < n; i++)
		*v |= (uint64_t)p->window[p->at + i] << 8 * i;
	p->at += e ? 0 : n;
	return e;
}

/* Reads n bytes to p->scratch. */
static int read_bytes(struct gt_pickle *p, uint64_t n, struct gt_err *err)
{
	int e = 0;

	gt_buf_clear(&p->scratch);
	if (n > GT_JSON_TOKEN_MAX)
		return gt_err_at(err, p->opcode, -E2BIG,
			"pickle: a string of %llu bytes: at most %u", (unsigned long long)n,
			GT_JSON_TOKEN_MAX);
	while (!e && n) {
		size_t some = n < WINDOW ? (size_t)n : WINDOW;

		e = need(p, some, err);
		if (e)
			break;
		gt_buf_add(&p->scratch, p->window + p->at, some);
		p->at += some;
		n -= some;
	}
	return e ? e : p->scratch.failed ? gt_pickle_no_memory(err) : 0;
}

/* Adds a line without its newline to p->scratch; at most a few hundred bytes of it. */
static int add_line(struct gt_pickle *p, struct gt_err *err)
{
	uint64_t c = 0;
	int e = 0;

	while (!e && !(e = read_number(p, 1, &c, err)) && c != '\n' && p->scratch.len < 400)
		gt_buf_byte(&p->scratch, (uint8_t)c);
	return e;
}

/* ---- opcodes ---- */

static int integer(struct gt_pickle *p, unsigned bytes, struct gt_err *err)
{
	uint64_t v;
	int e = read_number(p, bytes, &v, err);
	int64_t i = bytes == 4 ? (int32_t)v : (int64_t)v;

	return e ? e : gt_pickle_push_int(p, (uint64_t)(i < 0 ? -i : i), i < 0, err);
}

/* An integer of any size, in two's complement, as LONG1 and LONG4 have it. */
static int long_integer(struct gt_pickle *p, unsigned bytes, struct gt_err *err)
{
	uint64_t n, v = 0;
	double d = 0;
	bool negative;
	int e = read_number(p, bytes, &n, err);

	if (!e && bytes == 4 && n > INT32_MAX)
		return gt_pickle_bad(p, err, "an integer has a negative length");
	e = e ? e : read_bytes(p, n, err);
	if (e)
		return e;
	negative = n && p->scratch.data[n - 1] & 0x80;
	while (n > 8 && p->scratch.data[n - 1] == (negative ? 0xff : 0) &&
		(!negative || n > 9 || p->scratch.data[7] & 0x80))
		n--;
	for (uint64_t i = n; i-- > 0;) {
		uint8_t byte = p->scratch.data[i];

		v = v << 8 | byte;
		d = d * 256 + (negative ? 255 - byte : byte);
	}
	if (n > 8)
		return gt_pickle_push_real(p, negative ? -d - 1 : d, err);
	if (negative && n < 8)
		v |= UINT64_MAX << 8 * n;
	return gt_pickle_push_int(p, negative ? 0 - v : v, negative, err);
}

static int real(struct gt_pickle *p, struct gt_err *err)
{
	uint64_t v;
	double d;
	int e = read_number(p, 8, &v, err);

	v = __builtin_bswap64(v);
	memcpy(&d, &v, sizeof(d));
	return e ? e : gt_pickle_push_real(p, d, err);
}

static int string(struct gt_pickle *p, unsigned bytes, struct gt_err *err)
{
	uint64_t n;
	int e = read_number(p, bytes, &n, err);

	e = e ? e : read_bytes(p, n, err);
	return e ? e : gt_pickle_push_text(p, err);
}

/* The text of a value, for a message. */
static void add_text_of(struct gt_pickle *p, size_t below)
{
	gt_pickle_value v = gt_pickle_above_mark(p) > below ? p->stack[p->nstack - below - 1] : 0;

	if (KIND(v) == TEXT)
		gt_buf_add(&p->scratch, p->text.data + p->texts[INDEX(v)].at,
			p->texts[INDEX(v)].len < 200 ? p->texts[INDEX(v)].len : 200);
	else
		gt_buf_byte(&p->scratch, '?');
}

/* An opcode that would run code. */
static int refuse(struct gt_pickle *p, uint8_t opcode, struct gt_err *err)
{
	bool lines = opcode == 'c' || opcode == 'i';
	int e = 0;

	gt_buf_clear(&p->scratch);
	if (lines)
		e = add_line(p, err);
	else if (opcode == OP_STACK_GLOBAL)
		add_text_of(p, 1);
	else
		return gt_pickle_bad(p, err,
			"it would call code or load data from elsewhere: such pickles are not read");
	gt_buf_byte(&p->scratch, '.');
	if (lines)
		e = e ? e : add_line(p, err);
	else
		add_text_of(p, 0);
	gt_buf_byte(&p->scratch, 0);
	if (e || p->scratch.failed)
		return e ? e : gt_pickle_no_memory(err);
	return gt_err_at(err, p->opcode, -EBADMSG,
		"pickle: it would import %.150s: pickles with code are not read",
		(const char *)p->scratch.data);
}

/* Opcodes of values that contain no others. */
static int scalar(struct gt_pickle *p, uint8_t opcode, struct gt_err *err)
{
	switch (opcode) {
	case 'N': return gt_pickle_push(p, VALUE(CONSTANT, GT_JSON_NULL), err);
	case OP_TRUE: return gt_pickle_push(p, VALUE(CONSTANT, GT_JSON_TRUE), err);
	case OP_FALSE: return gt_pickle_push(p, VALUE(CONSTANT, GT_JSON_FALSE), err);
	case 'J': return integer(p, 4, err);
	case 'K': return integer(p, 1, err);
	case 'M': return integer(p, 2, err);
	case OP_LONG1: return long_integer(p, 1, err);
	case OP_LONG4: return long_integer(p, 4, err);
	case 'G': return real(p, err);
	case 'U':
	case 'C':
	case OP_SHORT_BINUNICODE: return string(p, 1, err);
	case 'T':
	case 'X':
	case 'B': return string(p, 4, err);
	case OP_BINUNICODE8:
	case OP_BINBYTES8:
	case OP_BYTEARRAY8: return string(p, 8, err);
	default: return 1;
	}
}

/* Opcodes that make or fill lists, tuples, sets and dicts. 1: it is none of them. */
static int container(struct gt_pickle *p, uint8_t opcode, struct gt_err *err)
{
	size_t n = 0;
	int e = strchr("etuld\x90\x91", opcode) ? gt_pickle_pop_mark(p, &n, err) : 0;

	if (e)
		return e;
	switch (opcode) {
	case ']':
	case ')':
	case OP_EMPTY_SET: return gt_pickle_push_container(p, LIST, err);
	case '}': return gt_pickle_push_container(p, DICT, err);
	case 'a': return gt_pickle_extend(p, LIST, 1, err);
	case 'e':
	case OP_ADDITEMS: return gt_pickle_extend(p, LIST, n, err);
	case 's': return gt_pickle_extend(p, DICT, 2, err);
	case 'u': return gt_pickle_extend(p, DICT, n, err);
	case 'l':
	case 't':
	case OP_FROZENSET: return gt_pickle_build(p, LIST, n, err);
	case 'd': return gt_pickle_build(p, DICT, n, err);
	case OP_TUPLE1:
	case OP_TUPLE2:
	case OP_TUPLE3: return gt_pickle_build(p, LIST, opcode - OP_TUPLE1 + 1u, err);
	default: return 1;
	}
}

/* POP removes the last value, or the last mark if it has none. */
static int pop(struct gt_pickle *p, struct gt_err *err)
{
	int e = gt_pickle_above_mark(p) || !p->nmarks ? gt_pickle_need_values(p, 1, err) : 0;

	if (e)
		return e;
	if (gt_pickle_above_mark(p))
		p->nstack--;
	else
		p->nmarks--;
	return 0;
}

/* Opcodes of the stack and of the memo. 1: it is none of them. */
static int arrange(struct gt_pickle *p, uint8_t opcode, struct gt_err *err)
{
	uint64_t v = 0;
	size_t n = 0;
	int e = 0;

	if (strchr("hq", opcode))
		e = read_number(p, 1, &v, err);
	else if (strchr("jr", opcode))
		e = read_number(p, 4, &v, err);
	if (e)
		return e;
	switch (opcode) {
	case '(': return gt_pickle_push_mark(p, err);
	case '0': return pop(p, err);
	case '1':
		e = gt_pickle_pop_mark(p, &n, err);
		p->nstack -= n;
		return e;
	case '2':
		e = gt_pickle_need_values(p, 1, err);
		return e ? e : gt_pickle_push(p, p->stack[p->nstack - 1], err);
	case 'h':
	case 'j': return gt_pickle_get(p, v, err);
	case 'q':
	case 'r': return gt_pickle_put(p, v, err);
	case OP_MEMOIZE: return gt_pickle_put(p, p->nmemo, err);
	case OP_FRAME: return read_number(p, 8, &v, err);
	default: return 1;
	}
}

static int protocol(struct gt_pickle *p, struct gt_err *err)
{
	uint64_t v;
	int e = read_number(p, 1, &v, err);

	return e ? e : v < 2 || v > 5 ? gt_pickle_bad(p, err, "protocols 2 to 5 are read") : 0;
}

static int finish(struct gt_pickle *p, struct gt_err *err)
{
	int e = p->nmarks ? gt_pickle_bad(p, err, "a mark is left at its end")
			  : gt_pickle_need_values(p, 1, err);

	if (!e)
		p->root = p->stack[p->nstack - 1];
	return e;
}

/* 0, or negative. */
static int execute(struct gt_pickle *p, uint8_t opcode, struct gt_err *err)
{
	int e;

	if (opcode == OP_PROTO)
		return protocol(p, err);
	if (!opcode || strchr("pgILFSV", opcode))
		return gt_pickle_bad(
			p, err, opcode ? "opcodes of protocol 0 are not read" : "invalid opcode");
	if (strchr("ciRobPQ", opcode) || opcode == OP_NEWOBJ || opcode == OP_NEWOBJ_EX ||
		opcode == OP_STACK_GLOBAL || (opcode >= OP_EXT1 && opcode <= OP_EXT4) ||
		opcode == OP_NEXT_BUFFER || opcode == OP_READONLY_BUFFER)
		return refuse(p, opcode, err);
	e = arrange(p, opcode, err);
	e = e == 1 ? scalar(p, opcode, err) : e;
	e = e == 1 ? container(p, opcode, err) : e;
	return e == 1 ? gt_pickle_bad(p, err, "invalid opcode") : e;
}

static int load(struct gt_pickle *p, struct gt_err *err)
{
	uint64_t opcode;
	int e = gt_pickle_begin(p, err);

	if (e)
		return e;
	for (;;) {
		p->opcode = p->before + p->at;
		e = read_number(p, 1, &opcode, err);
		if (e || opcode == '.')
			break;
		e = execute(p, (uint8_t)opcode, err);
		if (e)
			break;
	}
	return e ? e : finish(p, err);
}

struct gt_pickle *gt_pickle_load(struct gt_in *in, struct gt_err *err)
{
	struct gt_pickle *p = calloc(1, sizeof(*p));

	if (!p) {
		gt_pickle_no_memory(err);
		return NULL;
	}
	p->in = in;
	if (load(p, err)) {
		gt_pickle_free(p);
		return NULL;
	}
	p->steps = (p->ncells + 16) * GT_PICKLE_REPEATS;
	free(p->memo); /* these were for reading only */
	free(p->stack);
	free(p->marks);
	p->memo = p->stack = p->marks = NULL;
	return p;
}

void gt_pickle_free(struct gt_pickle *p)
{
	if (!p)
		return;
	gt_map_release(&p->text_map);
	gt_buf_release(&p->text);
	gt_buf_release(&p->scratch);
	free(p->texts);
	free(p->wide);
	free(p->containers);
	free(p->cells);
	free(p->memo);
	free(p->stack);
	free(p->marks);
	free(p);
}
