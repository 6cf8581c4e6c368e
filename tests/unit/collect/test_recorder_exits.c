/* A process ends while the recorder makes a pass. The calls that it recorded are in the file. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/wait.h>
#include "collect/recorder/recorder_internal.h"
#include "tests/unit/collect/rings.h"

static pid_t start_process(void)
{
	pid_t child = fork();

	if (!child)
		for (;;)
			pause();
	return child;
}

/* The recorder has seen the process, and not yet its thread. The thread makes its calls and the
 * process ends before the recorder asks which processes are alive. */
static void calls_of_a_process_that_ends_within_a_pass(void)
{
	static struct gt_guest_server door;
	pid_t child = start_process();
	int64_t t = past(1000000);
	struct gt_reader *reader;
	struct pen p;

	CHECK(child > 0 && begin(GT_ARGS_KEY));
	r->server = &door;
	new_process(1, child, getpid());
	gt_registry_attach(r);
	p = new_thread(0, 1);
	for (int i = 0; i < 8; i++)
		call(&p, "cuDriverGetVersion", t + i * 20, t + i * 20 + 10);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	CHECK(!gt_registry_check_alive(r, &err));
	CHECK(!gt_registry_reap(r, &err) && gt_recorder_pass(r, &err) >= 0);
	r->server = NULL;
	reader = end();
	CHECK(reader);
	read_rows(reader);
	gt_reader_close(reader);
	CHECK_EQ(nrows, 8);
}

/* The thread of id 1000 makes a call and ends. */
static void live_and_end(void)
{
	struct pen p = new_thread(0, 0);

	call(&p, "cuInit", past(100), past(50));
	CHECK(gt_recorder_pass(r, &err) > 0);
	rings.threads[0].state = GT_SLOT_DONE;
	for (int i = 0; i < 1000 && rings.threads[0].state != GT_SLOT_FREE; i++) {
		usleep(1000);
		gt_recorder_pass(r, &err);
	}
	CHECK_EQ(rings.threads[0].state, GT_SLOT_FREE);
}

static unsigned count_threads(const struct gt_reader *reader)
{
	const struct gt_segment *seg = gt_reader_segment(reader, 0);
	unsigned n = 0;

	for (uint32_t i = 0; i < seg->ntracks; i++)
		n += seg->tracks[i].kind == GT_TRACK_THREAD;
	return n;
}

/* Two slots one after the other are the guest's and gtcollect's; much later, another thread. */
static void a_thread_id_that_is_used_again_has_another_track(void)
{
	struct gt_reader *reader;
	int64_t ended;

	CHECK(begin(GT_ARGS_NONE));
	rings.with_writer = true;
	live_and_end();
	live_and_end();
	CHECK_EQ(gt_recorder_totals(r)->threads, 1);
	for (ended = gt_clock_monotonic(); gt_clock_monotonic() - ended < 2 * GT_SECOND;
		gt_recorder_pass(r, &err))
		usleep(10000);
	live_and_end();
	CHECK_EQ(gt_recorder_totals(r)->threads, 2);
	reader = end();
	CHECK(reader && count_threads(reader) == 2);
	gt_reader_close(reader);
}

T_MAIN(T(a_thread_id_that_is_used_again_has_another_track),
	T(calls_of_a_process_that_ends_within_a_pass))
