/* Perfetto's own format: which rows packets become, whatever their writer does: texts inline or by
 * number, times of any clock, events in any order, and bytes that are no packets. */
#define _GNU_SOURCE
#include "tests/unit/formats/import/perfetto/perfetto_packets.h"

/* ---- events ---- */

static void slices_instants_and_counters(void)
{
	struct event e;

	begin_file();
	put_track(PROCESS, 10, 0, "python3", 0);
	put_track(TRACK, 10, 11, "main", PROCESS);
	put_event(100, GT_EVENT_BEGIN, TRACK, "outer");
	put_event(200, GT_EVENT_BEGIN, TRACK, "inner");
	put_event(300, GT_EVENT_INSTANT, TRACK, "now");
	put_event(400, GT_EVENT_END, TRACK, NULL);
	put_event(500, GT_EVENT_END, TRACK, NULL);
	e = open_event(600, GT_EVENT_BEGIN, TRACK, "cuInit");
	text(GT_EVENT_CATEGORY, "cuda_driver");
	number("correlation", 5);
	number("ret", 100);
	close_event(e);
	put_event(700, GT_EVENT_END, TRACK, NULL);
	CHECK(reads("S 10/11 main outer 100+400 d0 r0 category='?'\n"
		    "S 10/11 main inner 200+200 d1 r0 category='?'\n"
		    "I 10/11 main now 300+0 d0 r0 category='?'\n"
		    "C 10/11 main cuInit 600+100 d0 r100 correlation=5\n"));
}

/* As PyTorch writes them: no categories, all begins before all ends, kernels below a GPU's track.
 */
static void pytorch_writes_begins_before_ends(void)
{
	struct event e;

	begin_file();
	put_track(PROCESS, 10, 0, "python3", 0);
	put_track(TRACK, 10, 11, "main", PROCESS);
	put_track(STREAM, 0, 7, "stream 7", 0);
	e = open_event(100, GT_EVENT_BEGIN, TRACK, "cudaLaunchKernel");
	number("cbid", 211);
	number("correlation", 9);
	close_event(e);
	e = open_event(300, GT_EVENT_BEGIN, TRACK, "cudaLaunchKernel");
	number("cbid", 211);
	number("correlation", 10);
	close_event(e);
	for (uint64_t i = 0; i < 2; i++) {
		e = open_event(400 + 100 * i, GT_EVENT_BEGIN, STREAM, i ? "b" : "a");
		number("device", 0);
		number("stream", 7);
		number("correlation", 9 + i);
		three("grid", 4, 2, 1);
		three("block", 256, 1, 1);
		close_event(e);
	}
	put_event(200, GT_EVENT_END, TRACK, NULL);
	put_event(350, GT_EVENT_END, TRACK, NULL);
	put_event(450, GT_EVENT_END, STREAM, NULL);
	put_event(580, GT_EVENT_END, STREAM, NULL);
	list(open_bytes(file, (size_t)(at - file)));
	CHECK(strstr((char *)listing.data,
		"C 10/11 main cudaLaunchKernel 100+100 d0 r0 correlation=9 kernel='a'\n"));
	CHECK(strstr((char *)listing.data,
		"C 10/11 main cudaLaunchKernel 300+50 d0 r0 correlation=10 kernel='b'\n"));
	CHECK(strstr((char *)listing.data, "G 0/7 stream 7 a 400+50 d0 r0 "));
	CHECK(strstr((char *)listing.data, "G 0/7 stream 7 b 500+80 d0 r0 "));
	CHECK(strstr((char *)listing.data, "launch_name='cudaLaunchKernel'"));
}

/* An end ends the slice that is open at its time, wherever it stands in the file. */
static void events_in_any_order(void)
{
	begin_file();
	put_track(TRACK, 10, 11, "main", 0);
	put_event(500, GT_EVENT_END, TRACK, NULL);
	put_event(200, GT_EVENT_BEGIN, TRACK, "inner");
	put_event(100, GT_EVENT_BEGIN, TRACK, "outer");
	put_event(300, GT_EVENT_END, TRACK, NULL);
	put_event(600, GT_EVENT_BEGIN, TRACK, "without end");
	CHECK(reads("S 10/11 main outer 100+400 d0 r0 category='?'\n"
		    "S 10/11 main inner 200+100 d1 r0 category='?'\n"
		    "S 10/11 main without end 600+0 d0 r0 category='?'\n"));
}

