/* The comparison of two traces: which differences are noise, which rows are paired, and what the
 * report prints. */
#define _GNU_SOURCE
#include <math.h>
#include "analyze/diff/diff.h"
#include "analyze/core/report.h"
#include "tests/unit/analyze/diff/diffs.h"
#include "tests/unit/random_program.h"

/* ---- the rules ---- */

/* The number of lists that contain a column. A label may be a key, too. */
static unsigned listed(const struct gt_diff_rule *r, const char *key)
{
	const char *const lists[] = { r->keys, r->less, r->more, r->either, r->tail, r->gates,
		r->none };
	unsigned n = 0;

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		n += gt_list_has(lists[i], key);
	return n ? n : gt_list_has(r->label, key);
}

/* Only a file with several recordings has the column that names the recording. */
static bool words_are_columns(
	const struct gt_diff_rule *r, const struct gt_table *t, const char *list)
{
	size_t len;

	for (const char *w = list; (w = gt_next_word(w, &len)); w += len) {
		char key[64];

		snprintf(key, sizeof(key), "%.*s", (int)len, w);
		if (gt_table_column(t, key) < 0 && strcmp(key, "recording") != 0) {
			printf("# %s has no column %s\n", r->table, key);
			return false;
		}
	}
	return true;
}

static bool fits(const struct gt_diff_rule *r, const struct gt_table *t)
{
	const char *const lists[] = { r->keys, r->label, r->varies, r->less, r->more, r->either,
		r->tail, r->gates, r->none };
	unsigned n;
	const struct gt_column *columns = gt_table_columns(t, &n);
	bool fine = true;

	for (unsigned i = 0; i < n; i++)
		if (listed(r, columns[i].key) != 1) {
			printf("# the column %s.%s stands in %u lists of analyze/diff/diff_rules.c\n",
				r->table, columns[i].key, listed(r, columns[i].key));
			fine = false;
		}
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		fine &= words_are_columns(r, t, lists[i]);
	return fine;
}

/* Every column of a table that can be compared has its role, and every role is of a column. Some
 * tables there are only where the GPU was recorded, others only where it was not. */
static void every_column_has_a_role(void)
{
	struct rp *p = malloc(sizeof(*p));
	struct gt_diff_request all = { .names = GT_NAMES_CALLS };
	struct gt_side side, calls;
	struct trace alone;
	bool read, fine = true;

	for (const struct gt_diff_rule *r = gt_diff_rules; r->table; r++)
		gt_diff_request_table(&all, r);
	known(&alone, true);
	rp_functions = true;
	read = read_side(&side, rp_make(p, 3), &all, 1) & read_side(&calls, end(&alone), &all, 1);
	for (const struct gt_diff_rule *r = gt_diff_rules; read && r->table; r++) {
		const struct gt_table *t = gt_side_table(&side, r->table);

		t = t ? t : gt_side_table(&calls, r->table);
		if (r->report && !t)
			printf("# the report %s made no table %s\n", r->report, r->table);
		fine &= (!r->report || t) && (!t || fits(r, t));
	}
	rp_functions = false;
	gt_side_release(&side);
	gt_side_release(&calls);
	free(p);
	CHECK(read && fine);
}

static void roles_are_what_lists_say(void)
{
	const struct gt_diff_rule *k = gt_diff_rule("kernels");

	CHECK(k && gt_diff_report(k) == gt_analysis_find("kernels") && !gt_diff_rule("kernel") &&
		!gt_diff_rule("timeline"));
	CHECK(gt_diff_role(k, "name") == GT_DIFF_KEY &&
		gt_diff_role(k, "kernel") == GT_DIFF_LABEL &&
		gt_diff_role(k, "p99_ns") == GT_DIFF_TAIL);
	CHECK(gt_diff_role(k, "queue_mean_ns") == GT_DIFF_LESS &&
		gt_diff_role(k, "total_ns") == GT_DIFF_GATE);
	CHECK(gt_diff_role(k, "p99") == GT_DIFF_NONE && gt_diff_role(k, "ns") == GT_DIFF_NONE);
	CHECK(gt_diff_role(gt_diff_rule("gpu"), "busy_percent") == GT_DIFF_MORE &&
		gt_diff_role(gt_diff_rule("gpu"), "pid") == GT_DIFF_NONE);
}

