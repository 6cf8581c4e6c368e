/* Scans with lanes: every lane sees the same rows as a plain scan in order, no matter which
 * thread unpacked the block. Also rows by type, sorted and searched. */
#include <stdatomic.h>
#include "analyze/columns/column_cursor.h"
#include "tests/unit/t.h"
#include "tests/unit/traces.h"

#define ROWS 60000u
#define TYPES 20u
#define LANES 3u
#define EACH_EPOCH 3000u

/* Rows of four threads and twenty types, two of whose fields say which row it is. */
static struct gt_reader *written(void)
{
	int fd = temp_file(), copy = dup(fd);
	uint32_t types[TYPES];
	char name[16];
	struct tiny t;

	if (tiny_open(&t, fd, true))
		return NULL;
	for (unsigned k = 0; k < TYPES; k++) {
		snprintf(name, sizeof(name), "call%u", k);
		types[k] = tiny_type(t.w, name, GT_CAT_LAUNCH, GT_OP_LAUNCH, "a bytes addr");
	}
	for (uint32_t i = 0; i < ROWS; i++) {
		struct gt_row row = { i * 10ll, i * 10ll + 5,
			types[(i * 2654435761u >> 16) % TYPES], i % 97 ? 0 : -1, 0, 3 };
		uint64_t args[3] = { 7, i, i * 3ull };

		if (gt_writer_row(t.w, GT_CALL, t.thread[i / 5 % 4], &row, args, &t.err))
			return NULL;
		if (i % EACH_EPOCH == EACH_EPOCH - 1)
			gt_writer_epoch(t.w, i * 10ll + 6, &t.err);
	}
	return gt_writer_close(t.w, &t.err) ? NULL : gt_reader_open_fd(copy, NULL);
}

/* ---- lanes ---- */

struct seen {
	uint64_t rows, sum;
	atomic_bool inside;
	bool twice;
	uint64_t runs;
	bool early;
};
struct watch {
	struct seen lanes[LANES], workers[8];
	atomic_ulong each_runs;
	bool each;
	int fail_lane, fail_each;
};

/* A sum that another order, or another row, would change. */
static void add_rows(struct seen *s, const struct gt_cols *c)
{
	struct gt_column_cursor p;
	uint64_t bytes;

	for (uint32_t i = 0; i < c->n; i++, s->rows++)
		s->sum = s->sum * 31 + (uint64_t)c->start[i];
	for (uint32_t code = 0; code < c->ntypes; code++)
		for (gt_column_cursor_start(&p, c, code, GT_R_BYTES, GT_R_NONE);
			gt_column_cursor_next(&p);)
			s->sum = s->sum * 31 +
				(gt_column_cursor_value(&p, 0, &bytes) ? bytes : UINT64_MAX);
}

static int on_lane(void *arg, unsigned lane, const struct gt_cols *c)
{
	struct watch *w = arg;
	struct seen *s = &w->lanes[lane];

	s->twice |= atomic_exchange(&s->inside, true);
	s->early |= w->each && ++s->runs > atomic_load(&w->each_runs);
	add_rows(s, c);
	atomic_store(&s->inside, false);
	return w->fail_lane && s->rows > ROWS / 2 && lane == 1 ? w->fail_lane : 0;
}

static int on_each(void *arg, unsigned worker, const struct gt_cols *c)
{
	struct watch *w = arg;

	add_rows(&w->workers[worker], c);
	atomic_fetch_add(&w->each_runs, 1);
	return w->fail_each && w->workers[worker].rows > ROWS / 8 ? w->fail_each : 0;
}

static int on_run(void *arg, unsigned worker, const struct gt_cols *c)
{
	add_rows(arg, c);
	return 0;
}

