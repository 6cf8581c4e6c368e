/* The preloaded library in real processes, on a driver made for this test. */
#include "tests/unit/collect/guest/guest_host.h"
#include "collect/ipc/shared_memory.h"
#include "tests/unit/t.h"

static char top[3000]; /* the build folder */

static char *in_build(const char *name)
{
	static char paths[4][4096];
	static int at;
	char *p = paths[at++ % 4];

	snprintf(p, sizeof(paths[0]), "%s/%s", top, name);
	return p;
}

static void find_top(void)
{
	ssize_t n = readlink("/proc/self/exe", top, sizeof(top) - 1);

	top[n > 0 ? n : 0] = 0;
	for (int i = 0; i < 2 && strrchr(top, '/'); i++)
		*strrchr(top, '/') = 0;
}

static void open_host(struct host *h, uint32_t nchunks)
{
	find_top();
	host_open(h, in_build("libgtpreload.so"), 300, nchunks, 4096);
}

/* Runs a mode of a program to its end; its status. */
static int run(struct host *h, const char *program, const char *mode, const char *arg)
{
	char *argv[] = { in_build(program), (char *)mode, (char *)arg, NULL };
	int status = -1;

	waitpid(host_spawn(h, argv), &status, 0);
	host_drain(h);
	return status;
}
#define LINKED "guest/fake/linked"
#define UNLINKED "guest/fake/unlinked"

static unsigned count_kind(const struct host *h, unsigned kind, const char *text)
{
	unsigned n = 0;

	for (size_t i = 0; i < h->nseen; i++)
		n += h->seen[i].kind == kind && !strcmp(h->seen[i].text, text);
	return n;
}

static void linked_program(void)
{
	struct host h;

	open_host(&h, 200);
	CHECK_EQ(run(&h, LINKED, "many", "1000"), 0);
	CHECK(host_count(&h, "cuCtxGetCurrent", NULL) == 1000 && h.nseen == 1000 && h.knocks == 1);
	CHECK(h.seen[5].start && h.seen[5].end >= h.seen[5].start &&
		h.seen[6].start >= h.seen[5].end);
	CHECK(h.seen[5].nargs == 0 && h.seen[5].depth == 0 && h.seen[5].ret == 0);
	CHECK_STR(host_procs(&h)[0].comm, "linked");
	host_close(&h);
}

/* On a busy machine it may take long until a program is accepted; all of its threads are
 * recorded nevertheless. */
static void the_door_opens_late(void)
{
	struct host h;

	open_host(&h, 290);
	h.late_us = 2000000;
	CHECK_EQ(run(&h, LINKED, "threads", "64"), 0);
	CHECK(host_count(&h, "cuCtxGetCurrent", NULL) == 6400 && h.knocks == 1 && !h.s->untraced);
	host_close(&h);
}

static void key_arguments(void)
{
	const struct seen *s = NULL;
	struct host h;

	open_host(&h, 200);
	h.s->args = GT_ARGS_KEY;
	CHECK_EQ(run(&h, LINKED, "arguments", NULL), 0);
	CHECK_EQ(host_count(&h, "cuMemAlloc_v2", &s), 2);
	CHECK(s[0].nargs == 2 && s[0].args[0] == 0x700000001000 && s[0].args[1] == 4096 &&
		s[0].ret == 0);
	CHECK(s[1].ret == 2 && s[1].args[0] == 0 && s[1].args[1] == 2ull << 30);
	CHECK(host_count(&h, "cuMemsetD32_v2", &s) == 1 && s->nargs == 2 && s->args[1] == 400);
	CHECK(host_count(&h, "cuLaunchKernel", &s) == 1 && s->nargs == 9);
	for (unsigned i = 1; i <= 8; i++)
		CHECK(s->args[i] == i);
	CHECK(host_count(&h, "cuLaunchKernelEx", &s) == 1 && s->nargs == 9);
	for (unsigned i = 0; i < 8; i++)
		CHECK(s->args[i] == 8 + i);
	CHECK(host_count(&h, "cuMemcpy2D_v2", &s) == 1 && s->nargs == 4);
	CHECK(s->args[0] == 0xddd && s->args[1] == 0xaaa && s->args[2] == 700 &&
		s->args[3] == GT_DIR_HTOD);
	CHECK(host_count(&h, "cuCtxGetCurrent", &s) == 1 && s->nargs == 0);
	host_close(&h);
}

