#include "analyze/cli/report_options.h"

#include <string.h>
#include "analyze/cli/time_range_option.h"
#include "formats/base/buf.h"
#include "formats/base/numbers.h"

/* ---- the table ---- */

/* Has a value that no argument sets, for "not given"; of all other kinds that is 0. */
static bool is_number(enum gt_opt_kind kind)
{
	return kind == GT_OPT_U64 || kind == GT_OPT_SIZE || kind == GT_OPT_WORD;
}

static struct gt_option_value not_given(const struct gt_option_row *row)
{
	struct gt_option_value v = { .row = row };

	memset(&v.parsed, is_number(row->opt.kind) ? 0xff : 0, sizeof(v.parsed));
	return v;
}

static bool is_given(const struct gt_option_value *v)
{
	struct gt_option_value without = not_given(v->row);

	return memcmp(&v->parsed, &without.parsed, sizeof(v->parsed));
}

/* Keeps values[] in the order of headings; below one heading the new row is the last one. */
static void declare(struct gt_report_options *o, const struct gt_option_row *row)
{
	unsigned at = 0;

	for (unsigned i = 0; i < o->n; i++)
		if (o->values[i].row == row)
			return;
	if (o->n == GT_REPORT_OPTIONS_MOST)
		return;
	while (at < o->n && strcmp(o->values[at].row->heading, row->heading) <= 0)
		at++;
	memmove(&o->values[at + 1], &o->values[at], (o->n - at) * sizeof(*o->values));
	o->values[at] = not_given(row);
	o->n++;
}

static void declare_all(struct gt_report_options *o, const struct gt_analysis *a)
{
	if (a->engine)
		declare_all(o, a->engine);
	for (unsigned i = 0; a->options && a->options[i]; i++)
		declare(o, a->options[i]);
}

static struct gt_opt command_line_row(struct gt_option_value *v)
{
	struct gt_opt opt = v->row->opt;

	opt.to = &v->parsed;
	opt.kind = opt.kind == GT_OPT_NS ? GT_OPT_STR : opt.kind;
	return opt;
}

/* The last report comes first: then rows of `query` stand before those that `histogram` adds. */
size_t gt_report_options_table(
	struct gt_report_options *o, const struct gt_opt *common, size_t n, struct gt_opt *to)
{
	struct gt_opt *from = to;
	unsigned reports = 0;

	while (gt_analyses[reports])
		reports++;
	while (reports)
		declare_all(o, gt_analyses[--reports]);
	for (size_t i = 0; i < n; i++) {
		if (common[i].kind != GT_OPT_TEXT || common[i].help) {
			*to++ = common[i];
			continue;
		}
		for (unsigned k = 0; k < o->n; k++)
			if (!strcmp(o->values[k].row->heading, common[i].arg))
				*to++ = command_line_row(&o->values[k]);
	}
	for (unsigned k = 0; k < o->n; k++) {
		const struct gt_option_row *row = o->values[k].row;

		if (!row->report)
			continue;
		if (!k || strcmp(o->values[k - 1].row->heading, row->heading))
			*to++ = (struct gt_opt){ .kind = GT_OPT_TEXT, .help = row->heading };
		*to++ = command_line_row(&o->values[k]);
	}
	return (size_t)(to - from);
}

/* ---- values ---- */

int gt_report_options_read_times(struct gt_report_options *o, struct gt_err *err)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < o->n; i++)
		if (o->values[i].row->opt.kind == GT_OPT_NS)
			rc = gt_read_time(o->values[i].parsed.text, &o->values[i].ns, err);
	return rc;
}

bool gt_report_takes(const struct gt_analysis *a, const struct gt_option_row *row)
{
	for (unsigned i = 0; a->options && a->options[i]; i++)
		if (a->options[i] == row)
			return true;
	return a->engine && gt_report_takes(a->engine, row);
}

/* The name of the selected report that takes the option; row->report if there are several. NULL:
 * none. */
static const char *taker(
	const struct gt_option_row *row, const struct gt_analysis *const *list, unsigned n)
{
	const char *name = NULL;

	for (unsigned i = 0; i < n; i++)
		if (gt_report_takes(list[i], row) && (!name || !strcmp(list[i]->name, row->report)))
			name = list[i]->name;
	return name;
}

/* Appends the names of all reports that take it, and whether there are several. */
static bool put_takers(struct gt_buf *to, const struct gt_option_row *row)
{
	const char *last = NULL;
	bool several = false;

	gt_buf_printf(to, "%s", row->report);
	for (unsigned i = 0; gt_analyses[i]; i++) {
		if (!strcmp(gt_analyses[i]->name, row->report) ||
			!gt_report_takes(gt_analyses[i], row))
			continue;
		if (last)
			gt_buf_printf(to, ", %s", last);
		last = gt_analyses[i]->name;
		several = true;
	}
	if (last)
		gt_buf_printf(to, " and %s", last);
	gt_buf_byte(to, 0);
	return several;
}

static int refuse(const struct gt_option_row *row, struct gt_err *err)
{
	struct gt_buf names = { 0 };
	bool several = put_takers(&names, row);
	int rc = gt_err_set(err, -EINVAL, "--%s is for the report%s %s: gtanalyze %s --%s ... FILE",
		row->opt.name, gt_plural(several ? 2 : 1, "s"),
		names.failed ? row->report : (const char *)names.data, row->report, row->opt.name);

	gt_buf_release(&names);
	return rc;
}

int gt_report_options_check(const struct gt_report_options *o,
	const struct gt_analysis *const *list, unsigned n, struct gt_err *err)
{
	for (unsigned i = 0; i < o->n; i++) {
		const struct gt_option_row *row = o->values[i].row;
		const char *report;

		if (!row->report || !is_given(&o->values[i]))
			continue;
		report = taker(row, list, n);
		if (!report)
			return refuse(row, err);
		if (n > 2) /* the header and this report */
			return gt_err_set(err, -EINVAL,
				"with --%s no other report can be given beside %s", row->opt.name,
				report);
	}
	return 0;
}

static void give(struct gt_report_options *o, const char *name, const void *value)
{
	o->given[o->ngiven++] = (struct gt_report_option){ name, value };
}

int gt_report_options_configure(struct gt_report_options *o, const struct gt_analysis **list,
	unsigned n, const struct gt_configured_report **wrong, struct gt_err *err)
{
	struct gt_analysis_options opt = { .report_options = o->given };
	int rc = 0;

	for (unsigned i = 0; i < o->n; i++) {
		const struct gt_option_value *v = &o->values[i];
		enum gt_opt_kind kind = v->row->opt.kind;

		if (is_given(v))
			give(o, v->row->opt.name,
				kind == GT_OPT_STR          ? (const void *)v->parsed.text
					: kind == GT_OPT_NS ? (const void *)&v->ns
							    : &v->parsed);
	}
	for (unsigned i = 0; !rc && i < n; i++) {
		struct gt_configured_report *c;

		if (!list[i]->configure)
			continue;
		*wrong = c = &o->configured[o->nconfigured++];
		c->report = *list[i];
		rc = c->report.configure(c, &opt, err);
		list[i] = &c->report;
		if (c->settings)
			give(o, c->report.name, c->settings);
	}
	return rc;
}

void gt_report_options_release(struct gt_report_options *o)
{
	for (unsigned i = 0; i < o->n; i++)
		if (o->values[i].row->opt.kind == GT_OPT_LIST)
			gt_opt_list_release(&o->values[i].parsed.list);
	for (unsigned i = 0; i < o->nconfigured; i++)
		if (o->configured[i].report.free_settings)
			o->configured[i].report.free_settings(o->configured[i].settings);
}
