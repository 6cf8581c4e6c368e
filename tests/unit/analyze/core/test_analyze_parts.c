/* The components of reports, each compared with a simple method. */
#include "analyze/stats/hist.h"
#include "analyze/columns/top_n.h"
#include "analyze/stats/name_interner.h"
#include "analyze/core/report.h"
#include "analyze/core/busy_strip.h"
#include "analyze/order/time_merge.h"
#include "tests/unit/t.h"

static uint64_t seed = 1;
static uint64_t rnd(void)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return seed >> 33;
}

static void buckets_hold_their_values(void)
{
	for (unsigned bit = 0; bit < 63; bit++)
		for (int64_t d = -1; d <= 1; d++) {
			int64_t v = (int64_t)(1ULL << bit) + d;
			unsigned b = gt_hist_bucket(v);

			CHECK(b < GT_HIST_BUCKETS);
			CHECK(gt_hist_low(b) <= (uint64_t)v && (uint64_t)v < gt_hist_high(b));
			CHECK(v < 128 ? gt_hist_high(b) == (uint64_t)v + 1
				      : (gt_hist_high(b) - gt_hist_low(b)) * 64 <= (uint64_t)v);
		}
	CHECK(gt_hist_bucket(INT64_MAX) == GT_HIST_BUCKETS - 1);
}

static int ascending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void quantiles_are_within_one_percent(void)
{
	static int64_t v[10001];
	static const double qs[] = { 0.001, 0.25, 0.5, 0.9, 0.99, 0.999, 1 };
	struct gt_hist h = { 0 }, a = { 0 }, b = { 0 };
	size_t n = sizeof(v) / sizeof(*v);

	for (size_t i = 0; i < n; i++) {
		v[i] = (int64_t)(rnd() >> (rnd() % 30));
		CHECK(!gt_hist_add(&h, v[i]) && !gt_hist_add(i % 3 ? &a : &b, v[i]));
	}
	qsort(v, n, sizeof(*v), ascending);
	CHECK(gt_hist_count(&h) == n);
	for (size_t i = 0; i < sizeof(qs) / sizeof(*qs); i++) {
		int64_t exact = v[(size_t)(qs[i] * (double)n + 0.9999999) - 1],
			got = gt_hist_quantile(&h, qs[i], v[0], v[n - 1]);

		CHECK(llabs(got - exact) * 100 <= exact);
	}
	CHECK(!gt_hist_merge(&a, &b));
	for (unsigned o = 0; o < GT_HIST_OCTAVES; o++)
		CHECK(!a.octave[o] == !h.octave[o] &&
			(!h.octave[o] || !memcmp(a.octave[o], h.octave[o], GT_HIST_OCTAVE_BYTES)));
	gt_hist_release(&h);
	gt_hist_release(&a);
	gt_hist_release(&b);
	CHECK_EQ(gt_hist_quantile(&h, 0.5, 7, 7), 0);
}

static int64_t quantile_of(const struct gt_hist *h, double q)
{
	return gt_hist_quantile(h, q, 0, INT64_MAX);
}

/* A hundred equal values among others are the median, merged or not. */
static void quantiles_of_few_values_are_exact(void)
{
	static const int64_t values[] = { 36, 1000003, 1 << 20, 3 << 20, 498273296, 1ll << 40,
		1ll << 62 };

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		struct gt_hist h = { 0 }, other = { 0 };

		CHECK(!gt_hist_add(&h, 1) && !gt_hist_add(&other, INT64_MAX));
		for (int k = 0; k < 100; k++)
			CHECK(!gt_hist_add(k % 2 ? &h : &other, values[i]));
		CHECK(!gt_hist_merge(&h, &other) && gt_hist_count(&h) == 102);
		CHECK(quantile_of(&h, 0.5) == values[i]);
		gt_hist_release(&h);
		gt_hist_release(&other);
	}
}

