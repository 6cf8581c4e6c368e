/* formats/io/tar_write.h: headers, as POSIX defines them, and sizes beyond 8 GiB. */
#include "formats/io/tar_write.h"

#include <stdlib.h>
#include "tests/unit/t.h"

/* The sum of a header, read from its field and computed: its own field counts as blanks. */
static bool sum_is_right(const char *head)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < GT_TAR_BLOCK; i++)
		sum += i >= 148 && i < 156 ? ' ' : (unsigned char)head[i];
	return strtoul(head + 148, NULL, 8) == sum && !head[154] && head[155] == ' ';
}

static void small(void)
{
	struct gt_out out;

	gt_out_memory(&out);
	gt_tar_header(&out, "rank-0.pftrace", 5, 0777);
	gt_out_str(&out, "12345");
	gt_tar_pad(&out, 5);
	CHECK(out.len == 2 * (size_t)GT_TAR_BLOCK);
	CHECK(!strcmp(out.data, "rank-0.pftrace") && !strcmp(out.data + 100, "0000644"));
	CHECK(!strcmp(out.data + 124, "00000000005") && !strcmp(out.data + 136, "00000000777"));
	CHECK(out.data[156] == '0' &&
		!memcmp(out.data + 257,
			"ustar\0"
			"00",
			8));
	CHECK(sum_is_right(out.data));
	CHECK(!memcmp(out.data + 512, "12345\0", 6) && !out.data[1023]);
	gt_tar_header(&out, "empty", 0, -1);
	gt_tar_pad(&out, 0);
	CHECK(out.len == 3 * (size_t)GT_TAR_BLOCK && !strcmp(out.data + 1024 + 136, "00000000000"));
	gt_tar_end(&out);
	CHECK(out.len == 5 * (size_t)GT_TAR_BLOCK);
	gt_out_close(&out, NULL);
}

static void long_name(void)
{
	char name[200];
	struct gt_out out;

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	gt_out_memory(&out);
	gt_tar_header(&out, name, 1, 0);
	CHECK(strlen(out.data) == GT_TAR_NAME_MAX && !strcmp(out.data + 100, "0000644"));
	gt_out_close(&out, NULL);
}

static void large(void)
{
	static const unsigned char beyond[12] = { 0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1 };
	struct gt_out out;

	gt_out_memory(&out);
	gt_tar_header(&out, "a", (1ull << 33) - 1, 0);
	CHECK(!strcmp(out.data + 124, "77777777777"));
	gt_tar_header(&out, "b", (1ull << 33) + 1, 0);
	CHECK(!memcmp(out.data + 512 + 124, beyond, 12) && sum_is_right(out.data + 512));
	gt_out_close(&out, NULL);
}

T_MAIN(T(small), T(long_name), T(large))
