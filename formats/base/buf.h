/* A growable run of bytes. Zero-initialised is empty and valid. */
#ifndef GT_BUF_H
#define GT_BUF_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_buf {
	uint8_t *data;
	size_t len, cap;
	/* out of memory at some point: everything since is missing. Check once, at the end. */
	bool failed;
};

/* Room for n more bytes behind len; returns where they start, or NULL when memory is out (and sets
 * failed). */
uint8_t *gt_buf_room(struct gt_buf *b, size_t n);
void gt_buf_add(struct gt_buf *b, const void *bytes, size_t n);
void gt_buf_byte(struct gt_buf *b, uint8_t byte);
void gt_buf_str(struct gt_buf *b, const char *s); /* without the NUL */
void gt_buf_printf(struct gt_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void gt_buf_clear(struct gt_buf *b);   /* empty, memory kept */
void gt_buf_release(struct gt_buf *b); /* empty, memory given back */

/* Makes *ptr hold at least `need` elements of `size` bytes, growing by half; *cap counts elements.
 * 0 or -ENOMEM. */
int gt_grow(void *ptr_to_ptr, size_t *cap, size_t need, size_t size);
#endif