/* ---- noise ---- */

static double uniform(void) { return (rand() + 1.0) / (RAND_MAX + 2.0); }
static double normal(void) { return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform()); }
static double of_kind(int kind)
{
	return kind == 0    ? 10000 + 2000 * normal()
		: kind == 1 ? 10000 * exp(0.5 * normal())
		: kind == 2 ? -10000 * log(uniform())
			    :
			    /* a short way and a long one */
		uniform() < 0.9 ? 8000 + 100 * normal()
				: 28000 + 1000 * normal();
}

static struct gt_sample sample_of(const double *v, int n)
{
	struct gt_sample s = { .count = (uint64_t)n, .scatters = n > 1 };
	double square = 0;

	for (int i = 0; i < n; i++)
		s.mean += v[i] / n;
	for (int i = 0; i < n; i++)
		square += (v[i] - s.mean) * (v[i] - s.mean);
	s.deviation = n > 1 ? sqrt(square / (n - 1)) : 0;
	return s;
}

static struct gt_sample drawn(int kind, int n, double times)
{
	static double v[2000];

	for (int i = 0; i < n; i++)
		v[i] = times * of_kind(kind);
	return sample_of(v, n);
}

static bool told_apart(enum gt_verdict v)
{
	return v == GT_VERDICT_SLOWER || v == GT_VERDICT_FASTER;
}

/* Of 1000 pairs that differ by chance, at most 10 seem to differ, for any number of durations
 * and any scatter. */
static void chance_is_no_change(void)
{
	static const int counts[] = { 2, 3, 5, 10, 30, 200, 1000 };

	srand(7);
	for (int kind = 0; kind < 4; kind++)
		for (size_t c = 0; c < sizeof(counts) / sizeof(*counts); c++) {
			int wrong = 0;

			for (int i = 0; i < 1000; i++) {
				struct gt_sample a = drawn(kind, counts[c], 1),
						 b = drawn(kind, counts[c], 1);

				wrong += told_apart(gt_diff_verdict(&a, &b));
			}
			CHECK(wrong <= 10);
		}
}

static void a_change_is_found(void)
{
	srand(8);
	for (int kind = 0; kind < 4; kind++) {
		double times = kind ? 1.2 : 1.05;
		int found = 0, back = 0;

		for (int i = 0; i < 100; i++) {
			struct gt_sample a = drawn(kind, 2000, 1), b = drawn(kind, 2000, times);

			found += gt_diff_verdict(&a, &b) == GT_VERDICT_SLOWER;
			back += gt_diff_verdict(&b, &a) == GT_VERDICT_FASTER;
		}
		CHECK(found >= 99 && back >= 99);
	}
}

/* Consecutive durations are similar: a slow wave with little scatter. */
static struct gt_sample wave(bool slices)
{
	static double v[3200];
	struct gt_sample s;
	double state = 1000 * normal(), square = 0;

	for (int i = 0; i < 3200; i++)
		v[i] = 10000 + (state = 0.9 * state + sqrt(1 - 0.81) * 1000 * normal());
	s = sample_of(v, 3200);
	for (int k = 0; k < 32; k++) {
		struct gt_sample slice = sample_of(v + (ptrdiff_t)k * 100, 100);

		square += (slice.mean - s.mean) * (slice.mean - s.mean);
	}
	s.drift = slices ? sqrt(square / 32 / 31) : 0;
	s.slices = 32;
	return s;
}

static void drift_is_noise(void)
{
	int wrong[2] = { 0, 0 };

	srand(9);
	for (int i = 0; i < 2000; i++) {
		struct gt_sample a = wave(i % 2), b = wave(i % 2);

		wrong[i % 2] += told_apart(gt_diff_verdict(&a, &b));
	}
	CHECK(wrong[0] > 100); /* of 1000: the part that the deviation alone explains */
	CHECK(wrong[1] <= 10);
}

static struct gt_sample of(uint64_t count, double mean, double deviation)
{
	return (struct gt_sample){
		.count = count, .mean = mean, .deviation = deviation, .scatters = count > 1
	};
}
static enum gt_verdict judged(struct gt_sample a, struct gt_sample b)
{
	return gt_diff_verdict(&a, &b);
}

