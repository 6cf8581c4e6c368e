/* Keys: input events of the keyboard, the mouse and the terminal. A character is its Unicode
 * number; Ctrl-A is 1. */
#ifndef GT_KEYS_H
#define GT_KEYS_H
#include <stdint.h>

enum {
	GT_KEY_NONE = 0,
	GT_KEY_TAB = 9,
	GT_KEY_ENTER = 10,
	GT_KEY_ESC = 27,
	GT_KEY_BACKSPACE = 127,
	GT_KEY_LEFT = 0x110000,
	GT_KEY_RIGHT,
	GT_KEY_UP,
	GT_KEY_DOWN,
	GT_KEY_PAGE_UP,
	GT_KEY_PAGE_DOWN,
	GT_KEY_HOME,
	GT_KEY_END,
	GT_KEY_INSERT,
	GT_KEY_DELETE,
	GT_KEY_BACKTAB,
	/* these two are separate keys: `modifiers` does not contain their Shift */
	GT_KEY_SHIFT_LEFT,
	GT_KEY_SHIFT_RIGHT,
	GT_KEY_F1,
	GT_KEY_F12 = GT_KEY_F1 + 11,
	/* x and y: the new size. Also sent if the screen must be shown again in the same size */
	GT_KEY_RESIZE,
	/* the terminal was closed, or a signal asks the process to end */
	GT_KEY_HANGUP,
	/* The mouse, left button only; x and y count from 0. A horizontal wheel is reported as a
	 * wheel up (left) or down (right) with Shift. The second press of a double click is
	 * GT_KEY_DOUBLE. */
	GT_KEY_PRESS,
	GT_KEY_DRAG,
	GT_KEY_RELEASE,
	GT_KEY_DOUBLE,
	GT_KEY_WHEEL_UP,
	GT_KEY_WHEEL_DOWN
};
enum { GT_MOD_SHIFT = 1, GT_MOD_CTRL = 2, GT_MOD_ALT = 4 };
/* modifiers: those that the key does not include. 'A' and Ctrl-A (1) have none; Alt-a, Ctrl-Left
 * and Shift-F1 have one. */
struct gt_key {
	uint32_t key;
	uint16_t x, y;
	uint8_t modifiers; /* GT_MOD_SHIFT | ... */
};

/* The word for a key in scripts, help and messages: "Left", "C-c", "PgDn", "<", "F1", "M-x" (Alt),
 * "S-Up", "C-wheel-up 40,9". NULL: the key has no word. */
#define GT_KEY_WORD 32
const char *gt_key_word(struct gt_key k, char to[GT_KEY_WORD]);

/* Combines a key with modifiers: Ctrl and 'a' become 1, Shift and Left become GT_KEY_SHIFT_LEFT. It
 * sets k->modifiers to the remaining modifiers. */
void gt_key_normalize(struct gt_key *k, uint8_t modifiers);
#endif
