#include "formats/export/tables/arrow_stream.h"

#include "formats/export/tables/flatbuffer_out.h"

/* numbers of Arrow's Message.fbs and Schema.fbs */
enum { VERSION_5 = 4 };
enum { SCHEMA = 1, RECORD_BATCH = 3 };
enum { TYPE_INT = 2, TYPE_FLOAT = 3, TYPE_UTF8 = 5 };
enum { PRECISION_DOUBLE = 2 };
#define ALIGNMENT 8u

/* ---- messages ---- */

enum { MESSAGE_VERSION, MESSAGE_HEADER_TYPE, MESSAGE_HEADER, MESSAGE_BODY_LENGTH, MESSAGE_FIELDS };

/* Begins a message. Returns where the reference to its header is. */
static size_t begin_message(struct gt_buf *b, unsigned header, uint64_t body)
{
	static const uint8_t sizes[MESSAGE_FIELDS] = { 2, 1, 4, 8 };
	size_t at[MESSAGE_FIELDS];

	gt_flatbuffer_number(b, 0, 4); /* reference to the root */
	gt_flatbuffer_table(b, 0, sizes, MESSAGE_FIELDS, at);
	gt_flatbuffer_set(b, at[MESSAGE_VERSION], VERSION_5, 2);
	gt_flatbuffer_set(b, at[MESSAGE_HEADER_TYPE], header, 1);
	gt_flatbuffer_set(b, at[MESSAGE_BODY_LENGTH], body, 8);
	return at[MESSAGE_HEADER];
}

static int put_message(struct gt_buf *b, struct gt_out *out, struct gt_err *err)
{
	struct gt_buf head = { 0 };

	gt_flatbuffer_align(b, ALIGNMENT, 0);
	gt_flatbuffer_number(&head, UINT32_MAX, 4);
	gt_flatbuffer_number(&head, b->len, 4);
	if (b->failed || head.failed) {
		gt_buf_release(&head);
		return gt_err_set(err, -ENOMEM, "out of memory");
	}
	gt_out_add(out, head.data, head.len);
	gt_out_add(out, b->data, b->len);
	gt_buf_release(&head);
	return out->failed;
}

/* ---- the schema ---- */

static void put_type(struct gt_buf *b, size_t from, enum gt_column_type type)
{
	static const uint8_t integer[] = { 4, 1 }, real[] = { 2 };
	size_t at[2];

	if (type == GT_COLUMN_TEXT) {
		gt_flatbuffer_table(b, from, NULL, 0, NULL);
	} else if (type == GT_COLUMN_REAL) {
		gt_flatbuffer_table(b, from, real, 1, at);
		gt_flatbuffer_set(b, at[0], PRECISION_DOUBLE, 2);
	} else {
		gt_flatbuffer_table(b, from, integer, 2, at);
		gt_flatbuffer_set(b, at[0], 64, 4); /* bits */
		gt_flatbuffer_set(b, at[1], 1, 1);  /* signed */
	}
}

static void put_field(struct gt_buf *b, size_t from, const struct gt_table_column *c)
{
	enum { NAME, NULLABLE, TYPE_TYPE, TYPE, DICTIONARY, CHILDREN, FIELDS };
	static const uint8_t sizes[FIELDS] = { 4, 1, 1, 4, 0, 4 };
	static const uint8_t types[] = {
		[GT_COLUMN_INT] = TYPE_INT,
		[GT_COLUMN_REAL] = TYPE_FLOAT,
		[GT_COLUMN_TEXT] = TYPE_UTF8,
	};
	size_t at[FIELDS];

	gt_flatbuffer_table(b, from, sizes, FIELDS, at);
	gt_flatbuffer_set(b, at[NULLABLE], !c->needed, 1);
	gt_flatbuffer_set(b, at[TYPE_TYPE], types[c->type], 1);
	gt_flatbuffer_string(b, at[NAME], c->name);
	put_type(b, at[TYPE], (enum gt_column_type)c->type);
	gt_flatbuffer_references(b, at[CHILDREN], 0);
}

static void put_metadata(struct gt_buf *b, size_t from, const char *key, const char *value)
{
	static const uint8_t sizes[] = { 4, 4 };
	size_t at[2], list = gt_flatbuffer_references(b, from, 1);

	gt_flatbuffer_table(b, list, sizes, 2, at);
	gt_flatbuffer_string(b, at[0], key);
	gt_flatbuffer_string(b, at[1], value);
}

int gt_arrow_schema(const struct gt_trace_table *table, struct gt_out *out, struct gt_err *err)
{
	enum { ENDIANNESS, COLUMNS, METADATA, FIELDS };
	static const uint8_t sizes[FIELDS] = { 2, 4, 4 };
	struct gt_buf b = { 0 };
	size_t at[FIELDS], list;
	int rc;

	gt_flatbuffer_table(&b, begin_message(&b, SCHEMA, 0), sizes, FIELDS, at);
	list = gt_flatbuffer_references(&b, at[COLUMNS], table->ncolumns);
	for (unsigned i = 0; i < table->ncolumns; i++)
		put_field(&b, list + 4 * i, &table->columns[i]);
	put_metadata(&b, at[METADATA], "table_name", table->name);
	rc = put_message(&b, out, err);
	gt_buf_release(&b);
	return rc;
}

