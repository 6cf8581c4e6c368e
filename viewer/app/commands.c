/* Commands are rows of one table: name, arguments, function, completion. */
#include "viewer/app/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/numbers.h"
#include "viewer/app/ui.h"

/* ---- bookmarks ---- */

void gt_command_load_bookmarks(struct gt_scene *s)
{
	struct gt_err err = GT_ERR_INIT;
	size_t strange = 0;

	if (s->bookmarks_loaded || s->is_static || !strcmp(s->name, "-"))
		return;
	s->bookmarks_loaded = true;
	if (gt_bookmarks_load(&s->bookmarks, s->name, &strange, &err))
		gt_scene_set_status(s, "%s", err.text);
	else if (strange)
		gt_scene_set_status(s, "skipped %zu invalid line%s of bookmarks", strange,
			gt_plural(strange, "s"));
}

static void reload_bookmarks(struct gt_scene *s)
{
	if (!s->is_static && strcmp(s->name, "-"))
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
static void set_bookmark(struct gt_ui *s, const char *name, bool force, struct gt_err *err)
{
	struct gt_scene *scene = &s->scene;
	int64_t t = s->view->ops->moment ? s->view->ops->moment(s->view)
					 : gt_cell_start(&scene->window, scene->window.cells / 2);

	reload_bookmarks(scene);
	if (!gt_bookmarks_set(&scene->bookmarks, name, t - scene->extent.from,
		    gt_window_log2(&scene->window), err))
		save(scene, err);
	if (!err->code)
		gt_scene_set_status(
			scene, "saved bookmark '%s' in %s", name, scene->bookmarks.path);
}

static void remove_bookmark(struct gt_ui *ui, const char *name, bool force, struct gt_err *err)
{
	struct gt_scene *s = &ui->scene;

	reload_bookmarks(s);
	if (gt_bookmarks_remove(&s->bookmarks, name))
		save(s, err);
	else
		gt_err_set(err, -ENOENT, "unknown bookmark '%.60s'", name);
	if (!err->code)
		gt_scene_set_status(s, "removed bookmark '%s'", name);
}

static void jump(struct gt_ui *ui, const char *name, bool force, struct gt_err *err)
{
	struct gt_scene *s = &ui->scene;
	const struct gt_bookmark *b;

	reload_bookmarks(s);
	b = gt_bookmarks_get(&s->bookmarks, name);
	if (!b) {
		gt_err_set(err, -ENOENT, "unknown bookmark: Tab lists the bookmarks");
		return;
	}
	gt_window_zoom(&s->window, &s->extent, (int)gt_window_log2(&s->window) - (int)b->shift, 0);
	gt_scene_goto(s, s->extent.from + b->at);
}

/* ---- others ---- */

static void act(struct gt_ui *s, enum gt_action what)
{
	const struct gt_binding b = { .action = what };

	s->view->ops->act(s->view, &b, (struct gt_key){ .key = GT_KEY_NONE });
}

/* Sets marks at "TIME" or "TIME TIME"; without a time, at the view's cursor. */
static void mark(struct gt_ui *s, const char *args, bool force, struct gt_err *err)
{
	char one[40], other[40], more[2];
	const char *why = NULL;
	int64_t t[2];
	int n = sscanf(args, "%39s %39s %1s", one, other, more);

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
static void stop_threads(struct gt_ui *s)
{
	if (s->scene.report_job)
		gt_report_job_stop(s->scene.report_job);
	for (unsigned i = 0; gt_views[i]; i++)
		if (s->views[i].state && s->views[i].ops->stop_threads)
			s->views[i].ops->stop_threads(&s->views[i]);
}

/* ---- export ---- */

/* Copies the next word; quotes or a backslash protect spaces. *whole becomes false if the word is
 * too long or a quote is not closed. Returns the rest of the text. */
static const char *word(const char *at, char *to, size_t room, bool *whole)
{
	size_t n = 0;
	char quote = 0;

	for (; *at && (quote || *at != ' '); at++) {
		if (*at == quote) {
			quote = 0;
			continue;
		}
		if (!quote && (*at == '"' || *at == '\'')) {
			quote = *at;
			continue;
		}
		if (*at == '\\' && at[1] && quote != '\'')
			at++;
		if (n + 1 < room)
			to[n] = *at;
		n++;
	}
	to[n < room ? n : room - 1] = 0;
	*whole &= !quote && n < room;
	return at + strspn(at, " ");
}

/* As in a shell, an unquoted "~/" is the home directory. */
static const char *file_word(const char *at, char to[GT_EXPORT_FILE], bool *whole)
{
	const char *home = getenv("HOME");
	size_t n = 0;

	if (at[0] == '~' && at[1] == '/' && home && *home) {
		n = (size_t)snprintf(to, GT_EXPORT_FILE, "%s", home);
		n = n < GT_EXPORT_FILE ? n : GT_EXPORT_FILE - 1;
		at++;
	}
	return word(at, to + n, GT_EXPORT_FILE - n, whole);
}

static int parse_export(const struct gt_scene *s, const char *rest, struct gt_export_request *to,
	struct gt_err *err)
{
	char format[40], from[40], until[40];
	bool whole = true;

	rest = word(rest, format, sizeof(format), &whole);
	for (unsigned i = 0; gt_exporters[i]; i++)
		if (gt_exporters[i]->export && !strcmp(gt_exporters[i]->name, format))
			to->as = gt_exporters[i];
	if (!to->as)
		return gt_err_set(
			err, -EINVAL, "unknown format '%.30s': Tab lists the formats", format);
	rest = file_word(rest, to->file, &whole);
	if (!whole)
		return gt_err_set(err, -EINVAL,
			"invalid file name: it is too long, or a quote is not closed");
	if (!to->file[0])
		return gt_err_set(err, -EINVAL, "no file given: export %s FILE", format);
	if (!strcmp(to->file, "-"))
		return gt_err_set(err, -EINVAL, "cannot export to the screen: give a file name");
	if (!*rest)
		return 0;
	rest = word(rest, from, sizeof(from), &whole);
	rest = word(rest, until, sizeof(until), &whole);
	if (*rest || !whole || gt_time_parse(&s->times, from, &to->range.from) ||
		gt_time_parse(&s->times, until, &to->range.to) || to->range.from >= to->range.to)
		return gt_err_set(err, -EINVAL,
			"invalid range '%.30s %.30s' (example: 1.5s 1.6s); quote a file name that has spaces",
			from, until);
	return 0;
}

static void export(struct gt_ui *s, const char *args, bool force, struct gt_err *err)
{
	struct gt_export_request order = { .replace = force, .range = range_of(s) };

	if (s->export_job) {
		gt_err_set(err, -EBUSY, "an export is already running: Esc stops it");
	} else if (!parse_export(&s->scene, args, &order, err)) {
		stop_threads(s);
		s->export_job = gt_export_job_new(&s->scene, &order, err);
	}
}

static void show_view(struct gt_ui *s, const char *name, bool force, struct gt_err *err)
{
	if (gt_view_find(name))
		s->scene.next_view = gt_view_find(name)->name;
	else
		gt_err_set(err, -ENOENT, "unknown view '%.60s': Tab lists the views", name);
}

static void go_to(struct gt_ui *s, const char *time, bool force, struct gt_err *err)
{
	int64_t t;

	s->scene.message = gt_scene_time(&s->scene, time, &t);
	if (!s->scene.message)
		gt_scene_goto(&s->scene, t);
}

static void find(struct gt_ui *s, const char *expression, bool force, struct gt_err *err)
{
	s->scene.message = gt_ui_answer(s, GT_DO_FIND, expression, err);
}

static void filter(struct gt_ui *s, const char *text, bool force, struct gt_err *err)
{
	s->scene.message = gt_ui_answer(s, GT_DO_FILTER, text, err);
}

static void fit(struct gt_ui *s, const char *args, bool force, struct gt_err *err)
{
	act(s, GT_DO_FIT);
}

static void show_open_call(struct gt_ui *s, const char *args, bool force, struct gt_err *err)
{
	if (!gt_ui_turn(s, gt_views[0], err))
		act(s, GT_DO_OPEN_CALL);
}

static void quit(struct gt_ui *s, const char *args, bool force, struct gt_err *err)
{
	s->quit = true;
}

/* ---- completion of arguments: word number i, or NULL ---- */

static const char *exporter_word(const struct gt_bookmarks *b, size_t i)
{
	for (size_t k = 0; gt_exporters[k]; k++)
		if (gt_exporters[k]->export && !i--)
			return gt_exporters[k]->name;
	return NULL;
}

static const char *view_word(const struct gt_bookmarks *b, size_t i)
{
	return gt_views[i] ? gt_views[i]->name : NULL;
}

static const char *bookmark_word(const struct gt_bookmarks *b, size_t i)
{
	return i < b->n ? b->list[i].name : NULL;
}

/* ---- the table ---- */

enum {
	TAKES_FORCE = 1, /* may have a '!' */
	MAY_END = 2      /* errors end the viewer; else they are messages */
};
static const struct command {
	const char *name, *args; /* args: "" none, "[...]" optional */
	void (*exec)(struct gt_ui *s, const char *args, bool force, struct gt_err *err);
	const char *(*word)(const struct gt_bookmarks *b, size_t i); /* or NULL */
	unsigned flags;
} commands[] = {
	{ "goto", "TIME", go_to, NULL, 0 },
	{ "find", "[EXPRESSION]", find, NULL, MAY_END },
	{ "filter", "[TEXT]", filter, NULL, MAY_END },
	{ "fit", "", fit, NULL, 0 },
	{ "mark", "[TIME [TIME]]", mark, NULL, 0 },
	{ "bookmark", "NAME", set_bookmark, NULL, 0 },
	{ "jump", "NAME", jump, bookmark_word, 0 },
	{ "forget", "NAME", remove_bookmark, bookmark_word, 0 },
	{ "view", "NAME", show_view, view_word, 0 },
	{ "open", "", show_open_call, NULL, MAY_END },
	{ "export", "FORMAT FILE [FROM TO]", export, exporter_word, TAKES_FORCE },
	{ "quit", "", quit, NULL, 0 },
};
#define NCOMMANDS (sizeof(commands) / sizeof(*commands))

/* The command with this name or unique prefix; NULL: no command or several. */
static const struct command *find_command(const char *name, size_t n)
{
	const struct command *one = NULL;

	for (size_t i = 0; n && i < NCOMMANDS; i++) {
		if (strncmp(commands[i].name, name, n))
			continue;
		if (!commands[i].name[n])
			return &commands[i];
		if (one)
			return NULL;
		one = &commands[i];
	}
	return one;
}

/* Splits a text into its command, its arguments (*args) and whether it has a '!' (*force). NULL:
 * the text is empty, or err has the reason. */
static const struct command *parse(
	const char *text, const char **args, bool *force, struct gt_err *err)
{
	const char *at = text + strspn(text, " :");
	size_t n = strcspn(at, " !");
	const struct command *c = find_command(at, n);

	*force = at[n] == '!';
	*args = at + n + *force;
	*args += strspn(*args, " ");
	if (!n && !*force)
		return NULL;
	if (!c)
		gt_err_set(err, -EINVAL, "unknown command '%.*s': Tab lists the commands",
			n < 40 ? (int)n : 40, at);
	else if (*force && !(c->flags & TAKES_FORCE))
		gt_err_set(err, -EINVAL, "%s takes no '!'", c->name);
	else if (!**args && *c->args && *c->args != '[')
		gt_err_set(err, -EINVAL, "%s needs an argument: %s %s", c->name, c->name, c->args);
	else if (**args && !*c->args)
		gt_err_set(err, -EINVAL, "%s takes no argument: '%.40s'", c->name, *args);
	else
		return c;
	return NULL;
}

const char *gt_command_exec(struct gt_ui *s, const char *text, struct gt_err *err)
{
	struct gt_err why = GT_ERR_INIT;
	bool force;
	const char *args;
	const struct command *c = parse(text, &args, &force, &why);

	if (c)
		c->exec(s, args, force, c->flags & MAY_END ? err : &why);
	if (why.code)
		gt_scene_set_status(&s->scene, "%s", why.text);
	return s->scene.message;
}

/* ---- completion ---- */

static size_t add(
	char to[][GT_COMMAND_WORD], size_t n, size_t most, const char *command, const char *word)
{
	if (n < most)
		snprintf(to[n++], GT_COMMAND_WORD, "%.30s%s%.64s", command, *command ? " " : "",
			word);
	return n;
}

size_t gt_command_words(
	const char *typed, const struct gt_bookmarks *b, char to[][GT_COMMAND_WORD], size_t most)
{
	const char *at = typed + strspn(typed, " :"), *args, *word;
	size_t n = 0, len = strcspn(at, " !");
	const struct command *c = find_command(at, len);
	char head[40];

	if (!at[len]) {
		for (size_t i = 0; i < NCOMMANDS; i++)
			if (!strncmp(commands[i].name, at, len))
				n = add(to, n, most, "", commands[i].name);
		return n;
	}
	args = at + len + (at[len] == '!');
	args += strspn(args, " ");
	if (c)
		snprintf(head, sizeof(head), "%s%s", c->name, at[len] == '!' ? "!" : "");
	for (size_t i = 0; c && c->word && (word = c->word(b, i)); i++)
		if (!strncmp(word, args, strlen(args)))
			n = add(to, n, most, head, word);
	return n;
}