static void verdicts_at_their_bounds(void)
{
	struct gt_sample once = of(1, 1000, 0), twice = of(2, 1000, 10), a, b;

	CHECK(gt_diff_noise(&once, &twice) < 0 && gt_diff_noise(&twice, &once) < 0 &&
		gt_diff_noise(&twice, &twice) > 0);
	CHECK(judged(once, of(1, 2000, 0)) == GT_VERDICT_UNKNOWN &&
		judged(once, of(1, 1009, 0)) == GT_VERDICT_SAME);
	CHECK(judged(once, of(5, 2000, 1)) == GT_VERDICT_MORE &&
		judged(of(5, 2000, 1), once) == GT_VERDICT_FEWER);
	/* the floor: 1 %, whatever the noise */
	CHECK_EQ(judged(of(1000000, 10000, 16), of(1000000, 10099, 16)), GT_VERDICT_SAME);
	CHECK_EQ(judged(of(1000000, 10000, 16), of(1000000, 10101, 16)), GT_VERDICT_SLOWER);
	CHECK_EQ(judged(of(1000000, 10000, 16), of(1000000, 9899, 16)), GT_VERDICT_FASTER);
	CHECK(judged(of(1000, 10000, 16), of(1011, 10000, 16)) == GT_VERDICT_MORE &&
		judged(of(1000, 10000, 16), of(1010, 10000, 16)) == GT_VERDICT_SAME);
	/* 3 standard errors, if there are many values */
	a = of(100000, 10000, 10000);
	b = of(100000, 10000, 10000);
	CHECK(fabs(gt_diff_noise(&a, &b) / (3.008 * 10000 * sqrt(2 / 100000.0)) - 1) < 1e-9);
	CHECK(judged(a, of(100000, 10134, 10000)) == GT_VERDICT_NOISE &&
		judged(a, of(100000, 10135, 10000)) == GT_VERDICT_SLOWER);
	/* Welch: the sample without deviation does not make the sample of three values more
	 * certain */
	a = of(3, 1000000, 1000);
	b = of(1000000, 1000000, 16);
	CHECK(fabs(gt_diff_noise(&a, &b) / (19.207 * 1000 / sqrt(3)) - 1) < 1e-3);
	/* two equal durations do not prove a deviation of 0: a clock has steps */
	CHECK(judged(of(2, 1024, 0), of(2, 1056, 0)) == GT_VERDICT_NOISE &&
		judged(of(2000, 1024, 0), of(2000, 1056, 0)) == GT_VERDICT_SLOWER);
	/* drift counts if there are enough slices to detect it */
	a = of(1000, 10000, 16);
	a.drift = 500;
	a.slices = 3.9;
	CHECK_EQ(judged(a, of(1000, 10500, 16)), GT_VERDICT_SLOWER);
	a.slices = 16;
	CHECK(judged(a, of(1000, 10500, 16)) == GT_VERDICT_NOISE &&
		judged(a, of(1000, 12000, 16)) == GT_VERDICT_SLOWER);
}

/* ---- names with their scatter, beside a plain count ---- */

struct plain_name {
	const char *name;
	int layer;
	int64_t start[RP_MOST], dur[RP_MOST];
	int n;
};

static void add_plain(
	struct plain_name *names, int *n, const char *name, int layer, int64_t start, int64_t end)
{
	struct plain_name *to = names;

	while (to < names + *n && (strcmp(to->name, name) != 0 || to->layer != layer))
		to++;
	if (to == names + *n) {
		*to = (struct plain_name){ .name = name, .layer = layer };
		(*n)++;
	}
	to->start[to->n] = start;
	to->dur[to->n++] = end - start;
}

static bool near(double a, double b) { return fabs(a - b) <= 1e-6 * (fabs(a) + fabs(b)) + 1e-9; }

/* Divides the time of a name into as many as 32 slices, and weights their means. */
static double plain_drift(const struct plain_name *p, int64_t origin, double mean, double *slices)
{
	uint64_t lo = UINT64_MAX, hi = 0;
	double square = 0, weights = 0;
	unsigned shift = 0, k = 0;

	for (int i = 0; i < p->n; i++) {
		uint64_t since = (uint64_t)(p->start[i] - origin);

		lo = since < lo ? since : lo;
		hi = since > hi ? since : hi;
	}
	while ((hi >> shift) - (lo >> shift) > 31)
		shift++;
	for (uint64_t s = lo >> shift; s <= hi >> shift; s++) {
		double sum = 0, count = 0;

		for (int i = 0; i < p->n; i++)
			if ((uint64_t)(p->start[i] - origin) >> shift == s)
				sum += (double)p->dur[i], count++;
		k += count > 0;
		weights += count / p->n * count / p->n;
		square += count > 0 ? pow(count / p->n * (sum / count - mean), 2) : 0;
	}
	*slices = 1 / weights;
	return k > 1 ? sqrt(square * k / (k - 1)) : 0;
}

