/* PyTorch's Chrome JSON: which row each kind of event becomes, which events are joined, and how
 * unusual files are handled. */
#define _GNU_SOURCE
#include <jansson.h>
#include <math.h>
#include <unistd.h>
#include <zlib.h>
#include "tests/unit/formats/import/imported.h"
#include "tests/unit/formats/import/kineto_text.h"

#define JOINED(track, start, ns, name, join)                                                       \
	"context=1 launch_track=" track " launch_start=" start " launch_ns=" ns                    \
	" launch_name='" name "' launch_join=" join
#define FIELDS(id, track, start, ns, name, join)                                                   \
	"correlation=" id " " JOINED(track, start, ns, name, join)
#define SHAPE                                                                                      \
	" grid_x=2 grid_y=3 grid_z=4 block_x=5 block_y=6 block_z=7 shared_static=0 shared_dynamic=9 registers=18"

/* ---- rows of events ---- */

static void a_kernel_and_its_call(void)
{
	static const char kernel[] = "G 0/7 stream 7 gemm 4000001+991 d0 r0 " FIELDS(
		"5", "1", "2000000", "1500", "cudaLaunchKernel", "1") SHAPE "\n";
	static const char call[] =
		"C 10/11 cudaLaunchKernel 2000000+1500 d0 r0 correlation=5 kernel='gemm'\n";
	char both[1000];

	snprintf(both, sizeof(both), "%s%s", call, kernel);
	CHECK(lists(HEAD RUNTIME("cudaLaunchKernel", "5", "2000", "1.5") "," KERNEL(
			    "gemm", "5", "4000.001", "0.991") "]}",
		both));
	CHECK(lists(HEAD KERNEL("gemm", "5", "4000.001", "0.991") "," RUNTIME(
			    "cudaLaunchKernel", "5", "2000", "1.5") "]}",
		both));
	CHECK(lists("[" KERNEL("gemm", "5", "4000.001", "0.991") ",\n" RUNTIME(
			    "cudaLaunchKernel", "5", "2000.000", "1.500") "]",
		both));
	CHECK(meta_says("\"gpu_joined_exact\":1,") && meta_says("\"gpu_unjoined\":0,") &&
		meta_says("\"truncated\":false"));
	CHECK(meta_says("\"phases_not_read\":{}"));
}

static const struct gt_type *type_named(struct gt_reader *r, const char *name)
{
	const struct gt_segment *seg = gt_reader_segment(r, 0);

	for (uint32_t i = 0; i < seg->ntypes; i++)
		if (!strcmp(gt_type_name(seg, i), name))
			return &seg->types[i];
	abort();
}

static void types_say_what_they_do(void)
{
	static const char text[] = HEAD RUNTIME("cudaLaunchKernelExC", "1", "1", "1") "," RUNTIME(
		"cudaMemcpyAsync", "2", "3", "1") "," RUNTIME("cudaMalloc", "3", "5",
		"1") "," DRIVER("cuStreamSynchronize", "4", "7", "1") "," KERNEL("k", "1", "9",
		"1") "," X("cpu_op", "aten::mm", "10", "11", "0", "20", "") "]}";
	struct gt_reader *r = open_bytes(text, strlen(text));
	const struct gt_type *t;

	CHECK(r);
	t = type_named(r, "cudaLaunchKernelExC");
	CHECK(t->layer == GT_LAYER_API && t->category == GT_CAT_LAUNCH && t->op == GT_OP_LAUNCH &&
		t->fields[0].role == GT_R_CORRELATION && t->fields[1].role == GT_R_KERNEL);
	t = type_named(r, "cudaMemcpyAsync");
	CHECK(t->layer == GT_LAYER_API && t->category == GT_CAT_COPY && t->op == GT_OP_COPY);
	t = type_named(r, "cudaMalloc");
	CHECK(t->op == GT_OP_ALLOC && t->memkind == GT_MEM_DEVICE);
	t = type_named(r, "cuStreamSynchronize");
	CHECK(t->layer == GT_LAYER_API && t->op == GT_OP_SYNC && t->category == GT_CAT_SYNC);
	t = type_named(r, "k");
	CHECK(t->layer == GT_LAYER_GPU && t->category == GT_CAT_KERNEL && t->op == GT_OP_LAUNCH);
	t = type_named(r, "aten::mm");
	CHECK(t->layer == GT_LAYER_USER && t->category == GT_CAT_USER && t->op == GT_OP_NONE);
	gt_reader_close(r);
}

#define COPY(name, id, more)                                                                       \
	X("gpu_memcpy", name, "0", "7", "5", "1",                                                  \
		PLACE "\"correlation\":" id ",\"bytes\":4096" more)

static void copies_and_sets(void)
{
	CHECK(lists(HEAD RUNTIME("cudaMemcpyAsync", "1", "1", "1") "," COPY(
			    "Memcpy HtoD (Pageable -> Device)", "1", "") "]}",
		"C 10/11 cudaMemcpyAsync 1000+1000 d0 r0 correlation=1\n"
		"G 0/7 stream 7 memcpy HtoD (pageable -> device) 5000+1000 d0 r0 " FIELDS("1", "1",
			"1000", "1000", "cudaMemcpyAsync",
			"1") " bytes=4096 direction=1 src_memory='pageable' dst_memory='device' async=true\n"));
	CHECK(lists(HEAD COPY("Memcpy DtoH (Device -> Pinned)", "1", "") "," RUNTIME(
			    "cudaMemcpy", "1", "1", "1") "]}",
		"C 10/11 cudaMemcpy 1000+1000 d0 r0 correlation=1\n"
		"G 0/7 stream 7 memcpy DtoH (device -> pinned) 5000+1000 d0 r0 " FIELDS("1", "1",
			"1000", "1000", "cudaMemcpy",
			"1") " bytes=4096 direction=2 src_memory='device' dst_memory='pinned' async=false\n"));
	CHECK(strstr(list_text(HEAD COPY("Memcpy PtoP (Device -> Device)", "1",
			     ",\"fromDevice\":0,\"inDevice\":0,\"toDevice\":3") "]}"),
		" bytes=4096 direction=5 src_memory='device' dst_memory='device' src_device=0 dst_device=3\n"));
	CHECK(strstr(list_text(HEAD COPY("Memcpy DtoD (Device -> Device)", "1",
			     ",\"fromDevice\":0,\"inDevice\":0,\"toDevice\":3") "]}"),
		" bytes=4096 direction=5 src_memory='device' dst_memory='device'"));
	CHECK(strstr(list_text(HEAD COPY("Memcpy DtoD (Device -> Device)", "1",
			     ",\"fromDevice\":3,\"toDevice\":3") "]}"),
		" bytes=4096 direction=3 src_memory='device' dst_memory='device'"));
	CHECK(strstr(list_text(HEAD COPY("Memcpy HtoA (Managed Static -> Array)", "1", "") "]}"),
		"direction=1 src_memory='managed static' dst_memory='array'"));
	CHECK(strstr(list_text(HEAD COPY("Memcpy", "1", "") "]}"),
		"direction=0 src_memory='unknown' dst_memory='unknown'"));
	CHECK(strstr(list_text(HEAD X("gpu_memset", "Memset (Device)", "0", "7", "5", "1",
			     PLACE "\"correlation\":1,\"bytes\":64") "]}"),
		"memset (device) 5000+1000 d0 r0 correlation=1 context=1 launch_track=4294967295 launch_start=5000 launch_ns=0 "
		"launch_name='?' launch_join=0 bytes=64 dst_memory='device'\n"));
}

