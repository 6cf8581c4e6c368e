#include "formats/export/tables/parquet_file.h"

#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>
#include "formats/export/tables/parquet_encode.h"
#include "formats/export/tables/thrift_out.h"

#define MAGIC "PAR1"
#define LEVEL 1           /* of zstd */
#define COMPRESS_FROM 64u /* smaller pages are not compressed */

enum physical_type { INT64 = 2, DOUBLE = 5, BYTE_ARRAY = 6 };
enum { REQUIRED, OPTIONAL };
enum { UTF8 = 0 };
enum { DATA_PAGE_V2 = 3, DICTIONARY_PAGE = 2 };
enum { CODEC_ZSTD = 6 };

struct chunk { /* of the current row group */
	struct gt_buf pages;
	struct gt_parquet_dictionary dictionary;
	bool overflowed;    /* the dictionary is full */
	uint32_t encodings; /* bit by enum gt_parquet_encoding */
	uint64_t values, nulls;
	uint64_t unpacked; /* bytes of the pages with their headers, before compression */
	int64_t least, largest;
};
struct gt_parquet {
	const struct gt_trace_table *table;
	struct gt_out *out;
	uint64_t at; /* bytes written */
	uint64_t rows;
	uint32_t group_rows;
	struct gt_buf groups; /* descriptions of the row groups, for the footer */
	uint32_t ngroups;
	ZSTD_CCtx *zstd;
	/* of the page that is being written */
	struct gt_buf levels, values, packed;
	int64_t present[GT_TABLE_ROWS];
	uint32_t indices[GT_TABLE_ROWS];
	struct chunk chunks[GT_TABLE_COLUMNS];
};

static void put(struct gt_parquet *p, const void *bytes, size_t n)
{
	gt_out_add(p->out, bytes, n);
	p->at += n;
}

static enum physical_type physical(const struct gt_table_column *c)
{
	return c->type == GT_COLUMN_TEXT ? BYTE_ARRAY : c->type == GT_COLUMN_REAL ? DOUBLE : INT64;
}

struct gt_parquet *gt_parquet_open(const struct gt_trace_table *table, struct gt_out *out)
{
	struct gt_parquet *p = calloc(1, sizeof(*p));

	if (!p || !(p->zstd = ZSTD_createCCtx())) {
		free(p);
		return NULL;
	}
	p->table = table;
	p->out = out;
	put(p, MAGIC, 4);
	return p;
}

/* ---- pages ---- */

struct page {
	uint32_t rows, nulls; /* of a dictionary: rows is the number of its values */
	int kind;             /* DATA_PAGE_V2 or DICTIONARY_PAGE */
	enum gt_parquet_encoding encoding;
};

/* crc: of the bytes behind the header */
static void put_header(struct gt_buf *to, const struct page *g, size_t levels, size_t unpacked,
	size_t packed, uint32_t crc)
{
	struct gt_thrift t = { .to = to };

	gt_thrift_i32(&t, 1, g->kind);
	gt_thrift_i32(&t, 2, (int32_t)(levels + unpacked));
	gt_thrift_i32(&t, 3, (int32_t)(levels + packed));
	gt_thrift_i32(&t, 4, (int32_t)crc);
	if (g->kind == DICTIONARY_PAGE) {
		gt_thrift_begin_field(&t, 7);
		gt_thrift_i32(&t, 1, (int32_t)g->rows);
		gt_thrift_i32(&t, 2, GT_PARQUET_PLAIN);
	} else {
		gt_thrift_begin_field(&t, 8);
		gt_thrift_i32(&t, 1, (int32_t)g->rows);
		gt_thrift_i32(&t, 2, (int32_t)g->nulls);
		gt_thrift_i32(&t, 3, (int32_t)g->rows);
		gt_thrift_i32(&t, 4, (int32_t)g->encoding);
		gt_thrift_i32(&t, 5, (int32_t)levels);
		gt_thrift_i32(&t, 6, 0);
		gt_thrift_field(&t, 7, packed < unpacked ? GT_THRIFT_TRUE : GT_THRIFT_FALSE);
	}
	gt_thrift_end(&t);
	gt_thrift_end(&t);
}

/* Writes a page of p->levels and p->values to `to`. A dictionary is always compressed: its header
 * cannot say that it is not. */
static int put_page(
	struct gt_parquet *p, const struct page *g, struct gt_buf *to, uint64_t *unpacked)
{
	size_t size = p->values.len, bound = ZSTD_compressBound(size), packed = size, at;
	bool must = g->kind == DICTIONARY_PAGE;
	const void *content;
	uint8_t *space;
	uLong crc;

