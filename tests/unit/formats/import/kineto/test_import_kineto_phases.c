/* Chrome JSON of other writers: begins and ends, asynchronous operations, counters, arrows that are
 * part of events, keys in any order, arrays without end. */
#define _GNU_SOURCE
#include "tests/unit/formats/import/kineto_text.h"

#define PH(ph, name, tid, ts, more)                                                                \
	"{\"ph\":\"" ph "\",\"name\":\"" name "\",\"pid\":10,\"tid\":" tid ",\"ts\":" ts more "}"
#define E(tid, ts) "{\"ph\":\"E\",\"pid\":10,\"tid\":" tid ",\"ts\":" ts "}"
#define OP(ph, name, ts, more) PH(ph, name, "1", ts, ",\"cat\":\"net\"" more)

/* ---- begins and ends ---- */

static void begins_and_ends(void)
{
	/* threads nest on their own; an end needs no name; equal times are in the file's order */
	CHECK(lists(HEAD PH("B", "a", "1", "1", "") "," PH("B", "b", "2", "2", "") "," PH(
			    "B", "c", "1", "3", "") "," E("1", "4") "," E("1", "9") "," E("2",
			    "8") "," PH("B", "d", "1", "9", "") "," E("1", "9") "]}",
		"S 10/1 a 1000+8000 d0 r0 category='?'\n"
		"S 10/2 b 2000+6000 d0 r0 category='?'\n"
		"S 10/1 c 3000+1000 d1 r0 category='?'\n"
		"S 10/1 d 9000+0 d0 r0 category='?'\n"));
	CHECK(meta_says("\"events_not_understood\":0") && meta_says("\"truncated\":false"));
}

static void ends_and_begins_without_the_other(void)
{
	CHECK(lists(HEAD E("1", "1") "," PH("E", "named", "1", "2", "") "," PH("B", "a", "1", "3",
			    "") "," PH("B", "b", "1", "4", "") "," E("1", "5") "]}",
		"U 10/1 (no name) 1000+0 d0 r1 category='?'\n"
		"U 10/1 named 2000+0 d0 r1 category='?'\n"
		"U 10/1 a 3000+0 d0 r0 category='?'\n"
		"S 10/1 b 4000+1000 d0 r0 category='?'\n"));
}

/* An end ends what is open at its time, wherever it stands in the file. */
static void begins_and_ends_in_any_order(void)
{
	CHECK(lists(HEAD E("1", "9") "," E("1", "4") "," PH("B", "b", "1", "3", "") "," PH(
			    "B", "a", "1", "1", "") "]}",
		"S 10/1 a 1000+8000 d0 r0 category='?'\n"
		"S 10/1 b 3000+1000 d1 r0 category='?'\n"));
}

static void nesting_of_any_depth(void)
{
	struct gt_buf b = { 0 };
	unsigned n = 10000;

	gt_buf_str(&b, "[");
	for (unsigned i = 0; i < n; i++)
		gt_buf_printf(
			&b, "{\"ph\":\"B\",\"name\":\"f\",\"pid\":1,\"tid\":1,\"ts\":%u},\n", i);
	for (unsigned i = 0; i < n; i++)
		gt_buf_printf(&b, "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":%u},\n", n + i);
	gt_buf_byte(&b, 0);
	list_text((char *)b.data);
	CHECK(strstr((char *)listing.data, "S 1/1 f 0+19999000 d0 "));
	CHECK(strstr((char *)listing.data, "S 1/1 f 9999000+1000 d255 "));
	gt_buf_release(&b);
}

/* Calls and GPU work may be begins and ends, too. */
static void halves_of_gpu_work(void)
{
	list_text(HEAD PH("B", "cudaLaunchKernel", "1", "1",
		",\"cat\":\"cuda_runtime\",\"args\":{\"cbid\":211,\"correlation\":5}") "," E("1",
		"2") "," PH("B", "k", "7", "3",
		",\"cat\":\"kernel\",\"args\":{" PLACE "\"correlation\":5}") "," E("7", "5") "]}");
	CHECK(strstr((char *)listing.data,
		"C 10/1 cudaLaunchKernel 1000+1000 d0 r0 correlation=5 kernel='k'\n"));
	CHECK(strstr((char *)listing.data, "G 0/7 stream 7 k 3000+2000 d0 r0 correlation=5 "));
}

static void durations_that_are_missing(void)
{
	CHECK(lists(HEAD PH("X", "a", "1", "1", "") "," PH("X", "b", "1", "2",
			    ",\"tdur\":3") "," PH("X", "c", "1", "3", ",\"dur\":\"1.5\"") "]}",
		"U 10/1 a 1000+0 d0 r0 category='?'\n"
		"U 10/1 b 2000+0 d0 r0 category='?'\n"
		"S 10/1 c 3000+1500 d0 r0 category='?'\n"));
}

