/* A SQLite database with Nsight's tables. It has no journal: the file gets its name only when it is
 * complete. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include "formats/base/buf.h"
#include "formats/export/tables/trace_tables.h"
#include "formats/io/sqlite_file.h"

struct sqlite_export {
	sqlite3 *db;
	struct sqlite_table {
		sqlite3_stmt *insert; /* NULL: the table does not exist yet */
		int64_t bound[GT_TABLE_COLUMNS];
		uint32_t is_bound; /* bit by column */
	} tables[GT_TRACE_TABLES_MAX];
};
_Static_assert(GT_TABLE_COLUMNS <= 32, "is_bound has a bit for each column");

static int create_table(struct sqlite_export *x, const struct gt_trace_table *t, struct gt_err *err)
{
	static const char *const types[] = { "INTEGER", "REAL", "TEXT" };
	struct gt_buf b = { 0 };
	int rc;

	gt_buf_printf(&b, "CREATE TABLE \"%s\" (", t->name);
	for (unsigned c = 0; c < t->ncolumns; c++)
		gt_buf_printf(&b, "%s\"%s\" %s%s%s", c ? ", " : "", t->columns[c].name,
			types[t->columns[c].type], t->columns[c].needed ? " NOT NULL" : "",
			t->columns[c].key ? " PRIMARY KEY" : "");
	gt_buf_add(&b, ")", 2);
	rc = b.failed ? gt_err_set(err, -ENOMEM, "out of memory")
		      : gt_sqlite_run(x->db, (const char *)b.data, err);
	gt_buf_release(&b);
	return rc;
}

static int prepare_insert(struct sqlite_export *x, const struct gt_trace_table *t,
	sqlite3_stmt **insert, struct gt_err *err)
{
	struct gt_buf b = { 0 };
	int rc;

	gt_buf_printf(&b, "INSERT INTO \"%s\" VALUES (", t->name);
	for (unsigned c = 0; c < t->ncolumns; c++)
		gt_buf_str(&b, c ? ",?" : "?");
	gt_buf_add(&b, ")", 2);
	rc = b.failed ? SQLITE_NOMEM
		      : sqlite3_prepare_v3(x->db, (const char *)b.data, -1,
				SQLITE_PREPARE_PERSISTENT, insert, NULL);
	gt_buf_release(&b);
	return rc ? gt_sqlite_error(x->db, rc, err) : 0;
}

/* A value that is the same as in the row before stays bound. */
static int bind_value(struct sqlite_table *t, unsigned c, enum gt_column_type type,
	const struct gt_table_batch *b, int64_t v)
{
	const struct gt_string *s;
	double d;

	if (t->is_bound >> c & 1 && t->bound[c] == v)
		return SQLITE_OK;
	t->bound[c] = v;
	t->is_bound |= type == GT_COLUMN_TEXT ? 0 : 1u << c; /* texts change with the batch */
	if (v == GT_TABLE_NULL)
		return sqlite3_bind_null(t->insert, (int)c + 1);
	if (type == GT_COLUMN_INT)
		return sqlite3_bind_int64(t->insert, (int)c + 1, v);
	if (type == GT_COLUMN_REAL) {
		memcpy(&d, &v, sizeof(d));
		return sqlite3_bind_double(t->insert, (int)c + 1, d);
	}
	s = &b->texts[v];
	return sqlite3_bind_text(t->insert, (int)c + 1, s->ptr, (int)s->len, SQLITE_STATIC);
}

static int open_table(struct sqlite_export *x, uint32_t table, struct gt_err *err)
{
	const struct gt_trace_table *t = &gt_trace_tables[table];

	return create_table(x, t, err) ?: prepare_insert(x, t, &x->tables[table].insert, err);
}

static int put_batch(void *arg, const struct gt_table_batch *b, struct gt_err *err)
{
	struct sqlite_export *x = arg;
	struct sqlite_table *t = &x->tables[b->number];
	int rc = 0;

	if (!t->insert)
		rc = open_table(x, b->number, err);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < b->n; i++) {
		for (unsigned c = 0; c < b->table->ncolumns && !rc; c++)
			rc = bind_value(t, c, (enum gt_column_type)b->table->columns[c].type, b,
				b->columns[c][i]);
		if (!rc && sqlite3_step(t->insert) != SQLITE_DONE)
			rc = sqlite3_errcode(x->db) ?: SQLITE_ERROR;
		sqlite3_reset(t->insert);
		if (rc)
			return gt_sqlite_error(x->db, rc, err);
	}
	return 0;
}

/* 0 or negative: SQLite reads pages that it has written, so the output must be a file that can be
 * read. */
static int check_file(int fd, struct gt_err *err)
{
	struct stat st;

	if (fd < 0)
		return fd == -EINVAL
			? gt_err_set(err, fd,
				  "a database cannot be compressed: choose a name without .gz")
			: fd;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDWR)
		return gt_err_set(err, -ESPIPE, "a database is no stream: give a file with -o");
	return 0;
}

static int sqlite_export(struct gt_reader *r, const struct gt_export_options *opt,
	struct gt_out *out, struct gt_err *err)
{
	struct sqlite_export x = { .db = NULL };
	int rc = check_file(gt_out_fd(out), err), closed;

	if (rc)
		return rc;
	x.db = gt_sqlite_open(gt_out_fd(out), true, err);
	if (!x.db)
		return err->code;
	rc = gt_sqlite_run(x.db,
		"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA page_size = 32768;"
		"PRAGMA cache_size = -16384; BEGIN",
		err);
	if (!rc)
		rc = gt_trace_tables_write(r, opt, put_batch, &x, err);
	for (uint32_t t = 0; t < gt_trace_tables_count && !rc; t++)
		if (opt->tables >> t & 1 && !x.tables[t].insert)
			rc = open_table(&x, t, err);
	if (!rc)
		rc = gt_sqlite_run(x.db, "COMMIT", err);
	for (unsigned t = 0; t < GT_TRACE_TABLES_MAX; t++)
		sqlite3_finalize(x.tables[t].insert);
	closed = sqlite3_close(x.db);
	return rc ? rc : closed ? gt_sqlite_error(NULL, closed, err) : 0;
}

const struct gt_exporter gt_export_sqlite = {
	.name = "sqlite",
	.suffix = "sqlite",
	.help = "a SQLite database with Nsight's tables and columns",
	.takes = GT_TAKES_TABLES,
	.needs_file = true,
	.export = sqlite_export,
};
