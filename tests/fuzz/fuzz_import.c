/* Arbitrary bytes for every importer, or for the one that the environment variable GT_IMPORTER
 * names (make fuzz runs each with its own corpus). The written trace is read back: its rows must be
 * in order. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "formats/io/stream_in.h"
#include "tests/fuzz/read_back.h"

static void import(const struct gt_importer *importer, const uint8_t *data, size_t size)
{
	struct gt_writer_options opt = { .level = 1, .host = "", .boot_id = "" };
	struct gt_err err = GT_ERR_INIT;
	struct gt_in *in = gt_in_memory(data, size, &err);
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct gt_writer *w = in ? gt_writer_open(dup(fd), &opt, &err) : NULL;

	if (w)
		check_import(importer->import(in, w, &err), &err, w, fd);
	else
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
