/* Files of PyTorch's profiler that differ from the usual ones: of other makers' GPUs, with values
 * that are no JSON, with more arguments. */
#define _GNU_SOURCE
#include "tests/unit/formats/import/kineto_text.h"

/* ---- AMD ---- */

/* In the output of gtexport --chrome, a call has the category of the call's task. A name that no
 * API has (for example INVALID, for a call that CUPTI could not name) is a call's if it has a
 * correlation id. */
static void hip_calls_come_back(void)
{
	static const char text[] = HEAD X("launch", "hipLaunchKernel", "10", "11", "1", "1",
		"\"correlation\":1") "," X("memory", "hipFree", "10", "11", "3", "1",
		"\"correlation\":2") "," X("memory", "hipsterism", "10", "11", "5", "1",
		"") "," X("other", "INVALID", "10", "11", "7", "1",
		"\"correlation\":3") "," X("strange", "range", "10", "11", "9", "1",
		"\"correlation\":4") "]}";
	struct gt_reader *r = open_bytes(text, strlen(text));
	const struct gt_type *t = type_named(r, "hipFree");

	CHECK(t->layer == GT_LAYER_API && t->category == GT_CAT_MEMORY && t->op == GT_OP_FREE &&
		t->memkind == GT_MEM_DEVICE);
	CHECK(type_named(r, "hipLaunchKernel")->op == GT_OP_LAUNCH &&
		type_named(r, "hipsterism")->layer == GT_LAYER_USER);
	CHECK(type_named(r, "INVALID")->layer == GT_LAYER_API &&
		type_named(r, "range")->layer == GT_LAYER_USER);
	CHECK(strstr(list(r), "C 10/11 hipLaunchKernel 1000+1000 d0 r0"));
	CHECK(strstr((char *)listing.data, "C 10/11 INVALID 7000+1000 d0 r0 correlation=3"));
}

/* A missing field is not 0: ROCm has no context and no registers, and older versions have no
 * grid and no bytes. */
static void unknown_figures_are_left_out(void)
{
	static const char bare[] =
		"G 2/0 stream 0 k 5000+1000 d0 r0 correlation=1 launch_track=4294967295 launch_start=5000 launch_ns=0 "
		"launch_name='?' launch_join=0";
	char expected[500];

#define ROCM(cat, name, more)                                                                      \
	X(cat, name, "2", "0", "5", "1", "\"device\":2,\"stream\":0,\"correlation\":1" more)
	snprintf(expected, sizeof(expected), "%s\n", bare);
	CHECK(lists(HEAD ROCM("kernel", "k", "") "]}", expected));
	snprintf(expected, sizeof(expected),
		"%s grid_x=1 grid_y=2 grid_z=3 block_x=4 block_y=5 block_z=6\n", bare);
	CHECK(lists(
		HEAD ROCM("kernel", "k", ",\"grid\":[1,2,3],\"block\":[4,5,6]") "]}", expected));
	CHECK(lists(HEAD ROCM("kernel", "k", ",\"grid\":[1,2,\"x\"],\"block\":[4,5,6,7]") "]}",
		(snprintf(expected, sizeof(expected), "%s\n", bare), expected)));
	snprintf(expected, sizeof(expected), "%s shared_static=0 shared_dynamic=0 registers=0\n",
		bare);
	CHECK(lists(
		HEAD ROCM("kernel", "k", ",\"registers per thread\":0,\"shared memory\":0") "]}",
		expected));
	CHECK(strstr(list_text(HEAD ROCM("gpu_memcpy", "Memcpy HtoD (Host -> Device)", "") "]}"),
		"launch_join=0 direction=1 src_memory='unknown' dst_memory='device'\n"));
	CHECK(strstr(
		list_text(HEAD ROCM("gpu_memset", "Memset (Device)", ",\"value\":\"0x7\"") "]}"),
		"launch_join=0 value=0x7 dst_memory='device'\n"));
	CHECK(strstr(list_text(HEAD ROCM("cuda_sync", "Stream Wait Event", "") "]}"),
		"launch_join=0 event=0xffffffff\n"));
	/* one name, with and without: two types */
	CHECK(strstr(list_text(HEAD ROCM("kernel", "k", "") "," ROCM(
			     "kernel", "k", ",\"registers per thread\":8") "]}"),
		      "launch_join=0 registers=8\n") &&
		strstr((const char *)listing.data, "launch_join=0\n"));
}

