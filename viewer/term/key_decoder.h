/* Key decoder: converts the bytes that a terminal sends to keys. It has no state and uses no
 * terminal. */
#ifndef GT_KEY_DECODER_H
#define GT_KEY_DECODER_H
#include <stdbool.h>
#include <stddef.h>
#include "viewer/term/keys.h"

/* A key sequence of this terminal's terminfo entry. It begins with ESC. */
struct gt_key_sequence {
	char bytes[15];
	uint8_t len;
	struct gt_key key;
};

/* Decodes the first key of n bytes and returns its length in bytes (at most GT_KEY_DECODE_MAX).
 * k->key is GT_KEY_NONE if the bytes are no key. 0: the sequence is incomplete; call it again with
 * more bytes, or with `last` if no more will come. With `last` the length is at least 1. */
#define GT_KEY_DECODE_MAX 128
size_t gt_key_decode(const uint8_t *p, size_t n, bool last, const struct gt_key_sequence *own,
	size_t nown, struct gt_key *k);
#endif
