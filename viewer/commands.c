#include "viewer/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/exporters.h"
#include "viewer/view.h"

static const struct command { const char *name; enum gt_order_of order; const char *args; } commands[] = {
	{ "goto", GT_ORDER_GOTO, "TIME" },
	{ "find", GT_ORDER_FIND, "EXPRESSION" },
	{ "filter", GT_ORDER_FILTER, "TEXT" },
	{ "fit", GT_ORDER_FIT, "" },
	{ "mark", GT_ORDER_MARK, "[TIME [TIME]]" },
	{ "bookmark", GT_ORDER_BOOKMARK, "NAME" },
	{ "jump", GT_ORDER_JUMP, "NAME" },
	{ "forget", GT_ORDER_FORGET, "NAME" },
	{ "view", GT_ORDER_VIEW, "NAME" },
	{ "open", GT_ORDER_OPEN, "" },
	{ "export", GT_ORDER_EXPORT, "FORMAT FILE [FROM TO]" },
};
#define NCOMMANDS (sizeof(commands) / sizeof(*commands))

/* The one that this is the beginning of; NULL: none, or several. */
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

enum gt_order_of gt_command_parse(const char *text, const char **rest, bool *force, struct gt_err *err)
{
	const char *at = text + strspn(text, " :");
	size_t n = strcspn(at, " !");
	const struct command *c = find(at, n);

	*force = at[n] == '!';
	*rest = at + n + *force;
	*rest += strspn(*rest, " ");
	if (!n && !*force)
		return GT_ORDER_NONE;
	if (!c)
		gt_err_set(err, -EINVAL, "'%.*s' is no command: Tab shows them", n < 40 ? (int)n : 40, at);
	else if (*force && c->order != GT_ORDER_EXPORT)
		gt_err_set(err, -EINVAL, "%s has no '!'", c->name);
	else if (!**rest && *c->args && *c->args != '[' && c->order != GT_ORDER_FILTER && c->order != GT_ORDER_FIND)
		gt_err_set(err, -EINVAL, "%s what? %s %s", c->name, c->name, c->args);
	else
		return c->order;
	return GT_ORDER_NONE;
}

/* ---- completion ---- */

static size_t add(char to[][GT_COMMAND_WORD], size_t n, size_t most, const char *command, const char *word)
{
	if (n < most)
		snprintf(to[n++], GT_COMMAND_WORD, "%.30s%s%.64s", command, *command ? " " : "", word);
	return n;
}

size_t gt_command_words(const char *typed, const struct gt_bookmarks *b, char to[][GT_COMMAND_WORD], size_t most)
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
	for (unsigned i = 0; c->order == GT_ORDER_EXPORT && gt_exporters[i]; i++)
		if (!strncmp(gt_exporters[i]->name, rest, part))
			n = add(to, n, most, head, gt_exporters[i]->name);
	for (unsigned i = 0; c->order == GT_ORDER_VIEW && gt_views[i]; i++)
		if (!strncmp(gt_views[i]->name, rest, part))
			n = add(to, n, most, head, gt_views[i]->name);
	for (size_t i = 0; (c->order == GT_ORDER_JUMP || c->order == GT_ORDER_FORGET) && i < b->n; i++)
		if (!strncmp(b->list[i].name, rest, part))
			n = add(to, n, most, head, b->list[i].name);
	return n;
}

/* ---- export ---- */

struct wanted { const struct gt_exporter *exporter; char file[200]; int64_t from, to; };

/* The next word. Returns what is behind it. */
static const char *word(const char *at, char *to, size_t room)
{
	size_t n = strcspn(at, " ");

	snprintf(to, room, "%.*s", (int)(n < room ? n : room - 1), at);
	at += n;
	return at + strspn(at, " ");
}

static int parse(const struct gt_scene *s, const char *rest, struct wanted *w, struct gt_err *err)
{
	char format[40], from[40], to[40];

	rest = word(rest, format, sizeof(format));
	rest = word(rest, w->file, sizeof(w->file));
	for (unsigned i = 0; gt_exporters[i]; i++)
		if (!strcmp(gt_exporters[i]->name, format))
			w->exporter = gt_exporters[i];
	if (!w->exporter)
		return gt_err_set(err, -EINVAL, "'%.30s' is no format: Tab shows them", format);
	if (!w->file[0])
		return gt_err_set(err, -EINVAL, "into which file? export %s FILE", format);
	if (!strcmp(w->file, "-"))
		return gt_err_set(err, -EINVAL, "the screen is no place for that: name a file");
	if (!*rest)
		return 0;
	rest = word(rest, from, sizeof(from));
	rest = word(rest, to, sizeof(to));
	if (*rest || gt_time_parse(&s->times, from, &w->from) || gt_time_parse(&s->times, to, &w->to) || w->from >= w->to)
		return gt_err_set(err, -EINVAL, "'%.30s %.30s' is no range: 1.5s 1.6s", from, to);
	return 0;
}

/* Each recording by its own clock. NULL: no memory. */
static struct gt_range *ranges_of(const struct gt_scene *s, const struct wanted *w)
{
	uint32_t n = gt_reader_segments(s->reader);
	struct gt_range *r = calloc(n + 1ul, sizeof(*r));

	for (uint32_t i = 0; r && i < n; i++) {
		int64_t offset = gt_archive_offset(s->archive, i);

		r[i] = (struct gt_range){ w->from + offset, w->to + offset };
	}
	return r;
}

static int export(struct gt_scene *s, const struct wanted *w, bool force, struct gt_err *err)
{
	struct gt_export_options opt = { .filter = { .ranged = true, .from = w->from, .to = w->to } };
	struct gt_range *ranges = ranges_of(s, w);
	struct gt_err out_err = GT_ERR_INIT;
	struct gt_out out;
	char cut[120];
	int rc = ranges ? 0 : gt_err_set(err, -ENOMEM, "out of memory");

	snprintf(cut, sizeof(cut), "{\"cut\":{\"from_ns\":%" PRId64 ",\"to_ns\":%" PRId64 "}}", w->from - s->extent.from, w->to - s->extent.from);
	opt.filter.ranges = ranges;
	opt.cut = cut;
	if (!rc)
		rc = gt_out_open(&out, w->file, force, err);
	if (!rc) {
		rc = w->exporter->export(s->reader, &opt, &out, err);
		if (gt_out_close(&out, &out_err) && !rc)
			rc = gt_err_set(err, out_err.code, "%s", out_err.text);
	}
	free(ranges);
	return rc;
}

void gt_command_export(struct gt_scene *s, const char *rest, bool force, int64_t from, int64_t to, char *said, size_t room)
{
	struct wanted w = { .from = from, .to = to };
	struct gt_err err = GT_ERR_INIT;
	int rc = parse(s, rest, &w, &err);

	if (!rc)
		rc = gt_out_would_destroy(w.file, s->name, &err);
	if (!rc && (rc = export(s, &w, force, &err)) == -EEXIST)
		snprintf(said, room, "%.80s exists: export! replaces it", w.file);
	else if (!rc)
		snprintf(said, room, "written: %.100s", w.file);
	else
		snprintf(said, room, "%.190s", err.text);
}