static void graphs(void)
{
#define NODE(name, ts, node)                                                                       \
	X("kernel", name, "0", "7", ts, "1",                                                       \
		PLACE "\"correlation\":3,\"graph id\":2,\"graph node id\":" node)
	const char *got =
		list_text(HEAD NODE("a", "10", "8589934592") "," RUNTIME("cudaGraphLaunch", "3",
			"1", "2") "," NODE("b", "12", "8589934593") "," NODE("c", "14", "7") "]}");

	CHECK(strstr(got,
		"a 10000+1000 d0 r0 " FIELDS("3", "1", "1000", "2000", "cudaGraphLaunch",
			"1") " graph=2 node=8589934592 made_track"));
	CHECK(strstr(got,
		"b 12000+1000 d0 r0 " FIELDS("3", "1", "1000", "2000", "cudaGraphLaunch",
			"1") " graph=2 node=8589934593 made_track"));
	CHECK(strstr(got,
		"c 14000+1000 d0 r0 " FIELDS("3", "1", "1000", "2000", "cudaGraphLaunch",
			"1") " graph=2 node=7 made_track"));
}

static void waits(void)
{
#define WAIT(name, tid, more)                                                                      \
	X("cuda_sync", name, "0", tid, "5", "2", "\"cuda_sync_kind\":\"x\",\"context\":1" more)
	CHECK(strstr(list_text(HEAD RUNTIME("cudaStreamSynchronize", "4", "4", "4") "," WAIT(
			     "Stream Sync", "1000007",
			     ",\"device\":0,\"stream\":7,"
			     "\"correlation\":4") "]}"),
		"S 0/7 stream 7 wait for stream 4000+4000 d0 r0 " FIELDS(
			"4", "1", "4000", "4000", "cudaStreamSynchronize", "1")));
	CHECK(strstr(list_text(HEAD RUNTIME("cudaStreamSynchronize", "4", "6", "4") "," WAIT(
			     "Stream Sync", "7", ",\"device\":0,\"correlation\":4") "]}"),
		"wait for stream 5000+2000 d0 r0")); /* is not within it */
	CHECK(strstr(list_text(HEAD RUNTIME("cudaStreamWaitEvent", "4", "4", "4") "," WAIT(
			     "Stream Wait Event", "7", ",\"correlation\":4") "]}"),
		"stream waits for event 5000+2000 d0 r0"));
	CHECK(strstr(list_text(HEAD WAIT("Stream Sync", "1000007", "") "]}"),
		"S 0/7 stream 7 wait for stream 5000"));
	CHECK(strstr(list_text(HEAD WAIT(
			     "Stream Wait Event", "7", ",\"wait_on_cuda_event_id\":77") "]}"),
		"stream waits for event 5000"));
	CHECK(strstr((char *)listing.data, "event=0x4d\n"));
	CHECK(strstr(list_text(HEAD WAIT("Event Sync", "7", "") "]}"),
		"S 0/7 stream 7 wait for event 5000"));
	CHECK(strstr(list_text(HEAD WAIT(
			     "Context Sync", "-1", ",\"device\":0,\"stream\":4294967295") "]}"),
		"S 0/0 GPU 0 wait for context 5000"));
	CHECK(strstr(
		list_text(HEAD WAIT("Context Sync", "-1", ",\"device\":-1,\"stream\":-1") "]}"),
		"S 0/0 wait for context 5000"));
}

static void ranges_and_moments(void)
{
	CHECK(lists(
		HEAD X("user_annotation", "step", "10", "11", "1", "10", "\"External id\":5") "," X(
			"cpu_op", "aten::mm", "10", "11", "2", "3",
			"\"Input Dims\":[[1,2],[]],\"x\":{\"y\":\"}\"}") "," X("python_function",
			"f.py(3): g", "10", "12", "3", "1", "") "," X("cpu_op", "aten::add", "10",
			"11", "5", "2", "") "," X("gpu_user_annotation", "step", "0", "7", "4", "1",
			"") ","
			    "{\"ph\":\"i\",\"s\":\"t\",\"name\":\"[memory]\",\"cat\":\"cpu_instant_event\",\"pid\":10,\"tid\":11,\"ts\":6,\"args\":{\"Bytes\":4}},"
			    "{\"ph\":\"i\",\"s\":\"g\",\"name\":\"Record Window End\",\"pid\":\"\",\"tid\":\"\",\"ts\":99.5},"
			    "{\"ph\":\"i\",\"s\":\"g\",\"name\":\"Iteration Start\",\"pid\":\"Traces\",\"tid\":\"Trace x\",\"ts\":9}," X(
				    "Trace", "PyTorch Profiler (0)", "\"Spans\"",
				    "\"PyTorch Profiler\"", "0.5", "20", "\"Op count\":0") "]}",
		"S 10/11 step 1000+10000 d0 r0 category='user_annotation'\nS 10/11 aten::mm 2000+3000 d1 r0 category='cpu_op' Input Dims='[[1,2],[]]'\n"
		"S 10/12 f.py(3): g 3000+1000 d0 r0 category='python_function'\nS 10/11 aten::add 5000+2000 d1 r0 category='cpu_op'\n"
		"I 10/11 [memory] 6000+0 d0 r0 category='cpu_instant_event'\nI 0/0 Traces Iteration Start 9000+0 d0 r0 category='?'\n"));
	CHECK(meta_says("\"gpu_ranges_left_out\":1") &&
		meta_says("\"profiler_start_ns\":500,\"profiler_ns\":20000,"
			  "\"profiler_window_end_ns\":99500"));
}

