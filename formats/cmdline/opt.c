/* Command lines from tables.
 *
 * One array of rows describes the options of a program. The parser, --help, the completion scripts
 * and the block in the manual page all use it, so an option that is parsed is also documented.
 *
 * --help, --version and --completion are rows too (`own` below). They are looked up after the
 * program's rows, so a program may use -h for itself.
 */
#include "formats/cmdline/opt.h"

#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/cmdline/did_you_mean.h"
#include "formats/cmdline/terminal.h"
#include "formats/cmdline/verbs.h"
#include "formats/text/word_wrap.h"

#define HELP_COLUMN 27
/* on terminals narrower than NARROW the text starts below its option */
#define NARROW_COLUMN 10
#define NARROW 60
#define HELP_WIDTH 80 /* without a terminal */
#define WIDEST 100    /* longer lines are hard to read */

static const char *const shells[] = { "bash", "zsh", "fish", NULL };
static const struct gt_opt own[] = {
	{ 'h', "help", GT_OPT_FLAG, NULL, NULL, "print this and exit", NULL },
	{ 0, "version", GT_OPT_FLAG, NULL, NULL, "print the version and exit", NULL },
	{ 0, "completion", GT_OPT_WORD, NULL, "SHELL", "print a completion script", shells },
};
#define OWN (sizeof(own) / sizeof(*own))

/* ---- numbers ---- */

static int digit(char c) { return c >= '0' && c <= '9' ? c - '0' : -1; }

/* Reads decimal digits into *v. Returns their end, or NULL if there are none or too many. */
static const char *digits(const char *s, uint64_t *v)
{
	if (digit(*s) < 0)
		return NULL;
	for (*v = 0; digit(*s) >= 0; s++)
		if (__builtin_mul_overflow(*v, 10, v) ||
			__builtin_add_overflow(*v, (uint64_t)digit(*s), v))
			return NULL;
	return s;
}

int gt_parse_size(const char *s, uint64_t *bytes)
{
	static const char units[] = "kKmMgGtT";
	uint64_t v;
	const char *u;

	s = digits(s, &v);
	if (!s)
		return -EINVAL;
	if (*s) {
		u = strchr(units, *s);
		if (!u || s[1] || __builtin_mul_overflow(v, 1ULL << 10 * ((u - units) / 2 + 1), &v))
			return -EINVAL;
	}
	*bytes = v;
	return 0;
}

/* Reads the fraction after a point, of a unit of `unit` ns. Truncates it to nanoseconds. */
static const char *fraction(const char *s, uint64_t unit, uint64_t *ns)
{
	if (digit(*s) < 0)
		return NULL;
	for (*ns = 0; digit(*s) >= 0; s++) {
		*ns += (uint64_t)digit(*s) * unit / 10;
		unit /= 10;
	}
	return s;
}

int gt_parse_ns(const char *s, int64_t *ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "", 1000000000 },
		{ "s", 1000000000 },
		{ "ms", 1000000 },
		{ "us", 1000 },
		{ "ns", 1 },
	};
	const char *unit = s + strspn(s, "0123456789.");
	uint64_t whole, part = 0;

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(unit, units[i].name))
			continue;
		s = digits(s, &whole);
		if (s && *s == '.')
			s = fraction(s + 1, units[i].ns, &part);
		if (s != unit || __builtin_mul_overflow(whole, units[i].ns, &whole) ||
			whole > INT64_MAX - part)
			return -EINVAL;
		*ns = (int64_t)(whole + part);
		return 0;
	}
	return -EINVAL;
}

/* ---- looking up and storing ---- */

static const struct gt_opt *row(const struct gt_command *cmd, size_t i)
{
	return i < cmd->noptions          ? &cmd->options[i]
		: i < cmd->noptions + OWN ? &own[i - cmd->noptions]
					  : NULL;
}

