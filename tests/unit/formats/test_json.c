/* Compares the scanner with jansson: both must agree whether a text is JSON, and on every
 * element of it. The corpus is small; every document is also damaged in many ways, always in the
 * same ones. */
#include <jansson.h>
#include "formats/base/buf.h"
#include "formats/io/stream_in.h"
#include "formats/io/json_scan.h"
#include "tests/unit/t.h"

static const char *const corpus[] = {
	"{}",
	"[]",
	"[[],{},[{}]]",
	" { \"a\" : 1 , \"b\" : [ true , false , null ] } ",
	"{\"ts\":0.000003406,\"op_id\":0,\"phase\":\"E\",\"name\":\"cuInit\",\"details\":{\"status\":0}}",
	"[0,-0,1,-1,9223372036854775807,-9223372036854775808,9223372036854775808,-9223372036854775809]",
	"[0.0,-0.0,1e5,1E+5,1e-5,1.5e300,1e308,1e309,-1e309,1e-400,123456789.123456789,0.1e1,1.7976931348623159e308]",
	"[01]",
	"[-]",
	"[1.]",
	"[.5]",
	"[1e]",
	"[1e+]",
	"[+1]",
	"[0x10]",
	"[--1]",
	"[1.5.5]",
	"[-01]",
	"[1 2]",
	"[1a]",
	"[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20ac\\ud83d\\ude00\"]",
	"[\"\\ud83d\"]",
	"[\"\\ude00\"]",
	"[\"\\ud83dx\"]",
	"[\"\\ud83d\\u0041\"]",
	"[\"\\u0000\"]",
	"[\"\\u12\"]",
	"[\"\\u12g4\"]",
	"[\"\\x\"]",
	"[\"\\\"]",
	"[\"a\tb\"]",
	"[\"a\nb\"]",
	"[\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"]",
	"[\"\xc0\x80\"]",
	"[\"\xe0\x80\x80\"]",
	"[\"\xed\xa0\x80\"]",
	"[\"\xf4\x90\x80\x80\"]",
	"[\"\xff\"]",
	"[\"\xc3\"]",
	"[\"\x80\"]",
	"[\"\xe2\x82\"]",
	"[\"\xf8\x88\x80\x80\x80\"]",
	"\xef\xbb\xbf[]",
	"[\"a long enough string to need several words, with a quote at its very end\"]",
	"[\"1234567\",\"12345678\",\"123456789\"]",
	"{\"a\":1,\"a\":2}",
	"{\"\":\"\"}",
	"{\"a\"}",
	"{\"a\":}",
	"{\"a\":1,}",
	"{,}",
	"[,]",
	"[1,]",
	"[,1]",
	"{1:2}",
	"{\"a\" 1}",
	"[true1]",
	"[truex]",
	"[tru]",
	"[nul]",
	"[False]",
	"[nullnull]",
	"{\"a\":tru}",
	"[}",
	"{]",
	"[[]",
	"[]]",
	"{}}",
	"[] []",
	"[1][",
	"{\"a\\u0062\":{\"c\\n\":[{\"d\":[1,2,{\"e\":null}]}]}}",
	"",
	" ",
	"\"\"",
	"1",
	"nul",
	"x",
	"[\"\x7f\"]",
	"[1,\n2\r,\t3]",
	"[1\v]",
};
#define CORPUS (sizeof(corpus) / sizeof(*corpus))

static struct gt_err *why; /* the scanner's error */
static json_t *take(struct gt_json *j, int t);

static json_t *take_members(struct gt_json *j, int end)
{
	json_t *all = end == GT_JSON_ARRAY_END ? json_array() : json_object(), *value;
	int t;

	while ((t = gt_json_next(j, why)) != end) {
		char *key = NULL;
		size_t len = j->len;

		if (t == GT_JSON_KEY) {
			key = malloc(len + 1);
			memcpy(key, j->text, len);
			t = gt_json_next(j, why);
		}
		value = t > 0 ? take(j, t) : NULL;
		if (!value ||
			(key ? json_object_setn_new_nocheck(all, key, len, value)
			     : json_array_append_new(all, value))) {
			free(key);
			json_decref(all);
			return NULL;
		}
		free(key);
	}
	return all;
}

