/* Arbitrary bytes as a trace: opened, scanned with arguments, read in time order, summaries
 * read. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/trace/read/reader.h"

static int read_columns(void *arg, unsigned worker, const struct gt_cols *c)
{
	uint64_t *sum = arg;
	uint32_t n;

	for (uint32_t i = 0; i < c->n; i++)
		*sum += (uint64_t)c->start[i] + (uint64_t)c->dur[i] +
			c->types[c->code ? c->code[i] : 0];
	for (uint32_t k = 0; k < c->ntypes; k++) {
		const uint64_t *v = gt_cols_args(c, k, 0, &n);

		for (uint32_t i = 0; v && i < n; i++)
			*sum += v[i];
	}
	return 0;
}

struct summaries {
	struct gt_reader *r;
	uint64_t sum;
};

static int check_summary(void *arg, const struct gt_summary *s)
{
	((struct summaries *)arg)->sum += s->n ? s->buckets[s->n - 1].busy : 0;
	return 0;
}

static int check_block(void *arg, const struct gt_block_info *b)
{
	struct summaries *s = arg;

	return b->kind ? 0 : gt_block_summaries(s->r, b, check_summary, s, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_filter all = { .args = true },
			 some = { .ranged = true, .from = 1000, .to = 100000, .args = true };
	struct gt_event ev;
	struct gt_reader *r;
	struct gt_iter *it;
	struct summaries summaries = { .sum = 0 };
	uint64_t sum = 0;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		return 0;
	r = gt_reader_open_fd(fd, &err);
	if (!r)
		return 0;
	gt_scan(r, &all, GT_BY_TIME, 1, read_columns, &sum, &err);
	gt_scan(r, &some, GT_ANY_ORDER, 1, read_columns, &sum, &err);
	it = gt_iter_open(r, &all, &err);
	while (it && gt_iter_next(it, &ev, &err) > 0)
		sum += ev.row.nargs ? ev.args[0] : 0;
	gt_iter_close(it);
	summaries.r = r;
	gt_each_block(r, check_block, &summaries, &err);
	gt_reader_close(r);
	return 0;
}
