/* The reader of Parquet files, on files of one column that the test makes byte by byte: encodings,
 * codecs, types, and damage of every kind. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include "formats/export/tables/parquet_encode.h"
#include "formats/export/tables/thrift_out.h"
#include "formats/import/parquet/parquet_in.h"
#include "formats/import/parquet/parquet_unpack.h"
#include "tests/unit/t.h"

enum { PLAIN = 0, DICTIONARY = 8, RLE = 3, DELTAS = 5, LENGTHS = 6, JOINED = 7, SPLIT = 9 };

/* A file with a column, one row group and one page; 0 in a member of the last line: the right
 * value.
 */
struct file {
	int type, optional, length, converted, codec, encoding;
	bool v1;
	uint32_t rows, nentries, more_groups; /* more_groups: of the same page */
	struct gt_buf levels, values, dictionary;
	bool has_crc;
	uint32_t crc_error; /* added to the right checksum */
	int64_t wrong_rows, wrong_unpacked, wrong_packed, wrong_values, wrong_size;
};
static struct gt_buf bytes, packed;
static struct gt_err err;
static char text[1 << 20];

/* ---- writing ---- */

static void pack(int codec, const struct gt_buf *from)
{
	size_t bound = ZSTD_compressBound(from->len);
	uLongf size = compressBound(from->len);
	uint8_t *to;

	gt_buf_clear(&packed);
	to = gt_buf_reserve(&packed, bound > size ? bound : size);
	if (codec == GT_PARQUET_ZSTD)
		packed.len = ZSTD_compress(to, bound, from->data, from->len, 1);
	else if (codec == GT_PARQUET_GZIP && !compress(to, &size, from->data, from->len))
		packed.len = size;
	else
		gt_buf_add(&packed, from->data, from->len);
}

static int64_t choose(int64_t wrong, int64_t right) { return wrong ? wrong : right; }

static void put_page(const struct file *f, int kind, const struct gt_buf *values)
{
	struct gt_thrift t = { .to = &bytes };
	struct gt_buf content = { 0 };
	size_t levels = kind == 2 ? 0 : f->levels.len;
	uint8_t size[4] = { (uint8_t)levels, (uint8_t)(levels >> 8), 0, 0 };

	if (kind == 0 && f->optional) {
		gt_buf_add(&content, size, 4);
		gt_buf_add(&content, f->levels.data, levels);
	}
	gt_buf_add(&content, values->data, values->len);
	levels = kind == 3 ? levels : 0;
	pack(f->codec, &content);
	gt_thrift_i32(&t, 1, kind);
	gt_thrift_i32(&t, 2, (int32_t)choose(f->wrong_unpacked, (int64_t)(levels + content.len)));
	gt_thrift_i32(&t, 3, (int32_t)choose(f->wrong_packed, (int64_t)(levels + packed.len)));
	if (f->has_crc)
		gt_thrift_i32(&t, 4,
			(int32_t)((uint32_t)crc32_z(0, packed.data, packed.len) + f->crc_error));
	gt_thrift_begin_field(&t, kind == 2 ? 7 : kind == 3 ? 8 : 5);
	gt_thrift_i32(&t, 1, (int32_t)(kind == 2 ? f->nentries : choose(f->wrong_values, f->rows)));
	if (kind == 3) {
		gt_thrift_i32(&t, 4, f->encoding);
		gt_thrift_i32(&t, 5, (int32_t)levels);
		gt_thrift_i32(&t, 6, 0);
	} else {
		gt_thrift_i32(&t, 2, kind == 2 ? PLAIN : f->encoding);
		gt_thrift_i32(&t, 3, RLE);
	}
	gt_thrift_end(&t);
	gt_thrift_end(&t);
	gt_buf_add(&bytes, f->levels.data, levels);
	gt_buf_add(&bytes, packed.data, packed.len);
	gt_buf_release(&content);
}

static void put_schema(struct gt_thrift *t, const struct file *f)
{
	gt_thrift_list(t, 2, GT_THRIFT_STRUCT, 2);
	gt_thrift_begin(t);
	gt_thrift_binary(t, 4, "schema", 6);
	gt_thrift_i32(t, 5, 1);
	gt_thrift_end(t);
	gt_thrift_begin(t);
	gt_thrift_i32(t, 1, f->type);
	gt_thrift_i32(t, 2, f->length);
	gt_thrift_i32(t, 3, f->optional);
	gt_thrift_binary(t, 4, "x", 1);
	gt_thrift_i32(t, 6, f->converted);
	gt_thrift_end(t);
}

