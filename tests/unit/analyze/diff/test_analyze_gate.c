/* Gates: their syntax, the messages about errors in it, and the traces that pass. */
#define _GNU_SOURCE
#include <math.h>
#include "analyze/diff/gate.h"
#include "tests/unit/analyze/diff/diffs.h"
#include "tests/unit/random_program.h"

/* ---- syntax ---- */

static bool reads(const char *text, const char *table, const char *column, const char *name,
	enum gt_gate_op op, bool change, bool relative, long double limit)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_gate g;

	if (gt_gate_parse(&g, text, true, &err)) {
		printf("# %s: %s\n", text, err.text);
		return false;
	}
	return !strcmp(g.rule->table, table) && !strcmp(g.column, column) &&
		!strcmp(g.name, name) && g.op == op && g.change == change &&
		g.relative == relative && g.limit == limit && g.text == text;
}

static void gates_are_read(void)
{
	CHECK(reads("kernels.p99 > +5%", "kernels", "p99_ns", "", GT_GATE_GT, true, true, 5));
	CHECK(reads(
		"kernels.p99_ns>5ms", "kernels", "p99_ns", "", GT_GATE_GT, false, false, 5000000));
	CHECK(reads("kernels.total[*gemm*] >= +3.25%", "kernels", "total_ns", "*gemm*", GT_GATE_GE,
		true, true, 3.25L));
	CHECK(reads("kernels.total[f<int[2]>] <= -1.5us", "kernels", "total_ns", "f<int[2]>",
		GT_GATE_LE, true, false, -1500));
	CHECK(reads(" gpu.busy_percent  <  -2% ", "gpu", "busy_percent", "", GT_GATE_LT, true, true,
		-2));
	CHECK(reads(
		"gpu.busy_percent < -2pp", "gpu", "busy_percent", "", GT_GATE_LT, true, false, -2));
	CHECK(reads(
		"gpu.busy_percent < 50%", "gpu", "busy_percent", "", GT_GATE_LT, false, false, 50));
	CHECK(reads("memory.peak > +10MiB", "memory", "peak_bytes", "", GT_GATE_GT, true, false,
		10485760));
	CHECK(reads(
		"copies.bytes > 1.5 GB", "copies", "bytes", "", GT_GATE_GT, false, false, 1.5e9L));
	CHECK(reads("copies.bandwidth < 20", "copies", "bandwidth_gb_per_s", "", GT_GATE_LT, false,
		false, 20));
	CHECK(reads("header.lost != 0", "header", "lost", "", GT_GATE_NE, false, false, 0));
	CHECK(reads("errors.count == +1", "errors", "count", "", GT_GATE_EQ, true, false, 1));
	CHECK(reads("kernels.p99 > 0", "kernels", "p99_ns", "", GT_GATE_GT, false, false, 0));
	CHECK(reads("kernels.mean > 0.1ms", "kernels", "mean_ns", "", GT_GATE_GT, false, false,
		100000));
	CHECK(reads("kernels.busy_ns > 1.7s", "kernels", "busy_ns", "", GT_GATE_GT, false, false,
		1700000000));
	CHECK(reads("names.mean > .5us", "names", "mean_ns", "", GT_GATE_GT, false, false, 500));
	CHECK(reads("verdicts.slower > 0", "verdicts", "slower", "", GT_GATE_GT, false, false, 0));
}

/* ---- messages about invalid gates ---- */

static bool refused(const char *text, bool two, int column, const char *words)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_gate g;
	char place[40];

	snprintf(place, sizeof(place), "', column %d: ", column);
	if (gt_gate_parse(&g, text, two, &err) == -EINVAL && strstr(err.text, place) &&
		strstr(err.text, words) && strlen(err.text) < sizeof(err.text))
		return true;
	printf("# %s: %s\n", text, err.text);
	return false;
}

