/* A pull scanner for large JSON: one pass, no tree, no allocation per token. It reads any number of
 * values, with or without white space between them: JSON lines as well as whole documents. (jansson
 * reads metadata.)
 *
 *	while ((t = gt_json_next(&j, &err)) > GT_JSON_END)
 *		if (t == GT_JSON_KEY && gt_json_is(&j, "ts")) ...
 *
 * In strict mode it accepts exactly what jansson accepts. In lax mode, for importers, it also
 *accepts what loggers write: strings that are not UTF-8 (not changed), lone surrogates and zeros
 *(\udc80 and \u0000 become U+FFFD), a byte order mark, a comma after the last element of an array,
 *integers of any length, reals of any size, and inf and nan (returned as null). Numbers are
 *returned as text, because a double would lose digits: gt_json_scale converts "0.000003406" to 3406
 *ns.
 *
 * Errors: -ENODATA if the input ends inside a value (the last line of a killed writer), -EBADMSG
 *for invalid JSON, -EMSGSIZE for a token longer than GT_JSON_TOKEN_MAX. Their offset is the byte of
 *the unpacked text.
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

#define GT_JSON_DEPTH_MAX 2048        /* the same as jansson's */
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
	unsigned depth; /* number of open arrays and objects */
	/* accept control characters (line feeds, tabs) in strings; callers set it after
	 * gt_json_init */
	bool controls;
	uint64_t no_numbers; /* count of inf and nan so far */
	/* The unread part of the window. *end is 0, as are the GT_JSON_PAD bytes behind it, so
	 * loops need no check of the length. */
	const char *at, *end;
	/* the rest is private */
	struct gt_in *in; /* borrowed */
	char *window;
	size_t cap;
	uint64_t before;       /* bytes of the text before window[0] */
	struct gt_buf decoded; /* the last string, if it had escapes */
	void *c_locale;
	/* bit n: at depth n an object is open; 0: an array */
	uint64_t objects[GT_JSON_DEPTH_MAX / 64 + 1];
	uint8_t expect;
	bool strict, input_ended;
};
#define GT_JSON_PAD 16

/* 0 or -ENOMEM. `in` is borrowed. After an error from gt_json_next only gt_json_release and
 * gt_json_recover may be called. */
int gt_json_init(struct gt_json *j, struct gt_in *in, bool strict, struct gt_err *err);
void gt_json_release(struct gt_json *j);

/* The next token (enum gt_json_token), or negative. */
int gt_json_next(struct gt_json *j, struct gt_err *err);
/* A fast path: reads the next key of an object and its value at once, if both are in the window and
 * the value is a number or a string without escapes. Returns the value's token, as gt_json_next
 * does; the key is borrowed until the next call. 0: the text looks different, nothing was read, and
 * the caller calls gt_json_next. */
int gt_json_pair(struct gt_json *j, const char **key, size_t *key_len);
/* After GT_JSON_OBJECT or GT_JSON_ARRAY: reads to its end. After any other token it does nothing. 0
 * or negative. */
int gt_json_skip(struct gt_json *j, struct gt_err *err);
/* Between two values, for logs with other lines among those of JSON: if the next line that is not
 * empty does not begin with '{', reads that line, of any length. 1: it did, and head, of size
 * bytes, has the line's beginning, with a zero behind it; 0: an object follows, or the input ended;
 * or negative. */
int gt_json_skip_other_line(struct gt_json *j, char *head, size_t size, struct gt_err *err);
/* After -EBADMSG within an element of an array of objects: searches the text for the likely
 * beginning of the next element or end of the array. 1: gt_json_next returns that bracket next; 0:
 * there is none up to the end of the text; or negative. */
struct gt_json_marks {
	unsigned depth; /* within the array */
	/* keys that an element may begin with, NULL behind the last */
	const char *const *element;
	/* keys that may follow the array in its object, NULL behind the last; NULL: do not search
	 * for the end */
	const char *const *beside;
};
int gt_json_recover(struct gt_json *j, const struct gt_json_marks *m, struct gt_err *err);
/* Bytes of the (unpacked) text before `at`. */
static inline uint64_t gt_json_offset(const struct gt_json *j)
{
	return j->before + (uint64_t)(j->at - j->window);
}

/* Sets an error of a caller at this byte of the text, and returns -EBADMSG. The message says if the
 * text was packed. */
int gt_json_set_error(
	const struct gt_json *j, uint64_t offset, struct gt_err *err, const char *what);

static inline bool gt_json_is(const struct gt_json *j, const char *word)
{
	return j->len == strlen(word) && !memcmp(j->text, word, j->len);
}

/* For callers that know how their lines usually look, and read the beginning of such lines
 * themselves, from `at`. Returns the first quote, backslash or control character of the string
 * whose first byte is p. */
const char *gt_json_skip_plain(const char *p);
/* The caller has read the beginning of an object, up to the ',' or '}' at `at`: gt_json_next
 * continues there. */
void gt_json_resume(struct gt_json *j, const char *at);

/* The number text[0..len), which the scanner accepted, times 10^scale, truncated to an integer. The
 * sign is separate. 0, or -ERANGE if it has more than 64 bits. */
int gt_json_magnitude(const char *text, size_t len, int scale, bool *negative, uint64_t *value);
/* The same as an int64_t. */
int gt_json_scale(const char *text, size_t len, int scale, int64_t *value);
/* The last number as a double: infinite if it is too large. */
double gt_json_double(const struct gt_json *j);
#endif
