/* The footer: the schema, and where the columns of each row group are. Row groups are read from it
 * one by one. */
#include "formats/import/parquet/parquet_in.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "formats/base/buf.h"
#include "formats/import/parquet/parquet_in_internal.h"
#include "formats/os/file.h"

#define MAGIC "PAR1"
#define TAIL 8u /* the length of the footer, and the magic number */
#define FOOTER_MAX (64u << 20)
#define COLUMNS_MAX 1024u

static int no_memory(struct gt_parquet_in *r)
{
	return gt_err_set(r->err, -ENOMEM, "out of memory");
}

static int bad_footer(struct gt_parquet_in *r)
{
	return gt_err_set(r->err, -EILSEQ, "the footer is damaged");
}

/* ---- the schema ---- */

struct element {
	int64_t type, length, repetition, children, converted;
	const uint8_t *name;
	size_t name_len;
};
enum { OPTIONAL = 1, REPEATED = 2 };
enum { DECIMAL = 5, TIME_MILLIS = 7, TIMESTAMP_MICROS = 10, UINT_32 = 13, INTERVAL = 21 };

static struct element read_element(struct gt_thrift_in *in)
{
	struct element e = { .type = -1, .converted = -1 };
	struct gt_thrift_field f = { 0 };

	while (gt_thrift_next(in, &f))
		switch (f.id) {
		case 1: e.type = gt_thrift_int(in, &f); break;
		case 2: e.length = gt_thrift_int(in, &f); break;
		case 3: e.repetition = gt_thrift_int(in, &f); break;
		case 4: e.name_len = gt_thrift_binary_of(in, &f, &e.name); break;
		case 5: e.children = gt_thrift_int(in, &f); break;
		case 6: e.converted = gt_thrift_int(in, &f); break;
		default: gt_thrift_skip(in, f.type);
		}
	in->bad |= !e.name || e.children < 0 || e.children > INT32_MAX || e.repetition < 0 ||
		e.repetition > REPEATED ||
		(!e.children && (e.type < 0 || e.type > GT_PARQUET_FIXED_LEN_BYTE_ARRAY)) ||
		(e.type == GT_PARQUET_FIXED_LEN_BYTE_ARRAY &&
			(e.length <= 0 || e.length > INT32_MAX));
	return e;
}

/* Why values of this type are not read as they are, or NULL. */
static const char *unreadable(const struct element *e)
{
	if (e->type == GT_PARQUET_INT96)
		return "INT96";
	if (e->converted == DECIMAL)
		return "DECIMAL";
	if (e->converted >= TIME_MILLIS && e->converted <= TIMESTAMP_MICROS)
		return "a time in ms or us";
	return e->converted == INTERVAL ? "INTERVAL" : NULL;
}

static int add_column(struct gt_parquet_in *r, const struct element *e)
{
	struct gt_parquet_column *c = &r->columns[r->ncolumns];

	if (r->ncolumns == COLUMNS_MAX)
		return gt_err_set(r->err, -E2BIG, "more than %u columns", COLUMNS_MAX);
	c->pages = calloc(1, sizeof(*c->pages));
	c->name = strndup((const char *)e->name, e->name_len);
	r->ncolumns++;
	if (!c->pages || !c->name)
		return no_memory(r);
	c->type = (uint8_t)e->type;
	c->optional = e->repetition == OPTIONAL;
	c->is_unsigned = e->converted == UINT_32;
	c->pages->leaf = r->nleaves;
	c->pages->length = e->type == GT_PARQUET_FIXED_LEN_BYTE_ARRAY ? (uint32_t)e->length : 0;
	c->pages->unreadable = unreadable(e);
	return 0;
}

/* The first element is the root, after which the tree comes depth first. */
static int read_schema(struct gt_parquet_in *r, struct gt_thrift_in *in, uint32_t n)
{
	uint64_t nested = 0; /* elements of a nested column that are still to come */
	int rc = 0;

	if (r->columns || !n)
		return bad_footer(r);
	r->columns = calloc(COLUMNS_MAX, sizeof(*r->columns));
	if (!r->columns)
		return no_memory(r);
	read_element(in);
	for (uint32_t i = 1; i < n && !rc && !in->bad; i++) {
		struct element e = read_element(in);

		if (in->bad)
			break;
		if (nested || e.children || e.repetition == REPEATED) {
			r->nested += !nested;
			nested += (uint64_t)e.children - (nested ? 1 : 0);
		} else {
			rc = add_column(r, &e);
		}
		r->nleaves += !e.children;
	}
	return rc ? rc : in->bad || nested ? bad_footer(r) : 0;
}

