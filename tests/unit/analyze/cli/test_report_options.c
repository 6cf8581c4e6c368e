/* The options that reports declare: their place in the table, their values, and the reports that
 * take them. */
#include "analyze/cli/report_options.h"
#include "tests/unit/t.h"

static struct gt_report_options o;
static bool verbose;
static const struct gt_opt common[] = {
	{ 'v', "verbose", GT_OPT_FLAG, &verbose, NULL, "more", NULL },
	GT_OPTIONS_OF_REPORTS(GT_HEADING_OPTIONS),
	{ 0, NULL, GT_OPT_TEXT, NULL, NULL, GT_HEADING_ROWS, NULL },
	GT_OPTIONS_OF_REPORTS(GT_HEADING_ROWS),
};
static struct gt_opt table[4 + 2 * GT_REPORT_OPTIONS_MOST];

/* Parses the words, for the header and the named reports (NULL: one only). */
static int parse(const char *a, const char *b, char **argv, int argc, struct gt_err *err)
{
	const struct gt_analysis *list[3] = { gt_analyses[0] };
	const struct gt_configured_report *wrong;
	struct gt_command command = { .name = "x", .options = table };
	unsigned n = 1;
	int operands, rc;

	o = (struct gt_report_options){ .n = 0 };
	command.noptions = gt_report_options_table(&o, common, 4, table);
	list[n++] = gt_analysis_find(a);
	if (b)
		list[n++] = gt_analysis_find(b);
	rc = gt_opt_parse(&command, argc, argv, &operands, err);
	if (!rc)
		rc = gt_report_options_read_times(&o, err);
	if (!rc)
		rc = gt_report_options_check(&o, list, n, err);
	return rc ? rc : gt_report_options_configure(&o, list, n, &wrong, err);
}

#define PARSE(a, b, ...)                                                                           \
	parse(a, b, (char *[]){ "x", __VA_ARGS__, NULL },                                          \
		(int)(sizeof((char *[]){ "x", __VA_ARGS__ }) / sizeof(char *)), &err)

static const void *value(const char *name)
{
	return gt_report_option(&(struct gt_analysis_options){ .report_options = o.given }, name);
}

static void rows_of_reports_stand_below_their_headings(void)
{
	static const char *const names[] = { "verbose", "spark", "by-id", GT_HEADING_ROWS, "min",
		"gap", "Option of the report critical", "without", "Options of query and histogram",
		"where", "by", "agg", "order-by", "of" };
	size_t n;

	o = (struct gt_report_options){ .n = 0 };
	n = gt_report_options_table(&o, common, 4, table);
	CHECK_EQ(n, sizeof(names) / sizeof(*names));
	for (size_t i = 0; i < n && i < sizeof(names) / sizeof(*names); i++)
		CHECK_STR(table[i].kind == GT_OPT_TEXT ? table[i].help : table[i].name, names[i]);
}

static void reports_get_the_values_that_were_given(void)
{
	struct gt_err err = GT_ERR_INIT;

	CHECK_EQ(PARSE("gaps", NULL, "--min", "5us"), 0);
	CHECK(value("min") && *(const int64_t *)value("min") == 5000);
	CHECK(!value("gap") && !value("spark") && !value("without") && !value("where"));
	gt_report_options_release(&o);
	CHECK_EQ(PARSE("critical", NULL, "--without", "a*", "--without", "b", "--spark"), 0);
	CHECK(value("without") && ((const struct gt_opt_list *)value("without"))->n == 2);
	CHECK(value("spark") && *(const bool *)value("spark"));
	gt_report_options_release(&o);
	CHECK_EQ(PARSE("histogram", NULL, "--of", "gap", "--by", "cause"), 0);
	CHECK(value("histogram"));
	CHECK_STR(value("by"), "cause");
	gt_report_options_release(&o);
}

static void a_report_must_take_the_option(void)
{
	struct gt_err err = GT_ERR_INIT;

	CHECK_EQ(PARSE("top", NULL, "--of", "dur"), -EINVAL);
	CHECK_STR(err.text, "--of is for the report histogram: gtanalyze histogram --of ... FILE");
	gt_report_options_release(&o);
	err = (struct gt_err)GT_ERR_INIT;
	CHECK_EQ(PARSE("gaps", NULL, "--by", "line"), -EINVAL);
	CHECK_STR(err.text,
		"--by is for the reports query, top, memory, histogram, host and kernels: gtanalyze query --by ... FILE");
	gt_report_options_release(&o);
	err = (struct gt_err)GT_ERR_INIT;
	CHECK_EQ(PARSE("histogram", "top", "--by", "name"), -EINVAL);
	CHECK_STR(err.text, "with --by no other report can be given beside histogram");
	gt_report_options_release(&o);
	err = (struct gt_err)GT_ERR_INIT;
	CHECK_EQ(PARSE("top", "summary", "--gap", "5us"), 0);
	gt_report_options_release(&o);
	CHECK_EQ(PARSE("top", NULL, "--gap", "soon"), -EINVAL);
	CHECK_STR(err.text, "invalid time 'soon' (examples: 1.5s, 250ms, 10us, 80ns)");
}

T_MAIN(T(rows_of_reports_stand_below_their_headings), T(reports_get_the_values_that_were_given),
	T(a_report_must_take_the_option))
