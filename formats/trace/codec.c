/* Columns.
 *
 * Most numbers of a trace are small: gaps and durations of some tens to thousands of ns. The code
 * byte c of a value means
 *
 *      c < 224          the value is c
 *      c < 249          the value is 224 + (c - 224) * 256 + the one extra byte
 *      c = 249 .. 255   the value is 6624 + the 2 .. 8 extra bytes, little endian
 *
 * All codes are stored together, and all extra bytes are stored together. So zstd sees two kinds of
 * bytes with two distributions, and decoding needs no branch: three tables, one eight-byte load,
 * one mask. For 150,213 real driver calls, after zstd -3, a gap takes 1.34 bytes and a duration
 * 0.76 (LEB128 varints: 1.50 and 0.77). Decoding takes 0.7 ns per value.
 */
#include "formats/trace/codec.h"

#include <endian.h>
#include <string.h>

#define LITERALS 224u
#define SHORTS 25u
#define LONG_BASE (LITERALS + SHORTS * 256u)
#define FIRST_LONG (LITERALS + SHORTS)

void gt_put_varint(struct gt_buf *b, uint64_t v)
{
	uint8_t *p = gt_buf_reserve(b, 10);

	if (!p)
		return;
	for (; v >= 128; v >>= 7)
		*p++ = (uint8_t)(v | 128);
	*p++ = (uint8_t)v;
	b->len = (size_t)(p - b->data);
}

int gt_get_varint(struct gt_span *in, uint64_t *v)
{
	uint64_t x = 0;

	for (unsigned shift = 0; in->at < in->end && shift < 64; shift += 7) {
		uint8_t byte = *in->at++;

		x |= (uint64_t)(byte & 127) << shift;
		if (byte < 128) {
			*v = x;
			return shift < 63 || byte < 2;
		}
	}
	return 0;
}

static inline unsigned long_bytes(uint64_t rest)
{
	unsigned bits = 64 - (unsigned)__builtin_clzll(rest | 1);

	return bits <= 16 ? 2 : (bits + 7) / 8;
}

/* The bytes that gt_put_column needs for one value, to choose between encodings. */
static unsigned cost_of(uint64_t v)
{
	return v < LITERALS ? 1 : v < LONG_BASE ? 2 : 1 + long_bytes(v - LONG_BASE);
}

#define GROUP 32 /* values that are tested together */

/* Most groups consist of literals only: the compiler vectorizes this path, which has
 * no branches. */
static inline bool put_literals(uint8_t *codes, const uint64_t *v)
{
	uint64_t any = 0;

	for (unsigned i = 0; i < GROUP; i++)
		any |= v[i] | (v[i] + (256 - LITERALS));
	if (any > 255)
		return false;
	for (unsigned i = 0; i < GROUP; i++)
		codes[i] = (uint8_t)v[i];
	return true;
}

/* Writes the codes of n values. Returns the end of the extra bytes. */
static uint8_t *put_codes(uint8_t *codes, uint8_t *extra, const uint64_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t x = v[i], rest;
		unsigned k;

		if (__builtin_expect(x < LITERALS, 1)) {
			codes[i] = (uint8_t)x;
		} else if (x < LONG_BASE) {
			codes[i] = (uint8_t)(LITERALS + ((x - LITERALS) >> 8));
			*extra++ = (uint8_t)(x - LITERALS);
		} else {
			rest = x - LONG_BASE;
			k = long_bytes(rest);
			codes[i] = (uint8_t)(FIRST_LONG + k - 2);
			rest = htole64(rest);
			memcpy(extra, &rest, 8);
			extra += k;
		}
	}
	return extra;
}

void gt_put_column(struct gt_buf *b, const uint64_t *v, size_t n)
{
	uint8_t *space = gt_buf_reserve(b, 10 + n * 9 + 8), *codes, *extra;
	size_t start = b->len, nextra;

	if (!space)
		return;
	codes = space + 10;
	extra = codes + n;
	for (size_t i = 0; i < n; i += GROUP)
		if (n - i < GROUP || !put_literals(codes + i, v + i))
			extra = put_codes(codes + i, extra, v + i, n - i < GROUP ? n - i : GROUP);
	nextra = (size_t)(extra - (codes + n));
	gt_put_varint(b, nextra);
	memmove(b->data + b->len, b->data + start + 10, n + nextra);
	b->len += n + nextra;
}

#define L1(c)                                                                                      \
	[c] = (c) < LITERALS       ? (c)                                                           \
		: (c) < FIRST_LONG ? LITERALS + ((c)-LITERALS) * 256ull                            \
				   : LONG_BASE
