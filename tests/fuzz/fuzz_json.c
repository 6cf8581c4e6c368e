/* The scanner and jansson must agree on whether the bytes are one JSON value. The lax scanner may
 * accept more. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "formats/io/stream_in.h"
#include "formats/io/json_scan.h"

static bool accepts(const uint8_t *data, size_t size, bool strict)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_in *in = gt_in_memory(data, size, &err);
	struct gt_json j;
	unsigned values = 0;
	int t = -1;

	if (in && !gt_json_init(&j, in, strict, &err)) {
		while ((t = gt_json_next(&j, &err)) > GT_JSON_END)
			values += j.depth == 0;
		if (t < 0 && (!err.code || err.offset > size))
			abort();
		gt_json_release(&j);
	}
	gt_in_close(in);
	return t == GT_JSON_END && values == 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *theirs;
	bool ours;

	if (memchr(data, 0, size))
		return 0; /* jansson ignores a NUL after a number */
	if (size >= 2 && (data[0] == 0x1f || data[0] == 0x28 || (data[0] & 0xf0) == 0x50))
		return 0; /* would be unpacked first */
	theirs = json_loadb((const char *)data, size, JSON_DECODE_ANY, NULL);
	ours = accepts(data, size, true);
	if (ours != (theirs != NULL) || (ours && !accepts(data, size, false)))
		abort();
	json_decref(theirs);
	return 0;
}
