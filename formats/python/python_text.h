/* Characters of Python's texts. */
#ifndef GT_PYTHON_TEXT_H
#define GT_PYTHON_TEXT_H
#include "formats/python/python_layout.h"

#define GT_PYTHON_TEXT 1024 /* bytes of a function's or a file's name, which is cut there */

/* n characters of `width` bytes (1, 2 or 4), `offset` bytes behind the object's begin. */
struct gt_python_characters {
	uint64_t n; /* at most INT32_MAX */
	uint32_t width, offset;
	bool is_ascii;
};
/* object: the first l->other_data bytes of an object, or of a copy. text_type: address of
 * PyUnicode_Type. False: it is no text whose characters follow it. */
bool gt_python_characters(const struct gt_python_layout *l, const void *object, uint64_t text_type,
	struct gt_python_characters *c);
/* Writes n characters of `width` bytes (1, 2 or 4) as UTF-8, as far as they fit into `size` bytes.
 * A lone surrogate becomes U+FFFD. Returns the number of bytes; no zero is added. */
uint32_t gt_python_utf8(const void *data, unsigned width, uint64_t n, char *text, size_t size);
#endif
