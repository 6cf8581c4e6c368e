/* Lanes: the tree of tracks as lines, folded, hidden, moved and filtered. */
#define _GNU_SOURCE
#include "tests/unit/t.h"
#include "tests/unit/traces.h"
#include "viewer/lanes/lanes.h"

static bool unknown; /* as if no information about tracks had been read yet */

/* Process "train" has GPU 0 with streams 7 and 13, GPU 1 with stream 7; threads main, worker (the
 * busiest), and some that do little. */
struct world {
	struct gt_reader *reader;
	struct gt_lanes lanes;
	uint32_t process, other, gpu[2], stream[3], thread[6];
	struct gt_err err;
};

static uint32_t track(
	struct gt_writer *w, unsigned kind, uint32_t parent, const char *name, int64_t id)
{
	return gt_writer_track(w,
		&(struct gt_track){ .parent = parent,
			.name = name ? gt_writer_string(w, name) : GT_NONE,
			.source = gt_writer_string(w, "preload"),
			.kind = (uint8_t)kind,
			.id = id,
			.ns_id = id });
}

static struct world *now; /* whose tracks are asked for */

static unsigned depths(void *arg, uint32_t segment, uint32_t t, enum gt_aspect aspect, bool derived)
{
	const struct world *w = now;

	if (unknown)
		return 0;
	if (derived)
		return aspect == GT_ASPECT_CALLS || aspect == GT_ASPECT_WORK ||
			(aspect == GT_ASPECT_HTOD && t == w->gpu[0]);
	for (int i = 0; i < 3; i++)
		if (t == w->stream[i])
			return aspect == GT_ASPECT_WORK || (aspect == GT_ASPECT_OTHERS && i == 0);
	if (t == w->thread[0])
		return aspect == GT_ASPECT_CALLS ? 7 : aspect == GT_ASPECT_IOCTLS ? 1 : 0;
	if (t == w->thread[1])
		return aspect == GT_ASPECT_CALLS ? 1 : aspect == GT_ASPECT_RANGES ? 0xe : 0;
	return t == w->process ? aspect == GT_ASPECT_OTHERS : aspect == GT_ASPECT_CALLS;
}

static uint64_t weight(void *arg, uint32_t segment, uint32_t t)
{
	const struct world *w = now;

	if (unknown)
		return 1;
	return t == w->thread[1] ? 5000 : t == w->thread[2] ? 1000 : t == w->thread[0] ? 300 : 1;
}

static void write_world(struct world *w, int fd)
{
	struct gt_writer_options o = { .meta_json = "{\"gpus\":[{\"model\":\"NVIDIA H200\"}]}",
		.host = "node1",
		.boot_id = "b" };
	struct gt_writer *out = gt_writer_open(fd, &o, &w->err);
	uint32_t call;

	w->other = track(out, GT_TRACK_PROCESS, GT_NONE, "launcher", 90);
	w->process = track(out, GT_TRACK_PROCESS, GT_NONE, "train", 100);
	w->thread[3] = track(out, GT_TRACK_THREAD, w->process, NULL, 103);
	w->thread[1] = track(out, GT_TRACK_THREAD, w->process, "worker", 101);
	w->thread[0] = track(out, GT_TRACK_THREAD, w->process, "main", 100);
	w->gpu[1] = track(out, GT_TRACK_DEVICE, w->process, NULL, 1);
	w->gpu[0] = track(out, GT_TRACK_DEVICE, w->process, "GPU 0", 0);
	w->stream[1] = track(out, GT_TRACK_STREAM, w->gpu[0], "stream 13", 13);
	w->stream[0] = track(out, GT_TRACK_STREAM, w->gpu[0], "stream 7", 7);
	w->stream[2] = track(out, GT_TRACK_STREAM, w->gpu[1], NULL, 7);
	w->thread[2] = track(out, GT_TRACK_THREAD, w->process, "loader", 102);
	w->thread[4] = track(out, GT_TRACK_THREAD, w->process, NULL, 104);
	w->thread[5] = track(out, GT_TRACK_THREAD, w->other, NULL, 90);
	call = gt_writer_type(out, &(struct gt_type){ .name = gt_writer_string(out, "call") });
	gt_writer_row(
		out, GT_CALL, w->thread[0], &(struct gt_row){ 1, 2, call, 0, 0, 0 }, NULL, &w->err);
	gt_writer_row(
		out, GT_GPU, w->stream[0], &(struct gt_row){ 1, 2, call, 0, 0, 0 }, NULL, &w->err);
	gt_writer_close(out, &w->err);
}

static const struct gt_lanes_callbacks known = { .depths = depths, .weight = weight };

