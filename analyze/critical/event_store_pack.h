/* Records of a link store, put into few bytes: of rows that stand behind one another start, length
 * and launch differ little, and of a thread's calls most fields are all the same. */
#ifndef GT_LINK_PACK_H
#define GT_LINK_PACK_H
#include "analyze/critical/event_store.h"

#define GT_LINK_BYTES offsetof(struct gt_link, new_end) /* of a record; new ends are not packed */
/* bytes, of n records */
#define GT_LINK_PACKED_MAX(n) ((n)*GT_LINK_BYTES + ((n) / 256 + 1) * 64)

/* By their start. Returns how many bytes of `to` it takes. gist: they are added to it, too; or
 * NULL. */
size_t gt_link_pack(
	const struct gt_link_cols *rows, uint32_t n, uint8_t *to, struct gt_link_adding *gist);
void gt_link_unpack(const uint8_t *from, uint32_t n, struct gt_link_cols *rows);
#endif
