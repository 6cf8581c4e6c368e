/* The command line tables: every spelling of an option, every kind of value, and what must be
 * refused. */
#include "formats/cmdline/opt.h"
#include "tests/unit/t.h"

static bool flag, other;
static int verbose, word, maybe;
static const char *str;
static uint64_t number, size;
static int64_t ns;
static struct gt_opt_list list;
static const char *const words[] = { "text", "csv", NULL };
static const struct gt_opt rows[] = {
	{ 0, NULL, GT_OPT_TEXT, NULL, NULL, "What to do", NULL },
	{ 'q', "quiet", GT_OPT_FLAG, &flag, NULL, "say nothing", NULL },
	{ 'x', NULL, GT_OPT_FLAG, &other, NULL, "letter only", NULL },
	{ 'v', "verbose", GT_OPT_COUNT, &verbose, NULL, "say more", NULL },
	{ 'o', "output", GT_OPT_STR, &str, "FILE", "where to write", NULL },
	{ 'm', "match", GT_OPT_LIST, &list, "GLOB", "only these", NULL },
	{ 0, "top", GT_OPT_U64, &number, "N", "how many", NULL },
	{ 0, "ring-size", GT_OPT_SIZE, &size, "BYTES", "a size", NULL },
	{ 0, "from", GT_OPT_NS, &ns, "TIME", "a time", NULL },
	{ 0, "format", GT_OPT_WORD, &word, "F", "how", words },
	{ 0, "stacks", GT_OPT_MAYBE_WORD, &maybe, "S", "which", words },
};
static struct gt_command cmd = { .name = "tool",
	.usage = "[options] FILE...",
	.about = "A tool.",
	.options = rows,
	.noptions = sizeof(rows) / sizeof(*rows),
	.after = "The end." };
static struct gt_err err;
static char *argv[16];
static int nops;

/* Parses the words of `line`, which are separated by single spaces; an empty word is two of them.
 */
static int parse(const char *line)
{
	static char copy[200];
	int argc = 1;
	char *rest = copy;

	snprintf(copy, sizeof(copy), "%s", line);
	flag = other = false, verbose = 0, word = maybe = -1, str = NULL, number = size = 0,
	ns = -1, nops = -1;
	gt_opt_list_release(&list);
	err = (struct gt_err)GT_ERR_INIT;
	argv[0] = "tool";
	while (rest && *copy)
		argv[argc++] = strsep(&rest, " ");
	argv[argc] = NULL;
	return gt_opt_parse(&cmd, argc, argv, &nops, &err);
}

static void spellings(void)
{
	CHECK(parse("-q a -v --verbose -vv b") == 0 && flag && verbose == 4);
	CHECK(nops == 2 && !strcmp(argv[1], "a") && !strcmp(argv[2], "b") && !argv[3]);
	CHECK(parse("-qxvofile --top=12 --format csv") == 0 && flag && other && verbose == 1 &&
		!strcmp(str, "file"));
	CHECK(number == 12 && word == 1 && nops == 0);
	CHECK(parse("-o file --output=") == 0 && str && !*str);
	CHECK(parse("-m a --match b --match=c -md") == 0 && list.n == 4 &&
		!strcmp(list.items[0], "a") && !strcmp(list.items[3], "d"));
	CHECK(parse("- --output=a=b -- -q --top") == 0 && !flag && !strcmp(str, "a=b") &&
		nops == 3 && !strcmp(argv[2], "-q"));
	CHECK(parse("") == 0 && nops == 0);
	/* an optional word is no operand */
	CHECK(parse("--stacks csv") == 0 && maybe == 0 && nops == 1);
	CHECK(parse("--stacks=csv a") == 0 && maybe == 1 && nops == 1);
	gt_opt_list_release(&list);
}

static void stops_at_the_command(void)
{
	cmd.stop_at_first = true;
	CHECK(parse("-q python3 -v x.py") == 0 && flag && !verbose && nops == 3 &&
		!strcmp(argv[2], "-v"));
	CHECK(parse("-q -- -v x") == 0 && !verbose && nops == 2 && !strcmp(argv[1], "-v"));
	CHECK(parse("cmd -- x") == 0 && nops == 3 && !strcmp(argv[2], "--"));
	cmd.stop_at_first = false;
}

