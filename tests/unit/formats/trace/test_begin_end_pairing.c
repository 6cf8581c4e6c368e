/* Pairing: which begin and end belong together, which stay unmatched, and the depth and lane of
 *each call. Each delivery is written as one of: call KEY@START-END dDEPTH lLANE	   unmatched
 *begin KEY@TIME    unmatched end KEY@TIME    open KEY@TIME dDEPTH */
#include <inttypes.h>
#include "formats/trace/read/begin_end_pairing.h"
#include "tests/unit/t.h"

static char said[4096];
static uint64_t calls, sum, unmatched;

static void say(const char *fmt, uint64_t key, int64_t a, int64_t b, unsigned c, unsigned d)
{
	size_t n = strlen(said);

	snprintf(said + n, sizeof(said) - n, fmt, key, a, b, c, d);
}

static int on_call(void *arg, const struct gt_half *b, const struct gt_half *e, unsigned lane,
	uint8_t depth, struct gt_err *err)
{
	calls++;
	for (uint32_t i = 0; i < b->nargs; i++)
		sum += b->args[i];
	say("call %" PRIu64 "@%" PRId64 "-%" PRId64 " d%u l%u\n", b->key, b->time, e->time, depth,
		lane);
	return 0;
}

static int on_unmatched(void *arg, const struct gt_half *h, bool is_end, struct gt_err *err)
{
	unmatched++;
	say(is_end ? "unmatched end %" PRIu64 "@%" PRId64 "\n"
		   : "unmatched begin %" PRIu64 "@%" PRId64 "\n",
		h->key, h->time, 0, 0, 0);
	return 0;
}

static int on_open(void *arg, const struct gt_half *h, uint8_t depth, struct gt_err *err)
{
	say("open %" PRIu64 "@%" PRId64 " d%" PRId64 "\n", h->key, h->time, depth, 0, 0);
	return 0;
}
static const struct gt_pair_sink sink = { on_call, on_unmatched, on_open };

/* Plays "B KEY TIME" and "E KEY TIME" words ("B1@5 E1@9"; a name other than 0 follows a '/') and
 * compares the deliveries. */
static bool play(enum gt_pair_mode mode, const char *script, const char *expected)
{
	struct gt_pairing *p = gt_pair_new(mode, &sink, NULL, NULL);
	int bad = 0, used;
	char side;

	said[0] = 0;
	calls = sum = unmatched = 0;
	for (; sscanf(script, " %c%n", &side, &used) == 1; script += used) {
		struct gt_half h = { 0 };
		unsigned name = 0, more = 0;

		script += used;
		if (sscanf(script, "%" SCNu64 "@%" SCNd64 "%n", &h.key, &h.time, &used) != 2)
			break;
		if (sscanf(script + used, "/%u%n", &name, (int *)&more) == 1)
			used += (int)more;
		h.name = name;
		bad |= side == 'B' ? gt_pair_begin(p, &h, NULL) : gt_pair_end(p, &h, NULL);
	}
	bad |= gt_pair_finish(p, NULL) | gt_pair_each_open(p, 100, NULL);
	bad |= gt_pair_count_unmatched(p) != unmatched;
	gt_pair_free(p);
	if (strcmp(said, expected))
		fprintf(stderr, "%s", said);
	return !bad && !strcmp(said, expected);
}

static void by_id(void)
{
	CHECK(play(GT_PAIR_BY_ID, "B1@1 E1@2 B2@3 E2@4", "call 1@1-2 d0 l0\ncall 2@3-4 d0 l0\n"));
	CHECK(play(GT_PAIR_BY_ID, "B1@1 B2@2 B3@3 E3@4 E2@5 E1@6",
		"call 3@3-4 d2 l0\ncall 2@2-5 d1 l0\ncall 1@1-6 d0 l0\n"));
	CHECK(play(GT_PAIR_BY_ID, "B1@5 E1@5", "call 1@5-5 d0 l0\n"));
}

