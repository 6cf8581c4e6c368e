#include "viewer/app/ui.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/text/utf8.h"
#include "viewer/app/key_list.h"
#include "viewer/view/key_bar.h"

/* Makes the view visible; opens it if it is not open. */
static int show(struct gt_ui *s, const struct gt_view_ops *ops, struct gt_err *err)
{
	unsigned i = 0;

	while (i + 1 < GT_VIEWS_MOST && gt_views[i] && gt_views[i] != ops)
		i++;
	s->view = &s->views[i];
	s->view->scene = &s->scene;
	s->view->ops = ops;
	if (s->view->opened)
		return 0;
	if (!s->view->state)
		s->view->state = calloc(1, ops->state_size);
	if (!s->view->state)
		return gt_err_set(err, -ENOMEM, "out of memory");
	s->view->opened = true;
	return ops->open(s->view, err);
}

int gt_ui_open(struct gt_ui *s, struct gt_reader *r, const char *name,
	const struct gt_view_ops *ops, struct gt_err *err)
{
	int rc;

	*s = (struct gt_ui){ .view = s->views, .busy = true };
	rc = gt_scene_open(&s->scene, r, name, err);
	return rc ? rc : show(s, ops, err);
}

static void stop_export(struct gt_ui *s)
{
	gt_export_job_free(s->export_job);
	s->export_job = NULL;
}

void gt_ui_close(struct gt_ui *s)
{
	stop_export(s);
	for (unsigned i = 0; i < GT_VIEWS_MOST; i++) {
		if (s->views[i].state)
			s->views[i].ops->close(&s->views[i]);
		free(s->views[i].state);
	}
	gt_scene_release(&s->scene);
	*s = (struct gt_ui){ .width = 0 };
}

#define BAR_HEIGHT 12u /* of a screen with a key bar */

/* The last line of a screen is the key bar, if there is space for it. */
static unsigned view_height(const struct gt_ui *s)
{
	return s->height >= BAR_HEIGHT && !s->scene.is_static ? s->height - 1 : s->height;
}

static int arrange(struct gt_ui *s, struct gt_err *err)
{
	gt_command_load_bookmarks(&s->scene);
	return s->view->ops->arrange(s->view, s->width, view_height(s), err);
}

void gt_ui_detach(struct gt_ui *s)
{
	for (unsigned i = 0; i < GT_VIEWS_MOST; i++) {
		if (s->views[i].opened)
			s->views[i].ops->detach(&s->views[i]);
		s->views[i].opened = false;
	}
	gt_scene_detach(&s->scene);
}

int gt_ui_reopen(struct gt_ui *s, struct gt_reader *r, struct gt_err *err)
{
	int rc = gt_scene_reopen(&s->scene, r, err);

	s->busy = true;
	if (!rc)
		rc = show(s, s->view->ops, err);
	return rc ? rc : arrange(s, err);
}

int gt_ui_resize(struct gt_ui *s, unsigned width, unsigned height, struct gt_err *err)
{
	s->width = width < 1 ? 1 : width > GT_SCREEN_MOST ? GT_SCREEN_MOST : width;
	s->height = height < 1 ? 1 : height > GT_SCREEN_MOST ? GT_SCREEN_MOST : height;
	return arrange(s, err);
}

/* A time after the start of the trace in the viewer's time, limited to int64_t. */
static int64_t viewer_time(const struct gt_ui *s, int64_t t)
{
	int64_t at;

	if (__builtin_add_overflow(s->scene.extent.from, t, &at))
		at = t < 0 ? INT64_MIN : INT64_MAX;
	return at;
}

int gt_ui_range(struct gt_ui *s, int64_t from, int64_t to, struct gt_err *err)
{
	const struct gt_time_extent *e = &s->scene.extent;
	int64_t a = viewer_time(s, from), b = viewer_time(s, to);

	gt_window_show(
		&s->scene.window, e, a < e->to ? a : e->to - 1, b > e->from ? b : e->from + 1);
	return arrange(s, err);
}

/* The time around a moment that is shown without a duration. */
#define MOMENT_PART 100      /* of the run */
#define MOMENT_MOST 50000000 /* ns on each side */

