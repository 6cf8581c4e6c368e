/* Texts of cells as a format writes them: quoted, escaped, made printable. A table of millions of
 * rows has few different texts, and most keep their address (gt_cell.lasting): the cache finds
 * these again by address. */
#ifndef GT_TEXT_CACHE_H
#define GT_TEXT_CACHE_H
#include "formats/io/stream_out.h"

typedef void gt_text_speller(struct gt_out *to, const char *s);

/* Its bytes are at cache.bytes.data + at, with a 0 behind. width: in terminal columns. */
struct gt_cached_text {
	const char *s;
	size_t at;
	uint32_t len, width;
};
struct gt_text_cache {
	gt_text_speller *spell;
	/* May move when a text is added. GT_PIECE more bytes can be read. failed: no memory */
	struct gt_out bytes;
	struct gt_cached_text slots[1024];
};
#define GT_PIECE 16 /* bytes copied at once */

void gt_text_cache_init(struct gt_text_cache *c, gt_text_speller *spell);
/* Forgets all texts, and whatever else was added to bytes. */
void gt_text_cache_clear(struct gt_text_cache *c);
void gt_text_cache_release(struct gt_text_cache *c);
/* Adds a text that is not cached. */
struct gt_cached_text gt_text_cache_add(struct gt_text_cache *c, const char *s);
/* The text of s, which is cached only if it is lasting. Valid until the next one is added. */
static inline struct gt_cached_text gt_text_cache_get(
	struct gt_text_cache *c, const char *s, bool lasting)
{
	struct gt_cached_text *slot =
		&c->slots[(uint64_t)(uintptr_t)s * 0x9e3779b97f4a7c15ull >> 54];

	if (lasting && slot->s == s)
		return *slot;
	return lasting ? (*slot = gt_text_cache_add(c, s)) : gt_text_cache_add(c, s);
}

/* Copies whole pieces of 16 bytes, at least one: reads and writes up to GT_PIECE bytes more. */
static inline char *gt_put_pieces(char *p, const char *s, size_t n)
{
	memcpy(p, s, GT_PIECE); /* usually all */
	for (size_t i = GT_PIECE; i < n; i += GT_PIECE)
		memcpy(p + i, s + i, GT_PIECE);
	return p + n;
}
#endif
