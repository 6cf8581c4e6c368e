#include "formats/meta.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include "formats/base/buf.h"

static bool only_strings(const json_t *array)
{
	for (size_t i = 0; i < json_array_size(array); i++)
		if (!json_is_string(json_array_get(array, i)))
			return false;
	return json_is_array(array);
}

static void put(struct gt_buf *b, const json_t *value)
{
	char *text;

	gt_buf_clear(b);
	if (json_is_string(value)) {
		gt_buf_str(b, json_string_value(value));
	} else if (only_strings(value)) {
		for (size_t i = 0; i < json_array_size(value); i++) {
			gt_buf_str(b, i ? " " : "");
			gt_buf_str(b, json_string_value(json_array_get(value, i)));
		}
	} else {
		text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
		gt_buf_str(b, text ? text : "?");
		free(text);
	}
	gt_buf_byte(b, 0);
}

int gt_meta_each(const struct gt_segment *seg, gt_meta_fn *fn, void *arg)
{
	json_t *meta = json_loads(seg->meta_json ? seg->meta_json : "{}", 0, NULL), *value;
	struct gt_buf text = { 0 };
	const char *key;
	int rc = 0;

	json_object_foreach(meta, key, value) {
		put(&text, value);
		rc = text.failed ? -ENOMEM : fn(arg, key, (const char *)text.data);
		if (rc)
			break;
	}
	gt_buf_release(&text);
	json_decref(meta);
	return rc;
}
