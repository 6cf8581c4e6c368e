/* The recorder with rings that the test writes itself, and the file that it writes. */
#define _GNU_SOURCE
#include <malloc.h>
#include "collect/recorder/recorder.h"
#include "tests/unit/collect/rings.h"

static void rows_nest_and_keep_their_times(void)
{
	struct pen p;
	struct gt_reader *reader;
	int64_t t = past(1000000);

	CHECK(begin(GT_ARGS_NONE));
	p = new_thread(0, 0);
	enter(&p, gt_api_find("cuInit"), t);
	enter(&p, GT_ID_IOCTL, t + 100);
	leave(&p, GT_ID_IOCTL, t + 100, t + 300, 0,
		(uint64_t[]){ (uint64_t)GT_DEV_CTL << 32 | 255, 0xc020462a, 0x20800102, 0 }, 4);
	leave(&p, gt_api_find("cuInit"), t, t + 1000, 100, NULL, 0);
	CHECK(gt_recorder_pass(r, &err) > 0);
	reader = end();
	CHECK(reader);
	read_rows(reader);
	CHECK_EQ(nrows, 2);
	CHECK(!strcmp(rows[0].name, "cuInit") && rows[0].ev.row.ret == 100 &&
		rows[0].ev.row.depth == 0);
	CHECK(rows[0].ev.row.start == t && rows[0].ev.row.end == t + 1000);
	CHECK(!strcmp(rows[1].name, "ioctl RM_CONTROL NV2080_CTRL_CMD_GPU_GET_INFO_V2") &&
		rows[1].ev.row.depth == 1);
	CHECK(rows[1].ev.row.start == t + 100 && rows[1].ev.row.end == t + 300);
	gt_reader_close(reader);
}

static void driver_status_is_a_failure(void)
{
	struct pen p;
	struct gt_reader *reader;
	int64_t t = past(1000000);

	CHECK(begin(GT_ARGS_KEY));
	p = new_thread(0, 0);
	leave(&p, GT_ID_IOCTL, t, t + 10, 0,
		(uint64_t[]){ (uint64_t)GT_DEV_CTL << 32, 0xc0304600 | 0x2b, 0xcbc0, 0x51 }, 4);
	leave(&p, GT_ID_IOCTL, t + 20, t + 30, 0,
		(uint64_t[]){ (uint64_t)GT_DEV_UVM << 32, 37, 0, UINT64_MAX }, 4);
	leave(&p, GT_ID_OPEN, t + 40, t + 50, 7, (uint64_t[]){ (uint64_t)GT_DEV_GPU << 32 | 3, 7 },
		2);
	leave(&p, GT_ID_IOCTL, t + 60, t + 70, -22,
		(uint64_t[]){ (uint64_t)GT_DEV_GPU << 32 | 3, 0x4699, 0, 0 }, 4);
	reader = end();
	CHECK(reader);
	read_rows(reader);
	CHECK_EQ(nrows, 4);
	CHECK(!strcmp(rows[0].name, "ioctl RM_ALLOC HOPPER_COMPUTE_A") &&
		rows[0].ev.row.ret == 0x51 && field(&rows[0], GT_R_STATUS) == 0x51);
	CHECK(!strcmp(rows[1].name, "ioctl UVM_REGISTER_GPU") && rows[1].ev.row.ret == 0 &&
		field(&rows[1], GT_R_STATUS) == 0xdead);
	CHECK(!strcmp(rows[2].name, "open /dev/nvidia3") && rows[2].ev.row.ret == 0 &&
		rows[2].args[1] == 7);
	CHECK(!strcmp(rows[3].name, "ioctl 0x4699") && rows[3].ev.row.ret == -22 &&
		rows[3].args[0] == 3);
	gt_reader_close(reader);
}