static void all_arguments(void)
{
	const struct seen *s = NULL;
	double value;
	struct host h;

	open_host(&h, 200);
	h.s->args = GT_ARGS_ALL;
	CHECK_EQ(run(&h, LINKED, "arguments", NULL), 0);
	CHECK(host_count(&h, "cuCtxGetCurrent", &s) == 1 && s->nargs == 1 && s->args[0] == 0x77);
	CHECK(host_count(&h, "cuParamSetf", &s) == 1 && s->nargs == 3);
	memcpy(&value, &s->args[2], 8);
	CHECK(value == 1.5);
	CHECK(host_count(&h, "cuLaunchKernel", &s) == 1 && s->nargs == 11 && s->args[9] == 9 &&
		s->args[10] == 10);
	host_close(&h);
}

static void kernel_names_and_strings(void)
{
	const char *name = "_Z6kernelPfA";
	size_t named = 0, launched = 0, told = 0, got = 0;
	uint32_t launch = gt_api_find("cuLaunchKernel"), get = gt_api_find("cuModuleGetFunction");
	struct host h;

	open_host(&h, 200);
	h.s->args = GT_ARGS_KEY;
	CHECK_EQ(run(&h, LINKED, "arguments", NULL), 0);
	CHECK(count_kind(&h, GT_REC_NAME, name) == 1 && count_kind(&h, GT_REC_STRING, name) == 1);
	CHECK_EQ(count_kind(&h, GT_REC_STRING, "missing"), 1);
	for (size_t i = h.nseen; i-- > 0;) {
		const struct seen *s = &h.seen[i];

		if (s->kind == GT_REC_NAME)
			named = i;
		else if (s->kind == GT_REC_STRING && !strcmp(s->text, name))
			told = i;
		else if (s->kind == GT_REC_CALL && s->id == launch)
			launched = i;
		else if (s->kind == GT_REC_CALL && s->id == get)
			got = i;
	}
	CHECK(named < launched && told < got);
	CHECK(h.seen[launched].args[0] == h.seen[named].start);
	CHECK(h.seen[got].args[1] == gt_ring_hash(name, (uint32_t)strlen(name)) &&
		h.seen[told].start == h.seen[got].args[1]);
	host_close(&h);
}

/* A function from a kernel, a kernel from a list, and an unknown handle: each is named once. */
static void names_by_other_ways(void)
{
	struct host h;

	open_host(&h, 200);
	h.s->args = GT_ARGS_KEY;
	CHECK_EQ(run(&h, LINKED, "kernels", NULL), 0);
	CHECK_EQ(host_count(&h, "cuLaunchKernel", NULL), 9);
	CHECK(count_kind(&h, GT_REC_NAME, "_Z6listedv") == 1 &&
		count_kind(&h, GT_REC_NAME, "_Z5askedv") == 1);
	CHECK_EQ(count_kind(&h, GT_REC_NAME, "_Z4kernv"), 2); /* the kernel and its function */
	CHECK(host_count(&h, "cuKernelGetName", NULL) == 0 &&
		host_count(&h, "cuFuncGetName", NULL) == 0);
	host_close(&h);
}

static void found_by_dlsym(void)
{
	struct host h;

	open_host(&h, 200);
	CHECK_EQ(run(&h, UNLINKED, "dlsym", in_build("guest/fake/libcuda.so.1")), 0);
	CHECK_EQ(host_count(&h, "cuMemAlloc_v2", NULL), 1);
	CHECK_EQ(count_kind(&h, GT_REC_UNKNOWN_FUNCTION, "cuFakeBrandNew"), 1);
	host_close(&h);
}

static void a_driver_may_be_loaded_again(void)
{
	struct host h;

	open_host(&h, 200);
	CHECK_EQ(run(&h, UNLINKED, "twice", in_build("guest/fake/libcuda.so.1")), 0);
	CHECK(host_count(&h, "cuCtxGetCurrent", NULL) == 6 &&
		host_count(&h, "cuMemFree_v2", NULL) == 6);
	host_close(&h);
}