static const struct gt_opt *by_name(const struct gt_command *cmd, const char *name, size_t len)
{
	const struct gt_opt *o;

	for (size_t i = 0; (o = row(cmd, i)); i++)
		if (o->kind != GT_OPT_TEXT && o->name && !strncmp(o->name, name, len) &&
			!o->name[len])
			return o;
	return NULL;
}

static const struct gt_opt *by_letter(const struct gt_command *cmd, char letter)
{
	const struct gt_opt *o;

	for (size_t i = 0; (o = row(cmd, i)); i++)
		if (o->kind != GT_OPT_TEXT && o->letter && o->letter == letter)
			return o;
	return NULL;
}

static bool takes_value(const struct gt_opt *o)
{
	return o->kind != GT_OPT_FLAG && o->kind != GT_OPT_COUNT;
}

static bool needs_value(const struct gt_opt *o)
{
	return takes_value(o) && o->kind != GT_OPT_MAYBE_WORD;
}

static bool has_words(const struct gt_opt *o)
{
	return o->kind == GT_OPT_WORD || o->kind == GT_OPT_MAYBE_WORD;
}

static int add_item(struct gt_opt_list *list, const char *item)
{
	if (gt_grow(&list->items, &list->cap, list->n + 1, sizeof(*list->items)))
		return -ENOMEM;
	list->items[list->n++] = item;
	return 0;
}

void gt_opt_list_release(struct gt_opt_list *list)
{
	free(list->items);
	memset(list, 0, sizeof(*list));
}

static int word_index(const struct gt_opt *o, const char *value)
{
	for (int i = 0; o->words[i]; i++)
		if (!strcmp(o->words[i], value))
			return i;
	return -1;
}

/* "--format: invalid value 'yaml'; choose text, csv, tsv or json", or without the words if they are
 * long. */
static int refuse_word(
	const struct gt_opt *o, const char *shown, const char *value, struct gt_err *err)
{
	char words[80] = "";
	size_t n = 0;

	for (size_t i = 0; o->words[i] && n < sizeof(words); i++) {
		const char *before = !i ? "; choose " : o->words[i + 1] ? ", " : " or ";

		n += (size_t)snprintf(words + n, sizeof(words) - n, "%s%s", before, o->words[i]);
	}
	return gt_err_set(err, -EINVAL, "%s: invalid value '%.60s'%s", shown, value,
		n < sizeof(words) ? words : " (see --help)");
}

static const char *const expected[] = {
	[GT_OPT_U64] = "a whole number",
	[GT_OPT_SIZE] = "a size like 4096, 64K or 2G",
	[GT_OPT_NS] = "a time like 1.5s, 250ms or 10us",
};

static int store(const struct gt_opt *o, const char *shown, const char *value, struct gt_err *err)
{
	const char *end;
	uint64_t number = 0;
	int rc = 0;

	switch (o->kind) {
	case GT_OPT_FLAG: *(bool *)o->to = true; return 0;
	case GT_OPT_COUNT: ++*(int *)o->to; return 0;
	case GT_OPT_STR: *(const char **)o->to = value; return 0;
	case GT_OPT_LIST:
		rc = add_item(o->to, value);
		return rc ? gt_err_set(err, rc, "out of memory") : 0;
	case GT_OPT_WORD:
	case GT_OPT_MAYBE_WORD:
		rc = value ? word_index(o, value) : 0;
		if (rc < 0)
			return refuse_word(o, shown, value, err);
		*(int *)o->to = rc;
		return 0;
	case GT_OPT_U64:
		end = digits(value, &number);
		rc = end && !*end ? 0 : -EINVAL;
		break;
	case GT_OPT_SIZE: rc = gt_parse_size(value, &number); break;
	case GT_OPT_NS: rc = gt_parse_ns(value, o->to); break;
	case GT_OPT_TEXT: return 0;
	}
	if (rc)
		return gt_err_set(
			err, -EINVAL, "%s: '%.60s' is not %s", shown, value, expected[o->kind]);
	if (o->kind != GT_OPT_NS)
		*(uint64_t *)o->to = number;
	return 0;
}

/* ---- help and completion ---- */

