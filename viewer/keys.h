/* What a user does: a key, or something with the mouse. Characters are their Unicode number; Ctrl-A is 1. */
#ifndef GT_KEYS_H
#define GT_KEYS_H
#include <stdint.h>

enum {
	GT_KEY_NONE = 0, GT_KEY_TAB = 9, GT_KEY_ENTER = 10, GT_KEY_ESC = 27, GT_KEY_BACKSPACE = 127,
	GT_KEY_LEFT = 0x110000, GT_KEY_RIGHT, GT_KEY_UP, GT_KEY_DOWN, GT_KEY_PAGE_UP, GT_KEY_PAGE_DOWN, GT_KEY_HOME, GT_KEY_END,
	GT_KEY_DELETE, GT_KEY_BACKTAB, GT_KEY_SHIFT_LEFT, GT_KEY_SHIFT_RIGHT,
	GT_KEY_F1, GT_KEY_F12 = GT_KEY_F1 + 11,
	GT_KEY_RESIZE, GT_KEY_GONE,
	/* with the mouse: x and y say where */
	GT_KEY_PRESS, GT_KEY_DRAG, GT_KEY_RELEASE, GT_KEY_DOUBLE, GT_KEY_WHEEL_UP, GT_KEY_WHEEL_DOWN
};
enum { GT_WITH_SHIFT = 1, GT_WITH_CTRL = 2, GT_WITH_ALT = 4 };
struct gt_key { uint32_t key; uint16_t x, y; uint8_t with; };

/* The words that key scripts, help and messages use: "Left", "C-c", "PgDn", "<", "F1"; and back. NULL / GT_KEY_NONE: none. A script
 * may also say "click 10,5", "drag 10,5 30,5", "wheel-up 40,9", "resize 80x24": see gt_keys_parse. */
const char *gt_key_word(struct gt_key k, char to[16]);
/* The next key of a script: words apart by spaces, 'text' between quotes is typed. Advances *at. 1, 0 at the end, -EINVAL. */
int gt_keys_parse(const char **at, struct gt_key *k);
#endif
