/* The line of a thread's states: letters without colours, dashes where it runs,
 * the legend, the selected interval, and hiding. Without switches: the line from samples alone. */
#define _GNU_SOURCE
#include "formats/trace/write/sample_rows.h"
#include "formats/trace/write/sched_rows.h"
#include "tests/unit/t.h"
#include "tests/unit/viewer/view_stage.h"
#include "viewer/app/ui.h"

static struct gt_writer *w;
static struct gt_sched_types types;
static struct gt_err err;

static void put_state(uint32_t track, enum gt_sched_state what, int64_t from, int64_t to)
{
	gt_sched_put(
		&types, track, &(struct gt_sched_row){ what, from, to, 100, 101, 202, 0, 0 }, &err);
}

/* A process with threads 100 and 101. */
static void start_trace(int fd, uint32_t thread[2])
{
	struct gt_writer_options o = { .host = "node1", .boot_id = "b" };
	struct gt_track t = { .parent = GT_NONE, .kind = GT_TRACK_PROCESS, .id = 100 };
	uint32_t process;

	w = gt_writer_open(dup(fd), &o, &err);
	t.source = t.name = gt_writer_string(w, "train");
	process = gt_writer_track(w, &t);
	for (int i = 0; i < 2; i++)
		thread[i] = gt_writer_track(w,
			&(struct gt_track){ .parent = process,
				.name = GT_NONE,
				.source = t.source,
				.kind = GT_TRACK_THREAD,
				.id = 100 + i });
}

static void put_call(uint32_t thread, int64_t from, int64_t to)
{
	uint32_t call =
		gt_writer_type(w, &(struct gt_type){ .name = gt_writer_string(w, "cuInit") });

	gt_writer_row(w, GT_CALL, thread,
		&(struct gt_row){ .start = from, .end = to, .type = call }, NULL, &err);
}

/* Thread 100 makes one call of 1024 us, in turns of 1 us: waits for a lock, is runnable, runs.
 * Thread 101 makes no call, sleeps, and waits for the GIL at the end. `overlaps`: a wrong file,
 * whose states overlap. */
static void open_states(struct stage *st, bool overlaps)
{
	uint32_t thread[2];
	int fd = temp_file();

	start_trace(fd, thread);
	gt_sched_types_init(&types, w, &err);
	put_call(thread[0], 1000, 1025000);
	for (int64_t at = 1000; at < 1025000; at += 4000) {
		put_state(thread[0], GT_SCHED_FUTEX, at, at + 2000);
		put_state(thread[0], GT_SCHED_RUNNABLE, at + 2000, at + 3000);
		put_state(thread[1], at < 900000 ? GT_SCHED_SLEEP : GT_SCHED_GIL, at, at + 3900);
		if (overlaps) {
			put_state(thread[0], GT_SCHED_IO, at - 500, at + 2500);
			put_state(thread[0], GT_SCHED_IO, at + 1000, at + 90000);
		}
	}
	gt_writer_close(w, &err);
	stage_open(st, fd, 120, 30);
}

static void without_colours(void)
{
	struct stage st;

	open_states(&st, false);
	st.screen.mono = true;
	CHECK(play(&st, "Z r"));
	CHECK(on_screen(&st, "    state") && on_screen(&st, "L=lock") &&
		on_screen(&st, "S=sleep") && on_screen(&st, "G=gil"));
	CHECK(strstr(line(&st, line_of(&st, "thread 101")), "SSGGGG"));
	CHECK(strstr(line(&st, line_of(&st, "    state")), "75.0%"));
	CHECK(play(&st, "g '10us' Enter w w w w w w"));
	CHECK(on_screen(&st, "R=runnable"));
	/* the name of an interval is in its box; dashes: the thread runs */
	CHECK(on_screen(&st, "futexL") && on_screen(&st, "RRr\xe2\x94\x80\xe2\x94\x80"));
	CHECK(strstr(line(&st, line_of(&st, "thread 101")), "SSSSSS"));
	strike(&st);
}