struct sheet {
	FILE *to;
	size_t column, width, terminal;
};

static struct sheet sheet_of(FILE *to)
{
	size_t terminal = gt_terminal_width(fileno(to));
	size_t width = terminal == SIZE_MAX ? HELP_WIDTH : terminal < WIDEST ? terminal : WIDEST;

	return (struct sheet){ to, width < NARROW ? NARROW_COLUMN : HELP_COLUMN, width, terminal };
}

/* Prints lines, the first from column `at` on. Longer ones continue at column `indent` of the next
 * line. */
static void put_lines(
	const struct sheet *s, size_t at, size_t indent, size_t width, const char *text)
{
	while (*text) {
		size_t n = gt_line_length(text, width > at ? width - at : 0);

		fprintf(s->to, "%.*s", (int)n, text);
		text += n;
		if (!*text)
			break;
		at = *text == '\n' ? 0 : indent;
		fprintf(s->to, "\n%*s", (int)at, "");
		text += *text == ' ' || *text == '\n';
	}
}

/* Prints what an option or verb does, whose name ends at column `at`. */
static void put_help(const struct sheet *s, size_t at, const char *help)
{
	if (at + 1 >= s->column) {
		fputc('\n', s->to);
		at = 0;
	}
	fprintf(s->to, "%*s", (int)(s->column - at), "");
	put_lines(s, s->column, s->column, s->width, help);
	fputc('\n', s->to);
}

static void put_row(const struct sheet *s, const struct gt_command *cmd, const struct gt_opt *o)
{
	bool letter = o->letter && by_letter(cmd, o->letter) == o;
	struct gt_buf help = { 0 };
	size_t at = 6;

	if (o->kind == GT_OPT_TEXT) {
		fputc('\n', s->to);
		put_lines(s, 0, 2, s->terminal, o->help);
		fputs(":\n", s->to);
		return;
	}
	if (letter)
		fprintf(s->to, "  -%c%s", o->letter, o->name ? ", " : "  ");
	else
		fputs("      ", s->to);
	at += o->name ? (size_t)fprintf(s->to, "--%s", o->name) : 0;
	if (needs_value(o))
		at += (size_t)fprintf(s->to, " %s", o->arg ? o->arg : "VALUE");
	else if (takes_value(o))
		at += (size_t)fprintf(s->to, "[=%s]", o->arg);
	gt_buf_str(&help, o->help);
	for (size_t i = 0; has_words(o) && o->words[i]; i++)
		gt_buf_printf(
			&help, "%s%s%s", i ? ", " : " (", o->words[i], o->words[i + 1] ? "" : ")");
	gt_buf_byte(&help, 0);
	put_help(s, at, help.failed ? o->help : (char *)help.data);
	gt_buf_release(&help);
}

void gt_opt_help_rows(const struct gt_command *cmd, FILE *to)
{
	struct sheet s = sheet_of(to);

	for (size_t i = 0; i < cmd->noptions; i++)
		put_row(&s, cmd, &cmd->options[i]);
}

void gt_opt_help_usage(const struct gt_command *cmd, FILE *to)
{
	struct sheet s = sheet_of(to);

	fprintf(to, "Usage: %s ", cmd->name);
	put_lines(&s, strlen(cmd->name) + 8, 2, s.terminal, cmd->usage);
	fputc('\n', to);
	if (cmd->about) {
		put_lines(&s, 0, 2, s.terminal, cmd->about);
		fputc('\n', to);
	}
}

