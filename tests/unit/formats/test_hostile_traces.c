/* Traces that are designed to harm the reader: other data next to a trace in its file, few bytes
 * that decompress to many, wrong counts. */
#include <limits.h>
#include <jansson.h>
#include <zstd.h>

#include "formats/base/buf.h"
#include "formats/trace/codec.h"
#include "formats/trace/wire.h"
#include "tests/unit/t.h"
#include "tests/unit/traces.h"

/* ---- a forger ---- */

static void put_skip(struct gt_buf *b, const void *what, uint32_t n)
{
	struct gt_wire_skip skip = { GT_WIRE_SKIP_MAGIC, n };

	gt_buf_add(b, &skip, sizeof(skip));
	gt_buf_add(b, what, n);
}

static void put_segment(struct gt_buf *b)
{
	struct gt_wire_segment s = { .version = GT_WIRE_VERSION, .size = sizeof(s), .id = 1 };

	memcpy(s.magic, GT_WIRE_SEGMENT_MAGIC, sizeof(s.magic));
	s.crc = gt_crc(&s, offsetof(struct gt_wire_segment, crc));
	put_skip(b, &s, sizeof(s));
}

static size_t pack(const struct gt_buf *content, void *to, size_t room)
{
	ZSTD_CCtx *z = ZSTD_createCCtx();
	size_t n;

	ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
	n = ZSTD_compress2(z, to, room, content->data, content->len);
	ZSTD_freeCCtx(z);
	return n;
}

/* A block whose head has the size `bytes`, whatever it contains. */
static void put_block(struct gt_buf *b, unsigned kind, unsigned sub, uint32_t rows,
	const struct gt_buf *content, uint32_t bytes)
{
	struct gt_wire_block h = { .magic = GT_WIRE_BLOCK_MAGIC,
		.size = sizeof(h),
		.kind = (uint8_t)kind,
		.sub = (uint8_t)sub,
		.rows = rows,
		.track = GT_NONE,
		.bytes = bytes };
	size_t room = ZSTD_compressBound(content->len);
	char *packed = malloc(room);

	h.zbytes = (uint32_t)pack(content, packed, room);
	h.crc = gt_crc(&h, offsetof(struct gt_wire_block, crc));
	put_skip(b, &h, sizeof(h));
	gt_buf_add(b, packed, h.zbytes);
	free(packed);
}

/* n items of `item` behind the id of the first, if items of this kind have ids. */
static void put_items(
	struct gt_buf *b, unsigned kind, uint32_t first, uint32_t n, const void *item, size_t len)
{
	struct gt_buf c = { 0 };

	if (kind < GT_W_ROWS)
		gt_put_varint(&c, first);
	for (uint32_t i = 0; i < n; i++)
		gt_buf_add(&c, item, len);
	put_block(b, kind, 0, n, &c, (uint32_t)c.len);
	gt_buf_release(&c);
}

static uint8_t *good_file(size_t *n)
{
	struct tiny t;
	int fd = temp_file(), keep = dup(fd);
	uint8_t *b;

	if (tiny_open(&t, fd, true))
		return NULL;
	for (int i = 0; i < 100; i++)
		tiny_call(&t, t.thread[0], t.get, 1000 + i * 100, 1050 + i * 100, 0, 0, 0, 0);
	if (gt_writer_close(t.w, NULL))
		return NULL;
	b = file_bytes(keep, n);
	close(keep);
	return b;
}

static int count(void *arg, unsigned worker, const struct gt_cols *c)
{
	*(uint64_t *)arg += c->n;
	return 0;
}

static uint64_t rows_of(struct gt_reader *r)
{
	struct gt_filter all = { .args = true };
	uint64_t n = 0;

	gt_scan(r, &all, GT_ANY_ORDER, 1, count, &n, NULL);
	return n;
}

/* ---- other data beside a trace ---- */

