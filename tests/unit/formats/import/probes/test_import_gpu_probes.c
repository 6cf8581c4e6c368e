/* The output of parcagpu's and bpftime's programs through gt_open_any, as every tool sees it. */
#define _GNU_SOURCE
#include "tests/unit/formats/import/imported.h"

#define HEADER                                                                                     \
	"Attaching 9 probes...\n"                                                                  \
	"Monitoring CUDA activity via parcagpu USDT probes...\n"                                   \
	"TIME                 DURATION_NS  CORR_ID    DEVICE     STREAM     GRAPH      NODE       START      KERNEL\n"

static bool has_metadata(const char *text)
{
	struct gt_reader *r = gt_open_any(path, NULL);
	bool has = r && strstr(gt_reader_segment(r, 0)->meta_json, text);

	if (r && !has)
		fprintf(stderr, "metadata: %s\n", gt_reader_segment(r, 0)->meta_json);
	gt_reader_close(r);
	return has;
}

static void kernels_of_parcagpu(void)
{
	CHECK(lists(HEADER
		"10:15:30    .123401 [CORR] 42: cbid=211 cudaLaunchKernel_v7000\n"
		"10:15:30    .123500 [ACT_BATCH] count=3 ptrs=0x7f00\n"
		"10:15:30    .123456 10240        42         0          7          0          0          1790000000000000000 _Z4gemmPf\n"
		"Lost 5 events\n"
		"10:15:30    .123999 2048         65578      1          8          3          99         1790000000000020000 void k<int, float>(int)\n"
		"10:15:31    .5      [ERROR] code=3 component=x msg=y\n"
		"\nMonitoring complete.\n",
		"G 0/7 _Z4gemmPf 1790000000000000000+10240 d0 r0 correlation=42 call='cudaLaunchKernel_v7000' "
		"launch_track=4294967295 launch_start=1790000000000000000 launch_ns=0 launch_name='?' launch_join=0\n"
		"L 0/0 ? 1790000000000000000+20000 d0 r0\n"
		"G 1/8 void k<int, float>(int) 1790000000000020000+2048 d0 r0 correlation=65578 graph=3 node=99 "
		"launch_track=4294967295 launch_start=1790000000000020000 launch_ns=0 launch_name='?' launch_join=0\n"));
	CHECK(has_metadata("\"lines_skipped\":6"));
}

/* Four lines for each kernel and three for each graph. */
static void the_first_version_of_parcagpu(void)
{
	CHECK(lists("Monitoring parcagpu USDT probes...\n\n"
		    "[4711] Graph executed:\n"
		    "  start=1790000000000000000, end=1790000000000050000, duration=50000 ns\n"
		    "  correlationId=41, deviceId=0, streamId=7, graphId=3\n"
		    "[4711] Kernel executed:\n"
		    "  start=1790000000000060000, end=1790000000000070240, duration=10240 ns\n"
		    "  correlationId=42, deviceId=1, streamId=7\n"
		    "  name=_Z4gemmPf\n"
		    "=== Summary ===\n",
		"G 0/7 graph 1790000000000000000+50000 d0 r0 correlation=41 graph=3 "
		"launch_track=4294967295 launch_start=1790000000000000000 launch_ns=0 launch_name='?' launch_join=0\n"
		"G 1/7 _Z4gemmPf 1790000000000060000+10240 d0 r0 correlation=42 "
		"launch_track=4294967295 launch_start=1790000000000060000 launch_ns=0 launch_name='?' launch_join=0\n"));
	CHECK(has_metadata("\"lines_skipped\":2"));
}

static void damaged_lines_of_parcagpu(void)
{
	/* a time of 0, an end before 2^64, a number that is none, a cut line, no name */
	CHECK(lists(HEADER "10:15:30    .1 10 1 0 7 0 0 0 a\n"
			   "10:15:30    .1 18446744073709551615 1 0 7 0 0 18446744073709551615 a\n"
			   "10:15:30    .1 99999999999999999999 1 0 7 0 0 5 a\n"
			   "10:15:30    .1 10 1 0 x 0 0 5 a\n"
			   "10:15:30    .1 10 1 0 7 0 0 5\n"
			   "  name=x\n"
			   "10:15:30    .1 10 1 0 7 0 0 5 ",
		"G 0/7 ? 5+10 d0 r0 correlation=1 launch_track=4294967295 launch_start=5 launch_ns=0 launch_name='?' launch_join=0\n"));
	CHECK(has_metadata("\"lines_skipped\":9") && has_metadata("\"truncated\":true"));
	CHECK(!open_bytes("kernel: name=x   corr=5  dev=0 stream=7 graph=0 duration=10ns\n", 62) &&
		strstr(err.text, "without times") && err.code == -EILSEQ);
}

