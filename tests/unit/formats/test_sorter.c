/* The external sort: records that fit in memory, and more, which need several levels of runs. */
#include <stdlib.h>
#include <string.h>
#include "formats/io/sorter.h"
#include "tests/unit/t.h"

#define CAPACITY 65u

struct record {
	uint64_t key, number, check;
};

static bool before(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	return x->key != y->key ? x->key < y->key : x->number < y->number;
}

static uint64_t keys(uint64_t i, unsigned how)
{
	static const uint64_t odd = 0x9e3779b97f4a7c15;

	return how == 0    ? i
		: how == 1 ? 1000000 - i
		: how == 2 ? i * odd >> 40
		: how == 3 ? i / 7 % 3
		: how == 4 ? i ^ 3 /* nearly in order */
			   : i * odd;
}

/* Does the sorter return n records in order, each once? Equal keys are ordered by number. */
static bool sorts(uint64_t n, unsigned how)
{
	struct gt_err err = GT_ERR_INIT;
	struct record r, last = { 0 };
	uint64_t sum = 0, got = 0;
	struct gt_sorter s;
	bool ok = !gt_sorter_init(&s, sizeof(r), CAPACITY, before, &err);
	int more = 0;

	for (uint64_t i = 0; ok && i < n; i++) {
		struct record *to = gt_sorter_add(&s, &err);

		if (to)
			*to = (struct record){ keys(i, how), i, ~i };
		ok = to && gt_sorter_find(&s, i) == to;
	}
	for (; ok && (more = gt_sorter_next(&s, &r, &err)) > 0; last = r, got++) {
		ok = (!got || before(&last, &r)) && r.check == ~r.number;
		ok &= r.key == keys(r.number, how);
		sum += r.number;
	}
	gt_sorter_release(&s);
	return ok && !more && got == n && sum == n * (n - !!n) / 2;
}

static void any_number_of_records_is_sorted(void)
{
	static const uint64_t sizes[] = { 0, 1, 64, 65, 66, 130, 65 * 64, 65 * 64 + 1,
		65 * 64 * 3 + 70, 65 * 64 * 64 + 65 * 64 * 63 + 65 * 2 + 1 };

	for (unsigned how = 0; how < 6; how++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
			CHECK(sorts(sizes[i], how));
}

static void a_record_is_found_while_it_is_in_the_buffer(void)
{
	struct gt_err err = GT_ERR_INIT;
	struct record r = { 0 };
	struct gt_sorter s;

	CHECK(!gt_sorter_init(&s, sizeof(r), CAPACITY, before, &err));
	for (uint64_t i = 0; i < CAPACITY + 1; i++)
		*(struct record *)gt_sorter_add(&s, &err) = (struct record){ 1, i, ~i };
	CHECK(!gt_sorter_find(&s, 0) && !gt_sorter_find(&s, CAPACITY - 1));
	CHECK(!gt_sorter_find(&s, CAPACITY + 1));
	((struct record *)gt_sorter_find(&s, CAPACITY))->key = 0;
	CHECK(gt_sorter_next(&s, &r, &err) == 1 && r.number == CAPACITY);
	CHECK(gt_sorter_next(&s, &r, &err) == 1 && r.number == 0);
	gt_sorter_release(&s);
}

static void a_folder_that_is_not_there_is_an_error(void)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_sorter s;
	uint64_t n = 0;

	setenv("TMPDIR", "/nonexistent", 1);
	CHECK(!gt_sorter_init(&s, sizeof(struct record), CAPACITY, before, &err));
	for (void *to; n < 2 * CAPACITY && (to = gt_sorter_add(&s, &err)); n++)
		memset(to, 0, sizeof(struct record));
	CHECK(n == CAPACITY && err.code < 0 && strstr(err.text, "/nonexistent"));
	gt_sorter_release(&s);
	unsetenv("TMPDIR");
}

T_MAIN(T(any_number_of_records_is_sorted), T(a_record_is_found_while_it_is_in_the_buffer),
	T(a_folder_that_is_not_there_is_an_error))