static void open_world(struct world *w, int segments)
{
	int fd = temp_file();

	memset(w, 0, sizeof(*w));
	w->err.offset = GT_NO_OFFSET;
	for (int i = 0; i < segments; i++)
		write_world(w, dup(fd));
	w->reader = gt_reader_open_fd(fd, &w->err);
	now = w;
	unknown = false;
	CHECK(w->reader);
	CHECK(!gt_lanes_init(&w->lanes, w->reader, &known, &w->err));
}

static void close_world(struct world *w)
{
	gt_lanes_release(&w->lanes);
	gt_reader_close(w->reader);
}

/* All lines as text: indentation, a mark for what folds, the label. */
static const char *text(struct world *w)
{
	static char all[8000];
	char label[GT_LANE_LABEL];
	size_t n = 0;

	all[0] = 0;
	if (gt_lanes_list(&w->lanes))
		return "no memory";
	for (size_t i = 0; i < w->lanes.n; i++) {
		const struct gt_lane_line *line = &w->lanes.lines[i];

		gt_lanes_label(&w->lanes, line, label);
		n += (size_t)snprintf(all + n, sizeof(all) - n, "%*s%s%s\n", line->indent, "",
			!line->is_foldable     ? ""
				: line->folded ? "+"
					       : "-",
			label);
	}
	return all;
}

static bool is(struct world *w, const char *wanted)
{
	const char *have = text(w);

	if (!strcmp(have, wanted))
		return true;
	printf("have:\n%swanted:\n%s", have, wanted);
	return false;
}

static struct gt_lane_line line_called(struct world *w, const char *label)
{
	char have[GT_LANE_LABEL];

	for (size_t i = 0; i < w->lanes.n; i++) {
		gt_lanes_label(&w->lanes, &w->lanes.lines[i], have);
		if (!strcmp(have, label))
			return w->lanes.lines[i];
	}
	printf("there is no line '%s'\n", label);
	return w->lanes.lines[0];
}

static void toggle(struct world *w, const char *label, bool fold)
{
	struct gt_lane_line line = line_called(w, label);

	gt_lanes_fold(&w->lanes, &line, fold);
	gt_lanes_list(&w->lanes);
}

#define ALL_OF_IT                                                                                  \
	"-train (pid 100)\n"                                                                       \
	" -GPU 0 NVIDIA H200\n"                                                                    \
	"  copies HtoD\n"                                                                          \
	"  -stream 7\n"                                                                            \
	"   waits\n"                                                                               \
	"  stream 13\n"                                                                            \
	" -GPU 1 NVIDIA H200\n"                                                                    \
	"  stream 7\n"                                                                             \
	" -main 100\n"                                                                             \
	"  level 2 calls\n"                                                                        \
	"  level 3 calls\n"                                                                        \
	"  ioctls\n"                                                                               \
	" -ranges worker 101\n"                                                                    \
	"  level 3 ranges\n"                                                                       \
	"  level 4 ranges\n"                                                                       \
	" worker 101\n"                                                                            \
	" loader 102\n"                                                                            \
	" -2 more threads\n"                                                                       \
	"  thread 103\n"                                                                           \
	"  thread 104\n"                                                                           \
	" overhead\n"                                                                              \
	"-launcher (pid 90)\n"                                                                     \
	" thread 90\n"

static void the_tree_is_that_of_the_tracks(void)
{
	struct world w;

	open_world(&w, 1);
	CHECK(is(&w, "+train (pid 100)\n+launcher (pid 90)\n"));
	gt_lanes_fold_all(&w.lanes, false);
	CHECK(is(&w, ALL_OF_IT));
	toggle(&w, "GPU 0 NVIDIA H200", true);
	toggle(&w, "main 100", true);
	toggle(&w, "ranges worker 101", true);
	toggle(&w, "2 more threads", true);
	CHECK(is(&w,
		"-train (pid 100)\n +GPU 0 NVIDIA H200\n -GPU 1 NVIDIA H200\n  stream 7\n +main 100\n +ranges worker 101\n"
		" worker 101\n loader 102\n +2 more threads\n overhead\n-launcher (pid 90)\n thread 90\n"));
	gt_lanes_fold_all(&w.lanes, true);
	CHECK(is(&w, "+train (pid 100)\n+launcher (pid 90)\n"));
	close_world(&w);
}

