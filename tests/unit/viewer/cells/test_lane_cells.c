/* Strips compared with a count of every row, cell by cell: on random traces with all kinds of
 * rows that a strip may show (nested calls, ioctls, ranges that nest and overlap, work and waits
 * of streams that overlap, copies in all directions, quiet tracks that share blocks, rows that
 * span many blocks), at every width of cells. */
#define _GNU_SOURCE
#include "tests/unit/viewer/cells/counted_cells.h"
#include "viewer/lanes/unfinished_edges.h"

/* ---- the count ---- */

static unsigned nrough; /* cells that were not exact until they were settled */

static void count_range(const struct gt_archive *a, struct gt_reader *r,
	const struct gt_strip_key *of, int64_t low, int64_t high, struct gt_cell_sums to[DEPTHS])
{
	int64_t covered[DEPTHS], offset = gt_archive_offset(a, of->segment);

	for (unsigned d = 0; d < DEPTHS; d++) {
		covered[d] = INT64_MIN;
		to[d] = (struct gt_cell_sums){ 0 };
	}
	for (size_t i = 0; i < nrows; i++) {
		int d = depth_in(r, &rows[i], of);
		int64_t start = rows[i].start - offset, end = rows[i].end - offset;

		if (d >= 0)
			count_row(&to[d], &rows[i], start, end,
				uncovered(&rows[i], start, end, d, &covered[d]), low, high);
	}
}

/* From the start of the first call that is open at the end, a union may know its busy time only
 * roughly, and never too low, until the part before that is measured. */
static bool may_be_rough(const struct gt_archive *a, struct gt_reader *r,
	const struct gt_cell_window *w, const struct gt_strip_key *of, unsigned c,
	const struct gt_cell_sums *got, const struct gt_cell_sums *want)
{
	int64_t first = INT64_MAX, offset = gt_archive_offset(a, of->segment);

	for (size_t i = 0; i < nrows; i++)
		if (rows[i].kind == GT_OPEN && depth_in(r, &rows[i], of) >= 0 &&
			rows[i].start - offset < first)
			first = rows[i].start - offset;
	return of->derived && first >= gt_cell_start(w, c) && first < gt_cell_start(w, c + 1) &&
		got->sureness == GT_CELL_ROUGH && got->busy >= want->busy &&
		got->busy <= gt_cell_width(w, c);
}

static void settle(struct gt_archive *a, const struct gt_cell_window *w,
	const struct gt_lane_key *lane, struct gt_cell_sums *cells)
{
	struct gt_unfinished_edges h = { .n = 0 };
	struct gt_err err = GT_ERR_INIT;

	CHECK(!gt_unfinished_edges_request(&h, a, w, lane, 1, &err));
	while (gt_unfinished_edges_step(&h, 1, &err) > 0)
		;
	/* the same once more: it is known */
	CHECK(!gt_unfinished_edges_request(&h, a, w, lane, 1, &err) && h.done == h.n);
	gt_unfinished_edges_fill(&h, lane, cells);
	gt_unfinished_edges_release(&h);
}

static void hold_against_count(struct gt_archive *a, struct gt_reader *r,
	const struct gt_lane_cells *s, const struct gt_cell_window *w,
	const struct gt_strip_key *of, size_t n)
{
	static struct gt_cell_sums all[DEPTHS][MOST_CELLS];
	struct gt_cell_sums got[MOST_CELLS];

	for (size_t i = below(nrows > 50000 ? 9 : 1); i<n; i += nrows> 50000 ? 9 : 1)
		for (unsigned d = 0; d < DEPTHS; d++) {
			const struct gt_cell_sums *want = all[d];

			if (!d)
				count_cells(a, r, w, &of[i], all);
			gt_lane_cells_get(s, i, d, got);
			for (unsigned c = 0; c < w->cells; c++)
				if (got[c].sureness)
					CHECK(may_be_rough(a, r, w, &of[i], c, &got[c], &want[c]) &&
						++nrough);
			settle(a, w, &(struct gt_lane_key){ of[i], d }, got);
			for (unsigned c = 0; c < w->cells; c++)
				if (got[c].sureness || got[c].busy != want[c].busy ||
					!is_counted(&got[c], &want[c])) {
					fprintf(stderr,
						"strip %u/%u aspect %u derived %d depth %u cell %u of %u, shift %u: sure %d busy %lu count %lu "
						"bytes %lu longest %lu, but %lu %lu %lu %lu\n",
						of[i].segment, of[i].track, of[i].aspect,
						of[i].derived, d, c, w->cells, gt_window_log2(w),
						got[c].sureness, got[c].busy, got[c].count,
						got[c].bytes, got[c].longest, want[c].busy,
						want[c].count, want[c].bytes, want[c].longest);
					CHECK(!"cells differ");
				}
		}
}