static bool same_figures(const struct plain_name *p, const struct gt_side *side, int64_t origin)
{
	const struct gt_table *t = gt_side_table(side, "names");
	double v[RP_MOST], slices, drift;
	struct gt_sample s;

	for (int i = 0; i < p->n; i++)
		v[i] = (double)p->dur[i];
	s = sample_of(v, p->n);
	drift = plain_drift(p, origin, s.mean, &slices);
	for (unsigned row = 0; row < gt_table_rows(t); row++) {
		const struct gt_cell *name =
			gt_table_cell(t, row, (unsigned)gt_table_column(t, "name"));
		const struct gt_cell *layer =
			gt_table_cell(t, row, (unsigned)gt_table_column(t, "layer"));
		const struct gt_cell *deviation =
			gt_table_cell(t, row, (unsigned)gt_table_column(t, "stddev_ns"));

		if (strcmp(name->s, p->name) != 0 ||
			strcmp(layer->s, gt_layer_word((unsigned)p->layer)) != 0)
			continue;
		return gt_table_cell(t, row, (unsigned)gt_table_column(t, "count"))->i == p->n &&
			near((double)gt_table_cell(t, row, (unsigned)gt_table_column(t, "total_ns"))
					->i,
				s.mean * p->n) &&
			deviation->absent == (p->n < 2) &&
			(p->n < 2 ||
				(near(deviation->d, s.deviation) &&
					near(gt_table_cell(t, row,
						     (unsigned)gt_table_column(t, "drift_ns"))
							->d,
						drift) &&
					near(gt_table_cell(
						     t, row, (unsigned)gt_table_column(t, "slices"))
							->d,
						slices)));
	}
	return false;
}

static int gather(const struct rp *p, struct plain_name *names)
{
	int n = 0;

	for (int i = 0; i < p->ncalls; i++)
		if (!p->calls[i].open)
			add_plain(names, &n, rp_kinds[p->calls[i].what].name,
				p->calls[i].what == RP_IOCTL ? GT_LAYER_IOCTL : GT_LAYER_API,
				p->calls[i].start, p->calls[i].end);
	for (int i = 0; i < p->nops; i++)
		if (p->ops[i].what == RP_LAUNCH)
			add_plain(names, &n, rp_kernels[p->ops[i].kernel], GT_LAYER_GPU,
				p->ops[i].start, p->ops[i].end);
	return n;
}

static void scatter_is_that_of_a_plain_count(void)
{
	struct rp *p = malloc(sizeof(*p));
	struct plain_name *names = malloc(32 * sizeof(*names));
	struct gt_diff_request asked = { .names = GT_NAMES_CALLS };
	unsigned wrong = 0, compared_names = 0;

	for (unsigned seed = 0; seed < 40; seed++)
		for (unsigned threads = 1; threads < 4; threads += 2) {
			struct gt_reader *r = rp_make(p, seed);
			int64_t origin = gt_reader_segment(r, 0)->min_start;
			struct gt_side side;
			bool read = read_side(&side, r, &asked, threads);
			int n = gather(p, names);

			for (int i = 0; i < n; i++, compared_names++)
				wrong += !read || !same_figures(&names[i], &side, origin);
			gt_side_release(&side);
		}
	free(p);
	free(names);
	CHECK(!wrong && compared_names > 500);
}

/* ---- pairs ---- */

static const struct gt_column pair_columns[] = {
	{ "process", "Process", GT_C_TEXT },
	{ "device", "Device", GT_C_COUNT },
	{ "busy_percent", "Busy", GT_C_PERCENT },
};
static struct gt_table *places(const char *const *processes, const int *devices)
{
	struct gt_table *t = gt_table_new("gpu", NULL, pair_columns, 3);

