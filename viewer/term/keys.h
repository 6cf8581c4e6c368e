/* What a user does: a key, or something with the mouse. Characters are their Unicode number; Ctrl-A
 * is 1. */
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
	/* Shift with these two is said here, never in `with` */
	GT_KEY_SHIFT_LEFT,
	GT_KEY_SHIFT_RIGHT,
	GT_KEY_F1,
	GT_KEY_F12 = GT_KEY_F1 + 11,
	/* x and y: the new size. Also when only everything has to be shown again */
	GT_KEY_RESIZE,
	GT_KEY_GONE,
	/* With the mouse: x and y say where, from 0. Its left button only. A wheel that goes
	 * sideways is one that goes up (left) or down (right) with Shift. The second press of a
	 * double click is GT_KEY_DOUBLE. */
	GT_KEY_PRESS,
	GT_KEY_DRAG,
	GT_KEY_RELEASE,
	GT_KEY_DOUBLE,
	GT_KEY_WHEEL_UP,
	GT_KEY_WHEEL_DOWN
};
enum { GT_WITH_SHIFT = 1, GT_WITH_CTRL = 2, GT_WITH_ALT = 4 };
/* with: what the character does not say already: 'A' and Ctrl-A (1) have none, Alt-a, Ctrl-Left and
 * Shift-F1 have. */
struct gt_key {
	uint32_t key;
	uint16_t x, y;
	uint8_t with;
};

/* The words that key scripts, help and messages use: "Left", "C-c", "PgDn", "<", "F1", "M-x" (Alt),
 * "S-Up", "C-wheel-up 40,9". NULL: such a key has none. A script of them gives the same keys. */
#define GT_KEY_WORD 32
const char *gt_key_word(struct gt_key k, char to[GT_KEY_WORD]);

/* A script: words apart by spaces. 'text' between quotes is typed ('' in it is one quote). Of the
 * mouse: "press 10,5", "drag 10,5", "release 10,5", "wheel-up 40,9"; in short: "click 10,5" (press,
 * release), "double 10,5" (and once more), "drag 10,5 30,5" (press, drag, release). And "resize
 * 80x24", "gone". */
struct gt_script {
	/* set it, the rest zero; after an error: the word that was not understood */
	const char *at;
	uint8_t typing, nnext; /* within quotes; how many of next are to come */
	struct gt_key next[4];
};
int gt_script_next(struct gt_script *s, struct gt_key *k); /* 1, 0 at the end, -EINVAL */

/* The key that a plain one becomes with these: Ctrl with 'a' is 1, Shift with Left is
 * GT_KEY_SHIFT_LEFT. What is left of `with` is set. */
void gt_key_normalize(struct gt_key *k, uint8_t with);
#endif