/* After each portion of work, the cells that count as certain are correct. */
static void step_by_step(struct gt_archive *a, struct gt_reader *r, struct gt_lane_cells *s,
	const struct gt_cell_window *w, const struct gt_strip_key *of, size_t n)
{
	static struct gt_cell_sums want[DEPTHS][MOST_CELLS];
	struct gt_cell_sums got[MOST_CELLS];
	struct gt_err err = GT_ERR_INIT;
	int more = 1;

	CHECK(gt_lane_cells_request(s, w, of, n, &err) >= 0);
	for (unsigned steps = 0; more; steps++) {
		size_t i = below((uint32_t)n);
		unsigned d = below(2);

		CHECK((more = gt_lane_cells_step(s, 1, &err)) >= 0 &&
			gt_lane_cells_percent(s) <= 100 && steps < 100000);
		gt_lane_cells_get(s, i, d, got);
		count_cells(a, r, w, &of[i], want);
		for (unsigned c = 0; c < w->cells; c++)
			CHECK(got[c].sureness != GT_CELL_EXACT ||
				(got[c].busy == want[d][c].busy &&
					got[c].count == want[d][c].count));
	}
}

/* Aligned cells of 2^shift ns at that time; or as many ns that begin there, in cells of any width,
 * whose starts are rounded to multiples of a power of two, or not. */
static struct gt_cell_window any_window(int64_t at, unsigned shift)
{
	struct gt_cell_window w =
		gt_aligned_window((at >> shift) - (int64_t)below(20), shift, 20 + below(40));

	if (shift < 2 || below(2))
		return w;
	w.from += (int64_t)below(1u << (shift < 31 ? shift : 31));
	w.to += (int64_t)below(1u << (shift < 31 ? shift : 31));
	w.shift = below(2) ? below(shift - 1) : 0;
	return w;
}

/* The rows that overlap the start of the window. Calls that are open at the end have no blocks of
 * their own. */
static void hold_entering_against_count(struct gt_archive *a, struct gt_reader *r,
	const struct gt_lane_cells *s, const struct gt_cell_window *w,
	const struct gt_strip_key *of, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct gt_cell_sums want[DEPTHS] = { { 0 } };

		for (size_t k = 0; k < nrows; k++) {
			int64_t offset = gt_archive_offset(a, of[i].segment);
			int d = depth_in(r, &rows[k], &of[i]);

			if (d < 0 || rows[k].kind == GT_OPEN || rows[k].start - offset >= w->from ||
				rows[k].end - offset <= w->from)
				continue;
			want[d].count++;
			want[d].bytes += rows[k].bytes;
		}
		for (unsigned d = 0; d < DEPTHS; d++) {
			struct gt_cell_sums got = gt_lane_cells_entering(s, i, d);

			CHECK(got.sureness == GT_CELL_EXACT && got.count == want[d].count &&
				got.bytes == want[d].bytes);
		}
	}
}

static void every_width(struct gt_reader *r)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_archive *a = gt_archive_open(r, &err);
	struct gt_lane_cells *s = a ? gt_lane_cells_new(a) : NULL;
	struct gt_strip_key of[400];
	int64_t from, to;

	CHECK(a && s);
	gt_archive_extent(a, &from, &to);
	for (unsigned k = 0; k <= 2 * gt_archive_widest_cell(a); k++) {
		unsigned shift = k / 2;
		int64_t at = from + (int64_t)(below(1000) * (uint64_t)(to - from) / 1000);
		size_t n = list_strips(r, of, below(2));
		struct gt_cell_window w = any_window(at, shift);
		bool entering = below(2);

		gt_lane_cells_count_entering(s, entering);
		CHECK(gt_lane_cells_request(s, &w, of, n, &err) >= 0 &&
			!gt_lane_cells_step(s, 0, &err) && gt_lane_cells_percent(s) == 100);
		hold_against_count(a, r, s, &w, of, n);
		if (entering)
			hold_entering_against_count(a, r, s, &w, of, n);
		if (k % 7 == 0 && nrows < 50000)
			step_by_step(a, r, s, &w, of, n);
	}
	gt_lane_cells_free(s);
	gt_archive_close(a);
}

