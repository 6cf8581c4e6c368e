/* Arbitrary bytes as the content of two blocks of rows, in an otherwise valid file: the rows in
 * time order and the rows by column must be the same, or damage must be noted. The first byte
 * selects the kind, the next two the number of rows. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "formats/trace/read/reader.h"
#include "formats/trace/wire.h"
#include "formats/trace/write/writer.h"

static int sum_cols(void *arg, unsigned worker, const struct gt_cols *c)
{
	uint64_t *sum = arg;
	uint32_t n;

	for (uint32_t i = 0; i < c->n; i++)
		*sum += (uint64_t)c->start[i] * 3 + (uint64_t)c->dur[i] * 5 +
			c->types[c->code ? c->code[i] : 0] * 7ull +
			(c->depth ? c->depth[i] : 0) * 11ull + c->track * 13ull + 1;
	for (uint32_t i = 0; i < c->nret; i++)
		*sum += (uint32_t)c->ret[i] * 17ull;
	for (uint32_t k = 0; k < c->ntypes; k++)
		for (unsigned f = 0;
			f < (c->types[k] == GT_NONE ? 2 : c->seg->types[c->types[k]].nfields);
			f++) {
			const uint64_t *v = gt_cols_args(c, k, f, &n);

			for (uint32_t i = 0; i < n; i++)
				*sum += v[i] * (f + 19);
		}
	return 0;
}

static uint64_t sum_events(struct gt_reader *r)
{
	struct gt_filter all = { .args = true };
	struct gt_iter *it = gt_iter_open(r, &all, NULL);
	struct gt_event ev;
	uint64_t sum = 0;

	while (it && gt_iter_next(it, &ev, NULL) > 0) {
		sum += (uint64_t)ev.row.start * 3 +
			((uint64_t)ev.row.end - (uint64_t)ev.row.start) * 5 + ev.row.type * 7ull +
			ev.row.depth * 11ull + ev.track * 13ull + (uint32_t)ev.row.ret * 17ull + 1;
		for (unsigned f = 0; f < ev.row.nargs; f++)
			sum += ev.args[f] * (f + 19);
	}
	gt_iter_close(it);
	return sum;
}

/* A trace with three tracks and four types, and no rows. */
static void begin(int fd)
{
	struct gt_writer *w =
		gt_writer_open(dup(fd), &(struct gt_writer_options){ .rows_sorted = true }, NULL);
	struct gt_track track = {
		.parent = GT_NONE, .name = GT_NONE, .source = GT_NONE, .kind = GT_TRACK_PROCESS
	};
	uint32_t name = gt_writer_string(w, "name");
	struct gt_field fields[3] = { { name, GT_F_U64, GT_R_BYTES },
		{ name, GT_F_STR, GT_R_KERNEL }, { name, GT_F_HEX, GT_R_ADDR } };

	for (uint8_t i = 0; i < 4; i++)
		gt_writer_type(w,
			&(struct gt_type){ .name = name, .op = i, .nfields = i, .fields = fields });
	for (int i = 0; i < 3; i++) {
		track.kind = i ? GT_TRACK_THREAD : GT_TRACK_PROCESS;
		gt_writer_track(w, &track);
		track.parent = 0;
	}
	gt_writer_epoch(w, 1, NULL);
	gt_writer_abandon(w);
}

static void put_block(int fd, uint8_t kind, uint32_t rows, const uint8_t *content, size_t n)
{
	struct gt_wire_block head = { .magic = GT_WIRE_BLOCK_MAGIC,
		.size = sizeof(head),
		.kind = GT_W_ROWS,
		.sub = kind,
		.epoch = 1,
		.rows = rows,
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gt_filter all = { .args = true };
	struct gt_reader *r;
	uint64_t by_time, by_cols = 0;
	size_t damaged;
	int fd;

	if (size < 4 || size > GT_BLOCK_BYTES || (fd = memfd_create("fuzz", MFD_CLOEXEC)) < 0)
		return 0;
	begin(fd);
	for (int i = 0; i < 2; i++)
		put_block(fd, (uint8_t)(GT_CALL + data[0] % (GT_KINDS - 1)),
			data[1] | (uint32_t)(data[2] & 63) << 8, data + 3, size - 3);
	if (!(r = gt_reader_open_fd(fd, NULL)))
		abort();
	by_time = sum_events(r);
	gt_reader_damage(r, &damaged);
	gt_scan(r, &all, GT_BY_TIME, 1, sum_cols, &by_cols, NULL);
	if (!damaged && by_time != by_cols)
		abort();
	gt_reader_close(r);
	return 0;
}
