#include "analyze/stats/name_template.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/stats/name_interner.h"
#include "formats/base/buf.h"

static bool is_of_word(const struct gt_string *name, size_t at)
{
	unsigned char c = at < name->len ? (unsigned char)name->ptr[at] : 0;

	return isalnum(c) || c == '_' || c >= 0x80;
}

/* The end of the number at `at`: digits, and with GT_NUMBERS_ALONE dots before digits, so that one
 * after a word joins it to the word. */
static size_t end_of_number(const struct gt_string *name, size_t at, enum gt_name_numbers which)
{
	while (at < name->len &&
		(isdigit((unsigned char)name->ptr[at]) ||
			(which == GT_NUMBERS_ALONE && name->ptr[at] == '.' && at + 1 < name->len &&
				isdigit((unsigned char)name->ptr[at + 1]))))
		at++;
	return at;
}

size_t gt_name_template(struct gt_string name, enum gt_name_numbers which, char *to, size_t size,
	uint64_t *number, unsigned *n)
{
	size_t len = 0;

	*number = 0;
	*n = 0;
	for (size_t i = 0; i < name.len && len < size;) {
		size_t end = end_of_number(&name, i, which);

		if (end > i &&
			(which == GT_NUMBERS_ALL ||
				(!(i && is_of_word(&name, i - 1)) && !is_of_word(&name, end)))) {
			*number = strtoull(name.ptr + i, NULL, 10);
			++*n;
			to[len++] = 'N';
			i = end;
			continue;
		}
		for (end = end > i ? end : i + 1; i < end && len < size; i++)
			to[len++] = name.ptr[i];
	}
	return len;
}

static bool has_digit(struct gt_string name)
{
	for (size_t i = 0; i < name.len; i++)
		if (isdigit((unsigned char)name.ptr[i]))
			return true;
	return false;
}

struct gt_string gt_name_templates_of(struct gt_name_templates *t, const struct gt_segment *seg,
	const struct gt_type *type, struct gt_err *err)
{
	struct gt_string name = gt_name_text(seg, type->name);
	uint64_t number;
	unsigned n = 0;
	size_t len;
	char *to;

	if (type->layer != GT_LAYER_USER || !has_digit(name))
		return name;
	to = malloc(name.len + 1);
	if (!to || gt_grow(&t->list, &t->cap, t->n + 1, sizeof(*t->list))) {
		free(to);
		gt_err_set(err, -ENOMEM, "out of memory (names)");
		return (struct gt_string){ NULL, 0 };
	}
	len = gt_name_template(name, GT_NUMBERS_ALONE, to, name.len, &number, &n);
	if (!n) {
		free(to);
		return name;
	}
	to[len] = '\0'; /* as names of the reader */
	t->list[t->n++] = to;
	return (struct gt_string){ to, (uint32_t)len };
}

void gt_name_templates_forget(struct gt_name_templates *t, struct gt_string text)
{
	if (t->n && t->list[t->n - 1] == text.ptr)
		free(t->list[--t->n]);
}

void gt_name_templates_release(struct gt_name_templates *t)
{
	while (t->n)
		free(t->list[--t->n]);
	free(t->list);
	*t = (struct gt_name_templates){ 0 };
}
