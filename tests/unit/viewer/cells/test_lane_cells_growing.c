/* Strips of traces that grow, compared with strips that read them for the first time and with a
 * count of every row. */
#define _GNU_SOURCE
#include "tests/unit/viewer/cells/counted_cells.h"
#include "viewer/lanes/window.h"

/* ---- a trace that grows ---- */

#define GROWN_CELLS 60u

struct growing {
	struct program p;
	/* hangs: when a thread's call began that returns pieces later */
	int64_t free_at[12], hangs;
	int fd;
	struct gt_reader *r;
	struct gt_archive *a;
	struct gt_lane_cells *s;
	struct gt_strip_key of[400];
	/* exact: the number of cells that were exact before any block was read */
	size_t n, exact;
};

/* Calls and work of some duration, most of them in order. Sometimes a call returns, or work is
 * recorded, that began long ago. */
static void write_piece(struct growing *g, unsigned piece, unsigned turns)
{
	struct program *p = &g->p;

	for (unsigned i = 0; i < turns; i++) {
		unsigned th = below(3);
		int64_t start = p->now > g->free_at[th] ? p->now : g->free_at[th];

		p->last[th] = start;
		g->free_at[th] = nest(p, p->threads[th], start, 0) + 1;
		if (!below(3))
			gpu_work(p, below(30) ? 0 : below(3));
		if (!below(9))
			put(p, GT_SPAN, p->threads[below(3)], p->range,
				p->now - (int64_t)below(500), p->now + below(50), below(3));
		p->now += below(60);
	}
	for (unsigned i = 0; i < 3; i++)
		p->now = g->free_at[i] > p->now ? g->free_at[i] : p->now;
	p->now += 20;
	put(p, GT_CALL, p->threads[5], p->call, p->now - 9, p->now - 2, 1);
	if (piece % 4 == 3) {
		put(p, GT_CALL, p->threads[5], p->alloc, g->hangs, p->now, 0);
		g->hangs = p->now + 1;
	}
	if (piece % 5 == 4)
		CHECK(!gt_gpu_put_kernel(&p->types,
			&(struct gt_gpu_work){ .track = p->streams[1],
				.start = p->now - (int64_t)below(9000),
				.end = p->now,
				.context = 1 },
			&(struct gt_gpu_kernel){
				.name = p->name, .grid = { 1, 1, 1 }, .block = { 1, 1, 1 } },
			&p->err));
	p->now++;
	CHECK(!gt_writer_epoch(p->w, p->now, &p->err));
}

/* The same strips are applied to the present contents of the file. */
static void look_again(struct growing *g)
{
	struct gt_err err = GT_ERR_INIT;

	gt_lane_cells_detach(g->s);
	if (below(4)) /* the archive may be closed long before or after */
		gt_lane_cells_detach(g->s);
	gt_archive_close(g->a);
	if (g->r)
		CHECK(gt_reader_grow(g->r, UINT64_MAX, &err) > 0);
	else
		g->r = gt_reader_open_growing(dup(g->fd), UINT64_MAX, &err);
	CHECK(g->r && (g->a = gt_archive_open(g->r, &err)));
	if (g->s)
		gt_lane_cells_reopen(g->s, g->a);
	else
		CHECK((g->s = gt_lane_cells_new(g->a)));
	read_rows(g->r);
	g->n = list_strips(g->r, g->of, true);
}

/* All values equal those of new strips that have no earlier state. */
static void hold_against_new(const struct growing *g, const struct gt_cell_window *w)
{
	struct gt_lane_cells *fresh = gt_lane_cells_new(g->a);
	struct gt_cell_sums have[MOST_CELLS], want[MOST_CELLS];
	struct gt_err err = GT_ERR_INIT;

	CHECK(fresh && gt_lane_cells_request(fresh, w, g->of, g->n, &err) >= 0 &&
		!gt_lane_cells_step(fresh, 0, &err));
	for (size_t i = 0; i < g->n; i++)
		for (unsigned d = 0; d < DEPTHS; d++) {
			gt_lane_cells_get(g->s, i, d, have);
			gt_lane_cells_get(fresh, i, d, want);
			for (unsigned c = 0; c < w->cells; c++)
				CHECK(have[c].sureness == want[c].sureness &&
					have[c].busy == want[c].busy &&
					is_counted(&have[c], &want[c]) &&
					have[c].category == want[c].category &&
					have[c].open == want[c].open);
		}
	gt_lane_cells_free(fresh);
}