static void with_colours(void)
{
	struct stage st;
	const char *at;

	open_states(&st, false);
	CHECK(play(&st, "Z r") && on_screen(&st, "lock") && line_of(&st, "L=lock") < 0);
	at = strstr(line(&st, line_of(&st, "    state")), "L");
	CHECK(!at);
	strike(&st);
}

static void a_selected_interval(void)
{
	struct stage st;

	open_states(&st, false);
	CHECK(play(&st, "Z r < j j") && on_screen(&st, "% off the processor, "));
	CHECK(play(&st, "< j j g '4.5us' Enter w w w Enter"));
	CHECK(on_screen(&st, "futex") && on_screen(&st, "waker_tid") && on_screen(&st, "202"));
	strike(&st);
}

static void the_line_can_be_hidden(void)
{
	struct stage st;

	open_states(&st, false);
	CHECK(play(&st, "Z r < j j x") && line_of(&st, "    state") < 0 &&
		on_screen(&st, "thread 100"));
	CHECK(play(&st, "X") && on_screen(&st, "    state"));
	strike(&st);
}

static void overlapping_states(void)
{
	struct stage st;

	open_states(&st, true);
	CHECK(play(&st, "Z r w w w s s s") && on_screen(&st, "    state"));
	strike(&st);
}

#define PERIOD 5000 /* ns */

/* Thread 100 makes one call of 1000 us. Samples find it running half of the time until 400 us, all
 * of the time until 800 us, and then not at all. Its switches were not recorded. */
static void open_samples(struct stage *st, bool switches)
{
	struct gt_sample_types samples;
	uint32_t thread[2];
	int fd = temp_file();

	start_trace(fd, thread);
	gt_sample_types_init(&samples, w, &err);
	put_call(thread[0], 0, 1000000);
	for (int64_t at = 2500; at < 800000; at += at < 400000 ? 2 * PERIOD : PERIOD)
		gt_sample_put(&samples, thread[0], at, PERIOD, GT_NONE, &err);
	gt_sched_types_init(&types, w, &err);
	if (switches)
		put_state(thread[0], GT_SCHED_FUTEX, 800000, 1000000);
	CHECK(!gt_writer_close(w, &err));
	stage_open(st, fd, 120, 30);
}

static const char *state_line(struct stage *st) { return line(st, line_of(st, "    state")); }

static void from_samples_alone(void)
{
	struct stage st;

	open_samples(&st, false);
	CHECK(play(&st, "Z r") && on_screen(&st, "    state"));
	CHECK_EQ(line_of(&st, "    samples"), line_of(&st, "    state") + 1);
	/* (40 * 10 us / 2 + 80 * 5 us) / 1000 us */
	CHECK(strstr(state_line(&st), "~60.0%"));
	CHECK(strstr(state_line(&st), "\xe2\x96\x83\xe2\x96\x83")); /* less than half: low cells */
	CHECK(strstr(state_line(&st), "\xe2\x96\x88"));             /* all of it: a full one */
	CHECK(play(&st, "< j j g '200us' Enter") &&
		on_screen(&st, "about 41.5% running, by 1 sample  thread 100 > state"));
	/* cells shorter than a period: ticks, and no share of two samples */
	CHECK(play(&st, "w w w w w w") && on_screen(&st, "no sample  thread 100 > state"));
	CHECK(strstr(state_line(&st), "    ?") && strstr(state_line(&st), " \xe2\x95\xbb "));
	/* it is hidden alone, and stays hidden */
	CHECK(play(&st, "x") && line_of(&st, "    state") < 0 && on_screen(&st, "    samples"));
	strike(&st);
}

static void switches_say_more_than_samples(void)
{
	struct stage st;

	open_samples(&st, true);
	CHECK(play(&st, "Z r") && strstr(state_line(&st), " 20.0%"));
	strike(&st);
}

T_MAIN(T(without_colours), T(with_colours), T(a_selected_interval), T(the_line_can_be_hidden),
	T(overlapping_states), T(from_samples_alone), T(switches_say_more_than_samples))
