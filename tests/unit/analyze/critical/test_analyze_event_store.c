/* Sequences of records that do not fit into memory, compared with the expected ones. */
#define _GNU_SOURCE
#include "analyze/critical/event_store.h"
#include "tests/unit/t.h"

#define LINES 3
#define RECORDS 2500000u /* of a line: 240 MB in all, or 300; packed 50 */

/* three begin at once */
static int64_t start_of(uint32_t line, uint32_t i) { return (int64_t)i / 3 * 10 + line; }

static void fill(struct gt_link_store *s, struct gt_links *lines)
{
	for (uint32_t i = 0; i < RECORDS; i++)
		for (uint32_t k = 0; k < LINES; k++)
			gt_links_add(s, &lines[k],
				&(struct gt_link){
					start_of(k, i), (int64_t)i, i ^ k, k, -(int64_t)i, 7 });
}

static bool is_there(struct gt_link_store *s, const struct gt_links *lines, uint32_t line,
	uint32_t i, int64_t end, int64_t new_end)
{
	struct gt_link one = gt_links_get(s, &lines[line], i);

	return one.start == start_of(line, i) && one.end == end && one.type == (i ^ line) &&
		one.by == line && one.launch == -(int64_t)i && one.new_end == new_end;
}

static void records_come_back(bool new_ends, uint32_t expected)
{
	struct gt_links lines[LINES] = { 0 };
	struct gt_link_store s;
	bool ok = true;

	gt_link_store_init(&s, new_ends, expected);
	fill(&s, lines);
	/* else they are packed */
	CHECK(!gt_link_store_failed(&s) && lines[0].n == RECORDS && (s.fd >= 0) == new_ends);
	for (uint32_t i = RECORDS; i--;)
		ok &= is_there(&s, lines, i % LINES, i, (int64_t)i, new_ends ? 7 : 0);
	CHECK(ok);
	for (uint32_t i = 0; i < RECORDS; i += 7) { /* and change in place */
		struct gt_link one = gt_links_get(&s, &lines[1], i);

		one.end = -5;
		gt_links_set(&s, &lines[1], i, &one);
	}
	for (uint32_t n = 0, i = 12345; n < 50000; n++, i = (i * 1103515245u + 12345u) % RECORDS)
		ok &= is_there(&s, lines, 1, i, i % 7 ? (int64_t)i : -5, new_ends ? 7 : 0);
	CHECK(ok && !gt_link_store_failed(&s));
	for (uint32_t i = 0; i < 1000; i++)
		ok &= gt_links_until(&s, &lines[2], (int64_t)i * 10 + 2) == i * 3 + 3 &&
			gt_links_until(&s, &lines[2], (int64_t)i * 10 + 1) == i * 3;
	CHECK(ok && gt_links_until(&s, &lines[2], INT64_MAX) == RECORDS &&
		gt_links_until(&s, &lines[2], INT64_MIN) == 0);
	for (int k = 0; k < LINES; k++)
		gt_links_release(&lines[k]);
	gt_link_store_release(&s);
}

static void small_records(void) { records_come_back(false, LINES); }
static void with_new_ends(void) { records_come_back(true, LINES); }
static void small_chunks(void) { records_come_back(false, 30000); }

/* ---- gists ---- */

struct counted {
	int64_t cover, end;
	uint64_t longest, longest_gap, between, gaps, of_type[GT_LINK_GIST_TYPES + 1],
		some[GT_LINK_GIST_TYPES + 1];
};

static struct counted count(struct gt_link_store *s, const struct gt_links *l, uint32_t from,
	uint32_t to, int64_t before)
{
	struct counted c = { .cover = INT64_MIN, .end = before };

	for (uint32_t i = from; i < to; i++) {
		struct gt_link one = gt_links_get(s, l, i);
		uint64_t ns = (uint64_t)(one.end - one.start), gap = (uint64_t)(one.start - c.end);

		c.of_type[one.type / 128] += ns;
		c.some[one.type / 128] += ns > 0;
		c.longest = ns > c.longest ? ns : c.longest;
		c.longest_gap = gap > c.longest_gap ? gap : c.longest_gap;
		c.between += gap;
		c.gaps += gap > 0;
		c.end = one.end;
		c.cover = one.end > c.cover ? one.end : c.cover;
	}
	return c;
}

