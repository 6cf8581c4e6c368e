/* A stream of bytes from a file, a pipe or memory. It is decompressed: plain, gz (several members)
 * or zst (several frames, also skippable ones), recognized by its content and not by its name.
 * Buffers are bounded (a zst window of more than 64 MiB is an error). Compressed input that ends
 * early is an error, never a short file. So is input that unpacks to more than GT_IN_BOMB bytes and
 * more than GT_IN_RATIO times its size: traces do not.
 *
 * Offsets in its errors are bytes of the compressed file. Callers count bytes of the decompressed
 * text themselves.
 */
#ifndef GT_STREAM_IN_H
#define GT_STREAM_IN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "formats/base/err.h"

struct gt_in;

#define GT_IN_PEEK (64u << 10) /* the most bytes that gt_in_peek returns */
#define GT_IN_BOMB (256u << 20)
#define GT_IN_RATIO 200u

/* Is it a decompression bomb? Callers that unpack by themselves ask this, too. */
static inline bool gt_in_is_bomb(uint64_t packed, uint64_t unpacked)
{
	return unpacked > GT_IN_BOMB && unpacked / GT_IN_RATIO > packed;
}
int gt_in_bomb_error(uint64_t offset, struct gt_err *err);

/* new: close it. Takes ownership of fd, also on failure. */
struct gt_in *gt_in_open_fd(int fd, struct gt_err *err);
/* The bytes are borrowed until it is closed. */
struct gt_in *gt_in_memory(const void *bytes, size_t len, struct gt_err *err);
/* The same for bytes in zlib's format (RFC 1950), which is not recognized by its content. */
struct gt_in *gt_in_zlib_memory(const void *bytes, size_t len, struct gt_err *err);
void gt_in_close(struct gt_in *in); /* NULL is fine */

/* Reads up to `size` decompressed bytes, perhaps fewer. Returns how many, 0 at the end, or
 * negative. */
ssize_t gt_in_read(struct gt_in *in, void *to, size_t size, struct gt_err *err);
/* Before any gt_in_read: the first decompressed bytes (up to GT_IN_PEEK), which gt_in_read returns
 * again. Borrowed. */
ssize_t gt_in_peek(struct gt_in *in, const char **head, struct gt_err *err);
/* Before any other call: the first bytes of the file, not decompressed. Returns how many (0..16).
 */
size_t gt_in_raw_head(const struct gt_in *in, const uint8_t **head);
/* Reads bytes of the file, not decompressed, to copy it. Only before any gt_in_read or gt_in_peek.
 */
ssize_t gt_in_read_raw(struct gt_in *in, void *to, size_t size, struct gt_err *err);
/* Writes the rest of the stream into a temporary file: decompressed, or if raw the bytes of the
 * file, as gt_in_read_raw. 0 or negative. */
int gt_in_copy(struct gt_in *in, int to, bool raw, struct gt_err *err);
/* The bytes of the file; 0: it is no regular file. */
uint64_t gt_in_file_bytes(const struct gt_in *in);
/* The descriptor of a regular file that is not compressed, to read it at any place (pread);
 * borrowed. -1: it is another input. */
int gt_in_plain_file(const struct gt_in *in);
/* A new descriptor to read all decompressed bytes at any place: of the file, or of a temporary copy
 * if that is compressed or a pipe. new: close it. Negative on failure. */
int gt_in_random_access(struct gt_in *in, struct gt_err *err);
bool gt_in_is_packed(const struct gt_in *in);
/* The name of the file, for importers that read it: borrowed, NULL: unknown. */
void gt_in_set_name(struct gt_in *in, const char *name);
const char *gt_in_name(const struct gt_in *in);
#endif