static void counters(void)
{
	CHECK(lists(HEAD
		"{\"ph\":\"C\",\"name\":\"load\",\"pid\":10,\"ts\":1,\"args\":{\"value\":0.5}},"
		"{\"ph\":\"C\",\"name\":\"mem\",\"pid\":10,\"ts\":2,\"args\":{\"free\":7,\"used\":-1e3,\"word\":\"x\"}}]}",
		"N 0/10 load 1000+0 d0 r0 value=0.5\nN 0/10 mem free 2000+0 d0 r0 value=7\nN 0/10 mem used 2000+0 d0 r0 value=-1000\n"));
}

static void overhead(void)
{
	static const char *const kinds[][2] = {
		{ "Activity Buffer Flush", "CUPTI buffer flush" },
		{ "Instrumentation", "CUPTI instrumentation" },
		{ "Resource", "CUPTI resource" },
		{ "Runtime Triggered Module Loading", "module loading by the runtime" },
		{ "Command Buffer Full", "command buffer full" },
		{ "Unified Memory Activity Start", "CUPTI unified memory start" },
		{ "CUPTI Compiler", "compiler" },
		{ "Something new", "overhead" },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		char text[300], want[100];

		snprintf(text, sizeof(text), HEAD X("overhead", "%s", "-1", "0", "1", "2", "") "]}",
			kinds[i][0]);
		snprintf(want, sizeof(want), " %s 1000+2000 ", kinds[i][1]);
		CHECK(strstr(list_text(text), want) || !printf("# %s", (char *)listing.data));
	}
	CHECK(lists(HEAD X("overhead", "Activity Buffer Request", "-1", "0", "1", "2", "") "," X(
			    "cpu_op", "a", "10", "11", "1", "9", "") "," X("overhead",
			    "Lazy Function Loading", "-1", "0", "5", "2", "") "]}",
		"S 0/10 CUPTI buffer request 1000+2000 d0 r0 thread=0\nS 10/11 a 1000+9000 d0 r0 category='cpu_op'\n"
		"S 0/10 lazy function loading 5000+2000 d0 r0 thread=0\n"));
}

static void names_before_and_after(void)
{
#define NAMED(what, pid, tid, name)                                                                \
	"{\"name\":\"" what "\",\"ph\":\"M\",\"ts\":1,\"pid\":" pid ",\"tid\":" tid                \
	",\"args\":{\"name\":\"" name "\"}}"
	struct gt_reader *r;
	const struct gt_segment *seg;

	CHECK(lists(
		HEAD NAMED("process_name", "10", "0", "python3") "," X("cpu_op", "a", "10", "11",
			"1", "1",
			"") "," X("cpu_op", "b", "10", "12", "2", "1", "") "," NAMED("thread_name",
			"10", "11", "thread 11 (worker)") "," NAMED("thread_name", "10", "12",
			"plain") "," NAMED("process_name", "0", "0",
			"python3") ","
				   "{\"name\":\"process_labels\",\"ph\":\"M\",\"pid\":10,\"tid\":0,\"args\":{\"labels\":\"CPU\"}}," NAMED(
					   "thread_name", "0", "7", "stream 7 ") "]}",
		"S 10/11 worker a 1000+1000 d0 r0 category='cpu_op'\nS 10/12 plain b 2000+1000 d0 r0 category='cpu_op'\n"));
	r = again();
	seg = gt_reader_segment(r, 0);
	/* and nothing for what only has a name */
	CHECK(seg->ntracks == 3 && !strcmp(gt_str(seg, seg->tracks[0].name), "python3"));
	gt_reader_close(r);
}

/* ---- calls within calls ---- */

static void a_launch_within_a_launch_is_one(void)
{
	struct gt_reader *r;
	struct gt_iter *it;
	struct gt_event ev;
	unsigned launches = 0;

	CHECK(lists(HEAD DRIVER("cuLaunchKernel", "6", "2", "1") "," RUNTIME("cudaLaunchKernel",
			    "5", "1",
			    "3") "," DRIVER("cuLaunchKernel", "7", "9", "1") "," RUNTIME("cudaFree",
			    "8", "11", "9") "," DRIVER("cuLaunchKernel", "9", "12", "1") "]}",
		"C 10/11 cudaLaunchKernel 1000+3000 d0 r0 correlation=5 kernel='?'\n"
		"C 10/11 cuLaunchKernel 2000+1000 d1 r0 correlation=6 kernel='?'\n"
		"C 10/11 cuLaunchKernel 9000+1000 d0 r0 correlation=7 kernel='?'\nC 10/11 cudaFree 11000+9000 d0 r0 correlation=8\n"
		"C 10/11 cuLaunchKernel 12000+1000 d1 r0 correlation=9 kernel='?'\n"));
	r = again();
	it = gt_iter_open(r, &(struct gt_filter){ 0 }, NULL);
	while (gt_iter_next(it, &ev, NULL) > 0)
		launches += ev.seg->types[ev.row.type].op == GT_OP_LAUNCH;
	CHECK_EQ(launches, 3);
	gt_iter_close(it);
	gt_reader_close(r);
}

