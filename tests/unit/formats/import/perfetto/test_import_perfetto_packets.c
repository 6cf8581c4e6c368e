/* Packets of Perfetto's format that are no TrackEvents or are special: work and counters of GPUs,
 * as PyTorch's profiler writes them, packed packets, lost packets, a large first packet; and the
 * GPU work of wprof. */
#define _GNU_SOURCE
#include "tests/unit/formats/import/perfetto/perfetto_packets.h"

#include <zlib.h>
#include <zstd.h>

static void u64(uint32_t field, uint64_t v) { at = gt_proto_u64(at, field, v); }

static void entry(uint32_t table, uint64_t iid, uint32_t field, const char *s)
{
	char *e = gt_proto_open(&at, table);

	u64(GT_INTERNED_IID, iid);
	text(field, s);
	end(e);
}

static void spec(uint64_t iid, const char *name, unsigned category)
{
	char *e = gt_proto_open(&at, GT_INTERNED_SPECS);

	u64(GT_INTERNED_IID, iid);
	text(GT_RENDER_SPEC_NAME, name);
	if (category)
		u64(GT_RENDER_SPEC_CATEGORY, category);
	end(e);
}

static void counter_spec(unsigned id, const char *name)
{
	char *e = gt_proto_open(&at, 1);

	u64(GT_GPU_COUNTER_ID, id);
	text(GT_GPU_COUNTER_NAME, name);
	end(e);
}

/* The tables of PyTorch's profiler. */
static void put_tables(void)
{
	char *p = packet(1, GT_PACKET_CLEARED), *i = gt_proto_open(&at, GT_PACKET_INTERNED), *e, *d;

	spec(1, "Kernel", GT_RENDER_COMPUTE);
	spec(2, "Memcpy", 0);
	spec(3, "Memset", 0);
	spec(4, "Annotation", 0);
	spec(5, "EventRecord", 0);
	spec(100, "[007] stream 7", 0);
	spec(101, "Stream #9", 0);
	spec(102, "copy engine", 0);
	entry(GT_INTERNED_NAMES, 1, GT_INTERNED_TEXT, "label");
	entry(GT_INTERNED_KERNELS, 1, GT_KERNEL_DEMANGLED, "gemm(float*)");
	entry(GT_INTERNED_LAUNCH_ARGS, 1, 2, "registers_per_thread");
	entry(GT_INTERNED_LAUNCH_ARGS, 2, 2, "shared_mem_dynamic");
	e = gt_proto_open(&at, GT_INTERNED_CONTEXTS);
	u64(GT_INTERNED_IID, 1);
	u64(2, 10);
	end(e);
	e = gt_proto_open(&at, GT_INTERNED_COUNTERS);
	u64(GT_INTERNED_IID, 1);
	d = gt_proto_open(&at, GT_GPU_DESCRIPTOR_SPECS);
	counter_spec(0, "Power (W)");
	counter_spec(1, "SM Clock (MHz)");
	end(d);
	u64(GT_GPU_DESCRIPTOR_GPU, 3);
	end(e);
	end(i);
	end(p);
}

static struct event open_stage(uint64_t time, uint64_t dur, uint64_t stage, uint64_t queue)
{
	struct event e = { packet(1, GT_PACKET_NEEDS_STATE), NULL };

	u64(GT_PACKET_TIMESTAMP, time);
	e.event = gt_proto_open(&at, GT_PACKET_RENDER_STAGE);
	u64(GT_RENDER_DURATION, dur);
	u64(GT_RENDER_GPU, 3);
	u64(GT_RENDER_STAGE, stage);
	u64(GT_RENDER_QUEUE, queue);
	u64(GT_RENDER_CONTEXT, 1);
	return e;
}

static void extra(const char *name, const char *value)
{
	char *e = gt_proto_open(&at, GT_RENDER_EXTRA);

	text(1, name);
	text(2, value);
	end(e);
}

static void dims(uint32_t field, uint64_t x, uint64_t y, uint64_t z)
{
	char *e = gt_proto_open(&at, field);

	u64(1, x);
	u64(2, y);
	u64(3, z);
	end(e);
}

static void launch_arg(uint64_t iid, uint64_t value)
{
	char *e = gt_proto_open(&at, GT_LAUNCH_ARG);

	u64(GT_LAUNCH_ARG_NAME_IID, iid);
	u64(GT_LAUNCH_ARG_UINT, value);
	end(e);
}

