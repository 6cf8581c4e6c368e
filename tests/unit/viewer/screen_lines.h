/* The contents of a screen in memory, as text. */
#ifndef SCREEN_LINES_H
#define SCREEN_LINES_H
#include <stdio.h>
#include "viewer/term/screen.h"

/* Line y, without trailing spaces. Valid until the next call. */
static inline const char *line_of_screen(const struct gt_screen *s, int y)
{
	static char text[GT_SCREEN_MOST * 4 + 1];
	struct gt_screen one = {
		.width = s->width, .height = 1, .spots = s->spots + (size_t)y * s->width
	};
	struct gt_out out;
	struct gt_err err = GT_ERR_INIT;

	gt_out_memory(&out);
	gt_screen_print(&one, GT_MONO, &out);
	snprintf(text, sizeof(text), "%.*s", (int)out.len - 1, out.data);
	gt_out_close(&out, &err);
	return text;
}
#endif