static void put_group(struct gt_thrift *t, const struct file *f, int64_t data)
{
	gt_thrift_begin(t);
	gt_thrift_list(t, 1, GT_THRIFT_STRUCT, 1);
	gt_thrift_begin(t);
	gt_thrift_begin_field(t, 3);
	gt_thrift_i32(t, 1, f->type);
	gt_thrift_i32(t, 4, f->codec);
	gt_thrift_i64(t, 5, choose(f->wrong_rows, f->rows));
	gt_thrift_i64(t, 7, choose(f->wrong_size, (int64_t)bytes.len - 4));
	gt_thrift_i64(t, 9, data);
	if (data > 4)
		gt_thrift_i64(t, 11, 4);
	gt_thrift_end(t);
	gt_thrift_end(t);
	gt_thrift_i64(t, 3, choose(f->wrong_rows, f->rows));
	gt_thrift_end(t);
}

static void put_end(size_t from)
{
	size_t len = bytes.len - from;

	for (unsigned i = 0; i < 4; i++)
		gt_buf_byte(&bytes, (uint8_t)(len >> 8 * i));
	gt_buf_str(&bytes, "PAR1");
}

/* Makes the file and frees what f has. */
static void make(struct file *f)
{
	struct gt_buf footer = { 0 };
	struct gt_thrift t = { .to = &footer };
	size_t data, from;

	gt_buf_clear(&bytes);
	gt_buf_str(&bytes, "PAR1");
	if (f->nentries)
		put_page(f, 2, &f->dictionary);
	data = bytes.len;
	put_page(f, f->v1 ? 0 : 3, &f->values);
	gt_thrift_i32(&t, 1, 2);
	put_schema(&t, f);
	gt_thrift_i64(&t, 3, choose(f->wrong_rows, f->rows * (1 + f->more_groups)));
	gt_thrift_list(&t, 4, GT_THRIFT_STRUCT, 1 + f->more_groups);
	for (unsigned i = 0; i <= f->more_groups; i++)
		put_group(&t, f, (int64_t)data);
	gt_thrift_end(&t);
	from = bytes.len;
	gt_buf_add(&bytes, footer.data, footer.len);
	put_end(from);
	gt_buf_release(&footer);
	gt_buf_release(&f->levels);
	gt_buf_release(&f->values);
	gt_buf_release(&f->dictionary);
}

static void put_text(struct gt_buf *to, const char *s)
{
	uint8_t len[4] = { (uint8_t)strlen(s), 0, 0, 0 };

	gt_buf_add(to, len, 4);
	gt_buf_str(to, s);
}

/* ---- reading ---- */

/* Appends a value of the batch to `text`. */
static size_t print(char *to, size_t space, const struct gt_parquet_column *c, int i)
{
	double d;
	int n;

	if (c->nulls && c->nulls[i])
		n = snprintf(to, space, "-");
	else if (gt_parquet_is_text(c))
		n = snprintf(to, space, "%.*s", (int)c->texts[i].len, c->texts[i].ptr);
	else if (gt_parquet_is_real(c))
		n = snprintf(to, space, "%g", *(double *)memcpy(&d, &c->numbers[i], sizeof(d)));
	else
		n = snprintf(to, space, "%lld", (long long)c->numbers[i]);
	return (size_t)n < space ? (size_t)n : space - 1;
}

/* The values of all columns, with a space behind each; or the error. */
static const char *read_bytes(const void *p, size_t n)
{
	int fd = memfd_create("test", MFD_CLOEXEC), rows = 0;
	struct gt_parquet_in *r;
	size_t at = 0;
	unsigned columns = 0;

	err = (struct gt_err)GT_ERR_INIT;
	if (write(fd, p, n) != (ssize_t)n)
		abort();
	r = gt_parquet_in_open(fd, &err);
	if (r)
		gt_parquet_in_columns(r, &columns);
	for (unsigned i = 0; i < columns && !err.code; i++)
		gt_parquet_in_select(r, i);
	while (r && !err.code && (rows = gt_parquet_in_next(r)) > 0)
		for (int i = 0; i < rows; i++)
			for (unsigned c = 0; c < columns; c++) {
				at += print(text + at, sizeof(text) - at - 1,
					&gt_parquet_in_columns(r, &columns)[c], i);
				text[at++] = ' ';
			}
	text[at] = 0;
	gt_parquet_in_close(r);
	close(fd);
	if (rows < 0 && !err.code)
		abort();
	return err.code ? err.text : text;
}