static void lines_say_what_is_drawn(void)
{
	struct world w;
	struct gt_lane_line l;

	open_world(&w, 1);
	gt_lanes_fold_all(&w.lanes, false);
	text(&w);
	l = line_called(&w, "train (pid 100)");
	CHECK(l.track == w.process && l.aspect == GT_ASPECT_CALLS && l.derived && l.depth == 0);
	l = line_called(&w, "GPU 0 NVIDIA H200");
	CHECK(l.track == w.gpu[0] && l.aspect == GT_ASPECT_WORK && l.derived);
	l = line_called(&w, "copies HtoD");
	CHECK(l.track == w.gpu[0] && l.aspect == GT_ASPECT_HTOD && l.derived);
	l = line_called(&w, "waits");
	CHECK(l.track == w.stream[0] && l.aspect == GT_ASPECT_OTHERS && !l.derived);
	l = line_called(&w, "level 3 calls");
	CHECK(l.track == w.thread[0] && l.aspect == GT_ASPECT_CALLS && l.depth == 2 && !l.derived);
	l = line_called(&w, "ranges worker 101");
	/* their surrounding ranges are unknown */
	CHECK(l.track == w.thread[1] && l.aspect == GT_ASPECT_RANGES && l.depth == 1);
	l = line_called(&w, "overhead");
	CHECK(l.track == w.process && l.aspect == GT_ASPECT_OTHERS && !l.derived);
	l = line_called(&w, "2 more threads");
	CHECK(!l.aspect);
	close_world(&w);
}

static void lanes_are_found_as_more_is_known(void)
{
	struct world w;
	struct gt_lane_line at;

	open_world(&w, 1);
	unknown = true;
	gt_lanes_fold_all(&w.lanes, false);
	CHECK(is(&w,
		"-train (pid 100)\n -GPU 0 NVIDIA H200\n  stream 7\n  stream 13\n -GPU 1 NVIDIA H200\n  stream 7\n main 100\n"
		" worker 101\n loader 102\n -2 more threads\n  thread 103\n  thread 104\n-launcher (pid 90)\n thread 90\n"));
	at = line_called(&w, "worker 101");
	CHECK_EQ(at.aspect, GT_ASPECT_CALLS); /* threads make calls, as a rule */
	unknown = false;
	CHECK(is(&w, ALL_OF_IT));
	CHECK(w.lanes.lines[gt_lanes_find(&w.lanes, &at)].track == w.thread[1]);
	close_world(&w);
}

static void what_is_gone_is_found_in_what_it_was_beneath(void)
{
	struct world w;
	struct gt_lane_line waits, thread;

	open_world(&w, 1);
	gt_lanes_fold_all(&w.lanes, false);
	text(&w);
	waits = line_called(&w, "waits");
	thread = line_called(&w, "thread 104");
	CHECK_EQ(gt_lanes_find(&w.lanes, &waits), 4);
	toggle(&w, "stream 7", true);
	CHECK_EQ(gt_lanes_find(&w.lanes, &waits), 3);
	toggle(&w, "GPU 0 NVIDIA H200", true);
	CHECK_EQ(gt_lanes_find(&w.lanes, &waits), 1);
	toggle(&w, "train (pid 100)", true);
	CHECK(gt_lanes_find(&w.lanes, &waits) == 0 && gt_lanes_find(&w.lanes, &thread) == 0);
	close_world(&w);
}

static void lanes_hide_and_move(void)
{
	struct world w;
	struct gt_lane_line l;

	open_world(&w, 1);
	text(&w);
	toggle(&w, "train (pid 100)", false);
	CHECK(is(&w,
		"-train (pid 100)\n +GPU 0 NVIDIA H200\n +GPU 1 NVIDIA H200\n +main 100\n +ranges worker 101\n worker 101\n"
		" loader 102\n +2 more threads\n overhead\n+launcher (pid 90)\n"));
	l = line_called(&w, "GPU 0 NVIDIA H200");
	CHECK(!gt_lanes_move(&w.lanes, &l, -1) && gt_lanes_move(&w.lanes, &l, 1));
	l = line_called(&w, "loader 102");
	CHECK(gt_lanes_move(&w.lanes, &l, -1));
	l = line_called(&w, "launcher (pid 90)");
	CHECK(!gt_lanes_move(&w.lanes, &l, 1) && gt_lanes_move(&w.lanes, &l, -1));
	l = line_called(&w, "overhead");
	CHECK(!gt_lanes_move(&w.lanes, &l, -1));
	CHECK(is(&w,
		"+launcher (pid 90)\n-train (pid 100)\n +GPU 1 NVIDIA H200\n +GPU 0 NVIDIA H200\n +main 100\n loader 102\n"
		" +ranges worker 101\n worker 101\n +2 more threads\n overhead\n"));
	l = line_called(&w, "ranges worker 101");
	CHECK(gt_lanes_hide(&w.lanes, &l));
	l = line_called(&w, "overhead");
	CHECK(gt_lanes_hide(&w.lanes, &l));
	l = line_called(&w, "GPU 1 NVIDIA H200");
	CHECK(gt_lanes_hide(&w.lanes, &l));
	l = line_called(&w, "2 more threads");
	CHECK(!gt_lanes_hide(&w.lanes, &l));
	CHECK(is(&w,
		"+launcher (pid 90)\n-train (pid 100)\n +GPU 0 NVIDIA H200\n +main 100\n loader 102\n worker 101\n"
		" +2 more threads\n"));
	CHECK(gt_lanes_show_hidden(&w.lanes) && !gt_lanes_show_hidden(&w.lanes));
	CHECK(is(&w,
		"+launcher (pid 90)\n-train (pid 100)\n +GPU 1 NVIDIA H200\n +GPU 0 NVIDIA H200\n +main 100\n loader 102\n"
		" +ranges worker 101\n worker 101\n +2 more threads\n overhead\n"));
	close_world(&w);
}