/* The value that begins with token t, as jansson would have read it; NULL on error. */
static json_t *take(struct gt_json *j, int t)
{
	int64_t i;

	switch (t) {
	case GT_JSON_OBJECT: return take_members(j, GT_JSON_OBJECT_END);
	case GT_JSON_ARRAY: return take_members(j, GT_JSON_ARRAY_END);
	case GT_JSON_STRING: return json_stringn_nocheck(j->text, j->len);
	case GT_JSON_INT: return gt_json_scale(j->text, j->len, 0, &i) ? NULL : json_integer(i);
	case GT_JSON_REAL: return json_real(gt_json_double(j));
	case GT_JSON_TRUE: return json_true();
	case GT_JSON_FALSE: return json_false();
	case GT_JSON_NULL: return json_null();
	}
	return NULL;
}

/* One value and nothing after it, or NULL; err has the reason. */
static json_t *scan(const char *text, size_t len, bool strict, struct gt_err *err)
{
	struct gt_in *in = gt_in_memory(text, len, NULL);
	json_t *value = NULL;
	struct gt_json j;
	int t;

	if (!in || gt_json_init(&j, in, strict, NULL))
		abort();
	why = err;
	t = gt_json_next(&j, err);
	if (t > 0)
		value = take(&j, t);
	if (value && gt_json_next(&j, err) != GT_JSON_END) {
		json_decref(value);
		value = NULL;
	}
	gt_json_release(&j);
	gt_in_close(in);
	return value;
}

/* All tokens of this text from the scanner, and how it ends, as a text; in pairs if there are
 * pairs. */
static void put_token(struct gt_buf *b, int t, const char *text, size_t len)
{
	gt_buf_printf(b, "%d ", t);
	if (t >= GT_JSON_KEY && t <= GT_JSON_REAL)
		gt_buf_add(b, text, len);
	gt_buf_byte(b, '\n');
}

static struct gt_buf tokens(const char *text, size_t len, bool pairs)
{
	struct gt_in *in = gt_in_memory(text, len, NULL);
	struct gt_err err = GT_ERR_INIT;
	struct gt_buf b = { 0 };
	const char *key;
	struct gt_json j;
	size_t n;
	int t;

	if (!in || gt_json_init(&j, in, false, NULL))
		abort();
	do {
		t = pairs ? gt_json_pair(&j, &key, &n) : 0;
		if (t)
			put_token(&b, GT_JSON_KEY, key, n);
		else
			t = gt_json_next(&j, &err);
		put_token(&b, t, j.text, j.len);
	} while (t > 0);
	gt_buf_printf(&b, "%d at %d", err.code, (int)err.offset);
	gt_json_release(&j);
	gt_in_close(in);
	return b;
}

static bool pairs_agree(const char *text, size_t len)
{
	struct gt_buf one = tokens(text, len, false), two = tokens(text, len, true);
	bool same = one.len == two.len && !memcmp(one.data, two.data, one.len);

	if (!same)
		fprintf(stderr, "%.*s\none by one: %.*s\npairs: %.*s\n", (int)len, text,
			(int)one.len, one.data, (int)two.len, two.data);
	gt_buf_release(&one);
	gt_buf_release(&two);
	return same;
}

static bool agree(const char *text, size_t len)
{
	json_t *theirs = json_loadb(text, len, JSON_DECODE_ANY, NULL);
	json_t *ours = scan(text, len, true, NULL);
	bool same = !theirs == !ours && (!ours || json_equal(theirs, ours));

	if (!same)
		fprintf(stderr, "jansson %s, we %s: %.*s\n", theirs ? "takes" : "refuses",
			ours ? "take" : "refuse", (int)len, text);
	json_decref(theirs);
	json_decref(ours);
	return same && pairs_agree(text, len);
}

static void agrees_on_corpus(void)
{
	for (size_t i = 0; i < CORPUS; i++)
		CHECK(agree(corpus[i], strlen(corpus[i])));
}

static void agrees_on_every_prefix(void)
{
	for (size_t i = 0; i < CORPUS; i++)
		for (size_t n = 0; n < strlen(corpus[i]); n++)
			CHECK(agree(corpus[i], n));
}

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