	for (size_t i = 0; processes[i]; i++)
		gt_table_add(t,
			(struct gt_cell[]){ { .s = processes[i] },
				{ .i = devices[i], .absent = devices[i] < 0 }, { .i = 5 } });
	return t;
}

/* "a-b a-b ...": -1 is "x" */
static const char *paired(struct gt_table *a, struct gt_table *b)
{
	static char text[200];
	struct gt_row_pair *pairs;
	size_t n;
	int at = 0;

	*text = '\0';
	if (gt_pair_rows(gt_diff_rule("gpu"), a, b, &pairs, &n, NULL))
		return "failed";
	for (size_t i = 0; i < n; i++) {
		at += pairs[i].a < 0 ? sprintf(text + at, "x-")
				     : sprintf(text + at, "%d-", pairs[i].a);
		at += pairs[i].b < 0 ? sprintf(text + at, "x ")
				     : sprintf(text + at, "%d ", pairs[i].b);
	}
	free(pairs);
	gt_table_free(a);
	gt_table_free(b);
	return text;
}
#define PLACES(p, ...) places((const char *[]){ p, NULL }, (int[]){ __VA_ARGS__ })
#define NAMES(...) __VA_ARGS__

static void rows_are_paired_by_key(void)
{
	CHECK(!strcmp(paired(PLACES(NAMES("a", "a", "b"), 0, 1, 0),
			      PLACES(NAMES("b", "a", "a"), 0, 1, 0)),
		"2-0 1-1 0-2 "));
	/* the same key twice: paired in order, and a row without a partner is removed from the
	 * second trace */
	CHECK(!strcmp(paired(PLACES(NAMES("a", "a", "a"), 0, 0, 0),
			      PLACES(NAMES("a", "c", "a"), 0, 0, 0)),
		"0-0 x-1 1-2 2-x "));
	/* an absent cell is a key of its own, and differs from an empty cell */
	CHECK(!strcmp(paired(PLACES(NAMES("a"), -1), PLACES(NAMES("a", "a"), 1, -1)), "x-0 0-1 "));
	/* no process has a name that occurs in the other trace: devices decide */
	CHECK(!strcmp(paired(PLACES(NAMES("old", "old"), 0, 1), PLACES(NAMES("new", "new"), 1, 0)),
		"1-0 0-1 "));
	CHECK(!strcmp(
		paired(PLACES(NAMES("old", "both"), 0, 1), PLACES(NAMES("new", "both"), 0, 1)),
		"x-0 1-1 0-x "));
	CHECK(!strcmp(paired(NULL, PLACES(NAMES("a"), 0)), "x-0 ") &&
		!strcmp(paired(PLACES(NAMES("a"), 0), NULL), "0-x "));
	CHECK_STR(paired(NULL, NULL), "");
}

static void rows_have_names_for_people(void)
{
	struct gt_table *t = PLACES(NAMES("a", "", "a"), 7, 7, -1);
	char *names[3];

	for (unsigned i = 0; i < 3; i++)
		names[i] = gt_row_name(gt_diff_rule("gpu"), t, i);
	gt_table_free(t);
	CHECK(!strcmp(names[0], "a / 7") && !strcmp(names[1], "7") && !strcmp(names[2], "a"));
	for (unsigned i = 0; i < 3; i++)
		free(names[i]);
}

/* ---- two traces ---- */

static const struct made before[] = { { LAUNCH, 100, 10000, 5 }, { SYNC, 100, 50000, 40 },
	{ COPY, 40, 20000, 2 }, { INIT, 1, 5000, 0 }, { CONTEXT, 10, 3000, 1 },
	{ ALLOC, 4, 1000, 1 }, { 0, 0, 0, 0 } };
static const struct made after[] = { { LAUNCH, 100, 12000, 5 }, { SYNC, 100, 52000, 40 },
	{ COPY, 80, 10000, 2 }, { INIT, 1, 9000, 0 }, { ALLOC, 8, 1000, 1 }, { FREE, 3, 700, 0 },
	{ 0, 0, 0, 0 } };