static void found_by_get_proc_address(void)
{
	struct host h;

	open_host(&h, 200);
	CHECK_EQ(run(&h, UNLINKED, "get_proc", in_build("guest/fake/libcuda.so.1")), 0);
	CHECK(host_count(&h, "cuMemAlloc_v2", NULL) == 1 &&
		host_count(&h, "cuMemcpyHtoD_v2", NULL) == 1);
	CHECK_EQ(host_count(&h, "cuGetProcAddress_v2", NULL), 12);
	CHECK(count_kind(&h, GT_REC_UNKNOWN_FUNCTION, "cuFakeBrandNew") == 1 &&
		count_kind(&h, GT_REC_UNKNOWN_FUNCTION, "cuMemAlloc") == 1);
	host_close(&h);
}

static void absent_driver_stays_absent(void)
{
	struct host h;

	open_host(&h, 200);
	CHECK_EQ(run(&h, UNLINKED, "default", in_build("guest/fake/libcuda.so.1")), 0);
	CHECK_EQ(host_count(&h, "cuInit", NULL), 1);
	host_close(&h);
}

static void callers_of_dlsym_keep_their_identity(void)
{
	struct host h;

	open_host(&h, 200);
	CHECK_EQ(run(&h, UNLINKED, "third", NULL), 0);
	CHECK_EQ(h.knocks, 0); /* no driver call: nothing was changed */
	host_close(&h);
}

static void the_driver_is_not_answered(void)
{
	struct host h;

	open_host(&h, 200);
	CHECK_EQ(run(&h, LINKED, "driver", NULL), 0);
	CHECK(host_count(&h, "cuDeviceGet", NULL) == 1 && host_count(&h, "cuInit", NULL) == 0);
	host_close(&h);
}

static void without_a_session_nothing_changes(void)
{
	char path[160];
	struct host h;

	open_host(&h, 200);
	snprintf(path, sizeof(path), "%s/sock", h.dir);
	unlink(path);
	CHECK(run(&h, LINKED, "arguments", NULL) == 0 && h.nseen == 0 && h.knocks == 0);
	host_close(&h);
}

static void another_build_is_refused(void)
{
	struct host h;

	open_host(&h, 200);
	h.s->version++;
	CHECK(run(&h, LINKED, "arguments", NULL) == 0 && h.nseen == 0);
	host_close(&h);
}

static unsigned of_pid(const struct host *h, int32_t pid)
{
	unsigned n = 0;

	for (size_t i = 0; i < h->nseen; i++)
		n += h->seen[i].pid == pid && h->seen[i].kind == GT_REC_CALL;
	return n;
}

static void forked_child_is_a_process_of_its_own(void)
{
	struct host h;

	open_host(&h, 200);
	CHECK_EQ(run(&h, LINKED, "fork", NULL), 0);
	CHECK(h.knocks == 2 && h.nseen == 5);
	CHECK(of_pid(&h, h.seen[0].pid) + of_pid(&h, h.seen[4].pid) == 5 ||
		of_pid(&h, h.seen[0].pid) == 2);
	CHECK(host_procs(&h)[1].pid != host_procs(&h)[0].pid &&
		of_pid(&h, host_procs(&h)[1].pid) == 3);
	CHECK(host_procs(&h)[1].ppid == host_procs(&h)[0].pid &&
		of_pid(&h, host_procs(&h)[0].pid) == 2);
	host_close(&h);
}

/* Another thread of the parent holds the loader's lock and never releases it. */
static void forked_under_locks(void)
{
	static const char *const modes[] = { "early", "late", "unmapped" };
	struct host h;

	for (unsigned i = 0; i < 3; i++) {
		open_host(&h, 200);
		CHECK_EQ(run(&h, LINKED, modes[i], in_build("guest/fake/libguestfourth.so")), 0);
		CHECK(host_count(&h, "cuCtxGetCurrent", NULL) == 3u + (i == 1) &&
			host_count(&h, "cuMemFree_v2", NULL) == 2);
		CHECK(h.knocks == 1u + (i == 1));
		host_close(&h);
	}
}