	gt_buf_clear(&p->packed);
	if (must || size >= COMPRESS_FROM) {
		space = gt_buf_reserve(&p->packed, bound);
		if (!space)
			return -ENOMEM;
		packed = ZSTD_compressCCtx(p->zstd, space, bound, p->values.data, size, LEVEL);
		if (ZSTD_isError(packed))
			return -ENOMEM;
	}
	if (packed >= size && !must)
		packed = size;
	content = packed < size || must ? p->packed.data : p->values.data;
	/* the checksum so far of no bytes is 0; a pointer to no bytes may be NULL */
	crc = p->levels.len ? crc32_z(0, p->levels.data, p->levels.len) : 0;
	crc = crc32_z(crc, content, packed);
	at = to->len;
	put_header(to, g, p->levels.len, size, packed, (uint32_t)crc);
	*unpacked += to->len - at + p->levels.len + size;
	gt_buf_add(to, p->levels.data, p->levels.len);
	gt_buf_add(to, content, packed);
	return p->levels.failed || p->values.failed || to->failed ? -ENOMEM : 0;
}

/* Sets the definition levels (0: NULL), and copies the values that are present. Returns how many.
 */
static uint32_t put_levels(
	struct gt_parquet *p, const struct gt_table_column *c, const int64_t *v, uint32_t n)
{
	uint32_t present = 0;

	gt_buf_clear(&p->levels);
	if (c->needed) {
		memcpy(p->present, v, n * sizeof(*v));
		return n;
	}
	for (uint32_t i = 0; i < n; i++) {
		p->indices[i] = v[i] != GT_TABLE_NULL;
		p->present[present] = v[i];
		present += p->indices[i];
	}
	if (present && present < n)
		gt_parquet_put_hybrid(&p->levels, p->indices, n, 1);
	else
		gt_parquet_put_run(&p->levels, present != 0, n, 1);
	return present;
}

static void put_texts(struct gt_parquet *p, const struct gt_table_batch *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct gt_string *s = &b->texts[p->present[i]];
		uint8_t len[4] = { (uint8_t)s->len, (uint8_t)(s->len >> 8), (uint8_t)(s->len >> 16),
			(uint8_t)(s->len >> 24) };

		gt_buf_add(&p->values, len, sizeof(len));
		gt_buf_add(&p->values, s->ptr, s->len);
	}
}

static void note_range(struct chunk *c, const int64_t *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		c->least = v[i] < c->least ? v[i] : c->least;
		c->largest = v[i] > c->largest ? v[i] : c->largest;
	}
}

/* Sets p->values to the n values of p->present. Returns their encoding, or negative. */
static int put_values(struct gt_parquet *p, const struct gt_table_column *column, struct chunk *c,
	const struct gt_table_batch *b, uint32_t n)
{
	int found;

	gt_buf_clear(&p->values);
	if (column->type == GT_COLUMN_TEXT) {
		put_texts(p, b, n);
		return GT_PARQUET_PLAIN;
	}
	if (column->type == GT_COLUMN_INT)
		note_range(c, p->present, n);
	if (!n)
		return GT_PARQUET_PLAIN;
	if (!column->sorted && !c->overflowed) {
		found = gt_parquet_look_up(&c->dictionary, p->present, n, p->indices);
		if (found < 0)
			return found;
		c->overflowed = !found;
		if (found) {
			unsigned width = gt_parquet_width(c->dictionary.n);

			gt_buf_byte(&p->values, (uint8_t)width);
			gt_parquet_put_hybrid(&p->values, p->indices, n, width);
			return GT_PARQUET_RLE_DICTIONARY;
		}
	}
	if (column->type == GT_COLUMN_INT) {
		gt_parquet_put_deltas(&p->values, p->present, n);
		return GT_PARQUET_DELTA_BINARY_PACKED;
	}
	gt_buf_add(&p->values, p->present, n * sizeof(*p->present));
	return GT_PARQUET_PLAIN;
}

static int put_column(struct gt_parquet *p, unsigned i, const struct gt_table_batch *b)
{
	const struct gt_table_column *column = &p->table->columns[i];
	struct chunk *c = &p->chunks[i];
	uint32_t present = put_levels(p, column, b->columns[i], b->n);
	struct page g = { .rows = b->n, .nulls = b->n - present, .kind = DATA_PAGE_V2 };
	int encoding = put_values(p, column, c, b, present);

	if (encoding < 0)
		return encoding;
	g.encoding = (enum gt_parquet_encoding)encoding;
	c->encodings |= 1u << encoding;
	c->values += b->n;
	c->nulls += g.nulls;
	return put_page(p, &g, &c->pages, &c->unpacked);
}