static bool says(const struct gt_link_gist *g, const struct counted *c, bool in_turn)
{
	bool ok = g->cover == c->cover && g->end == c->end && g->longest == c->longest &&
		g->in_turn == in_turn;

	if (in_turn)
		ok &= g->longest_gap == c->longest_gap && g->between == c->between &&
			g->gaps == c->gaps;
	for (uint32_t i = 0; i < g->ntypes; i++) {
		uint32_t k = g->types[i].type / 128;

		ok &= g->types[i].ns == c->of_type[k] && g->types[i].n == c->some[k];
	}
	return ok;
}

/* Each third chunk has one row that begins before the one before it ended, each fifth too many
 * types. Types share their last bits. */
static void chunks_say_what_is_in_them(void)
{
	struct gt_links line = { 0 };
	struct gt_link_gist g;
	struct gt_link_store s;
	uint32_t n, chunks = 30;
	int64_t at = 5, before = INT64_MAX;
	bool ok = true;

	gt_link_store_init(&s, false, 1);
	n = gt_links_chunk(&s);
	for (uint32_t i = 0; i < chunks * n + 7; i++) {
		uint32_t of = i / n % 5 == 4 ? GT_LINK_GIST_TYPES + 1 : GT_LINK_GIST_TYPES;
		struct gt_link one = { .start = at + i % 3,
			.end = at + i % 3 + (i * 2654435761u >> 22) % 7 * 100,
			.type = i / 9 % of * 128 };

		at = one.end - (i % n == 500 && i / n % 3 == 2 && one.end > one.start);
		gt_links_add(&s, &line, &one);
	}
	for (uint32_t k = 0; k < chunks; k++) {
		struct counted c = count(&s, &line, k * n, (k + 1) * n, before);
		bool have = gt_links_gist(&s, &line, k * n + k, &g), overlaps = false;
		uint64_t sum = 0;

		for (uint32_t i = k * n + 1; i < (k + 1) * n; i++)
			overlaps |= gt_links_get(&s, &line, i).start <
				gt_links_get(&s, &line, i - 1).end;
		for (uint32_t i = 0; i < g.ntypes; i++)
			sum += g.types[i].n;
		ok &= have == (k % 5 != 4);
		ok &= !have ||
			(g.before == before && g.start == gt_links_get(&s, &line, k * n).start &&
				says(&g, &c, k && !overlaps));
		ok &= !have || (g.ntypes > 10 && sum > n / 2);
		before = c.end;
	}
	CHECK(ok && !gt_links_gist(&s, &line, chunks * n, &g)); /* that one is not complete */
	gt_links_release(&line);
	gt_link_store_release(&s);
}

/* ---- many at once ---- */

#define MANY 20000u

/* Rows of a line, some of which take longer than two seconds or begin as long after the one before.
 */
struct many {
	int64_t start[MANY], end[MANY];
	uint32_t type[MANY], by[MANY];
};

static void make_many(struct many *m)
{
	int64_t at = -1000;

	for (uint32_t i = 0; i < MANY; i++) {
		uint32_t r = i * 2654435761u >> 7;

		m->start[i] = at + (i % 5000 == 4000 ? 5000000000 : r % 3);
		m->end[i] = m->start[i] + (i % 7000 == 6000 ? 3000000000 : i % 3 ? r % 100000 : 0);
		m->type[i] = r % 5 * 256 + 1;
		m->by[i] = 9;
		at = m->end[i];
	}
}