static void call(uint64_t time, uint64_t dur, const char *name, uint64_t correlation)
{
	struct event e = open_event(time, GT_EVENT_BEGIN, TRACK, name);

	text(GT_EVENT_CATEGORY, "cuda_runtime");
	if (correlation)
		number("correlation", correlation);
	close_event(e);
	put_event(time + dur, GT_EVENT_END, TRACK, NULL);
}

/* ---- GPUs ---- */

static void render_stages_are_gpu_work(void)
{
	struct event e;
	char *l;

	begin_file();
	put_track(TRACK, 10, 11, "main", 0);
	put_tables();
	call(100, 50, "cudaLaunchKernel", 5);
	call(200, 50, "cudaMemcpyAsync", 6);
	e = open_stage(300, 40, 1, 100);
	u64(GT_RENDER_KERNEL, 1);
	u64(GT_RENDER_NAME_IID, 1);
	l = gt_proto_open(&at, GT_RENDER_LAUNCH);
	dims(GT_LAUNCH_GRID, 2, 3, 4);
	dims(GT_LAUNCH_BLOCK, 5, 6, 7);
	launch_arg(1, 18);
	launch_arg(2, 9);
	end(l);
	extra("context id", "1");
	extra("stream id", "7");
	extra("correlation", "5");
	extra("arch", "sm_90");
	close_event(e);
	e = open_stage(400, 60, 2, 101);
	extra("correlation", "6");
	extra("bytes", "4096");
	close_event(e);
	close_event(open_stage(500, 10, 3, 102));
	close_event(open_stage(250, 300, 4, 100));
	close_event(open_stage(600, 1, 5, 101));
	list(open_bytes(file, (size_t)(at - file)));
	CHECK(strstr((char *)listing.data,
		"G 3/7 stream 7 gemm(float*) 300+40 d0 r0 " FIELDS(
			"5", "1", "100", "50", "cudaLaunchKernel", "1") SHAPE "\n"));
	CHECK(strstr((char *)listing.data,
		"G 3/9 stream 9 memcpy ? (unknown -> unknown) 400+60 d0 r0 correlation=6 "));
	CHECK(strstr((char *)listing.data, " bytes=4096"));
	/* no number of a stream: on the GPU's track */
	CHECK(strstr((char *)listing.data, "G 10/3 GPU 3 memset (unknown) 500+10 d0 r0 "));
	CHECK(strstr((char *)listing.data, "Stream #9 EventRecord 600+1 d0 r0"));
	CHECK(meta_says("\"gpu_ranges_left_out\":1") && meta_says("\"gpu_kernels\":1"));
	CHECK(meta_says("\"references_without_entry\":0") &&
		meta_says("\"packets_of_other_sources\":0"));
}

/* Without correlation ids, the launch lists the event ids of its work. */
static void launches_list_their_stages(void)
{
	struct event e;
	char *g;

	begin_file();
	put_track(TRACK, 10, 11, "main", 0);
	put_tables();
	e = open_stage(300, 40, 1, 100);
	u64(GT_RENDER_KERNEL, 1);
	u64(GT_RENDER_ID, 77);
	close_event(e);
	e = open_event(100, GT_EVENT_BEGIN, TRACK, "cuLaunchKernel");
	text(GT_EVENT_CATEGORY, "cuda_driver");
	g = gt_proto_open(&at, GT_EVENT_GPU);
	u64(1, 77);
	end(g);
	close_event(e);
	put_event(150, GT_EVENT_END, TRACK, NULL);
	list(open_bytes(file, (size_t)(at - file)));
	CHECK(strstr((char *)listing.data,
		"C 10/11 main cuLaunchKernel 100+50 d0 r0 correlation=77 kernel='gemm(float*)'\n"));
	CHECK(strstr((char *)listing.data, "launch_name='cuLaunchKernel' launch_join=1"));
}

/* Drivers of Android list the names of stages and queues in the first event. */
static void stages_of_old_writers(void)
{
	struct event e = { 0 };
	char *s, *d;

	begin_file();
	for (unsigned i = 0; i < 2; i++) {
		e.packet = packet(1, 0);
		u64(GT_PACKET_TIMESTAMP, 100 + i * 100);
		e.event = gt_proto_open(&at, GT_PACKET_RENDER_STAGE);
		if (!i) {
			s = gt_proto_open(&at, GT_RENDER_SPECS);
			d = gt_proto_open(&at, GT_OLD_SPECS_QUEUE);
			text(1, "queue 0");
			end(d);
			for (unsigned n = 0; n < 2; n++) {
				d = gt_proto_open(&at, GT_OLD_SPECS_STAGE);
				text(1, n ? "Render" : "Binning");
				end(d);
			}
			end(s);
		}
		u64(GT_RENDER_DURATION, 30);
		u64(GT_RENDER_OLD_QUEUE, 0);
		u64(GT_RENDER_OLD_STAGE, i + 1);
		close_event(e);
	}
	list(open_bytes(file, (size_t)(at - file)));
	CHECK(strstr((char *)listing.data, "GPU 0 Render 100+30 d0 r0"));
	CHECK(strstr((char *)listing.data, "GPU 0 (no name) 200+30 d0 r0")); /* there is no third */
}