/* p50 of two values of one bucket was the bucket's middle, which is below both. */
static void quantiles_lie_between_the_values(void)
{
	static const int64_t v[] = { 498273296, 498273300, 499000000 };
	struct gt_hist h = { 0 };

	for (unsigned i = 0; i < 3; i++)
		CHECK(!gt_hist_add(&h, v[i]) && gt_hist_bucket(v[i]) == gt_hist_bucket(v[0]));
	for (double q = 0; q <= 1; q += 0.125) {
		int64_t got = gt_hist_quantile(&h, q, v[0], v[2]);

		CHECK(got >= v[0] && got <= v[2]);
	}
	CHECK(gt_hist_quantile(&h, 0, v[0], v[2]) == v[0] &&
		gt_hist_quantile(&h, 1, v[0], v[2]) == v[2]);
	gt_hist_release(&h);
}

static void shares_add_up(void)
{
	static const uint64_t thirds[] = { 1, 1, 1 }, none[] = { 0, 0 },
			      huge[] = { UINT64_MAX, UINT64_MAX, 1 };
	int64_t s[3];
	struct gt_err err = GT_ERR_INIT;

	CHECK(!gt_compute_shares(thirds, 3, s, &err) && s[0] == 3334 && s[1] == 3333 &&
		s[2] == 3333);
	CHECK(!gt_compute_shares(none, 2, s, &err) && s[0] == 0 && s[1] == 0);
	CHECK(!gt_compute_shares(huge, 3, s, &err) && s[0] == 5000 && s[1] == 5000 && s[2] == 0);
	CHECK(!gt_compute_shares(NULL, 0, NULL, &err));
}

struct seen {
	int64_t last;
	size_t n;
	bool ordered;
};
static int see(void *arg, const struct gt_moment *m, struct gt_err *err)
{
	struct seen *s = arg;

	(void)err;
	s->ordered &= m->at >= s->last;
	s->last = m->at;
	s->n++;
	return 0;
}

/* k tracks with overlapping blocks, and floors as a reader gives them. */
static void timeline_orders(void)
{
	struct gt_time_merge t = { 0 };
	struct gt_err err = GT_ERR_INIT;
	struct seen s = { .last = -1, .ordered = true };
	size_t most = 0;

	for (int block = 0; block < 400; block++) {
		int64_t floor = block * 100;

		struct gt_moment *m;

		CHECK(!gt_time_merge_advance(&t, floor, see, &s, &err));
		for (int run = 0; run < 2; run++) { /* two tracks a block */
			CHECK((m = gt_time_merge_reserve(&t, 25, &err)) != NULL);
			for (int i = 0; i < 25; i++)
				m[i] = (struct gt_moment){ .at = floor + 2 * i * (block % 7 + 1) +
						(i % 5 == 4 ? -3 : 0) + 3 };
			gt_time_merge_commit(&t, 25);
		}
		most = t.nmoments > most ? t.nmoments : most;
	}
	CHECK(!gt_time_merge_flush(&t, see, &s, &err));
	CHECK(s.n == 400 * 50 && s.ordered && !t.late && !t.nmoments);
	CHECK(most < 400);
	gt_time_merge_release(&t);
}

#define PLACES 24u
struct by_place {
	uint32_t n[PLACES], ids[PLACES][40000], last, switches;
};
static int see_place(void *arg, const struct gt_moment *m, struct gt_err *err)
{
	struct by_place *s = arg;

	(void)err;
	s->ids[m->place][s->n[m->place]++] = m->what;
	s->switches += m->place != s->last;
	s->last = m->place;
	return 0;
}

/* Of a few or many blocks that overlap, some of one place and some of two, the same moments are
 * handed out by each floor, and those of a place in the same order, whether places are put among
 * each other or not. */
