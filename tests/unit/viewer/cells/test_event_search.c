/* Single rows, and searches for them, compared with a list of all rows. */
#define _GNU_SOURCE
#include "tests/unit/viewer/view_rows.h"
#include "viewer/search/event_search.h"

/* From the first row of a lane to the last one and back: each row once, and in order. */
static void a_lane_is_walked_both_ways(void)
{
	open_program(3, 300);
	for (size_t l = 0; l < NLANES; l++) {
		struct gt_event_ref at = { 0 }, next, back;
		size_t n = 0, steps = 0;
		int code;

		for (size_t i = 0; i < nones; i++)
			n += is_on(&ones[i], &lanes[l]);
		code = gt_event_at(archive, &lanes[l], INT64_MIN / 4, INT64_MAX / 4, &at, &err);
		CHECK(code == (n > 0));
		for (; code > 0; at = next) {
			steps++;
			code = gt_event_next(archive, &lanes[l], &at, true, &next, &err);
			if (code <= 0)
				break;
			CHECK(next.start >= at.start);
			CHECK(gt_event_next(archive, &lanes[l], &next, false, &back, &err) == 1 &&
				back.row == at.row && back.block == at.block);
		}
		CHECK(!code && steps == n);
	}
	close_program();
}

static void the_row_under_the_cursor(void)
{
	open_program(4, 2000);
	for (unsigned k = 0; k < 400; k++) {
		const struct gt_lane_key *l = &lanes[below(NLANES)];
		int64_t from = ones[below((uint32_t)nones)].start - 50 + below(100),
			to = from + 1 + below(500);
		const struct one *best = NULL;
		struct gt_event_ref f;
		bool covered = false, same = false;

		for (size_t i = 0; i < nones; i++) {
			bool covers = ones[i].start <= from &&
				(ones[i].end > from || ones[i].start == from);

			if (!is_on(&ones[i], l) ||
				(!covers &&
					(covered || ones[i].start < from || ones[i].start >= to)))
				continue;
			if (covers ? !covered || ones[i].start >= best->start : !best)
				best = &ones[i];
			covered |= covers;
		}
		CHECK(gt_event_at(archive, l, from, to, &f, &err) == (best != NULL));
		/* any of several that start at one time */
		for (size_t i = 0; best && i < nones; i++)
			same |= ones[i].start == best->start && is_on(&ones[i], l) &&
				is_same(&ones[i], &f);
		CHECK(same == (best != NULL));
	}
	close_program();
}

/* ---- the status text ---- */

struct said {
	bool bytes;
	char value[32];
	unsigned n;
};

static int note_field(void *arg, const char *name, const char *value)
{
	struct said *s = arg;

	s->n++;
	if (!strcmp(name, "bytes"))
		snprintf(s->value, sizeof(s->value), "%s", value);
	return 0;
}

static void fields_are_the_rows_own(void)
{
	unsigned told = 0;

	open_program(5, 400);
	for (size_t i = 0; i < nones; i++) {
		struct gt_lane_key l = {
			{ 0, ones[i].track,
				ones[i].kind == GT_CALL ? GT_ASPECT_CALLS : GT_ASPECT_WORK, false },
			GT_DEPTH_ANY
		};
		struct said s = { 0 };
		struct gt_event_ref f;

		if (!ones[i].bytes || ones[i].kind == GT_SPAN)
			continue;
		CHECK_EQ(gt_event_at(archive, &l, ones[i].start, ones[i].start + 1, &f, &err), 1);
		if (!is_same(&ones[i], &f))
			continue;
		CHECK(!gt_event_fields(archive, &f, note_field, &s, &err) && s.n &&
			(uint64_t)atoll(s.value) == ones[i].bytes);
		told++;
	}
	CHECK(told > 50);
	close_program();
}

