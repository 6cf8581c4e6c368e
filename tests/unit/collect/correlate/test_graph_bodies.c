/* Work in the bodies of conditional graph nodes. The shapes are those of CUPTI 13.0's records on an
 * H100: a body's work has correlation id 0, the number of the graph's instance, and node numbers
 * behind those of the instance's own nodes. */
#define _GNU_SOURCE
#include "collect/correlate/gpu_correlate.h"
#include "tests/unit/collect/correlate/joins.h"

#define EXEC 4u /* the instance's number in CUPTI */
#define HANDLE 0xe4ull
#define STREAM 0x500ull
#define US 1000ll

static struct rows rows;

static struct gt_gpu_call call_of(
	struct join *j, const char *function, unsigned thread, int64_t start, uint64_t stream)
{
	return (struct gt_gpu_call){ .id = (uint16_t)gt_api_find(function),
		.track = j->thread[thread],
		.tid = (int32_t)thread + 1,
		.start = start,
		.end = start + 10 * US,
		.name = j->launch_name,
		.kernel = GT_NONE,
		.has_stream = true,
		.stream = stream };
}

static void launch(struct join *j, int64_t start, uint64_t handle, uint32_t correlation)
{
	struct gt_gpu_call c = call_of(j, "cuGraphLaunch", 0, start, STREAM);

	c.graph = handle;
	CHECK(!gt_gpu_call(j->g, &j->p, j->process, &c));
	record(j, 0, start + US, start + 9 * US, correlation, GRAPH_CBID);
}

static void wait_for(struct join *j, int64_t start, uint64_t stream)
{
	struct gt_gpu_call c = call_of(j, "cuStreamSynchronize", 0, start, stream);

	c.kind = GT_GPU_CALL_WAITS;
	c.wait = GT_GPU_WAIT_STREAM;
	CHECK(!gt_gpu_call(j->g, &j->p, j->process, &c));
}

static void instance(struct join *j, uint32_t number, uint64_t handle, int64_t when)
{
	CHECK(!gt_gpu_graph_cloned(&j->p, j->process, number, 1, handle, when));
}

static void body(struct join *j, int64_t start, uint32_t exec, uint32_t node)
{
	kernel_of(j, start, start + US, 0, node & 7 ? node & 7 : 1, 1, exec,
		(uint64_t)exec << 32 | node);
}

static void own(struct join *j, int64_t start, uint32_t correlation, uint32_t node)
{
	kernel_of(j, start, start + US, correlation, 1, 1, EXEC, (uint64_t)EXEC << 32 | node);
}

static void read_all(struct join *j, int64_t now, struct gt_gpu_totals *t)
{
	struct gt_reader *r = finish(j, now, t);

	rows.n = 0;
	CHECK(r != NULL);
	if (r)
		read_rows(r, &rows);
	gt_reader_close(r);
}

/* A loop of 7 rounds of 2 kernels and nothing else, waited for after each launch. */
static void a_graph_of_a_while_node_only(void)
{
	struct gt_gpu_totals t;
	unsigned wrong = 0;
	struct join j;

	begin(&j);
	instance(&j, EXEC, HANDLE, SECOND / 2);
	for (int64_t i = 0; i < 3; i++) {
		launch(&j, (i + 1) * SECOND, HANDLE, 10 + (uint32_t)i);
		wait_for(&j, (i + 1) * SECOND + 11 * US, STREAM);
	}
	for (int64_t i = 0; i < 3; i++)
		for (int64_t k = 0; k < 14; k++)
			body(&j, (i + 1) * SECOND + (3 + k) * US, EXEC, 3 + (k & 1));
	read_all(&j, 9 * SECOND, &t);
	CHECK(t.kernels == 42 && t.exact == 42 && !t.unjoined && !t.without_record && !t.inferred);
	for (size_t i = 0; i < rows.n; i++)
		wrong += rows.r[i].launch_start != (int64_t)(1 + i / 14) * SECOND ||
			rows.r[i].join != GT_JOIN_CORRELATION ||
			rows.r[i].correlation != 10 + i / 14;
	CHECK(rows.n == 42 && !wrong);
}

/* Launched three times without a wait: a kernel, a loop, a kernel. The loop's work is found as soon
 * as the kernels are known. */