int gt_ui_show_times(struct gt_ui *s, const struct gt_ui_times *times, struct gt_err *err)
{
	const struct gt_time_extent *e = &s->scene.extent;
	int64_t margin = (e->to - e->from) / (2 * MOMENT_PART) + 1, from = times->from,
		to = times->to;

	if (times->how == GT_UI_ALL)
		return 0;
	if (times->how == GT_UI_RANGE)
		return gt_ui_range(s, from, to, err);
	if (times->how == GT_UI_SPAN)
		gt_marks_jump(&s->scene.marks, viewer_time(s, from), viewer_time(s, to));
	s->scene.target_gpu = times->how == GT_UI_SPAN;
	if (times->how == GT_UI_SPAN && to > from)
		margin = (to - from) / 4;
	else
		margin = margin < MOMENT_MOST ? margin : MOMENT_MOST;
	s->scene.target_time = viewer_time(s, from);
	s->scene.has_target_time = true;
	return gt_ui_range(
		s, from - margin, to > INT64_MAX - margin ? INT64_MAX : to + margin, err);
}

int gt_ui_show_values(struct gt_ui *s, unsigned n, struct gt_err *err)
{
	const struct gt_binding next = { .action = GT_DO_HEIGHTS, .arg = (int)n };

	if (!n || s->view->ops != gt_views[0])
		return 0;
	s->view->ops->act(s->view, &next, (struct gt_key){ .key = GT_KEY_NONE });
	return arrange(s, err);
}

/* Shows another view; the old one cancels its background work. */
static void show_view(struct gt_ui *s, const struct gt_view_ops *ops, struct gt_err *err)
{
	s->scene.next_view = NULL;
	if (!ops || s->view->ops == ops)
		return;
	if (s->scene.report_job)
		gt_report_job_cancel(s->scene.report_job);
	if (s->view->ops->leave && s->view->state)
		s->view->ops->leave(s->view);
	show(s, ops, err);
}

/* Shows the result when no prompt and no list of keys hides the status line. */
static int step_export(struct gt_ui *s, uint64_t us)
{
	char result[sizeof(s->scene.status_text)];

	if (!s->export_job || s->asking || s->help)
		return 0;
	if (!gt_export_job_step(s->export_job, us, result, sizeof(result))) {
		stop_export(s);
		gt_scene_set_status(&s->scene, "%s", result);
	}
	return 1;
}

/* A step of a view may select another view to show. */
static int step_view(struct gt_ui *s, uint64_t us, struct gt_err *err)
{
	int rc;

	do {
		rc = s->view->ops->step(s->view, us, err);
		if (rc < 0 || !s->scene.next_view)
			return rc;
		show_view(s, gt_view_find(s->scene.next_view), err);
		rc = err->code ? err->code : arrange(s, err);
	} while (!rc && !us);
	return rc ? rc : 1;
}

int gt_ui_step(struct gt_ui *s, uint64_t us, struct gt_err *err)
{
	int rc = step_view(s, us, err);

	s->busy = rc > 0 && rc != GT_VIEW_WAITING;
	if (rc >= 0 && step_export(s, rc && us ? 1 : us) && us)
		return 1;
	return rc > 0 ? 1 : rc;
}

/* ---- keys ---- */

/* In the list of keys and in prompts, the key bar has these. */
static const struct gt_key_hint help_hints[] = {
	{ "Esc", "Back", { .key = GT_KEY_ESC }, 1 },
	{ "Up Down", "Scroll", { .key = GT_KEY_NONE }, 2 },
	{ .label = NULL },
};
static const struct gt_key_hint prompt_hints[] = {
	{ "Enter", "OK", { .key = GT_KEY_ENTER }, 1 },
	{ "Esc", "Cancel", { .key = GT_KEY_ESC }, 1 },
	{ .label = NULL },
};
static const struct gt_key_hint command_hints[] = {
	{ "Enter", "OK", { .key = GT_KEY_ENTER }, 1 },
	{ "Tab", "Complete", { .key = GT_KEY_TAB }, 1 },
	{ "Esc", "Cancel", { .key = GT_KEY_ESC }, 1 },
	{ .label = NULL },
};

static const struct gt_key_hint *hints(const struct gt_ui *s)
{
	return s->asking == GT_DO_COMMAND ? command_hints
		: s->asking               ? prompt_hints
		: s->help                 ? help_hints
					  : s->view->ops->hints;
}

static void act_on_help(struct gt_ui *s, const struct gt_binding *b)
{
	int64_t page = s->height > 2 ? s->height - 2 : 1, lines = gt_key_list_lines(s->width),
		top = s->help_top;

	switch (b ? b->action : GT_DO_NOTHING) {
	case GT_DO_HELP:
	case GT_DO_ESCAPE:
	case GT_DO_QUIT: s->help = false; return;
	case GT_DO_LINE: top += b->arg; break;
	case GT_DO_PAGE: top += b->arg * page; break;
	case GT_DO_START:
	case GT_DO_TOP: top = 0; break;
	case GT_DO_END:
	case GT_DO_BOTTOM: top = lines; break;
	case GT_DO_ZOOM: top -= b->arg; break; /* the wheel */
	default: break;
	}
	top = top > lines - page - 1 ? lines - page - 1 : top;
	s->help_top = top < 0 ? 0 : (unsigned)top;
}

