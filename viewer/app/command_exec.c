#include "viewer/app/command_exec.h"

#include <stdio.h>
#include <string.h>

/* ---- bookmarks ---- */

void gt_command_load_bookmarks(struct gt_scene *s)
{
	struct gt_err err = GT_ERR_INIT;
	size_t strange = 0;

	if (s->bookmarks_loaded || s->still || !strcmp(s->name, "-"))
		return;
	s->bookmarks_loaded = true;
	if (gt_bookmarks_load(&s->bookmarks, s->name, &strange, &err))
		gt_scene_set_status(s, "%s", err.text);
	else if (strange)
		gt_scene_set_status(s, "skipped %zu invalid line%s of bookmarks", strange,
			strange == 1 ? "" : "s");
}

static void see_others(struct gt_scene *s)
{
	if (!s->still && strcmp(s->name, "-"))
		gt_bookmarks_reload(&s->bookmarks, s->name);
}

static void save(struct gt_scene *s, struct gt_err *err)
{
	if (!strcmp(s->name, "-"))
		gt_err_set(err, -EINVAL,
			"standard input has no bookmark file: bookmarks last until gtview exits");
	else if (!err->code)
		gt_bookmarks_save(&s->bookmarks, s->name, err);
}

/* Sets a bookmark at the cursor; in a view without a time cursor, at the middle of the window. */
static void bookmark(struct gt_ui *s, const char *name, struct gt_err *err)
{
	struct gt_scene *scene = &s->scene;
	int64_t t = s->view->ops->moment ? s->view->ops->moment(s->view)
					 : gt_cell_start(&scene->window, scene->window.cells / 2);

	see_others(scene);
	if (!gt_bookmarks_set(
		    &scene->bookmarks, name, t - scene->extent.from, scene->window.shift, err))
		save(scene, err);
	if (!err->code)
		gt_scene_set_status(
			scene, "saved bookmark '%s' in %s", name, scene->bookmarks.path);
}

static void forget(struct gt_scene *s, const char *name, struct gt_err *err)
{
	see_others(s);
	if (gt_bookmarks_remove(&s->bookmarks, name))
		save(s, err);
	else
		gt_err_set(err, -ENOENT, "unknown bookmark '%.60s'", name);
	if (!err->code)
		gt_scene_set_status(s, "removed bookmark '%s'", name);
}

static void jump(struct gt_scene *s, const char *name, struct gt_err *err)
{
	const struct gt_bookmark *b;

	see_others(s);
	b = gt_bookmarks_get(&s->bookmarks, name);
	if (!b) {
		gt_err_set(err, -ENOENT, "unknown bookmark: Tab lists the bookmarks");
		return;
	}
	gt_window_zoom(&s->window, &s->extent, (int)s->window.shift - (int)b->shift, 0);
	gt_scene_goto(s, s->extent.from + b->at);
}

/* ---- others ---- */

static void act(struct gt_ui *s, enum gt_action what)
{
	const struct gt_binding b = { .action = what };

	s->view->ops->act(s->view, &b, (struct gt_key){ .key = GT_KEY_NONE });
}

/* Sets marks at "TIME" or "TIME TIME"; without a time, at the view's cursor. */
static void mark(struct gt_ui *s, const char *rest, struct gt_err *err)
{
	char one[40], other[40], more[2];
	const char *why = NULL;
	int64_t t[2];
	int n = sscanf(rest, "%39s %39s %1s", one, other, more);

	if (n <= 0) {
		act(s, GT_DO_MARK);
		return;
	}
	why = n > 2 ? "mark takes one or two times" : gt_scene_time(&s->scene, one, &t[0]);
	why = why || n < 2 ? why : gt_scene_time(&s->scene, other, &t[1]);
	if (why) {
		gt_err_set(err, -EINVAL, "%s", why);
		return;
	}
	gt_marks_clear(&s->scene.marks);
	for (int i = 0; i < n; i++)
		gt_marks_set(&s->scene.marks, t[i]);
}

/* The range between the marks if the view shows them, else the visible range. */
static struct gt_range range_of(const struct gt_ui *s)
{
	struct gt_range r;

	if (s->view->ops->moment && gt_marks_between(&s->scene.marks, &r.from, &r.to))
		return r;
	return gt_scene_range(&s->scene);
}

/* Ends the background threads before fork(): the child has only one thread, so a lock that another
 * thread holds (the allocator's, for example) would stay locked there. */
static void rest(struct gt_ui *s)
{
	if (s->scene.report_job)
		gt_report_job_stop(s->scene.report_job);
	for (unsigned i = 0; gt_views[i]; i++)
		if (s->views[i].state && s->views[i].ops->rest)
			s->views[i].ops->rest(&s->views[i]);
}

static void export(struct gt_ui *s, const char *text, bool force, struct gt_err *err)
{
	struct gt_export_request order = { .replace = force, .range = range_of(s) };

	if (s->export_job) {
		gt_err_set(err, -EBUSY, "an export is already running: Esc stops it");
	} else if (!gt_command_export(&s->scene, text, &order, err)) {
		rest(s);
		s->export_job = gt_export_job_new(&s->scene, &order, err);
	}
}

static void turn(struct gt_scene *s, const char *name, struct gt_err *err)
{
	if (gt_view_find(name))
		s->turn_to = gt_view_find(name)->name;
	else
		gt_err_set(err, -ENOENT, "unknown view '%.60s': Tab lists the views", name);
}

static const char *go_to(struct gt_scene *s, const char *text)
{
	int64_t t;
	const char *why = gt_scene_time(s, text, &t);

	if (!why)
		gt_scene_goto(s, t);
	return why;
}

const char *gt_command_exec(struct gt_ui *s, const char *text, struct gt_err *err)
{
	struct gt_err why = GT_ERR_INIT;
	bool force;
	const char *rest;

	switch (gt_command_parse(text, &rest, &force, &why)) {
	case GT_COMMAND_GOTO: return go_to(&s->scene, rest);
	case GT_COMMAND_FILTER: return gt_ui_answer(s, GT_DO_FILTER, rest, err);
	case GT_COMMAND_FIND: return gt_ui_answer(s, GT_DO_FIND, rest, err);
	case GT_COMMAND_FIT: act(s, GT_DO_FIT); break;
	case GT_COMMAND_OPEN:
		if (!gt_ui_turn(s, gt_views[0], err))
			act(s, GT_DO_OPEN_CALL);
		break;
	case GT_COMMAND_MARK: mark(s, rest, &why); break;
	case GT_COMMAND_BOOKMARK: bookmark(s, rest, &why); break;
	case GT_COMMAND_JUMP: jump(&s->scene, rest, &why); break;
	case GT_COMMAND_FORGET: forget(&s->scene, rest, &why); break;
	case GT_COMMAND_VIEW: turn(&s->scene, rest, &why); break;
	case GT_COMMAND_EXPORT: export(s, rest, force, &why); break;
	case GT_COMMAND_QUIT: s->quit = true; break;
	case GT_COMMAND_NONE: break;
	}
	if (why.code)
		gt_scene_set_status(&s->scene, "%s", why.text);
	return s->scene.message;
}