static const char *read_file(struct file *f)
{
	make(f);
	return read_bytes(bytes.data, bytes.len);
}

/* ---- encodings ---- */

static void plain_numbers(void)
{
	static const int64_t wide[] = { 1, -2, INT64_MAX };
	static const int32_t narrow[] = { 1, -2, 3 };
	static const float real[] = { 0.5f, -2 };
	struct file f = { .type = GT_PARQUET_INT64, .rows = 3, .codec = GT_PARQUET_ZSTD };

	gt_buf_add(&f.values, wide, sizeof(wide));
	CHECK_STR(read_file(&f), "1 -2 9223372036854775807 ");
	f = (struct file){ .type = GT_PARQUET_INT32, .rows = 3, .v1 = true };
	gt_buf_add(&f.values, narrow, sizeof(narrow));
	CHECK_STR(read_file(&f), "1 -2 3 ");
	f = (struct file){ .type = GT_PARQUET_INT32, .rows = 3, .converted = 13 }; /* UINT_32 */
	gt_buf_add(&f.values, narrow, sizeof(narrow));
	CHECK_STR(read_file(&f), "1 4294967294 3 ");
	f = (struct file){ .type = GT_PARQUET_FLOAT, .rows = 2, .codec = GT_PARQUET_GZIP };
	gt_buf_add(&f.values, real, sizeof(real));
	CHECK_STR(read_file(&f), "0.5 -2 ");
	f = (struct file){ .type = GT_PARQUET_BOOLEAN, .rows = 10 };
	gt_buf_add(&f.values, "\x05\x02", 2);
	CHECK_STR(read_file(&f), "1 0 1 0 0 0 0 0 0 1 ");
	f = (struct file){ .type = GT_PARQUET_BOOLEAN, .rows = 5, .encoding = RLE };
	gt_buf_add(&f.values, "\2\0\0\0\x0a\x01", 6);
	CHECK_STR(read_file(&f), "1 1 1 1 1 ");
}

static void plain_texts(void)
{
	struct file f = { .type = GT_PARQUET_BYTE_ARRAY, .rows = 3, .v1 = true };

	put_text(&f.values, "gemm");
	put_text(&f.values, "");
	put_text(&f.values, "copy");
	CHECK_STR(read_file(&f), "gemm  copy ");
	f = (struct file){ .type = GT_PARQUET_FIXED_LEN_BYTE_ARRAY, .rows = 2, .length = 3 };
	gt_buf_str(&f.values, "abcdef");
	CHECK_STR(read_file(&f), "abc def ");
}

static void absent_values(void)
{
	static const uint32_t some[] = { 0, 1, 1, 0, 0, 1, 0 };
	static const int64_t values[] = { 7, 8, 9 };

	for (int v1 = 0; v1 < 2; v1++) {
		struct file f = { .type = GT_PARQUET_INT64, .rows = 7, .optional = 1, .v1 = v1 };

		gt_parquet_put_hybrid(&f.levels, some, 7, 1);
		gt_buf_add(&f.values, values, sizeof(values));
		CHECK_STR(read_file(&f), "- 7 8 - - 9 - ");
		f = (struct file){ .type = GT_PARQUET_BYTE_ARRAY,
			.rows = 7,
			.optional = 1,
			.v1 = v1,
			.codec = GT_PARQUET_ZSTD };
		gt_parquet_put_hybrid(&f.levels, some, 7, 1);
		put_text(&f.values, "a");
		put_text(&f.values, "b");
		put_text(&f.values, "c");
		CHECK_STR(read_file(&f), "- a b - - c - ");
		f = (struct file){ .type = GT_PARQUET_INT64, .rows = 3, .optional = 1, .v1 = v1 };
		f.encoding = DICTIONARY; /* without any value, and without a dictionary */
		gt_parquet_put_run(&f.levels, 0, 3, 1);
		CHECK_STR(read_file(&f), "- - - ");
	}
}

