/* Unions of many busy tracks: if more rows wait for their place in time than the buffer holds,
 * no cell that is inexact may count as exact. */
#define _GNU_SOURCE
#include "tests/unit/t.h"
#include "tests/unit/traces.h"
#include "viewer/cells/lane_cells.h"

#define ROWS 16384u /* of a thread: a block */
#define CELLS 200u
#define EACH 2000 /* ns between two calls of a thread */
/* one call there makes upper summaries too wide for cells that show all others */
#define FAR (100ll * ROWS * EACH)
#define SHIFT 18u

/* Threads take turns: 20 ns each, 30 ns after the one before. */
static struct gt_reader *busy_threads(unsigned threads)
{
	struct tiny t;
	int fd = temp_file(), again = dup(fd);
	uint32_t on[64];

	if (tiny_open(&t, fd, false))
		return NULL;
	for (unsigned i = 0; i < threads; i++)
		on[i] = gt_writer_track(t.w,
			&(struct gt_track){ .parent = t.process,
				.name = GT_NONE,
				.source = t.source,
				.kind = GT_TRACK_THREAD,
				.id = 200 + i });
	for (unsigned i = 0; i < threads; i++)
		for (unsigned k = 0; k < ROWS; k++)
			if (tiny_call(&t, on[i], t.get, (int64_t)k * EACH + i * 30,
				    (int64_t)k * EACH + i * 30 + 20, 0, 0, 0, 0))
				return NULL;
	if (tiny_call(&t, on[0], t.get, FAR, FAR + 20, 0, 0, 0, 0))
		return NULL;
	return gt_writer_close(t.w, &t.err) ? NULL : gt_reader_open_fd(again, &t.err);
}

static uint64_t busy_in(unsigned threads, int64_t from, int64_t to)
{
	uint64_t ns = 0;

	for (int64_t at = from; at < to; at++)
		ns += at < (int64_t)ROWS * EACH && at % EACH / 30 < threads && at % EACH % 30 < 20;
	return ns;
}

/* The number of cells of the process that count as exact; all of them if a wrong one does. */
static int exact_cells(unsigned threads, bool *wrong)
{
	struct gt_reader *r = busy_threads(threads);
	struct gt_err err = GT_ERR_INIT;
	struct gt_archive *a = r ? gt_archive_open(r, &err) : NULL;
	struct gt_lane_cells *s = a ? gt_lane_cells_new(a) : NULL;
	struct gt_strip_key process = { 0, 0, GT_ASPECT_CALLS, true };
	struct gt_cell_window w = gt_aligned_window(0, SHIFT, CELLS);
	struct gt_cell_sums cells[CELLS];
	int exact = 0;

	if (!s || gt_lane_cells_request(s, &w, &process, 1, &err) < 0)
		return -1;
	while (gt_lane_cells_step(s, 1000, &err) > 0)
		;
	gt_lane_cells_get(s, 0, 0, cells);
	for (unsigned i = 0; i < CELLS; i++) {
		uint64_t busy = busy_in(threads, gt_cell_start(&w, i), gt_cell_start(&w, i + 1));

		exact += cells[i].sureness == GT_CELL_EXACT;
		*wrong |= cells[i].sureness == GT_CELL_EXACT && cells[i].busy != busy;
	}
	gt_lane_cells_free(s);
	gt_archive_close(a);
	gt_reader_close(r);
	return err.code ? -1 : exact;
}

static void some_threads_are_exact(void)
{
	bool wrong = false;

	CHECK(exact_cells(12, &wrong) == CELLS && !wrong);
}

static void too_many_are_never_wrong(void)
{
	bool wrong = false;

	CHECK(exact_cells(40, &wrong) >= 0);
	CHECK(!wrong);
}

T_MAIN(T(some_threads_are_exact), T(too_many_are_never_wrong))
