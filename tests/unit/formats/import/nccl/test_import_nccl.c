/* Files of NCCL's inspector and of PyTorch's flight recorder through gt_open_any, as every tool
 * sees them. */
#define _GNU_SOURCE
#include "formats/io/json_scan.h"
#include "formats/io/stream_in.h"
#include "tests/unit/formats/import/imported.h"

#define LAUNCH(at)                                                                                 \
	" launch_track=4294967295 launch_start=" at " launch_ns=0 launch_name='?' launch_join=0\n"

static bool has_metadata(const char *text)
{
	struct gt_reader *r = gt_open_any(path, NULL);
	bool has = r && strstr(gt_reader_segment(r, 0)->meta_json, text);

	if (r && !has)
		fprintf(stderr, "metadata: %s\n", gt_reader_segment(r, 0)->meta_json);
	gt_reader_close(r);
	return has;
}

/* ---- the inspector ---- */

#define ABOUT(us)                                                                                  \
	"\"header\":{\"id\":\"0x7f8c\",\"rank\":2,\"n_ranks\":8,\"nnodes\":1},"                    \
	"\"metadata\":{\"inspector_output_format_version\":\"v4.0\",\"git_rev\":\"\","             \
	"\"rec_mechanism\":\"nccl_profiler_interface\",\"dump_timestamp_us\":" us                  \
	",\"hostname\":\"node1\",\"pid\":16}"
#define COLL(name, sn, us, more)                                                                   \
	"\"coll_perf\":{\"coll\":\"" name "\",\"coll_sn\":" sn                                     \
	",\"coll_msg_size_bytes\":4096,\"coll_exec_time_us\":" us more "}"
#define ARGS(sn) " communicator=0x7f8c message_bytes=4096 sequence=" sn " rank=2 ranks=8 nodes=1"

/* Version 4.0 dumps the last collective of each interval. */
static void durations_before_the_dump(void)
{
	CHECK(lists("{" ABOUT("1000000") "," COLL("AllReduce", "7", "100",
			    "") "}\n"
				"{" ABOUT("1000500") "," COLL("Broadcast", "0", "50.5",
					"") "}\n"
					    "{" ABOUT("1001000") "," COLL(
						    "AllReduce", "10", "300", "") "}\n",
		"G 16/0 communicator 0x7f8c rank 2 ncclAllReduce 999900000+100000 d0 r0" ARGS("7") LAUNCH(
			"999900000") "G 16/0 communicator 0x7f8c rank 2 ncclBroadcast 1000449500+50500 d0 r0" ARGS("0")
			LAUNCH("1000449500") "L 16/0 communicator 0x7f8c rank 2 ? 1000500000+200000 d0 r0\n"
					     "G 16/0 communicator 0x7f8c rank 2 ncclAllReduce 1000700000+300000 d0 r0" ARGS(
						     "10") LAUNCH("1000700000")));
	CHECK(has_metadata("\"collectives_placed_late\":3") &&
		has_metadata("\"nccl_inspector\":{\"hostname\":\"node1\",\"version\":\"v4.0\"}") &&
		has_metadata("\"start_utc\":\"1970-01-01T00:00:00Z\"") &&
		has_metadata("\"truncated\":false"));
}

#define TRACE                                                                                         \
	",\"coll_timing_source\":\"kernel_gpu\",\"coll_algobw_gbs\":1.5,\"coll_busbw_gbs\":2.5,"      \
	"\"event_trace_sn\":{\"coll_start_sn\":1,\"kernel_events\":[{\"kernel_stop_sn\":99}]},"       \
	"\"event_trace_ts\":{\"coll_start_ts\":5,\"coll_stop_ts\":6,\"kernel_events\":["              \
	"{\"channel_id\":0,\"kernel_start_ts\":800,\"kernel_stop_ts\":910,\"kernel_record_ts\":999}," \
	"{\"channel_id\":1,\"kernel_start_ts\":801,\"kernel_stop_ts\":920,\"kernel_record_ts\":9}]}"