static void gpu_counter(uint64_t time, uint64_t iid, unsigned id, int64_t value)
{
	char *p = packet(1, 0), *e, *c;

	u64(GT_PACKET_TIMESTAMP, time);
	e = gt_proto_open(&at, GT_PACKET_GPU_COUNTERS);
	c = gt_proto_open(&at, GT_GPU_COUNTERS_COUNTER);
	u64(GT_GPU_COUNTER_ID, id);
	u64(GT_GPU_COUNTER_INT, (uint64_t)value);
	end(c);
	if (iid)
		u64(GT_GPU_COUNTERS_SPECS_IID, iid);
	else
		u64(GT_GPU_COUNTERS_GPU, 2);
	end(e);
	end(p);
}

static void counters_of_gpus(void)
{
	char *p, *e, *d;

	begin_file();
	put_tables();
	gpu_counter(100, 1, 1, 1980);
	gpu_counter(200, 1, 0, -5);
	gpu_counter(300, 1, 9, 1); /* no such counter */
	gpu_counter(350, 2, 0, 1); /* no such descriptor */
	/* a descriptor without a number, in a packet without a time */
	p = packet(2, 0);
	e = gt_proto_open(&at, GT_PACKET_GPU_COUNTERS);
	d = gt_proto_open(&at, GT_GPU_COUNTERS_SPECS);
	counter_spec(1, "GPU Frequency");
	end(d);
	end(e);
	end(p);
	gpu_counter(400, 0, 1, 7);
	p = packet(1, 0);
	u64(GT_PACKET_TIMESTAMP, 500);
	e = gt_proto_open(&at, GT_PACKET_GPU_MEMORY);
	u64(GT_GPU_MEMORY_GPU, 2);
	u64(GT_GPU_MEMORY_SIZE, 1 << 20);
	end(e);
	end(p);
	CHECK(reads("N 0/3 GPU 3 SM Clock (MHz) 100+0 d0 r0 value=1980\n"
		    "N 0/3 GPU 3 Power (W) 200+0 d0 r0 value=-5\n"
		    "N 0/2 GPU 2 GPU Frequency 400+0 d0 r0 value=7\n"
		    "N 0/2 GPU 2 GPU memory 500+0 d0 r0 value=1.04858e+06\n"));
	CHECK(meta_says("\"events_not_understood\":2") && meta_says("\"events_without_time\":0"));
}

/* wprof has categories of its own, and joins calls to work by flows. */
static void gpu_work_of_wprof(void)
{
	static const char *const dim[] = { "grid_x", "grid_y", "grid_z", "block_x", "block_y",
		"block_z" };
	uint64_t flow = 10ull << 32 | 5;
	struct event e;

	begin_file();
	put_track(PROCESS, 10, 0, "python3", 0);
	put_track(TRACK, 10, 11, "main", PROCESS);
	put_track(903, 0, 0, "python3 10 (CUDA)", 0);
	put_track(904, 0, 0, "GPU #1", 903);
	put_track(STREAM, 0, 0, "Stream #7", 904);
	e = open_event(100, GT_EVENT_BEGIN, TRACK, "cudaLaunchKernel");
	text(GT_EVENT_CATEGORY, "CUDA_API");
	at = gt_proto_fixed64(at, GT_EVENT_FLOW, flow);
	close_event(e);
	put_event(150, GT_EVENT_END, TRACK, NULL);
	e = open_event(200, GT_EVENT_BEGIN, STREAM, "gemm");
	text(GT_EVENT_CATEGORY, "CUDA_KERNEL");
	number("device_id", 1);
	number("stream_id", 7);
	number("context_id", 1);
	for (unsigned i = 0; i < 6; i++)
		number(dim[i], i + 2);
	at = gt_proto_fixed64(at, GT_EVENT_FLOW, flow);
	close_event(e);
	put_event(250, GT_EVENT_END, STREAM, NULL);
	e = open_event(300, GT_EVENT_BEGIN, STREAM, "memcpy:HtoD");
	text(GT_EVENT_CATEGORY, "CUDA_MEMCPY");
	number("byte_cnt", 64);
	close_event(e);
	put_event(320, GT_EVENT_END, STREAM, NULL);
	list(open_bytes(file, (size_t)(at - file)));
	CHECK(strstr((char *)listing.data,
		"C 10/11 main cudaLaunchKernel 100+50 d0 r0 correlation=5 kernel='gemm'\n"));
	CHECK(strstr((char *)listing.data,
		"G 1/7 stream 7 gemm 200+50 d0 r0 " FIELDS("5", "1", "100", "50",
			"cudaLaunchKernel",
			"1") " grid_x=2 grid_y=3 grid_z=4 block_x=5 block_y=6 block_z=7\n"));
	CHECK(strstr((char *)listing.data,
		"G 1/7 stream 7 memcpy HtoD (unknown -> unknown) 300+20 d0 r0 "));
	CHECK(strstr((char *)listing.data, "bytes=64") &&
		strstr((char *)listing.data, " direction=1"));
}