static void a_filter_leaves_what_matches_and_the_way_there(void)
{
	struct world w;

	open_world(&w, 1);
	gt_lanes_filter(&w.lanes, "STREAM 7");
	CHECK(is(&w,
		"-train (pid 100)\n -GPU 0 NVIDIA H200\n  +stream 7\n -GPU 1 NVIDIA H200\n  stream 7\n"));
	gt_lanes_filter(&w.lanes, "gpu 0");
	CHECK(is(&w, "-train (pid 100)\n +GPU 0 NVIDIA H200\n"));
	toggle(&w, "GPU 0 NVIDIA H200", false);
	CHECK(is(&w,
		"-train (pid 100)\n -GPU 0 NVIDIA H200\n  copies HtoD\n  +stream 7\n  stream 13\n"));
	gt_lanes_filter(&w.lanes, "thread 103");
	CHECK(is(&w, "-train (pid 100)\n thread 103\n"));
	gt_lanes_filter(&w.lanes, "nothing of this name");
	CHECK(is(&w, ""));
	gt_lanes_filter(&w.lanes, "");
	gt_lanes_fold_all(&w.lanes, false);
	CHECK(is(&w, ALL_OF_IT));
	close_world(&w);
}

static void unfolds_what_fits(void)
{
	struct world w;

	open_world(&w, 1);
	/* too few lines for GPUs, even without other lanes */
	CHECK(!gt_lanes_unfold_to(&w.lanes, 5));
	CHECK(is(&w, "+train (pid 100)\n-launcher (pid 90)\n thread 90\n"));
	gt_lanes_fold_all(&w.lanes, true);
	CHECK(!gt_lanes_unfold_to(&w.lanes, 8)); /* threads are folded */
	CHECK(is(&w,
		"-train (pid 100)\n +GPU 0 NVIDIA H200\n -GPU 1 NVIDIA H200\n  stream 7\n +5 threads, others\n"
		"-launcher (pid 90)\n thread 90\n"));
	gt_lanes_fold_all(&w.lanes, true);
	/* streams of both GPUs before anything of the threads */
	CHECK(!gt_lanes_unfold_to(&w.lanes, 15));
	CHECK(is(&w,
		"-train (pid 100)\n -GPU 0 NVIDIA H200\n  copies HtoD\n  +stream 7\n  stream 13\n -GPU 1 NVIDIA H200\n  stream 7\n"
		" +main 100\n +ranges worker 101\n worker 101\n loader 102\n +2 more threads\n overhead\n-launcher (pid 90)\n"
		" thread 90\n"));
	for (size_t lines = 0; lines < 30; lines++) {
		gt_lanes_fold_all(&w.lanes, true);
		CHECK(!gt_lanes_unfold_to(&w.lanes, lines));
		CHECK(w.lanes.n <= (lines > 2 ? lines : 2));
	}
	close_world(&w);
}

static void several_recordings_are_distinguished(void)
{
	struct world w;
	struct gt_lane_line l;

	open_world(&w, 2);
	CHECK(is(&w,
		"-recording 0 node1\n +train (pid 100)\n +launcher (pid 90)\n-recording 1 node1\n +train (pid 100)\n +launcher (pid 90)\n"));
	toggle(&w, "recording 0 node1", true);
	l = line_called(&w, "recording 1 node1");
	CHECK(gt_lanes_move(&w.lanes, &l, -1) && !gt_lanes_hide(&w.lanes, &l));
	CHECK(is(&w,
		"-recording 1 node1\n +train (pid 100)\n +launcher (pid 90)\n+recording 0 node1\n"));
	CHECK_EQ(w.lanes.lines[1].segment, 1);
	close_world(&w);
}

static void a_path_says_what_it_is_beneath(void)
{
	struct world w;
	struct gt_lane_line l;
	char path[200], cut[12];

	open_world(&w, 1);
	gt_lanes_fold_all(&w.lanes, false);
	text(&w);
	l = line_called(&w, "waits");
	gt_lanes_path(&w.lanes, &l, path, sizeof(path));
	CHECK_STR(path, "train (pid 100) > GPU 0 NVIDIA H200 > stream 7 > waits");
	gt_lanes_path(&w.lanes, &l, cut, sizeof(cut));
	CHECK_STR(cut, "train (pid ");
	l = line_called(&w, "train (pid 100)");
	gt_lanes_path(&w.lanes, &l, path, sizeof(path));
	CHECK_STR(path, "train (pid 100)");
	close_world(&w);
}

