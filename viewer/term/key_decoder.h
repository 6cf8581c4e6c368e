/* Bytes that a terminal sends, and the keys they are. Knows no terminal, and keeps nothing. */
#ifndef GT_KEY_DECODER_H
#define GT_KEY_DECODER_H
#include <stdbool.h>
#include <stddef.h>
#include "viewer/term/keys.h"

/* What the terminal at hand sends for a key, where it differs from what most do. Begins with ESC.
 */
struct gt_key_sequence {
	char bytes[15];
	uint8_t len;
	struct gt_key key;
};

/* The first key of n bytes. Returns how many of them it takes; k->key is GT_KEY_NONE when they mean
 * nothing. 0: it may go on, so ask again when there are more, or with `last`, when there will be
 * none: then it is 1 or more. At most GT_KEY_DECODE_MAX bytes are one key. */
#define GT_KEY_DECODE_MAX 128
size_t gt_key_decode(const uint8_t *p, size_t n, bool last, const struct gt_key_sequence *own,
	size_t nown, struct gt_key *k);
#endif