/* A sandbox that kills the process at any system call but write and exit_group, once a thread
 * has made its first call. Tested with free space in the ring and with a full ring; with the
 * tick counter and with the kernel's clock; and in a forked child. */
static void no_system_calls_in_steady_state(void)
{
	struct host h;

	for (unsigned i = 0; i < 4; i++) {
		open_host(&h, 100);
		h.s->args = i & 1 ? GT_ARGS_ALL : GT_ARGS_KEY;
		h.s->ticks = i < 2;
		CHECK(run(&h, LINKED, i == 3 ? "sandboxed child" : "sandboxed", "20000") == 0);
		CHECK(h.nseen > 3000 && host_threads(&h)[0].dropped > 10000);
		host_close(&h);
	}
}

static void vfork_and_exec(void)
{
	struct host h;

	open_host(&h, 200);
	CHECK_EQ(run(&h, LINKED, "vfork", NULL), 0);
	CHECK(h.knocks == 2 && of_pid(&h, host_procs(&h)[0].pid) == 2 &&
		of_pid(&h, host_procs(&h)[1].pid) == 1);
	host_close(&h);
	open_host(&h, 200);
	CHECK_EQ(run(&h, LINKED, "exec", NULL), 0);
	/* one process, before and after exec */
	CHECK(h.knocks == 3 && h.nseen == 6 && of_pid(&h, host_procs(&h)[1].pid) == 4);
	host_close(&h);
}

static void killed_in_a_call(void)
{
	char *argv[] = { NULL, (char *)"hang", NULL };
	unsigned open = 0;
	struct host h;
	int status;
	pid_t pid;

	open_host(&h, 200);
	h.s->args = GT_ARGS_KEY;
	argv[0] = in_build(LINKED);
	pid = host_spawn(&h, argv);
	for (int i = 0; i < 12000 &&
		!(host_threads(&h)[0].state == GT_SLOT_LIVE && (host_threads(&h)[0].word >> 8) &&
			(host_threads(&h)[0].word & 255));
		i++)
		usleep(5000);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	host_drain(&h);
	CHECK_EQ(host_count(&h, "cuCtxGetCurrent", NULL), 1);
	host_open_calls(&h);
	for (size_t i = 0; i < h.nseen; i++)
		if (!h.seen[i].end && h.seen[i].id == gt_api_find("cuStreamSynchronize"))
			open += h.seen[i].nargs == 1 && h.seen[i].args[0] == 0x51 &&
				h.seen[i].start;
	CHECK_EQ(open, 1);
	host_close(&h);
}

static void nested_calls(void)
{
	const struct seen *s = NULL;
	struct host h;

	open_host(&h, 200);
	CHECK_EQ(run(&h, LINKED, "nested", "5"), 0);
	CHECK(host_count(&h, "cuLaunchHostFunc", &s) == 5 &&
		host_count(&h, "cuCtxGetCurrent", NULL) == 1);
	CHECK(h.seen[0].depth == 5 && h.seen[5].depth == 0 &&
		(host_threads(&h)[0].word & 255) == 0);
	CHECK(h.seen[0].start >= h.seen[1].start && h.seen[0].end <= h.seen[1].end);
	host_close(&h);
	open_host(&h, 200);
	CHECK_EQ(run(&h, LINKED, "nested", "40"), 0);
	CHECK(h.nseen == GT_RING_OPEN_MAX && host_threads(&h)[0].deep == 41 - GT_RING_OPEN_MAX);
	host_close(&h);
}

static void longjmp_out_of_a_call(void)
{
	struct host h;

	open_host(&h, 200);
	CHECK_EQ(run(&h, LINKED, "jump", NULL), 0);
	CHECK(h.nseen == 1 && h.seen[0].depth == 0);
	CHECK(host_threads(&h)[0].abandoned == 1 && !host_threads(&h)[0].dropped);
	host_close(&h);
}

