/* Characters of Python's texts. */
#ifndef GT_PYTHON_TEXT_H
#define GT_PYTHON_TEXT_H
#include <stddef.h>
#include <stdint.h>

/* Writes n characters of `width` bytes (1, 2 or 4) as UTF-8, as far as they fit into `size` bytes.
 * A lone surrogate becomes U+FFFD. Returns the number of bytes; no zero is added. */
uint32_t gt_python_utf8(const void *data, unsigned width, uint64_t n, char *text, size_t size);
#endif