/* ---- invalid JSON ---- */

#define OP(name, ts) X("cpu_op", name, "10", "11", ts, "1", "")

static void inf_and_nan(void)
{
	static const char *const words[] = { "inf", "-inf", "nan", "-nan", "NaN", "Infinity",
		"-Infinity", "-nan(ind)" };
	char text[1000];

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		snprintf(text, sizeof(text),
			"{\"a\":%s,\"traceEvents\":[" X("kernel", "k", "0", "7", "4", "1",
				PLACE
				"\"correlation\":5,\"x\":%s,"
				"\"registers per thread\":%s,\"shared memory\":[%s]") "," OP("after",
				"9") "]}",
			words[i], words[i], words[i], words[i]);
		CHECK(strstr(list_text(text),
			      "k 4000+1000 d0 r0 "
			      "correlation=5 context=1") &&
			strstr((char *)listing.data, "after 9000+1000") &&
			!strstr((char *)listing.data, "registers="));
		CHECK(meta_says("\"values_no_number\":4,") && meta_says("\"events_damaged\":0,") &&
			meta_says("\"kineto\":{\"a\":null}"));
	}
	/* an event whose time is none is a loss */
	CHECK(strstr(list_text(HEAD X("kernel", "k", "0", "7", "nan", "1",
			     PLACE "\"correlation\":5") "," OP("after", "9") "]}"),
		"after 9000+1000"));
	CHECK(meta_says("\"events_without_time\":1,"));
	CHECK(strstr(list_text(HEAD OP("a", "infinite") "," OP("after", "9") "]}"),
		      "after 9000+1000") &&
		meta_says("\"events_damaged\":1,"));
}

static void characters_that_json_has_not(void)
{
	CHECK(strstr(list_text("\xef\xbb\xbf" HEAD OP("a", "9") "]}"), "a 9000+1000"));
	CHECK(strstr(list_text("\xef\xbb\xbf[" OP("a", "9") "]"), "a 9000+1000"));
	CHECK(strstr(list_text(HEAD OP("a\\u0000b", "9") "]}"),
		"a\xef\xbf\xbd"
		"b 9000+1000"));
	CHECK(strstr(list_text(HEAD OP("a\tb\nc\x1b", "9") "]}"), "a\tb\nc\x1b 9000+1000"));
	CHECK(meta_says("\"events_damaged\":0,"));
}

/* Quotes within a name: that event is skipped. */
static void damaged_events_are_skipped(void)
{
	static const char *const names[] = {
		"f(\"x\")",
		"\"",
		"say \"hi\", ok",
		"{\"a\": \"b\"}",
		"[\"a\"]",
		"C:\\users",
		"5\" disk",
		"\"\"\"",
		"a\",",
		"\": 1",
		"a\"\\",
		"x\", \"y",
		"[{\"name\": 1}]",
		"a\"} b",
	};
	static const char *const around[][3] = {
		{ HEAD OP("before", "1") ",\n", ",\n" OP("after", "9") "]}", "" },
		{ "[" OP("before", "1") ",", ",\r\n" OP("after", "9") "]", "" },
		{ HEAD OP("before", "1") "," OP("after", "9") ",", "\n],\n\"traceName\":\"t\"}\n",
			"\"kineto\":{\"schemaVersion\":1,\"traceName\":\"t\"}" },
		{ HEAD OP("before", "1") "," OP("after", "9") ",", " ] } ", "" },
		{ "[" OP("before", "1") "," OP("after", "9") ",", "]\n", "" },
		{ HEAD,
			",\n  {\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"before\", \"pid\": 10, \"tid\": 11,\n    \"ts\": 1, \"dur\": 1\n  },"
			"{\"args\":{\"x\":[{\"y\":1},{\"z\":2}]},\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"after\",\"pid\":10,\"tid\":11,\"ts\":9,"
			"\"dur\":1}]}",
			"" },
	};
	char text[2000];

	for (size_t a = 0; a < sizeof(around) / sizeof(*around); a++)
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
			snprintf(text, sizeof(text),
				"%s{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"%s\",\"pid\":10,\"tid\":11,\"ts\":5,"
				"\"dur\":1,\"args\":{\"Ev Idx\":1,\"d\":[[1,2]]}}%s",
				around[a][0], names[i], around[a][1]);
			list_text(text);
			if (!strstr((char *)listing.data, "before 1000+1000") ||
				!strstr((char *)listing.data, "after 9000+1000") || err.code)
				fprintf(stderr, "%s\n%s %s\n", text, (char *)listing.data,
					err.text);
			CHECK(strstr((char *)listing.data, "before 1000+1000") &&
				strstr((char *)listing.data, "after 9000+1000"));
			CHECK(meta_says("\"events_damaged\":1,") && meta_says(around[a][2]) &&
				meta_says("\"truncated\":false"));
			CHECK(!strstr((char *)listing.data, "L ") ||
				strstr(names[i], "\"}")); /* it was no work */
		}
	/* a damaged call or kernel, or a possible one, is a loss */
	CHECK(strstr(list_text(HEAD KERNEL("k\"\"", "5", "4", "1") "," OP("after", "9") "]}"),
		      "L ") &&
		meta_says("\"events_damaged\":1,"));
	CHECK(strstr(list_text(HEAD "{\"name\":\"k\"\"\"}," OP("after", "9") "]}"), "L ") &&
		meta_says("\"events_damaged\":1,"));
	/* many, behind one another, and far from the next */
	CHECK(strstr(list_text(HEAD OP("a\"b", "1") "," OP("c\"d", "2") "," OP("e\"f", "3") "," OP(
			     "after", "9") "]}"),
		"after 9000+1000"));
	CHECK(meta_says("\"events_damaged\":3,"));
}