static void many_records_cross_chunks_and_chunks_come_back(void)
{
	struct pen p;
	struct gt_reader *reader;
	int64_t t = past(900000000);
	uint32_t before, after;
	uint64_t n = 0;

	CHECK(begin(GT_ARGS_NONE));
	before = rings.s->free_count;
	p = new_thread(0, 0);
	for (int round = 0; round < 40; round++) {
		for (int i = 0; i < 5000; i++, n++)
			call(&p, "cuCtxGetCurrent", t + (int64_t)n * 100,
				t + (int64_t)n * 100 + 30);
		CHECK(gt_recorder_pass(r, &err) > 0);
		CHECK(rings.threads[0].consumed == p.at);
		CHECK(rings.s->free_count ==
			before - 1); /* it keeps the chunk to which it writes */
	}
	rings.threads[0].state = GT_SLOT_DONE;
	CHECK_EQ(gt_recorder_pass(r, &err), 0);
	after = rings.s->free_count;
	CHECK(after == before && rings.threads[0].state == GT_SLOT_FREE &&
		rings.threads[0].first == GT_RING_NIL);
	reader = end();
	CHECK(reader);
	CHECK(gt_reader_segment(reader, 0)->rows[GT_CALL] == n &&
		gt_reader_segment(reader, 0)->rows[GT_LOST] == 0);
	gt_reader_close(reader);
}

static void open_call_is_reported_and_later_finished_with_the_same_start(void)
{
	struct pen p;
	struct gt_reader *reader;
	int64_t t = past(500000);
	unsigned id = gt_api_find("cuCtxSynchronize");

	CHECK(begin(GT_ARGS_NONE));
	p = new_thread(0, 0);
	call(&p, "cuInit", t, t + 10);
	enter(&p, id, t + 20);
	CHECK_EQ(gt_recorder_finish(r, &err), 0); /* closes an epoch */
	CHECK_EQ(gt_recorder_totals(r)->open, 1);
	leave(&p, id, t + 20, gt_clock_monotonic(), 0, NULL, 0);
	reader = end();
	CHECK(reader);
	read_rows(reader);
	CHECK_EQ(nrows, 2);
	CHECK(rows[1].ev.kind == GT_CALL && rows[1].ev.row.start == t + 20 &&
		!strcmp(rows[1].name, "cuCtxSynchronize"));
	gt_reader_close(reader);
}

static void open_calls_end_the_file(void)
{
	struct pen p;
	struct gt_reader *reader;
	int64_t t = past(500000);

	CHECK(begin(GT_ARGS_NONE));
	p = new_thread(0, 0);
	enter(&p, gt_api_find("cuCtxSynchronize"), t);
	enter(&p, GT_ID_IOCTL, t + 50);
	reader = end();
	CHECK(reader);
	CHECK_EQ(gt_reader_segment(reader, 0)->rows[GT_OPEN], 2);
	read_rows(reader);
	CHECK(nrows == 2 && rows[0].ev.kind == GT_OPEN && rows[0].ev.row.start == t &&
		rows[1].ev.row.depth == 1);
	gt_reader_close(reader);
}

/* A call that ended after the pass began is in the ring, but this epoch does not contain its
 * end. */
static void later_ends_wait_and_count_as_open(void)
{
	struct pen p;
	struct gt_reader *reader;
	int64_t t = past(500000), later = gt_clock_monotonic() + 1500000000;

	CHECK(begin(GT_ARGS_NONE));
	p = new_thread(0, 0);
	call(&p, "cuInit", t, t + 10);
	call(&p, "cuCtxSynchronize", t + 20, later);
	call(&p, "cuCtxGetCurrent", later + 1, later + 2);
	CHECK_EQ(gt_recorder_finish(r, &err), 0);
	CHECK((gt_writer_stats(w)->rows[GT_CALL] == 1 && gt_recorder_totals(r)->open == 1) ||
		gt_clock_monotonic() > later);
	while (gt_clock_monotonic() < later + 3)
		usleep(1000);
	reader = end();
	CHECK(reader);
	read_rows(reader);
	CHECK(nrows == 3 && rows[1].ev.row.start == t + 20 && rows[1].ev.row.end == later &&
		gt_reader_segment(reader, 0)->rows[GT_OPEN] == 0);
	gt_reader_close(reader);
}

