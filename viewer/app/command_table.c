#include "viewer/app/command_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "viewer/view/view.h"

static const struct command {
	const char *name;
	enum gt_command_kind order;
	const char *args;
} commands[] = {
	{ "goto", GT_COMMAND_GOTO, "TIME" },
	{ "find", GT_COMMAND_FIND, "EXPRESSION" },
	{ "filter", GT_COMMAND_FILTER, "TEXT" },
	{ "fit", GT_COMMAND_FIT, "" },
	{ "mark", GT_COMMAND_MARK, "[TIME [TIME]]" },
	{ "bookmark", GT_COMMAND_BOOKMARK, "NAME" },
	{ "jump", GT_COMMAND_JUMP, "NAME" },
	{ "forget", GT_COMMAND_FORGET, "NAME" },
	{ "view", GT_COMMAND_VIEW, "NAME" },
	{ "open", GT_COMMAND_OPEN, "" },
	{ "export", GT_COMMAND_EXPORT, "FORMAT FILE [FROM TO]" },
	{ "quit", GT_COMMAND_QUIT, "" },
};
#define NCOMMANDS (sizeof(commands) / sizeof(*commands))

/* The command with this name or unique prefix; NULL: no command or several. */
static const struct command *find(const char *name, size_t n)
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

enum gt_command_kind gt_command_parse(
	const char *text, const char **rest, bool *force, struct gt_err *err)
{
	const char *at = text + strspn(text, " :");
	size_t n = strcspn(at, " !");
	const struct command *c = find(at, n);

	*force = at[n] == '!';
	*rest = at + n + *force;
	*rest += strspn(*rest, " ");
	if (!n && !*force)
		return GT_COMMAND_NONE;
	if (!c)
		gt_err_set(err, -EINVAL, "unknown command '%.*s': Tab lists the commands",
			n < 40 ? (int)n : 40, at);
	else if (*force && c->order != GT_COMMAND_EXPORT)
		gt_err_set(err, -EINVAL, "%s takes no '!'", c->name);
	else if (!**rest && *c->args && *c->args != '[' && c->order != GT_COMMAND_FILTER &&
		c->order != GT_COMMAND_FIND)
		gt_err_set(err, -EINVAL, "%s needs an argument: %s %s", c->name, c->name, c->args);
	else if (**rest && !*c->args)
		gt_err_set(err, -EINVAL, "%s takes no argument: '%.40s'", c->name, *rest);
	else
		return c->order;
	return GT_COMMAND_NONE;
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
	const char *at = typed + strspn(typed, " :"), *rest;
	size_t n = 0, len = strcspn(at, " !"), part;
	const struct command *c = find(at, len);
	char head[40];

	if (!at[len]) {
		for (size_t i = 0; i < NCOMMANDS; i++)
			if (!strncmp(commands[i].name, at, len))
				n = add(to, n, most, "", commands[i].name);
		return n;
	}
	if (!c)
		return 0;
	rest = at + len + (at[len] == '!');
	rest += strspn(rest, " ");
	part = strlen(rest);
	snprintf(head, sizeof(head), "%s%s", c->name, at[len] == '!' ? "!" : "");
	for (unsigned i = 0; c->order == GT_COMMAND_EXPORT && gt_exporters[i]; i++)
		if (!strncmp(gt_exporters[i]->name, rest, part))
			n = add(to, n, most, head, gt_exporters[i]->name);
	for (unsigned i = 0; c->order == GT_COMMAND_VIEW && gt_views[i]; i++)
		if (!strncmp(gt_views[i]->name, rest, part))
			n = add(to, n, most, head, gt_views[i]->name);
	for (size_t i = 0;
		(c->order == GT_COMMAND_JUMP || c->order == GT_COMMAND_FORGET) && i < b->n; i++)
		if (!strncmp(b->list[i].name, rest, part))
			n = add(to, n, most, head, b->list[i].name);
	return n;
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

int gt_command_export(const struct gt_scene *s, const char *rest, struct gt_export_request *to,
	struct gt_err *err)
{
	char format[40], from[40], until[40];
	bool whole = true;

	rest = word(rest, format, sizeof(format), &whole);
	for (unsigned i = 0; gt_exporters[i]; i++)
		if (!strcmp(gt_exporters[i]->name, format))
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
