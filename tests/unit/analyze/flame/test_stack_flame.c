/* Flame graphs by call stack: their lines are known, and add up to the figures of the reports. */
#define _GNU_SOURCE /* memfd_create */
#include "analyze/flame/stack_flame.h"
#include "tests/unit/analyze/idle/host_program.h"
#include "tests/unit/analyze/stacks/by_stack_reports.h"

#define PYTHON "python3 (100);"
#define MAIN_LINE "main (app/train.py:9);"
#define STEP MAIN_LINE "step (app/train.py:88);"
#define GEMM STEP "at::gemm<float> (libtorch.so)"
#define LOAD MAIN_LINE MAIN_LINE "load (app/data.py:12)"
#define LIBPYTHON " (libpython3.11.so.1.0);"

/* new: the output of an exporter; closes the reader. err: why there is none. */
static char *flame_of(struct gt_reader *r, enum gt_stack_flame_kind kind,
	const struct gt_exporter *exporter, const struct gt_filter *filter, struct gt_err *err)
{
	struct gt_export_options opt = { .cost = GT_COST_TIME };
	struct gt_stack_tree tree;
	struct gt_out out;
	char *text = NULL;

	*err = (struct gt_err)GT_ERR_INIT;
	opt.tree = &tree;
	gt_out_memory(&out);
	if (!gt_stack_flame_run(&tree, kind, r, filter, NULL, err) &&
		!exporter->export(r, &opt, &out, err))
		text = strndup(out.data, out.len);
	gt_stack_tree_release(&tree);
	gt_out_close(&out, NULL);
	gt_reader_close(r);
	return text;
}

static char *folded_of(struct gt_reader *r, enum gt_stack_flame_kind kind)
{
	struct gt_err err;
	char *text = flame_of(r, kind, &gt_export_folded, &(struct gt_filter){ 0 }, &err);

	if (!text)
		gt_err_print("test", NULL, &err);
	return text ? text : strdup("");
}

static struct gt_reader *host_program(bool samples, bool waits)
{
	struct host_program h = { .p = { .fd = -1 } };

	host_begin(&h, samples, waits);
	host_gap(&h, samples, waits);
	return stack_program_end(&h.p);
}

static struct gt_reader *memory_program(void)
{
	struct stack_program p = { .fd = -1 };

	stack_program_begin_at(&p, memfd_create("trace", 0));
	stack_program_rows(&p);
	stack_program_memory(&p);
	return stack_program_end(&p);
}

/* The sum of the numbers of all lines. */
static long long sum_of(const char *text)
{
	long long sum = 0;

	for (const char *end; (end = strchr(text, '\n')); text = end + 1)
		sum += atoll((const char *)memrchr(text, ' ', (size_t)(end - text)));
	return sum;
}

static long long column_sum(json_t *report, const char *table, const char *key)
{
	long long sum = 0;

	for (size_t i = 0; i < rows(report, table); i++)
		sum += (long long)num(row(report, table, i), key);
	json_decref(report);
	return sum;
}

static void host_time(void)
{
	char *text = folded_of(host_program(true, true), GT_STACK_FLAME_HOST);

	CHECK_STR(text,
		"host;" PYTHON "main (100);(no stack recorded) 1000\n"
		"host;" PYTHON "main (100);[futex] 300\n"
		"host;" PYTHON "main (100);[sleep] 400\n"
		"host;" PYTHON "main (100);" LOAD " 2000\n"
		"host;" PYTHON "main (100);" LOAD ";[io] 2000\n"
		"host;" PYTHON "main (100);" STEP "PyThread_acquire_lock_timed" LIBPYTHON
		"sem_clockwait (libc.so.6);[futex] 200\n"
		"host;" PYTHON "main (100);" GEMM " 5000\n"
		"host;" PYTHON "main (100);" STEP "take_gil.lto_priv.0" LIBPYTHON
		"pthread_cond_timedwait (libc.so.6);[gil] 1000\n"
		"host;" PYTHON
		"worker (101);(truncated);start_thread (libc.so.6);worker (libworker.so) 1000\n");
	free(text);
	/* running time is the host time of the report */
	text = folded_of(host_program(true, false), GT_STACK_FLAME_HOST);
	CHECK_EQ(sum_of(text),
		column_sum(
			by_stack(host_program(true, false), "host", "thread"), "host", "host_ns"));
	free(text);
}

static void idle_time(void)
{
	for (unsigned which = 0; which < 4; which++) {
		bool samples = which & 1, waits = which & 2;
		char *text = folded_of(host_program(samples, waits), GT_STACK_FLAME_IDLE);

		CHECK_EQ(sum_of(text),
			column_sum(by_stack(host_program(samples, waits), "host", NULL), "host",
				"idle_ns"));
		free(text);
	}
}

