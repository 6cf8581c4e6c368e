#include "formats/io/json_build.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* jansson 2.14 frees what it does not own when memory runs out while it parses. So it never sees
 * that: the allocation leaves the parser, and the few KiB that it held are lost to a program that
 * is about to end. */
static _Thread_local jmp_buf *when_out_of_memory;

static void *allocate(size_t bytes)
{
	void *p = malloc(bytes);

	if (!p && when_out_of_memory)
		longjmp(*when_out_of_memory, 1);
	return p;
}

/* All of jansson's memory comes from allocate, whose failures are noted (base/alloc_failure.h). */
__attribute__((constructor)) static void set_allocate(void)
{
	json_set_alloc_funcs(allocate, free);
}

struct json_t *gt_json_load(const char *s, size_t bytes, size_t flags, bool *no_memory)
{
	json_t *j = NULL;
	jmp_buf out;

	*no_memory = setjmp(out);
	if (*no_memory) {
		when_out_of_memory = NULL;
		return NULL;
	}
	when_out_of_memory = &out;
	j = json_loadb(s, bytes, flags, NULL);
	when_out_of_memory = NULL;
	return j;
}

/* Its json_dumps leaves out what found no memory. */
char *gt_json_dump(const struct json_t *j, size_t flags)
{
	jmp_buf out;
	char *s;

	if (setjmp(out)) {
		when_out_of_memory = NULL;
		return NULL;
	}
	when_out_of_memory = &out;
	s = json_dumps(j, JSON_COMPACT | flags);
	when_out_of_memory = NULL;
	return s;
}

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

static _Thread_local bool lost; /* a value of what is being made: no memory */

void gt_json_put(struct gt_json *object, const char *key, struct gt_json *value)
{
	lost |= json_object_set_new(of(object), key, of(value)) != 0;
}

void gt_json_add(struct gt_json *array, struct gt_json *value)
{
	lost |= json_array_append_new(of(array), of(value)) != 0;
}

char *gt_json_done(struct gt_json *value)
{
	char *s = lost ? NULL : gt_json_dump(of(value), 0);

	lost = false;
	json_decref(of(value));
	return s;
}