static void agrees_on_mutations(void)
{
	static const char bytes[] =
		"\"\\{}[]:,0123456789.eE+-truefalsn \t\n\x01\x7f\x80\xc3\xa9\xed\xff/bu";
	uint32_t state = 1;
	char text[256];

	for (unsigned round = 0; round < T_INPUTS(60000u); round++) {
		const char *from = corpus[next_random(&state) % CORPUS];
		size_t len = strlen(from);

		memcpy(text, from, len);
		for (unsigned n = 1 + next_random(&state) % 3; n && len; n--) {
			size_t at = next_random(&state) % len;
			unsigned how = next_random(&state) % 3;

			if (how == 0) {
				text[at] = bytes[next_random(&state) % (sizeof(bytes) - 1)];
			} else if (how == 1) {
				memmove(text + at, text + at + 1, --len - at);
			} else if (len < sizeof(text)) {
				memmove(text + at + 1, text + at, len++ - at);
				text[at] = bytes[next_random(&state) % (sizeof(bytes) - 1)];
			}
		}
		CHECK(agree(text, len));
	}
}

static void agrees_on_depth(void)
{
	char text[2 * 2049];

	for (size_t depth = 2047; depth <= 2049; depth++) {
		memset(text, '[', depth);
		memset(text + depth, ']', depth);
		CHECK(agree(text, 2 * depth));
	}
}

/* The text is pushed over the edge of the scanner's window, byte by byte: every token is cut at
 * every place. */
static void window_edge_changes_nothing(void)
{
	static const char text[] =
		"{\"a\\u00e9\\ud83d\\ude00\":[-12.5e+3,true,null,\"xyz\\n\"],\"b\":123456789, \"c\": \"de\"}";
	const size_t len = sizeof(text) - 1, window = 256u << 10;
	char *padded = malloc(window + len);
	json_t *whole = scan(text, len, true, NULL);
	bool same = true;

	for (size_t before = window - len - 1; padded && same && before <= window; before++) {
		json_t *got;

		memset(padded, ' ', before);
		memcpy(padded + before, text, len);
		got = scan(padded, before + len, true, NULL);
		same = got && json_equal(whole, got) && pairs_agree(padded, before + len);
		json_decref(got);
	}
	json_decref(whole);
	free(padded);
	CHECK(same);
}

static void long_strings(void)
{
	const size_t len = 3u << 20;
	char *text = malloc(len + 4);
	json_t *got;
	bool right;

	memset(text, 'n', len + 4);
	memcpy(text, "[\"", 2);
	memcpy(text + len + 2, "\"]", 2);
	got = scan(text, len + 4, true, NULL);
	right = got && json_string_length(json_array_get(got, 0)) == len;
	json_decref(got);
	free(text);
	CHECK(right);
}

static void too_long_a_string_is_an_error(void)
{
	const size_t len = GT_JSON_TOKEN_MAX + 100;
	struct gt_err err = GT_ERR_INIT;
	char *text = malloc(len);
	json_t *got;

	memset(text, 'n', len);
	text[0] = '"';
	got = scan(text, len, true, &err);
	free(text);
	CHECK(!got && err.code == -EMSGSIZE);
}

static int64_t scaled(const char *text, int scale)
{
	int64_t v;

	return gt_json_scale(text, strlen(text), scale, &v) ? INT64_MIN : v;
}

static void numbers_are_exact(void)
{
	CHECK_EQ(scaled("0.000003406", 9), 3406);
	CHECK_EQ(scaled("1763629478.123456789", 9), 1763629478123456789);
	CHECK_EQ(scaled("-1763629478.123456789", 9), -1763629478123456789);
	CHECK_EQ(scaled("0.1234567899999", 9), 123456789);
	CHECK_EQ(scaled("5e-06", 9), 5000);
	CHECK_EQ(scaled("1.5E-05", 9), 15000);
	CHECK_EQ(scaled("12e3", 9), 12000000000000);
	CHECK(scaled("0", 9) == 0 && scaled("-0.0", 9) == 0 && scaled("0e999999999999", 9) == 0);
	CHECK_EQ(scaled("1e-999999999999", 9), 0);
	CHECK_EQ(scaled("9223372036.854775807", 9), INT64_MAX);
	CHECK_EQ(scaled("9223372036.854775808", 9), INT64_MIN); /* the error */
	CHECK_EQ(scaled("1e999999999999", 9), INT64_MIN);
	CHECK_EQ(scaled("12.3456", 3), 12345);
	CHECK_EQ(scaled("9223372036854775807", 0), INT64_MAX);
}