static void between_nodes_of_its_own(void)
{
	struct gt_gpu_totals t;
	struct join j;

	begin(&j);
	instance(&j, EXEC, HANDLE, SECOND / 2);
	for (int64_t i = 0; i < 3; i++)
		launch(&j, SECOND + i * 20 * US, HANDLE, 10 + (uint32_t)i);
	for (int64_t i = 0; i < 3; i++) {
		own(&j, SECOND + (100 + i * 10) * US, 10 + (uint32_t)i, 0);
		own(&j, SECOND + (107 + i * 10) * US, 10 + (uint32_t)i, 2);
	}
	for (int64_t i = 0; i < 3; i++)
		for (int64_t k = 0; k < 4; k++)
			body(&j, SECOND + (102 + i * 10 + k) * US, EXEC, 3 + (k & 1));
	settle(&j, SECOND + 1000 * US, false);
	CHECK_EQ(gt_gpu_totals(j.g)->exact, 18);
	read_all(&j, 9 * SECOND, &t);
	CHECK(t.kernels == 18 && t.exact == 18 && !t.without_record);
	for (size_t i = 0; i < rows.n; i++)
		CHECK(rows.r[i].launch_start == SECOND + (int64_t)(i / 6) * 20 * US);
}

/* The loop comes before the only kernel. Work between two of these kernels may be of either launch.
 * The first launch shows that the loop comes first. */
static void before_the_nodes_of_its_own(void)
{
	struct gt_gpu_totals t;
	struct join j;

	begin(&j);
	instance(&j, EXEC, HANDLE, SECOND / 2);
	for (int64_t i = 0; i < 3; i++)
		launch(&j, SECOND + i * 20 * US, HANDLE, 10 + (uint32_t)i);
	for (int64_t i = 0; i < 3; i++) {
		body(&j, SECOND + (100 + i * 10) * US, EXEC, 3);
		own(&j, SECOND + (107 + i * 10) * US, 10 + (uint32_t)i, 1);
	}
	read_all(&j, 9 * SECOND, &t);
	CHECK(t.kernels == 6 && t.exact == 4 && t.inferred == 2 && !t.without_record);
	for (size_t i = 0; i < rows.n; i++)
		CHECK(rows.r[i].launch_start == SECOND + (int64_t)(i / 2) * 20 * US);
}

/* The work before and after a launch in its stream limits the time of the launch's work. */
static void between_other_work_of_its_stream(void)
{
	struct gt_gpu_totals t;
	struct join j;

	begin(&j);
	instance(&j, EXEC, HANDLE, SECOND / 2);
	for (int64_t i = 0; i < 3; i++) {
		struct gt_gpu_call plain =
			call_of(&j, "cuLaunchKernel", 0, SECOND + (i * 40 + 20) * US, STREAM);

		launch(&j, SECOND + i * 40 * US, HANDLE, 10 + (uint32_t)i);
		CHECK(!gt_gpu_call(j.g, &j.p, j.process, &plain));
		record(&j, 0, plain.start + US, plain.end - US, 20 + (uint32_t)i, LAUNCH_CBID);
		kernel(&j, SECOND + (205 + i * 10) * US, SECOND + (206 + i * 10) * US,
			20 + (uint32_t)i, 1, 10);
		body(&j, SECOND + (202 + i * 10) * US, EXEC, 3);
	}
	read_all(&j, 9 * SECOND, &t);
	CHECK(t.kernels == 6 && t.exact == 6 && !t.without_record);
	for (size_t i = 0; i < rows.n; i++)
		CHECK(rows.r[i].launch_start ==
			SECOND + (int64_t)(i / 2) * 40 * US + (i % 2 ? 20 * US : 0));
}

/* The launches cannot be distinguished: the work is joined to the first one, and the join is
 * marked as likely only. */
static void launches_that_nothing_distinguishes(void)
{
	struct gt_gpu_totals t;
	struct join j;

	begin(&j);
	instance(&j, EXEC, HANDLE, SECOND / 2);
	launch(&j, SECOND, HANDLE, 10);
	launch(&j, SECOND + 20 * US, HANDLE, 11);
	for (int64_t i = 0; i < 4; i++)
		body(&j, SECOND + (100 + i) * US, EXEC, 3);
	read_all(&j, 9 * SECOND, &t);
	CHECK(t.kernels == 4 && t.inferred == 4 && !t.exact && t.without_record == 1);
	CHECK(rows.n == 4 && rows.r[3].launch_start == SECOND && rows.r[3].join == GT_JOIN_ORDER);
}