static void what_does_not_nest_is_a_span(void)
{
	CHECK(lists(HEAD RUNTIME("cudaA", "1", "1", "10") "," RUNTIME("cudaB", "2", "5",
			    "10") "," RUNTIME("cudaC", "3", "11", "2") "," RUNTIME("cudaD", "4",
			    "11", "0") "," RUNTIME("cudaE", "5", "11", "0") "]}",
		"C 10/11 cudaA 1000+10000 d0 r0 correlation=1\nS 10/11 cudaB 5000+10000 d0 r0 correlation=2\n"
		"C 10/11 cudaC 11000+2000 d0 r0 correlation=3\nC 10/11 cudaD 11000+0 d1 r0 correlation=4\n"
		"C 10/11 cudaE 11000+0 d1 r0 correlation=5\n"));
	CHECK(meta_says("\"calls_not_nested\":1"));
}

/* Any file of calls that nest is the same trace, however disordered (test_import_kineto_order.c has
 * more). */
static void calls_come_in_any_order(void)
{
	struct gt_buf b = { 0 };
	struct gt_reader *r;

	gt_buf_str(&b, HEAD);
	for (unsigned i = 0; i < 6400; i++) {
		unsigned n = i / 64 * 64 + i * 37 % 64; /* each 64 in another order */

		gt_buf_printf(&b,
			"%s{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaFree\",\"pid\":1,\"tid\":1,\"ts\":%u,\"dur\":%u,"
			"\"args\":{\"cbid\":1,\"correlation\":%u}}",
			i ? "," : "", n * 10 + n % 2, n % 2 ? 4u : 15u, n + 1);
	}
	gt_buf_str(&b, "," RUNTIME("cudaLate", "7000", "1", "1"));
	for (unsigned i = 0; i < 200; i++)
		gt_buf_str(&b,
			",{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaFree\",\"pid\":10,\"tid\":11,\"ts\":9,\"dur\":0,\"args\":{\"cbid\":1}}");
	gt_buf_str(&b, "," RUNTIME("cudaTooLate", "7001", "1", "1") "]}");
	r = open_bytes(b.data, b.len);
	gt_buf_release(&b);
	CHECK(r && gt_reader_segment(r, 0)->rows[GT_CALL] == 6400 + 202 &&
		!gt_reader_segment(r, 0)->rows[GT_SPAN]);
	gt_reader_close(r);
	CHECK(meta_says("\"calls_not_nested\":0"));
}

/* PyTorch 1.8 and 1.9 quote the threads of events, but not those of arrows and names. */
static void numbers_in_quotes_are_numbers(void)
{
	CHECK(lists(
		HEAD X("Operator", "ProfilerStep#5", "10", "\"11\"", "1", "9",
			"\"Device\":10") "," X("Kernel", "k", "0", "\"stream 7\"", "4", "1",
			"\"device\":0,\"stream\":7,\"correlation\":5,\"grid\":[2,3,4],\"block\":[5,6,7]") "," X("Runtime",
			"cudaLaunchKernel", "\"10\"", "\"11\"", "2", "1",
			"\"cbid\":211,\"correlation\":5") ",{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":10,\"tid\":\"11\",\"args\":{\"name\":\"main\"}}]}",
		"S 10/11 main ProfilerStep#5 1000+9000 d0 r0 category='Operator'\n"
		"C 10/11 main cudaLaunchKernel 2000+1000 d0 r0 correlation=5 kernel='k'\n"
		"G 0/7 stream 7 k 4000+1000 d0 r0 correlation=5 launch_track=1 launch_start=2000 launch_ns=1000 "
		"launch_name='cudaLaunchKernel' launch_join=1 grid_x=2 grid_y=3 grid_z=4 block_x=5 block_y=6 "
		"block_z=7\n"));
	CHECK(strstr(list_text(HEAD X("Operator", "a", "10", "\"-12\"", "1", "9", "") "]}"),
		"S 10/-12 a "));
	CHECK(strstr(list_text(HEAD X("Operator", "a", "10", "\"012\"", "1", "9", "") "]}"),
		" 012 a 1000"));
	CHECK(strstr(list_text(HEAD X("Operator", "a", "10", "\"1.5\"", "1", "9", "") "]}"),
		" 1.5 a 1000"));
	CHECK(strstr(
		list_text(HEAD X("Operator", "a", "10", "\"-\"", "1", "9", "") "]}"), " - a 1000"));
	CHECK(strstr(list_text(HEAD X(
			     "Operator", "a", "10", "\"99999999999999999999\"", "1", "9", "") "]}"),
		" 99999999999999999999 a 1000"));
}

/* A thread that has no number is one nevertheless: its calls are calls, by time, and launch work.
 */
static void words_name_threads(void)
{
	struct gt_reader *r;

	list_text(HEAD X("cuda_runtime", "cudaFree", "10", "\"main thread (1)\"", "8", "1",
		"\"cbid\":211,\"correlation\":6") "," X("cuda_runtime", "cudaLaunchKernel", "10",
		"\"main thread (1)\"", "2", "1", "\"cbid\":211,\"correlation\":5") "," X("cpu_op",
		"a", "10", "\"main thread (1)\"", "1", "9",
		"") "," X("cuda_runtime", "cudaFree", "20", "\"main thread (1)\"", "9", "1",
		"\"cbid\":211") "," KERNEL("k", "5", "4", "1") "]}");
	CHECK(strstr((char *)listing.data,
		" main thread (1) cudaLaunchKernel 2000+1000 d0 r0 correlation=5 kernel='k'\n"));
	CHECK(strstr((char *)listing.data, " main thread (1) a 1000+9000 d0 r0"));
	CHECK(strstr((char *)listing.data, "k 4000+1000 d0 r0 correlation=5"));
	CHECK(strstr((char *)listing.data, "launch_name='cudaLaunchKernel' launch_join=1 "));
	CHECK(meta_says("\"gpu_unjoined\":0,") && meta_says("\"calls_not_nested\":0,"));
	r = again();
	CHECK(r && gt_reader_segment(r, 0)->ntracks >= 4);
	gt_reader_close(r);
}

/* ---- the join ---- */

