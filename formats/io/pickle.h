/* Reads a pickle of Python (protocols 2 to 5) as data: lists, dicts, numbers, texts. No code is
 * run: opcodes that import or call anything are an error with the name that they would import. No
 * type is on a list of exceptions.
 *
 * The whole pickle is unpacked into arrays first, because an object may refer to any earlier one:
 * about 1.5 bytes of memory for each byte of a snapshot of PyTorch. An object that is referred to
 * several times is stored once. A cursor then walks the value with the tokens of the JSON scanner:
 *
 *	gt_pickle_open(&c, p, gt_pickle_root(p));
 *	if (gt_pickle_next(&c, &err) == GT_JSON_OBJECT)
 *		while ((t = gt_pickle_pair(&c, &key, &len, &err)) > 0) {
 *			if (t == GT_JSON_INT && gt_pickle_is(key, len, "ts")) ...
 *			gt_pickle_skip(&c); // a list or dict that was not read
 *		}
 *
 * Tuples and sets are arrays. Bytes are strings. A key that is an integer is its decimal text; a
 * key of another type is an empty text. A string may contain any bytes.
 *
 * Limits: GT_PICKLE_MEMORY bytes of memory, GT_PICKLE_NUMBERS of each kind of object,
 * GT_JSON_TOKEN_MAX bytes of one string, integers of 64 bits (larger ones are reals). A pickle may
 * nest values to any depth, but a cursor enters GT_PICKLE_DEPTH levels, and reads at most
 * GT_PICKLE_REPEATS times as many values as the pickle has: an object that contains itself, or
 * objects whose expansion grows exponentially, end with an error. */
#ifndef GT_PICKLE_H
#define GT_PICKLE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "formats/base/err.h"
#include "formats/io/json_scan.h"

#define GT_PICKLE_MEMORY (4ull << 30)
#define GT_PICKLE_NUMBERS (1u << 29)
#define GT_PICKLE_DEPTH 64
#define GT_PICKLE_REPEATS 16

struct gt_in;
struct gt_out;
struct gt_pickle;

/* Reads `in` up to the end of the first pickle. new: free it. NULL: err has the offset in the
 * unpacked bytes. Errors: -ENODATA if the input ends early, -EBADMSG for an invalid or refused
 * opcode, -E2BIG beyond a limit. */
struct gt_pickle *gt_pickle_load(struct gt_in *in, struct gt_err *err);
void gt_pickle_free(struct gt_pickle *p); /* NULL is fine */

/* A value of the pickle. The same number means the same object; different numbers may be equal
 * values. */
typedef uint32_t gt_pickle_value;
gt_pickle_value gt_pickle_root(const struct gt_pickle *p);

struct gt_pickle_cursor {
	/* of a key or string: borrowed from the pickle or this cursor until the next call */
	const char *text;
	size_t len;
	/* of GT_JSON_INT: the magnitude and the sign; of GT_JSON_REAL */
	uint64_t magnitude;
	bool negative;
	double real;
	/* the value of the last token, but for keys and ends */
	gt_pickle_value value;
	unsigned depth; /* number of open arrays and objects */
	/* the rest is private */
	struct gt_pickle *pickle;
	struct gt_pickle_level {
		uint32_t chunk, at; /* index of a chunk of values; of the next one in it */
		bool dict, has_key;
	} levels[GT_PICKLE_DEPTH];
	char digits[24];
	bool begun, entered; /* entered: the last token was an opening bracket */
};
/* Needs no release. Several cursors may walk one pickle, on one thread. */
void gt_pickle_open(struct gt_pickle_cursor *c, struct gt_pickle *p, gt_pickle_value from);
/* The next token (enum gt_json_token, but GT_JSON_END behind the value), or negative. */
int gt_pickle_next(struct gt_pickle_cursor *c, struct gt_err *err);
/* Within a dict: reads the next key, which is borrowed likewise, and the first token of its value,
 * which it returns. 0: the dict has ended; or negative. */
int gt_pickle_pair(
	struct gt_pickle_cursor *c, const char **key, size_t *key_len, struct gt_err *err);
/* Within a list: the first token of the next value. 0: the list has ended; or negative. */
int gt_pickle_element(struct gt_pickle_cursor *c, struct gt_err *err);
/* After GT_JSON_OBJECT or GT_JSON_ARRAY: continues behind its end, at no cost. After any other
 * token it does nothing. */
void gt_pickle_skip(struct gt_pickle_cursor *c);
/* Writes the pickle's value as JSON. What a pickle refers to several times is written as often: the
 * text may be many times as long as the pickle, and the caller limits it (gt_out_limit). 0 or
 * negative; errors of the output are in `o`. */
int gt_pickle_to_json(struct gt_pickle *p, struct gt_out *o, struct gt_err *err);
static inline bool gt_pickle_is(const char *text, size_t len, const char *word)
{
	return len == strlen(word) && !memcmp(text, word, len);
}
#endif