static void lax_takes_what_loggers_write(void)
{
	static const char text[] =
		"[\"\xff\xc3\",\"\\udc80\",\"\\ud83dx\",18446744073709551615,99999999999999999999,1e999]";
	struct gt_in *in = gt_in_memory(text, sizeof(text) - 1, NULL);
	struct gt_json j;
	bool negative, right = true;
	uint64_t v = 0;

	CHECK(in && !gt_json_init(&j, in, false, NULL));
	right &= gt_json_next(&j, NULL) == GT_JSON_ARRAY;
	right &= gt_json_next(&j, NULL) == GT_JSON_STRING && gt_json_is(&j, "\xff\xc3");
	right &= gt_json_next(&j, NULL) == GT_JSON_STRING && gt_json_is(&j, "\xef\xbf\xbd");
	right &= gt_json_next(&j, NULL) == GT_JSON_STRING && gt_json_is(&j, "\xef\xbf\xbdx");
	right &= gt_json_next(&j, NULL) == GT_JSON_INT &&
		!gt_json_magnitude(j.text, j.len, 0, &negative, &v) && v == UINT64_MAX;
	right &= gt_json_next(&j, NULL) == GT_JSON_INT &&
		gt_json_magnitude(j.text, j.len, 0, &negative, &v) == -ERANGE;
	right &= gt_json_next(&j, NULL) == GT_JSON_REAL && gt_json_double(&j) > 1e308;
	right &= gt_json_next(&j, NULL) == GT_JSON_ARRAY_END &&
		gt_json_next(&j, NULL) == GT_JSON_END;
	gt_json_release(&j);
	gt_in_close(in);
	CHECK(right);
}

static void errors_name_their_byte(void)
{
	static const struct {
		const char *text;
		int code;
		uint64_t at;
	} wrong[] = {
		{ "[1,x]", -EBADMSG, 3 },
		{ "{\"a\":1,}", -EBADMSG, 7 },
		{ "{\"a\" 1}", -EBADMSG, 5 },
		{ "[\"a\nb\"]", -EBADMSG, 3 },
		{ "[\"ab\\q\"]", -EBADMSG, 5 },
		{ "[1.x]", -EBADMSG, 3 },
		{ "[\"\\u00zz\"]", -EBADMSG, 3 },
		{ "[\"\xff\"]", -EBADMSG, 2 },
		{ "[1,2", -ENODATA, 4 },
		{ "{\"a", -ENODATA, 3 },
		{ "{\"a\":tr", -ENODATA, 7 },
		{ "[-", -ENODATA, 2 },
		{ "[0.", -ENODATA, 3 },
		{ "[\"\\", -ENODATA, 3 },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct gt_err err = GT_ERR_INIT;

		CHECK(!scan(wrong[i].text, strlen(wrong[i].text), true, &err));
		CHECK(err.code == wrong[i].code);
		CHECK(err.offset == wrong[i].at);
	}
}

static void skips_whole_values(void)
{
	static const char text[] = "{\"a\":{\"x\":[1,{\"y\":2}]},\"b\":[[],[]],\"c\":7} 5";
	struct gt_in *in = gt_in_memory(text, sizeof(text) - 1, NULL);
	struct gt_json j;
	bool right;

	CHECK(in && !gt_json_init(&j, in, true, NULL));
	right = gt_json_next(&j, NULL) == GT_JSON_OBJECT;
	for (const char *key = "ab"; *key; key++)
		right = right && gt_json_next(&j, NULL) == GT_JSON_KEY && *j.text == *key &&
			gt_json_next(&j, NULL) > 0 && !gt_json_skip(&j, NULL);
	right = right && gt_json_next(&j, NULL) == GT_JSON_KEY &&
		gt_json_next(&j, NULL) == GT_JSON_INT && !gt_json_skip(&j, NULL);
	right = right && gt_json_is(&j, "7") && gt_json_next(&j, NULL) == GT_JSON_OBJECT_END &&
		gt_json_next(&j, NULL) == GT_JSON_INT;
	gt_json_release(&j);
	gt_in_close(in);
	CHECK(right);
}

T_MAIN(T(agrees_on_corpus), T(agrees_on_every_prefix), T(agrees_on_mutations), T(agrees_on_depth),
	T(window_edge_changes_nothing), T(long_strings), T(too_long_a_string_is_an_error),
	T(numbers_are_exact), T(lax_takes_what_loggers_write), T(errors_name_their_byte),
	T(skips_whole_values))