static void losses_are_counted(void)
{
	struct host h;

	open_host(&h, 2);
	CHECK_EQ(run(&h, LINKED, "many", "100000"), 0);
	CHECK(h.nseen > 100 && h.nseen < 400 && host_threads(&h)[0].dropped == 100000 - h.nseen);
	CHECK(host_threads(&h)[0].dropped_from > h.seen[h.nseen - 1].start &&
		host_threads(&h)[0].dropped_to > host_threads(&h)[0].dropped_from);
	host_close(&h);
}

static void one_thread_may_not_take_all(void)
{
	struct host h;

	open_host(&h, 200);
	h.s->ring_max = 3 * 4096;
	CHECK_EQ(run(&h, LINKED, "many", "100000"), 0);
	CHECK(h.s->free_count >= 197 && h.nseen > 400 && h.nseen < 600);
	host_close(&h);
}

static void lossless_waits_and_gives_up_without_a_recorder(void)
{
	char *argv[] = { NULL, (char *)"many", (char *)"50000", NULL };
	int status = -1;
	struct host h;
	pid_t pid;

	open_host(&h, 4);
	h.s->lossless = 1;
	argv[0] = in_build(LINKED);
	pid = host_spawn(&h, argv);
	while (!waitpid(pid, &status, WNOHANG)) {
		host_drain(&h);
		usleep(200);
	}
	host_drain(&h);
	CHECK(status == 0 && host_count(&h, "cuCtxGetCurrent", NULL) == 50000 &&
		host_threads(&h)[0].dropped == 0);
	host_close(&h);

	open_host(&h, 4);
	h.s->lossless = 1;
	argv[0] = in_build(LINKED);
	pid = host_spawn(&h, argv);
	for (int i = 0; i < 12000 && !h.s->waiters; i++)
		usleep(5000);
	CHECK(h.s->waiters == 1 && !waitpid(pid, &status, WNOHANG));
	__atomic_fetch_or(&h.s->owner, FUTEX_OWNER_DIED, __ATOMIC_SEQ_CST);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	host_close(&h);
}

/* Runs 50,000 calls of a thread under --lossless until it waits for the recorder. */
static pid_t waiting_thread(struct host *h)
{
	char *argv[] = { in_build(LINKED), (char *)"many", (char *)"50000", NULL };
	pid_t pid;

	open_host(h, 4);
	h->s->lossless = 1;
	pid = host_spawn(h, argv);
	for (int i = 0; i < 12000 && !h->s->waiters; i++)
		usleep(5000);
	return pid;
}

static void a_ring_that_was_given_up_takes_no_more_memory(void)
{
	int status = -1;
	struct host h;
	pid_t pid = waiting_thread(&h);

	CHECK_EQ(h.s->waiters, 1);
	host_threads(&h)[0].given_up = 1;
	while (!waitpid(pid, &status, WNOHANG))
		host_drain(&h);
	host_drain(&h);
	CHECK(status == 0 && host_threads(&h)[0].dropped);
	CHECK_EQ(host_count(&h, "cuCtxGetCurrent", NULL) + host_threads(&h)[0].dropped, 50000);
	CHECK(host_threads(&h)[0].word >> 8 <= 4ull * h.s->chunk_bytes);
	host_close(&h);
}

static void a_thread_without_its_slot_does_not_wait(void)
{
	int status = -1;
	struct host h;
	pid_t pid = waiting_thread(&h);

	CHECK_EQ(h.s->waiters, 1);
	host_threads(&h)[0].state = GT_SLOT_FREE;
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	host_close(&h);
}

static void threads_come_and_go(void)
{
	unsigned calls;
	struct host h;

	open_host(&h, 290);
	CHECK_EQ(run(&h, LINKED, "threads", "128"), 0);
	calls = host_count(&h, "cuCtxGetCurrent", NULL);
	CHECK(calls == 12800 && h.s->untraced == 0);
	host_close(&h);
	open_host(&h, 4); /* space for four threads */
	CHECK_EQ(run(&h, LINKED, "threads", "64"), 0);
	calls = host_count(&h, "cuCtxGetCurrent", NULL);
	for (unsigned i = 0; i < 4; i++)
		calls += (unsigned)host_threads(&h)[i].dropped;
	CHECK(calls + h.s->untraced == 6400 && host_procs(&h)[0].untraced == h.s->untraced &&
		h.s->untraced > 0);
	host_close(&h);
}