#define M1(c)                                                                                      \
	[c] = (c) < LITERALS       ? 0                                                             \
		: (c) < FIRST_LONG ? 0xff                                                          \
		: (c) == 255       ? ~0ull                                                         \
				   : (1ull << (8 * ((c)-FIRST_LONG + 2) & 63)) - 1
#define B1(c) [c] = (uint8_t)((c) < LITERALS ? 0 : (c) < FIRST_LONG ? 1 : (c)-FIRST_LONG + 2)
#define R4(m, c) m(c), m((c) + 1), m((c) + 2), m((c) + 3)
#define R16(m, c) R4(m, c), R4(m, (c) + 4), R4(m, (c) + 8), R4(m, (c) + 12)
#define R64(m, c) R16(m, c), R16(m, (c) + 16), R16(m, (c) + 32), R16(m, (c) + 48)
#define R256(m) R64(m, 0), R64(m, 64), R64(m, 128), R64(m, 192)
const struct gt_decode gt_decode = { { R256(L1) }, { R256(M1) }, { R256(B1) } };

int gt_column_find(struct gt_coded_column *c, struct gt_span *in, size_t n)
{
	uint64_t nextra;

	if (!gt_get_varint(in, &nextra) || (size_t)(in->end - in->at) < n ||
		(size_t)(in->end - in->at) - n < nextra)
		return -EBADMSG;
	c->code = in->at;
	c->extra = c->code + n;
	in->at += n + nextra;
	return 0;
}

int gt_get_column(struct gt_span *in, uint64_t *v, size_t n)
{
	struct gt_coded_column c;

	if (gt_column_find(&c, in, n))
		return -EBADMSG;
	for (size_t i = 0; i < n;) {
		size_t stop = n - i < GT_UNCHECKED ? n : i + GT_UNCHECKED;

		for (; i < stop; i++)
			v[i] = gt_column_value(&c);
		if (c.extra > in->at)
			return -EBADMSG;
	}
	return c.extra == in->at ? 0 : -EBADMSG;
}

int gt_column_open(struct gt_coded_column *c, struct gt_span *in, size_t n)
{
	size_t extras = 0;

	if (gt_column_find(c, in, n))
		return -EBADMSG;
	/* gt_decode.bytes, computed so that the compiler can vectorize it */
	for (size_t i = 0; i < n; i++) {
		unsigned code = c->code[i];

		extras += (code >= LITERALS) + (code >= FIRST_LONG) * (code - FIRST_LONG + 1);
	}
	return c->extra + extras == in->at ? 0 : -EBADMSG;
}

void gt_column_next(struct gt_coded_column *c, uint64_t *v, size_t n)
{
	struct gt_coded_column at = *c;

	for (size_t i = 0; i < n; i++)
		v[i] = gt_column_value(&at);
	*c = at;
}

/* ---- argument columns ---- */

enum { CONSTANT, DICTIONARY, DELTA, PLAIN };
#define DICT_MAX 255

/* Fills dict with the distinct values in order of appearance and codes with their
 * indices. Returns their number, or 0 if there are too many. */
static unsigned distinct(const uint64_t *v, size_t n, uint64_t dict[DICT_MAX], uint8_t *codes)
{
	uint16_t slots[1024] = { 0 };
	unsigned used = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned h = (unsigned)(v[i] * 0x9e3779b97f4a7c15ull >> 54);

		if (i && v[i] == v[i - 1]) {
			codes[i] = codes[i - 1];
			continue;
		}
		while (slots[h] && dict[slots[h] - 1] != v[i])
			h = (h + 1) & 1023;
		if (!slots[h]) {
			if (used == DICT_MAX || (used > 16 && used > n / 2))
				return 0;
			dict[used] = v[i];
			slots[h] = (uint16_t)++used;
		}
		codes[i] = (uint8_t)(slots[h] - 1);
	}
	return used;
}

static bool all_equal(const uint64_t *v, size_t n)
{
	uint64_t differ = v[0] ^ v[n - 1];

	for (size_t i = 1; !differ && i < n; i += GROUP)
		for (size_t k = i; k < (n - i < GROUP ? n : i + GROUP); k++)
			differ |= v[k] ^ v[0];
	return !differ;
}

static void put_distinct(
	struct gt_buf *b, const uint64_t *dict, unsigned used, const uint8_t *codes, size_t n)
{
	gt_buf_byte(b, used == 1 ? CONSTANT : DICTIONARY);
	if (used > 1)
		gt_put_varint(b, used);
	for (unsigned i = 0; i < used; i++)
		gt_put_varint(b, dict[i]);
	if (used > 1)
		gt_buf_add(b, codes, n);
}