static void nesting_of_any_depth(void)
{
	unsigned n = 2000;

	begin_file();
	put_track(TRACK, 10, 11, "main", 0);
	for (unsigned i = 0; i < n; i++)
		put_event(1000 + i, GT_EVENT_BEGIN, TRACK, "f");
	for (unsigned i = 0; i < n; i++)
		put_event(10000 + i, GT_EVENT_END, TRACK, NULL);
	list(open_bytes(file, (size_t)(at - file)));
	CHECK(strstr((char *)listing.data, "f 1000+10999 d0"));
	CHECK(strstr((char *)listing.data, "f 2999+7001 d"));
}

/* ---- numbers of texts, defaults, clocks ---- */

static void put_interned(
	uint64_t sequence, uint64_t flags, uint32_t table, uint64_t iid, const char *s)
{
	char *p = packet(sequence, flags), *i = gt_proto_open(&at, GT_PACKET_INTERNED),
	     *e = gt_proto_open(&at, table);

	at = gt_proto_u64(at, GT_INTERNED_IID, iid);
	text(GT_INTERNED_TEXT, s);
	end(e);
	end(i);
	end(p);
}

static void put_numbered(uint64_t sequence, uint64_t time, uint64_t name)
{
	char *p = packet(sequence, GT_PACKET_NEEDS_STATE), *e;

	at = gt_proto_u64(at, GT_PACKET_TIMESTAMP, time);
	e = gt_proto_open(&at, GT_PACKET_EVENT);
	at = gt_proto_u64(at, GT_EVENT_TYPE, GT_EVENT_INSTANT);
	at = gt_proto_u64(at, GT_EVENT_TRACK, TRACK);
	at = gt_proto_u64(at, GT_EVENT_NAME_IID, name);
	end(e);
	end(p);
}

/* Numbers belong to a sequence, and end when its state is cleared. */
static void numbers_belong_to_a_sequence(void)
{
	begin_file();
	put_track(TRACK, 10, 11, "main", 0);
	put_interned(1, GT_PACKET_CLEARED, GT_INTERNED_NAMES, 1, "one");
	put_interned(2, GT_PACKET_CLEARED, GT_INTERNED_NAMES, 1, "two");
	put_numbered(1, 100, 1);
	put_numbered(2, 200, 1);
	put_interned(1, GT_PACKET_CLEARED, GT_INTERNED_NAMES, 1, "three");
	put_numbered(1, 300, 1);
	put_numbered(1, 400, 99);
	CHECK(reads("I 10/11 main one 100+0 d0 r0 category='?'\n"
		    "I 10/11 main two 200+0 d0 r0 category='?'\n"
		    "I 10/11 main three 300+0 d0 r0 category='?'\n"
		    "I 10/11 main (no name) 400+0 d0 r0 category='?'\n"));
	CHECK(meta_says("\"references_without_entry\":1"));
}

static void put_clock(unsigned id, uint64_t time, uint64_t unit, bool incremental)
{
	char *c = gt_proto_open(&at, GT_CLOCKS_CLOCK);

	at = gt_proto_u64(at, GT_CLOCK_ID, id);
	at = gt_proto_u64(at, GT_CLOCK_TIME, time);
	if (incremental)
		at = gt_proto_u64(at, GT_CLOCK_INCREMENTAL, 1);
	at = gt_proto_u64(at, GT_CLOCK_UNIT, unit);
	end(c);
}

static void put_timed(uint64_t clock, uint64_t time)
{
	char *p = packet(1, 0), *e;

	at = gt_proto_u64(at, GT_PACKET_CLOCK, clock);
	at = gt_proto_u64(at, GT_PACKET_TIMESTAMP, time);
	e = gt_proto_open(&at, GT_PACKET_EVENT);
	at = gt_proto_u64(at, GT_EVENT_TYPE, GT_EVENT_INSTANT);
	at = gt_proto_u64(at, GT_EVENT_TRACK, TRACK);
	text(GT_EVENT_NAME, "tick");
	end(e);
	end(p);
}