/* The launch is in the first ring that the recorder reads, the name in the last. */
static void names_are_found_in_other_rings(void)
{
	struct pen a, b;
	struct gt_reader *reader;
	uint64_t words[GT_FIELDS_MAX] = { 0x1234 };
	unsigned id = gt_api_find("cuLaunchKernel"), n = key_fields(id);
	int64_t t = past(500000);

	CHECK(begin(GT_ARGS_KEY));
	a = new_thread(0, 0);
	b = new_thread(5, 0);
	text(&b, GT_REC_NAME, 0x1234, "_Z4saxpyPf");
	leave(&a, id, t, t + 10, 0, words, n);
	words[0] = 0x9999; /* this one never gets a name */
	leave(&a, id, t + 20, t + 30, 0, words, n);
	leave(&a, id, t + 40, t + 50, 0, words, n);
	CHECK(gt_recorder_pass(r, &err) > 0);
	CHECK_EQ(gt_writer_stats(w)->rows[GT_CALL], 3);
	text(&b, GT_REC_NAME, 0x9999, "late"); /* ... until now */
	CHECK(gt_recorder_pass(r, &err) > 0);
	leave(&a, id, t + 60, t + 70, 0, words, n);
	CHECK(gt_recorder_pass(r, &err) > 0);
	reader = end();
	CHECK(reader);
	read_rows(reader);
	CHECK_EQ(nrows, 4);
	CHECK(!strcmp(
		gt_str(rows[0].ev.seg, (uint32_t)field(&rows[0], GT_R_KERNEL)), "_Z4saxpyPf"));
	CHECK_EQ(field(&rows[0], GT_R_FUNC), 0x1234);
	CHECK(field(&rows[1], GT_R_KERNEL) == GT_NONE && field(&rows[2], GT_R_KERNEL) == GT_NONE);
	CHECK(!strcmp(gt_str(rows[3].ev.seg, (uint32_t)field(&rows[3], GT_R_KERNEL)), "late"));
	gt_reader_close(reader);
}

static void strings_and_missing_functions(void)
{
	struct pen p;
	struct gt_reader *reader;
	const char *name = "_Z3addPf";
	uint64_t hash = gt_ring_hash(name, (uint32_t)strlen(name)), words[GT_FIELDS_MAX] = { 0 };
	unsigned id = gt_api_find("cuModuleGetFunction"), n = 0, at = 0;
	struct gt_api_field f[GT_FIELDS_MAX];
	int64_t t = past(500000);

	CHECK(begin(GT_ARGS_KEY));
	for (unsigned i = 0, all = gt_api_fields(&gt_api[id], f); i < all; i++)
		if (f[i].key) {
			if (f[i].kind == GT_F_STR)
				words[at = n] = hash;
			n++;
		}
	p = new_thread(0, 0);
	text(&p, GT_REC_STRING, hash, name);
	text(&p, GT_REC_UNKNOWN_FUNCTION, 1, "cuFromTheFuture");
	text(&p, GT_REC_UNKNOWN_FUNCTION, 1, "cuFromTheFuture");
	leave(&p, id, t, t + 10, 0, words, n);
	CHECK(gt_recorder_pass(r, &err) > 0);
	CHECK(gt_recorder_totals(r)->nunknown_functions == 1 &&
		gt_recorder_totals(r)->unknown_functions[0].count == 2);
	CHECK_STR(gt_recorder_totals(r)->unknown_functions[0].name, "cuFromTheFuture");
	reader = end();
	CHECK(reader);
	read_rows(reader);
	CHECK(nrows == 1 && !strcmp(gt_str(rows[0].ev.seg, (uint32_t)rows[0].args[at]), name));
	gt_reader_close(reader);
}

