/* A growable array of bytes. A zero-initialised one is empty and valid. */
#ifndef GT_BUF_H
#define GT_BUF_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_buf {
	uint8_t *data;
	size_t len, cap;
	bool failed; /* an allocation failed: later bytes are missing. Check once, at the end. */
};

/* Makes n more bytes writable behind len. Returns where they start, or NULL (and sets failed) when
 * there is no memory. */
uint8_t *gt_buf_reserve(struct gt_buf *b, size_t n);
void gt_buf_add(struct gt_buf *b, const void *bytes, size_t n);
void gt_buf_byte(struct gt_buf *b, uint8_t byte);
void gt_buf_str(struct gt_buf *b, const char *s); /* without the NUL */
void gt_buf_printf(struct gt_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void gt_buf_clear(struct gt_buf *b);   /* empties it and keeps its memory */
void gt_buf_release(struct gt_buf *b); /* empties it and frees its memory */

/* Makes *ptr hold at least `need` elements of `size` bytes, growing by half; *cap counts elements.
 * 0 or -ENOMEM. */
int gt_grow(void *ptr_to_ptr, size_t *cap, size_t need, size_t size);
/* Sets n bytes to 0. For some hundred bytes, which the compiler would clear with an instruction
 * (rep stos) that is slower than this call. */
void gt_clear(void *to, size_t n);
#endif
