/* Parses the operands of gtanalyze: reports first, then files.
 *
 * An operand is a report if it is the name of one and no file came before it; the first other
 * operand is a file. A misspelt report would be taken for a file, and the user would read that
 * it cannot be opened. So before any file is read, each missing file is checked: is its name
 * close to that of a report, or is it a report behind the files? */
#include "analyze/cli/report_selection.h"

#include <string.h>
#include <unistd.h>
#include "formats/cmdline/did_you_mean.h"

static void choose(struct gt_report_selection *c, const struct gt_analysis *a)
{
	for (unsigned i = 0; i < c->n; i++)
		if (c->list[i] == a)
			return;
	if (c->n < GT_RUN_REPORTS)
		c->list[c->n++] = a;
}

int gt_select_reports(struct gt_report_selection *c, char **operands, int n)
{
	int first = 0;

	choose(c, gt_analyses[0]);
	while (first < n && gt_analysis_find(operands[first])) {
		c->header |= gt_analysis_find(operands[first]) == gt_analyses[0];
		choose(c, gt_analysis_find(operands[first++]));
	}
	c->in_default_report = !first;
	c->header |= c->in_default_report;
	for (unsigned i = 0; !first && gt_analyses[i]; i++)
		if (gt_analyses[i]->in_default)
			choose(c, gt_analyses[i]);
	return first;
}

/* The report that is probably meant, or NULL. */
static const char *nearest_report(const char *word)
{
	struct gt_nearest n = GT_NEAREST(word);

	for (unsigned i = 0; gt_analyses[i]; i++)
		gt_nearest_try(&n, gt_analyses[i]->name);
	gt_nearest_try(&n, "diff");
	return n.best;
}

int gt_select_diff(struct gt_report_selection *c, char **operands, int n, struct gt_err *err)
{
	int first = 1;

	for (; first < n && gt_analysis_find(operands[first]); first++)
		if (!gt_diff_request_report(&c->diff, operands[first]))
			return gt_err_set(err, -EINVAL,
				"the report '%s' cannot be compared: its rows are single events or texts",
				operands[first]);
	if (first == 1)
		gt_diff_request_report(&c->diff, NULL);
	if (n - first != 2)
		return gt_err_set(err, -EINVAL,
			"diff compares two files, not %d: gtanalyze diff [REPORT...] A B",
			n - first);
	if (!strcmp(operands[first], "-") && !strcmp(operands[first + 1], "-"))
		return gt_err_set(err, -EINVAL, "only one of the files can be the standard input");
	return first;
}

int gt_check_files(char **files, int n, struct gt_err *err)
{
	bool before = true; /* no existing file yet */

	for (int i = 0; i < n; i++) {
		const char *word = files[i], *meant = nearest_report(word);
		bool missing = strcmp(word, "-") && access(word, F_OK),
		     plain = !word[strcspn(word, "./")];

		if (missing && !strcmp(word, "diff"))
			return gt_err_set(
				err, -EINVAL, "diff comes first: gtanalyze diff [REPORT...] A B");
		if (i && gt_analysis_find(word))
			return gt_err_set(err, -EINVAL,
				"reports come before the files: gtanalyze %s FILE (./%s if the file is meant)",
				word, word);
		if (missing && meant)
			return gt_err_set(err, -EINVAL,
				"'%s' is neither a report nor a file; did you mean '%s'? --list lists the reports",
				word, meant);
		if (missing && plain && before && i + 1 < n)
			return gt_err_set(err, -EINVAL,
				"'%s' is neither a report nor a file; --list lists the reports",
				word);
		before &= missing;
	}
	return 0;
}