/* ---- row groups ---- */

static void put_statistics(struct gt_thrift *t, const struct chunk *c)
{
	gt_thrift_begin_field(t, 12);
	gt_thrift_i64(t, 3, (int64_t)c->nulls);
	if (c->least <= c->largest) {
		gt_thrift_binary(t, 5, &c->largest, sizeof(c->largest));
		gt_thrift_binary(t, 6, &c->least, sizeof(c->least));
	}
	gt_thrift_end(t);
}

struct place { /* of a chunk in the file */
	uint64_t dictionary, data, end;
};

static void describe_chunk(
	struct gt_parquet *p, struct gt_thrift *t, unsigned i, const struct place *at)
{
	const struct gt_table_column *column = &p->table->columns[i];
	const struct chunk *c = &p->chunks[i];
	uint32_t encodings = c->encodings | 1u << GT_PARQUET_RLE |
		(c->dictionary.n ? 1u << GT_PARQUET_PLAIN : 0);

	gt_thrift_begin(t);
	gt_thrift_i64(t, 2, (int64_t)at->dictionary);
	gt_thrift_begin_field(t, 3);
	gt_thrift_i32(t, 1, physical(column));
	gt_thrift_list(t, 2, GT_THRIFT_I32, (size_t)__builtin_popcount(encodings));
	for (unsigned e = 0; e < 32; e++)
		if (encodings >> e & 1)
			gt_put_varint(t->to, gt_zigzag(e));
	gt_thrift_list(t, 3, GT_THRIFT_BINARY, 1);
	gt_thrift_bytes(t->to, column->name, strlen(column->name));
	gt_thrift_i32(t, 4, CODEC_ZSTD);
	gt_thrift_i64(t, 5, (int64_t)c->values);
	gt_thrift_i64(t, 6, (int64_t)c->unpacked);
	gt_thrift_i64(t, 7, (int64_t)(at->end - at->dictionary));
	gt_thrift_i64(t, 9, (int64_t)at->data);
	if (c->dictionary.n)
		gt_thrift_i64(t, 11, (int64_t)at->dictionary);
	put_statistics(t, c);
	gt_thrift_end(t);
	gt_thrift_end(t);
}

static int write_chunk(struct gt_parquet *p, unsigned i, struct place *at)
{
	struct chunk *c = &p->chunks[i];
	struct page g = { .rows = c->dictionary.n, .kind = DICTIONARY_PAGE };
	struct gt_buf page = { 0 };
	int rc = 0;

	at->dictionary = p->at;
	if (c->dictionary.n) {
		gt_buf_clear(&p->levels);
		gt_buf_clear(&p->values);
		gt_buf_add(&p->values, c->dictionary.values,
			c->dictionary.n * sizeof(*c->dictionary.values));
		rc = put_page(p, &g, &page, &c->unpacked);
		put(p, page.data, page.len);
	}
	at->data = p->at;
	put(p, c->pages.data, c->pages.len);
	at->end = p->at;
	gt_buf_release(&page);
	return rc;
}

static void clear_chunk(struct chunk *c)
{
	gt_buf_clear(&c->pages);
	gt_parquet_dictionary_clear(&c->dictionary);
	c->overflowed = false;
	c->encodings = 0;
	c->values = c->nulls = c->unpacked = 0;
	c->least = INT64_MAX;
	c->largest = INT64_MIN;
}

static int write_group(struct gt_parquet *p)
{
	struct gt_thrift t = { .to = &p->groups };
	struct place at[GT_TABLE_COLUMNS];
	uint64_t unpacked = 0, from = p->at;
	unsigned n = p->table->ncolumns;
	int rc = 0;

	for (unsigned i = 0; i < n && !rc; i++)
		rc = write_chunk(p, i, &at[i]);
	if (rc)
		return rc;
	t.depth = 0;
	gt_thrift_list(&t, 1, GT_THRIFT_STRUCT, n);
	for (unsigned i = 0; i < n; i++) {
		describe_chunk(p, &t, i, &at[i]);
		unpacked += p->chunks[i].unpacked;
		clear_chunk(&p->chunks[i]);
	}
	gt_thrift_i64(&t, 2, (int64_t)unpacked);
	gt_thrift_i64(&t, 3, p->group_rows);
	gt_thrift_i64(&t, 5, (int64_t)from);
	gt_thrift_i64(&t, 6, (int64_t)(p->at - from));
	gt_thrift_end(&t);
	p->ngroups++;
	p->rows += p->group_rows;
	p->group_rows = 0;
	return p->groups.failed ? -ENOMEM : 0;
}

