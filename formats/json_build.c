#include "formats/json_build.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static json_t *of(struct gt_json *j) { return (json_t *)(void *)j; }
static struct gt_json *as(json_t *j) { return (struct gt_json *)(void *)j; }

struct gt_json *gt_json_object(void) { return as(json_object()); }
struct gt_json *gt_json_array(void) { return as(json_array()); }
struct gt_json *gt_json_int(int64_t value) { return as(json_integer(value)); }
struct gt_json *gt_json_bool(bool value) { return as(json_boolean(value)); }

struct gt_json *gt_json_text(const char *s, size_t len)
{
	json_t *j = json_stringn(s, len);
	char *copy;

	if (j || !(copy = strndup(s, len)))
		return as(j);
	for (char *p = copy; *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	j = json_string(copy);
	free(copy);
	return as(j);
}

void gt_json_put(struct gt_json *object, const char *key, struct gt_json *value)
{
	json_object_set_new(of(object), key, of(value));
}

void gt_json_add(struct gt_json *array, struct gt_json *value) { json_array_append_new(of(array), of(value)); }

char *gt_json_done(struct gt_json *value)
{
	char *s = json_dumps(of(value), JSON_COMPACT);

	json_decref(of(value));
	return s;
}