static void far_from_the_next_event(void)
{
	static const char tail[] = "}," OP("after", "9") "]}";
	size_t room = 3u << 20, n = 0;
	char *text = malloc(room);

	n = (size_t)sprintf(text, HEAD "{\"ph\":\"X\",\"name\":\"a\"b\",\"args\":{\"x\":\"");
	for (; n < room - 200; n++)
		text[n] = n % 7 ? 'x' : '}';
	snprintf(text + n, room - n, "\"}%s", tail);
	n += strlen(text + n);
	CHECK(strstr(list(open_bytes(text, n)), "after 9000+1000") &&
		meta_says("\"events_damaged\":1,"));
	free(text);
}

static void broken_structure_ends_with_its_place(void)
{
	static const char open[] = HEAD OP("a", "1") "," OP("b\"", "2") "]";

	CHECK(!strcmp(list_text(HEAD OP("a", "1") " " OP("b", "2") "]}"),
		      "expected ',' or a closing bracket") &&
		err.offset != GT_NO_OFFSET);
	CHECK(!strcmp(list_text(open), "expected ',' or a closing bracket") &&
		err.offset == (uint64_t)(strstr(open, "b\"\"") - open + 2));
	CHECK(!strcmp(list_text(HEAD OP("a", "1") "," OP("b\"", "2") "]}]"),
		"expected ',' or a closing bracket"));
	CHECK(!strcmp(list_text("{\"schemaVersion\":1,\"deviceProperties\":01}"),
		      "not a number as JSON writes them") &&
		err.offset == 39);
	CHECK_STR(list_text(HEAD OP("a\"", "1") "]}"),
		"expected ',' or a closing bracket"); /* nothing can be read */
	CHECK(!strcmp(list_text(HEAD OP("a", "1") "],\"b\":\"\"\"}"),
		"expected ',' or a closing bracket"));
}

/* ---- arguments ---- */

