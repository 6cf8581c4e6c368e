/* A stream of bytes from a file, a pipe or memory, unpacked on the way: plain, gz (several members)
 * or zst (several frames, skippable ones among them), told by the content and never by the name.
 * Buffers are bounded (a zst window of more than 64 MiB is refused); packed input that stops in the
 * middle is an error with its place, never a short file.
 *
 * Places in errors from here are bytes of the file as it lies on disk; whoever reads the unpacked
 * text counts for himself.
 */
#ifndef GT_IN_H
#define GT_IN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "formats/base/err.h"

struct gt_in;

#define GT_IN_PEEK (64u << 10) /* bytes gt_in_peek looks ahead at most */

/* new: close it. Takes fd over, also on failure */
struct gt_in *gt_in_open_fd(int fd, struct gt_err *err);
/* borrowed until closed */
struct gt_in *gt_in_memory(const void *bytes, size_t len, struct gt_err *err);
void gt_in_close(struct gt_in *in); /* NULL is fine */

/* The next unpacked bytes, at most room of them: how many, 0 at the end, negative on error. May be
 * fewer than there are. */
ssize_t gt_in_read(struct gt_in *in, void *to, size_t room, struct gt_err *err);
/* The first unpacked bytes (up to GT_IN_PEEK) before any gt_in_read; they are read again
 * afterwards. Borrowed. */
ssize_t gt_in_peek(struct gt_in *in, const char **head, struct gt_err *err);
/* The first bytes as they lie in the file, before anything else was read: how many (0..16). */
size_t gt_in_raw_head(const struct gt_in *in, const uint8_t **head);
/* The same bytes as they lie in the file, packed as they are. For copying; only before any
 * gt_in_read or gt_in_peek. */
ssize_t gt_in_read_raw(struct gt_in *in, void *to, size_t room, struct gt_err *err);
bool gt_in_packed(const struct gt_in *in);
#endif