static struct file with_dictionary(uint32_t last)
{
	const uint32_t indices[] = { 0, 1, 2, 2, 1, 0, 0, last };
	struct file f = { .type = GT_PARQUET_BYTE_ARRAY,
		.rows = 8,
		.encoding = DICTIONARY,
		.nentries = 3,
		.codec = GT_PARQUET_ZSTD };

	put_text(&f.dictionary, "a");
	put_text(&f.dictionary, "bb");
	put_text(&f.dictionary, "ccc");
	gt_buf_byte(&f.values, 2);
	gt_parquet_put_hybrid(&f.values, indices, 8, 2);
	return f;
}

static void dictionaries(void)
{
	static const int64_t numbers[] = { -5, 6 };
	struct file f = with_dictionary(2);

	CHECK_STR(read_file(&f), "a bb ccc ccc bb a a ccc ");
	f = (struct file){ .type = GT_PARQUET_INT64, .encoding = DICTIONARY, .nentries = 2 };
	f.rows = 40;
	f.v1 = true;
	gt_buf_add(&f.dictionary, numbers, sizeof(numbers));
	gt_buf_byte(&f.values, 1);
	gt_parquet_put_run(&f.values, 1, 39, 1);
	gt_parquet_put_run(&f.values, 0, 1, 1);
	CHECK(!strncmp(read_file(&f), "6 6 6 ", 6) && strstr(text, "6 6 -5 "));
	f = with_dictionary(3);
	CHECK_STR(read_file(&f), "column x: a value has no entry in the dictionary");
	CHECK(err.offset != GT_NO_OFFSET);
	f = with_dictionary(2);
	f.nentries = 4;
	CHECK_STR(read_file(&f), "column x: the dictionary is damaged");
	f = with_dictionary(2);
	f.nentries = 1u << 30;
	CHECK_STR(read_file(&f), "column x: the dictionary is damaged");
}

static void differences(void)
{
	static int64_t v[3000];
	struct file f = { .type = GT_PARQUET_INT64, .rows = 3000, .encoding = DELTAS };
	char *at = text;

	for (int i = 0; i < 3000; i++)
		v[i] = i % 500 == 7 ? INT64_MIN + i : i % 3 ? i * 1000003ll : -i;
	gt_parquet_put_deltas(&f.values, v, 3000);
	read_file(&f);
	CHECK_EQ(err.code, 0);
	for (int i = 0; i < 3000; i++, at++)
		CHECK_EQ(strtoll(at, &at, 10), v[i]);
	f = (struct file){ .type = GT_PARQUET_INT32, .rows = 3, .encoding = DELTAS };
	gt_parquet_put_deltas(&f.values, (int64_t[]){ INT32_MAX, INT32_MIN, 5 }, 3);
	CHECK_STR(read_file(&f), "2147483647 -2147483648 5 ");
	f = (struct file){ .type = GT_PARQUET_INT64, .rows = 4, .encoding = DELTAS };
	gt_parquet_put_deltas(&f.values, v, 3);
	CHECK_STR(read_file(&f), "column x: it has fewer values than rows, or is damaged");
}

static void texts_behind_their_lengths(void)
{
	struct file f = { .type = GT_PARQUET_BYTE_ARRAY, .rows = 3, .encoding = LENGTHS };

	gt_parquet_put_deltas(&f.values, (int64_t[]){ 4, 0, 2 }, 3);
	gt_buf_str(&f.values, "gemmab");
	CHECK_STR(read_file(&f), "gemm  ab ");
	f.rows = 3;
	gt_parquet_put_deltas(&f.values, (int64_t[]){ 4, 0, 3 }, 3);
	gt_buf_str(&f.values, "gemmab");
	CHECK_STR(read_file(&f), "column x: it has fewer values than rows, or is damaged");
	f.encoding = JOINED;
	gt_parquet_put_deltas(&f.values, (int64_t[]){ 0, 3, 4 }, 3);
	gt_parquet_put_deltas(&f.values, (int64_t[]){ 5, 1, 4 }, 3);
	gt_buf_str(&f.values, "Hellopsink");
	CHECK_STR(read_file(&f), "Hello Help Helpsink ");
	gt_parquet_put_deltas(&f.values, (int64_t[]){ 0, 6, 0 }, 3);
	gt_parquet_put_deltas(&f.values, (int64_t[]){ 5, 1, 4 }, 3);
	gt_buf_str(&f.values, "Hellopsink");
	CHECK_STR(read_file(&f), "column x: it has fewer values than rows, or is damaged");
}