static void work_without_a_call(void)
{
	CHECK(lists(
		HEAD KERNEL("k", "5", "4", "1") "," X("cpu_op", "a", "10", "11", "1", "1", "") "]}",
		"S 10/11 a 1000+1000 d0 r0 category='cpu_op'\nG 0/7 stream 7 k 4000+1000 d0 r0 " FIELDS(
			"5", "4294967295", "4000", "0", "?", "0") SHAPE "\n"));
	CHECK(meta_says("\"gpu_unjoined\":1,"));
	CHECK(lists(HEAD KERNEL("k", "5", "4", "1") "]}",
		"G 0/7 stream 7 k 4000+1000 d0 r0 " FIELDS("5", "4294967295", "4000", "0", "?", "0")
			SHAPE "\n"));
}

#define BARE(name, ts)                                                                             \
	X("kernel", name, "0", "7", ts, "1", "\"device\":0,\"stream\":7,\"context\":1")
#define ARROW(ph, id, pid, tid, ts)                                                                \
	"{\"ph\":\"" ph "\",\"id\":" id ",\"pid\":" pid ",\"tid\":" tid ",\"ts\":" ts              \
	",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"bp\":\"e\"}"

static void arrows_join_what_has_no_id(void)
{
	const char *got = list_text(HEAD RUNTIME("cudaLaunchKernel", "5", "1", "2") "," BARE(
		"a", "4") "," ARROW("s", "5", "10", "11", "1") "," ARROW("f", "5", "0", "7",
		"4") "," BARE("b", "6") "," ARROW("f", "9", "0", "7", "6") "]}");

	CHECK(strstr(
		got, "a 4000+1000 d0 r0 " JOINED("1", "1000", "2000", "cudaLaunchKernel", "1")));
	CHECK(strstr(got, "b 6000+1000 d0 r0 " JOINED("4294967295", "6000", "0", "?", "0")));
	/* ours: calls have no id, arrows begin and end 1 ns inside */
	got = list_text(HEAD X("launch", "cuLaunchKernel", "10", "11", "1", "2", "\"ret\":3") "," X(
		"kernel", "k", "10000000", "7", "4", "1",
		PLACE
		"\"correlation\":8,\"launch_ns\":2000,\"launch_join\":\"inferred\"") "," ARROW("s",
		"\"0:1\"", "10", "11",
		"1.001") "," ARROW("f", "\"0:1\"", "10000000", "7", "4.001") "]}");
	CHECK(strstr(got, "C 10/11 cuLaunchKernel 1000+2000 d0 r3 kernel='k'\n"));
	CHECK(strstr(got,
		"G 0/7 stream 7 k 4000+1000 d0 r0 " FIELDS(
			"8", "1", "1000", "2000", "cuLaunchKernel", "2")));
	CHECK(meta_says("\"gpu_joined_inferred\":1"));
}

/* The work of two processes is assigned to the process whose call launched it. */
static void work_belongs_to_its_calls_process(void)
{
	struct gt_reader *r;
	const struct gt_segment *seg;

	list_text(HEAD X("cuda_runtime", "cudaLaunchKernel", "1", "1", "1", "1",
		"\"cbid\":1,\"correlation\":5") "," X("cuda_runtime", "cudaLaunchKernel", "2", "2",
		"1", "1", "\"cbid\":1,\"correlation\":6") "," KERNEL("a", "6", "4",
		"1") "," X("kernel", "b", "9", "7", "4", "1",
		"\"device\":9,\"stream\":7,\"correlation\":5") "," KERNEL("whose", "77", "9",
		"1") "]}"); /* that of device 0's other work */
	r = again();
	seg = gt_reader_segment(r, 0);
	CHECK(seg->ntracks == 9 && seg->tracks[6].id == 7 && gt_track_process(seg, 6) == 2 &&
		gt_track_process(seg, 8) == 0);
	gt_reader_close(r);
}

/* Streams with one number in two contexts are two streams; work without a context is on the
 * device's own stream. */
static void contexts_have_streams_of_their_own(void)
{
#define IN(context, ts) X("kernel", "k", "0", "7", ts, "1", "\"device\":0," context "\"stream\":7")
	static const int64_t want[] = { 1, 2, 0, 1 };
	struct gt_iter *it;
	struct gt_reader *r;
	struct gt_event ev;
	uint32_t on[4] = { 0 };
	unsigned n = 0;

	list_text(HEAD IN("\"context\":1,", "1") "," IN("\"context\":2,", "2") "," IN(
		"", "3") "," IN("\"context\":1,", "4") "]}");
	r = again();
	it = gt_iter_open(r, &(struct gt_filter){ .kinds = GT_BIT(GT_GPU) }, NULL);
	for (; n < 4 && gt_iter_next(it, &ev, NULL) > 0; n++) {
		uint32_t context = gt_track_context(ev.seg, ev.track);

		CHECK(ev.seg->tracks[ev.track].kind == GT_TRACK_STREAM &&
			ev.seg->tracks[ev.track].id == 7);
		CHECK(want[n] ? ev.seg->tracks[context].id == want[n] : context == GT_NONE);
		on[n] = ev.track;
		CHECK(gt_track_device(ev.seg, on[n]) == gt_track_device(ev.seg, on[0]));
	}
	CHECK(n == 4 && on[3] == on[0] && on[1] != on[0] && on[2] != on[0] && on[2] != on[1]);
	gt_iter_close(it);
	gt_reader_close(r);
}

static struct gt_reader *many(unsigned kernels, bool calls_first, bool same_id)
{
	struct gt_buf b = { 0 };
	struct gt_reader *r;

	gt_buf_str(&b, HEAD);
	for (unsigned half = 0; half < 2; half++)
		for (unsigned i = 0; i < kernels; i++) {
			unsigned id = same_id ? 1 : i + 1;

			if (half == calls_first)
				gt_buf_printf(&b,
					"%s{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":%u.5,\"dur\":0.25,"
					"\"args\":{\"device\":0,\"stream\":7,\"correlation\":%u,\"grid\":[1,1,1]}}\n",
					half + i ? "," : "", i, id);
			else
				gt_buf_printf(&b,
					"%s{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 1, \"tid\": 1, "
					"\"ts\": %u, \"dur\": 0.25, \"args\": {\"cbid\": 211, \"correlation\": %u}}\n",
					half + i ? "," : "", i, id);
		}
	gt_buf_str(&b, "]}");
	r = open_bytes(b.data, b.len);
	gt_buf_release(&b);
	return r;
}

