/* The simulated CUPTI's settings and its faults: records that it refuses, drops, delays or
 * reorders. */
#define _GNU_SOURCE
#include "tests/unit/samples/on_cupti.h"

static void call_back(void *user, unsigned domain, uint32_t cbid, const void *data)
{
	(void)user, (void)domain, (void)cbid, (void)data;
}

/* If calls are enabled late, one by one, their records never come; if the whole kind is enabled
 * late, they come. As seen on an H200. */
static void late_calls(bool kind)
{
	CUmodule m = start();

	OK(kind ? enable_call(CBID_LAUNCH) : cuptiActivityEnableDriverApi(CBID_LAUNCH, 1));
	spin(m, NULL, 1);
	flush();
	FINE();
	CHECK(count(KIND_CONCURRENT_KERNEL) == 1 && count(KIND_DRIVER) == kind);
	if (!kind)
		return;
	OK(cuptiActivityDisable(KIND_DRIVER));
	OK(cuptiActivityEnableDriverApi(CBID_LAUNCH, 1));
	spin(m, NULL, 1);
	flush();
	CHECK(count(KIND_CONCURRENT_KERNEL) == 2 && count(KIND_DRIVER) == 1);
}

static void calls_asked_for_late_never_come(void) { late_calls(false); }
static void but_for_all_of_them(void) { late_calls(true); }

static void fail_fails_each_entry_point(void)
{
	void *handle;
	uint32_t v;

	load();
	CHECK(cuptiActivityEnable(KIND_MEMSET) == 0 && cuptiActivityEnable(KIND_MEMSET) == 999 &&
		cuptiActivityEnable(KIND_MEMSET) == 999);
	CHECK(cuptiSubscribe(&handle, call_back, NULL) == 39 && cuptiGetVersion(&v) == 15 &&
		!cuptiSetThreadIdType(1));
	CHECK(cuptiActivityRegisterCallbacks(request, completed) == 7 &&
		cuptiActivityFlushAll(0) == 8);
}

static void taken_refuses_a_subscriber_and_nothing_else(void)
{
	CUmodule m = start();
	void *handle;

	CHECK_EQ(cuptiSubscribe(&handle, call_back, NULL), 39);
	spin(m, NULL, 1);
	flush();
	CHECK_EQ(count(KIND_CONCURRENT_KERNEL), 1);
}

static void drop_drops_and_counts(void)
{
	CUmodule m = start();
	size_t n;

	for (int i = 0; i < 10; i++)
		spin(m, NULL, 1);
	flush();
	OK(cuptiActivityGetNumDroppedRecords(NULL, 0, &n));
	CHECK(n == 3 && count(KIND_CONCURRENT_KERNEL) == 7);
}

static void late_records_hold_their_buffer(void)
{
	CUmodule m = start();

	spin(m, NULL, 1);
	flush();
	CHECK(!returned); /* half a minute late */
	OK(cuptiActivityFlushAll(1));
	CHECK(returned == 1 && nth(KIND_CONCURRENT_KERNEL, 0)->kernel.end);
}

static void a_little_late_is_not_never(void)
{
	CUmodule m = start();

	spin(m, NULL, 1);
	OK(cuCtxSynchronize());
	for (int i = 0; i < 50000 && !returned; i++) {
		usleep(1000);
		OK(cuptiActivityFlushAll(0));
	}
	CHECK(returned == 1 && nth(KIND_CONCURRENT_KERNEL, 0)->kernel.end);
}

static void shuffled_records_are_all_there(void)
{
	CUmodule m = start();
	unsigned long long sum = 0, inversions = 0;

	for (unsigned i = 1; i <= 20; i++)
		spin(m, NULL, i);
	flush();
	FINE();
	CHECK_EQ(count(KIND_CONCURRENT_KERNEL), 20);
	for (size_t i = 0; i < 20; i++) {
		sum |= 1ull << nth(KIND_CONCURRENT_KERNEL, i)->kernel.grid[0];
		inversions += i &&
			nth(KIND_CONCURRENT_KERNEL, i)->kernel.correlation <
				nth(KIND_CONCURRENT_KERNEL, i - 1)->kernel.correlation;
	}
	CHECK(sum == 0x1ffffe && inversions);
}

