/* Copies values of a JSON file: settings of the tool that wrote it, for the metadata; arguments
 * that are read later. */
#ifndef GT_IMPORT_JSON_COPY_H
#define GT_IMPORT_JSON_COPY_H
#include "formats/io/json_scan.h"
#include "formats/io/stream_out.h"

#define GT_JSON_COPY_DEPTH 32u /* of brackets in a value */

/* Copies the value that begins with this token (the scanner has returned it) to the end of `to`,
 * and always reads it to its end. most: bytes in `to`. 1: the value does not fit or is too deep,
 * and `to` ends with a part of it; 0; or negative. each, if not NULL, is called for each token of
 * the value; depth: open brackets within the value. */
typedef void gt_json_copy_fn(void *arg, int token, unsigned depth);
int gt_json_copy(struct gt_json *j, int token, struct gt_out *to, size_t most,
	gt_json_copy_fn *each, void *arg, struct gt_err *err);
/* The member KEY: VALUE of an object, after a comma if `to` has more than its opening bracket, for
 * jansson, which accepts no number beyond 64 bits or a double: such a number becomes text. A value
 * that does not fit leaves `to` unchanged. Returns as above. */
int gt_json_copy_member(struct gt_json *j, const char *key, int token, struct gt_out *to,
	size_t most, gt_json_copy_fn *each, void *arg, struct gt_err *err);
/* Closes the object, and returns it as text (free it) in which a key that was there twice has its
 * last value: metadata must not have duplicates. NULL: no memory. *lost: it is {} instead, because
 * jansson does not accept it. */
char *gt_json_copy_close(struct gt_out *to, bool *lost);
#endif
