#include "analyze/cli/command_exit.h"

#include <stdio.h>
#include "formats/cmdline/progress_line.h"
#include "formats/text/printable.h"
#include "formats/text/utf8.h"

enum gt_exit gt_fail(const char *file, const struct gt_err *err, enum gt_exit status)
{
	gt_progress_line_hide();
	gt_err_print("gtanalyze", file, err);
	return status == GT_EXIT_FAILURE && err->code == -ENOMSG ? GT_EXIT_UNKNOWN : status;
}

/* The width in terminal columns of the first `bytes` bytes of s. */
static unsigned columns_up_to(const char *s, uint64_t bytes)
{
	struct gt_letter l;
	unsigned n = 0;

	for (const char *at = s; *at && (uint64_t)(at - s) < bytes; n += l.columns)
		at = gt_letter_next(at, &l);
	return n;
}

enum gt_exit gt_fail_at(const char *option, const char *text, const struct gt_err *at)
{
	struct gt_err err = *at;

	err.offset = GT_NO_OFFSET;
	gt_err_print("gtanalyze", option, &err);
	if (at->offset == GT_NO_OFFSET)
		return GT_EXIT_USAGE;
	fputs("  ", stderr);
	gt_printable_write(stderr, text);
	fprintf(stderr, "\n  %*s^\n", (int)columns_up_to(text, at->offset), "");
	return GT_EXIT_USAGE;
}

enum gt_exit gt_exit_of_tables(struct gt_table *const *tables, int n)
{
	static const enum gt_exit exits[] = { [GT_ANSWERED] = GT_EXIT_CLEAN,
		[GT_FOUND] = GT_EXIT_FOUND,
		[GT_UNANSWERED] = GT_EXIT_UNKNOWN,
		[GT_UNANSWERED_PART] = GT_EXIT_CLEAN };
	enum gt_exit status = GT_EXIT_CLEAN;

	for (int i = 0; i < n; i++)
		status = gt_exit_worse(status, exits[gt_table_answer(tables[i])]);
	return status;
}

enum gt_exit gt_exit_of_damage(struct gt_reader *r)
{
	size_t n = 0;

	gt_reader_damage(r, &n);
	return n ? GT_EXIT_FAILURE : GT_EXIT_CLEAN;
}
