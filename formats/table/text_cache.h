/* Texts as a format writes them: quoted, escaped, made printable. A table of millions of rows has
 * few different ones, and most stay where they are (gt_cell.lasting): such a text is spelled once
 * and found again by its address, for as long as it is remembered. */
#ifndef GT_TABLE_WORDS_H
#define GT_TABLE_WORDS_H
#include "formats/io/stream_out.h"

/* bytes.data + at, with a 0 behind; width: in columns */
struct gt_word {
	const char *s;
	size_t at;
	uint32_t len, width;
};
struct gt_words {
	void (*spell)(struct gt_out *to, const char *s);
	/* may move when a word is spelled; GT_PIECE more can be read. failed: no memory */
	struct gt_out bytes;
	struct gt_word slots[1024];
};
#define GT_PIECE 16 /* bytes that are copied at once */

void gt_words_init(struct gt_words *w, void (*spell)(struct gt_out *to, const char *s));
/* forgets them, and whatever else was put behind them into bytes */
void gt_words_clear(struct gt_words *w);
void gt_words_release(struct gt_words *w);
/* s is remembered if it lasts, and spelled anew otherwise. Borrowed until the next word is asked
 * for. */
/* what gt_words_get does where it is not remembered */
struct gt_word gt_words_spell(struct gt_words *w, const char *s);
static inline struct gt_word gt_words_get(struct gt_words *w, const char *s, bool lasting)
{
	struct gt_word *slot = &w->slots[(uint64_t)(uintptr_t)s * 0x9e3779b97f4a7c15ull >> 54];

	if (lasting && slot->s == s)
		return *slot;
	return lasting ? (*slot = gt_words_spell(w, s)) : gt_words_spell(w, s);
}

/* Copies whole pieces of 16 bytes, one at least: up to GT_PIECE beyond are read and written. */
static inline char *gt_put_pieces(char *p, const char *s, size_t n)
{
	memcpy(p, s, GT_PIECE); /* most often all */
	for (size_t i = GT_PIECE; i < n; i += GT_PIECE)
		memcpy(p + i, s + i, GT_PIECE);
	return p + n;
}
#endif
