/* Files of speedscope through gt_open_any, as every tool sees them. */
#define _GNU_SOURCE
#include "tests/unit/formats/import/stacks_of.h"

#define SCHEMA "\"$schema\":\"https://www.speedscope.app/file-format-schema.json\""
#define FRAMES                                                                                     \
	"\"shared\":{\"frames\":[{\"name\":\"main\",\"file\":\"/src/a.py\",\"line\":3,\"col\":7}," \
	"{\"name\":\"step\"},{\"name\":\"\\u00e9t\\u00e9\",\"file\":\"b.py\"}]}"
#define FILE_OF(profiles) "{" SCHEMA "," FRAMES ",\"profiles\":[" profiles "]}"
#define EVENTED(unit, events)                                                                      \
	"{\"type\":\"evented\",\"name\":\"t\",\"unit\":\"" unit                                    \
	"\",\"startValue\":0,\"endValue\":9,\"events\":[" events "]}"
#define O(frame, at) "{\"type\":\"O\",\"frame\":" #frame ",\"at\":" #at "}"
#define C(frame, at) "{\"type\":\"C\",\"frame\":" #frame ",\"at\":" #at "}"

static void functions_nest(void)
{
	CHECK(lists(FILE_OF(EVENTED("microseconds",
			    O(0, 1.5) "," O(1, 2) "," C(1, 3) "," O(2, 3) "," C(2, 4) "," C(
				    0, 4.25)) "," EVENTED("seconds", O(1, 2) "," C(1, 3))),
		"S 0/1 t main 1500+2750 d0 r0 file='/src/a.py' line=3 column=7\n"
		"S 0/1 t step 2000+1000 d1 r0\n"
		"S 0/1 t \u00e9t\u00e9 3000+1000 d1 r0 file='b.py'\n"
		"S 0/2 t step 2000000000+1000000000 d0 r0\n"));
}

/* The order of keys is free: frames and units may follow what refers to them. */
static void frames_and_units_at_the_end(void)
{
	CHECK(lists("{\"profiles\":[{\"events\":[" O(1, 5) "," C(
			    1, 7) "],\"unit\":\"nanoseconds\",\"type\":\"evented\",\"name\":\"x\"},"
				  "{\"weights\":[10,20],\"samples\":[[0,1],[0]],\"startValue\":100,"
				  "\"type\":\"sampled\",\"unit\":\"nanoseconds\"}]," FRAMES
				  "," SCHEMA "}",
		"S 0/1 x step 5+2 d0 r0\n"
		"I 0/2 sample 100+0 d0 r0 period=10 stack=0\n"
		"I 0/2 sample 110+0 d0 r0 period=20 stack=1\n"));
}

static void samples_have_stacks(void)
{
	static const char text[] = FILE_OF(
		"{\"type\":\"sampled\",\"name\":\"w\",\"unit\":\"milliseconds\",\"startValue\":1,"
		"\"samples\":[[0,1],[],[0,2],[0,1]],\"weights\":[1,2.5,0,6000]}");

	CHECK(lists(text,
		"I 0/1 w sample 1000000+0 d0 r0 period=1000000 stack=0\n"
		"I 0/1 w sample 2000000+0 d0 r0 period=2500000\n"
		"I 0/1 w sample 4500000+0 d0 r0 period=0 stack=1\n"
		"I 0/1 w sample 4500000+0 d0 r0 period=6000000000 stack=0\n"));
	CHECK_STR(stacks_of(text),
		"0 step < main (a.py:3)\n"
		"1 \u00e9t\u00e9 (b.py) < main (a.py:3)\n");
}

/* An entry that is no stack is left out, and its time passes. */
static void a_sample_without_stack(void)
{
	static const char text[] = FILE_OF(
		"{\"type\":\"sampled\",\"name\":\"w\",\"unit\":\"nanoseconds\",\"startValue\":1,"
		"\"samples\":[[0],7,[0]],\"weights\":[10,20,30]}");

	CHECK(lists(text,
		"I 0/1 w sample 1+0 d0 r0 period=10 stack=0\n"
		"I 0/1 w sample 31+0 d0 r0 period=30 stack=0\n"));
	CHECK(notes(text, "\"events_not_understood\":1"));
}

