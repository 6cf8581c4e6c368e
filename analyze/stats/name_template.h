/* Names without their numbers: ranges of a program often have a number that counts them ("step 12",
 * "aten::add, op_id = 156"), and are one thing to the user. */
#ifndef GT_NAME_TEMPLATE_H
#define GT_NAME_TEMPLATE_H
#include "formats/base/err.h"
#include "formats/trace/read/reader.h"

enum gt_name_numbers {
	GT_NUMBERS_ALL,
	/* not those that are a part of a word or path: fp16, layer_3, layers.0 */
	GT_NUMBERS_ALONE
};
/* Writes the name with N for each number, cut to `size` bytes without a NUL. Returns its length.
 * *number: the last number, 0 if there is none; *n: how many there are. */
size_t gt_name_template(struct gt_string name, enum gt_name_numbers which, char *to, size_t size,
	uint64_t *number, unsigned *n);

/* The templates of a report. Zero-initialised is empty. */
struct gt_name_templates {
	char **list;
	size_t n, cap;
};
/* The name of a type, or if it is a range of the program with a number, its template: valid until
 * the release. ptr NULL with err filled in: no memory. */
struct gt_string gt_name_templates_of(struct gt_name_templates *t, const struct gt_segment *seg,
	const struct gt_type *type, struct gt_err *err);
/* Releases `text` if it is the template made last. */
void gt_name_templates_forget(struct gt_name_templates *t, struct gt_string text);
void gt_name_templates_release(struct gt_name_templates *t);
#endif
