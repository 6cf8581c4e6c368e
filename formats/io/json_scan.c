/* The window is a part of the text, followed by zeros. A zero is not part of any token, so every
 * inner loop stops there without a check of the length. Only then the scanner checks whether the
 * window ended, reads more, and scans the token from its first byte again. Between tokens the state
 * is which brackets are open (a bit each) and what may come next. */
#define _GNU_SOURCE
#include "formats/io/json_scan.h"

#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include "formats/io/stream_in.h"
#include "formats/text/utf8.h"

#define WINDOW_SIZE (256u << 10)
#define AT_END INT_MIN /* differs from every negative errno */

enum expect { TOP, VALUE, VALUE_OR_END, KEY, KEY_OR_END, COLON, MORE };
static const char *const expected[] = {
	[TOP] = "a value",
	[VALUE] = "a value",
	[VALUE_OR_END] = "a value or ']'",
	[KEY] = "a key in quotes",
	[KEY_OR_END] = "a key in quotes or '}'",
	[COLON] = "':'",
	[MORE] = "',' or a closing bracket",
};

int gt_json_init(struct gt_json *j, struct gt_in *in, bool strict, struct gt_err *err)
{
	memset(j, 0, sizeof(*j));
	j->cap = WINDOW_SIZE;
	j->window = malloc(j->cap + GT_JSON_PAD);
	j->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!j->window || !j->c_locale) {
		gt_json_release(j);
		return gt_err_set(err, -ENOMEM, "out of memory (reading JSON)");
	}
	memset(j->window, 0, GT_JSON_PAD);
	j->at = j->end = j->window;
	j->in = in;
	j->strict = strict;
	return 0;
}

void gt_json_release(struct gt_json *j)
{
	if (j->c_locale)
		freelocale((locale_t)j->c_locale);
	free(j->window);
	gt_buf_release(&j->decoded);
	memset(j, 0, sizeof(*j));
}

int gt_json_set_error(
	const struct gt_json *j, uint64_t offset, struct gt_err *err, const char *what)
{
	return gt_err_at(err, offset, -EBADMSG, "%s%s", what,
		gt_in_is_packed(j->in) ? " (in the unpacked text)" : "");
}

static int bad(const struct gt_json *j, const char *where, struct gt_err *err, const char *what)
{
	return gt_json_set_error(j, j->before + (uint64_t)(where - j->window), err, what);
}

static int cut_short(const struct gt_json *j, struct gt_err *err)
{
	return gt_err_at(err, j->before + (uint64_t)(j->end - j->window), -ENODATA,
		"the text ends inside a JSON value");
}

static int widen(struct gt_json *j, struct gt_err *err)
{
	char *wider;

	if (j->cap >= GT_JSON_TOKEN_MAX)
		return gt_err_at(err, gt_json_offset(j), -EMSGSIZE,
			"a string or number longer than %u MiB", GT_JSON_TOKEN_MAX >> 20);
	wider = realloc(j->window, j->cap * 2 + GT_JSON_PAD);
	if (!wider)
		return gt_err_set(err, -ENOMEM, "out of memory (reading JSON)");
	j->end = wider + (j->end - j->window);
	j->at = j->window = wider;
	j->cap *= 2;
	return 0;
}

/* Reads more text behind `end`. Drops the text before `at`, which moves to the front of the window.
 * 1, 0 at the end of the input, or negative. */
static int refill(struct gt_json *j, struct gt_err *err)
{
	size_t kept = (size_t)(j->end - j->at);
	ssize_t n;
	int r;

	if (j->input_ended)
		return 0;
	memmove(j->window, j->at, kept);
	j->before += (uint64_t)(j->at - j->window);
	j->at = j->window;
	j->end = j->window + kept;
	if (kept == j->cap && (r = widen(j, err)))
		return r;
	n = gt_in_read(j->in, j->window + kept, j->cap - kept, err);
	j->input_ended = n == 0;
	j->end += n > 0 ? n : 0;
	memset((char *)j->end, 0, GT_JSON_PAD);
	return n < 0 ? (int)n : n > 0;
}