static void counters_stand_beneath_what_they_are_of(void)
{
	struct world w;
	struct gt_lanes_callbacks with = known;
	struct gt_lane_line l;

	open_world(&w, 1);
	with.counters = (struct gt_counter_key[]){ { 0, w.process, 0 }, { 0, w.gpu[1], 0 } };
	with.ncounters = 2;
	gt_lanes_release(&w.lanes);
	CHECK(w.process < w.gpu[1] && !gt_lanes_init(&w.lanes, w.reader, &with, &w.err));
	gt_lanes_fold_all(&w.lanes, false);
	text(&w);
	toggle(&w, "GPU 0 NVIDIA H200", true);
	toggle(&w, "main 100", true);
	toggle(&w, "2 more threads", true);
	CHECK(is(&w,
		"-train (pid 100)\n +GPU 0 NVIDIA H200\n -GPU 1 NVIDIA H200\n  stream 7\n  call\n +main 100\n -ranges worker 101\n"
		"  level 3 ranges\n  level 4 ranges\n worker 101\n loader 102\n +2 more threads\n overhead\n call\n-launcher (pid 90)\n thread 90\n"));
	l = line_called(&w, "call");
	CHECK(l.kind == GT_LANE_COUNTER && l.track == w.gpu[1] && l.type == 0 && !l.aspect);
	CHECK(!gt_lanes_fold(&w.lanes, &l, true) && gt_lanes_hide(&w.lanes, &l));
	gt_lanes_list(&w.lanes);
	CHECK(line_called(&w, "call").track == w.process);
	close_world(&w);
}

/* "p" with GPU 0, in so many contexts a stream 7 each, and so many streams right on it. */
static struct gt_reader *read_contexts(struct world *w, int contexts, int streams)
{
	struct gt_writer_options o = { .meta_json = "{}", .host = "h", .boot_id = "b" };
	int fd = temp_file();
	struct gt_writer *out;
	struct gt_reader *r;
	uint32_t call;

	out = gt_writer_open(dup(fd), &o, &w->err);
	w->process = track(out, GT_TRACK_PROCESS, GT_NONE, "p", 1);
	w->gpu[0] = track(out, GT_TRACK_DEVICE, w->process, "GPU 0", 0);
	for (int i = 0; i < contexts; i++)
		w->stream[0] = track(out, GT_TRACK_STREAM,
			track(out, GT_TRACK_CONTEXT, w->gpu[0], "context", 1 + i), "stream 7", 7);
	for (int i = 0; i < streams; i++)
		w->stream[0] = track(out, GT_TRACK_STREAM, w->gpu[0], "stream 8", 8);
	call = gt_writer_type(out, &(struct gt_type){ .name = gt_writer_string(out, "k") });
	gt_writer_row(
		out, GT_GPU, w->stream[0], &(struct gt_row){ 1, 2, call, 0, 0, 0 }, NULL, &w->err);
	if (gt_writer_close(out, &w->err) || !(r = gt_reader_open_fd(fd, &w->err)))
		abort();
	return r;
}

static void open_contexts(struct world *w, int contexts, int streams)
{
	*w = (struct world){ .err = GT_ERR_INIT };
	w->reader = read_contexts(w, contexts, streams);
	now = w;
	unknown = true;
	CHECK(!gt_lanes_init(&w->lanes, w->reader, &known, &w->err));
	gt_lanes_fold_all(&w->lanes, false);
}

/* A context has a line only if its device has another one. */
static void contexts_have_lines_if_there_are_several(void)
{
	char path[200];
	struct gt_lane_line l;
	struct world w;

	open_contexts(&w, 1, 0);
	CHECK(is(&w, "-p (pid 1)\n -GPU 0\n  stream 7\n"));
	l = line_called(&w, "stream 7");
	gt_lanes_path(&w.lanes, &l, path, sizeof(path));
	CHECK(!strcmp(path, "GPU 0 > stream 7") && gt_lanes_find(&w.lanes, &l) == 2);
	CHECK(!gt_lanes_move(&w.lanes, &l, -1));
	gt_lanes_filter(&w.lanes, "context"); /* it has no name here */
	CHECK(is(&w, ""));
	gt_lanes_filter(&w.lanes, "gpu");
	CHECK(is(&w, "-p (pid 1)\n -GPU 0\n  stream 7\n"));
	gt_lanes_filter(&w.lanes, "stream");
	CHECK(is(&w, "-p (pid 1)\n -GPU 0\n  stream 7\n"));
	l = line_called(&w, "GPU 0");
	gt_lanes_filter(&w.lanes, "");
	gt_lanes_fold(&w.lanes, &l, true);
	CHECK(is(&w, "-p (pid 1)\n +GPU 0\n") &&
		gt_lanes_find(&w.lanes,
			&(struct gt_lane_line){ .track = 3, .kind = GT_LANE_TRACK }) == 1);
	close_world(&w);
}

