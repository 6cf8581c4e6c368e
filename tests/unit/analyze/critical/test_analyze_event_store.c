/* Sequences of records that do not fit into memory, compared with the expected ones. */
#define _GNU_SOURCE
#include <time.h>
#include "analyze/critical/event_store.h"
#include "tests/unit/t.h"

#define LINES 3
#define RECORDS 2500000u /* of a line: 240 MB in all, 50 packed */

/* three begin at once */
static int64_t start_of(uint32_t line, uint32_t i) { return (int64_t)i / 3 * 10 + line; }

static void fill(struct gt_event_store *s, struct gt_event_list *lines)
{
	for (uint32_t i = 0; i < RECORDS; i++)
		for (uint32_t k = 0; k < LINES; k++)
			gt_event_list_add(s, &lines[k],
				&(struct gt_stored_event){
					start_of(k, i), (int64_t)i, i ^ k, k, -(int64_t)i });
}

static bool is_there(struct gt_event_store *s, const struct gt_event_list *lines, uint32_t line,
	uint32_t i, int64_t end)
{
	struct gt_stored_event one = gt_event_list_get(s, &lines[line], i);

	return one.start == start_of(line, i) && one.end == end && one.type == (i ^ line) &&
		one.by == line && one.launch == -(int64_t)i;
}

static void records_come_back(uint32_t expected)
{
	struct gt_event_list lines[LINES] = { 0 };
	struct gt_event_store s;
	bool ok = true;

	gt_event_store_init(&s, expected);
	fill(&s, lines);
	CHECK(!gt_event_store_failed(&s) && lines[0].n == RECORDS);
	for (uint32_t i = RECORDS; i--;)
		ok &= is_there(&s, lines, i % LINES, i, (int64_t)i);
	CHECK(ok);
	for (uint32_t n = 0, i = 12345; n < 50000; n++, i = (i * 1103515245u + 12345u) % RECORDS)
		ok &= is_there(&s, lines, 1, i, (int64_t)i);
	CHECK(ok && !gt_event_store_failed(&s));
	for (uint32_t i = 0; i < 1000; i++)
		ok &= gt_event_list_count_until(&s, &lines[2], (int64_t)i * 10 + 2) == i * 3 + 3 &&
			gt_event_list_count_until(&s, &lines[2], (int64_t)i * 10 + 1) == i * 3;
	CHECK(ok && gt_event_list_count_until(&s, &lines[2], INT64_MAX) == RECORDS &&
		gt_event_list_count_until(&s, &lines[2], INT64_MIN) == 0);
	for (int k = 0; k < LINES; k++)
		gt_event_list_release(&lines[k]);
	gt_event_store_release(&s);
}

static void large_chunks(void) { records_come_back(LINES); }
static void small_chunks(void) { records_come_back(30000); }

/* ---- gists ---- */

struct counted {
	int64_t cover, end;
	uint64_t longest, longest_gap, between, gaps, of_type[GT_EVENT_DIGEST_TYPES + 1],
		some[GT_EVENT_DIGEST_TYPES + 1];
};