static void lanes_see_what_a_scan_in_order_sees(void)
{
	struct gt_filter f[3] = { { .args = true },
		{ .args = true, .ranged = true, .from = 100001, .to = 400003 },
		{ .args = true, .tid = 101 } };
	enum gt_order orders[2] = { GT_BY_TIME, GT_ANY_ORDER };
	static const unsigned threads[] = { 1, 2, 5, 8 };
	struct gt_reader *r = written();

	CHECK(r);
	for (int i = 0; i < 6; i++) {
		struct seen want = { 0 };

		CHECK(!gt_scan(r, &f[i / 2], orders[i % 2], 1, on_run, &want, NULL) &&
			want.rows > 1000);
		for (int k = 0; k < 8; k++) {
			struct watch w = { .each = k % 2 };
			uint64_t each = 0;

			CHECK(!gt_scan_consumers(r, &f[i / 2], orders[i % 2], threads[k / 2],
				k % 2 ? on_each : NULL, on_lane, LANES, &w, NULL));
			for (unsigned l = 0; l < LANES; l++)
				CHECK(w.lanes[l].rows == want.rows && w.lanes[l].sum == want.sum &&
					!w.lanes[l].twice && !w.lanes[l].early);
			for (unsigned n = 0; n < 8; n++)
				each += w.workers[n].rows;
			CHECK(each == (k % 2 ? want.rows : 0));
		}
	}
	gt_reader_close(r);
}

static void what_ends_one_ends_all(void)
{
	struct gt_filter f = { .args = true };
	struct gt_reader *r = written();

	CHECK(r);
	for (unsigned threads = 1; threads < 5; threads++) {
		struct watch lane = { .fail_lane = -77 }, each = { .fail_each = 5 };

		CHECK_EQ(gt_scan_consumers(
				 r, &f, GT_BY_TIME, threads, on_each, on_lane, LANES, &lane, NULL),
			-77);
		CHECK_EQ(gt_scan_consumers(
				 r, &f, GT_BY_TIME, threads, on_each, on_lane, LANES, &each, NULL),
			5);
	}
	gt_reader_close(r);
}

/* ---- rows by their type ---- */

struct by_type {
	unsigned sorted, wrong;
};

static int rows_of_types(void *arg, unsigned worker, const struct gt_cols *c)
{
	struct by_type *t = arg;
	uint32_t all = 0;

	for (uint32_t code = 0; code < c->ntypes; code++) {
		uint32_t n = 0, at = 0, next = 0;
		const uint32_t *rows = gt_cols_rows(c, code, &n);
		const uint64_t *bytes, *addr;
		struct gt_column_cursor p;

		t->sorted += rows != NULL;
		for (uint32_t i = 0; rows && i < c->n; i++)
			if (c->code[i] == code)
				t->wrong += at >= n || rows[at++] != i;
		t->wrong += at != n;
		bytes = gt_cols_args(c, code, 1, &n);
		addr = gt_cols_args(c, code, 2, &n);
		for (gt_column_cursor_start(&p, c, code, GT_R_NONE, GT_R_NONE);
			gt_column_cursor_next(&p); all++) {
			uint64_t row = (uint64_t)c->start[p.row] / 10;

			t->wrong += p.row < next || (c->code ? c->code[p.row] : 0) != code ||
				(p.ret != 0) != (row % 97 == 0);
			t->wrong +=
				p.nth > n || bytes[p.nth - 1] != row || addr[p.nth - 1] != row * 3;
			next = p.row + 1;
		}
		t->wrong += p.nth != n;
	}
	t->wrong += all != c->n;
	return 0;
}

static void rows_are_found_by_their_type(void)
{
	struct gt_filter f[3] = { { .args = true },
		{ .args = true, .ranged = true, .from = 100001, .to = 400003 },
		{ .args = true, .tid = 102 } };
	struct gt_reader *r = written();

	CHECK(r);
	for (int i = 0; i < 3; i++) {
		struct by_type t = { 0 };

		CHECK(!gt_scan(r, &f[i], GT_BY_TIME, 1, rows_of_types, &t, NULL) &&
			t.sorted > 100 && !t.wrong);
	}
	gt_reader_close(r);
}

T_MAIN(T(lanes_see_what_a_scan_in_order_sees), T(what_ends_one_ends_all),
	T(rows_are_found_by_their_type))
