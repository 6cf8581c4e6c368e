/* A pull scanner for bulk JSON: one pass, no tree, nothing allocated per token, any number of
 *values one behind another (with or without white space between them: JSON lines, and whole
 *documents too). jansson reads metadata; this reads gigabytes.
 *
 *	while ((t = gt_json_next(&j, &err)) > GT_JSON_END)
 *		if (t == GT_JSON_KEY && gt_json_is(&j, "ts")) ...
 *
 * Strict, it accepts exactly what jansson accepts. Lax (what importers use) it also takes what
 *loggers really write: strings that are not UTF-8 (kept as they are), lone surrogates and zeros
 *(\udc80 and \u0000 become U+FFFD), a byte order mark, integers of any length, reals of any size,
 *and inf and nan, which are handed out as null. Numbers are handed out as text, so that no caller
 *is tempted by a double: gt_json_scaled makes "0.000003406" 3406 ns.
 *
 * Errors: -ENODATA when the input ends inside a value (a killed writer's last line), -EBADMSG for
 *everything that is no JSON, -EMSGSIZE for a token longer than GT_JSON_TOKEN_MAX; always with the
 *byte of the unpacked text where it was noticed.
 */
#ifndef GT_JSON_SCAN_H
#define GT_JSON_SCAN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/base/err.h"

struct gt_in;

#define GT_JSON_DEPTH_MAX 2048        /* as jansson's */
#define GT_JSON_TOKEN_MAX (16u << 20) /* bytes of one string or number as written */

enum gt_json_token {
	GT_JSON_END, /* of the input, between two values */
	GT_JSON_OBJECT,
	GT_JSON_OBJECT_END,
	GT_JSON_ARRAY,
	GT_JSON_ARRAY_END,
	GT_JSON_KEY,    /* text is the key, decoded */
	GT_JSON_STRING, /* text is the string, decoded */
	GT_JSON_INT,
	GT_JSON_REAL, /* text is the number as written */
	GT_JSON_TRUE,
	GT_JSON_FALSE,
	GT_JSON_NULL
};

struct gt_json {
	/* of a key, string or number: len bytes, borrowed until the next call; not terminated */
	const char *text;
	size_t len;
	unsigned depth; /* arrays and objects that are open */
	/* strings may have line feeds, tabs and their like; the caller sets it after gt_json_init
	 */
	bool controls;
	uint64_t no_numbers; /* inf and nan so far */
	/* The unread part of the window. *end is 0, and so are GT_JSON_PAD bytes behind it: loops
	 * need look at no length. */
	const char *at, *end;
	/* the rest is private */
	struct gt_in *in; /* borrowed */
	char *window;
	size_t cap;
	uint64_t before;       /* bytes of the text before window[0] */
	struct gt_buf decoded; /* the last string, if it had escapes */
	void *c_locale;
	/* bit n: what is open at depth n is an object */
	uint64_t objects[GT_JSON_DEPTH_MAX / 64 + 1];
	uint8_t expect;
	bool strict, input_ended;
};
#define GT_JSON_PAD 16

/* 0 or -ENOMEM. in stays the caller's. After an error from gt_json_next only gt_json_release, or
 * gt_json_recover, is left to do. */
int gt_json_init(struct gt_json *j, struct gt_in *in, bool strict, struct gt_err *err);
void gt_json_release(struct gt_json *j);

/* The next token (enum gt_json_token), or negative. */
int gt_json_next(struct gt_json *j, struct gt_err *err);
/* The next key of an object and its value at once, where both stand in the window and the value is
 * a number or a string without escapes: the value's token as gt_json_next hands it out, and the
 * key, borrowed as long. 0: there is none of this kind, nothing was read, and gt_json_next knows
 * what there is. For who reads much of what nearly always looks so. */
int gt_json_pair(struct gt_json *j, const char **key, size_t *key_len);
/* After GT_JSON_OBJECT or GT_JSON_ARRAY: reads to its end. After any other token there is nothing
 * to skip. 0 or negative. */
int gt_json_skip(struct gt_json *j, struct gt_err *err);
/* After -EBADMSG within an element of an array of objects: finds where the next element begins or
 * the array ends, by how such text looks. 1: gt_json_next hands out that bracket next; 0: there is
 * none up to the end of the text; or negative. */
struct gt_json_marks {
	unsigned depth; /* within the array */
	/* keys that an element may begin with, NULL behind the last */
	const char *const *element;
	/* keys that may follow the array in its object, NULL behind the last; NULL: no end is
	 * looked for */
	const char *const *beside;
};
int gt_json_recover(struct gt_json *j, const struct gt_json_marks *m, struct gt_err *err);
/* Bytes of the (unpacked) text before `at`. */
static inline uint64_t gt_json_offset(const struct gt_json *j)
{
	return j->before + (uint64_t)(j->at - j->window);
}

/* -EBADMSG, for callers that find something wrong at this byte of the text; says so when the text
 * was packed. */
int gt_json_wrong(const struct gt_json *j, uint64_t offset, struct gt_err *err, const char *what);

static inline bool gt_json_is(const struct gt_json *j, const char *word)
{
	return j->len == strlen(word) && !memcmp(j->text, word, j->len);
}

/* For callers that know how their lines usually look and read the beginning of those by themselves,
 * from `at`. A string whose first byte is p has no quote, backslash or control character before the
 * byte returned. */
const char *gt_json_plain(const char *p);
/* Between two values: such a caller has read an object up to the ',' or '}' at `at`, where
 * gt_json_next goes on. */
void gt_json_resume(struct gt_json *j, const char *at);

/* The number text[0..len) times 10^scale as an exact integer; digits finer than that are cut. The
 * sign comes apart. -ERANGE when it has more than 64 bits. The text must be a number that the
 * scanner accepted. */
int gt_json_magnitude(const char *text, size_t len, int scale, bool *negative, uint64_t *value);
/* the same within int64 */
int gt_json_scaled(const char *text, size_t len, int scale, int64_t *value);
/* of the last number; infinite when it is too large for a double */
double gt_json_double(const struct gt_json *j);
#endif