static void timeline_orders_by_place(void)
{
	static struct by_place seen[2];
	struct gt_err err = GT_ERR_INIT;

	for (uint32_t places = 3; places <= PLACES; places += PLACES - 3) {
		struct gt_time_merge t[2] = { { 0 }, { .by_place = true } };
		uint32_t id = 0;

		memset(seen, 0, sizeof(seen));
		srand(places);
		for (int block = 0; block < 1000; block++) {
			int64_t floor = block * 40;

			for (int k = 0; k < 2; k++)
				CHECK(!gt_time_merge_advance(
					&t[k], floor, see_place, &seen[k], &err));
			CHECK(!memcmp(seen[0].n, seen[1].n, sizeof(seen[0].n)));
			for (int run = rand() % 8 != 0; run < 2; run++) {
				struct gt_moment m[20];
				uint32_t place = (uint32_t)rand() % places;

				for (int i = 0; i < 20; i++)
					m[i] = (struct gt_moment){ .at = (i ? m[i - 1].at : floor) +
							rand() % (int)(4 * places),
						.place = place,
						.what = id++ };
				for (int k = 0; k < 2; k++) {
					struct gt_moment *to =
						gt_time_merge_reserve(&t[k], 20, &err);

					CHECK(to);
					memcpy(to, m, sizeof(m));
					gt_time_merge_commit(&t[k], 20);
				}
			}
		}
		for (int k = 0; k < 2; k++)
			CHECK(!gt_time_merge_flush(&t[k], see_place, &seen[k], &err) &&
				!t[k].nmoments);
		CHECK(!memcmp(seen[0].n, seen[1].n, sizeof(seen[0].n)) &&
			!memcmp(seen[0].ids, seen[1].ids, sizeof(seen[0].ids)));
		CHECK(!t[0].late && !t[1].late &&
			(places > 3 || seen[1].switches < seen[0].switches / 2));
		for (int k = 0; k < 2; k++)
			gt_time_merge_release(&t[k]);
	}
}

/* A block's floor may lie before its first event, and the next block may have earlier events: no
 * event is late before the first one is delivered. */
static void timeline_waits_for_the_first(void)
{
	struct gt_time_merge t = { 0 };
	struct gt_err err = GT_ERR_INIT;
	struct seen s = { .last = INT64_MIN, .ordered = true };

	for (int block = 0; block < 3; block++) {
		struct gt_moment *m;

		CHECK(!gt_time_merge_advance(&t, -1000 + block, see, &s, &err) &&
			(m = gt_time_merge_reserve(&t, 10, &err)) != NULL);
		for (int i = 0; i < 10; i++)
			m[i].at = -100 * block + i;
		gt_time_merge_commit(&t, 10);
	}
	CHECK(!s.n && !gt_time_merge_flush(&t, see, &s, &err));
	CHECK(s.n == 30 && s.ordered && !t.late);
	gt_time_merge_release(&t);
}

static void timeline_is_bounded(void)
{
	struct gt_time_merge t = { 0 };
	struct gt_err err = GT_ERR_INIT;
	struct seen s = { .last = -1, .ordered = true };
	for (int block = 0; block < 500; block++) {
		struct gt_moment *m;

		CHECK(!gt_time_merge_advance(&t, 0, see, &s, &err) &&
			(m = gt_time_merge_reserve(&t, 1000, &err)) != NULL);
		for (int i = 0; i < 1000; i++)
			/* each block starts at 0, so no event is certain */
			m[i].at = i ? i * 1000 + block : 0;
		gt_time_merge_commit(&t, 1000);
		CHECK(t.nmoments <= GT_TIME_MERGE_MAX + 1000);
	}
	CHECK(!gt_time_merge_flush(&t, see, &s, &err));
	CHECK(s.n == 500000 && t.late > 0);
	gt_time_merge_release(&t);
}

static void timeline_sorts_what_is_not(void)
{
	struct gt_time_merge t = { 0 };
	struct gt_err err = GT_ERR_INIT;
	struct seen s = { .last = INT64_MIN, .ordered = true };
	struct gt_moment *m = gt_time_merge_reserve(&t, 5000, &err);

	CHECK(m);
	for (int i = 0; i < 5000; i++)
		m[i].at = 2500 - i;
	gt_time_merge_commit(&t, 5000);
	CHECK(!gt_time_merge_flush(&t, see, &s, &err));
	CHECK(s.n == 5000 && s.ordered && !t.late);
	gt_time_merge_release(&t);
}