/* At any distance no event is lost, and unjoined events are reported. The tables hold 65,536 GPU
 * operations and 524,288 calls. */
static void far_apart(void)
{
	struct gt_reader *r = many(70000, false, false);

	CHECK(r && gt_reader_segment(r, 0)->rows[GT_GPU] == 70000 &&
		gt_reader_segment(r, 0)->rows[GT_CALL] == 70000);
	gt_reader_close(r);
	CHECK(meta_says("\"gpu_joined_exact\":65536,") && meta_says("\"gpu_unjoined\":4464,"));
	r = many(70000, true, false);
	CHECK(r && gt_reader_segment(r, 0)->rows[GT_GPU] == 70000 &&
		gt_reader_segment(r, 0)->rows[GT_CALL] == 70000);
	gt_reader_close(r);
	CHECK(meta_says("\"gpu_joined_exact\":70000,") && meta_says("\"gpu_unjoined\":0,"));
	/* one id for all events, as in no real file, takes no more time */
	r = many(30000, false, true);
	CHECK(r && gt_reader_segment(r, 0)->rows[GT_GPU] == 30000);
	gt_reader_close(r);
}

/* ---- documents ---- */

static void metadata_on_both_sides(void)
{
	static const char text[] =
		"{\"deviceProperties\":[{\"id\":0,\"name\":\"NVIDIA H200\",\"sub\":{\"name\":\"no\"}},{\"name\":\"A \\\"B\\\"\"}],"
		"\"cuda_driver_version\":12040,\"traceEvents\":[" X("cpu_op", "a", "1", "1",
			"1000000", "1",
			"") "],"
			    "\"baseTimeNanoseconds\":1700000000000000000,\"distributedInfo\":{\"rank\":3,\"pg\":[\"x\",{}]},\"traceName\":\"t.json\","
			    "\"huge\":123456789012345678901234567890,\"large\":1e999,\"no\":null,\"twice\":1,\"yes\":true,\"twice\":{\"a\":1,\"a\":2}}";
	struct gt_reader *r;
	const struct gt_segment *seg;

	CHECK(lists(text, "S 1/1 a 1000000000+1000 d0 r0 category='cpu_op'\n"));
	CHECK(meta_says("\"gpus\":[{\"model\":\"NVIDIA H200\"},{\"model\":\"A \\\"B\\\"\"}]") &&
		meta_says("\"cuda_version\":\"12.4\""));
	CHECK(meta_says("\"distributedInfo\":{\"rank\":3,\"pg\":[\"x\",{}]}") &&
		meta_says("\"traceName\":\"t.json\""));
	CHECK(meta_says(
		"\"huge\":\"123456789012345678901234567890\",\"large\":\"1e999\",\"no\":null,\"twice\":{\"a\":2},\"yes\":true"));
	CHECK(meta_says("\"start_utc\":\"2023-11-14T22:13:21Z\""));
	r = again();
	seg = gt_reader_segment(r, 0);
	CHECK(seg->nanchors == 1 && seg->anchors[0].monotonic == 1000000000 &&
		seg->anchors[0].realtime == 1700000001000000000);
	gt_reader_close(r);
}

static void much_metadata_is_left_out(void)
{
	struct gt_buf b = { 0 };
	struct gt_reader *r;

	gt_buf_str(&b, "{\"deviceProperties\":[],\"small\":1,\"big\":[0");
	for (unsigned i = 0; i < 100000; i++)
		gt_buf_printf(&b, ",%u", i);
	gt_buf_str(&b, "],\"deep\":");
	for (unsigned i = 0; i < 100; i++)
		gt_buf_str(&b, "[");
	for (unsigned i = 0; i < 100; i++)
		gt_buf_str(&b, "]");
	gt_buf_str(&b, ",\"after\":2,\"traceEvents\":[]}");
	r = open_bytes(b.data, b.len);
	gt_buf_release(&b);
	CHECK(r);
	CHECK(strstr(gt_reader_segment(r, 0)->meta_json,
		"\"kineto\":{\"deviceProperties\":[],\"small\":1,\"after\":2}"));
	CHECK(strstr(gt_reader_segment(r, 0)->meta_json, "\"metadata_left_out\":2"));
	gt_reader_close(r);
}

static void exact_times(void)
{
	CHECK(lists(HEAD X("cpu_op", "a", "1", "1", "4304876256187.416", "0.991", "") "," X(
			    "cpu_op", "b", "1", "2", "1600000000000000.1239", "1e1",
			    "") "," X("cpu_op", "c", "1", "3", "-5.001", "0.0009", "") "]}",
		"S 1/3 c -5001+0 d0 r0 category='cpu_op'\nS 1/1 a 4304876256187416+991 d0 r0 category='cpu_op'\n"
		"S 1/2 b 1600000000000000123+10000 d0 r0 category='cpu_op'\n"));
}

static void odd_events(void)
{
	CHECK(lists(
		HEAD KERNEL("zero", "5", "0", "0") "," KERNEL("ends before", "6", "9", "-2") "," X(
			"cpu_op", "no time", "1", "1", "\"x\"", "1", "") "," X("cpu_op", "absurd",
			"1", "1", "1e30", "1",
			"") ","
			    "{\"ph\":\"X\",\"name\":\"no ts\",\"dur\":1},{\"ph\":\"X\",\"name\":\"no dur\",\"ts\":1},{},7,[1],\"x\",{\"ph\":\"N\",\"ts\":1},"
			    "{\"ph\":\"b\",\"ts\":1},{\"ph\":\"b\",\"ts\":2},{\"ph\":\"word\",\"ts\":2},{\"ph\":\"X\",\"ts\":20,\"dur\":1},"
			    "{\"ph\":\"X\",\"ts\":21,\"dur\":1,\"name\":7,\"pid\":1.5,\"tid\":[{}],\"args\":[1,{}],\"cat\":null,\"new\":{\"args\":{}}}]}",
		"G 0/7 stream 7 ends before 9000+0 d0 r0 " FIELDS(
			"6", "4294967295", "9000", "0", "?", "0") SHAPE
		"\n"
		"L 0/0 ? 9000+13000 d0 r0\n"
		"S 0/0 (no name) 20000+1000 d0 r0 category='?'\nS 0/0 (no name) 21000+1000 d0 r0 category='?'\n"));
	CHECK(meta_says("\"events_without_time\":4,\"negative_durations\":1,") &&
		meta_says("\"events_not_understood\":4"));
	CHECK(meta_says("\"phases_not_read\":{\"\":2,\"N\":1,\"b\":2}"));
}