static void blocks_and_threads_of_bpftime(void)
{
	CHECK(lists(
		"Entered _Z9vectorAddPKfS0_Pf x=0, ts=1749147474550023136\n"
		"Exited (with tsp) _Z9vectorAddPKfS0_Pf x=4 duration=6437888 tsp=1749147474550023136ns\n"
		"C[0] = 0 (expected 0)\n"
		"[kernel_trace] ts=1749147474560023136 block=(2,0,0) thread=(1,0,3)\n"
		"[kernel_trace] total events: 1\n"
		"Thread (1, 0, 0) timestamp: 1749147474560024136\n"
		"10:15:30 \n\tpid=4711  \tcalls: 40\n",
		"G 0/0 _Z9vectorAddPKfS0_Pf 1749147474550023136+6437888 d0 r0 block_x=4 "
		"launch_track=4294967295 launch_start=1749147474550023136 launch_ns=0 launch_name='?' launch_join=0\n"
		"I 0/0 thread enters the kernel 1749147474560023136+0 d0 r0 block_x=2 block_y=0 block_z=0 thread_x=1 thread_y=0 thread_z=3\n"
		"I 0/0 thread leaves the kernel 1749147474560024136+0 d0 r0 thread_x=1 thread_y=0 thread_z=0\n"));
	/* two lines of the program, and two of another clock */
	CHECK(has_metadata("\"lines_skipped\":4") && has_metadata("\"kernels_are_blocks\":1"));
}

static void counters_of_bpftime(void)
{
	CHECK(lists("23:59:59 \n\tpid=4711  \tcalls: 40\nThread 3: 7\n"
		    "00:00:00 \n\tpid=4711  \tcalls: 40\nThread 3: 9\n"
		    "\n00:00:01  Launch Latency Distribution:\n"
		    "latency         : count    distribution\n"
		    "1-10us          : 12       |****\n"
		    "Total samples: 12\ncounter[0]=5\n",
		"N 0/4711 calls 86399000000000+0 d0 r0 value=40\n"
		"N 0/0 calls of thread 3 86399000000000+0 d0 r0 value=7\n"
		"N 0/0 calls of thread 3 86400000000000+0 d0 r0 value=9\n"
		"N 0/0 launch latency 1-10us 86401000000000+0 d0 r0 value=12\n"));
	CHECK(has_metadata("\"lines_skipped\":3"));
}

/* Each midnight is a day later, but no time is too large for a trace. */
static void midnights_of_bpftime(void)
{
	struct gt_buf b = { 0 };
	struct gt_reader *r;

	gt_buf_str(&b, "23:59:59 \n\tpid=4711  \tcalls: 39\n");
	for (unsigned i = 0; i < 110000; i++)
		gt_buf_str(&b, "23:59:59 \n00:00:00 \n");
	gt_buf_str(&b, "\tpid=4711  \tcalls: 40\n");
	r = open_bytes(b.data, b.len);
	CHECK(r && gt_reader_segment(r, 0)->rows[GT_COUNTER] == 2);
	CHECK(!has_metadata("\"lines_skipped\":0,"));
	gt_reader_close(r);
	gt_buf_release(&b);
}

static void damaged_lines_of_bpftime(void)
{
	CHECK(lists(
		"Thread (1, 0\n10:15:30 \nThread (x\n\tpid=1 \tcalls: 7\n"
		"Exited (with tsp) k x=0 duration=99999999999999999999 tsp=5ns\n"
		"Exited (with tsp) k x=0 duration=18446744073709551615 tsp=5ns\n1-10us : 12 |*\n",
		"N 0/1 calls 36930000000000+0 d0 r0 value=7\n"));
	CHECK(has_metadata("\"lines_skipped\":5"));
}

/* A line of any length needs no more memory, and is one line. */
static void a_long_line(void)
{
	struct gt_buf b = { 0 };
	struct gt_reader *r;

	gt_buf_str(&b, HEADER "10:15:30    .1 10 1 0 7 0 0 5 ");
	for (unsigned i = 0; i < 1u << 20; i++)
		gt_buf_str(&b, "name");
	gt_buf_str(&b, "\n10:15:30    .1 10 1 0 7 0 0 6 b\n");
	r = open_bytes(b.data, b.len);
	CHECK(r && gt_reader_segment(r, 0)->rows[GT_GPU] == 2);
	gt_reader_close(r);
	gt_buf_release(&b);
}

T_MAIN(T(the_beginning), T(kernels_of_parcagpu), T(the_first_version_of_parcagpu),
	T(damaged_lines_of_parcagpu), T(blocks_and_threads_of_bpftime), T(counters_of_bpftime),
	T(midnights_of_bpftime), T(damaged_lines_of_bpftime), T(a_long_line), T(the_end))