static void several_contexts_have_lines(void)
{
	char path[200];
	struct gt_lane_line l;
	struct world w;

	open_contexts(&w, 2, 0);
	CHECK(is(&w, "-p (pid 1)\n -GPU 0\n  -context\n   stream 7\n  -context\n   stream 7\n"));
	l = w.lanes.lines[2];
	CHECK(l.aspect == GT_ASPECT_WORK && l.derived);
	gt_lanes_path(&w.lanes, &w.lanes.lines[5], path, sizeof(path));
	CHECK_STR(path, "GPU 0 > context > stream 7");
	CHECK(gt_lanes_fold(&w.lanes, &l, true) && gt_lanes_move(&w.lanes, &l, 1));
	CHECK(is(&w, "-p (pid 1)\n -GPU 0\n  -context\n   stream 7\n  +context\n"));
	gt_lanes_filter(&w.lanes, "context");
	CHECK(is(&w, "-p (pid 1)\n -GPU 0\n  -context\n   stream 7\n  +context\n"));
	close_world(&w);
	open_contexts(&w, 1, 1);
	CHECK(is(&w, "-p (pid 1)\n -GPU 0\n  -context\n   stream 7\n  stream 8\n"));
	close_world(&w);
}

/* While a trace grows: lanes below the GPU appear below its context later, and no line is lost
 * if lines were moved. */
static void a_context_comes_out(void)
{
	for (int moved = 0; moved < 2; moved++) {
		struct gt_reader *more;
		struct gt_lane_line l;
		struct world w;

		open_contexts(&w, 1, 0);
		gt_lanes_fold_all(&w.lanes, true);
		for (size_t i = 0; i < 2; i++)
			CHECK(!gt_lanes_list(&w.lanes) &&
				gt_lanes_fold(&w.lanes, &w.lanes.lines[i], false));
		gt_lanes_list(&w.lanes);
		l = line_called(&w, "stream 7");
		CHECK(!moved || !gt_lanes_move(&w.lanes, &l, -1));
		more = read_contexts(&w, 2, 0);
		gt_reader_close(w.reader);
		w.reader = more;
		CHECK(!gt_lanes_reopen(&w.lanes, more, &known, &w.err));
		CHECK(is(&w, "-p (pid 1)\n -GPU 0\n  -context\n   stream 7\n  +context\n"));
		CHECK_EQ(gt_lanes_find(&w.lanes, &l), 3);
		l = line_called(&w, "context");
		CHECK(gt_lanes_move(&w.lanes, &l, 1));
		more = read_contexts(&w, 2, 1);
		gt_reader_close(w.reader);
		w.reader = more;
		CHECK(!gt_lanes_reopen(&w.lanes, more, &known, &w.err));
		CHECK(is(&w,
			"-p (pid 1)\n -GPU 0\n  +context\n  -context\n   stream 7\n  stream 8\n"));
		close_world(&w);
	}
}

static bool waiting;
static bool queues(void *arg, uint32_t segment) { return waiting; }

/* Below a GPU, and below each of its streams if it has several; each can be hidden; absent if no
 * work waits. */
static void launches_wait_beneath_their_gpu(void)
{
	struct world w;
	struct gt_lanes_callbacks with = known;
	struct gt_lane_line l;

	open_world(&w, 1);
	with.queues = queues;
	gt_lanes_release(&w.lanes);
	CHECK(!gt_lanes_init(&w.lanes, w.reader, &with, &w.err));
	gt_lanes_fold_all(&w.lanes, false);
	waiting = false;
	text(&w);
	toggle(&w, "main 100", true);
	toggle(&w, "ranges worker 101", true);
	toggle(&w, "2 more threads", true);
	toggle(&w, "launcher (pid 90)", true);
	for (size_t i = 0; i < w.lanes.n; i++)
		CHECK(w.lanes.lines[i].kind != GT_LANE_QUEUE);
	waiting = true;
	CHECK(is(&w,
		"-train (pid 100)\n -GPU 0 NVIDIA H200\n  copies HtoD\n  -stream 7\n   waits\n   queue depth\n  -stream 13\n"
		"   queue depth\n  queue depth\n -GPU 1 NVIDIA H200\n  stream 7\n  queue depth\n +main 100\n +ranges worker 101\n"
		" worker 101\n loader 102\n +2 more threads\n overhead\n+launcher (pid 90)\n"));
	l = line_called(&w, "queue depth");
	CHECK(l.kind == GT_LANE_QUEUE && l.track == w.stream[0] && gt_lane_is_counter(&l) &&
		!gt_lanes_fold(&w.lanes, &l, true));
	CHECK(gt_lanes_hide(&w.lanes, &l) && !gt_lanes_list(&w.lanes) &&
		line_called(&w, "queue depth").track == w.stream[1]);
	CHECK(gt_lanes_show_hidden(&w.lanes) && !gt_lanes_list(&w.lanes) &&
		line_called(&w, "queue depth").track == w.stream[0]);
	close_world(&w);
}

