/* The opcodes of pickles, as Python's Lib/pickletools.py describes them, and the arrays that they
 * fill.
 *
 * A value is 32 bits: the kind, and an index in the array of that kind, or a small integer itself.
 * The items of a list, and the keys and values of a dict in turn, are chunks in one array: a chunk
 * is its number of values, the index of the next chunk of the same list (0: none), and the values.
 * Python writes a list in chunks of 1000. Texts are interned. */
#include "formats/io/pickle.h"

#include <stdio.h>
#include <stdlib.h>
#include "formats/base/buf.h"
#include "formats/base/map.h"
#include "formats/io/pickle_internal.h"
#include "formats/io/stream_in.h"

static int no_memory(struct gt_err *err)
{
	return gt_err_set(err, -ENOMEM, "out of memory (pickle)");
}

/* The opcode at p->opcode is wrong. */
static int bad(const struct gt_pickle *p, struct gt_err *err, const char *what)
{
	return gt_err_at(err, p->opcode, -EBADMSG, "pickle: %s", what);
}

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
	return e ? e : p->scratch.failed ? no_memory(err) : 0;
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

/* ---- arrays ---- */

/* Space for n more elements behind the first `used` of an array. The memory of all arrays is
 * limited. */
static int grow(struct gt_pickle *p, void *array, size_t *cap, size_t used, size_t n, size_t size,
	struct gt_err *err)
{
	size_t old = *cap;
	uint64_t more;

	if (used + n <= old)
		return 0;
	if (used + n > GT_PICKLE_NUMBERS)
		return gt_err_at(err, p->opcode, -E2BIG, "pickle: more than %u values of one kind",
			GT_PICKLE_NUMBERS);
	if (p->memory + (used + n - old) * size > GT_PICKLE_MEMORY)
		return gt_err_at(err, p->opcode, -E2BIG,
			"pickle: it needs more than %llu GiB of memory", GT_PICKLE_MEMORY >> 30);
	if (gt_grow(array, cap, used + n, size))
		return no_memory(err);
	more = (*cap - old) * size;
	p->memory += more;
	return 0;
}

static int push(struct gt_pickle *p, gt_pickle_value v, struct gt_err *err)
{
	int e = grow(p, &p->stack, &p->stack_cap, p->nstack, 1, sizeof(*p->stack), err);

	if (!e)
		p->stack[p->nstack++] = v;
	return e;
}

/* The number of values above the last mark. */
static size_t above_mark(const struct gt_pickle *p)
{
	return p->nstack - (p->nmarks ? p->marks[p->nmarks - 1] : 0);
}

static int need_values(const struct gt_pickle *p, size_t n, struct gt_err *err)
{
	return above_mark(p) < n ? bad(p, err, "an opcode has too few values") : 0;
}

/* Removes the last mark. *n: the number of values above it, which stay. */
static int pop_mark(struct gt_pickle *p, size_t *n, struct gt_err *err)
{
	if (!p->nmarks)
		return bad(p, err, "an opcode has no mark");
	*n = above_mark(p);
	p->nmarks--;
	return 0;
}

static int push_wide(struct gt_pickle *p, unsigned kind, uint64_t bits, struct gt_err *err)
{
	int e = grow(p, &p->wide, &p->wide_cap, p->nwide, 1, sizeof(*p->wide), err);

	if (e)
		return e;
	p->wide[p->nwide] = bits;
	return push(p, VALUE(kind, p->nwide++), err);
}

static int push_int(struct gt_pickle *p, uint64_t magnitude, bool negative, struct gt_err *err)
{
	if (!negative && magnitude < GT_PICKLE_NUMBERS)
		return push(p, VALUE(SMALL, magnitude), err);
	return push_wide(p, negative ? NEGATIVE : POSITIVE, magnitude, err);
}

