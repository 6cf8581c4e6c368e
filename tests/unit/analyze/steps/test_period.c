/* The repeating part of sequences whose loops are known. */
#include <string.h>
#include "analyze/steps/period.h"
#include "tests/unit/t.h"

#define MOST 100000
static uint32_t list[MOST];
static size_t n;

static void put(uint32_t symbol) { list[n++] = symbol; }

static int find(uint32_t nsymbols, struct gt_period *p)
{
	struct gt_err err = GT_ERR_INIT;
	const char *why;
	int rc = gt_period_find(list, n, nsymbols, p, &why, &err);

	return rc == 0 && !why ? -1 : rc;
}

/* The start of the nth period (from 0), according to the result; n: there is none. */
static size_t begin_of(const struct gt_period *p, unsigned nth)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == p->anchor && !nth--)
			return i - p->before;
	return n;
}

static void a_loop_behind_a_beginning(void)
{
	struct gt_period p;

	n = 0;
	for (uint32_t i = 0; i < 40; i++)
		put(20 + i % 7);
	for (int step = 0; step < 50; step++)
		for (uint32_t i = 0; i < 10; i++)
			put(i);
	for (uint32_t i = 0; i < 10; i++)
		put(30);
	CHECK(find(31, &p) == 1 && p.length == 10 && p.count == 49 && p.usual == 49 &&
		p.regular == 1);
	CHECK(begin_of(&p, 0) == 40 && begin_of(&p, 49) == 530);
}

/* Twelve layers of three operations, and five more around them: the step is all of it. */
static void not_the_inner_loop(void)
{
	struct gt_period p;

	n = 0;
	for (int step = 0; step < 30; step++) {
		put(10), put(11);
		for (int layer = 0; layer < 12; layer++)
			put(1), put(2), put(3);
		put(12), put(13), put(14);
	}
	CHECK(find(15, &p) == 1 && p.length == 41 && p.count == 29 && begin_of(&p, 1) == 41);
}

/* Every tenth step prints its progress, and every 25th step runs a validation: neither makes ten
 * steps one. */
static void not_the_outer_loop(void)
{
	struct gt_period p;

	n = 0;
	for (int step = 0; step < 100; step++) {
		for (uint32_t i = 0; i < 20; i++)
			put(i % 12);
		if (step % 10 == 9)
			put(12);
		for (uint32_t i = 0; step % 25 == 24 && i < 60; i++)
			put(1 + i % 6);
	}
	CHECK(find(13, &p) == 1 && p.length == 20 && p.usual >= 85);
	CHECK(p.count == 99 && begin_of(&p, 0) == 0 && begin_of(&p, 10) == 201 &&
		p.regular > 0.85 && p.regular < 1);
}

/* The first step creates objects that the later steps find. */
static void the_first_step_does_more(void)
{
	struct gt_period p;

	n = 0;
	for (int i = 0; i < 25; i++)
		put(30);
	for (int step = 0; step < 40; step++)
		for (uint32_t i = 0; i < 12; i++) {
			put(i);
			for (uint32_t k = 0; step == 0 && i == 7 && k < 9; k++)
				put(31);
		}
	CHECK(find(32, &p) == 1 && p.length == 12 && begin_of(&p, 0) == 25 &&
		begin_of(&p, 1) == 46);
}

/* Requests of four sizes run other kernels for the same work, and some requests run one more. */
static void requests_of_different_sizes(void)
{
	struct gt_period p;

	n = 0;
	for (uint32_t request = 0; request < 60; request++) {
		put(0), put(1);
		for (uint32_t layer = 0; layer < 4; layer++) {
			put(2), put(3), put(10 + request % 4), put(20 + request % 4), put(4),
				put(30 + request % 4);
			if (request % 4 == 3)
				put(40);
		}
		put(5), put(6);
	}
	CHECK(find(41, &p) == 1 && p.count == 59 && begin_of(&p, 0) == 0 && begin_of(&p, 1) == 28 &&
		begin_of(&p, 4) == 28 * 3 + 32);
}

static void nothing_repeats(void)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_period p;
	const char *why;

	n = 0;
	CHECK(gt_period_find(list, 0, 0, &p, &why, &err) == 0 && why);
	for (uint32_t i = 0; i < 1000; i++)
		put(i);
	CHECK(gt_period_find(list, n, 1000, &p, &why, &err) == 0 &&
		!strcmp(why, "no operation occurs more than three times"));
	for (unsigned seed = 1; seed <= 20; seed++) {
		srand(seed);
		n = 0;
		for (uint32_t i = 0; i < 5000; i++)
			put((uint32_t)rand() % (seed % 2 ? 10 : 200));
		CHECK(gt_period_find(list, n, 200, &p, &why, &err) == 0 &&
			strstr(why, "not in the same order"));
	}
	n = 0; /* three of something are no loop */
	for (uint32_t i = 0; i < 9; i++)
		put(i % 3);
	CHECK_EQ(find(3, &p), 0);
}

/* Loops of any length with any symbols, some repeated, after other operations: the start of the
 * loop is found exactly. */
static void random_loops(void)
{
	for (unsigned seed = 1; seed <= 300; seed++) {
		uint32_t body[64], length, prefix, unique, steps;
		struct gt_period p;

		srand(seed);
		length = 4 + (uint32_t)rand() % 60;
		unique = 2 + length / 3; /* symbols that occur once */
		prefix = (uint32_t)rand() % 100;
		steps = 5 + (uint32_t)rand() % 200;
		for (uint32_t i = 0; i < length; i++)
			body[i] = i < unique ? i : 100 + (uint32_t)rand() % 4;
		for (uint32_t i = length - 1; i; i--) {
			uint32_t k = (uint32_t)rand() % (i + 1), one = body[i];

			body[i] = body[k], body[k] = one;
		}
		n = 0;
		for (uint32_t i = 0; i < prefix; i++)
			put(200 + (uint32_t)rand() % 20);
		for (uint32_t i = 0; i < steps * length; i++)
			put(body[i % length]);
		CHECK(find(220, &p) == 1 && p.length == length && p.count == steps - 1 &&
			p.usual == steps - 1);
		CHECK(begin_of(&p, 0) == prefix &&
			begin_of(&p, steps - 1) == prefix + (steps - 1) * length);
	}
}

T_MAIN(T(a_loop_behind_a_beginning), T(not_the_inner_loop), T(not_the_outer_loop),
	T(the_first_step_does_more), T(requests_of_different_sizes), T(nothing_repeats),
	T(random_loops))