static void work_and_its_launch_find_each_other(void)
{
	struct gt_lane_key work = { { 0, 1, GT_ASPECT_WORK, true }, 0 };
	struct gt_event_ref f, call, back;
	unsigned found = 0;

	open_program(6, 500);
	for (int code = gt_event_at(archive, &work, INT64_MIN / 4, INT64_MAX / 4, &f, &err);
		code > 0; code = gt_event_next(archive, &work, &f, true, &f, &err)) {
		const struct one *o = NULL, *first = NULL;
		struct gt_search_spec what = { .what = GT_SEARCH_LAUNCHED,
			.call = &call,
			.from = INT64_MIN / 4,
			.to = INT64_MAX / 4 };
		struct gt_event_search *h;

		for (size_t i = 0; !o && i < nones; i++)
			o = is_same(&ones[i], &f) ? &ones[i] : NULL;
		CHECK(o &&
			gt_event_launch(archive, &f, &call, &err) ==
				(o->launch_track != GT_NONE && o->launch_start > 0));
		if (o->launch_track == GT_NONE || o->launch_start <= 0)
			continue;
		found++;
		CHECK(call.start == o->launch_start && call.lane.strip.track == o->launch_track &&
			!call.lane.depth);
		for (size_t i = 0; !first && i < nones; i++)
			first = ones[i].kind == GT_GPU && ones[i].launch_track == o->launch_track &&
					ones[i].launch_start == o->launch_start
				? &ones[i]
				: NULL;
		CHECK((h = gt_event_search_new(archive, &what, &err)) &&
			!gt_event_search_step(h, 0, &err) && gt_event_search_result(h, &back));
		CHECK(back.start == first->start);
		gt_event_search_free(h);
	}
	CHECK(found > 30);
	close_program();
}

/* ---- searches ---- */

static bool is_alloc(const struct gt_segment *seg, const struct gt_type *type, void *arg)
{
	return !strcmp(gt_str(seg, type->name), "cuMemAlloc");
}

static void searches_find_the_first_and_the_last(void)
{
	static const struct gt_strip_key strips[] = { { 0, 2, GT_ASPECT_CALLS, false },
		{ 0, 0, GT_ASPECT_CALLS, true } };

	open_program(7, 8000);
	for (unsigned k = 0; k < 200; k++) {
		struct gt_search_spec what = { .what = below(2) ? GT_SEARCH_TYPE : GT_SEARCH_ERROR,
			.wants = is_alloc,
			.backward = below(2),
			.strip = below(2) ? &strips[below(2)] : NULL };
		int64_t best = 0;
		struct gt_event_ref f = { 0 };
		struct gt_event_search *h;
		bool any = false;

		what.from = ones[below((uint32_t)nones)].start;
		what.to = what.from + below(100000);
		for (size_t i = 0; i < nones; i++) {
			bool wanted = what.what == GT_SEARCH_ERROR
				? ones[i].ret != 0
				: is_alloc(gt_reader_segment(reader, 0),
					  &gt_reader_segment(reader, 0)->types[ones[i].type], NULL);

			if (!wanted || ones[i].start < what.from || ones[i].start >= what.to ||
				(what.strip == &strips[0] && ones[i].track != 2) ||
				(what.strip == &strips[1] && ones[i].kind != GT_CALL))
				continue;
			best = any && !what.backward ? best : ones[i].start;
			any = true;
		}
		CHECK((h = gt_event_search_new(archive, &what, &err)));
		while (gt_event_search_step(h, 1, &err) > 0)
			CHECK(gt_event_search_percent(h) < 100);
		CHECK(gt_event_search_result(h, &f) == any && (!any || f.start == best) &&
			gt_event_search_percent(h) == 100);
		gt_event_search_free(h);
	}
	close_program();
}

T_MAIN(T(a_lane_is_walked_both_ways), T(the_row_under_the_cursor), T(fields_are_the_rows_own),
	T(work_and_its_launch_find_each_other), T(searches_find_the_first_and_the_last))
