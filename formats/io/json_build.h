/* jansson, made safe against failed allocations: those are noted (base/alloc_failure.h), and a
 * parse or a dump without memory returns NULL. Callers build values with jansson's own functions.
 */
#ifndef GT_JSON_BUILD_H
#define GT_JSON_BUILD_H
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* json_stringn, but each byte of a text that is not UTF-8 and is not ASCII becomes '?'. */
json_t *gt_json_text(const char *s, size_t len);
/* json_loadb. NULL: not JSON, or *no_memory. The caller calls json_decref. */
json_t *gt_json_load(const char *s, size_t bytes, size_t flags, bool *no_memory);
/* json_dumps, compact. new, or NULL: no memory. */
char *gt_json_dump(const json_t *j, size_t flags);
/* Dumps the value and frees it. NULL: no memory, also if that was while values were added to it. */
char *gt_json_finish(json_t *value);
#endif