void gt_put_values(struct gt_buf *b, const uint64_t *v, size_t n, struct gt_buf *scratch)
{
	uint64_t dict[DICT_MAX], *delta, previous = 0, plain_cost = 0, delta_cost = 0;
	unsigned used;

	gt_buf_clear(scratch);
	delta = (uint64_t *)(void *)gt_buf_reserve(scratch, n * 8 + 8);
	if (!delta || !n) {
		b->failed |= !delta;
		return;
	}
	dict[0] = v[0];
	used = all_equal(v, n) ? 1 : distinct(v, n, dict, (uint8_t *)delta);
	if (used) {
		put_distinct(b, dict, used, (uint8_t *)delta, n);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		delta[i] = gt_zigzag((int64_t)(v[i] - previous));
		previous = v[i];
		plain_cost += cost_of(v[i]);
		delta_cost += cost_of(delta[i]);
	}
	gt_buf_byte(b, delta_cost < plain_cost ? DELTA : PLAIN);
	gt_put_column(b, delta_cost < plain_cost ? delta : v, n);
}

/* Reads a dictionary's values to dict (DICT_MAX elements) and moves `in` to its
 * codes, which it checks. Returns the number of values, or -EBADMSG. */
static int get_dictionary(struct gt_span *in, uint64_t *dict, size_t n)
{
	uint64_t used;
	uint8_t most = 0;

	if (!gt_get_varint(in, &used) || used > DICT_MAX)
		return -EBADMSG;
	for (uint64_t i = 0; i < used; i++)
		if (!gt_get_varint(in, &dict[i]))
			return -EBADMSG;
	if ((size_t)(in->end - in->at) < n)
		return -EBADMSG;
	for (size_t i = 0; i < n; i++)
		most = in->at[i] > most ? in->at[i] : most;
	return n && most >= used ? -EBADMSG : (int)used;
}

int gt_get_values(struct gt_span *in, uint64_t *v, size_t n)
{
	uint64_t value = 0, dict[DICT_MAX];
	const uint8_t *codes;
	uint8_t how;

	if (!n)
		return 0;
	if (in->at >= in->end)
		return -EBADMSG;
	how = *in->at++;
	if (how == DICTIONARY) {
		if (get_dictionary(in, dict, n) < 0)
			return -EBADMSG;
		codes = in->at;
		in->at += n;
		for (size_t i = 0; i < n; i++)
			v[i] = dict[codes[i]];
		return 0;
	}
	if (how == CONSTANT) {
		if (!gt_get_varint(in, &value))
			return -EBADMSG;
		for (size_t i = 0; i < n; i++)
			v[i] = value;
		return 0;
	}
	if (how > PLAIN || gt_get_column(in, v, n))
		return -EBADMSG;
	for (size_t i = 0; how == DELTA && i < n; i++)
		v[i] = value += (uint64_t)gt_unzigzag(v[i]);
	return 0;
}

int gt_values_open(struct gt_values *s, struct gt_span *in, size_t n, struct gt_buf *dicts)
{
	uint64_t checked[DICT_MAX], *dict = checked;
	int used;

	memset(s, 0, sizeof(*s));
	if (!n)
		return 0;
	if (in->at >= in->end || (s->how = *in->at++) > PLAIN)
		return -EBADMSG;
	if (s->how == CONSTANT)
		return gt_get_varint(in, &s->value) ? 0 : -EBADMSG;
	if (s->how != DICTIONARY)
		return gt_column_open(&s->in, in, n);
	if (dicts && !(dict = (uint64_t *)(void *)gt_buf_reserve(dicts, sizeof(checked))))
		return -ENOMEM;
	if ((used = get_dictionary(in, dict, n)) < 0)
		return -EBADMSG;
	s->in.code = in->at;
	in->at += n;
	if (dicts) {
		s->value = dicts->len / sizeof(*dict);
		dicts->len += (size_t)used * sizeof(*dict);
	}
	return 0;
}

void gt_values_next(
	struct gt_values *s, const uint64_t *dicts, uint64_t *const *to, size_t n, unsigned field)
{
	struct gt_coded_column in = s->in;
	uint64_t value = s->value;

	if (s->how == CONSTANT) {
		for (size_t i = 0; i < n; i++)
			to[i][field] = value;
	} else if (s->how == DICTIONARY) {
		for (size_t i = 0; i < n; i++)
			to[i][field] = dicts[value + *in.code++];
	} else if (s->how == PLAIN) {
		for (size_t i = 0; i < n; i++)
			to[i][field] = gt_column_value(&in);
	} else {
		for (size_t i = 0; i < n; i++)
			to[i][field] = value += (uint64_t)gt_unzigzag(gt_column_value(&in));
	}
	s->in = in;
	s->value = value;
}
