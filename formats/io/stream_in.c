/* read(2) fills one raw buffer. One of three functions decompresses it, one per compression. gz and
 * zst share a rule: `inside` means that a member or frame has begun and not ended. The end of the
 * raw bytes is a truncation while inside, and a regular end otherwise. */
#include "formats/io/stream_in.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>
#include "formats/base/progress.h"
#include "formats/os/file.h"

#define RAW_SIZE (256u << 10)
/* 64 MiB; by zstd's default a hostile frame could ask for 128 */
#define WINDOW_LOG_MAX 26

struct packing {
	ssize_t (*read)(struct gt_in *in, void *to, size_t size, struct gt_err *err);
	bool packed;
	const char *name;
	int window_bits; /* zlib's parameter: plus 16 for gz */
};
struct gt_in {
	int fd; /* -1: raw has all bytes */
	const struct packing *packing;
	const uint8_t *raw;
	uint8_t *space;    /* raw's memory, if it is not borrowed */
	size_t at, len;    /* raw[at..len) is unread */
	uint64_t before;   /* bytes of the file before raw[0] */
	uint64_t unpacked; /* bytes read so far */
	bool ended;        /* nothing follows raw[len) */
	bool inside;       /* of a gz member or zst frame */
	z_stream z;
	bool z_ready;
	ZSTD_DCtx *zstd;
	/* bytes that gt_in_peek has read; gt_in_read has not yet returned head[head_at..head_len)
	 */
	char *head;
	size_t head_at, head_len;
	const char *name;
};

static ssize_t read_fully(int fd, void *to, size_t size)
{
	ssize_t n;

	do
		n = read(fd, to, size);
	while (n < 0 && errno == EINTR);
	return n;
}

static int read_failed(const struct gt_in *in, struct gt_err *err)
{
	int code = -errno;

	return gt_err_at(err, in->before + in->len, code, "cannot read: %s", strerror(-code));
}

/* Moves the unread raw bytes to the front and reads more behind them. 0 or negative; sets `ended`
 * at the end. */
static int more_raw(struct gt_in *in, struct gt_err *err)
{
	size_t kept = in->len - in->at;
	ssize_t n;

	if (in->ended)
		return 0;
	memmove(in->space, in->space + in->at, kept);
	in->before += in->at;
	in->at = 0;
	in->len = kept;
	n = read_fully(in->fd, in->space + kept, RAW_SIZE - kept);
	if (n < 0)
		return read_failed(in, err);
	in->len += (size_t)n;
	gt_progress_add((uint64_t)n);
	in->ended = n == 0;
	return 0;
}

static int need_raw(struct gt_in *in, struct gt_err *err)
{
	return in->at < in->len ? 0 : more_raw(in, err);
}

static uint64_t place(const struct gt_in *in) { return in->before + in->at; }

static ssize_t read_plain(struct gt_in *in, void *to, size_t size, struct gt_err *err)
{
	size_t n = in->len - in->at < size ? in->len - in->at : size;
	ssize_t got;

	if (n) {
		memcpy(to, in->raw + in->at, n);
		in->at += n;
		return (ssize_t)n;
	}
	if (in->ended)
		return 0;
	got = read_fully(in->fd, to, size); /* not into the buffer, so bulk text is copied once */
	if (got < 0)
		return read_failed(in, err);
	in->before += (uint64_t)got;
	gt_progress_add((uint64_t)got);
	in->ended = got == 0;
	return got;
}

/* Zeros may follow a member: tapes are padded with them. Anything else there is an error. */
static int skip_zeros(struct gt_in *in, struct gt_err *err)
{
	int r;

	while (!(r = need_raw(in, err)) && in->at < in->len && !in->raw[in->at])
		in->at++;
	return r;
}

static int start_member(struct gt_in *in, struct gt_err *err)
{
	bool first = !in->z_ready, gz = in->packing->window_bits > 15;
	int r = first ? need_raw(in, err) : skip_zeros(in, err);

	if (r || in->at == in->len)
		return r;
	if (gz ? in->raw[in->at] != 0x1f : !first)
		return gt_err_at(err, place(in), -EBADMSG, "stray bytes after the %s data",
			in->packing->name);
	if ((first ? inflateInit2(&in->z, in->packing->window_bits) : inflateReset(&in->z)) != Z_OK)
		return gt_err_set(err, -ENOMEM, "out of memory (unpacking %s)", in->packing->name);
	in->z_ready = in->inside = true;
	return 0;
}

