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
 * "S-Up", "C-wheel-up 40,9". NULL: the key has no word. gt_script_next converts words to keys. */
#define GT_KEY_WORD 32
const char *gt_key_word(struct gt_key k, char to[GT_KEY_WORD]);

/* A key script: words separated by spaces. 'text' in quotes is typed ('' is one quote). Mouse:
 * "press 10,5", "drag 10,5", "release 10,5", "wheel-up 40,9", and the gestures "click 10,5" (press,
 * release), "double 10,5" (double click), "drag 10,5 30,5" (press, drag, release). Also "resize
 * 80x24" and "hangup". */
struct gt_script {
	/* the caller sets it and zeroes the rest; after an error it is the unknown word */
	const char *at;
	uint8_t typing, nnext; /* typing: within quotes; nnext: number of pending keys */
	struct gt_key next[4]; /* pending keys of a gesture */
};
int gt_script_next(struct gt_script *s, struct gt_key *k); /* 1, 0 at the end, -EINVAL */

/* Combines a key with modifiers: Ctrl and 'a' become 1, Shift and Left become GT_KEY_SHIFT_LEFT. It
 * sets k->modifiers to the remaining modifiers. */
void gt_key_normalize(struct gt_key *k, uint8_t modifiers);
#endif
