/* The report `patterns`: over a small program whose figures are known, and over random ones,
 * compared with figures counted a second time, sequence by sequence. */
#define _GNU_SOURCE
#include "analyze/core/run.h"
#include "analyze/steps/sequences.h"
#include "tests/unit/launch_programs.h"

struct found {
	int names[8], n;
	uint64_t times, call;
	int first;
};

static uint64_t call_ns(const struct op *o)
{
	return o->call < 0 ? 0 : (uint64_t)(prog.calls[o->call].end - prog.calls[o->call].start);
}

static bool matches(const struct op *ops, int n, int at, const struct found *f)
{
	if (at + f->n > n)
		return false;
	for (int i = 0; i < f->n; i++)
		if (ops[at + i].graph || ops[at + i].name != f->names[i])
			return false;
	return true;
}

static bool counts(const struct found *f)
{
	bool alike = true;

	for (int i = 1; i < f->n; i++)
		alike &= f->names[i] == f->names[0];
	for (int period = 3; period < f->n; period++) {
		bool repeated = f->n % period == 0;

		for (int i = period; i < f->n; i++)
			repeated &= f->names[i] == f->names[i - period];
		if (repeated)
			return false;
	}
	return !alike && f->times > 1;
}

static int by_covered(const void *pa, const void *pb)
{
	const struct found *a = pa, *b = pb;

	if (a->times * (uint64_t)a->n != b->times * (uint64_t)b->n)
		return a->times * (uint64_t)a->n < b->times * (uint64_t)b->n ? 1 : -1;
	return a->n != b->n ? a->n - b->n : a->first - b->first;
}

/* Do three names in a row of f stand in l, or in l behind itself? */
static bool shares_three(const struct found *f, const struct found *l)
{
	for (int i = 0; i + 3 <= f->n; i++)
		for (int k = 0; k < l->n; k++) {
			bool same = true;

			for (int m = 0; m < 3; m++)
				same &= f->names[i + m] == l->names[(k + m) % l->n];
			if (same)
				return true;
		}
	return false;
}

static int sequences_of(const struct op *ops, int n, struct found *list)
{
	static struct found all[MOST * 6];
	int nall = 0, nlist = 0;

	for (int len = 3; len <= 8; len++)
		for (int at = 0; at + len <= n; at++) {
			struct found f = { .n = len, .first = at };
			bool known = false;

			for (int i = 0; i < len; i++)
				f.names[i] = ops[at + i].name;
			if (!matches(ops, n, at, &f)) /* some of it is a graph's */
				continue;
			for (int i = 0; i < nall && !known; i++)
				known = all[i].n == len &&
					!memcmp(all[i].names, f.names, sizeof(f.names));
			for (int i = at; !known && i < n; i++)
				if (matches(ops, n, i, &f)) {
					for (int k = 0; k < len; k++)
						f.call += call_ns(&ops[i + k]);
					f.times++;
					i += len - 1;
				}
			if (!known && counts(&f))
				all[nall++] = f;
		}
	qsort(all, (size_t)nall, sizeof(*all), by_covered);
	for (int i = 0; i < nall; i++) {
		bool shifted = false;

		for (int k = 0; k < nlist; k++)
			shifted |= shares_three(&all[i], &list[k]);
		if (!shifted)
			list[nlist++] = all[i];
	}
	return nlist;
}

static int ops_of(int device, int stream, struct op *ops)
{
	int n = 0;

	for (int i = 0; i < prog.nops; i++)
		if (prog.ops[i].device == device && prog.ops[i].stream == stream)
			ops[n++] = prog.ops[i];
	qsort(ops, (size_t)n, sizeof(*ops), by_start);
	return n;
}

static bool same_sequence(const json_t *k, const struct found *f)
{
	char text[400] = "";

	for (int i = 0; i < f->n; i++) {
		strcat(text, i ? "; " : "");
		strcat(text, plain_names[f->names[i]]);
	}
	SAME(num(k, "times"), f->times);
	SAME(num(k, "length"), f->n);
	SAME(num(k, "launches"), f->times * (uint64_t)f->n);
	SAME(num(k, "call_ns"), f->call);
	SAME(is(k, "kernels", text), 1);
	return true;
}