/* A clock of the sequence counts us from the packet before. */
static void times_of_clocks(void)
{
	char *p, *c, *e;

	begin_file();
	put_track(TRACK, 10, 11, "main", 0);
	p = packet(1, GT_PACKET_CLEARED);
	c = gt_proto_open(&at, GT_PACKET_DEFAULTS);
	at = gt_proto_u64(at, GT_DEFAULTS_CLOCK, 64);
	e = gt_proto_open(&at, GT_DEFAULTS_EVENT);
	at = gt_proto_u64(at, GT_EVENT_TRACK, TRACK);
	end(e);
	end(c);
	c = gt_proto_open(&at, GT_PACKET_CLOCKS);
	put_clock(GT_CLOCK_BOOTTIME, 1000000, 1, false);
	put_clock(64, 50, 1000, true);
	put_clock(GT_CLOCK_REALTIME, 1790000000000000000, 1, false);
	end(c);
	end(p);
	for (unsigned i = 0; i < 2; i++) {
		p = packet(1, 0);
		at = gt_proto_u64(at, GT_PACKET_TIMESTAMP, 3);
		e = gt_proto_open(&at, GT_PACKET_EVENT);
		at = gt_proto_u64(at, GT_EVENT_TYPE, GT_EVENT_INSTANT);
		text(GT_EVENT_NAME, "tick");
		end(e);
		end(p);
	}
	put_event(0, GT_EVENT_INSTANT, TRACK, "no time passed");
	CHECK(reads("I 10/11 main tick 1003000+0 d0 r0 category='?'\n"
		    "I 10/11 main tick 1006000+0 d0 r0 category='?'\n"
		    "I 10/11 main no time passed 1006000+0 d0 r0 category='?'\n"));
}

/* Events whose clock no snapshot relates to another one. */
static void clocks_without_a_relation(void)
{
	char *p, *c;

	begin_file();
	put_track(TRACK, 10, 11, "main", 0);
	put_event(100, GT_EVENT_INSTANT, TRACK, "a");
	list(open_bytes(file, (size_t)(at - file)));
	CHECK(meta_says("\"events_of_unknown_clocks\":0")); /* there is one clock */
	p = packet(1, 0);
	c = gt_proto_open(&at, GT_PACKET_CLOCKS);
	put_clock(GT_CLOCK_BOOTTIME, 1000, 1, false);
	put_clock(GT_CLOCK_MONOTONIC, 900, 1, false);
	end(c);
	end(p);
	put_timed(GT_CLOCK_MONOTONIC, 200);
	list(open_bytes(file, (size_t)(at - file)));
	CHECK(meta_says("\"events_of_unknown_clocks\":0"));
	put_timed(70, 300);
	put_timed(70, 400);
	CHECK(reads("I 10/11 main a 100+0 d0 r0 category='?'\n"
		    "I 10/11 main tick 300+0 d0 r0 category='?'\n"
		    "I 10/11 main tick 300+0 d0 r0 category='?'\n"
		    "I 10/11 main tick 400+0 d0 r0 category='?'\n"));
	CHECK(meta_says("\"events_of_unknown_clocks\":2"));
}

/* Each snapshot moves the next clock back by the longest time, from the clock before: it stays at
 * the limit. */
static void offsets_of_clocks_do_not_overflow(void)
{
	char *p, *c;

	begin_file();
	put_track(TRACK, 10, 11, "main", 0);
	for (unsigned i = 0; i < 8; i++) {
		p = packet(1, 0);
		c = gt_proto_open(&at, GT_PACKET_CLOCKS);
		put_clock(200 + i, 0, 1, false);
		put_clock(201 + i, UINT64_MAX, 1, false);
		end(c);
		end(p);
	}
	put_timed(200, 100);
	put_timed(208, 200);
	CHECK(reads("I 10/11 main tick -2305843009213693752+0 d0 r0 category='?'\n"
		    "I 10/11 main tick 100+0 d0 r0 category='?'\n"));
}

/* ---- other packets ---- */

static void put_other(void)
{
	char *p = packet(1, 0);

	at = gt_proto_bytes(at, 1, "\x08\x01", 2); /* ftrace */
	end(p);
}