static void gates_and_samples(void)
{
	struct host h;

	open_host(&h, 200);
	h.s->gate[gt_api_find("cuCtxGetCurrent")] = GT_GATE_SAMPLE;
	h.s->sample = 10;
	CHECK_EQ(run(&h, LINKED, "many", "1000"), 0);
	CHECK(h.nseen == 100 && host_threads(&h)[0].sampled_out == 900);
	host_close(&h);
	open_host(&h, 200);
	h.s->gate[gt_api_find("cuCtxGetCurrent")] = GT_GATE_OFF;
	CHECK(run(&h, LINKED, "many", "1000") == 0 && h.nseen == 0);
	host_close(&h);
	open_host(&h, 200);
	h.s->recording = 0;
	CHECK(run(&h, LINKED, "many", "1000") == 0 && h.nseen == 0);
	host_close(&h);
}

/* Calls that a signal handler makes, at any place, are recorded or counted as lost. */
static void signal_handlers(void)
{
	struct host h;
	char *argv[] = { NULL, (char *)"handler", (char *)"1500000", NULL };
	int out[2], was = dup(1), status = -1;
	long handled = 0;
	pid_t pid;

	find_top();
	host_open(&h, in_build("libgtpreload.so"), 300, 1536, GT_RING_CHUNK);
	h.discard = true;
	argv[0] = in_build(LINKED);
	CHECK(!pipe2(out, O_CLOEXEC));
	dup2(out[1], 1);
	pid = host_spawn(&h, argv);
	dup2(was, 1);
	close(out[1]), close(was);
	waitpid(pid, &status, 0);
	CHECK(!status && read(out[0], &handled, sizeof(handled)) == sizeof(handled) && handled > 0);
	close(out[0]);
	host_drain(&h);
	CHECK(h.counted + host_threads(&h)[0].dropped + host_threads(&h)[0].in_handler ==
		1500001ul + (unsigned long)handled);
	host_close(&h);
}

#ifdef __x86_64__
/* Reads the open calls once, at a call that sends 'o' or, in a handler, 'h'. */
static void look_at_open(struct host *h, char who, const char *outer, uint64_t *newest)
{
	size_t first = h->nseen;
	const struct seen *s;

	host_open_calls(h);
	s = &h->seen[first];
	CHECK(h->nseen > first && h->nseen <= first + 2);
	if (h->nseen > first && (who == 'o' || h->nseen == first + 2)) {
		CHECK(s->id == gt_api_find(outer) && s->depth == 0 && s->start > *newest);
		CHECK(!s->nargs || s->args[0] == 0x55);
	}
	s = &h->seen[h->nseen - 1];
	if (who != 'o') {
		CHECK(s->id == gt_api_find("cuLaunchHostFunc_ptsz") &&
			(!s->nargs || s->args[0] == 0x66));
		CHECK(h->nseen == first + 1 || s[-1].start < s->start);
	} else {
		CHECK(h->nseen == first + 1);
		*newest = s->start;
	}
	h->nseen = first;
}

/* A handler that calls the driver, between any two instructions of a call: no record is wrong,
 * and the open calls are correct. On a call's exit the handler may run when no record can be
 * written; its calls are then counted. A call that the handler leaves for good does not stay
 * open. */
