#include "analyze/cli/explain.h"

#include <stdio.h>
#include <string.h>
#include "analyze/core/run.h"
#include "formats/table/table.h"

static const char *const words[][2] = {
	{ "window",
		"The time that GPU reports analyze: from the start of the first to the end of the "
		"last GPU operation of a recording, the same for all its GPUs. --from replaces "
		"its beginning and --to its end, each independently; --whole makes it the whole "
		"recording. critical follows each process from its last operation in the window "
		"back to its first one. steps uses the operations in the window." },
	{ "time range",
		"Reports about threads, calls and memory analyze the time from the first to the "
		"last row of a recording, cut to --from and --to." },
	{ "step",
		"One iteration of the program's main loop: from a mark of the program (a range such "
		"as 'step 3') to the next one, or else one repetition of the sequence of GPU "
		"operations." },
	{ "steady steps",
		"The steps after the warm-up. The default report and diff show them only, because "
		"start-up (imports, compilation, first steps) would hide the loop. --whole-run shows "
		"the whole run, --steady narrows other reports. 'a step' in a finding is the mean "
		"over these steps." },
	{ "GPU",
		"A GPU of the machine: a GPU that several processes of a recording share is one "
		"GPU. If UUIDs were not recorded, each process counts its own GPUs." },
	{ "rank",
		"One of several files. Sums are in one table for all ranks; rows about one rank "
		"name it. Times of different clocks are never compared: times of each clock count "
		"from its own earliest start." },
	{ "operation",
		"What a GPU executes: a kernel, a copy, a set (memset), or a graph as a whole. "
		"Waits are not operations." },
	{ "busy",
		"The union of operations: overlapping operations count once. Sums of durations "
		"are called total and may exceed the window. Busy % of a GPU or stream is "
		"relative to the window, that of a kernel to the time in which GPUs were busy." },
	{ "breakdown",
		"Where time is divided among kinds, overlapping work counts once, in the order "
		"computing, communicating (kernels of NCCL), copying (copies and sets)." },
	{ "exposed",
		"Time in which nothing else ran: for communication no computation, for a name no "
		"operation of another name." },
	{ "gap",
		"A time span in which a GPU runs no operation. It is divided along the timeline "
		"of the thread that issues the next operation. Each part has its own cause, up to "
		"the return of the launching call; after that the operation is launched but not "
		"started." },
	{ "occupancy",
		"Theoretical: the warps of a kernel that fit on an SM at a time, as a share of its warp "
		"slots, from registers, shared memory, block size and the limits of the GPU." },
	{ "collective",
		"A communication of several GPUs. Each of them has one kernel of it, which waits for the "
		"others: the GPU whose kernel begins last is late." },
	{ "queue time",
		"From the return of the call that launched an operation to the start of the "
		"operation, if it began later." },
	{ "sums",
		"Whole ns, exact; a sum beyond 2^63 - 1 stays at that value. Shares add up to "
		"100.00 % (largest remainder)." },
	{ "quantiles",
		"p50, p90, p99: from histograms whose buckets are at most 1/64 wide, so within 1 "
		"%; exact if the bucket has one value only. All other figures are exact." },
	{ "not recorded", "Absent (- or null), never 0." },
	{ "cannot answer",
		"The report needs data that was not recorded, or that the options leave out. The "
		"report says why, and gtanalyze exits with 4. none is an answer: the data was "
		"recorded, and nothing was found." },
	{ "found, clean",
		"Results of advice and gates. found: a rule found something, or a limit is "
		"passed. clean: nothing was found, and all checks had the data that they need. A "
		"check without data is neither." },
	{ "exit status",
		"0 clean, 1 failure or damaged file, 2 wrong use, 3 found or gate failed, 4 "
		"cannot answer." },
};

#define LINE 78u    /* width of lines, unless the output is a terminal */
#define WIDEST 100u /* longer lines are hard to read */

size_t gt_explain_width(struct gt_out *out)
{
	size_t width = gt_tables_width(out);

	return width == SIZE_MAX ? LINE : width < WIDEST ? width : WIDEST;
}

void gt_explain_put_words(struct gt_out *out, size_t width, const char *first, const char *text)
{
	size_t indent = strlen(first);

	gt_out_str(out, first);
	gt_put_words(out, GT_TONE_NONE, text, indent, indent, width);
	gt_out_str(out, "\n");
}

static void put(struct gt_out *out, size_t width, const char *word, const char *text)
{
	gt_put_toned(out, GT_TONE_HEADING, word, strlen(word));
	gt_out_str(out, "\n");
	gt_explain_put_words(out, width, "  ", text);
}

void gt_explain(const struct gt_analysis *const *chosen, unsigned n, struct gt_out *out)
{
	size_t width = gt_explain_width(out);

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		put(out, width, words[i][0], words[i][1]);
	for (unsigned i = 0; i < n; i++) {
		char report[60];

		snprintf(report, sizeof(report), "report %s", chosen[i]->name);
		gt_out_str(out, i ? "" : "\n");
		put(out, width, report, chosen[i]->help);
	}
	gt_out_str(out, "\nMore in gtanalyze(1).\n");
}

/* ---- --list ---- */

/* The reports of a family. NULL: those without one, or all. */
static struct gt_table *list_family(const char *family, bool all)
{
	static const struct gt_column columns[] = {
		{ "report", "Report", GT_C_WHOLE },
		{ "default", "Default", GT_C_TEXT },
		{ "answers", "Answers", GT_C_WHOLE },
	};
	static const char *const when[] = { [GT_DEFAULT_NEVER] = "no",
		[GT_DEFAULT_ALWAYS] = "yes",
		[GT_DEFAULT_GPU] = "with GPU",
		[GT_DEFAULT_CALLS] = "without GPU",
		[GT_DEFAULT_SAMPLES] = "samples",
		[GT_DEFAULT_COLLECTIVES] = "collectives" };
	struct gt_table *t = gt_table_new("reports", family, columns, 3);

	for (unsigned i = 0; t && gt_analyses[i]; i++)
		if (all || gt_analyses[i]->family == family)
			gt_table_add(t,
				(struct gt_cell[]){ { .s = gt_analyses[i]->name },
					{ .s = when[gt_analyses[i]->in_default] },
					{ .s = gt_analyses[i]->help } });
	if (t)
		gt_table_set_hideable(t, "default");
	return t;
}

/* Programs get one table. Text shows the reports with names of other tools last, under a
 * heading. */
int gt_list_reports(enum gt_table_format format, struct gt_out *out, struct gt_err *err)
{
	bool apart = format == GT_TEXT;
	struct gt_table *tables[GT_RUN_REPORTS] = { list_family(NULL, !apart) };
	unsigned n = 1;
	int rc;

	for (unsigned i = 0; apart && gt_analyses[i]; i++)
		if (gt_analyses[i]->family &&
			(!i || gt_analyses[i]->family != gt_analyses[i - 1]->family))
			tables[n++] = list_family(gt_analyses[i]->family, false);
	rc = gt_tables_print(tables, n, format, NULL, out, err);
	while (n)
		gt_table_free(tables[--n]);
	return rc;
}