static void packets_of_other_sources(void)
{
	begin_file();
	put_track(TRACK, 10, 11, "main", 0);
	put_event(100, GT_EVENT_INSTANT, TRACK, "now");
	put_other();
	put_other();
	CHECK(reads("I 10/11 main now 100+0 d0 r0 category='?'\n"));
	CHECK(meta_says("\"packets_of_other_sources\":2"));
	CHECK(meta_says("\"references_without_entry\":0"));
	begin_file();
	put_track(TRACK, 10, 11, "main", 0);
	put_other();
	CHECK(fails("no TrackEvents: its packets are of other data sources", GT_NO_OFFSET));
}

/* ---- hostile bytes ---- */

static void bytes_that_are_no_packets(void)
{
	uint64_t good;
	char *p;

	begin_file();
	put_track(TRACK, 10, 11, "main", 0);
	put_event(100, GT_EVENT_BEGIN, TRACK, "f");
	good = (uint64_t)(at - file);
	/* a length that no file has */
	at = gt_proto_varint(gt_proto_tag(at, GT_TRACE_PACKET, GT_PROTO_BYTES), 1ull << 62);
	CHECK(fails("a packet of 4611686018427387904 bytes", good));
	at = file + good;
	at = gt_proto_varint(gt_proto_tag(at, GT_TRACE_PACKET, GT_PROTO_BYTES), 100);
	CHECK(fails("the last packet is incomplete", good));
	at = file + good;
	memset(at, 0xff, 32);
	at += 32;
	CHECK(fails("malformed packet", good));
	/* a field that is longer than its packet */
	at = file + good;
	p = packet(1, 0);
	at = gt_proto_varint(gt_proto_tag(at, GT_PACKET_EVENT, GT_PROTO_BYTES), 1000);
	end(p);
	CHECK(fails("malformed packet", good));
	/* and one in an event */
	at = file + good;
	p = packet(1, 0);
	at = gt_proto_u64(at, GT_PACKET_TIMESTAMP, 5);
	at = gt_proto_bytes(at, GT_PACKET_EVENT, "\x22\x7f", 2);
	end(p);
	CHECK(fails("malformed packet (an event)", good));
}

/* Truncated anywhere, a file is read up to a whole packet, or refused. */
static void truncated_files(void)
{
	size_t whole, ends = 0;

	begin_file();
	put_track(TRACK, 10, 11, "main", 0);
	for (unsigned i = 0; i < 5; i++)
		put_event(100 + i, GT_EVENT_INSTANT, TRACK, "now");
	whole = (size_t)(at - file);
	for (size_t n = 1; n <= whole; n++) {
		struct gt_reader *r = open_bytes(file, n);

		ends += r != NULL;
		CHECK(r || err.code);
		gt_reader_close(r);
	}
	CHECK_EQ(ends, 6u);
}

/* More numbered texts than a sequence may have. */
static void too_many_numbers(void)
{
	unsigned most = GT_PFTRACE_ENTRIES_MAX, piece = 1u << 20;
	char *p = NULL, *i = NULL, *e;

	begin_file();
	for (unsigned n = 0; n < most + 2; n++) {
		if (n % piece == 0) {
			p = packet(1, 0);
			i = gt_proto_open(&at, GT_PACKET_INTERNED);
		}
		e = gt_proto_open(&at, GT_INTERNED_NAMES);
		at = gt_proto_u64(at, GT_INTERNED_IID, n + 1);
		end(e);
		if (n % piece == piece - 1 || n == most + 1) {
			end(i);
			end(p);
		}
	}
	CHECK(fails("more than 4194304 interned entries", (uint64_t)(p - file) - 1));
}

/* Text that begins with a newline is no packet. */
static void text_is_no_packet(void)
{
	static const char *const texts[] = { "\n", "\n\n\n", "\nhello\n", "\nZZZ: hello hello\n",
		"\n# a comment, then lines of words\n" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct gt_reader *r = open_bytes(texts[i], strlen(texts[i]));

		CHECK(!r && strstr(err.text, "not a gt trace"));
		gt_reader_close(r);
	}
}

T_MAIN(T(the_beginning), T(slices_instants_and_counters), T(pytorch_writes_begins_before_ends),
	T(events_in_any_order), T(nesting_of_any_depth), T(numbers_belong_to_a_sequence),
	T(times_of_clocks), T(clocks_without_a_relation), T(offsets_of_clocks_do_not_overflow),
	T(packets_of_other_sources), T(too_many_numbers), T(text_is_no_packet),
	T(bytes_that_are_no_packets), T(truncated_files), T(the_end))