static void refused(void)
{
	static const struct {
		const char *line, *says;
	} bad[] = {
		{ "--nope", "unknown option '--nope' (see --help)" },
		{ "-z", "unknown option '-z' (see --help)" },
		{ "--verb", "unknown option '--verb'; did you mean '--verbose'?" },
		{ "--formt=csv", "unknown option '--formt'; did you mean '--format'?" },
		{ "--quiet=1", "--quiet takes no value" },
		{ "--top", "--top needs a value" },
		{ "-o", "-o needs a value" },
		{ "--top=1x", "--top: '1x' is not a whole number" },
		{ "--top=-1", "--top: '-1' is not a whole number" },
		{ "--top=", "--top: '' is not a whole number" },
		{ "--top=18446744073709551616",
			"--top: '18446744073709551616' is not a whole number" },
		{ "--format=xml", "--format: invalid value 'xml'; choose text or csv" },
		{ "--stacks=xml", "--stacks: invalid value 'xml'; choose text or csv" },
		{ "--ring-size=4Q", "--ring-size: '4Q' is not a size like 4096, 64K or 2G" },
		{ "--from=soon", "--from: 'soon' is not a time like 1.5s, 250ms or 10us" },
		{ "--completion tcsh",
			"--completion: invalid value 'tcsh'; choose bash, zsh or fish" },
		{ "--=x", "unknown option '--' (see --help)" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		CHECK_EQ(parse(bad[i].line), -EINVAL);
		CHECK(!strcmp(err.text, bad[i].says));
	}
}

static void sizes(void)
{
	uint64_t v = 7;

	CHECK(!gt_parse_size("4096", &v) && v == 4096);
	CHECK(!gt_parse_size("64K", &v) && v == 65536 && !gt_parse_size("64m", &v) &&
		v == 64 << 20);
	CHECK(!gt_parse_size("2G", &v) && v == 2ULL << 30 && !gt_parse_size("0", &v) && v == 0);
	CHECK(!gt_parse_size("16777215T", &v) && v == 16777215ULL << 40);
	CHECK(gt_parse_size("16777216T", &v) && gt_parse_size("", &v) && gt_parse_size("K", &v) &&
		gt_parse_size("1KB", &v));
	CHECK(gt_parse_size(" 1", &v) && gt_parse_size("-1", &v) && gt_parse_size("1.5K", &v));
}

static void times(void)
{
	int64_t v = 7;

	CHECK(!gt_parse_ns("1.5s", &v) && v == 1500000000 && !gt_parse_ns("250ms", &v) &&
		v == 250000000);
	CHECK(!gt_parse_ns("10us", &v) && v == 10000 && !gt_parse_ns("80ns", &v) && v == 80 &&
		!gt_parse_ns("3", &v) && v == 3000000000);
	CHECK(!gt_parse_ns("0.000000001", &v) && v == 1 && !gt_parse_ns("1.0000000019", &v) &&
		v == 1000000001);
	CHECK(!gt_parse_ns("12.345678901s", &v) && v == 12345678901LL &&
		!gt_parse_ns("2.5us", &v) && v == 2500);
	CHECK(!gt_parse_ns("9223372036.854775807", &v) && v == INT64_MAX &&
		gt_parse_ns("9223372036.854775808", &v));
	CHECK(gt_parse_ns("", &v) && gt_parse_ns("s", &v) && gt_parse_ns("1.", &v) &&
		gt_parse_ns(".5", &v));
	CHECK(gt_parse_ns("1.2.3", &v) && gt_parse_ns("-1", &v) && gt_parse_ns("1h", &v) &&
		gt_parse_ns("1 s", &v));
}

static void help_has_every_row(void)
{
	char text[4000] = "";
	FILE *to = fmemopen(text, sizeof(text) - 1, "w");

	CHECK(to);
	gt_opt_help(&cmd, to);
	fclose(to);
	CHECK(strstr(text,
		      "Usage: tool [options] FILE...\nA tool.\n\nWhat to do:\n  -q, --quiet ") ==
		text);
	CHECK(strstr(text, "\n  -x                       letter only\n"));
	CHECK(strstr(text, "\n  -o, --output FILE        where to write\n"));
	CHECK(strstr(text, "\n      --format F           how (text, csv)\n"));
	CHECK(strstr(text, "\nHelp:\n  -h, --help               print this and exit\n"));
	CHECK(strstr(text,
		"\n      --completion SHELL   print a completion script (bash, zsh, fish)\n\nThe end.\n"));
}

static void long_help_wraps(void)
{
	static const struct gt_opt one = { 0, "an-option-of-some-length", GT_OPT_STR, &str, "THING",
		"a sentence that is so long that it cannot stand on one line of a terminal with eighty columns",
		NULL };
	struct gt_command c = { .name = "t", .usage = "", .options = &one, .noptions = 1 };
	char text[4000] = "";
	FILE *to = fmemopen(text, sizeof(text) - 1, "w");

	CHECK(to);
	gt_opt_help(&c, to);
	fclose(to);
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1)
		CHECK(end - line <= 80);
	CHECK(strstr(text, "THING\n                           a sentence that"));
}

T_MAIN(T(spellings), T(stops_at_the_command), T(refused), T(sizes), T(times), T(help_has_every_row),
	T(long_help_wraps))