static void errors_point_at_the_place(void)
{
	CHECK(refused("", true, 1, "a gate begins with TABLE.COLUMN") &&
		refused("  > 5", true, 3, "a gate begins with TABLE.COLUMN"));
	CHECK(refused("kernel.p99 > 5ms", true, 1,
		"no table 'kernel'; did you mean 'kernels'? There are: userspace kernel_space gpu"));
	CHECK(refused("zzz.p99 > 5ms", true, 1, "no table 'zzz'; there are: userspace"));
	CHECK(refused("kernels", true, 8, "expected . and a column of kernels") &&
		refused("kernels > 5", true, 8, "expected . and a column of kernels"));
	CHECK(refused("kernels.p98 > 5ms", true, 9,
		"no figure 'p98'; did you mean 'p90'? There are: count total_ns"));
	CHECK(refused("kernels.totla > 5ms", true, 9, "did you mean 'total'?") &&
		refused("kernels.zzz > 5", true, 9, "no figure 'zzz'; there are: count"));
	CHECK(refused("kernels. > 5", true, 9, "no figure ''"));
	CHECK(refused("kernels.busy > 5ms", true, 9, "'busy' may be busy_percent or busy_ns"));
	CHECK(refused(
		"kernels.name > 5", true, 9, "'name' is no figure of kernels; figures are: count"));
	CHECK(refused("gpu.pid > 5", true, 5, "'pid' is no figure of gpu") &&
		refused("kernels.kernel > 5", true, 9, "no figure of kernels"));
	CHECK(refused("kernels.p99[abc > 5ms", true, 12, "this [ has no ]") &&
		refused("kernels.p99[] > 5ms", true, 13, "a pattern is missing"));
	CHECK(refused("kernels.p99", true, 12, "one of > >= < <= == !=") &&
		refused("kernels.p99 = 5ms", true, 13, "one of > >= < <= == !="));
	CHECK(refused("kernels.p99 >", true, 14, "a limit belongs here") &&
		refused("kernels.p99 >> 5ms", true, 14, "a limit belongs here"));
	CHECK(refused("kernels.p99 > 1.2.3ms", true, 15, "a limit belongs here") &&
		refused("kernels.p99 > +ms", true, 16, "a limit belongs here"));
	CHECK(refused("kernels.p99 > .", true, 15, "a limit belongs here"));
	CHECK(refused("kernels.p99 > 5", true, 16, "p99_ns takes ns, us, ms or s"));
	CHECK(refused("kernels.p99 > +5", true, 17, "p99_ns takes ns, us, ms or s, or % of A"));
	CHECK(refused("kernels.p99 > 5%", true, 16, "% without a sign: a change is +5% or -5%"));
	CHECK(refused("kernels.p99 > 5 MiB", true, 17, "p99_ns takes ns, us, ms or s") &&
		refused("kernels.p99 > 5sec", true, 16, "'sec' is no unit"));
	CHECK(refused("kernels.count > 5ms", true, 18, "count takes a number without a unit"));
	CHECK(refused("memory.peak > 5ms", true, 16, "peak_bytes takes B, KiB") &&
		refused("copies.bytes > 5", true, 17, "bytes takes B, KiB"));
	CHECK(refused("gpu.busy_percent < 50", true, 22, "busy_percent takes %") &&
		refused("gpu.busy_percent < 2pp", true, 21, "pp is for a change"));
	CHECK(refused("gpu.busy_percent < -2", true, 22, "busy_percent takes pp, or % of A"));
	CHECK(refused("kernels.p99 > 5ms x", true, 19, "the gate ends before 'x'") &&
		refused("kernels.p99 > 5%%", true, 16, "% without a sign"));
	CHECK(refused("kernels.p99 > +5%%", true, 18, "the gate ends before '%'"));
	CHECK(refused("kernels.p99 > +5%", false, 15, "a change needs two files") &&
		refused("verdicts.slower > 0", false, 1, "compares two files"));
	CHECK(refused("verdicts.slower > +1", true, 19, "compares both files already"));
}

static void long_texts_are_refused_whole(void)
{
	char text[600];
	struct gt_err err = GT_ERR_INIT;
	struct gt_gate g;

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	CHECK_EQ(gt_gate_parse(&g, text, true, &err), -EINVAL);
	memcpy(text, "kernels.p99[", 12);
	strcpy(text + sizeof(text) - 8, "] > 5ms");
	err = (struct gt_err)GT_ERR_INIT;
	CHECK(gt_gate_parse(&g, text, true, &err) == -EINVAL &&
		strstr(err.text, "the pattern is too long"));
	snprintf(text, sizeof(text), "kernels.p99 > %0100d", 5);
	err = (struct gt_err)GT_ERR_INIT;
	CHECK(gt_gate_parse(&g, text, true, &err) == -EINVAL &&
		strstr(err.text, "a limit belongs here"));
}

/* Valid texts with a few bytes changed, removed or inserted: each is accepted, or refused with a
 * column within the text. */