static void losses_become_rows(void)
{
	struct pen p;
	struct gt_reader *reader;
	uint64_t track = 0, process = 0, all = 0;
	int64_t t = past(500000);

	CHECK(begin(GT_ARGS_NONE));
	p = new_thread(0, 0);
	call(&p, "cuInit", t, t + 10);
	rings.threads[0].dropped = 7;
	rings.threads[0].dropped_from = (uint64_t)t + 20;
	rings.threads[0].dropped_to = (uint64_t)t + 90;
	rings.threads[0].deep = 2;
	rings.procs[0].untraced = 3;
	rings.s->untraced = 5; /* the three, and two of a process without a slot */
	CHECK_EQ(gt_recorder_finish(r, &err), 0);
	rings.threads[0].dropped = 9;
	rings.threads[0].dropped_to = (uint64_t)t + 200;
	rings.threads[0].state = GT_SLOT_DONE;
	CHECK_EQ(gt_recorder_finish(r, &err), 0);
	CHECK(gt_recorder_totals(r)->dropped == 9 && gt_recorder_totals(r)->untraced == 5 &&
		gt_recorder_totals(r)->deep == 2);
	reader = end();
	CHECK(reader);
	read_rows(reader);
	for (unsigned i = 0; i < nrows; i++)
		if (rows[i].ev.kind == GT_LOST)
			*(rows[i].args[1] == GT_SCOPE_TRACK                   ? &track
					: rows[i].args[1] == GT_SCOPE_PROCESS ? &process
									      : &all) +=
				rows[i].args[0];
	CHECK(track == 9 && process == 3 && all == 2);
	CHECK(rows[1].ev.kind == GT_LOST && rows[1].ev.row.start == t + 20 &&
		rows[1].ev.row.end == t + 90);
	gt_reader_close(reader);
}

/* Damage of the rings by a wild pointer must not affect the records of other threads, nor the
 * recorder. */
static void garbage_is_given_up(void)
{
	static const struct {
		uint64_t word;
		int what;
	} bad[] = {
		{ UINT64_MAX, 0 },
		{ (uint64_t)13 << 8, 0 },
		{ (uint64_t)1 << 40, 0 },
		{ 0, 1 },
		{ 0, 2 },
		{ 0, 3 },
		{ 0, 4 },
		{ 3ull << 61, 5 },
		{ INT64_MAX, 5 },
		{ UINT64_MAX, 5 },
		{ 3ull << 61, 6 },
		{ UINT64_MAX, 6 },
		{ 1, 6 },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct pen good, evil;
		struct gt_reader *reader;
		struct gt_rec *rec;
		int64_t t = past(500000);

		CHECK(begin(GT_ARGS_KEY));
		evil = new_thread(0, 0);
		good = new_thread(1, 0);
		call(&evil, "cuInit", t, t + 10);
		call(&evil, "cuInit", t + 20, t + 30);
		call(&good, "cuInit", t, t + 10);
		rec = (struct gt_rec *)gt_rings_chunk(&rings, evil.chunk)->payload;
		if (bad[i].what == 1)
			rec->kind_depth = 7 << 5;
		else if (bad[i].what == 2)
			rec->nargs = 255;
		else if (bad[i].what == 3)
			rec->id = 65535;
		else if (bad[i].what == 4)
			rings.threads[0].first = 0x7fffffff;
		else if (bad[i].what == 5)
			rec->start = bad[i].word;
		else if (bad[i].what == 6)
			rec->end = bad[i].word;
		else
			rings.threads[0].word = bad[i].word;
		CHECK(gt_recorder_pass(r, &err) >= 0);
		CHECK_EQ(gt_recorder_totals(r)->broken, 1);
		reader = end();
		CHECK(reader);
		read_rows(reader);
		CHECK(nrows >= 2);
		CHECK(gt_reader_segment(reader, 0)->rows[GT_LOST] == 1 &&
			gt_reader_segment(reader, 0)->rows[GT_CALL] >= 1);
		gt_reader_close(reader);
	}
}

