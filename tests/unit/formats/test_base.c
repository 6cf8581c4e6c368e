/* formats/base: errors, buffers, maps, heaps. */
#include "formats/base/buf.h"
#include "formats/base/heap.h"
#include "formats/base/err.h"
#include "formats/base/map.h"
#include "formats/base/sorted.h"
#include "formats/text/printable.h"
#include "tests/unit/t.h"

#include <unistd.h>

static void the_first_error_wins(void)
{
	struct gt_err err = GT_ERR_INIT;

	CHECK(gt_err_at(&err, 12, -EBADMSG, "block %d", 3) == -EBADMSG &&
		gt_err_set(&err, -EIO, "later") == -EIO);
	CHECK(err.code == -EBADMSG && err.offset == 12 && !strcmp(err.text, "block 3"));
	CHECK_EQ(gt_err_set(NULL, -EIO, "the caller needs no text"), -EIO);
}

static void an_error_too_long_is_cut(void)
{
	struct gt_err err = GT_ERR_INIT;
	char name[1000];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	gt_err_set(&err, -ENOENT, "%s", name);
	CHECK(strlen(err.text) == sizeof(err.text) - 1 && err.offset == GT_NO_OFFSET);
}

/* The output of gt_err_print on stderr, into text. */
static void printed(const char *file, const struct gt_err *err, char *text, size_t size)
{
	int keep = dup(2), p[2];
	ssize_t n;

	text[0] = 0;
	if (pipe(p))
		return;
	fflush(stderr);
	dup2(p[1], 2);
	gt_err_print("tool", file, err);
	fflush(stderr);
	dup2(keep, 2);
	close(keep);
	close(p[1]);
	n = read(p[0], text, size - 1);
	text[n > 0 ? n : 0] = 0;
	close(p[0]);
}

static void printing_is_one_safe_line(void)
{
	struct gt_err err = GT_ERR_INIT;
	char text[400];

	gt_err_at(&err, 88213, -EBADMSG, "checksum\x1b[2J\nmismatch");
	printed("a\tb.zst", &err, text, sizeof(text));
	CHECK_STR(text, "tool: a?b.zst: byte 88213: checksum?[2J?mismatch\n");
	err = (struct gt_err){ .code = -ENOENT, .offset = GT_NO_OFFSET };
	printed(NULL, &err, text, sizeof(text));
	CHECK_STR(text, "tool: No such file or directory\n");
}

/* Characters that control a terminal, characters that hide or reverse text, and bytes that are
 * not UTF-8; at every border between two pieces. */
static void printable_is_harmless(void)
{
	static const char text[] =
		"a\x1b[2J\r\n\t\x7f\xc2\x9b\xe2\x80\xae\xff\xe2\x82 \xc3\xa4 \xe5\xad\xa6 \xf0\x9f\x9a\x80";
	static const char want[] = "  a?[2J??????"
				   "??"
				   "? \xc3\xa4 \xe5\xad\xa6 \xf0\x9f\x9a\x80";
	char *all = gt_printable(text, 2), *written = NULL, pieces[sizeof(text)];
	size_t size;
	FILE *f = open_memstream(&written, &size);

	CHECK(all && !strcmp(all, want));
	for (size_t room = 4; room < 12; room++) {
		const char *s = text;
		char *to = pieces;

		while (*s)
			to = gt_printable_put(to, room, &s);
		*to = 0;
		CHECK(!strcmp(pieces, want + 2));
	}
	gt_printable_write(f, text);
	gt_message(f, "tool", "%s: %d", text, 5);
	fclose(f);
	CHECK(!strncmp(written, want + 2, strlen(want + 2)));
	CHECK(!strncmp(written + strlen(want + 2), "tool: a?", 8) &&
		!strcmp(written + size - 4, ": 5\n"));
	free(all);
	free(written);
}

static void buffers_grow(void)
{
	struct gt_buf b = { 0 };

	for (int i = 0; i < 5000; i++)
		gt_buf_byte(&b, (uint8_t)i);
	gt_buf_add(&b, NULL, 0);
	gt_buf_str(&b, "end");
	gt_buf_printf(&b, "%05d", 42);
	CHECK(!b.failed && b.len == 5008 && b.data[4999] == (uint8_t)4999 &&
		!memcmp(b.data + 5000, "end00042", 8));
	gt_buf_clear(&b);
	CHECK(!b.len && b.cap);
	gt_buf_release(&b);
	CHECK(!b.data && !b.cap);
}

