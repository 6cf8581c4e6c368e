/* What fuzz targets check of an import: a failure has a text, and a trace that was written is
 * complete, with its rows in order. */
#ifndef FUZZ_READ_BACK_H
#define FUZZ_READ_BACK_H
#include <stdlib.h>
#include <unistd.h>
#include "formats/import/importers.h"

static void read_back(int fd)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_reader *r = gt_reader_open_fd(fd, &err);
	struct gt_iter *it = r ? gt_iter_open(r, &(struct gt_filter){ .args = true }, &err) : NULL;
	int64_t last = INT64_MIN;
	struct gt_event ev;
	int more = -1;

	while (it && (more = gt_iter_next(it, &ev, &err)) > 0) {
		if (ev.row.start < last || ev.row.end < ev.row.start)
			abort();
		last = ev.row.start;
	}
	if (more < 0)
		abort(); /* a trace that the importer closed must be complete */
	gt_iter_close(it);
	gt_reader_close(r);
}

/* rc, err: of the import to w, whose file is fd. Ends both. */
static void check_import(int rc, const struct gt_err *err, struct gt_writer *w, int fd)
{
	struct gt_err why = GT_ERR_INIT;

	if (rc) {
		if (!err->code)
			abort();
		gt_writer_abandon(w);
		close(fd);
	} else if (gt_writer_close(w, &why)) {
		close(fd);
	} else {
		lseek(fd, 0, SEEK_SET);
		read_back(fd);
	}
}
#endif