static void verbose_lines_have_an_end(void)
{
	CHECK(lists("{" ABOUT("1000000") "," COLL("AllReduce", "7", "100", TRACE) "}\n",
		"G 16/0 communicator 0x7f8c rank 2 ncclAllReduce 820000+100000 d0 r0" ARGS(
			"7") " timing='kernel_gpu' algobw_gbs=1.5 busbw_gbs=2.5" LAUNCH("820000")));
	CHECK(has_metadata("\"collectives_placed_late\":0"));
}

/* From version 4.3 on only the line of a dump has header and metadata. Its collectives ran one
 * after the other. What the ring lost is a loss; gaps in numbers are none. */
static void a_dump_of_several(void)
{
	CHECK(lists(
		"{" ABOUT(
			"1000000") ",\"dump_stats\":{\"coll_records\":1,\"coll_dropped_total\":0,"
				   "\"coll_dropped_since_last_dump\":0}}\n"
				   "{" COLL("AllReduce", "1", "100",
					   ",\"coll_algo\":\"RING\",\"coll_proto\":\"LL\"") "}\n"
											    "{" ABOUT(
												    "2000000") ",\"dump_stats\":{\"coll_records\":2,\"coll_dropped_since_last_dump\":6,"
													       "\"p2p_dropped_since_last_dump\":1}}\n"
													       "{" COLL(
														       "AllReduce",
														       "8",
														       "100",
														       "") "}\n"
															   "{\"proxy_trace\":{\"record_type\":\"proxy_op\",\"rank\":5}}\n"
															   "{\"p2p_perf\":{\"p2p\":\"Send\",\"p2p_sn\":3,\"p2p_peer\":5,\"p2p_msg_size_bytes\":64,"
															   "\"p2p_exec_time_us\":200}}\n",
		"G 16/0 communicator 0x7f8c rank 2 ncclAllReduce 999900000+100000 d0 r0" ARGS("1") " algorithm='RING' protocol='LL'" LAUNCH(
			"999900000") "L 16/0 communicator 0x7f8c rank 2 ? 1000000000+1000000000 d0 r0\n"
				     "G 16/0 communicator 0x7f8c rank 2 ncclAllReduce 1999700000+100000 d0 r0" ARGS(
					     "8")
					     LAUNCH("1999700000") "G 16/0 communicator 0x7f8c rank 2 ncclSend 1999800000+200000 d0 r0"
								  " communicator=0x7f8c message_bytes=64 p2p_sn=3 peer=5 rank=2 ranks=8 nodes=1" LAUNCH(
									  "1999800000")));
	CHECK(has_metadata("\"proxy_events\":1") && has_metadata("\"events_not_understood\":0"));
}

static void damaged_lines_of_the_inspector(void)
{
	/* no number, no time, a hostile one, no name, no object; an end within a line */
	CHECK(lists(
		"{" ABOUT("1000000") "," COLL("AllReduce", "\"x\"", "-1",
			"") "}\n"
			    "{" ABOUT("0") "," COLL("AllReduce", "1", "1",
				    "") "}\n"
					"{" ABOUT("99999999999999999") "," COLL("AllReduce", "1",
						"1",
						"") "}\n"
						    "{" ABOUT(
							    "1000000") ",\"coll_perf\":{\"coll_sn\":7}}\n"
								       "{" ABOUT(
									       "1000000") ",\"coll_perf\":[]}\n"
											  "{" ABOUT("1000001") "," COLL(
												  "AllReduce",
												  "2",
												  "9223372036854775807",
												  "") "}\n"
												      "{" ABOUT(
													      "1000001") ",\"coll_perf\":{\"coll\":\"AllRed",
		"G 16/0 communicator 0x7f8c rank 2 ncclAllReduce 1000000000+0 d0 r0"
		" communicator=0x7f8c message_bytes=4096 rank=2 ranks=8 nodes=1" LAUNCH(
			"1000000000") "G 16/0 communicator 0x7f8c rank 2 ncclAllReduce 1000001000+0 d0 r0" ARGS("2")
			LAUNCH("1000001000")));
	CHECK(has_metadata("\"events_not_understood\":4") && has_metadata("\"truncated\":true"));
}