static void names_have_verdicts(void)
{
	json_t *j = compared(made_of(before), made_of(after), NULL, NULL, NULL);
	const json_t *launch = row_named(j, "names", "name", "cuLaunchKernel"),
		     *v = row(j, "verdicts", 0);

	CHECK(rows(j, "names") == 7 && is(launch, "verdict", "slower") &&
		num(launch, "count_a") == 100 && num(launch, "mean_a_ns") == 10000);
	CHECK(num(launch, "mean_b_ns") == 12000 && num(launch, "mean_change_percent") == 20 &&
		num(launch, "change_ns") == 200000);
	CHECK(num(launch, "noise_percent") > 1 && num(launch, "noise_percent") < 4 &&
		is(launch, "layer", "api"));
	CHECK(is(row_named(j, "names", "name", "cuStreamSynchronize"), "verdict", "within noise"));
	CHECK(is(row_named(j, "names", "name", "cuMemcpyHtoD_v2"), "verdict", "faster"));
	CHECK(is(row_named(j, "names", "name", "cuInit"), "verdict", "noise unknown"));
	CHECK(is(row_named(j, "names", "name", "cuCtxSetCurrent"), "verdict", "gone"));
	CHECK(is(row_named(j, "names", "name", "cuMemFree_v2"), "verdict", "added") &&
		absent(row_named(j, "names", "name", "cuMemFree_v2"), "count_a"));
	CHECK(is(row_named(j, "names", "name", "cuMemAlloc_v2"), "verdict", "more"));
	CHECK(num(v, "slower") == 1 && num(v, "faster") == 1 && num(v, "added") == 1 &&
		num(v, "gone") == 1 && num(v, "more") == 1);
	CHECK(num(v, "fewer") == 0 && num(v, "within_noise") == 1 && num(v, "noise_unknown") == 1 &&
		num(v, "same") == 0);
	for (size_t i = 1; i < rows(j, "names"); i++)
		CHECK(fabs(num(row(j, "names", i - 1), "change_ns")) >=
			fabs(num(row(j, "names", i), "change_ns")));
	json_decref(j);
}

static void figures_have_verdicts(void)
{
	json_t *j = compared(made_of(before), made_of(after), NULL, NULL, NULL);
	const json_t *peak = figure_row(j, "memory.peak_bytes", "device"),
		     *calls = figure_row(j, "userspace.api_calls", "");

	CHECK(peak && is(peak, "verdict", "worse") && num(peak, "a") == 4000 &&
		num(peak, "b") == 8000 && num(peak, "change_percent") == 100);
	CHECK(calls && is(calls, "verdict", "changed") && num(calls, "a") == 255 &&
		num(calls, "b") == 292);
	CHECK(is(figure_row(j, "userspace.kernel_launches", ""), "verdict", "same"));
	CHECK(!figure_row(j, "gpu.kernels", "train / 0") &&
		!figure_row(j, "memory.null_frees", "device"));
	json_decref(j);
	j = compared(
		made_of(before), made_of(after), (const char *[]){ "memory", NULL }, NULL, NULL);
	CHECK(!json_object_get(j, "names") && !json_object_get(j, "verdicts") &&
		figure_row(j, "memory.peak_bytes", "device"));
	CHECK(!figure_row(j, "userspace.api_calls", ""));
	json_decref(j);
	j = compared(
		made_of(before), made_of(after), (const char *[]){ "ioctls", NULL }, NULL, NULL);
	CHECK(rows(j, "names") == 0 && rows(j, "verdicts") == 1);
	json_decref(j);
}

/* The first trace has no GPU records: its kernels are not reported as new; with the traces
 * swapped, the kernels of the second trace are not reported as removed. */
static void what_was_not_recorded_is_not_gone(void)
{
	struct rp *p = malloc(sizeof(*p));
	json_t *j = compared(made_of(before), rp_make(p, 3), NULL, NULL, NULL),
	       *back = compared(rp_make(p, 3), made_of(before), NULL, NULL, NULL);
	const json_t *kernel = row_named(j, "names", "name", "_Z3addPf"),
		     *reverse = row_named(back, "names", "name", "_Z3addPf");

	free(p);
	CHECK(is(kernel, "operation", "add") && is(kernel, "verdict", "not recorded") &&
		absent(kernel, "change_ns") && absent(kernel, "total_a_ns"));
	CHECK(is(reverse, "verdict", "not recorded") &&
		is(row_named(j, "names", "name", "cuEventQuery"), "verdict", "added"));
	CHECK(noted(j, "files", "different layers recorded") &&
		num(row(j, "verdicts", 0), "not_recorded") >= 5);
	CHECK(is(figure_row(j, "gpu.kernels", "train / 0"), "verdict", "not recorded"));
	CHECK(is(figure_row(back, "gpu.kernels", "train / 0"), "verdict", "not recorded") &&
		absent(figure_row(back, "gpu.kernels", "train / 0"), "b"));
	json_decref(j);
	json_decref(back);
}