/* Each text is longer than the one before by one: the batch would need more than 64 MiB. */
static void texts_that_grow(void)
{
	enum { N = 20000 };
	static int64_t prefixes[N], lengths[N];
	struct file f = { .type = GT_PARQUET_BYTE_ARRAY, .rows = N, .encoding = JOINED };
	uint8_t *letters;

	for (int i = 0; i < N; i++) {
		prefixes[i] = i ? 100000 + i - 1 : 0;
		lengths[i] = i ? 1 : 100000;
	}
	gt_parquet_put_deltas(&f.values, prefixes, N);
	gt_parquet_put_deltas(&f.values, lengths, N);
	letters = gt_buf_reserve(&f.values, 100000 + N);
	memset(letters, 'x', 100000 + N);
	f.values.len += 100000 + N;
	CHECK_STR(read_file(&f), "column x: its texts are too long");
}

static void split_numbers(void)
{
	static const double d[] = { 1.5, -2, 1e10 };
	struct file f = { .type = GT_PARQUET_DOUBLE, .rows = 3, .encoding = SPLIT };

	for (unsigned b = 0; b < 8; b++)
		for (unsigned i = 0; i < 3; i++)
			gt_buf_byte(&f.values, ((const uint8_t *)&d[i])[b]);
	CHECK_STR(read_file(&f), "1.5 -2 1e+10 ");
}

/* ---- nested columns ---- */

static void put_element(struct gt_thrift *t, const char *name, int repetition, int children)
{
	gt_thrift_begin(t);
	if (!children)
		gt_thrift_i32(t, 1, GT_PARQUET_INT64);
	gt_thrift_i32(t, 3, repetition);
	gt_thrift_binary(t, 4, name, strlen(name));
	if (children)
		gt_thrift_i32(t, 5, children);
	gt_thrift_end(t);
}

/* Columns: a, a group of b and of a group of c, a repeated d, e. All leaves have the same page. */
static void nested_columns_are_left_out(void)
{
	static const int64_t v[] = { 7, 8 };
	struct file f = { .type = GT_PARQUET_INT64, .rows = 2 };
	struct gt_buf footer = { 0 };
	struct gt_thrift t = { .to = &footer };
	size_t end;
	int fd;
	struct gt_parquet_in *r;

	gt_buf_clear(&bytes);
	gt_buf_str(&bytes, "PAR1");
	gt_buf_add(&f.values, v, sizeof(v));
	put_page(&f, 3, &f.values);
	gt_buf_release(&f.values);
	end = bytes.len;
	gt_thrift_list(&t, 2, GT_THRIFT_STRUCT, 8);
	put_element(&t, "root", 0, 4);
	put_element(&t, "a", 0, 0);
	put_element(&t, "g", 1, 2);
	put_element(&t, "b", 0, 0);
	put_element(&t, "h", 0, 1);
	put_element(&t, "c", 0, 0);
	put_element(&t, "d", 2, 0);
	put_element(&t, "e", 0, 0);
	gt_thrift_i64(&t, 3, 2);
	gt_thrift_list(&t, 4, GT_THRIFT_STRUCT, 1);
	gt_thrift_begin(&t);
	gt_thrift_list(&t, 1, GT_THRIFT_STRUCT, 5);
	for (int i = 0; i < 5; i++) {
		gt_thrift_begin(&t);
		gt_thrift_begin_field(&t, 3);
		gt_thrift_i32(&t, 1, GT_PARQUET_INT64);
		gt_thrift_i64(&t, 5, 2);
		gt_thrift_i64(&t, 7, (int64_t)end - 4);
		gt_thrift_i64(&t, 9, i == 0 || i == 4 ? 4 : 0);
		gt_thrift_end(&t);
		gt_thrift_end(&t);
	}
	gt_thrift_i64(&t, 3, 2);
	gt_thrift_end(&t);
	gt_thrift_end(&t);
	gt_buf_add(&bytes, footer.data, footer.len);
	put_end(end);
	gt_buf_release(&footer);
	CHECK_STR(read_bytes(bytes.data, bytes.len), "7 7 8 8 ");
	fd = memfd_create("test", MFD_CLOEXEC);
	CHECK(write(fd, bytes.data, bytes.len) == (ssize_t)bytes.len);
	r = gt_parquet_in_open(fd, &err);
	CHECK(r);
	CHECK_EQ(gt_parquet_in_nested(r), 2);
	gt_parquet_in_close(r);
	close(fd);
}

