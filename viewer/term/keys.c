#include "viewer/term/keys.h"

#include <stdbool.h>
#include <stdio.h>
#include "formats/text/utf8.h"

struct word {
	const char *word;
	uint32_t key;
};
static const struct word words[] = {
	{ "Tab", GT_KEY_TAB },
	{ "Enter", GT_KEY_ENTER },
	{ "Esc", GT_KEY_ESC },
	{ "Space", ' ' },
	{ "Quote", '\'' },
	{ "Backspace", GT_KEY_BACKSPACE },
	{ "Left", GT_KEY_LEFT },
	{ "Right", GT_KEY_RIGHT },
	{ "Up", GT_KEY_UP },
	{ "Down", GT_KEY_DOWN },
	{ "PgUp", GT_KEY_PAGE_UP },
	{ "PgDn", GT_KEY_PAGE_DOWN },
	{ "Home", GT_KEY_HOME },
	{ "End", GT_KEY_END },
	{ "Ins", GT_KEY_INSERT },
	{ "Del", GT_KEY_DELETE },
	{ "S-Tab", GT_KEY_BACKTAB },
	{ "S-Left", GT_KEY_SHIFT_LEFT },
	{ "S-Right", GT_KEY_SHIFT_RIGHT },
	{ "press", GT_KEY_PRESS },
	{ "drag", GT_KEY_DRAG },
	{ "release", GT_KEY_RELEASE },
	{ "second-press", GT_KEY_DOUBLE },
	{ "wheel-up", GT_KEY_WHEEL_UP },
	{ "wheel-down", GT_KEY_WHEEL_DOWN },
	{ "resize", GT_KEY_RESIZE },
	{ "hangup", GT_KEY_HANGUP },
};
#define NWORDS (sizeof(words) / sizeof(*words))

static const struct {
	uint8_t modifiers;
	char letter;
} modifier_letters[] = {
	{ GT_MOD_CTRL, 'C' },
	{ GT_MOD_ALT, 'M' },
	{ GT_MOD_SHIFT, 'S' },
};

/* The separator of the two numbers of a key: 10,5 or 80x24; 0: the key has no numbers. */
static char separator(uint32_t key)
{
	return key >= GT_KEY_PRESS && key <= GT_KEY_WHEEL_DOWN ? ','
		: key == GT_KEY_RESIZE                         ? 'x'
							       : 0;
}

/* ---- keys to words ---- */

static const struct word *word_of(uint32_t key)
{
	for (size_t i = 0; i < NWORDS; i++)
		if (words[i].key == key)
			return &words[i];
	return NULL;
}

static bool put_name(char *to, size_t room, struct gt_key k)
{
	const struct word *w = word_of(k.key);
	char utf8[4];

	if (w && separator(k.key))
		snprintf(to, room, "%s %u%c%u", w->word, k.x, separator(k.key), k.y);
	else if (w)
		snprintf(to, room, "%s", w->word);
	else if (k.key >= GT_KEY_F1 && k.key <= GT_KEY_F12)
		snprintf(to, room, "F%u", k.key - GT_KEY_F1 + 1);
	else if (k.key < 32 && k.key)
		snprintf(to, room, "C-%c",
			k.key < 27 ? (char)(k.key + 'a' - 1) : (char)(k.key + '@'));
	else if (k.key > 32 && k.key < 0x110000)
		snprintf(to, room, "%.*s", (int)gt_utf8_put(utf8, k.key), utf8);
	else
		return false;
	return true;
}

const char *gt_key_word(struct gt_key k, char to[GT_KEY_WORD])
{
	size_t n = 0;

	for (size_t i = 0; i < sizeof(modifier_letters) / sizeof(*modifier_letters); i++)
		if (k.modifiers & modifier_letters[i].modifiers) {
			to[n++] = modifier_letters[i].letter;
			to[n++] = '-';
		}
	return put_name(to + n, GT_KEY_WORD - n, k) ? to : NULL;
}

/* ---- modifiers ---- */

void gt_key_normalize(struct gt_key *k, uint8_t mods)
{
	static const struct {
		uint32_t plain, other;
		uint8_t modifiers;
	} own[] = {
		{ GT_KEY_TAB, GT_KEY_BACKTAB, GT_MOD_SHIFT },
		{ GT_KEY_LEFT, GT_KEY_SHIFT_LEFT, GT_MOD_SHIFT },
		{ GT_KEY_RIGHT, GT_KEY_SHIFT_RIGHT, GT_MOD_SHIFT },
		{ 'h', GT_KEY_BACKSPACE, GT_MOD_CTRL },
		{ 'm', GT_KEY_ENTER, GT_MOD_CTRL },
	};

	k->modifiers = mods;
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (k->key == own[i].plain && mods & own[i].modifiers) {
			k->key = own[i].other;
			k->modifiers &= (uint8_t)~own[i].modifiers;
			return;
		}
	if (mods & GT_MOD_CTRL &&
		((k->key >= 'a' && k->key <= 'z') || (k->key >= '[' && k->key <= '_'))) {
		k->key &= 31;
		k->modifiers &= (uint8_t)~GT_MOD_CTRL;
	}
}
