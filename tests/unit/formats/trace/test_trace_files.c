/* Files of the trace format: the reader detects every truncation and every flipped bit. */
#include <zstd.h>

#include "formats/trace/block.h"
#include "tests/unit/formats/trace/mixed_rows.h"

/* ---- files ---- */

static uint8_t *small_file(size_t *n)
{
	struct tiny t;
	int fd = temp_file(), keep = dup(fd);
	uint8_t *b;

	if (tiny_open(&t, fd, true) || write_mixed(&t, 150, 20000000) || gt_writer_close(t.w, NULL))
		return NULL;
	b = file_bytes(keep, n);
	close(keep);
	return b;
}

static void it_is_valid_zstd(void)
{
	size_t n, at = 0, data = 0, skipped = 0;
	uint8_t *b = small_file(&n);

	CHECK(b);
	while (at < n) {
		size_t frame = ZSTD_findFrameCompressedSize(b + at, n - at);
		uint32_t magic;

		CHECK(!ZSTD_isError(frame));
		memcpy(&magic, b + at, 4);
		if ((magic & ~15u) == 0x184D2A50) {
			skipped++;
		} else {
			char out[300000];

			CHECK(ZSTD_getFrameContentSize(b + at, n - at) <= 256 << 10 &&
				(b[at + 4] & 4));
			CHECK(ZSTD_decompress(out, sizeof(out), b + at, frame) ==
				ZSTD_getFrameContentSize(b + at, n - at));
			data++;
		}
		at += frame;
	}
	CHECK(data > 5 && skipped == data + 3);
	free(b);
}

static uint64_t sum_all(struct gt_reader *r, uint64_t *rows)
{
	struct gt_filter all = { .args = true };
	struct gt_err err = GT_ERR_INIT;
	uint64_t h = 0;

	ngot = 0;
	if (gt_scan(r, &all, GT_ANY_ORDER, 1, collect, NULL, &err))
		return 0;
	for (size_t i = 0; i < ngot; i++)
		h += (uint64_t)(got[i].start * 3 + got[i].end * 5) + got[i].type * 7 +
			(uint64_t)got[i].ret * 11 + got[i].a + got[i].b + got[i].track * 13;
	*rows = ngot;
	return h;
}

static void truncated_anywhere_it_says_so(void)
{
	size_t n, damaged;
	uint8_t *b = small_file(&n);
	uint64_t most = nwant, before = 0;

	CHECK(b);
	for (size_t cut = 0; cut < n; cut++) {
		struct gt_err err;
		struct gt_reader *r = read_bytes(b, cut, &err);
		const struct gt_segment *seg;
		uint64_t rows = 0;

		if (!r) {
			CHECK(err.code < 0 && err.text[0] && cut < 56);
			continue;
		}
		seg = gt_reader_segment(r, 0);
		CHECK(!seg->closed && seg->unread_bytes < cut);
		sum_all(r, &rows);
		/* more bytes never mean fewer rows */
		CHECK(rows <= most && rows >= before);
		gt_reader_damage(r, &damaged);
		CHECK(!damaged);
		before = rows;
		gt_reader_close(r);
	}
	CHECK(before == most);
	free(b);
}

