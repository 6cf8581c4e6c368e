/* Pages: a header of Thrift, then their bytes. A chunk has one dictionary page at most, before its
 * data pages; pages of other kinds are skipped. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "formats/base/progress.h"
#include "formats/import/parquet/parquet_in_internal.h"
#include "formats/io/stream_in.h"
#include "formats/os/file.h"

#define HEADER_FIRST 512u      /* bytes that are read for a header at first */
#define HEADER_MAX (16u << 20) /* a header may have statistics with long texts */

enum page_kind { DATA_PAGE = 0, DICTIONARY_PAGE = 2, DATA_PAGE_V2 = 3 };

struct header {
	int64_t kind, unpacked, packed, values, encoding, level_encoding, levels, repetitions;
	bool is_packed, has_crc;
	uint32_t crc; /* of the bytes in the file */
};

/* ---- memory ---- */

void gt_parquet_block_release(struct gt_parquet_in *r, struct gt_parquet_block *b)
{
	free(b->data);
	r->memory -= b->cap;
	*b = (struct gt_parquet_block){ NULL, 0 };
}

int gt_parquet_block(struct gt_parquet_in *r, struct gt_parquet_block *b, size_t n)
{
	size_t need = n + GT_PARQUET_SLACK;

	if (b->cap < need) {
		gt_parquet_block_release(r, b);
		if (n > GT_PARQUET_MEMORY || need > GT_PARQUET_MEMORY - r->memory)
			return gt_err_set(r->err, -E2BIG,
				"the pages of the columns need more than %u MiB of memory",
				GT_PARQUET_MEMORY >> 20);
		b->data = malloc(need);
		if (!b->data)
			return gt_err_set(r->err, -ENOMEM, "out of memory");
		b->cap = need;
		r->memory += need;
	}
	memset(b->data + n, 0, GT_PARQUET_SLACK);
	return 0;
}

int gt_parquet_fail(
	struct gt_parquet_in *r, const struct gt_parquet_column *c, int code, const char *fmt, ...)
{
	char text[150];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return gt_err_at(r->err, c->pages->page_at, code, "column %.60s: %s", c->name, text);
}

static int read_file(struct gt_parquet_in *r, void *to, size_t n, uint64_t at)
{
	int rc = gt_pread(r->fd, to, n, at);

	return rc ? gt_err_at(r->err, at, rc, "cannot read %zu bytes", n) : 0;
}

/* ---- headers ---- */

static void read_data_head(struct gt_thrift_in *in, struct header *h)
{
	struct gt_thrift_field f = { 0 };

	while (gt_thrift_next(in, &f))
		switch (f.id) {
		case 1: h->values = gt_thrift_int(in, &f); break;
		case 2: h->encoding = gt_thrift_int(in, &f); break;
		case 3: h->level_encoding = gt_thrift_int(in, &f); break;
		default: gt_thrift_skip(in, f.type);
		}
}

static void read_data_head_v2(struct gt_thrift_in *in, struct header *h)
{
	struct gt_thrift_field f = { 0 };

	while (gt_thrift_next(in, &f))
		switch (f.id) {
		case 1: h->values = gt_thrift_int(in, &f); break;
		case 4: h->encoding = gt_thrift_int(in, &f); break;
		case 5: h->levels = gt_thrift_int(in, &f); break;
		case 6: h->repetitions = gt_thrift_int(in, &f); break;
		case 7: h->is_packed = f.type == GT_THRIFT_IN_TRUE; break;
		default: gt_thrift_skip(in, f.type);
		}
}

/* False: the bytes end in the header, or it is malformed. */
static bool read_header(struct gt_thrift_in *in, struct header *h)
{
	struct gt_thrift_field f = { 0 };

	*h = (struct header){ .kind = -1,
		.unpacked = -1,
		.packed = -1,
		.values = -1,
		.level_encoding = GT_PARQUET_IN_RLE,
		.is_packed = true };
	while (gt_thrift_next(in, &f))
		switch (f.id) {
		case 1: h->kind = gt_thrift_int(in, &f); break;
		case 2: h->unpacked = gt_thrift_int(in, &f); break;
		case 3: h->packed = gt_thrift_int(in, &f); break;
		case 4:
			h->crc = (uint32_t)gt_thrift_int(in, &f);
			h->has_crc = true;
			break;
		case 5:
		case 7: /* the head of a dictionary has the first two fields, too */
			if (gt_thrift_is_struct(in, &f))
				read_data_head(in, h);
			break;
		case 8:
			if (gt_thrift_is_struct(in, &f))
				read_data_head_v2(in, h);
			break;
		default: gt_thrift_skip(in, f.type);
		}
	return !in->bad;
}