/* ---- other metadata ---- */

/* A key and its value; gtexport and others name the table. */
static void read_pair(struct gt_parquet_in *r, struct gt_thrift_in *in)
{
	static const char key[] = "table_name";
	const uint8_t *text[2] = { NULL, NULL };
	size_t len[2] = { 0, 0 };
	struct gt_thrift_field f = { 0 };

	while (gt_thrift_next(in, &f))
		if (f.id == 1 || f.id == 2)
			len[f.id - 1] = gt_thrift_binary_of(in, &f, &text[f.id - 1]);
		else
			gt_thrift_skip(in, f.type);
	if (!in->bad && !r->table && text[1] && len[0] == sizeof(key) - 1 &&
		!memcmp(text[0], key, len[0]))
		r->table = strndup((const char *)text[1], len[1]);
}

static int read_file_metadata(struct gt_parquet_in *r, struct gt_thrift_in *in)
{
	struct gt_thrift_field f = { 0 };
	int64_t rows = -1;
	uint32_t n;
	int rc = 0;

	while (!rc && gt_thrift_next(in, &f))
		switch (f.id) {
		case 2:
			n = gt_thrift_list_of(in, &f, GT_THRIFT_IN_STRUCT);
			rc = read_schema(r, in, n);
			break;
		case 3: rows = gt_thrift_int(in, &f); break;
		case 4:
			r->ngroups = gt_thrift_list_of(in, &f, GT_THRIFT_IN_STRUCT);
			r->groups = *in;
			for (n = 0; n < r->ngroups && !in->bad; n++)
				gt_thrift_skip(in, GT_THRIFT_IN_STRUCT);
			break;
		case 5:
			n = gt_thrift_list_of(in, &f, GT_THRIFT_IN_STRUCT);
			for (uint32_t i = 0; i < n && !in->bad; i++)
				read_pair(r, in);
			break;
		default: gt_thrift_skip(in, f.type);
		}
	r->rows = (uint64_t)rows;
	if (rc || in->bad || rows < 0 || !r->columns)
		return rc ? rc : bad_footer(r);
	if (r->rows > GT_PARQUET_ROWS &&
		(r->rows - GT_PARQUET_ROWS) / GT_PARQUET_ROWS_PER_BYTE > r->size)
		return gt_err_set(r->err, -E2BIG, "%llu rows in %llu bytes are too many",
			(unsigned long long)r->rows, (unsigned long long)r->size);
	return 0;
}

/* ---- opening ---- */

static int read_footer(struct gt_parquet_in *r)
{
	uint8_t head[4], tail[TAIL];
	struct gt_thrift_in in = { 0 };
	uint32_t len;
	int rc = r->size < sizeof(head) + TAIL
		? gt_err_set(r->err, -EILSEQ, "too short for a Parquet file")
		: 0;

	if (!rc)
		rc = gt_pread(r->fd, head, sizeof(head), 0)
			?: gt_pread(r->fd, tail, TAIL, r->size - TAIL);
	if (rc)
		return gt_err_set(r->err, rc, "cannot read the file");
	if (!memcmp(tail + 4, "PARE", 4))
		return gt_err_set(r->err, -ENOTSUP, "the Parquet file is encrypted");
	if (memcmp(head, MAGIC, 4))
		return gt_err_set(r->err, -EILSEQ, "not a Parquet file");
	if (memcmp(tail + 4, MAGIC, 4))
		return gt_err_at(r->err, r->size, -EILSEQ, "the Parquet file is cut: no footer");
	len = gt_parquet_load32(tail);
	if (len > r->size - sizeof(head) - TAIL || len > FOOTER_MAX)
		return gt_err_at(
			r->err, r->size - TAIL, -EILSEQ, "a footer of %u bytes is too long", len);
	rc = gt_parquet_block(r, &r->footer, len);
	if (!rc && (rc = gt_pread(r->fd, r->footer.data, len, r->size - TAIL - len)))
		gt_err_set(r->err, rc, "cannot read the footer");
	in.at = r->footer.data;
	in.end = in.at + len;
	rc = rc ? rc : read_file_metadata(r, &in);
	if (rc == -EILSEQ && r->err->offset == GT_NO_OFFSET && in.at)
		r->err->offset = r->size - TAIL - len + (uint64_t)(in.at - r->footer.data);
	return rc;
}