static int inflate_some(struct gt_in *in, struct gt_err *err)
{
	int r;

	in->z.next_in = (uint8_t *)in->raw + in->at;
	in->z.avail_in = (uInt)(in->len - in->at < RAW_SIZE ? in->len - in->at : RAW_SIZE);
	in->at += in->z.avail_in;
	r = inflate(&in->z, Z_NO_FLUSH);
	in->at -= in->z.avail_in;
	if (r == Z_STREAM_END)
		in->inside = false;
	else if (r == Z_MEM_ERROR)
		return gt_err_set(err, -ENOMEM, "out of memory (unpacking %s)", in->packing->name);
	else if (r != Z_OK && r != Z_BUF_ERROR)
		return gt_err_at(err, place(in), -EBADMSG, "damaged %s data: %s", in->packing->name,
			in->z.msg ? in->z.msg : "inflate failed");
	return 0;
}

static ssize_t read_gz(struct gt_in *in, void *to, size_t size, struct gt_err *err)
{
	int r;

	in->z.next_out = to;
	in->z.avail_out = size < UINT32_MAX / 2 ? (uInt)size : UINT32_MAX / 2;
	while (in->z.next_out == to) {
		r = in->inside ? need_raw(in, err) : start_member(in, err);
		if (r)
			return r;
		if (in->at == in->len && in->ended)
			return in->inside
				? gt_err_at(err, place(in), -EBADMSG,
					  "the %s data is cut short here", in->packing->name)
				: 0;
		r = inflate_some(in, err);
		if (r)
			return r;
	}
	return (ssize_t)((uint8_t *)in->z.next_out - (uint8_t *)to);
}

static int zstd_failed(struct gt_in *in, size_t code, struct gt_err *err)
{
	if (ZSTD_getErrorCode(code) == ZSTD_error_frameParameter_windowTooLarge)
		return gt_err_at(err, place(in), -EOVERFLOW,
			"this zst data needs a window of more than %u MiB; pack it without --long",
			1u << (WINDOW_LOG_MAX - 20));
	return gt_err_at(err, place(in), -EBADMSG, "damaged zst data: %s", ZSTD_getErrorName(code));
}

static ssize_t read_zst(struct gt_in *in, void *to, size_t size, struct gt_err *err)
{
	ZSTD_outBuffer out = { to, size, 0 };

	while (!out.pos) {
		int r = need_raw(in, err);
		ZSTD_inBuffer from = { in->raw, in->len, in->at };
		size_t left;

		if (r)
			return r;
		if (in->at == in->len && !in->inside)
			return 0;
		left = ZSTD_decompressStream(in->zstd, &out, &from);
		if (ZSTD_isError(left))
			return zstd_failed(in, left, err);
		if (!out.pos && from.pos == in->at && in->ended)
			return gt_err_at(
				err, place(in), -EBADMSG, "the zst data is cut short here");
		in->at = from.pos;
		in->inside = left != 0;
	}
	return (ssize_t)out.pos;
}

static const struct packing plain = { read_plain, false, "", 0 },
			    gz = { read_gz, true, "gz", 15 + 16 },
			    zlib = { read_gz, true, "deflate", 15 },
			    zst = { read_zst, true, "zst", 0 };

static const struct packing *packing_of(const uint8_t *p, size_t len)
{
	static const uint8_t frame[4] = { 0x28, 0xb5, 0x2f, 0xfd },
			     skippable[3] = { 0x2a, 0x4d, 0x18 };

	if (len >= 2 && p[0] == 0x1f && p[1] == 0x8b)
		return &gz;
	if (len >= 4 &&
		(!memcmp(p, frame, 4) || ((p[0] & 0xf0) == 0x50 && !memcmp(p + 1, skippable, 3))))
		return &zst;
	return &plain;
}

static struct gt_in *begin(struct gt_in *in, struct gt_err *err)
{
	int r = 0;

	/* a pipe may return its first bytes one by one */
	while (!r && !in->ended && in->len < 16)
		r = more_raw(in, err);
	if (r)
		goto fail;
	if (!in->packing)
		in->packing = packing_of(in->raw, in->len);
	if (in->packing == &zst) {
		in->zstd = ZSTD_createDCtx();
		if (!in->zstd ||
			ZSTD_isError(ZSTD_DCtx_setParameter(
				in->zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX))) {
			gt_err_set(err, -ENOMEM, "out of memory (unpacking zst)");
			goto fail;
		}
	}
	return in;
fail:
	gt_in_close(in);
	return NULL;
}

struct gt_in *gt_in_open_fd(int fd, struct gt_err *err)
{
	struct gt_in *in = calloc(1, sizeof(*in));
	struct stat st;

	if (in)
		in->fd = fd;
	if (!in || !(in->space = malloc(RAW_SIZE))) {
		gt_err_set(err, -ENOMEM, "out of memory (input buffer)");
		if (!in)
			close(fd);
		gt_in_close(in);
		return NULL;
	}
	in->raw = in->space;
	if (!fstat(fd, &st) && S_ISDIR(st.st_mode)) {
		gt_err_set(err, -EISDIR, "is a folder: name one of the traces in it");
		gt_in_close(in);
		return NULL;
	}
	return begin(in, err);
}