static void cells_are_what_rows_say(void)
{
	for (unsigned i = 0; i < 3; i++) {
		struct gt_err err = GT_ERR_INIT;
		int fd = temp_file(), keep = dup(fd);
		struct gt_reader *r;

		state = 77 + i;
		contexts = i;
		off_cpu = true;
		make(fd, "boot", i % 2 ? 5000000000ll : -30000,
			(unsigned[]){ 300, 4000, 40000 }[i]);
		CHECK((r = gt_reader_open_fd(keep, &err)));
		off_cpu = false;
		read_rows(r);
		every_width(r);
		gt_reader_close(r);
	}
}

/* The measured values between two times equal those of the rows, for every fifth strip. */
static void between(struct gt_archive *a, struct gt_reader *r, const struct gt_strip_key *of,
	size_t n, int64_t one, int64_t other)
{
	struct gt_err err = GT_ERR_INIT;

	for (size_t i = n < 100 ? 0 : below(5); i < n; i += n < 100 ? 1 : 5) {
		struct gt_measure *m = gt_measure_new(a, &of[i], one, other, &err);
		struct gt_cell_sums want[DEPTHS];

		CHECK(m);
		while (gt_measure_step(m, 1, &err) > 0)
			;
		count_range(
			a, r, &of[i], one < other ? one : other, one < other ? other : one, want);
		for (unsigned d = 0; d < DEPTHS; d++) {
			struct gt_measured got = gt_measure_of(m, d);

			CHECK(!got.rough && got.busy == want[d].busy &&
				got.count == want[d].count && got.bytes == want[d].bytes &&
				got.longest == want[d].longest);
		}
		gt_measure_free(m);
	}
}

/* Four threads with as much idle time as calls, two of which end in a call that stays open, while
 * others go on. */
static void make_sparse(int fd)
{
	int64_t at[4] = { 0 }, last[4] = { 200000, 300000, 350000, 450000 };
	struct program p;

	begin(&p, fd, "boot", 0);
	for (unsigned busy = 15; busy;) {
		unsigned th = below(4);
		int64_t start = at[th] + 20 + below(500);

		at[th] = start + 10 + below(400);
		if (busy & 1u << th && at[th] < last[th])
			put(&p, GT_CALL, p.threads[th], p.call, start, at[th], 0);
		else
			busy &= ~(1u << th);
	}
	for (unsigned th = 0; th < 2; th++)
		CHECK(!gt_writer_open_call(p.w, p.threads[th],
			&(struct gt_row){ .start = last[th] + below(500), .type = p.call }, NULL,
			&p.err));
	CHECK(!gt_writer_epoch(p.w, 460000, &p.err));
	gt_gpu_types_release(&p.types);
	CHECK(!gt_writer_close(p.w, &p.err));
}

/* Windows of every width in which an open call begins. */
static void where_open_calls_begin(void)
{
	nrough = 0;
	for (unsigned i = 0; i < T_INPUTS(5); i++) {
		int fd = temp_file(), keep = dup(fd);
		struct gt_err err = GT_ERR_INIT;
		struct gt_strip_key of[400];
		struct gt_lane_cells *s;
		struct gt_reader *r;
		struct gt_archive *a;
		size_t n;

		state = 50 + i;
		make_sparse(fd);
		CHECK((r = gt_reader_open_fd(keep, &err)) && (a = gt_archive_open(r, &err)) &&
			(s = gt_lane_cells_new(a)));
		read_rows(r);
		n = list_strips(r, of, true);
		for (unsigned shift = 0; shift <= gt_archive_widest_cell(a); shift++)
			for (size_t k = 0; k < nrows; k++) {
				struct gt_cell_window w = gt_aligned_window(
					(rows[k].start >> shift) - below(8), shift, 8);

				if (rows[k].kind != GT_OPEN)
					continue;
				CHECK(gt_lane_cells_request(s, &w, of, n, &err) >= 0 &&
					!gt_lane_cells_step(s, 0, &err));
				hold_against_count(a, r, s, &w, of, n);
			}
		for (unsigned k = 0; k < 30; k++)
			between(a, r, of, n,
				200000 + below(600) - (int64_t)below(1u << (1 + k / 2)),
				200000 + below(30000));
		gt_lane_cells_free(s);
		gt_archive_close(a);
		gt_reader_close(r);
	}
	CHECK(nrough > (T_SANITIZED ? 8 : 20));
}

