/* Numbers of distinct values, compared with a second count that compares each value with all
 * values before it. */
#define _GNU_SOURCE
#include "analyze/query/query_distinct.h"
#include "tests/unit/analyze/query/naive_queries.h"

/* The number of distinct values; each row is compared with all rows before it. */
static double different(const struct nq_question *q, const json_t *have, const char *of)
{
	double n = 0;
	bool any = false;

	for (int i = 0; i < nq_n; i++) {
		struct nq_value v = nq_field(&nq_rows[i], of);
		bool seen = !v.there || !nq_counts(q, have, &nq_rows[i]);

		any |= !seen;
		for (int k = 0; !seen && k < i; k++) {
			struct nq_value w = nq_field(&nq_rows[k], of);

			seen = w.there && nq_counts(q, have, &nq_rows[k]) &&
				(v.text ? !strcmp(v.text, w.text) : v.n == w.n);
		}
		n += !seen;
	}
	return any ? n : -1;
}

static void different_values_are_counted(void)
{
	static const char *const of[][2] = {
		{ "name", "distinct_name" },
		{ "dur", "distinct_dur" },
		{ "start", "distinct_start" },
		{ "tid", "distinct_tid" },
		{ "bytes", "distinct_sizes" },
		{ "launch", "distinct_launch" },
		{ "queue", "distinct_queue" },
		{ "kind", "distinct_kind" },
		{ "failed", "distinct_failed" },
		{ "direction", "distinct_direction" },
		{ "stream", "distinct_stream" },
		{ "src", "distinct_src" },
	};
	const unsigned nof = sizeof(of) / sizeof(*of);

	for (unsigned seed = 1; seed <= 120; seed++) {
		const char *const *a = of[seed % nof],
				  *const *b = of[(seed / 5 + 1 + seed % nof) % nof];
		struct nq_question q;
		struct gt_reader *r = nq_begin(&q, seed, nq_by(seed / 3));
		char agg[200];
		json_t *j;

		snprintf(agg, sizeof(agg),
			a == b ? "count,distinct(%s)"
			       : "count,distinct(%s),sum(dur),distinct(%s),max(dur)",
			a[0], b[0]);
		j = nq_ask(r, &q, agg, &plain);
		CHECK(j);
		for (size_t i = 0; i < rows(j, "query"); i++) {
			const json_t *have = row(j, "query", i);
			double na = different(&q, have, a[0]), nb = different(&q, have, b[0]);

			CHECK(na < 0 ? absent(have, a[1]) : num(have, a[1]) == na);
			CHECK(a == b || (nb < 0 ? absent(have, b[1]) : num(have, b[1]) == nb));
		}
		json_decref(j);
		nq_end(&q);
	}
}

/* Two recordings in one file: a text or number that is in both is one value; the number of
 * threads makes no difference. */
static void values_are_the_same_everywhere(void)
{
	struct trace t;
	json_t *j;

	known(&t, true);
	j = ask(end(&t), NULL, NULL,
		"distinct(name),distinct(tid),distinct(arg.one),distinct(arg.two),distinct(bytes),distinct(mangled)",
		&plain);
	CHECK(num(row(j, "query", 0), "distinct_name") == 8 &&
		num(row(j, "query", 0), "distinct_mangled") == 8);
	CHECK(num(row(j, "query", 0), "distinct_tid") == 2 &&
		num(row(j, "query", 0), "distinct_sizes") == 4);
	json_decref(j);
	for (unsigned seed = 1; seed <= 10; seed++) {
		char *one = ask_text(rp_make(&nq_program, seed), NULL, "kind",
			"distinct(dur),distinct(name)", &plain, 1);
		char *three = ask_text(rp_make(&nq_program, seed), NULL, "kind",
			"distinct(dur),distinct(name)", &plain, 3);

		CHECK(one && three && !strcmp(one, three));
		free(one);
		free(three);
	}
}

/* Equal numbers are one value, however they are stored; a text that looks like the number is
 * another value. */
static void numbers_are_compared_by_value(void)
{
	struct gt_distinct d = { 0 };
	struct gt_distinct_value list[] = {
		gt_distinct_whole(5),
		gt_distinct_real(5),
		gt_distinct_real(5.5),
		gt_distinct_real(-5.5),
		gt_distinct_whole(-5),
		gt_distinct_real(-5),
		{ .value = 5, .kind = GT_DISTINCT_TEXT },
		gt_distinct_real(0),
		gt_distinct_real(-0.0),
		gt_distinct_whole(0),
		gt_distinct_real(0x1p63),
		{ .value = 1ull << 63, .kind = GT_DISTINCT_NUMBER },
		gt_distinct_whole(INT64_MIN),
		gt_distinct_real(-0x1p63),
		gt_distinct_real(1e300),
	};
	int new = 0;

	for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++)
		new += gt_distinct_add(&d, &list[i]);
	CHECK(new == 9 && d.used == 9);
	list[0].field = 1;
	CHECK_EQ(gt_distinct_add(&d, &list[0]), 1);
	list[0].group = 1;
	CHECK(gt_distinct_add(&d, &list[0]) == 1 && !gt_distinct_add(&d, &list[0]));
	gt_distinct_release(&d);
}

/* The largest number of values that fits is counted; with one more, the count is unknown. */
static void too_many_values_cannot_be_counted(void)
{
	for (unsigned more = 0; more < 2; more++) {
		struct trace t;
		json_t *j;

		begin(&t, true);
		for (unsigned i = 0; i < GT_DISTINCT_MOST + more; i++)
			call(&t, 0, COPY, 1000 + i * 10, 1001 + i * 10, 0, 0, 1, 0);
		call(&t, 0, COPY, 1000, 1001, 0, 0, 1, 0);
		j = ask(end(&t), NULL, "kind", "count,distinct(start)", &plain);
		CHECK(num(row(j, "query", 0), "count") == GT_DISTINCT_MOST + more + 1);
		CHECK(more ? absent(row(j, "query", 0), "distinct_start")
			   : num(row(j, "query", 0), "distinct_start") == GT_DISTINCT_MOST);
		CHECK(noted(j, "query",
			      "cannot answer: there are more than 786432 different values") ==
			(more == 1));
		json_decref(j);
	}
}

T_MAIN(T(different_values_are_counted), T(values_are_the_same_everywhere),
	T(numbers_are_compared_by_value), T(too_many_values_cannot_be_counted))