/* Reads the header at p->at and moves p->at behind it. */
static int next_header(struct gt_parquet_in *r, struct gt_parquet_column *c, struct header *h)
{
	struct gt_parquet_pages *p = c->pages;
	uint64_t space = p->end - p->at;

	p->page_at = p->at;
	for (size_t n = HEADER_FIRST; space; n *= 32) {
		size_t some = n < space ? n : (size_t)space;
		int rc = gt_parquet_block(r, &r->packed, some);
		struct gt_thrift_in in;

		rc = rc ? rc : read_file(r, r->packed.data, some, p->at);
		if (rc)
			return rc;
		in = (struct gt_thrift_in){ r->packed.data, r->packed.data + some, false };
		if (read_header(&in, h)) {
			p->at += (uint64_t)(in.at - r->packed.data);
			break;
		}
		if (some == space || n >= HEADER_MAX)
			space = 0;
	}
	if (!space)
		return gt_parquet_fail(r, c, -EILSEQ,
			"it ends %llu rows too early, or a header is damaged",
			(unsigned long long)p->rows);
	if (h->packed < 0 || (uint64_t)h->packed > p->end - p->at || h->unpacked < 0)
		return gt_parquet_fail(r, c, -EILSEQ,
			"a page of %lld bytes, unpacked %lld, does not fit", (long long)h->packed,
			(long long)h->unpacked);
	return 0;
}

/* ---- pages ---- */

/* Reads the bytes of the page in the file into `to` and checks them. */
static int read_packed(struct gt_parquet_in *r, struct gt_parquet_column *c, const struct header *h,
	struct gt_parquet_block *to)
{
	size_t n = (size_t)h->packed;
	int rc = gt_parquet_block(r, to, n);

	rc = rc ? rc : read_file(r, to->data, n, c->pages->at);
	if (!rc && h->has_crc && crc32_z(0, to->data, n) != h->crc)
		rc = gt_parquet_fail(r, c, -EILSEQ, "the checksum of a page does not match");
	gt_progress_add(n);
	return rc;
}

/* Reads a page into `to`. The first `plain` bytes of it are not compressed. */
static int read_page(struct gt_parquet_in *r, struct gt_parquet_column *c, const struct header *h,
	size_t plain, struct gt_parquet_block *to)
{
	struct gt_parquet_pages *p = c->pages;
	size_t packed = (size_t)h->packed, unpacked = (size_t)h->unpacked;
	bool is_packed = h->is_packed && p->codec != GT_PARQUET_UNCOMPRESSED;
	int rc;

	if (plain > packed || plain > unpacked || (!is_packed && packed != unpacked))
		return gt_parquet_fail(r, c, -EILSEQ, "the sizes of a page contradict each other");
	if (!is_packed)
		return read_packed(r, c, h, to);
	rc = gt_parquet_block(r, to, unpacked);
	rc = rc ? rc : read_packed(r, c, h, &r->packed);
	if (rc)
		return rc;
	memcpy(to->data, r->packed.data, plain);
	/* a page of no values may have no compressed bytes */
	if (packed == plain && unpacked == plain)
		return 0;
	rc = gt_parquet_unpack((enum gt_parquet_codec)p->codec, r->zstd, r->packed.data + plain,
		packed - plain, to->data + plain, unpacked - plain);
	if (rc == -ENOTSUP)
		return gt_parquet_fail(r, c, rc, "it is compressed with %s, which is not supported",
			gt_parquet_codec_name(p->codec));
	if (rc == -ENOMEM)
		return gt_err_set(r->err, rc, "out of memory");
	return rc ? gt_parquet_fail(r, c, rc, "the %s data of a page are damaged",
			    gt_parquet_codec_name(p->codec))
		  : 0;
}

static int read_dictionary_page(
	struct gt_parquet_in *r, struct gt_parquet_column *c, const struct header *h)
{
	struct gt_parquet_pages *p = c->pages;
	int rc;

