/* gtcollect's own rings: many more threads than chunks, and slots that threads give back. */
#define _GNU_SOURCE
#include "collect/ipc/ring_writer.h"
#include "formats/trace/write/sched_rows.h"
#include "tests/unit/collect/rings.h"

#define TGID 0x3ffffff0 /* no process has this id */
static struct gt_ring_writer writer;
static unsigned ndrains;

static void drain(void)
{
	ndrains++;
	CHECK(gt_recorder_pass(r, &err) >= 0);
}

static bool begin_own(uint64_t memory)
{
	struct gt_rings_options opt = { .memory = memory, .own = true };
	struct gt_writer_options wopt = { .rows_sorted = true };

	err = (struct gt_err)GT_ERR_INIT;
	if (gt_rings_open(&rings, &opt, &err))
		return false;
	rings.ebpf = true;
	strcpy(path, "/tmp/gt-test-ring-writer-XXXXXX");
	w = gt_writer_open(mkstemp(path), &wopt, &err);
	r = w ? gt_recorder_open(&rings, NULL, w, &err) : NULL;
	writer = (struct gt_ring_writer){ .rings = &rings };
	ndrains = 0;
	return r;
}

static struct gt_reader *end_own(void)
{
	gt_ring_writer_release(&writer);
	return end();
}

/* A wait of this thread. False: it is lost. */
static bool put_wait(int tid)
{
	int64_t now = gt_clock_monotonic();
	struct gt_written_thread *t =
		gt_ring_writer_thread(&writer, TGID, tid, (const char[16]){ "crowd" }, now);
	struct gt_ev_sched e = { .state = GT_SCHED_SLEEP };

	return t &&
		gt_ring_writer_event(&writer, t, GT_EV_SCHED, (uint64_t)now - 1000, (uint64_t)now,
			&e, sizeof(e));
}

static unsigned count_rows(struct gt_reader *reader)
{
	struct gt_filter all = { 0 };
	struct gt_iter *it = gt_iter_open(reader, &all, &err);
	struct gt_event ev;
	unsigned n = 0;

	while (gt_iter_next(it, &ev, &err) == 1)
		n += ev.kind == GT_SPAN;
	gt_iter_close(it);
	gt_reader_close(reader);
	return n;
}

static void threads_without_records_have_no_chunk(void)
{
	enum { N = 2000 };
	unsigned lost = 0;

	CHECK(begin_own(16 << 20));
	rings.drain = drain;
	CHECK(rings.nchunks < N && rings.nthreads - rings.first_own > N);
	for (unsigned round = 0; round < 3; round++)
		for (int i = 1; i <= N; i++)
			lost += !put_wait(i);
	CHECK_EQ(lost, 0);
	CHECK(ndrains >= 3 * N / rings.nchunks && ndrains < 3 * N / 16);
	drain();
	CHECK_EQ(rings.s->free_count, rings.nchunks);
	CHECK_EQ(gt_recorder_totals(r)->threads, N);
	CHECK_EQ(count_rows(end_own()), 3 * N);
}

static void slots_of_ended_threads_are_used_again(void)
{
	unsigned slots, lost = 0;

	CHECK(begin_own(1 << 20));
	rings.drain = drain;
	slots = rings.nthreads - rings.first_own;
	for (int i = 1; i <= (int)slots * 3; i++) {
		lost += !put_wait(i);
		gt_ring_writer_end_thread(&writer, i);
	}
	CHECK_EQ(lost, 0);
	CHECK_EQ(count_rows(end_own()), slots * 3);
}

static void threads_beyond_the_slots_are_counted(void)
{
	unsigned slots, lost = 0;

	CHECK(begin_own(1 << 20));
	rings.drain = drain;
	slots = rings.nthreads - rings.first_own;
	for (int i = 1; i <= (int)slots + 7; i++)
		lost += !put_wait(i);
	CHECK_EQ(lost, 7);
	CHECK_EQ(rings.own_loss.count, 7);
	CHECK(rings.own_loss.from <= rings.own_loss.to);
	CHECK_EQ(count_rows(end_own()), slots);
}

static void own_slots_are_not_those_of_guests(void)
{
	struct gt_rings_options opt = { .own = true };

	err = (struct gt_err)GT_ERR_INIT;
	CHECK(!gt_rings_open(&rings, &opt, &err));
	CHECK_EQ(rings.first_own, rings.s->nthreads);
	CHECK(rings.first_own < rings.nchunks && rings.s->nprocs == rings.first_own);
	CHECK(rings.nthreads - rings.first_own > 10000 && rings.bytes <= 64 << 20);
	gt_rings_close(&rings);
}

/* eBPF's records are taken later than those of samples and looks. */
static void what_is_later_than_an_execution_remains(void)
{
	const char comm[16] = "program";
	struct gt_written_thread *t;

	CHECK(begin_own(1 << 22));
	t = gt_ring_writer_thread(&writer, TGID, TGID, comm, 2000);
	CHECK(t);
	t->next_look = 1;
	gt_ring_writer_exec(&writer, TGID, TGID, comm, 1000);
	t = gt_ring_writer_thread(&writer, TGID, TGID, comm, 3000);
	CHECK(t && t->next_look == 1);
	gt_ring_writer_exec(&writer, TGID, TGID, comm, 4000);
	t = gt_ring_writer_thread(&writer, TGID, TGID, comm, 5000);
	CHECK(t && t->next_look == 0);
	gt_reader_close(end_own());
}

T_MAIN(T(threads_without_records_have_no_chunk), T(slots_of_ended_threads_are_used_again),
	T(threads_beyond_the_slots_are_counted), T(own_slots_are_not_those_of_guests),
	T(what_is_later_than_an_execution_remains))