struct gt_parquet_in *gt_parquet_in_open(int fd, struct gt_err *err)
{
	struct gt_parquet_in *r = calloc(1, sizeof(*r));
	struct stat st;

	if (!r || !(r->zstd = ZSTD_createDCtx())) {
		free(r);
		gt_err_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	r->fd = fd;
	r->err = err;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		gt_err_set(err, -EINVAL, "not a regular file");
	} else {
		r->size = (uint64_t)st.st_size;
		if (!read_footer(r))
			return r;
	}
	gt_parquet_in_close(r);
	return NULL;
}

void gt_parquet_in_close(struct gt_parquet_in *r)
{
	if (!r)
		return;
	for (unsigned i = 0; i < r->ncolumns; i++) {
		struct gt_parquet_pages *p = r->columns[i].pages;

		free(r->columns[i].name);
		if (!p)
			continue;
		gt_parquet_block_release(r, &p->page);
		gt_parquet_block_release(r, &p->dictionary);
		gt_parquet_block_release(r, &p->entries);
		gt_parquet_block_release(r, &p->joined);
		free(p);
	}
	gt_parquet_block_release(r, &r->footer);
	gt_parquet_block_release(r, &r->packed);
	ZSTD_freeDCtx(r->zstd);
	free(r->columns);
	free(r->table);
	free(r);
}

struct gt_parquet_column *gt_parquet_in_columns(struct gt_parquet_in *r, unsigned *n)
{
	*n = r->ncolumns;
	return r->columns;
}

unsigned gt_parquet_in_nested(const struct gt_parquet_in *r) { return r->nested; }

const char *gt_parquet_in_table(const struct gt_parquet_in *r) { return r->table; }

int gt_parquet_in_select(struct gt_parquet_in *r, unsigned column)
{
	const struct gt_parquet_column *c = &r->columns[column];

	if (c->pages->unreadable)
		return gt_err_set(r->err, -ENOTSUP, "column %.60s: its type (%s) is not supported",
			c->name, c->pages->unreadable);
	c->pages->selected = true;
	return 0;
}

/* ---- row groups ---- */

struct chunk {
	int64_t type, codec, values, size, data, dictionary;
	bool has_metadata, elsewhere; /* elsewhere: in another file */
};

static void read_chunk_metadata(struct gt_thrift_in *in, struct chunk *k)
{
	struct gt_thrift_field f = { 0 };

	k->has_metadata = true;
	while (gt_thrift_next(in, &f))
		switch (f.id) {
		case 1: k->type = gt_thrift_int(in, &f); break;
		case 4: k->codec = gt_thrift_int(in, &f); break;
		case 5: k->values = gt_thrift_int(in, &f); break;
		case 7: k->size = gt_thrift_int(in, &f); break;
		case 9: k->data = gt_thrift_int(in, &f); break;
		case 11: k->dictionary = gt_thrift_int(in, &f); break;
		default: gt_thrift_skip(in, f.type);
		}
}

static struct chunk read_chunk(struct gt_thrift_in *in)
{
	struct chunk k = { .type = -1, .size = -1, .data = -1 };
	struct gt_thrift_field f = { 0 };

	while (gt_thrift_next(in, &f))
		if (f.id == 3 && gt_thrift_is_struct(in, &f)) {
			read_chunk_metadata(in, &k);
		} else {
			k.elsewhere |= f.id == 1;
			gt_thrift_skip(in, f.type);
		}
	return k;
}