/* ---- codecs ---- */

static int snappy(const char *from, size_t n, char *to, size_t size)
{
	return gt_parquet_unpack(
		GT_PARQUET_SNAPPY, NULL, (const uint8_t *)from, n, (uint8_t *)to, size);
}
#define SNAPPY(from, to, size) snappy(from, sizeof(from) - 1, to, size)

static void snappy_elements(void)
{
	static char big[70001], in[70100];
	char to[100] = "";

	CHECK_EQ(SNAPPY("\x05\x10hello", to, 5), 0);
	CHECK(!memcmp(to, "hello", 5));
	/* a copy with a distance of 11 bits that overlaps itself, one of 16, one of 32 */
	CHECK_EQ(SNAPPY("\x09\x04"
			"ab\x0d\x02",
			 to, 9),
		0);
	CHECK(!memcmp(to, "ababababa", 9));
	CHECK_EQ(SNAPPY("\x07\x08"
			"abc\x0e\x03\x00",
			 to, 7),
		0);
	CHECK(!memcmp(to, "abcabca", 7));
	CHECK_EQ(SNAPPY("\x06\x08"
			"abc\x0b\x03\x00\x00\x00",
			 to, 6),
		0);
	CHECK(!memcmp(to, "abcabc", 6));
	/* a literal whose length has 3 bytes */
	memcpy(in, "\xf1\xa2\x04\xf8\x70\x11\x01", 7);
	memset(in + 7, 'q', 70001);
	CHECK_EQ(snappy(in, 7 + 70001, big, 70001), 0);
	CHECK(big[0] == 'q' && big[70000] == 'q');
}

static void damaged_snappy(void)
{
	char to[100];

	CHECK_EQ(SNAPPY("", to, 0), -EILSEQ);
	CHECK_EQ(SNAPPY("\x06\x10hello", to, 5), -EILSEQ);            /* another size */
	CHECK_EQ(SNAPPY("\x06\x10hello", to, 6), -EILSEQ);            /* too short */
	CHECK_EQ(SNAPPY("\x04\x10hello", to, 4), -EILSEQ);            /* too long */
	CHECK_EQ(SNAPPY("\x05\x10hell", to, 5), -EILSEQ);             /* cut */
	CHECK_EQ(SNAPPY("\x05\xfc\xff\xff\xff\xff", to, 5), -EILSEQ); /* a literal of 4 GiB */
	CHECK_EQ(SNAPPY("\x08\x04"
			"ab\x0d\x03",
			 to, 8),
		-EILSEQ); /* before the beginning */
	CHECK_EQ(SNAPPY("\x08\x04"
			"ab\x0d\x00",
			 to, 8),
		-EILSEQ); /* distance 0 */
	CHECK_EQ(SNAPPY("\x08\x04"
			"ab\x0d",
			 to, 8),
		-EILSEQ);                                             /* no distance */
	CHECK_EQ(SNAPPY("\xff\xff\xff\xff\xff\xff", to, 8), -EILSEQ); /* a size of 36 bits */
}