static void any_text_is_read_or_refused(void)
{
	static const char *const good[] = { "kernels.p99[*gemm*] > +5%", "gpu.busy_percent<50%",
		"memory.peak >= 1.5MiB", "verdicts.slower != 0" };
	static const char letters[] = "kernls.p9[]*><=!+-%0123 mMiBsu_\t\x80";
	int read = 0, refusals = 0;

	srand(5);
	for (int i = 0; i < 100000; i++) {
		struct gt_err err = GT_ERR_INIT;
		struct gt_gate g;
		char text[64], *column;
		size_t len = strlen(strcpy(text, good[i % 4]));

		for (int k = rand() % 4; k > 0 && len; k--) {
			size_t at = (size_t)rand() % len;

			if (rand() % 3)
				text[at] = letters[(size_t)rand() % (sizeof(letters) - 1)];
			else
				memmove(text + at, text + at + 1, len-- - at);
		}
		if (!gt_gate_parse(&g, text, true, &err)) {
			read++;
			continue;
		}
		refusals++;
		column = strstr(err.text, "', column ");
		CHECK(column && atoi(column + 10) >= 1 && (size_t)atoi(column + 10) <= len + 1);
	}
	CHECK(read > 20000 && refusals > 20000);
}

/* ---- traces that pass ---- */

static const struct made before[] = { { LAUNCH, 100, 10000, 5 }, { COPY, 40, 20000, 2 },
	{ CONTEXT, 10, 3000, 1 }, { ALLOC, 4, 1000, 1 }, { 0, 0, 0, 0 } };
static const struct made after[] = { { LAUNCH, 100, 10500, 5 }, { COPY, 80, 10000, 2 },
	{ FREE, 3, 700, 0 }, { ALLOC, 8, 1000, 1 }, { 0, 0, 0, 0 } };

/* The state of one gate over the two traces; status: the exit status of the program. */
static bool state(const char *gate, const char *want, int status)
{
	int got = -1;
	json_t *j = compared(
		made_of(before), made_of(after), NULL, (const char *[]){ gate, NULL }, &got);
	bool fine = is(row(j, "gates", 0), "state", want) && got == status;

	if (!fine)
		printf("# %s: %s, %d: %s\n", gate,
			json_string_value(json_object_get(row(j, "gates", 0), "state")), got,
			json_string_value(json_object_get(row(j, "gates", 0), "why")));
	json_decref(j);
	return fine;
}
#define PASSES(gate) state(gate, "passed", GT_EXIT_CLEAN)
#define FAILS(gate) state(gate, "failed", GT_EXIT_FOUND)
#define UNKNOWN(gate) state(gate, "cannot answer", GT_EXIT_UNKNOWN)

static void changes_are_held_against_limits(void)
{
	/* cuLaunchKernel: 1000000 ns, then 1050000: 5 % to the last digit */
	CHECK(PASSES("names.total[cuLaunchKernel] > +5%") &&
		FAILS("names.total[cuLaunchKernel] >= +5%") &&
		FAILS("names.total[cuLaunchKernel] == +5%"));
	CHECK(PASSES("names.total[cuLaunchKernel] > +50us") &&
		FAILS("names.total[cuLaunchKernel] > +49.999us"));
	CHECK(FAILS("top.count > +99%") && PASSES("top.count > +100%") &&
		PASSES("top.count > +40") && FAILS("top.count > +39"));
	CHECK(FAILS("top.mean < -49%") && PASSES("top.mean < -50%"));
	CHECK(PASSES("top.count[cuLaunch*] != +0") && FAILS("top.count != +0"));
	CHECK(FAILS("memory.peak[device] > +50%") && PASSES("memory.peak > +4000B") &&
		FAILS("memory.peak > +3999B"));
	CHECK(FAILS("verdicts.slower > 0") && PASSES("verdicts.slower > 1") &&
		FAILS("verdicts.added == 1"));
}

static void values_are_those_of_b(void)
{
	CHECK(FAILS("top.count[cuMemcpy*] > 79") && PASSES("top.count[cuMemcpy*] > 80") &&
		PASSES("top.mean < 0.7us") && FAILS("top.mean < 701ns"));
	CHECK(FAILS("userspace.api_calls == 191") && PASSES("userspace.api_calls != 191") &&
		FAILS("userspace.kernel_launches <= 100"));
	CHECK(FAILS("top.count[copy] > 79")); /* a category also distinguishes rows */
}