static void no_flipped_bit_changes_a_figure_silently(void)
{
	size_t n;
	uint8_t *b = small_file(&n);
	struct gt_err err;
	struct gt_reader *r = read_bytes(b, n, &err);
	uint64_t rows = 0, good, all;

	CHECK(r);
	good = sum_all(r, &all);
	gt_reader_close(r);
	for (size_t bit = 0; bit < n * 8; bit++) {
		size_t damaged;
		uint64_t h;

		b[bit / 8] ^= (uint8_t)(1 << bit % 8);
		r = read_bytes(b, n, &err);
		if (r) {
			h = sum_all(r, &rows);
			gt_reader_damage(r, &damaged);
			CHECK((h == good && rows == all && gt_reader_segments(r) == 1) || damaged ||
				!gt_reader_segment(r, 0)->closed);
			gt_reader_close(r);
		} else {
			CHECK(err.code < 0 && err.text[0]);
		}
		b[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	free(b);
}

static void joined_files_are_one_trace(void)
{
	size_t n, m;
	uint8_t *a = small_file(&n), *b = small_file(&m), *both;
	struct gt_err err;
	struct gt_reader *r;
	uint64_t rows = 0;

	CHECK(a && b && (both = malloc(n + m)));
	memcpy(both, a, n);
	memcpy(both + n, b, m);
	CHECK((r = read_bytes(both, n + m, &err)));
	sum_all(r, &rows);
	CHECK(gt_reader_segments(r) == 2 && rows == 2 * nwant && gt_reader_segment(r, 0)->closed &&
		gt_reader_segment(r, 1)->closed);
	gt_reader_close(r);
	CHECK((r = read_bytes(both, n + m - 1, &err))); /* the second one lacks its end */
	sum_all(r, &rows);
	CHECK(gt_reader_segments(r) == 2 && rows == 2 * nwant && gt_reader_segment(r, 0)->closed &&
		!gt_reader_segment(r, 1)->closed);
	gt_reader_close(r);
	memmove(both + n - 60, both + n, m); /* the first one lacks its end */
	CHECK((r = read_bytes(both, n + m - 60, &err)));
	sum_all(r, &rows);
	CHECK(gt_reader_segments(r) == 2 && rows == 2 * nwant && !gt_reader_segment(r, 0)->closed &&
		gt_reader_segment(r, 1)->closed);
	gt_reader_close(r);
	free(a);
	free(b);
	free(both);
}

static void an_abandoned_file_is_complete_to_its_last_epoch(void)
{
	struct tiny t;
	struct gt_err err = GT_ERR_INIT;
	int fd = temp_file(), keep = dup(fd);
	struct gt_reader *r;

	CHECK(!tiny_open(&t, fd, true));
	CHECK(!tiny_call(&t, t.thread[0], t.get, 1000, 2000, 0, 0, 0, 0) &&
		!gt_writer_epoch(t.w, 2500, &err));
	CHECK(!tiny_call(&t, t.thread[0], t.get, 3000, 4000, 0, 0, 0, 0));
	gt_writer_abandon(t.w);
	CHECK((r = gt_reader_open_fd(keep, &err)));
	CHECK(!gt_reader_segment(r, 0)->closed && gt_reader_segment(r, 0)->complete_to == 2500 &&
		gt_reader_segment(r, 0)->rows[GT_CALL] == 1);
	CHECK(!gt_reader_segment(r, 0)->unread_bytes);
	gt_reader_close(r);
}

static void other_files_are_named(void)
{
	static const struct {
		const char *bytes;
		size_t n;
		const char *says;
	} others[] = {
		{ "", 0, "empty" },
		{ "{\"a\":1}", 7, "JSON" },
		{ "\x1f\x8b\x08", 3, "gzip" },
		{ "\x28\xb5\x2f\xfd\x04\x00", 6, "zstd" },
		{ "\x7f"
		  "ELF",
			4, "program" },
		{ "hello", 5, "something else" },
		{ "\x57\x2a\x4d\x18\x30", 5, "cut off" },
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		struct gt_err err;

		CHECK(!read_bytes((const uint8_t *)others[i].bytes, others[i].n, &err) &&
			err.code == -EILSEQ && strstr(err.text, others[i].says));
	}
	struct gt_err err = GT_ERR_INIT;
	CHECK(!gt_reader_open("/", &err) && err.code == -EISDIR);
	err = (struct gt_err)GT_ERR_INIT;
	CHECK(!gt_reader_open("/nonexistent/file", &err) && err.code == -ENOENT);
}

static void a_full_disk_leaves_whole_blocks(void)
{
	struct tiny t;
	int fd = open("/dev/full", O_WRONLY);

	if (fd < 0)
		SKIP("no /dev/full");
	CHECK(tiny_open(&t, fd, true) && t.err.code == -ENOSPC && strstr(t.err.text, "No space"));
}

T_MAIN(T(it_is_valid_zstd), T(truncated_anywhere_it_says_so),
	T(no_flipped_bit_changes_a_figure_silently), T(joined_files_are_one_trace),
	T(an_abandoned_file_is_complete_to_its_last_epoch), T(other_files_are_named),
	T(a_full_disk_leaves_whole_blocks))