static bool same_line(struct gt_link_store *sa, const struct gt_links *a, struct gt_link_store *sb,
	const struct gt_links *b)
{
	struct gt_link_gist x, y;
	bool ok = a->n == b->n;

	for (uint32_t i = 0; i < a->n; i++) {
		struct gt_link one = gt_links_get(sa, a, i), two = gt_links_get(sb, b, i);

		ok &= !memcmp(&one, &two, sizeof(one));
	}
	for (uint32_t i = 0; i < a->n; i += gt_links_chunk(sa)) {
		bool in_a = gt_links_gist(sa, a, i, &x), in_b = gt_links_gist(sb, b, i, &y);

		ok &= in_a == in_b && (!in_a || !memcmp(&x, &y, gt_link_gist_bytes(&x)));
	}
	return ok;
}

/* Whole chunks, which are stored in their final place at once, and parts of some. Sometimes the
 * last row is changed before the next one is added, which may begin a whole chunk. */
static void put_is_as_added(bool new_ends)
{
	static struct many m;
	struct gt_links put = { 0 }, added = { 0 };
	struct gt_link_store a, b;
	uint32_t whole = 0;

	make_many(&m);
	gt_link_store_init(&a, new_ends, 1);
	gt_link_store_init(&b, new_ends, 1);
	for (uint32_t i = 0, turn = 0, n; i < MANY; i += n, turn++) {
		uint32_t want = turn % 4 == 3 ? 700 : UINT32_MAX, left = gt_links_left(&a, &put);
		const struct gt_link_cols rows = { m.start + i, m.end + i, m.start + i, NULL,
			m.type + i, m.by + i };
		struct gt_link last;

		n = want < left ? want : left;
		n = n < MANY - i ? n : MANY - i;
		whole += n == gt_links_chunk(&a);
		gt_links_put(&a, &put, &rows, n);
		for (uint32_t k = 0; k < n; k++)
			gt_links_add(&b, &added,
				&(struct gt_link){ m.start[i + k], m.end[i + k], m.type[i + k], 9,
					m.start[i + k], 0 });
		if (turn % 3)
			continue;
		last = gt_links_get(&a, &put, put.n - 1);
		last.end += last.end < m.start[i + n - 1 + (i + n < MANY)];
		gt_links_set(&a, &put, put.n - 1, &last);
		gt_links_set(&b, &added, added.n - 1, &last);
	}
	CHECK(whole > 3 && put.n == MANY && same_line(&a, &put, &b, &added) &&
		!gt_link_store_failed(&a));
	gt_links_release(&put);
	gt_links_release(&added);
	gt_link_store_release(&a);
	gt_link_store_release(&b);
}

static void many_are_as_one_by_one(void) { put_is_as_added(false); }
static void many_with_new_ends(void) { put_is_as_added(true); }

static void what_fits_needs_no_file(void)
{
	struct gt_links line = { 0 };
	struct gt_link_store s;

	gt_link_store_init(&s, false, 1);
	for (int i = 0; i < 10000; i++)
		gt_links_add(&s, &line, &(struct gt_link){ .start = i });
	CHECK(line.n == 10000 && s.fd < 0 && gt_links_get(&s, &line, 9999).start == 9999);
	gt_links_release(&line);
	gt_link_store_release(&s);
}

static void no_room_is_an_error(void)
{
	struct gt_links lines[LINES] = { 0 };
	struct gt_link_store s;

	setenv("TMPDIR", "/nonexistent", 1);
	gt_link_store_init(&s, false, LINES);
	fill(&s, lines);
	unsetenv("TMPDIR");
	CHECK(gt_link_store_failed(&s) && strstr(s.err.text, "/nonexistent"));
	CHECK_EQ(gt_links_get(&s, &lines[0], 0).start, 0);
	for (int k = 0; k < LINES; k++)
		gt_links_release(&lines[k]);
	gt_link_store_release(&s);
}

T_MAIN(T(small_records), T(with_new_ends), T(small_chunks), T(chunks_say_what_is_in_them),
	T(many_are_as_one_by_one), T(many_with_new_ends), T(what_fits_needs_no_file),
	T(no_room_is_an_error))