static bool same_sequences(const json_t *j)
{
	static struct op ops[MOST];
	static struct found list[MOST];
	size_t all = 0;

	for (int s = 0; s < 4; s++) {
		int n = sequences_of(ops, ops_of(s / 2, s % 2, ops), list), at = 0;

		for (size_t i = 0; i < rows(j, "sequences"); i++) {
			const json_t *k = row(j, "sequences", i);

			if (num(k, "device") != s / 2 || num(k, "stream") != 7 + s % 2)
				continue;
			SAME(at < n, 1);
			if (!same_sequence(k, &list[at++]))
				return false;
		}
		SAME(at, n);
		all += (size_t)n;
	}
	SAME(all, rows(j, "sequences"));
	return true;
}

struct runs {
	uint64_t launches, in_runs, runs, longest;
};

static bool same_runs(const json_t *j)
{
	static struct op ops[MOST];
	struct runs all[3] = { { 0 } };

	for (int s = 0; s < 4; s++) {
		int n = ops_of(s / 2, s % 2, ops), to;

		for (int i = 0; i < n; i = to) {
			struct runs *r = &all[ops[i].name % 3];

			for (to = i + 1; to < n && ops[to].name == ops[i].name && !ops[to].graph;
				to++)
				;
			if (ops[i].graph)
				to = i + 1;
			if (ops[i].graph || !is_kernel(&ops[i]))
				continue;
			r->launches += (uint64_t)(to - i);
			r->in_runs += to - i > 1 ? (uint64_t)(to - i) : 0;
			r->runs += to - i > 1;
			r->longest =
				(uint64_t)(to - i) > r->longest ? (uint64_t)(to - i) : r->longest;
		}
	}
	for (int i = 0; i < 3; i++) {
		const json_t *k = row_named(j, "runs", "kernel", plain_names[i]);

		SAME(k != NULL, all[i].runs > 0);
		if (!k)
			continue;
		SAME(num(k, "launches"), all[i].launches);
		SAME(num(k, "in_runs"), all[i].in_runs);
		SAME(num(k, "runs"), all[i].runs);
		SAME(num(k, "longest"), all[i].longest);
	}
	return true;
}

/* ---- random programs ---- */

static bool same_patterns(const json_t *j, int64_t origin)
{
	return same_sequences(j) && same_runs(j);
}

static void as_counted_by_hand(void) { CHECK(agrees_on_random_ones("patterns", same_patterns)); }

/* ---- known figures ---- */

static void what_repeats(void)
{
	const json_t *k;
	int64_t origin;
	json_t *j;

	clear_program();
	/* add mul relu, four times; then three of add, a copy, two of add */
	for (int i = 0; i < 12; i++)
		add_op(0, 0, i % 3, add_call(0, 1000 + i * 100, 1010 + i * 100), 1050 + i * 100,
			1060 + i * 100);
	for (int i = 12; i < 18; i++)
		add_op(0, 0, i == 15 ? COPY_NAME : 0, add_call(0, 1000 + i * 100, 1020 + i * 100),
			1050 + i * 100, 1060 + i * 100);
	j = reported((const char *[]){ "patterns", NULL }, 1, &plain, &origin);
	k = row(j, "sequences", 0);
	CHECK(rows(j, "sequences") == 1 && is(k, "sequence", "add; mul; relu") &&
		num(k, "times") == 4 && num(k, "launches") == 12);
	CHECK(num(k, "call_ns") == 120 && num(k, "share_percent") == 66.67 &&
		num(k, "first_ns") == 50);
	k = row(j, "runs", 0);
	CHECK(rows(j, "runs") == 1 && num(k, "launches") == 9 && num(k, "in_runs") == 5 &&
		num(k, "runs") == 2 && num(k, "longest") == 3);
	CHECK(num(k, "longest_at_ns") == 1250 && num(k, "longest_call_ns") == 60 &&
		num(k, "longest_stream") == 7);
	k = row(j, "launching_streams", 0);
	CHECK(num(k, "kernels") == 17 && num(k, "in_runs") == 5 && num(k, "copies") == 1 &&
		num(k, "in_graphs") == 0);
	json_decref(j);
}

