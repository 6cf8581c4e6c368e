/* Arbitrary bytes as a Parquet file: all values of all columns are read. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "formats/import/parquet/parquet_in.h"

/* Uses each byte, so that a sanitizer finds one that is not there. */
static void use(const struct gt_parquet_column *c, int n)
{
	volatile uint64_t sum = 0;

	for (int i = 0; i < n; i++) {
		if (!c->numbers || (c->nulls && c->nulls[i]))
			continue;
		if (!gt_parquet_is_text(c))
			sum += (uint64_t)c->numbers[i];
		for (size_t b = 0; gt_parquet_is_text(c) && b < c->texts[i].len; b++)
			sum += (uint8_t)c->texts[i].ptr[b];
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gt_err err = GT_ERR_INIT;
	int fd = memfd_create("fuzz", MFD_CLOEXEC), n = 0;
	struct gt_parquet_column *c = NULL;
	struct gt_parquet_in *r = NULL;
	unsigned columns = 0;

	if (fd >= 0 && write(fd, data, size) == (ssize_t)size)
		r = gt_parquet_in_open(fd, &err);
	if (r)
		c = gt_parquet_in_columns(r, &columns);
	for (unsigned i = 0; i < columns; i++)
		if (gt_parquet_in_select(r, i))
			err = (struct gt_err)GT_ERR_INIT;
	while (r && (n = gt_parquet_in_next(r)) > 0)
		for (unsigned i = 0; i < columns; i++)
			use(&c[i], n);
	if ((!r || n < 0) && !err.code)
		abort(); /* a failure must have an error text */
	gt_parquet_in_close(r);
	if (fd >= 0)
		close(fd);
	return 0;
}