static const char sample[] = "{\"traceEvents\":[\n" RUNTIME("cudaLaunchKernel", "5", "2000",
	"1.5") ",\n" KERNEL("gemm", "5", "4000.001", "0.991") ",\n" X("cpu_op", "aten::mm", "10",
	"11", "1", "1", "\"Input Dims\":[[1]]") "\n],\"traceName\":\"x\"}";

/* The file is cut at every byte: the complete events are imported, and a note reports the cut. */
static void cut_at_every_byte(void)
{
	const size_t told = strlen("{\"traceEvents\"");
	size_t ends[3], n = 0;

	for (const char *p = sample; (p = strchr(p, '\n')) && n < 4; p++)
		if (n++)
			ends[n - 2] = (size_t)(p - sample) - (n < 4);
	for (n = 0; n < sizeof(sample); n++) {
		struct gt_reader *r = open_bytes(sample, n);
		const struct gt_segment *seg = r ? gt_reader_segment(r, 0) : NULL;

		CHECK(!r == (n < told));
		CHECK(!r ||
			!strstr(seg->meta_json, "\"truncated\":true") == (n == sizeof(sample) - 1));
		CHECK(!r ||
			(seg->rows[GT_CALL] == (n >= ends[0]) &&
				seg->rows[GT_GPU] == (n >= ends[1]) &&
				seg->rows[GT_SPAN] == (n >= ends[2])));
		gt_reader_close(r);
	}
}

static void what_is_no_json_names_its_place(void)
{
	static const struct {
		const char *text, *says;
		unsigned at;
	} bad[] = {
		{ HEAD "{\"ph\":\"X\" \"ts\":1}]}", "expected ','", 44 },
		{ "{\"traceEvents\":[{\"ph\":\"X\",}]}", "expected a key", 26 },
		{ "{\"traceEvents\":[]} {}", "unexpected text", 19 },
		{ "{\"traceEvents\":[{\"args\":{\"a\":01}}]}", "not a number", 30 },
		{ "{\"traceEvents\":[}", "no JSON value", 16 },
		{ "[{\"ph\":\"X\",\"ts\":1}}", "expected ','", 18 },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct gt_reader *r = open_bytes(bad[i].text, strlen(bad[i].text));

		if (r || err.offset != bad[i].at || !strstr(err.text, bad[i].says))
			fprintf(stderr, "%s: byte %d: %s\n", bad[i].text, (int)err.offset,
				err.text);
		CHECK(!r && err.code == -EBADMSG && strstr(err.text, bad[i].says) &&
			err.offset == bad[i].at);
	}
}

static void names_that_find_no_room_are_one(void)
{
	struct gt_buf b = { 0 };
	struct gt_reader *r;

	gt_buf_str(&b, HEAD);
	for (unsigned i = 0; i < 30000; i++)
		gt_buf_printf(&b,
			"%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"%01000u\",\"pid\":1,\"tid\":1,\"ts\":%u,\"dur\":1}",
			i ? "," : "", i, i);
	gt_buf_str(&b, "," KERNEL("has its name", "5", "4", "1") "]}");
	r = open_bytes(b.data, b.len);
	gt_buf_release(&b);
	CHECK(r && gt_reader_segment(r, 0)->rows[GT_SPAN] == 30000 &&
		!strstr(gt_reader_segment(r, 0)->meta_json, "\"names_left_out\":0"));
	CHECK(type_named(r, "has its name") && type_named(r, "(names beyond the limit)"));
	gt_reader_close(r);
}

static struct gt_reader *threads(unsigned n)
{
	struct gt_buf b = { 0 };
	struct gt_reader *r;

	gt_buf_str(&b, HEAD);
	for (unsigned i = 0; i < n; i++)
		gt_buf_printf(&b,
			"%s{\"ph\":\"X\",\"cat\":\"cuda_driver\",\"name\":\"cuInit\",\"pid\":%u,\"tid\":%u,\"ts\":%u,\"dur\":1}",
			i ? "," : "", i / 9, i, i);
	gt_buf_str(&b, "]}");
	r = open_bytes(b.data, b.len);
	gt_buf_release(&b);
	return r;
}

static void many_threads(void)
{
	struct gt_reader *r = threads(1u << 15);

	CHECK(r && gt_reader_segment(r, 0)->rows[GT_CALL] == 1u << 15);
	gt_reader_close(r);
	CHECK(!threads((1u << 15) + 1) && err.code == -E2BIG && err.offset != GT_NO_OFFSET &&
		strstr(err.text, "more than 32768 threads"));
}