static void shapes_and_collectives_are_kept(void)
{
	char text[3000], dims[2000] = "";

	CHECK(lists(
		HEAD X("cpu_op", "aten::mm", "10", "11", "1", "1",
			"\"External id\":7,\"Concrete Inputs\":[\"\"],\"Input type\":[\"float\",\"c10::Half\"],"
			"\"Input Strides\":[[4,1],[]],\"Input Dims\":[[32, 4], [], [[1],2]],\"Ev Idx\":3") "," X("cpu_op",
			"aten::mm", "10", "11", "3", "1", "\"Input Dims\":[]") "," X("cpu_op",
			"aten::mm", "10", "11", "5", "1", "\"Input Dims\":{\"a\":1}") "]}",
		"S 10/11 aten::mm 1000+1000 d0 r0 category='cpu_op' Input Dims='[[32,4],[],[[1],2]]' Input type='[\"float\",\"c10::Half\"]'\n"
		"S 10/11 aten::mm 3000+1000 d0 r0 category='cpu_op' Input Dims='[]'\nS 10/11 aten::mm 5000+1000 d0 r0 category='cpu_op'\n"));
	/* as gtexport --chrome writes them */
	CHECK(strstr(list_text(HEAD X("user", "aten::mm", "10", "11", "1", "1",
			     "\"Input Dims\":\"[[32,4]]\"") "]}"),
		"Input Dims='[[32,4]]'\n"));
	CHECK(strstr(
		list_text(HEAD X("kernel", "ncclKernel", "0", "7", "4", "1",
			PLACE
			"\"correlation\":5,\"Collective name\":\"allreduce\","
			"\"In msg nelems\":1048576,\"Out msg nelems\":1048577,\"Group size\":2,\"dtype\":\"Float\",\"In split size\":\"[]\","
			"\"Process Group Name\":\"0\",\"Process Group Description\":\"default_pg\",\"Process Group Ranks\":[0, 1]") "," KERNEL("ncclKernel",
			"6", "6", "1") "]}"),
		"launch_join=0 Collective name='allreduce' In msg nelems=1048576 Out msg nelems=1048577 Group size=2 dtype='Float' "
		"Process Group Name='0' Process Group Description='default_pg' Process Group Ranks='[0,1]'\n"));
	CHECK(strstr((char *)listing.data,
		      "ncclKernel 6000+1000 d0 r0 "
		      "correlation=6") &&
		strstr((char *)listing.data, "registers=18\n"));
	while (strlen(dims) < 1200)
		strcat(dims, "[1234567,1234567],");
	strcat(dims, "[1]");
	snprintf(text, sizeof(text),
		HEAD
		"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":10,\"tid\":11,\"ts\":1,\"dur\":1,\"args\":{\"Input Dims\":[%s]}}]}",
		dims);
	CHECK(lists(text, "S 10/11 a 1000+1000 d0 r0 category='cpu_op'\n") &&
		meta_says("\"arguments_left_out\":1,"));
}

static void metrics_are_counters(void)
{
	CHECK(lists(
		HEAD X("cuda_profiler_range", "gemm", "10", "11", "1", "5",
			"\"smsp__warps_launched.avg\":32.5,\"sm__cycles.max\":7,\"x\":\"y\"") "]}",
		"N 0/10 smsp__warps_launched.avg 1000+0 d0 r0 value=32.5\nN 0/10 sm__cycles.max 1000+0 d0 r0 value=7\n"
		"S 10/11 gemm 1000+5000 d0 r0 category='cuda_profiler_range'\n"));
}

/* As gtexport --chrome writes them, on a lane of their own with the thread's id. A range that has
 * the name of a state, but not its category, stays a range. */
static void states_of_threads(void)
{
	static const char text[] = HEAD X("lock", "futex", "10", "1000000000", "1", "5",
		"\"waker_pid\":10,\"waker_tid\":12,\"syscall\":202,\"thread\":11") "," X("runnable",
		"runnable", "10", "1000000000", "6", "1", "\"thread\":11") "," X("mine", "futex",
		"10", "11", "8", "1", "") "," X("lock", "mine", "10", "11", "10", "1", "") "]}";
	const struct gt_segment *seg;
	struct gt_reader *r;
	unsigned states = 0;

	CHECK(lists(text,
		"S 10/11 futex 1000+5000 d0 r0\nS 10/11 runnable 6000+1000 d0 r0\n"
		"S 10/11 futex 8000+1000 d0 r0 category='mine'\n"
		"S 10/11 mine 10000+1000 d0 r0 category='lock'\n"));
	r = again();
	seg = gt_reader_segment(r, 0);
	for (uint32_t t = 0; t < seg->ntypes; t++)
		states +=
			seg->types[t].op == GT_OP_OFF_CPU && seg->types[t].layer == GT_LAYER_SCHED;
	CHECK_EQ(states, 2);
	gt_reader_close(r);
}

/* ---- GPU work that is neither CUDA's nor HIP's ---- */

static void other_accelerators_are_named(void)
{
	CHECK(strstr(list_text(HEAD X("mtia_ccp_events", "pe_exe", "17", "3", "1", "2", "") "," X(
			     "mtia_runtime", "launch", "10", "11", "1", "2",
			     "") "," X("mtia_runtime", "wait", "10", "11", "3", "2",
			     "") "," X("mine", "x", "10", "11", "6", "2", "") "]}"),
		"S 17/3 pe_exe 1000+2000"));
	CHECK(meta_says("\"accelerator_events\":\"1 mtia_ccp_events, 2 mtia_runtime\","));
	CHECK(strstr(list_text(HEAD OP("a", "1") "]}"), "a 1000") &&
		meta_says("\"accelerator_events\":\"\","));
}

