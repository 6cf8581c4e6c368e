/* Parquet: a folder with one file for each table. */
#include "formats/export/tables/parquet_file.h"
#include "formats/export/tables/table_folder.h"

struct parquet_export {
	struct gt_table_folder folder;
	struct gt_parquet *files[GT_TRACE_TABLES_MAX];
};

static int open_table(struct parquet_export *x, uint32_t table, struct gt_err *err)
{
	struct gt_out *out = gt_table_folder_file(&x->folder, table, err);

	if (!out)
		return err->code;
	x->files[table] = gt_parquet_open(&gt_trace_tables[table], out);
	return x->files[table] ? 0 : gt_err_set(err, -ENOMEM, "out of memory");
}

static int put_batch(void *arg, const struct gt_table_batch *batch, struct gt_err *err)
{
	struct parquet_export *x = arg;
	int rc = x->files[batch->number] ? 0 : open_table(x, batch->number, err);

	return rc ? rc : gt_parquet_put(x->files[batch->number], batch, err);
}

static int parquet_export_to(struct gt_reader *r, const struct gt_export_options *opt,
	const char *path, bool replace, struct gt_err *err)
{
	struct parquet_export x = { .files = { NULL } };
	int rc = gt_table_folder_open(&x.folder, path, "parquet", replace, !opt->tables, err);

	x.folder.most = opt->max_size;
	if (!rc)
		rc = gt_trace_tables_write(r, opt, put_batch, &x, err);
	for (uint32_t t = 0; t < gt_trace_tables_count; t++) {
		if (!rc && opt->tables >> t & 1 && !x.files[t])
			rc = open_table(&x, t, err);
		if (rc)
			gt_parquet_abandon(x.files[t]);
		else
			rc = gt_parquet_close(x.files[t], err);
	}
	return gt_table_folder_close(&x.folder, rc, err);
}

const struct gt_exporter gt_export_parquet = {
	.name = "parquet",
	.suffix = "parquet",
	.help = "a folder of Parquet files: tables with Nsight's names and columns",
	.takes = GT_TAKES_TABLES,
	.export_to = parquet_export_to,
};