static struct gt_in *open_memory(
	const void *bytes, size_t len, const struct packing *packing, struct gt_err *err)
{
	struct gt_in *in = calloc(1, sizeof(*in));

	if (!in) {
		gt_err_set(err, -ENOMEM, "out of memory (input buffer)");
		return NULL;
	}
	in->fd = -1;
	in->raw = bytes;
	in->len = len;
	in->ended = true;
	in->packing = packing;
	return begin(in, err);
}

struct gt_in *gt_in_memory(const void *bytes, size_t len, struct gt_err *err)
{
	return open_memory(bytes, len, NULL, err);
}

struct gt_in *gt_in_zlib_memory(const void *bytes, size_t len, struct gt_err *err)
{
	return open_memory(bytes, len, &zlib, err);
}

void gt_in_close(struct gt_in *in)
{
	if (!in)
		return;
	if (in->z_ready)
		inflateEnd(&in->z);
	ZSTD_freeDCtx(in->zstd);
	if (in->fd >= 0)
		close(in->fd);
	free(in->head);
	free(in->space);
	free(in);
}

int gt_in_bomb_error(uint64_t offset, struct gt_err *err)
{
	return gt_err_at(err, offset, -EMSGSIZE,
		"the data unpack to more than %u times their size: a decompression bomb",
		GT_IN_RATIO);
}

static ssize_t read_some(struct gt_in *in, void *to, size_t size, struct gt_err *err)
{
	ssize_t n = in->packing->read(in, to, size, err);

	if (n > 0)
		in->unpacked += (uint64_t)n;
	return in->packing->packed && n > 0 && gt_in_is_bomb(place(in), in->unpacked)
		? gt_in_bomb_error(place(in), err)
		: n;
}

ssize_t gt_in_read(struct gt_in *in, void *to, size_t size, struct gt_err *err)
{
	size_t n = in->head_len - in->head_at < size ? in->head_len - in->head_at : size;

	if (!n)
		return read_some(in, to, size, err);
	memcpy(to, in->head + in->head_at, n);
	in->head_at += n;
	return (ssize_t)n;
}

ssize_t gt_in_peek(struct gt_in *in, const char **head, struct gt_err *err)
{
	ssize_t n = 1;

	if (!in->head && !(in->head = malloc(GT_IN_PEEK)))
		return gt_err_set(err, -ENOMEM, "out of memory (input buffer)");
	while (n && in->head_len < GT_IN_PEEK) {
		n = read_some(in, in->head + in->head_len, GT_IN_PEEK - in->head_len, err);
		if (n < 0)
			return n;
		in->head_len += (size_t)n;
	}
	*head = in->head;
	return (ssize_t)in->head_len;
}

size_t gt_in_raw_head(const struct gt_in *in, const uint8_t **head)
{
	*head = in->raw;
	return in->len < 16 ? in->len : 16;
}

ssize_t gt_in_read_raw(struct gt_in *in, void *to, size_t size, struct gt_err *err)
{
	return read_plain(in, to, size, err);
}

static int write_fully(int fd, const char *p, size_t n, struct gt_err *err)
{
	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno != EINTR)
			return gt_err_set(
				err, -errno, "cannot write a temporary file: %s", strerror(errno));
		p += done > 0 ? done : 0;
		n -= done > 0 ? (size_t)done : 0;
	}
	return 0;
}

int gt_in_copy(struct gt_in *in, int to, bool raw, struct gt_err *err)
{
	static const size_t piece = 64u << 10;
	char *bytes = malloc(piece);
	int e = bytes ? 0 : gt_err_set(err, -ENOMEM, "out of memory (reading)");
	ssize_t n = 0;

	while (!e && (n = (raw ? gt_in_read_raw : gt_in_read)(in, bytes, piece, err)) > 0)
		e = write_fully(to, bytes, (size_t)n, err);
	free(bytes);
	return e ? e : (int)n;
}

uint64_t gt_in_file_bytes(const struct gt_in *in)
{
	struct stat st;

	return in->fd >= 0 && !fstat(in->fd, &st) && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

int gt_in_plain_file(const struct gt_in *in)
{
	return gt_in_file_bytes(in) && !in->packing->packed ? in->fd : -1;
}

int gt_in_random_access(struct gt_in *in, struct gt_err *err)
{
	int own = gt_in_plain_file(in), fd, rc;

	if (own >= 0) {
		fd = fcntl(own, F_DUPFD_CLOEXEC, 0);
		return fd >= 0 ? fd : gt_err_set(err, -errno, "no more descriptors");
	}
	fd = gt_temporary(err);
	rc = fd < 0 ? fd : gt_in_copy(in, fd, false, err);
	if (rc && fd >= 0)
		close(fd);
	return rc ? rc : fd;
}

bool gt_in_is_packed(const struct gt_in *in) { return in->packing->packed; }

void gt_in_set_name(struct gt_in *in, const char *name) { in->name = name; }

const char *gt_in_name(const struct gt_in *in) { return in->name; }
