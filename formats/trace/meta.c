#include "formats/trace/meta.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/io/json_build.h"

#define DEPTH_MAX 3 /* deeper values are passed as JSON */

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
		text = gt_json_dump(value, JSON_ENCODE_ANY);
		b->failed |= !text;
		gt_buf_str(b, text ? text : "");
		free(text);
	}
	gt_buf_byte(b, 0);
}

static void put_json(struct gt_buf *b, const json_t *value)
{
	char *text = gt_json_dump(value, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);

	gt_buf_clear(b);
	b->failed |= !text;
	gt_buf_str(b, text ? text : "");
	gt_buf_byte(b, 0);
	free(text);
}

struct walk {
	gt_meta_fn *fn;
	gt_meta_typed_fn *typed; /* NULL: fn */
	void *arg;
	struct gt_buf value, json;
};

static int each(struct walk *w, const char *key, const json_t *value, unsigned depth);

/* One member of an object or an array: its key is PARENT.NAME. */
static int member(
	struct walk *w, const char *parent, const char *name, const json_t *value, unsigned depth)
{
	struct gt_buf key = { 0 };
	int rc;

	gt_buf_printf(&key, "%s%s%s", parent, *parent ? "." : "", name);
	gt_buf_byte(&key, 0);
	rc = key.failed ? -ENOMEM : each(w, (const char *)key.data, value, depth + 1);
	gt_buf_release(&key);
	return rc;
}

static int each(struct walk *w, const char *key, const json_t *value, unsigned depth)
{
	const char *name;
	json_t *inner;
	char number[24];
	int rc = 0;

	if (depth < DEPTH_MAX && json_is_object(value)) {
		json_object_foreach((json_t *)value, name, inner) if (!rc) rc =
			member(w, key, name, inner, depth);
		return rc;
	}
	if (depth < DEPTH_MAX && json_is_array(value) && !only_strings(value)) {
		for (size_t i = 0; !rc && i < json_array_size(value); i++) {
			snprintf(number, sizeof(number), "%zu", i);
			rc = member(w, key, number, json_array_get(value, i), depth);
		}
		return rc;
	}
	put(&w->value, value);
	if (w->typed)
		put_json(&w->json, value);
	if (w->value.failed || w->json.failed)
		return -ENOMEM;
	return w->typed
		? w->typed(w->arg, key, (const char *)w->value.data, (const char *)w->json.data)
		: w->fn(w->arg, key, (const char *)w->value.data);
}

static int walk(const struct gt_segment *seg, struct walk *w)
{
	const char *json = seg->meta_json ? seg->meta_json : "{}";
	bool no_memory;
	json_t *meta = gt_json_load(json, strlen(json), 0, &no_memory);
	int rc = meta ? each(w, "", meta, 0) : no_memory ? -ENOMEM : 0;

	gt_buf_release(&w->value);
	gt_buf_release(&w->json);
	json_decref(meta);
	return rc;
}

int gt_meta_each(const struct gt_segment *seg, gt_meta_fn *fn, void *arg)
{
	struct walk w = { .fn = fn, .arg = arg };

	return walk(seg, &w);
}

int gt_meta_each_typed(const struct gt_segment *seg, gt_meta_typed_fn *fn, void *arg)
{
	struct walk w = { .typed = fn, .arg = arg };

	return walk(seg, &w);
}
