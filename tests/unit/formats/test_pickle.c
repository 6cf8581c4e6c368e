/* Pickles: values as Python has them, refused opcodes, and bombs. */
#include <inttypes.h>
#include "formats/base/buf.h"
#include "formats/io/pickle.h"
#include "formats/io/stream_in.h"
#include "tests/unit/t.h"

static struct gt_buf text;
static struct gt_err err;

static struct gt_pickle *load(const void *bytes, size_t len)
{
	struct gt_in *in = gt_in_memory(bytes, len, &err);
	struct gt_pickle *p;

	err = (struct gt_err)GT_ERR_INIT;
	p = in ? gt_pickle_load(in, &err) : NULL;
	gt_in_close(in);
	return p;
}

static void put_token(const struct gt_pickle_cursor *c, int t)
{
	switch (t) {
	case GT_JSON_OBJECT: gt_buf_str(&text, "{"); break;
	case GT_JSON_OBJECT_END: gt_buf_str(&text, "}"); break;
	case GT_JSON_ARRAY: gt_buf_str(&text, "["); break;
	case GT_JSON_ARRAY_END: gt_buf_str(&text, "]"); break;
	case GT_JSON_KEY: gt_buf_printf(&text, "%.*s:", (int)c->len, c->text); break;
	case GT_JSON_STRING: gt_buf_printf(&text, "'%.*s'", (int)c->len, c->text); break;
	case GT_JSON_INT:
		gt_buf_printf(&text, "%s%" PRIu64, c->negative ? "-" : "", c->magnitude);
		break;
	case GT_JSON_REAL: gt_buf_printf(&text, "%.17g", c->real); break;
	case GT_JSON_TRUE: gt_buf_str(&text, "true"); break;
	case GT_JSON_FALSE: gt_buf_str(&text, "false"); break;
	default: gt_buf_str(&text, "null");
	}
	gt_buf_str(&text, " ");
}

/* The whole pickle as text, or the error's text, after its offset if it has one. */
static const char *read_all(const void *bytes, size_t len)
{
	struct gt_pickle *p = load(bytes, len);
	struct gt_pickle_cursor c;
	int t;

	gt_buf_clear(&text);
	if (p)
		gt_pickle_open(&c, p, gt_pickle_root(p));
	while (p && (t = gt_pickle_next(&c, &err)) > 0)
		put_token(&c, t);
	gt_pickle_free(p);
	if (err.code)
		gt_buf_clear(&text);
	if (err.code && err.offset != GT_NO_OFFSET)
		gt_buf_printf(&text, "%" PRIu64 ": ", err.offset);
	if (err.code)
		gt_buf_str(&text, err.text);
	else if (text.len)
		text.len--;
	gt_buf_byte(&text, 0);
	return (const char *)text.data;
}
#define READ(bytes) read_all(bytes, sizeof(bytes) - 1)
#define P2 "\x80\x02"

static void scalars(void)
{
	CHECK_STR(READ(P2 "N."), "null");
	CHECK_STR(READ(P2 "(\x88\x89l."), "[ true false ]");
	CHECK_STR(READ(P2 "(K\xffM\x01\x02J\xff\xff\xff\x7fJ\xff\xff\xff\xffJ\0\0\0\x80l."),
		"[ 255 513 2147483647 -1 -2147483648 ]");
	CHECK_STR(READ(P2 "G\x3f\xf8\0\0\0\0\0\0."), "1.5");
}

static void long_integers(void)
{
	CHECK_STR(READ(P2 "(\x8a\0\x8a\1\xff\x8a\2\xff\0\x8a\2\0\xffl."), "[ 0 -1 255 -256 ]");
	/* 2^63 - 1, -2^63, 2^64 - 1 and 2^64 */
	CHECK_STR(READ(P2 "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f."), "9223372036854775807");
	CHECK_STR(READ(P2 "\x8a\x08\0\0\0\0\0\0\0\x80."), "-9223372036854775808");
	CHECK_STR(READ(P2 "\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\0."), "18446744073709551615");
	CHECK_STR(READ(P2 "\x8a\x09\0\0\0\0\0\0\0\0\1."), "1.8446744073709552e+19");
	CHECK_STR(READ(P2 "\x8a\x09\0\0\0\0\0\0\0\0\xff."), "-1.8446744073709552e+19");
	/* needlessly long ones */
	CHECK_STR(READ(P2 "\x8a\x0a\x05\0\0\0\0\0\0\0\0\0."), "5");
	CHECK_STR(READ(P2 "\x8b\x0b\0\0\0\xfe\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff."), "-2");
}