/* ---- the flight recorder ---- */

static void put_bytes(struct gt_buf *to, uint64_t v, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		gt_buf_byte(to, (uint8_t)(v >> 8 * i));
}

static struct { /* what the pickle may refer to: texts, and lists and dicts without text */
	char text[256];
	size_t len;
} memo[200];
static unsigned memoized;

/* BINPUT */
static void memoize(struct gt_buf *to, const char *text, size_t len)
{
	if (memoized == sizeof(memo) / sizeof(*memo) || len > sizeof(memo->text))
		abort();
	gt_buf_byte(to, 'q');
	gt_buf_byte(to, (uint8_t)memoized);
	memcpy(memo[memoized].text, text, len);
	memo[memoized++].len = len;
}

/* BINUNICODE; if the text was there before, BINGET. */
static void put_text(struct gt_buf *to, const struct gt_json *j)
{
	for (unsigned i = 0; i < memoized; i++)
		if (j->len && memo[i].len == j->len && !memcmp(memo[i].text, j->text, j->len)) {
			gt_buf_byte(to, 'h');
			gt_buf_byte(to, (uint8_t)i);
			return;
		}
	gt_buf_byte(to, 'X');
	put_bytes(to, j->len, 4);
	gt_buf_add(to, j->text, j->len);
	memoize(to, j->text, j->len);
}

static void put_number(struct gt_buf *to, const struct gt_json *j, int token)
{
	double d = gt_json_double(j);
	int64_t v;
	uint64_t bits;

	if (token == GT_JSON_INT && !gt_json_scale(j->text, j->len, 0, &v)) {
		bool byte = v >= 0 && v < 256, word = v >= INT32_MIN && v <= INT32_MAX;

		gt_buf_str(to, byte ? "K" : word ? "J" : "\x8a\x08");
		put_bytes(to, (uint64_t)v, byte ? 1 : word ? 4 : 8);
		return;
	}
	memcpy(&bits, &d, sizeof(bits));
	gt_buf_byte(to, 'G');
	put_bytes(to, __builtin_bswap64(bits), 8);
}

/* The JSON document as a pickle, with the opcodes of PyTorch's C++ (pickler.cpp). false: the JSON
 * is cut. */
static bool pickle_of(const char *json, struct gt_buf *to)
{
	static const char *const opcodes[] = { [GT_JSON_OBJECT] = "}(",
		[GT_JSON_OBJECT_END] = "u",
		[GT_JSON_ARRAY] = "](",
		[GT_JSON_ARRAY_END] = "e",
		[GT_JSON_TRUE] = "\x88",
		[GT_JSON_FALSE] = "\x89",
		[GT_JSON_NULL] = "N" };
	struct gt_in *in = gt_in_memory(json, strlen(json), NULL);
	struct gt_json j;
	int t;

	if (!in || gt_json_init(&j, in, false, NULL))
		abort();
	memoized = 0;
	gt_buf_str(to, "\x80\x02");
	while ((t = gt_json_next(&j, NULL)) > 0) {
		if (t == GT_JSON_KEY || t == GT_JSON_STRING)
			put_text(to, &j);
		else if (t == GT_JSON_INT || t == GT_JSON_REAL)
			put_number(to, &j, t);
		else
			gt_buf_str(to, opcodes[t]);
		if (t == GT_JSON_OBJECT_END || t == GT_JSON_ARRAY_END)
			memoize(to, "", 0);
	}
	gt_buf_byte(to, '.');
	gt_json_release(&j);
	gt_in_close(in);
	return !t;
}

