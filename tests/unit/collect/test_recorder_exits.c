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

T_MAIN(T(calls_of_a_process_that_ends_within_a_pass))