int gt_parquet_put(struct gt_parquet *p, const struct gt_table_batch *batch, struct gt_err *err)
{
	int rc = 0;

	if (!p->group_rows)
		for (unsigned i = 0; i < p->table->ncolumns; i++)
			clear_chunk(&p->chunks[i]);
	for (unsigned i = 0; i < p->table->ncolumns && !rc; i++)
		rc = put_column(p, i, batch);
	p->group_rows += batch->n;
	if (!rc && p->group_rows >= GT_PARQUET_GROUP)
		rc = write_group(p);
	return rc ? gt_err_set(err, rc, "out of memory") : p->out->failed;
}

/* ---- the footer ---- */

static void put_schema(struct gt_thrift *t, const struct gt_trace_table *table)
{
	gt_thrift_list(t, 2, GT_THRIFT_STRUCT, table->ncolumns + 1u);
	gt_thrift_begin(t);
	gt_thrift_binary(t, 4, "schema", 6);
	gt_thrift_i32(t, 5, (int32_t)table->ncolumns);
	gt_thrift_end(t);
	for (unsigned i = 0; i < table->ncolumns; i++) {
		const struct gt_table_column *c = &table->columns[i];

		gt_thrift_begin(t);
		gt_thrift_i32(t, 1, physical(c));
		gt_thrift_i32(t, 3, c->needed ? REQUIRED : OPTIONAL);
		gt_thrift_binary(t, 4, c->name, strlen(c->name));
		if (c->type == GT_COLUMN_TEXT) {
			gt_thrift_i32(t, 6, UTF8);
			gt_thrift_begin_field(t, 10); /* LogicalType: STRING */
			gt_thrift_begin_field(t, 1);
			gt_thrift_end(t);
			gt_thrift_end(t);
		}
		gt_thrift_end(t);
	}
}

static void put_footer(struct gt_parquet *p, struct gt_buf *to)
{
	struct gt_thrift t = { .to = to };

	gt_thrift_i32(&t, 1, 2); /* version of the format */
	put_schema(&t, p->table);
	gt_thrift_i64(&t, 3, (int64_t)p->rows);
	gt_thrift_list(&t, 4, GT_THRIFT_STRUCT, p->ngroups);
	gt_buf_add(to, p->groups.data, p->groups.len);
	gt_thrift_list(&t, 5, GT_THRIFT_STRUCT, 1);
	gt_thrift_begin(&t);
	gt_thrift_binary(&t, 1, "table_name", 10);
	gt_thrift_binary(&t, 2, p->table->name, strlen(p->table->name));
	gt_thrift_end(&t);
	gt_thrift_binary(&t, 6, "gtexport", 8);
	gt_thrift_list(&t, 7, GT_THRIFT_STRUCT, p->table->ncolumns);
	for (unsigned i = 0; i < p->table->ncolumns; i++) { /* ColumnOrder: TypeDefinedOrder */
		gt_thrift_begin(&t);
		gt_thrift_begin_field(&t, 1);
		gt_thrift_end(&t);
		gt_thrift_end(&t);
	}
	gt_thrift_end(&t);
}

void gt_parquet_abandon(struct gt_parquet *p)
{
	if (!p)
		return;
	for (unsigned i = 0; i < p->table->ncolumns; i++) {
		gt_buf_release(&p->chunks[i].pages);
		gt_parquet_dictionary_release(&p->chunks[i].dictionary);
	}
	gt_buf_release(&p->groups);
	gt_buf_release(&p->levels);
	gt_buf_release(&p->values);
	gt_buf_release(&p->packed);
	ZSTD_freeCCtx(p->zstd);
	free(p);
}

int gt_parquet_close(struct gt_parquet *p, struct gt_err *err)
{
	struct gt_buf footer = { 0 };
	uint8_t size[4];
	int rc;

	if (!p)
		return 0;
	rc = p->group_rows ? write_group(p) : 0;
	if (!rc)
		put_footer(p, &footer);
	if (footer.failed)
		rc = -ENOMEM;
	for (unsigned i = 0; i < 4; i++)
		size[i] = (uint8_t)(footer.len >> 8 * i);
	put(p, footer.data, footer.len);
	put(p, size, sizeof(size));
	put(p, MAGIC, 4);
	gt_buf_release(&footer);
	gt_parquet_abandon(p);
	return rc ? gt_err_set(err, rc, "out of memory") : 0;
}