static int push_real(struct gt_pickle *p, double d, struct gt_err *err)
{
	uint64_t bits;

	memcpy(&bits, &d, sizeof(bits));
	return push_wide(p, REAL, bits, err);
}

static bool same_text(const void *arg, uint32_t value, const void *key, size_t len)
{
	const struct gt_pickle *p = arg;

	return p->texts[value].len == len && !memcmp(p->text.data + p->texts[value].at, key, len);
}

/* The text in p->scratch. */
static int push_text(struct gt_pickle *p, struct gt_err *err)
{
	const struct gt_buf *s = &p->scratch;
	const void *bytes = s->len ? (const void *)s->data : "";
	uint64_t hash = gt_hash(bytes, s->len);
	uint32_t i = gt_map_get(&p->text_map, hash, same_text, p, bytes, s->len);
	int e = 0;

	if (i != UINT32_MAX)
		return push(p, VALUE(TEXT, i), err);
	/* the map has up to 16 bytes for each text */
	e = grow(p, &p->texts, &p->texts_cap, p->ntexts, 1, sizeof(*p->texts) + 16, err);
	if (!e && p->memory + s->len > GT_PICKLE_MEMORY)
		e = gt_err_at(err, p->opcode, -E2BIG,
			"pickle: it needs more than %llu GiB of memory", GT_PICKLE_MEMORY >> 30);
	if (e)
		return e;
	i = (uint32_t)p->ntexts;
	p->texts[i] = (struct gt_pickle_text){ p->text.len, s->len };
	gt_buf_add(&p->text, bytes, s->len);
	p->memory += s->len;
	if (p->text.failed || gt_map_add(&p->text_map, hash, i))
		return no_memory(err);
	p->ntexts++;
	return push(p, VALUE(TEXT, i), err);
}

/* ---- lists and dicts ---- */

static int push_container(struct gt_pickle *p, unsigned kind, struct gt_err *err)
{
	int e = grow(p, &p->containers, &p->containers_cap, p->ncontainers, 1,
		sizeof(*p->containers), err);

	if (e)
		return e;
	p->containers[p->ncontainers] = (struct gt_pickle_container){ 0, 0 };
	return push(p, VALUE(kind, p->ncontainers++), err);
}

/* Removes the top n values and appends them to a container. */
static int append(struct gt_pickle *p, gt_pickle_value to, size_t n, struct gt_err *err)
{
	struct gt_pickle_container *c = &p->containers[INDEX(to)];
	uint32_t *last;
	int e;

	if (!n)
		return 0;
	e = grow(p, &p->cells, &p->cells_cap, p->ncells, n + 2, sizeof(*p->cells), err);
	if (e)
		return e;
	last = &p->cells[c->last];
	if (c->last && c->last + 2 + last[0] == p->ncells) {
		last[0] += (uint32_t)n;
	} else {
		if (c->last)
			last[1] = (uint32_t)p->ncells;
		else
			c->first = (uint32_t)p->ncells;
		c->last = (uint32_t)p->ncells;
		p->cells[p->ncells++] = (uint32_t)n;
		p->cells[p->ncells++] = 0;
	}
	p->nstack -= n;
	memcpy(p->cells + p->ncells, p->stack + p->nstack, n * sizeof(*p->cells));
	p->ncells += n;
	return 0;
}

/* Makes a container of the top n values. */
static int build(struct gt_pickle *p, unsigned kind, size_t n, struct gt_err *err)
{
	int e = kind == DICT && n % 2 ? bad(p, err, "a dict has a key without a value")
				      : need_values(p, n, err);
	gt_pickle_value v;

	if (!e)
		e = push_container(p, kind, err);
	if (e)
		return e;
	v = p->stack[--p->nstack];
	e = append(p, v, n, err);
	return e ? e : push(p, v, err);
}