static void step_through(const char *outer, const char *mode, uint32_t args)
{
	char *argv[] = { in_build(LINKED), (char *)mode, NULL }, c = 0;
	int in[2], out[2], was[2] = { dup(0), dup(1) }, status = -1;
	bool on_the_way_out = strstr(mode, "out");
	uint64_t newest = 0, dropped, nested = 0;
	long said[2] = { 0, 0 };
	struct host h;
	pid_t pid;

	open_host(&h, 2000);
	h.s->args = args;
	CHECK(!pipe2(in, O_CLOEXEC) && !pipe2(out, O_CLOEXEC));
	dup2(in[0], 0), dup2(out[1], 1);
	pid = host_spawn(&h, argv);
	dup2(was[0], 0), dup2(was[1], 1);
	close(out[1]), close(was[0]), close(was[1]);
	while (read(out[0], &c, 1) == 1 && c != 'e') {
		if (c != 'h' || !on_the_way_out)
			look_at_open(&h, c, outer, &newest);
		CHECK_EQ(write(in[1], &c, 1), 1);
	}
	CHECK(read(out[0], said, sizeof(said)) == sizeof(said));
	waitpid(pid, &status, 0);
	host_drain(&h);
	CHECK(!host_threads(&h)[0].dropped);
	dropped = host_threads(&h)[0].in_handler + host_threads(&h)[0].abandoned;
	CHECK(!status && said[0] >= 5 && said[1] > 10 && (host_threads(&h)[0].word & 255) == 0);
	if (strstr(mode, "left")) {
		CHECK(host_count(&h, outer, NULL) >= said[0] && dropped <= (uint64_t)said[1]);
		CHECK(host_count(&h, "cuCtxGetCurrent", NULL) == 2 + 16 * said[1]);
		for (size_t i = 0; i < h.nseen; i++)
			nested += h.seen[i].id == gt_api_find("cuCtxGetCurrent") && h.seen[i].depth;
		CHECK(nested < 50); /* the reader soon drops calls without a return */
	} else {
		CHECK(on_the_way_out || !dropped);
		CHECK(host_count(&h, outer, NULL) == said[0] &&
			host_count(&h, "cuDeviceGetCount", NULL) == said[0]);
		CHECK(host_count(&h, "cuLaunchHostFunc_ptsz", NULL) +
				host_count(&h, "cuCtxGetCurrent", NULL) + dropped ==
			2 * (uint64_t)(said[1] + 2));
	}
	close(in[0]), close(in[1]), close(out[0]);
	host_close(&h);
}

static void handlers_between_instructions(void)
{
	static const char *const modes[] = { "between in", "between out", "between in left",
		"between out left", "between keyed in", "between keyed out",
		"between keyed in left", "between keyed out left" };

	for (unsigned i = 0; i < 8; i++)
		step_through(
			i < 4 ? "cuCtxSynchronize" : "cuLaunchHostFunc", modes[i], GT_ARGS_KEY);
	/* the typed wrappers, which are long */
	step_through("cuCtxSynchronize", "between in, all at once", GT_ARGS_ALL);
	step_through("cuLaunchHostFunc", "between keyed in, all at once", GT_ARGS_ALL);
	step_through("cuLaunchHostFunc", "between keyed out, all at once", GT_ARGS_ALL);
}
#else
static void handlers_between_instructions(void)
{
	SKIP("single steps are taken as x86-64 does it");
}
#endif

/* The output of mode "whose". */
static void ask_whose(struct host *h, const char *expected)
{
	int out[2], was = dup(1), status = -1;
	char *argv[] = { in_build(UNLINKED), (char *)"whose", in_build("guest/fake/libcuda.so.1"),
		NULL },
	     said[4] = "";
	pid_t pid;

	CHECK(!pipe2(out, O_CLOEXEC));
	dup2(out[1], 1);
	pid = host_spawn(h, argv);
	dup2(was, 1);
	close(out[1]), close(was);
	waitpid(pid, &status, 0);
	CHECK(!status && read(out[0], said, 3) == 3 && !strcmp(said, expected));
	close(out[0]);
	host_drain(h);
}

/* A lookup of a function that is not to be recorded returns the driver's own function. If there
 * is no recorder, this holds for all functions, except those whose wrappers have another task. */
static void closed_gates_are_not_in_the_way(void)
{
	struct host h;

	open_host(&h, 200);
	ask_whose(&h, "nnn");
	CHECK_EQ(host_count(&h, "cuGetProcAddress_v2", NULL), 1);
	host_close(&h);
	open_host(&h, 200);
	h.s->gate[gt_api_find("cuMemAlloc_v2")] = h.s->gate[gt_api_find("cuGetProcAddress_v2")] =
		GT_GATE_OFF;
	ask_whose(&h, "yyn");
	CHECK(!h.nseen);
	host_close(&h);
	open_host(&h, 200);
	h.s->version++;
	ask_whose(&h, "yyn");
	host_close(&h);
}

