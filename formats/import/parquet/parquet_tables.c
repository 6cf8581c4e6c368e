/* https://www.sqlite.org/vtab.html. SQLite's texts for errors have no code and no offset, so the
 * error of a scan is also in gt_parquet_tables.err. */
#define _GNU_SOURCE
#include "formats/import/parquet/parquet_tables.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "formats/base/buf.h"
#include "formats/import/parquet/parquet_in.h"
#include "formats/io/sqlite_file.h"

#define LATER_COLUMNS 63 /* SQLite has one bit for all columns from this one on */

struct table {
	sqlite3_vtab base;
	struct gt_parquet_tables *tables;
	char name[]; /* of the file in the folder */
};
struct scan {
	sqlite3_vtab_cursor base;
	int fd; /* that this scan opened, or -1 */
	struct gt_parquet_in *in;
	struct gt_parquet_column *columns;
	unsigned ncolumns;
	int row, rows; /* in the batch; of it */
	sqlite3_int64 before;
};

/* ---- files ---- */

/* err names the file of a folder: the user named only the folder. */
static void name_file(const struct gt_parquet_tables *t, const char *name, struct gt_err *err)
{
	struct gt_err old = *err;

	if (t->folder < 0)
		return;
	*err = (struct gt_err)GT_ERR_INIT;
	if (old.offset == GT_NO_OFFSET)
		gt_err_set(err, old.code, "%s: %s", name, old.text);
	else
		gt_err_set(err, old.code, "%s: byte %llu: %s", name, (unsigned long long)old.offset,
			old.text);
}

/* Opens the file of a table. *fd: the descriptor to close after it, or -1. */
static struct gt_parquet_in *open_file(struct gt_parquet_tables *t, const char *name, int *fd)
{
	struct gt_parquet_in *in = NULL;