void gt_opt_help(const struct gt_command *cmd, FILE *to)
{
	struct sheet s = sheet_of(to);
	bool headings = false;
	const struct gt_opt *o;

	gt_opt_help_usage(cmd, to);
	for (const struct gt_verb *v = cmd->verbs; v && v->name; v++) {
		fputs(v == cmd->verbs ? "\nVerbs:\n" : "", to);
		put_help(&s, (size_t)fprintf(to, "  %s", v->name), v->help);
	}
	for (size_t i = 0; i < cmd->noptions; i++)
		headings |= cmd->options[i].kind == GT_OPT_TEXT;
	if (!cmd->noptions || cmd->options[0].kind != GT_OPT_TEXT)
		fputs("\nOptions:\n", to);
	for (size_t i = 0; (o = row(cmd, i)); i++) {
		if (o == own && headings)
			fputs("\nHelp:\n", to);
		put_row(&s, cmd, o);
	}
	if (!cmd->after)
		return;
	fputc('\n', to);
	put_lines(&s, 0, 2, s.terminal, cmd->after);
	if (!cmd->after[0] || cmd->after[strlen(cmd->after) - 1] != '\n')
		fputc('\n', to);
}

static void put_names(const struct gt_command *cmd, FILE *to)
{
	const struct gt_opt *o;

	for (size_t i = 0; (o = row(cmd, i)); i++) {
		if (o->kind == GT_OPT_TEXT)
			continue;
		if (o->letter && by_letter(cmd, o->letter) == o)
			fprintf(to, "-%c ", o->letter);
		if (o->name)
			fprintf(to, "--%s ", o->name);
	}
}

/* zsh reads the same script with bashcompinit. */
static void put_bash(const struct gt_command *cmd, FILE *to, bool zsh)
{
	const struct gt_opt *o;

	if (zsh)
		fprintf(to, "#compdef %s\nautoload -U +X bashcompinit && bashcompinit\n",
			cmd->name);
	fprintf(to, "_%s() {\n\tlocal words=\n\tcase \"$3\" in\n", cmd->name);
	for (size_t i = 0; (o = row(cmd, i)); i++) {
		if (o->kind != GT_OPT_WORD || !o->name)
			continue;
		fprintf(to, "\t--%s) words=\"", o->name);
		for (size_t w = 0; o->words[w]; w++)
			fprintf(to, "%s%s", w ? " " : "", o->words[w]);
		fputs("\" ;;\n", to);
	}
	fputs("\t*) case \"$2\" in -*) words=\"", to);
	put_names(cmd, to);
	fprintf(to,
		"\" ;; esac ;;\n\tesac\n\tCOMPREPLY=()\n"
		"\tif [ -n \"$words\" ]; then COMPREPLY=($(compgen -W \"$words\" -- \"$2\")); fi\n}\n"
		"complete -o bashdefault -o default -F _%s %s\n",
		cmd->name, cmd->name);
}

static void put_fish(const struct gt_command *cmd, FILE *to)
{
	const struct gt_opt *o;

	for (size_t i = 0; (o = row(cmd, i)); i++) {
		if (o->kind == GT_OPT_TEXT)
			continue;
		fprintf(to, "complete -c %s", cmd->name);
		if (o->letter && by_letter(cmd, o->letter) == o)
			fprintf(to, " -s %c", o->letter);
		if (o->name)
			fprintf(to, " -l %s", o->name);
		if (needs_value(o))
			fputs(" -r", to);
		for (size_t w = 0; o->kind == GT_OPT_WORD && o->words[w]; w++)
			fprintf(to, "%s%s%s", w ? " " : " -f -a '", o->words[w],
				o->words[w + 1] ? "" : "'");
		fputs(" -d \"", to);
		for (const char *s = o->help; *s; s++)
			fprintf(to, "%s%c", strchr("\"\\$", *s) ? "\\" : "", *s);
		fputs("\"\n", to);
	}
}

/* --help, --version or --completion: prints. Returns 1, which ends the parse, or an error. */
static int run_own(
	const struct gt_command *cmd, const struct gt_opt *o, const char *value, struct gt_err *err)
{
	int shell = -1;

	if (o == &own[0] && cmd->help) {
		*cmd->help = true;
		return 0;
	}
	if (o == &own[0])
		gt_opt_help(cmd, stdout);
	else if (o == &own[1])
		printf("%s %s\n", cmd->name, GT_VERSION);
	else if ((shell = word_index(o, value)) < 0)
		return refuse_word(o, "--completion", value, err);
	else if (shell == 2)
		put_fish(cmd, stdout), gt_verbs_put_fish(cmd, stdout);
	else if (cmd->verbs)
		gt_verbs_put_bash(cmd, stdout, shell == 1);
	else
		put_bash(cmd, stdout, shell == 1);
	if (fflush(stdout) || ferror(stdout))
		return gt_err_set(err, -EIO, "cannot write standard output: %s", strerror(errno));
	return 1;
}