/* Recording stops and starts again while a thread makes calls. */
static void pauses(void)
{
	struct gt_rings rings;
	struct host h;
	char *argv[] = { NULL, (char *)"steps", NULL }, c = 'x';
	int in[2], out[2], was[2] = { dup(0), dup(1) }, status = -1;
	static const unsigned expected[] = { 10, 10, 20, 20, 20, 30 };
	pid_t pid;

	open_host(&h, 200);
	argv[0] = in_build(LINKED);
	rings = (struct gt_rings){
		.s = h.s, .threads = host_threads(&h), .nthreads = h.s->nthreads
	};
	CHECK(!pipe2(in, O_CLOEXEC) && !pipe2(out, O_CLOEXEC));
	dup2(in[0], 0), dup2(out[1], 1);
	pid = host_spawn(&h, argv);
	dup2(was[0], 0), dup2(was[1], 1);
	for (unsigned i = 0; i < 6; i++) {
		gt_rings_set_recording(&rings, i == 0 || i == 2 || i == 5);
		CHECK(write(in[1], &c, 1) == 1 && read(out[0], &c, 1) == 1);
		host_drain(&h);
		CHECK(h.nseen == expected[i]);
	}
	close(in[0]), close(in[1]), close(out[0]), close(out[1]), close(was[0]), close(was[1]);
	waitpid(pid, &status, 0);
	CHECK(!status);
	host_close(&h);
}

static void profiler_range(void)
{
	struct host h;

	open_host(&h, 200);
	h.s->range = GT_RANGE_PROFILER;
	CHECK_EQ(run(&h, LINKED, "range", NULL), 0);
	CHECK(host_count(&h, "cuCtxGetCurrent", NULL) == 2 &&
		host_count(&h, "cuProfilerStop", NULL) == 1);
	host_close(&h);
}

static void driver_files(void)
{
	unsigned opens = 0, closes = 0, ioctls = 0;
	struct host h;

	open_host(&h, 200);
	CHECK_EQ(run(&h, LINKED, "files", NULL), 0);
	for (size_t i = 0; i < h.nseen; i++) {
		const struct seen *s = &h.seen[i];

		if (s->id >= GT_API_MAX)
			CHECK(s->depth == 1 && s->args[0] == ((uint64_t)GT_DEV_CTL << 32 | 255) &&
				s->ret == 0);
		opens += s->id == GT_ID_OPEN;
		closes += s->id == GT_ID_CLOSE;
		if (s->id == GT_ID_IOCTL)
			ioctls += s->nargs == sizeof(struct gt_ioctl_args) / 8 &&
				s->args[1] == 0xc020462a && s->args[2] == 0x20800110 &&
				s->args[3] == 0x1f;
	}
	CHECK(opens == 1 && closes == 1 && ioctls == 1);
	CHECK_EQ(host_count(&h, "cuDeviceGetCount", NULL), 1);
	host_close(&h);
}

T_MAIN(T(linked_program), T(the_door_opens_late), T(key_arguments), T(all_arguments),
	T(kernel_names_and_strings), T(names_by_other_ways), T(found_by_dlsym),
	T(a_driver_may_be_loaded_again), T(found_by_get_proc_address),
	T(absent_driver_stays_absent), T(callers_of_dlsym_keep_their_identity),
	T(the_driver_is_not_answered), T(without_a_session_nothing_changes),
	T(another_build_is_refused), T(forked_child_is_a_process_of_its_own), T(forked_under_locks),
	T(no_system_calls_in_steady_state), T(vfork_and_exec), T(killed_in_a_call), T(nested_calls),
	T(longjmp_out_of_a_call), T(losses_are_counted), T(one_thread_may_not_take_all),
	T(lossless_waits_and_gives_up_without_a_recorder),
	T(a_ring_that_was_given_up_takes_no_more_memory),
	T(a_thread_without_its_slot_does_not_wait), T(threads_come_and_go), T(gates_and_samples),
	T(signal_handlers), T(handlers_between_instructions), T(closed_gates_are_not_in_the_way),
	T(pauses), T(profiler_range), T(driver_files))