static void ids_that_come_again(void)
{
	CHECK(play(GT_PAIR_BY_ID, "B1@1 E1@2 B1@3 E1@4", "call 1@1-2 d0 l0\ncall 1@3-4 d0 l0\n"));
	CHECK(play(GT_PAIR_BY_ID, "B1@1 B1@3 E1@4", "unmatched begin 1@1\ncall 1@3-4 d0 l0\n"));
	CHECK(play(GT_PAIR_BY_ID, "B1@1 E1@2 E1@3 E1@4",
		"call 1@1-2 d0 l0\nunmatched end 1@3\nunmatched end 1@4\n"));
	CHECK(play(GT_PAIR_BY_ID, "E1@2 B1@5 E1@6", "unmatched end 1@2\ncall 1@5-6 d0 l0\n"));
}

static void ends_that_come_first(void)
{
	CHECK(play(GT_PAIR_BY_ID, "E1@9 B1@5", "call 1@5-9 d0 l0\n"));
	CHECK(play(GT_PAIR_BY_ID, "E1@9 E2@4 B2@3 B1@5", "call 2@3-4 d0 l0\ncall 1@5-9 d0 l0\n"));
}

static void what_does_not_belong(void)
{
	CHECK(play(GT_PAIR_BY_ID, "B1@5 E1@3", "unmatched end 1@3\nopen 1@5 d0\n"));
	CHECK(play(GT_PAIR_BY_ID, "B1@5/1 E1@6/2 E1@7/1", "unmatched end 1@6\ncall 1@5-7 d0 l0\n"));
	CHECK(play(GT_PAIR_BY_ID, "B1@1 B2@2", "open 1@1 d0\nopen 2@2 d1\n"));
}

static void nested(void)
{
	CHECK(play(GT_PAIR_NESTED, "B1@1 B1@2 E1@3 E1@4", "call 1@2-3 d1 l0\ncall 1@1-4 d0 l0\n"));
	CHECK(play(GT_PAIR_NESTED, "E1@1 B1@2 E1@3 E1@4",
		"unmatched end 1@1\ncall 1@2-3 d0 l0\nunmatched end 1@4\n"));
	CHECK(play(GT_PAIR_NESTED, "B1@1 B2@2 B1@3 E2@4 E1@5",
		"call 2@2-4 d1 l0\ncall 1@3-5 d1 l1\nopen 1@1 d0\n"));
}

static void overlaps_get_lanes(void)
{
	CHECK(play(GT_PAIR_BY_ID, "B1@1 B2@2 E1@3 E2@4", "call 1@1-3 d0 l0\ncall 2@2-4 d0 l1\n"));
	CHECK(play(GT_PAIR_BY_ID, "B1@1 B2@2 E1@3 B3@3 E2@4 E3@5",
		"call 1@1-3 d0 l0\ncall 2@2-4 d0 l1\ncall 3@3-5 d0 l0\n"));
	CHECK(play(GT_PAIR_BY_ID, "B1@1 B2@2 B3@3 E3@4 E2@5 E1@6 B4@7 E4@8",
		"call 3@3-4 d2 l0\ncall 2@2-5 d1 l0\ncall 1@1-6 d0 l0\ncall 4@7-8 d0 l0\n"));
}

static void more_overlaps_than_lanes(void)
{
	char script[400] = "", expected[800] = "";

	for (int i = 1; i <= GT_PAIR_LANES + 1; i++)
		snprintf(script + strlen(script), sizeof(script) - strlen(script), "B%d@%d ", i, i);
	for (int i = 1; i <= GT_PAIR_LANES + 1; i++) {
		snprintf(script + strlen(script), sizeof(script) - strlen(script), "E%d@%d ", i,
			i + 50);
		snprintf(expected + strlen(expected), sizeof(expected) - strlen(expected),
			"call %d@%d-%d d0 l%d\n", i, i, i + 50, i - 1);
	}
	/* the last one on lane GT_PAIR_LANES: none was free */
	CHECK(play(GT_PAIR_BY_ID, script, expected));
}