static void best_few_do_not_depend_on_order(void)
{
	struct gt_segment seg = { 0 };
	struct gt_top_n one = { 0 }, a = { 0 }, b = { 0 };
	struct gt_err err = GT_ERR_INIT;

	gt_top_n_init(&one, 10);
	gt_top_n_init(&a, 10);
	gt_top_n_init(&b, 10);
	for (int i = 0; i < 1000; i++) {
		struct gt_top_entry k = { .score = (int64_t)(rnd() % 40),
			.start = (int64_t)(i * 7919 % 1000),
			.seg = &seg };

		CHECK(!gt_top_n_offer(&one, k.score) || !gt_top_n_add(&one, &k, &err));
		CHECK(!gt_top_n_offer(i % 2 ? &a : &b, k.score) ||
			!gt_top_n_add(i % 2 ? &a : &b, &k, &err));
	}
	CHECK(!gt_top_n_merge(&a, &b, &err));
	gt_top_n_sort(&one);
	gt_top_n_sort(&a);
	CHECK(one.n == 10 && a.n == 10 && a.offered == 1000 && one.offered == 1000);
	for (int i = 0; i < 10; i++) {
		CHECK(one.list[i].score == a.list[i].score && one.list[i].start == a.list[i].start);
		CHECK_EQ(one.list[i].score, 39);
		CHECK(!i || one.list[i - 1].start < one.list[i].start);
	}
	gt_top_n_release(&one);
	gt_top_n_release(&a);
	gt_top_n_release(&b);
}

/* Compared with one flag per ns of the window: a cell is 1/60 of the window wide. */
static void check_strip(const struct gt_busy_strip *s, const struct gt_busy_strip_window *w,
	const bool *covered, uint64_t touched)
{
	char text[GT_BUSY_STRIP_CELLS + 1];
	uint64_t sum = 0;

	gt_busy_strip_text(s, w, 60, text);
	for (uint64_t i = 0; i < GT_BUSY_STRIP_CELLS; i++) {
		uint64_t busy = 0;

		for (uint64_t u = i * w->width; u < (i + 1) * w->width; u++)
			busy += covered[u / GT_BUSY_STRIP_CELLS];
		CHECK(s->busy[i] == busy && text[i] != '\0' &&
			(text[i] == '@') == (busy * 10 >= w->width * 9));
		CHECK((text[i] != ' ') == (touched >> i & 1) && (!busy || touched >> i & 1));
	}
	for (uint64_t ns = 0; ns < w->width; ns++)
		sum += covered[ns];
	CHECK(gt_busy_strip_total(s) == sum && text[GT_BUSY_STRIP_CELLS] == '\0');
}

static void strips_are_unions(void)
{
	for (int trial = 0; trial < 300; trial++) {
		struct gt_busy_strip_window w = { (int64_t)(rnd() % 1000) - 500, rnd() % 400 + 1 };
		struct gt_busy_strip s = { 0 };
		bool covered[400] = { false };
		uint64_t touched = 0;
		int64_t to = w.from + (int64_t)w.width;

		for (int64_t start = w.from - 20; start < to;
			start += (int64_t)(rnd() % (w.width / 4 + 2))) {
			int64_t end = start + (int64_t)(rnd() % (w.width / 8 + 2)), first, last;

			if (end < w.from)
				continue; /* the reader omits rows outside the window */
			gt_busy_strip_add(&s, &w, start, end);
			first = start < w.from ? 0 : start - w.from;
			last = (end > to ? to : end) - w.from;
			for (int64_t ns = first; ns < last; ns++)
				covered[ns] = true;
			touched |= 1ull << (uint64_t)first * 60 / w.width;
			for (uint64_t i = (uint64_t)first * 60 / w.width;
				i * w.width < (uint64_t)last * 60; i++)
				touched |= 1ull << i;
		}
		check_strip(&s, &w, covered, touched);
	}
}

static void strips_of_all_time_and_none(void)
{
	static const struct gt_busy_strip_window all = { INT64_MIN, UINT64_MAX }, none = { 7, 0 };
	struct gt_busy_strip s = { 0 }, t = { 0 };
	char text[GT_BUSY_STRIP_CELLS + 1];

	gt_busy_strip_add(&s, &all, INT64_MIN, INT64_MAX);
	gt_busy_strip_text(&s, &all, 60, text);
	CHECK(gt_busy_strip_total(&s) == UINT64_MAX && strspn(text, "@") == GT_BUSY_STRIP_CELLS);
	gt_busy_strip_add(&t, &none, 7, 7);
	gt_busy_strip_text(&t, &none, 60, text);
	CHECK(!gt_busy_strip_total(&t) && !strncmp(text, ".  ", 3) &&
		strlen(text) == GT_BUSY_STRIP_CELLS);
}

