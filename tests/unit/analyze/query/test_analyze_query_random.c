/* Random queries on random programs, compared with a second evaluation that looks at one row at
 * a time. */
#define _GNU_SOURCE
#include <math.h>
#include "analyze/query/query.h"
#include "tests/unit/analyze/query/naive_queries.h"

static bool within(const struct nq_row *r, const struct gt_filter *f)
{
	return !f->ranged || (r->start < f->to && (r->end > f->from || r->start >= f->from));
}

/* Figures of the rows of a group, computed the slow way. False: they differ from the report. */
static bool same_figures(const json_t *have, const struct nq_question *q, const struct gt_filter *f)
{
	static uint8_t busy[RP_END + 1];
	double n = 0, sum = 0, least = 1e18, most = -1, squares = 0, bytes = 0, sized = 0,
	       first = 1e18, last = 0, united = 0, deviation;

	memset(busy, 0, sizeof(busy));
	for (int i = 0; i < nq_n; i++) {
		const struct nq_row *r = &nq_rows[i];
		double dur = (double)(r->end - r->start);

		if (!within(r, f) || !nq_counts(q, have, r))
			continue;
		n++;
		sum += dur;
		squares += dur * dur;
		least = dur < least ? dur : least;
		most = dur > most ? dur : most;
		sized += nq_field(r, "bytes").there;
		bytes += nq_field(r, "bytes").there ? nq_field(r, "bytes").n : 0;
		first = fmin(first, (double)(r->start - nq_origin()));
		last = fmax(last, (double)(r->end - nq_origin()));
		for (int64_t t = r->start; t < r->end; t++)
			busy[t] |= !f->ranged || (t >= f->from && t < f->to);
	}
	for (int t = 0; t < RP_END; t++)
		united += busy[t];
	deviation = n < 2 ? 0 : sqrt((squares - sum * sum / n) / (n - 1));
	return num(have, "count") == n && n && num(have, "sum_dur_ns") == sum &&
		num(have, "min_dur_ns") == least && num(have, "max_dur_ns") == most &&
		num(have, "mean_dur_ns") == floor(sum / n) && num(have, "first_ns") == first &&
		num(have, "last_ns") == last &&
		(sized ? num(have, "sum_bytes") == bytes : absent(have, "sum_bytes")) &&
		(n < 2 ? absent(have, "stddev_dur_ns")
		       : fabs(num(have, "stddev_dur_ns") - deviation) <= 0.5001) &&
		(!json_object_get(have, "union_dur_ns") || num(have, "union_dur_ns") == united) &&
		num(have, "p50_dur_ns") >= least && num(have, "p50_dur_ns") <= most;
}

/* The median is within 1 % of a duration that half of the rows do not exceed, and half are not
 * below. */
static bool median_is_near(
	const json_t *have, const struct nq_question *q, const struct gt_filter *f)
{
	double p50 = num(have, "p50_dur_ns"), below = 0, above = 0, n = 0;

	for (int i = 0; i < nq_n; i++) {
		double dur = (double)(nq_rows[i].end - nq_rows[i].start);

		if (!within(&nq_rows[i], f) || !nq_counts(q, have, &nq_rows[i]))
			continue;
		n++;
		below += dur < p50 * 0.99;
		above += dur > p50 * 1.01;
	}
	return below <= n / 2 && above <= n / 2;
}

static int matching(const struct nq_expr *e, const struct gt_filter *f)
{
	int n = 0;

	for (int i = 0; i < nq_n; i++)
		n += within(&nq_rows[i], f) && nq_holds(e, &nq_rows[i]);
	return n;
}

#define FIGURES                                                                                    \
	"count,sum(dur),min(dur),max(dur),mean(dur),stddev(dur),p50(dur),sum(bytes),first,last"

static bool answers_agree(
	unsigned seed, const char *const *by, bool united, const struct gt_filter *filter)
{
	struct gt_analysis_options o = plain;
	struct nq_question q;
	struct gt_reader *r = nq_begin(&q, seed, by);
	double counted = 0;
	bool good;
	json_t *j;

	o.filter = *filter;
	j = nq_ask(r, &q, united ? FIGURES ",union(dur)" : FIGURES, &o);
	good = j != NULL;
	for (size_t i = 0; good && i < rows(j, "query"); i++) {
		good = same_figures(row(j, "query", i), &q, filter) &&
			median_is_near(row(j, "query", i), &q, filter);
		counted += num(row(j, "query", i), "count");
	}
	good = good && counted == matching(q.expr, filter);
	if (!good)
		printf("# seed %u: %s by %s: %g rows, not %d\n", seed, (char *)q.where.data,
			(char *)q.fields.data, counted, matching(q.expr, filter));
	json_decref(j);
	nq_end(&q);
	return good;
}

static void random_questions(void)
{
	for (unsigned seed = 1; seed <= 400; seed++)
		CHECK(answers_agree(seed, nq_by(seed / 2), seed % 2, &(struct gt_filter){ 0 }));
}

static void random_questions_of_a_time(void)
{
	for (unsigned seed = 1; seed <= 200; seed++)
		CHECK(answers_agree(seed, nq_by(seed / 2), seed % 2,
			&(struct gt_filter){
				.ranged = true, .from = 1000 + seed * 7, .to = 3000 + seed * 11 }));
}

/* Blocks are distributed to threads at random; the results are the same. */
static void threads_agree(void)
{
	for (unsigned seed = 1; seed <= 40; seed++) {
		const char *where = seed % 2 ? "kind!=copy && dur>5ns || queue" : NULL;
		const char *by = seed % 3 ? "name,tid,launch,bytes" : "kind,arg.addr";
		char *one = ask_text(rp_make(&nq_program, seed), where, by,
			FIGURES ",sum(arg.stream)", &plain, 1);
		char *three = ask_text(rp_make(&nq_program, seed), where, by,
			FIGURES ",sum(arg.stream)", &plain, 3);
		bool same = one && three && !strcmp(one, three);

		free(one);
		free(three);
		CHECK(same);
	}
}

T_MAIN(T(random_questions), T(random_questions_of_a_time), T(threads_agree))
