/* Histograms of the rows that queries select: counted a second time, and drawn. */
#define _GNU_SOURCE
#include "analyze/query/query.h"
#include "tests/unit/analyze/query/naive_queries.h"

/* The count of each range is the number of values in it, ranges do not overlap, and each value
 * of nq_rows is in one range. */
static bool ranges_agree(
	const json_t *j, const char *by, const char *of, const char *from, const char *to)
{
	double counted = 0, there = 0;

	for (size_t i = 0; i < rows(j, "histogram"); i++) {
		const json_t *have = row(j, "histogram", i);
		double n = 0;

		for (int k = 0; k < nq_n; k++) {
			struct nq_value v = nq_field(&nq_rows[k], of);

			n += strcmp(nq_rows[k].kind, "open") && v.there &&
				nq_same_group(
					have, &nq_rows[k], (const char *const[]){ by, NULL }) &&
				v.n >= num(have, from) && v.n < num(have, to);
		}
		counted += n;
		if (!n || n != num(have, "count"))
			return false;
	}
	for (int k = 0; k < nq_n; k++)
		there += strcmp(nq_rows[k].kind, "open") && nq_field(&nq_rows[k], of).there;
	return counted == there;
}

static void histograms_count(void)
{
	static const char *const of[][3] = { { "dur", "from_ns", "to_ns" },
		{ "bytes", "from_bytes", "to_bytes" }, { "queue", "from_ns", "to_ns" },
		{ "depth", "from", "to" } };

	for (unsigned seed = 1; seed <= 80; seed++) {
		const char *by = seed % 3 ? "name" : "kind", *const *f = of[seed % 4];
		char *said = ask_hist(rp_make(&nq_program, seed), NULL, by, f[0], &plain, GT_JSON);
		json_t *j = json_loads(said, JSON_REJECT_DUPLICATES, NULL);
		bool agree;

		nq_collect();
		agree = ranges_agree(j, by, f[0], f[1], f[2]);
		json_decref(j);
		free(said);
		CHECK(agree);
	}
}

/* Nine calls of 1000 ns, one of 70 us: two steps to a power of two, and the empty ones between are
 * one line. */
static void histograms_are_drawn(void)
{
	struct gt_analysis_options o = plain;
	struct trace t;
	char *said;

	setenv("LC_ALL", "C", 1);
	begin(&t, true);
	for (int i = 0; i < 9; i++)
		call(&t, 0, LAUNCH, 1000 + i * 10000, 2000 + i * 10000, 0, 0, str(&t, "_Z3addPf"),
			0);
	call(&t, 0, LAUNCH, 100000, 170000, 0, 0, str(&t, "_Z3addPf"), 0);
	o.width = 60;
	said = ask_hist(end(&t), "dur>500ns", NULL, NULL, &o, GT_TEXT);
	CHECK(said &&
		!strcmp(said,
			"Histogram of dur where dur>500ns, by name\n  cuLaunchKernel\n"
			"    10 rows, p50 1.000 us, p90 1.000 us, p99 70.00 us, max 70.00 us\n"
			"        768 ns   9   90.00 %  ################## p50 p90\n            ..\n"
			"      65.54 us   1   10.00 %  ## p99\n"));
	free(said);
	setenv("LC_ALL", "C.UTF-8", 1);
	begin(&t, true);
	call(&t, 0, LAUNCH, 1000, 2000, 0, 0, str(&t, "_Z3addPf"), 0);
	said = ask_hist(end(&t), NULL, "kind,tid", "dur", &o, GT_TEXT);
	CHECK(said && strstr(said, "  call, TID 100\n    1 row, p50") &&
		strstr(said, "██ p50 p90 p99\n"));
	free(said);
}

static void histograms_are_of_quantities(void)
{
	struct gt_err err = GT_ERR_INIT;
	const char *option, *wrong;

	CHECK(!gt_query_new_hist(NULL, NULL, "name", &option, &wrong, &err) &&
		!strcmp(option, "--of") && err.offset == 0);
	err = (struct gt_err)GT_ERR_INIT;
	CHECK(!gt_query_new_hist(NULL, NULL, "quue", &option, &wrong, &err) &&
		strstr(err.text, "did you mean 'queue'?"));
}

T_MAIN(T(histograms_count), T(histograms_are_drawn), T(histograms_are_of_quantities))