/* The launches that wait for a GPU are counted over all processes. On a GPU that several
 * processes use, only streams have such a line, even a stream that is the only one. */
static void launches_of_shared_gpus_wait_beneath_streams(void)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_writer_options o = { .meta_json = "{}", .host = "h", .boot_id = "b" };
	struct gt_lanes_callbacks with = { .queues = queues, .depths = known.depths };
	int fd = temp_file();
	struct gt_writer *w = gt_writer_open(dup(fd), &o, &err);
	struct world here = { .err = GT_ERR_INIT };

	for (int i = 1; i < 3; i++) {
		uint32_t process = track(w, GT_TRACK_PROCESS, GT_NONE, i == 1 ? "p" : "q", i),
			 device = track(w, GT_TRACK_DEVICE, process, NULL, 0);

		track(w, GT_TRACK_STREAM, device, NULL, 7);
	}
	CHECK(!gt_writer_close(w, &err) && (here.reader = gt_reader_open_fd(fd, &err)));
	waiting = true;
	CHECK(!gt_lanes_init(&here.lanes, here.reader, &with, &err));
	gt_lanes_fold_all(&here.lanes, false);
	unknown = true; /* except which tracks exist */
	CHECK(is(&here,
		"-p (pid 1)\n -GPU 0\n  -stream 7\n   queue depth\n-q (pid 2)\n -GPU 0\n  -stream 7\n   queue depth\n"));
	unknown = false;
	gt_lanes_release(&here.lanes);
	gt_reader_close(here.reader);
}

static void what_was_not_recorded_is_not_drawn(void)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_writer_options o = { .meta_json = "{}", .host = "h", .boot_id = "b" };
	int fd = temp_file();
	struct gt_writer *w = gt_writer_open(dup(fd), &o, &err);
	uint32_t process = track(w, GT_TRACK_PROCESS, GT_NONE, "p", 1),
		 device = track(w, GT_TRACK_DEVICE, process, NULL, 0);
	struct gt_reader *r;
	struct gt_lanes l;

	track(w, GT_TRACK_STREAM, device, NULL, 7);
	track(w, GT_TRACK_THREAD, process, NULL, 1);
	CHECK(!gt_writer_close(w, &err) && (r = gt_reader_open_fd(fd, &err)));
	unknown = true;
	CHECK(!gt_lanes_init(&l, r, &known, &err));
	gt_lanes_fold_all(&l, false);
	CHECK(!gt_lanes_list(&l) && l.n == 4);
	for (size_t i = 0; i < l.n; i++)
		CHECK(!l.lines[i].aspect);
	gt_lanes_release(&l);
	gt_reader_close(r);
}

/* If there are more processes than lines on the screen, GPUs have priority. */
static void threads_give_way_to_many_gpus(void)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_writer_options o = { .meta_json = "{}", .host = "h", .boot_id = "b" };
	struct world w = { .err = GT_ERR_INIT };
	int fd = temp_file();
	struct gt_writer *out = gt_writer_open(dup(fd), &o, &err);
	char wanted[1000] = "";

	for (int i = 0; i < 5; i++) {
		uint32_t process = track(out, GT_TRACK_PROCESS, GT_NONE, "rank", i),
			 device = track(out, GT_TRACK_DEVICE, process, NULL, i);

		track(out, GT_TRACK_STREAM, device, NULL, 7);
		for (int k = 0; k < 3; k++)
			track(out, GT_TRACK_THREAD, process, "t", i * 100 + k);
		sprintf(wanted + strlen(wanted),
			"-rank (pid %d)\n %cGPU %d\n%s +3 threads, others\n", i, i < 2 ? '-' : '+',
			i, i < 2 ? "  stream 7\n" : "");
	}
	CHECK(!gt_writer_close(out, &err) && (w.reader = gt_reader_open_fd(fd, &err)));
	unknown = true;
	CHECK(!gt_lanes_init(&w.lanes, w.reader, &known, &err));
	CHECK(!gt_lanes_unfold_to(&w.lanes, 17));
	CHECK(is(&w, wanted));
	close_world(&w);
}