/* The traced program can write to the head of the rings, too. */
static void recording_goes_on_after_settings_were_overwritten(void)
{
	struct gt_reader *reader;
	struct pen p;
	int64_t t = past(500000);

	CHECK(begin(GT_ARGS_NONE));
	p = new_thread(0, 0);
	call(&p, "cuInit", t, t + 10);
	CHECK(gt_recorder_pass(r, &err) > 0);
	rings.s->ring_max = rings.s->chunk_bytes = rings.s->nchunks = 0;
	CHECK(gt_recorder_pass(r, &err) >= 0);
	reader = end();
	CHECK(reader && gt_reader_segment(reader, 0)->rows[GT_CALL] == 1);
	gt_reader_close(reader);
}

/* Clocks that are off by a few ns between calls: siblings must not overlap, children must stay
 * inside. */
static void rows_are_made_to_nest(void)
{
	struct pen p;
	struct gt_reader *reader;
	int64_t t = past(500000);

	CHECK(begin(GT_ARGS_NONE));
	p = new_thread(0, 0);
	call(&p, "cuInit", t, t + 100);
	/* begins before its sibling ended */
	call(&p, "cuInit", t + 97, t + 200);
	enter(&p, gt_api_find("cuMemAlloc_v2"), t + 300);
	enter(&p, GT_ID_IOCTL, t + 298); /* begins before its parent */
	leave(&p, GT_ID_IOCTL, t + 298, t + 402, 0, NULL, 0);
	/* ends before its child */
	leave(&p, gt_api_find("cuMemAlloc_v2"), t + 300, t + 400, 0, NULL, 0);
	reader = end();
	CHECK(reader);
	read_rows(reader);
	CHECK_EQ(nrows, 4);
	CHECK(rows[1].ev.row.start >= rows[0].ev.row.end);
	CHECK(rows[2].ev.row.depth == 0 && rows[3].ev.row.depth == 1);
	CHECK(rows[2].ev.row.start <= rows[3].ev.row.start &&
		rows[2].ev.row.end >= rows[3].ev.row.end);
	gt_reader_close(reader);
}

static void forked_child_knows_its_parents_names(void)
{
	struct pen a, b;
	struct gt_reader *reader;
	uint64_t words[GT_FIELDS_MAX] = { 0x77 };
	unsigned id = gt_api_find("cuLaunchKernel"), n = key_fields(id);
	int64_t t = past(500000);

	CHECK(begin(GT_ARGS_KEY));
	a = new_thread(0, 0);
	text(&a, GT_REC_NAME, 0x77, "parents");
	CHECK(gt_recorder_pass(r, &err) > 0);
	new_process(1, 4243, 4242);
	b = new_thread(1, 1);
	leave(&b, id, t, t + 10, 0, words, n);
	reader = end();
	CHECK(reader);
	read_rows(reader);
	CHECK(nrows == 1 &&
		!strcmp(gt_str(rows[0].ev.seg, (uint32_t)field(&rows[0], GT_R_KERNEL)), "parents"));
	CHECK(gt_track_process(rows[0].ev.seg, rows[0].ev.track) != GT_NONE);
	CHECK_EQ(rows[0].ev.seg->tracks[gt_track_process(rows[0].ev.seg, rows[0].ev.track)].id,
		4243);
	gt_reader_close(reader);
}

static void rings_refuse_silly_sizes(void)
{
	struct gt_rings_options small = { .memory = 4096 }, huge = { .memory = 1ull << 50 },
				thin = { .memory = 4 << 20, .per_thread = 100 };

	for (struct gt_rings_options **o =
			(struct gt_rings_options *[]){ &small, &huge, &thin, NULL };
		*o; o++) {
		err = (struct gt_err)GT_ERR_INIT;
		CHECK(gt_rings_open(&rings, *o, &err) < 0 && err.text[0]);
	}
}

