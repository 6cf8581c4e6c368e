/* JSON made piece by piece: the door through which jansson serves whoever writes metadata. Values
 * are owned by what they are put into; memory failures show as NULL from gt_json_done. */
#ifndef GT_JSON_BUILD_H
#define GT_JSON_BUILD_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_json;
struct gt_json *gt_json_object(void);
struct gt_json *gt_json_array(void);
struct gt_json *gt_json_text(const char *s, size_t len); /* what is not UTF-8 becomes '?' */
struct gt_json *gt_json_int(int64_t value);
struct gt_json *gt_json_bool(bool value);
void gt_json_put(struct gt_json *object, const char *key, struct gt_json *value);
void gt_json_add(struct gt_json *array, struct gt_json *value);
/* What jansson's json_loadb returns, to be given to json_decref. NULL: it is no JSON, or
 * *no_memory. */
struct json_t *gt_json_load(const char *s, size_t bytes, size_t flags, bool *no_memory);
/* compact; new, or NULL: no memory */
char *gt_json_dump(const struct json_t *j, size_t flags);
/* frees the value; new: free it. NULL when memory is out */
char *gt_json_done(struct gt_json *value);
#endif
