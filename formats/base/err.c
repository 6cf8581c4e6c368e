#include "formats/base/err.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "formats/base/alloc_failure.h"
#include "formats/text/printable.h"

static void fill(struct gt_err *err, uint64_t offset, int code, const char *fmt, va_list ap)
{
	if (code == -ENOMEM)
		/* the failure may be in a library, which does not note it */
		gt_alloc_failure_set();
	if (!err || err->code)
		return;
	err->code = code;
	err->offset = offset;
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
}

int gt_err_set(struct gt_err *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fill(err, GT_NO_OFFSET, code, fmt, ap);
	va_end(ap);
	return code;
}

int gt_err_at(struct gt_err *err, uint64_t offset, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fill(err, offset, code, fmt, ap);
	va_end(ap);
	return code;
}

void gt_err_append(struct gt_err *err, const char *fmt, ...)
{
	size_t n = strlen(err->text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err->text + n, sizeof(err->text) - n, fmt, ap);
	va_end(ap);
}

void gt_err_print(const char *tool, const char *file, const struct gt_err *err)
{
	char at[40] = "";

	if (err->offset != GT_NO_OFFSET)
		snprintf(at, sizeof(at), "byte %" PRIu64 ": ", err->offset);
	gt_message(stderr, tool, "%s%s%s%s", file ? file : "", file ? ": " : "", at,
		err->code && !err->text[0] ? strerror(-err->code) : err->text);
}