/* ---- record batches ---- */

static size_t padded(size_t n) { return (n + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1); }

static void pad(struct gt_out *out, size_t n)
{
	static const char zeros[ALIGNMENT];

	gt_out_add(out, zeros, padded(n) - n);
}

/* How many bytes the buffers of a column have: validity, then values, or offsets and bytes. */
struct sizes {
	uint64_t nulls, buffers[3];
	unsigned n;
};

static struct sizes measure(const struct gt_table_batch *b, unsigned column)
{
	const int64_t *v = b->columns[column];
	bool is_text = b->table->columns[column].type == GT_COLUMN_TEXT;
	struct sizes s = { .n = is_text ? 3 : 2 };

	for (uint32_t i = 0; i < b->n; i++)
		s.nulls += v[i] == GT_TABLE_NULL;
	s.buffers[0] = s.nulls ? (b->n + 7) / 8 : 0;
	s.buffers[1] = is_text ? 4 * (b->n + 1ul) : 8ul * b->n;
	for (uint32_t i = 0; is_text && i < b->n; i++)
		s.buffers[2] += v[i] == GT_TABLE_NULL ? 0 : b->texts[v[i]].len;
	return s;
}

static void put_validity(const int64_t *v, uint32_t n, struct gt_out *out)
{
	for (uint32_t i = 0; i < n; i += 8) {
		uint8_t byte = 0;

		for (unsigned j = 0; j < 8 && i + j < n; j++)
			byte |= (uint8_t)((v[i + j] != GT_TABLE_NULL) << j);
		gt_out_add(out, &byte, 1);
	}
	pad(out, (n + 7) / 8);
}

static void put_texts(
	const struct gt_table_batch *b, const int64_t *v, uint64_t bytes, struct gt_out *out)
{
	uint32_t at = 0;

	gt_out_add(out, &at, 4);
	for (uint32_t i = 0; i < b->n; i++) {
		at += v[i] == GT_TABLE_NULL ? 0 : b->texts[v[i]].len;
		gt_out_add(out, &at, 4);
	}
	pad(out, 4 * (b->n + 1ul));
	for (uint32_t i = 0; i < b->n; i++)
		if (v[i] != GT_TABLE_NULL)
			gt_out_add(out, b->texts[v[i]].ptr, b->texts[v[i]].len);
	pad(out, bytes);
}

static void put_column(
	const struct gt_table_batch *b, unsigned column, const struct sizes *s, struct gt_out *out)
{
	const int64_t *v = b->columns[column];

	if (s->nulls)
		put_validity(v, b->n, out);
	if (b->table->columns[column].type == GT_COLUMN_TEXT)
		put_texts(b, v, s->buffers[2], out);
	else
		gt_out_add(out, v, s->buffers[1]); /* NULLs have any value */
}

int gt_arrow_batch(const struct gt_table_batch *batch, struct gt_out *out, struct gt_err *err)
{
	enum { LENGTH, NODES, BUFFERS, FIELDS };
	static const uint8_t sizes[FIELDS] = { 8, 4, 4 };
	struct sizes columns[GT_TABLE_COLUMNS];
	size_t at[FIELDS], nbuffers = 0;
	uint64_t body = 0;
	struct gt_buf b = { 0 };
	unsigned n = batch->table->ncolumns;
	int rc;

	for (unsigned i = 0; i < n; i++) {
		columns[i] = measure(batch, i);
		nbuffers += columns[i].n;
		for (unsigned k = 0; k < columns[i].n; k++)
			body += padded(columns[i].buffers[k]);
	}
	gt_flatbuffer_table(&b, begin_message(&b, RECORD_BATCH, body), sizes, FIELDS, at);
	gt_flatbuffer_set(&b, at[LENGTH], batch->n, 8);
	gt_flatbuffer_vector(&b, at[NODES], n, 8);
	for (unsigned i = 0; i < n; i++) {
		gt_flatbuffer_number(&b, batch->n, 8);
		gt_flatbuffer_number(&b, columns[i].nulls, 8);
	}
	gt_flatbuffer_vector(&b, at[BUFFERS], nbuffers, 8);
	body = 0;
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < columns[i].n; k++) {
			gt_flatbuffer_number(&b, body, 8);
			gt_flatbuffer_number(&b, columns[i].buffers[k], 8);
			body += padded(columns[i].buffers[k]);
		}
	rc = put_message(&b, out, err);
	gt_buf_release(&b);
	for (unsigned i = 0; i < n && !rc; i++)
		put_column(batch, i, &columns[i], out);
	return rc ? rc : out->failed;
}

int gt_arrow_end(struct gt_out *out)
{
	static const uint8_t end[8] = { 0xff, 0xff, 0xff, 0xff };

	gt_out_add(out, end, sizeof(end));
	return out->failed;
}