static void other_arrays_are_not_taken(void)
{
	static const char *const texts[] = { "[{\"a\":1}]", "[1,{\"ph\":1,\"ts\":2}]",
		"{\"a\":{\"traceEvents\":[]}}", "[]", "{}", "[{\"ph\":\"X\"}]" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		CHECK(!open_bytes(texts[i], strlen(texts[i])) && err.code == -EILSEQ);
}

/* ---- a real file ---- */

static char *unpacked(const char *file, size_t *len)
{
	char full[4096];
	struct gt_buf b = { 0 };
	const char *src = getenv("SRC");
	gzFile f;
	int n = -1;

	snprintf(full, sizeof(full), "%s/%s", src ? src : ".", file);
	f = gzopen(full, "rb");
	while (f && (n = gzread(f, gt_buf_reserve(&b, 65536), 65536)) > 0)
		b.len += (size_t)n;
	if (f)
		gzclose(f);
	*len = b.len;
	return n == 0 ? (char *)b.data : NULL;
}

/* Microseconds of at most 3 decimals, as jansson's doubles hold them: exact after rounding,
 * for 4.3e12 us need 43 bits and 3 decimals 10 more. */
static int64_t ns_of(const json_t *event, const char *key)
{
	return llround(json_number_value(json_object_get(event, key)) * 1000);
}

struct sum {
	const char *name;
	uint64_t count, total, min, max, queued, queue, bytes;
};

static struct sum *sum_of(struct sum *sums, size_t *n, const char *name)
{
	for (size_t i = 0; i < *n; i++)
		if (!strcmp(sums[i].name, name))
			return &sums[i];
	if (*n == 64)
		abort();
	sums[*n] = (struct sum){ .name = name, .min = UINT64_MAX };
	return &sums[(*n)++];
}

static void add_to(struct sum *s, int64_t dur, int64_t start, int64_t call_end, uint64_t bytes)
{
	s->count++;
	s->total += (uint64_t)dur;
	s->min = (uint64_t)dur < s->min ? (uint64_t)dur : s->min;
	s->max = (uint64_t)dur > s->max ? (uint64_t)dur : s->max;
	s->queued += start >= call_end;
	s->queue += start >= call_end ? (uint64_t)(start - call_end) : 0;
	s->bytes += bytes;
}

static int64_t call_end_of(const json_t *events, json_int_t correlation)
{
	size_t i;
	json_t *e;

	json_array_foreach(events, i, e)
	{
		const char *cat = json_string_value(json_object_get(e, "cat"));

		if (cat && !strncmp(cat, "cuda_", 5) &&
			json_integer_value(json_object_get(
				json_object_get(e, "args"), "correlation")) == correlation)
			return ns_of(e, "ts") + ns_of(e, "dur");
	}
	return INT64_MAX;
}

/* By name, out of the JSON by another way altogether. */
static size_t sums_of_json(const json_t *events, struct sum sums[64])
{
	size_t i, n = 0;
	json_t *e;

	json_array_foreach(events, i, e)
	{
		const char *cat = json_string_value(json_object_get(e, "cat"));
		const json_t *args = json_object_get(e, "args");

		if (cat &&
			(!strcmp(cat, "kernel") || !strcmp(cat, "gpu_memcpy") ||
				!strcmp(cat, "gpu_memset")))
			add_to(sum_of(sums, &n, json_string_value(json_object_get(e, "name"))),
				ns_of(e, "dur"), ns_of(e, "ts"),
				call_end_of(events,
					json_integer_value(json_object_get(args, "correlation"))),
				(uint64_t)json_integer_value(json_object_get(args, "bytes")));
	}
	return n;
}

static uint64_t value_of(const struct gt_event *ev, unsigned role)
{
	const struct gt_type *t = &ev->seg->types[ev->row.type];

	for (unsigned i = 0; i < t->nfields; i++)
		if (t->fields[i].role == role)
			return ev->args[i];
	return 0;
}

static size_t sums_of_trace(struct gt_reader *r, struct sum sums[64])
{
	struct gt_iter *it =
		gt_iter_open(r, &(struct gt_filter){ .kinds = GT_BIT(GT_GPU), .args = true }, NULL);
	struct gt_event ev;
	size_t n = 0;

	while (gt_iter_next(it, &ev, NULL) > 0)
		add_to(sum_of(sums, &n, gt_type_name(ev.seg, ev.row.type)),
			ev.row.end - ev.row.start, ev.row.start,
			(int64_t)(value_of(&ev, GT_R_LAUNCH_START) + value_of(&ev, GT_R_LAUNCH_NS)),
			value_of(&ev, GT_R_BYTES));
	gt_iter_close(it);
	return n;
}

/* Ours have the names in small letters. */
static bool same_sums(const struct sum *a, size_t na, const struct sum *b, size_t nb)
{
	for (size_t i = 0; i < na; i++) {
		size_t k = 0;

		while (k < nb && strcasecmp(a[i].name, b[k].name))
			k++;
		if (k == nb ||
			memcmp(&a[i].count, &b[k].count,
				sizeof(*a) - offsetof(struct sum, count))) {
			fprintf(stderr, "%s: %d of %d ns\n", a[i].name, (int)a[i].count,
				(int)a[i].total);
			return false;
		}
	}
	return na == nb;
}

static void a_real_file(void)
{
	size_t len, na, nb;
	char *text = unpacked("samples/recorded/kineto-h200-mlp.json.gz", &len);
	json_t *root = text ? json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL) : NULL;
	struct gt_reader *r = text ? open_bytes(text, len) : NULL;
	struct sum a[64], b[64];
	uint64_t count = 0, total = 0;

	free(text);
	CHECK(root && r);
	na = sums_of_json(json_object_get(root, "traceEvents"), a);
	nb = sums_of_trace(r, b);
	for (size_t i = 0; i < nb; i++) {
		count += b[i].count;
		total += b[i].total;
	}
	CHECK(count == 869 && total == 7672472); /* as it was counted when it was recorded */
	CHECK(same_sums(a, na, b, nb));
	gt_reader_close(r);
	json_decref(root);
	CHECK(meta_says(
		"\"gpu_kernels\":732,\"gpu_copies\":41,\"gpu_sets\":96,\"gpu_waits\":0,\"gpu_joined_exact\":869,"));
	CHECK(meta_says("\"calls_not_nested\":0,") && meta_says("\"events_without_time\":0,") &&
		meta_says("\"imported_events\":7985,"));
}

T_MAIN(T(the_beginning), T(a_kernel_and_its_call), T(types_say_what_they_do), T(copies_and_sets),
	T(graphs), T(waits), T(ranges_and_moments), T(counters), T(overhead),
	T(names_before_and_after), T(a_launch_within_a_launch_is_one),
	T(what_does_not_nest_is_a_span), T(calls_come_in_any_order),
	T(numbers_in_quotes_are_numbers), T(words_name_threads), T(work_without_a_call),
	T(arrows_join_what_has_no_id), T(work_belongs_to_its_calls_process),
	T(contexts_have_streams_of_their_own), T(far_apart), T(metadata_on_both_sides),
	T(much_metadata_is_left_out), T(exact_times), T(odd_events), T(cut_at_every_byte),
	T(what_is_no_json_names_its_place), T(names_that_find_no_room_are_one), T(many_threads),
	T(other_arrays_are_not_taken), T(a_real_file), T(the_end))