static void texts(void)
{
	CHECK_STR(READ(P2 "(U\1aT\1\0\0\0bX\1\0\0\0cl."), "[ 'a' 'b' 'c' ]");
	CHECK_STR(READ("\x80\x04(\x8c\1a\x8d\1\0\0\0\0\0\0\0b"
		       "C\1cB\1\0\0\0d\x8e\1\0\0\0\0\0\0\0e\x96\1\0\0\0\0\0\0\0fU\0l."),
		"[ 'a' 'b' 'c' 'd' 'e' 'f' '' ]");
}

static void containers(void)
{
	CHECK_STR(READ(P2 "(])}l."), "[ [ ] [ ] { } ]");
	CHECK_STR(READ(P2 "K\1\x85."), "[ 1 ]");
	CHECK_STR(READ(P2 "K\1K\2\x86."), "[ 1 2 ]");
	CHECK_STR(READ(P2 "(K\1K\2t."), "[ 1 2 ]");
	CHECK_STR(READ(P2 "]K\1aK\2a(K\3K\4e."), "[ 1 2 3 4 ]");
	CHECK_STR(READ(P2 "}U\1aK\1sU\1bK\2s."), "{ a: 1 b: 2 }");
	CHECK_STR(READ(P2 "(U\1a(U\1bNdd."), "{ a: { b: null } }");
	CHECK_STR(READ("\x80\x04(\x8f(K\1\x90(K\2\x91l."), "[ [ 1 ] [ 2 ] ]");
	/* keys that are no texts */
	CHECK_STR(READ(P2 "}(K\7K\1J\xff\xff\xff\xffK\2NK\3u."), "{ 7: 1 -1: 2 : 3 }");
}

/* Lists that grow in turns have several chunks each. */
static void chunks(void)
{
	CHECK_STR(
		READ(P2 "]q\0]q\1(h\0K\1ah\1K\2ah\0K\3ah\1K\4a1(h\0h\1t."), "[ [ 1 3 ] [ 2 4 ] ]");
}

static void memo(void)
{
	CHECK_STR(READ(P2 "(U\1aq\0h\0j\0\0\0\0l."), "[ 'a' 'a' 'a' ]");
	CHECK_STR(READ("\x80\x04\x95\x09\0\0\0\0\0\0\0(\x8c\1a\x94h\0l."), "[ 'a' 'a' ]");
	CHECK_STR(READ(P2 "(K\1K\2r\3\0\0\0"
			  "0j\3\0\0\0l."),
		"[ 1 2 ]");
	CHECK_STR(READ(P2 "(K\1"
			  "2l."),
		"[ 1 1 ]");
	CHECK_STR(READ(P2 "h\0."), "2: pickle: a memo entry is not set");
	CHECK_STR(READ(P2 "Nr\xff\xff\xff\x7f."),
		"3: pickle: the number of a memo entry is too large");
}

/* No opcode that would import or call is executed. */
static void no_code(void)
{
	CHECK_STR(READ(P2 "cos\nsystem\nU\1aR."),
		"2: pickle: it would import os.system: pickles with code are not read");
	CHECK_STR(READ("\x80\x04\x8c\2os\x8c\6system\x93."),
		"14: pickle: it would import os.system: pickles with code are not read");
	CHECK_STR(READ("\x80\x04\x93."),
		"2: pickle: it would import ?.?: pickles with code are not read");
	CHECK_STR(READ(P2 "(ios\nsystem\n."),
		"3: pickle: it would import os.system: pickles with code are not read");
	for (const char *c = "RobQP\x81\x82\x83\x84\x92\x97\x98"; *c; c++) {
		char bytes[] = P2 "NN?aaaaaa\n.";

		bytes[4] = *c;
		CHECK_STR(READ(bytes),
			"4: pickle: it would call code or load data from elsewhere: such pickles are not read");
	}
}