static void other_bytes_beside_a_trace_are_reported(void)
{
	static const struct {
		unsigned before, between, after;
	} shapes[] = { { 100, 0, 0 }, { 0, 100, 0 }, { 0, 0, 1 }, { 0, 0, 100000 }, { 7, 8, 9 } };
	size_t n, damaged;
	uint8_t *good = good_file(&n);

	CHECK(good);
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		/* 0x57: the first byte of the magic number */
		for (int c = 0; c < 256; c += 0x57) {
			struct gt_buf b = { 0 };
			struct gt_err err;
			struct gt_reader *r;

			for (unsigned j = 0; j < shapes[i].before; j++)
				gt_buf_byte(&b, (uint8_t)c);
			gt_buf_add(&b, good, n);
			for (unsigned j = 0; j < shapes[i].between; j++)
				gt_buf_byte(&b, (uint8_t)c);
			gt_buf_add(&b, good, n);
			for (unsigned j = 0; j < shapes[i].after; j++)
				gt_buf_byte(&b, (uint8_t)c);
			r = read_bytes(b.data, b.len, &err);
			CHECK(r && gt_reader_segments(r) == 2 && rows_of(r) == 200);
			gt_reader_damage(r, &damaged);
			CHECK(damaged ==
				(size_t)(!!shapes[i].before + !!shapes[i].between +
					!!shapes[i].after));
			CHECK(gt_reader_segment(r, 0)->closed && gt_reader_segment(r, 1)->closed);
			gt_reader_close(r);
			gt_buf_release(&b);
		}
	free(good);
}

static void a_later_versions_frame_is_no_damage(void)
{
	size_t n, damaged;
	uint8_t *good = good_file(&n);
	struct gt_buf b = { 0 };
	struct gt_err err;
	struct gt_reader *r;

	CHECK(good);
	gt_buf_add(&b, good, n);
	put_skip(&b, "new\nand unknown", 15);
	gt_buf_add(&b, good, n);
	CHECK((r = read_bytes(b.data, b.len, &err)) && gt_reader_segments(r) == 2 &&
		rows_of(r) == 200);
	gt_reader_damage(r, &damaged);
	CHECK(!damaged);
	gt_reader_close(r);
	gt_buf_release(&b);
	free(good);
}

static void a_damaged_index_is_rebuilt(void)
{
	size_t n, damaged;
	uint8_t *good = good_file(&n);
	struct gt_err err;
	struct gt_reader *r;

	CHECK(good);
	good[n - 60] ^= 1; /* behind it are its checksum and the footer */
	CHECK((r = read_bytes(good, n, &err)) && gt_reader_segment(r, 0)->closed &&
		rows_of(r) == 100);
	gt_reader_damage(r, &damaged);
	CHECK_EQ(damaged, 1);
	gt_reader_close(r);
	free(good);
}

/* ---- little that unpacks to much ---- */

static void names_that_unpack_to_much_are_refused(void)
{
	static uint8_t stack[4098], type[5 + 64 * 3 + 1];
	static const struct {
		unsigned kind;
		uint32_t n;
		const void *item;
		size_t len;
		unsigned blocks;
	} bombs[] = {
		{ GT_W_STACKS, 63, stack, 4098, 4000 }, { GT_W_STACKS, 200000, "\0", 1, 80 },
		{ GT_W_TYPES, 1300, type, sizeof(type), 2000 },
		{ GT_W_TYPES, 43000, "\0\0\0\0\0\0", 6, 380 },
		{ GT_W_TRACKS, 37000, "\0\0\0\0\0\0\0", 7, 450 },
		{ GT_W_STRINGS, 260000, "\0", 1, 64 }, { GT_W_MODULES, 100000, "\0\0", 2, 40 },
		{ GT_W_ANCHORS, 60000, "\0\0\0\0", 4, 300 },
		{ GT_W_FRAMES, 37000, "\0\1\0\0\0\0\0", 7, 300 }, /* each replaces the one before */
	};

	stack[0] = 0x80, stack[1] = 0x20; /* 4096 times string 0 */
	/* name 0, four words, 64 fields of string 0 */
	type[5] = 64;
	for (size_t i = 0; i < sizeof(bombs) / sizeof(*bombs); i++) {
		struct gt_buf b = { 0 };
		struct gt_err err = GT_ERR_INIT;
		struct gt_reader *r;

		put_segment(&b);
		put_items(&b, GT_W_STRINGS, 0, 1, "\1x", 2);
		for (uint32_t k = 0; k < bombs[i].blocks; k++)
			put_items(&b, bombs[i].kind,
				bombs[i].kind == GT_W_STRINGS ? k * bombs[i].n + 1 : k * bombs[i].n,
				bombs[i].n, bombs[i].item, bombs[i].len);
		CHECK(b.len < 4 << 20);
		r = read_bytes(b.data, b.len, &err);
		CHECK(bombs[i].kind == GT_W_ANCHORS || bombs[i].kind == GT_W_FRAMES
				? r != NULL
				: !r && strstr(err.text, "more names"));
		gt_reader_close(r);
		gt_buf_release(&b);
		CHECK(!MEMORY_IS_TOLD || peak_mib() < 256);
	}
}