/* Values that are no times do not become times. */
static void other_units(void)
{
	CHECK(lists(FILE_OF(EVENTED("bytes", O(0, 1) "," C(0, 2)) "," EVENTED(
			    "nanoseconds", O(1, 1) "," C(1, 2))),
		"S 0/2 t step 1+1 d0 r0\n"));
	CHECK(notes(FILE_OF(EVENTED("bytes", "") "," EVENTED("nanoseconds", "")),
		"\"profiles_not_read\":\"t (bytes)\""));
	CHECK_STR(list_text(FILE_OF(EVENTED("none", O(0, 1) "," C(0, 2)))),
		"no profile of the file has times: t (none)");
	CHECK_STR(list_text(FILE_OF("{\"type\":\"other\",\"name\":\"n\",\"unit\":\"seconds\"}")),
		"no profile of the file has times: n (unknown type)");
}

/* A function that ends while others run in it: those have no end. */
static void functions_without_end(void)
{
	CHECK(lists(FILE_OF(EVENTED("nanoseconds",
			    O(0, 1) "," O(1, 2) "," C(0, 3) "," C(1, 4) "," O(2, 5))),
		"S 0/1 t main 1+2 d0 r0 file='/src/a.py' line=3 column=7\n"
		"U 0/1 t step 2+0 d1 r0\n"
		"U 0/1 t \u00e9t\u00e9 5+0 d0 r0 file='b.py'\n"));
	CHECK(notes(FILE_OF(EVENTED("nanoseconds", O(0, 1) "," C(1, 4))),
		"\"events_not_understood\":1"));
}

static void damaged_events(void)
{
	static const char text[] = FILE_OF(EVENTED("nanoseconds",
		"{\"type\":\"O\",\"frame\":9,\"at\":1},{\"type\":\"O\",\"frame\":0},7,"
		"{\"type\":\"X\",\"frame\":0,\"at\":1},{\"type\":\"O\",\"frame\":0,\"at\":1e30}," O(
			1, 2) "," C(1, 1)));

	CHECK(lists(text, "S 0/1 t step 2+0 d0 r0\n"));
	CHECK(notes(text, "\"events_not_understood\":3"));
	CHECK(notes(text, "\"events_without_time\":2"));
	CHECK(notes(text, "\"negative_durations\":1"));
	CHECK(notes(FILE_OF("{\"type\":\"sampled\",\"name\":\"w\",\"unit\":\"seconds\","
			    "\"samples\":[[0],[1]],\"weights\":[1]}"),
		"\"events_without_time\":1"));
}

static void end_is_missing(void)
{
	CHECK(lists("{" SCHEMA "," FRAMES ",\"profiles\":[" EVENTED("nanoseconds",
			    O(1, 1) "," C(1,
				    2)) ","
					"{\"type\":\"evented\",\"unit\":\"seconds\",\"events\":[" O(
						1, 7) ",{\"ty",
		"S 0/1 t step 1+1 d0 r0\n"
		"U 0/2 step 7000000000+0 d0 r0\n"));
	CHECK(notes("{" SCHEMA "," FRAMES ",\"profiles\":[", "\"truncated\":true"));
	CHECK_STR(list_text("{" SCHEMA ",\"profiles\":[" EVENTED("seconds", O(1, 1))),
		"a file of speedscope without frames: its end is missing");
	CHECK_STR(list_text("{" SCHEMA ",\"profiles\":[]}"),
		"a file of speedscope without frames (shared.frames)");
}

/* A recursion of 10,000 levels. */
static void deep_recursion(void)
{
	enum { LEVELS = 10000 };
	struct gt_buf text = { 0 };
	unsigned long spans = 0;

	gt_buf_str(&text,
		"{" SCHEMA "," FRAMES
		",\"profiles\":[{\"type\":\"evented\",\"unit\":\"nanoseconds\",\"events\":[");
	for (unsigned i = 0; i < LEVELS; i++)
		gt_buf_printf(&text, "{\"type\":\"O\",\"frame\":1,\"at\":%u},", i);
	for (unsigned i = 0; i < LEVELS; i++)
		gt_buf_printf(&text, "{\"type\":\"C\",\"frame\":1,\"at\":%u}%s", LEVELS + i,
			i + 1 < LEVELS ? "," : "]}]}");
	list(open_bytes(text.data, text.len));
	for (const char *p = (const char *)listing.data; (p = strstr(p, "S 0/1 step ")); p++)
		spans++;
	gt_buf_release(&text);
	CHECK_EQ(spans, LEVELS);
}

T_MAIN(T(the_beginning), T(functions_nest), T(frames_and_units_at_the_end), T(samples_have_stacks),
	T(a_sample_without_stack), T(other_units), T(functions_without_end), T(damaged_events),
	T(end_is_missing), T(deep_recursion), T(the_end))