/* Very many tracks below tracks: neither recursion depth nor memory may grow with them. */
static void deep_and_wide(void)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_writer_options o = { .meta_json = "{}", .host = "h", .boot_id = "b" };
	int fd = temp_file();
	struct gt_writer *w = gt_writer_open(dup(fd), &o, &err);
	uint32_t up = track(w, GT_TRACK_PROCESS, GT_NONE, "p", 1),
		 device = track(w, GT_TRACK_DEVICE, up, NULL, 0);
	struct gt_reader *r;
	struct gt_lanes l;
	long before;

	for (int i = 0; i < 20000; i++)
		up = track(w, GT_TRACK_CUSTOM, up, NULL, i);
	for (int i = 0; i < 200000; i++)
		track(w, GT_TRACK_STREAM, device, NULL, i);
	CHECK(!gt_writer_close(w, &err) && (r = gt_reader_open_fd(fd, &err)));
	unknown = true;
	before = peak_mib();
	CHECK(!gt_lanes_init(&l, r, &known, &err));
	CHECK(!gt_lanes_unfold_to(&l, 50) && l.n <= 50);
	CHECK(!MEMORY_IS_TOLD || peak_mib() - before < 16);
	gt_lanes_fold_all(&l, false);
	CHECK(!gt_lanes_list(&l) && l.n == 220002);
	for (size_t i = 0; i < l.n; i++)
		CHECK(l.lines[i].indent < 16);
	gt_lanes_filter(&l, "stream 199999");
	CHECK(!gt_lanes_list(&l) && l.n == 3);
	CHECK(!MEMORY_IS_TOLD || peak_mib() - before < 32);
	gt_lanes_release(&l);
	gt_reader_close(r);
}

static void nothing_at_all(void)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_writer_options o = { .meta_json = "{}", .host = "h", .boot_id = "b" };
	int fd = temp_file();
	struct gt_writer *w = gt_writer_open(dup(fd), &o, &err);
	struct gt_reader *r;
	struct gt_lanes l;

	CHECK(!gt_writer_close(w, &err) && (r = gt_reader_open_fd(fd, &err)));
	CHECK(!gt_lanes_init(&l, r, &known, &err) && !gt_lanes_unfold_to(&l, 10) && l.n == 0);
	gt_lanes_filter(&l, "x");
	CHECK(!gt_lanes_list(&l) && l.n == 0 && !gt_lanes_show_hidden(&l));
	gt_lanes_release(&l);
	gt_reader_close(r);
}

/* One line stands for two or more idle streams of a GPU, not for a single one. */
static void one_line_for_idle_streams(void)
{
	struct world w;
	struct gt_lane_line a, b;

	open_world(&w, 1);
	gt_lanes_fold_all(&w.lanes, false);
	gt_lanes_list(&w.lanes);
	a = line_called(&w, "stream 7");
	b = line_called(&w, "stream 13");
	CHECK(gt_lanes_set_minor(&w.lanes, 0, b.track, true) && is(&w, ALL_OF_IT));
	CHECK(!gt_lanes_set_minor(&w.lanes, 0, b.track, true));
	CHECK(gt_lanes_set_minor(&w.lanes, 0, a.track, true) && !gt_lanes_list(&w.lanes));
	CHECK(strstr(text(&w), "  -2 idle streams\n   -stream 7\n    waits\n   stream 13\n"));
	toggle(&w, "2 idle streams", true);
	CHECK(strstr(text(&w), "  +2 idle streams\n -GPU 1 NVIDIA H200\n"));
	CHECK(gt_lanes_set_minor(&w.lanes, 0, a.track, false) && !gt_lanes_list(&w.lanes) &&
		is(&w, ALL_OF_IT));
	close_world(&w);
}

T_MAIN(T(the_tree_is_that_of_the_tracks), T(lines_say_what_is_drawn),
	T(lanes_are_found_as_more_is_known), T(what_is_gone_is_found_in_what_it_was_beneath),
	T(lanes_hide_and_move), T(a_filter_leaves_what_matches_and_the_way_there),
	T(unfolds_what_fits), T(several_recordings_are_distinguished),
	T(a_path_says_what_it_is_beneath), T(counters_stand_beneath_what_they_are_of),
	T(launches_wait_beneath_their_gpu), T(launches_of_shared_gpus_wait_beneath_streams),
	T(what_was_not_recorded_is_not_drawn), T(contexts_have_lines_if_there_are_several),
	T(several_contexts_have_lines), T(a_context_comes_out), T(threads_give_way_to_many_gpus),
	T(deep_and_wide), T(nothing_at_all), T(one_line_for_idle_streams))
