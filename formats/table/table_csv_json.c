/* Tables for programs, as csv, tsv and json: all rows and columns, numbers in ns and bytes. */
#include "formats/table/table_internal.h"

#include <stdlib.h>
#include <string.h>
#include "formats/io/separated_values.h"
#include "formats/text/printable.h"
#include "formats/table/row_writer.h"

static void put_json(struct gt_out *out, const char *s) { gt_out_json(out, s, strlen(s)); }

static const struct gt_row_format csv = { gt_out_csv, "", ",", "", "\r\n", false, false },
				  tsv = { gt_out_tsv, "", "\t", "", "\n", false, false },
				  json = { put_json, "null", ", ", "\n      {", "}", true, false };

/* Data are for JSON. */
static bool has_column(const struct gt_table *t, unsigned i, const struct gt_row_format *format)
{
	return format->keys || t->columns[i].kind != GT_C_DATA;
}

/* ---- rows ---- */

#define CACHE_MOST (256u << 10) /* bytes of cached texts */

struct machine_rows {
	struct gt_row_writer writer;
	struct gt_text_cache cache;
	bool commas; /* between rows: json */
	uint64_t n;
};

static int put_row(struct machine_rows *m, const struct gt_row_at_hand *row)
{
	if (m->cache.bytes.len > CACHE_MOST)
		gt_text_cache_clear(&m->cache);
	if (m->commas && m->n++) {
		*gt_out_reserve(m->writer.out, 1) = ',';
		m->writer.out->len++;
	}
	return gt_row_writer_put(&m->writer, row) ? 0 : -ENOMEM;
}

/* The stored rows, then those of the source. 0 or negative. */
static int put_all(struct machine_rows *m, struct gt_table *t, struct gt_err *err)
{
	struct gt_row_at_hand row;
	int more = 0;

	for (unsigned i = 0; !more && i < t->nrows; i++)
		more = put_row(m, &(struct gt_row_at_hand){ (struct gt_cell *)gt_row_of(t, i), 0 });
	while (!more && !m->writer.out->failed && (more = gt_table_pull(t, &row, err)) > 0)
		more = put_row(m, &row);
	return more;
}

static int put_rows(struct gt_table *t, const struct gt_row_format *format, struct gt_out *out,
	struct gt_err *err)
{
	struct machine_rows m = { .commas = format == &json };
	struct gt_row_column *columns = calloc(t->ncolumns + 1ul, sizeof(*columns));
	unsigned n = 0;
	int rc, failed;

	gt_text_cache_init(&m.cache, format->spell);
	rc = gt_row_writer_open(&m.writer, t, format, &m.cache);
	m.writer.out = out;
	rc = rc || columns ? rc : -ENOMEM;
	for (unsigned i = 0; !rc && i < t->ncolumns; i++)
		if (has_column(t, i, format))
			columns[n++].column = i;
	if (!rc) {
		gt_row_writer_set_columns(&m.writer, columns, n);
		rc = put_all(&m, t, err);
	}
	failed = gt_row_writer_close(&m.writer);
	rc = rc ? rc : failed ? failed : m.cache.bytes.failed;
	gt_text_cache_release(&m.cache);
	free(columns);
	return rc;
}

/* ---- tables ---- */

static int separated_table(struct gt_out *out, struct gt_table *t,
	const struct gt_row_format *format, struct gt_err *err)
{
	const char *separator = "";

	for (unsigned i = 0; i < t->ncolumns; i++) {
		if (!has_column(t, i, format))
			continue;
		gt_out_str(out, separator);
		format->spell(out, t->columns[i].key);
		separator = format->separator;
	}
	gt_out_str(out, format->end);
	return put_rows(t, format, out, err);
}

int gt_print_separated(struct gt_table *const *tables, unsigned n, const char *label,
	struct gt_out *out, bool tabs, struct gt_err *err)
{
	const struct gt_row_format *format = tabs ? &tsv : &csv;
	char *name = label ? gt_printable(label, 0) : NULL;
	int rc = 0;

	for (unsigned k = 0; !rc && k < n; k++) {
		gt_out_str(out, k ? format->end : "");
		if (n > 1 || label)
			gt_out_printf(out, "# %s%s%s%s", tables[k]->name, name ? " " : "",
				name ? name : "", format->end);
		rc = separated_table(out, tables[k], format, err);
	}
	free(name);
	return rc;
}

static int json_table(struct gt_out *out, struct gt_table *t, struct gt_err *err)
{
	static const char *const states[] = { [GT_ANSWERED] = "answered",
		[GT_FOUND] = "found",
		[GT_UNANSWERED] = "cannot answer",
		[GT_UNANSWERED_PART] = "cannot answer" };
	int rc;

	gt_out_printf(out, "  \"%s%s\": {\n    \"rows\": [", t->prefix ? t->prefix : "", t->name);
	rc = put_rows(t, &json, out, err);
	gt_out_str(out, t->nrows ? "\n    ],\n    \"columns\": [" : "],\n    \"columns\": [");
	for (unsigned i = 0; i < t->ncolumns; i++) {
		gt_out_str(out, i ? ", " : "");
		gt_out_json(out, t->columns[i].key, strlen(t->columns[i].key));
	}
	gt_out_str(out, "],\n    \"notes\": [");
	for (size_t i = 0; i < t->nnotes; i++) {
		gt_out_str(out, i ? ", " : "");
		gt_out_json(out, t->notes[i].text, strlen(t->notes[i].text));
	}
	gt_out_printf(out, "],\n    \"state\": \"%s\"\n  }", states[t->answer]);
	return rc;
}

int gt_print_json(
	struct gt_table *const *tables, unsigned n, struct gt_out *out, struct gt_err *err)
{
	int rc = 0;

	gt_out_str(out, "{\n");
	for (unsigned i = 0; !rc && i < n; i++) {
		gt_out_str(out, i ? ",\n" : "");
		rc = json_table(out, tables[i], err);
	}
	gt_out_str(out, "\n}\n");
	return rc;
}
