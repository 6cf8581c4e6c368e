#include "formats/table/text_cache.h"

#include "formats/text/utf8.h"

void gt_words_init(struct gt_words *w, void (*spell)(struct gt_out *to, const char *s))
{
	memset(w, 0, sizeof(*w));
	w->spell = spell;
	gt_out_memory(&w->bytes);
}

void gt_words_clear(struct gt_words *w)
{
	memset(w->slots, 0, sizeof(w->slots));
	w->bytes.len = 0;
}

void gt_words_release(struct gt_words *w) { gt_out_close(&w->bytes, NULL); }

struct gt_word gt_words_spell(struct gt_words *w, const char *s)
{
	struct gt_word word = { .s = s, .at = w->bytes.len };

	w->spell(&w->bytes, s);
	word.len = (uint32_t)(w->bytes.len - word.at);
	gt_out_add(&w->bytes, "", 1);
	gt_out_room(&w->bytes, GT_PIECE);
	if (w->bytes.failed) { /* and thrown away, with all others */
		gt_words_clear(w);
		return (struct gt_word){ .s = NULL };
	}
	word.width = (uint32_t)gt_utf8_width(w->bytes.data + word.at);
	return word;
}