static void scopes_are_apart(void)
{
	struct gt_pairing *p = gt_pair_new(GT_PAIR_BY_ID, &sink, NULL, NULL);
	struct gt_half a = { .time = 1, .key = 5, .scope = 0 },
		       b = { .time = 2, .key = 5, .scope = 1, .track = 1 };

	said[0] = 0;
	CHECK(!gt_pair_begin(p, &a, NULL) && !gt_pair_begin(p, &b, NULL));
	a.time = 3;
	b.time = 4;
	CHECK(!gt_pair_end(p, &a, NULL) && !gt_pair_end(p, &b, NULL) &&
		!gt_pair_count_unmatched(p));
	gt_pair_free(p);
	CHECK_STR(said, "call 5@1-3 d0 l0\ncall 5@2-4 d0 l0\n");
}

/* Compared with a list that is searched from its end: ids are reused, are missing and overlap. */
static void agrees_with_a_slow_one(void)
{
	struct gt_pairing *p = gt_pair_new(GT_PAIR_BY_ID, &sink, NULL, NULL);
	bool is_open[64] = { 0 };
	uint32_t state = 3;
	uint64_t want_calls = 0, want_unmatched = 0;

	calls = unmatched = 0;
	for (int64_t t = 1; t < 200000; t++) {
		struct gt_half h = { .time = t, .track = (uint32_t)t % 3 };
		bool begin;

		state = state * 1664525u + 1013904223u;
		h.key = state >> 16 & 63;
		begin = state >> 24 & 1;
		if (!begin && !is_open[h.key])
			continue; /* an end that waits is tested above */
		want_calls += !begin;
		want_unmatched += begin && is_open[h.key];
		is_open[h.key] = begin;
		CHECK(!(begin ? gt_pair_begin(p, &h, NULL) : gt_pair_end(p, &h, NULL)));
	}
	gt_pair_free(p);
	CHECK(calls == want_calls && unmatched == want_unmatched && want_calls > 1000 &&
		want_unmatched > 1000);
}

static void bounds(enum gt_pair_mode mode, bool ends, size_t most, uint32_t nargs, uint64_t keys)
{
	struct gt_pairing *p = gt_pair_new(mode, &sink, NULL, NULL);
	uint64_t args[64] = { 1 }, n = 2 * (uint64_t)most + 10;

	calls = unmatched = 0;
	for (uint64_t i = 0; i < n; i++) {
		struct gt_half h = {
			.time = (int64_t)i, .key = i % keys, .nargs = nargs, .args = args
		};

		CHECK(!(ends ? gt_pair_end(p, &h, NULL) : gt_pair_begin(p, &h, NULL)));
	}
	CHECK(unmatched == n - most);
	CHECK(!gt_pair_finish(p, NULL) && unmatched == (ends ? n : n - most));
	gt_pair_free(p);
}
static void begins_are_bounded(void)
{
	bounds(GT_PAIR_BY_ID, false, GT_PAIR_BEGINS, 0, UINT64_MAX);
}
static void nested_begins_are_bounded(void)
{
	bounds(GT_PAIR_NESTED, false, GT_PAIR_BEGINS, 0, 1000);
}
static void ends_are_bounded(void) { bounds(GT_PAIR_BY_ID, true, GT_PAIR_ENDS, 0, UINT64_MAX); }
static void arguments_are_bounded(void)
{
	bounds(GT_PAIR_BY_ID, false, GT_PAIR_ARGS / (64 * 8), 64, UINT64_MAX);
}

static void arguments_are_kept(void)
{
	struct gt_pairing *p = gt_pair_new(GT_PAIR_BY_ID, &sink, NULL, NULL);
	uint64_t args[3] = { 1, 20, 300 };
	struct gt_half b = { .time = 1, .key = 1, .nargs = 3, .args = args },
		       e = { .time = 2, .key = 1 };

	calls = sum = 0;
	CHECK(!gt_pair_begin(p, &b, NULL));
	memset(args, 0, sizeof(args));
	CHECK(!gt_pair_end(p, &e, NULL));
	gt_pair_free(p);
	CHECK(calls == 1 && sum == 321);
}

T_MAIN(T(by_id), T(ids_that_come_again), T(ends_that_come_first), T(what_does_not_belong),
	T(nested), T(overlaps_get_lanes), T(more_overlaps_than_lanes), T(scopes_are_apart),
	T(agrees_with_a_slow_one), T(begins_are_bounded), T(nested_begins_are_bounded),
	T(ends_are_bounded), T(arguments_are_bounded), T(arguments_are_kept))