/* ---- the walk over argv ---- */

static int apply(const struct gt_command *cmd, const struct gt_opt *o, const char *shown,
	const char *value, struct gt_err *err)
{
	if (needs_value(o) && !value)
		return gt_err_set(err, -EINVAL, "%s needs a value", shown);
	return o >= own && o < own + OWN ? run_own(cmd, o, value, err)
					 : store(o, shown, value, err);
}

/* shown: --NAME */
static int unknown_option(const struct gt_command *cmd, const char *shown, struct gt_err *err)
{
	struct gt_nearest nearest = GT_NEAREST(shown + 2);
	const struct gt_opt *o;

	for (size_t i = 0; (o = row(cmd, i)); i++)
		if (o->kind != GT_OPT_TEXT && o->name)
			gt_nearest_try(&nearest, o->name);
	if (nearest.best)
		return gt_err_set(err, -EINVAL, "unknown option '%s'; did you mean '--%s'?", shown,
			nearest.best);
	return gt_err_set(err, -EINVAL, "unknown option '%s' (see --help)", shown);
}

/* argv[*i] is --NAME, --NAME=VALUE, or --NAME followed by VALUE. */
static int long_option(const struct gt_command *cmd, char **argv, int *i, struct gt_err *err)
{
	char *name = argv[*i] + 2, *value = strchr(name, '=');
	size_t len = value ? (size_t)(value - name) : strlen(name);
	const struct gt_opt *o = by_name(cmd, name, len);
	char shown[80];

	snprintf(shown, sizeof(shown), "--%.*s", len > 60 ? 60 : (int)len, name);
	if (!o)
		return unknown_option(cmd, shown, err);
	if (value && !takes_value(o))
		return gt_err_set(err, -EINVAL, "%s takes no value", shown);
	if (value)
		value++;
	else if (needs_value(o) && argv[*i + 1])
		value = argv[++*i];
	return apply(cmd, o, shown, value, err);
}

/* argv[*i] is a bundle -abc. The value of the last letter is the rest (-oFILE) or the next argument
 * (-o FILE). */
static int letters(const struct gt_command *cmd, char **argv, int *i, struct gt_err *err)
{
	for (char *c = argv[*i] + 1; *c; c++) {
		const struct gt_opt *o = by_letter(cmd, *c);
		char shown[] = { '-', *c, 0 };
		int rc;

		if (!o)
			return gt_err_set(err, -EINVAL, "unknown option '%s' (see --help)", shown);
		if (needs_value(o))
			return apply(cmd, o, shown,
				c[1]                   ? c + 1
					: argv[*i + 1] ? argv[++*i]
						       : NULL,
				err);
		rc = apply(cmd, o, shown, NULL, err);
		if (rc)
			return rc;
	}
	return 0;
}

int gt_opt_parse(
	const struct gt_command *cmd, int argc, char **argv, int *operands, struct gt_err *err)
{
	int out = 1, i, rc;

	for (i = 1; i < argc; i++) {
		char *arg = argv[i];

		if (arg[0] != '-' || !arg[1]) {
			if (cmd->stop_at_first)
				break;
			argv[out++] = arg;
			continue;
		}
		if (!strcmp(arg, "--")) {
			i++;
			break;
		}
		rc = arg[1] == '-' ? long_option(cmd, argv, &i, err) : letters(cmd, argv, &i, err);
		if (rc)
			return rc;
	}
	while (i < argc)
		argv[out++] = argv[i++];
	argv[out] = NULL;
	*operands = out - 1;
	return 0;
}