static void bad_times_are_of_both_sorts(void)
{
	CUmodule m = start();
	unsigned zero = 0, backward = 0;

	for (int i = 0; i < 8; i++)
		spin(m, NULL, 1);
	flush();
	for (size_t i = 0; i < count(KIND_CONCURRENT_KERNEL); i++) {
		const struct cupti_kernel *k = &nth(KIND_CONCURRENT_KERNEL, i)->kernel;

		zero += !k->start && !k->end;
		backward += k->end < k->start;
	}
	CHECK(zero == 2 && backward == 2 && count(KIND_CONCURRENT_KERNEL) == 8);
}

static void an_old_version_has_old_records(void)
{
	CUmodule m = start();
	uint32_t v;

	CHECK(!cuptiGetVersion(&v) && v == 18 &&
		cuptiActivityEnableDriverApi(CBID_LAUNCH, 1) == CUPTI_NOT_SUPPORTED);
	buffer_size = 2 * 208;
	spin(m, NULL, 1);
	spin(m, NULL, 2);
	flush();
	FINE();
	CHECK(returned == 1 && count(KIND_CONCURRENT_KERNEL) == 2 &&
		nth(KIND_CONCURRENT_KERNEL, 1)->kernel.grid[0] == 2);
}

static void the_truth_is_what_the_records_say(void)
{
	unsigned correlation, stream, device, grid, lines = 0, context, graph;
	unsigned long long from, to, bytes, node;
	char path[64], line[4096], kind[16], name[3100];
	CUmodule m = start();
	CUgraphExec exec;
	CUdeviceptr x;
	CUstream s;
	FILE *f;

	OK(cuStreamCreate(&s, 1));
	exec = two_nodes(m, s);
	OK(cuMemAlloc_v2(&x, 4096));
	OK(cuMemsetD8Async(x, 1, 77, s));
	spin(m, s, 3);
	OK(cuGraphLaunch(exec, s));
	flush();
	OK(cuGraphExecDestroy(exec));
	snprintf(path, sizeof(path), "truth.%d", (int)getpid());
	CHECK((f = fopen(path, "r")));
	while (fgets(line, sizeof(line), f)) {
		CHECK(sscanf(line,
			      "%u %15s %3099s %u %u %llu %llu %u,%*u,%*u %*u,%*u,%*u %llu %u %u %llu",
			      &correlation, kind, name, &stream, &device, &from, &to, &grid, &bytes,
			      &context, &graph, &node) == 12);
		for (size_t i = 0; i < seen_n && strcmp(kind, "sync"); i++) {
			const struct cupti_kernel *k = &seen[i].kernel;
			const struct cupti_memset *set = &seen[i].set;

			lines += k->kind == KIND_CONCURRENT_KERNEL &&
				k->correlation == correlation && k->node == node &&
				k->start == from && k->end == to && k->grid[0] == (int)grid &&
				k->stream == stream && !strcmp(k->name, name) && k->graph == graph;
			lines += set->kind == KIND_MEMSET && set->correlation == correlation &&
				set->start == from && set->end == to && set->bytes == bytes &&
				!strcmp(kind, "set") && !strcmp(name, "3:1");
		}
	}
	fclose(f);
	unlink(path);
	CHECK(lines == 4 && count(KIND_CONCURRENT_KERNEL) == 3 && count(KIND_MEMSET) == 1);
}

static const struct one all[] = {
	ONE(calls_asked_for_late_never_come),
	ONE(but_for_all_of_them),
	ONE(fail_fails_each_entry_point,
		"SIM_CUPTI_FAIL=cuptiActivityEnable@2:999,cuptiSubscribe:39,cuptiGetVersion:15,"
		"cuptiActivityRegisterCallbacks:7,cuptiActivityFlushAll:8"),
	ONE(taken_refuses_a_subscriber_and_nothing_else, "SIM_CUPTI_TAKEN=1"),
	ONE(drop_drops_and_counts, "SIM_CUPTI_DROP=3"),
	ONE(late_records_hold_their_buffer, "SIM_CUPTI_LATE_MS=30000"),
	ONE(a_little_late_is_not_never, "SIM_CUPTI_LATE_MS=5"),
	ONE(shuffled_records_are_all_there, "SIM_CUPTI_SHUFFLE=1"),
	ONE(bad_times_are_of_both_sorts, "SIM_CUPTI_BAD=2"),
	ONE(an_old_version_has_old_records, "SIM_CUPTI_VERSION=18"),
	ONE(the_truth_is_what_the_records_say, "SIM_CUPTI_TRUTH=truth.%p", "SIM_CUPTI_BAD=0"),
};

int main(int argc, char **argv)
{
	return run_all(all, sizeof(all) / sizeof(*all), __FILE__, argc, argv);
}
