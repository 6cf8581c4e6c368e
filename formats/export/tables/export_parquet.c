/* Parquet: a folder with one file for each table. */
#include "formats/export/tables/parquet_file.h"
#include "formats/export/tables/table_folder.h"

struct parquet_export {
	struct gt_table_folder folder;
	struct gt_parquet *files[GT_TRACE_TABLES_MAX];
};

static int put_batch(void *arg, const struct gt_table_batch *batch, struct gt_err *err)
{
	struct parquet_export *x = arg;
	struct gt_parquet **file = &x->files[batch->number];
	struct gt_out *out;

	if (!*file) {
		out = gt_table_folder_file(&x->folder, batch->number, err);
		if (!out)
			return err->code;
		*file = gt_parquet_open(batch->table, out);
		if (!*file)
			return gt_err_set(err, -ENOMEM, "out of memory");
	}
	return gt_parquet_put(*file, batch, err);
}

static int parquet_export_to(struct gt_reader *r, const struct gt_export_options *opt,
	const char *path, bool replace, struct gt_err *err)
{
	struct parquet_export x = { .files = { NULL } };
	int rc = gt_table_folder_open(&x.folder, path, "parquet", replace, err);

	if (!rc)
		rc = gt_trace_tables_write(r, opt, put_batch, &x, err);
	for (uint32_t t = 0; t < gt_trace_tables_count; t++) {
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