static void drop_last_character(char *s)
{
	size_t n = strlen(s);

	while (n && ((unsigned char)s[--n] & 0xc0) == 0x80)
		;
	s[n] = 0;
}

static bool add_character(char *s, size_t room, uint32_t ch)
{
	char utf8[4];
	size_t n = strlen(s), len;

	if (gt_utf8_is_control(ch) || ch > 0x10ffff)
		return true;
	len = gt_utf8_put(utf8, ch);
	if (n + len >= room)
		return false;
	memcpy(s + n, utf8, len);
	s[n + len] = 0;
	return true;
}

static void find_words(struct gt_ui *s)
{
	s->nwords = s->asking == GT_DO_COMMAND
		? gt_command_words(s->typed, &s->scene.bookmarks, s->words, GT_UI_WORDS)
		: 0;
}

/* Appends the common prefix of all completions; a single completion gets a space. */
static void complete(struct gt_ui *s)
{
	size_t n = s->nwords ? strlen(s->words[0]) : 0;

	for (size_t i = 1; i < s->nwords; i++)
		for (size_t k = 0; k < n; k++)
			if (s->words[i][k] != s->words[0][k])
				n = k;
	while (n && (s->words[0][n] & 0xc0) == 0x80) /* do not cut a character */
		n--;
	if (n)
		snprintf(s->typed, sizeof(s->typed), "%.*s%s", (int)n, s->words[0],
			s->nwords == 1 ? " " : "");
}

int gt_ui_turn(struct gt_ui *s, const struct gt_view_ops *ops, struct gt_err *err)
{
	if (s->view->ops == ops)
		return 0;
	show_view(s, ops, err);
	return err->code ? err->code : arrange(s, err);
}

/* A filter of lanes needs the timeline. */
const char *gt_ui_answer(
	struct gt_ui *s, enum gt_action asked, const char *text, struct gt_err *err)
{
	if (asked == GT_DO_COMMAND)
		return gt_command_exec(s, text, err);
	if (asked == GT_DO_FILTER && gt_ui_turn(s, gt_views[0], err))
		return NULL;
	return s->view->ops->answer(s->view, asked, text);
}

static void type(struct gt_ui *s, struct gt_key k, struct gt_err *err)
{
	enum gt_action asked = s->asking;

	if (k.key == GT_KEY_ENTER) {
		/* from completion */
		for (size_t n = strlen(s->typed);
			asked == GT_DO_COMMAND && n && s->typed[n - 1] == ' ';)
			s->typed[--n] = 0;
		s->asking = GT_DO_NOTHING;
		s->scene.message = s->overfull ? "the input is too long: it was ignored"
					       : gt_ui_answer(s, asked, s->typed, err);
	} else if (k.key == GT_KEY_ESC || k.key == 3) {
		s->asking = GT_DO_NOTHING;
	} else if (k.key == GT_KEY_TAB) {
		complete(s);
	} else if (k.key == GT_KEY_BACKSPACE) {
		drop_last_character(s->typed);
	} else if (!k.modifiers) {
		s->overfull |= !add_character(s->typed, sizeof(s->typed), k.key);
	}
	find_words(s);
}

/* In a narrower window the user cannot see that the list of keys or a prompt is open, so q must
 * quit there. */
#define MODE_COLUMNS 10u /* "Esc: back" */
static bool has_modes(const struct gt_ui *s) { return s->width >= MODE_COLUMNS; }

static void act(struct gt_ui *s, const struct gt_binding *b, struct gt_key k, struct gt_err *err)
{
	switch (b->action) {
	case GT_DO_QUIT: s->quit = true; break;
	case GT_DO_REDRAW: s->redraw = true; break;
	case GT_DO_VIEW:
		if (gt_views[b->arg] == s->view->ops)
			s->view->ops->act(s->view, b, k);
		else
			show_view(s, gt_views[b->arg], err);
		break;
	case GT_DO_HELP:
		s->help = has_modes(s);
		s->help_top = 0;
		break;
	case GT_DO_GOTO:
	case GT_DO_FILTER:
	case GT_DO_FIND:
	case GT_DO_COMMAND:
		if (!has_modes(s))
			break;
		s->asking = b->action;
		s->overfull = false;
		strcpy(s->typed,
			b->action != GT_DO_COMMAND || !b->arg ? ""
				: b->arg == 1                 ? "bookmark "
							      : "jump ");
		find_words(s);
		break;
	case GT_DO_ESCAPE:
		if (s->export_job &&
			!(s->view->ops->is_searching && s->view->ops->is_searching(s->view))) {
			stop_export(s);
			s->scene.message = "export stopped: no file was written";
			break;
		}
		/* fall through */
	default: s->view->ops->act(s->view, b, k);
	}
}