static void idle_time_has_stacks(void)
{
	static const char *const lines[] = { "main (100);" LOAD " 2400\n",
		"main (100);" LOAD ";[waiting for input or output] 2000\n",
		"main (100);[running, without a stack] 1200\n", "main (100);" GEMM " 2400\n",
		";[waiting for the GIL] 1000\n", "main (100);[asleep] 400\n",
		"GPU idle;[launched, not started] 50\n" };
	char *text = folded_of(host_program(true, true), GT_STACK_FLAME_IDLE);

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		CHECK(strstr(text, lines[i]));
		if (!strstr(text, lines[i]))
			printf("# no %s# in:\n%s", lines[i], text);
	}
	CHECK_EQ(sum_of(text), 10000);
	free(text);
}

static void kernel_time(void)
{
	char *text = folded_of(stack_program(), GT_STACK_FLAME_KERNEL);
	struct gt_err err;

	CHECK_STR(text,
		"kernel time;" PYTHON "(no stack recorded);add 7\n"
		"kernel time;" PYTHON
		"(truncated);start_thread (libc.so.6);worker (libworker.so);add 50\n"
		"kernel time;" PYTHON LOAD ";mul 2000\n"
		"kernel time;" PYTHON GEMM ";add 200\n"
		"kernel time;" PYTHON GEMM ";mul 100\n");
	CHECK_EQ(sum_of(text),
		column_sum(by_stack(stack_program(), "kernels", "line"), "kernels_by", "total_ns"));
	free(text);
	/* only the time within a range */
	text = flame_of(stack_program(), GT_STACK_FLAME_KERNEL, &gt_export_folded,
		&(struct gt_filter){ .ranged = true, .from = 11500, .to = 12500 }, &err);
	CHECK_STR(text, "kernel time;" PYTHON LOAD ";mul 500\n");
	free(text);
}

static void memory_at_the_peak(void)
{
	char *text = folded_of(memory_program(), GT_STACK_FLAME_MEMORY);

	CHECK_STR(text,
		"memory at the peak;" PYTHON "(no stack recorded) 64\n"
		"memory at the peak;" PYTHON LOAD " 5500\n"
		"memory at the peak;" PYTHON GEMM " 4000\n");
	CHECK_EQ(sum_of(text),
		column_sum(by_stack(memory_program(), "memory", "line"), "memory_by", "bytes"));
	free(text);
}

/* The image has the unit, and says which part is statistical. */
static void titles(void)
{
	struct gt_err err;
	char *text = flame_of(host_program(true, true), GT_STACK_FLAME_HOST, &gt_export_flame,
		&(struct gt_filter){ 0 }, &err);

	CHECK(strstr(text, "by stack, in ns</text>") &&
		strstr(text, "by 9 samples, statistical; waits [in brackets]: exact</text>"));
	free(text);
	text = flame_of(memory_program(), GT_STACK_FLAME_MEMORY, &gt_export_flame,
		&(struct gt_filter){ 0 }, &err);
	CHECK(strstr(text, "in bytes</text>") && strstr(text, "5500 bytes, 57.51 %"));
	free(text);
}

static void without_data(void)
{
	static const char *const why[] = { "gtcollect -e samples", "gtcollect -e samples",
		"gtcollect --stacks", "gtcollect --stacks" };

	for (unsigned i = 0; i < GT_STACK_FLAMES; i++) {
		struct stack_program p = { .fd = -1, .without_stacks = true };
		struct gt_err err;

		stack_program_begin_at(&p, memfd_create("trace", 0));
		stack_row(&p, GT_CALL, p.thread[0], p.plain, 50, 54, 0, NULL);
		CHECK(!flame_of(stack_program_end(&p), (enum gt_stack_flame_kind)i,
			&gt_export_folded, &(struct gt_filter){ 0 }, &err));
		CHECK_EQ(err.code, -ENODATA);
		if (i != GT_STACK_FLAME_IDLE)
			CHECK(strstr(err.text, why[i]));
	}
}

static void without_allocations(void)
{
	struct gt_err err;

	CHECK(!flame_of(stack_program(), GT_STACK_FLAME_MEMORY, &gt_export_folded,
		&(struct gt_filter){ 0 }, &err));
	CHECK_EQ(err.code, -ENODATA);
	CHECK(strstr(err.text, "cannot answer: no allocations were recorded"));
}

T_MAIN(T(host_time), T(idle_time), T(idle_time_has_stacks), T(kernel_time), T(memory_at_the_peak),
	T(titles), T(without_data), T(without_allocations))