/* ---- packed packets ---- */

/* Packs what is in the file from `from` on. */
static void pack(char *from, uint32_t field)
{
	size_t len = (size_t)(at - from), size = len + (len >> 8) + 1024;
	char *copy = malloc(size), *p;
	uLongf packed = size;

	if (field == GT_PACKET_DEFLATED)
		CHECK(compress((Bytef *)copy, &packed, (Bytef *)from, len) == Z_OK);
	else
		packed = ZSTD_compress(copy, size, from, len, 1);
	at = from;
	p = packet(9, 0);
	at = gt_proto_bytes(at, field, copy, packed);
	end(p);
	free(copy);
}

static const uint32_t packings[] = { GT_PACKET_DEFLATED, GT_PACKET_ZSTD };

static void packets_are_packed(void)
{
	for (unsigned i = 0; i < 2; i++) {
		begin_file();
		put_track(TRACK, 10, 11, "main", 0);
		put_event(100, GT_EVENT_INSTANT, TRACK, "a");
		pack(file, packings[i]);
		put_event(200, GT_EVENT_INSTANT, TRACK, "b");
		CHECK(reads("I 10/11 main a 100+0 d0 r0 category='?'\n"
			    "I 10/11 main b 200+0 d0 r0 category='?'\n"));
		CHECK(meta_says("\"packets_of_other_sources\":0"));
		pack(file, packings[1 - i]); /* packed within packed */
		CHECK(fails("packed packets within packed ones", 0));
	}
}

static void damaged_packings(void)
{
	uint64_t good;
	char *from;

	begin_file();
	put_track(TRACK, 10, 11, "main", 0);
	put_event(100, GT_EVENT_INSTANT, TRACK, "a");
	good = (uint64_t)(at - file);
	for (unsigned i = 0; i < 2; i++) {
		at = from = file + good;
		for (unsigned n = 0; n < 50; n++)
			put_event(n * 977, GT_EVENT_INSTANT, TRACK, "b");
		pack(from, packings[i]);
		memset(at - 20, 0xff, 20);
		CHECK(fails(i ? "damaged zst data" : "damaged deflate data", good));
	}
	/* cut off inside, and bytes behind */
	for (unsigned i = 0; i < 2; i++) {
		char *p;

		at = file + good;
		p = packet(9, 0);
		at = gt_proto_bytes(at, GT_PACKET_DEFLATED,
			i ? "\x78\x9c\x03\x00\x00\x00\x00\x01x" : "\x78\x9c\x03", i ? 9 : 3);
		end(p);
		CHECK(fails(i ? "stray bytes after the deflate data"
			      : "the deflate data is cut short here",
			good));
	}
}

/* Small packets of 15 MiB are packed to a few KiB each: more than a quarter of a GiB is refused, in
 * little memory. */