	t->err = (struct gt_err)GT_ERR_INIT;
	*fd = -1;
	if (t->folder >= 0) {
		/* O_NONBLOCK: a pipe does not wait for its writer */
		*fd = openat(t->folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (*fd < 0)
			gt_err_set(&t->err, -errno, "%s", strerror(errno));
	}
	if (!t->err.code)
		in = gt_parquet_in_open(t->folder >= 0 ? *fd : t->file, &t->err);
	if (in)
		return in;
	name_file(t, name, &t->err);
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	return NULL;
}

/* ---- tables ---- */

static int declare(struct gt_parquet_in *in, sqlite3 *db, char **error)
{
	struct gt_buf b = { 0 };
	unsigned n;
	const struct gt_parquet_column *c = gt_parquet_in_columns(in, &n);
	int rc = SQLITE_NOMEM;

	/* a table needs a column */
	gt_buf_str(&b, n ? "CREATE TABLE x(" : "CREATE TABLE x(nothing");
	for (unsigned i = 0; i < n; i++) {
		char *name = sqlite3_mprintf("%s\"%w\" %s", i ? ", " : "", c[i].name,
			gt_parquet_is_text(&c[i])           ? "TEXT"
				: gt_parquet_is_real(&c[i]) ? "REAL"
							    : "INTEGER");

		b.failed |= !name;
		gt_buf_str(&b, name ? name : "");
		sqlite3_free(name);
	}
	gt_buf_add(&b, ")", 2);
	if (!b.failed)
		rc = sqlite3_declare_vtab(db, (const char *)b.data);
	if (rc && rc != SQLITE_NOMEM)
		*error = sqlite3_mprintf("%s", sqlite3_errmsg(db));
	gt_buf_release(&b);
	return rc;
}

static int table_connect(
	sqlite3 *db, void *arg, int argc, const char *const *argv, sqlite3_vtab **to, char **error)
{
	struct gt_parquet_tables *tables = arg;
	size_t size = strlen(argv[2]) + sizeof(GT_PARQUET_SUFFIX);
	struct table *t = calloc(1, sizeof(*t) + size);
	struct gt_parquet_in *in;
	int fd, rc;

	if (!t)
		return SQLITE_NOMEM;
	t->tables = tables;
	snprintf(t->name, size, "%s" GT_PARQUET_SUFFIX, argv[2]);
	in = open_file(tables, t->name, &fd);
	rc = in ? declare(in, db, error) : SQLITE_ERROR;
	if (rc) {
		free(t);
	} else {
		tables->nested += gt_parquet_in_nested(in);
		*to = &t->base;
	}
	gt_parquet_in_close(in);
	if (fd >= 0)
		close(fd);
	return rc;
}

static int table_disconnect(sqlite3_vtab *v)
{
	free(v);
	return SQLITE_OK;
}

/* The plan is a full scan; its text has the columns that the statement needs. */
static int table_plan(sqlite3_vtab *v, sqlite3_index_info *plan)
{
	plan->idxStr = sqlite3_mprintf("%llx", plan->colUsed);
	plan->needToFreeIdxStr = 1;
	plan->estimatedCost = 1e9;
	return plan->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* ---- scans ---- */

static int fail(struct scan *s)
{
	struct table *t = (struct table *)s->base.pVtab;

	sqlite3_free(t->base.zErrMsg);
	t->base.zErrMsg = sqlite3_mprintf("%s", t->tables->err.text);
	return SQLITE_ERROR;
}

static void close_file(struct scan *s)
{
	gt_parquet_in_close(s->in);
	s->in = NULL;
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

static int scan_open(sqlite3_vtab *v, sqlite3_vtab_cursor **to)
{
	struct scan *s = calloc(1, sizeof(*s));

	if (!s)
		return SQLITE_NOMEM;
	s->fd = -1;
	*to = &s->base;
	return SQLITE_OK;
}

static int scan_close(sqlite3_vtab_cursor *c)
{
	close_file((struct scan *)c);
	free(c);
	return SQLITE_OK;
}

static int next_batch(struct scan *s)
{
	struct table *t = (struct table *)s->base.pVtab;
	struct gt_err *err = &t->tables->err;

	s->before += s->rows;
	s->row = 0;
	s->rows = gt_parquet_in_next(s->in);
	if (s->rows >= 0)
		return SQLITE_OK;
	s->rows = 0;
	name_file(t->tables, t->name, err);
	return fail(s);
}

static int scan_begin(
	sqlite3_vtab_cursor *c, int number, const char *used, int argc, sqlite3_value **argv)
{
	struct scan *s = (struct scan *)c;
	struct table *t = (struct table *)c->pVtab;
	unsigned long long columns = strtoull(used ? used : "", NULL, 16);

	close_file(s);
	s->before = s->rows = 0;
	s->in = open_file(t->tables, t->name, &s->fd);
	if (!s->in)
		return fail(s);
	s->columns = gt_parquet_in_columns(s->in, &s->ncolumns);
	for (unsigned i = 0; i < s->ncolumns; i++)
		if (columns >> (i < LATER_COLUMNS ? i : LATER_COLUMNS) & 1 &&
			gt_parquet_in_select(s->in, i)) {
			name_file(t->tables, t->name, &t->tables->err);
			return fail(s);
		}
	return next_batch(s);
}

static int scan_next(sqlite3_vtab_cursor *c)
{
	struct scan *s = (struct scan *)c;

	return ++s->row < s->rows ? SQLITE_OK : next_batch(s);
}

static int scan_is_over(sqlite3_vtab_cursor *c) { return !((struct scan *)c)->rows; }

static int scan_column(sqlite3_vtab_cursor *cursor, sqlite3_context *to, int i)
{
	const struct scan *s = (struct scan *)cursor;
	const struct gt_parquet_column *c = &s->columns[i];
	const struct gt_parquet_text *text;
	double d;

	if ((unsigned)i >= s->ncolumns || !c->numbers || (c->nulls && c->nulls[s->row]))
		return SQLITE_OK; /* NULL */
	if (gt_parquet_is_text(c)) {
		text = &c->texts[s->row];
		if (text->len > INT_MAX)
			sqlite3_result_error_toobig(to);
		else /* it stays where it is until the next row */
			sqlite3_result_text(to, text->ptr, (int)text->len, SQLITE_STATIC);
	} else if (gt_parquet_is_real(c)) {
		memcpy(&d, &c->numbers[s->row], sizeof(d));
		sqlite3_result_double(to, d);
	} else {
		sqlite3_result_int64(to, c->numbers[s->row]);
	}
	return SQLITE_OK;
}

static int scan_row(sqlite3_vtab_cursor *c, sqlite3_int64 *row)
{
	const struct scan *s = (struct scan *)c;

	*row = s->before + s->row;
	return SQLITE_OK;
}

/* ---- the database ---- */

static const sqlite3_module module = {
	.iVersion = 1,
	.xCreate = table_connect,
	.xConnect = table_connect,
	.xBestIndex = table_plan,
	.xDisconnect = table_disconnect,
	.xDestroy = table_disconnect,
	.xOpen = scan_open,
	.xClose = scan_close,
	.xFilter = scan_begin,
	.xNext = scan_next,
	.xEof = scan_is_over,
	.xColumn = scan_column,
	.xRowid = scan_row,
};

int gt_parquet_tables_open(struct gt_parquet_tables *t, struct gt_err *err)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
	int rc = sqlite3_open_v2(":memory:", &t->db, flags, NULL);

	t->nested = 0;
	if (!rc)
		rc = sqlite3_create_module(t->db, "parquet", &module, t);
	return rc ? gt_sqlite_error(t->db, rc, err) : 0;
}

int gt_parquet_tables_add(struct gt_parquet_tables *t, const char *name, struct gt_err *err)
{
	char *sql = sqlite3_mprintf("CREATE VIRTUAL TABLE \"%w\" USING parquet", name);
	int rc;

	t->err = (struct gt_err)GT_ERR_INIT;
	rc = sql ? gt_sqlite_run(t->db, sql, err) : gt_err_set(err, -ENOMEM, "out of memory");
	sqlite3_free(sql);
	if (rc && t->err.code)
		*err = t->err;
	return rc ? err->code : 0;
}

void gt_parquet_tables_close(struct gt_parquet_tables *t) { sqlite3_close(t->db); }
