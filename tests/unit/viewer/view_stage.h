/* A session on a random trace, without a terminal: keys in as scripts, lines of the screen out. */
#ifndef VIEW_STAGE_H
#define VIEW_STAGE_H
#include "tests/unit/viewer/key_script.h"
#include "tests/unit/viewer/screen_lines.h"
#include "tests/unit/viewer/view_program.h"
#include "viewer/app/ui.h"

struct stage {
	struct gt_reader *reader;
	struct gt_ui s;
	struct gt_screen screen;
	struct gt_err err;
};

static inline void stage_open(struct stage *st, int fd, unsigned width, unsigned height)
{
	*st = (struct stage){ .err = GT_ERR_INIT };
	CHECK((st->reader = gt_reader_open_fd(fd, &st->err)));
	CHECK(!gt_ui_open(&st->s, st->reader, "some/trace.zst", gt_views[0], &st->err));
	CHECK(!gt_ui_resize(&st->s, width, height, &st->err));
}

static inline void stage_up(
	struct stage *st, const char *const *boots, unsigned turns, unsigned width, unsigned height)
{
	int fd = temp_file();

	for (unsigned i = 0; boots[i]; i++)
		make(dup(fd), boots[i], 1000 + i * 700, turns);
	stage_open(st, fd, width, height);
}

static inline void strike(struct stage *st)
{
	gt_ui_close(&st->s);
	gt_reader_close(st->reader);
	gt_screen_release(&st->screen);
}

/* Types a script, finds everything out, draws. */
static inline bool play(struct stage *st, const char *script)
{
	struct key_script s = { .at = script };
	struct gt_key k;
	int rc;

	while ((rc = key_script_next(&s, &k)) > 0)
		if (gt_ui_key(&st->s, k, &st->err))
			return false;
	if (rc || gt_ui_step(&st->s, 0, &st->err))
		return false;
	gt_ui_draw(&st->s, &st->screen);
	return true;
}

static inline const char *line(struct stage *st, int y) { return line_of_screen(&st->screen, y); }

/* The line with this label, or -1. */
static inline int line_of(struct stage *st, const char *label)
{
	for (int y = 0; y < (int)st->screen.height; y++)
		if (strstr(line(st, y), label))
			return y;
	return -1;
}

static inline bool on_screen(struct stage *st, const char *text)
{
	if (line_of(st, text) >= 0)
		return true;
	printf("there is no '%s' in:\n", text);
	for (int y = 0; y < (int)st->screen.height; y++)
		printf("%s\n", line(st, y));
	return false;
}
#endif