static void what_is_not_there_is_no_pass(void)
{
	CHECK(UNKNOWN("kernels.p99 > +5%") && UNKNOWN("kernels.p99 > 5ms") &&
		UNKNOWN("gpu.busy_percent < 50%"));
	CHECK(UNKNOWN("top.mean[cuMemFree*] > +5%")); /* in B only */
	CHECK(UNKNOWN("top.mean[cuCtx*] > 5us"));     /* in A only */
	CHECK(UNKNOWN("top.mean[nonesuch] > 5us") && UNKNOWN("kernel_space.ioctl_calls > 5") &&
		UNKNOWN("kernel_space.ioctl_calls > +5%"));
	/* the search found none */
	CHECK(PASSES("errors.count > 0") && PASSES("errors.count > +0"));
	CHECK(PASSES("errors.count[cuMem*] > 0"));
}

/* A call that failed, in the one and in the other. */
static struct gt_reader *failing(int times, int32_t code)
{
	struct trace t;

	known(&t, true);
	for (int i = 0; i < times; i++)
		call(&t, 0, COPY, 20000 + i * 100, 20050 + i * 100, 0, code, 1, GT_DIR_HTOD);
	gt_writer_epoch(t.w, 30000, &t.err);
	return end(&t);
}

static void errors_that_were_not_there_count_from_none(void)
{
	int status = -1;
	json_t *j = compared(failing(0, 0), failing(3, 719), NULL,
		(const char *[]){ "errors.count > +0", "errors.count > +2",
			"errors.count[cuMemcpy*] > +3", NULL },
		&status);
	const json_t *g = row(j, "gates", 0);

	CHECK(is(g, "state", "failed") && num(g, "b") == 3 && absent(g, "a") &&
		num(g, "failed") == 1 && status == GT_EXIT_FOUND);
	CHECK(is(row(j, "gates", 1), "state", "failed") &&
		is(row(j, "gates", 2), "state", "passed"));
	json_decref(j);
	j = compared(failing(3, 719), failing(1, 719), NULL,
		(const char *[]){ "errors.count > +0", NULL }, &status);
	CHECK(is(row(j, "gates", 0), "state", "passed") && status == GT_EXIT_CLEAN &&
		num(row(j, "gates", 0), "rows") == 2);
	json_decref(j);
}

static void a_figure_of_one_file_only_cannot_be_compared(void)
{
	struct rp *p = malloc(sizeof(*p));
	const char *const gates[] = { "kernels.mean > +5%", "userspace.api_calls > +99999%",
		"kernels.mean[add] > 5ms", NULL };
	int status[2] = { -1, -1 };
	json_t *a = compared(made_of(before), rp_make(p, 3), NULL, gates, &status[0]);
	json_t *b = compared(rp_make(p, 3), made_of(before), NULL, gates, &status[1]);

	free(p);
	CHECK(is(row(a, "gates", 0), "state", "cannot answer") &&
		is(row(a, "gates", 0), "why", "GPU work was not recorded in A"));
	CHECK(is(row(b, "gates", 0), "state", "cannot answer") &&
		is(row(b, "gates", 0), "why", "GPU work was not recorded in B"));
	CHECK(is(row(a, "gates", 1), "state", "passed") &&
		is(row(a, "gates", 2), "state", "passed") &&
		is(row(b, "gates", 2), "state", "cannot answer"));
	CHECK(status[0] == GT_EXIT_UNKNOWN && status[1] == GT_EXIT_UNKNOWN);
	json_decref(a);
	json_decref(b);
}

/* A failed gate is more severe than one without an answer; rows name the worst gate and the
 * number of gates. */
static void the_worst_row_is_reported(void)
{
	int status = -1;
	json_t *j = compared(made_of(before), made_of(after), NULL,
		(const char *[]){ "top.count > +1%", "kernels.p99 > +5%", "top.mean < 20us",
			"top.mean[cuMem[A]*] > 5s", NULL },
		&status);
	const json_t *g = row(j, "gates", 0);

	CHECK(rows(j, "gates") == 4 && status == GT_EXIT_FOUND);
	CHECK(is(g, "row", "cuMemcpyHtoD_v2 / copy") && num(g, "a") == 40 && num(g, "b") == 80 &&
		num(g, "change_percent") == 100);
	CHECK(num(g, "rows") == 3 && num(g, "failed") == 2 && num(g, "in_one_only") == 2 &&
		is(g, "gate", "top.count > +1%"));
	g = row(j, "gates", 2);
	CHECK(is(g, "row", "cuMemFree_v2 / memory") && num(g, "b") == 700 &&
		num(g, "failed") == 4 && num(g, "rows") == 4);
	CHECK(is(row(j, "gates", 3), "state", "passed") && num(row(j, "gates", 3), "rows") == 1);
	json_decref(j);
}