/* Of an instance that no call launched (another kernel did), and of a handle that is used again. */
static void the_right_instance(void)
{
	struct gt_gpu_totals t;
	struct join j;

	begin(&j);
	instance(&j, EXEC, HANDLE, SECOND / 2);
	launch(&j, SECOND, HANDLE, 10);
	wait_for(&j, SECOND + 11 * US, STREAM);
	body(&j, SECOND + 5 * US, EXEC, 3);
	body(&j, SECOND + 6 * US, 99, 3);
	settle(&j, SECOND + 30 * US, false);
	instance(&j, 7, HANDLE, 2 * SECOND);
	launch(&j, 3 * SECOND, HANDLE, 11);
	body(&j, 3 * SECOND + 20 * US, 7, 3);
	read_all(&j, 9 * SECOND, &t);
	CHECK(t.kernels == 3 && t.exact == 2 && t.unjoined == 1 && !t.without_record);
	CHECK(rows.n == 3 && rows.r[0].launch_start == SECOND &&
		rows.r[1].join == GT_JOIN_UNKNOWN && rows.r[2].launch_start == 3 * SECOND);
}

/* The instance was made before recording began: CUPTI's number of it is learnt from work of its own
 * nodes, or nothing contradicts it. */
static void an_instance_of_before(void)
{
	struct gt_gpu_totals t;
	struct join j;

	begin(&j);
	launch(&j, SECOND, HANDLE, 10);
	own(&j, SECOND + 15 * US, 10, 0);
	body(&j, SECOND + 17 * US, EXEC, 3);
	launch(&j, 2 * SECOND, HANDLE + 16, 11);
	body(&j, 2 * SECOND + 17 * US, 8, 3);
	read_all(&j, 9 * SECOND, &t);
	CHECK(t.kernels == 3 && !t.unjoined && !t.without_record);
	CHECK(rows.n == 3 && rows.r[1].launch_start == SECOND &&
		rows.r[2].launch_start == 2 * SECOND);
}

/* The call that created a node is found by the node's number in the graph; the numbers of nodes
 * in bodies differ. */
static void no_creation_of_another_node(void)
{
	struct gt_gpu_cause by = { GT_JOIN_CORRELATION, 0, 0, 77, 5, 0 };
	struct gt_filter f = { .kinds = GT_BIT(GT_GPU) };
	struct gt_gpu_totals t;
	struct gt_reader *r;
	struct gt_event ev;
	struct gt_iter *it;
	struct join j;
	unsigned n = 0;

	begin(&j);
	by.track = j.thread[0];
	by.name = j.launch_name;
	instance(&j, EXEC, HANDLE, SECOND / 2);
	CHECK(!gt_gpu_node_created(&j.p, j.process, 1ull << 32 | 3, &by, NULL));
	launch(&j, SECOND, HANDLE, 10);
	body(&j, SECOND + 15 * US, EXEC, 3);
	r = finish(&j, 9 * SECOND, &t);
	for (it = r ? gt_iter_open(r, &f, NULL) : NULL; it && gt_iter_next(it, &ev, NULL) == 1; n++)
		CHECK(role(&ev, GT_R_CREATED_BY_TRACK) == GT_NONE ||
			role(&ev, GT_R_CREATED_BY_TRACK) == UINT64_MAX);
	CHECK_EQ(n, 1);
	gt_iter_close(it);
	gt_reader_close(r);
}

/* As many launches as in several hours: memory is limited, and the last launches are known. */
static void launches_without_end(void)
{
	struct gt_gpu_totals t;
	struct join j;

	begin(&j);
	instance(&j, EXEC, HANDLE, SECOND / 2);
	for (int64_t i = 0; i < 60000; i++) {
		launch(&j, SECOND + i * 40 * US, HANDLE, 10 + (uint32_t)i);
		wait_for(&j, SECOND + (i * 40 + 11) * US, STREAM);
		body(&j, SECOND + (i * 40 + 15) * US, EXEC, 3);
		if (i % 4096 == 0)
			settle(&j, SECOND + i * 40 * US, false);
	}
	read_all(&j, 9 * SECOND, &t);
	CHECK(t.kernels == 60000 && t.exact == 60000 && !t.without_record);
}

T_MAIN(T(a_graph_of_a_while_node_only), T(between_nodes_of_its_own), T(before_the_nodes_of_its_own),
	T(between_other_work_of_its_stream), T(launches_that_nothing_distinguishes),
	T(the_right_instance), T(an_instance_of_before), T(no_creation_of_another_node),
	T(launches_without_end))
