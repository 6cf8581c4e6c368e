#include "formats/io/json_build.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* If jansson 2.14 has no memory while it parses, it frees what it does not own. So it never sees a
 * failure then: allocate() leaves the parser by longjmp. That leaks the few KiB that jansson holds,
 * in a program that is about to exit. */
static _Thread_local jmp_buf *when_out_of_memory;
static _Thread_local bool incomplete; /* an allocation failed while a value was built */

static void *allocate(size_t bytes)
{
	void *p = malloc(bytes);

	if (!p && when_out_of_memory)
		longjmp(*when_out_of_memory, 1);
	incomplete |= !p;
	return p;
}

__attribute__((constructor)) static void set_allocate(void)
{
	json_set_alloc_funcs(allocate, free);
}

json_t *gt_json_load(const char *s, size_t bytes, size_t flags, bool *no_memory)
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

/* json_dumps omits the parts for which it has no memory. */
char *gt_json_dump(const json_t *j, size_t flags)
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

json_t *gt_json_text(const char *s, size_t len)
{
	json_t *j = json_stringn(s, len);
	char *copy;

	if (j || !(copy = strndup(s, len)))
		return j;
	for (char *p = copy; *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	j = json_string(copy);
	free(copy);
	return j;
}

char *gt_json_finish(json_t *value)
{
	char *s = incomplete ? NULL : gt_json_dump(value, 0);

	incomplete = false;
	json_decref(value);
	return s;
}