/* Frames of n empty strings, which need 17 bytes each. */
static struct gt_reader *read_frames_of(uint32_t n, struct gt_err *err)
{
	const uint32_t strings = 250000, frames = 20000;
	struct gt_buf b = { 0 }, c = { 0 };
	struct gt_reader *r;

	put_segment(&b);
	for (uint32_t i = 0; i < n; i += strings)
		put_items(&b, GT_W_STRINGS, i, strings, "\0", 1);
	for (uint32_t i = 0; i < n; i++) {
		gt_put_varint(&c, i);
		gt_buf_add(&c, "\1\0\0\0\0\0", 6);
		if ((i + 1) % frames && i + 1 < n)
			continue;
		put_block(&b, GT_W_FRAMES, 0, i % frames + 1, &c, (uint32_t)c.len);
		gt_buf_clear(&c);
	}
	r = read_bytes(b.data, b.len, err);
	gt_buf_release(&b);
	gt_buf_release(&c);
	return r;
}

static void frames_of_too_many_texts_are_refused(void)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_reader *r = read_frames_of(1000000, &err);

	CHECK(r && gt_reader_segment(r, 0)->nframes == 1000000);
	CHECK(r && gt_segment_frame(gt_reader_segment(r, 0), 999999)->kind == GT_FRAME_PYTHON);
	gt_reader_close(r);
	CHECK(!read_frames_of(2500000, &err) && strstr(err.text, "more names"));
	CHECK(!MEMORY_IS_TOLD || peak_mib() < 256);
}

static void metadata_that_unpack_to_much_are_refused(void)
{
	struct gt_buf b = { 0 }, c = { 0 };
	struct gt_err err = GT_ERR_INIT;

	put_segment(&b);
	for (int k = 0; k < 300; k++) {
		gt_buf_clear(&c);
		gt_buf_printf(&c, "{\"k%d\":[", k);
		while (c.len < 260000)
			gt_buf_str(&c, "{},");
		gt_buf_str(&c, "0]}");
		put_block(&b, GT_W_META, 0, 1, &c, (uint32_t)c.len);
	}
	CHECK(!read_bytes(b.data, b.len, &err) && strstr(err.text, "more names"));
	CHECK(!MEMORY_IS_TOLD || peak_mib() < 256);
	gt_buf_release(&b);
	gt_buf_release(&c);
}

static void countless_recordings_are_refused(void)
{
	struct gt_buf b = { 0 };
	struct gt_err err = GT_ERR_INIT;
	struct gt_reader *r;

	for (int i = 0; i < 1000000; i++)
		put_segment(&b);
	r = read_bytes(b.data, b.len, &err);
	CHECK(!r && strstr(err.text, "more recordings"));
	gt_buf_release(&b);
}

/* ---- false headers ---- */

