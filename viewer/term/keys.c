/* Words for keys and key scripts. Help and messages print one word for each key. Scripts also
 * accept other common words (Return, Escape). */
#include "viewer/term/keys.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "formats/text/utf8.h"

struct word {
	const char *word;
	uint32_t key;
};
static const struct word words[] = {
	/* the first word of a key is printed */
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
	{ "Return", GT_KEY_ENTER },
	{ "Escape", GT_KEY_ESC },
	{ "PageUp", GT_KEY_PAGE_UP },
	{ "PageDown", GT_KEY_PAGE_DOWN },
	{ "Insert", GT_KEY_INSERT },
	{ "Delete", GT_KEY_DELETE },
};
#define NWORDS (sizeof(words) / sizeof(*words))

/* A gesture is several mouse events. The last `moved` of them are at a second position. */
static const struct gesture {
	const char *word;
	uint8_t n, moved;
	uint32_t keys[4];
} gestures[] = {
	{ "click", 2, 0, { GT_KEY_PRESS, GT_KEY_RELEASE } },
	{ "double", 4, 0, { GT_KEY_PRESS, GT_KEY_RELEASE, GT_KEY_DOUBLE, GT_KEY_RELEASE } },
	{ "drag", 3, 2, { GT_KEY_PRESS, GT_KEY_DRAG, GT_KEY_RELEASE } },
};

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

/* ---- words to keys ---- */

struct part {
	const char *s;
	size_t n;
};

static struct part next_part(const char **at)
{
	struct part p = { *at + strspn(*at, " \t\n"), 0 };

	p.n = strcspn(p.s, " \t\n");
	*at = p.s + p.n;
	return p;
}

static bool is(struct part p, const char *word)
{
	return strlen(word) == p.n && !strncasecmp(p.s, word, p.n);
}

/* Parses two numbers with this separator. */
static bool parse_pair(struct part p, char sign, uint16_t *a, uint16_t *b)
{
	unsigned long v[2] = { 0, 0 };
	unsigned digits = 0, i = 0;

	for (size_t k = 0; k < p.n; k++) {
		if (p.s[k] == sign && !i && digits) {
			i = 1;
			digits = 0;
		} else if (p.s[k] >= '0' && p.s[k] <= '9' && digits++ < 5) {
			v[i] = v[i] * 10 + (unsigned long)(p.s[k] - '0');
		} else {
			return false;
		}
	}
	*a = (uint16_t)v[0];
	*b = (uint16_t)v[1];
	return i && digits && v[0] <= UINT16_MAX && v[1] <= UINT16_MAX;
}

/* Removes "C-", "M-" and "S-" from the front. */
static uint8_t take_modifiers(struct part *p)
{
	uint8_t mods = 0;

	for (size_t i = 0; p->n > 2 && p->s[1] == '-' &&
		i < sizeof(modifier_letters) / sizeof(*modifier_letters);
		i++)
		if (modifier_letters[i].letter == p->s[0]) {
			mods |= modifier_letters[i].modifiers;
			*p = (struct part){ p->s + 2, p->n - 2 };
			i = (size_t)-1; /* they may be in any order */
		}
	return mods;
}

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

static bool function_key(struct part p, struct gt_key *k)
{
	unsigned n = p.n == 2               ? (unsigned)p.s[1] - '0'
		: p.n == 3 && p.s[1] == '1' ? (unsigned)p.s[2] - '0' + 10
					    : 0;

	k->key = GT_KEY_F1 + n - 1;
	return (*p.s == 'F' || *p.s == 'f') && (p.n == 2 ? n >= 1 && n <= 9 : n >= 10 && n <= 12);
}

/* A key without numbers: a word of the table, F1 to F12, or one character. */
static int one_key(struct part p, struct gt_key *k)
{
	for (size_t i = 0; i < NWORDS; i++)
		if (!separator(words[i].key) && is(p, words[i].word)) {
			k->key = words[i].key;
			return 0;
		}
	if (function_key(p, k))
		return 0;
	return p.n && gt_utf8_get(p.s, p.n, &k->key) == p.n && k->key != UINT32_MAX && k->key > 32
		? 0
		: -EINVAL;
}

/* A key with a position or a size in the next word. 1; 0: the word is no such key; -EINVAL. */
static int key_with_numbers(struct gt_script *s, struct part p, uint8_t mods)
{
	struct gt_key *k = s->next;

	for (size_t i = 0; i < NWORDS; i++)
		if (separator(words[i].key) && is(p, words[i].word)) {
			*k = (struct gt_key){ .key = words[i].key, .modifiers = mods };
			s->nnext = 1;
			return parse_pair(next_part(&s->at), separator(k->key), &k->x, &k->y)
				? 1
				: -EINVAL;
		}
	return 0;
}

static int gesture(struct gt_script *s, struct part p, uint8_t mods)
{
	const struct gesture *g = gestures, *end = g + sizeof(gestures) / sizeof(*gestures);
	struct gt_key from = { .modifiers = mods }, to;

	while (g < end && !is(p, g->word))
		g++;
	if (g == end)
		return 0;
	if (!parse_pair(next_part(&s->at), ',', &from.x, &from.y))
		return -EINVAL;
	to = from;
	if (g->moved && !parse_pair(next_part(&s->at), ',', &to.x, &to.y))
		return 0; /* "drag 10,5" is a key */
	for (s->nnext = 0; s->nnext < g->n; s->nnext++) {
		s->next[s->nnext] = s->nnext < g->n - g->moved ? from : to;
		s->next[s->nnext].key = g->keys[s->nnext];
	}
	return 1;
}

static void take_pending(struct gt_script *s, struct gt_key *k)
{
	*k = s->next[0];
	memmove(s->next, s->next + 1, --s->nnext * sizeof(*k));
}

static int next_word(struct gt_script *s, struct gt_key *k)
{
	struct part p = next_part(&s->at);
	uint8_t mods = take_modifiers(&p);
	const char *after = s->at;
	int r = gesture(s, p, mods);

	if (!r) {
		s->at = after;
		r = key_with_numbers(s, p, mods);
	}
	if (r > 0)
		take_pending(s, k);
	else if (r < 0 || one_key(p, k))
		return -EINVAL;
	else
		gt_key_normalize(k, mods);
	return 1;
}

/* The next character in quotes. 0: the closing quote. */
static int next_typed(struct gt_script *s, struct gt_key *k)
{
	if (*s->at == '\'' && s->at[1] != '\'') {
		s->at++;
		return 0;
	}
	if (!*s->at)
		return -EINVAL;
	s->at += *s->at == '\'';
	s->at += gt_utf8_get(s->at, strnlen(s->at, 4), &k->key);
	return k->key == UINT32_MAX || k->key < 32 ? -EINVAL : 1;
}

int gt_script_next(struct gt_script *s, struct gt_key *k)
{
	const char *from = s->at;
	int r = 0;

	*k = (struct gt_key){ 0 };
	if (s->nnext) {
		take_pending(s, k);
		return 1;
	}
	while (!r) {
		if (!s->typing) {
			from = s->at += strspn(s->at, " \t\n");
			if (!*s->at)
				return 0;
			if (*s->at != '\'') {
				r = next_word(s, k);
				break;
			}
			s->at++;
		}
		r = next_typed(s, k);
		s->typing = r > 0;
	}
	if (r < 0) {
		s->at = from;
		s->nnext = 0;
	}
	return r;
}