static int begin_chunk(struct gt_parquet_in *r, struct gt_parquet_column *c, const struct chunk *k)
{
	struct gt_parquet_pages *p = c->pages;
	int64_t at = k->dictionary > 0 && k->dictionary < k->data ? k->dictionary : k->data;

	if (!k->has_metadata || k->elsewhere)
		return gt_err_set(r->err, -ENOTSUP, "column %.60s is %s", c->name,
			k->elsewhere ? "in another file" : "encrypted");
	if (k->type != c->type || k->values < 0 || k->size < 0 || at < 0 ||
		(uint64_t)at > r->size || (uint64_t)k->size > r->size - (uint64_t)at)
		return bad_footer(r);
	p->at = p->page_at = (uint64_t)at;
	p->end = p->at + (uint64_t)k->size;
	p->codec = k->codec;
	p->rows = (uint64_t)k->values;
	p->left = 0;
	p->nentries = 0;
	return 0;
}

static int read_chunks(struct gt_parquet_in *r, uint32_t n)
{
	unsigned next = 0;
	int rc = 0;

	if (n != r->nleaves)
		return bad_footer(r);
	for (uint32_t i = 0; i < n && !rc && !r->groups.bad; i++) {
		struct chunk k = read_chunk(&r->groups);
		struct gt_parquet_column *c = &r->columns[next];

		if (next == r->ncolumns || c->pages->leaf != i)
			continue;
		next++;
		if (c->pages->selected && !r->groups.bad)
			rc = begin_chunk(r, c, &k);
	}
	return rc;
}

/* All columns must have as many values as the row group has rows. */
static int check_rows(struct gt_parquet_in *r, int64_t rows)
{
	if (r->groups.bad || rows < 0 || (uint64_t)rows > r->rows - r->rows_seen)
		return bad_footer(r);
	for (unsigned i = 0; i < r->ncolumns; i++) {
		const struct gt_parquet_column *c = &r->columns[i];

		if (c->pages->selected && c->pages->rows != (uint64_t)rows)
			return gt_parquet_fail(r, c, -EILSEQ,
				"it has %llu values, its row group %lld rows",
				(unsigned long long)c->pages->rows, (long long)rows);
	}
	r->left = (uint64_t)rows;
	r->rows_seen += r->left;
	return 0;
}

static int next_group(struct gt_parquet_in *r)
{
	struct gt_thrift_field f = { 0 };
	bool has_columns = false;
	int64_t rows = -1;
	int rc = 0;

	r->ngroups--;
	while (!rc && gt_thrift_next(&r->groups, &f))
		switch (f.id) {
		case 1:
			has_columns = true;
			rc = read_chunks(r, gt_thrift_list_of(&r->groups, &f, GT_THRIFT_IN_STRUCT));
			break;
		case 3: rows = gt_thrift_int(&r->groups, &f); break;
		default: gt_thrift_skip(&r->groups, f.type);
		}
	return rc ? rc : has_columns ? check_rows(r, rows) : bad_footer(r);
}

static int fill_batch(struct gt_parquet_in *r)
{
	size_t n = r->left < GT_PARQUET_BATCH ? (size_t)r->left : GT_PARQUET_BATCH;
	int rc = 0;

	for (unsigned i = 0; i < r->ncolumns && !rc; i++) {
		struct gt_parquet_pages *p = r->columns[i].pages;

		if (!p->selected)
			continue;
		rc = gt_parquet_next_page(r, &r->columns[i]);
		n = p->left < n ? (size_t)p->left : n;
	}
	for (unsigned i = 0; i < r->ncolumns && !rc; i++)
		if (r->columns[i].pages->selected) {
			r->columns[i].numbers = r->columns[i].pages->numbers;
			r->columns[i].texts = r->columns[i].pages->texts;
			rc = gt_parquet_values_read(r, &r->columns[i], n);
		}
	r->left -= n;
	return rc ? rc : (int)n;
}

int gt_parquet_in_next(struct gt_parquet_in *r)
{
	int rc = 0;

	while (!r->left && r->ngroups && !rc)
		rc = next_group(r);
	if (rc)
		return rc;
	if (!r->left && r->rows_seen != r->rows)
		return gt_err_set(r->err, -EILSEQ,
			"the footer counts %llu rows, its row groups %llu",
			(unsigned long long)r->rows, (unsigned long long)r->rows_seen);
	return r->left ? fill_batch(r) : 0;
}
