#include "formats/table/text_cache.h"

#include "formats/text/utf8.h"

void gt_text_cache_init(struct gt_text_cache *c, gt_text_speller *spell)
{
	memset(c, 0, sizeof(*c));
	c->spell = spell;
	gt_out_memory(&c->bytes);
}

void gt_text_cache_clear(struct gt_text_cache *c)
{
	memset(c->slots, 0, sizeof(c->slots));
	c->bytes.len = 0;
}

void gt_text_cache_release(struct gt_text_cache *c) { gt_out_close(&c->bytes, NULL); }

struct gt_cached_text gt_text_cache_add(struct gt_text_cache *c, const char *s)
{
	struct gt_cached_text text = { .s = s, .at = c->bytes.len };

	c->spell(&c->bytes, s);
	text.len = (uint32_t)(c->bytes.len - text.at);
	gt_out_add(&c->bytes, "", 1);
	gt_out_reserve(&c->bytes, GT_PIECE);
	if (c->bytes.failed) { /* the texts before it are lost, too */
		gt_text_cache_clear(c);
		return (struct gt_cached_text){ .s = NULL };
	}
	text.width = (uint32_t)gt_utf8_width(c->bytes.data + text.at);
	return text;
}