/* The JSON document lists so, and the same document as a pickle, too. */
static bool both_list(const char *json, const char *expected)
{
	struct gt_buf pickle = { 0 };
	bool same = pickle_of(json, &pickle) &&
		!strcmp(list(open_bytes(pickle.data, pickle.len)), expected);

	if (!same)
		fprintf(stderr, "got from the pickle:\n%s\n",
			err.code ? err.text : (char *)listing.data);
	gt_buf_release(&pickle);
	return same && lists(json, expected);
}

#define ENTRY(id, seq, name, times, state, more)                                                   \
	"{\"record_id\":" id ",\"pg_id\":1,\"process_group\":[\"3\",\"data parallel\"],"           \
	"\"collective_seq_id\":" seq ",\"p2p_seq_id\":9,\"op_id\":4,\"profiling_name\":\"" name    \
	"\"," times ",\"state\":\"" state "\",\"is_p2p\":false,\"timeout_ms\":600000" more "}"
#define TIMES(created, started, completed)                                                         \
	"\"time_created_ns\":" created ",\"time_discovered_started_ns\":" started                  \
	",\"time_discovered_completed_ns\":" completed
#define DOCUMENT(entries)                                                                          \
	"{\"entries\":[" entries "],\"pg_config\":{\"3\":{\"ranks\":\"[0, 1]\"}},"                 \
	"\"pg_status\":{\"1\":{\"last_completed_collective\":\"6\"}},\"version\":\"2.10\"}"
#define GROUP " Process Group Name='3' Process Group Description='data parallel'"
#define FR(id, seq) " sequence=" seq " record_id=" id " op_id=4 timeout_ms=600000"
#define BY_HOST(at)                                                                                \
	" launch_track=1 launch_start=" at                                                         \
	" launch_ns=0 launch_name='nccl:all_reduce' launch_join=1\n"

static void states_of_collectives(void)
{
	CHECK(both_list(
		DOCUMENT(ENTRY("5", "6", "nccl:all_reduce", TIMES("1000", "1500", "1600"),
			"completed", ",\"duration_ms\":0.0003,\"retired\":true") "," ENTRY("6", "7",
			"nccl:all_reduce", TIMES("2000", "0", "2900"), "completed",
			"") "," ENTRY("7", "8", "nccl:all_reduce", TIMES("3000", "3500", "0"),
			"started", "") "," ENTRY("8", "9", "nccl:broadcast",
			TIMES("3100", "null", "null"), "scheduled", "") "," ENTRY("9", "1",
			"gloo:barrier", TIMES("3200", "0", "3300"), "completed", "")),
		"I 0/0 host nccl:all_reduce 1000+0 d0 r0" GROUP
		" state='completed' retired=true" FR("5",
			"6") "\n"
			     "G 0/1 process group 3 (data parallel) nccl:all_reduce 1300+300 d0 r0" GROUP
			     " state='completed' retired=true" FR("5", "6") BY_HOST(
				     "1000") "I 0/0 host nccl:all_reduce 2000+0 d0 r0" GROUP " state='completed'" FR("6",
				     "7") "\n"
					  "G 0/1 process group 3 (data parallel) nccl:all_reduce 2000+900 d0 r0" GROUP
					  " state='completed'" FR("6", "7") BY_HOST(
						  "2000") "O 0/0 host nccl:all_reduce 3000+500 d0 r0" GROUP
							  " state='started'" FR("7",
								  "8") "\n"
								       "O 0/0 host nccl:broadcast 3100+400 d1 r0" GROUP
								       " state='scheduled'" FR("8",
									       "9") "\n"
										    "I 0/0 host gloo:barrier 3200+0 d0 r0" GROUP
										    " state='completed'" FR(
											    "9",
											    "1") "\n"));
	CHECK(has_metadata("\"collectives_not_completed\":2") &&
		has_metadata("\"collectives_without_duration\":1") &&
		has_metadata("\"first_record\":5") &&
		has_metadata("\"last_completed_collective\":\"6\"") &&
		has_metadata("\"version\":\"2.10\""));
}

