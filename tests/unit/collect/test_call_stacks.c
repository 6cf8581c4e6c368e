/* Definitions of stacks as a damaged ring may have them: their memory and time have limits. */
#define _GNU_SOURCE
#include "collect/recorder/call_stacks.h"
#include <time.h>
#include <unistd.h>
#include "tests/unit/t.h"

#define FRAMES 2048 /* of the largest stack */
#define LINES (1u << 20)

static struct gt_err err = GT_ERR_INIT;
static char path[64];

static struct gt_writer *open_writer(void)
{
	const struct gt_writer_options opt = { .rows_sorted = true };

	strcpy(path, "/tmp/gt-test-stacks-XXXXXX");
	return gt_writer_open(mkstemp(path), &opt, &err);
}

static void close_writer(struct gt_writer *w)
{
	gt_writer_close(w, &err);
	unlink(path);
}

static void define_object(
	struct gt_writer *w, struct gt_loaded_objects *o, uint64_t low, const char *name)
{
	struct {
		struct gt_rec_object head;
		char name[16];
	} text = { .head = { .low = low, .high = low + 4096, .base = low } };

	strcpy(text.name, name);
	gt_call_stacks_object(w, o, &text, sizeof(text.head) + strlen(name));
}

static void objects(void)
{
	struct gt_loaded_objects o = { 0 };
	struct gt_writer *w = open_writer();

	CHECK(w);
	for (int i = 0; i < 1000; i++)
		define_object(w, &o, 4096, "/a");
	CHECK_EQ(o.n, 1);
	/* another one was there meanwhile: the first one is there again */
	define_object(w, &o, 4096, "/b");
	define_object(w, &o, 4096, "/a");
	CHECK_EQ(o.n, 3);
	CHECK_EQ(o.items[2].module, o.items[0].module);
	gt_loaded_objects_release(&o);
	close_writer(w);
}

/* The latest objects stay. */
static void many_objects(void)
{
	struct gt_loaded_objects o = { .n = 0 };
	struct gt_writer *w = open_writer();
	const size_t most = 65536;

	CHECK(w);
	o.items = calloc(o.cap = most, sizeof(*o.items));
	CHECK(o.items);
	o.n = most;
	o.items[most - 1].low = 7;
	define_object(w, &o, 4096, "/a");
	CHECK_EQ(o.n, most / 2 + 1);
	CHECK_EQ(o.items[o.n - 2].low, 7);
	CHECK_EQ(o.items[o.n - 1].low, 4096);
	gt_loaded_objects_release(&o);
	close_writer(w);
}

/* A piece of a line table, all of one kind of entry. */
static void define_code(struct gt_thread_stacks *s, uint64_t number, uint32_t total, uint32_t at,
	uint32_t n, uint32_t name)
{
	static struct {
		struct gt_rec_code head;
		uint8_t lines[LINES];
	} text;

	text.head = (struct gt_rec_code){
		.version = 0x030c, .first_line = 7, .total = total, .at = at
	};
	memset(text.lines, 0x80, n); /* one code unit, of the same line */
	gt_call_stacks_code(s, number, &text, sizeof(text.head) + n, name, name);
}

static void line_tables(void)
{
	struct gt_thread_stacks s = { 0 };

	define_code(&s, 1, UINT32_MAX, 0, 10, 0); /* claims too much */
	CHECK(s.ncodes == 1 && !s.codes[0].lines && !s.line_bytes);
	define_code(&s, 1, LINES, 0, 10, 0);
	CHECK(s.codes[0].lines && s.codes[0].lines_cap < 4096 && s.line_bytes == 10);
	define_code(&s, 1, LINES, 20, 10, 0); /* a piece is missing */
	CHECK_EQ(s.line_bytes, 10);
	define_code(&s, 1, LINES, 10, LINES - 10, 0);
	CHECK_EQ(s.line_bytes, LINES);
	define_code(&s, 1, 4, 0, 4, 0); /* another one of this number */
	CHECK_EQ(s.line_bytes, 4);
	for (unsigned i = 2; i < 300; i++)
		define_code(&s, i, LINES, 0, LINES, 0);
	CHECK(s.ncodes == 299 && s.line_bytes <= 256u << 20 && !s.codes[298].lines);
	define_code(&s, 1u << 20, 4, 0, 4, 0);
	CHECK_EQ(s.ncodes, 299);
	gt_thread_stacks_release(&s);
}

static const struct gt_guest nobody = { .host_pid = INT32_MAX };

/* As many frames as there can be, each at the end of a long table. */
static void long_searches(void)
{
	struct gt_thread_stacks s = { 0 };
	struct gt_loaded_objects o = { 0 };
	struct gt_writer *w = open_writer();
	static uint64_t words[FRAMES];
	clock_t from;

	CHECK(w);
	define_code(&s, 1, LINES, 0, LINES, gt_writer_string(w, "f"));
	from = clock();
	for (uint32_t i = 0; i < FRAMES; i++)
		words[i] = GT_STACK_PYTHON | 1ull << 32 | (2 * LINES - 2 - 2 * i);
	gt_call_stacks_stack(w, &s, &o, &nobody, 1, words, sizeof(words));
	CHECK(clock() - from < CLOCKS_PER_SEC);
	CHECK(gt_call_stack(&s, 1) != GT_NONE);
	/* a stack whose frames are few has their lines */
	gt_call_stacks_stack(w, &s, &o, &nobody, 2, words + FRAMES - 1, 8);
	CHECK_STR(gt_writer_string_text(w, s.codes[0].frame), "f (f:7)");
	gt_thread_stacks_release(&s);
	gt_loaded_objects_release(&o);
	close_writer(w);
}

T_MAIN(T(objects), T(many_objects), T(line_tables), T(long_searches))
