/* Tables as OpenMetrics text, for Prometheus, VictoriaMetrics, a node exporter's textfile
 * collector, and checks in CI:
 *
 *   # TYPE gt_budget__time_seconds gauge
 *   # UNIT gt_budget__time_seconds seconds
 *   # HELP gt_budget__time_seconds Time
 *   gt_budget__time_seconds{part="kernels"} 1.234000000
 *   # EOF
 *
 * Each column of numbers is one family, named after the table and the column; its samples are the
 * rows. Columns of texts and of ids (process, GPU, stream, step) are labels. Where labels do not
 * tell rows apart, all rows of the table also have their number as label `row`. Durations and
 * times are in seconds, shares are ratios from 0 to 1.
 *
 * The header has many texts that describe a recording. They are the labels of one family,
 * gt_header__info, whose value is 1; its figures have only `recording` and `host`. */
#include "formats/table/table_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/base/map.h"
#include "formats/text/printable.h"

static const char *const ids[] = { "pid", "tid", "device", "stream", "context", "graph", "rank",
	"recording", "step", "thread" };
static const struct {
	const char *suffix, *unit;
} units[] = {
	[GT_C_NS] = { "_ns", "seconds" },
	[GT_C_TIME] = { "_ns", "seconds" },
	[GT_C_BYTES] = { "_bytes", "bytes" },
	[GT_C_PERCENT] = { "_percent", "ratio" },
	[GT_C_REAL] = { "", NULL },
	[GT_C_FIGURE] = { "", NULL },
};

static bool is_label(const struct gt_column *c)
{
	bool drawing = !strcmp(c->key, "bar") || !strcmp(c->key, "strip");

	if (c->kind == GT_C_DATA || drawing)
		return false;
	for (size_t i = 0; c->kind == GT_C_COUNT && i < sizeof(ids) / sizeof(*ids); i++)
		if (!strcmp(c->key, ids[i]))
			return true;
	return gt_is_text(c);
}

static void put_label(struct gt_buf *to, bool first, const char *key, const char *value)
{
	bool shown;

	gt_buf_str(to, first ? "" : ",");
	gt_buf_str(to, key);
	gt_buf_str(to, "=\"");
	for (size_t n; *value; value += n) {
		n = gt_printable_char(value, &shown);
		if (*value == '"' || *value == '\\')
			gt_buf_byte(to, '\\');
		gt_buf_add(to, shown ? value : "?", shown ? n : 1);
	}
	gt_buf_str(to, "\"");
}

static bool is_header(const struct gt_table *t) { return !strcmp(t->name, "header"); }

static bool identifies_recording(const struct gt_column *c)
{
	return !strcmp(c->key, "recording") || !strcmp(c->key, "host");
}

/* The labels of a row, without its number. info: of gt_header__info. */
static void put_labels(const struct gt_table *t, unsigned row, bool info, struct gt_buf *to)
{
	const struct gt_cell *cells = gt_row_of(t, row);
	const size_t begin = to->len;
	char number[32];

	for (unsigned i = 0; i < t->ncolumns; i++) {
		const struct gt_column *c = &t->columns[i];

		if (!is_label(c) || cells[i].absent ||
			(is_header(t) && !info && !identifies_recording(c)))
			continue;
		*gt_put_i64(number, cells[i].i) = '\0';
		put_label(to, to->len == begin, c->key,
			gt_is_text(c) ? cells[i].s ? cells[i].s : "" : number);
	}
	gt_buf_byte(to, 0);
}

/* ---- the labels of all rows ---- */

struct row_labels {
	struct gt_buf text; /* of each row, with its NUL */
	size_t *at;         /* by row */
	bool numbered;      /* two rows have the same labels */
	bool info;          /* of gt_header__info */
};

static bool same_labels(const void *arg, uint32_t value, const void *key, size_t len)
{
	const struct row_labels *l = arg;

	return !strcmp((const char *)l->text.data + l->at[value], key);
}

static int make_labels(struct row_labels *l, const struct gt_table *t)
{
	struct gt_map seen = { 0 };
	int rc = 0;

	l->at = calloc(t->nrows + 1ul, sizeof(*l->at));
	for (unsigned i = 0; l->at && i < t->nrows && !l->text.failed && !rc; i++) {
		const char *text;
		uint64_t hash;

		l->at[i] = l->text.len;
		put_labels(t, i, l->info, &l->text);
		if (l->text.failed)
			break;
		text = (const char *)l->text.data + l->at[i];
		hash = gt_hash(text, strlen(text));
		if (gt_map_get(&seen, hash, same_labels, l, text, strlen(text)) != UINT32_MAX)
			l->numbered = true;
		else
			rc = gt_map_add(&seen, hash, i) ? -ENOMEM : 0;
	}
	gt_map_release(&seen);
	return !l->at || l->text.failed ? -ENOMEM : rc;
}

/* ---- families ---- */

