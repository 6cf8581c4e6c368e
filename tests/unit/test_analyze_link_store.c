/* Lines of records that do not fit into memory, beside what they must be. */
#define _GNU_SOURCE
#include "analyze/link_store.h"
#include "tests/unit/t.h"

#define LINES 3
#define RECORDS 2500000u	/* of a line: 240 MB in all, or 300; packed 50 */

static int64_t start_of(uint32_t line, uint32_t i) { return (int64_t)i / 3 * 10 + line; }	/* three begin at once */

static void fill(struct gt_link_store *s, struct gt_links *lines)
{
	for (uint32_t i = 0; i < RECORDS; i++)
		for (uint32_t k = 0; k < LINES; k++)
			gt_links_add(s, &lines[k], &(struct gt_link){ start_of(k, i), (int64_t)i, i ^ k, k, -(int64_t)i, 7 });
}

static bool is_there(struct gt_link_store *s, const struct gt_links *lines, uint32_t line, uint32_t i, int64_t end, int64_t new_end)
{
	struct gt_link one = gt_links_get(s, &lines[line], i);

	return one.start == start_of(line, i) && one.end == end && one.type == (i ^ line) && one.by == line && one.launch == -(int64_t)i &&
	       one.new_end == new_end;
}

static void records_come_back(bool new_ends, uint32_t expected)
{
	struct gt_links lines[LINES] = { 0 };
	struct gt_link_store s;
	bool ok = true;

	gt_link_store_init(&s, new_ends, expected);
	fill(&s, lines);
	CHECK(!gt_link_store_failed(&s) && lines[0].n == RECORDS && (s.fd >= 0) == new_ends);	/* else they are packed */
	for (uint32_t i = RECORDS; i--; )
		ok &= is_there(&s, lines, i % LINES, i, (int64_t)i, new_ends ? 7 : 0);
	CHECK(ok);
	for (uint32_t i = 0; i < RECORDS; i += 7) {	/* and change in place */
		struct gt_link one = gt_links_get(&s, &lines[1], i);

		one.end = -5;
		gt_links_set(&s, &lines[1], i, &one);
	}
	for (uint32_t n = 0, i = 12345; n < 50000; n++, i = (i * 1103515245u + 12345u) % RECORDS)
		ok &= is_there(&s, lines, 1, i, i % 7 ? (int64_t)i : -5, new_ends ? 7 : 0);
	CHECK(ok && !gt_link_store_failed(&s));
	for (uint32_t i = 0; i < 1000; i++)
		ok &= gt_links_until(&s, &lines[2], (int64_t)i * 10 + 2) == i * 3 + 3 && gt_links_until(&s, &lines[2], (int64_t)i * 10 + 1) == i * 3;
	CHECK(ok && gt_links_until(&s, &lines[2], INT64_MAX) == RECORDS && gt_links_until(&s, &lines[2], INT64_MIN) == 0);
	for (int k = 0; k < LINES; k++)
		gt_links_release(&lines[k]);
	gt_link_store_release(&s);
}

static void small_records(void) { records_come_back(false, LINES); }
static void with_new_ends(void) { records_come_back(true, LINES); }
static void small_chunks(void) { records_come_back(false, 30000); }

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
	CHECK(gt_links_get(&s, &lines[0], 0).start == 0);
	for (int k = 0; k < LINES; k++)
		gt_links_release(&lines[k]);
	gt_link_store_release(&s);
}

T_MAIN(T(small_records), T(with_new_ends), T(small_chunks), T(what_fits_needs_no_file), T(no_room_is_an_error))
