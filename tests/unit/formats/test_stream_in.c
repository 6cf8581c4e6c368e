/* The input stream: compression is detected by content, parts can be joined by cat, and
 * compressed data can be truncated or damaged. */
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include "formats/import/importers.h"
#include "formats/io/stream_in.h"
#include "tests/unit/t.h"

#define LONG 300000
struct bytes {
	char data[2 * LONG];
	size_t len;
};
static struct bytes text, packed, got;

static void make_text(size_t len)
{
	uint32_t state = 7;

	for (size_t i = 0; i < len; i++) {
		state = state * 1664525u + 1013904223u;
		text.data[i] = (char)('a' + (state >> 24) % 20);
	}
	text.len = len;
}

static void add_gz(const char *from, size_t len)
{
	z_stream z = { 0 };

	deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
	z.next_in = (Bytef *)from;
	z.avail_in = (uInt)len;
	z.next_out = (Bytef *)packed.data + packed.len;
	z.avail_out = (uInt)(sizeof(packed.data) - packed.len);
	deflate(&z, Z_FINISH);
	packed.len += z.total_out;
	deflateEnd(&z);
}

static void add_zst(const char *from, size_t len)
{
	packed.len += ZSTD_compress(
		packed.data + packed.len, sizeof(packed.data) - packed.len, from, len, 3);
}

static int read_all(struct gt_in *in, size_t step, struct gt_err *err)
{
	ssize_t n;

	got.len = 0;
	while ((n = gt_in_read(in, got.data + got.len, step, err)) > 0)
		got.len += (size_t)n;
	gt_in_close(in);
	return (int)n;
}

static bool reads_text(size_t step)
{
	struct gt_in *in = gt_in_memory(packed.data, packed.len, NULL);

	return in && !read_all(in, step, NULL) && got.len == text.len &&
		!memcmp(got.data, text.data, text.len);
}

static void plain_and_empty(void)
{
	make_text(1000);
	packed = text;
	CHECK(reads_text(7));
	text.len = packed.len = 0;
	CHECK(reads_text(7));
}

static void members_of_gz(void)
{
	make_text(LONG);
	packed.len = 0;
	add_gz(text.data, 100000);
	add_gz("", 0);
	add_gz(text.data + 100000, LONG - 100000);
	CHECK(reads_text(4096));
	CHECK(reads_text(sizeof(got.data) / 2));
	memset(packed.data + packed.len, 0, 512); /* as a tape leaves them */
	packed.len += 512;
	CHECK(reads_text(4096));
}

static void frames_of_zst(void)
{
	static const char skippable[] = "\x53\x2a\x4d\x18\x03\x00\x00\x00xyz";

	make_text(LONG);
	packed.len = sizeof(skippable) - 1;
	memcpy(packed.data, skippable, packed.len);
	add_zst(text.data, 100000);
	add_zst("", 0);
	add_zst(text.data + 100000, LONG - 100000);
	CHECK(reads_text(4096));
	CHECK(reads_text(1));
}

/* For every proper prefix the stream must report where it ends. If the prefix is too short to
 * detect the compression, it is plain bytes. */
static void cut_anywhere(void (*add)(const char *, size_t), size_t told)
{
	make_text(3000);
	packed.len = 0;
	add(text.data, text.len);
	for (size_t n = told; n < packed.len; n++) {
		struct gt_err err = GT_ERR_INIT;
		struct gt_in *in = gt_in_memory(packed.data, n, &err);

		CHECK(in && read_all(in, 512, &err) == -EBADMSG);
		CHECK(err.offset == n && strstr(err.text, "cut short"));
	}
}
static void cut_gz(void) { cut_anywhere(add_gz, 2); }
static void cut_zst(void) { cut_anywhere(add_zst, 4); }

static void rotten_gz_is_an_error(void)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_in *in;

	make_text(3000);
	packed.len = 0;
	add_gz(text.data, text.len);
	packed.data[packed.len - 6] ^= 1; /* the checksum */
	in = gt_in_memory(packed.data, packed.len, NULL);
	CHECK(in && read_all(in, 512, &err) == -EBADMSG && err.offset <= packed.len);
	packed.data[packed.len - 6] ^= 1;
	packed.data[packed.len++] = 'x';
	memset(&err, 0, sizeof(err));
	in = gt_in_memory(packed.data, packed.len, NULL);
	CHECK(in && read_all(in, 512, &err) == -EBADMSG && err.offset == packed.len - 1);
}

static void rotten_zst_is_an_error(void)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_in *in;

	make_text(3000);
	packed.len = 0;
	add_zst(text.data, text.len);
	packed.data[6] ^= 0x7f;
	in = gt_in_memory(packed.data, packed.len, NULL);
	CHECK(in && read_all(in, 512, &err) == -EBADMSG);
}

static void huge_windows_are_refused(void)
{
	struct gt_err err = GT_ERR_INIT;
	ZSTD_CCtx *c = ZSTD_createCCtx();
	struct gt_in *in;

	make_text(100);
	ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, 27);
	ZSTD_CCtx_setParameter(c, ZSTD_c_contentSizeFlag, 0);
	{
		ZSTD_inBuffer from = { text.data, text.len, 0 };
		ZSTD_outBuffer to = { packed.data, sizeof(packed.data), 0 };

		/* size unknown: the window stays as asked */
		ZSTD_compressStream2(c, &to, &from, ZSTD_e_flush);
		from.pos = 0;
		ZSTD_compressStream2(c, &to, &from, ZSTD_e_end);
		packed.len = to.pos;
	}
	ZSTD_freeCCtx(c);
	in = gt_in_memory(packed.data, packed.len, NULL);
	CHECK(in && read_all(in, 512, &err) == -EOVERFLOW);
}

static void pipes_and_peeking(void)
{
	const char *head;
	struct gt_in *in;
	int fds[2];

	make_text(40000);
	packed.len = 0;
	add_gz(text.data, text.len);
	CHECK(!pipe(fds));
	CHECK(write(fds[1], packed.data, 1) == 1 &&
		write(fds[1], packed.data + 1, packed.len - 1) == (ssize_t)packed.len - 1);
	close(fds[1]);
	in = gt_in_open_fd(fds[0], NULL);
	CHECK(in && gt_in_is_packed(in));
	CHECK(gt_in_peek(in, &head, NULL) == 40000 && !memcmp(head, text.data, 40000));
	CHECK(!read_all(in, 999, NULL) && got.len == text.len &&
		!memcmp(got.data, text.data, text.len));
}

static void folders_and_missing_files(void)
{
	struct gt_err err = GT_ERR_INIT, err2 = GT_ERR_INIT;

	CHECK(!gt_in_open_fd(open("/", O_RDONLY | O_CLOEXEC), &err) && err.code == -EISDIR);
	CHECK(!gt_open_any("no such file", &err2) && err2.code == -ENOENT);
}

T_MAIN(T(plain_and_empty), T(members_of_gz), T(frames_of_zst), T(cut_gz), T(cut_zst),
	T(rotten_gz_is_an_error), T(rotten_zst_is_an_error), T(huge_windows_are_refused),
	T(pipes_and_peeking), T(folders_and_missing_files))