/* ---- asynchronous operations ---- */

static void operations_by_id(void)
{
	/* two at the same time; one has an inner slice, another end has no begin */
	CHECK(lists(
		HEAD OP("b", "get", "1", ",\"id\":\"0x1\"") "," OP(
			"b", "get", "2", ",\"id\":\"0x2\"") "," OP("b", "dns", "3",
			",\"id\":\"0x1\"") "," OP("n", "found", "4", ",\"id\":\"0x1\"") "," OP("e",
			"dns", "5", ",\"id\":\"0x1\"") "," OP("e", "get", "6",
			",\"id\":\"0x1\"") "," OP("e", "get", "9", ",\"id\":\"0x2\"") "," OP("e",
			"get", "9", ",\"id\":\"0x3\"") "," OP("b", "no id", "9", "") "]}",
		"S 10/0 net get 1000+5000 d0 r0 category='net'\n"
		"S 10/0 net get 2000+7000 d0 r0 category='net'\n"
		"S 10/0 net dns 3000+2000 d0 r0 category='net'\n"
		"I 10/0 net found 4000+0 d0 r0 category='net'\n"
		"U 10/0 net get 9000+0 d0 r1 category='net'\n"));
	CHECK(meta_says("\"events_not_understood\":1"));
}

/* Other scopes and, of local ids, other processes have other operations. */
static void scopes_and_local_ids(void)
{
#define TWO(id)                                                                                    \
	"{\"ph\":\"b\",\"cat\":\"c\",\"name\":\"x\",\"pid\":1,\"ts\":1," id                        \
	"},{\"ph\":\"e\",\"cat\":\"c\",\"name\":\"x\",\"pid\":2,\"ts\":3," id "}"
	CHECK(lists(HEAD TWO("\"id\":7") "]}", "S 1/0 c x 1000+2000 d0 r0 category='c'\n"));
	CHECK(lists(HEAD TWO("\"id2\":{\"global\":7}") "]}",
		"S 1/0 c x 1000+2000 d0 r0 category='c'\n"));
	CHECK(lists(HEAD TWO("\"id2\":{\"local\":7}") "]}",
		"U 1/0 c x 1000+0 d0 r0 category='c'\n"
		"U 2/0 c x 3000+0 d0 r1 category='c'\n"));
	CHECK(lists(HEAD OP("b", "x", "1", ",\"id\":7,\"scope\":\"a\"") "," OP(
			    "e", "x", "2", ",\"id\":7,\"scope\":\"b\"") "," OP("e", "x", "3",
			    ",\"id\":7,\"scope\":\"a\"") "]}",
		"S 10/0 net x 1000+2000 d0 r0 category='net'\n"
		"U 10/0 net x 2000+0 d0 r1 category='net'\n"));
}

static void old_operations(void)
{
	CHECK(lists(HEAD OP("S", "a", "1", ",\"id\":1") "," OP("S", "b", "2", ",\"id\":1") "," OP(
			    "T", "a", "3", ",\"id\":1") "," OP("F", "a", "4",
			    ",\"id\":1") "," OP("F", "b", "5", ",\"id\":1") "]}",
		"S 10/0 net a 1000+3000 d0 r0 category='net'\n"
		"S 10/0 net b 2000+3000 d0 r0 category='net'\n"
		"I 10/0 net a 3000+0 d0 r0 category='net'\n"));
}

/* ---- other events ---- */

static void counters_and_instants(void)
{
	CHECK(lists(HEAD PH("C", "mem", "1", "1",
			    ",\"args\":{\"used\":1,\"free\":2.5,\"x\":\"y\"}") "," PH("C", "mem",
			    "1", "2", ",\"id\":\"a\",\"args\":{\"\":3}") "," PH("R", "mark", "1",
			    "3", "") "," PH("I", "now", "1", "4", "") "]}",
		"N 0/10 mem used 1000+0 d0 r0 value=1\n"
		"N 0/10 mem free 1000+0 d0 r0 value=2.5\n"
		"N 0/10 mem [a] 2000+0 d0 r0 value=3\n"
		"I 10/1 mark 3000+0 d0 r0 category='?'\n"
		"I 10/1 now 4000+0 d0 r0 category='?'\n"));
}

