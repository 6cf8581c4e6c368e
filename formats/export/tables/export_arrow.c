/* Arrow IPC streams, one for each table, one after the other: a reader reads a stream up to its
 * end, and the next one from there. The names (StringIds) come first. As all tables are made in one
 * pass, each waits in a temporary file, unless only one is wanted. */
#include <stdlib.h>
#include <unistd.h>
#include "formats/export/tables/arrow_stream.h"
#include "formats/os/file.h"

struct arrow_export {
	struct gt_out *out;
	bool direct; /* one table: into out */
	struct arrow_table {
		bool open;
		int fd;
		struct gt_out file;
	} tables[GT_TRACE_TABLES_MAX];
};

static int open_table(struct arrow_export *x, uint32_t table, struct gt_err *err)
{
	struct arrow_table *t = &x->tables[table];
	int copy;

	if (!x->direct) {
		t->fd = gt_temporary(err);
		if (t->fd < 0)
			return t->fd;
		copy = dup(t->fd);
		if (gt_out_open_fd(&t->file, copy < 0 ? -errno : copy, "a temporary file", err)) {
			close(t->fd);
			return err->code;
		}
	}
	t->open = true;
	return gt_arrow_schema(&gt_trace_tables[table], x->direct ? x->out : &t->file, err);
}

static int put_batch(void *arg, const struct gt_table_batch *b, struct gt_err *err)
{
	struct arrow_export *x = arg;
	struct arrow_table *t = &x->tables[b->number];
	int rc = t->open ? 0 : open_table(x, b->number, err);

	return rc ? rc : gt_arrow_batch(b, x->direct ? x->out : &t->file, err);
}

/* Appends a finished stream to the output. */
static int copy_table(struct arrow_export *x, struct arrow_table *t, struct gt_err *err)
{
	int rc = gt_arrow_end(&t->file);

	if (gt_out_close(&t->file, err))
		rc = err->code;
	t->open = false;
	if (!rc)
		rc = gt_out_add_file(x->out, t->fd, err);
	close(t->fd);
	return rc ? rc : x->out->failed;
}

static int finish(struct arrow_export *x, int rc, struct gt_err *err)
{
	struct gt_err later = GT_ERR_INIT;
	uint32_t n = gt_trace_tables_count;

	for (uint32_t i = 0; i < n; i++) {
		struct arrow_table *t = &x->tables[i ? i - 1 : n - 1]; /* StringIds is the last */

		if (!t->open)
			continue;
		if (x->direct) {
			rc = rc ? rc : gt_arrow_end(x->out);
		} else if (rc) {
			gt_out_close(&t->file, err->code ? &later : err); /* a full disk */
			close(t->fd);
		} else {
			rc = copy_table(x, t, err);
		}
	}
	return rc;
}

static int arrow_export(struct gt_reader *r, const struct gt_export_options *opt,
	struct gt_out *out, struct gt_err *err)
{
	bool one = opt->tables && !(opt->tables & (opt->tables - 1));
	struct arrow_export x = { .out = out, .direct = one };
	int rc = gt_trace_tables_write(r, opt, put_batch, &x, err);

	for (uint32_t t = 0; t < gt_trace_tables_count && !rc; t++)
		if (opt->tables >> t & 1 && !x.tables[t].open)
			rc = open_table(&x, t, err);
	return finish(&x, rc, err);
}

const struct gt_exporter gt_export_arrow = {
	.name = "arrow",
	.suffix = "arrows",
	.help = "Arrow IPC streams of tables with Nsight's names and columns, one after the other",
	.takes = GT_TAKES_TABLES,
	.export = arrow_export,
};