static void types_and_codecs_that_are_refused(void)
{
	struct file f = { .type = GT_PARQUET_INT96, .rows = 1 };

	CHECK_STR(read_file(&f), "column x: its type (INT96) is not supported");
	f = (struct file){ .type = GT_PARQUET_INT64, .rows = 1, .converted = 5 };
	CHECK_STR(read_file(&f), "column x: its type (DECIMAL) is not supported");
	f = (struct file){ .type = GT_PARQUET_INT64, .rows = 1, .converted = 10 };
	CHECK_STR(read_file(&f), "column x: its type (a time in ms or us) is not supported");
	for (int codec = 3; codec < 9; codec++) {
		char expected[100];

		if (codec == GT_PARQUET_ZSTD)
			continue;
		snprintf(expected, sizeof(expected),
			"column x: it is compressed with %s, which is not supported",
			gt_parquet_codec_name(codec));
		f = (struct file){ .type = GT_PARQUET_INT64, .rows = 1, .codec = codec };
		gt_buf_add(&f.values, "12345678", 8);
		CHECK_STR(read_file(&f), expected);
	}
	f = (struct file){ .type = GT_PARQUET_INT64, .rows = 1, .encoding = LENGTHS };
	CHECK_STR(read_file(&f), "column x: its encoding 6 is not supported");
	f = (struct file){ .type = GT_PARQUET_INT64, .rows = 1, .encoding = 77 };
	CHECK_STR(read_file(&f), "column x: its encoding 77 is not supported");
}

/* ---- damage ---- */

static struct file numbers(int codec)
{
	static const int64_t v[] = { 1, 2, 3, 4 };
	struct file f = { .type = GT_PARQUET_INT64, .rows = 4, .codec = codec };

	gt_buf_add(&f.values, v, sizeof(v));
	return f;
}

static void checksums(void)
{
	struct file f = numbers(GT_PARQUET_ZSTD);

	f.has_crc = true;
	CHECK_STR(read_file(&f), "1 2 3 4 ");
	f = numbers(0);
	f.has_crc = true;
	f.crc_error = 1;
	CHECK_STR(read_file(&f), "column x: the checksum of a page does not match");
}

static void wrong_numbers(void)
{
	struct file f = numbers(0);

	f.wrong_values = 5;
	CHECK_STR(read_file(&f), "column x: a page has 5 values, its row group only 4 more");
	f = numbers(0);
	f.wrong_values = 3;
	CHECK_STR(read_file(&f), "column x: it ends 1 rows too early, or a header is damaged");
	f = numbers(0);
	f.wrong_rows = 5;
	f.wrong_values = 5;
	CHECK_STR(read_file(&f), "column x: it has fewer values than rows, or is damaged");
	f = numbers(0);
	f.wrong_rows = 1ll << 40;
	CHECK(strstr(read_file(&f), "rows in") && strstr(err.text, "too many"));
	f = numbers(0);
	f.wrong_packed = INT32_MAX;
	CHECK_STR(read_file(&f), "column x: a page of 2147483647 bytes, unpacked 32, does not fit");
	f = numbers(0);
	f.wrong_size = 1ll << 50;
	CHECK_STR(read_file(&f), "the footer is damaged");
	f = numbers(0);
	f.wrong_unpacked = 40;
	CHECK_STR(read_file(&f), "column x: the sizes of a page contradict each other");
	f = numbers(GT_PARQUET_ZSTD);
	f.wrong_unpacked = 40;
	CHECK_STR(read_file(&f), "column x: the ZSTD data of a page are damaged");
	f = numbers(GT_PARQUET_GZIP);
	f.wrong_unpacked = 24;
	CHECK_STR(read_file(&f), "column x: the GZIP data of a page are damaged");
}

/* A page that says it has 2 GiB: there is not even an attempt. */
static void bomb(void)
{
	struct file f = numbers(GT_PARQUET_ZSTD);

	f.wrong_unpacked = INT32_MAX;
	CHECK_STR(read_file(&f), "the pages of the columns need more than 256 MiB of memory");
	CHECK_EQ(err.code, -E2BIG);
}

/* Row groups that have the same page: together they would be far more than the file. */
static void shared_pages(void)
{
	struct file f = numbers(0);

	f.more_groups = 10;
	CHECK_STR(read_file(&f), "column x: its pages are also those of others");
	CHECK_EQ(err.code, -EILSEQ);
}

/* Reads a file whose footer is these bytes. */
static const char *read_footer(const struct gt_buf *footer)
{
	gt_buf_clear(&bytes);
	gt_buf_str(&bytes, "PAR1");
	gt_buf_add(&bytes, footer->data, footer->len);
	put_end(4);
	return read_bytes(bytes.data, bytes.len);
}