/* Appends the top n values to the container below them. */
static int extend(struct gt_pickle *p, unsigned kind, size_t n, struct gt_err *err)
{
	int e = need_values(p, n + 1, err);
	gt_pickle_value to;

	if (e)
		return e;
	to = p->stack[p->nstack - n - 1];
	if (KIND(to) != kind)
		return bad(p, err,
			kind == DICT ? "items are set in a value that is no dict"
				     : "items are appended to a value that is no list");
	if (kind == DICT && n % 2)
		return bad(p, err, "a dict has a key without a value");
	return append(p, to, n, err);
}

/* ---- memo ---- */

static int put(struct gt_pickle *p, uint64_t number, struct gt_err *err)
{
	int e = need_values(p, 1, err);

	if (!e && number > p->before + p->at)
		e = bad(p, err, "the number of a memo entry is too large");
	if (e)
		return e;
	if (number >= p->nmemo) {
		e = grow(p, &p->memo, &p->memo_cap, p->nmemo, number + 1 - p->nmemo,
			sizeof(*p->memo), err);
		for (; !e && p->nmemo <= number; p->nmemo++)
			p->memo[p->nmemo] = UNSET;
	}
	if (!e)
		p->memo[number] = p->stack[p->nstack - 1];
	return e;
}

static int get(struct gt_pickle *p, uint64_t number, struct gt_err *err)
{
	if (number >= p->nmemo || p->memo[number] == UNSET)
		return bad(p, err, "a memo entry is not set");
	return push(p, p->memo[number], err);
}

/* ---- opcodes ---- */

static int integer(struct gt_pickle *p, unsigned bytes, struct gt_err *err)
{
	uint64_t v;
	int e = read_number(p, bytes, &v, err);
	int64_t i = bytes == 4 ? (int32_t)v : (int64_t)v;

	return e ? e : push_int(p, (uint64_t)(i < 0 ? -i : i), i < 0, err);
}

/* An integer of any size, in two's complement, as LONG1 and LONG4 have it. */
static int long_integer(struct gt_pickle *p, unsigned bytes, struct gt_err *err)
{
	uint64_t n, v = 0;
	double d = 0;
	bool negative;
	int e = read_number(p, bytes, &n, err);

	if (!e && bytes == 4 && n > INT32_MAX)
		return bad(p, err, "an integer has a negative length");
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
		return push_real(p, negative ? -d - 1 : d, err);
	if (negative && n < 8)
		v |= UINT64_MAX << 8 * n;
	return push_int(p, negative ? 0 - v : v, negative, err);
}

static int real(struct gt_pickle *p, struct gt_err *err)
{
	uint64_t v;
	double d;
	int e = read_number(p, 8, &v, err);

	v = __builtin_bswap64(v);
	memcpy(&d, &v, sizeof(d));
	return e ? e : push_real(p, d, err);
}

static int string(struct gt_pickle *p, unsigned bytes, struct gt_err *err)
{
	uint64_t n;
	int e = read_number(p, bytes, &n, err);

	e = e ? e : read_bytes(p, n, err);
	return e ? e : push_text(p, err);
}

/* The text of a value, for a message. */
static void add_text_of(struct gt_pickle *p, size_t below)
{
	gt_pickle_value v = above_mark(p) > below ? p->stack[p->nstack - below - 1] : 0;

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
		return bad(p, err,
			"it would call code or load data from elsewhere: such pickles are not read");
	gt_buf_byte(&p->scratch, '.');
	if (lines)
		e = e ? e : add_line(p, err);
	else
		add_text_of(p, 0);
	gt_buf_byte(&p->scratch, 0);
	if (e || p->scratch.failed)
		return e ? e : no_memory(err);
	return gt_err_at(err, p->opcode, -EBADMSG,
		"pickle: it would import %.150s: pickles with code are not read",
		(const char *)p->scratch.data);
}