static void a_long_graph_is_one_launch(void)
{
	int64_t origin;
	json_t *j;

	long_graph_program();
	j = reported((const char *[]){ "patterns", NULL }, 1, &plain, &origin);
	CHECK(num(row(j, "launching_streams", 0), "in_graphs") == 17000 &&
		num(row(j, "launching_streams", 0), "graph_launches") == 1);
	json_decref(j);
}

static void some_of_the_work_is_no_answer(void)
{
	static const char *const tables[] = { "launching_streams", "sequences", "runs", NULL };
	json_t *j = reported_of_some("patterns");

	CHECK(cannot_answer(j, tables));
	json_decref(j);
}

static void calls_alone(void)
{
	json_t *j = reported_of_calls_alone("patterns");

	CHECK(rows(j, "runs") == 0 && noted(j, "sequences", "not recorded"));
	json_decref(j);
}

/* Two alternating sequences are two patterns, and not one pattern of seven that covers seven of
 * eight. */
static void two_take_turns(void)
{
	const json_t *k;
	int64_t origin;
	json_t *j;

	clear_program();
	for (int i = 0; i < 20; i++)
		add_op(0, 0, i % 2, add_call(0, 1000 + i * 100, 1010 + i * 100), 1050 + i * 100,
			1060 + i * 100);
	j = reported((const char *[]){ "patterns", NULL }, 1, &plain, &origin);
	k = row(j, "sequences", 0);
	CHECK(rows(j, "sequences") == 1 && is(k, "sequence", "add; mul; add; mul") &&
		num(k, "times") == 5);
	json_decref(j);
}

/* ---- bounded memory ---- */

static int add_names(struct gt_sequences *q, struct gt_sequence_tail *t, int n, unsigned seed)
{
	struct gt_err err = GT_ERR_INIT;
	int rc = 0;

	srand(seed);
	for (int i = 0; !rc && i < n; i++)
		rc = gt_sequences_add(q, t, 0,
			&(struct gt_sequence_launch){
				.name = 10 + (uint32_t)rp_below(50000), .at = i },
			&err);
	return rc;
}

/* A pattern that occurs twice stays in the table while a hundred thousand others occur once;
 * counts are never too high. */
static void rare_ones_are_forgotten(void)
{
	struct gt_sequence_tail t = { .n = 0 };
	struct gt_sequences q = { .n = 0 };
	struct gt_err err = GT_ERR_INIT;

	for (int i = 0; i < 9; i++)
		CHECK(!gt_sequences_add(&q, &t, 0,
			&(struct gt_sequence_launch){ .name = (uint32_t)i % 3, .call_ns = 2 },
			&err));
	gt_sequences_break(&t);
	CHECK(!add_names(&q, &t, 100000, 1) && q.n <= GT_SEQUENCES_MAX && q.forgotten > 400000 &&
		!q.missed);
	gt_sequences_break(&t);
	for (int i = 0; i < 6; i++)
		CHECK(!gt_sequences_add(&q, &t, 0,
			&(struct gt_sequence_launch){ .name = (uint32_t)i % 3, .call_ns = 2 },
			&err));
	CHECK(!gt_sequences_select(&q, &err));
	CHECK(q.n == 1 && q.list[0].n == 3 && q.list[0].count == 5 && q.list[0].call_ns == 30);
	gt_sequences_release(&q);
}

/* If nearly all patterns repeat, the table is full; the patterns in it stay exact. */
static void a_crowd_leaves_no_room(void)
{
	struct gt_sequence_tail t = { .n = 0 };
	struct gt_sequences q = { .n = 0 };
	struct gt_err err = GT_ERR_INIT;

	for (int i = 0; i < 3; i++) {
		CHECK(!add_names(&q, &t, 20000, 7));
		gt_sequences_break(&t);
	}
	CHECK(!add_names(&q, &t, 20000, 8) && q.n == GT_SEQUENCES_MAX && q.crowded && q.missed);
	CHECK(!gt_sequences_select(&q, &err));
	CHECK(q.n > 2000 && q.list[0].n == 8 && q.list[0].count == 3);
	gt_sequences_release(&q);
}

T_MAIN(T(rare_ones_are_forgotten), T(a_crowd_leaves_no_room), T(what_repeats), T(two_take_turns),
	T(a_long_graph_is_one_launch), T(as_counted_by_hand), T(some_of_the_work_is_no_answer),
	T(calls_alone))
