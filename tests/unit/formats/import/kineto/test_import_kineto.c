/* PyTorch's Chrome JSON: which row each kind of event becomes, and which events are joined. */
#define _GNU_SOURCE
#include "tests/unit/formats/import/imported.h"
#include "tests/unit/formats/import/kineto_text.h"

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
	/* gtexport writes the thread; the overhead belongs to the process of that lane */
	CHECK(lists(HEAD X("cpu_op", "a", "10", "11", "1", "1", "") "," X("overhead",
			    "lazy function loading", "20", "1000000000", "5", "2",
			    "\"thread\":21") "]}",
		"S 10/11 a 1000+1000 d0 r0 category='cpu_op'\n"
		"S 0/20 lazy function loading 5000+2000 d0 r0 thread=21\n"));
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

T_MAIN(T(the_beginning), T(a_kernel_and_its_call), T(types_say_what_they_do), T(copies_and_sets),
	T(graphs), T(waits), T(ranges_and_moments), T(counters), T(overhead),
	T(names_before_and_after), T(a_launch_within_a_launch_is_one),
	T(what_does_not_nest_is_a_span), T(calls_come_in_any_order),
	T(numbers_in_quotes_are_numbers), T(words_name_threads), T(work_without_a_call),
	T(arrows_join_what_has_no_id), T(work_belongs_to_its_calls_process),
	T(contexts_have_streams_of_their_own), T(far_apart), T(the_end))