static void damaged(void)
{
	CHECK_STR(READ(""), "0: the pickle is incomplete: its end is missing");
	CHECK_STR(READ(P2 "X\5\0\0\0abc"), "10: the pickle is incomplete: its end is missing");
	CHECK_STR(READ("\x80\x06."), "0: pickle: protocols 2 to 5 are read");
	CHECK_STR(READ(P2 "I1\n."), "2: pickle: opcodes of protocol 0 are not read");
	CHECK_STR(READ(P2 "\0."), "2: pickle: invalid opcode");
	CHECK_STR(READ(P2 "\xff."), "2: pickle: invalid opcode");
	CHECK_STR(READ(P2 "."), "2: pickle: an opcode has too few values");
	CHECK_STR(READ(P2 "e."), "2: pickle: an opcode has no mark");
	CHECK_STR(READ(P2 "](N."), "5: pickle: a mark is left at its end");
	CHECK_STR(READ(P2 "N(Ne."), "5: pickle: items are appended to a value that is no list");
	CHECK_STR(READ(P2 "](NNu."), "6: pickle: items are set in a value that is no dict");
	CHECK_STR(READ(P2 "}(Nu."), "5: pickle: a dict has a key without a value");
	CHECK_STR(READ(P2 "N(\x85."), "4: pickle: an opcode has too few values");
	CHECK_STR(READ(P2 "\x8d\0\0\0\0\1\0\0\0."),
		"2: pickle: a string of 4294967296 bytes: at most 16777216");
	CHECK_STR(READ(P2 "\x8b\0\0\0\x80."), "2: pickle: an integer has a negative length");
}

/* Objects that contain themselves, or twice the one before, are not expanded. */
static void bombs(void)
{
	struct gt_buf b = { 0 };

	CHECK_STR(READ(P2 "]q\0h\0a."),
		"pickle: values are nested in more than 64 levels, or contain themselves");
	gt_buf_add(&b, P2 "]q\0", 5);
	for (unsigned i = 1; i < 60; i++)
		gt_buf_printf(&b, "](h%ch%ceq%c", i - 1, i - 1, i);
	gt_buf_byte(&b, '.');
	CHECK_STR(read_all(b.data, b.len),
		"pickle: its values refer to each other too often: they would be read more than 16 times");
	gt_buf_clear(&b);
	gt_buf_add(&b, P2, 2);
	for (unsigned i = 0; i < 10000; i++)
		gt_buf_byte(&b, ']');
	for (unsigned i = 1; i < 10000; i++)
		gt_buf_byte(&b, 'a');
	gt_buf_byte(&b, '.');
	CHECK_STR(read_all(b.data, b.len),
		"pickle: values are nested in more than 64 levels, or contain themselves");
	gt_buf_release(&b);
}

/* A skipped value costs nothing, whatever it contains; the same object has the same number. */
static void pairs(void)
{
	static const char bytes[] = P2 "}(U\1a]q\0h\0aU\1bh\0U\1cK\5u.";
	struct gt_pickle *p = load(bytes, sizeof(bytes) - 1);
	struct gt_pickle_cursor c;
	gt_pickle_value first;
	const char *key;
	size_t len;

	CHECK(p);
	gt_pickle_open(&c, p, gt_pickle_root(p));
	CHECK_EQ(gt_pickle_next(&c, &err), GT_JSON_OBJECT);
	CHECK_EQ(gt_pickle_pair(&c, &key, &len, &err), GT_JSON_ARRAY);
	CHECK(gt_pickle_is(key, len, "a"));
	first = c.value;
	gt_pickle_skip(&c);
	CHECK_EQ(gt_pickle_pair(&c, &key, &len, &err), GT_JSON_ARRAY);
	CHECK(gt_pickle_is(key, len, "b") && c.value == first);
	gt_pickle_skip(&c);
	CHECK_EQ(gt_pickle_pair(&c, &key, &len, &err), GT_JSON_INT);
	gt_pickle_skip(&c);
	CHECK(gt_pickle_is(key, len, "c") && c.magnitude == 5);
	CHECK_EQ(gt_pickle_pair(&c, &key, &len, &err), 0);
	CHECK_EQ(gt_pickle_next(&c, &err), GT_JSON_END);
	gt_pickle_free(p);
}

/* A string is longer than the window of the reader, and a value lies across its end. */
static void windows(void)
{
	struct gt_buf b = { 0 };
	const char *got;
	size_t len = 70000;

	gt_buf_add(&b, P2 "(", 3);
	for (unsigned i = 0; i < 65530 / 2; i++)
		gt_buf_add(&b, "K\1", 2);
	gt_buf_add(&b, "X\x70\x11\1\0", 5);
	for (size_t i = 0; i < len; i++)
		gt_buf_byte(&b, 'x');
	gt_buf_add(&b, "J\1\2\3\4l.", 7);
	got = read_all(b.data, b.len);
	CHECK_EQ(strlen(got), 2 + 65530 + len + 3 + strlen("67305985 ]"));
	CHECK_STR(got + strlen(got) - 13, "x' 67305985 ]");
	gt_buf_release(&b);
}

static void the_end(void) { gt_buf_release(&text); }

T_MAIN(T(scalars), T(long_integers), T(texts), T(containers), T(chunks), T(memo), T(no_code),
	T(damaged), T(bombs), T(pairs), T(windows), T(the_end))