int gt_ui_key(struct gt_ui *s, struct gt_key k, struct gt_err *err)
{
	const struct gt_binding *b;

	if ((k.key == GT_KEY_PRESS || k.key == GT_KEY_DOUBLE) && k.y >= view_height(s))
		k = gt_key_bar_at(hints(s), s->width, k.x);
	b = gt_binding_of(k);
	s->busy = true;
	if (k.key == GT_KEY_RESIZE)
		return gt_ui_resize(s, k.x, k.y, err);
	if (k.key == GT_KEY_HANGUP)
		s->quit = true;
	s->scene.message = NULL;
	if (s->asking && has_modes(s))
		type(s, k, err);
	else if (s->help && has_modes(s))
		act_on_help(s, b);
	else if (b)
		act(s, b, k, err);
	else if (k.key > ' ' && k.key < 127)
		gt_scene_set_status(
			&s->scene, "key %c has no function: ? lists the keys", (int)k.key);
	if (s->scene.next_view)
		show_view(s, gt_view_find(s->scene.next_view), err);
	if (s->quit)
		/* when a signal ends the program, gt_term_key does not return again */
		stop_export(s);
	if (err->code)
		return err->code;
	return arrange(s, err);
}

/* ---- frames ---- */

static void draw_help(const struct gt_ui *s, struct gt_screen *to)
{
	gt_key_list_draw(s->help_top, s->height - 1, to);
	gt_key_bar_draw(hints(s), (int)s->height - 1, to);
}

static const char *prompt(enum gt_action asked)
{
	return asked == GT_DO_GOTO       ? "go to: "
		: asked == GT_DO_FIND    ? "find: "
		: asked == GT_DO_COMMAND ? ":"
					 : "lanes containing: ";
}

/* Draws the completions in the line above the prompt. */
static void draw_words(const struct gt_ui *s, int y, struct gt_screen *to)
{
	int x = 0;

	if (!s->nwords || y < 0)
		return;
	gt_screen_fill(to, 0, y, (int)s->width, 1, ' ', gt_look_faint);
	for (size_t i = 0; i < s->nwords && x < (int)s->width; i++)
		x += gt_screen_printf(to, x, y, -1, gt_look_faint, "%s   ", s->words[i]);
}

/* Draws the progress of an export at the right of the status line. */
static void draw_export(const struct gt_ui *s, int y, struct gt_screen *to)
{
	const struct gt_look look = { GT_INK_TITLE, GT_INK_NONE, GT_REVERSE };
	char text[60];
	int n;

	if (!s->export_job)
		return;
	n = snprintf(text, sizeof(text), " exporting: %u %%, Esc stops ",
		gt_export_job_percent(s->export_job));
	gt_screen_text(to, n < (int)s->width ? (int)s->width - n : 0, y, -1, text, look);
}

/* The longest suffix of the text that fits into so many columns. */
static const char *end_of(const char *text, int columns)
{
	size_t n = gt_utf8_width(text), room = columns > 0 ? (size_t)columns : 0;

	return n > room ? gt_utf8_least(text, n - room) : text;
}

static void draw_bottom(const struct gt_ui *s, struct gt_screen *to)
{
	int y = (int)view_height(s) - 1, x;

	if (y + 1 < (int)s->height)
		gt_key_bar_draw(hints(s), y + 1, to);
	if (!s->asking && !s->scene.message) {
		draw_export(s, y, to);
		return;
	}
	gt_screen_fill(to, 0, y, (int)s->width, 1, ' ', gt_look_title);
	if (s->asking) {
		draw_words(s, y - 1, to);
		x = gt_screen_text(to, 0, y, -1, prompt(s->asking), gt_look_title);
		x += gt_screen_text(
			to, x, y, -1, end_of(s->typed, (int)s->width - x - 1), gt_look_title);
		gt_screen_put(to, x, y, ' ', (struct gt_look){ GT_INK_TEXT, GT_INK_CURSOR, 0 });
	} else {
		gt_screen_text(to, 0, y, -1, s->scene.message, gt_look_alert);
	}
}

void gt_ui_draw(const struct gt_ui *s, struct gt_screen *to)
{
	if ((to->width != s->width || to->height != s->height) &&
		gt_screen_resize(to, s->width, s->height))
		return;
	if (s->help) {
		draw_help(s, to);
		return;
	}
	s->view->ops->draw(s->view, to);
	draw_bottom(s, to);
}
