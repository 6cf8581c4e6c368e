#include "analyze/cli/explain.h"

#include <stdio.h>
#include <string.h>
#include "formats/table/table.h"

static const char *const words[][2] = {
	{ "window", "What reports about GPUs look at: from the start of the first to the end of the last GPU operation of a recording that is "
		    "looked at, the same for all its GPUs. --from says where it begins instead and --to where it ends, each for itself; "
		    "--whole makes it all of the recording. critical follows each process from its own last operation in the window back to "
		    "its own first one; steps are of operations in the window." },
	{ "looked at", "Of reports about threads, calls and memory: from the first to the last row of a recording, cut to --from and --to." },
	{ "GPU", "One of the machine: what several processes of a recording share is one. Where UUIDs were not recorded, one as a process "
		 "sees it." },
	{ "rank", "One of several files. What adds up is one table for all of them, what is of one rank says so. Times of different clocks are "
		  "never put on one line: each clock's count from its own earliest start." },
	{ "operation", "What a GPU does: a kernel, a copy, a set, or a graph as a whole. Waits are none." },
	{ "busy", "The union of operations: what overlaps counts once. Sums of durations are called total and may be longer than the window. "
		  "A GPU's and a stream's Busy % is of the window, a kernel's of the time in which GPUs were busy." },
	{ "shared out", "Where time is divided among kinds, work that overlaps counts once, in the order computing, communicating (kernels of NCCL), "
			"copying (copies and sets)." },
	{ "exposed", "Time in which nothing else ran: of communication nothing that computes, of a name nothing of another name." },
	{ "gap", "A stretch in which a GPU runs nothing. It is cut along the timeline of the thread that issues its next operation, each slice "
		 "with its own cause, up to the return of the launching call; from then on the operation was launched and not started." },
	{ "queue time", "From the return of the call that launched an operation to its start, where it began later." },
	{ "sums", "Whole ns, exact; beyond 2^63 - 1 they stay there. Shares add up to 100.00 % (largest remainder)." },
	{ "quantiles", "p50, p90, p99: from histograms whose buckets are at most 1/64 wide, so within 1 %, and exact where a bucket met one value "
		       "only. All else is exact." },
	{ "not recorded", "Absent (- or null), never 0." },
	{ "cannot answer", "What a report needs was not recorded, or the options leave it out; it says why, and exits with 4. none is an answer: it was "
			   "looked for and there was none." },
	{ "found, clean", "Of advice and gates: a rule found something, or a limit is passed; or nothing is, and all that was asked could tell. What "
			  "cannot tell is neither." },
	{ "exit status", "0 clean, 1 failure or damaged file, 2 wrong use, 3 found or gate failed, 4 cannot answer." },
};

#define LINE 78u		/* unless a terminal says otherwise */
#define WIDEST 100u		/* longer lines are no pleasure to read */
#define INDENT 2u

static void put(struct gt_out *out, size_t width, const char *word, const char *text)
{
	gt_put_toned(out, GT_TONE_HEADING, word, strlen(word));
	gt_out_str(out, "\n");
	while (*text) {
		size_t n = strlen(text), room = width > 3 * INDENT ? width - INDENT : 2 * INDENT;

		for (n = n < room ? n : room; n && text[n] && text[n] != ' '; )
			n--;
		n = n ? n : strcspn(text, " ");
		gt_out_printf(out, "  %.*s\n", (int)n, text);
		text += n + strspn(text + n, " ");
	}
}

void gt_explain(const struct gt_analysis *const *chosen, unsigned n, struct gt_out *out)
{
	size_t width = gt_tables_width(out);

	width = width == SIZE_MAX ? LINE : width < WIDEST ? width : WIDEST;
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