static void a_content_that_is_not_what_its_head_says_is_damage(void)
{
	static const uint32_t claims[] = { 1, 999, 1001, GT_BLOCK_BYTES };
	struct gt_buf c = { 0 };

	for (int i = 0; i < 1000; i++)
		gt_buf_byte(&c, 0);
	for (size_t i = 0; i < sizeof(claims) / sizeof(*claims); i++) {
		struct gt_buf b = { 0 };
		struct gt_err err = GT_ERR_INIT;
		struct gt_reader *r;
		size_t damaged;

		put_segment(&b);
		put_block(&b, GT_W_ROWS, GT_CALL, 10, &c, claims[i]);
		CHECK((r = read_bytes(b.data, b.len, &err)) && !rows_of(r));
		gt_reader_damage(r, &damaged);
		CHECK_EQ(damaged, 1);
		gt_reader_close(r);
		gt_buf_clear(&b);
		put_segment(&b);
		put_block(&b, GT_W_STRINGS, 0, 10, &c, claims[i]);
		CHECK(!read_bytes(b.data, b.len, &err) && err.code == -EBADMSG);
		gt_buf_release(&b);
	}
	gt_buf_release(&c);
}

static void ids_that_lie_are_refused(void)
{
	static const struct {
		unsigned kind;
		uint32_t first, n;
		const char *item;
		size_t len;
	} lies[] = {
		{ GT_W_STRINGS, 2, 1, "\1y", 2 },                  /* a gap */
		{ GT_W_STRINGS, 0, 1, "\1y", 2 },                  /* the same again */
		{ GT_W_STRINGS, 1, UINT_MAX, "\1y", 2 },           /* an absurd count */
		{ GT_W_STRINGS, 1, 1, "\xff\xff\xff\xff\x0f", 5 }, /* an absurd length */
		{ GT_W_TRACKS, 0, 1, "\0\1\0\0\0\0\0", 7 },        /* its own parent */
		{ GT_W_TRACKS, 0, 1, "\0\2\0\0\0\0\0", 7 },        /* its parent comes later */
		{ GT_W_TRACKS, 0, 1, "\0\0\x7f\0\0\0\0", 7 },      /* a name without a definition */
		{ GT_W_TYPES, 0, 1, "\0\0\0\0\0\xff", 6 },         /* too many fields */
		{ GT_W_STACKS, 0, 1, "\xff\xff\xff\x7f", 4 },      /* too deep */
		{ GT_W_STACKS, 0, 1, "\1\x7f", 2 },                /* a frame without a name */
		{ GT_W_NAMES, 0, 1, "\5\1", 2 },            /* a track without a definition */
		{ GT_W_FRAMES, 0, 1, "\1\1\0\0\0\0\0", 7 }, /* a text without a definition */
		{ GT_W_FRAMES, 0, 1, "\0\1\3\0\0\0\0", 7 }, /* so is the function */
		{ GT_W_FRAMES, 0, 1, "\0\1\0\3\0\0\0", 7 }, /* the file */
		{ GT_W_FRAMES, 0, 1, "\0\1\0\0\0\3\0", 7 }, /* the module */
		{ GT_W_FRAMES, 0, 1, "\0", 1 },             /* no kind */
		{ GT_W_FRAMES, 0, 1, "\0\1\0\0\0\0", 6 },   /* no address */
		{ GT_W_FRAMES, 0, UINT_MAX, "\0\1\0\0\0\0\0", 7 }, /* an absurd count */
		{ GT_W_MODULES, 0, 1, "\1\0", 2 },                 /* a path without a definition */
		{ GT_W_MODULES, 0, 1, "\0\3ab", 4 },               /* a build id cut off */
		{ GT_W_MODULES, 0, UINT_MAX, "\0\0", 2 },          /* an absurd count */
	};

	for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		struct gt_buf b = { 0 }, c = { 0 };
		struct gt_err err = GT_ERR_INIT;

		put_segment(&b);
		put_items(&b, GT_W_STRINGS, 0, 1, "\1x", 2);
		if (lies[i].kind < GT_W_ROWS)
			gt_put_varint(&c, lies[i].first);
		gt_buf_add(&c, lies[i].item, lies[i].len);
		put_block(&b, lies[i].kind, 0, lies[i].n, &c, (uint32_t)c.len);
		CHECK(!read_bytes(b.data, b.len, &err) && err.code == -EBADMSG &&
			err.offset != GT_NO_OFFSET);
		gt_buf_release(&b);
		gt_buf_release(&c);
	}
}

