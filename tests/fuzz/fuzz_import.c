/* Arbitrary bytes for every importer, or for the one that the environment variable GT_IMPORTER
 * names (make fuzz runs each with its own corpus). The written trace is read back: its rows must be
 * in order. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "formats/import/importers.h"
#include "formats/io/stream_in.h"

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

static void import(const struct gt_importer *importer, const uint8_t *data, size_t size)
{
	struct gt_writer_options opt = { .level = 1, .host = "", .boot_id = "" };
	struct gt_err err = GT_ERR_INIT;
	struct gt_in *in = gt_in_memory(data, size, &err);
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct gt_writer *w = in ? gt_writer_open(dup(fd), &opt, &err) : NULL;

	if (w && importer->import(in, w, &err)) {
		if (!err.code)
			abort(); /* a failure must have an error text */
		gt_writer_abandon(w);
	} else if (w && !gt_writer_close(w, &err)) {
		lseek(fd, 0, SEEK_SET);
		read_back(fd);
		fd = -1;
	}
	if (fd >= 0)
		close(fd);
	gt_in_close(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *only = getenv("GT_IMPORTER");

	for (const struct gt_importer *const *i = gt_importers; *i; i++) {
		if (!(*i)->import || (only && strcmp(only, (*i)->name)))
			continue;
		(*i)->sniff((const char *)data, size);
		import(*i, data, size);
	}
	return 0;
}