/* The kernel cannot begin before it is enqueued, nor after it was found started. */
static void times_of_durations(void)
{
	CHECK(both_list(DOCUMENT(ENTRY("0", "1", "nccl:all_reduce", TIMES("1000", "1500", "1900"),
				"completed", ",\"duration_ms\":0.0002") "," ENTRY("1", "2",
				"nccl:all_reduce", TIMES("2000", "2100", "2900"), "completed",
				",\"duration_ms\":0.001")),
		"I 0/0 host nccl:all_reduce 1000+0 d0 r0" GROUP " state='completed'" FR("0",
			"1") "\n"
			     "G 0/1 process group 3 (data parallel) nccl:all_reduce 1500+200 d0 r0" GROUP
			     " state='completed'" FR("0", "1") BY_HOST(
				     "1000") "I 0/0 host nccl:all_reduce 2000+0 d0 r0" GROUP
					     " state='completed'" FR("1",
						     "2") "\n"
							  "G 0/1 process group 3 (data parallel) nccl:all_reduce 2000+1000 d0 r0" GROUP
							  " state='completed'" FR("1", "2")
								  BY_HOST("2000")));
}

static void sizes_and_point_to_point(void)
{
	CHECK(both_list(
		DOCUMENT(
			"{\"profiling_name\":\"nccl:send 0->1\",\"record_id\":1,\"p2p_seq_id\":2,\"collective_seq_id\":7,"
			"\"is_p2p\":true,\"input_dtypes\":[\"Float\",\"Half\"],\"input_sizes\":[[1024,8],[3]],"
			"\"output_dtypes\":[],\"output_sizes\":[]," TIMES("10", "20", "30") "}"),
		"I 0/0 host nccl:send 0->1 10+0 d0 r0 input_dtypes='[Float,Half]' input_sizes='[[1024,8],[3]]' "
		"p2p_seq_id=2 record_id=1 message_bytes=32774\n"
		"G 0/0 process group 0 nccl:send 20+10 d0 r0 input_dtypes='[Float,Half]' input_sizes='[[1024,8],[3]]' "
		"p2p_seq_id=2 record_id=1 message_bytes=32774 launch_track=1 launch_start=10 launch_ns=0 "
		"launch_name='nccl:send 0->1' launch_join=1\n"));
}

#define FRAMES                                                                                        \
	",\"frames\":[{\"name\":\"all_reduce\",\"filename\":\"/p/distributed_c10d.py\",\"line\":26}," \
	"{\"name\":\"step\",\"filename\":\"/home/u/train.py\",\"line\":24},{\"name\":\"main\"},7]"

/* Closes the reader. */
static void check_stack(struct gt_reader *r)
{
	const struct gt_segment *seg = r ? gt_reader_segment(r, 0) : NULL;
	const struct gt_type *type;

	CHECK(seg && seg->nstacks == 1 && seg->stacks[0].n == 3);
	CHECK_STR(gt_str(seg, seg->stacks[0].frames[0]), "main");
	CHECK_STR(gt_str(seg, seg->stacks[0].frames[1]), "step (train.py:24)");
	CHECK_STR(gt_str(seg, seg->stacks[0].frames[2]), "all_reduce (distributed_c10d.py:26)");
	type = &seg->types[seg->ntypes - 1];
	CHECK(gt_type_field(type, GT_R_STACK) != GT_NONE);
	gt_reader_close(r);
}

static void stacks(void)
{
	static const char json[] = DOCUMENT(ENTRY(
		"5", "6", "nccl:all_reduce", TIMES("1000", "1500", "1600"), "completed", FRAMES));
	struct gt_buf pickle = { 0 };

	check_stack(open_bytes(json, sizeof(json) - 1));
	CHECK(pickle_of(json, &pickle));
	check_stack(open_bytes(pickle.data, pickle.len));
	gt_buf_release(&pickle);
}