/* Opcodes of values that contain no others. */
static int scalar(struct gt_pickle *p, uint8_t opcode, struct gt_err *err)
{
	switch (opcode) {
	case 'N': return push(p, VALUE(CONSTANT, GT_JSON_NULL), err);
	case OP_TRUE: return push(p, VALUE(CONSTANT, GT_JSON_TRUE), err);
	case OP_FALSE: return push(p, VALUE(CONSTANT, GT_JSON_FALSE), err);
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
	int e = strchr("etuld\x90\x91", opcode) ? pop_mark(p, &n, err) : 0;

	if (e)
		return e;
	switch (opcode) {
	case ']':
	case ')':
	case OP_EMPTY_SET: return push_container(p, LIST, err);
	case '}': return push_container(p, DICT, err);
	case 'a': return extend(p, LIST, 1, err);
	case 'e':
	case OP_ADDITEMS: return extend(p, LIST, n, err);
	case 's': return extend(p, DICT, 2, err);
	case 'u': return extend(p, DICT, n, err);
	case 'l':
	case 't':
	case OP_FROZENSET: return build(p, LIST, n, err);
	case 'd': return build(p, DICT, n, err);
	case OP_TUPLE1:
	case OP_TUPLE2:
	case OP_TUPLE3: return build(p, LIST, opcode - OP_TUPLE1 + 1u, err);
	default: return 1;
	}
}

static int add_mark(struct gt_pickle *p, struct gt_err *err)
{
	int e = grow(p, &p->marks, &p->marks_cap, p->nmarks, 1, sizeof(*p->marks), err);

	if (!e)
		p->marks[p->nmarks++] = (uint32_t)p->nstack;
	return e;
}

/* POP removes the last value, or the last mark if it has none. */
static int pop(struct gt_pickle *p, struct gt_err *err)
{
	int e = above_mark(p) || !p->nmarks ? need_values(p, 1, err) : 0;

	if (e)
		return e;
	if (above_mark(p))
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
	case '(': return add_mark(p, err);
	case '0': return pop(p, err);
	case '1':
		e = pop_mark(p, &n, err);
		p->nstack -= n;
		return e;
	case '2': e = need_values(p, 1, err); return e ? e : push(p, p->stack[p->nstack - 1], err);
	case 'h':
	case 'j': return get(p, v, err);
	case 'q':
	case 'r': return put(p, v, err);
	case OP_MEMOIZE: return put(p, p->nmemo, err);
	case OP_FRAME: return read_number(p, 8, &v, err);
	default: return 1;
	}
}

static int protocol(struct gt_pickle *p, struct gt_err *err)
{
	uint64_t v;
	int e = read_number(p, 1, &v, err);

	return e ? e : v < 2 || v > 5 ? bad(p, err, "protocols 2 to 5 are read") : 0;
}

static int finish(struct gt_pickle *p, struct gt_err *err)
{
	int e = p->nmarks ? bad(p, err, "a mark is left at its end") : need_values(p, 1, err);

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
		return bad(
			p, err, opcode ? "opcodes of protocol 0 are not read" : "invalid opcode");
	if (strchr("ciRobPQ", opcode) || opcode == OP_NEWOBJ || opcode == OP_NEWOBJ_EX ||
		opcode == OP_STACK_GLOBAL || (opcode >= OP_EXT1 && opcode <= OP_EXT4) ||
		opcode == OP_NEXT_BUFFER || opcode == OP_READONLY_BUFFER)
		return refuse(p, opcode, err);
	e = arrange(p, opcode, err);
	e = e == 1 ? scalar(p, opcode, err) : e;
	e = e == 1 ? container(p, opcode, err) : e;
	return e == 1 ? bad(p, err, "invalid opcode") : e;
}

static int load(struct gt_pickle *p, struct gt_err *err)
{
	uint64_t opcode;
	int e = grow(p, &p->cells, &p->cells_cap, 0, 2, sizeof(*p->cells), err);

	if (e)
		return e;
	p->ncells = 2; /* no chunk has the index 0 */
	p->cells[0] = p->cells[1] = 0;
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
		no_memory(err);
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
