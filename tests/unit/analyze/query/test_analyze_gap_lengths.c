/* Histograms of gaps over random programs, compared with gaps found with a cell for each
 * nanosecond of each GPU; and the accepted options. */
#define _GNU_SOURCE
#include "analyze/query/histogram_gaps.h"
#include "tests/unit/random_program.h"
#include "tests/unit/reports.h"

static struct rp p;

/* Runs the report as gtanalyze does. Closes the reader. new, or NULL. */
static char *ask(struct gt_reader *r, const char *by, const struct gt_analysis_options *options,
	enum gt_table_format format, enum gt_answer *answer)
{
	const struct gt_analysis *one[] = { &gt_histogram_gaps_report };
	struct gt_table *tables[GT_RUN_TABLES] = { NULL };
	struct gt_analysis_options o = *options;
	struct gt_err err = GT_ERR_INIT;
	struct gt_gap_by asked;
	struct gt_out out;
	char *text = NULL;
	int n = gt_gap_by_read(&asked, by, &err);

	o.origin = gt_reader_segments(r) ? gt_reader_segment(r, 0)->min_start : 0;
	o.report_options = (const struct gt_report_option[]){ { "histogram", &asked },
		{ "min", gt_report_option(options, "min") }, { NULL, NULL } };
	n = n ? n : gt_run(r, one, 1, &o, 1, tables, &err);
	gt_out_memory(&out);
	if (n == 1 && !gt_tables_print(tables, 1, format, NULL, &out, &err))
		text = strndup(out.data, out.len);
	if (answer && n == 1)
		*answer = gt_table_answer(tables[0]);
	gt_out_close(&out, &err);
	gt_table_free(tables[0]);
	gt_reader_close(r);
	return text;
}

static json_t *ask_json(struct gt_reader *r, const char *by, const struct gt_analysis_options *o)
{
	char *text = ask(r, by, o, GT_JSON, NULL);
	json_t *j = text ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;

	free(text);
	return j;
}

/* ---- the slow way ---- */

struct naive {
	int64_t list[RP_END], from, to;
	int device[RP_END], n;
};

static bool busy(int device, int64_t x)
{
	for (int i = 0; i < p.nops; i++)
		if (p.ops[i].device == device && p.ops[i].start <= x && p.ops[i].end > x)
			return true;
	return false;
}

/* Work of length 0 ends a gap, and begins another one if other work is issued there. */
static bool begins(int device, int64_t x)
{
	for (int i = 0; i < p.nops; i++)
		if (p.ops[i].device == device && p.ops[i].start == x)
			return true;
	return false;
}

static bool works(int device, const struct gt_filter *f)
{
	for (int i = 0; i < p.nops; i++)
		if (p.ops[i].device == device &&
			(!f->ranged ||
				(p.ops[i].start < f->to &&
					(p.ops[i].end > f->from || p.ops[i].start >= f->from))))
			return true;
	return false;
}

static void find_gaps(struct naive *n, const struct gt_filter *f)
{
	n->from = INT64_MAX, n->to = INT64_MIN, n->n = 0;
	for (int i = 0; i < p.nops; i++) {
		n->from = p.ops[i].start < n->from ? p.ops[i].start : n->from;
		n->to = p.ops[i].end > n->to ? p.ops[i].end : n->to;
	}
	n->from = f->ranged ? f->from : n->from;
	n->to = f->ranged ? f->to : n->to;
	for (int device = 0; device < 2; device++) {
		int64_t since = -1;

		for (int64_t x = n->from; x <= n->to && works(device, f); x++) {
			bool idle = x < n->to && !busy(device, x);

			if (since >= 0 && (!idle || begins(device, x))) {
				n->device[n->n] = device;
				n->list[n->n++] = x - since;
				since = -1;
			}
			since = idle && since < 0 ? x : since;
		}
	}
}

/* The number and time of the gaps in every bin are correct, and every gap is in a bin. */
static bool ranges_agree(const json_t *j, const struct naive *n, bool by_device)
{
	double all = 0, time = 0;

	for (size_t i = 0; i < rows(j, "histogram"); i++) {
		const json_t *r = row(j, "histogram", i);
		double count = 0, total = 0;

		for (int k = 0; k < n->n; k++)
			if ((!by_device || num(r, "device") == n->device[k]) &&
				(double)n->list[k] >= num(r, "from_ns") &&
				(double)n->list[k] < num(r, "to_ns"))
				count++, total += (double)n->list[k];
		if (!count || num(r, "count") != count || num(r, "total_ns") != total) {
			printf("# seed %u: %g from %g ns, %g ns, not %g of %g ns\n", p.seed,
				num(r, "count"), num(r, "from_ns"), num(r, "total_ns"), count,
				total);
			return false;
		}
		all += count;
		time += total;
	}
	for (int k = 0; k < n->n; k++)
		time -= (double)n->list[k];
	return all == n->n && time == 0;
}