static void buffers_refuse_the_absurd(void)
{
	struct gt_buf b = { 0 };
	uint32_t *ints = NULL;
	size_t cap = 0;

	gt_buf_byte(&b, 1);
	CHECK(!gt_buf_reserve(&b, SIZE_MAX) && b.failed && b.len == 1);
	gt_buf_release(&b);
	CHECK(gt_grow(&ints, &cap, SIZE_MAX / 2, sizeof(*ints)) == -ENOMEM && !ints && !cap);
	CHECK(!gt_grow(&ints, &cap, 100, sizeof(*ints)) && cap >= 100);
	ints[99] = 1;
	free(ints);
}

static bool same_number(const void *arg, uint32_t value, const void *key, size_t len)
{
	return len == sizeof(uint64_t) && !memcmp((const uint64_t *)arg + value, key, len);
}

static void maps_find_what_was_added(void)
{
	static uint64_t keys[20000];
	struct gt_map m = { 0 };
	uint64_t absent = 1;

	CHECK_EQ(gt_map_get(&m, gt_hash_u64(absent), same_number, keys, &absent, 8), UINT32_MAX);
	for (uint32_t i = 0; i < 20000; i++) {
		keys[i] = i * 4096ULL;
		CHECK(!gt_map_add(&m, gt_hash_u64(keys[i]), i));
	}
	for (uint32_t i = 0; i < 20000; i++)
		CHECK(gt_map_get(&m, gt_hash_u64(keys[i]), same_number, keys, &keys[i], 8) == i);
	CHECK_EQ(gt_map_get(&m, gt_hash_u64(absent), same_number, keys, &absent, 8), UINT32_MAX);
	gt_map_release(&m);
}

static void equal_hashes_are_distinguished(void)
{
	static const uint64_t keys[] = { 5, 6, 7 };
	struct gt_map m = { 0 };

	for (uint32_t i = 0; i < 3; i++)
		CHECK(!gt_map_add(&m, 99, i));
	for (uint32_t i = 0; i < 3; i++)
		CHECK(gt_map_get(&m, 99, same_number, keys, &keys[i], 8) == i);
	gt_map_release(&m);
}

static void hashes_read_every_byte(void)
{
	char bytes[40] = "";

	for (size_t len = 0; len < sizeof(bytes); len++)
		for (size_t i = 0; i < len; i++) {
			uint64_t before = gt_hash(bytes, len);

			bytes[i] ^= 1;
			CHECK(gt_hash(bytes, len) != before);
			bytes[i] ^= 1;
		}
	CHECK(gt_hash(bytes, 3) != gt_hash(bytes, 4));
}

static bool is_less(const void *arg, const unsigned *a, const unsigned *b)
{
	const unsigned *weights = arg;

	return weights[*a] < weights[*b];
}

GT_HEAP(numbers, unsigned, is_less)

static void a_heap_hands_out_the_first(void)
{
	unsigned weights[200], heap[200], seed = 1;

	for (unsigned n = 0; n < 200; n++) {
		for (unsigned i = 0; i < n; i++) {
			weights[i] = (seed = seed * 1103515245 + 12345) >> 20 & 0xff;
			numbers_up(weights, heap, i, i);
		}
		for (unsigned left = n, last = 0; left;) {
			CHECK(weights[heap[0]] >= last);
			last = weights[heap[0]];
			left--;
			numbers_down(weights, heap, left, 0, heap[left]);
		}
	}
}

static int by_value(const void *a, const void *b)
{
	return GT_COMPARE(*(const int *)a, *(const int *)b);
}

static void sorting(void)
{
	int list[] = { 3, 1, 2 }, *none = NULL;

	GT_SORT(list, 3, by_value);
	GT_SORT(none, 0, by_value);
	CHECK(list[0] == 1 && list[1] == 2 && list[2] == 3);
	CHECK(gt_compare_texts("abc", 2, "abd", 2) == 0);
	CHECK(gt_compare_texts("abc", 2, "abc", 3) < 0);
	CHECK(gt_compare_texts("b", 1, "abc", 3) > 0);
}

T_MAIN(T(the_first_error_wins), T(an_error_too_long_is_cut), T(printing_is_one_safe_line),
	T(printable_is_harmless), T(buffers_grow), T(buffers_refuse_the_absurd),
	T(maps_find_what_was_added), T(equal_hashes_are_distinguished), T(hashes_read_every_byte),
	T(a_heap_hands_out_the_first), T(sorting))