static void damaged_entries(void)
{
	/* no name, no time, no object, a hostile size */
	CHECK(both_list(
		DOCUMENT("{\"record_id\":0,\"profiling_name\":7," TIMES("1", "2",
			"3") "},"
			     "{\"record_id\":1,\"profiling_name\":\"nccl:x\"},[[]],"
			     "{\"record_id\":2,\"profiling_name\":\"nccl:x\",\"time_created_ns\":1e400},"
			     "{\"record_id\":2,\"profiling_name\":\"nccl:x\",\"state\":\"completed\",\"duration_ms\":1e300,"
			     "\"input_dtypes\":[\"Float\"],\"input_sizes\":[[9223372036854775807,9]]," TIMES(
				     "1", "2", "3") "}"),
		"I 0/0 host nccl:x 1+0 d0 r0 state='completed' input_dtypes='[Float]' "
		"input_sizes='[[9223372036854775807,9]]' record_id=2\n"
		"G 0/0 process group 0 nccl:x 2+1 d0 r0 state='completed' input_dtypes='[Float]' "
		"input_sizes='[[9223372036854775807,9]]' record_id=2 launch_track=1 launch_start=1 launch_ns=0 "
		"launch_name='nccl:x' launch_join=1\n"));
	CHECK(has_metadata("\"events_not_understood\":4"));
	/* completed, but when is not known */
	CHECK(both_list(
		DOCUMENT(ENTRY("0", "1", "nccl:x", TIMES("5", "0", "0"), "completed", "") "," ENTRY(
			"1", "2", "nccl:x", TIMES("6", "0", "4"), "completed", "")),
		"I 0/0 host nccl:x 5+0 d0 r0" GROUP
		" state='completed'" FR("0", "1") "\n"
						  "I 0/0 host nccl:x 6+0 d0 r0" GROUP
						  " state='completed'" FR("1", "2") "\n"));
	CHECK(has_metadata("\"events_without_time\":2") &&
		has_metadata("\"collectives_not_completed\":0"));
	/* cut anywhere behind the first entry */
	CHECK(lists("{\"entries\":[" ENTRY(
			    "0", "1", "nccl:x", TIMES("1", "2", "0"), "started", "") ",{\"rec",
		"O 0/0 host nccl:x 1+1 d0 r0" GROUP " state='started'" FR("0", "1") "\n"));
	CHECK(has_metadata("\"truncated\":true"));
	CHECK(!open_bytes(DOCUMENT("") "{}", sizeof(DOCUMENT("") "{}") - 1) &&
		strstr(err.text, "unexpected text after"));
}

static void metadata_of_a_pickle(void)
{
	struct gt_buf pickle = { 0 };

	CHECK(pickle_of(DOCUMENT(ENTRY("5", "6", "nccl:all_reduce", TIMES("1000", "1500", "null"),
				"started", FRAMES)),
		&pickle));
	list(open_bytes(pickle.data, pickle.len));
	CHECK(has_metadata("\"collectives_not_completed\":1") &&
		has_metadata("\"first_record\":5") &&
		has_metadata("\"flight_recorder\":{\"pg_config\":{\"3\":{\"ranks\":\"[0, 1]\"}},"
			     "\"pg_status\":{\"1\":{\"last_completed_collective\":\"6\"}},"
			     "\"version\":\"2.10\"}") &&
		has_metadata("\"truncated\":false"));
	gt_buf_release(&pickle);
}

T_MAIN(T(the_beginning), T(durations_before_the_dump), T(verbose_lines_have_an_end),
	T(a_dump_of_several), T(damaged_lines_of_the_inspector), T(states_of_collectives),
	T(times_of_durations), T(sizes_and_point_to_point), T(stacks), T(metadata_of_a_pickle),
	T(damaged_entries), T(the_end))