static int ask_args(void *arg, unsigned worker, const struct gt_cols *c)
{
	uint32_t n;

	*(bool *)arg = gt_cols_args(c, 0, 0, &n) != NULL;
	return 0;
}

/* One row with valid times and an argument column of an unknown kind: on both paths every reader
 * of the column gets an error. */
static void arguments_that_lie_are_damage(void)
{
	/* base, run, type, flags; gap; dur; rets; args */
	static const char row[] = "\0\1\1\1\1\1\0"
				  "\0\5"
				  "\0\5"
				  "\0"
				  "\2\x7f\0";
	struct gt_filter all = { .args = true };
	struct gt_buf b = { 0 }, c = { 0 };
	struct gt_err err = GT_ERR_INIT;
	struct gt_reader *r;
	struct gt_event ev;
	struct gt_iter *it;
	size_t damaged;
	bool there = true;

	put_segment(&b);
	put_items(&b, GT_W_STRINGS, 0, 1, "\1x", 2);
	put_items(&b, GT_W_TYPES, 0, 1, "\0\0\0\0\0\1\0\0\0", 9);
	put_items(&b, GT_W_TRACKS, 0, 1, "\0\0\0\0\0\0\0", 7);
	gt_buf_add(&c, row, sizeof(row) - 1);
	put_block(&b, GT_W_ROWS, GT_CALL, 1, &c, (uint32_t)c.len);
	CHECK((r = read_bytes(b.data, b.len, &err)));
	CHECK(!gt_scan(r, &all, GT_ANY_ORDER, 1, ask_args, &there, &err) && !there);
	gt_reader_damage(r, &damaged);
	CHECK_EQ(damaged, 1);
	gt_reader_close(r);
	CHECK((r = read_bytes(b.data, b.len, &err)) && (it = gt_iter_open(r, &all, &err)));
	CHECK(!gt_iter_next(it, &ev, &err));
	gt_iter_close(it);
	gt_reader_damage(r, &damaged);
	CHECK_EQ(damaged, 1);
	gt_reader_close(r);
	gt_buf_release(&b);
	gt_buf_release(&c);
}

static const struct t_case cases[] = { T(arguments_that_lie_are_damage),
	T(other_bytes_beside_a_trace_are_reported), T(a_later_versions_frame_is_no_damage),
	T(a_damaged_index_is_rebuilt), T(names_that_unpack_to_much_are_refused),
	T(frames_of_too_many_texts_are_refused), T(metadata_that_unpack_to_much_are_refused),
	T(countless_recordings_are_refused), T(a_content_that_is_not_what_its_head_says_is_damage),
	T(ids_that_lie_are_refused) };

/* For tests/cli: is FILE one JSON value (json FILE), or one on each line (jsonl FILE), according
 * to jansson? */
static int check_json(const char *how, const char *path)
{
	FILE *f = fopen(path, "r");
	size_t flags = JSON_REJECT_DUPLICATES | (strcmp(how, "jsonl") ? 0 : JSON_DISABLE_EOF_CHECK),
	       values = 0;
	json_error_t e = { .text = "cannot be opened" };
	json_t *v;
	int c = 0;

	while (f && c != EOF && (v = json_loadf(f, flags, &e))) {
		json_decref(v);
		values++;
		while ((c = getc(f)) == '\n')
			;
		ungetc(c, f);
	}
	if (!f || c != EOF || !values)
		printf("%s: value %zu: line %d: %s\n", path, values + 1, e.line, e.text);
	return !f || c != EOF || !values;
}

int main(int argc, char **argv)
{
	return argc == 3 ? check_json(argv[1], argv[2])
			 : t_main(__FILE__, cases, sizeof(cases) / sizeof(*cases));
}