/* Sorted keys, as Python's json writes them: arguments come before the phase. */
static void arguments_before_the_phase(void)
{
	CHECK(lists(HEAD
		"{\"args\":{\"name\":\"main \\\"1\\\"\"},\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":10,\"tid\":11},"
		"{\"args\":{\"a\":[1,{\"b\":2}],\"v\":-3},\"name\":\"n\",\"ph\":\"C\",\"pid\":10,\"ts\":1},"
		"{\"args\":{\"cbid\":211,\"correlation\":5},\"cat\":\"cuda_runtime\",\"dur\":1,\"name\":\"cudaFree\",\"ph\":\"X\",\"pid\":10,\"tid\":11,\"ts\":2}]}",
		"N 0/10 n v 1000+0 d0 r0 value=-3\n"
		"C 10/11 main \"1\" cudaFree 2000+1000 d0 r0 correlation=5\n"));
	CHECK(meta_says("\"arguments_left_out\":0"));
}

static void times_of_other_forms(void)
{
	CHECK(lists(HEAD PH("X", "a", "1", "\"-1.5\"", ",\"dur\":1") "," PH("X", "b", "1", "-0.5",
			    ",\"dur\":1") "," PH("X", "c", "1", "9e300", ",\"dur\":1") "," PH("X",
			    "d", "1", "\"1x\"",
			    ",\"dur\":1") "," PH("X", "e", "1", "\"\"", ",\"dur\":1") "]}",
		"S 10/1 a -1500+1000 d0 r0 category='?'\n"
		"L 0/0 ? -1500+2000 d0 r0\n"
		"S 10/1 b -500+1000 d0 r0 category='?'\n"));
	CHECK(meta_says("\"events_without_time\":3"));
}

/* Slices of a thread that overlap keep their times. */
static void overlapping_slices(void)
{
	CHECK(lists(HEAD PH("X", "a", "1", "1", ",\"dur\":4") "," PH(
			    "X", "b", "1", "3", ",\"dur\":4") "]}",
		"S 10/1 a 1000+4000 d0 r0 category='?'\n"
		"S 10/1 b 3000+4000 d1 r0 category='?'\n"));
}

/* The second version of arrows: bind_id. Other arrows are counted. */
static void arrows_that_are_part_of_events(void)
{
	list_text(HEAD X("cuda_runtime", "cudaLaunchKernel", "10", "11", "1", "1",
		"\"cbid\":211},\"bind_id\":\"0x5\",\"flow_out\":true,\"x\":{") "," X("kernel", "k",
		"0", "7", "3", "1",
		PLACE "\"x\":1},\"bind_id\":\"0x5\",\"flow_in\":true,\"x\":{") "," PH("s", "a", "1",
		"1", ",\"cat\":\"net\",\"id\":1") "]}");
	CHECK(strstr((char *)listing.data, "launch_name='cudaLaunchKernel' launch_join=1"));
	CHECK(meta_says("\"events_of_other_phases\":1,"));
}

/* ---- arrays ---- */

static void arrays_without_end(void)
{
	static const char *const ends[] = { "", "]", ",", ",\n", ",\n]", "\n\n" };
	static const char *const cut[] = { ",{", ",{\"ph\":\"X\"", ",{\"ph\":\"X\",\"args\":{}",
		",\"x", ",{\"ph\":\"X\",\"name\":\"b\",\"ts\":1,\"dur\":1,\"args\":{\"a\":" };
	char text[400];

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		snprintf(
			text, sizeof(text), "[" PH("X", "a", "1", "1", ",\"dur\":4") "%s", ends[i]);
		CHECK(lists(text, "S 10/1 a 1000+4000 d0 r0 category='?'\n"));
		CHECK(meta_says("\"truncated\":false"));
	}
	for (size_t i = 0; i < sizeof(cut) / sizeof(*cut); i++) {
		snprintf(text, sizeof(text), "[" PH("X", "a", "1", "1", ",\"dur\":4") "%s", cut[i]);
		CHECK(lists(text, "S 10/1 a 1000+4000 d0 r0 category='?'\n"));
		CHECK(meta_says("\"truncated\":true"));
	}
	/* an object needs its end */
	CHECK(lists(HEAD PH("X", "a", "1", "1", ",\"dur\":4") ",",
		"S 10/1 a 1000+4000 d0 r0 category='?'\n"));
	CHECK(meta_says("\"truncated\":true"));
}

T_MAIN(T(the_beginning), T(begins_and_ends), T(ends_and_begins_without_the_other),
	T(begins_and_ends_in_any_order), T(nesting_of_any_depth), T(halves_of_gpu_work),
	T(durations_that_are_missing), T(operations_by_id), T(scopes_and_local_ids),
	T(old_operations), T(counters_and_instants), T(arguments_before_the_phase),
	T(times_of_other_forms), T(overlapping_slices), T(arrows_that_are_part_of_events),
	T(arrays_without_end), T(the_end))
