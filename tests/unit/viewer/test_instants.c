/* Instants that are no samples: on the line of a track that has nothing else, and on the lane
 * `instants` of other tracks; their details. */
#define _GNU_SOURCE
#include "formats/trace/write/sample_rows.h"
#include "tests/unit/t.h"
#include "tests/unit/viewer/view_stage.h"
#include "viewer/app/ui.h"

static struct gt_err err;

static uint32_t add_track(
	struct gt_writer *w, uint32_t parent, const char *name, enum gt_track_kind kind, int64_t id)
{
	uint32_t text = gt_writer_string(w, name);

	return gt_writer_track(w,
		&(struct gt_track){ .parent = parent,
			.name = text,
			.source = text,
			.kind = (uint8_t)kind,
			.id = id });
}

static void put_row(struct gt_writer *w, enum gt_kind kind, uint32_t track, const char *name,
	int64_t from, int64_t to)
{
	struct gt_type type = {
		.name = gt_writer_string(w, name), .category = GT_CAT_USER, .layer = GT_LAYER_USER
	};

	gt_writer_row(w, kind, track,
		&(struct gt_row){ .start = from, .end = to, .type = gt_writer_type(w, &type) },
		NULL, &err);
}

/* 100 us: thread 100 has a call, a sample and 3 instants; the track "allocator" 2
 * instants; the process one. */
static void open_trace(struct stage *st)
{
	int fd = temp_file();
	struct gt_writer_options o = { .host = "node1", .boot_id = "b" };
	struct gt_writer *w = gt_writer_open(dup(fd), &o, &err);
	uint32_t process = add_track(w, GT_NONE, "train", GT_TRACK_PROCESS, 100),
		 thread = add_track(w, process, "main", GT_TRACK_THREAD, 100),
		 allocator = add_track(w, process, "allocator", GT_TRACK_CUSTOM, 1);
	struct gt_sample_types samples;

	gt_sample_types_init(&samples, w, &err);
	put_row(w, GT_CALL, thread, "cuInit", 0, 100000);
	gt_sample_put(&samples, thread, 50000, 1000, GT_NONE, &err);
	for (int64_t i = 1; i <= 3; i++)
		put_row(w, GT_INSTANT, thread, "epoch", 20000 * i, 20000 * i);
	put_row(w, GT_INSTANT, allocator, "alloc", 10000, 10000);
	put_row(w, GT_INSTANT, allocator, "free", 90000, 90000);
	put_row(w, GT_INSTANT, process, "restart", 70000, 70000);
	CHECK(!gt_writer_close(w, &err));
	stage_open(st, fd, 120, 30);
}

static void lanes_of_instants(void)
{
	struct stage st;
	int y;

	open_trace(&st);
	CHECK(play(&st, "Z r") && on_screen(&st, "    instants"));
	y = line_of(&st, "    instants");
	CHECK_EQ(line_of(&st, "    samples"), y - 1);
	CHECK(strstr(line(&st, y), " 3\xe2\x94\x82") && strstr(line(&st, y), "\xe2\x95\xbb"));
	CHECK(strstr(line(&st, y - 1), " 1\xe2\x94\x82"));
	y = line_of(&st, "  allocator");
	CHECK(y > 0 && strstr(line(&st, y), " 2\xe2\x94\x82") &&
		strstr(line(&st, y), "\xe2\x95\xbb"));
	strike(&st);
}

static void details_and_hiding(void)
{
	struct stage st;

	open_trace(&st);
	CHECK(play(&st, "Z r < j j j j g '38us' Enter Tab Enter i"));
	CHECK(on_screen(&st, "epoch") && on_screen(&st, "instant, ") &&
		line_of(&st, "duration") < 0);
	CHECK(play(&st, "i Esc Esc x") && line_of(&st, "    instants") < 0 &&
		on_screen(&st, "    samples"));
	strike(&st);
}

T_MAIN(T(lanes_of_instants), T(details_and_hiding))
