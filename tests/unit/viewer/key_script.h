/* Key scripts: words separated by spaces, as gt_key_word() prints them, and other common words
 * (Return, Escape). 'text' in quotes is typed ('' is one quote). Mouse: "press 10,5", "drag 10,5",
 * "release 10,5", "wheel-up 40,9", and the gestures "click 10,5" (press, release), "double 10,5"
 * (double click), "drag 10,5 30,5" (press, drag, release). Also "resize 80x24" and "hangup". */
#ifndef KEY_SCRIPT_H
#define KEY_SCRIPT_H
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>
#include "formats/text/utf8.h"
#include "viewer/term/keys.h"

struct key_script {
	/* the caller sets it and zeroes the rest; after an error it is the unknown word */
	const char *at;
	uint8_t typing, nnext; /* typing: within quotes; nnext: number of pending keys */
	struct gt_key next[4]; /* pending keys of a gesture */
};

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

/* Removes "C-", "M-" and "S-", in any order, from the front. */
static uint8_t take_modifiers(struct part *p)
{
	uint8_t mods = 0;

	for (; p->n > 2 && p->s[1] == '-' && strchr("CMS", *p->s); p->s += 2, p->n -= 2)
		mods |= *p->s == 'C' ? GT_MOD_CTRL : *p->s == 'M' ? GT_MOD_ALT : GT_MOD_SHIFT;
	return mods;
}

/* The key of a word, or GT_KEY_NONE. */
static uint32_t key_of_word(struct part p)
{
	static const char *const others[][2] = { { "Return", "Enter" }, { "Escape", "Esc" },
		{ "PageUp", "PgUp" }, { "PageDown", "PgDn" }, { "Insert", "Ins" },
		{ "Delete", "Del" } };
	char word[GT_KEY_WORD];

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (is(p, others[i][0]))
			p = (struct part){ others[i][1], strlen(others[i][1]) };
	for (uint32_t key = 1; p.n > 1 && key <= GT_KEY_WHEEL_DOWN;
		key = key == 127 ? GT_KEY_LEFT : key + 1)
		if (gt_key_word((struct gt_key){ .key = key }, word) && strncmp(word, "C-", 2) &&
			strcspn(word, " ") == p.n && !strncasecmp(word, p.s, p.n))
			return key;
	return GT_KEY_NONE;
}

static bool has_numbers(uint32_t key)
{
	return key == GT_KEY_RESIZE || (key >= GT_KEY_PRESS && key <= GT_KEY_WHEEL_DOWN);
}

/* A key without numbers: a word, or one character. */
static int one_key(struct part p, struct gt_key *k)
{
	k->key = key_of_word(p);
	if (k->key)
		return has_numbers(k->key) ? -EINVAL : 0;
	return p.n && gt_utf8_get(p.s, p.n, &k->key) == p.n && k->key != UINT32_MAX && k->key > 32
		? 0
		: -EINVAL;
}

/* A key with a position or a size in the next word. 1; 0: the word is no such key; -EINVAL. */
static int key_with_numbers(struct key_script *s, struct part p, uint8_t mods)
{
	struct gt_key *k = s->next;
	uint32_t key = key_of_word(p);

	if (!has_numbers(key))
		return 0;
	*k = (struct gt_key){ .key = key, .modifiers = mods };
	s->nnext = 1;
	return parse_pair(next_part(&s->at), key == GT_KEY_RESIZE ? 'x' : ',', &k->x, &k->y)
		? 1
		: -EINVAL;
}

static int gesture(struct key_script *s, struct part p, uint8_t mods)
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

static void take_pending(struct key_script *s, struct gt_key *k)
{
	*k = s->next[0];
	memmove(s->next, s->next + 1, --s->nnext * sizeof(*k));
}

static int next_word(struct key_script *s, struct gt_key *k)
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
static int next_typed(struct key_script *s, struct gt_key *k)
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

/* 1, 0 at the end, -EINVAL */
static int key_script_next(struct key_script *s, struct gt_key *k)
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
#endif
