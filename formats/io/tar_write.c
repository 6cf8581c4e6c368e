#include "formats/io/tar_write.h"

#include <inttypes.h>
#include <stdio.h>

/* The fields of a header: their places, and what all files of an archive have. */
enum {
	NAME = 0,
	MODE = 100,
	UID = 108,
	GID = 116,
	SIZE = 124,
	TIME = 136,
	SUM = 148,
	TYPE = 156,
	MAGIC = 257
};

static void put_octal(char *field, size_t size, uint64_t v)
{
	for (size_t i = size - 1; i-- > 0; v >>= 3)
		field[i] = (char)('0' + (v & 7));
}

static void put_size(char *field, uint64_t size)
{
	if (size < 1ull << 33) {
		put_octal(field, 12, size);
		return;
	}
	for (unsigned i = 12; i-- > 0; size >>= 8)
		field[i] = (char)(size & 0xff);
	field[0] = (char)0x80;
}

void gt_tar_header(struct gt_out *out, const char *name, uint64_t size, int64_t time)
{
	char head[GT_TAR_BLOCK] = { 0 };
	unsigned sum = 0;

	snprintf(head + NAME, GT_TAR_NAME_MAX + 1, "%s", name);
	put_octal(head + MODE, 8, 0644);
	put_octal(head + UID, 8, 0);
	put_octal(head + GID, 8, 0);
	put_size(head + SIZE, size);
	put_octal(head + TIME, 12, time > 0 ? (uint64_t)time : 0);
	head[TYPE] = '0';
	memcpy(head + MAGIC,
		"ustar\0"
		"00",
		8);
	memset(head + SUM, ' ', 8); /* the sum counts its own field as blanks */
	for (unsigned i = 0; i < sizeof(head); i++)
		sum += (unsigned char)head[i];
	put_octal(head + SUM, 7, sum);
	head[SUM + 6] = '\0';
	gt_out_add(out, head, sizeof(head));
}

static void put_zeros(struct gt_out *out, size_t n)
{
	static const char zeros[2 * GT_TAR_BLOCK];

	gt_out_add(out, zeros, n);
}

void gt_tar_pad(struct gt_out *out, uint64_t size)
{
	put_zeros(out, (size_t)(-size % GT_TAR_BLOCK));
}

void gt_tar_end(struct gt_out *out) { put_zeros(out, 2 * (size_t)GT_TAR_BLOCK); }