/* lost: the record of the kernel is lost; some: other GPU work was recorded. */
static struct gt_reader *one_launch(bool lost, bool some)
{
	struct gt_gpu_work w;
	struct gpus g;

	gpus_begin(&g, "{\"events\":\"api,gpu\"}");
	w = gpus_work(g.stream[0][0], 1000, 1100);
	gpus_launched(&g, &w, 0, 900, 20, GT_JOIN_CORRELATION);
	if (lost)
		gt_writer_loss(g.w, GT_SCOPE_PROCESS, g.process, 900, 1200, 1, &g.err);
	else
		gpus_kernel(&g, 0, &w);
	if (some)
		gpus_plain(&g, 1, g.stream[0][0], 2000, 2100);
	return gpus_end(&g);
}

/* The second program was killed, and the record of its kernel was lost. Where other work was
 * recorded, the kernel is reported as removed, and the losses are reported. */
static void what_was_lost_is_not_gone(void)
{
	json_t *j = compared(one_launch(false, false), one_launch(true, false), NULL, NULL, NULL);

	CHECK(is(row_named(j, "names", "name", "_Z3addPf"), "verdict", "not recorded"));
	CHECK(is(figure_row(j, "gpu.kernels", "train / 0"), "verdict", "not recorded"));
	json_decref(j);
	j = compared(one_launch(false, true), one_launch(true, true), NULL, NULL, NULL);
	CHECK(is(row_named(j, "names", "name", "_Z3addPf"), "verdict", "gone") &&
		noted(j, "files", "B: LOST: 1"));
	json_decref(j);
}

static void a_trace_is_the_same_as_itself(void)
{
	struct rp *p = malloc(sizeof(*p));
	unsigned wrong = 0;

	for (unsigned seed = 0; seed < 10; seed++) {
		json_t *j = compared(rp_make(p, seed), rp_make(p, seed), NULL, NULL, NULL);

		for (size_t i = 0; i < rows(j, "names"); i++)
			wrong += !is(row(j, "names", i), "verdict", "same") ||
				num(row(j, "names", i), "change_ns") != 0;
		for (size_t i = 0; i < rows(j, "figures"); i++)
			wrong += !is(row(j, "figures", i), "verdict", "same");
		wrong += rows(j, "names") < 10 || rows(j, "figures") < 30 ||
			json_array_size(json_object_get(json_object_get(j, "files"), "notes"));
		json_decref(j);
	}
	free(p);
	CHECK(!wrong);
}

static void other_machines_are_noted(void)
{
	struct gpus g;
	struct gt_reader *a, *b;
	json_t *j;

	gpus_begin(&g,
		"{\"gpus\":[{\"model\":\"NVIDIA H200\"}],\"driver_version\":\"580.1\",\"command\":\"x\"}");
	a = gpus_end(&g);
	gpus_begin(&g,
		"{\"gpus\":[{\"model\":\"NVIDIA H100\"}],\"driver_version\":\"570.1\",\"command\":\"y\"}");
	b = gpus_end(&g);
	j = compared(a, b, NULL, NULL, NULL);
	CHECK(noted(j, "files",
		      "different GPU models, drivers: changes may come from the machine") &&
		noted(j, "files", "different commands"));
	CHECK(rows(j, "names") == 0 && rows(j, "files") == 2 &&
		is(row(j, "files", 1), "gpu", "NVIDIA H100"));
	json_decref(j);
}

T_MAIN(T(every_column_has_a_role), T(roles_are_what_lists_say), T(chance_is_no_change),
	T(a_change_is_found), T(drift_is_noise), T(verdicts_at_their_bounds),
	T(scatter_is_that_of_a_plain_count), T(rows_are_paired_by_key),
	T(rows_have_names_for_people), T(names_have_verdicts), T(figures_have_verdicts),
	T(what_was_not_recorded_is_not_gone), T(what_was_lost_is_not_gone),
	T(a_trace_is_the_same_as_itself), T(other_machines_are_noted))