static void strips_have_ten_levels(void)
{
	static const struct gt_busy_strip_window w = { 0, 6000 };
	struct gt_busy_strip s = { 0 };
	char text[GT_BUSY_STRIP_CELLS + 1];

	for (int64_t i = 0; i <= 10; i++)
		gt_busy_strip_add(&s, &w, i * 100, i * 100 + i * 10);
	gt_busy_strip_add(&s, &w, 6000, 6000); /* at the very end: in the last cell */
	gt_busy_strip_text(&s, &w, 60, text);
	CHECK(!strncmp(text, "..:-=+*#%@@ ", 12) && text[58] == ' ' && text[59] == '.');
}

static uint32_t named(struct gt_name_interner *ids, const char *text, uint32_t tag)
{
	return gt_name_interner_find(
		ids, (struct gt_string){ text, (uint32_t)strlen(text) }, tag, NULL);
}

/* One number for each pair of text and tag, in the order of their first use; a second request
 * returns the same number. */
static void names_are_numbered(void)
{
	struct gt_name_interner ids = { 0 };
	char again[] = "add", text[1000][8];

	CHECK_EQ(gt_name_interner_get(&ids, (struct gt_string){ "add", 3 }, 0), GT_NONE);
	CHECK(named(&ids, "add", 0) == 0 && named(&ids, "mul", 0) == 1 &&
		named(&ids, "add", 7) == 2 && named(&ids, "", 0) == 3);
	CHECK(named(&ids, again, 0) == 0 && named(&ids, again, 7) == 2 && ids.n == 4);
	CHECK(gt_name_interner_get(&ids, (struct gt_string){ again, 3 }, 7) == 2 &&
		gt_name_interner_get(&ids, (struct gt_string){ again, 2 }, 7) == GT_NONE);
	for (uint32_t i = 0; i < 1000; i++) {
		snprintf(text[i], sizeof(text[i]), "n%u", i);
		CHECK(named(&ids, text[i], 0) == 4 + i);
	}
	CHECK(!gt_name_interner_has_rest(&ids) && ids.n == 1004 && named(&ids, "n500", 0) == 504);
	gt_name_interner_release(&ids);
}

static void names_beyond_the_most_are_one(void)
{
	struct gt_name_interner ids;

	CHECK(!gt_name_interner_init(&ids, 0, 2, NULL));
	CHECK(named(&ids, "a", 5) == 0 && named(&ids, "b", 5) == 1 &&
		!gt_name_interner_has_rest(&ids));
	CHECK(named(&ids, "c", 5) == 2 && named(&ids, "d", 5) == 2 && named(&ids, "a", 6) == 2 &&
		named(&ids, "a", 5) == 0);
	CHECK(gt_name_interner_has_rest(&ids) && ids.n == 3 &&
		!strcmp(ids.list[2].text, "(all others)") && !ids.list[2].tag);
	gt_name_interner_release(&ids);
}

static void late_rows_are_reported(void)
{
	static const struct gt_column column = { "a_ns", "A", GT_C_NS };
	struct gt_table *t = gt_table_new("t", "T", &column, 1);

	gt_note_unordered(t, 0, "busy times");
	CHECK(t && !gt_table_get_note(t, 0));
	gt_note_unordered(t, 1, "the peak");
	gt_note_unordered(t, 2, "busy times");
	CHECK_STR(gt_table_get_note(t, 0),
		"1 row came too late to be sorted by time, which makes the peak approximate");
	CHECK_STR(gt_table_get_note(t, 1),
		"2 rows came too late to be sorted by time, which makes busy times approximate");
	gt_table_free(t);
}

T_MAIN(T(buckets_hold_their_values), T(quantiles_are_within_one_percent),
	T(quantiles_of_few_values_are_exact), T(quantiles_lie_between_the_values), T(shares_add_up),
	T(timeline_orders), T(timeline_orders_by_place), T(timeline_waits_for_the_first),
	T(timeline_is_bounded), T(timeline_sorts_what_is_not), T(best_few_do_not_depend_on_order),
	T(strips_are_unions), T(strips_of_all_time_and_none), T(strips_have_ten_levels),
	T(names_are_numbered), T(names_beyond_the_most_are_one), T(late_rows_are_reported))