static void endless_nesting(void)
{
	struct gt_buf footer = { 0 };

	for (int i = 0; i < 10000; i++)
		gt_buf_byte(&footer, 0x1c); /* a struct as the first field */
	CHECK_STR(read_footer(&footer), "the footer is damaged");
	gt_buf_clear(&footer);
	gt_buf_byte(&footer, 0x19);
	for (int i = 0; i < 10000; i++)
		gt_buf_byte(&footer, 0x19); /* a list of one list */
	CHECK_STR(read_footer(&footer), "the footer is damaged");
	gt_buf_release(&footer);
}

static void absurd_lengths(void)
{
	static const struct {
		const char *bytes;
		size_t n;
	} footers[] = {
		{ "\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11 }, /* a text of 2^64 bytes */
		{ "\x29\xfc\xff\xff\xff\xff\x0f", 7 },                  /* 2^32 elements */
		{ "\x29\x1c\x18\xff\xff\xff\xff\x07x", 9 },             /* a name of 2 GiB */
		{ "\x29\xfc\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 12 },
		{ "\x00", 1 },
		{ "", 0 },
	};

	for (size_t i = 0; i < sizeof(footers) / sizeof(*footers); i++) {
		struct gt_buf footer = { 0 };

		gt_buf_add(&footer, footers[i].bytes, footers[i].n);
		CHECK_STR(read_footer(&footer), "the footer is damaged");
		gt_buf_release(&footer);
	}
	gt_buf_clear(&bytes);
	gt_buf_add(&bytes, "PAR1\xff\xff\xff\xffPAR1", 12);
	CHECK_STR(read_bytes(bytes.data, 12), "a footer of 4294967295 bytes is too long");
	CHECK_STR(read_bytes("PAR1", 4), "too short for a Parquet file");
	CHECK_STR(read_bytes("PAR1\0\0\0\0PARE", 12), "the Parquet file is encrypted");
}

static void every_cut(void)
{
	struct file f = with_dictionary(2);

	make(&f);
	for (size_t n = 0; n < bytes.len; n++) {
		read_bytes(bytes.data, n);
		CHECK(err.code == -EILSEQ);
		CHECK(err.text[0] && !strchr(err.text, '\n'));
	}
}

/* Each byte has each other value of one bit, and all bits inverted. The values may be wrong then,
 * but there is an error or an end. */
static void every_byte(struct file f)
{
	make(&f);
	for (size_t i = 0; i < bytes.len; i++)
		for (unsigned bit = 0; bit < 9; bit++) {
			uint8_t x = (uint8_t)(bit < 8 ? 1u << bit : 0xff);

			bytes.data[i] ^= x;
			read_bytes(bytes.data, bytes.len);
			CHECK(!err.code || err.text[0]);
			bytes.data[i] ^= x;
		}
	read_bytes(bytes.data, bytes.len);
	CHECK_EQ(err.code, 0);
}

static void every_byte_flipped(void)
{
	struct file joined = { .type = GT_PARQUET_BYTE_ARRAY, .rows = 3, .encoding = JOINED };
	struct file deltas = {
		.type = GT_PARQUET_INT64, .rows = 4, .encoding = DELTAS, .v1 = true
	};

	gt_parquet_put_deltas(&joined.values, (int64_t[]){ 0, 3, 4 }, 3);
	gt_parquet_put_deltas(&joined.values, (int64_t[]){ 5, 1, 4 }, 3);
	gt_buf_str(&joined.values, "Hellopsink");
	every_byte(joined);
	deltas.optional = 1;
	gt_parquet_put_hybrid(&deltas.levels, (uint32_t[]){ 1, 0, 1, 1 }, 4, 1);
	gt_parquet_put_deltas(&deltas.values, (int64_t[]){ 7, 9, 1000 }, 3);
	every_byte(deltas);
	every_byte(with_dictionary(2));
	every_byte(numbers(0));
}

static void release(void)
{
	gt_buf_release(&bytes);
	gt_buf_release(&packed);
}

T_MAIN(T(plain_numbers), T(plain_texts), T(absent_values), T(dictionaries), T(differences),
	T(texts_behind_their_lengths), T(texts_that_grow), T(split_numbers),
	T(nested_columns_are_left_out), T(snappy_elements), T(damaged_snappy),
	T(types_and_codecs_that_are_refused), T(checksums), T(wrong_numbers), T(bomb),
	T(shared_pages), T(endless_nesting), T(absurd_lengths), T(every_cut), T(every_byte_flipped),
	T(release))