#define MEMORY(ts, args)                                                                                                 \
	"{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":10,\"tid\":11,\"ts\":" ts \
	",\"args\":{" args "}}"

static void allocators(void)
{
	struct gt_reader *r;

	CHECK(lists(
		HEAD MEMORY("1", "\"Total Reserved\":9,\"Total Allocated\":8,\"Bytes\":64,\"Addr\":4096,\"Device Id\":0,\"Device Type\":1,\"Ev Idx\":3") "," MEMORY(
			"2",
			"\"Bytes\":-64,\"Addr\":4096,\"Device Id\":0,\"Device Type\":6") "," MEMORY("3",
			"\"Device Type\":0,\"Device Id\":-1,\"Bytes\":4") "," MEMORY("4",
			"\"Bytes\":\"x\",\"Device Type\":0") "]}",
		"I 10/11 [memory] 1000+0 d0 r0 bytes=64 device=0 addr=0x1000\nI 10/11 [memory] 2000+0 d0 r0 bytes=64 device=0 addr=0x1000\n"
		"I 10/11 [memory] 3000+0 d0 r0 bytes=4 device=-1\nI 10/11 [memory] 4000+0 d0 r0 category='cpu_instant_event'\n"));
	r = open_bytes(HEAD MEMORY("1", "\"Bytes\":64,\"Device Type\":1") "," MEMORY(
			       "1", "\"Bytes\":-64,\"Device Type\":0") "]}",
		strlen(HEAD MEMORY("1", "\"Bytes\":64,\"Device Type\":1") "," MEMORY(
			"1", "\"Bytes\":-64,\"Device Type\":0") "]}"));
	CHECK(gt_reader_segment(r, 0)->types[0].op == GT_OP_ALLOC &&
		gt_reader_segment(r, 0)->types[0].memkind == GT_MEM_POOL);
	CHECK(gt_reader_segment(r, 0)->types[1].op == GT_OP_FREE &&
		gt_reader_segment(r, 0)->types[1].memkind == GT_MEM_HOST);
	CHECK(gt_reader_segment(r, 0)->types[1].category == GT_CAT_MEMORY &&
		gt_reader_segment(r, 0)->types[1].layer == GT_LAYER_USER);
	gt_reader_close(r);
}

static void other_json_is_named(void)
{
	static const struct {
		const char *text, *says;
	} files[] = {
		{ "{\"schema\":\"1.1.1-chakra.0.0.4\",\"pid\":1,\"nodes\":[{\"id\":1,\"name\":\"x\"}]}",
			"JSON without traceEvents: it looks like an execution trace" },
		{ "[[1,2,3],[[0,1],[0,2]]]",
			"JSON without traceEvents: it looks like a memory timeline" },
		{ "[[1623142623460121,0,512,1],[5,1,512,1]]",
			"JSON without traceEvents: it looks like a memory timeline" },
		{ "{\"segments\":[],\"device_traces\":[]}",
			"JSON without traceEvents: it looks like a snapshot" },
		{ "{\"a\":[{\"nodes\":1,\"schema\":2}]}", "JSON without traceEvents" },
		{ "[]", "JSON without traceEvents" },
		{ "[{\"a\":1}]", "JSON without" },
	};
	char packed[600];
	FILE *f;

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		CHECK(!open_bytes(files[i].text, strlen(files[i].text)) &&
			!strncmp(err.text, files[i].says, strlen(files[i].says)));
		snprintf(packed, sizeof(packed), "gzip -c > %s", path);
		f = popen(packed, "w");
		CHECK(f && fputs(files[i].text, f) >= 0 && !pclose(f));
		err = (struct gt_err)GT_ERR_INIT;
		CHECK(!gt_open_any(path, &err) &&
			!strncmp(err.text, files[i].says, strlen(files[i].says)));
	}
}

T_MAIN(T(the_beginning), T(hip_calls_come_back), T(unknown_figures_are_left_out), T(inf_and_nan),
	T(characters_that_json_has_not), T(damaged_events_are_skipped), T(far_from_the_next_event),
	T(broken_structure_ends_with_its_place), T(shapes_and_collectives_are_kept),
	T(metrics_are_counters), T(states_of_threads), T(other_accelerators_are_named),
	T(allocators), T(other_json_is_named), T(the_end))