/* Cells that count as certain are correct: at once, and during the scan. */
static void hold_what_is_certain(struct growing *g, const struct gt_cell_window *w, bool first)
{
	static struct gt_cell_sums want[DEPTHS][MOST_CELLS];
	struct gt_cell_sums have[MOST_CELLS];

	for (size_t i = first ? 0 : below(9); i < g->n; i += first ? 1 : 9) {
		count_cells(g->a, g->r, w, &g->of[i], want);
		for (unsigned d = 0; d < DEPTHS; d++) {
			gt_lane_cells_get(g->s, i, d, have);
			for (unsigned c = 0; c < w->cells; c++) {
				g->exact += first && have[c].sureness == GT_CELL_EXACT;
				CHECK(have[c].sureness != GT_CELL_EXACT ||
					(have[c].busy == want[d][c].busy &&
						is_counted(&have[c], &want[d][c])));
			}
		}
	}
}

/* The whole run, the most frequent case; the previous window; or the previous window moved or
 * widened a little. */
static struct gt_cell_window choose_window(
	const struct growing *g, const struct gt_cell_window *before)
{
	struct gt_cell_window w = { .cells = GROWN_CELLS };
	struct gt_time_extent e = { .widest = 60 };
	int64_t first;

	gt_archive_extent(g->a, &e.from, &e.to);
	e.to++;
	if (!before->cells || below(3)) {
		e.grows = below(8);
		gt_window_fit(&w, &e);
		return w;
	}
	w = *before;
	if (!gt_window_is_aligned(&w))
		return w; /* the same cells once more */
	first = (w.from >> w.shift) + (int64_t)below(20) - 6;
	if (below(2))
		return gt_aligned_window(first, w.shift, w.cells);
	return gt_aligned_window(below(2) ? first >> 1 : 0, w.shift + 1, w.cells);
}

static void what_was_certain_stays(void)
{
	for (unsigned seed = 0; seed < 4; seed++) {
		struct growing g = { .fd = temp_file() };
		struct gt_cell_window w = { .cells = 0 };
		struct gt_err err = GT_ERR_INIT;
		int more;

		state = 300 + seed;
		contexts = seed % 3;
		begin(&g.p, dup(g.fd), "boot", seed % 2 ? 70000 : -20000);
		g.hangs = g.p.now;
		for (unsigned piece = 0; piece < 24; piece++) {
			write_piece(&g, piece, piece ? below(60) : 500);
			look_again(&g);
			for (unsigned looks = 1 + !below(3); looks; looks--) {
				w = choose_window(&g, &w);
				CHECK(gt_lane_cells_request(g.s, &w, g.of, g.n, &err) >= 0);
				hold_what_is_certain(&g, &w, true);
				for (more = 1; more && below(9);)
					CHECK((more = gt_lane_cells_step(g.s, 1, &err)) >= 0);
				hold_what_is_certain(&g, &w, false);
			}
			if (more && below(4))
				CHECK(!(more = gt_lane_cells_step(g.s, 0, &err)));
			if (!more)
				hold_against_new(&g, &w);
		}
		CHECK(g.exact > 100000);
		gt_gpu_types_release(&g.p.types);
		CHECK(!gt_writer_close(g.p.w, &g.p.err));
		look_again(&g);
		CHECK(gt_lane_cells_request(g.s, &w, g.of, g.n, &err) >= 0 &&
			!gt_lane_cells_step(g.s, 0, &err));
		hold_against_new(&g, &w);
		gt_lane_cells_free(g.s);
		gt_archive_close(g.a);
		gt_reader_close(g.r);
		close(g.fd);
	}
	contexts = 0;
}

T_MAIN(T(what_was_certain_stays))