static void a_bomb_is_refused(void)
{
	size_t size = 15u << 20, head;
	ZSTD_CCtx *z = ZSTD_createCCtx();
	char *packed = malloc(1 << 20), *one = calloc(1, size + 64), *p = one, *q;
	ZSTD_outBuffer out = { packed, 1 << 20, 0 };

	p = gt_proto_varint(gt_proto_tag(p, GT_TRACE_PACKET, GT_PROTO_BYTES), size);
	q = p;
	q = gt_proto_varint(gt_proto_tag(q, 1, GT_PROTO_BYTES), size - 5); /* ftrace */
	CHECK(q == p + 5);
	head = (size_t)(p - one);
	for (unsigned i = 0; i < 20; i++) {
		ZSTD_inBuffer in = { one, head + size, 0 };

		while (in.pos < in.size)
			CHECK(!ZSTD_isError(ZSTD_compressStream2(z, &out, &in, ZSTD_e_continue)));
	}
	CHECK(!ZSTD_compressStream2(z, &out, &(ZSTD_inBuffer){ 0 }, ZSTD_e_end));
	begin_file();
	put_track(TRACK, 10, 11, "main", 0);
	put_event(100, GT_EVENT_INSTANT, TRACK, "a");
	head = (size_t)(at - file);
	p = packet(9, 0);
	at = gt_proto_bytes(at, GT_PACKET_ZSTD, packed, out.pos);
	end(p);
	CHECK(fails("a decompression bomb", head));
	free(packed);
	free(one);
	ZSTD_freeCCtx(z);
}

/* ---- lost packets ---- */

static void put_flagged(uint64_t time, uint64_t flags, bool dropped, const char *name)
{
	char *p = packet(1, flags), *e;

	u64(GT_PACKET_TIMESTAMP, time);
	if (dropped)
		u64(GT_PACKET_DROPPED, 1);
	e = gt_proto_open(&at, GT_PACKET_EVENT);
	u64(GT_EVENT_TYPE, GT_EVENT_INSTANT);
	u64(GT_EVENT_TRACK, TRACK);
	text(GT_EVENT_NAME, name);
	end(e);
	end(p);
}

/* The first packet of a sequence says that packets are lost, too: it says nothing. */
static void lost_packets_are_losses(void)
{
	struct gt_reader *r;

	begin_file();
	put_flagged(100, GT_PACKET_CLEARED, true, "a");
	put_flagged(200, GT_PACKET_NEEDS_STATE, false, "b");
	put_flagged(500, GT_PACKET_NEEDS_STATE, true, "needs what is lost");
	put_flagged(600, GT_PACKET_NEEDS_STATE, false, "needs it, too");
	put_flagged(700, 0, false, "c");
	put_flagged(800, GT_PACKET_CLEARED, false, "d");
	put_flagged(900, GT_PACKET_NEEDS_STATE, false, "e");
	put_track(TRACK, 10, 11, "main", 0);
	list(open_bytes(file, (size_t)(at - file)));
	CHECK(strstr((char *)listing.data, "L 0/0 ? 200+300 d0 r0") &&
		!strstr((char *)listing.data, "needs"));
	CHECK(strstr((char *)listing.data, " b 200+0") &&
		strstr((char *)listing.data, " c 700+0") &&
		strstr((char *)listing.data, " d 800+0") &&
		strstr((char *)listing.data, " e 900+0"));
	r = again();
	CHECK_EQ(gt_reader_segment(r, 0)->rows[GT_LOST], 2u); /* and that of two events */
	gt_reader_close(r);
}

/* ---- recognition ---- */

/* The first packet is larger than the bytes that recognition looks at. */
static void large_first_packets(void)
{
	static const uint32_t sources[] = { 1, GT_PACKET_CLOCKS, GT_PACKET_UI_STATE,
		GT_PACKET_INTERNED };
	size_t size = 200000;
	char *filler = calloc(1, size), *p;

	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++) {
		/* a message that all of them have: bytes in field 500 */
		char *end_of_head =
			gt_proto_varint(gt_proto_tag(filler, 500, GT_PROTO_BYTES), size - 5);

		CHECK(end_of_head == filler + 5);
		begin_file();
		p = gt_proto_open(&at, GT_TRACE_PACKET);
		at = gt_proto_bytes(at, sources[i], filler, size);
		end(p);
		put_track(TRACK, 10, 11, "main", 0);
		put_event(100, GT_EVENT_INSTANT, TRACK, "a");
		CHECK(reads("I 10/11 main a 100+0 d0 r0 category='?'\n"));
	}
	/* large text is none */
	memset(file, 'x', size);
	memcpy(file, "\n\xc3\xa4\xc3\xa4\x12 and so on", 16);
	at = file + size;
	CHECK(fails("not a gt trace", 0));
	free(filler);
}

T_MAIN(T(the_beginning), T(render_stages_are_gpu_work), T(launches_list_their_stages),
	T(stages_of_old_writers), T(counters_of_gpus), T(gpu_work_of_wprof), T(packets_are_packed),
	T(damaged_packings), T(a_bomb_is_refused), T(lost_packets_are_losses),
	T(large_first_packets), T(the_end))