static struct counted count(struct gt_event_store *s, const struct gt_event_list *l, uint32_t from,
	uint32_t to, int64_t before)
{
	struct counted c = { .cover = INT64_MIN, .end = before };

	for (uint32_t i = from; i < to; i++) {
		struct gt_stored_event one = gt_event_list_get(s, l, i);
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

static bool says(const struct gt_event_digest *g, const struct counted *c, bool in_turn)
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
	struct gt_event_list line = { 0 };
	struct gt_event_digest g;
	struct gt_event_store s;
	uint32_t n, chunks = 30;
	int64_t at = 5, before = INT64_MAX;
	bool ok = true;

	gt_event_store_init(&s, 1);
	n = gt_event_store_chunk(&s);
	for (uint32_t i = 0; i < chunks * n + 7; i++) {
		uint32_t of = i / n % 5 == 4 ? GT_EVENT_DIGEST_TYPES + 1 : GT_EVENT_DIGEST_TYPES;
		struct gt_stored_event one = { .start = at + i % 3,
			.end = at + i % 3 + (i * 2654435761u >> 22) % 7 * 100,
			.type = i / 9 % of * 128 };

		at = one.end - (i % n == 500 && i / n % 3 == 2 && one.end > one.start);
		gt_event_list_add(&s, &line, &one);
	}
	for (uint32_t k = 0; k < chunks; k++) {
		struct counted c = count(&s, &line, k * n, (k + 1) * n, before);
		bool have = gt_event_list_digest(&s, &line, k * n + k, &g), overlaps = false;
		uint64_t sum = 0;

		for (uint32_t i = k * n + 1; i < (k + 1) * n; i++)
			overlaps |= gt_event_list_get(&s, &line, i).start <
				gt_event_list_get(&s, &line, i - 1).end;
		for (uint32_t i = 0; i < g.ntypes; i++)
			sum += g.types[i].n;
		ok &= have == (k % 5 != 4);
		ok &= !have ||
			(g.before == before &&
				g.start == gt_event_list_get(&s, &line, k * n).start &&
				says(&g, &c, k && !overlaps));
		ok &= !have || (g.ntypes > 10 && sum > n / 2);
		before = c.end;
	}
	CHECK(ok &&
		!gt_event_list_digest(&s, &line, chunks * n, &g)); /* that one is not complete */
	gt_event_list_release(&line);
	gt_event_store_release(&s);
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

static bool same_line(struct gt_event_store *sa, const struct gt_event_list *a,
	struct gt_event_store *sb, const struct gt_event_list *b)
{
	struct gt_event_digest x, y;
	bool ok = a->n == b->n;

	for (uint32_t i = 0; i < a->n; i++) {
		struct gt_stored_event one = gt_event_list_get(sa, a, i),
				       two = gt_event_list_get(sb, b, i);

		ok &= !memcmp(&one, &two, sizeof(one));
	}
	for (uint32_t i = 0; i < a->n; i += gt_event_store_chunk(sa)) {
		bool in_a = gt_event_list_digest(sa, a, i, &x),
		     in_b = gt_event_list_digest(sb, b, i, &y);

		ok &= in_a == in_b && (!in_a || !memcmp(&x, &y, gt_event_digest_bytes(&x)));
	}
	return ok;
}

/* Whole chunks, which are stored in their final place at once, and parts of some. Sometimes the
 * last row is changed before the next one is added, which may begin a whole chunk. */
static void appended_is_as_added(void)
{
	static struct many m;
	struct gt_event_list put = { 0 }, added = { 0 };
	struct gt_event_store a, b;
	uint32_t whole = 0;

	make_many(&m);
	gt_event_store_init(&a, 1);
	gt_event_store_init(&b, 1);
	for (uint32_t i = 0, turn = 0, n; i < MANY; i += n, turn++) {
		uint32_t want = turn % 4 == 3 ? 700 : UINT32_MAX,
			 left = gt_event_list_chunk_left(&a, &put);
		const struct gt_event_columns rows = { m.start + i, m.end + i, m.start + i,
			m.type + i, m.by + i };
		struct gt_stored_event last;

		n = want < left ? want : left;
		n = n < MANY - i ? n : MANY - i;
		whole += n == gt_event_store_chunk(&a);
		gt_event_list_append(&a, &put, &rows, n);
		for (uint32_t k = 0; k < n; k++)
			gt_event_list_add(&b, &added,
				&(struct gt_stored_event){ m.start[i + k], m.end[i + k],
					m.type[i + k], 9, m.start[i + k] });
		if (turn % 3)
			continue;
		last = gt_event_list_get(&a, &put, put.n - 1);
		last.end += last.end < m.start[i + n - 1 + (i + n < MANY)];
		gt_event_list_set_last(&a, &put, &last);
		gt_event_list_set_last(&b, &added, &last);
	}
	CHECK(whole > 3 && put.n == MANY && same_line(&a, &put, &b, &added) &&
		!gt_event_store_failed(&a));
	gt_event_list_release(&put);
	gt_event_list_release(&added);
	gt_event_store_release(&a);
	gt_event_store_release(&b);
}

static void few_records(void)
{
	struct gt_event_list line = { 0 };
	struct gt_event_store s;

	gt_event_store_init(&s, 1);
	for (int i = 0; i < 10000; i++)
		gt_event_list_add(&s, &line, &(struct gt_stored_event){ .start = i });
	CHECK(line.n == 10000 && gt_event_list_get(&s, &line, 9999).start == 9999);
	gt_event_list_release(&line);
	gt_event_store_release(&s);
}

/* The time is proportional to their number: 0.03 s here, and 8 s when each new list searched all
 * lists before it. */
static void many_short_lists_take_little_time(void)
{
	enum { LISTS = 100000 };
	struct gt_event_list *lists = calloc(LISTS, sizeof(*lists));
	struct gt_event_store s;
	clock_t start = clock();
	bool ok = true;

	gt_event_store_init(&s, LISTS);
	for (int64_t round = 0; round < 20; round++)
		for (uint32_t i = 0; i < LISTS; i += round < 18 ? 100 : 1)
			gt_event_list_add(
				&s, &lists[i], &(struct gt_stored_event){ .start = round * i });
	for (uint32_t i = 0; i < LISTS; i++)
		ok &= gt_event_list_get(&s, &lists[i], lists[i].n - 1).start == 19ll * i;
	for (uint32_t i = 0; i < LISTS; i += 100)
		ok &= gt_event_list_get(&s, &lists[i], 7).start == 7ll * i && lists[i].n == 20;
	CHECK(ok && !gt_event_store_failed(&s));
	CHECK(clock() - start < 3 * CLOCKS_PER_SEC);
	for (uint32_t i = 0; i < LISTS; i++)
		gt_event_list_release(&lists[i]);
	free(lists);
	gt_event_store_release(&s);
}

static void no_room_is_an_error(void)
{
	struct gt_event_list lines[LINES] = { 0 };
	struct gt_event_store s;

	setenv("TMPDIR", "/nonexistent", 1);
	gt_event_store_init(&s, LINES);
	fill(&s, lines);
	unsetenv("TMPDIR");
	CHECK(gt_event_store_failed(&s) && strstr(s.err.text, "/nonexistent"));
	CHECK_EQ(gt_event_list_get(&s, &lines[0], 0).start, 0);
	for (int k = 0; k < LINES; k++)
		gt_event_list_release(&lines[k]);
	gt_event_store_release(&s);
}

T_MAIN(T(large_chunks), T(small_chunks), T(chunks_say_what_is_in_them), T(appended_is_as_added),
	T(few_records), T(many_short_lists_take_little_time), T(no_room_is_an_error))