/* Between any two times, and not only at the edges of cells. */
static void between_two_moments(void)
{
	struct gt_err err = GT_ERR_INIT;
	int fd = temp_file(), keep = dup(fd);
	struct gt_strip_key of[400];
	struct gt_reader *r;
	struct gt_archive *a;
	size_t n;

	state = 21;
	contexts = 2;
	make(fd, "boot", 4321, 4000);
	CHECK((r = gt_reader_open_fd(keep, &err)) && (a = gt_archive_open(r, &err)));
	read_rows(r);
	n = list_strips(r, of, true);
	for (unsigned k = 0; k < 30; k++) {
		int64_t from = rows[below((uint32_t)nrows)].start + below(50),
			to = from + (int64_t)(1ull << below(18)) + below(9);

		between(a, r, of, n, k % 2 ? from : to, k % 2 ? to : from);
	}
	gt_archive_close(a);
	gt_reader_close(r);
}

/* Its unions are in the file, but for a context that is alone on its device: that would be the
 * device's. */
static void contexts_are_summed_up(void)
{
	for (contexts = 1; contexts < 3; contexts++) {
		struct gt_err err = GT_ERR_INIT;
		int fd = temp_file(), keep = dup(fd);
		const struct gt_segment *seg;
		struct gt_reader *r;
		struct gt_archive *a;
		unsigned n = 0;

		state = 4;
		make(fd, "boot", 0, 20000);
		CHECK((r = gt_reader_open_fd(keep, &err)) && (a = gt_archive_open(r, &err)));
		seg = gt_reader_segment(r, 0);
		CHECK(gt_archive_upper(a, 0, 1, GT_ASPECT_WORK, true, 0));
		for (uint32_t t = 0; t < seg->ntracks; t++)
			if (seg->tracks[t].kind == GT_TRACK_CONTEXT) {
				CHECK(!gt_archive_upper(a, 0, t, GT_ASPECT_WORK, true, 0) ==
					(contexts == 1));
				CHECK(!gt_archive_upper(a, 0, t, GT_ASPECT_HTOD, true, 0));
				n++;
			}
		CHECK(n == contexts);
		gt_archive_close(a);
		gt_reader_close(r);
	}
	contexts = 0;
}

/* Two recordings of different machines begin at about the same time of the viewer, and their cells
 * are as exact. */
static void recordings_of_other_clocks(void)
{
	struct gt_err err = GT_ERR_INIT;
	int fd = temp_file(), keep = dup(fd);
	struct gt_reader *r;
	struct gt_archive *a;
	int64_t from, to;

	state = 5;
	make(dup(fd), "one", 1000000, 300);
	make(fd, "two", 987654321012345ll, 300);
	CHECK((r = gt_reader_open_fd(keep, &err)) && gt_reader_segments(r) == 2);
	read_rows(r);
	CHECK((a = gt_archive_open(r, &err)));
	gt_archive_extent(a, &from, &to);
	CHECK((to - from) >> gt_archive_widest_cell(a) <= 34 &&
		(to - from) >> gt_archive_widest_cell(a) >= 15);
	CHECK(!gt_archive_offset(a, 0) && gt_archive_offset(a, 1) &&
		!(gt_archive_offset(a, 1) % (1ll << gt_archive_widest_cell(a))));
	gt_archive_close(a);
	every_width(r);
	gt_reader_close(r);
}

/* A block that cannot be read is a hole at its place, and at no other place. */
static void a_broken_block_is_a_hole(void)
{
	struct gt_err err = GT_ERR_INIT;
	int fd = temp_file(), keep = dup(fd);
	struct gt_reader *r;
	struct gt_archive *a;
	struct gt_lane_cells *s;
	struct gt_block_list list;
	struct gt_cell_window w;
	struct gt_strip_key of = { .track = 2, .aspect = GT_ASPECT_CALLS };
	struct gt_cell_sums got[MOST_CELLS];
	unsigned holes = 0;

	state = 9;
	make(fd, "boot", 0, 60000);
	CHECK((r = gt_reader_open_fd(keep, &err)) && (a = gt_archive_open(r, &err)));
	list = gt_archive_blocks(a, 0, 2);
	CHECK(list.n > 3);
	break_block(keep, list.blocks[1].number);
	w = gt_aligned_window(list.blocks[1].start - 100, 0, MOST_CELLS);
	CHECK((s = gt_lane_cells_new(a)) && gt_lane_cells_request(s, &w, &of, 1, &err) >= 0 &&
		!gt_lane_cells_step(s, 0, &err));
	gt_lane_cells_get(s, 0, 0, got);
	for (unsigned c = 0; c < w.cells; c++) {
		CHECK(got[c].sureness ==
			(gt_cell_start(&w, c) >= list.blocks[1].start ? GT_CELL_DAMAGED
								      : GT_CELL_EXACT));
		holes += got[c].sureness == GT_CELL_DAMAGED;
	}
	CHECK(holes > 100 && holes < MOST_CELLS);
	gt_lane_cells_free(s);
	gt_archive_close(a);
	gt_reader_close(r);
}