	if (p->nentries || h->values < 0 ||
		(h->encoding != GT_PARQUET_IN_PLAIN &&
			h->encoding != GT_PARQUET_IN_PLAIN_DICTIONARY))
		return gt_parquet_fail(r, c, -EILSEQ, "the dictionary is damaged");
	rc = read_page(r, c, h, 0, &p->dictionary);
	return rc ? rc
		  : gt_parquet_dictionary_read(r, c, p->dictionary.data,
			    p->dictionary.data + h->unpacked, (uint64_t)h->values);
}

/* Begins to read the levels, which are `size` bytes at `at`. */
static void begin_levels(struct gt_parquet_pages *p, const uint8_t *at, size_t size)
{
	p->levels = (struct gt_parquet_hybrid){ .at = at, .end = at + size, .width = 1 };
	p->has_levels = true;
}

static int begin_data_page(
	struct gt_parquet_in *r, struct gt_parquet_column *c, const struct header *h)
{
	struct gt_parquet_pages *p = c->pages;
	int rc = read_page(r, c, h, 0, &p->page);
	const uint8_t *at = p->page.data, *end = at + h->unpacked;
	uint32_t size;

	if (rc || !c->optional)
		return rc ? rc : gt_parquet_values_begin(r, c, at, end);
	if (h->level_encoding != GT_PARQUET_IN_RLE)
		return gt_parquet_fail(r, c, -ENOTSUP, "levels of encoding %lld are not supported",
			(long long)h->level_encoding);
	size = gt_parquet_load32(at);
	if (h->unpacked < 4 || size > h->unpacked - 4)
		return gt_parquet_fail(r, c, -EILSEQ, "its levels are damaged");
	begin_levels(p, at + 4, size);
	return gt_parquet_values_begin(r, c, at + 4 + size, end);
}

static int begin_data_page_v2(
	struct gt_parquet_in *r, struct gt_parquet_column *c, const struct header *h)
{
	struct gt_parquet_pages *p = c->pages;
	const uint8_t *at;
	int rc;

	if (h->levels < 0 || h->levels > h->packed || h->repetitions)
		return gt_parquet_fail(r, c, -EILSEQ, "its levels are damaged");
	rc = read_page(r, c, h, (size_t)h->levels, &p->page);
	at = p->page.data;
	if (!rc && c->optional)
		begin_levels(p, at, (size_t)h->levels);
	return rc ? rc : gt_parquet_values_begin(r, c, at + h->levels, at + h->unpacked);
}

static int read_one(struct gt_parquet_in *r, struct gt_parquet_column *c, const struct header *h)
{
	struct gt_parquet_pages *p = c->pages;

	if (h->kind == DICTIONARY_PAGE)
		return read_dictionary_page(r, c, h);
	if (h->kind != DATA_PAGE && h->kind != DATA_PAGE_V2)
		return 0;
	if (h->values < 0 || (uint64_t)h->values > p->rows)
		return gt_parquet_fail(r, c, -EILSEQ,
			"a page has %lld values, its row group only %llu more",
			(long long)h->values, (unsigned long long)p->rows);
	p->left = p->values = (uint64_t)h->values;
	p->rows -= p->left;
	p->encoding = h->encoding;
	p->has_levels = false;
	return h->kind == DATA_PAGE ? begin_data_page(r, c, h) : begin_data_page_v2(r, c, h);
}

/* A small file must not cost any time: columns and row groups cannot share pages, and pages are no
 * decompression bombs. */
static int read_next(struct gt_parquet_in *r, struct gt_parquet_column *c, struct header *h)
{
	struct gt_parquet_pages *p = c->pages;
	int rc = next_header(r, c, h);

	if (rc)
		return rc;
	r->packed_bytes += p->at - p->page_at + (uint64_t)h->packed;
	if (r->packed_bytes > r->size)
		return gt_parquet_fail(r, c, -EILSEQ, "its pages are also those of others");
	rc = read_one(r, c, h);
	r->unpacked_bytes += (uint64_t)h->unpacked;
	return !rc && gt_in_is_bomb(r->size, r->unpacked_bytes)
		? gt_in_bomb_error(p->page_at, r->err)
		: rc;
}

int gt_parquet_next_page(struct gt_parquet_in *r, struct gt_parquet_column *c)
{
	struct gt_parquet_pages *p = c->pages;
	struct header h;
	int rc = 0;

	while (!rc && !p->left) {
		rc = read_next(r, c, &h);
		p->at += rc ? 0 : (uint64_t)h.packed;
	}
	return rc;
}