/* gt_TABLE__COLUMN_UNIT. Two underscores: memory has peak_bytes, and memory_peak has bytes. */
static void put_name(struct gt_out *out, const struct gt_table *t, const struct gt_column *c)
{
	const char *suffix =
			   c->kind < sizeof(units) / sizeof(*units) ? units[c->kind].suffix : NULL,
		   *unit = suffix ? units[c->kind].unit : NULL;
	size_t n = strlen(c->key), cut = suffix ? strlen(suffix) : 0;

	gt_out_str(out, "gt_");
	for (const char *prefix = t->prefix ? t->prefix : ""; *prefix; prefix++)
		gt_out_add(out, *prefix == '.' ? "_" : prefix, 1);
	gt_out_str(out, t->name);
	gt_out_str(out, "__");
	if (cut && n > cut && !strcmp(c->key + n - cut, suffix))
		n -= cut;
	gt_out_add(out, c->key, n);
	if (unit && (n < strlen(unit) || strncmp(c->key + n - strlen(unit), unit, strlen(unit))))
		gt_out_printf(out, "_%s", unit);
}

/* Figures of several units in one column are as in csv: ns, bytes, percent. */
static void put_value(struct gt_out *out, const struct gt_column *column, const struct gt_cell *c)
{
	const enum gt_cell_kind kind = gt_kind_of(column, c);
	const bool mixed = column->kind == GT_C_FIGURE;
	char *p = gt_out_reserve(out, 64);

	if (!mixed && (kind == GT_C_NS || kind == GT_C_TIME))
		gt_out_commit(out, gt_put_s(p, c->i));
	else if (kind == GT_C_PERCENT)
		gt_out_printf(out, "%.*f", mixed ? 2 : 4, (double)c->i / (mixed ? 100 : 10000));
	else if (kind != GT_C_REAL)
		gt_out_commit(out, gt_put_i64(p, c->i));
	else if (isfinite(c->d))
		gt_out_printf(out, "%.17g", c->d);
	else
		gt_out_str(out, isnan(c->d) ? "NaN" : c->d > 0 ? "+Inf" : "-Inf");
}

/* Writes the labels of a row in braces, and a space. */
static void put_braces(struct gt_out *out, const struct row_labels *l, unsigned row)
{
	const char *labels = (const char *)l->text.data + l->at[row];

	if (*labels || l->numbered)
		gt_out_str(out, "{");
	gt_out_str(out, labels);
	if (l->numbered)
		gt_out_printf(out, "%srow=\"%u\"", *labels ? "," : "", row + 1);
	gt_out_str(out, *labels || l->numbered ? "} " : " ");
}

static void put_family(
	struct gt_out *out, const struct gt_table *t, unsigned column, const struct row_labels *l)
{
	const struct gt_column *c = &t->columns[column];
	const char *unit = c->kind < sizeof(units) / sizeof(*units) ? units[c->kind].unit : NULL;

	gt_out_str(out, "# TYPE ");
	put_name(out, t, c);
	gt_out_str(out, " gauge\n");
	if (unit) {
		gt_out_str(out, "# UNIT ");
		put_name(out, t, c);
		gt_out_printf(out, " %s\n", unit);
	}
	if (c->title) {
		gt_out_str(out, "# HELP ");
		put_name(out, t, c);
		gt_out_printf(out, " %s\n", c->title);
	}
	for (unsigned i = 0; i < t->nrows; i++) {
		const struct gt_cell *cell = gt_table_cell(t, i, column);

		if (cell->absent)
			continue;
		put_name(out, t, c);
		put_braces(out, l, i);
		put_value(out, c, cell);
		gt_out_str(out, "\n");
	}
}

/* A gauge whose value is 1: the type `info` would add a suffix to the name. */
static int put_info(struct gt_out *out, const struct gt_table *t)
{
	static const struct gt_column info = { "info", NULL, GT_C_COUNT };
	struct row_labels labels = { .info = true };
	int rc = make_labels(&labels, t);

	if (!rc) {
		gt_out_str(out, "# TYPE ");
		put_name(out, t, &info);
		gt_out_str(out, " gauge\n");
	}
	for (unsigned i = 0; !rc && i < t->nrows; i++) {
		put_name(out, t, &info);
		put_braces(out, &labels, i);
		gt_out_str(out, "1\n");
	}
	gt_buf_release(&labels.text);
	free(labels.at);
	return rc;
}

static int put_table(struct gt_out *out, struct gt_table *t, struct gt_err *err)
{
	struct row_labels labels = { 0 };
	struct gt_row_at_hand row;
	int rc = gt_table_store_rows(t, GT_TABLE_MOST, err);

	rc = rc ? rc : gt_table_pull(t, &row, err);
	if (rc > 0)
		return gt_err_set(err, -E2BIG,
			"--format openmetrics: %s has more than %u rows: limit it with --top",
			t->name, GT_TABLE_MOST);
	if (!rc && t->nrows && is_header(t))
		rc = put_info(out, t);
	rc = rc ? rc : make_labels(&labels, t);
	for (unsigned i = 0; !rc && t->nrows && i < t->ncolumns; i++)
		if (!gt_is_text(&t->columns[i]) && !is_label(&t->columns[i]))
			put_family(out, t, i, &labels);
	gt_buf_release(&labels.text);
	free(labels.at);
	return rc;
}

int gt_print_openmetrics(
	struct gt_table *const *tables, unsigned n, struct gt_out *out, struct gt_err *err)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < n; i++)
		rc = put_table(out, tables[i], err);
	gt_out_str(out, "# EOF\n");
	return rc;
}