static const struct gt_column advice_columns[] = { { "rule", "Rule", GT_C_WHOLE },
	{ "state", "Answer", GT_C_WHOLE }, { "gain_ns", "Win", GT_C_NS } };
static struct gt_side advised(const char *state, int64_t gain)
{
	struct gt_side s = { .n = 1 };

	s.tables[0] = gt_table_new("advice", NULL, advice_columns, 3);
	gt_table_add(
		s.tables[0], (struct gt_cell[]){ { .s = "a" }, { .s = "found" }, { .i = 10 } });
	gt_table_add(s.tables[0],
		(struct gt_cell[]){
			{ .s = "b" }, { .s = state }, { .absent = gain < 0, .i = gain } });
	return s;
}

static int advice_status(const char *gate, struct gt_side a, struct gt_side b)
{
	const char *texts[] = { gate };
	struct gt_opt_list list = { .items = texts, .n = 1 };
	struct gt_table *table = NULL;
	struct gt_gates g = { 0 };
	int status = gt_gates_parse(&g, &list, true, NULL);

	if (!status)
		status = gt_gates_check(&g, &a, &b, NULL, 0, &table, NULL);
	gt_table_free(table);
	gt_gates_release(&g);
	gt_side_release(&a);
	gt_side_release(&b);
	return status;
}

/* "Found", "clean" and "no answer" are three results: clean is 0, and a gate without an answer
 * does not pass. */
static void advice_has_three_states(void)
{
	CHECK(advice_status("advice.gain_ns > 20ns", advised("clean", -1), advised("clean", -1)) ==
		GT_EXIT_CLEAN);
	CHECK(advice_status("advice.gain_ns > 20ns", advised("clean", -1), advised("found", 21)) ==
		GT_EXIT_FOUND);
	CHECK(advice_status("advice.gain_ns > +20ns", advised("clean", -1), advised("found", 21)) ==
		GT_EXIT_FOUND);
	CHECK(advice_status("advice.gain_ns > +20ns", advised("found", 21), advised("clean", -1)) ==
		GT_EXIT_CLEAN);
	CHECK(advice_status("advice.gain_ns > 20ns", advised("clean", -1),
		      advised("cannot answer", -1)) == GT_EXIT_UNKNOWN);
	CHECK(advice_status("advice.gain_ns > 9ns", advised("clean", -1),
		      advised("cannot answer", -1)) == GT_EXIT_FOUND);
	CHECK(advice_status("advice.gain_ns[a] > 20ns", advised("clean", -1),
		      advised("cannot answer", -1)) == GT_EXIT_CLEAN);
	CHECK(advice_status("advice.gain_ns > +20ns", advised("cannot answer", -1),
		      advised("clean", -1)) == GT_EXIT_UNKNOWN);
}

/* Names are compared only if a report has names. */
static void verdicts_need_names(void)
{
	int status = -1;
	json_t *j = compared(made_of(before), made_of(after), (const char *[]){ "memory", NULL },
		(const char *[]){ "verdicts.slower > 0", NULL }, &status);

	CHECK(status == GT_EXIT_UNKNOWN &&
		strstr(json_string_value(json_object_get(row(j, "gates", 0), "why")),
			"this gate needs the comparison by name"));
	json_decref(j);
}

static void statuses_have_an_order(void)
{
	CHECK(gt_exit_worse(GT_EXIT_CLEAN, GT_EXIT_UNKNOWN) == GT_EXIT_UNKNOWN &&
		gt_exit_worse(GT_EXIT_FOUND, GT_EXIT_UNKNOWN) == GT_EXIT_FOUND);
	CHECK(gt_exit_worse(GT_EXIT_FOUND, GT_EXIT_FAILURE) == GT_EXIT_FAILURE &&
		gt_exit_worse(GT_EXIT_USAGE, GT_EXIT_FAILURE) == GT_EXIT_USAGE);
	CHECK_EQ(gt_exit_worse(GT_EXIT_CLEAN, GT_EXIT_CLEAN), GT_EXIT_CLEAN);
}

T_MAIN(T(gates_are_read), T(errors_point_at_the_place), T(long_texts_are_refused_whole),
	T(any_text_is_read_or_refused), T(changes_are_held_against_limits),
	T(values_are_those_of_b), T(what_is_not_there_is_no_pass),
	T(errors_that_were_not_there_count_from_none),
	T(a_figure_of_one_file_only_cannot_be_compared), T(the_worst_row_is_reported),
	T(advice_has_three_states), T(verdicts_need_names), T(statuses_have_an_order))