static void gaps_are_counted_by_length(void)
{
	static const int64_t min = 40;
	static const struct gt_report_option short_gaps[] = { { "min", &min }, { NULL, NULL } };
	static struct naive n;

	for (unsigned seed = 1; seed <= 120; seed++) {
		struct gt_analysis_options o = plain;
		struct gt_reader *r = rp_make(&p, seed);
		json_t *j;

		if (seed % 3 == 0)
			o.filter = (struct gt_filter){
				.ranged = true, .from = 500 + seed * 5, .to = 3000 + seed * 13
			};
		/* shorter gaps have no cause, but are gaps */
		o.report_options = seed % 4 ? NULL : short_gaps;
		j = ask_json(r, seed % 2 ? NULL : "recording", &o);
		find_gaps(&n, &o.filter);
		CHECK(j && ranges_agree(j, &n, seed % 2));
		CHECK(!n.n || noted(j, "histogram", "gaps, "));
		json_decref(j);
	}
}

/* The sum over all causes equals the sum of all gaps, and equals the idle time in `budget`. */
static void causes_add_up(void)
{
	for (unsigned seed = 1; seed <= 40; seed++) {
		json_t *by_cause = ask_json(rp_make(&p, seed), "cause", &plain),
		       *all = ask_json(rp_make(&p, seed), "recording", &plain);
		json_t *budget =
			report(rp_make(&p, seed), (const char *[]){ "budget", NULL }, &plain);
		double counts[2] = { 0 }, times[2] = { 0 }, idle = 0;

		for (int k = 0; k < 2; k++)
			for (size_t i = 0; i < rows(k ? all : by_cause, "histogram"); i++) {
				counts[k] += num(row(k ? all : by_cause, "histogram", i), "count");
				times[k] +=
					num(row(k ? all : by_cause, "histogram", i), "total_ns");
			}
		for (size_t i = 0; i < rows(budget, "budget_gpus"); i++)
			idle += num(row(budget, "budget_gpus", i), "idle_ns");
		CHECK(counts[0] == counts[1] && times[0] == times[1] && times[0] == idle);
		json_decref(by_cause);
		json_decref(all);
		json_decref(budget);
	}
}

/* Nine gaps of 1000 ns and one of 70 us on device 0; the other GPU is not there. */
static void gaps_are_drawn(void)
{
	struct gt_analysis_options o = plain;
	struct gpus g;
	char *said;

	setenv("LC_ALL", "C", 1);
	gpus_begin(&g, "{}");
	for (int i = 0; i < 10; i++)
		gpus_plain(&g, 0, g.stream[0][i % 2], 1000 + i * 1100, 1100 + i * 1100);
	gpus_plain(&g, 0, g.stream[0][0], 81000, 81010);
	o.width = 70;
	said = ask(gpus_end(&g), NULL, &o, GT_TEXT, NULL);
	CHECK(said &&
		!strcmp(said,
			"Gaps in which GPUs were idle, by length\n  PID 100, Device 0\n"
			"    10 gaps, p50 1.000 us, p90 1.000 us, p99 70.00 us, max 70.00 us\n"
			"        768 ns   9   90.00 %   9.000 us  ################# p50 p90\n            ..\n"
			"      65.54 us   1   10.00 %   70.00 us  ## p99\n  (10 gaps, 79.00 us of 80.01 us)\n"));
	free(said);
}

static void what_may_be_asked(void)
{
	static const struct {
		const char *by;
		uint64_t at;
		const char *says;
	} bads[] = {
		{ "name", 0, "grouped by recording, pid, device, cause" },
		{ "device,devcie", 7, "did you mean 'device'?" },
		{ "device, device", 8, "occurs twice" },
		{ "", 0, "grouped by" },
		{ "pid,", 4, "grouped by" },
		{ "pid,recording,device,cause,pid", 27, "occurs twice" },
	};
	struct gt_gap_by by;

	for (unsigned i = 0; i < sizeof(bads) / sizeof(*bads); i++) {
		struct gt_err err = GT_ERR_INIT;

		CHECK(gt_gap_by_read(&by, bads[i].by, &err) == -EINVAL &&
			err.offset == bads[i].at && strstr(err.text, bads[i].says));
	}
	CHECK(!gt_gap_by_read(&by, "cause, device ,pid,recording", NULL) && by.n == 4 &&
		by.list[1] == GT_GAP_DEVICE);
}

static void unknown_is_reported(void)
{
	enum gt_answer answer = GT_ANSWERED;
	struct trace t;
	char *said;

	known(&t, true);
	said = ask(end(&t), NULL, &plain, GT_JSON, &answer);
	CHECK(said && strstr(said, "cannot answer") && answer == GT_UNANSWERED);
	free(said);
}

T_MAIN(T(gaps_are_counted_by_length), T(causes_add_up), T(gaps_are_drawn), T(what_may_be_asked),
	T(unknown_is_reported))