static void passes_are_as_rare_as_the_rings_allow(void)
{
	const uint64_t room = 64 << 20;
	int64_t quiet = gt_poll_interval(room, 0, 5000000);

	CHECK(quiet > 4000000 && quiet <= GT_POLL_MAX);
	/* 7 MB/s: a training program */
	CHECK(gt_poll_interval(room, 7000 * 8, 8000000) == quiet);
	/* 1.5 GB/s: 1/64 of the ring per pass */
	CHECK(gt_poll_interval(room, 1500000, 1000000) == (int64_t)((room >> 6) / 1.5));
	CHECK_EQ(gt_poll_interval(room, 1 << 30, 1000000), GT_POLL_MIN);
	/* fuller rings, more passes */
	CHECK(gt_poll_interval(room >> 3, 150000, 1000000) <
		gt_poll_interval(room, 150000, 1000000));
	CHECK(gt_poll_interval(0, 0, 0) == GT_POLL_MIN &&
		gt_poll_interval(0, 1, INT64_MAX) == GT_POLL_MIN);
	CHECK(gt_poll_interval(UINT64_MAX, 0, 0) == GT_POLL_MAX &&
		gt_poll_interval(UINT64_MAX, INT64_MAX, INT64_MAX) == GT_POLL_MAX);
	/* at 1 byte per ns, most stays free */
	for (uint64_t part = 4 << 20; part < 1ull << 36; part += part / 3)
		for (int64_t per_ms = 0; per_ms <= 1000000; per_ms += 9973)
			CHECK((uint64_t)gt_poll_interval(part, per_ms, 1000000) <= part / 8);
}

static void room_is_what_threads_may_fill(void)
{
	struct gt_rings_options opt = { .memory = 4 << 20, .per_thread = 256 << 10 };
	uint64_t all;

	err = (struct gt_err)GT_ERR_INIT;
	CHECK(!gt_rings_open(&rings, &opt, &err));
	CHECK(gt_rings_free_bytes(&rings) == 512 << 10);
	rings.ring_max = 64 << 20;
	all = gt_rings_free_bytes(&rings);
	CHECK(all > 3 << 20 && all < 4 << 20);
	CHECK(pop() != GT_RING_NIL);
	CHECK(gt_rings_free_bytes(&rings) == all - rings.s->chunk_bytes);
	gt_rings_close(&rings);
}

static void slots_follow_the_memory(void)
{
	static const struct {
		uint64_t memory;
		uint32_t least;
	} sizes[] = {
		{ 1 << 20, 90 },
		{ 4 << 20, 200 },
		{ 64 << 20, 1600 },
		{ 512 << 20, 13000 },
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct gt_rings_options opt = { .memory = sizes[i].memory };

		CHECK(!gt_rings_open(&rings, &opt, &err));
		CHECK(rings.nthreads >= sizes[i].least && rings.nprocs == rings.nthreads);
		CHECK(rings.nthreads < rings.nchunks && rings.bytes <= sizes[i].memory);
		gt_rings_close(&rings);
	}
}

/* Calls of more threads than there is memory to hold them until the epoch closes; a call around
 * them all ends last. */