/* Reads more of an incomplete token. 0, or an error; the end of the input is one. */
static int need(struct gt_json *j, struct gt_err *err)
{
	int r = refill(j, err);

	return r > 0 ? 0 : r < 0 ? r : cut_short(j, err);
}

/* Moves `at` to the next byte that is not white space. Returns that byte, AT_END, or another
 * negative error. */
static int skip_space(struct gt_json *j, struct gt_err *err)
{
	for (;;) {
		const char *p = j->at;
		int r;

		while (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')
			p++;
		j->at = p;
		if (p < j->end)
			return (unsigned char)*p;
		r = refill(j, err);
		if (r <= 0)
			return r ? r : AT_END;
	}
}

/* ---- strings ---- */

#define ONES 0x0101010101010101ULL
/* The top bit of each byte of the result: the byte of w is below 0x20, a quote or a backslash. Only
 * the lowest set bit is reliable. */
static inline uint64_t special(uint64_t w)
{
	uint64_t quote = w ^ ONES * '"', slash = w ^ ONES * '\\';

	return (((w - ONES * 0x20) & ~w) | ((quote - ONES) & ~quote) | ((slash - ONES) & ~slash)) &
		ONES * 0x80;
}

/* The first byte from p on that special() finds; the zeros behind the window are such bytes.
 * Collects the top bits of all bytes in *high. */
static inline const char *plain_run(const char *p, uint64_t *high)
{
	uint64_t w, stop;

	for (;; p += 8) {
		memcpy(&w, p, 8);
		*high |= w;
		stop = special(w);
		if (stop)
			return p + (__builtin_ctzll(stop) >> 3);
	}
}

static int check_utf8(const struct gt_json *j, const char *p, const char *end, struct gt_err *err)
{
	uint32_t ch;

	for (size_t n; p < end; p += n) {
		n = gt_utf8_get(p, (size_t)(end - p), &ch);
		if (ch == UINT32_MAX)
			return bad(j, p, err, "not UTF-8");
	}
	return 0;
}

/* Four hex digits, or -1. */
static int hex4(const char *p)
{
	int v = 0;

	for (int i = 0; i < 4; i++) {
		int c = (unsigned char)p[i], d = c - '0';

		if (d < 0 || d > 9)
			d = (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
		if (d < 0)
			return -1;
		v = v << 4 | d;
	}
	return v;
}

/* *p is at the 'u'. Returns the character of this escape, and of the next one if they are a
 * surrogate pair, and moves *p behind them. Negative: err is filled in. */
static int64_t unicode_escape(const struct gt_json *j, const char **p, struct gt_err *err)
{
	int c = hex4(*p + 1), low;

	if (c < 0)
		return bad(j, *p, err, "\\u without four hex digits");
	if (c == 0 && j->strict)
		return bad(j, *p, err, "\\u0000 in a string");
	*p += 5;
	if (c == 0)
		/* most code would take a zero for the end of the string */
		return 0xfffd;
	if (c >> 11 != 0x1b)
		return c;
	low = c < 0xdc00 && (*p)[0] == '\\' && (*p)[1] == 'u' ? hex4(*p + 2) : -1;
	if (low >> 10 == 0x37) {
		*p += 6;
		return 0x10000 + ((c & 0x3ff) << 10 | (low & 0x3ff));
	}
	return j->strict ? bad(j, *p - 6, err, "half a surrogate pair") : 0xfffd;
}

/* Decodes the escapes of [p, end) into j->decoded. The result is never longer. */
static int decode(struct gt_json *j, const char *p, const char *end, struct gt_err *err)
{
	static const char plain[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
	char *to = (char *)gt_buf_reserve(&j->decoded, (size_t)(end - p));

	if (!to)
		return gt_err_set(err, -ENOMEM, "out of memory (string)");
	while (p < end) {
		const char *run = memchr(p, '\\', (size_t)(end - p)), *found;
		size_t n = (size_t)((run ? run : end) - p);

		memcpy(to, p, n);
		to += n;
		p += n + 1;
		if (!run)
			break;
		found = *p ? strchr(plain, *p) : NULL;
		if (found) {
			*to++ = means[found - plain];
			p++;
		} else if (*p == 'u') {
			int64_t c = unicode_escape(j, &p, err);

			if (c < 0)
				return (int)c;
			to += gt_utf8_put(to, (uint32_t)c);
		} else {
			return bad(j, p, err, "an escape that JSON does not know");
		}
	}
	j->text = (const char *)j->decoded.data;
	j->len = (size_t)(to - j->text);
	return 0;
}

/* `at` is at the opening quote. Moves it behind the closing one. */
static int scan_string(struct gt_json *j, struct gt_err *err)
{
	size_t i = 1;
	bool escaped = false;
	uint64_t high = 0;
	const char *p;
	int r;

	for (;;) {
		p = plain_run(j->at + i, &high);
		if (*p == '"')
			break;
		i = (size_t)(p - j->at);
		if (*p == '\\' && p + 1 < j->end) {
			escaped = true;
			i += 2;
			continue;
		}
		if (p < j->end && *p != '\\') {
			if (!j->controls || !*p)
				return bad(j, p, err,
					*p == '\n' ? "a line ends inside a string"
						   : "a control character in a string");
			i++;
			continue;
		}
		r = need(j, err);
		if (r)
			return r;
	}
	j->text = j->at + 1;
	j->len = (size_t)(p - j->text);
	if (j->strict && high & ONES * 0x80 && (r = check_utf8(j, j->text, p, err)))
		return r;
	if (escaped && (r = decode(j, j->text, p, err)))
		return r;
	j->at = p + 1;
	return 0;
}

/* ---- numbers ---- */

/* Returns the end of the number at p; *real: it is not an integer. NULL: it is not a number, and
 * *wrong is the first invalid byte. */
static const char *number_end(const char *p, bool *real, const char **wrong)
{
	*real = false;
	p += *p == '-';
	*wrong = p;
	if ((unsigned)*p - '0' > 9)
		return NULL;
	if (*p++ == '0') {
		*wrong = p;
		if ((unsigned)*p - '0' <= 9)
			return NULL;
	}
	while ((unsigned)*p - '0' <= 9)
		p++;
	if (*p == '.') {
		*real = true;
		*wrong = ++p;
		if ((unsigned)*p - '0' > 9)
			return NULL;
		while ((unsigned)*p - '0' <= 9)
			p++;
	}
	if ((*p | 0x20) == 'e') {
		*real = true;
		p++;
		p += *p == '-' || *p == '+';
		*wrong = p;
		if ((unsigned)*p - '0' > 9)
			return NULL;
		while ((unsigned)*p - '0' <= 9)
			p++;
	}
	return p;
}

static int scan_number(struct gt_json *j, struct gt_err *err)
{
	const char *end, *wrong;
	size_t wanted;
	bool real;
	int64_t value;
	int r;

	for (;;) {
		end = number_end(j->at, &real, &wrong);
		if ((end ? end : wrong) < j->end || j->input_ended)
			break;
		/* twice the text, so that a long number does not take quadratic time; this moves
		 * the window also at the end of the input */
		wanted = 2 * (size_t)(j->end - j->at);
		do
			r = refill(j, err);
		while (r > 0 && (size_t)(j->end - j->at) < wanted);
		if (r < 0)
			return r;
	}
	if (!end && wrong == j->end)
		return cut_short(j, err);
	if (!end)
		return bad(j, wrong, err, "not a number as JSON writes them");
	j->text = j->at;
	j->len = (size_t)(end - j->at);
	if (j->strict &&
		(real ? isinf(gt_json_double(j)) : gt_json_scale(j->text, j->len, 0, &value)))
		return bad(j, j->at, err, "a number too large");
	j->at = end;
	return real ? GT_JSON_REAL : GT_JSON_INT;
}

/* The usual case: a number without an exponent, of so few digits that 64 bits hold it. False: it is
 * another one. */
static bool short_magnitude(const char *p, size_t len, int shift, uint64_t *value)
{
	uint64_t v = 0;
	bool fraction = false;

	if (len > 19) /* 18 digits and a dot, or 19 digits */
		return false;
	for (const char *end = p + len; p < end; p++) {
		unsigned digit = (unsigned)*p - '0';

		if (digit <= 9) {
			v = v * 10 + digit;
			shift -= fraction;
		} else if (*p == '.') {
			fraction = true;
		} else {
			return false;
		}
	}
	for (; shift < 0; shift++)
		v /= 10;
	for (; v && shift > 0; shift--)
		if (__builtin_mul_overflow(v, 10, &v))
			return false;
	*value = v;
	return true;
}

int gt_json_magnitude(const char *p, size_t len, int scale, bool *negative, uint64_t *value)
{
	const char *end = p + len, *e = p, *c;
	long shift = scale;
	uint64_t v = 0;
	bool fraction = false, minus;

	*negative = *p == '-';
	p += *negative;
	if (short_magnitude(p, (size_t)(end - p), scale, value))
		return 0;
	while (e < end && (*e | 0x20) != 'e')
		e++;
	if (e < end) {
		long x = 0;

		minus = e[1] == '-';
		for (c = e + 1 + (e[1] == '-' || e[1] == '+'); c < end; c++)
			/* more than any number of digits */
			x = x < 100000000 ? x * 10 + *c - '0' : x;
		shift += minus ? -x : x;
	}
	for (c = p; c < e && *c != '.'; c++)
		;
	shift += c - p; /* now the number of digits to use */
	for (; p < e && shift > 0; p++) {
		if (*p == '.' && !fraction) {
			fraction = true;
			continue;
		}
		if (__builtin_mul_overflow(v, 10, &v) ||
			__builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return -ERANGE;
		shift--;
	}
	for (; v && shift > 0; shift--)
		if (__builtin_mul_overflow(v, 10, &v))
			return -ERANGE;
	*value = v;
	return 0;
}

int gt_json_scale(const char *text, size_t len, int scale, int64_t *value)
{
	bool negative;
	uint64_t v;

	if (gt_json_magnitude(text, len, scale, &negative, &v) ||
		v > (uint64_t)INT64_MAX + negative)
		return -ERANGE;
	*value = negative ? (int64_t)(0 - v) : (int64_t)v;
	return 0;
}

double gt_json_double(const struct gt_json *j)
{
	/* stops at the number's end, because no byte of a number follows it */
	return strtod_l(j->text, NULL, (locale_t)j->c_locale);
}

/* ---- structure ---- */

static bool in_object(const struct gt_json *j)
{
	return j->objects[j->depth / 64] >> (j->depth % 64) & 1;
}

static int open_bracket(struct gt_json *j, bool object, struct gt_err *err)
{
	if (j->depth >= GT_JSON_DEPTH_MAX)
		return bad(j, j->at, err, "brackets nested more than 2048 deep");
	j->depth++;
	j->objects[j->depth / 64] &= ~(1ULL << (j->depth % 64));
	j->objects[j->depth / 64] |= (uint64_t)object << (j->depth % 64);
	j->expect = object ? KEY_OR_END : VALUE_OR_END;
	j->at++;
	return object ? GT_JSON_OBJECT : GT_JSON_ARRAY;
}

static int close_bracket(struct gt_json *j)
{
	bool object = in_object(j);

	j->depth--;
	j->expect = j->depth ? MORE : TOP;
	j->at++;
	return object ? GT_JSON_OBJECT_END : GT_JSON_ARRAY_END;
}

static int scan_word(struct gt_json *j, const char *word, int token, struct gt_err *err)
{
	size_t i = 0;
	int r;

	for (;;) {
		while (word[i] && j->at[i] == word[i])
			i++;
		if (j->at + i < j->end)
			break;
		r = refill(j, err);
		if (r < 0)
			return r;
		if (!r && word[i])
			return cut_short(j, err);
		if (!r)
			break;
	}
	if (word[i] || ((j->at[i] | 0x20) >= 'a' && (j->at[i] | 0x20) <= 'z'))
		return bad(j, j->at, err, "no JSON value begins like this");
	j->at += i;
	return token;
}

/* What C and other languages print for a value that is not a number: -nan, inf, Infinity. Returns
 * GT_JSON_NULL, 0 if there is something else, or negative. */
static int scan_no_number(struct gt_json *j, struct gt_err *err)
{
	/* longer ones first */
	static const char *const words[] = { "infinity", "inf", "nan(snan)", "nan(ind)", "nan" };
	const char *p;
	int r;

	while (j->end - j->at < 16 && !j->input_ended)
		if ((r = refill(j, err)) < 0)
			return r;
	p = j->at + (*j->at == '-' || *j->at == '+');
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		size_t n = strlen(words[i]);

		if (strncasecmp(p, words[i], n) != 0 ||
			((p[n] | 0x20) >= 'a' && (p[n] | 0x20) <= 'z'))
			continue;
		j->at = p + n;
		j->no_numbers++;
		return GT_JSON_NULL;
	}
	return 0;
}

/* The byte order mark that some editors write before UTF-8. */
static int skip_mark(struct gt_json *j, struct gt_err *err)
{
	int r = scan_word(j, "\xef\xbb\xbf", 0, err);

	return r ? r : gt_json_next(j, err);
}

static int scan_value(struct gt_json *j, int c, struct gt_err *err)
{
	int r;

	if (c == '{' || c == '[')
		return open_bracket(j, c == '{', err);
	if (c == 0xef && !j->strict && !gt_json_offset(j))
		return skip_mark(j, err);
	if (c == '"')
		r = scan_string(j, err) ?: GT_JSON_STRING;
	else if (c >= '0' && c <= '9')
		r = scan_number(j, err);
	else if (!j->strict && memchr("-+iInN", c, 6) && (r = scan_no_number(j, err)))
		;
	else if (c == '-')
		r = scan_number(j, err);
	else if (c == 't')
		r = scan_word(j, "true", GT_JSON_TRUE, err);
	else if (c == 'f')
		r = scan_word(j, "false", GT_JSON_FALSE, err);
	else if (c == 'n')
		r = scan_word(j, "null", GT_JSON_NULL, err);
	else
		return bad(j, j->at, err, "no JSON value begins like this");
	j->expect = j->depth ? MORE : TOP;
	return r;
}

static int unexpected(const struct gt_json *j, struct gt_err *err)
{
	char what[64] = "expected ";

	return bad(j, j->at, err, strcat(what, expected[j->expect]));
}

int gt_json_next(struct gt_json *j, struct gt_err *err)
{
	for (;;) {
		int c = skip_space(j, err);

		if (c < 0)
			return c != AT_END ? c : j->depth ? cut_short(j, err) : GT_JSON_END;
		switch ((enum expect)j->expect) {
		case VALUE_OR_END:
			if (c == ']')
				return close_bracket(j);
			return scan_value(j, c, err);
		case TOP:
		case VALUE: return scan_value(j, c, err);
		case KEY_OR_END:
			if (c == '}')
				return close_bracket(j);
			/* fallthrough */
		case KEY:
			if (c != '"')
				return unexpected(j, err);
			j->expect = COLON;
			return scan_string(j, err) ?: GT_JSON_KEY;
		case COLON:
			if (c != ':')
				return unexpected(j, err);
			j->expect = VALUE;
			break;
		case MORE:
			if (c == (in_object(j) ? '}' : ']'))
				return close_bracket(j);
			if (c != ',')
				return unexpected(j, err);
			/* loggers end each element of an array with a comma */
			j->expect = in_object(j) ? KEY : j->strict ? VALUE : VALUE_OR_END;
			break;
		}
		j->at++;
	}
}

static inline const char *past_space(const char *p)
{
	while (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')
		p++;
	return p;
}

/* The window ends with a zero, which matches nothing here. */
int gt_json_pair(struct gt_json *j, const char **key, size_t *key_len)
{
	const char *p = past_space(j->at), *end, *wrong;
	bool real = false, text;
	uint64_t high = 0;

	if (j->strict ||
		(j->expect != KEY_OR_END && (j->expect != MORE || *p++ != ',' || !in_object(j))))
		return 0;
	p = past_space(p);
	if (*p != '"' || (end = plain_run(p + 1, &high), *end != '"'))
		return 0;
	*key = p + 1;
	*key_len = (size_t)(end - *key);
	p = past_space(end + 1);
	if (*p++ != ':')
		return 0;
	p = past_space(p);
	text = *p == '"';
	end = text ? plain_run(++p, &high) : number_end(p, &real, &wrong);
	if (!end || (text ? *end != '"' : end >= j->end))
		return 0;
	j->text = p;
	j->len = (size_t)(end - p);
	j->at = end + text;
	j->expect = MORE;
	return text ? GT_JSON_STRING : real ? GT_JSON_REAL : GT_JSON_INT;
}

int gt_json_skip(struct gt_json *j, struct gt_err *err)
{
	unsigned depth = j->depth;
	const char *key;
	size_t len;

	if (j->expect != KEY_OR_END && j->expect != VALUE_OR_END)
		return 0;
	while (j->depth >= depth) {
		int t = gt_json_pair(j, &key, &len) ?: gt_json_next(j, err);

		if (t < 0)
			return t;
	}
	return 0;
}

int gt_json_skip_other_line(struct gt_json *j, char *head, size_t size, struct gt_err *err)
{
	int c = skip_space(j, err), r = 1;
	const char *end = NULL;
	size_t len = 0;

	/* a byte order mark comes before the first object */
	if (c < 0 || c == '{' || (c == 0xef && !gt_json_offset(j)))
		return c < 0 && c != AT_END ? c : 0;
	while (r > 0 && !end) {
		size_t n = (size_t)(j->end - j->at), part;

		end = memchr(j->at, '\n', n);
		n = end ? (size_t)(end - j->at) : n;
		part = n < size - 1 - len ? n : size - 1 - len;
		memcpy(head + len, j->at, part);
		len += part;
		j->at += n;
		r = end ? 1 : refill(j, err);
	}
	head[len] = '\0';
	return r < 0 ? r : 1;
}

/* ---- continuing after invalid JSON ---- */

#define RECOVER_AHEAD 4096u /* the next element begins within so many bytes after one */

/* The byte after `c`, which must be at p, after white space. NULL: another byte is there. */
static const char *behind(const char *p, char c)
{
	p = p ? past_space(p) : NULL;
	return p && *p == c ? p + 1 : NULL;
}

/* Is a key of this list at p? */
static bool at_key(const char *p, const char *const *keys)
{
	p = behind(p, '"');
	for (; p && *keys; keys++)
		if (!strncmp(p, *keys, strlen(*keys)) && p[strlen(*keys)] == '"')
			return behind(p + strlen(*keys) + 1, ':') != NULL;
	return false;
}

/* If an element of the array ends before p, and at p another one begins or the array ends: returns
 * the byte to continue from. Else NULL. */
static const char *next_element(
	const struct gt_json *j, const char *p, const struct gt_json_marks *m)
{
	const char *element = behind(behind(p, ','), '{'), *end = behind(p, ']'), *last;

	if (element && at_key(element, m->element))
		return element - 1;
	if (!end || !m->beside)
		return NULL;
	if (m->depth > 1 && at_key(behind(end, ','), m->beside))
		return end - 1;
	last = m->depth > 1 ? behind(end, '}') : end;
	return last && past_space(last) == j->end && j->input_ended ? end - 1 : NULL;
}

int gt_json_recover(struct gt_json *j, const struct gt_json_marks *m, struct gt_err *err)
{
	const char *p;
	int r;

	for (;;) {
		p = memchr(j->at, '}', (size_t)(j->end - j->at));
		j->at = p ? p : j->end;
		if ((!p || j->end - p < RECOVER_AHEAD) && !j->input_ended) {
			r = refill(j, err);
			if (r < 0)
				return r;
			continue;
		}
		if (!p)
			return 0;
		p = next_element(j, p + 1, m);
		if (p)
			break;
		j->at++;
	}
	j->at = p;
	j->depth = m->depth;
	j->expect = *p == '{' ? VALUE : MORE;
	return 1;
}

const char *gt_json_skip_plain(const char *p)
{
	uint64_t high = 0;

	return plain_run(p, &high);
}

void gt_json_resume(struct gt_json *j, const char *at)
{
	j->at = at;
	j->depth = 1;
	j->objects[0] |= 2;
	j->expect = MORE;
}