/* ---- a trace that grows ---- */

/* Communication kernels have a category of their own, which no type of a file can have. */
static void communication_is_a_category(void)
{
	static const char *const names[] = { "ncclDevKernel_AllReduce", "hipKernel" };
	struct gt_cell_window w = gt_aligned_window(0, 10, 4);

	for (unsigned i = 0; i < 2; i++) {
		struct gt_err err = GT_ERR_INIT;
		int fd = temp_file(), keep = dup(fd);
		struct gt_strip_key of = { .segment = 0, .aspect = GT_ASPECT_WORK };
		struct gt_cell_sums cells[4];
		struct gt_lane_cells *s;
		struct gt_archive *a;
		struct gt_reader *r;
		struct tiny t;
		uint32_t type;

		CHECK(!tiny_open(&t, fd, true));
		type = gt_writer_type(t.w,
			&(struct gt_type){ .name = gt_writer_string(t.w, names[i]),
				.category = i ? GT_CAT_SCHEDULER : GT_CAT_KERNEL,
				.layer = GT_LAYER_GPU });
		CHECK(!tiny_row(&t, GT_GPU, t.stream, type, 1024, 4000, 0, 0, 0, 0));
		of.track = t.stream;
		CHECK(!gt_writer_close(t.w, &t.err));
		CHECK((r = gt_reader_open_fd(keep, &err)) && (a = gt_archive_open(r, &err)) &&
			(s = gt_lane_cells_new(a)));
		CHECK(gt_lane_cells_request(s, &w, &of, 1, &err) == 1);
		while (gt_lane_cells_step(s, 1000, &err) > 0)
			;
		gt_lane_cells_get(s, 0, 0, cells);
		CHECK_EQ(cells[2].category, i ? GT_CAT_SCHEDULER : GT_CELL_COMMUNICATION);
		gt_lane_cells_free(s);
		gt_archive_close(a);
		gt_reader_close(r);
	}
}

/* A process with one thread has no sums of its own in the file: they are those of the thread, and
 * no block is read. */
static void one_thread_is_its_process(void)
{
	struct gt_err err = GT_ERR_INIT;
	int fd = temp_file(), keep = dup(fd);
	struct gt_cell_window w = gt_aligned_window(0, 20, 20);
	struct gt_cell_sums of_process[20], of_thread[20];
	struct gt_strip_key of[] = { { .derived = true, .aspect = GT_ASPECT_CALLS },
		{ .aspect = GT_ASPECT_CALLS } };
	struct gt_lane_cells *s;
	struct gt_reader *r;
	struct gt_archive *a;
	uint64_t all = 0;
	struct tiny t;

	CHECK(!tiny_open(&t, fd, true));
	of[0].track = gt_writer_track(t.w,
		&(struct gt_track){ .parent = GT_NONE,
			.name = GT_NONE,
			.source = t.source,
			.kind = GT_TRACK_PROCESS,
			.id = 200 });
	of[1].track = gt_writer_track(t.w,
		&(struct gt_track){ .parent = of[0].track,
			.name = GT_NONE,
			.source = t.source,
			.kind = GT_TRACK_THREAD,
			.id = 200 });
	for (int64_t i = 0; i < 100000; i++)
		CHECK(!tiny_call(&t, of[1].track, t.get, i * 200, i * 200 + 50, 0, 0, 0, 0));
	CHECK(!gt_writer_close(t.w, &t.err));
	CHECK((r = gt_reader_open_fd(keep, &err)) && (a = gt_archive_open(r, &err)) &&
		(s = gt_lane_cells_new(a)));
	CHECK(gt_lane_cells_request(s, &w, of, 2, &err) == 1);
	gt_lane_cells_get(s, 0, 0, of_process);
	gt_lane_cells_get(s, 1, 0, of_thread);
	for (unsigned c = 0; c < w.cells; c++) {
		CHECK(of_process[c].sureness == GT_CELL_EXACT);
		CHECK(of_process[c].busy == of_thread[c].busy &&
			of_process[c].count == of_thread[c].count);
		all += of_process[c].count;
	}
	CHECK_EQ(all, 100000);
	gt_lane_cells_free(s);
	gt_archive_close(a);
	gt_reader_close(r);
}

T_MAIN(T(communication_is_a_category), T(cells_are_what_rows_say), T(where_open_calls_begin),
	T(between_two_moments), T(contexts_are_summed_up), T(recordings_of_other_clocks),
	T(a_broken_block_is_a_hole), T(one_thread_is_its_process))