static void many_busy_threads_take_little_memory(void)
{
	enum { THREADS = 2000, CALLS = 500, STEP = 100 };
	struct gt_track track = {
		.parent = GT_NONE, .source = GT_NONE, .name = GT_NONE, .kind = GT_TRACK_THREAD
	};
	struct gt_row row = { .depth = 1 }, whole = { .start = 900, .end = 1000 + CALLS * STEP };
	struct gt_filter all = { 0 };
	struct gt_event ev = { 0 };
	struct gt_reader *reader;
	struct gt_iter *it;
	uint32_t n = 0, wrong = 0;

	CHECK(begin(GT_ARGS_NONE));
	row.type = whole.type =
		gt_writer_type(w, &(struct gt_type){ .name = gt_writer_string(w, "busy") });
	for (int i = 0; i < THREADS; i++) {
		uint32_t id = gt_writer_track(w, &track);

		for (row.start = 1000; row.start < whole.end; row.start += STEP) {
			row.end = row.start + STEP / 2;
			CHECK(!gt_writer_row(w, GT_CALL, id, &row, NULL, &err));
		}
	}
	CHECK(!gt_writer_row(w, GT_CALL, 0, &whole, NULL, &err));
	/* most calls are written, although the epoch is not closed */
	CHECK(gt_writer_stats(w)->unpacked > THREADS * CALLS);
	reader = end();
	CHECK(reader);
	it = gt_iter_open(reader, &all, &err);
	for (int64_t last = 0; it && gt_iter_next(it, &ev, &err) > 0; last = ev.row.start, n++)
		wrong += ev.row.start < last || (ev.row.depth == 0) != (n == 0);
	gt_iter_close(it);
	CHECK(n == THREADS * CALLS + 1 && !wrong);
	gt_reader_close(reader);
}

static size_t in_use(void)
{
	struct mallinfo2 m = mallinfo2(); /* all 0 under a sanitizer */

	return m.uordblks + m.hblkhd;
}

/* More than an hour of epochs: of each, only the index entries of its blocks stay in memory, in
 * a buffer that doubles. */
static void long_runs_keep_only_the_index(void)
{
	struct gt_track track = {
		.parent = GT_NONE, .source = GT_NONE, .name = GT_NONE, .kind = GT_TRACK_THREAD
	};
	struct gt_row row = { 0 };
	struct gt_anchor anchor = { 0 };
	struct gt_reader *reader;
	size_t before = 0, grown;
	uint32_t id;

	CHECK(begin(GT_ARGS_NONE));
	row.type = gt_writer_type(w, &(struct gt_type){ .name = gt_writer_string(w, "call") });
	id = gt_writer_track(w, &track);
	for (int64_t epoch = 1; epoch <= 5000; epoch++) {
		for (int i = 0; i < 50; i++) {
			row.start = epoch * GT_SECOND + i * 1000;
			row.end = row.start + 500;
			CHECK(!gt_writer_row(w, GT_CALL, id, &row, NULL, &err));
		}
		anchor.monotonic = row.end + 1;
		CHECK(!gt_writer_open_call(w, id, &row, NULL, &err) &&
			!gt_writer_anchor(w, &anchor, &err) &&
			!gt_writer_epoch(w, anchor.monotonic, &err));
		if (epoch == 100)
			before = in_use();
	}
	grown = in_use() - before;
	CHECK(grown <= 2 * gt_writer_stats(w)->index_bytes + (64 << 10));
	reader = end();
	CHECK(reader);
	gt_reader_close(reader);
}

T_MAIN(T(rows_nest_and_keep_their_times), T(driver_status_is_a_failure),
	T(many_records_cross_chunks_and_chunks_come_back),
	T(open_call_is_reported_and_later_finished_with_the_same_start), T(open_calls_end_the_file),
	T(later_ends_wait_and_count_as_open), T(names_are_found_in_other_rings),
	T(strings_and_missing_functions), T(losses_become_rows), T(garbage_is_given_up),
	T(rows_are_made_to_nest), T(forked_child_knows_its_parents_names),
	T(rings_refuse_silly_sizes), T(passes_are_as_rare_as_the_rings_allow),
	T(room_is_what_threads_may_fill), T(slots_follow_the_memory),
	T(many_busy_threads_take_little_memory), T(long_runs_keep_only_the_index),
	T(recording_goes_on_after_settings_were_overwritten))
