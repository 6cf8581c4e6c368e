#include "formats/base/buf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int gt_grow(void *ptr_to_ptr, size_t *cap, size_t need, size_t size)
{
	/* large elements begin with few: there may be 100,000 such arrays */
	size_t want = *cap + *cap / 2 + 1 + 128 / size, bytes;
	void *old, *new;

	if (need <= *cap)
		return 0;
	if (want < need)
		want = need;
	if (__builtin_mul_overflow(want, size, &bytes))
		return -ENOMEM;
	memcpy(&old, ptr_to_ptr, sizeof(old));
	new = realloc(old, bytes);
	if (!new)
		return -ENOMEM;
	memcpy(ptr_to_ptr, &new, sizeof(new));
	*cap = want;
	return 0;
}

uint8_t *gt_buf_reserve(struct gt_buf *b, size_t n)
{
	if (b->cap - b->len < n && (b->len + n < n || gt_grow(&b->data, &b->cap, b->len + n, 1))) {
		b->failed = true;
		return NULL;
	}
	return b->data + b->len;
}

void gt_buf_add(struct gt_buf *b, const void *bytes, size_t n)
{
	uint8_t *to = n ? gt_buf_reserve(b, n) : NULL;

	if (to) {
		memcpy(to, bytes, n);
		b->len += n;
	}
}

void gt_buf_byte(struct gt_buf *b, uint8_t byte)
{
	uint8_t *to = gt_buf_reserve(b, 1);

	if (to) {
		*to = byte;
		b->len++;
	}
}

void gt_buf_str(struct gt_buf *b, const char *s) { gt_buf_add(b, s, strlen(s)); }

void gt_buf_printf(struct gt_buf *b, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0 || !gt_buf_reserve(b, (size_t)n + 1))
		return;
	va_start(ap, fmt);
	vsnprintf((char *)b->data + b->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)n;
}

void gt_buf_clear(struct gt_buf *b)
{
	b->len = 0;
	b->failed = false;
}

void gt_buf_release(struct gt_buf *b)
{
	free(b->data);
	memset(b, 0, sizeof(*b));
}

void gt_clear(void *to, size_t n) { memset(to, 0, n); }
