/* Arbitrary bytes as a trace's metadata: two blocks of JSON, split at the first NUL, in an
 * otherwise valid file. The reader merges them, or reports that they are damaged. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "formats/trace/meta.h"
#include "formats/trace/read/reader.h"
#include "formats/trace/wire.h"
#include "formats/trace/write/writer.h"

static void put_block(int fd, const uint8_t *content, size_t n)
{
	struct gt_wire_block head = { .magic = GT_WIRE_BLOCK_MAGIC,
		.size = sizeof(head),
		.kind = GT_W_META,
		.rows = 1,
		.epoch = 1,
		.track = GT_NONE,
		.bytes = (uint32_t)n };
	struct gt_wire_skip skip = { GT_WIRE_SKIP_MAGIC, sizeof(head) };
	ZSTD_CCtx *z = ZSTD_createCCtx();
	size_t room = ZSTD_compressBound(n);
	uint8_t *to = malloc(room);

	ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
	head.zbytes = (uint32_t)ZSTD_compress2(z, to, room, content, n);
	head.crc = gt_crc(&head, offsetof(struct gt_wire_block, crc));
	if (write(fd, &skip, sizeof(skip)) < 0 || write(fd, &head, sizeof(head)) < 0 ||
		write(fd, to, head.zbytes) < 0)
		abort();
	free(to);
	ZSTD_freeCCtx(z);
}

static int count_key(void *arg, const char *key, const char *value)
{
	*(size_t *)arg += strlen(key) + strlen(value);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data, 0, size) : NULL;
	size_t first = end ? (size_t)(end - data) : size, sum = 0;
	struct gt_writer *w;
	struct gt_reader *r;
	int fd;

	if (!size || size > GT_BLOCK_BYTES || (fd = memfd_create("fuzz", MFD_CLOEXEC)) < 0)
		return 0;
	w = gt_writer_open(dup(fd), &(struct gt_writer_options){ .rows_sorted = true }, NULL);
	gt_writer_epoch(w, 1, NULL);
	gt_writer_abandon(w);
	put_block(fd, data, first);
	if (end)
		put_block(fd, end + 1, size - first - 1);
	r = gt_reader_open_fd(fd, NULL);
	if (r)
		gt_meta_each(gt_reader_segment(r, 0), count_key, &sum);
	gt_reader_close(r);
	return 0;
}
